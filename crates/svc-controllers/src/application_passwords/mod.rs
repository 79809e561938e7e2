//! Application passwords of a user: list, create, fetch, update, delete, delete all, and the one in use.
//!
//! Requires permission to edit the user. The password itself is returned once, in the response to its creation.

mod errors;

use std::sync::Arc;

use serde_json::json;
use svc_auth::{
    Caller, Secret,
    application_password::{self, ApplicationPassword},
    caps::Object,
};
use svc_model::{User, UserId};
use svc_resource::{Fields, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Link, Links, ObjectId, Request, Response, Result, Route,
    get, on,
};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{string, types},
};
use svc_site::{Access, Settings, Site, SiteResult, application_passwords as stored, caller::AppPassword};
use svc_store::{Db, users};

use crate::{
    args::context_arg,
    caller,
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    respond,
    users::{
        errors::{not_found as user_not_found, not_logged_in},
        route as users_route,
    },
};

/// The object type of application passwords in additional fields and the item schema.
const OBJECT: &str = "application-password";

/// A record, and the password itself if it was just created.
struct PasswordItem {
    record: ApplicationPassword,
    plain: Option<Secret>,
}

/// The changes of a request.
#[derive(Clone, Debug, Default)]
struct PasswordDraft {
    app_id: String,
    name: Option<String>,
}

/// The family of application passwords.
pub struct ApplicationPasswords {
    site: Arc<Site>,
    fields: Fields<PasswordItem, PasswordDraft>,
    extra: ExtraFields,
}

/// Formats a Unix timestamp (in seconds) in UTC.
fn utc_date(seconds: i64) -> String {
    chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default().format("%Y-%m-%dT%H:%M:%S").to_string()
}

#[rustfmt::skip]
fn fields() -> Fields<PasswordItem, PasswordDraft> {
    let mut f = Fields::<PasswordItem, PasswordDraft>::new(OBJECT);
    let app_id = string().keyword("oneOf", json!([{"type": "string", "format": "uuid"}, {"type": "string", "enum": [""]}]));
    f.add("uuid", string().describe("UUID of the application password.").format("uuid").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.record.uuid.clone());
    f.add("app_id", app_id.describe("UUID of the application, or empty.").context(VIEW_EDIT_EMBED))
        .get(|p| p.record.app_id.clone()).set(|d, v| d.app_id = v);
    f.add("name", string().describe("Name of the application.").required().context(VIEW_EDIT_EMBED).min_length(1).pattern(r".*\S.*"))
        .get(|p| p.record.name.clone()).set(|d, v: String| d.name = Some(svc_text::sanitize_text_field(&v)));
    f.add("created", string().describe("Creation date in UTC.").format("date-time").context(VIEW_EDIT).readonly()).get(|p| utc_date(p.record.created));
    f.add("last_used", types(["string", "null"]).describe("Date of the last use in UTC, updated at most once a day.").format("date-time").context(VIEW_EDIT).readonly())
        .get(|p| p.record.last_used.map(utc_date));
    f.add("last_ip", types(["string", "null"]).describe("IP address of the last use.").format("ip").context(VIEW_EDIT).readonly())
        .get(|p| p.record.last_ip.clone().filter(|ip| !ip.is_empty()));
    f.add("password", string().describe("The password. It is returned only in the response to its creation.").context(&["edit"]).readonly())
        .get(|p| p.plain.as_ref().map(|plain| application_password::chunk(plain.expose())));
    f.schema_order(&["uuid", "app_id", "name", "password"]);
    f
}

impl ApplicationPasswords {
    /// The family on this site. Requests to which application passwords are not available fail.
    pub fn new(site: &Arc<Site>, extra: &ExtraFields) -> Self {
        let fields = fields().with_extra(extra, OBJECT);
        ApplicationPasswords { site: Arc::clone(site), fields, extra: extra.clone() }
    }
}

