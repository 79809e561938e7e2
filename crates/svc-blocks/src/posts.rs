//! Blocks about a single post: title, content, date, featured image, terms.

use chrono::NaiveDateTime;
use svc_content::{display, excerpt, kses};
use svc_text::{Html, esc_attr, esc_html, esc_url, html, strip_all_tags};

use crate::{
    core::BlockCall,
    data::{ImageLoading, ImageRequest, PostView},
    date,
    html::{classes, element, formatted, heading, stored},
    supports,
};

/// Number of words in a generated excerpt, before the block truncates it.
const EXCERPT_WORDS: usize = 55;
/// Maximum number of words in an excerpt.
const MAX_EXCERPT_WORDS: i64 = 100;
/// Average reading speed, in words per minute.
const WORDS_PER_MINUTE: f64 = 189.0;
/// The excerpt of a password-protected post.
const LOCKED_EXCERPT: &str = "There is no excerpt because this is a protected post.";

/// The `target` and `rel` attributes of these blocks' links.
fn target_and_rel(call: &BlockCall<'_>) -> Html {
    let rel = match call.text("rel") {
        "" => Html::new(),
        rel => html!("rel=\"{}\"", esc_attr(rel)),
    };
    html!("target=\"{}\" {}", esc_attr(call.text("linkTarget")), rel)
}

/// Whether a title counts as none. As in WordPress, that holds for `0`.
pub(crate) fn is_untitled(title: &str) -> bool {
    matches!(title, "" | "0")
}

/// A title, or a placeholder if there is none.
pub fn title_or_placeholder(title: Html) -> Html {
    if is_untitled(&title) { Html::from("(no title)") } else { title }
}

pub(crate) fn title(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post().filter(|post| !is_untitled(&post.title)) else { return Html::new() };
    let inside = if call.is("isLink") {
        html!("<a href=\"{}\" {}>{}</a>", esc_url(&post.link), target_and_rel(call), post.title)
    } else {
        post.title.clone()
    };
    let tag = heading(call.number("level").unwrap_or(2));
    html!("<{tag} {}>{}</{tag}>", call.wrapper_with(&[&call.align_class(), call.link_class()]), inside, tag = tag)
}

/// A local time as the value of a `datetime` attribute.
pub(crate) fn iso_date(call: &BlockCall<'_>, local: NaiveDateTime) -> String {
    date::format_at(local, call.data().offset(local), "c")
}

/// A local time in the given format, or in the site's date format if that is empty.
pub(crate) fn display_date(call: &BlockCall<'_>, local: NaiveDateTime, format: &str) -> Html {
    let site_info = call.data().site_info();
    match format {
        "human-diff" => esc_html(&date::human_time_diff(local, call.data().now())),
        "" => stored(&date::format_at(local, call.data().offset(local), &site_info.date_format)),
        // The format may contain any text.
        format => esc_html(&date::format_at(local, call.data().offset(local), format)),
    }
}

pub(crate) fn post_date(call: &BlockCall<'_>) -> Html {
    let post = call.post();
    let is_modified = call.text("displayType") == "modified";
    let (shown, datetime, class) = match (call.text("datetime"), &post) {
        ("", Some(post)) => {
            let local = if is_modified { post.post.modified } else { post.post.date };
            // The modification date is shown only for modified posts.
            if is_modified && post.post.modified <= post.post.date {
                return Html::new();
            }
            let Some(local) = local else { return Html::new() };
            let class = if is_modified { "wp-block-post-date__modified-date" } else { "" };
            (local, iso_date(call, local), class)
        }
        ("", None) => return Html::new(),
        (given, _) => match date::read(given) {
            Some(local) => (local, given.to_owned(), ""),
            None => return Html::new(),
        },
    };
    let text = display_date(call, shown, call.text("format"));
    let mut inside = html!("<time datetime=\"{}\">{}</time>", esc_attr(&datetime), text);
    if let (true, Some(post)) = (call.is("isLink"), &post) {
        inside = html!("<a href=\"{}\">{}</a>", esc_url(&post.link), inside);
    }
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class(), class, call.link_class()]), inside)
}

