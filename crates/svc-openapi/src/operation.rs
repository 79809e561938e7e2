//! One operation: its parameters, request body and responses.

use serde_json::{Map, Value, json};
use svc_routing::{BoundEndpoint, Method, Returns, RouteEntry};
use svc_schema::{Sanitizer, Validator};

use crate::components::{Components, part_ref, pascal, schema_ref};
use crate::names::Names;
use crate::paths::{PathParam, PathTemplate};
use crate::schema::{Usage, convert};

/// The route of an operation.
pub(crate) struct Context<'a> {
    pub(crate) template: &'a PathTemplate,
    pub(crate) route: &'a RouteEntry,
    /// The name of the item schema.
    pub(crate) item: Option<&'a str>,
    /// Whether the route lists the items of another route.
    pub(crate) is_collection: bool,
    /// The names of items for people.
    pub(crate) names: &'a Names,
    /// The namespace of the core routes.
    pub(crate) core: &'a str,
    /// The names of the headers with the numbers of items and pages.
    pub(crate) total_headers: &'a [String; 2],
}

/// The action of an operation, as far as its method and route show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    List,
    Get,
    Create,
    Update,
    Delete,
    Other,
}

impl Action {
    /// The first word of an operation's id.
    pub(crate) fn word(self, method: &Method) -> String {
        match (self, method.as_str()) {
            (Action::List, _) => "list".to_owned(),
            (Action::Create, _) => "create".to_owned(),
            (Action::Update, "POST") => "update".to_owned(),
            (_, method) => method.to_ascii_lowercase(),
        }
    }
}

impl Context<'_> {
    /// The path below the namespace, without a leading slash.
    pub(crate) fn inner_path(&self) -> &str {
        let path = self.template.path.trim_start_matches('/');
        let inner = path.strip_prefix(self.route.namespace()).unwrap_or(path);
        inner.trim_start_matches('/')
    }

    pub(crate) fn action(&self, method: &Method) -> Action {
        let returns_many = self.route.endpoints().filter(|endpoint| endpoint.methods().contains(&Method::GET));
        let is_many = |form: Returns| !matches!(form, Returns::Item | Returns::Other);
        let lists = returns_many.filter_map(|endpoint| self.form(endpoint)).any(is_many);
        match *method {
            Method::GET if lists => Action::List,
            Method::GET => Action::Get,
            Method::POST if self.is_other(method) => Action::Other,
            Method::POST if lists => Action::Create,
            Method::POST | Method::PUT | Method::PATCH if self.item.is_some() => Action::Update,
            Method::DELETE => Action::Delete,
            _ => Action::Other,
        }
    }

    /// Whether the route's item schema does not describe the responses to this method.
    fn is_other(&self, method: &Method) -> bool {
        let endpoint = self.route.endpoints().find(|endpoint| endpoint.methods().contains(method));
        endpoint.is_some_and(|endpoint| endpoint.returned_form() == Some(Returns::Other))
    }

    /// The form of the responses to `GET`: as declared, otherwise a list if the route is a collection or has pages.
    fn form(&self, endpoint: &BoundEndpoint) -> Option<Returns> {
        self.item?;
        let is_list = self.is_collection || endpoint.args().get("per_page").is_some();
        endpoint.returned_form().or(Some(if is_list { Returns::List } else { Returns::Item }))
    }

    /// The name of an operation for people.
    pub(crate) fn summary(&self, method: &Method) -> String {
        let path = &self.template.path;
        match (self.action(method), self.names.item(path)) {
            (Action::List, _) => format!("List {}", self.names.list(path)),
            (Action::Get, Some(name)) => format!("Fetch {name}"),
            (Action::Create, Some(name)) => format!("Create {name}"),
            (Action::Update, Some(name)) if *method == Method::POST => format!("Update {name}"),
            (Action::Update, Some(name)) => format!("Update {name} with {method}"),
            (Action::Delete, Some(name)) => format!("Delete {name}"),
            _ => format!("{method} {}", self.template.path),
        }
    }
}

/// The names of an operation.
pub(crate) struct OperationNames {
    /// For programs; unique.
    pub(crate) id: String,
    /// For people; unique in its group.
    pub(crate) summary: String,
    /// The group.
    pub(crate) tag: String,
}