impl Controller for ApplicationPasswords {
    fn routes(&self) -> Vec<Route<Self>> {
        const BASE: &str = r"/users/(?P<user_id>(?:[\d]+|me))/application-passwords";
        let schema = Schema::compile(self.fields.item_schema());
        let args = |kind| self.fields.args(kind);
        let context = || Args::from([("context", context_arg())]);
        vec![
            Route::new(BASE)
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).args(context()))
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create)
                        .args(args(MethodKind::Creatable))
                        .example(json!({"name": "My application"})),
                )
                .endpoint(on(DELETABLE, Self::delete_all, Self::can_delete_all)),
            Route::new(format!("{BASE}/introspect"))
                .schema(schema.clone())
                .endpoint(get(Self::introspect, Self::can_introspect).args(context())),
            Route::new(format!(r"{BASE}/(?P<uuid>[\w\-]+)"))
                .schema(schema)
                .endpoint(get(Self::fetch, Self::can_fetch).args(context()))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update)
                        .args(args(MethodKind::Editable))
                        .example(json!({"name": "My other application"})),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete)),
        ]
    }
}

/// A user whose application passwords the caller may access.
pub(crate) struct Owner {
    user: User,
    settings: Arc<Settings>,
}

impl ApplicationPasswords {
    /// The user in the route: an id or `me`.
    fn owner(&self, db: &mut Db, req: &Request, caller: &Caller) -> SiteResult<User> {
        if !self.site.has_application_passwords(req.transport()) {
            return Err(errors::disabled().into());
        }
        if self.site.policies.users.hides_from(caller) {
            // Also of users who do not exist.
            return Err(not_logged_in().into());
        }
        let user = req.param("user_id").map(svc_php::cast::to_text).unwrap_or_default();
        let id = match user.as_ref() {
            "me" if caller.is_logged_in() => caller.id,
            "me" => return Err(not_logged_in().into()),
            id => UserId(id.parse().unwrap_or(0)),
        };
        let found = if id.0 > 0 { users::get(db, id)? } else { None };
        found.ok_or_else(|| user_not_found().into())
    }

