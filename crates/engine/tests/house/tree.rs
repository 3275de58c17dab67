//! The source files of a crate as a tree of modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Item, ItemUse, Visibility};

use crate::imports::{is_test, leaves};

/// The parsed files of a crate, without those that are compiled for tests only.
pub(crate) struct Tree {
    /// The files by the path of their module, such as `search/job/bind`; `lib` is the root.
    pub(crate) files: BTreeMap<String, File>,
}

pub(crate) struct File {
    /// The path of the file, such as `crates/engine/src/lib.rs`.
    pub(crate) path: PathBuf,
    pub(crate) syntax: syn::File,
    lines: usize,
    /// The paths that the file re-exports, by the name that others use.
    exports: BTreeMap<String, Vec<String>>,
}

impl Tree {
    /// Reads `crates/NAME/src`.
    pub(crate) fn read(name: &str) -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = own
            .parent()
            .expect("crates are in a folder")
            .join(name)
            .join("src");
        let mut files = BTreeMap::new();
        read_folder(&root, &root, &mut files);
        let tests: BTreeSet<String> = files
            .iter()
            .flat_map(|(module, file)| test_modules(module, file))
            .collect();
        files.retain(|module, _| {
            !tests
                .iter()
                .any(|test| module == test || module.starts_with(&format!("{test}/")))
        });
        Self { files }
    }

    /// The length of every file, tests included.
    pub(crate) fn lines(&self) -> Vec<(usize, String)> {
        self.files
            .values()
            .map(|file| (file.lines, file.path.display().to_string()))
            .collect()
    }

    /// The file that defines the item at `path`, relative to the root of the crate.
    pub(crate) fn definition(&self, path: &[String]) -> Option<String> {
        let mut module = String::from("lib");
        for (at, segment) in path.iter().enumerate() {
            let child = child(&module, segment);
            if self.files.contains_key(&child) {
                module = child;
            } else {
                let export = self.files.get(&module)?.exports.get(segment);
                return match export.and_then(|export| resolve(&module, export)) {
                    Some(full) if full != path => {
                        self.definition(&[&full, &path[at + 1..]].concat())
                    }
                    _ => Some(module),
                };
            }
        }
        Some(module)
    }

    /// Makes a path that is written in `module` relative to the root of the crate; `None` if it leads to another crate.
    pub(crate) fn absolute(&self, module: &str, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?;
        let known = matches!(first.as_str(), "crate" | "super" | "self");
        if known || self.files.contains_key(&child(module, first)) {
            resolve(module, path)
        } else {
            None
        }
    }
}

fn child(module: &str, name: &str) -> String {
    if module == "lib" {
        name.to_owned()
    } else {
        format!("{module}/{name}")
    }
}

/// Replaces `crate`, `self` and `super`; a path without them starts at a child of `module`.
fn resolve(module: &str, path: &[String]) -> Option<Vec<String>> {
    let mut base: Vec<String> = match module {
        "lib" => Vec::new(),
        _ => module.split('/').map(str::to_owned).collect(),
    };
    let mut rest = path;
    while let Some((first, later)) = rest.split_first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            "self" => {}
            _ => break,
        }
        rest = later;
    }
    base.extend_from_slice(rest);
    Some(base)
}

fn read_folder(root: &Path, folder: &Path, files: &mut BTreeMap<String, File>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            read_folder(root, &path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            let syntax = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let inside = path
                .strip_prefix(root)
                .expect("it is in the folder")
                .with_extension("");
            let module = inside.to_string_lossy().replace('\\', "/");
            let module = module.strip_suffix("/mod").unwrap_or(&module).to_owned();
            let (lines, exports) = (text.lines().count(), exports(&syntax));
            files.insert(
                module,
                File {
                    path: Path::new("crates").join(
                        path.strip_prefix(crates_of(root))
                            .expect("it is in a crate"),
                    ),
                    syntax,
                    lines,
                    exports,
                },
            );
        }
    }
}

/// The folder of all crates, given the sources of one.
fn crates_of(root: &Path) -> &Path {
    root.ancestors()
        .nth(2)
        .expect("sources are in a crate, and crates in a folder")
}

/// The modules that a file declares for tests only.
fn test_modules(module: &str, file: &File) -> Vec<String> {
    let items = file.syntax.items.iter();
    items
        .filter_map(|item| match item {
            Item::Mod(item) if is_test(&item.attrs) => Some(child(module, &item.ident.to_string())),
            _ => None,
        })
        .collect()
}

fn exports(syntax: &syn::File) -> BTreeMap<String, Vec<String>> {
    let is_public = |item: &&ItemUse| !matches!(item.vis, Visibility::Inherited);
    let uses = syntax.items.iter().filter_map(|item| match item {
        Item::Use(item) => Some(item),
        _ => None,
    });
    uses.filter(is_public)
        .flat_map(|item| leaves(&item.tree))
        .map(|leaf| (leaf.name, leaf.path))
        .collect()
}
