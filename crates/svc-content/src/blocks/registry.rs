//! The block types of a site.
//!
//! The core types are in `core.json`, in the format of `block.json` files with one more property: `dynamic`.

use std::sync::{Arc, LazyLock, OnceLock};

use indexmap::IndexMap;
use serde_json::Value;

use super::{BlockHooks, BlockType};

/// The block types of a site, in the order of the REST API: types registered by code, core types, types of plugins
/// and themes.
#[derive(Clone, Debug)]
pub struct BlockTypes {
    by_name: IndexMap<String, Arc<BlockType>>,
    /// Computed on first use.
    hooks: OnceLock<BlockHooks>,
}

static CORE: LazyLock<BlockTypes> = LazyLock::new(|| {
    let files: Vec<Value> = serde_json::from_str(include_str!("core.json")).unwrap_or_default();
    let types = files.iter().filter_map(BlockType::from_json);
    let by_name = types.map(|block_type| (block_type.name.clone(), Arc::new(block_type))).collect();
    BlockTypes { by_name, hooks: OnceLock::new() }
});

impl BlockTypes {
    /// The core block types.
    pub fn core() -> &'static Self {
        &CORE
    }

    /// Registers a block type before the core types, replacing one of the same name.
    pub fn register(&mut self, block_type: BlockType) {
        self.hooks.take();
        let position = self.by_name.keys().take_while(|name| !name.starts_with("core/")).count();
        match self.by_name.get_mut(&block_type.name) {
            Some(existing) => *existing = Arc::new(block_type),
            None => {
                self.by_name.shift_insert(position, block_type.name.clone(), Arc::new(block_type));
            }
        }
    }

    /// Adds a block type from a file, unless the name exists.
    pub fn register_from_file(&mut self, block_type: BlockType) {
        self.hooks.take();
        self.by_name.entry(block_type.name.clone()).or_insert_with(|| Arc::new(block_type));
    }

    /// Changes a registered type, for example by adding a style.
    pub fn change(&mut self, name: &str, change: impl FnOnce(&mut BlockType)) {
        self.hooks.take();
        if let Some(existing) = self.by_name.get_mut(name) {
            change(Arc::make_mut(existing));
        }
    }

    /// The block type with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<BlockType>> {
        self.by_name.get(name)
    }

    /// The hooked blocks of these types.
    pub fn hooks(&self) -> &BlockHooks {
        self.hooks.get_or_init(|| BlockHooks::of(self.by_name.values().map(AsRef::as_ref)))
    }

    /// All block types, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<BlockType>> {
        self.by_name.values()
    }
}

impl Default for BlockTypes {
    fn default() -> Self {
        CORE.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_core_types_are_parsed() {
        let types = BlockTypes::core();
        assert_eq!(types.iter().count(), include_str!("core.json").matches("\n  \"name\": ").count());
        for block_type in types.iter() {
            assert!(!block_type.description.is_empty(), "{}", block_type.name);
            let from_supports = ["lock", "metadata"].iter().all(|name| block_type.attributes.contains_key(*name));
            assert!(from_supports, "{}", block_type.name);
        }
    }

    #[test]
    fn types_registered_by_code_come_first_and_files_last() {
        let mut types = BlockTypes::default();
        types.register(BlockType::new("a/one", "One"));
        types.register(BlockType::new("a/two", "Two"));
        types.register_from_file(BlockType::new("b/three", "Three"));
        types.register_from_file(BlockType::new("a/one", "Not this"));
        let names: Vec<&str> = types.iter().map(|t| t.name.as_str()).collect();
        assert_eq!((&names[..2], names.last().copied()), (&["a/one", "a/two"][..], Some("b/three")));
        assert_eq!(types.get("a/one").unwrap().title, "One");
    }
}
