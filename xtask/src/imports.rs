//! The imports of a crate: which of its source files use items that are defined in which others.
//!
//! The files are parsed, `use` declarations and paths are resolved within the crate, and re-exports are followed to the file
//! that defines the item. Code under `#[cfg(test)]` does not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Item, UseTree,
    visit::{self, Visit},
};

/// A module's path within its crate; empty for the crate root.
pub(crate) type ModulePath = Vec<String>;

/// The modules of a crate that are files, and the imports between them.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// By importing module: the modules that define what it imports.
    pub(crate) edges: BTreeMap<ModulePath, BTreeSet<ModulePath>>,
}

/// Depth at which a chain of re-exports counts as unresolvable.
const MAX_DEPTH: usize = 16;

impl Imports {
    /// Reads the crate with this `src` folder, beginning at `lib.rs`, or at `main.rs` if there is no library.
    pub(crate) fn of_crate(src: &Path) -> Result<Self> {
        let root = ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().find(|file| file.exists());
        let mut modules = Modules::default();
        if let Some(root) = root {
            modules.read(&root, src, &[])?;
        }
        Ok(modules.imports())
    }
}

/// The declarations and paths of one file or inline module.
#[derive(Default)]
struct Module {
    /// The module that is a file and contains this one: itself unless it is inline.
    file: ModulePath,
    /// Names of the items that are defined here.
    items: BTreeSet<String>,
    /// `use` declarations: the name in this module, and the path as written.
    uses: BTreeMap<String, Vec<String>>,
    /// Paths of `use …::*`.
    globs: Vec<Vec<String>>,
    /// Other paths that the code mentions.
    paths: BTreeSet<Vec<String>>,
}

#[derive(Default)]
struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    /// Reads a file and the files of its child modules.
    fn read(&mut self, file: &Path, folder: &Path, path: &[String]) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("cannot parse {}", file.display()))?;
        if is_test(&parsed.attrs) {
            return Ok(());
        }
        self.add(&parsed.items, path, path, folder)
    }

    fn add(&mut self, items: &[Item], path: &[String], file: &[String], folder: &Path) -> Result<()> {
        let mut module = Module { file: file.to_vec(), ..Module::default() };
        for item in items {
            let Item::Mod(child) = item else {
                module.visit_item(item);
                continue;
            };
            if is_test(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let child_path = [path, std::slice::from_ref(&name)].concat();
            let child_folder = folder.join(&name);
            match &child.content {
                Some((_, items)) => self.add(items, &child_path, file, &child_folder)?,
                None => {
                    let flat = folder.join(format!("{name}.rs"));
                    let file = if flat.exists() { flat } else { child_folder.join("mod.rs") };
                    self.read(&file, &child_folder, &child_path)?;
                }
            }
        }
        self.0.insert(path.to_vec(), module);
        Ok(())
    }

    fn imports(&self) -> Imports {
        let mut found = Imports::default();
        for (path, module) in &self.0 {
            for mentioned in module.uses.values().chain(&module.globs).chain(&module.paths) {
                if let Some(target) = self.definition(path, mentioned, 0)
                    && target != module.file
                {
                    found.edges.entry(module.file.clone()).or_default().insert(target);
                }
            }
        }
        found
    }

    /// The file that defines what this path means in a module; `None` for a module itself and for what is outside the crate.
    fn definition(&self, module: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let (mut at, mut rest) = self.first(module, path, depth)?;
        loop {
            let (name, after) = rest.split_first()?;
            let child = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.0.contains_key(&child) {
                (at, rest) = (child, after.to_vec());
                continue;
            }
            let here = self.0.get(&at)?;
            if here.items.contains(name) || depth > MAX_DEPTH {
                return Some(here.file.clone());
            }
            if let Some(used) = here.uses.get(name) {
                let whole = [used.as_slice(), after].concat();
                return self.definition(&at, &whole, depth + 1);
            }
            let by_glob = here.globs.iter().find_map(|glob| {
                let whole = [glob.as_slice(), &rest].concat();
                self.definition(&at, &whole, depth + 1)
            });
            return by_glob;
        }
    }

    /// The module that a path begins in, and the rest of the path.
    fn first(&self, module: &[String], path: &[String], depth: usize) -> Option<(ModulePath, Vec<String>)> {
        let (name, rest) = path.split_first()?;
        match name.as_str() {
            "crate" => Some((Vec::new(), rest.to_vec())),
            "self" => Some((module.to_vec(), rest.to_vec())),
            "super" => {
                let (_, parent) = module.split_last()?;
                let whole = if rest.first().is_some_and(|name| name == "super") {
                    rest.to_vec()
                } else {
                    [&["self".to_owned()], rest].concat()
                };
                self.first(parent, &whole, depth)
            }
            _ => {
                let here = self.0.get(module)?;
                let child = [module, std::slice::from_ref(name)].concat();
                if self.0.contains_key(&child) || here.items.contains(name) {
                    return Some((module.to_vec(), path.to_vec()));
                }
                let used = here.uses.get(name).filter(|_| depth <= MAX_DEPTH)?;
                // `use a::b;` and then `b::c`: the path begins where `b` is.
                if used.first() == Some(name) {
                    return None;
                }
                self.first(module, &[used.as_slice(), rest].concat(), depth + 1)
            }
        }
    }
}

