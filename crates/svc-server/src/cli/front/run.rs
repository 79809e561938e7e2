//! `serve` in front of a WordPress.

use std::sync::Arc;

use anyhow::Result;
use svc_bridge::Watch;
use svc_listen::{App, InFlight};

use crate::{
    cli::{
        output::say,
        reload::Restart,
        serving::{self, Background, Process, Served, Socket, lock_data},
    },
    config::{Config, SiteUrl, WordPress},
    data_folder::{self, DataLock},
    front::{Front, upstream_of},
    logs::Logs,
    tls::CertificateExpiry,
};

/// Serves until a signal stops the process. Returns the restart if there is one.
pub(in crate::cli) async fn run(
    config: &Config,
    wordpress: &WordPress,
    process: Process,
    logs: Option<&Logs>,
) -> Result<Option<Restart>> {
    let socket = Socket::bind(config).await?;
    let (own, its) = (config.clone(), wordpress.clone());
    let front = tokio::task::spawn_blocking(move || -> Result<Front> {
        data_folder::create(&own.data)?;
        Ok(Front::open(&own, &its)?)
    });
    let front = front.await??;
    let lock = lock_data(config);
    socket.announce()?;
    say(&format!("Site:      {}/", front.home().as_str()));
    say(&format!(
        "WordPress: {}; its responses are replayed until something that they read changes",
        upstream_of(wordpress)
    ));
    if front.connector().is_none() && wordpress.connector {
        say(
            "Connector: not installed, so that only visitors' responses are replayed; run `svc-server connector install`",
        );
    }
    let watch = front.watch(true);
    serving::serve(&mut ServedFront { front, logs, watch }, socket, config, process, lock).await
}

struct ServedFront<'l> {
    front: Front,
    logs: Option<&'l Logs>,
    watch: Arc<Watch>,
}

impl Served for ServedFront<'_> {
    fn home(&self) -> &SiteUrl {
        self.front.home()
    }

    fn app(&self) -> impl App {
        self.front.app()
    }

    async fn start(
        &mut self,
        _: &Config,
        requests: &InFlight,
        _: &DataLock,
        certificate: Option<CertificateExpiry>,
    ) -> Result<Background> {
        let jobs = self.front.jobs(&self.watch);
        let monitoring = self.front.start_monitoring(requests.clone(), jobs.states(), self.logs, certificate).await?;
        let front = self.front.clone();
        Ok(Background { jobs, monitoring, report: Box::new(move || log_replayed(&front)) })
    }

    async fn end(&mut self) {
        self.watch.save_responses().await;
    }
}

/// Logs what the bridge saves.
fn log_replayed(front: &Front) {
    let report = front.bridge().report();
    tracing::info!(
        replayed = report.replayed,
        forwarded = report.forwarded,
        stored = report.stored,
        bytes = report.bytes,
        "replay"
    );
}
