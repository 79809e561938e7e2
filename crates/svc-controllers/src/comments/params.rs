//! Parameters of a list of comments, and the query built from them.

use serde_json::{Value, json};
use svc_model::{CommentId, PostId, UserId};
use svc_resource::{Params, Typed};
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, integer, string},
};
use svc_site::Settings;
use svc_store::{
    Order,
    comments::{CommentOrderBy, CommentQuery},
};

use crate::args::{context_param, one_line};

/// Maximum number of items per page.
const MAX_PER_PAGE: i64 = 100;

/// The parameters of a list request.
#[derive(Clone, Debug, Default)]
pub(super) struct CommentList {
    pub(super) page: u64,
    pub(super) per_page: u64,
    offset: Option<u64>,
    query: CommentQuery,
    after: Option<String>,
    before: Option<String>,
    status: String,
    comment_type: String,
    /// The posts as sent, with signs.
    pub(super) posts: Vec<PostId>,
}

fn ids() -> SchemaBuilder {
    array(integer())
}

/// Converts ids. Signs are ignored.
fn unsigned<T>(ids: Vec<i64>, id: fn(i64) -> T) -> Vec<T> {
    ids.into_iter().map(|n| id(n.saturating_abs())).collect()
}

fn key(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_key(&svc_php::cast::to_text(&value)).into())
}

/// The parameters of a list.
#[rustfmt::skip]
pub(super) fn params() -> Params<CommentList> {
    let mut p = Params::<CommentList>::new("comments");
    let date = || string().format("date-time");
    p.add("context", context_param());
    p.add("page", integer().describe("Page number.").default(1).minimum(1)).set(|l, n| l.page = n);
    p.add("per_page", integer().describe("Number of items per page.").default(10).range(1..=MAX_PER_PAGE)).set(|l, n| l.per_page = n);
    p.add("search", string().describe("Only return comments whose text or author matches this search text.")).sanitize_with(one_line).set(|l, s: String| l.query.search = Some(s).filter(|s| !s.is_empty()));
    p.add("after", date().describe("Only return comments published after this date.")).set(|l, s| l.after = Some(s));
    p.add("author", ids().describe("Only return comments by these user IDs.")).set(|l, v| l.query.author_in = unsigned(v, UserId));
    p.add("author_exclude", ids().describe("Exclude comments by these user IDs.")).set(|l, v| l.query.author_not_in = unsigned(v, UserId));
    p.add("author_email", string().describe("Only return comments by the author with this e-mail address.").format("email").default(Value::Null).first(&["default", "description", "format"])).set(|l, s: String| l.query.author_email = Some(s).filter(|s| !s.is_empty()));
    p.add("before", date().describe("Only return comments published before this date.")).set(|l, s| l.before = Some(s));
    p.add("exclude", ids().describe("Exclude comments with these IDs.").default(json!([]))).set(|l, v| l.query.exclude = unsigned(v, CommentId));
    p.add("include", ids().describe("Only return comments with these IDs.").default(json!([]))).set(|l, v| l.query.include = unsigned(v, CommentId));
    p.add("offset", integer().describe("Number of items to skip.")).set(|l, n: i64| l.offset = Some(n.unsigned_abs()));
    p.add("order", string().describe("Sort direction.").default("desc").one_of(["asc", "desc"]))
        .set(|l, o: String| l.query.order = if o == "asc" { Order::Asc } else { Order::Desc });
    p.add("orderby", string().describe("Sort key.").default("date_gmt").one_of(["date", "date_gmt", "id", "include", "post", "parent", "type"]))
        .set(|l, o: String| l.query.order_by = order_by(&o));
    p.add("parent", ids().describe("Only return replies to these comment IDs; 0 returns top-level comments.").default(json!([])).first(&["default"])).set(|l, v| l.query.parent_in = unsigned(v, CommentId));
    p.add("parent_exclude", ids().describe("Exclude replies to these comment IDs.").default(json!([])).first(&["default"])).set(|l, v| l.query.parent_not_in = unsigned(v, CommentId));
    p.add("post", ids().describe("Only return comments on these post IDs.").default(json!([])).first(&["default"]))
        .set(|l, v: Value| (l.posts, l.query.posts) = posts(&v));
    p.add("status", string().describe("Only return comments with this status.").default("approve").first(&["default"])).sanitize_with(key).set(|l, s| l.status = s);
    p.add("type", string().describe("Only return comments of this type.").default("comment").first(&["default"])).sanitize_with(key).set(|l, s| l.comment_type = s);
    p.add("password", string().describe("Password of the post, if it is protected."));
    crate::cursor::add_params(&mut p);
    p
}

