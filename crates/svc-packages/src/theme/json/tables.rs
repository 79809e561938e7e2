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
    ("blockVisibility", &["allowEditing"]),
    ("lightbox", &["enabled", "allowEditing"]),
    ("position", &["fixed", "sticky"]),
    ("shadow", &["defaultPresets", "presets"]),
    ("spacing", &["blockGap", "customSpacingSize", "defaultSpacingSizes", "margin", "padding", "spacingScale",
                  "spacingSizes", "units"]),
    ("typography", &["customFontSize", "defaultFontSizes", "dropCap", "fluid", "fontFamilies", "fontSizes", "fontStyle",
                     "fontWeight", "letterSpacing", "lineHeight", "textAlign", "textColumns", "textDecoration",
                     "textIndent", "textTransform", "writingMode"]),
    ("viewport", &["mobile", "tablet"]),
];

/// Settings that have another name in version 1: group, old name, new name.
pub(super) const RENAMED: [(&str, &str, &str); 4] = [
    ("border", "customRadius", "radius"),
    ("spacing", "customMargin", "margin"),
    ("spacing", "customPadding", "padding"),
    ("typography", "customLineHeight", "lineHeight"),
];

/// Settings that blocks do not have.
pub(super) const ROOT_SETTINGS: &[&str] = &["blockVisibility", "viewport"];

/// Settings whose properties must be true or false.
pub(super) const BOOLEANS: &[&str] = &["blockVisibility", "lightbox"];

/// Widths of `viewport` if a theme sets none.
pub(super) const DEFAULT_WIDTHS: [(&str, &str); 2] = [("mobile", "480px"), ("tablet", "782px")];

/// Properties of a font family.
pub(super) const FONT_FAMILY: &[&str] = &["fontFace", "fontFamily", "name", "slug"];

/// Properties of a font face.
#[rustfmt::skip]
pub(super) const FONT_FACE: &[&str] = &[
    "ascentOverride", "descentOverride", "fontDisplay", "fontFamily", "fontFeatureSettings", "fontStretch", "fontStyle",
    "fontVariationSettings", "fontWeight", "lineGapOverride", "sizeAdjust", "src", "unicodeRange",
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
                     "textColumns", "textDecoration", "textIndent", "textShadow", "textTransform", "writingMode"]),
];

/// Properties of styles by the CSS property that they set, in the order in which WordPress stores them.
#[rustfmt::skip]
pub(super) const PROPERTIES: &[(&str, &[&str])] = &[
    ("aspect-ratio", &["dimensions", "aspectRatio"]), ("background", &["color", "gradient"]),
    ("background-color", &["color", "background"]), ("background-image", &["background", "backgroundImage"]),
    ("background-position", &["background", "backgroundPosition"]),
    ("background-repeat", &["background", "backgroundRepeat"]), ("background-size", &["background", "backgroundSize"]),
    ("background-attachment", &["background", "backgroundAttachment"]), ("border-radius", &["border", "radius"]),
    ("border-top-left-radius", &["border", "radius", "topLeft"]),
    ("border-top-right-radius", &["border", "radius", "topRight"]),
    ("border-bottom-left-radius", &["border", "radius", "bottomLeft"]),
    ("border-bottom-right-radius", &["border", "radius", "bottomRight"]), ("border-color", &["border", "color"]),
    ("border-width", &["border", "width"]), ("border-style", &["border", "style"]),
    ("border-top-color", &["border", "top", "color"]), ("border-top-width", &["border", "top", "width"]),
    ("border-top-style", &["border", "top", "style"]), ("border-right-color", &["border", "right", "color"]),
    ("border-right-width", &["border", "right", "width"]), ("border-right-style", &["border", "right", "style"]),
    ("border-bottom-color", &["border", "bottom", "color"]), ("border-bottom-width", &["border", "bottom", "width"]),
    ("border-bottom-style", &["border", "bottom", "style"]), ("border-left-color", &["border", "left", "color"]),
    ("border-left-width", &["border", "left", "width"]), ("border-left-style", &["border", "left", "style"]),
    ("color", &["color", "text"]), ("text-align", &["typography", "textAlign"]),
    ("column-count", &["typography", "textColumns"]), ("font-family", &["typography", "fontFamily"]),
    ("font-size", &["typography", "fontSize"]), ("font-style", &["typography", "fontStyle"]),
    ("font-weight", &["typography", "fontWeight"]), ("letter-spacing", &["typography", "letterSpacing"]),
    ("line-height", &["typography", "lineHeight"]), ("margin", &["spacing", "margin"]),
    ("margin-top", &["spacing", "margin", "top"]), ("margin-right", &["spacing", "margin", "right"]),
    ("margin-bottom", &["spacing", "margin", "bottom"]), ("margin-left", &["spacing", "margin", "left"]),
    ("min-height", &["dimensions", "minHeight"]), ("min-width", &["dimensions", "minWidth"]),
    ("outline-color", &["outline", "color"]), ("outline-offset", &["outline", "offset"]),
    ("outline-style", &["outline", "style"]), ("outline-width", &["outline", "width"]),
    ("padding", &["spacing", "padding"]), ("padding-top", &["spacing", "padding", "top"]),
    ("padding-right", &["spacing", "padding", "right"]), ("padding-bottom", &["spacing", "padding", "bottom"]),
    ("padding-left", &["spacing", "padding", "left"]), ("text-decoration", &["typography", "textDecoration"]),
    ("text-shadow", &["typography", "textShadow"]), ("text-transform", &["typography", "textTransform"]),
    ("text-indent", &["typography", "textIndent"]), ("filter", &["filter", "duotone"]), ("box-shadow", &["shadow"]),
    ("height", &["dimensions", "height"]), ("width", &["dimensions", "width"]),
    ("writing-mode", &["typography", "writingMode"]),
];

