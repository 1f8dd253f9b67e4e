//! Stacks side by side: panes, the wipe, and what was before.

use crate::window::{CTRL, Window};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::Vec3;
use image::RgbaImage;
use sinew::deform::{StackChoice, StackPreset};
use sinew::document::PaneLayout;
use sinew::evaluate::ViewId;
use sinew::view::commands::Command;
use sinew::view::frame::Workspace;
use sinew::view::mode::Mode;

const LBS: StackChoice = StackChoice::Preset(StackPreset::Lbs);
const DQS: StackChoice = StackChoice::Preset(StackPreset::Dqs);

/// The window on the sample arm, its clip stopped where the elbow is bent.
fn bent() -> Window {
    let mut window = Window::on("arm.glb");
    window.harness.key_press(Key::Space);
    window.harness.key_press(Key::Space);
    window.settle();
    to_the_middle(&mut window);
    window
}

fn to_the_middle(window: &mut Window) {
    let (start, end) = window.editor().clip_range().expect("a clip");
    window
        .harness
        .get_by_label("Time")
        .set_value_accesskit(start.midpoint(end));
    window.settle();
}

fn divide(window: &mut Window, layout: PaneLayout) {
    window.find_and_run(Command::UsePanes(layout));
    window.settle();
}

/// Clicks an item of the list that is open over the viewport.
fn choose_item(window: &mut Window, label: &str) {
    let view = window.pane(0).union(window.pane(1));
    let found = window
        .harness
        .get_all_by_role_and_label(Role::Button, label);
    let item = found.into_iter().find(|n| {
        let at = n.rect().center();
        at.x < view.right() && at.y > view.top()
    });
    item.unwrap_or_else(|| panic!("no {label}")).click();
    window.harness.step();
    window.settle();
}

/// The positions that a choice shows.
fn positions(window: &Window, choice: &StackChoice) -> Vec<Vec3> {
    let view = window.editor().view_of(choice).expect("it is shown");
    let shown = window.editor().displayed_in(view).values();
    shown.flat_map(|d| d.positions.iter().copied()).collect()
}

/// A place on the model in a picture at `rect`: that of the point nearest to the eye.
fn on_model(window: &Window, rect: Rect, choice: &StackChoice) -> Pos2 {
    let camera = &window.document().session().camera;
    let backward = camera.backward();
    let points = positions(window, choice);
    let nearest = points
        .iter()
        .max_by(|a, b| a.dot(backward).total_cmp(&b.dot(backward)));
    let ndc = camera
        .clip_from_world(rect.aspect_ratio())
        .project_point3(*nearest.expect("a model"));
    rect.min + rect.size() * Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y)
}

fn part(picture: &RgbaImage, rect: Rect) -> RgbaImage {
    let rect = rect.shrink(3.0);
    let (x, y) = (rect.min.x.ceil() as u32, rect.min.y.ceil() as u32);
    let (width, height) = (rect.width() as u32, rect.height() as u32);
    image::imageops::crop_imm(picture, x, y, width, height).to_image()
}

fn n_changed(a: &RgbaImage, b: &RgbaImage) -> usize {
    let differs = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(&b.0).any(|(a, b)| a.abs_diff(*b) > 6)
    };
    a.pixels().zip(b.pixels()).filter(differs).count()
}

/// The picture without the pointer over it.
fn quiet(window: &mut Window, name: &str) -> RgbaImage {
    window.harness.remove_cursor();
    window.settle();
    window.picture(name)
}

