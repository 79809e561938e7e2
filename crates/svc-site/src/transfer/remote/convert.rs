//! Objects of the REST API as entries of a WXR file.
//!
//! With the context `edit`, texts are as they are stored. With `view` they are as a page shows them: shortcodes and dynamic blocks have
//! become HTML, and excerpts are there although nobody wrote one.

use std::collections::HashMap;

use serde_json::Value;
use svc_store::StoredText;
use svc_wxr::{Author, Comment, Item, ItemTerm, MetaRow, Term};

/// What other objects name by ID.
#[derive(Default)]
pub(super) struct Known {
    /// URL of the site.
    pub(super) home: String,
    /// The names with which authors log in; empty for those who cannot be read.
    pub(super) logins: HashMap<i64, String>,
    pub(super) terms: HashMap<i64, ItemTerm>,
}

/// A taxonomy, and the field of posts with the IDs of its terms.
pub(super) struct Taxonomy {
    pub(super) name: String,
    pub(super) field: String,
}

/// Type of the entries of classic menus.
pub(super) const MENU_ITEM: &str = "nav_menu_item";

/// Date of the entries of classic menus, which the API does not show. It is always the same, so that an entry is recognized when it is
/// imported again.
const MENU_DATE: &str = "2000-01-01 00:00:00";

/// Taxonomy of classic menus.
pub(super) const MENU: &str = "nav_menu";

/// Fields of posts of all types that are read, besides those with terms.
pub(super) const FIELDS: &str = "id,date,date_gmt,modified,modified_gmt,guid,slug,status,type,link,title,content,excerpt,author,\
featured_media,comment_status,ping_status,sticky,template,format,meta,parent,menu_order,password,alt_text,caption,description,post,source_url,\
type_label,object,object_id,target,classes,xfn,url,attr_title,menus";

/// Fields of terms that are read.
pub(super) const TERM_FIELDS: &str = "id,name,slug,description,parent,meta";

/// References that the display of a text writes instead of punctuation, as numbers. Source: `wptexturize`.
const PUNCTUATION: [(&str, &str); 12] = [
    ("&#8211;", "–"),
    ("&#8212;", "—"),
    ("&#8216;", "‘"),
    ("&#8217;", "’"),
    ("&#8218;", "‚"),
    ("&#8220;", "“"),
    ("&#8221;", "”"),
    ("&#8222;", "„"),
    ("&#8230;", "…"),
    ("&#8242;", "′"),
    ("&#8243;", "″"),
    ("&#038;", "&amp;"),
];

/// The text at a JSON pointer; empty for none.
pub(super) fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a JSON pointer; 0 for none.
pub(super) fn number(value: &Value, at: &str) -> i64 {
    value.pointer(at).and_then(Value::as_i64).unwrap_or_default()
}

/// A date as it is stored; empty for none.
fn date(value: &Value, at: &str) -> String {
    text(value, at).replacen('T', " ", 1)
}

/// A text without the punctuation of its display.
fn without_texturing(text: &str) -> String {
    PUNCTUATION.iter().fold(text.to_owned(), |text, (written, meant)| text.replace(written, meant))
}

/// The paragraphs that the display of a short text has added, as lines.
fn without_paragraphs(html: &str) -> String {
    let lines = html.trim().replace("</p>\n<p>", "\n\n").replace("<br />\n", "\n");
    let inner = lines.strip_prefix("<p>").and_then(|text| text.strip_suffix("</p>"));
    without_texturing(inner.unwrap_or(&lines))
}

/// The stored text of a field, or the text that its display was made from, as far as it can be known.
fn stored(value: &Value, field: &str, from_display: impl FnOnce(&str) -> String) -> String {
    match value.pointer(&format!("/{field}/raw")).and_then(Value::as_str) {
        Some(raw) => raw.to_owned(),
        None => from_display(text(value, &format!("/{field}/rendered"))),
    }
}

/// The excerpt, unless it is the beginning of the content.
fn written_excerpt(html: &str, content: &str) -> String {
    let words = |html: &str| svc_text::strip_all_tags(html, true).split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words(html);
    let begin = shown.trim_end_matches("[&hellip;]").trim_end();
    if words(content).starts_with(begin) { String::new() } else { without_paragraphs(html) }
}

