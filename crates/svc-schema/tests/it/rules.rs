//! The rules of the specification, one row each: invalid values with their error, and sanitized values.

use serde_json::{Value, json};
use svc_schema::{NoticeKind, Notices, Schema};

/// `schema`, `value`, then code and message of the error, or `ok`.
#[track_caller]
fn check(schema: Value, value: Value, code: &str, message: &str) {
    let outcome = Schema::compile(schema.clone()).validate(&value, "p");
    let reported = outcome.as_ref().map_or_else(|e| (e.code(), e.message()), |()| ("ok", ""));
    assert_eq!(reported, (code, message), "{schema} {value}");
}

#[track_caller]
fn clean(schema: Value, value: Value, expected: Value) {
    assert_eq!(Schema::compile(schema.clone()).sanitize(value.clone(), "p"), Ok(expected), "{schema} {value}");
}

#[test]
#[rustfmt::skip]
fn invalid_values() {
    let s = |keyword: &str, value: Value| json!({"type": "string", keyword: value});
    let n = |rules: Value| { let mut schema = json!({"type": "number"}); schema.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone()); schema };
    let a = |keyword: &str, value: Value| json!({"type": "array", keyword: value});
    let o = |keyword: &str, value: Value| json!({"type": "object", keyword: value});
    check(json!({"type": "integer"}), json!("1.5"), "rest_invalid_type", "p is not of type integer.");
    check(json!({"type": "integer"}), json!("1e2"), "ok", "");
    check(json!({"type": "boolean"}), json!("yes"), "rest_invalid_type", "p is not of type boolean.");
    check(json!({"type": "null"}), json!(""), "rest_invalid_type", "p is not of type null.");
    check(json!({"type": ["integer", "null"]}), json!("x"), "rest_invalid_type", "p is not of type integer,null.");
    check(json!({"type": "array"}), json!({"a": 1}), "rest_invalid_type", "p is not of type array.");
    // Unlike in WordPress, a list is not an object.
    check(json!({"type": "object"}), json!(["a"]), "rest_invalid_type", "p is not of type object.");
    check(json!({"type": "object"}), json!(""), "ok", "");
    check(o("required", json!(["a"])), json!({}), "rest_property_required", "a is a required property of p.");
    check(o("properties", json!({"a": {"required": true}})), json!({}), "rest_property_required", "a is a required property of p.");
    check(o("additionalProperties", json!(false)), json!({"b": 1}), "rest_additional_properties_forbidden", "b is not a valid property of Object.");
    check(o("additionalProperties", json!({"type": "integer"})), json!({"b": "x"}), "rest_invalid_type", "p[b] is not of type integer.");
    check(o("patternProperties", json!({"^x": {"type": "integer"}})), json!({"xa": "b"}), "rest_invalid_type", "p[xa] is not of type integer.");
    check(o("minProperties", json!(1)), json!({}), "rest_too_few_properties", "p must contain at least 1 property.");
    check(o("maxProperties", json!(0)), json!({"a": 1}), "rest_too_many_properties", "p must contain at most 0 properties.");
    check(a("items", json!({"type": "array", "items": {"type": "integer"}})), json!([[1, "x"]]), "rest_invalid_type", "p[0][1] is not of type integer.");
    check(a("minItems", json!(1000)), json!("a,b"), "rest_too_few_items", "p must contain at least 1,000 items.");
    check(a("maxItems", json!(1)), json!("a,b"), "rest_too_many_items", "p must contain at most 1 item.");
    check(a("uniqueItems", json!(true)), json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]), "rest_duplicate_items", "p has duplicate items.");
    check(n(json!({"multipleOf": 0.1})), json!(0.3), "rest_invalid_multiple", "p must be a multiple of 0.1.");
    check(n(json!({"minimum": 2})), json!("1"), "rest_out_of_bounds", "p must be greater than or equal to 2");
    check(n(json!({"minimum": 2, "exclusiveMinimum": true})), json!(2), "rest_out_of_bounds", "p must be greater than 2");
    check(n(json!({"maximum": 2})), json!(3), "rest_out_of_bounds", "p must be less than or equal to 2");
    check(n(json!({"maximum": 2, "exclusiveMaximum": true})), json!(2), "rest_out_of_bounds", "p must be less than 2");
    check(n(json!({"minimum": 1, "maximum": 3, "exclusiveMaximum": true})), json!(3), "rest_out_of_bounds", "p must be between 1 (inclusive) and 3 (exclusive)");
    check(n(json!({"minimum": 1.5})), json!(1), "rest_out_of_bounds", "p must be greater than or equal to 1.5");
    check(n(json!({"maximum": "0.5", "exclusiveMaximum": true})), json!(0.5), "rest_out_of_bounds", "p must be less than 0.5");
    check(n(json!({"minimum": 1e20})), json!(1), "rest_out_of_bounds", "p must be greater than or equal to 1e20");
    check(n(json!({"minimum": 0.5, "maximum": 5.0})), json!(6), "rest_out_of_bounds", "p must be between 0.5 (inclusive) and 5 (inclusive)");
    check(json!({"anyOf": []}), json!(1), "rest_no_matching_schema", "p does not match any of the expected formats.");
    check(s("minLength", json!(2)), json!("é"), "rest_too_short", "p must be at least 2 characters long.");
    check(s("maxLength", json!(1)), json!("éé"), "rest_too_long", "p must be at most 1 character long.");
    check(s("pattern", json!("^[a-z]+$")), json!("A"), "rest_invalid_pattern", "p does not match pattern ^[a-z]+$.");
    check(s("enum", json!(["a"])), json!("b"), "rest_not_in_enum", "p is not a.");
    check(s("enum", json!(["a", "b", "c"])), json!("d"), "rest_not_in_enum", "p is not one of a, b, and c.");
    check(json!({"type": "integer", "enum": [1.0]}), json!("1"), "ok", "");
    check(s("format", json!("hex-color")), json!("#ff"), "rest_invalid_hex_color", "Invalid hex color.");
    check(s("format", json!("hex-color")), json!("#fff\n"), "rest_invalid_hex_color", "Invalid hex color.");
    check(s("format", json!("date-time")), json!("today"), "rest_invalid_date", "Invalid date.");
    check(s("format", json!("email")), json!("a@b"), "rest_invalid_email", "Invalid email address.");
    check(s("format", json!("ip")), json!("1.2.3"), "rest_invalid_ip", "p is not a valid IP address.");
    check(s("format", json!("uuid")), json!("x"), "rest_invalid_uuid", "p is not a valid UUID.");
    check(s("format", json!("uri")), json!("::"), "ok", "");
    check(json!({"format": "ip"}), json!("x"), "rest_invalid_ip", "p is not a valid IP address.");
    check(json!({"type": "integer", "format": "ip"}), json!(1), "ok", "");
    check(json!({"format": "ip"}), json!([]), "rest_invalid_ip", "p is not a valid IP address.");
    check(json!({"format": "uri"}), json!([]), "ok", "");
    for (format, value) in [("hex-color", "#fF0"), ("date-time", "2020-01-01T00:00:00Z"), ("email", "a@b.co"), ("ip", "::1"), ("uuid", "3b241101-e2bb-4255-8caf-4136c566a962")] {
        check(s("format", json!(format)), json!(value), "ok", "");
    }
}

