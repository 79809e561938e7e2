//! One small table, and everything that is derived from it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use serde_json::{Map, Value, json};
use svc_resource::{Fields, LazyTyped, Paging, Params, View, total_headers};
use svc_routing::{Method, Request};
use svc_schema::{Args, Error, FieldSet, MethodKind, build};

/// An item as it is loaded.
struct Book {
    id: u64,
    title: &'static str,
    isbn: Option<&'static str>,
}

const DUNE: Book = Book { id: 7, title: "Dune", isbn: Some("0441013597") };
const LEAFLET: Book = Book { id: 8, title: "Leaflet", isbn: None };

/// Whether a book moves to a shelf, or from it.
#[derive(Debug, Default, PartialEq)]
enum ShelfChange {
    #[default]
    Keep,
    Clear,
    Set(i64),
}

/// The draft of a change.
#[derive(Debug, Default, PartialEq)]
struct Draft {
    title: Option<String>,
    shelf: ShelfChange,
    secret: Option<String>,
    pages: Option<u8>,
}

const VIEW: &[&str] = &["view", "edit"];
const ALL: &[&str] = &["view", "edit", "embed"];

#[rustfmt::skip]
fn book_fields() -> Fields<Book, Draft> {
    let mut fields = Fields::new("book");
    fields.add("id", build::integer().context(ALL).readonly()).get(|b: &Book| b.id);
    let title = fields.add("title", build::object([] as [(&str, Value); 0]).context(ALL));
    title.set(|d: &mut Draft, title: String| d.title = Some(title)).raw();
    title.subfield("raw", build::string().context(&["edit"])).get(|b: &Book| b.title);
    title.subfield("rendered", build::string().context(ALL)).get(|b: &Book| format!("<b>{}</b>", b.title));
    fields.add("isbn", build::string().context(VIEW).readonly()).get(|b: &Book| b.isbn).when(|b| b.isbn.is_some());
    fields.add("shelf", build::types(["integer", "null"]).context(VIEW)).get(|b: &Book| b.id / 4).set_nullable(|d: &mut Draft, v| d.shelf = v.map_or(ShelfChange::Clear, ShelfChange::Set));
    fields.add("secret", build::string().context(&["edit"])).set(|d: &mut Draft, v| d.secret = Some(v)).write_only();
    fields.add("pages", build::integer().context(&["edit"]).required()).get(|_| 412).set(|d: &mut Draft, v| d.pages = Some(v)).exact_field();
    fields.add("rank", build::integer()).get(|_| 1).hidden();
    fields
}

fn item(book: &Book, view: &View) -> Value {
    json!(book_fields().plan(view).prepare(book))
}

fn selection(fields: &str) -> View {
    View { fields: Some(FieldSet::of(fields.split(',').map(str::to_owned).collect())), ..View::all_of("edit") }
}

fn arg_names(args: &Args) -> Vec<&str> {
    args.iter().map(|(name, _)| name).collect()
}

fn read(body: Value) -> Result<Draft, Error> {
    book_fields().typed(&Request::new(Method::POST, "/books").with_json(&body)).accepted()
}

#[test]
fn item_schema_lists_fields_in_table_order_without_hidden_ones() {
    let mut fields = book_fields();
    fields.keyword("links", json!([]));
    let schema = fields.item_schema();
    assert_eq!((&schema["title"], &schema["type"], &schema["links"]), (&json!("book"), &json!("object"), &json!([])));
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "title", "isbn", "shelf", "secret", "pages"]);
    let title: Vec<&String> = schema["properties"]["title"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(title, ["raw", "rendered"]);
}

#[test]
fn the_order_of_the_schema_can_differ_from_that_of_items() {
    let mut fields = book_fields();
    fields.schema_order(&["pages", "nothing", "title"]);
    fields.at("title").unwrap().schema_order(&["rendered"]);
    let schema = fields.item_schema();
    let names = |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&schema), ["pages", "title", "id", "isbn", "shelf", "secret"]);
    assert_eq!(names(&schema["properties"]["title"]), ["rendered", "raw"]);
    assert_eq!(arg_names(&fields.args(MethodKind::Editable)), ["pages", "title", "shelf", "secret"]);
    let item = fields.plan(&View::all_of("edit")).prepare(&DUNE);
    assert_eq!(item.keys().collect::<Vec<_>>(), ["id", "title", "isbn", "shelf", "pages", "rank"]);
    assert_eq!(json!(item["title"]).to_string(), r#"{"raw":"Dune","rendered":"<b>Dune</b>"}"#);
}