/// The rows of meta that a value of the field `meta` was read from.
fn rows(key: &str, value: &Value) -> Vec<MetaRow> {
    let row = |value: Value| MetaRow { key: key.to_owned(), value: StoredText::of(value).text().to_owned() };
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Bool(true) => vec![row("1".into())],
        // A list is the values of several rows.
        Value::Array(values) => values.iter().cloned().map(row).collect(),
        Value::Object(fields) if fields.is_empty() => Vec::new(),
        other => vec![row(other.clone())],
    }
}

fn meta(value: &Value) -> Vec<MetaRow> {
    let fields = value.get("meta").and_then(Value::as_object);
    fields.into_iter().flatten().flat_map(|(key, value)| rows(key, value)).collect()
}

pub(super) fn author(value: &Value) -> Author {
    let login = text(value, "/username");
    Author {
        id: number(value, "/id"),
        login: if login.is_empty() { text(value, "/slug") } else { login }.to_owned(),
        email: text(value, "/email").to_owned(),
        display_name: text(value, "/name").to_owned(),
        first_name: text(value, "/first_name").to_owned(),
        last_name: text(value, "/last_name").to_owned(),
    }
}

/// The terms of a taxonomy, each after its parent.
pub(super) fn terms(values: &[Value], taxonomy: &str) -> Vec<Term> {
    let slugs: HashMap<i64, &str> = values.iter().map(|value| (number(value, "/id"), text(value, "/slug"))).collect();
    let term = |value: &Value| Term {
        id: number(value, "/id"),
        taxonomy: taxonomy.to_owned(),
        slug: text(value, "/slug").to_owned(),
        parent: slugs.get(&number(value, "/parent")).copied().unwrap_or_default().to_owned(),
        name: text(value, "/name").to_owned(),
        description: text(value, "/description").to_owned(),
        meta: meta(value),
    };
    let mut children: HashMap<i64, Vec<&Value>> = HashMap::new();
    for value in values {
        let parent = number(value, "/parent");
        children.entry(if slugs.contains_key(&parent) { parent } else { 0 }).or_default().push(value);
    }
    let (mut sorted, mut open) = (Vec::with_capacity(values.len()), vec![0]);
    while let Some(parent) = open.pop() {
        for value in children.remove(&parent).unwrap_or_default() {
            sorted.push(term(value));
            open.push(number(value, "/id"));
        }
    }
    sorted
}

pub(super) fn comment(value: &Value) -> Comment {
    let status = match text(value, "/status") {
        "approved" | "approve" => "1",
        "hold" => "0",
        other => other,
    };
    Comment {
        id: number(value, "/id"),
        author: text(value, "/author_name").to_owned(),
        author_email: text(value, "/author_email").to_owned(),
        author_url: text(value, "/author_url").to_owned(),
        author_ip: text(value, "/author_ip").to_owned(),
        date: date(value, "/date"),
        date_gmt: date(value, "/date_gmt"),
        content: stored(value, "content", without_paragraphs),
        approved: status.to_owned(),
        comment_type: text(value, "/type").to_owned(),
        parent: number(value, "/parent"),
        user: number(value, "/author"),
        meta: meta(value),
    }
}

/// Whether the texts of a post are withheld, because it has a password.
pub(super) fn is_withheld(value: &Value) -> bool {
    value.pointer("/content/protected") == Some(&Value::Bool(true)) && value.pointer("/content/raw").is_none()
}

