//! Fonts of the site: families, their faces with or without files, and collections to choose from.
//!
//! For those who may change the theme's settings. Families and faces are posts whose content holds settings as JSON.

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
use svc_site::Access;
use svc_store::posts as stored_posts;

use crate::{
    RestSite, caller,
    errors::post_not_found,
    posts::params::{self, PostList},
};

pub(crate) use self::collections::core as core_collections;
pub use self::{
    collections::{FontCollection, FontCollections},
    faces::FontFaces,
    families::FontFamilies,
};

/// The version of `theme.json` whose words the settings use.
const THEME_JSON_VERSION: i64 = 3;

fn theme_json_version() -> SchemaBuilder {
    let about = "The version of theme.json whose words the settings use.";
    integer().describe(about).default(THEME_JSON_VERSION).range(2..=THEME_JSON_VERSION)
}

/// The parameters of a list of posts that make sense for fonts, without these.
fn listed(all: Params<PostList>, without: &[&str]) -> Params<PostList> {
    #[rustfmt::skip]
    let unfit = [
        "search", "after", "before", "modified_after", "modified_before", "search_columns", "status", "menu_order", "parent",
        "parent_exclude", "author", "author_exclude", "tax_relation",
    ];
    params::ordered(all.without(&unfit).without(without), 10, "desc", "id", &["id", "include"])
}

/// The settings that a row's content holds.
fn stored(post: &Post) -> Map<String, Value> {
    serde_json::from_str(&post.content).unwrap_or_default()
}

/// Whether the caller may see fonts.
fn check_read(site: &RestSite, kind: &PostType, req: &Request) -> Result<()> {
    let settings = site.settings()?;
    if Access::new(site, &settings).can(&caller(req), &kind.caps.read) { Ok(()) } else { Err(errors::cannot_read(req)) }
}

/// The row that a request names, for callers who may see it.
fn readable(site: &RestSite, kind: &PostType, req: &Request) -> Result<Post> {
    let id = PostId(req.require("id")?);
    let found = site.read(|db| Ok(stored_posts::get(db, id)?))?;
    let post = found.filter(|post| post.post_type == kind.name).ok_or_else(post_not_found)?;
    check_read(site, kind, req)?;
    Ok(post)
}

/// Removes files of fonts, off the worker.
async fn remove_files(site: &Arc<RestSite>, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let folder = files::folder(&site.content_dir);
    if tokio::task::spawn_blocking(move || files::remove(&folder, &names)).await.is_err() {
        tracing::error!("files of fonts stay: their removal stopped");
    }
}
