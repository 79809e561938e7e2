//! Statements that are not examined: a word in them may be a name although it looks like a keyword, or what they call is not known.

use super::{
    clock::{UNSTABLE, is_known},
    tokens::{SET_OPERATORS, Statement, is, is_identifier, is_one},
    writes::MODIFIERS,
};

/// Why a SELECT is not examined.
pub(super) fn unclear(s: &Statement<'_>) -> Option<String> {
    (0..s.len()).find_map(|at| unclear_token(s, at)).or_else(|| {
        let count = |word: &str| s.all().iter().filter(|token| is(token, word)).count();
        (count("CASE") != count("END")).then(|| "a column with the name of a keyword".to_owned())
    })
}

/// The same for the token at an index. Words that are keywords for one of MySQL and MariaDB only are names unless what follows is right.
fn unclear_token(s: &Statement<'_>, at: usize) -> Option<String> {
    let (token, next) = (s.at(at), s.at(at + 1));
    let is_number = |token: &str| token.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let is_number_and_word = is_number(token) && (token.contains('.') || next == ".") && {
        token.bytes().any(|byte| byte.is_ascii_alphabetic() && !byte.eq_ignore_ascii_case(&b'e'))
    };
    let is_name = is(token, "RETURNING")
        || is(token, "OFFSET") && !is_number(next)
        || is(token, "WINDOW") && !(s.is(at + 2, "AS") && s.at(at + 3) == "(")
        || is_one(token, &SET_OPERATORS) && {
            let of = if is_one(next, &["ALL", "DISTINCT"]) { s.at(at + 2) } else { next };
            !is_one(of, &["SELECT", "(", "VALUES", "WITH"])
        };
    if is_number_and_word {
        Some("a number with a word".to_owned())
    } else if is_name {
        Some("a column with the name of a keyword".to_owned())
    } else if is_one(token, &["INDEX", "KEY"]) && is(next, "FOR") {
        Some("a hint for the use of an index".to_owned())
    } else if is_one(token, &["NEXT", "PREVIOUS"]) && is(next, "VALUE") {
        Some("a sequence".to_owned())
    } else if is(token, "FOR") && is_one(next, &["SYSTEM_TIME", "PORTION"]) {
        Some("earlier versions of rows".to_owned())
    } else {
        None
    }
}

/// Whether the token at an index is called, and may be a stored function. Other names in front of parentheses, such as those of common table
/// expressions, are rare, except that of a table into which rows are inserted.
pub(super) fn is_unknown_function(s: &Statement<'_>, at: usize) -> bool {
    let token = s.at(at);
    if s.at(at + 1) != "(" || !is_identifier(token) || is_known(token) || is_one(token, &UNSTABLE) {
        return false;
    }
    let first = if at > 1 && s.at(at - 1) == "." { at - 2 } else { at };
    let is_modifier = |token: &&str| is(token, "INTO") || is_one(token, &MODIFIERS);
    let is_target = is_one(s.at(0), &["INSERT", "REPLACE"]) && s.slice(1, first).iter().all(is_modifier);
    !is_target
}
