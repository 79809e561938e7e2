//! Limits on the rate of requests: of a network, a user and a token.
//!
//! A network's limit is checked before anything else happens, at the cost of a usual request; what the request really costs is charged
//! when that is known. The user and the token are known after authentication: whoever authenticates calls [`RateAdmission::authenticated`].
//!
//! Each limit is a bucket that fills continuously (the generic cell rate algorithm). The state of a bucket is one number: the time at
//! which it will be full.

use std::{
    hash::Hash,
    net::IpAddr,
    str::FromStr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{body::Body, extract::Request, response::Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use quick_cache::sync::Cache;

use crate::{
    client::Client,
    network::{Network, network_of},
};

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");

/// Maximum number of buckets of a kind. Beyond it, those that are used least are forgotten.
const MAX_BUCKETS: usize = 50_000;

/// The cost of a usual request. Costs are in tenths of it.
const USUAL: u32 = 10;

/// What a request costs, as a multiple of one that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCost {
    /// A tenth: a file, or a response from a cache.
    Cheap,
    /// One: reads.
    Read,
    /// Five: writes.
    Write,
    /// Ten: takes long, such as a search in texts.
    Heavy,
}

impl RequestCost {
    fn tenths(self) -> u32 {
        match self {
            RequestCost::Cheap => 1,
            RequestCost::Read => USUAL,
            RequestCost::Write => 5 * USUAL,
            RequestCost::Heavy => 10 * USUAL,
        }
    }
}

/// A number of requests in a time, such as `600/minute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    n_requests: u32,
    window: Duration,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a rate such as 600/minute: 10 to 1000000 per second, minute or hour".to_owned();
        let (n_requests, window) = text.split_once('/').ok_or_else(wrong)?;
        let seconds = match window.trim() {
            "second" => 1,
            "minute" => 60,
            "hour" => 3_600,
            _ => return Err(wrong()),
        };
        let n_requests = n_requests.trim().parse().ok().filter(|n| (10..=1_000_000).contains(n));
        Ok(Rate { n_requests: n_requests.ok_or_else(wrong)?, window: Duration::from_secs(seconds) })
    }
}

/// The settings of rate limits. By default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimitSettings {
    /// Of a client network (an IPv4 address, or an IPv6 /64).
    pub network: Option<Rate>,
    /// Of a user, with all tokens.
    pub user: Option<Rate>,
    /// Of a token.
    pub token: Option<Rate>,
    /// Networks whose requests are not limited.
    pub exempt: Vec<Network>,
}

/// The rate limits of a server.
pub(crate) struct RateLimits {
    network: Option<Limit<IpAddr>>,
    user: Option<Limit<i64>>,
    token: Option<Limit<String>>,
    exempt: Vec<Network>,
    /// Times are counted from here.
    start: Instant,
    /// The header with all limits.
    policy: HeaderValue,
}

/// A limit for many callers.
struct Limit<K> {
    name: &'static str,
    rate: Rate,
    /// Nanoseconds in which a tenth of a request is refilled.
    per_tenth: u64,
    buckets: Cache<K, Arc<Bucket>>,
}

/// The time in nanoseconds at which the bucket is full.
#[derive(Default)]
struct Bucket(AtomicU64);

impl<K: Hash + Eq + Clone> Limit<K> {
    fn new(name: &'static str, rate: Rate) -> Self {
        let per_tenth = (rate.window.as_nanos() as u64 / u64::from(rate.n_requests * USUAL)).max(1);
        Limit { name, rate, per_tenth, buckets: Cache::new(MAX_BUCKETS) }
    }

    fn bucket(&self, key: &K) -> Arc<Bucket> {
        let new = || Ok::<_, std::convert::Infallible>(Arc::default());
        let Ok(bucket) = self.buckets.get_or_insert_with(key, new);
        bucket
    }

    /// The time that is missing from a full bucket, in nanoseconds.
    fn window(&self) -> u64 {
        self.per_tenth * u64::from(self.rate.n_requests * USUAL)
    }

