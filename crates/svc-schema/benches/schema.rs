//! Validates and sanitizes typical request bodies, compared with the `jsonschema` crate on equivalent schemas.
//!
//! `jsonschema` only validates, so `validate` is the fair comparison; `validate + sanitize` is the cost of a request.
//! Sanitizing consumes the body, so each iteration gets a fresh one, as each request does; `jsonschema` is measured the
//! same way.

use std::{hint::black_box, time::Duration};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use svc_schema::{
    Schema,
    build::{any_of, array, boolean, integer, null, number, object, one_of_schemas, string, types, untyped},
};

/// Number of bodies prepared at a time: few enough to stay in the CPU cache.
const FRESH: BatchSize = BatchSize::NumIterations(16);

/// A body, a schema of this crate, and the same schema in the draft that `jsonschema` reads. Values have the types of
/// JSON, so that both agree.
struct Case {
    name: &'static str,
    ours: Value,
    theirs: Value,
    body: Value,
}

fn post() -> Case {
    let rendered = || object([("raw", string()), ("rendered", string())]);
    let ours = object([
        ("date", types(["string", "null"]).format("date-time")),
        ("slug", string().pattern("^[a-z0-9-]+$")),
        ("status", string().one_of(["publish", "future", "draft", "pending", "private"])),
        ("title", rendered()),
        ("content", rendered()),
        ("excerpt", rendered()),
        ("author", integer()),
        ("featured_media", integer()),
        ("comment_status", string().one_of(["open", "closed"])),
        ("ping_status", string().one_of(["open", "closed"])),
        ("format", string().one_of(["standard", "aside", "chat", "gallery", "link", "image", "quote"])),
        ("meta", object([("footnotes", string())]).additional_properties(false)),
        ("sticky", boolean()),
        ("template", string().max_length(80)),
        ("categories", array(integer().minimum(1)).unique_items()),
        ("tags", array(integer().minimum(1)).unique_items()),
    ]);
    let body = json!({
        "date": "2026-11-21T10:00:00Z", "slug": "hello-world", "status": "draft",
        "title": {"raw": "Hello, world"}, "content": {"raw": "<!-- wp:paragraph --><p>Some text.</p>".repeat(40)},
        "excerpt": {"raw": "Short"}, "author": 3, "featured_media": 0, "comment_status": "open", "ping_status": "closed",
        "format": "standard", "meta": {"footnotes": ""}, "sticky": false, "template": "",
        "categories": [1, 4, 9, 16], "tags": [2, 3, 5, 7, 11, 13],
    });
    equivalent_case("post", ours.into(), body)
}

/// Combined schemas, patterns with lookahead, unique objects, many items.
fn hard() -> Case {
    let block = one_of_schemas([
        object([("kind", string().one_of(["text"])), ("text", string().max_length(500))])
            .keyword("required", vec!["kind", "text"])
            .additional_properties(false),
        object([
            ("kind", string().one_of(["image"])),
            ("id", integer().minimum(1)),
            ("caption", any_of([string(), null()])),
        ])
        .keyword("required", vec!["kind", "id"])
        .additional_properties(false),
        object([("kind", string().one_of(["size"])), ("width", number().range(0..=4000).multiple_of(0.5))])
            .keyword("required", vec!["kind", "width"])
            .additional_properties(false),
    ])
    .keyword("type", "object");
    let ours = object([
        ("blocks", array(block).min_items(1).max_items(500).unique_items()),
        (
            "styles",
            object::<&str, Value>([])
                .pattern_properties([(
                    "^(?!_)[a-z-]+$",
                    any_of([string().max_length(40), array(number()).max_items(4), integer()]),
                )])
                .additional_properties(untyped().keyword("type", "null")),
        ),
    ]);
    let blocks: Vec<Value> = (1..=100)
        .map(|n| match n % 3 {
            0 => json!({"kind": "text", "text": format!("Paragraph {n}")}),
            1 => json!({"kind": "image", "id": n, "caption": null}),
            _ => json!({"kind": "size", "width": f64::from(n) * 0.5}),
        })
        .collect();
    let body = json!({
        "blocks": blocks,
        "styles": {"color": "#abcdef", "padding": [1.5, 2, 3.5, 4], "line-height": 2, "margin-top": "2em", "_x": null},
    });
    equivalent_case("hard", ours.into(), body)
}

/// A body that matches no branch: errors are created and dropped.
fn rejected() -> Case {
    let Case { ours, mut body, .. } = hard();
    body["blocks"][99] = json!({"kind": "image", "id": 0});
    equivalent_case("rejected", ours, body)
}

fn equivalent_case(name: &'static str, ours: Value, body: Value) -> Case {
    let mut theirs = ours.clone();
    theirs["$schema"] = "http://json-schema.org/draft-04/schema#".into();
    Case { name, ours, theirs, body }
}

fn bench(c: &mut Criterion) {
    for Case { name, ours, theirs, body } in [post(), hard(), rejected()] {
        let ours = Schema::compile(ours);
        let theirs = jsonschema::options().should_validate_formats(true).build(&theirs).expect("an equivalent schema");
        assert_eq!(ours.validate(&body, "body").is_ok(), theirs.is_valid(&body), "{name}");
        let mut group = c.benchmark_group(name);
        group.bench_function("jsonschema is_valid", |b| b.iter(|| theirs.is_valid(black_box(&body))));
        group.bench_function("jsonschema validate", |b| b.iter(|| theirs.validate(black_box(&body)).is_ok()));
        group.bench_function("validate", |b| b.iter(|| ours.validate(black_box(&body), "body").is_ok()));
        group.bench_function("jsonschema validate, own body", |b| {
            b.iter_batched(
                || body.clone(),
                |body| {
                    let fits = theirs.validate(&body).is_ok();
                    (fits, body)
                },
                FRESH,
            )
        });
        group
            .bench_function("sanitize", |b| b.iter_batched(|| body.clone(), |body| ours.sanitize(body, "body"), FRESH));
        group.bench_function("validate + sanitize", |b| {
            b.iter_batched(|| body.clone(), |body| ours.parse(body, "body"), FRESH)
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2)).sample_size(30);
    targets = bench
}
criterion_main!(benches);
