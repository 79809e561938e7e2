//! The field table of themes.

use std::path::Path;

use serde_json::{Map, Value, json};
use svc_content::{Shortcodes, texturize};
use svc_model::PostId;
use svc_packages::theme::{self, Theme};
use svc_resource::{Field, Fields};
use svc_schema::build::{array, boolean, object, string};
use svc_site::templates::kinds;
use svc_text::{Html, html};

use super::{OBJECT, supports};

/// Properties of an object whose subfields are added later.
const NO_PROPERTIES: [(&str, Value); 0] = [];

/// A theme with everything that its fields read.
pub struct ThemeItem {
    pub(super) theme: Theme,
    pub(super) is_active: bool,
    /// Supported features; empty unless the theme is active.
    pub(super) supports: Map<String, Value>,
    /// URL of the themes folder.
    pub(super) url: String,
    /// ID of the theme's global styles post, if there is one and links are requested.
    pub(super) styles: Option<PostId>,
}

impl ThemeItem {
    fn folder_url(&self, folder: &str) -> String {
        theme::folder_url(&self.url, folder)
    }

    /// Whether the theme's folder exists.
    pub(super) fn has_folder(&self, themes: &Path) -> bool {
        theme::is_folder_name(&self.theme.stylesheet) && themes.join(&self.theme.stylesheet).is_dir()
    }

    /// A value of the header; `false` without a style sheet, as in WordPress.
    fn of_header(&self, value: impl Into<Value>) -> Value {
        if self.theme.about.is_missing { false.into() } else { value.into() }
    }

    fn screenshot(&self) -> String {
        let file = self.theme.screenshot.as_deref();
        file.map_or(String::new(), |file| format!("{}/{file}", self.folder_url(&self.theme.stylesheet)))
    }

    /// The author's name as HTML, with a link if there is a URL.
    fn author(&self) -> String {
        let about = &self.theme.about;
        match (about.author.as_str(), svc_text::esc_url(&about.author_uri)) {
            ("", _) => "Anonymous".to_owned(),
            (name, url) if url.is_empty() => name.to_owned(),
            (name, url) => {
                let name = Html::trusted(name, "filtered when the header of the style sheet was read");
                html!("<a href=\"{}\">{}</a>", url, name).into_string()
            }
        }
    }

    /// The tags: a list, or an object keyed by position if the header has empty tags.
    fn tags(&self) -> Value {
        let by_position =
            self.theme.about.tags.iter().map(|(position, tag)| (position.to_string(), Value::from(tag.as_str())));
        self.of_header(svc_php::list::list_shape(by_position.collect::<Map<_, _>>().into()))
    }

    fn tag_names(&self) -> String {
        self.theme.about.tags.iter().map(|(_, tag)| tag.as_str()).collect::<Vec<_>>().join(", ")
    }
}

type ThemeField = Field<ThemeItem, ()>;

/// Descriptions of subfields.
const RAW: &str = "Value from the theme's header.";
const RENDERED: &str = "Value as HTML.";

/// Adds the subfields `raw` and `rendered` of a value of the header.
fn raw_and_rendered(
    field: &mut ThemeField,
    format: Option<&str>,
    raw: fn(&ThemeItem) -> String,
    rendered: fn(&ThemeItem) -> String,
) {
    let text = |description: &str| {
        let schema = string().describe(description);
        if let Some(format) = format { schema.format(format) } else { schema }
    };
    field.subfield("raw", text(RAW)).get(move |t| t.of_header(raw(t)));
    field.subfield("rendered", text(RENDERED)).get(move |t| t.of_header(rendered(t)));
}