#[test]
fn the_compare_workspace_opens_with_two_panes_and_others_keep_their_one() {
    let mut window = bent();
    assert_eq!(window.editor().n_views(), 1);
    window.click(Role::Tab, Workspace::Compare.label());
    window.settle();
    assert_eq!(window.editor().n_views(), 2);
    let names: Vec<_> = [0, 1]
        .map(|i| {
            let label = format!("Viewport {}: ", i + 1);
            let node = window.harness.get_by_label_contains(&label);
            node.accesskit_node().label().expect("a label")
        })
        .to_vec();
    assert_eq!(
        names,
        [
            "Viewport 1: LBS (glTF standard)",
            "Viewport 2: This project"
        ]
    );
    let picture = quiet(&mut window, "compare-two");
    let (left, right) = (window.pane(0), window.pane(1));
    assert!((left.size() - right.size()).length() < 1.5);
    assert!(n_changed(&part(&picture, left), &part(&picture, right)) > 100);
    // The same place is at the same place in both.
    divide(&mut window, PaneLayout::Four);
    assert_eq!(window.editor().n_views(), 4);
    quiet(&mut window, "compare-four");

    window.click(Role::Tab, Workspace::Rig.label());
    window.settle();
    assert_eq!(
        window.app().viewport().layout(window.editor()),
        PaneLayout::One
    );
    assert_eq!(window.editor().n_views(), 1, "what nobody sees is freed");
    divide(&mut window, PaneLayout::Two);
    window.click(Role::Tab, Workspace::Compare.label());
    assert_eq!(
        window.app().viewport().layout(window.editor()),
        PaneLayout::Four
    );
}

#[test]
fn panes_are_linked_and_each_shows_the_stack_chosen_for_it() {
    let mut window = bent();
    divide(&mut window, PaneLayout::Four);
    let combo = |window: &mut Window, index: usize, choice: &StackChoice| {
        window.click(Role::ComboBox, &format!("Stack of pane {}", index + 1));
        choose_item(window, choice.label());
    };
    combo(&mut window, 3, &StackChoice::Project);
    combo(&mut window, 0, &DQS);
    assert_eq!(
        window.editor().compare().choices,
        [DQS, StackChoice::Project, DQS, StackChoice::Project]
    );
    assert_eq!(
        window.editor().n_views(),
        2,
        "shared by the panes that show the same"
    );
    combo(&mut window, 2, &LBS);
    assert!(positions(&window, &LBS) != positions(&window, &DQS));

    // A turn in any pane turns all.
    let before = window.document().session().camera;
    let at = window.pane(3).center();
    window.drag(
        PointerButton::Middle,
        Modifiers::NONE,
        at,
        Vec2::new(40.0, 10.0),
    );
    assert_ne!(window.document().session().camera, before);
    assert_eq!(window.app().viewport().active_pane(), 3);
    // A drag that leaves its pane goes on in it.
    let first = window.pane(0).center();
    window.move_to(first);
    assert_eq!(window.app().viewport().active_pane(), 0);
    window.button(first, PointerButton::Middle, true, Modifiers::NONE);
    let other = window.pane(3).center();
    window.move_to(first + Vec2::new(30.0, 0.0));
    window.move_to(other);
    let camera = window.document().session().camera;
    window.move_to(other + Vec2::new(20.0, 0.0));
    assert_ne!(window.document().session().camera, camera);
    assert_eq!(window.app().viewport().active_pane(), 0);
    window.button(other, PointerButton::Middle, false, Modifiers::NONE);
    window.move_to(other);
    assert_eq!(window.app().viewport().active_pane(), 3);

    // One pane shows what the pane did that was meant, whatever is clicked in it.
    window.click(Role::Tab, Workspace::Compare.label());
    divide(&mut window, PaneLayout::Four);
    let third = window.pane(2).center();
    window.move_to(third);
    window.key(Modifiers::NONE, Key::F5);
    let shown = window.editor().pointed_view();
    assert_eq!(window.editor().view_of(&LBS), Some(shown));
    let at = window.viewport().left_top() + Vec2::splat(40.0);
    window.press(at);
    window.release(at);
    window.settle();
    assert_eq!(window.editor().pointed_view(), shown);
    window.click(Role::Tab, Workspace::Rig.label());

    // Kept aside, a stack stays as it was.
    window.click(Role::ComboBox, "Stack of pane 2");
    choose_item(&mut window, "Keep current stack");
    let kept = window.editor().compare().choices[1].clone();
    assert!(matches!(kept, StackChoice::Custom(_)));
    let as_kept = positions(&window, &kept);
    assert!(positions(&window, &StackChoice::Project) == as_kept);
    let editor = window.harness.state_mut().editor_mut();
    editor.set_method(sinew::deform::SkinningMethod::Lbs);
    window.settle();
    assert!(positions(&window, &kept) == as_kept);
    assert!(positions(&window, &StackChoice::Project) != as_kept);
}

