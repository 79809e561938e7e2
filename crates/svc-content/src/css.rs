//! Filters the CSS declarations of `style` attributes.

use svc_text::{ALLOWED_PROTOCOLS, bad_protocol, remove_nulls, trim};

/// Allowed properties, sorted. Custom properties (`--name`) are also allowed.
#[rustfmt::skip]
const PROPERTIES: &[&str] = &[
    "align-content", "align-items", "align-self", "alignment-baseline", "aspect-ratio", "background",
    "background-attachment", "background-blend-mode", "background-color", "background-image", "background-position",
    "background-repeat", "background-size", "baseline-shift", "border", "border-bottom", "border-bottom-color",
    "border-bottom-left-radius", "border-bottom-right-radius", "border-bottom-style", "border-bottom-width",
    "border-collapse", "border-color", "border-left", "border-left-color", "border-left-style", "border-left-width",
    "border-radius", "border-right", "border-right-color", "border-right-style", "border-right-width",
    "border-spacing", "border-style", "border-top", "border-top-color", "border-top-left-radius",
    "border-top-right-radius", "border-top-style", "border-top-width", "border-width", "bottom", "box-shadow",
    "caption-side", "clear", "clip-path", "clip-rule", "color", "color-interpolation",
    "color-interpolation-filters", "color-rendering", "column-count", "column-fill", "column-gap", "column-rule",
    "column-span", "column-width", "columns", "container-type", "cursor", "cx", "cy", "d", "direction", "display",
    "dominant-baseline", "fill", "fill-opacity", "fill-rule", "filter", "flex", "flex-basis", "flex-direction",
    "flex-flow", "flex-grow", "flex-shrink", "flex-wrap", "float", "flood-color", "flood-opacity", "font",
    "font-family", "font-size", "font-size-adjust", "font-stretch", "font-style", "font-variant", "font-weight",
    "gap", "glyph-orientation-horizontal", "glyph-orientation-vertical", "grid-auto-columns", "grid-auto-rows",
    "grid-column", "grid-column-end", "grid-column-gap", "grid-column-start", "grid-gap", "grid-row",
    "grid-row-end", "grid-row-gap", "grid-row-start", "grid-template-columns", "grid-template-rows", "height",
    "image-rendering", "justify-content", "justify-items", "justify-self", "left", "letter-spacing",
    "lighting-color", "line-height", "list-style-type", "margin", "margin-block-end", "margin-block-start",
    "margin-bottom", "margin-inline-end", "margin-inline-start", "margin-left", "margin-right", "margin-top",
    "marker", "marker-end", "marker-mid", "marker-start", "mask", "mask-type", "max-height", "max-width",
    "min-height", "min-width", "object-fit", "object-position", "opacity", "overflow", "padding",
    "padding-block-end", "padding-block-start", "padding-bottom", "padding-inline-end", "padding-inline-start",
    "padding-left", "padding-right", "padding-top", "paint-order", "pointer-events", "position", "r", "right",
    "row-gap", "rx", "ry", "shape-rendering", "stop-color", "stop-opacity", "stroke", "stroke-dasharray",
    "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width",
    "text-align", "text-anchor", "text-decoration", "text-indent", "text-rendering", "text-transform", "top",
    "transform", "transform-origin", "unicode-bidi", "vector-effect", "vertical-align", "visibility", "white-space",
    "width", "word-spacing", "writing-mode", "x", "y", "z-index",
];

/// Properties whose value may have `url(…)`.
const URL_PROPERTIES: &[&str] = &[
    "background",
    "background-image",
    "clip-path",
    "cursor",
    "fill",
    "filter",
    "marker",
    "marker-end",
    "marker-mid",
    "marker-start",
    "mask",
    "stroke",
];

/// Properties whose value may have gradients.
const GRADIENT_PROPERTIES: &[&str] = &["background", "background-image"];

/// Functions that are allowed in every value, with any balanced arguments.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "calc", "circle", "clamp", "ellipse", "inset", "matrix", "matrix3d", "max", "min", "minmax", "path",
    "perspective", "polygon", "rect", "repeat", "rotate", "rotate3d", "rotateX", "rotateY", "rotateZ", "scale", "scale3d",
    "scaleX", "scaleY", "scaleZ", "shape", "skew", "skewX", "skewY", "translate", "translate3d", "translateX",
    "translateY", "translateZ", "var", "xywh",
];

/// Suffixes of gradient function names.
const GRADIENTS: &[&str] = &["linear-gradient", "radial-gradient", "conic-gradient"];

/// Keeps the harmless declarations, joined by `;`: allowed properties whose values call only allowed functions, have
/// URLs only where images are allowed, and have no escapes, comments or assignments.
///
/// Parts without a colon are unchanged if their characters are harmless. The text must be the *decoded* value of an
/// attribute. Source: `safecss_filter_attr`.
pub fn filter_declarations(style: &str) -> String {
    let clean = remove_nulls(style).replace(['\n', '\r', '\t'], "");
    let mut out = String::with_capacity(clean.len());
    for declaration in trim(&clean).split(';') {
        if !declaration.is_empty() && is_harmless(trim(declaration)) {
            if !out.is_empty() {
                out.push(';');
            }
            out.push_str(trim(declaration));
        }
    }
    out
}

