//! CSS rules for the classes of a page's blocks: layouts of containers and their children, element colours,
//! positions, and custom CSS.
//!
//! The classes themselves are added when a block is rendered. Unsafe values, which could end their rule, produce no
//! rule.

use std::{collections::HashSet, fmt::Write as _};

use serde_json::{Map, Value};
use svc_php::cast::truthy;
use svc_text::{Html, html};

/// Maximum size of all rules, in bytes. Further rules are omitted.
const MAX_BYTES: usize = 256 << 10;
/// The default minimum width of grid columns, and the default gap of grids.
const COLUMN: &str = "12rem";
const GAP: &str = "24px";

/// The rules of a page, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Styles {
    css: String,
    filters: Html,
    added: HashSet<String>,
}

impl Styles {
    fn add(&mut self, rules: String) {
        if !rules.is_empty() && self.css.len() + rules.len() <= MAX_BYTES && self.added.insert(rules.clone()) {
            self.css.push_str(&rules);
        }
    }

    pub(super) fn css(&self) -> &str {
        &self.css
    }

    /// The image filters, in an element without a size.
    pub(super) fn filters(&self) -> Html {
        if self.filters.is_empty() {
            return Html::new();
        }
        html!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 0 0\" width=\"0\" height=\"0\" focusable=\"false\" role=\"none\" style=\"visibility:hidden;position:absolute;left:-9999px;overflow:hidden\"><defs>{}</defs></svg>",
            self.filters
        )
    }

    /// Applies a filter to images.
    pub(super) fn apply_filter(&mut self, selector: &str, filter: &str) {
        if !selector.contains(['<', '{', '}', ';']) {
            self.add(format!("{selector}{{filter:{filter};}}"));
        }
    }

    /// Adds an image filter, as an element.
    pub(super) fn filter(&mut self, filter: &Html) {
        if self.filters.len() + filter.len() <= MAX_BYTES && self.added.insert(filter.as_str().to_owned()) {
            self.filters.push(filter);
        }
    }

    /// The layout of a container. `gap` is the block's gap, if it applies.
    pub(super) fn container(
        &mut self,
        class: &str,
        kind: &str,
        layout: &Map<String, Value>,
        spacing: &Value,
        gap: &Value,
    ) {
        let rules = match kind {
            "constrained" => constrained(class, layout, spacing) + &flow_gap(class, gap),
            "flex" => flex(class, layout, gap),
            "grid" => grid(class, layout, gap),
            _ => flow_gap(class, gap),
        };
        self.add(rules);
    }

    /// The placement of a block in its container.
    pub(super) fn child(&mut self, class: &str, layout: &Map<String, Value>, parent: Option<&Map<String, Value>>) {
        let mut rules = Rules::default();
        let number = |name: &str| layout.get(name).filter(|n| truthy(n)).map(|n| svc_php::cast::to_int(n).max(1));
        match layout.get("selfStretch").and_then(Value::as_str) {
            Some("fixed") => rules.declare("flex-basis", text(layout, "flexSize")),
            Some("fixedNoShrink") => {
                rules.declare("flex-basis", text(layout, "flexSize"));
                rules.declare("flex-shrink", Some("0".to_owned()));
            }
            Some("fill") => rules.declare("flex-grow", Some("1".to_owned())),
            _ => {}
        }
        for (property, start, span) in
            [("grid-column", "columnStart", "columnSpan"), ("grid-row", "rowStart", "rowSpan")]
        {
            rules.declare(
                property,
                match (number(start), number(span)) {
                    (Some(start), Some(span)) => Some(format!("{start} / span {span}")),
                    (Some(start), None) => Some(start.to_string()),
                    (None, Some(span)) => Some(format!("span {span}")),
                    (None, None) => None,
                },
            );
        }
        let mut css = rules.of(&format!(".{class}"));
        // A block that is too wide for its container takes the whole row.
        let columns = number("columnSpan").unwrap_or(1).max(number("columnStart").unwrap_or(1));
        let min_width = parent.filter(|_| columns > 1).and_then(|parent| {
            let is_auto = parent.get("columnCount").is_none_or(|count| !truthy(count))
                || parent.get("minimumColumnWidth").is_some_and(truthy);
            let width = text(parent, "minimumColumnWidth").unwrap_or_else(|| COLUMN.to_owned());
            is_auto.then_some(width)
        });
        if let Some((number, unit)) = min_width.as_deref().and_then(length) {
            let (gap, columns) = (if unit == "px" { 24.0 } else { 1.5 }, columns as f64);
            let width = columns * number + (columns - 1.0) * gap;
            let place = if layout.get("columnSpan").is_some_and(truthy) { "1/-1" } else { "auto" };
            let _ =
                write!(css, "@container (max-width: {width}{unit} ){{.{class}{{grid-column:{place};grid-row:auto;}}}}");
        }
        self.add(css);
    }

    /// Colours of links, buttons and headings in a block.
    pub(super) fn elements(&mut self, class: &str, elements: &Value) {
        self.add(elements_of(class, elements, "").concat());
    }

    /// Responsive and state styles of a block.
    pub(super) fn states(&mut self, css: &str) {
        self.add(css.to_owned());
    }

    /// The position of a sticky or fixed block.
    pub(super) fn position(&mut self, class: &str, position: &Value) {
        let mut rules = Rules::default();
        for side in ["top", "right", "bottom", "left"] {
            let value = position[side].as_str().map(|value| match side {
                "top" => format!("calc({value} + var(--wp-admin--admin-bar--position-offset, 0px))"),
                _ => value.to_owned(),
            });
            rules.declare(side, value);
        }
        rules.declare("position", position["type"].as_str().map(str::to_owned));
        rules.declare("z-index", Some("10".to_owned()));
        self.add(rules.of(&format!(".{class}")));
    }

    /// Hides blocks on a screen size.
    pub(super) fn hide_on(&mut self, viewport: &str) {
        let media = match viewport {
            "desktop" => "width > 782px",
            "tablet" => "480px < width <= 782px",
            _ => "width <= 480px",
        };
        self.add(format!("@media ({media}){{.wp-block-hidden-{viewport}{{display:none !important;}}}}"));
    }

    /// The custom CSS of a block: declarations, and nested rules with `&`.
    pub(super) fn custom_css(&mut self, class: &str, css: &str) {
        let is_closed = css.matches('{').count() == css.matches('}').count() && !css.contains(['<', '@', '\\']);
        if is_closed {
            self.add(format!(":root :where(.{class}){{{css}}}"));
        }
    }
}

