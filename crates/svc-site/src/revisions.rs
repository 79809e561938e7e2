//! Revisions and autosaves of posts.

use std::collections::HashMap;

use serde_json::{Map, Value};
use svc_auth::{
    Caller,
    caps::{Object, PostCap},
};
use svc_model::{Post, PostId, PostType, UserId};
use svc_store::{
    StoredText, Tx,
    meta::{self, Meta, MetaKind},
    posts,
};

use crate::{
    Access, Settings, Site, SiteResult,
    registries::meta::{self as registered_meta, MetaField, MetaRights},
    sanitize,
};

/// Whether revisions are stored for posts of this type.
pub fn are_enabled_for(site: &Site, post_type: &PostType) -> bool {
    site.policies.max_revisions != Some(0) && post_type.supports("revisions")
}

/// The author of a revision.
#[derive(Clone, Copy, Debug)]
pub struct RevisionAuthor {
    /// The user.
    pub id: UserId,
    /// Whether the user may use any HTML. Copies of meta are filtered otherwise.
    pub unfiltered_html: bool,
}

impl RevisionAuthor {
    /// The caller of a request.
    pub fn of(caller: &Caller, site: &Site, settings: &Settings) -> Self {
        let unfiltered_html = Access::new(site, settings).can(caller, "unfiltered_html");
        RevisionAuthor { id: caller.id, unfiltered_html }
    }
}

/// The meta that is stored with revisions.
fn meta_fields<'a>(site: &'a Site, post_type: &str) -> Vec<&'a MetaField> {
    site.registries.meta.fields("post", post_type).filter(|f| f.revisions).map(|f| &**f).collect()
}

/// Copies the meta with revisions of a post to a new revision.
fn copy_meta(
    tx: &mut Tx,
    fields: &[&MetaField],
    of_post: &Meta,
    revision: PostId,
    unfiltered_html: bool,
) -> SiteResult<()> {
    let copy = |field: &MetaField, value: &StoredText| {
        if unfiltered_html { value.clone() } else { field.filtered_copy(value) }
    };
    let values: Vec<(&str, StoredText)> = fields
        .iter()
        .flat_map(|field| of_post.all(&field.key).iter().map(|value| (field.key.as_str(), copy(field, value))))
        .collect();
    if !values.is_empty() {
        let rows: Vec<(&str, &StoredText)> = values.iter().map(|(key, value)| (*key, value)).collect();
        meta::add_many(tx, MetaKind::Post, revision.0, &rows)?;
    }
    Ok(())
}

/// Stores a revision of the texts and of the meta with revisions, if a post has none yet or differs from the latest one
/// in more than white space. Then deletes the oldest revisions beyond the site's limit.
pub fn store_revision(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    post_type: &PostType,
    row: &Post,
    author: RevisionAuthor,
) -> SiteResult<()> {
    if !are_enabled_for(site, post_type) || row.status == "auto-draft" {
        return Ok(());
    }
    let fields = meta_fields(site, &post_type.name);
    let latest = posts::latest_revision(tx, row.id)?;
    let mut numbers = vec![row.id.0];
    numbers.extend(latest.iter().map(|l| l.id.0));
    let mut meta = if fields.is_empty() { HashMap::new() } else { meta::load(tx, MetaKind::Post, &numbers)? };
    let values = |id: PostId, key: &str| meta.get(&id.0).map_or(&[][..], |m| m.all(key));
    if let Some(latest) = &latest
        && texts(latest).iter().zip(texts(row)).all(|(then, now)| is_same(then, now))
        && fields.iter().all(|field| values(latest.id, &field.key) == values(row.id, &field.key))
    {
        return Ok(());
    }
    let revision = Post {
        author: author.id,
        date: row.modified,
        date_gmt: row.modified_gmt,
        modified: row.modified,
        modified_gmt: row.modified_gmt,
        title: row.title.clone(),
        content: row.content.clone(),
        excerpt: row.excerpt.clone(),
        ..blank(row.id, "revision")
    };
    let id = insert(tx, settings, &revision)?;
    if let Some(of_post) = meta.remove(&row.id.0) {
        copy_meta(tx, &fields, &of_post, id, author.unfiltered_html)?;
    }
    if let Some(most) = site.policies.max_revisions {
        posts::trim_revisions(tx, row.id, most)?;
    }
    Ok(())
}

/// An empty revision of a post. `kind` is part of its slug.
fn blank(parent: PostId, kind: &str) -> Post {
    Post {
        status: "inherit".to_owned(),
        comment_status: "closed".to_owned(),
        ping_status: "closed".to_owned(),
        slug: format!("{parent}-{kind}-v1"),
        parent,
        post_type: "revision".to_owned(),
        ..Post::default()
    }
}

fn insert(tx: &mut Tx, settings: &Settings, revision: &Post) -> SiteResult<PostId> {
    let id = posts::insert(tx, revision)?;
    posts::set_guid(tx, id, &settings.urls.site.home_url(&format!("/?p={id}")), Some(revision.parent))?;
    Ok(id)
}

fn texts(post: &Post) -> [&str; 3] {
    [&post.title, &post.content, &post.excerpt]
}

/// Whether two texts differ only in the amount of white space. Source: `normalize_whitespace`.
fn is_same(a: &str, b: &str) -> bool {
    a == b || normalized(a).eq(normalized(b))
}

