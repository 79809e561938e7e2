//! `serve`: runs the server.

use std::time::Duration;

use anyhow::{Context as _, Result};
use svc_backup::Backup;
use svc_listen::{App, InFlight};
use svc_monitoring::MonitoringListener;
use svc_store::SearchIndexer;

use super::{
    backup, next_steps,
    output::{say, show},
    reload::{Flags, Program, Restart, Signals},
    serving::{self, Background, Process, Served, Socket, lock_data},
};
use crate::{
    background,
    config::{Config, SiteUrl},
    data_folder::DataLock,
    logs::{self, Logs},
    site::{OpenSite, SiteBuilder},
    tls::CertificateExpiry,
    upgrade_copy,
};

/// How long the process waits for blocking tasks after the last request.
const LAST_WORK: Duration = Duration::from_secs(5);

/// Threads per processor core that read files and decode large bodies.
const BLOCKING_PER_CORE: usize = 3;

/// Runs the server. `flags` are those of the command line, for reading the configuration again. After a SIGHUP that requires a restart, this
/// replaces the program of the process and does not return.
pub(super) fn serve(builder: &SiteBuilder, config: &Config, flags: Flags) -> Result<()> {
    // First, since signals would end the process until then.
    let (signals, stop, hangups) = Signals::listen()?;
    let process = Process { flags, program: Program::of_process()?, stop, hangups };
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
    let restart = if let Some(wordpress) = &config.wordpress {
        let served = runtime.block_on(super::front::run(config, wordpress, process, logs.as_ref()));
        runtime.shutdown_timeout(LAST_WORK);
        served?
    } else {
        let served = runtime.block_on(run(builder, config, process, logs.as_ref()));
        // A blocking task (a large image, a file system that does not respond) must not keep the process alive.
        runtime.shutdown_timeout(LAST_WORK);
        let (site, restart) = served?;
        // Cancelled requests must end first, so that the database is closed properly.
        site.stop_requests();
        restart
    };
    // The last lines are written.
    drop(logs);
    match restart {
        // The process was stopped while it prepared the restart.
        Some(_) if signals.has_stopped() => {
            svc_listen::notify_stopping();
            Ok(())
        }
        Some(restart) => Err(restart.exec()),
        None => Ok(()),
    }
}

/// Serves a site until a signal stops the process. Returns the site, and the restart if there is one.
async fn run(
    builder: &SiteBuilder,
    config: &Config,
    process: Process,
    logs: Option<&Logs>,
) -> Result<(OpenSite, Option<Restart>)> {
    // Bind first: the URL of a new site contains the port.
    let socket = Socket::bind(config).await?;
    let mut site = builder.open_to_serve(config, &socket.public_url(config)?)?;
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
    let lock = lock_data(config);
    // The socket's URL comes first: it works even if the public URL does not.
    socket.announce()?;
    say(&format!("Site:     {}/", site.home().as_str()));
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
    if config.wp_config.is_some() {
        for [fact, value] in super::wordpress::facts(&site)? {
            say(&format!("WordPress: {fact}: {value}"));
        }
        say("WordPress: its plugins do not run here, and what they register is unknown; see wordpress.upstream");
    }
    let mut served = ServedSite { site, logs, search_index: None, backup: None };
    let restart = serving::serve(&mut served, socket, config, process, lock).await?;
    // A command of another version may have recorded that version, and this one has written since.
    if !restart.as_ref().is_some_and(Restart::has_copied) {
        upgrade_copy::record_again(config);
    }
    Ok((served.site, restart))
}

/// A site that is served, and its threads.
struct ServedSite<'l> {
    site: OpenSite,
    logs: Option<&'l Logs>,
    search_index: Option<SearchIndexer>,
    backup: Option<Backup>,
}

impl Served for ServedSite<'_> {
    fn home(&self) -> &SiteUrl {
        self.site.home()
    }

    fn app(&self) -> impl App {
        self.site.app()
    }

    async fn start(
        &mut self,
        config: &Config,
        requests: &InFlight,
        lock: &DataLock,
        certificate: Option<CertificateExpiry>,
    ) -> Result<Background> {
        let site = &self.site;
        let table = site.jobs();
        let usage = site.usage(requests.clone(), table.states());
        let backup = backup::start(config, site, lock)?;
        let spans = self.logs.and_then(Logs::span_counts);
        let metrics = site.metrics(&usage).with(backup.as_ref().map(Backup::status)).with(spans).with(certificate);
        let monitoring = match &config.monitoring {
            Some(address) => Some(MonitoringListener::start(address, site.checks(), metrics).await?),
            None => None,
        };
        let search_index = site.start_search_index();
        let table = table.with(site.record_history(&usage));
        let jobs = background::with_threads(table, search_index.as_ref(), backup.as_ref());
        (self.search_index, self.backup) = (search_index, backup);
        Ok(Background { jobs, monitoring, report: Box::new(move || usage.log()) })
    }

    fn drain(&self) {
        self.site.drain();
    }

    fn end_streams(&self) {
        self.site.end_streams();
    }

    async fn end(&mut self) {
        let (search_index, backup) = (self.search_index.take(), self.backup.take());
        // The thread of the index stops after the posts that it is reading. The backup stores what the last requests have written.
        let stop = tokio::task::spawn_blocking(move || {
            drop(search_index);
            drop(backup);
        });
        drop(stop.await);
    }
}
