//! Arbitrary values and schemas: no panics, no endless runs, and some invariants.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use svc_schema::{Args, FieldSet, MethodKind, Notices, Schema, endpoint_args, parse_embed, values};

const NAMES: [&str; 8] = ["a", "b", "0", "1", "-1", "01", "", "é"];
const TYPES: [&str; 9] = ["array", "object", "string", "number", "integer", "boolean", "null", "int", ""];
const PATTERNS: [&str; 10] =
    ["^a", "a$", "(a+)+$", r"(\w+)\1!", "[", r"\p{L}", r"^\d{2,}$", "(?=a)(?!b)", "a{99999}", "((((a*)*)*)*)*b"];
const TEXTS: [&str; 14] = [
    "",
    "a",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
    "0",
    "1",
    "true",
    "1,2,2",
    "#fff",
    "2020-01-01T00:00:00Z",
    "a@b.co",
    "::1",
    "1e999",
    "-9223372036854775809",
    "é\n",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..5).prop_map(named),
        ]
    })
}

fn named(properties: Vec<(&'static str, Value)>) -> Value {
    Value::Object(properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Keywords that contain no schema, each with valid and invalid values.
fn plain_keyword() -> BoxedStrategy<(&'static str, Value)> {
    let type_name = || prop::sample::select(&TYPES[..]);
    let counts = [
        "minimum",
        "maximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "uniqueItems",
    ];
    let formats = ["hex-color", "date-time", "email", "ip", "uuid", "uri", "text-field", "other"];
    prop_oneof![
        4 => type_name().prop_map(|t| ("type", json!(t))),
        3 => prop::collection::vec(type_name(), 0..4).prop_map(|t| ("type", json!(t))),
        4 => (prop::sample::select(counts.to_vec()), scalar()),
        2 => prop::sample::select(&PATTERNS[..]).prop_map(|p| ("pattern", json!(p))),
        1 => "[\\x20-\\x7e]{0,8}".prop_map(|p| ("pattern", json!(p))),
        2 => prop::sample::select(formats.to_vec()).prop_map(|f| ("format", json!(f))),
        2 => prop::collection::vec(value(), 0..3).prop_map(|v| ("enum", json!(v))),
        2 => prop::collection::vec(prop::sample::select(&NAMES[..]), 0..3).prop_map(|v| ("required", json!(v))),
        1 => any::<bool>().prop_map(|v| ("required", json!(v))),
        1 => any::<bool>().prop_map(|v| ("additionalProperties", json!(v))),
        1 => Just(("title", json!("T"))),
        2 => prop::sample::select(vec!["view", "edit"]).prop_map(|c| ("context", json!([c]))),
        1 => (prop::sample::select(vec!["properties", "items", "anyOf", "oneOf", "patternProperties", "enum", "title", "context"]), value()),
        1 => value().prop_map(|v| ("default", v)),
    ]
    .boxed()
}

fn schema() -> BoxedStrategy<Value> {
    let plain = prop::collection::vec(plain_keyword(), 0..4);
    plain
        .clone()
        .prop_map(named)
        .prop_recursive(4, 40, 4, move |inner| {
            let properties = prop::collection::vec((prop::sample::select(&NAMES[..]), inner.clone()), 0..4);
            let rules = prop::collection::vec((prop::sample::select(&PATTERNS[..]), inner.clone()), 0..3);
            let branches = prop::collection::vec(inner.clone(), 0..4);
            let holding = prop_oneof![
                3 => properties.prop_map(|m| ("properties", named(m))),
                2 => rules.prop_map(|m| ("patternProperties", named(m))),
                2 => inner.clone().prop_map(|s| ("items", s)),
                2 => inner.prop_map(|s| ("additionalProperties", s)),
                2 => branches.clone().prop_map(|b| ("anyOf", Value::from(b))),
                2 => branches.prop_map(|b| ("oneOf", Value::from(b))),
            ];
            (plain.clone(), prop::collection::vec(holding, 1..3))
                .prop_map(|(plain, holding)| named(plain.into_iter().chain(holding).collect()))
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn every_operation_terminates(source in schema(), value in value(), context in "view|edit|x") {
        let schema = Schema::compile(source.clone());
        prop_assert_eq!(schema.source(), &source);
        let mut notices = Notices::new();
        let checked = schema.validate(&value, "p");
        prop_assert_eq!(&checked, &schema.validate_with(&value, "p", &mut notices), "notices do not change the result");
        if let Err(error) = &checked {
            prop_assert!(error.code().starts_with("rest_"));
            prop_assert!(error.to_body().is_object());
        }
        let cleaned = schema.sanitize(value.clone(), "p");
        prop_assert_eq!(&cleaned, &schema.sanitize_with(value.clone(), "p", &mut notices));
        match schema.is_sanitized(&value, "p") {
            Ok(true) => prop_assert_eq!(&cleaned, &Ok(value.clone()), "sanitized values stay unchanged"),
            Ok(false) => prop_assert_eq!(&checked, &Ok(())),
            Err(error) => prop_assert_eq!(&checked, &Err(error)),
        }
        let filtered = schema.filter_by_context(value.clone(), &context);
        if let (Value::Object(before), Value::Object(after)) = (&value, &filtered) {
            prop_assert!(after.keys().all(|name| before.contains_key(name)), "filtering adds nothing");
        }
        let item = json!({ "properties": { "p": source } });
        for kind in [MethodKind::Creatable, MethodKind::Editable] {
            let args: Args = endpoint_args(&item, kind);
            let mut params = Map::from_iter([("p".to_owned(), value.clone())]);
            let _ = args.validate(|name| params.get(name));
            let _ = args.sanitize([&mut params]);
        }
    }

    #[test]
    fn any_json_compiles(source in value(), value in value()) {
        let schema = Schema::compile(source);
        let _ = schema.validate(&value, "p");
        let _ = schema.sanitize(value.clone(), "p");
        let _ = schema.filter_by_context(value, "view");
    }

    #[test]
    fn sanitizing_plain_types_is_idempotent(name in prop::sample::select(&TYPES[..7]), value in value()) {
        let schema = Schema::compile(json!({ "type": name }));
        let once = schema.sanitize(value, "p").unwrap();
        prop_assert_eq!(schema.sanitize(once.clone(), "p").unwrap(), once.clone());
        // An empty string is not a list item; every other result has the type.
        prop_assert!(schema.validate(&once, "p").is_ok(), "{} {}", name, once);
    }

    #[test]
    fn equality_ignores_property_order(value in value()) {
        let stable = values::stabilize(value.clone());
        prop_assert!(values::are_values_equal(&value, &stable));
        prop_assert_eq!(values::stabilize(stable.clone()), stable);
    }

    #[test]
    fn trimmed_fields_are_included(names in prop::collection::vec("[ab0]{0,2}(\\.[ab0]{0,2}){0,3}", 0..5), value in value()) {
        let set = FieldSet::parse(&json!(names)).unwrap();
        let trimmed = set.trim(value.clone());
        if let (Value::Object(map), false) = (&trimmed, values::is_list_like(&value)) {
            prop_assert!(map.keys().all(|name| set.is_included(name)));
            prop_assert_eq!(set.trim(trimmed.clone()), trimmed.clone(), "trimming twice changes nothing");
        }
        let _ = parse_embed(&value);
    }
}

/// A schema whose work would double at each level.
#[test]
fn nested_combined_schemas_terminate() {
    let mut source = json!({ "type": "string", "enum": ["x"] });
    for _ in 0..60 {
        source = json!({ "anyOf": [source.clone(), { "type": "integer" }], "enum": ["y"] });
    }
    let schema = Schema::compile(source);
    assert!(schema.validate(&json!("x"), "p").is_err());
    assert!(schema.sanitize(json!("x"), "p").is_err());
}

/// Runs on a small stack: the recursion over schemas and values is bounded.
#[test]
fn recursion_depth_is_bounded() {
    let deep = || {
        let mut source = json!({ "type": "array" });
        let mut value = json!([1]);
        for _ in 0..400 {
            source =
                json!({ "type": "array", "items": source, "uniqueItems": true, "enum": [[]], "context": ["view"] });
            value = Value::Array(vec![value]);
        }
        (source, value)
    };
    let run = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let (source, value) = deep();
        let schema = Schema::compile(source);
        assert!(schema.validate(&value, "p").is_err());
        let _ = schema.filter_by_context(value, "view");
    });
    assert!(run.unwrap().join().is_ok());
}