pub(crate) fn content(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    let inside = if post.locked { password_form(&post, call) } else { call.post_content(&post) };
    if inside.is_empty() {
        return Html::new();
    }
    let inside = Html::trusted(inside.replace("]]>", "]]&gt;"), "the post's HTML, with an escaped bracket");
    let tag = element(call.text("tagName"), &["main", "section", "article"]).unwrap_or("div");
    html!("<{tag} {}>{}</{tag}>", call.wrapper_with(&["entry-content"]), inside, tag = tag)
}

/// The password form of a protected post.
fn password_form(post: &PostView, call: &BlockCall<'_>) -> Html {
    let id = post.post.id;
    let action = crate::urls::with(&call.data().site_info().login_url, &[("action", "postpass")]);
    html!(
        concat!(
            "<form action=\"{action}\" class=\"post-password-form\" method=\"post\">",
            "<input type=\"hidden\" name=\"redirect_to\" value=\"{link}\" /></p>\n",
            "<p>Enter the password to read this post.</p>\n",
            "<p><label for=\"pwbox-{id}\">Password: <input name=\"post_password\" id=\"pwbox-{id}\" type=\"password\" spellcheck=\"false\" required size=\"20\" /></label> ",
            "<span class=\"wp-block-button\"><input type=\"submit\" name=\"Submit\" class=\"wp-block-button__link wp-element-button\" value=\"Enter\" /></span></p>\n</form>\n",
        ),
        action = esc_url(&action),
        link = esc_url(&post.link),
        id = id.0
    )
}

/// The post's excerpt, or a generated one with this many words.
fn excerpt_of(call: &BlockCall<'_>, post: &PostView, words: usize) -> Html {
    if post.locked {
        return Html::from(LOCKED_EXCERPT);
    }
    if !svc_text::trim(&post.post.excerpt).is_empty() {
        return stored(&post.post.excerpt);
    }
    call.content_of(format!("excerpt {}", post.post.id), |context| {
        let run = || svc_content::trim_excerpt(&post.post.content, words, context);
        call.blocks.within_post(post.post.id, &post.post.post_type, run)
    })
}

pub(crate) fn post_excerpt(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    let words = usize::try_from(call.number("excerptLength").unwrap_or(55).clamp(0, MAX_EXCERPT_WORDS)).unwrap_or(55);
    let mut text = excerpt_of(call, &post, EXCERPT_WORDS.max(words));
    if post.post.excerpt.is_empty() || words < EXCERPT_WORDS {
        text = stored(&excerpt::trim_words(&text, words, "&hellip;"));
    }
    let text = display::render_inline(svc_text::trim(&text));
    let more = match call.text("moreText") {
        "" => Html::new(),
        more => html!(
            "<a class=\"wp-block-post-excerpt__more-link\" href=\"{}\">{}</a>",
            esc_url(&post.link),
            kses::post(more)
        ),
    };
    let on_new_line = call.attr("showMoreOnNewLine").is_null() || call.is("showMoreOnNewLine");
    let inside = if on_new_line && !more.is_empty() {
        html!(
            "<p class=\"wp-block-post-excerpt__excerpt\">{}</p><p class=\"wp-block-post-excerpt__more-text\">{}</p>",
            text,
            more
        )
    } else {
        html!("<p class=\"wp-block-post-excerpt__excerpt\">{} {}</p>", text, more)
    };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]), inside)
}

