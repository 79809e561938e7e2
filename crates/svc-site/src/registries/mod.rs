//! Registrations of a site: types, meta fields, block patterns, sidebars and others. Plain data that does not depend on the
//! site.

pub(crate) mod builtin_meta;
pub mod meta;
pub mod patterns;
pub mod sidebars;

use indexmap::IndexMap;
use serde_json::{Map, Value};
use svc_content::blocks::BlockTypes;
use svc_media::RegisteredSize;
use svc_model::{PostStatuses, PostTypes, Taxonomies};

use self::{meta::MetaRegistry, patterns::PatternRegistry, sidebars::Sidebar};

/// What programs register on a site before it is built. The default is what WordPress registers itself, without what
/// depends on the registered types: that is added when the site is built.
#[derive(Clone, Debug, Default)]
pub struct Registries {
    /// The post types.
    pub types: PostTypes,
    /// The taxonomies.
    pub taxonomies: Taxonomies,
    /// The post statuses.
    pub statuses: PostStatuses,
    /// The meta fields.
    pub meta: MetaRegistry,
    /// The block types, without those of plugins and the theme.
    pub blocks: BlockTypes,
    /// The patterns and pattern categories, without those of the active theme.
    pub patterns: PatternRegistry,
    /// The sidebars by id.
    pub sidebars: IndexMap<String, Sidebar>,
    /// Menu locations of the theme: name and label.
    pub menu_locations: IndexMap<String, String>,
    /// Features that the theme's `functions.php` declares (`custom-logo`, `formats` …), in addition to those that every theme
    /// supports. Names and values are those of `theme_supports` in the REST API.
    pub theme_supports: Map<String, Value>,
    /// Additional image sizes, and replacements of the default ones.
    pub image_sizes: Vec<RegisteredSize>,
    /// Hooks that change generated URLs and routes. Those of active extensions are added to them.
    pub url_hooks: svc_permalinks::UrlHooks,
}

impl Registries {
    /// Registers a sidebar; replaces one with the same id.
    pub fn register_sidebar(&mut self, sidebar: Sidebar) {
        self.sidebars.insert(sidebar.id().to_owned(), sidebar);
    }

    /// Whether the theme declares that these elements are HTML5 markup. Without a declaration they are, as with block themes and
    /// nearly all others.
    pub fn renders_html5(&self, element: &str) -> bool {
        match self.theme_supports.get("html5") {
            Some(Value::Bool(is_html5)) => *is_html5,
            Some(Value::Array(elements)) => elements.iter().any(|other| other == element),
            _ => true,
        }
    }

    /// Registers what depends on the post types: the sync status of patterns, the meta of core blocks for all types
    /// with editor, meta and revisions, the meta of notes, and the editor preferences of users. `prefix` is that of the
    /// database's tables.
    pub(crate) fn register_builtin_meta(&mut self, prefix: &str) {
        let types_with_footnotes: Vec<String> = self
            .types
            .iter()
            .filter(|t| t.show_in_rest && ["editor", "custom-fields", "revisions"].iter().all(|f| t.supports(f)))
            .map(|t| t.name.clone())
            .collect();
        self.meta.register("post", "wp_block", builtin_meta::pattern_sync_status());
        for post_type in types_with_footnotes {
            self.meta.register("post", &post_type, builtin_meta::footnotes());
        }
        self.meta.register("user", "", builtin_meta::editor_preferences(prefix));
        self.meta.register("comment", "", builtin_meta::note_status());
    }
}
