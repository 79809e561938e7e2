//! Parameters of a list of posts, and the query built from them.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use svc_auth::Caller;
use svc_model::{PostId, PostType, Taxonomy, TermId, UserId};
use svc_resource::{Params, Typed};
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, boolean, integer, object, string, types},
};
use svc_site::{
    Access, Settings, Site, SiteResult,
    languages::{Languages, Translated},
    posts::formats::{FORMATS, format_clauses, sticky_include},
};
use svc_store::{
    Db, Order,
    posts::{Clauses, MetaClause, PostOrderBy, PostQuery, Relation, SearchColumn, TaxClause, TaxOperator},
};
use svc_text::sanitize_title_with_dashes;

use super::meta_filter;
use crate::{
    errors,
    item_languages::{LANG, lang_param},
};

/// Maximum number of items per page.
const MAX_PER_PAGE: i64 = 100;

/// The parameters of a list request.
#[derive(Clone, Debug, Default)]
pub(crate) struct PostList {
    pub(crate) page: u64,
    pub(crate) per_page: u64,
    offset: Option<u64>,
    pub(crate) query: PostQuery,
    order: Option<Order>,
    orderby: String,
    dates: [Option<String>; 4],
    exact: bool,
    pub(crate) status: Vec<String>,
    terms: IndexMap<String, TermFilters>,
    without_terms: IndexMap<String, TermFilters>,
    tax_or: bool,
    sticky: Option<bool>,
    ignore_sticky: bool,
    formats: Vec<String>,
    meta: Vec<MetaClause>,
    languages: Vec<String>,
}

/// The terms of a parameter: a list of ids, or an object with more options.
#[derive(Clone, Debug, Default)]
struct TermFilters {
    ids: Vec<TermId>,
    include_children: bool,
    all: bool,
}

impl From<Value> for TermFilters {
    fn from(value: Value) -> Self {
        let ids = |v: &Value| v.as_array().into_iter().flatten().filter_map(Value::as_i64).map(TermId).collect();
        match &value {
            Value::Object(map) => TermFilters {
                ids: map.get("terms").map(ids).unwrap_or_default(),
                include_children: map.get("include_children").and_then(Value::as_bool).unwrap_or(false),
                all: map.get("operator").is_some_and(|o| o == "AND"),
            },
            list => TermFilters { ids: ids(list), ..TermFilters::default() },
        }
    }
}

fn ids() -> SchemaBuilder {
    array(integer()).default(json!([]))
}

/// Converts ids of a list. As in WordPress, signs are ignored.
fn unsigned<Id>(ids: Vec<i64>, id: fn(i64) -> Id) -> Vec<Id> {
    ids.into_iter().map(|n| id(n.saturating_abs())).collect()
}

fn date() -> SchemaBuilder {
    string().format("date-time")
}

/// The first parameter of the list that depends on the authors of posts.
pub(super) fn param_about_users(list: &Typed<PostList>) -> Option<&'static str> {
    let values = list.values();
    let rows = [
        ("author", !values.query.author_in.is_empty() || list.has_mismatch("author")),
        ("author_exclude", !values.query.author_not_in.is_empty() || list.has_mismatch("author_exclude")),
        ("orderby", values.orderby == "author"),
    ];
    rows.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
}

