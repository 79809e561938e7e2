//! Fields of widgets: schema, read and write functions.

use serde_json::{Map, Value};
use svc_resource::Fields;
use svc_schema::build::{object, string, untyped};

use crate::contexts::{EDIT, VIEW_EDIT_EMBED};

/// The widget fields.
pub(super) type WidgetFields = Fields<WidgetItem, WidgetDraft>;

/// Object type of additional fields.
pub(super) const OBJECT: &str = "widget";

/// A widget with rendered values.
pub(super) struct WidgetItem {
    pub(super) id: String,
    pub(super) id_base: String,
    pub(super) sidebar: String,
    pub(super) rendered: String,
    pub(super) form: String,
    pub(super) instance: Value,
}

/// The changes in a request.
#[derive(Clone, Debug, Default)]
pub(super) struct WidgetDraft {
    pub(super) id: Option<String>,
    pub(super) id_base: Option<String>,
    pub(super) sidebar: Option<String>,
    pub(super) instance: Option<Map<String, Value>>,
    pub(super) form: Option<String>,
}

#[rustfmt::skip]
pub(super) fn fields() -> WidgetFields {
    let mut f = WidgetFields::new(OBJECT);
    let text = |description: &str| string().describe(description);
    let instance = object([
        ("encoded", text("The settings as an opaque value. Send it back unchanged together with the hash.").context(EDIT)),
        ("hash", text("Signature of the encoded settings.").context(EDIT)),
        ("raw", untyped().keyword("type", "object").describe("The settings as an object.").context(EDIT)),
    ]);
    f.add("id", text("The widget's ID.").context(VIEW_EDIT_EMBED)).get(|w| w.id.clone()).set(|d, v| d.id = Some(v));
    f.add("id_base", text("ID of the widget type.").context(VIEW_EDIT_EMBED)).get(|w| w.id_base.clone()).set(|d, v| d.id_base = Some(v));
    f.add("sidebar", text("ID of the sidebar that contains the widget.").default(svc_site::widgets::sidebar::INACTIVE).required().context(VIEW_EDIT_EMBED)).get(|w| w.sidebar.clone()).set(|d, v| d.sidebar = Some(v));
    f.add("rendered", text("The widget as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|w| w.rendered.clone());
    f.add("rendered_form", text("The widget's edit form as HTML.").context(EDIT).readonly()).get(|w| w.form.clone());
    f.add("instance", instance.describe("The widget's settings.").context(EDIT).default(Value::Null).last(&["properties"])).get(|w| w.instance.clone()).set(|d, v| d.instance = Some(v));
    f.add("form_data", text("The widget's edit form as URL-encoded form data.").context(&[])).set(|d, v| d.form = Some(v));
    f
}
