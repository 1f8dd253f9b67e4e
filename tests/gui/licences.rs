//! `assets/licences.txt` names every package in the program. SINEW_UPDATE_LICENCES=1 writes it anew.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package in the program.
struct Package {
    name: String,
    version: String,
    licence: String,
    home: String,
    folder: PathBuf,
}

/// What cargo says without a network: the packages that the window is made of. `all`: for every system.
fn packages(all: bool) -> Option<Vec<Package>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--locked", "--offline"]);
    command
        .args(["--features=gui"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if !all {
        let rustc = Command::new("rustc").arg("-vV").output().ok()?;
        let text = String::from_utf8(rustc.stdout).ok()?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: "))?;
        command.args(["--filter-platform", host]);
    }
    let output = command.output().expect("cargo runs");
    if !output.status.success() {
        return None;
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let normal = list(&node["deps"]).into_iter().filter(|dep| {
            let kinds = list(&dep["dep_kinds"]);
            kinds.iter().any(|kind| kind["kind"].is_null())
        });
        let normal = normal.map(|dep| text(&dep["pkg"])).collect();
        needs.insert(text(&node["id"]), normal);
    }
    let root = text(&metadata["resolve"]["root"]);
    let mut used = BTreeSet::new();
    let mut waiting = vec![root.clone()];
    while let Some(id) = waiting.pop() {
        if used.insert(id.clone()) {
            waiting.extend(needs.get(&id).cloned().unwrap_or_default());
        }
    }
    used.remove(&root);
    let found = list(&metadata["packages"]).into_iter();
    let found = found.filter(|p| used.contains(&text(&p["id"])));
    let mut packages: Vec<Package> = found
        .map(|p| Package {
            name: text(&p["name"]),
            version: text(&p["version"]),
            licence: text(&p["license"]),
            home: text(&p["repository"]),
            folder: PathBuf::from(text(&p["manifest_path"]))
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default(),
        })
        .collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Some(packages)
}

fn heading(package: &Package) -> String {
    let Package {
        name,
        version,
        licence,
        ..
    } = package;
    format!("{name} {version} · {licence}")
}

/// The files of a package that speak of its licence.
fn licence_files(package: &Package) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in [package.folder.clone(), package.folder.join("fonts")] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().to_uppercase();
            let speaks = [
                "LICEN",
                "COPYING",
                "COPYRIGHT",
                "UNLICENSE",
                "OFL",
                "UFL",
                "HACK-",
            ];
            let path = entry.path();
            let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
            let is_text = ending.is_none_or(|e| e != "ttf" && e != "rs");
            if is_text
                && speaks.iter().any(|s| name.contains(s))
                && let Ok(text) = std::fs::read_to_string(entry.path())
            {
                files.push((name, text));
            }
        }
    }
    files.sort();
    files
}

/// The lines that name who holds the rights.
fn notices(files: &[(String, String)]) -> BTreeSet<String> {
    let lines = files.iter().flat_map(|(_, text)| text.lines());
    lines
        .map(|line| line.trim().trim_start_matches(['*', '/', '#', ' ']))
        .filter(|line| {
            line.to_lowercase().starts_with("copyright")
                && line.chars().any(|c| c.is_ascii_digit())
                && line.len() < 160
        })
        .map(str::to_owned)
        .collect()
}

/// Licences, and how to tell their text.
const TEXTS: &[(&str, &str)] = &[
    ("MIT", "Permission is hereby granted, free of charge"),
    ("Apache-2.0", "TERMS AND CONDITIONS FOR USE, REPRODUCTION"),
    ("Zlib", "provided 'as-is', without any express"),
    ("BSD-3-Clause", "Neither the name"),
    (
        "BSD-2-Clause",
        "Redistribution and use in source and binary forms",
    ),
    ("ISC", "Permission to use, copy, modify, and/or distribute"),
    ("MPL-2.0", "Mozilla Public License Version 2.0"),
    ("BSL-1.0", "Boost Software License"),
    ("Unicode-3.0", "UNICODE LICENSE V3"),
    ("OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"),
    ("Ubuntu-font-1.0", "UBUNTU FONT LICENCE Version 1.0"),
    ("Unlicense", "released into the public domain"),
];

fn write_anew(packages: &[Package]) -> String {
    let mut out = String::from(
        "Sinew is free software under MIT or Apache-2.0, at your choice. It is made with the packages below; each with its \
         licence and the notices of its authors. The texts of the licences follow the list.\n\
         Icons: Material Symbols Rounded, Google, Apache-2.0.\n\n",
    );
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for package in packages {
        let files = licence_files(package);
        let _ = writeln!(out, "{}\n    {}", heading(package), package.home);
        for notice in notices(&files) {
            let _ = writeln!(out, "    {notice}");
        }
        for (licence, sign) in TEXTS {
            let has = files.iter().find(|(_, text)| text.contains(sign));
            if let Some((_, text)) = has.filter(|_| package.licence.contains(licence)) {
                // The shortest is the bare licence.
                let shortest = texts.entry(licence).or_insert_with(|| text.clone());
                if text.len() < shortest.len() && text.len() > 600 {
                    shortest.clone_from(text);
                }
            }
        }
    }
    for (licence, text) in texts {
        let _ = write!(out, "\n{}\n{licence}\n\n{}\n", "-".repeat(72), text.trim());
    }
    out.replace('\r', "").replace('\t', "    ")
}

#[test]
fn every_package_in_the_program_is_named_with_its_licence() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/licences.txt");
    let used = packages(false).expect("cargo knows the packages that it built this test with");
    assert!(used.len() > 200, "{}", used.len());
    if std::env::var_os("SINEW_UPDATE_LICENCES").is_some() {
        let all = packages(true).unwrap_or_else(|| packages(false).expect("packages"));
        std::fs::write(&path, write_anew(&all)).expect("the file can be written");
    }
    let text = std::fs::read_to_string(&path).expect("assets/licences.txt");
    let lines: BTreeSet<&str> = text.lines().collect();
    let missing: Vec<String> = used
        .iter()
        .map(heading)
        .filter(|heading| !lines.contains(heading.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "not in assets/licences.txt (SINEW_UPDATE_LICENCES=1 writes it anew):\n{}",
        missing.join("\n")
    );
    for package in &used {
        assert!(
            !package.licence.is_empty(),
            "{} has no licence",
            package.name
        );
    }
    for (licence, sign) in TEXTS.iter().take(6) {
        assert!(text.contains(sign), "the text of {licence}");
    }
}
