//! Validators and sanitizers of arguments that depend on the state of the site. They run before the permission check.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{PostId, PostType};
use svc_routing::{Request, Result};
use svc_schema::build::{array, string};
use svc_site::{Access, Site, templates::load::TemplateLookup};
use svc_store::{MetaKind, meta, posts};

use super::params;
use crate::{caller, errors, posts::attachment};

/// Sanitizes the `status` of a list: slugs, each once. Every status but the default one requires permission to edit
/// posts; `private` is also accepted from callers who may read private posts.
pub(crate) fn statuses(
    site: &Arc<Site>,
    post_type: &Arc<PostType>,
) -> impl Fn(&Request, &Value) -> Result<Value> + use<> {
    let (site, post_type) = (Arc::clone(site), Arc::clone(post_type));
    let (default, statuses) = if post_type.name == "attachment" {
        ("inherit", attachment::STATUSES.map(str::to_owned).to_vec())
    } else {
        ("publish", params::statuses(&site))
    };
    let statuses = array(string().one_of(statuses)).compile();
    move |req, value| {
        let mut requested: Vec<String> = Vec::new();
        for status in svc_php::list::parse_text_list(value)?.iter().map(|status| svc_text::sanitize_title(status)) {
            if !requested.contains(&status) {
                requested.push(status);
            }
        }
        if requested.iter().any(|status| status != default) {
            let (settings, caller) = (site.settings(req.cx())?, caller(req));
            let access = Access::new(&site, &settings);
            let edits = access.can(&caller, &post_type.caps.edit_posts);
            let reads_private = access.can(&caller, &post_type.caps.read_private_posts);
            for status in requested.iter().filter(|status| *status != default) {
                if !(edits || (status == "private" && reads_private)) {
                    return Err(errors::forbidden_status(req));
                }
                // The statuses of the site are reported only to those who may list them.
                statuses.validate(&json!(status), "status")?;
            }
        }
        Ok(json!(requested))
    }
}

/// Validates `status`. A post may keep its current status, even one that requests cannot set.
pub(crate) fn status(site: &Arc<Site>, post_type: &Arc<PostType>) -> impl Fn(&Request, &Value) -> Result<bool> + use<> {
    let (site, post_type) = (Arc::clone(site), Arc::clone(post_type));
    let writable = string().one_of(site.writable_statuses()).compile();
    move |req, status| {
        let Err(error) = writable.validate(status, "status") else { return Ok(true) };
        let id = PostId(req.param("id").map_or(0, svc_php::cast::to_int));
        let post = if id.is_none() { None } else { site.read(req.cx(), |db| Ok(posts::get(db, id)?))? };
        let post = post.filter(|post| post.post_type == post_type.name);
        if post.is_some_and(|post| status.as_str() == Some(&post.status)) { Ok(true) } else { Err(error) }
    }
}

/// Validates `template`: a template that may be selected, or the post's current one.
pub(crate) fn template(
    site: &Arc<Site>,
    post_type: &Arc<PostType>,
) -> impl Fn(&Request, &Value) -> Result<bool> + use<> {
    let (site, post_type) = (Arc::clone(site), Arc::clone(post_type));
    move |req, template| {
        if !svc_php::cast::truthy(template) {
            return Ok(true);
        }
        let template = svc_php::cast::to_text(template).into_owned();
        let id = req.param("id").map_or(0, svc_php::cast::to_int);
        let settings = site.settings(req.cx())?;
        let fits = site.read(req.cx(), |db| {
            let current = meta::get(db, MetaKind::Post, id, "_wp_page_template")?;
            Ok(current.is_some_and(|current| current.text() == template)
                || TemplateLookup::new(db.cx(), &site, &settings).is_selectable_for(db, &template, &post_type)?)
        })?;
        if fits { Ok(true) } else { Err(errors::unknown_template()) }
    }
}
