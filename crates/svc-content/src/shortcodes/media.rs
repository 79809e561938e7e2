//! The standard shortcodes that depend only on their own text: captions and players.

use svc_php::query::extend_url_with;
use svc_text::{Html, esc_attr, esc_html, esc_url, html, sanitize_html_class, strip_all_tags, trim};

use super::{Call, Shortcodes};
use crate::markup::{find, skip_white, stored};

/// Registers them, and placeholders for those that need the site's data.
pub(super) fn register(all: &mut Shortcodes) {
    all.register("caption", caption);
    all.register("wp_caption", caption);
    all.register("audio", audio);
    all.register("video", video);
    // Embeds run before other shortcodes; remaining ones are empty.
    for placeholder in ["embed", "gallery", "playlist"] {
        all.register(placeholder, |_| Html::new());
    }
}

/// A number as PHP parses it: leading digits, or 0.
fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = if len == 0 { 0 } else { digits[..len].parse().unwrap_or(i64::MAX) };
    if text.starts_with('-') { -number } else { number }
}

/// An image with a caption. Source: `img_caption_shortcode`.
fn caption(call: &Call<'_>) -> Html {
    let content = call.content.unwrap_or_default();
    let attr = |name: &str| call.attributes.get(name);
    let (content, text) = match attr("caption") {
        Some(text) if text.contains('<') => (content, strip_all_tags(text, false)),
        Some(text) => (content, text.to_owned()),
        None => match image_and_rest(content) {
            Some((image, rest)) => (image, trim(rest).to_owned()),
            None => (content, String::new()),
        },
    };
    let width = leading_number(attr("width").unwrap_or_default());
    if width < 1 || text.is_empty() || text == "0" {
        return stored(content);
    }
    let (mut id, mut caption_id) = (String::new(), attr("caption_id").unwrap_or_default().to_owned());
    if let Some(own) = attr("id").filter(|id| !id.is_empty()) {
        id = unique_id(call, &sanitize_html_class(own, ""));
        if caption_id.is_empty() {
            caption_id = format!("caption-{}", id.replace('_', "-"));
        }
    }
    let describes = if caption_id.is_empty() {
        Html::new()
    } else {
        caption_id = sanitize_html_class(&caption_id, "");
        html!("aria-describedby=\"{}\" ", esc_attr(&caption_id))
    };
    let id = if id.is_empty() { Html::new() } else { html!("id=\"{}\" ", esc_attr(&id)) };
    let caption_id = if caption_id.is_empty() { Html::new() } else { html!("id=\"{}\" ", esc_attr(&caption_id)) };
    let align = attr("align").unwrap_or("alignnone");
    let class = format!("wp-caption {align} {}", attr("class").unwrap_or_default());
    let class = esc_attr(trim(&class));
    let (content, text) = (call.render(content), stored(text));
    if call.page.html5.get() {
        return html!(
            "<figure {id}{describes}style=\"width: {width}px\" class=\"{class}\">{content}<figcaption {caption_id}\
             class=\"wp-caption-text\">{text}</figcaption></figure>",
            id = id,
            describes = describes,
            width = width,
            class = class,
            content = content,
            caption_id = caption_id,
            text = text
        );
    }
    let content = stored(content.replace("<img ", &html!("<img {}", describes)));
    html!(
        "<div {}style=\"width: {}px\" class=\"{}\">{}<p {}class=\"wp-caption-text\">{}\
         </p></div>",
        id,
        width.saturating_add(10),
        class,
        content,
        caption_id,
        text
    )
}

/// An id that no other caption of the page has.
fn unique_id(call: &Call<'_>, id: &str) -> String {
    match call.page.number(&format!("id {id}")) {
        1 => id.to_owned(),
        n => format!("{id}-{n}"),
    }
}

