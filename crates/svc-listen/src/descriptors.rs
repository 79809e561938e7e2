//! The limit on open files and sockets.

/// Files in addition to sockets: databases, uploads, temporary files, logs.
const OTHER_FILES: u64 = 1_024;

/// Raises the soft limit on open files for this many connections, up to the hard limit.
///
/// Each connection may also send a file. If the limit cannot be raised far enough, a warning is logged.
#[cfg(unix)]
pub fn raise_limit(n_connections: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let wanted = (n_connections as u64).saturating_mul(2).saturating_add(OTHER_FILES);
    let mut limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current.filter(|current| *current < wanted) else { return };
    let reachable = limit.maximum.map_or(wanted, |hard| hard.min(wanted));
    limit.current = Some(reachable);
    let raised = reachable > current && setrlimit(Resource::Nofile, limit).is_ok();
    let now = if raised { reachable } else { current };
    if now < n_connections as u64 + OTHER_FILES / 4 {
        tracing::warn!("the limit of {now} open files is too low for {n_connections} connections (see ulimit -n)");
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn raise_limit(_: usize) {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    #[test]
    fn raises_the_limit_of_open_files() {
        let before = getrlimit(Resource::Nofile);
        let wanted = before.current.map_or(1, |current| current as usize);
        super::raise_limit(wanted);
        let after = getrlimit(Resource::Nofile);
        assert!(after.current.is_none() || after.current > before.current || before.current == before.maximum);
    }
}
