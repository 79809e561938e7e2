//! The global style sheet: presets as custom properties and classes, block layouts, and styles of the page, elements
//! and blocks.
//!
//! Class names and custom properties are those that stored content refers to. Values that could escape their rule or
//! the style element are dropped.

use std::fmt::Write as _;

use serde_json::Value;
use svc_content::block_render::FluidSizes;

use super::{ELEMENTS, PRESETS, Presets, StyleOrigin, ThemeJson};

/// Base styles of blocks, which their markup requires in every theme.
const BLOCKS: &str = include_str!("blocks.css");
/// The block gap of themes that do not define one.
const DEFAULT_GAP: &str = "24px";
/// Maximum length of a chain of references to other styles.
const MAX_REFS: usize = 4;

/// CSS properties and the path of their values, as group and name.
#[rustfmt::skip]
const PROPERTIES: &[(&str, &str, &str)] = &[
    ("aspect-ratio", "dimensions", "aspectRatio"), ("background", "color", "gradient"),
    ("background-color", "color", "background"), ("border-color", "border", "color"), ("border-radius", "border", "radius"),
    ("border-style", "border", "style"), ("border-width", "border", "width"), ("color", "color", "text"),
    ("column-count", "typography", "textColumns"), ("font-family", "typography", "fontFamily"),
    ("font-size", "typography", "fontSize"), ("font-style", "typography", "fontStyle"),
    ("font-weight", "typography", "fontWeight"), ("height", "dimensions", "height"),
    ("letter-spacing", "typography", "letterSpacing"), ("line-height", "typography", "lineHeight"),
    ("margin", "spacing", "margin"), ("min-height", "dimensions", "minHeight"), ("min-width", "dimensions", "minWidth"),
    ("outline-color", "outline", "color"), ("outline-offset", "outline", "offset"), ("outline-style", "outline", "style"),
    ("outline-width", "outline", "width"), ("padding", "spacing", "padding"), ("text-align", "typography", "textAlign"),
    ("text-decoration", "typography", "textDecoration"), ("text-transform", "typography", "textTransform"),
    ("width", "dimensions", "width"), ("writing-mode", "typography", "writingMode"),
];
/// Names of the four sides.
const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];
/// Corners, by their names in styles and in CSS.
#[rustfmt::skip]
const CORNERS: [(&str, &str); 4] = [
    ("topLeft", "top-left"), ("topRight", "top-right"), ("bottomLeft", "bottom-left"), ("bottomRight", "bottom-right"),
];
/// Selectors of blocks that do not use the class derived from their name.
#[rustfmt::skip]
const SELECTORS: &[(&str, &str)] = &[
    ("core/paragraph", "p"), ("core/heading", "h1, h2, h3, h4, h5, h6"), ("core/button", ".wp-block-button .wp-block-button__link"),
    ("core/image", ".wp-block-image img"), ("core/table", ".wp-block-table > table"), ("core/code", ".wp-block-code"),
];

/// Builds the complete style sheet.
pub fn stylesheet(json: &ThemeJson) -> String {
    let mut out = String::from(BLOCKS);
    let (settings, styles) = (json.settings(), json.styles());
    variables(&mut out, ":root", settings);
    for (block, settings) in settings["blocks"].as_object().into_iter().flatten() {
        variables(&mut out, &selector(block), settings);
    }
    layout(&mut out, settings, styles);
    let sheet = StyleSheetWriter { root: styles };
    sheet.rule(&mut out, "body", &of_body(settings, styles));
    sheet.elements(&mut out, "", styles);
    for (block, of_block) in styles["blocks"].as_object().into_iter().flatten() {
        sheet.block(&mut out, &selector(block), of_block);
    }
    classes(&mut out, settings);
    if let Some(css) = styles["css"].as_str() {
        out.push_str(&neutralize(css));
    }
    out
}

