//! Caches of lists: the encoded items, and the ids on a page.
//!
//! An item is encoded once for each view and each set of capabilities, and again when something has changed that it
//! depends on. A list of items then costs a look-up for each, regardless of its parameters; a write to one object costs the
//! encoding of one item.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use svc_resource::{Paging, View};
use svc_routing::{CallerKey, EncodedItem, Result};
use svc_versions::{Context, Dependencies, Usage, VersionStamp, VersionedCache, Versions};

/// Default capacity in bytes.
const CAPACITY: u64 = 16 << 20;

/// The part of the capacity for pages of lists: one in this number.
const PAGES: u64 = 5;

/// Maximum age, for what changes without being recorded, such as files of plugins.
const MAX_AGE: Duration = Duration::from_mins(1);

/// Maximum length of the parameters of a cached page, in bytes.
const MAX_PARAMS: usize = 2_048;

/// An item that was not cached, with its id and its dependencies: `None` if the caller does not see it.
pub(crate) type NewItem = (i64, Option<EncodedItem>, Arc<Dependencies>);

/// The caches of a site, shared by its families.
pub struct ItemCache {
    /// `None` for objects that the caller does not see.
    items: VersionedCache<ItemKey, Option<EncodedItem>>,
    pages: VersionedCache<PageKey, CachedPage>,
    n_families: AtomicU64,
}

impl Default for ItemCache {
    fn default() -> Self {
        ItemCache {
            items: VersionedCache::new(CAPACITY - CAPACITY / PAGES),
            pages: VersionedCache::new(CAPACITY / PAGES),
            n_families: AtomicU64::new(0),
        }
    }
}

/// Identifies an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ItemKey {
    view: ViewKey,
    id: i64,
}

/// Identifies the representation of the items of a family to a caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ViewKey {
    family: FamilyId,
    caller: CallerKey,
    /// The context, the fields, and whether there are links for `_embed`.
    view: Arc<str>,
}

/// Identifies a page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PageKey {
    family: FamilyId,
    caller: CallerKey,
    params: Box<str>,
}

/// Identifies a family of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FamilyId(u64);

/// The ids on a page of a list, and the size of the list.
#[derive(Clone, Debug)]
pub(crate) struct CachedPage {
    pub(crate) ids: Arc<[i64]>,
    pub(crate) paging: Paging,
    /// Whether the list was counted.
    pub(crate) has_total: bool,
    pub(crate) links: PageLinks,
}

/// How the other pages of a list are found.
#[derive(Clone, Debug)]
pub(crate) enum PageLinks {
    /// By number.
    Pages,
    /// By number, in a list that was not counted.
    Uncounted {
        /// Whether another page follows.
        more: bool,
    },
    /// By the cursors of the pages before and after, if there are such.
    Cursor { previous: Option<Arc<str>>, next: Option<Arc<str>> },
}

impl CachedPage {
    /// A page of a list with page numbers.
    pub(crate) fn new(ids: Arc<[i64]>, paging: Paging) -> Self {
        CachedPage { ids, paging, has_total: true, links: PageLinks::Pages }
    }

    fn size(&self) -> usize {
        let cursors = match &self.links {
            PageLinks::Pages | PageLinks::Uncounted { .. } => 0,
            PageLinks::Cursor { previous, next } => [previous, next].into_iter().flatten().map(|text| text.len()).sum(),
        };
        8 * self.ids.len() + cursors
    }
}

impl ViewKey {
    pub(crate) fn new(family: FamilyId, caller: CallerKey, view: &View) -> Self {
        // Names may contain commas.
        let fields = view.fields.as_ref().map(|fields| fields.names());
        let view = format!("{} {:?} {fields:?}", view.context, (view.links, view.embed));
        ViewKey { family, caller, view: view.into() }
    }

    /// The data of a whole response to a request for this route; `None` if its parameters are too long.
    pub(crate) fn of_request(&self, route: &str, params: &str) -> Option<Self> {
        let view = || format!("{} {route}\n{params}", self.view).into();
        (route.len() + params.len() <= MAX_PARAMS).then(|| ViewKey { view: view(), ..self.clone() })
    }
}

/// The cache as a request uses it: it sees the data at one time.
#[derive(Clone, Copy)]
pub(crate) struct CacheAccess<'c> {
    pub(crate) cx: &'c Context,
    pub(crate) cache: &'c ItemCache,
    pub(crate) versions: &'c Versions,
    pub(crate) stamp: VersionStamp,
}

impl ItemCache {
    /// Sets the maximum size in bytes.
    pub fn set_capacity(&self, bytes: u64) {
        self.items.set_capacity(bytes - bytes / PAGES);
        self.pages.set_capacity(bytes / PAGES);
    }

    /// The size of the cache of items, with hits and misses.
    pub fn usage(&self) -> Usage {
        self.items.usage()
    }

    /// An id for a family.
    pub(crate) fn new_family(&self) -> FamilyId {
        FamilyId(self.n_families.fetch_add(1, Ordering::Relaxed))
    }
}