#[test]
fn args_contain_writable_fields_and_only_create_requires() {
    let fields = book_fields();
    for (kind, required) in [(MethodKind::Creatable, true), (MethodKind::Editable, false)] {
        let args = fields.args(kind);
        assert_eq!(arg_names(&args), ["title", "shelf", "secret", "pages"], "{kind:?}");
        assert_eq!(args.get("pages").unwrap().source().get("required").is_some(), required, "{kind:?}");
    }
}

#[test]
fn raw_argument_accepts_values_that_the_schema_rejects() {
    let args = book_fields().args(MethodKind::Editable);
    for (name, value, valid) in
        [("title", json!("text"), true), ("shelf", json!("text"), false), ("shelf", json!(null), true)]
    {
        let params = Map::from_iter([(name.to_owned(), value)]);
        assert_eq!(args.validate(|name| params.get(name)).is_ok(), valid, "{params:?}");
    }
}

#[test]
fn context_selects_fields() {
    for (context, expected) in [
        ("embed", json!({"id": 7, "title": {"rendered": "<b>Dune</b>"}, "rank": 1})),
        ("view", json!({"id": 7, "title": {"rendered": "<b>Dune</b>"}, "isbn": "0441013597", "shelf": 1, "rank": 1})),
        (
            "edit",
            json!({
                "id": 7, "title": {"raw": "Dune", "rendered": "<b>Dune</b>"}, "isbn": "0441013597", "shelf": 1,
                "pages": 412, "rank": 1,
            }),
        ),
    ] {
        assert_eq!(item(&DUNE, &View::all_of(context)), expected, "{context}");
    }
}

#[test]
fn fields_parameter_selects_fields() {
    for (names, expected) in [
        ("id,shelf", json!({"id": 7, "shelf": 1})),
        ("title", json!({"title": {"raw": "Dune", "rendered": "<b>Dune</b>"}})),
        ("title.raw", json!({"title": {"raw": "Dune"}})),
        ("title.unknown", json!({"title": []})),
        ("unknown", json!({})),
        ("pages", json!({"pages": 412})),
        ("pages.anything", json!({})),
    ] {
        assert_eq!(item(&DUNE, &selection(names)), expected, "{names}");
    }
}

#[test]
fn conditional_field_is_missing_from_other_items() {
    assert_eq!(item(&DUNE, &selection("isbn")), json!({"isbn": "0441013597"}));
    assert_eq!(item(&LEAFLET, &selection("isbn")), json!({}));
}

#[test]
fn plan_reports_computed_fields() {
    let fields = book_fields();
    let plan = fields.plan(&View::all_of("view"));
    for (path, computed) in [
        ("title", true),
        ("title.rendered", true),
        ("title.raw", false),
        ("pages", false),
        ("secret", false),
        ("unknown", false),
    ] {
        assert_eq!(plan.wants(path), computed, "{path}");
    }
    assert!(plan.wants_any(&["pages", "shelf"]) && !plan.wants_any(&["pages", "secret"]));
}

#[test]
fn links_follow_fields_and_embed() {
    for (names, embed, expected) in
        [("id", false, false), ("id,_links", false, true), ("id,_embedded", false, false), ("id,_embedded", true, true)]
    {
        let view = View { embed, ..selection(names) };
        assert_eq!(view.wants_links(), expected, "{names} {embed}");
        assert!(!view.without_links().wants_links());
    }
}

#[test]
fn values_are_applied_to_the_draft() {
    for (body, expected) in [
        (json!({}), Draft::default()),
        (
            json!({"title": "Dune", "pages": 9}),
            Draft { title: Some("Dune".into()), pages: Some(9), ..Draft::default() },
        ),
        (json!({"title": null, "secret": "s"}), Draft { secret: Some("s".into()), ..Draft::default() }),
        (json!({"shelf": 3}), Draft { shelf: ShelfChange::Set(3), ..Draft::default() }),
        (json!({"shelf": null}), Draft { shelf: ShelfChange::Clear, ..Draft::default() }),
        (json!({"id": 1, "isbn": "x"}), Draft::default()),
    ] {
        assert_eq!(read(body.clone()).unwrap(), expected, "{body}");
    }
    let error = read(json!({"pages": 1000})).unwrap_err();
    assert_eq!((error.code(), error.status()), ("rest_invalid_param", 400));
    // Values of another type, as permissions get them for `Allow`. Empty ones count as absent.
    for (body, has_mismatch) in
        [(json!({"pages": [3]}), true), (json!({"pages": []}), false), (json!({"pages": 3}), false)]
    {
        let typed = book_fields().typed(&Request::new(Method::POST, "/books").with_json(&body));
        assert_eq!((typed.has_mismatch("pages"), typed.has_mismatch("title")), (has_mismatch, false), "{body}");
    }
}

