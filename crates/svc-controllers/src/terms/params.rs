//! Parameters of a list of terms, and the query built from them.

use serde_json::{Value, json};
use svc_model::{PostId, Taxonomy, TermId};
use svc_php::cast::{to_int, truthy};
use svc_resource::Params;
use svc_schema::build::{array, boolean, integer, string};
use svc_site::{Site, SiteResult, languages::Languages};
use svc_store::{
    Db, Order, Page, term_tree,
    terms::{self, TermOrderBy, TermQuery},
};

use crate::{
    args::{context_param, one_line},
    cursor::ListPage,
    item_languages::{LANG, lang_param},
};

/// Maximum number of items per page.
const MAX_PER_PAGE: i64 = 100;

/// The parameters of a list request.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermList {
    pub(super) page: u64,
    pub(super) per_page: u64,
    offset: i64,
    query: TermQuery,
    orderby: String,
    languages: Vec<String>,
}

fn ids(ids: Vec<i64>) -> Vec<TermId> {
    ids.into_iter().map(|id| TermId(id.saturating_abs())).collect()
}

/// The parameters of this taxonomy's list.
#[rustfmt::skip]
pub(super) fn params(taxonomy: &Taxonomy) -> Params<TermList> {
    let mut p = Params::<TermList>::new(&taxonomy.name);
    p.add("context", context_param());
    p.add("page", integer().describe("Page number.").default(1).minimum(1)).set(|l, n| l.page = n);
    p.add("per_page", integer().describe("Number of items per page.").default(10).range(1..=MAX_PER_PAGE)).set(|l, n| l.per_page = n);
    p.add("search", string().describe("Only return terms whose name or slug contains this text."))
        .sanitize_with(one_line)
        // `0` is empty in PHP.
        .set(|l, s: String| l.query.search = Some(svc_text::trim(&s).to_owned()).filter(|s| !s.is_empty() && s != "0"));
    p.add("exclude", array(integer()).describe("Exclude terms with these IDs.").default(json!([]))).set(|l, v| l.query.exclude = ids(v));
    p.add("include", array(integer()).describe("Only return terms with these IDs.").default(json!([]))).set(|l, v| l.query.include = ids(v));
    if !taxonomy.hierarchical {
        p.add("offset", integer().describe("Number of items to skip.")).set(|l, n| l.offset = n);
    }
    p.add("order", string().describe("Sort direction.").default("asc").one_of(["asc", "desc"]))
        .set(|l, o: String| l.query.order = if o == "asc" { Order::Asc } else { Order::Desc });
    p.add("orderby", string().describe("Sort key.").default("name").one_of(ORDERS)).set(|l, o| l.orderby = o);
    p.add("hide_empty", boolean().describe("Whether to exclude terms without posts.").default(false)).set(|l, b| l.query.hide_empty = b);
    if taxonomy.hierarchical {
        p.add("parent", integer().describe("Only return direct children of this term ID.")).set(|l, id: i64| l.query.parent = Some(TermId(id)));
    }
    p.add("post", integer().describe("Only return terms of this post ID.").default(Value::Null))
        .set(|l, id: Value| l.query.posts = truthy(&id).then(|| PostId(to_int(&id))).into_iter().collect());
    p.add("slug", array(string()).describe("Only return terms with these slugs."))
        .set(|l, v: Vec<String>| l.query.slugs = v.iter().map(|s| svc_text::sanitize_title(s)).collect());
    crate::cursor::add_params(&mut p);
    p
}

/// Adds the parameter of a taxonomy whose terms have languages.
pub(super) fn add_languages(p: &mut Params<TermList>, languages: &Languages) {
    p.add(LANG, lang_param(languages)).set(|l, v| l.languages = v);
}

const ORDERS: [&str; 8] = ["id", "include", "name", "slug", "include_slugs", "term_group", "description", "count"];

impl TermList {
    /// The post whose terms are requested.
    pub(super) fn post(&self) -> Option<PostId> {
        self.query.posts.first().copied()
    }

    /// Number of terms to skip. An offset other than zero takes precedence over the page.
    fn skipped(&self) -> u64 {
        match self.offset {
            0 => self.page.saturating_sub(1).saturating_mul(self.per_page),
            offset => offset.unsigned_abs(),
        }
        .min(i64::MAX as u64)
    }

    /// The page from which the links to the previous and next page are computed. An offset counts as the page in which
    /// it begins, or the one after it.
    pub(super) fn effective_page(&self) -> u64 {
        match self.offset {
            0 => self.page,
            offset => u64::try_from(offset).unwrap_or(0).div_ceil(self.per_page.max(1)) + 1,
        }
    }

