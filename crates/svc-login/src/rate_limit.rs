//! Limits on log-in attempts.
//!
//! The log-in form counts every attempt before it checks the password, since password hashing is expensive. It counts per account
//! and network, so that a flood on one account affects neither other accounts nor the account's owner on another network.
//!
//! Clients of the REST API send their password with each request, so only wrong passwords count there. A network with too many
//! of them gets 429, except for passwords that are right: checking them is cheap, and limited as well.
//!
//! Several servers on one database limit attempts together: what one has counted the others count, too, a second later
//! (`shared_attempts.rs`).
//!
//! Failed logins are logged in one form.

use std::{
    collections::HashMap,
    convert::Infallible,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    nanos::Nanos,
    state::{InMemoryState, NotKeyed, StateStore},
};
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use svc_auth::basic;
use svc_listen::network_of;
use svc_metrics::Outcomes;
use svc_store::login_attempts::{CountedAttempts, MAX_ADDED};

/// A limit: the number of attempts at once, and the time after which one more is allowed.
type Rate = (u32, Duration);

/// Attempts with the form on one account from one network.
const FORM: Rate = (10, Duration::from_secs(15));

/// Attempts with the form from one network. A flood on one account uses half of it.
const FORM_NETWORK: Rate = (20, Duration::from_secs(6));

/// Attempts with the form on one account from all networks without a successful log-in to it.
const FORM_ACCOUNT: Rate = (60, Duration::from_secs(2));

/// Codes of a second factor for one account from one network, after a right password.
const CODE: Rate = (10, Duration::from_secs(60));

/// Such codes for one account from all networks without a successful log-in to it. Each has a chance of 3 in a million: at this rate
/// one is guessed within a year with a probability of 10 %, by somebody who has the password.
const CODE_ACCOUNT: Rate = (20, Duration::from_secs(15 * 60));

/// Requests for links to set a new password, and keys that are not valid, from one network.
const RESET: Rate = (10, Duration::from_secs(30));

/// Mails with such links to one account.
const RESET_MAIL: Rate = (3, Duration::from_secs(20 * 60));

/// Wrong passwords over the API from one network.
const WRONG: Rate = (60, Duration::from_secs(1));

/// Passwords over the API that are still checked after too many wrong ones from a network: per account, and in total.
const CHECKS_ACCOUNT: Rate = (60, Duration::from_millis(250));
const CHECKS: Rate = (200, Duration::from_millis(50));

/// Maximum number of counters of a kind. Beyond it those that are used least are forgotten.
const MAX_KEYS: usize = 10_000;

/// Maximum number of remembered log-ins.
const MAX_REMEMBERED: usize = 10_000;

/// Length to which account names are cut, in bytes.
const NAME_LENGTH: usize = 100;

/// Maximum number of counters whose attempts are not shared yet. Those beyond it limit one server only.
const MAX_UNSHARED: usize = 10_000;

/// A limit. Its name is the same on all servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Limit {
    Form,
    FormNetwork,
    FormAccount,
    Code,
    CodeAccount,
    Reset,
    ResetMail,
    ConfirmationMail,
    Wrong,
    ChecksAccount,
    Checks,
}

/// All limits, with their names.
const LIMITS: [(Limit, &str, Rate); 11] = [
    (Limit::Form, "form", FORM),
    (Limit::FormNetwork, "form-network", FORM_NETWORK),
    (Limit::FormAccount, "form-account", FORM_ACCOUNT),
    (Limit::Code, "code", CODE),
    (Limit::CodeAccount, "code-account", CODE_ACCOUNT),
    (Limit::Reset, "reset", RESET),
    (Limit::ResetMail, "reset-mail", RESET_MAIL),
    (Limit::ConfirmationMail, "confirmation-mail", RESET_MAIL),
    (Limit::Wrong, "wrong", WRONG),
    (Limit::ChecksAccount, "checks-account", CHECKS_ACCOUNT),
    (Limit::Checks, "checks", CHECKS),
];

/// Name of successful log-ins among what is shared.
const LOGGED_IN: &str = "logged-in";

/// Whom an attempt counts for: a hash, the same on all servers.
type Counter = u128;

