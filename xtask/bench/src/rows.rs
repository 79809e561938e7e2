//! The rows of the table.

use std::{cell::Cell, time::Duration};

use anyhow::{Result, ensure};
use serde_json::json;
use xtask_support::server::{self, send};

use super::{
    EXTENSION, Options, bare,
    load::{Clients, Outcome, Request, Until},
    measure::{Comparison, Load, Row, Value, compare, median},
    resources::{self, Phases},
    site::{Site, Svc, WordPress},
};

/// Connections of each side, unless a row has its own number.
pub(super) const N_CLIENTS: usize = 8;

/// Connections that create the posts of a site. WordPress has few processes.
pub(super) const N_WRITERS: usize = 8;

/// How much longer a round of WordPress is.
const SLOWER: u32 = 3;

const MEGABYTE: f64 = 1_000_000.0;

/// A started site with posts.
fn filled(options: &Options) -> Result<(Svc, Vec<u64>)> {
    let svc = Svc::start(&options.program, None)?;
    let ids = svc.site.fill(N_WRITERS)?;
    Ok((svc, ids))
}

pub(super) fn load<'a>(svc: &'a Svc, request: &'a dyn Fn(u64) -> Request) -> Load<'a> {
    Load { clients: svc.site.clients(N_CLIENTS, request), server: Some(&svc.server) }
}

/// A request for a URL that was not requested before.
fn unique(site: &Site, path: &str) -> impl Fn(u64) -> Request {
    let path = site.path(path);
    let separator = if path.contains('?') { '&' } else { '?' };
    move |n| Request::get(format!("{path}{separator}n={n}"))
}

/// The same request each time.
pub(super) fn same(request: Request) -> impl Fn(u64) -> Request {
    move |_| request.clone()
}

/// A list of ten posts over a bare handler that returns the same bytes.
pub(super) fn http(options: &Options) -> Result<Vec<Row>> {
    let (svc, _) = filled(options)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("list.json");
    std::fs::write(&file, send(&svc.site.host, "GET", &svc.site.path("posts"), "", None)?.body)?;
    let bare = bare::start(&file)?;
    let host = bare.address().trim_start_matches("http://");
    let get = same(Request::get("/posts"));
    let clients = Clients { host, n_clients: N_CLIENTS, pause: Duration::ZERO, request: &get };
    let base = Load { clients, server: Some(&bare) };
    let cached = same(svc.site.get("posts"));
    let uncached = unique(&svc.site, "posts");
    let front = |_| Request::get("/");
    Ok(vec![
        Row::ratio("list of 10, cached, over bare axum", &compare(options, &load(&svc, &cached), &base, 1)?, Some(0.9)),
        Row::ratio(
            "list of 10, uncached, over bare axum",
            &compare(options, &load(&svc, &uncached), &base, 1)?,
            Some(0.5),
        ),
        Row::ratio(
            "front page for visitors, over bare axum",
            &compare(options, &load(&svc, &front), &base, 1)?,
            Some(0.5),
        ),
    ])
}

/// This build over another one: what a change costs.
pub(super) fn baseline(options: &Options) -> Result<Vec<Row>> {
    let Some(other) = &options.baseline else {
        return Ok(vec![Row::skipped("this build over another one", "needs --baseline PROGRAM")]);
    };
    let (ours, base) = (Svc::start(&options.program, None)?, Svc::start(other, None)?);
    let (our_ids, base_ids) = (ours.site.fill(N_WRITERS)?, base.site.fill(N_WRITERS)?);
    let (our_session, base_session) = (ours.session()?, base.session()?);
    let (of_ours, of_base) = ((&ours, &*our_ids, &*our_session), (&base, &*base_ids, &*base_session));
    KINDS
        .iter()
        .map(|(name, request)| {
            let to = |(svc, ids, session): Served<'_>, n| request(&svc.site, ids, session, n);
            let (to_ours, to_base) = (|n| to(of_ours, n), |n| to(of_base, n));
            let comparison = compare(options, &load(&ours, &to_ours), &load(&base, &to_base), 1)?;
            Ok(Row::ratio(format!("{name}, this build over another one"), &comparison, Some(0.97)))
        })
        .collect()
}