    /// The query for one page of the list.
    fn query(self, taxonomy: &Taxonomy) -> TermQuery {
        let (limit, offset) = (Some(self.per_page), self.skipped());
        let mut q = self.query.taxonomies(vec![taxonomy.name.clone()]).limit(limit).offset(offset).total(true);
        q.order_by = match self.orderby.as_str() {
            "id" => TermOrderBy::Id,
            "include" if !q.include.is_empty() => TermOrderBy::Include,
            "slug" => TermOrderBy::Slug,
            "include_slugs" if !q.slugs.is_empty() => TermOrderBy::IncludeSlugs,
            "term_group" => TermOrderBy::Group,
            "description" => TermOrderBy::Description,
            "count" => TermOrderBy::Count,
            // Without the list that they refer to, these orders are by name.
            _ => TermOrderBy::Name,
        };
        if !q.include.is_empty() {
            q.exclude.clear();
        }
        q
    }

    /// The ids of one page, and the total.
    ///
    /// As in WordPress, `hide_empty` in a hierarchical taxonomy lists empty terms whose descendants have posts, but
    /// does not count them in the total.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn find(
        self,
        db: &mut Db,
        site: &Site,
        taxonomy: &Taxonomy,
        requested: &ListPage,
    ) -> SiteResult<Page<TermId>> {
        let settings = site.settings_in(db)?;
        let languages = settings.languages.as_ref().filter(|_| !self.languages.is_empty()).map(|languages| {
            let wanted = self.languages.iter().filter_map(|slug| languages.get(slug)?.of_terms);
            wanted.map(|term| term.taxonomy_id).collect()
        });
        let mut q = requested.select(self.query(taxonomy)).languages(languages);
        if q.hide_empty && taxonomy.hierarchical {
            q.include_empty = term_tree::empty_with_nonempty_descendants(db, &taxonomy.name)?;
        }
        let mut page = terms::query(db, &q)?;
        if !q.include_empty.is_empty() && q.total {
            let counted = q.include_empty(Vec::new()).limit(Some(1)).offset(0);
            let counted = counted.beyond(None).backwards(false).next(false);
            page.total = terms::query(db, &counted)?.total;
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use svc_routing::Request;

    use super::*;

    fn list(hierarchical: bool, params_json: &Value) -> TermList {
        let mut taxonomy = Taxonomy::new("genre", &["book"]);
        taxonomy.hierarchical = hierarchical;
        let params = params(&taxonomy);
        let mut query = params.query_args().defaults();
        query.extend(params_json.as_object().unwrap().clone());
        params.typed(&Request::get("/list").with_query(query)).accepted().unwrap()
    }

    #[test]
    fn offsets_and_pages() {
        // Parameters; skipped terms, page from which links are computed. Recorded from WordPress's list of tags.
        #[rustfmt::skip]
        let rows = [
            (json!({}), 0, 1),
            (json!({"page": 3, "per_page": 2}), 4, 3),
            (json!({"offset": 0, "page": 2, "per_page": 2}), 2, 2),
            (json!({"offset": 2, "page": 3, "per_page": 2}), 2, 2),
            (json!({"offset": 2}), 2, 2),
            (json!({"offset": -1}), 1, 1),
            (json!({"page": i64::MAX, "per_page": 100}), i64::MAX as u64, i64::MAX as u64),
            (json!({"offset": i64::MIN}), i64::MAX as u64, 1),
        ];
        for (params_json, skipped, effective_page) in rows {
            let list = list(false, &params_json);
            assert_eq!((list.skipped(), list.effective_page()), (skipped, effective_page), "{params_json}");
        }
        assert_eq!(list(true, &json!({"offset": 2})).skipped(), 0, "hierarchical taxonomies have no offset");
    }

    #[test]
    fn orders_without_their_list_sort_by_name() {
        use TermOrderBy as By;
        #[rustfmt::skip]
        let rows = [
            (json!({}), By::Name, 0),
            (json!({"orderby": "include"}), By::Name, 0),
            (json!({"orderby": "include", "include": [3, -2]}), By::Include, 0),
            (json!({"orderby": "include_slugs", "slug": []}), By::Name, 0),
            (json!({"orderby": "include_slugs", "slug": ["b", "a"]}), By::IncludeSlugs, 0),
            (json!({"orderby": "term_group", "exclude": [1]}), By::Group, 1),
            // `include` takes precedence over `exclude`.
            (json!({"orderby": "id", "include": [1], "exclude": [1]}), By::Id, 0),
        ];
        for (params_json, order_by, n_excluded) in rows {
            let q = list(true, &params_json).query(&Taxonomy::new("genre", &[]));
            assert_eq!((q.order_by, q.exclude.len()), (order_by, n_excluded), "{params_json}");
        }
        assert_eq!(list(true, &json!({"include": [i64::MIN, -2]})).query.include, [TermId(i64::MAX), TermId(2)]);
        assert_eq!(list(true, &json!({"search": " \n"})).query.search, None);
        assert_eq!(list(true, &json!({"post": 0})).query.posts, []);
    }
}
