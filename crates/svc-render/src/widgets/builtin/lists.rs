//! List widgets: Archives, Categories, Pages, Recent Comments, Recent Posts, Tag Cloud.

use std::collections::{HashMap, HashSet};

use svc_auth::UserVisibility;
use svc_blocks::title_or_placeholder;
use svc_model::{Post, PostId, Term};
use svc_site::{
    SiteResult, comments::hide_user, languages::slugs_of_terms, permalinks, terms::paths::slug_paths,
    widgets::instance::Instance,
};
use svc_store::{
    Order,
    comments::{self, CommentQuery},
    posts::{self, PostOrderBy, PostQuery},
    terms::{self, TermOrderBy, TermQuery},
};
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{
    content as render,
    renderer::widget_types::WidgetContext,
    widgets::builtin::simple::{Input, SimpleWidget},
};

/// Maximum number of items in a list.
const MAX_ITEMS: u64 = 1_000;
/// Maximum number of tags in a tag cloud.
const MAX_TAGS: u64 = 45;
/// Default number of recent posts or comments.
const DEFAULT_RECENT: i64 = 5;

/// English names of the months.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const TITLE: crate::widgets::builtin::simple::Setting = ("title", "Title:", Input::Text);
const DROPDOWN: crate::widgets::builtin::simple::Setting = ("dropdown", "Display as dropdown", Input::Switch);
const COUNT: crate::widgets::builtin::simple::Setting = ("count", "Show post counts", Input::Switch);
const N_POSTS: crate::widgets::builtin::simple::Setting =
    ("number", "Number of posts to show:", Input::Number(DEFAULT_RECENT));
const N_COMMENTS: crate::widgets::builtin::simple::Setting =
    ("number", "Number of comments to show:", Input::Number(DEFAULT_RECENT));

/// The widget types of this module.
#[rustfmt::skip]
pub(crate) const TYPES: [SimpleWidget; 6] = [
    SimpleWidget { id_base: "archives", name: "Archives", description: "Shows links to the archive of each month.", class: "widget_archive",
             settings: &[TITLE, COUNT, DROPDOWN], partial_update: false, render: archives },
    SimpleWidget { id_base: "categories", name: "Categories", description: "Shows your categories as a list or a menu.", class: "widget_categories",
             settings: &[TITLE, COUNT, ("hierarchical", "Show hierarchy", Input::Switch), DROPDOWN], partial_update: false, render: categories },
    SimpleWidget { id_base: "pages", name: "Pages", description: "Shows a list of your pages.", class: "widget_pages",
             settings: &[TITLE, ("sortby", "Sort by:", Input::Choice(&PAGE_ORDERS, "menu_order")), ("exclude", "Exclude:", Input::Text)], partial_update: false, render: pages },
    SimpleWidget { id_base: "recent-comments", name: "Recent Comments", description: "Shows the latest comments.", class: "widget_recent_comments",
             settings: &[TITLE, N_COMMENTS], partial_update: false, render: recent_comments },
    SimpleWidget { id_base: "recent-posts", name: "Recent Posts", description: "Shows your latest posts.", class: "widget_recent_entries",
             settings: &[TITLE, N_POSTS, ("show_date", "Display post date?", Input::Flag)], partial_update: false, render: recent_posts },
    SimpleWidget { id_base: "tag_cloud", name: "Tag Cloud", description: "Shows a cloud of the tags that you use most.", class: "widget_tag_cloud",
             settings: &[TITLE, COUNT, ("taxonomy", "Taxonomy:", Input::Text)], partial_update: false, render: tag_cloud },
];

const PAGE_ORDERS: [(&str, &str); 3] = [("post_title", "Page title"), ("menu_order", "Page order"), ("ID", "Page ID")];

/// The name of a term.
fn stored(name: &str) -> Html {
    Html::trusted(name, "stored as HTML: filtered when it was saved")
}

/// A title and a list of items.
fn list(title: &Html, items: &Html) -> Option<Html> {
    Some(html!("{}\n\t\t\t<ul>\n\t\t\t{}\t\t\t</ul>\n\n\t\t\t", title, items))
}

