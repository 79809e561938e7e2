//! Validators of responses (RFC 9110, section 8.8) and the entity tags in conditional headers.

/// The state of the object that a response represents. The HTTP service derives `ETag` and `Last-Modified` from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// Identifies the stored state of the object, in any representation. Letters and digits only. It is the first part
    /// of the entity tag, before a hyphen.
    pub state: Option<String>,
    /// When the object was last changed, in seconds since the epoch.
    pub modified: Option<i64>,
}

/// An entity tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag {
    /// Whether the tag is weak (`W/"…"`).
    pub weak: bool,
    /// The text between the quotes.
    pub opaque: String,
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityTags {
    /// `*`: any current representation.
    Any,
    /// These tags.
    List(Vec<EntityTag>),
}

/// Maximum number of tags per header. Further ones are ignored.
const MAX_TAGS: usize = 100;

impl EntityTags {
    /// Parses the value of a header. Anything that is not an entity tag is ignored.
    ///
    /// ```
    /// use svc_routing::EntityTags;
    /// let tags = EntityTags::parse(r#"W/"a", "b,c", d"#);
    /// assert!(tags.contains_weak("a") && tags.contains_weak("b,c") && !tags.contains_weak("d"));
    /// assert_eq!(EntityTags::parse(" * "), EntityTags::Any);
    /// ```
    pub fn parse(value: &str) -> Self {
        if value.trim() == "*" {
            return EntityTags::Any;
        }
        let (mut tags, mut rest) = (Vec::new(), value);
        while tags.len() < MAX_TAGS {
            rest = rest.trim_start_matches([',', ' ', '\t']);
            let weak = rest.starts_with("W/");
            let quoted = if weak { &rest[2..] } else { rest };
            match quoted.strip_prefix('"').and_then(|text| text.split_once('"')) {
                Some((opaque, after)) => {
                    tags.push(EntityTag { weak, opaque: opaque.to_owned() });
                    rest = after;
                }
                None => match rest.split_once(',') {
                    Some((_, after)) => rest = after,
                    None => break,
                },
            }
        }
        EntityTags::List(tags)
    }

    /// Whether a tag with this text is listed, weak or strong (RFC 9110, weak comparison).
    pub fn contains_weak(&self, opaque: &str) -> bool {
        match self {
            EntityTags::Any => true,
            EntityTags::List(tags) => tags.iter().any(|tag| tag.opaque == opaque),
        }
    }

    /// Whether the header names this state of an object: the [first part](Validators::state) of one of its strong tags.
    pub fn names_state(&self, state: &str) -> bool {
        let is_named = |tag: &EntityTag| !tag.weak && tag.opaque.split('-').next() == Some(state);
        match self {
            EntityTags::Any => true,
            EntityTags::List(tags) => tags.iter().any(is_named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_parsed_and_compared() {
        #[rustfmt::skip]
        let rows = [
            // header, text, weakly listed, state, named
            (r#""s-r""#, "s-r", true, "s", true),
            (r#"W/"s-r""#, "s-r", true, "s", false),
            (r#""s-r-gzip""#, "s-r", false, "s", true),
            (r#""x", "s-r""#, "s-r", true, "s", true),
            (r#""x" , W/"s-r" "#, "s-r", true, "s", false),
            (r#",, "s-r",,"#, "s-r", true, "s", true),
            (r#"junk, "s-r""#, "s-r", true, "s", true),
            (r#""s"#, "s", false, "s", false),
            (r#""""#, "", true, "s", false),
            ("", "", false, "", false),
            ("*", "s-r", true, "s", true),
            (r#""*""#, "s-r", false, "s", false),
            (r#"w/"s-r""#, "s-r", false, "s", false),
        ];
        for (header, text, listed, state, named) in rows {
            let tags = EntityTags::parse(header);
            assert_eq!((tags.contains_weak(text), tags.names_state(state)), (listed, named), "{header}");
        }
    }

    #[test]
    fn the_number_of_tags_is_bounded() {
        let EntityTags::List(tags) = EntityTags::parse(&r#""a","#.repeat(10_000)) else { panic!("a list") };
        assert_eq!(tags.len(), MAX_TAGS);
    }
}
