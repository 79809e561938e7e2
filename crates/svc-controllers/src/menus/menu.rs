//! Menus: terms of the taxonomy `nav_menu`, assigned to menu locations.
//!
//! Reading requires permission to edit posts of any type, writing requires `edit_theme_options`. Menus are read like other
//! terms. Rules of writes: names are unique, slugs derive from names, and an update without a description clears it.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{Taxonomy, Term, TermId};
use svc_resource::Typed;
use svc_routing::{CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Request, Response, Result, Route, get, on};
use svc_schema::{
    Args, Error, MethodKind, Schema,
    build::{array, boolean, integer, string},
};
use svc_site::{
    Site, SiteResult,
    menus::item::items_of,
    sanitize,
    settings::menu_assignments,
    terms::{draft::TermDraft, save::MAX_NAME},
};
use svc_store::{Tx, posts, terms};

use super::{check_read, errors};
use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    contexts::VIEW_EDIT,
    cost, respond,
    terms::{
        Terms, errors as term_errors,
        fields::{self as term_fields, TermFields},
        params::TermList,
    },
};
use svc_site::object_state::ConditionalObject;

/// The menu fields: those of terms without `count`, `link` and `taxonomy`, plus locations and `auto_add`.
#[rustfmt::skip]
fn fields(site: &Arc<Site>, taxonomy: &Taxonomy) -> TermFields {
    let mut f = term_fields::fields(site, taxonomy).without(&["count", "link", "taxonomy"]);
    f.add("locations", array(string()).describe("Menu locations to which the menu is assigned.").context(VIEW_EDIT))
        .get(|t| t.settings.menu_assignments().of_menu(t.term.id).map(Value::from).collect::<Value>())
        .validate_with(known_locations(site))
        .set_nullable(|d, v: Option<Vec<String>>| d.locations = Some(v.unwrap_or_default()));
    f.add("auto_add", boolean().describe("Whether new pages are added to the menu.").context(VIEW_EDIT).first(&["description", "context"]))
        .get(|t| t.settings.menu_assignments().is_auto_add(t.term.id))
        .set_nullable(|d, v: Option<bool>| d.auto_add = Some(v.unwrap_or_default()));
    f
}

/// Rejects menu locations that are not registered.
fn known_locations(site: &Arc<Site>) -> impl Fn(&Value, &str) -> Result<bool> + Send + Sync + 'static {
    let known: Vec<String> = site.registries.menu_locations.keys().cloned().collect();
    let names = array(string()).compile();
    move |value, name| {
        names.validate(value, name)?;
        match svc_php::list::parse_text_list(value)?.into_iter().find(|name| !known.contains(name)) {
            Some(name) => Err(errors::unknown_location(&name)),
            None => Ok(true),
        }
    }
}

/// The menu routes.
pub struct Menus {
    site: Arc<Site>,
    terms: Arc<Terms>,
}

