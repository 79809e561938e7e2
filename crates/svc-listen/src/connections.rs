//! Limits on connections: in total and per network.
//!
//! New clients take precedence over idle ones. If the limit is reached, the connection that has been idle for longest is closed,
//! or else the one whose client is furthest behind in sending a body or reading a response.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use crate::{
    activity::{Activity, Close},
    limits::ConnectionLimits,
    log::Seldom,
    network::network_of,
};

/// Interval of checks for slow and idle connections.
const SWEEP: Duration = Duration::from_millis(250);

/// Minimum idle time before a connection is closed for a new one, since its next request may be on the way.
const IDLE_AT_LEAST: Duration = Duration::from_millis(20);

/// Minimum time that a client must be behind before its connection is closed during a request.
const BEHIND_AT_LEAST: Duration = Duration::from_millis(500);

/// Interval of log lines about the limit.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// All connections of a server.
pub(crate) struct Connections {
    limits: ConnectionLimits,
    list: Mutex<List>,
    /// Notified when a slot becomes free.
    freed: Notify,
    all_full: Seldom,
    network_full: Seldom,
}

#[derive(Default)]
struct List {
    next_id: u64,
    open: HashMap<u64, Open>,
    n_by_network: HashMap<IpAddr, usize>,
}

struct Open {
    /// `None` for trusted proxies, which forward many clients.
    network: Option<IpAddr>,
    activity: Arc<Activity>,
}

/// Decision about a new connection.
pub(crate) enum Admission {
    /// It is served. The slot is released on drop.
    Admitted(Slot),
    /// It is rejected: the network has reached its limit, and all of its connections are in use.
    NetworkFull,
    /// It waits: all connections are in use.
    Full,
}

/// The slot of one connection.
pub(crate) struct Slot {
    id: u64,
    pub(crate) activity: Arc<Activity>,
    connections: Arc<Connections>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.list().remove(self.id);
        self.connections.freed.notify_one();
    }
}

impl List {
    fn remove(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        if let Some(network) = open.network
            && let Some(n) = self.n_by_network.get_mut(&network)
        {
            *n -= 1;
            if *n == 0 {
                self.n_by_network.remove(&network);
            }
        }
        Some(open)
    }

    /// Closes the least active connection, of this network or of all. Returns false if all are active.
    fn make_room(&mut self, network: Option<IpAddr>, now: Instant) -> bool {
        let candidates = self.open.iter().filter(|(_, open)| network.is_none() || open.network == network);
        let need = candidates.filter_map(|(id, open)| match open.activity.idle_for(now) {
            Some(idle) => (idle >= IDLE_AT_LEAST).then_some((true, idle, *id)),
            None => Some((false, open.activity.behind(now), *id)).filter(|(_, behind, _)| *behind >= BEHIND_AT_LEAST),
        });
        let Some((_, _, id)) = need.max() else { return false };
        if let Some(open) = self.remove(id) {
            open.activity.make_room();
        }
        true
    }
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Connections {
            limits,
            list: Mutex::default(),
            freed: Notify::new(),
            all_full: Seldom::every(REPORT_EVERY),
            network_full: Seldom::every(REPORT_EVERY),
        })
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a slot for a connection from this address.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Admission {
        let now = Instant::now();
        let is_exempt = self.limits.trusted.iter().any(|network| network.contains(peer));
        let network = (!is_exempt).then(|| network_of(peer));
        let mut list = self.list();
        if let Some(network) = network
            && list.n_by_network.get(&network).is_some_and(|n| *n >= self.limits.connections_per_network)
            && !list.make_room(Some(network), now)
        {
            drop(list);
            if let Some(n) = self.network_full.report() {
                let most = self.limits.connections_per_network;
                tracing::warn!(
                    "{n} connections refused: the network {network} has {most} in use \
                     (limits.connections_per_network; list proxies in trusted_proxies)"
                );
            }
            return Admission::NetworkFull;
        }
        if list.open.len() >= self.limits.connections && !list.make_room(None, now) {
            drop(list);
            if self.all_full.report().is_some() {
                tracing::warn!("all {} connections are in use (limits.connections)", self.limits.connections);
            }
            return Admission::Full;
        }
        let (id, activity) = (list.next_id, Arc::new(Activity::new(now)));
        list.next_id += 1;
        list.open.insert(id, Open { network, activity: Arc::clone(&activity) });
        if let Some(network) = network {
            *list.n_by_network.entry(network).or_default() += 1;
        }
        Admission::Admitted(Slot { id, activity, connections: Arc::clone(self) })
    }

    /// Waits until a slot is free, or a short time: other connections may become idle.
    pub(crate) async fn changed(&self) {
        drop(tokio::time::timeout(IDLE_AT_LEAST, self.freed.notified()).await);
    }

    /// Closes slow connections in a loop.
    pub(crate) async fn sweep(&self) {
        let limits = [self.limits.header, self.limits.idle, self.limits.stall];
        let shortest = limits.into_iter().min().unwrap_or(SWEEP) / 4;
        let mut ticks = tokio::time::interval(SWEEP.min(shortest).max(Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let now = Instant::now();
            for open in self.list().open.values() {
                if let Some(reason) = open.activity.verdict(now, &self.limits) {
                    tracing::debug!("closing a connection: {reason}");
                    open.activity.close(Close::Now);
                }
            }
        }
    }

    /// Closes all connections immediately.
    pub(crate) fn close_all(&self) {
        self.list().open.values().for_each(|open| open.activity.close(Close::Now));
    }

    /// Connections with a request in progress.
    pub(crate) fn n_busy(&self) -> usize {
        self.list().open.values().filter(|open| open.activity.is_busy()).count()
    }
}
