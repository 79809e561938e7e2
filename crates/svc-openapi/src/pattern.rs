//! A parser of route patterns: PCRE-style expressions, as far as their structure matters for templates.

/// The deepest nesting of groups.
const MAX_DEPTH: usize = 16;

/// Parts one after the other.
pub(crate) type Sequence = Vec<Piece>;

/// A part of a pattern, and how often it occurs.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) node: Node,
    pub(crate) quantity: Quantity,
    /// The part in a form that ECMAScript and other dialects read alike; `None` if it has none.
    pub(crate) text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    One,
    Optional,
    Many,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Char(char),
    /// A set of characters.
    Class {
        /// Which of `a`, `0`, `/` and `%` the class names. None for negated classes.
        admitted: String,
    },
    Group {
        name: Option<String>,
        alternatives: Vec<Sequence>,
    },
    /// A position, such as `^` or a lookahead, or an escape that only this dialect has.
    Assertion,
}

/// Parses a pattern into its alternatives.
///
/// # Errors
/// If brackets are unbalanced or groups are nested too deeply.
pub(crate) fn parse(pattern: &str) -> Result<Vec<Sequence>, String> {
    let mut parser = Parser { rest: pattern };
    let out = parser.alternatives(0)?;
    if parser.rest.is_empty() { Ok(out) } else { Err("its brackets are not balanced".to_owned()) }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, text: &str) -> bool {
        let found = self.rest.strip_prefix(text);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn alternatives(&mut self, depth: usize) -> Result<Vec<Sequence>, String> {
        if depth > MAX_DEPTH {
            return Err("its groups are nested too deeply".to_owned());
        }
        let mut out = vec![Sequence::new()];
        while !self.rest.is_empty() && !self.rest.starts_with(')') {
            if self.skip("|") {
                out.push(Sequence::new());
                continue;
            }
            let (node, text) = self.node(depth)?;
            let (quantity, suffix) = self.quantity();
            if let Some(sequence) = out.last_mut() {
                sequence.push(Piece { node, quantity, text: text.map(|text| text + &suffix) });
            }
        }
        Ok(out)
    }

    fn node(&mut self, depth: usize) -> Result<(Node, Option<String>), String> {
        let c = self.next().ok_or("it ends early")?;
        Ok(match c {
            '(' => return self.group(depth),
            '[' => self.class()?,
            '.' => (Node::Class { admitted: "a0/%".to_owned() }, Some(".".to_owned())),
            '^' | '$' => (Node::Assertion, None),
            '\\' => match self.next().ok_or("it ends early")? {
                c @ ('d' | 'w' | 's') => {
                    (Node::Class { admitted: named_by_escape(c).to_owned() }, Some(format!("\\{c}")))
                }
                c if c.is_ascii_alphanumeric() => (Node::Assertion, None),
                c => (Node::Char(c), Some(escaped(c))),
            },
            c => (Node::Char(c), Some(escaped(c))),
        })
    }

    fn group(&mut self, depth: usize) -> Result<(Node, Option<String>), String> {
        let is_look = ["?=", "?!", "?<=", "?<!"].iter().any(|start| self.rest.starts_with(start));
        let mut name = None;
        if self.skip("?P<") || (!is_look && self.skip("?<")) {
            let (found, rest) = self.rest.split_once('>').ok_or("a group has no name")?;
            name = Some(found.to_owned());
            self.rest = rest;
        } else if is_look {
            self.rest = self.rest.trim_start_matches(['?', '=', '!', '<']);
        } else if !self.skip("?:") && self.rest.starts_with('?') {
            return Err("it has an unknown kind of group".to_owned());
        }
        let alternatives = self.alternatives(depth + 1)?;
        if !self.skip(")") {
            return Err("its brackets are not balanced".to_owned());
        }
        if is_look {
            return Ok((Node::Assertion, None));
        }
        let inner = alternatives.iter().map(|all| all.iter().map(|piece| piece.text.as_deref()).collect());
        let text = inner.collect::<Option<Vec<String>>>().map(|all| format!("(?:{})", all.join("|")));
        Ok((Node::Group { name, alternatives }, text))
    }

    /// The class whose bracket has been read.
    fn class(&mut self) -> Result<(Node, Option<String>), String> {
        let is_negated = self.skip("^");
        let (mut admitted, mut text) = (String::new(), String::from(if is_negated { "[^" } else { "[" }));
        let mut is_portable = true;
        let mut is_first = true;
        loop {
            let c = self.next().ok_or("a class does not close")?;
            match c {
                ']' if !is_first => break,
                '\\' => match self.next().ok_or("it ends early")? {
                    c @ ('d' | 'w' | 's') => {
                        admitted.push_str(named_by_escape(c));
                        text.push('\\');
                        text.push(c);
                    }
                    c if c.is_ascii_alphanumeric() => is_portable = false,
                    c => {
                        admitted.push(c);
                        // The characters that end or structure a class stay escaped.
                        if matches!(c, '\\' | ']' | '[' | '-' | '^') {
                            text.push('\\');
                        }
                        text.push(c);
                    }
                },
                '[' if self.rest.starts_with(':') => is_portable = false,
                c => {
                    admitted.push(c);
                    if matches!(c, '[' | ']') {
                        text.push('\\');
                    }
                    // A hyphen at an end is a literal one.
                    if c == '-' && (is_first || self.rest.starts_with(']')) {
                        text.push('\\');
                    }
                    text.push(c);
                }
            }
            is_first = false;
        }
        text.push(']');
        let admitted =
            if is_negated { String::new() } else { "a0/%".chars().filter(|c| admitted.contains(*c)).collect() };
        Ok((Node::Class { admitted }, is_portable.then_some(text)))
    }

    fn quantity(&mut self) -> (Quantity, String) {
        let mut out = (Quantity::One, String::new());
        if self.skip("?") {
            out = (Quantity::Optional, "?".to_owned());
        } else if self.skip("*") {
            out = (Quantity::Many, "*".to_owned());
        } else if self.skip("+") {
            out = (Quantity::Many, "+".to_owned());
        } else if self.rest.starts_with('{')
            && let Some((count, rest)) = self.rest.split_once('}')
        {
            out = (Quantity::Many, format!("{count}}}"));
            self.rest = rest;
        }
        if out.0 != Quantity::One {
            // Lazy and possessive forms accept the same values, apart from backtracking.
            let _ = self.skip("?") || self.skip("+");
        }
        out
    }
}

fn named_by_escape(c: char) -> &'static str {
    match c {
        'd' => "0",
        'w' => "a0",
        _ => "",
    }
}

/// A character outside of classes.
fn escaped(c: char) -> String {
    if "\\^$.|?*+()[]{}".contains(c) { format!("\\{c}") } else { c.to_string() }
}
