//! How often sign-in may be tried: per address and per account at the form, per address for programs.
//!
//! At the form every attempt counts before its password is looked at, so that guessing costs this server nothing. Programs
//! send their password with each request, so there only wrong ones count; an address that has used up its share is not
//! listened to for a while.

use std::{
    collections::HashMap,
    net::IpAddr,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};

use crate::serving::network_of;

/// Attempts at the form from one address: this many at once, then one in a while.
const ADDRESS: (u32, Duration) = (20, Duration::from_secs(6));

/// Attempts at the form on one account, wherever they come from. More than people need; the wait stays short, as it is
/// the account's owner who is kept out too.
const ACCOUNT: (u32, Duration) = (10, Duration::from_secs(15));

/// Wrong passwords of programs from one address.
const PROGRAM: (u32, Duration) = (60, Duration::from_secs(1));

/// Keys above which those that are back to a full share are forgotten.
const MOST_KEYS: usize = 10_000;

/// Longest part of an account's name that tells it from others, in bytes.
const NAME_LENGTH: usize = 100;

/// The counts. One per server; a restart forgets them.
pub(crate) struct Attempts {
    clock: DefaultClock,
    addresses: DefaultKeyedRateLimiter<IpAddr>,
    accounts: DefaultKeyedRateLimiter<String>,
    programs: DefaultKeyedRateLimiter<IpAddr>,
    /// Addresses whose programs are not listened to, and until when.
    refused: Mutex<HashMap<IpAddr, Instant>>,
}

impl Default for Attempts {
    fn default() -> Self {
        let quota = |(burst, every): (u32, Duration)| {
            let burst = NonZeroU32::new(burst).expect("a share is at least one");
            Quota::with_period(every).expect("a time that is not nothing").allow_burst(burst)
        };
        Attempts {
            clock: DefaultClock::default(),
            addresses: RateLimiter::keyed(quota(ADDRESS)),
            accounts: RateLimiter::keyed(quota(ACCOUNT)),
            programs: RateLimiter::keyed(quota(PROGRAM)),
            refused: Mutex::default(),
        }
    }
}

impl Attempts {
    /// Counts an attempt at the form on an account.
    ///
    /// # Errors
    /// How long to wait, when there were too many.
    pub(crate) fn at_form(&self, address: IpAddr, account: &str) -> Result<(), Duration> {
        let address = network_of(address);
        self.addresses.check_key(&address).map_err(|until| until.wait_time_from(self.clock.now()))?;
        let end = account.floor_char_boundary(NAME_LENGTH);
        let account = account[..end].to_lowercase();
        self.accounts.check_key(&account).map_err(|until| until.wait_time_from(self.clock.now()))?;
        if self.addresses.len() > MOST_KEYS {
            self.addresses.retain_recent();
        }
        if self.accounts.len() > MOST_KEYS {
            self.accounts.retain_recent();
        }
        Ok(())
    }

    /// How long programs at this address are not listened to.
    pub(crate) fn refuses_program(&self, address: IpAddr) -> Option<Duration> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.is_empty() {
            return None;
        }
        refused.get(&network_of(address))?.checked_duration_since(Instant::now())
    }

    /// Counts a wrong password of a program.
    pub(crate) fn program_failed(&self, address: IpAddr) {
        let address = network_of(address);
        if self.programs.len() > MOST_KEYS {
            self.programs.retain_recent();
        }
        let Err(until) = self.programs.check_key(&address) else { return };
        let now = Instant::now();
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() > MOST_KEYS {
            refused.retain(|_, until| *until > now);
        }
        refused.insert(address, now + until.wait_time_from(self.clock.now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));

    #[test]
    fn an_account_has_its_share_wherever_the_attempts_come_from() {
        let attempts = Attempts::default();
        for n in 0..ACCOUNT.0 {
            assert_eq!(attempts.at_form(IpAddr::from([198, 51, 100, n as u8]), "Admin"), Ok(()));
        }
        let wait = attempts.at_form(HERE, "admin").unwrap_err();
        assert!(!wait.is_zero() && wait <= ACCOUNT.1);
        assert_eq!(attempts.at_form(HERE, "other"), Ok(()));
    }

    #[test]
    fn an_address_has_its_share_whatever_the_account() {
        let attempts = Attempts::default();
        for n in 0..ADDRESS.0 {
            assert_eq!(attempts.at_form(format!("2001:db8::{n}").parse().unwrap(), &n.to_string()), Ok(()));
        }
        assert!(attempts.at_form("2001:db8::ffff".parse().unwrap(), "x").is_err(), "of the same network");
        assert_eq!(attempts.at_form("2001:db8:1::1".parse().unwrap(), "x"), Ok(()));
    }

    #[test]
    fn programs_that_fail_too_often_are_not_listened_to() {
        let attempts = Attempts::default();
        for _ in 0..PROGRAM.0 {
            attempts.program_failed(HERE);
        }
        assert_eq!(attempts.refuses_program(HERE), None);
        attempts.program_failed(HERE);
        assert!(attempts.refuses_program(HERE).is_some());
        assert_eq!(attempts.refuses_program(IpAddr::from([198, 51, 100, 2])), None);
    }
}
