//! Implements [`BlockData`] over the database, with a cache per response.
//!
//! Related data of a post in a list is loaded for the whole list, so that the number of queries depends on the number of
//! lists and not on their lengths. It is limited per response; data beyond the limit is empty.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::HashMap,
    hash::Hash,
    rc::Rc,
};

use chrono::{Days, NaiveDate, NaiveDateTime, NaiveTime};
use svc_auth::UserVisibility;
use svc_blocks::data::{
    AuthorView, BlockData, BlockSiteInfo, CommentView, CommentsQuery, FeedItem, ImageRequest, MainQuery, PostView,
    Posts, PostsOrder, PostsQuery, Sticky, TaxonomyView, TemplatePartView, TermView, TermsOrder, TermsQuery,
};
use svc_model::{Comment, CommentId, Post, PostId, Term, TermId, UserId};
use svc_site::{
    Access, Settings, Site, SiteError, SiteResult, avatars,
    comments::hide_user,
    hooked_blocks::IGNORED_HOOKS,
    languages::slugs_of_terms,
    patterns, permalinks,
    posts::formats::{format_clauses, sticky_include},
    templates::load::{TemplateKind, TemplateLookup},
    terms::paths::slug_paths,
};
use svc_store::{
    Db, Meta, MetaKind, Order,
    comments::{self, CommentOrderBy, CommentQuery},
    meta,
    posts::{self, Clauses, PostOrderBy, PostQuery, Relation, TaxClause, TaxOperator},
    terms::{self, TermOrderBy, TermQuery},
    users,
};
use svc_text::{Html, html};
use svc_versions::{Context, Dependencies};

use crate::{
    SiteRenderer,
    blocks::{external_feed, images, list_context::ListContext},
    class_list::class_list,
    content as render,
    renderer::viewer::BlockViewer,
};

/// Maximum number of reads per response. A read may take several queries.
const MAX_READS: u32 = 200;
/// Maximum number of pages in a list of pages.
const MAX_PAGES: u64 = 2_000;
/// Maximum number of terms in a list of terms.
const MAX_TERMS: u64 = 2_000;

/// Data for dynamic blocks, read from one snapshot.
pub(crate) struct SiteBlocks<'a> {
    site: &'a Site,
    renderer: &'a SiteRenderer,
    settings: &'a Settings,
    viewer: &'a BlockViewer,
    cx: Context,
    db: RefCell<&'a mut Db>,
    site_info: BlockSiteInfo,
    /// The dependencies of the data read so far, which is cached for all posts of the response.
    read: RefCell<Dependencies>,
    reads_left: Cell<u32>,
    failure: RefCell<Option<SiteError>>,
    posts: RefCell<HashMap<PostId, Option<Rc<PostView>>>>,
    lists: RefCell<HashMap<PostsQuery, Rc<Posts>>>,
    adjacent_posts: RefCell<HashMap<(PostId, bool, String), Option<Rc<PostView>>>>,
    terms_of: RefCell<HashMap<PostId, Vec<Term>>>,
    term_links: RefCell<HashMap<TermId, Rc<TermView>>>,
    term_lists: RefCell<HashMap<TermsQuery, Rc<Vec<Rc<TermView>>>>>,
    authors: RefCell<HashMap<UserId, Option<Rc<AuthorView>>>>,
    comment_lists: RefCell<HashMap<CommentsQuery, Rc<Vec<Rc<CommentView>>>>>,
    comments: RefCell<HashMap<CommentId, Option<Rc<CommentView>>>>,
    attachments: RefCell<HashMap<PostId, Option<Rc<(Post, Meta)>>>>,
    post_meta: RefCell<HashMap<PostId, Meta>>,
    parts: RefCell<HashMap<String, Option<TemplatePartView>>>,
    home_page: OnceCell<String>,
    main: OnceCell<Rc<MainQuery>>,
    pages: OnceCell<Rc<Vec<Rc<PostView>>>>,
    days: OnceCell<Rc<Vec<(NaiveDate, u64)>>>,
}

