//! The kinds of widgets that every site has.

mod content;
mod lists;
mod media;
mod menu;
mod plain;
mod simple;

use super::WidgetKinds;

/// Registers them all.
pub(super) fn register(all: &mut WidgetKinds) {
    all.register(content::Block);
    all.register(content::Text);
    all.register(content::CustomHtml);
    for kind in [lists::KINDS.as_slice(), plain::KINDS.as_slice(), media::KINDS.as_slice(), &[menu::KIND]].concat() {
        all.register(kind);
    }
}