/// The parameters of this type's list.
#[rustfmt::skip]
pub(crate) fn params(site: &Site, post_type: &PostType) -> Params<PostList> {
    let mut p = Params::<PostList>::new(&post_type.name);
    p.add("context", crate::args::context_param());
    p.add("page", integer().describe("Page number.").default(1).minimum(1)).set(|l, n| l.page = n);
    p.add("per_page", page_size(10)).set(|l, n| l.per_page = n);
    p.add("search", string().describe("Only return posts that match this search text.")).sanitize_with(crate::args::one_line).set(|l, s| l.query.search = Some(s));
    p.add("after", date().describe("Only return posts published after this date.")).set(|l, s| l.dates[0] = Some(s));
    p.add("modified_after", date().describe("Only return posts changed after this date.")).set(|l, s| l.dates[2] = Some(s));
    if post_type.supports("author") {
        p.add("author", ids().describe("Only return posts by these author IDs.")).set(|l, v| l.query.author_in = unsigned(v, UserId));
        p.add("author_exclude", ids().describe("Exclude posts by these author IDs.")).set(|l, v| l.query.author_not_in = unsigned(v, UserId));
    }
    p.add("before", date().describe("Only return posts published before this date.")).set(|l, s| l.dates[1] = Some(s));
    p.add("modified_before", date().describe("Only return posts changed before this date.")).set(|l, s| l.dates[3] = Some(s));
    p.add("exclude", ids().describe("Exclude posts with these IDs.")).set(|l, v| l.query.exclude = unsigned(v, PostId));
    p.add("include", ids().describe("Only return posts with these IDs.")).set(|l, v| l.query.include = unsigned(v, PostId));
    let is_menu_item = post_type.name == svc_site::menus::item::ITEM;
    if has_order(post_type) && !is_menu_item {
        menu_order(&mut p);
    }
    p.add("search_semantics", string().describe("Search mode.").one_of(["exact"])).set(|l, _: String| l.exact = true);
    p.add("offset", integer().describe("Number of items to skip.")).set(|l, n: i64| l.offset = Some(n.unsigned_abs()));
    p.add("order", direction("desc")).set(|l, o: String| l.order = Some(if o == "asc" { Order::Asc } else { Order::Desc }));
    let queryable = meta_filter::fields(site, post_type);
    let by_meta = meta_filter::orders(&queryable);
    let orders: Vec<&str> = orders(post_type).into_iter().chain(by_meta.iter().map(String::as_str)).collect();
    p.add("orderby", order_param("date", &orders)).set(|l, o| l.orderby = o);
    if post_type.hierarchical || post_type.name == "attachment" {
        p.add("parent", ids().describe("Only return posts with these parent IDs.")).set(|l, v| l.query.parent_in = unsigned(v, PostId));
        p.add("parent_exclude", ids().describe("Exclude posts with these parent IDs.")).set(|l, v| l.query.parent_not_in = unsigned(v, PostId));
    }
    p.add("search_columns", array(string().one_of(["post_title", "post_content", "post_excerpt"]).first(&["enum"])).default(json!([])).describe("Columns to search.").first(&["default"]))
        .set(|l, v: Vec<String>| l.query.search_columns = v.iter().filter_map(|c| column(c)).collect());
    p.add("slug", array(string()).describe("Only return posts with these slugs."))
        .set(|l, v: Vec<String>| l.query.slugs = v.iter().map(|s| sanitize_title_with_dashes(s, false)).collect());
    p.add("status", array(string().one_of(statuses(site)).first(&["enum"])).default("publish").describe("Only return posts with these statuses.").first(&["default"]))
        .set(|l, v| l.status = v);
    let taxonomies: Vec<&Taxonomy> = site.registries.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest).collect();
    if !taxonomies.is_empty() {
        p.add("tax_relation", string().describe("Logical operator for conditions on several taxonomies.").one_of(["AND", "OR"])).set(|l, r: String| l.tax_or = r == "OR");
    }
    for taxonomy in taxonomies {
        let (name, base) = (taxonomy.name.clone(), &taxonomy.rest_base);
        let excluded = name.clone();
        p.add(base, terms_param(taxonomy, true)).set(move |l, v: Value| { l.terms.insert(name.clone(), v.into()); });
        p.add(&format!("{base}_exclude"), terms_param(taxonomy, false)).set(move |l, v: Value| { l.without_terms.insert(excluded.clone(), v.into()); });
    }
    if post_type.name == "post" {
        p.add("sticky", boolean().describe("Only return posts that are sticky, or posts that are not.")).set(|l, b| l.sticky = Some(b));
        p.add("ignore_sticky", boolean().describe("Whether sticky posts keep their position in the order instead of moving to the top.").default(true)).set(|l, b| l.ignore_sticky = b);
    }
    if post_type.supports("post-formats") {
        p.add("format", array(string().one_of(FORMATS).first(&["enum"])).unique_items().describe("Only return posts with these formats.").last(&["items"])).set(|l, v| l.formats = v);
    }
    if is_menu_item {
        menu_order(&mut p);
    }
    if !queryable.is_empty() {
        p.add(meta_filter::PARAM, meta_filter::param(&queryable)).unlisted().set(move |l, v: Map<String, Value>| l.meta = meta_filter::clauses(&queryable, &v));
    }
    crate::cursor::add_params(&mut p);
    p
}

/// Adds the parameter of a type whose posts have languages.
pub(super) fn add_languages(p: &mut Params<PostList>, languages: &Languages) {
    p.add(LANG, lang_param(languages)).set(|l, v| l.languages = v);
}

/// The parameter `menu_order`. Its sign is ignored.
fn menu_order(p: &mut Params<PostList>) {
    p.add("menu_order", integer().describe("Only return posts with this sort position."))
        .set(|l, n: i64| l.query.menu_order = Some(n.saturating_abs()));
}

/// Sets the default page size and order; `orders` are the values of `orderby`.
pub(crate) fn ordered(
    mut p: Params<PostList>,
    per_page: i64,
    order: &str,
    orderby: &str,
    orders: &[&str],
) -> Params<PostList> {
    p.set_schema("per_page", page_size(per_page));
    p.set_schema("order", direction(order));
    p.set_schema("orderby", order_param(orderby, orders));
    p
}