/// A post of any type, without its comments.
pub(super) fn item(value: &Value, post_type: &str, taxonomies: &[Taxonomy], known: &Known) -> Item {
    let is_file = post_type == "attachment";
    // It is not shown for types without comments.
    let discussion = |at: &str| match text(value, at) {
        "" => "closed".to_owned(),
        status => status.to_owned(),
    };
    let mut item = Item {
        title: stored(value, "title", without_texturing),
        link: text(value, "/link").to_owned(),
        creator: known.logins.get(&number(value, "/author")).cloned().unwrap_or_default(),
        guid: stored(value, "guid", str::to_owned),
        id: number(value, "/id"),
        date: date(value, "/date"),
        date_gmt: date(value, "/date_gmt"),
        modified: date(value, "/modified"),
        modified_gmt: date(value, "/modified_gmt"),
        comment_status: discussion("/comment_status"),
        ping_status: discussion("/ping_status"),
        slug: text(value, "/slug").to_owned(),
        status: text(value, "/status").to_owned(),
        parent: number(value, if is_file { "/post" } else { "/parent" }),
        menu_order: number(value, "/menu_order"),
        post_type: post_type.to_owned(),
        password: text(value, "/password").to_owned(),
        is_sticky: value.get("sticky") == Some(&Value::Bool(true)),
        attachment_url: text(value, "/source_url").to_owned(),
        terms: terms_of(value, taxonomies, known),
        meta: meta(value),
        ..Item::default()
    };
    // The API shows a date in UTC for drafts as well, which have none until somebody sets their date: it is that of the last change then.
    if matches!(&*item.status, "draft" | "pending") && item.date == item.modified {
        item.date_gmt.clear();
    }
    let mut add = |key: &str, value: String| item.meta.push(MetaRow { key: key.to_owned(), value });
    match post_type {
        MENU_ITEM => {
            for (key, value) in menu_meta(value) {
                add(key, value);
            }
            item.guid = format!("{}/?p={}", known.home, item.id);
            for date in [&mut item.date, &mut item.date_gmt, &mut item.modified, &mut item.modified_gmt] {
                MENU_DATE.clone_into(date);
            }
            // The parent of an entry is in its meta.
            item.parent = 0;
            item.content = text(value, "/description").to_owned();
            item.excerpt = text(value, "/attr_title").to_owned();
        }
        "attachment" => {
            let alt = text(value, "/alt_text");
            if !alt.is_empty() {
                add("_wp_attachment_image_alt", alt.to_owned());
            }
            // The display of a description contains the file.
            item.content = stored(value, "description", |_| String::new());
            item.excerpt = stored(value, "caption", |html| written_excerpt(html, ""));
            // Others are read with the file.
            item.status = "inherit".to_owned();
        }
        _ => {
            let (featured, template) = (number(value, "/featured_media"), text(value, "/template"));
            if featured > 0 {
                add("_thumbnail_id", featured.to_string());
            }
            if !template.is_empty() {
                add("_wp_page_template", template.to_owned());
            }
            item.content = stored(value, "content", |html| html.trim().to_owned());
            item.excerpt = stored(value, "excerpt", |html| written_excerpt(html, &item.content));
        }
    }
    item
}

fn terms_of(value: &Value, taxonomies: &[Taxonomy], known: &Known) -> Vec<ItemTerm> {
    let ids = |field: &str| match value.get(field) {
        Some(Value::Array(ids)) => ids.iter().filter_map(Value::as_i64).collect::<Vec<_>>(),
        // Menu entries have one menu.
        Some(Value::Number(id)) => id.as_i64().into_iter().collect(),
        _ => Vec::new(),
    };
    let of = |taxonomy: &Taxonomy| -> Vec<ItemTerm> {
        let terms = ids(&taxonomy.field).into_iter().filter_map(|id| known.terms.get(&id));
        terms.filter(|term| term.taxonomy == taxonomy.name).cloned().collect()
    };
    let mut terms: Vec<ItemTerm> = taxonomies.iter().flat_map(of).collect();
    let format = text(value, "/format");
    if !matches!(format, "" | "standard") {
        let slug = format!("post-format-{format}");
        terms.push(ItemTerm { taxonomy: "post_format".to_owned(), name: slug.clone(), slug });
    }
    terms
}

