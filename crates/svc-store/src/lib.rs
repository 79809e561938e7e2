//! The site's data on SQLite and MySQL-protocol databases: typed queries, batched loading, import.
