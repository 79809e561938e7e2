//! `[theme_supports]`: features of the theme, by their names in the REST API.

use serde_json::{Map, Value};
use svc_controllers::themes::supports;
use svc_schema::Schema;

/// Checks that the features exist and that their values match the REST API's schema.
pub(super) fn check_theme_supports(features: &Map<String, Value>) -> Result<(), String> {
    let schemas = supports::schemas();
    for (name, value) in features {
        let schema = schemas.get(name).ok_or_else(|| format!("themes have no feature `{name}`"))?;
        Schema::compile(schema.clone()).validate(value, name).map_err(|error| error.message().to_owned())?;
    }
    Ok(())
}
