//! How often signing in may be tried.
//!
//! At the log-in form every attempt counts before its password is checked, so that guessing costs this server nothing.
//! The form counts attempts per account and network, so that a flood on one account shuts out neither other accounts nor
//! the account's owner elsewhere.
//!
//! Clients of the REST API send their password with each request, so only wrong ones count there. A network with too many
//! of them is answered 429, but for passwords that are right: checking is cheap, and bounded.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use quick_cache::sync::Cache;
use svc_auth::basic;

use crate::client::network_of;

/// A number of attempts at once, and the time in which one more comes back.
type Share = (u32, Duration);

/// Attempts at the form on one account from one network.
const FORM: Share = (10, Duration::from_secs(15));

/// Attempts at the form from one network. A flood on one account uses up half of it.
const FORM_NETWORK: Share = (20, Duration::from_secs(6));

/// Attempts at the form on one account from networks in which nobody has signed in to it.
const FORM_ACCOUNT: Share = (60, Duration::from_secs(2));

/// Wrong passwords over the API from one network.
const WRONG: Share = (60, Duration::from_secs(1));

/// Passwords over the API that are checked for a network that has sent too many wrong ones: on one account, and in all.
const CHECKS_ACCOUNT: Share = (60, Duration::from_millis(250));
const CHECKS: Share = (200, Duration::from_millis(50));

/// Keys above which those that are back to a full share are forgotten.
const MAX_KEYS: usize = 10_000;

/// Sign-ins that are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// Longest part of an account's name that tells it from others, in bytes.
const NAME_LENGTH: usize = 100;

/// The counts. One per server; a restart forgets them.
pub struct Attempts {
    clock: DefaultClock,
    form: Limiter<(IpAddr, String)>,
    form_network: Limiter<IpAddr>,
    form_account: Limiter<String>,
    wrong: Limiter<IpAddr>,
    checks_account: Limiter<(IpAddr, String)>,
    checks: Limiter<IpAddr>,
    /// Networks with too many wrong passwords, and until when.
    limited: Mutex<HashMap<IpAddr, Instant>>,
    /// Networks and accounts that have signed in at the form.
    signed_in: Cache<(IpAddr, String), ()>,
    /// Marks of credentials that were right.
    right: Cache<u64, ()>,
    /// A secret key, so that marks say nothing about passwords.
    key: RandomState,
}

struct Limiter<K: std::hash::Hash + Eq + Clone>(DefaultKeyedRateLimiter<K>);

impl<K: std::hash::Hash + Eq + Clone> Limiter<K> {
    fn new((burst, every): Share) -> Self {
        let burst = NonZeroU32::new(burst).expect("a share is at least one");
        Limiter(RateLimiter::keyed(Quota::with_period(every).expect("a time that is not nothing").allow_burst(burst)))
    }

    /// Counts one; how long to wait when there were too many.
    fn count(&self, key: &K, clock: &DefaultClock) -> Result<(), Duration> {
        if self.0.len() > MAX_KEYS {
            self.0.retain_recent();
        }
        self.0.check_key(key).map_err(|until| until.wait_time_from(clock.now()))
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts {
            clock: DefaultClock::default(),
            form: Limiter::new(FORM),
            form_network: Limiter::new(FORM_NETWORK),
            form_account: Limiter::new(FORM_ACCOUNT),
            wrong: Limiter::new(WRONG),
            checks_account: Limiter::new(CHECKS_ACCOUNT),
            checks: Limiter::new(CHECKS),
            limited: Mutex::default(),
            signed_in: Cache::new(MAX_REMEMBERED),
            right: Cache::new(MAX_REMEMBERED),
            key: RandomState::new(),
        }
    }
}

/// A network and an account, however its name is written.
fn pair(address: IpAddr, account: &str) -> (IpAddr, String) {
    let end = account.floor_char_boundary(NAME_LENGTH);
    (network_of(address), account[..end].to_lowercase())
}

impl Attempts {
    /// Counts an attempt at the form on an account.
    ///
    /// # Errors
    /// How long to wait, when there were too many.
    pub fn at_form(&self, address: IpAddr, account: &str) -> Result<(), Duration> {
        let pair = pair(address, account);
        // What one account's share refuses does not count for the network.
        self.form.count(&pair, &self.clock)?;
        self.form_network.count(&pair.0, &self.clock)?;
        match self.signed_in.get(&pair) {
            Some(()) => Ok(()),
            None => self.form_account.count(&pair.1, &self.clock),
        }
    }

    /// Remembers that somebody has signed in to the account from this address.
    pub fn form_succeeded(&self, address: IpAddr, account: &str) {
        self.signed_in.insert(pair(address, account), ());
    }

