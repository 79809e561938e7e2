//! Blocks about users: avatars, author names, biographies.

use svc_model::UserId;
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{core::BlockCall, data::AuthorView, html::stored, supports};

/// The avatar of an e-mail address; empty if the site has avatars disabled.
pub(crate) fn avatar_image(call: &BlockCall<'_>, email: &str, alt: &str, size: i64, class: &str, css: &str) -> Html {
    if !call.data().site_info().show_avatars {
        return Html::new();
    }
    if size <= 0 {
        return Html::new();
    }
    let size = u32::try_from(size).unwrap_or(96).clamp(1, 2048);
    let url = |pixels: u32| esc_url(&call.data().avatar(email, pixels));
    let class = if class.is_empty() { String::new() } else { format!(" {class}") };
    let css = if css.is_empty() { Html::new() } else { html!(" style=\"{};\"", esc_attr(css)) };
    // In post content, loading attributes are added later, if at all.
    let loading = match (call.renderer.is_content(), css.is_empty()) {
        (true, _) => "",
        (false, true) => "loading='lazy' decoding='async'",
        (false, false) => " loading='lazy' decoding='async'",
    };
    html!(
        "<img alt='{}' src='{}' srcset='{} 2x' class='avatar avatar-{size} photo{}' height='{size}' width='{size}' {css}{loading}/>",
        esc_attr(alt),
        url(size),
        url(size.saturating_mul(2)),
        esc_attr(&class),
        size = size,
        css = css,
        loading = loading
    )
}

/// The author of the post in the block context.
fn author(call: &BlockCall<'_>) -> Option<std::rc::Rc<AuthorView>> {
    call.data().author_view(call.post()?.post.author)
}

pub(crate) fn avatar(call: &BlockCall<'_>) -> Html {
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
    let link_to = |avatar: Html, link: &str, name: &str| {
        if !call.is("isLink") || link.is_empty() {
            return avatar;
        }
        let label = if call.text("linkTarget") == "_blank" {
            html!("aria-label=\"({} author archive, opens in a new tab)\"", esc_attr(name))
        } else {
            Html::new()
        };
        html!(
            "<a href=\"{}\" target=\"{}\" {} class=\"wp-block-avatar__link\">{}</a>",
            esc_url(link),
            target,
            label,
            avatar
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
                None => return Html::new(),
            },
        };
        match author_view {
            Some(author_view) => {
                link_to(avatar(&author_view.email, &author_view.name), &author_view.link, &author_view.name)
            }
            None => Html::new(),
        }
    };
    html!("<div {}>{}</div>", call.wrapper(&[]), inside)
}

pub(crate) fn author_name(call: &BlockCall<'_>) -> Html {
    let Some(author) = author(call) else { return Html::new() };
    let inside = if call.is("isLink") {
        html!(
            "<a href=\"{}\" target=\"{}\" class=\"wp-block-post-author-name__link\">{}</a>",
            esc_url(&author.link),
            esc_attr(call.text("linkTarget")),
            stored(&author.name)
        )
    } else {
        stored(&author.name)
    };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]), inside)
}

pub(crate) fn author_biography(call: &BlockCall<'_>) -> Html {
    let Some(author) = author(call).filter(|author| !author.biography.is_empty()) else { return Html::new() };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class()]), stored(&author.biography))
}

pub(crate) fn post_author(call: &BlockCall<'_>) -> Html {
    let Some(author) = author(call) else { return Html::new() };
    let avatar = if call.is("showAvatar") {
        let image = avatar_image(call, &author.email, "", call.number("avatarSize").unwrap_or(48), "", "");
        html!("<div class=\"wp-block-post-author__avatar\">{}</div>", image)
    } else {
        Html::new()
    };
    let name = if call.is("isLink") {
        html!(
            "<a href=\"{}\" target=\"{}\">{}</a>",
            esc_url(&author.link),
            esc_attr(call.text("linkTarget")),
            stored(&author.name)
        )
    } else {
        stored(&author.name)
    };
    let byline = match call.text("byline") {
        "" => Html::new(),
        text => html!("<p class=\"wp-block-post-author__byline\">{}</p>", svc_content::kses::post(text)),
    };
    let biography = if call.is("showBio") {
        html!("<p class=\"wp-block-post-author__bio\">{}</p>", stored(&author.biography))
    } else {
        Html::new()
    };
    let attributes = call.wrapper_with(&[
        &match call.text("itemsJustification") {
            "" => String::new(),
            side => format!("items-justified-{side}"),
        },
        &call.align_class(),
        call.link_class(),
    ]);
    html!(
        "<div {}>{}<div class=\"wp-block-post-author__content\">{}<p class=\"wp-block-post-author__name\">{}</p>{}</div></div>",
        attributes,
        avatar,
        byline,
        name,
        biography
    )
}

/// A user's name as HTML text. Apostrophes are not escaped, as in WordPress.
pub(crate) fn plain_name(name: &str) -> Html {
    Html::trusted(esc_html(name).replace("&#039;", "'"), "escaped; only attributes in apostrophes need the others")
}
