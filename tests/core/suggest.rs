//! Suggested corrective samples: relaxed shapes against the figures of an independent implementation in double precision
//! on the same models, and what the samples made of them do in a document.

use crate::editing::EditorHarness;
use crate::shared::shared_dir;
use glam::{DMat3, DQuat, DVec3, Vec3};
use sinew::deform::StackPreset;
use sinew::deform::correctives::{CapturedOver, Correctives, Driver, Sample, SampleSet};
use sinew::document::{CorrectivesEdit, Document, Edit};
use sinew::evaluate::Evaluator;
use sinew::math::{Worse, sparse::FactorError};
use sinew::psd::DriverMode;
use sinew::relax::{Coarse, Metrics, Posed, Region, RelaxSettings, Relaxed, Start, relax};
use sinew::skeleton::{JointId, Pose};
use sinew::suggest::{
    JointSkin, OutlineOf, Poser, SuggestError, SuggestSettings, Suggestion, suggest, tune,
};
use sinew::task::Task;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A joint of a sample model that is bent about its own x axis.
pub(crate) struct Bend {
    pub(crate) document: Document,
    pub(crate) skin: JointSkin,
}

fn open(path: &Path, preset: StackPreset) -> Document {
    let mut document = sinew::io::open_any(path, &Task::new()).unwrap().document;
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(preset.stack());
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    document
}

fn joint(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints.find(|&j| skeleton.label(j) == name).unwrap()
}

impl Bend {
    pub(crate) fn new(model: &str, name: &str, preset: StackPreset) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("assets")
            .join(model);
        let document = open(&path, preset);
        let joint = joint(&document, name);
        let instance = JointSkin::instances(&document, joint)[0];
        let skin = JointSkin::new(&document, instance, joint, &Task::new()).unwrap();
        Self { document, skin }
    }

    pub(crate) fn pose_about(&self, axis: DVec3, degrees: f64) -> Pose {
        let mut pose = Pose::clone(self.document.rest_pose());
        let local = &mut pose.locals[self.skin.joint.get()];
        local.rotation *= DQuat::from_axis_angle(axis, degrees.to_radians());
        pose
    }

    fn posed(&self, degrees: f64, outline: OutlineOf) -> Posed {
        let pose = self.pose_about(DVec3::X, degrees);
        Poser::new(&self.document, outline).pose(&self.skin, &pose)
    }

    fn region(&self, posed: &Posed) -> Region {
        let (region, n_held) =
            Region::choose(&self.skin.around, std::slice::from_ref(&posed.skinned));
        assert_eq!(n_held, 0);
        region
    }

    fn relaxed(&self, region: &Region, posed: &Posed) -> Relaxed {
        relax(
            &self.skin.around,
            region,
            posed,
            &RelaxSettings::default(),
            Start::Skinned,
            &Task::new(),
        )
        .unwrap()
    }

    fn metrics(&self, region: &Region, posed: &Posed, x: &[DVec3], pose: &Pose) -> Metrics {
        let axes = self.skin.bone_axes(self.document.skeleton(), pose);
        Metrics::new(&self.skin.around, region, &posed.skinned, x, &axes)
    }

    /// The measures before and after at an angle about an axis, in the region of the bend of `reach` degrees.
    fn row(&self, axis: DVec3, degrees: f64, reach: f64) -> [Metrics; 2] {
        let posed_at = |degrees: f64| {
            let pose = self.pose_about(axis, degrees);
            let posed = Poser::new(&self.document, OutlineOf::ThisStack).pose(&self.skin, &pose);
            (pose, posed)
        };
        let (region, _) = Region::choose(&self.skin.around, &[posed_at(reach).1.skinned]);
        let (pose, posed) = posed_at(degrees);
        let relaxed = self.relaxed(&region, &posed);
        [&posed.skinned, &relaxed.positions].map(|x| self.metrics(&region, &posed, x, &pose))
    }
}

fn largest(moved: &[(u32, DVec3)]) -> f64 {
    moved.iter().map(|(_, d)| d.length()).fold(0.0, f64::worse)
}

#[track_caller]
pub(crate) fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} is not {expected}"
    );
}

#[test]
fn nothing_happens_in_the_bind_pose() {
    let bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let posed = bend.posed(0.0, OutlineOf::ThisStack);
    let region = bend.region(&posed);
    let relaxed = bend.relaxed(&region, &posed);
    assert_eq!((relaxed.n_contacts, relaxed.displacements.len()), (0, 0));
    assert!(relaxed.iterations <= 5);
    let moved = relaxed
        .positions
        .iter()
        .zip(&posed.skinned)
        .map(|(a, b)| a.distance(*b));
    let moved = moved.fold(0.0, f64::worse) / bend.skin.around.radius;
    assert!(moved < 5e-6, "{moved:e}");
}