impl<'a> SiteBlocks<'a> {
    /// Data for this viewer, read from `db`. Nothing is read yet except options.
    pub(crate) fn new(
        renderer: &'a SiteRenderer,
        settings: &'a Settings,
        viewer: &'a BlockViewer,
        db: &'a mut Db,
    ) -> Self {
        let site = &*renderer.site;
        SiteBlocks {
            site,
            renderer,
            settings,
            viewer,
            cx: db.cx().clone(),
            db: RefCell::new(db),
            site_info: site_info(site, settings),
            read: RefCell::default(),
            reads_left: Cell::new(MAX_READS),
            failure: RefCell::default(),
            posts: RefCell::default(),
            lists: RefCell::default(),
            adjacent_posts: RefCell::default(),
            terms_of: RefCell::default(),
            term_links: RefCell::default(),
            term_lists: RefCell::default(),
            authors: RefCell::default(),
            comment_lists: RefCell::default(),
            comments: RefCell::default(),
            attachments: RefCell::default(),
            post_meta: RefCell::default(),
            parts: RefCell::default(),
            home_page: OnceCell::new(),
            main: OnceCell::new(),
            pages: OnceCell::new(),
            days: OnceCell::new(),
        }
    }

    /// Sets the list that the page shows.
    pub(crate) fn set_list(&self, list: ListContext) {
        let posts = Posts { items: self.views(list.posts), total: list.total };
        let main = MainQuery {
            posts: Rc::new(posts),
            per_page: list.per_page,
            page: list.page,
            pages: list.pages,
            page_url: list.page_url,
            title: list.title,
            search_term: list.search_term,
        };
        // A page shows one list: the first one that is set.
        drop(self.main.set(Rc::new(main)));
    }

    /// Sets the post that the page shows. It may differ from the stored one, as in previews.
    pub(crate) fn set_post(&self, post: Post) {
        drop(self.views(vec![post]));
    }

    /// The context that reads.
    pub(crate) fn cx(&self) -> &Context {
        &self.cx
    }

    /// The dependencies of the data read so far.
    pub(crate) fn dependencies(&self) -> Dependencies {
        self.read.borrow().clone()
    }

    /// The first store error, if any.
    pub(crate) fn failure(self) -> Option<SiteError> {
        self.failure.into_inner()
    }

