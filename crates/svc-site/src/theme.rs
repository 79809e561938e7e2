//! The active theme, cached until its files change.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use serde_json::Value;
use svc_content::block_render::{self, Duotone};
use svc_packages::theme::{StyleOrigin, Theme, ThemeJson};
use svc_versions::{Context, Key, Versions};

/// How long a cached theme is used before its files are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A parsed theme.
#[derive(Clone, Debug, Default)]
pub struct ActiveTheme {
    /// The folder's name, as in the option `stylesheet`.
    pub name: String,
    /// The theme; `None` if its folder is missing or it is broken.
    pub theme: Option<Theme>,
    /// The theme's settings and styles merged with the defaults.
    pub json: ThemeJson,
    /// Theme settings that affect the HTML of blocks.
    pub blocks: block_render::Theme,
}

impl ActiveTheme {
    /// Reads a theme's folder; a missing theme is empty.
    fn read(themes: &Path, name: &str, url: &str) -> Self {
        let theme = Theme::read(themes, name, url);
        let json = theme.as_ref().map_or_else(|| ThemeJson::core().clone(), Theme::merged_json);
        ActiveTheme { name: name.to_owned(), blocks: block_settings(&json), theme, json }
    }

    /// Whether the theme is a block theme.
    pub fn is_block_theme(&self) -> bool {
        self.theme.as_ref().is_some_and(|theme| theme.is_block_theme)
    }
}

/// Block gaps, root padding and block style variations.
fn block_settings(json: &ThemeJson) -> block_render::Theme {
    let (settings, styles) = (json.settings(), json.styles());
    let gap = |styles: &Value| styles["spacing"]["blockGap"].as_str().map(str::to_owned);
    let of_blocks = || styles["blocks"].as_object().into_iter().flatten();
    let has_gaps = settings["spacing"]["blockGap"] == Value::Bool(true);
    block_render::Theme {
        block_gap: gap(styles).filter(|_| has_gaps),
        block_gaps: of_blocks().filter_map(|(name, styles)| Some((name.clone(), gap(styles)?))).collect(),
        root_padding: settings["useRootPaddingAwareAlignments"] == true,
        style_variations: of_blocks()
            .filter_map(|(name, styles)| {
                let variations = styles["variations"].as_object()?;
                Some((name.clone(), variations.keys().cloned().collect()))
            })
            .collect(),
        fluid: block_render::FluidSizes::of(settings),
        positions: position_values(settings),
        duotones: presets(settings, "color", "duotone").filter_map(duotone).collect(),
    }
}

fn duotone(preset: &Value) -> Option<Duotone> {
    let colors = preset["colors"].as_array()?.iter().filter_map(|color| Some(color.as_str()?.to_owned())).collect();
    Some(Duotone { slug: preset["slug"].as_str()?.to_owned(), colors })
}

/// Presets of a kind, from all origins.
fn presets<'a>(settings: &'a Value, group: &str, name: &str) -> impl Iterator<Item = &'a Value> {
    let of = &settings[group][name];
    StyleOrigin::ALL.into_iter().flat_map(|origin| of[origin.name()].as_array().into_iter().flatten())
}

/// Values of `position` that the theme enables.
fn position_values(settings: &Value) -> Vec<String> {
    let of = settings["position"].as_object().into_iter().flatten();
    of.filter(|(_, is_on)| **is_on == Value::Bool(true)).map(|(name, _)| name.clone()).collect()
}

/// How long values may depend on a theme's files without a time limit after [`ThemeCache::watch`].
const WATCHED: Duration = Duration::from_secs(5);

/// Number of URLs for which a theme is cached: with and without TLS.
const MAX_URLS: usize = 2;

/// The theme that was read last.
#[derive(Debug, Default)]
pub(crate) struct ThemeCache {
    last: Mutex<Option<CachedTheme>>,
    /// Until when the files are watched.
    watched_until: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct CachedTheme {
    name: String,
    /// The theme for each URL of the themes folder, which its patterns contain: requests over TLS have their own.
    by_url: Vec<(String, Arc<ActiveTheme>)>,
    changed: Option<SystemTime>,
    looked: Instant,
}

impl CachedTheme {
    /// Whether the files have not changed since they were read, as far as this is known.
    fn is_current(&mut self) -> bool {
        if self.looked.elapsed() < CHECK_INTERVAL {
            return true;
        }
        self.looked = Instant::now();
        let theme = self.by_url.first().and_then(|(_, theme)| theme.theme.as_ref());
        theme.is_some_and(|theme| theme.changed() == self.changed)
    }

    /// The theme for this URL of the themes folder.
    fn at(&mut self, themes: &Path, url: &str) -> Arc<ActiveTheme> {
        if let Some((_, theme)) = self.by_url.iter().find(|(known, _)| known == url) {
            return Arc::clone(theme);
        }
        let theme = Arc::new(ActiveTheme::read(themes, &self.name, url));
        if self.by_url.len() >= MAX_URLS {
            self.by_url.remove(0);
        }
        self.by_url.push((url.to_owned(), Arc::clone(&theme)));
        theme
    }
}

impl ThemeCache {
    /// Declares that [`get`](Self::get) is called again within a few seconds.
    pub(crate) fn watch(&self) {
        *self.watched_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + WATCHED);
    }

    /// The theme with this name under `themes`, with the current state of its files (at most one second old). When they
    /// have changed, what depends on them is invalidated.
    pub(crate) fn get(
        &self,
        cx: &Context,
        themes: &Path,
        name: &str,
        url: &str,
        versions: &Versions,
    ) -> Arc<ActiveTheme> {
        let files = Key::of(&("files of the theme", name));
        let is_watched =
            self.watched_until.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| Instant::now() < at);
        if is_watched {
            cx.depends_on(files)
        } else {
            cx.recheck_after(CHECK_INTERVAL)
        }
        let mut slot = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = slot.as_mut()
            && known.name == name
            && known.is_current()
        {
            return known.at(themes, url);
        }
        let theme = Arc::new(ActiveTheme::read(themes, name, url));
        let changed = theme.theme.as_ref().and_then(Theme::changed);
        let by_url = vec![(url.to_owned(), Arc::clone(&theme))];
        *slot = Some(CachedTheme { name: name.to_owned(), by_url, changed, looked: Instant::now() });
        versions.change([files]).end();
        theme
    }
}
