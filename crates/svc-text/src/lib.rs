#![doc = include_str!("../README.md")]

mod accents;
mod email;
mod emoji;
mod entities;
mod escape;
mod file_name;
mod html;
mod names;
mod number;
mod plain;
mod plain_text;
mod protocol;
mod slashes;
mod slug;
mod tags;
mod trim;
mod url;
mod url_parts;

pub use accents::{remove_accents, remove_accents_from_bytes};
pub use email::{is_email, sanitize_email};
pub use emoji::encode_emoji;
pub use entities::{Quotes, convert_invalid_entities, decode_references, normalize_entities, specialchars_decode};
pub use escape::{esc_attr, esc_html, esc_js, esc_textarea, esc_xml};
pub use file_name::{MimeTypes, basename, check_filetype, sanitize_file_name};
pub use html::{Html, HtmlArgument, HtmlPart};
pub use names::{
    kebab_case, sanitize_hex_color, sanitize_html_class, sanitize_key, sanitize_locale_name, sanitize_mime_type,
    sanitize_user, validate_username,
};
pub use number::{absint, number_format, size_format, zeroise};
pub use plain::{escape_lone_less_than, normalize_whitespace, sanitize_text_field, sanitize_textarea_field};
pub use plain_text::plain_text;
pub use protocol::{ALLOWED_PROTOCOLS, bad_protocol, remove_nulls};
pub use slashes::{slash, trailing_slash, unslash, untrailing_slash};
pub use slug::{
    sanitize_title, sanitize_title_for_locale, sanitize_title_with_dashes, truncate_post_slug,
    truncate_post_slug_bytes, utf8_uri_encode,
};
pub use tags::{strip_all_tags, strip_tags};
pub use trim::{is_space, trim, trim_end, trim_start};
pub use url::{
    esc_url, esc_url_with, make_link_relative, sanitize_redirect, sanitize_trackback_urls, sanitize_url,
    sanitize_url_with, url_shorten,
};
pub use url_parts::{UrlParts, parse_url, parse_url_relative};
