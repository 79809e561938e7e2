//! The bridge: replays stored responses, and lets WordPress respond to everything else.

use std::{
    io,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use arc_swap::ArcSwapOption;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, request::Parts};
use http_body_util::BodyExt as _;
use quick_cache::{Weighter, sync::Cache};
use svc_gateway::{Body, ErrorFormat, Origin, Proxy};
use svc_versions::{Flight, Flights, Leader};
use tokio::sync::Semaphore;

use crate::{
    code::{Code, CodeFiles},
    feed::Feed,
    key::{self, Key, Keys},
    lookup::Lookup,
    names::Name,
    persisted::{self, Saved},
    reads::{Found, Reads},
    record::Recorder,
    render::{Rendered, Renderer, Whole},
    report::Report,
    routes::{Route, Routes, name_of},
    settings::{Settings, Target},
    stored::{self, Answer, Ended, Stored},
};

/// Says whether a response was replayed (RFC 9211).
pub const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// How long further rows of joins are looked up for a response.
const LOOKUP_TIME: Duration = Duration::from_millis(500);

/// Comparisons and renewals in the background at the same time. Each occupies a process of PHP.
const BACKGROUND: usize = 2;

/// Expected size of a stored response, in bytes.
const USUAL_SIZE: u64 = 8_192;

/// Time for which a request waits for another one with the same key that is being rendered, and how often: the first one may have begun too early to be for
/// both.
const WAIT: Duration = Duration::from_secs(10);
const WAITS: usize = 2;

/// What has changed if not a part of the database: the site's PHP files.
const CODE: &str = "code";

/// A bridge to one WordPress. Cheap to clone.
#[derive(Clone)]
pub struct Bridge(Arc<Inner>);

struct Inner {
    settings: Settings,
    renderer: Renderer,
    keys: Keys,
    feed: ArcSwapOption<Box<dyn Feed>>,
    store: Cache<Key, Arc<Stored>, Size>,
    /// Renderings in progress. Further requests with the same key wait for the end.
    flights: Flights<Key, Arc<Shared>>,
    routes: Routes,
    background: Arc<Semaphore>,
    /// Whether a response could not be stored because of an object cache: the news must have the ends of writes.
    needs_ends: AtomicBool,
    /// Where rows of joins are looked up.
    lookup: OnceLock<Arc<Lookup>>,
    code: Arc<CodeFiles>,
}

/// A response for all requests with its key that had begun before it was rendered, even if it cannot be stored because of a write meanwhile.
struct Shared {
    answer: Answer,
    /// When its rendering began.
    from: Instant,
    /// Hash of what the key leaves out.
    left_out: u64,
}

/// Why a response is not stored.
enum NotStored {
    /// What it has read was written while it was rendered.
    Written(String),
    /// Something else, which also keeps it from others that ask for the same.
    Forbidden(String),
}

impl NotStored {
    fn reason(self) -> String {
        match self {
            NotStored::Written(reason) | NotStored::Forbidden(reason) => reason,
        }
    }
}

impl From<String> for NotStored {
    fn from(reason: String) -> Self {
        NotStored::Forbidden(reason)
    }
}

impl From<&str> for NotStored {
    fn from(reason: &str) -> Self {
        NotStored::Forbidden(reason.to_owned())
    }
}

#[derive(Clone)]
struct Size;

impl Weighter<Key, Arc<Stored>> for Size {
    fn weight(&self, _: &Key, stored: &Arc<Stored>) -> u64 {
        stored.size() + size_of::<Key>() as u64
    }
}

/// Why WordPress responds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// Its response would not be stored.
    Bypass(&'static str),
    /// It was not asked before, or the response was evicted.
    Unknown,
    /// A table has changed.
    Changed(String),
    /// The stored response is too old.
    Age,
    /// The route was not compared for another client yet.
    OtherClient,
    /// The news cannot be read.
    News,
}

impl Why {
    /// The reason, for people.
    fn describe(&self) -> String {
        match self {
            Why::Bypass(why) => format!("not stored: {why}"),
            Why::Unknown => "not asked before".to_owned(),
            Why::Changed(table) if table == "*" => "changed: anything".to_owned(),
            Why::Changed(table) => format!("changed: {table}"),
            Why::Age => "age".to_owned(),
            Why::OtherClient => "first requests of other clients".to_owned(),
            Why::News => "the news of writes cannot be read".to_owned(),
        }
    }

