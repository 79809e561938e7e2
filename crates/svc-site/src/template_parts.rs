//! The attribute `theme` of template part blocks, which names the theme that a part belongs to.

use svc_content::blocks::{self, Block};

/// Adds the attribute `theme` to template part blocks without one. Other content is not changed.
pub(crate) fn with_theme(content: &str, theme: &str) -> String {
    if !content.contains("template-part") {
        return content.to_owned();
    }
    let mut blocks = blocks::parse(content);
    add_theme(&mut blocks, theme);
    blocks::serialize_blocks(&blocks)
}

/// Adds the attribute `theme` to template part blocks without one.
pub(crate) fn add_theme(blocks: &mut [Block<'_>], theme: &str) {
    for block in blocks {
        if block.name.as_deref() == Some("core/template-part") && !block.attrs.contains_key("theme") {
            block.attrs.insert("theme".to_owned(), theme.into());
        }
        add_theme(&mut block.inner_blocks, theme);
    }
}

/// Removes the attribute `theme` from template part blocks, as in theme files.
pub fn without_theme(content: &str) -> String {
    let mut blocks = blocks::parse(content);
    remove_theme(&mut blocks);
    blocks::serialize_blocks(&blocks)
}

fn remove_theme(blocks: &mut [Block<'_>]) {
    for block in blocks {
        if block.name.as_deref() == Some("core/template-part") {
            block.attrs.shift_remove("theme");
        }
        remove_theme(&mut block.inner_blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_parts_of_a_file_get_the_theme_attribute() {
        let content = "<!-- wp:group --><div><!-- wp:template-part {\"slug\":\"a\"} /--></div><!-- /wp:group -->\n<!-- wp:template-part {\"slug\":\"b\",\"theme\":\"x\"} /-->";
        let expected = "<!-- wp:group --><div><!-- wp:template-part {\"slug\":\"a\",\"theme\":\"t\"} /--></div><!-- /wp:group -->\n<!-- wp:template-part {\"slug\":\"b\",\"theme\":\"x\"} /-->";
        assert_eq!(with_theme(content, "t"), expected);
        assert_eq!(without_theme(expected), content.replace(",\"theme\":\"x\"", ""));
    }
}