impl Module {
    fn add_use(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(tree, before)),
            UseTree::Glob(_) => self.globs.push(before.to_vec()),
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = before.last() {
                    self.uses.insert(last.clone(), before.to_vec());
                }
            }
            UseTree::Name(name) => {
                self.uses.insert(name.ident.to_string(), with(&name.ident));
            }
            // `as _` imports a trait.
            UseTree::Rename(rename) => {
                self.uses.insert(format!("{} as {}", rename.rename, rename.ident), with(&rename.ident));
                self.uses.insert(rename.rename.to_string(), with(&rename.ident));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attrs, name) = match item {
            Item::Use(item) => {
                if !is_test(&item.attrs) {
                    self.add_use(&item.tree, &[]);
                }
                return;
            }
            Item::Const(i) => (&i.attrs, Some(&i.ident)),
            Item::Enum(i) => (&i.attrs, Some(&i.ident)),
            Item::Fn(i) => (&i.attrs, Some(&i.sig.ident)),
            Item::Static(i) => (&i.attrs, Some(&i.ident)),
            Item::Struct(i) => (&i.attrs, Some(&i.ident)),
            Item::Trait(i) => (&i.attrs, Some(&i.ident)),
            Item::Type(i) => (&i.attrs, Some(&i.ident)),
            Item::Macro(i) => (&i.attrs, i.ident.as_ref()),
            Item::Impl(i) => (&i.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_test(attrs) {
            return;
        }
        self.items.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_path(&mac.path);
        self.paths.extend(paths_of_tokens(mac.tokens.clone()));
    }
}

/// The paths of two and more names in the arguments of a macro, which are not parsed.
fn paths_of_tokens(tokens: TokenStream) -> Vec<Vec<String>> {
    let (mut found, mut current, mut colons) = (Vec::new(), Vec::new(), 0);
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                colons += 1;
                continue;
            }
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    found.push(std::mem::take(&mut current));
                }
                current.push(ident.to_string());
            }
            TokenTree::Group(group) => found.extend(paths_of_tokens(group.stream())),
            _ => found.push(std::mem::take(&mut current)),
        }
        colons = 0;
    }
    found.push(current);
    found.retain(|path| path.len() > 1);
    found
}

/// Whether the item exists in tests only.
fn is_test(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("cfg")
            && attr.parse_args::<TokenStream>().is_ok_and(|tokens| {
                let text = tokens.to_string();
                text == "test" || text.replace(' ', "").starts_with("all(test")
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files of a crate, and returns its imports as `a -> b c`.
    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let name = |path: &ModulePath| if path.is_empty() { "lib".to_owned() } else { path.join("/") };
        let found = Imports::of_crate(folder.path()).unwrap();
        let line = |(from, to): (&ModulePath, &BTreeSet<ModulePath>)| {
            format!("{} -> {}", name(from), to.iter().map(name).collect::<Vec<_>>().join(" "))
        };
        found.edges.iter().map(line).collect()
    }

    #[test]
    fn imports_end_at_the_file_that_defines_the_item() {
        let lib = "pub mod a; mod b; pub use b::{inner::Deep, Flat as Other};";
        let b = "pub(crate) mod inner; pub struct Flat;";
        for (source, expected) in [
            ("use crate::b::Flat;", &["a -> b"][..]),
            ("use crate::Other;", &["a -> b"]),
            ("use crate::Deep;", &["a -> b/inner"]),
            ("use super::b; fn f(_: b::inner::Deep) {}", &["a -> b/inner"]),
            ("fn f() { let _ = crate::b::Flat; }", &["a -> b"]),
            ("fn f() { println!(\"{:?}\", [crate::b::Flat]) }", &["a -> b"]),
            ("use crate::b::*;", &[]),
            ("use crate::b;", &[]),
            ("use std::fmt; use other::b::Flat;", &[]),
            ("#[cfg(test)] use crate::b::Flat; #[cfg(test)] mod tests { use crate::b::Flat; }", &[]),
        ] {
            let files = [("lib.rs", lib), ("a.rs", source), ("b/mod.rs", b), ("b/inner.rs", "pub struct Deep;")];
            let found: Vec<String> = imports(&files).into_iter().filter(|line| !line.starts_with("lib")).collect();
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn children_and_inline_modules_import_from_their_parent() {
        let lib = "mod a; struct Top; mod inline { use super::Top; use super::a::A; }";
        assert_eq!(imports(&[("lib.rs", lib), ("a.rs", "pub struct A; use super::Top;")]), ["lib -> a", "a -> lib"]);
    }
}
