//! Colours of weights: pictures of every view, legends, the badge of sums, the bar under the pointer.

use crate::figure::Figure;
use crate::golden::assert_golden;
use crate::pixels::{SIZE, bare_figure, changed_pixels, offscreen, picture, pixel, place};
use crate::window::Window;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use sinew::document::{Edit, MeshId};
use sinew::editor::WeightView;
use sinew::editor::weight_colours::HeatChange;
use sinew::skinning::Rows;
use sinew::view::commands::Command;
use sinew::view::{Ramp, Scene, Shading};

/// The figure in a view, its tube's values from heights, 0 at the bottom to 1 at the top.
fn figure(view: WeightView, value: impl Fn(f32) -> f32) -> Figure {
    let mut figure = bare_figure(Shading::Weights);
    figure.options.weight_view = view;
    let heights = figure
        .tube
        .mesh
        .positions
        .iter()
        .map(|p| p.y.clamp(0.0, 1.0));
    figure.tube.weights = heights.map(value).collect();
    figure.ball.weights.fill(-1.0);
    figure
}

/// Tints of the tube from heights.
fn tints(figure: &Figure, tint: impl Fn(f32) -> [u8; 4]) -> Vec<[u8; 4]> {
    let heights = figure
        .tube
        .mesh
        .positions
        .iter()
        .map(|p| p.y.clamp(0.0, 1.0));
    heights.map(tint).collect()
}

fn tinted<'a>(figure: &'a Figure, tints: &'a [[u8; 4]]) -> Scene<'a> {
    let mut scene = figure.scene();
    scene.meshes[1].tints = Some(tints);
    scene
}

#[test]
fn every_view_of_weights_looks_as_it_did() {
    let mut lines = figure(WeightView::Painted, |y| y);
    lines.options.isolines = true;
    assert_golden("weights_isolines", &lines.scene());
    let locked = figure(WeightView::Painted, |y| (1.0 - y).max(0.0));
    let share = tints(&locked, |y| [0, 0, 0, (y * 255.0) as u8]);
    assert_golden("weights_locked", &tinted(&locked, &share));
    let bones = figure(WeightView::Bones, |y| if y > 0.9 { -1.0 } else { 1.0 });
    let mixed = tints(&bones, |y| {
        let t = ((y - 0.3) / 0.4).clamp(0.0, 1.0);
        let mix = |a: f32, b: f32| (a + (b - a) * t) as u8;
        [mix(230.0, 90.0), mix(120.0, 160.0), mix(70.0, 230.0), 0]
    });
    assert_golden("weights_bones", &tinted(&bones, &mixed));
    let counts = figure(WeightView::Count, |y| (y * 9.0).floor().max(0.0) / 16.0);
    assert_golden("weights_counts", &counts.scene());
    let sums = figure(WeightView::Sum, |y| {
        if (0.4..0.6).contains(&y) { 0.5 } else { y }
    });
    assert_golden("weights_sums", &sums.scene());
}

#[test]
fn lines_of_equal_weight_are_thin_and_never_fill_a_plateau() {
    let lines = |value: &dyn Fn(f32) -> f32| {
        let mut figure = figure(WeightView::Painted, value);
        let without = picture(&figure.scene());
        figure.options.isolines = true;
        changed_pixels(&without, &picture(&figure.scene()))
    };
    assert_eq!(lines(&|_| 0.5), 0, "one weight everywhere");
    assert_eq!(lines(&|_| 1.0), 0);
    let n_changed = lines(&|y| y);
    let area = (SIZE[0] * SIZE[1]) as usize;
    assert!(n_changed > 100 && n_changed < area / 20, "{n_changed}");
}

#[test]
fn stripes_show_what_is_locked_and_can_be_switched_off() {
    let mut figure = figure(WeightView::Painted, |_| 0.6);
    let plain = picture(&figure.scene());
    let none = tints(&figure, |_| [9, 9, 9, 0]);
    assert_eq!(changed_pixels(&plain, &picture(&tinted(&figure, &none))), 0);
    let striped = |figure: &Figure, share: u8| {
        let share = tints(figure, |_| [0, 0, 0, share]);
        changed_pixels(&plain, &picture(&tinted(figure, &share)))
    };
    let (some, all) = (striped(&figure, 60), striped(&figure, 255));
    assert!(some > 200 && all > some + some / 2, "{some} {all}");
    figure.options.lock_pattern = false;
    assert_eq!(striped(&figure, 255), 0);
}

#[test]
fn a_bone_has_its_colour_and_no_bone_is_hatched() {
    let figure = figure(WeightView::Bones, |y| if y > 0.5 { 1.0 } else { -1.0 });
    let blue = tints(&figure, |_| [40, 60, 220, 0]);
    let image = picture(&tinted(&figure, &blue));
    let nearest = |from: f32, to: f32| {
        let points = figure
            .tube
            .mesh
            .positions
            .iter()
            .zip(&figure.tube.positions);
        let inside = points.filter(|(rest, _)| (from..to).contains(&rest.y));
        let front = inside.max_by(|a, b| a.1.z.total_cmp(&b.1.z));
        pixel(&image, place(&figure, *front.expect("a point").1))
    };
    let [r, g, b] = nearest(0.7, 0.9);
    assert!(b > r + 60 && b > g + 60, "{r} {g} {b}");
    let [r, _, b] = nearest(0.1, 0.3);
    assert!(b.abs_diff(r) < 12, "{r} {b}");
}