#[test]
#[rustfmt::skip]
fn values_at_bounds_are_valid() {
    for (schema, values) in [
        (json!({"type": "string", "minLength": 2, "maxLength": 2}), vec![json!("ab"), json!("éé")]),
        (json!({"type": "string", "pattern": "^[a-z]+$"}), vec![json!("ab")]),
        (json!({"type": "number", "minimum": 2, "maximum": 3}), vec![json!(2), json!(2.5), json!("3")]),
        (json!({"type": "number", "minimum": 2, "exclusiveMinimum": true, "maximum": 3, "exclusiveMaximum": true}), vec![json!(2.5)]),
        (json!({"type": "number", "multipleOf": 2}), vec![json!(4), json!(0), json!("-6")]),
        (json!({"type": "number", "multipleOf": "x"}), vec![json!(4)]),
        (json!({"type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": true}), vec![json!([1, 2]), json!("a,b"), json!({"0": 1, "7": 2})]),
        (json!({"type": "object", "minProperties": 1, "maxProperties": 1, "required": ["a"]}), vec![json!({"a": null})]),
        (json!({"type": "string", "enum": ["a", "b"]}), vec![json!("b")]),
        (json!({"type": "array", "enum": [[1, 2]], "items": {"type": "integer"}}), vec![json!("1,2"), json!([1, 2])]),
    ] {
        for value in values {
            check(schema.clone(), value, "ok", "");
        }
    }
    // The sanitized value is compared with the allowed ones.
    let uri = json!({"type": "string", "format": "uri"});
    check(json!({"type": "string", "format": "uri", "enum": [""]}), json!("javascript:x"), "ok", "");
    check(json!({"type": "string", "anyOf": [uri], "enum": [""]}), json!("javascript:x"), "ok", "");
    check(json!({"type": "string", "oneOf": [uri], "enum": [""]}), json!("javascript:x"), "ok", "");
    check(json!({"type": "integer", "enum": [5, 6]}), json!(6), "ok", "");
    // The list `["5"]`, to which the sub-schema sanitizes, is the integer 1, as in PHP.
    check(json!({"type": "integer", "anyOf": [{"type": "array"}], "enum": [1]}), json!(5), "ok", "");
    check(json!({"type": "integer", "enum": [5, 6]}), json!(7), "rest_not_in_enum", "p is not one of 5 and 6.");
    // A value that cannot be sanitized equals nothing.
    let twins = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "enum": [{"a": [1, 1]}]});
    check(twins.clone(), json!({"a": [1, "1"]}), "ok", "");
    let unique = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true}}, "enum": [{"a": [1, 1]}, {"a": null}]});
    check(unique, json!({"a": [1, "1"]}), "rest_not_in_enum", r#"p is not one of {"a":[1,1]} and {"a":null}."#);
}

