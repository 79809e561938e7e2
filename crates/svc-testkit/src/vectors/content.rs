//! Test vectors for the text functions of svc-content.

use serde_json::Value;
use svc_blocks::CoreBlocks;
use svc_content::{
    RenderContext, autop,
    balance::balance_tags,
    block_render::Renderer,
    blocks::BlockTypes,
    clickable::{LinkRel, make_clickable},
    display::{self, TextBlocks, standard_shortcodes},
    excerpt,
    links::{add_rel, add_target},
    markup::{MarkupKind, html_split},
    shortcodes, smilies, texturize,
};

use super::{
    Outcome, Vector,
    block_data::{OWN_HOST, RecordedSite, SMILIES_URL},
};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    let text = vector.text(0);
    let registered = standard_shortcodes();
    Some(match vector.function.as_str() {
        "wptexturize" => texturize(text, registered).into(),
        "wpautop" => autop(text, vector.arg(1).as_bool().unwrap_or(true)).into(),
        "shortcode_unautop" => shortcodes::unautop(text, registered).into(),
        "strip_shortcodes" => registered.strip(text).into_owned().into(),
        "convert_smilies" => smilies::smilies(text, SMILIES_URL).into(),
        "convert_chars" => display::convert_chars(text).into(),
        "capital_P_dangit" => display::capital_p(text).into(),
        "make_clickable" => make_clickable(text, LinkRel { own_host: OWN_HOST, ugc: false }).into(),
        "force_balance_tags" => balance_tags(text).into(),
        "balanceTags" if vector.arg(1) == true => balance_tags(text).into(),
        "wp_trim_words" => {
            let words = vector.arg(1).as_u64().unwrap_or(55) as usize;
            excerpt::trim_words(text, words, vector.arg(2).as_str().unwrap_or("&hellip;")).into()
        }
        "wp_html_excerpt" => {
            let chars = vector.arg(1).as_u64().unwrap_or(0) as usize;
            excerpt::html_excerpt(text, chars, vector.text(2)).into()
        }
        "wp_html_split" => split_html(text).into(),
        "wp_rel_nofollow" => on_slashed_text(text, |text| add_rel(text, "nofollow", OWN_HOST)),
        "wp_rel_ugc" => on_slashed_text(text, |text| add_rel(text, "nofollow ugc", OWN_HOST)),
        "links_add_target" => {
            let names = vector.arg(2).as_array().map(Vec::as_slice).unwrap_or_default();
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            add_target(text, vector.arg(1).as_str().unwrap_or("_blank"), &names).into()
        }
        "filter:the_title" => display::render_title(text).into_string().into(),
        name => return with_context(|context| in_context(name, vector, context)),
    })
}

/// Calls a function whose WordPress counterpart takes and returns slashed text.
fn on_slashed_text(text: &str, call: impl FnOnce(&str) -> String) -> Outcome {
    svc_text::slash(&call(&svc_text::unslash(text))).into()
}

/// Splits HTML. WordPress alternates text and markup, so text may be empty.
fn split_html(text: &str) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for (kind, part) in html_split(text) {
        if kind != MarkupKind::Text && out.len().is_multiple_of(2) {
            out.push("".into());
        }
        out.push(part.into());
    }
    if out.len().is_multiple_of(2) {
        out.push("".into());
    }
    out
}

fn in_context(name: &str, vector: &Vector, context: &RenderContext<'_>) -> Option<Outcome> {
    let (text, second) = (vector.text(0), vector.text(1));
    Some(match name {
        "filter:the_content" => display::render_content(text, context).into_string().into(),
        "filter:the_excerpt" => display::render_manual_excerpt(text, context).into_string().into(),
        "filter:comment_text" => display::render_comment(text, context).into_string().into(),
        "filter:term_description" => display::render_term_description(text, context).into_string().into(),
        "filter:widget_text_content" => display::render_widget_text(text, context).into_string().into(),
        "wp_trim_excerpt" if !svc_text::trim(text).is_empty() => text.into(),
        "wp_trim_excerpt" => svc_content::trim_excerpt(second, context.excerpt_length, context).into_string().into(),
        "rendered_excerpt" => display::render_excerpt(text, second, context).into_string().into(),
        _ => return None,
    })
}

/// Renders as the recorded site does, whose theme is Twenty Twenty-Five.
fn with_context<T>(run: impl FnOnce(&RenderContext<'_>) -> T) -> T {
    let theme = super::blocks::recorded_theme();
    let site = RecordedSite::new();
    let blocks = CoreBlocks::new(BlockTypes::core(), &site);
    let dynamic = TextBlocks(&blocks);
    let mut context = RenderContext::new(Renderer::new(&theme, &dynamic), standard_shortcodes());
    (context.smilies_url, context.own_host) = (SMILIES_URL, OWN_HOST);
    run(&context)
}
