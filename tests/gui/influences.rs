//! The Influences panel: cells by mouse, keys and clipboard.

use crate::window::{CTRL, Window};
use egui::{Event, Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::document::MeshId;
use sinew::view::frame::PanelKind;

fn mesh(window: &Window) -> MeshId {
    *window.document().meshes().keys().next().expect("a mesh")
}

fn weight(window: &Window, point: u32, joint: u16) -> f32 {
    let item = &window.document().meshes()[&mesh(window)];
    item.influences.row(point).weight_of(joint)
}

/// The arm in the Weights workspace, some points at the elbow selected, the table in front.
fn table() -> Window {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, "Weights");
    window.click(Role::Tab, "Influences");
    let mesh = mesh(&window);
    let mixed: Vec<u32> = {
        let item = &window.document().meshes()[&mesh];
        let rows = (0..).zip(item.influences.iter());
        let mixed = rows.filter(|(_, row)| row.len() == 2 && row.weights.iter().all(|w| *w > 0.2));
        mixed.map(|(point, _)| point).take(6).collect()
    };
    assert_eq!(mixed.len(), 6);
    let editor = window.harness.state_mut().editor_mut();
    editor.select_points(mesh, &mixed);
    window.settle();
    window
}

fn rows(window: &Window) -> Vec<u32> {
    let table = window.editor().influence_table().expect("a table");
    table.points.to_vec()
}

fn columns(window: &Window) -> Vec<u16> {
    let table = window.editor().influence_table().expect("a table");
    table.columns.iter().map(|column| column.index).collect()
}

/// Clicks the cell of a point and a column.
fn click_cell(window: &mut Window, point: u32, column: usize) {
    let table = window.editor().influence_table().expect("a table");
    let bone = table.columns[column].joint;
    let label = window.document().skeleton().label(bone);
    let part = format!("Vertex {point}, {label} ");
    let cell = {
        let mut found = window.harness.query_all_by_label_contains(&part);
        let cell = found.find(|node| node.accesskit_node().role() == Role::Cell);
        cell.unwrap_or_else(|| panic!("no {part}")).rect().center()
    };
    window.press(cell);
    window.release(cell);
    window.settle();
}

#[test]
fn a_weight_is_typed_into_a_cell_as_one_step() {
    let mut window = table();
    window.picture("influences");
    let (points, bones) = (rows(&window), columns(&window));
    assert!(window.says("6 selected vertices"));
    click_cell(&mut window, points[0], 0);
    let before = weight(&window, points[0], bones[0]);
    // Numbers are views elsewhere; here they are written.
    let camera = window.document().session().camera;
    window.harness.key_press(Key::Num1);
    window.write("0.125");
    window.picture("influences-writing");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.document().session().camera, camera);
    assert!((weight(&window, points[0], bones[0]) - 0.125).abs() < 1e-6);
    assert_eq!(window.editor().history().undo_label(), Some("Edit weight"));
    let sum: f32 = bones.iter().map(|&b| weight(&window, points[0], b)).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    // Enter went on below; Esc leaves what is there.
    let below = weight(&window, points[1], bones[0]);
    window.write("0.9");
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(weight(&window, points[1], bones[0]), below);
    window.write("abc");
    window.write("2");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(weight(&window, points[1], bones[0]), below);
    assert!(window.says("is not between 0 and 1"));
    // Typed faster than frames come.
    window.key(Modifiers::NONE, Key::ArrowUp);
    for key in ["0", ".", "3"] {
        window.harness.event(Event::Text(key.into()));
    }
    window.harness.step();
    window.write("75");
    window.key(Modifiers::NONE, Key::Enter);
    assert!((weight(&window, points[1], bones[0]) - 0.375).abs() < 1e-6);
    window.choose("Edit", "Undo edit weight");
    window.choose("Edit", "Undo edit weight");
    assert_eq!(weight(&window, points[0], bones[0]), before);
    assert_eq!(rows(&window), points, "rows stay where they are");
}

