//! Automatic weights: against the artists' weights, on fingers, on broken meshes; locks, scope, cancel, threads.

use crate::export_models::open;
use crate::reference::larger;
use crate::shared::shared_dir;
use glam::{DAffine3, DVec3, Vec3};
use sinew::document::{Document, MeshId, MeshSource, PrimitiveSource};
use sinew::io::gltf_build::to_glb;
use sinew::io::import_bytes;
use sinew::math::Transform;
use sinew::mesh::{Mesh, PointSet};
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::{Joint, JointId, JointRule, Skeleton};
use sinew::skinning::{Influences, PaintRows, RowRef};
use sinew::task::Task;
use sinew::weights::automatic::Automatic;
use sinew::weights::transfer::{Transfer, TransferSource};
use sinew::weights::{JointPairs, Operation, OperationError, Outcome, Subject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A mesh with its skin, and what an operation may touch.
pub(crate) struct Case {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) artist: Influences,
    pub(crate) now: Influences,
    pub(crate) joints: Vec<JointId>,
    pub(crate) skeleton: Arc<Skeleton>,
    pub(crate) bind: Vec<DAffine3>,
    pub(crate) locked: Vec<bool>,
    pub(crate) acts_on: Option<Vec<bool>>,
    pub(crate) points: Option<PointSet>,
    pub(crate) pairs: JointPairs,
    pub(crate) max_influences: usize,
}

impl Case {
    /// A mesh of a document, its weights thrown away.
    pub(crate) fn new(document: &Document, mesh: MeshId) -> Self {
        let item = &document.meshes()[&mesh];
        let (_, skin) = document.skin_of_mesh(mesh).unwrap();
        let skeleton = document.skeleton().clone();
        let empty = RowRef {
            joints: &[],
            weights: &[],
        };
        Self {
            mesh: item.geometry.clone(),
            artist: item.influences.clone(),
            now: Influences::from_rows((0..item.geometry.n_points()).map(|_| empty)),
            joints: skin.joints.clone(),
            bind: skin.inverse_bind.iter().map(DAffine3::inverse).collect(),
            locked: vec![false; skin.joints.len()],
            acts_on: None,
            points: None,
            pairs: JointPairs::new(&skeleton, &BTreeMap::new()),
            skeleton,
            max_influences: 4,
        }
    }

    /// Every skinned mesh of a document.
    pub(crate) fn all(document: &Document) -> Vec<Self> {
        let meshes = document.meshes().keys();
        let skinned = meshes.filter(|&&m| document.skin_of_mesh(m).is_some());
        skinned.map(|&m| Self::new(document, m)).collect()
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            mesh: &self.mesh,
            rows: PaintRows::plain(&self.now),
            joints: &self.joints,
            skeleton: &self.skeleton,
            bind: &self.bind,
            to_world: DAffine3::IDENTITY,
            locked: &self.locked,
            acts_on: self.acts_on.as_deref(),
            points: self.points.as_ref(),
            pairs: &self.pairs,
            max_influences: self.max_influences,
            keep_sum: true,
        }
    }

    pub(crate) fn run(&self, how: Automatic) -> Outcome {
        Operation::Automatic(how)
            .run(&self.subject(), &Task::new())
            .unwrap()
    }

    /// All rows after an outcome.
    pub(crate) fn after(&self, outcome: &Outcome) -> Vec<Vec<(u16, f32)>> {
        let mut rows: Vec<Vec<(u16, f32)>> = self.now.iter().map(|r| r.iter().collect()).collect();
        for (&point, row) in outcome.points.iter().zip(outcome.rows.iter()) {
            rows[point as usize] = row.iter().collect();
        }
        rows
    }

    pub(crate) fn name(&self, joint: u16) -> &str {
        &self.skeleton.joint(self.joints[usize::from(joint)]).name
    }

    /// Half the sum of |difference| to the artist's weights: mean and 95th percentile over the points.
    pub(crate) fn error(&self, rows: &[Vec<(u16, f32)>]) -> (f32, f32) {
        let mut errors: Vec<f32> = rows
            .iter()
            .zip(self.artist.iter())
            .map(|(row, artist)| {
                let weight = |j: u16| row.iter().find(|e| e.0 == j).map_or(0.0, |e| e.1);
                let there: f32 = artist.iter().map(|(j, w)| (w - weight(j)).abs()).sum();
                let elsewhere = row.iter().filter(|e| artist.weight_of(e.0) == 0.0);
                (there + elsewhere.map(|e| e.1).sum::<f32>()) * 0.5
            })
            .collect();
        errors.sort_by(f32::total_cmp);
        let mean = errors.iter().sum::<f32>() / errors.len() as f32;
        (mean, errors[errors.len() * 95 / 100])
    }
}

