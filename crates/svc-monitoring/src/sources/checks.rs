//! Metrics of the checks of `/readyz` that need no database.

use std::fmt;

use crate::{Checks, Families, Source, families::number};

impl Source for Checks {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        let draining = if self.is_draining() { 1.0 } else { 0.0 };
        families.gauge("svc_draining", "Whether the server is stopping.", [(&[][..], draining)])?;
        let free = self.free_bytes().map(|free| (&[][..], number(free)));
        families.gauge("svc_data_disk_free_bytes", "Free space of the data folder's disk.", free)
    }
}