#[test]
#[rustfmt::skip]
fn combined_schemas() {
    let text = json!({"type": "string", "maxLength": 2, "title": "Word"});
    let count = json!({"type": "integer", "minimum": 5, "title": "Count"});
    let any = |branches: &[&Value]| json!({"anyOf": branches});
    let one = |branches: &[&Value]| json!({"oneOf": branches});
    check(any(&[&text]), json!("abc"), "rest_no_matching_schema", "p is not a valid Word. Reason: p must be at most 2 characters long.");
    check(any(&[&text, &count]), json!("abc"), "rest_no_matching_schema", "p is not a valid Word. Reason: p must be at most 2 characters long.");
    check(any(&[&text, &count]), json!([]), "rest_no_matching_schema", "p is not a valid Word and Count.");
    check(any(&[&json!({"type": "null"}), &json!({"type": "boolean"})]), json!([]), "rest_no_matching_schema", "p does not match any of the expected formats.");
    check(one(&[&json!({"type": "integer"}), &json!({"type": "number"})]), json!(1), "rest_one_of_multiple_matches", "p matches more than one of the expected formats.");
    check(one(&[&json!({"type": "integer", "title": "A"}), &json!({"type": "number", "title": "B"})]), json!(1), "rest_one_of_multiple_matches", "p matches A and B, but should match only one.");
    // Of object schemas, the one that has the most property names in common is reported.
    let near = json!({"type": "object", "title": "Near", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
    let distant = json!({"type": "object", "title": "Far", "properties": {"a": {"type": "null"}, "z": {"type": "null"}}});
    check(any(&[&distant, &near]), json!({"a": 1, "b": "x"}), "rest_no_matching_schema", "p is not a valid Near. Reason: p[b] is not of type integer.");
    // None of several object schemas is near if no name is in common; of equally near ones, the first is reported.
    check(any(&[&distant, &near]), json!({"x": 1}), "ok", "");
    let needs = |title: &str| json!({"type": "object", "title": title, "required": ["a"], "properties": {"a": {"type": "null"}}});
    check(any(&[&needs("A"), &needs("B")]), json!({"x": 1}), "rest_no_matching_schema", "p is not a valid A and B.");
    check(any(&[&needs("A"), &needs("B")]), json!({"a": 1}), "rest_no_matching_schema", "p is not a valid A. Reason: p[a] is not of type null.");
    // Sub-schemas without a type inherit it.
    check(json!({"type": "string", "anyOf": [{"maxLength": 1}]}), json!(5), "rest_no_matching_schema", "p does not match the expected format. Reason: p is not of type string.");
    let error = Schema::compile(any(&[&count, &text])).validate(&json!("abc"), "p").unwrap_err();
    assert_eq!(error.data(), Some(&json!({"position": 1})));
}

#[test]
fn schemas_below_the_maximum_depth_accept_any_value() {
    type Nest = fn(Value) -> Value;
    // Rows: a schema with a sub-schema, and a value with a value for that.
    let nestings: [(Nest, Nest); 6] = [
        (|s| json!({"anyOf": [s]}), |v| v),
        (|s| json!({"oneOf": [s]}), |v| v),
        (|s| json!({"type": "object", "properties": {"a": s}}), |v| json!({"a": v})),
        (|s| json!({"type": "object", "patternProperties": {"a": s}}), |v| json!({"a": v})),
        (|s| json!({"type": "object", "additionalProperties": s}), |v| json!({"a": v})),
        (|s| json!({"type": "array", "items": s}), |v| json!([v])),
    ];
    for (nest_schema, nest_value) in nestings {
        let is_valid = |depth: usize| {
            let schema = (0..depth).fold(json!({"type": "null"}), |schema, _| nest_schema(schema));
            let value = (0..depth).fold(json!(1), |value, _| nest_value(value));
            Schema::compile(schema).validate(&value, "p").is_ok()
        };
        assert_eq!((is_valid(63), is_valid(64)), (false, true), "{}", nest_schema(json!({})));
    }
}

#[test]
#[rustfmt::skip]
fn sanitized_values() {
    let t = |name: &str| json!({"type": name});
    clean(t("integer"), json!("12abc"), json!(12));
    clean(t("integer"), json!(1.9), json!(1));
    clean(t("number"), json!("1.5"), json!(1.5));
    clean(t("number"), json!(2), json!(2.0));
    clean(t("boolean"), json!("FALSE"), json!(false));
    clean(t("boolean"), json!("no"), json!(true));
    clean(t("null"), json!("x"), json!(null));
    clean(t("string"), json!(1.0), json!("1"));
    clean(t("string"), json!(null), json!(""));
    clean(t("array"), json!("a, b"), json!(["a", "b"]));
    clean(t("array"), json!({"x": 1}), json!([1]));
    clean(t("array"), json!(null), json!([]));
    clean(t("object"), json!("x"), json!({}));
    clean(t("object"), json!(["a"]), json!({}));
    clean(json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}), json!({"a": "7", "b": 1}), json!({"a": 7}));
    clean(json!({"type": "array", "items": {"type": "integer"}}), json!("1,2,x"), json!([1, 2, 0]));
    clean(json!({"type": "array", "items": {"type": "integer"}}), json!([1, "1"]), json!([1, 1]));
    clean(json!({"type": ["integer", "boolean"]}), json!("x"), json!(null));
    clean(json!({"type": "string", "format": "hex-color"}), json!("red"), json!(""));
    clean(json!({"type": "string", "format": "ip"}), json!(" <b>1.2.3.4</b> "), json!("1.2.3.4"));
    clean(json!({"type": "string", "format": "uri"}), json!("javascript:alert(1)"), json!(""));
    // Formats that WordPress supports and the specification does not.
    clean(json!({"type": "string", "format": "text-field"}), json!("<b>x</b>\n"), json!("<b>x</b>\n"));
    clean(json!({"type": "string", "format": "textarea-field"}), json!("<b>x</b>\n"), json!("<b>x</b>\n"));
    clean(json!({"anyOf": [{"type": "null"}, {"type": "integer"}]}), json!("5"), json!(5));
    let twins = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true}}});
    assert_eq!(Schema::compile(twins).sanitize(json!({"a": [1, "1"]}), "p").unwrap_err().message(), "p[a] has duplicate items.");
}