    /// Takes this cost.
    ///
    /// # Errors
    /// The time to wait if there is not enough.
    fn take(&self, bucket: &Bucket, now: u64, tenths: u32) -> Result<(), Duration> {
        let (cost, window) = (self.per_tenth * u64::from(tenths), self.window());
        let taken = bucket.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
            let full_at = full_at.max(now) + cost;
            (full_at - now <= window).then_some(full_at)
        });
        taken.map(drop).map_err(|full_at| Duration::from_nanos((full_at.max(now) + cost).saturating_sub(now + window)))
    }

    /// Changes the cost of a request that was admitted. The bucket may owe as much as it can contain.
    fn charge(&self, bucket: &Bucket, now: u64, tenths: i64) {
        let (cost, most) = (self.per_tenth as i64 * tenths, now + 2 * self.window());
        let _changed = bucket.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
            Some(full_at.max(now).saturating_add_signed(cost).min(most))
        });
    }

    /// The name with the number of requests that are left, and the seconds until all of them are.
    fn state(&self, bucket: &Bucket, now: u64) -> String {
        let missing = bucket.0.load(Ordering::Relaxed).saturating_sub(now);
        let left = self.window().saturating_sub(missing) / (self.per_tenth * u64::from(USUAL));
        format!("\"{}\";r={left};t={}", self.name, missing.div_ceil(1_000_000_000))
    }

    fn policy(&self) -> String {
        format!("\"{}\";q={};w={}", self.name, self.rate.n_requests, self.rate.window.as_secs())
    }
}

/// A caller whose credentials are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Caller {
    user: i64,
    token: Option<String>,
}

/// An admitted request: an extension of the request while there are rate limits.
#[derive(Clone)]
pub struct RateAdmission(Arc<Admitted>);

struct Admitted {
    limits: Arc<RateLimits>,
    network: IpAddr,
    /// What was taken for the request, in tenths.
    tenths: u32,
    caller: OnceLock<Caller>,
}

impl RateAdmission {
    /// Takes the cost of this request from the buckets of the user and the token.
    ///
    /// # Errors
    /// The time to wait if there is not enough. The request should be refused with 429.
    pub fn authenticated(&self, user: i64, token: Option<&str>, cost: RequestCost) -> Result<(), Duration> {
        let (limits, tenths) = (&self.0.limits, cost.tenths());
        let _first = self.0.caller.set(Caller { user, token: token.map(str::to_owned) });
        let now = limits.now();
        if let Some(limit) = &limits.user {
            limit.take(&limit.bucket(&user), now, tenths)?;
        }
        if let (Some(limit), Some(token)) = (&limits.token, token) {
            limit.take(&limit.bucket(&token.to_owned()), now, tenths)?;
        }
        Ok(())
    }
}