/// Styles of the `body` element. Padding that full-width blocks extend into is not set on it.
fn of_body(settings: &Value, styles: &Value) -> Value {
    let mut styles = styles.clone();
    if settings["useRootPaddingAwareAlignments"] == true
        && let Some(spacing) = styles.get_mut("spacing").and_then(Value::as_object_mut)
    {
        spacing.shift_remove("padding");
    }
    styles
}

/// Neutralizes CSS that could end its style element.
fn neutralize(css: &str) -> String {
    css.replace('<', "\\3c ")
}

/// Returns the value if it cannot end its declaration.
fn safe_value(value: &str) -> Option<&str> {
    let is_safe = !value.is_empty() && !value.contains(['<', '>', '{', '}', ';', '\\']);
    // An unclosed quote would extend past the declaration.
    let is_closed = ['"', '\''].iter().all(|quote| value.matches(*quote).count() % 2 == 0);
    let is_balanced = value.matches('(').count() == value.matches(')').count() && !value.contains("/*");
    (is_safe && is_closed && is_balanced).then_some(value)
}

/// The slug of a preset, as used in classes and custom properties.
fn slug(preset: &Value) -> Option<String> {
    let slug = svc_text::kebab_case(preset["slug"].as_str()?);
    let is_word = !slug.is_empty() && slug.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    is_word.then_some(slug)
}

/// The effective presets as pairs of slug and value. Later origins take precedence.
fn presets<'a>(settings: &'a Value, presets: &'a Presets) -> impl Iterator<Item = (String, String)> + 'a {
    let (group, name) = presets.path;
    let fluid = FluidSizes::of(settings);
    StyleOrigin::ALL.into_iter().flat_map(move |origin| {
        settings[group][name][origin.name()].as_array().into_iter().flatten().filter_map(move |preset| {
            let value = &preset[presets.value?];
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = if name == "fontSizes" { fluid.size(&text, &preset["fluid"]) } else { text };
            Some((slug(preset)?, safe_value(&text)?.to_owned()))
        })
    })
}

fn variables(out: &mut String, selector: &str, settings: &Value) {
    let mut inside = String::new();
    for kind in PRESETS {
        for (slug, value) in presets(settings, kind) {
            let _ = write!(inside, "--wp--preset--{}--{slug}: {value};", kind.word);
        }
    }
    custom(&mut inside, "--wp--custom", &settings["custom"], 0);
    if !inside.is_empty() {
        let _ = write!(out, "{selector}{{{inside}}}");
    }
}

/// `settings.custom`: nested names, joined by two hyphens.
fn custom(out: &mut String, prefix: &str, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if depth < 8 => {
            for (name, value) in members {
                let name = svc_text::kebab_case(name);
                if name.chars().all(|c| c.is_alphanumeric() || c == '-') {
                    custom(out, &format!("{prefix}--{name}"), value, depth + 1);
                }
            }
        }
        Value::String(text) => {
            if let Some(text) = safe_value(text) {
                let _ = write!(out, "{prefix}: {text};");
            }
        }
        Value::Number(number) => {
            let _ = write!(out, "{prefix}: {number};");
        }
        _ => {}
    }
}

fn classes(out: &mut String, settings: &Value) {
    for kind in PRESETS {
        for (ending, property) in kind.classes {
            for (slug, _) in presets(settings, kind) {
                let value = format!("var(--wp--preset--{}--{slug})", kind.word);
                let _ = write!(out, ".has-{slug}-{ending}{{{property}: {value} !important;}}");
            }
        }
    }
}