/// Attempts that other servers do not know of, by the name of the limit and the counter.
type Unshared = HashMap<(&'static str, Counter), u32>;

/// Counters of log-in attempts. They are lost on restart.
pub struct Attempts {
    limiters: [Limiter; LIMITS.len()],
    /// Networks with too many wrong passwords, with the end of the limit.
    limited: Cache<Counter, Instant>,
    /// Networks and accounts with a successful log-in.
    logged_in: Cache<Counter, ()>,
    /// `None` if there are no other servers.
    unshared: Option<Mutex<Unshared>>,
    /// Hashes of valid credentials.
    valid: Cache<u64, ()>,
    /// Secret key of these hashes.
    key: RandomState,
    failures: Outcomes<{ FAILURES.len() }>,
}

struct Limiter(RateLimiter<Counter, Counters, DefaultClock>);

/// The counters of a bounded number of keys.
struct Counters(Cache<Counter, Arc<InMemoryState>>);

impl StateStore for Counters {
    type Key = Counter;

    fn measure_and_replace<T, F, E>(&self, key: &Counter, count: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let new = || Ok::<_, Infallible>(Arc::default());
        let Ok(counter) = self.0.get_or_insert_with(key, new);
        counter.measure_and_replace(&NotKeyed::NonKey, count)
    }
}

impl Limiter {
    fn new((burst, every): Rate) -> Self {
        let burst = NonZeroU32::new(burst).expect("a limit allows at least one attempt");
        let quota = Quota::with_period(every).expect("the time of a limit is not zero").allow_burst(burst);
        Limiter(RateLimiter::new(quota, Counters(Cache::new(MAX_KEYS)), DefaultClock::default()))
    }

    /// Counts an attempt.
    ///
    /// # Errors
    /// Returns the time to wait if the limit is exceeded.
    fn count(&self, key: Counter) -> Result<(), Duration> {
        self.0.check_key(&key).map_err(|until| until.wait_time_from(self.0.clock().now()))
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts {
            limiters: LIMITS.map(|(.., rate)| Limiter::new(rate)),
            limited: Cache::new(MAX_KEYS),
            logged_in: Cache::new(MAX_REMEMBERED),
            unshared: None,
            valid: Cache::new(MAX_REMEMBERED),
            key: RandomState::new(),
            failures: Outcomes::new(FAILURES),
        }
    }
}

/// Why a log-in failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginFailure {
    TooManyAttempts,
    WrongPassword,
    UnknownUser,
    WrongCurrentPassword,
    WrongCode,
    WrongPasskey,
    WrongApplicationPassword,
}

impl LoginFailure {
    /// The reason in the log, and its name in metrics.
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            LoginFailure::TooManyAttempts => ("too many attempts", "too_many_attempts"),
            LoginFailure::WrongPassword => ("wrong password", "wrong_password"),
            LoginFailure::UnknownUser => ("unknown user", "unknown_user"),
            LoginFailure::WrongCurrentPassword => ("wrong current password", "wrong_current_password"),
            LoginFailure::WrongCode => ("wrong code", "wrong_code"),
            LoginFailure::WrongPasskey => ("wrong passkey", "wrong_passkey"),
            LoginFailure::WrongApplicationPassword => {
                ("not an application password of this user", "wrong_application_password")
            }
        }
    }
}

/// The names of all reasons in metrics.
const FAILURES: [&str; 7] = [
    LoginFailure::TooManyAttempts.texts().1,
    LoginFailure::WrongPassword.texts().1,
    LoginFailure::UnknownUser.texts().1,
    LoginFailure::WrongCurrentPassword.texts().1,
    LoginFailure::WrongCode.texts().1,
    LoginFailure::WrongPasskey.texts().1,
    LoginFailure::WrongApplicationPassword.texts().1,
];

/// The counter of a network, or of an account, whose letter case is ignored, or of an account in a network.
fn counter(network: Option<IpAddr>, account: Option<&str>) -> Counter {
    let mut hash = Sha256::new();
    // The parts cannot be mistaken for each other: an account comes after an end, which no address has.
    hash.update(network.map(|network| network.to_string()).unwrap_or_default());
    if let Some(account) = account {
        let end = account.floor_char_boundary(NAME_LENGTH);
        hash.update("\n");
        hash.update(account.get(..end).unwrap_or_default().to_lowercase());
    }
    let mut bytes = [0; size_of::<Counter>()];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
    Counter::from_be_bytes(bytes)
}

