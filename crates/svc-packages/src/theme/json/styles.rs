//! The properties that styles of the page, of blocks, elements and variations can have.

use serde_json::{Map, Value};

use super::{
    resolve, retain_properties,
    tables::{BLOCK_STATES, CLASS_STATES, DEFAULT_WIDTHS, ELEMENT_STATES, ELEMENTS, STYLES},
    viewport,
};

/// Kind of object that styles belong to, which determines the valid properties. Blocks and elements have their name; it is
/// empty for variations of several blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StyleNode<'a> {
    Page,
    Block(&'a str),
    /// A variation of a block.
    Variation(&'a str),
    /// A block inside a variation.
    InnerBlock(&'a str),
    /// A block on small screens.
    BlockAtWidth(&'a str),
    VariationAtWidth(&'a str),
    InnerBlockAtWidth(&'a str),
    Element(&'a str),
    /// A state of a block that is a class.
    ClassState(&'a str),
    /// An element on small screens, or a pseudo-class: nothing is nested in it.
    Leaf,
}

/// What a property that is no style contains.
pub(super) enum Nested<'a> {
    /// Styles.
    One(StyleNode<'a>),
    /// Styles by name; [`StyleNode::member`] returns their kind.
    Named,
}

impl<'a> StyleNode<'a> {
    /// What the property `name` contains; `None` if it is unknown. `widths` are the names of the small screens.
    pub(super) fn nested(self, name: &str, widths: &[&str]) -> Option<Nested<'a>> {
        use Nested::{Named, One};
        use StyleNode::{
            Block, BlockAtWidth, ClassState, Element, InnerBlock, InnerBlockAtWidth, Leaf, Page, Variation,
            VariationAtWidth,
        };
        let is_width = widths.contains(&name);
        let has = |table: &[(&str, &[&str])], owner: &str| {
            table.iter().any(|(known, states)| (owner.is_empty() || *known == owner) && states.contains(&name))
        };
        Some(match (self, name) {
            (Page | Variation(_) | VariationAtWidth(_), "blocks") | (Page | Block(_), "variations") => Named,
            (Element(_) | ClassState(_) | Leaf, "elements") => return None,
            (_, "elements") => Named,
            (Block(block), _) if is_width => One(BlockAtWidth(block)),
            (Variation(block), _) if is_width => One(VariationAtWidth(block)),
            (InnerBlock(block), _) if is_width => One(InnerBlockAtWidth(block)),
            (Element(_), _) if is_width => One(Leaf),
            (Element(element), _) if has(ELEMENT_STATES, element) => One(Leaf),
            (Block(block) | InnerBlock(block), _) if has(CLASS_STATES, block) => One(ClassState(block)),
            (
                Block(block)
                | Variation(block)
                | InnerBlock(block)
                | BlockAtWidth(block)
                | VariationAtWidth(block)
                | InnerBlockAtWidth(block)
                | ClassState(block),
                _,
            ) if has(BLOCK_STATES, block) => One(Leaf),
            _ => return None,
        })
    }

    /// The kind of the styles named `member` in the property `group`.
    pub(super) fn member(self, group: &str, member: &'a str) -> Self {
        match (self, group) {
            (_, "elements") => StyleNode::Element(member),
            (StyleNode::Block(block), "variations") => StyleNode::Variation(block),
            // Variations in the page's styles apply to all blocks with a variation of that name.
            (_, "variations") => StyleNode::Variation(""),
            (StyleNode::Page, _) => StyleNode::Block(member),
            _ => StyleNode::InnerBlock(member),
        }
    }
}

/// The properties with styles for small screens, which depend on the setting `viewport`.
pub(super) fn widths(settings: Option<&Value>) -> Vec<&'static str> {
    let widths = viewport(settings.map_or(&Value::Null, |settings| &settings["viewport"]));
    let names = DEFAULT_WIDTHS.map(|(name, _)| name).into_iter().zip(["@mobile", "@tablet"]);
    names.filter(|(name, _)| widths.get(name).is_some()).map(|(_, property)| property).collect()
}

/// Drops unknown styles and expands references to presets. `is_block` decides which names are blocks.
pub(super) fn clean(
    styles: &mut Map<String, Value>,
    node: StyleNode<'_>,
    widths: &[&str],
    is_block: &dyn Fn(&str) -> bool,
) {
    styles.retain(|name, value| {
        if let Some((_, members)) = STYLES.iter().find(|(known, _)| known == name) {
            if !members.is_empty() && !retain_properties(value, members) {
                return false;
            }
            resolve(value, 0);
            return true;
        }
        let Some(nested) = node.nested(name, widths) else { return false };
        let Some(members) = value.as_object_mut() else { return false };
        match nested {
            Nested::One(child) => clean(members, child, widths, is_block),
            Nested::Named => members.retain(|member, value| {
                let is_known = match name.as_str() {
                    "elements" => ELEMENTS.iter().any(|(known, _)| known == member),
                    "blocks" => is_block(member),
                    _ => true,
                };
                let Some(styles) = value.as_object_mut().filter(|_| is_known) else { return false };
                clean(styles, node.member(name, member), widths, is_block);
                !styles.is_empty()
            }),
        }
        !members.is_empty()
    });
}
