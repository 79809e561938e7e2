//! Fields of comments: schema, getter and setter.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};
use svc_model::{Comment, Timestamp};
use svc_php::cast::{to_int, to_text};
use svc_resource::Fields;
use svc_schema::{
    Error, Schema,
    build::{integer, object, string},
};
use svc_site::{
    Settings, Site, avatars,
    comments::{
        draft::{CommentDraft, response_type},
        html,
    },
};
use svc_store::Meta;

use crate::{
    args::one_line,
    avatar_fields,
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    links::with_query,
};

/// The fields of comments.
pub(super) type CommentFields = Fields<CommentItem, CommentDraft>;

/// The object type of comments in additional fields and the item schema.
pub(super) const OBJECT: &str = "comment";

/// A comment with all loaded data that its fields read.
pub(super) struct CommentItem {
    /// The row.
    pub(super) comment: Comment,
    /// The site's options as of this request.
    pub(super) settings: Arc<Settings>,
    /// Stored meta; empty when the plan reads none.
    pub(super) meta: Meta,
    /// Permalink of its post; empty when the plan does not read it.
    pub(super) permalink: String,
    /// The comment page that its URL contains, if any.
    pub(super) page: Option<u64>,
    /// The e-mail address of its avatar: the user's, or the guest's; empty when the plan does not read it.
    pub(super) email: String,
}

/// The date that WordPress returns for a stored zero timestamp.
const ZERO_DATE: &str = "-0001-11-30T00:00:00";

/// The JSON value of a stored timestamp.
fn timestamp(item: &CommentItem, stamp: Timestamp) -> Value {
    stamp.map_or_else(|| ZERO_DATE.to_owned(), |s| item.settings.zone.format_local(s)).into()
}

/// The public status of a comment.
pub(super) fn shown_status(comment: &Comment) -> &str {
    match comment.approved.as_str() {
        "0" | "hold" => "hold",
        "1" | "approve" => "approved",
        other => other,
    }
}

impl CommentItem {
    /// URL of the comment on its post's page. A trailing slash follows the site's permalink structure.
    fn link(&self) -> String {
        let permalinks = &self.settings.urls.site.permalinks;
        let page = match (self.page, permalinks.is_pretty()) {
            (None, false) => self.permalink.clone(),
            (None, true) => permalinks.end(&self.permalink),
            (Some(page), false) => with_query(&self.permalink, "cpage", page),
            (Some(page), true) => {
                permalinks.end(&format!("{}comment-page-{page}", svc_text::trailing_slash(&self.permalink)))
            }
        };
        format!("{page}#comment-{}", self.comment.id)
    }

    /// URL of the author's avatar; false for pingbacks and trackbacks.
    fn avatar(&self, size: u32) -> Value {
        match response_type(&self.comment) {
            "comment" | "note" => avatars::url(&self.settings, &self.email, size).into(),
            _ => Value::Bool(false),
        }
    }
}

