//! The house: a file may use only what lies below it.

use crate::import_graph::ImportGraph;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// From the bottom to the top; names on one line are strangers to each other.
const LAYERS: &[&[&str]] = &[
    &["sentence", "task"],
    &["finding"],
    &["math"],
    &["mesh", "skeleton"],
    &["motion"],
    &["skinning"],
    &["weights", "cluster", "psd", "relax"],
    &["deform", "twin"],
    &["document"],
    &["bake", "sample", "rig"],
    &["tools", "evaluate", "io"],
    &["export", "correctives", "suggest"],
    &["editor"],
    &["view"],
    &["app", "cli"],
];

/// `cli` opens the window when there is no subcommand: the one place where the two meet.
const ALLOWED: &[(&str, &str)] = &[("cli", "app")];

/// Crates that only the face may name.
const FACE_CRATES: &[&str] = &[
    "egui",
    "eframe",
    "three_d",
    "rfd",
    "egui_glow",
    "glutin",
    "cgmath",
];

#[test]
fn files_use_only_what_lies_below_them() {
    let rank: BTreeMap<&str, usize> = LAYERS
        .iter()
        .enumerate()
        .flat_map(|(r, names)| names.iter().map(move |n| (*n, r)))
        .collect();
    let mut faults = Vec::new();
    for path in sources(Path::new("src")) {
        let inside = path.strip_prefix("src").unwrap();
        let top = inside
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs")
            .to_owned();
        let text = code_without_tests(&path);
        if !["lib", "main", "app", "view"].contains(&top.as_str()) {
            for face in FACE_CRATES.iter().filter(|c| names_crate(&text, c)) {
                faults.push(format!("{} names the crate {face}", path.display()));
            }
        }
        if top == "lib" || top == "main" {
            continue;
        }
        let own = *rank
            .get(top.as_str())
            .unwrap_or_else(|| panic!("src/{top} has no place in the house"));
        for used in used_modules(&text) {
            let Some(&theirs) = rank.get(used.as_str()) else {
                continue;
            };
            let allowed =
                used == top || theirs < own || ALLOWED.contains(&(top.as_str(), used.as_str()));
            if !allowed {
                faults.push(format!(
                    "{} uses {used}, which does not lie below {top}",
                    path.display()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The layers order the folders; this orders the files inside each.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = sources(Path::new("src")).into_iter().map(|path| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path));
        (path.strip_prefix("src").unwrap().to_owned(), text.unwrap())
    });
    let graph = ImportGraph::new(&files.collect::<Vec<_>>());
    let circles = graph.circles();
    let circles: Vec<String> = circles.iter().map(|c| graph.describe(c)).collect();
    assert!(
        circles.is_empty(),
        "{} circles of imports:\n{}",
        circles.len(),
        circles.join("\n\n")
    );
}

#[test]
fn every_top_level_file_is_known() {
    let known = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "src",
        "assets",
        "projects",
        "tests",
        "target",
    ];
    let strange: Vec<_> = std::fs::read_dir(env!("CARGO_MANIFEST_DIR"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| {
            !n.starts_with('.') && !n.starts_with("LICENSE-") && !known.contains(&n.as_str())
        })
        .collect();
    assert!(
        strange.is_empty(),
        "unexpected at the top level: {strange:?}"
    );
}

#[test]
fn every_folder_says_what_it_does_and_what_never_changes() {
    for names in LAYERS {
        for name in *names {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("src")
                .join(name)
                .join("mod.rs");
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            assert!(
                text.starts_with("//! "),
                "src/{name}/mod.rs does not begin with what it does"
            );
            assert!(
                text.contains("//! Invariant: "),
                "src/{name}/mod.rs states no invariant"
            );
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
        let name = folder.join(entry.unwrap().file_name());
        if Path::new(env!("CARGO_MANIFEST_DIR")).join(&name).is_dir() {
            found.extend(sources(&name));
        } else if name.extension().is_some_and(|e| e == "rs") {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// The file without comments and without its unit tests, which may look around.
fn code_without_tests(path: &Path) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether the text has a path that begins with a crate.
fn names_crate(text: &str, name: &str) -> bool {
    let path = format!("{name}::");
    let mut found = text.match_indices(&path);
    found.any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// First names after `crate::`, inside braces too: `use crate::{math::X, mesh::Y}`.
fn used_modules(text: &str) -> Vec<String> {
    let mut used = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let name = |s: &str| {
            s.chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect::<String>()
        };
        match rest.strip_prefix('{') {
            Some(list) => {
                let mut depth = 0;
                let mut item = String::new();
                for c in list.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => used.push(name(std::mem::take(&mut item).trim())),
                        _ => {}
                    }
                    if depth == 0 && c != ',' {
                        item.push(c);
                    }
                }
                used.push(name(item.trim()));
            }
            None => used.push(name(rest)),
        }
    }
    used
}
