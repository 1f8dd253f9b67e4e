//! Control clusters in the window: marked with the mouse, grouped with keys, listed, and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::Vec3;
use sinew::cluster::procedural::EnvelopeShape;
use sinew::cluster::{Base, ClusterMap, Interpolation};
use sinew::deform::Correctives;
use sinew::document::{CorrectivesEdit, Edit};
use sinew::editor::clusters::ClusterTarget;
use sinew::math::Worse;
use sinew::psd::Displacements;
use sinew::suggest::TrainingPoses;
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};
use sinew::view::mode::Mode;
use std::sync::Arc;

/// The Clusters workspace on the sample arm.
pub(crate) fn clustering() -> Window {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, Workspace::Clusters.label());
    assert!(window.app().dock().is_open(PanelKind::Clusters));
    assert_eq!(window.app().viewport().mode, Mode::Cluster);
    window
}

fn map(window: &Window) -> ClusterMap {
    ClusterMap::clone(window.editor().clusters().expect("an object"))
}

pub(crate) fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.unwrap_or_default().to_owned()
}

fn stroke(window: &mut Window, modifiers: Modifiers) {
    let at = window.on_model();
    let by = Vec2::new(20.0, 12.0);
    window.drag(PointerButton::Primary, modifiers, at, by);
    window.settle();
}

/// The number of pixels of about this colour in the viewport.
fn n_of_colour(window: &mut Window, name: &str, [r, g, b]: [u8; 3]) -> usize {
    let rect = window.viewport();
    let picture = window.picture(name);
    let pixels = picture.enumerate_pixels().filter(|(x, y, p)| {
        let is_near = |a: u8, b: u8| a.abs_diff(b) < 24;
        rect.contains(egui::pos2(*x as f32, *y as f32))
            && is_near(p[0], r)
            && is_near(p[1], g)
            && is_near(p[2], b)
    });
    pixels.count()
}

#[test]
fn clusters_are_marked_with_the_mouse_in_the_same_frame_and_undone() {
    let mut window = clustering();
    assert!(window.says("No clusters."));
    assert!(window.says("Mark a few vertices; the rest follow Bezier patches."));
    window.picture("clusters-none");
    let at = window.on_model();
    window.press(at);
    // No frame has passed since the press: the clusters are there before any deformation is computed.
    let n = map(&window).n_clusters();
    assert!(n > 3, "{n}");
    window.release(at);
    window.settle();
    assert_eq!(undo_label(&window), format!("Mark {n} clusters · Skin"));
    assert!(window.says(&format!("Skin, {n} clusters")));
    let steps = window.editor().history().n_undo();
    stroke(&mut window, Modifiers::SHIFT);
    assert!(map(&window).n_clusters() > n);
    stroke(&mut window, CTRL);
    assert!(undo_label(&window).starts_with("Unmark "));
    assert_eq!(window.editor().history().n_undo(), steps + 2);
    for _ in 0..3 {
        window.key(CTRL, Key::Z);
    }
    assert!(map(&window).is_empty());
    assert!(window.says("No clusters."));
}

#[test]
fn number_keys_choose_groups_and_assign_the_selection() {
    let mut window = clustering();
    for preset in ["Add skin group", "Add PSD group"] {
        window.choose_add(preset);
    }
    let yellow = [240, 228, 66];
    assert_eq!(map(&window).groups()[1].colour, yellow);
    window.picture("clusters-groups");
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::Num1);
    assert_eq!(window.editor().active_group(), Some(0));
    let camera = window.document().session().camera;
    window.key(Modifiers::NONE, Key::Num2);
    assert_eq!(window.editor().active_group(), Some(1));
    assert_eq!(
        window.document().session().camera,
        camera,
        "no view of the numpad"
    );
    let without = n_of_colour(&mut window, "clusters-before", yellow);
    stroke(&mut window, Modifiers::NONE);
    // Near enough for the glyphs to have room.
    window.key(Modifiers::NONE, Key::L);
    window.key(Modifiers::NONE, Key::Period);
    window.key(Modifiers::ALT, Key::A);
    window.settle();
    let marked = n_of_colour(&mut window, "clusters-psd", yellow);
    assert!(marked > without + 1000, "{without} {marked}");

    // The selected group goes to another by its number, and is deselected.
    window.key(Modifiers::NONE, Key::L);
    let n = window.editor().n_selected();
    assert!(n > 3);
    window.picture("clusters-selected");
    window.key(Modifiers::NONE, Key::Num1);
    assert_eq!(undo_label(&window), format!("Mark {n} clusters · Skin"));
    assert_eq!(window.editor().cluster_counts(), [n, 0]);
    assert_eq!(window.editor().n_selected(), 0);

    // Grow and shrink by keys.
    window.key(Modifiers::ALT, Key::Plus);
    assert!(window.editor().cluster_counts()[0] > n);
    window.key(Modifiers::ALT, Key::Minus);
    assert_eq!(window.editor().cluster_counts()[0], n);
    // Isolate hides the marks of the other groups.
    window.click(Role::Button, "Isolate PSD");
    assert_eq!(window.editor().isolated_group(), Some(1));
    window.click(Role::Button, "Isolate PSD");
    assert_eq!(window.editor().isolated_group(), None);
    window.click(Role::Button, "Delete PSD");
    assert_eq!(map(&window).groups().len(), 1);
    window.find_and_run(Command::UnmarkAll);
    window.settle();
    assert_eq!(window.editor().cluster_counts(), [0]);
}