#[test]
fn an_idle_window_of_four_panes_draws_nothing_anew() {
    let mut window = bent();
    divide(&mut window, PaneLayout::Four);
    quiet(&mut window, "compare-idle");
    let (drawn, asked) = (window.app().n_pictures(), window.editor().n_snapshots());
    for _ in 0..3 {
        window.harness.step();
        window.picture("compare-idle");
    }
    assert_eq!(window.app().n_pictures(), drawn);
    assert_eq!(window.editor().n_snapshots(), asked);
    assert_eq!(window.harness.run(), 1, "and asks for no further frame");
    window.key(Modifiers::NONE, Key::Num1);
    window.picture("compare-front");
    assert_eq!(window.app().n_pictures(), drawn + 4, "each once");
}

#[test]
fn weights_are_painted_on_what_the_pane_shows() {
    let mut window = bent();
    let bone = window.bones()[1];
    window.select(bone);
    divide(&mut window, PaneLayout::Two);
    window.find_and_run(Command::SetMode(Mode::Paint));
    window.settle();
    for (index, choice) in [(0, LBS), (1, StackChoice::Project)] {
        let rect = window.pane(index);
        let before = window.heat();
        let at = on_model(&window, rect, &choice);
        window.drag(
            PointerButton::Primary,
            Modifiers::NONE,
            at,
            Vec2::new(14.0, 10.0),
        );
        assert_ne!(window.heat(), before, "pane {index}");
        assert_eq!(window.editor().history().n_undo(), index + 1);
        let view = window.editor().view_of(&choice).expect("it is shown");
        assert_eq!(window.editor().pointed_view(), view);
    }
    quiet(&mut window, "compare-painted");
    window.key(CTRL, Key::Z);
    window.key(CTRL, Key::Z);
    assert_eq!(window.editor().history().n_undo(), 0);
}

#[test]
fn clicks_and_boxes_select_in_every_pane() {
    let mut window = bent();
    divide(&mut window, PaneLayout::Four);
    for index in 0..4 {
        window.harness.state_mut().editor_mut().select_none();
        let choice = window.editor().compare().choices[index].clone();
        let at = on_model(&window, window.pane(index), &choice);
        window.move_to(at);
        window.button(at, PointerButton::Primary, true, Modifiers::NONE);
        window.button(at, PointerButton::Primary, false, Modifiers::NONE);
        window.settle();
        let selected = window.document().session().selected_joints.len();
        assert_eq!(selected, 1, "pane {index}");
    }
    let rect = window.pane(2);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        rect.min + Vec2::splat(6.0),
        rect.size() - Vec2::splat(12.0),
    );
    assert!(window.document().session().selected_joints.len() > 1);
}

