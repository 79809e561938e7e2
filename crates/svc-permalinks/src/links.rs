//! URLs of a site's own pages: posts, pages, attachments, terms, authors, dates, feeds.

use crate::{PostTypeLinks, SiteUrls, TaxonomyLinks};

/// Whether the URL of a post must be plain (`?p=1`). Published posts have pretty URLs; private ones only for users who
/// can read them.
///
/// `readable` is whether the caller may read the post; it decides for private posts and for statuses that extensions
/// register. Source: `wp_force_plain_post_permalink`.
pub fn needs_plain(status: &str, readable: bool) -> bool {
    match status {
        "publish" => false,
        "private" => !readable,
        "draft" | "pending" | "future" | "trash" | "auto-draft" | "inherit" => true,
        _ => !readable,
    }
}

/// The parts of a post's URL.
#[derive(Debug, Clone, Copy, Default)]
pub struct PostLink<'a> {
    /// Its id.
    pub id: u64,
    /// Its slug.
    pub slug: &'a str,
    /// Site-local date and time, `YYYY-MM-DD HH:MM:SS`.
    pub date: &'a str,
    /// The author's slug.
    pub author: &'a str,
    /// Slugs from the top-level category down to the post's category with the lowest id, joined by `/`; the default
    /// category if the post has none.
    pub category: &'a str,
    /// Return the plain `?p=` form, see [`needs_plain`].
    pub plain: bool,
    /// Leave `%postname%` in place of the slug.
    pub leave_name: bool,
}

/// The parts of a page's URL.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageLink<'a> {
    /// Its id.
    pub id: u64,
    /// Slugs from the top-level page down to this one, joined by `/`.
    pub path: &'a str,
    /// Return the plain `?page_id=` form, see [`needs_plain`].
    pub plain: bool,
    /// Leave `%pagename%` in place of the path.
    pub leave_name: bool,
}

/// The post that an attachment is attached to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AttachmentParent<'a> {
    /// The attachment is not attached to a post.
    #[default]
    None,
    /// The post is not public or no longer exists.
    Hidden,
    /// The post has this URL.
    At(&'a str),
}

/// The parts of an attachment's URL.
#[derive(Debug, Clone, Copy, Default)]
pub struct AttachmentLink<'a> {
    /// Its id.
    pub id: u64,
    /// Its slug.
    pub slug: &'a str,
    /// The post that it is attached to.
    pub parent: AttachmentParent<'a>,
    /// Leave `%postname%` in place of the slug.
    pub leave_name: bool,
}

/// Error for a link to a term that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTerm;

impl InvalidTerm {
    /// The code of the API's error.
    pub fn code(self) -> &'static str {
        "invalid_term"
    }
}

impl std::fmt::Display for InvalidTerm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("There is no such term.")
    }
}

impl std::error::Error for InvalidTerm {}

/// The parts of a term's URL.
#[derive(Debug, Clone, Copy, Default)]
pub struct TermLink<'a> {
    /// Its id.
    pub id: u64,
    /// Its slug.
    pub slug: &'a str,
    /// Slugs of its ancestors, top-level first.
    pub parents: &'a [&'a str],
}

impl SiteUrls {
    /// The URL of a post, or of an item of a built-in type that has no URLs of its own. Source: `get_permalink`.
    pub fn post_link(&self, post: &PostLink<'_>) -> String {
        let structure = self.permalinks.structure();
        if post.plain || structure.is_empty() {
            return self.home_url(&format!("?p={}", post.id));
        }
        let date = |range: std::ops::Range<usize>| post.date.get(range).unwrap_or_default();
        let id = post.id.to_string();
        let mut path = String::with_capacity(structure.len() + 32);
        let mut rest = structure;
        while let Some((before, tag, after)) = next_tag(rest) {
            path.push_str(before);
            let value = match tag {
                "year" => Some(date(0..4)),
                "monthnum" => Some(date(5..7)),
                "day" => Some(date(8..10)),
                "hour" => Some(date(11..13)),
                "minute" => Some(date(14..16)),
                "second" => Some(date(17..19)),
                "post_id" => Some(&*id),
                "category" => Some(post.category),
                "author" => Some(post.author),
                "postname" | "pagename" if !post.leave_name => Some(post.slug),
                _ => None,
            };
            match value {
                Some(value) => {
                    path.push_str(value);
                    rest = after;
                }
                None => {
                    // A name to leave in place, or an unknown tag, whose second percent sign may start the next tag.
                    path.push('%');
                    path.push_str(tag);
                    rest = &rest[before.len() + 1 + tag.len()..];
                }
            }
        }
        path.push_str(rest);
        self.permalinks.end(&self.home_url(&path))
    }

