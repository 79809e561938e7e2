//! Settings of font families and font faces: schemas, validation and sanitizing, without I/O.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, any_of, array, object, string, types},
};

/// Request parameters with the settings as JSON strings.
pub(super) const FAMILY: &str = "font_family_settings";
pub(super) const FACE: &str = "font_face_settings";

/// Schema of a family's settings.
pub(super) fn family_schema() -> SchemaBuilder {
    family_part_schema().keyword("required", json!(["name", "slug", "fontFamily"]))
}

/// Schema of a partial update of a family's settings.
pub(super) fn family_part_schema() -> SchemaBuilder {
    let properties = [
        ("name", string().describe("Display name of the font family.")),
        ("slug", string().describe("The font family's slug.")),
        ("fontFamily", string().describe("Value of the CSS `font-family` property.")),
        ("preview", string().describe("URL of a preview image of the font family.").format("uri").default("")),
    ];
    object(properties).additional_properties(false)
}

/// Schema of a face's settings, which are `@font-face` descriptors.
pub(super) fn face_schema() -> SchemaBuilder {
    let text = |about: &str| string().describe(about);
    let displays = ["auto", "block", "fallback", "swap", "optional"];
    let sources = any_of([string(), array(string())]).describe("URLs of the font files.").default(json!([]));
    let properties = [
        ("fontFamily", text("Value of the CSS `font-family` descriptor.").default("")),
        ("fontStyle", text("Value of the CSS `font-style` descriptor.").default("normal")),
        (
            "fontWeight",
            types(["string", "integer"])
                .describe("Value of the CSS `font-weight` descriptor.")
                .default("400")
                .last(&["type"]),
        ),
        ("fontDisplay", text("Value of the CSS `font-display` descriptor.").default("fallback").one_of(displays)),
        ("src", sources),
        ("fontStretch", text("Value of the CSS `font-stretch` descriptor.")),
        ("ascentOverride", text("Value of the CSS `ascent-override` descriptor.")),
        ("descentOverride", text("Value of the CSS `descent-override` descriptor.")),
        ("fontVariant", text("Value of the CSS `font-variant` descriptor.")),
        ("fontFeatureSettings", text("Value of the CSS `font-feature-settings` descriptor.")),
        ("fontVariationSettings", text("Value of the CSS `font-variation-settings` descriptor.")),
        ("lineGapOverride", text("Value of the CSS `line-gap-override` descriptor.")),
        ("sizeAdjust", text("Value of the CSS `size-adjust` descriptor.")),
        ("unicodeRange", text("Value of the CSS `unicode-range` descriptor.")),
        ("preview", text("URL of a preview image of the font face.").format("uri").default("")),
    ];
    object(properties).keyword("required", json!(["fontFamily", "src"])).additional_properties(false)
}

/// Maximum number of JSON values in the settings of a family or a face.
const MAX_VALUES: usize = 10_000;

fn invalid_param(message: String) -> Error {
    Error::new("rest_invalid_param", message).with_status(400)
}

/// A required setting is empty.
fn empty(param: &str, setting: &str) -> Error {
    invalid_param(format!("{param}[{setting}] must not be empty."))
}

/// Parses settings from a JSON string, and validates and sanitizes them by their schema.
///
/// # Errors
/// `rest_invalid_type` if the value is not a string, `rest_invalid_param` if it is not JSON, and schema errors.
pub(super) fn parse(text: &Value, schema: &Schema, param: &str) -> Result<Map<String, Value>, Error> {
    static TEXT: LazyLock<Schema> = LazyLock::new(|| string().compile());
    TEXT.validate(text, param)?;
    let text = text.as_str().unwrap_or_default();
    // This runs before the permission check, so the number of values must be bounded.
    let value: Value = svc_php::json::decode_bounded(text.as_bytes(), MAX_VALUES).unwrap_or_default();
    if value.is_null() {
        return Err(invalid_param(format!("{param} must be a JSON string.")));
    }
    let bad_request = |mut error: Error| {
        error.add_data(json!({"status": 400}), None);
        error
    };
    schema.validate(&value, param).map_err(bad_request)?;
    match value {
        Value::Object(settings) => Ok(settings),
        // PHP decodes an empty list and an empty object to the same array.
        _ => Ok(Map::new()),
    }
}

fn is_empty(value: &Value) -> bool {
    !svc_php::cast::truthy(value)
}

/// Validates the settings of a new family.
pub(super) fn check_family(settings: &Map<String, Value>) -> Result<(), Error> {
    match ["name", "slug", "fontFamily"].into_iter().find(|name| settings.get(*name).is_none_or(is_empty)) {
        Some(name) => Err(empty(FAMILY, name)),
        None => Ok(()),
    }
}