/// Measured: 966 free points; crossing 118 -> 0, volume -4.7 -> -2.0 %, strain .91 -> .56, dihedral 11.0 -> 9.2 degrees,
/// displacement .39.
#[test]
fn an_elbow_unfolds_with_its_volume() {
    let bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let [before, after] = bend.row(DVec3::X, 120.0, 120.0);
    near(before.crossings as f64, 118.0, 3.0);
    near(before.volume, -0.047, 0.001);
    near(before.strain, 0.91, 0.01);
    near(before.dihedral.to_degrees(), 11.0, 0.1);
    assert_eq!(after.crossings, 0);
    near(after.volume, -0.02, 0.001);
    assert!(after.strain <= 0.60, "{}", after.strain);
    near(after.dihedral.to_degrees(), 9.2, 0.3);
    near(after.displacement, 0.39, 0.05);
    near(after.outline, 0.22, 0.04);
}

/// What the oracle measured of a joint at an angle, in the order before, after.
struct Row {
    joint: (&'static str, &'static str),
    preset: StackPreset,
    axis: DVec3,
    degrees: f64,
    crossings: [usize; 2],
    strain: [f64; 2],
    /// Percent before, where it was measured.
    volume: Option<f64>,
    /// Degrees, where it was measured.
    dihedral: Option<[f64; 2]>,
    /// Radii, where it was measured.
    displacement: Option<f64>,
    /// Other angles: crossings and strain.
    also: Vec<(f64, [usize; 2], [f64; 2])>,
    /// Crossings at 140 degrees, beyond the range of the joint.
    beyond: Option<[usize; 2]>,
}

impl Row {
    fn new(model: &'static str, joint: &'static str, axis: DVec3, degrees: f64) -> Self {
        Self {
            joint: (model, joint),
            preset: StackPreset::Default,
            axis,
            degrees,
            crossings: [0; 2],
            strain: [0.0; 2],
            volume: None,
            dihedral: None,
            displacement: None,
            also: Vec::new(),
            beyond: None,
        }
    }

    fn under(self, preset: StackPreset) -> Self {
        Self { preset, ..self }
    }

    fn crossings(self, crossings: [usize; 2]) -> Self {
        Self { crossings, ..self }
    }

    fn strain(self, strain: [f64; 2]) -> Self {
        Self { strain, ..self }
    }

    fn volume(self, percent: f64) -> Self {
        Self {
            volume: Some(percent),
            ..self
        }
    }

    fn dihedral(self, dihedral: [f64; 2]) -> Self {
        Self {
            dihedral: Some(dihedral),
            ..self
        }
    }

    fn displacement(self, displacement: f64) -> Self {
        Self {
            displacement: Some(displacement),
            ..self
        }
    }

    /// At a smaller angle.
    fn at(mut self, degrees: f64, crossings: [usize; 2], strain: [f64; 2]) -> Self {
        self.also.push((degrees, crossings, strain));
        self
    }

    /// At 140 degrees.
    fn beyond(self, crossings: [usize; 2]) -> Self {
        Self {
            beyond: Some(crossings),
            ..self
        }
    }

    /// Compares it with what is found here; what differs.
    fn misses(&self, folder: &Path) -> Vec<String> {
        let mut misses = Vec::new();
        let (model, name) = self.joint;
        let path = folder.join(model);
        let bend = Bend::new(path.to_str().unwrap(), name, self.preset);
        if let Some(crossings) = self.beyond {
            let [before, after] = bend.row(self.axis, 140.0, 140.0);
            let what = format!("{model} {name} {:?} 140: {before:?} {after:?}", self.preset);
            println!("{what}");
            if before.crossings.abs_diff(crossings[0]) > 3 || after.crossings > crossings[1] {
                misses.push(format!("{crossings:?}: {what}"));
            }
        }
        let own = (self.degrees, self.crossings, self.strain);
        for (degrees, crossings, strain) in self.also.iter().copied().chain([own]) {
            let [before, after] = bend.row(self.axis, degrees, self.degrees);
            let what = format!("{model} {name} {degrees}: {before:?} {after:?}");
            println!("{what}");
            let mut near = |found: f64, expected: f64, tolerance: f64| {
                let is_near = (found - expected).abs() <= tolerance;
                if !is_near {
                    misses.push(format!("{found}, not {expected}: {what}"));
                }
            };
            near(before.crossings as f64, crossings[0] as f64, 3.0);
            near(
                after.crossings.saturating_sub(crossings[1]) as f64,
                0.0,
                0.0,
            );
            near(after.volume, 0.0, 0.02 + 1e-9);
            // The 99th percentile of a region that the oracle chose for the whole range.
            let tolerance = if degrees == self.degrees { 0.02 } else { 0.03 };
            near(before.strain, strain[0], tolerance);
            near(after.strain, strain[1], 0.03);
            if degrees != self.degrees {
                continue;
            }
            if let Some(percent) = self.volume {
                near(100.0 * before.volume, percent, 0.3);
            }
            if let Some([expected, relaxed]) = self.dihedral {
                near(before.dihedral.to_degrees(), expected, 0.3);
                near(after.dihedral.to_degrees(), relaxed, 0.6);
            }
            if let Some(expected) = self.displacement {
                near(after.displacement, expected, 0.05);
            }
        }
        misses
    }
}

