//! Drivers as layers of groups of clusters: golden displacements through the whole deformer stack, moments, undo, rig edits.

use crate::cli::{done, text};
use crate::clustered::{apart, bent, bits, edit};
use crate::models::tube;
use crate::npy::read_npy;
use glam::{DQuat, DVec3, Vec3};
use serde_json::json;
use sinew::cluster::fade::Fade;
use sinew::cluster::procedural::{
    CurveSettings, DriverInput, DriverPoint, DriverSettings, Normalisation, SinkDirection,
    SinkMask, SinkSettings,
};
use sinew::cluster::{Base, ClusterGroup, ClusterMap, DriverLayer, PatchSettings};
use sinew::deform::Moved;
use sinew::document::rig::{self, WeightRecipient};
use sinew::document::{ClipId, Document, Edit, EditError, History, InstanceId, MeshId, checks};
use sinew::evaluate::Evaluator;
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::math::Worse;
use sinew::rig::Operation;
use sinew::skeleton::{Frame, JointId, Moment, Pose};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);
const SKINNED: InstanceId = InstanceId(3);
/// A vertex in the middle of the tube.
const MIDDLE: u32 = 16 * 20;

/// A driver that moves its clusters up by 0.2 over an input from `from` to `to`.
fn driver(input: DriverInput, from: f64, to: f64) -> DriverLayer {
    DriverLayer {
        name: "Up".into(),
        settings: DriverSettings {
            input,
            from,
            to,
            mode: Normalisation::Clamp,
            curve: None,
            gain: 0.2,
            fade: Fade::default(),
            sink: SinkSettings {
                direction: SinkDirection::Fixed(DVec3::Y),
                mask: SinkMask::Painted,
            },
        },
        played: None,
        bone: None,
        weights: Vec::new(),
        muted: false,
    }
}

/// Every fifth vertex of the tube, at rest, with these drivers; [`MIDDLE`] among them.
fn driven(document: &Document, drivers: Vec<DriverLayer>) -> ClusterMap {
    let group = ClusterGroup {
        base: Base::Fixed,
        drivers,
        ..ClusterGroup::new("Driven", 0)
    };
    let n = document.meshes()[&MESH].geometry.n_points() as u32;
    let points = (0..n).step_by(5).map(|point| (point, 0)).collect();
    ClusterMap::new(vec![Arc::new(group)], points, PatchSettings::default()).unwrap()
}

fn with(document: &Document, drivers: Vec<DriverLayer>) -> Document {
    let mut document = document.clone();
    let mut edit = edit(&document, driven(&document, drivers));
    document.apply(&mut edit).unwrap();
    document
}

fn at(secs: f64) -> Moment {
    Moment::of(ClipId(0), secs)
}

fn shape(document: &Document, pose: &Pose, moment: Moment) -> Vec<Vec3> {
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, pose.at(moment));
    evaluator.plan(SKINNED).unwrap().positions().to_vec()
}

/// How far the driver moves its cluster in the middle.
fn moved(drivers: Vec<DriverLayer>, pose: &Pose, moment: Moment) -> Vec3 {
    let document = tube(40);
    let still = with(&document, Vec::new());
    let driven = with(&document, drivers);
    let [still, driven] = [still, driven].map(|d| shape(&d, pose, moment)[MIDDLE as usize]);
    driven - still
}

fn assert_up(input: &DriverInput, range: [f64; 2], pose: &Pose, secs: f64, expected: f32) {
    let found = moved(
        vec![driver(input.clone(), range[0], range[1])],
        pose,
        at(secs),
    );
    let expected = Vec3::Y * expected;
    assert!(
        (found - expected).length() < 1e-6,
        "{input:?}: {found}, expected {expected}"
    );
}

#[test]
fn each_input_moves_its_clusters_by_its_share_of_the_gain() {
    let document = tube(40);
    let mut pose = Pose::rest(document.skeleton());
    let bend = DQuat::from_rotation_z(40f64.to_radians());
    pose.locals[1].rotation = bend * DQuat::from_rotation_x(30f64.to_radians());
    let radians = |degrees: f64| degrees.to_radians();
    let bone = |a, b| DriverInput::BoneAngle { a, b };
    // The bone of joint 1 lies along x: twist 30, swing 40.
    let twist = DriverInput::Twist { joint: 1 };
    assert_up(&twist, [0.0, radians(60.0)], &pose, 0.0, 0.1);
    let swing = DriverInput::Swing { joint: 1 };
    assert_up(&swing, [0.0, radians(80.0)], &pose, 0.0, 0.1);
    assert_up(&bone(0, 1), [0.0, radians(80.0)], &pose, 0.0, 0.1);
    let axis = DVec3::X;
    let angle = DriverInput::JointAngle { joint: 1, axis };
    assert_up(&angle, [0.0, radians(120.0)], &pose, 0.0, 0.05);
    // Joints 0 and 1 are 2 apart, and so they stay.
    let (a, b) = (DriverPoint::Joint(0), DriverPoint::Joint(1));
    let distance = DriverInput::Distance { a, b };
    assert_up(&distance, [1.0, 3.0], &pose, 0.0, 0.1);
    assert_up(&DriverInput::Time, [1.0, 5.0], &pose, 2.0, 0.05);
    let constant = DriverInput::Constant { value: 0.25 };
    assert_up(&constant, [0.0, 1.0], &pose, 7.0, 0.05);
    // A channel without a recording does not exist.
    let lost = DriverInput::Twist { joint: 1 };
    assert_up(&lost, [radians(30.0), radians(90.0)], &pose, 0.0, 0.0);
}

