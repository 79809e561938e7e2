//! The form "Account" of the profile page: names, website, biography, language and e-mail address.

use http::StatusCode;
use serde_json::Map;
use svc_site::mail;
use svc_store::{MetaKind, meta};
use svc_text::{Quotes, specialchars_decode};

use crate::{
    LoginPages, Page, PrivateRequest, UserSession,
    form::Form,
    profile::{Problem, done},
};

/// A field of the form with the name of a user, or what they say about themselves.
#[derive(Clone, Copy)]
pub(crate) struct DetailField {
    /// Its name in the form, and that of the user's column or meta.
    pub(crate) name: &'static str,
    /// Its name in the REST API.
    property: &'static str,
    pub(crate) label: &'static str,
    pub(crate) control: Control,
    /// What browsers may fill in.
    pub(crate) autocomplete: &'static str,
    pub(crate) required: bool,
}

/// How a field is edited.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    Text,
    Url,
    Lines,
    /// One of the languages of the site.
    Language,
}

const FIELD: DetailField = DetailField {
    name: "display_name",
    property: "name",
    label: "Display Name",
    control: Control::Text,
    autocomplete: "name",
    required: true,
};

const FIELDS: [DetailField; 7] = [
    FIELD,
    meta_field("first_name", "First Name", "given-name"),
    meta_field("last_name", "Last Name", "family-name"),
    DetailField { required: true, ..meta_field("nickname", "Nickname", "nickname") },
    DetailField { name: "user_url", property: "url", control: Control::Url, ..meta_field("", "Website", "url") },
    DetailField { control: Control::Lines, ..meta_field("description", "Biography", "off") },
    DetailField { control: Control::Language, ..meta_field("locale", "Language", "off") },
];

const fn meta_field(name: &'static str, label: &'static str, autocomplete: &'static str) -> DetailField {
    DetailField { name, property: name, label, autocomplete, required: false, ..FIELD }
}

/// Maximum length of a locale, in bytes.
const MAX_LOCALE: usize = 30;

/// The contents of the form: stored values, or what the user typed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Details {
    /// The values of [`FIELDS`].
    values: [String; FIELDS.len()],
    pub(crate) email: String,
}

impl Details {
    /// The fields with their values.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&DetailField, &str)> {
        FIELDS.iter().zip(self.values.iter().map(String::as_str))
    }

    /// The locale.
    pub(crate) fn language(&self) -> &str {
        self.fields().find(|(field, _)| field.control == Control::Language).map_or("", |(_, value)| value)
    }

    /// What was typed; fields that the form does not have keep their values.
    fn typed(&self, form: &Form) -> Self {
        let mut typed = self.clone();
        for (field, value) in FIELDS.iter().zip(&mut typed.values) {
            if form.has(field.name) {
                // Browsers send the lines of a form with two characters at their ends.
                *value = form.get(field.name).trim().replace("\r\n", "\n");
            }
        }
        if form.has("email") {
            form.get("email").trim().clone_into(&mut typed.email);
        }
        typed
    }

    /// Why the form is rejected.
    fn fault(&self) -> Option<String> {
        let missing = self.fields().find(|(field, value)| field.required && value.is_empty());
        if let Some((field, _)) = missing {
            let label = field.label.to_lowercase();
            return Some(format!("The {label} is required."));
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.language().len() > MAX_LOCALE || !self.language().chars().all(is_part) {
            return Some("The language is not valid.".to_owned());
        }
        (!svc_text::is_email(&self.email)).then(|| "The email address is not valid.".to_owned())
    }
}

impl LoginPages {
    /// The stored values of the user.
    pub(crate) fn details(&self, parts: &PrivateRequest, session: &UserSession) -> Result<Details, svc_schema::Error> {
        let user = &session.user;
        let stored = self.identities.site.read(&parts.cx, |db| Ok(meta::load_one(db, MetaKind::User, user.id.0)?))?;
        // Special characters are stored as HTML.
        let plain = |text: &str| specialchars_decode(text, Quotes::Both);
        let values = FIELDS.map(|field| match field.property {
            "name" => plain(&user.display_name),
            "url" => plain(&user.url),
            name => plain(stored.text(name)),
        });
        Ok(Details { values, email: user.email.clone() })
    }

    /// Changes what the user has edited. A new e-mail address waits for a confirmation if the site sends mails.
    pub(crate) async fn change_details(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let stored = self.details(parts, session)?;
        let typed = stored.typed(form);
        let mut problem = typed.fault();
        let changed = typed.fields().zip(&stored.values).filter(|((_, new), old)| new != old);
        let mut changes: Map<_, _> = changed.map(|((field, new), _)| (field.property.to_owned(), new.into())).collect();
        let mut waits = false;
        if problem.is_none() && typed.email != stored.email {
            if mail::is_configured(&self.identities.site) {
                problem = self.request_email(parts, session, &typed.email).await?;
                waits = true;
            } else {
                changes.insert("email".to_owned(), typed.email.as_str().into());
            }
        }
        if problem.is_none()
            && !changes.is_empty()
            && let Err(error) = self.change_me(parts, session, changes).await
        {
            if error.status() >= 500 {
                return Err(error);
            }
            problem = Some(error.message().to_owned());
        }
        if let Some(text) = problem {
            let problem = Problem { form: "details", text, details: typed };
            return self.show_problem(parts, session, StatusCode::BAD_REQUEST, problem).await;
        }
        Ok(self.to_profile(session, if waits { done::EMAIL_WAITS } else { done::DETAILS }))
    }
}
