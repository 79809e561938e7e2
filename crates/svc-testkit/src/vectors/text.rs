//! Functions of svc-text: sanitizers and escapes.

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(_vector: &Vector) -> Option<Outcome> {
    None
}
