//! The query loop: its posts, pagination and title; and the loop of terms.

use std::rc::Rc;

use serde_json::Value;
use svc_content::kses;
use svc_model::{PostId, TermId, UserId};
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{
    core::BlockCall,
    data::{MainQuery, Posts, PostsOrder, PostsQuery, Sticky, TermFilter, TermsOrder, TermsQuery},
    html::{heading, stored},
};

/// Maximum number of posts per page.
const MAX_PER_PAGE: i64 = 100;
/// Maximum number of posts or terms in a query.
const MAX_IDS: usize = 200;

pub(crate) fn query(call: &BlockCall<'_>) -> Html {
    if call.attr("enhancedPagination") == true
        && let Some(id) = call.number("queryId")
    {
        // Attributes for the script that changes pages without reloading.
        let script_attributes = html!(
            "data-wp-context=\"{{}}\" data-wp-interactive=\"core/query\" data-wp-key=\"{id}\" data-wp-router-region=\"query-{id}\" ",
            id = id
        );
        if let Some(at) = call.content.find('<').map(|at| at + 1) {
            let end = call.content[at..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(at, |n| at + n);
            let rest = call.content[end..].trim_start_matches(' ');
            return Html::trusted(
                format!("{} {script_attributes}{rest}", &call.content[..end]),
                "the block's HTML with attributes in its first tag",
            );
        }
    }
    call.content.clone()
}

/// Whether the surrounding query block uses the main query of the page.
fn uses_main_query(call: &BlockCall<'_>) -> bool {
    let query_attributes = call.context_value("query");
    query_attributes.is_null() || svc_php::cast::truthy(&query_attributes["inherit"])
}

/// The main query of the page, if the block uses it. `None` outside of HTML pages.
fn main_query(call: &BlockCall<'_>) -> Option<Rc<MainQuery>> {
    if uses_main_query(call) { call.data().main() } else { None }
}

/// The requested page number of this query.
fn page(call: &BlockCall<'_>) -> u64 {
    if let Some(main) = main_query(call) {
        return main.page;
    }
    let name = page_parameter(call);
    call.data().page_parameter(&name).and_then(|n| n.parse().ok()).unwrap_or(1).max(1)
}

/// The query parameter with the page number of this query.
fn page_parameter(call: &BlockCall<'_>) -> String {
    match call.context_value("queryId") {
        Value::Null => "query-page".to_owned(),
        id => format!("query-{}-page", svc_php::cast::to_int(&id)),
    }
}

fn ids_of(value: &Value) -> Vec<i64> {
    let read = |v: &Value| svc_php::cast::to_int(v);
    match value {
        Value::Array(items) => items.iter().map(read).filter(|n| *n > 0).take(MAX_IDS).collect(),
        Value::String(text) => text.split(',').filter_map(|n| n.trim().parse().ok()).take(MAX_IDS).collect(),
        Value::Number(_) => vec![read(value)],
        _ => Vec::new(),
    }
}

/// The query for posts of the surrounding query block; `None` if it uses the main query.
fn posts_query(call: &BlockCall<'_>) -> Option<PostsQuery> {
    let query_attributes = call.context_value("query");
    let site_info = call.data().site_info();
    if uses_main_query(call) {
        return None;
    }
    let word = |name: &str| query_attributes[name].as_str().unwrap_or_default();
    let per_page = match svc_php::cast::to_int(&query_attributes["perPage"]) {
        n if n > 0 => u64::try_from(n.min(MAX_PER_PAGE)).unwrap_or(10),
        _ => site_info.posts_per_page.clamp(1, 100),
    };
    let order = match word("orderBy") {
        "title" => PostsOrder::Title,
        "modified" => PostsOrder::Modified,
        "author" => PostsOrder::Author,
        "menu_order" => PostsOrder::MenuOrder,
        "id" | "ID" => PostsOrder::Id,
        "comment_count" => PostsOrder::Comments,
        "relevance" => PostsOrder::Relevance,
        _ => PostsOrder::Date,
    };
    let offset = u64::try_from(svc_php::cast::to_int(&query_attributes["offset"])).unwrap_or_default();
    let post_type = match word("postType") {
        "" => "post",
        name => name,
    };
    let mut exclude: Vec<PostId> = ids_of(&query_attributes["exclude"]).into_iter().map(PostId).collect();
    if query_attributes["excludeCurrent"] == true {
        exclude.extend(call.post_id());
    }
    Some(PostsQuery {
        post_type: post_type.to_owned(),
        limit: per_page,
        offset: offset.saturating_add(per_page.saturating_mul(page(call) - 1)).min(i64::MAX as u64),
        order,
        ascending: word("order").eq_ignore_ascii_case("asc"),
        authors: ids_of(&query_attributes["author"]).into_iter().map(UserId).collect(),
        exclude,
        parents: ids_of(&query_attributes["parents"]).into_iter().map(PostId).collect(),
        search: word("search").to_owned(),
        terms: terms(&query_attributes),
        formats: query_attributes["format"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|f| f.as_str().map(str::to_owned))
            .collect(),
        sticky: match word("sticky") {
            "only" => Sticky::Only,
            "exclude" => Sticky::Without,
            "ignore" => Sticky::Ignored,
            _ if page(call) == 1 && post_type == "post" => Sticky::First,
            _ => Sticky::Ignored,
        },
    })
}

/// The terms of a query, in the current format and in two deprecated ones.
fn terms(query_attributes: &Value) -> Vec<TermFilter> {
    let request = |taxonomy: &str, ids: &Value, without: bool| {
        let terms: Vec<TermId> = ids_of(ids).into_iter().map(TermId).collect();
        (!terms.is_empty()).then(|| TermFilter { taxonomy: taxonomy.to_owned(), terms, without, with_children: false })
    };
    let mut out: Vec<TermFilter> = [("categoryIds", "category"), ("tagIds", "post_tag")]
        .into_iter()
        .filter_map(|(member, taxonomy)| request(taxonomy, &query_attributes[member], false))
        .collect();
    let by_taxonomy = |members: &Value, without: bool| -> Vec<TermFilter> {
        members.as_object().into_iter().flatten().filter_map(|(name, ids)| request(name, ids, without)).collect()
    };
    let of_query = &query_attributes["taxQuery"];
    if of_query.get("include").is_some() || of_query.get("exclude").is_some() {
        out.extend(by_taxonomy(&of_query["include"], false));
        out.extend(by_taxonomy(&of_query["exclude"], true));
    } else {
        out.extend(by_taxonomy(of_query, false));
    }
    out
}

/// The posts of the surrounding query block.
fn query_results(call: &BlockCall<'_>) -> Option<(PostsQuery, Rc<Posts>)> {
    if let Some(main) = main_query(call) {
        let offset = main.page.saturating_sub(1).saturating_mul(main.per_page);
        return Some((PostsQuery { limit: main.per_page, offset, ..PostsQuery::default() }, Rc::clone(&main.posts)));
    }
    let query = posts_query(call)?;
    let posts = call.data().posts(&query);
    Some((query, posts))
}

pub(crate) fn post_template(call: &BlockCall<'_>) -> Html {
    let Some((_, posts)) = query_results(call).filter(|(_, posts)| !posts.items.is_empty()) else {
        return Html::new();
    };
    let in_place = call.context_value("enhancedPagination") == true;
    let items: Html = posts
        .items
        .iter()
        .map(|post| {
            let values = [("postId", Value::from(post.post.id.0)), ("postType", post.post.post_type.as_str().into())];
            let inside = call.within(values, || call.item());
            let key = match in_place {
                true => html!("data-wp-key=\"post-template-item-{}\" ", post.post.id.0),
                false => Html::new(),
            };
            html!("<li {}class=\"wp-block-post {}\">{}</li>", key, Html::join(&post.classes, " "), inside)
        })
        .collect();
    let old_layout = call.context_value("displayLayout");
    let grid = match (old_layout["type"].as_str(), call.attr("layout")["type"].as_str()) {
        (Some("flex"), _) => format!("is-flex-container columns-{}", svc_php::cast::to_int(&old_layout["columns"])),
        (_, Some("grid")) if call.attr("layout")["columnCount"].is_number() => {
            let layout = call.attr("layout");
            let narrows =
                if svc_php::cast::truthy(&layout["minimumColumnWidth"]) { " has-native-responsive-grid" } else { "" };
            format!("columns-{}{narrows}", svc_php::cast::to_int(&layout["columnCount"]))
        }
        _ => String::new(),
    };
    html!("<ul {}>{}</ul>", call.wrapper_with(&[&grid, call.link_class()]), items)
}

pub(crate) fn no_results(call: &BlockCall<'_>) -> Html {
    let is_empty = match query_results(call) {
        Some((_, posts)) => posts.items.is_empty(),
        None => false,
    };
    let inside = call.content.trim();
    if !is_empty || inside.is_empty() {
        return Html::new();
    }
    html!("<div {}>{}</div>", call.wrapper_with(&[call.link_class()]), call.content)
}

pub(crate) fn total(call: &BlockCall<'_>) -> Html {
    let Some((query, posts)) = query_results(call) else { return Html::new() };
    let total = posts.total;
    let start = query.offset + 1;
    let end = (query.offset + query.limit).min(total);
    let number = |n: u64| svc_text::number_format(n as f64, 0);
    let text = match (call.text("displayType"), total) {
        (_, 0) => "0 results found".to_owned(),
        ("range-display", n) if start == end => format!("Displaying {} of {}", number(start), number(n)),
        ("range-display", n) => format!("Displaying {} – {} of {}", number(start), number(end), number(n)),
        (_, 1) => "1 result found".to_owned(),
        (_, n) => format!("{} results found", number(n)),
    };
    html!("<div {}>{}</div>", call.wrapper(&[]), esc_html(&text))
}

pub(crate) fn pagination(call: &BlockCall<'_>) -> Html {
    if call.content.trim().is_empty() {
        return Html::new();
    }
    html!("<nav {}>{}</nav>", call.wrapper(&[("aria-label", "Pagination"), ("class", call.link_class())]), call.content)
}

/// Number of pages of the surrounding query block.
fn n_pages(call: &BlockCall<'_>) -> u64 {
    if let Some(main) = main_query(call) {
        return main.pages;
    }
    let Some((query, posts)) = query_results(call) else { return 0 };
    let query_attributes = call.context_value("query");
    let skipped = u64::try_from(svc_php::cast::to_int(&query_attributes["offset"])).unwrap_or_default();
    let pages = posts.total.saturating_sub(skipped).div_ceil(query.limit.max(1));
    match u64::try_from(svc_php::cast::to_int(&query_attributes["pages"])).unwrap_or_default() {
        0 => pages,
        max_pages => pages.min(max_pages),
    }
}

/// The URL of another page of this query.
fn page_url(call: &BlockCall<'_>, page: u64) -> String {
    if let Some(main) = main_query(call) {
        return (main.page_url)(page);
    }
    let current = call.data().current_url();
    let path = current.split_once("://").map_or(current, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let name = page_parameter(call);
    let own = format!("{name}=");
    let mut pairs: Vec<String> =
        query.split('&').filter(|p| !p.is_empty() && !p.starts_with(&own)).map(str::to_owned).collect();
    if page > 1 {
        pairs.push(format!("{name}={page}"));
    }
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

pub(crate) fn previous(call: &BlockCall<'_>) -> Html {
    let now = page(call);
    if now <= 1 { Html::new() } else { adjacent_page_link(call, now - 1, "previous", "Previous Page") }
}

pub(crate) fn next(call: &BlockCall<'_>) -> Html {
    let now = page(call);
    if now >= n_pages(call) { Html::new() } else { adjacent_page_link(call, now + 1, "next", "Next Page") }
}

fn adjacent_page_link(call: &BlockCall<'_>, page: u64, direction: &'static str, standard: &'static str) -> Html {
    let shows_label = call.context_value("showLabel") != false;
    let label = match call.text("label") {
        "" => Html::from(standard),
        label => esc_html(label),
    };
    let sign = match (call.context_value("paginationArrow").as_str(), direction) {
        (Some("arrow"), "next") => Some(("arrow", "→")),
        (Some("arrow"), _) => Some(("arrow", "←")),
        (Some("chevron"), "next") => Some(("chevron", "»")),
        (Some("chevron"), _) => Some(("chevron", "«")),
        _ => None,
    };
    let arrow = sign.map_or(Html::new(), |(kind, sign)| {
        html!(
            "<span class='wp-block-query-pagination-{}-arrow is-arrow-{}' aria-hidden='true'>{}</span>",
            direction,
            kind,
            sign
        )
    });
    let name = if shows_label { Html::new() } else { html!(" aria-label=\"{}\"", esc_attr(&label)) };
    let listed = if shows_label { label } else { Html::new() };
    let inside = if direction == "next" { html!("{}{}", listed, arrow) } else { html!("{}{}", arrow, listed) };
    let script_attributes = match call.context_value("enhancedPagination") == true {
        true => html!(
            "data-wp-key=\"query-pagination-{}\" data-wp-on--click=\"core/query::actions.navigate\" data-wp-on--mouseenter=\"core/query::actions.prefetch\" data-wp-watch=\"core/query::callbacks.prefetch\" ",
            direction
        ),
        false => Html::new(),
    };
    html!(
        "<a {}href=\"{}\" {}{}>{}</a>",
        script_attributes,
        esc_url(&page_url(call, page)),
        call.wrapper(&[]),
        name,
        inside
    )
}

pub(crate) fn page_numbers(call: &BlockCall<'_>) -> Html {
    let (now, pages) = (page(call), n_pages(call));
    if pages < 2 {
        return Html::new();
    }
    let mid_size = u64::try_from(call.number("midSize").unwrap_or(2)).unwrap_or(2);
    let name = page_parameter(call);
    let mut parts = Vec::new();
    let mut dotted = false;
    let in_place = call.context_value("enhancedPagination") == true;
    let key = |index: usize, click: &'static str| match in_place {
        true => html!("data-wp-key=\"index-{}\" {}", index, click),
        false => Html::new(),
    };
    for n in 1..=pages {
        if n == now {
            let key = key(parts.len(), "");
            parts.push(html!("<span {}aria-current=\"page\" class=\"page-numbers current\">{}</span>", key, n));
            dotted = true;
        } else if n == 1 || n == pages || n.abs_diff(now) <= mid_size {
            let is_own = n > 1 && main_query(call).is_none();
            let address = if is_own { format!("?{name}={n}") } else { page_url(call, n) };
            let key = key(parts.len(), "data-wp-on--click=\"core/query::actions.navigate\" ");
            parts.push(html!("<a {}class=\"page-numbers\" href=\"{}\">{}</a>", key, esc_url(&address), n));
            dotted = true;
        } else if dotted {
            parts.push(html!("<span {}class=\"page-numbers dots\">&hellip;</span>", key(parts.len(), "")));
            dotted = false;
        }
    }
    html!("<div {}>{}</div>", call.wrapper(&[]), Html::join(parts, "\n"))
}

/// The title of the archive or search page. Outside of HTML pages, only the search text in the request's URL is
/// known.
pub(crate) fn title(call: &BlockCall<'_>) -> Html {
    let list = call.data().main();
    let search_term = list.as_ref().map_or_else(|| search_text_in_url(call), |list| list.search_term.clone());
    let title = match (call.text("type"), search_term) {
        ("search", Some(text)) if call.is("showSearchTerm") => {
            html!("Search results for: &#8220;{}&#8221;", esc_html(&text))
        }
        ("search", Some(_)) => Html::from("Search results"),
        ("archive", None) => list.map(|list| list.title.clone()).unwrap_or_default(),
        _ => Html::new(),
    };
    // Other types have an empty element.
    if title.is_empty() && matches!(call.text("type"), "" | "search" | "archive" | "post-type") {
        return title;
    }
    let tag = heading(call.number("level").unwrap_or(1));
    html!("<{tag} {}>{}</{tag}>", call.wrapper_with(&[&call.align_class()]), title, tag = tag)
}

fn search_text_in_url(call: &BlockCall<'_>) -> Option<String> {
    let site_info = call.data().site_info();
    let (path, query) = call.data().current_url().split_once('?')?;
    let search_term = query.split('&').find_map(|pair| pair.strip_prefix("s="))?;
    let is_home = path.trim_end_matches('/') == site_info.home;
    is_home.then(|| percent_encoding::percent_decode_str(search_term).decode_utf8_lossy().replace('+', " "))
}

pub(crate) fn term_template(call: &BlockCall<'_>) -> Html {
    let query_attributes = call.context_value("termQuery");
    if !query_attributes.is_object() {
        return Html::new();
    }
    let ids = ids_of(&query_attributes["include"]);
    let query = TermsQuery {
        taxonomy: query_attributes["taxonomy"].as_str().unwrap_or("category").to_owned(),
        hide_empty: svc_php::cast::truthy(&query_attributes["hideEmpty"]),
        parent: (!svc_php::cast::truthy(&query_attributes["showNested"])).then_some(TermId(0)),
        order: if query_attributes["orderBy"] == "count" { TermsOrder::Count } else { TermsOrder::Name },
        limit: Some(
            u64::try_from(svc_php::cast::to_int(&query_attributes["perPage"]))
                .ok()
                .filter(|n| *n > 0)
                .unwrap_or(10)
                .min(100),
        ),
    };
    let terms = call.data().terms(&query);
    let mut listed: Vec<_> = terms.iter().filter(|t| ids.is_empty() || ids.contains(&t.term.id.0)).collect();
    let ascends = query_attributes["order"].as_str().is_some_and(|order| order.eq_ignore_ascii_case("asc"));
    if ascends == (query.order == TermsOrder::Count) {
        listed.reverse();
    }
    let items: Html = listed
        .into_iter()
        .map(|term| {
            let row = &term.term;
            let values = [
                ("termId", Value::from(row.id.0)),
                ("taxonomy", row.taxonomy.as_str().into()),
                ("inTermList", true.into()),
            ];
            let inside = call.within(values, || call.item());
            let class = esc_attr(&format!("wp-block-term term-{} {} taxonomy-{}", row.id, row.taxonomy, row.taxonomy));
            html!("<li class=\"{}\">{}</li>", class, inside)
        })
        .collect();
    if items.is_empty() { items } else { html!("<ul {}>{}</ul>", call.wrapper_with(&[call.link_class()]), items) }
}

/// The term in the block context.
fn term(call: &BlockCall<'_>) -> Option<std::rc::Rc<crate::data::TermView>> {
    let id = svc_php::cast::to_int(&call.context_value("termId"));
    call.data().term(TermId(id), call.context_value("taxonomy").as_str()?)
}

pub(crate) fn term_name(call: &BlockCall<'_>) -> Html {
    let Some(term) = term(call) else { return Html::new() };
    let inside = if call.is("isLink") {
        html!("<a href=\"{}\">{}</a>", esc_url(&term.link), stored(&term.term.name))
    } else {
        stored(&term.term.name)
    };
    let tag = heading(call.number("level").unwrap_or_default());
    html!("<{tag} {}>{}</{tag}>", call.wrapper_with(&[&call.align_class(), call.link_class()]), inside, tag = tag)
}

pub(crate) fn term_count(call: &BlockCall<'_>) -> Html {
    let Some(term) = term(call) else { return Html::new() };
    let (open, close) = match call.text("bracketType") {
        "none" => ("", ""),
        "square" => ("[", "]"),
        "curly" => ("{", "}"),
        "angle" => ("<", ">"),
        _ => ("(", ")"),
    };
    html!("<div {}>{}{}{}</div>", call.wrapper(&[]), open, term.term.count, close)
}

pub(crate) fn term_description(call: &BlockCall<'_>) -> Html {
    let Some(term) = term(call).filter(|term| !term.term.description.is_empty()) else { return Html::new() };
    let text = match call.context_value("inTermList") == true {
        true => svc_content::render_inline(&kses::post(&term.term.description).replace("&amp;", "&")),
        false => call.content_of(format!("term {}", term.term.id), |context| {
            svc_content::display::render_term_description(&term.term.description, context)
        }),
    };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]), text)
}
