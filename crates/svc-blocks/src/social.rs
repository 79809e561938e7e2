//! Social icons: links to profiles on other sites.

use svc_text::{Html, esc_attr, esc_html, esc_url, html, is_email};

use crate::core::BlockCall;

/// Slugs and names of services. Source: recorded responses; the services' own names.
const SERVICES: &[(&str, &str)] = &[
    ("amazon", "Amazon"),
    ("bandcamp", "Bandcamp"),
    ("behance", "Behance"),
    ("bluesky", "Bluesky"),
    ("chain", "Link"),
    ("codepen", "CodePen"),
    ("deviantart", "DeviantArt"),
    ("discord", "Discord"),
    ("dribbble", "Dribbble"),
    ("dropbox", "Dropbox"),
    ("etsy", "Etsy"),
    ("facebook", "Facebook"),
    ("feed", "RSS Feed"),
    ("fivehundredpx", "500px"),
    ("flickr", "Flickr"),
    ("foursquare", "Foursquare"),
    ("github", "GitHub"),
    ("goodreads", "Goodreads"),
    ("google", "Google"),
    ("gravatar", "Gravatar"),
    ("instagram", "Instagram"),
    ("lastfm", "Last.fm"),
    ("linkedin", "LinkedIn"),
    ("mail", "Mail"),
    ("mastodon", "Mastodon"),
    ("medium", "Medium"),
    ("meetup", "Meetup"),
    ("patreon", "Patreon"),
    ("pinterest", "Pinterest"),
    ("pocket", "Pocket"),
    ("reddit", "Reddit"),
    ("share", "Share Icon"),
    ("skype", "Skype"),
    ("snapchat", "Snapchat"),
    ("soundcloud", "SoundCloud"),
    ("spotify", "Spotify"),
    ("telegram", "Telegram"),
    ("threads", "Threads"),
    ("tiktok", "TikTok"),
    ("tumblr", "Tumblr"),
    ("twitch", "Twitch"),
    ("twitter", "Twitter"),
    ("vimeo", "Vimeo"),
    ("vk", "VK"),
    ("whatsapp", "WhatsApp"),
    ("wordpress", "WordPress"),
    ("x", "X"),
    ("yelp", "Yelp"),
    ("youtube", "YouTube"),
];

/// The icon of all services without their own icon here: two links of a chain.
const CHAIN: &str = "M10 13.5a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1 1.2 1.2 1-1a1.8 1.8 0 0 1 2.600 2.600l-3 3a1.800 1.800 0 0 1-2.600 0zM14 10.500a3.500 3.500 0 0 0-5 0l-3 3a3.500 3.500 0 0 0 5 5l1-1-1.200-1.200-1 1a1.800 1.800 0 0 1-2.600-2.600l3-3a1.800 1.800 0 0 1 2.600 0z";
/// The WordPress logo, as recorded.
const WORDPRESS: &str = "M12.158,12.786L9.46,20.625c0.806,0.237,1.657,0.366,2.54,0.366c1.047,0,2.051-0.181,2.986-0.51 c-0.024-0.038-0.046-0.079-0.065-0.124L12.158,12.786z M3.009,12c0,3.559,2.068,6.634,5.067,8.092L3.788,8.341 C3.289,9.459,3.009,10.696,3.009,12z M18.069,11.546c0-1.112-0.399-1.881-0.741-2.48c-0.456-0.741-0.883-1.368-0.883-2.109 c0-0.826,0.627-1.596,1.51-1.596c0.04,0,0.078,0.005,0.116,0.007C16.472,3.904,14.34,3.009,12,3.009 c-3.141,0-5.904,1.612-7.512,4.052c0.211,0.007,0.41,0.011,0.579,0.011c0.94,0,2.396-0.114,2.396-0.114 C7.947,6.93,8.004,7.642,7.52,7.699c0,0-0.487,0.057-1.029,0.085l3.274,9.739l1.968-5.901l-1.401-3.838 C9.848,7.756,9.389,7.699,9.389,7.699C8.904,7.67,8.961,6.93,9.446,6.958c0,0,1.484,0.114,2.368,0.114 c0.94,0,2.397-0.114,2.397-0.114c0.485-0.028,0.542,0.684,0.057,0.741c0,0-0.488,0.057-1.029,0.085l3.249,9.665l0.897-2.996 C17.841,13.284,18.069,12.316,18.069,11.546z M19.889,7.686c0.039,0.286,0.06,0.593,0.06,0.924c0,0.912-0.171,1.938-0.684,3.22 l-2.746,7.94c2.673-1.558,4.47-4.454,4.47-7.771C20.991,10.436,20.591,8.967,19.889,7.686z M12,22C6.486,22,2,17.514,2,12 C2,6.486,6.486,2,12,2c5.514,0,10,4.486,10,10C22,17.514,17.514,22,12,22z";
/// An envelope.
const MAIL: &str = "M3 5h18v14H3zM5 8.200V17h14V8.200l-7 5.300zM6.300 7l5.700 4.300L17.700 7z";

