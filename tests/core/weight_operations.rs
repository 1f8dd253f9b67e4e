//! Operations on weights: what each promises, and what any sequence of them keeps.

use glam::{DAffine3, DVec3, Vec3};
use proptest::prelude::*;
use sinew::math::{Axis, Transform};
use sinew::mesh::{Mesh, PointSet};
use sinew::skeleton::{Joint, JointId, JointRule, Skeleton};
use sinew::skinning::{Influences, PaintRows, Rows};
use sinew::task::Task;
use sinew::weights::file::{WeightsFile, WeightsOfMesh};
use sinew::weights::operation::{
    Copied, Flood, Import, Levels, Mirroring, Operation, OperationError, Outcome, PasteBy, Subject,
};
use sinew::weights::{JointPairs, PaintRules, set_weight};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) type Row = Vec<(u16, f32)>;

/// Names of the bones of every test: one of the middle, three pairs, one that only the left side has.
const BONES: [&str; 8] = [
    "Spine", "Arm.L", "Arm.R", "Hand.L", "Hand.R", "Leg.L", "Leg.R", "Wing.L",
];

/// A mesh with rows, and what operations may touch.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) influences: Influences,
    joints: Vec<JointId>,
    skeleton: Arc<Skeleton>,
    bind: Vec<DAffine3>,
    pub(crate) locked: Vec<bool>,
    pub(crate) acts_on: Option<Vec<bool>>,
    pub(crate) points: Option<PointSet>,
    pairs: JointPairs,
    pub(crate) max_influences: usize,
    pub(crate) keep_sum: bool,
}

/// Half the number of columns of the sheet, and its rows.
const HALF: u32 = 3;
const HIGH: u32 = 6;
const WIDE: u32 = 2 * HALF + 1;
/// The sheet's points, then the upper side of a cut along column 1 and the same of the mirrored column.
const N_SHEET: u32 = WIDE * HIGH;
const N_POINTS: u32 = N_SHEET + 2 * HIGH;

