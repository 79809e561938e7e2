//! The Text widget, written in the visual editor, or as HTML in the form from before WordPress 4.8.

use svc_content::{markup, tags};
use svc_php::Php;
use svc_site::{SiteResult, widgets::instance::Instance};
use svc_text::{Html, esc_attr, esc_textarea, html};

use crate::{
    content::{self as render, WidgetText},
    renderer::widget_types::{WidgetContext, WidgetType},
    widgets::builtin::content::{sanitized_content, title},
};

/// The Text widget: a title and a text.
pub(crate) struct Text;

/// The value of `filter` that WordPress 4.8.0 stored instead of `visual`.
const VISUAL_FILTER: &[u8] = b"content";

fn has_visual_filter(instance: &Instance) -> bool {
    matches!(instance.get("filter"), Some(Php::Bytes(filter)) if filter == VISUAL_FILTER)
}

impl WidgetType for Text {
    fn id_base(&self) -> &str {
        "text"
    }

    fn name(&self) -> &str {
        "Text"
    }

    fn description(&self) -> &str {
        "Shows formatted text."
    }

    fn class(&self) -> &str {
        "widget_text"
    }

    fn update(&self, new: &Instance, old: Instance, unfiltered_html: bool) -> Instance {
        let was_visual = has_visual_filter(&old) || has_visual_filter(new);
        let mut instance = old;
        instance.set("title", title(new));
        instance.set("text", sanitized_content(&new.text("text"), unfiltered_html));
        instance.set("filter", Php::Bool(new.is_on("filter")));
        if was_visual {
            instance.set("visual", Php::Bool(true));
        }
        if new.get("visual").is_some() {
            instance.set("visual", Php::Bool(new.is_on("visual")));
        }
        // Text of the visual editor always gets automatic paragraphs.
        if instance.is_on("visual") {
            instance.set("filter", Php::Bool(true));
        }
        instance
    }

    fn render(&self, context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
        let is_visual = instance.is_on("visual") && instance.is_on("filter") || has_visual_filter(instance);
        let written =
            if is_visual { WidgetText::Visual } else { WidgetText::Html { paragraphs: instance.is_on("filter") } };
        let text = instance.text("text");
        let text = if text == "0" { "" } else { &text };
        let html =
            fluid_media(&render::widget_text(context.db.cx(), &context.renderer.site, context.settings, text, written));
        let title = context.title(instance, "");
        Ok(Some(html!("{}\t\t\t<div class=\"textwidget\">{}</div>\n\t\t", title, html)))
    }

    fn form(&self, number: &str, instance: &Instance) -> Html {
        if is_legacy(instance) { html_form(number, instance) } else { visual_form(number, instance) }
    }
}

fn id(number: &str, setting: &'static str) -> Html {
    html!("widget-text-{}-{}", esc_attr(number), setting)
}

fn name(number: &str, setting: &'static str) -> Html {
    html!("widget-text[{}][{}]", esc_attr(number), setting)
}

/// The form for the visual editor, which synchronizes with these fields.
fn visual_form(number: &str, instance: &Instance) -> Html {
    let hidden = |setting: &'static str, value: &str| {
        html!(
            "<input id=\"{}\" name=\"{}\" class=\"{} sync-input\" type=\"hidden\" value=\"{}\">",
            id(number, setting),
            name(number, setting),
            setting,
            esc_attr(value)
        )
    };
    let text = html!(
        "<textarea id=\"{}\" name=\"{}\" class=\"text sync-input\" hidden>{}</textarea>",
        id(number, "text"),
        name(number, "text"),
        inside_textarea(&instance.text("text"))
    );
    let rows = [hidden("title", &instance.text("title")), text, hidden("filter", "on"), hidden("visual", "on")];
    Html::join(rows, "\n\t\t\t")
}

/// The form for text written as HTML.
fn html_form(number: &str, instance: &Instance) -> Html {
    let (id, name) = (|setting: &'static str| id(number, setting), |setting: &'static str| name(number, setting));
    let checked = if instance.is_on("filter") { " checked='checked'" } else { "" };
    let notice = if instance.get("visual").is_none() {
        "This widget contains code. Consider the &#8220;Custom HTML&#8221; widget for it."
    } else {
        "If this widget contained code, consider the &#8220;Custom HTML&#8221; widget for it."
    };
    html!(
        "<input id=\"{visual_id}\" name=\"{visual_name}\" class=\"visual\" type=\"hidden\" value=\"\">\n\
         \t\t\t<p>\n\
         \t\t\t\t<label for=\"{title_id}\">Title:</label>\n\
         \t\t\t\t<input class=\"widefat\" id=\"{title_id}\" name=\"{title_name}\" type=\"text\" value=\"{title}\" />\n\
         \t\t\t</p>\n\
         \t\t\t<div class=\"notice notice-info notice-alt inline\"><p>{notice}</p></div>\t\t\t<p>\n\
         \t\t\t\t<label for=\"{text_id}\">Content:</label>\n\
         \t\t\t\t<textarea class=\"widefat\" rows=\"16\" cols=\"20\" id=\"{text_id}\" name=\"{text_name}\">{text}</textarea>\n\
         \t\t\t</p>\n\
         \t\t\t<p>\n\
         \t\t\t\t<input id=\"{filter_id}\" name=\"{filter_name}\" type=\"checkbox\"{checked} />&nbsp;<label \
         for=\"{filter_id}\">Automatically add paragraphs</label>\n\
         \t\t\t</p>",
        visual_id = id("visual"),
        visual_name = name("visual"),
        title_id = id("title"),
        title_name = name("title"),
        title = esc_attr(&instance.text("title")),
        text_id = id("text"),
        text_name = name("text"),
        text = esc_textarea(&instance.text("text")),
        filter_id = id("filter"),
        filter_name = name("filter"),
        notice = notice,
        checked = checked
    )
}

