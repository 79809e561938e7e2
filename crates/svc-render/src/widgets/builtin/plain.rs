//! Other widgets: Calendar, Meta, RSS, Search.

use chrono::{Datelike, Days, NaiveDate};
use svc_site::{SiteResult, widgets::instance::Instance};
use svc_store::{
    Order,
    posts::{self, PostOrderBy, PostQuery},
};
use svc_text::{Html, esc_html, esc_url, html};

use crate::{
    renderer::widget_types::WidgetContext,
    widgets::builtin::{
        lists::MONTHS,
        simple::{Input, Setting, SimpleWidget},
    },
};

const TITLE: Setting = ("title", "Title:", Input::Text);

/// The widget types of this module.
#[rustfmt::skip]
pub(crate) const TYPES: [SimpleWidget; 4] = [
    SimpleWidget { id_base: "calendar", name: "Calendar", description: "Shows a calendar with links to the days of your posts.", class: "widget_calendar",
             settings: &[TITLE], partial_update: false, render: calendar },
    SimpleWidget { id_base: "meta", name: "Meta", description: "Shows links to log in, to the administration area and to the feeds.", class: "widget_meta",
             settings: &[TITLE], partial_update: false, render: meta },
    SimpleWidget { id_base: "rss", name: "RSS", description: "Shows a link to an RSS or Atom feed.", class: "widget_rss",
             settings: &[("url", "Feed URL:", Input::Url), TITLE, ("items", "Number of items:", Input::UpTo(20, 10)),
                         ("show_summary", "Display item content", Input::Switch), ("show_author", "Display item author", Input::Switch),
                         ("show_date", "Display item date", Input::Switch)], partial_update: false, render: feed },
    SimpleWidget { id_base: "search", name: "Search", description: "Shows a search form.", class: "widget_search",
             settings: &[TITLE], partial_update: false, render: search },
];

fn meta(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let (brand, urls) = (&context.site.brand, &context.settings.urls.site);
    let login = urls.site_url(brand.login_path().trim_start_matches('/'));
    let mut items = Html::new();
    if context.viewer.caller.is_logged_in() {
        let admin = urls.site_url(&format!("{}/", brand.admin_path().trim_matches('/')));
        let nonce = &context.viewer.logout_nonce;
        let logout = esc_url(&format!("{login}?action=logout&{}={nonce}", brand.nonce_param()));
        items.push(html!("<li><a href=\"{}\">Site Admin</a></li>", esc_url(&admin)));
        items.push(html!("\t\t\t<li><a href=\"{}\">Log out</a></li>\n", logout));
    } else {
        items.push(html!("\t\t\t<li><a href=\"{}\">Log in</a></li>\n", esc_url(&login)));
    }
    for (feed, name) in [("", "Entries feed"), ("comments_rss2", "Comments feed")] {
        let href = esc_url(&urls.feed_link(feed));
        items.push(html!("\t\t\t<li><a href=\"{}\">{}</a></li>\n", href, name));
    }
    items.push("\n\t\t\t<li><a href=\"https://wordpress.org/\">WordPress.org</a></li>");
    let title = context.title(instance, "Meta");
    Ok(Some(html!("{}\n\t\t<ul>\n\t\t\t{}\n\t\t</ul>\n\n\t\t", title, items)))
}

fn search(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let (title, action) = (context.title(instance, ""), esc_url(&context.settings.urls.site.home_url("/")));
    if !context.site.registries.renders_html5("search-form") {
        return Ok(Some(html!(
            "{}<form role=\"search\" method=\"get\" id=\"searchform\" class=\"searchform\" action=\"{}\">\n\t\t\t\t<div>\n\t\t\t\t\t\
             <label class=\"screen-reader-text\" for=\"s\">Search for:</label>\n\t\t\t\t\t<input type=\"text\" value=\"\" \
             name=\"s\" id=\"s\" />\n\t\t\t\t\t<input type=\"submit\" id=\"searchsubmit\" value=\"Search\" />\n\t\t\t\t</div>\
             \n\t\t\t</form>",
            title,
            action
        )));
    }
    Ok(Some(html!(
        "{}<form role=\"search\" method=\"get\" class=\"search-form\" action=\"{}\">\n\t\t\t\t<label>\n\t\t\t\t\t\
         <span class=\"screen-reader-text\">Search for:</span>\n\t\t\t\t\t<input type=\"search\" class=\"search-field\" \
         placeholder=\"Search &hellip;\" value=\"\" name=\"s\" />\n\t\t\t\t</label>\n\t\t\t\t<input type=\"submit\" \
         class=\"search-submit\" value=\"Search\" />\n\t\t\t</form>",
        title,
        action
    )))
}