/// The rules for colours of links, buttons and headings in a block. `mark` is appended to each declaration.
pub(super) fn elements_of(class: &str, elements: &Value, mark: &str) -> Vec<String> {
    const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];
    let within = |names: &[&str]| names.iter().map(|name| format!(".{class} {name}")).collect::<Vec<_>>().join(", ");
    let link = format!(".{class} a:where(:not(.wp-element-button))");
    let hover = format!("{link}:hover");
    let mut rows = vec![
        (&elements["button"], within(&[".wp-element-button", ".wp-block-button__link"])),
        (&elements["link"], link),
        (&elements["heading"], within(&HEADINGS)),
        (&elements["link"][":hover"], hover),
    ];
    rows.extend(HEADINGS.iter().map(|name| (&elements[*name], within(&[*name]))));
    let rules = rows.iter().map(|(element, selector)| colors(element, mark).of(selector));
    rules.filter(|rule| !rule.is_empty()).collect()
}

/// The declarations of a rule.
#[derive(Default)]
pub(super) struct Rules(String);

impl Rules {
    fn declare(&mut self, property: &str, value: Option<String>) {
        self.declare_with(property, value, "");
    }

    /// Adds a declaration with a suffix, such as ` !important`.
    pub(super) fn declare_with(&mut self, property: &str, value: Option<String>, mark: &str) {
        if let Some(value) = value.filter(|value| is_safe(value)) {
            let _ = write!(self.0, "{property}:{value}{mark};");
        }
    }

