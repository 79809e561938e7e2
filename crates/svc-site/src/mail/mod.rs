//! Mails: who gets which, and when. They are stored in the transaction of the change that they are about, and sent by the job
//! [`SendMails`](crate::jobs::SendMails).
//!
//! Recipients and conditions are those of WordPress (`wp-includes/pluggable.php`, `user.php`, `comment.php`). A site without
//! [`Services::mailer`](crate::Services::mailer) stores no mails.

pub mod accounts;
pub(crate) mod comments;

use serde::{Deserialize, Serialize};
use svc_auth::{Keys, Scheme, keys::Algorithm, random_text, reset_key};
use svc_mail::{Letter, Letters, SiteFacts};
use svc_model::User;
use svc_outbox::{NewMessage, Time};
use svc_store::{StoreError, Tx, users};

use crate::{Settings, Site, SiteResult, users::locales::language_tag};

/// The queue of mails in the outbox.
pub const QUEUE: &str = "mail";

/// Length of the id of a mail, of which others are not told.
const ID_LENGTH: usize = 24;

/// Length of the text in a stored mail that stands for a key, and of the key.
const SEED_LENGTH: usize = 40;

/// A mail as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredMail {
    /// The mail.
    #[serde(flatten)]
    pub letter: Letter,
    /// A text in the mail that is replaced by a key when the mail is sent: whoever reads the database, or a backup of it, cannot
    /// use the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
}

impl StoredMail {
    /// The mail to send.
    pub(crate) fn with_key(self, keys: Option<&Keys>) -> Letter {
        let mut letter = self.letter;
        if let (Some(seed), Some(keys)) = (&self.seed, keys) {
            let key = key_of(keys, seed);
            for text in [&mut letter.text, &mut letter.html] {
                *text = text.replace(seed, &key);
            }
        }
        letter
    }
}

/// The key that a seed stands for.
fn key_of(keys: &Keys, seed: &str) -> String {
    let mut key = keys.hash(format!("reset key|{seed}").as_bytes(), Scheme::Auth, Algorithm::Sha256);
    key.truncate(SEED_LENGTH);
    key
}

/// Whether the site sends mails.
pub fn is_configured(site: &Site) -> bool {
    site.services.mailer.is_some()
}

/// Writes mails of the site.
pub fn letters(site: &Site, settings: &Settings) -> Letters {
    let name = svc_text::specialchars_decode(settings.option("blogname"), svc_text::Quotes::Both);
    let home = settings.urls.site.home_url("/");
    let name = if svc_text::trim(&name).is_empty() { home.clone() } else { name };
    let language = language_tag(settings.option("WPLANG"));
    Letters { site: SiteFacts { name, home, language }, now: site.clock().and_utc().timestamp() }
}

/// Stores a mail, unless the site sends none or the recipient has no address.
fn put(tx: &mut Tx, site: &Site, letter: Letter, seed: Option<String>) -> SiteResult<()> {
    if !is_configured(site) || !svc_text::is_email(&letter.to) {
        return Ok(());
    }
    let id = random(ID_LENGTH)?;
    let mail = StoredMail { letter, seed };
    let payload = serde_json::to_string(&mail).map_err(|error| StoreError::Other(error.to_string()))?;
    svc_outbox::put(tx, &NewMessage { queue: QUEUE, id: &id, lane: "", key: "", payload: &payload }, Time::now())?;
    Ok(())
}

fn random(length: usize) -> SiteResult<String> {
    let text = random_text(length).map_err(|error| StoreError::Other(error.to_string()))?;
    Ok(text.expose().to_owned())
}

/// Stores a new reset key for a user, and returns the seed for the link in the mail. Earlier keys of the user are not valid any more.
fn new_seed(tx: &mut Tx, site: &Site, user: &mut User) -> SiteResult<String> {
    let seed = random(SEED_LENGTH)?;
    let key = site.keys().map_or_else(|| seed.clone(), |keys| key_of(keys, &seed));
    user.activation_key = reset_key::stored(&key, site.clock().and_utc().timestamp());
    users::update(tx, user)?;
    Ok(seed)
}

/// The address of the site's administrator.
fn admin_email(settings: &Settings) -> &str {
    settings.option("admin_email")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_mail_contains_no_key() {
        let keys = Keys::new([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]);
        let letter = Letter {
            to: "a@b.example".to_owned(),
            reply_to: None,
            subject: "Subject".to_owned(),
            text: "?key=seed1 twice seed1".to_owned(),
            html: "?key=seed1".to_owned(),
            written: 0,
        };
        let stored = serde_json::to_string(&StoredMail { letter, seed: Some("seed1".to_owned()) }).unwrap();
        let mail: StoredMail = serde_json::from_str(&stored).unwrap();
        let (key, sent) = (key_of(&keys, "seed1"), mail.with_key(Some(&keys)));
        assert!(!stored.contains(&key) && key.len() == SEED_LENGTH, "{stored}");
        assert_eq!((sent.text, sent.html), (format!("?key={key} twice {key}"), format!("?key={key}")));
    }
}
