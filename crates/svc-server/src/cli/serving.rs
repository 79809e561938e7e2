//! Serves until a signal stops the process or restarts it: what a site and a server in front of a WordPress have in common.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context as _, Result};
use svc_listen::{App, Handover, Hangups, InFlight, Sockets};
use svc_monitoring::MonitoringListener;
use svc_site::jobs::JobTable;
use tokio::{net::TcpListener, sync::oneshot};

use super::{
    output::say,
    reload::{Flags, Program, Reload, Restart, StopSignal},
};
use crate::{
    background,
    config::{Config, SiteUrl},
    data_folder::DataLock,
    tls::{self, CertificateExpiry, Tls},
};

/// The process of a server: how it was started, and its signals.
pub(super) struct Process {
    /// The flags of the command line, for reading the configuration again.
    pub(super) flags: Flags,
    pub(super) program: Program,
    pub(super) stop: StopSignal,
    /// `None` if the process does not listen for SIGHUP.
    pub(super) hangups: Option<Hangups>,
}

/// A bound address on which nothing is served yet.
pub(super) struct Socket {
    listener: TcpListener,
    handover: Handover,
    here: SocketAddr,
    tls: Option<Tls>,
}

impl Socket {
    /// Binds the addresses of the configuration.
    pub(super) async fn bind(config: &Config) -> Result<Self> {
        let redirect = config.tls.as_ref().and_then(|tls| tls.redirect.as_deref());
        let Sockets { main: listener, redirect, handover } = Sockets::open(&config.listen, redirect).await?;
        let here = listener.local_addr().context("cannot read the listening address")?;
        Ok(Socket { listener, handover, here, tls: Tls::open(config, redirect)? })
    }

    /// The URL at which this machine reaches the socket.
    pub(super) fn url(&self) -> Result<SiteUrl> {
        reachable(self.here, self.tls.is_some())
    }

    /// The URL of a site that is created now.
    pub(super) fn public_url(&self, config: &Config) -> Result<SiteUrl> {
        tls::public_url(config, self.here).map_or_else(|| self.url(), Ok)
    }

    /// Prints the addresses.
    pub(super) fn announce(&self) -> Result<()> {
        if let Some(address) = self.tls.as_ref().and_then(Tls::redirect_address) {
            say(&format!("Redirecting from HTTP at {address}"));
        }
        say(&format!("Listening on {}", self.url()?.as_str()));
        Ok(())
    }
}

/// Locks the data folder, and warns if another server uses it.
pub(super) fn lock_data(config: &Config) -> DataLock {
    let lock = DataLock::acquire(&config.data);
    if let Some(conflict) = lock.conflict(&config.data) {
        tracing::warn!("{conflict}");
    }
    lock
}

/// The background work of what is served.
pub(super) struct Background {
    pub(super) jobs: JobTable,
    pub(super) monitoring: Option<MonitoringListener>,
    /// Logs the use of the server, on each SIGUSR1.
    pub(super) report: Box<dyn Fn() + Send>,
}

/// What is served.
pub(super) trait Served {
    /// The site's public URL.
    fn home(&self) -> &SiteUrl;

    /// The service of the whole site.
    fn app(&self) -> impl App;

    /// Starts the background work, except for the jobs.
    async fn start(
        &mut self,
        config: &Config,
        requests: &InFlight,
        lock: &DataLock,
        certificate: Option<CertificateExpiry>,
    ) -> Result<Background>;

    /// Tells load balancers that the server is stopping.
    fn drain(&self) {}

    /// Ends responses that would not end by themselves.
    fn end_streams(&self) {}

    /// Stops the background work, after the last request and the jobs.
    async fn end(&mut self);
}

/// Serves until a signal stops the process. Returns what is left to do if the process restarts instead.
pub(super) async fn serve(
    served: &mut impl Served,
    socket: Socket,
    config: &Config,
    process: Process,
    lock: DataLock,
) -> Result<Option<Restart>> {
    let Socket { listener, handover, here, tls } = socket;
    tracing::info!(%here, home = served.home().as_str(), in_front_of_wordpress = config.wordpress.is_some(), "serving");
    let listener = tls::listener(listener, tls.as_ref());
    let Process { flags, program, stop, hangups } = process;
    let certificates = tls.as_ref().map(|tls| Arc::clone(tls.certificates()));
    let reload = Reload { running: config.clone(), flags, certificates, program };
    let (renewal, expiry) = (tls.as_ref().map(Tls::job), tls.as_ref().map(Tls::expiry));
    let redirect = tls.map(|tls| tls.start_redirect(served.home(), here, &config.limits)).transpose()?.flatten();
    let requests = InFlight::new();
    let Background { jobs, monitoring, report } = served.start(config, &requests, &lock, expiry).await?;
    if let Some(monitoring) = &monitoring {
        say(&format!("Monitoring: {}", monitoring.address()));
    }
    let jobs = renewal.into_iter().fold(jobs, JobTable::with);
    let jobs = background::with_saved_states(jobs, config).start();
    let reports = tokio::spawn(report_on_signal(report));
    let (stop_serving, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let serving = svc_listen::serve(listener, served.app(), config.limits.clone(), requests.clone(), stopped);
    let serving = tokio::spawn(serving);
    svc_listen::notify_ready();
    let program = tokio::select! {
        biased;
        () = stop => None,
        program = reload.until_restart(hangups) => Some(program),
    };
    let restart = if let Some(program) = program {
        // Load balancers need not look for another server.
        svc_listen::notify_reloading();
        served.end_streams();
        Some(Restart { program, handover })
    } else {
        svc_listen::notify_stopping();
        served.drain();
        served.end_streams();
        monitoring.iter().for_each(MonitoringListener::drain);
        tokio::time::sleep(config.drain).await;
        // The socket closes with its listener, so that clients try another server.
        drop(handover);
        None
    };
    drop(stop_serving);
    if let Err(error) = serving.await {
        tracing::error!(%error, "serving ended early");
    }
    reports.abort();
    if let Some(redirect) = redirect {
        redirect.stop().await;
    }
    requests.end().await;
    jobs.stop().await;
    served.end().await;
    drop(lock);
    if let Some(monitoring) = monitoring {
        monitoring.stop().await;
    }
    tracing::info!("stopped");
    Ok(restart)
}

async fn report_on_signal(report: Box<dyn Fn() + Send>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut signals) = signal(SignalKind::user_defined1()) else { return };
        while signals.recv().await.is_some() {
            report();
        }
    }
    #[cfg(not(unix))]
    drop(report);
}

/// The URL at which this machine reaches the socket.
fn reachable(here: SocketAddr, is_tls: bool) -> Result<SiteUrl> {
    let host = match here.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        std::net::IpAddr::V4(ip) => ip.to_string(),
    };
    let (scheme, usual_port) = if is_tls { ("https", 443) } else { ("http", 80) };
    let port = if here.port() == usual_port { String::new() } else { format!(":{}", here.port()) };
    format!("{scheme}://{host}{port}").parse().map_err(anyhow::Error::msg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_urls() {
        for (socket, is_tls, url) in [
            ("127.0.0.1:8080", false, "http://127.0.0.1:8080"),
            ("0.0.0.0:80", false, "http://localhost"),
            ("[::1]:81", false, "http://[::1]:81"),
            ("[::]:81", false, "http://localhost:81"),
            ("0.0.0.0:443", true, "https://localhost"),
            ("0.0.0.0:80", true, "https://localhost:80"),
        ] {
            assert_eq!(reachable(socket.parse().unwrap(), is_tls).unwrap().as_str(), url);
        }
    }
}
