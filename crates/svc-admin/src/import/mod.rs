//! The import of WXR files and of other sites: uploads and addresses, who gets the posts of each author, and how far imports are.

mod upload;

use askama::Template;
use http::{HeaderName, StatusCode};
use svc_login::{Form, Page, PrivateResponse};
use svc_model::UserId;
use svc_schema::Error;
use svc_site::transfer::{
    import::{Author, ImportReport},
    remote::RemoteSite,
    runs::{AuthorChoice, ImportRules, Run, RunState},
};

pub use self::upload::upload_router;
use crate::{
    form::{Control, Field, FieldView, values_of},
    layout::{self, IMPORT, IMPORT_FILE, Layout},
    request::{AdminRequest, items, text},
};

/// Seconds after which a page with an import that runs is loaded again.
const REFRESH: &str = "3";

/// Number of authors who can be assigned one by one.
const MAX_AUTHORS: usize = 200;

/// Parameter with which the page shows its forms although an import runs.
const OTHER: &str = "other";

/// Value of the choice for a new user.
const NEW: &str = "new";

/// An import as the page shows it.
struct RunView {
    name: String,
    size: String,
    id: String,
    /// Where its authors are assigned; empty if that is done.
    assign: String,
    /// What it is doing, or has done.
    state: String,
    /// Why it has ended early; may be empty.
    error: String,
    problems: Vec<String>,
    /// Number of problems that are not listed.
    more: u64,
    runs: bool,
    /// Whether the other site is read.
    is_read: bool,
    done: u64,
    total: u64,
}

/// An import whose authors are to be assigned.
struct AssignView {
    id: String,
    /// What the file contains.
    summary: String,
    from: String,
    /// What could not be read.
    left_out: Vec<String>,
    authors: Vec<FieldView>,
    /// Number of authors whose posts the user gets, because there are too many.
    others: usize,
}

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    page: Layout,
    action: String,
    /// The address that was refused.
    address: String,
    user: String,
    upload: String,
    max_size: u64,
    runs: Vec<RunView>,
    assign: Option<AssignView>,
    /// The page with the forms, if they are not shown because the page is loaded again and again.
    other: String,
}

/// A number with its unit, for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// What was imported, as a sentence.
fn summary(report: &ImportReport) -> String {
    let ImportReport { created, existing, terms, comments, .. } = report;
    let mut text = format!("{created} posts of all types, {terms} terms and {comments} comments imported");
    if *existing > 0 {
        text += &format!("; {existing} posts were here already");
    }
    if report.without_file > 0 {
        text += &format!("; {} attachments without a file left out", report.without_file);
    }
    text + "."
}