pub(crate) fn sample_case(kind: SampleKind, n_points: usize) -> Case {
    let bytes = to_glb(&sample(kind, n_points));
    let imported = import_bytes(bytes.into(), None, None, &Task::new()).unwrap();
    Case::all(&Document::new(imported.parts).unwrap()).remove(0)
}

fn voxel(resolution: u32) -> Automatic {
    Automatic::Voxel {
        resolution,
        falloff: 0.3,
    }
}

fn biharmonic(resolution: u32) -> Automatic {
    Automatic::Biharmonic { resolution }
}

const SMALL: [(&str, Automatic); 3] = [
    ("heat", Automatic::Heat),
    (
        "voxel",
        Automatic::Voxel {
            resolution: 48,
            falloff: 0.3,
        },
    ),
    ("biharmonic", Automatic::Biharmonic { resolution: 24 }),
];

fn weight(row: &[(u16, f32)], joint: u16) -> f32 {
    row.iter().find(|e| e.0 == joint).map_or(0.0, |e| e.1)
}

fn check_rows(name: &str, case: &Case, rows: &[Vec<(u16, f32)>]) {
    for (point, row) in rows.iter().enumerate() {
        let sum: f32 = row.iter().map(|e| e.1).sum();
        assert!(
            (sum - 1.0).abs() < 1e-5,
            "{name}: point {point} sums to {sum}"
        );
        assert!(row.iter().all(|e| e.1 > 0.0), "{name}: {row:?}");
        assert!(row.len() <= case.max_influences, "{name}: {row:?}");
    }
}

/// The test cylinder: radius 1, length 10, elbow in the middle. Weights are even at the elbow, symmetric about it, and
/// fall along the bones.
#[test]
fn an_elbow_is_shared_evenly() {
    let case = sample_case(SampleKind::Cylinder, 800);
    for (name, how) in SMALL {
        let rows = case.after(&case.run(how));
        check_rows(name, &case, &rows);
        let mut along: Vec<(f32, f32)> = case
            .mesh
            .positions
            .iter()
            .zip(&rows)
            .map(|(p, row)| (p.x, weight(row, 1)))
            .collect();
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(x, w) in &along {
            if x.abs() < 1e-4 {
                assert!((w - 0.5).abs() < 0.03, "{name}: {w} at the elbow");
            }
            let there: Vec<f32> = along
                .iter()
                .filter(|a| (a.0 + x).abs() < 1e-4)
                .map(|a| a.1)
                .collect();
            let mirrored = there.iter().sum::<f32>() / there.len() as f32;
            // Blocks of the biharmonic proxy need not lie evenly about the elbow.
            assert!(
                name == "biharmonic" || (w + mirrored - 1.0).abs() < 0.06,
                "{name}: {w} at {x}, {mirrored} across"
            );
            if x.abs() > 3.0 {
                let own = if x > 0.0 { w } else { 1.0 - w };
                assert!(own > 0.9, "{name}: {own} at {x}");
            }
        }
    }
}

/// The finger that a joint belongs to.
fn finger(name: &str) -> Option<&str> {
    ["thumb", "index", "middle", "ring", "pinky"]
        .into_iter()
        .find(|f| name.starts_with(f))
}

#[test]
fn no_finger_takes_weight_from_another_ones_bones() {
    let case = sample_case(SampleKind::Hand, 1500);
    for (name, how) in [
        ("heat", Automatic::Heat),
        ("voxel", voxel(96)),
        ("biharmonic", biharmonic(32)),
    ] {
        let rows = case.after(&case.run(how));
        check_rows(name, &case, &rows);
        let (mut worst, mut n_compared) = (0.0f32, 0);
        for (row, artist) in rows.iter().zip(case.artist.iter()) {
            // Points that the artist gave to the outer bones of one finger alone.
            let own: Vec<Option<&str>> = artist.iter().map(|(j, _)| finger(case.name(j))).collect();
            let outer = artist.iter().all(|(j, _)| !case.name(j).contains(".01"));
            let Some(&Some(own)) = own.first().filter(|f| own.iter().all(|o| o == *f)) else {
                continue;
            };
            if !outer {
                continue;
            }
            n_compared += 1;
            for &(joint, w) in row {
                if finger(case.name(joint)).is_some_and(|f| f != own) {
                    worst = larger(worst, w);
                }
            }
        }
        assert!(n_compared > 200, "{name}: {n_compared} points");
        assert!(worst < 0.01, "{name}: {worst} on the wrong finger");
    }
}

