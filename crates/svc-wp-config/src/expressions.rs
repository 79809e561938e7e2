//! Evaluates the expressions of a configuration.

use std::path::Path;

use crate::statements::{Certainty, Definition, MAX_DEPTH, MAX_FILES, Parsed, Parser, Unsupported, WP_SETTINGS};
use crate::tokens::{Part, Token};
use crate::value::{self, Value};

impl Parser<'_, '_> {
    /// Evaluates an included file, within the bounds.
    fn include(&mut self, path: &Value) -> Value {
        let Some(path) = path.text().filter(|_| self.certainty == Certainty::Always) else { return Value::Unknown };
        let path = self.path.parent().unwrap_or(Path::new("")).join(path);
        match path.file_name().and_then(|n| n.to_str()) {
            Some(WP_SETTINGS) => self.evaluation.finished = true,
            // Autoloaders configure nothing.
            Some("autoload.php") => {}
            _ if self.evaluation.n_files < MAX_FILES && self.evaluation.depth < MAX_DEPTH && path.is_file() => {
                self.evaluation.depth += 1;
                if let Err(error) = self.evaluation.file(&path) {
                    tracing::warn!(file = %path.display(), %error, "cannot read an included configuration file");
                }
                self.evaluation.depth -= 1;
            }
            _ => {}
        }
        Value::Unknown
    }

    pub(crate) fn expression(&mut self) -> Parsed<Value> {
        self.nested(|r| r.binary(0))
    }

