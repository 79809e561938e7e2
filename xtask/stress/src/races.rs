//! `cargo xtask stress races`: eight parallel clients write related data. No acknowledged write may be lost or duplicated.
//!
//! The cases run on SQLite, on a MariaDB with one and with two servers, on one with snapshot isolation, and in the long
//! run on a Galera cluster with a server per node. A database that is not installed is skipped with a message.
//! `SVC_STRESS_SITES` (such as `sqlite,galera-3`) selects among them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask_support::{say, server::Response};

use crate::{
    report::{Effort, Report},
    site::{Call, DatabaseKind, META, PLUGINS, Site},
};

/// Number of parallel clients.
const CLIENTS: usize = 8;

/// Rounds per case in the short and in the long run.
const ROUNDS: (usize, usize) = (2, 8);

/// Reported wrong responses per case.
const QUOTED: usize = 3;

/// Totals of a case.
#[derive(Default)]
struct Tally {
    attempts: u64,
    lost: u64,
    violations: Vec<String>,
    n_wrong: usize,
}

/// One case: its name, and the function that runs one round.
type Case = (&'static str, fn(&Site, usize, &mut Tally) -> Result<()>);

const CASES: &[Case] = &[
    ("application passwords created", passwords_created),
    ("application passwords revoked", passwords_revoked),
    ("posts of the same title", same_title),
    ("tags of the same name", same_tag),
    ("users of the same name", same_user),
    ("posts made sticky", sticky),
    ("new widgets", widgets),
    ("different fields of one post", fields_of_a_post),
    ("different fields of one user", fields_of_a_user),
    ("plugins activated", plugins),
    ("single meta written for the first time", single_meta),
    ("log-ins of one user", log_ins),
    ("category deleted while it is used", category_deleted),
    ("one post deleted by all", one_post_deleted),
    ("one post changed with If-Match", one_post_changed),
    ("term counts", term_counts),
    ("comment counts", comment_counts),
];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let mut kinds = vec![DatabaseKind::Sqlite];
    for (servers, snapshot_isolation) in [(1, false), (2, false), (2, true)] {
        kinds.push(DatabaseKind::MariaDb { servers, snapshot_isolation });
    }
    let chosen = std::env::var("SVC_STRESS_SITES").unwrap_or_default();
    if effort.long || chosen.contains("galera") {
        kinds.push(DatabaseKind::Galera);
    }
    kinds.retain(|kind| chosen.is_empty() || chosen.split(',').any(|name| name == kind.name()));
    let rounds = if effort.long { ROUNDS.1 } else { ROUNDS.0 };
    let mut reports = Vec::new();
    for kind in kinds {
        let Some(site) = Site::start(&program, kind)? else {
            say(&format!("skipped: {} (its database or a required setting is not available)", kind.name()))?;
            continue;
        };
        for (name, round_of) in CASES {
            let mut tally = Tally::default();
            for round in 0..rounds {
                let done = round_of(&site, round, &mut tally);
                done.with_context(|| format!("{}: {name}, round {}", kind.name(), round + 1))?;
            }
            reports.push(tally.report(format!("races {}: {name}", kind.name())));
        }
    }
    Ok(reports)
}

