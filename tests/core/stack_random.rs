//! Random trees, rows, painted maps and poses through the whole stack: the library's f32 against the f64 reference.

use crate::reference::bones::Bones;
use crate::reference::compensation as reference;
use crate::reference::larger;
use crate::reference::projection::Blended;
use crate::reference::two_phase::{Local, Tree};
use crate::reference::{Rigid, Row, dqs, lbs};
use crate::skinning::Random;
use crate::stacks::Rig;
use glam::{DQuat, DVec3};
use sinew::deform::{
    BulgeProjection, Compensation, DeformStack, MaskKind, ScaleMode, SkinningMethod, TwistDamping,
};
use sinew::document::{Edit, MaskEdit, MeshId};
use sinew::math::Transform;
use sinew::skeleton::Pose;

const N_JOINTS: usize = 7;
const N_POINTS: usize = 300;

/// A tree whose joints are apart, points around its bones, rows of up to five joints.
struct Sample {
    tree: Tree,
    bones: Bones,
    positions: Vec<DVec3>,
    rows: Vec<Row>,
    masks: [Vec<f32>; 2],
}

impl Sample {
    fn new(random: &mut Random, stretched: bool) -> Self {
        let mut tree = Tree {
            parents: (0..N_JOINTS)
                .map(|j: usize| {
                    j.checked_sub(1)
                        .map(|top| (random.next() * (top as f64 + 0.99)) as usize)
                })
                .collect(),
            bind: Vec::new(),
            pose: Vec::new(),
        };
        for _ in 0..N_JOINTS {
            let t = random.vector(1.0).normalize_or(DVec3::X) * (0.5 + random.next());
            tree.bind.push(Local(t, DQuat::IDENTITY, DVec3::ONE));
            let axis = random.vector(1.0).normalize_or(DVec3::Y);
            let turn = DQuat::from_axis_angle(axis, 2.2 * random.next());
            let scale = if stretched {
                DVec3::ONE + random.vector(0.3)
            } else {
                DVec3::ONE
            };
            tree.pose.push(Local(t, turn, scale));
        }
        let origins: Vec<DVec3> = tree
            .world(&tree.bind)
            .iter()
            .map(|m| m.translation)
            .collect();
        let tails = (0..N_JOINTS)
            .map(|j| {
                let leaf = !tree.parents.contains(&Some(j));
                leaf.then(|| origins[j] + random.vector(1.0))
            })
            .collect();
        let bones = Bones {
            parents: tree.parents.clone(),
            origins,
            tails,
        };
        let (mut positions, mut rows) = (Vec::new(), Vec::new());
        for p in 0..N_POINTS {
            let near = bones.origins[p % N_JOINTS];
            positions.push(near + random.vector(0.6));
            let first = (random.next() * N_JOINTS as f64) as usize;
            let n = 1 + p % 5;
            let mut row: Row = (0..n)
                .map(|k| ((first + k) % N_JOINTS, 0.02 + random.next()))
                .collect();
            let sum: f64 = row.iter().map(|r| r.1).sum();
            // What f32 holds, so that both see the same pairs.
            for r in &mut row {
                r.1 = f64::from((r.1 / sum) as f32);
            }
            row.sort_by_key(|r| r.0);
            rows.push(row);
        }
        let mut mask = |limit: f64| {
            (0..N_POINTS)
                .map(|p| {
                    let painted = p % 3 == 0;
                    if painted {
                        (random.next() * limit) as f32
                    } else {
                        1.0
                    }
                })
                .collect()
        };
        let masks = [mask(2.0), mask(1.0)];
        Self {
            tree,
            bones,
            positions,
            rows,
            masks,
        }
    }

    /// The rig with its maps painted, and the pose.
    fn rig(&self) -> (Rig, Pose) {
        let triangles: Vec<[usize; 3]> = (0..N_POINTS / 3)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        let mut rig = Rig::new(&self.positions, &triangles, &self.rows, &self.bones);
        for (kind, values) in [MaskKind::Compensation, MaskKind::Projection]
            .into_iter()
            .zip(&self.masks)
        {
            let points = rig.points_of_vertices().to_vec();
            let mut edit = Edit::Mask(MaskEdit::new(MeshId(0), kind, points, values.clone()));
            rig.document.apply(&mut edit).unwrap();
        }
        let mut pose = Pose::rest(rig.document.skeleton());
        for (local, Local(t, q, s)) in pose.locals.iter_mut().zip(&self.tree.pose) {
            *local = Transform::from_trs(*t, *q, *s);
        }
        (rig, pose)
    }