pub(crate) fn featured_image(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post().filter(|post| !post.thumbnail.is_none()) else { return Html::new() };
    let is_link = call.is("isLink");
    let mut css = String::new();
    let safe = |name: &str| Some(call.text(name)).filter(|value| is_css_value(value)).unwrap_or_default();
    let (ratio, width, height) = (safe("aspectRatio"), safe("width"), safe("height"));
    let declaration =
        |name: &str, value: &str| if value.is_empty() { String::new() } else { format!("{name}:{value};") };
    let border = supports::stored_border(
        &supports::with_serialized_support(call.block_type, "__experimentalBorder"),
        &call.attrs,
    );
    let border_css = border.css();
    css.push_str(&if border_css.is_empty() { border_css } else { border_css + ";" });
    if !ratio.is_empty() {
        css.push_str(&declaration("aspect-ratio", if ratio == "auto" { "" } else { ratio }));
        css.push_str("width:100%;");
    }
    // With a width and no height, the image's aspect ratio is preserved.
    css.push_str(&declaration("height", if height.is_empty() && !width.is_empty() { "auto" } else { height }));
    css.push_str(&declaration("width", width));
    css.push_str(&declaration("object-fit", safe("scale")));
    if let Some(shadow) = supports::css_value(&call.attr("style")["shadow"]) {
        let shadow = svc_content::css::filter_declarations(&format!("box-shadow:{shadow}"));
        css.push_str(&if shadow.is_empty() { shadow } else { shadow + ";" });
    }
    let size = match call.text("sizeSlug") {
        "" => "post-thumbnail",
        size => size,
    };
    let own = match border.classes.join(" ") {
        classes if classes.is_empty() => format!("attachment-{size} size-{size}"),
        classes => classes,
    };
    let request = ImageRequest {
        size: size.to_owned(),
        class: format!("{own} wp-post-image"),
        alt: is_link.then(|| strip_all_tags(&post.title, false)),
        more: Vec::new(),
        style: Some(css),
        loading: ImageLoading::Late,
    };
    let Some(image) = call.image(post.thumbnail, request) else { return Html::new() };
    let overlay = overlay(call);
    let inside = if is_link {
        html!("<a href=\"{}\" {}>{}{}</a>", esc_url(&post.link), target_and_rel(call), image, overlay)
    } else {
        html!("{}{}", image, overlay)
    };
    html!("<figure {}>{}</figure>", call.wrapper(&[]), inside)
}

/// Whether a string is a plain CSS value: a length, a ratio or a keyword.
fn is_css_value(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || ".%(),+*/ -".contains(c)) && !text.contains("url(")
}

/// The colour overlay of the featured image.
fn overlay(call: &BlockCall<'_>) -> Html {
    let dim = call.number("dimRatio").unwrap_or_default();
    if dim <= 0 {
        return Html::new();
    }
    let mut classes = vec![
        "wp-block-post-featured-image__overlay".to_owned(),
        "has-background-dim".to_owned(),
        format!("has-background-dim-{dim}"),
    ];
    if !call.text("overlayColor").is_empty() {
        classes.push(format!("has-{}-background-color", call.text("overlayColor")));
    }
    if !call.text("gradient").is_empty() || !call.text("customGradient").is_empty() {
        classes.push("has-background-gradient".to_owned());
    }
    if !call.text("gradient").is_empty() {
        classes.push(format!("has-{}-gradient-background", call.text("gradient")));
    }
    let mut css = Vec::new();
    if !call.text("customGradient").is_empty() {
        css.push(format!("background-image: {};", call.text("customGradient")));
    }
    if !call.text("customOverlayColor").is_empty() {
        css.push(format!("background-color: {};", call.text("customOverlayColor")));
    }
    let css = svc_content::css::filter_declarations(&css.join(" "));
    html!("<span class=\"{}\" style=\"{}\" aria-hidden=\"true\"></span>", esc_attr(&classes.join(" ")), esc_attr(&css))
}

