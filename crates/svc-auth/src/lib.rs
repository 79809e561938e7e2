//! Nonces, login cookies, sessions, application passwords, password hashes, roles and capabilities.