/// The counter of an account.
fn of_account(account: &str) -> Counter {
    counter(None, Some(account))
}

/// The counter of a network.
fn of_network(address: IpAddr) -> Counter {
    counter(Some(network_of(address)), None)
}

/// The counter of an account in a network.
fn of_both(address: IpAddr, account: &str) -> Counter {
    counter(Some(network_of(address)), Some(account))
}

impl Attempts {
    /// Logs and counts a failed log-in, for programs such as fail2ban. The name is quoted and cut, since the client chooses it.
    pub(crate) fn report_failed(&self, client: IpAddr, name: &str, why: LoginFailure) {
        let (reason, label) = why.texts();
        let user = &name[..name.floor_char_boundary(NAME_LENGTH)];
        tracing::warn!(%client, ?user, reason, "login failed");
        self.failures.record(label);
    }

    /// Numbers of failed log-ins by reason, such as `wrong_password`, since the start.
    pub fn failures(&self) -> Vec<(&'static str, u64)> {
        self.failures.report()
    }

    /// Counts an attempt with the form.
    ///
    /// # Errors
    /// Returns the time to wait if a limit is exceeded.
    pub fn at_form(&self, address: IpAddr, account: &str) -> Result<(), Duration> {
        let both = of_both(address, account);
        // Attempts beyond the limit of one account do not count for the network.
        self.count(Limit::Form, both)?;
        self.count(Limit::FormNetwork, of_network(address))?;
        match self.logged_in.get(&both) {
            Some(()) => Ok(()),
            None => self.count(Limit::FormAccount, of_account(account)),
        }
    }

    /// Counts a code of a second factor.
    ///
    /// # Errors
    /// Returns the time to wait if a limit is exceeded.
    pub(crate) fn at_code(&self, address: IpAddr, login: &str) -> Result<(), Duration> {
        let both = of_both(address, login);
        self.count(Limit::Code, both)?;
        match self.logged_in.get(&both) {
            Some(()) => Ok(()),
            None => self.count(Limit::CodeAccount, of_account(login)),
        }
    }

    /// Counts a request for a link to set a new password, or a key that is not valid.
    ///
    /// # Errors
    /// Returns the time to wait if the limit of the network is exceeded.
    pub(crate) fn at_reset(&self, address: IpAddr) -> Result<(), Duration> {
        self.count(Limit::Reset, of_network(address))
    }

    /// Counts a mail with a link to set a new password.
    ///
    /// # Errors
    /// Returns the time to wait if the limit of the account is exceeded.
    pub(crate) fn at_reset_mail(&self, login: &str) -> Result<(), Duration> {
        self.count(Limit::ResetMail, of_account(login))
    }

    /// Counts a mail that asks to confirm a new e-mail address of an account.
    ///
    /// # Errors
    /// Returns the time to wait if the limit of the account is exceeded.
    pub(crate) fn at_confirmation_mail(&self, login: &str) -> Result<(), Duration> {
        self.count(Limit::ConfirmationMail, of_account(login))
    }

    /// Records a successful log-in with the form.
    pub fn form_succeeded(&self, address: IpAddr, account: &str) {
        let both = of_both(address, account);
        self.logged_in.insert(both, ());
        self.note(LOGGED_IN, both, 1);
    }

    /// Whether credentials of the API must not be checked now. Returns the time to wait.
    pub fn refuses_check(&self, address: IpAddr, sent: &basic::BasicCredentials) -> Option<Duration> {
        let network = of_network(address);
        let wait = self.limited_for(network)?;
        if self.valid.get(&self.hash(sent)).is_some() {
            return None;
        }
        let account = self.count(Limit::ChecksAccount, of_both(address, &sent.login));
        let checked = account.and_then(|()| self.count(Limit::Checks, network));
        checked.err().map(|until| until.max(wait))
    }