/// Describes the operation of an endpoint with this method.
pub(crate) fn operation(
    context: &Context<'_>,
    endpoint: &BoundEndpoint,
    method: &Method,
    names: OperationNames,
    components: &mut Components,
) -> Value {
    let action = context.action(method);
    let OperationNames { id, summary, tag } = names;
    let mut out = Map::new();
    out.insert("operationId".to_owned(), id.clone().into());
    out.insert("tags".to_owned(), json!([tag]));
    out.insert("summary".to_owned(), summary.into());
    let mut parameters: Vec<Value> = context.template.params.iter().map(|p| path_parameter(p, endpoint)).collect();
    let in_query = !has_body(method);
    if in_query {
        parameters.extend(arguments(context, endpoint).map(|(name, arg)| query_parameter(name, arg)));
    }
    if context.item.is_some() {
        parameters.push(part_ref("parameters", "Fields"));
        if *method == Method::GET {
            parameters.push(part_ref("parameters", "Embed"));
        }
    }
    if !parameters.is_empty() {
        out.insert("parameters".to_owned(), parameters.into());
    }
    if !in_query && let Some(body) = request_body(context, endpoint, (action, method), &id, components) {
        out.insert("requestBody".to_owned(), body);
    }
    out.insert("responses".to_owned(), responses(context, endpoint, action, components));
    if endpoint.allows_batch() {
        out.insert("x-allow-batch".to_owned(), true.into());
    }
    out.into()
}

fn has_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}

/// The arguments that are not part of the path.
fn arguments<'a>(
    context: &'a Context<'_>,
    endpoint: &'a BoundEndpoint,
) -> impl Iterator<Item = (&'a str, &'a svc_schema::Arg)> {
    let in_path = |name: &str| context.template.params.iter().any(|param| param.argument == name);
    endpoint.args().iter().filter(move |(name, _)| !in_path(name))
}

fn path_parameter(param: &PathParam, endpoint: &BoundEndpoint) -> Value {
    let declared = endpoint.args().get(&param.argument).map(|arg| convert(arg.source(), Usage::Request));
    let mut schema = declared.and_then(|schema| schema.as_object().cloned()).unwrap_or_default();
    let description = schema.shift_remove("description");
    for keyword in ["default", "required", "readOnly", "x-contexts", "title"] {
        schema.shift_remove(keyword);
    }
    if param.part.is_some() || !schema.contains_key("type") {
        schema = Map::new();
        schema.insert("type".to_owned(), if param.is_number { "integer" } else { "string" }.into());
    }
    match schema.get("type").and_then(Value::as_str) {
        // The pattern accepts digits only.
        Some("integer") if param.is_number && !schema.contains_key("minimum") => {
            schema.insert("minimum".to_owned(), 0.into());
        }
        Some("string") if !schema.contains_key("pattern") => {
            if let Some(pattern) = &param.pattern {
                schema.insert("pattern".to_owned(), pattern.clone().into());
            }
        }
        _ => {}
    }
    let description = match (param.part, description) {
        (Some((index, count)), _) => Some(format!("Part {index} of {count} of `{}`.", param.argument)),
        (None, Some(Value::String(text))) if !text.is_empty() => Some(text),
        _ => None,
    };
    let mut out = json!({ "name": param.name, "in": "path", "required": true, "schema": schema });
    if let Some(text) = description {
        out["description"] = text.into();
    }
    out
}

fn query_parameter(name: &str, arg: &svc_schema::Arg) -> Value {
    let mut schema = argument_schema(arg);
    let description = schema.shift_remove("description");
    // Of several forms, the query has the list.
    let list = ["oneOf", "anyOf"].iter().find_map(|group| {
        let all = schema.get(*group)?.as_array()?;
        all.iter().find(|schema| schema["type"] == "array")?.as_object().cloned()
    });
    if let Some(list) = list {
        schema = list;
    }
    schema.shift_remove("description");
    let is = |wanted: &str| match schema.get("type") {
        Some(Value::String(name)) => name == wanted,
        Some(Value::Array(names)) => names.iter().any(|name| name == wanted),
        _ => false,
    };
    let (is_array, is_object) = (is("array"), is("object"));
    let mut out = json!({ "name": name, "in": "query", "schema": schema });
    if arg.required {
        out["required"] = true.into();
    }
    if is_array {
        out["style"] = "form".into();
        out["explode"] = false.into();
    } else if is_object {
        out["style"] = "deepObject".into();
        out["explode"] = true.into();
    }
    if let Some(description) = description {
        out["description"] = description;
    }
    out
}

fn argument_schema(arg: &svc_schema::Arg) -> Map<String, Value> {
    let mut schema = convert(arg.source(), Usage::Request).as_object().cloned().unwrap_or_default();
    schema.shift_remove("x-contexts");
    if accepts_raw_text(arg) { text_or_object(schema) } else { schema }
}

