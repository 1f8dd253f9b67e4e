//! The app in a window that is only in memory: pressed, dragged and read as an artist would.

use crate::renderer::GlRenderer;
use egui::{
    Event, Key, Modifiers, PointerButton, Pos2, Rect, Role, Vec2, ViewportCommand, ViewportEvent,
    ViewportId,
};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::Vec3;
use sinew::app::{Folders, SinewApp};
use sinew::document::Document;
use sinew::editor::Editor;
use sinew::io::project::Autosaves;
use sinew::skeleton::JointId;
use sinew::view::WindowlessGl;
use sinew::view::commands::Command;
use sinew::view::commands::table::TABLE;
use sinew::view::frame::PanelKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// More than any step here takes, also on a busy machine.
const DEADLINE: Duration = Duration::from_mins(5);
/// Ctrl, as the windowing layer reports it.
pub(crate) const CTRL: Modifiers = Modifiers {
    ctrl: true,
    command: true,
    ..Modifiers::NONE
};
/// Ctrl and Shift.
pub(crate) const CTRL_SHIFT: Modifiers = Modifiers {
    shift: true,
    ..CTRL
};

/// A model that comes with the sources.
pub(crate) fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

/// The app, and a folder for what it writes.
pub(crate) struct Window {
    // Dropped before the context that its GPU objects live on.
    pub(crate) harness: Harness<'static, SinewApp>,
    pub(crate) folder: Rc<tempfile::TempDir>,
    gl: Rc<WindowlessGl>,
}

impl Window {
    /// 1366 x 768 on the sample file `name`, at rest.
    pub(crate) fn on(name: &str) -> Self {
        Self::sized(name, [1366.0, 768.0], 1.0)
    }

    /// A window of `size` physical pixels on the sample file `name`, at rest.
    pub(crate) fn sized(name: &str, size: [f32; 2], scale: f32) -> Self {
        let folder = Rc::new(tempfile::tempdir().expect("a folder for files"));
        Self::in_folder(name, size, scale, folder)
    }

    /// Another window on the sample file `name` that uses the same folder as `other`.
    pub(crate) fn beside(other: &Self, name: &str) -> Self {
        Self::in_folder(name, [1366.0, 768.0], 1.0, other.folder.clone())
    }

    /// A window on `file`, else on the sample arm, that keeps what it keeps in `folders`.
    pub(crate) fn with_folders(file: Option<&Path>, folders: Folders) -> Self {
        let temporary = Rc::new(tempfile::tempdir().expect("a folder for files"));
        let file = file.map(Path::to_owned);
        Self::build(file, [1366.0, 768.0], 1.0, folders, temporary)
    }

    fn in_folder(name: &str, size: [f32; 2], scale: f32, folder: Rc<tempfile::TempDir>) -> Self {
        let folders = Folders {
            autosaves: Some(Autosaves::in_folder(folder.path().join("autosave"))),
            ..Folders::default()
        };
        Self::build(Some(asset(name)), size, scale, folders, folder)
    }

    fn build(
        file: Option<PathBuf>,
        size: [f32; 2],
        scale: f32,
        folders: Folders,
        folder: Rc<tempfile::TempDir>,
    ) -> Self {
        let gl = Rc::new(WindowlessGl::new().unwrap_or_else(|error| panic!("{error}")));
        let harness = Harness::builder()
            .with_size(Vec2::from(size) / scale)
            .with_pixels_per_point(scale)
            .with_step_dt(1.0 / 60.0)
            .with_render_cursor(false)
            .renderer(GlRenderer::new(gl.clone()))
            .build_eframe(move |cc| {
                SinewApp::new(&cc.egui_ctx, file, folders).expect("threads start")
            });
        let mut window = Self {
            harness,
            folder,
            gl,
        };
        window.settle();
        assert!(
            !window.editor().displayed().is_empty(),
            "a model is on screen"
        );
        window
    }

    pub(crate) fn app(&self) -> &SinewApp {
        self.harness.state()
    }

    pub(crate) fn editor(&self) -> &Editor {
        self.app().editor()
    }

    pub(crate) fn document(&self) -> &Document {
        self.editor().document()
    }