/// Layout rules of container blocks.
fn layout(out: &mut String, settings: &Value, styles: &Value) {
    let size = |name: &str| settings["layout"][name].as_str().and_then(safe_value);
    let mut sizes = String::new();
    if let Some(content) = size("contentSize") {
        let wide = size("wideSize").unwrap_or(content);
        let _ = write!(sizes, "--wp--style--global--content-size: {content};--wp--style--global--wide-size: {wide};");
    }
    let has_gaps = settings["spacing"]["blockGap"] == true;
    let gap = match &styles["spacing"]["blockGap"] {
        Value::String(gap) if has_gaps => safe_value(gap).unwrap_or(DEFAULT_GAP),
        _ => DEFAULT_GAP,
    };
    let _ = write!(out, ":root{{{sizes}--wp--style--block-gap: {gap};}}");
    let root_padding = settings["useRootPaddingAwareAlignments"] == true;
    if root_padding {
        for side in SIDES {
            if let Some(value) = styles["spacing"]["padding"][side].as_str().and_then(safe_value) {
                let _ = write!(out, ":root{{--wp--style--root--padding-{side}: {value};}}");
            }
        }
        out.push_str(include_str!("root_padding.css"));
    }
}

/// The CSS selector of a block.
fn selector(block: &str) -> String {
    if let Some((_, selector)) = SELECTORS.iter().find(|(name, _)| *name == block) {
        return (*selector).to_owned();
    }
    let name = block.strip_prefix("core/").unwrap_or(block).replace('/', "-");
    format!(".wp-block-{name}")
}

/// Combines two lists of selectors as descendants.
fn descendants(outer: &str, inner: &str) -> String {
    if outer.is_empty() {
        return inner.to_owned();
    }
    let pairs = outer.split(", ").flat_map(|o| inner.split(", ").map(move |i| format!("{o} {i}")));
    pairs.collect::<Vec<_>>().join(", ")
}

struct StyleSheetWriter<'a> {
    root: &'a Value,
}