    /// Reads from the store. Returns the default value after a failure, which is recorded, or beyond [`MAX_READS`].
    fn read<T: Default>(&self, query: impl FnOnce(&mut Db) -> SiteResult<T>) -> T {
        let Some(reads_left) = self.reads_left.get().checked_sub(1) else {
            self.read.borrow_mut().extend(&self.cx.capture(|| self.cx.depends_on_request()).1);
            return T::default();
        };
        if self.failure.borrow().is_some() {
            return T::default();
        }
        self.reads_left.set(reads_left);
        let (result, dependencies) = self.cx.capture(|| query(&mut self.db.borrow_mut()));
        self.read.borrow_mut().extend(&dependencies);
        result.unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            T::default()
        })
    }

    /// Records that the HTML changes at a local time.
    fn expires_at(&self, now: NaiveDateTime, local: NaiveDateTime) {
        let zone = &self.settings.zone;
        self.cx.expires_in((zone.to_utc(local) - zone.to_utc(now)).to_std().unwrap_or_default());
    }

    /// Returns a cached value, or computes and caches it. All texts depend on what the value depends on, because each may use it.
    fn get_or_load<K: Hash + Eq + Clone, V: Clone>(
        &self,
        cache: &RefCell<HashMap<K, V>>,
        key: &K,
        load: impl FnOnce() -> V,
    ) -> V {
        if let Some(cached) = cache.borrow().get(key) {
            return cached.clone();
        }
        let (loaded, dependencies) = self.cx.capture(load);
        self.read.borrow_mut().extend(&dependencies);
        cache.borrow_mut().insert(key.clone(), loaded.clone());
        loaded
    }

    /// Posts with related data, loaded with one query per kind of data. Posts that the viewer may not read are left out.
    /// Their terms, authors and thumbnails are cached as well.
    fn views(&self, rows: Vec<Post>) -> Vec<Rc<PostView>> {
        let (site, settings, caller) = (self.site, self.settings, &self.viewer.caller);
        let views: Vec<Rc<PostView>> = self.read(|db| {
            let ids: Vec<PostId> = rows.iter().map(|post| post.id).collect();
            let raw_ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
            let mut links = permalinks::of_posts(db, site, settings, &rows)?;
            let mut post_meta = meta::load(db, MetaKind::Post, &raw_ids)?;
            let mut terms = terms::of_objects(db, &ids)?;
            let access = Access::of_posts(site, settings, db, &rows)?;
            let mut views = Vec::new();
            let is_shown =
                |post: &Post| self.viewer.unlocked.is_previewed(post) || access.can_read_inside(caller, post);
            for post in rows.into_iter().filter(is_shown) {
                let stored = post_meta.remove(&post.id.0).unwrap_or_default();
                let post_terms = terms.remove(&post.id).unwrap_or_default();
                let thumbnail = svc_php::numeric::text_to_int(stored.text("_thumbnail_id"));
                let classes = match site.registries.types.get(&post.post_type) {
                    Some(post_type) => class_list(site, &post, post_type, &post_terms, thumbnail > 0),
                    None => Vec::new(),
                };
                self.terms_of.borrow_mut().insert(post.id, post_terms);
                let text = |name: &str| stored.text(name).to_owned();
                let (footnotes, ignored_hooks) = (text("footnotes"), text(IGNORED_HOOKS));
                self.post_meta.borrow_mut().insert(post.id, stored);
                views.push(Rc::new(PostView {
                    link: links.remove(&post.id).unwrap_or_default(),
                    title: title(&post),
                    thumbnail: PostId(thumbnail),
                    locked: !self.viewer.unlocked.is_open(&post),
                    footnotes,
                    ignored_hooks,
                    classes,
                    post,
                }));
            }
            Ok(views)
        });
        self.load_authors(views.iter().map(|view| view.post.author));
        self.load_attachments(views.iter().map(|view| view.thumbnail));
        for view in &views {
            self.posts.borrow_mut().insert(view.post.id, Some(Rc::clone(view)));
        }
        views
    }

    /// The views of these posts, in this order.
    fn views_of(&self, ids: &[PostId]) -> Vec<Rc<PostView>> {
        if ids.is_empty() {
            return Vec::new();
        }
        let rows = self.read(|db| Ok(posts::get_many(db, ids)?));
        let views = self.views(rows);
        ids.iter().filter_map(|id| views.iter().find(|view| view.post.id == *id).cloned()).collect()
    }

    fn load_authors(&self, ids: impl Iterator<Item = UserId>) {
        let mut missing: Vec<UserId> =
            ids.filter(|id| !id.is_none() && !self.authors.borrow().contains_key(id)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() || self.site.policies.users == UserVisibility::Private {
            return;
        }
        let raw_ids: Vec<i64> = missing.iter().map(|id| id.0).collect();
        let (rows, mut user_meta) =
            self.read(|db| Ok((users::get_many(db, &missing)?, meta::load(db, MetaKind::User, &raw_ids)?)));
        let mut authors = self.authors.borrow_mut();
        for id in missing {
            authors.insert(id, None);
        }
        for user in rows {
            let stored = user_meta.remove(&user.id.0).unwrap_or_default();
            let author_view = AuthorView {
                id: user.id,
                link: self.settings.urls.author(&user),
                biography: stored.text("description").to_owned(),
                name: user.display_name,
                email: user.email,
            };
            authors.insert(author_view.id, Some(Rc::new(author_view)));
        }
    }

    fn load_attachments(&self, ids: impl Iterator<Item = PostId>) {
        let mut missing: Vec<PostId> =
            ids.filter(|id| !id.is_none() && !self.attachments.borrow().contains_key(id)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return;
        }
        let raw_ids: Vec<i64> = missing.iter().map(|id| id.0).collect();
        let (rows, mut stored) =
            self.read(|db| Ok((posts::get_many(db, &missing)?, meta::load(db, MetaKind::Post, &raw_ids)?)));
        let mut attachments = self.attachments.borrow_mut();
        for id in missing {
            attachments.insert(id, None);
        }
        for post in rows.into_iter().filter(|post| post.post_type == "attachment") {
            let meta = stored.remove(&post.id.0).unwrap_or_default();
            attachments.insert(post.id, Some(Rc::new((post, meta))));
        }
    }

    /// Terms with their URLs. Takes at most two queries per taxonomy for terms that are not cached.
    fn term_views(&self, rows: Vec<Term>) -> Vec<Rc<TermView>> {
        let mut by_taxonomy: HashMap<&str, Vec<&Term>> = HashMap::new();
        for term in rows.iter().filter(|term| !self.term_links.borrow().contains_key(&term.id)) {
            by_taxonomy.entry(&term.taxonomy).or_default().push(term);
        }
        for (name, unknown) in by_taxonomy {
            let Some(taxonomy) = self.site.registries.taxonomies.get(name) else { continue };
            let paths = self.read(|db| slug_paths(db, name, unknown.iter().copied()));
            let languages = self.read(|db| slugs_of_terms(db, self.settings, unknown.iter().copied()));
            for term in unknown {
                let path = paths.get(&term.id).cloned().unwrap_or_default();
                let above: Vec<&str> = path.iter().take(path.len().saturating_sub(1)).map(String::as_str).collect();
                let link = self.settings.urls.term(term, taxonomy, &above, languages.get(&term.id));
                let view = Rc::new(TermView { term: term.clone(), link });
                self.term_links.borrow_mut().insert(term.id, view);
            }
        }
        let known = self.term_links.borrow();
        rows.iter().filter_map(|term| known.get(&term.id).cloned()).collect()
    }

    fn find_posts(&self, query: &PostsQuery) -> Posts {
        let Some(post_type) =
            self.site.registries.types.get(&query.post_type).filter(|t| t.publicly_queryable || t.public)
        else {
            return Posts::default();
        };
        let sticky = &self.settings.sticky_list;
        let mut db_query = store_query(query, &post_type.name);
        match query.sticky {
            // As an inclusion it takes precedence over what the block excludes.
            Sticky::Only => db_query.include = sticky_include(sticky, &[]),
            Sticky::Without => db_query.exclude.extend(sticky),
            Sticky::First | Sticky::Ignored => {}
        }
        if !post_type.hierarchical {
            db_query.parent_in = Vec::new();
        }
        let (mut ids, total) = self.read(|db| {
            if !query.formats.is_empty() {
                db_query.extra_tax.push(format_clauses(db, &query.formats)?);
            }
            let page = posts::query(db, &db_query)?;
            Ok((page.ids, page.total.unwrap_or_default()))
        });
        // Only lists without search, terms or formats begin with sticky posts.
        let is_all = query.search.is_empty() && query.terms.is_empty() && query.formats.is_empty();
        if query.sticky == Sticky::First && is_all && !sticky.is_empty() {
            // Sticky posts of the list move to the front. Other sticky posts are added regardless of the list's limit.
            let (mut first, rest): (Vec<PostId>, Vec<PostId>) = ids.iter().partition(|id| sticky.contains(id));
            let others = PostQuery::default()
                .post_types(vec![post_type.name.clone()])
                .statuses(vec!["publish".to_owned()])
                .exclude(query.exclude.iter().chain(&first).copied().collect())
                .ids(Some(sticky.clone()))
                .order_by(vec![(PostOrderBy::Date, Order::Desc)])
                .limit(Some(100));
            first.extend(self.read(|db| Ok(posts::query(db, &others)?.ids)));
            first.extend(rest);
            ids = first;
        }
        Posts { items: self.views_of(&ids), total }
    }

    fn comment_views(&self, mut rows: Vec<Comment>) -> Vec<Rc<CommentView>> {
        if self.site.policies.users == UserVisibility::Private {
            rows.iter_mut().for_each(hide_user);
        }
        self.load_authors(rows.iter().map(|comment| comment.user));
        let mut posts: Vec<PostId> = rows.iter().map(|comment| comment.post).collect();
        posts.sort_unstable();
        posts.dedup();
        posts.retain(|id| !self.posts.borrow().contains_key(id));
        self.views_of(&posts);
        let view = |comment: Comment| {
            let post = self.posts.borrow().get(&comment.post).cloned().flatten()?;
            let user = self.authors.borrow().get(&comment.user).cloned().flatten();
            let admin = self.settings.urls.site.site_url(self.site.brand.admin_path());
            let may_edit = self.viewer.caller.has("edit_others_posts") && self.viewer.caller.has("moderate_comments");
            let author = match (&user, comment.author.as_str()) {
                (Some(user), _) => user.name.clone(),
                (None, "") => "Anonymous".to_owned(),
                (None, name) => name.to_owned(),
            };
            // Avatars follow the account's e-mail address, not the one stored with the comment.
            let comment = match &user {
                Some(user) => Comment { author_email: user.email.clone(), ..comment },
                None => comment,
            };
            Some(Rc::new(CommentView {
                link: format!("{}#comment-{}", post.link, comment.id),
                author_link: user.map_or_else(|| comment.author_url.clone(), |user| user.link.clone()),
                edit_link: may_edit.then(|| format!("{admin}/comment.php?action=editcomment&c={}", comment.id)),
                author,
                comment,
            }))
        };
        let views: Vec<Rc<CommentView>> = rows.into_iter().filter_map(view).collect();
        for view in &views {
            self.comments.borrow_mut().insert(view.comment.id, Some(Rc::clone(view)));
        }
        views
    }
}

