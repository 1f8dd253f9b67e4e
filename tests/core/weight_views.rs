//! Colours of weights, the point under the pointer, and selecting by weights, through the headless editor.

use crate::editing::EditorHarness;
use glam::Vec2;
use sinew::document::joint_colour::joint_colour;
use sinew::document::session::SelectKind;
use sinew::document::{Edit, MeshId};
use sinew::editor::{Heat, HeatOf, OpenRequest, WeightView};
use sinew::mesh::PointSet;
use sinew::skeleton::JointId;
use sinew::skinning::Rows;
use std::collections::BTreeMap;

fn only_mesh(h: &EditorHarness) -> MeshId {
    *h.editor.document().meshes().keys().next().unwrap()
}

/// Gives points rows, as one step.
fn set_rows(h: &mut EditorHarness, points: &[u32], row: &[(u16, f32)]) {
    let rows: Rows = points.iter().map(|_| row.to_vec()).collect();
    let edit = Edit::influences(only_mesh(h), points.to_vec(), rows);
    h.editor.apply(edit, "Set").unwrap();
    h.settle();
}

fn selected(h: &EditorHarness) -> PointSet {
    let points = &h.editor.document().session().selected_points;
    points
        .get(&only_mesh(h))
        .map_or_else(PointSet::default, |s| (**s).clone())
}

/// What is the same of two heats: all but how they came about.
/// What it shows, the bits of its values, its tints, and how many points are marked.
type Content = (HeatOf, Vec<u32>, Vec<[u8; 4]>, usize);

fn content(heat: &BTreeMap<MeshId, Heat>) -> Vec<Content> {
    let bits = |heat: &Heat| heat.values.iter().map(|v| v.to_bits()).collect();
    let of_mesh = |heat: &Heat| {
        let tints = heat.tints.to_vec();
        (heat.of, bits(heat), tints, heat.n_marked)
    };
    heat.values().map(of_mesh).collect()
}

#[test]
fn every_view_updated_by_strokes_locks_and_undo_equals_a_fresh_one() {
    let mut h = EditorHarness::new();
    let bone = JointId(h.joint("forearm"));
    h.editor.select_joint(Some(bone));
    for view in WeightView::ALL {
        h.editor.show_weights(view);
        for locked in [false, true] {
            if locked {
                h.editor.toggle_lock(JointId(h.joint("upper_arm")));
            }
            set_rows(&mut h, &[3, 4, 5], &[(0, 0.25), (1, 0.5)]);
            set_rows(&mut h, &[700, 701], &[]);
            h.editor.undo();
            h.settle();
            let updated = content(h.editor.heat());
            assert_eq!(updated.len(), 1);
            assert_eq!(
                updated[0].2.is_empty(),
                !locked && view != WeightView::Bones
            );
            // Away and back: read anew.
            let other = match view {
                WeightView::Count => WeightView::Sum,
                _ => WeightView::Count,
            };
            h.editor.show_weights(other);
            h.editor.show_weights(view);
            assert_eq!(content(h.editor.heat()), updated, "{view:?} {locked}");
        }
        h.editor.unlock_all();
        h.settle();
    }
}

#[test]
fn a_change_says_which_chunks_it_touched_and_others_are_not_read() {
    let mut h = EditorHarness::on(OpenRequest::Sample("hand".into()));
    h.editor.show_weights(WeightView::Bones);
    let mesh = only_mesh(&h);
    let n_points = h.editor.document().meshes()[&mesh].influences.len() as u32;
    assert!(n_points > 1024, "more than one chunk");
    let before = h.editor.heat()[&mesh].clone();
    set_rows(&mut h, &[1030], &[(0, 1.0)]);
    let after = &h.editor.heat()[&mesh];
    let (generation, chunks) = after.changes.last().unwrap();
    assert_eq!((*generation, &chunks[..]), (after.generation, &[1u32][..]));
    assert_eq!(after.generation, before.generation + 1);
    assert_eq!(before.tints[..1024], after.tints[..1024]);
    assert_ne!(before.tints[1030], after.tints[1030]);
    // Another view begins a history of its own, with numbers that were never used.
    let newest = after.generation;
    h.editor.show_weights(WeightView::Sum);
    let other = &h.editor.heat()[&mesh];
    assert!(other.changes.is_empty() && other.generation > newest);
}

