//! Facts of the site that the interface's index shows, as the options have them.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_controllers::{Settings, Site};

use crate::{
    config::SiteUrl,
    error::{Error, Result},
};

/// The site's public address.
///
/// # Errors
/// When the options cannot be read, or hold no address.
pub(super) fn home(site: &Arc<Site>) -> Result<SiteUrl> {
    let settings = site.settings().map_err(|e| Error::Refused(format!("cannot read the site's options: {}", e.message())))?;
    let stored = settings.option("home");
    stored.parse().map_err(|why| Error::Refused(format!("the stored address `{stored}` of the site {why}")))
}

/// The first members of the index.
pub(super) fn index(site: &Site, settings: &Settings) -> Map<String, Value> {
    let local = settings.zone.to_local(site.now());
    let offset = (local - site.now()).num_minutes() as f64 / 60.0;
    let facts = json!({
        "name": settings.option("blogname"),
        "description": settings.option("blogdescription"),
        "url": settings.option("siteurl"),
        "home": settings.option("home"),
        "gmt_offset": offset,
        "timezone_string": settings.option("timezone_string"),
        "page_for_posts": settings.number("page_for_posts"),
        "page_on_front": settings.number("page_on_front"),
        "show_on_front": settings.option("show_on_front"),
    });
    match facts {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The member `authentication`: where programs send people to get an application password.
pub(super) fn authentication(site: &Site, settings: &Settings, passwords: bool) -> Value {
    if !passwords {
        return json!([]);
    }
    let page = format!("{}/authorize-application.php", site.brand.admin_path());
    json!({"application-passwords": {"endpoints": {"authorization": settings.urls.site.site_url(&page)}}})
}
