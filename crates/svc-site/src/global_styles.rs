//! The site's global styles: one post per theme, whose content is in `theme.json` format.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value, json};
use svc_model::{Post, PostId, PostType, UserId};
use svc_packages::theme::{RegisteredBlocks, StyleOrigin, ThemeJson, VERSION, without_insecure_properties};
use svc_schema::Error;
use svc_store::{
    Db, Tx,
    posts::{self, Clauses, PostQuery},
    terms,
};
use svc_versions::Context;

use crate::{
    Site, SiteResult,
    permalinks::PermalinkParts,
    revisions::{RevisionAuthor, store_revision},
    sanitize,
    templates::{
        load::{THEME, of_term},
        save::find_or_create_term,
    },
};

/// Post type of global styles.
pub const POST_TYPE: &str = "wp_global_styles";
/// Maximum number of themes whose styles are listed.
const MAX_THEMES: u64 = 500;
/// Property that marks content as global styles.
const MARKER: &str = "isGlobalStylesUserThemeJSON";

/// The fields that a request changes.
#[derive(Clone, Debug, Default)]
pub struct StylesDraft {
    /// New styles, as in `theme.json`.
    pub styles: Option<Value>,
    /// New settings, as in `theme.json`.
    pub settings: Option<Value>,
    /// New title.
    pub title: Option<String>,
}

/// The properties of stored content; empty if it is not marked as global styles.
fn members(content: &str) -> Map<String, Value> {
    match serde_json::from_str(content) {
        Ok(Value::Object(members)) if members.get(MARKER) == Some(&Value::Bool(true)) => members,
        _ => Map::new(),
    }
}

/// Parses a post's content.
pub fn parse(post: &Post) -> ThemeJson {
    ThemeJson::new(Value::Object(members(&post.content)), StyleOrigin::Custom)
}

/// Whether CSS would close the `style` element that contains it, alone or together with the text after it.
pub fn closes_style_element(css: &str) -> bool {
    const END: &str = "</style";
    css.match_indices('<').any(|(at, _)| {
        let rest = &css.as_bytes()[at..];
        let head = &rest[..rest.len().min(END.len())];
        let fits = head.eq_ignore_ascii_case(&END.as_bytes()[..head.len()]);
        fits && rest.get(END.len()).is_none_or(|next| b"\t\n\x0c\r />".contains(next))
    })
}

/// The post with a theme's global styles.
fn find(db: &mut Db, stylesheet: &str) -> SiteResult<Option<PostId>> {
    let Some(term) = terms::by_name(db, stylesheet, THEME)?.into_iter().next() else { return Ok(None) };
    let query = PostQuery::default()
        .post_types(vec![POST_TYPE.to_owned()])
        .statuses(vec!["publish".to_owned()])
        .tax(Clauses { clauses: vec![of_term(THEME, term.id)], ..Clauses::default() })
        .limit(Some(1));
    Ok(posts::query(db, &query)?.ids.first().copied())
}

/// Posts with global styles, by theme name.
///
/// # Errors
/// Errors of the store.
pub fn ids_by_theme(db: &mut Db) -> SiteResult<HashMap<String, PostId>> {
    let query = PostQuery::default()
        .post_types(vec![POST_TYPE.to_owned()])
        .statuses(vec!["publish".to_owned()])
        .limit(Some(MAX_THEMES));
    let ids = posts::query(db, &query)?.ids;
    let mut terms = terms::of_objects(db, &ids)?;
    let mut found = HashMap::new();
    for id in ids {
        for term in terms.remove(&id).unwrap_or_default().into_iter().filter(|t| t.taxonomy == THEME) {
            // Posts are sorted newest first; the newest takes precedence.
            found.entry(term.name).or_insert(id);
        }
    }
    Ok(found)
}

/// The site's changes to a theme's settings and styles.
///
/// # Errors
/// Errors of the store.
pub fn user_styles(db: &mut Db, stylesheet: &str) -> SiteResult<ThemeJson> {
    let id = find(db, stylesheet)?;
    let post = id.map(|id| posts::get(db, id)).transpose()?.flatten();
    Ok(post.map_or_else(ThemeJson::default, |post| parse(&post)))
}

/// The post with a theme's global styles. An empty one is created if there is none, because the editor needs a link to
/// it.
///
/// # Errors
/// Errors of the store.
pub async fn find_or_create(cx: &Context, site: &Arc<Site>, stylesheet: &str, by: UserId) -> Result<PostId, Error> {
    if let Some(id) = site.read(cx, |db| find(db, stylesheet))? {
        return Ok(id);
    }
    let Some(post_type) = site.registries.types.get(POST_TYPE).cloned() else { return Err(not_found()) };
    let (settings, now) = (site.settings(cx)?, site.clock());
    let local = settings.zone.to_local(now);
    let row = Post {
        author: by,
        date: Some(local),
        date_gmt: Some(now),
        modified: Some(local),
        modified_gmt: Some(now),
        title: "Custom Styles".to_owned(),
        content: json!({"version": VERSION, MARKER: true}).to_string(),
        status: "publish".to_owned(),
        comment_status: "closed".to_owned(),
        ping_status: "closed".to_owned(),
        slug: svc_text::sanitize_title(&format!("wp-global-styles-{stylesheet}")),
        post_type: POST_TYPE.to_owned(),
        ..Post::default()
    };
    let stylesheet = stylesheet.to_owned();
    site.write(cx, move |tx| {
        // Another request may have created it in the meantime.
        if let Some(id) = find(tx, &stylesheet)? {
            return Ok(id);
        }
        let mut row = row.clone();
        row.id = posts::insert(tx, &row)?;
        row.guid = settings.urls.post(&row, &post_type, &PermalinkParts::default());
        posts::update(tx, &row)?;
        let theme = find_or_create_term(tx, THEME, &stylesheet)?;
        terms::set_object_terms(tx, row.id, THEME, &[theme])?;
        Ok(row.id)
    })
    .await
}

