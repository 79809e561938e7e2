//! What happens to the processes, one after the other.

use std::{
    sync::{PoisonError, atomic::Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use xtask_support::{say, server::exchange};

use super::{
    fleet::{Fleet, SIZE},
    load::{Load, rest},
};

/// How long a process is stopped or split off. Longer than a lease, and than the time after which nodes exclude one.
const FAULT: Duration = Duration::from_secs(16);

/// Time between two faults, after everything works again.
const PAUSE: Duration = Duration::from_secs(3);

/// Time after which a node that is split off knows it.
const NOTICED: Duration = Duration::from_secs(8);

/// What happens to a process.
#[derive(Clone, Copy, Debug)]
enum Fault {
    KillServer,
    StopServer,
    KillNode,
    StopNode,
    SplitNode,
}

const FAULTS: [Fault; 5] = [Fault::KillServer, Fault::StopServer, Fault::SplitNode, Fault::KillNode, Fault::StopNode];

/// Lets processes fail until the end, and returns how often. From `kept` on servers are not killed, so that their memory can be compared:
/// adds it after each round of the other faults.
pub(super) fn run(
    fleet: &Fleet,
    load: &Load<'_>,
    (kept, end): (Instant, Instant),
    memory: &mut Vec<Vec<Option<u64>>>,
) -> Result<u64> {
    let all = (0..SIZE).flat_map(|n| FAULTS.map(|fault| (fault, n)));
    let mut n_faults = 0;
    for (fault, n) in all.cycle() {
        let begun = Instant::now();
        if begun >= kept && matches!(fault, Fault::KillServer) {
            if n == 0 {
                memory.push(fleet.memory());
            }
            continue;
        }
        thread::sleep(PAUSE);
        if Instant::now() >= end {
            break;
        }
        *load.fault.lock().unwrap_or_else(PoisonError::into_inner) = format!("{fault:?} {n}");
        apply(fleet, load, fault, n).with_context(|| format!("{fault:?} {n}"))?;
        fleet.wait_until_healthy().with_context(|| format!("after {fault:?} {n}"))?;
        say(&format!("{fault:?} {n}: everything works again after {} s", begun.elapsed().as_secs()))?;
        n_faults += 1;
    }
    Ok(n_faults)
}

fn apply(fleet: &Fleet, load: &Load<'_>, fault: Fault, n: usize) -> Result<()> {
    let node = fleet.cluster.nodes().get(n).context("no such node")?;
    match fault {
        Fault::KillServer => {
            fleet.kill_server(n)?;
            thread::sleep(PAUSE);
            fleet.start_server(n)
        }
        Fault::StopServer => {
            fleet.signal_server(n, "-STOP")?;
            thread::sleep(FAULT);
            fleet.signal_server(n, "-CONT")
        }
        Fault::KillNode => {
            node.kill()?;
            thread::sleep(PAUSE);
            node.run()
        }
        Fault::StopNode => {
            node.pause()?;
            thread::sleep(FAULT);
            node.resume()
        }
        Fault::SplitNode => {
            let isolate = |on: u8| node.client(&format!("SET GLOBAL wsrep_provider_options = 'gmcast.isolate={on}'"));
            isolate(1)?;
            let begun = Instant::now();
            thread::sleep(NOTICED);
            while begun.elapsed() < FAULT {
                minority(fleet, load, n);
                thread::sleep(Duration::from_millis(100));
            }
            isolate(0).map(drop)
        }
    }
}

/// Requests to the server whose node is split off. It must not respond with what others may have changed since.
fn minority(fleet: &Fleet, load: &Load<'_>, n: usize) {
    let path = format!("{}/posts&_fields=id&per_page=1", rest());
    let counts = &load.counts;
    counts.minority.fetch_add(1, Relaxed);
    match exchange(&fleet.address(n), "GET", &path, &[], "") {
        Ok(response) if response.status == 503 => {}
        Ok(response) => {
            counts.minority_wrong.fetch_add(1, Relaxed);
            load.violation(format!("a node without the majority: {} {:.100}", response.status, response.body));
        }
        Err(error) => load.violation(format!("a node without the majority: {error}")),
    }
}
