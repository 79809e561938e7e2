//! What each role may do: the capabilities of the site's roles, as a table.

use askama::Template;
use http::StatusCode;
use svc_auth::roles::Roles;
use svc_login::Page;
use svc_schema::Error;

use crate::{
    layout::{self, Layout, ROLES},
    posts::capitalized,
    request::AdminRequest,
};

/// Beginnings of the names of capabilities that decided what users may do before WordPress 2.0. They are stored, and decide nothing.
const FORMER: &str = "level_";

/// A capability.
struct Capability {
    /// The name for people: `Edit others posts`.
    label: String,
    name: String,
    /// For each role, whether it has the capability.
    granted: Vec<bool>,
}

#[derive(Template)]
#[template(path = "roles.html")]
struct RolesPage {
    page: Layout,
    /// Names of the roles.
    roles: Vec<String>,
    capabilities: Vec<Capability>,
}

impl AdminRequest<'_> {
    /// The page with the table.
    pub(crate) async fn show_roles(&self) -> Page {
        if !self.can("list_users") {
            return Err(Error::new("admin_no_roles", "You may not see the roles.").with_status(403));
        }
        let (settings, site) = (&self.session.settings, &self.admin.pages.identities.site);
        let prefix = site.read(&self.parts.cx, |db| Ok::<_, svc_site::SiteError>(db.prefix().to_owned()))?;
        let roles = settings.roles(&prefix);
        let template = RolesPage {
            page: self.layout("Roles", &self.url(ROLES, &[])).await?,
            roles: roles.iter().map(|(_, role)| role.name.clone()).collect(),
            capabilities: capabilities(roles),
        };
        Ok(layout::html(StatusCode::OK, &template))
    }
}

/// The capabilities that a role has, in the order in which the roles name them.
fn capabilities(roles: &Roles) -> Vec<Capability> {
    let mut found: Vec<Capability> = Vec::new();
    for name in roles.iter().flat_map(|(_, role)| role.capabilities.iter()).map(|(name, _)| name) {
        if name.starts_with(FORMER) || found.iter().any(|known| known.name == name) {
            continue;
        }
        let granted = roles.iter().map(|(_, role)| role.capabilities.has(name)).collect();
        found.push(Capability { label: capitalized(&name.replace('_', " ")), name: name.to_owned(), granted });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_is_listed_once() {
        let all = capabilities(&Roles::default());
        let of = |name: &str| all.iter().find(|capability| capability.name == name).unwrap();
        assert_eq!(of("edit_others_posts").label, "Edit others posts");
        assert_eq!(of("edit_others_posts").granted, [true, true, false, false, false]);
        assert_eq!(of("read").granted, [true; 5]);
        let mut names: Vec<&str> = all.iter().map(|capability| capability.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert!(!names.iter().any(|name| name.starts_with(FORMER)));
    }
}