/// A script that runs `action` on a selection in the drop-down list with this id. `action` accesses the element as `list`.
fn on_choice(id: &Html, action: &'static str) -> Html {
    html!(
        "<script>\n(function (list) {{\n\tlist.addEventListener(\"change\", function () {{\n\t\t{}\n\t}});\n}})(document.getElementById({}));\n</script>\n",
        action,
        Html::trusted(
            svc_php::json::compact(&id.as_str().into()),
            "JSON, whose slashes are escaped, so that it cannot end a script"
        )
    )
}

fn archives(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let title = context.title(instance, "Archives");
    let (count, as_menu) = (instance.is_on("count"), instance.is_on("dropdown"));
    let mut items = Html::new();
    for (year, month, n) in posts::months(context.db, "post", MAX_ITEMS)? {
        let Some(name) = usize::try_from(month).ok().and_then(|m| MONTHS.get(m.checked_sub(1)?)) else { continue };
        let href = esc_url(&context.settings.urls.site.date_link(year, Some(month), None));
        let number = if count { html!("&nbsp;({})", n) } else { Html::new() };
        items.push(if as_menu {
            html!("\t<option value='{}'> {} {} {}</option>\n", href, name, year, number)
        } else {
            html!("\t<li><a href='{}'>{} {}</a>{}</li>\n", href, name, year, number)
        });
    }
    if as_menu {
        let (id, label) = (html!("archives-dropdown-{}", context.number), context.title_text(instance, "Archives"));
        let script = on_choice(&id, "if (list.value) { location.href = list.value; }");
        return Ok(Some(html!(
            "{}\t\t<label class=\"screen-reader-text\" for=\"{id}\">{}</label>\n\t\t<select id=\"{id}\" \
             name=\"archive-dropdown\">\n\t\t\t\n\t\t\t<option value=\"\">Select Month</option>\n\t\t\t{}\n\t\t\
             </select>\n\n\t\t\t{}",
            title,
            label,
            items,
            script,
            id = id
        )));
    }
    Ok(list(&title, &html!("\t{}", items)))
}

fn categories(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let title = context.title(instance, "Categories");
    let Some(taxonomy) = context.site.registries.taxonomies.get("category") else { return Ok(None) };
    let query = TermQuery::default()
        .taxonomies(vec![taxonomy.name.clone()])
        .hide_empty(true)
        .order_by(TermOrderBy::Name)
        .order(Order::Asc)
        .limit(Some(MAX_ITEMS));
    let ids = terms::query(context.db, &query)?.ids;
    let rows = terms::get_many(context.db, &ids)?;
    let paths = slug_paths(context.db, &taxonomy.name, rows.iter())?;
    let languages = slugs_of_terms(context.db, context.settings, rows.iter())?;
    let url = |term: &Term| {
        let path = paths.get(&term.id).and_then(|p| p.split_last()).map_or(&[][..], |(_, above)| above);
        let above: Vec<&str> = path.iter().map(String::as_str).collect();
        esc_url(&context.settings.urls.term(term, taxonomy, &above, languages.get(&term.id)))
    };
    let nested = instance.is_on("hierarchical");
    let tree = Tree::new(&rows, |term| term.id.0, |term| term.parent.0);
    // In a hierarchy, the count of a category includes its descendants.
    let count = |term: &Term| {
        let below = if nested { tree.below(term.id.0, MAX_DEPTH) } else { Vec::new() };
        term.count + below.iter().map(|(term, _)| term.count).sum::<i64>()
    };
    let number = |space: &'static str, term: &Term| {
        if instance.is_on("count") { html!("{}({})", space, count(term)) } else { Html::new() }
    };
    if instance.is_on("dropdown") {
        let ordered = if nested { tree.below(0, MAX_DEPTH) } else { rows.iter().map(|term| (term, 0)).collect() };
        let option = |(term, level): &(&Term, usize)| {
            let (indent, number) = ((0..3 * level).map(|_| "&nbsp;").collect::<Html>(), number("&nbsp;&nbsp;", term));
            html!(
                "\t<option class=\"level-{}\" value=\"{}\">{}{}{}</option>\n",
                level,
                term.id.0,
                indent,
                stored(&term.name),
                number
            )
        };
        let options: Html = ordered.iter().map(option).collect();
        let (id, label) = (context.category_menu_id(), context.title_text(instance, "Categories"));
        let action = esc_url(&context.settings.urls.site.home_url(""));
        let script = on_choice(&id, "if (list.value > 0) { list.form.submit(); }");
        return Ok(Some(html!(
            "{title}<form action=\"{action}\" method=\"get\"><label class=\"screen-reader-text\" \
             for=\"{id}\">{label}</label><select  name='cat' id='{id}' class='postform'>\n\t<option value='-1'>Select \
             Category</option>\n{options}</select>\n</form>{script}",
            title = title,
            action = action,
            id = id,
            label = label,
            options = options,
            script = script
        )));
    }
    let item = |term: &Term| {
        let (id, href, name) = (term.id.0, url(term), stored(&term.name));
        html!("<li class=\"cat-item cat-item-{}\"><a href=\"{}\">{}</a>{}\n", id, href, name, number(" ", term))
    };
    if !nested {
        let items: Html = rows.iter().map(|term| html!("\t{}</li>\n", item(term))).collect();
        return Ok(list(&title, &html!("\t{}", items)));
    }
    let nested = Nested {
        rows: &rows,
        id: |term: &Term| term.id.0,
        parent: |term: &Term| term.parent.0,
        open: &|term, _| html!("\t{}", item(term)),
        indents_items: false,
    };
    Ok(list(&title, &html!("\t{}", nested.html())))
}

