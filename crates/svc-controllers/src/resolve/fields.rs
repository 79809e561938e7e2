//! The answer to a resolved URL.

use serde_json::{Map, Value, json};
use svc_model::{Post, Taxonomy, Term, User};
use svc_permalinks::{Archive, DateKey, Lookup, LookupTarget};
use svc_resource::Fields;
use svc_schema::build::{SchemaBuilder, array, boolean, integer, object, string, types};
use svc_site::{
    Settings, Site, permalinks,
    url_resolver::{List, ListSubject, PageTarget, Resolved},
};

/// What a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownKind {
    Single,
    FrontPage,
    Blog,
    TypeArchive,
    TermArchive,
    AuthorArchive,
    DateArchive,
    Search,
    Sitemap,
    Robots,
    Favicon,
}

impl ShownKind {
    const ALL: [ShownKind; 11] = [
        ShownKind::Single,
        ShownKind::FrontPage,
        ShownKind::Blog,
        ShownKind::TypeArchive,
        ShownKind::TermArchive,
        ShownKind::AuthorArchive,
        ShownKind::DateArchive,
        ShownKind::Search,
        ShownKind::Sitemap,
        ShownKind::Robots,
        ShownKind::Favicon,
    ];

    fn name(self) -> &'static str {
        match self {
            ShownKind::Single => "single",
            ShownKind::FrontPage => "front-page",
            ShownKind::Blog => "blog",
            ShownKind::TypeArchive => "type-archive",
            ShownKind::TermArchive => "term-archive",
            ShownKind::AuthorArchive => "author-archive",
            ShownKind::DateArchive => "date-archive",
            ShownKind::Search => "search",
            ShownKind::Sitemap => "sitemap",
            ShownKind::Robots => "robots",
            ShownKind::Favicon => "favicon",
        }
    }
}

/// An object with its route in the REST API.
#[derive(Clone, Debug)]
struct FoundObject {
    /// `post`, `term` or `user`, as in the search route.
    object_type: &'static str,
    /// The post type or the taxonomy.
    subtype: Option<String>,
    id: i64,
    /// URL in the REST API, if it has one.
    rest_url: Option<String>,
}

/// What a URL leads to.
#[derive(Clone, Debug)]
pub(super) struct Resolution {
    kind: ShownKind,
    found: Option<FoundObject>,
    canonical: Option<String>,
    redirect: Option<String>,
    /// Format of the feed.
    feed: Option<String>,
    embed: bool,
    /// Page number of the list or of the post's content, from 1.
    page: u64,
    /// Numbers of pages and posts of a list.
    pages_and_posts: Option<(u64, u64)>,
    query: Map<String, Value>,
}

#[rustfmt::skip]
pub(super) fn fields() -> Fields<Resolution, ()> {
    let mut f = Fields::<Resolution, ()>::new("resolution");
    let text = |about: &str| field(types(["string", "null"]).describe(about));
    let url = |about: &str| field(types(["string", "null"]).describe(about).format("uri"));
    let number = |about: &str| field(types(["integer", "null"]).describe(about));
    f.add("status", field(integer().describe("HTTP status of the page at this URL: 200, 301 for a redirect, or 204 for an empty icon."))).get(Resolution::status);
    f.add("redirect", url("URL that the page redirects to.")).get(|r| r.redirect.clone());
    f.add("kind", field(string().describe("What the page shows.").one_of(ShownKind::ALL.map(ShownKind::name)))).get(|r| r.kind.name());
    f.add("type", field(types(["string", "null"]).describe("Type of the object that the page shows or whose posts it lists.").one_of([json!("post"), json!("term"), json!("user"), Value::Null]))).get(|r| r.found.as_ref().map(|o| o.object_type));
    f.add("subtype", text("Post type or taxonomy of the object.")).get(|r| r.found.as_ref().and_then(|o| o.subtype.clone()));
    f.add("id", number("ID of the object.")).get(|r| r.found.as_ref().map(|o| o.id));
    f.add("rest_url", url("URL of the object in the REST API.")).get(|r| r.found.as_ref().and_then(|o| o.rest_url.clone()));
    f.add("canonical", url("Canonical URL of the page.")).get(|r| r.canonical.clone());
    f.add("query", field(object(query_schema()).describe("What selects the posts of a list."))).get(|r| r.query.clone());
    f.add("page", field(integer().describe("Page number of the list, or of the content of the post."))).get(|r| r.page);
    f.add("pages", number("Number of pages of the list.")).get(|r| r.pages_and_posts.map(|(pages, _)| pages));
    f.add("posts", number("Number of posts on all pages of the list.")).get(|r| r.pages_and_posts.map(|(_, posts)| posts));
    f.add("feed", text("Format of the feed, such as `rss2`, if the URL is that of a feed.")).get(|r| r.feed.clone());
    f.add("embed", field(boolean().describe("Whether the page is the embeddable form of a post."))).get(|r| r.embed);
    f
}

fn field(schema: SchemaBuilder) -> SchemaBuilder {
    schema.context(&["view"]).readonly()
}

