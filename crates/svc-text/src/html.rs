//! Text that is HTML: the type, what can be put into it, and the `html!` macro.
//!
//! The escapes of this crate return [`Html`]. Nothing here parses markup.

use std::{
    fmt::{self, Write},
    ops::Deref,
};

use crate::escape::push_esc_html;

/// HTML: markup, an attribute with its value, or escaped text.
///
/// Only an escape ([`esc_html`](crate::esc_html), [`esc_url`](crate::esc_url) and others), a filter for allowed markup,
/// a renderer or [`html!`](crate::html) returns one, so text that nobody has escaped cannot be put into markup:
///
/// ```
/// use svc_text::{Html, esc_html, html};
///
/// let name = String::from("<Ann>");
/// let item: Html = html!("<li class=\"{}\">{}</li>", "first", esc_html(&name));
/// assert_eq!(item.as_str(), "<li class=\"first\">&lt;Ann&gt;</li>");
/// ```
///
/// A forgotten escape does not compile, whether the text is owned, borrowed, or named in the format string:
///
/// ```compile_fail,E0277
/// let name = String::from("<Ann>");
/// svc_text::html!("<li>{}</li>", name);
/// ```
/// ```compile_fail,E0597
/// let name = String::from("<Ann>");
/// svc_text::html!("<li>{}</li>", name.as_str());
/// ```
/// ```compile_fail
/// let name = svc_text::esc_html("<Ann>");
/// svc_text::html!("<li>{name}</li>");
/// ```
/// ```compile_fail,E0597
/// let name = String::from("<Ann>");
/// let mut item = svc_text::Html::from("<li>");
/// item.push(name.as_str());
/// ```
///
/// It dereferences to `str`, because HTML may be used wherever text is expected; the other direction needs an escape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Html(String);

impl Html {
    /// Empty HTML.
    pub const fn new() -> Self {
        Html(String::new())
    }

    /// Text that is HTML although no escape, filter or renderer returned it. `_reason` is for readers: why the text can
    /// contain only markup that the page may have.
    pub fn trusted(html: impl Into<String>, _reason: &'static str) -> Self {
        Html(html.into())
    }

    /// What an escape of this crate returns.
    pub(crate) const fn escaped(html: String) -> Self {
        Html(html)
    }

    /// Formats HTML. For [`html!`](crate::html), which checks the arguments.
    #[doc(hidden)]
    pub fn from_checked_parts(parts: fmt::Arguments<'_>) -> Self {
        Html(fmt::format(parts))
    }

    /// Appends HTML.
    pub fn push(&mut self, part: impl HtmlPart) {
        // A `String` accepts all text.
        let _ = part.write_html(&mut self.0);
    }

    /// Appends text, escaped as by [`esc_html`](crate::esc_html).
    pub fn push_escaped(&mut self, text: &str) {
        push_esc_html(&mut self.0, text);
    }

    /// Joins parts with a separator.
    pub fn join<P: HtmlPart>(parts: impl IntoIterator<Item = P>, separator: impl HtmlPart) -> Self {
        let mut out = Html::new();
        for (n, part) in parts.into_iter().enumerate() {
            if n > 0 {
                out.push(&separator);
            }
            out.push(part);
        }
        out
    }

    /// Without white space at both ends, as [`trim`](crate::trim).
    #[must_use]
    pub fn trimmed(self) -> Self {
        let trimmed = crate::trim(&self.0);
        if trimmed.len() == self.0.len() { self } else { Html(trimmed.to_owned()) }
    }

    /// The HTML as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The HTML as text, for example for a JSON value.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<&'static str> for Html {
    fn from(literal: &'static str) -> Self {
        Html(literal.to_owned())
    }
}

impl From<Html> for String {
    fn from(html: Html) -> Self {
        html.0
    }
}

