//! The templates and template parts of the theme: lists, and a form for the blocks of each.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use crate::{
    form::{self, Control, Field, FieldView, FormView},
    layout::{Link, TEMPLATES, plain},
    list::{Cell, List, Row, View, column},
    request::{AdminRequest, items, text},
};

/// A kind of template.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AdminTemplateKind {
    Template,
    Part,
}

impl AdminTemplateKind {
    const ALL: [AdminTemplateKind; 2] = [AdminTemplateKind::Template, AdminTemplateKind::Part];

    /// The post type.
    fn name(self) -> &'static str {
        match self {
            AdminTemplateKind::Template => "wp_template",
            AdminTemplateKind::Part => "wp_template_part",
        }
    }

    fn rest_base(self) -> &'static str {
        match self {
            AdminTemplateKind::Template => "templates",
            AdminTemplateKind::Part => "template-parts",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            AdminTemplateKind::Template => "Templates",
            AdminTemplateKind::Part => "Template parts",
        }
    }

    fn singular(self) -> &'static str {
        match self {
            AdminTemplateKind::Template => "template",
            AdminTemplateKind::Part => "template part",
        }
    }
}

/// Areas of the page that a template part can be for.
const AREAS: [(&str, &str); 3] = [("uncategorized", "General"), ("header", "Header"), ("footer", "Footer")];

/// Where a template comes from, as the list says it: empty for a file of the theme.
fn origin(template: &Value) -> &'static str {
    match (text(template, "/source"), template["has_theme_file"] == true) {
        ("custom", true) => "Changed",
        ("custom", false) => "Own",
        _ => "",
    }
}

/// The title; the slug if there is none.
fn title(template: &Value) -> String {
    match plain(text(template, "/title/rendered")).trim() {
        "" => text(template, "/slug").to_owned(),
        title => title.to_owned(),
    }
}

fn new_fields(kind: AdminTemplateKind) -> Vec<Field> {
    let mut fields = vec![Field::new("title", "Title", Control::Line("text")).required()];
    if kind == AdminTemplateKind::Part {
        let areas = AREAS.map(|(value, label)| (value.to_owned(), label.to_owned()));
        fields.push(Field::new("area", "Area", Control::Choice(areas.to_vec())));
    }
    fields
}

fn fields(template: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    // Names of the theme's templates are those of its files.
    if origin(template) == "Own" {
        fields.push(Field::new("title", "Title", Control::Line("text")).at("/title/raw").required());
        fields.push(Field::new("description", "Description", Control::Lines));
    }
    let help = "Blocks as they are stored. Users who may edit the theme may use any HTML.";
    fields.push(Field::new("content", "Blocks", Control::Lines).at("/content/raw").help(help));
    fields
}

