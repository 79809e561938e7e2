//! The table of a plugin's members.

use svc_resource::Fields;
use svc_schema::build::{boolean, object, string};
use svc_site::plugins::item::Item;

use crate::contexts::{VIEW_EDIT, VIEW_EDIT_EMBED};

/// What additional fields and the item schema call a plugin.
pub(super) const OBJECT: &str = "plugin";

/// How a plugin is named: its main file without the ending.
pub(super) const NAME: &str = r"[^.\/]+(?:\/[^.\/]+)?";

/// The states that a plugin can be put in.
pub(super) const STATES: [&str; 2] = ["inactive", "active"];

#[rustfmt::skip]
pub(super) fn fields() -> Fields<Item, ()> {
    let mut f = Fields::<Item, ()>::new(OBJECT);
    f.add("plugin", string().describe("The plugin's main file, without its ending.").pattern(NAME).readonly().context(VIEW_EDIT_EMBED)).get(|p| p.id().to_owned());
    f.add("status", string().describe("Whether the plugin is active.").one_of(STATES).context(VIEW_EDIT_EMBED)).get(Item::status);
    f.add("name", string().describe("What people call the plugin.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.display_texts.name.clone());
    f.add("plugin_uri", string().describe("Where the plugin is from.").format("uri").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.uri.clone());
    f.add("author", string().describe("Who made the plugin.").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.author.clone());
    f.add("author_uri", string().describe("Where the makers are found.").format("uri").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.author_uri.clone());
    let description = f.add("description", object([("", serde_json::Value::Null); 0]).describe("What the plugin does.").readonly().context(VIEW_EDIT));
    description.subfield("raw", string().describe("As its header says.")).get(|p| p.display_texts.description.clone());
    description.subfield("rendered", string().describe("For display.")).get(|p| p.display_texts.rendered.clone());
    f.add("version", string().describe("The plugin's version.").readonly().context(VIEW_EDIT)).get(|p| p.display_texts.version.clone());
    f.add("network_only", boolean().describe("Whether the plugin is for whole networks of sites only.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.plugin.network);
    f.add("requires_wp", string().describe("Least version of WordPress that the plugin needs.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.plugin.requires_wp.clone());
    f.add("requires_php", string().describe("Least version of PHP that the plugin needs.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.plugin.requires_php.clone());
    f.add("textdomain", string().describe("The domain of the plugin's texts.").readonly().context(VIEW_EDIT)).get(|p| p.plugin.text_domain.clone());
    f
}