/// A title with the prefix of protected and private posts.
fn title(post: &Post) -> Html {
    let title = render::title(&post.title);
    match (post.is_protected(), post.status.as_str()) {
        (true, _) => html!("Protected: {}", title),
        (false, "private") => html!("Private: {}", title),
        _ => title,
    }
}

fn site_info(site: &Site, settings: &Settings) -> BlockSiteInfo {
    let text = |name: &str| settings.option(name).to_owned();
    let on = |name: &str| settings.number(name) != 0;
    let positive = |name: &str| u64::try_from(settings.number(name)).ok().filter(|n| *n > 0);
    BlockSiteInfo {
        name: text("blogname"),
        description: text("blogdescription"),
        home: settings.urls.site.home_url(""),
        login_url: settings.urls.site.site_url(site.brand.login_path()),
        is_front: false,
        date_format: text("date_format"),
        time_format: text("time_format"),
        start_of_week: u32::try_from(settings.number("start_of_week")).unwrap_or_default() % 7,
        show_avatars: avatars::are_enabled(settings),
        logo: PostId(settings.number("site_logo")),
        front_page: PostId(if settings.option("show_on_front") == "page" {
            settings.number("page_on_front")
        } else {
            0
        }),
        posts_per_page: positive("posts_per_page").unwrap_or(10),
        theme: text("stylesheet"),
        thread_depth: on("thread_comments")
            .then(|| u32::try_from(settings.number("thread_comments_depth")).unwrap_or(5).clamp(1, 10)),
        comments_per_page: positive("comments_per_page").filter(|_| on("page_comments")),
        newest_comments_first: settings.option("comment_order") == "desc",
        comments_need_login: on("comment_registration"),
        comment_cookies: on("show_comments_cookies_opt_in"),
        comments_close_after: on("close_comments_for_old_posts").then(|| settings.number("close_comments_days_old")),
        smilies: settings.texts.smilies,
        smilies_url: settings.texts.smilies_url.clone(),
        own_host: settings.texts.own_host.clone(),
    }
}

