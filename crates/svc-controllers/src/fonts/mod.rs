//! Fonts: families, faces and collections.
//!
//! All routes require the capability to edit theme options. Families and faces are posts whose content stores their
//! settings as JSON.

mod collections;
mod errors;
mod faces;
mod families;
pub(crate) mod files;
pub(crate) mod settings;

use std::sync::Arc;

use serde_json::{Map, Value};
use svc_model::{Post, PostId, PostType};
use svc_resource::Params;
use svc_routing::{Request, Result};
use svc_schema::build::{SchemaBuilder, integer};
use svc_store::posts as stored_posts;

use crate::{
    errors::post_not_found,
    posts::params::{self, PostList},
    request::can,
};
use svc_site::Site;

pub(crate) use self::collections::core as core_collections;
pub use self::{collections::FontCollections, faces::FontFaces, families::FontFamilies};
pub use crate::registries::font_collections::FontCollection;

/// The `theme.json` version of the settings.
const THEME_JSON_VERSION: i64 = 3;

fn theme_json_version() -> SchemaBuilder {
    let about = "Version of the theme.json schema that the settings follow.";
    integer().describe(about).default(THEME_JSON_VERSION).range(2..=THEME_JSON_VERSION)
}

/// The parameters of a post list that apply to fonts, except `without`.
fn listed(all: Params<PostList>, without: &[&str]) -> Params<PostList> {
    #[rustfmt::skip]
    let excluded = [
        "search", "after", "before", "modified_after", "modified_before", "search_columns", "status", "menu_order", "parent",
        "parent_exclude", "author", "author_exclude", "tax_relation",
    ];
    params::ordered(all.without(&excluded).without(without), 10, "desc", "id", &["id", "include"])
}

/// The settings stored in the post's content; empty if the content is not a JSON object.
fn stored(post: &Post) -> Map<String, Value> {
    serde_json::from_str(&post.content).unwrap_or_default()
}

/// Fails unless the caller may view fonts.
fn check_read(site: &Site, post_type: &PostType, req: &Request) -> Result<()> {
    if can(site, req, &post_type.caps.read)? { Ok(()) } else { Err(errors::cannot_read(req)) }
}

/// The requested post, if the caller may view fonts.
fn readable(site: &Site, post_type: &PostType, req: &Request) -> Result<Post> {
    let id = PostId(req.require("id")?);
    let found = site.read(req.cx(), |db| Ok(stored_posts::get(db, id)?))?;
    let post = found.filter(|post| post.post_type == post_type.name).ok_or_else(post_not_found)?;
    check_read(site, post_type, req)?;
    Ok(post)
}

/// Removes font files on a blocking thread.
async fn remove_files(site: &Arc<Site>, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let folder = files::folder(&site.content_dir);
    if tokio::task::spawn_blocking(move || files::remove(&folder, &names)).await.is_err() {
        tracing::error!("failed to remove font files: the task panicked");
    }
}
