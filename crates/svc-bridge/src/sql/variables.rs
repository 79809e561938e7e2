//! Variables of the session, such as `@a`: what a request has set itself is the same the next time.

use std::collections::HashSet;

use super::tokens::{Statement, content, is_one};

/// The variables of a request.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// Those that it has set to constants. What later statements make of them depends only on rows that these have read.
    known: HashSet<String>,
    are_read: bool,
    /// Whether some have other values.
    are_unclear: bool,
}

impl Variables {
    /// Whether a statement may have found something that depends on more than the request and what it has read. Statements that are run several times are
    /// recorded once, so those that come later count as well.
    pub(crate) fn are_unstable(&self) -> bool {
        self.are_read && self.are_unclear
    }

    /// Whether a SELECT may read this one.
    pub(super) fn read(&mut self, token: &str) -> bool {
        self.are_read = true;
        self.known.contains(&token.to_ascii_lowercase())
    }

    /// Notes what a statement changes that is no SELECT.
    pub(super) fn change(&mut self, s: &Statement<'_>) {
        if !s.all().iter().any(|token| is_variable(token)) {
            return;
        }
        match constants(s) {
            Some(names) => self.known.extend(names),
            None => self.are_unclear = true,
        }
    }
}

/// Whether a token is a variable of the session, and not a setting.
pub(super) fn is_variable(token: &str) -> bool {
    token.starts_with('@') && !token.starts_with("@@")
}

/// The variables that a SET assigns, if it assigns constants only.
fn constants(s: &Statement<'_>) -> Option<Vec<String>> {
    let (verb, assigned) = s.all().split_first()?;
    let is_constant = |token: &str| {
        content(token).is_some()
            || token.bytes().all(|byte| byte.is_ascii_digit())
            || is_one(token, &["NULL", "TRUE", "FALSE"])
    };
    let mut names = Vec::new();
    for item in assigned.split(|token| *token == ",") {
        let [name, "=" | ":=", value] = *item else { return None };
        if is_variable(name) {
            names.push(name.to_ascii_lowercase());
        }
        if !is_constant(value) {
            return None;
        }
    }
    is_one(verb, &["SET"]).then_some(names)
}