/// At 120 degrees no triangle crosses another, the volume is within 2 %, and strain and creases are as measured.
#[test]
fn elbows_fingers_knees_and_shoulders_unfold_under_every_method() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let elbow = || Row::new("arm.glb", "forearm", DVec3::X, 120.0);
    let knee = || Row::new("mannequin.glb", "shin.L", DVec3::X, 120.0);
    let rows = [
        elbow()
            .under(StackPreset::Lbs)
            .crossings([116, 0])
            .volume(-10.5)
            .at(60.0, [0, 0], [0.51, 0.29])
            .at(90.0, [56, 0], [0.63, 0.36])
            .strain([0.61, 0.44])
            .dihedral([9.3, 9.8])
            .displacement(0.54)
            .beyond([168, 0]),
        elbow()
            .crossings([118, 0])
            .volume(-4.7)
            .at(60.0, [0, 0], [0.7, 0.3])
            .at(90.0, [94, 0], [0.73, 0.43])
            .strain([0.91, 0.56])
            .dihedral([11.0, 9.2])
            .displacement(0.39)
            .beyond([173, 0]),
        Row::new("hand.glb", "index.02.L", DVec3::X, 120.0)
            .crossings([55, 0])
            .volume(-6.1)
            .at(60.0, [0, 0], [0.72, 0.32])
            .at(90.0, [33, 0], [0.83, 0.41])
            .strain([0.94, 0.51])
            .dihedral([18.7, 13.0])
            .displacement(0.45)
            .beyond([87, 0]),
        Row::new("mannequin.glb", "forearm.L", DVec3::X, 120.0)
            .crossings([59, 0])
            .volume(-6.1)
            .at(60.0, [0, 0], [0.63, 0.28])
            .at(90.0, [40, 0], [0.76, 0.39])
            .strain([0.87, 0.49])
            .dihedral([22.1, 13.4])
            .displacement(0.46)
            .beyond([83, 0]),
        knee()
            .under(StackPreset::Lbs)
            .crossings([72, 0])
            .volume(-11.1)
            .at(60.0, [0, 0], [0.55, 0.3])
            .at(90.0, [34, 0], [0.71, 0.35])
            .strain([0.66, 0.40])
            .dihedral([14.2, 12.8])
            .displacement(0.48)
            .beyond([113, 0]),
        knee()
            .under(StackPreset::Dqs)
            .crossings([70, 0])
            .volume(-1.9)
            .at(60.0, [0, 0], [0.6, 0.29])
            .at(90.0, [34, 0], [0.89, 0.42])
            .strain([1.20, 0.55])
            .dihedral([14.7, 11.3])
            .displacement(0.48)
            .beyond([115, 0]),
        knee()
            .crossings([72, 0])
            .volume(-5.9)
            .at(60.0, [0, 0], [0.65, 0.3])
            .at(90.0, [42, 0], [0.82, 0.39])
            .strain([0.92, 0.51])
            .dihedral([15.7, 12.0])
            .displacement(0.48)
            .beyond([114, 0]),
        Row::new("mannequin.glb", "upper_arm.L", DVec3::Z, 120.0)
            .crossings([53, 0])
            .volume(3.6)
            .at(60.0, [0, 0], [1.44, 0.48])
            .at(90.0, [0, 0], [2.13, 0.65])
            .strain([2.85, 0.78])
            .dihedral([20.5, 8.9])
            .displacement(0.87)
            .beyond([54, 0]),
    ];
    let misses: Vec<String> = rows.iter().flat_map(|row| row.misses(&assets)).collect();
    assert!(misses.is_empty(), "{misses:#?}");
}

/// As above, on models that others made. The edges of the knight's elbow are half a radius long, and its mesh is open. At 140
/// degrees the region of Cesium's knee reaches further here than the oracle's, which had 95 crossings in it; mannequiny's
/// elbow under linear blend skinning unfolds, where the oracle's kept 41 crossings (strain .57, dihedral 23.9 degrees) at less
/// displacement (.98).
#[test]
fn knees_and_elbows_of_shared_models_unfold() {
    let Some(shared) = shared_dir("knees_and_elbows_of_shared_models_unfold") else {
        return;
    };
    let cesium = |degrees| {
        let model = "cesium_man/cesium_man.glb";
        Row::new(model, "leg_joint_L_2", DVec3::Y, degrees)
    };
    let mannequiny = "mannequiny/mannequiny.glb";
    let knight = "kaykit_knight/kaykit_knight.glb";
    let rows = [
        cesium(90.0)
            .crossings([14, 0])
            .strain([0.61, 0.39])
            .dihedral([25.0, 7.6])
            .displacement(0.44),
        cesium(120.0)
            .crossings([27, 0])
            .volume(-20.8)
            .at(60.0, [0, 0], [0.55, 0.28])
            .strain([0.52, 0.42])
            .dihedral([30.4, 11.4])
            .displacement(0.58)
            .beyond([106, 59]),
        Row::new(mannequiny, "lowerarm.l", DVec3::X, 120.0)
            .under(StackPreset::Lbs)
            .crossings([49, 0])
            .volume(-39.4)
            .at(60.0, [0, 0], [0.80, 0.27])
            .at(90.0, [29, 0], [0.80, 0.29])
            .strain([0.82, 0.37])
            .dihedral([21.5, 10.8])
            .displacement(1.38)
            .beyond([51, 77]),
        Row::new(mannequiny, "lowerarm.l", DVec3::X, 120.0)
            .strain([0.98, 0.40])
            .at(60.0, [0, 0], [0.78, 0.32])
            .at(90.0, [0, 0], [0.83, 0.36])
            .dihedral([29.2, 10.4])
            .displacement(0.99)
            .beyond([0, 44]),
        Row::new(knight, "lowerarm.l", DVec3::NEG_Z, 90.0)
            .crossings([45, 0])
            .strain([0.67, 0.47])
            .dihedral([23.9, 12.7])
            .displacement(0.37),
    ];
    let models = shared.join("models");
    let misses: Vec<String> = rows.iter().flat_map(|row| row.misses(&models)).collect();
    assert!(misses.is_empty(), "{misses:#?}");
}