/// The first image with the link around it, and the content after it.
fn image_and_rest(content: &str) -> Option<(&str, &str)> {
    let lower = content.to_ascii_lowercase();
    let tag_end = |at: usize, open: &str| {
        // The tag has at least one character.
        let inside = at + open.len();
        let end = find(&lower, inside, ">")?;
        (end > inside).then_some(end + 1)
    };
    let mut from = 0;
    loop {
        let at = find(&lower, from, "<")?;
        from = at + 1;
        let mut image = at;
        if lower[at..].starts_with("<a ") {
            let end = tag_end(at, "<a ")?;
            image = skip_white(&lower, end);
        }
        if !lower[image..].starts_with("<img ") {
            continue;
        }
        let mut end = tag_end(image, "<img ")?;
        let close = skip_white(&lower, end);
        if lower[close..].starts_with("</a>") {
            end = close + 4;
        }
        return Some((&content[at..end], &content[end..]));
    }
}

const AUDIO: [(&str, &str); 5] =
    [("mp3", "audio/mpeg"), ("ogg", "audio/ogg"), ("flac", "audio/flac"), ("m4a", "audio/mpeg"), ("wav", "audio/wav")];
const VIDEO: [(&str, &str); 5] =
    [("mp4", "video/mp4"), ("m4v", "video/mp4"), ("webm", "video/webm"), ("ogv", "video/ogg"), ("flv", "video/x-flv")];

/// The media type of a URL by its extension.
fn media_type(url: &str, types: &[(&str, &'static str)]) -> Option<&'static str> {
    let (_, end) = url.rsplit_once('.')?;
    types.iter().find(|(name, _)| end.eq_ignore_ascii_case(name)).map(|(_, mime)| *mime)
}

/// The kind of a URL with an audio or video extension, which is also the name of the shortcode.
pub(crate) fn media_kind(url: &str) -> Option<&'static str> {
    let found = |types, kind| media_type(url, types).map(|_| kind);
    found(&AUDIO, "audio").or_else(|| found(&VIDEO, "video"))
}

/// The sources of a player: URLs and media types. `src` is first.
fn sources<'c>(call: &'c Call<'_>, types: &[(&'c str, &'static str)]) -> Vec<(&'c str, &'static str)> {
    let names = std::iter::once("src").chain(types.iter().map(|(name, _)| *name));
    let given = names.filter_map(|name| call.attributes.get(name).filter(|url| !url.is_empty()));
    given.map(|url| (url, media_type(url, types).unwrap_or_default())).collect()
}

/// Whether a boolean attribute of a player is set: it has a value other than `0` and `false`.
fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| !matches!(value, "" | "0") && !value.eq_ignore_ascii_case("false"))
}