/// Validates a change of a family's settings: the slug cannot change, and required settings cannot become empty.
pub(super) fn check_family_change(settings: &Map<String, Value>) -> Result<(), Error> {
    if settings.contains_key("slug") {
        return Err(invalid_param(format!("{FAMILY}[slug] cannot be changed.")));
    }
    match ["name", "fontFamily"].into_iter().find(|name| settings.get(*name).is_some_and(is_empty)) {
        Some(name) => Err(empty(FAMILY, name)),
        None => Ok(()),
    }
}

/// Validates the settings of a new face. Every source must be a URL or the field name of an uploaded file, and every
/// uploaded file must be used.
pub(super) fn check_face(settings: &Map<String, Value>, files: &[&str], home: &str) -> Result<(), Error> {
    if let Some(name) = ["fontFamily", "src"].into_iter().find(|name| settings.get(*name).is_none_or(is_empty)) {
        return Err(empty(FACE, name));
    }
    let sources = sources(settings);
    let is_valid = |source: &str| files.contains(&source) || is_font_url(source, home);
    if let Some(bad) = sources.iter().map(|source| source.trim_start()).find(|source| !is_valid(source)) {
        return Err(invalid_param(format!(
            "{FACE}[src] contains an entry that is neither a URL nor an uploaded file: {bad}"
        )));
    }
    if let Some(unused) = files.iter().find(|file| !sources.iter().any(|source| source == *file)) {
        return Err(invalid_param(format!("{FACE}[src] must include the uploaded file {unused}.")));
    }
    Ok(())
}

/// The sources of a face as strings. The schema also allows a single value, including a number or a boolean.
pub(super) fn sources(settings: &Map<String, Value>) -> Vec<String> {
    let text = |value: &Value| svc_php::cast::to_text(value).into_owned();
    match settings.get("src") {
        Some(Value::Array(several)) => several.iter().map(text).collect(),
        Some(one) => vec![text(one)],
        None => Vec::new(),
    }
}

/// A face's stored settings, limited to those in the schema. If the content is not a JSON object, returns the required
/// settings with empty values.
pub(super) fn stored_face(content: &str, schemas: &Value) -> Value {
    let mut settings = match serde_json::from_str(content) {
        Ok(Value::Object(settings)) => settings,
        Ok(Value::Array(list)) if list.is_empty() => Map::new(),
        _ => return json!({"fontFamily": "", "src": []}),
    };
    settings.retain(|name, _| schemas.get(name).is_some());
    if settings.is_empty() { json!([]) } else { Value::Object(settings) }
}

/// Whether a URL is usable as a font source: on this site's host, or on a host with a public name.
fn is_font_url(text: &str, home: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else { return false };
    let host = host(rest);
    // White space in the path is percent-encoded when the URL is stored.
    if host.is_empty() || host.contains(|c: char| c == '@' || c.is_whitespace()) || text.contains(char::is_control) {
        return false;
    }
    let own = home.split_once("://").map_or(home, |(_, rest)| rest);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    host.eq_ignore_ascii_case(self::host(own))
        || (name.contains('.') && name.parse::<std::net::IpAddr>().is_err() && !name.ends_with('.'))
}

fn host(rest: &str) -> &str {
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// A CSS list of family names. Names with characters other than letters and hyphens are quoted.
pub(super) fn family_names(text: &str) -> String {
    let clean = svc_text::sanitize_text_field(text);
    let quoted = |name: &str| {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
        let generic = name.strip_prefix("generic(").and_then(|rest| rest.strip_suffix(')')).is_some_and(is_word);
        if generic || is_word(name) { name.to_owned() } else { format!("\"{}\"", name.trim_matches(['"', '\''])) }
    };
    let mut out = String::new();
    for name in clean.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        out.push_str(if out.is_empty() { "" } else { ", " });
        out.push_str(&quoted(name));
    }
    out
}

/// Sanitizes a setting of a family or a face for storage.
pub(super) fn clean(name: &str, value: &Value) -> Value {
    match (name, value) {
        (_, Value::Array(several)) => several.iter().map(|one| clean(name, one)).collect(),
        ("src" | "preview", one) => svc_text::sanitize_url(&svc_php::cast::to_text(one)).into(),
        ("fontFamily", one) => family_names(&svc_php::cast::to_text(one)).into(),
        (_, one) => svc_text::sanitize_text_field(&svc_php::cast::to_text(one)).into(),
    }
}

/// The names in a list, without white space around them.
fn trimmed_names(list: &str) -> String {
    let mut out = String::with_capacity(list.len());
    for (idx, name) in list.split(',').enumerate() {
        out.push_str(if idx == 0 { "" } else { "," });
        out.push_str(name.trim());
    }
    out
}

/// CSS keywords for `font-stretch` and their percentages.
const STRETCHES: [(&str, &str); 9] = [
    ("ultra-condensed", "50%"),
    ("extra-condensed", "62.5%"),
    ("condensed", "75%"),
    ("semi-condensed", "87.5%"),
    ("normal", "100%"),
    ("semi-expanded", "112.5%"),
    ("expanded", "125%"),
    ("extra-expanded", "150%"),
    ("ultra-expanded", "200%"),
];