/// A range in which rigid parts overlap beyond the region stays unresolved, and says so.
#[test]
fn what_does_not_unfold_is_counted() {
    let Some(shared) = shared_dir("what_does_not_unfold_is_counted") else {
        return;
    };
    let path = shared.join("models/cesium_man/cesium_man.glb");
    let bend = Bend::new(
        path.to_str().unwrap(),
        "leg_joint_L_2",
        StackPreset::Default,
    );
    let pose = bend.pose_about(DVec3::Y, 140.0);
    let posed = Poser::new(&bend.document, OutlineOf::ThisStack).pose(&bend.skin, &pose);
    let ends = std::slice::from_ref(&posed.skinned);
    let (region, n_held) = Region::choose(&bend.skin.around, ends);
    let relaxed = bend.relaxed(&region, &posed);
    let after = bend.metrics(&region, &posed, &relaxed.positions, &pose);
    println!("{n_held} held, {after:?}");
    assert!(n_held > 0 && after.crossings > 0);
}

#[test]
fn a_rotated_and_moved_pose_gives_the_rotated_and_moved_shape() {
    let bend = Bend::new("hand.glb", "index.02.L", StackPreset::Default);
    let (turn, shift) = (
        DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.0),
        DVec3::new(3.0, -7.0, 2.0),
    );
    for (degrees, tolerance) in [(60.0, 1e-9), (120.0, 0.03)] {
        let posed = bend.posed(degrees, OutlineOf::ThisStack);
        let moved = |places: &[DVec3]| places.iter().map(|p| turn * *p + shift).collect::<Vec<_>>();
        let other = Posed {
            skinned: moved(&posed.skinned),
            outline: moved(&posed.outline),
            rotations: posed.rotations.iter().map(|q| turn * *q).collect(),
        };
        let region = bend.region(&posed);
        let (here, there) = (bend.relaxed(&region, &posed), bend.relaxed(&region, &other));
        let apart = moved(&here.positions)
            .iter()
            .zip(&there.positions)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::worse);
        assert!(
            apart < tolerance * bend.skin.around.radius,
            "{degrees}: {}",
            apart / bend.skin.around.radius
        );
    }
}

/// Linear skinning that takes its outline from the default stack reaches the surface of the default stack.
#[test]
fn linear_skinning_reaches_the_same_surface() {
    let posed = |preset, outline| {
        let bend = Bend::new("mannequin.glb", "shin.L", preset);
        let posed = bend.posed(120.0, outline);
        (bend, posed)
    };
    let (bend, linear) = posed(StackPreset::Lbs, OutlineOf::DefaultStack);
    let (_, default) = posed(StackPreset::Default, OutlineOf::ThisStack);
    let region = bend.region(&default);
    let apart = bend
        .relaxed(&region, &linear)
        .positions
        .into_iter()
        .zip(bend.relaxed(&region, &default).positions);
    let sum: f64 = apart.map(|(a, b)| a.distance_squared(b)).sum();
    let rms = (sum / region.free.len() as f64).sqrt() / bend.skin.around.radius;
    assert!(rms <= 0.03, "{rms}");
}

#[test]
fn a_coarse_start_ends_at_the_same_shape() {
    let bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let posed = bend.posed(120.0, OutlineOf::ThisStack);
    let region = bend.region(&posed);
    let coarse = Coarse::new(&bend.skin.around, &region).unwrap();
    let settings = RelaxSettings::default();
    let of_coarse = relax(
        coarse.around(),
        coarse.region(),
        &coarse.posed(&posed),
        &Coarse::settings(&settings),
        Start::Skinned,
        &Task::new(),
    )
    .unwrap();
    let relaxed = relax(
        &bend.skin.around,
        &region,
        &posed,
        &settings,
        Start::Coarse(&coarse, &of_coarse.displacements),
        &Task::new(),
    )
    .unwrap();
    assert!(relaxed.iterations <= 50);
    let after = bend.metrics(
        &region,
        &posed,
        &relaxed.positions,
        &bend.pose_about(DVec3::X, 120.0),
    );
    assert_eq!(after.crossings, 0);
    near(after.displacement, 0.39, 0.05);
}

