//! Assignments of menus in the site's options: locations, and automatic addition of new pages.

use indexmap::IndexMap;
use svc_model::TermId;
use svc_php::{Array, ArrayKey, Php};
use svc_store::{
    StoredText, Tx,
    options::{self, Options},
};

use crate::{
    SiteResult,
    stored_arrays::{self, int, key_text},
};

/// Theme setting that maps locations to menus.
const LOCATIONS: &str = "nav_menu_locations";
/// Option for all menus; its only field lists the menus with automatic addition of new pages.
const MENU_OPTIONS: &str = "nav_menu_options";
const AUTO_ADD: &str = "auto_add";

/// Name of the option with this theme's settings.
pub(crate) fn theme_settings(stylesheet: &str) -> String {
    format!("theme_mods_{stylesheet}")
}

/// Menus by location, and the menus that new pages are added to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MenuAssignments {
    locations: IndexMap<String, TermId>,
    auto_add: Vec<TermId>,
}

impl MenuAssignments {
    /// Reads the assignments from the site's options.
    pub(crate) fn new(options: &Options) -> Self {
        let stylesheet = options.get("stylesheet").map_or("", StoredText::text);
        let theme = stored_arrays::parse(options.get(&theme_settings(stylesheet)));
        let menus = stored_arrays::parse(options.get(MENU_OPTIONS));
        MenuAssignments {
            locations: stored_arrays::member(&theme, LOCATIONS)
                .iter()
                .map(|(name, menu)| (key_text(name), TermId(int(menu))))
                .collect(),
            auto_add: stored_arrays::member(&menus, AUTO_ADD).iter().map(|(_, menu)| TermId(int(menu))).collect(),
        }
    }

    /// The menu at a location; zero for none.
    pub fn menu_at(&self, location: &str) -> TermId {
        self.locations.get(location).copied().unwrap_or_default()
    }

    /// The locations that a menu is assigned to.
    pub fn of_menu(&self, menu: TermId) -> impl Iterator<Item = &str> {
        self.locations.iter().filter(move |(_, assigned)| **assigned == menu).map(|(name, _)| name.as_str())
    }

    /// Whether new pages are added to this menu.
    pub fn is_auto_add(&self, menu: TermId) -> bool {
        self.auto_add.contains(&menu)
    }

    /// The menus that new pages are added to.
    pub(crate) fn auto_add_menus(&self) -> &[TermId] {
        &self.auto_add
    }
}

/// Assigns a menu to these locations and removes it from all others.
pub fn set_locations(tx: &mut Tx, menu: TermId, locations: &[String]) -> SiteResult<()> {
    let stylesheet = options::get(tx, "stylesheet")?.unwrap_or_default();
    let option = theme_settings(stylesheet.text());
    let mut theme = stored_arrays::read(tx, &option)?;
    let mut assigned: Array =
        stored_arrays::member(&theme, LOCATIONS).into_iter().filter(|(_, assigned)| int(assigned) != menu.0).collect();
    for location in locations {
        assigned.insert(ArrayKey::from(location.as_str()), Php::Int(menu.0));
    }
    theme.insert(ArrayKey::from(LOCATIONS), Php::Array(assigned));
    stored_arrays::write(tx, &option, theme)
}

/// Leaves the locations of a menu that is deleted without a menu. As in WordPress, they are stored with the id 0.
pub fn clear_locations(tx: &mut Tx, menu: TermId) -> SiteResult<()> {
    let stylesheet = options::get(tx, "stylesheet")?.unwrap_or_default();
    let option = theme_settings(stylesheet.text());
    let mut theme = stored_arrays::read(tx, &option)?;
    let without = |assigned: Php| if int(&assigned) == menu.0 { Php::Int(0) } else { assigned };
    let assigned =
        stored_arrays::member(&theme, LOCATIONS).into_iter().map(|(name, menu)| (name, without(menu))).collect();
    theme.insert(ArrayKey::from(LOCATIONS), Php::Array(assigned));
    stored_arrays::write(tx, &option, theme)
}

/// Sets whether new pages are added to a menu.
pub fn set_auto_add(tx: &mut Tx, menu: TermId, wanted: bool) -> SiteResult<()> {
    let mut all = stored_arrays::read(tx, MENU_OPTIONS)?;
    let before = stored_arrays::member(&all, AUTO_ADD);
    let is_stored = options::get(tx, MENU_OPTIONS)?.is_some();
    if is_stored && before.iter().any(|(_, listed)| int(listed) == menu.0) == wanted {
        return Ok(());
    }
    let others = before.into_iter().map(|(_, listed)| listed).filter(|listed| int(listed) != menu.0);
    let listed: Array = others.chain(wanted.then_some(Php::Int(menu.0))).collect();
    all.insert(ArrayKey::from(AUTO_ADD), Php::Array(listed));
    stored_arrays::write(tx, MENU_OPTIONS, all)
}
