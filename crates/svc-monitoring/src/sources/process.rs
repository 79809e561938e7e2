//! Metrics of the process, under the names that Prometheus' own clients use.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{Families, Source, families::number};

/// A process: its build, memory, files, processor time and start.
#[derive(Debug)]
pub struct Process {
    version: &'static str,
    database: &'static str,
    started: Duration,
}

impl Process {
    /// The process with this version of the program and kind of database. Its start is the time of this call.
    pub fn new(version: &'static str, database: &'static str) -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Process { version, database, started }
    }
}

impl Source for Process {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        let build = [("version", self.version), ("database", self.database)];
        families.gauge("svc_build_info", "Version and kind of database; always 1.", [(&build[..], 1.0)])?;
        let start = self.started.as_secs_f64();
        families.gauge("process_start_time_seconds", "Start of the process, as Unix time.", [(&[][..], start)])?;
        let resident = system::resident_bytes().map(|n| (&[][..], number(n)));
        families.gauge("process_resident_memory_bytes", "Resident memory.", resident)?;
        let files = system::open_files().map(|n| (&[][..], number(n)));
        families.gauge("process_open_fds", "Open files and sockets.", files)?;
        let max = system::max_files().map(|n| (&[][..], number(n)));
        families.gauge("process_max_fds", "Maximum number of open files and sockets.", max)?;
        let cpu = system::cpu_seconds().map(|n| (&[][..], n));
        families.counter("process_cpu_seconds", "Processor time of the process.", cpu)
    }
}

#[cfg(target_os = "linux")]
pub(crate) mod system {
    //! What Linux knows of the process.

    use rustix::process::{Resource, getrlimit};

    /// Clock ticks per second in `/proc`, on all architectures that Rust supports.
    const TICKS: f64 = 100.0;

    pub(crate) fn resident_bytes() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
    }

    pub(super) fn open_files() -> Option<usize> {
        // One of them is the folder itself.
        std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count().saturating_sub(1))
    }

    pub(super) fn max_files() -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    pub(crate) fn cpu_seconds() -> Option<f64> {
        // Not a clock of the process: rustix reads it through the vDSO, which valgrind hides (`cargo xtask bench instructions`).
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Behind the name, which may contain spaces, are the state and ten numbers before the times in user and kernel mode.
        let (_, fields) = stat.rsplit_once(')')?;
        let times = fields.split_ascii_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().ok());
        Some(times.sum::<Option<f64>>()? / TICKS)
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) mod system {
    //! Nothing is known of the process on other systems.

    pub(crate) fn resident_bytes() -> Option<u64> {
        None
    }

    pub(super) fn open_files() -> Option<usize> {
        None
    }

    pub(super) fn max_files() -> Option<u64> {
        None
    }

    pub(crate) fn cpu_seconds() -> Option<f64> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::Metrics;

    #[test]
    fn describes_this_process() {
        // The system counts in steps of ten milliseconds.
        let start = std::time::Instant::now();
        while system::cpu_seconds() == Some(0.0) && start.elapsed() < Duration::from_secs(10) {
            std::hint::spin_loop();
        }
        let text = Metrics::default().with(Process::new("1.0.0", "sqlite")).encode().unwrap();
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
        };
        assert!(value("process_resident_memory_bytes") > 500_000.0);
        assert!(value("process_open_fds") >= 3.0 && value("process_max_fds") > value("process_open_fds"));
        assert!(value("process_cpu_seconds_total") > 0.0);
        assert!(value("process_start_time_seconds") > 1.7e9);
    }
}