impl AdminRequest<'_> {
    fn check_import(&self) -> Result<(), Error> {
        if self.can("import") {
            return Ok(());
        }
        Err(Error::new("admin_no_import", "You may not import content.").with_status(403))
    }

    fn import_url(&self) -> String {
        self.url(IMPORT, &[])
    }

    /// The page with the imports of the user.
    pub(crate) async fn show_import(&self) -> Page {
        self.check_import()?;
        self.import_page(upload::problem(self.param("refused")), StatusCode::OK, ("", "")).await
    }

    /// The page, with the address and the user that were refused.
    async fn import_page(&self, problem: &str, status: StatusCode, (address, user): (&str, &str)) -> Page {
        let runs = self.admin.imports.of_user(self.session.user.id);
        let wanted = self.param("file");
        let waiting = runs.iter().find(|run| run.id == wanted && run.state == RunState::Waiting);
        let assign = match waiting {
            Some(run) => Some(self.assign_view(run).await?),
            None => None,
        };
        // A page that is loaded again would lose what is typed in it.
        let is_followed = runs.iter().any(Run::is_busy) && assign.is_none() && self.param(OTHER).is_empty();
        let is_followed = is_followed && problem.is_empty();
        let mut page = self.layout("Import", &self.import_url()).await?;
        problem.clone_into(&mut page.problem);
        let template = ImportPage {
            page,
            action: self.import_url(),
            address: address.to_owned(),
            user: user.to_owned(),
            upload: self.url(IMPORT_FILE, &[]),
            max_size: self.admin.max_upload,
            runs: runs.iter().map(|run| self.run_view(run)).collect(),
            assign,
            other: if is_followed { self.url(IMPORT, &[(OTHER, "1")]) } else { String::new() },
        };
        let response = layout::html(status, &template);
        let reload = [("refresh", REFRESH)].into_iter().filter(|_| is_followed);
        Ok(reload.fold(response, |response, (name, value)| response.header(HeaderName::from_static(name), value)))
    }

    fn run_view(&self, run: &Run) -> RunView {
        let total = run.survey.items.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
        let (report, state, error) = match &run.state {
            RunState::Reading(0) => (ImportReport::default(), "The site is being read.".to_owned(), None),
            RunState::Reading(n) => {
                (ImportReport::default(), format!("The site is being read: {n} posts so far."), None)
            }
            RunState::Unreadable(why) => {
                (ImportReport::default(), "Nothing was imported.".to_owned(), Some(why.clone()))
            }
            RunState::Waiting => {
                (ImportReport::default(), format!("{total} posts of all types. Not imported yet."), None)
            }
            RunState::Running(report) => (report.clone(), format!("Running: {}", summary(report)), None),
            RunState::Ended(report, None) => (report.clone(), format!("Complete: {}", summary(report)), None),
            RunState::Ended(report, Some(error)) => {
                let state = format!("Not complete: {} Import the file again to continue.", summary(report));
                (report.clone(), state, Some(error.clone()))
            }
        };
        let is_waiting = run.state == RunState::Waiting;
        RunView {
            name: run.name.clone(),
            size: if run.size > 0 { size(run.size) } else { String::new() },
            id: run.id.clone(),
            assign: if is_waiting { self.url(IMPORT, &[("file", &run.id)]) } else { String::new() },
            state,
            error: error.unwrap_or_default(),
            more: report.n_problems.saturating_sub(report.problems.len() as u64),
            problems: report.problems,
            runs: matches!(run.state, RunState::Running(_)),
            is_read: matches!(run.state, RunState::Reading(_)),
            done: report.bytes,
            total: run.size,
        }
    }

    async fn assign_view(&self, run: &Run) -> Result<AssignView, Error> {
        let query = self.get("users").query("per_page", "100").query("orderby", "name").query("context", "edit");
        let users = query.query("_fields", "id,name,username").send().await?.data;
        let own = self.session.user.id.0.to_string();
        let mut choices: Vec<(String, String)> = items(&users)
            .iter()
            .map(|user| (user["id"].to_string(), text(user, "/name").to_owned()))
            .filter(|(id, _)| *id != own)
            .collect();
        choices.insert(0, (own.clone(), format!("{} (you)", self.session.display_name())));
        let can_create = self.can("create_users");
        let field = |(at, author): (usize, &Author)| {
            let known = items(&users).iter().find(|user| text(user, "/username") == author.login);
            let default = match known {
                Some(user) => user["id"].to_string(),
                None if can_create => NEW.to_owned(),
                None => own.clone(),
            };
            let mut options = choices.clone();
            if can_create && known.is_none() {
                options.push((NEW.to_owned(), format!("A new user, {}", author.login)));
            }
            let label = match &*author.display_name {
                "" => author.login.clone(),
                name => format!("{name} ({})", author.login),
            };
            let field = Field::new(&format!("author-{at}"), &label, Control::Choice(options));
            values_of(vec![field.at("")], &default.into()).pop()
        };
        let authors = &run.survey.authors;
        let parts: Vec<String> = run.survey.items.iter().map(|(kind, n)| format!("{n} × {kind}")).collect();
        Ok(AssignView {
            id: run.id.clone(),
            summary: format!("{}; {} terms", parts.join(", "), run.survey.terms),
            from: run.survey.site.base_url.clone(),
            left_out: run.left_out.clone(),
            authors: authors.iter().take(MAX_AUTHORS).enumerate().filter_map(field).collect(),
            others: authors.len().saturating_sub(MAX_AUTHORS),
        })
    }

    /// Begins to read a site or an import, or forgets one.
    pub(crate) async fn change_import(&self, form: &Form) -> Page {
        self.check_import()?;
        let (user, id) = (self.session.user.id, form.get("id"));
        let imports = &self.admin.imports;
        match form.get("action") {
            "forget" => imports.forget(user, id),
            "read" => {
                let (address, name) = (form.get("address"), form.get("user"));
                let remote = RemoteSite::new(address, name, form.get("password"));
                let begun = remote.and_then(|remote| imports.read(&self.admin.pages.identities.site, user, remote));
                if let Err(error) = begun {
                    return self.refused_import(error, (address, name)).await;
                }
            }
            "start" => {
                let run = imports.of_user(user).into_iter().find(|run| run.id == id);
                let authors = run.map(|run| run.survey.authors.clone()).unwrap_or_default();
                let choice = |login: &str| {
                    let at = authors.iter().position(|author| author.login == login).unwrap_or(usize::MAX);
                    match form.get(&format!("author-{at}")) {
                        NEW => AuthorChoice::New,
                        chosen => AuthorChoice::User(chosen.parse().map_or(user, UserId)),
                    }
                };
                let (site, caller) = (&self.admin.pages.identities.site, &self.session.caller);
                let any_html = self.can("unfiltered_html");
                let rules = ImportRules { files: !form.get("files").is_empty(), any_html };
                let started = imports.start(&self.parts.cx, site, caller, id, rules, choice).await;
                if let Err(error) = started {
                    return self.refused_import(error, ("", "")).await;
                }
            }
            _ => return Err(crate::posts::unknown_action()),
        }
        Ok(PrivateResponse::redirect(&self.import_url()))
    }

    async fn refused_import(&self, error: Error, shown: (&str, &str)) -> Page {
        if error.status() >= 500 && error.status() != 503 {
            return Err(error);
        }
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST);
        self.import_page(error.message(), status, shown).await
    }
}