#[test]
fn no_number_of_threads_changes_a_bit() {
    let case = sample_case(SampleKind::Hand, 700);
    for (name, how) in SMALL {
        let run = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(n_threads)
                .build()
                .unwrap();
            pool.install(|| case.run(how))
        };
        let one = run(1);
        assert!(one == run(2) && one == run(7), "{name}");
    }
}

#[test]
fn locked_weights_keep_every_bit_and_points_outside_of_the_scope_their_rows() {
    let mut case = sample_case(SampleKind::Hand, 700);
    case.now = case.artist.clone();
    let n = case.mesh.n_points() as u32;
    case.locked[3] = true;
    case.locked[7] = true;
    case.points = Some((0..n).filter(|p| p % 3 != 0).collect());
    for (name, how) in SMALL {
        let outcome = case.run(how);
        assert_eq!(
            outcome.report.considered,
            (0..n).filter(|p| p % 3 != 0).count()
        );
        assert!(outcome.report.changed > 100, "{name}");
        for (&point, row) in outcome.points.iter().zip(outcome.rows.iter()) {
            assert!(point % 3 != 0);
            let before = case.now.row(point);
            for joint in [3, 7] {
                let (a, b) = (before.weight_of(joint), row.weight_of(joint));
                assert_eq!(a.to_bits(), b.to_bits(), "{name}");
            }
            let sum: f32 = row.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{name}: {sum}");
        }
    }
    // Asked about one bone: the others share the rest as before.
    let mut case = sample_case(SampleKind::Arm, 600);
    case.now = case.artist.clone();
    case.acts_on = Some(vec![false, true, false]);
    let all = {
        let mut whole = sample_case(SampleKind::Arm, 600);
        whole.now = whole.artist.clone();
        whole.after(&whole.run(Automatic::Heat))
    };
    for (row, wanted) in case.after(&case.run(Automatic::Heat)).iter().zip(&all) {
        assert!((weight(row, 1) - weight(wanted, 1)).abs() < 1e-5);
    }
    // Nothing may take weight.
    case.locked = vec![true; 3];
    let refused = Operation::Automatic(Automatic::Heat).run(&case.subject(), &Task::new());
    assert!(matches!(refused, Err(OperationError::Refused(s)) if s.contains("locked")));
}

#[test]
fn cancelling_stops_before_and_within() {
    let case = sample_case(SampleKind::Hand, 1500);
    for (name, how) in SMALL.into_iter().chain([("fine", voxel(256))]) {
        let task = Task::new();
        task.cancel();
        let stopped = Operation::Automatic(how).run(&case.subject(), &task);
        assert!(
            matches!(stopped, Err(OperationError::Cancelled(_))),
            "{name}"
        );
    }
    let task = Task::new();
    let watcher = task.clone();
    let watching = std::thread::spawn(move || {
        while watcher.fraction() < 0.1 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        watcher.cancel();
    });
    let stopped = Operation::Automatic(voxel(256)).run(&case.subject(), &task);
    watching.join().unwrap();
    assert!(matches!(stopped, Err(OperationError::Cancelled(_))));
}

