//! Mails about accounts, and the changes that their links make.

use svc_auth::reset_key::{self, ResetKeyError};
use svc_model::{User, UserId};
use svc_store::{MetaKind, StoredText, Tx, meta, users};

use super::{admin_email, letters, new_seed, put};
use crate::{Settings, Site, SiteResult};

/// Meta key of the sessions of a user.
const SESSIONS: &str = "session_tokens";

/// Meta key by which WordPress reminds users of a generated password.
const REMINDER: &str = "default_password_nag";

/// Meta key of an e-mail address that is not confirmed yet.
const NEW_EMAIL: &str = "_new_email";

/// Length of the text that confirms an e-mail address.
const CONFIRMATION_LENGTH: usize = 32;

/// Who is told about a new account. The administration area adds it to the request that creates one; other clients create users without
/// mails, as with WordPress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewUserMails {
    /// The administrator.
    Administrator,
    /// The administrator, and the user with a link to set a password.
    Both,
}

/// A link to set a new password. `key` is the key in it.
pub fn reset_link(site: &Site, settings: &Settings, login: &str, key: &str) -> String {
    let encode = |text| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC);
    let page = format!("{}?login={}&key={}&action=rp", site.brand.login_path(), encode(login), encode(key));
    settings.urls.site.site_url(&page)
}

/// Stores a reset key for a user, and a mail with a link. `from` is the IP address of who requests it.
///
/// # Errors
/// Errors of the store.
pub fn request_reset(tx: &mut Tx, site: &Site, settings: &Settings, id: UserId, from: &str) -> SiteResult<()> {
    let Some(mut user) = users::get(tx, id)? else { return Ok(()) };
    let seed = new_seed(tx, site, &mut user)?;
    let link = reset_link(site, settings, &user.login, &seed);
    put(tx, site, letters(site, settings).lost_password(&user.email, &user.login, &link, from), Some(seed))
}

/// Sets a new password with a reset key, which becomes invalid, and ends all sessions of the user. `hash` is that of the new password.
/// The administrator is told, unless it is their own account.
///
/// # Errors
/// Errors of the store.
pub fn reset(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    login: &str,
    key: &str,
    hash: &str,
) -> SiteResult<Result<(), ResetKeyError>> {
    let Some(mut user) = users::by_login(tx, login)? else { return Ok(Err(ResetKeyError::Invalid)) };
    if let Err(error) = reset_key::check(&user.activation_key, key, site.clock().and_utc().timestamp()) {
        return Ok(Err(error));
    }
    hash.clone_into(&mut user.pass);
    user.activation_key.clear();
    users::update(tx, &user)?;
    meta::delete(tx, MetaKind::User, user.id.0, SESSIONS, None)?;
    meta::update(tx, MetaKind::User, user.id.0, REMINDER, &StoredText::of(""))?;
    if !user.email.eq_ignore_ascii_case(admin_email(settings)) {
        put(tx, site, letters(site, settings).password_reset(admin_email(settings), &user.login), None)?;
    }
    Ok(Ok(()))
}

/// Tells about a new account.
pub(crate) fn created(tx: &mut Tx, site: &Site, settings: &Settings, user: &User, who: NewUserMails) -> SiteResult<()> {
    if !super::is_configured(site) {
        return Ok(());
    }
    let letters = letters(site, settings);
    put(tx, site, letters.account_created(admin_email(settings), &user.login, &user.email), None)?;
    if who == NewUserMails::Both {
        let mut user = user.clone();
        let seed = new_seed(tx, site, &mut user)?;
        let link = reset_link(site, settings, &user.login, &seed);
        let log_in = settings.urls.site.site_url(site.brand.login_path());
        put(tx, site, letters.new_account(&user.email, &user.login, &link, &log_in), Some(seed))?;
    }
    Ok(())
}