    /// The rule; empty without declarations.
    pub(super) fn of(&self, selector: &str) -> String {
        if self.0.is_empty() { String::new() } else { format!("{selector}{{{}}}", self.0) }
    }
}

/// Whether a value cannot end its declaration.
fn is_safe(value: &str) -> bool {
    !value.is_empty()
        && !value.contains([';', '{', '}', '<', '>', '\\', '"', '\'', '@'])
        && !value.contains("/*")
        && value.matches('(').count() == value.matches(')').count()
}

/// The CSS value of a style attribute: `var:preset|spacing|50` is a custom property.
pub(super) fn css_value(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let Some(path) = text.strip_prefix("var:") else { return Some(text) };
    let path: Vec<String> = path.split('|').map(svc_text::kebab_case).collect();
    Some(format!("var(--wp--{})", path.join("--")))
}

fn text(layout: &Map<String, Value>, name: &str) -> Option<String> {
    layout.get(name).filter(|value| truthy(value)).and_then(css_value)
}

/// Parses a length: its number and its unit.
fn length(text: &str) -> Option<(f64, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(at);
    matches!(unit, "px" | "rem" | "em").then_some((number.parse().ok()?, unit))
}

/// The `gap` of flex and grid layouts: row and column.
fn gap_of(gap: &Value) -> Option<String> {
    match gap {
        Value::Object(sides) => {
            let side = |name: &str| sides.get(name).and_then(css_value).unwrap_or_else(|| "0.5em".to_owned());
            let (top, left) = (side("top"), side("left"));
            Some(if top == left { top } else { format!("{top} {left}") })
        }
        Value::Null => None,
        gap => css_value(gap),
    }
}

fn flow_gap(class: &str, gap: &Value) -> String {
    let top = match gap {
        Value::Object(sides) => sides.get("top").and_then(css_value),
        Value::Null => None,
        gap => css_value(gap),
    };
    let Some(top) = top.filter(|top| is_safe(top)) else { return String::new() };
    format!(
        ".{class} > *{{margin-block-start:0;margin-block-end:0;}}.{class} > * + *{{margin-block-start:{top};margin-block-end:0;}}"
    )
}

fn constrained(class: &str, layout: &Map<String, Value>, spacing: &Value) -> String {
    let inside = format!(".{class} > :where(:not(.alignleft):not(.alignright):not(.alignfull))");
    let side = layout.get("justifyContent").and_then(Value::as_str).unwrap_or_default();
    let margin = |own: &str| Some(if side == own { "0 !important" } else { "auto !important" }.to_owned());
    let mut css = String::new();
    if let Some(width) = text(layout, "contentSize").filter(|width| is_safe(width)) {
        let wide = text(layout, "wideSize").filter(|wide| is_safe(wide)).unwrap_or_else(|| width.clone());
        let mut rules = Rules::default();
        rules.declare("max-width", Some(width));
        rules.declare("margin-left", margin("left"));
        rules.declare("margin-right", margin("right"));
        css.push_str(&rules.of(&inside));
        let _ = write!(css, ".{class} > .alignwide{{max-width:{wide};}}.{class} .alignfull{{max-width:none;}}");
    } else if matches!(side, "left" | "right") {
        let _ = write!(css, "{inside}{{margin-{side}:0 !important;}}");
    }
    let mut full = Rules::default();
    for side in ["right", "left"] {
        let padding = css_value(&spacing["padding"][side]).map(|padding| match padding.as_str() {
            "0" => "0".to_owned(),
            padding => format!("calc({padding} * -1)"),
        });
        full.declare(&format!("margin-{side}"), padding.filter(|_| !spacing["padding"][side].is_null()));
    }
    css + &full.of(&format!(".{class} > .alignfull"))
}