    /// The parameter of `Cache-Status`.
    fn status(&self) -> &'static str {
        match self {
            Why::Bypass(_) | Why::News => "svc; fwd=bypass",
            Why::Unknown => "svc; fwd=uri-miss",
            Why::Changed(_) | Why::Age => "svc; fwd=stale",
            Why::OtherClient => "svc; fwd=vary-miss",
        }
    }
}

impl Bridge {
    /// A bridge to the WordPress behind a proxy. `recorder` asks the connector for records; without it, only responses to visitors are
    /// stored, and each write ends all of them. `secret` is random: credentials are in keys only as a hash with it.
    pub fn new(settings: Settings, proxy: Proxy, recorder: Option<Recorder>, secret: &[u8]) -> Self {
        let renderer = Renderer { proxy, recorder, max_body: settings.max_body };
        let items = usize::try_from(settings.memory / USUAL_SIZE).unwrap_or(usize::MAX).max(16);
        Bridge(Arc::new(Inner {
            store: Cache::with_weighter(items, settings.memory, Size),
            settings,
            renderer,
            keys: Keys::new(secret),
            feed: ArcSwapOption::empty(),
            flights: Flights::default(),
            routes: Routes::default(),
            background: Arc::new(Semaphore::new(BACKGROUND)),
            needs_ends: AtomicBool::new(false),
            lookup: OnceLock::new(),
            code: Arc::default(),
        }))
    }

    /// Uses this database to find out which rows a join has read. Otherwise these are all rows of the table.
    pub fn set_database(&self, database: mysql::Opts) {
        // The first one stays.
        self.0.lookup.get_or_init(|| Arc::new(Lookup::new(database)));
    }

    /// Uses these news of writes from now on. Without news, nothing is stored or replayed.
    pub fn set_feed(&self, feed: Option<Box<dyn Feed>>) {
        self.0.feed.store(feed.map(Arc::new));
        // Positions of another feed mean nothing.
        self.0.store.clear();
    }

