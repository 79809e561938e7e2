//! Test vectors for svc-schema.

use serde_json::{Map, Value, json};
use svc_php::{cast::to_float, list};
use svc_schema::{
    Arg, Args, Embed, Error, FieldSet, MethodKind, Notices, Sanitizer, Schema, Validator, dates, dates::SiteZone,
    default_additional_properties_to_false, endpoint_args, fields_for_response, intersect_keys, is_field_included,
    parse_embed, values,
};

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    let first = from_recorded(vector.arg(0));
    let schema = || Schema::compile(from_recorded(vector.arg(1)));
    let param = vector.text(2);
    let notices = &mut Notices::new();
    let outcome = match vector.function.as_str() {
        "rest_validate_value_from_schema" => validation_outcome(schema().validate_with(&first, param, notices)),
        "rest_validate_enum" => validation_outcome(schema().validate_enum(&first, param, notices)),
        "rest_sanitize_value_from_schema" => {
            let is_infinite = to_float(&first).is_infinite();
            sanitizing_outcome(schema().sanitize_keeping_errors(first, param, notices, &mut error_marker), is_infinite)
        }
        "rest_find_any_matching_schema" => {
            match_outcome(vector, "anyOf", schema().find_any_match(&first, param, notices))
        }
        "rest_find_one_matching_schema" => {
            match_outcome(vector, "oneOf", schema().find_one_match(&first, param, vector.arg(3) == true, notices))
        }
        "rest_filter_response_by_context" => outcome_of(schema().filter_by_context(first, param)),
        "rest_get_best_type_for_value" => {
            let schema = Schema::compile(json!({ "type": vector.arg(1) }));
            let is_listed = |name: &&str| BUILT_IN.contains(name);
            schema.best_type(&first, "", notices).filter(is_listed).unwrap_or_default().into()
        }
        "rest_handle_multi_type_schema" => schema().best_type(&first, param, notices).unwrap_or_default().into(),
        "rest_default_additional_properties_to_false" => outcome_of(default_additional_properties_to_false(first)),
        "rest_get_endpoint_args_for_schema" => outcome_of(args_of_item(&first, vector.args.get(1))),
        "rest_validate_request_arg" => match request_arg(vector) {
            Some(arg) => validation_outcome(arg.schema.map_or(Ok(()), |s| s.validate(&first, param))),
            None => true.into(),
        },
        "rest_sanitize_request_arg" => match request_arg(vector) {
            Some(Arg { schema: Some(schema), .. }) => {
                sanitizing_outcome(schema.sanitize_keeping_errors(first, param, notices, &mut error_marker), false)
            }
            _ => outcome_of(first),
        },
        "rest_parse_request_arg" => match request_arg(vector) {
            Some(Arg { schema: Some(schema), .. }) => sanitizing_outcome(schema.parse(first, param), false),
            _ => outcome_of(first),
        },
        "request_process" => request_process(&first),
        "rest_convert_error_to_response" => {
            let error = error_of(vector.arg(0));
            json!({ "status": error.status(), "body": error.to_body() }).into()
        }
        "rest_is_field_included" => {
            is_field_included(vector.text(0), &list::parse_text_list(vector.arg(1)).ok()?).into()
        }
        "rest_filter_response_fields" => outcome_of(FieldSet::parse(&vector.arg(1)["_fields"]).ok()?.trim(first)),
        "_rest_array_intersect_key_recursive" => outcome_of(intersect_keys(first, vector.arg(1))),
        "get_fields_for_response" => {
            let none = Map::new();
            let properties = first["properties"].as_object().unwrap_or(&none);
            let fields = FieldSet::parse(&vector.arg(1)["_fields"]).ok()?;
            json!(fields_for_response(properties, vector.arg(1)["context"].as_str(), &fields)).into()
        }
        "rest_parse_embed_param" => match parse_embed(&first).ok()? {
            Embed::All => true.into(),
            Embed::Some(names) => json!(names).into(),
        },
        "rest_parse_date" => {
            dates::parse_date(vector.text(0), vector.arg(1) == true).map_or(Value::Bool(false), Value::from).into()
        }
        "rest_get_date_with_gmt" => {
            let both = dates::date_with_gmt(vector.text(0), vector.arg(1) == true, &zone(vector));
            both.map_or(Value::Null, |(local, utc)| json!([local, utc])).into()
        }
        "get_gmt_from_date" => match vector.args.get(1) {
            Some(_) => dates::to_gmt_rfc3339(vector.text(0), &zone(vector)).into(),
            None => dates::to_gmt(vector.text(0), &zone(vector)).into(),
        },
        "get_date_from_gmt" => match vector.args.get(1) {
            Some(_) => dates::from_gmt_rfc3339(vector.text(0), &zone(vector)).into(),
            None => dates::from_gmt(vector.text(0), &zone(vector)).into(),
        },
        "mysql_to_rfc3339" => dates::mysql_to_rfc3339(vector.text(0)).map_or(Value::Bool(false), Value::from).into(),
        "rest_are_values_equal" => values::are_values_equal(&first, &from_recorded(vector.arg(1))).into(),
        "rest_is_array" => values::is_array(&first).into(),
        "rest_is_object" => values::is_object(&first).into(),
        "rest_is_integer" => values::is_integer(&first).into(),
        "rest_is_boolean" => values::is_boolean(&first).into(),
        "wp_is_numeric_array" => values::is_list_like(&first).into(),
        "rest_sanitize_array" => outcome_of(Value::Array(values::sanitize_array(first).ok()?)),
        "rest_sanitize_object" => outcome_of(Value::Object(values::sanitize_object(first))),
        "rest_sanitize_boolean" => values::sanitize_boolean(&first).into(),
        "rest_stabilize_value" => outcome_of(values::stabilize(first)),
        "rest_parse_hex_color" => text_or_false(values::parse_hex_color(vector.text(0))),
        "rest_is_ip_address" => text_or_false(Some(vector.text(0)).filter(|text| values::is_ip_address(text))),
        "wp_is_uuid" => {
            let version = vector.arg(1).as_u64().map(|v| u8::try_from(v).unwrap_or(u8::MAX));
            values::is_uuid(vector.text(0), version).into()
        }
        "is_email" => text_or_false(Some(vector.text(0)).filter(|text| svc_text::is_email(text))),
        "sanitize_email" => svc_text::sanitize_email(vector.text(0)).into(),
        _ => return None,
    };
    Some(notices_difference(vector, notices).unwrap_or(outcome))
}