/// The attributes of a player. Those without a value are omitted; boolean attributes have only a name.
fn player_attributes(
    named: &[(&'static str, Option<String>)],
    switches: [(&'static str, bool); 3],
    last: &[(&'static str, Option<String>)],
) -> Html {
    let write = |(name, value): &(&'static str, Option<String>)| {
        let value = value.as_ref().filter(|value| !matches!(value.as_str(), "" | "0"))?;
        Some(html!("{}=\"{}\"", name, esc_attr(value)))
    };
    let switches = switches.iter().filter(|(_, on)| *on).map(|(name, _)| Html::from(*name));
    Html::join(named.iter().filter_map(write).chain(switches).chain(last.iter().filter_map(write)), " ")
}

fn source_tags(sources: &[(&str, &'static str)], number: u64) -> Html {
    let tag = |(url, mime): &(&str, &'static str)| {
        let url = extend_url_with(url, [("_", number.to_string().as_str())]);
        html!("<source type=\"{}\" src=\"{}\" />", mime, esc_url(&url))
    };
    sources.iter().map(tag).collect()
}

/// A link for browsers without a player.
fn fallback(url: &str) -> Html {
    let url = esc_url(url);
    html!("<a href=\"{url}\">{url}</a>", url = url)
}

fn embedded_link(kind: &'static str, url: &str) -> Html {
    html!("<a class=\"wp-embedded-{}\" href=\"{}\">{}</a>", kind, esc_url(url), esc_html(url))
}

/// The content of a player besides its sources.
fn inner(content: Option<&str>) -> Html {
    stored(trim(&content.unwrap_or_default().replace(['\r', '\n', '\t'], "")))
}

/// An audio player. Source: `wp_audio_shortcode`.
fn audio(call: &Call<'_>) -> Html {
    let number = call.page.number("audio");
    let attr = |name: &str| call.attributes.get(name).map(str::to_owned);
    let own = call.attributes.get("src").filter(|url| !url.is_empty());
    if let Some(url) = own.filter(|url| media_type(url, &AUDIO).is_none()) {
        return embedded_link("audio", url);
    }
    let sources = sources(call, &AUDIO);
    let Some((first, _)) = sources.first().filter(|(_, mime)| !mime.is_empty()) else { return Html::new() };
    let or = |name: &str, default: &str| attr(name).or_else(|| Some(default.to_owned()));
    let attributes = player_attributes(
        &[
            ("class", or("class", "wp-audio-shortcode")),
            ("id", Some(format!("audio-{}-{number}", call.page.post.get()))),
        ],
        ["loop", "autoplay", "muted"].map(|name| (name, is_on(call.attributes.get(name)))),
        &[("preload", or("preload", "none")), ("style", or("style", "width: 100%;"))],
    );
    html!("<audio {} controls=\"controls\">{}{}</audio>", attributes, source_tags(&sources, number), fallback(first))
}

/// A video player. Source: `wp_video_shortcode`.
fn video(call: &Call<'_>) -> Html {
    let number = call.page.number("video");
    let attr = |name: &str| call.attributes.get(name).map(str::to_owned);
    let mut all = sources(call, &VIDEO);
    let own = call.attributes.get("src").filter(|url| !url.is_empty());
    let service = own.and_then(video_service);
    let is_looped = is_on(call.attributes.get("loop"));
    let with_loop;
    if let Some(url) = own {
        match service {
            Some("video/vimeo") => {
                with_loop = extend_url_with(url, [("loop", if is_looped { "1" } else { "0" })]);
                all[0] = (with_loop.as_str(), "video/vimeo");
            }
            Some(mime) => all[0].1 = mime,
            None if media_type(url, &VIDEO).is_none() => return embedded_link("video", url),
            None => {}
        }
    }
    let Some((first, _)) = all.first().filter(|(_, mime)| !mime.is_empty()) else { return Html::new() };
    let or = |name: &str, default: &str| attr(name).or_else(|| Some(default.to_owned()));
    let width = attr("width").unwrap_or_else(|| "640".to_owned());
    let attributes = player_attributes(
        &[
            ("class", or("class", "wp-video-shortcode")),
            ("id", Some(format!("video-{}-{number}", call.page.post.get()))),
            ("width", Some(leading_number(&width).unsigned_abs().to_string())),
            (
                "height",
                Some(leading_number(&attr("height").unwrap_or_else(|| "360".to_owned())).unsigned_abs().to_string()),
            ),
            ("poster", attr("poster").map(|url| esc_url(&url).into_string())),
        ],
        [
            ("loop", is_looped),
            ("autoplay", is_on(call.attributes.get("autoplay"))),
            ("muted", is_on(call.attributes.get("muted"))),
        ],
        &[("preload", or("preload", "metadata"))],
    );
    let rule = match leading_number(&width) {
        0 => Html::new(),
        width => html!("width: {}px;", width),
    };
    html!(
        "<div style=\"{}\" class=\"wp-video\"><video {} controls=\"controls\">{}{}{}</video></div>",
        rule,
        attributes,
        source_tags(&all, number),
        inner(call.content),
        fallback(first)
    )
}

/// The media type for the URL of a video service.
fn video_service(url: &str) -> Option<&'static str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.strip_prefix("www.").unwrap_or(rest);
    if host.starts_with("youtube.com/watch") || host.starts_with("youtu.be/") {
        return Some("video/youtube");
    }
    let at = rest.find("vimeo.com/")?;
    (at == 0 || at > 1 && rest.as_bytes()[at - 1] == b'.').then_some("video/vimeo")
}
