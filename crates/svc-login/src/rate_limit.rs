//! Limits on log-in attempts.
//!
//! The log-in form counts every attempt before it checks the password, since password hashing is expensive. It counts per account
//! and network, so that a flood on one account affects neither other accounts nor the account's owner on another network.
//!
//! Clients of the REST API send their password with each request, so only wrong passwords count there. A network with too many
//! of them gets 429, except for passwords that are right: checking them is cheap, and limited as well.
//!
//! Failed logins are logged in one form.

use std::{
    convert::Infallible,
    hash::{BuildHasher, Hash, RandomState},
    net::IpAddr,
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    nanos::Nanos,
    state::{InMemoryState, NotKeyed, StateStore},
};
use quick_cache::sync::Cache;
use svc_auth::basic;
use svc_listen::network_of;
use svc_metrics::Outcomes;

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

/// Counters of log-in attempts. They are lost on restart.
pub struct Attempts {
    form: Limiter<(IpAddr, String)>,
    form_network: Limiter<IpAddr>,
    form_account: Limiter<String>,
    code: Limiter<(IpAddr, String)>,
    code_account: Limiter<String>,
    reset: Limiter<IpAddr>,
    reset_mail: Limiter<String>,
    confirmation_mail: Limiter<String>,
    wrong: Limiter<IpAddr>,
    checks_account: Limiter<(IpAddr, String)>,
    checks: Limiter<IpAddr>,
    /// Networks with too many wrong passwords, with the end of the limit.
    limited: Cache<IpAddr, Instant>,
    /// Networks and accounts with a successful log-in.
    logged_in: Cache<(IpAddr, String), ()>,
    /// Hashes of valid credentials.
    valid: Cache<u64, ()>,
    /// Secret key of these hashes.
    key: RandomState,
    failures: Outcomes<{ FAILURES.len() }>,
}

struct Limiter<K: Hash + Eq + Clone>(RateLimiter<K, Counters<K>, DefaultClock>);

/// The counters of a bounded number of keys.
struct Counters<K>(Cache<K, Arc<InMemoryState>>);

impl<K: Hash + Eq + Clone> StateStore for Counters<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, count: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let new = || Ok::<_, Infallible>(Arc::default());
        let Ok(counter) = self.0.get_or_insert_with(key, new);
        counter.measure_and_replace(&NotKeyed::NonKey, count)
    }
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    fn new((burst, every): Rate) -> Self {
        let burst = NonZeroU32::new(burst).expect("a limit allows at least one attempt");
        let quota = Quota::with_period(every).expect("the time of a limit is not zero").allow_burst(burst);
        Limiter(RateLimiter::new(quota, Counters(Cache::new(MAX_KEYS)), DefaultClock::default()))
    }

    /// Counts an attempt.
    ///
    /// # Errors
    /// Returns the time to wait if the limit is exceeded.
    fn count(&self, key: &K) -> Result<(), Duration> {
        self.0.check_key(key).map_err(|until| until.wait_time_from(self.0.clock().now()))
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts {
            form: Limiter::new(FORM),
            form_network: Limiter::new(FORM_NETWORK),
            form_account: Limiter::new(FORM_ACCOUNT),
            code: Limiter::new(CODE),
            code_account: Limiter::new(CODE_ACCOUNT),
            reset: Limiter::new(RESET),
            reset_mail: Limiter::new(RESET_MAIL),
            confirmation_mail: Limiter::new(RESET_MAIL),
            wrong: Limiter::new(WRONG),
            checks_account: Limiter::new(CHECKS_ACCOUNT),
            checks: Limiter::new(CHECKS),
            limited: Cache::new(MAX_KEYS),
            logged_in: Cache::new(MAX_REMEMBERED),
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
            LoginFailure::WrongApplicationPassword => {
                ("not an application password of this user", "wrong_application_password")
            }
        }
    }
}

/// The names of all reasons in metrics.
const FAILURES: [&str; 6] = [
    LoginFailure::TooManyAttempts.texts().1,
    LoginFailure::WrongPassword.texts().1,
    LoginFailure::UnknownUser.texts().1,
    LoginFailure::WrongCurrentPassword.texts().1,
    LoginFailure::WrongCode.texts().1,
    LoginFailure::WrongApplicationPassword.texts().1,
];

/// The key of a network and an account. Letter case is ignored.
fn pair(address: IpAddr, account: &str) -> (IpAddr, String) {
    let end = account.floor_char_boundary(NAME_LENGTH);
    (network_of(address), account[..end].to_lowercase())
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
        let pair = pair(address, account);
        // Attempts beyond the limit of one account do not count for the network.
        self.form.count(&pair)?;
        self.form_network.count(&pair.0)?;
        match self.logged_in.get(&pair) {
            Some(()) => Ok(()),
            None => self.form_account.count(&pair.1),
        }
    }

    /// Counts a code of a second factor.
    ///
    /// # Errors
    /// Returns the time to wait if a limit is exceeded.
    pub(crate) fn at_code(&self, address: IpAddr, login: &str) -> Result<(), Duration> {
        let pair = pair(address, login);
        self.code.count(&pair)?;
        match self.logged_in.get(&pair) {
            Some(()) => Ok(()),
            None => self.code_account.count(&pair.1),
        }
    }

    /// Counts a request for a link to set a new password, or a key that is not valid.
    ///
    /// # Errors
    /// Returns the time to wait if the limit of the network is exceeded.
    pub(crate) fn at_reset(&self, address: IpAddr) -> Result<(), Duration> {
        self.reset.count(&network_of(address))
    }

    /// Counts a mail with a link to set a new password.
    ///
    /// # Errors
    /// Returns the time to wait if the limit of the account is exceeded.
    pub(crate) fn at_reset_mail(&self, login: &str) -> Result<(), Duration> {
        self.reset_mail.count(&login.to_lowercase())
    }

    /// Counts a mail that asks to confirm a new e-mail address of an account.
    ///
    /// # Errors
    /// Returns the time to wait if the limit of the account is exceeded.
    pub(crate) fn at_confirmation_mail(&self, login: &str) -> Result<(), Duration> {
        self.confirmation_mail.count(&login.to_lowercase())
    }

    /// Records a successful log-in with the form.
    pub fn form_succeeded(&self, address: IpAddr, account: &str) {
        self.logged_in.insert(pair(address, account), ());
    }

    /// Whether credentials of the API must not be checked now. Returns the time to wait.
    pub fn refuses_check(&self, address: IpAddr, sent: &basic::BasicCredentials) -> Option<Duration> {
        let wait = self.limited_for(network_of(address))?;
        if self.valid.get(&self.hash(sent)).is_some() {
            return None;
        }
        let pair = pair(address, &sent.login);
        let checked = self.checks_account.count(&pair).and_then(|()| self.checks.count(&pair.0));
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
        let network = network_of(address);
        if let Some(wait) = self.limited_for(network) {
            return Some(wait);
        }
        let wait = self.wrong.count(&network).err()?;
        self.limited.insert(network, Instant::now() + wait);
        Some(wait)
    }

    fn limited_for(&self, network: IpAddr) -> Option<Duration> {
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
        let n_counters = [
            attempts.form.0.into_state_store().0.len(),
            attempts.form_network.0.into_state_store().0.len(),
            attempts.form_account.0.into_state_store().0.len(),
            attempts.wrong.0.into_state_store().0.len(),
        ];
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
}