impl StyleSheetWriter<'_> {
    fn block(&self, out: &mut String, selector: &str, styles: &Value) {
        self.rule(out, selector, styles);
        self.elements(out, selector, styles);
        for (name, styles) in styles["variations"].as_object().into_iter().flatten() {
            if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
                let chosen = match selector.split_once(' ') {
                    Some((block, inside)) => format!("{block}.is-style-{name} {inside}"),
                    None => format!("{selector}.is-style-{name}"),
                };
                self.rule(out, &chosen, styles);
                self.elements(out, &chosen, styles);
            }
        }
        if let Some(css) = styles["css"].as_str() {
            let _ = write!(out, "{selector}{{{}}}", neutralize(css));
        }
    }

    fn elements(&self, out: &mut String, outer: &str, styles: &Value) {
        for (name, of_element) in styles["elements"].as_object().into_iter().flatten() {
            let Some((_, element)) = ELEMENTS.iter().find(|(known, _)| known == name) else { continue };
            self.rule(out, &descendants(outer, element), of_element);
        }
    }

    /// Writes the rule of a set of styles and of its states.
    fn rule(&self, out: &mut String, selector: &str, styles: &Value) {
        let inside = self.declarations(styles);
        if !inside.is_empty() {
            if selector == "body" {
                let _ = write!(out, "body{{{inside}}}");
            } else {
                let _ = write!(out, ":root :where({selector}){{{inside}}}");
            }
        }
        for (state, of_state) in styles.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with(':')) {
            let inside = self.declarations(of_state);
            if !inside.is_empty() {
                let _ = write!(out, ":root :where({selector}){state}{{{inside}}}");
            }
        }
        if let Some(gap) = self.text(&styles["spacing"]["blockGap"]).filter(|_| selector != "body") {
            let _ = write!(out, ":root :where({selector}){{--wp--style--block-gap: {gap};}}");
        }
    }

    fn declarations(&self, styles: &Value) -> String {
        let mut out = String::new();
        for (property, group, name) in PROPERTIES {
            let value = &styles[*group][*name];
            match value {
                Value::Object(parts) if !parts.contains_key("ref") => {
                    for side in SIDES {
                        self.write_declaration(&mut out, &format!("{property}-{side}"), &value[side]);
                    }
                    for (corner, css) in CORNERS {
                        self.write_declaration(
                            &mut out,
                            &property.replace("border-", &format!("border-{css}-")),
                            &value[corner],
                        );
                    }
                }
                value => self.write_declaration(&mut out, property, value),
            }
        }
        for side in SIDES {
            for part in ["color", "style", "width"] {
                self.write_declaration(&mut out, &format!("border-{side}-{part}"), &styles["border"][side][part]);
            }
        }
        self.write_declaration(&mut out, "box-shadow", &styles["shadow"]);
        out
    }

    fn write_declaration(&self, out: &mut String, property: &str, value: &Value) {
        if let Some(value) = self.text(value) {
            let _ = write!(out, "{property}: {value};");
        }
    }

    /// Converts a value to CSS and follows references to other styles.
    fn text(&self, value: &Value) -> Option<String> {
        let mut value = value;
        for _ in 0..MAX_REFS {
            let Some(path) = value.get("ref").and_then(Value::as_str) else { break };
            let path = path.strip_prefix("styles.")?.replace('.', "/");
            value = self.root.pointer(&format!("/{path}"))?;
        }
        match value {
            Value::String(text) => safe_value(text).map(str::to_owned),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sheet(theme: Value) -> String {
        let mut merged = ThemeJson::core().clone();
        merged.merge(&ThemeJson::new(theme, StyleOrigin::Theme));
        stylesheet(&merged)
    }

    #[test]
    fn generates_rules_for_presets_layouts_and_styles() {
        let css = sheet(json!({"version": 3,
            "settings": {"appearanceTools": true, "layout": {"contentSize": "640px", "wideSize": "1200px"},
                "color": {"palette": [{"slug": "accentOne", "color": "#c0392b"}]},
                "typography": {"fluid": true}, "custom": {"lineHeight": {"small": 1.2}}},
            "styles": {"color": {"text": "var:preset|color|accent-one"},
                "elements": {"link": {":hover": {"typography": {"textDecoration": "none"}}}},
                "blocks": {"core/quote": {"border": {"width": "1px", "radius": {"topLeft": "3px"}},
                        "elements": {"cite": {"color": {"text": {"ref": "styles.color.text"}}}}},
                    "core/group": {"variations": {"card": {"spacing": {"padding": {"top": "1px"}}}}}}}}));
        for expected in [
            "--wp--preset--color--accent-one: #c0392b;",
            ".has-accent-one-background-color{background-color: var(--wp--preset--color--accent-one) !important;}",
            "--wp--custom--line-height--small: 1.2;",
            "--wp--style--global--content-size: 640px;--wp--style--global--wide-size: 1200px;",
            // As WordPress computes them.
            "--wp--preset--font-size--medium: clamp(14px, 0.875rem + ((1vw - 3.2px) * 0.682), 20px);",
            "--wp--preset--font-size--x-large: clamp(25.014px, 1.563rem + ((1vw - 3.2px) * 1.93), 42px);",
            "body{color: var(--wp--preset--color--accent-one);padding-top: 0px;",
            ":root :where(a:where(:not(.wp-element-button))):hover{text-decoration: none;}",
            ":root :where(.wp-block-quote){border-top-left-radius: 3px;border-width: 1px;}",
            ":root :where(.wp-block-quote cite){color: var(--wp--preset--color--accent-one);}",
            ":root :where(.wp-block-group.is-style-card){padding-top: 1px;}",
        ] {
            assert!(css.contains(expected), "{expected}\n{css}");
        }
    }

    #[test]
    fn values_cannot_escape_their_rule() {
        for value in ["red;}body{display:none", "</style><script>x</script>", "url(", "\"", "a{b", "/* x", "\\"] {
            let css = sheet(json!({"version": 3, "styles": {"color": {"text": value}}, "settings": {
                "color": {"palette": [{"slug": "x", "color": value}, {"slug": value, "color": "red"}]}, "custom": {"x": value}}}));
            assert!(!css.contains(value), "{value}");
        }
        let css = sheet(json!({"version": 3, "styles": {"css": "</style><script>"}}));
        assert!(!css.contains('<'));
    }
}