#[allow(
    clippy::field_reassign_with_default,
    reason = "some fields are the crate's own"
)]
fn sheet() -> Mesh {
    let mut positions: Vec<Vec3> = (0..N_SHEET)
        .map(|i| {
            let (x, y) = ((i % WIDE) as f32 - HALF as f32, (i / WIDE) as f32);
            Vec3::new(x * 0.1, y * 0.12, (x.abs() + y * 1.3).sin() * 0.02)
        })
        .collect();
    let mut triangles = Vec::new();
    for y in 0..HIGH - 1 {
        for x in 0..WIDE - 1 {
            let a = y * WIDE + x;
            let [b, c, d] = [a + 1, a + WIDE + 1, a + WIDE];
            triangles.extend(if x < HALF {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    for (column, outer) in [(1, 0), (WIDE - 2, WIDE - 1)] {
        for y in 0..HIGH {
            let (old, new) = (y * WIDE + column, positions.len() as u32);
            positions.push(positions[old as usize]);
            for triangle in &mut triangles {
                if triangle.iter().any(|&c| c < N_SHEET && c % WIDE == outer) {
                    let side = triangle.iter_mut().filter(|c| **c == old);
                    side.for_each(|c| *c = new);
                }
            }
        }
    }
    let n = positions.len();
    let mut mesh = Mesh::default();
    mesh.name = "Sheet".into();
    mesh.point_of_vertex = (0..n as u32).collect();
    mesh.normal_of_vertex = vec![0; n];
    mesh.normals = vec![Vec3::Z];
    mesh.point_of_normal = vec![0];
    mesh.positions = positions;
    mesh.triangles = triangles;
    mesh
}

/// The mirror image of a point of the sheet.
pub(crate) fn image(point: u32) -> u32 {
    if point >= N_SHEET {
        let i = point - N_SHEET;
        return N_SHEET + (i + HIGH) % (2 * HIGH);
    }
    point / WIDE * WIDE + (WIDE - 1 - point % WIDE)
}

fn image_of_bone(bone: u16) -> u16 {
    match bone {
        1..=6 => ((bone - 1) ^ 1) + 1,
        other => other,
    }
}

/// The bones of all tests as a skeleton: each pair at +-x.
pub(crate) fn skeleton() -> Skeleton {
    let joints = BONES.iter().enumerate().map(|(i, name)| {
        let side = match name.rsplit_once('.') {
            Some((_, "L")) => 0.3,
            Some(_) => -0.3,
            None => 0.0,
        };
        Joint {
            name: (*name).into(),
            parent: (i > 0).then_some(JointId(0)),
            rest: Transform {
                translation: DVec3::new(side, (i as f64 / 2.0).ceil() * 0.1, 0.0),
                ..Transform::IDENTITY
            },
            source_node: None,
            content_of: None,
            removed: false,
            rule: JointRule::default(),
        }
    });
    Skeleton::new(joints.collect()).unwrap()
}

impl Bench {
    pub(crate) fn new(row: impl Fn(u32) -> Row) -> Self {
        let rows: Rows = (0..N_POINTS).map(row).collect();
        let skeleton = skeleton();
        let n = BONES.len();
        Self {
            mesh: Arc::new(sheet()),
            influences: Influences::from_rows(rows.iter()),
            joints: (0..n as u32).map(JointId).collect(),
            bind: skeleton
                .joints()
                .iter()
                .map(|j| DAffine3::from_translation(j.rest.translation))
                .collect(),
            locked: vec![false; n],
            acts_on: None,
            points: None,
            pairs: JointPairs::new(&skeleton, &BTreeMap::new()),
            skeleton: Arc::new(skeleton),
            max_influences: 4,
            keep_sum: true,
        }
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            mesh: &self.mesh,
            rows: PaintRows::plain(&self.influences),
            joints: &self.joints,
            skeleton: &self.skeleton,
            bind: &self.bind,
            to_world: DAffine3::IDENTITY,
            locked: &self.locked,
            acts_on: self.acts_on.as_deref(),
            points: self.points.as_ref(),
            pairs: &self.pairs,
            max_influences: self.max_influences,
            keep_sum: self.keep_sum,
        }
    }

    pub(crate) fn run(&self, operation: &Operation) -> Result<Outcome, OperationError> {
        operation.run(&self.subject(), &Task::new())
    }

    pub(crate) fn apply(&mut self, outcome: &Outcome) {
        let mut rows = outcome.rows.clone();
        self.influences.swap_rows(&outcome.points, &mut rows);
    }

    fn done(&mut self, operation: &Operation) -> Outcome {
        let outcome = self.run(operation).unwrap();
        self.apply(&outcome);
        outcome
    }

    pub(crate) fn row(&self, point: u32) -> Row {
        self.influences.row(point).iter().collect()
    }

    fn weight(&self, point: u32, bone: u16) -> f32 {
        self.influences.row(point).weight_of(bone)
    }
}

fn refused(result: Result<Outcome, OperationError>) -> String {
    match result {
        Err(OperationError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// The column of a point, 0 in the middle.
fn column(point: u32) -> i32 {
    let column = if point < N_SHEET {
        point % WIDE
    } else if point < N_SHEET + HIGH {
        1
    } else {
        WIDE - 2
    };
    column as i32 - HALF as i32
}

/// A row that fades from the spine to the arms and hands, symmetric.
fn fading(point: u32) -> Row {
    let x = column(point);
    let (arm, hand) = if x > 0 { (1, 3) } else { (2, 4) };
    match x.abs() {
        0 => vec![(0, 0.5), (1, 0.25), (2, 0.25)],
        1 => vec![(0, 0.75), (arm, 0.25)],
        2 => vec![(0, 0.25), (arm, 0.5), (hand, 0.25)],
        _ => vec![(arm, 0.25), (hand, 0.75)],
    }
}

fn bone(index: u32) -> JointId {
    JointId(index)
}

fn mirroring() -> Mirroring {
    Mirroring {
        axis: Axis::X,
        ..Mirroring::default()
    }
}

#[test]
fn normalising_touches_only_sums_that_are_off() {
    let mut bench = Bench::new(|p| match p {
        3 => vec![(0, 0.5), (1, 1.5)],
        4 => vec![(0, 0.25)],
        5 => vec![],
        _ => vec![(0, 1.0)],
    });
    bench.locked[0] = true;
    let outcome = bench.done(&Operation::Normalise);
    assert_eq!(outcome.points, [3]);
    assert_eq!(bench.row(3), [(0, 0.5), (1, 0.5)]);
    assert_eq!(outcome.report.considered, N_POINTS as usize);
    let left: Vec<_> = outcome.report.left_out.iter().collect();
    let of = |why: &str| left.iter().find(|l| l.why.contains(why)).unwrap();
    assert!(of("without any weight").points.contains(5));
    assert!(of("no other unlocked bone").points.contains(4));
    bench.locked[0] = false;
    bench.acts_on = Some((0..8).map(|j| j == 1).collect());
    bench.done(&Operation::Normalise);
    assert_eq!(
        bench.row(4),
        [(0, 1.0)],
        "others change as the sum needs it"
    );
}

#[test]
fn limiting_and_pruning_keep_sums_and_locks() {
    let row = vec![(0, 0.4), (1, 0.3), (2, 0.2), (3, 0.06), (4, 0.04)];
    let mut bench = Bench::new(|_| row.clone());
    bench.locked[4] = true;
    bench.done(&Operation::Limit { most: 3 });
    let sum: f32 = bench.row(7).iter().map(|e| e.1).sum();
    assert_eq!(bench.row(7).len(), 3);
    assert_eq!(bench.weight(7, 4), 0.04);
    assert!((sum - 1.0).abs() < 1e-6);
    let outcome = bench.done(&Operation::Prune { below: 0.9 });
    assert_eq!(bench.row(7).len(), 2, "the largest and the locked one");
    assert_eq!(outcome.points.len(), N_POINTS as usize);
    assert!(refused(bench.run(&Operation::Limit { most: 0 })).contains("at least 1"));
    assert!(refused(bench.run(&Operation::Prune { below: 1.5 })).contains("0 - 1"));
}

#[test]
fn operations_on_one_bone_change_it_and_rescale_the_others() {
    let only = |bone: usize| Some((0..8).map(|j| j == bone).collect::<Vec<bool>>());
    // The arm is smoothed; what it gives or takes, the other unlocked bones share in their proportion.
    let mut bench = Bench::new(fading);
    bench.acts_on = only(1);
    let smooth = Operation::Smooth {
        iterations: 1,
        strength: 0.5,
    };
    let before = bench.influences.clone();
    let outcome = bench.done(&smooth);
    assert!(outcome.points.len() > 8, "{}", outcome.points.len());
    for &point in &outcome.points {
        let (old, new) = (before.row(point), bench.row(point));
        let sum: f32 = new.iter().map(|e| e.1).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        let (was, is) = (old.weight_of(1), bench.weight(point, 1));
        assert!((was - is).abs() > 1e-4, "{point}: {was} {is}");
        for (joint, weight) in old.iter().filter(|e| e.0 != 1) {
            let share = weight / (1.0 - was) * (1.0 - is);
            assert!((bench.weight(point, joint) - share).abs() < 1e-5, "{point}");
        }
    }
    // Where the bone has all of the weight, its neighbours' bones take what it gives away.
    let mut bench = Bench::new(|p| vec![(u16::from(column(p) > 0), 1.0)]);
    bench.acts_on = only(1);
    bench.done(&smooth);
    let inside = (0..N_SHEET).find(|p| column(*p) == 1).unwrap();
    let (own, others) = (bench.weight(inside, 1), bench.weight(inside, 0));
    assert!((0.5..0.95).contains(&own), "{own}");
    assert!((own + others - 1.0).abs() < 1e-6);
    // Pruned and rounded, the one bone only.
    let mut bench = Bench::new(|_| vec![(0, 0.57), (1, 0.04), (2, 0.36), (3, 0.03)]);
    bench.acts_on = only(1);
    bench.locked[2] = true;
    bench.done(&Operation::Prune { below: 0.1 });
    assert_eq!((bench.weight(7, 1), bench.weight(7, 2)), (0.0, 0.36));
    assert!((bench.weight(7, 0) - 0.64 * 0.57 / 0.6).abs() < 1e-6);
    assert!(bench.weight(7, 3) > 0.03, "not asked about, so scaled");
    let mut bench = Bench::new(|_| vec![(0, 0.57), (1, 0.23), (2, 0.2)]);
    bench.acts_on = only(1);
    bench.done(&Operation::Quantise { steps: 10 });
    assert!((bench.weight(7, 1) - 0.2).abs() < 1e-6);
    assert!((bench.weight(7, 0) - 0.8 * 0.57 / 0.77).abs() < 1e-6);
}

#[test]
fn flooding_and_inverting_move_one_bone_and_say_where_they_cannot() {
    let mut bench = Bench::new(fading);
    bench.points = Some([3, 10, 17].into_iter().collect());
    let flood = |value, how| Operation::Flood {
        joint: bone(1),
        value,
        how,
    };
    let outcome = bench.done(&flood(0.5, Flood::Replace));
    assert_eq!(outcome.points, [3, 10, 17]);
    assert_eq!(bench.weight(3, 1), 0.5);
    bench.done(&flood(0.25, Flood::Subtract));
    assert_eq!(bench.weight(3, 1), 0.25);
    bench.done(&flood(2.0, Flood::Scale));
    assert_eq!(bench.weight(3, 1), 0.5);
    bench.done(&flood(1.0, Flood::Add));
    assert_eq!(bench.row(3), [(1, 1.0)]);
    let outcome = bench.done(&flood(0.25, Flood::Replace));
    assert!(outcome.points.is_empty());
    assert_eq!(outcome.report.left_out[0].points.count(), 3);
    bench.points = None;
    bench.done(&Operation::Invert { joint: bone(0) });
    assert_eq!(bench.weight(0, 0), 1.0);
    bench.locked[1] = true;
    assert!(refused(bench.run(&flood(0.5, Flood::Add))).contains("\"Arm.L\" is locked"));
}

#[test]
fn raw_sums_stay_raw_without_keeping_them() {
    let mut bench = Bench::new(fading);
    bench.keep_sum = false;
    bench.done(&Operation::Flood {
        joint: bone(7),
        value: 0.5,
        how: Flood::Replace,
    });
    assert_eq!(bench.row(3), [(0, 0.5), (1, 0.25), (2, 0.25), (7, 0.5)]);
    let limited = bench.done(&Operation::Limit { most: 2 });
    assert_eq!(limited.points.len(), N_POINTS as usize);
    let sum: f32 = bench.row(3).iter().map(|e| e.1).sum();
    assert!((sum - 1.5).abs() < 1e-6, "limiting keeps the sum that was");
}

#[test]
fn levels_stretch_weights() {
    let mut bench = Bench::new(|_| vec![(0, 0.75), (1, 0.25)]);
    let levels = Levels {
        joint: Some(bone(1)),
        low: 0.0,
        high: 0.5,
        ..Levels::default()
    };
    bench.done(&Operation::Levels(levels));
    assert_eq!(bench.row(0), [(0, 0.5), (1, 0.5)]);
    let all = Levels {
        joint: None,
        low: 0.5,
        high: 1.0,
        ..Levels::default()
    };
    bench.apply(
        &Operation::Levels(levels)
            .run(&bench.subject(), &Task::new())
            .unwrap(),
    );
    assert_eq!(bench.row(0), [(1, 1.0)]);
    assert!(
        bench
            .run(&Operation::Levels(all))
            .unwrap()
            .points
            .is_empty()
    );
    let wrong = Levels {
        low: 0.6,
        high: 0.6,
        ..Levels::default()
    };
    assert!(refused(bench.run(&Operation::Levels(wrong))).contains("above"));
}

#[test]
fn quantised_weights_are_whole_steps_with_the_same_sum() {
    let mut bench = Bench::new(|p| {
        let third = 1.0 / 3.0;
        if p % 2 == 0 {
            vec![(0, third), (1, third), (2, third)]
        } else {
            vec![(0, 0.62), (1, 0.33), (2, 0.05)]
        }
    });
    let outcome = bench.done(&Operation::Quantise { steps: 10 });
    assert_eq!(bench.row(0), [(0, 0.4), (1, 0.3), (2, 0.3)]);
    assert_eq!(bench.row(1), [(0, 0.6), (1, 0.3), (2, 0.1)]);
    assert_eq!(outcome.points.len(), N_POINTS as usize);
    let again = bench.run(&Operation::Quantise { steps: 10 }).unwrap();
    assert!(again.points.is_empty());
    bench.locked[1] = true;
    let outcome = bench.done(&Operation::Quantise { steps: 4 });
    assert_eq!(bench.weight(0, 1), 0.3);
    assert!(
        outcome.report.left_out[0]
            .why
            .contains("no multiple of the step")
    );
}

#[test]
fn weights_move_between_bones() {
    let mut bench = Bench::new(fading);
    bench.done(&Operation::Move {
        from: bone(0),
        to: bone(7),
        share: 0.5,
    });
    assert_eq!(bench.row(3), [(0, 0.25), (1, 0.25), (2, 0.25), (7, 0.25)]);
    bench.done(&Operation::Merge {
        from: vec![bone(1), bone(2), bone(7)],
        to: bone(0),
    });
    assert_eq!(bench.row(3), [(0, 1.0)]);
    bench.done(&Operation::Swap {
        a: bone(0),
        b: bone(6),
    });
    assert_eq!(bench.row(3), [(6, 1.0)]);
    let same = Operation::Swap {
        a: bone(0),
        b: bone(0),
    };
    assert!(refused(bench.run(&same)).contains("itself"));
    let mut few = Bench::new(|_| vec![(0, 0.4), (1, 0.3), (2, 0.2), (3, 0.1)]);
    let outcome = few.done(&Operation::Move {
        from: bone(0),
        to: bone(7),
        share: 0.5,
    });
    assert_eq!(few.row(0).len(), 4);
    assert!(
        outcome.report.notes[0].contains("lost their smallest"),
        "{:?}",
        outcome.report.notes
    );
}

#[test]
fn smoothing_spreads_and_keeps_the_sides_of_seams_together() {
    let mut bench = Bench::new(|p| {
        if column(p) < 0 {
            vec![(2, 1.0)]
        } else {
            vec![(1, 1.0)]
        }
    });
    let outcome = bench.done(&Operation::Smooth {
        iterations: 3,
        strength: 0.5,
    });
    assert!(outcome.report.changed > 20);
    assert!(bench.weight(3, 2) > 0.1 && bench.weight(2, 1) > 0.1);
    for y in 0..HIGH {
        assert_eq!(bench.row(y * WIDE + 1), bench.row(N_SHEET + y));
        assert_eq!(
            bench.row(y * WIDE + WIDE - 2),
            bench.row(N_SHEET + HIGH + y)
        );
    }
    let mut flat = Bench::new(|_| vec![(0, 0.3), (1, 0.7)]);
    let same = flat.done(&Operation::Smooth {
        iterations: 50,
        strength: 1.0,
    });
    assert!(same.points.is_empty(), "what is smooth keeps every bit");
}

#[test]
fn smoothing_some_bones_leaves_the_others() {
    let mut bench = Bench::new(|p| {
        let one = if column(p) < 0 { 2 } else { 1 };
        vec![(0, 0.5), (one, 0.5)]
    });
    bench.locked[0] = true;
    bench.done(&Operation::Smooth {
        iterations: 4,
        strength: 1.0,
    });
    for p in 0..N_POINTS {
        assert_eq!(bench.weight(p, 0), 0.5);
    }
    assert!(bench.weight(2, 1) > 0.1);
}

#[test]
fn hammering_takes_out_what_stands_out() {
    let smooth = |p: u32| {
        let t = (column(p) + HALF as i32) as f32 / (2 * HALF) as f32;
        vec![(1, 0.1 + 0.8 * t), (2, 0.9 - 0.8 * t)]
    };
    let mut bench = Bench::new(|p| if p == 17 { vec![(6, 1.0)] } else { smooth(p) });
    let outcome = bench.done(&Operation::Hammer);
    assert_eq!(outcome.points, [17]);
    assert!(
        (bench.weight(17, 1) - 0.5).abs() < 0.02,
        "{:?}",
        bench.row(17)
    );
    let again = bench.run(&Operation::Hammer).unwrap();
    assert!(again.points.is_empty());
    assert!(again.report.notes[0].contains("No vertex differs much"));

    // A whole patch is filled from its rim.
    let patch: PointSet = [16, 17, 18, 23, 24, 25].into_iter().collect();
    let mut bench = Bench::new(|p| {
        if patch.contains(p) {
            vec![(6, 1.0)]
        } else {
            smooth(p)
        }
    });
    bench.points = Some(patch.clone());
    bench.done(&Operation::Hammer);
    for p in patch.iter() {
        assert_eq!(bench.weight(p, 6), 0.0);
        assert!((bench.weight(p, 1) - smooth(p)[0].1).abs() < 0.1);
    }
}

#[test]
fn mirroring_copies_one_side_by_pairs() {
    let lopsided = |p: u32| match column(p) {
        0 => vec![(0, 0.5), (1, 0.5)],
        x if x > 0 => fading(p),
        _ => vec![(0, 1.0)],
    };
    let mut bench = Bench::new(lopsided);
    let outcome = bench.done(&Operation::Mirror(mirroring()));
    for p in 0..N_POINTS {
        let mirrored: Row = bench
            .row(image(p))
            .into_iter()
            .map(|(j, w)| (image_of_bone(j), w))
            .collect();
        for (j, w) in &mirrored {
            assert_eq!(bench.weight(p, *j), *w, "{p}");
        }
    }
    assert_eq!(bench.row(3), [(0, 0.5), (1, 0.25), (2, 0.25)]);
    assert!(outcome.report.notes[0].contains("by position"));
    assert!(outcome.report.left_out.is_empty());
    let again = bench.run(&Operation::Mirror(mirroring())).unwrap();
    assert!(again.points.is_empty(), "twice is once");
    let back = Mirroring {
        from_positive: false,
        ..mirroring()
    };
    assert!(
        bench
            .run(&Operation::Mirror(back))
            .unwrap()
            .points
            .is_empty()
    );
}

#[test]
fn what_has_no_other_side_is_told() {
    let mut bench = Bench::new(|p| {
        if column(p) > 0 {
            vec![(7, 1.0)]
        } else {
            vec![(0, 1.0)]
        }
    });
    let mut mesh = sheet();
    mesh.positions[0] = Vec3::new(-1.0, 0.0, 0.0);
    mesh.triangles.retain(|t| !t.contains(&0));
    bench.mesh = Arc::new(mesh);
    let outcome = bench.done(&Operation::Mirror(mirroring()));
    let notes = outcome.report.notes.join(" ");
    assert!(
        notes.contains("\"Wing.L\" has no matching bone on the other side"),
        "{notes}"
    );
    assert!(notes.contains("goes to \"Spine\""), "{notes}");
    let left = &outcome.report.left_out[0];
    assert_eq!(left.why, "without a counterpart on the other side");
    assert!(left.points.contains(0) && left.points.contains(image(0)));
}

#[test]
fn flipping_twice_restores_every_bit() {
    let mut bench = Bench::new(|p| match column(p) {
        x if x > 0 => fading(p),
        0 => vec![(1, 0.7), (0, 0.3)],
        _ => vec![(0, 0.9), (6, 0.1)],
    });
    let before = bench.influences.clone();
    let outcome = bench.done(&Operation::Flip(mirroring()));
    assert!(outcome.report.changed > 30);
    assert_eq!(bench.row(0), [(2, 0.25), (4, 0.75)]);
    assert_eq!(bench.row(3), [(2, 0.7), (0, 0.3)]);
    bench.done(&Operation::Flip(mirroring()));
    assert_eq!(bench.influences, before);
}

#[test]
fn a_scope_on_either_side_mirrors_its_pairs() {
    let mut bench = Bench::new(|p| {
        if column(p) > 0 {
            fading(p)
        } else {
            vec![(0, 1.0)]
        }
    });
    bench.points = Some([6].into_iter().collect());
    let outcome = bench.done(&Operation::Mirror(mirroring()));
    assert_eq!(outcome.points, [0]);
}

/// Unnamed meshes and bones that share their names.
#[test]
fn weights_of_bones_with_one_name_come_back_from_a_file() {
    let mut bench = Bench::new(fading);
    let mut joints = bench.skeleton.joints().to_vec();
    for joint in &mut joints[1..4] {
        joint.name = "Bone".into();
    }
    bench.skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let before = bench.influences.clone();
    let labels = bench.joints.iter().map(|&j| bench.skeleton.label(j));
    let entry = |x: f32, rows: Rows| WeightsOfMesh {
        name: "Sheet".into(),
        bones: labels.clone().collect(),
        positions: bench
            .mesh
            .positions
            .iter()
            .map(|p| *p + Vec3::X * x)
            .collect(),
        rows,
    };
    let mut rows = Rows::default();
    before.iter().for_each(|row| rows.push(row));
    let other: Rows = (0..N_POINTS).map(|_| vec![(0, 1.0)]).collect();
    let file = WeightsFile {
        meshes: vec![entry(9.0, other), entry(0.0, rows)],
    };
    let import = Operation::Import(Import {
        file: Arc::new(file),
        replace: true,
    });
    for (p, bone) in [(4, 5), (20, 6)] {
        let mut row: Rows = [vec![(bone, 1.0)]].into_iter().collect();
        bench.influences.swap_rows(&[p], &mut row);
    }
    let outcome = bench.done(&import);
    assert_eq!(outcome.points, [4, 20]);
    for p in 0..N_POINTS {
        let was: Row = before.row(p).iter().collect();
        assert_eq!(bench.row(p), was, "point {p}");
    }
    let notes = outcome.report.notes.join(" ");
    assert!(
        notes.contains("used the one whose vertices lie nearest"),
        "{notes}"
    );
    assert!(
        notes.contains("matched by their order: \"Bone\"."),
        "{notes}"
    );
}

fn copied(bench: &Bench, points: &[u32]) -> Arc<Copied> {
    let topology = bench.mesh.topology();
    Arc::new(Copied {
        mesh_name: "Sheet".into(),
        n_points: N_POINTS as usize,
        points: points.to_vec(),
        rows: points.iter().map(|&p| bench.row(p)).collect(),
        joints: BONES.iter().map(|&n| n.to_owned()).collect(),
        surface: Arc::new((bench.mesh.positions.clone(), topology.triangles.clone())),
    })
}

#[test]
fn pasting_puts_rows_back_by_point_and_by_surface() {
    let source = Bench::new(fading);
    let all: Vec<u32> = (0..N_POINTS).collect();
    let mut bench = Bench::new(|_| vec![(6, 1.0)]);
    let paste = |copied: Arc<Copied>, by| Operation::Paste { copied, by };
    bench.done(&paste(copied(&source, &[4, 9]), PasteBy::Point));
    assert_eq!((bench.row(4), bench.row(9)), (fading(4), fading(9)));
    assert_eq!(bench.row(5), [(6, 1.0)]);
    bench.done(&paste(copied(&source, &all), PasteBy::Surface));
    for p in 0..N_POINTS {
        for (j, w) in fading(p) {
            assert!((bench.weight(p, j) - w).abs() < 1e-5, "{p}");
        }
    }
    let mut part = Bench::new(|_| vec![(6, 1.0)]);
    part.done(&paste(copied(&source, &[23, 24, 30, 31]), PasteBy::Surface));
    assert_eq!((part.row(24), part.row(31)), (fading(24), fading(31)));
    assert_eq!(
        part.row(0),
        [(6, 1.0)],
        "what was not copied is not asked about"
    );
    bench.done(&paste(copied(&source, &[6]), PasteBy::Point));
    assert!(
        all.iter().all(|&p| bench.row(p) == fading(6)),
        "one row goes to every point"
    );
    let mut strange = Copied::clone(&copied(&source, &[1, 2]));
    strange.joints = vec!["Nobody".into(); 8];
    let refusal = refused(bench.run(&paste(Arc::new(strange), PasteBy::Point)));
    assert!(refusal.contains("None of the bones"), "{refusal}");
}

#[test]
fn nothing_runs_on_locked_bones_alone() {
    let mut bench = Bench::new(fading);
    bench.locked.fill(true);
    assert!(refused(bench.run(&Operation::Normalise)).contains("locked"));
    let task = Task::new();
    task.cancel();
    bench.locked.fill(false);
    let stopped = Operation::Hammer.run(&bench.subject(), &task);
    assert!(matches!(stopped, Err(OperationError::Cancelled(_))));
}

fn any_row(n_bones: u16) -> impl Strategy<Value = Row> {
    let entries = proptest::collection::btree_map(0..n_bones, 1..1000u32, 1..7);
    entries.prop_map(|entries| {
        let total: u32 = entries.values().sum();
        let row = entries.into_iter();
        row.map(|(j, w)| (j, (f64::from(w) / f64::from(total)) as f32))
            .collect()
    })
}

fn any_bone() -> impl Strategy<Value = JointId> {
    (0..8u32).prop_map(JointId)
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let how = prop_oneof![
        Just(Flood::Replace),
        Just(Flood::Add),
        Just(Flood::Subtract),
        Just(Flood::Scale)
    ];
    let sides = any::<bool>().prop_map(|from_positive| Mirroring {
        from_positive,
        ..mirroring()
    });
    prop_oneof![
        Just(Operation::Normalise),
        (1..6usize).prop_map(|most| Operation::Limit { most }),
        (0.0..0.6f32).prop_map(|below| Operation::Prune { below }),
        (1..6u32, 0.0..=1.0f32).prop_map(|(iterations, strength)| Operation::Smooth {
            iterations,
            strength
        }),
        Just(Operation::Hammer),
        (any_bone(), 0.0..=1.0f32, how).prop_map(|(joint, value, how)| Operation::Flood {
            joint,
            value,
            how
        }),
        any_bone().prop_map(|joint| Operation::Invert { joint }),
        (
            proptest::option::of(any_bone()),
            0.0..0.5f32,
            0.5..=1.0f32,
            0.2..5.0f32,
            0.0..0.3f32
        )
            .prop_map(|(joint, low, high, gamma, out_low)| {
                Operation::Levels(Levels {
                    joint,
                    low,
                    high: high + 0.01 - 0.01 * high,
                    gamma,
                    out_low,
                    out_high: 1.0,
                })
            }),
        (2..300u32).prop_map(|steps| Operation::Quantise { steps }),
        (any_bone(), any_bone(), 0.0..=1.0f32).prop_map(|(from, to, share)| Operation::Move {
            from,
            to,
            share
        }),
        (proptest::collection::vec(any_bone(), 1..3), any_bone())
            .prop_map(|(from, to)| Operation::Merge { from, to }),
        (any_bone(), any_bone()).prop_map(|(a, b)| Operation::Swap { a, b }),
        sides.clone().prop_map(Operation::Mirror),
        sides.prop_map(Operation::Flip),
    ]
}

/// An operation, or a dab of the brush: bone, weight, point.
#[derive(Clone, Debug)]
enum Step {
    Operation(Operation),
    Stroke(u16, f32, u32),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any_operation().prop_map(Step::Operation),
        1 => (0..8u16, 0.0..=1.0f32, 0..N_POINTS).prop_map(|(j, w, p)| Step::Stroke(j, w, p)),
    ]
}

fn any_bench() -> impl Strategy<Value = Bench> {
    (
        proptest::collection::vec(any_row(8), N_POINTS as usize),
        proptest::collection::vec(prop::bool::weighted(0.25), 8),
        proptest::option::of(proptest::collection::vec(prop::bool::weighted(0.6), 8)),
        proptest::option::of(proptest::collection::vec(0..N_POINTS, 1..30)),
        1..6usize,
    )
        .prop_map(|(rows, locked, acts_on, points, max_influences)| {
            let mut bench = Bench::new(|p| rows[p as usize].clone());
            bench.locked = locked;
            bench.acts_on = acts_on;
            bench.points = points.map(|points| points.into_iter().collect());
            bench.max_influences = max_influences;
            bench
        })
}

/// What holds between the rows before and after one operation.
fn check(bench: &Bench, before: &Influences, step: &Step, outcome: &Outcome) {
    let is_mirror = matches!(
        step,
        Step::Operation(Operation::Mirror(_) | Operation::Flip(_))
    );
    let most = match step {
        Step::Operation(Operation::Limit { most }) => *most,
        _ => bench.max_influences,
    };
    assert!(outcome.points.is_sorted());
    assert_eq!(outcome.report.changed, outcome.points.len());
    for (&point, row) in outcome.points.iter().zip(outcome.rows.iter()) {
        assert!(is_mirror || bench.points.as_ref().is_none_or(|p| p.contains(point)));
        let old = before.row(point);
        let n_locked = row.joints.iter().filter(|&&j| bench.locked[usize::from(j)]);
        let fixed = match step {
            // Limit drops only what it is asked about.
            Step::Operation(Operation::Limit { .. }) => {
                let asked = |j: u16| {
                    !bench.locked[usize::from(j)]
                        && bench.acts_on.as_ref().is_none_or(|a| a[usize::from(j)])
                };
                row.joints.iter().filter(|&&j| !asked(j)).count()
            }
            _ => n_locked.count(),
        };
        assert!(
            row.len() <= most.max(fixed + 1),
            "{step:?} at {point}: {row:?}"
        );
        let sum: f64 = row.weights.iter().map(|&w| f64::from(w)).sum();
        assert!(
            (sum - 1.0).abs() < 1e-5,
            "{step:?} at {point}: {sum}, {row:?} from {old:?}"
        );
        for (i, (joint, weight)) in row.iter().enumerate() {
            assert!(weight.is_finite() && weight >= 0.0);
            assert!(usize::from(joint) < 8 && !row.joints[..i].contains(&joint));
        }
        for (j, _) in bench.locked.iter().enumerate().filter(|(_, l)| **l) {
            let (was, is) = (old.weight_of(j as u16), row.weight_of(j as u16));
            assert_eq!(was.to_bits(), is.to_bits(), "{step:?} at {point}: bone {j}");
        }
    }
}

/// What a step makes of the rows; `None` where it is refused.
fn outcome_of(bench: &Bench, step: &Step) -> Option<Outcome> {
    match step {
        Step::Operation(operation) => match bench.run(operation) {
            Ok(outcome) => Some(outcome),
            Err(OperationError::Refused(why)) => {
                assert!(why.ends_with('.') && why.len() > 10, "{why}");
                None
            }
            Err(error) => panic!("{error}"),
        },
        Step::Stroke(joint, weight, point) => {
            let rules = PaintRules {
                locked: &bench.locked,
                normalise: true,
                max_influences: bench.max_influences,
            };
            let mut row = Vec::new();
            let old = bench.influences.row(*point);
            let changed = set_weight(old, *joint, *weight, &rules, &mut row);
            let mut outcome = Outcome::default();
            if changed {
                outcome.points.push(*point);
                outcome.rows.push_pairs(row);
            }
            Some(outcome)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_sequence_keeps_sums_locks_and_limits(
        mut bench in any_bench(),
        steps in proptest::collection::vec(any_step(), 1..8),
    ) {
        for step in &steps {
            let before = bench.influences.clone();
            let Some(outcome) = outcome_of(&bench, step) else { continue };
            if let Step::Operation(_) = step {
                check(&bench, &before, step, &outcome);
            }
            bench.apply(&outcome);
            let mut rows = outcome.rows.clone();
            let mut undone = bench.influences.clone();
            // Swapping the old rows in again restores every bit.
            let mut old = Rows::default();
            outcome.points.iter().for_each(|&p| old.push(before.row(p)));
            undone.swap_rows(&outcome.points, &mut old);
            prop_assert_eq!(&undone, &before);
            prop_assert_eq!(&old, &rows);
            rows = old;
            undone.swap_rows(&outcome.points, &mut rows);
            prop_assert_eq!(&undone, &bench.influences);
        }
    }

    #[test]
    fn threads_do_not_matter(bench in any_bench(), step in any_step()) {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| outcome_of(&bench, &step))
        };
        let one = on(1);
        prop_assert_eq!(&one, &on(2));
        prop_assert_eq!(&one, &on(7));
    }

    #[test]
    fn mirroring_twice_is_mirroring_once(mut bench in any_bench(), positive in any::<bool>()) {
        let mirror = Operation::Mirror(Mirroring { from_positive: positive, ..mirroring() });
        let outcome = match bench.run(&mirror) {
            Ok(outcome) => outcome,
            // Only locks and the scope can leave nothing to change.
            Err(refused) => {
                let why = refused.to_string();
                prop_assert!(why.contains("locked"), "{why}");
                return Ok(());
            }
        };
        bench.apply(&outcome);
        let once = bench.influences.clone();
        let again = bench.run(&mirror).unwrap();
        prop_assert!(again.points.is_empty(), "{:?}: {:?} -> {:?}", again.points,
            again.points.iter().map(|&p| once.row(p)).collect::<Vec<_>>(), again.rows);
    }

    #[test]
    fn what_is_symmetric_stays_so_bit_for_bit(
        rows in proptest::collection::vec(any_row(7), N_POINTS as usize),
        positive in any::<bool>(),
    ) {
        let mirrored = |row: &Row| -> Row { row.iter().map(|&(j, w)| (image_of_bone(j), w)).collect() };
        let bench = Bench::new(|p| match column(p) {
            0 => vec![(0, 0.5), (3, 0.25), (4, 0.25)],
            x if x > 0 => rows[p as usize].clone(),
            _ => mirrored(&rows[image(p) as usize]),
        });
        let mirror = Operation::Mirror(Mirroring { from_positive: positive, ..mirroring() });
        prop_assert_eq!(bench.run(&mirror).unwrap().points, Vec::<u32>::new());
    }
}
