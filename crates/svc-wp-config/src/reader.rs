//! Follows a PHP configuration from its first line to where it hands over to WordPress, noting what it defines.
//!
//! Nothing is executed: definitions, assignments, conditions, loops over lists, and further files of configuration are
//! followed as far as their values can be told; everything else is skipped. What is defined within something that could
//! not be followed is noted as unknown, so that it is never taken for missing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::tokens::{Token, tokens};
use crate::value::Value;

/// Largest file that is read, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// The most files that are read.
pub(crate) const MAX_FILES: usize = 64;

/// How deep statements and expressions may stand in one another, files in files included.
pub(crate) const MAX_DEPTH: usize = 100;

/// The most statements that are followed; loops count each time.
const MAX_STATEMENTS: usize = 100_000;

/// The file that takes over from a configuration: what comes after it configures nothing.
pub(crate) const LAST: &str = "wp-settings.php";

/// A value with the place that gave it.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    pub(crate) value: Value,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// What a configuration has defined so far.
pub(crate) struct World<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// Of files of variables that the configuration loads.
    pub(crate) dotenv: HashMap<String, String>,
    pub(crate) constants: HashMap<String, Defined>,
    pub(crate) variables: HashMap<String, Defined>,
    pub(crate) n_files: usize,
    n_statements: usize,
    pub(crate) depth: usize,
    /// The configuration has handed over.
    pub(crate) finished: bool,
}

/// Whether what is read happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Never,
    Perhaps,
    Surely,
}

/// The words make no sense to this reader from here.
pub(crate) struct Lost;

pub(crate) type Read<T> = Result<T, Lost>;

impl<'a> World<'a> {
    pub(crate) fn new(environment: &'a dyn Fn(&str) -> Option<String>) -> Self {
        World {
            environment,
            dotenv: HashMap::new(),
            constants: HashMap::new(),
            variables: HashMap::new(),
            n_files: 0,
            n_statements: 0,
            depth: 0,
            finished: false,
        }
    }

    /// Reads a file and those that it includes.
    pub(crate) fn file(&mut self, path: &Path) -> std::io::Result<()> {
        if std::fs::metadata(path)?.len() > FILE_LIMIT {
            return Err(std::io::Error::other("it is larger than a megabyte"));
        }
        let source = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        self.n_files += 1;
        let path = path.to_owned();
        let mut reader =
            Reader { world: self, words: tokens(&source), at: 0, path, mode: Mode::Surely, returned: false };
        while reader.peek().is_some() && !reader.over() {
            reader.statements(&[]);
            // A closing brace without an opening one.
            reader.at += 1;
        }
        Ok(())
    }

    pub(crate) fn variable_of_environment(&self, name: &str) -> Option<String> {
        (self.environment)(name).or_else(|| self.dotenv.get(name).cloned())
    }
}

/// A file that is being read.
pub(crate) struct Reader<'w, 'a> {
    pub(crate) world: &'w mut World<'a>,
    words: Vec<(Token, usize)>,
    pub(crate) at: usize,
    pub(crate) path: PathBuf,
    pub(crate) mode: Mode,
    /// The file has ended itself.
    returned: bool,
}

impl Reader<'_, '_> {
    pub(crate) fn peek(&self) -> Option<&Token> {
        self.words.get(self.at).map(|(token, _)| token)
    }

    pub(crate) fn after(&self, n: usize) -> Option<&Token> {
        self.words.get(self.at + n).map(|(token, _)| token)
    }

    pub(crate) fn line(&self) -> usize {
        self.words.get(self.at).or(self.words.last()).map_or(1, |(_, line)| *line)
    }

    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    pub(crate) fn take(&mut self, sign: &str) -> bool {
        let there = self.is(sign);
        self.at += usize::from(there);
        there
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { Err(Lost) }
    }

    /// The keyword that stands here, in lower case; empty when none does.
    pub(crate) fn keyword(&self) -> String {
        match self.peek() {
            Some(Token::Name(name)) => name.to_ascii_lowercase(),
            _ => String::new(),
        }
    }

    fn over(&self) -> bool {
        self.world.finished || self.returned
    }

