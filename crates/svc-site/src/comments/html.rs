//! Comments as HTML.

use svc_content::{RenderContext, display};
use svc_text::Html;

use crate::Settings;

/// Renders a comment's content as HTML.
pub fn comment(settings: &Settings, raw: &str) -> Html {
    let mut context = RenderContext::default();
    settings.texts.apply(&mut context);
    display::render_comment(raw, &context)
}
