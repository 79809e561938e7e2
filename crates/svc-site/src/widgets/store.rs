//! Widgets of the site as stored in options: their sidebars and their settings.

use std::collections::HashSet;

use indexmap::IndexMap;
use svc_php::{Array, ArrayKey, Php};
use svc_store::{Db, Tx, options};

use crate::{Site, SiteResult, registries::sidebars::INACTIVE, stored_arrays, widgets::instance::Instance};

/// Option that maps sidebars to widgets.
const SIDEBARS: &str = "sidebars_widgets";
/// Entry of that option that is not a sidebar, and its value.
const VERSION: (&str, i64) = ("array_version", 3);
/// Entry of a widget type's settings that is not a widget.
const MULTI: &str = "_multiwidget";

/// Name of the option with the settings of all widgets of a type.
fn option(id_base: &str) -> String {
    format!("widget_{id_base}")
}

/// Splits a widget's id into its type and its number.
pub fn parse_id(id: &str) -> Option<(&str, i64)> {
    let (id_base, number) = id.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.len() < 18 && number.bytes().all(|b| b.is_ascii_digit());
    if is_number { Some((id_base, number.parse().ok()?)) } else { None }
}

/// Names of the options that store a widget: its settings and its sidebar.
pub fn options_of_widget(id: &str) -> Vec<String> {
    let id_base = parse_id(id).map_or(id, |(id_base, _)| id_base);
    vec![option(id_base), SIDEBARS.to_owned()]
}

/// Names of the options that store which widgets sidebars have.
pub fn options_of_sidebars() -> Vec<String> {
    vec![SIDEBARS.to_owned()]
}

/// All widgets of a site and their sidebars.
#[derive(Clone, Debug, Default)]
pub struct Widgets {
    /// Settings by widget id, grouped by type.
    pub instances: IndexMap<String, Instance>,
    /// Widget ids by sidebar. If exactly the registered sidebars are stored, or none, they are listed as stored, as WordPress
    /// does; otherwise the inactive widgets come first, then the registered sidebars.
    pub sidebars: IndexMap<String, Vec<String>>,
    /// Ids of the registered sidebars.
    registered: HashSet<String>,
    /// The option `sidebars_widgets` as stored. Sidebars and widgets that are not registered here may be registered by
    /// PHP code on the same database, so everything in it that a request does not change is written back unchanged.
    stored: Array,
    /// The registered types. An id of such a type without settings is no widget, for PHP code either.
    kinds: HashSet<String>,
    /// Widgets without settings: WordPress registers the number 1 of each type that has no widget.
    placeholders: HashSet<String>,
    /// Number of inactive widgets that are in no stored sidebar. They are listed before the others.
    n_unassigned: usize,
    /// Widgets that a request moved to a sidebar or deleted. They are removed from sidebars that are not registered
    /// here.
    taken: HashSet<String>,
}

/// The widget id in an entry of a sidebar.
fn id_in(entry: &Php) -> Option<&str> {
    match entry {
        Php::Bytes(id) => std::str::from_utf8(id).ok(),
        _ => None,
    }
}

/// The ids of the sidebar in this entry of the option; `None` for an entry that is not a sidebar.
fn ids_in(entry: &Php) -> Option<impl Iterator<Item = &str>> {
    match entry {
        Php::Array(ids) => Some(ids.iter().filter_map(|(_, id)| id_in(id))),
        _ => None,
    }
}

/// Whether a widget is inactive if no sidebar has it. Numbers below 2 are those of settings that WordPress stores before there is
/// a widget.
fn is_kept(id: &str) -> bool {
    parse_id(id).is_some_and(|(_, number)| number >= 2)
}