    /// Records valid credentials of the API.
    pub fn succeeded(&self, sent: &basic::BasicCredentials) {
        let hash = self.hash(sent);
        if self.valid.get(&hash).is_none() {
            self.valid.insert(hash, ());
        }
    }

    /// Counts wrong credentials of the API. Returns the time to wait if a limit is exceeded.
    pub fn failed(&self, address: IpAddr) -> Option<Duration> {
        let network = of_network(address);
        if let Some(wait) = self.limited_for(network) {
            return Some(wait);
        }
        let wait = self.count(Limit::Wrong, network).err()?;
        self.limited.insert(network, Instant::now() + wait);
        Some(wait)
    }

    /// Counters that other servers are to know of, too, through [`ShareAttempts`](crate::ShareAttempts).
    #[must_use]
    pub fn shared(self) -> Self {
        Attempts { unshared: Some(Mutex::default()), ..self }
    }

    /// Whether other servers are to know of attempts.
    pub fn is_shared(&self) -> bool {
        self.unshared.is_some()
    }

    /// Counts an attempt here and for other servers.
    fn count(&self, limit: Limit, counter: Counter) -> Result<(), Duration> {
        let Some((limiter, (_, name, _))) = self.limiters.iter().zip(LIMITS).find(|(_, (of, ..))| *of == limit) else {
            return Ok(());
        };
        limiter.count(counter)?;
        self.note(name, counter, 1);
        Ok(())
    }

    fn note(&self, name: &'static str, counter: Counter, n: u32) {
        let Some(unshared) = &self.unshared else { return };
        let mut unshared = unshared.lock().unwrap_or_else(PoisonError::into_inner);
        if unshared.len() < MAX_UNSHARED || unshared.contains_key(&(name, counter)) {
            let counted = unshared.entry((name, counter)).or_default();
            *counted = counted.saturating_add(n);
        }
    }

    /// What was counted here and other servers do not know of: the largest numbers, if there are many. The others are forgotten.
    pub(crate) fn take_unshared(&self) -> Vec<CountedAttempts> {
        let taken = self
            .unshared
            .as_ref()
            .map(|unshared| std::mem::take(&mut *unshared.lock().unwrap_or_else(PoisonError::into_inner)));
        let counted = |((kind, counter), n): ((&'static str, Counter), u32)| CountedAttempts {
            kind: kind.to_owned(),
            counter,
            n,
        };
        let mut counted: Vec<_> = taken.into_iter().flatten().map(counted).collect();
        counted.sort_unstable_by_key(|counted| std::cmp::Reverse(counted.n));
        counted.truncate(MAX_ADDED);
        counted
    }

    /// Puts back what could not be shared.
    pub(crate) fn keep_unshared(&self, counted: Vec<CountedAttempts>) {
        for CountedAttempts { kind, counter, n } in counted {
            let names = LIMITS.iter().map(|(_, name, _)| *name).chain([LOGGED_IN]);
            names.filter(|name| *name == kind).for_each(|name| self.note(name, counter, n));
        }
    }

    /// Counts what another server has counted.
    pub(crate) fn count_of_others(&self, counted: &CountedAttempts) {
        if counted.kind == LOGGED_IN {
            self.logged_in.insert(counted.counter, ());
            return;
        }
        let named = self.limiters.iter().zip(LIMITS).find(|(_, (_, name, _))| *name == counted.kind);
        let Some((limiter, (limit, _, (burst, _)))) = named else { return };
        let exceeded = (0..counted.n.min(burst)).find_map(|_| limiter.count(counted.counter).err());
        if let (Limit::Wrong, Some(wait)) = (limit, exceeded) {
            self.limited.insert(counted.counter, Instant::now() + wait);
        }
    }

    fn limited_for(&self, network: Counter) -> Option<Duration> {
        self.limited.get(&network)?.checked_duration_since(Instant::now())
    }

    fn hash(&self, sent: &basic::BasicCredentials) -> u64 {
        self.key.hash_one((&sent.login, sent.password.expose()))
    }
}

/// A time to wait, in whole seconds.
pub(crate) fn seconds(wait: Duration) -> String {
    wait.as_secs().saturating_add(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 2));

