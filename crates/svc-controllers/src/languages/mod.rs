//! The languages of the site, at the routes of the plugin Polylang: list and fetch. Languages are changed with the plugin.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{Term, TermId};
use svc_resource::Fields;
use svc_routing::{Request, Result, Route};
use svc_schema::{
    Args, Error,
    build::{array, boolean, integer, object, string},
};
use svc_site::languages::{Language, LanguageTerm, LanguageUrls, Translated};
use svc_store::terms;

use crate::{
    RestSite,
    args::context_args,
    contexts::VIEW_EDIT,
    errors::forbidden_context,
    registry_family::{Listed, RegistryEntries, RegistryFamily},
    request::can,
};

/// The namespace of the plugin's routes.
pub(crate) const NAMESPACE: &str = "pll/v1";

/// The capability to manage languages.
const MANAGE: &str = "manage_options";

/// A language with what is stored elsewhere.
pub struct LanguageEntry {
    language: Language,
    is_default: bool,
    home_url: String,
    host: String,
    /// By taxonomy: the term of the language, and its number of objects.
    terms: Vec<(&'static str, LanguageTerm, i64)>,
}

/// The languages of the REST API.
pub struct LanguageList;

/// No such language.
fn not_found(code: &str) -> Error {
    Error::new(code, "There is no such language.").with_status(404)
}

/// The W3C's form of a locale: `fr-FR`.
fn w3c(locale: &str) -> String {
    locale.replace('_', "-")
}

impl RegistryEntries for LanguageList {
    type Entry = LanguageEntry;
    const OBJECT: &'static str = "language";

    #[rustfmt::skip]
    fn fields() -> Fields<LanguageEntry, ()> {
        let mut f = Fields::<LanguageEntry, ()>::new(Self::OBJECT);
        f.add("name", string().describe("Name of the language.").context(VIEW_EDIT).readonly()).get(|l| l.language.name.clone());
        f.add("slug", string().describe("Code of the language: the value of `lang`.").context(VIEW_EDIT).readonly()).get(|l| l.language.slug.clone());
        f.add("term_group", integer().describe("Sort position.").context(VIEW_EDIT).readonly()).get(|l| l.language.order);
        f.add("term_id", integer().describe("ID of the language.").context(VIEW_EDIT).readonly()).get(|l| l.language.of_posts.id);
        f.add("locale", string().describe("WordPress's locale, such as fr_FR.").context(VIEW_EDIT).readonly()).get(|l| l.language.locale.clone());
        f.add("is_rtl", boolean().describe("Whether the language is written from right to left.").context(VIEW_EDIT).readonly()).get(|l| l.language.is_rtl);
        f.add("w3c", string().describe("The locale as a language tag, such as fr-FR.").context(VIEW_EDIT).readonly()).get(|l| w3c(&l.language.locale));
        f.add("home_url", string().format("uri").describe("URL of the front page in the language.").context(VIEW_EDIT).readonly()).get(|l| l.home_url.clone());
        f.add("search_url", string().format("uri").describe("URL to search in the language.").context(VIEW_EDIT).readonly()).get(|l| l.home_url.clone());
        f.add("host", string().describe("Host of the language, if each has its own.").context(VIEW_EDIT).readonly()).get(|l| l.host.clone());
        f.add("flag_code", string().describe("Code of the flag.").context(VIEW_EDIT).readonly()).get(|l| l.language.flag_code.clone());
        f.add("active", boolean().describe("Whether the language is published.").context(VIEW_EDIT).readonly()).get(|l| l.language.is_active);
        f.add("fallbacks", array(string()).describe("Locales whose texts are used if there is none in the language.").context(VIEW_EDIT).readonly())
            .get(|l| l.language.fallbacks.clone());
        f.add("is_default", boolean().describe("Whether the language is the default language.").context(VIEW_EDIT).readonly()).get(|l| l.is_default);
        f.add("term_props", object::<&str, Value>([]).describe("The terms of the language by taxonomy, with their numbers of objects.").context(VIEW_EDIT).readonly())
            .get(|l| {
                let props = |(taxonomy, term, count): &(&'static str, LanguageTerm, i64)| {
                    let props = json!({"term_id": term.id, "term_taxonomy_id": term.taxonomy_id, "count": count});
                    ((*taxonomy).to_owned(), props)
                };
                Value::Object(l.terms.iter().map(props).collect())
            });
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if req.context() == "edit" && !can(&rest.site, req, MANAGE)? { Err(forbidden_context(req)) } else { Ok(()) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<LanguageEntry>> {
        Ok(entries(rest, req)?.into())
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<LanguageEntry> {
        let (id, slug): (Option<i64>, Option<String>) = (req.arg("term_id")?, req.arg("slug")?);
        let is_wanted = |entry: &LanguageEntry| match (id, &slug) {
            (Some(id), _) => entry.language.of_posts.id.0 == id,
            (None, slug) => slug.as_deref() == Some(entry.language.slug.as_str()),
        };
        let code = if id.is_some() { "rest_invalid_id" } else { "rest_invalid_slug" };
        entries(rest, req)?.into_iter().find(is_wanted).ok_or_else(|| not_found(code))
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let id = Args::from([("term_id", integer().describe("ID of the language."))]);
        let slug = Args::from([("slug", string().describe("Code of the language."))]);
        vec![
            family.list_route("/languages", context_args()),
            family.fetch_route(r"/languages/(?P<term_id>[\d]+)", context_args()).args(id),
            family.fetch_route(r"/languages/(?P<slug>[a-z][a-z0-9_-]*)", context_args()).args(slug),
        ]
    }
}

/// All languages; none if the site has lost them since the routes were mounted.
fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Vec<LanguageEntry>> {
    rest.site.read(req.cx(), |db| {
        let settings = rest.site.settings_in(db)?;
        let Some(languages) = &settings.languages else { return Ok(Vec::new()) };
        let kinds = [Translated::Posts, Translated::Terms];
        let ids: Vec<TermId> =
            languages.iter().flat_map(|l| kinds.into_iter().filter_map(|of| Some(l.term(of)?.id))).collect();
        let stored: Vec<Term> = terms::get_many(db, &ids)?;
        let count = |term: LanguageTerm| {
            stored.iter().find(|stored| stored.taxonomy_id == term.taxonomy_id).map_or(0, |stored| stored.count)
        };
        let entry = |language: &Language| {
            let home_url = settings.urls.in_language(&settings.urls.site.home_url("/"), Some(&language.slug));
            let has_host = matches!(languages.urls, LanguageUrls::Subdomain | LanguageUrls::Domain(_));
            let host = home_url.split_once("://").map_or("", |(_, rest)| rest).split(['/', ':']).next();
            let terms = kinds.into_iter().filter_map(|of| Some((of, language.term(of)?)));
            LanguageEntry {
                is_default: languages.is_default(language),
                host: host.filter(|_| has_host).unwrap_or_default().to_owned(),
                home_url,
                terms: terms.map(|(of, term)| (of.languages(), term, count(term))).collect(),
                language: language.clone(),
            }
        };
        Ok(languages.iter().map(entry).collect())
    })
}
