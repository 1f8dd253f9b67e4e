//! `sinew bench`: the speed of the kernels on this machine, compared with reading and writing the bytes alone.
//!
//! All kernels of a group run in alternation, many times, and the medians are compared: other programs then slow all
//! alike. Each group contains the floor, and each row carries the floor of its own group.
//!
//! Invariant: the memory of a group is freed before the next; a million points stay below 250 MB.

mod joints;
mod kernels;
mod surface;
mod tube;

use serde::Serialize;
use std::io::{self, Write};
use tube::Tube;

/// Points skinned in all repetitions of a kernel, at most.
const POINTS_PER_KERNEL: usize = 20_000_000;
/// Maximum number of passes over a small mesh.
const PASSES: usize = 250;

/// One measured figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchRow {
    /// The kernel; positions and normals unless its name says otherwise. Strokes count the points they change.
    pub name: &'static str,
    /// Points of the mesh.
    pub points: usize,
    /// Number of threads.
    pub threads: usize,
    /// Median of the repetitions, wall clock.
    pub ns_per_point: f64,
    /// The floor of its group; `None` if the group has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_ns_per_point: Option<f64>,
}

/// Measures and writes one row for each kernel and stage, mesh size and number of threads: a table, or a JSON list.
///
/// `points`: one mesh size instead of 10k, 100k and 1M. The rows of forward kinematics come last, per joint.
pub fn run(points: Option<usize>, json: bool, out: &mut dyn Write) -> io::Result<()> {
    let sizes = points.map_or_else(|| vec![10_000, 100_000, 1_000_000], |n| vec![n.max(1)]);
    let mut rows = Vec::new();
    for n_points in sizes {
        let n_skinned = POINTS_PER_KERNEL.min(n_points * PASSES);
        rows.extend(measure(n_points, n_skinned)?);
    }
    rows.extend(joints::rows());
    write_rows(&rows, json, out)
}

fn write_rows(rows: &[BenchRow], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, rows)?;
        return writeln!(out);
    }
    writeln!(
        out,
        "{:<38} {:>9} {:>7} {:>9} {:>8}",
        "kernel", "points", "threads", "ns/point", "x floor"
    )?;
    for row in rows {
        let floor = row
            .floor_ns_per_point
            .map_or_else(String::new, |f| format!("{:.2}", row.ns_per_point / f));
        writeln!(
            out,
            "{:<38} {:>9} {:>7} {:>9.3} {:>8}",
            row.name, row.points, row.threads, row.ns_per_point, floor
        )?;
    }
    Ok(())
}

/// All figures of one mesh size, each from about `n_skinned` points.
fn measure(n_points: usize, n_skinned: usize) -> io::Result<Vec<BenchRow>> {
    let tube = Tube::new(n_points);
    let mut rows = {
        let centres = kernels::some_centres(&tube);
        let default = kernels::Corrections::of_default_stack(&tube);
        kernels::measure(
            &tube,
            &kernels::methods(&tube, &centres, &default),
            n_skinned,
        )?
    };
    let each = kernels::Corrections::each(&tube);
    let beside = kernels::measure(&tube, &kernels::corrections(&tube, &each), n_skinned)?;
    rows.extend(added_costs(&beside));
    // The first group already reports the floor and plain DQS of the second.
    rows.extend(
        beside
            .into_iter()
            .filter(|row| row.name.starts_with("dqs + ")),
    );
    drop((each, tube));
    rows.extend(surface::measure(n_points, n_skinned)?);
    Ok(rows)
}

/// The time each correction adds to the dual quaternion skinning of its group.
fn added_costs(rows: &[BenchRow]) -> Vec<BenchRow> {
    let added = [
        ("compensation added", "dqs + compensation"),
        ("projection added", "dqs + projection"),
        ("published projection added", "dqs + published projection"),
    ];
    let plain = |row: &BenchRow| {
        let same = |other: &&BenchRow| other.name == "dqs" && other.threads == row.threads;
        rows.iter().find(same).map(|other| other.ns_per_point)
    };
    rows.iter()
        .filter_map(|row| {
            let (name, _) = added.iter().find(|(_, whole)| *whole == row.name)?;
            Some(BenchRow {
                name,
                ns_per_point: row.ns_per_point - plain(row)?,
                ..row.clone()
            })
        })
        .collect()
}

