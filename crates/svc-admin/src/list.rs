//! Lists: one page for posts, comments, terms and users, which fill it with columns and rows.

use askama::Template;
use http::StatusCode;
use svc_http::Cost;
use svc_login::{Form, PrivateResponse};
use svc_schema::Error;

use crate::{
    form::{Control, FormView},
    layout::{self, Layout, Link},
    request::{AdminRequest, Call, Reply, items},
};

/// Number of rows of a page.
pub(crate) const PER_PAGE: u64 = 25;

/// The parameter of the URL, and of the REST API, with the place of a page in its list.
const CURSOR: &str = "cursor";

/// Maximum number of rows that an action changes.
const MOST_SELECTED: usize = 100;

/// A list with its filters.
#[derive(Default)]
pub(crate) struct List {
    /// Creates a new item.
    pub(crate) new: Option<Link>,
    /// URL of the form that creates a new item in the block editor; empty if there is none.
    pub(crate) new_in_block_editor: String,
    /// The views of the list, such as those of a status.
    pub(crate) views: Vec<View>,
    /// Label of the search field; empty if the list cannot be searched.
    pub(crate) search_label: &'static str,
    /// The words searched for.
    pub(crate) search: String,
    /// What restricts the list.
    pub(crate) filters: Vec<Filter>,
    /// Filters that are shown on demand, or if one of them is used.
    pub(crate) more_filters: Vec<Filter>,
    /// Fields that the search form sends as well.
    pub(crate) kept: Vec<(&'static str, String)>,
    pub(crate) columns: Vec<Column>,
    /// Columns that can be chosen: values, labels, and whether each is shown.
    pub(crate) choices: Vec<(String, String, bool)>,
    /// The other way to show the list, as a grid or not.
    pub(crate) other_view: Option<Link>,
    /// Whether the rows are in a grid.
    pub(crate) is_grid: bool,
    pub(crate) rows: Vec<Row>,
    /// Name of the field with the IDs of the selected rows.
    pub(crate) field: &'static str,
    /// Actions on the selected rows: values and labels. Without any, rows cannot be selected.
    pub(crate) actions: Vec<(&'static str, &'static str)>,
    /// IDs of the rows that the action before changed, if it can be undone.
    pub(crate) undo: Vec<i64>,
    /// Whether rows can be answered.
    pub(crate) replies: bool,
    /// Maximum size of a file in bytes, if files can be added to the list.
    pub(crate) upload: Option<u64>,
    /// What the page shows instead of an empty list.
    pub(crate) empty: String,
    pub(crate) pager: Pager,
}

/// A view of a list.
pub(crate) struct View {
    pub(crate) link: Link,
    pub(crate) count: u64,
    pub(crate) current: bool,
}

/// What restricts a list by a parameter of its URL.
pub(crate) struct Filter {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) control: FilterControl,
}

/// The control of a filter.
pub(crate) enum FilterControl {
    /// Values, labels, and whether each is selected. The first one is for all.
    Choice(Vec<(String, String, bool)>),
    /// A date: `2026-11-27`.
    Date(String),
    Text(String),
}

impl Filter {
    pub(crate) fn new(name: impl Into<String>, label: impl Into<String>, control: FilterControl) -> Self {
        Filter { name: name.into(), label: label.into(), control }
    }

    /// A choice among these options.
    pub(crate) fn choice(
        name: impl Into<String>,
        label: impl Into<String>,
        options: Vec<(String, String, bool)>,
    ) -> Self {
        Self::new(name, label, FilterControl::Choice(options))
    }

    /// Whether it restricts the list.
    fn is_used(&self) -> bool {
        match &self.control {
            FilterControl::Choice(options) => !options.iter().any(|(value, _, selected)| *selected && value.is_empty()),
            FilterControl::Date(value) | FilterControl::Text(value) => !value.is_empty(),
        }
    }
}

impl List {
    fn uses_more_filters(&self) -> bool {
        self.more_filters.iter().any(Filter::is_used)
    }
}

