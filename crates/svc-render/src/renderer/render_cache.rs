//! In-memory cache of rendered contents and excerpts.
//!
//! Entries are keyed by the source text and the transport of the request, so that changes of posts, also by other processes, need no invalidation. An entry
//! is valid while its inputs are unchanged: the theme, the text options, and each image that the text refers to.
//! Texts with other inputs are not cached: shortcodes share counters across a response, dynamic blocks read the store.

use std::{
    cell::RefCell,
    fmt,
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use quick_cache::{Equivalent, Weighter, sync::Cache};
use svc_content::{images::Images, srcset::Image};
use svc_site::{ActiveTheme, settings::text_options::TextOptions};
use svc_text::Html;
use svc_versions::{Transport, Usage};

use crate::images::SiteImages;

/// Default capacity in bytes of texts and HTML.
const CAPACITY: u64 = 16 << 20;

/// Expected number of entries, for the initial capacity.
const EXPECTED: usize = 1_000;

/// Maximum length of a cached text, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// How the HTML derives from the source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CachedText {
    /// Content, rendered in full.
    Content,
    /// An excerpt of at most this many words, generated from content.
    Generated(usize),
    /// A manual excerpt.
    Manual,
}

/// A borrowed [`Key`].
#[derive(Clone, Copy, Debug)]
struct KeyRef<'t>(CachedText, Transport, &'t str);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key(CachedText, Transport, Arc<str>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        KeyRef(self.0, self.1, &self.2).hash(state);
    }
}

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        self.1.hash(state);
        self.2.hash(state);
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, name: &Key) -> bool {
        self.0 == name.0 && self.1 == name.1 && self.2 == &*name.2
    }
}