#[test]
fn colours_of_bones_follow_the_artist_and_locks_their_share() {
    let mut h = EditorHarness::new();
    h.editor.show_weights(WeightView::Bones);
    let mesh = only_mesh(&h);
    let skin = h.editor.document().skin_of_mesh(mesh).unwrap().1.clone();
    set_rows(&mut h, &[7], &[(1, 1.0)]);
    let joint = skin.joints[1];
    let own = joint_colour(h.editor.document().session(), joint);
    let tint = |h: &EditorHarness| h.editor.heat()[&mesh].tints[7];
    assert_eq!(tint(&h)[..3], own);
    h.editor.set_joint_colour(joint, Some([10, 200, 30]));
    assert_eq!(tint(&h), [10, 200, 30, 0]);
    h.editor.toggle_lock(joint);
    assert_eq!(tint(&h), [10, 200, 30, 255]);
    h.editor.undo();
    assert_eq!(tint(&h), [10, 200, 30, 0]);
    set_rows(&mut h, &[7], &[]);
    assert_eq!(tint(&h), [0; 4]);
    // A map has no bones: neither colours nor locks.
    h.editor.show_weights(WeightView::Painted);
    h.editor.select_joint(Some(joint));
    h.editor.toggle_lock(joint);
    assert!(!h.editor.heat()[&mesh].tints.is_empty());
    let blend = sinew::document::session::PaintTarget::Mask(sinew::deform::MaskKind::Blend);
    h.editor.set_paint_target(blend);
    assert!(h.editor.heat()[&mesh].tints.is_empty());
}

#[test]
fn sums_and_counts_are_told_apart() {
    let mut h = EditorHarness::new();
    let mesh = only_mesh(&h);
    set_rows(&mut h, &[1], &[(0, 0.25), (1, 0.25)]);
    set_rows(&mut h, &[2], &[(0, 0.5), (1, 0.25), (2, 0.25)]);
    set_rows(&mut h, &[3], &[(0, 3.0)]);
    set_rows(&mut h, &[4], &[(0, 0.0)]);
    h.editor.show_weights(WeightView::Sum);
    assert_eq!(h.editor.heat()[&mesh].values[1..5], [0.25, 0.5, 1.0, -1.0]);
    h.editor.show_weights(WeightView::Count);
    let counts = [2.0, 3.0, 1.0, -16.0].map(|n| n / 16.0);
    assert_eq!(h.editor.heat()[&mesh].values[1..5], counts);
}

#[test]
fn points_off_1_are_counted_selected_and_normalised() {
    let mut h = EditorHarness::new();
    assert_eq!(h.editor.n_off_sum(), 0);
    h.editor.select_off_sum();
    assert!(h.notices.is_empty() && h.editor.n_selected() == 0);
    set_rows(&mut h, &[1, 9, 33], &[(0, 0.25), (1, 0.25)]);
    assert_eq!(h.editor.n_off_sum(), 3);
    let camera = h.editor.document().session().camera;
    h.editor.select_off_sum();
    assert_eq!(selected(&h).iter().collect::<Vec<_>>(), [1, 9, 33]);
    assert_eq!(h.editor.select_kind(), SelectKind::Points);
    assert_ne!(h.editor.document().session().camera, camera, "into view");
    h.editor.normalise_off_sum();
    h.settle();
    assert_eq!(h.editor.n_off_sum(), 0);
    assert_eq!(h.editor.history().undo_label(), Some("Normalise weights"));
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.n_off_sum(), 3);
    // Locked weights keep their bits, and the badge stays.
    for joint in ["upper_arm", "forearm"] {
        let joint = JointId(h.joint(joint));
        if !h.editor.document().locked().contains(&joint) {
            h.editor.toggle_lock(joint);
        }
    }
    h.settle();
}