/// Text as the content of a `textarea`: only closing `textarea` tags are escaped.
fn inside_textarea(text: &str) -> Html {
    const END: &str = "</textarea";
    let lower = text.to_ascii_lowercase();
    let (mut out, mut rest) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices(END) {
        out.push_str(&text[rest..at]);
        out.push_str("&lt;/textarea");
        rest = at + END.len();
    }
    out.push_str(&text[rest..]);
    Html::trusted(out, "in a `textarea`, only its closing tag is markup, and that is escaped")
}

/// Makes videos and iframes as wide as the widget: removes their size attributes and sets widths in styles to `100%`.
fn fluid_media(html: &Html) -> Html {
    let mut out = String::with_capacity(html.len());
    for (kind, piece) in markup::html_split(html) {
        let name =
            piece.get(1..).unwrap_or_default().split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
        let is_media = ["video", "iframe", "object", "embed"].iter().any(|tag| name.eq_ignore_ascii_case(tag));
        if kind == markup::MarkupKind::Text || !is_media || name.len() + 1 == piece.len() {
            out.push_str(piece);
        } else {
            out.push_str(&full_width(&without_size(&without_size(piece, "height"), "width")));
        }
    }
    Html::trusted(out, "the widget's HTML with other sizes")
}

/// A tag without an attribute such as ` height="12"`.
fn without_size(tag: &str, attribute: &str) -> String {
    let start = format!("{attribute}=\"");
    let mut out = String::with_capacity(tag.len());
    let mut rest = tag;
    while let Some(at) = rest.find(&start) {
        let (before, found) = rest.split_at(at);
        let value = &found[start.len()..];
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        let is_spaced = before.ends_with(|c: char| c.is_ascii_whitespace());
        if is_spaced && digits > 0 && value[digits..].starts_with('"') {
            out.push_str(&before[..before.len() - 1]);
            rest = &value[digits + 1..];
        } else {
            out.push_str(before);
            out.push_str(&start);
            rest = value;
        }
    }
    out.push_str(rest);
    out
}

/// Replaces `width: 12px` in a tag with `width:100%`.
fn full_width(tag: &str) -> String {
    const WIDTH: &str = "width:";
    let mut out = String::with_capacity(tag.len());
    let mut rest = tag;
    while let Some(at) = rest.find(WIDTH) {
        let (before, value) = rest.split_at(at + WIDTH.len());
        out.push_str(before);
        let trimmed = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        rest = match trimmed[digits..].strip_prefix("px") {
            Some(after) if digits > 0 => {
                out.push_str("100%");
                after
            }
            _ => value,
        };
    }
    out.push_str(rest);
    out
}

/// Elements that the visual editor supports, with their supported attributes.
const SAFE: [(&str, &[&str]); 16] = [
    ("strong", &[]),
    ("em", &[]),
    ("b", &[]),
    ("i", &[]),
    ("u", &[]),
    ("s", &[]),
    ("ul", &[]),
    ("ol", &[]),
    ("li", &[]),
    ("hr", &[]),
    ("abbr", &[]),
    ("acronym", &[]),
    ("code", &[]),
    ("dfn", &[]),
    ("a", &["href"]),
    ("img", &["src", "alt"]),
];
/// Void elements among them.
const VOID: [&str; 2] = ["hr", "img"];
/// Nesting depth beyond which a text is always edited as HTML.
const MAX_DEPTH: usize = 100;

/// Whether the text is edited as HTML: it was stored that way, or the visual editor could lose markup.
///
/// Source: `WP_Widget_Text::is_legacy_instance`.
fn is_legacy(instance: &Instance) -> bool {
    if instance.get("visual").is_some() {
        return !instance.is_on("visual");
    }
    let text = instance.text("text");
    if has_visual_filter(instance) || matches!(text.as_str(), "" | "0") {
        return false;
    }
    if !instance.is_on("filter") && svc_text::trim(&text).contains('\n') {
        return true;
    }
    text.contains("<!--") || !is_simple(&text)
}

