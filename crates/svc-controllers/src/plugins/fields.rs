//! The field table of plugins.

use svc_resource::Fields;
use svc_schema::build::{boolean, object, string};
use svc_site::plugins::item::PluginItem;

use crate::contexts::{VIEW_EDIT, VIEW_EDIT_EMBED};

/// The object type of a plugin, in the item schema and for additional fields.
pub(super) const OBJECT: &str = "plugin";

/// Pattern of a plugin's id: its main file without the extension.
pub(super) const NAME: &str = r"[^.\/]+(?:\/[^.\/]+)?";

/// Values of `status` that a request can set.
pub(super) const STATES: [&str; 2] = ["inactive", ACTIVE];
const ACTIVE: &str = "active";

/// What a request changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PluginDraft {
    /// Whether the plugin is activated or deactivated.
    pub(super) active: Option<bool>,
}

/// The fields of plugins.
pub(super) type PluginFields = Fields<PluginItem, PluginDraft>;

#[rustfmt::skip]
pub(super) fn fields() -> PluginFields {
    let mut f = PluginFields::new(OBJECT);
    f.add("plugin", string().describe("Path of the plugin's main file, without the extension.").pattern(NAME).readonly().context(VIEW_EDIT_EMBED)).get(|p| p.id().to_owned());
    f.add("status", string().describe("Whether the plugin is active.").one_of(STATES).context(VIEW_EDIT_EMBED))
        .get(PluginItem::status).try_set(|d, state: String| {
            d.active = STATES.contains(&state.as_str()).then(|| state == ACTIVE);
            d.active.is_some()
        });
    f.add("name", string().describe("Display name of the plugin.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.display_texts.name.clone());
    f.add("plugin_uri", string().describe("URL of the plugin's website.").format("uri").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.uri.clone());
    f.add("author", string().describe("Author of the plugin.").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.author.clone());
    f.add("author_uri", string().describe("URL of the author's website.").format("uri").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.author_uri.clone());
    let description = f.add("description", object([("", serde_json::Value::Null); 0]).describe("Description of the plugin.").readonly().context(VIEW_EDIT));
    description.subfield("raw", string().describe("Description from the plugin's header.")).get(|p| p.display_texts.description.clone());
    description.subfield("rendered", string().describe("Description as HTML.")).get(|p| p.display_texts.rendered.clone());
    f.add("version", string().describe("The plugin's version.").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.version.clone());
    f.add("network_only", boolean().describe("Whether the plugin can only be activated for a whole network.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.plugin.network);
    f.add("requires_wp", string().describe("Minimum WordPress version.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.plugin.requires_wp.clone());
    f.add("requires_php", string().describe("Minimum PHP version.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.plugin.requires_php.clone());
    f.add("textdomain", string().describe("Text domain of the plugin's translations.").readonly().context(VIEW_EDIT)).get(|p| p.plugin.text_domain.clone());
    f
}