impl Tally {
    /// Counts the responses of a race, and returns the successful ones. Server errors are violations.
    fn acknowledged<'a>(&mut self, responses: &'a [Response]) -> Vec<(usize, &'a Response)> {
        self.attempts += responses.len() as u64;
        for response in responses.iter().filter(|response| response.status >= 500) {
            self.wrong(&format!("{} {:.200}", response.status, response.body));
        }
        responses.iter().enumerate().filter(|(_, response)| succeeded(response)).collect()
    }

    /// [`Self::acknowledged`] for requests of which one succeeds; the others must get the same response as a later request.
    fn one_of<'a>(&mut self, responses: &'a [Response], afterwards: &Response) -> Vec<&'a Response> {
        self.attempts += responses.len() as u64;
        let code = |response: &Response| response.json().ok().and_then(|body| body["code"].as_str().map(str::to_owned));
        for response in responses.iter().filter(|response| !succeeded(response)) {
            if (response.status, code(response)) != (afterwards.status, code(afterwards)) {
                let expected = format!("{} {:?}", afterwards.status, code(afterwards).unwrap_or_default());
                self.wrong(&format!("{} {:.200} in place of {expected}", response.status, response.body));
            }
        }
        responses.iter().filter(|response| succeeded(response)).collect()
    }

    fn wrong(&mut self, what: &str) {
        self.n_wrong += 1;
        if self.violations.len() < QUOTED {
            self.violations.push(what.to_owned());
        }
    }

    fn lose(&mut self, n: usize) {
        self.lost += n as u64;
    }

    fn report(mut self, case: String) -> Report {
        if self.n_wrong > 0 {
            self.violations.insert(0, format!("{} wrong responses", self.n_wrong));
        }
        Report {
            case,
            attempts: self.attempts,
            lost: self.lost,
            violations: self.violations,
            slowest: None,
            peak_memory: None,
        }
    }
}

fn succeeded(response: &Response) -> bool {
    (200..300).contains(&response.status)
}

