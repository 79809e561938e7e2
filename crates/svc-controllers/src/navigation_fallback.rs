//! The navigation menu of a block theme that has none selected: the latest published menu, or a new one that lists the
//! site's pages.

use std::sync::Arc;

use svc_model::{Post, PostId, PostType};
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Link, Links, Map, Request, Response, Result, Route, get};
use svc_schema::{Schema, build::integer};
use svc_site::{Access, Site, SiteResult, permalinks, posts::draft::PostDraft};
use svc_store::{
    Db,
    posts::{self, PostQuery},
};

use crate::{
    RestSite, caller, errors,
    posts::{PostRights, Posts},
    respond,
};

/// The post type of navigation menus.
pub(crate) const TYPE: &str = "wp_navigation";
/// The object type that additional fields name.
const OBJECT: &str = "navigation-fallback";
/// Content of a menu that lists all pages.
const PAGE_LIST: &str = "<!-- wp:page-list /-->";

/// The family `navigation-fallback`.
pub struct NavigationFallback {
    site: Arc<Site>,
    post_type: PostType,
    posts: Posts,
    fields: Fields<PostId, ()>,
    extra: ExtraFields,
}

impl NavigationFallback {
    /// The family on this site, with its post type of navigation menus.
    pub fn new(rest: &Arc<RestSite>, post_type: PostType, extra: &ExtraFields) -> Self {
        let mut fields = Fields::<PostId, ()>::new(OBJECT);
        let id = integer().describe("ID of the navigation menu.").context(&["view", "edit", "embed"]).readonly();
        fields.add("id", id).get(|id| *id);
        NavigationFallback {
            site: Arc::clone(&rest.site),
            posts: Posts::new(rest, &post_type, extra),
            post_type,
            fields: fields.with_extra(extra, OBJECT),
            extra: extra.clone(),
        }
    }

    /// Requires permission to create navigation menus, because the request may create one.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings(req.cx())?;
        let (access, caller) = (Access::new(&self.site, &settings), caller(&req));
        if !access.can(&caller, &self.post_type.caps.create_posts) {
            return Err(errors::cannot_create(&req));
        }
        if req.context() == "edit" && !access.can(&caller, &self.post_type.caps.edit_posts) {
            return Err(errors::forbidden_context(&req));
        }
        Ok(())
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let caller = caller(&req);
        let settings = self.site.settings(req.cx())?;
        let post = match self.site.read(req.cx(), latest)? {
            Some(post) => post,
            None => {
                let draft = PostDraft {
                    title: Some("Navigation".to_owned()),
                    content: Some(PAGE_LIST.to_owned()),
                    slug: Some("navigation".to_owned()),
                    status: Some("publish".to_owned()),
                    ..PostDraft::default()
                };
                let job = self.posts.job(caller.clone(), draft, None, Arc::clone(&settings));
                // Another request may have created it in the meantime.
                let id = self.site.write(req.cx(), move |tx| match latest(tx)? {
                    Some(post) => Ok(post.id),
                    None => job.run(tx),
                });
                self.posts.saved(req.cx(), id.await?)?
            }
        };
        let view = respond::view(&req);
        let data: Map = self.fields.plan(&view).prepare(&post.id);
        let data = respond::finish(&self.extra, OBJECT, post.id.0, data, &req, &view).await?;
        let mut links = Links::new();
        if view.wants_links() {
            let access = Access::new(&self.site, &settings);
            let rights = PostRights::of(&caller, &access, &post, &self.post_type, &[], false);
            let route = permalinks::rest_route_of(&self.site, &settings, &self.post_type, post.id);
            links.add("self", Link::new(settings.urls.rest(&route)).embeddable().allow(rights.allowed_methods()));
        }
        Ok(respond::single(data, Some(links)))
    }
}

impl Controller for NavigationFallback {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        vec![Route::new("/navigation-fallback").schema(schema).endpoint(get(Self::fetch, Self::can_fetch))]
    }
}

/// The latest published navigation menu.
fn latest(db: &mut Db) -> SiteResult<Option<Post>> {
    let query =
        PostQuery::default().post_types(vec![TYPE.to_owned()]).statuses(vec!["publish".to_owned()]).limit(Some(1));
    let found = posts::query(db, &query)?;
    Ok(posts::get_many(db, &found.ids)?.pop())
}
