//! The settings: one form with all that the REST API registers, from their schemas.

use http::{Method, StatusCode};
use serde_json::Value;
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;
use svc_text::{Quotes, specialchars_decode};

use crate::{
    form::{self, Control, Field, FieldView, FormView, control_for},
    layout::plain,
    posts::capitalized,
    request::{AdminRequest, items, text},
};

/// Labels of the settings whose schema has none.
const LABELS: &[(&str, &str)] = &[
    ("title", "Site title"),
    ("description", "Tagline"),
    ("url", "Site URL"),
    ("email", "Administration email address"),
    ("timezone", "Time zone"),
    ("use_smilies", "Show emoticons as pictures"),
    ("start_of_week", "Week starts on"),
    ("posts_per_page", "Posts per page"),
    ("show_on_front", "Front page shows"),
    ("page_on_front", "Page on the front"),
    ("page_for_posts", "Page with the posts"),
    ("default_category", "Default category"),
    ("default_ping_status", "Pingbacks on new posts"),
    ("default_comment_status", "Comments on new posts"),
];

/// Explanations of the settings that every site has. Those that others register have the descriptions of their schemas.
const HELP: &[(&str, &str)] = &[
    ("title", ""),
    ("description", "In a few words, what the site is about."),
    ("url", ""),
    ("email", "Gets the notifications about the site."),
    ("timezone", "A city in the site's time zone, such as Europe/Berlin. UTC, if empty."),
    ("date_format", "As in PHP: F j, Y is November 27, 2026; d.m.Y is 27.11.2026."),
    ("time_format", "As in PHP: g:i a is 6:30 pm; H:i is 18:30."),
    ("language", "A locale, such as de_DE. English, if empty."),
    ("use_smilies", ""),
    ("posts_per_page", ""),
];

/// Values of settings that are codes, with what they mean.
const CHOICES: &[(&str, &[(&str, &str)])] = &[
    (
        "start_of_week",
        &[
            ("0", "Sunday"),
            ("1", "Monday"),
            ("2", "Tuesday"),
            ("3", "Wednesday"),
            ("4", "Thursday"),
            ("5", "Friday"),
            ("6", "Saturday"),
        ],
    ),
    ("default_post_format", POST_FORMATS),
    ("show_on_front", &[("posts", "The latest posts"), ("page", "A page")]),
    ("default_comment_status", OPEN_OR_CLOSED),
    ("default_ping_status", OPEN_OR_CLOSED),
];

const POST_FORMATS: &[(&str, &str)] = &[
    ("0", "Standard"),
    ("aside", "Aside"),
    ("audio", "Audio"),
    ("chat", "Chat"),
    ("gallery", "Gallery"),
    ("image", "Image"),
    ("link", "Link"),
    ("quote", "Quote"),
    ("status", "Status"),
    ("video", "Video"),
];

const OPEN_OR_CLOSED: &[(&str, &str)] = &[("open", "Open"), ("closed", "Closed")];

/// Settings that are IDs of objects, with the route that lists these.
const OBJECTS: &[(&str, &str)] =
    &[("page_on_front", "pages"), ("page_for_posts", "pages"), ("default_category", "categories")];

/// Settings that are IDs of files, which nobody enters in a form.
const NOT_SHOWN: &[&str] = &["site_logo", "site_icon"];

/// Settings whose values are stored as HTML text.
const AS_HTML: [&str; 2] = ["title", "description"];

/// The settings as people type them.
fn as_typed(mut settings: Value) -> Value {
    for name in AS_HTML {
        if let Some(text) = settings[name].as_str() {
            settings[name] = specialchars_decode(text, Quotes::Both).into();
        }
    }
    settings
}

/// Whether a value was stored as it was sent. Numbers are sent as texts, and white space around texts is not stored.
fn is_stored(sent: &Value, stored: &Value) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    text(sent) == text(stored)
}

impl AdminRequest<'_> {
    /// The registered settings of simple types, as fields of a form.
    async fn settings_fields(&self) -> Result<Vec<Field>, Error> {
        let described = self.call(Method::OPTIONS, "settings").send().await?.data;
        let properties = described["schema"]["properties"].as_object().cloned().unwrap_or_default();
        let (pages, categories) = (self.names_in("pages").await?, self.names_in("categories").await?);
        let field = |(name, schema): (&String, &Value)| {
            if NOT_SHOWN.contains(&&**name) {
                return None;
            }
            let of_objects = OBJECTS.iter().find(|(known, _)| known == name).map(|(_, route)| *route);
            let codes = CHOICES.iter().find(|(known, _)| known == name).map(|(_, codes)| *codes);
            let control = match (of_objects, codes) {
                (Some("pages"), _) => Control::Choice(pages.clone()),
                (Some(_), _) => Control::Choice(categories.clone()),
                (None, Some(codes)) => Control::Choice(
                    codes.iter().map(|(code, label)| ((*code).to_owned(), (*label).to_owned())).collect(),
                ),
                (None, None) => control_for(schema)?,
            };
            let label = match LABELS.iter().find(|(known, _)| known == name) {
                Some((_, label)) => (*label).to_owned(),
                None if text(schema, "/title").is_empty() => capitalized(&name.replace('_', " ")),
                None => text(schema, "/title").to_owned(),
            };
            let help = match HELP.iter().find(|(known, _)| known == name) {
                Some((_, help)) => help,
                // What a choice offers needs no explanation of its codes.
                None if of_objects.is_some() || codes.is_some() => "",
                None => text(schema, "/description"),
            };
            Some(Field::new(name, &label, control).help(help))
        };
        Ok(properties.iter().filter_map(field).collect())
    }

    /// The IDs and names of the first hundred objects of a route, after a choice for none.
    async fn names_in(&self, route: &str) -> Result<Vec<(String, String)>, Error> {
        let by = if route == "pages" { "title" } else { "name" };
        let call = self.get(route).query("per_page", "100").query("orderby", by).query("order", "asc");
        let objects = call.query("_fields", "id,name,title").send().await?.data;
        let none = ("0".to_owned(), "None".to_owned());
        let named = items(&objects).iter().map(|object| {
            let name = plain(text(object, if by == "title" { "/title/rendered" } else { "/name" }));
            (object["id"].to_string(), name)
        });
        Ok(std::iter::once(none).chain(named).collect())
    }

    /// The page of the settings.
    pub(crate) async fn show_settings(&self) -> Page {
        let settings = as_typed(self.get("settings").send().await?.data);
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
        match self.post("settings", body.clone().into()).send().await {
            Ok(reply) => {
                let stored = as_typed(reply.data);
                let differs =
                    |field: &&Field| body.get(&field.name).is_some_and(|sent| !is_stored(sent, &stored[&field.name]));
                let labels: Vec<String> = fields.iter().filter(differs).map(|field| field.label.clone()).collect();
                if labels.is_empty() {
                    return Ok(PrivateResponse::redirect(&self.url("options-general.php", &[("done", "saved")])));
                }
                let message = format!("Saved, but with other values than you typed: {}.", labels.join(", "));
                let error = Error::new("admin_other_values", message).with_status(400);
                self.settings_page(form::values_of(fields, &stored), Some(&error)).await
            }
            Err(error) if error.status() < 500 => {
                self.settings_page(form::rejected(fields, form, &error), Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}
