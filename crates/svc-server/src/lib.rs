//! A content server: configuration, composition, pages.