/// Items by the id of their parent. Items whose parent is not in the list are under 0.
struct Tree<'a, T>(HashMap<i64, Vec<&'a T>>, fn(&T) -> i64);

impl<'a, T> Tree<'a, T> {
    fn new(rows: &'a [T], id: fn(&T) -> i64, parent: fn(&T) -> i64) -> Self {
        let known: HashSet<i64> = rows.iter().map(id).collect();
        let mut below: HashMap<i64, Vec<&T>> = HashMap::new();
        for row in rows {
            let parent = parent(row);
            below.entry(if known.contains(&parent) { parent } else { 0 }).or_default().push(row);
        }
        Tree(below, id)
    }

    /// The descendants of an item with their levels, in depth-first order.
    fn below(&self, id: i64, depth: usize) -> Vec<(&'a T, usize)> {
        let mut found = Vec::new();
        let Some(depth) = depth.checked_sub(1) else { return found };
        for row in self.0.get(&id).into_iter().flatten() {
            found.push((*row, 0));
            found.extend(self.below((self.1)(row), depth).into_iter().map(|(row, level)| (row, level + 1)));
        }
        found
    }
}

/// A hierarchy of items, rendered as nested lists.
struct Nested<'a, T> {
    rows: &'a [T],
    id: fn(&T) -> i64,
    parent: fn(&T) -> i64,
    /// Renders an item without its closing tag. The second argument: whether it has children.
    open: &'a dyn Fn(&T, bool) -> Html,
    /// Whether items below the top level are indented, as their lists are.
    indents_items: bool,
}

/// Maximum nesting depth.
const MAX_DEPTH: usize = 20;

impl<T> Nested<'_, T> {
    /// As in WordPress, items whose ancestor is not in the list are at the end, without their children.
    fn html(&self) -> Html {
        let mut below: Vec<(i64, Vec<&T>)> = Vec::new();
        for row in self.rows {
            let parent = (self.parent)(row);
            match below.iter_mut().find(|(known, _)| *known == parent) {
                Some((_, children)) => children.push(row),
                None => below.push((parent, vec![row])),
            }
        }
        // Without items at the top, the siblings of the first one are there.
        let top =
            if below.iter().any(|(parent, _)| *parent == 0) { 0 } else { self.rows.first().map_or(0, self.parent) };
        let mut html = self.level(top, &mut below, 0);
        for row in below.into_iter().flat_map(|(_, children)| children) {
            html.push((self.open)(row, false));
            html.push("</li>\n");
        }
        html
    }

    /// The list of the children of an item, which are taken out of `below`.
    fn level(&self, parent: i64, below: &mut Vec<(i64, Vec<&T>)>, depth: usize) -> Html {
        let Some(at) = below.iter().position(|(known, _)| *known == parent) else { return Html::new() };
        let mut html = Html::new();
        let indent: Html = (0..depth).map(|_| "\t").collect();
        for row in below.remove(at).1 {
            let inner = if depth < MAX_DEPTH { self.level((self.id)(row), below, depth + 1) } else { Html::new() };
            if self.indents_items {
                html.push(&indent);
            }
            html.push((self.open)(row, !inner.is_empty()));
            if !inner.is_empty() {
                if !html.ends_with('\n') {
                    html.push("\n");
                }
                html.push(html!(
                    "{indent}<ul class='children'>\n{inner}{indent}</ul>\n",
                    indent = indent,
                    inner = inner
                ));
            }
            html.push("</li>\n");
        }
        html
    }
}