/// The dependencies of new items, which they share, with the maximum age of items.
pub(crate) fn shared(cx: &Context, mut dependencies: Dependencies) -> Arc<Dependencies> {
    // The response that is made now must not be cached longer than one that finds the items cached.
    cx.recheck_after(MAX_AGE);
    dependencies.recheck_after(MAX_AGE);
    Arc::new(dependencies)
}

impl CacheAccess<'_> {
    /// The cached items; `Some(None)` for objects that the caller does not see.
    fn cached_items(&self, view: &ViewKey, ids: &[i64]) -> Vec<Option<Option<EncodedItem>>> {
        let keys = ids.iter().map(|id| ItemKey { view: view.clone(), id: *id });
        self.cache.items.get_many(self.cx, self.versions, keys, self.stamp)
    }

    /// The items of these ids that the caller sees, from the cache or from `encode`, which is called with the ids that are not
    /// cached.
    pub(crate) async fn items(
        &self,
        view: &ViewKey,
        ids: &[i64],
        encode: impl AsyncFnOnce(&[i64]) -> Result<Vec<NewItem>>,
    ) -> Result<Vec<EncodedItem>> {
        let cached = self.cached_items(view, ids);
        let missing: Vec<i64> = ids.iter().zip(&cached).filter(|(_, item)| item.is_none()).map(|(id, _)| *id).collect();
        if missing.is_empty() {
            return Ok(cached.into_iter().flatten().flatten().collect());
        }
        let mut encoded = HashMap::with_capacity(missing.len());
        for (id, item, dependencies) in encode(&missing).await? {
            self.insert_item(view, id, item.clone(), dependencies);
            encoded.insert(id, item);
        }
        let find = |(id, item): (&i64, Option<_>)| item.unwrap_or_else(|| encoded.get(id).cloned().flatten());
        Ok(ids.iter().zip(cached).filter_map(find).collect())
    }

    /// Caches an item, unless it depends on the request.
    fn insert_item(&self, view: &ViewKey, id: i64, item: Option<EncodedItem>, dependencies: Arc<Dependencies>) {
        if dependencies.are_of_request() {
            return;
        }
        let size = view.view.len() + item.as_ref().map_or(0, EncodedItem::size);
        let key = ItemKey { view: view.clone(), id };
        self.cache.items.insert(self.cx.transport(), key, item, size, dependencies, self.stamp);
    }

    /// The page of a list with these parameters, from the cache or from `load`.
    pub(crate) async fn page<E>(
        &self,
        family: FamilyId,
        caller: CallerKey,
        params: String,
        load: impl AsyncFnOnce(Context) -> std::result::Result<CachedPage, E>,
    ) -> std::result::Result<CachedPage, E> {
        if params.len() > MAX_PARAMS {
            return load(self.cx.clone()).await;
        }
        let key = PageKey { family, caller, params: params.into() };
        if let Some(found) = self.cache.pages.get(self.cx, self.versions, &key, self.stamp) {
            return Ok(found);
        }
        let load = async |part: Context| {
            part.recheck_after(MAX_AGE);
            load(part).await
        };
        let (page, dependencies) = self.cx.scope(load).await;
        let page = page?;
        let size = key.params.len() + page.size();
        self.cache.pages.insert(self.cx.transport(), key, page.clone(), size, dependencies, self.stamp);
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use svc_versions::Key;

    use super::*;

    #[tokio::test]
    async fn items_and_pages_are_cached_until_they_change() {
        let (cache, versions) = (ItemCache::default(), Versions::default());
        let (family, nobody) = (cache.new_family(), CallerKey::ANONYMOUS);
        let view = |context| ViewKey::new(family, nobody, &View::all_of(context));
        let (cx, row) = (Context::background(), Key::of(&"row 5"));
        let at = |stamp| CacheAccess { cx: &cx, cache: &cache, versions: &versions, stamp };
        let now = at(versions.stamp());
        now.insert_item(&view("view"), 5, None, shared(&cx, cx.capture(|| cx.depends_on(row)).1));
        assert!(
            now.cached_items(&view("view"), &[5])[0].is_some() && now.cached_items(&view("edit"), &[5])[0].is_none()
        );
        now.insert_item(&view("view"), 6, None, shared(&cx, cx.capture(|| cx.depends_on_request()).1));
        assert!(now.cached_items(&view("view"), &[6])[0].is_none(), "items of one request are not shared");
        let page = async |access: CacheAccess<'_>, n| {
            let load = async |part: Context| {
                part.depends_on(row);
                Ok::<_, Infallible>(CachedPage::new([n].into(), Paging { total: 1, per_page: 1, page: 1 }))
            };
            access.page(family, nobody, "a".to_owned(), load).await.map(|page| page.ids[0])
        };
        assert_eq!((page(now, 1).await, page(now, 2).await), (Ok(1), Ok(1)));
        versions.change([row]).end();
        let now = at(versions.stamp());
        assert!(now.cached_items(&view("view"), &[5])[0].is_none());
        assert_eq!(page(now, 3).await, Ok(3));
        assert_ne!(cache.new_family(), family);
    }
}
