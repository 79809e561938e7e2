//! Tables of the allowed elements with their attributes, and of URL attributes.
//!
//! The *contents* are facts of the REST API, observed on a running WordPress; the layout is our own.

/// Attributes of every element in posts, in addition to `data-…`.
pub(super) const GLOBAL: &str = "aria-controls aria-current aria-describedby aria-details aria-expanded aria-hidden \
    aria-label aria-labelledby aria-live class dir hidden id lang role style tabindex title xml:lang";

/// Attributes of every MathML element, in addition to [`GLOBAL`].
pub(super) const MATH_GLOBAL: &str = "displaystyle scriptlevel mathbackground mathcolor mathsize";

/// Elements of posts with their own attributes. `object` and the `download` attribute of `a` have rules; see
/// `AllowedHtml::post`.
#[rustfmt::skip]
pub(super) const POST: &[(&str, &str)] = &[
    ("address abbr acronym b bdo big br cite code dd dfn dl dt em fieldset i kbd mark rb rp rt rtc ruby s samp search", ""),
    ("small strike strong sub sup title tt u var wbr", ""),
    ("article aside caption figure figcaption footer h1 h2 h3 h4 h5 h6 header hgroup legend main nav p", "align"),
    ("span section summary", "align"),
    ("a", "href rel rev name target"),
    ("area", "alt coords href nohref shape target"),
    ("audio", "autoplay controls loop muted preload src"),
    ("blockquote q", "cite"),
    ("button", "command commandfor disabled name type value popovertarget popovertargetaction aria-haspopup"),
    ("col colgroup", "align char charoff span valign width"),
    ("data", "value"),
    ("del time", "datetime"),
    ("details", "align open name"),
    ("dialog", "closedby open popover autofocus"),
    ("div", "align popover"),
    ("font", "color face size"),
    ("hr", "align noshade size width"),
    ("img", "alt align border height hspace loading longdesc vspace src usemap width"),
    ("ins", "datetime cite"),
    ("label", "for"),
    ("li", "align value"),
    ("map", "name"),
    ("menu", "type"),
    ("meter", "high low max min optimum value"),
    ("ol", "start type reversed"),
    ("pre", "width"),
    ("progress", "max value"),
    ("table", "align bgcolor border cellpadding cellspacing rules summary width"),
    ("tbody tfoot thead", "align char charoff valign"),
    ("td th", "abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width"),
    ("textarea", "cols rows disabled name readonly"),
    ("tr", "align bgcolor char charoff valign"),
    ("track", "default kind label src srclang"),
    ("ul", "type popover"),
    ("video", "autoplay controls height loop muted playsinline poster preload src width"),
];

/// MathML elements of posts with their own attributes.
#[rustfmt::skip]
pub(super) const MATH: &[(&str, &str)] = &[
    ("mtext mn ms mrow msqrt mroot mstyle merror mphantom msub msup msubsup mmultiscripts mprescripts semantics", ""),
    ("annotation", "encoding"),
    ("math", "display"),
    ("menclose", "notation"),
    ("mfrac", "linethickness"),
    ("mi", "mathvariant"),
    ("mo", "form fence separator lspace rspace stretchy symmetric maxsize minsize largeop movablelimits"),
    ("mpadded", "width height depth lspace voffset"),
    ("mspace", "width height depth"),
    ("mtable", "columnalign rowspacing columnspacing align rowalign columnlines rowlines frame framespacing width"),
    ("mtd", "columnspan rowspan columnalign rowalign"),
    ("mtr", "columnalign rowalign"),
    ("munder mover munderover", "accentunder accent"),
];

/// Elements of comments, titles and other short texts.
pub(super) const DATA: &[(&str, &str)] = &[
    ("b cite code em i s strike strong", ""),
    ("a", "href title"),
    ("abbr acronym", "title"),
    ("blockquote q", "cite"),
    ("del", "datetime"),
];

/// URL attributes of all elements: their scheme must be allowed.
pub(super) const URL_ATTRIBUTES: &[&str] = &[
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "formaction",
    "href",
    "icon",
    "longdesc",
    "manifest",
    "poster",
    "profile",
    "src",
    "usemap",
    "xmlns",
];
