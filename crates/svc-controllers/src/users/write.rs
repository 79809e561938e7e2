//! Stores what a request makes of a user: one transaction, all of it or nothing.

use std::sync::Arc;

use svc_auth::{
    Caller, Secret,
    caps::{MetaKind as CapKind, Object},
    roles::{CapSet, Roles},
};
use svc_model::{User, UserId};
use svc_routing::{ObjectId, Request, Result};
use svc_store::{
    Db, Meta, StoredText, Tx, authors,
    meta::{self, MetaKind},
    users,
};

use super::{
    Users, errors,
    fields::{OBJECT, UserDraft},
    load,
    rules::{self, Profile},
};
use crate::{
    Access, Settings, Site, SiteResult, caller,
    hashing::{self, HashFailure},
    meta::MetaRights,
    posts, respond,
};

/// Everything that the transaction needs, so that it can be run again. No `Debug`: it holds a hash.
struct Job {
    site: Arc<Site>,
    settings: Arc<Settings>,
    caller: Caller,
    draft: UserDraft,
    hash: Option<String>,
    existing: Option<UserId>,
}

/// Stored values that a new user has beside what is known of it: the settings of his own pages.
const NEW_META: [(&str, &str); 7] = [
    ("rich_editing", "true"),
    ("syntax_highlighting", "true"),
    ("infinite_scrolling", "true"),
    ("comment_shortcuts", "false"),
    ("admin_color", "modern"),
    ("use_ssl", "0"),
    ("show_admin_bar_front", "true"),
];

/// The hash of a new password, as the interface tells its failures.
async fn hash(password: Secret) -> Result<String> {
    let failed = |code, status| svc_schema::Error::new(code, "The password could not be stored.").with_status(status);
    hashing::hash(password).await.map_err(|failure| match failure {
        HashFailure::TooLong => errors::invalid_password(),
        HashFailure::Busy => failed("rest_service_unavailable", 503),
        HashFailure::Unavailable => failed("rest_internal_error", 500),
    })
}

impl Users {
    /// Creates or changes a user as the request says.
    pub(super) async fn save(&self, req: &Request, existing: Option<User>) -> Result<UserId> {
        let mut draft = UserDraft::default();
        let settings = self.site.settings()?;
        self.fields.of(&settings).apply(&mut draft, |name| respond::given(req, name))?;
        let caller = caller(req);
        if let Some(user) = &existing {
            self.check_names(&draft, user)?;
        }
        self.check_roles(req, &draft, &settings, &caller, existing.as_ref())?;
        let hash = match draft.password.take() {
            Some(password) => Some(hash(password).await?),
            None => None,
        };
        let job = Job { site: Arc::clone(&self.site), settings, caller, draft, hash, existing: existing.map(|u| u.id) };
        let id = self.site.write(move |tx| job.run(tx)).await?;
        let number = u64::try_from(id.0).unwrap_or_default();
        self.extra.update(OBJECT, &ObjectId::from(number), req).await?;
        Ok(id)
    }

    /// E-mail address, login and slug of a user who is changed.
    fn check_names(&self, draft: &UserDraft, user: &User) -> Result<()> {
        self.site.read(|db| {
            if let Some(email) = draft.email.as_deref().filter(|email| !email.is_empty())
                && users::by_email(db, email)?.is_some_and(|other| other.id != user.id)
            {
                return Err(errors::invalid_email().into());
            }
            if draft.username.as_ref().is_some_and(|name| *name != user.login) {
                return Err(errors::fixed_username().into());
            }
            if let Some(slug) = draft.slug.as_deref().filter(|s| !s.is_empty() && *s != user.nicename)
                && users::by_slug(db, slug)?.is_some_and(|other| other.id != user.id)
            {
                return Err(errors::invalid_slug().into());
            }
            Ok(())
        })
    }

    /// The roles given exist, and the caller may give them.
    fn check_roles(
        &self,
        req: &Request,
        draft: &UserDraft,
        settings: &Settings,
        caller: &Caller,
        existing: Option<&User>,
    ) -> Result<()> {
        let wanted = draft.roles.as_deref().unwrap_or_default();
        if wanted.is_empty() {
            return Ok(());
        }
        // Who may make users, yet not say what they may do, makes them with the role of newcomers: the peer lets him
        // make administrators.
        if existing.is_none() && !Access::new(&self.site, settings).can(caller, "promote_users") {
            return Err(errors::cannot_edit_roles(req));
        }
        let prefix = self.site.read(|db| Ok(db.prefix().to_owned()))?;
        let roles = settings.roles(&prefix);
        for key in wanted {
            let role = roles.get(key).ok_or_else(|| errors::unknown_role(key))?;
            if existing.is_some_and(|user| user.id == caller.id) && !role.capabilities.has("edit_users") {
                return Err(errors::cannot_lose_rights(req));
            }
        }
        Ok(())
    }

    /// Deletes a user for good. Their posts and links go to `heir`, where id 0 leaves them without an author. Without an
    /// heir the posts are deleted, if their type is one whose posts are deleted with their author. `by` is the caller.
    pub(super) async fn remove(&self, id: UserId, heir: Option<UserId>, by: UserId) -> Result<()> {
        let site = Arc::clone(&self.site);
        let files = self
            .site
            .write(move |tx| {
                let mut files = Vec::new();
                users::get(tx, id)?.ok_or_else(errors::not_found)?;
                match heir {
                    Some(heir) if heir.is_none() => {}
                    Some(heir) => {
                        users::get(tx, heir)?.ok_or_else(errors::invalid_reassign)?;
                    }
                    None => {
                        let goes = |t: &svc_model::PostType| t.delete_with_user.unwrap_or_else(|| t.supports("author"));
                        let types: Vec<&str> = site.types.iter().filter(|t| goes(t)).map(|t| t.name.as_str()).collect();
                        for post in users::posts_of(tx, id, &types)? {
                            files.extend(posts::remove(tx, &site, post, by)?);
                        }
                        authors::delete_links(tx, id)?;
                    }
                }
                users::delete(tx, id, heir)?;
                Ok(files)
            })
            .await?;
        self.site.uploads.delete(files).await;
        Ok(())
    }
}

