//! Expressions of a configuration: their values, and what they define on the way.

use std::path::Path;

use crate::reader::{Defined, LAST, Lost, MAX_DEPTH, MAX_FILES, Mode, Read, Reader};
use crate::tokens::{Part, Token};
use crate::value::{self, Value};

impl Reader<'_, '_> {
    /// Reads a further file of configuration, as long as there are not too many.
    fn include(&mut self, path: &Value) -> Value {
        let Some(path) = path.text().filter(|_| self.mode == Mode::Surely) else { return Value::Unknown };
        let path = self.path.parent().unwrap_or(Path::new("")).join(path);
        match path.file_name().and_then(|n| n.to_str()) {
            Some(LAST) => self.world.finished = true,
            // Loads code by name and configures nothing.
            Some("autoload.php") => {}
            _ if self.world.n_files < MAX_FILES && self.world.depth < MAX_DEPTH && path.is_file() => {
                self.world.depth += 1;
                if let Err(error) = self.world.file(&path) {
                    tracing::warn!(file = %path.display(), %error, "a file of the configuration is left out");
                }
                self.world.depth -= 1;
            }
            _ => {}
        }
        Value::Unknown
    }

    pub(crate) fn expression(&mut self) -> Read<Value> {
        self.deeper(|r| r.binary(0))
    }

