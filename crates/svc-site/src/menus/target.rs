//! Targets of menu items, loaded for many items at once.

use std::collections::{HashMap, HashSet};

use svc_auth::Caller;
use svc_model::{Post, PostId, PostType, Term, TermId};
use svc_store::{Db, posts, terms};

use crate::{Settings, Site, SiteResult, languages::slugs_of_terms, permalinks, terms::paths::slug_paths};

/// Kinds by their names in the REST API and in stored meta.
pub const KINDS: [(&str, TargetKind); 4] = [
    ("taxonomy", TargetKind::Taxonomy),
    ("post_type", TargetKind::PostType),
    ("post_type_archive", TargetKind::Archive),
    ("custom", TargetKind::Custom),
];

/// Kind of a menu item's target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetKind {
    /// A term.
    Taxonomy,
    /// A post.
    PostType,
    /// The archive of a post type.
    Archive,
    /// A URL.
    #[default]
    Custom,
}

impl TargetKind {
    /// The kind with this name. Kinds registered by plugins are treated as URLs.
    pub fn of(name: &str) -> Self {
        KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind).unwrap_or_default()
    }

    /// The kind's name.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("custom", |(name, _)| name)
    }
}

/// The target of a menu item, as the item's fields show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MenuItemTarget {
    /// Display name of the target's type.
    pub label: String,
    /// The target's title; a placeholder with the id if it does not exist.
    pub title: String,
    /// The target's URL; empty if the target does not exist, `None` for the archive of a type without one.
    pub url: Option<String>,
    /// The target does not exist or is in the trash.
    pub invalid: bool,
    /// REST route; empty if there is none.
    pub route: String,
    /// The target's actual post type or taxonomy; empty if it does not exist.
    pub object: String,
}

/// The stored reference of a menu item to its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetRef {
    /// Kind of the target.
    pub kind: TargetKind,
    /// Post type or taxonomy of the target.
    pub object: String,
    /// Id of the target.
    pub object_id: i64,
    /// URL of a custom link.
    pub url: String,
}

/// Posts and terms that items link to, with their URLs.
#[derive(Default)]
struct Objects {
    posts: HashMap<PostId, Post>,
    permalinks: HashMap<PostId, String>,
    terms: HashMap<(TermId, String), Term>,
    paths: HashMap<TermId, Vec<String>>,
    languages: HashMap<TermId, String>,
}

/// Loads the targets in the order of the references, in a fixed number of queries. URLs are those that the caller sees.
pub fn load(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    target_refs: &[TargetRef],
) -> SiteResult<Vec<MenuItemTarget>> {
    let objects = objects(db, site, settings, caller, target_refs)?;
    Ok(target_refs.iter().map(|target_ref| target(site, settings, target_ref, &objects)).collect())
}

fn objects(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    target_refs: &[TargetRef],
) -> SiteResult<Objects> {
    let numbers = |kind: TargetKind| -> Vec<i64> {
        let wanted: HashSet<i64> =
            target_refs.iter().filter(|p| p.kind == kind && p.object_id > 0).map(|p| p.object_id).collect();
        wanted.into_iter().collect()
    };
    let mut objects = Objects::default();
    let mut wanted: Vec<PostId> = numbers(TargetKind::PostType).into_iter().map(PostId).collect();
    if target_refs.iter().any(|p| p.kind == TargetKind::Archive && p.object == "post") {
        wanted.extend(page_of_posts(settings));
    }
    if !wanted.is_empty() {
        let rows = posts::get_many(db, &wanted)?;
        objects.permalinks = permalinks::for_reader(db, site, settings, caller, &rows)?;
        objects.posts = rows.into_iter().map(|post| (post.id, post)).collect();
    }
    let wanted: Vec<TermId> = numbers(TargetKind::Taxonomy).into_iter().map(TermId).collect();
    if !wanted.is_empty() {
        let rows = terms::get_many(db, &wanted)?;
        for taxonomy in site.registries.taxonomies.iter().filter(|t| t.rewrite_hierarchical) {
            let of_taxonomy: Vec<&Term> = rows.iter().filter(|t| t.taxonomy == taxonomy.name).collect();
            if !of_taxonomy.is_empty() {
                objects.paths.extend(slug_paths(db, &taxonomy.name, of_taxonomy.into_iter())?);
            }
        }
        objects.languages = slugs_of_terms(db, settings, rows.iter())?;
        objects.terms = rows.into_iter().map(|term| ((term.id, term.taxonomy.clone()), term)).collect();
    }
    Ok(objects)
}

