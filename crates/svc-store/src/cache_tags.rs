//! Cache tags: the names of what a response depends on, for caches in front of the server, and those of what a change invalidates.
//!
//! Tags are the names of [keys](svc_versions::Key): a response has the tags of the keys that it depends on, and a change has those of the
//! keys that it changes. So whatever makes a stored response invalid in this process has a tag that the response has, too.
//!
//! | tag | responses with it |
//! |---|---|
//! | `post-12`, `term-5`, `user-3`, `comment-9` | show the object: its row, meta or terms |
//! | `list-page` | list posts of the type |
//! | `posts`, `terms`, `post-meta` … | depend on all such rows, or on too many to name |
//! | `post-0`, `term-0` … | depend on some of them; purged when it is not known which have changed |

use std::collections::{BTreeMap, BTreeSet, HashMap};

use svc_db::{LoggedChange, Object, Part, Rows};
use svc_versions::{Dependencies, Key};

use crate::{descriptions::meta_keys, post_changes::PostClass, rows, state::is_trace_of_user};

/// Maximum number of tags of a response.
pub const MAX_TAGS: usize = 100;

/// Maximum length of the tags of a response, with separators, in bytes.
pub const MAX_BYTES: usize = 4_000;

/// The families of keys, with the names of their rows and of all of them. Rows of one object share a name.
const FAMILIES: [(Rows, &str, &str); 14] = [
    (rows::POSTS, "post", "posts"),
    (rows::POST_META, "post", "post-meta"),
    (rows::POST_TERMS, "post", "post-terms"),
    (rows::REVISIONS, "revisions", "revisions"),
    (rows::TERMS, "term", "terms"),
    (rows::TERM_META, "term", "term-meta"),
    (rows::TERM_COUNTS, "count", "counts"),
    (rows::USERS, "user", "users"),
    (rows::USER_META, "user", "user-meta"),
    (rows::COMMENTS, "comment", "comments"),
    (rows::COMMENT_META, "comment", "comment-meta"),
    (rows::OPTIONS, "option", "options"),
    (rows::LINKS, "link", "links"),
    (rows::POST_LISTS, "list", "lists"),
];

/// Post meta that no visitor sees any trace of: who is editing.
const INTERNAL_POST_META: [&str; 2] = ["_edit_lock", "_edit_last"];

/// Names tags.
#[derive(Clone, Debug, Default)]
pub struct TagNames {
    /// The names of post types, by the member of the family of lists.
    types: HashMap<u64, String>,
}

impl TagNames {
    /// The names on a site with these post types. The lists of other types are named by a hash.
    pub fn new<'a>(post_types: impl IntoIterator<Item = &'a str>) -> Self {
        let member = |name: &str| match rows::POST_LISTS.part(rows::post_lists(name)) {
            Some(Part::Of(member)) => Some((member, name.to_ascii_lowercase())),
            _ => None,
        };
        TagNames { types: post_types.into_iter().filter_map(member).collect() }
    }

    fn tag(&self, (rows, row, all): &(Rows, &str, &str), part: Part) -> String {
        match part {
            Part::Any => (*all).to_owned(),
            Part::Unknown => format!("{row}-0"),
            Part::Of(member) if *rows == rows::POST_LISTS => match self.types.get(&member) {
                Some(name) => format!("{row}-{name}"),
                None => format!("{row}-{member:x}"),
            },
            Part::Of(id) => format!("{row}-{id}"),
        }
    }

    /// The tags of a response with these dependencies, at most [`MAX_TAGS`] and [`MAX_BYTES`]. Of the objects of which there are too
    /// many, it has the tag of all of them.
    pub fn of_response(&self, dependencies: &Dependencies) -> Vec<String> {
        let mut parts: BTreeMap<usize, BTreeSet<Part>> = BTreeMap::new();
        for key in dependencies.keys() {
            if let Some((family, part)) = part_of(*key) {
                parts.entry(family).or_default().insert(part);
            }
        }
        for family in parts.values_mut() {
            collapse(family, |family| family.contains(&Part::Any));
        }
        loop {
            let of_family = |(family, parts): (&usize, &BTreeSet<Part>)| -> Vec<String> {
                parts.iter().map(|part| self.tag(&FAMILIES[*family], *part)).collect()
            };
            let tags: BTreeSet<String> = parts.iter().flat_map(of_family).collect();
            let bytes: usize = tags.iter().map(|tag| tag.len() + 1).sum();
            if tags.len() <= MAX_TAGS && bytes <= MAX_BYTES {
                return tags.into_iter().collect();
            }
            // The family with the most rows. With one tag per family, there are few enough.
            let Some(largest) = parts.values_mut().max_by_key(|parts| parts.len()) else { return Vec::new() };
            collapse(largest, |_| true);
        }
    }

    /// The tags of what a change invalidates.
    pub fn of_change(&self, change: &LoggedChange) -> BTreeSet<String> {
        self.of_changed(&Changed {
            kind: &change.kind,
            object: change.object.as_ref(),
            before: change.before.as_deref(),
            after: change.after.as_deref(),
        })
    }

    fn of_changed(&self, changed: &Changed<'_>) -> BTreeSet<String> {
        let tag = |key: Key| {
            let (family, part) = part_of(key)?;
            Some(self.tag(&FAMILIES[family], part))
        };
        changed.keys().into_iter().filter_map(tag).collect()
    }

    /// The tags of all changes: one of them is on every response that has any.
    pub fn all() -> BTreeSet<String> {
        let of_family = |(_, row, all): (Rows, &str, &str)| [format!("{row}-0"), all.to_owned()];
        FAMILIES.into_iter().flat_map(of_family).collect()
    }
}

