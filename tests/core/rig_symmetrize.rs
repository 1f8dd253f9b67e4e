//! Symmetrizing: both sides get the same hierarchy, and nodes of removed joints are no counterparts.

use crate::cli::asset;
use crate::export_models::reopen;
use crate::rig_operations::apart;
use crate::rig_tools::{done, name, place, unchanged};
use glam::DVec3;
use sinew::document::rig::asymmetries;
use sinew::document::{Document, Parts};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::math::Transform;
use sinew::rig::Operation;
use sinew::skeleton::{Joint, JointId, Skeleton};
use sinew::task::Task;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn mannequin() -> Document {
    let path = asset("mannequin");
    sinew::io::open_any(Path::new(&path), &Task::new())
        .unwrap()
        .document
}

/// The joint of a skin with this name.
fn named(document: &Document, wanted: &str) -> JointId {
    let in_skin = document.skin_joint_mask();
    let mut joints = document.skeleton().live_joints();
    joints
        .find(|&j| in_skin[j.get()] && name(document, j) == wanted)
        .unwrap_or_else(|| panic!("{wanted}"))
}

/// The names of the bones of a side with those of their parents, without the side.
fn tree(document: &Document, side: &str) -> BTreeSet<(String, String)> {
    let in_skin = document.skin_joint_mask();
    let skeleton = document.skeleton();
    let bare = |joint: JointId| name(document, joint).trim_end_matches(side).to_owned();
    let joints = skeleton.live_joints();
    let sided = joints.filter(|&j| in_skin[j.get()] && name(document, j).ends_with(side));
    sided
        .map(|j| {
            let parent = skeleton.joint(j).parent;
            (bare(j), parent.map_or_else(String::new, bare))
        })
        .collect()
}

#[test]
fn the_hierarchy_is_mirrored_too() {
    let before = mannequin();
    let mut document = before.clone();
    let joint = named(&document, "forearm.L");
    done(&mut document, &Operation::Insert { joint, n: 2 });
    assert_ne!(tree(&document, ".L"), tree(&document, ".R"));
    let joint = named(&document, "clavicle.L");
    let (did, report) = done(&mut document, &Operation::Symmetrize { joint });
    assert_eq!(tree(&document, ".L"), tree(&document, ".R"));
    let hand = named(&document, "hand.R");
    let parent = document.skeleton().joint(hand).parent.unwrap();
    assert_eq!(name(&document, parent), "forearm_02.R");
    let note = did
        .notes
        .iter()
        .find(|note| note.starts_with("Parent changed"));
    assert!(note.unwrap().contains("“hand.R”"), "{:?}", did.notes);
    assert!(report.at_rest() < 1e-4);
    // Turns, parents and inserted bones keep every motion of the symmetric mannequin.
    assert!(
        apart(&before, &document) < 2e-4,
        "{}",
        apart(&before, &document)
    );
    for stem in ["forearm", "forearm_01", "forearm_02", "hand"] {
        let [left, right] =
            ["L", "R"].map(|side| place(&document, named(&document, &format!("{stem}.{side}"))));
        let flipped = left * DVec3::new(-1.0, 1.0, 1.0);
        assert!(flipped.distance(right) < 1e-6, "{stem}: {left} {right}");
    }
}

#[test]
fn a_root_with_a_side_has_a_counterpart_without_a_parent() {
    let at = |translation: DVec3| Transform {
        translation,
        ..Transform::IDENTITY
    };
    let joints = vec![
        Joint::new("arm.l", None, at(DVec3::X)),
        Joint::new("hand.l", Some(JointId(0)), at(DVec3::Y)),
        // Its parent is on the other side.
        Joint::new("hand.r", Some(JointId(0)), at(DVec3::new(-2.0, 1.0, 0.0))),
    ];
    let mut document = Document::new(Parts {
        skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        ..Parts::default()
    })
    .unwrap();
    let joint = JointId(0);
    let (did, _) = done(&mut document, &Operation::Symmetrize { joint });
    let [arm] = did.made[..] else {
        panic!("{:?}", did.made)
    };
    assert_eq!(name(&document, arm), "arm.r");
    assert_eq!(document.skeleton().joint(arm).parent, None);
    assert_eq!(document.skeleton().joint(JointId(2)).parent, Some(arm));
    // The side that is copied stays.
    assert_eq!(document.skeleton().joint(JointId(1)).parent, Some(joint));
    assert_eq!(place(&document, JointId(1)), DVec3::new(1.0, 1.0, 0.0));
    assert_eq!(place(&document, arm), DVec3::NEG_X);
    assert_eq!(place(&document, JointId(2)), DVec3::new(-1.0, 1.0, 0.0));
}

/// A bone whose parent has a side and no counterpart is no child of that parent's side.
#[test]
fn a_counterpart_stays_where_its_new_parent_would_be_missing() {
    let at = |x: f64, y: f64| Transform {
        translation: DVec3::new(x, y, 0.0),
        ..Transform::IDENTITY
    };
    let joints = vec![
        Joint::new("pelvis", None, at(0.0, 1.0)),
        Joint::new("hip.L", Some(JointId(0)), at(0.2, 0.0)),
        Joint::new("thigh.L", Some(JointId(1)), at(0.3, -0.3)),
        Joint::new("thigh.R", Some(JointId(0)), at(-0.4, -0.2)),
    ];
    let mut document = Document::new(Parts {
        skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        ..Parts::default()
    })
    .unwrap();
    let joint = JointId(2);
    done(&mut document, &Operation::Symmetrize { joint });
    let right = document.skeleton().joint(JointId(3));
    assert_eq!(right.parent, Some(JointId(0)));
    // The plane is in the middle of the only pair.
    let off = place(&document, JointId(3)).distance(DVec3::new(-0.4, 0.7, 0.0));
    assert!(off < 1e-9, "{off}");
}

/// The node of a removed bone stays in the file under its old name.
#[test]
fn nodes_of_removed_bones_are_no_counterparts() {
    let mut document = mannequin();
    let joint = named(&document, "hand.R");
    let fingers: Vec<JointId> = document.skeleton().children(joint).to_vec();
    done(&mut document, &Operation::Remove { joint });
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let mut file = reopen(&export(&document, &options, &Task::new()).unwrap());
    let joints = file.skeleton().live_joints();
    let named_so: Vec<JointId> = joints.filter(|&j| name(&file, j) == "hand.R").collect();
    let [orphan] = named_so[..] else {
        panic!("{named_so:?}")
    };
    assert!(!file.skin_joint_mask()[orphan.get()]);
    for pair in asymmetries(&file) {
        assert!(pair.joint != orphan && pair.partner != orphan, "{pair:?}");
    }
    let joint = named(&file, "hand.L");
    let (did, _) = done(&mut file, &Operation::Symmetrize { joint });
    assert_eq!(did.made.len(), 1);
    let hand = named(&file, "hand.R");
    assert!(hand != orphan && did.made == [hand]);
    assert!(file.skeleton().joint(hand).parent.is_some());
    assert_eq!(tree(&file, ".L"), tree(&file, ".R"));
    assert_eq!(file.skeleton().children(hand).len(), fingers.len());
    // With two nodes of the name the one of the skin is the counterpart.
    let why = unchanged(&file, &Operation::Symmetrize { joint });
    assert!(why.contains("is already symmetric"), "{why}");
}
