//! Imports of files that users have uploaded: what waits for a decision, runs or has ended in this process.
//!
//! They are kept in memory. If the server is stopped, what was imported stays, and the file can be imported again.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::BufReader,
    sync::{Arc, Mutex, PoisonError},
};

use svc_auth::{Caller, random_text};
use svc_model::UserId;
use svc_schema::Error;
use svc_store::users;
use svc_versions::Context;
use tempfile::TempPath;

use crate::{
    Access, Site,
    blocking::run_blocking,
    errors::transfer as errors,
    transfer::import::{ImportOptions, ImportReport, Survey, create_authors, import, survey},
};

/// Number of imports that are remembered; the oldest ones that do not run are forgotten.
const MAX_IMPORTS: usize = 8;

/// Characters of an ID.
const ID_LENGTH: usize = 20;

/// What to do with an author of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorChoice {
    /// This user gets the posts.
    User(UserId),
    /// A new user gets the posts.
    New,
}

/// How a file is imported, besides its authors ([`ImportOptions`]).
#[derive(Clone, Copy, Debug)]
pub struct ImportRules {
    /// Whether the files of attachments are fetched.
    pub files: bool,
    /// Whether texts are stored as they are.
    pub any_html: bool,
}

/// The state of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The user has not decided about the authors.
    Waiting,
    /// It runs.
    Running(ImportReport),
    /// It has ended: with an error if it was not completed.
    Ended(ImportReport, Option<String>),
}

/// An import of an uploaded file.
#[derive(Clone, Debug)]
pub struct Run {
    /// The ID, which only the user who uploaded the file knows.
    pub id: String,
    /// The user who uploaded the file.
    pub user: UserId,
    /// Name of the file, as sent.
    pub name: String,
    /// Size of the file, in bytes.
    pub size: u64,
    /// What the file contains.
    pub survey: Arc<Survey>,
    /// The state.
    pub state: RunState,
    file: Arc<TempPath>,
}

/// An import that waits again if it is not kept, such as when the client has gone.
struct Begun<'r> {
    runs: &'r ImportRuns,
    id: &'r str,
    is_kept: bool,
}

impl Begun<'_> {
    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.runs.set_state(self.id, RunState::Waiting);
        }
    }
}

/// The users who get the posts of the authors of a file. The caller gets those of users who do not exist.
async fn users_of_authors(
    cx: &Context,
    site: &Arc<Site>,
    caller: &Caller,
    survey: &Survey,
    choice: impl Fn(&str) -> AuthorChoice,
) -> Result<HashMap<String, UserId>, Error> {
    let (mut new, mut chosen) = (Vec::new(), Vec::new());
    for author in &survey.authors {
        match choice(&author.login) {
            AuthorChoice::New => new.push(author.clone()),
            AuthorChoice::User(user) => chosen.push((author.login.clone(), user)),
        }
    }
    let settings = site.settings(cx)?;
    if !new.is_empty() && !Access::new(site, &settings).can(caller, "create_users") {
        return Err(errors::cannot_create_users());
    }
    let ids: Vec<UserId> = chosen.iter().map(|(_, user)| *user).collect();
    let known = site.read(cx, |db| Ok(users::get_many(db, &ids)?))?;
    let known: HashSet<UserId> = known.into_iter().map(|user| user.id).collect();
    let mut authors = create_authors(site, cx, caller, &new).await?;
    authors
        .extend(chosen.into_iter().map(|(login, user)| (login, if known.contains(&user) { user } else { caller.id })));
    Ok(authors)
}

/// The imports of a process.
#[derive(Clone, Default)]
pub struct ImportRuns(Arc<Mutex<Vec<Run>>>);