    /// An expression of operators that bind at least this much.
    fn binary(&mut self, least: u8) -> Read<Value> {
        let mut left = self.unary()?;
        loop {
            let Some((sign, level)) = self.operator().filter(|(_, level)| *level >= least) else { return Ok(left) };
            self.at += 1;
            left = match sign {
                "?" => self.choice(&left)?,
                "??" => {
                    let mode = match &left {
                        Value::Null => Mode::Surely,
                        Value::Unknown => Mode::Perhaps,
                        _ => Mode::Never,
                    };
                    let right = self.within(mode, |r| r.binary(level))?;
                    if left == Value::Null { right } else { left }
                }
                "&&" | "||" => {
                    // The side that decides alone: `false &&`, `true ||`.
                    let decides = sign == "||";
                    let mode = match left.truth() {
                        Some(truth) if truth == decides => Mode::Never,
                        Some(_) => Mode::Surely,
                        None => Mode::Perhaps,
                    };
                    let right = self.within(mode, |r| r.binary(level + 1))?;
                    Value::from_truth(match (left.truth(), right.truth()) {
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

    /// The operator that stands here, and how much it binds.
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
    fn choice(&mut self, condition: &Value) -> Read<Value> {
        let truth = condition.truth();
        let mode = |wanted: bool| match truth {
            Some(truth) if truth == wanted => Mode::Surely,
            Some(_) => Mode::Never,
            None => Mode::Perhaps,
        };
        let yes = if self.is(":") { condition.clone() } else { self.within(mode(true), |r| r.binary(3))? };
        self.expect(":")?;
        let no = self.within(mode(false), |r| r.binary(5))?;
        Ok(match truth {
            Some(true) => yes,
            Some(false) => no,
            None if yes == no => yes,
            None => Value::Unknown,
        })
    }

    fn unary(&mut self) -> Read<Value> {
        self.deeper(Self::unary_within)
    }

    fn unary_within(&mut self) -> Read<Value> {
        if self.take("!") {
            return Ok(Value::from_truth(self.unary()?.truth().map(|t| !t)));
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
                    "bool" | "boolean" => Value::from_truth(value.truth()),
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
        self.members(value).map(|(value, _)| value)
    }

    /// A variable, its members, or an assignment to it.
    fn variable(&mut self, name: &str) -> Read<Value> {
        let line = self.line();
        self.at += 1;
        let value = match name {
            "_ENV" | "_SERVER" => return self.environment_member(name),
            _ => self.world.variables.get(name).map_or(Value::Unknown, |d| d.value.clone()),
        };
        let (value, n_members) = self.members(value)?;
        let plain = n_members == 0;
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

    /// `$_ENV['NAME']`; `$_SERVER` holds the environment as well, and what each request tells, which is not known here.
    fn environment_member(&mut self, name: &str) -> Read<Value> {
        if !self.take("[") {
            return Ok(Value::Unknown);
        }
        let key = self.expression()?;
        self.expect("]")?;
        let found = key.text().and_then(|key| self.world.variable_of_environment(&key));
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

    /// What follows a value: `[key]`, `->name`, calls. How many of them there were.
    fn members(&mut self, mut value: Value) -> Read<(Value, usize)> {
        let mut n = 0;
        loop {
            if self.take("[") {
                let key = if self.is("]") { Value::Unknown } else { self.expression()? };
                self.expect("]")?;
                value = value.member(&key);
            } else if self.take("->") || self.take("?->") {
                let Some(Token::Name(name)) = self.peek() else { return Err(Lost) };
                let key = Value::Text(name.clone());
                self.at += 1;
                value = value.member(&key);
            } else if self.is("(") {
                self.arguments()?;
                value = Value::Unknown;
            } else {
                return Ok((value, n));
            }
            n += 1;
        }
    }

    fn arguments(&mut self) -> Read<Vec<Value>> {
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

    fn primary(&mut self) -> Read<Value> {
        let line = self.line();
        let token = self.peek().cloned().ok_or(Lost)?;
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
            Token::Sign(_) | Token::Variable(_) => Err(Lost),
        }
    }

    fn template(&self, parts: &[Part]) -> Value {
        let text = parts.iter().map(|part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Variable(name) => self.world.variables.get(name)?.value.text(),
            Part::Other => None,
        });
        text.collect::<Option<String>>().map_or(Value::Unknown, Value::Text)
    }

    /// The items of a list, after its opening.
    fn list(&mut self, end: &str) -> Read<Value> {
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

    /// What begins with a name: a keyword, a call, a constant.
    fn named(&mut self, name: &str, line: usize) -> Read<Value> {
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
                self.world.finished |= self.mode == Mode::Surely;
                return Ok(Value::Unknown);
            }
            "new" => {
                let class = matches!(self.peek(), Some(Token::Name(name)) if !name.eq_ignore_ascii_case("class"));
                self.at += usize::from(class);
                return if class { Ok(Value::Unknown) } else { Err(Lost) };
            }
            "function" | "fn" | "static" | "match" | "list" | "clone" | "print" | "throw" | "yield" => {
                return Err(Lost);
            }
            _ => {}
        }
        if self.take("::") {
            return self.of_class(name, line);
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
            _ => self.world.constants.get(name).map_or(Value::Unknown, |d| d.value.clone()),
        }
    }

    /// `Class::member`, after the colons. Frameworks of sites define their constants through a class `Config`, and load
    /// files of variables through `Dotenv`.
    fn of_class(&mut self, class: &str, line: usize) -> Read<Value> {
        let Some(Token::Name(member)) = self.peek() else { return Err(Lost) };
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
                self.load_variables(&arguments);
                Ok(Value::Unknown)
            }
            _ => Ok(Value::Unknown),
        }
    }

    /// Loads the files of variables in the folder that the first text names: `.env`, or those of the first list.
    fn load_variables(&mut self, arguments: &[Value]) {
        if self.mode != Mode::Surely {
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
                self.world.dotenv.extend(value::dotenv(&text));
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
            ("defined", Some(constant)) => match self.world.constants.get(&constant) {
                // Perhaps defined: what could not be followed would have defined it.
                Some(Defined { value: Value::Unknown, .. }) => Value::Unknown,
                found => Value::Bool(found.is_some()),
            },
            ("constant", Some(constant)) => self.constant(&constant),
            ("getenv", Some(variable)) => self.world.variable_of_environment(&variable).into(),
            ("env", Some(variable)) => match self.world.variable_of_environment(&variable) {
                Some(text) => match text.as_str() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    _ => Value::Text(text),
                },
                None => arguments.get(1).cloned().unwrap_or(Value::Null),
            },
            // What the official container image defines for itself.
            ("getenv_docker", Some(variable)) => {
                let file = self.world.variable_of_environment(&format!("{variable}_FILE"));
                let content =
                    file.map(|f| value::call("file_get_contents", &[Value::Text(f)]).unwrap_or(Value::Unknown));
                match (content, self.world.variable_of_environment(&variable)) {
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
            ("empty", _) => Value::from_truth(arguments.first().and_then(Value::truth).map(|t| !t)),
            _ => value::call(name, arguments).unwrap_or(Value::Unknown),
        }
    }
}

fn operate(sign: &str, left: &Value, right: &Value) -> Value {
    match (sign, left, right) {
        (".", _, _) => left.text().zip(right.text()).map_or(Value::Unknown, |(l, r)| Value::Text(l + &r)),
        ("==", _, _) => Value::from_truth(left.equals(right, false)),
        ("===", _, _) => Value::from_truth(left.equals(right, true)),
        ("!=" | "<>", _, _) => Value::from_truth(left.equals(right, false).map(|e| !e)),
        ("!==", _, _) => Value::from_truth(left.equals(right, true).map(|e| !e)),
        ("|", Value::Int(l), Value::Int(r)) => Value::Int(l | r),
        ("&", Value::Int(l), Value::Int(r)) => Value::Int(l & r),
        ("+", Value::Int(l), Value::Int(r)) => l.checked_add(*r).map_or(Value::Unknown, Value::Int),
        ("*", Value::Int(l), Value::Int(r)) => l.checked_mul(*r).map_or(Value::Unknown, Value::Int),
        _ => Value::Unknown,
    }
}