#[test]
fn the_same_input_gives_the_same_bits_for_any_number_of_threads() {
    let bend = Bend::new("hand.glb", "index.02.L", StackPreset::Default);
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        pool.install(|| {
            let posed = bend.posed(110.0, OutlineOf::ThisStack);
            let region = bend.region(&posed);
            bend.relaxed(&region, &posed).positions
        })
    };
    let bits = |places: Vec<DVec3>| {
        places
            .into_iter()
            .flat_map(|p| p.to_array().map(f64::to_bits))
            .collect::<Vec<_>>()
    };
    assert!(bits(run(1)) == bits(run(3)));
}

#[test]
fn it_stops_at_once_when_it_is_cancelled() {
    let bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let posed = bend.posed(120.0, OutlineOf::ThisStack);
    let region = bend.region(&posed);
    let task = Task::new();
    let stop = task.clone();
    let cancelled = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.cancel();
        Instant::now()
    });
    let result = relax(
        &bend.skin.around,
        &region,
        &posed,
        &RelaxSettings::default(),
        Start::Skinned,
        &task,
    );
    let late = cancelled.join().unwrap().elapsed();
    assert!(matches!(result, Err(FactorError::Cancelled(_))));
    // 50 ms, and some for a machine that is busy with other tests.
    assert!(late < Duration::from_millis(200), "{late:?}");
}

/// Measured: with samples at two angles nothing crosses in between.
#[test]
fn accepted_samples_come_back_and_carry_the_poses_between_them() {
    let bend = Bend::new("mannequin.glb", "shin.L", StackPreset::Default);
    let joint = bend.skin.joint;
    let suggestions = suggest(
        &bend.document,
        joint,
        &SuggestSettings::default(),
        &Task::new(),
    )
    .unwrap();
    let suggestion = &suggestions[0];
    assert!(
        matches!(suggestion.mode, DriverMode::Hinge(_)),
        "{:?}",
        suggestion.mode
    );
    assert!(
        !suggestion.proposals.is_empty() && suggestion.proposals.len() <= 8,
        "{suggestion:?}"
    );
    for proposal in &suggestion.proposals {
        assert!(proposal.is_recommended, "{proposal:?}");
        assert!(
            proposal.after.strain < proposal.before.strain && proposal.after.volume.abs() < 0.021
        );
    }
    let mut corrected = bend.document.clone();
    let edit = suggestion.accept(&corrected, |_| true).unwrap();
    corrected.apply(&mut Edit::Correctives(edit)).unwrap();
    let shape = |document: &Document, pose: &Pose| -> Vec<Vec3> {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, pose);
        evaluator
            .plan(suggestion.instance)
            .unwrap()
            .positions()
            .to_vec()
    };
    let bind = shape(&corrected, corrected.rest_pose());
    assert!(bind == shape(&bend.document, bend.document.rest_pose()));
    let (low, high) = bind.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
        (low.min(*p), high.max(*p))
    });
    let end = suggestion.proposals.last().unwrap();
    for proposal in &suggestion.proposals {
        let pose = bend.pose_about(proposal.axis, proposal.angle.to_degrees());
        let mut poser = Poser::new(&bend.document, OutlineOf::ThisStack);
        poser.pose(&bend.skin, &pose);
        let base = poser
            .evaluator()
            .plan(suggestion.instance)
            .unwrap()
            .base_positions()
            .to_vec();
        let rotated: Vec<u32> = proposal
            .captured
            .displacements
            .iter()
            .map(|(p, _)| p)
            .collect();
        let item = &bend.document.meshes()[&suggestion.mesh];
        let plan = poser.evaluator().plan(suggestion.instance).unwrap();
        let rotations = sinew::deform::blended_rotations(plan, &item.stack, &item.masks, &rotated);
        let shown = shape(&corrected, &pose);
        for ((p, d), rotation) in proposal.captured.displacements.iter().zip(rotations) {
            let wanted = base[p as usize].as_dvec3() + DMat3::from_quat(rotation) * d.as_dvec3();
            let apart = shown[p as usize].as_dvec3().distance(wanted);
            assert!(apart < 1e-5 * f64::from(low.distance(high)), "{apart}");
        }
    }
    // In between.
    let region = Region::new(&bend.skin.around, suggestion.reach);
    let mut degrees = 15.0;
    while degrees <= end.angle.to_degrees() {
        let shown = shape(&corrected, &bend.pose_about(end.axis, degrees));
        let own: Vec<DVec3> = bend
            .skin
            .points
            .iter()
            .map(|p| shown[p[0] as usize].as_dvec3())
            .collect();
        assert_eq!(region.n_crossings(&bend.skin.around, &own), 0, "{degrees}");
        degrees += 15.0;
    }
}

/// The test that tells a fold from a convex ridge: without it points of a ridge count as deep inside.
#[test]
fn without_the_inside_test_elbows_stay_folded() {
    let bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let crossings = |inside_test: bool| -> Vec<usize> {
        let settings = RelaxSettings {
            inside_test,
            outline: 0.0,
            ..RelaxSettings::default()
        };
        let of_angle = |degrees: f64| {
            let posed = bend.posed(degrees, OutlineOf::ThisStack);
            let (region, around) = (bend.region(&posed), &bend.skin.around);
            let relaxed = relax(
                around,
                &region,
                &posed,
                &settings,
                Start::Skinned,
                &Task::new(),
            )
            .unwrap();
            region.n_crossings(around, &relaxed.positions)
        };
        [60.0, 90.0, 120.0].map(of_angle).to_vec()
    };
    assert_eq!(crossings(true), [0, 0, 0]);
    let without = crossings(false);
    assert!(without.iter().sum::<usize>() > 20, "{without:?}");
}

