//! The supervisor in paused time, and the jobs of a site.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use chrono::NaiveDateTime;
use futures_util::future::BoxFuture;
use svc_model::Post;
use svc_store::{DatabaseUrl, LeaseTimes, Store, StoreConfig, StoredText, options, posts, schema};
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use svc_versions::Context;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::*;
use crate::{Registries, Site, SiteSetup};

const SECOND: Duration = Duration::from_secs(1);

/// A job made from a function that gets the number of its run, from 0. Keeps when its runs began.
struct Probe {
    name: &'static str,
    work: Box<dyn Fn(usize) -> BoxFuture<'static, Outcome> + Send + Sync>,
    began: Arc<Mutex<Vec<Instant>>>,
    first_run: Duration,
    wake: Option<Arc<Notify>>,
    runs_on: RunsOn,
}

impl Probe {
    fn new<F: Future<Output = Outcome> + Send + 'static>(
        name: &'static str,
        work: impl Fn(usize) -> F + Send + Sync + 'static,
    ) -> Self {
        let work = move |n| -> BoxFuture<'static, Outcome> { Box::pin(work(n)) };
        Probe {
            name,
            work: Box::new(work),
            began: Arc::default(),
            first_run: Duration::ZERO,
            wake: None,
            runs_on: RunsOn::EachServer,
        }
    }

    /// When the runs began, in seconds after the call.
    fn began(&self) -> impl Fn() -> Vec<u64> + use<> {
        let (start, began) = (Instant::now(), Arc::clone(&self.began));
        move || began.lock().unwrap().iter().map(|at| (*at - start).as_secs()).collect()
    }
}

impl Job for Probe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn runs_on(&self) -> RunsOn {
        self.runs_on
    }

    fn first_run(&self) -> Duration {
        self.first_run
    }

    fn wake(&self) -> Option<&Notify> {
        self.wake.as_deref()
    }

    async fn run(&self, _cx: &Context) -> Outcome {
        let n_runs = {
            let mut began = self.began.lock().unwrap();
            began.push(Instant::now());
            began.len() - 1
        };
        (self.work)(n_runs).await
    }
}

