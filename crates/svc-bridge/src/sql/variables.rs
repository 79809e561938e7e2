//! Variables of the session, such as `@a`: what a request has set itself is the same the next time.

use std::collections::HashSet;

use super::{
    Clock,
    tokens::{Statement, content, is_one},
};

/// The variables of a request.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// Those that it has set to constants. What later statements make of them depends on rows that these have read.
    known: HashSet<String>,
    are_read: bool,
    /// Whether some were assigned other values than constants.
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

    /// Records the variables that a statement other than SELECT assigns.
    pub(super) fn change(&mut self, s: &Statement<'_>, clock: &Clock) {
        if !s.all().iter().any(|token| is_variable(token)) {
            return;
        }
        match constants(s, clock) {
            Some(names) => self.known.extend(names),
            None => self.are_unclear = true,
        }
    }
}

/// Whether a token is a variable of the session, and not a setting.
pub(super) fn is_variable(token: &str) -> bool {
    token.starts_with('@') && !token.starts_with("@@")
}

/// Whether the name of a variable is not read here: in quotes, with a point, or behind a word.
pub(super) fn has_other_names(s: &Statement<'_>) -> bool {
    (0..s.len()).any(|at| {
        let token = s.at(at);
        let is_quoted = token.starts_with(['\'', '"', '`']);
        let is_inside = !is_quoted && token.trim_start_matches('@').contains('@');
        token == "@" || is_inside || is_variable(token) && s.at(at + 1) == "."
    })
}

/// The variables that a SET assigns, if it assigns constants only. The current time is none.
fn constants(s: &Statement<'_>, clock: &Clock) -> Option<Vec<String>> {
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
        if !is_constant(value) || clock.is_time(value) {
            return None;
        }
    }
    is_one(verb, &["SET"]).then_some(names)
}
