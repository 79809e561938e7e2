//! Single posts as Markdown, for requests whose `Accept` prefers it.

use svc_content::markdown::{to_markdown, to_markdown_line};
use svc_model::Post;
use svc_resource::View;
use svc_routing::{Request, Response, Result, prefers_markdown};

use super::Posts;

/// Parameters that wrap JSON.
const WRAPPERS: [&str; 2] = ["_envelope", "_jsonp"];

/// Whether a request asks for Markdown, and not for JSON in a wrapper.
pub(super) fn is_wanted(req: &Request) -> bool {
    prefers_markdown(req.headers()) && !WRAPPERS.iter().any(|name| req.has_param(name))
}

impl Posts {
    /// The title as a heading, and the rendered content. Without the password of a protected post there is only the title.
    pub(super) async fn fetch_markdown(&self, req: &Request, post: Post) -> Result<Response> {
        let shown = self.show(req, post, View::all_of("view").only(&["title", "content"])).await?;
        let rendered = |field: &str| shown.data[field]["rendered"].as_str().unwrap_or_default();
        let (title, content) = (to_markdown_line(rendered("title")), to_markdown(rendered("content")));
        let heading = if title.is_empty() { String::new() } else { format!("# {title}\n\n") };
        let text = format!("{heading}{content}");
        Ok(Response::raw("text/markdown; charset=UTF-8", text).header("Vary", "Accept"))
    }
}
