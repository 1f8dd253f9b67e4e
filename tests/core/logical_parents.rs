//! Flat rigs, whose joints are all children of one node: logical parents are inferred, saved and used.

use crate::cli::done as cli;
use crate::export_models::{open, reopen};
use crate::rig_operations::{END, MIDDLE, ROOT, apart, moving_tube};
use crate::rig_tools::{done, place, refused, unchanged};
use crate::shared::shared_dir;
use glam::{DQuat, DVec3, Vec3};
use sinew::bake::static_shapes::static_shapes;
use sinew::deform::DeformStack;
use sinew::document::checks::of_rig;
use sinew::document::rig::{self, Axis, Intent, flat_joints};
use sinew::document::{Document, Edit, MeshId};
use sinew::export::{ExportOptions, export};
use sinew::finding::Fix;
use sinew::rig::Operation;
use sinew::skeleton::bone_segments::bones;
use sinew::skeleton::ik::Chain;
use sinew::skeleton::world_rotation::rotate_in_world;
use sinew::skeleton::{JointId, JointRule, Pose, Skeleton};
use sinew::skinning::{Compensation, RowRef};
use sinew::task::Task;
use std::path::PathBuf;
use std::sync::Arc;

fn hand_file() -> Option<PathBuf> {
    let shared = shared_dir("logical parents")?;
    Some(shared.join("models/webxr_hand_left/webxr_hand_left.glb"))
}

fn named(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    let found = joints.find(|&j| skeleton.joint(j).name == name);
    found.unwrap_or_else(|| panic!("no joint {name}"))
}

/// The fingers bent by 60 degrees at their middle joints, each with what follows it.
fn fist(document: &Document, logical: &Skeleton) -> Pose {
    let mut pose = (**document.rest_pose()).clone();
    for finger in ["index", "middle", "ring", "pinky"] {
        let joint = named(document, &format!("{finger}-finger-phalanx-intermediate"));
        let turn = DQuat::from_axis_angle(DVec3::Z, 60f64.to_radians());
        rotate_in_world(logical, &mut pose, joint, turn);
    }
    pose
}

/// The largest way that compensation moves a vertex, in percent of the diagonal.
fn compensated(document: &Document, pose: &Pose, siblings: bool) -> f64 {
    let shape = |enabled: bool| -> Vec<Vec3> {
        let mut document = document.clone();
        let meshes: Vec<_> = document.meshes().keys().copied().collect();
        for mesh in meshes {
            let stack = Arc::new(DeformStack {
                compensation: Compensation {
                    enabled,
                    siblings,
                    ..Compensation::default()
                },
                ..DeformStack::default()
            });
            document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
        }
        let shapes = static_shapes(&document, pose, &Task::new()).unwrap();
        shapes
            .into_values()
            .flat_map(|shape| shape.positions)
            .collect()
    };
    let (on, off) = (shape(true), shape(false));
    let low = off.iter().copied().reduce(Vec3::min).unwrap();
    let high = off.iter().copied().reduce(Vec3::max).unwrap();
    let far = on.iter().zip(&off).map(|(a, b)| f64::from(a.distance(*b)));
    let far = far.fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
    100.0 * far / f64::from(low.distance(high))
}