#[test]
fn a_box_selects_vertices_to_mark() {
    let mut window = clustering();
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::B);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        over - Vec2::new(40.0, 40.0),
        Vec2::new(80.0, 80.0),
    );
    let n = window.editor().n_selected();
    assert!(n > 10, "{n}");
    window.key(Modifiers::NONE, Key::M);
    assert!(
        undo_label(&window).ends_with(" clusters · Skin"),
        "{}",
        undo_label(&window)
    );
    assert_eq!(window.editor().cluster_counts(), [n]);
    window.settle();
    window.picture("clusters-box");
}

#[test]
fn groups_and_patches_are_set_in_the_panel() {
    let mut window = clustering();
    let editor = window.harness.state_mut().editor_mut();
    editor.brush_mut().radius_px = 1.0;
    let at = window.on_model();
    window.press(at);
    window.release(at);
    window.settle();
    assert_eq!(
        map(&window).n_clusters(),
        1,
        "the vertex nearest to the click"
    );
    window.wait("patches", |app| app.editor().current_layout().is_some());
    window.settle();
    assert!(
        window.editor().n_anchors() > 0,
        "one cluster makes no patch"
    );
    assert!(window.says("Promote"));
    window.picture("clusters-anchors");
    let n = window.editor().n_anchors();
    window.press_widget(Role::Button, "Promote");
    assert!(undo_label(&window).starts_with(&format!("Promote {n} ")));
    window.settle();
    window.pick("Driven by", "Linear blend");
    assert_eq!(map(&window).groups()[0].base, Base::Lbs);
    window.pick("Patch surface", "PN triangles");
    let interpolation = window.editor().patch_settings().interpolation;
    assert_eq!(interpolation, Interpolation::PointNormal);
    assert_eq!(undo_label(&window), "Patch surface");
    window.press_widget(Role::CheckBox, "Smooth across neighbours");
    assert!(!window.editor().patch_settings().couples_normals);
    window.find_and_run(Command::ToggleControlNet);
    window.settle();
    assert!(window.editor().control_net().is_some());
    window.picture("clusters-control-net");
    window.find_and_run(Command::RenameGroup);
    window.settle();
    window.write("Elbow");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(map(&window).groups()[0].name, "Elbow");
    window.picture("clusters-panel");
}

/// A group of clusters on the first bone, which is selected and bent at its tail.
pub(crate) fn with_clusters_on_a_bone() -> Window {
    let mut window = clustering();
    window.choose_add("Add procedural group");
    let bones = window.bones();
    let editor = window.harness.state_mut().editor_mut();
    let mesh = editor.clustered_mesh().expect("an object");
    let item = editor.document().meshes()[&mesh].clone();
    let of_bone = (0..item.geometry.n_points() as u32)
        .filter(|&p| item.influences.row(p).weight_of(0) > 0.3)
        .step_by(2);
    let points = of_bone.collect();
    editor.select_points_of([(mesh, points)]);
    editor.mark_selected();
    editor.show_clip(None);
    let mut local = editor.document().rest_pose().locals[bones[1].get()];
    local.rotation *= glam::DQuat::from_rotation_x(1.2);
    editor.begin_pose_field(bones[1], "Rotate");
    editor.set_pose_field(bones[1], local);
    editor.confirm_transform();
    window.settle();
    window.select(bones[0]);
    window
}

