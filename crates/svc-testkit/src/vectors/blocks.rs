//! Functions of svc-content, blocks.

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(_vector: &Vector) -> Option<Outcome> {
    None
}
