//! Lists of archives, terms, tags and pages.

use std::collections::HashMap;

use chrono::{Datelike, Days, NaiveDate};
use svc_model::{PostId, TermId};
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{
    core::BlockCall,
    data::{PostView, TermView, TermsOrder, TermsQuery},
    date,
    html::{formatted, stored},
    navigation::{SubmenuOpening, context_colors},
    posts::is_untitled,
    urls,
};

/// Maximum depth of nested terms or pages.
const MAX_LEVELS: usize = 32;

/// A script that opens the selected item of a dropdown list.
fn dropdown_script(id: &str, address: &Html) -> Html {
    html!(
        "<script>\n( function () {{\n\tvar list = document.getElementById( {} );\n\tlist.addEventListener( 'change', function () {{\n\t\tif ( list.value && list.value !== '-1' ) {{\n\t\t\tlocation.href = {};\n\t\t}}\n\t}} );\n}} )();\n</script>\n",
        script_text(id),
        address
    )
}

/// A string literal of a script.
fn script_text(text: &str) -> Html {
    Html::trusted(
        svc_php::json::compact(&text.into()),
        "JSON, whose slashes are escaped, so that it cannot end a script",
    )
}

/// A date archive: its URL, its label and its number of posts.
struct DateArchive {
    link: String,
    name: Html,
    count: u64,
}

pub(crate) fn archives(call: &BlockCall<'_>) -> Html {
    let kind = call.text("type");
    let archives = archives_of(call, kind);
    let with_counts = call.is("showPostCounts");
    if call.is("displayAsDropdown") {
        let id = html!("wp-block-archives-{}", call.next_id());
        let count = |n: u64| if with_counts { html!("&nbsp;({})", n) } else { Html::new() };
        let options: Html = archives
            .iter()
            .map(|a| html!("\t<option value='{}'> {} {}</option>\n", esc_url(&a.link), a.name, count(a.count)))
            .collect();
        let choose = match kind {
            "yearly" => "Select Year",
            "monthly" => "Select Month",
            "daily" => "Select Day",
            "weekly" => "Select Week",
            _ => "Select Post",
        };
        let hidden = if call.is("showLabel") { "" } else { " screen-reader-text" };
        return html!(
            "<div {}><label for=\"{id}\" class=\"wp-block-archives__label{hidden}\">Archives</label>\n\t\t<select id=\"{id}\" name=\"archive-dropdown\">\n\t\t<option value=\"\">{choose}</option>{options}</select>{}</div>",
            call.wrapper_with(&["wp-block-archives-dropdown"]),
            dropdown_script(&id, &Html::from("list.value")),
            id = id,
            hidden = hidden,
            choose = choose,
            options = options
        );
    }
    if archives.is_empty() {
        return html!("<div {}>No archives to show.</div>", call.wrapper_with(&["wp-block-archives-list"]));
    }
    let count = |n: u64| if with_counts { html!("&nbsp;({})", n) } else { Html::new() };
    let items: Html = archives
        .iter()
        .map(|a| html!("\t<li><a href='{}'>{}</a>{}</li>\n", esc_url(&a.link), a.name, count(a.count)))
        .collect();
    html!("<ul {}>{}</ul>", call.wrapper_with(&["wp-block-archives-list"]), items)
}

