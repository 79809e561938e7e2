//! Duotone filters, which show images in two or more colours.
//!
//! Blocks get a class. The CSS rules and SVG filters are collected for pages.

use serde_json::Value;
use svc_text::{Html, esc_attr, html};

use super::{Theme, styles::Styles, supports};
use crate::blocks::{Block, BlockType};

/// Maximum number of colours in a filter.
const MAX_COLORS: usize = 16;

/// The duotone setting of a block.
enum DuotoneSetting<'c> {
    /// Colours of the filter.
    Colors(Vec<&'c str>),
    /// No filter, regardless of the theme.
    Unset,
    Unknown,
}

/// Adds the duotone class to a block, and its rule and filter to the page's styles. Source: the duotone block
/// support.
pub(super) fn add(
    html: String,
    block: &Block<'_>,
    block_type: &BlockType,
    theme: &Theme,
    styles: Option<&mut Styles>,
    id: impl Fn() -> u64,
) -> String {
    let has = block_type.has_support(&["filter", "duotone"], false)
        || block_type.has_support(&["color", "__experimentalDuotone"], false);
    let value = &block["style"]["color"]["duotone"];
    if !has || value.is_null() || html.is_empty() {
        return html;
    }
    let text = value.as_str().unwrap_or_default();
    let preset = text
        .strip_prefix("var:preset|duotone|")
        .or_else(|| text.strip_prefix("var(--wp--preset--duotone--")?.strip_suffix(')'))
        .filter(|slug| slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .and_then(|slug| theme.duotones.iter().find(|known| known.slug == slug));
    let (class, setting) = match (preset, value) {
        (Some(preset), _) => (
            format!("wp-duotone-{}", preset.slug),
            DuotoneSetting::Colors(preset.colors.iter().map(String::as_str).collect()),
        ),
        (None, Value::Array(colors)) => {
            let colors: Vec<&str> = colors.iter().filter_map(Value::as_str).collect();
            let name = colors.iter().map(|color| plain(color)).collect::<Vec<_>>().join("-");
            (format!("wp-duotone-{name}-{}", id()), DuotoneSetting::Colors(colors))
        }
        (None, _) => {
            let setting = if text == "unset" { DuotoneSetting::Unset } else { DuotoneSetting::Unknown };
            (format!("wp-duotone-{}-{}", plain(text), id()), setting)
        }
    };
    if let Some(styles) = styles {
        let image_selector = image_selector(block_type, &class);
        match setting {
            DuotoneSetting::Colors(colors) => {
                styles.apply_filter(&image_selector, &format!("url(#{class})"));
                styles.filter(&filter(&class, &colors));
            }
            DuotoneSetting::Unset => styles.apply_filter(&image_selector, "unset"),
            DuotoneSetting::Unknown => {}
        }
    }
    supports::add(html, "", &[&class])
}

fn plain(color: &str) -> String {
    color.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The CSS selector of a block's images.
fn image_selector(block_type: &BlockType, class: &str) -> String {
    let of_type = block_type.selectors.get("filter").and_then(|filter| filter["duotone"].as_str()).unwrap_or("img");
    let own = |selector: &str| format!(".{class}{}{selector}", if selector.starts_with('.') { "" } else { " " });
    of_type.split(',').map(|selector| own(selector.trim())).collect::<Vec<_>>().join(", ")
}

/// An SVG filter that maps shades of grey to these colours.
fn filter(id: &str, colors: &[&str]) -> Html {
    let rgb: Vec<[f64; 4]> = colors.iter().take(MAX_COLORS).map(|color| channels(color)).collect();
    let mut out = html!(
        "<filter id=\"{}\"><feColorMatrix color-interpolation-filters=\"sRGB\" type=\"matrix\" values=\".299 .587 .114 0 0 .299 .587 .114 0 0 .299 .587 .114 0 0 .299 .587 .114 0 0\" /><feComponentTransfer color-interpolation-filters=\"sRGB\">",
        esc_attr(id)
    );
    for (index, name) in ["R", "G", "B", "A"].into_iter().enumerate() {
        let values: Vec<String> = rgb.iter().map(|color| format!("{:.4}", color[index])).collect();
        let values = esc_attr(&values.join(" "));
        out.push(html!("<feFunc{} type=\"table\" tableValues=\"{}\" />", name, values));
    }
    out.push("</feComponentTransfer><feComposite in2=\"SourceGraphic\" operator=\"in\" /></filter>");
    out
}

/// Red, green, blue and alpha of a colour, from 0 to 1. Black if the colour is not hexadecimal.
fn channels(color: &str) -> [f64; 4] {
    const BLACK: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
    let Some(digits) = color.strip_prefix('#').filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit())) else {
        return BLACK;
    };
    let width = match digits.len() {
        3 | 4 => 1,
        6 | 8 => 2,
        _ => return BLACK,
    };
    let mut out = BLACK;
    for (channel, start) in out.iter_mut().zip((0..digits.len()).step_by(width)) {
        let value = digits.get(start..start + width).and_then(|text| u8::from_str_radix(text, 16).ok());
        let max = if width == 1 { 15.0 } else { 255.0 };
        *channel = f64::from(value.unwrap_or_default()) / max;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_channels() {
        for (color, expected) in [
            ("#000", [0.0, 0.0, 0.0, 1.0]),
            ("#ff0000", [1.0, 0.0, 0.0, 1.0]),
            ("#0f08", [0.0, 1.0, 0.0, 8.0 / 15.0]),
            ("#00000000", [0.0, 0.0, 0.0, 0.0]),
            ("red", [0.0, 0.0, 0.0, 1.0]),
            ("#12", [0.0, 0.0, 0.0, 1.0]),
        ] {
            assert_eq!(channels(color), expected, "{color}");
        }
        let svg = filter("x", &["#000", "#ff0000"]);
        assert!(svg.contains(r#"<feFuncR type="table" tableValues="0.0000 1.0000" />"#), "{svg}");
    }
}
