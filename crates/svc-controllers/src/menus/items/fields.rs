//! Fields of menu items: schema, read and write functions.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::PostType;
use svc_render::content as render;
use svc_resource::Fields;
use svc_schema::build::{SchemaBuilder, array, boolean, integer, string, types};
use svc_site::{
    menus::{
        item::{MENU, NavItem},
        target::KINDS,
    },
    posts::draft::PostDraft,
};

use crate::{
    LINK_RELATION,
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    links::schema_links,
    posts::fields::{set_terms, text},
};
use svc_site::Site;

/// The menu item fields.
pub(super) type ItemFields = Fields<NavItem, ItemDraft>;

/// The changes in a request. `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemDraft {
    /// Changes to the item's row, with its menu among the terms.
    pub(super) row: PostDraft,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) parent: Option<i64>,
    pub(super) classes: Option<Vec<String>>,
    pub(super) object: Option<String>,
    pub(super) object_id: Option<i64>,
    pub(super) target: Option<String>,
    pub(super) url: Option<String>,
    pub(super) xfn: Option<Vec<String>>,
}

impl AsRef<PostDraft> for ItemDraft {
    fn as_ref(&self) -> &PostDraft {
        &self.row
    }
}

/// Sanitizes a list of class names.
fn class_names(value: Value, _: &str) -> Result<Value, svc_schema::Error> {
    let names = svc_php::list::parse_text_list(&value)?;
    Ok(names.iter().map(|name| Value::from(svc_text::sanitize_html_class(name, ""))).collect())
}

/// Sanitizes a text: no markup or line breaks.
fn plain(value: Value, _: &str) -> Result<Value, svc_schema::Error> {
    Ok(svc_text::sanitize_text_field(&svc_php::cast::to_text(&value)).into())
}

fn number() -> SchemaBuilder {
    integer().minimum(0).default(0)
}

