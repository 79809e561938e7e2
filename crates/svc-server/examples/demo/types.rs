//! Types, taxonomies, meta and additional fields of the recorded site.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_controllers::{RegisteredSetting, RestSetup, patterns::Pattern};
use svc_model::{PostId, PostType, Taxonomy};
use svc_routing::{Context, ExtraField, ObjectId, Registry};
use svc_schema::{Error, build, dates::SiteZone};
use svc_site::{MetaField, Registries, Site, patterns::PatternCategory, widgets::sidebar::Sidebar};
use svc_store::{
    StoredText,
    meta::{self, MetaKind},
    posts,
};

/// User meta and field with the nickname.
const NICK: &str = "fx_nick";

/// The time zone of the site's options.
pub(crate) fn zone(site: &Site) -> SiteZone {
    match site.settings(&Context::background()) {
        Ok(settings) => {
            let offset = svc_php::numeric::text_to_float(settings.option("gmt_offset"));
            SiteZone::from_options(settings.option("timezone_string"), offset)
        }
        Err(_) => SiteZone::from_options("", 0.0),
    }
}

/// Types, taxonomies and meta.
pub(crate) fn register(setup: &mut RestSetup) {
    taxonomies(&mut setup.registries);
    post_types(&mut setup.registries);
    post_meta(&mut setup.registries);
    other_meta(&mut setup.registries);
    settings(setup);
    for (name, label) in [("primary", "Primary Menu"), ("footer", "Footer Menu")] {
        setup.registries.menu_locations.insert(name.to_owned(), label.to_owned());
    }
    sidebars(&mut setup.registries);
    theme(&mut setup.registries);
}

fn sidebars(registries: &mut Registries) {
    let main = Sidebar::new("sidebar-main", "Main Sidebar").describe("Shown beside posts.");
    let main = main.around_widgets("<section id=\"%1$s\" class=\"widget %2$s\">", "</section>");
    registries.register_sidebar(main.around_titles("<h2 class=\"widget-title\">", "</h2>"));
    registries
        .register_sidebar(Sidebar::new("sidebar-footer", "Footer Area").describe("Shown below.").class("footer-area"));
    registries
        .register_sidebar(Sidebar::new("sidebar-public", "Public Area").describe("Readable by everyone.").in_rest());
}

/// Theme supports, and a pattern.
fn theme(registries: &mut Registries) {
    let formats =
        ["standard", "aside", "gallery", "link", "image", "quote", "status", "video", "audio", "chat"].map(Value::from);
    registries.theme_supports.insert("formats".to_owned(), formats.into_iter().collect());
    let logo = json!({"width": 300, "height": 100, "flex-width": true, "flex-height": false, "header-text": [],
        "unlink-homepage-logo": false});
    registries.theme_supports.insert("custom-logo".to_owned(), logo);
    registries.theme_supports.insert("post-thumbnails".to_owned(), true.into());
    registries.patterns.register_category(PatternCategory::new("fixture", "Fixture", "Patterns of the fixture."));
    let paragraph = |text: &str| format!("<!-- wp:paragraph -->\n<p>{text}</p>\n<!-- /wp:paragraph -->");
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    registries.patterns.register(Pattern {
        slug: "fixture/plain".to_owned(),
        title: "Plain pattern".to_owned(),
        description: Some("Two paragraphs.".to_owned()),
        categories: words(&["fixture", "text"]),
        keywords: words(&["plain", "two"]),
        block_types: words(&["core/paragraph"]),
        viewport_width: Some(800),
        content: format!("{}\n\n{}", paragraph("One"), paragraph("Two")),
        ..Pattern::default()
    });
}

fn settings(setup: &mut RestSetup) {
    let motto = build::string().title("Motto").describe("Motto of the site.").default("Onward");
    let clean: fn(Value) -> Option<Value> = |value| Some(svc_text::sanitize_text_field(value.as_str()?).into());
    setup.registered_settings.push(RegisteredSetting::new("fx_motto", motto).sanitize_with(clean));
    let columns = build::integer().range(1..=6);
    let layout = build::object([("columns", columns), ("wide", build::boolean())]);
    let layout = layout.default(json!({"columns": 2, "wide": false}));
    setup.registered_settings.push(RegisteredSetting::new("fx_layout", layout).named("fx_site_layout"));
}

fn taxonomies(registries: &mut Registries) {
    let mut genre = Taxonomy::new("genre", &["book"]).labelled("Genres", "Genre").hierarchical().rest("genres");
    "Kinds of books.".clone_into(&mut genre.description);
    genre.show_admin_column = true;
    registries.taxonomies.register(genre);
    registries.taxonomies.register(Taxonomy::new("shelf", &["book"]).labelled("Shelves", "Shelves"));
}

fn post_types(registries: &mut Registries) {
    let features = ["title", "editor", "author", "custom-fields", "revisions", "thumbnail", "autosave"];
    let mut book = PostType::new("book").labelled("Books", "Book").public().rest("books").supporting(&features);
    "A book on the shelf.".clone_into(&mut book.description);
    book.has_archive = Some("library".to_owned());
    book.menu_icon = Some("dashicons-book".to_owned());
    book.taxonomies = vec!["genre".to_owned()];
    book.template = json!([["core/paragraph", {"placeholder": "Summary"}]]);
    registries.types.register(book);
    registries.types.register(PostType::new("ledger").labelled("Ledgers", "Ledger").public().supporting(&["title"]));
}

