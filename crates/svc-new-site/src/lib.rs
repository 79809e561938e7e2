#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod accounts;
pub mod active_theme;
mod error;
mod options;
mod password;
mod sample;
pub mod setup;
pub mod theme;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use svc_auth::{Secret, random_text, roles::Roles};
use svc_model::{Comment, Post, PostId, Term, TermId, User, UserId};
use svc_store::{Store, StoreError, StoredText, Tx, comments, options as stored, posts, schema, terms, users};

use accounts::default_meta;

pub use error::{Error, Result};
pub use password::not_shown;

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

/// Whether the database contains a site.
///
/// # Errors
/// If the database cannot be read, or contains an interrupted import.
pub fn has_site(store: &Store) -> Result<bool> {
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

/// Whether the site's URL is still the listening address of its first start, and differs from the present one.
///
/// Nobody has chosen such a URL ([`NewSite::follows`]): the site has the present listening address as its URL instead, until its URL is changed.
///
/// # Errors
/// If the options cannot be read.
pub fn follows(store: &Store, listening: &str) -> Result<bool> {
    let names = ["home", "siteurl", LISTEN_URL];
    let options = store
        .read_blocking(|db| stored::get_many(db, &names))
        .map_err(Error::store("cannot read the site's options"))?;
    let [home, siteurl, first] = names.map(|name| options.get(name).map(|value| value.text().to_owned()));
    Ok(first.is_some() && home == first && siteurl == first && first.as_deref() != Some(listening))
}

/// A site that does not exist yet.
#[derive(Clone, Debug)]
pub struct NewSite {
    /// The URL, without a slash at its end.
    pub url: String,
    /// Its host, without port.
    pub host: String,
    /// Whether the URL is only the one that the server listens on, and changes with it: see [`follows`].
    pub follows: bool,
    /// The time of its creation. The time zone of a new site is UTC.
    pub now: DateTime<Utc>,
}

impl NewSite {
    /// Creates the site in an empty database, in one transaction. `None` if another process has created one in the meantime. `data` is
    /// the folder for the file with the first password.
    ///
    /// # Errors
    /// If the database or the folder cannot be written, or the system has no random bytes.
    pub fn create(self, data: &Path, store: &Store) -> Result<Option<Created>> {
        let password = random_text(PASSWORD_LENGTH).map_err(|e| Error::Refused(e.to_string()))?;
        let hash = svc_auth::password::hash(password.expose().as_bytes()).map_err(|e| Error::Refused(e.to_string()))?;
        let content = Content { now: self.now.naive_utc(), site: self, hash };
        let making = || Error::store("cannot create the site");
        let file = password::file(data);
        password::store(&file, &password)?;
        // Tables are created in a separate step, since MySQL commits each of them together with the current transaction.
        store.write_blocking(schema::install).map_err(making())?;
        let created = store.write_blocking(move |tx| content.fill(tx)).map_err(making())?;
        if !created {
            password::forget(&file);
            return Ok(None);
        }
        Ok(Some(Created { login: LOGIN, password, file }))
    }
}

/// The content of a new site.
struct Content {
    site: NewSite,
    hash: String,
    /// In UTC.
    now: NaiveDateTime,
}

impl Content {
    /// Writes the content of the site, unless there is one. Returns whether it did.
    fn fill(&self, tx: &mut Tx) -> std::result::Result<bool, StoreError> {
        if !schema::claim(tx, &self.site.url)? {
            return Ok(false);
        }
        let admin = self.admin(tx)?;
        self.options(tx)?;
        setup::open(tx, admin, &self.hash)?;
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
        if self.site.follows {
            stored::set(tx, LISTEN_URL, &StoredText::of(&self.site.url), false)?;
        }
        let own = [
            ("siteurl".to_owned(), StoredText::of(&self.site.url)),
            ("home".to_owned(), StoredText::of(&self.site.url)),
            ("admin_email".to_owned(), StoredText::of(self.email())),
            (format!("{prefix}user_roles"), roles),
        ];
        own.iter().try_for_each(|(name, value)| stored::set(tx, name, value, true))
    }

    /// Email address of the site and its first user.
    fn email(&self) -> String {
        let host = &self.site.host;
        // Email addresses at loopback hosts are not reachable; example.com is reserved.
        let reachable = host.contains('.') && host.parse::<std::net::IpAddr>().is_err();
        format!("{LOGIN}@{}", if reachable { host } else { "example.com" })
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
        post.guid = format!("{}/?{kind}={}", self.site.url, post.id);
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
