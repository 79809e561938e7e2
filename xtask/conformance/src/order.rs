//! The order of the fields of recorded bodies: `tests/conformance/orders.json`.
//!
//! Recordings have sorted keys, so the order in which WordPress writes the fields of objects is recorded apart: as the shape of
//! each body, which is its keys without the values. Equal shapes are stored once.

use std::{collections::HashMap, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use xtask_support::say;

use crate::{
    accounts::SiteKeys,
    brand,
    brand::BrandRules,
    folders::{asset_folders, folders, own_folder, scenarios},
    options::Options,
    pointer, remote,
    runner::Runner,
    scenario::StepResponse,
    site,
};

/// Number of a shape. Values without objects have none.
type Shape = Option<usize>;

/// Keys that a message names.
const SHOWN: usize = 12;

/// The shape of an object or of a list.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(untagged)]
enum Form {
    /// The keys, in order.
    Object(Vec<Key>),
    /// The shape that all items have.
    Each { each: usize },
    /// The shapes of the items.
    Items { items: Vec<Shape> },
}

/// A key, and the shape of its value if it has one.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(untagged)]
enum Key {
    Plain(String),
    Nested(String, usize),
}

impl Key {
    fn new(name: &str, shape: Shape) -> Self {
        match shape {
            Some(shape) => Key::Nested(name.to_owned(), shape),
            None => Key::Plain(name.to_owned()),
        }
    }

    fn parts(&self) -> (&str, Shape) {
        match self {
            Key::Plain(name) => (name, None),
            Key::Nested(name, shape) => (name, Some(*shape)),
        }
    }
}

/// The recorded orders of all scenarios.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Orders {
    /// The shapes. Each refers to those before it.
    shapes: Vec<Form>,
    /// The shape of the body of each step, by scenario.
    scenarios: Map<String, Value>,
}

impl Orders {
    fn path() -> Result<PathBuf> {
        Ok(own_folder()?.join("orders.json"))
    }

    /// The orders in the repository.
    pub(crate) fn read() -> Result<Self> {
        let path = Self::path()?;
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
    }

    /// The first object of a body whose fields have another order than the recorded one. Only fields that both have count.
    pub(crate) fn difference(&self, scenario: &str, step: &str, body: &Value, brand: &BrandRules) -> Option<String> {
        let shape = self.scenarios.get(scenario)?.get(step)?.as_u64()?;
        self.value(usize::try_from(shape).ok(), body, "", brand)
    }

    fn value(&self, shape: Shape, value: &Value, at: &str, brand: &BrandRules) -> Option<String> {
        match (self.shapes.get(shape?)?, value) {
            (Form::Object(keys), Value::Object(map)) => self.object(keys, map, at, brand),
            (Form::Each { each }, Value::Array(list)) => {
                list.iter().enumerate().find_map(|(n, v)| self.value(Some(*each), v, &format!("{at}/{n}"), brand))
            }
            (Form::Items { items }, Value::Array(list)) => {
                let pairs = items.iter().zip(list).enumerate();
                pairs.into_iter().find_map(|(n, (shape, v))| self.value(*shape, v, &format!("{at}/{n}"), brand))
            }
            _ => None,
        }
    }

    fn object(&self, keys: &[Key], map: &Map<String, Value>, at: &str, brand: &BrandRules) -> Option<String> {
        let keys: Vec<(String, Shape)> =
            keys.iter().map(Key::parts).map(|(key, shape)| (brand.key(key), shape)).collect();
        let known: HashMap<&str, Shape> = keys.iter().map(|(key, shape)| (key.as_str(), *shape)).collect();
        let expected = keys.iter().map(|(key, _)| key.as_str()).filter(|key| map.contains_key(*key));
        let received = map.keys().map(String::as_str).filter(|key| known.contains_key(key));
        unequal(expected, received, at).or_else(|| {
            map.iter().find_map(|(key, value)| {
                let shape = known.get(key.as_str()).copied().flatten();
                self.value(shape, value, &format!("{at}/{}", pointer::escape(key)), brand)
            })
        })
    }
}

/// The first object of two values whose fields have different orders. Only fields that both have count.
pub(crate) fn of_values(expected: &Value, received: &Value, at: &str) -> Option<String> {
    match (expected, received) {
        (Value::Object(a), Value::Object(b)) => {
            let expected = a.keys().filter(|key| b.contains_key(*key)).map(String::as_str);
            let received = b.keys().filter(|key| a.contains_key(*key)).map(String::as_str);
            unequal(expected, received, at).or_else(|| {
                a.iter().find_map(|(key, v)| of_values(v, b.get(key)?, &format!("{at}/{}", pointer::escape(key))))
            })
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(n, (a, b))| of_values(a, b, &format!("{at}/{n}")))
        }
        _ => None,
    }
}

/// The first difference of two orders of the same keys.
fn unequal<'a>(
    expected: impl Iterator<Item = &'a str>,
    received: impl Iterator<Item = &'a str>,
    at: &str,
) -> Option<String> {
    let differing = expected.zip(received).skip_while(|(a, b)| a == b).take(SHOWN);
    let (expected, received): (Vec<&str>, Vec<&str>) = differing.unzip();
    if expected.is_empty() {
        return None;
    }
    let place = if at.is_empty() { "/" } else { at };
    Some(format!("order of fields at {place}: expected {}, got {}", expected.join(" "), received.join(" ")))
}