fn post_meta(registries: &mut Registries) {
    let any = |key: &str, kind: &str| MetaField::new(key, kind);
    let object = json!({
        "type": "object",
        "properties": {"colour": {"type": "string", "format": "hex-color"}, "size": {"type": "integer", "minimum": 1}},
        "additionalProperties": false,
    });
    let fields = [
        any("fx_string", "string").describe("A line of text.").default(json!("")),
        any("fx_integer", "integer").describe("A whole number.").default(json!(0)),
        any("fx_number", "number"),
        any("fx_boolean", "boolean"),
        any("fx_strings", "string").list(),
        any("fx_integers", "integer").schema(json!({"type": "integer", "minimum": 0, "maximum": 100})).list(),
        any("fx_array", "array").schema(json!({"type": "array", "items": {"type": "string"}, "maxItems": 4})),
        any("fx_object", "object").schema(object),
        any("fx_renamed", "string")
            .named("fx_alias")
            .schema(json!({"enum": ["low", "mid", "high"]}))
            .default(json!("low")),
        any("fx_editonly", "string").schema(json!({"type": "string", "context": ["edit"]})),
        any("_fx_protected", "string"),
        any("_fx_admin", "string").guarded_by("manage_options"),
        any("fx_clean", "string").sanitized_by(title_or_key),
    ];
    for field in fields {
        registries.meta.register("post", "post", field);
    }
    registries.meta.register("post", "book", any("isbn", "string").with_revisions().describe("Book number."));
    registries.meta.register("post", "book", any("pages", "integer"));
    registries.meta.register("post", "page", any("fx_page_note", "string"));
}

fn other_meta(registries: &mut Registries) {
    let prefs = json!({
        "type": "object", "properties": {"theme": {"type": "string"}, "compact": {"type": "boolean"}},
    });
    let rows = [
        ("term", "category", MetaField::new("fx_colour", "string").default(json!("#000000"))),
        ("term", "category", MetaField::new("fx_rank", "integer")),
        ("term", "genre", MetaField::new("fx_codes", "string").list()),
        ("term", "", MetaField::new("fx_any_term", "boolean")),
        ("user", "", MetaField::new("fx_city", "string")),
        ("user", "", MetaField::new("fx_scores", "integer").list()),
        ("user", "", MetaField::new("fx_prefs", "object").schema(prefs)),
        ("comment", "", MetaField::new("fx_rating", "integer")),
        ("comment", "", MetaField::new("fx_flags", "string").list()),
    ];
    for (kind, subtype, field) in rows {
        registries.meta.register(kind, subtype, field);
    }
}

/// Additional fields of responses.
pub(crate) fn fields(registry: &mut Registry, site: &Arc<Site>) {
    let schema = build::integer().describe("Words in the raw content.").context(&["view", "edit"]).readonly();
    nick(registry, site);
    let site = Arc::clone(site);
    let words = ExtraField::new(schema.compile()).get(move |item, req| {
        let counted = item.get("id").and_then(Value::as_i64).map_or(Ok(0), |id| {
            site.read(req.cx(), |db| {
                Ok(posts::get(db, PostId(id))?.map_or(0, |p| n_words(&svc_text::strip_all_tags(&p.content, false))))
            })
        });
        std::future::ready(counted.map(Value::from))
    });
    registry.field(&["post", "book"], "fx_words", words);
    let named = ExtraField::without_schema().get(|_, _| std::future::ready(Ok(Value::from("fx_noschema:comment"))));
    registry.field(&["comment"], "fx_noschema", named);
}

/// A field of users, stored as meta.
fn nick(registry: &mut Registry, site: &Arc<Site>) {
    let schema = build::string().describe("Nickname.").max_length(12).context(&["view", "edit", "embed"]);
    let (reads, writes) = (Arc::clone(site), Arc::clone(site));
    let nick = ExtraField::new(schema.compile())
        .get(move |item, req| {
            let id = item.get("id").and_then(Value::as_i64).unwrap_or_default();
            let found = reads.read(req.cx(), |db| Ok(meta::get(db, MetaKind::User, id, NICK)?));
            std::future::ready(found.map(|nick| nick.map_or_else(|| "".into(), |nick| nick.json())))
        })
        .update(move |value, id, req| {
            let (site, nick) = (Arc::clone(&writes), value.as_str().unwrap_or_default().to_owned());
            async move {
                if nick == "bad" {
                    return Err(Error::new("fx_bad_nick", "That nick is not allowed.").with_status(422));
                }
                let ObjectId::Id(id) = id else { return Ok(()) };
                let id = i64::try_from(id).unwrap_or_default();
                site.write(req.cx(), move |tx| {
                    Ok(meta::update(tx, MetaKind::User, id, NICK, &StoredText::of(&nick)).map(drop)?)
                })
                .await
            }
        });
    registry.field(&["user"], NICK, nick);
}

/// Counts words as PHP's `str_word_count`: runs of ASCII letters, apostrophes and hyphens. These marks do not count at the ends of
/// the text.
fn n_words(text: &str) -> usize {
    let in_word = |c: char| c.is_ascii_alphabetic() || matches!(c, '\'' | '-');
    let text = text.trim_start_matches(['\'', '-']).trim_end_matches('-');
    text.split(|c| !in_word(c)).filter(|run| !run.is_empty()).count()
}

/// Sanitizes a slug. The callback in WordPress also receives the key, and uses it as a fallback.
fn title_or_key(text: &str) -> String {
    let slug = svc_text::sanitize_title(text);
    if slug.is_empty() { "fx_clean".to_owned() } else { slug }
}
