//! Revisions of global styles: list and fetch.

use std::sync::Arc;

use serde_json::Value;
use svc_auth::caps::PostCap;
use svc_model::{Post, PostId, PostType};
use svc_resource::{Fields, Params};
use svc_routing::{Controller, ExtraFields, Map, Request, Response, Result, Route, get};
use svc_schema::{
    Args, Schema,
    build::{integer, string, types},
};
use svc_site::{Access, Settings, Site, global_styles::POST_TYPE};

use super::StylesItem;
use crate::{
    args::context_arg,
    caller, collection,
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    errors, respond,
    revisions::{RevisionList, find, params},
};

/// Parameters of revision lists that global styles do not support.
const UNSUPPORTED_PARAMS: [&str; 5] = ["search", "exclude", "include", "order", "orderby"];

/// The revision routes of global styles.
pub struct StylesHistory {
    site: Arc<Site>,
    post_type: PostType,
    fields: Fields<StylesItem, ()>,
    params: Params<RevisionList>,
    extra: ExtraFields,
}

fn format_date(stamp: svc_model::Timestamp) -> Value {
    stamp.map_or(Value::Null, |s| s.format("%Y-%m-%dT%H:%M:%S").to_string().into())
}

#[rustfmt::skip]
fn fields(object: &str) -> Fields<StylesItem, ()> {
    let mut f = Fields::<StylesItem, ()>::new(object);
    f.add("settings", types(["object"]).describe("The global settings.").context(VIEW_EDIT)).get(|s| s.map("settings"));
    f.add("styles", types(["object"]).describe("The global styles.").context(VIEW_EDIT)).get(|s| s.map("styles"));
    f.add("author", integer().describe("ID of the revision's author.").context(VIEW_EDIT_EMBED)).get(|s| s.post.author);
    f.add("date", string().describe("Date of the revision in the site's time zone.").format("date-time").context(VIEW_EDIT_EMBED)).get(|s| format_date(s.post.date));
    f.add("date_gmt", string().describe("Date of the revision in UTC.").format("date-time").context(VIEW_EDIT)).get(|s| format_date(s.post.date_gmt));
    f.add("id", integer().describe("The revision's ID.").context(&["embed", "view", "edit"]).readonly()).get(|s| s.post.id);
    f.add("modified", string().describe("Modification date in the site's time zone.").format("date-time").context(VIEW_EDIT)).get(|s| format_date(s.post.modified));
    f.add("modified_gmt", string().describe("Modification date in UTC.").format("date-time").context(VIEW_EDIT)).get(|s| format_date(s.post.modified_gmt));
    f.add("parent", integer().describe("ID of the global styles.").context(VIEW_EDIT_EMBED)).get(|s| s.post.parent);
    f.schema_order(&["author", "date", "date_gmt", "id", "modified", "modified_gmt", "parent", "styles"]);
    f
}

/// The global styles that the request addresses.
struct StylesParent {
    post: Post,
    settings: Arc<Settings>,
}

impl StylesHistory {
    /// The routes of this post type, `wp_global_styles`.
    pub fn new(site: &Arc<Site>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let fields = fields(&format!("{POST_TYPE}-revision")).with_extra(extra, POST_TYPE);
        let params = params().without(&UNSUPPORTED_PARAMS);
        StylesHistory { site: Arc::clone(site), post_type: post_type.clone(), fields, params, extra: extra.clone() }
    }

    async fn show(&self, req: &Request, rows: Vec<Post>) -> Result<Vec<Map>> {
        let view = respond::view(req);
        let plan = self.fields.plan(&view);
        let mut prepared = Vec::with_capacity(rows.len());
        for row in rows {
            let item = StylesItem::new(row);
            let mut data = plan.prepare(&item);
            if item.has_nothing() {
                data.retain(|name, _| !matches!(name.as_str(), "styles" | "settings"));
            }
            respond::add_extra(&self.extra, POST_TYPE, &mut data, req, &view).await?;
            prepared.push(data);
        }
        Ok(prepared)
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<StylesParent> {
        self.site.read(req.cx(), |db| {
            let id = PostId(req.param("parent").map_or(0, svc_php::cast::to_int));
            let post = find::parent(db, &self.post_type, id)?;
            let settings = self.site.settings_in(db)?;
            if caller(&req).can_post(PostCap::Edit, &post, &Access::new(&self.site, &settings)) {
                Ok(StylesParent { post, settings })
            } else {
                Err(errors::cannot_read_revisions(&req).into())
            }
        })
    }

    async fn list(self: Arc<Self>, req: Request, parent: StylesParent) -> Result<Response> {
        let list = self.params.typed(&req).accepted()?;
        let (paging, rows) =
            self.site.read(req.cx(), |db| list.run(db, &self.site, &self.post_type, parent.post.id))?;
        let prepared = self.show(&req, rows).await?;
        let data = prepared.into_iter().map(|item| respond::with_links(item, None, &req)).collect();
        let route = format!("{}/{}/revisions", self.site.route_of_type(&self.post_type), parent.post.id);
        Ok(collection::respond(&self.site, data, &paging, &parent.settings.urls.rest(&route), &req))
    }

    async fn fetch(self: Arc<Self>, req: Request, parent: StylesParent) -> Result<Response> {
        let id = PostId(req.param("id").map_or(0, svc_php::cast::to_int));
        let row = self.site.read(req.cx(), |db| find::revision(db, parent.post.id, id))?;
        let mut prepared = self.show(&req, vec![row]).await?;
        Ok(respond::single(prepared.pop().unwrap_or_default(), None))
    }
}

impl Controller for StylesHistory {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let parent = || ("parent", integer().describe("ID of the global styles."));
        let id = ("id", integer().describe("The revision's ID."));
        vec![
            Route::new(format!(r"/{base}/(?P<parent>[\d]+)/revisions"))
                .schema(schema.clone())
                .args(Args::from([parent()]))
                .endpoint(get(Self::list, Self::can_read).args(self.params.query_args())),
            Route::new(format!(r"/{base}/(?P<parent>[\d]+)/revisions/(?P<id>[\d]+)"))
                .schema(schema)
                .args(Args::from([parent(), id]))
                .endpoint(get(Self::fetch, Self::can_read).args(Args::from([("context", context_arg())]))),
        ]
    }
}
