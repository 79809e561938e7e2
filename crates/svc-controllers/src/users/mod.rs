//! Users: list, create, fetch, update, delete, and `me`.
//!
//! Authors are public: users with published posts of a type in the REST API. Context `edit`, with e-mail addresses,
//! names and capabilities, requires permission to edit the user.

pub(crate) mod errors;
mod fields;
mod load;
mod params;
mod rights;
mod write;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{User, UserId};
use svc_resource::{Paging, Params, Typed, View};
use svc_routing::{CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Request, Response, Result, Route, get, on};
use svc_schema::{Arg, Args, Error, MethodKind, Sanitizer, Validator, build::integer};
use svc_site::{Settings, Site, SiteResult, avatars, revisions::RevisionAuthor, users::draft::UserDraft};
use svc_store::{Db, get_or_load, users};
use svc_versions::Context;

use self::{
    fields::{OBJECT, UserFields},
    load::{LoadedUser, UserLoader},
    params::UserList,
    rights::UserRights,
};
use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    caller,
    collection::{self, Totals},
    cost,
    cursor::ListPage,
    encoded_items::{ItemReader, PreparedItem},
    errors::{forbidden_context, trash_not_supported},
    item_cache::FamilyId,
    request::{can, only_reads},
    respond,
};
use svc_site::object_state::ConditionalObject;

/// Route of the collection.
pub(crate) fn route(site: &Site) -> String {
    format!("/{}/users", site.brand.namespace())
}

/// The family of users.
pub struct Users {
    site: Arc<Site>,
    rest: Arc<RestSite>,
    fields: Arc<Tables>,
    params: Params<UserList>,
    extra: ExtraFields,
    family: FamilyId,
}

/// The fields with and without avatar URLs. The option `show_avatars`, which may change at any time, selects one of
/// them.
struct Tables {
    with_avatars: UserFields,
    without_avatars: UserFields,
}

impl Tables {
    fn current(&self, settings: &Settings) -> &UserFields {
        if avatars::are_enabled(settings) { &self.with_avatars } else { &self.without_avatars }
    }
}

impl Users {
    /// The family of this site with these settings.
    pub fn new(rest: &Arc<RestSite>, settings: &Settings, extra: &ExtraFields) -> Self {
        let sizes = avatars::sizes(settings);
        let table = |sizes| fields::fields(&rest.site, sizes).with_extra(extra, OBJECT);
        Users {
            site: Arc::clone(&rest.site),
            rest: Arc::clone(rest),
            fields: Arc::new(Tables { with_avatars: table(Some(&sizes)), without_avatars: table(None) }),
            params: params::params(&rest.site),
            extra: extra.clone(),
            family: rest.item_cache.new_family(),
        }
    }

    /// Arguments of a request that creates or updates a user.
    fn args(&self, kind: MethodKind) -> Args {
        self.fields.with_avatars.args(kind)
    }

    /// The item schema, which depends on the current settings.
    fn schema(&self) -> impl Fn(&Context) -> Value + Send + Sync + 'static {
        let (site, fields) = (Arc::clone(&self.site), Arc::clone(&self.fields));
        move |cx: &Context| {
            site.settings(cx)
                .map_or_else(|_| fields.without_avatars.item_schema(), |s| fields.current(&s).item_schema())
        }
    }
}

/// Arguments of a request to delete a user.
fn delete_args() -> Args {
    let force = crate::args::force("Must be true: users cannot be moved to the trash.");
    let reassign_arg =
        integer().describe("ID of the user to whom the posts are reassigned.").first(&["type"]).required();
    let reassign_arg = Arg { validate: Validator::None, sanitize: Sanitizer::None, ..Arg::new(reassign_arg.compile()) };
    Args::from([("force", Arg::new(force.compile())), ("reassign", reassign_arg.sanitize_with(reassign))])
}

