//! Parameters of a list of posts, each named once, and the query that they make.

use indexmap::IndexMap;
use serde_json::{Value, json};
use svc_auth::Caller;
use svc_model::{PostId, PostType, Taxonomy, TermId, UserId};
use svc_resource::Params;
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, boolean, integer, object, string, types},
};
use svc_site::{
    Access, Settings, SiteResult,
    posts::formats::{FORMATS, of_formats, only_sticky},
};
use svc_store::{
    Db, Order,
    posts::{PostOrderBy, PostQuery, Relation, SearchColumn, TaxClause, TaxOperator},
};

use crate::{RestSite, errors};

/// Largest number of items on a page.
const MAX_PER_PAGE: i64 = 100;

/// The parameters of a list as a request gives them, before they are understood.
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
    terms: IndexMap<String, Terms>,
    without_terms: IndexMap<String, Terms>,
    tax_or: bool,
    sticky: Option<bool>,
    ignore_sticky: bool,
    formats: Vec<String>,
}

/// The terms that a parameter names: a list of ids, or a map that says more.
#[derive(Clone, Debug, Default)]
struct Terms {
    ids: Vec<TermId>,
    include_children: bool,
    all: bool,
}

impl From<Value> for Terms {
    fn from(value: Value) -> Self {
        let ids = |v: &Value| v.as_array().into_iter().flatten().filter_map(Value::as_i64).map(TermId).collect();
        match &value {
            Value::Object(map) => Terms {
                ids: map.get("terms").map(ids).unwrap_or_default(),
                include_children: map.get("include_children").and_then(Value::as_bool).unwrap_or(false),
                all: map.get("operator").is_some_and(|o| o == "AND"),
            },
            list => Terms { ids: ids(list), ..Terms::default() },
        }
    }
}

fn ids() -> SchemaBuilder {
    array(integer()).default(json!([]))
}

/// Numbers of a list, without their signs: so the reference reads them.
fn unsigned<Id>(numbers: Vec<i64>, id: fn(i64) -> Id) -> Vec<Id> {
    numbers.into_iter().map(|number| id(number.saturating_abs())).collect()
}

fn date() -> SchemaBuilder {
    string().format("date-time")
}

/// The parameters of this type's list.
#[rustfmt::skip]
pub(crate) fn params(site: &RestSite, kind: &PostType) -> Params<PostList> {
    let mut p = Params::<PostList>::new(&kind.name);
    p.add("context", crate::args::context_param());
    p.add("page", integer().describe("Page of the list.").default(1).minimum(1)).set(|l, n| l.page = n);
    p.add("per_page", page_size(10)).set(|l, n| l.per_page = n);
    p.add("search", string().describe("Only posts that match this text.")).sanitize_with(crate::args::one_line).set(|l, s| l.query.search = Some(s));
    p.add("after", date().describe("Only posts published after this moment.")).set(|l, s| l.dates[0] = Some(s));
    p.add("modified_after", date().describe("Only posts changed after this moment.")).set(|l, s| l.dates[2] = Some(s));
    if kind.supports("author") {
        p.add("author", ids().describe("Only posts of these authors.")).set(|l, v| l.query.author_in = unsigned(v, UserId));
        p.add("author_exclude", ids().describe("No posts of these authors.")).set(|l, v| l.query.author_not_in = unsigned(v, UserId));
    }
    p.add("before", date().describe("Only posts published before this moment.")).set(|l, s| l.dates[1] = Some(s));
    p.add("modified_before", date().describe("Only posts changed before this moment.")).set(|l, s| l.dates[3] = Some(s));
    p.add("exclude", ids().describe("No posts with these numbers.")).set(|l, v| l.query.exclude = unsigned(v, PostId));
    p.add("include", ids().describe("Only posts with these numbers.")).set(|l, v| l.query.include = unsigned(v, PostId));
    let is_menu_item = kind.name == svc_site::menus::item::ITEM;
    if has_order(kind) && !is_menu_item {
        menu_order(&mut p);
    }
    p.add("search_semantics", string().describe("How the search text is understood.").one_of(["exact"])).set(|l, _: String| l.exact = true);
    p.add("offset", integer().describe("Leave out this many items at the beginning.")).set(|l, n: i64| l.offset = Some(n.unsigned_abs()));
    p.add("order", direction("desc")).set(|l, o: String| l.order = Some(if o == "asc" { Order::Asc } else { Order::Desc }));
    p.add("orderby", order_param("date", &orders(kind))).set(|l, o| l.orderby = o);
    if kind.hierarchical || kind.name == "attachment" {
        p.add("parent", ids().describe("Only posts below these.")).set(|l, v| l.query.parent_in = unsigned(v, PostId));
        p.add("parent_exclude", ids().describe("No posts below these.")).set(|l, v| l.query.parent_not_in = unsigned(v, PostId));
    }
    p.add("search_columns", array(string().one_of(["post_title", "post_content", "post_excerpt"])).default(json!([])).describe("Columns that the search looks into."))
        .set(|l, v: Vec<String>| l.query.search_columns = v.iter().filter_map(|c| column(c)).collect());
    p.add("slug", array(string()).describe("Only posts with these slugs."))
        .set(|l, v: Vec<String>| l.query.slugs = v.iter().map(|s| svc_text::sanitize_title(s)).collect());
    p.add("status", array(string().one_of(statuses(site))).default("publish").describe("Only posts with these statuses."))
        .set(|l, v| l.status = v);
    let taxonomies: Vec<&Taxonomy> = site.taxonomies.of_type(&kind.name).filter(|t| t.show_in_rest).collect();
    if !taxonomies.is_empty() {
        p.add("tax_relation", string().describe("How conditions on several taxonomies are joined.").one_of(["AND", "OR"])).set(|l, r: String| l.tax_or = r == "OR");
    }
    for taxonomy in taxonomies {
        let (name, base) = (taxonomy.name.clone(), &taxonomy.rest_base);
        let apart = name.clone();
        p.add(base, terms_param(taxonomy, true)).set(move |l, v: Value| { l.terms.insert(name.clone(), v.into()); });
        p.add(&format!("{base}_exclude"), terms_param(taxonomy, false)).set(move |l, v: Value| { l.without_terms.insert(apart.clone(), v.into()); });
    }
    if kind.name == "post" {
        p.add("sticky", boolean().describe("Only posts that are, or are not, sticky.")).set(|l, b| l.sticky = Some(b));
        p.add("ignore_sticky", boolean().describe("Whether sticky posts stay in their place.").default(true)).set(|l, b| l.ignore_sticky = b);
    }
    if kind.supports("post-formats") {
        p.add("format", array(string().one_of(FORMATS)).unique_items().describe("Only posts of these formats.")).set(|l, v| l.formats = v);
    }
    if is_menu_item {
        menu_order(&mut p);
    }
    p
}

