//! Results of URL resolution: keys to look up, and how to present the result.

/// One lookup for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookup {
    /// The resource to look up.
    pub target: LookupTarget,
    /// Page of an archive, from 1; 0 if not specified.
    pub paged: u64,
    /// Page of a post's content, from 1; 0 if not specified.
    pub page: u64,
    /// Page of a post's comments; 0 if not specified.
    pub comment_page: u64,
    /// The requested feed, if any.
    pub feed: Option<Feed>,
    /// Whether the embeddable form is requested.
    pub embed: bool,
    /// Whether a preview of unpublished changes is requested.
    pub preview: bool,
}

/// Kinds of resources that URLs refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LookupTarget {
    /// The front page, or the posts page.
    Front,
    /// One post.
    Post(PostKey),
    /// One page, or an attachment of one.
    Page(PageKey),
    /// One attachment.
    Attachment(AttachmentKey),
    /// A list of posts.
    Archive(Archive),
    /// `robots.txt`.
    Robots,
    /// `favicon.ico`.
    Favicon,
    /// A sitemap, by file name.
    Sitemap(String),
    /// No resource.
    #[default]
    NotFound,
}

/// A feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// `rss2`, `atom`, `rdf` or `rss`, or the format named in the query.
    pub format: String,
    /// Whether it lists comments: those of the whole site, or of the post that the URL refers to.
    pub comments: bool,
}

/// Identifies a post. Every field that is set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostKey {
    /// Its id. If nothing else is set, the post may be of any type.
    pub id: Option<u64>,
    /// Its slug; for hierarchical types the slugs of its ancestors and its own, joined by `/`.
    pub slug: Option<String>,
    /// Its type; `post` if not set.
    pub post_type: Option<String>,
    /// Its date.
    pub date: DateKey,
    /// Its author's slug.
    pub author: Option<String>,
    /// Slugs from a top-level category down to one of the post's categories, joined by `/`.
    pub category: Option<String>,
}

/// Identifies a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageKey {
    /// By id.
    Id(u64),
    /// Slugs from the top-level page down, joined by `/`.
    Path(String),
}

/// Identifies an attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentKey {
    /// By id.
    Id(u64),
    /// By slug.
    Slug(String),
}

/// A date, or part of one, in the site's time zone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DateKey {
    /// Year.
    pub year: Option<u32>,
    /// Month, 1 to 12.
    pub month: Option<u32>,
    /// Day of the month.
    pub day: Option<u32>,
    /// Hour.
    pub hour: Option<u32>,
    /// Minute.
    pub minute: Option<u32>,
    /// Second.
    pub second: Option<u32>,
}

/// Selects posts. Every field that is set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archive {
    /// Terms that a post must have.
    pub terms: Vec<TermKey>,
    /// The author.
    pub author: Option<AuthorKey>,
    /// The date.
    pub date: DateKey,
    /// The search query.
    pub search: Option<String>,
    /// The post type.
    pub post_type: Option<String>,
}

/// Identifies a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermKey {
    /// A taxonomy and an id.
    Id(String, u64),
    /// A taxonomy, and slugs from the top-level term down, joined by `/`.
    Path(String, String),
}

/// Identifies an author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorKey {
    /// By id.
    Id(u64),
    /// By slug.
    Slug(String),
}

impl DateKey {
    /// Whether no part is set.
    pub fn is_empty(&self) -> bool {
        *self == DateKey::default()
    }

    /// Whether the date exists. Parts that are not set are ignored.
    pub(crate) fn exists(&self) -> bool {
        let fits = |part: Option<u32>, max: u32| part.is_none_or(|n| n <= max);
        let year = self.year.unwrap_or(2000);
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match self.month.unwrap_or(1) {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        self.month.is_none_or(|m| (1..=12).contains(&m))
            && self.day.is_none_or(|d| (1..=days).contains(&d))
            && fits(self.hour, 23)
            && fits(self.minute, 59)
            && fits(self.second, 59)
    }
}
