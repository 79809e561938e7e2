//! The users: a list, a form for a new one, and a page for each.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;
use svc_site::{
    mail::{self, accounts::NewUserMails},
    users::locales,
};

use crate::{
    form::{self, Control, Field, FieldView, FormView},
    layout::{Link, plain},
    list::{Cell, Filter, List, PER_PAGE, Row, column, date_cell},
    request::{AdminRequest, items, text},
};

/// The field that decides whether a new user gets a mail, with WordPress's name.
const NOTIFY: &str = "send_user_notification";

/// What the list shows of a user.
const FIELDS: &str = "id,username,name,email,roles,registered_date,_links";

impl AdminRequest<'_> {
    /// The roles of the site: names and labels.
    fn roles(&self) -> Result<Vec<(String, String)>, Error> {
        let settings = &self.session.settings;
        let site = &self.admin.pages.identities.site;
        site.read(&self.parts.cx, |db| {
            let roles = settings.roles(db.prefix()).iter();
            Ok(roles.map(|(name, role)| (name.to_owned(), role.name.clone())).collect())
        })
    }

    /// The list of users.
    pub(crate) async fn list_users(&self) -> Page {
        let page = self.layout("Users", &self.url("users.php", &[])).await?;
        let role = self.param("role");
        let mut call = self
            .get("users")
            .query("context", "edit")
            .query("search", self.param("s"))
            .query("roles", role)
            .query("_fields", FIELDS);
        if let by @ ("name" | "email" | "registered_date") = self.param("orderby") {
            call = call.query("orderby", by).query("order", if self.param("order") == "desc" { "desc" } else { "asc" });
        }
        let Some(reply) = self.read_page(call, PER_PAGE).await? else { return Ok(self.to_first_page()) };
        let roles = self.roles()?;
        let option = |(value, label): &(String, String)| (value.clone(), label.clone(), value == role);
        let all = (String::new(), "All roles".to_owned(), role.is_empty());
        let list = List {
            new: self.can("create_users").then(|| Link::new("New user", self.url("user-new.php", &[]))),
            search_label: "Search",
            search: self.param("s").to_owned(),
            filters: vec![Filter::choice(
                "role",
                "Role",
                std::iter::once(all).chain(roles.iter().map(option)).collect(),
            )],
            kept: self.kept(&["orderby", "order"]),
            columns: vec![
                self.sortable("Name", "name", Some("ascending")),
                self.sortable("Email", "email", None),
                column("Role"),
                self.sortable("Registered", "registered_date", None),
            ],
            rows: items(&reply.data).iter().map(|user| self.user_row(user, &roles)).collect(),
            field: "user",
            empty: "No users found.".to_owned(),
            pager: self.pager(&reply),
            ..List::default()
        };
        Ok(self.show_list(page, list, None))
    }

    fn user_row(&self, user: &Value, roles: &[(String, String)]) -> Row {
        let id = user["id"].as_i64().unwrap_or_default();
        let name = plain(text(user, "/name"));
        let of_user = items(&user["roles"]).iter().filter_map(Value::as_str);
        let label =
            |role: &str| roles.iter().find(|(name, _)| name == role).map_or(role, |(_, label)| label).to_owned();
        let labels: Vec<String> = of_user.map(label).collect();
        let url = self.user_url(id);
        Row {
            id,
            cells: vec![
                Cell::Link(Link::new(&name, url), vec![text(user, "/username").to_owned()]),
                Cell::Text(text(user, "/email").to_owned()),
                Cell::Text(labels.join(", ")),
                date_cell(text(user, "/registered_date"), ""),
            ],
            name,
            ..Row::default()
        }
    }

    /// The page of a user: the profile for the own account.
    fn user_url(&self, id: i64) -> String {
        if id == self.session.user.id.0 {
            return self.url("profile.php", &[]);
        }
        self.url("user-edit.php", &[("user_id", &id.to_string())])
    }

    /// The languages that a user may choose.
    fn languages(&self) -> Vec<(String, String)> {
        locales::choices(&self.parts.cx, &self.admin.pages.identities.site)
    }

    /// Whether the site sends mails.
    fn sends_mail(&self) -> bool {
        mail::is_configured(&self.admin.pages.identities.site)
    }

    fn user_fields(&self, is_new: bool) -> Result<Vec<Field>, Error> {
        let mut fields = Vec::new();
        if is_new {
            fields.push(Field::new("username", "Username", Control::Line("text")).required());
        }
        fields.extend([
            Field::new("email", "Email Address", Control::Line("email")).required(),
            Field::new("name", "Display Name", Control::Line("text")),
            Field::new("first_name", "First Name", Control::Line("text")),
            Field::new("last_name", "Last Name", Control::Line("text")),
            Field::new("url", "Website", Control::Line("url")),
            Field::new("description", "Biography", Control::Lines),
            Field::new("locale", "Language", Control::Choice(self.languages()))
                .help("For apps and a WordPress with translations. The administration area is in English."),
        ]);
        if self.can("promote_users") || is_new {
            fields.push(Field::new("roles", "Role", Control::Choice(self.roles()?)).at("/roles/0"));
        }
        if is_new && self.sends_mail() {
            let help = "With a link to set a password; then you can leave the password empty.";
            fields.push(Field::new(NOTIFY, "Send the new user a mail about their account", Control::Check).help(help));
        }
        let help = if is_new { "At least eight characters." } else { "Leave empty to keep the password." };
        fields.push(Field::new("password", "Password", Control::Line("password")).help(help));
        Ok(fields)
    }

    /// The form of a new user.
    pub(crate) async fn new_user(&self) -> Page {
        if !self.can("create_users") {
            return Err(Error::new("admin_cannot_create", "You may not create users.").with_status(403));
        }
        let default = self.session.settings.option("default_role").to_owned();
        let fields = form::values_of(self.user_fields(true)?, &json!({"roles": [default], NOTIFY: true}));
        self.user_page(&Value::Null, fields, String::new(), None).await
    }

    /// The page of a user.
    pub(crate) async fn edit_user(&self) -> Page {
        let id = self.id("user_id").unwrap_or_default();
        if id == self.session.user.id.0 {
            return Ok(PrivateResponse::redirect(&self.user_url(id)));
        }
        let user = self.get(format!("users/{id}")).query("context", "edit").send().await?;
        self.user_page(&user.data, form::values_of(self.user_fields(false)?, &user.data), user.state, None).await
    }

    async fn user_page(&self, user: &Value, fields: Vec<FieldView>, state: String, error: Option<&Error>) -> Page {
        let title = if user.is_null() { "New user".to_owned() } else { plain(text(user, "/name")) };
        let mut page = self.layout(&title, &self.url("users.php", &[])).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let id = user["id"].to_string();
        let form = FormView {
            title: String::new(),
            action: if user.is_null() {
                self.url("user-new.php", &[])
            } else {
                self.url("user-edit.php", &[("user_id", &id)])
            },
            fields,
            submit: if user.is_null() { "Create user" } else { "Save" },
            hidden: vec![("etag", state)],
            delete: (!user.is_null() && self.can("delete_users")).then_some("Delete user"),
            confirm: "Delete this user? Their posts become yours.",
        };
        let links = vec![Link::new("Users", self.url("users.php", &[]))];
        let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Ok(form::page(status, page, form, String::new(), links))
    }

    /// The changes of a form of a user.
    fn user_changes(fields: &[Field], form: &Form) -> serde_json::Map<String, Value> {
        let mut body = form::changes(fields, form);
        if body.get("password").is_some_and(|password| *password == "") {
            body.shift_remove("password");
        }
        if let Some(role) = body.shift_remove("roles") {
            body.insert("roles".to_owned(), json!([role]));
        }
        body
    }

    /// Creates a user.
    pub(crate) async fn create_user(&self, form: &Form) -> Page {
        let fields = self.user_fields(true)?;
        let mut body = Self::user_changes(&fields, form);
        body.retain(|_, value| *value != "");
        body.shift_remove(NOTIFY);
        let mails = if !form.get(NOTIFY).is_empty() { NewUserMails::Both } else { NewUserMails::Administrator };
        if body.get("password").is_none() && mails == NewUserMails::Both && self.sends_mail() {
            // The user sets one with the link in the mail.
            body.insert("password".to_owned(), svc_auth::random_text(24).map_err(no_password)?.expose().into());
        }
        match self.post("users", body.into()).mails(mails).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.url("users.php", &[("done", "created")]))),
            Err(error) if error.status() < 500 => {
                let mut views = form::rejected(fields, form, &error);
                forget_password(&mut views);
                self.user_page(&Value::Null, views, String::new(), Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }

    /// Saves or deletes a user. The posts of a deleted user become those of the caller.
    pub(crate) async fn save_user(&self, form: &Form) -> Page {
        let id = self.id("user_id").unwrap_or_default();
        let route = format!("users/{id}");
        if form.get("action") == "delete" {
            let heir = self.session.user.id.0.to_string();
            self.call(Method::DELETE, route).query("force", "true").query("reassign", heir).send().await?;
            return Ok(PrivateResponse::redirect(&self.url("users.php", &[("done", "deleted")])));
        }
        let user = self.get(&*route).query("context", "edit").send().await?;
        let fields = self.user_fields(false)?;
        let body = Self::user_changes(&fields, form);
        match self.post(route, body.into()).if_match(form.get("etag")).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.after("saved", &[]))),
            Err(error) if error.status() < 500 => {
                let mut views = form::rejected(fields, form, &error);
                forget_password(&mut views);
                self.user_page(&user.data, views, user.state, Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}

fn no_password(error: svc_auth::RandomSourceError) -> Error {
    Error::new("admin_no_password", error.to_string()).with_status(500)
}

/// Passwords are never part of a page.
fn forget_password(views: &mut [FieldView]) {
    for view in views.iter_mut().filter(|view| view.field.name == "password") {
        view.value.clear();
    }
}
