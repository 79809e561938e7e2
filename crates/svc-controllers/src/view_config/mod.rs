//! View configurations of entity lists in editors: columns, order, layouts and forms.
//!
//! Most entities share a default configuration; `views` has those of post types with their own.

mod schema;
mod views;

use std::sync::Arc;

use svc_resource::Fields;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{integer, string},
};
use svc_site::templates::{
    kinds,
    load::{AuthorKind, TemplateKind, TemplateLookup},
};
use svc_versions::Context;

use self::views::Views;
use crate::{request::can, respond};
use svc_site::Site;

/// Version of the configuration format.
const VERSION: i64 = 1;

fn invalid_entity() -> Error {
    Error::new("rest_view_config_invalid_entity", "There is no entity of this kind and name.").with_status(404)
}

fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read", "You are not allowed to view the configuration of this entity.")
}

/// An entity and its views.
struct Config {
    kind: String,
    name: String,
    views: Views,
}

#[rustfmt::skip]
fn fields() -> Fields<Config, ()> {
    let mut f = Fields::<Config, ()>::new("view-config");
    f.add("kind", string().describe("Kind of the entity.").readonly()).get(|c| c.kind.clone());
    f.add("name", string().describe("Name of the entity within its kind.").readonly()).get(|c| c.name.clone());
    f.add("version", integer().describe("Version of the configuration format.").readonly()).get(|_| VERSION);
    f.add("default_view", schema::default_view()).get(|c| c.views.default_view.clone());
    f.add("default_layouts", schema::default_layouts()).get(|c| c.views.default_layouts.clone());
    f.add("view_list", schema::view_list()).get(|c| c.views.view_list.clone());
    f.add("form", schema::form()).get(|c| c.views.form.clone());
    f
}

/// The controller for view configurations.
pub struct ViewConfig {
    site: Arc<Site>,
    fields: Fields<Config, ()>,
}

impl ViewConfig {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        ViewConfig { site: Arc::clone(site), fields: fields() }
    }

    /// The capability that is required to view the configuration of an entity.
    fn capability(&self, kind: &str, name: &str) -> Result<&str> {
        match kind {
            "postType" => {
                let found =
                    self.site.registries.types.get(name).filter(|t| t.show_in_rest).ok_or_else(invalid_entity)?;
                Ok(&found.caps.edit_posts)
            }
            "taxonomy" => {
                let found =
                    self.site.registries.taxonomies.get(name).filter(|t| t.show_in_rest).ok_or_else(invalid_entity)?;
                Ok(&found.caps.manage_terms)
            }
            "root" => Ok("manage_options"),
            _ => Ok("edit_posts"),
        }
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<(String, String)> {
        // The parameters can be missing: this check also decides the `Allow` header of requests that are rejected for that.
        let text = |name| req.param(name).map_or_else(String::new, |v| svc_php::cast::to_text(v).into_owned());
        let (kind, name) = (text("kind"), text("name"));
        let may_read = can(&self.site, &req, self.capability(&kind, &name)?)?;
        if may_read { Ok((kind, name)) } else { Err(cannot_read(&req)) }
    }

    async fn fetch(self: Arc<Self>, req: Request, (kind, name): (String, String)) -> Result<Response> {
        let views = match kind.as_str() {
            "postType" => self.views_of_type(req.cx(), &name)?,
            _ => views::other(),
        };
        let data = self.fields.plan(&respond::view(&req)).prepare(&Config { kind, name, views });
        Ok(respond::single(data, None))
    }

    fn views_of_type(&self, cx: &Context, name: &str) -> Result<Views> {
        let post_type = self.site.registries.types.get(name).ok_or_else(invalid_entity)?;
        match name {
            "page" => Ok(views::pages(post_type)),
            "wp_block" => Ok(views::patterns(&self.pattern_categories(cx)?)),
            "wp_template" => Ok(views::templates(&self.template_authors(cx)?)),
            "wp_template_part" => Ok(views::template_parts(kinds::area_labels())),
            _ => Ok(views::posts(post_type)),
        }
    }

    /// Names of the templates' authors without duplicates; themes and plugins come before users.
    fn template_authors(&self, cx: &Context) -> Result<Vec<String>> {
        let settings = self.site.settings(cx)?;
        let lookup = TemplateLookup::new(cx, &self.site, &settings);
        let all = self.site.read(cx, |db| lookup.all(db, TemplateKind::Template))?;
        let (users, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|t| t.author_kind() == AuthorKind::User);
        let mut names = Vec::new();
        for template in others.into_iter().chain(users) {
            if !template.author_name.is_empty() && !names.contains(&template.author_name) {
                names.push(template.author_name);
            }
        }
        Ok(names)
    }

    /// Slugs and names of pattern categories: those that users created, then the registered ones.
    fn pattern_categories(&self, cx: &Context) -> Result<Vec<(String, String)>> {
        use svc_store::terms::{self, TermQuery};
        let query = TermQuery::default().taxonomies(vec!["wp_pattern_category".to_owned()]);
        let rows = self.site.read(cx, |db| {
            let ids = terms::query(db, &query)?.ids;
            Ok(terms::get_many(db, &ids)?)
        })?;
        let mut all: Vec<(String, String)> = rows.into_iter().map(|term| (term.slug, term.name)).collect();
        let registered = self.site.registries.patterns.categories().map(|c| (c.name.as_str(), c.label.as_str()));
        for (slug, label) in registered.chain([("uncategorized", "Uncategorized")]) {
            if all.iter().all(|(other, _)| other != slug) {
                all.push((slug.to_owned(), label.to_owned()));
            }
        }
        Ok(all)
    }
}

impl Controller for ViewConfig {
    fn routes(&self) -> Vec<Route<Self>> {
        let args = Args::from([
            ("kind", string().describe("Kind of the entity: postType, taxonomy or root.").required()),
            ("name", string().describe("Name of the entity within its kind.").required()),
        ]);
        vec![
            Route::new("/view-config")
                .schema(Schema::compile(self.fields.item_schema()))
                .endpoint(get(Self::fetch, Self::can_read).args(args)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use svc_model::PostTypes;

    use super::*;

    #[test]
    fn configurations_match_the_schema() {
        let schema = Schema::compile(fields().item_schema());
        let types = PostTypes::default();
        let post_type = |name: &str| types.get(name).unwrap();
        let categories = vec![("b".to_owned(), "Zed".to_owned()), ("a".to_owned(), "Alpha".to_owned())];
        for views in [
            views::posts(post_type("post")),
            views::pages(post_type("page")),
            views::patterns(&categories),
            views::templates(&["A theme".to_owned()]),
            views::template_parts(kinds::area_labels()),
            views::other(),
        ] {
            let config = Config { kind: "postType".to_owned(), name: "x".to_owned(), views };
            let view = svc_resource::View::all_of("view");
            let data = Value::Object(fields().plan(&view).prepare(&config));
            schema.validate(&data, "config").unwrap_or_else(|e| panic!("{e}: {data}"));
        }
    }
}
