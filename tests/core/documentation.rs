//! The README and the manual: their figures are those of the program, their links lead somewhere, every flag is explained.

use crate::figures::{
    CLUSTERS_HEADER, CORRECTED, CORRECTED_HEADER, EXPORTS, EXPORTS_HEADER, Export, Model, PAGE,
    cluster_rows, export_row, root, section,
};
use crate::shared::shared_dir;
use std::path::{Path, PathBuf};

/// The tables of exports: the name of the section, the header, and what the rows are.
const TABLES: [(&str, &str, &[Export]); 2] = [
    ("exports", EXPORTS_HEADER, &EXPORTS),
    ("correctives", CORRECTED_HEADER, &CORRECTED),
];

fn rows(name: &str, header: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let table = section(&page, name);
    assert!(table.contains(header), "{table}");
    let rows = table.lines();
    let rows = rows.filter(|line| line.starts_with('|')).skip(2);
    rows.map(str::to_owned).collect()
}

#[test]
fn the_table_of_exports_has_every_row() {
    for (name, header, exports) in TABLES {
        let rows = rows(name, header);
        assert_eq!(rows.len(), exports.len(), "{rows:#?}");
        for (row, export) in rows.iter().zip(exports) {
            let start = format!("| {} |", export.label);
            assert!(row.starts_with(&start), "{row} is not of {}", export.label);
        }
    }
}

/// `cargo bench --bench report -- exports correctives` writes the tables anew.
#[test]
fn the_table_of_exports_is_what_the_program_reports() {
    let is_shared = |export: &Export| matches!(export.model, Model::Shared(_));
    let shared = shared_dir("the_table_of_exports_is_what_the_program_reports");
    let mut wrong = Vec::new();
    let all = TABLES
        .into_iter()
        .flat_map(|(name, header, exports)| exports.iter().zip(rows(name, header)));
    for (export, row) in all {
        if !export.is_tested || (is_shared(export) && shared.is_none()) {
            continue;
        }
        let folder = shared.clone().unwrap_or_default();
        let (now, _) = export_row(Path::new(env!("CARGO_BIN_EXE_sinew")), export, &folder);
        // What follows is how long it took.
        if !row.starts_with(&now) {
            wrong.push(format!("the page has {row}\nthe program {now}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `cargo bench --bench report -- methods` writes the table anew.
#[test]
fn the_table_of_methods_is_what_the_program_reports() {
    let now = cluster_rows(Path::new(env!("CARGO_BIN_EXE_sinew")));
    assert_eq!(rows("methods", CLUSTERS_HEADER), now);
}

/// The README and the pages of the manual.
fn documents() -> Vec<PathBuf> {
    let mut documents = vec![root().join("README.md"), root().join("src/ARCHITECTURE.md")];
    let pages = std::fs::read_dir(root().join("assets/manual")).unwrap();
    documents.extend(pages.map(|entry| entry.unwrap().path()));
    assert!(documents.len() >= 8, "{documents:?}");
    documents
}

#[test]
fn links_and_pictures_of_the_documents_are_there() {
    let mut n_links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let targets = text.split("](").skip(1);
        for target in targets.filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("https://") {
                continue;
            }
            let path = document.parent().unwrap().join(target);
            assert!(path.is_file(), "{}: {target}", document.display());
            n_links += 1;
        }
    }
    assert!(n_links > 15, "{n_links}");
}

#[test]
fn the_readme_is_short() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 120);
}

/// Every long flag of every subcommand stands in the manual's page on the command line, and no other.
#[test]
fn the_manual_knows_every_flag() {
    let page = std::fs::read_to_string(root().join("assets/manual/command-line.md")).unwrap();
    let formats = std::fs::read_to_string(root().join("assets/manual/formats.md")).unwrap();
    let help = |args: &[&str]| {
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
        let mut program = program;
        let output = program.args(args).arg("--help").output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let mut known = std::collections::BTreeSet::new();
    let commands = [
        "info", "check", "skin", "weights", "rig", "measure", "compare", "psd", "clusters",
        "motion", "body", "export", "sample", "bench", "render",
    ];
    let is_there = |command: &&str| *command != "render" || cfg!(feature = "render");
    for command in commands.into_iter().filter(is_there) {
        assert!(page.contains(&format!("sinew {command} ")), "{command}");
        let text = help(&[command]);
        let flags = text.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("-o, ").unwrap_or(line);
            let name = line.strip_prefix("--")?;
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            Some(format!("--{}", &name[..end.unwrap_or(name.len())]))
        });
        known.extend(flags);
    }
    known.remove("--help");
    assert!(known.len() > 40, "{known:?}");
    for flag in &known {
        assert!(page.contains(flag.as_str()), "{flag} is not in the manual");
    }
    // Flags of `render`, which this build may lack.
    let of_render = [
        "--size",
        "--view",
        "--show",
        "--no-legend",
        "--ramp",
        "--theme",
        "--bones",
        "--wire",
    ];
    for word in [&page, &formats]
        .into_iter()
        .flat_map(|t| t.split(['`', ' ', '[', ']', '\n', ';', ',']))
    {
        if word.starts_with("--") && word.len() > 2 {
            let flag = word.split('=').next().unwrap();
            assert!(
                flag == "--help" || known.contains(flag) || of_render.contains(&flag),
                "the manual has {flag}, the program has not"
            );
        }
    }
}

/// Every folder of the sources has its row in the map.
#[test]
fn the_map_of_the_code_has_every_folder() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let map = read("src/ARCHITECTURE.md");
    let table = map.split("## Layers").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let modules = read("src/lib.rs");
    let modules = modules.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?;
        name.strip_suffix(';')
    });
    let mut n_modules = 0;
    for name in modules {
        let is_there = table.contains(&format!("`{name}`"));
        assert!(is_there, "{name} is not in src/ARCHITECTURE.md");
        n_modules += 1;
    }
    assert!(n_modules > 12, "{n_modules}");
}