    /// The URL of a page. Source: `get_page_link`.
    pub fn page_link(&self, page: &PageLink<'_>) -> String {
        if self.front_page == Some(page.id) {
            return self.home_url("/");
        }
        if page.plain || !self.permalinks.is_pretty() {
            return self.home_url(&format!("?page_id={}", page.id));
        }
        let path = if page.leave_name { "%pagename%" } else { page.path };
        self.permalinks.end(&self.home_url(&format!("{}{path}", self.permalinks.root())))
    }

    /// The URL of an attachment. Source: `get_attachment_link`.
    pub fn attachment_link(&self, attachment: &AttachmentLink<'_>) -> String {
        if self.permalinks.is_pretty() {
            match attachment.parent {
                AttachmentParent::At(parent) if !parent.contains('?') => {
                    // Without the extra segment, a number would be read as a page of the post, and a slug as a post in
                    // a category.
                    let numeric = attachment.slug.bytes().all(|b| b.is_ascii_digit()) && !attachment.slug.is_empty();
                    let needs_segment = numeric || self.permalinks.structure().contains("%category%");
                    let name = match (attachment.leave_name, needs_segment) {
                        (true, _) => "%postname%".to_owned(),
                        (false, true) => format!("attachment/{}", attachment.slug),
                        (false, false) => attachment.slug.to_owned(),
                    };
                    return self.permalinks.end(&format!("{}{name}", svc_text::trailing_slash(parent)));
                }
                AttachmentParent::None if !attachment.leave_name && !attachment.slug.is_empty() => {
                    return self.home_url(&self.permalinks.end(attachment.slug));
                }
                _ => {}
            }
        }
        self.home_url(&format!("/?attachment_id={}", attachment.id))
    }

    /// The short URL of a post of any type, for `rel=shortlink` headers and links. Source: `wp_get_shortlink`.
    pub fn short_link(&self, id: u64) -> String {
        if self.front_page == Some(id) { self.home_url("/") } else { self.home_url(&format!("?p={id}")) }
    }

    /// The URL of a post of a custom type. `path` is its slug, or the slugs of its ancestors and its own joined by `/`.
    ///
    /// Source: `get_post_permalink`.
    pub fn custom_post_link(
        &self,
        post_type: &PostTypeLinks,
        id: u64,
        path: &str,
        plain: bool,
        leave_name: bool,
    ) -> String {
        match (&post_type.base, &post_type.query_var) {
            (Some(base), _) if self.permalinks.is_pretty() && (leave_name || !plain) => {
                let name = if leave_name { format!("%{}%", post_type.name) } else { path.to_owned() };
                let path = format!("{}{name}", self.permalinks.base_path(base, post_type.with_front));
                self.home_url(&self.permalinks.end(&path))
            }
            (_, Some(query_var)) if !plain => self.home_url(&format!("?{query_var}={path}")),
            _ => self.home_url(&format!("?post_type={}&p={id}", post_type.name)),
        }
    }

    /// The URL of a post type's archive, if it has one. Source: `get_post_type_archive_link`.
    pub fn post_type_archive_link(&self, post_type: &PostTypeLinks) -> Option<String> {
        let archive = post_type.archive.as_deref()?;
        Some(if self.permalinks.is_pretty() && post_type.base.is_some() {
            let path = self.permalinks.base_path(archive, post_type.with_front);
            self.home_url(&self.permalinks.end(&path))
        } else {
            self.home_url(&format!("?post_type={}", post_type.name))
        })
    }

