//! The calendar block: a month whose days link to the posts published on them.

use std::collections::HashSet;

use chrono::{Datelike, Months, NaiveDate};
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{core::BlockCall, date, html::classes, supports};

pub(crate) fn calendar(call: &BlockCall<'_>) -> Html {
    let days = call.data().days();
    if days.is_empty() {
        return Html::new();
    }
    let now = call.data().today();
    let requested = match (call.number("year"), call.number("month")) {
        (Some(year), Some(month)) => {
            NaiveDate::from_ymd_opt(i32::try_from(year).unwrap_or(now.year()), u32::try_from(month).unwrap_or(1), 1)
        }
        _ => None,
    };
    let Some(first) = requested.or_else(|| now.with_day(1)) else { return Html::new() };
    let colors = supports::colors(&supports::with_serialized_support(call.block_type, "color"), &call.attrs);
    let table = MonthTable { call, first, now, published: days.iter().map(|(day, _)| *day).collect() };
    let css = match colors.css() {
        css if css.is_empty() => Html::new(),
        css => html!("style=\"{};\" ", esc_attr(&css)),
    };
    let class = classes(&["wp-calendar-table", &colors.classes.join(" "), call.link_class()]);
    html!(
        "<div {}><table {css}id=\"wp-calendar\" class=\"{}\">\n\t<caption>{}</caption>\n\t<thead>\n\t<tr>\n{}\t</tr>\n\t</thead>\n\t<tbody>\n{}\n\t</tr>\n\t</tbody>\n\t</table>{}</div>",
        call.wrapper(&[]),
        esc_attr(&class),
        esc_html(&first.format("%B %Y").to_string()),
        table.header_row(),
        table.rows(),
        table.month_links(),
        css = css
    )
}

struct MonthTable<'c> {
    call: &'c BlockCall<'c>,
    first: NaiveDate,
    now: NaiveDate,
    published: HashSet<NaiveDate>,
}

impl MonthTable<'_> {
    fn start_of_week(&self) -> u32 {
        self.call.data().site_info().start_of_week % 7
    }

    fn header_row(&self) -> Html {
        const NAMES: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
        let name = |n: u32| NAMES[((self.start_of_week() + n) % 7) as usize];
        (0..7).map(|n| html!("\t\t<th scope=\"col\" aria-label=\"{}\">{}</th>\n", name(n), &name(n)[..1])).collect()
    }

    fn rows(&self) -> Html {
        let column = |day: NaiveDate| (day.weekday().num_days_from_sunday() + 7 - self.start_of_week()) % 7;
        let before = column(self.first);
        let mut out = Html::from("\t<tr>");
        if before > 0 {
            out.push(html!("\n\t\t<td colspan=\"{}\" class=\"pad\">&nbsp;</td>", before));
        }
        let mut last = self.first;
        for day in self.first.iter_days().take_while(|day| day.month() == self.first.month()) {
            if column(day) == 0 && day != self.first {
                out.push("\n\t</tr>\n\t<tr>\n\t\t");
            }
            let today = if day == self.now { " id=\"today\"" } else { "" };
            out.push(html!("<td{}>{}</td>", today, self.day(day)));
            last = day;
        }
        let after = 6 - column(last);
        if after > 0 {
            out.push(html!("\n\t\t<td class=\"pad\" colspan=\"{}\">&nbsp;</td>", after));
        }
        out
    }

    fn day(&self, day: NaiveDate) -> Html {
        if !self.published.contains(&day) {
            return html!("{}", day.day());
        }
        let link = self.call.data().date_link(day.year(), Some(day.month()), Some(day.day()));
        let name = date::format(day.and_time(Default::default()), &self.call.data().site_info().date_format);
        html!("<a href=\"{}\" aria-label=\"Posts published on {}\">{}</a>", esc_url(&link), esc_attr(&name), day.day())
    }

    /// Links to the nearest earlier and later months with posts.
    fn month_links(&self) -> Html {
        let after_month = self.first.checked_add_months(Months::new(1)).unwrap_or(self.first);
        let before = self.published.iter().filter(|day| **day < self.first).max();
        let after = self.published.iter().filter(|day| **day >= after_month).min();
        let link = |day: &NaiveDate, text: Html| {
            let url = self.call.data().date_link(day.year(), Some(day.month()), None);
            html!("<a href=\"{}\">{}</a>", esc_url(&url), text)
        };
        let month = |day: &NaiveDate| esc_html(&day.format("%b").to_string());
        let blank = || Html::from("&nbsp;");
        let before = before.map_or_else(blank, |day| link(day, html!("&laquo; {}", month(day))));
        let after = after.map_or_else(blank, |day| link(day, html!("{} &raquo;", month(day))));
        html!(
            "<nav aria-label=\"Previous and next months\" class=\"wp-calendar-nav\">\n\t\t<span class=\"wp-calendar-nav-prev\">{}</span>\n\t\t<span class=\"pad\">&nbsp;</span>\n\t\t<span class=\"wp-calendar-nav-next\">{}</span>\n\t</nav>",
            before,
            after
        )
    }
}
