//! The deformation section: every control, by one undo step each.

use crate::renderer::GlRenderer;
use crate::window::{CTRL, Window, asset};
use base64::Engine as _;
use eframe::egui;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Role, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::{
    DeformStack, MaskKind, Polynomial, ScaleMode, SkinningMethod, StackChoice, StackPreset,
    TwistDamping, Variant,
};
use sinew::document::MaskEdit;
use sinew::document::session::PaintTarget;
use sinew::document::{Edit, MeshId};
use sinew::editor::{Editor, OpenRequest, StackScope};
use sinew::view::WindowlessGl;
use sinew::view::commands::Command;
use sinew::view::mode::Mode;
use sinew::view::panels;
use sinew::view::theme;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The properties alone, as wide as beside the viewport of a small screen and as high as they want.
struct Properties {
    editor: Editor,
    asked: Vec<Command>,
}

impl eframe::App for Properties {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.editor.poll(0.0);
        let frame = egui::Frame::new()
            .fill(theme::palette(ui).panel)
            .inner_margin(egui::Margin::symmetric(8, 4));
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let asked = panels::properties_ui(ui, &mut self.editor, Mode::Select);
            self.asked.extend(asked);
        });
    }
}

struct Section {
    // Dropped before the context that its GPU objects live on.
    harness: Harness<'static, Properties>,
    _gl: Rc<WindowlessGl>,
}

impl Section {
    fn on(file: impl Into<PathBuf>) -> Self {
        let file: PathBuf = file.into();
        let gl = Rc::new(WindowlessGl::new().unwrap_or_else(|error| panic!("{error}")));
        let harness = Harness::builder()
            .with_size(Vec2::new(280.0, 1300.0))
            .with_step_dt(1.0 / 60.0)
            .with_render_cursor(false)
            .renderer(GlRenderer::new(gl.clone()))
            .build_eframe(move |cc| {
                theme::apply(&cc.egui_ctx);
                let mut editor = Editor::new(None, || {}).expect("threads start");
                editor.open(OpenRequest::Path(file));
                Properties {
                    editor,
                    asked: Vec::new(),
                }
            });
        let mut section = Self { harness, _gl: gl };
        section.settle();
        section
    }

    fn editor(&self) -> &Editor {
        &self.harness.state().editor
    }

    fn editor_mut(&mut self) -> &mut Editor {
        &mut self.harness.state_mut().editor
    }

    fn stack(&self) -> DeformStack {
        DeformStack::clone(self.editor().stack().expect("a stack"))
    }

    fn stack_of(&self, mesh: u32) -> DeformStack {
        DeformStack::clone(&self.editor().document().meshes()[&MeshId(mesh)].stack)
    }

    fn settle(&mut self) {
        let start = Instant::now();
        self.harness.step();
        while !self.editor().is_idle() {
            assert!(start.elapsed() < Duration::from_mins(1), "waited too long");
            std::thread::sleep(Duration::from_millis(1));
            self.harness.step();
        }
        self.harness.step();
        self.harness.step();
        self.harness.check_accessibility();
    }

    #[track_caller]
    fn click(&mut self, role: Role, label: &str) {
        self.harness.get_by_role_and_label(role, label).click();
        self.harness.step();
        self.settle();
    }

    /// Opens the part whose line begins with `name`.
    #[track_caller]
    fn open(&mut self, name: &str) {
        let found = self.harness.get_all_by_label_contains(name);
        let line = found.into_iter().find(|node| {
            let node = node.accesskit_node();
            node.role() == Role::Button && node.label().is_some_and(|l| l.starts_with(name))
        });
        line.expect("the part's line").click();
        self.harness.step();
        self.settle();
    }

    #[track_caller]
    fn choose(&mut self, combo: &str, choice: &str) {
        self.click(Role::ComboBox, combo);
        let found = self.harness.get_all_by_label(choice);
        let item = found
            .into_iter()
            .find(|node| node.accesskit_node().role() == Role::Button);
        item.unwrap_or_else(|| panic!("no {choice}")).click();
        self.harness.step();
        self.settle();
    }