fn target(site: &Site, settings: &Settings, target_ref: &TargetRef, objects: &Objects) -> MenuItemTarget {
    match target_ref.kind {
        TargetKind::Custom => MenuItemTarget {
            label: "Custom Link".to_owned(),
            url: Some(target_ref.url.clone()),
            ..MenuItemTarget::default()
        },
        TargetKind::PostType => post(site, settings, target_ref, objects),
        TargetKind::Taxonomy => term(site, settings, target_ref, objects),
        TargetKind::Archive => archive(site, settings, target_ref, objects),
    }
}

/// The title of an untitled target.
fn untitled(target_ref: &TargetRef) -> String {
    format!("#{} (no title)", target_ref.object_id)
}

fn post(site: &Site, settings: &Settings, target_ref: &TargetRef, objects: &Objects) -> MenuItemTarget {
    let kind = site.registries.types.get(&target_ref.object);
    let found = objects.posts.get(&PostId(target_ref.object_id));
    let route = found.map(|post| permalinks::rest_route(site, settings, post));
    MenuItemTarget {
        label: kind.map_or_else(|| target_ref.object.clone(), |kind| kind.singular_label.clone()),
        title: found.map(|p| p.title.clone()).filter(|t| !t.is_empty()).unwrap_or_else(|| untitled(target_ref)),
        url: Some(found.and_then(|p| objects.permalinks.get(&p.id).cloned()).unwrap_or_default()),
        invalid: kind.is_none() || found.is_none_or(|p| p.status == "trash"),
        route: route.unwrap_or_default(),
        object: found.map(|p| p.post_type.clone()).unwrap_or_default(),
    }
}

fn term(site: &Site, settings: &Settings, target_ref: &TargetRef, objects: &Objects) -> MenuItemTarget {
    let taxonomy = site.registries.taxonomies.get(&target_ref.object);
    let found = objects.terms.get(&(TermId(target_ref.object_id), target_ref.object.clone())).zip(taxonomy);
    let url = found.map(|(term, taxonomy)| {
        let path =
            objects.paths.get(&term.id).and_then(|path| path.split_last()).map_or(&[][..], |(_, ancestors)| ancestors);
        let ancestors: Vec<&str> = path.iter().map(String::as_str).collect();
        settings.urls.term(term, taxonomy, &ancestors, objects.languages.get(&term.id))
    });
    // The term with this id in any taxonomy.
    let by_id = || {
        let others = site.registries.taxonomies.iter().map(|t| (TermId(target_ref.object_id), t.name.clone()));
        others.filter_map(|key| objects.terms.get(&key)).min_by_key(|term| term.taxonomy_id)
    };
    let in_any_taxonomy = found.map(|(term, _)| term).or_else(by_id);
    let route = in_any_taxonomy.and_then(|term| {
        let taxonomy = site.registries.taxonomies.get(&term.taxonomy)?;
        Some(permalinks::rest_route_of_term(site, settings, taxonomy, term.id))
    });
    MenuItemTarget {
        label: taxonomy.map_or_else(|| target_ref.object.clone(), |t| t.singular_label.clone()),
        title: found.map_or_else(|| untitled(target_ref), |(term, _)| term.name.clone()),
        url: Some(url.unwrap_or_default()),
        invalid: found.is_none(),
        route: route.unwrap_or_default(),
        object: in_any_taxonomy.map(|term| term.taxonomy.clone()).unwrap_or_default(),
    }
}

/// The page that lists the posts, if it is not the front page.
fn page_of_posts(settings: &Settings) -> Option<PostId> {
    let page = PostId(settings.number("page_for_posts"));
    (settings.option("show_on_front") == "page" && !page.is_none()).then_some(page)
}

fn archive(site: &Site, settings: &Settings, target_ref: &TargetRef, objects: &Objects) -> MenuItemTarget {
    let kind = site.registries.types.get(&target_ref.object);
    let of_posts = || match page_of_posts(settings) {
        Some(page) => objects.permalinks.get(&page).cloned(),
        None => Some(settings.urls.site.home_url("")),
    };
    let url = |kind: &PostType| if kind.name == "post" { of_posts() } else { settings.urls.archive(kind) };
    let title = kind.map(|kind| kind.labels.get("archives").unwrap_or(&kind.label).clone());
    MenuItemTarget {
        label: "Post Type Archive".to_owned(),
        title: title.unwrap_or_default(),
        url: kind.map_or_else(|| Some(String::new()), url),
        invalid: kind.is_none(),
        ..MenuItemTarget::default()
    }
}