#[test]
fn the_first_source_that_is_not_null_counts() {
    let mut params = Params::<Vec<String>>::new("books");
    params.add("a", build::string()).set(|q: &mut Vec<String>, a: String| q.push(format!("a={a}")));
    params.add("b", build::string()).set(|q: &mut Vec<String>, b: String| q.push(format!("b={b}")));
    // Two fields of one name both get the value.
    params.add("a", build::string()).set(|q: &mut Vec<String>, a: String| q.push(format!("again={a}")));
    let query = |text: &str| Request::new(Method::POST, "/books").with_query_string(text);
    for (request, expected) in [
        (query("b=2&a=1"), vec!["a=1", "b=2", "again=1"]),
        (query("a=1&b=2").with_json(&json!({"b": "json"})), vec!["a=1", "b=json", "again=1"]),
        (query("b=2").with_json(&json!({"b": null})), vec!["b=2"]),
        (query("other=2"), vec![]),
    ] {
        assert_eq!(params.typed(&request).accepted().unwrap(), expected);
        assert_eq!(params.typed_as_sent(&request).accepted().unwrap(), expected);
    }
}

#[test]
fn lazy_values_are_converted_at_most_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let lazy = || {
        let count = Arc::clone(&count);
        LazyTyped::new(move || {
            count.fetch_add(1, Relaxed);
            book_fields().typed(&Request::new(Method::POST, "/books").with_json(&json!({"pages": 9})))
        })
    };
    drop(lazy());
    assert_eq!(count.load(Relaxed), 0);
    let values = lazy();
    assert_eq!((values.get().values().pages, values.get().values().pages), (Some(9), Some(9)));
    assert_eq!(values.accepted().unwrap().pages, Some(9));
    assert_eq!(count.load(Relaxed), 1);
    assert_eq!(lazy().accepted().unwrap().pages, Some(9));
}

#[test]
fn collection_parameters_are_parsed_by_their_schema() {
    let mut params = Params::<Vec<u64>>::new("books");
    params.add("page", build::integer().minimum(1).default(1)).set(|q: &mut Vec<u64>, page| q.push(page));
    params.add("shelf", build::integer()).set(|q: &mut Vec<u64>, shelf| q.push(shelf));
    let args = params.query_args();
    assert_eq!(arg_names(&args), ["page", "shelf"]);
    assert_eq!(args.defaults(), Map::from_iter([("page".to_owned(), json!(1))]));
    // Only parameters that every collection has are validated in a step of their own.
    for (body, valid) in [(json!({"page": 0}), false), (json!({"shelf": "x"}), true)] {
        assert_eq!(args.validate(|name| body.get(name)).is_ok(), valid, "{body}");
    }
    let request = Request::get("/books").with_query(json!({"shelf": 5, "page": 4}).as_object().unwrap().clone());
    assert_eq!(params.typed(&request).accepted().unwrap(), [4, 5]);
}

#[test]
fn tables_are_derived_from_tables() {
    let names = |fields: Fields<Book, Draft>| fields.properties().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(book_fields().only(&["pages", "id"])), ["id", "pages"]);
    assert_eq!(names(book_fields().without(&["title", "secret"])), ["id", "isbn", "shelf", "pages"]);
    assert_eq!(names(book_fields().only(&["id"]).join(book_fields().only(&["isbn"]))), ["id", "isbn"]);
    let mut fields = book_fields();
    fields.at("title").unwrap().drop_subfield("raw");
    assert!(fields.at("title.raw").is_none() && fields.at("title.rendered").is_some());
    fields.set_schema("id", build::string());
    assert_eq!(fields.properties()["id"], json!({"type": "string"}));
    let exact = book_fields().all_exact();
    assert_eq!(json!(exact.plan(&selection("id.x,shelf.x")).prepare(&DUNE)), json!({"id": 7}));
}