/// Whether a field of an object with `raw` and `rendered`, such as a title, may be written as a string. Its endpoint interprets the
/// value itself, without its schema, which says `object`.
fn accepts_raw_text(arg: &svc_schema::Arg) -> bool {
    let source = arg.source();
    let raw = &source["properties"]["raw"];
    matches!((&arg.validate, &arg.sanitize), (Validator::None, Sanitizer::None))
        && source["type"] == "object"
        && raw["type"] == "string"
        && raw["readonly"] != true
}

fn text_or_object(mut object: Map<String, Value>) -> Map<String, Value> {
    object.insert("type".to_owned(), json!(["string", "object"]));
    object
}

fn request_body(
    context: &Context<'_>,
    endpoint: &BoundEndpoint,
    (action, method): (Action, &Method),
    id: &str,
    components: &mut Components,
) -> Option<Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, arg) in arguments(context, endpoint) {
        properties.insert(name.to_owned(), argument_schema(arg).into());
        if arg.required {
            required.push(Value::from(name));
        }
    }
    if properties.is_empty() && !endpoint.takes_file() {
        return None;
    }
    let is_required = !required.is_empty();
    let mut schema = json!({ "type": "object", "properties": properties });
    if is_required {
        schema["required"] = required.into();
    }
    let name = match (context.item, action) {
        (Some(item), Action::Create) => format!("{item}Create"),
        (Some(item), _) => format!("{item}Update"),
        (None, _) => format!("{}Body", pascal(id)),
    };
    let name = components.add(name, schema.clone());
    let mut content = Map::new();
    let in_json = json!({ "schema": schema_ref(&name) });
    // Tools offer the first form by default. The example of an endpoint for files belongs to a file.
    let example_of = if endpoint.takes_file() {
        schema["properties"]["file"] =
            json!({ "type": "string", "format": "binary", "contentMediaType": "application/octet-stream" });
        content.insert("multipart/form-data".to_owned(), json!({ "schema": schema }));
        "multipart/form-data"
    } else {
        "application/json"
    };
    content.insert("application/json".to_owned(), in_json);
    if let (Some(body), Some(form)) = (endpoint.example_body(method), content.get_mut(example_of)) {
        form["example"] = body.clone();
    }
    let mut out = json!({ "content": content });
    if is_required {
        out["required"] = true.into();
    }
    Some(out)
}

fn responses(context: &Context<'_>, endpoint: &BoundEndpoint, action: Action, components: &mut Components) -> Value {
    let item = context.item.map(schema_ref);
    let file = match endpoint.returned_form() {
        Some(Returns::File(media_type)) => Some(media_type),
        _ => None,
    };
    let mut headers = Map::new();
    headers.insert("Allow".to_owned(), part_ref("headers", "Allow"));
    let (statuses, description, schema): (&[&str], &str, Value) = match (action, item) {
        _ if file.is_some() => (&["200"], "The file.", json!({ "type": "string", "format": "binary" })),
        (_, None) => (&["2XX"], "The result.", json!({})),
        _ if endpoint.returned_form() == Some(Returns::Other) => (&["2XX"], "The result.", json!({})),
        (Action::List, Some(item)) => {
            if endpoint.args().get("per_page").is_some() {
                components.uses_pages();
                let [total, pages] = context.total_headers;
                for (header, name) in [(total.as_str(), "Total"), (pages, "TotalPages"), ("Link", "Link")] {
                    headers.insert(header.to_owned(), part_ref("headers", name));
                }
            }
            if context.form(endpoint) == Some(Returns::Map) {
                (
                    &["200"],
                    "The items by name.",
                    json!({ "anyOf": [{ "type": "object", "additionalProperties": item }, { "type": "array", "items": {}, "maxItems": 0 }] }),
                )
            } else {
                (&["200"], "The items.", json!({ "type": "array", "items": item }))
            }
        }
        (Action::Create, Some(item)) => (&["200", "201"], "The created item.", item),
        (Action::Delete, Some(item)) => {
            let deleted = json!({
                "type": "object",
                "properties": {
                    "deleted": { "type": "boolean", "description": "Whether the item was deleted." },
                    "previous": item.clone(),
                },
                "required": ["deleted"],
            });
            (&["200"], "The item in the trash, or the deleted item.", json!({ "anyOf": [deleted, item] }))
        }
        (_, Some(item)) => (&["200"], "The item.", item),
    };
    let success = json!({
        "description": description,
        "headers": headers,
        "content": { file.unwrap_or("application/json"): { "schema": schema } },
    });
    let mut out: Map<String, Value> = statuses.iter().map(|status| ((*status).to_owned(), success.clone())).collect();
    out.insert("4XX".to_owned(), part_ref("responses", "ClientError"));
    out.insert("5XX".to_owned(), part_ref("responses", "ServerError"));
    out.into()
}