/// One request for each client.
fn each(call: impl Fn(usize) -> Call) -> Vec<Call> {
    (0..CLIENTS).map(call).collect()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

fn number(response: &Response) -> Result<i64> {
    response.json()?["id"].as_i64().context("the response has no id")
}

fn list(ids: &[i64]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

const OWN_PASSWORDS: &str = "users/me/application-passwords";

fn passwords_created(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let responses =
        site.at_once(&each(|n| Call::post(OWN_PASSWORDS, &json!({"name": format!("made {round} {n}")}))))?;
    let listed = site.done(&Call::api("GET", OWN_PASSWORDS))?;
    let listed: BTreeSet<String> =
        listed.as_array().into_iter().flatten().map(|password| text(password, "uuid")).collect();
    for (_, response) in tally.acknowledged(&responses) {
        tally.lose(usize::from(!listed.contains(&text(&response.json()?, "uuid"))));
    }
    Ok(())
}

fn passwords_revoked(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let mut made = Vec::new();
    for n in 0..CLIENTS {
        let password = site.done(&Call::post(OWN_PASSWORDS, &json!({"name": format!("revoked {round} {n}")})))?;
        made.push((text(&password, "uuid"), format!("admin:{}", text(&password, "password"))));
    }
    // Half of the passwords are revoked; the others are used, which stores the time of use, and new ones are created.
    let responses = site.at_once(&each(|n| match made.get(n) {
        Some((uuid, _)) if n < CLIENTS / 2 => Call::api("DELETE", &format!("{OWN_PASSWORDS}/{uuid}")),
        Some((_, credentials)) if n.is_multiple_of(2) => Call::api("GET", "users/me").by(credentials),
        _ => Call::post(OWN_PASSWORDS, &json!({"name": format!("meanwhile {round} {n}")})),
    }))?;
    for (n, _) in tally.acknowledged(&responses) {
        let Some((_, credentials)) = made.get(n).filter(|_| n < CLIENTS / 2) else { continue };
        // A separate address, because wrong passwords are limited per address.
        let call = Call::api("GET", "users/me").by(credentials);
        let again = site.send(&call.header("X-Forwarded-For", format!("10.78.{round}.{n}")))?;
        tally.lose(usize::from(again.status != 401));
    }
    Ok(())
}

fn same_title(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let post = json!({"title": format!("The same {round}"), "content": "A race.", "status": "publish"});
    let responses = site.at_once(&each(|_| Call::post("posts", &post)))?;
    let ids =
        tally.acknowledged(&responses).into_iter().map(|(_, response)| number(response)).collect::<Result<Vec<_>>>()?;
    let slugs = site.column(&format!("SELECT post_name FROM wp_posts WHERE ID IN ({})", list(&ids)))?;
    tally.lose(ids.len() - slugs.iter().collect::<BTreeSet<_>>().len());
    Ok(())
}

fn same_tag(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let name = format!("Tag {round}");
    let call = || Call::post("tags", &json!({"name": name}));
    let responses = site.at_once(&each(|_| call()))?;
    let won = tally.one_of(&responses, &site.send(&call())?).len();
    let rows = site.column("SELECT name FROM wp_terms")?.iter().filter(|stored| **stored == name).count();
    tally.lose(won.max(rows).saturating_sub(1));
    Ok(())
}

fn same_user(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let login = format!("same{round}");
    let call = |n: usize| {
        let email = format!("same{round}x{n}@example.org");
        Call::post("users", &json!({"username": login, "email": email, "password": "a long pass phrase"}))
    };
    let responses = site.at_once(&each(call))?;
    let won = tally.one_of(&responses, &site.send(&call(CLIENTS))?).len();
    let rows = site.column("SELECT user_login FROM wp_users")?.iter().filter(|stored| **stored == login).count();
    tally.lose(won.max(rows).saturating_sub(1));
    Ok(())
}

fn sticky(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let posts = (0..CLIENTS).map(|n| site.new_published(&format!("Sticky {round} {n}"))).collect::<Result<Vec<_>>>()?;
    let route = |n: usize| format!("posts/{}", posts.get(n).copied().unwrap_or_default());
    let responses = site.at_once(&each(|n| Call::post(&route(n), &json!({"sticky": true}))))?;
    for (n, _) in tally.acknowledged(&responses) {
        let post = site.done(&Call::api("GET", &format!("{}&context=edit", route(n))))?;
        tally.lose(usize::from(post["sticky"] != json!(true)));
    }
    Ok(())
}

fn widgets(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let title = |n: usize| format!("Widget {round} {n}");
    let responses = site.at_once(&each(|n| {
        let instance = json!({"raw": {"title": title(n), "text": "A race."}});
        Call::post("widgets", &json!({"id_base": "text", "sidebar": "wp_inactive_widgets", "instance": instance}))
    }))?;
    for (n, response) in tally.acknowledged(&responses) {
        let route = format!("widgets/{}&context=edit", text(&response.json()?, "id"));
        let stored = site.send(&Call::api("GET", &route))?;
        let is_own = succeeded(&stored) && stored.json()?["instance"]["raw"]["title"] == json!(title(n));
        tally.lose(usize::from(!is_own));
    }
    Ok(())
}

/// Writes a different field from each client, and counts fields with another value afterwards.
fn fields(site: &Site, route: &str, wanted: &[(&str, Value)], tally: &mut Tally) -> Result<()> {
    let calls: Vec<Call> = wanted.iter().map(|(field, value)| Call::post(route, &json!({(*field): value}))).collect();
    let responses = site.at_once(&calls)?;
    let stored = site.done(&Call::api("GET", &format!("{route}&context=edit")))?;
    for (n, _) in tally.acknowledged(&responses) {
        let Some((field, value)) = wanted.get(n) else { continue };
        let found = &stored[*field];
        let found = if found["raw"].is_string() { &found["raw"] } else { found };
        tally.lose(usize::from(found != value));
    }
    Ok(())
}

fn fields_of_a_post(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let id = site.new_published(&format!("Fields {round}"))?;
    let wanted = [
        ("title", json!("Another title")),
        ("content", json!("Another content")),
        ("excerpt", json!("Another excerpt")),
        ("slug", json!(format!("another-slug-{round}"))),
        ("comment_status", json!("closed")),
        ("ping_status", json!("closed")),
        ("date", json!(format!("2020-02-0{}T03:04:05", 1 + round % 9))),
        ("format", json!("aside")),
    ];
    fields(site, &format!("posts/{id}"), &wanted, tally)
}

fn fields_of_a_user(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let user = json!({"username": format!("fields{round}"), "email": format!("fields{round}@example.org"), "password": "a long pass phrase"});
    let id = site.done(&Call::post("users", &user))?["id"].as_i64().context("the user has no id")?;
    let wanted = [
        ("first_name", json!("First")),
        ("last_name", json!("Last")),
        ("nickname", json!("Nick")),
        ("description", json!("Someone")),
        ("url", json!("https://example.org/someone")),
        ("name", json!("Shown")),
        ("email", json!(format!("other{round}@example.org"))),
        ("slug", json!(format!("other-{round}"))),
    ];
    fields(site, &format!("users/{id}"), &wanted, tally)
}

fn plugins(site: &Site, _round: usize, tally: &mut Tally) -> Result<()> {
    let set = |n: usize, status: &str| Call::post(&format!("plugins/p{n}/p"), &json!({"status": status}));
    for n in 0..PLUGINS {
        site.done(&set(n, "inactive"))?;
    }
    let responses = site.at_once(&each(|n| set(n % PLUGINS, "active")))?;
    let listed = site.done(&Call::api("GET", "plugins"))?;
    let status: BTreeMap<String, String> = listed
        .as_array()
        .into_iter()
        .flatten()
        .map(|plugin| (text(plugin, "plugin"), text(plugin, "status")))
        .collect();
    for (n, _) in tally.acknowledged(&responses) {
        let found = status.get(&format!("p{}/p", n % PLUGINS));
        tally.lose(usize::from(found.is_none_or(|status| status != "active")));
    }
    Ok(())
}

fn single_meta(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let id = site.new_published(&format!("Meta {round}"))?;
    let responses =
        site.at_once(&each(|n| Call::post(&format!("posts/{id}"), &json!({"meta": {META: format!("value {n}")}}))))?;
    let n_done = tally.acknowledged(&responses).len();
    let rows =
        site.column(&format!("SELECT meta_value FROM wp_postmeta WHERE post_id = {id} AND meta_key = '{META}'"))?;
    tally.lose(rows.len().abs_diff(n_done.min(1)));
    Ok(())
}

fn log_ins(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let login = format!("visitor{round}");
    let user = json!({"username": login, "email": format!("{login}@example.org"), "password": "correct-horse"});
    site.done(&Call::post("users", &user))?;
    let responses = site.at_once(&each(|n| {
        let form = Call::form("/wp-login.php", &[("log", &login), ("pwd", "correct-horse")]);
        form.header("X-Forwarded-For", format!("10.79.{round}.{n}"))
    }))?;
    tally.acknowledged(&responses);
    for response in &responses {
        let cookies: Vec<&str> = response.headers("set-cookie").filter_map(|cookie| cookie.split(';').next()).collect();
        if response.status != 302 || !cookies.iter().any(|cookie| cookie.contains("logged_in")) {
            tally.wrong(&format!("the login was rejected: {}", response.status));
            continue;
        }
        let page = site.send(&Call::page("/wp-admin/profile.php").header("Cookie", cookies.join("; ")))?;
        tally.lose(usize::from(page.status != 200));
    }
    Ok(())
}

fn category_deleted(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let orphans = || {
        let sql = "SELECT r.object_id FROM wp_term_relationships r LEFT JOIN wp_term_taxonomy t \
                   ON t.term_taxonomy_id = r.term_taxonomy_id WHERE t.term_taxonomy_id IS NULL";
        anyhow::Ok(site.column(sql)?.len())
    };
    let category = site.done(&Call::post("categories", &json!({"name": format!("Deleted {round}")})))?;
    let id = category["id"].as_i64().context("the category has no id")?;
    let before = orphans()?;
    let responses = site.at_once(&each(|n| match n {
        0 => Call::api("DELETE", &format!("categories/{id}&force=true")),
        n => {
            let post = json!({"title": format!("In it {round} {n}"), "status": "publish", "categories": [id]});
            Call::post("posts", &post)
        }
    }))?;
    tally.acknowledged(&responses);
    tally.lose(orphans()?.saturating_sub(before));
    Ok(())
}

fn one_post_deleted(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let id = site.new_published(&format!("Deleted by all {round}"))?;
    let call = || Call::api("DELETE", &format!("posts/{id}&force=true"));
    let responses = site.at_once(&each(|_| call()))?;
    let won = tally.one_of(&responses, &site.send(&call())?).len();
    if won == 0 {
        tally.wrong("no client deleted the post");
    }
    tally.lose(won.saturating_sub(1));
    Ok(())
}

fn one_post_changed(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let id = site.new_published(&format!("Changed by one {round}"))?;
    let route = format!("posts/{id}");
    let read = site.send(&Call::api("GET", &route))?;
    let tag = read.header("etag").context("the post has no ETag")?.to_owned();
    let change =
        |client: usize| Call::post(&route, &json!({"title": format!("by {client}")})).header("If-Match", tag.clone());
    let responses = site.at_once(&each(change))?;
    let won = tally.one_of(&responses, &site.send(&change(CLIENTS))?).len();
    if won == 0 {
        tally.wrong("no client changed the post");
    }
    tally.lose(won.saturating_sub(1));
    Ok(())
}

fn term_counts(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let category = site.done(&Call::post("categories", &json!({"name": format!("Counted {round}")})))?;
    let id = category["id"].as_i64().context("the category has no id")?;
    let check = |tally: &mut Tally| -> Result<()> {
        let first = |sql: &str| -> Result<i64> {
            Ok(site.column(sql)?.first().and_then(|n| n.parse().ok()).unwrap_or_default())
        };
        let counted = first(&format!("SELECT count FROM wp_term_taxonomy WHERE term_id = {id}"))?;
        let found = first(&format!(
            "SELECT COUNT(*) FROM wp_term_relationships r JOIN wp_term_taxonomy t \
             ON t.term_taxonomy_id = r.term_taxonomy_id JOIN wp_posts p ON p.ID = r.object_id \
             WHERE t.term_id = {id} AND p.post_status = 'publish'"
        ))?;
        tally.lose(usize::try_from(counted.abs_diff(found))?);
        Ok(())
    };
    let post = |n: usize| json!({"title": format!("Counted {round} {n}"), "status": "publish", "categories": [id]});
    let responses = site.at_once(&each(|n| Call::post("posts", &post(n))))?;
    let ids =
        tally.acknowledged(&responses).into_iter().map(|(_, response)| number(response)).collect::<Result<Vec<_>>>()?;
    check(tally)?;
    // Half of the posts are deleted while others are created.
    let responses = site.at_once(&each(|n| match ids.get(n) {
        Some(id) if n.is_multiple_of(2) => Call::api("DELETE", &format!("posts/{id}&force=true")),
        _ => Call::post("posts", &post(CLIENTS + n)),
    }))?;
    tally.acknowledged(&responses);
    check(tally)
}

fn comment_counts(site: &Site, round: usize, tally: &mut Tally) -> Result<()> {
    let id = site.new_published(&format!("Commented {round}"))?;
    let responses = site.at_once(&each(|n| {
        Call::post("comments", &json!({"post": id, "content": format!("Comment {round} {n}"), "status": "approved"}))
    }))?;
    let n_done = tally.acknowledged(&responses).len();
    let counted = site.column(&format!("SELECT comment_count FROM wp_posts WHERE ID = {id}"))?;
    let counted: usize = counted.first().and_then(|n| n.parse().ok()).unwrap_or_default();
    let rows = site.column(&format!("SELECT comment_ID FROM wp_comments WHERE comment_post_ID = {id}"))?.len();
    tally.lose(counted.abs_diff(rows) + n_done.saturating_sub(rows));
    Ok(())
}
