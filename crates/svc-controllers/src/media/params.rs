//! Parameters of the list of media: those of a list of posts, and filters by file type.

use serde_json::{Value, json};
use svc_model::PostType;
use svc_resource::Params;
use svc_schema::build::{array, string};
use svc_text::MimeTypes;

use crate::posts::{
    attachment::STATUSES,
    params::{PostList, params as post_params},
};
use svc_site::Site;

/// Values of `media_type`.
const MEDIA_TYPES: [&str; 5] = ["image", "video", "text", "application", "audio"];

/// The parameters on this site.
#[rustfmt::skip]
pub(super) fn params(site: &Site, post_type: &PostType) -> Params<PostList> {
    let mut p = post_params(site, post_type).without(&["status"]);
    // The permission to list a status is checked before the status itself is validated.
    p.add("status", array(string().one_of(STATUSES).first(&["enum"])).default("inherit").describe("Only return media with these statuses.").first(&["default"])).raw()
        .set(|l, v: Value| l.status = svc_php::list::parse_text_list(&v).unwrap_or_default());
    p.add("media_type", array(string().one_of(MEDIA_TYPES)).default(Value::Null).describe("Only return files of these media types.").first(&["default"]))
        .set(|l, v: Vec<String>| l.query.mime_types.extend(v));
    p.add("mime_type", array(string()).default(json!(null)).describe("Only return files of these MIME types.").first(&["default"]))
        .set(|l, v: Vec<String>| l.query.mime_types.extend(v.into_iter().filter(|mime| is_known(mime))));
    p
}

/// Whether the MIME type can be uploaded. Other types are ignored in the filter.
fn is_known(mime: &str) -> bool {
    MimeTypes::known().iter().any(|(_, known)| known == mime)
}