/// Gives each row of a group the floor of the same number of threads.
fn beside_floor(mut rows: Vec<BenchRow>) -> Vec<BenchRow> {
    let floors: Vec<(usize, f64)> = rows
        .iter()
        .filter(|row| row.name == "floor")
        .map(|row| (row.threads, row.ns_per_point))
        .collect();
    for row in &mut rows {
        let floor = floors.iter().find(|(threads, _)| *threads == row.threads);
        row.floor_ns_per_point = floor.map(|f| f.1);
    }
    rows
}

/// One thread, and all threads of the machine.
fn thread_counts() -> Vec<usize> {
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut counts = vec![1, n_threads];
    counts.dedup();
    counts
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// Every method and stage, positions and positions with normals, and the strokes.
    const NAMES: [&str; 34] = [
        "floor",
        "lbs",
        "lbs positions",
        "lbs portable",
        "dqs",
        "dqs positions",
        "dqs portable",
        "dqs two-phase",
        "dqs two-phase positions",
        "cor",
        "cor positions",
        "blend",
        "blend positions",
        "default",
        "default positions",
        "dqs + compensation",
        "dqs + compensation positions",
        "compensation added",
        "dqs + projection",
        "dqs + projection positions",
        "projection added",
        "dqs + published projection",
        "dqs + published projection positions",
        "published projection added",
        "corrective smooth",
        "normal transport",
        "centres precomputation",
        "pose, all points and normals",
        "pose, default stack",
        "pose, default stack, 16 samples",
        "stroke on 1% contiguous",
        "stroke on 1% scattered",
        "stroke on 0.01% contiguous",
        "stroke on 0.01% scattered",
    ];

    #[test]
    fn every_method_and_stage_reports_every_number_of_threads() {
        let mut out = Vec::new();
        write_rows(&measure(1000, 4000).unwrap(), true, &mut out).unwrap();
        let rows: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let rows = rows.as_array().unwrap();
        for name in NAMES {
            for threads in thread_counts() {
                let found = rows
                    .iter()
                    .filter(|r| r["name"] == name && r["threads"] == threads);
                assert_eq!(found.count(), 1, "{name} on {threads}");
            }
        }
        assert_eq!(rows.len(), NAMES.len() * thread_counts().len());
        assert!(rows.iter().all(|r| r["points"] == 1000));
        for row in rows {
            let ns = row["ns_per_point"].as_f64().unwrap();
            let is_difference = row["name"].as_str().unwrap().ends_with("added");
            assert!(ns > 0.0 || is_difference && ns.is_finite(), "{row}");
        }
    }

    #[test]
    fn a_row_knows_its_floor() {
        let row = |name, threads, ns_per_point| BenchRow {
            name,
            points: 10,
            threads,
            ns_per_point,
            floor_ns_per_point: None,
        };
        let rows = [
            row("floor", 1, 2.0),
            row("dqs", 1, 3.0),
            row("dqs + compensation", 1, 5.0),
            row("floor", 2, 1.0),
        ];
        let rows = beside_floor(rows.to_vec());
        let floors: Vec<_> = rows.iter().map(|r| r.floor_ns_per_point).collect();
        assert_eq!(floors, [Some(2.0), Some(2.0), Some(2.0), Some(1.0)]);
        let added = added_costs(&rows);
        assert_eq!(added.len(), 1);
        assert_eq!(
            (added[0].name, added[0].ns_per_point),
            ("compensation added", 2.0)
        );
    }

    #[test]
    fn the_tube_moves_as_one_piece_and_takes_the_fast_path() {
        let tube = Tube::new(5000);
        assert!(!tube.rig.rigid.inflates());
        assert!(tube.rig.scaled.inflates());
        let mut out = vec![Vec3::ZERO; 5000];
        let mut out_normals = out.clone();
        let centres = kernels::some_centres(&tube);
        let default = kernels::Corrections::of_default_stack(&tube);
        let each = kernels::Corrections::each(&tube);
        let methods = kernels::methods(&tube, &centres, &default);
        let corrections = kernels::corrections(&tube, &each);
        let mut plain = Vec::new();
        for (name, kernel) in methods.iter().chain(&corrections) {
            kernels::pass_serial(&tube, kernel, 0, &mut out, &mut out_normals);
            assert!(out.iter().all(|p| p.is_finite()), "{name}");
            if *name == "dqs" {
                plain.clone_from(&out);
            }
            if name.starts_with("default") || name.contains(" + ") {
                assert_ne!(out, plain, "{name} corrects nothing");
            }
        }
    }
}
