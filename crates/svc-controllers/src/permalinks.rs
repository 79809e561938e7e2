//! The permalink settings. WordPress has them only on a page of its administration. Requires `manage_options`.

use std::sync::Arc;

use serde_json::json;
use svc_resource::Fields;
use svc_routing::{Controller, EDITABLE, Request, Response, Result, Route, forbidden, get, on};
use svc_schema::{Error, MethodKind, Schema, build::string};
use svc_site::{
    Access, Site, SiteError,
    object_state::ConditionalObject,
    settings::permalink_settings::{self, OPTIONS, PermalinkDraft, PermalinkSettings},
};

use crate::{caller, contexts::VIEW_EDIT, preconditions, respond};

/// The family of the permalink settings.
pub struct PermalinkRoutes {
    site: Arc<Site>,
    fields: Fields<PermalinkSettings, PermalinkDraft>,
}

#[rustfmt::skip]
fn fields() -> Fields<PermalinkSettings, PermalinkDraft> {
    let mut f = Fields::<PermalinkSettings, PermalinkDraft>::new("permalink-structure");
    let text = |about: &str| string().describe(about).context(VIEW_EDIT);
    f.add("structure", text("Path of posts, with tags such as `%postname%`. Empty for plain URLs: `?p=1`.")).get(|p| p.structure.clone()).set(|d, v| d.structure = Some(v));
    f.add("category_base", text("Beginning of the paths of categories. Empty for `category`.")).get(|p| p.category_base.clone()).set(|d, v| d.category_base = Some(v));
    f.add("tag_base", text("Beginning of the paths of tags. Empty for `tag`.")).get(|p| p.tag_base.clone()).set(|d, v| d.tag_base = Some(v));
    f
}

impl Controller for PermalinkRoutes {
    fn routes(&self) -> Vec<Route<Self>> {
        let options = OPTIONS.map(str::to_owned).to_vec();
        vec![
            Route::new("/permalinks")
                .unlisted()
                .conditional(preconditions::on(&self.site, move |_| Some(ConditionalObject::Options(options.clone()))))
                .schema(Schema::compile(self.fields.item_schema()))
                .endpoint(get(Self::fetch, Self::can_manage))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_manage)
                        .args(self.fields.args(MethodKind::Editable))
                        .example(json!({ "structure": "/%postname%/" })),
                ),
        ]
    }
}

impl PermalinkRoutes {
    /// The family on this site.
    pub fn new(site: &Arc<Site>) -> Self {
        PermalinkRoutes { site: Arc::clone(site), fields: fields() }
    }

    async fn can_manage(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings(req.cx())?;
        if Access::new(&self.site, &settings).can(&caller(&req), "manage_options") {
            Ok(())
        } else {
            Err(forbidden(
                &req,
                "rest_cannot_manage_permalinks",
                "You are not allowed to see or change the permalinks.",
            ))
        }
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.read(req.cx(), |db| Ok(permalink_settings::load(db)?))?;
        Ok(Response::new(self.fields.plan(&respond::view(&req)).prepare(&settings)))
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let draft = self.fields.typed(&req).accepted()?;
        let prefix = self.site.brand.prefix();
        let changed = self.site.write(req.cx(), move |tx| {
            let changed = permalink_settings::change(tx, &draft, &prefix)?;
            changed.map_err(|invalid| SiteError::from(Error::from(invalid)))
        });
        let settings = changed.await?;
        Ok(Response::new(self.fields.plan(&respond::edit_view(&req)).prepare(&settings)))
    }
}
