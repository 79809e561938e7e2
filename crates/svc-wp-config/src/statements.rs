//! Evaluates the statements of a configuration, up to the point where it loads WordPress, and records its definitions.
//!
//! Definitions, assignments, conditions, loops over lists and included files are evaluated as far as their values are known;
//! everything else is skipped. Definitions in code that is skipped are recorded as unknown, so that they never count as
//! missing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::tokens::{Token, tokens};
use crate::value::Value;

/// Maximum size of a file in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// Maximum number of files.
pub(crate) const MAX_FILES: usize = 64;

/// Maximum nesting of statements, expressions and included files.
pub(crate) const MAX_DEPTH: usize = 100;

/// Maximum number of statements, counting each iteration of a loop.
const MAX_STATEMENTS: usize = 100_000;

/// The file that loads WordPress. Evaluation ends there.
pub(crate) const WP_SETTINGS: &str = "wp-settings.php";

/// A value with the place of its definition.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) value: Value,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// State of an evaluation: all definitions so far, and the bounds.
pub(crate) struct Evaluation<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// Variables of `.env` files.
    pub(crate) dotenv: HashMap<String, String>,
    pub(crate) constants: HashMap<String, Definition>,
    pub(crate) variables: HashMap<String, Definition>,
    pub(crate) n_files: usize,
    n_statements: usize,
    pub(crate) depth: usize,
    /// Whether the configuration has ended.
    pub(crate) finished: bool,
}

/// Whether the current code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    Never,
    Maybe,
    Always,
}

/// The code from here on is not supported.
pub(crate) struct Unsupported;

pub(crate) type Parsed<T> = Result<T, Unsupported>;

impl<'a> Evaluation<'a> {
    pub(crate) fn new(environment: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Evaluation {
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

    /// Evaluates a file and those that it includes.
    pub(crate) fn file(&mut self, path: &Path) -> std::io::Result<()> {
        if std::fs::metadata(path)?.len() > FILE_LIMIT {
            return Err(std::io::Error::other("the file is larger than 1 MiB"));
        }
        let source = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        self.n_files += 1;
        let path = path.to_owned();
        let mut reader = Parser {
            evaluation: self,
            tokens: tokens(&source),
            at: 0,
            path,
            certainty: Certainty::Always,
            returned: false,
        };
        while reader.peek().is_some() && !reader.is_done() {
            reader.statements(&[]);
            // Skip a closing brace without an opening one.
            reader.at += 1;
        }
        Ok(())
    }

    pub(crate) fn environment_variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).or_else(|| self.dotenv.get(name).cloned())
    }
}

/// A file under evaluation.
pub(crate) struct Parser<'w, 'a> {
    pub(crate) evaluation: &'w mut Evaluation<'a>,
    tokens: Vec<(Token, usize)>,
    pub(crate) at: usize,
    pub(crate) path: PathBuf,
    pub(crate) certainty: Certainty,
    /// Whether the file has executed `return`.
    returned: bool,
}

impl Parser<'_, '_> {
    pub(crate) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    pub(crate) fn after(&self, n: usize) -> Option<&Token> {
        self.tokens.get(self.at + n).map(|(token, _)| token)
    }

