//! Members of a widget, each named once: schema, how it is read, how it is written.

use serde_json::{Map, Value};
use svc_resource::Fields;
use svc_schema::build::{object, string, untyped};

use crate::contexts::{EDIT, VIEW_EDIT_EMBED};

/// The table of widgets.
pub(super) type WidgetFields = Fields<Item, Draft>;

/// The object type that additional fields name.
pub(super) const OBJECT: &str = "widget";

/// A widget with everything made that its members read.
pub(super) struct Item {
    pub(super) id: String,
    pub(super) id_base: String,
    pub(super) sidebar: String,
    pub(super) rendered: String,
    pub(super) form: String,
    pub(super) instance: Value,
}

/// What a request wants to make or change of a widget.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) id: Option<String>,
    pub(super) id_base: Option<String>,
    pub(super) sidebar: Option<String>,
    pub(super) instance: Option<Map<String, Value>>,
    pub(super) form: Option<String>,
}

#[rustfmt::skip]
pub(super) fn fields() -> WidgetFields {
    let mut f = WidgetFields::new(OBJECT);
    let text = |about: &str| string().describe(about);
    let instance = object([
        ("encoded", text("The settings, to be sent back as they are.").context(EDIT)),
        ("hash", text("What tells whether these settings come from this site.").context(EDIT)),
        ("raw", untyped().keyword("type", "object").describe("The settings, to be read and written.").context(EDIT)),
    ]);
    f.add("id", text("The widget's name for programs.").context(VIEW_EDIT_EMBED)).get(|w| w.id.clone()).set(|d, v| d.id = Some(v));
    f.add("id_base", text("The kind of widget.").context(VIEW_EDIT_EMBED)).get(|w| w.id_base.clone()).set(|d, v| d.id_base = Some(v));
    f.add("sidebar", text("The sidebar that it stands in.").default(svc_site::widgets::sidebar::INACTIVE).context(VIEW_EDIT_EMBED).required()).get(|w| w.sidebar.clone()).set(|d, v| d.sidebar = Some(v));
    f.add("rendered", text("The widget as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|w| w.rendered.clone());
    f.add("rendered_form", text("The form that edits it, as HTML.").context(EDIT).readonly()).get(|w| w.form.clone());
    f.add("instance", instance.describe("How the widget is set.").default(Value::Null).context(EDIT)).get(|w| w.instance.clone()).set(|d, v| d.instance = Some(v));
    f.add("form_data", text("The form that edits it, as it is sent.").context(&[])).set(|d, v| d.form = Some(v));
    f
}
