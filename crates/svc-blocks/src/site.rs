//! Blocks about the site: title, tagline, logo, home link, login link.

use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{
    core::BlockCall,
    data::{ImageLoading, ImageRequest},
    html::{classes, heading},
    urls,
};

pub(crate) fn title(call: &BlockCall<'_>) -> Html {
    let site_info = call.data().site_info();
    if site_info.name.is_empty() {
        return Html::new();
    }
    let name = svc_content::render_inline(&site_info.name);
    let inside = if call.is("isLink") {
        let target = esc_attr(match call.text("linkTarget") {
            "" => "_self",
            target => target,
        });
        let current = if site_info.is_front { " aria-current=\"page\"" } else { "" };
        html!(
            "<a href=\"{}\" target=\"{}\" rel=\"home\"{}>{}</a>",
            esc_url(&site_info.home),
            target,
            current,
            esc_html(&name)
        )
    } else {
        name
    };
    let tag = heading(call.number("level").unwrap_or(1));
    let align = call.align_class();
    html!("<{tag} {}>{}</{tag}>", call.wrapper_with(&[&align, call.link_class()]), inside, tag = tag)
}

pub(crate) fn tagline(call: &BlockCall<'_>) -> Html {
    let description = &call.data().site_info().description;
    if description.is_empty() {
        return Html::new();
    }
    let tag = heading(call.number("level").unwrap_or_default());
    let text = svc_content::render_inline(description);
    html!("<{tag} {}>{}</{tag}>", call.wrapper_with(&[&call.align_class()]), text, tag = tag)
}

pub(crate) fn logo(call: &BlockCall<'_>) -> Html {
    let site_info = call.data().site_info();
    let request = ImageRequest {
        size: "full".to_owned(),
        class: "custom-logo".to_owned(),
        alt: None,
        more: Vec::new(),
        style: None,
        loading: ImageLoading::First,
    };
    let Some(mut image) = (!site_info.logo.is_none()).then(|| call.image(site_info.logo, request)).flatten() else {
        return Html::new();
    };
    let width = call.number("width").filter(|width| *width > 0);
    if let Some(width) = width {
        image = resized(&image, width);
    }
    let inside = if call.is("isLink") {
        let target = match call.text("linkTarget") {
            "_blank" => "aria-label=\"(Home link, opens in a new tab)\" target=\"_blank\" ",
            _ => "",
        };
        html!(
            "<a {}href=\"{}\" class=\"custom-logo-link\" rel=\"home\">{}</a>",
            target,
            esc_url(&format!("{}/", site_info.home)),
            image
        )
    } else {
        image
    };
    let class = if width.is_none() { "is-default-size" } else { "" };
    html!("<div {}>{}</div>", call.wrapper_with(&[class]), inside)
}

/// Sets the width of an image tag and adjusts the height.
fn resized(image: &Html, width: i64) -> Html {
    let number = |name: &str| -> Option<(usize, usize, i64)> {
        let start = image.find(&format!("{name}=\""))? + name.len() + 2;
        let end = start + image[start..].find('"')?;
        Some((start, end, image[start..end].parse().ok()?))
    };
    let (Some(w), Some(h)) = (number(" width").or_else(|| number("width")), number(" height")) else {
        return image.clone();
    };
    let height = if w.2 > 0 { h.2.saturating_mul(width) / w.2 } else { h.2 };
    let sizes = |width: i64| format!("(max-width: {width}px) 100vw, {width}px");
    let rest = image[h.1..].replacen(&sizes(w.2), &sizes(width), 1);
    Html::trusted(
        format!("{}{width}{}{height}{rest}", &image[..w.0], &image[w.1..h.0]),
        "an image tag with other numbers as dimensions",
    )
}

pub(crate) fn home_link(call: &BlockCall<'_>) -> Html {
    let site_info = call.data().site_info();
    let label = match call.text("label") {
        "" => "Home",
        label => label,
    };
    let current = if site_info.is_front { " aria-current=\"page\"" } else { "" };
    let (colors, css) = crate::navigation::context_presets(call);
    let class =
        classes(&[&colors, "wp-block-navigation-item", if current.is_empty() { "" } else { "current-menu-item" }]);
    let attributes = call.wrapper(&[("class", &class), ("style", &css)]);
    let target = if call.is("opensInNewTab") { " target=\"_blank\"" } else { "" };
    let about = match call.text("description") {
        "" => Html::new(),
        about => {
            html!("<span class=\"wp-block-navigation-item__description\">{}</span>", svc_content::kses::post(about))
        }
    };
    html!(
        "<li {}><a class=\"wp-block-home-link__content wp-block-navigation-item__content\" href=\"{}\" rel=\"home\" {}{}>{}{}</a></li>",
        attributes,
        esc_url(&site_info.home),
        current.trim_start(),
        target,
        svc_content::kses::post(label),
        about
    )
}

pub(crate) fn loginout(call: &BlockCall<'_>) -> Html {
    let site_info = call.data().site_info();
    let logout_url = call.data().logout_url();
    let redirect = if call.is("redirectToCurrent") { call.data().current_url() } else { "" };
    let mut classes = vec![if logout_url.is_some() { "logged-in" } else { "logged-out" }];
    let inside = match &logout_url {
        Some(logout) => {
            let mut url = logout.clone();
            if !redirect.is_empty() {
                // The nonce is the last parameter.
                url = urls::with_before_last(logout, "redirect_to", redirect);
            }
            html!("<a href=\"{}\">Log out</a>", esc_url(&url))
        }
        None if call.is("displayLoginAsForm") => {
            classes.push("has-login-form");
            form(&site_info.login_url, if redirect.is_empty() { call.data().current_url() } else { redirect })
        }
        None => {
            let url = urls::with(&site_info.login_url, &[("redirect_to", redirect)]);
            html!("<a href=\"{}\">Log in</a>", esc_url(&url))
        }
    };
    html!("<div {}>{}</div>", call.wrapper_with(&classes), inside)
}

/// The login form.
fn form(login_url: &str, redirect: &str) -> Html {
    html!(
        concat!(
            "<form name=\"loginform\" id=\"loginform\" action=\"{action}\" method=\"post\">",
            "<p class=\"login-username\">\n\t\t\t\t<label for=\"user_login\">Username or Email Address</label>\n\t\t\t\t",
            "<input type=\"text\" name=\"log\" id=\"user_login\" autocomplete=\"username\" class=\"input\" value=\"\" size=\"20\" />\n\t\t\t</p>",
            "<p class=\"login-password\">\n\t\t\t\t<label for=\"user_pass\">Password</label>\n\t\t\t\t",
            "<input type=\"password\" name=\"pwd\" id=\"user_pass\" autocomplete=\"current-password\" spellcheck=\"false\" class=\"input\" value=\"\" size=\"20\" />\n\t\t\t</p>",
            "<p class=\"login-remember\"><label><input name=\"rememberme\" type=\"checkbox\" id=\"rememberme\" value=\"forever\" /> Remember Me</label></p>",
            "<p class=\"login-submit\">\n\t\t\t\t",
            "<input type=\"submit\" name=\"wp-submit\" id=\"wp-submit\" class=\"button button-primary wp-block-button__link wp-element-button\" value=\"Log In\" />\n\t\t\t\t",
            "<input type=\"hidden\" name=\"redirect_to\" value=\"{redirect}\" />\n\t\t\t</p></form>",
        ),
        action = esc_url(login_url),
        redirect = esc_url(redirect)
    )
}
