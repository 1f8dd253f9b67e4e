//! `VRMC_node_constraint`: what is read, kept and written.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{clip, tube, turn};
use crate::constraint_keys::{following, plain, played};
use crate::constraints::{constrain, copies, edit};
use crate::export_models::reopen;
use crate::skinning::Random;
use glam::{DQuat, DVec3};
use serde_json::json;
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, EditError};
use sinew::export::{ExportOptions, Exported, export};
use sinew::io::import_bytes;
use sinew::skeleton::constraint::{self, Constraint, CopiedAxes, EulerOrder, Rule, Space};
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;

/// Roll of `VRMC_node_constraint` 1.0 is a twist share: the specification's pseudocode on random frames (METHODS-rigging
/// 4: equal to 1.2e-15 on 2,000 of them).
#[test]
fn a_roll_is_a_twist_share() {
    let mut random = Random::new(7);
    for k in 0..2000 {
        let [rest, source_rest, now] = [0; 3].map(|_| random.rotation());
        let axis = DVec3::AXES[k % 3];
        let weight = (k % 11) as f64 / 10.0;
        // deltaSrcQuat, deltaSrcQuatInParent, deltaSrcQuatInDst, fromToQuat of the specification.
        let delta = source_rest.inverse() * now;
        let in_parent = source_rest * delta * source_rest.inverse();
        let in_own = rest.inverse() * in_parent * rest;
        let from_to = DQuat::from_rotation_arc(axis, in_own * axis);
        let mut target = rest * from_to.inverse() * in_own;
        if target.dot(rest) < 0.0 {
            target = -target;
        }
        let expected = rest.slerp(target, weight);
        let ours =
            rest * DQuat::from_axis_angle(axis, constraint::twist_angle(in_own, axis) * weight);
        let off = (ours - expected).length().min((ours + expected).length());
        assert!(off < 1e-9, "{k}: {off}");
    }
}

/// A VRM model whose nodes 3 and 4 have constraints; node 1 has one of another version and node 2 one of two kinds.
fn vrm() -> crate::gltf_builder::Gltf {
    let mut gltf = tube(5);
    let first = clip(&mut gltf, "Bend");
    let times = [0.0, 0.5, 1.0];
    turn(&mut gltf, first, 2, "LINEAR", &times, &[0.0, 70.0, -30.0]);
    gltf.json["extensions"] = json!({"VRMC_vrm": {"specVersion": "1.0"}});
    gltf.json["extensionsUsed"] = json!(["VRMC_vrm", "VRMC_node_constraint"]);
    let mut put = |node: usize, version: &str, constraint: serde_json::Value| {
        gltf.json["nodes"][node]["extensions"] = json!({
            "VRMC_node_constraint": {"specVersion": version, "constraint": constraint}
        });
    };
    put(1, "2.0", json!({"rotation": {"source": 2}}));
    put(
        2,
        "1.0",
        json!({"rotation": {"source": 1}, "roll": {"source": 1, "rollAxis": "X"}}),
    );
    put(3, "1.0", json!({"rotation": {"source": 2, "weight": 0.25}}));
    put(
        4,
        "1.0",
        json!({"roll": {"source": 2, "rollAxis": "Y", "weight": 0.5}}),
    );
    put(
        5,
        "1.0",
        json!({"aim": {"source": 1, "aimAxis": "NegativeZ"}}),
    );
    gltf
}

fn json_of(bytes: &[u8]) -> serde_json::Value {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..20 + length]).unwrap()
}