/// The parameter `menu_order`; a sign before the number does not count.
fn menu_order(p: &mut Params<PostList>) {
    p.add("menu_order", integer().describe("Only posts with this sort position."))
        .set(|l, n: i64| l.query.menu_order = Some(n.saturating_abs()));
}

/// The parameters with another size of page and another order by default; `orderby` is one of `orders`.
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
    integer().describe("Items on a page.").default(default).range(1..=MAX_PER_PAGE)
}

fn direction(default: &str) -> SchemaBuilder {
    string().describe("Direction of the order.").default(default).one_of(["asc", "desc"])
}

fn order_param(default: &str, orders: &[&str]) -> SchemaBuilder {
    string().describe("What the list is ordered by.").default(default).one_of(orders.iter().copied())
}

/// Whether posts of the type have a place among others.
fn has_order(kind: &PostType) -> bool {
    kind.supports("page-attributes") || kind.name == svc_site::menus::item::ITEM
}

pub(crate) fn orders(kind: &PostType) -> Vec<&'static str> {
    let mut orders =
        vec!["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "include_slugs", "title"];
    if has_order(kind) {
        orders.push("menu_order");
    }
    orders
}

pub(crate) fn statuses(site: &RestSite) -> Vec<String> {
    site.statuses.iter().map(|s| s.name.clone()).chain(["any".to_owned()]).collect()
}

fn column(name: &str) -> Option<SearchColumn> {
    match name {
        "post_title" => Some(SearchColumn::Title),
        "post_content" => Some(SearchColumn::Content),
        "post_excerpt" => Some(SearchColumn::Excerpt),
        _ => None,
    }
}

/// A list of term ids, or a map with more to say. The titles are part of error messages.
fn terms_param(taxonomy: &Taxonomy, including: bool) -> SchemaBuilder {
    let list = array(integer()).title("Term ID List").describe("Numbers of terms.");
    let mut members = vec![("terms", ids().describe("Numbers of terms."))];
    if taxonomy.hierarchical {
        members.push(("include_children", boolean().describe("Whether terms below these count too.").default(false)));
    }
    if including {
        let operator = string().describe("Whether one or all of the terms are needed.").one_of(["AND", "OR"]);
        members.push(("operator", operator.default("OR")));
    }
    let map = object(members).title("Term ID Taxonomy Query").describe("A closer description of the terms.");
    let verb = if including { "Only" } else { "No" };
    types(["object", "array"])
        .describe(&format!("{verb} posts with these terms of the taxonomy {}.", taxonomy.name))
        .keyword("oneOf", json!([Value::from(list), Value::from(map.additional_properties(false))]))
}