impl Deref for Html {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Html {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Html {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Html {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl<P: HtmlPart> FromIterator<P> for Html {
    fn from_iter<I: IntoIterator<Item = P>>(parts: I) -> Self {
        let mut out = Html::new();
        out.extend(parts);
        out
    }
}

impl<P: HtmlPart> Extend<P> for Html {
    fn extend<I: IntoIterator<Item = P>>(&mut self, parts: I) {
        parts.into_iter().for_each(|part| self.push(part));
    }
}

/// What can be put into markup without an escape: HTML, literals and integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is text that may contain markup",
    label = "escape this text first",
    note = "use `esc_html`, `esc_attr`, `esc_url` or a filter for allowed markup; `Html::trusted` needs a reason"
)]
pub trait HtmlPart {
    /// Writes the HTML.
    ///
    /// # Errors
    /// Errors of the writer.
    fn write_html(&self, out: &mut dyn Write) -> fmt::Result;
}

impl HtmlPart for Html {
    fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl HtmlPart for &'static str {
    fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str(self)
    }
}

impl<P: HtmlPart> HtmlPart for &P {
    fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
        (**self).write_html(out)
    }
}

impl<P: HtmlPart> HtmlPart for Option<P> {
    fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |part| part.write_html(out))
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(
            impl HtmlPart for $integer {
                fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
                    write!(out, "{self}")
                }
            }
        )*
    };
}

integers!(i32 i64 u32 u64 usize);

/// An argument of [`html!`](crate::html).
#[doc(hidden)]
#[derive(Debug)]
pub struct HtmlArgument<'p, P>(&'p P);

impl<'p, P: HtmlPart> HtmlArgument<'p, P> {
    /// Checks the argument, so that errors are reported at it.
    pub fn new(part: &'p P) -> Self {
        HtmlArgument(part)
    }
}

impl<P: HtmlPart> fmt::Display for HtmlArgument<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write_html(f)
    }
}

/// Formats [`Html`] as [`format!`] does, from a literal and arguments that are [`HtmlPart`]s.
///
/// The literal cannot name variables by itself; pass them as `name = name`.
#[macro_export]
macro_rules! html {
    (@parts $format:expr, [$($done:tt)*]) => {
        // A literal of another macro cannot name variables, which would not be checked.
        $crate::Html::from_checked_parts(::std::format_args!(::std::concat!($format) $($done)*))
    };
    (@parts $format:expr, [$($done:tt)*] $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::html!(@parts $format, [$($done)*, $name = $crate::HtmlArgument::new(&$value)] $($($rest)*)?)
    };
    (@parts $format:expr, [$($done:tt)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::html!(@parts $format, [$($done)*, $crate::HtmlArgument::new(&$value)] $($($rest)*)?)
    };
    ($format:expr $(, $($arguments:tt)*)?) => {
        $crate::html!(@parts $format, [] $($($arguments)*)?)
    };
}

#[cfg(test)]
mod tests {
    use crate::{Html, esc_html};

    #[test]
    fn formats_parts() {
        let (name, none) = (esc_html("a & b"), None::<Html>);
        for (html, expected) in [
            (html!("<br>"), "<br>"),
            (html!(concat!("<{a}", "{b}>"), a = "b", b = "r"), "<br>"),
            (html!("<{} id={}>{}</{}>", "p", 3_u64, name, "p"), "<p id=3>a &amp; b</p>"),
            (html!("<{tag}>{}{n}</{tag}>{{}}", Some(&name), tag = "p", n = -1_i64,), "<p>a &amp; b-1</p>{}"),
            (html!("{none}", none = none), ""),
            (Html::join(["a", "b"], html!("<br>")), "a<br>b"),
            (["a", "b"].into_iter().collect(), "ab"),
            (Html::from(" a ").trimmed(), "a"),
        ] {
            assert_eq!(html, expected);
        }
    }

    #[test]
    fn escapes_what_is_pushed_as_text() {
        let mut html = Html::from("<p>");
        html.push_escaped("a < 'b'");
        html.push("</p>");
        assert_eq!(html, "<p>a &lt; &#039;b&#039;</p>");
    }
}