/// METHODS-rigging 4: all three kinds of `VRMC_node_constraint` become live, others stay as they are.
#[test]
fn node_constraints_of_vrm_are_read_kept_and_written() {
    let imported = import_bytes(vrm().glb(), None, None, &Task::new()).unwrap();
    let about: Vec<String> = imported
        .findings
        .iter()
        .filter(|f| f.message.contains("the file keeps it as it is"))
        .map(ToString::to_string)
        .collect();
    assert_eq!(about.len(), 2, "{:?}", imported.findings);
    assert!(about[0].contains("\"2.0\", not \"1.0\""), "{about:?}");
    assert!(about[1].contains("2 kinds of constraint"), "{about:?}");
    let mut document = Document::new(imported.parts).unwrap();
    let labels: Vec<_> = [3, 4, 5]
        .map(|j| document.constraints_of(JointId(j))[0].rule.label())
        .into();
    assert_eq!(labels, ["Copy Rotation", "Twist Share", "Damped Track"]);
    assert_eq!(document.constraints_of(JointId(3))[0].influence, 0.25);
    assert_eq!(document.constraints().len(), 3);
    let clip = document.clips()[&ClipId(0)].clone();
    let turned = document.pose_of_clip(&clip, 0.5);
    let quarter = DQuat::IDENTITY.slerp(turned.locals[2].rotation, 0.25);
    assert!(turned.locals[3].rotation.dot(quarter).abs() > 1.0 - 1e-12);
    assert!(quarter.w < 0.99);

    // Without edits: keyframes beside the same constraints, so that viewers that do not know them play the same motion.
    let before = json_of(&document.source().unwrap().bytes);
    let exported = plain(&document);
    let about = |exported: &Exported| {
        let findings = exported.report.findings.iter();
        let said = findings.filter(|f| f.message.contains("constrained bone"));
        said.cloned().collect::<Vec<_>>()
    };
    assert_eq!(about(&exported).len(), 1, "{:?}", exported.report);
    for step in 0..=50 {
        let time = f64::from(step) / 50.0;
        let pose = document.pose_of_clip(&clip, time);
        for (j, (q, _)) in played(&exported.files[0].1, 0, time).iter().enumerate() {
            let off = 2.0 * q.dot(pose.locals[j].rotation).abs().clamp(0.0, 1.0).acos();
            assert!(off.to_degrees() < 0.11, "bone {j} at {time}: {off}");
        }
    }
    // What is said of the file is true of the file: opened again, it has all keyframes and is copied.
    let again = plain(&reopen(&exported));
    assert_eq!(about(&again), []);
    assert_eq!(again.files[0].1, exported.files[0].1);
    let json = json_of(&exported.files[0].1);
    let of = |json: &serde_json::Value, node: usize| {
        json["nodes"][node]["extensions"]["VRMC_node_constraint"].clone()
    };
    for node in 1..=5 {
        assert_eq!(of(&json, node), of(&before, node));
    }
    let read = reopen(&exported);
    assert_eq!(read.constraints(), document.constraints());
    let n_keyed = read.clips()[&ClipId(0)].channels.len();
    assert!(n_keyed >= 4, "{n_keyed}");
    // With the keyframes beside them they give the same pose.
    let again = read.pose_of_clip(&read.clips()[&ClipId(0)], 0.5);
    for j in 1..=5 {
        let (a, b) = (again.locals[j].rotation, turned.locals[j].rotation);
        assert!(a.dot(b).abs() > 1.0 - 1e-6, "{j}");
    }

    // Changed ones are written, removed ones go, and what cannot be expressed is keyframes only.
    let list = vec![Constraint {
        influence: 0.75,
        ..Constraint::new(copies(JointId(1)))
    }];
    document.apply(&mut edit(JointId(3), list)).unwrap();
    document.apply(&mut edit(JointId(4), Vec::new())).unwrap();
    constrain(
        &mut document,
        JointId(5),
        &[Rule::LimitAngles {
            ranges: [[-0.5, 0.5]; 3],
            order: EulerOrder::Xyz,
        }],
    );
    let exported = plain(&document);
    let json = json_of(&exported.files[0].1);
    assert_eq!(
        of(&json, 3)["constraint"],
        json!({"rotation": {"source": 1, "weight": 0.75}})
    );
    assert!(of(&json, 4).is_null() && of(&json, 5).is_null());
    assert_eq!(of(&json, 1), of(&before, 1));
    let said = exported.report.findings.iter();
    let keys_only = said.filter(|f| f.message.contains("keyframes only"));
    let keys_only: Vec<&str> = keys_only.map(|f| f.message.as_str()).collect();
    let expected =
        "VRMC_node_constraint cannot express the constraints of 1 bone; they are keyframes only.";
    assert_eq!(keys_only, [expected]);

    // All axes are the whole rotation, in whatever order.
    let axes = CopiedAxes {
        order: EulerOrder::Zyx,
        ..CopiedAxes::ALL
    };
    let in_order = Rule::CopyRotation {
        source: JointId(1),
        space: Space::Local,
        keeps_offset: true,
        axes,
    };
    let mut ordered = document.clone();
    constrain(&mut ordered, JointId(3), &[in_order]);
    let json = json_of(&plain(&ordered).files[0].1);
    assert_eq!(
        of(&json, 3)["constraint"],
        json!({"rotation": {"source": 1, "weight": 1}})
    );

    // An influence is part of a roll's weight, what is muted is not spoken of, and what cannot be read gives way.
    let roll = Constraint {
        influence: 0.5,
        ..Constraint::new(Rule::TwistShare {
            source: JointId(2),
            axis: DVec3::Y,
            share: 0.5,
            centre: 0.0,
        })
    };
    document.apply(&mut edit(JointId(4), vec![roll])).unwrap();
    let muted = Constraint {
        is_muted: true,
        ..Constraint::new(Rule::LimitAngles {
            ranges: [[-0.5, 0.5]; 3],
            order: EulerOrder::Xyz,
        })
    };
    document.apply(&mut edit(JointId(5), vec![muted])).unwrap();
    let quarter = Constraint {
        influence: 0.25,
        ..Constraint::new(copies(JointId(2)))
    };
    document.apply(&mut edit(JointId(3), Vec::new())).unwrap();
    document
        .apply(&mut edit(JointId(1), vec![quarter]))
        .unwrap();
    let exported = plain(&document);
    let json = json_of(&exported.files[0].1);
    let roll = json!({"roll": {"source": 2, "rollAxis": "Y", "weight": 0.25}});
    assert_eq!(of(&json, 4)["constraint"], roll);
    assert_eq!(
        of(&json, 1),
        json!({"specVersion": "1.0", "constraint": {"rotation": {"source": 2, "weight": 0.25}}})
    );
    assert!(of(&json, 5).is_null() && of(&json, 3).is_null());
    let said: Vec<&str> = (exported.report.findings.iter())
        .filter(|f| f.place == "constraints" && !f.message.contains("constrained bone"))
        .map(|f| f.message.as_str())
        .collect();
    let expected =
        "Constraints that Sinew cannot read were replaced by those of the project on 1 bone.";
    assert_eq!(said, [expected]);
}

