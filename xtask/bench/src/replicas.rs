//! Reads of a site on MariaDB with one read replica, over the same without it.
//!
//! All processes share the processor, so requests per second do not show what a second machine gives. The CPU time of each
//! database server does: on machines of their own, the busier one of them limits the reads. So a row is the CPU time per read of the
//! only database server, over that of the busier one of two. The servers have hardly any caches, so that each read reaches a database.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use svc_test_databases::{mariadb::MariaDb, replication::Replication};
use xtask_support::server::{cpu_time, exchange};

use super::{
    Options,
    load::{Request, Until},
    measure::{Row, Value},
    rows::N_CLIENTS,
    site::{Site, Svc},
};

/// Number of posts in the database.
const N_POSTS: u64 = 5_000;

/// At how many places lists begin.
const N_OFFSETS: u64 = 500;

/// What reads with one replica must reach over reads without it.
const TARGET: f64 = 1.8;

/// The CPU time of database servers is reported in hundredths of a second, so a round is longer than others.
const LONGER: u32 = 4;

/// A kind of read: its name, the parameters of its list, and whether the caller is logged in.
struct Kind(&'static str, &'static str, bool);

const KINDS: [Kind; 4] = [
    Kind("lists of 10", "per_page=10", false),
    Kind("lists of 10 by title", "orderby=title", false),
    Kind("lists of 10, logged in", "per_page=10", true),
    Kind("lists of 10 by title, logged in", "orderby=title", true),
];

impl Kind {
    /// A request for a URL that was not requested before, one of the first pages of the list.
    fn request(&self, site: &Site, n: u64) -> Request {
        let Kind(_, list, is_logged_in) = self;
        let path = format!("posts?{list}&offset={}&_fields=id,title,n{}", n % N_OFFSETS, n / N_OFFSETS);
        let headers = if *is_logged_in { site.basic.clone() } else { String::new() };
        Request { headers, ..site.get(&path) }
    }
}

/// What a read costs the database servers.
#[derive(Default)]
struct Cost {
    n_reads: u64,
    primary: Duration,
    replica: Duration,
}

impl Cost {
    /// Microseconds per read.
    fn per_read(&self) -> [f64; 2] {
        [self.primary, self.replica].map(|time| time.as_secs_f64() * 1e6 / self.n_reads.max(1) as f64)
    }
}

pub(super) fn rows(options: &Options) -> Result<Vec<Row>> {
    let Some(databases) = Replication::start()? else {
        return Ok(vec![Row::skipped("reads with a replica, over none", "MariaDB is not installed")]);
    };
    let url = databases.primary.create("site")?;
    let without = vec![("SVC_DATABASE", url), ("SVC_CACHE_SIZE", "1KB".to_owned())];
    let mut with = without.clone();
    with.push(("SVC_DATABASE_REPLICAS", databases.replica.url("site")));
    // One after the other, since the first one creates the site.
    let without = Svc::start_with(&options.program, None, without)?;
    fill(&databases.primary)?;
    databases.catch_up()?;
    let with = Svc::start_with(&options.program, None, with)?;
    // Each looks at what others have written.
    for svc in [&without, &with] {
        let list = exchange(&svc.site.host, "GET", &svc.site.path("posts?per_page=1"), &[], "")?;
        let total = list.header(&svc.site.brand.header("Total")).and_then(|n| n.parse::<u64>().ok());
        ensure!(total.is_some_and(|total| total > N_POSTS), "the database was not filled: {total:?}");
    }
    KINDS.iter().map(|kind| row(options, &databases, [&with, &without], kind)).collect()
}

/// Compares two servers, the first of which reads from the replica, too.
fn row(options: &Options, databases: &Replication, sides: [&Svc; 2], kind: &Kind) -> Result<Row> {
    let mut costs = [Cost::default(), Cost::default()];
    for round in 0..=options.n_rounds.div_ceil(LONGER as usize) {
        for (svc, cost) in sides.iter().zip(&mut costs) {
            let read = |n| kind.request(&svc.site, n);
            let before = used(databases)?;
            let outcome = svc.site.clients(N_CLIENTS, &read).run(Until::Elapsed(options.round * LONGER))?;
            let after = used(databases)?;
            ensure!(outcome.n_failed == 0, "{} of {} reads failed", outcome.n_failed, outcome.n_requests);
            // The first round fills caches.
            if round > 0 {
                cost.n_reads += outcome.n_requests;
                cost.primary += after[0].saturating_sub(before[0]);
                cost.replica += after[1].saturating_sub(before[1]);
            }
        }
    }
    let [with, without] = costs.map(|cost| cost.per_read());
    let busier = with[0].max(with[1]);
    let detail = format!(
        "database CPU per read: {:.0} µs without, {:.0} µs on the primary and {:.0} µs on the replica with it",
        without[0], with[0], with[1]
    );
    Ok(Row::new(
        format!("{}, with a replica over none", kind.0),
        Value::Ratio(without[0] / busier, Some(TARGET)),
        detail,
    ))
}

/// The CPU time of the primary and of the replica.
fn used(databases: &Replication) -> Result<[Duration; 2]> {
    let of = |server: &MariaDb| cpu_time(server.pid()?).context("the system does not report CPU times");
    Ok([of(&databases.primary)?, of(&databases.replica)?])
}

/// Fills the table of posts.
fn fill(primary: &MariaDb) -> Result<()> {
    let insert = format!(
        "USE site; INSERT INTO wp_posts (post_author, post_date, post_date_gmt, post_modified, post_modified_gmt, post_content, \
         post_title, post_name, post_status, post_type, post_excerpt, to_ping, pinged, post_content_filtered) \
         SELECT 1, d, d, d, d, REPEAT('A sentence about the weather and the harbour. ', 40), \
         CONCAT('Post ', MD5(seq)), CONCAT('post-', seq), 'publish', 'post', '', '', '', '' \
         FROM (SELECT seq, '2020-01-01' + INTERVAL seq HOUR AS d FROM seq_1_to_{N_POSTS}) AS n; ANALYZE TABLE wp_posts"
    );
    primary.client(&insert).map(drop)
}