    /// An expression with operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Parsed<Value> {
        let mut left = self.unary()?;
        loop {
            let Some((sign, level)) = self.operator().filter(|(_, level)| *level >= least) else { return Ok(left) };
            self.at += 1;
            left = match sign {
                "?" => self.choice(&left)?,
                "??" => {
                    let certainty = match &left {
                        Value::Null => Certainty::Always,
                        Value::Unknown => Certainty::Maybe,
                        _ => Certainty::Never,
                    };
                    let right = self.within(certainty, |r| r.binary(level))?;
                    if left == Value::Null { right } else { left }
                }
                "&&" | "||" => {
                    // The left value that decides alone: `false &&`, `true ||`.
                    let decides = sign == "||";
                    let certainty = match left.to_bool() {
                        Some(truth) if truth == decides => Certainty::Never,
                        Some(_) => Certainty::Always,
                        None => Certainty::Maybe,
                    };
                    let right = self.within(certainty, |r| r.binary(level + 1))?;
                    Value::from_bool(match (left.to_bool(), right.to_bool()) {
                        (Some(truth), _) | (_, Some(truth)) if truth == decides => Some(decides),
                        (Some(_), Some(truth)) => Some(truth),
                        _ => None,
                    })
                }
                _ => {
                    let right = self.binary(level + 1)?;
                    operate(sign, &left, &right)
                }
            };
        }
    }

    /// The current operator and its precedence.
    fn operator(&self) -> Option<(&'static str, u8)> {
        Some(match self.peek()? {
            Token::Name(name) if name.eq_ignore_ascii_case("or") => ("||", 0),
            Token::Name(name) if name.eq_ignore_ascii_case("and") => ("&&", 2),
            Token::Sign(sign) => match *sign {
                "?" => ("?", 4),
                "??" => ("??", 5),
                "||" => ("||", 6),
                "&&" => ("&&", 7),
                "|" => ("|", 8),
                "&" => ("&", 9),
                "==" | "!=" | "<>" | "===" | "!==" => (sign, 10),
                "<" | ">" | "<=" | ">=" | "<=>" => (sign, 11),
                "." => (".", 12),
                "+" | "-" => (sign, 13),
                "*" | "/" | "%" => (sign, 14),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// `a ? b : c` and `a ?: c`, after the question mark.
    fn choice(&mut self, condition: &Value) -> Parsed<Value> {
        let truth = condition.to_bool();
        let certainty = |wanted: bool| match truth {
            Some(truth) if truth == wanted => Certainty::Always,
            Some(_) => Certainty::Never,
            None => Certainty::Maybe,
        };
        let yes = if self.is(":") { condition.clone() } else { self.within(certainty(true), |r| r.binary(3))? };
        self.expect(":")?;
        let no = self.within(certainty(false), |r| r.binary(5))?;
        Ok(match truth {
            Some(true) => yes,
            Some(false) => no,
            None if yes == no => yes,
            None => Value::Unknown,
        })
    }

    fn unary(&mut self) -> Parsed<Value> {
        self.nested(Self::unary_inner)
    }

    fn unary_inner(&mut self) -> Parsed<Value> {
        if self.take("!") {
            return Ok(Value::from_bool(self.unary()?.to_bool().map(|t| !t)));
        }
        if self.take("@") || self.take("&") {
            return self.unary();
        }
        if self.take("-") || self.take("+") || self.take("~") {
            self.unary()?;
            return Ok(Value::Unknown);
        }
        if let (true, Some(Token::Name(kind)), Some(Token::Sign(")"))) = (self.is("("), self.after(1), self.after(2)) {
            let kind = kind.to_ascii_lowercase();
            if ["string", "bool", "boolean", "int", "integer", "object", "array"].contains(&kind.as_str()) {
                self.at += 3;
                let value = self.unary()?;
                return Ok(match kind.as_str() {
                    "string" => value.text().map_or(Value::Unknown, Value::Text),
                    "bool" | "boolean" => Value::from_bool(value.to_bool()),
                    "int" | "integer" => value::call("intval", &[value]).unwrap_or(Value::Unknown),
                    _ => value,
                });
            }
        }
        if let Some(Token::Variable(name)) = self.peek() {
            let name = name.clone();
            return self.variable(&name);
        }
        let value = self.primary()?;
        self.accessors(value).map(|(value, _)| value)
    }

    /// A variable, its elements, or an assignment.
    fn variable(&mut self, name: &str) -> Parsed<Value> {
        let line = self.line();
        self.at += 1;
        let value = match name {
            "_ENV" | "_SERVER" => return self.environment_element(name),
            _ => self.evaluation.variables.get(name).map_or(Value::Unknown, |d| d.value.clone()),
        };
        let (value, n_accessors) = self.accessors(value)?;
        let plain = n_accessors == 0;
        let Some(Token::Sign(sign)) = self.peek() else { return Ok(value) };
        let assigned = match *sign {
            "=" => {
                self.at += 1;
                self.binary(3)?
            }
            ".=" => {
                self.at += 1;
                let right = self.binary(3)?;
                operate(".", &value, &right)
            }
            "??=" => {
                self.at += 1;
                let right = self.binary(3)?;
                if value == Value::Null { right } else { value }
            }
            "+=" | "-=" | "*=" | "/=" | "|=" | "&=" => {
                self.at += 1;
                self.binary(3)?;
                Value::Unknown
            }
            "++" | "--" => {
                self.at += 1;
                Value::Unknown
            }
            _ => return Ok(value),
        };
        self.assign(name, if plain { assigned.clone() } else { Value::Unknown }, line);
        Ok(assigned)
    }

    /// `$_ENV['NAME']` and `$_SERVER['NAME']`. Values of `$_SERVER` that depend on the request are unknown.
    fn environment_element(&mut self, name: &str) -> Parsed<Value> {
        if !self.take("[") {
            return Ok(Value::Unknown);
        }
        let key = self.expression()?;
        self.expect("]")?;
        let found = key.text().and_then(|key| self.evaluation.environment_variable(&key));
        let value = match found {
            Some(text) => Value::Text(text),
            None if name == "_ENV" && key != Value::Unknown => Value::Null,
            None => Value::Unknown,
        };
        if self.take("=") {
            return self.binary(3);
        }
        Ok(value)
    }

    /// Accessors after a value: `[key]`, `->name`, calls. Returns the value and the number of accessors.
    fn accessors(&mut self, mut value: Value) -> Parsed<(Value, usize)> {
        let mut n = 0;
        loop {
            if self.take("[") {
                let key = if self.is("]") { Value::Unknown } else { self.expression()? };
                self.expect("]")?;
                value = value.element(&key);
            } else if self.take("->") || self.take("?->") {
                let Some(Token::Name(name)) = self.peek() else { return Err(Unsupported) };
                let key = Value::Text(name.clone());
                self.at += 1;
                value = value.element(&key);
            } else if self.is("(") {
                self.arguments()?;
                value = Value::Unknown;
            } else {
                return Ok((value, n));
            }
            n += 1;
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Value>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.expression()?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Value> {
        let line = self.line();
        let token = self.peek().cloned().ok_or(Unsupported)?;
        self.at += 1;
        match token {
            Token::Text(text) => Ok(Value::Text(text)),
            Token::Number(n) => Ok(Value::Int(n)),
            Token::Template(parts) => Ok(self.template(&parts)),
            Token::Other => Ok(Value::Unknown),
            Token::Sign("(") => {
                let value = self.expression()?;
                self.expect(")")?;
                Ok(value)
            }
            Token::Sign("[") => self.list("]"),
            Token::Name(name) => self.named(&name, line),
            Token::Sign(_) | Token::Variable(_) => Err(Unsupported),
        }
    }

    fn template(&self, parts: &[Part]) -> Value {
        let text = parts.iter().map(|part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Variable(name) => self.evaluation.variables.get(name)?.value.text(),
            Part::Other => None,
        });
        text.collect::<Option<String>>().map_or(Value::Unknown, Value::Text)
    }

    /// The items of an array, after the opening bracket.
    fn list(&mut self, end: &str) -> Parsed<Value> {
        let mut items = Vec::new();
        let mut known = true;
        while !self.take(end) {
            let mut key = Value::Text(items.len().to_string());
            let mut value = self.expression()?;
            if self.take("=>") {
                key = std::mem::replace(&mut value, self.expression()?);
            }
            known &= key != Value::Unknown;
            items.push((key.text().unwrap_or_default(), value));
            if !self.is(end) {
                self.expect(",")?;
            }
        }
        Ok(if known { Value::List(items) } else { Value::Unknown })
    }

    /// An expression that begins with a name: a keyword, a call or a constant.
    fn named(&mut self, name: &str, line: usize) -> Parsed<Value> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "true" => return Ok(Value::Bool(true)),
            "false" => return Ok(Value::Bool(false)),
            "null" => return Ok(Value::Null),
            "__dir__" => return Ok(Value::Text(self.path.parent().unwrap_or(Path::new("")).display().to_string())),
            "__file__" => return Ok(Value::Text(self.path.display().to_string())),
            "__line__" => return Ok(Value::Unknown),
            "array" if self.take("(") => return self.list(")"),
            "require" | "require_once" | "include" | "include_once" => {
                let path = self.binary(3)?;
                return Ok(self.include(&path));
            }
            "exit" | "die" => {
                if self.is("(") {
                    self.arguments()?;
                }
                self.evaluation.finished |= self.certainty == Certainty::Always;
                return Ok(Value::Unknown);
            }
            "new" => {
                let class = matches!(self.peek(), Some(Token::Name(name)) if !name.eq_ignore_ascii_case("class"));
                self.at += usize::from(class);
                return if class { Ok(Value::Unknown) } else { Err(Unsupported) };
            }
            "function" | "fn" | "static" | "match" | "list" | "clone" | "print" | "throw" | "yield" => {
                return Err(Unsupported);
            }
            _ => {}
        }
        if self.take("::") {
            return self.static_call(name, line);
        }
        if !self.is("(") {
            return Ok(self.constant(name));
        }
        let arguments = self.arguments()?;
        let short = lower.rsplit('\\').next().unwrap_or_default().to_owned();
        Ok(self.call(&short, &arguments, line))
    }

    fn constant(&self, name: &str) -> Value {
        match name {
            "DIRECTORY_SEPARATOR" => Value::Text("/".to_owned()),
            "PHP_EOL" => Value::Text("\n".to_owned()),
            "MYSQLI_CLIENT_SSL" => Value::Int(crate::database::CLIENT_SSL),
            "MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT" => Value::Int(crate::database::CLIENT_SSL_UNVERIFIED),
            "MYSQLI_CLIENT_COMPRESS" => Value::Int(32),
            _ => self.evaluation.constants.get(name).map_or(Value::Unknown, |d| d.value.clone()),
        }
    }

    /// `Class::member`, after the colons. Bedrock defines constants with the class `Config` and loads `.env` files with `Dotenv`.
    fn static_call(&mut self, class: &str, line: usize) -> Parsed<Value> {
        let Some(Token::Name(member)) = self.peek() else { return Err(Unsupported) };
        let member = member.clone();
        self.at += 1;
        if !self.is("(") {
            return Ok(Value::Unknown);
        }
        let arguments = self.arguments()?;
        match (class.rsplit('\\').next().unwrap_or_default(), member.as_str(), arguments.as_slice()) {
            ("Config", "define", [Value::Text(_), ..]) => Ok(self.call("define", &arguments, line)),
            ("Config", "get", [Value::Text(name)]) => Ok(self.constant(name)),
            ("Dotenv", _, _) => {
                self.load_dotenv(&arguments);
                Ok(Value::Unknown)
            }
            _ => Ok(Value::Unknown),
        }
    }

    /// Loads `.env` files from the folder in the first text argument: `.env`, or the files in the first array argument.
    fn load_dotenv(&mut self, arguments: &[Value]) {
        if self.certainty != Certainty::Always {
            return;
        }
        let folder = arguments.iter().find_map(|a| if let Value::Text(t) = a { Some(Path::new(t)) } else { None });
        let names = arguments.iter().find_map(|a| match a {
            Value::List(items) => Some(items.iter().filter_map(|(_, name)| name.text()).collect()),
            _ => None,
        });
        let Some(folder) = folder else { return };
        for name in names.unwrap_or_else(|| vec![".env".to_owned()]) {
            let text = value::call("file_get_contents", &[Value::Text(folder.join(name).display().to_string())]);
            if let Some(Value::Text(text)) = text {
                self.evaluation.dotenv.extend(value::dotenv(&text));
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Value], line: usize) -> Value {
        let text = |i: usize| arguments.get(i).and_then(Value::text);
        match (name, text(0)) {
            ("define", Some(constant)) => {
                self.define(&constant, arguments.get(1).cloned().unwrap_or(Value::Null), line);
                Value::Bool(true)
            }
            ("defined", Some(constant)) => match self.evaluation.constants.get(&constant) {
                // Code that was skipped might have defined it.
                Some(Definition { value: Value::Unknown, .. }) => Value::Unknown,
                found => Value::Bool(found.is_some()),
            },
            ("constant", Some(constant)) => self.constant(&constant),
            ("getenv", Some(variable)) => self.evaluation.environment_variable(&variable).into(),
            ("env", Some(variable)) => match self.evaluation.environment_variable(&variable) {
                Some(text) => match text.as_str() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    _ => Value::Text(text),
                },
                None => arguments.get(1).cloned().unwrap_or(Value::Null),
            },
            // A function of the official container image.
            ("getenv_docker", Some(variable)) => {
                let file = self.evaluation.environment_variable(&format!("{variable}_FILE"));
                let content =
                    file.map(|f| value::call("file_get_contents", &[Value::Text(f)]).unwrap_or(Value::Unknown));
                match (content, self.evaluation.environment_variable(&variable)) {
                    (Some(content), _) => value::call("rtrim", &[content]).unwrap_or(Value::Unknown),
                    (None, Some(text)) => Value::Text(text),
                    (None, None) => arguments.get(1).cloned().unwrap_or(Value::Null),
                }
            }
            ("isset", _) => match arguments {
                [Value::Unknown, ..] => Value::Unknown,
                [value, ..] => Value::Bool(*value != Value::Null),
                [] => Value::Unknown,
            },
            ("empty", _) => Value::from_bool(arguments.first().and_then(Value::to_bool).map(|t| !t)),
            _ => value::call(name, arguments).unwrap_or(Value::Unknown),
        }
    }
}

fn operate(sign: &str, left: &Value, right: &Value) -> Value {
    match (sign, left, right) {
        (".", _, _) => left.text().zip(right.text()).map_or(Value::Unknown, |(l, r)| Value::Text(l + &r)),
        ("==", _, _) => Value::from_bool(left.equals(right, false)),
        ("===", _, _) => Value::from_bool(left.equals(right, true)),
        ("!=" | "<>", _, _) => Value::from_bool(left.equals(right, false).map(|e| !e)),
        ("!==", _, _) => Value::from_bool(left.equals(right, true).map(|e| !e)),
        ("|", Value::Int(l), Value::Int(r)) => Value::Int(l | r),
        ("&", Value::Int(l), Value::Int(r)) => Value::Int(l & r),
        ("+", Value::Int(l), Value::Int(r)) => l.checked_add(*r).map_or(Value::Unknown, Value::Int),
        ("*", Value::Int(l), Value::Int(r)) => l.checked_mul(*r).map_or(Value::Unknown, Value::Int),
        _ => Value::Unknown,
    }
}