#[test]
fn more_influences_than_the_limit_are_striped() {
    let mut figure = figure(WeightView::Count, |_| 6.0 / 16.0);
    figure.options.influence_limit = 8;
    let within = picture(&figure.scene());
    figure.options.influence_limit = 6;
    assert_eq!(changed_pixels(&within, &picture(&figure.scene())), 0);
    figure.options.influence_limit = 5;
    assert!(changed_pixels(&within, &picture(&figure.scene())) > 300);
    figure.options.ramp = Ramp::Grey;
    assert_golden("weights_over_limit", &figure.scene());
}

#[test]
fn a_part_that_is_uploaded_alone_looks_like_all_of_it() {
    let mut figure = figure(WeightView::Bones, |_| 1.0);
    let mut colours = tints(&figure, |_| [200, 60, 40, 0]);
    let mut one = offscreen();
    let draw = |one: &mut sinew::view::Offscreen, scene: &Scene<'_>| {
        let image = one.render(scene, SIZE[0], SIZE[1]);
        image.unwrap_or_else(|error| panic!("{error}"))
    };
    let mut scene = tinted(&figure, &colours);
    scene.meshes[1].weights_generation = 10;
    let before = draw(&mut one, &scene);
    for (i, colour) in colours.iter_mut().enumerate() {
        if i % 3 == 0 {
            *colour = [20, 160, 220, 90];
        }
    }
    for (i, weight) in figure.tube.weights.iter_mut().enumerate() {
        if i % 7 == 0 {
            *weight = -1.0;
        }
    }
    let n_chunks = figure.tube.weights.len().div_ceil(1024) as u32;
    let changes: Vec<HeatChange> = vec![(11, (0..n_chunks).collect())];
    let mut scene = tinted(&figure, &colours);
    scene.meshes[1].weights_generation = 11;
    scene.meshes[1].weight_changes = &changes;
    let parts = draw(&mut one, &scene);
    scene.meshes[1].weight_changes = &[];
    let whole = draw(&mut offscreen(), &scene);
    assert!(changed_pixels(&before, &parts) > 500);
    assert_eq!(changed_pixels(&whole, &parts), 0);
}

#[test]
fn points_that_are_moved_alone_look_like_all_of_them() {
    let mut figure = figure(WeightView::Bones, |_| 1.0);
    let colours = tints(&figure, |_| [200, 60, 40, 0]);
    let mut one = offscreen();
    let draw = |one: &mut sinew::view::Offscreen, scene: &Scene<'_>| {
        let image = one.render(scene, SIZE[0], SIZE[1]);
        image.unwrap_or_else(|error| panic!("{error}"))
    };
    let mut scene = tinted(&figure, &colours);
    scene.meshes[1].generation = 10;
    let before = draw(&mut one, &scene);
    for position in figure.tube.positions.iter_mut().step_by(5) {
        position.y += 0.08;
    }
    for normal in figure.tube.normals.iter_mut().step_by(3) {
        *normal = -*normal;
    }
    let all = |n: usize| (0..n.div_ceil(1024) as u32).collect();
    let positions: Vec<HeatChange> = vec![(11, all(figure.tube.positions.len()))];
    let normals: Vec<HeatChange> = vec![(11, all(figure.tube.normals.len()))];
    let mut scene = tinted(&figure, &colours);
    scene.meshes[1].generation = 11;
    scene.meshes[1].position_changes = &positions;
    scene.meshes[1].normal_changes = &normals;
    let parts = draw(&mut one, &scene);
    scene.meshes[1].position_changes = &[];
    scene.meshes[1].normal_changes = &[];
    let whole = draw(&mut offscreen(), &scene);
    assert!(changed_pixels(&before, &parts) > 500);
    assert_eq!(changed_pixels(&whole, &parts), 0);
}

/// The arm in Paint mode, with its first bone active.
fn painter() -> Window {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[0];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Tab);
    window
}

fn set_rows(window: &mut Window, points: &[u32], row: &[(u16, f32)]) {
    let rows: Rows = points.iter().map(|_| row.to_vec()).collect();
    let mesh: MeshId = *window.document().meshes().keys().next().expect("a mesh");
    let edit = Edit::influences(mesh, points.to_vec(), rows);
    let editor = window.harness.state_mut().editor_mut();
    editor.apply(edit, "Set").expect("rows that are valid");
    window.settle();
}