fn icon(service: &str) -> &'static str {
    match service {
        "wordpress" => WORDPRESS,
        "mail" => MAIL,
        _ => CHAIN,
    }
}

pub(crate) fn link(call: &BlockCall<'_>) -> Html {
    let url = call.text("url");
    if url.is_empty() {
        return Html::new();
    }
    let service = call.text("service");
    let name = SERVICES.iter().find(|(known, _)| *known == service).map_or("Share Icon", |(_, name)| *name);
    let label = if call.text("label").is_empty() { name } else { call.text("label") };
    let href = if is_email(url) {
        html!("mailto:{}", obfuscated_email(url))
    } else if url.starts_with('#') || url.starts_with('/') || has_scheme(url) {
        esc_url(url)
    } else {
        esc_url(&format!("https://{url}"))
    };
    let mut rel = call.text("rel").to_owned();
    let new_tab = call.context_value("openInNewTab") == true;
    if new_tab {
        rel = format!("{rel} noopener nofollow").trim_start().to_owned();
    }
    let rel = if rel.is_empty() { Html::new() } else { html!("rel=\"{}\" ", esc_attr(&rel)) };
    let target = if new_tab { "target=\"_blank\" " } else { "" };
    let colors = |name: &str, ending: &str| match call.context_value(name).as_str() {
        Some(color) if !color.is_empty() => format!("has-{color}-{ending}"),
        _ => String::new(),
    };
    let css: Vec<String> = [("iconColorValue", "color"), ("iconBackgroundColorValue", "background-color")]
        .into_iter()
        .filter_map(|(name, property)| {
            let value = call.context_value(name).as_str()?.to_owned();
            let declaration = svc_content::css::filter_declarations(&format!("{property}:{value}"));
            (!declaration.is_empty()).then_some(declaration)
        })
        .collect();
    let class = crate::html::classes(&[
        "wp-social-link",
        &format!("wp-social-link-{service}"),
        &colors("iconColor", "color"),
        &colors("iconBackgroundColor", "background-color"),
    ]);
    let hidden = if call.context_value("showLabels") == true { "" } else { " screen-reader-text" };
    html!(
        "<li {}><a {rel}{target}href=\"{href}\" class=\"wp-block-social-link-anchor\"><svg width=\"24\" height=\"24\" viewBox=\"0 0 24 24\" version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" aria-hidden=\"true\" focusable=\"false\"><path d=\"{}\"></path></svg><span class=\"wp-block-social-link-label{hidden}\">{}</span></a></li>",
        call.wrapper(&[("class", &class), ("style", &css.join(";"))]),
        icon(service),
        esc_html(label),
        rel = rel,
        target = target,
        href = href,
        hidden = hidden
    )
}

/// Whether a URL has a scheme.
fn has_scheme(href: &str) -> bool {
    let Some((scheme, _)) = href.split_once(':') else { return false };
    !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// Writes an e-mail address as character references, to hide it from simple address harvesters.
fn obfuscated_email(href: &str) -> Html {
    href.chars().map(|c| html!("&#{};", esc_html(&format!("{:03}", u32::from(c))))).collect()
}
