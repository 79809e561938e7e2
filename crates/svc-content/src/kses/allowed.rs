//! Lists of allowed elements and attributes.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use super::tables::{DATA, GLOBAL, MATH, MATH_GLOBAL, POST};

type Name = Cow<'static, str>;

/// The allowed elements of a text and their attributes. Names are lowercase.
///
/// The lists of WordPress are [`AllowedHtml::post`] and its siblings; build others with [`AllowedHtml::allow`].
#[derive(Debug, Clone, Default)]
pub struct AllowedHtml {
    elements: HashMap<Name, Attributes>,
    uploads_host: Option<String>,
}

/// The attributes of an element.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes {
    rules: HashMap<Name, Rule>,
    /// Whether all `data-…` attributes are allowed.
    any_data: bool,
}

/// Conditions on an attribute. The default rule allows every value.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// If the attribute is missing or invalid, all other attributes of the element are removed.
    pub required: bool,
    /// Checks, all of which must pass.
    pub checks: Vec<Check>,
}

/// A check of an attribute's value. Lengths are in bytes.
#[derive(Debug, Clone)]
pub enum Check {
    /// The attribute has no value (`true`), or has one (`false`).
    Valueless(bool),
    /// The value is one of these lowercase values, ignoring case.
    Values(Vec<String>),
    /// Maximum length of the value.
    MaxLength(usize),
    /// Minimum length of the value.
    MinLength(usize),
    /// The value is a number of up to six digits, and at most this.
    MaxValue(u32),
    /// The value is a number of up to six digits, and at least this.
    MinValue(u32),
    /// The value is the URL of a PDF file in the site's uploads; see [`AllowedHtml::with_uploads_host`].
    UploadedPdf,
}