    pub(crate) fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    pub(crate) fn take(&mut self, sign: &str) -> bool {
        let there = self.is(sign);
        self.at += usize::from(there);
        there
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(Unsupported) }
    }

    /// The current keyword in lower case; empty if there is none.
    pub(crate) fn keyword(&self) -> String {
        match self.peek() {
            Some(Token::Name(name)) => name.to_ascii_lowercase(),
            _ => String::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.evaluation.finished || self.returned
    }

    /// Runs `f` with this certainty, or the current one if that is lower.
    pub(crate) fn within<T>(&mut self, certainty: Certainty, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.certainty;
        self.certainty = outer.min(certainty);
        let done = f(self);
        self.certainty = outer;
        done
    }

    fn definition(&self, value: Value, line: usize) -> Definition {
        Definition { value, file: self.path.clone(), line }
    }

    /// Defines a constant. The first definition takes precedence.
    pub(crate) fn define(&mut self, name: &str, value: Value, line: usize) {
        let value = if self.certainty == Certainty::Always { value } else { Value::Unknown };
        if self.certainty != Certainty::Never && !self.evaluation.constants.contains_key(name) {
            let defined = self.definition(value, line);
            self.evaluation.constants.insert(name.to_owned(), defined);
        }
    }

    pub(crate) fn assign(&mut self, name: &str, value: Value, line: usize) {
        let value = if self.certainty == Certainty::Always { value } else { Value::Unknown };
        if self.certainty != Certainty::Never {
            let defined = self.definition(value, line);
            self.evaluation.variables.insert(name.to_owned(), defined);
        }
    }

    /// Evaluates statements up to a closing brace, one of these keywords, or the end of the file.
    fn statements(&mut self, ends: &[&str]) {
        while self.peek().is_some() && !self.is_done() {
            if self.is("}") || ends.contains(&self.keyword().as_str()) {
                return;
            }
            let start = self.at;
            if self.statement().is_err() {
                self.at = start;
                self.skip();
            }
            if self.at == start && !self.is_done() {
                self.at += 1;
            }
        }
    }

    /// Skips a statement that is not supported, and records its definitions as unknown.
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
            self.record_skipped();
            self.at += 1;
        }
    }

    /// Records the definition at the current token, if any, as unknown.
    fn record_skipped(&mut self) {
        let line = self.line();
        match (self.peek(), self.after(1), self.after(2)) {
            (Some(Token::Name(name)), Some(Token::Sign("(")), Some(Token::Text(constant)))
                if name.eq_ignore_ascii_case("define") =>
            {
                let constant = constant.clone();
                self.within(Certainty::Maybe, |r| r.define(&constant, Value::Unknown, line));
            }
            (Some(Token::Variable(name)), Some(Token::Sign("=")), _) => {
                let name = name.clone();
                self.within(Certainty::Maybe, |r| r.assign(&name, Value::Unknown, line));
            }
            _ => {}
        }
    }

    pub(crate) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.evaluation.depth >= MAX_DEPTH {
            return Err(Unsupported);
        }
        self.evaluation.depth += 1;
        let done = f(self);
        self.evaluation.depth -= 1;
        done
    }

    fn statement(&mut self) -> Parsed<()> {
        self.evaluation.n_statements += 1;
        if self.evaluation.n_statements > MAX_STATEMENTS {
            return Err(Unsupported);
        }
        if self.take("{") {
            self.nested(|r| {
                r.statements(&[]);
                Ok(())
            })?;
            return if self.is_done() { Ok(()) } else { self.expect("}") };
        }
        if self.take(";") {
            return Ok(());
        }
        let keyword = self.keyword();
        match keyword.as_str() {
            "if" => self.nested(Self::conditions),
            "foreach" => self.nested(Self::foreach),
            "const" => self.constants(),
            "try" => {
                self.at += 1;
                self.statement()?;
                while self.keyword() == "catch" {
                    self.at += 1;
                    self.parenthesis()?;
                    self.within(Certainty::Never, Self::statement)?;
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
                self.returned |= self.certainty == Certainty::Always;
                Ok(())
            }
            // The body runs later, if at all.
            "function" | "class" | "abstract" | "final" | "interface" | "trait" | "namespace" | "use" | "declare" => {
                self.within(Certainty::Never, Self::skip);
                Ok(())
            }
            "switch" | "while" | "for" => {
                self.at += 1;
                self.parenthesis()?;
                if !self.take(":") {
                    return Err(Unsupported);
                }
                self.within(Certainty::Maybe, |r| r.statements(&["endswitch", "endwhile", "endfor"]));
                self.at += 1;
                Ok(())
            }
            "do" | "global" | "static" | "echo" | "unset" => Err(Unsupported),
            _ => {
                self.expression()?;
                if self.is_done() || self.peek().is_none() { Ok(()) } else { self.expect(";") }
            }
        }
    }

    /// Skips `( … )`.
    fn parenthesis(&mut self) -> Parsed<()> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek().ok_or(Unsupported)? {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A body: a block, a single statement, or statements between a colon and one of these keywords, which is not consumed.
    fn body(&mut self, certainty: Certainty, ends: &[&str]) -> Parsed<()> {
        self.within(certainty, |r| {
            if !r.take(":") {
                return r.statement();
            }
            r.statements(ends);
            Ok(())
        })
    }

    fn conditions(&mut self) -> Parsed<()> {
        const ENDS: [&str; 3] = ["elseif", "else", "endif"];
        self.at += 1;
        // Whether a previous branch was taken; `None` if that is unknown.
        let mut ran = Some(false);
        let mut condition = self.condition()?;
        loop {
            let certainty = match (ran, condition) {
                (Some(true), _) | (_, Some(false)) => Certainty::Never,
                (Some(false), Some(true)) => Certainty::Always,
                _ => Certainty::Maybe,
            };
            ran = match (ran, condition) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (ran, Some(false)) => ran,
                _ => None,
            };
            self.body(certainty, &ENDS)?;
            if self.is_done() {
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

    fn condition(&mut self) -> Parsed<Option<bool>> {
        self.expect("(")?;
        let value = self.expression()?;
        self.expect(")")?;
        Ok(value.to_bool())
    }

    fn foreach(&mut self) -> Parsed<()> {
        self.at += 1;
        self.expect("(")?;
        let list = self.expression()?;
        if self.keyword() != "as" {
            return Err(Unsupported);
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
            Value::List(items) if self.certainty == Certainty::Always && !items.is_empty() => items,
            // Evaluate the body once, to skip it.
            list => {
                let certainty = if list == Value::List(Vec::new()) { Certainty::Never } else { Certainty::Maybe };
                self.within(certainty, |r| key.iter().chain([&name]).for_each(|n| r.assign(n, Value::Unknown, line)));
                return self.loop_body(certainty);
            }
        };
        for (item_key, item) in items {
            self.at = body;
            if let Some(key) = &key {
                self.assign(key, Value::Text(item_key), line);
            }
            self.assign(&name, item, line);
            self.loop_body(Certainty::Always)?;
            if self.is_done() {
                break;
            }
        }
        Ok(())
    }

    fn loop_body(&mut self, certainty: Certainty) -> Parsed<()> {
        self.body(certainty, &["endforeach"])?;
        self.at += usize::from(self.keyword() == "endforeach");
        Ok(())
    }

    fn loop_variable(&mut self) -> Parsed<String> {
        self.take("&");
        let Some(Token::Variable(name)) = self.peek() else { return Err(Unsupported) };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    /// `const A = 1, B = 2;`
    fn constants(&mut self) -> Parsed<()> {
        self.at += 1;
        loop {
            let line = self.line();
            let Some(Token::Name(name)) = self.peek() else { return Err(Unsupported) };
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
