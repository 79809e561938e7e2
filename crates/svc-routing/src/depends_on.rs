//! The inputs of the functions of extensions.

/// The inputs of a hook or of an additional field's function, which decide whether responses are cached.
///
/// The value of an additional field or of a hook of the index is used for all requests of a caller for the same path with the same
/// `context`, `_fields` and `_embed`: it must not depend on other parts of the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DependsOn {
    /// Nothing but the request's URL and caller. A hook with this declaration does not look at the data of responses: it is
    /// null if it was cached as JSON.
    Nothing,
    /// The object or response that the function receives, the request's URL and caller, and what the function reads from the
    /// site's store, which is recorded. Not the clock, files, randomness or other services.
    Object,
    /// Something else. Responses that use the function are not cached, and the function is called for each request.
    #[default]
    Unknown,
}