/// The check of a file without other edits compares with the keyframes that it has.
#[test]
fn a_vrm_without_edits_meets_the_tolerance() {
    let imported = import_bytes(vrm().glb(), None, None, &Task::new()).unwrap();
    let document = with_stack(Document::new(imported.parts).unwrap(), &DeformStack::lbs());
    let (_, report) = corrected(&document, BakeOptions::default());
    assert!(report.met, "{report:?}");
}

/// Other files get them on request: what is written reads as it was.
#[test]
fn node_constraints_are_written_on_request() {
    let document = following();
    let json = json_of(&plain(&document).files[0].1);
    assert!(json["extensionsUsed"].is_null());
    let options = ExportOptions {
        node_constraints: true,
        ..ExportOptions::default()
    };
    let exported = export(&document, &options, &Task::new()).unwrap();
    let json = json_of(&exported.files[0].1);
    assert_eq!(json["extensionsUsed"], json!(["VRMC_node_constraint"]));
    assert!(json["extensionsRequired"].is_null());
    assert_eq!(reopen(&exported).constraints(), document.constraints());
}

/// UniVRM evaluates constraints in the order of the nodes: one that follows a later one is named.
#[test]
fn constraints_that_follow_later_ones_are_named() {
    let imported = import_bytes(vrm().glb(), None, None, &Task::new()).unwrap();
    let mut document = Document::new(imported.parts).unwrap();
    let late = |document: &Document| -> Vec<String> {
        let exported = plain(document);
        let said = exported.report.findings.iter();
        let said = said.filter(|f| f.message.contains("a frame late"));
        said.map(|f| f.message.clone()).collect()
    };
    document.apply(&mut edit(JointId(5), Vec::new())).unwrap();
    assert!(late(&document).is_empty());
    constrain(&mut document, JointId(3), &[copies(JointId(4))]);
    let said = late(&document);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("comes later in the file") && !said[0].contains("So do"));
    assert!(said[0].len() <= 300, "{said:?}");
}