#[test]
fn displacements_add_up_by_their_weights_and_turn_with_the_skin() {
    let document = tube(40);
    let rest = Pose::rest(document.skeleton());
    let one = driver(DriverInput::Constant { value: 1.0 }, 0.0, 1.0);
    let half = DriverLayer {
        weights: vec![(MIDDLE, 0.5)],
        ..one.clone()
    };
    let found = moved(vec![one.clone(), half], &rest, Moment::default());
    assert!((found - Vec3::Y * 0.3).length() < 1e-6, "{found}");
    let muted = DriverLayer {
        muted: true,
        ..one.clone()
    };
    assert_eq!(moved(vec![muted], &rest, Moment::default()), Vec3::ZERO);
    // On the stack the direction turns with the skin: a quarter turn of the whole tube about z takes y to -x.
    let mut document = tube(40);
    let mut map = driven(&document, vec![one]);
    let mut group = ClusterGroup::clone(&map.groups()[0]);
    group.base = Base::Stack;
    map = map.with_group(Some(0), group).unwrap();
    let mut turned = rest.clone();
    turned.locals[0].rotation =
        DQuat::from_rotation_z(90f64.to_radians()) * turned.locals[0].rotation;
    let before = shape(&document, &turned, Moment::default())[MIDDLE as usize];
    let mut change = edit(&document, map);
    document.apply(&mut change).unwrap();
    let after = shape(&document, &turned, Moment::default())[MIDDLE as usize];
    let moved = after - before;
    assert!((moved + Vec3::X * 0.2).length() < 1e-6, "{moved}");
}

#[test]
fn a_moment_moves_only_what_follows_time_and_an_incremental_run_has_the_bits_of_a_fresh_one() {
    let plain = tube(40);
    let rest = Pose::rest(plain.skeleton());
    let moves = |document: &Document| {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, rest.at(at(0.0)));
        let moved = evaluator.evaluate(document, rest.at(at(1.0)));
        moved.into_iter().any(|(_, moved)| moved != Moved::Nothing)
    };
    assert!(!moves(&plain), "without clusters");
    let twist = driver(DriverInput::Twist { joint: 1 }, 0.0, 1.0);
    assert!(!moves(&with(&plain, vec![twist.clone()])), "without time");
    let time = driver(DriverInput::Time, 0.0, 2.0);
    let document = with(&plain, vec![time, twist]);
    assert!(moves(&document));
    let mut evaluator = Evaluator::default();
    let mut pose = rest.clone();
    for (secs, degrees) in [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.5, 30.0),
        (9.0, 30.0),
        (0.25, 0.0),
    ] {
        pose.locals[1].rotation = DQuat::from_rotation_x(f64::to_radians(degrees));
        evaluator.evaluate(&document, pose.at(at(secs)));
        let known = evaluator.plan(SKINNED).unwrap().positions();
        assert_eq!(
            bits(known),
            bits(&shape(&document, &pose, at(secs))),
            "{secs}"
        );
    }
    // All instances follow, the rigid one without a skin, too.
    for &id in document.instances().keys() {
        let mut evaluator = Evaluator::default();
        let mut at_secs = |secs| {
            evaluator.evaluate(&document, rest.at(at(secs)));
            evaluator.plan(id).unwrap().positions()[MIDDLE as usize]
        };
        let (before, after) = (at_secs(0.0), at_secs(1.0));
        assert!((after - before).length() > 0.05, "{id:?}: {before} {after}");
    }
}

