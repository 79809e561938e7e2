//! Exports the active theme as a zip archive, with the site's customized templates and styles.

use std::sync::Arc;

use svc_packages::{archive::ArchiveLimits, pack::pack};
use svc_routing::{Controller, Request, Response, Result, Returns, Route, forbidden, get};
use svc_schema::Error;
use svc_site::{
    Site,
    blocking::run_blocking,
    template_parts::without_theme,
    templates::load::{TemplateKind, TemplateLookup},
};

use crate::{global_styles, request::can};

/// The media type of the archive.
const ZIP: &str = "application/zip";

/// Prefixes of file names that are excluded, as in WordPress.
const EXCLUDED: [&str; 7] = [".DS_Store", ".bzr", ".git", ".hg", ".svn", "node_modules", "vendor"];
/// Limits of the archive, which is built in memory.
const LIMITS: ArchiveLimits = ArchiveLimits { entries: 10_000, bytes: 64 << 20 };
/// Folders of templates and template parts in a theme.
const FOLDERS: [(TemplateKind, &str); 2] = [(TemplateKind::Template, "templates/"), (TemplateKind::Part, "parts/")];

fn cannot_export(req: &Request) -> Error {
    forbidden(req, "rest_cannot_export_templates", "You are not allowed to export templates.")
}

fn no_archive() -> Error {
    Error::new("unable_to_create_zip", "The theme archive could not be created.").with_status(500)
}

/// The family `export`.
pub struct ThemeExport {
    site: Arc<Site>,
}

impl ThemeExport {
    /// The family on this site.
    pub fn new(site: &Arc<Site>) -> Self {
        ThemeExport { site: Arc::clone(site) }
    }

    /// Requires `edit_theme_options`.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        if can(&self.site, &req, "edit_theme_options")? { Ok(()) } else { Err(cannot_export(&req)) }
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings(req.cx())?;
        let lookup = TemplateLookup::new(req.cx(), &self.site, &settings);
        let name = lookup.theme.name.clone();
        let (templates, styles) = self.site.read(req.cx(), |db| {
            let mut all = Vec::new();
            for (kind, folder) in FOLDERS {
                all.extend(lookup.all(db, kind)?.into_iter().map(|template| (folder, template)));
            }
            Ok((all, global_styles::user_styles(db, &name)?))
        })?;
        let mut json = lookup.theme.theme.as_ref().map(|theme| theme.json.clone()).unwrap_or_default();
        json.merge(&styles);
        let folder = self.site.content_dir.join("themes").join(&name);
        let archive = run_blocking(move || {
            let templates = templates.into_iter().map(|(folder, template)| {
                (format!("{folder}{}.html", template.slug), without_theme(&template.content).into_bytes())
            });
            let generated = templates.chain([("theme.json".to_owned(), json.to_file().into_bytes())]);
            let is_included = |name: &str| !EXCLUDED.iter().any(|prefix| name.starts_with(prefix));
            pack(&folder, is_included, &FOLDERS.map(|(_, name)| name), generated, LIMITS)
        })
        .await?
        .map_err(|error| {
            tracing::error!(%error, "theme export failed");
            no_archive()
        })?;
        let file = name.rsplit('/').next().unwrap_or_default();
        let disposition = format!("attachment; filename={file}.zip");
        Ok(Response::raw(ZIP, archive).header("Content-Disposition", disposition).without_allow())
    }
}

impl Controller for ThemeExport {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![Route::new("/export").endpoint(get(Self::fetch, Self::can_fetch).returns(Returns::File(ZIP)))]
    }
}