#[test]
fn the_fingers_of_a_flat_hand_are_found_and_compensated() {
    let Some(file) = hand_file() else { return };
    let mut document = open(&file);
    let source = document.clone();
    let finding = |document: &Document| {
        let found = of_rig(document).into_iter();
        let mut found = found.filter(|f| f.fix == Some(Fix::InferParents));
        found.next()
    };
    assert!(finding(&document).is_some_and(|f| f.target.is_some()));
    done(&mut document, &Operation::InferParents);
    assert!(finding(&document).is_none());
    let skeleton = document.skeleton().clone();
    let above = |name: &str| {
        let parent = skeleton.joint(named(&document, name)).rule.logical_parent;
        parent.map(|parent| skeleton.joint(parent).name.clone())
    };
    assert_eq!(above("wrist"), None);
    for finger in [
        "thumb",
        "index-finger",
        "middle-finger",
        "ring-finger",
        "pinky-finger",
    ] {
        let mut last = "wrist".to_owned();
        for part in [
            "metacarpal",
            "phalanx-proximal",
            "phalanx-intermediate",
            "phalanx-distal",
            "tip",
        ] {
            let name = format!("{finger}-{part}");
            // A thumb has no intermediate phalanx.
            if name != "thumb-phalanx-intermediate" {
                assert_eq!(above(&name), Some(last), "{name}");
                last = name;
            }
        }
    }

    let pose = fist(&document, &skeleton);
    let [plain, siblings, logical, both] = [
        compensated(&source, &pose, false),
        compensated(&source, &pose, true),
        compensated(&document, &pose, false),
        compensated(&document, &pose, true),
    ];
    println!(
        "compensation of the fist: flat {plain:.3} %, siblings {siblings:.3} %, inferred {logical:.3} %, with siblings {both:.3} %"
    );
    assert!(plain < 1e-6, "{plain}");
    assert!(logical > 0.1, "{logical} of {siblings}");

    // Bones lead from joint to joint, and those of the tips on from theirs.
    let world = document.rest_pose().world_matrices(&skeleton);
    let drawn = bones(&skeleton, &world, |j| document.skin_joint_mask()[j.get()]);
    let distal = named(&document, "index-finger-phalanx-distal");
    let tip = named(&document, "index-finger-tip");
    let at = |j: JointId| world[j.get()].translation.as_vec3();
    let bone = drawn.iter().find(|bone| bone.joint == distal).unwrap();
    assert!(bone.tail.distance(at(tip)) < 1e-6);
    let last = drawn.iter().find(|bone| bone.joint == tip).unwrap();
    let (way, line) = (last.tail - last.head, at(tip) - at(distal));
    assert!(
        way.normalize_or_zero().dot(line.normalize_or_zero()) > 0.999,
        "{way} {line}"
    );

    // The file says nothing of it: it stays as it was.
    let options = ExportOptions::default();
    let exported = export(&document, &options, &Task::new()).unwrap();
    let read = reopen(&exported);
    let parents = |d: &Document| -> Vec<Option<JointId>> {
        d.skeleton().joints().iter().map(|j| j.parent).collect()
    };
    assert_eq!(parents(&read), parents(&source));
    unchanged(
        &source,
        &Operation::LogicalParent {
            joint: tip,
            parent: None,
        },
    );
}

#[test]
fn a_flat_finger_reaches_and_carries_its_tip() {
    let Some(file) = hand_file() else { return };
    let mut document = open(&file);
    let end = named(&document, "index-finger-phalanx-distal");
    let all = |_: JointId| true;
    assert_eq!(Chain::above(document.skeleton(), end, all), None);
    done(&mut document, &Operation::InferParents);
    let skeleton = document.skeleton().clone();
    let chain = Chain::above(&skeleton, end, all).unwrap();
    assert_eq!(
        chain.root,
        named(&document, "index-finger-phalanx-proximal")
    );
    let rest = document.rest_pose();
    let mut pose = (**rest).clone();
    let place = |pose: &Pose, j: JointId| pose.world_matrices(&skeleton)[j.get()].translation;
    let was = place(&pose, end);
    let root = place(&pose, chain.root);
    let target = root + (was - root) * 0.8 + DVec3::X * 0.005;
    let gap = chain.reach(&skeleton, &mut pose, rest, target, None);
    assert!(
        gap < 1e-9 && place(&pose, end).distance(target) < 1e-9,
        "{gap}"
    );
    let tip = named(&document, "index-finger-tip");
    let length = |pose: &Pose| place(pose, tip).distance(place(pose, end));
    assert!(
        (length(&pose) - length(rest)).abs() < 1e-9,
        "the tip follows"
    );
    let other = named(&document, "ring-finger-tip");
    assert_eq!(pose.locals[other.get()], rest.locals[other.get()]);
}

/// A file of which every joint of the skin hangs from one node, with the places and weights of `document`.
fn flattened(document: &Document) -> Document {
    let mut flat = document.clone();
    let skin = document.skins().values().next().unwrap().clone();
    let above = document.skeleton().roots().next().unwrap();
    // A node above all of them.
    for &joint in &skin.joints {
        let operation = Operation::Reparent {
            joint,
            parent: above,
        };
        if document.skeleton().joint(joint).parent != Some(above) && joint != above {
            done(&mut flat, &operation);
        }
    }
    flat
}

