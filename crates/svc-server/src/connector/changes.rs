//! Waits until PHP registers something else, for example after a plugin was activated.

use std::{sync::Arc, time::Duration};

use svc_controllers::RestSite;
use tokio::time::{Instant, sleep};

use super::{WithRegistrations, with_registrations};
use crate::config::Config;

/// The option that the plugin changes when registrations change.
const OPTION: &str = "svc_connector_version";

/// Time between two looks at the option.
const LOOK: Duration = Duration::from_secs(5);

/// Time after which a report is requested again without a change: the plugin notices changes only when PHP handles a request to the
/// REST API.
const RENEW: Duration = Duration::from_mins(10);

/// Pause after a failed request.
const RETRY: Duration = Duration::from_secs(30);

/// Changes of what the connector of one site reports.
pub(crate) struct Changes {
    config: Option<Config>,
    /// The registrations of the last report.
    registered: String,
    /// The option when the last report was requested.
    version: Option<String>,
    due: Instant,
}

impl Changes {
    /// Changes from `registered`, which is empty if nothing has been reported. `config` is the configuration without reported
    /// registrations.
    pub(crate) fn new(config: &Config, registered: String) -> Self {
        let is_used = config.wordpress.as_ref().is_some_and(|wordpress| wordpress.connector);
        // A change between the first report and the first look is found by a second report.
        Changes { config: is_used.then(|| config.clone()), registered, version: None, due: Instant::now() + RENEW }
    }

    /// The configuration with the next registrations. Never returns without a WordPress. `site` reads the option.
    pub(crate) async fn next(&mut self, site: &Arc<RestSite>) -> Config {
        let Some(config) = self.config.clone() else { return std::future::pending().await };
        loop {
            sleep(LOOK).await;
            let reader = Arc::clone(site);
            let read = tokio::task::spawn_blocking(move || {
                reader.store.read(|db| svc_store::options::get(db, OPTION)).map(|v| v.map(|v| v.text().to_owned()))
            });
            // Without the plugin there is no option. The store has logged the cause of an error.
            let Ok(Ok(Some(version))) = read.await else { continue };
            if self.version.as_ref() == Some(&version) && Instant::now() < self.due {
                continue;
            }
            match with_registrations(&config).await {
                Ok(Some(WithRegistrations { config, registered })) => {
                    self.version = Some(version);
                    self.due = Instant::now() + RENEW;
                    if self.registered != registered {
                        self.registered = registered;
                        return config;
                    }
                }
                // The plugin is not used any more, or WordPress is away: what was reported last remains.
                Ok(None) => sleep(RETRY).await,
                Err(error) => {
                    tracing::debug!(%error, "WordPress's registrations are not known");
                    sleep(RETRY).await;
                }
            }
        }
    }
}
