//! Texts that were rendered before, kept in memory: the same text under the same circumstances has the same HTML.
//!
//! An entry is found by the text itself, so that no change of a post, in this process or another, needs to be told.
//! It is used only while what it was made with is as it was: the theme, the options, and each image that it asked for.
//! Texts that ask more than that (shortcodes, which count over an answer, and blocks that ask the store) are not kept.

use std::{
    cell::RefCell,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use quick_cache::{Equivalent, Weighter, sync::Cache};
use svc_content::{images::Images, srcset::Image};
use svc_site::{ActiveTheme, sanitize::TextOptions};

use crate::images::SiteImages;

/// Bytes of texts and HTML that are kept, in all.
const CAPACITY: u64 = 64 << 20;

/// Texts that are expected, for the first size of the table.
const EXPECTED: usize = 1_000;

/// Longer texts are rendered each time.
const MAX_TEXT: usize = 1 << 20;

/// What is made of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The whole content.
    Content,
    /// An excerpt of this many words, made of content.
    Generated(usize),
    /// An excerpt that was written as one.
    Manual,
}

/// An entry's name, lent.
#[derive(Clone, Copy, Debug)]
struct KeyRef<'t>(Source, &'t str);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key(Source, Arc<str>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        KeyRef(self.0, &self.1).hash(state);
    }
}

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        self.1.hash(state);
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, name: &Key) -> bool {
        self.0 == name.0 && self.1 == &*name.1
    }
}

/// HTML, and all that it depends on beside the text.
struct Entry {
    html: Box<str>,
    theme: Arc<ActiveTheme>,
    options: Arc<TextOptions>,
    /// The images that were asked for, with what was known of them.
    images: Box<[(u64, Option<Image>)]>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<Entry>> for Weight {
    fn weight(&self, name: &Key, entry: &Arc<Entry>) -> u64 {
        // An image in its sizes, and the entry itself, are some hundred bytes each.
        (name.1.len() + entry.html.len() + 512 * (1 + entry.images.len())) as u64
    }
}

/// The texts of a site that were rendered.
pub struct RenderCache(Cache<Key, Arc<Entry>, Weight>);

impl Default for RenderCache {
    fn default() -> Self {
        RenderCache(Cache::with_weighter(EXPECTED, CAPACITY, Weight))
    }
}

impl fmt::Debug for RenderCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderedTexts").field("n_texts", &self.0.len()).finish()
    }
}

/// What a text is rendered with.
pub struct RenderInputs<'a> {
    pub theme: &'a Arc<ActiveTheme>,
    pub options: &'a Arc<TextOptions>,
    pub images: &'a SiteImages,
}

impl RenderInputs<'_> {
    fn matches(&self, entry: &Entry) -> bool {
        Arc::ptr_eq(&entry.theme, self.theme)
            && (Arc::ptr_eq(&entry.options, self.options) || entry.options == *self.options)
            && entry.images.iter().all(|(id, image)| self.images.known(*id) == image.as_ref())
    }
}

impl RenderCache {
    /// The HTML of a text: as it was made before, or as `render` makes it with these images.
    pub fn of(
        &self,
        source: Source,
        text: &str,
        with: &RenderInputs<'_>,
        render: impl FnOnce(&dyn Images) -> String,
    ) -> String {
        // Shortcodes begin with a bracket; whether they are escaped is not worth knowing here.
        if text.contains('[') || text.len() > MAX_TEXT {
            return render(with.images);
        }
        if let Some(entry) = self.0.get(&KeyRef(source, text))
            && with.matches(&entry)
        {
            return entry.html.to_string();
        }
        let asked = RecordingImages { images: with.images, ids: RefCell::default() };
        let html = render(&asked);
        let known = |id: u64| (id, with.images.known(id).cloned());
        let entry = Entry {
            html: html.as_str().into(),
            theme: Arc::clone(with.theme),
            options: Arc::clone(with.options),
            images: asked.ids.into_inner().into_iter().map(known).collect(),
        };
        self.0.insert(Key(source, text.into()), Arc::new(entry));
        html
    }
}

/// Images, and which of them were asked for.
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

    use super::*;

    /// Texts, and how often one was rendered.
    #[derive(Default)]
    struct Tried {
        texts: RenderCache,
        rendered: Cell<usize>,
    }

    impl Tried {
        /// The HTML of a text that shows the image 7, and whether it was rendered for this.
        fn html(&self, source: Source, text: &str, with: &RenderInputs<'_>) -> (String, bool) {
            let before = self.rendered.get();
            let html = self.texts.of(source, text, with, |images| {
                self.rendered.set(before + 1);
                let width = images.image(7).map_or(0, |image| image.width);
                format!("{text} {source:?} {width}")
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
    fn a_text_is_rendered_once_for_each_of_its_circumstances() {
        let tried = Tried::default();
        let themes = [Arc::new(ActiveTheme::default()), Arc::new(ActiveTheme::default())];
        let options = [true, false].map(|smilies| {
            let (smilies_url, own_host) = (String::new(), String::new());
            Arc::new(TextOptions { smilies, smilies_url, own_host })
        });
        let like_the_first = Arc::new(TextOptions::clone(&options[0]));
        let (small, large, none) = (images(1), images(100), SiteImages::default());
        let other_eight: SiteImages = [(7, Image { width: 1, ..Image::default() })].into_iter().collect();
        let with = |theme, options, images| RenderInputs { theme, options, images };

        let first = with(&themes[0], &options[0], &small);
        assert_eq!(tried.html(Source::Content, "a", &first), ("a Content 1".to_owned(), true));
        for again in [
            with(&themes[0], &options[0], &small),
            with(&themes[0], &like_the_first, &small),
            // An image that the text does not show is another.
            with(&themes[0], &options[0], &other_eight),
        ] {
            assert_eq!(tried.html(Source::Content, "a", &again), ("a Content 1".to_owned(), false));
        }
        assert_eq!(
            tried.html(Source::Generated(5), "a", &first),
            ("a Generated(5) 1".to_owned(), true),
            "something else of it"
        );
        assert_eq!(tried.html(Source::Content, "b", &first), ("b Content 1".to_owned(), true), "another text");
        for (now, width) in [
            (with(&themes[1], &options[0], &small), 1),
            (with(&themes[1], &options[1], &small), 1),
            (with(&themes[1], &options[1], &large), 100),
            (with(&themes[1], &options[1], &none), 0),
        ] {
            let html = format!("a Content {width}");
            assert_eq!(tried.html(Source::Content, "a", &now), (html.clone(), true));
            assert_eq!(tried.html(Source::Content, "a", &now), (html, false));
        }
    }

    #[test]
    fn texts_that_may_count_over_an_answer_are_not_kept() {
        let tried = Tried::default();
        let (theme, images) = (Arc::new(ActiveTheme::default()), SiteImages::default());
        let (smilies_url, own_host) = (String::new(), String::new());
        let options = Arc::new(TextOptions { smilies: false, smilies_url, own_host });
        let with = RenderInputs { theme: &theme, options: &options, images: &images };
        for _ in 0..2 {
            assert!(tried.html(Source::Content, "[audio src=a.mp3]", &with).1);
        }
    }
}