/// A link to the feed. Its items are not fetched.
fn feed(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let url = instance.text("url");
    if url.is_empty() {
        return Ok(None);
    }
    let link = html!("<a class=\"rsswidget\" href=\"{}\">", esc_url(&url));
    let title = context.title(instance, "RSS Feed");
    let name = esc_html(&url);
    Ok(Some(html!("{}<ul><li>{}{}</a></li></ul>", title, link, name)))
}

/// English names of the days of the week, from Sunday.
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The current month with links to the days with posts, and to the previous month with posts.
fn calendar(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let today = context.settings.zone.to_local(context.site.now(context.db.cx())).date();
    let Some(first) = today.with_day(1) else { return Ok(None) };
    let begins = first.and_time(chrono::NaiveTime::MIN);
    let query = PostQuery::published("post", 1_000)
        .after(Some(begins))
        .dates_inclusive(true)
        .order_by(vec![(PostOrderBy::Date, Order::Asc)]);
    let ids = posts::query(context.db, &query)?.ids;
    let with_posts: Vec<NaiveDate> =
        posts::get_many(context.db, &ids)?.iter().filter_map(|post| post.date.map(|d| d.date())).collect();
    let before = posts::months(context.db, "post", 100)?;
    let before =
        before.iter().find(|(year, month, _)| (i64::from(*year), *month) < (i64::from(first.year()), first.month()));
    let starts = usize::try_from(context.settings.number("start_of_week").rem_euclid(7)).unwrap_or_default();
    let urls = &context.settings.urls.site;
    let month_name = |month: u32| MONTHS[(month as usize).saturating_sub(1).min(11)];
    let head: Html = (0..7)
        .map(|n| DAYS[(starts + n) % 7])
        .map(|day| html!("\t\t<th scope=\"col\" aria-label=\"{}\">{}</th>\n", day, &day[..1]))
        .collect();
    let cell = |day: NaiveDate| {
        let id = if day == today { " id=\"today\"" } else { "" };
        let number = day.day();
        if with_posts.contains(&day) {
            let year = u32::try_from(day.year()).unwrap_or_default();
            let href = esc_url(&urls.date_link(year, Some(day.month()), Some(number)));
            html!("<td{}><a href=\"{}\">{}</a></td>", id, href, number)
        } else {
            html!("<td{}>{}</td>", id, number)
        }
    };
    let pad = |n: usize| if n == 0 { Html::new() } else { html!("<td colspan=\"{}\" class=\"pad\">&nbsp;</td>", n) };
    let offset = (first.weekday().num_days_from_sunday() as usize + 7 - starts) % 7;
    let days: Vec<NaiveDate> = (0..31)
        .filter_map(|n| first.checked_add_days(Days::new(n)))
        .take_while(|day| day.month() == first.month())
        .collect();
    let mut rows = html!("\t<tr>\n\t\t{}", pad(offset));
    for (n, day) in days.iter().enumerate() {
        if n > 0 && (offset + n).is_multiple_of(7) {
            rows.push("\n\t</tr>\n\t<tr>\n\t\t");
        }
        rows.push(cell(*day));
    }
    let left = (7 - (offset + days.len()) % 7) % 7;
    if left > 0 {
        rows.push(html!("\n\t\t<td class=\"pad\" colspan=\"{}\">&nbsp;</td>", left));
    }
    rows.push("\n\t</tr>");
    let previous = before.map_or_else(
        || Html::from("&nbsp;"),
        |(year, month, _)| {
            let href = esc_url(&urls.date_link(*year, Some(*month), None));
            html!("<a href=\"{}\">&laquo; {}</a>", href, &month_name(*month)[..3])
        },
    );
    let caption = html!("{} {}", month_name(first.month()), first.year());
    Ok(Some(html!(
        "{}<div id=\"calendar_wrap\" class=\"calendar_wrap\"><table id=\"wp-calendar\" class=\"wp-calendar-table\">\n\t\
         <caption>{}</caption>\n\t<thead>\n\t<tr>\n{}\t</tr>\n\t</thead>\n\t<tbody>\n{}\n\t</tbody>\n\t\
         </table><nav aria-label=\"Previous and next months\" class=\"wp-calendar-nav\">\n\t\t\
         <span class=\"wp-calendar-nav-prev\">{}</span>\n\t\t<span class=\"pad\">&nbsp;</span>\n\t\t\
         <span class=\"wp-calendar-nav-next\">&nbsp;</span>\n\t</nav></div>",
        context.title(instance, ""),
        caption,
        head,
        rows,
        previous
    )))
}
