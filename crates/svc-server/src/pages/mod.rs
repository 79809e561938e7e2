//! Plain HTML pages of the public site.

mod view;
