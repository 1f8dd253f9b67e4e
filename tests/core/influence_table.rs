//! The table of weights through the headless editor: rows, columns, cells.

use crate::editing::EditorHarness;
use sinew::document::MeshId;
use sinew::editor::OpenRequest;
use sinew::editor::influence_table::{InfluenceTable, SortBy, SortOrder};
use sinew::io::gltf_build::to_glb;
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::JointId;

fn only_mesh(h: &EditorHarness) -> MeshId {
    *h.editor.document().meshes().keys().next().unwrap()
}

fn table(h: &mut EditorHarness, order: SortOrder) -> InfluenceTable {
    assert!(h.editor.ask_for_influences(order));
    h.settle();
    h.editor.influence_table().unwrap().clone()
}

fn row(h: &EditorHarness, point: u32) -> Vec<(u16, f32)> {
    let item = &h.editor.document().meshes()[&only_mesh(h)];
    item.influences.row(point).iter().collect()
}

#[test]
fn rows_are_the_selection_or_all_and_columns_what_moves_them() {
    let mut h = EditorHarness::new();
    let mesh = only_mesh(&h);
    let all = table(&mut h, SortOrder::default());
    let n_points = h.editor.document().meshes()[&mesh].influences.len();
    assert_eq!((all.points.len(), all.is_selection), (n_points, false));
    for column in all.columns.iter() {
        let skin = h.editor.document().skin_of_mesh(mesh).unwrap().1;
        assert_eq!(skin.joints[usize::from(column.index)], column.joint);
    }
    h.editor.select_points(mesh, &[9, 3]);
    let some = table(&mut h, SortOrder::default());
    assert_eq!((&some.points[..], some.is_selection), (&[3, 9][..], true));
    let mut moved: Vec<u16> = some.columns.iter().map(|c| c.index).collect();
    // Bones with most weight come first.
    let sum = |bone: u16| {
        let weights = [3, 9].map(|p| row(&h, p).into_iter().find(|e| e.0 == bone));
        weights
            .iter()
            .flatten()
            .map(|e| f64::from(e.1))
            .sum::<f64>()
    };
    assert!(
        moved.windows(2).all(|w| sum(w[0]) >= sum(w[1])),
        "{moved:?}"
    );
    moved.sort_unstable();
    let mut expected: Vec<u16> = [3, 9]
        .iter()
        .flat_map(|&p| row(&h, p))
        .map(|e| e.0)
        .collect();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(moved, expected);
    // A row that is clicked is selected, and the others stay.
    h.editor.select_row(mesh, 9);
    assert_eq!(h.editor.n_selected(), 1);
    assert_eq!(table(&mut h, SortOrder::default()), some);
    // Another selection is followed.
    h.editor.select_points(mesh, &[9]);
    assert_eq!(table(&mut h, SortOrder::default()).points[..], [9]);
}

#[test]
fn rows_are_sorted_by_a_bone_and_an_edit_does_not_move_them() {
    let mut h = EditorHarness::new();
    let mesh = only_mesh(&h);
    let order = SortOrder {
        by: SortBy::Bone(1),
        descending: true,
    };
    let before = table(&mut h, order);
    let weight = |h: &EditorHarness, point: u32| {
        let found = row(h, point).into_iter().find(|(joint, _)| *joint == 1);
        found.map_or(0.0, |(_, weight)| weight)
    };
    let weights: Vec<f32> = before.points.iter().map(|&p| weight(&h, p)).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b));
    let first = before.points[0];
    h.editor
        .set_weights(mesh, &[(first, 1, 0.25)], "Edit weight");
    h.settle();
    assert_eq!(table(&mut h, order).points, before.points);
    let other = SortOrder {
        descending: false,
        ..order
    };
    assert_ne!(table(&mut h, other).points, before.points);
}