/// The new author of the posts: an id, 0 to leave the posts without an author, or false to delete them. The text
/// `false` and every empty value except a zero are false.
fn reassign(value: Value, _: &str) -> std::result::Result<Value, Error> {
    if svc_php::numeric::is_numeric(&value) {
        Ok(json!(svc_php::cast::to_int(&value).saturating_abs()))
    } else if value == "false" || !svc_php::cast::truthy(&value) {
        Ok(json!(false))
    } else {
        Err(errors::unreadable_reassign())
    }
}

impl Controller for Users {
    fn routes(&self) -> Vec<Route<Self>> {
        let id = Args::from([("id", integer().describe("The user's ID."))]);
        let context = || Args::from([("context", context_arg())]);
        let new = json!({"username": "jane", "email": "jane@example.org", "password": "replace this with a password"});
        let change = || json!({"description": "Writes about science."});
        vec![
            Route::new("/users")
                .schema_with(self.schema())
                .allow_batch()
                .endpoint(
                    get(Self::list, Self::can_list).cacheable().cost(cost::of_list).args(self.params.query_args()),
                )
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create).args(self.args(MethodKind::Creatable)).example(new),
                ),
            Route::new(r"/users/(?P<id>[\d]+)")
                .conditional(preconditions::on_id(&self.site, |id| ConditionalObject::User(UserId(id))))
                .schema_with(self.schema())
                .args(id)
                .allow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(context()))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update)
                        .args(self.args(MethodKind::Editable))
                        .example(change()),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(delete_args())),
            Route::new("/users/me")
                .conditional(preconditions::on(&self.site, |req| {
                    Some(ConditionalObject::User(caller(req).id)).filter(|_| req.is_authenticated())
                }))
                .schema_with(self.schema())
                .endpoint(get(Self::fetch_me, svc_routing::public).cacheable().args(context()))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update_me)
                        .args(self.args(MethodKind::Editable))
                        .example(change()),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete_me).args(delete_args())),
        ]
    }
}

fn rows(db: &mut Db, ids: &[i64]) -> SiteResult<Vec<User>> {
    let ids: Vec<UserId> = ids.iter().copied().map(UserId).collect();
    Ok(users::get_many(db, &ids)?)
}

/// A user that passed its permission check.
pub(crate) struct AuthorizedUser {
    user: User,
}

/// A user whom the caller may change, and what the request changes.
struct AuthorizedChange {
    user: User,
    draft: Typed<UserDraft>,
}

impl Users {
    /// A user by id, with the caller's permissions on it; 404 if it does not exist.
    fn find(&self, req: &Request, id: UserId) -> Result<(User, UserRights)> {
        // Also of users who do not exist.
        if self.site.policies.users.hides_from(&caller(req)) {
            return Err(errors::cannot_view(req));
        }
        // Cached for the request, because the permission checks of all methods run for `Allow`.
        let found = get_or_load(req.cx(), id, || {
            self.site.read(req.cx(), |db| {
                let found = if id.0 > 0 { users::get(db, id)? } else { None };
                let user = found.ok_or_else(errors::not_found)?;
                Ok(Arc::new((user, self.site.settings_in(db)?)))
            })
        })?;
        let (user, settings) = &*found;
        Ok((user.clone(), UserRights::of(&caller(req), &self.site, settings, user.id)))
    }

    /// The user in the route.
    fn requested(&self, req: &Request) -> Result<(User, UserRights)> {
        self.find(req, UserId(respond::number(req, "id")))
    }

    /// A response with one user.
    async fn show(&self, req: &Request, user: User, view: View) -> Result<Response> {
        let prepared = self.prepare(req, &view, |_| Ok(vec![user])).await?.pop();
        prepared.and_then(PreparedItem::into_response).ok_or_else(errors::not_found)
    }

