//! The export: a form for the part of the content, and the file.

use askama::Template;
use axum::{body::Body, response::Response};
use http::{HeaderValue, StatusCode, header};
use svc_login::Page;
use svc_schema::Error;
use svc_site::transfer::{
    download,
    export::{ExportFilter, file_name, types},
};

use crate::{
    form::{self, Control, Field, FieldView},
    layout::{self, EXPORT, Layout, plain},
    request::{AdminRequest, items, text},
};

/// Statuses that can be selected.
const STATUSES: [(&str, &str); 7] = [
    ("", "Any status"),
    ("publish", "Published"),
    ("future", "Scheduled"),
    ("draft", "Draft"),
    ("pending", "Pending review"),
    ("private", "Private"),
    ("trash", "Trash"),
];

#[derive(Template)]
#[template(path = "export.html")]
struct ExportPage {
    page: Layout,
    action: String,
    fields: Vec<FieldView>,
}

impl AdminRequest<'_> {
    fn check_export(&self) -> Result<(), Error> {
        if self.can("export") {
            return Ok(());
        }
        Err(Error::new("admin_no_export", "You may not export the site's content.").with_status(403))
    }

    /// The page with the form.
    pub(crate) async fn show_export(&self) -> Page {
        self.check_export()?;
        let action = self.url(EXPORT, &[]);
        let template = ExportPage {
            page: self.layout("Export", &action).await?,
            action,
            fields: form::values_of(self.export_fields().await?, &serde_json::Value::Null),
        };
        Ok(layout::html(StatusCode::OK, &template))
    }

    async fn export_fields(&self) -> Result<Vec<Field>, Error> {
        let site = &self.admin.pages.identities.site;
        let any = |label: &str| (String::new(), label.to_owned());
        let shown = types(site).filter(|t| t.show_ui).map(|t| (t.name.clone(), t.label.clone()));
        let content = std::iter::once(any("All content")).chain(shown).collect();
        let users = self.get("users").query("per_page", "100").query("orderby", "name").query("_fields", "id,name");
        let authors = items(&users.send().await?.data)
            .iter()
            .map(|user| (user["id"].to_string(), text(user, "/name").to_owned()))
            .collect::<Vec<_>>();
        let terms = self.get("categories").query("per_page", "100").query("_fields", "id,name");
        let categories = items(&terms.send().await?.data)
            .iter()
            .map(|term| (term["id"].to_string(), plain(text(term, "/name"))))
            .collect::<Vec<_>>();
        let choice = |first: &str, others: Vec<(String, String)>| {
            Control::Choice(std::iter::once(any(first)).chain(others).collect())
        };
        let statuses = STATUSES.map(|(value, label)| (value.to_owned(), label.to_owned()));
        Ok(vec![
            Field::new("content", "Content", Control::Choice(content))
                .help("Posts of one type are exported with the files that belong to them."),
            Field::new("author", "Author", choice("All authors", authors)),
            Field::new("category", "Category", choice("All categories", categories)),
            Field::new("status", "Status", Control::Choice(statuses.to_vec())),
            Field::new("from", "From", Control::Line("date")),
            Field::new("to", "To", Control::Line("date")),
        ])
    }

    /// Whether the request is for the file.
    pub(crate) fn is_download(&self, page: &str) -> bool {
        page == EXPORT && self.parts.query.has("download")
    }

    /// The file, as a stream.
    pub(crate) fn download(&self) -> Result<Response, Error> {
        self.check_export()?;
        let site = &self.admin.pages.identities.site;
        let chosen = |name: &str| Some(self.param(name).to_owned()).filter(|value| !value.is_empty());
        let day = |name: &str| match self.param(name) {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| Error::new("admin_no_date", "A date has the form 2026-01-31.").with_status(400)),
        };
        let filter = ExportFilter {
            post_type: chosen("content"),
            author: self.id("author").map(svc_model::UserId),
            category: self.id("category").map(svc_model::TermId),
            status: chosen("status"),
            from: day("from")?,
            to: day("to")?,
        };
        let name = file_name(&self.session.settings, site.clock());
        let mut response = Response::new(Body::from_stream(download::start(site, filter)?));
        let headers = response.headers_mut();
        let fixed = [
            (header::CONTENT_TYPE, "text/xml; charset=UTF-8"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"),
            (header::CACHE_CONTROL, "no-cache, must-revalidate, max-age=0, no-store, private"),
        ];
        for (header, value) in fixed {
            headers.insert(header, HeaderValue::from_static(value));
        }
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
            headers.insert(header::CONTENT_DISPOSITION, value);
        }
        Ok(response)
    }
}