fn flex(class: &str, layout: &Map<String, Value>, gap: &Value) -> String {
    let word = |name: &str| layout.get(name).and_then(Value::as_str).unwrap_or_default();
    let side = |name: &str| match name {
        "left" | "top" => Some("flex-start"),
        "right" | "bottom" => Some("flex-end"),
        "center" => Some("center"),
        "stretch" => Some("stretch"),
        "space-between" => Some("space-between"),
        _ => None,
    };
    let mut rules = Rules::default();
    rules.declare("flex-wrap", Some(word("flexWrap")).filter(|wrap| *wrap == "nowrap").map(str::to_owned));
    rules.declare("gap", gap_of(gap));
    let (along, across) = (side(word("justifyContent")), side(word("verticalAlignment")));
    let own = |value: Option<&str>| value.map(str::to_owned);
    if matches!(word("orientation"), "" | "horizontal") {
        rules.declare("justify-content", own(along.filter(|side| *side != "stretch")));
        rules.declare("align-items", own(across.filter(|side| *side != "space-between")));
    } else {
        rules.declare("flex-direction", Some("column".to_owned()));
        rules.declare("align-items", own(along.filter(|side| *side != "space-between").or(Some("flex-start"))));
        rules.declare("justify-content", own(across.filter(|side| *side != "stretch")));
    }
    rules.of(&format!(".{class}"))
}

fn grid(class: &str, layout: &Map<String, Value>, gap: &Value) -> String {
    let count = layout.get("columnCount").filter(|n| truthy(n)).map(|n| svc_php::cast::to_int(n).clamp(1, 100));
    let min_width = text(layout, "minimumColumnWidth").filter(|width| is_safe(width));
    let between = gap_of(gap).and_then(|gap| gap.split(' ').next_back().map(str::to_owned)).filter(|gap| is_safe(gap));
    let mut rules = Rules::default();
    let is_fixed = count.is_some() && min_width.is_none();
    rules.declare(
        "grid-template-columns",
        Some(match (count, min_width) {
            (Some(count), None) => format!("repeat({count}, minmax(0, 1fr))"),
            (None, min_width) => {
                format!("repeat(auto-fill, minmax(min({}, 100%), 1fr))", min_width.unwrap_or_else(|| COLUMN.to_owned()))
            }
            (Some(count), Some(min_width)) => {
                let gap = between.unwrap_or_else(|| GAP.to_owned());
                format!(
                    "repeat(auto-fill, minmax(max(min({min_width}, 100%), (100% - ({gap} * ({count} - 1))) /{count}), 1fr))"
                )
            }
        }),
    );
    if !is_fixed {
        rules.declare("container-type", Some("inline-size".to_owned()));
    }
    let rows = layout.get("rowCount").filter(|n| is_fixed && truthy(n)).map(|n| svc_php::cast::to_int(n).clamp(1, 100));
    rules.declare("grid-template-rows", rows.map(|rows| format!("repeat({rows}, minmax(1rem, auto))")));
    rules.declare("gap", gap_of(gap));
    rules.of(&format!(".{class}"))
}

