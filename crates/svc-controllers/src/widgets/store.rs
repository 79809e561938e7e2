//! Where widgets stand and how they are set, as the options keep it.

use indexmap::IndexMap;
use svc_php::{Array, Key, Php};
use svc_store::{Db, Tx, options};

use super::{INACTIVE, Instance};
use crate::{Site, Stored, stored_arrays};

/// Option that says which widgets stand in which sidebar.
const SIDEBARS: &str = "sidebars_widgets";
/// Member of that option which is no sidebar, and its value.
const VERSION: (&str, i64) = ("array_version", 3);
/// Member of the settings of a kind which is no widget.
const MULTI: &str = "_multiwidget";

/// The option with the settings of all widgets of a kind.
fn option(id_base: &str) -> String {
    format!("widget_{id_base}")
}

/// The id of a widget, taken apart: its kind and its number.
pub(super) fn parse_id(id: &str) -> Option<(&str, i64)> {
    let (id_base, number) = id.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.len() < 18 && number.bytes().all(|b| b.is_ascii_digit());
    if is_number { Some((id_base, number.parse().ok()?)) } else { None }
}

/// All widgets of a site, and where they stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Widgets {
    /// Settings by id, kind by kind.
    pub(super) instances: IndexMap<String, Instance>,
    /// Ids by sidebar: those of the site and the one of widgets that stand nowhere.
    pub(super) sidebars: IndexMap<String, Vec<String>>,
}

impl Widgets {
    /// Reads everything in one query. Widgets that stand in no sidebar of the site stand with those that stand nowhere;
    /// ids without a widget are passed over.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn load(db: &mut Db, site: &Site) -> Stored<Self> {
        let mut names: Vec<String> = site.widgets.iter().map(|kind| option(kind.id_base())).collect();
        names.push(SIDEBARS.to_owned());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let stored = options::get_many(db, &names)?;
        let array = |name: &str| stored_arrays::parse(stored.get(name));
        let mut instances = IndexMap::new();
        for kind in site.widgets.iter() {
            for (key, value) in array(&option(kind.id_base())) {
                if let (Key::Int(number), Php::Array(settings)) = (key, value) {
                    instances.insert(format!("{}-{number}", kind.id_base()), Instance(settings));
                }
            }
        }
        let mut widgets = Widgets { instances, sidebars: IndexMap::new() };
        widgets.arrange(site, array(SIDEBARS));
        Ok(widgets)
    }

    fn arrange(&mut self, site: &Site, stored: Array) {
        let mut elsewhere = Vec::new();
        for (key, ids) in stored {
            let (name, Php::Array(ids)) = (stored_arrays::key_text(&key), ids) else { continue };
            let ids = ids.into_iter().filter_map(|(_, id)| match id {
                Php::Bytes(id) => String::from_utf8(id).ok().filter(|id| self.instances.contains_key(id)),
                _ => None,
            });
            if name == INACTIVE || site.sidebars.contains_key(&name) {
                self.sidebars.insert(name, ids.collect());
            } else {
                elsewhere.extend(ids);
            }
        }
        for sidebar in site.sidebars.keys() {
            self.sidebars.entry(sidebar.clone()).or_default();
        }
        let known: Vec<String> = self.sidebars.values().flatten().cloned().collect();
        let lost: Vec<String> = self.instances.keys().filter(|id| !known.contains(id)).cloned().collect();
        let (moved, lost): (Vec<String>, Vec<String>) = lost.into_iter().partition(|id| elsewhere.contains(id));
        let inactive = self.sidebars.entry(INACTIVE.to_owned()).or_default();
        inactive.splice(0..0, lost);
        inactive.extend(moved);
        let last = self.sidebars.len().saturating_sub(1);
        if let Some(place) = self.sidebars.get_index_of(INACTIVE)
            && place == last
            && place != 0
        {
            self.sidebars.move_index(place, 0);
        }
    }

    /// The sidebar that a widget stands in.
    pub(super) fn sidebar_of(&self, id: &str) -> Option<&str> {
        self.sidebars.iter().find(|(_, ids)| ids.iter().any(|known| known == id)).map(|(name, _)| name.as_str())
    }

    /// The number of the next widget of a kind.
    pub(super) fn next_number(&self, id_base: &str) -> i64 {
        let numbers = self.instances.keys().filter_map(|id| parse_id(id)).filter(|(base, _)| *base == id_base);
        numbers.map(|(_, number)| number).max().unwrap_or(1).saturating_add(1)
    }

    /// Puts a widget into a sidebar, at its end, and out of all others.
    pub(super) fn assign(&mut self, id: &str, sidebar: &str) {
        if self.sidebar_of(id) == Some(sidebar) {
            return;
        }
        self.sidebars.values_mut().for_each(|ids| ids.retain(|known| known != id));
        self.sidebars.entry(sidebar.to_owned()).or_default().push(id.to_owned());
    }

    /// Lets these widgets, and no others, stand in a sidebar. Those that stood there stand nowhere then.
    pub(super) fn fill(&mut self, sidebar: &str, wanted: &[String]) {
        let mut wanted: Vec<String> = wanted.iter().filter(|id| self.instances.contains_key(*id)).cloned().collect();
        let mut seen = std::collections::HashSet::new();
        wanted.retain(|id| seen.insert(id.clone()));
        let before = self.sidebars.get(sidebar).cloned().unwrap_or_default();
        self.sidebars.values_mut().for_each(|ids| ids.retain(|known| !wanted.contains(known)));
        let removed = before.into_iter().filter(|id| !wanted.contains(id));
        if sidebar != INACTIVE {
            self.sidebars.entry(INACTIVE.to_owned()).or_default().extend(removed);
        }
        self.sidebars.insert(sidebar.to_owned(), wanted);
    }

    /// Stores where the widgets stand.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn store_places(&self, tx: &mut Tx) -> Stored<()> {
        let list = |ids: &Vec<String>| Php::Array(ids.iter().map(|id| Php::from(id.as_str())).collect());
        let mut array: Array = self.sidebars.iter().map(|(name, ids)| (Key::from(name.as_str()), list(ids))).collect();
        array.insert(Key::from(VERSION.0), Php::Int(VERSION.1));
        stored_arrays::write(tx, SIDEBARS, array)
    }
}

