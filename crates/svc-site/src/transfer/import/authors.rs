//! What a file contains, before it is imported, and users for its authors.

use std::{
    collections::{BTreeMap, HashMap},
    io::BufRead,
    sync::Arc,
};

use svc_auth::{Caller, random_text};
use svc_model::UserId;
use svc_schema::Error;
use svc_store::users;
use svc_versions::Context;
use svc_wxr::{Author, Entry, ExportedSite, ReadError, Reader};

use crate::{
    Site,
    errors::transfer as errors,
    users::{draft::UserDraft, save::SaveUser},
};

/// Number of authors that a file may have.
const MAX_AUTHORS: usize = 5_000;

/// What a file contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The site that wrote it.
    pub site: ExportedSite,
    /// The authors of posts, in alphabetical order of the names with which they log in. Old files do not describe them.
    pub authors: Vec<Author>,
    /// Number of posts by type.
    pub items: BTreeMap<String, u64>,
    /// Number of terms that have entries of their own.
    pub terms: u64,
}

/// Reads a whole file.
///
/// # Errors
/// If it is no WXR file, is damaged, or has too many authors.
pub fn survey(file: impl BufRead) -> Result<Survey, ReadError> {
    let mut authors: BTreeMap<String, Author> = BTreeMap::new();
    let (mut items, mut terms) = (BTreeMap::<String, u64>::new(), 0_u64);
    let mut reader = Reader::new(file);
    while let Some(entry) = reader.next() {
        match entry? {
            Entry::Author(author) => drop(authors.insert(author.login.clone(), author)),
            Entry::Term(_) => terms = terms.saturating_add(1),
            Entry::Item(item) => {
                if !item.creator.is_empty() && !authors.contains_key(&item.creator) {
                    let author = Author { login: item.creator.clone(), ..Author::default() };
                    authors.insert(item.creator, author);
                }
                let n = items.entry(item.post_type).or_default();
                *n = n.saturating_add(1);
            }
        }
        if authors.len() > MAX_AUTHORS || items.len() > MAX_AUTHORS {
            return Err(ReadError { at: reader.position(), what: "there are too many authors".to_owned() });
        }
    }
    Ok(Survey { site: reader.site().clone(), authors: authors.into_values().collect(), items, terms })
}

/// Creates users for authors, with the site's default role and a password that nobody knows. Returns the users by the name with
/// which the author logs in; an author whose name or email address exists is that user.
///
/// # Errors
/// Of the first user who cannot be created, such as one whose email address another user has.
pub async fn create_authors(
    site: &Arc<Site>,
    cx: &Context,
    caller: &Caller,
    authors: &[Author],
) -> Result<HashMap<String, UserId>, Error> {
    let mut created = HashMap::new();
    for author in authors {
        let login = svc_text::sanitize_user(&author.login, true);
        let existing = site.read(cx, |db| match users::by_login(db, &login)? {
            None if !author.email.is_empty() => Ok(users::by_email(db, &author.email)?),
            known => Ok(known),
        })?;
        let id = match existing {
            Some(user) => user.id,
            None => create(site, cx, caller, author, login).await?,
        };
        created.insert(author.login.clone(), id);
    }
    Ok(created)
}

async fn create(
    site: &Arc<Site>,
    cx: &Context,
    caller: &Caller,
    author: &Author,
    login: String,
) -> Result<UserId, Error> {
    let settings = site.settings(cx)?;
    let password = random_text(32).map_err(|_| errors::no_password())?;
    let hash = site.password_hashing.hash(password).await.map_err(|_| errors::no_password())?;
    // Old files have no addresses.
    let email =
        if svc_text::is_email(&author.email) { author.email.clone() } else { format!("{login}@example.invalid") };
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let draft = UserDraft {
        username: Some(login),
        email: Some(email),
        name: text(&author.display_name),
        first_name: text(&author.first_name),
        last_name: text(&author.last_name),
        ..UserDraft::default()
    };
    let save = SaveUser {
        site: Arc::clone(site),
        settings,
        caller: caller.clone(),
        draft,
        hash: Some(hash),
        existing: None,
        mails: None,
    };
    site.write(cx, move |tx| save.run(tx)).await
}