fn query_schema() -> Vec<(&'static str, SchemaBuilder)> {
    let number = |about: &str| integer().describe(about);
    vec![
        ("post_type", string().describe("Post type of the archive.")),
        ("terms", array(object([("taxonomy", string()), ("id", integer())])).describe("Terms that all posts have.")),
        ("author", number("ID of the author.")),
        ("lang", string().describe("Code of the language of all posts.")),
        ("search", string().describe("Search text.")),
        ("year", number("Year of the date.")),
        ("month", number("Month of the date.")),
        ("day", number("Day of the date.")),
        ("hour", number("Hour of the date.")),
        ("minute", number("Minute of the date.")),
        ("second", number("Second of the date.")),
    ]
}

impl Resolution {
    fn status(&self) -> u16 {
        match (&self.redirect, self.kind) {
            (Some(_), _) => 301,
            (None, ShownKind::Favicon) => 204,
            (None, _) => 200,
        }
    }

    /// A file that the site generates.
    pub(super) fn of_file(kind: ShownKind) -> Self {
        Resolution {
            kind,
            found: None,
            canonical: None,
            redirect: None,
            feed: None,
            embed: false,
            page: 1,
            pages_and_posts: None,
            query: Map::new(),
        }
    }

    /// A page. Its target has been found.
    pub(super) fn of_page(site: &Site, settings: &Settings, resolved: &Resolved) -> Self {
        let Lookup { page, feed, embed, .. } = &resolved.lookup;
        let mut resolution = Resolution {
            canonical: resolved.canonical(settings),
            redirect: resolved.redirect.clone(),
            feed: feed.as_ref().map(|feed| feed.format.clone()),
            embed: *embed,
            page: (*page).max(1),
            ..Self::of_file(ShownKind::Single)
        };
        match &resolved.target {
            PageTarget::Single(post) => resolution.found = Some(of_post(site, settings, post)),
            PageTarget::Front(post) => {
                resolution.kind = ShownKind::FrontPage;
                resolution.found = Some(of_post(site, settings, post));
            }
            PageTarget::List(list) => resolution.add_list(site, settings, list, &resolved.lookup.target),
            PageTarget::NotFound => {}
        }
        resolution
    }

    fn add_list(&mut self, site: &Site, settings: &Settings, list: &List, target: &LookupTarget) {
        self.page = list.number;
        self.pages_and_posts = Some((list.pages, list.total));
        if let LookupTarget::Archive(archive) = target {
            self.query = parameters(archive, list);
        }
        self.query.extend(list.language.iter().map(|slug| ("lang".to_owned(), Value::from(slug.as_str()))));
        self.kind = match &list.subject {
            ListSubject::Home => ShownKind::Blog,
            ListSubject::Term(term, taxonomy) => {
                self.found = Some(of_term(site, settings, term, taxonomy));
                ShownKind::TermArchive
            }
            ListSubject::Author(user) => {
                self.found = Some(of_user(site, settings, user));
                ShownKind::AuthorArchive
            }
            ListSubject::Date(_) => ShownKind::DateArchive,
            ListSubject::Search(_) => ShownKind::Search,
            ListSubject::Type(_) => ShownKind::TypeArchive,
        };
    }
}

/// What selects the posts of an archive.
fn parameters(archive: &Archive, list: &List) -> Map<String, Value> {
    let Archive { date, search, post_type, .. } = archive;
    let terms: Vec<Value> =
        list.terms.iter().map(|(taxonomy, id)| json!({ "taxonomy": taxonomy, "id": id.0 })).collect();
    let all = [
        ("post_type", post_type.clone().map(Value::from)),
        ("terms", (!terms.is_empty()).then(|| terms.into())),
        ("author", list.author.map(|id| id.0.into())),
        ("search", search.clone().map(Value::from)),
    ];
    let all = all.into_iter().chain(parts(*date).map(|(name, part)| (name, Some(part.into()))));
    all.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The parts of a date that are set.
fn parts(date: DateKey) -> impl Iterator<Item = (&'static str, u32)> {
    let DateKey { year, month, day, hour, minute, second } = date;
    let all = [("year", year), ("month", month), ("day", day), ("hour", hour), ("minute", minute), ("second", second)];
    all.into_iter().filter_map(|(name, part)| Some((name, part?)))
}

/// The URL of a route; `None` for objects that are not in the REST API.
fn url(settings: &Settings, route: &str) -> Option<String> {
    (!route.is_empty()).then(|| settings.urls.rest(route))
}

fn of_post(site: &Site, settings: &Settings, post: &Post) -> FoundObject {
    FoundObject {
        object_type: "post",
        subtype: Some(post.post_type.clone()),
        id: post.id.0,
        rest_url: url(settings, &permalinks::rest_route(site, settings, post)),
    }
}

fn of_term(site: &Site, settings: &Settings, term: &Term, taxonomy: &Taxonomy) -> FoundObject {
    FoundObject {
        object_type: "term",
        subtype: Some(taxonomy.name.clone()),
        id: term.id.0,
        rest_url: url(settings, &permalinks::rest_route_of_term(site, settings, taxonomy, term.id)),
    }
}

fn of_user(site: &Site, settings: &Settings, user: &User) -> FoundObject {
    let route = format!("/{}/users/{}", site.brand.namespace(), user.id.0);
    FoundObject { object_type: "user", subtype: None, id: user.id.0, rest_url: url(settings, &route) }
}