/// Stores a change. Of users who may not use any HTML, only harmless styles and settings are stored.
pub async fn save(
    cx: &Context,
    site: &Arc<Site>,
    post_type: &PostType,
    post: Post,
    draft: &StylesDraft,
    author: RevisionAuthor,
) -> Result<Post, Error> {
    let (site_in, post_type, draft, now) = (Arc::clone(site), post_type.clone(), draft.clone(), site.clock());
    let id = post.id;
    let theme = site.theme(cx, &*site.settings(cx)?);
    let write = move |tx: &mut Tx| {
        let mut row = posts::get(tx, id)?.ok_or_else(not_found)?;
        let settings = site_in.settings_in(tx)?;
        if let Some(title) = &draft.title {
            row.title = sanitize::title(title, !author.unfiltered_html);
        }
        if draft.styles.is_some() || draft.settings.is_some() {
            row.content = encode(content(&row.content, &draft));
        }
        if !author.unfiltered_html {
            let types = site_in.block_types(&settings);
            let registered = RegisteredBlocks { types: &types, theme: theme.theme.as_ref() };
            row.content = without_insecure_content(&row.content, registered);
        }
        (row.modified, row.modified_gmt) = (Some(settings.zone.to_local(now)), Some(now));
        posts::update(tx, &row)?;
        store_revision(tx, &site_in, &settings, &post_type, &row, author)?;
        Ok(row)
    };
    site.write(cx, write).await
}

/// Stored content without insecure styles and settings; unchanged if it is not marked as global styles.
///
/// Source: `wp_filter_global_styles_post`.
fn without_insecure_content(stored: &str, registered: RegisteredBlocks<'_>) -> String {
    let members = members(stored);
    if members.is_empty() {
        return stored.to_owned();
    }
    let mut secure = without_insecure_properties(members, registered);
    secure.insert(MARKER.to_owned(), true.into());
    encode(secure)
}

/// Encodes content as WordPress does: without the characters that filters of HTML change.
fn encode(members: Map<String, Value>) -> String {
    let json = svc_php::json::encode(&Value::Object(members));
    json.replace("\\/", "/").replace('<', "\\u003C").replace('>', "\\u003E").replace('&', "\\u0026")
}

/// Applies a change to stored content.
fn content(stored: &str, draft: &StylesDraft) -> Map<String, Value> {
    let known = members(stored);
    let mut members = Map::new();
    for (name, given) in [("styles", &draft.styles), ("settings", &draft.settings)] {
        if let Some(value) = given.as_ref().or_else(|| known.get(name)) {
            members.insert(name.to_owned(), value.clone());
        }
    }
    members.insert(MARKER.to_owned(), true.into());
    members.insert("version".to_owned(), VERSION.into());
    members
}

/// The global styles do not exist.
pub fn not_found() -> Error {
    Error::new("rest_global_styles_not_found", "Global styles not found.").with_status(404)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn css_that_closes_its_element_is_detected() {
        for css in ["</style><script>", "x</STYLE ", "a </style b", "</style", "a</sty", "</", "<"] {
            assert!(closes_style_element(css), "{css}");
        }
        for css in ["body{color:red}", "a > b", "a<b", "</b>", "<!--", "</stylex", "</ style>", "a{content:'<'}", ""] {
            assert!(!closes_style_element(css), "{css}");
        }
    }

    #[test]
    fn a_change_preserves_other_properties() {
        let stored = r#"{"version":2,"isGlobalStylesUserThemeJSON":true,"settings":{"a":1},"styles":{"b":2}}"#;
        let draft = StylesDraft { styles: Some(json!({"c": 3})), ..StylesDraft::default() };
        let expected = json!({"styles": {"c": 3}, "settings": {"a": 1}, MARKER: true, "version": 3});
        assert_eq!(Value::Object(content(stored, &draft)), expected);
        let expected = json!({"styles": {"c": 3}, MARKER: true, "version": 3});
        assert_eq!(Value::Object(content("not ours", &draft)), expected);
    }

    #[test]
    fn content_is_encoded_as_in_wordpress() {
        let Value::Object(members) = json!({"a": "<b>&/\\/é", "n": 1.0}) else { unreachable!() };
        assert_eq!(encode(members), r#"{"a":"\u003Cb\u003E\u0026/\\/\u00e9","n":1}"#);
    }

    #[test]
    fn insecure_content_is_removed() {
        let registered = RegisteredBlocks { types: svc_content::blocks::BlockTypes::core(), theme: None };
        let stored = r#"{"styles":{"css":"a{}","color":{"text":"red","background":"url(x)"}},"isGlobalStylesUserThemeJSON":true,"version":3}"#;
        let expected = r#"{"styles":{"color":{"text":"red"}},"version":3,"isGlobalStylesUserThemeJSON":true}"#;
        assert_eq!(without_insecure_content(stored, registered), expected);
        assert_eq!(without_insecure_content("not ours", registered), "not ours");
    }
}
