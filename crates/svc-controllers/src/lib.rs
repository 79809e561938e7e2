//! The default route families on one site.