fn colors(element: &Value, mark: &str) -> Rules {
    let mut rules = Rules::default();
    for (property, name) in [("color", "text"), ("background-color", "background"), ("background", "gradient")] {
        rules.declare_with(property, css_value(&element["color"][name]), mark);
    }
    rules
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn container(kind: &str, layout: Value, gap: Value, expected: &str) {
        let mut styles = Styles::default();
        let layout = layout.as_object().cloned().unwrap_or_default();
        let spacing = json!({"padding": {"left": "1px", "right": "0"}});
        let spacing = if kind == "constrained" && layout.is_empty() { spacing } else { Value::Null };
        styles.container("c", kind, &layout, &spacing, &gap);
        assert_eq!(styles.css(), expected);
    }

    /// Rules as recorded from WordPress.
    #[test]
    fn containers_have_rules() {
        let g1 = || json!("3rem");
        for (kind, layout, gap, expected) in [
            (
                "default",
                json!({}),
                g1(),
                ".c > *{margin-block-start:0;margin-block-end:0;}.c > * + *{margin-block-start:3rem;margin-block-end:0;}",
            ),
            ("default", json!({}), json!("1px;}b{"), ""),
            ("constrained", json!({}), Value::Null, ".c > .alignfull{margin-right:0;margin-left:calc(1px * -1);}"),
            (
                "constrained",
                json!({"contentSize": "50%", "wideSize": "900px"}),
                Value::Null,
                ".c > :where(:not(.alignleft):not(.alignright):not(.alignfull)){max-width:50%;margin-left:auto !important;margin-right:auto !important;}.c > .alignwide{max-width:900px;}.c .alignfull{max-width:none;}",
            ),
            (
                "constrained",
                json!({"justifyContent": "left"}),
                Value::Null,
                ".c > :where(:not(.alignleft):not(.alignright):not(.alignfull)){margin-left:0 !important;}",
            ),
            (
                "flex",
                json!({"flexWrap": "nowrap", "justifyContent": "right", "verticalAlignment": "bottom"}),
                g1(),
                ".c{flex-wrap:nowrap;gap:3rem;justify-content:flex-end;align-items:flex-end;}",
            ),
            (
                "flex",
                json!({"orientation": "vertical", "verticalAlignment": "space-between"}),
                json!({"top": "1px", "left": "2px"}),
                ".c{gap:1px 2px;flex-direction:column;align-items:flex-start;justify-content:space-between;}",
            ),
            (
                "grid",
                json!({}),
                json!("var:preset|spacing|50"),
                ".c{grid-template-columns:repeat(auto-fill, minmax(min(12rem, 100%), 1fr));container-type:inline-size;gap:var(--wp--preset--spacing--50);}",
            ),
            (
                "grid",
                json!({"columnCount": 2, "rowCount": 4}),
                Value::Null,
                ".c{grid-template-columns:repeat(2, minmax(0, 1fr));grid-template-rows:repeat(4, minmax(1rem, auto));}",
            ),
            (
                "grid",
                json!({"columnCount": 3, "minimumColumnWidth": "12rem"}),
                g1(),
                ".c{grid-template-columns:repeat(auto-fill, minmax(max(min(12rem, 100%), (100% - (3rem * (3 - 1))) /3), 1fr));container-type:inline-size;gap:3rem;}",
            ),
        ] {
            container(kind, layout, gap, expected);
        }
    }

    #[test]
    fn blocks_in_containers_have_rules() {
        for (layout, parent, expected) in [
            (json!({"selfStretch": "fixed", "flexSize": "30%"}), json!({}), ".c{flex-basis:30%;}"),
            (
                json!({"columnStart": 1, "columnSpan": 2, "rowSpan": "2"}),
                json!({"columnCount": 3}),
                ".c{grid-column:1 / span 2;grid-row:span 2;}",
            ),
            (
                json!({"columnSpan": 2}),
                json!({"minimumColumnWidth": "10rem"}),
                ".c{grid-column:span 2;}@container (max-width: 21.5rem ){.c{grid-column:1/-1;grid-row:auto;}}",
            ),
        ] {
            let mut styles = Styles::default();
            styles.child("c", layout.as_object().unwrap(), parent.as_object());
            assert_eq!(styles.css(), expected);
        }
    }

    #[test]
    fn rules_cannot_end_their_style_element() {
        let mut styles = Styles::default();
        for css in ["color:red}</style>", "a{b", "@import url(x)", "</style>"] {
            styles.custom_css("c", css);
        }
        styles.elements(
            "c",
            &json!({"link": {"color": {"text": "red}</style>"}}, "h1": {"color": {"gradient": "url(\"x"}}}),
        );
        styles.position("c", &json!({"top": "0;}"}));
        assert_eq!(styles.css(), ".c{z-index:10;}");
        styles.custom_css("c", "color:red; & p{color:blue}");
        assert!(styles.css().ends_with(":root :where(.c){color:red; & p{color:blue}}"));
    }
}
