//! `cargo xtask live-policies`: a plugin of a running WordPress site decides by one rule after another, each with a hook of its own, who may log in,
//! what callers may do and see, and what responses contain.
//!
//! Before and after each change of the rule, and of the rows that it looks at, callers without credentials, with invalid ones, and of five roles with
//! cookies and application passwords read and write through a gateway, and directly: all responses must be the same.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::scope,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask_support::{
    gateway::{Gateway, is_forwarded},
    say,
    server::{Response, basic, exchange, send},
};

use crate::{
    differences::difference,
    site::{self, Plugin},
    users::{PASSWORD, create, log_in},
};

/// The plugin with the rules.
const CODE: &str = include_str!("policies.php");
const PLUGIN: &str = "svc-policies.php";

/// Roles of users who are created, besides the administrator.
const ROLES: [&str; 4] = ["subscriber", "contributor", "author", "editor"];

/// Callers at the same time.
const THREADS: usize = 4;

/// Differences that are printed for each rule.
const SHOWN: usize = 5;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    site: site::Arguments,
    /// Rules (default: all).
    #[arg(value_name = "RULE")]
    names: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let Some(gateway) = options.site.start("")? else { return Ok(()) };
    let plugin = Plugin::install(&options.site.site, PLUGIN, CODE)?;
    let site = Site::new(&gateway, plugin)?;
    let rules = site.change(&State::NONE)?;
    let rules: Vec<&str> = rules.split(' ').collect();
    let unknown: Vec<&String> = options.names.iter().filter(|name| !rules.contains(&name.as_str())).collect();
    ensure!(unknown.is_empty(), "unknown rules: {unknown:?}");
    let outcome = site
        .check(rules.into_iter().filter(|rule| options.names.is_empty() || options.names.iter().any(|n| n == rule)));
    site.change(&State::NONE)?;
    let n_failed = outcome?;
    ensure!(n_failed == 0, "{n_failed} differences, or rules that change nothing");
    Ok(())
}

/// A rule and the rows that it looks at.
struct State<'a> {
    /// Empty for none.
    rule: &'a str,
    /// Who is refused: on the second level, editors and authors as well.
    level: u8,
    /// Whether the subscriber is a member.
    has_member: bool,
    /// Which of two posts is for members.
    hidden: usize,
}

impl State<'static> {
    const NONE: Self = State { rule: "", level: 1, has_member: false, hidden: 0 };
}

/// Somebody who sends requests.
struct Caller {
    name: String,
    headers: Vec<(&'static str, String)>,
}

/// The site, and who reads what.
struct Site<'a> {
    gateway: &'a Gateway,
    plugin: Plugin,
    callers: Vec<Caller>,
    /// Posts of which one is for members.
    posts: [u64; 2],
    targets: Vec<String>,
}

/// What was compared.
#[derive(Default)]
struct Tally {
    /// Responses that equal WordPress's.
    equal: usize,
    /// How many of them were replayed.
    replayed: usize,
    /// Responses of which WordPress's own differ.
    varying: usize,
    failures: Vec<String>,
    /// What each caller gets for each request.
    results: BTreeMap<(String, String), String>,
}

impl<'a> Site<'a> {
    fn new(gateway: &'a Gateway, plugin: Plugin) -> Result<Self> {
        let posts =
            send(&gateway.site, "GET", "/wp-json/wp/v2/posts?per_page=2&_fields=id,link,title", "", None)?.json()?;
        let id = |post: usize| posts[post]["id"].as_u64().context("the site needs two posts");
        let title = posts[0]["title"]["rendered"].as_str().context("a post has no title")?;
        let word = title.split(|letter: char| !letter.is_ascii_alphanumeric()).find(|word| !word.is_empty());
        let word = word.context("the title of the newest post needs a word")?;
        let targets = [
            &format!("posts/{}", id(0)?),
            &format!("posts/{}", id(1)?),
            "posts",
            &format!("posts?search={word}"),
            &format!("search?search={word}&per_page=100"),
            "posts?per_page=5&_embed=1",
            "posts?context=embed",
            "posts?status=draft&context=edit",
            "pages",
            "users",
            "users/me",
        ];
        let mut targets: Vec<String> = targets.iter().map(|target| format!("/wp-json/wp/v2/{target}")).collect();
        let link = posts[0]["link"].as_str().context("a post has no link")?;
        // Its HTML has a random number.
        targets.push(format!("/wp-json/oembed/1.0/embed?url={}&_fields=title,author_name", link));
        Ok(Site { gateway, plugin, callers: callers(gateway)?, posts: [id(0)?, id(1)?], targets })
    }