    /// The URL of a term's archive, for a term that may not exist.
    ///
    /// # Errors
    /// Returns [`InvalidTerm`] if `term` is `None`.
    pub fn try_term_link(&self, taxonomy: &TaxonomyLinks, term: Option<&TermLink<'_>>) -> Result<String, InvalidTerm> {
        term.map(|term| self.term_link(taxonomy, term)).ok_or(InvalidTerm)
    }

    /// The URL of a term's archive. Source: `get_term_link`.
    pub fn term_link(&self, taxonomy: &TaxonomyLinks, term: &TermLink<'_>) -> String {
        let slug = term.slug.strip_prefix(taxonomy.slug_prefix()).unwrap_or(term.slug);
        if self.permalinks.is_pretty()
            && let Some(mut path) = taxonomy.path_prefix(&self.permalinks)
        {
            if taxonomy.hierarchical {
                path.extend(term.parents.iter().flat_map(|parent| [*parent, "/"]));
            }
            path.push_str(slug);
            return self.home_url(&self.permalinks.end(&path));
        }
        self.home_url(&match (&*taxonomy.name, &taxonomy.query_var) {
            ("category", _) => format!("?cat={}", term.id),
            (_, Some(query_var)) => format!("?{query_var}={slug}"),
            (name, None) => format!("?taxonomy={name}&term={slug}"),
        })
    }

    /// The URL of an author's archive. Source: `get_author_posts_url`.
    pub fn author_link(&self, id: u64, slug: &str) -> String {
        if !self.permalinks.is_pretty() {
            return self.home_url(&format!("/?author={id}"));
        }
        self.home_url(&self.permalinks.end(&format!("{}{slug}", self.permalinks.base_path("author", true))))
    }

    /// The URL of the archive of a year, month or day. Source: `get_year_link`, `get_month_link`, `get_day_link`.
    pub fn date_link(&self, year: u32, month: Option<u32>, day: Option<u32>) -> String {
        let day = month.and(day);
        if !self.permalinks.is_pretty() {
            let suffix = [month, day].into_iter().flatten().map(|n| format!("{n:02}")).collect::<String>();
            return self.home_url(&format!("?m={year}{suffix}"));
        }
        let mut path = self.permalinks.date_structure().replace("%year%", &year.to_string());
        for (tag, number) in [("%monthnum%", month), ("%day%", day)] {
            path = path.replace(tag, &number.map_or_else(String::new, |n| format!("{n:02}")));
        }
        while path.contains("//") {
            path = path.replace("//", "/");
        }
        self.home_url(&self.permalinks.end(&path))
    }

    /// The URL of a feed: empty or `rss2`, `atom` … for posts, `comments_rss2` … for comments. Source: `get_feed_link`.
    pub fn feed_link(&self, feed: &str) -> String {
        let (section, format) = feed.strip_prefix("comments_").map_or(("", feed), |format| ("comments", format));
        let format = if format.is_empty() { DEFAULT_FEED } else { format };
        if !self.permalinks.is_pretty() {
            let dash = if section.is_empty() { "" } else { "-" };
            return self.home_url(&format!("?feed={section}{dash}{format}"));
        }
        let slash = if section.is_empty() { "" } else { "/" };
        let format = if format == DEFAULT_FEED { "" } else { format };
        let path = format!("{}{section}{slash}feed/{format}", self.permalinks.root());
        self.home_url(&self.permalinks.end(&path))
    }

    /// The URL of the feed of a post's comments. `link` is the post's URL, `id_var` the query variable of its id (`p`,
    /// `page_id`, `attachment_id`). Source: `get_post_comments_feed_link`.
    pub fn comments_feed_link(&self, link: &str, id_var: &str, id: u64, feed: &str) -> String {
        let format = if feed.is_empty() { DEFAULT_FEED } else { feed };
        if !self.permalinks.is_pretty() || link.contains('?') {
            return self.home_url(&format!("?feed={format}&{id_var}={id}"));
        }
        let format = if format == DEFAULT_FEED { String::new() } else { format!("/{format}") };
        self.permalinks.end(&format!("{}feed{format}", svc_text::trailing_slash(link)))
    }
}

