//! Weights of a generated body at any point of space, from its bones and cones.
//!
//! Every bone passes a fraction of its weight to each child: all of it far beyond the child's joint, half of it at the
//! joint, by the normal distribution along the limb; none away from the cones of the child's limb. So a finger never
//! moves its neighbour and an arm never the chest, however close they are.

use super::field::Field;
use super::rig::Rig;
use glam::DVec3;

/// Weights below this are dropped.
const SMALLEST: f64 = 0.004;

/// Weights are multiples of 1 / 65536: their sums are exact in f32.
const QUANTUM: f64 = 65536.0;

/// The normal distribution's integral up to `x` standard deviations.
pub(super) fn normal_integral(x: f64) -> f64 {
    0.5 * (1.0 + libm::erf(x / std::f64::consts::SQRT_2))
}

/// Precomputed data of a rig for [`row_at`].
pub(super) struct Falloffs {
    /// Plane of each joint: unit normal.
    normals: Vec<DVec3>,
    children: Vec<Vec<u16>>,
}

impl Falloffs {
    pub(super) fn new(rig: &Rig) -> Self {
        let mut children = vec![Vec::new(); rig.bones.len()];
        for (i, bone) in rig.bones.iter().enumerate() {
            if let Some(p) = bone.parent {
                children[p as usize].push(i as u16);
            }
        }
        let normals = rig
            .bones
            .iter()
            .map(|bone| {
                let own = bone.direction();
                let parent = bone.parent.map(|p| &rig.bones[p as usize]);
                // A continuing limb bends in its bisecting plane, a branch starts at its own plane.
                match parent {
                    Some(p) if p.tail.distance(bone.head) < 1e-6 => {
                        (own + p.direction()).try_normalize().unwrap_or(own)
                    }
                    _ => own,
                }
            })
            .collect();
        Self { normals, children }
    }
}

/// The influences of a point at `p` of the body's surface: at most 4, largest first, sum exactly 1.
pub(super) fn row_at(rig: &Rig, falloffs: &Falloffs, field: &Field, p: DVec3) -> Vec<(u16, f32)> {
    let n = rig.bones.len();
    let mut own = vec![f64::INFINITY; n];
    for &i in field.candidates(p) {
        let part = &field.parts[i as usize];
        for (cone, joint) in [(part.cone, part.joint)].into_iter().chain(part.twin) {
            let slot = &mut own[joint as usize];
            *slot = slot.min(cone.hit(p).distance);
        }
    }
    // The distance to the cones of a bone and its descendants; parents come before children.
    let mut limb = own.clone();
    for i in (0..n).rev() {
        if let Some(parent) = rig.bones[i].parent {
            limb[parent as usize] = limb[parent as usize].min(limb[i]);
        }
    }
    let mut held = vec![0.0; n];
    let mut rest = vec![f64::INFINITY; n];
    held[0] = 1.0;
    let mut shares: Vec<(u16, f64)> = Vec::new();
    for i in 0..n {
        if held[i] <= 0.0 {
            continue;
        }
        shares.clear();
        let mut sum = 0.0;
        for &c in &falloffs.children[i] {
            let bone = &rig.bones[c as usize];
            // Everything except this child's limb.
            let mut others = rest[i].min(own[i]);
            for &sibling in &falloffs.children[i] {
                if sibling != c {
                    others = others.min(limb[sibling as usize]);
                }
            }
            rest[c as usize] = others;
            let along = (p - bone.head).dot(falloffs.normals[c as usize]);
            let past = normal_integral(along / bone.falloff);
            let lead = others - limb[c as usize];
            let share = if limb[c as usize].is_infinite() {
                0.0
            } else if lead.is_infinite() {
                1.0
            } else {
                // Far inside its own limb a point may lie behind the joint's plane (a hand beside the hip).
                let radius = bone.falloff / 0.63;
                let inside = smooth_step((lead / radius - 0.3) / 0.7);
                past.max(inside) * (1.0 - smooth_step(-lead / bone.reach))
            };
            if share > 0.0 {
                shares.push((c, share));
                sum += share;
            }
        }
        let scale = held[i] / sum.max(1.0);
        let mut given = 0.0;
        for &(c, share) in &shares {
            held[c as usize] = share * scale;
            given += share * scale;
        }
        held[i] -= given;
    }
    exact_row(held)
}

fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// The four largest of `weights`, which need not be normalised, as f32 that sum to exactly 1 in any order.
pub(super) fn exact_row(weights: impl IntoIterator<Item = f64>) -> Vec<(u16, f32)> {
    let mut row: Vec<(u16, f64)> = weights
        .into_iter()
        .enumerate()
        .filter(|&(_, w)| w > SMALLEST)
        .map(|(j, w)| (j as u16, w - SMALLEST))
        .collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.truncate(4);
    let sum: f64 = row.iter().map(|&(_, w)| w).sum();
    let mut left = QUANTUM;
    let mut out: Vec<(u16, f32)> = Vec::with_capacity(4);
    for &(joint, w) in row.iter().skip(1) {
        let parts = libm::round(w / sum * QUANTUM);
        if parts > 0.0 {
            left -= parts;
            out.push((joint, (parts / QUANTUM) as f32));
        }
    }
    let first = row.first().map_or(0, |&(joint, _)| joint);
    out.insert(0, (first, (left / QUANTUM) as f32));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_four_and_sum_to_one_exactly() {
        let row = exact_row([0.1, 0.3, 0.001, 0.07, 0.2, 0.33]);
        assert_eq!(row.iter().map(|r| r.0).collect::<Vec<_>>(), [5, 1, 4, 0]);
        assert_eq!(row.iter().map(|r| r.1).sum::<f32>(), 1.0);
        assert_eq!(row.iter().rev().map(|r| r.1).sum::<f32>(), 1.0);
    }

    #[test]
    fn the_normal_integral_matches_the_known_values() {
        assert!((normal_integral(-1.0 / 0.63) - 0.0562221779605446).abs() < 1e-15);
        assert!((normal_integral(0.5 / 0.63) - (1.0 - 0.2136993768107953)).abs() < 1e-15);
    }
}
