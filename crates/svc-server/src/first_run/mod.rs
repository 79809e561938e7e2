//! The first start: creates the data folder and, in an empty database, a new site.

mod options;
mod password;
mod sample;

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use svc_auth::{Secret, random_text, roles::Roles};
use svc_model::{Comment, Post, PostId, Term, TermId, User, UserId};
use svc_store::{Store, StoreError, StoredText, Tx, comments, options as stored, posts, schema, terms, users};

use crate::{
    accounts::default_meta,
    config::SiteUrl,
    error::{Error, Result},
};

pub(crate) use password::not_shown;

/// Login name of the first user.
const LOGIN: &str = "admin";

/// Option with the URL of a first start without `site_url`.
const LISTEN_URL: &str = "svc_listen_url";

/// Length of the generated password: with 62 characters, 119 bits.
const PASSWORD_LENGTH: usize = 20;

/// A new site, or one whose password has not been shown yet.
#[derive(Debug)]
pub struct Created {
    /// Login name of the administrator.
    pub login: &'static str,
    /// The administrator's password.
    pub password: Secret,
    /// File that stores the password until it is shown.
    file: PathBuf,
}

impl Created {
    /// Records that the password was shown. Later starts do not show it again.
    pub fn shown(&self) {
        password::forget(&self.file);
    }
}