#[test]
fn each_view_has_a_legend_that_says_what_it_means() {
    let mut window = painter();
    for (view, said) in [
        (WeightView::Bones, "mixed by weight"),
        (WeightView::Count, "more than 4 are striped"),
        (WeightView::Sum, "light at 1"),
        (WeightView::Painted, "Perceptual colours from 0 to 1"),
    ] {
        window.find_and_run(Command::UseWeightView(view));
        window.settle();
        assert!(window.says(said), "{view:?}");
        window.harness.remove_cursor();
        window.settle();
        window.picture(&format!("weights-{view:?}"));
    }
    let bone = window.bones()[1];
    let editor = window.harness.state_mut().editor_mut();
    editor.toggle_lock(bone);
    window.find_and_run(Command::ToggleIsolines);
    window.settle();
    assert!(window.says("a line at every 0.1; striped where weights are locked"));
    window.picture("weights-locked");
    // Chosen in the legend, and in the header.
    let label = window.document().skeleton().label(window.bones()[0]);
    window.click(Role::Button, &format!("Weight colours: {label}"));
    window.picture("weights-menu");
    let item = window.harness.get_all_by_label("Sums of weights");
    item.into_iter().next().expect("an item").click();
    window.harness.step();
    window.settle();
    assert_eq!(window.app().viewport().options.weight_view, WeightView::Sum);
    let header = window.harness.get_by_label_contains("Weight colours show");
    header.click();
    window.harness.step();
    window.settle();
    let item = window.harness.get_all_by_label("Colours of all bones");
    item.into_iter().next().expect("an item").click();
    window.harness.step();
    window.settle();
    assert_eq!(
        window.app().viewport().options.weight_view,
        WeightView::Bones
    );
}

#[test]
fn a_badge_counts_points_off_1_selects_and_normalises_them() {
    let mut window = painter();
    assert!(!window.says("add up to 1"));
    set_rows(&mut window, &[3, 4, 5], &[(0, 0.25), (1, 0.25)]);
    assert!(window.says("3 vertices not normalised"));
    window.find_and_run(Command::UseWeightView(WeightView::Sum));
    window.settle();
    window.picture("sums-badge");
    window.click(Role::Button, "Select vertices not normalised");
    window.settle();
    assert_eq!(window.editor().n_selected(), 3);
    window.click(Role::Button, "Normalise these vertices");
    window.settle();
    assert!(!window.says("add up to 1"));
    assert_eq!(window.editor().n_off_sum(), 0);
    window.choose("Edit", "Undo normalise weights");
    assert!(window.says("3 vertices not normalised"));
}

#[test]
fn the_bar_under_the_pointer_names_bones_but_not_during_a_stroke() {
    let mut window = painter();
    let at = window.on_model();
    window.move_to(at);
    window.settle();
    assert!(window.says("Vertex "));
    let rect = window.viewport();
    let ndc = glam::Vec2::new(
        (at.x - rect.left()) / rect.width() * 2.0 - 1.0,
        1.0 - (at.y - rect.top()) / rect.height() * 2.0,
    );
    let size = glam::Vec2::new(rect.width(), rect.height());
    let editor = window.harness.state_mut().editor_mut();
    let found = editor.influences_at(ndc, size).expect("a point");
    let bone = found.weights[0].0;
    let label = window.document().skeleton().label(bone);
    assert!(window.says(&format!("Vertex {}: {label} ", found.point)));
    window.picture("hover-bar");
    let editor = window.harness.state_mut().editor_mut();
    editor.toggle_lock(bone);
    window.settle();
    assert!(window.says(&format!("{label} (locked) ")));
    let editor = window.harness.state_mut().editor_mut();
    editor.toggle_lock(bone);
    window.press(at);
    window.move_to(at + egui::vec2(8.0, 4.0));
    assert!(window.editor().is_painting() && !window.says("Vertex "));
    window.release(at);
    window.move_to(at);
    window.settle();
    assert!(window.says("Vertex "));
    window.find_and_run(Command::ToggleHoverBar);
    window.move_to(at);
    window.settle();
    assert!(!window.says("Vertex "));
}

#[test]
fn a_range_of_weights_selects_while_it_is_changed() {
    let mut window = painter();
    window.find_and_run(Command::SelectByWeight);
    window.settle();
    assert!(window.says("Vertices whose weight for "));
    let between = window.editor().n_selected();
    assert!(between > 0);
    window.picture("select-by-weight");
    let field = window
        .harness
        .get_by_role_and_label(Role::SpinButton, "Weight from");
    field.click();
    window.harness.step();
    window.harness.step();
    window.key(crate::window::CTRL, Key::A);
    window.write("0.5");
    window.key(Modifiers::NONE, Key::Enter);
    let fewer = window.editor().n_selected();
    assert!(fewer > 0 && fewer < between, "{fewer} of {between}");
    window.key(Modifiers::NONE, Key::Escape);
    window.settle();
    assert!(!window.says("Vertices whose weight for "));
    assert_eq!(window.editor().n_selected(), fewer, "it stays selected");
}