fn is_harmless(declaration: &str) -> bool {
    let Some((property, value)) = declaration.split_once(':') else { return is_harmless_text(declaration) };
    let (property, own_value) = (trim(property), trim(value));
    let (allows_url, allows_gradient) = if is_custom(property) {
        (own_value.starts_with("url("), own_value.contains("-gradient("))
    } else if PROPERTIES.binary_search(&property).is_ok() {
        (URL_PROPERTIES.contains(&property), GRADIENT_PROPERTIES.contains(&property))
    } else {
        return false;
    };
    let mut rest = declaration.to_owned();
    if allows_url {
        match without_urls(value) {
            Some(value) => rest = format!("{property}:{value}"),
            None => return false,
        }
    }
    if allows_gradient {
        rest = without_calls(&rest, |before, depth| depth <= 2 && GRADIENTS.iter().any(|name| before.ends_with(name)));
    }
    is_harmless_text(&rest)
}

/// Whether the name is `--` followed by letters, digits, `_` and `-`.
fn is_custom(property: &str) -> bool {
    property.strip_prefix("--").is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    })
}

/// Whether the text without calls of allowed functions has no characters with a special meaning.
fn is_harmless_text(text: &str) -> bool {
    let rest = without_calls(text, |before, _| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        FUNCTIONS.iter().any(|name| before.strip_suffix(name).is_some_and(|head| !head.ends_with(is_word)))
    });
    !rest.contains(['\\', '(', '&', '=', '}']) && !rest.contains("/*")
}

/// Removes `url(…)` from a value; `None` if a URL is empty or has a scheme that is not allowed.
fn without_urls(value: &str) -> Option<String> {
    let mut out = String::with_capacity(value.len());
    let mut at = 0;
    while let Some(i) = value[at..].find("url(") {
        let start = at + i;
        let inside = start + "url(".len();
        let Some(len) = value[inside..].find(')') else { break };
        // An empty one remains, and its parenthesis is rejected later.
        if len > 0 {
            let url = unquote(trim(&value[inside..inside + len]));
            if matches!(url, "" | "0") || bad_protocol(url, ALLOWED_PROTOCOLS) != url {
                return None;
            }
            out.push_str(&value[at..start]);
        } else {
            out.push_str(&value[at..=inside]);
        }
        at = inside + len + 1;
    }
    out.push_str(&value[at..]);
    Some(out)
}

/// Removes a pair of quotes.
fn unquote(text: &str) -> &str {
    let pair = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    trim(pair.unwrap_or(text))
}

/// Removes function calls that `predicate` accepts, except for the function name.
///
/// `predicate` receives the text between the last removed call and an opening parenthesis with a matching closing one,
/// and the nesting depth of parentheses. Takes linear time.
fn without_calls(text: &str, predicate: impl Fn(&str, usize) -> bool) -> String {
    let mut calls: Vec<(usize, usize, usize)> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'(' => {
                open.push((calls.len(), 1));
                calls.push((i, 0, 0));
            }
            b')' => {
                if let Some((call, depth)) = open.pop() {
                    calls[call] = (calls[call].0, i, depth);
                    if let Some((_, outer)) = open.last_mut() {
                        *outer = (*outer).max(depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end, depth) in calls {
        if start >= at && end > 0 && predicate(&text[at..start], depth) {
            out.push_str(&text[at..start]);
            at = end + 1;
        }
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(PROPERTIES.is_sorted());
    }

    #[test]
    fn harmless_declarations_are_kept() {
        for style in [
            "color:red",
            "color:red !important;margin:-1px auto",
            "color",
            "color:",
            "--x-Y_9: a b",
            "color:var(--x, rgb(1,2,3))",
            "width:calc((1px + 2px)*3)",
            "transform:translate(1px,2px) scale(2)",
            "grid-template-columns:repeat(auto-fill, minmax(100px, 1fr))",
            "background-image: url( \"x.png\" )",
            "background:url(http://x/y?a=b&c=d) url('z')",
            "background:url(a(b).png)",
            "--x:url(x.png)",
            "background:linear-gradient(to right, rgb(1,2,3) 0%, foo(x)) , repeating-conic-gradient(red)",
            "--x:linear-gradient(red)",
            "filter:url(#x)",
            "font-family:\"a;b\";aspect-ratio:1/2",
        ] {
            assert_eq!(filter_declarations(style), style);
        }
    }

    #[test]
    fn other_declarations_are_removed() {
        for (style, expected) in [
            (" color : red ; ; ", "color : red;"),
            ("color:red;;foo:x;width:1px;", "color:red;width:1px"),
            ("COLOR:red;-x:1;:a;behavior:x;position:fixed", "position:fixed"),
            ("col\nor:\tr\\0ed", "color:red"),
            ("color:rgb(1,2,3);color:VAR(--x);color:xvar(1);color:expression(1)", ""),
            ("color:a=b;color:a&b;color:a}b;color:a/*b*/;color:a\\b;width:calc(1px;color:(a)", ""),
            ("color:url(x);list-style:url(x);--x:a url(x);background:URL(x)", ""),
            ("background:url();background:url(\"\");background:url(0);background:url( )", ""),
            ("background:url(javascript:x);background:url('data:x');--x:url(x:y)", ""),
            ("background:url(x;y.png)", "y.png)"),
            ("background:linear-gradient(a(b(c)));color:linear-gradient(red);background:linear-gradient(red", ""),
            ("", ""),
        ] {
            assert_eq!(filter_declarations(style), expected, "{style:?}");
        }
    }
}
