//! The active theme, cached until its files change.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use serde_json::Value;
use svc_content::block_render::{self, Duotone};
use svc_packages::theme::{Origin, Theme, ThemeJson};
use svc_versions::{Key, Versions, depends_on, expires_in};

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
    Origin::ALL.into_iter().flat_map(|origin| of[origin.name()].as_array().into_iter().flatten())
}

/// Values of `position` that the theme enables.
fn position_values(settings: &Value) -> Vec<String> {
    let of = settings["position"].as_object().into_iter().flatten();
    of.filter(|(_, is_on)| **is_on == Value::Bool(true)).map(|(name, _)| name.clone()).collect()
}

/// How long values may depend on a theme's files without a time limit after [`ThemeCache::watch`].
const WATCHED: Duration = Duration::from_secs(5);

/// The theme that was read last.
#[derive(Debug, Default)]
pub(crate) struct ThemeCache {
    last: Mutex<Option<CachedTheme>>,
    /// Until when the files are watched.
    watched_until: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct CachedTheme {
    theme: Arc<ActiveTheme>,
    /// URL of the themes folder, which the theme's patterns contain.
    url: String,
    changed: Option<SystemTime>,
    looked: Instant,
}

impl ThemeCache {
    /// Declares that [`get`](Self::get) is called again within a few seconds.
    pub(crate) fn watch(&self) {
        *self.watched_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + WATCHED);
    }

    /// The theme with this name under `themes`, with the current state of its files (at most one second old). When they
    /// have changed, what depends on them is invalidated.
    pub(crate) fn get(&self, themes: &Path, name: &str, url: &str, versions: &Versions) -> Arc<ActiveTheme> {
        let files = Key::of(&("files of the theme", name));
        let is_watched =
            self.watched_until.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| Instant::now() < at);
        if is_watched {
            depends_on(files)
        } else {
            expires_in(CHECK_INTERVAL)
        }
        let mut slot = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = slot.as_mut().filter(|known| known.theme.name == name && known.url == url) {
            if known.looked.elapsed() < CHECK_INTERVAL {
                return Arc::clone(&known.theme);
            }
            known.looked = Instant::now();
            let changed = known.theme.theme.as_ref().and_then(Theme::changed);
            if changed == known.changed && known.theme.theme.is_some() {
                return Arc::clone(&known.theme);
            }
        }
        let theme = Arc::new(ActiveTheme::read(themes, name, url));
        let changed = theme.theme.as_ref().and_then(Theme::changed);
        let known = CachedTheme { theme: Arc::clone(&theme), url: url.to_owned(), changed, looked: Instant::now() };
        *slot = Some(known);
        versions.change([files]).end();
        theme
    }
}