/// Tells the owner of an account about a new password or e-mail address. `before` and `after` are the user's rows.
pub(crate) fn changed(tx: &mut Tx, site: &Site, settings: &Settings, before: &User, after: &User) -> SiteResult<()> {
    let letters = letters(site, settings);
    if before.pass != after.pass {
        put(tx, site, letters.password_changed(&before.email, &before.login, admin_email(settings)), None)?;
    }
    if before.email != after.email {
        let letter = letters.email_changed(&before.email, &before.login, &after.email, admin_email(settings));
        put(tx, site, letter, None)?;
    }
    Ok(())
}

/// What has happened to the second factor of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TwoFactorEvent {
    /// It was turned on.
    On,
    /// It was turned off.
    Off,
    /// The recovery codes were replaced.
    NewCodes,
    /// A recovery code was used; so many are left.
    RecoveryCode(usize),
    /// An authenticator app was added besides passkeys.
    AppAdded,
    /// The authenticator app was removed; passkeys are left.
    AppRemoved,
    /// A passkey with this name was added.
    PasskeyAdded(String),
    /// The passkey with this name was removed.
    PasskeyRemoved(String),
}

/// Tells a user what has happened to their second factor.
///
/// # Errors
/// Errors of the store.
pub fn two_factor(tx: &mut Tx, site: &Site, settings: &Settings, user: &User, event: TwoFactorEvent) -> SiteResult<()> {
    let letters = letters(site, settings);
    let (email, login, admin) = (user.email.as_str(), user.login.as_str(), admin_email(settings));
    let what = match event {
        TwoFactorEvent::RecoveryCode(left) => {
            return put(tx, site, letters.recovery_code_used(email, login, left, admin), None);
        }
        TwoFactorEvent::On => "Two-factor log-in was turned on.".to_owned(),
        TwoFactorEvent::Off => "Two-factor log-in was turned off.".to_owned(),
        TwoFactorEvent::NewCodes => "New recovery codes were made; the old ones do not work any more.".to_owned(),
        TwoFactorEvent::AppAdded => "An authenticator app was added to two-factor log-in.".to_owned(),
        TwoFactorEvent::AppRemoved => "The authenticator app was removed from two-factor log-in.".to_owned(),
        TwoFactorEvent::PasskeyAdded(name) => format!("The passkey “{name}” was added."),
        TwoFactorEvent::PasskeyRemoved(name) => format!("The passkey “{name}” was removed."),
    };
    let letter = letters.two_factor_changed(email, login, &what, admin);
    put(tx, site, letter, None)
}

/// Stores a new e-mail address of a user until its owner has confirmed it, and a mail with a link to do so.
///
/// # Errors
/// Errors of the store.
pub fn request_email(tx: &mut Tx, site: &Site, settings: &Settings, user: &User, email: &str) -> SiteResult<()> {
    let confirmation = super::random(CONFIRMATION_LENGTH)?;
    let stored = StoredText::of(serde_json::json!({"hash": confirmation, "newemail": email}));
    meta::update(tx, MetaKind::User, user.id.0, NEW_EMAIL, &stored)?;
    let page = format!("{}/profile.php?newuseremail={confirmation}", site.brand.admin_path());
    let link = settings.urls.site.site_url(&page);
    put(tx, site, letters(site, settings).confirm_email(email, &user.login, &link), None)
}

/// The e-mail address of a user that waits for its confirmation, and the text that confirms it.
///
/// # Errors
/// Errors of the store.
pub fn waiting_email(db: &mut svc_store::Db, user: UserId) -> SiteResult<Option<(String, String)>> {
    let stored = meta::get(db, MetaKind::User, user.0, NEW_EMAIL)?.unwrap_or_default().json();
    let text = |name: &str| stored[name].as_str().map(str::to_owned).filter(|text| !text.is_empty());
    Ok(text("newemail").zip(text("hash")))
}

/// Forgets an e-mail address that was not confirmed.
///
/// # Errors
/// Errors of the store.
pub fn forget_email(tx: &mut Tx, user: UserId) -> SiteResult<()> {
    meta::delete(tx, MetaKind::User, user.0, NEW_EMAIL, None)?;
    Ok(())
}