fn page_size(default: i64) -> SchemaBuilder {
    integer().describe("Number of items per page.").default(default).range(1..=MAX_PER_PAGE)
}

fn direction(default: &str) -> SchemaBuilder {
    string().describe("Sort direction.").default(default).one_of(["asc", "desc"])
}

fn order_param(default: &str, orders: &[&str]) -> SchemaBuilder {
    string().describe("Sort key.").default(default).one_of(orders.iter().copied())
}

/// Whether posts of the type have a sort position.
fn has_order(post_type: &PostType) -> bool {
    post_type.supports("page-attributes") || post_type.name == svc_site::menus::item::ITEM
}

pub(crate) fn orders(post_type: &PostType) -> Vec<&'static str> {
    let mut orders =
        vec!["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "include_slugs", "title"];
    if has_order(post_type) {
        orders.push("menu_order");
    }
    orders
}

pub(crate) fn statuses(site: &Site) -> Vec<String> {
    site.registries.statuses.iter().map(|s| s.name.clone()).chain(["any".to_owned()]).collect()
}

fn column(name: &str) -> Option<SearchColumn> {
    match name {
        "post_title" => Some(SearchColumn::Title),
        "post_content" => Some(SearchColumn::Content),
        "post_excerpt" => Some(SearchColumn::Excerpt),
        _ => None,
    }
}

/// A list of term ids, or an object with more options. The titles are part of error messages.
fn terms_param(taxonomy: &Taxonomy, including: bool) -> SchemaBuilder {
    let list = array(integer()).title("Term ID List").describe("Term IDs.");
    let mut properties = vec![("terms", ids().describe("Term IDs."))];
    if taxonomy.hierarchical {
        properties.push((
            "include_children",
            boolean().describe("Whether to include posts with descendants of these terms.").default(false),
        ));
    }
    if including {
        let operator = string()
            .describe("Whether posts must have all of the terms (AND) or any of them (OR).")
            .one_of(["AND", "OR"]);
        properties.push(("operator", operator.default("OR")));
    }
    let map = object(properties).title("Term ID Taxonomy Query").describe("Term query with options.");
    let verb = if including { "Only return" } else { "Exclude" };
    types(["object", "array"])
        .describe(&format!("{verb} posts with these terms of the {} taxonomy.", taxonomy.name))
        .keyword("oneOf", json!([Value::from(list), Value::from(map.additional_properties(false))]))
}

/// The condition on the languages of posts; `None` for all languages.
fn language_clause(settings: &Settings, wanted: &[String]) -> Option<TaxClause> {
    let languages = settings.languages.as_ref().filter(|_| !wanted.is_empty())?;
    let terms = wanted.iter().filter_map(|slug| languages.get(slug)).map(|language| language.of_posts.id).collect();
    let taxonomy = Translated::Posts.languages().to_owned();
    Some(TaxClause { taxonomy, terms, operator: TaxOperator::In, include_children: false })
}

impl PostList {
    /// The query for one page of the list.
    ///
    /// # Errors
    /// 400 if `orderby` requires a parameter that is missing; errors of the store.
    pub(crate) fn into_query(
        self,
        db: &mut Db,
        site: &Site,
        settings: &Settings,
        post_type: &PostType,
        caller: &Caller,
    ) -> SiteResult<PostQuery> {
        let by_meta = meta_filter::order_by(&meta_filter::fields(site, post_type), &self.orderby);
        let mut order_by = by_meta.map_or_else(|| self.order_by(), Ok)?;
        let (statuses, own_statuses) = self.statuses(site, settings, post_type, caller);
        let mut q = self.query;
        q.meta.clauses = self.meta;
        q.post_types = vec![post_type.name.clone()];
        let has_search = q.search.as_ref().is_some_and(|text| !text.is_empty());
        q.search = q.search.as_deref().and_then(crate::args::search_text);
        if q.search.is_none() && order_by == PostOrderBy::Relevance {
            order_by = PostOrderBy::Date;
        }
        q.order_by = vec![(order_by, self.order.unwrap_or(Order::Desc))];
        q.limit = Some(self.per_page);
        q.offset = self.offset.unwrap_or_else(|| (self.page - 1).saturating_mul(self.per_page)).min(i64::MAX as u64);
        q.total = true;
        q.search_exact = self.exact;
        q.search_file_names = post_type.name == "attachment";
        // A search must not reveal protected content.
        q.without_password = has_search && !caller.is_logged_in();
        let local = |text: &Option<String>| text.as_ref().and_then(|t| settings.zone.parse_local(t));
        [q.after, q.before, q.modified_after, q.modified_before] = [0, 1, 2, 3].map(|i| local(&self.dates[i]));
        q.statuses = statuses;
        q.own_statuses = own_statuses;

        let clause = |taxonomy: &String, terms: &TermFilters, operator| TaxClause {
            taxonomy: taxonomy.clone(),
            terms: terms.ids.clone(),
            operator,
            include_children: terms.include_children,
        };
        let included = self
            .terms
            .iter()
            .filter(|(_, t)| !t.ids.is_empty())
            .map(|(name, t)| clause(name, t, if t.all { TaxOperator::And } else { TaxOperator::In }));
        let excluded = self
            .without_terms
            .iter()
            .filter(|(_, t)| !t.ids.is_empty())
            .map(|(name, t)| clause(name, t, TaxOperator::NotIn));
        q.tax.clauses = included.chain(excluded).collect();
        q.tax.relation = if self.tax_or { Relation::Or } else { Relation::And };
        if !self.formats.is_empty() {
            q.extra_tax.push(format_clauses(db, &self.formats)?);
        }
        if let Some(clause) = language_clause(settings, &self.languages) {
            match q.tax.relation {
                Relation::And => q.tax.clauses.push(clause),
                Relation::Or => q.extra_tax.push(Clauses { clauses: vec![clause], ..Clauses::default() }),
            }
        }
        match self.sticky {
            Some(true) => q.include = sticky_include(&settings.sticky_list, &q.include),
            // `include` takes precedence over `exclude`, and so over `sticky=false`.
            Some(false) => q.exclude.extend(&settings.sticky_list),
            None => {}
        }
        if meta_filter::is_used(&q) {
            meta_filter::only_readable(&mut q, db, site, settings, post_type, caller)?;
        }
        Ok(q)
    }

