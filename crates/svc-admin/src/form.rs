//! Forms of an object of the REST API: a table of fields, from which the form and the request follow.

use askama::Template;
use http::StatusCode;
use serde_json::{Map, Value};
use svc_login::{Form, PrivateResponse};
use svc_schema::Error;

use crate::layout::{self, Layout};

/// A field of an object, as a control of a form.
#[derive(Clone)]
pub(crate) struct Field {
    /// Name of the field in the REST API, and of the control.
    pub(crate) name: String,
    /// Where the value is in the object, as a JSON pointer.
    pub(crate) pointer: String,
    pub(crate) label: String,
    /// Explanation below the control; may be empty.
    pub(crate) help: String,
    pub(crate) control: Control,
    pub(crate) required: bool,
}

/// A control of a form.
#[derive(Clone)]
pub(crate) enum Control {
    /// One line; the text is the type of the input.
    Line(&'static str),
    /// Several lines.
    Lines,
    /// A number without a fraction.
    Number,
    /// One of these values, with labels.
    Choice(Vec<(String, String)>),
    /// True or false.
    Check,
    /// A list of texts, one per line.
    List,
}

/// A control with its value.
pub(crate) struct FieldView {
    pub(crate) field: Field,
    pub(crate) value: String,
    /// The value with which the form was opened.
    pub(crate) opened: String,
    /// Why the value was rejected; may be empty.
    pub(crate) error: String,
}

/// A form as the template shows it.
pub(crate) struct FormView {
    pub(crate) title: String,
    pub(crate) action: String,
    pub(crate) fields: Vec<FieldView>,
    pub(crate) submit: &'static str,
    /// Hidden fields: names and values.
    pub(crate) hidden: Vec<(&'static str, String)>,
    /// A button that deletes the object: its label.
    pub(crate) delete: Option<&'static str>,
    /// The question before the deletion, which scripts ask.
    pub(crate) confirm: &'static str,
}

impl FieldView {
    /// Whether the control is a list, which needs few lines.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.field.control, Control::List)
    }
}

impl FormView {
    /// The value of the field [`OPENED`].
    pub(crate) fn opened(&self) -> String {
        Value::Object(opened(&self.fields)).to_string()
    }
}

impl Field {
    pub(crate) fn new(name: &str, label: &str, control: Control) -> Self {
        let (name, label) = (name.to_owned(), label.to_owned());
        Field { pointer: format!("/{name}"), name, label, help: String::new(), control, required: false }
    }

    /// Sets where the value is in the object.
    pub(crate) fn at(mut self, pointer: &str) -> Self {
        pointer.clone_into(&mut self.pointer);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The value of the field in an object, as the control has it.
    fn value_in(&self, object: &Value) -> String {
        match object.pointer(&self.pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(true)) => "1".to_owned(),
            None | Some(Value::Null | Value::Bool(false)) => String::new(),
            Some(Value::Array(texts)) if matches!(self.control, Control::List) => {
                texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
            }
            Some(other) => other.to_string(),
        }
    }

    /// The value that a form sends for the field.
    fn sent(&self, form: &Form) -> String {
        form.get(&self.name).replace("\r\n", "\n")
    }

    /// Whether a form's value is that of the object. An empty number is 0.
    fn is_same(&self, sent: &str, stored: &str) -> bool {
        sent == stored.replace("\r\n", "\n")
            || (matches!(self.control, Control::Number) && sent.is_empty() && matches!(stored, "" | "0"))
    }