/// A mesh between two bones along x, at x = -1 to 0 and 0 to 1.
fn two_bones(positions: &[Vec3], triangles: &[[u32; 3]]) -> Case {
    let primitive = PrimitiveSource {
        positions: positions.to_vec(),
        triangles: triangles.to_vec(),
        influences: positions.iter().map(|_| vec![(0, 1.0)]).collect(),
        ..PrimitiveSource::default()
    };
    let built = MeshSource {
        name: "thing".into(),
        primitives: vec![primitive],
        morph_names: vec![],
    }
    .build();
    let joint = |name: &str, parent: Option<u32>, x: f64| Joint {
        name: name.into(),
        parent: parent.map(JointId),
        rest: Transform {
            translation: DVec3::new(x, 0.0, 0.0),
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule {
            tail: Some(DVec3::X),
            ..JointRule::default()
        },
    };
    let skeleton = Arc::new(
        Skeleton::new(vec![
            joint("left", None, -1.0),
            joint("right", Some(0), 1.0),
        ])
        .unwrap(),
    );
    Case {
        mesh: Arc::new(built.mesh),
        artist: built.influences.clone(),
        now: built.influences,
        joints: vec![JointId(0), JointId(1)],
        bind: vec![DAffine3::from_translation(-DVec3::X), DAffine3::IDENTITY],
        locked: vec![false; 2],
        acts_on: None,
        points: None,
        pairs: JointPairs::new(&skeleton, &BTreeMap::new()),
        skeleton,
        max_influences: 4,
    }
}

/// A box as its corners and triangles, wound outwards.
fn cuboid(low: Vec3, high: Vec3, positions: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    let first = positions.len() as u32;
    for i in 0..8 {
        let pick = |axis: usize| {
            if i >> axis & 1 == 1 {
                high[axis]
            } else {
                low[axis]
            }
        };
        positions.push(Vec3::new(pick(0), pick(1), pick(2)));
    }
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    for [a, b, c, d] in quads {
        triangles.push([a, b, c].map(|i| i + first));
        triangles.push([a, c, d].map(|i| i + first));
    }
}

#[test]
fn broken_meshes_get_sound_weights_and_notes_that_name_what_was_done() {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    cuboid(
        Vec3::new(-1.2, -0.3, -0.3),
        Vec3::new(1.2, 0.3, 0.3),
        &mut positions,
        &mut triangles,
    );
    let plain = two_bones(&positions, &triangles);
    // One more side at an edge, needles, triangles without extent, a point alone, a loose sheet far away.
    let n = positions.len() as u32;
    positions.extend([Vec3::new(0.0, 1.0, 0.0), Vec3::new(5.0, 5.0, 5.0)]);
    triangles.extend([[0, 1, n], [0, 0, 1], [2, 2, 2], [0, 1, 0]]);
    positions.extend([
        Vec3::new(1.0, 2.0, 0.0),
        Vec3::new(1.5, 2.0, 0.0),
        Vec3::new(1.0, 2.5, 0.0),
    ]);
    triangles.push([n + 2, n + 3, n + 4]);
    let broken = two_bones(&positions, &triangles);
    let open = two_bones(&positions[..8], &triangles[..8]);
    let flat = two_bones(
        &[
            Vec3::new(-1.0, 0.0, 0.0),
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 0.0, 0.0),
        ],
        &[[0, 1, 2]],
    );
    let point = two_bones(&[Vec3::ZERO], &[]);
    for (name, how) in SMALL {
        for (what, case) in [
            ("box", &plain),
            ("broken", &broken),
            ("open", &open),
            ("flat", &flat),
            ("point", &point),
        ] {
            let outcome = case.run(how);
            let rows = case.after(&outcome);
            check_rows(&format!("{name} {what}"), case, &rows);
            for (p, row) in case.mesh.positions.iter().zip(&rows) {
                if p.x < -0.9 && p.y.abs() < 0.5 {
                    assert!(weight(row, 0) > 0.5, "{name} {what}: {row:?} at {p}");
                }
                if p.x > 0.9 {
                    assert!(weight(row, 1) > 0.5, "{name} {what}: {row:?} at {p}");
                }
            }
            if what == "broken" && name != "heat" {
                let notes = outcome.report.notes.join(" ");
                assert!(
                    notes.contains("used the") && notes.contains("sland"),
                    "{name}: {notes}"
                );
            }
        }
    }
}

/// Its near side faces away from the bones, its far side is hidden behind that.
#[test]
fn a_closed_part_beside_the_bones_takes_the_heat_of_the_nearest_and_says_so() {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for [low, high] in [
        [Vec3::new(-1.2, -0.3, -0.3), Vec3::new(1.2, 0.3, 0.3)],
        [Vec3::new(2.0, -0.2, -0.2), Vec3::new(2.4, 0.2, 0.2)],
    ] {
        cuboid(low, high, &mut positions, &mut triangles);
    }
    let case = two_bones(&positions, &triangles);
    let outcome = case.run(Automatic::Heat);
    let rows = case.after(&outcome);
    check_rows("beside", &case, &rows);
    for row in &rows[8..] {
        assert!(weight(row, 1) > 0.99, "{row:?}");
    }
    assert_eq!(
        outcome.report.notes,
        ["Island of 8 vertices from which no bone is visible: used the nearest bone."]
    );
}