#[test]
fn contexts() {
    let schema = Schema::compile(json!({"type": "object", "properties": {
        "id": {"type": "integer", "context": ["view", "edit", "embed"]},
        "title": {"type": "object", "context": ["view", "edit"], "properties": {
            "raw": {"type": "string", "context": ["edit"]}, "rendered": {"type": "string", "context": ["view", "edit"]},
        }},
        "tags": {"type": "array", "context": ["view"], "items": {"type": "integer", "context": ["edit"]}},
        "free": {"type": "object", "properties": {"x": {"context": ["edit"]}}},
    }}));
    let data = json!({"id": 1, "title": {"raw": "t", "rendered": "T"}, "tags": [1, 2], "free": {"x": 1}, "other": 2});
    assert_eq!(
        schema.filter_by_context(data.clone(), "view"),
        json!({"id": 1, "title": {"rendered": "T"}, "tags": [], "free": {"x": 1}, "other": 2})
    );
    assert_eq!(schema.filter_by_context(data, "embed"), json!({"id": 1, "free": {"x": 1}, "other": 2}));
    assert_eq!(schema.filter_by_context(json!({"title": {"raw": "t"}}), "view"), json!({"title": []}));
}

#[test]
#[rustfmt::skip]
fn contexts_of_entries() {
    let edit = json!({"context": ["edit"]});
    let both = json!({"type": ["array", "object"], "items": edit, "properties": {"a": {"context": ["view"]}}});
    // Rows: the schema, the data, and what remains in the context `view`.
    let rows = [
        // A list evaluated as an object uses its indexes as names.
        (json!({"type": "object", "properties": {"0": edit}}), json!(["a", "b"]), json!({"1": "b"})),
        // Without a type, only `properties` describe the entries.
        (json!({"properties": {"a": edit}}), json!({"a": 1, "b": 2}), json!({"b": 2})),
        (json!({"properties": {"0": edit}}), json!([1, 2]), json!({"1": 2})),
        (json!({"additionalProperties": edit}), json!({"a": 1}), json!({"a": 1})),
        (json!({"items": edit}), json!([1]), json!([1])),
        // With both types, the data decides.
        (both.clone(), json!([1]), json!([])),
        (both, json!({"a": 1}), json!({"a": 1})),
    ];
    for (schema, data, expected) in rows {
        assert_eq!(Schema::compile(schema.clone()).filter_by_context(data, "view"), expected, "{schema}");
    }
}

