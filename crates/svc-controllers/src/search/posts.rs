//! Search handler for published posts of public post types.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};
use svc_model::{Post, PostId};
use svc_render::content as render;
use svc_routing::{BoxFuture, Link, Links, Request, Result};
use svc_site::{Access, Site, permalinks, urls::rest_base};
use svc_store::{
    Highlighter, Order,
    posts::{self, PostOrderBy, PostQuery},
};

use super::{SearchHandler, SearchPage, ids, limits, result, searched_subtypes, text};
use crate::{args::search_text, caller, posts::rights::PostRights};

/// Maximum length of a marked title, in bytes.
const MAX_TITLE: usize = 500;

/// Length of the marked part of a text, in bytes.
const SNIPPET: usize = 240;

/// The handler of type `post`.
pub(super) struct PostSearch(pub(super) Arc<Site>);

impl SearchHandler for PostSearch {
    fn kind(&self) -> &str {
        "post"
    }

    fn is_cacheable(&self) -> bool {
        true
    }

    fn subtypes(&self) -> Vec<String> {
        self.types()
    }

    fn search(&self, req: Request) -> BoxFuture<Result<SearchPage>> {
        Box::pin(std::future::ready(self.find(&req)))
    }

    fn prepare(&self, ids: Vec<Value>, req: Request) -> BoxFuture<Result<Vec<(Value, Links)>>> {
        let ids: Vec<PostId> = ids.iter().filter_map(Value::as_i64).map(PostId).collect();
        Box::pin(std::future::ready(self.show(&ids, &req, None)))
    }
}

impl PostSearch {
    /// The types that are searched.
    pub(super) fn types(&self) -> Vec<String> {
        let public = self.0.registries.types.iter().filter(|t| t.public && t.show_in_rest && t.name != "attachment");
        public.map(|t| t.name.clone()).collect()
    }

    fn find(&self, req: &Request) -> Result<SearchPage> {
        let mut post_types = searched_subtypes(req, self.subtypes())?;
        if post_types.is_empty() {
            // If all requested subtypes belong to another type, WordPress searches the default post type.
            post_types.push("post".to_owned());
        }
        let searched = text(req);
        let search = searched.as_deref().and_then(search_text);
        let (limit, offset) = limits(req)?;
        let query = PostQuery::default()
            .post_types(post_types)
            .statuses(vec!["publish".to_owned()])
            .include(ids(req, "include")?.into_iter().map(PostId).collect())
            .exclude(ids(req, "exclude")?.into_iter().map(PostId).collect())
            .order_by(vec![(if search.is_some() { PostOrderBy::Relevance } else { PostOrderBy::Date }, Order::Desc)])
            // A search must not reveal the content of password-protected posts.
            .without_password(searched.is_some() && !caller(req).is_logged_in())
            .search(search)
            .limit(Some(limit))
            .offset(offset)
            .total(true);
        let found = self.0.read(req.cx(), |db| Ok(posts::query(db, &query)?))?;
        // For a page after the last one WordPress reports a total of 0.
        let total = if found.ids.is_empty() { 0 } else { found.total.unwrap_or_default() };
        Ok(SearchPage { ids: found.ids.into_iter().map(Value::from).collect(), total })
    }

    /// Prepares the posts that the caller may read, with the marked words of a ranked search.
    pub(super) fn show(
        &self,
        ids: &[PostId],
        req: &Request,
        highlighter: Option<&Highlighter>,
    ) -> Result<Vec<(Value, Links)>> {
        let site = &self.0;
        let caller = caller(req);
        site.read(req.cx(), |db| {
            let settings = site.settings_in(db)?;
            let rows = posts::get_many(db, ids)?;
            let mut permalinks: HashMap<PostId, String> =
                if req.wants("url") { permalinks::of_posts(db, site, &settings, &rows)? } else { HashMap::new() };
            let access = Access::of_posts(site, &settings, db, &rows)?;
            let namespace = site.brand.namespace();
            let readable = rows.into_iter().filter(|post| access.can_read(&caller, post));
            let show = |post: Post| {
                let url = permalinks.remove(&post.id).unwrap_or_default();
                let mut links = Links::new();
                if let Some(post_type) = site.registries.types.get(&post.post_type) {
                    let id = u64::try_from(post.id.0).unwrap_or_default();
                    let route = settings.urls.site.route_for_post(Some((id, rest_base(post_type, &namespace))));
                    let rights = PostRights::of(&caller, &access, &post, post_type, &[], false);
                    if !route.is_empty() {
                        let own = Link::new(settings.urls.rest(&route)).embeddable().allow(rights.allowed_methods());
                        links.add("self", own);
                    }
                    let about = format!("/{namespace}/types/{}", post_type.name);
                    links.add("about", Link::new(settings.urls.rest(&about)));
                }
                let title = render::title(&post.title);
                let highlights = highlighter.filter(|_| req.wants("highlights")).map(|h| highlights(h, &post));
                let mut data = result(
                    req,
                    [
                        ("id", Some(post.id.into())),
                        ("title", Some(title.into_string().into())),
                        ("url", Some(url.into())),
                        ("type", Some("post".into())),
                        ("subtype", Some(post.post_type.into())),
                    ],
                );
                if let (Value::Object(data), Some(highlights)) = (&mut data, highlights) {
                    data.insert("highlights".to_owned(), highlights);
                }
                (data, links)
            };
            Ok(readable.map(show).collect())
        })
    }
}

/// The title and a part of the text of a post, with the marked words.
fn highlights(highlighter: &Highlighter, post: &Post) -> Value {
    let marked = |text: &str, length: usize| -> String {
        let pieces = highlighter.highlight(svc_text::trim(&collapsed(text)), length).into_iter();
        pieces
            .map(|piece| match (svc_text::esc_html(&piece.text).into_string(), piece.is_match) {
                (text, true) => format!("<mark>{text}</mark>"),
                (text, false) => text,
            })
            .collect()
    };
    // What nobody may read without the password.
    let text = if post.password.is_empty() { format!("{}\n{}", post.excerpt, post.content) } else { String::new() };
    json!({
        "title": marked(&svc_text::plain_text(&post.title), MAX_TITLE),
        "text": marked(&svc_text::plain_text(&text), SNIPPET),
    })
}

/// A text with single spaces.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
