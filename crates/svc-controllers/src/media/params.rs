//! Parameters of the list of media: those of a list of posts, and the kinds of files.

use serde_json::{Value, json};
use svc_model::PostType;
use svc_resource::Params;
use svc_schema::build::{array, string};
use svc_text::MimeTypes;

use crate::{
    RestSite,
    posts::{
        attachment::STATUSES,
        params::{PostList, params as post_params},
    },
};

/// Kinds of media types that a list can be narrowed to.
const KINDS: [&str; 5] = ["image", "video", "text", "application", "audio"];

/// The parameters on this site.
#[rustfmt::skip]
pub(super) fn params(site: &RestSite, kind: &PostType) -> Params<PostList> {
    let mut p = post_params(site, kind).without(&["status"]);
    // Whether the caller may list a status is asked before whether there is such a one.
    p.add("status", array(string().one_of(STATUSES)).default("inherit").describe("Only media with these statuses.")).raw()
        .set(|l, v: Value| l.status = svc_php::list::parse_text_list(&v));
    p.add("media_type", array(string().one_of(KINDS)).default(Value::Null).describe("Only files of these kinds."))
        .set(|l, v: Vec<String>| l.query.mime_types.extend(v));
    p.add("mime_type", array(string()).default(json!(null)).describe("Only files of these media types."))
        .set(|l, v: Vec<String>| l.query.mime_types.extend(v.into_iter().filter(|mime| is_known(mime))));
    p
}

/// Types that nobody could have uploaded narrow nothing.
fn is_known(mime: &str) -> bool {
    MimeTypes::known().iter().any(|(_, known)| known == mime)
}