#[test]
fn points_are_selected_by_what_moves_them() {
    let mut h = EditorHarness::new();
    let mesh = only_mesh(&h);
    let skin = h.editor.document().skin_of_mesh(mesh).unwrap().1.clone();
    set_rows(&mut h, &[5], &[]);
    set_rows(&mut h, &[6], &[(1, 0.0)]);
    let many: Vec<(u16, f32)> = (0..skin.joints.len().min(5) as u16)
        .map(|j| (j, 0.2))
        .collect();
    set_rows(&mut h, &[7], &many);
    h.editor.select_unweighted();
    assert_eq!(selected(&h).iter().collect::<Vec<_>>(), [5, 6]);
    h.editor.brush_mut().max_influences = many.len() - 1;
    h.editor.select_over_influenced();
    assert_eq!(selected(&h).iter().collect::<Vec<_>>(), [7]);
    assert_eq!(h.editor.history().undo_label(), Some("Set"), "no step");
    let weights = |h: &EditorHarness, index: u16| -> Vec<f32> {
        let item = &h.editor.document().meshes()[&mesh];
        let rows = item.influences.iter();
        rows.map(|row| row.weight_of(index)).collect()
    };
    h.editor.select_joint(Some(skin.joints[1]));
    let known = weights(&h, 1);
    for (low, high) in [(0.2, 0.2), (0.01, 0.99), (0.0, 0.1), (1.0, 1.0)] {
        h.editor.select_by_weight(low, high);
        let expected: PointSet = (0..)
            .zip(&known)
            .filter(|(_, w)| (low..=high).contains(*w))
            .map(|(p, _)| p)
            .collect();
        assert_eq!(selected(&h), expected, "{low} {high}");
    }
    // Of several bones, the points of each.
    h.editor
        .select_joints([skin.joints[0], skin.joints[1]], Some(skin.joints[0]));
    h.editor.select_moved_points();
    let both = weights(&h, 0).into_iter().zip(&known);
    let n_both = both.filter(|(a, b)| *a > 0.0 || **b > 0.0).count();
    assert_eq!(selected(&h).count(), n_both);
}

#[test]
fn the_other_side_of_points_and_bones_is_selected() {
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    let mesh = only_mesh(&h);
    let geometry = h.editor.document().meshes()[&mesh].geometry.clone();
    let left: Vec<u32> = (0..geometry.n_points() as u32)
        .filter(|&p| geometry.positions[p as usize].x > 0.1)
        .collect();
    assert!(left.len() > 20);
    h.editor.select_points(mesh, &left);
    h.editor.select_mirrored();
    h.settle();
    let right = selected(&h);
    assert!(right.count() > 20);
    for point in right.iter() {
        assert!(geometry.positions[point as usize].x < 0.0, "{point}");
    }
    h.editor.select_mirrored();
    h.settle();
    let back = selected(&h);
    assert!(
        back.count() > 20 && back.iter().all(|p| left.contains(&p)),
        "and back"
    );
    // What is selected meanwhile stays.
    h.editor.select_points(mesh, &left);
    h.editor.select_mirrored();
    h.editor.select_mirrored();
    // It may have ended already.
    let running = h.editor.running().map(|(label, _)| label);
    assert!(running.is_none_or(|label| label == "Mirror selection"));
    h.editor.select_points(mesh, &left[..3]);
    h.settle();
    assert_eq!(selected(&h).iter().collect::<Vec<_>>(), left[..3]);
    assert!(h.editor.running().is_none());
    // By names.
    let skeleton = h.editor.document().skeleton().clone();
    let mirror = sinew::skeleton::mirror::Mirror::new(&skeleton);
    let pair = (0..skeleton.len() as u32)
        .map(JointId)
        .find_map(|j| Some((j, mirror.partner(j).filter(|p| *p != j)?)));
    let (a, b) = pair.expect("arms have partners");
    h.editor.set_select_kind(SelectKind::Bones);
    h.editor.select_joint(Some(a));
    h.editor.select_mirrored();
    let session = h.editor.document().session();
    assert_eq!(session.active_joint, Some(b));
    assert_eq!(session.selected_joints, [b].into());
}

#[test]
fn the_point_under_the_pointer_tells_its_bones() {
    let mut h = EditorHarness::new();
    let size = Vec2::new(1000.0, 800.0);
    let found = h.editor.influences_at(Vec2::ZERO, size);
    let found = found.expect("the model is in the middle");
    let document = h.editor.document();
    let item = &document.meshes()[&found.mesh];
    let row = item.influences.row(found.point);
    assert_eq!(
        found.weights.len(),
        row.weights.iter().filter(|w| **w > 0.0).count()
    );
    assert!(found.weights.windows(2).all(|w| w[0].1 >= w[1].1));
    let shown = h.editor.displayed().values().next().unwrap();
    assert_eq!(found.place, shown.positions[found.point as usize]);
    assert_eq!(h.editor.influences_at(Vec2::splat(0.999), size), None);
}