#[test]
fn best_types() {
    let rows = [
        (json!("integer"), json!("x"), Some("integer")),
        (json!(["integer", "string"]), json!(5), Some("integer")),
        (json!(["integer", "string"]), json!("5"), Some("integer")),
        (json!(["integer", "string"]), json!("x"), Some("string")),
        (json!(["integer", "string"]), json!([]), None),
        // The empty string would be an object and a list, too.
        (json!(["object", "array", "string"]), json!(""), Some("string")),
        (json!(["object", "array"]), json!(""), Some("object")),
        (json!(["array", "boolean"]), json!(true), Some("array")),
        (json!(["boolean", "null", "number"]), json!(1.5), Some("number")),
        (json!(["boolean", "null"]), json!("TRUE"), Some("boolean")),
        (json!(["boolean", "null"]), json!(null), Some("null")),
        (json!(["object", "other"]), json!(1), Some("other")),
        (json!(["object", "0"]), json!(1), None),
        (json!(null), json!(1), None),
    ];
    for (types, value, expected) in rows {
        let schema = Schema::compile(json!({"type": types}));
        assert_eq!(schema.best_type(&value, "p", &mut Notices::new()), expected, "{types} {value}");
    }
}

#[test]
fn single_keywords() {
    let notices = &mut Notices::new();
    let letters = Schema::compile(json!({"type": "string", "maxLength": 1, "enum": ["a", "bb"]}));
    assert_eq!(letters.validate_enum(&json!("bb"), "p", notices), Ok(()));
    let one = Schema::compile(json!({"type": "integer", "enum": [1]}));
    assert_eq!(one.validate_enum(&json!(1.5), "p", notices), Ok(()));
    assert_eq!(letters.validate_enum(&json!("c"), "p", notices).unwrap_err().message(), "p is not one of a and bb.");

    let branches = json!([{"type": "boolean"}, {"type": "integer"}, {"type": "number"}]);
    let any = Schema::compile(json!({"anyOf": branches}));
    let one = Schema::compile(json!({"oneOf": branches}));
    let code = |result: Result<usize, svc_schema::Error>| result.map_err(|error| error.code().to_owned());
    // Rows: the value, then the indexes that `anyOf`, `oneOf` and the first match of `oneOf` find.
    for (value, of_any, of_one, first) in [
        (json!(true), Ok(0), Ok(0), Ok(0)),
        (json!(7), Ok(1), Err("rest_one_of_multiple_matches"), Ok(1)),
        (json!(7.5), Ok(2), Ok(2), Ok(2)),
        (json!("x"), Err("rest_no_matching_schema"), Err("rest_no_matching_schema"), Err("rest_no_matching_schema")),
    ] {
        let found = [
            any.find_any_match(&value, "p", notices),
            one.find_one_match(&value, "p", false, notices),
            one.find_one_match(&value, "p", true, notices),
        ];
        assert_eq!(found.map(code), [of_any, of_one, first].map(|r| r.map_err(str::to_owned)), "{value}");
    }
}

