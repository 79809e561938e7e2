//! Widgets and sidebars, in process, on the recorded fixture with its three sidebars.

use crate::harness::{ADMIN, EDITOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_routing::Method;
use svc_site::widgets::sidebar::Sidebar;
use svc_store::options;
use svc_versions::Context;

/// The recorded site with its sidebars registered.
fn site() -> Harness {
    Harness::with(|setup| {
        let main = Sidebar::new("sidebar-main", "Main Sidebar")
            .around_widgets("<section id=\"%1$s\" class=\"widget %2$s\">", "</section>")
            .around_titles("<h2 class=\"widget-title\">", "</h2>");
        let public = Sidebar::new("sidebar-public", "Public Area").in_rest();
        for sidebar in [main, Sidebar::new("sidebar-footer", "Footer Area"), public] {
            setup.registries.sidebars.insert(sidebar.id().to_owned(), sidebar);
        }
    })
}

/// Stores an option in PHP's serialized form.
async fn store(h: &Harness, option: &'static str, value: Value) {
    let text = svc_store::StoredText::of(value);
    h.site.write(&Context::background(), move |tx| Ok(options::set(tx, option, &text, true)?)).await.unwrap();
}

/// The stored value of an option.
fn stored(h: &Harness, option: &str) -> Value {
    h.site.read(&Context::background(), |db| Ok(options::get(db, option)?)).unwrap().unwrap().json()
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_preserve_unregistered_sidebars_and_widgets() {
    let before = json!({
        "theme-left": ["search-9", "plugin_cart-2", "meta-2"],
        "wp_inactive_widgets": ["block-4"],
        "sidebar-main": ["plugin_menu-3", "block-2", "text-2"],
        "theme-right": [],
        "not-a-list": "x",
        "sidebar-footer": ["block-3"],
        "array_version": 3,
    });
    let rows = [
        (
            Method::POST,
            "/svc/v2/widgets",
            json!({"id_base": "text", "sidebar": "sidebar-main", "instance": {"raw": {"title": "x"}}}),
        ),
        (Method::PUT, "/svc/v2/widgets/text-2", json!({"instance": {"raw": {"title": "x", "text": "y"}}})),
        (Method::PUT, "/svc/v2/widgets/text-2", json!({"sidebar": "sidebar-footer"})),
        (Method::DELETE, "/svc/v2/widgets/text-2", json!({})),
        (Method::DELETE, "/svc/v2/widgets/text-2", json!({"force": true})),
        (Method::PUT, "/svc/v2/sidebars/sidebar-main", json!({"widgets": []})),
        (Method::PUT, "/svc/v2/sidebars/wp_inactive_widgets", json!({"widgets": ["meta-2", "block-4"]})),
    ];
    for (method, route, body) in rows {
        let h = site();
        store(&h, "sidebars_widgets", before.clone()).await;
        let response = h.json(ADMIN, method.clone(), route, body.clone()).await;
        assert!(response.status < 300, "{method} {route} {body}: {:?}", response.body);
        let after = stored(&h, "sidebars_widgets");
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let remaining: Vec<String> = keys(&after).into_iter().filter(|key| key != "sidebar-public").collect();
        assert_eq!(remaining, keys(&before), "{method} {route} {body}");
        for name in ["theme-left", "theme-right", "not-a-list", "array_version"] {
            assert_eq!(after[name], before[name], "{method} {route} {body}: {name}");
        }
        assert_eq!(after["sidebar-main"][0], "plugin_menu-3", "{method} {route} {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_require_a_capability_unless_a_sidebar_is_public() {
    let routes = ["/svc/v2/widgets", "/svc/v2/sidebars"];
    let public = site();
    for route in routes {
        for user in [NOBODY, EDITOR, ADMIN] {
            assert_eq!(public.get(user, route, "").await.status, 200, "{route} by {user}");
        }
    }
    // If the option is empty, no sidebar is listed, not even a public one.
    for empty in [json!([]), json!({"array_version": 3}), json!("")] {
        store(&public, "sidebars_widgets", empty).await;
        for route in routes {
            for (user, status) in [(NOBODY, 401), (EDITOR, 403)] {
                let response = public.get(user, route, "").await;
                assert_eq!(
                    (response.status, response.code()),
                    (status, "rest_cannot_manage_widgets"),
                    "{route} by {user}"
                );
            }
            assert_eq!(public.get(ADMIN, route, "").await.body, json!([]), "{route}");
        }
        assert_eq!(public.get(NOBODY, "/svc/v2/widgets", "sidebar=sidebar-public").await.body, json!([]));
        let one = public.get(ADMIN, "/svc/v2/widgets/text-2", "").await;
        assert_eq!((one.status, one.code()), (404, "rest_widget_not_found"));
        assert_eq!(public.get(ADMIN, "/svc/v2/sidebars/sidebar-main", "").await.status, 200);
    }
    let private = Harness::with(|setup| {
        setup.registries.sidebars.insert("sidebar-main".to_owned(), Sidebar::new("sidebar-main", "Main"));
    });
    for route in routes {
        for (user, status) in [(NOBODY, 401), (EDITOR, 403)] {
            let response = private.get(user, route, "").await;
            assert_eq!((response.status, response.code()), (status, "rest_cannot_manage_widgets"), "{route} by {user}");
        }
        assert_eq!(private.get(ADMIN, route, "").await.status, 200, "{route}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sidebars_are_listed_inactive_first_then_as_registered() {
    let h = site();
    let widgets = json!({"sidebar-public": ["archives-2"], "theme": ["block-2"], "sidebar-main": ["text-2"], "wp_inactive_widgets": ["block-4"]});
    store(&h, "sidebars_widgets", widgets).await;
    let list = h.get(ADMIN, "/svc/v2/sidebars", "_fields=id,widgets").await.body;
    let expected = json!([
        {"id": "wp_inactive_widgets", "widgets": ["meta-2", "block-3", "block-4", "block-2"]},
        {"id": "sidebar-main", "widgets": ["text-2"]},
        {"id": "sidebar-footer", "widgets": []},
        {"id": "sidebar-public", "widgets": ["archives-2"]},
    ]);
    assert_eq!(list, expected);
}

/// Returns a function that reads a field of a widget in context `edit`, as an administrator. Removes scripts, which differ
/// from WordPress's.
async fn rendered(h: &Harness) -> impl Fn(&str, &str) -> String {
    let list = h.get(ADMIN, "/svc/v2/widgets", "context=edit").await.body;
    move |id: &str, field: &str| {
        let item = list.as_array().unwrap().iter().find(|item| item["id"] == id).cloned().unwrap_or_default();
        let text = item[field].as_str().unwrap_or_default().to_owned();
        match (text.find("<script>"), text.find("</script>\n")) {
            (Some(start), Some(end)) => format!("{}{}", &text[..start], &text[end + "</script>\n".len()..]),
            _ => text,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_widgets_render_html() {
    let h = site();
    #[rustfmt::skip]
    let rows = [
        ("text-2", json!({"title": "", "text": "plain <b>x</b> [gallery] & \"q\"\n\nsecond :)"}),
            "plain <b>x</b>  & \"q\"\n\nsecond :)"),
        ("text-3", json!({"title": "0", "text": "one\ntwo\n\nthree <iframe width=\"300\" height=\"200\" src=\"https://e.x/\" style=\"width: 300px\"></iframe>", "filter": true}),
            "<p>one<br />\ntwo</p>\n<p>three <iframe src=\"https://e.x/\" style=\"width:100%\"></iframe></p>\n"),
        ("text-4", json!({"title": "", "text": "one \"q\"\ntwo\n\nthree", "filter": "content"}),
            "<p>one &#8220;q&#8221;<br />\ntwo</p>\n<p>three</p>\n"),
        ("text-5", json!({"title": "", "text": "one \"q\"\ntwo\n\nthree", "visual": true, "filter": false}),
            "one \"q\"\ntwo\n\nthree"),
        ("text-6", json!({"title": "", "text": "one \"q\"\ntwo", "visual": false, "filter": true}),
            "<p>one \"q\"<br />\ntwo</p>\n"),
        ("text-8", json!({"text": "[caption width=\"100\"]<img src=\"x.png\" width=\"10\" height=\"10\"> cap[/caption]"}),
            "<figure style=\"width: 100px\" class=\"wp-caption alignnone\"><img src=\"x.png\" width=\"10\" height=\"10\"><figcaption class=\"wp-caption-text\">cap</figcaption></figure>"),
        ("text-10", json!({"text": "<p>safe <video width=\"5\" height='7' src=x></video></p>", "filter": true, "visual": true}),
            "<p>safe <video height='7' src=x></video></p>\n"),
    ];
    let number = |id: &str| id.rsplit_once('-').unwrap().1.to_owned();
    let mut all: serde_json::Map<String, Value> = rows.iter().map(|(id, set, _)| (number(id), set.clone())).collect();
    all.insert("_multiwidget".to_owned(), json!(1));
    store(&h, "widget_text", all.into()).await;
    let ids: Vec<&str> = rows.iter().map(|(id, ..)| *id).collect();
    store(&h, "sidebars_widgets", json!({"wp_inactive_widgets": [], "sidebar-main": ids})).await;
    let field = rendered(&h).await;
    for (id, _, text) in &rows {
        let expected = format!(
            "<section id=\"{id}\" class=\"widget widget_text\">\t\t\t<div class=\"textwidget\">{text}</div>\n\t\t</section>"
        );
        assert_eq!(field(id, "rendered"), expected);
    }
    // Markup that the visual editor might remove is edited as HTML.
    let form = field("text-2", "rendered_form");
    assert!(form.starts_with("<input id=\"widget-text-2-visual\" name=\"widget-text[2][visual]\""), "{form}");
    assert!(form.contains(
        "name=\"widget-text[2][text]\">plain &lt;b&gt;x&lt;/b&gt; [gallery] &amp; &quot;q&quot;\n\nsecond :)</textarea>"
    ));
    assert!(
        form.contains("<input id=\"widget-text-2-filter\" name=\"widget-text[2][filter]\" type=\"checkbox\" />&nbsp;")
    );
    assert!(field("text-3", "rendered_form").contains("type=\"checkbox\" checked='checked' />&nbsp;"));
    assert!(field("text-4", "rendered_form").contains("class=\"text sync-input\" hidden>one \"q\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropdowns_have_labels_and_ids() {
    let h = site();
    let home = h.site.settings(&Context::background()).unwrap().urls.site.home_url("");
    let archives = json!({"3": {"title": "Arch & <b>", "count": 1, "dropdown": 1}, "4": {"title": "0", "dropdown": 1}, "_multiwidget": 1});
    let categories = json!({"3": {"title": "Cats", "count": 1, "dropdown": 1, "hierarchical": 1}, "4": {"dropdown": 1}, "_multiwidget": 1});
    store(&h, "widget_archives", archives).await;
    store(&h, "widget_categories", categories).await;
    let ids = json!(["archives-3", "archives-4", "categories-3", "categories-4"]);
    store(&h, "sidebars_widgets", json!({"wp_inactive_widgets": [], "sidebar-main": ids})).await;
    let field = rendered(&h).await;
    let start = "<section id=\"archives-3\" class=\"widget widget_archive\"><h2 class=\"widget-title\">Arch &#038; &lt;b&gt;</h2>\t\t<label class=\"screen-reader-text\" for=\"archives-dropdown-3\">Arch &#038; &lt;b&gt;</label>\n\t\t<select id=\"archives-dropdown-3\" name=\"archive-dropdown\">\n\t\t\t\n\t\t\t<option value=\"\">Select Month</option>\n\t\t\t\t";
    let months = field("archives-3", "rendered");
    assert!(months.starts_with(start), "{months}");
    assert!(
        months.contains(&format!("\t<option value='{home}/2024/03/'> March 2024 &nbsp;(14)</option>\n")),
        "{months}"
    );
    assert!(months.ends_with("</option>\n\n\t\t</select>\n\n\t\t\t</section>"), "{months}");
    let plain = field("archives-4", "rendered");
    assert!(plain.contains("<h2 class=\"widget-title\">Archives</h2>"), "the title 0 counts as empty: {plain}");
    assert!(plain.contains(&format!("\t<option value='{home}/2024/01/'> January 2024 </option>\n")), "{plain}");
    let nested = field("categories-3", "rendered");
    let start = format!(
        "<section id=\"categories-3\" class=\"widget widget_categories\"><h2 class=\"widget-title\">Cats</h2><form action=\"{home}\" method=\"get\"><label class=\"screen-reader-text\" for=\"cat\">Cats</label><select  name='cat' id='cat' class='postform'>\n\t<option value='-1'>Select Category</option>\n"
    );
    assert!(nested.starts_with(&start), "{nested}");
    let rows = [
        "\t<option class=\"level-0\" value=\"2\">News&nbsp;&nbsp;(",
        "\t<option class=\"level-1\" value=\"3\">&nbsp;&nbsp;&nbsp;World&nbsp;&nbsp;(21)</option>\n",
        "\t<option class=\"level-2\" value=\"7\">&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;Asia&nbsp;&nbsp;(8)</option>\n",
        "</select>\n</form></section>",
    ];
    for row in rows {
        assert!(nested.contains(row), "{row}: {nested}");
    }
    let second = field("categories-4", "rendered");
    assert!(second.contains("id='categories-dropdown-4'") && second.contains("value=\"7\">Asia</option>"), "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn images_in_block_widgets_load_asynchronously() {
    let h = site();
    let widget =
        json!({"id_base": "block", "sidebar": "sidebar-main", "instance": {"raw": {"content": "<img src=\"x\">"}}});
    let response = h.json(ADMIN, Method::POST, "/svc/v2/widgets", widget).await;
    let rendered = response.body["rendered"].as_str().unwrap();
    assert!(rendered.contains("<img decoding=\"async\" src=\"x\">"), "{rendered}");
}

/// The sidebar of a new widget without settings is kept until the next change.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_widget_without_settings_is_stored_as_inactive_until_the_next_change() {
    let h = site();
    let inactive = || stored(&h, "sidebars_widgets")["wp_inactive_widgets"].clone();
    assert_eq!(inactive(), json!(["block-4"]));
    let widget = json!({"id_base": "text", "sidebar": "sidebar-main"});
    assert_eq!(h.json(ADMIN, Method::POST, "/svc/v2/widgets", widget).await.body["id"], "text-3");
    assert_eq!(inactive(), json!(["text-3", "block-4"]));
    assert_eq!(h.json(ADMIN, Method::GET, "/svc/v2/widgets/text-3", json!({})).await.status, 404);
    let change = json!({"sidebar": "sidebar-footer"});
    assert_eq!(h.json(ADMIN, Method::PUT, "/svc/v2/widgets/text-2", change).await.status, 200);
    assert_eq!(inactive(), json!(["block-4"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn widgets_of_an_unregistered_sidebar_become_inactive() {
    let h = site();
    let response =
        h.json(ADMIN, Method::PUT, "/svc/v2/sidebars/nosuch", json!({"widgets": ["text-2", "nosuch-9"]})).await;
    assert_eq!((response.status, &response.body["widgets"]), (200, &json!([])));
    let sidebars = stored(&h, "sidebars_widgets");
    assert_eq!(sidebars["wp_inactive_widgets"], json!(["block-4", "text-2"]));
    assert!(!sidebars["sidebar-main"].to_string().contains("text-2"), "{sidebars}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_of_simple_widgets_have_the_white_space_of_wordpress() {
    let h = site();
    for (kind, expected) in [
        (
            "search",
            "<p>\n\t\t\t<label for=\"widget-search-1-title\">Title:</label>\n\t\t\t<input class=\"widefat\" id=\"widget-search-1-title\" name=\"widget-search[1][title]\" type=\"text\" value=\"\" />\n\t\t</p>",
        ),
        (
            "custom_html",
            "<input id=\"widget-custom_html-1-title\" name=\"widget-custom_html[1][title]\" class=\"title sync-input\" type=\"hidden\" value=\"\" />\n\t\t<textarea id=\"widget-custom_html-1-content\" name=\"widget-custom_html[1][content]\" class=\"content sync-input\" hidden></textarea>",
        ),
    ] {
        let route = format!("/svc/v2/widget-types/{kind}/encode");
        assert_eq!(h.json(ADMIN, Method::POST, &route, json!({"number": 1})).await.body["form"], expected, "{kind}");
    }
}

/// What WordPress stores for these forms, and how it renders the widgets.
#[tokio::test(flavor = "multi_thread")]
async fn list_widgets_are_stored_and_rendered_as_in_wordpress() {
    let h = site();
    let home = stored(&h, "home");
    for line in include_str!("../data/widget_previews.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let route = format!("/svc/v2/widget-types/{}/encode", row["id_base"].as_str().unwrap());
        let body = json!({"number": 1, "form_data": row["form_data"]});
        let encoded = h.json(ADMIN, Method::POST, &route, body).await.body;
        let preview = row["preview"].as_str().unwrap().replace("{home}", home.as_str().unwrap());
        assert_eq!(encoded["preview"], preview, "{line}");
        let stored =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, row["stored"].as_str().unwrap());
        assert_eq!(encoded["instance"]["encoded"], stored, "{line}");
    }
}

/// What WordPress responds for these stored sidebars, and the sidebars that it lists afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn stored_sidebars_are_listed_and_changed_as_in_wordpress() {
    let h = site();
    let texts = stored(&h, "widget_text");
    for line in include_str!("../data/sidebar_changes.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        store(&h, "widget_text", texts.clone()).await;
        store(&h, "sidebars_widgets", row["stored"].clone()).await;
        let method = Method::from_bytes(row["method"].as_str().unwrap().as_bytes()).unwrap();
        let route = format!("/svc/v2/{}", row["route"].as_str().unwrap());
        let body = Some(row["body"].clone()).filter(|body| !body.is_null()).unwrap_or_else(|| json!({}));
        let response = h.json(ADMIN, method, &route, body).await;
        assert_eq!(response.status, row["status"], "{line}: {:?}", response.body);
        for (name, value) in row["answer"].as_object().unwrap() {
            assert_eq!(&response.body[name], value, "{line}: {name}");
        }
        let listed = h.get(ADMIN, "/svc/v2/sidebars", "_fields=id,widgets").await.body;
        let listed: Vec<Value> =
            listed.as_array().unwrap().iter().map(|sidebar| json!([sidebar["id"], sidebar["widgets"]])).collect();
        assert_eq!(json!(listed), row["sidebars"], "{line}");
    }
}

/// The older form is that of WordPress for a theme without HTML5 markup.
#[tokio::test(flavor = "multi_thread")]
async fn the_search_form_is_html5_unless_the_theme_declares_otherwise() {
    let old = "id=\"searchform\" class=\"searchform\" action=\"{home}/\">\n\t\t\t\t<div>\n\t\t\t\t\t<label class=\"screen-reader-text\" for=\"s\">Search for:</label>\n\t\t\t\t\t<input type=\"text\" value=\"\" name=\"s\" id=\"s\" />\n\t\t\t\t\t<input type=\"submit\" id=\"searchsubmit\" value=\"Search\" />\n\t\t\t\t</div>\n\t\t\t</form>";
    let html5 = "class=\"search-form\" action=\"{home}/\">\n\t\t\t\t<label>\n";
    for (declared, form) in [
        (None, html5),
        (Some(json!(true)), html5),
        (Some(json!(["search-form", "gallery"])), html5),
        (Some(json!(["gallery"])), old),
        (Some(json!(false)), old),
    ] {
        let h = Harness::with(|setup| {
            setup.registries.theme_supports.extend(declared.clone().map(|value| ("html5".to_owned(), value)));
        });
        let form = form.replace("{home}", stored(&h, "home").as_str().unwrap());
        let body = json!({"form_data": "widget-search[-1][title]=Find"});
        let encoded = h.json(ADMIN, Method::POST, "/svc/v2/widget-types/search/encode", body).await.body;
        let preview = encoded["preview"].as_str().unwrap();
        let start = format!(
            "<div class=\"widget widget_search\"><h2 class=\"widgettitle\">Find</h2><form role=\"search\" method=\"get\" {form}"
        );
        assert!(preview.starts_with(&start), "{declared:?}: {preview}");
    }
}