/// Compares the notices of functions that raise them for schemas, without their texts. `None` if they are equal.
fn notices_difference(vector: &Vector, raised: &Notices) -> Option<Outcome> {
    const FUNCTIONS_WITH_NOTICES: [&str; 6] = [
        "rest_validate_value_from_schema",
        "rest_validate_enum",
        "rest_sanitize_value_from_schema",
        "rest_find_any_matching_schema",
        "rest_find_one_matching_schema",
        "rest_handle_multi_type_schema",
    ];
    let recorded = vector.line["notices"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Only WordPress raises a notice for PHP objects, which are plain maps here.
    let recorded = recorded.iter().filter(|notice| notice["function"] != "rest_stabilize_value");
    let recorded: Vec<[&str; 2]> =
        recorded.map(|notice| ["function", "version"].map(|key| notice[key].as_str().unwrap_or_default())).collect();
    let ours: Vec<[&str; 2]> = raised.iter().map(|notice| [&*notice.function, &*notice.version]).collect();
    // Only WordPress accepts a list as an object, so it selects another type and raises other notices.
    let lists_objects = vector.arg(1)["type"].as_array().is_some_and(|names| names.iter().any(|name| name == "object"));
    let is_list = vector.line["out"].as_array().is_some_and(|items| !items.is_empty());
    (FUNCTIONS_WITH_NOTICES.contains(&&*vector.function) && recorded != ours && !(lists_objects && is_list))
        .then(|| json!({ "notices recorded": recorded, "notices raised": ours }).into())
}

/// Whether a `request_process` vector, which the recordings do not tag, has a list where a schema allows objects.
/// WordPress reads such a list as an object, the specification does not.
pub(super) fn depends_on_list_as_object(vector: &Vector) -> bool {
    if vector.function != "request_process" {
        return false;
    }
    let request = vector.arg(0);
    let takes_objects = |schema: &Value| match &schema["type"] {
        Value::Array(names) => names.iter().any(|name| name == "object"),
        name => name == "object",
    };
    let is_list = |value: &Value| value.as_array().is_some_and(|items| !items.is_empty());
    let sent: Value = request["json"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let lists = [&sent, &request["query"], &request["body"]].into_iter().any(|params| any(params, &is_list));
    lists && any(&request["args"], &takes_objects)
}

/// Whether a `request_process` vector, which the recordings do not tag, has a message with a bound that is not a small whole number.
/// WordPress cuts fractions and large numbers, the specification does not.
pub(super) fn has_cut_bound(vector: &Vector) -> bool {
    let is_whole = |bound: &Value| match bound {
        Value::String(text) => text.parse::<i64>().is_ok(),
        number => number.as_f64().is_none_or(|number| number.fract() == 0.0 && number.abs() < 1e15),
    };
    let is_cut = |schema: &Value| {
        ["minimum", "maximum"].iter().any(|name| schema.get(*name).is_some_and(|bound| !is_whole(bound)))
    };
    let is_out_of_bounds = |value: &Value| value == "rest_out_of_bounds";
    vector.function == "request_process" && any(&vector.line, &is_out_of_bounds) && any(&vector.arg(0)["args"], &is_cut)
}

/// Whether a value or one that it contains satisfies a condition.
fn any(value: &Value, predicate: &dyn Fn(&Value) -> bool) -> bool {
    let nested = match value {
        Value::Array(items) => items.iter().any(|item| any(item, predicate)),
        Value::Object(map) => map.values().any(|item| any(item, predicate)),
        _ => false,
    };
    nested || predicate(value)
}

const BUILT_IN: [&str; 7] = ["array", "object", "string", "number", "integer", "boolean", "null"];

/// A recorded value; a marked object is a map here.
fn from_recorded(value: &Value) -> Value {
    match value {
        Value::Object(map) if map.len() == 1 && map.contains_key("$object") => match from_recorded(&map["$object"]) {
            Value::Array(items) if items.is_empty() => json!({}),
            other => other,
        },
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), from_recorded(item))).collect(),
        Value::Array(items) => items.iter().map(from_recorded).collect(),
        scalar => scalar.clone(),
    }
}