#[test]
fn selected_vertices_are_protected() {
    let mut bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let (mesh, joint) = (bend.skin.mesh, bend.skin.joint);
    let mut settings = SuggestSettings::default();
    let moved = |bend: &Bend, settings: &SuggestSettings| {
        let found = suggest(&bend.document, joint, settings, &Task::new()).unwrap();
        let proposals = found[0].proposals.iter();
        let points = proposals.flat_map(|p| p.captured.displacements.iter());
        points.map(|(point, _)| point).collect::<BTreeSet<u32>>()
    };
    let all = moved(&bend, &settings);
    let selected: BTreeSet<u32> = all.iter().copied().step_by(3).collect();
    let session = bend.document.session_mut();
    let set = selected.iter().copied().collect();
    session.selected_points.insert(mesh, Arc::new(set));
    assert_eq!(moved(&bend, &settings), all);
    settings.protects_selected = true;
    let others = moved(&bend, &settings);
    assert!(others.len() > all.len() / 4);
    assert!(others.is_disjoint(&selected));
}

/// By default a corrected joint is suggested anew; on top of its samples there is nothing left to unfold, and what they move
/// stays.
#[test]
fn samples_are_suggested_on_top_of_others_where_asked() {
    let bend = Bend::new("hand.glb", "index.02.L", StackPreset::Default);
    let joint = bend.skin.joint;
    let mut settings = SuggestSettings::default();
    let first = suggest(&bend.document, joint, &settings, &Task::new()).unwrap();
    let mut corrected = bend.document.clone();
    let edit = first[0].accept(&corrected, |_| true).unwrap();
    corrected.apply(&mut Edit::Correctives(edit)).unwrap();
    let again = suggest(&corrected, joint, &settings, &Task::new()).unwrap();
    assert!(again[0].proposals == first[0].proposals);
    settings.on_samples = true;
    let on_top = suggest(&corrected, joint, &settings, &Task::new()).unwrap();
    let crossings = |of: &[Suggestion]| -> usize {
        let proposals = of.iter().flat_map(|s| &s.proposals);
        proposals.map(|p| p.before.crossings).sum()
    };
    assert!(crossings(&first) > 0);
    assert_eq!(crossings(&on_top), 0);
    let edit = on_top[0].accept(&corrected, |_| true).unwrap();
    corrected.apply(&mut Edit::Correctives(edit)).unwrap();
    let bare = corrected.clone().without_correctives();
    for proposal in &first[0].proposals {
        let pose = bend.pose_about(proposal.axis, proposal.angle.to_degrees());
        let shape = |document: &Document| {
            let mut evaluator = Evaluator::default();
            evaluator.evaluate(document, &pose);
            let plan = evaluator.plan(first[0].instance).unwrap();
            plan.positions().to_vec()
        };
        let (plain, shown) = (shape(&bare), shape(&corrected));
        let region = Region::new(&bend.skin.around, first[0].reach);
        let own = bend
            .skin
            .points
            .iter()
            .map(|p| shown[p[0] as usize].as_dvec3());
        let own: Vec<DVec3> = own.collect();
        assert_eq!(region.n_crossings(&bend.skin.around, &own), 0);
        let pairs = plain.iter().zip(&shown);
        let n_moved = pairs.filter(|(a, b)| a.distance(**b) > 1e-5).count();
        let n_first = proposal.captured.displacements.n_points();
        assert!(2 * n_moved > n_first, "{n_moved} of {n_first}");
    }
}

#[test]
fn a_joint_that_moves_nothing_is_refused() {
    let bend = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let wrist = joint(&bend.document, "wrist");
    let refused = suggest(
        &bend.document,
        wrist,
        &SuggestSettings::default(),
        &Task::new(),
    )
    .unwrap_err();
    assert_eq!(refused.to_string(), "No vertices blend across \"wrist\".");
    let task = Task::new();
    task.cancel();
    let cancelled = suggest(
        &bend.document,
        bend.skin.joint,
        &SuggestSettings::default(),
        &task,
    );
    assert!(matches!(cancelled, Err(SuggestError::Cancelled(_))));
}