impl RateLimits {
    /// `None` without any limit.
    pub(crate) fn new(settings: RateLimitSettings) -> Option<Arc<Self>> {
        let RateLimitSettings { network, user, token, exempt } = settings;
        let network = network.map(|rate| Limit::new("network", rate));
        let user = user.map(|rate| Limit::new("user", rate));
        let token = token.map(|rate| Limit::new("token", rate));
        let policies =
            [network.as_ref().map(Limit::policy), user.as_ref().map(Limit::policy), token.as_ref().map(Limit::policy)];
        let policies: Vec<String> = policies.into_iter().flatten().collect();
        if policies.is_empty() {
            return None;
        }
        let policy = HeaderValue::try_from(policies.join(", ")).expect("names and numbers are a valid value");
        Some(Arc::new(RateLimits { network, user, token, exempt, start: Instant::now(), policy }))
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Takes the cost of a usual request from the network's bucket, and adds the [`RateAdmission`] to the request. `None` if the network is exempt.
    ///
    /// # Errors
    /// The response with 429, if there is not enough.
    pub(crate) fn admit(
        self: &Arc<Self>,
        request: &mut Request,
        client: Client,
    ) -> Result<Option<RateAdmission>, Box<Response>> {
        if self.exempt.iter().any(|network| network.contains(client.address)) {
            return Ok(None);
        }
        let cost = if request.method().is_safe() { RequestCost::Read } else { RequestCost::Write };
        let (network, tenths) = (network_of(client.address), cost.tenths());
        if let Some(limit) = &self.network {
            let bucket = limit.bucket(&network);
            let now = self.now();
            if let Err(wait) = limit.take(&bucket, now, tenths) {
                let mut response = refusal(wait);
                self.add_headers(&mut response, vec![limit.state(&bucket, now)]);
                return Err(Box::new(response));
            }
        }
        let admitted = Admitted { limits: Arc::clone(self), network, tenths, caller: OnceLock::new() };
        let admission = RateAdmission(Arc::new(admitted));
        request.extensions_mut().insert(admission.clone());
        Ok(Some(admission))
    }

    /// Charges what the request has cost, and adds the headers to the response.
    pub(crate) fn settle(&self, admission: &RateAdmission, response: &mut Response) {
        let (now, cost) = (self.now(), response.extensions().get::<RequestCost>().copied());
        let difference = |taken: u32| cost.map_or(0, |cost| i64::from(cost.tenths()) - i64::from(taken));
        let mut states = Vec::new();
        if let Some(limit) = &self.network {
            let bucket = limit.bucket(&admission.0.network);
            limit.charge(&bucket, now, difference(admission.0.tenths));
            states.push(limit.state(&bucket, now));
        }
        if let Some(caller) = admission.0.caller.get() {
            if let Some(limit) = &self.user {
                states.push(limit.state(&limit.bucket(&caller.user), now));
            }
            if let (Some(limit), Some(token)) = (&self.token, &caller.token) {
                states.push(limit.state(&limit.bucket(token), now));
            }
        }
        self.add_headers(response, states);
    }

    fn add_headers(&self, response: &mut Response, states: Vec<String>) {
        let headers = response.headers_mut();
        headers.insert(POLICY, self.policy.clone());
        if let Some(state) = (!states.is_empty()).then(|| HeaderValue::try_from(states.join(", ")).ok()).flatten() {
            headers.insert(STATE, state);
        }
    }
}

/// The response to a request beyond a limit, in the form of errors of the REST API.
fn refusal(wait: Duration) -> Response {
    const BODY: &str =
        r#"{"code":"rest_too_many_requests","message":"Too many requests. Try again later.","data":{"status":429}}"#;
    let mut response = Response::new(Body::from(BODY));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=UTF-8"));
    headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    fn limits(settings: RateLimitSettings) -> Arc<RateLimits> {
        RateLimits::new(settings).unwrap()
    }

    fn request(method: &str) -> Request {
        Request::builder().method(method).body(Body::empty()).unwrap()
    }

    fn client(address: &str) -> Client {
        Client { address: address.parse().unwrap(), tls: false }
    }

    /// How many requests are admitted at once.
    fn n_admitted(limits: &Arc<RateLimits>, method: &str, address: &str) -> usize {
        (0..1_000).take_while(|_| limits.admit(&mut request(method), client(address)).is_ok()).count()
    }

    #[test]
    fn rates() {
        assert_eq!(rate("600/minute"), Rate { n_requests: 600, window: Duration::from_secs(60) });
        assert_eq!(rate("10 / second").window, Duration::from_secs(1));
        for text in ["", "600", "9/minute", "1000001/hour", "60/day", "-60/hour", "a/hour"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn buckets_refill_continuously() {
        let limit: Limit<i64> = Limit::new("user", rate("60/minute"));
        let (bucket, second) = (Bucket::default(), 1_000_000_000);
        for _ in 0..60 {
            assert_eq!(limit.take(&bucket, 0, USUAL), Ok(()));
        }
        assert_eq!(limit.take(&bucket, 0, USUAL), Err(Duration::from_secs(1)));
        assert_eq!(limit.take(&bucket, 0, 10 * USUAL), Err(Duration::from_secs(10)));
        assert_eq!(limit.state(&bucket, 0), "\"user\";r=0;t=60");
        assert_eq!(limit.take(&bucket, second, USUAL), Ok(()));
        assert!(limit.take(&bucket, second, 1).is_err());
        assert_eq!(limit.state(&bucket, 31 * second), "\"user\";r=30;t=30");
        assert_eq!(limit.state(&bucket, 3_600 * second), "\"user\";r=60;t=0", "no more than the limit");
        // What turns out to be expensive is paid later, what is cheap is given back.
        let bucket = Bucket::default();
        limit.take(&bucket, 0, USUAL).unwrap();
        limit.charge(&bucket, 0, -9);
        assert_eq!(limit.state(&bucket, 0), "\"user\";r=59;t=1");
        limit.charge(&bucket, 0, 10_000);
        assert_eq!(limit.take(&bucket, 0, USUAL), Err(Duration::from_secs(61)), "a debt is bounded");
    }

    #[test]
    fn networks_are_limited_apart_and_some_are_exempt() {
        let network = Some(rate("10/minute"));
        let limits = limits(RateLimitSettings {
            network,
            exempt: vec!["10.0.0.0/8".parse().unwrap()],
            ..RateLimitSettings::default()
        });
        assert_eq!(n_admitted(&limits, "GET", "198.51.100.1"), 10);
        assert_eq!(n_admitted(&limits, "POST", "198.51.100.2"), 2, "writes cost more");
        assert_eq!(n_admitted(&limits, "GET", "2001:db8::1"), 10);
        assert_eq!(n_admitted(&limits, "GET", "2001:db8::2"), 0, "the same /64");
        assert_eq!(n_admitted(&limits, "GET", "10.1.2.3"), 1_000);
        let refused = limits.admit(&mut request("GET"), client("198.51.100.1")).err().unwrap();
        let header = |name: &str| refused.headers()[name].to_str().unwrap();
        assert_eq!((refused.status().as_u16(), header("ratelimit-policy")), (429, "\"network\";q=10;w=60"));
        assert_eq!((header("ratelimit"), header("retry-after")), ("\"network\";r=0;t=60", "6"));
    }

    #[test]
    fn the_cost_of_the_response_counts() {
        for (cost, expected) in
            [(Some(RequestCost::Cheap), 100), (None, 10), (Some(RequestCost::Write), 3), (Some(RequestCost::Heavy), 2)]
        {
            let limits = limits(RateLimitSettings { network: Some(rate("10/hour")), ..RateLimitSettings::default() });
            let admit = || {
                let admission = limits.admit(&mut request("GET"), client("198.51.100.1")).ok()??;
                let mut response = Response::new(Body::empty());
                cost.map(|cost| response.extensions_mut().insert(cost));
                limits.settle(&admission, &mut response);
                Some(())
            };
            let n_admitted = (0..1_000).take_while(|_| admit().is_some()).count();
            assert!(n_admitted.abs_diff(expected) <= 9, "{cost:?}: {n_admitted}");
            assert!(cost != Some(RequestCost::Heavy) || n_admitted <= 2, "{n_admitted}");
        }
    }

    #[test]
    fn users_are_limited_with_all_tokens_and_each_token_alone() {
        let (user, token) = (Some(rate("20/hour")), Some(rate("10/hour")));
        let limits = limits(RateLimitSettings { user, token, ..RateLimitSettings::default() });
        let n_admitted = |user, token| {
            let admit = || {
                let admission = limits.admit(&mut request("GET"), client("198.51.100.1")).ok()??;
                let admitted = admission.authenticated(user, token, RequestCost::Read);
                let mut response = Response::new(Body::empty());
                limits.settle(&admission, &mut response);
                let state = response.headers()["ratelimit"].to_str().unwrap().to_owned();
                assert!(state.starts_with("\"user\";r=") && state.contains("\"token\"") == token.is_some(), "{state}");
                admitted.ok()
            };
            (0..100).take_while(|_| admit().is_some()).count()
        };
        assert_eq!(n_admitted(1, Some("a")), 10);
        // The refused one counts for the user.
        assert_eq!(n_admitted(1, Some("b")), 9);
        assert_eq!(n_admitted(1, None), 0);
        assert_eq!(n_admitted(2, None), 20);
    }

    #[test]
    fn memory_is_bounded() {
        let limits = limits(RateLimitSettings { network: Some(rate("10/hour")), ..RateLimitSettings::default() });
        for n in 0..2 * MAX_BUCKETS as u32 {
            assert!(limits.admit(&mut request("GET"), client(&IpAddr::from(n.to_be_bytes()).to_string())).is_ok());
        }
        assert!(limits.network.as_ref().unwrap().buckets.len() <= MAX_BUCKETS);
    }
}
