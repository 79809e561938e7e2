//! Parameters of a list of revisions, and the query built from them.

use serde_json::json;
use svc_model::{Post, PostId, PostType};
use svc_resource::{Paging, Params};
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, integer, string},
};
use svc_site::{Site, SiteResult, revisions};
use svc_store::{
    Db, Order,
    posts::{self, PostOrderBy, PostQuery},
};

use crate::{
    args::{context_param, one_line},
    errors,
};

/// The parameters of a list request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RevisionList {
    page: u64,
    /// `None` lists all revisions on one page.
    per_page: Option<u64>,
    offset: i64,
    search: Option<String>,
    include: Vec<PostId>,
    exclude: Vec<PostId>,
    order: Option<Order>,
    orderby: String,
}

/// The parameters of a list of revisions; the same for every type.
#[rustfmt::skip]
pub(crate) fn params() -> Params<RevisionList> {
    const ORDERS: [&str; 7] = ["date", "id", "include", "relevance", "slug", "include_slugs", "title"];
    let ids = || -> SchemaBuilder { array(integer()).default(json!([])) };
    let mut p = Params::<RevisionList>::new("revisions");
    p.add("context", context_param());
    p.add("page", integer().describe("Page number.").default(1).minimum(1)).set(|l, n| l.page = n);
    p.add("per_page", integer().describe("Number of revisions per page.").range(1..=100)).set(|l, n| l.per_page = Some(n));
    p.add("search", string().describe("Only return revisions that match this search text.")).sanitize_with(one_line).set(|l, s| l.search = Some(s));
    p.add("exclude", ids().describe("Exclude revisions with these IDs.")).set(|l, v| l.exclude = v);
    p.add("include", ids().describe("Only return revisions with these IDs.")).set(|l, v| l.include = v);
    p.add("offset", integer().describe("Number of revisions to skip.")).set(|l, n| l.offset = n);
    p.add("order", string().describe("Sort direction.").default("desc").one_of(["asc", "desc"]))
        .set(|l, o: String| l.order = Some(if o == "asc" { Order::Asc } else { Order::Desc }));
    p.add("orderby", string().describe("Sort key.").default("date").one_of(ORDERS)).set(|l, o| l.orderby = o);
    p
}

impl RevisionList {
    /// One page of a post's revisions and autosaves: its paging data, and its rows unless `count_only`. The list is
    /// empty if the site does not store revisions.
    ///
    /// # Errors
    /// 400 if `orderby` requires a parameter that is missing; `rest_revision_invalid_page_number` and
    /// `rest_revision_invalid_offset_number` (400) beyond the end; errors of the store.
    pub(crate) fn run(
        &self,
        db: &mut Db,
        site: &Site,
        post_type: &PostType,
        parent: PostId,
    ) -> SiteResult<(Paging, Vec<Post>)> {
        let query = self.query(parent)?;
        if !revisions::are_enabled_for(site, post_type) {
            return Ok((Paging { total: 0, per_page: self.per_page.unwrap_or(1), page: self.page }, Vec::new()));
        }
        let found = posts::query(db, &query)?;
        let total = found.total.unwrap_or_default();
        let paging = Paging { total, per_page: self.per_page.unwrap_or(total).max(1), page: self.page };
        if self.offset == 0 {
            paging.check("rest_revision_invalid_page_number")?;
        } else if total > 0 && u64::try_from(self.offset).is_ok_and(|offset| offset >= total) {
            return Err(errors::revision_offset_beyond_end().into());
        }
        Ok((paging, posts::get_many(db, &found.ids)?))
    }

    fn query(&self, parent: PostId) -> Result<PostQuery, Error> {
        let search = self.search.clone().filter(|text| !text.is_empty());
        let direction = self.order.unwrap_or(Order::Desc);
        let key = match self.orderby.as_str() {
            "id" => PostOrderBy::Id,
            "include" if self.include.is_empty() => return Err(errors::missing_include()),
            "include" => PostOrderBy::Include,
            "relevance" if search.is_none() => return Err(errors::no_search_term()),
            "relevance" => PostOrderBy::Relevance,
            "slug" => PostOrderBy::Slug,
            "include_slugs" => PostOrderBy::IncludeSlugs,
            "title" => PostOrderBy::Title,
            _ => PostOrderBy::Date,
        };
        let mut order_by = vec![(key, direction)];
        if order_by[0].0 == PostOrderBy::Date {
            // Several revisions may have the same timestamp.
            order_by.push((PostOrderBy::Id, direction));
        }
        Ok(PostQuery::default()
            .post_types(vec!["revision".to_owned()])
            .statuses(vec!["inherit".to_owned()])
            .parent_in(vec![parent])
            .include(self.include.clone())
            .exclude(self.exclude.clone())
            .search(search)
            .order_by(order_by)
            .limit(self.per_page)
            // Without `per_page` there is one page, and `offset` is ignored.
            .offset(match self.per_page {
                None => 0,
                Some(_) if self.offset != 0 => self.offset.unsigned_abs().min(i64::MAX as u64),
                Some(per_page) => (self.page.saturating_sub(1)).saturating_mul(per_page).min(i64::MAX as u64),
            })
            .total(true))
    }
}