#[test]
fn drivers_are_undone_saved_and_refused_with_the_reason() {
    let mut document = tube(20);
    let plain = document.clone();
    let mut history = History::default();
    let curve = Some(CurveSettings {
        keys: vec![[0.0, 0.0], [0.4, 0.8], [1.0, 1.0]],
        rest_offset: false,
    });
    let time = driver(DriverInput::Time, 0.0, 2.0);
    let curved = DriverLayer {
        settings: DriverSettings {
            curve,
            mode: Normalisation::Cycle,
            ..time.settings.clone()
        },
        weights: vec![(5, 0.25), (10, 0.5)],
        ..time.clone()
    };
    let (a, b) = (DriverPoint::Joint(0), DriverPoint::Vertex(7));
    let distance = driver(DriverInput::Distance { a, b }, 0.5, 2.0);
    let axis = DVec3::new(0.0, 0.6, 0.8);
    let angle = driver(DriverInput::JointAngle { joint: 2, axis }, 0.0, 1.0);
    let map = driven(&document, vec![time.clone(), curved, distance, angle]);
    history.begin(&document, "Add drivers");
    let change = edit(&document, map);
    history.apply(&mut document, change, "Add drivers").unwrap();
    history.commit(&document);
    let driven_document = document.clone();
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&plain));
    history.redo(&mut document).unwrap();
    assert!(document.same_content(&driven_document));

    let wrong = |layer: DriverLayer| {
        let group = ClusterGroup {
            drivers: vec![layer],
            ..ClusterGroup::new("Driven", 0)
        };
        let settings = PatchSettings::default();
        let made = ClusterMap::new(vec![Arc::new(group)], vec![(0, 0)], settings);
        made.unwrap_err().to_string()
    };
    let flat = driver(DriverInput::Time, 1.0, 1.0);
    let said = wrong(flat);
    assert!(
        said.contains("the layer \"Up\": the end of the driver's range is 1"),
        "{said}"
    );
    let channel = driver(DriverInput::Channel { name: "emg".into() }, 0.0, 1.0);
    assert_eq!(
        wrong(channel),
        "the layer \"Up\": its channel has no recording"
    );
    let missing = driver(DriverInput::Twist { joint: 99 }, 0.0, 1.0);
    let mut change = edit(&plain, driven(&plain, vec![missing]));
    let why = document.apply(&mut change).unwrap_err();
    assert!(
        matches!(
            why,
            EditError::NoJoint {
                joint: JointId(99),
                ..
            }
        ),
        "{why}"
    );
}

#[test]
fn a_driver_whose_bone_was_removed_rests_and_is_a_finding() {
    let document = tube(40);
    let twist = driver(DriverInput::Twist { joint: 2 }, 0.0, 1.0);
    let mut document = with(&document, vec![twist]);
    assert_eq!(checks::of_layers(&document), []);
    let remove = rig::remove(&document, JointId(2), WeightRecipient::IntoParent).unwrap();
    document.apply(&mut Edit::Rig(Box::new(remove))).unwrap();
    let found = checks::of_layers(&document);
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .to_string()
            .contains("which was removed, and does not act"),
        "{}",
        found[0]
    );
    let rest = document.rest_pose().clone();
    let still = with(&document, Vec::new());
    assert_eq!(
        bits(&shape(&document, &rest, at(0.0))),
        bits(&shape(&still, &rest, at(0.0)))
    );
}

/// Other axes of a bone, as *Orient* gives them, leave what its drivers read.
#[test]
fn a_driver_reads_the_same_angle_about_the_new_axes_of_its_bone() {
    let axis = DVec3::Z;
    let bend = DriverInput::JointAngle { joint: 1, axis };
    let twist = DriverInput::JointAngle {
        joint: 2,
        axis: DVec3::X,
    };
    let drivers = vec![driver(bend, 0.0, 2.0), driver(twist, 0.0, 2.0)];
    let mut document = with(&tube(40), drivers);
    let posed = bent(&document, 60.0);
    let mut pose = Edit::pose_change(document.pose(), &posed).unwrap();
    document.apply(&mut pose).unwrap();
    let before = document.clone();
    let rotation = DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(1.1);
    let frames = [1, 2].map(|joint| (JointId(joint), Frame::from_rotation(rotation)));
    let edit = rig::change_frames(&document, &frames.into(), 1e-4).unwrap();
    let mut edit = Edit::Rig(Box::new(edit));
    document.apply(&mut edit).unwrap();
    let now = |document: &Document| shape(document, document.pose(), at(0.0));
    assert!(apart(&now(&document), &now(&before)) < 1e-5);
    let still = with(&before, Vec::new());
    assert!(apart(&now(&before), &now(&still)) > 0.1);
    document.apply(&mut edit).unwrap();
    assert!(document.same_content(&before), "undone");
}