    /// Whether the request has an `offset`, which replaces the page number.
    pub(crate) fn has_offset(&self) -> bool {
        self.offset.is_some()
    }

    /// Whether sticky posts move to the top of this page: page 1 of a list without search, `include`, terms,
    /// formats and meta.
    pub(crate) fn prepends_sticky(&self) -> bool {
        let q = &self.query;
        let by_meta = !self.meta.is_empty() || meta_filter::is_order(&self.orderby);
        let is_archive = by_meta || self.terms.values().any(|t| !t.ids.is_empty()) || !self.formats.is_empty();
        let is_home = q.search.as_deref().unwrap_or_default().is_empty() && q.include.is_empty() && !is_archive;
        !self.ignore_sticky && self.page == 1 && self.sticky.is_none() && is_home
    }

    /// The requested statuses, and the statuses in which only the caller's own posts are listed. `any` is every status
    /// except `trash` and `auto-draft`. As in WordPress, posts that the caller may not read are counted and then
    /// omitted.
    fn statuses(
        &self,
        site: &Site,
        settings: &Settings,
        post_type: &PostType,
        caller: &Caller,
    ) -> (Vec<String>, Option<(UserId, Vec<String>)>) {
        if self.status.is_empty() {
            return default_statuses(site, settings, post_type, caller);
        }
        let statuses = if self.status.iter().any(|s| s == "any") {
            let found = site.registries.statuses.iter().filter(|s| s.name != "trash" && s.name != "auto-draft");
            found.map(|s| s.name.clone()).collect()
        } else {
            self.status.clone()
        };
        (statuses, None)
    }

    fn order_by(&self) -> Result<PostOrderBy, Error> {
        Ok(match self.orderby.as_str() {
            "author" => PostOrderBy::Author,
            "id" => PostOrderBy::Id,
            "include" if self.query.include.is_empty() => return Err(errors::missing_include()),
            "include" => PostOrderBy::Include,
            "modified" => PostOrderBy::Modified,
            "parent" => PostOrderBy::Parent,
            "relevance" if self.query.search.as_deref().unwrap_or_default().is_empty() => {
                return Err(errors::no_search_term());
            }
            "relevance" => PostOrderBy::Relevance,
            "slug" => PostOrderBy::Slug,
            "include_slugs" => PostOrderBy::IncludeSlugs,
            "title" => PostOrderBy::Title,
            "menu_order" => PostOrderBy::MenuOrder,
            _ => PostOrderBy::Date,
        })
    }
}

/// The statuses of a list without `status`: published posts, and private posts that the caller may read.
fn default_statuses(
    site: &Site,
    settings: &Settings,
    post_type: &PostType,
    caller: &Caller,
) -> (Vec<String>, Option<(UserId, Vec<String>)>) {
    let mut open = vec!["publish".to_owned()];
    if post_type.name == "attachment" {
        open.push("inherit".to_owned());
    }
    if !caller.is_logged_in() {
        return (open, None);
    }
    let private = vec!["private".to_owned()];
    if Access::new(site, settings).can(caller, &post_type.caps.read_private_posts) {
        open.extend(private);
        return (open, None);
    }
    (open, Some((caller.id, private)))
}
