//! Variables of the session, such as `@a`: what a request has set itself is the same the next time.

use std::collections::HashSet;

use super::{
    Clock,
    tokens::{Statement, content, is_one},
};

/// Why a response that depends on a variable with an unknown value is not stored.
pub(super) const VARIABLE: &str = "a variable of the database";

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
    /// Why a statement may have found something that depends on more than the request and what it has read. Statements that are run several times are
    /// recorded once, so those that come later count as well.
    pub(crate) fn unstable(&self) -> Option<&'static str> {
        (self.are_read && self.are_unclear).then_some(VARIABLE)
    }

    /// Whether a SELECT may read this one.
    pub(super) fn read(&mut self, token: &str) -> bool {
        self.are_read = true;
        self.known.contains(&token.to_ascii_lowercase())
    }

    /// Records the variables that a statement assigns which names some and is no SELECT.
    pub(super) fn change(&mut self, s: &Statement<'_>, clock: &Clock) {
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

/// How a statement names variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// It names none.
    Absent,
    /// All are like `@a`.
    Plain,
    /// Some are in quotes, have a point, or are behind a word without a space. They are not examined.
    Other,
}

impl Naming {
    pub(super) fn of(s: &Statement<'_>) -> Self {
        let mut naming = Naming::Absent;
        for (at, token) in s.all().iter().enumerate() {
            if !token.contains('@') || token.starts_with(['\'', '"', '`']) {
                continue;
            }
            let name = token.trim_start_matches('@');
            let is_variable = is_variable(token);
            if name.is_empty() || name.contains('@') || is_variable && s.at(at + 1) == "." {
                return Naming::Other;
            }
            if is_variable {
                naming = Naming::Plain;
            }
        }
        naming
    }
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