    #[track_caller]
    fn slide(&mut self, label: &str, value: f64) {
        self.harness
            .get_by_role_and_label(Role::Slider, label)
            .set_value_accesskit(value);
        self.harness.step();
        self.settle();
    }

    fn is_disabled(&self, role: Role, label: &str) -> bool {
        let node = self.harness.get_by_role_and_label(role, label);
        node.accesskit_node().is_disabled()
    }

    fn says(&self, part: &str) -> bool {
        let mut found = self.harness.query_all_by_label_contains(part);
        found.next().is_some()
    }

    fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("SINEW_PICTURES") else {
            return;
        };
        let picture = self.harness.render().expect("a picture");
        let path = Path::new(&folder).join(format!("deformation-{name}.png"));
        picture.save(&path).expect("it is written");
    }

    /// What `act` does is one step called `step`, and undone it is as it was, and done again as it became.
    #[track_caller]
    fn one_step(
        &mut self,
        step: &str,
        act: impl FnOnce(&mut Self),
        changed: impl Fn(&DeformStack) -> bool,
    ) {
        let before = self.editor().document().clone();
        let stack = self.stack();
        assert!(!changed(&stack), "{step}: it is so already");
        let n_undo = self.editor().history().n_undo();
        act(self);
        let history = self.editor().history();
        assert_eq!(history.undo_label(), Some(step));
        assert_eq!(history.n_undo(), n_undo + 1, "{step}");
        assert!(!history.is_open(), "{step}");
        let became = self.stack();
        assert!(changed(&became), "{step}: {became:?}");
        self.editor_mut().undo();
        self.settle();
        assert!(self.editor().document().same_content(&before), "{step}");
        self.editor_mut().redo();
        self.settle();
        assert_eq!(self.stack(), became, "{step}");
    }
}

#[test]
fn every_control_of_the_method_and_the_scale_is_one_step() {
    let mut section = Section::on(asset("arm.glb"));
    assert_eq!(
        StackPreset::of(&section.stack()),
        Some(StackPreset::Default)
    );
    section.one_step(
        "Set scale handling",
        |s| s.choose("Scale of bones", "Drop"),
        |stack| stack.scale == ScaleMode::Drop,
    );
    section.one_step(
        "Use centres of rotation",
        |s| s.choose("Skinning method", "Centres of rotation"),
        |stack| stack.method == SkinningMethod::CentresOfRotation,
    );
    // Chosen right after one another, the methods are one step: that of the last.
    section.editor_mut().undo();
    section.one_step(
        "Blend linear and dual quaternion skinning",
        |s| s.choose("Skinning method", "Linear to dual quaternion"),
        |stack| stack.method == SkinningMethod::Blend,
    );
    section.one_step(
        "Set DQS factor",
        |s| s.slide("Dual quaternion skinning factor", 0.25),
        |stack| stack.blend == 0.25,
    );
    section.one_step(
        "Use linear blend skinning",
        |s| s.choose("Skinning method", "Linear"),
        |stack| stack.method == SkinningMethod::Lbs,
    );
    assert!(section.is_disabled(Role::ComboBox, "Scale of bones"));
    assert!(!section.says("Dual quaternion skinning factor"));
}

