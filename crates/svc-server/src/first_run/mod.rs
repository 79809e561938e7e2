//! The first start: makes the data folder and, in a database without a site, the site that a newcomer looks at.

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

/// Name of the first user.
const LOGIN: &str = "admin";

/// Letters in a generated password: with 62 signs, 118 bits.
const PASSWORD_LENGTH: usize = 20;

/// A site that was made just now, or whose password no start has shown yet.
#[derive(Debug)]
pub struct Created {
    /// Name of its administrator.
    pub login: &'static str,
    /// The administrator's password.
    pub password: Secret,
    /// Where it is stored until it was shown.
    file: PathBuf,
}

impl Created {
    /// Notes that the owner has seen the password: no later start shows it again.
    pub fn shown(&self) {
        password::forget(&self.file);
    }
}

/// Keeps other starts on the same data folder waiting until this is dropped, so that one makes what all use.
///
/// Where the system cannot lock a folder there is nothing to hold.
pub(crate) fn turn(data: &Path) -> Option<File> {
    let folder = File::open(data).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Makes the data folder, readable by its owner only, when it is not there.
///
/// # Errors
/// When the system refuses.
pub(crate) fn folder(data: &Path) -> Result {
    if data.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(data).map_err(Error::io(format!("cannot make the data folder {}", data.display())))
}

/// Whether the database holds a site.
///
/// # Errors
/// Those of the store; and when the database holds the rest of an import that was interrupted.
pub(crate) fn has_site(store: &Store) -> Result<bool> {
    let found = store.read(|db| {
        let name = format!("{}options", db.prefix());
        Ok(db.table_exists(&name)? && stored::get(db, "siteurl")?.is_some())
    });
    let found = found.map_err(Error::store("cannot read the database"))?;
    match store.interrupted_import().map_err(Error::store("cannot read the database"))? {
        None => Ok(found),
        Some(dump) if found => {
            tracing::warn!(dump, "an import that was to replace this site has not finished; the site is as it was");
            Ok(true)
        }
        Some(dump) => Err(Error::Refused(format!(
            "an import into this database was interrupted, or is still running. Run it again: svc-server import {}",
            if dump.is_empty() { "DUMP.sql" } else { &dump }
        ))),
    }
}

/// Makes a site in a database that has none: all of it or nothing. `None` when another process was quicker, whose site is
/// then there.
///
/// # Errors
/// Those of the store, or when the system has no random bytes or the data folder cannot be written to.
pub(crate) fn create(data: &Path, store: &Store, address: &SiteUrl, now: DateTime<Utc>) -> Result<Option<Created>> {
    let password = random_text(PASSWORD_LENGTH).map_err(|e| Error::Refused(e.to_string()))?;
    let hash = svc_auth::password::hash(password.expose().as_bytes()).map_err(|e| Error::Refused(e.to_string()))?;
    let site = NewSite { address: address.as_str().to_owned(), hash, now: now.naive_utc() };
    let making = || Error::store("cannot make the site");
    let file = password::file(data);
    password::store(&file, &password)?;
    // The tables by themselves: MySQL commits each of them, and with it what a transaction has done before.
    store.write_blocking(schema::install).map_err(making())?;
    let made = store.write_blocking(move |tx| site.fill(tx)).map_err(making())?;
    if !made {
        password::forget(&file);
        return Ok(None);
    }
    Ok(Some(Created { login: LOGIN, password, file }))
}

/// What a new site depends on.
struct NewSite {
    address: String,
    hash: String,
    /// In UTC, which is a new site's own zone as well.
    now: NaiveDateTime,
}

impl NewSite {
    /// Writes what the site holds, unless there is one; whether it did.
    fn fill(&self, tx: &mut Tx) -> std::result::Result<bool, StoreError> {
        if !schema::claim(tx, &self.address)? {
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
        let own = [
            ("siteurl".to_owned(), StoredText::of(&self.address)),
            ("home".to_owned(), StoredText::of(&self.address)),
            ("admin_email".to_owned(), StoredText::of(self.email())),
            (format!("{prefix}user_roles"), roles),
        ];
        own.iter().try_for_each(|(name, value)| stored::set(tx, name, value, true))
    }

    /// Address of e-mail of the site and its first user.
    fn email(&self) -> String {
        let host = self.address.parse::<SiteUrl>().map(|u| u.host().to_owned()).unwrap_or_default();
        // An address of e-mail at a loopback host reaches nobody, and neither does this one.
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
        let mut made: HashMap<&'static str, Term> = HashMap::new();
        for sample in sample::TERMS {
            let term = Term {
                taxonomy: sample.taxonomy.to_owned(),
                name: sample.name.to_owned(),
                slug: sample.slug.to_owned(),
                description: sample.description.to_owned(),
                ..Term::default()
            };
            made.insert(sample.slug, terms::insert(tx, &term)?);
        }
        let default = sample::TERMS.first().and_then(|t| made.get(t.slug)).map_or(TermId(0), |t| t.id);
        for name in ["default_category", "default_email_category"] {
            stored::set(tx, name, &StoredText::of(default.0), true)?;
        }
        Ok(made)
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
        post.guid = format!("{}/?{kind}={}", self.address, post.id);
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
