//! Abilities: functions of the site that code registers and clients can discover and run.

pub(crate) mod core;
mod routes;

pub use crate::registries::abilities::{Abilities, Ability, AbilityCall, AbilityCategory};

pub use self::routes::{AbilityCategoryFamily, AbilityFamily};