#[test]
fn the_line_of_a_wipe_is_dragged_and_moved_by_keys_and_screen_readers() {
    let mut window = bent();
    divide(&mut window, PaneLayout::Wipe);
    let wipe = |window: &Window| window.editor().compare().wipe;
    assert_eq!(wipe(&window), 0.5);
    let half = quiet(&mut window, "wipe-half");
    let whole = window.pane(0).union(window.pane(1));
    let line = |window: &Window| {
        let node = window.harness.get_by_label_contains("Wipe: ");
        assert_eq!(node.accesskit_node().role(), Role::Slider);
        node.rect()
    };
    assert!((line(&window).width() - 24.0).abs() < 0.1);
    let pictures = window.app().n_pictures();
    let at = line(&window).center() + Vec2::new(0.0, 60.0);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(-0.25 * whole.width(), 0.0),
    );
    assert!((wipe(&window) - 0.25).abs() < 0.01, "{}", wipe(&window));
    assert_eq!(
        window.document().session().selected_joints.len(),
        0,
        "it is no box"
    );
    quiet(&mut window, "wipe-quarter");
    assert_eq!(
        window.app().n_pictures(),
        pictures,
        "the line costs no 3D draw"
    );

    // It has the focus now.
    let quarter = wipe(&window);
    let time = window.document().session().playback.time_secs;
    window.key(Modifiers::NONE, Key::ArrowRight);
    assert!((wipe(&window) - quarter - 0.01).abs() < 1e-4);
    window.key(Modifiers::SHIFT, Key::ArrowLeft);
    assert!((wipe(&window) - quarter + 0.09).abs() < 1e-4);
    assert_eq!(
        window.document().session().playback.time_secs,
        time,
        "the clip stays"
    );
    window
        .harness
        .get_by_label_contains("Wipe: ")
        .set_value_accesskit(100.0);
    window.settle();
    assert_eq!(wipe(&window), 1.0);
    let left = quiet(&mut window, "wipe-left");
    window
        .harness
        .get_by_label_contains("Wipe: ")
        .set_value_accesskit(0.0);
    window.settle();
    let right = quiet(&mut window, "wipe-right");
    assert_eq!(wipe(&window), 0.0);
    // It moves while time runs.
    window.harness.key_press(Key::Space);
    window.harness.step();
    let at = line(&window).center();
    window.press(at);
    window.move_to(at + Vec2::new(100.0, 0.0));
    window.move_to(at + Vec2::new(0.5 * whole.width(), 0.0));
    assert!(window.editor().is_playing());
    window.release(at + Vec2::new(0.5 * whole.width(), 0.0));
    assert!((wipe(&window) - 0.5).abs() < 0.02, "{}", wipe(&window));
    window.harness.key_press(Key::Space);
    window.settle();
    // Either side of the half is what the whole picture of its stack shows.
    let side = |picture: &RgbaImage, left: bool| {
        let middle = whole.center().x;
        let area = whole.shrink2(Vec2::new(40.0, 60.0));
        let (a, b) = (
            area.with_max_x(middle - 30.0),
            area.with_min_x(middle + 30.0),
        );
        part(picture, if left { a } else { b })
    };
    assert_eq!(n_changed(&side(&half, true), &side(&left, true)), 0);
    assert_eq!(n_changed(&side(&half, false), &side(&right, false)), 0);
    assert!(n_changed(&part(&left, whole), &part(&right, whole)) > 300);
}

#[test]
fn holding_the_key_shows_what_was_before_and_releasing_it_the_stack_again() {
    let mut window = bent();
    let stack = quiet(&mut window, "hold-released");
    let rect = window.viewport();
    let snapshots = window.editor().n_snapshots();
    window.harness.key_down(Key::Backtick);
    window.settle();
    assert!(window.says("Comparison: LBS"));
    assert!(window.app().viewport().shows_before());
    let before = quiet(&mut window, "hold-before");
    let body = rect.with_min_y(rect.top() + 60.0);
    assert!(n_changed(&part(&stack, body), &part(&before, body)) > 200);
    assert_eq!(
        window.editor().n_snapshots(),
        snapshots + 1,
        "evaluated once"
    );
    // Auto-repeat changes nothing.
    window.harness.event(Event::Key {
        key: Key::Backtick,
        physical_key: None,
        pressed: true,
        repeat: true,
        modifiers: Modifiers::NONE,
    });
    window.settle();
    assert!(window.app().viewport().shows_before());
    window.harness.key_up(Key::Backtick);
    window.harness.step();
    assert!(!window.says("Before:"));
    // The very first frame after it shows the stack: nothing is waited for.
    let view = window.editor().pointed_view();
    assert_eq!(view, ViewId::OWN);
    let again = quiet(&mut window, "hold-again");
    assert_eq!(n_changed(&part(&stack, rect), &part(&again, rect)), 0);
    assert_eq!(window.editor().n_views(), 1, "what nobody sees is freed");

    // What was before can be chosen, from a menu without the key.
    window.find_and_run(Command::UseBefore(StackPreset::Dqs));
    window.find_and_run(Command::ShowBefore);
    window.settle();
    assert!(window.says("Comparison: DQS"));
    window.find_and_run(Command::KeepBefore);
    window.settle();
    assert!(window.says("Comparison: Kept stack"));
    window.find_and_run(Command::ShowBefore);
    window.settle();
    assert!(!window.says("Before:"));
}

