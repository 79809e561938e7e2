//! `serve` in front of a WordPress.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use svc_listen::InFlight;
use svc_monitoring::MonitoringListener;
use tokio::sync::oneshot;

use crate::{
    background,
    cli::{output::say, reload, serve},
    config::{Config, Setting, WordPress},
    data_folder::{self, DataLock},
    front::{Front, upstream_of},
    logs::Logs,
    tls::{self, Tls},
};

/// Serves until a signal stops the process.
pub(in crate::cli) async fn run(
    config: &Config,
    wordpress: &WordPress,
    flags: Vec<(&'static Setting, String)>,
    logs: Option<&Logs>,
) -> Result<()> {
    let stop = svc_listen::shutdown_signal();
    let listener = svc_listen::inherit_or_bind(&config.listen).await?;
    let here = listener.local_addr().context("cannot read the listening address")?;
    let tls = Tls::open(config).await?;
    let listener = tls::listener(listener, tls.as_ref());
    let (own, its) = (config.clone(), wordpress.clone());
    let front = tokio::task::spawn_blocking(move || -> Result<Front> {
        data_folder::create(&own.data)?;
        Ok(Front::open(&own, &its)?)
    });
    let front = front.await??;
    let lock = DataLock::acquire(&config.data);
    if let Some(conflict) = lock.conflict(&config.data) {
        tracing::warn!("{conflict}");
    }
    let home = front.home().as_str();
    if let Some(address) = tls.as_ref().and_then(Tls::redirect_address) {
        say(&format!("Redirecting from HTTP at {address}"));
    }
    say(&format!("Listening on {}", serve::reachable(here, tls.is_some())?.as_str()));
    say(&format!("Site:      {home}/"));
    say(&format!(
        "WordPress: {}; its responses are replayed until something that they read changes",
        upstream_of(wordpress)
    ));
    if front.connector().is_none() && wordpress.connector {
        say(
            "Connector: not installed, so that only visitors' responses are replayed; run `svc-server connector install`",
        );
    }
    tracing::info!(%here, home, "serving in front of WordPress");
    let certificates = tls.as_ref().map(|tls| Arc::clone(tls.certificates()));
    let hangups = tokio::spawn(reload::reload_on_hangup(config.clone(), flags, certificates));
    let requests = InFlight::new();
    let watch = front.watch(true);
    let mut table = front.jobs(&watch);
    if let Some(tls) = &tls {
        table = table.with(tls.job());
    }
    let jobs = background::with_saved_states(table, config).start();
    let redirect = tls.map(|tls| tls.start_redirect(front.home(), here, &config.limits)).transpose()?.flatten();
    let (stop_serving, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let monitoring = front.start_monitoring(requests.clone(), jobs.states(), logs).await?;
    if let Some(monitoring) = &monitoring {
        say(&format!("Monitoring: {}", monitoring.address()));
    }
    let serving = svc_listen::serve(listener, front.app(), config.limits.clone(), requests.clone(), stopped);
    let serving = tokio::spawn(serving);
    let reports = tokio::spawn(report_on_signal(front.clone()));
    svc_listen::notify_ready();
    stop.await;
    svc_listen::notify_stopping();
    monitoring.iter().for_each(MonitoringListener::drain);
    tokio::time::sleep(config.drain).await;
    drop(stop_serving);
    if let Err(error) = serving.await {
        tracing::error!(%error, "serving ended early");
    }
    hangups.abort();
    reports.abort();
    if let Some(redirect) = redirect {
        redirect.stop().await;
    }
    requests.end().await;
    jobs.stop().await;
    watch.save_responses().await;
    if let Some(monitoring) = monitoring {
        monitoring.stop().await;
    }
    drop(lock);
    tracing::info!("stopped");
    Ok(())
}

/// Logs what the bridge saves on each SIGUSR1.
async fn report_on_signal(front: Front) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut signals) = signal(SignalKind::user_defined1()) else { return };
        while signals.recv().await.is_some() {
            let report = front.bridge().report();
            tracing::info!(
                replayed = report.replayed,
                forwarded = report.forwarded,
                stored = report.stored,
                bytes = report.bytes,
                "replay"
            );
        }
    }
    #[cfg(not(unix))]
    drop(front);
}