#[test]
fn a_cell_is_one_step_and_keeps_locks_and_sums() {
    let mut h = EditorHarness::new();
    let mesh = only_mesh(&h);
    let skin = h.editor.document().skin_of_mesh(mesh).unwrap().1.clone();
    h.editor.set_weights(
        mesh,
        &[(4, 0, 0.5), (4, 1, 0.3), (4, 2, 0.2)],
        "Paste weights",
    );
    let before = row(&h, 4);
    let sum = |row: &[(u16, f32)]| row.iter().map(|e| e.1).sum::<f32>();
    let of = |row: &[(u16, f32)], joint: u16| {
        let found = row.iter().find(|e| e.0 == joint);
        found.map_or(0.0, |e| e.1)
    };
    assert_eq!(of(&before, 0).to_bits(), 0.5f32.to_bits(), "as given");
    assert!((sum(&before) - 1.0).abs() < 1e-6, "{before:?}");
    let refused = h.editor.set_weights(mesh, &[(4, 0, 0.2)], "Edit weight");
    assert_eq!(refused, 0);
    assert_eq!(h.editor.history().undo_label(), Some("Edit weight"));
    assert!((of(&row(&h, 4), 0) - 0.2).abs() < 1e-6);
    assert!((sum(&row(&h, 4)) - 1.0).abs() < 1e-6);
    h.editor.undo();
    assert_eq!(row(&h, 4), before);
    // A locked bone keeps every bit, and the artist is told.
    h.editor.toggle_lock(skin.joints[0]);
    let n_steps = h.editor.history().n_undo();
    assert_eq!(h.editor.set_weights(mesh, &[(4, 0, 0.9)], "Edit weight"), 1);
    h.settle();
    assert_eq!(row(&h, 4), before);
    assert_eq!(h.editor.history().n_undo(), n_steps, "no empty step");
    let told = &h.notices.last().unwrap().text;
    assert!(told.contains("locked bones keep their weights"), "{told}");
    assert_eq!(h.editor.set_weights(mesh, &[(4, 1, 0.9)], "Edit weight"), 1);
    assert_eq!(of(&row(&h, 4), 0).to_bits(), of(&before, 0).to_bits());
    // Points and bones that are not there are refused, not followed.
    let wrong = [(u32::MAX, 0, 0.5), (0, u16::MAX, 0.5), (0, 0, f32::NAN)];
    assert_eq!(h.editor.set_weights(mesh, &wrong, "Edit weight"), 3);
}

#[test]
fn the_active_bone_has_a_column_even_where_it_moves_nothing() {
    let mut h = EditorHarness::new();
    let mesh = only_mesh(&h);
    let n_joints = h.editor.document().n_skin_joints(mesh).unwrap() as u16;
    let others = row(&h, 0);
    let idle = (0..n_joints).find(|j| others.iter().all(|e| e.0 != *j));
    let idle = idle.expect("not every bone moves the first point");
    let joint = h.editor.document().skin_of_mesh(mesh).unwrap().1.joints[usize::from(idle)];
    h.editor.select_points(mesh, &[0]);
    let has = |table: &InfluenceTable| table.columns.iter().any(|c| c.joint == joint);
    h.editor.select_joints(None::<JointId>, None);
    assert!(!has(&table(&mut h, SortOrder::default())));
    h.editor.select_joints([joint], Some(joint));
    assert!(has(&table(&mut h, SortOrder::default())));
}

#[test]
fn many_points_are_sorted_on_a_thread_while_the_table_before_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.glb");
    let model = to_glb(&sample(SampleKind::Cylinder, 60_000));
    std::fs::write(&path, model).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(path));
    assert!(h.editor.ask_for_influences(SortOrder::default()));
    assert!(h.editor.influence_table().is_none() && h.editor.is_gathering_influences());
    h.settle();
    let by_point = h.editor.influence_table().unwrap().clone();
    let order = SortOrder {
        by: SortBy::Bone(0),
        descending: true,
    };
    assert!(h.editor.ask_for_influences(order));
    assert_eq!(h.editor.influence_table(), Some(&by_point));
    h.settle();
    let by_bone = h.editor.influence_table().unwrap();
    assert_eq!(by_bone.order, order);
    assert_eq!(by_bone.points.len(), by_point.points.len());
}
