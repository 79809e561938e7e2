//! The permalink structure of a site, and the structures that follow from it.

/// File name that stands in front of every pretty path where the web server cannot rewrite.
const INDEX: &str = "index.php";

/// The settings of a site that shape its addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permalinks {
    structure: String,
    category_base: String,
    tag_base: String,
}

impl Permalinks {
    /// Of a structure such as `/%year%/%monthnum%/%postname%/`; an empty one means plain addresses (`?p=1`).
    pub fn new(structure: impl Into<String>) -> Self {
        Permalinks { structure: structure.into(), ..Self::default() }
    }

    /// With other words than `category` and `tag` in the addresses of terms; empty ones keep the usual words.
    #[must_use]
    pub fn with_bases(mut self, category: &str, tag: &str) -> Self {
        self.category_base = category.trim_matches('/').to_owned();
        self.tag_base = tag.trim_matches('/').to_owned();
        self
    }

    /// Whether addresses have paths at all.
    pub fn is_pretty(&self) -> bool {
        !self.structure.is_empty()
    }

    /// The structure as set.
    pub fn structure(&self) -> &str {
        &self.structure
    }

    /// The segment that stands in front of all paths, if the structure begins with it.
    pub fn index_segment(&self) -> Option<&'static str> {
        self.structure.trim_start_matches('/').starts_with(INDEX).then_some(INDEX)
    }

    /// What stands before paths that do not follow the structure's own beginning: empty or `index.php/`.
    pub fn root(&self) -> &'static str {
        if self.index_segment().is_some() { "index.php/" } else { "" }
    }

    /// The fixed beginning of the structure: `/archives/` of `/archives/%post_id%`.
    pub fn front(&self) -> &str {
        self.structure.find('%').map_or("", |i| &self.structure[..i])
    }

    /// Whether paths end with a slash.
    pub fn has_trailing_slash(&self) -> bool {
        self.structure.ends_with('/')
    }

    /// The path with or without slash at its end, as the structure has it. Source: `user_trailingslashit`.
    pub fn end(&self, path: &str) -> String {
        if self.has_trailing_slash() {
            svc_text::trailing_slash(path)
        } else {
            svc_text::untrailing_slash(path).to_owned()
        }
    }

    /// Paths of a taxonomy or author begin so: front or root, then the base.
    pub(crate) fn based(&self, base: &str, with_front: bool) -> String {
        format!("{}{base}/", if with_front { self.front() } else { self.root() })
    }

    /// The base of categories, and whether it follows the front: one of your own does not.
    pub(crate) fn category_base(&self) -> (&str, bool) {
        own_or(&self.category_base, "category", self.index_segment().is_some())
    }

    /// As [`Self::category_base`], of tags.
    pub(crate) fn tag_base(&self) -> (&str, bool) {
        own_or(&self.tag_base, "tag", self.index_segment().is_some())
    }

    /// The structure of a day's archive, in the order in which the post structure names year, month and day.
    ///
    /// `date/` stands in front where a post id among the first three tags could be taken for a year.
    pub(crate) fn date_structure(&self) -> String {
        const ORDERS: [&str; 3] = ["%year%/%monthnum%/%day%", "%day%/%monthnum%/%year%", "%monthnum%/%day%/%year%"];
        let order = ORDERS.into_iter().find(|o| self.structure.contains(o)).unwrap_or(ORDERS[0]);
        let mut tags = self.structure.split('%').skip(1).step_by(2).take(3);
        let date = if tags.any(|tag| tag == "post_id") { "date/" } else { "" };
        format!("{}{date}{order}", self.front())
    }

    /// Whether a path could be that of a page as well as of a post, so that pages must be looked for first.
    ///
    /// So it is where the first tag stands for a word: name, category, tag or author.
    pub(crate) fn pages_first(&self) -> bool {
        let rest = &self.structure[self.front().len()..];
        ["%postname%", "%category%", "%tag%", "%author%"].iter().any(|tag| rest.starts_with(tag))
    }
}

fn own_or<'a>(own: &'a str, usual: &'a str, index: bool) -> (&'a str, bool) {
    if own.is_empty() { (usual, true) } else { (own, index) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures() {
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
