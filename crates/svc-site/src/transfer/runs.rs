//! Imports of files that users have uploaded, and of other sites, which are read into a file: what is read, waits for a decision, runs or
//! has ended in this process.
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
    transfer::{
        import::{ImportOptions, ImportReport, Survey, create_authors, import, survey},
        remote::{RemoteSite, download},
    },
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
    /// The other site is read: the number of posts so far.
    Reading(u64),
    /// The other site cannot be read. The reason is for people.
    Unreadable(String),
    /// The user has not decided about the authors.
    Waiting,
    /// It runs.
    Running(ImportReport),
    /// It has ended: with an error if it was not completed.
    Ended(ImportReport, Option<String>),
}

/// An import of an uploaded file, or of another site.
#[derive(Clone, Debug)]
pub struct Run {
    /// The ID, which only the user who has begun the import knows.
    pub id: String,
    /// The user who has begun the import.
    pub user: UserId,
    /// Name of the file, as sent, or address of the site.
    pub name: String,
    /// Size of the file, in bytes.
    pub size: u64,
    /// What the file contains.
    pub survey: Arc<Survey>,
    /// What of the other site could not be read, and why.
    pub left_out: Vec<String>,
    /// The state.
    pub state: RunState,
    /// `None` as long as the other site is read.
    file: Option<Arc<TempPath>>,
}

impl Run {
    fn new(user: UserId, name: String, state: RunState) -> Result<Self, Error> {
        let id = random_text(ID_LENGTH).map_err(|_| errors::no_password())?.expose().to_owned();
        Ok(Run { id, user, name, size: 0, survey: Arc::default(), left_out: Vec::new(), state, file: None })
    }

    /// Whether it does something at this moment.
    pub fn is_busy(&self) -> bool {
        matches!(self.state, RunState::Reading(_) | RunState::Running(_))
    }
}

/// Reads a file, and returns what it contains and its size.
async fn examine(file: &Arc<TempPath>) -> Result<(Survey, u64), Error> {
    let path = Arc::clone(file);
    let found = run_blocking(move || {
        let opened = File::open(&*path)?;
        let size = opened.metadata()?.len();
        Ok::<_, std::io::Error>(survey(BufReader::new(opened)).map(|found| (found, size)))
    });
    found.await?.map_err(|error| errors::disk(&error))?.map_err(|error| errors::no_wxr(&error))
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

/// Logs that the task of an import has failed, and returns what its user reads.
fn failed(error: &tokio::task::JoinError) -> String {
    tracing::error!(%error, "an import failed");
    "The failure has been logged.".to_owned()
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
        let (found, size) = examine(&file).await?;
        let run = Run::new(user, name, RunState::Waiting)?;
        let id = run.id.clone();
        self.push(Run { size, survey: Arc::new(found), file: Some(file), ..run })?;
        Ok(id)
    }

    /// Adds an import. The oldest one that does nothing is forgotten, if there are many.
    fn push(&self, run: Run) -> Result<(), Error> {
        let mut runs = self.lock();
        // Two sites at a time would take the outgoing requests that others need.
        if matches!(run.state, RunState::Reading(_)) && runs.iter().any(|run| matches!(run.state, RunState::Reading(_)))
        {
            return Err(errors::site_is_read());
        }
        if runs.len() >= MAX_IMPORTS {
            let oldest = runs.iter().position(|run| !run.is_busy());
            runs.remove(oldest.ok_or_else(errors::too_many_imports)?);
        }
        runs.push(run);
        Ok(())
    }

    /// Begins to read another site, in a task of its own. The import waits for a decision when that has ended.
    ///
    /// # Errors
    /// 409 if another site is read; 503 if too many imports run.
    pub fn read(&self, site: &Arc<Site>, user: UserId, remote: RemoteSite) -> Result<(), Error> {
        let run = Run::new(user, remote.address().to_owned(), RunState::Reading(0))?;
        let id = run.id.clone();
        self.push(run)?;
        let (runs, site) = (self.clone(), Arc::clone(site));
        tokio::spawn(async move {
            let (own, of) = (runs.clone(), id.clone());
            let work = tokio::spawn(async move {
                // A run that was forgotten is not continued.
                let progress = |n: u64| own.change(&of, |run| run.state = RunState::Reading(n));
                let read = download(&site, &remote, &progress).await?;
                let file = Arc::new(read.file);
                let (found, size) = examine(&file).await?;
                own.change(&of, |run| {
                    *run = Run {
                        size,
                        survey: Arc::new(found),
                        left_out: read.left_out,
                        state: RunState::Waiting,
                        file: Some(file),
                        ..run.clone()
                    };
                });
                Ok::<(), Error>(())
            });
            let why = match work.await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.message().to_owned(),
                Err(error) => failed(&error),
            };
            runs.change(&id, |run| run.state = RunState::Unreadable(why));
        });
        Ok(())
    }

    /// The imports of a user, the newest first.
    pub fn of_user(&self, user: UserId) -> Vec<Run> {
        self.lock().iter().rev().filter(|run| run.user == user).cloned().collect()
    }

    /// Forgets an import that does not run.
    pub fn forget(&self, user: UserId, id: &str) {
        self.lock().retain(|run| run.id != id || run.user != user || matches!(run.state, RunState::Running(_)));
    }

    /// Changes an import. Returns whether it is still there.
    fn change(&self, id: &str, f: impl FnOnce(&mut Run)) -> bool {
        self.lock().iter_mut().find(|run| run.id == id).map(f).is_some()
    }

    fn set_state(&self, id: &str, state: RunState) {
        self.change(id, |run| run.state = state);
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
            let ended =
                work.await.unwrap_or_else(|error| RunState::Ended(ImportReport::default(), Some(failed(&error))));
            runs.set_state(&id, ended);
        });
        Ok(())
    }

    async fn import(&self, site: &Arc<Site>, run: &Run, options: ImportOptions) -> RunState {
        let opened = run.file.as_ref().map(|path| File::open(&**path)).transpose();
        let file = match opened {
            Ok(Some(file)) => BufReader::new(file),
            Ok(None) => return RunState::Ended(ImportReport::default(), Some("There is no file.".to_owned())),
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
