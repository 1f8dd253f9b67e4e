//! Reads JOINTS_n and WEIGHTS_n as validated rows.

use super::accessor::Elements;
use super::buffers::Data;
use super::error::{Fault, counted};
use super::findings::Findings;
use crate::document::InvalidRows;
use crate::finding::Finding;
use crate::skinning::Rows;

/// The difference of a sum from 1 that is not reported: rounding by exporters (four weights of 8 bits).
const SUM_TOLERANCE: f32 = 0.01;
/// The difference of a sum from 1 up to which the file's weights stay unchanged, bit for bit.
const EXACT_SUM: f32 = 1e-6;

/// The elements of one pair of attributes, checked to have one entry per vertex.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) joints: Elements,
    pub(super) weights: Elements,
}

/// The repairs, with the first vertex of each.
#[derive(Debug, Default)]
struct Repairs {
    out_of_range: Option<(usize, u32)>,
    n_out_of_range: usize,
    n_not_a_weight: usize,
    n_without: usize,
    n_not_normalised: usize,
    worst_sum: f32,
    invalid: InvalidRows,
}

/// One row per vertex from all `sets`: every influence kept, equal joints merged, zero weights dropped, sum 1; and the
/// vertices with weights that are not valid.
///
/// `slots` marks the usable entries of the joint lists of the skins that draw the mesh. A row without weights gets
/// weight 1 on its first joint, as in three.js and other viewers (glTF 2.0 leaves it open).
pub(super) fn rows(
    data: &Data<'_>,
    sets: &[Set],
    slots: &[bool],
    place: &str,
    findings: &mut Findings,
) -> Result<(Rows, InvalidRows), Fault> {
    let mut decoded = Vec::with_capacity(sets.len());
    for set in sets {
        decoded.push((
            set.joints.integers::<4, _>(data, |j| j)?,
            set.weights.floats::<4, _>(data, |w| w)?,
        ));
    }
    let n_vertices = sets.first().map_or(0, |set| set.joints.count);
    data.budget.charge(28 * n_vertices as u64, place)?;
    let mut repairs = Repairs {
        worst_sum: 1.0,
        ..Repairs::default()
    };
    let mut rows = Rows::with_capacity(n_vertices);
    let mut row: Vec<(u16, f32)> = Vec::with_capacity(4 * sets.len());
    for v in 0..n_vertices {
        row.clear();
        for (joints, weights) in &decoded {
            for (&joint, &weight) in joints[v].iter().zip(&weights[v]) {
                if weight != 0.0 {
                    push(&mut row, v, joint, weight, slots, &mut repairs);
                }
            }
        }
        let sum: f32 = row.iter().map(|&(_, w)| w).sum();
        if row.is_empty() || !sum.is_normal() {
            repairs.n_without += 1;
            repairs.invalid.missing.push(v as u32);
            row.clear();
            let first = decoded.first().map_or(0, |(joints, _)| joints[v][0]);
            let joint = usable(slots, first)
                .or_else(|| slots.iter().position(|&usable| usable).map(|j| j as u16));
            row.extend(joint.map(|joint| (joint, 1.0)));
        } else if (sum - 1.0).abs() > EXACT_SUM {
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                repairs.n_not_normalised += 1;
                if (sum - 1.0).abs() > (repairs.worst_sum - 1.0).abs() {
                    repairs.worst_sum = sum;
                }
            }
            for (_, weight) in &mut row {
                *weight /= sum;
            }
        }
        rows.push_pairs(row.iter().copied());
    }
    repairs.report(slots.len(), place, findings);
    Ok((rows, repairs.invalid))
}

/// `joint` as an index if its slot is usable.
fn usable(slots: &[bool], joint: u32) -> Option<u16> {
    let usable = slots.get(joint as usize).copied().unwrap_or(false);
    u16::try_from(joint).ok().filter(|_| usable)
}

fn push(
    row: &mut Vec<(u16, f32)>,
    vertex: usize,
    joint: u32,
    weight: f32,
    slots: &[bool],
    repairs: &mut Repairs,
) {
    if !(weight > 0.0 && weight.is_finite()) {
        repairs.n_not_a_weight += 1;
        repairs.mark_broken(vertex);
        return;
    }
    let Some(joint) = usable(slots, joint) else {
        repairs.n_out_of_range += 1;
        repairs.mark_broken(vertex);
        repairs.out_of_range.get_or_insert((vertex, joint));
        return;
    };
    match row.iter_mut().find(|(j, _)| *j == joint) {
        Some((_, sum)) => *sum += weight,
        None => row.push((joint, weight)),
    }
}

impl Repairs {
    fn mark_broken(&mut self, vertex: usize) {
        let broken = &mut self.invalid.broken;
        if broken.last() != Some(&(vertex as u32)) {
            broken.push(vertex as u32);
        }
    }

    fn report(&self, n_slots: usize, place: &str, findings: &mut Findings) {
        if let Some((vertex, joint)) = self.out_of_range {
            findings.push(Finding::error(
                format!("{place}.attributes.JOINTS_0"),
                format!(
                    "Vertex {vertex} of {place} references joint {joint}, but its skin has {}; {} left out.",
                    counted(n_slots, "usable joint", "joints"),
                    counted(self.n_out_of_range, "such influence was", "such influences were"),
                ),
            ));
        }
        let weights_place = format!("{place}.attributes.WEIGHTS_0");
        if self.n_not_a_weight > 0 {
            findings.push(Finding::error(
                &weights_place,
                format!(
                    "{place} has {} or not a number; such weights were left out.",
                    counted(
                        self.n_not_a_weight,
                        "weight that is negative",
                        "weights that are negative"
                    )
                ),
            ));
        }
        if self.n_without > 0 {
            findings.push(Finding::warning(
                &weights_place,
                format!(
                    "{} of {place} without any weight: each was assigned to its first joint.",
                    counted(self.n_without, "vertex", "vertices")
                ),
            ));
        }
        if self.n_not_normalised > 0 {
            findings.push(Finding::warning(
                &weights_place,
                format!(
                    "The weights of {} of {place} did not sum to 1 (the worst sum was {:.3}); they were normalised.",
                    counted(self.n_not_normalised, "vertex", "vertices"),
                    self.worst_sum
                ),
            ));
        }
    }
}
