//! Covers, and pictures beside text, that show the picture of their post.

use serde_json::Value;
use svc_content::tags::{Changes, Tags};
use svc_text::esc_attr;

use crate::{
    core::Call,
    data::{ImageRequest, Loading},
};

/// The point of a picture that stays in sight, as a place in per cent.
fn focus(call: &Call<'_>) -> Option<String> {
    let point = call.attr("focalPoint").as_object()?;
    let percent = |name: &str| {
        let part = point.get(name).and_then(Value::as_f64).unwrap_or(0.5) * 100.0;
        // Digits beyond these come from the way in which fractions are stored.
        (part * 1e10).round() / 1e10
    };
    Some(format!("{}% {}%", percent("x"), percent("y")))
}

/// The picture of the post in its own size.
struct Picture {
    id: i64,
    tag: String,
}

impl Picture {
    fn of(call: &Call<'_>) -> Option<Self> {
        let post = call.post().filter(|post| !post.thumbnail.is_none())?;
        let wish = ImageRequest { size: "full".to_owned(), ..ImageRequest::default() };
        Some(Picture { id: post.thumbnail.0, tag: call.image(post.thumbnail, wish)? })
    }

    /// An attribute as it is written in a tag.
    fn attribute(&self, name: &str) -> &str {
        Tags::new(&self.tag).next().and_then(|tag| tag.value(&self.tag, name)).unwrap_or_default()
    }
}

pub(crate) fn cover(call: &Call<'_>) -> String {
    let content = call.content.to_owned();
    if call.text("backgroundType") != "image" || !call.is("useFeaturedImage") {
        return content;
    }
    let shown = if call.is("hasParallax") || call.is("isRepeated") { behind(call) } else { element(call) };
    let container = Tags::new(&content).find(|tag| {
        tag.is(&content, "div")
            && tag.value(&content, "class").is_some_and(|class| class.contains("wp-block-cover__inner-container"))
    });
    let (Some(shown), Some(container)) = (shown, container) else { return content };
    let mut changes = Changes::of(&content);
    changes.insert(container.start(), shown);
    changes.apply()
}

/// The picture as an image of its own.
fn element(call: &Call<'_>) -> Option<String> {
    let post = call.post().filter(|post| !post.thumbnail.is_none())?;
    let focus = focus(call);
    let mut more = vec![("data-object-fit", "cover".to_owned())];
    more.extend(focus.clone().map(|focus| ("data-object-position", focus)));
    let size = match call.text("sizeSlug") {
        "" => "post-thumbnail",
        size => size,
    };
    let wish = ImageRequest {
        size: size.to_owned(),
        class: "wp-block-cover__image-background wp-post-image".to_owned(),
        alt: None,
        more,
        style: focus.map(|focus| format!("object-position:{focus};")),
        loading: Loading::Late,
    };
    call.image(post.thumbnail, wish)
}

/// The picture as the ground of an element, which stays in place or repeats itself.
fn behind(call: &Call<'_>) -> Option<String> {
    let picture = Picture::of(call)?;
    let (address, alt) = (picture.attribute("src"), picture.attribute("alt"));
    let mut class = format!("wp-block-cover__image-background wp-image-{}", picture.id);
    for (name, of) in [("hasParallax", " has-parallax"), ("isRepeated", " is-repeated")] {
        class.push_str(if call.is(name) { of } else { "" });
    }
    let label = if alt.is_empty() { String::new() } else { format!("aria-label=\"{alt}\" ") };
    let place = focus(call).unwrap_or_else(|| "50% 50%".to_owned());
    Some(format!(
        "<div {label}class=\"{class}\" role=\"img\" style=\"background-position:{};background-image:url({address});\"></div>",
        esc_attr(&place),
    ))
}

pub(crate) fn media_text(call: &Call<'_>) -> String {
    let content = call.content.to_owned();
    if !call.is("useFeaturedImage") {
        return content;
    }
    let figure = Tags::new(&content).find(|tag| tag.is(&content, "figure"));
    let (Some(figure), Some(picture)) = (figure, Picture::of(call)) else { return content };
    let size = match call.text("mediaSizeSlug") {
        "" => "full",
        size => size,
    };
    let style = match focus(call).filter(|_| call.is("imageFill")) {
        Some(focus) => format!(" style=\"object-position:{};\"", esc_attr(&focus)),
        None => String::new(),
    };
    let of = |name: &str| match picture.attribute(name) {
        "" => String::new(),
        value => format!(" {name}=\"{value}\""),
    };
    let image = format!(
        "<img{}{} alt=\"{}\"{}{style} class=\"wp-image-{} size-{}\"{}{} />",
        of("width"),
        of("height"),
        picture.attribute("alt"),
        of("src"),
        picture.id,
        esc_attr(size),
        of("srcset"),
        of("sizes"),
    );
    let place = svc_content::tags::inside(&content, &figure);
    let mut changes = Changes::of(&content);
    // Two spaces, as the reference leaves them.
    changes.insert_first(&figure, " ");
    match place {
        Some(place) => changes.replace(place, image),
        None => changes.insert(figure.end(), image),
    }
    changes.apply()
}