    /// Prepares users that are loaded in the same snapshot. Additional fields receive the id even if it is not requested.
    async fn prepare(
        &self,
        req: &Request,
        view: &View,
        load: impl FnOnce(&mut Db) -> SiteResult<Vec<User>>,
    ) -> Result<Vec<PreparedItem>> {
        let caller = caller(req);
        let settings = self.site.settings(req.cx())?;
        let plan = self.fields.current(&settings).plan(view);
        let has_hidden_authors = req.param("who").is_some() && !rights::lists_users(&caller);
        let loader = UserLoader { site: &self.site, settings: &settings, caller: &caller, view, has_hidden_authors };
        let loaded = self.site.read(req.cx(), |db| {
            let rows = load(db)?;
            loader.load(db, rows, &plan)
        })?;
        let mut prepared = Vec::with_capacity(loaded.len());
        for LoadedUser { item, links } in loaded {
            let id = item.user.id.0;
            let data = respond::finish(&self.extra, OBJECT, id, plan.prepare(&item), req, view).await?;
            prepared.push(PreparedItem::new(id, data, links));
        }
        Ok(prepared)
    }

    /// Reads users as the request selects them.
    fn reader<'r>(&'r self, req: &'r Request) -> ItemReader<'r> {
        ItemReader::new(req, self.family, self.rest.item_cache(req.cx(), &self.extra, OBJECT))
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<Typed<UserList>> {
        let list = self.params.typed(&req);
        params::check(&self.site, &caller(&req), &req, &list)?;
        Ok(list)
    }

    async fn list(self: Arc<Self>, req: Request, list: Typed<UserList>) -> Result<Response> {
        let items = self.reader(&req);
        let settings = self.site.settings(req.cx())?;
        let page = items
            .page(async |req: Request| {
                let list = list.accepted()?;
                let (page, per_page) = (list.effective_page(), list.per_page);
                let (caller, requested) = (caller(&req), ListPage::read(&self.site, &req)?);
                let found = self.site.read(req.cx(), |db| {
                    let query = list.into_query(&self.site, settings.roles(db.prefix()), &caller);
                    Ok(users::query(db, &requested.select(query))?)
                })?;
                // Unlike in lists of posts, a page beyond the last one is empty and no error.
                let paging = Paging { total: found.total.unwrap_or_default(), per_page, page };
                requested.found(&self.site, &found, paging)
            })
            .await?;
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), |db| rows(db, ids)).await;
        let response = items.list(&page.ids, prepare).await?;
        let url = settings.urls.rest(&route(&self.site));
        Ok(collection::with_page(&self.site, response, &page, &url, &req, Totals::Numbers))
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<AuthorizedUser> {
        let (user, rights) = self.requested(&req)?;
        if rights.own {
            return Ok(AuthorizedUser { user });
        }
        if req.context() == "edit" && !rights.edit {
            return Err(forbidden_context(&req));
        }
        let caller = caller(&req);
        let may_view = rights.edit
            || rights::lists_users(&caller)
            || self.site.read(req.cx(), |db| rights::sees_author(db, &self.site, &caller, user.id))?;
        if may_view { Ok(AuthorizedUser { user }) } else { Err(errors::cannot_view(&req)) }
    }