/// The menu item fields.
#[rustfmt::skip]
pub(super) fn fields(site: &Arc<Site>, post_type: &PostType) -> ItemFields {
    let mut f = ItemFields::new(&post_type.name);
    f.add("id", integer().default(0).minimum(0).describe("The menu item's ID.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.post.id);
    let title = f.add("title", types(["string", "object"]).describe("The menu item's title.").context(VIEW_EDIT_EMBED));
    title.subfield("raw", string().describe("The title as stored, or the title of the linked object.").context(&["edit"])).get(|i| i.title().to_owned());
    title.subfield("rendered", string().describe("The title as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|i| render::title(i.title()).into_string());
    title.set(|d, v: Value| d.title = text(v));
    f.add("status", string().describe("The menu item's status.").one_of(site.writable_statuses()).default("publish").context(VIEW_EDIT_EMBED))
        .get(|i| i.post.status.clone()).set(|d, v: String| d.row.status = Some(if v == "publish" { v } else { "draft".to_owned() }));
    f.add("url", string().describe("URL that the menu item links to.").format("uri").context(VIEW_EDIT_EMBED))
        .validate_with(|value, _| fit_address(value)).get(|i| i.target.url.clone().map_or(Value::Bool(false), Value::from))
        .set_nullable(|d, v: Option<String>| d.url = Some(v.unwrap_or_default()));
    f.add("attr_title", string().describe("The link's title attribute.").context(VIEW_EDIT_EMBED))
        .sanitize_with(plain).get(|i| render::menu_item_text(&i.post.excerpt)).set_nullable(|d, v: Option<String>| d.row.excerpt = Some(v.unwrap_or_default()));
    f.add("description", string().describe("Description of the menu item.").context(VIEW_EDIT_EMBED))
        .sanitize_with(plain).get(|i| render::menu_item_description(&i.post.content)).set_nullable(|d, v: Option<String>| d.row.content = Some(v.unwrap_or_default()));
    f.add("type", string().describe("Kind of object that the menu item links to.").one_of(KINDS.map(|(name, _)| name)).context(VIEW_EDIT_EMBED).default("custom"))
        .get(|i| i.text("_menu_item_type").to_owned()).set(|d, v| d.kind = Some(v));
    f.add("type_label", string().describe("Display name of the linked object's type.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.target.label.clone());
    f.add("object", string().describe("Post type or taxonomy of the linked object.").context(VIEW_EDIT_EMBED).first(&["description", "context"]))
        .sanitize_with(|value, _| Ok(svc_text::sanitize_key(&svc_php::cast::to_text(&value)).into()))
        .get(|i| i.text("_menu_item_object").to_owned()).set(|d, v| d.object = Some(v));
    f.add("object_id", number().describe("ID of the linked object.").context(VIEW_EDIT_EMBED).first(&["description", "context"])).get(NavItem::object_id).set(|d, v| d.object_id = Some(v));
    f.add("parent", number().describe("ID of the parent menu item, or 0.").context(VIEW_EDIT_EMBED)).get(NavItem::parent).set(|d, v| d.parent = Some(v));
    f.add("menu_order", integer().describe("Sort position of the menu item in its menu.").minimum(1).default(1).context(VIEW_EDIT_EMBED).first(&["description", "context"])).get(|i| i.post.menu_order).set(|d, v| d.row.menu_order = Some(v));
    f.add("target", string().describe("The link's target attribute.").context(VIEW_EDIT_EMBED).one_of(["_blank", ""]))
        .get(|i| i.text("_menu_item_target").to_owned()).set_nullable(|d, v: Option<String>| d.target = Some(v.unwrap_or_default()));
    f.add("classes", array(string()).describe("Class names of the link.").context(VIEW_EDIT_EMBED))
        .sanitize_with(class_names).get(NavItem::classes).set_nullable(|d, v: Option<Vec<String>>| d.classes = Some(v.unwrap_or_default()));
    f.add("xfn", array(string()).describe("XFN relationships of the link.").context(VIEW_EDIT_EMBED))
        .sanitize_with(class_names).get(NavItem::xfn).set_nullable(|d, v: Option<Vec<String>>| d.xfn = Some(v.unwrap_or_default()));
    f.add("invalid", boolean().describe("Whether the linked object no longer exists.").context(VIEW_EDIT_EMBED).readonly().first(&["description", "context"])).get(|i| i.target.invalid);
    crate::meta_fields::add_member(&mut f, &site.registries.meta, "post", &post_type.name, |i| &i.meta).set(|d, v| d.row.meta = Some(v));
    f.add("menus", integer().describe("ID of the menu that contains the menu item.").context(VIEW_EDIT)).get(|i| i.menu)
        .try_set(|d, v: Value| { set_terms(&mut d.row, MENU, &v); v.is_i64() });
    // Of other posts.
    f.add("author", integer()).set(|d, v| d.row.author = Some(v)).supported(false);
    f.add("sticky", boolean()).set(|d, v| d.row.sticky = Some(v)).supported(false);
    for taxonomy in site.registries.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest && t.name != MENU) {
        let name = taxonomy.name.clone();
        f.add(&taxonomy.rest_base, array(integer())).try_set(move |d, v: Value| set_terms(&mut d.row, &name, &v)).supported(false);
    }
    f.schema_order(&[
        "title", "id", "type_label", "type", "status", "parent", "attr_title", "classes", "description", "menu_order", "object", "object_id",
        "target", "url", "xfn", "invalid", "menus",
    ]);
    f.keyword("links", links(site, post_type));
    f
}

/// Rejects URLs that are empty after sanitizing.
fn fit_address(value: &Value) -> Result<bool, svc_schema::Error> {
    let text = svc_php::cast::to_text(value);
    if text.is_empty() || !svc_text::sanitize_url(&text).is_empty() {
        return Ok(true);
    }
    Err(svc_schema::Error::new("rest_invalid_url", "The URL is invalid."))
}

/// Link relations of posts, and the relation to the linked object.
fn links(site: &Arc<Site>, post_type: &PostType) -> Value {
    let mut links = schema_links(site, post_type);
    if let Value::Array(links) = &mut links {
        let href = links.first().map_or(Value::Null, |link| link["href"].clone());
        links.push(json!({
            "rel": format!("{LINK_RELATION}menu-item-object"),
            "title": "The linked object.",
            "href": href,
            "targetSchema": {"type": "object", "properties": {"object": {"type": "integer"}}},
        }));
    }
    links
}