/// The default feed format, which paths omit.
pub(crate) const DEFAULT_FEED: &str = "rss2";

/// The text before the next `%tag%`, the tag's name, and the text after it.
pub(crate) fn next_tag(structure: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = structure.split_once('%')?;
    let (tag, after) = rest.split_once('%')?;
    Some((before, tag, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Permalinks;

    fn site(structure: &str) -> SiteUrls {
        SiteUrls::new("http://a.b", "http://a.b", "svc-json", Permalinks::new(structure))
    }

    const POST: PostLink<'static> = PostLink {
        id: 4,
        slug: "hello",
        date: "2024-03-05 06:07:08",
        author: "jo",
        category: "news/local",
        plain: false,
        leave_name: false,
    };

    #[test]
    fn post_links() {
        for (structure, expected) in [
            ("", "http://a.b/?p=4"),
            ("/%year%/%monthnum%/%day%/%postname%/", "http://a.b/2024/03/05/hello/"),
            ("/%hour%%minute%%second%/%author%-%post_id%.html", "http://a.b/060708/jo-4.html"),
            ("/index.php/%category%/%postname%", "http://a.b/index.php/news/local/hello"),
            ("/100%/%bogus%/%postname%", "http://a.b/100%/%bogus%/hello"),
        ] {
            assert_eq!(site(structure).post_link(&POST), expected, "{structure}");
        }
        assert_eq!(site("/%postname%/").post_link(&PostLink { plain: true, ..POST }), "http://a.b/?p=4");
        assert_eq!(site("/%postname%/").post_link(&PostLink { leave_name: true, ..POST }), "http://a.b/%postname%/");
    }

    #[test]
    fn status_determines_plain_links() {
        assert!(!needs_plain("publish", false) && needs_plain("draft", true));
        assert!(needs_plain("private", false) && !needs_plain("private", true));
    }

    #[test]
    fn custom_post_type_links() {
        let books = PostTypeLinks::books();
        let (pretty, plain) = (site("/blog/%postname%/"), site(""));
        assert_eq!(pretty.custom_post_link(&books, 7, "dune", false, false), "http://a.b/blog/books/dune/");
        assert_eq!(pretty.custom_post_link(&books, 7, "dune", true, false), "http://a.b/?post_type=book&p=7");
        assert_eq!(plain.custom_post_link(&books, 7, "dune", false, false), "http://a.b/?book=dune");
        assert_eq!(pretty.post_type_archive_link(&books).as_deref(), Some("http://a.b/blog/library/"));
        assert_eq!(plain.post_type_archive_link(&books).as_deref(), Some("http://a.b/?post_type=book"));
    }

    #[test]
    fn date_and_feed_links() {
        let (pretty, plain) = (site("/archives/%post_id%"), site(""));
        assert_eq!(pretty.date_link(2024, Some(3), Some(5)), "http://a.b/archives/date/2024/03/05");
        assert_eq!(pretty.date_link(2024, Some(3), None), "http://a.b/archives/date/2024/03");
        assert_eq!(plain.date_link(2024, Some(3), Some(5)), "http://a.b/?m=20240305");
        assert_eq!(pretty.feed_link("atom"), "http://a.b/feed/atom");
        assert_eq!(pretty.feed_link("comments_atom"), "http://a.b/comments/feed/atom");
        assert_eq!(plain.feed_link("comments_rss2"), "http://a.b/?feed=comments-rss2");
        assert_eq!(
            pretty.comments_feed_link("http://a.b/archives/4", "p", 4, "atom"),
            "http://a.b/archives/4/feed/atom"
        );
        assert_eq!(plain.author_link(2, "jo"), "http://a.b/?author=2");
    }
}
