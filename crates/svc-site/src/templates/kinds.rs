//! Templates that pages can have, and the places that template parts are for.

use serde_json::{Value, json};

/// A kind of page that has a template of its own.
pub struct Kind {
    /// The template's slug.
    pub slug: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Which pages it draws.
    pub description: &'static str,
}

/// A place on a page.
pub struct Area {
    /// Its name for programs.
    pub name: &'static str,
    label: &'static str,
    description: &'static str,
    icon: &'static str,
    /// The element that a part in this place is.
    pub tag: &'static str,
}

const fn kind(slug: &'static str, title: &'static str, description: &'static str) -> Kind {
    Kind { slug, title, description }
}

/// Every kind of page. The titles are facts of the interface: templates bear them.
#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind("index", "Index", "Draws every page that has no closer template."),
    kind("home", "Blog Home", "Draws the list of the latest posts, on the front page or on the page chosen for it."),
    kind("front-page", "Front Page", "Draws the site's front page, whatever it shows."),
    kind("singular", "Single Entries", "Draws a post or a page that has no closer template."),
    kind("single", "Single Posts", "Draws one post."),
    kind("page", "Pages", "Draws one page."),
    kind("archive", "All Archives", "Draws a list of posts: of a term, of an author, of a month, of a type."),
    kind("author", "Author Archives", "Draws the posts of one author."),
    kind("category", "Category Archives", "Draws the posts of one category."),
    kind("taxonomy", "Taxonomy", "Draws the posts of one term."),
    kind("date", "Date Archives", "Draws the posts of a year, a month or a day."),
    kind("tag", "Tag Archives", "Draws the posts with one tag."),
    kind("attachment", "Attachment Pages", "Draws the page of a file."),
    kind("search", "Search Results", "Draws what a search has found."),
    kind("privacy-policy", "Privacy Policy", "Draws the page that tells of privacy."),
    kind("404", "Page: 404", "Draws the answer to an address where there is nothing."),
    kind("taxonomy-post_format-post-format-standard", "Post Format: Standard", "Draws the posts without a format."),
    kind("taxonomy-post_format-post-format-aside", "Post Format: Aside", "Draws the asides."),
    kind("taxonomy-post_format-post-format-chat", "Post Format: Chat", "Draws the chats."),
    kind("taxonomy-post_format-post-format-gallery", "Post Format: Gallery", "Draws the galleries."),
    kind("taxonomy-post_format-post-format-link", "Post Format: Link", "Draws the links."),
    kind("taxonomy-post_format-post-format-image", "Post Format: Image", "Draws the images."),
    kind("taxonomy-post_format-post-format-quote", "Post Format: Quote", "Draws the quotes."),
    kind("taxonomy-post_format-post-format-status", "Post Format: Status", "Draws the status messages."),
    kind("taxonomy-post_format-post-format-video", "Post Format: Video", "Draws the videos."),
    kind("taxonomy-post_format-post-format-audio", "Post Format: Audio", "Draws the recordings."),
];

/// The place of parts that are for none.
pub const ANYWHERE: &str = "uncategorized";

#[rustfmt::skip]
const AREAS: &[Area] = &[
    Area { name: ANYWHERE, label: "General", description: "For any place on a page.", icon: "layout", tag: "div" },
    Area { name: "header", label: "Header", description: "The top of a page: the site's name, logo and menu.", icon: "header", tag: "header" },
    Area { name: "footer", label: "Footer", description: "The bottom of a page.", icon: "footer", tag: "footer" },
    Area { name: "navigation-overlay", label: "Navigation Overlay", description: "What a menu shows when it opens over the page.",
           icon: "navigation-overlay", tag: "div" },
];

/// The kind of page that a template of this slug is for by its name.
pub fn of_slug(slug: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.slug == slug)
}

/// The name of the place that `wanted` is; that of no place for one that is not known.
pub fn area(wanted: &str) -> &'static str {
    AREAS.iter().find(|area| area.name == wanted).map_or(ANYWHERE, |area| area.name)
}

/// Names and labels of all places, that of no place last.
pub fn area_labels() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (anywhere, places): (Vec<&Area>, Vec<&Area>) = AREAS.iter().partition(|area| area.name == ANYWHERE);
    places.into_iter().chain(anywhere).map(|area| (area.name, area.label))
}

/// All kinds as the interface shows them.
pub fn types_shown() -> Value {
    KINDS.iter().map(|k| json!({"title": k.title, "description": k.description, "slug": k.slug})).collect()
}

/// All places as the interface shows them.
pub fn areas_shown() -> Value {
    let shown = |a: &Area| json!({"area": a.name, "label": a.label, "description": a.description, "icon": a.icon, "area_tag": a.tag});
    AREAS.iter().map(shown).collect()
}