impl AdminRequest<'_> {
    fn check_templates(&self) -> Result<AdminTemplateKind, Error> {
        if !self.can("edit_theme_options") {
            return Err(Error::new("admin_no_templates", "You may not edit templates.").with_status(403));
        }
        let wanted = self.param("postType");
        Ok(AdminTemplateKind::ALL.into_iter().find(|kind| kind.name() == wanted).unwrap_or(AdminTemplateKind::Template))
    }

    fn templates_url(&self, kind: AdminTemplateKind) -> String {
        self.url(TEMPLATES, &[("postType", kind.name())])
    }

    fn template_url(&self, kind: AdminTemplateKind, id: &str, done: &str) -> String {
        let query = [("postType", kind.name()), ("postId", id), ("done", done)];
        self.url(TEMPLATES, if done.is_empty() { &query[..2] } else { &query })
    }

    /// The list of templates or parts, or the one that the URL names.
    pub(crate) async fn show_templates(&self) -> Page {
        let kind = self.check_templates()?;
        match self.param("postId") {
            "" => {
                let fields = form::values_of(new_fields(kind), &json!({"area": "uncategorized"}));
                self.templates_page(kind, fields, None).await
            }
            id => {
                let (template, state) = self.template(kind, id).await?;
                let fields = form::values_of(fields(&template), &template);
                self.template_page(kind, &template, state, fields, None).await
            }
        }
    }

    async fn template(&self, kind: AdminTemplateKind, id: &str) -> Result<(Value, String), Error> {
        let reply = self.get(format!("{}/{id}", kind.rest_base())).query("context", "edit").send().await?;
        Ok((reply.data, reply.state))
    }

    async fn templates_page(&self, kind: AdminTemplateKind, fields: Vec<FieldView>, error: Option<&Error>) -> Page {
        let mut views = Vec::new();
        let mut templates = Value::Null;
        for other in AdminTemplateKind::ALL {
            let all = self.get(other.rest_base()).query("context", "edit");
            let all = all.query("_fields", "id,slug,title,description,source,has_theme_file,area").send().await?.data;
            views.push(View {
                link: Link::new(other.plural(), self.templates_url(other)),
                count: items(&all).len() as u64,
                current: other == kind,
            });
            if other == kind {
                templates = all;
            }
        }
        let row = |template: &Value| {
            let (name, origin) = (title(template), origin(template));
            let url = self.template_url(kind, text(template, "/id"), "");
            let about = match kind {
                AdminTemplateKind::Template => text(template, "/description").to_owned(),
                AdminTemplateKind::Part => {
                    let area = text(template, "/area");
                    AREAS.iter().find(|(known, _)| *known == area).map_or(area, |(_, label)| label).to_owned()
                }
            };
            let notes = [origin].into_iter().filter(|note| !note.is_empty()).map(str::to_owned).collect();
            Row {
                cells: vec![
                    Cell::Link(Link::new(&name, url), notes),
                    Cell::Prose(about),
                    Cell::Text(text(template, "/slug").to_owned()),
                ],
                name,
                ..Row::default()
            }
        };
        let mut page = self.layout("Templates", &self.url(TEMPLATES, &[])).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let about = if kind == AdminTemplateKind::Template { "Description" } else { "Area" };
        let list = List {
            views,
            columns: vec![column("Title"), column(about), column("Slug")],
            rows: items(&templates).iter().map(row).collect(),
            empty: format!("The theme has no {}.", kind.plural().to_lowercase()),
            ..List::default()
        };
        let new = FormView {
            title: format!("New {}", kind.singular()),
            action: self.templates_url(kind),
            fields,
            submit: "Create",
            hidden: Vec::new(),
            delete: None,
            confirm: "",
        };
        let response = self.show_list(page, list, Some(&new));
        Ok(if error.is_some() { response.with_status(StatusCode::BAD_REQUEST) } else { response })
    }

    async fn template_page(
        &self,
        kind: AdminTemplateKind,
        template: &Value,
        state: String,
        fields: Vec<FieldView>,
        error: Option<&Error>,
    ) -> Page {
        let mut page = self.layout(&title(template), &self.url(TEMPLATES, &[])).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let (delete, confirm) = match origin(template) {
            "Changed" => (Some("Back to the theme's version"), "Discard all changes of this template?"),
            "Own" => (Some("Delete"), "Delete this template permanently?"),
            _ => (None, ""),
        };
        let form = FormView {
            title: String::new(),
            action: self.template_url(kind, text(template, "/id"), ""),
            fields,
            submit: "Save",
            hidden: vec![("etag", state)],
            delete,
            confirm,
        };
        let status = error.map_or(200, Error::status);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        let links = vec![Link::new(kind.plural(), self.templates_url(kind))];
        Ok(form::page(status, page, form, String::new(), links))
    }

    /// Creates a template, or saves, resets or deletes the one that the URL names.
    pub(crate) async fn change_template(&self, form: &Form) -> Page {
        let kind = self.check_templates()?;
        let id = self.param("postId");
        if id.is_empty() {
            return self.create_template(kind, form).await;
        }
        let route = format!("{}/{id}", kind.rest_base());
        let (template, state) = self.template(kind, id).await?;
        let call = match form.get("action") {
            "delete" => self.call(Method::DELETE, route).query("force", "true"),
            "save" => self.post(route, form::changes(&fields(&template), form).into()),
            _ => return Err(crate::posts::unknown_action()),
        };
        match call.if_match(form.get("etag")).send().await {
            Ok(_) if form.get("action") == "delete" => {
                let done = if origin(&template) == "Own" { "deleted" } else { "reset" };
                let url = self.url(TEMPLATES, &[("postType", kind.name()), ("done", done)]);
                Ok(PrivateResponse::redirect(&url))
            }
            Ok(_) => Ok(PrivateResponse::redirect(&self.template_url(kind, id, "saved"))),
            Err(error) if error.status() == 412 => {
                let message = "This template was changed elsewhere since you opened the page. Below is what you typed; \
                               save it again to replace the other change.";
                let error = Error::new("admin_template_changed", message).with_status(412);
                let fields = form::rejected(fields(&template), form, &error);
                self.template_page(kind, &template, state, fields, Some(&error)).await
            }
            Err(error) if error.status() < 500 => {
                let fields = form::rejected(fields(&template), form, &error);
                self.template_page(kind, &template, form.get("etag").to_owned(), fields, Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }

    async fn create_template(&self, kind: AdminTemplateKind, form: &Form) -> Page {
        let slug = svc_text::sanitize_title(form.get("title"));
        let mut body = json!({"slug": slug, "title": form.get("title"), "content": ""});
        match kind {
            AdminTemplateKind::Part => body["area"] = form.get("area").into(),
            // It begins as the template that is used without it.
            AdminTemplateKind::Template => {
                let used = self.get("templates/lookup").query("slug", &slug).query("is_custom", "true").send().await;
                if let Ok(used) = used {
                    body["content"] = text(&used.data, "/content/raw").into();
                }
            }
        }
        match self.post(kind.rest_base(), body).send().await {
            Ok(reply) => {
                let url = self.template_url(kind, text(&reply.data, "/id"), "created");
                Ok(PrivateResponse::redirect(&url))
            }
            Err(error) if error.status() < 500 => {
                let fields = form::rejected(new_fields(kind), form, &error);
                self.templates_page(kind, fields, Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}