fn archives_of(call: &BlockCall<'_>, kind: &str) -> Vec<DateArchive> {
    let data = call.data();
    let site_info = data.site_info();
    let mut groups: Vec<(NaiveDate, u64)> = Vec::new();
    for (day, count) in data.days().iter() {
        let first = match kind {
            "yearly" => day.with_ordinal(1),
            "monthly" => day.with_day(1),
            "weekly" => Some(week_start(*day, site_info.start_of_week)),
            "daily" => Some(*day),
            _ => None,
        };
        let Some(first) = first else { return Vec::new() };
        match groups.last_mut() {
            Some((listed, n)) if *listed == first => *n += count,
            _ => groups.push((first, *count)),
        }
    }
    let named = |day: NaiveDate, format: &str| stored(&date::format(day.and_time(Default::default()), format));
    let archive = |(day, count): (NaiveDate, u64)| {
        let (year, month, number) = (day.year(), day.month(), day.day());
        let (link, name) = match kind {
            "yearly" => (data.date_link(year, None, None), html!("{}", year)),
            "monthly" => (data.date_link(year, Some(month), None), named(day, "F Y")),
            "weekly" => {
                let end = day.checked_add_days(Days::new(6)).unwrap_or(day);
                // The link has the year of the week's first day.
                let week = week_number(day, site_info.start_of_week);
                let address = urls::with(
                    &format!("{}/", site_info.home),
                    &[("m", &week.0.to_string()), ("w", &week.1.to_string())],
                );
                (address, html!("{}&#8211;{}", named(day, &site_info.date_format), named(end, &site_info.date_format)))
            }
            _ => (data.date_link(year, Some(month), Some(number)), named(day, &site_info.date_format)),
        };
        DateArchive { link, name, count }
    };
    groups.into_iter().map(archive).collect()
}

/// The first day of a week.
fn week_start(day: NaiveDate, start_of_week: u32) -> NaiveDate {
    let past = (day.weekday().num_days_from_sunday() + 7 - start_of_week % 7) % 7;
    day.checked_sub_days(Days::new(u64::from(past))).unwrap_or(day)
}

/// The year and number of a week by its first day. If weeks start on Monday, the first week is the one with most of
/// its days in the year (ISO 8601); otherwise it is the first one that starts in the year.
fn week_number(first: NaiveDate, start_of_week: u32) -> (i32, u32) {
    if start_of_week == 1 {
        let week = first.iso_week();
        return (week.year(), week.week());
    }
    (first.year(), (first.ordinal0() / 7) + 1)
}

/// Groups terms by parent.
fn by_parent(terms: &[std::rc::Rc<TermView>]) -> HashMap<TermId, Vec<&TermView>> {
    let listed: std::collections::HashSet<TermId> = terms.iter().map(|t| t.term.id).collect();
    let mut out: HashMap<TermId, Vec<&TermView>> = HashMap::new();
    for term in terms {
        // Children of a term that is not listed are at the top level.
        let parent = if listed.contains(&term.term.parent) { term.term.parent } else { TermId(0) };
        out.entry(parent).or_default().push(term);
    }
    out
}

/// The number of posts of a term and its descendants.
fn count_with_descendants(term: &TermView, tree: &HashMap<TermId, Vec<&TermView>>, with_levels: usize) -> i64 {
    let below = tree.get(&term.term.id).filter(|_| with_levels > 0).into_iter().flatten();
    term.term.count + below.map(|t| count_with_descendants(t, tree, with_levels - 1)).sum::<i64>()
}

