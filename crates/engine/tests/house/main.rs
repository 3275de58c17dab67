//! The layout of the code: imports point only downward, there are no circles, and files stay small.

mod imports;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use imports::Import;
use tree::Tree;

/// The rooms of the engine. A room may import from the rooms below it only.
const ROOMS: [&str; 24] = [
    "lib",
    "api",
    "external",
    "doctor",
    "search",
    "export",
    "reembedding",
    "write",
    "background",
    "facets",
    "snapshot",
    "lexical",
    "filter",
    "columns",
    "settings",
    "json",
    "reply",
    "error",
    "store",
    "disk",
    "record",
    "limits",
    "runtime",
    "sqlite_file",
];

const MAX_LINES: usize = 400;
const CRATES: [&str; 3] = ["engine", "kernels", "binding"];

#[test]
fn imports_point_only_downward() {
    let tree = Tree::read("engine");
    let rooms: BTreeSet<&str> = tree.files.keys().map(|file| room(file)).collect();
    assert_eq!(
        rooms,
        BTreeSet::from(ROOMS),
        "the rooms are those of `ROOMS`"
    );
    let floor = |file: &str| ROOMS.iter().position(|name| *name == room(file));
    let upward: Vec<String> = imports::of(&tree)
        .iter()
        .filter(|import| floor(&import.from) > floor(&import.to))
        .map(|import| {
            format!(
                "{import}: {} is above {}",
                room(&import.to),
                room(&import.from)
            )
        })
        .collect();
    assert!(upward.is_empty(), "upward imports:\n{}", upward.join("\n"));
}

#[test]
fn files_and_folders_do_not_import_each_other_in_circles() {
    let mut found = Vec::new();
    for name in CRATES {
        let imports = imports::of(&Tree::read(name));
        found.extend(circles(&imports, |import| {
            Some((import.from.clone(), import.to.clone()))
        }));
        let folders: BTreeSet<&str> = imports
            .iter()
            .flat_map(|import| ancestors(&import.from))
            .collect();
        for folder in folders {
            found.extend(circles(&imports, |import| siblings(folder, import)));
        }
    }
    assert!(found.is_empty(), "circles:\n{}", found.join("\n"));
}

#[test]
fn no_file_is_long() {
    let large: Vec<(usize, String)> = CRATES
        .iter()
        .flat_map(|name| Tree::read(name).lines())
        .filter(|(count, _)| *count > MAX_LINES)
        .collect();
    assert!(large.is_empty(), "files above {MAX_LINES} lines: {large:?}");
}

/// The top-level room of a file such as `search/scan`.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file)
}

/// Every folder that a file is in, `""` for the top level.
fn ancestors(file: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(file.match_indices('/').map(|(end, _)| &file[..end]))
}

/// The two entries of `folder` that an import connects; `None` unless it connects two different ones.
fn siblings(folder: &str, import: &Import) -> Option<(String, String)> {
    let entry = |file: &str| {
        let inside = if folder.is_empty() {
            file
        } else {
            file.strip_prefix(folder)?.strip_prefix('/')?
        };
        Some(format!("{folder}/{}", room(inside)))
    };
    let (from, to) = (entry(&import.from)?, entry(&import.to)?);
    // A folder's own file, such as `job.rs` next to `job/`, counts as part of the folder.
    (from != to).then_some((from, to))
}

/// Describes every cycle of a graph. `edge` maps an import to an edge of the graph.
fn circles(imports: &[Import], edge: impl Fn(&Import) -> Option<(String, String)>) -> Vec<String> {
    let mut next: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in imports.iter().filter_map(&edge) {
        next.entry(from).or_default().insert(to);
    }
    let mut described = Vec::new();
    let mut seen: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for start in next.keys() {
        let circle: BTreeSet<String> = reach(&next, start)
            .into_iter()
            .filter(|node| reach(&next, node).contains(start))
            .collect();
        if circle.contains(start) && seen.insert(circle.clone()) {
            let inside = |import: &&Import| {
                edge(import)
                    .is_some_and(|(from, to)| circle.contains(&from) && circle.contains(&to))
            };
            let ties: Vec<String> = imports
                .iter()
                .filter(inside)
                .map(ToString::to_string)
                .collect();
            described.push(format!("{circle:?}\n  {}", ties.join("\n  ")));
        }
    }
    described
}

/// Every node that can be reached from `start` by at least one edge.
fn reach(next: &BTreeMap<String, BTreeSet<String>>, start: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start.to_owned()];
    while let Some(node) = waiting.pop() {
        for to in next.get(&node).into_iter().flatten() {
            if reached.insert(to.clone()) {
                waiting.push(to.clone());
            }
        }
    }
    reached
}
