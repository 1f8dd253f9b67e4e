//! The bent tube with control clusters, and its shapes: helpers of the tests of clusters.

use crate::editing::EditorHarness;
use glam::{DQuat, Vec2, Vec3};
use sinew::cluster::{ClusterMap, ControlMotion};
use sinew::document::session::TransformKind;
use sinew::document::{ClustersEdit, Document, Edit, InstanceId, MeshId};
use sinew::evaluate::Evaluator;
use sinew::math::{Axis, Worse};
use sinew::skeleton::{Moment, Pose};
use std::sync::Arc;

/// The mesh of [`crate::models::tube`].
pub(crate) const MESH: MeshId = MeshId(0);
/// The instance that its skin moves.
pub(crate) const SKINNED: InstanceId = InstanceId(3);
/// The same mesh on a bone, without a skin.
pub(crate) const RIGID: InstanceId = InstanceId(4);
/// The size of the viewport of headless editors.
pub(crate) const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

pub(crate) fn edit(document: &Document, map: ClusterMap) -> Edit {
    Edit::Clusters(ClustersEdit::new(document, MESH, Arc::new(map)))
}

pub(crate) fn apply(document: &mut Document, map: ClusterMap) {
    let mut edit = edit(document, map);
    document.apply(&mut edit).unwrap();
}

pub(crate) fn with(document: &Document, map: ClusterMap) -> Document {
    let mut document = document.clone();
    apply(&mut document, map);
    document
}

/// The shape of an instance.
pub(crate) fn shape_of(
    document: &Document,
    id: InstanceId,
    pose: &Pose,
    moment: Moment,
) -> Vec<Vec3> {
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, pose.at(moment));
    evaluator.plan(id).unwrap().positions().to_vec()
}

/// The shape of [`SKINNED`].
pub(crate) fn shape_at(document: &Document, pose: &Pose, moment: Moment) -> Vec<Vec3> {
    shape_of(document, SKINNED, pose, moment)
}

/// As [`shape_at`], outside of clips.
pub(crate) fn shape(document: &Document, pose: &Pose) -> Vec<Vec3> {
    shape_at(document, pose, Moment::default())
}

pub(crate) fn bits(shape: &[Vec3]) -> Vec<[u32; 3]> {
    let bits = |v: &Vec3| v.to_array().map(f32::to_bits);
    shape.iter().map(bits).collect()
}

/// The tube bent at its middle joint and, half as much, turned at the last.
pub(crate) fn bent(document: &Document, degrees: f64) -> Pose {
    let mut pose = Pose::rest(document.skeleton());
    pose.locals[1].rotation = DQuat::from_rotation_z(degrees.to_radians());
    pose.locals[2].rotation = DQuat::from_rotation_x(0.5 * degrees.to_radians());
    pose
}

/// Every `nth` point of the mesh.
pub(crate) fn every(document: &Document, nth: usize) -> Vec<u32> {
    let n = document.meshes()[&MESH].geometry.n_points() as u32;
    (0..n).step_by(nth).collect()
}

/// The largest distance between points of two shapes.
pub(crate) fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::worse)
}

/// Offsets outside of clips.
pub(crate) fn still(offsets: Vec<(u32, Vec3)>) -> ControlMotion {
    ControlMotion::new(offsets, []).unwrap()
}

/// Types a move of what is selected along an axis.
pub(crate) fn move_by(h: &mut EditorHarness, axis: Axis, metres: &str) {
    let at = SIZE / 2.0;
    assert!(
        h.editor
            .begin_cluster_transform(TransformKind::Move, None, at, SIZE)
    );
    h.editor.press_axis(axis, false);
    for c in metres.chars() {
        h.editor.type_transform(c);
    }
    h.settle();
    h.editor.confirm_transform();
    h.settle();
}