/// Locks the data folder until the result is dropped, so that one of several concurrent starts creates the site. `None` if the
/// system cannot lock folders.
pub(crate) fn turn(data: &Path) -> Option<File> {
    let folder = File::open(data).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Creates the data folder, readable by its owner only, if it is missing.
///
/// # Errors
/// If it cannot be created.
pub(crate) fn folder(data: &Path) -> Result {
    if data.is_dir() {
        return Ok(());
    }
    if data.exists() {
        return Err(Error::Refused(format!("the data folder {} is a file: set `data` to a folder", data.display())));
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(data).map_err(Error::io(format!("cannot create the data folder {}", data.display())))
}

/// Whether the database contains a site.
///
/// # Errors
/// If the database cannot be read, or contains an interrupted import.
pub(crate) fn has_site(store: &Store) -> Result<bool> {
    let found = store.read_blocking(|db| {
        let name = format!("{}options", db.prefix());
        Ok(db.table_exists(&name)? && stored::get(db, "siteurl")?.is_some())
    });
    let found = found.map_err(Error::store("cannot read the database"))?;
    match store.interrupted_import().map_err(Error::store("cannot read the database"))? {
        None => Ok(found),
        Some(dump) if found => {
            tracing::warn!(dump, "an import over this site was interrupted; the site is unchanged");
            Ok(true)
        }
        Some(dump) => Err(Error::Refused(format!(
            "an import into this database was interrupted, or is still running. Run it again: svc-server import {}",
            if dump.is_empty() { "DUMP.sql" } else { &dump }
        ))),
    }
}

/// Creates a site in an empty database, in one transaction. `None` if another process has created one in the meantime. If
/// `follows` is true, the URL is only the one that the server listens on, and changes with it: see [`url_to_follow`].
///
/// # Errors
/// If the database or the data folder cannot be written, or the system has no random bytes.
pub(crate) fn create(
    data: &Path,
    store: &Store,
    url: &SiteUrl,
    follows: bool,
    now: DateTime<Utc>,
) -> Result<Option<Created>> {
    let password = random_text(PASSWORD_LENGTH).map_err(|e| Error::Refused(e.to_string()))?;
    let hash = svc_auth::password::hash(password.expose().as_bytes()).map_err(|e| Error::Refused(e.to_string()))?;
    let site = NewSite { url: url.as_str().to_owned(), follows, hash, now: now.naive_utc() };
    let making = || Error::store("cannot create the site");
    let file = password::file(data);
    password::store(&file, &password)?;
    // Tables are created in a separate step, since MySQL commits each of them together with the current transaction.
    store.write_blocking(schema::install).map_err(making())?;
    let created = store.write_blocking(move |tx| site.fill(tx)).map_err(making())?;
    if !created {
        password::forget(&file);
        return Ok(None);
    }
    Ok(Some(Created { login: LOGIN, password, file }))
}

/// The URL to use instead of the stored one; `None` if the stored one is used.
///
/// A site that was created without `site_url` has the listening address of its first start as its URL, which nobody has chosen.
/// It follows the listening address until its URL is changed.
///
/// # Errors
/// If the options cannot be read.
pub(crate) fn url_to_follow(store: &Store, listening: &SiteUrl) -> Result<Option<SiteUrl>> {
    let names = ["home", "siteurl", LISTEN_URL];
    let options = store
        .read_blocking(|db| stored::get_many(db, &names))
        .map_err(Error::store("cannot read the site's options"))?;
    let [home, siteurl, first] = names.map(|name| options.get(name).map(|value| value.text().to_owned()));
    let is_unchanged =
        first.is_some() && home == first && siteurl == first && first.as_deref() != Some(listening.as_str());
    Ok(is_unchanged.then(|| listening.clone()))
}

/// The values that a new site depends on.
struct NewSite {
    url: String,
    /// Whether the URL follows the listening address.
    follows: bool,
    hash: String,
    /// In UTC, which is also the time zone of a new site.
    now: NaiveDateTime,
}

impl NewSite {
    /// Writes the content of the site, unless there is one. Returns whether it did.
    fn fill(&self, tx: &mut Tx) -> std::result::Result<bool, StoreError> {
        if !schema::claim(tx, &self.url)? {
            return Ok(false);
        }
        let admin = self.admin(tx)?;
        self.options(tx)?;
        let terms = self.terms(tx)?;
        for sample in sample::POSTS {
            self.post(tx, sample, admin, &terms)?;
        }
        Ok(true)
    }

    fn options(&self, tx: &mut Tx) -> std::result::Result<(), StoreError> {
        for (name, value, autoload) in options::FIXED {
            stored::set(tx, name, &value.encoded(), *autoload)?;
        }
        let roles = StoredText::of(Roles::default().to_value());
        let prefix = tx.prefix().to_owned();
        if self.follows {
            stored::set(tx, LISTEN_URL, &StoredText::of(&self.url), false)?;
        }
        let own = [
            ("siteurl".to_owned(), StoredText::of(&self.url)),
            ("home".to_owned(), StoredText::of(&self.url)),
            ("admin_email".to_owned(), StoredText::of(self.email())),
            (format!("{prefix}user_roles"), roles),
        ];
        own.iter().try_for_each(|(name, value)| stored::set(tx, name, value, true))
    }

    /// Email address of the site and its first user.
    fn email(&self) -> String {
        let host = self.url.parse::<SiteUrl>().map(|u| u.host().to_owned()).unwrap_or_default();
        // Email addresses at loopback hosts are not reachable; example.com is reserved.
        let reachable = host.contains('.') && host.parse::<std::net::IpAddr>().is_err();
        format!("{LOGIN}@{}", if reachable { &host } else { "example.com" })
    }

    fn admin(&self, tx: &mut Tx) -> std::result::Result<UserId, StoreError> {
        let user = User {
            login: LOGIN.to_owned(),
            pass: self.hash.clone(),
            nicename: LOGIN.to_owned(),
            email: self.email(),
            display_name: LOGIN.to_owned(),
            registered: Some(self.now),
            ..User::default()
        };
        let id = users::insert(tx, &user)?;
        default_meta(tx, id, LOGIN, "administrator")?;
        Ok(id)
    }

    fn terms(&self, tx: &mut Tx) -> std::result::Result<HashMap<&'static str, Term>, StoreError> {
        let mut created: HashMap<&'static str, Term> = HashMap::new();
        for sample in sample::TERMS {
            let term = Term {
                taxonomy: sample.taxonomy.to_owned(),
                name: sample.name.to_owned(),
                slug: sample.slug.to_owned(),
                description: sample.description.to_owned(),
                ..Term::default()
            };
            created.insert(sample.slug, terms::insert(tx, &term)?);
        }
        let default = sample::TERMS.first().and_then(|t| created.get(t.slug)).map_or(TermId(0), |t| t.id);
        for name in ["default_category", "default_email_category"] {
            stored::set(tx, name, &StoredText::of(default.0), true)?;
        }
        Ok(created)
    }

    fn post(
        &self,
        tx: &mut Tx,
        sample: &sample::SamplePost,
        author: UserId,
        terms: &HashMap<&'static str, Term>,
    ) -> std::result::Result<(), StoreError> {
        let date = Some(self.now - TimeDelta::hours(sample.hours_ago));
        let comments_open = if sample.post_type == "post" { "open" } else { "closed" };
        let mut post = Post {
            author,
            date,
            date_gmt: date,
            modified: date,
            modified_gmt: date,
            content: sample.content.to_owned(),
            title: sample.title.to_owned(),
            excerpt: sample.excerpt.to_owned(),
            status: "publish".to_owned(),
            comment_status: comments_open.to_owned(),
            ping_status: comments_open.to_owned(),
            slug: sample.slug.to_owned(),
            post_type: sample.post_type.to_owned(),
            ..Post::default()
        };
        post.id = posts::insert(tx, &post)?;
        let kind = if sample.post_type == "page" { "page_id" } else { "p" };
        post.guid = format!("{}/?{kind}={}", self.url, post.id);
        posts::update(tx, &post)?;
        for taxonomy in ["category", "post_tag"] {
            let ids: Vec<TermId> = sample
                .terms
                .iter()
                .filter_map(|slug| terms.get(slug))
                .filter(|t| t.taxonomy == taxonomy)
                .map(|t| t.id)
                .collect();
            if !ids.is_empty() {
                terms::set_object_terms(tx, post.id, taxonomy, &ids)?;
            }
        }
        if let Some(text) = sample.comment {
            self.comment(tx, post.id, text)?;
        }
        Ok(())
    }

    fn comment(&self, tx: &mut Tx, post: PostId, text: &str) -> std::result::Result<(), StoreError> {
        let (author, email) = sample::COMMENTER;
        let comment = Comment {
            post,
            author: author.to_owned(),
            author_email: email.to_owned(),
            date: Some(self.now),
            date_gmt: Some(self.now),
            content: text.to_owned(),
            approved: "1".to_owned(),
            comment_type: "comment".to_owned(),
            ..Comment::default()
        };
        comments::insert(tx, &comment).map(drop)
    }
}