impl PostList {
    /// The query for one page of the list.
    ///
    /// # Errors
    /// What the order lacks; those of the store.
    pub(crate) fn into_query(
        self,
        db: &mut Db,
        site: &RestSite,
        settings: &Settings,
        kind: &PostType,
        caller: &Caller,
    ) -> SiteResult<PostQuery> {
        let order_by = self.order_by()?;
        let (statuses, own_statuses) = self.statuses(site, settings, kind, caller);
        let mut q = self.query;
        q.post_types = vec![kind.name.clone()];
        q.order_by = vec![(order_by, self.order.unwrap_or(Order::Desc))];
        q.limit = Some(self.per_page);
        q.offset = self.offset.unwrap_or_else(|| (self.page - 1).saturating_mul(self.per_page)).min(i64::MAX as u64);
        q.total = true;
        q.search = q.search.filter(|text| !text.is_empty());
        q.search_exact = self.exact;
        q.search_file_names = kind.name == "attachment";
        // A search must not tell what a password guards.
        q.without_password = q.search.is_some() && !caller.is_logged_in();
        let local = |text: &Option<String>| text.as_ref().and_then(|t| settings.zone.moment(t));
        [q.after, q.before, q.modified_after, q.modified_before] = [0, 1, 2, 3].map(|i| local(&self.dates[i]));
        q.statuses = statuses;
        q.own_statuses = own_statuses;

        let clause = |taxonomy: &String, terms: &Terms, operator| TaxClause {
            taxonomy: taxonomy.clone(),
            terms: terms.ids.clone(),
            operator,
            include_children: terms.include_children,
        };
        let wanted = self
            .terms
            .iter()
            .filter(|(_, t)| !t.ids.is_empty())
            .map(|(name, t)| clause(name, t, if t.all { TaxOperator::And } else { TaxOperator::In }));
        let unwanted = self
            .without_terms
            .iter()
            .filter(|(_, t)| !t.ids.is_empty())
            .map(|(name, t)| clause(name, t, TaxOperator::NotIn));
        q.tax.clauses = wanted.chain(unwanted).collect();
        q.tax.relation = if self.tax_or { Relation::Or } else { Relation::And };
        if !self.formats.is_empty() {
            q.extra_tax = of_formats(db, &self.formats)?;
        }
        match self.sticky {
            Some(true) => q.include = only_sticky(&settings.sticky_list, &q.include),
            // `include` takes precedence over `exclude`, and so over this.
            Some(false) => q.exclude.extend(&settings.sticky_list),
            None => {}
        }
        Ok(q)
    }

    /// Whether the page begins where the request says, and not where its number does.
    pub(crate) fn skips(&self) -> bool {
        self.offset.is_some()
    }

    /// Whether sticky posts go on top of this page: the first one, of a list that is no search and no archive of terms.
    pub(crate) fn prepends_sticky(&self) -> bool {
        let q = &self.query;
        let is_archive = self.terms.values().any(|t| !t.ids.is_empty()) || !self.formats.is_empty();
        let is_home = q.search.as_deref().unwrap_or_default().is_empty() && q.include.is_empty() && !is_archive;
        !self.ignore_sticky && self.page == 1 && self.sticky.is_none() && is_home
    }

    /// The statuses asked for, and those that only the caller's own posts may have. `any` is all but those that no search
    /// finds. Posts that the caller may not read are counted and then left out, as the peer does.
    fn statuses(
        &self,
        site: &RestSite,
        settings: &Settings,
        kind: &PostType,
        caller: &Caller,
    ) -> (Vec<String>, Option<(UserId, Vec<String>)>) {
        if self.status.is_empty() {
            return unasked_statuses(site, settings, kind, caller);
        }
        let asked = if self.status.iter().any(|s| s == "any") {
            let found = site.statuses.iter().filter(|s| s.name != "trash" && s.name != "auto-draft");
            found.map(|s| s.name.clone()).collect()
        } else {
            self.status.clone()
        };
        (asked, None)
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

/// The statuses of a list that asks for none: what is published, and the private posts that the caller may read.
fn unasked_statuses(
    site: &RestSite,
    settings: &Settings,
    kind: &PostType,
    caller: &Caller,
) -> (Vec<String>, Option<(UserId, Vec<String>)>) {
    let mut open = vec!["publish".to_owned()];
    if kind.name == "attachment" {
        open.push("inherit".to_owned());
    }
    if !caller.is_logged_in() {
        return (open, None);
    }
    let private = vec!["private".to_owned()];
    if Access::new(site, settings).can(caller, &kind.caps.read_private_posts) {
        open.extend(private);
        return (open, None);
    }
    (open, Some((caller.id, private)))
}