/// Under another parent, and from another rest pose, a bone has other rotations: the report says what that drives.
#[test]
fn the_report_names_the_layers_that_read_other_values() {
    let twist = driver(DriverInput::Twist { joint: 2 }, 0.0, 1.0);
    let document = with(&tube(40), vec![twist]);
    let task = Task::new();
    let reparent = Operation::Reparent {
        joint: JointId(2),
        parent: JointId(0),
    };
    let notes = reparent.run(&document, &task).unwrap().notes;
    assert!(
        notes.iter().any(|note| note.contains("the driver “Up”")),
        "{notes:?}"
    );
    let at_rest = Operation::PoseAsRest(Arc::new(bent(&document, 40.0)));
    let notes = at_rest.run(&document, &task).unwrap().notes;
    let names = |name: &str| notes.iter().any(|note| note.contains(name));
    assert!(
        names("the driver “Up”") && names("the group “Driven”"),
        "{notes:?}"
    );
    // What reads neither is not named.
    let quiet = reparent.run(&tube(40), &task).unwrap().notes;
    assert!(
        !quiet.iter().any(|note| note.contains("driver")),
        "{quiet:?}"
    );
}

#[test]
fn a_project_keeps_every_kind_of_driver() {
    let opened = sinew::io::open_sample("arm", &sinew::task::Task::new()).unwrap();
    let plain = opened.document;
    let (a, b) = (DriverPoint::Joint(1), DriverPoint::Vertex(7));
    let inputs = [
        DriverInput::JointAngle {
            joint: 2,
            axis: DVec3::new(0.1, 0.2, 0.3),
        },
        DriverInput::Twist { joint: 1 },
        DriverInput::Swing { joint: 2 },
        DriverInput::BoneAngle { a: 1, b: 2 },
        DriverInput::Distance { a, b },
        DriverInput::Time,
        DriverInput::Constant { value: 0.1 },
    ];
    let drivers = inputs
        .into_iter()
        .enumerate()
        .map(|(i, input)| DriverLayer {
            name: format!("Driver {i}"),
            bone: (i % 2 == 0).then_some([JointId(1), JointId(2)]),
            weights: vec![(0, 0.1 * i as f64), (10, 1.0)],
            muted: i == 3,
            ..driver(input, 0.25, 1.0 / 3.0)
        });
    let document = with(&plain, drivers.collect());
    let text = to_text(&to_project(&document, None).unwrap()).unwrap();
    let (read, findings) = apply_project(plain.clone(), parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    assert!(read.same_content(&document));
    assert_eq!(to_text(&to_project(&read, None).unwrap()).unwrap(), text);
    // Version 7 had no drivers: it says so.
    let older = text.replacen("version: 11", "version: 7", 1);
    let said = parse(&older).unwrap_err().to_string();
    assert!(said.contains("\"drivers\""), "{said}");
}

/// What follows time between the keyframes of the joints is in the file, too, for any player.
#[test]
fn a_driver_by_time_is_exported_as_clips_and_as_frames() {
    let folder = tempfile::tempdir().unwrap();
    let join = |name: &str| folder.path().join(name);
    let (layers, project) = (join("layers.json"), join("beat.ron"));
    let driver = json!({"name": "Beat", "input": {"time": {}}, "from": 0, "to": 0.4, "gain": 0.2,
        "curve": [[0, 0], [0.5, 1], [1, 0]], "direction": [0, 0, 1]});
    let group = json!({"mesh": "Strip", "name": "Beat", "vertices": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        "drivers": [driver]});
    std::fs::write(&layers, json!({"groups": [group]}).to_string()).unwrap();
    let strip = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/project-v7.ron");
    done(&[
        "clusters",
        strip,
        "--layers",
        text(&layers),
        "--out",
        text(&project),
    ]);
    let skin = |file: &Path, clip: &str, time: &str| {
        let out = join("skin.npy");
        let mut args = vec!["skin", text(file), "--out", text(&out), "--clip", clip];
        args.extend(["--time", time]);
        if file != project {
            args.extend(["--method", "lbs"]);
        }
        done(&args);
        read_npy(&out).1
    };
    let lifted = skin(&project, "Bend more", "0.2");
    let flat = skin(&project, "Bend more", "0.4");
    assert!(lifted.iter().zip(&flat).any(|(a, b)| (a - b).abs() > 0.1));
    for mode in ["clips", "frames"] {
        let out = join(&format!("{mode}.glb"));
        let to = ["--out", text(&out), "--correct", mode, "--include-outside"];
        done(&[&["export", text(&project)], &to[..]].concat());
        for time in ["0.05", "0.17", "0.2", "0.3", "0.45"] {
            let (own, read) = (skin(&project, "Bend more", time), skin(&out, "0", time));
            let pairs = own.iter().zip(&read);
            let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::worse);
            // 0.1 % of a diagonal of about 2.
            assert!(worst <= 2e-3, "{mode} at {time} s: {worst}");
        }
    }
}