#[test]
fn cells_are_copied_and_pasted_as_a_spreadsheet_does() {
    let mut window = table();
    let (points, bones) = (rows(&window), columns(&window));
    assert!(bones.len() >= 2, "two bones at the elbow");
    click_cell(&mut window, points[0], 0);
    for key in [Key::ArrowDown, Key::ArrowRight] {
        window.key(Modifiers::SHIFT, key);
    }
    window.harness.event(Event::Copy);
    window.harness.step();
    let copied = {
        let commands = &window.harness.output().platform_output.commands;
        commands.iter().find_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
    };
    let copied = copied.expect("a text is copied");
    let lines: Vec<Vec<f32>> = copied
        .lines()
        .map(|line| {
            line.split('\t')
                .map(|n| n.parse().expect("a number"))
                .collect()
        })
        .collect();
    let expected: Vec<Vec<f32>> = points[..2]
        .iter()
        .map(|&p| bones[..2].iter().map(|&b| weight(&window, p, b)).collect())
        .collect();
    assert_eq!(lines, expected);
    window.settle();
    // A block goes to the right and down.
    window.key(Modifiers::NONE, Key::Home);
    click_cell(&mut window, points[2], 0);
    let event = Event::Paste("0.3\t0.7\r\n0.6\t0.4\r\n".into());
    window.harness.event(event);
    window.harness.step();
    window.settle();
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Paste weights")
    );
    for (row, weights) in [(2, [0.3, 0.7]), (3, [0.6, 0.4])] {
        for (column, expected) in weights.into_iter().enumerate() {
            let shown = weight(&window, points[row], bones[column]);
            assert!((shown - expected).abs() < 1e-5, "{row} {column} {shown}");
        }
    }
    window.picture("influences-pasted");
    let n_steps = window.editor().history().n_undo();
    window.harness.event(Event::Paste("0.5\tno".into()));
    window.harness.step();
    window.settle();
    assert!(window.says("Row 1, column 2 of the pasted cells is not a number"));
    assert_eq!(window.editor().history().n_undo(), n_steps);
}

#[test]
fn titles_sort_and_points_are_selected_both_ways() {
    let mut window = table();
    let (points, bones) = (rows(&window), columns(&window));
    let joint = window.editor().influence_table().expect("a table").columns[0].joint;
    let label = window.document().skeleton().label(joint);
    window.click(Role::ColumnHeader, &label);
    let weights = |window: &Window| -> Vec<f32> {
        let rows = rows(window);
        rows.iter().map(|&p| weight(window, p, bones[0])).collect()
    };
    assert!(weights(&window).is_sorted_by(|a, b| a >= b));
    window.click(Role::ColumnHeader, &format!("{label}, largest first"));
    assert!(weights(&window).is_sorted());
    window.click(Role::ColumnHeader, &format!("{label}, smallest first"));
    assert_eq!(rows(&window), points);
    // A click on a point selects it alone, and the rows stay.
    let title = format!("Vertex {}", points[2]);
    window.click(Role::RowHeader, &title);
    assert_eq!(window.editor().n_selected(), 1);
    assert_eq!(rows(&window), points);
    // A selection elsewhere shows here.
    let mesh = mesh(&window);
    let editor = window.harness.state_mut().editor_mut();
    editor.select_points(mesh, &[1, 2]);
    window.settle();
    assert_eq!(rows(&window), [1, 2]);
    let editor = window.harness.state_mut().editor_mut();
    editor.select_none();
    window.settle();
    let n_points = window.document().meshes()[&mesh].influences.len();
    assert_eq!(rows(&window).len(), n_points);
    window.key(CTRL, Key::Z);
    window.picture("influences-all");
}

#[test]
fn keys_walk_to_the_end_of_many_rows() {
    let mut window = Window::on("hand.glb");
    window.click(Role::Tab, "Weights");
    window.click(Role::Tab, "Influences");
    let points = rows(&window);
    click_cell(&mut window, points[0], 0);
    window.key(Modifiers::NONE, Key::End);
    let last = points.last().expect("points");
    assert!(window.says(&format!("Vertex {last}, sum ")));
    for _ in 0..30 {
        window.key(Modifiers::NONE, Key::ArrowRight);
    }
    let n_columns = columns(&window).len();
    assert!(window.says(&format!("of {n_columns}")) || n_columns < 9);
    window.picture("influences-end");
    window.write("0");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.app().dock().is_open(PanelKind::Influences));
}