/// A column.
pub(crate) struct Column {
    pub(crate) label: String,
    /// URL of the list sorted by the column; empty if it cannot be.
    pub(crate) sort: String,
    /// `ascending`, `descending`, or empty if the list is not sorted by the column.
    pub(crate) sorted: &'static str,
}

/// A row. The first cell names it.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) id: i64,
    /// Name for screen readers.
    pub(crate) name: String,
    /// Whether it can be selected.
    pub(crate) selectable: bool,
    pub(crate) cells: Vec<Cell>,
    /// Links below the first cell.
    pub(crate) links: Vec<Link>,
    /// Actions below the first cell: values and labels.
    pub(crate) actions: Vec<(&'static str, &'static str)>,
}

/// A cell.
pub(crate) enum Cell {
    Text(String),
    /// A link with notes after it, such as the status.
    Link(Link, Vec<String>),
    Links(Vec<Link>),
    /// A date, and what it is the date of.
    Date {
        machine: String,
        human: String,
        note: &'static str,
    },
    /// A picture.
    Image {
        src: String,
        url: String,
    },
    /// A text of several lines.
    Prose(String),
}

/// Links to other pages of a list.
#[derive(Default)]
pub(crate) struct Pager {
    pub(crate) page: u64,
    pub(crate) pages: u64,
    pub(crate) total: u64,
    pub(crate) previous: String,
    pub(crate) next: String,
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage<'a> {
    page: Layout,
    list: List,
    action: String,
    /// Path of the list, without a query.
    path: String,
    /// A form below the list; may be empty.
    form: Option<&'a FormView>,
    rest: String,
    rest_nonce: String,
    nonce_header: String,
}

fn page_number(query: &Form) -> u64 {
    query.get("paged").parse().unwrap_or(1).max(1)
}

/// The cost of a list with this query and number of rows on a page: heavy for a search, and far into the list.
pub(crate) fn cost(query: &Form, per_page: u64) -> Cost {
    if !query.get("s").is_empty() {
        return Cost::Heavy;
    }
    if !query.get(CURSOR).is_empty() {
        return Cost::Light;
    }
    Cost::of_offset((page_number(query) - 1).saturating_mul(per_page))
}

