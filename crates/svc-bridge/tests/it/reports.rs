//! Reports of the connector in a real MariaDB, and writes of other programs. Skipped if MariaDB is not installed.