impl Widgets {
    /// Reads everything in one query. Ids without a widget are not listed. Unless exactly the registered sidebars are stored,
    /// or none, widgets in no registered sidebar are listed as inactive.
    ///
    /// # Errors
    /// Those of the store.
    pub fn load<'k>(db: &mut Db, site: &Site, kinds: impl Iterator<Item = &'k str> + Clone) -> SiteResult<Self> {
        let mut names: Vec<String> = kinds.clone().map(option).collect();
        names.push(SIDEBARS.to_owned());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let stored = options::get_many(db, &names)?;
        let array = |name: &str| stored_arrays::parse(stored.get(name));
        let mut widgets = Widgets { stored: array(SIDEBARS), ..Widgets::default() };
        for kind in kinds {
            let n_before = widgets.instances.len();
            for (key, value) in array(&option(kind)) {
                if let (ArrayKey::Int(number), Php::Array(settings)) = (key, value) {
                    widgets.instances.insert(format!("{kind}-{number}"), Instance(settings));
                }
            }
            if widgets.instances.len() == n_before {
                widgets.placeholders.insert(format!("{kind}-1"));
            }
            widgets.kinds.insert(kind.to_owned());
        }
        Ok(widgets.by_sidebar(site.registries.sidebars.keys().map(String::as_str)))
    }

    /// Lists the widgets by sidebar.
    fn by_sidebar<'a>(self, registered: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut widgets = Widgets { registered: registered.clone().map(str::to_owned).collect(), ..self };
        let mut sidebars: IndexMap<String, Vec<String>> = IndexMap::new();
        for (key, entry) in widgets.stored.iter().filter(|(key, _)| **key != ArrayKey::from(VERSION.0)) {
            let ids = ids_in(entry).into_iter().flatten().filter(|id| widgets.exists(id));
            sidebars.insert(stored_arrays::key_text(key), ids.map(str::to_owned).collect());
        }
        widgets.sidebars = sidebars;
        if !widgets.is_rearranged() {
            return widgets;
        }
        let mut stored = std::mem::take(&mut widgets.sidebars);
        let names = std::iter::once(INACTIVE).chain(registered);
        let mut sidebars: IndexMap<String, Vec<String>> =
            names.map(|name| (name.to_owned(), stored.shift_remove(name).unwrap_or_default())).collect();
        let mut unlisted: Vec<String> = stored.into_values().flatten().collect();
        let listed: HashSet<&String> = sidebars.values().flatten().collect();
        let mut seen = HashSet::new();
        unlisted.retain(|id| !listed.contains(id) && seen.insert(id.clone()));
        let is_unassigned = |id: &&String| !listed.contains(id) && !seen.contains(*id) && is_kept(id);
        let unassigned: Vec<String> = widgets.instances.keys().filter(is_unassigned).cloned().collect();
        let inactive = sidebars.entry(INACTIVE.to_owned()).or_default();
        widgets.n_unassigned = unassigned.len();
        inactive.splice(0..0, unassigned);
        inactive.extend(unlisted);
        widgets.sidebars = sidebars;
        widgets
    }

    /// Whether the id is that of a widget.
    fn exists(&self, id: &str) -> bool {
        self.instances.contains_key(id) || self.placeholders.contains(id)
    }

    /// Whether widgets in no registered sidebar are listed as inactive: unless the sidebars are exactly the registered ones, or
    /// there are none. Source: `retrieve_widgets`.
    fn is_rearranged(&self) -> bool {
        let is_complete = self.sidebars.len() == self.registered.len()
            && self.sidebars.keys().all(|sidebar| self.registered.contains(sidebar));
        !self.sidebars.is_empty() && !is_complete
    }

    /// The sidebar of a widget.
    pub fn sidebar_of(&self, id: &str) -> Option<&str> {
        self.sidebars.iter().find(|(_, ids)| ids.iter().any(|known| known == id)).map(|(name, _)| name.as_str())
    }

    /// The number of the next widget of a type.
    pub fn next_number(&self, id_base: &str) -> i64 {
        let numbers = self.instances.keys().filter_map(|id| parse_id(id)).filter(|(base, _)| *base == id_base);
        numbers.map(|(_, number)| number).max().unwrap_or(1).saturating_add(1)
    }

    /// Adds a widget that a request creates to a sidebar.
    ///
    /// As in WordPress, it is only listed as inactive if sidebars are rearranged, even if the response names another one, and stays
    /// in its sidebar if it exists already. The editor adds it to a sidebar with another request.
    pub fn add(&mut self, id: &str, sidebar: &str) {
        if !self.is_rearranged() {
            self.assign(id, sidebar);
        } else if self.sidebar_of(id).is_none() {
            self.sidebars.entry(INACTIVE.to_owned()).or_default().insert(self.n_unassigned, id.to_owned());
        }
    }

    /// Moves a widget to the end of a sidebar and removes it from all others.
    pub fn assign(&mut self, id: &str, sidebar: &str) {
        // A widget of a sidebar that is not registered is listed as inactive, and leaves it when it is made inactive.
        if self.sidebar_of(id) == Some(sidebar) && !self.is_in_unlisted_sidebar(id) {
            return;
        }
        self.list(sidebar);
        self.sidebars.values_mut().for_each(|ids| ids.retain(|known| known != id));
        self.sidebars.entry(sidebar.to_owned()).or_default().push(id.to_owned());
        self.taken.insert(id.to_owned());
    }

    /// Whether a widget is in a sidebar that is stored but not listed here.
    fn is_in_unlisted_sidebar(&self, id: &str) -> bool {
        let not_listed =
            self.stored.iter().filter(|(key, _)| !self.sidebars.contains_key(&stored_arrays::key_text(key)));
        not_listed.filter_map(|(_, entry)| ids_in(entry)).any(|mut ids| ids.any(|known| known == id))
    }

    /// Lists a sidebar that is stored but not registered, so that a widget can be added to it.
    fn list(&mut self, sidebar: &str) {
        if self.sidebars.contains_key(sidebar) {
            return;
        }
        let stored = self.stored.get(&ArrayKey::from(sidebar)).and_then(ids_in);
        let ids: Vec<String> = stored.into_iter().flatten().filter(|id| self.exists(id)).map(str::to_owned).collect();
        self.sidebars.values_mut().for_each(|listed| listed.retain(|id| !ids.contains(id)));
        self.sidebars.insert(sidebar.to_owned(), ids);
    }

    /// Removes a widget from every sidebar.
    pub fn remove(&mut self, id: &str) {
        self.sidebars.values_mut().for_each(|ids| ids.retain(|known| known != id));
        self.taken.insert(id.to_owned());
    }

    /// Sets the widgets of a sidebar, which may be listed several times. Widgets that are no longer listed become inactive.
    pub fn set_widgets(&mut self, sidebar: &str, wanted: &[String]) {
        let wanted: Vec<String> = wanted.iter().filter(|id| self.exists(id)).cloned().collect();
        let before = self.sidebars.get(sidebar).cloned().unwrap_or_default();
        self.sidebars.values_mut().for_each(|ids| ids.retain(|known| !wanted.contains(known)));
        let removed: Vec<String> = before.into_iter().filter(|id| !wanted.contains(id)).collect();
        if sidebar != INACTIVE {
            if !removed.is_empty() {
                self.sidebars.entry(INACTIVE.to_owned()).or_default().extend(removed);
            }
            self.taken.extend(wanted.iter().cloned());
        }
        self.sidebars.insert(sidebar.to_owned(), wanted);
    }

    /// Moves widgets to the end of the inactive ones.
    pub fn make_inactive(&mut self, ids: &[String]) {
        let known: Vec<String> = ids.iter().filter(|id| self.exists(id)).cloned().collect();
        self.taken.extend(known.iter().cloned());
        self.sidebars.values_mut().for_each(|listed| listed.retain(|id| !ids.contains(id)));
        self.sidebars.entry(INACTIVE.to_owned()).or_default().extend(known);
    }

    /// Puts widgets that are in no sidebar before the inactive ones if sidebars are rearranged, as [`Self::load`] does.
    pub fn list_unassigned(&mut self) {
        if !self.is_rearranged() {
            return;
        }
        let listed: HashSet<&String> = self.sidebars.values().flatten().collect();
        let unassigned: Vec<String> =
            self.instances.keys().filter(|id| !listed.contains(id) && is_kept(id)).cloned().collect();
        self.sidebars.entry(INACTIVE.to_owned()).or_default().splice(0..0, unassigned);
    }

    /// Stores the sidebars of all widgets.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn store_sidebars(&self, tx: &mut Tx) -> SiteResult<()> {
        stored_arrays::write(tx, SIDEBARS, self.to_stored())
    }

    /// The changed option. Unknown sidebars, ids and values are preserved, and entries keep their order.
    fn to_stored(&self) -> Array {
        let mut array = self.stored.clone();
        let mut unlisted = HashSet::new();
        for (key, entry) in self.stored.iter() {
            let Php::Array(ids) = entry else { continue };
            if self.sidebars.contains_key(&stored_arrays::key_text(key)) {
                continue;
            }
            let is_taken = |id: &Php| id_in(id).is_some_and(|id| self.taken.contains(id));
            if ids.iter().any(|(_, id)| is_taken(id)) {
                let rest = ids.iter().map(|(_, id)| id).filter(|id| !is_taken(id)).cloned();
                array.insert(key.clone(), Php::Array(rest.collect()));
            }
            unlisted.extend(ids_in(entry).into_iter().flatten().filter(|id| !self.taken.contains(*id)));
        }
        for (name, ids) in &self.sidebars {
            let is_in_unlisted_sidebar = |id: &&String| name == INACTIVE && unlisted.contains(id.as_str());
            let ids: Vec<&String> = ids.iter().filter(|id| !is_in_unlisted_sidebar(id)).collect();
            let key = ArrayKey::from(name.as_str());
            let before = match self.stored.get(&key) {
                Some(Php::Array(before)) => before.clone(),
                _ if ids.is_empty() && name != INACTIVE => continue,
                _ => Array::new(),
            };
            let is_known = |id: &str| self.exists(id) || ids.iter().any(|listed| *listed == id);
            let is_stale =
                |id: &str| !is_known(id) && parse_id(id).is_some_and(|(id_base, _)| self.kinds.contains(id_base));
            let has_stale = before.iter().filter_map(|(_, entry)| id_in(entry)).any(is_stale);
            let known = before.iter().filter_map(|(_, entry)| id_in(entry)).filter(|id| is_known(id));
            if !has_stale && known.eq(ids.iter().map(|id| id.as_str())) {
                continue;
            }
            let unknown: Vec<(usize, &Php)> = (before.iter().map(|(_, entry)| entry).enumerate())
                .filter(|(_, entry)| !id_in(entry).is_some_and(|id| is_known(id) || is_stale(id)))
                .collect();
            // Unknown entries keep their position.
            let mut entries: Vec<Php> = ids.into_iter().map(|id| Php::from(id.as_str())).collect();
            for (position, entry) in unknown {
                entries.insert(position.min(entries.len()), entry.clone());
            }
            array.insert(key, Php::Array(entries.into_iter().collect()));
        }
        // The version follows all sidebars, also new ones.
        let version = array.get(&ArrayKey::from(VERSION.0)).cloned().unwrap_or(Php::Int(VERSION.1));
        let mut array: Array = array.into_iter().filter(|(key, _)| *key != ArrayKey::from(VERSION.0)).collect();
        array.insert(ArrayKey::from(VERSION.0), version);
        array
    }
}