#[test]
fn every_control_of_compensation_is_one_step() {
    let mut section = Section::on(asset("arm.glb"));
    assert!(section.says("Compensation  1.00"));
    section.open("Compensation");
    section.picture("compensation");
    section.one_step(
        "Set compensation strength",
        |s| s.slide("Compensation strength", 1.5),
        |stack| stack.compensation.strength == 1.5,
    );
    assert!(section.says("Compensation  1.50"));
    section.one_step(
        "Set compensation polynomial",
        |s| s.choose("Compensation polynomial", "Original"),
        |stack| stack.compensation.polynomial == Polynomial::Original,
    );
    section.one_step(
        "Set twist damping",
        |s| s.choose("Twist damping", "Sine"),
        |stack| stack.compensation.twist == TwistDamping::Sine,
    );
    section.one_step(
        "Set third-bone fade",
        |s| s.click(Role::CheckBox, "Third-bone fade"),
        |stack| !stack.compensation.third_bone_fade,
    );
    section.one_step(
        "Set fold guard",
        |s| s.click(Role::CheckBox, "Fold guard"),
        |stack| !stack.compensation.fold_guard,
    );
    section.one_step(
        "Set automatic strength",
        |s| s.click(Role::CheckBox, "Automatic strength"),
        |stack| stack.compensation.auto_strength,
    );
    section.one_step(
        "Set sibling pairs",
        |s| s.click(Role::CheckBox, "Compensate sibling pairs"),
        |stack| stack.compensation.siblings,
    );
    section.one_step(
        "Set compensation polynomial",
        |s| s.choose("Compensation polynomial", "Custom"),
        |stack| {
            stack.compensation.polynomial
                == Polynomial::Custom {
                    c1: 2.29,
                    c2: -9.14,
                }
        },
    );
    assert!(section.says("c3  9.12"), "derived");
    section.one_step(
        "Set polynomial c1",
        |s| s.slide("Coefficient c1", 3.0),
        |stack| stack.compensation.polynomial == Polynomial::Custom { c1: 3.0, c2: -9.14 },
    );
    section.one_step(
        "Set polynomial c2",
        |s| s.slide("Coefficient c2", -8.0),
        |stack| stack.compensation.polynomial == Polynomial::Custom { c1: 3.0, c2: -8.0 },
    );
    assert!(section.says("c3  4.00") && section.says("Polynomial: maximum"));
    section.picture("custom");
    section.one_step(
        "Set version of compensation",
        |s| s.choose("Version of compensation", "Paper's text (eqs 10–13)"),
        |stack| stack.compensation.variant == Variant::Published,
    );
    for label in [
        "Fold guard",
        "Automatic strength",
        "Compensate sibling pairs",
    ] {
        assert!(section.is_disabled(Role::CheckBox, label), "{label}");
    }
    assert!(section.says("published 1.50"));
    section.picture("published");
    // The same setting again belongs to the same step.
    section.choose("Version of compensation", "Algorithm 1, literal");
    assert!(section.says("The sign depends on the direction of the bones"));
    section.picture("algorithm-1");
    section.one_step(
        "Reset compensation",
        |s| s.click(Role::Button, "Reset compensation"),
        |stack| *stack == DeformStack::default(),
    );
    section.one_step(
        "Turn compensation off",
        |s| s.click(Role::CheckBox, "Compensation"),
        |stack| !stack.compensation.enabled,
    );
    assert!(section.says("Compensation  off"));
    section.one_step(
        "Turn compensation on",
        |s| s.click(Role::CheckBox, "Compensation"),
        |stack| stack.compensation.enabled,
    );
}