/// A result in the format of the recordings: maps with the keys 0, 1, 2 … are lists, at every depth.
fn to_recorded(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(to_recorded).collect(),
        Value::Object(map) => list::list_shape(map.into_iter().map(|(key, item)| (key, to_recorded(item))).collect()),
        scalar => scalar,
    }
}

fn outcome_of(value: Value) -> Outcome {
    Outcome::Value(to_recorded(value))
}

fn error_line(error: &Error) -> Value {
    let mut body = error.to_body();
    body["status"] = error.status().into();
    body
}

/// An error inside a result.
fn error_marker(error: Error) -> Value {
    json!({ "$error": error_line(&error) })
}

fn error_outcome(error: &Error) -> Outcome {
    Outcome::Error(error_line(error))
}

fn validation_outcome(result: Result<(), Error>) -> Outcome {
    result.map_or_else(|error| error_outcome(&error), |()| true.into())
}

/// `is_infinite`: the value cast to float is infinite, which JSON cannot represent.
fn sanitizing_outcome(result: Result<Value, Error>, is_infinite: bool) -> Outcome {
    match result {
        Ok(Value::Number(n)) if is_infinite && n.is_f64() => {
            json!({ "$float": if n.as_f64() > Some(0.0) { "INF" } else { "-INF" } }).into()
        }
        Ok(value) => outcome_of(value),
        Err(error) => error_outcome(&error),
    }
}

fn text_or_false(text: Option<&str>) -> Outcome {
    text.map_or(Value::Bool(false), Value::from).into()
}

fn zone(vector: &Vector) -> SiteZone {
    SiteZone::from_options(
        vector.option("timezone_string").as_str().unwrap_or_default(),
        to_float(vector.option("gmt_offset")),
    )
}

/// The matching schema, with the type that it inherits from the outer schema.
fn match_outcome(vector: &Vector, keyword: &str, result: Result<usize, Error>) -> Outcome {
    let position = match result {
        Ok(position) => position,
        Err(error) => return error_outcome(&error),
    };
    let mut schema = from_recorded(&vector.arg(1)[keyword][position]);
    if schema["type"].is_null()
        && let (Value::Object(map), Some(inherited)) = (&mut schema, vector.arg(1).get("type"))
    {
        map.insert("type".to_owned(), inherited.clone());
    }
    outcome_of(schema)
}