    async fn fetch(self: Arc<Self>, req: Request, authorized: AuthorizedUser) -> Result<Response> {
        let items = self.reader(&req);
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), |db| rows(db, ids)).await;
        items.item(authorized.user.id.0, prepare).await?.ok_or_else(errors::not_found)
    }

    async fn fetch_me(self: Arc<Self>, req: Request) -> Result<Response> {
        let caller = caller(&req);
        if !caller.is_logged_in() {
            return Err(errors::not_logged_in());
        }
        let (user, _) = self.find(&req, caller.id)?;
        Arc::clone(&self).fetch(req, AuthorizedUser { user }).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<Typed<UserDraft>> {
        if only_reads(&req) || !can(&self.site, &req, "create_users")? {
            return Err(errors::cannot_create(&req));
        }
        self.draft(&req)
    }

    async fn create(self: Arc<Self>, req: Request, draft: Typed<UserDraft>) -> Result<Response> {
        if req.param("id").is_some_and(svc_php::cast::truthy) {
            return Err(errors::exists());
        }
        let id = self.save(&req, draft, None).await?;
        let location = self.site.settings(req.cx())?.urls.rest(&format!("{}/{id}", route(&self.site)));
        let (user, _) = self.find(&req, id)?;
        let response = self.show(&req, user, respond::edit_view(&req)).await?.in_context("edit");
        Ok(response.status(201).header("Location", location))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<AuthorizedChange> {
        if only_reads(&req) {
            return Err(errors::cannot_edit(&req));
        }
        let found = self.requested(&req)?;
        self.may_update(&req, found)
    }

    async fn can_update_me(self: Arc<Self>, req: Request) -> Result<AuthorizedChange> {
        let found = self.find(&req, caller(&req).id)?;
        self.may_update(&req, found)
    }

    fn may_update(&self, req: &Request, (user, rights): (User, UserRights)) -> Result<AuthorizedChange> {
        let draft = self.draft(req)?;
        let sets_roles =
            draft.values().roles.as_ref().is_some_and(|roles| !roles.is_empty()) || draft.has_mismatch("roles");
        if sets_roles && !rights.promote {
            return Err(errors::cannot_edit_roles(req));
        }
        if rights.edit { Ok(AuthorizedChange { user, draft }) } else { Err(errors::cannot_edit(req)) }
    }

    async fn update(self: Arc<Self>, req: Request, change: AuthorizedChange) -> Result<Response> {
        let id = self.save(&req, change.draft, Some(change.user)).await?;
        let (user, _) = self.find(&req, id)?;
        self.show(&req, user, respond::edit_view(&req)).await
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<AuthorizedUser> {
        if only_reads(&req) {
            return Err(errors::cannot_delete(&req));
        }
        let found = self.requested(&req)?;
        Self::may_delete(&req, found)
    }

    async fn can_delete_me(self: Arc<Self>, req: Request) -> Result<AuthorizedUser> {
        let found = self.find(&req, caller(&req).id)?;
        Self::may_delete(&req, found)
    }

    fn may_delete(req: &Request, (user, rights): (User, UserRights)) -> Result<AuthorizedUser> {
        if rights.delete { Ok(AuthorizedUser { user }) } else { Err(errors::cannot_delete(req)) }
    }

    async fn delete(self: Arc<Self>, req: Request, authorized: AuthorizedUser) -> Result<Response> {
        if !respond::is_forced(&req)? {
            return Err(trash_not_supported());
        }
        let reassign = req.param("reassign").and_then(Value::as_i64).map(UserId);
        let id = authorized.user.id;
        if reassign == Some(id) {
            return Err(errors::invalid_reassign());
        }
        let previous = self.show(&req, authorized.user, respond::previous_view(&req, "edit")).await?.data;
        let by = RevisionAuthor::of(&caller(&req), &self.site, &*self.site.settings(req.cx())?);
        self.remove(req.cx(), id, reassign, by).await?;
        Ok(respond::deleted(previous))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reassign_is_an_id_or_zero_or_false() {
        // Recorded from WordPress.
        for (value, expected) in [
            (json!(""), Some(json!(false))),
            (json!("0"), Some(json!(0))),
            (json!(0), Some(json!(0))),
            (json!("0.4"), Some(json!(0))),
            (json!(false), Some(json!(false))),
            (json!("false"), Some(json!(false))),
            (json!([]), Some(json!(false))),
            (json!("3"), Some(json!(3))),
            (json!(-1), Some(json!(1))),
            (json!("1.5"), Some(json!(1))),
            (json!("x"), None),
            (json!("true"), None),
            (json!(true), None),
            (json!([1]), None),
        ] {
            assert_eq!(reassign(value.clone(), "").ok(), expected, "{value}");
        }
    }
}