    /// Runs `f` at most as surely as now.
    pub(crate) fn within<T>(&mut self, mode: Mode, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.mode;
        self.mode = outer.min(mode);
        let done = f(self);
        self.mode = outer;
        done
    }

    fn defined_here(&self, value: Value, line: usize) -> Defined {
        Defined { value, file: self.path.clone(), line }
    }

    /// Defines a constant; the first definition counts.
    pub(crate) fn define(&mut self, name: &str, value: Value, line: usize) {
        let value = if self.mode == Mode::Surely { value } else { Value::Unknown };
        if self.mode != Mode::Never && !self.world.constants.contains_key(name) {
            let defined = self.defined_here(value, line);
            self.world.constants.insert(name.to_owned(), defined);
        }
    }

    pub(crate) fn assign(&mut self, name: &str, value: Value, line: usize) {
        let value = if self.mode == Mode::Surely { value } else { Value::Unknown };
        if self.mode != Mode::Never {
            let defined = self.defined_here(value, line);
            self.world.variables.insert(name.to_owned(), defined);
        }
    }

    /// Statements up to a closing brace, one of these keywords, or the end of the file.
    fn statements(&mut self, ends: &[&str]) {
        while self.peek().is_some() && !self.over() {
            if self.is("}") || ends.contains(&self.keyword().as_str()) {
                return;
            }
            let start = self.at;
            if self.statement().is_err() {
                self.at = start;
                self.skip();
            }
            if self.at == start && !self.over() {
                self.at += 1;
            }
        }
    }

    /// Skips a statement that is not understood, noting what it would define.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.peek() {
            match token {
                Token::Sign("(" | "[" | "{") => depth += 1,
                Token::Sign(")" | "]" | "}") if depth == 0 => return,
                Token::Sign(sign @ (")" | "]" | "}")) => {
                    depth -= 1;
                    if *sign == "}" && depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                Token::Sign(";") if depth == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.note_skipped();
            self.at += 1;
        }
    }

    /// Notes a definition that is skipped over.
    fn note_skipped(&mut self) {
        let line = self.line();
        match (self.peek(), self.after(1), self.after(2)) {
            (Some(Token::Name(name)), Some(Token::Sign("(")), Some(Token::Text(constant)))
                if name.eq_ignore_ascii_case("define") =>
            {
                let constant = constant.clone();
                self.within(Mode::Perhaps, |r| r.define(&constant, Value::Unknown, line));
            }
            (Some(Token::Variable(name)), Some(Token::Sign("=")), _) => {
                let name = name.clone();
                self.within(Mode::Perhaps, |r| r.assign(&name, Value::Unknown, line));
            }
            _ => {}
        }
    }