/// A block's query as a query of the store for published posts.
fn store_query(query: &PostsQuery, post_type: &str) -> PostQuery {
    let order = match query.order {
        PostsOrder::Date => PostOrderBy::Date,
        PostsOrder::Modified => PostOrderBy::Modified,
        PostsOrder::Title => PostOrderBy::Title,
        PostsOrder::Author => PostOrderBy::Author,
        PostsOrder::MenuOrder => PostOrderBy::MenuOrder,
        PostsOrder::Id => PostOrderBy::Id,
        PostsOrder::Comments => PostOrderBy::CommentCount,
        PostsOrder::Relevance if !query.search.is_empty() => PostOrderBy::Relevance,
        PostsOrder::Relevance => PostOrderBy::Date,
    };
    let clauses = query.terms.iter().map(|filter| TaxClause {
        taxonomy: filter.taxonomy.clone(),
        terms: filter.terms.clone(),
        operator: if filter.without { TaxOperator::NotIn } else { TaxOperator::In },
        include_children: filter.with_children,
    });
    PostQuery::default()
        .post_types(vec![post_type.to_owned()])
        .statuses(vec!["publish".to_owned()])
        .author_in(query.authors.clone())
        .exclude(query.exclude.clone())
        .parent_in(query.parents.clone())
        .search(Some(svc_text::unslash(&query.search)).filter(|text| !text.is_empty()))
        // A search must not reveal the content of protected posts.
        .without_password(!query.search.is_empty())
        .tax(Clauses { relation: Relation::And, clauses: clauses.collect() })
        .order_by(vec![(order, if query.ascending { Order::Asc } else { Order::Desc })])
        .limit(Some(query.limit))
        .offset(query.offset)
        .total(true)
}