impl AllowedHtml {
    /// No markup.
    pub fn strip() -> &'static AllowedHtml {
        static STRIP: LazyLock<AllowedHtml> = LazyLock::new(AllowedHtml::default);
        &STRIP
    }

    /// The markup of posts. Source: `wp_kses_allowed_html('post')`.
    pub fn post() -> &'static AllowedHtml {
        static POSTS: LazyLock<AllowedHtml> = LazyLock::new(|| {
            let mut allowed = AllowedHtml::default();
            for (elements, attributes) in POST {
                allowed.allow_all(elements, &[GLOBAL, attributes]);
            }
            for (elements, attributes) in MATH {
                allowed.allow_all(elements, &[GLOBAL, MATH_GLOBAL, attributes]);
            }
            allowed.allow_all("object", &[GLOBAL]);
            for attributes in allowed.elements.values_mut() {
                attributes.any_data = true;
            }
            let pdf = vec!["application/pdf".to_owned()];
            allowed
                .allow_if("a", "download", Rule { required: false, checks: vec![Check::Valueless(true)] })
                .allow_if("object", "data", Rule { required: true, checks: vec![Check::UploadedPdf] })
                .allow_if("object", "type", Rule { required: true, checks: vec![Check::Values(pdf)] })
        });
        &POSTS
    }

    /// The markup of comments, titles and other short texts. Source: `wp_kses_allowed_html('data')`.
    pub fn data() -> &'static AllowedHtml {
        static SHORT: LazyLock<AllowedHtml> = LazyLock::new(|| {
            let mut allowed = AllowedHtml::default();
            for (elements, attributes) in DATA {
                allowed.allow_all(elements, &[attributes]);
            }
            allowed
        });
        &SHORT
    }

    /// The markup of user and term descriptions: [`AllowedHtml::data`], and `rel` and `target` of links. Source:
    /// `wp_kses_allowed_html('user_description')`, which is also that of `pre_term_description`.
    pub fn description() -> &'static AllowedHtml {
        static DESCRIPTION: LazyLock<AllowedHtml> =
            LazyLock::new(|| AllowedHtml::data().clone().allow("a", ["rel", "target"]));
        &DESCRIPTION
    }

    /// The markup of stored comments: [`AllowedHtml::data`], and `span` elements for user mentions. Source:
    /// `wp_kses_allowed_html('pre_comment_content')`.
    pub fn comment() -> &'static AllowedHtml {
        static COMMENT: LazyLock<AllowedHtml> = LazyLock::new(|| AllowedHtml::data().clone().allow("span", ["class"]));
        &COMMENT
    }

    /// Also allows an element with these attributes; `data-*` allows all attributes with this prefix.
    #[must_use]
    pub fn allow<A: Into<Name>>(mut self, element: impl Into<Name>, attributes: impl IntoIterator<Item = A>) -> Self {
        let entry = self.elements.entry(element.into()).or_default();
        for name in attributes {
            entry.add(name.into(), Rule::default());
        }
        self
    }

    /// Also allows an attribute of an element, subject to a rule.
    #[must_use]
    pub fn allow_if(mut self, element: impl Into<Name>, attribute: impl Into<Name>, rule: Rule) -> Self {
        self.elements.entry(element.into()).or_default().add(attribute.into(), rule);
        self
    }

    /// The host of the site's uploads, with the port if any (`example.org:8080`). Only URLs of PDF files on this host
    /// pass [`Check::UploadedPdf`]; without a host none do.
    #[must_use]
    pub fn with_uploads_host(mut self, host: impl Into<String>) -> Self {
        self.uploads_host = Some(host.into());
        self
    }

    fn allow_all(&mut self, elements: &'static str, attributes: &[&'static str]) {
        for element in elements.split_ascii_whitespace() {
            let entry = self.elements.entry(element.into()).or_default();
            for name in attributes.iter().flat_map(|names| names.split_ascii_whitespace()) {
                entry.add(name.into(), Rule::default());
            }
        }
    }

    /// The attributes of an element by lowercase name; `None` if the element is not allowed.
    pub(super) fn element(&self, name: &str) -> Option<&Attributes> {
        self.elements.get(name)
    }

    /// Whether a value passes the checks of a rule; `None` for an attribute without a value.
    pub(super) fn holds(&self, rule: &Rule, value: Option<&str>) -> bool {
        let text = value.unwrap_or_default();
        rule.checks.iter().all(|check| match check {
            Check::Valueless(expected) => value.is_none() == *expected,
            Check::Values(values) => values.contains(&text.to_ascii_lowercase()),
            Check::MaxLength(max) => text.len() <= *max,
            Check::MinLength(min) => text.len() >= *min,
            Check::MaxValue(max) => small_number(text).is_some_and(|n| n <= *max),
            Check::MinValue(min) => small_number(text).is_some_and(|n| n >= *min),
            Check::UploadedPdf => self.is_uploaded_pdf(text),
        })
    }

    fn is_uploaded_pdf(&self, url: &str) -> bool {
        let path = ["http://", "https://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme)?.strip_prefix(self.uploads_host.as_deref()?));
        path.is_some_and(|path| path.starts_with('/') && path.ends_with(".pdf") && !path.contains(['?', '#']))
    }
}

impl Attributes {
    fn add(&mut self, name: Name, rule: Rule) {
        self.any_data |= name == "data-*";
        self.rules.insert(name, rule);
    }

    /// Whether no attributes are allowed.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.any_data
    }

    /// The names of required attributes.
    pub(super) fn required(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter(|(_, rule)| rule.required).map(|(name, _)| name.as_ref())
    }

    /// The rule for an attribute by lowercase name; `None` if it is not allowed.
    pub(super) fn rule(&self, name: &str) -> Option<&Rule> {
        static NO_CHECKS: Rule = Rule { required: false, checks: Vec::new() };
        self.rules.get(name).or_else(|| (self.any_data && is_data_name(name)).then_some(&NO_CHECKS))
    }
}

/// Whether the name is `data-` followed by letters, digits, `_` and `-`.
fn is_data_name(name: &str) -> bool {
    name.strip_prefix("data-").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    })
}

/// A number of one to six digits, with up to six white space characters on either side.
fn small_number(text: &str) -> Option<u32> {
    let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0B';
    let digits = text.trim_matches(is_space);
    let before = text.len() - text.trim_start_matches(is_space).len();
    let after = text.len() - before - digits.len();
    let fits = before <= 6 && after <= 6 && (1..=6).contains(&digits.len());
    if fits && digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}