    fn credentials(login: &str, password: &str) -> basic::BasicCredentials {
        basic::BasicCredentials { login: login.to_owned(), password: svc_auth::Secret::new(password) }
    }

    #[test]
    fn a_flood_on_one_account_blocks_no_other_account_or_network() {
        let attempts = Attempts::default();
        for _ in 0..FORM.0 {
            assert_eq!(attempts.at_form(HERE, "Admin"), Ok(()));
        }
        for _ in 0..1_000 {
            let wait = attempts.at_form(HERE, "admin").unwrap_err();
            assert!(!wait.is_zero() && wait <= FORM.1);
        }
        assert_eq!(attempts.at_form(HERE, "other"), Ok(()), "another account, same network");
        assert_eq!(attempts.at_form(THERE, "admin"), Ok(()), "same account, another network");
    }

    #[test]
    fn an_account_is_limited_across_networks() {
        let attempts = Attempts::default();
        attempts.form_succeeded(HERE, "admin");
        let from = |n: u32| IpAddr::from([203, 0, 113, n as u8]);
        let accepted = (0..200).filter(|n| attempts.at_form(from(*n), "admin").is_ok()).count();
        assert!((60..=61).contains(&accepted), "{accepted}");
        assert_eq!(attempts.at_form(HERE, "ADMIN"), Ok(()), "a network with a successful log-in");
    }

    #[test]
    fn codes_are_limited_per_account_and_network() {
        let attempts = Attempts::default();
        for _ in 0..CODE.0 {
            assert_eq!(attempts.at_code(HERE, "Admin"), Ok(()));
        }
        assert!(attempts.at_code(HERE, "admin").is_err());
        assert_eq!(attempts.at_code(HERE, "other"), Ok(()));
        let from = |n: u8| IpAddr::from([203, 0, 113, n]);
        let n_accepted = (0..100).filter(|n| attempts.at_code(from(*n), "admin").is_ok()).count();
        assert_eq!(n_accepted, (CODE_ACCOUNT.0 - CODE.0) as usize);
        attempts.form_succeeded(THERE, "admin");
        assert_eq!(attempts.at_code(THERE, "admin"), Ok(()), "a network with a successful log-in");
    }

    #[test]
    fn a_network_is_limited_across_accounts() {
        let attempts = Attempts::default();
        for n in 0..FORM_NETWORK.0 {
            assert_eq!(attempts.at_form(format!("2001:db8::{n}").parse().unwrap(), &n.to_string()), Ok(()));
        }
        assert!(attempts.at_form("2001:db8::ffff".parse().unwrap(), "x").is_err(), "same /64 network");
        assert_eq!(attempts.at_form("2001:db8:1::1".parse().unwrap(), "x"), Ok(()));
    }

    #[test]
    fn a_flood_from_many_networks_takes_limited_memory_and_resets_no_counter_in_use() {
        let attempts = Attempts::default();
        let count = || attempts.at_form(HERE, "admin").and_then(|()| attempts.at_form(HERE, "admin"));
        assert_eq!(count(), Ok(()));
        while attempts.failed(HERE).is_none() {}
        for n in 0..10 * MAX_KEYS as u128 {
            let address = IpAddr::from((((0x2001_0db8 << 32) | n) << 64).to_be_bytes());
            let _limited = attempts.at_form(address, &n.to_string());
            attempts.failed(address);
            if n % 1_000 == 0 {
                let _limited = count();
                attempts.failed(HERE);
            }
        }
        // A few more are allowed with time.
        assert!((0..FORM.0 / 2).any(|_| attempts.at_form(HERE, "admin").is_err()));
        assert!((0..WRONG.0 / 2).any(|_| attempts.failed(HERE).is_some()));
        assert!(attempts.limited.len() <= MAX_KEYS);
        let used = [Limit::Form, Limit::FormNetwork, Limit::FormAccount, Limit::Wrong];
        let limiters = attempts.limiters.into_iter().zip(LIMITS).filter(|(_, (limit, ..))| used.contains(limit));
        let n_counters: Vec<usize> = limiters.map(|(limiter, _)| limiter.0.into_state_store().0.len()).collect();
        assert_eq!(n_counters.len(), used.len());
        assert!(n_counters.iter().all(|n| (1_000..=MAX_KEYS).contains(n)), "{n_counters:?}");
    }

