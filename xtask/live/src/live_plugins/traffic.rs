//! Who reads what: callers of different rights, and URLs of which few are read often.

use anyhow::Result;
use xtask_support::{
    gateway::Gateway,
    server::{Response, basic, exchange},
};

use crate::users::{create, log_in};

/// A sequence of pseudo-random numbers (splitmix64).
#[derive(Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 16) % n.max(1) as u64) as usize
    }

    /// A number from 0 to 1.
    fn fraction(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    /// An index of a list of which the n-th item is wanted about 1/n times as often as the first.
    fn skewed(&mut self, n: usize) -> usize {
        ((n as f64 + 1.0).powf(self.fraction()) - 1.0) as usize % n.max(1)
    }
}

/// Somebody who sends requests.
pub(super) struct Caller {
    pub(super) name: &'static str,
    /// Headers with credentials; none for a visitor.
    pub(super) headers: Vec<(&'static str, String)>,
    /// How many of a hundred reads.
    share: usize,
}

impl Caller {
    pub(super) fn get(&self, address: &str, target: &str) -> Result<Response> {
        exchange(address, "GET", target, &self.headers, "")
    }
}

/// A visitor, an administrator, and users of other roles, who are created: with an application password, or as logged in in `wp-admin`.
pub(super) fn callers(gateway: &Gateway) -> Result<Vec<Caller>> {
    let admin = vec![("Authorization", basic(&gateway.credentials))];
    let mut callers = vec![
        Caller { name: "visitor", headers: Vec::new(), share: 60 },
        Caller { name: "administrator", headers: admin, share: 5 },
    ];
    for (role, share) in [("subscriber", 10), ("editor", 10)] {
        let name = format!("live-{role}");
        let headers = vec![("Authorization", basic(&create(gateway, &name, role)?))];
        callers.push(Caller { name: role, headers, share });
        match log_in(gateway, &name) {
            Ok(headers) => callers.push(Caller { name: role, headers, share: 10 - share / 2 }),
            Err(error) => xtask_support::say(&format!("{role} cannot log in: {error:#}"))?,
        }
    }
    Ok(callers)
}

/// The reads, each by a caller.
pub(super) struct Traffic {
    pub(super) callers: Vec<Caller>,
    pub(super) targets: Vec<String>,
}

impl Traffic {
    /// The indices of a caller and a URL.
    pub(super) fn pick(&self, random: &mut Random) -> (usize, usize) {
        let all = self.callers.iter().map(|caller| caller.share).sum();
        let mut at = random.below(all);
        let caller = self.callers.iter().position(|caller| {
            let is_here = at < caller.share;
            at = at.saturating_sub(caller.share);
            is_here
        });
        (caller.unwrap_or_default(), random.skewed(self.targets.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_read_often() {
        let mut random = Random(1);
        let mut counts = [0; 100];
        (0..100_000).for_each(|_| counts[random.skewed(100)] += 1);
        assert!(counts.iter().all(|n| *n > 0));
        assert!(counts[0] > 10 * counts[20] && counts[0] < 50_000, "{counts:?}");
    }

    #[test]
    fn callers_have_their_shares() {
        let caller = |name, share| Caller { name, headers: Vec::new(), share };
        let traffic = Traffic { callers: vec![caller("a", 90), caller("b", 10)], targets: vec!["/".to_owned()] };
        let mut random = Random(1);
        let n = (0..10_000).filter(|_| traffic.pick(&mut random).0 == 1).count();
        assert!((800..1_200).contains(&n), "{n}");
    }
}
