//! Field tables: one row per member of a resource, from which schema, arguments and output come.
