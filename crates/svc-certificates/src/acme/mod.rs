//! Certificates from an authority that speaks ACME (RFC 8555), such as Let's Encrypt: when to ask for one, and asking.

mod client;
mod folder;
mod order;
mod schedule;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::{NaiveDateTime, TimeDelta, Utc};
use tokio::sync::Notify;

use crate::{
    certificate::Certificate,
    challenges::Challenges,
    error::{NoNewCertificate, Result},
};
use folder::Folder;
use schedule::Attempts;

pub use folder::{FOLDER, stored_files};

/// The directory of Let's Encrypt.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Maximum time between two looks at the clock, which may be set.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

/// Minimum time between two attempts, also if they are requested.
const PAUSE: TimeDelta = TimeDelta::seconds(60);

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

/// What a look has found.
pub(crate) enum Look {
    /// A new certificate.
    New(Box<Certificate>),
    /// Nothing is due for this time.
    Again(Duration),
}

/// Gets certificates.
pub(crate) struct Acme {
    settings: AcmeSettings,
    folder: Folder,
    pub(crate) challenges: Arc<Challenges>,
    /// Whether an attempt is requested.
    is_requested: AtomicBool,
    /// Notified when an attempt is requested.
    pub(crate) wake: Notify,
}

impl Acme {
    /// # Errors
    /// If the folder cannot be created.
    pub(crate) fn open(settings: AcmeSettings, data: &Path) -> Result<Self> {
        let folder = Folder::create(data)?;
        let (challenges, is_requested, wake) = (Arc::default(), AtomicBool::new(false), Notify::new());
        Ok(Acme { settings, folder, challenges, is_requested, wake })
    }

    /// The stored certificate, if it can be used for all names.
    pub(crate) fn stored(&self) -> Option<Certificate> {
        let certificate = match self.folder.certificate() {
            Ok(certificate) => certificate?,
            Err(error) => {
                tracing::warn!("the stored certificate cannot be used: {}", error.with_cause());
                return None;
            }
        };
        let is_for_all = self.settings.domains.iter().all(|domain| certificate.is_for(domain));
        (is_for_all && !certificate.is_expired()).then_some(certificate)
    }

    /// Requests an attempt, unless the last one was a minute ago.
    pub(crate) fn request(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Gets a certificate if one is due, or requested. Otherwise returns the time after which to look again.
    ///
    /// # Errors
    /// Why the last attempt has failed, until the next one.
    pub(crate) async fn look(&self, current: Option<&Certificate>) -> std::result::Result<Look, NoNewCertificate> {
        let now = Utc::now().naive_utc();
        let attempts = Attempts::of(self.folder.attempts(), &self.purpose());
        // A time that is over is no wait.
        let wait = (due(current, &attempts) - now).to_std().unwrap_or_default();
        let is_recent = attempts.last().is_some_and(|last| now - last < PAUSE);
        // A valid certificate is not replaced before its time.
        let is_requested = self.is_requested.swap(false, Ordering::Relaxed) && current.is_none() && !is_recent;
        if !wait.is_zero() && !is_requested {
            return attempts
                .into_error()
                .map_or(Ok(Look::Again(wait.min(LOOK_EVERY))), |why| Err(NoNewCertificate(why)));
        }
        let attempts = attempts.begin(now);
        // Stored before the first request, so that a process that dies in the middle of it, again and again, does not ask again and again.
        self.folder.set_attempts(&attempts).map_err(|error| {
            let cause = error.with_cause();
            NoNewCertificate(format!("no certificate is requested, because the attempt cannot be stored: {cause}"))
        })?;
        match order::complete(&self.settings, &self.folder, &self.challenges).await {
            Ok(certificate) => {
                if let Err(error) = self.folder.set_attempts(&attempts.succeed()) {
                    tracing::warn!("{}", error.with_cause());
                }
                tracing::info!(expires = %certificate.expires(), domains = self.settings.domains.join(", "), "got a certificate");
                Ok(Look::New(Box::new(certificate)))
            }
            Err(error) => {
                let attempts = attempts.fail(error.to_string());
                tracing::error!(n_failures = attempts.n_failures(), again = %attempts.due(), "got no certificate: {error}");
                if let Err(error) = self.folder.set_attempts(&attempts) {
                    tracing::warn!("{}", error.with_cause());
                }
                Err(NoNewCertificate(error.to_string()))
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
