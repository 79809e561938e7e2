//! The permalinks: the structure of the URLs of posts, and the bases of those of categories and tags.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_brand::OWN_NAMESPACE;
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;
use svc_site::settings::permalink_settings::TAGS;

use crate::{
    form::{self, Control, Field, FieldView},
    layout::{self, Layout, PERMALINKS},
    request::{AdminRequest, text},
};

/// The structures that the page offers, with their labels.
const STRUCTURES: [(&str, &str); 4] = [
    ("/%year%/%monthnum%/%day%/%postname%/", "Day and name"),
    ("/%year%/%monthnum%/%postname%/", "Month and name"),
    ("/archives/%post_id%", "Numeric"),
    ("/%postname%/", "Post name"),
];

/// Values of the choice that are no structures.
const PLAIN: &str = "plain";
const CUSTOM: &str = "custom";

/// A structure that can be chosen.
struct Choice {
    value: &'static str,
    label: &'static str,
    /// URL of a post with this structure.
    example: String,
}

#[derive(Template)]
#[template(path = "permalinks.html")]
struct PermalinksPage {
    page: Layout,
    action: String,
    /// State of the settings with which the form was opened.
    state: String,
    choices: Vec<Choice>,
    /// The value of the choice that is made.
    chosen: String,
    /// The custom structure: what is stored or was typed.
    structure: String,
    /// Why the structure was rejected; may be empty.
    error: String,
    tags: Vec<String>,
    bases: Vec<FieldView>,
}

fn route() -> String {
    format!("/{OWN_NAMESPACE}/permalinks")
}

fn bases() -> Vec<Field> {
    let field = |name: &str, label: &str, help: &str| Field::new(name, label, Control::Line("text")).help(help);
    vec![
        field("category_base", "Base of categories", "Their paths begin with it. The default is category."),
        field("tag_base", "Base of tags", "The default is tag."),
    ]
}

/// The choice for a stored structure.
fn choice_of(structure: &str) -> &str {
    match structure {
        "" => PLAIN,
        known if STRUCTURES.iter().any(|(structure, _)| *structure == known) => known,
        _ => CUSTOM,
    }
}

/// The structure that a form chooses; `None` if its choice is unknown.
fn chosen_structure(form: &Form) -> Option<&str> {
    match form.get("selection") {
        PLAIN => Some(""),
        CUSTOM => Some(form.get("structure")),
        chosen => STRUCTURES.into_iter().map(|(structure, _)| structure).find(|structure| *structure == chosen),
    }
}

impl AdminRequest<'_> {
    /// The page with the stored permalinks.
    pub(crate) async fn show_permalinks(&self) -> Page {
        let reply = self.call(Method::GET, route()).send().await?;
        let structure = text(&reply.data, "/structure").to_owned();
        let chosen = choice_of(&structure).to_owned();
        let bases = form::values_of(bases(), &reply.data);
        self.permalinks_page(reply.state, (chosen, structure), bases, None).await
    }

    async fn permalinks_page(
        &self,
        state: String,
        (chosen, structure): (String, String),
        bases: Vec<FieldView>,
        error: Option<&Error>,
    ) -> Page {
        let action = self.url(PERMALINKS, &[]);
        let mut page = self.layout("Permalinks", &action).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let at_structure = error.filter(|error| form::field_of(error).as_deref() == Some("structure"));
        let (site, now) = (&self.session.settings.urls.site, self.admin.pages.identities.site.now(&self.parts.cx));
        let example = |structure: &str| {
            let date = [("%year%", "%Y"), ("%monthnum%", "%m"), ("%day%", "%d")];
            let dated = date
                .into_iter()
                .fold(structure.to_owned(), |path, (tag, format)| path.replace(tag, &now.format(format).to_string()));
            site.home_url(&dated.replace("%post_id%", "123").replace("%postname%", "sample-post"))
        };
        let structures = STRUCTURES.map(|(value, label)| Choice { value, label, example: example(value) });
        let plain = Choice { value: PLAIN, label: "Plain", example: example("/?p=123") };
        let template = PermalinksPage {
            page,
            action,
            state,
            choices: std::iter::once(plain).chain(structures).collect(),
            chosen,
            structure,
            error: at_structure.map(form::message_of).unwrap_or_default(),
            tags: TAGS.map(|tag| format!("%{tag}%")).to_vec(),
            bases,
        };
        let status = error.map_or(200, Error::status);
        Ok(layout::html(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), &template))
    }

    /// Saves the permalinks, unless they were changed since the form was opened.
    pub(crate) async fn save_permalinks(&self, form: &Form) -> Page {
        let Some(structure) = chosen_structure(form) else {
            return Err(Error::new("admin_no_structure", "Choose a structure.").with_status(400));
        };
        let mut body = json!({ "structure": structure });
        for base in bases() {
            body[base.name.as_str()] = Value::from(form.get(&base.name));
        }
        match self.post(route(), body).if_match(form.get("etag")).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.url(PERMALINKS, &[("done", "saved")]))),
            Err(error) if matches!(error.status(), 400 | 412) => {
                let mut state = form.get("etag").to_owned();
                let mut shown = error;
                if shown.status() == 412 {
                    // The form stays as it was typed, and the next attempt replaces the other change.
                    state = self.call(Method::GET, route()).send().await?.state;
                    let message = "Somebody else has changed the permalinks since you opened this page. \
                                   Save again to replace their change.";
                    shown = Error::new("admin_changed_elsewhere", message).with_status(412);
                }
                let bases = form::rejected(bases(), form, &shown);
                let chosen = form.get("selection").to_owned();
                let typed = if chosen == CUSTOM { form.get("structure") } else { structure };
                self.permalinks_page(state, (chosen, typed.to_owned()), bases, Some(&shown)).await
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_decides_about_the_structure() {
        for (form, structure) in [
            ("selection=plain&structure=/x/%25postname%25", Some("")),
            ("selection=custom&structure=/x/%25postname%25", Some("/x/%postname%")),
            ("selection=/%25postname%25/&structure=x", Some("/%postname%/")),
            ("selection=other", None),
            ("structure=/x/%25postname%25", None),
        ] {
            assert_eq!(chosen_structure(&Form::parse(form)), structure, "{form}");
        }
        for structure in ["", "/%postname%/", "/x/%postname%"] {
            let chosen = choice_of(structure);
            let form = Form::parse(&format!("selection={}&structure={}", encoded(chosen), encoded(structure)));
            assert_eq!(chosen_structure(&form), Some(structure));
        }
    }

    fn encoded(text: &str) -> String {
        text.replace('%', "%25")
    }
}
