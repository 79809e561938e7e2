//! Values of the templates. The templates escape all of them except [`Markup`], and CSS and scripts, which are `safe`.

use std::fmt;

use askama::{Template, filters::HtmlSafe};
use svc_text::Html;

/// HTML that a page contains as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(pub(crate) Html);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// Values that every page has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Language tag, as in `lang="en-US"`.
    pub(crate) lang: String,
    /// Text of the `title` element.
    pub(crate) title: String,
    pub(crate) site_name: String,
    pub(crate) tagline: String,
    /// Description for search engines.
    pub(crate) description: String,
    /// The site's URL without a trailing slash.
    pub(crate) home: String,
    pub(crate) feed: String,
    /// Canonical URL.
    pub(crate) canonical: Option<String>,
    /// Whether search engines must not index the page.
    pub(crate) hidden: bool,
    /// Links to the REST API, for the head of the page.
    pub(crate) head_links_html: Markup,
    /// The site's top-level pages.
    pub(crate) menu: Vec<Link>,
    /// The search query.
    pub(crate) searched: String,
    /// Links of the account of a signed-in visitor.
    pub(crate) account: Vec<Link>,
}

/// A link with its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) title_html: Markup,
    pub(crate) url: String,
    /// Whether it links to the current page.
    pub(crate) current: bool,
}

/// A post on a page or in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct PostEntry {
    pub(crate) title_html: Markup,
    pub(crate) url: String,
    /// In the site's date format.
    pub(crate) date: String,
    /// RFC 3339.
    pub(crate) machine_date: String,
    pub(crate) author: Option<Link>,
    /// The content; in lists the excerpt.
    pub(crate) body_html: Markup,
}

/// Terms of a post in one taxonomy.
#[derive(Clone, Debug)]
pub(crate) struct TermGroup {
    pub(crate) label: String,
    pub(crate) terms: Vec<Link>,
}

/// A comment.
#[derive(Clone, Debug)]
pub(crate) struct ShownComment {
    pub(crate) id: i64,
    pub(crate) author: String,
    pub(crate) date: String,
    pub(crate) machine_date: String,
    pub(crate) body_html: Markup,
}

/// A page of a list of posts.
#[derive(Template)]
#[template(path = "list.html")]
pub(crate) struct ListPage {
    pub(crate) page: Frame,
    /// Empty on the front page.
    pub(crate) heading_html: Markup,
    /// Description of the list.
    pub(crate) note_html: Markup,
    pub(crate) entries: Vec<PostEntry>,
    /// Shown if there are no posts.
    pub(crate) empty_message: &'static str,
    pub(crate) newer: Option<String>,
    pub(crate) older: Option<String>,
}

/// The page of a post.
#[derive(Template)]
#[template(path = "single.html")]
pub(crate) struct SinglePage {
    pub(crate) page: Frame,
    pub(crate) entry: PostEntry,
    /// Whether date and author are shown.
    pub(crate) dated: bool,
    pub(crate) groups: Vec<TermGroup>,
    pub(crate) comments_heading: String,
    pub(crate) comments: Vec<ShownComment>,
}

/// A page rendered with the theme.
#[derive(Template)]
#[template(path = "themed.html")]
pub(crate) struct ThemedPage<'a> {
    pub(crate) page: &'a Frame,
    pub(crate) css: &'a str,
    /// CSS of the blocks on the page.
    pub(crate) block_css: &'a str,
    /// CSS classes of the body.
    pub(crate) classes: String,
    /// Whether there is a target for the skip link.
    pub(crate) has_main: bool,
    pub(crate) body_html: Markup,
}

/// The page of a post for embedding.
#[derive(Template)]
#[template(path = "embed.html")]
pub(crate) struct EmbedPage {
    pub(crate) page: Frame,
    pub(crate) entry: PostEntry,
    pub(crate) script: &'static str,
}

/// A page with a message.
#[derive(Template)]
#[template(path = "plain.html")]
pub(crate) struct PlainPage {
    pub(crate) page: Frame,
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
}

