//! Members of a comment, each named once: schema, how it is read, how it is written.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use svc_model::{Comment, Stamp};
use svc_resource::Fields;
use svc_schema::{
    Error, Schema,
    build::{integer, object, string},
};
use svc_site::{
    Settings, avatars,
    comments::{
        draft::{CommentDraft, shown_type},
        html,
    },
};
use svc_store::Meta;

use crate::{
    RestSite,
    args::one_line,
    avatar_fields,
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    links::with_query,
};

/// The table of comments.
pub(super) type CommentFields = Fields<CommentItem, CommentDraft>;

/// What additional fields and the item schema call comments.
pub(super) const OBJECT: &str = "comment";

/// A comment with everything loaded that its members read.
pub(super) struct CommentItem {
    /// The row.
    pub(super) comment: Comment,
    /// The site's options as of this request.
    pub(super) settings: Arc<Settings>,
    /// Stored meta; empty when the plan reads none.
    pub(super) meta: Meta,
    /// Address of its post's page; empty when the plan reads none.
    pub(super) address: String,
    /// The page of comments that it stands on, where the address is to name one.
    pub(super) page: Option<u64>,
    /// The e-mail address that its avatar belongs to: the user's, or the one given; empty when the plan reads none.
    pub(super) email: String,
}

/// What the peer makes of a moment that is stored as zero.
const ZERO: &str = "-0001-11-30T00:00:00";

/// The wire form of a stored moment.
fn wire(item: &CommentItem, stamp: Stamp) -> Value {
    stamp.map_or_else(|| ZERO.to_owned(), |s| item.settings.zone.shown(s)).into()
}

/// The status that a comment shows.
pub(super) fn shown_status(comment: &Comment) -> &str {
    match comment.approved.as_str() {
        "0" | "hold" => "hold",
        "1" | "approve" => "approved",
        other => other,
    }
}

impl CommentItem {
    /// Address of the comment on its post's page. The page's address ends as paths of the site do.
    fn link(&self) -> String {
        let permalinks = &self.settings.urls.site.permalinks;
        let page = match (self.page, permalinks.is_pretty()) {
            (None, false) => self.address.clone(),
            (None, true) => permalinks.end(&self.address),
            (Some(page), false) => with_query(&self.address, "cpage", page),
            (Some(page), true) => {
                permalinks.end(&format!("{}comment-page-{page}", svc_text::trailing_slash(&self.address)))
            }
        };
        format!("{page}#comment-{}", self.comment.id)
    }

    /// The address of its author's picture, or false: pingbacks and their like come from machines.
    fn avatar(&self, size: u32) -> Value {
        match shown_type(&self.comment) {
            "comment" | "note" => avatars::url(&self.settings, &self.email, size).into(),
            _ => Value::Bool(false),
        }
    }
}

/// The table on this site, with or without addresses of avatars.
#[rustfmt::skip]
pub(super) fn fields(site: &RestSite, with_avatars: bool) -> CommentFields {
    const NOTHING: [(&str, Value); 0] = [];
    let mut f = CommentFields::new(OBJECT);
    f.add("id", integer().describe("Number that identifies the comment.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.comment.id);
    f.add("post", integer().describe("Number of the post that it is on.").default(0).context(VIEW_EDIT))
        .get(|c| c.comment.post).set(|d, v| d.post = Some(v));
    f.add("parent", integer().describe("Number of the comment that it replies to.").default(0).context(VIEW_EDIT_EMBED))
        .get(|c| c.comment.parent).set(|d, v| d.parent = Some(v));
    f.add("author", integer().describe("Number of the user who wrote it, 0 for a guest.").context(VIEW_EDIT_EMBED))
        .get(|c| c.comment.user.0).set(|d, v| d.author = Some(v));
    f.add("author_name", string().describe("The author's name.").context(VIEW_EDIT_EMBED))
        .sanitize_with(one_line).get(|c| c.comment.author.clone()).set(|d, v| d.author_name = Some(v));
    f.add("author_email", string().describe("The author's e-mail address.").format("email").context(EDIT))
        .parse_with(email_or_nothing).get(|c| c.comment.author_email.clone()).set(|d, v| d.author_email = Some(v));
    f.add("author_url", string().describe("Address of the author's own page.").format("uri").context(VIEW_EDIT_EMBED))
        .get(|c| c.comment.author_url.clone()).set(|d, v| d.author_url = Some(v));
    f.add("author_ip", string().describe("Network address that it came from.").format("ip").context(EDIT))
        .get(|c| c.comment.author_ip.clone()).set(|d, v| d.author_ip = Some(v));
    f.add("author_user_agent", string().describe("Program that it was sent with.").context(EDIT))
        .sanitize_with(one_line).get(|c| c.comment.agent.clone()).set(|d, v| d.author_user_agent = Some(v));
    f.add("date", string().describe("When it was written, in the site's time zone.").format("date-time").context(VIEW_EDIT_EMBED))
        .get(|c| wire(c, c.comment.date)).set(|d, v| d.date = Some(v));
    f.add("date_gmt", string().describe("When it was written, in UTC.").format("date-time").context(VIEW_EDIT))
        .get(|c| wire(c, c.comment.date_gmt)).set(|d, v| d.date_gmt = Some(v));
    let content = f.add("content", object(NOTHING).describe("What it says.").context(VIEW_EDIT_EMBED));
    content.subfield("raw", string().describe("The text as stored.").context(EDIT)).get(|c| c.comment.content.clone());
    content.subfield("rendered", string().describe("The text as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|c| html::comment(&c.settings, &c.comment.content));
    content.raw().set(|d, v| d.content = text(v));
    f.add("link", string().describe("Address of the comment on its post's page.").format("uri").context(VIEW_EDIT_EMBED).readonly()).get(CommentItem::link);
    f.add("status", string().describe("Whether it is shown, held, spam or in the trash.").context(VIEW_EDIT))
        .sanitize_with(key).get(|c| shown_status(&c.comment).to_owned()).set(|d, v| d.status = Some(v));
    f.add("type", string().describe("Kind of comment.").default("comment").context(VIEW_EDIT_EMBED).readonly()).get(|c| shown_type(&c.comment).to_owned());
    if with_avatars {
        let urls = f.add("author_avatar_urls", avatar_fields::schema("Addresses of the author's picture, by its width.", VIEW_EDIT_EMBED));
        for size in avatars::SIZES {
            let what = format!("Address of a picture {size} pixels wide.");
            let schema = string().describe(&what).format("uri").context(&["embed", "view", "edit"]);
            urls.subfield(&size.to_string(), schema).get(move |c| c.avatar(size));
        }
    }
    crate::meta_fields::add_member(&mut f, &site.meta, "comment", "", |c| &c.meta).set(|d, v| d.meta = Some(v));
    f.all_exact()
}

/// An e-mail address, or nothing, which takes it away.
fn email_or_nothing(value: Value, param: &str) -> Result<Value, Error> {
    static EMAIL: LazyLock<Schema> = LazyLock::new(|| string().format("email").compile());
    let value = Value::from(svc_php::cast::to_text(&value));
    if svc_php::cast::truthy(&value) {
        EMAIL.validate(&value, param)?;
    }
    Ok(value)
}

fn key(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_key(&svc_php::cast::to_text(&value)).into())
}

/// Content is written as text or as an object with `raw`; anything else changes nothing.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(mut members) => {
            members.remove("raw").filter(|raw| !raw.is_null()).map(|raw| svc_php::cast::to_text(&raw).into_owned())
        }
        _ => None,
    }
}
