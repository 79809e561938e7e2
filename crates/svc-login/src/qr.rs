//! QR codes as SVG.

use std::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc};

/// Width of the empty border, in modules, that readers need.
const BORDER: i32 = 4;

/// A QR code with this text, as an SVG element; `None` if the text is too long. It contains nothing of the text itself, so it needs no
/// escaping.
pub(crate) fn svg(text: &str) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let size = code.size();
    let mut path = String::new();
    for y in 0..size {
        for x in (0..size).filter(|x| code.get_module(*x, y)) {
            // Writing to a string does not fail.
            let _ = write!(path, "M{} {}h1v1h-1z", x + BORDER, y + BORDER);
        }
    }
    let side = size + 2 * BORDER;
    // Dark modules on a light ground in both colour schemes: many readers do not read inverted codes.
    Some(format!(
        r##"<svg class="qr" viewBox="0 0 {side} {side}" role="img" aria-label="QR code" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{side}v{side}H0z"/><path fill="#000" d="{path}"/></svg>"##
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_one_element_without_the_text() {
        let svg = svg("otpauth://totp/<script>:a\"b?secret=GEZDGNBVGY3TQOJQ").expect("the text is short");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>") && svg.matches('<').count() == 4, "{svg}");
        assert!(!svg.contains("script") && !svg.contains("otpauth"));
        assert_eq!(super::svg(&"x".repeat(5_000)), None);
    }
}
