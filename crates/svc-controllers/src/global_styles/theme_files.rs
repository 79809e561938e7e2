//! Links to theme files that styles reference by `file:./`.

use serde_json::Value;
use svc_packages::theme::{Theme, ThemeJson};
use svc_routing::{Link, Links};
use svc_site::Settings;
use svc_text::{MimeTypes, check_filetype, sanitize_url};

use crate::LINK_RELATION;

/// Prefix of URLs of files in the theme's folder.
const PLACEHOLDER: &str = "file:./";

/// Adds a link for each background image that is a theme file: its reference, URL, and path within the styles.
pub(super) fn add(links: &mut Links, json: &ThemeJson, theme: Option<&Theme>, settings: &Settings) {
    let Some(theme) = theme else { return };
    let (styles, types) = (json.styles(), MimeTypes::allowed(false));
    let blocks = styles["blocks"].as_object().into_iter().flatten();
    let paths = blocks.map(|(block, styles)| (format!("styles.blocks.{block}."), styles));
    for (path, styles) in std::iter::once(("styles.".to_owned(), styles)).chain(paths) {
        let Some(name) = styles["background"]["backgroundImage"]["url"].as_str() else { continue };
        if !name.starts_with(PLACEHOLDER) {
            continue;
        }
        let url = theme.file_url(&settings.themes_url(), &name.replace(PLACEHOLDER, ""));
        let mime = check_filetype(name, &types).map_or(Value::Bool(false), |(_, mime)| mime.into());
        let link = Link::new(sanitize_url(&url))
            .attr("name", name)
            .attr("target", format!("{path}background.backgroundImage.url"))
            .attr("type", mime);
        links.add(format!("{LINK_RELATION}theme-file"), link);
    }
}