/// Collects shapes, equal ones once.
#[derive(Default)]
struct Collector {
    numbers: HashMap<Form, usize>,
    shapes: Vec<Form>,
}

impl Collector {
    fn shape(&mut self, value: &Value) -> Shape {
        let form = match value {
            Value::Object(map) if map.is_empty() => return None,
            Value::Object(map) => Form::Object(map.iter().map(|(key, v)| Key::new(key, self.shape(v))).collect()),
            Value::Array(list) => {
                let items: Vec<Shape> = list.iter().map(|v| self.shape(v)).collect();
                match items.first().copied().flatten() {
                    _ if items.iter().all(Option::is_none) => return None,
                    Some(first) if items.iter().all(|shape| *shape == Some(first)) => Form::Each { each: first },
                    _ => Form::Items { items },
                }
            }
            _ => return None,
        };
        // An object of one value has no order.
        if matches!(&form, Form::Object(keys) if matches!(keys[..], [Key::Plain(_)])) {
            return None;
        }
        let next = self.shapes.len();
        let number = *self.numbers.entry(form.clone()).or_insert(next);
        if number == next {
            self.shapes.push(form);
        }
        Some(number)
    }

    fn steps(&mut self, responses: &[StepResponse]) -> Value {
        let shape = |response: &StepResponse| Some((response.name.clone(), json!(self.shape(&response.body)?)));
        responses.iter().filter_map(shape).collect::<Map<_, _>>().into()
    }
}

/// Records the orders of all scenarios from a running WordPress on the recorded site. `--reset` restores the site.
pub(crate) fn run(base: &str, options: &Options) -> Result<()> {
    let reset = options.reset.as_deref().context("--record-order needs --reset: scenarios write")?;
    if !options.scenarios.is_empty() {
        bail!("--record-order records all scenarios");
    }
    let folders = folders(options)?;
    let (mut collector, mut recorded, mut dirty) = (Collector::default(), Map::new(), true);
    for scenario in scenarios(&folders, options)? {
        if dirty || scenario.writes {
            remote::reset(reset)?;
        }
        dirty = scenario.writes;
        let keys = SiteKeys::read(&site::config()?)?;
        let mut runner = Runner::new(base, brand::RECORDED, keys, asset_folders(&folders))?;
        let responses = runner.record(&scenario)?;
        say(&format!("{:28} {:5} recorded", scenario.name, responses.len()))?;
        recorded.insert(scenario.name.clone(), collector.steps(&responses));
    }
    remote::reset(reset)?;
    let mut text = String::from("{\"shapes\":[\n");
    text += &lines(collector.shapes.iter().map(|form| json!(form).to_string()));
    text += "\n],\"scenarios\":{\n";
    text += &lines(recorded.iter().map(|(name, steps)| format!("{}:{steps}", json!(name))));
    text += "\n}}\n";
    let path = Orders::path()?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(body: &Value) -> Orders {
        let mut collector = Collector::default();
        let steps = collector.steps(&[StepResponse {
            name: "n".to_owned(),
            status: 200,
            headers: Map::new(),
            body: body.clone(),
        }]);
        Orders { shapes: collector.shapes, scenarios: [("s".to_owned(), steps)].into_iter().collect() }
    }

    #[test]
    fn fields_in_another_order_are_noticed_at_every_depth() {
        let body = json!({"b": {"d": 1, "c": [1]}, "a": [{"f": 1, "e": 2}, {"f": 3, "e": 4}], "g": [1, {"i": 1, "h": 1}], "wp:j": 1});
        #[rustfmt::skip]
        let rows = [
            (body.clone(), None),
            (json!({"b": {"d": 1}, "a": [], "g": [], "x": 1, "wp:j": 1}), None),
            (json!({"x": 1, "a": [], "b": 1}), Some("at /: expected b a, got a b")),
            (json!({"b": {"c": 1, "d": 1}}), Some("at /b: expected d c, got c d")),
            (json!({"a": [{"f": 1, "e": 2}, {"e": 4, "f": 3}]}), Some("at /a/1: expected f e, got e f")),
            (json!({"g": [1, {"h": 1, "i": 1}]}), Some("at /g/1: expected i h, got h i")),
        ];
        let (orders, brand) = (recorded(&body), BrandRules::new("wp").unwrap());
        for (received, expected) in rows {
            let difference = orders.difference("s", "n", &received, &brand);
            assert_eq!(of_values(&body, &received, ""), difference, "{received}");
            assert_eq!(difference, expected.map(|text| format!("order of fields {text}")), "{received}");
        }
        let (other, renamed) = (BrandRules::new("svc").unwrap(), json!({"svc:j": 1, "b": 1}));
        let difference = orders.difference("s", "n", &renamed, &other);
        assert_eq!(difference.unwrap(), "order of fields at /: expected b svc:j, got svc:j b");
        assert_eq!(orders.difference("other", "n", &renamed, &other), None);
    }

    #[test]
    fn the_orders_in_the_repository_can_be_read() {
        let orders = Orders::read().unwrap();
        assert!(orders.shapes.len() > 100 && orders.scenarios.contains_key("further-reads"));
    }
}