/// Replaces the parts of a family by the one that changes with all of them.
fn collapse(parts: &mut BTreeSet<Part>, is_due: impl Fn(&BTreeSet<Part>) -> bool) {
    if is_due(parts) {
        *parts = BTreeSet::from([Part::Any]);
    }
}

/// What a key stands for: the index of the family, and the part. `None` if it is not of the database.
fn part_of(key: Key) -> Option<(usize, Part)> {
    FAMILIES.iter().enumerate().find_map(|(at, (rows, ..))| Some((at, rows.part(key)?)))
}

/// A change of the log.
struct Changed<'a> {
    /// The name of the rows.
    kind: &'a str,
    object: Option<&'a Object>,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

impl Changed<'_> {
    /// The keys that it has changed.
    fn keys(&self) -> Vec<Key> {
        let Some((rows, ..)) = FAMILIES.into_iter().find(|(rows, ..)| rows.name() == self.kind) else {
            return Vec::new();
        };
        let mut keys: Vec<Key> = match self.object {
            Some(_) if self.is_internal(rows) => return Vec::new(),
            Some(Object::Id(id)) => rows.changed(&[*id]).collect(),
            Some(Object::Name(_)) | None => rows.all_changed().into(),
        };
        if rows == rows::POSTS {
            for class in self.descriptions().filter_map(PostClass::from_text) {
                keys.extend([rows::post_lists(&class.post_type), rows::POST_LISTS.any()]);
            }
        }
        if rows == rows::REVISIONS {
            // They are posts themselves.
            keys.extend([rows::POSTS.any(), rows::post_lists("revision"), rows::POST_LISTS.any()]);
        }
        keys
    }

    fn descriptions(&self) -> impl Iterator<Item = &str> {
        [self.before, self.after].into_iter().flatten()
    }

    /// Whether no visitor sees any trace of it.
    fn is_internal(&self, rows: Rows) -> bool {
        if let (rows::OPTIONS, Some(Object::Name(name))) = (rows, self.object) {
            let is_transient = ["_transient_", "_site_transient_"].iter().any(|start| name.starts_with(start));
            return is_transient || name == "cron" || name.ends_with("_children");
        }
        let is_internal = match rows {
            rows::POST_META => |key: &str| INTERNAL_POST_META.contains(&key),
            rows::USER_META => is_trace_of_user,
            _ => return false,
        };
        let mut keys = self.descriptions().flat_map(meta_keys).peekable();
        keys.peek().is_some() && keys.all(is_internal)
    }
}

#[cfg(test)]
mod tests {
    use svc_versions::Context;

