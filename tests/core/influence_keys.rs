//! Keyframes of the influence of constraints: evaluated, edited, saved and exported as what they do.

use crate::constraint_keys::{following, plain, played};
use crate::editing::EditorHarness;
use sinew::document::{ClipId, Document, Edit};
use sinew::editor::constraints::ConstraintKind;
use sinew::editor::influence_keys::InfluenceKeys;
use sinew::math::Worse;
use sinew::skeleton::constraint::Constraint;
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use std::sync::Arc;

const HALF: JointId = JointId(3);

/// The arm with a wrist that copies the forearm's rotation, its clip on screen.
fn copying() -> (EditorHarness, JointId, ClipId) {
    let mut h = EditorHarness::new();
    let [forearm, wrist] = ["forearm", "wrist"].map(|name| JointId(h.joint(name)));
    h.editor.select_joints([wrist, forearm], Some(wrist));
    h.editor.add_constraint(wrist, ConstraintKind::CopyRotation);
    let clip = *h.editor.document().clips().keys().next().expect("a clip");
    h.editor.show_clip(Some(clip));
    h.settle();
    (h, wrist, clip)
}

#[test]
fn a_constraint_is_switched_off_within_a_clip() {
    let (mut h, wrist, id) = copying();
    let before = h.editor.document().clone();
    assert_eq!(h.editor.influence_keys(wrist, 0), InfluenceKeys::None);
    h.editor.key_influence(wrist, 0);
    assert_eq!(h.editor.influence_keys(wrist, 0), InfluenceKeys::Here);
    let label = h.editor.history().undo_label();
    assert_eq!(
        label,
        Some("Insert keyframe for influence of Copy Rotation of wrist")
    );
    // With keyframes, a change is one.
    h.editor.set_time(0.5);
    assert_eq!(h.editor.influence_keys(wrist, 0), InfluenceKeys::Elsewhere);
    h.editor.set_influence(wrist, 0, 0.0, "Off");
    h.editor.set_time(0.25);
    h.settle();
    let middle = h.editor.shown_influence(wrist, 0);
    assert!((middle - 0.5).abs() < 1e-6, "{middle}");
    let document = h.editor.document();
    assert_eq!(document.constraints_of(wrist)[0].influence, 1.0);
    let clip = &document.clips()[&id];
    let rotation = |document: &Document, time: f64| {
        document.pose_of_clip(clip, time).locals[wrist.get()].rotation
    };
    let own = |time: f64| document.keyed_pose(clip, time).locals[wrist.get()].rotation;
    // On it does what it did, off the keyframes of the bone show, and half way it is between both.
    assert_eq!(rotation(document, 0.0), rotation(&before, 0.0));
    assert_eq!(rotation(document, 0.5), own(0.5));
    assert_eq!(rotation(document, 0.7), own(0.7));
    let (on, off) = (rotation(&before, 0.25), own(0.25));
    let half = off.slerp(if on.dot(off) < 0.0 { -on } else { on }, 0.5);
    assert!(rotation(document, 0.25).angle_between(half) < 1e-6);
    let shown = document.shown_pose().locals[wrist.get()].rotation;
    assert_eq!(shown, rotation(document, 0.25));
    // A copy of the clip has them, and they go with the constraint.
    let keyed = h.editor.document().clone();
    h.editor.duplicate_clip();
    h.editor.remove_constraint(wrist, 0);
    let clips = h.editor.document().clips().values();
    assert!(clips.clone().all(|clip| !clip.keys_influences()));
    assert_eq!(clips.len(), before.clips().len() + 1);
    h.editor.undo();
    let clips = h.editor.document().clips().values();
    assert_eq!(clips.filter(|clip| clip.keys_influences()).count(), 2);
    h.editor.undo();
    assert!(h.editor.document().same_content(&keyed));
    h.editor.show_clip(Some(id));
    // The last keyframe deleted, the influence is the constraint's own.
    h.editor.set_time(0.5);
    h.editor.delete_influence_key(wrist, 0);
    assert_eq!(h.editor.influence_keys(wrist, 0), InfluenceKeys::Elsewhere);
    h.editor.set_time(0.0);
    h.editor.delete_influence_key(wrist, 0);
    assert_eq!(h.editor.influence_keys(wrist, 0), InfluenceKeys::None);
    for _ in 0..4 {
        h.editor.undo();
    }
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

/// Three joints in which the influence of the half copy goes from 0 to 1 and back to 0.2 in the first clip.
fn keyed() -> Document {
    let mut document = following();
    let mut half = document.constraints_of(HALF).to_vec();
    half[0] = Constraint {
        keyed_as: document.free_influence_number(HALF),
        ..half[0].clone()
    };
    let edit = document.constraints_edit(HALF, half).unwrap();
    document.apply(&mut Edit::Constraints(edit)).unwrap();
    let (&id, clip) = document.clips().iter().next().unwrap();
    let mut clip = Clip::clone(clip);
    clip.channels.push(Channel {
        joint: HALF,
        property: Property::Influence(1),
        interpolation: Interpolation::Linear,
        times: [0.1, 0.5, 0.9].into(),
        values: [0.0, 1.0, 0.2].into(),
    });
    let clip = Some(Arc::new(clip));
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
    document
}

/// Players show the motion with the influence of every moment, and the file has nothing else of it.
#[test]
fn exports_bake_the_influence_of_every_moment() {
    let document = keyed();
    let exported = plain(&document);
    let bytes = &exported.files[0].1;
    let clip = document.clips().values().next().unwrap();
    let (mut worst, mut change) = (0.0f64, 0.0f64);
    let unkeyed = following();
    for step in 0..=97 {
        let time = f64::from(step) / 97.0;
        let pose = document.pose_of_clip(clip, time);
        let still = unkeyed.pose_of_clip(unkeyed.clips().values().next().unwrap(), time);
        let wanted = pose.locals[HALF.get()].rotation;
        change = change.max(wanted.angle_between(still.locals[HALF.get()].rotation));
        worst = worst.worse(wanted.angle_between(played(bytes, 0, time)[HALF.get()].0));
    }
    assert!(worst.to_degrees() < 0.11, "{}", worst.to_degrees());
    assert!(change > 0.2, "{change}");
    let file = gltf::Gltf::from_slice_without_validation(bytes).unwrap();
    assert_eq!(file.animations().count(), 2);
}