#[test]
fn a_muscle_is_added_in_the_panel_and_dragged_on_the_surface() {
    let mut window = clustering();
    window.choose_add("Add procedural group");
    assert!(window.says("Mark vertices over the muscle, then add one."));
    window.picture("muscle-empty");
    let mut window = with_clusters_on_a_bone();
    window.press_widget(Role::Button, "Add muscle");
    assert_eq!(undo_label(&window), "Add muscle · Muscle");
    assert!(window.says("Strength of the muscle: "));
    assert!(window.says("\u{b0} of flexion"));
    let flexion = window.editor().muscles()[0]
        .settings
        .flexion
        .expect("a side");
    window.press_widget(Role::Button, "Flip flexion");
    assert_eq!(undo_label(&window), "Flexion of muscle");
    assert_eq!(
        window.editor().muscles()[0].settings.flexion,
        Some(-flexion)
    );
    assert!(window.says("\u{b0} of extension"));
    window.pick("Flexion", "To any side");
    assert!(window.says("\u{b0} of bend"));
    window.key(CTRL, Key::Z);
    window.key(CTRL, Key::Z);
    assert!(window.says("\u{b0} of flexion"));
    window.picture("muscle-added");
    for (handle, step) in [
        ("Place of the muscle", "Place of muscle"),
        ("Reach of the muscle towards the tail", "Reach of muscle"),
    ] {
        let before = window.editor().muscles()[0].settings.clone();
        let n = window.editor().history().n_undo();
        let at = window.harness.get_by_role_and_label(Role::Button, handle);
        let at = at.rect().center();
        let bone = window.bones()[0];
        let bones = window.editor().bones();
        let bone = bones.iter().find(|b| b.joint == bone).expect("a bone");
        let along = window.place(bone.tail) - window.place(bone.head);
        let by = -along * (25.0 / along.length());
        window.drag(PointerButton::Primary, Modifiers::NONE, at, by);
        assert_eq!(undo_label(&window), step);
        assert_eq!(
            window.editor().history().n_undo(),
            n + 1,
            "one drag, one step"
        );
        let after = window.editor().muscles()[0].settings.clone();
        let closer = [
            before.centre - after.centre,
            before.profile.at(0.3) - after.profile.at(0.3),
        ];
        let (own, other) = if handle.starts_with("Place") {
            (closer[0], closer[1])
        } else {
            (closer[1], closer[0])
        };
        assert!(own > 0.02 && other == 0.0, "{handle}: {closer:?}");
    }
    window.picture("muscle-dragged");
    let n = window.editor().history().n_undo();
    window.pick("Envelope", "Curve");
    assert_eq!(undo_label(&window), "Envelope of muscle");
    let shape = &window.editor().muscles()[0].settings.envelope.shape;
    assert!(matches!(shape, EnvelopeShape::Curve(_)));
    window.scroll_panel(-400.0);
    window.picture("muscle-curve");
    let last = window
        .harness
        .get_by_role_and_label(Role::Button, "Curve point 2 of 2: 1.00 at 1.00");
    let at = last.rect().center();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(-30.0, 20.0),
    );
    assert_eq!(undo_label(&window), "Curve of muscle");
    assert_eq!(window.editor().history().n_undo(), n + 2);
    window.pick("Envelope", "Spindle");
    assert!(window.says("Origin"));
    window.picture("muscle-spindle");
    window.press_widget(Role::CheckBox, "Preserve volume");
    assert!(window.editor().muscles()[0].settings.preserve_volume);
    window.press_widget(Role::CheckBox, "Show Muscle");
    assert!(window.editor().muscles()[0].muted);
    window.press_widget(Role::Button, "Delete Muscle");
    assert!(window.editor().muscles().is_empty());
}

#[test]
fn clusters_are_suggested_with_their_error_over_their_number() {
    let mut window = clustering();
    let target = ClusterTarget {
        error: 0.003,
        poses: TrainingPoses::RangeOfMotion,
    };
    window
        .harness
        .state_mut()
        .editor_mut()
        .set_cluster_target(target);
    window.press_widget(Role::Button, "Suggest clusters");
    assert!(window.says("Error over the number of clusters: "));
    assert!(window.editor().suggested_clusters().is_some());
    window.picture("clusters-suggested");
    let plot = window
        .harness
        .get_by_label_contains("Error over the number of clusters: ")
        .rect();
    let at = egui::pos2(plot.left() + 46.0, plot.center().y);
    window.press(at);
    window.release(at);
    window.settle();
    let (_, chosen) = window.editor().suggested_clusters().expect("clusters");
    assert_eq!(chosen, 0, "the fewest");
    window.press_widget(Role::Button, "Accept");
    assert!(
        undo_label(&window).starts_with("Accept "),
        "{}",
        undo_label(&window)
    );
    assert!(map(&window).n_clusters() > 10);
    window.settle();
    // Every surface, with what belongs to it.
    for (interpolation, label) in [
        (Interpolation::Gregory, "G1 triangles"),
        (Interpolation::SkinnedFree, "Skinned free vertices"),
        (Interpolation::Strands, "Strands"),
    ] {
        window.pick("Patch surface", label);
        assert_eq!(
            window.editor().patch_settings().interpolation,
            interpolation
        );
    }
    assert!(window.says("Tension"));
    window.picture("clusters-strands");
}