impl AdminRequest<'_> {
    /// The number of the list's page.
    pub(crate) fn page_number(&self) -> u64 {
        page_number(&self.parts.query)
    }

    /// The page of a list that the URL names: by a cursor of the page before or after, which costs the same far into the list, or by number.
    /// `None` if it does not exist (any more), for [`Self::to_first_page`]: the number is too large, the cursor is one of another list,
    /// or nothing is left between it and an end of the list.
    ///
    /// # Errors
    /// Other errors of the REST API.
    pub(crate) async fn read_page(&self, call: Call<'_>, per_page: u64) -> Result<Option<Reply>, Error> {
        let (call, cursor) = (call.query("per_page", per_page.to_string()), self.param(CURSOR));
        let call = if cursor.is_empty() && self.page_number() > 1 {
            call.query("page", self.page_number().to_string())
        } else {
            call.value(CURSOR, cursor.into())
        };
        let reply = match call.send().await {
            Err(error) if matches!(error.code(), "rest_post_invalid_page_number" | "rest_invalid_cursor") => {
                return Ok(None);
            }
            reply => reply?,
        };
        let is_at_end = reply.previous.is_empty() || reply.next.is_empty();
        let is_gone = !cursor.is_empty() && is_at_end && items(&reply.data).is_empty();
        Ok((!is_gone).then_some(reply))
    }

    /// Redirects to the first page of the shown list.
    pub(crate) fn to_first_page(&self) -> PrivateResponse {
        PrivateResponse::redirect(&self.with(&[]))
    }

    /// The URL of the shown list with this parameter replaced; an empty value removes it.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let path = self.parts.url.split('?').next().unwrap_or_default();
        let kept = self.parts.query.fields().filter(|(name, _)| {
            !matches!(*name, "paged" | CURSOR | "done" | "undo") && !changes.iter().any(|(changed, _)| changed == name)
        });
        let changed = changes.iter().filter(|(_, value)| !value.is_empty()).copied();
        let pairs: Vec<(&str, &str)> = kept.chain(changed).collect();
        if pairs.is_empty() { path.to_owned() } else { svc_login::with_query(path, &pairs) }
    }

    pub(crate) fn pager(&self, reply: &Reply) -> Pager {
        let page = self.page_number();
        let to = |page: u64, cursor: &str| self.with(&[("paged", &page.to_string()), (CURSOR, cursor)]);
        // With cursors, what follows is known; the numbers are those of a list that may have changed meanwhile.
        let by_cursor = !reply.previous.is_empty() || !reply.next.is_empty();
        let has_next = if by_cursor { !reply.next.is_empty() } else { page < reply.pages };
        Pager {
            page,
            pages: reply.pages.max(page),
            total: reply.total,
            previous: match page {
                0 | 1 => String::new(),
                2 => self.with(&[]),
                _ if by_cursor && reply.previous.is_empty() => self.with(&[]),
                _ => to(page - 1, &reply.previous),
            },
            next: if has_next { to(page.saturating_add(1), &reply.next) } else { String::new() },
        }
    }

    /// A column by which the list can be sorted. `default` is the order of a list without parameters, if it is by this column.
    pub(crate) fn sortable(&self, label: impl Into<String>, by: &str, default: Option<&'static str>) -> Column {
        let current = match self.param("orderby") {
            "" => default.unwrap_or_default(),
            sorted if sorted == by => {
                if self.param("order") == "desc" {
                    "descending"
                } else {
                    "ascending"
                }
            }
            _ => "",
        };
        let order = match current {
            "ascending" => "desc",
            "descending" => "asc",
            _ if matches!(by, "date" | "modified") => "desc",
            _ => "asc",
        };
        Column { label: label.into(), sort: self.with(&[("orderby", by), ("order", order)]), sorted: current }
    }

    pub(crate) fn show_list(&self, page: Layout, list: List, form: Option<&FormView>) -> PrivateResponse {
        let path = self.parts.url.split('?').next().unwrap_or_default().to_owned();
        let template = ListPage {
            action: self.with(&[]),
            path,
            rest: self.admin.rest.clone(),
            rest_nonce: if list.upload.is_some() { self.rest_nonce() } else { String::new() },
            nonce_header: self.admin.pages.identities.site.brand.header("Nonce"),
            page,
            list,
            form,
        };
        layout::html(StatusCode::OK, &template)
    }

    /// The URL of the list after a change, with its message.
    pub(crate) fn after(&self, done: &str, undo: &[i64]) -> String {
        let ids: Vec<String> = undo.iter().map(i64::to_string).collect();
        let url = self.with(&[]);
        let mut query = vec![("done", done)];
        let ids = ids.join(",");
        if !ids.is_empty() {
            query.push(("undo", &ids));
        }
        svc_login::with_query(&url, &query)
    }
}

/// The action that a form of a list requests, and the IDs of its rows: those that are selected, or the one whose button was
/// used. At most a hundred. `None` if nothing is selected.
pub(crate) fn requested(form: &Form, field: &str, actions: &[&'static str]) -> Option<(&'static str, Vec<i64>)> {
    let of_row = actions.iter().find(|action| form.has(action));
    let action = of_row.or_else(|| actions.iter().find(|action| **action == form.get("action")))?;
    let name = if of_row.is_some() { action } else { field };
    let ids = form.all(name).filter_map(|id| id.parse().ok()).filter(|id: &i64| *id > 0);
    let ids: Vec<i64> = ids.take(MOST_SELECTED).collect();
    (!ids.is_empty()).then_some((action, ids))
}

/// A column that does not sort.
pub(crate) fn column(label: impl Into<String>) -> Column {
    Column { label: label.into(), sort: String::new(), sorted: "" }
}

/// A date of the REST API for people: `2026-11-26 09:30`.
pub(crate) fn date_cell(date: &str, note: &'static str) -> Cell {
    let human = date.get(..16).unwrap_or(date).replace('T', " ");
    Cell::Date { machine: date.to_owned(), human, note }
}