/// A server, the ids of its posts, and the headers of a logged-in browser.
type Served<'a> = (&'a Svc, &'a [u64], &'a str);

/// The n-th request of a kind, with the ids of posts and the headers of a logged-in browser.
pub(super) type Kind = fn(&Site, &[u64], &str, u64) -> Request;

/// The kinds of requests that are compared with those to another build. Those that write are last.
pub(super) const KINDS: [(&str, Kind); 16] = [
    ("list of 10, cached", |site, _, _, _| site.get("posts")),
    ("list of 10, uncached", |site, _, _, n| unique(site, "posts")(n)),
    ("_embed, uncached", |site, _, _, n| unique(site, "posts?_embed=1")(n)),
    ("100 posts, uncached", |site, _, _, n| unique(site, "posts?per_page=100")(n)),
    ("search, uncached", |site, _, _, n| unique(site, "posts?search=harbour")(n)),
    ("one post, uncached", |site, ids, _, n| unique(site, &format!("posts/{}", pick(ids, n)))(n)),
    ("list of 10, uncached, Basic", |site, _, _, n| Request {
        headers: site.basic.clone(),
        ..unique(site, "posts")(n)
    }),
    ("list of 10, uncached, cookie and nonce", |site, _, session, n| Request {
        headers: session.to_owned(),
        ..unique(site, "posts")(n)
    }),
    ("index", |site, _, _, _| Request::get(site.index())),
    ("OPTIONS", |site, _, _, _| Request { method: "OPTIONS", ..site.get("posts") }),
    ("front page for visitors", |_, _, _, _| Request::get("/")),
    ("search page for visitors", |_, _, _, n| Request::get(format!("/?s=harbour{n}"))),
    ("title of a post", |site, ids, _, n| {
        site.write(&format!("posts/{}", pick(ids, n)), &json!({"title": format!("Changed {n}")}))
    }),
    ("create a draft", |site, _, _, n| site.write("posts", &json!({"title": format!("Draft {n}")}))),
    ("create a tag", |site, _, _, n| site.write("tags", &json!({"name": format!("Tag {n}")}))),
    ("create a post, durable", |site, _, _, n| site.create(n)),
];

/// The n-th of these ids, again from the first after the last.
fn pick(ids: &[u64], n: u64) -> u64 {
    ids[n as usize % ids.len()]
}

/// The example with an extension over itself without it.
pub(super) fn extension(options: &Options) -> Result<Vec<Row>> {
    let program = server::build(Some(EXTENSION), true)?;
    let (with, without) = (Svc::start(&program, None)?, Svc::start(&program, None)?);
    with.site.fill(N_WRITERS)?;
    without.site.fill(N_WRITERS)?;
    with.activate_plugin()?;
    let list = send(&with.site.host, "GET", &with.site.path("posts"), "", None)?.json()?;
    ensure!(list[0]["reading_time"].is_number(), "the extension's field is missing");
    let row = |name: &str, ours: &dyn Fn(u64) -> Request, base: &dyn Fn(u64) -> Request| -> Result<Row> {
        let comparison = compare(options, &load(&with, ours), &load(&without, base), 1)?;
        Ok(Row::ratio(format!("list of 10, {name}, with a field and hooks over without"), &comparison, Some(0.8)))
    };
    Ok(vec![
        row("uncached", &unique(&with.site, "posts"), &unique(&without.site, "posts"))?,
        row("cached", &same(with.site.get("posts")), &same(without.site.get("posts")))?,
    ])
}

/// Logged-in callers over anonymous ones.
pub(super) fn callers(options: &Options) -> Result<Vec<Row>> {
    let (svc, _) = filled(options)?;
    let session = svc.session()?;
    let anonymous = unique(&svc.site, "posts");
    let row = |name: &str, headers: &str| -> Result<Row> {
        let request = |n| Request { headers: headers.to_owned(), ..anonymous(n) };
        let comparison = compare(options, &load(&svc, &request), &load(&svc, &anonymous), 1)?;
        Ok(Row::ratio(format!("list of 10, uncached, {name} over anonymous"), &comparison, Some(0.95)))
    };
    Ok(vec![row("Basic", &svc.site.basic)?, row("cookie and nonce", &session)?])
}

