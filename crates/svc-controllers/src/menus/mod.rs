//! Menus as classic themes show them: the menus, their items, and the places where they are shown.
//!
//! Menus are terms, items are posts; both families stand on those of terms and posts.

mod errors;
pub(crate) mod items;
mod locations;
mod menu;

use svc_routing::{Request, Result};
use svc_site::Access;

use crate::{RestSite, caller};

pub(crate) use self::items::edit_args;
pub use self::{items::MenuItems, locations::MenuLocations, menu::Menus};

/// Whether the caller may see menus: whoever may change them, or write posts of any type that the interface serves.
fn check_read(site: &RestSite, req: &Request) -> Result<()> {
    let settings = site.settings()?;
    let access = Access::new(site, &settings);
    let caller = caller(req);
    let writes = || site.types.iter().any(|t| t.show_in_rest && access.can(&caller, &t.caps.edit_posts));
    if access.can(&caller, "edit_theme_options") || writes() { Ok(()) } else { Err(errors::cannot_view(req)) }
}