pub(crate) fn categories(call: &BlockCall<'_>) -> Html {
    let name = call.text("taxonomy");
    let Some(taxonomy) = call.data().taxonomy(name) else { return Html::new() };
    let query = TermsQuery {
        taxonomy: name.to_owned(),
        hide_empty: !call.is("showEmpty"),
        parent: call.is("showOnlyTopLevel").then_some(TermId(0)),
        ..TermsQuery::default()
    };
    let terms = call.data().terms(&query);
    let nested = call.is("showHierarchy") && taxonomy.hierarchical;
    let tree = by_parent(&terms);
    let count_of =
        |term: &TermView| if nested { count_with_descendants(term, &tree, MAX_LEVELS) } else { term.term.count };
    let class = format!("wp-block-categories-taxonomy-{name}");
    if call.is("displayAsDropdown") {
        let id = html!("wp-block-categories-{}", call.next("categories"));
        let shown = if nested { with_levels(&tree) } else { terms.iter().map(|t| (&**t, 0)).collect() };
        let options: Html = shown
            .iter()
            .map(|(term, level)| {
                let count =
                    if call.is("showPostCounts") { html!("&nbsp;&nbsp;({})", count_of(term)) } else { Html::new() };
                html!(
                    "\t<option class=\"level-{}\" value=\"{}\">{}{}{}</option>\n",
                    level,
                    esc_attr(&term.term.slug),
                    (0..3 * level).map(|_| "&nbsp;").collect::<Html>(),
                    stored(&term.term.name),
                    count
                )
            })
            .collect();
        let label = match call.text("label") {
            "" => esc_html(&taxonomy.label),
            label => svc_content::kses::post(label),
        };
        let hidden = if call.is("showLabel") { "" } else { " screen-reader-text" };
        let address = html!(
            "{} + encodeURIComponent( list.value )",
            script_text(&format!("{}/?{}=", call.data().site_info().home, taxonomy.query_var))
        );
        return html!(
            "<div {}><label class=\"wp-block-categories__label{hidden}\" for=\"{id}\">{label}</label><select  name='{}' id='{id}' class='postform'>\n\t<option value='-1'>Select {}</option>\n{options}</select>{}\n</div>",
            call.wrapper_with(&["wp-block-categories-dropdown", &class]),
            esc_attr(&taxonomy.query_var),
            esc_html(&taxonomy.singular),
            dropdown_script(&id, &address),
            hidden = hidden,
            id = id,
            label = label,
            options = options
        );
    }
    let item = |term: &TermView| {
        let count = if call.is("showPostCounts") { html!(" ({})", count_of(term)) } else { Html::new() };
        html!(
            "\t<li class=\"cat-item cat-item-{}\"><a href=\"{}\">{}</a>{}\n",
            term.term.id.0,
            esc_url(&term.link),
            stored(&term.term.name),
            count
        )
    };
    let items = if terms.is_empty() {
        html!("<li class=\"cat-item-none\">No {}</li>", esc_html(&taxonomy.label.to_lowercase()))
    } else if nested {
        nested_items(&tree, TermId(0), 0, &item)
    } else {
        terms.iter().map(|term| html!("{}</li>\n", item(term))).collect()
    };
    html!("<ul {}>{}</ul>", call.wrapper_with(&["wp-block-categories-list", &class]), items)
}

/// The descendants of a term as nested lists.
fn nested_items(
    tree: &HashMap<TermId, Vec<&TermView>>,
    parent: TermId,
    level: usize,
    item: &dyn Fn(&TermView) -> Html,
) -> Html {
    let mut out = Html::new();
    for term in tree.get(&parent).into_iter().flatten() {
        out.push(item(term));
        if level < MAX_LEVELS && tree.contains_key(&term.term.id) {
            let indent: Html = (0..level).map(|_| "\t").collect();
            let nested = nested_items(tree, term.term.id, level + 1, item);
            out.push(html!("{indent}<ul class='children'>\n{}{indent}</ul>\n", nested, indent = indent));
        }
        out.push("</li>\n");
    }
    out
}