impl Menus {
    /// The routes of this taxonomy.
    pub fn new(rest: &Arc<RestSite>, taxonomy: &Taxonomy, extra: &ExtraFields) -> Self {
        let terms = Terms::new(rest, taxonomy, extra).with_fields(fields(&rest.site, taxonomy));
        Menus { site: Arc::clone(&rest.site), terms: Arc::new(terms) }
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<Typed<TermList>> {
        let list = Arc::clone(&self.terms).can_list(req.clone()).await?;
        check_read(&self.site, &req)?;
        Ok(list)
    }

    async fn list(self: Arc<Self>, req: Request, list: Typed<TermList>) -> Result<Response> {
        Arc::clone(&self.terms).list(req, list).await
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Term> {
        let menu = Arc::clone(&self.terms).can_fetch(req.clone()).await?;
        check_read(&self.site, &req)?;
        Ok(menu)
    }

    async fn fetch(self: Arc<Self>, req: Request, menu: Term) -> Result<Response> {
        Arc::clone(&self.terms).fetch(req, menu).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<()> {
        Arc::clone(&self.terms).can_create(req).await
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let menu = self.save(&req, None).await?;
        self.terms.show_created(&req, menu).await
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<Term> {
        Arc::clone(&self.terms).can_update(req).await
    }

    async fn update(self: Arc<Self>, req: Request, menu: Term) -> Result<Response> {
        let menu = self.save(&req, Some(menu.id)).await?;
        Ok(self.terms.show(&req, menu, "edit").await?.in_context("edit"))
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Term> {
        Arc::clone(&self.terms).can_delete(req).await
    }

    async fn delete(self: Arc<Self>, req: Request, menu: Term) -> Result<Response> {
        if !respond::is_forced(&req)? {
            return Err(errors::trash_not_supported());
        }
        let id = menu.id;
        let previous = self.terms.show_in(&req, menu, respond::previous_view(&req, "view")).await?.data;
        self.site.write(req.cx(), move |tx| remove(tx, id)).await?;
        Ok(respond::deleted(previous))
    }

    /// Creates or updates a menu. Returns it as stored.
    async fn save(&self, req: &Request, existing: Option<TermId>) -> Result<Term> {
        if req.param("parent").is_some() {
            return Err(term_errors::not_hierarchical());
        }
        let mut draft: TermDraft = self.terms.fields().typed(req).accepted()?;
        let meta = draft.meta.take();
        let menu = self.site.write(req.cx(), move |tx| store(tx, &draft, existing)).await?;
        self.terms.save_around(req, &menu, meta).await?;
        Ok(menu)
    }
}

impl Controller for Menus {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let fields = self.terms.fields();
        let schema = Schema::compile(fields.item_schema());
        let id = integer().describe("The menu's ID.");
        let force = crate::args::force("Must be true: menus cannot be trashed.");
        vec![
            Route::new("/menus")
                .schema(schema.clone())
                .allow_batch()
                .endpoint(get(Self::list, Self::can_list).cost(cost::of_list).args(self.terms.query_args()))
                .endpoint(on(CREATABLE, Self::create, Self::can_create).args(fields.args(MethodKind::Creatable)).example(json!({"name": "Main menu"}))),
            Route::new(r"/menus/(?P<id>[\d]+)")
                .conditional(preconditions::on_id(&self.site, |id| ConditionalObject::Menu(TermId(id))))
                .schema(schema)
                .args(Args::from([("id", id)]))
                .allow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([("context", context_arg())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update).args(fields.args(MethodKind::Editable)).example(json!({"description": "The links of the header."})))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}

/// Stores a new or existing menu.
fn store(tx: &mut Tx, draft: &TermDraft, existing: Option<TermId>) -> SiteResult<Term> {
    let before = match existing {
        Some(id) => Some(terms::get(tx, id, Some(svc_site::menus::item::MENU))?.ok_or_else(term_errors::not_found)?),
        None => None,
    };
    let name = match (&draft.name, &before) {
        (None, Some(before)) => before.name.clone(),
        (name, _) => sanitize::term_name(name.as_deref().unwrap_or_default()),
    };
    if svc_text::trim(&name).is_empty() {
        let error = term_errors::empty_name();
        return Err(if existing.is_none() { bad_request(error) } else { error }.into());
    }
    // As in WordPress, a change to a name that is too long leaves name and slug unchanged without an error.
    let (name, unchanged_slug) = match &before {
        _ if name.chars().count() <= MAX_NAME => (name, None),
        Some(before) => (before.name.clone(), Some(before.slug.clone())),
        None => return Err(bad_request(term_errors::name_too_long()).into()),
    };
    let id = existing.unwrap_or_default();
    if let Some(other) =
        terms::by_name(tx, &name, svc_site::menus::item::MENU)?.into_iter().find(|other| other.id != id)
    {
        return Err(errors::menu_exists(existing.is_none().then_some(other.id)).into());
    }
    let mut slug = unchanged_slug.clone().unwrap_or_else(|| svc_text::sanitize_title(&name));
    if !slug.is_empty() && unchanged_slug.is_none() {
        slug = terms::unique_slug(tx, &slug, svc_site::menus::item::MENU, TermId(0), id)?;
    }
    let description = sanitize::term_description(draft.description.as_deref().unwrap_or_default());
    let mut menu = Term {
        taxonomy: svc_site::menus::item::MENU.to_owned(),
        name,
        slug,
        description,
        ..before.clone().unwrap_or_default()
    };
    if before.is_none() {
        menu = terms::insert(tx, &menu)?;
    }
    if menu.slug.is_empty() {
        menu.slug = menu.id.to_string();
    }
    terms::update(tx, &menu)?;
    if let Some(locations) = &draft.locations {
        menu_assignments::set_locations(tx, menu.id, locations)?;
    }
    if let Some(auto_add) = draft.auto_add {
        menu_assignments::set_auto_add(tx, menu.id, auto_add)?;
    }
    Ok(menu)
}

/// Adds the status 400 to the data of an error.
fn bad_request(mut error: Error) -> Error {
    error.add_data(json!({"status": 400}), None);
    error
}

/// Deletes a menu with its items and its location assignments.
fn remove(tx: &mut Tx, id: TermId) -> SiteResult<()> {
    let menu = terms::get(tx, id, Some(svc_site::menus::item::MENU))?.ok_or_else(term_errors::not_found)?;
    for item in items_of(tx, id)? {
        posts::delete(tx, item)?;
    }
    terms::delete(tx, &menu, None)?;
    // As in WordPress, it remains in the list of menus that new pages are added to, which has no effect.
    menu_assignments::clear_locations(tx, id)
}