    /// Writes visitors' responses to a file, for [`read`](Self::read) of the next process, and returns their number. Blocks.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, file: &Path) -> io::Result<usize> {
        let feed = self.0.feed.load();
        // Read first: what is found valid below is valid here or later.
        let Some(from) = feed.as_ref().and_then(|feed| feed.resume_point()) else { return Ok(0) };
        let current = self.0.store.iter().filter(|(_, stored)| self.0.code.are_of(stored.at));
        persisted::write(file, &self.0.settings, from, current)
    }

    /// Reads, and removes, the file of a previous process. Blocks.
    pub(crate) fn read(&self, file: &Path) -> Option<Saved> {
        persisted::read(file, &self.0.settings)
    }

    /// Stores responses of a previous process, as far as the news continue where it has stopped. Returns their number.
    pub(crate) fn restore(&self, saved: Saved) -> usize {
        let feed = self.0.feed.load();
        let Some(feed) = &*feed else { return 0 };
        let Some(since) = feed.position_of(&saved.from) else { return 0 };
        let mut n = 0;
        for (key, stored) in saved.into_stored(feed.changes(), since) {
            if self.0.store.get(&key).is_none() {
                self.0.store.insert(key, Arc::new(stored));
                n += 1;
            }
        }
        n
    }

    /// What is used to learn of writes; `None` if nothing can be used yet.
    pub fn feed(&self) -> Option<String> {
        self.0.feed.load().as_ref().map(|feed| feed.describe())
    }

    /// Watches the site's PHP files from now on: what was rendered before one of them changes is not replayed. Returns when one last changed; `None` if
    /// they are watched already. Blocks.
    ///
    /// # Errors
    /// If they cannot be watched: then a response is replayed up to its age whatever changes in them.
    pub fn watch_code(&self, code: Code) -> Result<Option<SystemTime>, String> {
        let last_change = self.0.code.watch(code)?;
        if last_change.is_some() && !self.0.store.is_empty() {
            // Nobody watched while these were rendered, or before they were restored.
            self.0.code.changed();
        }
        Ok(last_change)
    }

    /// Whether the news must have the ends of writes, since WordPress has a persistent object cache.
    pub(crate) fn needs_ends(&self) -> bool {
        self.0.needs_ends.load(Ordering::Relaxed)
    }

    /// The proxy to WordPress.
    pub fn proxy(&self) -> &Proxy {
        &self.0.renderer.proxy
    }

    /// What was replayed and what was not, by route and reason.
    pub fn report(&self) -> Report {
        let (stored, bytes) = (self.0.store.len() as u64, self.0.store.weight());
        let report =
            Report { news: self.feed(), unseen_code: self.0.code.unseen(), stored, bytes, ..Report::default() };
        report.with_routes(&self.0.routes)
    }

    /// The response to a request.
    pub async fn respond(&self, request: Request<Body>, origin: Origin) -> Response<Body> {
        let is_head = request.method() == Method::HEAD;
        let response = self.respond_with_length(request, origin).await;
        if !is_head || response.headers().contains_key(http::header::CONTENT_LENGTH) {
            return response;
        }
        // The length of what GET returns is not known (RFC 9110, section 8.6): without this, it would be 0.
        response.map(|_| http_body_util::StreamBody::new(futures_util::stream::empty()).boxed_unsync())
    }

    async fn respond_with_length(&self, request: Request<Body>, origin: Origin) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        // WordPress does not get these, so the key must not have them.
        svc_gateway::remove_unforwarded(&mut parts.headers);
        let target = self.0.settings.target(&parts);
        let route = self.0.routes.get(&match &target {
            Target::Api(route) => name_of(route),
            Target::Page if self.0.settings.pages => name_of(parts.uri.path()),
            Target::Page => "(pages)".to_owned(),
            Target::Other => "(files and scripts)".to_owned(),
        });
        let asked = Asked { parts, origin, target, route };
        let has_body = !http_body::Body::is_end_stream(&body);
        let why = match self.refuses(&asked, has_body) {
            Some(why) => why,
            None => match self.replay_or_render(&asked).await {
                Ok(response) => return response,
                Err(why) => why,
            },
        };
        self.forward(asked, body, &why).await
    }

    /// Why the response to a request is neither stored nor replayed.
    fn refuses(&self, asked: &Asked, has_body: bool) -> Option<Why> {
        let Asked { parts, target, route, .. } = asked;
        let settings = &self.0.settings;
        let why = if !Settings::is_read(&parts.method) {
            Some("a write")
        } else if !key::is_plain_read(parts, has_body) {
            Some("a body, a range or another method")
        } else {
            settings.refuses(target).or_else(|| route.varies())
        };
        if let Some(why) = why {
            return Some(Why::Bypass(why));
        }
        let feed = self.0.feed.load();
        let Some(feed) = &*feed else { return Some(Why::News) };
        // Who the caller is, only WordPress decides: without a record, it is not known what that depended on.
        let needs_record = key::has_credentials(parts) && (self.0.renderer.recorder.is_none() || !feed.has_names());
        needs_record.then_some(Why::Bypass("credentials"))
    }

    /// Replays a stored response, or renders one and stores it.
    async fn replay_or_render(&self, asked: &Asked) -> Result<Response<Body>, Why> {
        let Some(feed) = self.0.feed.load_full() else { return Err(Why::News) };
        let key = self.0.keys.of(&asked.parts, asked.origin.tls);
        let left_out = key::left_out(&asked.parts, asked.origin.address);
        let (begun, mut waits) = (Instant::now(), 0);
        loop {
            let why = match self.find(&**feed, &key).await? {
                Ok(stored) if stored.left_out == left_out || asked.route.is_same_for_others() => {
                    self.in_background(&feed, asked, key, &stored);
                    asked.route.counts.replayed.fetch_add(1, Ordering::Relaxed);
                    let response = stored.replay(&asked.parts.method, &asked.parts.headers);
                    return Ok(with_status(response, "svc; hit"));
                }
                Ok(_) => Why::OtherClient,
                Err(why) => why,
            };
            if asked.route.is_rarely_stored() {
                return self.render(&**feed, asked, key, left_out, why, None).await;
            }
            match self.0.flights.join(key) {
                Flight::Lead(leader) => return self.render(&**feed, asked, key, left_out, why, Some(leader)).await,
                Flight::Follow(_) if waits == WAITS => {
                    return self.render(&**feed, asked, key, left_out, why, None).await;
                }
                Flight::Follow(other) => {
                    let shared = tokio::time::timeout(WAIT, other.outcome()).await.ok().flatten();
                    let is_for_this = |shared: &Shared| {
                        begun <= shared.from && (shared.left_out == left_out || asked.route.is_same_for_others())
                    };
                    match shared {
                        Some(shared) if is_for_this(&shared) => {
                            asked.route.counts.replayed.fetch_add(1, Ordering::Relaxed);
                            let response = shared.answer.respond(&asked.parts.method, &asked.parts.headers);
                            return Ok(with_status(response, &format!("{}; collapsed", why.status())));
                        }
                        Some(_) => waits += 1,
                        // It is for nobody else, or takes too long.
                        None => waits = WAITS,
                    }
                }
            }
        }
    }

    /// The stored response for a key, if it may be replayed.
    ///
    /// # Errors
    /// If the news cannot be read.
    async fn find(&self, feed: &dyn Feed, key: &Key) -> Result<Result<Arc<Stored>, Why>, Why> {
        // One that was rendered while the feed changed depends on the former one.
        let stored = self.0.store.get(key).filter(|stored| stored.dependencies.are_of(feed.changes()));
        let Some(stored) = stored else { return Ok(Err(Why::Unknown)) };
        feed.catch_up().await.map_err(|_| Why::News)?;
        if !self.0.code.are_of(stored.at) {
            return Ok(Err(Why::Changed(CODE.to_owned())));
        }
        Ok(match stored.check() {
            Ok(()) => Ok(stored),
            Err(Ended::Age) => Err(Why::Age),
            Err(Ended::Changed(table)) => Err(Why::Changed(table)),
        })
    }

    /// Renders a response, stores it if that is possible, and sends it.
    async fn render(
        &self,
        feed: &dyn Feed,
        asked: &Asked,
        key: Key,
        left_out: u64,
        why: Why,
        leader: Option<Leader<Key, Arc<Shared>>>,
    ) -> Result<Response<Body>, Why> {
        let start = Instant::now();
        let turn = match self.0.renderer.proxy.turn().await {
            Ok(turn) => turn,
            Err(failure) => {
                asked.route.forwarded(&why.describe(), start.elapsed());
                return Ok(failure.response(asked.format()));
            }
        };
        // Writes up to here are in the response.
        let from = Instant::now();
        let visible = feed.visible().await;
        let start = Instant::now();
        let rendered = self.0.renderer.render(&asked.parts, asked.origin, feed.changes(), turn).await;
        let took = start.elapsed();
        let mut whole = match rendered {
            Ok(Rendered::Whole(whole)) => whole,
            Ok(Rendered::Stream(response)) => {
                asked.route.forwarded("not stored: a stream, or too large", took);
                asked.route.not_stored();
                return Ok(with_status(*response, why.status()));
            }
            Err(failure) => {
                asked.route.forwarded(&why.describe(), took);
                return Ok(failure.response(asked.format()));
            }
        };
        if matches!(why, Why::Changed(_)) {
            self.compare_with_former(feed, asked, &key, left_out, &whole.answer).await;
        }
        if why == Why::OtherClient {
            self.compare_with_other(feed, asked, &key, &whole.answer).await;
        }
        let stored = match visible {
            Ok(since) => self.store(feed, asked, left_out, start, since, &mut whole).await,
            Err(unknown) => Err(NotStored::Forbidden(unknown.0)),
        };
        let is_for_others = matches!(stored, Ok(_) | Err(NotStored::Written(_)));
        let leader = leader.filter(|_| is_for_others).map(|leader| {
            let mut answer = whole.answer.clone();
            stored::prepare(&mut answer);
            (leader, Shared { answer, from, left_out })
        });
        let response = match stored {
            Ok(stored) => {
                asked.route.forwarded(&why.describe(), took);
                asked.route.stored();
                let stored = Arc::new(stored);
                self.0.store.insert(key, Arc::clone(&stored));
                let response = stored.replay(&asked.parts.method, &asked.parts.headers);
                with_status(response, &format!("{}; stored", why.status()))
            }
            Err(why_not) => {
                let reason = why_not.reason();
                asked.route.forwarded(&format!("not stored: {reason}"), took);
                asked.route.not_stored();
                self.0.store.remove(&key);
                tracing::debug!(route = &*asked.route.name, reason, "not stored");
                with_status(whole.answer.into_response(), why.status())
            }
        };
        // After it was stored: whoever learns of it looks there first.
        if let Some((leader, shared)) = leader {
            leader.finish(Arc::new(shared));
        }
        Ok(response)
    }

    /// Makes an entry of a response that was rendered from `start`, after all writes up to `since`.
    ///
    /// # Errors
    /// Why it may not be stored.
    async fn store(
        &self,
        feed: &dyn Feed,
        asked: &Asked,
        left_out: u64,
        start: Instant,
        since: u64,
        whole: &mut Whole,
    ) -> Result<Stored, NotStored> {
        if let Some(why) = asked.route.varies() {
            return Err(why.into());
        }
        let reads = whole.record.as_mut().map(|record| std::mem::take(&mut record.reads));
        let record = whole.record.as_ref();
        if let Some(record) = record.filter(|record| !record.store) {
            return Err(NotStored::Forbidden(record.why.chars().take(200).collect()));
        }
        if record.is_none() && (self.0.renderer.recorder.is_some() || key::has_credentials(&asked.parts)) {
            return Err("no record of what was read".into());
        }
        if record.is_some_and(|record| record.cache) && !feed.has_ends() {
            self.0.needs_ends.store(true, Ordering::Relaxed);
            return Err("the object cache may be older than the news".into());
        }
        whole.answer.storable(record.is_some_and(|record| record.user > 0))?;
        let found = match reads {
            Some(reads) => Some(self.found(reads, feed.changes().has_images()).await?),
            None => None,
        };
        let names = match &found {
            Some(found) if feed.has_names() => found.names(),
            _ => vec![Name::All],
        };
        let dependencies = feed
            .changes()
            .depend_with(&names, since, Arc::clone(&asked.route.tolerance))
            .map_err(|name| NotStored::Written(format!("{name} was written meanwhile, or by itself")))?;
        if !self.0.code.are_of(start) {
            return Err(NotStored::Written(format!("{CODE} was written meanwhile")));
        }
        let mut answer = whole.answer.clone();
        stored::prepare(&mut answer);
        let ages = [record.and_then(|record| record.age), found.and_then(|found| found.age)];
        let own_age = ages.into_iter().flatten().min();
        let until = stored::end(start, self.0.settings.age(&asked.target), own_age);
        let is_for_visitor = !key::has_credentials(&asked.parts);
        Ok(Stored { answer, dependencies, left_out, is_for_visitor, at: start, until, replays: 0.into() })
    }

    /// What a response has read. `has_images` is whether changes have the values of rows.
    ///
    /// # Errors
    /// Why it may not be stored.
    async fn found(&self, reads: Reads, has_images: bool) -> Result<Found, String> {
        let lookup = self.0.lookup.get().cloned();
        let found = tokio::task::spawn_blocking(move || {
            let mut found = reads.found(has_images);
            if found.why.is_none() && found.has_lookups() {
                // The client waits. What is not looked up depends on the whole table.
                let end = Instant::now() + LOOKUP_TIME;
                let lookup = || lookup.as_ref().filter(|_| Instant::now() < end);
                found.looked_up(|sql| lookup().and_then(|lookup| lookup.first_column(sql)));
            }
            found
        });
        let mut found = found.await.map_err(|error| error.to_string())?;
        match found.why.take() {
            Some(why) => Err(why.chars().take(200).collect()),
            None => Ok(found),
        }
    }

    /// Compares a rendering with the stored response for another client, which is still current.
    async fn compare_with_other(&self, feed: &dyn Feed, asked: &Asked, key: &Key, answer: &Answer) {
        let Ok(Ok(stored)) = self.find(feed, key).await else { return };
        if without_etag(&stored.answer, answer).is_same(answer) {
            asked.route.same_for_other();
        } else {
            self.is_varying(asked, key, "they differ by client, or each time");
        }
    }

    /// Compares a rendering with the stored response, if nothing but reads has changed what that has read.
    async fn compare_with_former(&self, feed: &dyn Feed, asked: &Asked, key: &Key, left_out: u64, answer: &Answer) {
        let Some(stored) = self.0.store.get(key).filter(|stored| stored.left_out == left_out) else { return };
        if feed.catch_up().await.is_err() || !self.0.code.are_of(stored.at) {
            return;
        }
        let Some(labels) = stored.dependencies.changed_by_reads().filter(|labels| !labels.is_empty()) else { return };
        if without_etag(&stored.answer, answer).is_same(answer) {
            asked.route.tolerance.same_after(&labels);
        } else {
            asked.route.tolerance.other_after(&labels);
        }
    }

    fn is_varying(&self, asked: &Asked, key: &Key, why: &'static str) {
        asked.route.set_varying(why);
        self.0.store.remove(key);
    }

    /// After a replay: compares a share of them with a new rendering, and renews what is near its end.
    fn in_background(&self, feed: &Arc<Box<dyn Feed>>, asked: &Asked, key: Key, stored: &Arc<Stored>) {
        let is_check = asked.route.is_first_replay() || is_chosen(self.0.settings.checks);
        if !is_check && !stored.is_due() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.0.background).try_acquire_owned() else { return };
        let Flight::Lead(leader) = self.0.flights.join(key) else { return };
        let (bridge, feed, asked, stored) = (self.clone(), Arc::clone(feed), asked.clone(), Arc::clone(stored));
        tokio::spawn(async move {
            bridge.render_again(&**feed, &asked, key, &stored).await;
            drop((leader, permit));
        });
    }

    /// Renders again what is stored, compares, and stores the new response.
    async fn render_again(&self, feed: &dyn Feed, asked: &Asked, key: Key, stored: &Stored) {
        let Renderer { proxy, .. } = &self.0.renderer;
        let Ok(turn) = proxy.turn().await else { return };
        let Ok(since) = feed.visible().await else { return };
        let start = Instant::now();
        let rendered = self.0.renderer.render(&asked.parts, asked.origin, feed.changes(), turn).await;
        let Ok(Rendered::Whole(mut whole)) = rendered else { return };
        let is_same = |answer: &Answer| without_etag(&stored.answer, answer).is_same(answer);
        let is_current = async || {
            feed.catch_up().await.is_ok() && stored.dependencies.check().is_ok() && self.0.code.are_of(stored.at)
        };
        if !is_same(&whole.answer) {
            // A write may have come in between.
            if !is_current().await {
                return;
            }
            let Ok(turn) = proxy.turn().await else { return };
            let rendered = self.0.renderer.render(&asked.parts, asked.origin, feed.changes(), turn).await;
            let Ok(Rendered::Whole(again)) = rendered else { return };
            if is_same(&again.answer) || !is_current().await {
                return;
            }
            if let Some(labels) = stored.dependencies.changed_by_reads().filter(|labels| !labels.is_empty()) {
                asked.route.tolerance.other_after(&labels);
                stored.dependencies.check_again();
                return;
            }
            let why = if again.answer.is_same(&whole.answer) {
                "they depend on something outside of the database, or on the client"
            } else {
                "they differ each time"
            };
            return self.is_varying(asked, &key, why);
        }
        let left_out = key::left_out(&asked.parts, asked.origin.address);
        if left_out != stored.left_out {
            asked.route.same_for_other();
        }
        if let Ok(renewed) = self.store(feed, asked, left_out, start, since, &mut whole).await {
            self.0.store.insert(key, Arc::new(renewed));
        }
    }

    /// Lets WordPress respond.
    async fn forward(&self, asked: Asked, body: Body, why: &Why) -> Response<Body> {
        let start = Instant::now();
        let format = asked.format();
        let request = Request::from_parts(asked.parts, body);
        let result = self.0.renderer.forward(request, asked.origin).await;
        asked.route.forwarded(&why.describe(), start.elapsed());
        match result {
            Ok(response) => with_status(response, why.status()),
            Err(failure) => failure.response(format),
        }
    }
}

