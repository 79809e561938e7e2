//! Scenarios and recordings as files: `scenarios/NAME.json` lists requests, `recorded/NAME.json` WordPress's responses.
//!
//! The fields of a step are described in `tests/conformance/README.md`.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The requests of one subject, in order. Scenarios do not depend on each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The file's name without its ending.
    #[serde(skip)]
    pub(crate) name: String,
    /// The folder of the recorded responses.
    #[serde(skip)]
    pub(crate) recordings: PathBuf,
    #[serde(default, rename = "about")]
    _about: String,
    /// Whether the requests change the site.
    #[serde(default)]
    pub(crate) writes: bool,
    pub(crate) steps: Vec<Step>,
}

/// A request, and how its response is compared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Unique in its scenario; the recording refers to it.
    pub(crate) name: String,
    /// Sender: `none`, a user, `basic:USER:PASSWORD`, or `cookie:USER` and its variants.
    #[serde(default = "nobody", rename = "as")]
    pub(crate) user: String,
    pub(crate) method: String,
    /// Path below the API's root.
    #[serde(default)]
    pub(crate) path: String,
    /// Instead of `path`: path below the site.
    pub(crate) raw_path: Option<String>,
    #[serde(default)]
    pub(crate) query: Value,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) json: Option<Value>,
    pub(crate) form: Option<Value>,
    pub(crate) multipart: Option<Vec<Part>>,
    /// An asset that is the whole body.
    pub(crate) file: Option<String>,
    pub(crate) body: Option<String>,
    /// Variables for later steps: JSON pointers into the body, or `header:NAME`.
    #[serde(default)]
    pub(crate) capture: BTreeMap<String, String>,
    /// JSON pointers that are not compared. In these three, `*` matches every key or index.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    /// JSON pointers of which only the JSON type is compared.
    #[serde(default)]
    pub(crate) volatile: Vec<String>,
    /// JSON pointers to lists whose order is not compared.
    #[serde(default)]
    pub(crate) unordered: Vec<String>,
    /// Instead of the body, the matches of these patterns in it are compared.
    #[serde(default)]
    pub(crate) extract: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) no_body: bool,
    #[serde(default)]
    pub(crate) ignore_headers: Vec<String>,
}

/// A part of a multipart body: a text, or an asset.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) value: String,
    pub(crate) file: Option<String>,
    /// The name that is sent with the asset, unless its own.
    pub(crate) filename: Option<String>,
    #[serde(rename = "type")]
    pub(crate) content_type: Option<String>,
}

/// The response to a step: recorded, or received and normalized.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepResponse {
    pub(crate) name: String,
    pub(crate) status: u16,
    /// By name in lower case; a list where a header came several times.
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: Value,
}

fn nobody() -> String {
    "none".to_owned()
}

/// `null` is a body: only an absent field is `None`.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Scenario {
    fn read(folder: &Path, name: &str) -> Result<Self> {
        let mut scenario: Scenario = read_json(&folder.join("scenarios").join(format!("{name}.json")))?;
        name.clone_into(&mut scenario.name);
        scenario.recordings = folder.join("recorded");
        let mut names = HashSet::new();
        if let Some(step) = scenario.steps.iter().find(|step| !names.insert(step.name.as_str())) {
            bail!("{name}: two steps are named {}", step.name);
        }
        Ok(scenario)
    }

    /// The file that holds the recorded responses.
    pub(crate) fn recording_path(&self) -> PathBuf {
        self.recordings.join(format!("{}.json", self.name))
    }

    /// The recorded responses; empty where nothing was recorded yet.
    pub(crate) fn recording(&self) -> Result<Vec<StepResponse>> {
        #[derive(Deserialize)]
        struct Recording {
            steps: Vec<StepResponse>,
        }
        let path = self.recording_path();
        if path.is_file() { Ok(read_json::<Recording>(&path)?.steps) } else { Ok(Vec::new()) }
    }
}

/// The scenarios of a folder: those that only read come first, each group by name.
pub(crate) fn in_folder(folder: &Path) -> Result<Vec<Scenario>> {
    let files = folder.join("scenarios");
    let mut scenarios = Vec::new();
    for entry in std::fs::read_dir(&files).with_context(|| format!("cannot list {}", files.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "json") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            scenarios.push(Scenario::read(folder, &name)?);
        }
    }
    scenarios.sort_by(|a, b| (a.writes, &a.name).cmp(&(b.writes, &b.name)));
    Ok(scenarios)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::own_folder;

    #[test]
    fn every_step_of_the_own_scenarios_has_a_recording() {
        let scenarios = in_folder(&own_folder().unwrap()).unwrap();
        assert!(scenarios.len() >= 3);
        for scenario in scenarios {
            let recorded = scenario.recording().unwrap();
            let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<HashSet<_>>();
            let requested = names(scenario.steps.iter().map(|s| s.name.as_str()).collect());
            assert_eq!(requested, names(recorded.iter().map(|r| r.name.as_str()).collect()), "{}", scenario.name);
        }
    }

    #[test]
    fn unknown_fields_and_repeated_names_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("scenarios")).unwrap();
        let read = |text: &str| {
            std::fs::write(folder.path().join("scenarios/x.json"), text).unwrap();
            Scenario::read(folder.path(), "x").map(|s| s.steps.len()).map_err(|e| format!("{e:#}"))
        };
        let step = r#"{"name": "a", "method": "GET", "path": "/", "json": null}"#;
        assert_eq!(read(&format!(r#"{{"steps": [{step}]}}"#)), Ok(1));
        assert_eq!(read(&format!(r#"{{"steps": [{step}, {step}]}}"#)), Err("x: two steps are named a".to_owned()));
        assert!(read(r#"{"steps": [{"name": "a", "method": "GET", "paht": "/"}]}"#).unwrap_err().contains("paht"));
        let present: Step = serde_json::from_str(step).unwrap();
        assert_eq!(present.json, Some(Value::Null));
    }
}