#[test]
fn the_limbs_of_a_flattened_character_are_found_again() {
    let Some(shared) = shared_dir("logical parents") else {
        return;
    };
    let mut document = open(&shared.join("models/cesium_man/cesium_man.glb"));
    let clips: Vec<_> = document.clips().keys().copied().collect();
    for id in clips {
        document.apply(&mut Edit::Clip { id, clip: None }).unwrap();
    }
    let mut flat = flattened(&document);
    let skin = flat.skins().values().next().unwrap().clone();
    assert_eq!(
        flat_joints(&flat, &skin).map(|j| j.len()),
        Some(skin.joints.len())
    );
    done(&mut flat, &Operation::InferParents);
    let edges = |d: &Document| -> std::collections::BTreeSet<[JointId; 2]> {
        let skeleton = d.skeleton();
        let of = |&j: &JointId| {
            let above = skeleton
                .logical_parent(j)
                .filter(|p| skin.joints.contains(p))?;
            Some([j.min(above), j.max(above)])
        };
        skin.joints.iter().filter_map(of).collect()
    };
    let (before, after) = (edges(&document), edges(&flat));
    let found = before.intersection(&after).count();
    println!("{found} of {} bones are found again", before.len());
    assert!(found + 2 >= before.len(), "{before:?}\n{after:?}");
}

#[test]
fn logical_parents_follow_edits_and_make_no_cycles() {
    let Some(file) = hand_file() else { return };
    let mut document = open(&file);
    done(&mut document, &Operation::InferParents);
    let [wrist, distal, intermediate, tip] = [
        "wrist",
        "index-finger-phalanx-distal",
        "index-finger-phalanx-intermediate",
        "index-finger-tip",
    ]
    .map(|name| named(&document, name));
    let why = refused(
        &document,
        &Operation::LogicalParent {
            joint: wrist,
            parent: Some(tip),
        },
    );
    assert!(why.contains("follows it"), "{why}");
    let rule = |d: &Document, j: JointId| d.skeleton().joint(j).rule;
    let set = Operation::LogicalParent {
        joint: tip,
        parent: Some(intermediate),
    };
    done(&mut document, &set);
    assert_eq!(rule(&document, tip).logical_parent, Some(intermediate));
    done(
        &mut document,
        &Operation::LogicalParent {
            joint: tip,
            parent: Some(distal),
        },
    );
    done(&mut document, &Operation::Remove { joint: distal });
    assert_eq!(rule(&document, tip).logical_parent, Some(intermediate));
    let invalid = JointRule {
        logical_parent: Some(tip),
        ..JointRule::default()
    };
    let mut edit = Edit::JointRule {
        joint: intermediate,
        rule: invalid,
    };
    assert!(document.apply(&mut edit).is_err());
}

#[test]
fn the_command_line_infers_and_sets_logical_parents() {
    let Some(file) = hand_file() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("hand.ron");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let said = cli(&["check", file]);
    assert!(said.contains("the hierarchy has no limbs"), "{said}");
    let args = [
        "rig",
        file,
        "--infer-parents",
        "--logical-parent",
        "thumb-tip",
        "wrist",
        "--out",
        out,
    ];
    let said = cli(&args);
    assert!(
        said.contains("Infer logical parents: 24 bones changed"),
        "{said}"
    );
    let said = cli(&["check", out]);
    assert!(!said.contains("the hierarchy has no limbs"), "{said}");
    let text = std::fs::read_to_string(out).unwrap();
    assert_eq!(text.matches("logical_parent:").count(), 24, "{text}");
}

/// The moving tube, whose end hangs from its root and follows the middle along the limb.
fn flat_tube() -> Document {
    let mut document = moving_tube();
    let reparent = Operation::Reparent {
        joint: END,
        parent: ROOT,
    };
    done(&mut document, &reparent);
    let follow = Operation::LogicalParent {
        joint: END,
        parent: Some(MIDDLE),
    };
    done(&mut document, &follow);
    document
}