#[test]
fn every_control_of_projection_and_smoothing_is_one_step() {
    let mut section = Section::on(asset("arm.glb"));
    section.open("Projection");
    section.one_step(
        "Set projection strength",
        |s| s.slide("Projection strength", 0.5),
        |stack| stack.projection.strength == 0.5,
    );
    section.one_step(
        "Set projection power",
        |s| s.slide("Projection power", 4.0),
        |stack| stack.projection.power == 4.0,
    );
    section.one_step(
        "Set sibling fade",
        |s| s.click(Role::CheckBox, "Sibling fade"),
        |stack| stack.projection.sibling_fade,
    );
    section.one_step(
        "Set bones of projection",
        |s| s.choose("Bones of the projection", "As published"),
        |stack| stack.projection.variant == Variant::Published,
    );
    assert!(section.is_disabled(Role::Slider, "Projection power"));
    assert!(section.is_disabled(Role::CheckBox, "Sibling fade"));
    section.one_step(
        "Reset projection",
        |s| s.click(Role::Button, "Reset projection"),
        |stack| *stack == DeformStack::default(),
    );
    section.one_step(
        "Turn projection off",
        |s| s.click(Role::CheckBox, "Projection"),
        |stack| !stack.projection.enabled,
    );
    section.open("Corrective smooth");
    section.one_step(
        "Turn corrective smooth on",
        |s| s.click(Role::CheckBox, "Corrective smooth"),
        |stack| stack.smooth.enabled,
    );
    section.one_step(
        "Set smoothing strength",
        |s| s.slide("Smoothing strength", 0.75),
        |stack| stack.smooth.strength == 0.75,
    );
    section.one_step(
        "Set smoothing factor",
        |s| s.slide("Smoothing factor", 0.25),
        |stack| stack.smooth.factor == 0.25,
    );
    section.one_step(
        "Set smoothing iterations",
        |s| s.slide("Smoothing iterations", 12.0),
        |stack| stack.smooth.iterations == 12,
    );
    section.picture("smooth");
    section.one_step(
        "Reset corrective smooth",
        |s| s.click(Role::Button, "Reset corrective smooth"),
        |stack| stack.smooth.iterations == 5 && stack.smooth.enabled,
    );
}