fn args_of_item(item_schema: &Value, methods: Option<&Value>) -> Value {
    let kind = match methods.map(|m| m.as_str().unwrap_or_default()) {
        None | Some("POST") => MethodKind::Creatable,
        Some(_) => MethodKind::Editable,
    };
    let args = endpoint_args(item_schema, kind);
    let describe = |(name, arg): (&str, &Arg)| {
        let options = &item_schema["properties"][name]["arg_options"];
        let callback = |key: &str, is_on: bool, standard: &str| match options.get(key) {
            Some(named) if named.is_string() => named.clone(),
            Some(off) if !is_on => off.clone(),
            _ if is_on => standard.into(),
            _ => json!("disabled without a recorded option"),
        };
        let mut line = Map::new();
        let validates = matches!(arg.validate, Validator::BySchema);
        let sanitizes = matches!(arg.sanitize, Sanitizer::BySchema);
        line.insert("validate_callback".into(), callback("validate_callback", validates, "rest_validate_request_arg"));
        line.insert("sanitize_callback".into(), callback("sanitize_callback", sanitizes, "rest_sanitize_request_arg"));
        line.extend(arg.source().as_object().cloned().unwrap_or_default());
        (name.to_owned(), Value::Object(line))
    };
    args.iter().map(describe).collect()
}

/// An argument of a recorded route with its callbacks.
fn route_arg(source: &Value) -> Arg {
    let mut arg = Arg::new(Schema::compile(source.clone()));
    match source["validate_callback"].as_str() {
        Some("rest_validate_request_arg") => arg.validate = Validator::BySchema,
        Some(other) => panic!("unknown validate callback: {other}"),
        None => {}
    }
    match source.get("sanitize_callback") {
        None => {}
        Some(Value::String(name)) => match name.as_str() {
            "rest_sanitize_request_arg" => arg.sanitize = Sanitizer::BySchema,
            "rest_parse_request_arg" => arg.sanitize = Sanitizer::Parse,
            "absint" => arg = arg.sanitize_with(|v, _| Ok(list::absint(&v).into())),
            "wp_parse_id_list" => arg = arg.sanitize_with(|v, _| Ok(list::parse_id_list_value(&v)?)),
            "sanitize_text_field" => arg = arg.sanitize_with(|v, _| Ok(on_text(&v, svc_text::sanitize_text_field))),
            "sanitize_key" => arg = arg.sanitize_with(|v, _| Ok(on_text(&v, svc_text::sanitize_key))),
            other => panic!("unknown sanitize callback: {other}"),
        },
        Some(_) => arg.sanitize = Sanitizer::None,
    }
    arg
}

fn on_text(value: &Value, clean: impl Fn(&str) -> String) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => "".into(),
        scalar => clean(&svc_php::cast::to_text(scalar)).into(),
    }
}

/// The argument in `[value, request, name]`; `None` if the route does not have it.
fn request_arg(vector: &Vector) -> Option<Arg> {
    let args = from_recorded(&vector.arg(1)["args"]);
    args.get(vector.text(2)).filter(|source| source.is_object() || source.is_array()).map(route_arg)
}

/// Validates and sanitizes a request's parameters. Sources are in WordPress's order: JSON, form, query, path,
/// defaults.
fn request_process(request: &Value) -> Outcome {
    let none = Map::new();
    let args: Args =
        request["args"].as_object().unwrap_or(&none).iter().map(|(n, source)| (n.clone(), route_arg(source))).collect();
    let map = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let takes_body = matches!(request["method"].as_str(), Some("POST" | "PUT" | "PATCH" | "DELETE"));
    let body: Value = request["json"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut sources = [
        map(&body),
        if takes_body { map(&request["body"]) } else { Map::new() },
        map(&request["query"]),
        map(&request["url"]),
        args.defaults(),
    ];
    let lookup = |name: &str| sources.iter().filter_map(|source| source.get(name)).find(|value| !value.is_null());
    let (step, result) = match args.validate(lookup) {
        Err(error) => ("valid", Err(error)),
        Ok(()) => ("sanitize", args.sanitize(sources.iter_mut())),
    };
    let mut params = Map::new();
    for source in sources.into_iter().rev() {
        params.extend(source);
    }
    let result = result.map_or_else(error_marker, |()| Value::Bool(true));
    outcome_of(json!({ "step": step, "result": result, "params": params }))
}

fn error_of(steps: &Value) -> Error {
    let mut error = Error::empty();
    for step in steps.as_array().into_iter().flatten() {
        let text = |index: usize| svc_php::cast::to_text(&step[index]);
        match &*text(0) {
            "add" => error.add(text(1), text(2), step.get(3).cloned()),
            "add_data" => error.add_data(step[1].clone(), Some(&text(2))),
            "remove" => error.remove(&text(1)),
            other => panic!("unknown step: {other}"),
        }
    }
    error
}
