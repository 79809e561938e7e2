//! Icons that editors choose from.

pub(crate) mod registry;
mod routes;

pub use self::{
    registry::{IconCollection, Icons},
    routes::IconRoutes,
};
