//! Blocks about users: avatars, author names, biographies.

use svc_model::UserId;
use svc_text::{esc_attr, esc_html, esc_url};

use crate::{core::BlockCall, data::AuthorView, supports};

/// The avatar of an e-mail address; empty if the site has avatars disabled.
pub(crate) fn avatar_image(call: &BlockCall<'_>, email: &str, alt: &str, size: i64, class: &str, css: &str) -> String {
    if !call.data().site_info().show_avatars {
        return String::new();
    }
    if size <= 0 {
        return String::new();
    }
    let size = u32::try_from(size).unwrap_or(96).clamp(1, 2048);
    let url = |pixels: u32| esc_url(&call.data().avatar(email, pixels));
    let class = if class.is_empty() { String::new() } else { format!(" {class}") };
    let css = if css.is_empty() { String::new() } else { format!(" style=\"{};\"", esc_attr(css)) };
    // In post content, loading attributes are added later, if at all.
    let loading = match (call.renderer.is_content(), css.is_empty()) {
        (true, _) => "",
        (false, true) => "loading='lazy' decoding='async'",
        (false, false) => " loading='lazy' decoding='async'",
    };
    format!(
        "<img alt='{}' src='{}' srcset='{} 2x' class='avatar avatar-{size} photo{}' height='{size}' width='{size}' {css}{loading}/>",
        esc_attr(alt),
        url(size),
        url(size.saturating_mul(2)),
        esc_attr(&class),
    )
}

/// The author of the post in the block context.
fn author(call: &BlockCall<'_>) -> Option<std::rc::Rc<AuthorView>> {
    call.data().author_view(call.post()?.post.author)
}

pub(crate) fn avatar(call: &BlockCall<'_>) -> String {
    let size = call.number("size").unwrap_or(96);
    let border = supports::stored_border(
        &supports::with_serialized_support(call.block_type, "__experimentalBorder"),
        &call.attrs,
    );
    let class = crate::html::classes(&["wp-block-avatar__image", &border.classes.join(" ")]);
    let avatar =
        |email: &str, name: &str| avatar_image(call, email, &format!("{name} Avatar"), size, &class, &border.css());
    let target = esc_attr(match call.text("linkTarget") {
        "" => "_self",
        target => target,
    });
    let link_to = |avatar: String, link: &str, name: &str| {
        if !call.is("isLink") || link.is_empty() {
            return avatar;
        }
        let label = if call.text("linkTarget") == "_blank" {
            format!("aria-label=\"({name} author archive, opens in a new tab)\"", name = esc_attr(name))
        } else {
            String::new()
        };
        format!(
            "<a href=\"{}\" target=\"{target}\" {label} class=\"wp-block-avatar__link\">{avatar}</a>",
            esc_url(link)
        )
    };
    let inside = if let Some(comment) = call.comment_id().and_then(|id| call.data().comment(id)) {
        let avatar = avatar(&comment.comment.author_email, &comment.author);
        link_to(avatar, &comment.author_link, &comment.author)
    } else {
        let chosen = call.number("userId").filter(|id| *id > 0);
        let author_view = match chosen {
            Some(id) => call.data().author_view(UserId(id)),
            None => match author(call) {
                Some(author) => Some(author),
                None => return String::new(),
            },
        };
        match author_view {
            Some(author_view) => {
                link_to(avatar(&author_view.email, &author_view.name), &author_view.link, &author_view.name)
            }
            None => String::new(),
        }
    };
    format!("<div {}>{inside}</div>", call.wrapper(&[]))
}

pub(crate) fn author_name(call: &BlockCall<'_>) -> String {
    let Some(author) = author(call) else { return String::new() };
    let inside = if call.is("isLink") {
        format!(
            "<a href=\"{}\" target=\"{}\" class=\"wp-block-post-author-name__link\">{}</a>",
            esc_url(&author.link),
            esc_attr(call.text("linkTarget")),
            author.name
        )
    } else {
        author.name.clone()
    };
    format!("<div {}>{inside}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]))
}

pub(crate) fn author_biography(call: &BlockCall<'_>) -> String {
    let Some(author) = author(call).filter(|author| !author.biography.is_empty()) else { return String::new() };
    format!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class()]), author.biography)
}

pub(crate) fn post_author(call: &BlockCall<'_>) -> String {
    let Some(author) = author(call) else { return String::new() };
    let avatar = if call.is("showAvatar") {
        let image = avatar_image(call, &author.email, "", call.number("avatarSize").unwrap_or(48), "", "");
        format!("<div class=\"wp-block-post-author__avatar\">{image}</div>")
    } else {
        String::new()
    };
    let name = if call.is("isLink") {
        format!(
            "<a href=\"{}\" target=\"{}\">{}</a>",
            esc_url(&author.link),
            esc_attr(call.text("linkTarget")),
            author.name
        )
    } else {
        author.name.clone()
    };
    let byline = match call.text("byline") {
        "" => String::new(),
        text => format!("<p class=\"wp-block-post-author__byline\">{}</p>", svc_content::kses::post(text)),
    };
    let biography = if call.is("showBio") {
        format!("<p class=\"wp-block-post-author__bio\">{}</p>", author.biography)
    } else {
        String::new()
    };
    let attributes = call.wrapper_with(&[
        &match call.text("itemsJustification") {
            "" => String::new(),
            side => format!("items-justified-{side}"),
        },
        &call.align_class(),
        call.link_class(),
    ]);
    format!(
        "<div {attributes}>{avatar}<div class=\"wp-block-post-author__content\">{byline}<p class=\"wp-block-post-author__name\">{name}</p>{biography}</div></div>"
    )
}

/// A user's name as HTML text.
pub(crate) fn plain_name(name: &str) -> String {
    esc_html(name).replace("&#039;", "'")
}