/// A closed bar along x between two heights, with seven rings of points, wound counter-clockwise seen from outside.
fn finger_of_rings(low: f32, high: f32, positions: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    let first = positions.len() as u32;
    let corners = [(low, -0.3), (high, -0.3), (high, 0.3), (low, 0.3)];
    for ring in 0..7 {
        let x = -1.2 + 0.4 * ring as f32;
        positions.extend(corners.map(|(y, z)| Vec3::new(x, y, z)));
    }
    let at = |ring: u32, corner: u32| first + 4 * ring + corner % 4;
    for ring in 0..6 {
        for c in 0..4 {
            let [a, b] = [at(ring, c), at(ring, c + 1)];
            let [d, e] = [at(ring + 1, c), at(ring + 1, c + 1)];
            triangles.extend([[a, b, d], [b, e, d]]);
        }
    }
    triangles.extend([
        [at(0, 0), at(0, 2), at(0, 1)],
        [at(0, 0), at(0, 3), at(0, 2)],
    ]);
    triangles.extend([
        [at(6, 0), at(6, 1), at(6, 2)],
        [at(6, 0), at(6, 2), at(6, 3)],
    ]);
}

/// Two fingers, bones through both: heat tells them apart however close, grids where the gap is wider than a cell.
#[test]
fn parts_that_nearly_touch_do_not_share() {
    for ((name, how), half_gap) in SMALL.into_iter().zip([0.004, 0.1, 0.2]) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        finger_of_rings(-0.8, -half_gap, &mut positions, &mut triangles);
        finger_of_rings(half_gap, 0.8, &mut positions, &mut triangles);
        let mut case = two_bones(&positions, &triangles);
        for (k, bind) in case.bind.iter_mut().enumerate() {
            *bind = DAffine3::from_translation(DVec3::new(-1.0, 0.5 * (2.0 * k as f64 - 1.0), 0.0));
        }
        let mut joints = case.skeleton.joints().to_vec();
        joints[1].parent = None;
        for joint in &mut joints {
            joint.rule.tail = Some(DVec3::X * 2.0);
        }
        case.skeleton = Arc::new(Skeleton::new(joints).unwrap());
        let rows = case.after(&case.run(how));
        for (p, row) in case.mesh.positions.iter().zip(&rows) {
            let own = u16::from(p.y > 0.0);
            assert!(weight(row, own) > 0.98, "{name}: {row:?} at {p}");
        }
    }
}

/// Mean errors against the artists' weights. The limits are what was reached, rounded up: none may get worse unseen.
#[test]
fn errors_against_the_artists_weights() {
    let arm = sample_case(SampleKind::Arm, 1000);
    let hand = sample_case(SampleKind::Hand, 1500);
    let mannequin = sample_case(SampleKind::Mannequin, 3000);
    let mut cases = vec![
        ("arm", arm, LIMITS[0]),
        ("hand", hand, LIMITS[1]),
        ("mannequin", mannequin, LIMITS[2]),
    ];
    if let Some(shared) = shared_dir("errors_against_the_artists_weights") {
        for (name, limits) in [
            ("cesium_man", LIMITS[3]),
            ("fox", LIMITS[4]),
            ("mannequiny", LIMITS[5]),
        ] {
            let document = open(&shared.join("models").join(name).join(format!("{name}.glb")));
            cases.push((name, Case::all(&document).remove(0), limits));
        }
    }
    for (name, case, limits) in cases {
        for ((method, how), limit) in SMALL.into_iter().zip(limits) {
            let rows = case.after(&case.run(how));
            check_rows(name, &case, &rows);
            let (mean, p95) = case.error(&rows);
            println!("{name} {method}: mean {mean:.3}, p95 {p95:.3}");
            assert!(mean < limit, "{name} {method}: mean {mean}, p95 {p95}");
        }
    }
}

/// arm, hand, mannequin, cesium_man, fox, mannequiny: heat, voxel, biharmonic.
const LIMITS: [[f32; 3]; 6] = [
    [0.02, 0.02, 0.03],
    [0.10, 0.10, 0.16],
    [0.13, 0.19, 0.25],
    [0.10, 0.18, 0.17],
    [0.30, 0.33, 0.36],
    [0.30, 0.40, 0.47],
];

