//! The settings: one form with all that the REST API registers, from their schemas.

use http::{Method, StatusCode};
use serde_json::Value;
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use crate::{
    form::{self, Field, FieldView, FormView, control_for},
    posts::capitalized,
    request::{AdminRequest, text},
};

/// Labels of the settings whose schema has none.
const LABELS: &[(&str, &str)] = &[
    ("title", "Site title"),
    ("description", "Tagline"),
    ("url", "Site URL"),
    ("email", "Administration email address"),
    ("timezone", "Time zone"),
    ("use_smilies", "Show emoticons as pictures"),
    ("start_of_week", "Week starts on (0 is Sunday)"),
    ("posts_per_page", "Posts per page"),
    ("show_on_front", "Front page shows"),
    ("page_on_front", "Page on the front (ID)"),
    ("page_for_posts", "Page with the posts (ID)"),
    ("default_category", "Default category (ID)"),
];

/// Settings that are IDs of files, which nobody enters in a form.
const NOT_SHOWN: &[&str] = &["site_logo", "site_icon"];

impl AdminRequest<'_> {
    /// The registered settings of simple types, as fields of a form.
    async fn settings_fields(&self) -> Result<Vec<Field>, Error> {
        let described = self.call(Method::OPTIONS, "settings").send().await?.data;
        let properties = described["schema"]["properties"].as_object().cloned().unwrap_or_default();
        let field = |(name, schema): (&String, &Value)| {
            if NOT_SHOWN.contains(&&**name) {
                return None;
            }
            let control = control_for(schema)?;
            let label = match LABELS.iter().find(|(known, _)| known == name) {
                Some((_, label)) => (*label).to_owned(),
                None if text(schema, "/title").is_empty() => capitalized(&name.replace('_', " ")),
                None => text(schema, "/title").to_owned(),
            };
            Some(Field::new(name, &label, control).help(text(schema, "/description")))
        };
        Ok(properties.iter().filter_map(field).collect())
    }

    /// The page of the settings.
    pub(crate) async fn show_settings(&self) -> Page {
        let settings = self.get("settings").send().await?.data;
        let views = form::values_of(self.settings_fields().await?, &settings);
        self.settings_page(views, None).await
    }

    async fn settings_page(&self, fields: Vec<FieldView>, error: Option<&Error>) -> Page {
        let url = self.url("options-general.php", &[]);
        let mut page = self.layout("Settings", &url).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let form = FormView {
            title: String::new(),
            action: url,
            fields,
            submit: "Save",
            hidden: Vec::new(),
            delete: None,
            confirm: "",
        };
        let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Ok(form::page(status, page, form, String::new(), Vec::new()))
    }

    /// Saves the settings that changed.
    pub(crate) async fn save_settings(&self, form: &Form) -> Page {
        let fields = self.settings_fields().await?;
        let body = form::changes(&fields, form);
        match self.post("settings", body.into()).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.url("options-general.php", &[("done", "saved")]))),
            Err(error) if error.status() < 500 => {
                self.settings_page(form::rejected(fields, form, &error), Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}
