//! The connector: a small plugin for WordPress that reports what PHP registers, and its client.
//!
//! `install.rs` writes the plugin and its secret, `client.rs` sends signed requests, `report.rs` is the content of a report, and
//! `adoption.rs` converts a report to entries of `svc.toml` (`entries.rs`). `changes.rs` waits for other registrations. `rest.rs` makes a report from the REST API of a WordPress without the
//! connector.

pub(crate) mod adoption;
pub(crate) mod changes;
pub(crate) mod client;
mod entries;
pub(crate) mod install;
pub(crate) mod report;
pub(crate) mod rest;

use crate::config::{Config, RouteRule, Side};

/// A configuration with what PHP registers.
pub(crate) struct WithRegistrations {
    pub(crate) config: Config,
    /// What PHP registers, in the form of `svc.toml`, and the routes of `php_routes` that follow from it.
    pub(crate) registered: String,
}

/// The configuration with what PHP registers, as far as the connector reports it. Entries of `svc.toml` take precedence.
///
/// Returns `None` if the connector is not installed or not used.
///
/// # Errors
/// If WordPress does not respond, or its report cannot be used.
pub(crate) async fn with_registrations(config: &Config) -> Result<Option<WithRegistrations>, client::Error> {
    let own = config.clone();
    // Reads the secret, and the site's URL from the database.
    let connector = tokio::task::spawn_blocking(move || client::Connector::of(&own)).await;
    let connector = connector.map_err(|error| client::Error::Unusable(error.to_string()))??;
    let Some(connector) = connector else { return Ok(None) };
    let adopted = adoption::Adoption::of(&connector.registrations().await?);
    let mut config = config.clone();
    config.registered = adopted.registered()?.overridden_by(std::mem::take(&mut config.registered));
    if let Some(wordpress) = &mut config.wordpress {
        let rules = adopted.php_writes.iter().filter_map(|rule| rule.parse::<RouteRule>().ok());
        // With `writes = "php"` the rules are true of all routes.
        if wordpress.writes == Side::Svc {
            wordpress.php_routes.extend(rules);
        }
    }
    tracing::info!(entries = adopted.len(), left_out = adopted.left_out.len(), "WordPress reported its registrations");
    let registered = format!("{}\n{}", adopted.php_writes.join("\n"), adopted.to_toml());
    Ok(Some(WithRegistrations { config, registered }))
}