#[test]
fn samples_are_reduced_to_clusters_and_the_panel_says_what_is_lost() {
    let mut window = with_clusters_on_a_bone();
    let bone = window.bones()[1];
    let editor = window.harness.state_mut().editor_mut();
    editor.select_joint(Some(bone));
    assert!(editor.add_sample());
    let mesh = editor.clustered_mesh().expect("an object");
    let n = editor.document().meshes()[&mesh].geometry.n_points() as u32;
    let mut sets = editor.correctives().expect("samples").sets().to_vec();
    let moved = (0..n).map(|p| (p, Vec3::Y * 0.01)).collect();
    let set = Arc::make_mut(&mut sets[0]);
    Arc::make_mut(&mut set.samples[0]).displacements = Displacements::new(moved);
    let changed = Arc::new(Correctives::new(sets).expect("samples"));
    let edit = CorrectivesEdit::new(editor.document(), mesh, changed);
    editor
        .apply(Edit::Correctives(edit), "Sculpt")
        .expect("an edit");
    window.settle();
    window.press_widget(Role::Button, "Reduce samples to clusters");
    assert_eq!(undo_label(&window), "Reduce samples to clusters");
    let kept = window.editor().samples_of(0)[0].displacements.n_points();
    assert_eq!(kept, map(&window).n_clusters());
    assert!(window.says("of the correction (rms) is lost"));
    window.scroll_panel(-2000.0);
    window.picture("clusters-reduced");
}

impl Window {
    /// Adds a group by the menu of the panel, or by the button of its empty state.
    pub(crate) fn choose_add(&mut self, item: &str) {
        let mut menus = self
            .harness
            .query_all_by_role_and_label(Role::Button, "Add a group");
        if let Some(menu) = menus.next() {
            menu.click();
            drop(menus);
            self.harness.step();
            self.settle();
        } else {
            drop(menus);
        }
        self.click(Role::Button, item);
    }

    /// Presses a widget, also one that its panel has scrolled out of sight.
    #[track_caller]
    pub(crate) fn press_widget(&mut self, role: Role, label: &str) {
        let widget = self.harness.get_by_role_and_label(role, label);
        widget.click_accesskit();
        self.harness.step();
        self.settle();
    }

    /// Chooses from a drop-down, also one that its panel has scrolled out of sight.
    #[track_caller]
    pub(crate) fn pick(&mut self, label: &str, choice: &str) {
        self.press_widget(Role::ComboBox, label);
        self.press_widget(Role::Button, choice);
        // A click by the keyboard or a screen reader leaves it open.
        self.key(Modifiers::NONE, Key::Escape);
    }

    /// Turns the wheel until a widget of the panel is in sight; its place.
    #[track_caller]
    pub(crate) fn reach(&mut self, role: Role, label: &str) -> egui::Pos2 {
        let mut shown = self.app().dock().shown().iter();
        let panel = shown.find(|(panel, _)| *panel == PanelKind::Clusters);
        let panel = panel.expect("the panel").1;
        let place = |window: &Self| {
            let widget = window.harness.get_by_role_and_label(role, label);
            widget.rect().center()
        };
        for _ in 0..40 {
            let at = place(self);
            if panel.shrink(40.0).y_range().contains(at.y) {
                break;
            }
            self.scroll_panel((panel.center().y - at.y).clamp(-300.0, 300.0));
        }
        place(self)
    }

    /// No field of the Clusters panel is wider than it.
    #[track_caller]
    pub(crate) fn assert_panel_fits(&self) {
        let mut shown = self.app().dock().shown().iter();
        let panel = shown.find(|(panel, _)| *panel == PanelKind::Clusters);
        let panel = panel.expect("the panel").1;
        let roles = [
            Role::Button,
            Role::CheckBox,
            Role::ComboBox,
            Role::SpinButton,
            Role::Image,
            Role::ListBoxOption,
        ];
        let mut n = 0;
        for node in self.harness.root().children_recursive() {
            // Only what is drawn has a place.
            if !roles.contains(&node.accesskit_node().role()) {
                continue;
            }
            let rect = node.rect();
            if panel.contains(rect.left_center()) {
                n += 1;
                assert!(rect.right() <= panel.right() + 0.5, "{node:?} at {rect:?}");
            }
        }
        assert!(n > 10, "{n}");
    }