impl Job {
    fn run(&self, tx: &mut Tx) -> SiteResult<UserId> {
        let (existing, stored) = match self.existing {
            Some(id) => {
                let user = users::get(tx, id)?.ok_or_else(errors::not_found)?;
                (Some(user), meta::load_one(tx, MetaKind::User, id.0)?)
            }
            None => (None, Meta::default()),
        };
        let before = existing.as_ref().map(|user| (user, &stored));
        let mut profile = rules::apply(before, &self.draft, self.hash.as_deref(), self.site.now())?;
        match &existing {
            Some(user) => self.update(tx, &mut profile, user, &stored)?,
            None => self.insert(tx, &mut profile)?,
        }
        if let Some(values) = &self.draft.meta {
            self.store_meta(tx, profile.user.id, values)?;
        }
        Ok(profile.user.id)
    }

    fn insert(&self, tx: &mut Tx, profile: &mut Profile) -> SiteResult<()> {
        let user = &mut profile.user;
        if users::by_login(tx, &user.login)?.is_some() {
            return Err(errors::existing_login().into());
        }
        if users::by_email(tx, &user.email)?.is_some() {
            return Err(errors::existing_email().into());
        }
        user.nicename = users::unique_slug(tx, &user.nicename, UserId(0))?;
        user.id = users::insert(tx, user)?;
        let (own, prefix) = (self.own_caps(tx, &CapSet::default()), tx.prefix().to_owned());
        let keys = [format!("{prefix}capabilities"), format!("{prefix}user_level")];
        let rights = [StoredText::of(own.to_value()), self.level(tx, &own)];
        let texts = profile.texts.iter().map(|(key, value)| (*key, value.as_str())).chain(NEW_META);
        let texts = texts.map(|(key, value)| (key, StoredText::of(value)));
        let rights = keys.iter().map(String::as_str).zip(rights);
        let rows: Vec<(&str, StoredText)> = texts.chain(rights).collect();
        let rows: Vec<(&str, &StoredText)> = rows.iter().map(|(key, value)| (*key, value)).collect();
        meta::add_many(tx, MetaKind::User, user.id.0, &rows)?;
        Ok(())
    }

    fn update(&self, tx: &mut Tx, profile: &mut Profile, before: &User, stored: &Meta) -> SiteResult<()> {
        let user = &mut profile.user;
        // The first look was outside of this transaction.
        if user.email != before.email && users::by_email(tx, &user.email)?.is_some_and(|other| other.id != user.id) {
            return Err(errors::invalid_email().into());
        }
        if user.nicename != before.nicename {
            let free = users::unique_slug(tx, &user.nicename, user.id)?;
            if profile.slug_is_given && free != user.nicename {
                return Err(errors::invalid_slug().into());
            }
            user.nicename = free;
        }
        if user != before {
            users::update(tx, user)?;
        }
        for (key, value) in &profile.texts {
            let value = StoredText::of(value);
            if stored.first(key).cloned().unwrap_or_default() != value {
                meta::update(tx, MetaKind::User, user.id.0, key, &value)?;
            }
        }
        if self.draft.roles.is_some() {
            let prefix = tx.prefix().to_owned();
            let own = load::caps(stored, self.roles(tx), &prefix).own;
            let own = self.own_caps(tx, &own);
            let level = self.level(tx, &own);
            meta::update(
                tx,
                MetaKind::User,
                user.id.0,
                &format!("{prefix}capabilities"),
                &StoredText::of(own.to_value()),
            )?;
            meta::update(tx, MetaKind::User, user.id.0, &format!("{prefix}user_level"), &level)?;
        }
        Ok(())
    }

    fn roles(&self, db: &Db) -> &Roles {
        self.settings.roles(db.prefix())
    }

    /// What is stored of the user's rights once he has the roles given, or those of newcomers.
    fn own_caps(&self, db: &Db, own: &CapSet) -> CapSet {
        let newcomer = [self.settings.option("default_role").to_owned()];
        rules::with_roles(own, self.roles(db), self.draft.roles.as_deref().unwrap_or(&newcomer))
    }

    fn level(&self, db: &Db, own: &CapSet) -> StoredText {
        StoredText::of(i64::from(rules::level(&self.roles(db).caps_of(&own.to_value()).all)))
    }

    fn store_meta(&self, tx: &mut Tx, id: UserId, values: &serde_json::Value) -> SiteResult<()> {
        let access = Access::new(&self.site, &self.settings).with_users([id]);
        let may = |cap: &str, key: &str| self.caller.can(cap, Object::Meta(CapKind::User, id.0, key), &access);
        let rights =
            MetaRights { edit: &|key| may("edit_user_meta", key), delete: &|key| may("delete_user_meta", key) };
        let stored = meta::load_one(tx, MetaKind::User, id.0)?;
        let changes = self.site.meta.changes("user", "", &stored, values, &rights, &self.caller)?;
        drop(access);
        crate::meta::store(tx, MetaKind::User, id.0, &changes)
    }
}
