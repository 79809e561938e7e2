//! Nonces in recordings: each is good for half a day, so those that were recorded cannot be compared with today's.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// How recordings write a text that may differ.
const ANY_TEXT: &str = "<string>";

/// Copies a scenario and its recording into a folder, with every text of an answer that holds a nonce named as one that
/// may differ (`volatile`).
pub(crate) fn without(from: &Path, to: &Path, name: &str) -> Result<()> {
    let read = |kind: &str| -> Result<Value> {
        let path = from.join(kind).join(format!("{name}.json"));
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
    };
    let (mut scenario, mut recorded) = (read("scenarios")?, read("recorded")?);
    let answers = recorded["steps"].as_array_mut().map_or(&mut [][..], Vec::as_mut_slice);
    for step in scenario["steps"].as_array_mut().into_iter().flatten() {
        let Some(answer) = answers.iter_mut().find(|answer| answer["name"] == step["name"]) else { continue };
        let mut pointers: Vec<String> = Vec::new();
        find(&answer["body"], &mut String::new(), &mut pointers);
        for pointer in &pointers {
            let text = answer["body"].pointer_mut(pointer).context("what was found is there")?;
            *text = ANY_TEXT.into();
        }
        if !pointers.is_empty() {
            let volatile = step.as_object_mut().map(|step| step.entry("volatile").or_insert_with(|| json!([])));
            volatile
                .and_then(Value::as_array_mut)
                .into_iter()
                .for_each(|list| list.extend(pointers.drain(..).map(Value::from)));
        }
    }
    for (kind, value) in [("scenarios", scenario), ("recorded", recorded)] {
        let folder = to.join(kind);
        fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(format!("{name}.json")), value.to_string()))?;
    }
    Ok(())
}

/// JSON pointers to the texts of a value that hold a nonce.
fn find(value: &Value, at: &mut String, found: &mut Vec<String>) {
    let length = at.len();
    let mut within = |key: &str, value: &Value, at: &mut String| {
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        find(value, at, found);
        at.truncate(length);
    };
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(n, value)| within(&n.to_string(), value, at)),
        Value::Object(map) => map.iter().for_each(|(key, value)| within(key, value, at)),
        Value::String(text) if has_nonce(text) => found.push(at.clone()),
        _ => {}
    }
}

/// Whether an address in a text has a nonce: ten hexadecimal digits after `nonce=`.
fn has_nonce(text: &str) -> bool {
    text.split("nonce=").skip(1).any(|rest| {
        let digits = rest.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count();
        digits == 10
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_nonces_are_found() {
        let mut found = Vec::new();
        let body = json!({"a": [{"b/c": "?x_nonce=0123456789&y"}, "nonce=short"], "d": "nonce=0123456789ab"});
        find(&body, &mut String::new(), &mut found);
        assert_eq!(found, ["/a/0/b~1c"]);
    }
}
