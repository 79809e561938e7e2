//! The cover and media-text blocks with the post's featured image.

use serde_json::Value;
use svc_content::tags::{TagChanges, Tags};
use svc_text::{Html, esc_attr, html};

use crate::{
    core::BlockCall,
    data::{ImageLoading, ImageRequest},
};

/// The block's focal point as a CSS position in percent.
fn focal_point(call: &BlockCall<'_>) -> Option<String> {
    let point = call.attr("focalPoint").as_object()?;
    let percent = |name: &str| {
        let part = point.get(name).and_then(Value::as_f64).unwrap_or(0.5) * 100.0;
        // Round off the inexact digits of the float.
        (part * 1e10).round() / 1e10
    };
    Some(format!("{}% {}%", percent("x"), percent("y")))
}

/// The featured image in full size.
struct FeaturedImage {
    id: i64,
    tag: Html,
}

impl FeaturedImage {
    fn of(call: &BlockCall<'_>) -> Option<Self> {
        let post = call.post().filter(|post| !post.thumbnail.is_none())?;
        let request = ImageRequest { size: "full".to_owned(), ..ImageRequest::default() };
        Some(FeaturedImage { id: post.thumbnail.0, tag: call.image(post.thumbnail, request)? })
    }

    /// The value of an attribute of the tag.
    fn attribute(&self, name: &str) -> Html {
        let value = Tags::new(&self.tag).next().and_then(|tag| tag.value(&self.tag, name));
        Html::trusted(value.unwrap_or_default(), "the value of an attribute in quotes, from a tag that is HTML")
    }
}

pub(crate) fn cover(call: &BlockCall<'_>) -> Html {
    let content = call.content.clone();
    if call.text("backgroundType") != "image" || !call.is("useFeaturedImage") {
        return content;
    }
    let image_html =
        if call.is("hasParallax") || call.is("isRepeated") { background_element(call) } else { image_element(call) };
    let container = Tags::new(&content).find(|tag| {
        tag.is(&content, "div")
            && tag.value(&content, "class").is_some_and(|class| class.contains("wp-block-cover__inner-container"))
    });
    let (Some(image_html), Some(container)) = (image_html, container) else { return content };
    let mut changes = TagChanges::of(&content);
    changes.insert(container.start(), image_html);
    Html::trusted(changes.apply(), "the block's HTML with an image")
}

/// The featured image as an `img` element.
fn image_element(call: &BlockCall<'_>) -> Option<Html> {
    let post = call.post().filter(|post| !post.thumbnail.is_none())?;
    let focal_point = focal_point(call);
    let mut more = vec![("data-object-fit", "cover".to_owned())];
    more.extend(focal_point.clone().map(|focal_point| ("data-object-position", focal_point)));
    let size = match call.text("sizeSlug") {
        "" => "post-thumbnail",
        size => size,
    };
    let request = ImageRequest {
        size: size.to_owned(),
        class: "wp-block-cover__image-background wp-post-image".to_owned(),
        alt: None,
        more,
        style: focal_point.map(|focal_point| format!("object-position:{focal_point};")),
        loading: ImageLoading::Late,
    };
    call.image(post.thumbnail, request)
}

/// The featured image as a fixed or repeated background image.
fn background_element(call: &BlockCall<'_>) -> Option<Html> {
    let image = FeaturedImage::of(call)?;
    let (url, alt) = (image.attribute("src"), image.attribute("alt"));
    let mut class = html!("wp-block-cover__image-background wp-image-{}", image.id);
    for (name, of) in [("hasParallax", " has-parallax"), ("isRepeated", " is-repeated")] {
        class.push(if call.is(name) { of } else { "" });
    }
    let label = if alt.is_empty() { Html::new() } else { html!("aria-label=\"{}\" ", alt) };
    let position = focal_point(call).unwrap_or_else(|| "50% 50%".to_owned());
    Some(html!(
        "<div {}class=\"{}\" role=\"img\" style=\"background-position:{};background-image:url({});\"></div>",
        label,
        class,
        esc_attr(&position),
        url
    ))
}

pub(crate) fn media_text(call: &BlockCall<'_>) -> Html {
    let content = call.content.clone();
    if !call.is("useFeaturedImage") {
        return content;
    }
    let figure = Tags::new(&content).find(|tag| tag.is(&content, "figure"));
    let (Some(figure), Some(image)) = (figure, FeaturedImage::of(call)) else { return content };
    let size = match call.text("mediaSizeSlug") {
        "" => "full",
        size => size,
    };
    let style = match focal_point(call).filter(|_| call.is("imageFill")) {
        Some(focal_point) => html!(" style=\"object-position:{};\"", esc_attr(&focal_point)),
        None => Html::new(),
    };
    let of = |name: &'static str| {
        let value = image.attribute(name);
        if value.is_empty() { value } else { html!(" {}=\"{}\"", name, value) }
    };
    let image = html!(
        "<img{}{} alt=\"{}\"{}{style} class=\"wp-image-{} size-{}\"{}{} />",
        of("width"),
        of("height"),
        image.attribute("alt"),
        of("src"),
        image.id,
        esc_attr(size),
        of("srcset"),
        of("sizes"),
        style = style
    );
    let position = svc_content::tags::inside(&content, &figure);
    let mut changes = TagChanges::of(&content);
    // Two spaces, as in WordPress.
    changes.insert_first(&figure, " ");
    match position {
        Some(position) => changes.replace(position, image),
        None => changes.insert(figure.end(), image),
    }
    Html::trusted(changes.apply(), "the block's HTML with an image")
}