/// What a rigger has to know beside the proposals is said: coarse meshes, folds that snap, triangles that still cross, parts
/// that stay as they are, vertices that belong to other samples too.
#[test]
fn what_to_know_about_suggestions_is_said() {
    let Some(shared) = shared_dir("what_to_know_about_suggestions_is_said") else {
        return;
    };
    let suggest_for = |document: &Document, name: &str| {
        let settings = SuggestSettings::default();
        suggest(document, joint(document, name), &settings, &Task::new())
    };
    let open_shared = |model: &str| open(&shared.join("models").join(model), StackPreset::Default);
    let says = |of: &[Suggestion], part: &str| {
        let all = of.iter().flat_map(|s| &s.notes);
        assert!(
            all.clone().any(|note| note.contains(part)),
            "{part}: {of:?}"
        );
        assert!(all.clone().all(|note| note.len() <= 300));
    };
    let fox = suggest_for(&open_shared("fox/fox.glb"), "b_LeftLeg01_015").unwrap();
    says(&fox, "The mesh is coarse: edges are");
    says(&fox, "The fold snaps between");
    let unsolved = fox[0].proposals.iter().filter(|p| p.after.crossings > 0);
    assert!(unsolved.clone().count() > 0);
    for proposal in unsolved {
        assert!(!proposal.is_recommended);
        let said = format!("{} triangles still cross.", proposal.after.crossings);
        assert!(proposal.notes.contains(&said), "{:?}", proposal.notes);
    }
    let refused = suggest_for(&open_shared("cesium_man/cesium_man.glb"), "leg_joint_L_2");
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("Too coarse to fold: edges are"),
        "{refused}"
    );
    let doll = suggest_for(&open_shared("mannequiny/mannequiny.glb"), "spine_01").unwrap();
    says(&doll, "shells all of whose vertices blend between bones.");

    // Samples of the upper arm that reach over the elbow.
    let arm = Bend::new("arm.glb", "forearm", StackPreset::Default);
    let first = suggest_for(&arm.document, "forearm").unwrap();
    let (skeleton, rest) = (arm.document.skeleton(), &arm.document.rest_pose().locals);
    let driver = Driver::of_joint(joint(&arm.document, "upper_arm"), skeleton, rest);
    let mut set = SampleSet::new("Raised".into(), vec![driver]);
    set.samples.push(Arc::new(Sample {
        name: "Up".into(),
        rotations: vec![driver.bind * DQuat::from_rotation_z(1.0)],
        beside: Vec::new(),
        displacements: first[0].proposals[0].captured.displacements.clone(),
        captured_on: arm.document.meshes()[&first[0].mesh].stack.clone(),
        captured_over: CapturedOver::default(),
        strength: 1.0,
        muted: false,
    }));
    let made = Arc::new(Correctives::new(vec![Arc::new(set)]).unwrap());
    let edit = CorrectivesEdit::new(&arm.document, first[0].mesh, made);
    let mut document = arm.document.clone();
    document.apply(&mut Edit::Correctives(edit)).unwrap();
    let again = suggest_for(&document, "forearm").unwrap();
    says(&again, "also belong to the samples of \"Raised\"");
}

#[test]
fn displacements_are_those_of_the_relaxed_shape() {
    let bend = Bend::new("hand.glb", "index.02.L", StackPreset::Default);
    let posed = bend.posed(60.0, OutlineOf::ThisStack);
    let region = bend.region(&posed);
    let relaxed = bend.relaxed(&region, &posed);
    assert!(largest(&relaxed.displacements) > 0.05 * bend.skin.around.radius);
    for &(p, d) in &relaxed.displacements {
        let p = p as usize;
        let back = posed.skinned[p] + posed.rotations[p] * d;
        assert!(back.distance(relaxed.positions[p]) < 1e-9, "{p}");
    }
}

#[test]
fn the_editor_adds_ticked_samples_in_one_step() {
    let mut harness = EditorHarness::new();
    harness.editor.suggest_correctives();
    assert!(harness.editor.suggesting().is_none(), "no bone is selected");
    let forearm = joint(harness.editor.document(), "forearm");
    harness.editor.select_joint(Some(forearm));
    harness.editor.suggest_correctives();
    harness.settle();
    let n: usize = harness
        .editor
        .suggestions()
        .iter()
        .map(|s| s.proposals.len())
        .sum();
    assert!(n > 0, "{:?}", harness.editor.suggest_failure());
    let samples = |harness: &EditorHarness| {
        let meshes = harness.editor.document().meshes().values();
        meshes
            .map(|item| item.correctives.samples().len())
            .sum::<usize>()
    };
    assert_eq!(samples(&harness), 0);
    harness.editor.accept_ticked_proposals();
    harness.settle();
    let added = samples(&harness);
    assert!(added > 0);
    // They stay in the list as accepted, until that is undone.
    let accepted = |harness: &EditorHarness| -> usize {
        let found = harness.editor.suggestions().iter().enumerate();
        let each = found.flat_map(|(s, of)| (0..of.proposals.len()).map(move |p| (s, p)));
        let is_accepted = |(s, p): &(usize, usize)| harness.editor.is_proposal_accepted(*s, *p);
        each.filter(is_accepted).count()
    };
    assert_eq!(accepted(&harness), added);
    harness.editor.accept_ticked_proposals();
    assert_eq!(samples(&harness), added, "all that are ticked are accepted");
    harness.editor.undo();
    assert_eq!((samples(&harness), accepted(&harness)), (0, 0));
    harness.editor.redo();
    assert_eq!((samples(&harness), accepted(&harness)), (added, added));
    harness.editor.undo();
    harness.editor.accept_ticked_proposals();
    assert_eq!((samples(&harness), accepted(&harness)), (added, added));
}

