//! What a request for a page asks for: keys to look up, and how to show what is found.

/// One thing to look up for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookup {
    /// What is asked for.
    pub what: What,
    /// Page of an archive, from 1; 0 when none is named.
    pub paged: u64,
    /// Page of a post's text, from 1; 0 when none is named.
    pub page: u64,
    /// Page of a post's comments; 0 when none is named.
    pub comment_page: u64,
    /// As a feed.
    pub feed: Option<Feed>,
    /// In the form for embedding in other sites.
    pub embed: bool,
    /// As a preview of unpublished changes.
    pub preview: bool,
}

/// Kinds of things that addresses name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum What {
    /// The front page, or the page of posts.
    Front,
    /// An interface route.
    Rest(String),
    /// One post.
    Post(PostKey),
    /// One page, or an attachment below one.
    Page(PageKey),
    /// One attachment.
    Attachment(AttachmentKey),
    /// Posts that share something.
    Archive(Archive),
    /// `robots.txt`.
    Robots,
    /// `favicon.ico`.
    Favicon,
    /// A site map, by file name.
    Sitemap(String),
    /// Nothing.
    #[default]
    NotFound,
}

/// A feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// `rss2`, `atom`, `rdf` or `rss`, or what a query names.
    pub format: String,
    /// Of comments: the whole site's, or those of the one post that is shown.
    pub comments: bool,
}

/// Which post; every member that is set must fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostKey {
    /// Its id. With nothing else set, the thing may be of any type.
    pub id: Option<u64>,
    /// Its slug; for hierarchical types the slugs of its parents and its own, joined by `/`.
    pub slug: Option<String>,
    /// Its type, `post` if not set.
    pub post_type: Option<String>,
    /// Its date.
    pub date: DateKey,
    /// Its author's slug.
    pub author: Option<String>,
    /// Slugs from a category down to one of its categories, joined by `/`.
    pub category: Option<String>,
}

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageKey {
    /// By id.
    Id(u64),
    /// Slugs from the top page down, joined by `/`.
    Path(String),
}

/// Which attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentKey {
    /// By id.
    Id(u64),
    /// By slug.
    Slug(String),
}

/// A date, or part of one, in site-local time.
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

/// Which posts; every member that is set must fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archive {
    /// With all these terms.
    pub terms: Vec<TermKey>,
    /// By this author.
    pub author: Option<AuthorKey>,
    /// Of this date.
    pub date: DateKey,
    /// With these words.
    pub search: Option<String>,
    /// Of this type.
    pub post_type: Option<String>,
}

/// Which term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermKey {
    /// By id, in a taxonomy.
    Id(String, u64),
    /// By slugs from the top term down, joined by `/`, in a taxonomy.
    Path(String, String),
}

/// Which author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorKey {
    /// By id.
    Id(u64),
    /// By slug.
    Slug(String),
}

impl DateKey {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == DateKey::default()
    }

    /// Whether there is such a date; a part that is not set fits.
    pub(crate) fn exists(&self) -> bool {
        let fits = |part: Option<u32>, most: u32| part.is_none_or(|n| n <= most);
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