pub(crate) fn terms(call: &BlockCall<'_>) -> Html {
    let taxonomy = call.text("term");
    let Some(post) = call.post() else { return Html::new() };
    let terms = call.data().terms_of(post.post.id, taxonomy);
    if taxonomy.is_empty() || terms.is_empty() {
        return Html::new();
    }
    let links: Vec<Html> = terms
        .iter()
        .map(|term| html!("<a href=\"{}\" rel=\"tag\">{}</a>", esc_url(&term.link), stored(&term.term.name)))
        .collect();
    let separator = match call.text("separator") {
        "" => Html::from(" "),
        separator => html!("<span class=\"wp-block-post-terms__separator\">{}</span>", esc_html(separator)),
    };
    let affix = |name: &'static str| match call.text(name) {
        "" => Html::new(),
        text => html!("<span class=\"wp-block-post-terms__{}\">{}</span>", name, kses::post(text)),
    };
    let class = format!("taxonomy-{taxonomy}");
    let attributes = call.wrapper_with(&[&class, &call.align_class(), call.link_class()]);
    html!("<div {}>{}{}{}</div>", attributes, affix("prefix"), Html::join(links, separator), affix("suffix"))
}

pub(crate) fn read_more(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    let text = match call.text("content") {
        "" => Html::from("Read more"),
        text => kses::post(text),
    };
    let number = html!("untitled post {}", post.post.id.0);
    let hidden_text = if post.title.is_empty() { &number } else { &post.title };
    html!(
        "<a {} href=\"{}\" target=\"{}\">{}<span class=\"screen-reader-text\">: {}</span></a>",
        call.wrapper_with(&[&match call.text("justifyContent") {
            "" => String::new(),
            side => format!("is-justified-{side}"),
        }]),
        esc_url(&post.link),
        esc_attr(call.text("linkTarget")),
        text,
        hidden_text
    )
}

pub(crate) fn time_to_read(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post().filter(|post| !post.locked) else { return Html::new() };
    let words = count_words(&strip_all_tags(&post.post.content, false));
    let text = if call.text("displayMode") == "words" {
        if words == 1 { Html::from("1 word") } else { html!("{} words", formatted(words as f64)) }
    } else if call.text("displayMode") != "time" {
        Html::new()
    } else {
        let minutes = |per_minute: f64| (words as f64 / per_minute).round().max(1.0) as i64;
        let plural = |n: i64| if n == 1 { "minute" } else { "minutes" };
        let speed = call.number("averageReadingSpeed").map_or(WORDS_PER_MINUTE, |n| (n as f64).max(1.0));
        if call.attr("displayAsRange").is_null() || call.is("displayAsRange") {
            let (fast, slow) = (minutes(speed * 1.2), minutes(speed * 0.8));
            let slow = if slow == fast { slow + 1 } else { slow };
            html!("{}–{} {}", fast, slow, plural(slow))
        } else {
            let n = minutes(speed);
            html!("{} {}", n, plural(n))
        }
    };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class()]), text)
}

/// Number of words in a text: runs without white space that contain a letter or digit.
fn count_words(text: &str) -> usize {
    text.split(char::is_whitespace).filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

pub(crate) fn comments_count(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class()]), post.post.comment_count)
}

pub(crate) fn comments_link(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    if post.post.comment_status != "open" && post.post.comment_count == 0 {
        return Html::new();
    }
    let hidden_text = html!("<span class=\"screen-reader-text\"> on {}</span>", post.title);
    let (text, place) = match post.post.comment_count {
        0 => (Html::from("No comments"), "respond"),
        1 => (Html::from("1 comment"), "comments"),
        n => (html!("{} comments", formatted(n as f64)), "comments"),
    };
    let attributes = call.wrapper_with(&[&call.align_class(), call.link_class()]);
    html!("<div {}><a href={}#{}>{}{}</a></div>", attributes, esc_url(&post.link), place, text, hidden_text)
}

