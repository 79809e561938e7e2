//! Errors of the permalink settings.

use serde_json::json;
use svc_schema::Error;

use crate::settings::permalink_settings::InvalidPermalinks;

/// A setting that cannot be used, as an invalid parameter.
impl From<InvalidPermalinks> for Error {
    fn from(invalid: InvalidPermalinks) -> Self {
        let InvalidPermalinks { setting, message } = invalid;
        Error::new("rest_invalid_param", format!("Invalid parameter(s): {setting}"))
            .with_data(json!({"status": 400, "params": {setting: message}}))
            .with_status(400)
    }
}