/// Collapses runs of spaces and tabs to one space and runs of line ends to one, and trims both ends.
fn normalized(text: &str) -> impl Iterator<Item = char> {
    let mut last = None;
    text.trim_matches([' ', '\t', '\n', '\r', '\0', '\x0B']).chars().filter_map(move |c| {
        let c = match c {
            '\r' => '\n',
            '\t' => ' ',
            c => c,
        };
        let repeats = last == Some(c) && matches!(c, ' ' | '\n');
        last = Some(c);
        (!repeats).then_some(c)
    })
}

/// The fields of an autosave; `None` for fields that were not edited.
#[derive(Clone, Debug, Default)]
pub struct AutosaveDraft {
    /// Edited title.
    pub title: Option<String>,
    /// Edited content.
    pub content: Option<String>,
    /// Edited excerpt.
    pub excerpt: Option<String>,
    /// Edited meta fields by name.
    pub meta: Option<Value>,
}

impl AutosaveDraft {
    /// Empty texts.
    pub fn empty_texts(meta: Option<Value>) -> Self {
        let empty = Some(String::new());
        AutosaveDraft { title: empty.clone(), content: empty.clone(), excerpt: empty, meta }
    }
}

/// The author of an autosave and its time.
pub struct AutosaveAuthor<'a> {
    /// The user.
    pub caller: &'a Caller,
    /// Whether the user may use any HTML.
    pub unfiltered_html: bool,
    /// Current time in UTC.
    pub now: chrono::NaiveDateTime,
}

/// Stores edited texts in the user's autosave of a post, which is created if needed, and returns its id. An autosave
/// that equals the post is not stored.
///
/// Source: recorded responses of the route for `wp_create_post_autosave`.
///
/// # Errors
/// Errors of the meta rules; errors of the store.
pub fn autosave(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    post: &Post,
    typed: &AutosaveDraft,
    editor: &AutosaveAuthor<'_>,
) -> SiteResult<PostId> {
    let changed = [(&typed.title, &post.title), (&typed.content, &post.content), (&typed.excerpt, &post.excerpt)]
        .into_iter()
        .any(|(typed, stored)| typed.as_ref().is_some_and(|typed| !is_same(typed, stored)));
    let of_post = meta::load_one(tx, MetaKind::Post, post.id.0)?;
    let changes_meta = !meta_changes(tx, site, settings, post, typed, editor, &of_post)?.is_empty();
    let existing = posts::latest_autosave(tx, post.id, Some(editor.caller.id))?;
    if let Some(existing) = &existing
        && !changed
        && !changes_meta
    {
        return Ok(existing.id);
    }
    let local = settings.zone.to_local(editor.now);
    let is_new = existing.is_none();
    let mut row = existing.unwrap_or_else(|| blank(post.id, "autosave"));
    let filtered = !editor.unfiltered_html;
    if let Some(title) = &typed.title {
        row.title = sanitize::title(title, filtered);
    }
    if let Some(content) = &typed.content {
        row.content = sanitize::content(content, filtered);
    }
    if let Some(excerpt) = &typed.excerpt {
        row.excerpt = sanitize::excerpt(excerpt, filtered);
    }
    row.author = editor.caller.id;
    (row.date, row.date_gmt) = (Some(local), Some(editor.now));
    (row.modified, row.modified_gmt) = (row.date, row.date_gmt);
    if is_new {
        row.id = insert(tx, settings, &row)?;
        copy_meta(tx, &meta_fields(site, &post.post_type), &of_post, row.id, editor.unfiltered_html)?;
    } else {
        posts::update(tx, &row)?;
    }
    let stored = meta::load_one(tx, MetaKind::Post, row.id.0)?;
    let changes = meta_changes(tx, site, settings, post, typed, editor, &stored)?;
    registered_meta::store(tx, MetaKind::Post, row.id.0, &changes)?;
    Ok(row.id)
}

/// Changes to the meta that is stored with revisions, compared with the stored values. Null means not edited.
fn meta_changes(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    post: &Post,
    typed: &AutosaveDraft,
    editor: &AutosaveAuthor<'_>,
    stored: &Meta,
) -> SiteResult<Vec<registered_meta::MetaChange>> {
    let Some(Value::Object(edited)) = &typed.meta else { return Ok(Vec::new()) };
    let edited_fields: Map<String, Value> = meta_fields(site, &post.post_type)
        .into_iter()
        .filter_map(|f| Some((f.name.clone(), edited.get(&f.name).filter(|value| !value.is_null())?.clone())))
        .collect();
    if edited_fields.is_empty() {
        return Ok(Vec::new());
    }
    let access = Access::of_posts(site, settings, tx, std::slice::from_ref(post))?;
    let may = |cap: &str, key: &str| {
        editor.caller.can_post(PostCap::Edit, post, &access)
            && editor.caller.can(cap, Object::Meta(MetaKind::Post, post.id.0, key), &access)
    };
    let rights = MetaRights {
        edit: &|key| may("edit_post_meta", key),
        delete: &|key| may("delete_post_meta", key),
        unfiltered_html: editor.unfiltered_html,
    };
    Ok(site.registries.meta.changes(
        "post",
        &post.post_type,
        stored,
        &Value::Object(edited_fields),
        &rights,
        editor.caller,
    )?)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn the_amount_of_white_space_is_ignored() {
        for (a, b, same) in [
            ("a b", "a  \tb", true),
            ("a\nb", "a\r\n\n\rb", true),
            (" a\n", "a", true),
            ("a b", "a\nb", false),
            ("ab", "a b", false),
            ("", " \n", true),
            ("A", "a", false),
        ] {
            assert_eq!(is_same(a, b), same, "{a:?} {b:?}");
        }
    }
}
