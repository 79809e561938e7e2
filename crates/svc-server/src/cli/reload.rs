//! SIGHUP: reads the certificate and the configuration again, and logs what a restart would change.

use std::sync::Arc;

use svc_certificates::Certificates;

use crate::config::{Config, Setting, Sources};

/// Reads the certificate again on each SIGHUP, and logs whether the configuration is still valid, and which settings differ from those of the
/// running server.
///
/// Settings are applied at a start only. In a terminal the signal ends the process, as its closing should.
#[cfg(unix)]
pub(super) async fn reload_on_hangup(
    running: Config,
    flags: Vec<(&'static Setting, String)>,
    certificates: Option<Arc<Certificates>>,
) {
    use std::io::IsTerminal as _;
    use tokio::signal::unix::{SignalKind, signal};
    if std::io::stderr().is_terminal() {
        return;
    }
    let Ok(mut signals) = signal(SignalKind::hangup()) else { return };
    while signals.recv().await.is_some() {
        let (flags, certificates) = (flags.clone(), certificates.clone());
        let read = tokio::task::spawn_blocking(move || {
            certificates.iter().for_each(|certificates| certificates.reload());
            Config::load(&Sources::of_process(flags))
        });
        match read.await {
            Ok(Ok(read)) => {
                let changed = changed(&running, &read);
                if changed.is_empty() {
                    tracing::info!("SIGHUP: the settings are unchanged");
                } else {
                    tracing::warn!(
                        changed = changed.join(", "),
                        "SIGHUP: restart the server to apply changed settings"
                    );
                }
            }
            Ok(Err(error)) => tracing::error!("SIGHUP: the configuration is invalid, so a restart would fail: {error}"),
            Err(_) => {}
        }
    }
}

#[cfg(not(unix))]
pub(super) async fn reload_on_hangup(_: Config, _: Vec<(&'static Setting, String)>, _: Option<Arc<Certificates>>) {}

/// Keys of settings whose values differ.
fn changed(running: &Config, read: &Config) -> Vec<&'static str> {
    let pairs = running.shown().into_iter().zip(read.shown());
    pairs.filter(|(a, b)| a.value != b.value || a.hash != b.hash).map(|(a, _)| a.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_changed_settings() {
        let folder = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            std::fs::write(folder.path().join("svc.toml"), text).unwrap();
            Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() }).unwrap()
        };
        let running = load("log = 'info'\nbrand = 'wp'");
        assert_eq!(changed(&running, &load("\nbrand = 'wp'\nlog = 'debug'\nlisten = 81")), ["listen", "log"]);
        assert!(changed(&running, &load("brand = 'wp'")).is_empty());
        let running = load("[keys]\nauth_key = 'one'\nnonce_key = 'two'");
        let moved = "listen = 'h:1'\n\n[keys]\nnonce_key = 'two'\nauth_key = 'one'";
        assert_eq!(changed(&running, &load(moved)), ["listen"], "secrets on other lines");
        assert_eq!(changed(&running, &load("[keys]\nauth_key = 'other'\nnonce_key = 'two'")), ["keys.auth_key"]);
    }
}