pub(crate) fn navigation_link(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    let next = match call.text("type") {
        "next" => true,
        "previous" => false,
        _ => return Html::new(),
    };
    // Adjacent posts are shown only on the page of a single post.
    if call.context_value("singular") != true {
        return Html::new();
    }
    let Some(other) = call.data().adjacent_post(&post.post, next, call.text("taxonomy")) else { return Html::new() };
    let direction = if next { "next" } else { "previous" };
    let standard = if next { "Next" } else { "Previous" };
    let label = match call.text("label") {
        "" => Html::from(standard),
        label => kses::post(label),
    };
    let rel = if next { "next" } else { "prev" };
    let link = |text: &Html| html!("<a href=\"{}\" rel=\"{}\">{}</a>", esc_url(&other.link), rel, text);
    let inside = match (call.is("showTitle"), call.is("linkLabel")) {
        (false, _) => link(&label),
        (true, true) => link(&html!(
            "<span class=\"post-navigation-link__label\">{}</span> <span class=\"post-navigation-link__title\">{}</span>",
            label,
            other.title
        )),
        (true, false) => {
            let title = link(&other.title);
            if call.text("label").is_empty() {
                title
            } else {
                html!(
                    "<span class=\"post-navigation-link__label\">{}</span> <span class=\"post-navigation-link__title\">{}</span>",
                    label,
                    title
                )
            }
        }
    };
    let arrow = |kind: &'static str, previous: &'static str, next_arrow: &'static str| {
        let sign = if next { next_arrow } else { previous };
        html!(
            "<span class=\"wp-block-post-navigation-link__arrow-{} is-arrow-{}\" aria-hidden=\"true\">{}</span>",
            direction,
            kind,
            sign
        )
    };
    let arrow = match call.text("arrow") {
        "arrow" => arrow("arrow", "←", "→"),
        "chevron" => arrow("chevron", "«", "»"),
        _ => Html::new(),
    };
    let inside = if next { html!("{}{}", inside, arrow) } else { html!("{}{}", arrow, inside) };
    let class = format!("post-navigation-link-{direction}");
    html!("<div {}>{}</div>", call.wrapper_with(&[&class, &call.align_class()]), inside)
}

pub(crate) use latest::latest_posts;

/// The latest posts block.
mod latest {
    use svc_model::{TermId, UserId};

    use super::*;
    use crate::data::{PostsOrder, PostsQuery, TermFilter};

    pub(crate) fn latest_posts(call: &BlockCall<'_>) -> Html {
        let posts = call.data().posts(&query(call));
        let items: Html = posts.items.iter().map(|post| item(call, post)).collect();
        let is_grid = call.text("postLayout") == "grid";
        let columns = format!("columns-{}", call.number("columns").unwrap_or(3));
        let class = classes(&[
            "wp-block-latest-posts__list",
            if is_grid { "is-grid" } else { "" },
            if is_grid { &columns } else { "" },
            if call.is("displayPostDate") { "has-dates" } else { "" },
            if call.is("displayAuthor") { "has-author" } else { "" },
            call.link_class(),
        ]);
        html!("<ul {}>{}</ul>", call.wrapper_with(&[&class]), items)
    }

    fn query(call: &BlockCall<'_>) -> PostsQuery {
        let order = match call.text("orderBy") {
            "title" => PostsOrder::Title,
            "modified" => PostsOrder::Modified,
            "author" => PostsOrder::Author,
            "menu_order" => PostsOrder::MenuOrder,
            "ID" => PostsOrder::Id,
            _ => PostsOrder::Date,
        };
        // Deprecated blocks store a single category id.
        let ids: Vec<TermId> = match call.attr("categories") {
            serde_json::Value::Array(items) => items.iter().map(|c| TermId(svc_php::cast::to_int(&c["id"]))).collect(),
            serde_json::Value::Null => Vec::new(),
            one => vec![TermId(svc_php::cast::to_int(one))],
        };
        let categories: Vec<TermId> = ids.into_iter().filter(|id| id.0 > 0).collect();
        let terms = if categories.is_empty() {
            Vec::new()
        } else {
            vec![TermFilter {
                taxonomy: "category".to_owned(),
                terms: categories,
                with_children: false,
                without: false,
            }]
        };
        PostsQuery {
            post_type: "post".to_owned(),
            limit: u64::try_from(call.number("postsToShow").unwrap_or(5)).unwrap_or(5).min(100),
            order,
            ascending: call.text("order") == "asc",
            authors: call.number("selectedAuthor").filter(|id| *id > 0).map(UserId).into_iter().collect(),
            terms,
            ..PostsQuery::default()
        }
    }

