//! What is known of font families and font faces: shapes, checks and cleaning. Pure.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, any_of, array, object, string, types},
};

/// The parameters that hold the settings, as texts of JSON.
pub(super) const FAMILY: &str = "font_family_settings";
pub(super) const FACE: &str = "font_face_settings";

/// The settings of a family.
pub(super) fn family_schema() -> SchemaBuilder {
    family_part_schema().keyword("required", json!(["name", "slug", "fontFamily"]))
}

/// Some settings of a family: what changes.
pub(super) fn family_part_schema() -> SchemaBuilder {
    let members = [
        ("name", string().describe("What people call the family.")),
        ("slug", string().describe("The family's name for programs.")),
        ("fontFamily", string().describe("The family as style sheets name it.")),
        ("preview", string().describe("Address of a picture of the family.").format("uri").default("")),
    ];
    object(members).additional_properties(false)
}

/// The settings of a face: descriptors of `@font-face`.
pub(super) fn face_schema() -> SchemaBuilder {
    let text = |about: &str| string().describe(about);
    let displays = ["auto", "block", "fallback", "swap", "optional"];
    let sources = any_of([string(), array(string())]).describe("Addresses of the face's files.").default(json!([]));
    let members = [
        ("fontFamily", text("The family as style sheets name it.").default("")),
        ("fontStyle", text("Upright or slanted.").default("normal")),
        ("fontWeight", types(["string", "integer"]).describe("How bold.").default("400")),
        ("fontDisplay", text("What is shown until the face is there.").default("fallback").one_of(displays)),
        ("src", sources),
        ("fontStretch", text("How wide.")),
        ("ascentOverride", text("Height above the baseline.")),
        ("descentOverride", text("Depth below the baseline.")),
        ("fontVariant", text("Small capitals and the like.")),
        ("fontFeatureSettings", text("Features of OpenType.")),
        ("fontVariationSettings", text("Axes of variable fonts.")),
        ("lineGapOverride", text("Space between lines.")),
        ("sizeAdjust", text("How much larger or smaller.")),
        ("unicodeRange", text("Characters that the face is for.")),
        ("preview", text("Address of a picture of the face.").format("uri").default("")),
    ];
    object(members).keyword("required", json!(["fontFamily", "src"])).additional_properties(false)
}

/// Values that the settings of a family or a face may hold.
const MAX_VALUES: usize = 10_000;

fn refused(text: String) -> Error {
    Error::new("rest_invalid_param", text).with_status(400)
}

/// A member that must not be empty is.
fn empty(param: &str, member: &str) -> Error {
    refused(format!("{param}[{member}] must not be empty."))
}

/// The settings that a text of JSON holds, as their schema has them.
///
/// # Errors
/// `rest_invalid_type` for a value that is not a text, `rest_invalid_param` for a text that is not JSON, and those of the
/// schema.
pub(super) fn parse(text: &Value, schema: &Schema, param: &str) -> Result<Map<String, Value>, Error> {
    static TEXT: LazyLock<Schema> = LazyLock::new(|| string().compile());
    TEXT.validate(text, param)?;
    let text = text.as_str().unwrap_or_default();
    // Checked before the permission, so a stranger's text must not grow into many values.
    let value: Value = svc_php::json::decode_bounded(text.as_bytes(), MAX_VALUES).unwrap_or_default();
    if value.is_null() {
        return Err(refused(format!("{param} must be a JSON string.")));
    }
    let bad = |mut error: Error| {
        error.add_data(json!({"status": 400}), None);
        error
    };
    schema.validate(&value, param).map_err(bad)?;
    match value {
        Value::Object(settings) => Ok(settings),
        // The empty list is an empty map to PHP.
        _ => Ok(Map::new()),
    }
}

fn is_empty(value: &Value) -> bool {
    !svc_php::cast::truthy(value)
}

/// Whether the settings of a new family have what they need.
pub(super) fn check_family(settings: &Map<String, Value>) -> Result<(), Error> {
    match ["name", "slug", "fontFamily"].into_iter().find(|name| settings.get(*name).is_none_or(is_empty)) {
        Some(name) => Err(empty(FAMILY, name)),
        None => Ok(()),
    }
}

/// Whether the settings of a family can change so: its slug stays, and nothing that it needs is taken away.
pub(super) fn check_family_change(settings: &Map<String, Value>) -> Result<(), Error> {
    if settings.contains_key("slug") {
        return Err(refused(format!("{FAMILY}[slug] stays as it is.")));
    }
    match ["name", "fontFamily"].into_iter().find(|name| settings.get(*name).is_some_and(is_empty)) {
        Some(name) => Err(empty(FAMILY, name)),
        None => Ok(()),
    }
}

