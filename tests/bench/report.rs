//! Writes the tables of the manual's page of figures from what the program of this build does:
//!
//! ```sh
//! cargo bench --features gui-test --bench report              # all of them
//! cargo bench --features gui-test --bench report -- exports   # one or more of them, by name
//! ```
//!
//! Names: machine, exports, correctives, methods, skinning, kernels, and the benches edits, dabs, samples, suggestions,
//! clusters, operations, selecting, motion, frames. Each section begins with the date and the processor; the machine is written with every run.

use figures::{
    CLUSTERS_HEADER, CORRECTED, CORRECTED_HEADER, EXPORTS, EXPORTS_HEADER, Export, PAGE,
    cluster_rows, export_row, marks, root,
};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "figures.rs"]
mod figures;

/// Benches whose output is shown as it is.
const BENCHES: [&str; 9] = [
    "edits",
    "dabs",
    "samples",
    "suggestions",
    "clusters",
    "operations",
    "selecting",
    "motion",
    "frames",
];
/// Vertices of the mesh that `sinew bench` deforms.
const N_POINTS: &str = "1000000";

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let sinew = Path::new(env!("CARGO_BIN_EXE_sinew"));
    let today = first_line("date", &["+%Y-%m-%d"]);
    write("machine", &machine(&today));
    let when = format!("{today}, {}, {} threads", processor(), n_threads());
    if is_wanted("exports") {
        write("exports", &exports(sinew, EXPORTS_HEADER, &EXPORTS));
    }
    if is_wanted("correctives") {
        let rows = exports(sinew, CORRECTED_HEADER, &CORRECTED);
        write("correctives", &rows);
    }
    if is_wanted("methods") {
        let rows = cluster_rows(sinew).join("\n");
        write("methods", &format!("{CLUSTERS_HEADER}\n{rows}"));
    }
    if is_wanted("skinning") || is_wanted("kernels") {
        let rows = bench_rows(sinew);
        write("skinning", &format!("{when}\n\n{}", skinning(&rows)));
        write("kernels", &format!("{when}\n\n{}", kernels(&rows)));
    }
    for bench in BENCHES.into_iter().filter(|bench| is_wanted(bench)) {
        if bench == "frames" && !cfg!(feature = "gui-test") {
            println!("{bench}: left as it is, it needs --features gui-test");
            continue;
        }
        write(bench, &format!("{when}\n\n```text\n{}```\n", output(bench)));
    }
}

/// Replaces what stands in the page under `name`.
fn write(name: &str, text: &str) {
    let path = root().join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let old = figures::section(&page, name);
    let [start, end] = marks(name);
    let page = page.replace(
        &format!("{start}{old}{end}"),
        &format!("{start}\n{}\n\n{end}", text.trim()),
    );
    std::fs::write(&path, page).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    println!("{name}: written");
}

fn first_line(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.lines().next().unwrap_or("unknown").trim().to_owned()
}

/// What a file of the system says of `key`.
fn field(file: &str, key: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key));
    let value = line.and_then(|line| line.split_once(':'));
    value.map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

fn processor() -> String {
    field("/proc/cpuinfo", "model name")
}

fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine and the build, as a table.
fn machine(today: &str) -> String {
    let profile = if cfg!(debug_assertions) {
        "ci (optimised, with all checks)"
    } else {
        "release"
    };
    let rows = [
        ("date", today.to_owned()),
        ("processor", processor()),
        ("threads", n_threads().to_string()),
        ("memory", gibibytes(&field("/proc/meminfo", "MemTotal"))),
        ("system", first_line("uname", &["-sm"])),
        ("compiler", first_line("rustc", &["--version"])),
        (
            "Sinew",
            format!("{}, profile {profile}", env!("CARGO_PKG_VERSION")),
        ),
    ];
    let mut out = String::from("| | |\n|---|---|\n");
    for (name, value) in rows {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out
}

/// A number of `kB` of `/proc/meminfo`, which counts 1,024 bytes each, in GiB.
fn gibibytes(field: &str) -> String {
    let number = field
        .strip_suffix(" kB")
        .and_then(|n| n.parse::<f64>().ok());
    number.map_or(field.to_owned(), |kib| {
        format!("{:.1} GiB", kib / (1024.0 * 1024.0))
    })
}

/// A table of corrected exports.
fn exports(sinew: &Path, header: &str, rows: &[Export]) -> String {
    let shared =
        std::env::var_os("SINEW_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let mut out = format!("{header}\n");
    for export in rows {
        let (mut row, took) = export_row(sinew, export, &shared);
        if export.suggest.is_some() {
            let _ = write!(row, " {:.1} |", took.as_secs_f64());
        }
        let test = if export.is_tested {
            "tested"
        } else {
            "not tested"
        };
        println!("{row} {test}");
        let _ = writeln!(out, "{row}");
    }
    out
}

/// The rows of `sinew bench`.
fn bench_rows(sinew: &Path) -> Vec<Value> {
    let output = Command::new(sinew)
        .args(["bench", "--points", N_POINTS, "--json"])
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "sinew bench fails");
    serde_json::from_slice(&output.stdout).expect("a list of rows")
}

/// Nanoseconds a vertex of a row of `sinew bench`, on the least and on the greatest number of threads.
fn timed(rows: &[Value], name: &str) -> Vec<f64> {
    let found = rows.iter().filter(|row| row["name"] == name);
    let found: Vec<f64> = found
        .filter_map(|row| row["ns_per_point"].as_f64())
        .collect();
    assert!(!found.is_empty(), "sinew bench has no {name}");
    found
}

/// What an artist waits for.
fn skinning(rows: &[Value]) -> String {
    let n = N_POINTS.parse::<f64>().expect("a number");
    let mut out = String::from(
        "| on 1,000,000 vertices | vertices changed | 1 thread | all threads |\n|---|---|---|---|\n",
    );
    for (label, name, part) in [
        ("another pose, default stack", "pose, default stack", 1.0),
        ("a stroke over neighbours", "stroke on 1% contiguous", 0.01),
        (
            "a stroke over neighbours",
            "stroke on 0.01% contiguous",
            0.0001,
        ),
    ] {
        let ns = timed(rows, name);
        let ms = |ns: f64| format!("{:.2} ms", ns * n * part * 1e-6);
        let last = ns.last().copied().unwrap_or(f64::NAN);
        let changed = (n * part) as u64;
        let changed = sinew::finding::thousands(changed as usize);
        let _ = writeln!(
            out,
            "| {label} | {changed} | {} | {} |",
            ms(ns[0]),
            ms(last)
        );
    }
    out
}

/// The kernels alone, beside the floor.
fn kernels(rows: &[Value]) -> String {
    let floor = timed(rows, "floor");
    let mut out =
        String::from("| ns a vertex (× floor) | 1 thread | all threads |\n|---|---|---|\n");
    for (label, name) in [
        ("floor", "floor"),
        ("DQS, positions", "dqs positions"),
        ("LBS, positions", "lbs positions"),
        (
            "DQS with scaled joints (two-phase), positions",
            "dqs two-phase positions",
        ),
        ("centres of rotation, positions", "cor positions"),
        ("LBS and DQS blend, positions", "blend positions"),
        (
            "DQS + compensation, positions",
            "dqs + compensation positions",
        ),
        ("DQS + projection, positions", "dqs + projection positions"),
        (
            "DQS + published projection, positions",
            "dqs + published projection positions",
        ),
        ("default stack, positions", "default positions"),
        ("corrective smooth, 5 iterations", "corrective smooth"),
        ("normal transport", "normal transport"),
        (
            "DQS, positions and rotated normals (not used by the app)",
            "dqs",
        ),
        (
            "centres of rotation: finding them, once",
            "centres precomputation",
        ),
    ] {
        let ns = timed(rows, name);
        let cell = |i: usize| {
            let (ns, floor) = (ns[i.min(ns.len() - 1)], floor[i.min(floor.len() - 1)]);
            format!("{ns:.1} ({:.2})", ns / floor)
        };
        let _ = writeln!(out, "| {label} | {} | {} |", cell(0), cell(usize::MAX));
    }
    out
}

/// What another bench of this package prints.
fn output(bench: &str) -> String {
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root())
        .args(["bench", "--bench", bench]);
    if cfg!(debug_assertions) {
        command.args(["--profile", "ci"]);
    }
    if cfg!(feature = "gui-test") {
        command.args(["--features", "gui-test"]);
    }
    let output = command.output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{bench}: {said}");
    let text = String::from_utf8_lossy(&output.stdout);
    format!("{}\n", text.trim())
}
