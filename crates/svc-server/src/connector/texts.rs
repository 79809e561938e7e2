//! Texts of posts that WordPress renders, through the connector.

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use svc_model::{Post, UserId};
use svc_render::external_texts::{ExternalRenderer, Outcome, Rendering, Texts};

use super::client::{Connector, hex};

/// Maximum number of requests for the posts of one response. Each renders at least one post.
const MAX_REQUESTS: usize = 5;

/// A post in the response of the connector.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RenderedPost {
    /// Hash of the stored texts. `None` if the post cannot be rendered.
    source: Option<String>,
    title: String,
    content: String,
    excerpt: String,
    /// Whether the texts are the same in each response.
    stable: bool,
}

impl ExternalRenderer for Connector {
    fn render<'a>(&'a self, user: UserId, posts: &'a [Post]) -> Rendering<'a> {
        Box::pin(async move {
            let mut outcomes = Vec::with_capacity(posts.len());
            for _ in 0..MAX_REQUESTS {
                let left = &posts[outcomes.len()..];
                if left.is_empty() {
                    break;
                }
                let ids: Vec<i64> = left.iter().map(|post| post.id.0).collect();
                match self.texts(&ids, user.0).await {
                    Ok(rendered) if rendered.is_empty() => break,
                    Ok(rendered) => {
                        outcomes.extend(left.iter().zip(rendered).map(|(post, rendered)| outcome(post, rendered)));
                    }
                    Err(error) => {
                        tracing::debug!(%error, "WordPress has not rendered the texts of posts");
                        break;
                    }
                }
            }
            outcomes
        })
    }
}

fn outcome(post: &Post, rendered: RenderedPost) -> Outcome {
    match rendered.source {
        None => Outcome::Never,
        Some(source) if source == hash(post) => {
            let RenderedPost { title, content, excerpt, stable, .. } = rendered;
            let texts = Texts { title, content, excerpt };
            if stable { Outcome::Stable(texts) } else { Outcome::Unstable(texts) }
        }
        // The post was changed in between.
        Some(_) => Outcome::Failed,
    }
}

/// Hash of the stored texts of a post.
fn hash(post: &Post) -> String {
    hex(&Sha256::digest(format!("{}\0{}\0{}", post.title, post.content, post.excerpt)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_of_the_same_post_are_used() {
        let post = Post { title: "a".to_owned(), content: "[b]".to_owned(), ..Post::default() };
        let read = |json: serde_json::Value| outcome(&post, serde_json::from_value(json).unwrap());
        let texts = Texts { title: "A".to_owned(), content: "B".to_owned(), excerpt: String::new() };
        let source = hash(&post);
        assert_eq!(source.len(), 64);
        let rendered = |stable| serde_json::json!({"source": &source, "title": "A", "content": "B", "stable": stable});
        assert_eq!(read(rendered(true)), Outcome::Stable(texts.clone()));
        assert_eq!(read(rendered(false)), Outcome::Unstable(texts));
        assert_eq!(read(serde_json::json!({"source": "0", "content": "B"})), Outcome::Failed);
        assert_eq!(read(serde_json::json!({})), Outcome::Never);
    }
}