/// Whether the visual editor supports this HTML: only [`SAFE`] elements and attributes, and no empty elements.
fn is_simple(html: &str) -> bool {
    // Open elements, and whether they contain text.
    let mut open: Vec<(String, bool)> = Vec::new();
    let close = |open: &mut Vec<(String, bool)>| {
        let has_text = open.pop().is_some_and(|(_, has_text)| has_text);
        if let Some((_, outer)) = open.last_mut() {
            *outer |= has_text;
        }
        has_text
    };
    for (kind, piece) in markup::html_split(html) {
        let is_markup = kind == markup::MarkupKind::Tag;
        if let Some(name) = piece.strip_prefix("</").filter(|_| is_markup) {
            let name = name.trim_end_matches('>').trim();
            let Some(at) = open.iter().rposition(|(own, _)| own.eq_ignore_ascii_case(name)) else { continue };
            while open.len() > at {
                if !close(&mut open) {
                    return false;
                }
            }
        } else if is_markup && piece[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            let Some(tag) = tags::Tags::new(piece).next() else { return false };
            let name = tag.name(piece).to_ascii_lowercase();
            let Some((_, attributes)) = SAFE.iter().find(|(safe, _)| *safe == name) else { return false };
            if !tag.attribute_names(piece).all(|own| attributes.iter().any(|safe| own.eq_ignore_ascii_case(safe))) {
                return false;
            }
            if !VOID.contains(&name.as_str()) {
                open.push((name, false));
            }
            if open.len() > MAX_DEPTH {
                return false;
            }
        } else if !svc_text::trim(piece).is_empty()
            && let Some((_, has_text)) = open.last_mut()
        {
            *has_text = true;
        }
    }
    while !open.is_empty() {
        if !close(&mut open) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn instance(settings: serde_json::Value) -> Instance {
        Instance::from_json(settings.as_object().unwrap())
    }

    #[test]
    fn detects_texts_that_are_edited_as_html() {
        for (settings, legacy) in [
            (json!({"text": ""}), false),
            (json!({"text": "plain"}), false),
            (json!({"text": "one\n\ntwo"}), true),
            (json!({"text": "one\n\ntwo", "filter": true}), false),
            (json!({"text": "one\n\ntwo", "filter": "content"}), false),
            (json!({"text": "<div>x</div>", "filter": "content"}), false),
            (json!({"text": "x", "visual": false}), true),
            (json!({"text": "<div>x</div>", "visual": true}), false),
            (json!({"text": "x <!-- y -->"}), true),
            (json!({"text": "<b>x</b> <i><u>y</u></i> <a href=\"z\">z</a> <img src=x alt=y> <hr>"}), false),
            (json!({"text": "<B>x</B> a < b"}), false),
            (json!({"text": "<p>x</p>"}), true),
            (json!({"text": "<b></b>"}), true),
            (json!({"text": "<b> <i></i></b>"}), true),
            (json!({"text": "<b>x"}), false),
            (json!({"text": "<b class=x>x</b>"}), true),
            (json!({"text": "<a href=x target=y>x</a>"}), true),
            (json!({"text": "<img src=x width=1>"}), true),
            (json!({"text": "<iframe src=x></iframe>"}), true),
            (json!({"text": "<b>".repeat(100_000)}), true),
        ] {
            assert_eq!(is_legacy(&instance(settings.clone())), legacy, "{:.80}", settings.to_string());
        }
    }

    #[test]
    fn closing_textarea_tags_are_escaped() {
        assert_eq!(inside_textarea("a</TextArea><b></textarea >"), "a&lt;/textarea><b>&lt;/textarea >");
    }

    #[test]
    fn media_are_as_wide_as_the_widget() {
        for (html, expected) in [
            (
                "<p><iframe width=\"300\" height=\"200\" src=\"x\" style=\"width: 300px; height:2px\"></iframe>",
                "<p><iframe src=\"x\" style=\"width:100%; height:2px\"></iframe>",
            ),
            ("<VIDEO width=\"5\" height='7' src=x></VIDEO>", "<VIDEO height='7' src=x></VIDEO>"),
            ("<img width=\"5\" height=\"7\">", "<img width=\"5\" height=\"7\">"),
            ("<object width=\"5%\" data-width=\"3\">", "<object width=\"5%\" data-width=\"3\">"),
            ("<embed>width=\"5\"", "<embed>width=\"5\""),
        ] {
            assert_eq!(fluid_media(&html.into()), expected);
        }
    }

    #[test]
    fn settings_of_wordpress_4_8_0_use_the_visual_editor() {
        let updated = |old: serde_json::Value, new: serde_json::Value| {
            let instance = Text.update(&instance(new), instance(old), true);
            (instance.is_on("visual"), instance.is_on("filter"))
        };
        assert_eq!(updated(json!({"filter": "content"}), json!({"text": "x"})), (true, true));
        assert_eq!(updated(json!({}), json!({"text": "x", "filter": "content"})), (true, true));
        assert_eq!(updated(json!({}), json!({"text": "x", "filter": "on"})), (false, true));
        assert_eq!(updated(json!({"filter": "content"}), json!({"text": "x", "visual": ""})), (false, false));
    }
}
