//! Identities of processes, by which another process on the same machine sees that one has ended.
//!
//! An identity has the boot, the namespace of process IDs, the user, the process ID and the start time, as Linux reports them. It
//! is of no use on other systems: there nobody is seen to have ended.

use std::fs;
use std::io::ErrorKind;

/// The identity of this process; empty if the system does not report it.
pub(crate) fn identity() -> String {
    own_prefix()
        .zip(Stat::read("self"))
        .map(|(prefix, stat)| format!("{prefix}{}.{}", stat.pid, stat.started))
        .unwrap_or_default()
}

/// Whether the process with this identity has run on this machine, for the same user, and has ended.
pub(crate) fn has_ended(identity: &str) -> bool {
    let Some(process) = own_prefix().and_then(|prefix| identity.strip_prefix(prefix.as_str()).map(str::to_owned))
    else {
        return false;
    };
    let Some((pid, started)) = process.split_once('.').filter(|(pid, _)| pid.bytes().all(|b| b.is_ascii_digit()))
    else {
        return false;
    };
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // Another process may have got its ID.
        Ok(stat) => Stat::parse(&stat).is_some_and(|stat| stat.is_ended || stat.started != started),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// What the identities of all processes begin with that this process can look up.
fn own_prefix() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().replace('-', "");
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace: String = namespace.to_str()?.chars().filter(char::is_ascii_digit).collect();
    let status = fs::read_to_string("/proc/self/status").ok()?;
    // Processes of other users may be hidden.
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?;
    Some(format!("{boot}.{namespace}.{user}."))
}

/// A part of `/proc/PID/stat`.
struct Stat {
    pid: String,
    is_ended: bool,
    /// Start time in ticks since the boot.
    started: String,
}

impl Stat {
    fn read(process: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// The name of the program is in parentheses, and can contain some.
    fn parse(text: &str) -> Option<Self> {
        let (pid, rest) = (text.split_once(' ')?.0, text.rsplit_once(')')?.1);
        let mut fields = rest.split_whitespace();
        let state = fields.next()?;
        Some(Stat { pid: pid.to_owned(), is_ended: matches!(state, "Z" | "X"), started: fields.nth(18)?.to_owned() })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_has_ended_when_its_id_is_gone_or_used_again() {
        let own = identity();
        assert!(own.len() < 80 && !has_ended(&own), "{own}");
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let stat = Stat::read(&child.id().to_string()).unwrap();
        let other = format!("{}{}.{}", own_prefix().unwrap(), stat.pid, stat.started);
        assert!(!has_ended(&other));
        let (process, _) = other.rsplit_once('.').unwrap();
        assert!(has_ended(&format!("{process}.1")), "another process has the ID");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(has_ended(&other));
        for unknown in ["", "x", &other.replacen('.', ".9", 1), &format!("{}../1.1", own_prefix().unwrap())] {
            assert!(!has_ended(unknown), "{unknown}");
        }
    }

    #[test]
    fn names_of_programs_contain_parentheses() {
        let stat = Stat::parse("7 (a) Z (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20").unwrap();
        assert_eq!((&*stat.pid, stat.is_ended, &*stat.started), ("7", false, "4711"));
    }
}
