//! Metrics of the continuous backup.

use std::fmt;

use svc_backup::BackupStatus;

use crate::{Families, Source, families::number};

impl Source for BackupStatus {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        let report = self.report();
        families.gauge(
            "svc_backup_lag_seconds",
            "Time since everything that was committed was in the backup.",
            [(&[][..], report.lag_seconds)],
        )?;
        let pending = number(report.pending_frames);
        families.gauge(
            "svc_backup_pending_frames",
            "Page changes that are not in the backup.",
            [(&[][..], pending)],
        )?;
        let frames = number(report.frames);
        families.counter("svc_backup_frames", "Page changes that were copied.", [(&[][..], frames)])?;
        families.counter("svc_backup_bytes", "Bytes that were copied.", [(&[][..], number(report.bytes))])?;
        families.counter("svc_backup_failures", "Failed attempts to copy.", [(&[][..], number(report.failures))])?;
        families.counter(
            "svc_backup_generations",
            "How often the backup began anew with a snapshot.",
            [(&[][..], number(report.generations))],
        )?;
        let snapshot = report.last_snapshot.map(|time| (&[][..], time));
        families.gauge(
            "svc_backup_last_snapshot_timestamp_seconds",
            "Last complete snapshot, as Unix time.",
            snapshot,
        )?;
        let files = report.last_files.map(|time| (&[][..], time));
        families.gauge("svc_backup_last_files_timestamp_seconds", "Last copy of the files, as Unix time.", files)
    }
}