    fn item(call: &BlockCall<'_>, post: &PostView) -> Html {
        let title = title_or_placeholder(post.title.clone());
        let mut out = html!("<li>{}", featured_image_of(call, post));
        out.push(html!(
            "<a class=\"wp-block-latest-posts__post-title\" href=\"{}\">{}</a>",
            esc_url(&post.link),
            title
        ));
        if call.is("displayAuthor")
            && let Some(author) = call.data().author_view(post.post.author)
        {
            let name = crate::users::plain_name(&author.name);
            out.push(html!("<div class=\"wp-block-latest-posts__post-author\">by {}</div>", name));
        }
        if let (true, Some(date)) = (call.is("displayPostDate"), post.post.date) {
            out.push(html!(
                "<time datetime=\"{}\" class=\"wp-block-latest-posts__post-date\">{}</time>",
                esc_attr(&iso_date(call, date)),
                display_date(call, date, "")
            ));
        }
        if call.is("displayPostContent") {
            out.push(text(call, post, &title));
        }
        out.push("</li>\n");
        out
    }

    fn featured_image_of(call: &BlockCall<'_>, post: &PostView) -> Html {
        if !call.is("displayFeaturedImage") || post.thumbnail.is_none() {
            return Html::new();
        }
        let size = call.text("featuredImageSizeSlug");
        let mut css = String::new();
        for (attribute, property) in
            [("featuredImageSizeWidth", "max-width"), ("featuredImageSizeHeight", "max-height")]
        {
            if let Some(pixels) = call.number(attribute) {
                css.push_str(&format!("{property}:{pixels}px;"));
            }
        }
        let request = ImageRequest {
            size: size.to_owned(),
            class: format!("attachment-{size} size-{size} wp-post-image"),
            alt: None,
            more: Vec::new(),
            style: Some(css),
            loading: ImageLoading::Late,
        };
        let Some(mut image) = call.image(post.thumbnail, request) else { return Html::new() };
        if call.is("addLinkToFeaturedImage") {
            let label = strip_all_tags(&post.title, false);
            image = html!("<a href=\"{}\" aria-label=\"{}\">{}</a>", esc_url(&post.link), esc_attr(&label), image);
        }
        let align = match call.text("featuredImageAlign") {
            "" => String::new(),
            align => format!("align{align}"),
        };
        html!(
            "<div class=\"{}\">{}</div>",
            esc_attr(&classes(&["wp-block-latest-posts__featured-image", &align])),
            image
        )
    }

    fn text(call: &BlockCall<'_>, post: &PostView, title: &Html) -> Html {
        if call.text("displayPostContentRadio") == "full_post" {
            let text = if post.locked {
                Html::from("This content is password protected.")
            } else {
                kses::post(&post.post.content.replace("]]>", "]]&gt;"))
            };
            return html!("<div class=\"wp-block-latest-posts__post-full-content\">{}</div>", text.trimmed());
        }
        let words = call.number("excerptLength").unwrap_or(55).clamp(0, 1_000) as usize;
        let mut text = excerpt_of(call, post, words);
        if let Some(cut) = text.strip_suffix(excerpt::EXCERPT_MORE).map(stored) {
            text = html!(
                "{}… <a class=\"wp-block-latest-posts__read-more\" href=\"{}\" rel=\"noopener\">Read more<span class=\"screen-reader-text\">: {}</span></a>",
                cut,
                esc_url(&post.link),
                esc_html(title)
            );
        }
        if post.locked {
            text = Html::from("This content is password protected.");
        }
        html!("<div class=\"wp-block-latest-posts__post-excerpt\">{}</div>", text)
    }
}