    pub(crate) fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.world.depth >= MAX_DEPTH {
            return Err(Lost);
        }
        self.world.depth += 1;
        let done = f(self);
        self.world.depth -= 1;
        done
    }

    fn statement(&mut self) -> Read<()> {
        self.world.n_statements += 1;
        if self.world.n_statements > MAX_STATEMENTS {
            return Err(Lost);
        }
        if self.take("{") {
            self.deeper(|r| {
                r.statements(&[]);
                Ok(())
            })?;
            return if self.over() { Ok(()) } else { self.expect("}") };
        }
        if self.take(";") {
            return Ok(());
        }
        let keyword = self.keyword();
        match keyword.as_str() {
            "if" => self.deeper(Self::conditions),
            "foreach" => self.deeper(Self::each),
            "const" => self.constants(),
            "try" => {
                self.at += 1;
                self.statement()?;
                while self.keyword() == "catch" {
                    self.at += 1;
                    self.parenthesis()?;
                    self.within(Mode::Never, Self::statement)?;
                }
                Ok(())
            }
            "finally" => {
                self.at += 1;
                self.statement()
            }
            "return" => {
                self.at += 1;
                if !self.is(";") {
                    self.expression()?;
                }
                self.returned |= self.mode == Mode::Surely;
                Ok(())
            }
            // What is within is defined when it is called, if ever.
            "function" | "class" | "abstract" | "final" | "interface" | "trait" | "namespace" | "use" | "declare" => {
                self.within(Mode::Never, Self::skip);
                Ok(())
            }
            "switch" | "while" | "for" => {
                self.at += 1;
                self.parenthesis()?;
                if !self.take(":") {
                    return Err(Lost);
                }
                self.within(Mode::Perhaps, |r| r.statements(&["endswitch", "endwhile", "endfor"]));
                self.at += 1;
                Ok(())
            }
            "do" | "global" | "static" | "echo" | "unset" => Err(Lost),
            _ => {
                self.expression()?;
                if self.over() || self.peek().is_none() { Ok(()) } else { self.expect(";") }
            }
        }
    }

    /// Skips `( … )`.
    fn parenthesis(&mut self) -> Read<()> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek().ok_or(Lost)? {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A body in braces or alone, or between a colon and one of these keywords, which stays.
    fn body(&mut self, mode: Mode, ends: &[&str]) -> Read<()> {
        self.within(mode, |r| {
            if !r.take(":") {
                return r.statement();
            }
            r.statements(ends);
            Ok(())
        })
    }

    fn conditions(&mut self) -> Read<()> {
        const ENDS: [&str; 3] = ["elseif", "else", "endif"];
        self.at += 1;
        // Whether one of the bodies so far was run; `None` when that cannot be told.
        let mut ran = Some(false);
        let mut condition = self.condition()?;
        loop {
            let mode = match (ran, condition) {
                (Some(true), _) | (_, Some(false)) => Mode::Never,
                (Some(false), Some(true)) => Mode::Surely,
                _ => Mode::Perhaps,
            };
            ran = match (ran, condition) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (ran, Some(false)) => ran,
                _ => None,
            };
            self.body(mode, &ENDS)?;
            if self.over() {
                return Ok(());
            }
            match self.keyword().as_str() {
                "elseif" => {
                    self.at += 1;
                    condition = self.condition()?;
                }
                "else" => {
                    self.at += 1;
                    let again = self.keyword() == "if";
                    self.at += usize::from(again);
                    condition = if again { self.condition()? } else { Some(true) };
                }
                "endif" => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    fn condition(&mut self) -> Read<Option<bool>> {
        self.expect("(")?;
        let value = self.expression()?;
        self.expect(")")?;
        Ok(value.truth())
    }

    fn each(&mut self) -> Read<()> {
        self.at += 1;
        self.expect("(")?;
        let list = self.expression()?;
        if self.keyword() != "as" {
            return Err(Lost);
        }
        self.at += 1;
        let mut key = None;
        let mut name = self.loop_variable()?;
        if self.take("=>") {
            key = Some(std::mem::replace(&mut name, self.loop_variable()?));
        }
        self.expect(")")?;
        let (body, line) = (self.at, self.line());
        let items = match list {
            Value::List(items) if self.mode == Mode::Surely && !items.is_empty() => items,
            // Once, to get past it.
            list => {
                let mode = if list == Value::List(Vec::new()) { Mode::Never } else { Mode::Perhaps };
                self.within(mode, |r| key.iter().chain([&name]).for_each(|n| r.assign(n, Value::Unknown, line)));
                return self.loop_body(mode);
            }
        };
        for (item_key, item) in items {
            self.at = body;
            if let Some(key) = &key {
                self.assign(key, Value::Text(item_key), line);
            }
            self.assign(&name, item, line);
            self.loop_body(Mode::Surely)?;
            if self.over() {
                break;
            }
        }
        Ok(())
    }

    fn loop_body(&mut self, mode: Mode) -> Read<()> {
        self.body(mode, &["endforeach"])?;
        self.at += usize::from(self.keyword() == "endforeach");
        Ok(())
    }

    fn loop_variable(&mut self) -> Read<String> {
        self.take("&");
        let Some(Token::Variable(name)) = self.peek() else { return Err(Lost) };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    /// `const A = 1, B = 2;`
    fn constants(&mut self) -> Read<()> {
        self.at += 1;
        loop {
            let line = self.line();
            let Some(Token::Name(name)) = self.peek() else { return Err(Lost) };
            let name = name.clone();
            self.at += 1;
            self.expect("=")?;
            let value = self.expression()?;
            self.define(&name, value, line);
            if !self.take(",") {
                return self.expect(";");
            }
        }
    }
}