#[test]
fn a_drag_of_a_slider_is_one_step_and_shows_at_once() {
    let mut section = Section::on(asset("arm.glb"));
    section.open("Compensation");
    let slider = section
        .harness
        .get_by_role_and_label(Role::Slider, "Compensation strength");
    let rect = slider.rect();
    let posted = section.editor().n_snapshots();
    let button = |section: &mut Section, pos: Pos2, pressed: bool| {
        section.harness.event(Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        section.harness.step();
    };
    let from = rect.center();
    section.harness.hover_at(from);
    section.harness.step();
    button(&mut section, from, true);
    let mut seen = Vec::new();
    for i in 1..=6 {
        section
            .harness
            .hover_at(from + Vec2::new(-4.0 * i as f32, 0.0));
        section.harness.step();
        seen.push(section.stack().compensation.strength);
    }
    assert!(seen.windows(2).all(|w| w[1] < w[0]), "{seen:?}");
    assert!(
        section.editor().n_snapshots() > posted,
        "shown while dragged"
    );
    button(&mut section, from - Vec2::new(24.0, 0.0), false);
    section.settle();
    let history = section.editor().history();
    assert_eq!(
        history.labels().collect::<Vec<_>>(),
        ["Set compensation strength"]
    );
    // Another drag is another step.
    let at = from - Vec2::new(24.0, 0.0);
    section.harness.hover_at(at);
    section.harness.step();
    button(&mut section, at, true);
    section.harness.hover_at(at + Vec2::new(9.0, 0.0));
    section.harness.step();
    button(&mut section, at + Vec2::new(9.0, 0.0), false);
    section.settle();
    assert_eq!(section.editor().history().n_undo(), 2);
    section.editor_mut().undo();
    section.editor_mut().undo();
    assert_eq!(section.stack(), DeformStack::default());
}

#[test]
fn keys_change_a_slider_by_one_step() {
    let mut section = Section::on(asset("arm.glb"));
    section.open("Projection");
    section
        .harness
        .get_by_role_and_label(Role::Slider, "Projection strength")
        .focus();
    section.harness.step();
    for _ in 0..3 {
        section.harness.key_press(Key::ArrowLeft);
        section.settle();
    }
    assert!(section.stack().projection.strength < 1.0);
    let history = section.editor().history();
    assert_eq!(
        history.labels().collect::<Vec<_>>(),
        ["Set projection strength"]
    );
}

#[test]
fn a_preset_is_one_click_and_a_step() {
    let mut section = Section::on(asset("arm.glb"));
    assert!(section.says("Preset: Default"));
    let lbs = Command::UsePreset(StackPreset::Lbs).label();
    section.one_step(
        "Use linear blend skinning only",
        |s| s.click(Role::Button, lbs),
        |stack| stack.as_applied() == DeformStack::lbs(),
    );
    assert!(section.says("Preset: LBS"));
    for preset in StackPreset::ALL {
        let command = Command::UsePreset(preset);
        section.editor_mut().use_preset(preset);
        section.settle();
        assert_eq!(section.editor().stack_preset(), Some(preset));
        assert!(command.about().ends_with('.'));
    }
    // Chosen one after the other they are one step.
    assert_eq!(section.editor().history().n_undo(), 1);
    section.click(Role::Button, "Preset: Centres of rotation");
    section.picture("presets");
    let found = section.harness.get_all_by_label("DQS + projection");
    found.into_iter().next().expect("the item").click();
    section.settle();
    let preset = section.editor().stack_preset();
    assert_eq!(preset, Some(StackPreset::Projection));
    section
        .editor_mut()
        .change_stack("Set", |s| s.projection.power = 3.0);
    section.settle();
    assert!(section.says("Preset: Custom"));
}

#[test]
fn the_header_shows_lbs_without_touching_the_document() {
    let mut window = Window::on("arm.glb");
    let before = window.document().clone();
    let bone = window.bones()[1];
    window.select(bone);
    assert!(!window.app().viewport().shows_lbs());
    let header = window.viewport().top();
    let button = {
        let found = window
            .harness
            .get_all_by_role_and_label(Role::Button, Command::ViewLbs.label());
        let mut above = found.filter(|node| node.rect().bottom() <= header + 1.0);
        above
            .next()
            .expect("a button of the header")
            .rect()
            .center()
    };
    window.press(button);
    window.release(button);
    window.settle();
    assert!(window.says("View: LBS"));
    let lbs = StackChoice::Preset(StackPreset::Lbs);
    let shown = window.editor().view_of(&lbs);
    assert!(shown.is_some_and(|view| window.editor().is_view_shown(view)));
    assert_eq!(window.editor().stack_preset(), Some(StackPreset::Default));
    assert_eq!(window.editor().history().n_undo(), 0);
    assert!(window.document().same_content(&before));
    window.picture("header-lbs");
    window.press(button);
    window.release(button);
    window.settle();
    assert!(!window.says("View: LBS"));
}

#[test]
fn presets_are_chosen_by_command_copied_and_pasted() {
    let mut window = Window::on("arm.glb");
    let lbs = Command::UsePreset(StackPreset::Lbs);
    window.find_and_run(lbs);
    window.settle();
    assert_eq!(window.editor().history().n_undo(), 1);
    window.key(CTRL, Key::Z);
    assert_eq!(window.editor().stack_preset(), Some(StackPreset::Default));
    window.find_and_run(lbs);
    assert_eq!(window.editor().stack_preset(), Some(StackPreset::Lbs));
    window.choose("Skinning", Command::CopyStack.label());
    window.find_and_run(Command::UsePreset(StackPreset::Default));
    assert_eq!(window.editor().stack_preset(), Some(StackPreset::Default));
    window.choose("Skinning", Command::PasteStack.label());
    assert_eq!(window.editor().stack_preset(), Some(StackPreset::Lbs));
    let label = window.editor().history().undo_label();
    assert_eq!(label, Some("Paste deformer stack"));
}

/// Two triangles, two meshes, one skin.
fn two_objects(folder: &Path) -> PathBuf {
    let mut bytes: Vec<u8> = Vec::new();
    for x in [0f32, 0., 0., 1., 0., 0., 0., 1., 0.] {
        bytes.extend(x.to_le_bytes());
    }
    bytes.extend([0u8; 12]);
    for x in [1f32, 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.] {
        bytes.extend(x.to_le_bytes());
    }
    let mesh = r#"{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}]}"#;
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{"name":"Bone"}},{{"name":"Coat","mesh":0,"skin":0}},{{"name":"Hat","mesh":1,"skin":0}}],
        "scenes":[{{"nodes":[0,1,2]}}],"skins":[{{"joints":[0]}}],"meshes":[{mesh},{mesh}],
        "buffers":[{{"byteLength":{},"uri":"data:application/octet-stream;base64,{}"}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":12}},{{"buffer":0,"byteOffset":48,"byteLength":48}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
        {{"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"}},{{"bufferView":2,"componentType":5126,"count":3,"type":"VEC4"}}]}}"#,
        bytes.len(),
        base64::engine::general_purpose::STANDARD.encode(&bytes)
    );
    let path = folder.join("two.gltf");
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn a_change_is_about_this_object_or_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut section = Section::on(two_objects(folder.path()));
    let default = DeformStack::default();
    assert_eq!(
        [section.stack_of(0), section.stack_of(1)],
        [default.clone(), default.clone()]
    );
    let active = section.editor().document().session().active_mesh;
    assert_eq!(active, Some(MeshId(0)));
    section.click(Role::RadioButton, "This object");
    assert_eq!(section.editor().stack_scope(), StackScope::Active);
    section.open("Projection");
    section.slide("Projection strength", 0.5);
    assert_eq!(section.stack_of(0).projection.strength, 0.5);
    assert_eq!(section.stack_of(1), default);
    section.click(Role::RadioButton, "All objects");
    assert!(section.says("The objects have different settings."));
    assert!(section.says("Preset: Custom"));
    section.picture("all");
    section.slide("Projection power", 3.0);
    let powers = [0, 1].map(|mesh| section.stack_of(mesh).projection.power);
    assert_eq!(powers, [3.0, 3.0]);
    let strengths = [0, 1].map(|mesh| section.stack_of(mesh).projection.strength);
    assert_eq!(strengths, [0.5, 1.0], "what else differs stays");
    section.editor_mut().undo();
    section.settle();
    assert_eq!(section.stack_of(1), default);

    // From one object to the other.
    section.editor_mut().undo();
    section.click(Role::RadioButton, "This object");
    section.slide("Projection strength", 0.25);
    section.click(Role::Button, "Copy deformer stack");
    section.click(Role::RadioButton, "All objects");
    section.click(Role::Button, "Paste deformer stack");
    assert_eq!(section.stack_of(1).projection.strength, 0.25);
    assert!(!section.says("The objects have different settings."));
    section.editor_mut().undo();
    assert_eq!(section.stack_of(1), default);
}

