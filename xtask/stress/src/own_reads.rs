//! Callers with credentials read through two servers, with a read replica that gets each change late: they see their own writes and lose
//! revoked rights at once, whichever database answers.
//!
//! In each round every client changes its post and reads it until the replica has had the time to follow, so that the replica answers
//! the later reads.

use std::{
    sync::{
        Barrier, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use xtask_support::say;

use crate::{
    report::{Effort, Report},
    site::{Call, DatabaseKind, Site},
};

/// How much later the replica gets each change.
const LAG: Duration = Duration::from_millis(300);

/// How long a round reads after its writes.
const ROUND: Duration = Duration::from_secs(2);

/// Number of clients.
const CLIENTS: usize = 8;

/// Reads of the short and the long run.
const READS: (u64, u64) = (2_000, 100_000);

/// Reported wrong responses.
const QUOTED: usize = 10;

/// What was read, and what was wrong with it.
#[derive(Default)]
struct Tally {
    n_reads: AtomicU64,
    n_rights: AtomicU64,
    n_lost: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    fn lose(&self, what: String) {
        self.n_lost.fetch_add(1, Relaxed);
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.len() < QUOTED {
            wrong.push(what);
        }
    }
}

/// What each client has.
struct Client {
    number: usize,
    post: i64,
}

/// A user who may read what is published only.
struct Subscriber {
    credentials: String,
    /// A post whose status changes.
    post: i64,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let kind = DatabaseKind::Replica { lag: LAG };
    let Some(site) = Site::start(&effort.program()?, kind)? else {
        say(&format!("skipped: {} is not installed", kind.name()))?;
        return Ok(Vec::new());
    };
    let clients = (0..CLIENTS)
        .map(|number| Ok(Client { number, post: site.new_published(&title(number, 0))? }))
        .collect::<Result<Vec<_>>>()?;
    let subscriber = Subscriber::new(&site)?;
    let n_wanted = if effort.long { READS.1 } else { READS.0 };
    let (tally, before) = (Tally::default(), site.replica_reads()?);
    let mut round = 0;
    while tally.n_reads.load(Relaxed) < n_wanted {
        round += 1;
        let start = Barrier::new(CLIENTS + 1);
        thread::scope(|scope| {
            let (site, tally, start) = (&site, &tally, &start);
            let mut all: Vec<_> =
                clients.iter().map(|client| scope.spawn(move || client.round(site, round, start, tally))).collect();
            all.push(scope.spawn(|| subscriber.round(site, round, start, tally)));
            all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| anyhow::bail!("a client panicked")))
        })?;
    }
    let n_from_replica = site.replica_reads()?.saturating_sub(before);
    let mut violations = tally.wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    if n_from_replica == 0 {
        violations.push("the replica answered nothing".to_owned());
    }
    say(&format!(
        "{} own reads after {} writes, {} reads with revoked rights; the replica ran {n_from_replica} statements",
        tally.n_reads.load(Relaxed),
        round * CLIENTS,
        tally.n_rights.load(Relaxed)
    ))?;
    Ok(vec![Report {
        case: format!("own-reads {}", kind.name()),
        attempts: tally.n_reads.load(Relaxed) + tally.n_rights.load(Relaxed),
        lost: tally.n_lost.into_inner(),
        violations,
        ..Report::default()
    }])
}

/// The title of a client's post after this many rounds.
fn title(client: usize, round: usize) -> String {
    format!("own {client} {round}")
}

impl Client {
    /// Changes the post, and reads it for a while.
    fn round(&self, site: &Site, round: usize, start: &Barrier, tally: &Tally) -> Result<()> {
        let (post, expected) = (self.post, title(self.number, round));
        let views = [
            Call::api("GET", &format!("posts/{post}&_fields=title")),
            Call::api("GET", &format!("posts&include={post}&_fields=title")),
            Call::api("GET", &format!("posts/{post}&context=edit")),
        ];
        start.wait();
        let begun = Instant::now();
        let written =
            site.send_to(self.number + round, &Call::post(&format!("posts/{post}"), &json!({"title": expected})))?;
        ensure!(written.status == 200, "not written: {} {:.300}", written.status, written.body);
        for (n, view) in views.iter().cycle().enumerate() {
            if begun.elapsed() > ROUND {
                break;
            }
            let read = site.send_to(n + round, view)?;
            tally.n_reads.fetch_add(1, Relaxed);
            if read.status != 200 || !read.body.contains(&format!("\"{expected}\"")) {
                let after = begun.elapsed().as_millis();
                tally.lose(format!("{expected} after {after} ms: {} {:.200}", read.status, read.body));
            }
        }
        Ok(())
    }
}

impl Subscriber {
    fn new(site: &Site) -> Result<Self> {
        let (credentials, _) = new_user(site, "sub")?;
        Ok(Subscriber { credentials, post: site.new_published("seen by subscribers")? })
    }

    /// Hides the post from subscribers, revokes a password, and tries to use both at once and for a while; then shows the post again.
    fn round(&self, site: &Site, round: usize, start: &Barrier, tally: &Tally) -> Result<()> {
        let item = format!("posts/{}", self.post);
        let set = |status: &str| site.done(&Call::post(&item, &json!({"status": status})));
        // Failed log-ins count against the user and the address.
        let (credentials, password) = new_user(site, &format!("revoked{round}"))?;
        let address = ("X-Forwarded-For", format!("10.78.{}.{}", round / 250, round % 250));
        let revoked = Call::api("GET", "users/me").by(&credentials).header(address.0, address.1);
        let read = Call::api("GET", &item).by(&self.credentials);
        for server in 0..2 {
            ensure!(site.send_to(server, &revoked)?.status == 200, "a new password is refused");
            ensure!(site.send_to(server, &read)?.status == 200, "a published post is refused");
        }
        start.wait();
        let begun = Instant::now();
        set("private")?;
        site.done(&Call::api("DELETE", &password))?;
        let mut server = 0;
        while begun.elapsed() < ROUND {
            server += 1;
            for (call, what, refused) in
                [(&read, "a hidden post", [403, 403]), (&revoked, "a revoked password", [401, 429])]
            {
                let response = site.send_to(server, call)?;
                tally.n_rights.fetch_add(1, Relaxed);
                if !refused.contains(&response.status) {
                    let after = begun.elapsed().as_millis();
                    tally.lose(format!("{what} after {after} ms: {} {:.200}", response.status, response.body));
                }
            }
        }
        set("publish").map(drop)
    }
}

/// Creates a subscriber with an application password. Returns the credentials, and the route of the password.
fn new_user(site: &Site, name: &str) -> Result<(String, String)> {
    let user = json!({
        "username": name,
        "email": format!("{name}@example.org"),
        "password": "a long password of a subscriber",
        "roles": ["subscriber"],
    });
    let id = site.done(&Call::post("users", &user))?["id"].as_i64().context("the user has no id")?;
    let passwords = format!("users/{id}/application-passwords");
    let made = site.done(&Call::post(&passwords, &json!({"name": "reads"})))?;
    let text = |field: &str| made[field].as_str().with_context(|| format!("the password has no {field}"));
    Ok((format!("{name}:{}", text("password")?), format!("{passwords}/{}", text("uuid")?)))
}