/// Texts in styles and settings that are part of other declarations, by a CSS property that allows their values.
pub(super) const INDIRECT_PROPERTIES: &[(&str, &[&str])] = &[
    ("gap", &["spacing", "blockGap"]),
    ("column-gap", &["spacing", "blockGap", "left"]),
    ("row-gap", &["spacing", "blockGap", "top"]),
    ("max-width", &["layout", "contentSize"]),
    ("max-width", &["layout", "wideSize"]),
    ("background-image", &["background", "backgroundImage", "url"]),
    ("background-image", &["background", "gradient"]),
];

/// Top-level properties of a file.
#[rustfmt::skip]
pub(super) const TOP_LEVEL: &[&str] = &[
    "blockTypes", "customTemplates", "description", "patterns", "settings", "slug", "styles", "templateParts", "title",
    "version",
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

/// Elements whose pseudo-classes can have styles, with these.
pub(super) const ELEMENT_STATES: &[(&str, &[&str])] = &[("link", LINK_STATES), ("button", LINK_STATES)];
const LINK_STATES: &[&str] = &[":link", ":any-link", ":visited", ":hover", ":focus", ":focus-visible", ":active"];

/// Blocks whose pseudo-classes can have styles, with these.
pub(super) const BLOCK_STATES: &[(&str, &[&str])] =
    &[("core/button", BUTTON_STATES), ("core/navigation-link", BUTTON_STATES)];
const BUTTON_STATES: &[&str] = &[":hover", ":focus", ":focus-visible", ":active"];

/// Blocks with states that are classes, with these.
pub(super) const CLASS_STATES: &[(&str, &[&str])] = &[("core/navigation-link", &["-current"])];

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
    /// CSS properties that the value of a preset must be harmless for, if users may not use any HTML.
    pub(crate) properties: &'static [&'static str],
    /// Part of the names of the custom properties.
    pub(crate) word: &'static str,
    /// Suffixes of class names, each with the CSS property that the class sets.
    pub(crate) classes: &'static [(&'static str, &'static str)],
}

/// All preset settings, in the order of WordPress's style sheet.
#[rustfmt::skip]
pub(crate) const PRESETS: &[Presets] = &[
    Presets { path: ("dimensions", "aspectRatios"), defaults: Some("defaultAspectRatios"), value: Some("ratio"), properties: &["aspect-ratio"],
              word: "aspect-ratio", classes: &[] },
    Presets { path: ("color", "palette"), defaults: Some("defaultPalette"), value: Some("color"), properties: &["color", "background-color", "border-color"],
              word: "color",
              classes: &[("color", "color"), ("background-color", "background-color"), ("border-color", "border-color")] },
    Presets { path: ("color", "gradients"), defaults: Some("defaultGradients"), value: Some("gradient"), properties: &["background"],
              word: "gradient",
              classes: &[("gradient-background", "background")] },
    Presets { path: ("color", "duotone"), defaults: Some("defaultDuotone"), value: None, properties: &["filter"],
              word: "duotone", classes: &[] },
    Presets { path: ("typography", "fontSizes"), defaults: Some("defaultFontSizes"), value: Some("size"), properties: &["font-size"],
              word: "font-size",
              classes: &[("font-size", "font-size")] },
    Presets { path: ("typography", "fontFamilies"), defaults: None, value: Some("fontFamily"), properties: &["font-family"],
              word: "font-family",
              classes: &[("font-family", "font-family")] },
    Presets { path: ("spacing", "spacingSizes"), defaults: Some("defaultSpacingSizes"), value: Some("size"), properties: &["padding", "margin"],
              word: "spacing", classes: &[] },
    Presets { path: ("shadow", "presets"), defaults: Some("defaultPresets"), value: Some("shadow"), properties: &["box-shadow"],
              word: "shadow", classes: &[] },
    Presets { path: ("border", "radiusSizes"), defaults: None, value: Some("size"), properties: &["border-radius"],
              word: "border-radius", classes: &[] },
    Presets { path: ("dimensions", "dimensionSizes"), defaults: None, value: Some("size"), properties: &["width", "height", "min-height"],
              word: "dimension", classes: &[] },
];