#[test]
fn a_drag_over_many_objects_keeps_one_edit_an_object() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut section = Section::on(two_objects(folder.path()));
    let editor = section.editor_mut();
    editor.begin_step("Set compensation strength");
    for i in 0..200 {
        let strength = i as f32 * 0.01;
        editor.change_stack("Set compensation strength", |s| {
            s.compensation.strength = strength;
        });
    }
    editor.end_step();
    assert_eq!(editor.history().n_undo(), 1);
    assert!(
        editor.history().bytes() < 2000,
        "{}",
        editor.history().bytes()
    );
    editor.undo();
    assert_eq!(section.stack_of(1), DeformStack::default());
}

#[test]
fn a_painted_map_is_seen_beside_its_strength() {
    let mut section = Section::on(asset("arm.glb"));
    section.open("Compensation");
    let badge = "Paint compensation strength, painted";
    assert!(!section.says(badge));
    let edit = MaskEdit::new(MeshId(0), MaskKind::Compensation, vec![3], vec![0.5]);
    let editor = section.editor_mut();
    editor
        .apply(Edit::Mask(edit), "Paint")
        .expect("it can be applied");
    section.settle();
    assert!(section.says(badge));
    section.picture("painted");
    section.click(Role::Button, badge);
    let target = PaintTarget::Mask(MaskKind::Compensation);
    assert_eq!(section.harness.state().asked, [Command::Paint(target)]);
}