impl BlockData for SiteBlocks<'_> {
    fn site_info(&self) -> &BlockSiteInfo {
        &self.site_info
    }

    fn current_url(&self) -> &str {
        self.cx.depends_on_request();
        match self.viewer.url.as_str() {
            "" => self.home_page.get_or_init(|| format!("{}/", self.site_info.home)),
            url => url,
        }
    }

    /// Items that were rendered for a request without such parameters are not used for one with them.
    fn page_parameter(&self, name: &str) -> Option<&str> {
        let (_, query) = self.viewer.url.split_once('?')?;
        query
            .split('&')
            .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
            .inspect(|_| self.cx.depends_on_request())
    }

    fn is_logged_in(&self) -> bool {
        self.viewer.caller.is_logged_in()
    }

    fn logout_url(&self) -> Option<String> {
        if !self.is_logged_in() {
            return None;
        }
        self.cx.depends_on_request();
        let (url, name) = (&self.site_info.login_url, self.site.brand.nonce_param());
        Some(format!("{url}?action=logout&{name}={}", self.viewer.logout_nonce))
    }

    fn now(&self) -> NaiveDateTime {
        self.settings.zone.to_local(self.site.now(&self.cx))
    }

    fn today(&self) -> NaiveDate {
        let now = self.settings.zone.to_local(self.site.clock());
        let midnight = now.date().checked_add_days(Days::new(1)).map(|day| day.and_time(NaiveTime::MIN));
        self.expires_at(now, midnight.unwrap_or(now));
        now.date()
    }

    fn is_past(&self, local: NaiveDateTime) -> bool {
        let now = self.settings.zone.to_local(self.site.clock());
        if now < local {
            self.expires_at(now, local);
        }
        now >= local
    }

    fn offset(&self, local: NaiveDateTime) -> i64 {
        (local - self.settings.zone.to_utc(local)).num_seconds()
    }

    fn post(&self, id: PostId) -> Option<Rc<PostView>> {
        self.get_or_load(&self.posts, &id, || self.views_of(&[id]).pop())
    }

    fn posts(&self, query: &PostsQuery) -> Rc<Posts> {
        self.get_or_load(&self.lists, query, || Rc::new(self.find_posts(query)))
    }

    fn adjacent_post(&self, of: &Post, next: bool, taxonomy: &str) -> Option<Rc<PostView>> {
        let date = of.date?;
        self.get_or_load(&self.adjacent_posts, &(of.id, next, taxonomy.to_owned()), || {
            let own: Vec<TermId> = self.terms_of(of.id, taxonomy).iter().map(|term| term.term.id).collect();
            let in_same = (!taxonomy.is_empty()).then(|| TaxClause {
                taxonomy: taxonomy.to_owned(),
                terms: own,
                operator: TaxOperator::In,
                include_children: false,
            });
            let query = PostQuery::default()
                .post_types(vec![of.post_type.clone()])
                .statuses(vec!["publish".to_owned()])
                .after(next.then_some(date))
                .before((!next).then_some(date))
                .tax(Clauses { relation: Relation::And, clauses: in_same.into_iter().collect() })
                .order_by(vec![(PostOrderBy::Date, if next { Order::Asc } else { Order::Desc })])
                .limit(Some(1));
            let ids = self.read(|db| Ok(posts::query(db, &query)?.ids));
            self.views_of(&ids).pop()
        })
    }

    fn pages(&self) -> Rc<Vec<Rc<PostView>>> {
        let find = || {
            let query = PostQuery::published("page", MAX_PAGES)
                .order_by(vec![(PostOrderBy::MenuOrder, Order::Asc), (PostOrderBy::Title, Order::Asc)]);
            let ids = self.read(|db| Ok(posts::query(db, &query)?.ids));
            Rc::new(self.views_of(&ids))
        };
        Rc::clone(self.pages.get_or_init(find))
    }

    fn days(&self) -> Rc<Vec<(NaiveDate, u64)>> {
        Rc::clone(self.days.get_or_init(|| Rc::new(self.read(|db| Ok(posts::published_days(db, "post")?)))))
    }

    fn date_link(&self, year: i32, month: Option<u32>, day: Option<u32>) -> String {
        self.settings.urls.site.date_link(u32::try_from(year).unwrap_or_default(), month, day)
    }

    fn taxonomy(&self, name: &str) -> Option<TaxonomyView> {
        let taxonomy = self.site.registries.taxonomies.get(name).filter(|t| t.publicly_queryable)?;
        Some(TaxonomyView {
            label: taxonomy.label.clone(),
            singular: taxonomy.singular_label.clone(),
            query_var: taxonomy.query_var.clone().unwrap_or_default(),
            hierarchical: taxonomy.hierarchical,
        })
    }

    fn terms_of(&self, post: PostId, taxonomy: &str) -> Vec<Rc<TermView>> {
        if self.site.registries.taxonomies.get(taxonomy).is_none_or(|t| !t.publicly_queryable) {
            return Vec::new();
        }
        let terms = self.get_or_load(&self.terms_of, &post, || {
            self.read(|db| Ok(terms::of_objects(db, &[post])?.remove(&post).unwrap_or_default()))
        });
        self.term_views(terms.into_iter().filter(|term| term.taxonomy == taxonomy).collect())
    }

    fn icon(&self, name: &str) -> Option<Html> {
        self.renderer.icons.svg(name).cloned()
    }

    fn archive(&self, post_type: &str) -> Option<(String, String)> {
        let post_type = self.site.registries.types.get(post_type)?;
        Some((post_type.label.clone(), self.settings.urls.archive(post_type)?))
    }

    fn post_meta(&self, id: PostId, key: &str) -> Option<String> {
        if key.starts_with('_') {
            return None;
        }
        let post = self.post(id)?;
        let field = self.site.registries.meta.fields("post", &post.post.post_type).find(|field| field.key == key)?;
        self.post_meta.borrow().get(&id).and_then(|stored| field.text(stored))
    }

    fn terms(&self, query: &TermsQuery) -> Rc<Vec<Rc<TermView>>> {
        self.get_or_load(&self.term_lists, query, || {
            if self.taxonomy(&query.taxonomy).is_none() {
                return Rc::default();
            }
            let by_count = query.order == TermsOrder::Count;
            let db_query = TermQuery::default()
                .taxonomies(vec![query.taxonomy.clone()])
                .hide_empty(query.hide_empty)
                .parent(query.parent)
                .order_by(if by_count { TermOrderBy::Count } else { TermOrderBy::Name })
                .order(if by_count { Order::Desc } else { Order::Asc })
                .limit(Some(query.limit.unwrap_or(MAX_TERMS).min(MAX_TERMS)));
            let rows = self.read(|db| {
                let nested = query.hide_empty
                    && self.site.registries.taxonomies.get(&query.taxonomy).is_some_and(|t| t.hierarchical);
                let include_empty = if nested {
                    svc_store::term_tree::empty_with_nonempty_descendants(db, &query.taxonomy)?
                } else {
                    Vec::new()
                };
                let ids = terms::query(db, &db_query.include_empty(include_empty))?.ids;
                let rows = terms::get_many(db, &ids)?;
                Ok(ids.iter().filter_map(|id| rows.iter().find(|row| row.id == *id).cloned()).collect())
            });
            Rc::new(self.term_views(rows))
        })
    }

    fn author_view(&self, id: UserId) -> Option<Rc<AuthorView>> {
        self.load_authors(std::iter::once(id));
        self.authors.borrow().get(&id).cloned().flatten()
    }

    fn avatar(&self, email: &str, pixels: u32) -> String {
        avatars::url(self.settings, email, pixels)
    }

    fn comments(&self, query: &CommentsQuery) -> Rc<Vec<Rc<CommentView>>> {
        self.get_or_load(&self.comment_lists, query, || {
            let db_query = CommentQuery::default()
                .posts(query.post.into_iter().collect())
                .approved(vec!["1".to_owned()])
                .types_exclude(vec!["note".to_owned()])
                .post_statuses(if query.post.is_none() { vec!["publish".to_owned()] } else { Vec::new() })
                .order_by(CommentOrderBy::DateGmt)
                .order(if query.newest_first { Order::Desc } else { Order::Asc })
                .limit(Some(query.limit));
            let rows = self.read(|db| {
                let ids = comments::query(db, &db_query)?.ids;
                let rows = comments::get_many(db, &ids)?;
                Ok(ids.iter().filter_map(|id| rows.iter().find(|row| row.id == *id).cloned()).collect())
            });
            Rc::new(self.comment_views(rows))
        })
    }

    fn comment(&self, id: CommentId) -> Option<Rc<CommentView>> {
        self.comments.borrow().get(&id).cloned().flatten()
    }

    fn image(&self, id: PostId, request: &ImageRequest) -> Option<Html> {
        self.load_attachments(std::iter::once(id));
        let found = self.attachments.borrow().get(&id).cloned().flatten()?;
        let (post, meta) = &*found;
        let image = images::files(post, meta, &self.settings.uploads_url())?;
        Some(images::tag(&image, meta, request))
    }

    fn main(&self) -> Option<Rc<MainQuery>> {
        self.main.get().cloned()
    }

    fn template_part(&self, slug: &str, theme: &str) -> Option<TemplatePartView> {
        let id = format!("{theme}//{slug}");
        self.get_or_load(&self.parts, &id, || {
            let lookup = TemplateLookup::for_pages(&self.cx, self.site, self.settings);
            let part = self.read(|db| lookup.published(db, TemplateKind::Part, &id))?;
            let content = lookup.with_patterns(&part.content);
            Some(TemplatePartView { content, area: part.area, ignored_hooks: part.ignored_hooks })
        })
    }

    fn pattern(&self, name: &str) -> Option<String> {
        let theme = self.site.page_theme(&self.cx, self.settings);
        let pattern = patterns::find(self.site, &theme, name)?;
        Some(patterns::expand(self.site, &theme, &pattern.content))
    }

    fn menu(&self, chosen: Option<PostId>) -> Option<Rc<PostView>> {
        let id = match chosen {
            Some(id) => id,
            None => {
                let newest = PostQuery::published("wp_navigation", 1);
                *self.read(|db| Ok(posts::query(db, &newest)?.ids)).first()?
            }
        };
        let post = self.post(id)?;
        let is_shown = post.post.post_type == "wp_navigation" && post.post.status == "publish";
        is_shown.then_some(post)
    }

    fn feed(&self, url: &str, items: u64) -> Option<Rc<Vec<FeedItem>>> {
        // The site's own feed is read from the store.
        let own = self.settings.urls.site.feed_link("");
        if url.trim_end_matches('/') != own.trim_end_matches('/') {
            return external_feed(&self.cx, self.renderer, self.settings, &self.viewer.missing, url, items);
        }
        let posts = self.posts(&PostsQuery {
            post_type: "post".to_owned(),
            limit: items.min(u64::try_from(self.settings.number("posts_per_rss")).unwrap_or(10).max(1)),
            ..PostsQuery::default()
        });
        let item = |post: &Rc<PostView>| FeedItem {
            title: svc_text::decode_references(&svc_text::strip_all_tags(&post.title, false)),
            link: post.link.clone(),
            date: post.post.date,
            author: self.author_view(post.post.author).map(|author_view| author_view.name.clone()).unwrap_or_default(),
            text: if post.locked { String::new() } else { svc_text::strip_all_tags(&post.post.content, false) },
        };
        Some(Rc::new(posts.items.iter().map(item).collect()))
    }
}