/// Cached HTML and its inputs other than the text.
struct CachedHtml {
    html: Html,
    theme: Arc<ActiveTheme>,
    options: Arc<TextOptions>,
    /// The images that were looked up, with the results.
    images: Box<[(u64, Option<Image>)]>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<CachedHtml>> for Weight {
    fn weight(&self, name: &Key, entry: &Arc<CachedHtml>) -> u64 {
        // An image with its sizes and the entry itself take some hundred bytes each.
        (name.2.len() + entry.html.len() + 512 * (1 + entry.images.len())) as u64
    }
}

/// Cache of a site's rendered texts.
pub struct RenderCache {
    texts: Cache<Key, Arc<CachedHtml>, Weight>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Default for RenderCache {
    fn default() -> Self {
        let texts = Cache::with_weighter(EXPECTED, CAPACITY, Weight);
        RenderCache { texts, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }
}

impl RenderCache {
    /// Sets the capacity in bytes of texts and HTML.
    pub fn set_capacity(&self, bytes: u64) {
        self.texts.set_capacity(bytes);
    }

    /// The size of the cache, with hits and misses. Texts that are never cached are not counted.
    pub fn usage(&self) -> Usage {
        Usage {
            entries: self.texts.len(),
            bytes: self.texts.weight(),
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Debug for RenderCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderCache").field("n_texts", &self.texts.len()).finish()
    }
}

/// The inputs of rendering other than the text.
pub struct RenderInputs<'a> {
    /// The active theme.
    pub theme: &'a Arc<ActiveTheme>,
    /// The site's text options.
    pub options: &'a Arc<TextOptions>,
    /// Images and galleries.
    pub images: &'a SiteImages,
    /// How the client reached the site.
    pub transport: Transport,
}

impl RenderInputs<'_> {
    fn matches(&self, entry: &CachedHtml) -> bool {
        Arc::ptr_eq(&entry.theme, self.theme)
            && (Arc::ptr_eq(&entry.options, self.options) || entry.options == *self.options)
            && entry.images.iter().all(|(id, image)| self.images.get(*id) == image.as_ref())
    }
}

impl RenderCache {
    /// The HTML of a text, from the cache or from `render`.
    pub fn get_or_render(
        &self,
        source: CachedText,
        text: &str,
        with: &RenderInputs<'_>,
        render: impl FnOnce(&dyn Images) -> Html,
    ) -> Html {
        // Shortcodes begin with a bracket. Escaped ones are not worth detecting here.
        if text.contains('[') || text.len() > MAX_TEXT {
            return render(with.images);
        }
        let transport = with.transport;
        if let Some(entry) = self.texts.get(&KeyRef(source, transport, text))
            && with.matches(&entry)
        {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return entry.html.clone();
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let recording = RecordingImages { images: with.images, ids: RefCell::default() };
        let html = render(&recording);
        let get = |id: u64| (id, with.images.get(id).cloned());
        let entry = CachedHtml {
            html: html.clone(),
            theme: Arc::clone(with.theme),
            options: Arc::clone(with.options),
            images: recording.ids.into_inner().into_iter().map(get).collect(),
        };
        self.texts.insert(Key(source, transport, text.into()), Arc::new(entry));
        html
    }
}

/// Records the ids of the images that are looked up.
struct RecordingImages<'a> {
    images: &'a SiteImages,
    ids: RefCell<Vec<u64>>,
}

impl Images for RecordingImages<'_> {
    fn image(&self, id: u64) -> Option<Image> {
        let mut ids = self.ids.borrow_mut();
        if !ids.contains(&id) {
            ids.push(id);
        }
        self.images.image(id)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use svc_text::{esc_html, html};

    use super::*;

    /// A cache that counts renderings.
    #[derive(Default)]
    struct CountingCache {
        texts: RenderCache,
        rendered: Cell<usize>,
    }

    impl CountingCache {
        /// The HTML of a text that contains the image 7, and whether it was rendered by this call.
        fn html(&self, source: CachedText, text: &str, with: &RenderInputs<'_>) -> (Html, bool) {
            let before = self.rendered.get();
            let html = self.texts.get_or_render(source, text, with, |images| {
                self.rendered.set(before + 1);
                let width = images.image(7).map_or(0, |image| image.width);
                esc_html(&format!("{text} {source:?} {width}"))
            });
            (html, self.rendered.get() > before)
        }
    }

    fn images(width: u64) -> SiteImages {
        [(7, Image { width, ..Image::default() }), (8, Image { width: width + 1, ..Image::default() })]
            .into_iter()
            .collect()
    }

    #[test]
    fn a_text_is_rendered_once_for_the_same_inputs() {
        let cache = CountingCache::default();
        let themes = [Arc::new(ActiveTheme::default()), Arc::new(ActiveTheme::default())];
        let options = [true, false].map(|smilies| {
            let (smilies_url, own_host) = (String::new(), String::new());
            Arc::new(TextOptions { smilies, smilies_url, own_host })
        });
        let equal_to_first = Arc::new(TextOptions::clone(&options[0]));
        let (small, large, none) = (images(1), images(100), SiteImages::default());
        let other_eight: SiteImages = [(7, Image { width: 1, ..Image::default() })].into_iter().collect();
        let with = |theme, options, images| RenderInputs { theme, options, images, transport: Transport::Plain };

        let first = with(&themes[0], &options[0], &small);
        assert_eq!(cache.html(CachedText::Content, "a", &first), (Html::from("a Content 1"), true));
        for again in [
            with(&themes[0], &options[0], &small),
            with(&themes[0], &equal_to_first, &small),
            // Only an image that the text does not contain differs.
            with(&themes[0], &options[0], &other_eight),
        ] {
            assert_eq!(cache.html(CachedText::Content, "a", &again), (Html::from("a Content 1"), false));
        }
        assert_eq!(
            cache.html(CachedText::Generated(5), "a", &first),
            (Html::from("a Generated(5) 1"), true),
            "another source"
        );
        assert_eq!(cache.html(CachedText::Content, "b", &first), (Html::from("b Content 1"), true), "another text");
        for (now, width) in [
            (with(&themes[1], &options[0], &small), 1),
            (with(&themes[1], &options[1], &small), 1),
            (with(&themes[1], &options[1], &large), 100),
            (with(&themes[1], &options[1], &none), 0),
        ] {
            let html = html!("a Content {}", width);
            assert_eq!(cache.html(CachedText::Content, "a", &now), (html.clone(), true));
            assert_eq!(cache.html(CachedText::Content, "a", &now), (html, false));
        }
        let Usage { entries, hits, misses, .. } = cache.texts.usage();
        assert_eq!((entries, hits, misses), (3, 7, 7));
    }

    #[test]
    fn texts_with_shortcodes_are_not_cached() {
        let cache = CountingCache::default();
        let (theme, images) = (Arc::new(ActiveTheme::default()), SiteImages::default());
        let (smilies_url, own_host) = (String::new(), String::new());
        let options = Arc::new(TextOptions { smilies: false, smilies_url, own_host });
        let with = RenderInputs { theme: &theme, options: &options, images: &images, transport: Transport::Plain };
        for _ in 0..2 {
            assert!(cache.html(CachedText::Content, "[audio src=a.mp3]", &with).1);
        }
    }
}