/// Stores how one widget is set, or that it is gone.
///
/// # Errors
/// Those of the store.
pub(super) fn store_instance(tx: &mut Tx, id_base: &str, number: i64, instance: Option<Instance>) -> Stored<()> {
    let name = option(id_base);
    let mut kept: Array =
        stored_arrays::read(tx, &name)?.into_iter().filter(|(key, _)| *key != Key::from(MULTI)).collect();
    match instance {
        Some(instance) => kept.insert(Key::Int(number), Php::Array(instance.0)),
        None => kept = kept.into_iter().filter(|(key, _)| *key != Key::Int(number)).collect(),
    }
    kept.insert(Key::from(MULTI), Php::Int(1));
    stored_arrays::write(tx, &name, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widgets() -> Widgets {
        let ids = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<String>>();
        Widgets {
            instances: ["text-2", "text-7", "block-3"].map(|id| (id.to_owned(), Instance::default())).into(),
            sidebars: IndexMap::from([
                (INACTIVE.to_owned(), ids(&["block-3"])),
                ("main".to_owned(), ids(&["text-2", "text-7"])),
            ]),
        }
    }

    #[test]
    fn ids_are_taken_apart_at_their_last_hyphen() {
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
    fn widgets_stand_in_one_place() {
        let mut w = widgets();
        w.assign("text-2", "other");
        assert_eq!(w.sidebar_of("text-2"), Some("other"));
        w.fill("main", &["block-3".to_owned(), "gone-1".to_owned(), "block-3".to_owned()]);
        assert_eq!(w.sidebars["main"], ["block-3"]);
        assert_eq!(w.sidebars[INACTIVE], ["text-7"], "what stood there stands nowhere");
        assert_eq!((w.next_number("text"), w.next_number("rss")), (8, 2));
    }
}