    /// Frames until `done`, which must come to pass.
    pub(crate) fn wait(&mut self, what: &str, done: impl Fn(&SinewApp) -> bool) {
        let start = Instant::now();
        self.harness.step();
        while !done(self.app()) {
            assert!(start.elapsed() < DEADLINE, "waited too long: {what}");
            std::thread::sleep(Duration::from_millis(1));
            self.harness.step();
        }
    }

    /// Frames until what is on screen is `done`, which must come to pass.
    pub(crate) fn wait_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < DEADLINE, "waited too long: {what}");
            std::thread::sleep(Duration::from_millis(1));
            self.harness.step();
        }
    }

    /// Frames until everything that was asked for is on screen; every widget then has a name.
    pub(crate) fn settle(&mut self) {
        self.wait("idle", |app| {
            app.editor().is_idle() && !app.viewport().is_easing()
        });
        self.harness.step();
        self.harness.check_accessibility();
        self.assert_ids_are_unique();
    }

    /// Where two widgets have one id, egui paints a warning over them.
    #[track_caller]
    fn assert_ids_are_unique(&self) {
        fn warns(shape: &egui::Shape) -> bool {
            match shape {
                egui::Shape::Vec(shapes) => shapes.iter().any(warns),
                egui::Shape::Text(text) => text.galley.text().contains("use of widget ID"),
                _ => false,
            }
        }
        let mut shapes = self.harness.output().shapes.iter();
        assert!(!shapes.any(|s| warns(&s.shape)), "two widgets have one id");
    }

    /// Opens `path` by dropping it on the window; a model with clips is opened, not added as a motion.
    pub(crate) fn drop_file(&mut self, path: impl Into<PathBuf>) {
        self.drop_unanswered(path);
        if self.says("Open this model?") {
            self.click(Role::Button, "Open");
        }
    }

    /// Drops `path` on the window, and leaves the question what a model is for.
    pub(crate) fn drop_unanswered(&mut self, path: impl Into<PathBuf>) {
        let dropped = Arc::new(Dropped(path.into()));
        self.harness.input_mut().dropped_files.push(dropped);
        self.settle();
    }

    pub(crate) fn key(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    /// Clicks the only widget with this role and label.
    #[track_caller]
    pub(crate) fn click(&mut self, role: Role, label: &str) {
        self.harness.get_by_role_and_label(role, label).click();
        // What it opens shows in the frame after.
        self.harness.step();
        self.settle();
    }

    /// Chooses an item of a menu.
    #[track_caller]
    pub(crate) fn choose(&mut self, menu: &str, item: &str) {
        self.click(Role::Button, menu);
        let row = TABLE.iter().find(|row| row.label == item);
        if let Some(row) = row.filter(|row| !row.submenu.is_empty()) {
            self.open_submenu(row.submenu);
        }
        let found = self.harness.get_all_by_label(item);
        let node = found
            .into_iter()
            .find(|n| is_menu_item(n.accesskit_node().role()));
        node.unwrap_or_else(|| panic!("no {item} in {menu}"))
            .click();
        self.harness.step();
        self.settle();
    }

    /// Opens a submenu of the open menu.
    pub(crate) fn open_submenu(&mut self, label: &str) {
        let found = self.harness.get_all_by_label_contains(label);
        let button = found
            .into_iter()
            .find(|n| n.accesskit_node().role() == Role::Button && is_named(n, label));
        button.unwrap_or_else(|| panic!("no {label}")).click();
        self.settle();
    }

    /// Finds a command by its label (F3) and runs it.
    #[track_caller]
    pub(crate) fn find_and_run(&mut self, command: Command) {
        self.harness.key_press(Key::F3);
        self.harness.step();
        let label = command.full_label(self.editor());
        self.harness.event(Event::Text(label.clone()));
        self.harness.step();
        self.harness.step();
        self.harness
            .get_by_role_and_label(Role::ListBoxOption, &label)
            .click();
        self.harness.step();
        self.harness.step();
    }

    /// Writes into the focused field.
    pub(crate) fn write(&mut self, text: &str) {
        self.harness.event(Event::Text(text.into()));
        self.harness.step();
        self.settle();
    }

    /// Whether a text on screen holds `part`.
    pub(crate) fn says(&self, part: &str) -> bool {
        self.harness
            .query_all_by_label_contains(part)
            .next()
            .is_some()
    }

    /// The viewport's place in the window, points.
    pub(crate) fn viewport(&self) -> Rect {
        self.harness.get_by_label("Viewport").rect()
    }

    /// The place of the viewport with its header and tool bar, points.
    pub(crate) fn viewport_panel(&self) -> Rect {
        let mut shown = self.app().dock().shown().iter();
        let found = shown.find(|(panel, _)| *panel == PanelKind::Viewport);
        found.map_or(Rect::NOTHING, |(_, rect)| *rect)
    }

    /// Where the picture of a pane is, of several.
    pub(crate) fn pane(&self, index: usize) -> Rect {
        let label = format!("Viewport {}: ", index + 1);
        self.harness.get_by_label_contains(&label).rect()
    }

    /// Where a world place is in the window.
    pub(crate) fn place(&self, point: Vec3) -> Pos2 {
        let rect = self.viewport();
        let camera = &self.document().session().camera;
        let ndc = camera
            .clip_from_world(rect.aspect_ratio())
            .project_point3(point);
        rect.min + rect.size() * Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y)
    }

    /// The displayed positions of all meshes.
    pub(crate) fn positions(&self) -> Vec<Vec3> {
        let shown = self.editor().displayed().values();
        shown.flat_map(|d| d.positions.iter().copied()).collect()
    }

    /// The weights of the active bone as colours show them, of all meshes.
    pub(crate) fn heat(&self) -> Vec<f32> {
        let heat = self.editor().heat().values();
        heat.flat_map(|h| h.values.iter().copied()).collect()
    }

    /// A place on the model: that of the point nearest to the eye.
    pub(crate) fn on_model(&self) -> Pos2 {
        let toward_eye = self.document().session().camera.backward();
        let depth = |p: &Vec3| p.dot(toward_eye);
        let nearest = self
            .positions()
            .into_iter()
            .max_by(|a, b| depth(a).total_cmp(&depth(b)));
        self.place(nearest.expect("a model"))
    }

    /// A place on a bone, a third of its way.
    pub(crate) fn on_bone(&self, joint: JointId) -> Pos2 {
        let bones = self.editor().bones();
        let bone = bones.iter().find(|bone| bone.joint == joint);
        let bone = bone.expect("the joint has a bone");
        self.place(bone.head.lerp(bone.tail, 0.33))
    }

    /// The bones in the list, in the order of joints.
    pub(crate) fn bones(&self) -> Vec<JointId> {
        let has_bone = self.editor().document().skin_joint_mask();
        (0..has_bone.len())
            .filter(|&j| has_bone[j])
            .map(|j| JointId(j as u32))
            .collect()
    }

    /// Turns the wheel over the tree until the row called `label` is in sight.
    fn scroll_to_row(&mut self, label: &str) {
        let is_seen = |window: &Self| {
            let mut rows = window
                .harness
                .query_all_by_role_and_label(Role::TreeItem, label);
            rows.next().is_some()
        };
        for direction in [1.0, -1.0] {
            for _ in 0..60 {
                if is_seen(self) {
                    return;
                }
                let tree = self.harness.get_by_role_and_label(Role::Tree, "Bones");
                let at = tree.rect().center();
                self.move_to(at);
                self.harness.event(Event::MouseWheel {
                    unit: egui::MouseWheelUnit::Point,
                    delta: Vec2::new(0.0, direction * 60.0),
                    phase: egui::TouchPhase::Move,
                    source: egui::MouseWheelSource::Wheel,
                    modifiers: Modifiers::NONE,
                });
                self.harness.step();
                self.settle();
            }
        }
    }

    /// Clicks a bone in the list.
    pub(crate) fn select(&mut self, joint: JointId) {
        let label = self.document().skeleton().label(joint);
        self.scroll_to_row(&label);
        self.click(Role::TreeItem, &label);
        assert_eq!(self.document().session().active_joint, Some(joint));
    }

    pub(crate) fn button(
        &mut self,
        at: Pos2,
        button: PointerButton,
        pressed: bool,
        modifiers: Modifiers,
    ) {
        self.harness.event(Event::PointerButton {
            pos: at,
            button,
            pressed,
            modifiers,
        });
        self.harness.step();
    }

    pub(crate) fn move_to(&mut self, at: Pos2) {
        self.harness.hover_at(at);
        self.harness.step();
    }

    pub(crate) fn press(&mut self, at: Pos2) {
        self.move_to(at);
        self.button(at, PointerButton::Primary, true, Modifiers::NONE);
    }

    pub(crate) fn release(&mut self, at: Pos2) {
        self.button(at, PointerButton::Primary, false, Modifiers::NONE);
    }

    /// Presses and releases the right button.
    pub(crate) fn right_click(&mut self, at: Pos2) {
        self.move_to(at);
        self.button(at, PointerButton::Secondary, true, Modifiers::NONE);
        self.button(at, PointerButton::Secondary, false, Modifiers::NONE);
        self.settle();
    }

    /// Drags from `from` by `by` in eight moves.
    pub(crate) fn drag(
        &mut self,
        button: PointerButton,
        modifiers: Modifiers,
        from: Pos2,
        by: Vec2,
    ) {
        self.harness.event(Event::ModifiersChanged(modifiers));
        self.move_to(from);
        self.button(from, button, true, modifiers);
        for i in 1..=8 {
            self.move_to(from + by * (i as f32 / 8.0));
        }
        self.button(from + by, button, false, modifiers);
        self.harness.event(Event::ModifiersChanged(Modifiers::NONE));
        self.settle();
    }

    /// Paints over the middle of the model.
    pub(crate) fn stroke(&mut self) {
        let at = self.on_model();
        self.drag(
            PointerButton::Primary,
            Modifiers::NONE,
            at,
            Vec2::new(24.0, 16.0),
        );
    }

    /// Presses the window's close button; whether it closes.
    pub(crate) fn close(&mut self) -> bool {
        let closes = self.close_while_busy();
        self.settle();
        closes
    }

    /// The same, while work goes on.
    pub(crate) fn close_while_busy(&mut self) -> bool {
        let input = self.harness.input_mut();
        let root = input
            .viewports
            .get_mut(&ViewportId::ROOT)
            .expect("a window");
        root.events.push(ViewportEvent::Close);
        self.harness.step();
        let closes = !self.was_told(&ViewportCommand::CancelClose);
        self.harness.step();
        closes
    }

    /// Frames of what was pressed; whether the app closes its window in the last of them.
    pub(crate) fn asks_to_close(&mut self) -> bool {
        self.harness.step();
        self.was_told_to_close()
    }

    /// Whether the app closed its window in the last frame.
    pub(crate) fn was_told_to_close(&self) -> bool {
        self.was_told(&ViewportCommand::Close)
    }

    fn was_told(&self, command: &ViewportCommand) -> bool {
        let mut windows = self.harness.output().viewport_output.values();
        windows.any(|window| window.commands.contains(command))
    }

    /// The window's pixels; written to the folder that SINEW_PICTURES names, if it does, for a person to look at.
    pub(crate) fn picture(&mut self, name: &str) -> image::RgbaImage {
        let picture = self
            .harness
            .render()
            .unwrap_or_else(|error| panic!("{error}"));
        if let Some(folder) = std::env::var_os("SINEW_PICTURES") {
            let path = Path::new(&folder).join(format!("window-{name}.png"));
            picture
                .save(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        picture
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // What the app has on the GPU is freed next, in whatever context is current.
        let _ = self.gl.make_current();
    }
}

/// Whether a node is an entry of a menu.
pub(crate) fn is_menu_item(role: Role) -> bool {
    matches!(role, Role::MenuItem | Role::MenuItemCheckBox)
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// Whether a node is called `label`, but for the mark of a submenu after it.
fn is_named(node: &egui_kittest::Node<'_>, label: &str) -> bool {
    let name = node.accesskit_node().label().unwrap_or_default();
    name.trim_end_matches(|c: char| !c.is_alphanumeric()) == label
}