#[test]
fn what_was_before_shows_over_a_clip_that_plays_and_in_the_middle_of_a_stroke() {
    let mut window = bent();
    window.harness.key_press(Key::Space);
    window.harness.step();
    assert!(window.editor().is_playing());
    window.harness.key_down(Key::Backtick);
    window.wait("before comes", |app| {
        let view = app.editor().view_of(&LBS);
        view.is_some_and(|v| app.editor().is_view_shown(v))
    });
    window.harness.step();
    assert!(window.says("Comparison: LBS") && window.editor().is_playing());
    let serial = window.editor().picture_serial();
    window.wait("it plays on", move |app| {
        app.editor().picture_serial() > serial + 3
    });
    window.harness.key_up(Key::Backtick);
    window.harness.key_press(Key::Space);
    window.settle();

    to_the_middle(&mut window);
    let bone = window.bones()[1];
    window.select(bone);
    window.find_and_run(Command::SetMode(Mode::Paint));
    window.settle();
    let at = window.on_model();
    window.press(at);
    window.move_to(at + Vec2::new(4.0, 3.0));
    assert!(window.editor().is_painting());
    window.harness.key_down(Key::Backtick);
    for i in 0..6 {
        window.move_to(at + Vec2::new(5.0 + i as f32, 4.0));
    }
    assert!(window.editor().is_painting(), "the stroke goes on");
    assert!(window.says("Comparison: LBS"));
    window.wait_until("it meets what is seen", |w| {
        let view = w.editor().view_of(&LBS);
        view == Some(w.editor().pointed_view())
    });
    window.harness.key_up(Key::Backtick);
    window.move_to(at + Vec2::new(12.0, 8.0));
    assert!(window.editor().is_painting());
    window.release(at + Vec2::new(12.0, 8.0));
    window.settle();
    assert_eq!(
        window.editor().history().n_undo(),
        1,
        "one stroke, one step"
    );

    // While bones are turned, too.
    window.find_and_run(Command::SetMode(Mode::Pose));
    window.settle();
    let centre = window.viewport().center();
    window.move_to(centre + Vec2::new(120.0, 0.0));
    window.harness.key_press(Key::R);
    window.harness.step();
    assert!(window.editor().transforming().is_some());
    window.harness.key_down(Key::Backtick);
    window.move_to(centre + Vec2::new(90.0, 60.0));
    window.move_to(centre + Vec2::new(80.0, 70.0));
    assert!(window.editor().transforming().is_some() && window.says("Comparison: LBS"));
    window.harness.key_up(Key::Backtick);
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.editor().transforming().is_none());
}

#[test]
fn panes_choices_and_the_wipe_are_saved_with_the_project() {
    let mut window = bent();
    window.click(Role::Tab, Workspace::Compare.label());
    divide(&mut window, PaneLayout::Wipe);
    window.find_and_run(Command::KeepBefore);
    let editor = window.harness.state_mut().editor_mut();
    editor.compare_mut().wipe = 0.75;
    editor.compare_mut().choices[0] = StackChoice::Preset(StackPreset::Projection);
    let saved = editor.compare().clone();
    let project = window.folder.path().join("compare.ron");
    let editor = window.harness.state_mut().editor_mut();
    editor.save_as(&project);
    window.settle();
    let text = std::fs::read_to_string(&project).expect("it is saved");
    assert!(
        text.contains("Wipe") && text.contains("Projection"),
        "{text}"
    );
    window.drop_file(crate::window::asset("hand.glb"));
    assert_ne!(window.editor().compare(), &saved);
    window.drop_file(&project);
    assert_eq!(window.editor().compare(), &saved);
    assert_eq!(window.editor().n_views(), 2);
}
