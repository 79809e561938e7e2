//! `serve`: runs the server.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use svc_backup::Backup;
use svc_listen::InFlight;
use svc_monitoring::{MonitoringListener, SiteUsage};
use svc_site::jobs::Supervisor;
use svc_store::SearchIndexer;
use tokio::{sync::oneshot, task::JoinHandle};

use super::{
    backup, next_steps,
    output::{say, show},
    reload,
};
use crate::{
    background::{self, WatchCertificate},
    config::{Config, Setting, SiteUrl},
    data_folder::DataLock,
    logs::{self, Logs},
    site::{OpenSite, SiteBuilder},
    tls::{self, Tls},
};

/// How long the process waits for blocking tasks after the last request.
const LAST_WORK: Duration = Duration::from_secs(5);

/// Threads per processor core that read files and decode large bodies.
const BLOCKING_PER_CORE: usize = 3;

/// Runs the server. `flags` are those of the command line, for reading the configuration again.
pub(super) fn serve(builder: &SiteBuilder, config: &Config, flags: Vec<(&'static Setting, String)>) -> Result<()> {
    let logs = logs::install(config);
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
    svc_listen::raise_limit(config.limits.connections);
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Connections, files and cached responses. Requests that need data have threads of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(n_cores * BLOCKING_PER_CORE)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    if let Some(wordpress) = &config.wordpress {
        let served = runtime.block_on(super::front::run(config, wordpress, flags, logs.as_ref()));
        runtime.shutdown_timeout(LAST_WORK);
        return served;
    }
    let served = runtime.block_on(run(builder, config, flags, logs.as_ref()));
    // A blocking task (a large image, a file system that does not respond) must not keep the process alive.
    runtime.shutdown_timeout(LAST_WORK);
    // Cancelled requests must end first, so that the database is closed properly.
    served.map(|site| site.stop_requests())
}

/// Serves until a signal stops the process. Returns the site.
async fn run(
    builder: &SiteBuilder,
    config: &Config,
    flags: Vec<(&'static Setting, String)>,
    logs: Option<&Logs>,
) -> Result<OpenSite> {
    // Whoever reads that the server listens may stop it.
    let stop = svc_listen::shutdown_signal();
    // Bind first: the URL of a new site contains the port.
    let listener = svc_listen::inherit_or_bind(&config.listen).await?;
    let here = listener.local_addr().context("cannot read the listening address")?;
    let tls = Tls::open(config).await?;
    let url = reachable(here, tls.is_some())?;
    let public = tls::public_url(config, here).unwrap_or_else(|| url.clone());
    let mut site = builder.open_to_serve(config, &public)?;
    let created = site.take_created();
    // First, since the rest may fail.
    if let Some(created) = &created {
        say("Created a new site. Log in as:\n");
        say(&format!("    user      {}", created.login));
        if show(&format!("    password  {}\n", created.password.expose())) {
            created.shown();
        }
        say(&format!(
            "The password is not shown again. `svc-server user set-password {}` sets a new one.\n",
            created.login
        ));
    }
    let lock = DataLock::acquire(&config.data);
    if let Some(conflict) = lock.conflict(&config.data) {
        tracing::warn!("{conflict}");
    }
    let requests = InFlight::new();
    let listener = tls::listener(listener, tls.as_ref());
    let certificates = tls.as_ref().map(|tls| Arc::clone(tls.certificates()));
    if let Some(address) = tls.as_ref().and_then(Tls::redirect_address) {
        say(&format!("Redirecting from HTTP at {address}"));
    }
    // The socket's URL comes first: it works even if the public URL does not.
    say(&format!("Listening on {}", url.as_str()));
    let home = site.home().as_str();
    say(&format!("Site:     {home}/"));
    say(&format!("Log in:   {}", site.login_url()));
    if config.admin {
        say(&format!("Admin:    {}", site.admin_url()));
    }
    say(&format!("REST API: {}", site.server().rest_url("/")));
    if let Some(url) = site.explorer_url() {
        say(&format!("Explorer: {url}"));
    }
    if let Some(url) = site.offer_setup() {
        say(
            "\nClick this link to set the site up in your browser. It works once, within an hour, as long as nobody has used the account:\n",
        );
        say(&format!("    {url}"));
    }
    if let Some(created) = &created {
        say("\nTry the REST API from another terminal:\n");
        for command in next_steps::commands(config, &site, created.login) {
            say(&format!("    {command}"));
        }
        say("");
    }
    tracing::info!(%here, home, "serving");
    if config.wp_config.is_some() {
        for [fact, value] in super::wordpress::facts(&site)? {
            say(&format!("WordPress: {fact}: {value}"));
        }
        say("WordPress: its plugins do not run here, and what they register is unknown; see wordpress.upstream");
    }
    let hangups = tokio::spawn(reload::reload_on_hangup(config.clone(), flags, certificates));
    let renewal = tls.as_ref().map(Tls::job);
    let redirect = tls.map(|tls| tls.start_redirect(site.home(), here, &config.limits)).transpose()?.flatten();
    let (stop_serving, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let running = Running::start(site, config, &requests, &lock, renewal, logs).await?;
    let serving = svc_listen::serve(listener, running.site.app(), config.limits.clone(), requests.clone(), stopped);
    let serving = tokio::spawn(serving);
    svc_listen::notify_ready();
    stop.await;
    svc_listen::notify_stopping();
    running.drain();
    tokio::time::sleep(config.drain).await;
    drop(stop_serving);
    if let Err(error) = serving.await {
        tracing::error!(%error, "serving ended early");
    }
    let (site, monitoring, backup) = running.end().await;
    hangups.abort();
    if let Some(redirect) = redirect {
        redirect.stop().await;
    }
    requests.end().await;
    // It stores what the last requests have written.
    drop(tokio::task::spawn_blocking(move || drop(backup)).await);
    drop(lock);
    if let Some(monitoring) = monitoring {
        monitoring.stop().await;
    }
    tracing::info!("stopped");
    Ok(site)
}

/// A site that is served, and its background tasks.
struct Running {
    site: OpenSite,
    jobs: Supervisor,
    search_index: Option<SearchIndexer>,
    reports: JoinHandle<()>,
    monitoring: Option<MonitoringListener>,
    backup: Option<Backup>,
}

impl Running {
    /// Starts the tasks.
    async fn start(
        site: OpenSite,
        config: &Config,
        requests: &InFlight,
        lock: &DataLock,
        renewal: Option<WatchCertificate>,
        logs: Option<&Logs>,
    ) -> Result<Running> {
        let table = site.jobs();
        let usage = site.usage(requests.clone(), table.states());
        let backup = backup::start(config, &site, lock)?;
        let metrics =
            site.metrics(&usage).with(backup.as_ref().map(Backup::status)).with(logs.and_then(Logs::span_counts));
        let monitoring = match &config.monitoring {
            Some(address) => Some(MonitoringListener::start(address, site.checks(), metrics).await?),
            None => None,
        };
        if let Some(monitoring) = &monitoring {
            say(&format!("Monitoring: {}", monitoring.address()));
        }
        let search_index = site.start_search_index();
        let table = table.with(site.record_history(&usage));
        let mut table = background::with_threads(table, search_index.as_ref(), backup.as_ref());
        if let Some(renewal) = renewal {
            table = table.with(renewal);
        }
        Ok(Running {
            jobs: background::with_saved_states(table, config).start(),
            search_index,
            reports: tokio::spawn(report_on_signal(usage)),
            monitoring,
            backup,
            site,
        })
    }

    /// Tells load balancers and subscribers that the server is stopping.
    fn drain(&self) {
        self.site.drain();
        self.monitoring.iter().for_each(MonitoringListener::drain);
        self.site.end_streams();
    }

    /// Stops the tasks. The backup is to be stopped after the last request, and the monitoring listener last.
    async fn end(self) -> (OpenSite, Option<MonitoringListener>, Option<Backup>) {
        self.jobs.stop().await;
        // The thread stops after the posts that it is reading.
        drop(tokio::task::spawn_blocking(move || drop(self.search_index)).await);
        self.reports.abort();
        (self.site, self.monitoring, self.backup)
    }
}

/// Logs the use of the server on each SIGUSR1.
async fn report_on_signal(usage: Arc<SiteUsage>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut signals) = signal(SignalKind::user_defined1()) else { return };
        while signals.recv().await.is_some() {
            usage.log();
        }
    }
    #[cfg(not(unix))]
    drop(usage);
}

/// The URL at which this machine reaches the socket.
pub(super) fn reachable(here: SocketAddr, is_tls: bool) -> Result<SiteUrl> {
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
