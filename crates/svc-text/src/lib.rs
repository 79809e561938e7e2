//! Text sanitizers and escapes: plain text, addresses, slugs, file names, e-mail. Text in, text out.
//!
//! Every function is a free function over `&str`, runs in time linear in its input and never fails: what does not fit is
//! removed, escaped or gives an empty text. Rendering of content (blocks, paragraphs, allowed HTML) is elsewhere; so is
//! everything that needs a site: its addresses, its options, its database.

mod email;
mod entities;
mod escape;
mod plain;
mod protocol;
mod tags;
mod trim;
mod url;
mod url_parts;

pub use email::{is_email, sanitize_email};
pub use entities::normalize_entities;
pub use escape::{esc_attr, esc_html, esc_textarea};
pub use plain::{sanitize_text_field, sanitize_textarea_field};
pub use protocol::{ALLOWED_PROTOCOLS, bad_protocol};
pub use tags::{strip_all_tags, strip_tags};
pub use trim::{is_space, trim, trim_end, trim_start};
pub use url::{esc_url, esc_url_with, sanitize_url, sanitize_url_with};
pub use url_parts::{UrlParts, parse_url, parse_url_relative};