fn pages(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let exclude = svc_php::list::parse_id_list(&instance.text("exclude").into()).unwrap_or_default();
    let order = match instance.text("sortby").as_str() {
        "post_title" => vec![(PostOrderBy::Title, Order::Asc)],
        "ID" => vec![(PostOrderBy::Id, Order::Asc)],
        _ => vec![(PostOrderBy::MenuOrder, Order::Asc), (PostOrderBy::Title, Order::Asc)],
    };
    let query = PostQuery::published("page", MAX_ITEMS)
        .exclude(exclude.into_iter().filter_map(|id| i64::try_from(id).ok()).map(PostId).collect())
        .order_by(order);
    let ids = posts::query(context.db, &query)?.ids;
    let rows = posts::get_many(context.db, &ids)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let links = permalinks::of_posts(context.db, context.site, context.settings, &rows)?;
    let open = |page: &Post, has_children: bool| {
        let href = links.get(&page.id).map(|href| esc_url(href)).unwrap_or_default();
        let class = if has_children { " page_item_has_children" } else { "" };
        let (id, title) = (page.id.0, post_title(page));
        html!("<li class=\"page_item page-item-{}{}\"><a href=\"{}\">{}</a>", id, class, href, title)
    };
    let nested =
        Nested { rows: &rows, id: |page| page.id.0, parent: |page| page.parent.0, open: &open, indents_items: true };
    Ok(list(&context.title(instance, "Pages"), &html!("\t{}", nested.html())))
}

/// A post's title as HTML, or a placeholder.
fn post_title(post: &Post) -> Html {
    if post.title.is_empty() { html!("#{} (no title)", post.id.0) } else { render::title(&post.title) }
}

/// The number of items to list.
fn item_count(instance: &Instance) -> u64 {
    match instance.number("number") {
        n if n > 0 => n.unsigned_abs().min(MAX_ITEMS),
        _ => DEFAULT_RECENT.unsigned_abs(),
    }
}

fn recent_posts(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let query = PostQuery::published("post", item_count(instance)).order_by(vec![(PostOrderBy::Date, Order::Desc)]);
    let ids = posts::query(context.db, &query)?.ids;
    let rows = posts::get_many(context.db, &ids)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let links = permalinks::of_posts(context.db, context.site, context.settings, &rows)?;
    let format = context.settings.option("date_format");
    let mut items = Html::new();
    for post in &rows {
        let href = links.get(&post.id).map(|href| esc_url(href)).unwrap_or_default();
        let title = title_or_placeholder(title_with_prefix(post));
        let date = match post.date.filter(|_| instance.is_on("show_date")) {
            Some(date) => {
                let date = esc_html(&svc_blocks::date::format(date, format));
                html!("\t\t\t\t\t\t<span class=\"post-date\">{}</span>\n\t\t\t\t\t", date)
            }
            None => Html::new(),
        };
        items.push(html!(
            "\t\t\t\t\t\t\t\t<li>\n\t\t\t\t\t<a href=\"{}\">{}</a>\n\t\t\t\t\t{}\t\t\t\t</li>\n\t\t\t",
            href,
            title,
            date
        ));
    }
    let title = context.title(instance, "Recent Posts");
    Ok(Some(html!("\n\t\t{}\n\t\t<ul>\n\t\t\t{}\t\t</ul>\n\n\t\t", title, items)))
}

/// A post's title as HTML; that of a post with a password has a prefix.
fn title_with_prefix(post: &Post) -> Html {
    let title = render::title(&post.title);
    if post.is_protected() { html!("Protected: {}", title) } else { title }
}