    #[test]
    fn valid_passwords_are_accepted_while_wrong_ones_are_limited() {
        let attempts = Attempts::default();
        let (used, unused, wrong) = (credentials("a", "used"), credentials("a", "unused"), credentials("b", "wrong"));
        attempts.succeeded(&used);
        for _ in 0..WRONG.0 {
            assert_eq!(attempts.failed(HERE), None);
        }
        assert_eq!(attempts.refuses_check(HERE, &wrong), None);
        assert!(attempts.failed(HERE).is_some());
        assert_eq!(attempts.failed(THERE), None);
        // A password that was not used before is checked, unless the flood was on the same account.
        assert_eq!(attempts.refuses_check(HERE, &unused), None);
        let n_checked = (0..1_000).filter(|_| attempts.refuses_check(HERE, &wrong).is_none()).count();
        assert!((60..80).contains(&n_checked), "{n_checked}");
        assert_eq!(attempts.refuses_check(HERE, &unused), None);
        // A flood on many accounts is limited, too; passwords that were valid before are still checked.
        let many = |n: u32| credentials(&n.to_string(), "x");
        let n_checked = (0..1_000).filter(|n| attempts.refuses_check(HERE, &many(*n)).is_none()).count();
        assert!((100..200).contains(&n_checked), "{n_checked}");
        assert_eq!(attempts.refuses_check(HERE, &used), None);
        assert_eq!(attempts.refuses_check(THERE, &wrong), None);
    }

    /// Moves what each server has counted to the other.
    fn exchange(one: &Attempts, other: &Attempts) {
        let (of_one, of_other) = (one.take_unshared(), other.take_unshared());
        of_one.iter().for_each(|counted| other.count_of_others(counted));
        of_other.iter().for_each(|counted| one.count_of_others(counted));
        assert!(one.take_unshared().is_empty(), "what others have counted is not shared again");
    }

    #[test]
    fn servers_limit_attempts_together() {
        let (one, other) = (Attempts::default().shared(), Attempts::default().shared());
        for server in [&one, &other] {
            for _ in 0..FORM.0 / 2 {
                assert_eq!(server.at_form(HERE, "admin"), Ok(()));
            }
            for _ in 0..WRONG.0 / 2 + 1 {
                assert_eq!(server.failed(THERE), None);
            }
        }
        exchange(&one, &other);
        for server in [&one, &other] {
            assert!(server.at_form(HERE, "Admin").is_err());
            assert_eq!(server.at_form(HERE, "other"), Ok(()));
            assert!(server.failed(THERE).is_some());
            assert_eq!(server.failed(HERE), None);
        }
        // A successful log-in exempts the network from the limit of the account, on all servers.
        one.form_succeeded(THERE, "admin");
        exchange(&one, &other);
        let from = |n: u8| IpAddr::from([203, 0, 113, n]);
        assert!((0..200).any(|n| other.at_form(from(n), "admin").is_err()));
        assert_eq!(other.at_form(THERE, "admin"), Ok(()));
    }

    #[test]
    fn what_cannot_be_shared_is_kept_within_bounds() {
        let attempts = Attempts::default().shared();
        for n in 0..2 * MAX_UNSHARED as u128 {
            attempts.failed(IpAddr::from((((0x2001_0db8 << 32) | n) << 64).to_be_bytes()));
        }
        assert_eq!(attempts.unshared.as_ref().unwrap().lock().unwrap().len(), MAX_UNSHARED);
        let _rest = attempts.take_unshared();
        for _ in 0..3 {
            attempts.failed(HERE);
        }
        let counted = attempts.take_unshared();
        assert_eq!(counted.iter().map(|counted| counted.n).collect::<Vec<_>>(), [3]);
        attempts.keep_unshared(counted.clone());
        assert_eq!(attempts.take_unshared(), counted);
        let alone = Attempts::default();
        alone.failed(HERE);
        assert!(alone.take_unshared().is_empty());
    }
}
