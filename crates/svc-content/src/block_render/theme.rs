//! The theme settings that affect blocks.

use std::collections::BTreeMap;

use super::FluidSizes;
use crate::blocks::Block;

/// The theme settings that affect blocks.
#[derive(Debug, Clone, Default)]
pub struct Theme {
    /// The gap between blocks (`styles.spacing.blockGap`), if blocks may set it (`settings.spacing.blockGap`).
    pub block_gap: Option<String>,
    /// Gaps of individual blocks (`styles.blocks.NAME.spacing.blockGap`), by full block name.
    pub block_gaps: BTreeMap<String, String>,
    /// Whether the page's padding applies to full-width blocks (`settings.useRootPaddingAwareAlignments`).
    pub root_padding: bool,
    /// Block style variations of the theme, by full block name: `annotation` for the class `is-style-annotation`.
    pub style_variations: BTreeMap<String, Vec<String>>,
    /// Fluid typography.
    pub fluid: FluidSizes,
    /// Positions that blocks may have (`settings.position`): `sticky`, `fixed`.
    pub positions: Vec<String>,
    /// Duotone presets.
    pub duotones: Vec<Duotone>,
}

/// A duotone preset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Duotone {
    /// Slug.
    pub slug: String,
    /// The colours, from the one for black to the one for white.
    pub colors: Vec<String>,
}

/// Block styles of every theme, by full block name.
const CORE_STYLES: [(&str, &str); 2] = [("core/button", "outline"), ("core/site-logo", "rounded")];

impl Theme {
    /// The theme's gap for a block.
    pub(super) fn gap_of(&self, name: &str) -> Option<&str> {
        self.block_gaps.get(name).or(self.block_gap.as_ref()).map(String::as_str)
    }

    /// The style variation that a block's class selects, if the theme has it.
    pub(super) fn variation_of<'b>(&self, name: &str, block: &'b Block<'_>) -> Option<&'b str> {
        let known = self.style_variations.get(name).map(Vec::as_slice).unwrap_or_default();
        let chosen = block["className"].as_str()?.split_ascii_whitespace();
        chosen
            .filter_map(|class| class.strip_prefix("is-style-"))
            .find(|style| known.iter().any(|known| known == style) || CORE_STYLES.contains(&(name, style)))
    }
}
