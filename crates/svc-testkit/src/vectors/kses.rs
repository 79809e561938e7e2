//! Test vectors for allowed HTML and the save filters of svc-content.

use serde_json::{Map, Value};
use svc_content::{
    css,
    kses::{self, AllowedHtml, Check, Rule},
    links::add_rel,
    save,
};

use super::{Outcome, Vector, block_data::OWN_HOST};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    let text = vector.text(0);
    Some(match vector.function.as_str() {
        "wp_kses" => kses::filter(text, &allowed(vector.arg(1))?).into_string().into(),
        "wp_kses_post" | "wp_filter_post_kses" => kses::filter(text, &posts()).into_string().into(),
        "wp_kses_data" | "wp_filter_kses" => kses::data(text).into_string().into(),
        // Recorded with slashed text.
        "wp_filter_nohtml_kses" => svc_text::slash(&kses::strip(&svc_text::unslash(text))).into(),
        "safecss_filter_attr" => css::filter_declarations(text).into(),
        "wp_kses_attr_parse" => kses::split_attributes(text).map_or(false.into(), Value::from).into(),
        "wp_kses_one_attr" => kses::filter_attribute(text, vector.text(1)).into(),
        "wp_kses_stripslashes" => kses::unescape_quotes(text).into_owned().into(),
        "wp_kses_xml_named_entities" => xml_entity(vector.arg(0)[1].as_str().unwrap_or_default()).into(),
        "filter:content_save_pre" => save::content_with_allowed(text, Some(&posts())).into(),
        "filter:title_save_pre" => save::title(text, true).into(),
        "filter:pre_term_name" => save::term_name(text).into(),
        "filter:pre_term_description" => save::term_description(text).into(),
        "filter:pre_comment_content" => add_rel(&save::comment_content(text, true), "nofollow ugc", OWN_HOST).into(),
        _ => return None,
    })
}

/// The allowed HTML of posts on the recorded site.
fn posts() -> AllowedHtml {
    AllowedHtml::post().clone().with_uploads_host("example.org")
}

/// A named reference in XML.
fn xml_entity(name: &str) -> String {
    if name.is_empty() { String::new() } else { svc_text::esc_xml(&format!("&{name};")) }
}

/// Allowed HTML from the name of a list, or from elements with their attributes.
fn allowed(list: &Value) -> Option<AllowedHtml> {
    Some(match list {
        Value::String(name) => match name.as_str() {
            "post" => posts(),
            "strip" => AllowedHtml::strip().clone(),
            // WordPress's list of entities has no elements.
            "entities" => AllowedHtml::strip().clone(),
            "user_description" => AllowedHtml::description().clone(),
            _ => AllowedHtml::data().clone(),
        },
        Value::Object(elements) => elements.iter().fold(AllowedHtml::default(), with_element),
        Value::Array(none) if none.is_empty() => AllowedHtml::default(),
        _ => return None,
    })
    .map(|allowed: AllowedHtml| allowed.with_uploads_host("example.org"))
}

fn with_element(allowed: AllowedHtml, (element, attributes): (&String, &Value)) -> AllowedHtml {
    let none = Map::new();
    let attributes = attributes.as_object().unwrap_or(&none);
    let allowed = allowed.allow(element.clone(), [] as [String; 0]);
    attributes
        .iter()
        .fold(allowed, |allowed, (name, rule)| allowed.allow_if(element.clone(), name.clone(), read_rule(rule)))
}

fn read_rule(rule: &Value) -> Rule {
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let mut read = Rule::default();
    for (name, value) in rule.as_object().into_iter().flatten() {
        read.checks.extend(match name.as_str() {
            "required" => {
                read.required = value == &Value::Bool(true);
                None
            }
            "valueless" => Some(Check::Valueless(value == "y")),
            "values" => {
                let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                Some(Check::Values(texts.map(str::to_owned).collect()))
            }
            "maxlen" => number(value).map(|n| Check::MaxLength(n as usize)),
            "minlen" => number(value).map(|n| Check::MinLength(n as usize)),
            "maxval" => number(value).map(Check::MaxValue),
            "minval" => number(value).map(Check::MinValue),
            "value_callback" => Some(Check::UploadedPdf),
            _ => None,
        });
    }
    read
}
