//! Alters recorded responses, and tests that the comparison notices each alteration.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    brand::{self, BrandRules},
    compare::Comparison,
    folders::own_folder,
    ids::is_given_out,
    normalize::Normalizer,
    pointer,
    scenario::{Scenario, StepResponse, in_folder},
};

/// Places of a body that are altered, at most about.
const PLACES: usize = 12;

/// Altered copies of a response, each with what was altered.
fn alterations(response: &StepResponse) -> Vec<(String, StepResponse)> {
    let altered = |what: &str, alter: &dyn Fn(&mut StepResponse)| {
        let mut copy = response.clone();
        alter(&mut copy);
        (what.to_owned(), copy)
    };
    let mut all = vec![
        altered("status", &|r| r.status += 1),
        altered("a header added", &|r| drop(r.headers.insert("x-wp-total".to_owned(), "77777".into()))),
    ];
    for name in response.headers.keys() {
        all.push(altered(&format!("header {name} dropped"), &|r| drop(r.headers.shift_remove(name))));
        all.push(altered(&format!("header {name} changed"), &|r| r.headers[name] = "other".into()));
    }
    let mut places = Vec::new();
    walk(&response.body, String::new(), &mut places);
    for at in places.iter().step_by((places.len() / PLACES).max(1)) {
        let is_id = |value: &Value| value.as_u64().is_some_and(is_given_out);
        if !response.body.pointer(at).is_some_and(is_id) {
            all.push(altered(at, &|r| pointer::change(&mut r.body, at, &mut alter)));
        }
    }
    all
}

/// The places of a value, itself included.
fn walk(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(n, v)| walk(v, format!("{at}/{n}"), places)),
        Value::Object(map) => map.iter().for_each(|(k, v)| walk(v, format!("{at}/{}", pointer::escape(k)), places)),
        _ => {}
    }
    places.push(at);
}

fn alter(value: &mut Value) {
    match value {
        Value::Object(map) => drop(map.insert("unheard-of".to_owned(), 1.into())),
        Value::Array(list) => list.push("unheard-of".into()),
        Value::Number(n) => *value = json!(n.as_f64().map_or(0.0, |n| if n.abs() > 1e15 { n * 2.0 } else { n + 1.0 })),
        Value::String(text) => text.push('x'),
        other => *other = format!("was {other}").into(),
    }
}

/// Compares each recorded response with itself and with its altered copies; returns the number of these.
fn check(scenario: &Scenario) -> usize {
    let rules = Arc::new(BrandRules::new(brand::RECORDED).unwrap());
    let normalizer = Arc::new(Normalizer::new("http://h", "http://h", 0.0).unwrap());
    let differs = |recorded: &StepResponse, received: &StepResponse| {
        let step = scenario.steps.iter().find(|step| step.name == recorded.name).unwrap();
        // A received response has its nonces replaced already.
        let received = StepResponse { body: normalizer.recorded(&received.body), ..received.clone() };
        Comparison::new(Arc::clone(&rules), Arc::clone(&normalizer)).difference(step, recorded, &received).is_some()
    };
    let mut tried = 0;
    for recorded in scenario.recording().unwrap() {
        assert!(!differs(&recorded, &recorded), "{}: differs from itself", recorded.name);
        for (what, altered) in alterations(&recorded) {
            tried += 1;
            assert!(differs(&recorded, &altered), "{}: {what} is not noticed", recorded.name);
        }
    }
    tried
}

#[test]
fn each_alteration_of_a_recorded_response_is_noticed() {
    let scenarios = in_folder(&own_folder().unwrap()).unwrap();
    let tried: usize = scenarios.iter().map(check).sum();
    assert!(tried > 5000, "{tried}");
}
