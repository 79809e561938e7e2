//! Stores a user: row, meta and roles in one transaction.

use std::{borrow::Cow, sync::Arc};

use svc_auth::{
    Caller,
    caps::Object,
    roles::{CapSet, Roles},
};
use svc_model::{User, UserId};
use svc_store::{
    Db, Meta, StoredText, Tx,
    meta::{self, MetaKind},
    users,
};

use crate::{
    Access, Settings, Site, SiteResult,
    errors::users as errors,
    mail::accounts::{self, NewUserMails},
    registries::meta::{self as registered_meta, MetaRights},
    users::{
        draft::UserDraft,
        roles,
        rules::{self, Profile},
    },
};

/// Everything that the transaction needs, so that it can be retried. It has no `Debug` because it contains a password
/// hash.
pub struct SaveUser {
    /// The site.
    pub site: Arc<Site>,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// The caller.
    pub caller: Caller,
    /// The changes.
    pub draft: UserDraft,
    /// Hash of the new password.
    pub hash: Option<String>,
    /// The user to update; `None` to create one.
    pub existing: Option<UserId>,
    /// Who is told about a new user.
    pub mails: Option<NewUserMails>,
}

/// Default preferences for the administration screens. New users get all, others those that they lack.
pub(crate) const NEW_META: [(&str, &str); 7] = [
    ("rich_editing", "true"),
    ("syntax_highlighting", "true"),
    ("infinite_scrolling", "true"),
    ("comment_shortcuts", "false"),
    ("admin_color", "modern"),
    ("use_ssl", "0"),
    ("show_admin_bar_front", "true"),
];

impl SaveUser {
    /// Creates or updates the user and returns their id.
    ///
    /// # Errors
    /// Validation errors of the draft; errors of the store.
    pub fn run(&self, tx: &mut Tx) -> SiteResult<UserId> {
        let (existing, stored) = match self.existing {
            Some(id) => {
                let user = users::get(tx, id)?.ok_or_else(errors::not_found)?;
                (Some(user), meta::load_one(tx, MetaKind::User, id.0)?)
            }
            None => (None, Meta::default()),
        };
        let before = existing.as_ref().map(|user| (user, &stored));
        let mut profile = rules::apply(before, &self.draft, self.hash.as_deref(), self.site.clock())?;
        match &existing {
            Some(user) => {
                self.update(tx, &mut profile, user, &stored)?;
                accounts::changed(tx, &self.site, &self.settings, user, &profile.user)?;
            }
            None => {
                self.insert(tx, &mut profile)?;
                if let Some(who) = self.mails {
                    accounts::created(tx, &self.site, &self.settings, &profile.user, who)?;
                }
            }
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
        // The first check ran outside of this transaction.
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
        for (key, default) in NEW_META {
            let before = stored.text(key);
            let value = StoredText::of(preference(key, before, default).as_ref());
            if stored.first(key) != Some(&value) {
                meta::update(tx, MetaKind::User, user.id.0, key, &value)?;
            }
        }
        if self.draft.roles.is_some() {
            let prefix = tx.prefix().to_owned();
            let own = roles::caps(stored, self.roles(tx), &prefix).own;
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

    /// The stored capabilities of the user with the requested roles, or with the default role for new users.
    fn own_caps(&self, db: &Db, own: &CapSet) -> CapSet {
        let default_role = [self.settings.option("default_role").to_owned()];
        rules::with_roles(own, self.roles(db), self.draft.roles.as_deref().unwrap_or(&default_role))
    }

    fn level(&self, db: &Db, own: &CapSet) -> StoredText {
        StoredText::of(i64::from(rules::level(&self.roles(db).caps_of(&own.to_value()).all)))
    }

    fn store_meta(&self, tx: &mut Tx, id: UserId, values: &serde_json::Value) -> SiteResult<()> {
        let access = Access::new(&self.site, &self.settings).with_users([id]);
        let may = |cap: &str, key: &str| self.caller.can(cap, Object::Meta(MetaKind::User, id.0, key), &access);
        let rights = MetaRights {
            edit: &|key| may("edit_user_meta", key),
            delete: &|key| may("delete_user_meta", key),
            unfiltered_html: access.can(&self.caller, "unfiltered_html"),
        };
        let stored = meta::load_one(tx, MetaKind::User, id.0)?;
        let changes = self.site.registries.meta.changes("user", "", &stored, values, &rights, &self.caller)?;
        drop(access);
        registered_meta::store(tx, MetaKind::User, id.0, &changes)
    }
}

/// A preference as each change of a user stores it. Source: `wp_insert_user`.
fn preference<'a>(key: &str, stored: &'a str, default: &'a str) -> Cow<'a, str> {
    match (key, stored) {
        (_, "" | "0") => default.into(),
        ("comment_shortcuts", stored) if stored != "false" => "true".into(),
        ("use_ssl", _) => "1".into(),
        ("admin_color", _) => {
            let is_kept = |c: &char| c.is_ascii_alphanumeric() || " _.-@".contains(*c);
            stored.chars().filter(is_kept).collect::<String>().into()
        }
        _ => stored.into(),
    }
}
