//! The permalink settings of a site, and the structures derived from them.

/// File name at the start of every pretty path on web servers that cannot rewrite URLs.
const INDEX: &str = "index.php";

/// The permalink settings of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permalinks {
    structure: String,
    category_base: String,
    tag_base: String,
}

impl Permalinks {
    /// Settings with a structure such as `/%year%/%monthnum%/%postname%/`. An empty structure means plain URLs
    /// (`?p=1`).
    pub fn new(structure: impl Into<String>) -> Self {
        Permalinks { structure: structure.into(), ..Self::default() }
    }

    /// Replaces `category` and `tag` in the URLs of terms. An empty base selects the default.
    #[must_use]
    pub fn with_bases(mut self, category: &str, tag: &str) -> Self {
        self.category_base = category.trim_matches('/').to_owned();
        self.tag_base = tag.trim_matches('/').to_owned();
        self
    }

    /// Whether URLs have paths at all.
    pub fn is_pretty(&self) -> bool {
        !self.structure.is_empty()
    }

    /// The structure, as configured.
    pub fn structure(&self) -> &str {
        &self.structure
    }

    /// The segment at the start of all paths (`index.php`), if the structure starts with it.
    pub fn index_segment(&self) -> Option<&'static str> {
        self.structure.trim_start_matches('/').starts_with(INDEX).then_some(INDEX)
    }

    /// Prefix of paths that do not use the structure's own prefix: empty or `index.php/`.
    pub fn root(&self) -> &'static str {
        if self.index_segment().is_some() { "index.php/" } else { "" }
    }

    /// The fixed prefix of the structure: `/archives/` of `/archives/%post_id%`.
    pub fn front(&self) -> &str {
        self.structure.find('%').map_or("", |i| &self.structure[..i])
    }

    /// Whether paths end with a slash.
    pub(crate) fn has_trailing_slash(&self) -> bool {
        self.structure.ends_with('/')
    }

    /// Adds or removes the trailing slash of a path, as the structure requires. Source: `user_trailingslashit`.
    pub fn end(&self, path: &str) -> String {
        if self.has_trailing_slash() {
            svc_text::trailing_slash(path)
        } else {
            svc_text::untrailing_slash(path).to_owned()
        }
    }

    /// Path prefix of a taxonomy or of authors: front or root, then the base.
    pub(crate) fn base_path(&self, base: &str, with_front: bool) -> String {
        format!("{}{base}/", if with_front { self.front() } else { self.root() })
    }

    /// The base of categories, and whether it follows the front. A custom base does so only behind `index.php`.
    pub(crate) fn category_base(&self) -> (&str, bool) {
        base_or_default(&self.category_base, "category", self.index_segment().is_some())
    }

    /// As [`Self::category_base`], for tags.
    pub(crate) fn tag_base(&self) -> (&str, bool) {
        base_or_default(&self.tag_base, "tag", self.index_segment().is_some())
    }

    /// The structure of a day's archive. Year, month and day have the order of the post structure.
    ///
    /// It is prefixed with `date/` if one of the first three tags is a post id, which could be mistaken for a year.
    pub(crate) fn date_structure(&self) -> String {
        const ORDERS: [&str; 3] = ["%year%/%monthnum%/%day%", "%day%/%monthnum%/%year%", "%monthnum%/%day%/%year%"];
        let order = ORDERS.into_iter().find(|o| self.structure.contains(o)).unwrap_or(ORDERS[0]);
        let mut tags = self.structure.split('%').skip(1).step_by(2).take(3);
        let date = if tags.any(|tag| tag == "post_id") { "date/" } else { "" };
        format!("{}{date}{order}", self.front())
    }

    /// Whether a path can be that of a page as well as that of a post, so that pages are looked up first. This is the
    /// case if the first tag matches text: post name, category, tag or author.
    pub(crate) fn pages_first(&self) -> bool {
        let rest = &self.structure[self.front().len()..];
        ["%postname%", "%category%", "%tag%", "%author%"].iter().any(|tag| rest.starts_with(tag))
    }
}

fn base_or_default<'a>(custom: &'a str, default: &'a str, index: bool) -> (&'a str, bool) {
    if custom.is_empty() { (default, true) } else { (custom, index) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_structures() {
        for (structure, front, root, date, pages_first) in [
            ("/%postname%/", "/", "", "/%year%/%monthnum%/%day%", true),
            ("/%year%/%postname%", "/", "", "/%year%/%monthnum%/%day%", false),
            ("/archives/%post_id%", "/archives/", "", "/archives/date/%year%/%monthnum%/%day%", false),
            ("/index.php/%postname%", "/index.php/", "index.php/", "/index.php/%year%/%monthnum%/%day%", true),
            ("/%day%/%monthnum%/%year%/%postname%/", "/", "", "/%day%/%monthnum%/%year%", false),
            ("/a/%year%/%author%/%day%/%post_id%", "/a/", "", "/a/%year%/%monthnum%/%day%", false),
        ] {
            let p = Permalinks::new(structure);
            assert_eq!((p.front(), p.root(), &*p.date_structure(), p.pages_first()), (front, root, date, pages_first));
        }
        assert!(!Permalinks::default().is_pretty());
        assert_eq!(Permalinks::new("/%postname%/").end("/a"), "/a/");
    }
}