/// Collects the log of the current thread, without debug lines.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn collect(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).without_time().with_target(false);
        tracing::subscriber::set_default(lines.with_writer(move || log.clone()).finish())
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn jobs_run_when_they_are_due_and_do_not_delay_each_other() {
    let slow = Probe::new("slow", async |_| {
        sleep(60 * SECOND).await;
        Ok(Next::After(SECOND))
    });
    let quick = Probe::new("quick", async |_| Ok(Next::After(2 * SECOND)));
    let late = Probe { first_run: 5 * SECOND, ..Probe::new("late", async |_| Ok(Next::Never)) };
    let (slow_began, quick_began, late_began) = (slow.began(), quick.began(), late.began());
    let supervisor = JobTable::new().with(slow).with(quick).with(late).start();
    sleep(9 * SECOND).await;
    assert_eq!((slow_began(), quick_began(), late_began()), (vec![0], vec![0, 2, 4, 6, 8], vec![5]));
    let [slow, quick, late] = &supervisor.states().get()[..] else { panic!("three jobs") };
    assert!(slow.runs.is_running && slow.runs.n_runs == 0 && slow.runs.until_next_run.is_none());
    assert_eq!((&*quick.name, quick.runs.n_runs, quick.runs.is_running), ("quick", 5, false));
    assert_eq!(quick.runs.until_next_run, Some(SECOND));
    assert_eq!((late.runs.until_next_run, late.runs.duration), (None, Some(Duration::ZERO)));
    sleep(60 * SECOND).await;
    assert_eq!(slow_began(), [0, 61]);
    assert_eq!(supervisor.states().get()[0].runs.duration, Some(60 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_failing_job_is_repeated_with_growing_pauses_until_it_recovers() {
    let log = Log::default();
    let _collecting = log.collect();
    let job =
        Probe::new("job", async |n| if n < 9 { Err("out of order".into()) } else { Ok(Next::After(1000 * SECOND)) });
    let began = job.began();
    let supervisor = JobTable::new().with(job).start();
    sleep(10 * SECOND).await;
    let state = supervisor.states().get().remove(0).runs;
    assert_eq!((state.n_runs, state.n_failures, state.last_error.as_deref()), (4, 4, Some("out of order")));
    sleep(500 * SECOND).await;
    assert_eq!(began(), [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    let state = supervisor.states().get().remove(0).runs;
    assert_eq!((state.n_runs, state.n_failures, state.last_error.as_deref()), (10, 0, Some("out of order")));
    let expected = [
        " WARN a job fails; it is repeated job=\"job\" error=\"out of order\"\n",
        " INFO a job works again job=\"job\" failures_before=9\n",
    ];
    assert_eq!(log.text(), expected.concat());
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure() {
    let job = Probe::new("job", async |n| if n == 0 { panic!("mistake {n}") } else { Ok(Next::After(SECOND)) });
    let (other, began) = (Probe::new("other", async |_| Ok(Next::After(SECOND))), job.began());
    let supervisor = JobTable::new().with(job).with(other).start();
    sleep(SECOND / 2).await;
    let [job, other] = &supervisor.states().get()[..] else { panic!("two jobs") };
    let (job, other) = (&job.runs, &other.runs);
    assert_eq!((job.n_runs, job.last_error.as_deref(), job.is_running), (1, Some("panicked: mistake 0"), false));
    assert_eq!((other.n_runs, other.n_failures), (1, 0));
    sleep(2 * SECOND).await;
    assert_eq!(began(), [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_notification_wakes_a_job() {
    let wake = Arc::new(Notify::new());
    let job = Probe::new("job", async |n| {
        sleep(SECOND).await;
        match n {
            0 => Ok(Next::After(1000 * SECOND)),
            1 => Ok(Next::Never),
            _ => Err("out of order".into()),
        }
    });
    let job = Probe { wake: Some(Arc::clone(&wake)), ..job };
    let began = job.began();
    let _supervisor = JobTable::new().with(job).start();
    sleep(10 * SECOND).await;
    wake.notify_one();
    sleep(10 * SECOND).await;
    wake.notify_one();
    sleep(SECOND / 2).await;
    // During a run: it counts for the next one, also after a failure.
    wake.notify_one();
    sleep(SECOND).await;
    assert_eq!(began(), [0, 10, 20, 21]);
}

#[tokio::test(start_paused = true)]
async fn stop_waits_for_runs_in_progress() {
    let is_complete = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_complete);
    let job = Probe::new("job", move |_| {
        let done = Arc::clone(&done);
        async move {
            sleep(3 * SECOND).await;
            done.store(true, Relaxed);
            Ok(Next::After(Duration::ZERO))
        }
    });
    let (waiting, began) = (Probe::new("waiting", async |_| Ok(Next::After(SECOND))), job.began());
    let waiting_began = waiting.began();
    let supervisor = JobTable::new().with(job).with(waiting).start();
    sleep(SECOND / 2).await;
    let stopping = Instant::now();
    supervisor.stop().await;
    assert_eq!((stopping.elapsed(), is_complete.load(Relaxed)), (3 * SECOND - SECOND / 2, true));
    sleep(100 * SECOND).await;
    assert_eq!((began(), waiting_began()), (vec![0], vec![0]));
}

/// Set when it is dropped.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// A job whose run does not end, and whether that run was cancelled.
fn endless() -> (Probe, Arc<AtomicBool>) {
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let cancelled = Arc::clone(&is_cancelled);
    let job = Probe::new("endless", move |_| {
        let guard = OnDrop(Arc::clone(&cancelled));
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    (job, is_cancelled)
}

#[tokio::test(start_paused = true)]
async fn stop_cancels_a_run_that_does_not_end() {
    let log = Log::default();
    let _collecting = log.collect();
    let (job, is_cancelled) = endless();
    let supervisor = JobTable::new().with(job).start();
    sleep(SECOND).await;
    let stopping = Instant::now();
    supervisor.stop().await;
    assert_eq!((stopping.elapsed(), is_cancelled.load(Relaxed)), (5 * SECOND, true));
    assert_eq!(log.text(), " WARN cancelled jobs that did not end in time jobs=\"endless\"\n");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_supervisor_cancels_the_jobs() {
    let (job, is_cancelled) = endless();
    let supervisor = JobTable::new().with(job).start();
    sleep(SECOND).await;
    drop(supervisor);
    sleep(SECOND).await;
    assert!(is_cancelled.load(Relaxed));
}

/// A site whose clock shows the 1 January 2030.
fn site() -> Arc<Site> {
    let store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
    store
        .write_blocking(|tx| {
            schema::install(tx)?;
            options::set(tx, "home", &StoredText::of("https://example.com"), true)
        })
        .unwrap();
    let clock = || "2030-01-01T00:00:00".parse::<NaiveDateTime>().unwrap();
    let mut setup = SiteSetup::new(store, svc_brand::Brand::default(), Path::new("wp-content"));
    setup.clock = clock;
    setup.build(Registries::default()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_jobs_of_an_empty_site_succeed() {
    let (site, cx) = (site(), Context::background());
    let after = |seconds| Ok(Next::After(Duration::from_secs(seconds)));
    let text = |outcome: Outcome| outcome.map_err(|error| error.to_string());
    assert_eq!(text(PublishPosts(Arc::clone(&site)).run(&cx).await), after(60));
    assert_eq!(text(WatchTheme(Arc::clone(&site)).run(&cx).await), after(1));
    assert_eq!(text(CheckTermCounts::new(Arc::clone(&site)).run(&cx).await), after(24 * 60 * 60));
    assert_eq!(text(RemoveInterruptedUploads(site).run(&cx).await), Ok(Next::Never));
}

/// Waits until the only job has run this often.
async fn n_runs(supervisor: &Supervisor, n: u64) {
    let reached = async {
        while supervisor.states().get()[0].runs.n_runs < n {
            sleep(SECOND / 100).await;
        }
    };
    // Less than the job's own interval.
    tokio::time::timeout(30 * SECOND, reached).await.expect("a run");
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduling_a_post_wakes_the_job_that_publishes_it() {
    let site = site();
    let supervisor = JobTable::new().with(PublishPosts(Arc::clone(&site))).start();
    n_runs(&supervisor, 1).await;
    let due = Post {
        post_type: "post".to_owned(),
        status: "future".to_owned(),
        date_gmt: "2029-12-31T00:00:00".parse().ok(),
        ..Post::default()
    };
    let id = site.store.write_blocking(move |tx| posts::insert(tx, &due)).unwrap();
    n_runs(&supervisor, 2).await;
    let published = site.store.read_blocking(|db| posts::get(db, id)).unwrap().unwrap();
    assert_eq!(published.status, "publish");
}

/// Servers on one database, each with a job for one server and one for each.
struct Fleet {
    server: MariaDb,
    config: StoreConfig,
    /// Which server has run the job for one server, in order.
    ran: Arc<Mutex<Vec<&'static str>>>,
}

const TIMES: LeaseTimes = LeaseTimes {
    length: Duration::from_millis(400),
    margin: Duration::from_millis(50),
    interval: Duration::from_millis(20),
};

impl Fleet {
    /// `None` if MariaDB is not installed.
    fn new() -> Option<Self> {
        let server = MariaDb::start(DISPOSABLE_OPTIONS).unwrap()?;
        let config = StoreConfig::new(DatabaseUrl::MySql(server.create("fleet").unwrap()));
        Store::open(&config).unwrap().write_blocking(schema::install).unwrap();
        Some(Fleet { server, config, ran: Arc::default() })
    }

    /// Starts the jobs of a server.
    fn start(&self, name: &'static str) -> Supervisor {
        let store = Store::open(&self.config).unwrap();
        let lease = store.lease("jobs", name, TIMES).unwrap().expect("several servers can use the database");
        let ran = Arc::clone(&self.ran);
        let one = Probe::new("one", move |_| {
            ran.lock().unwrap().push(name);
            std::future::ready(Ok(Next::After(Duration::from_millis(10))))
        });
        let each = Probe::new("each", async |_| Ok(Next::After(Duration::from_millis(10))));
        let one = Probe { runs_on: RunsOn::OneServer, ..one };
        JobTable::new().with(one).with(each).with_lease(lease).start()
    }

    /// Waits until this server has run the job for one server, from now on.
    async fn ran_on(&self, name: &'static str) {
        self.ran.lock().unwrap().clear();
        let is_done = || self.ran.lock().unwrap().contains(&name);
        tokio::time::timeout(60 * SECOND, async {
            while !is_done() {
                sleep(TIMES.interval).await;
            }
        })
        .await
        .unwrap_or_else(|_| panic!("the job does not run on {name}"));
    }
}

fn runs_elsewhere(supervisor: &Supervisor) -> Vec<Option<String>> {
    supervisor.states().get().into_iter().map(|job| job.runs_elsewhere).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_servers_runs_a_job_for_one_server() {
    let Some(fleet) = Fleet::new() else { return };
    let first = fleet.start("first");
    fleet.ran_on("first").await;
    let second = fleet.start("second");
    n_runs_of(&second, "each", 20).await;
    assert!(!fleet.ran.lock().unwrap().contains(&"second"));
    assert_eq!(runs_elsewhere(&first), [None, None, None]);
    assert_eq!(runs_elsewhere(&second), [Some("first".to_owned()), None, None]);
    assert_eq!((first.states().holds_lease(), second.states().holds_lease()), (Some(true), Some(false)));

    // A server that stops passes the lease on.
    first.stop().await;
    fleet.ran_on("second").await;
    // One that dies does not.
    let third = fleet.start("third");
    drop(second);
    fleet.ran_on("third").await;
    assert!(!fleet.ran.lock().unwrap().contains(&"second"));

    // Without a database nobody runs the job, and then the same server or another.
    fleet.server.kill().unwrap();
    tokio::time::timeout(60 * SECOND, async {
        while third.states().holds_lease() == Some(true) {
            sleep(TIMES.interval).await;
        }
    })
    .await
    .unwrap();
    fleet.ran.lock().unwrap().clear();
    assert_eq!(runs_elsewhere(&third)[0].as_deref(), Some(""));
    fleet.server.run().unwrap();
    fleet.ran_on("third").await;
}

/// Waits until a job has run this often.
async fn n_runs_of(supervisor: &Supervisor, name: &str, n: u64) {
    let runs = || supervisor.states().get().into_iter().find(|job| job.name == name).map_or(0, |job| job.runs.n_runs);
    while runs() < n {
        sleep(TIMES.interval).await;
    }
}
