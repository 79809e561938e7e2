//! Encoded data that the server caches: the index, descriptions of routes, and the targets of `_embed`.

use std::time::Duration;

use svc_versions::{Context, VersionedCache};

use super::Server;
use crate::{CallerKey, EncodedItem};

/// Capacity in bytes.
const CAPACITY: u64 = 8 << 20;

/// Maximum age, for what changes without being recorded, such as files of plugins.
const MAX_AGE: Duration = Duration::from_mins(1);

/// The kind of a cached value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CachedKind {
    /// The index, or that of a namespace, in a context.
    Index,
    /// The description of a route.
    Description,
    /// The target of a link, as it is embedded.
    Embedded,
}

/// Cached values, by kind, caller, root URL of the server, and what identifies it: a path with parameters.
pub(super) struct EncodedCache(VersionedCache<(CachedKind, CallerKey, Box<str>), EncodedItem>);

impl Default for EncodedCache {
    fn default() -> Self {
        Self(VersionedCache::new(CAPACITY))
    }
}

impl Server {
    /// The cached value of this kind for `path` and a caller, or the one that `make` returns for the context that it is given,
    /// and whether it may be cached. Nothing is cached on a site whose changes are not observed, or if the caller is not known.
    pub(super) async fn cached<F>(
        &self,
        cx: &Context,
        kind: CachedKind,
        caller: Option<CallerKey>,
        path: &str,
        make: impl FnOnce(Context) -> F,
    ) -> Option<EncodedItem>
    where
        F: Future<Output = (Option<EncodedItem>, bool)>,
    {
        let data = self.site().data.as_ref();
        let observed = data.zip(caller).and_then(|(data, caller)| Some((data, caller, (data.stamp)(cx)?)));
        let Some((data, caller, stamp)) = observed else { return make(cx.clone()).await.0 };
        let key = (kind, caller, format!("{} {path}", self.root_url()).into_boxed_str());
        let cache = &self.frozen().encoded.0;
        if let Some(found) = cache.get(cx, &data.versions, &key, stamp) {
            return Some(found);
        }
        let part = |part: Context| {
            part.recheck_after(MAX_AGE);
            make(part)
        };
        let ((item, is_cacheable), dependencies) = cx.scope(part).await;
        // Sessions of a caller have their own nonces.
        let is_shared = caller == CallerKey::ANONYMOUS || !dependencies.are_of_request();
        if let Some(item) = item.as_ref().filter(|_| is_cacheable && is_shared) {
            let size = key.2.len() + item.size();
            cache.insert(cx.transport(), key, item.clone(), size, dependencies, stamp);
        }
        item
    }
}