/// A request without its body.
#[derive(Clone)]
struct Asked {
    parts: Parts,
    origin: Origin,
    target: Target,
    route: Arc<Route>,
}

impl Asked {
    /// The form of errors of the gateway.
    fn format(&self) -> ErrorFormat {
        if matches!(self.target, Target::Api(_)) { ErrorFormat::Json } else { ErrorFormat::Html }
    }
}

/// A stored answer without the entity tag that it was given here, to be compared with a new one.
fn without_etag(stored: &Answer, new: &Answer) -> Answer {
    let mut stored = stored.clone();
    if !new.headers.contains_key(http::header::ETAG) {
        stored.headers.remove(http::header::ETAG);
    }
    stored
}

/// Whether a replay is in the share of `per_million`.
fn is_chosen(per_million: u32) -> bool {
    let mut random = [0; 4];
    per_million > 0 && getrandom::fill(&mut random).is_ok() && u32::from_le_bytes(random) % 1_000_000 < per_million
}

fn with_status(mut response: Response<Body>, status: &str) -> Response<Body> {
    if let Ok(value) = HeaderValue::from_str(status) {
        add(response.headers_mut(), value);
    }
    response
}

fn add(headers: &mut HeaderMap, status: HeaderValue) {
    headers.append(CACHE_STATUS, status);
}