/// The posts of a list, as sent and without signs. A write, which asks for `Allow`, has one number. Invalid text is ignored; it does not
/// count as id 0.
fn posts(value: &Value) -> (Vec<PostId>, Vec<PostId>) {
    let number = |value: &Value| match value {
        Value::Number(_) => Some(svc_php::cast::to_int(value)),
        other => Some(svc_php::cast::to_int(other)).filter(|id| *id != 0),
    };
    let ids: Vec<i64> = match value {
        _ if !svc_php::cast::truthy(value) => Vec::new(),
        Value::Array(ids) => ids.iter().filter_map(number).collect(),
        id => number(id).into_iter().collect(),
    };
    (ids.iter().copied().map(PostId).collect(), unsigned(ids, PostId))
}

/// Whether the list is searched, for words in texts and in names and addresses of authors.
pub(super) fn searches(list: &Typed<CommentList>) -> bool {
    list.values().query.search.is_some() || list.has_mismatch("search")
}

/// The parameters of a list that require permission to edit posts. Without the defaults of the list, the type and the status are among them.
pub(super) fn forbidden_params(list: &Typed<CommentList>) -> Vec<&'static str> {
    let values = list.values();
    let rows = [
        ("author", !values.query.author_in.is_empty() || list.has_mismatch("author")),
        ("author_exclude", !values.query.author_not_in.is_empty() || list.has_mismatch("author_exclude")),
        ("author_email", values.query.author_email.is_some() || list.has_mismatch("author_email")),
        ("type", values.comment_type != "comment"),
        ("status", values.status != "approve"),
    ];
    rows.into_iter().filter(|(_, is_forbidden)| *is_forbidden).map(|(name, _)| name).collect()
}

fn order_by(name: &str) -> CommentOrderBy {
    match name {
        "date" => CommentOrderBy::Date,
        "id" => CommentOrderBy::Id,
        "include" => CommentOrderBy::Include,
        "post" => CommentOrderBy::Post,
        "parent" => CommentOrderBy::Parent,
        "type" => CommentOrderBy::Type,
        _ => CommentOrderBy::DateGmt,
    }
}

impl CommentList {
    /// Whether the list has notes only.
    pub(super) fn lists_notes(&self) -> bool {
        self.comment_type == "note"
    }

    /// Whether the list is ordered by `include` and `include` is missing. As in WordPress, the list then has a total
    /// but no items.
    pub(super) fn lacks_include(&self) -> bool {
        self.query.order_by == CommentOrderBy::Include && self.query.include.is_empty()
    }

    /// The query for one page of the list.
    pub(super) fn into_query(self, settings: &Settings) -> CommentQuery {
        let local = |text: &Option<String>| text.as_ref().and_then(|t| settings.zone.parse_local(t));
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<String>>();
        let mut q = self.query;
        q.limit = Some(self.per_page);
        let skipped = self.page.saturating_sub(1).saturating_mul(self.per_page);
        q.offset = self.offset.unwrap_or(skipped).min(i64::MAX as u64);
        q.total = true;
        (q.after, q.before) = (local(&self.after), local(&self.before));
        q.approved = match self.status.as_str() {
            "any" => Vec::new(),
            "all" | "" => texts(&["0", "1"]),
            "hold" => texts(&["0"]),
            "approve" => texts(&["1"]),
            other => texts(&[other]),
        };
        q.types = match self.comment_type.as_str() {
            "all" | "" => Vec::new(),
            "comments" => texts(&["comment"]),
            "pings" => texts(&["pingback", "trackback"]),
            other => texts(&[other]),
        };
        // Notes are internal. They are listed only if the type is requested.
        q.types_exclude =
            if matches!(self.comment_type.as_str(), "all" | "note") { Vec::new() } else { texts(&["note"]) };
        q
    }
}
