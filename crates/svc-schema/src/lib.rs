//! Schemas compiled once: validate, sanitize, filter by context, build arguments.