/// The RSS feed.
#[derive(Template)]
#[template(path = "feed.xml")]
pub(crate) struct RssFeed {
    pub(crate) title: String,
    pub(crate) tagline: String,
    pub(crate) home: String,
    /// URL of the feed.
    pub(crate) own: String,
    pub(crate) lang: String,
    /// RFC 2822; empty if nothing has been published.
    pub(crate) built: String,
    pub(crate) items: Vec<RssItem>,
}

/// A post in a feed.
#[derive(Clone, Debug, Default)]
pub(crate) struct RssItem {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) author: Option<String>,
    /// RFC 2822.
    pub(crate) date: String,
    pub(crate) categories: Vec<String>,
    pub(crate) guid: String,
    /// Plain text.
    pub(crate) summary: String,
    /// The excerpt or the content. A feed contains HTML as escaped text.
    pub(crate) content: Html,
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\"><script>x</script>&'";

    fn frame() -> Frame {
        Frame {
            lang: HOSTILE.to_owned(),
            title: HOSTILE.to_owned(),
            site_name: HOSTILE.to_owned(),
            tagline: HOSTILE.to_owned(),
            description: HOSTILE.to_owned(),
            home: HOSTILE.to_owned(),
            feed: HOSTILE.to_owned(),
            canonical: Some(HOSTILE.to_owned()),
            searched: HOSTILE.to_owned(),
            menu: vec![Link { title_html: Markup(Html::from("Menu")), url: HOSTILE.to_owned(), current: true }],
            ..Frame::default()
        }
    }

    fn entry() -> PostEntry {
        let author = Link { title_html: Markup(Html::from("A")), url: HOSTILE.to_owned(), current: false };
        PostEntry {
            title_html: Markup(Html::from("T")),
            url: HOSTILE.to_owned(),
            date: HOSTILE.to_owned(),
            machine_date: HOSTILE.to_owned(),
            author: Some(author),
            body_html: Markup(Html::from("<p>Body</p>")),
        }
    }

    #[test]
    fn pages_escape_texts() {
        let list = ListPage {
            page: frame(),
            heading_html: Markup(Html::from("H")),
            note_html: Markup::default(),
            entries: vec![entry()],
            empty_message: "",
            newer: Some(HOSTILE.to_owned()),
            older: Some(HOSTILE.to_owned()),
        };
        let comment = ShownComment {
            id: 1,
            author: HOSTILE.to_owned(),
            date: HOSTILE.to_owned(),
            machine_date: HOSTILE.to_owned(),
            body_html: Markup(Html::from("<p>C</p>")),
        };
        let term = Link { title_html: Markup(Html::from("N")), url: HOSTILE.to_owned(), current: false };
        let single = SinglePage {
            page: frame(),
            entry: entry(),
            dated: true,
            groups: vec![TermGroup { label: HOSTILE.to_owned(), terms: vec![term] }],
            comments_heading: HOSTILE.to_owned(),
            comments: vec![comment],
        };
        let plain = PlainPage { page: frame(), heading: HOSTILE, text: HOSTILE };
        for html in [list.render().unwrap(), single.render().unwrap(), plain.render().unwrap()] {
            assert!(!html.contains("<script") && !html.contains("\">&lt;script"), "{html}");
            assert!(html.contains("href=\"#content\"") && html.contains("<main id=\"content\""));
        }
    }

    #[test]
    fn only_css_and_scripts_are_safe_by_their_template() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
        for file in std::fs::read_dir(folder).unwrap() {
            let template = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for (before, _) in template.match_indices("|safe").map(|(at, _)| template.split_at(at)) {
                let name = before.rsplit(' ').next().unwrap();
                assert!(["css", "block_css", "script"].contains(&name), "{name}");
            }
        }
    }

    #[test]
    fn the_feed_escapes_xml() {
        let item = RssItem { content: Html::from("<p>a & b</p>]]>"), title: HOSTILE.to_owned(), ..RssItem::default() };
        let feed = RssFeed {
            title: HOSTILE.to_owned(),
            tagline: String::new(),
            home: String::new(),
            own: HOSTILE.to_owned(),
            lang: String::new(),
            built: String::new(),
            items: vec![item],
        };
        let xml = feed.render().unwrap();
        assert!(!xml.contains("<script") && !xml.contains("<p>") && xml.contains("&#60;p&#62;a &#38; b"), "{xml}");
    }
}