/// The fields on this site, with URLs of avatars of these sizes.
///
/// Numbers and the status are cast as in PHP: for `Allow`, a permission gets the lists and texts of other methods.
#[rustfmt::skip]
pub(super) fn fields(site: &Site, avatar_sizes: Option<&[u32]>) -> CommentFields {
    const NO_PROPERTIES: [(&str, Value); 0] = [];
    let mut f = CommentFields::new(OBJECT);
    f.add("id", integer().describe("The comment's ID.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.comment.id);
    f.add("post", integer().describe("ID of the comment's post.").context(VIEW_EDIT).default(0))
        .get(|c| c.comment.post).set(|d, v: Value| d.post = Some(to_int(&v)));
    f.add("parent", integer().describe("ID of the parent comment.").context(VIEW_EDIT_EMBED).default(0))
        .get(|c| c.comment.parent).set(|d, v| d.parent = Some(v));
    f.add("author", integer().describe("User ID of the author; 0 for a guest.").context(VIEW_EDIT_EMBED))
        .get(|c| c.comment.user.0).set(|d, v: Value| d.author = Some(to_int(&v)));
    f.add("author_name", string().describe("The author's name.").context(VIEW_EDIT_EMBED))
        .sanitize_with(one_line).get(|c| c.comment.author.clone()).set(|d, v| d.author_name = Some(v));
    f.add("author_email", string().describe("The author's e-mail address.").format("email").context(EDIT))
        .parse_with(email_or_empty).get(|c| c.comment.author_email.clone()).set(|d, v| d.author_email = Some(v));
    f.add("author_url", string().describe("URL of the author's web site.").format("uri").context(VIEW_EDIT_EMBED))
        .get(|c| c.comment.author_url.clone()).set(|d, v| d.author_url = Some(v));
    f.add("author_ip", string().describe("IP address of the author.").format("ip").context(EDIT))
        .get(|c| c.comment.author_ip.clone()).set(|d, v| d.author_ip = Some(v));
    f.add("author_user_agent", string().describe("User agent of the author's client.").context(EDIT))
        .sanitize_with(one_line).get(|c| c.comment.agent.clone()).set(|d, v| d.author_user_agent = Some(v));
    f.add("date", string().describe("Publication date in the site's time zone.").format("date-time").context(VIEW_EDIT_EMBED))
        .get(|c| timestamp(c, c.comment.date)).set(|d, v| d.date = Some(v));
    f.add("date_gmt", string().describe("Publication date in UTC.").format("date-time").context(VIEW_EDIT))
        .get(|c| timestamp(c, c.comment.date_gmt)).set(|d, v| d.date_gmt = Some(v));
    let content = f.add("content", object(NO_PROPERTIES).describe("The comment's text.").context(VIEW_EDIT_EMBED));
    content.subfield("rendered", string().describe("The text as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|c| html::comment(&c.settings, &c.comment.content).into_string());
    content.subfield("raw", string().describe("The text as stored.").context(EDIT)).get(|c| c.comment.content.clone());
    content.schema_order(&["raw"]);
    content.raw().set(|d, v| d.content = text(v));
    f.add("link", string().describe("URL of the comment.").format("uri").context(VIEW_EDIT_EMBED).readonly()).get(CommentItem::link);
    f.add("status", string().describe("The comment's status: approved, hold, spam or trash.").context(VIEW_EDIT))
        .sanitize_with(key).get(|c| shown_status(&c.comment).to_owned()).set(|d, v: Value| d.status = Some(to_text(&v).into_owned()));
    f.add("type", string().describe("The comment's type.").context(VIEW_EDIT_EMBED).readonly().default("comment")).get(|c| response_type(&c.comment).to_owned())
        .set(|d, v| d.comment_type = Some(v));
    if let Some(sizes) = avatar_sizes {
        let urls = f.add("author_avatar_urls", avatar_fields::schema("Avatar URLs of the author, by width in pixels.", VIEW_EDIT_EMBED));
        if sizes.is_empty() {
            urls.get(|_| Value::Object(Map::new()));
        }
        for &size in sizes {
            let description = format!("URL of the avatar with a width of {size} pixels.");
            let schema = string().describe(&description).format("uri").context(&["embed", "view", "edit"]);
            urls.subfield(&size.to_string(), schema).get(move |c| c.avatar(size));
        }
    }
    crate::meta_fields::add_member(&mut f, &site.registries.meta, "comment", "", |c| &c.meta).set(|d, v| d.meta = Some(v));
    f.schema_order(&[
        "id", "author", "author_email", "author_ip", "author_name", "author_url", "author_user_agent", "content", "date", "date_gmt", "link",
        "parent",
    ]);
    f.all_exact()
}

/// An e-mail address, or an empty value to remove it.
fn email_or_empty(value: Value, param: &str) -> Result<Value, Error> {
    static EMAIL: LazyLock<Schema> = LazyLock::new(|| string().format("email").compile());
    let value = Value::from(to_text(&value));
    if svc_php::cast::truthy(&value) {
        EMAIL.validate(&value, param)?;
    }
    Ok(value)
}

fn key(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_key(&to_text(&value)).into())
}

/// The text of `content`, which is written as a string or as an object with `raw`. Other values are ignored.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(mut object) => {
            object.swap_remove("raw").filter(|raw| !raw.is_null()).map(|raw| to_text(&raw).into_owned())
        }
        _ => None,
    }
}
