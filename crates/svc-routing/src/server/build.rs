//! The end of start-up: a registry becomes a server with the built-in routes.

use super::{Server, batch, index};
use crate::Registry;
use crate::registry::BuiltinRoutes;

impl Registry {
    /// Runs the `init` hooks and builds the server.
    pub fn build(self) -> Server {
        let root = vec![index::root_route(), batch::route(self.site().max_batch)];
        Server::new(self.finish(BuiltinRoutes { root, of_namespace: index::namespace_route }))
    }
}
