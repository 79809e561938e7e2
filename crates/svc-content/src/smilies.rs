//! Smilies: converts `:-)` and similar text between spaces to emoji or images.

use svc_text::{esc_url, html};

use crate::markup::{find, space_len};

/// Texts and their emoji.
#[rustfmt::skip]
const SMILIES: [(&str, &str); 43] = [
    (":mrgreen:", MR_GREEN), (":neutral:", "😐"), (":twisted:", "😈"), (":arrow:", "➡"), (":shock:", "😯"),
    (":smile:", "🙂"), (":???:", "😕"), (":cool:", "😎"), (":evil:", "👿"), (":grin:", "😀"), (":idea:", "💡"),
    (":oops:", "😳"), (":razz:", "😛"), (":roll:", "🙄"), (":wink:", "😉"), (":cry:", "😥"), (":eek:", "😮"),
    (":lol:", "😆"), (":mad:", "😡"), (":sad:", "🙁"), ("8-)", "😎"), ("8-O", "😯"), (":-(", "🙁"), (":-)", "🙂"),
    (":-?", "😕"), (":-D", "😀"), (":-P", "😛"), (":-o", "😮"), (":-x", "😡"), (":-|", "😐"), (";-)", "😉"),
    ("8O", "😯"), (":(", "🙁"), (":)", "🙂"), (":?", "😕"), (":D", "😀"), (":P", "😛"), (":o", "😮"), (":x", "😡"),
    (":|", "😐"), (";)", "😉"), (":!:", "❗"), (":?:", "❓"),
];
/// The only smiley without an emoji is an image.
const MR_GREEN: &str = "mrgreen.png";

/// Elements in which smilies are unchanged.
const PLAIN: [&str; 5] = ["code", "pre", "style", "script", "textarea"];

/// Converts smilies in HTML to emoji, or to images in the directory `images` (a URL with a trailing slash) if there
/// is none. Source: `convert_smilies`.
pub fn smilies(html: &str, images: &str) -> String {
    if !html.contains([':', ';', '8']) {
        return html.to_owned();
    }
    let mut out = String::with_capacity(html.len());
    let mut plain: Option<&str> = None;
    let mut at = 0;
    while at < html.len() {
        let text_end = next_tag(html, at);
        let (start, end) = text_end.unwrap_or((html.len(), html.len()));
        for part in [&html[at..start], &html[start..end]].into_iter().filter(|part| !part.is_empty()) {
            if plain.is_none() {
                plain = PLAIN.into_iter().find(|name| opens(part, name));
            }
            if plain.is_none() && !part.starts_with('<') {
                replace(part, images, &mut out);
            } else {
                out.push_str(part);
            }
            if plain.is_some_and(|name| part.strip_prefix("</").and_then(|part| part.strip_suffix('>')) == Some(name)) {
                plain = None;
            }
        }
        at = end;
    }
    out
}

/// The next part from `<` to `>`, over several lines. A `<` without `>` is text.
fn next_tag(html: &str, from: usize) -> Option<(usize, usize)> {
    let start = find(html, from, "<")?;
    Some((start, find(html, start, ">")? + 1))
}

/// Whether a part starts with an opening tag. As in WordPress, the name is compared as a prefix.
fn opens(part: &str, name: &str) -> bool {
    part.strip_prefix('<').is_some_and(|rest| rest.starts_with(name) && rest.contains('>'))
}

fn replace(text: &str, images: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let (mut copied, mut at) = (0, 0);
    let mut after_space = true;
    while at < text.len() {
        if let Some(len) = space_len(&bytes[at..]) {
            at += len;
            after_space = true;
            continue;
        }
        let found = after_space.then(|| smiley(text, at)).flatten();
        after_space = false;
        match found {
            Some((smiley, emoji)) => {
                out.push_str(&text[copied..at]);
                if emoji == MR_GREEN {
                    out.push_str(&html!(
                        "<img src=\"{}\" alt=\"{}\" class=\"wp-smiley\" style=\"height: 1em; max-height: 1em;\" />",
                        esc_url(&format!("{images}{emoji}")),
                        smiley
                    ));
                } else {
                    out.push_str(emoji);
                }
                at += smiley.len();
                copied = at;
            }
            None => {
                at += bytes[at..]
                    .iter()
                    .position(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'&' | 0xC2))
                    .map_or(bytes.len() - at, |n| n.max(1))
            }
        }
    }
    out.push_str(&text[copied..]);
}

/// The smiley at this position, if it is followed by a space or the end.
fn smiley(text: &str, at: usize) -> Option<(&'static str, &'static str)> {
    let rest = &text[at..];
    if !rest.starts_with([':', ';', '8']) {
        return None;
    }
    SMILIES.into_iter().find(|(smiley, _)| {
        let after = rest.strip_prefix(smiley);
        after.is_some_and(|after| after.is_empty() || space_len(after.as_bytes()).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smilies_between_spaces() {
        for (text, expected) in [
            (":) x", "🙂 x"),
            ("x:) :)", "x:) 🙂"),
            (":-)&nbsp;:(", "🙂&nbsp;🙁"),
            ("<b>:)</b>", "<b>🙂</b>"),
            ("<code>:)</code> :)", "<code>:)</code> 🙂"),
            ("<a title=\" :) \">", "<a title=\" :) \">"),
            ("< :)", "< :)"),
            ("x < :)", "x < 🙂"),
            ("a <\n:) > :)", "a <\n:) > 🙂"),
            (":???: :?", "😕 😕"),
            ("8-O:", "8-O:"),
        ] {
            assert_eq!(smilies(text, "/i/"), expected, "{text}");
        }
        let image = "<img src=\"/i/mrgreen.png\" alt=\":mrgreen:\" class=\"wp-smiley\" style=\"height: 1em; max-height: 1em;\" />";
        assert_eq!(smilies(":mrgreen:", "/i/"), image);
    }

    #[test]
    fn many_unclosed_tags_stay_linear() {
        let text = "<:) \n".repeat(100_000);
        assert_eq!(smilies(&text, "").len(), text.len());
    }
}