    /// Checks the rules, one after the other. Returns the number of failures.
    fn check<'r>(&self, rules: impl Iterator<Item = &'r str>) -> Result<usize> {
        let without = self.compare(&State::NONE)?;
        let mut n_failed = report("(none)", &without)?;
        for rule in rules {
            let mut tally = Tally::default();
            let first = State { rule, ..State::NONE };
            let states = [
                State { level: 2, ..first },
                State { level: 2, has_member: true, ..first },
                State { hidden: 1, ..first },
            ];
            let mut changed = HashSet::new();
            for state in std::iter::once(first).chain(states) {
                let found = self.compare(&state)?;
                changed.extend(
                    found
                        .results
                        .iter()
                        .filter(|(what, result)| without.results.get(*what) != Some(result))
                        .map(|(what, _)| what.clone()),
                );
                tally.equal += found.equal;
                tally.replayed += found.replayed;
                tally.varying += found.varying;
                tally.failures.extend(found.failures);
            }
            if changed.is_empty() {
                tally.failures.push("no response is another one with this rule".to_owned());
            }
            n_failed += report(rule, &tally)?;
        }
        // And without the last rule.
        n_failed += report("(none)", &self.compare(&State::NONE)?)?;
        Ok(n_failed)
    }

    /// Makes a rule the one in use. Returns the names of all.
    fn change(&self, state: &State) -> Result<String> {
        let State { rule, level, has_member, hidden } = state;
        let policy = if rule.is_empty() { String::new() } else { format!("{rule}%20{level}") };
        let path = format!(
            "/?svc-policies={}&policy={policy}&member={}&hidden={}",
            self.plugin.token,
            u8::from(*has_member),
            self.posts[*hidden]
        );
        let response = exchange(&self.gateway.site, "GET", &path, &[], "")?;
        ensure!(
            response.status == 200 && response.body.contains("rest_authentication_errors"),
            "{:.200}",
            response.body
        );
        Ok(response.body)
    }

    /// Changes the rule and sends all requests to both.
    fn compare(&self, state: &State) -> Result<Tally> {
        self.change(state)?;
        let tally = Mutex::new(Tally::default());
        for is_read in [true, false] {
            let next = AtomicUsize::new(0);
            scope(|threads| {
                let work = || {
                    while let Some(caller) = self.callers.get(next.fetch_add(1, SeqCst)) {
                        if is_read { self.read(caller, state, &tally)? } else { self.write(caller, state, &tally)? }
                    }
                    anyhow::Ok(())
                };
                let threads: Vec<_> = (0..THREADS).map(|_| threads.spawn(work)).collect();
                threads
                    .into_iter()
                    .try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread has failed"))?)
            })?;
        }
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends each read to the gateway until it is replayed, and to WordPress.
    fn read(&self, caller: &Caller, state: &State, tally: &Mutex<Tally>) -> Result<()> {
        let get = |address: &str, target: &str| exchange(address, "GET", target, &caller.headers, "");
        for target in &self.targets {
            let first = get(self.gateway.address(), target)?;
            let theirs = get(&self.gateway.site, target)?;
            let again = get(self.gateway.address(), target)?;
            ensure!(
                theirs.status < 500,
                "WordPress fails with {state}: {target}: {} {:.200}",
                theirs.status,
                theirs.body
            );
            let mut found = [&first, &again].map(|ours| difference(&theirs, ours));
            let varies =
                found.iter().any(Option::is_some) && difference(&theirs, &get(&self.gateway.site, target)?).is_some();
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.results.insert(
                (caller.name.clone(), target.clone()),
                format!("{} {:?} {}", theirs.status, theirs.header("link"), theirs.body),
            );
            if varies {
                tally.varying += 1;
                continue;
            }
            for (ours, found) in [&first, &again].into_iter().zip(&mut found) {
                tally.replayed += usize::from(!is_forwarded(ours));
                match found.take() {
                    None => tally.equal += 1,
                    Some(what) => {
                        let status: Vec<&str> = ours.headers("cache-status").collect();
                        tally.failures.push(format!(
                            "{} GET {target} ({state}): {what} [{}]",
                            caller.name,
                            status.join(", ")
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Creates a post, and logs in, through the gateway and directly.
    fn write(&self, caller: &Caller, state: &State, tally: &Mutex<Tally>) -> Result<()> {
        let post = json!({"title": "Policy", "status": "draft"}).to_string();
        let form =
            format!("log=live-{}&pwd={PASSWORD}&testcookie=1", caller.name.split(' ').next().unwrap_or_default());
        let cookie = ("Cookie", "wordpress_test_cookie=WP+Cookie+check".to_owned());
        let kind = |kind: &str| ("Content-Type", kind.to_owned());
        let requests = [
            ("/wp-json/wp/v2/posts", [caller.headers.clone(), vec![kind("application/json")]].concat(), &post),
            ("/wp-login.php", vec![cookie, kind("application/x-www-form-urlencoded")], &form),
        ];
        for (target, headers, body) in requests {
            let sent = |address: &str| anyhow::Ok(outcome(&exchange(address, "POST", target, &headers, body)?));
            let (theirs, ours) = (sent(&self.gateway.site)?, sent(self.gateway.address())?);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            if theirs == ours {
                tally.equal += 1;
            } else {
                tally
                    .failures
                    .push(format!("{} POST {target} ({state}): {theirs} in WordPress, {ours} here", caller.name));
            }
            tally.results.insert((caller.name.clone(), format!("POST {target}")), theirs);
        }
        Ok(())
    }
}

impl std::fmt::Display for State<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let State { rule, level, has_member, hidden } = self;
        write!(f, "{rule} {level}, member: {has_member}, hidden: {hidden}")
    }
}

/// What has become of a write.
fn outcome(response: &Response) -> String {
    let body: Value = response.json().unwrap_or_default();
    let cookies = response.headers("set-cookie").filter(|cookie| cookie.starts_with("wordpress_logged_in")).count();
    format!("{} {} {} {cookies}", response.status, body["code"], body["title"]["raw"])
}

/// Visitors, some with invalid credentials, and users of five roles with application passwords and as logged in in `wp-admin`.
fn callers(gateway: &Gateway) -> Result<Vec<Caller>> {
    let caller = |name: &str, headers| Caller { name: name.to_owned(), headers };
    let authorization = |credentials: &str| vec![("Authorization", basic(credentials))];
    let mut callers = vec![
        caller("visitor", Vec::new()),
        caller("visitor with a user's name only", authorization("x")),
        caller("visitor with a wrong password", authorization("live-editor:wrong")),
        caller(
            "visitor with a cookie",
            vec![("Cookie", "a=b; wordpress_logged_in_0=live-editor%7C1%7Cx%7Cx".to_owned())],
        ),
        caller("administrator with a password", authorization(&gateway.credentials)),
    ];
    for role in ROLES {
        let user = format!("live-{role}");
        callers.push(caller(&format!("{role} with a password"), authorization(&create(gateway, &user, role)?)));
        callers.push(caller(&format!("{role} with a cookie"), log_in(gateway, &user)?));
    }
    let user = "live-administrator";
    create(gateway, user, "administrator")?;
    callers.push(caller("administrator with a cookie", log_in(gateway, user)?));
    Ok(callers)
}

fn report(name: &str, tally: &Tally) -> Result<usize> {
    for failure in tally.failures.iter().take(SHOWN) {
        say(&format!("    {failure}"))?;
    }
    let Tally { equal, replayed, varying, failures, .. } = tally;
    say(&format!(
        "{name:46} {equal:4} equal, {replayed:4} of them replayed, {} different, {varying} varying",
        failures.len()
    ))?;
    Ok(failures.len())
}
