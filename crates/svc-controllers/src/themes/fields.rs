//! Members of a theme, each named once.

use serde_json::{Map, Value, json};
use svc_content::{Shortcodes, texturize};
use svc_packages::theme::{self, Theme};
use svc_resource::{Field, Fields};
use svc_schema::build::{array, boolean, object, string};
use svc_site::templates::kinds;

use super::{OBJECT, supports};

/// An object whose members are named by the table.
const NOTHING: [(&str, Value); 0] = [];

/// A theme with what its members read.
pub(super) struct ThemeItem {
    pub theme: Theme,
    pub is_active: bool,
    /// What it supports; only of the active theme.
    pub supports: Map<String, Value>,
    /// Address of the folder of themes.
    pub url: String,
}

impl ThemeItem {
    fn folder_url(&self, folder: &str) -> String {
        theme::folder_url(&self.url, folder)
    }

    fn screenshot(&self) -> String {
        let file = self.theme.screenshot.as_deref();
        file.map_or(String::new(), |file| format!("{}/{file}", self.folder_url(&self.theme.stylesheet)))
    }

    /// The author, with a link where he has one.
    fn author(&self) -> String {
        let about = &self.theme.about;
        match (about.author.as_str(), svc_text::esc_url(&about.author_uri)) {
            ("", _) => "Anonymous".to_owned(),
            (name, url) if url.is_empty() => name.to_owned(),
            (name, url) => format!("<a href=\"{url}\">{name}</a>"),
        }
    }

    /// A list, unless the header left one of them empty: then each by its place.
    fn tags(&self) -> Value {
        let by_place = self.theme.about.tags.iter().map(|(place, tag)| (place.to_string(), Value::from(tag.as_str())));
        svc_php::list::list_shape(by_place.collect::<Map<_, _>>().into())
    }

    fn tag_names(&self) -> String {
        self.theme.about.tags.iter().map(|(_, tag)| tag.as_str()).collect::<Vec<_>>().join(", ")
    }
}

type ThemeField = Field<ThemeItem, ()>;

/// A text as it is written and as it is shown.
fn both(
    field: &mut ThemeField,
    format: Option<&str>,
    raw: fn(&ThemeItem) -> String,
    rendered: fn(&ThemeItem) -> String,
) {
    let text = |description: &str| {
        let schema = string().describe(description);
        if let Some(format) = format { schema.format(format) } else { schema }
    };
    field.subfield("raw", text("As the theme's header has it.")).get(raw);
    field.subfield("rendered", text("As HTML.")).get(rendered);
}

#[rustfmt::skip]
pub(super) fn fields() -> Fields<ThemeItem, ()> {
    let mut f = Fields::<ThemeItem, ()>::new(OBJECT);
    f.add("stylesheet", string().describe("The theme's folder.").readonly()).get(|t| t.theme.stylesheet.clone());
    f.add("template", string().describe("The folder of the theme's parent, or its own.").readonly()).get(|t| t.theme.template.clone());
    f.add("requires_php", string().describe("The least version of PHP that the theme runs on.").readonly()).get(|t| t.theme.about.requires_php.clone());
    f.add("requires_wp", string().describe("The least version of WordPress that the theme runs on.").readonly()).get(|t| t.theme.about.requires_wp.clone());
    f.add("textdomain", string().describe("The name of the theme's translations.").readonly()).get(|t| t.theme.about.text_domain.clone());
    f.add("version", string().describe("The theme's version.").readonly()).get(|t| t.theme.about.version.clone());
    f.add("screenshot", string().describe("Address of the theme's picture.").format("uri").readonly()).get(ThemeItem::screenshot);
    let author = f.add("author", object(NOTHING).describe("Who made the theme.").readonly());
    both(author, None, |t| t.theme.about.author.clone(), ThemeItem::author);
    let author_uri = f.add("author_uri", object(NOTHING).describe("The page of who made the theme.").readonly());
    both(author_uri, Some("uri"), |t| t.theme.about.author_uri.clone(), |t| svc_text::esc_url(&t.theme.about.author_uri));
    let description = f.add("description", object(NOTHING).describe("What the theme is like.").readonly());
    both(description, None, |t| t.theme.about.description.clone(), |t| texturize(&t.theme.about.description, &Shortcodes::default()));
    let name = f.add("name", object(NOTHING).describe("What people call the theme.").readonly());
    both(name, None, |t| t.theme.about.name.clone(), |t| t.theme.about.name.clone());
    let tags = f.add("tags", object(NOTHING).describe("Words that say what the theme is like.").readonly());
    tags.subfield("raw", array(string()).describe("The words.")).get(ThemeItem::tags);
    tags.subfield("rendered", string().describe("The words as one text.")).get(ThemeItem::tag_names);
    let theme_uri = f.add("theme_uri", object(NOTHING).describe("The theme's page.").readonly());
    both(theme_uri, Some("uri"), |t| t.theme.about.theme_uri.clone(), |t| svc_text::esc_url(&t.theme.about.theme_uri));
    f.add("status", string().describe("Whether the site uses the theme.").one_of(["inactive", "active"]))
        .get(|t| if t.is_active { "active" } else { "inactive" });
    f.add("theme_supports", object(supports::schemas()).describe("What the theme supports.").readonly()).get(|t| t.supports.clone());
    f.add("is_block_theme", boolean().describe("Whether pages are drawn from templates made of blocks.").readonly()).get(|t| t.theme.is_block_theme);
    f.add("stylesheet_uri", string().describe("Address of the theme's folder.").format("uri").readonly()).get(|t| t.folder_url(&t.theme.stylesheet));
    f.add("template_uri", string().describe("Address of the folder of the theme's parent, or its own.").format("uri").readonly()).get(|t| t.folder_url(&t.theme.template));
    let texts = |names: &[&str]| object(names.iter().map(|name| (*name, json!({"type": "string"}))).collect::<Vec<_>>());
    f.add("default_template_types", array(texts(&["slug", "title", "description"])).describe("Templates that pages can have.").readonly()).get(|_| kinds::types_shown());
    f.add("default_template_part_areas", array(texts(&["area", "label", "description", "icon", "area_tag"])).describe("Places that template parts are for.").readonly()).get(|_| kinds::areas_shown());
    f
}
