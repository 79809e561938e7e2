//! Valid properties of `theme.json`, and the settings that are lists of presets.

/// Properties of `settings` and their own properties. A setting without any accepts any value.
#[rustfmt::skip]
pub(super) const SETTINGS: &[(&str, &[&str])] = &[
    ("appearanceTools", &[]),
    ("useRootPaddingAwareAlignments", &[]),
    ("custom", &[]),
    ("background", &["backgroundImage", "backgroundSize", "gradient"]),
    ("border", &["color", "radius", "radiusSizes", "style", "width"]),
    ("color", &["background", "button", "caption", "custom", "customDuotone", "customGradient", "defaultDuotone",
                "defaultGradients", "defaultPalette", "duotone", "gradients", "heading", "link", "palette", "text"]),
    ("dimensions", &["aspectRatio", "aspectRatios", "defaultAspectRatios", "dimensionSizes", "height", "minHeight",
                     "minWidth", "width"]),
    ("layout", &["contentSize", "wideSize", "allowEditing", "allowCustomContentAndWideSize"]),
    ("lightbox", &["enabled", "allowEditing"]),
    ("position", &["fixed", "sticky"]),
    ("shadow", &["defaultPresets", "presets"]),
    ("spacing", &["blockGap", "customSpacingSize", "defaultSpacingSizes", "margin", "padding", "spacingScale",
                  "spacingSizes", "units"]),
    ("typography", &["customFontSize", "defaultFontSizes", "dropCap", "fluid", "fontFamilies", "fontSizes", "fontStyle",
                     "fontWeight", "letterSpacing", "lineHeight", "textAlign", "textColumns", "textDecoration",
                     "textIndent", "textTransform", "writingMode"]),
];

/// Properties of `styles` (of the page, of an element or of a block).
#[rustfmt::skip]
pub(super) const STYLES: &[(&str, &[&str])] = &[
    ("background", &["backgroundAttachment", "backgroundImage", "backgroundPosition", "backgroundRepeat",
                     "backgroundSize", "gradient"]),
    ("border", &["bottom", "color", "left", "radius", "right", "style", "top", "width"]),
    ("color", &["background", "gradient", "text"]),
    ("css", &[]),
    ("dimensions", &["aspectRatio", "height", "minHeight", "minWidth", "width"]),
    ("filter", &["duotone"]),
    ("outline", &["color", "offset", "style", "width"]),
    ("shadow", &[]),
    ("spacing", &["blockGap", "margin", "padding"]),
    ("typography", &["fontFamily", "fontSize", "fontStyle", "fontWeight", "letterSpacing", "lineHeight", "textAlign",
                     "textColumns", "textDecoration", "textIndent", "textTransform", "writingMode"]),
];

/// Elements that can have styles, with their selectors.
#[rustfmt::skip]
pub(crate) const ELEMENTS: &[(&str, &str)] = &[
    ("link", "a:where(:not(.wp-element-button))"),
    ("heading", "h1, h2, h3, h4, h5, h6"),
    ("h1", "h1"), ("h2", "h2"), ("h3", "h3"), ("h4", "h4"), ("h5", "h5"), ("h6", "h6"),
    ("button", ".wp-element-button, .wp-block-button__link"),
    ("caption", ".wp-element-caption"),
    ("cite", "cite"),
    ("select", "select"),
    ("textInput", "textarea, input:where([type=email],[type=number],[type=password],[type=search],[type=text],[type=tel],[type=url])"),
];

/// Pseudo-classes of links and buttons that can have styles.
pub(super) const STATES: &[&str] = &[":link", ":any-link", ":visited", ":hover", ":focus", ":focus-visible", ":active"];

/// Settings that `appearanceTools` enables unless the theme sets them.
#[rustfmt::skip]
pub(super) const APPEARANCE_TOOLS: &[(&str, &[&str])] = &[
    ("background", &["backgroundImage", "backgroundSize", "gradient"]),
    ("border", &["color", "radius", "style", "width"]),
    ("color", &["link", "heading", "button", "caption"]),
    ("dimensions", &["aspectRatio", "height", "minHeight", "minWidth", "width"]),
    ("position", &["sticky"]),
    ("spacing", &["blockGap", "margin", "padding"]),
    ("typography", &["lineHeight", "textColumns"]),
];

/// A setting that is a list of presets.
pub(crate) struct Presets {
    /// Group and name of the setting.
    pub(crate) path: (&'static str, &'static str),
    /// Setting of the same group that enables the default presets. If it is on, themes cannot redefine them.
    pub(crate) defaults: Option<&'static str>,
    /// Property of a preset that contains its CSS value, if it has one.
    pub(crate) value: Option<&'static str>,
    /// Part of the names of the custom properties.
    pub(crate) word: &'static str,
    /// Suffixes of class names, each with the CSS property that the class sets.
    pub(crate) classes: &'static [(&'static str, &'static str)],
}

/// All preset settings, in the order of WordPress's style sheet.
#[rustfmt::skip]
pub(crate) const PRESETS: &[Presets] = &[
    Presets { path: ("dimensions", "aspectRatios"), defaults: Some("defaultAspectRatios"), value: Some("ratio"), word: "aspect-ratio", classes: &[] },
    Presets { path: ("color", "palette"), defaults: Some("defaultPalette"), value: Some("color"), word: "color",
              classes: &[("color", "color"), ("background-color", "background-color"), ("border-color", "border-color")] },
    Presets { path: ("color", "gradients"), defaults: Some("defaultGradients"), value: Some("gradient"), word: "gradient",
              classes: &[("gradient-background", "background")] },
    Presets { path: ("color", "duotone"), defaults: Some("defaultDuotone"), value: None, word: "duotone", classes: &[] },
    Presets { path: ("typography", "fontSizes"), defaults: Some("defaultFontSizes"), value: Some("size"), word: "font-size",
              classes: &[("font-size", "font-size")] },
    Presets { path: ("typography", "fontFamilies"), defaults: None, value: Some("fontFamily"), word: "font-family",
              classes: &[("font-family", "font-family")] },
    Presets { path: ("spacing", "spacingSizes"), defaults: Some("defaultSpacingSizes"), value: Some("size"), word: "spacing", classes: &[] },
    Presets { path: ("shadow", "presets"), defaults: Some("defaultPresets"), value: Some("shadow"), word: "shadow", classes: &[] },
    Presets { path: ("border", "radiusSizes"), defaults: None, value: Some("size"), word: "border-radius", classes: &[] },
    Presets { path: ("dimensions", "dimensionSizes"), defaults: None, value: Some("size"), word: "dimension", classes: &[] },
];