    /// How long credentials sent over the API are not checked; usually they are.
    pub fn refuses_check(&self, address: IpAddr, sent: &basic::Credentials) -> Option<Duration> {
        let wait = self.limited_for(network_of(address))?;
        if self.right.get(&self.mark(sent)).is_some() {
            return None;
        }
        let pair = pair(address, &sent.login);
        let checked =
            self.checks_account.count(&pair, &self.clock).and_then(|()| self.checks.count(&pair.0, &self.clock));
        checked.err().map(|until| until.max(wait))
    }

    /// Remembers credentials of the API that were right.
    pub fn succeeded(&self, sent: &basic::Credentials) {
        let mark = self.mark(sent);
        if self.right.get(&mark).is_none() {
            self.right.insert(mark, ());
        }
    }

    /// Counts wrong credentials of the API; how long to wait when there were too many.
    pub fn failed(&self, address: IpAddr) -> Option<Duration> {
        let network = network_of(address);
        if let Some(wait) = self.limited_for(network) {
            return Some(wait);
        }
        let wait = self.wrong.count(&network, &self.clock).err()?;
        let now = Instant::now();
        let mut limited = self.limited.lock().unwrap_or_else(PoisonError::into_inner);
        if limited.len() > MAX_KEYS {
            limited.retain(|_, until| *until > now);
        }
        limited.insert(network, now + wait);
        Some(wait)
    }

    fn limited_for(&self, network: IpAddr) -> Option<Duration> {
        let limited = self.limited.lock().unwrap_or_else(PoisonError::into_inner);
        limited.get(&network)?.checked_duration_since(Instant::now())
    }

    fn mark(&self, sent: &basic::Credentials) -> u64 {
        self.key.hash_one((&sent.login, sent.password.expose()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 2));

    fn credentials(login: &str, password: &str) -> basic::Credentials {
        basic::Credentials { login: login.to_owned(), password: svc_auth::Secret::new(password) }
    }

    #[test]
    fn a_flood_on_one_account_shuts_out_nobody_else() {
        let attempts = Attempts::default();
        for _ in 0..FORM.0 {
            assert_eq!(attempts.at_form(HERE, "Admin"), Ok(()));
        }
        for _ in 0..1_000 {
            let wait = attempts.at_form(HERE, "admin").unwrap_err();
            assert!(!wait.is_zero() && wait <= FORM.1);
        }
        assert_eq!(attempts.at_form(HERE, "other"), Ok(()), "another account at the same address");
        assert_eq!(attempts.at_form(THERE, "admin"), Ok(()), "the same account elsewhere");
    }

    #[test]
    fn an_account_has_its_share_wherever_the_attempts_come_from() {
        let attempts = Attempts::default();
        attempts.form_succeeded(HERE, "admin");
        let from = |n: u32| IpAddr::from([203, 0, 113, n as u8]);
        let accepted = (0..200).filter(|n| attempts.at_form(from(*n), "admin").is_ok()).count();
        assert!((60..=61).contains(&accepted), "{accepted}");
        assert_eq!(attempts.at_form(HERE, "ADMIN"), Ok(()), "where its owner has signed in before");
    }

    #[test]
    fn a_network_has_its_share_whatever_the_account() {
        let attempts = Attempts::default();
        for n in 0..FORM_NETWORK.0 {
            assert_eq!(attempts.at_form(format!("2001:db8::{n}").parse().unwrap(), &n.to_string()), Ok(()));
        }
        assert!(attempts.at_form("2001:db8::ffff".parse().unwrap(), "x").is_err(), "of the same network");
        assert_eq!(attempts.at_form("2001:db8:1::1".parse().unwrap(), "x"), Ok(()));
    }

    #[test]
    fn right_passwords_are_checked_although_wrong_ones_are_limited() {
        let attempts = Attempts::default();
        let (used, unused, wrong) = (credentials("a", "used"), credentials("a", "unused"), credentials("b", "wrong"));
        attempts.succeeded(&used);
        for _ in 0..WRONG.0 {
            assert_eq!(attempts.failed(HERE), None);
        }
        assert_eq!(attempts.refuses_check(HERE, &wrong), None);
        assert!(attempts.failed(HERE).is_some());
        assert_eq!(attempts.failed(THERE), None);
        // The first password of an account is checked, unless a flood was on that very account.
        assert_eq!(attempts.refuses_check(HERE, &unused), None);
        let n_checked = (0..1_000).filter(|_| attempts.refuses_check(HERE, &wrong).is_none()).count();
        assert!((60..80).contains(&n_checked), "{n_checked}");
        assert_eq!(attempts.refuses_check(HERE, &unused), None);
        // Whatever the flood is on, it is bounded, and a password that was right before is checked.
        let many = |n: u32| credentials(&n.to_string(), "x");
        let n_checked = (0..1_000).filter(|n| attempts.refuses_check(HERE, &many(*n)).is_none()).count();
        assert!((100..200).contains(&n_checked), "{n_checked}");
        assert_eq!(attempts.refuses_check(HERE, &used), None);
        assert_eq!(attempts.refuses_check(THERE, &wrong), None);
    }
}