    use super::*;

    fn depending(record: impl FnOnce(&Context)) -> Dependencies {
        let cx = Context::background();
        cx.capture(|| record(&cx)).1
    }

    fn names() -> TagNames {
        TagNames::new(["post", "page", "revision"])
    }

    fn of_change(kind: Rows, object: Option<Object>, before: Option<&str>, after: Option<&str>) -> Vec<String> {
        let changed = Changed { kind: kind.name(), object: object.as_ref(), before, after };
        names().of_changed(&changed).into_iter().collect()
    }

    #[test]
    fn families_differ() {
        let families: BTreeSet<u16> = FAMILIES.iter().map(|(rows, ..)| rows.family()).collect();
        assert_eq!(families.len(), FAMILIES.len());
        assert!(2 * FAMILIES.len() <= MAX_TAGS, "collapsed, every response has few enough");
    }

    #[test]
    fn responses_have_the_tags_of_their_dependencies() {
        let of = depending(|cx| {
            rows::POSTS.depend_on(cx, [12]);
            rows::POST_META.depend_on(cx, [12]);
            rows::USERS.depend_on(cx, [3]);
            rows::OPTIONS.depend_on_all(cx);
            rows::OPTIONS.depend_on(cx, [4]);
            cx.depends_on_all([rows::post_lists("Page"), Key::of(&"a file")]);
        });
        assert_eq!(names().of_response(&of), ["list-page", "options", "post-0", "post-12", "user-0", "user-3"]);
    }

    #[test]
    fn too_many_rows_have_the_tag_that_all_changes_have() {
        let of = depending(|cx| {
            rows::POSTS.depend_on(cx, 1_000_000_000..1_000_000_090);
            rows::TERMS.depend_on(cx, 1..30);
        });
        let tags = names().of_response(&of);
        assert!(tags.contains(&"posts".to_owned()) && tags.contains(&"term-7".to_owned()) && tags.len() == 31);
        let changed = of_change(rows::POSTS, Some(Object::Id(1_000_000_007)), None, None);
        assert!(changed.contains(&"posts".to_owned()));
    }

    #[test]
    fn changes_have_the_tags_of_what_depends_on_them() {
        let (id, name) = (|id| Some(Object::Id(id)), |name: &str| Some(Object::Name(name.to_owned())));
        let class = Some("1,publish,post,0");
        assert_eq!(of_change(rows::POSTS, id(5), class, class), ["list-post", "lists", "post-5", "posts"]);
        assert_eq!(of_change(rows::POSTS, id(5), None, None), ["post-5", "posts"]);
        assert_eq!(of_change(rows::POSTS, None, None, None), ["post-0", "posts"]);
        assert_eq!(of_change(rows::POST_META, id(5), None, Some("isbn\n")), ["post-5", "post-meta"]);
        assert_eq!(of_change(rows::POST_META, id(5), None, Some("")), ["post-5", "post-meta"]);
        assert_eq!(of_change(rows::POST_META, id(5), None, Some("_edit_lock\n_edit_last\n")), [] as [&str; 0]);
        assert_eq!(of_change(rows::USER_META, id(1), None, Some("session_tokens\n")), [] as [&str; 0]);
        assert_eq!(of_change(rows::OPTIONS, name("blogname"), None, None), ["option-0", "options"]);
        assert_eq!(of_change(rows::OPTIONS, name("_transient_x"), None, None), [] as [&str; 0]);
        let of_revision = of_change(rows::REVISIONS, id(5), None, None);
        assert_eq!(of_revision, ["list-revision", "lists", "posts", "revisions", "revisions-5"]);
        assert!(of_change(Rows::named("outbox"), id(1), None, None).is_empty());
    }

    #[test]
    fn every_response_with_tags_has_one_of_those_of_everything() {
        let all = TagNames::all();
        for (rows, ..) in FAMILIES {
            for of in [depending(|cx| rows.depend_on(cx, [1])), depending(|cx| rows.depend_on_all(cx))] {
                assert!(names().of_response(&of).iter().any(|tag| all.contains(tag)), "{}", rows.name());
            }
        }
    }
}