/// Viewers evaluate a constraint from rest, over the keyframes: one on a bone that IK of another bends is left out.
#[test]
fn a_constraint_of_a_bone_that_ik_bends_is_keyframes_only() {
    let imported = import_bytes(vrm().glb(), None, None, &Task::new()).unwrap();
    let mut document = Document::new(imported.parts).unwrap();
    let written = |document: &Document| -> Vec<bool> {
        let json = json_of(&plain(document).files[0].1);
        let has = |node: usize| {
            let extensions = json["nodes"][node].get("extensions");
            extensions.is_some_and(|e| e.get("VRMC_node_constraint").is_some())
        };
        [3, 4].map(has).to_vec()
    };
    assert_eq!(written(&document), [true, true]);
    let reach = Rule::ReachTwoBones {
        target: JointId(1),
        pole: None,
        softness: 0.0,
    };
    constrain(&mut document, JointId(5), &[reach]);
    assert_eq!(written(&document), [false, false]);
}

/// A file whose constraints form a dependency cycle opens; the cycle is named, and one constraint does not act.
#[test]
fn a_cycle_in_a_file_is_opened_and_named() {
    let mut gltf = tube(4);
    for (node, source) in [(3, 4), (4, 3)] {
        gltf.json["nodes"][node]["extensions"] = json!({"VRMC_node_constraint": {
            "specVersion": "1.0", "constraint": {"rotation": {"source": source}}
        }});
    }
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let document = Document::new(imported.parts).unwrap();
    let found = sinew::document::checks::of_constraints(&document);
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .message
            .contains("follows “Joint 2” (Copy Rotation)"),
        "{found:?}"
    );
    // Joint 3 follows joint 4; joint 4 stays.
    let turn = DQuat::from_rotation_x(0.7);
    let mut pose = Pose::clone(document.rest_pose());
    pose.locals[4].rotation *= turn;
    let keyed = pose.clone();
    document.constrain(&mut pose);
    assert_eq!(pose.locals[4], keyed.locals[4]);
    assert!((pose.locals[3].rotation.dot(keyed.locals[4].rotation)).abs() > 1.0 - 1e-12);

    // Undo closes it again, bit for bit.
    let mut history = sinew::document::History::default();
    let mut opened = document.clone();
    let deleted = edit(JointId(4), Vec::new());
    history
        .apply(&mut opened, deleted, "Delete constraint")
        .unwrap();
    assert!(opened.constraint_cycles().is_empty());
    history.undo(&mut opened).unwrap();
    assert!(opened.same_content(&document));
    assert_eq!(opened.constraint_cycles().len(), 1);

    // Another cycle is refused all the same, and so is one that would stop what acts.
    let mut document = document;
    constrain(&mut document, JointId(2), &[copies(JointId(1))]);
    for (joint, source) in [(1, 2), (4, 1)] {
        let list = vec![
            Constraint::new(copies(JointId(3))),
            Constraint::new(copies(JointId(source))),
        ];
        let list = if joint == 4 { list } else { list[1..].to_vec() };
        let found = document.clone().apply(&mut edit(JointId(joint), list));
        assert_eq!(found.is_err(), joint == 1, "{found:?}");
    }
    let list = vec![Constraint::new(copies(JointId(3)))];
    let error = document.clone().apply(&mut edit(JointId(1), list.clone()));
    assert!(error.is_ok(), "{error:?}");
    constrain(&mut document, JointId(1), &[copies(JointId(3))]);
    let error = document.apply(&mut edit(
        JointId(3),
        vec![Constraint::new(copies(JointId(2)))],
    ));
    assert!(matches!(error, Err(EditError::Cycle(_))), "{error:?}");
}
