//! Lists of posts that a question finds: the loop, its pages, its title; and the same for terms.

use std::rc::Rc;

use serde_json::Value;
use svc_content::kses;
use svc_model::{PostId, TermId, UserId};
use svc_text::{esc_attr, esc_html, esc_url};

use crate::{
    core::Call,
    data::{MainList, Posts, PostsOrder, PostsQuery, Sticky, TermQueryAttributes, TermsOrder, TermsQuery},
    site::heading,
};

/// Posts on a page at most.
const MAX_PER_PAGE: i64 = 100;
/// Posts and terms that a question may name.
const MAX_NAMED: usize = 200;

pub(crate) fn query(call: &Call<'_>) -> String {
    if call.attr("enhancedPagination") == true
        && let Some(id) = call.number("queryId")
    {
        // What the script needs that changes pages in place.
        let behaviour = format!(
            "data-wp-context=\"{{}}\" data-wp-interactive=\"core/query\" data-wp-key=\"{id}\" data-wp-router-region=\"query-{id}\" "
        );
        if let Some(at) = call.content.find('<').map(|at| at + 1) {
            let end = call.content[at..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(at, |n| at + n);
            let rest = call.content[end..].trim_start_matches(' ');
            return format!("{} {behaviour}{rest}", &call.content[..end]);
        }
    }
    call.content.to_owned()
}

/// Whether the list around the block is the one that the page itself shows.
fn inherits(call: &Call<'_>) -> bool {
    let given = call.around("query");
    given.is_null() || svc_php::cast::truthy(&given["inherit"])
}

/// The list that the page itself shows, for blocks that show it. The interface draws no page.
fn main(call: &Call<'_>) -> Option<Rc<MainList>> {
    if inherits(call) { call.data().main() } else { None }
}

/// The number of the page of this list that was asked for.
fn page(call: &Call<'_>) -> u64 {
    if let Some(main) = main(call) {
        return main.page;
    }
    let name = page_name(call);
    let query = call.data().facts().current_url.split_once('?').map_or("", |(_, query)| query);
    let given = query.split('&').find_map(|pair| pair.strip_prefix(&name)?.strip_prefix('='));
    given.and_then(|n| n.parse().ok()).unwrap_or(1).max(1)
}

/// The parameter that names the page of this list.
fn page_name(call: &Call<'_>) -> String {
    match call.around("queryId") {
        Value::Null => "query-page".to_owned(),
        id => format!("query-{}-page", svc_php::cast::to_int(&id)),
    }
}

fn numbers(value: &Value) -> Vec<i64> {
    let read = |v: &Value| svc_php::cast::to_int(v);
    match value {
        Value::Array(items) => items.iter().map(read).filter(|n| *n > 0).take(MAX_NAMED).collect(),
        Value::String(text) => text.split(',').filter_map(|n| n.trim().parse().ok()).take(MAX_NAMED).collect(),
        Value::Number(_) => vec![read(value)],
        _ => Vec::new(),
    }
}

/// Which posts the list around the block asks for, and how many there are on a page.
fn wanted(call: &Call<'_>) -> Option<PostsQuery> {
    let given = call.around("query");
    let facts = call.data().facts();
    if inherits(call) {
        return None;
    }
    let word = |name: &str| given[name].as_str().unwrap_or_default();
    let per_page = match svc_php::cast::to_int(&given["perPage"]) {
        n if n > 0 => u64::try_from(n.min(MAX_PER_PAGE)).unwrap_or(10),
        _ => facts.posts_per_page.clamp(1, 100),
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
    let offset = u64::try_from(svc_php::cast::to_int(&given["offset"])).unwrap_or_default();
    let post_type = match word("postType") {
        "" => "post",
        name => name,
    };
    let mut exclude: Vec<PostId> = numbers(&given["exclude"]).into_iter().map(PostId).collect();
    if given["excludeCurrent"] == true {
        exclude.extend(call.post_id());
    }
    Some(PostsQuery {
        post_type: post_type.to_owned(),
        limit: per_page,
        offset: offset.saturating_add(per_page.saturating_mul(page(call) - 1)).min(i64::MAX as u64),
        order,
        ascending: word("order").eq_ignore_ascii_case("asc"),
        authors: numbers(&given["author"]).into_iter().map(UserId).collect(),
        exclude,
        parents: numbers(&given["parents"]).into_iter().map(PostId).collect(),
        search: word("search").to_owned(),
        terms: terms(&given),
        formats: given["format"]
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

/// Terms that the list names: in the form of today, and in two older ones.
fn terms(given: &Value) -> Vec<TermQueryAttributes> {
    let wish = |taxonomy: &str, ids: &Value, without: bool| {
        let terms: Vec<TermId> = numbers(ids).into_iter().map(TermId).collect();
        (!terms.is_empty()).then(|| TermQueryAttributes {
            taxonomy: taxonomy.to_owned(),
            terms,
            without,
            with_children: false,
        })
    };
    let mut out: Vec<TermQueryAttributes> = [("categoryIds", "category"), ("tagIds", "post_tag")]
        .into_iter()
        .filter_map(|(member, taxonomy)| wish(taxonomy, &given[member], false))
        .collect();
    let by_taxonomy = |members: &Value, without: bool| -> Vec<TermQueryAttributes> {
        members.as_object().into_iter().flatten().filter_map(|(name, ids)| wish(name, ids, without)).collect()
    };
    let of_query = &given["taxQuery"];
    if of_query.get("include").is_some() || of_query.get("exclude").is_some() {
        out.extend(by_taxonomy(&of_query["include"], false));
        out.extend(by_taxonomy(&of_query["exclude"], true));
    } else {
        out.extend(by_taxonomy(of_query, false));
    }
    out
}

/// The posts of the list around the block.
fn found(call: &Call<'_>) -> Option<(PostsQuery, Rc<Posts>)> {
    if let Some(main) = main(call) {
        let offset = main.page.saturating_sub(1).saturating_mul(main.per_page);
        return Some((PostsQuery { limit: main.per_page, offset, ..PostsQuery::default() }, Rc::clone(&main.posts)));
    }
    let query = wanted(call)?;
    let posts = call.data().posts(&query);
    Some((query, posts))
}

pub(crate) fn post_template(call: &Call<'_>) -> String {
    let Some((_, posts)) = found(call).filter(|(_, posts)| !posts.items.is_empty()) else { return String::new() };
    let in_place = call.around("enhancedPagination") == true;
    let items: String = posts
        .items
        .iter()
        .map(|post| {
            let values = [("postId", Value::from(post.post.id.0)), ("postType", post.post.post_type.as_str().into())];
            let inside = call.within(values, || call.item());
            let key = match in_place {
                true => format!("data-wp-key=\"post-template-item-{}\" ", post.post.id),
                false => String::new(),
            };
            format!("<li {key}class=\"wp-block-post {}\">{inside}</li>", post.classes.join(" "))
        })
        .collect();
    let old_layout = call.around("displayLayout");
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
    format!("<ul {}>{items}</ul>", call.wrapper_with(&[&grid, call.link_class()]))
}

pub(crate) fn no_results(call: &Call<'_>) -> String {
    let is_empty = match found(call) {
        Some((_, posts)) => posts.items.is_empty(),
        None => false,
    };
    let inside = call.content.trim();
    if !is_empty || inside.is_empty() {
        return String::new();
    }
    format!("<div {}>{}</div>", call.wrapper_with(&[call.link_class()]), call.content)
}

pub(crate) fn total(call: &Call<'_>) -> String {
    let Some((query, posts)) = found(call) else { return String::new() };
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
    format!("<div {}>{text}</div>", call.wrapper(&[]))
}

pub(crate) fn pagination(call: &Call<'_>) -> String {
    if call.content.trim().is_empty() {
        return String::new();
    }
    format!(
        "<nav {}>{}</nav>",
        call.wrapper(&[("aria-label", "Pagination"), ("class", call.link_class())]),
        call.content
    )
}

/// How many pages the list around the block has.
fn n_pages(call: &Call<'_>) -> u64 {
    if let Some(main) = main(call) {
        return main.pages;
    }
    let Some((query, posts)) = found(call) else { return 0 };
    let given = call.around("query");
    let skipped = u64::try_from(svc_php::cast::to_int(&given["offset"])).unwrap_or_default();
    let pages = posts.total.saturating_sub(skipped).div_ceil(query.limit.max(1));
    match u64::try_from(svc_php::cast::to_int(&given["pages"])).unwrap_or_default() {
        0 => pages,
        most => pages.min(most),
    }
}

/// The address asked for with another page of this list.
fn address_of(call: &Call<'_>, page: u64) -> String {
    if let Some(main) = main(call) {
        return (main.address)(page);
    }
    let current = &call.data().facts().current_url;
    let path =
        current.split_once("://").map_or(current.as_str(), |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let name = page_name(call);
    let own = format!("{name}=");
    let mut pairs: Vec<String> =
        query.split('&').filter(|p| !p.is_empty() && !p.starts_with(&own)).map(str::to_owned).collect();
    if page > 1 {
        pairs.push(format!("{name}={page}"));
    }
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

pub(crate) fn previous(call: &Call<'_>) -> String {
    let now = page(call);
    if now <= 1 { String::new() } else { neighbour(call, now - 1, "previous", "Previous Page") }
}

pub(crate) fn next(call: &Call<'_>) -> String {
    let now = page(call);
    if now >= n_pages(call) { String::new() } else { neighbour(call, now + 1, "next", "Next Page") }
}

fn neighbour(call: &Call<'_>, page: u64, direction: &str, standard: &str) -> String {
    let shows_label = call.around("showLabel") != false;
    let label = match call.text("label") {
        "" => standard.to_owned(),
        label => esc_html(label),
    };
    let sign = match (call.around("paginationArrow").as_str(), direction) {
        (Some("arrow"), "next") => Some(("arrow", "→")),
        (Some("arrow"), _) => Some(("arrow", "←")),
        (Some("chevron"), "next") => Some(("chevron", "»")),
        (Some("chevron"), _) => Some(("chevron", "«")),
        _ => None,
    };
    let arrow = sign.map_or(String::new(), |(kind, sign)| {
        format!(
            "<span class='wp-block-query-pagination-{direction}-arrow is-arrow-{kind}' aria-hidden='true'>{sign}</span>"
        )
    });
    let name = if shows_label { String::new() } else { format!(" aria-label=\"{}\"", esc_attr(&label)) };
    let shown = if shows_label { label } else { String::new() };
    let inside = if direction == "next" { format!("{shown}{arrow}") } else { format!("{arrow}{shown}") };
    let behaviour = match call.around("enhancedPagination") == true {
        true => format!(
            "data-wp-key=\"query-pagination-{direction}\" data-wp-on--click=\"core/query::actions.navigate\" data-wp-on--mouseenter=\"core/query::actions.prefetch\" data-wp-watch=\"core/query::callbacks.prefetch\" "
        ),
        false => String::new(),
    };
    format!("<a {behaviour}href=\"{}\" {}{name}>{inside}</a>", esc_url(&address_of(call, page)), call.wrapper(&[]))
}

pub(crate) fn page_numbers(call: &Call<'_>) -> String {
    let (now, pages) = (page(call), n_pages(call));
    if pages < 2 {
        return String::new();
    }
    let around = u64::try_from(call.number("midSize").unwrap_or(2)).unwrap_or(2);
    let name = page_name(call);
    let mut parts = Vec::new();
    let mut dotted = false;
    let in_place = call.around("enhancedPagination") == true;
    let key = |index: usize, click: &str| match in_place {
        true => format!("data-wp-key=\"index-{index}\" {click}"),
        false => String::new(),
    };
    for n in 1..=pages {
        if n == now {
            let key = key(parts.len(), "");
            parts.push(format!("<span {key}aria-current=\"page\" class=\"page-numbers current\">{n}</span>"));
            dotted = true;
        } else if n == 1 || n == pages || n.abs_diff(now) <= around {
            let is_own = n > 1 && main(call).is_none();
            let address = if is_own { format!("?{name}={n}") } else { address_of(call, n) };
            let key = key(parts.len(), "data-wp-on--click=\"core/query::actions.navigate\" ");
            parts.push(format!("<a {key}class=\"page-numbers\" href=\"{}\">{n}</a>", esc_url(&address)));
            dotted = true;
        } else if dotted {
            parts.push(format!("<span {}class=\"page-numbers dots\">&hellip;</span>", key(parts.len(), "")));
            dotted = false;
        }
    }
    format!("<div {}>{}</div>", call.wrapper(&[]), parts.join("\n"))
}

/// The title of the archive or the search that the page shows. The interface shows none, but for a search at its own
/// address.
pub(crate) fn title(call: &Call<'_>) -> String {
    let list = call.data().main();
    let searched = list.as_ref().map_or_else(|| searched_in_address(call), |list| list.searched.clone());
    let title = match (call.text("type"), searched) {
        ("search", Some(text)) if call.is("showSearchTerm") => {
            format!("Search results for: &#8220;{}&#8221;", esc_html(&text))
        }
        ("search", Some(_)) => "Search results".to_owned(),
        ("archive", None) => list.map(|list| list.title.clone()).unwrap_or_default(),
        _ => String::new(),
    };
    // Other types than these have nothing to tell, but an element.
    if title.is_empty() && matches!(call.text("type"), "" | "search" | "archive" | "post-type") {
        return title;
    }
    let tag = heading(call.number("level").unwrap_or(1));
    format!("<{tag} {}>{title}</{tag}>", call.wrapper_with(&[&call.align_class()]))
}

fn searched_in_address(call: &Call<'_>) -> Option<String> {
    let facts = call.data().facts();
    let (path, query) = facts.current_url.split_once('?')?;
    let searched = query.split('&').find_map(|pair| pair.strip_prefix("s="))?;
    let is_home = path.trim_end_matches('/') == facts.home;
    is_home.then(|| percent_encoding::percent_decode_str(searched).decode_utf8_lossy().replace('+', " "))
}

pub(crate) fn term_template(call: &Call<'_>) -> String {
    let given = call.around("termQuery");
    if !given.is_object() {
        return String::new();
    }
    let ids = numbers(&given["include"]);
    let query = TermsQuery {
        taxonomy: given["taxonomy"].as_str().unwrap_or("category").to_owned(),
        hide_empty: svc_php::cast::truthy(&given["hideEmpty"]),
        parent: (!svc_php::cast::truthy(&given["showNested"])).then_some(TermId(0)),
        order: if given["orderBy"] == "count" { TermsOrder::Count } else { TermsOrder::Name },
        limit: Some(
            u64::try_from(svc_php::cast::to_int(&given["perPage"])).ok().filter(|n| *n > 0).unwrap_or(10).min(100),
        ),
    };
    let terms = call.data().terms(&query);
    let mut shown: Vec<_> = terms.iter().filter(|t| ids.is_empty() || ids.contains(&t.term.id.0)).collect();
    let ascends = given["order"].as_str().is_some_and(|order| order.eq_ignore_ascii_case("asc"));
    if ascends == (query.order == TermsOrder::Count) {
        shown.reverse();
    }
    let items: String = shown
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
            format!("<li class=\"{class}\">{inside}</li>")
        })
        .collect();
    if items.is_empty() { items } else { format!("<ul {}>{items}</ul>", call.wrapper_with(&[call.link_class()])) }
}

/// The term that a block is of.
fn term(call: &Call<'_>) -> Option<std::rc::Rc<crate::data::TermView>> {
    let id = svc_php::cast::to_int(&call.around("termId"));
    call.data().term(TermId(id), call.around("taxonomy").as_str()?)
}

pub(crate) fn term_name(call: &Call<'_>) -> String {
    let Some(term) = term(call) else { return String::new() };
    let inside = if call.is("isLink") {
        format!("<a href=\"{}\">{}</a>", esc_url(&term.link), term.term.name)
    } else {
        term.term.name.clone()
    };
    let tag = heading(call.number("level").unwrap_or_default());
    format!("<{tag} {}>{inside}</{tag}>", call.wrapper_with(&[&call.align_class(), call.link_class()]))
}

pub(crate) fn term_count(call: &Call<'_>) -> String {
    let Some(term) = term(call) else { return String::new() };
    let (open, close) = match call.text("bracketType") {
        "none" => ("", ""),
        "square" => ("[", "]"),
        "curly" => ("{", "}"),
        "angle" => ("<", ">"),
        _ => ("(", ")"),
    };
    format!("<div {}>{open}{}{close}</div>", call.wrapper(&[]), term.term.count)
}

pub(crate) fn term_description(call: &Call<'_>) -> String {
    let Some(term) = term(call).filter(|term| !term.term.description.is_empty()) else { return String::new() };
    let text = match call.around("inTermList") == true {
        true => svc_content::texturize(
            &kses::post(&term.term.description).replace("&amp;", "&"),
            svc_content::display::standard_shortcodes(),
        ),
        false => call.content_of(format!("term {}", term.term.id), |context| {
            svc_content::display::render_term_description(&term.term.description, context)
        }),
    };
    format!("<div {}>{text}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]))
}