fn source_of(case: &Case, prefix: &str) -> TransferSource {
    TransferSource {
        name: "other".into(),
        positions: case.mesh.positions.clone(),
        triangles: case.mesh.topology().triangles.clone(),
        rows: case
            .artist
            .iter()
            .map(|r| r.iter().collect::<Vec<_>>())
            .collect(),
        joints: (0..case.joints.len() as u16)
            .map(|j| format!("{prefix}{}", case.name(j)))
            .collect(),
    }
}

/// A coarser arm takes the weights of a finer one, and the other way round, through the command line.
#[test]
fn the_command_line_transfers_between_arms_of_other_densities() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    for (name, n_points) in [("coarse.glb", 700), ("fine.glb", 2600)] {
        std::fs::write(file(name), to_glb(&sample(SampleKind::Arm, n_points))).unwrap();
    }
    for (to, from) in [("coarse.glb", "fine.glb"), ("fine.glb", "coarse.glb")] {
        let out = file("out.glb");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.arg("weights").arg(file(to));
        // So that nothing is left of its own weights.
        command.args(["--auto", "voxel", "--resolution", "32", "--transfer"]);
        command.arg(file(from)).arg("--out").arg(&out);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let made = Case::all(&open(&out)).remove(0);
        let wanted = Case::all(&open(&file(to))).remove(0);
        let rows: Vec<Vec<(u16, f32)>> = made.artist.iter().map(|r| r.iter().collect()).collect();
        let (mean, p95) = wanted.error(&rows);
        assert!(mean < 0.02 && p95 < 0.08, "{to}: {mean} {p95}");
    }
}

#[test]
fn weights_come_from_the_closest_places_and_the_rest_is_filled_in() {
    let other = sample_case(SampleKind::Arm, 2000);
    let case = sample_case(SampleKind::Arm, 700);
    let run = |transfer: &Transfer, case: &Case| {
        Operation::Transfer(transfer.clone())
            .run(&case.subject(), &Task::new())
            .unwrap()
    };
    // By names that differ in case and prefix.
    let mut source = source_of(&other, "rig:");
    source.joints.iter_mut().for_each(|j| *j = j.to_uppercase());
    let whole = run(&Transfer::new(Arc::new(source.clone())), &case);
    let rows = case.after(&whole);
    check_rows("whole", &case, &rows);
    let (mean, p95) = case.error(&rows);
    assert!(mean < 0.01 && p95 < 0.03, "{mean} {p95}");
    assert_eq!(whole.report.notes, [""; 0]);
    // Without the part around the elbow: filled in, nearly as good.
    source.triangles.retain(|t| {
        t.iter()
            .all(|&p| source.positions[p as usize].x.abs() > 0.05)
    });
    let mut transfer = Transfer::new(Arc::new(source.clone()));
    transfer.max_distance = 0.01;
    let holes = run(&transfer, &case);
    let rows = case.after(&holes);
    check_rows("holes", &case, &rows);
    let (mean, _) = case.error(&rows);
    assert!(mean < 0.06, "{mean}");
    assert!(holes.report.notes[0].contains("filled in over the surface"));
    // Left as they are: named, with the points.
    transfer.in_paint = false;
    let left = run(&transfer, &case);
    assert!(left.report.left_out[0].why.contains("without a match"));
    assert!(left.report.left_out[0].points.count() > 10);
    assert!(
        left.points
            .iter()
            .all(|&p| !left.report.left_out[0].points.contains(p))
    );
    // Nothing near: the closest however far, and a note.
    let mut far = source.clone();
    far.positions.iter_mut().for_each(|p| p.y += 40.0);
    let far = run(&Transfer::new(Arc::new(far)), &case);
    check_rows("far", &case, &case.after(&far));
    assert!(
        far.report.notes[0].contains("at any distance"),
        "{:?}",
        far.report.notes
    );
    // Locked joints keep every bit.
    let mut locked = sample_case(SampleKind::Arm, 700);
    locked.now = locked.artist.clone();
    locked.locked[0] = true;
    let outcome = run(&Transfer::new(Arc::new(source.clone())), &locked);
    for (&point, row) in outcome.points.iter().zip(outcome.rows.iter()) {
        let before = locked.now.row(point).weight_of(0);
        assert_eq!(before.to_bits(), row.weight_of(0).to_bits());
    }
    // No name in common.
    source.joints.iter_mut().for_each(|j| j.push_str("_x"));
    let refused =
        Operation::Transfer(Transfer::new(Arc::new(source))).run(&case.subject(), &Task::new());
    assert!(matches!(refused, Err(OperationError::Refused(s)) if s.contains("other")));
}
