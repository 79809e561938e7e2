//! Shortcodes and blocks that only another program renders.

use std::collections::BTreeSet;

use svc_content::blocks::BlockTypes;

/// Names of shortcodes and blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    shortcodes: BTreeSet<String>,
    blocks: BTreeSet<String>,
}

/// Characters that end the name of a shortcode.
const AFTER_SHORTCODE: [char; 9] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}', '/', ']', '['];

impl Markup {
    /// The shortcodes, and those of the blocks that this program does not know.
    pub fn new(shortcodes: impl IntoIterator<Item = String>, dynamic_blocks: impl IntoIterator<Item = String>) -> Self {
        let blocks = dynamic_blocks.into_iter().filter(|name| BlockTypes::core().get(name).is_none()).collect();
        Markup { shortcodes: shortcodes.into_iter().collect(), blocks }
    }

    /// Whether a stored text may contain the markup.
    pub fn is_in(&self, text: &str) -> bool {
        self.has_block(text) || self.has_shortcode(text)
    }

    /// Whether a stored text or HTML may contain one of the shortcodes.
    pub fn has_shortcode(&self, text: &str) -> bool {
        !self.shortcodes.is_empty()
            && text.split('[').skip(1).any(|rest| {
                let name = rest.split(AFTER_SHORTCODE).next().unwrap_or_default();
                // A name ends where no known one continues: `[tag="1"]`.
                self.shortcodes.contains(name)
                    || name
                        .find(['=', '"', '\'', '<', '>', '&'])
                        .is_some_and(|end| self.shortcodes.contains(&name[..end]))
            })
    }

    /// Whether a stored text may contain one of the blocks.
    pub fn has_block(&self, text: &str) -> bool {
        !self.blocks.is_empty()
            && text.split("<!-- wp:").skip(1).any(|rest| {
                let name = rest.split([' ', '\t', '\n', '\r']).next().unwrap_or_default();
                match name.contains('/') {
                    true => self.blocks.contains(name),
                    false => self.blocks.contains(&format!("core/{name}")),
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_found_where_it_may_be_rendered() {
        let markup = Markup::new(
            ["map".to_owned(), "my-form".to_owned()],
            [
                "shop/cart".to_owned(),
                "core/latest-posts".to_owned(),
                "core/image".to_owned(),
                "core/of-tomorrow".to_owned(),
            ],
        );
        for text in [
            "[map]",
            "a [map id=1] b",
            "[[map]]",
            "<p title=\"[my-form/]\">",
            "[map\n]",
            "[map=\"1\"]",
            "<!-- wp:shop/cart /-->",
            "<!-- wp:paragraph -->x<!-- /wp:paragraph --><!-- wp:of-tomorrow {\"a\":1} /-->",
        ] {
            assert!(markup.is_in(text), "{text}");
        }
        for text in [
            "map",
            "[maps]",
            "[ map]",
            "[gallery]",
            "<!-- wp:latest-posts /--><!-- wp:image -->",
            "<!-- wp:shop/basket /-->",
            "",
        ] {
            assert!(!markup.is_in(text), "{text}");
        }
        assert!(!Markup::default().is_in("[map]<!-- wp:shop/cart /-->"));
    }
}
