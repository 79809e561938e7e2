//! The tower service: requests and responses converted, callers authenticated, CORS answered.