/// Terms with their levels, each before its children.
fn with_levels<'t>(tree: &HashMap<TermId, Vec<&'t TermView>>) -> Vec<(&'t TermView, usize)> {
    fn walk<'t>(
        tree: &HashMap<TermId, Vec<&'t TermView>>,
        parent: TermId,
        level: usize,
        out: &mut Vec<(&'t TermView, usize)>,
    ) {
        for term in tree.get(&parent).into_iter().flatten() {
            out.push((term, level));
            if level < MAX_LEVELS {
                walk(tree, term.term.id, level + 1, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(tree, TermId(0), 0, &mut out);
    out
}

pub(crate) fn tag_cloud(call: &BlockCall<'_>) -> Html {
    let query = TermsQuery {
        taxonomy: call.text("taxonomy").to_owned(),
        hide_empty: true,
        order: TermsOrder::Count,
        limit: Some(u64::try_from(call.number("numberOfTags").unwrap_or(45)).unwrap_or(45).min(1_000)),
        ..TermsQuery::default()
    };
    let found = call.data().terms(&query);
    let mut terms: Vec<&TermView> = found.iter().map(|t| &**t).collect();
    if terms.is_empty() {
        return Html::new();
    }
    terms.sort_by_cached_key(|t| t.term.name.to_lowercase());
    let (smallest, unit) = size(call.text("smallestFontSize"));
    let (largest, _) = size(call.text("largestFontSize"));
    // Weights are logarithmic.
    let weight = |t: &TermView| ((t.term.count as f64 + 1.0).log10() * 100.0).round();
    let min_weight = terms.iter().map(|t| weight(t)).fold(f64::INFINITY, f64::min);
    let max_weight = terms.iter().map(|t| weight(t)).fold(f64::NEG_INFINITY, f64::max);
    let step = (largest - smallest).max(1.0) / (max_weight - min_weight).max(1.0);
    let link = |(index, term): (usize, &&TermView)| {
        let count = term.term.count;
        let items = if count == 1 { Html::from("1 item") } else { html!("{} items", formatted(count as f64)) };
        let shown = if call.is("showTagCounts") {
            html!("<span class=\"tag-link-count\"> ({})</span>", count)
        } else {
            Html::new()
        };
        let size = smallest + (weight(term) - min_weight) * step;
        html!(
            "<a href=\"{}\" class=\"tag-cloud-link tag-link-{} tag-link-position-{}\" style=\"font-size: {}{unit};\" aria-label=\"{} ({items})\">{}{shown}</a>",
            esc_url(&term.link),
            term.term.id.0,
            index + 1,
            esc_html(&number(size)),
            esc_attr(&svc_text::strip_all_tags(&term.term.name, false)),
            esc_html(&term.term.name),
            unit = esc_attr(unit),
            items = items,
            shown = shown
        )
    };
    let links: Vec<Html> = terms.iter().enumerate().map(link).collect();
    html!("<p {}>{}</p>", call.wrapper(&[]), Html::join(links, "\n"))
}

/// The number and the unit of a size such as `8pt`.
fn size(text: &str) -> (f64, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = &text[end..];
    let is_unit = !unit.is_empty() && unit.bytes().all(|b| b.is_ascii_alphabetic() || b == b'%');
    (text[..end].parse().unwrap_or(8.0), if is_unit { unit } else { "pt" })
}

/// A number with at most fourteen digits, as PHP prints it.
fn number(value: f64) -> String {
    let digits = if value.abs() >= 1.0 { 14_usize.saturating_sub(value.abs().log10() as usize + 1) } else { 14 };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The page list block. In a navigation block, items have additional classes and buttons.
pub(crate) fn page_list(call: &BlockCall<'_>) -> Html {
    let pages = call.data().pages();
    let parent = PostId(call.number("parentPageID").unwrap_or_default());
    let listed: std::collections::HashSet<PostId> = pages.iter().map(|p| p.post.id).collect();
    let mut tree: HashMap<PostId, Vec<&PostView>> = HashMap::new();
    for page in pages.iter() {
        // Children of unpublished pages are not listed.
        if page.post.parent.is_none() || listed.contains(&page.post.parent) {
            tree.entry(page.post.parent).or_default().push(page);
        }
    }
    if !tree.contains_key(&parent) {
        return Html::new();
    }
    let opening = SubmenuOpening::around(call);
    let list = PageTree { call, tree, opening, front: call.data().site_info().front_page };
    let items = list.items(parent, 0);
    if call.is("isNested") {
        return items;
    }
    let (class, css) = if opening.is_some() { context_colors(call, false) } else { Default::default() };
    html!("<ul {}>{}</ul>", call.wrapper(&[("class", &class), ("style", &css)]), items)
}

struct PageTree<'c> {
    call: &'c BlockCall<'c>,
    tree: HashMap<PostId, Vec<&'c PostView>>,
    opening: Option<SubmenuOpening>,
    front: PostId,
}

impl PageTree<'_> {
    fn items(&self, parent: PostId, level: usize) -> Html {
        self.tree.get(&parent).into_iter().flatten().map(|page| self.item(page, level)).collect()
    }

    fn item(&self, page: &PostView, level: usize) -> Html {
        let has_child = level < MAX_LEVELS && self.tree.contains_key(&page.post.id);
        let is_current = self.call.data().current_url() == page.link;
        let in_menu = self.opening.is_some();
        let opening_class = self.opening.map_or("", SubmenuOpening::class);
        let menu_class = if opening_class.is_empty() { Html::new() } else { html!(" {}", opening_class) };
        // Submenu items have the colours of the overlay.
        let (colors, css) = if in_menu { context_colors(self.call, true) } else { Default::default() };
        let below = html!(" {}", esc_attr(&colors));
        let style = match css {
            css if level > 0 && !css.is_empty() => html!(" style=\"{};\"", esc_attr(&css)),
            _ => Html::new(),
        };
        let mut class = Html::from("wp-block-pages-list__item");
        class.push(is_current.then_some(" current-menu-item"));
        class.push(has_child.then_some(" has-child"));
        class.push(in_menu.then_some(" wp-block-navigation-item"));
        class.push(in_menu.then_some(menu_class));
        class.push((page.post.id == self.front && !self.front.is_none()).then_some(" menu-item-home"));
        class.push((level > 0).then_some(below));
        let link_class = if in_menu { " wp-block-navigation-item__content" } else { "" };
        // The stored title: page lists mark neither private nor protected pages.
        let title = if is_untitled(&page.post.title) { "(no title)" } else { &page.post.title };
        let current = if is_current { " aria-current=\"page\"" } else { "" };
        let nested = if has_child {
            let button = self.opening.map_or_else(Html::new, |opening| opening.button(title));
            let script_attributes = self.opening.map_or("", SubmenuOpening::list_attributes);
            html!(
                "{}<ul {}class=\"wp-block-navigation__submenu-container\">{}</ul>",
                button,
                script_attributes,
                self.items(page.post.id, level + 1)
            )
        } else {
            Html::new()
        };
        let opens_lists = |opening: &SubmenuOpening| has_child && *opening != SubmenuOpening::HoverOnly;
        let script_attributes =
            self.opening.filter(opens_lists).map_or_else(Html::new, SubmenuOpening::script_attributes);
        let title = svc_content::kses::post(title);
        let link = if has_child && self.opening == Some(SubmenuOpening::Click) {
            SubmenuOpening::toggle(&title, &title, [" ", "wp-block-page-list__submenu-icon "])
        } else {
            html!(
                "<a class=\"wp-block-pages-list__item__link{}\" href=\"{}\"{}>{}</a>",
                link_class,
                esc_url(&page.link),
                current,
                title
            )
        };
        html!("<li {}class=\"{}\"{}>{}{}</li>", script_attributes, class, style, link, nested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_are_numbered() {
        let day = |y, m, d| NaiveDate::from_ymd_opt(y, m, d).unwrap();
        for (date, start, first, number) in [
            (day(2024, 9, 16), 1, day(2024, 9, 16), (2024, 38)),
            (day(2024, 3, 3), 1, day(2024, 2, 26), (2024, 9)),
            (day(2024, 3, 3), 0, day(2024, 3, 3), (2024, 9)),
        ] {
            let begins = week_start(date, start);
            assert_eq!((begins, week_number(begins, start)), (first, number), "{date}");
        }
    }

    #[test]
    fn sizes_have_fourteen_digits() {
        for (value, text) in [(21.282_051_282_051_283, "21.282051282051"), (22.0, "22"), (8.5, "8.5"), (0.0, "0")] {
            assert_eq!(number(value), text);
        }
        assert_eq!((size("8pt"), size("1.5em"), size("x")), ((8.0, "pt"), (1.5, "em"), (8.0, "x")));
    }
}