impl ImportRuns {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an uploaded file, and returns the ID of its import. The file is deleted with the import.
    ///
    /// # Errors
    /// 400 if it is no WXR file; 503 if too many imports run.
    pub async fn add(&self, user: UserId, name: String, file: TempPath) -> Result<String, Error> {
        let file = Arc::new(file);
        let path = Arc::clone(&file);
        let found = run_blocking(move || {
            let opened = File::open(&*path)?;
            let size = opened.metadata()?.len();
            Ok::<_, std::io::Error>(survey(BufReader::new(opened)).map(|found| (found, size)))
        });
        let (found, size) =
            found.await?.map_err(|error| errors::disk(&error))?.map_err(|error| errors::no_wxr(&error))?;
        let id = random_text(ID_LENGTH).map_err(|_| errors::no_password())?.expose().to_owned();
        let run = Run { id: id.clone(), user, name, size, survey: Arc::new(found), state: RunState::Waiting, file };
        let mut runs = self.lock();
        if runs.len() >= MAX_IMPORTS {
            let oldest = runs.iter().position(|run| !matches!(run.state, RunState::Running(_)));
            runs.remove(oldest.ok_or_else(errors::too_many_imports)?);
        }
        runs.push(run);
        Ok(id)
    }

    /// The imports of a user, the newest first.
    pub fn of_user(&self, user: UserId) -> Vec<Run> {
        self.lock().iter().rev().filter(|run| run.user == user).cloned().collect()
    }

    /// Forgets an import that does not run.
    pub fn forget(&self, user: UserId, id: &str) {
        self.lock().retain(|run| run.id != id || run.user != user || matches!(run.state, RunState::Running(_)));
    }

    fn set_state(&self, id: &str, state: RunState) {
        if let Some(run) = self.lock().iter_mut().find(|run| run.id == id) {
            run.state = state;
        }
    }

    /// Begins an import that waits, in a task of its own: one at a time, so that two do not create the same posts. `choice` is asked for
    /// each author of the file, by name.
    ///
    /// # Errors
    /// 404 if there is no such import, 409 if it has begun or another one runs; those of creating users.
    pub async fn start(
        &self,
        cx: &Context,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        rules: ImportRules,
        choice: impl Fn(&str) -> AuthorChoice,
    ) -> Result<(), Error> {
        let run = {
            let mut runs = self.lock();
            if runs.iter().any(|run| matches!(run.state, RunState::Running(_))) {
                return Err(errors::import_runs());
            }
            let waiting = |run: &&mut Run| run.id == id && run.user == caller.id && run.state == RunState::Waiting;
            let run = runs.iter_mut().find(waiting).ok_or_else(errors::no_import)?;
            run.state = RunState::Running(ImportReport::default());
            run.clone()
        };
        let begun = Begun { runs: self, id, is_kept: false };
        let authors = users_of_authors(cx, site, caller, &run.survey, choice).await?;
        begun.keep();
        let options = ImportOptions { authors, fallback: caller.id, files: rules.files, any_html: rules.any_html };
        let (runs, site) = (self.clone(), Arc::clone(site));
        tokio::spawn(async move {
            let (own, id) = (runs.clone(), run.id.clone());
            let work = tokio::spawn(async move { own.import(&site, &run, options).await });
            let ended = work.await.unwrap_or_else(|error| {
                tracing::error!(%error, "an import failed");
                RunState::Ended(ImportReport::default(), Some("The failure has been logged.".to_owned()))
            });
            runs.set_state(&id, ended);
        });
        Ok(())
    }

    async fn import(&self, site: &Arc<Site>, run: &Run, options: ImportOptions) -> RunState {
        let file = match File::open(&*run.file) {
            Ok(file) => BufReader::new(file),
            Err(error) => return RunState::Ended(ImportReport::default(), Some(error.to_string())),
        };
        let last = Mutex::new(ImportReport::default());
        let show = |report: &ImportReport| {
            last.lock().unwrap_or_else(PoisonError::into_inner).clone_from(report);
            self.set_state(&run.id, RunState::Running(report.clone()));
        };
        // The request that has begun the import is over long before it ends.
        match import(site, &Context::background(), file, options, &show).await {
            Ok(report) => RunState::Ended(report, None),
            Err(error) => {
                let report = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                RunState::Ended(report, Some(error.to_string()))
            }
        }
    }
}
