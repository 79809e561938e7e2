//! Certificates from an authority that speaks ACME (RFC 8555), such as Let's Encrypt: when to ask for one, and asking.

mod client;
mod folder;
mod order;
mod schedule;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use chrono::{NaiveDateTime, Utc};
use tokio::sync::Notify;

use crate::{certificate::Certificate, challenges::Challenges, error::Result};
use folder::Folder;
use schedule::Attempts;

pub use folder::{FOLDER, stored_files};

/// The directory of Let's Encrypt.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Maximum time between two looks at the clock, which may be set.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

/// Minimum time between two attempts, also if they are requested.
const PAUSE: Duration = Duration::from_secs(60);

/// Where certificates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeSettings {
    /// Names for the certificate, without wildcards.
    pub domains: Vec<String>,
    /// Email address that is sent to the authority.
    pub contact: Option<String>,
    /// URL of the authority's directory. With https only.
    pub directory: String,
    /// A file with the certificate of the authority that issued the one of the directory's host; default: the public authorities.
    pub root: Option<PathBuf>,
}

/// Gets certificates.
pub(crate) struct Acme {
    settings: AcmeSettings,
    folder: Folder,
    pub(crate) challenges: Arc<Challenges>,
    /// Notified when an attempt is requested.
    requested: Notify,
}

impl Acme {
    /// # Errors
    /// If the folder cannot be created.
    pub(crate) fn open(settings: AcmeSettings, data: &Path) -> Result<Self> {
        let folder = Folder::create(data)?;
        Ok(Acme { settings, folder, challenges: Arc::default(), requested: Notify::new() })
    }

    /// The stored certificate, if it can be used for all names.
    pub(crate) fn stored(&self) -> Option<Certificate> {
        let certificate = match self.folder.certificate() {
            Ok(certificate) => certificate?,
            Err(error) => {
                tracing::warn!("the stored certificate cannot be used: {error}");
                return None;
            }
        };
        let is_for_all = self.settings.domains.iter().all(|domain| certificate.is_for(domain));
        (is_for_all && !certificate.is_expired()).then_some(certificate)
    }

    /// Requests an attempt, unless the last one was a minute ago.
    pub(crate) fn request(&self) {
        self.requested.notify_one();
    }

    /// Waits until a new certificate is due, and gets it. Returns `None` if that failed.
    pub(crate) async fn next(&self, current: Option<&Certificate>) -> Option<Certificate> {
        self.until_due(current).await;
        let now = Utc::now().naive_utc();
        let purpose = self.purpose();
        let attempts = Attempts::of(self.folder.attempts(), &purpose).begin(now);
        // Stored before the first request, so that a process that dies in the middle of it, again and again, does not ask again and again.
        if let Err(error) = self.folder.set_attempts(&attempts) {
            tracing::error!("no certificate is requested, because the attempt cannot be stored: {error}");
            tokio::time::sleep(LOOK_EVERY).await;
            return None;
        }
        match order::complete(&self.settings, &self.folder, &self.challenges).await {
            Ok(certificate) => {
                if let Err(error) = self.folder.set_attempts(&attempts.succeed()) {
                    tracing::warn!("{error}");
                }
                tracing::info!(expires = %certificate.expires(), domains = self.settings.domains.join(", "), "got a certificate");
                Some(certificate)
            }
            Err(error) => {
                let attempts = attempts.fail(error.to_string());
                tracing::error!(n_failures = attempts.n_failures(), again = %attempts.due(), "got no certificate: {error}");
                if let Err(error) = self.folder.set_attempts(&attempts) {
                    tracing::warn!("{error}");
                }
                None
            }
        }
    }

    async fn until_due(&self, current: Option<&Certificate>) {
        loop {
            let now = Utc::now().naive_utc();
            let attempts = Attempts::of(self.folder.attempts(), &self.purpose());
            let due = due(current, &attempts);
            let Ok(wait) = (due - now).to_std() else { return };
            if wait.is_zero() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(wait.min(LOOK_EVERY)) => {}
                () = self.requested.notified() => {
                    let is_recent = attempts.last().is_some_and(|last| now - last < chrono::TimeDelta::seconds(PAUSE.as_secs() as i64));
                    // A valid certificate is not replaced before its time.
                    if current.is_none() && !is_recent {
                        return;
                    }
                }
            }
        }
    }

    /// What attempts are for. Others than before have not failed yet.
    fn purpose(&self) -> String {
        format!("{} from {}", self.settings.domains.join(" "), self.settings.directory)
    }
}

/// Why the last attempt to get a certificate failed, from the files in this data folder.
pub fn last_failure(data: &Path) -> Option<String> {
    Folder::existing(data).attempts()?.into_error()
}

/// When the next attempt is due.
fn due(current: Option<&Certificate>, attempts: &Attempts) -> NaiveDateTime {
    match current {
        Some(certificate) => certificate.renewal().max(attempts.due()),
        None => attempts.due(),
    }
}