/// Whether the settings of a new face have what they need: addresses, or the names of files that came with them, and no
/// file that is not named.
pub(super) fn check_face(settings: &Map<String, Value>, files: &[&str], home: &str) -> Result<(), Error> {
    if let Some(name) = ["fontFamily", "src"].into_iter().find(|name| settings.get(*name).is_none_or(is_empty)) {
        return Err(empty(FACE, name));
    }
    let sources = sources(settings);
    let is_known = |source: &str| files.contains(&source) || is_address(source, home);
    if let Some(bad) = sources.iter().map(|source| source.trim_start()).find(|source| !is_known(source)) {
        return Err(refused(format!("{FACE}[src] names neither a URL nor a file: {bad}")));
    }
    if let Some(left) = files.iter().find(|file| !sources.iter().any(|source| source == *file)) {
        return Err(refused(format!("{FACE}[src] does not name the file {left}.")));
    }
    Ok(())
}

/// The sources of a face, one or several, as text: the schema passes a number or a boolean as a list of one.
pub(super) fn sources(settings: &Map<String, Value>) -> Vec<String> {
    let text = |value: &Value| svc_php::cast::to_text(value).into_owned();
    match settings.get("src") {
        Some(Value::Array(several)) => several.iter().map(text).collect(),
        Some(one) => vec![text(one)],
        None => Vec::new(),
    }
}

/// The settings of a face that its stored content holds: those that the schema knows. Content that is not a JSON object
/// gives the required ones, empty.
pub(super) fn stored_face(content: &str, known: &Value) -> Value {
    let mut settings = match serde_json::from_str(content) {
        Ok(Value::Object(settings)) => settings,
        Ok(Value::Array(list)) if list.is_empty() => Map::new(),
        _ => return json!({"fontFamily": "", "src": []}),
    };
    settings.retain(|name, _| known.get(name).is_some());
    if settings.is_empty() { json!([]) } else { Value::Object(settings) }
}

/// Whether a browser could fetch a font there: on this site's own host, or on a host with a public name.
fn is_address(text: &str, home: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else { return false };
    let host = host(rest);
    // White space in the path is encoded when the URL is stored.
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

/// Names of families as style sheets take them: those that are more than letters and hyphens are quoted.
pub(super) fn family_names(text: &str) -> String {
    let clean = svc_text::sanitize_text_field(text);
    let quoted = |name: &str| {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
        let generic = name.strip_prefix("generic(").and_then(|rest| rest.strip_suffix(')')).is_some_and(is_word);
        if generic || is_word(name) { name.to_owned() } else { format!("\"{}\"", name.trim_matches(['"', '\''])) }
    };
    let names: Vec<String> = clean.split(',').map(str::trim).filter(|name| !name.is_empty()).map(quoted).collect();
    names.join(", ")
}

/// A member of either kind of settings as it is stored.
pub(super) fn clean(name: &str, value: &Value) -> Value {
    match (name, value) {
        (_, Value::Array(several)) => several.iter().map(|one| clean(name, one)).collect(),
        ("src" | "preview", one) => svc_text::sanitize_url(&svc_php::cast::to_text(one)).into(),
        ("fontFamily", one) => family_names(&svc_php::cast::to_text(one)).into(),
        (_, one) => svc_text::sanitize_text_field(&svc_php::cast::to_text(one)).into(),
    }
}

/// Widths by their names in style sheets.
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

/// What tells a face from others: two faces with the same are the same.
pub(super) fn identity(settings: &Map<String, Value>) -> String {
    let text = |name: &str, default: &str| match settings.get(name) {
        None | Some(Value::Null) => default.to_owned(),
        Some(value) => svc_php::cast::to_text(value).into_owned(),
    };
    let family = text("fontFamily", "").to_lowercase().replace(['"', '\''], "");
    let family: Vec<&str> = family.split(',').map(str::trim).collect();
    let weight = match text("fontWeight", "400").to_lowercase().as_str() {
        "normal" => "400".to_owned(),
        "bold" => "700".to_owned(),
        other => other.to_owned(),
    };
    let stretch = text("fontStretch", "100%").to_lowercase();
    let stretch = STRETCHES.iter().find(|(name, _)| *name == stretch).map_or(stretch.as_str(), |(_, width)| width);
    [
        family.join(","),
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
    fn names_of_families_are_quoted_where_they_must_be() {
        for (given, expected) in [
            ("Open", "Open"),
            ("Open Sans, \"X Y\" , serif", "\"Open Sans\", \"X Y\", serif"),
            ("a b<c>", "\"a b\""),
            ("x2,'y'", "\"x2\", \"y\""),
            ("generic(kai), generic(1)", "generic(kai), \"generic(1)\""),
            (" , ", ""),
        ] {
            assert_eq!(family_names(given), expected, "{given}");
        }
    }

    #[test]
    fn the_same_face_is_told_in_several_ways() {
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
    fn stored_settings_of_faces_are_those_of_the_schema() {
        let known = Value::from(face_schema())["properties"].clone();
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
            assert_eq!(stored_face(content, &known), expected, "{content}");
        }
    }

    #[test]
    fn sources_are_addresses_or_files_that_came_along() {
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
        for (src, files, fits) in rows {
            let settings = json!({"fontFamily": "a", "src": src});
            let checked = check_face(settings.as_object().unwrap(), files, home);
            assert_eq!(checked.is_ok(), fits, "{settings} {files:?}: {checked:?}");
        }
    }
}
