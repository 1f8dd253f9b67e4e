//! Drivers of groups of clusters with the headless editor: what they read on screen and over clips is what the deformer stack
//! reads, and each change is one undo step.

use crate::clusters_editor::{bend_elbow, marked_arm, select, shown, undo_label, undoes};
use crate::editing::EditorHarness;
use glam::{DQuat, DVec3};
use sinew::cluster::procedural::{
    CurveSettings, DriverInput, DriverPoint, SinkDirection, SinkMask,
};
use sinew::cluster::{DriverLayer, GroupPreset};
use sinew::deform::{DriverReader, PoseInputs};
use sinew::document::{ClipId, Document};
use sinew::editor::clusters::DriverSource;
use sinew::evaluate::Evaluator;
use sinew::math::Worse;
use sinew::skeleton::{JointId, Moment, Pose, PoseAt};

fn driver(h: &EditorHarness) -> DriverLayer {
    h.editor
        .active_group_layer::<DriverLayer>()
        .expect("a driver")
        .1
        .clone()
}

/// The arm with clusters and a driver on the forearm, which is selected and bent.
fn driven_arm(degrees: f64) -> (EditorHarness, JointId) {
    let mut h = marked_arm();
    let forearm = bend_elbow(&mut h, degrees);
    h.editor.select_joint(Some(forearm));
    assert!(h.editor.add_driver());
    h.settle();
    (h, forearm)
}

#[test]
fn a_driver_is_added_on_the_selected_bone_and_moves_the_clusters() {
    let mut h = EditorHarness::new();
    assert!(!h.editor.add_driver());
    assert!(h.settle_and_notice().contains("Mark the vertices"));
    h.editor.add_group(GroupPreset::Procedural);
    assert!(!h.editor.add_driver());
    assert!(h.settle_and_notice().contains("has no clusters"));

    let (mut h, forearm) = driven_arm(60.0);
    assert_eq!(undo_label(&h), "Add driver · Driver");
    let added = driver(&h);
    assert_eq!(
        added.settings.input,
        DriverInput::Swing { joint: forearm.0 }
    );
    let value = h.editor.driver_value().unwrap();
    let input = value.input.unwrap().to_degrees();
    assert!((input - 60.0).abs() < 1e-6, "{input}");
    let full = added.settings.gain;
    assert!((value.amount - full * 60.0 / 90.0).abs() < 1e-9);
    assert!((full - 0.02 * h.editor.object_size()).abs() < 1e-12);
    // It moves the clusters by that along their normals, unless it is muted.
    let driven = shown(&h);
    undoes(&mut h, |h| {
        h.editor.mute_group_layer::<DriverLayer>(0, true);
    });
    assert_eq!(undo_label(&h), "Mute driver · Driver");
    let still = shown(&h);
    let most = driven.iter().zip(&still).map(|(a, b)| a.distance(*b));
    let most = f64::from(most.fold(0.0, f32::worse));
    assert!(
        most > 0.8 * value.amount && most < 1.3 * value.amount,
        "{most}"
    );
}

#[test]
fn drivers_are_ordered_duplicated_and_changed_in_one_step_each() {
    let (mut h, _) = driven_arm(60.0);
    undoes(&mut h, |h| {
        h.editor.rename_group_layer::<DriverLayer>(0, " Swell ");
    });
    assert_eq!(undo_label(&h), "Rename driver · Swell");
    undoes(&mut h, |h| h.editor.duplicate_group_layer::<DriverLayer>(0));
    assert_eq!(undo_label(&h), "Duplicate driver · Swell");
    let names = |h: &EditorHarness| {
        let drivers = h.editor.group_layers::<DriverLayer>().iter();
        drivers.map(|d| d.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&h), ["Swell", "Swell (2)"]);
    undoes(&mut h, |h| {
        h.editor.move_group_layer::<DriverLayer>(1, true);
    });
    assert_eq!(undo_label(&h), "Move driver up · Swell (2)");
    assert_eq!(names(&h), ["Swell (2)", "Swell"]);
    h.editor.move_group_layer::<DriverLayer>(0, true);
    h.editor.move_group_layer::<DriverLayer>(1, false);
    assert_eq!(names(&h), ["Swell (2)", "Swell"], "they are at the ends");
    undoes(&mut h, |h| h.editor.delete_group_layer::<DriverLayer>(0));
    assert_eq!(undo_label(&h), "Delete driver · Swell (2)");
    // A drag is one step with a name in words.
    undoes(&mut h, |h| {
        h.editor.begin_step("Driver gain · Swell");
        for gain in [0.01, 0.02, 0.03] {
            h.editor
                .set_driver(0, "gain", |layer| layer.settings.gain = gain);
        }
        h.editor.end_step();
    });
    assert_eq!(undo_label(&h), "Driver gain · Swell");
    undoes(&mut h, |h| {
        h.editor
            .set_driver(0, "range", |layer| layer.settings.from = 0.2);
    });
    assert_eq!(undo_label(&h), "Driver range · Swell");
    undoes(&mut h, |h| {
        h.editor.set_driver(0, "response", |layer| {
            layer.settings.curve = Some(CurveSettings::default());
        });
    });
    // What is not valid leaves everything and says why.
    let before = driver(&h);
    assert!(
        !h.editor
            .set_driver(0, "range", |layer| layer.settings.from = layer.settings.to)
    );
    let said = h.settle_and_notice();
    assert!(said.contains("the end of the driver's range is"), "{said}");
    assert_eq!(driver(&h), before);
    assert!(!h.editor.set_driver(0, "direction", |layer| {
        layer.settings.sink.direction = SinkDirection::Radial;
    }));
    assert!(h.settle_and_notice().contains("needs a bone"));
    let bone = h.editor.bone_for_driver(0).expect("a bone");
    undoes(&mut h, |h| {
        h.editor.set_driver(0, "direction", |layer| {
            layer.bone = Some(bone);
            layer.settings.sink.direction = SinkDirection::Radial;
        });
    });
}