    /// The owner, if `authorize` accepts the caller.
    fn authorized_with(
        &self,
        req: &Request,
        authorize: impl FnOnce(&Caller, &Access<'_>, &User) -> Result<()>,
    ) -> Result<Owner> {
        let caller = caller(req);
        self.site.read(req.cx(), |db| {
            let user = self.owner(db, req, &caller)?;
            let settings = self.site.settings_in(db)?;
            let access = Access::new(&self.site, &settings).with_users([user.id]);
            authorize(&caller, &access, &user)?;
            drop(access);
            Ok(Owner { user, settings })
        })
    }

    /// The owner, if the caller has this capability on them.
    fn authorized(&self, req: &Request, cap: &str, error: fn(&Request) -> svc_schema::Error) -> Result<Owner> {
        self.authorized_with(
            req,
            |caller, access, user| {
                if caller.can(cap, Object::User(user.id), access) { Ok(()) } else { Err(error(req)) }
            },
        )
    }

    /// The record in the route.
    fn requested(&self, req: &Request, owner: &Owner) -> Result<ApplicationPassword> {
        let uuid: String = req.require("uuid")?;
        let list = self.site.read(req.cx(), |db| stored::list(db, owner.user.id))?;
        stored::find(list, &uuid).ok_or_else(errors::not_found)
    }

    /// The links of a record. Callers may use either all methods or only GET.
    fn links(&self, owner: &Owner, record: &ApplicationPassword, caller: &Caller) -> Links {
        let access = Access::new(&self.site, &owner.settings).with_users([owner.user.id]);
        let manages = caller.can("edit_app_password", Object::User(owner.user.id), &access);
        let methods = if manages { &["GET", "POST", "PUT", "PATCH", "DELETE"][..] } else { &["GET"] };
        let mut links = Links::new();
        links.add("self", Link::new(self.url(owner, record)).allow(methods.iter().copied()));
        links
    }

    fn url(&self, owner: &Owner, record: &ApplicationPassword) -> String {
        let route = format!("{}/{}/application-passwords/{}", users_route(&self.site), owner.user.id, record.uuid);
        owner.settings.urls.rest(&route)
    }

    /// The fields of a record that are visible in this view.
    async fn prepare(&self, req: &Request, item: &PasswordItem, view: &View) -> Result<svc_routing::Map> {
        let mut fields = self.fields.plan(view).prepare(item);
        if item.plain.is_none() {
            fields.shift_remove("password");
        }
        respond::add_extra(&self.extra, OBJECT, &mut fields, req, view).await?;
        Ok(fields)
    }

    /// A response with one record.
    async fn show(&self, req: &Request, owner: &Owner, item: PasswordItem, view: &View) -> Result<Response> {
        let fields = self.prepare(req, &item, view).await?;
        let links = view.wants_links().then(|| self.links(owner, &item.record, &caller(req)));
        Ok(respond::single(fields, links))
    }

    async fn update_extra(&self, req: &Request, record: &ApplicationPassword) -> Result<()> {
        self.extra.update(OBJECT, &ObjectId::from(record.uuid.as_str()), req).await
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized(&req, "list_app_passwords", errors::cannot_list)
    }

    async fn list(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let records = self.site.read(req.cx(), |db| stored::list(db, owner.user.id))?;
        let (view, caller) = (respond::view(&req), caller(&req));
        let mut items = Vec::with_capacity(records.len());
        for record in records {
            let links = view.wants_links().then(|| self.links(&owner, &record, &caller));
            let fields = self.prepare(&req, &PasswordItem { record, plain: None }, &view).await?;
            items.push((fields, links));
        }
        Ok(respond::list(items, &req))
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized(&req, "read_app_password", errors::cannot_read)
    }

    async fn fetch(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let record = self.requested(&req, &owner)?;
        self.show(&req, &owner, PasswordItem { record, plain: None }, &respond::view(&req)).await
    }

    // Introspect

    async fn can_introspect(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized_with(&req, |caller, _, user| {
            if caller.is_logged_in() && caller.id == user.id { Ok(()) } else { Err(errors::not_of_caller(&req)) }
        })
    }

    /// The application password that authenticated this request.
    async fn introspect(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let used = req.extensions().get::<AppPassword>().ok_or_else(errors::none_in_use)?;
        let list = self.site.read(req.cx(), |db| stored::list(db, owner.user.id))?;
        let record = stored::find(list, &used.0).ok_or_else(errors::not_found)?;
        self.show(&req, &owner, PasswordItem { record, plain: None }, &respond::view(&req)).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized(&req, "create_app_password", errors::cannot_create)
    }

    async fn create(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let draft = self.fields.typed(&req).accepted()?;
        let name = draft.name.filter(|name| !matches!(&**name, "" | "0")).ok_or_else(errors::empty_name)?;
        let now = self.site.now(req.cx()).and_utc().timestamp();
        let (record, plain) =
            ApplicationPassword::generate(&name, &draft.app_id, now).map_err(|_| errors::no_randomness())?;
        let (user, new) = (owner.user.id, record.clone());
        self.site.write(req.cx(), move |tx| stored::add(tx, user, new.clone())).await?;
        self.update_extra(&req, &record).await?;
        let location = self.url(&owner, &record);
        let item = PasswordItem { record, plain: Some(plain) };
        let response = self.show(&req, &owner, item, &respond::edit_view(&req)).await?;
        Ok(response.status(201).header("Location", location))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized(&req, "edit_app_password", errors::cannot_edit)
    }

    /// Updates the name. The application's UUID cannot be changed.
    async fn update(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let record = self.requested(&req, &owner)?;
        let draft = self.fields.typed(&req).accepted()?;
        let (user, uuid) = (owner.user.id, record.uuid);
        let name = draft.name.filter(|name| !name.is_empty());
        let record = self.site.write(req.cx(), move |tx| stored::rename(tx, user, &uuid, name.as_deref())).await?;
        self.update_extra(&req, &record).await?;
        self.show(&req, &owner, PasswordItem { record, plain: None }, &respond::edit_view(&req)).await
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized(&req, "delete_app_password", errors::cannot_delete)
    }

    async fn delete(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let record = self.requested(&req, &owner)?;
        let (user, uuid) = (owner.user.id, record.uuid.clone());
        let view = View::all_of("edit").without_links();
        let previous = self.prepare(&req, &PasswordItem { record, plain: None }, &view).await?;
        self.site.write(req.cx(), move |tx| stored::remove(tx, user, &uuid)).await?;
        Ok(respond::deleted(previous))
    }

    // Delete all

    async fn can_delete_all(self: Arc<Self>, req: Request) -> Result<Owner> {
        self.authorized(&req, "delete_app_passwords", errors::cannot_delete_all)
    }

    async fn delete_all(self: Arc<Self>, req: Request, owner: Owner) -> Result<Response> {
        let user = owner.user.id;
        let count = self.site.write(req.cx(), move |tx| stored::clear(tx, user)).await?;
        Ok(Response::new(json!({"deleted": true, "count": count})))
    }
}
