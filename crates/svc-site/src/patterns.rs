//! The block patterns of a site, and their expansion in content.

use serde_json::{Map, Value, json};
use svc_content::blocks::{self, Block, BlockTypes};

use crate::{ActiveTheme, Site, template_parts::add_theme};

pub use crate::registries::patterns::{PatternCategory, PatternRegistry};
pub use svc_packages::theme::Pattern;

/// Maximum nesting of patterns.
pub const MAX_DEPTH: usize = 16;

/// Maximum number of blocks that patterns may add to one content.
pub const MAX_BLOCKS: usize = 5_000;

/// The patterns of a site in the order of the REST API: registered by code, built-in, of the theme.
pub fn all<'a>(site: &'a Site, theme: &'a ActiveTheme) -> impl Iterator<Item = &'a Pattern> {
    site.registries.patterns.patterns().chain(theme.theme.iter().flat_map(|theme| &theme.patterns))
}

/// The pattern with this name.
pub fn find<'a>(site: &'a Site, theme: &'a ActiveTheme, name: &str) -> Option<&'a Pattern> {
    all(site, theme).find(|pattern| pattern.slug == name)
}

/// Expands the patterns in content; unknown ones are left as they are.
pub fn expand(site: &Site, theme: &ActiveTheme, content: &str) -> String {
    if !content.contains("wp:pattern") {
        return content.to_owned();
    }
    with_patterns(site, theme, blocks::parse(content))
}

/// The blocks of a pattern, as the REST API returns them.
pub fn editor_content(site: &Site, types: &BlockTypes, theme: &ActiveTheme, pattern: &Pattern) -> String {
    let mut parsed = blocks::parse(&pattern.content);
    add_theme(&mut parsed, &theme.name);
    types.hooks().content_to_edit(&with_patterns(site, theme, parsed), None)
}

/// Expands the patterns in blocks and serializes the result. Limited by [`MAX_DEPTH`] and [`MAX_BLOCKS`].
pub fn with_patterns(site: &Site, theme: &ActiveTheme, blocks: Vec<Block<'_>>) -> String {
    let mut left = MAX_BLOCKS;
    let blocks = expand_blocks(site, theme, blocks, &mut Vec::new(), &mut left);
    blocks::serialize_blocks(&blocks)
}

/// `open` contains the names of the enclosing patterns, to prevent recursion.
pub(crate) fn expand_blocks<'a>(
    site: &'a Site,
    theme: &'a ActiveTheme,
    blocks: Vec<Block<'a>>,
    open: &mut Vec<String>,
    left: &mut usize,
) -> Vec<Block<'a>> {
    let mut out = Vec::with_capacity(blocks.len());
    for mut block in blocks {
        if let Some(inner) = named_pattern(site, theme, &block, open) {
            let mut parsed = blocks::parse(inner.content.trim());
            add_theme(&mut parsed, &theme.name);
            if parsed.len() <= *left && open.len() < MAX_DEPTH {
                *left -= parsed.len();
                // A single block gets the pattern's metadata, so that the editor can show its name.
                if let [root] = parsed.as_mut_slice() {
                    name_root(root, inner);
                }
                open.push(inner.slug.clone());
                out.extend(expand_blocks(site, theme, parsed, open, left));
                open.pop();
                continue;
            }
        }
        expand_inside(site, theme, &mut block, open, left);
        out.push(block);
    }
    out
}

/// The pattern that a block references, unless it is already open.
pub(crate) fn named_pattern<'a>(
    site: &'a Site,
    theme: &'a ActiveTheme,
    block: &Block<'_>,
    open: &[String],
) -> Option<&'a Pattern> {
    let slug =
        block.attrs.get("slug").and_then(Value::as_str).filter(|_| block.name.as_deref() == Some("core/pattern"))?;
    find(site, theme, slug).filter(|_| open.iter().all(|name| name != slug))
}

/// Expands the inner blocks of a block; one block may be replaced by several.
pub(crate) fn expand_inside<'a>(
    site: &'a Site,
    theme: &'a ActiveTheme,
    block: &mut Block<'a>,
    open: &mut Vec<String>,
    left: &mut usize,
) {
    let mut inner = std::mem::take(&mut block.inner_blocks).into_iter();
    let mut content = Vec::with_capacity(block.inner_content.len());
    for chunk in std::mem::take(&mut block.inner_content) {
        match chunk {
            Some(text) => content.push(Some(text)),
            None => {
                let Some(one) = inner.next() else { continue };
                let many = expand_blocks(site, theme, vec![one], open, left);
                content.extend(many.iter().map(|_| None));
                block.inner_blocks.extend(many);
            }
        }
    }
    block.inner_content = content;
}

/// Adds the pattern's name, title and categories to the metadata of a block.
pub(crate) fn name_root(root: &mut Block<'_>, pattern: &Pattern) {
    let metadata = root.attrs.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Some(metadata) = metadata.as_object_mut() else { return };
    metadata.insert("patternName".to_owned(), pattern.slug.as_str().into());
    metadata.insert("name".to_owned(), pattern.title.as_str().into());
    if let Some(description) = pattern.description.as_ref().filter(|d| !d.is_empty()) {
        metadata.insert("description".to_owned(), description.as_str().into());
    }
    if !pattern.categories.is_empty() {
        metadata.insert("categories".to_owned(), json!(pattern.categories));
    }
}