#[test]
fn each_kind_of_input_gets_bones_and_a_range() {
    let (mut h, forearm) = driven_arm(60.0);
    for source in DriverSource::ALL {
        if matches!(source, DriverSource::Swing | DriverSource::Channel) {
            continue;
        }
        undoes(&mut h, |h| h.editor.set_driver_source(0, source));
        assert_eq!(undo_label(&h), "Driver input · Driver");
        let now = driver(&h);
        assert_eq!(DriverSource::of(&now.settings.input), source);
        let value = h.editor.driver_value().unwrap();
        assert!(value.input.is_some(), "{source:?}");
        match now.settings.input {
            DriverInput::JointAngle { joint, axis } => {
                assert_eq!(joint, forearm.0);
                assert!(axis.distance(DVec3::X) < 1e-6, "as it is bent: {axis}");
                assert!((value.input.unwrap().to_degrees() - 60.0).abs() < 1e-6);
            }
            // What the bend of the elbow changes.
            DriverInput::BoneAngle { a, b } => {
                assert!(a == forearm.0 && b != a);
                assert!((value.input.unwrap().to_degrees() - 60.0).abs() < 1.0);
            }
            DriverInput::Distance { .. } => {
                assert!((now.settings.to - 0.5 * now.settings.from).abs() < 1e-12);
                assert!(value.input.unwrap() < 0.95 * now.settings.from);
            }
            _ => {}
        }
    }
    h.editor.set_driver_source(0, DriverSource::Channel);
    assert!(h.settle_and_notice().contains("There is no recording"));
    assert_eq!(
        DriverSource::of(&driver(&h).settings.input),
        DriverSource::Constant
    );
}

#[test]
fn the_course_over_a_clip_is_what_the_deformer_stack_reads() {
    let (mut h, _) = driven_arm(0.0);
    let clip = *h.editor.document().clips().keys().next().expect("a clip");
    assert_eq!(h.editor.driver_course(), None, "no clip is shown");
    h.editor.show_clip(Some(clip));
    h.settle();
    let course = h.editor.driver_course().unwrap();
    assert_eq!(course.len(), 129);
    let amounts = || course.iter().map(|p| p[1]);
    assert!(amounts().fold(0.0, f64::max) > amounts().fold(1.0, f64::min));
    for at in [0, 40, 100] {
        let [secs, amount] = course[at];
        h.editor.set_time(secs);
        h.settle();
        let value = h.editor.driver_value().unwrap();
        assert!((value.amount - amount).abs() < 1e-9, "{value:?} {amount}");
    }

    // A distance between vertices is measured before the clusters act, which is computed in the background.
    let ends = [DriverPoint::Vertex(3), DriverPoint::Vertex(250)];
    h.editor.set_driver(0, "input", |layer| {
        layer.settings.input = DriverInput::Distance {
            a: ends[0],
            b: ends[1],
        };
        layer.settings.to = 2.0;
    });
    assert_eq!(h.editor.driver_course(), None);
    h.settle();
    let course = h.editor.driver_course().expect("it was computed");
    assert_eq!(course.len(), 49);
    let document = h.editor.document().clone();
    let reader = DriverReader::new(&driver(&h), None).unwrap();
    let rest = document.rest_pose().world_matrices(document.skeleton());
    let plain = document.clone().without_clusters();
    let mut evaluator = Evaluator::default();
    for at in [0, 20, 48] {
        let [secs, amount] = course[at];
        let pose = document.pose_of_clip(&document.clips()[&clip], secs);
        let moment = Moment::of(ClipId(clip.0), secs);
        evaluator.evaluate(
            &plain,
            PoseAt {
                pose: &pose,
                moment,
            },
        );
        let instance = *document.instances().keys().next().unwrap();
        let world = pose.world_matrices(document.skeleton());
        let read = reader.amount(&PoseInputs {
            skeleton: document.skeleton(),
            rest_world: &rest,
            locals: &pose.locals,
            world: &world,
            positions: evaluator.plan(instance).unwrap().positions(),
            moment,
        });
        assert!((read - amount).abs() < 1e-9, "{read} {amount}");
        assert!(read > 0.0);
        h.editor.set_time(secs);
        h.settle();
        let value = h.editor.driver_value().unwrap();
        assert!((value.amount - amount).abs() < 1e-9);
    }
    // Between the times of the course the value is that of the pose itself, once it is read.
    let secs = 0.5 * (course[20][0] + course[21][0]) + 0.01;
    h.editor.set_time(secs);
    h.settle();
    h.editor.driver_value();
    h.settle();
    let value = h.editor.driver_value().unwrap();
    let pose = document.pose_of_clip(&document.clips()[&clip], secs);
    let exact = distance(&plain, &pose, ends);
    assert!((value.input.unwrap() - exact).abs() < 1e-9, "{value:?}");
}

