//! An example of an extension: the reading time of posts.
//!
//! It registers a field on posts, a route and a hook. The REST API lists it as the plugin `reading-time`; it is inactive until
//! an administrator activates it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_server::{
    Extension, Plugin, Site,
    routing::{DependsOn, ExtraField, Method, Registry, Request, Response, Result, Route, get, public},
    schema::{
        Args, Error,
        build::{integer, object, types},
    },
};

/// Reading speed.
const WORDS_PER_MINUTE: usize = 220;

/// The extension.
pub(crate) struct ReadingTime;

impl Extension for ReadingTime {
    fn about(&self) -> Plugin {
        Plugin {
            file: "reading-time".to_owned(),
            name: "Reading Time".to_owned(),
            description: "Shows how many minutes a post takes to read.".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            author: "The server's authors".to_owned(),
            text_domain: "reading-time".to_owned(),
            ..Plugin::default()
        }
    }

    fn register(&self, registry: &mut Registry, site: &Arc<Site>) {
        let minutes =
            types(["integer", "null"]).describe("Reading time in minutes; null if the content is not included.");
        let field = ExtraField::new(minutes.context(&["view", "edit"]).readonly().compile());
        // The field reads the content of the prepared post, so lists of posts need no further query.
        // It reads nothing else, so responses with it are cached.
        let field = field.get(|post, _| async move { Ok(of_post(&post)) }).depends_on(DependsOn::Object);
        registry.field(&["post"], "reading_time", field);
        let posts = format!("/{}/posts", site.brand.namespace());
        let schema = object([
            ("id", integer().describe("The post's ID.")),
            ("minutes", integer().describe("Reading time in minutes.")),
            ("words", integer().describe("Number of words.")),
        ]);
        let handler = move |req: Request| reading_time(req, posts.clone());
        let id = Args::from([("id", integer().describe("The post's ID."))]);
        let route =
            Route::new(r"/posts/(?P<id>[\d]+)").schema(schema.compile()).endpoint(get(handler, public).args(id));
        registry.route("reading-time/v1", route).expect("a namespace and a pattern");
        let index = registry.hooks.index(10, |mut index, _| async move {
            if let Value::Object(fields) = &mut index.data {
                fields.insert("reading_time".to_owned(), json!({"words_per_minute": WORDS_PER_MINUTE}));
            }
            index
        });
        index.depends_on(DependsOn::Object);
    }
}

/// The reading time of one post. The route of posts checks that the caller may read it.
async fn reading_time(req: Request, posts: String) -> Result<Response> {
    let id: i64 = req.require("id")?;
    let server = req
        .server()
        .ok_or_else(|| Error::new("reading_time_no_server", "The request was not dispatched by a server."))?;
    let post = server.dispatch(req.sub_request(Method::GET, format!("{posts}/{id}"))).await;
    if !post.status.is_success() {
        return Ok(post);
    }
    let words = words(&content(post.data.as_object()));
    Ok(Response::new(json!({"id": id, "minutes": minutes(words), "words": words})))
}

/// The content of a prepared post; empty if it is not included.
fn content(post: Option<&Map<String, Value>>) -> String {
    let rendered = post.and_then(|post| post.get("content")?.get("rendered")?.as_str());
    rendered.unwrap_or_default().to_owned()
}

fn of_post(post: &Map<String, Value>) -> Value {
    match post.get("content") {
        Some(_) => minutes(words(&content(Some(post)))).into(),
        None => Value::Null,
    }
}

fn words(html: &str) -> usize {
    svc_text::strip_all_tags(html, false).split_whitespace().count()
}

fn minutes(words: usize) -> usize {
    words.div_ceil(WORDS_PER_MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_rounded_up() {
        let post = |html: String| json!({"content": {"rendered": html}});
        for (html, expected) in [
            (String::new(), json!(0)),
            ("<p>one <b>two</b></p>".to_owned(), json!(1)),
            ("word ".repeat(220), json!(1)),
            ("word ".repeat(221), json!(2)),
        ] {
            assert_eq!(of_post(post(html).as_object().unwrap()), expected);
        }
        assert_eq!(of_post(&Map::new()), Value::Null);
    }
}
