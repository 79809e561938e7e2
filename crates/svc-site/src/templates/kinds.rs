//! Template types, and areas of template parts.

use serde_json::{Value, json};

/// A template type.
pub struct TemplateType {
    /// The template's slug.
    pub slug: &'static str,
    /// The type's title.
    pub title: &'static str,
    /// The type's description.
    pub description: &'static str,
}

/// An area of template parts.
pub struct Area {
    /// The area's name.
    pub name: &'static str,
    label: &'static str,
    description: &'static str,
    icon: &'static str,
    /// The HTML element of a part in this area.
    pub tag: &'static str,
}

const fn kind(slug: &'static str, title: &'static str, description: &'static str) -> TemplateType {
    TemplateType { slug, title, description }
}

/// All template types. The titles are part of the REST API.
#[rustfmt::skip]
const TEMPLATE_TYPES: &[TemplateType] = &[
    kind("index", "Index", "Renders every page without a more specific template."),
    kind("home", "Blog Home", "Renders the list of the latest posts, on the front page or on the page chosen for it."),
    kind("front-page", "Front Page", "Renders the site's front page, whether it is a page or a list of posts."),
    kind("singular", "Single Entries", "Renders posts and pages without a more specific template."),
    kind("single", "Single Posts", "Renders a single post."),
    kind("page", "Pages", "Renders a single page."),
    kind("archive", "All Archives", "Renders lists of posts by term, author, date or post type."),
    kind("author", "Author Archives", "Renders the posts of one author."),
    kind("category", "Category Archives", "Renders the posts of one category."),
    kind("taxonomy", "Taxonomy", "Renders the posts of one term."),
    kind("date", "Date Archives", "Renders the posts of a year, a month or a day."),
    kind("tag", "Tag Archives", "Renders the posts with one tag."),
    kind("attachment", "Attachment Pages", "Renders the page of an attachment."),
    kind("search", "Search Results", "Renders the results of a search."),
    kind("privacy-policy", "Privacy Policy", "Renders the privacy policy page."),
    kind("404", "Page: 404", "Renders the response to a URL that does not exist."),
    kind("taxonomy-post_format-post-format-standard", "Post Format: Standard", "Renders the posts without a format."),
    kind("taxonomy-post_format-post-format-aside", "Post Format: Aside", "Renders posts in the aside format."),
    kind("taxonomy-post_format-post-format-chat", "Post Format: Chat", "Renders posts in the chat format."),
    kind("taxonomy-post_format-post-format-gallery", "Post Format: Gallery", "Renders posts in the gallery format."),
    kind("taxonomy-post_format-post-format-link", "Post Format: Link", "Renders posts in the link format."),
    kind("taxonomy-post_format-post-format-image", "Post Format: Image", "Renders posts in the image format."),
    kind("taxonomy-post_format-post-format-quote", "Post Format: Quote", "Renders posts in the quote format."),
    kind("taxonomy-post_format-post-format-status", "Post Format: Status", "Renders posts in the status format."),
    kind("taxonomy-post_format-post-format-video", "Post Format: Video", "Renders posts in the video format."),
    kind("taxonomy-post_format-post-format-audio", "Post Format: Audio", "Renders posts in the audio format."),
];

/// The area of parts without an area.
pub const UNCATEGORIZED: &str = "uncategorized";

#[rustfmt::skip]
const AREAS: &[Area] = &[
    Area { name: UNCATEGORIZED, label: "General", description: "For any position on a page.", icon: "layout", tag: "div" },
    Area { name: "header", label: "Header", description: "The top of a page: the site's name, logo and menu.", icon: "header", tag: "header" },
    Area { name: "footer", label: "Footer", description: "The bottom of a page.", icon: "footer", tag: "footer" },
    Area { name: "navigation-overlay", label: "Navigation Overlay", description: "The content of a menu that opens as an overlay.",
           icon: "navigation-overlay", tag: "div" },
];

/// The template type of this slug.
pub fn template_type(slug: &str) -> Option<&'static TemplateType> {
    TEMPLATE_TYPES.iter().find(|kind| kind.slug == slug)
}

/// The name of the area `wanted`; [`UNCATEGORIZED`] if it is unknown.
pub fn area(wanted: &str) -> &'static str {
    AREAS.iter().find(|area| area.name == wanted).map_or(UNCATEGORIZED, |area| area.name)
}

/// Names and labels of all areas, [`UNCATEGORIZED`] last.
pub fn area_labels() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (anywhere, areas): (Vec<&Area>, Vec<&Area>) = AREAS.iter().partition(|area| area.name == UNCATEGORIZED);
    areas.into_iter().chain(anywhere).map(|area| (area.name, area.label))
}

/// All template types as the REST API returns them.
pub fn types_json() -> Value {
    TEMPLATE_TYPES.iter().map(|k| json!({"title": k.title, "description": k.description, "slug": k.slug})).collect()
}

/// All areas as the REST API returns them.
pub fn areas_json() -> Value {
    let shown = |a: &Area| json!({"area": a.name, "label": a.label, "description": a.description, "icon": a.icon, "area_tag": a.tag});
    AREAS.iter().map(shown).collect()
}