    /// Turns the wheel over the Clusters panel.
    pub(crate) fn scroll_panel(&mut self, by: f32) {
        let mut shown = self.app().dock().shown().iter();
        let panel = shown.find(|(panel, _)| *panel == PanelKind::Clusters);
        let at = panel.expect("the panel").1.center();
        self.move_to(at);
        self.harness.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: Vec2::new(0.0, by),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: Modifiers::NONE,
        });
        for _ in 0..20 {
            self.harness.step();
        }
        self.settle();
    }
}

/// The control-cluster arm, as the welcome page offers it.
fn control_cluster_arm() -> Window {
    let mut window = Window::on("arm.glb");
    window.choose("Help", "Welcome");
    window.click(Role::Button, "Try the control-cluster arm");
    window.wait_until("the sample", |w| w.document().has_clusters());
    window.settle();
    window
}

/// Goes to a time of the clip that bends the arm from 0 to 120° in 1.2 s.
fn bend(window: &mut Window, secs: f64) {
    window.harness.state_mut().editor_mut().set_time(secs);
    window.settle();
}

/// Figs 3 and 4 of the paper (Bukatov et al. 2014): the kinds of clusters in their colours, and the bend with a slight
/// biceps.
#[test]
fn the_control_cluster_arm_bends_as_the_paper_shows_it() {
    const YELLOW: [u8; 3] = [240, 228, 66];
    const GREEN: [u8; 3] = [0, 158, 115];
    let mut window = control_cluster_arm();
    assert!(window.document().source().is_some());
    window.click(Role::Tab, Workspace::Clusters.label());
    window.settle();
    for name in ["DQS", "PSD", "Biceps"] {
        assert!(window.says(name), "{name}");
    }
    // The highest vertex of the upper arm's middle, as it is at rest.
    let mut middle: Option<Vec<bool>> = None;
    let mut heights = Vec::new();
    for (degrees, secs) in [(0, 0.0), (30, 0.4), (60, 0.6), (90, 0.8), (120, 1.2)] {
        bend(&mut window, secs);
        let name = format!("control-clusters-{degrees}");
        let yellow = n_of_colour(&mut window, &name, YELLOW);
        let green = n_of_colour(&mut window, &name, GREEN);
        assert!(green > 20, "{degrees}: {green} green pixels");
        // The elbow's outer side is seen from the front through the whole bend.
        assert!(yellow > 15, "{degrees}: {yellow} yellow pixels");
        let positions = window.positions();
        let is_middle = |p: &glam::Vec3| (-0.2..-0.1).contains(&p.x);
        let middle = middle.get_or_insert_with(|| positions.iter().map(is_middle).collect());
        let top = positions.iter().zip(middle).filter(|(_, own)| **own);
        heights.push(top.map(|(p, _)| p.y).fold(f32::NEG_INFINITY, f32::worse));
    }
    assert!(heights.is_sorted(), "{heights:?}");
    let bulge = heights[4] - heights[0];
    assert!((0.002..0.02).contains(&bulge), "{bulge}");
}

/// Fig. 2 of the paper: the four methods side by side.
#[test]
fn the_control_cluster_arm_compares_four_methods() {
    let mut window = control_cluster_arm();
    window.click(Role::Tab, Workspace::Compare.label());
    bend(&mut window, 1.2);
    window.picture("control-clusters-compared");
    let panes = window.editor().compare().choices.clone();
    let shapes: Vec<Vec<glam::Vec3>> = panes
        .iter()
        .map(|choice| {
            let view = window.editor().view_of(choice).expect("it is shown");
            let shown = window.editor().displayed_in(view).values();
            shown.flat_map(|d| d.positions.iter().copied()).collect()
        })
        .collect();
    let apart = |a: usize, b: usize| {
        let pairs = shapes[a].iter().zip(&shapes[b]);
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::worse)
    };
    assert_eq!(shapes[0].len(), 262);
    // Without clusters the sample moves its four vertices alone, the biceps nothing.
    assert!((0.005..0.012).contains(&apart(1, 2)), "{}", apart(1, 2));
    assert!(apart(0, 1) > 0.01 && apart(2, 3) > 0.008);
    let moved = shapes[1].iter().zip(&shapes[2]);
    assert_eq!(moved.filter(|(a, b)| a.distance(**b) > 1e-6).count(), 4);
}
