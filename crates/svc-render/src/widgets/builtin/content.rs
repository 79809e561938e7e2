//! Block and Custom HTML widgets.

use svc_php::Php;
use svc_site::{SiteResult, sanitize, widgets::instance::Instance};
use svc_text::{Html, esc_attr, esc_textarea, html};

use crate::{
    blocks::with_blocks,
    content as render,
    renderer::widget_types::{WidgetContext, WidgetType},
};

/// Content to store: as it is for users with `unfiltered_html`, otherwise with the HTML that posts may contain.
pub(crate) fn sanitized_content(text: &str, unfiltered_html: bool) -> Php {
    Php::from(sanitize::content(text, !unfiltered_html).as_str())
}

/// The sanitized content. As in WordPress, content that is not set is null, unless it is filtered.
fn content(new: &Instance, unfiltered_html: bool) -> Php {
    match new.get("content") {
        None if unfiltered_html => Php::Null,
        _ => sanitized_content(&new.text("content"), unfiltered_html),
    }
}

/// The sanitized title.
pub(crate) fn title(new: &Instance) -> Php {
    Php::from(svc_text::sanitize_text_field(&new.text("title")).as_str())
}

/// The Block widget. It contains any number of blocks.
pub(crate) struct Block;

/// Class names of the classic widgets with the same output, by block type.
const CLASSES: [(&str, &str); 14] = [
    ("core/paragraph", "widget_text"),
    ("core/calendar", "widget_calendar"),
    ("core/search", "widget_search"),
    ("core/html", "widget_custom_html"),
    ("core/archives", "widget_archive"),
    ("core/latest-posts", "widget_recent_entries"),
    ("core/latest-comments", "widget_recent_comments"),
    ("core/tag-cloud", "widget_tag_cloud"),
    ("core/categories", "widget_categories"),
    ("core/audio", "widget_media_audio"),
    ("core/video", "widget_media_video"),
    ("core/image", "widget_media_image"),
    ("core/gallery", "widget_media_gallery"),
    ("core/rss", "widget_rss"),
];

impl WidgetType for Block {
    fn id_base(&self) -> &str {
        "block"
    }

    fn name(&self) -> &str {
        "Block"
    }

    fn description(&self) -> &str {
        "Shows a block."
    }

    fn class(&self) -> &str {
        "widget_block"
    }

    fn classes_of(&self, instance: &Instance) -> Vec<&'static str> {
        let content = instance.text("content");
        let blocks = svc_content::blocks::parse(&content);
        let first = blocks.first().and_then(|block| block.name.as_deref()).unwrap_or_default();
        CLASSES.iter().filter(|(block, _)| *block == first).map(|(_, class)| *class).collect()
    }

    fn update(&self, new: &Instance, old: Instance, unfiltered_html: bool) -> Instance {
        let mut instance = old;
        instance.set("content", content(new, unfiltered_html));
        instance
    }

    fn render(&self, context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
        let (renderer, settings, text) = (context.renderer, context.settings, instance.text("content"));
        let cx = context.db.cx().clone();
        with_blocks(renderer, settings, context.viewer, context.db, |blocks| {
            Some(render::widget_blocks(&cx, &renderer.site, settings, &text, blocks))
        })
    }

    fn form(&self, number: &str, instance: &Instance) -> Html {
        let number = esc_attr(number);
        let id = html!("widget-block-{}-content", number);
        html!(
            "<p>\n\t\t\t<label for=\"{id}\">\n\t\t\t\tBlock HTML:\t\t\t</label>\n\t\t\t<textarea id=\"{id}\" \
             name=\"widget-block[{}][content]\" rows=\"6\" cols=\"50\" class=\"widefat code\">{}</textarea>\n\t\t</p>",
            number,
            esc_textarea(&instance.text("content")),
            id = id
        )
    }
}

/// The Custom HTML widget: a title and HTML.
pub(crate) struct CustomHtml;

impl WidgetType for CustomHtml {
    fn id_base(&self) -> &str {
        "custom_html"
    }

    fn name(&self) -> &str {
        "Custom HTML"
    }

    fn description(&self) -> &str {
        "Shows custom HTML code."
    }

    fn class(&self) -> &str {
        "widget_custom_html"
    }

    fn update(&self, new: &Instance, old: Instance, unfiltered_html: bool) -> Instance {
        let mut instance = old;
        instance.set("title", title(new));
        instance.set("content", content(new, unfiltered_html));
        instance
    }

    fn render(&self, context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
        let title = context.title(instance, "");
        let content = Html::trusted(instance.text("content"), "stored as HTML: filtered when it was saved");
        Ok(Some(html!("{}<div class=\"textwidget custom-html-widget\">{}</div>", title, content)))
    }

    fn form(&self, number: &str, instance: &Instance) -> Html {
        let number = esc_attr(number);
        let (id, name) = (html!("widget-custom_html-{}", number), html!("widget-custom_html[{}]", number));
        html!(
            "<input id=\"{id}-title\" name=\"{name}[title]\" class=\"title sync-input\" type=\"hidden\" value=\"{}\" />\n\t\t\
             <textarea id=\"{id}-content\" name=\"{name}[content]\" class=\"content sync-input\" hidden>{}</textarea>",
            esc_attr(&instance.text("title")),
            esc_textarea(&instance.text("content")),
            id = id,
            name = name
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn content_that_is_not_sent_is_null_or_empty() {
        let instance = |value: &Value| Instance::from_json(value.as_object().unwrap());
        // Rows: the settings that are sent, and the stored ones of users with and without `unfiltered_html`.
        for (sent, unfiltered, filtered) in [
            (json!({"content": "<script>x</script>"}), json!("<script>x</script>"), json!("x")),
            (json!({"content": ""}), json!(""), json!("")),
            (json!({"content": null}), json!(null), json!("")),
            (json!({"title": "t", "text": "x"}), json!(null), json!("")),
        ] {
            for (unfiltered_html, expected) in [(true, unfiltered), (false, filtered)] {
                let widgets: [&dyn WidgetType; 2] = [&Block, &CustomHtml];
                for widget in widgets {
                    let updated =
                        widget.update(&instance(&sent), instance(&json!({"content": "old"})), unfiltered_html);
                    assert_eq!(Value::from(Php::Array(updated.0))["content"], expected, "{} {sent}", widget.id_base());
                }
            }
        }
    }
}