/// 1,000 URLs: posts in four forms, and lists.
fn thousand(site: &Site, ids: &[u64]) -> Vec<String> {
    let forms = ["", "?_fields=id,title,link", "?_embed=1", "?context=embed"];
    let posts = ids.iter().flat_map(|id| forms.map(|form| site.path(&format!("posts/{id}{form}"))));
    let lists = (0..200).map(|offset| site.path(&format!("posts?per_page=5&offset={offset}")));
    posts.take(800).chain(lists).collect()
}

/// Reads of 1,000 URLs while posts are written, over the same without writes.
pub(super) fn writes(options: &Options) -> Result<Vec<Row>> {
    let (svc, ids) = filled(options)?;
    let urls = thousand(&svc.site, &ids);
    let read = |n: u64| Request::get(urls[n as usize % urls.len()].clone());
    let n_written = Cell::new(0_usize);
    let write = |n: u64| {
        n_written.set(n_written.get() + 1);
        match n_written.get() % 2 {
            0 => svc.site.create(n),
            _ => {
                let id = pick(&ids, n);
                svc.site.write(&format!("posts/{id}"), &json!({"title": format!("Changed {n}")}))
            }
        }
    };
    let readers = svc.site.clients(N_CLIENTS, &read);
    let writer = Clients { n_clients: 1, pause: Duration::from_millis(100), ..svc.site.clients(1, &write) };
    let duration = options.round * 10;
    let (mut ratios, mut rates) = (Vec::new(), [Vec::new(), Vec::new()]);
    for round in 0..=options.n_rounds.div_ceil(4) {
        let quiet = readers.run(Until::Elapsed(duration))?;
        let written = both(&readers, &writer, duration)?.0;
        if round > 0 {
            ratios.push(written.per_second() / quiet.per_second());
            rates[0].push(written.per_second());
            rates[1].push(quiet.per_second());
        }
    }
    let [with, without] = rates.map(median);
    let detail = format!("{with:.0}/s over {without:.0}/s");
    Ok(vec![Row::new(
        "1,000 URLs, 10 writes per second, over no writes",
        Value::Ratio(median(ratios), Some(0.9)),
        detail,
    )])
}

/// Runs two kinds of clients at once.
fn both(first: &Clients<'_>, second: &Clients<'_>, duration: Duration) -> Result<(Outcome, Outcome)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let until = Until::Elapsed(duration);
    runtime.block_on(async { tokio::try_join!(first.send(until), second.send(until)) })
}

/// The slowest light request while others search.
pub(super) fn light(options: &Options) -> Result<Vec<Row>> {
    let (svc, ids) = filled(options)?;
    let expensive = unique(&svc.site, "posts?search=a&per_page=100&_embed=1");
    let read = |n: u64| svc.site.get(&format!("posts/{}?n={n}", pick(&ids, n)));
    let heavy = svc.site.clients(30, &expensive);
    let client = Clients { n_clients: 1, pause: Duration::from_millis(20), ..svc.site.clients(1, &read) };
    let (heavy, client) = both(&heavy, &client, Duration::from_secs(5))?;
    ensure!(client.n_failed == 0, "{} light requests failed", client.n_failed);
    let slowest = client.slowest.as_secs_f64() * 1_000.0;
    let detail = format!("of {} requests, next to {} searches", client.n_requests, heavy.n_requests);
    Ok(vec![Row::new("slowest light request while 30 expensive ones run", Value::Most(slowest, 100.0, "ms"), detail)])
}

/// Memory and threads.
pub(super) fn memory(options: &Options) -> Result<Vec<Row>> {
    let phases = Phases { mixed: 64, burst: 400, n_requests: 12_000, pause: Duration::from_secs(10) };
    let measured = resources::measure(&options.program, &phases)?;
    let detail = format!("{} requests, {} failed", measured.n_requests, measured.n_failed);
    let row = |name: &str, bytes: u64, target| {
        Row::new(format!("memory: {name}"), Value::Most(bytes as f64 / MEGABYTE, target, "MB"), "")
    };
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let threads = Value::Most(measured.most_threads as f64, n_cores * 4.0 + 16.0, "");
    Ok(vec![
        row("at start", measured.at_start, 40.0),
        row("64 connections, all kinds of requests", measured.mixed, 150.0),
        row("after 400 clients, idle for 10 s", measured.after_burst, 150.0),
        Row::new("threads", threads, detail),
    ])
}