#[test]
#[rustfmt::skip]
fn values_that_sanitizing_leaves_unchanged() {
    let t = |name: &str| json!({"type": name});
    let f = |name: &str| json!({"type": "string", "format": name});
    let any = |branches: &[Value]| json!({"anyOf": branches});
    // Rows: the schema, a valid value, whether it is known to stay the same, and the sanitized value.
    let rows = [
        (t("string"), json!("a"), true, json!("a")),
        (t("integer"), json!(5), true, json!(5)),
        (t("integer"), json!("5"), false, json!(5)),
        (t("integer"), json!(5.0), false, json!(5)),
        (t("number"), json!(5.5), true, json!(5.5)),
        (t("number"), json!(5), false, json!(5.0)),
        (t("boolean"), json!(true), true, json!(true)),
        (t("boolean"), json!("false"), false, json!(false)),
        (t("array"), json!([1]), true, json!([1])),
        (t("array"), json!("1"), false, json!(["1"])),
        (t("object"), json!({"a": 1}), true, json!({"a": 1})),
        (t("object"), json!(""), false, json!({})),
        (t("null"), json!(null), true, json!(null)),
        (json!({"type": "array", "items": t("integer")}), json!([1, "2"]), false, json!([1, 2])),
        (json!({"type": "array", "items": t("integer")}), json!([1, 2]), true, json!([1, 2])),
        (json!({"type": "object", "properties": {"a": t("integer")}}), json!({"a": "2"}), false, json!({"a": 2})),
        (f("ip"), json!("::1"), true, json!("::1")),
        (f("email"), json!("a@b.co"), false, json!("a@b.co")),
        (f("uri"), json!("javascript:x"), false, json!("")),
        (json!({"format": "ip"}), json!("::1"), true, json!("::1")),
        (json!({"type": "integer", "enum": [5]}), json!("5"), false, json!(5)),
        (json!({"type": "integer", "enum": [5]}), json!(5), true, json!(5)),
        // What a sub-schema that does not match would change does not count.
        (any(&[json!({"type": "integer", "minimum": 7}), t("string")]), json!("5"), true, json!("5")),
        (any(&[t("integer"), t("string")]), json!("5"), false, json!(5)),
        (any(&[t("integer"), t("string")]), json!("a"), true, json!("a")),
        (json!({"type": "array", "items": any(&[t("integer"), t("string")])}), json!(["5", "a"]), false, json!([5, "a"])),
    ];
    for (schema, value, is_same, sanitized) in rows {
        let compiled = Schema::compile(schema.clone());
        assert_eq!(compiled.is_sanitized(&value, "p"), Ok(is_same), "{schema} {value}");
        assert_eq!(compiled.parse(value.clone(), "p"), Ok(sanitized), "{schema} {value}");
    }
}