/// The distance of two vertices as the stack alone has them in a pose.
fn distance(plain: &Document, pose: &Pose, ends: [DriverPoint; 2]) -> f64 {
    let mut evaluator = Evaluator::default();
    let moment = Moment::default();
    evaluator.evaluate(plain, PoseAt { pose, moment });
    let instance = *plain.instances().keys().next().unwrap();
    let positions = evaluator.plan(instance).unwrap().positions();
    let [a, b] = ends.map(|end| match end {
        DriverPoint::Vertex(vertex) => positions[vertex as usize].as_dvec3(),
        DriverPoint::Joint(_) => panic!("a vertex"),
    });
    a.distance(b)
}

#[test]
fn a_distance_between_vertices_follows_the_pose_while_it_changes() {
    let (mut h, forearm) = driven_arm(0.0);
    let mesh = h.editor.clustered_mesh().expect("the arm");
    let n = h.editor.document().meshes()[&mesh].geometry.n_points() as u32;
    // At both ends of the arm.
    let ends = [DriverPoint::Vertex(0), DriverPoint::Vertex(n - 1)];
    h.editor.set_driver(0, "input", |layer| {
        layer.settings.input = DriverInput::Distance {
            a: ends[0],
            b: ends[1],
        };
        layer.settings.to = 2.0;
    });
    h.editor.driver_value();
    h.settle();
    let mut local = h.editor.document().free_pose().locals[forearm.get()];
    let first = h.editor.driver_value().expect("it was read").input.unwrap();
    h.editor.begin_pose_field(forearm, "Rotate");
    for _ in 0..20 {
        local.rotation *= DQuat::from_rotation_x(0.05);
        h.editor.set_pose_field(forearm, local);
        h.editor.poll(0.0);
        // There is a value in every frame of the drag.
        assert!(h.editor.driver_value().is_some());
    }
    h.settle();
    h.editor.driver_value();
    h.settle();
    let value = h.editor.driver_value().unwrap().input.unwrap();
    let pose = h.editor.document().shown_pose();
    let plain = h.editor.document().clone().without_clusters();
    assert!((value - distance(&plain, &pose, ends)).abs() < 1e-9);
    assert!((value - first).abs() > 0.01, "{value} {first}");
    h.editor.confirm_transform();
}

#[test]
fn weights_are_painted_at_selected_clusters() {
    let (mut h, _) = driven_arm(60.0);
    h.editor.set_driver_weight(0, 0.5);
    assert!(h.settle_and_notice().contains("Select clusters"));
    let marked: Vec<u32> = h.editor.clusters().unwrap().clusters()[..4]
        .iter()
        .map(|c| c.0)
        .collect();
    select(&mut h, &marked);
    undoes(&mut h, |h| h.editor.set_driver_weight(0, 0.25));
    assert_eq!(undo_label(&h), "Driver weight · Driver");
    assert_eq!(h.editor.driver_weight(0), Some(0.25));
    assert!(driver(&h).weights.len() >= 4);
    h.editor.set_driver_weight(0, 1.0);
    assert!(driver(&h).weights.is_empty(), "1 is what is not listed");
    let along = SinkMask::AlongBone {
        centre: 0.5,
        profile: sinew::cluster::procedural::Profile::default(),
    };
    let bone = h.editor.bone_for_driver(0);
    undoes(&mut h, |h| {
        h.editor.set_driver(0, "profile", |layer| {
            layer.bone = bone;
            layer.settings.sink.mask = along;
        });
    });
}
