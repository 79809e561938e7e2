//! The pages of the admin: what shows them, what their forms do, and which take long.

use std::{borrow::Cow, pin::Pin};

use http::Uri;
use percent_encoding::percent_decode_str;
use svc_http::Cost;
use svc_login::{Form, Page};

use crate::{layout, list, request::AdminRequest, terms};

/// A page that is being made.
type Pending<'a> = Pin<Box<dyn Future<Output = Page> + Send + 'a>>;

/// Shows a page.
type Show = for<'a> fn(&'a AdminRequest<'a>) -> Pending<'a>;

/// Handles the form of a page.
type Submit = for<'a> fn(&'a AdminRequest<'a>, &'a Form) -> Pending<'a>;

/// A page.
pub(crate) struct AdminPage {
    /// The last part of its URL.
    name: &'static str,
    pub(crate) show: Show,
    /// `None` if it has no form.
    pub(crate) submit: Option<Submit>,
    /// Rows on a page, if it is a list.
    per_page: Option<u64>,
}

/// All pages. The names are those of WordPress's pages, so that links of other programs lead there.
#[rustfmt::skip]
static PAGES: &[AdminPage] = &[
    page("index.php", |visit| Box::pin(visit.dashboard())),
    page("edit.php", |visit| Box::pin(visit.list_posts())).list(list::PER_PAGE).form(|visit, form| Box::pin(visit.change_posts(form))),
    page("post.php", |visit| Box::pin(visit.edit_post())).form(|visit, form| Box::pin(visit.save_post(form))),
    page("post-new.php", |visit| Box::pin(visit.new_post())),
    page(layout::BLOCK_EDITOR, |visit| Box::pin(visit.show_block_editor())).form(|visit, _| Box::pin(visit.new_in_block_editor())),
    page("revision.php", |visit| Box::pin(visit.show_revisions())).form(|visit, form| Box::pin(visit.restore_revision(form))),
    page("upload.php", |visit| Box::pin(visit.list_media())).list(list::PER_PAGE).form(|visit, form| Box::pin(visit.change_posts(form))),
    page("edit-comments.php", |visit| Box::pin(visit.list_comments())).list(list::PER_PAGE).form(|visit, form| Box::pin(visit.change_comments(form))),
    page("edit-tags.php", |visit| Box::pin(visit.list_terms())).list(terms::PER_PAGE).form(|visit, form| Box::pin(visit.change_terms(form))),
    page("term.php", |visit| Box::pin(visit.edit_term())).form(|visit, form| Box::pin(visit.save_term(form))),
    page("nav-menus.php", |visit| Box::pin(visit.show_menus())).form(|visit, form| Box::pin(visit.change_menu(form))),
    page(layout::TEMPLATES, |visit| Box::pin(visit.show_templates())).form(|visit, form| Box::pin(visit.change_template(form))),
    page("users.php", |visit| Box::pin(visit.list_users())).list(list::PER_PAGE),
    page(layout::ROLES, |visit| Box::pin(visit.show_roles())),
    page("user-new.php", |visit| Box::pin(visit.new_user())).form(|visit, form| Box::pin(visit.create_user(form))),
    page("user-edit.php", |visit| Box::pin(visit.edit_user())).form(|visit, form| Box::pin(visit.save_user(form))),
    page("options-general.php", |visit| Box::pin(visit.show_settings())).form(|visit, form| Box::pin(visit.save_settings(form))),
    page(layout::PERMALINKS, |visit| Box::pin(visit.show_permalinks())).form(|visit, form| Box::pin(visit.save_permalinks(form))),
    page(layout::EXPORT, |visit| Box::pin(visit.show_export())),
    page(layout::IMPORT, |visit| Box::pin(visit.show_import())).form(|visit, form| Box::pin(visit.change_import(form))),
    page(layout::STATUS, |visit| Box::pin(visit.show_status())).form(|visit, _| Box::pin(visit.check_health())),
    page(layout::WEBHOOKS, |visit| Box::pin(visit.list_webhooks())).form(|visit, form| Box::pin(visit.create_webhook(form))),
    page(layout::WEBHOOK, |visit| Box::pin(visit.show_webhook())).form(|visit, form| Box::pin(visit.change_webhook(form))),
];

const fn page(name: &'static str, show: Show) -> AdminPage {
    AdminPage { name, show, submit: None, per_page: None }
}

impl AdminPage {
    /// Adds what its form does.
    const fn form(self, submit: Submit) -> Self {
        AdminPage { submit: Some(submit), ..self }
    }

    /// Makes it a list with this number of rows on a page.
    const fn list(self, per_page: u64) -> Self {
        AdminPage { per_page: Some(per_page), ..self }
    }

    /// The page with this name; the dashboard for an empty one.
    pub(crate) fn find(name: &str) -> Option<&'static AdminPage> {
        let name = if name.is_empty() { "index.php" } else { name };
        PAGES.iter().find(|page| page.name == name)
    }

    /// The cost of showing it with this query.
    fn cost(&self, query: &str) -> Cost {
        self.per_page.map_or(Cost::Light, |per_page| list::cost(&Form::parse(query), per_page))
    }
}

/// The name of a page in a URL of the admin at `path`.
pub(crate) fn name_in<'u>(path: &str, uri: &'u Uri) -> Cow<'u, str> {
    let rest = uri.path().strip_prefix(path).unwrap_or_default();
    percent_decode_str(rest.strip_prefix('/').unwrap_or(rest)).decode_utf8_lossy()
}

/// The cost of a request to the admin at `path`.
pub(crate) fn cost(path: &str, uri: &Uri) -> Cost {
    let page = AdminPage::find(&name_in(path, uri));
    page.map_or(Cost::Light, |page| page.cost(uri.query().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_pages_far_into_a_list_are_heavy() {
        for (url, is_heavy) in [
            ("/wp-admin", false),
            ("/wp-admin/?s=a", false),
            ("/wp-admin/edit.php", false),
            ("/wp-admin/edit.php?s=&paged=2", false),
            ("/wp-admin/edit.php?post_type=page&s=a", true),
            ("/wp-admin/edit%2Ephp?%73=a", true),
            ("/wp-admin/edit.php?s=a&s=", false),
            ("/wp-admin/upload.php?s=a", true),
            ("/wp-admin/edit-comments.php?s=a", true),
            ("/wp-admin/edit-tags.php?taxonomy=category&s=a", true),
            ("/wp-admin/users.php?s=a", true),
            ("/wp-admin/users.php?paged=201", false),
            ("/wp-admin/users.php?paged=202", true),
            ("/wp-admin/edit-tags.php?paged=51", false),
            ("/wp-admin/edit-tags.php?paged=52", true),
            ("/wp-admin/users.php?paged=18446744073709551615", true),
            ("/wp-admin/users.php?paged=x", false),
            ("/wp-admin/post.php?post=4&s=a", false),
            ("/wp-admin/unknown.php?s=a", false),
            ("/wp-admin/edit.php/?s=a", false),
        ] {
            let expected = if is_heavy { Cost::Heavy } else { Cost::Light };
            assert_eq!(cost("/wp-admin", &url.parse().unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn each_name_is_in_the_table_once() {
        let mut names: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
