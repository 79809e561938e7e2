//! Route registration, matching, arguments, permission and dispatch, without a web server.
