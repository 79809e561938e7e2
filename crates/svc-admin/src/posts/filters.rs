//! What restricts a list of posts beside its status and the words searched for: author, terms, dates, and indexed meta fields.

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};
use svc_schema::Error;

use crate::{
    layout::{TaxonomyInfo, plain},
    list::{Filter, FilterControl},
    request::{AdminRequest, Call, items, text},
    terms::in_tree,
};

/// The most terms that a filter lists.
const MOST_TERMS: &str = "100";

/// The filters of a list of posts, and the parameters of the REST API that they set.
#[derive(Default)]
pub(super) struct PostFilters {
    pub(super) shown: Vec<Filter>,
    /// Those that are shown on demand.
    pub(super) more: Vec<Filter>,
    query: Vec<(String, Value)>,
}

/// The parameter of the page's URL with a term of the taxonomy.
pub(crate) fn term_param(taxonomy: &str) -> String {
    format!("tax_{taxonomy}")
}

/// The parameter of the page's URL with a value of the meta field.
fn meta_param(field: &str) -> String {
    format!("meta_{field}")
}

impl PostFilters {
    /// Restricts a request for the list.
    pub(super) fn restrict<'a>(&self, call: Call<'a>) -> Call<'a> {
        self.query.iter().fold(call, |call, (name, value)| call.value(name, value.clone()))
    }
}

impl AdminRequest<'_> {
    /// The filters of a list of posts with these taxonomies, and with these meta fields that the REST API can filter by.
    pub(super) async fn post_filters(
        &self,
        taxonomies: &[TaxonomyInfo],
        meta: &[String],
    ) -> Result<PostFilters, Error> {
        let mut filters = PostFilters::default();
        for taxonomy in taxonomies {
            let Some(filter) = self.term_filter(taxonomy).await? else { continue };
            let term = self.param(&filter.name);
            if !term.is_empty() {
                filters.query.push((taxonomy.rest_base.clone(), term.into()));
            }
            filters.shown.push(filter);
        }
        // The list is restricted to an author by the links in it.
        if let Some(author) = self.id("author") {
            let name = self.names_of(&[author]).await?.remove(&author).unwrap_or_else(|| author.to_string());
            let options = vec![(String::new(), "All authors".to_owned(), false), (author.to_string(), name, true)];
            filters.shown.push(Filter::choice("author", "Author", options));
            filters.query.push(("author".to_owned(), author.into()));
        }
        // Parameters of the REST API exclude the time that they name.
        let bounds = [
            ("from", "From", "after", NaiveDate::checked_sub_days as fn(NaiveDate, Days) -> _, "T23:59:59"),
            ("to", "To", "before", NaiveDate::checked_add_days, "T00:00:00"),
        ];
        for (name, label, parameter, beside, time) in bounds {
            let value = self.param(name);
            let beyond = value.parse().ok().and_then(|date: NaiveDate| beside(date, Days::new(1)));
            if let Some(date) = beyond {
                filters.query.push((parameter.to_owned(), format!("{date}{time}").into()));
            }
            filters.more.push(Filter::new(name, label, FilterControl::Date(value.to_owned())));
        }
        let mut of_meta = serde_json::Map::new();
        for field in meta {
            let name = meta_param(field);
            let value = self.param(&name).to_owned();
            if !value.is_empty() {
                of_meta.insert(field.clone(), value.clone().into());
            }
            filters.more.push(Filter::new(name, field, FilterControl::Text(value)));
        }
        if !of_meta.is_empty() {
            filters.query.push(("meta".to_owned(), json!(of_meta)));
        }
        Ok(filters)
    }

    /// The choice of a term; `None` if there are none.
    async fn term_filter(&self, taxonomy: &TaxonomyInfo) -> Result<Option<Filter>, Error> {
        let (by, order) = if taxonomy.hierarchical { ("name", "asc") } else { ("count", "desc") };
        let call = self.get(&taxonomy.rest_base).query("orderby", by).query("order", order);
        let reply = call.query("per_page", MOST_TERMS).query("_fields", "id,name,parent").send().await?;
        let name = term_param(&taxonomy.name);
        let current = self.param(&name);
        let option = |term: &Value, depth: usize| {
            let id = term["id"].to_string();
            let selected = id == current;
            (id, format!("{}{}", "— ".repeat(depth), plain(text(term, "/name"))), selected)
        };
        let terms = in_tree(items(&reply.data), taxonomy.hierarchical);
        let mut options: Vec<_> = terms.into_iter().map(|(term, depth)| option(term, depth)).collect();
        if let Some(id) = self.id(&name)
            && !options.iter().any(|(.., selected)| *selected)
        {
            let call = self.get(format!("{}/{id}", taxonomy.rest_base)).query("_fields", "id,name");
            match call.send().await {
                Ok(reply) => options.push(option(&reply.data, 0)),
                Err(error) if error.status() == 404 => {}
                Err(error) => return Err(error),
            }
        }
        if options.is_empty() {
            return Ok(None);
        }
        let all = format!("All {}", taxonomy.plural.to_lowercase());
        options.insert(0, (String::new(), all, current.is_empty()));
        Ok(Some(Filter::choice(name, &taxonomy.plural, options)))
    }

    /// The meta fields of the type by which the REST API can filter and sort.
    pub(super) async fn indexed_meta(&self, rest_base: &str) -> Result<Vec<String>, Error> {
        let described = self.call(http::Method::OPTIONS, rest_base).send().await?.data;
        let orders = items(&described["endpoints"][0]["args"]["orderby"]["enum"]);
        let field = |order: &Value| order.as_str()?.strip_prefix("meta.").map(str::to_owned);
        Ok(orders.iter().filter_map(field).collect())
    }
}