/// The key that identifies a face. Two faces with the same key are duplicates.
pub(super) fn identity(settings: &Map<String, Value>) -> String {
    let text = |name: &str, default: &str| match settings.get(name) {
        None | Some(Value::Null) => default.to_owned(),
        Some(value) => svc_php::cast::to_text(value).into_owned(),
    };
    let family = text("fontFamily", "").to_lowercase().replace(['"', '\''], "");
    let weight = match text("fontWeight", "400").to_lowercase().as_str() {
        "normal" => "400".to_owned(),
        "bold" => "700".to_owned(),
        other => other.to_owned(),
    };
    let stretch = text("fontStretch", "100%").to_lowercase();
    let stretch = STRETCHES.iter().find(|(name, _)| *name == stretch).map_or(stretch.as_str(), |(_, width)| width);
    [
        trimmed_names(&family),
        text("fontStyle", "normal").to_lowercase(),
        weight,
        stretch.to_owned(),
        text("unicodeRange", "U+0-10FFFF").to_uppercase(),
    ]
    .join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_family_names_with_special_characters() {
        for (input, expected) in [
            ("Open", "Open"),
            ("Open Sans, \"X Y\" , serif", "\"Open Sans\", \"X Y\", serif"),
            ("a b<c>", "\"a b\""),
            ("x2,'y'", "\"x2\", \"y\""),
            ("generic(kai), generic(1)", "generic(kai), \"generic(1)\""),
            (" , ", ""),
        ] {
            assert_eq!(family_names(input), expected, "{input}");
        }
    }

    #[test]
    fn identity_is_normalized() {
        #[rustfmt::skip]
        let rows = [
            (json!({"fontFamily": "Open"}), "open;normal;400;100%;U+0-10FFFF"),
            (json!({"fontFamily": "open", "fontWeight": "NORMAL", "fontStyle": "Normal"}), "open;normal;400;100%;U+0-10FFFF"),
            (json!({"fontFamily": "\"A b\",  serif", "fontWeight": 700}), "a b,serif;normal;700;100%;U+0-10FFFF"),
            (json!({"fontFamily": "a", "fontWeight": "bold", "fontStretch": "condensed", "unicodeRange": "u+25"}), "a;normal;700;75%;U+25"),
        ];
        for (settings, expected) in rows {
            assert_eq!(identity(settings.as_object().unwrap()), expected, "{settings}");
        }
    }

    #[test]
    fn stored_face_settings_are_limited_to_the_schema() {
        let schemas = Value::from(face_schema())["properties"].clone();
        // Recorded from WordPress.
        for (content, expected) in [
            (
                r#"{"fontFamily":"A","src":"http:\/\/x.example\/a.woff2"}"#,
                json!({"fontFamily": "A", "src": "http://x.example/a.woff2"}),
            ),
            (r#"{"fontFamily":"A","unknown":1,"src":[]}"#, json!({"fontFamily": "A", "src": []})),
            ("not JSON", json!({"fontFamily": "", "src": []})),
            ("", json!({"fontFamily": "", "src": []})),
            ("null", json!({"fontFamily": "", "src": []})),
            (r#"{"unknown":1}"#, json!([])),
            ("[]", json!([])),
        ] {
            assert_eq!(stored_face(content, &schemas), expected, "{content}");
        }
    }

    #[test]
    fn sources_are_urls_or_uploaded_files() {
        let home = "http://127.0.0.1:8080";
        #[rustfmt::skip]
        let rows: [(Value, &[&str], bool); 19] = [
            (json!("https://fonts.example.com/a b.woff2"), &[], true),
            (json!("https://fonts example.com/a.woff2"), &[], false),
            (json!(5), &[], false),
            (json!(true), &[], false),
            (json!(false), &[], false),
            (json!("0"), &[], false),
            (json!(" https://fonts.example.com/a.woff2"), &[], true),
            (json!("http://127.0.0.1:8080/a.woff2"), &[], true),
            (json!("https://fonts.example.com/a.woff2"), &[], true),
            (json!(["https://fonts.example.com/a.woff2", "one"]), &["one"], true),
            (json!("one"), &["one"], true),
            (json!("one"), &["one", "two"], false),
            (json!("one"), &[], false),
            (json!(["one", ""]), &["one"], false),
            (json!("/a.woff2"), &[], false),
            (json!("file:./a.woff2"), &[], false),
            (json!("http://10.0.0.1/a.woff2"), &[], false),
            (json!("http://localhost/a.woff2"), &[], false),
            (json!("http://u@fonts.example.com/a.woff2"), &[], false),
        ];
        for (src, files, is_valid) in rows {
            let settings = json!({"fontFamily": "a", "src": src});
            let checked = check_face(settings.as_object().unwrap(), files, home);
            assert_eq!(checked.is_ok(), is_valid, "{settings} {files:?}: {checked:?}");
        }
    }
}