#[rustfmt::skip]
pub(super) fn fields() -> Fields<ThemeItem, ()> {
    let mut f = Fields::<ThemeItem, ()>::new(OBJECT);
    f.add("stylesheet", string().describe("Name of the theme's folder.").readonly()).get(|t| t.theme.stylesheet.clone());
    f.add("template", string().describe("Name of the parent theme's folder, or of the theme's own folder.").readonly()).get(|t| t.theme.template.clone());
    f.add("requires_php", string().describe("Minimum PHP version.").readonly()).get(|t| t.of_header(t.theme.about.requires_php.clone()));
    f.add("requires_wp", string().describe("Minimum WordPress version.").readonly()).get(|t| t.of_header(t.theme.about.requires_wp.clone()));
    f.add("textdomain", string().describe("Text domain of the theme's translations.").readonly()).get(|t| t.of_header(t.theme.about.text_domain.clone()));
    f.add("version", string().describe("The theme's version.").readonly()).get(|t| t.of_header(t.theme.about.version.clone()));
    f.add("screenshot", string().describe("URL of the theme's screenshot.").format("uri").readonly()).get(ThemeItem::screenshot);
    let author = f.add("author", object(NO_PROPERTIES).describe("Author of the theme.").readonly());
    raw_and_rendered(author, None, |t| t.theme.about.author.clone(), ThemeItem::author);
    let author_uri = f.add("author_uri", object(NO_PROPERTIES).describe("URL of the author's website.").readonly());
    raw_and_rendered(author_uri, Some("uri"), |t| t.theme.about.author_uri.clone(), |t| svc_text::esc_url(&t.theme.about.author_uri).into_string());
    let description = f.add("description", object(NO_PROPERTIES).describe("Description of the theme.").readonly());
    raw_and_rendered(description, None, |t| t.theme.about.description.clone(), |t| texturize(&t.theme.about.description, &Shortcodes::default()));
    let name = f.add("name", object(NO_PROPERTIES).describe("Display name of the theme.").readonly());
    for (value, description) in [("raw", RAW), ("rendered", RENDERED)] {
        name.subfield(value, string().describe(description)).get(|t| t.theme.about.name.clone());
    }
    let tags = f.add("tags", object(NO_PROPERTIES).describe("Tags of the theme.").readonly());
    tags.subfield("raw", array(string()).describe("Tags as a list.")).get(ThemeItem::tags);
    tags.subfield("rendered", string().describe("Tags as a comma-separated string.")).get(|t| t.of_header(t.tag_names()));
    let theme_uri = f.add("theme_uri", object(NO_PROPERTIES).describe("URL of the theme's website.").readonly());
    raw_and_rendered(theme_uri, Some("uri"), |t| t.theme.about.theme_uri.clone(), |t| svc_text::esc_url(&t.theme.about.theme_uri).into_string());
    f.add("status", string().describe("Whether the theme is active.").one_of(["inactive", "active"]))
        .get(|t| if t.is_active { "active" } else { "inactive" });
    f.add("theme_supports", object(supports::schemas()).describe("Features that the theme supports.").readonly().last(&["properties"])).get(|t| t.supports.clone());
    f.add("is_block_theme", boolean().describe("Whether the theme is a block theme.").readonly()).get(|t| t.theme.is_block_theme);
    f.add("stylesheet_uri", string().describe("URL of the theme's folder.").format("uri").readonly()).get(|t| t.folder_url(&t.theme.stylesheet));
    f.add("template_uri", string().describe("URL of the parent theme's folder, or of the theme's own folder.").format("uri").readonly()).get(|t| t.folder_url(&t.theme.template));
    let texts = |names: &[&str]| object(names.iter().map(|name| (*name, json!({"type": "string"}))).collect::<Vec<_>>());
    f.add("default_template_types", array(texts(&["slug", "title", "description"])).describe("Default template types.").readonly().last(&["items"])).get(|_| kinds::types_json());
    f.add("default_template_part_areas", array(texts(&["area", "label", "description", "icon", "area_tag"])).describe("Default areas of template parts.").readonly().last(&["items"])).get(|_| kinds::areas_json());
    f.schema_order(&[
        "stylesheet", "stylesheet_uri", "template", "template_uri", "author", "author_uri", "description", "is_block_theme", "name",
        "requires_php", "requires_wp", "screenshot", "tags", "textdomain", "theme_supports", "theme_uri", "version",
    ]);
    f
}
