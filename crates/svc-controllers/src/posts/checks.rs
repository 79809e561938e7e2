//! What is asked of requests before their permission is: values that the site, and not their schema, decides on.

use std::sync::Arc;

use svc_model::{PostId, PostType};
use svc_routing::{Request, Result};
use svc_schema::build::{array, string};
use svc_store::{MetaKind, meta, posts};

use crate::{Access, Site, caller, errors, media, templates::Lookup};

/// A list asks only for statuses that the caller may list.
pub(crate) fn statuses(site: &Arc<Site>, post_type: &Arc<PostType>) -> impl Fn(&Request) -> Result<bool> + use<> {
    let (site, kind) = (Arc::clone(site), Arc::clone(post_type));
    move |req| {
        // As it was sent: a list, or texts between commas.
        let asked = req.param("status").map(svc_php::list::parse_text_list).unwrap_or_default();
        let is_attachment = kind.name == "attachment";
        let free = if is_attachment { "inherit" } else { "publish" };
        if asked.iter().all(|status| status == free) {
            return Ok(true);
        }
        let (settings, caller) = (site.settings()?, caller(req));
        let access = Access::new(&site, &settings);
        let edits = access.can(&caller, &kind.caps.edit_posts);
        let may = |status: &str| match status {
            status if status == free => true,
            "private" if is_attachment || edits => access.can(&caller, &kind.caps.read_private_posts) || edits,
            _ => edits,
        };
        if !asked.iter().all(|status| may(status)) {
            return Err(errors::forbidden_status(req));
        }
        if is_attachment {
            // Which statuses there are is told only to those who may list them.
            let known = array(string().one_of(media::STATUSES)).compile();
            let found = known.validate(&asked.into(), "status");
            found.map_err(|why| errors::invalid_param("status", &why))?;
        }
        Ok(true)
    }
}

/// A post may keep its status, also one that no request can give.
pub(crate) fn kept_status(site: &Arc<Site>) -> impl Fn(&Request, &str) -> Result<bool> + use<> {
    let site = Arc::clone(site);
    move |req, name| {
        if name != "status" {
            return Ok(false);
        }
        let id = PostId(req.param("id").map_or(0, svc_php::cast::to_int));
        let post = site.read(|db| Ok(posts::get(db, id)?))?;
        Ok(post.is_some_and(|post| req.param(name).and_then(|v| v.as_str()) == Some(post.status.as_str())))
    }
}

/// A template must be one that may be chosen, or the one that the post has.
pub(crate) fn template(site: &Arc<Site>, post_type: &Arc<PostType>) -> impl Fn(&Request) -> Result<bool> + use<> {
    let (site, kind) = (Arc::clone(site), Arc::clone(post_type));
    move |req| {
        let template = req.param("template").map(|t| svc_php::cast::to_text(t).into_owned()).unwrap_or_default();
        if matches!(template.as_str(), "" | "0") {
            return Ok(true);
        }
        let id = req.param("id").map_or(0, svc_php::cast::to_int);
        let settings = site.settings()?;
        let fits = site.read(|db| {
            let current = meta::get(db, MetaKind::Post, id, "_wp_page_template")?;
            Ok(current.is_some_and(|current| current.text() == template)
                || Lookup::new(&site, &settings).may_choose(db, &template, &kind)?)
        })?;
        if fits { Ok(true) } else { Err(errors::unknown_template()) }
    }
}