/// Stores a widget's settings, or deletes them.
///
/// # Errors
/// Errors of the store.
pub fn store_instance(tx: &mut Tx, id_base: &str, number: i64, instance: Option<Instance>) -> SiteResult<()> {
    let name = option(id_base);
    let mut settings: Array =
        stored_arrays::read(tx, &name)?.into_iter().filter(|(key, _)| *key != ArrayKey::from(MULTI)).collect();
    match instance {
        Some(instance) => settings.insert(ArrayKey::Int(number), Php::Array(instance.0)),
        None => settings = settings.into_iter().filter(|(key, _)| *key != ArrayKey::Int(number)).collect(),
    }
    settings.insert(ArrayKey::from(MULTI), Php::Int(1));
    stored_arrays::write(tx, &name, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids by sidebar, as the option stores them.
    fn option_of(sidebars: &[(&str, &[&str])]) -> Array {
        let list = |ids: &[&str]| Php::Array(ids.iter().map(|id| Php::from(*id)).collect());
        let mut array: Array = sidebars.iter().map(|(name, ids)| (ArrayKey::from(*name), list(ids))).collect();
        array.insert(ArrayKey::from(VERSION.0), Php::Int(VERSION.1));
        array
    }

    /// Four widgets, one of them in a sidebar that is not registered, and ids without a widget.
    fn stored() -> Array {
        option_of(&[
            ("php-only", &["plugin-2", "rss-4", "plugin-3"]),
            (INACTIVE, &["block-3"]),
            ("main", &["plugin-5", "text-2", "plugin-6", "text-7"]),
        ])
    }

    fn listed<const N: usize>(stored: Array, instances: [(String, Instance); N], registered: &[&str]) -> Widgets {
        let widgets = Widgets { stored, instances: instances.into(), ..Widgets::default() };
        widgets.by_sidebar(registered.iter().copied())
    }

    fn widgets() -> Widgets {
        let instances = ["text-2", "text-7", "block-3", "rss-4"].map(|id| (id.to_owned(), Instance::default()));
        listed(stored(), instances, &["main", "other"])
    }

    #[test]
    fn unregistered_entries_are_stored_unchanged() {
        assert_eq!(widgets().to_stored(), stored());
        let wanted = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        type Change = fn(&mut Widgets);
        #[rustfmt::skip]
        let rows: [(&str, Change, &[(&str, &[&str])]); 8] = [
            ("an inactive widget is added to a sidebar", |w| w.assign("block-3", "other"),
                &[("php-only", &["plugin-2", "rss-4", "plugin-3"]), (INACTIVE, &[]), ("main", &["plugin-5", "text-2", "plugin-6", "text-7"]), ("other", &["block-3"])]),
            ("a widget is made inactive", |w| w.assign("text-2", INACTIVE),
                &[("php-only", &["plugin-2", "rss-4", "plugin-3"]), (INACTIVE, &["block-3", "text-2"]), ("main", &["plugin-5", "text-7", "plugin-6"])]),
            ("a widget is taken from a sidebar that is not registered", |w| w.assign("rss-4", "main"),
                &[("php-only", &["plugin-2", "plugin-3"]), (INACTIVE, &["block-3"]), ("main", &["plugin-5", "text-2", "plugin-6", "text-7", "rss-4"])]),
            ("a widget of a sidebar that is not registered is made inactive", |w| w.assign("rss-4", INACTIVE),
                &[("php-only", &["plugin-2", "plugin-3"]), (INACTIVE, &["block-3", "rss-4"]), ("main", &["plugin-5", "text-2", "plugin-6", "text-7"])]),
            ("a widget is put into one", |w| w.assign("text-2", "php-only"),
                &[("php-only", &["plugin-2", "rss-4", "plugin-3", "text-2"]), (INACTIVE, &["block-3"]), ("main", &["plugin-5", "text-7", "plugin-6"])]),
            ("a widget is deleted", |w| w.remove("text-7"),
                &[("php-only", &["plugin-2", "rss-4", "plugin-3"]), (INACTIVE, &["block-3"]), ("main", &["plugin-5", "text-2", "plugin-6"])]),
            ("a sidebar is emptied", |w| w.set_widgets("main", &[]),
                &[("php-only", &["plugin-2", "rss-4", "plugin-3"]), (INACTIVE, &["block-3", "text-2", "text-7"]), ("main", &["plugin-5", "plugin-6"])]),
            ("the inactive widgets are sent back in another order", |w| w.set_widgets(INACTIVE, &["rss-4".to_owned(), "block-3".to_owned()]),
                &[("php-only", &["plugin-2", "rss-4", "plugin-3"]), (INACTIVE, &["block-3"]), ("main", &["plugin-5", "text-2", "plugin-6", "text-7"])]),
        ];
        for (name, change, expected) in rows {
            let mut widgets = widgets();
            change(&mut widgets);
            let stored = widgets.to_stored();
            let order = |array: &Array| array.iter().map(|(key, _)| stored_arrays::key_text(key)).collect::<Vec<_>>();
            let known = order(&stored).into_iter().filter(|key| key != "other").collect::<Vec<_>>();
            assert_eq!(known, wanted(&["php-only", INACTIVE, "main", VERSION.0]), "{name}");
            for (sidebar, ids) in expected {
                let found: Vec<&str> = stored.get(&ArrayKey::from(*sidebar)).and_then(ids_in).unwrap().collect();
                assert_eq!(found, *ids, "{name}: {sidebar}");
            }
        }
    }

    #[test]
    fn ids_without_settings_are_dropped_if_their_type_is_known() {
        let mut widgets = widgets();
        widgets.kinds.insert("plugin".to_owned());
        let stored = widgets.to_stored();
        let ids = |sidebar: &str| stored.get(&ArrayKey::from(sidebar)).and_then(ids_in).unwrap().collect::<Vec<_>>();
        assert_eq!(ids("main"), ["text-2", "text-7"]);
        assert_eq!(ids("php-only"), ["plugin-2", "rss-4", "plugin-3"], "not registered here");
    }

    #[test]
    fn widgets_that_leave_the_inactive_ones_are_put_before_them() {
        let mut w = widgets();
        w.set_widgets(INACTIVE, &["text-7".to_owned()]);
        assert_eq!(w.sidebars[INACTIVE], ["text-7"]);
        w.list_unassigned();
        assert_eq!(w.sidebars[INACTIVE], ["block-3", "rss-4", "text-7"]);
        w.make_inactive(&["block-3".to_owned(), "text-2".to_owned(), "gone-2".to_owned()]);
        assert_eq!(w.sidebars[INACTIVE], ["rss-4", "text-7", "block-3", "text-2"]);
        assert_eq!(w.sidebars["main"], [""; 0]);
    }

    #[test]
    fn a_new_sidebar_precedes_the_version() {
        let mut w = widgets();
        w.assign("text-2", "new");
        let keys: Vec<String> = w.to_stored().iter().map(|(key, _)| stored_arrays::key_text(key)).collect();
        assert_eq!(keys, ["php-only", INACTIVE, "main", "new", VERSION.0]);
    }

    #[test]
    fn sidebars_are_listed_in_the_order_of_registration() {
        let names = |w: &Widgets| w.sidebars.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&widgets()), [INACTIVE, "main", "other"]);
        assert_eq!(widgets().sidebars[INACTIVE], ["block-3", "rss-4"], "not registered means inactive");
        for empty in [Array::new(), option_of(&[])] {
            let instances = [("text-2".to_owned(), Instance::default())];
            assert!(names(&listed(empty, instances, &["main"])).is_empty());
        }
    }

    #[test]
    fn ids_are_split_at_the_last_hyphen() {
        for (id, parts) in [
            ("text-2", Some(("text", 2))),
            ("recent-posts-12", Some(("recent-posts", 12))),
            ("text-", None),
            ("text", None),
            ("text-x1", None),
            ("text-99999999999999999999", None),
        ] {
            assert_eq!(parse_id(id), parts, "{id}");
        }
    }

    #[test]
    fn a_widget_is_in_one_sidebar_where_it_may_be_listed_twice() {
        let mut w = widgets();
        w.assign("text-2", "other");
        assert_eq!(w.sidebar_of("text-2"), Some("other"));
        w.set_widgets("main", &["block-3".to_owned(), "gone-1".to_owned(), "block-3".to_owned()]);
        assert_eq!(w.sidebars["main"], ["block-3", "block-3"]);
        assert_eq!(w.sidebars[INACTIVE], ["rss-4", "text-7"], "the widgets of a filled sidebar become inactive");
        assert_eq!((w.next_number("text"), w.next_number("meta")), (8, 2));
    }
}