#[test]
fn permissions_get_the_values_of_unsupported_fields() {
    let table = || book_fields().supporting(&["id", "title", "pages"]);
    let fields = table();
    assert_eq!(fields.properties().keys().collect::<Vec<_>>(), ["id", "title", "pages"]);
    assert_eq!(arg_names(&fields.args(MethodKind::Creatable)), ["title", "pages"]);
    assert_eq!(arg_names(&fields.query_args()), ["id", "title", "pages"]);
    assert_eq!(fields.names().collect::<Vec<_>>(), ["id", "title", "pages"]);
    assert!(fields.has("title") && !fields.has("secret"));
    let item = fields.plan(&View::all_of("edit")).prepare(&DUNE);
    assert_eq!(item.keys().collect::<Vec<_>>(), ["id", "title", "pages"]);
    // Removed again by a second restriction, and by the field alone.
    assert!(!table().supporting(&["secret"]).has("secret"));
    let mut fields = book_fields();
    fields.at("secret").unwrap().supported(false);
    assert!(!fields.has("secret") && fields.has("shelf"));

    let text = |text: &str| Some(text.to_owned());
    let whole = Draft { title: text("a"), secret: text("s"), ..Draft::default() };
    let rows = [
        (json!({"title": "a"}), Draft { title: text("a"), ..Draft::default() }, Some(text("a")), ""),
        (json!({"title": "a", "secret": "s"}), whole, Some(text("a")), ""),
        (json!({"secret": "s"}), Draft { secret: text("s"), ..Draft::default() }, Some(None), ""),
        // What only a permission reads cannot fail in the handler.
        (json!({"title": "a", "shelf": [1]}), Draft { title: text("a"), ..Draft::default() }, Some(text("a")), "shelf"),
        (json!({"pages": [1], "secret": "s"}), Draft { secret: text("s"), ..Draft::default() }, None, "pages"),
    ];
    for (body, for_permission, for_handler, mismatch) in rows {
        let typed = table().typed(&Request::new(Method::POST, "/books").with_json(&body));
        assert_eq!(typed.values(), &for_permission, "{body}");
        for name in ["title", "shelf", "secret", "pages"] {
            assert_eq!(typed.has_mismatch(name), name == mismatch, "{body} {name}");
        }
        assert_eq!(typed.is_accepted(), for_handler.is_some(), "{body}");
        let expected = for_handler.map(|title| Draft { title, ..Draft::default() });
        assert_eq!(typed.accepted().ok(), expected, "{body}");
    }
}

#[test]
fn a_value_can_be_converted_in_part() {
    let mut params = Params::<Vec<u64>>::new("books");
    params.add("ids", build::array(build::integer())).try_set(|ids: &mut Vec<u64>, sent: Vec<Value>| {
        ids.extend(sent.iter().filter_map(Value::as_u64));
        ids.len() == sent.len()
    });
    for (sent, ids, is_accepted) in
        [(json!([1, 2]), vec![1, 2], true), (json!([1, "x"]), vec![1], false), (json!("x"), vec![], false)]
    {
        let typed = params.typed(&Request::new(Method::POST, "/books").with_json(&json!({"ids": sent})));
        assert_eq!((typed.values(), typed.is_accepted()), (&ids, is_accepted), "{sent}");
        assert_eq!(typed.has_mismatch("ids"), !is_accepted, "{sent}");
    }
}

#[test]
fn pages_link_to_their_neighbors() {
    const URL: &str = "http://a.b/books";
    let query = Map::from_iter([("search".to_owned(), json!("x"))]);
    let at = |page: u64| format!("{URL}?search=x&page={page}");
    for (total, page, pages, valid, links) in [
        (0, 1, 0, true, vec![]),
        (0, 3, 0, true, vec![("prev", at(0))]),
        (25, 1, 3, true, vec![("next", at(2))]),
        (25, 2, 3, true, vec![("prev", at(1)), ("next", at(3))]),
        (25, 3, 3, true, vec![("prev", at(2))]),
        (25, 9, 3, false, vec![("prev", at(3))]),
    ] {
        let paging = Paging { total, per_page: 10, page };
        assert_eq!((paging.pages(), paging.links(URL, &query)), (pages, links), "{paging:?}");
        assert_eq!(paging.check("rest_invalid_page").is_ok(), valid, "{paging:?}");
    }
    let paging = Paging { total: 25, per_page: 10, page: 9 };
    assert_eq!(paging.links_from_page(URL, &query), [("prev", at(8))]);
    assert_eq!(total_headers(25, 3), [("Total", 25), ("TotalPages", 3)]);
    for (page, items) in [(1, 0..10), (3, 20..25), (4, 25..25), (u64::MAX, 25..25)] {
        let paging = Paging { total: 25, per_page: 10, page };
        assert!(paging.items(0..25).eq(items.clone()), "{page}");
    }
}
