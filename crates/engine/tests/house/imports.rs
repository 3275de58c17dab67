//! The imports between the files of a crate.

use std::fmt;

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, ItemFn, ItemImpl, ItemMod, ItemUse, Path, UseTree, Visibility};

use crate::tree::Tree;

/// One place where a file uses something of another file.
pub(crate) struct Import {
    /// The module that imports, such as `search/job/bind`.
    pub(crate) from: String,
    /// The module that defines what is imported.
    pub(crate) to: String,
    /// File and line.
    place: String,
    path: String,
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} uses {} ({} -> {})",
            self.place, self.path, self.from, self.to
        )
    }
}

/// A name that a `use` imports, with its full path.
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) path: Vec<String>,
    span: Span,
}

/// Every import between two files of the tree. A re-export in a `mod.rs` does not count as an import.
pub(crate) fn of(tree: &Tree) -> Vec<Import> {
    let mut imports = Vec::new();
    for (module, file) in &tree.files {
        let is_face = file.path.ends_with("mod.rs") || file.path.ends_with("lib.rs");
        let mut paths = Paths {
            is_face,
            found: Vec::new(),
        };
        paths.visit_file(&file.syntax);
        for (path, span) in paths.found {
            let target = tree
                .absolute(module, &path)
                .and_then(|path| tree.definition(&path));
            if let Some(to) = target.filter(|to| to != module) {
                let line = span.start().line;
                imports.push(Import {
                    from: module.clone(),
                    to,
                    place: format!("{}:{line}", file.path.display()),
                    path: path.join("::"),
                });
            }
        }
    }
    imports
}

/// Whether an item is compiled for tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|name| name == "test")
    })
}

/// The names that a `use` imports.
pub(crate) fn leaves(tree: &UseTree) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(tree, &mut Vec::new(), &mut found);
    found
}

fn collect(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<Leaf>) {
    let mut leaf = |name: &syn::Ident, last: Option<&syn::Ident>| {
        let mut path = before.clone();
        path.extend(last.filter(|last| *last != "self").map(ToString::to_string));
        found.push(Leaf {
            name: name.to_string(),
            path,
            span: name.span(),
        });
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            collect(&path.tree, before, found);
            before.pop();
        }
        UseTree::Name(name) => leaf(&name.ident, Some(&name.ident)),
        UseTree::Rename(rename) => leaf(&rename.rename, Some(&rename.ident)),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|item| collect(item, before, found)),
        UseTree::Glob(_) => {}
    }
}

/// Collects the paths in a file, without the parts that are compiled for tests only.
struct Paths {
    is_face: bool,
    found: Vec<(Vec<String>, Span)>,
}

impl<'a> Visit<'a> for Paths {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let is_export = self.is_face && !matches!(item.vis, Visibility::Inherited);
        if !is_test(&item.attrs) && !is_export {
            let leaves = leaves(&item.tree);
            self.found
                .extend(leaves.into_iter().map(|leaf| (leaf.path, leaf.span)));
        }
    }

    fn visit_path(&mut self, path: &'a Path) {
        let segments = &path.segments;
        let first = segments.first().map(|segment| segment.ident.to_string());
        if matches!(first.as_deref(), Some("crate" | "super" | "self")) && segments.len() > 1 {
            let names = segments.iter().map(|segment| segment.ident.to_string());
            self.found.push((names.collect(), segments[0].ident.span()));
        }
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }
}
