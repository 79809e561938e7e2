//! An example of an extension: how long a post takes to read.
//!
//! It shows the three things that an extension can bring: a field on posts, a route, and a hook. It is listed among the
//! plugins as `reading-time` and does nothing until it is switched on there.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_controllers::{Extension, Plugin, Site};
use svc_routing::{ExtraField, Method, Registry, Request, Response, Result, Route, get, public};
use svc_schema::{
    Args, Error,
    build::{integer, object, types},
};

/// What readers manage in a minute.
const WORDS_PER_MINUTE: usize = 220;

/// The extension.
pub struct ReadingTime;

impl Extension for ReadingTime {
    fn about(&self) -> Plugin {
        Plugin {
            file: "reading-time".to_owned(),
            name: "Reading Time".to_owned(),
            description: "Tells how many minutes a post takes to read.".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            author: "The server's authors".to_owned(),
            text_domain: "reading-time".to_owned(),
            ..Plugin::default()
        }
    }

    fn register(&self, registry: &mut Registry, site: &Arc<Site>) {
        let minutes =
            types(["integer", "null"]).describe("Minutes that the post takes to read; null without its content.");
        let field = ExtraField::new(minutes.context(&["view", "edit"]).readonly().compile());
        // The field reads the content that the post was prepared with: so a list of posts takes no further query.
        registry.field(&["post"], "reading_time", field.get(|post, _| async move { Ok(of_post(&post)) }));
        let posts = format!("/{}/posts", site.brand.namespace());
        let schema = object([
            ("id", integer().describe("Number of the post.")),
            ("minutes", integer().describe("Minutes that it takes to read.")),
            ("words", integer().describe("How many words it has.")),
        ]);
        let answer = move |req: Request| time_of(req, posts.clone());
        let id = Args::from([("id", integer().describe("Number of the post."))]);
        let route = Route::new(r"/posts/(?P<id>[\d]+)").schema(schema.compile()).endpoint(get(answer, public).args(id));
        registry.route("reading-time/v1", route).expect("a namespace and a pattern");
        registry.hooks.index(10, |mut index, _| async move {
            if let Value::Object(members) = &mut index.data {
                members.insert("reading_time".to_owned(), json!({"words_per_minute": WORDS_PER_MINUTE}));
            }
            index
        });
    }
}

/// Answers for one post. Who may read it is decided where posts are: the post is asked for in the caller's name.
async fn time_of(req: Request, posts: String) -> Result<Response> {
    let id: i64 = req.require("id")?;
    let server =
        req.server().cloned().ok_or_else(|| Error::new("reading_time_no_server", "There is no site to ask."))?;
    let post = server.dispatch(req.sub_request(Method::GET, format!("{posts}/{id}"))).await;
    if !post.status.is_success() {
        return Ok(post);
    }
    let words = words(&content(post.data.as_object()));
    Ok(Response::new(json!({"id": id, "minutes": minutes(words), "words": words})))
}

/// A prepared post's content; empty when it was prepared without.
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
    fn minutes_are_full_ones() {
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