#[test]
fn bones_of_a_flat_rig_are_oriented_along_the_limb() {
    let mut document = flat_tube();
    // Bent at the middle: by the parents of the file there is no bend, and the middle has no bone.
    let by = DVec3::new(0.0, 0.4, 0.0);
    let intent = Intent::NewPivot;
    let joint = END;
    done(&mut document, &Operation::Move { joint, by, intent });
    let before = document.clone();
    for joint in [MIDDLE, END] {
        let (aim, second) = (Axis::Y, Axis::Z);
        done(&mut document, &Operation::Orient { joint, aim, second });
    }
    let world = document.rest_pose().world_matrices(document.skeleton());
    let bone = place(&document, END) - place(&document, MIDDLE);
    let above = place(&document, MIDDLE) - place(&document, ROOT);
    for joint in [MIDDLE, END] {
        let axes = world[joint.get()].matrix3;
        let alike = |axis: DVec3, way: DVec3| axis.dot(way.try_normalize().unwrap());
        assert!(alike(axes.y_axis, bone) > 1.0 - 1e-9, "{joint:?} {axes}");
        assert!(alike(axes.z_axis, above.cross(bone)) > 1.0 - 1e-9);
    }
    assert!(apart(&before, &document) < 1e-6);
    // A roll turns about the bones, also that of the end, which continues the limb.
    for joint in [MIDDLE, END] {
        let was = world[joint.get()].matrix3.y_axis;
        done(&mut document, &Operation::Roll { joint, angle: 0.7 });
        let world = document.rest_pose().world_matrices(document.skeleton());
        assert!(world[joint.get()].matrix3.y_axis.distance(was) < 1e-9);
    }
    assert!(apart(&before, &document) < 1e-6);
}

#[test]
fn a_bone_of_a_flat_rig_is_subdivided_along_the_limb() {
    let before = flat_tube();
    let keys = rig::measure::n_keys(&before);
    let mut document = before.clone();
    let operation = Operation::Insert {
        joint: MIDDLE,
        n: 2,
    };
    let (done_, _) = done(&mut document, &operation);
    let made = done_.made;
    let skeleton = document.skeleton().clone();
    assert_eq!(skeleton.joint(END).parent, Some(ROOT), "as in the file");
    assert_eq!(skeleton.logical_parent(END), Some(made[1]));
    assert_eq!(skeleton.logical_parent(made[1]), Some(made[0]));
    assert_eq!(skeleton.logical_parent(made[0]), Some(MIDDLE));
    let [from, to] = [place(&before, MIDDLE), place(&before, END)];
    for (k, &joint) in made.iter().enumerate() {
        let wanted = from.lerp(to, (k as f64 + 1.0) / 3.0);
        assert!(place(&document, joint).distance(wanted) < 1e-9);
    }
    assert!(apart(&before, &document) < 1e-6);
    assert_eq!(rig::measure::n_keys(&document), keys);
    // Both have weights of the middle.
    let (_, skin) = document.skin_of_mesh(MeshId(0)).unwrap();
    let item = &document.meshes()[&MeshId(0)];
    for joint in made {
        let slot = skin.joints.iter().position(|&j| j == joint).unwrap() as u16;
        let mut pairs = item.influences.iter().flat_map(RowRef::iter);
        assert!(pairs.any(|(j, weight)| j == slot && weight > 0.3));
    }
    let twist = Operation::Twist {
        joint: MIDDLE,
        n: 2,
    };
    assert_eq!(
        refused(&before, &twist),
        "“end” follows “middle” along the limb but is not its child. Reparent “end” to “middle” first."
    );
}

#[test]
fn a_subdivided_flat_finger_comes_back_with_the_project_and_the_file() {
    let Some(file) = hand_file() else { return };
    let mut document = open(&file);
    let tip = named(&document, "index-finger-tip");
    let joint = named(&document, "index-finger-phalanx-distal");
    let operation = Operation::Insert { joint, n: 1 };
    let why = refused(&document, &operation);
    assert!(why.contains("has no child"), "{why}");
    done(&mut document, &Operation::InferParents);
    let made = done(&mut document, &operation).0.made[0];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hand.ron");
    sinew::io::project::save(&document, &path, &Task::new()).unwrap();
    let again = sinew::io::open_any(&path, &Task::new()).unwrap();
    assert!(again.findings.is_empty(), "{:?}", again.findings);
    let skeleton = again.document.skeleton();
    assert_eq!(skeleton.logical_parent(tip), Some(made));
}