#[test]
fn a_proposal_is_tuned_alone() {
    let mut harness = EditorHarness::new();
    let forearm = joint(harness.editor.document(), "forearm");
    harness.editor.select_joint(Some(forearm));
    harness.editor.suggest_correctives();
    harness.settle();
    let found = harness.editor.suggestions().to_vec();
    let document = harness.editor.document().clone();
    let settings = found[0].proposals[1].settings;
    let same = tune(&document, &found[0], 1, &settings, &Task::new()).unwrap();
    assert_eq!(same, found[0].proposals[1], "to the bit");

    let mut stiff = settings;
    stiff.relax.stiffness *= 3.0;
    harness.editor.tune_proposal(0, 1, stiff);
    assert!(harness.editor.suggesting().is_some());
    harness.settle();
    let tuned = &harness.editor.suggestions()[0];
    assert_eq!(tuned.proposals.len(), found[0].proposals.len());
    for (k, (now, before)) in tuned.proposals.iter().zip(&found[0].proposals).enumerate() {
        assert_eq!(now == before, k != 1, "{k}");
    }
    assert_eq!(tuned.proposals[1].settings, stiff);
    assert_eq!(tuned.proposals[1].name, found[0].proposals[1].name);
    assert!(tuned.proposals[1].after.dihedral < found[0].proposals[1].after.dihedral);

    // A sample that a proposal replaces is named.
    harness.editor.accept_proposal(0, 1);
    harness.settle();
    harness.editor.suggest_correctives();
    harness.settle();
    harness.editor.accept_proposal(0, 1);
    harness.settle();
    let said = &harness.notices.last().unwrap().text;
    let name = &found[0].proposals[1].name;
    assert_eq!(
        *said,
        format!("1 corrective sample added instead of \"{name}\".")
    );
}

/// The sample arm whose elbow has the suggested samples about +X, at the end of its bend.
fn corrected_elbow() -> Document {
    let mut document = sinew::io::open_sample("arm", &Task::new())
        .unwrap()
        .document;
    let elbow = joint(&document, "forearm");
    let found = suggest(&document, elbow, &SuggestSettings::default(), &Task::new()).unwrap();
    let about_x = |k: usize| found[0].proposals[k].axis.dot(DVec3::X) > 0.99;
    let edit = found[0].accept(&document, about_x).unwrap();
    document.apply(&mut Edit::Correctives(edit)).unwrap();
    let clips = document.clips().iter();
    let bend = clips
        .clone()
        .find(|(_, clip)| clip.name == "Bend")
        .unwrap()
        .0;
    let (bend, mesh) = (*bend, *document.meshes().keys().next().unwrap());
    let session = document.session_mut();
    (session.playback.clip, session.playback.time_secs) = (Some(bend), 1.2);
    (session.active_joint, session.active_mesh) = (Some(elbow), Some(mesh));
    session.selected_joints = [elbow].into();
    let camera = &mut session.camera;
    (camera.target, camera.distance) = (Vec3::new(0.0, 0.18, 0.0), 0.95);
    (camera.yaw, camera.pitch) = (2.5, 0.5);
    document
}

/// The sample project that the welcome page offers: four samples of the elbow, without crossing triangles at its bend.
///
/// When the arm or the suggestions change: `SINEW_UPDATE_PROJECTS=1` writes it again; look at it before it goes in.
#[test]
fn the_corrected_elbow_unfolds_and_is_saved_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("projects/elbow-correctives.ron");
    if std::env::var("SINEW_UPDATE_PROJECTS").as_deref() == Ok("1") {
        sinew::io::project::save(&corrected_elbow(), &path, &Task::new()).unwrap();
    }
    let opened = sinew::io::open_any(&path, &Task::new()).unwrap();
    assert_eq!(opened.findings, []);
    let document = opened.document;
    let item = document.meshes().values().next().unwrap();
    assert_eq!(
        (
            item.correctives.sets().len(),
            item.correctives.samples().len()
        ),
        (1, 4)
    );
    // Opened by its name, it is the same, needs no file, and has no file that a save would replace.
    let sample = sinew::io::open_sample("elbow-correctives", &Task::new()).unwrap();
    let again = sample.document.meshes().values().next().unwrap();
    assert!(again.correctives == item.correctives && sample.is_project);
    assert_eq!((sample.findings, sample.project), (Vec::new(), None));

    let elbow = joint(&document, "forearm");
    let instance = JointSkin::instances(&document, elbow)[0];
    let skin = JointSkin::new(&document, instance, elbow, &Task::new()).unwrap();
    let bend = Bend { document, skin };
    let crossings = |document: &Document, degrees: f64| {
        let pose = bend.pose_about(DVec3::X, degrees);
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, &pose);
        let shown = evaluator.plan(instance).unwrap().positions();
        let points = bend.skin.points.iter();
        let own: Vec<DVec3> = points.map(|p| shown[p[0] as usize].as_dvec3()).collect();
        let posed = bend.posed(degrees, OutlineOf::ThisStack);
        bend.region(&posed).n_crossings(&bend.skin.around, &own)
    };
    let plain = bend.document.clone().without_correctives();
    for degrees in [70.0, 90.0, 110.0, 120.0] {
        let (before, after) = (
            crossings(&plain, degrees),
            crossings(&bend.document, degrees),
        );
        assert!(before > 40 && after == 0, "{degrees}: {before} {after}");
    }
}