    fn to_json(&self, value: &str) -> Value {
        match self.control {
            Control::Check => Value::Bool(!value.is_empty()),
            Control::List => value.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            Control::Number if value.is_empty() => 0.into(),
            Control::Number => value.trim().parse::<i64>().map_or_else(|_| value.into(), Value::from),
            _ => value.into(),
        }
    }
}

/// The control for values of a schema; `None` for lists, objects and values that clients cannot write.
pub(crate) fn control_for(schema: &Value) -> Option<Control> {
    if schema["readonly"] == true {
        return None;
    }
    if let Some(values) = schema["enum"].as_array() {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        return Some(Control::Choice(values.iter().map(|value| (text(value), text(value))).collect()));
    }
    match (schema["type"].as_str()?, schema["format"].as_str().unwrap_or_default()) {
        ("boolean", _) => Some(Control::Check),
        ("integer", _) => Some(Control::Number),
        ("string", "email") => Some(Control::Line("email")),
        ("string", "uri") => Some(Control::Line("url")),
        ("string" | "number", _) => Some(Control::Line("text")),
        _ => None,
    }
}

/// Name of the hidden field with the values that a form was opened with, as JSON.
pub(crate) const OPENED: &str = "opened";

/// The values that a form is opened with, for the field [`OPENED`].
pub(crate) fn opened(views: &[FieldView]) -> Map<String, Value> {
    views.iter().map(|view| (view.field.name.clone(), view.opened.clone().into())).collect()
}

/// The values that a form was opened with.
pub(crate) fn opened_of(form: &Form) -> Map<String, Value> {
    serde_json::from_str(form.get(OPENED)).unwrap_or_default()
}

/// The fields that a form changes: those whose value differs from that with which the form was opened, so that what others have
/// changed since stays as it is. Fields in an object have its name before a point: `meta.isbn`.
pub(crate) fn changes(fields: &[Field], form: &Form) -> Map<String, Value> {
    let opened = opened_of(form);
    let mut changes = Map::new();
    for field in fields.iter().filter(|field| form.has(&field.name)) {
        let value = field.sent(form);
        let before = opened.get(&field.name).and_then(Value::as_str).unwrap_or_default();
        if !field.is_same(&value, before) {
            match field.name.split_once('.') {
                None => drop(changes.insert(field.name.clone(), field.to_json(&value))),
                Some((object, name)) => {
                    let object = changes.entry(object).or_insert_with(|| Value::Object(Map::new()));
                    object[name] = field.to_json(&value);
                }
            }
        }
    }
    changes
}

/// The controls with the values of an object.
pub(crate) fn values_of(fields: Vec<Field>, object: &Value) -> Vec<FieldView> {
    let view = |field: Field| {
        let value = field.value_in(object);
        FieldView { opened: value.clone(), ..with_value(value, field) }
    };
    fields.into_iter().map(view).collect()
}

/// A control with a value. A choice offers the value, even if it is none of the known ones.
fn with_value(value: String, mut field: Field) -> FieldView {
    if let Control::Choice(options) = &mut field.control
        && !options.iter().any(|(known, _)| *known == value)
    {
        let label = if value.is_empty() { "Not set".to_owned() } else { value.clone() };
        options.insert(0, (value.clone(), label));
    }
    FieldView { value, field, opened: String::new(), error: String::new() }
}

/// The controls with the values of a form that was rejected.
pub(crate) fn rejected(fields: Vec<Field>, form: &Form, error: &Error) -> Vec<FieldView> {
    let (at, opened) = (field_of(error), opened_of(form));
    let view = |field: Field| {
        let message = if at.as_deref() == Some(&*field.name) { error.message().to_owned() } else { String::new() };
        let before = opened.get(&field.name).and_then(Value::as_str).unwrap_or_default().to_owned();
        FieldView { opened: before, error: message, ..with_value(field.sent(form), field) }
    };
    fields.into_iter().map(view).collect()
}

/// The field that an error is about; `None` if it is about the object as a whole.
pub(crate) fn field_of(error: &Error) -> Option<String> {
    let data = error.data()?;
    let named = data["params"].as_object().and_then(|params| params.keys().next().cloned());
    named.or_else(|| match error.code() {
        "term_exists" | "empty_term_name" => Some("name".to_owned()),
        "existing_user_login" | "invalid_username" => Some("username".to_owned()),
        "existing_user_email" | "rest_user_invalid_email" => Some("email".to_owned()),
        _ => None,
    })
}

/// The message of an error for people: that of the field, if there is one.
pub(crate) fn message_of(error: &Error) -> String {
    let of_field = error.data().and_then(|data| {
        let params = data["params"].as_object()?;
        params.values().next()?.as_str().map(str::to_owned)
    });
    of_field.unwrap_or_else(|| error.message().to_owned())
}

#[derive(Template)]
#[template(path = "form.html")]
struct FormPage {
    page: Layout,
    form: FormView,
    /// URL of a picture of the object; may be empty.
    image: String,
    /// Links above the form.
    links: Vec<layout::Link>,
}

/// A page with a form.
pub(crate) fn page(
    status: StatusCode,
    page: Layout,
    form: FormView,
    image: String,
    links: Vec<layout::Link>,
) -> PrivateResponse {
    layout::html(status, &FormPage { page, form, image, links })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields() -> Vec<Field> {
        vec![
            Field::new("title", "Title", Control::Line("text")).at("/title/raw"),
            Field::new("text", "Text", Control::Lines),
            Field::new("count", "Count", Control::Number),
            Field::new("open", "Open", Control::Check),
            Field::new("meta.isbn", "ISBN", Control::Line("text")).at("/meta/isbn"),
        ]
    }

    #[test]
    fn only_changed_fields_are_sent() {
        let object =
            json!({"title": {"raw": "A & B"}, "text": "a\r\nb", "count": 3, "open": true, "meta": {"isbn": "1"}});
        let opened = Value::Object(opened(&values_of(fields(), &object))).to_string();
        let form =
            |rest: &str| Form::parse(&format!("opened={}&{rest}", opened.replace('&', "%26").replace('+', "%2B")));
        assert!(changes(&fields(), &form("title=A+%26+B&text=a%0D%0Ab&count=3&open=1&meta.isbn=1")).is_empty());
        let changed = form("title=C&text=a%0D%0Ac&count=4&open=&meta.isbn=2");
        let expected = json!({"title": "C", "text": "a\nc", "count": 4, "open": false, "meta": {"isbn": "2"}});
        assert_eq!(Value::Object(changes(&fields(), &changed)), expected);
        // An empty number is 0.
        assert!(changes(&fields(), &Form::parse("opened={\"count\":\"0\"}&count=")).is_empty());
        assert_eq!(changes(&fields(), &form("count="))["count"], 0);
        // Fields that the form does not have stay as they are.
        assert!(changes(&fields(), &form("count=3")).is_empty());
        // What is no number is rejected by the REST API, with its message.
        assert_eq!(changes(&fields(), &form("title=A+%26+B&text=a%0Ab&count=x&open=1"))["count"], "x");
    }

    #[test]
    fn a_choice_has_the_stored_value() {
        let field = || Field::new("colour", "Colour", Control::Choice(vec![("red".to_owned(), "Red".to_owned())]));
        for (stored, first) in
            [(json!(null), ("", "Not set")), (json!("blue"), ("blue", "blue")), (json!("red"), ("red", "Red"))]
        {
            let views = values_of(vec![field()], &json!({"colour": stored}));
            let Control::Choice(options) = &views[0].field.control else { panic!("a choice") };
            assert_eq!(options[0], (first.0.to_owned(), first.1.to_owned()));
        }
    }

    #[test]
    fn errors_are_shown_at_their_field() {
        let error = Error::new("rest_invalid_param", "Invalid parameter(s): count")
            .with_data(json!({"status": 400, "params": {"count": "count is not an integer."}}));
        let views = rejected(fields(), &Form::parse("title=typed&count=x"), &error);
        assert_eq!(views[0].value, "typed");
        assert!(views[0].error.is_empty() && !views[2].error.is_empty());
        assert_eq!(message_of(&error), "count is not an integer.");
    }
}