    /// Where the reference puts the points.
    fn expected(
        &self,
        method: SkinningMethod,
        scale: ScaleMode,
        compensation: reference::Compensation,
        blended: Blended,
    ) -> Vec<DVec3> {
        let two_phase = self.tree.two_phase();
        let drops = scale == ScaleMode::Drop && method != SkinningMethod::Lbs;
        let (bones, motions): (Bones, Vec<Rigid>) = if drops {
            let about = |j: usize| {
                let g = self.bones.origins[j];
                let rotation = two_phase.motions[j].rotation;
                Rigid {
                    rotation,
                    translation: two_phase.skin_matrices[j].transform_point3(g) - rotation * g,
                }
            };
            (self.bones.clone(), (0..N_JOINTS).map(about).collect())
        } else {
            let tail = |j: usize| {
                let tail = self.bones.tails[j];
                tail.map(|t| two_phase.inflations[j].transform_point3(t))
            };
            let bones = Bones {
                parents: self.bones.parents.clone(),
                origins: two_phase.origins.clone(),
                tails: (0..N_JOINTS).map(tail).collect(),
            };
            (bones, two_phase.motions.clone())
        };
        (0..N_POINTS)
            .map(|v| {
                let (p, row) = (self.positions[v], &self.rows[v]);
                let bind = if drops { p } else { two_phase.inflate(p, row) };
                let posed = match method {
                    SkinningMethod::Lbs => lbs(p, row, &two_phase.skin_matrices),
                    _ => dqs(bind, row, &motions),
                };
                let compensation = reference::Compensation {
                    strength: compensation.strength * f64::from(self.masks[0][v]),
                    ..compensation
                };
                let r = bones.radius(bind, row);
                let posed = posed + compensation.offset(posed, row, r, &bones, &motions);
                let blended = Blended {
                    strength: blended.strength * f64::from(self.masks[1][v]),
                    ..blended
                };
                blended.project(bind, row, posed, &bones, &motions)
            })
            .collect()
    }
}

#[test]
fn random_models_equal_the_reference_under_the_whole_stack() {
    let mut random = Random::new(70);
    let mut worst = (0.0f64, 0.0f64);
    for trial in 0..60 {
        let sample = Sample::new(&mut random, trial % 3 > 0);
        let method = if trial % 5 == 4 {
            SkinningMethod::Lbs
        } else {
            SkinningMethod::Dqs
        };
        let scale = if trial % 4 == 3 {
            ScaleMode::Drop
        } else {
            ScaleMode::TwoPhase
        };
        let (twist, reference_twist) = [
            (TwistDamping::Axis, reference::Twist::Eq12),
            (TwistDamping::Sine, reference::Twist::Sine),
            (TwistDamping::Off, reference::Twist::Off),
        ][trial % 3];
        let (guard, siblings) = (trial % 2 == 0, trial % 7 == 2);
        let stack = DeformStack {
            scale,
            compensation: Compensation {
                twist,
                fold_guard: guard,
                siblings,
                strength: 1.2,
                ..Compensation::default()
            },
            projection: BulgeProjection {
                sibling_fade: siblings,
                strength: 0.9,
                ..BulgeProjection::default()
            },
            ..DeformStack::bare(method)
        };
        let expected = sample.expected(
            method,
            scale,
            reference::Compensation {
                twist: reference_twist,
                guard,
                sibling_pairs: siblings,
                strength: f64::from(1.2f32),
                ..reference::Compensation::default()
            },
            Blended {
                sibling_fade: siblings,
                strength: f64::from(0.9f32),
                ..Blended::default()
            },
        );
        let (mut rig, pose) = sample.rig();
        let actual = rig.run_pose(stack, &pose);
        for (v, (a, e)) in actual.iter().zip(&expected).enumerate() {
            let row = &sample.rows[v];
            let error = a.distance(*e);
            let largest = row.iter().map(|r| r.1).fold(0.0, larger);
            worst = (worst.0.max(error), worst.1.max(error * largest));
            // Blends of nearly opposed rotations lose digits.
            assert!(
                error < 4e-6 / largest,
                "trial {trial}, {method:?} {scale:?} {twist:?}, point {v}: {a} not {e}, row {row:?}"
            );
        }
    }
    println!(
        "largest error {:.1e}, times the largest weight {:.1e}",
        worst.0, worst.1
    );
}
