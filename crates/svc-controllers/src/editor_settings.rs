//! The settings of a block editor, from the active theme and the site's global styles.
//!
//! WordPress prints them into its editor's page. Apps request them at the route of the Gutenberg plugin, which this is.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_packages::theme::{ThemeJson, css};
use svc_resource::Fields;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Error, Schema,
    build::{array, boolean, integer, string, types},
};
use svc_site::{ActiveTheme, Site};

use crate::{global_styles, respond, theme_access};

/// The contexts: an editor of the site, or an app, which reads styles as `theme.json` instead of CSS.
const ALL: &[&str] = &[EDITOR, MOBILE, "site-editor", "widgets-editor"];
const EDITOR: &str = "post-editor";
const MOBILE: &str = "mobile";
const BROWSER: &[&str] = &[EDITOR, "site-editor", "widgets-editor"];

/// Origins of presets, the most specific first.
const ORIGINS: [&str; 3] = ["custom", "theme", "default"];

/// Seconds between autosaves to the server, and between those in the browser.
const AUTOSAVE_INTERVALS: (i64, i64) = (60, 15);

fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_block_editor_settings", "You are not allowed to read the settings of the editor.")
}

/// What the settings are made of.
struct EditorSettings {
    theme: Arc<ActiveTheme>,
    /// The theme's settings and styles with the site's own.
    merged: ThemeJson,
}

impl EditorSettings {
    /// The presets of the most specific origin that has some: `color` and `palette`.
    fn presets(&self, group: &str, name: &str) -> Value {
        let presets = &self.merged.settings()[group][name];
        let found = ORIGINS.iter().map(|origin| &presets[*origin]).find(|list| list.is_array());
        found.cloned().unwrap_or_else(|| json!([]))
    }

    /// Whether the theme switches a setting off, which is on without it.
    fn is_off(&self, group: &str, name: &str) -> bool {
        self.merged.settings()[group][name] == false
    }

    fn is_on(&self, group: &str, name: &str) -> bool {
        self.merged.settings()[group][name] == true
    }
}

#[rustfmt::skip]
fn fields() -> Fields<EditorSettings, ()> {
    let mut f = Fields::<EditorSettings, ()>::new("block-editor-settings-item");
    let flag = |about: &str| boolean().describe(about).context(ALL).readonly();
    let number = |about: &str| integer().describe(about).context(BROWSER).readonly();
    let presets = |about: &str| array(types(["object"])).describe(about).context(ALL).readonly();
    f.add("__experimentalFeatures", types(["object"]).describe("The settings of theme.json, with presets by origin.").context(ALL).readonly()).get(|s| s.merged.settings().clone());
    f.add("__experimentalStyles", types(["object"]).describe("The styles of theme.json.").context(&[MOBILE]).readonly()).get(|s| s.merged.styles().clone());
    f.add("styles", array(types(["object"])).describe("Style sheets for the content.").context(BROWSER).readonly()).get(|s| json!([{"css": css::stylesheet(&s.merged), "__unstableType": "theme", "isGlobalStyles": true}]));
    f.add("colors", presets("Active theme colors.")).get(|s| s.presets("color", "palette"));
    f.add("gradients", presets("Active theme gradients.")).get(|s| s.presets("color", "gradients"));
    f.add("fontSizes", presets("Active theme font sizes.")).get(|s| s.presets("typography", "fontSizes"));
    f.add("disableCustomColors", flag("Whether colors other than presets are off.")).get(|s| s.is_off("color", "custom"));
    f.add("disableCustomGradients", flag("Whether gradients other than presets are off.")).get(|s| s.is_off("color", "customGradient"));
    f.add("disableCustomFontSizes", flag("Whether font sizes other than presets are off.")).get(|s| s.is_off("typography", "customFontSize"));
    f.add("enableCustomLineHeight", flag("Whether blocks may have a line height.")).get(|s| s.is_on("typography", "lineHeight"));
    f.add("enableCustomSpacing", flag("Whether blocks may have padding.")).get(|s| s.is_on("spacing", "padding"));
    f.add("allowedBlockTypes", flag("Whether all block types are allowed.")).get(|_| true);
    f.add("alignWide", flag("Whether blocks may be wide and full width.")).get(|s| s.theme.is_block_theme());
    f.add("supportsLayout", flag("Whether the theme has settings of layouts.")).get(|s| s.theme.theme.as_ref().is_some_and(|theme| theme.has_json));
    f.add("supportsTemplateMode", flag("Whether the theme has block templates, which the editor can show around the content.")).get(|s| s.theme.is_block_theme());
    f.add("__unstableIsBlockBasedTheme", flag("Whether the active theme is a block theme.")).get(|s| s.theme.is_block_theme());
    for name in ["galleryWithImageBlocks", "quoteBlockV2", "listBlockV2"] {
        f.add(name, boolean().describe("Whether the block has its current markup.").context(&[MOBILE]).readonly()).get(|_| true);
    }
    f.add("richEditingEnabled", boolean().describe("Whether the visual editor is available.").context(BROWSER).readonly()).get(|_| true);
    f.add("codeEditingEnabled", boolean().describe("Whether the markup can be edited.").context(BROWSER).readonly()).get(|_| true);
    f.add("titlePlaceholder", string().describe("Text of an empty title.").context(BROWSER).readonly()).get(|_| "Add title");
    f.add("bodyPlaceholder", string().describe("Text of an empty post.").context(BROWSER).readonly()).get(|_| "Type / to choose a block");
    f.add("autosaveInterval", number("Seconds between autosaves to the server.")).get(|_| AUTOSAVE_INTERVALS.0);
    f.add("localAutosaveInterval", number("Seconds between autosaves in the browser.")).get(|_| AUTOSAVE_INTERVALS.1);
    f
}

/// The family of the editor's settings.
pub struct EditorSettingsRoutes {
    site: Arc<Site>,
    fields: Fields<EditorSettings, ()>,
}

impl EditorSettingsRoutes {
    /// The family on this site.
    pub fn new(site: &Arc<Site>) -> Self {
        EditorSettingsRoutes { site: Arc::clone(site), fields: fields() }
    }

    /// Requires permission to edit posts of any type.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        if theme_access::is_writer(&self.site, &req)? { Ok(()) } else { Err(cannot_read(&req)) }
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings(req.cx())?;
        let theme = self.site.theme(req.cx(), &settings);
        let own = self.site.read(req.cx(), |db| global_styles::user_styles(db, &theme.name))?;
        let mut merged = theme.json.clone();
        merged.merge(&own);
        let data: Map<String, Value> =
            self.fields.plan(&respond::view(&req)).prepare(&EditorSettings { theme, merged });
        Ok(Response::new(data))
    }
}

impl Controller for EditorSettingsRoutes {
    fn routes(&self) -> Vec<Route<Self>> {
        let context = string().one_of(ALL.iter().copied()).default(EDITOR).describe("The editor that requests them.");
        let endpoint = get(Self::fetch, Self::can_fetch).args(svc_schema::Args::from([("context", context)]));
        vec![Route::new("/settings").unlisted().schema(Schema::compile(self.fields.item_schema())).endpoint(endpoint)]
    }
}