/// The meta of an entry of a classic menu, in which WordPress stores what it links to.
fn menu_meta(value: &Value) -> [(&'static str, String); 8] {
    let list = |field: &str| match value.get(field) {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    // Of other entries it is the URL of what they link to.
    let url = if text(value, "/type") == "custom" { text(value, "/url") } else { "" };
    let classes = value.get("classes").cloned().unwrap_or_else(|| Value::from(Vec::<Value>::new()));
    [
        ("_menu_item_type", text(value, "/type").to_owned()),
        ("_menu_item_menu_item_parent", number(value, "/parent").to_string()),
        ("_menu_item_object_id", number(value, "/object_id").to_string()),
        ("_menu_item_object", text(value, "/object").to_owned()),
        ("_menu_item_target", text(value, "/target").to_owned()),
        ("_menu_item_classes", StoredText::of(classes).text().to_owned()),
        ("_menu_item_xfn", list("xfn")),
        ("_menu_item_url", url.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row<'i>(item: &'i Item, key: &str) -> Option<&'i str> {
        item.meta.iter().find(|row| row.key == key).map(|row| row.value.as_str())
    }

    #[test]
    fn stored_texts_are_taken_as_they_are() {
        let value = json!({
            "id": 7, "date": "2024-02-29T10:00:00", "date_gmt": "2024-02-29T09:00:00", "status": "draft", "author": 2, "parent": 3,
            "title": {"raw": "A &amp; <b>B</b>", "rendered": "A &#038; B"},
            "content": {"raw": "<!-- wp:x /-->", "rendered": "<p>x</p>", "protected": true},
            "excerpt": {"raw": "", "rendered": "<p>x</p>"}, "guid": {"rendered": "https://a.b/?p=7"},
            "featured_media": 9, "template": "wide.html", "format": "aside", "sticky": true, "password": "p",
            "categories": [1, 4, 5], "meta": {"views": 3, "on": true, "off": false, "none": "", "all": ["a", "b"], "map": {"x": 1}},
        });
        let mut known = Known::default();
        known.logins.insert(2, "ann".into());
        for (id, taxonomy) in [(1, "category"), (4, "post_tag")] {
            known.terms.insert(id, ItemTerm { taxonomy: taxonomy.into(), slug: format!("s{id}"), name: "N".into() });
        }
        let taxonomies = [Taxonomy { name: "category".into(), field: "categories".into() }];
        assert!(!is_withheld(&value));
        let item = item(&value, "post", &taxonomies, &known);
        assert_eq!((&*item.title, &*item.content, &*item.excerpt), ("A &amp; <b>B</b>", "<!-- wp:x /-->", ""));
        assert_eq!(
            (&*item.date, &*item.date_gmt, &*item.creator),
            ("2024-02-29 10:00:00", "2024-02-29 09:00:00", "ann")
        );
        assert_eq!((item.parent, item.is_sticky, &*item.password, &*item.guid), (3, true, "p", "https://a.b/?p=7"));
        let slugs: Vec<&str> = item.terms.iter().map(|term| &*term.slug).collect();
        assert_eq!(slugs, ["s1", "post-format-aside"]);
        assert_eq!(row(&item, "_thumbnail_id"), Some("9"));
        assert_eq!(row(&item, "_wp_page_template"), Some("wide.html"));
        assert_eq!((row(&item, "views"), row(&item, "on"), row(&item, "off")), (Some("3"), Some("1"), None));
        assert_eq!(item.meta.iter().filter(|row| row.key == "all").count(), 2);
        assert_eq!(row(&item, "map"), Some("a:1:{s:1:\"x\";i:1;}"));
    }

    #[test]
    fn drafts_get_a_date_in_utc_only_if_somebody_has_set_it() {
        for (status, modified, expected) in [
            ("draft", "2024-02-29T10:00:00", ""),
            ("pending", "2024-02-29T10:00:00", ""),
            ("draft", "2024-02-28T10:00:00", "2024-02-29 09:00:00"),
            ("future", "2024-02-29T10:00:00", "2024-02-29 09:00:00"),
        ] {
            let value = json!({"status": status, "date": "2024-02-29T10:00:00", "date_gmt": "2024-02-29T09:00:00", "modified": modified});
            assert_eq!(item(&value, "post", &[], &Known::default()).date_gmt, expected, "{status} {modified}");
        }
    }

    #[test]
    fn displayed_texts_become_what_was_written_as_far_as_that_can_be_known() {
        let value = |excerpt: &str| {
            json!({
                "id": 1, "title": {"rendered": "It&#8217;s &lt;i&gt; &#038; more"}, "content": {"rendered": "\n<p>One two three.</p>\n"},
                "excerpt": {"rendered": excerpt},
            })
        };
        for (shown, written) in [
            ("<p>One two [&hellip;]</p>\n", ""),
            ("<p>One two three.</p>\n", ""),
            ("<p>A summary.</p>\n", "A summary."),
            ("<p>Two lines<br />\nof it.</p>\n<p>End&#8230;</p>\n", "Two lines\nof it.\n\nEnd…"),
            ("", ""),
        ] {
            let item = item(&value(shown), "post", &[], &Known::default());
            assert_eq!(item.excerpt, written, "{shown}");
            assert_eq!((&*item.title, &*item.content), ("It’s &lt;i&gt; &amp; more", "<p>One two three.</p>"));
        }
        assert!(is_withheld(&json!({"content": {"rendered": "", "protected": true}})));
    }

    #[test]
    fn files_and_menu_entries_have_their_meta() {
        let file = json!({
            "id": 5, "post": 7, "source_url": "https://a.b/f/x.png", "alt_text": "An x", "caption": {"rendered": "<p>Look</p>\n"},
            "description": {"rendered": "<p><img src=\"x\"></p>"}, "status": "inherit",
        });
        let file = item(&file, "attachment", &[], &Known::default());
        assert_eq!(
            (file.parent, &*file.attachment_url, &*file.excerpt, &*file.content),
            (7, "https://a.b/f/x.png", "Look", "")
        );
        assert_eq!(row(&file, "_wp_attachment_image_alt"), Some("An x"));
        let entry = json!({
            "id": 6, "type": "custom", "object": "custom", "object_id": 6, "parent": 4, "url": "https://x", "classes": ["a"], "xfn": ["me", "b"],
            "description": "D", "attr_title": "T", "menus": 3, "title": {"raw": "Entry"},
        });
        let mut known = Known::default();
        known.terms.insert(3, ItemTerm { taxonomy: MENU.into(), slug: "main".into(), name: "Main".into() });
        let entry = item(&entry, MENU_ITEM, &[Taxonomy { name: MENU.into(), field: "menus".into() }], &known);
        assert_eq!((entry.parent, &*entry.content, &*entry.excerpt, &*entry.terms[0].slug), (0, "D", "T", "main"));
        assert_eq!(row(&entry, "_menu_item_menu_item_parent"), Some("4"));
        assert_eq!(row(&entry, "_menu_item_classes"), Some("a:1:{i:0;s:1:\"a\";}"));
        assert_eq!(row(&entry, "_menu_item_xfn"), Some("me b"));
    }

    #[test]
    fn terms_follow_their_parents_and_circles_are_left_out() {
        let term = |id: i64, parent: i64| json!({"id": id, "slug": format!("t{id}"), "parent": parent, "name": "N"});
        let values = [term(1, 2), term(2, 3), term(3, 0), term(4, 99), term(5, 6), term(6, 5)];
        let sorted = terms(&values, "category");
        let pairs: Vec<(&str, &str)> = sorted.iter().map(|term| (&*term.slug, &*term.parent)).collect();
        assert_eq!(pairs, [("t3", ""), ("t4", ""), ("t2", "t3"), ("t1", "t2")]);
    }

    #[test]
    fn comments_are_read_with_and_without_their_stored_texts() {
        let shown = json!({"id": 3, "author_name": "A", "status": "approved", "content": {"rendered": "<p>Hi &#8211; you</p>\n"}});
        assert_eq!((&*comment(&shown).content, &*comment(&shown).approved), ("Hi – you", "1"));
        let stored = json!({"id": 3, "status": "hold", "content": {"raw": "a <b>", "rendered": "<p>x</p>"}, "author_email": "a@b.c"});
        assert_eq!((&*comment(&stored).content, &*comment(&stored).approved), ("a <b>", "0"));
    }
}