#[test]
fn lists_in_strings_are_bounded() {
    let text = |n_items: usize| Value::from("1,".repeat(n_items));
    let general = "p must contain at most 100,000 items.";
    // Rows: the schema of a list, the length of a list in a string, and the message of validation.
    for (rules, n_items, message) in [
        (json!({"items": {"type": "integer"}}), 100_000, ""),
        (json!({"items": {"type": "integer"}}), 100_001, general),
        (json!({"maxItems": 200_000}), 100_001, general),
        (json!({"maxItems": 3}), 100_001, "p must contain at most 3 items."),
        (json!({"maxItems": 3}), 4, "p must contain at most 3 items."),
    ] {
        let mut schema = rules.clone();
        schema["type"] = "array".into();
        let result = Schema::compile(schema).validate(&text(n_items), "p");
        let message_of = |error: &svc_schema::Error| error.message().to_owned();
        assert_eq!(result.as_ref().err().map(message_of).unwrap_or_default(), message, "{rules} {n_items}");
    }
    // While sanitizing, the lists of a value are counted together.
    let lists = Schema::compile(json!({"type": "array", "items": {"type": "array"}}));
    assert!(lists.sanitize(json!([text(50_000), text(50_000)]), "p").is_ok());
    let error = lists.sanitize(json!([text(50_000), text(50_001)]), "p").unwrap_err();
    assert_eq!((error.code(), error.message()), ("rest_too_many_items", "p[1] must contain at most 100,000 items."));
    assert_eq!(lists.sanitize(json!([text(100_001)]), "p").unwrap_err().code(), "rest_too_many_items");
}

#[test]
fn runs_with_too_many_steps_end() {
    // The work doubles at each level.
    let mut deep = json!({"type": "string", "enum": ["x"]});
    for _ in 0..60 {
        deep = json!({"anyOf": [deep, {"type": "integer"}], "enum": ["x"]});
    }
    let schema = Schema::compile(json!({"type": "object", "properties": {"a": deep, "b": {"type": "integer"}}}));
    let value = json!({"a": "x", "b": "5"});
    let code = |error: svc_schema::Error| (error.code().to_owned(), error.status());
    let too_complex = ("rest_too_complex".to_owned(), 400);
    assert_eq!(schema.validate(&value, "p").map_err(code), Err(too_complex.clone()));
    assert_eq!(schema.sanitize(value.clone(), "p").map_err(code), Err(too_complex.clone()));
    let kept = schema.sanitize_keeping_errors(value, "p", &mut Notices::new(), &mut |_| json!("an error"));
    assert_eq!(kept.map_err(code), Err(too_complex));
}

#[test]
fn invalid_types_are_reported_and_tolerated() {
    let mut notices = Notices::new();
    let schema = Schema::compile(json!({"type": "array", "items": {"enum": [1]}}));
    assert!(schema.validate_with(&json!([1, 1]), "p", &mut notices).is_ok());
    let functions: Vec<&str> = notices.iter().map(|n| n.function.as_str()).collect();
    let (check, clean) = ("rest_validate_value_from_schema", "rest_sanitize_value_from_schema");
    assert_eq!(functions, [[check, check, clean, clean], [check, check, clean, clean]].concat());
    let first = notices.iter().next().unwrap();
    assert_eq!((first.kind, first.version.as_str()), (NoticeKind::DoingItWrong, "5.5.0"));
    assert!(first.message.contains("p[0]"), "{}", first.message);

    let mut notices = Notices::new();
    assert!(Schema::compile(json!({"type": "other"})).validate_with(&json!(1), "p", &mut notices).is_ok());
    assert_eq!(notices.iter().len(), 1);

    let mut notices = Notices::new();
    let many: Vec<Value> = vec![json!(1); 10_000];
    assert!(schema.validate_with(&json!(many), "p", &mut notices).is_ok());
    assert_eq!(notices.iter().len(), 256);
}
