//! The entries of a file. Dates are texts: `YYYY-MM-DD HH:MM:SS`.

/// What a file says about its site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportedSite {
    /// Version of the format: `1.2`.
    pub version: String,
    /// Name of the site.
    pub title: String,
    /// Tagline of the site.
    pub description: String,
    /// Language tag: `en-US`.
    pub language: String,
    /// URL of the site.
    pub base_url: String,
    /// When the file was written, as in RSS.
    pub written: String,
    /// URL of the program that wrote the file.
    pub generator: String,
}

/// An entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An author of posts.
    Author(Author),
    /// A term.
    Term(Term),
    /// A post of any type.
    Item(Box<Item>),
}

/// An author.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the format")]
pub struct Author {
    pub id: i64,
    pub login: String,
    pub email: String,
    pub display_name: String,
    pub first_name: String,
    pub last_name: String,
}

/// A term of any taxonomy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// ID on its site.
    pub id: i64,
    /// `category`, `post_tag`, …
    pub taxonomy: String,
    /// The slug.
    pub slug: String,
    /// Slug of the parent term; empty for none.
    pub parent: String,
    /// The name, as stored: with `&` as `&amp;`.
    pub name: String,
    /// The description.
    pub description: String,
    /// The meta.
    pub meta: Vec<MetaRow>,
}

/// A name and a value of meta, as stored: other values than texts are serialized by PHP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetaRow {
    /// The key.
    pub key: String,
    /// The stored value.
    pub value: String,
}

/// A post of any type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the format")]
pub struct Item {
    pub title: String,
    /// The permalink.
    pub link: String,
    /// The date in UTC, as in RSS.
    pub pub_date: String,
    /// Name with which the author logs in.
    pub creator: String,
    pub guid: String,
    pub content: String,
    pub excerpt: String,
    pub id: i64,
    pub date: String,
    pub date_gmt: String,
    /// Empty in files before version 1.2 of 2020.
    pub modified: String,
    pub modified_gmt: String,
    pub comment_status: String,
    pub ping_status: String,
    pub slug: String,
    pub status: String,
    pub parent: i64,
    pub menu_order: i64,
    pub post_type: String,
    pub password: String,
    pub is_sticky: bool,
    /// URL of the file of an attachment.
    pub attachment_url: String,
    pub terms: Vec<ItemTerm>,
    pub meta: Vec<MetaRow>,
    pub comments: Vec<Comment>,
}

impl Item {
    /// About how much memory the item takes, in bytes.
    pub fn size(&self) -> usize {
        let meta = |rows: &[MetaRow]| {
            rows.iter()
                .fold(size_of_val(rows), |sum, row| sum.saturating_add(row.key.len()).saturating_add(row.value.len()))
        };
        let add = |sum: usize, text: &String| sum.saturating_add(text.len());
        let texts =
            [&self.title, &self.link, &self.guid, &self.content, &self.excerpt, &self.slug, &self.attachment_url];
        let mut size = texts.into_iter().fold(size_of::<Self>(), add).saturating_add(meta(&self.meta));
        for term in &self.terms {
            size = [&term.taxonomy, &term.slug, &term.name].into_iter().fold(size, add);
            size = size.saturating_add(size_of::<ItemTerm>());
        }
        for comment in &self.comments {
            size = [&comment.author, &comment.author_email, &comment.author_url, &comment.content]
                .into_iter()
                .fold(size, add);
            size = size.saturating_add(size_of::<Comment>()).saturating_add(meta(&comment.meta));
        }
        size
    }
}

/// A term of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemTerm {
    /// The taxonomy.
    pub taxonomy: String,
    /// The slug.
    pub slug: String,
    /// The name, as stored.
    pub name: String,
}

/// A comment of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the format")]
pub struct Comment {
    pub id: i64,
    pub author: String,
    pub author_email: String,
    pub author_url: String,
    pub author_ip: String,
    pub date: String,
    pub date_gmt: String,
    pub content: String,
    /// `1`, `0`, `trash` or another status.
    pub approved: String,
    pub comment_type: String,
    pub parent: i64,
    /// ID of the user who wrote it; 0 for visitors.
    pub user: i64,
    pub meta: Vec<MetaRow>,
}
