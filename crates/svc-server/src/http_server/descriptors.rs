//! The number of files and sockets that the system lets the process open.

/// Files in addition to sockets: databases, uploads, temporary files, logs.
const OTHER_FILES: u64 = 1_024;

/// Raises the soft limit of open files so that this many connections fit, as far as the hard limit allows.
///
/// Each connection may have a file of its own open, which it sends. Where the limit cannot be raised far enough, this is
/// logged, and the server works with what there is.
#[cfg(unix)]
pub(crate) fn raise_limit(n_connections: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let wanted = (n_connections as u64).saturating_mul(2).saturating_add(OTHER_FILES);
    let mut limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current.filter(|current| *current < wanted) else { return };
    let reachable = limit.maximum.map_or(wanted, |hard| hard.min(wanted));
    limit.current = Some(reachable);
    let raised = reachable > current && setrlimit(Resource::Nofile, limit).is_ok();
    let now = if raised { reachable } else { current };
    if now < n_connections as u64 + OTHER_FILES / 4 {
        tracing::warn!("only {now} files can be open at once, too few for {n_connections} connections (see ulimit -n)");
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn raise_limit(_: usize) {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    #[test]
    fn the_limit_of_open_files_is_raised() {
        let before = getrlimit(Resource::Nofile);
        let wanted = before.current.map_or(1, |current| current as usize);
        super::raise_limit(wanted);
        let after = getrlimit(Resource::Nofile);
        assert!(after.current.is_none() || after.current > before.current || before.current == before.maximum);
    }
}