fn recent_comments(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let query = CommentQuery::default()
        .approved(vec!["1".to_owned()])
        .types_exclude(vec!["note".to_owned()])
        .post_statuses(vec!["publish".to_owned()])
        .order(Order::Desc)
        .limit(Some(item_count(instance)));
    let ids = comments::query(context.db, &query)?.ids;
    let mut rows = comments::get_many(context.db, &ids)?;
    if context.site.policies.users == UserVisibility::Private {
        for comment in rows.iter_mut().filter(|comment| !comment.user.is_none()) {
            hide_user(comment);
            comment.author = "Anonymous".to_owned();
        }
    }
    let post_ids: Vec<PostId> = rows.iter().map(|c| c.post).collect();
    let found = posts::get_many(context.db, &post_ids)?;
    let links = permalinks::of_posts(context.db, context.site, context.settings, &found)?;
    let mut items = Html::new();
    for comment in &rows {
        let Some(post) = found.iter().find(|post| post.id == comment.post) else { continue };
        let href = links.get(&post.id).map(|href| esc_url(href)).unwrap_or_default();
        // Between tags, quotes are no markup.
        let author = Html::trusted(
            esc_html(&comment.author).replace("&#039;", "'").replace("&quot;", "\""),
            "escaped, but for the quotes of a text between tags",
        );
        items.push(html!(
            "<li class=\"recentcomments\"><span class=\"comment-author-link\">{}</span> on <a \
             href=\"{}#comment-{}\">{}</a></li>",
            author,
            href,
            comment.id.0,
            title_with_prefix(post)
        ));
    }
    Ok(Some(html!("{}<ul id=\"recentcomments\">{}</ul>", context.title(instance, "Recent Comments"), items)))
}

/// Smallest and largest font size in a tag cloud, in points.
const FONT_SIZES: (f64, f64) = (8.0, 22.0);

fn tag_cloud(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let named = instance.text("taxonomy");
    let taxonomies = &context.site.registries.taxonomies;
    let Some(taxonomy) = taxonomies.get(&named).or_else(|| taxonomies.get("post_tag")) else { return Ok(None) };
    let query = TermQuery::default()
        .taxonomies(vec![taxonomy.name.clone()])
        .hide_empty(true)
        .order_by(TermOrderBy::Count)
        .order(Order::Desc)
        .limit(Some(MAX_TAGS));
    let ids = terms::query(context.db, &query)?.ids;
    let mut rows = terms::get_many(context.db, &ids)?;
    if rows.is_empty() {
        return Ok(None);
    }
    rows.sort_by_cached_key(|term| term.name.to_lowercase());
    let paths = slug_paths(context.db, &taxonomy.name, rows.iter())?;
    let languages = slugs_of_terms(context.db, context.settings, rows.iter())?;
    // Sizes grow with the logarithm of the count, in whole hundredths, so that a single large tag does not dwarf the others.
    #[expect(clippy::cast_precision_loss, reason = "post counts are small")]
    let weight = |term: &Term| ((term.count.max(0) as f64 + 1.0).log10() * 100.0).round();
    let (least, most) = rows.iter().map(weight).fold((f64::MAX, f64::MIN), |(a, b), w| (a.min(w), b.max(w)));
    let step = (FONT_SIZES.1 - FONT_SIZES.0) / if most > least { most - least } else { 1.0 };
    let link = |(n, term): (usize, &Term)| {
        let path = paths.get(&term.id).and_then(|p| p.split_last()).map_or(&[][..], |(_, above)| above);
        let above: Vec<&str> = path.iter().map(String::as_str).collect();
        let href = esc_url(&context.settings.urls.term(term, taxonomy, &above, languages.get(&term.id)));
        let size = svc_php::float::to_text(FONT_SIZES.0 + (weight(term) - least) * step);
        let (id, name, count, position) = (term.id.0, stored(&term.name), term.count, n + 1);
        let items = if count == 1 { "item" } else { "items" };
        let number = if instance.is_on("count") {
            html!("<span class=\"tag-link-count\"> ({})</span>", count)
        } else {
            Html::new()
        };
        html!(
            "<a href=\"{href}\" class=\"tag-cloud-link tag-link-{id} tag-link-position-{position}\" style=\"font-size: \
             {size}pt;\" aria-label=\"{} ({count} {items})\">{name}{number}</a>",
            esc_attr(&term.name),
            href = href,
            id = id,
            position = position,
            size = esc_attr(&size),
            count = count,
            items = items,
            name = name,
            number = number
        )
    };
    let links: Vec<Html> = rows.iter().enumerate().map(link).collect();
    let title = context.title(instance, &taxonomy.label);
    Ok(Some(html!("{}<div class=\"tagcloud\">{}</div>\n", title, Html::join(links, "\n"))))
}