/// The WordPress of the options; a row that says why there is none.
pub(super) fn find(options: &Options) -> Result<Result<WordPress, Row>> {
    let wordpress = WordPress::find(&options.program, &options.wordpress)?;
    let none = || format!("no running WordPress site in {} (--wordpress DIR)", options.wordpress.display());
    Ok(wordpress.ok_or_else(|| Row::skipped("rows over WordPress", none())))
}

/// Requests over WordPress on the same machine.
pub(super) fn wordpress(options: &Options) -> Result<Vec<Row>> {
    let wordpress = match find(options)? {
        Ok(wordpress) => wordpress,
        Err(row) => return Ok(vec![row]),
    };
    let (svc, _) = filled(options)?;
    wordpress.site.fill(N_WRITERS)?;
    let over = |ours: &Load<'_>, theirs: &dyn Fn(u64) -> Request, n: usize| -> Result<Comparison> {
        let base = Load { clients: wordpress.site.clients(n, theirs), server: None };
        compare(options, ours, &base, SLOWER)
    };
    let mut rows = Vec::new();
    for (name, path, target) in [
        ("list of 10, uncached", "posts", None),
        ("_embed, uncached", "posts?_embed=1", Some(300.0)),
        ("100 posts, uncached", "posts?per_page=100", Some(300.0)),
        ("search, uncached", "posts?search=harbour", Some(300.0)),
    ] {
        let comparison = over(&load(&svc, &unique(&svc.site, path)), &unique(&wordpress.site, path), N_CLIENTS)?;
        rows.push(Row::ratio(format!("{name}, over WordPress"), &comparison, target));
    }
    let index = |site: &Site| same(Request::get(site.index()));
    let comparison = over(&load(&svc, &index(&svc.site)), &index(&wordpress.site), N_CLIENTS)?;
    rows.push(Row::ratio("index, over WordPress", &comparison, Some(600.0)));
    let options_of = |site: &Site| same(Request { method: "OPTIONS", ..site.get("posts") });
    let comparison = over(&load(&svc, &options_of(&svc.site)), &options_of(&wordpress.site), N_CLIENTS)?;
    rows.push(Row::ratio("OPTIONS, over WordPress", &comparison, Some(500.0)));
    // Last, since it adds posts.
    let (ours, theirs) = (|n| svc.site.create(n), |n| wordpress.site.create(n));
    let clients = Load { clients: svc.site.clients(64, &ours), server: Some(&svc.server) };
    rows.push(Row::ratio("create, 64 writers, over WordPress", &over(&clients, &theirs, 64)?, Some(50.0)));
    Ok(rows)
}

/// The database of the WordPress, served by svc.
pub(super) fn mariadb(options: &Options) -> Result<Vec<Row>> {
    let wordpress = match find(options)? {
        Ok(wordpress) => wordpress,
        Err(row) => return Ok(vec![row]),
    };
    let svc = &wordpress.svc;
    wordpress.site.fill(N_WRITERS)?;
    let (ours, theirs) = (unique(&svc.site, "posts"), unique(&wordpress.site, "posts"));
    let base = Load { clients: wordpress.site.clients(N_CLIENTS, &theirs), server: None };
    let uncached = compare(options, &load(svc, &ours), &base, SLOWER)?;
    let cached = same(svc.site.get("posts"));
    let with = |n| Load { clients: svc.site.clients(n, &cached), server: Some(&svc.server) };
    let clients = compare(options, &with(64), &with(4), 1)?;
    Ok(vec![
        Row::ratio("MariaDB: list of 10, uncached, over WordPress", &uncached, Some(100.0)),
        Row::ratio("MariaDB: cached, 64 clients over 4", &clients, Some(1.0)),
    ])
}
