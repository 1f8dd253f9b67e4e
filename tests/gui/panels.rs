//! The panels on their own: tree, properties, problems, history.

use crate::renderer::GlRenderer;
use crate::window::{CTRL, asset};
use base64::Engine as _;
use eframe::egui;
use egui::{Event, Key, Modifiers, PointerButton, Role, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sinew::document::{Document, Edit, MeshId};
use sinew::editor::{Editor, OpenRequest};
use sinew::finding::{Fix, SampleFix};
use sinew::skeleton::JointId;
use sinew::skinning::Rows;
use sinew::view::WindowlessGl;
use sinew::view::mode::Mode;
use sinew::view::panels::{self, Hierarchy};
use sinew::view::theme;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Alt, as the windowing layer reports it.
const ALT: Modifiers = Modifiers {
    alt: true,
    ..Modifiers::NONE
};

struct Panels {
    editor: Editor,
    hierarchy: Hierarchy,
    mode: Mode,
    /// Seconds that the panels took in the last frame.
    secs: f64,
}

impl eframe::App for Panels {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.editor.poll(0.0);
        let start = Instant::now();
        let frame = egui::Frame::new()
            .fill(theme::palette(ui).panel)
            .inner_margin(8);
        egui::Panel::bottom("below")
            .frame(frame)
            .exact_size(190.0)
            .show(ui, |ui| {
                egui::Panel::right("history")
                    .frame(egui::Frame::new().inner_margin(4))
                    .exact_size(280.0)
                    .show(ui, |ui| panels::history_ui(ui, &mut self.editor));
                panels::problems_ui(ui, &mut self.editor);
            });
        egui::Panel::right("properties")
            .frame(frame)
            .exact_size(300.0)
            .show(ui, |ui| {
                egui::ScrollArea::vertical().show(ui, |ui| {
                    panels::properties_ui(ui, &mut self.editor, self.mode);
                });
            });
        egui::CentralPanel::default()
            .frame(frame)
            .show(ui, |ui| self.hierarchy.show_ui(ui, &mut self.editor));
        self.secs = start.elapsed().as_secs_f64();
    }
}

struct Window {
    // Dropped before the context that its GPU objects live on.
    harness: Harness<'static, Panels>,
    _gl: Rc<WindowlessGl>,
}

impl Window {
    fn on(file: impl Into<PathBuf>) -> Self {
        let file: PathBuf = file.into();
        let gl = Rc::new(WindowlessGl::new().unwrap_or_else(|error| panic!("{error}")));
        let harness = Harness::builder()
            .with_size(Vec2::new(640.0, 720.0))
            .with_step_dt(1.0 / 60.0)
            .with_render_cursor(false)
            .renderer(GlRenderer::new(gl.clone()))
            .build_eframe(move |cc| {
                theme::apply(&cc.egui_ctx);
                let mut editor = Editor::new(None, || {}).expect("threads start");
                editor.open(OpenRequest::Path(file));
                Panels {
                    editor,
                    hierarchy: Hierarchy::default(),
                    mode: Mode::Select,
                    secs: 0.0,
                }
            });
        let mut window = Self { harness, _gl: gl };
        window.settle();
        window
    }

    fn editor(&mut self) -> &mut Editor {
        &mut self.harness.state_mut().editor
    }

    fn document(&self) -> &Document {
        self.harness.state().editor.document()
    }

    fn settle(&mut self) {
        let start = Instant::now();
        self.harness.step();
        while !self.harness.state().editor.is_idle() {
            assert!(start.elapsed() < Duration::from_mins(1), "waited too long");
            std::thread::sleep(Duration::from_millis(1));
            self.harness.step();
        }
        self.harness.step();
        self.harness.step();
        self.harness.check_accessibility();
    }

    fn has(&self, role: Role, label: &str) -> bool {
        let mut found = self.harness.query_all_by_role_and_label(role, label);
        found.next().is_some()
    }

    #[track_caller]
    fn click(&mut self, role: Role, label: &str, modifiers: Modifiers) {
        let pos = self
            .harness
            .get_by_role_and_label(role, label)
            .rect()
            .center();
        self.harness.event(Event::ModifiersChanged(modifiers));
        self.harness.hover_at(pos);
        self.harness.step();
        for pressed in [true, false] {
            self.harness.event(Event::PointerButton {
                pos,
                button: PointerButton::Primary,
                pressed,
                modifiers,
            });
            self.harness.step();
        }
        self.harness.event(Event::ModifiersChanged(Modifiers::NONE));
        self.settle();
        // Two clicks of a test are no double click.
        for _ in 0..30 {
            self.harness.step();
        }
    }

    fn key(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.harness.step();
        self.settle();
    }

    fn write(&mut self, text: &str) {
        self.harness.event(Event::Text(text.into()));
        self.harness.step();
        self.settle();
    }

    fn label(&self, joint: JointId) -> String {
        self.document().skeleton().label(joint)
    }

    fn bones(&self) -> Vec<JointId> {
        let mask = self.document().skin_joint_mask();
        (0..mask.len())
            .filter(|&j| mask[j])
            .map(|j| JointId(j as u32))
            .collect()
    }

    fn active(&self) -> Option<JointId> {
        self.document().session().active_joint
    }

    fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("SINEW_PICTURES") else {
            return;
        };
        let picture = self
            .harness
            .render()
            .unwrap_or_else(|error| panic!("{error}"));
        let path = Path::new(&folder).join(format!("panels-{name}.png"));
        picture
            .save(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Gives some points of the first mesh weights that do not add up to 1.
    fn spoil(&mut self, points: &[u32]) {
        let rows: Rows = points.iter().map(|_| vec![(0, 0.25)]).collect();
        let edit = Edit::influences(MeshId(0), points.to_vec(), rows);
        self.editor().apply(edit, "Spoil").expect("a valid edit");
        self.settle();
    }
}

#[test]
fn the_tree_filters_and_esc_shows_all_again() {
    let mut window = Window::on(asset("mannequin.glb"));
    let bones = window.bones();
    let labels: Vec<String> = bones.iter().map(|&b| window.label(b)).collect();
    assert!(window.has(Role::TreeItem, &labels[0]));
    let wanted = labels.last().expect("bones").clone();
    window.click(Role::TextInput, "Filter bones", Modifiers::NONE);
    window.write(&wanted.to_uppercase());
    assert!(window.has(Role::TreeItem, &wanted));
    let n_rows = window.harness.query_all_by_role(Role::TreeItem).count();
    assert!(n_rows < labels.len() / 2, "{n_rows}");
    // What it hangs on stays.
    let parent = window
        .document()
        .skeleton()
        .joint(bones[bones.len() - 1])
        .parent;
    let parent = window.label(parent.expect("no root"));
    assert!(window.has(Role::TreeItem, &parent));
    window.picture("filter");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.has(Role::TreeItem, &labels[0]));
    assert!(window.harness.query_all_by_role(Role::TreeItem).count() > n_rows);
}

#[test]
fn a_bone_is_renamed_in_its_row_as_one_step() {
    let mut window = Window::on(asset("arm.glb"));
    let bone = window.bones()[1];
    let before = window.label(bone);
    window.click(Role::TreeItem, &before, Modifiers::NONE);
    window.key(Modifiers::NONE, Key::Enter);
    window.write("Elbow");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.label(bone), "Elbow");
    assert!(window.has(Role::TreeItem, "Elbow"));
    let editor = window.editor();
    assert_eq!(editor.history().undo_label(), Some("Rename bone"));
    editor.undo();
    window.settle();
    assert_eq!(window.label(bone), before);
    // Esc gives it up.
    window.click(Role::TreeItem, &before, Modifiers::NONE);
    window.key(Modifiers::NONE, Key::Enter);
    window.write("Knee");
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(window.label(bone), before);
    // A name that another bone has is allowed, and said.
    let other = window.label(window.bones()[0]);
    window.editor().rename_joint(bone, &other);
    let notice = window.editor().take_notice().expect("a note");
    assert!(notice.text.contains("Another bone"), "{}", notice.text);
}

#[test]
fn alt_click_locks_the_others_and_the_button_unlocks_all() {
    let mut window = Window::on(asset("arm.glb"));
    let bones = window.bones();
    let label = window.label(bones[1]);
    window.click(Role::CheckBox, &format!("Lock {label}"), ALT);
    let locked = window.document().locked().clone();
    assert_eq!(locked.len(), bones.len() - 1);
    assert!(!locked.contains(&bones[1]));
    window.click(Role::Button, "Unlock all", Modifiers::NONE);
    assert!(window.document().locked().is_empty());
    window.click(Role::TreeItem, &label, Modifiers::NONE);
    window.click(Role::Button, "Lock all others", Modifiers::NONE);
    assert_eq!(window.document().locked(), &locked);
    window.editor().undo();
    assert!(window.document().locked().is_empty(), "one step");
}

#[test]
fn clicks_select_and_what_is_picked_elsewhere_comes_into_sight() {
    let mut window = Window::on(asset("mannequin.glb"));
    let bones = window.bones();
    let row = |window: &Window, i: usize| window.label(bones[i]);
    let (a, b, c) = (row(&window, 0), row(&window, 1), row(&window, 2));
    window.click(Role::TreeItem, &a, Modifiers::NONE);
    assert_eq!(window.active(), Some(bones[0]));
    window.click(Role::TreeItem, &c, CTRL);
    let selected = |window: &Window| window.document().session().selected_joints.clone();
    assert_eq!(selected(&window), [bones[0], bones[2]].into());
    window.click(Role::TreeItem, &c, CTRL);
    assert_eq!(selected(&window), [bones[0]].into());
    window.click(Role::TreeItem, &a, Modifiers::NONE);
    window.click(Role::TreeItem, &c, Modifiers::SHIFT);
    assert!(selected(&window).len() >= 3);
    window.click(Role::TreeItem, &b, Modifiers::NONE);
    assert_eq!(selected(&window), [bones[1]].into());

    // Folded away, and picked in the view.
    window.key(Modifiers::NONE, Key::Home);
    window.click(Role::TreeItem, &a, Modifiers::NONE);
    window.key(Modifiers::NONE, Key::ArrowLeft);
    let last = bones[bones.len() - 1];
    let label = window.label(last);
    assert!(!window.has(Role::TreeItem, &label));
    window.editor().select_joint(Some(last));
    window.settle();
    window.settle();
    assert!(window.has(Role::TreeItem, &label), "unfolded, in sight");
    window.picture("tree");
}

#[test]
fn the_arrow_keys_walk_fold_and_extend() {
    let mut window = Window::on(asset("arm.glb"));
    let bones = window.bones();
    let first = window.label(bones[0]);
    window.click(Role::TreeItem, &first, Modifiers::NONE);
    window.key(Modifiers::NONE, Key::ArrowDown);
    let second = window.active().expect("a bone");
    assert_ne!(second, bones[0]);
    window.key(Modifiers::SHIFT, Key::ArrowDown);
    assert_eq!(window.document().session().selected_joints.len(), 2);
    window.key(Modifiers::NONE, Key::End);
    let last = window.active().expect("a bone");
    assert_ne!(last, second);
    window.key(Modifiers::NONE, Key::ArrowLeft);
    let parent = window.document().skeleton().joint(last).parent;
    assert_eq!(window.active(), parent, "to what it hangs on");
    window.key(Modifiers::NONE, Key::ArrowLeft);
    let label = window.label(last);
    assert!(!window.has(Role::TreeItem, &label), "folded");
    window.key(Modifiers::NONE, Key::ArrowRight);
    assert!(window.has(Role::TreeItem, &label));
}

#[test]
fn the_eye_hides_and_the_columns_have_names() {
    let mut window = Window::on(asset("arm.glb"));
    let bone = window.bones()[1];
    let label = window.label(bone);
    window.click(Role::CheckBox, &format!("Show {label}"), Modifiers::NONE);
    assert!(window.document().session().hidden_joints.contains(&bone));
    window.click(Role::CheckBox, &format!("Show {label}"), Modifiers::NONE);
    assert!(window.document().session().hidden_joints.is_empty());
    assert!(window.has(Role::Button, &format!("Colour of {label}")));
    window.editor().set_joint_colour(bone, Some([1, 2, 3]));
    assert_eq!(window.document().session().joint_colours[&bone], [1, 2, 3]);
}

#[test]
fn fix_mends_and_the_problem_is_gone() {
    let mut window = Window::on(asset("arm.glb"));
    window.spoil(&[5, 6, 7]);
    let says = |window: &Window, part: &str| {
        let mut found = window.harness.query_all_by_label_contains(part);
        found.next().is_some()
    };
    assert!(says(
        &window,
        "3 vertices have weights that do not add up to 1"
    ));
    assert!(panels::problems_title(window.editor()).contains("(1)"));
    window.picture("problems");
    window.click(Role::Button, "Fix: Normalise", Modifiers::NONE);
    assert!(!says(&window, "do not add up to 1"));
    assert!(!window.has(Role::Button, "Fix: Normalise"));
    let editor = window.editor();
    assert_eq!(editor.history().undo_label(), Some("Normalise weights"));
    let said = editor.messages().back().expect("a message").text.clone();
    assert_eq!(said, "3 vertices normalised.");
    // Taken back, it is a problem again.
    editor.undo();
    window.settle();
    assert!(window.has(Role::Button, "Fix: Normalise"));
    // What is locked cannot be mended, so nothing is offered.
    let all = window.bones().into_iter().collect();
    window.editor().lock_joints(&all, true);
    window.settle();
    assert!(says(&window, "do not add up to 1"));
    assert!(!window.has(Role::Button, "Fix: Normalise"));
}

#[test]
fn a_click_on_a_problem_selects_what_it_names_and_messages_are_kept() {
    let mut window = Window::on(asset("arm.glb"));
    let bone = window.bones()[1];
    window.editor().rename_joint(bone, "Arm.L");
    window.settle();
    let row = {
        let mut found = window.harness.query_all_by_label_contains("no counterpart");
        found.next().expect("a row").rect().center()
    };
    window.harness.hover_at(row);
    window.harness.step();
    for pressed in [true, false] {
        window.harness.event(Event::PointerButton {
            pos: row,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.harness.step();
    }
    window.settle();
    assert_eq!(window.active(), Some(bone));
    window.click(Role::CheckBox, "Show infos", Modifiers::NONE);
    let mut found = window.harness.query_all_by_label_contains("no counterpart");
    assert!(found.next().is_none(), "filtered");
    drop(found);
    window
        .editor()
        .open(OpenRequest::Path("/nowhere/at-all.glb".into()));
    window.settle();
    window.click(Role::Button, "Messages", Modifiers::NONE);
    let mut found = window.harness.query_all_by_label_contains("at-all.glb");
    assert!(found.next().is_some());
    drop(found);
    window.picture("messages");
}

#[test]
fn a_click_in_the_history_jumps_there_and_back() {
    let mut window = Window::on(asset("arm.glb"));
    let bone = window.bones()[0];
    let mut states = vec![window.document().clone()];
    for name in ["one", "two", "three"] {
        window.editor().rename_joint(bone, name);
        states.push(window.document().clone());
    }
    window.settle();
    window.click(
        Role::ListBoxOption,
        "0 Opened (done, saved)",
        Modifiers::NONE,
    );
    assert!(window.document().same_content(&states[0]));
    window.picture("history");
    window.click(
        Role::ListBoxOption,
        "3 Rename bone (undone)",
        Modifiers::NONE,
    );
    assert!(window.document().same_content(&states[3]));
    window.key(Modifiers::NONE, Key::ArrowUp);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.document().same_content(&states[2]));
    assert!(window.has(Role::ListBoxOption, "3 Rename bone (undone)"));
}

#[test]
fn properties_rename_lock_and_choose_the_method() {
    let mut window = Window::on(asset("arm.glb"));
    let bones = window.bones();
    window.editor().select_joint(Some(bones[1]));
    window.settle();
    window.click(Role::TextInput, "Name", Modifiers::NONE);
    window.key(CTRL, Key::A);
    window.write("Upper");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.label(bones[1]), "Upper");
    window.click(Role::CheckBox, "Lock weights", Modifiers::NONE);
    assert!(window.document().locked().contains(&bones[1]));
    let parent = window.document().skeleton().joint(bones[1]).parent;
    let parent = parent.expect("a parent");
    let label = format!("Parent {}", window.label(parent));
    window.click(Role::Link, &label, Modifiers::NONE);
    assert_eq!(window.active(), Some(parent));
    window.harness.state_mut().mode = Mode::Paint;
    window.settle();
    window.picture("properties");
}

#[test]
fn a_file_without_bones_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.gltf");
    std::fs::write(
        &path,
        r#"{"asset":{"version":"2.0"},"nodes":[{"name":"Lamp"}],"scenes":[{"nodes":[0]}]}"#,
    )
    .expect("a file");
    let mut window = Window::on(&path);
    let mut found = window
        .harness
        .query_all_by_label_contains("This file has no bones");
    assert!(found.next().is_some());
    drop(found);
    assert!(window.has(Role::Button, "Open…"));
    assert!(window.has(Role::Button, "Sample mannequin"));
    window.picture("empty");
}

/// A chain of chains of 1,000 bones that move one triangle.
fn thousand_bones(folder: &Path) -> PathBuf {
    const N: usize = 1000;
    let mut nodes: Vec<String> = (0..N)
        .map(|i| {
            let children: Vec<String> = [i * 2 + 1, i * 2 + 2]
                .into_iter()
                .filter(|&c| c < N)
                .map(|c| c.to_string())
                .collect();
            let children = if children.is_empty() {
                String::new()
            } else {
                format!(r#","children":[{}]"#, children.join(","))
            };
            format!(r#"{{"name":"Bone {i}","translation":[0,0.1,0]{children}}}"#)
        })
        .collect();
    nodes.push(r#"{"name":"Skin","mesh":0,"skin":0}"#.into());
    let mut bytes: Vec<u8> = Vec::new();
    for x in [0f32, 0., 0., 1., 0., 0., 0., 1., 0.] {
        bytes.extend(x.to_le_bytes());
    }
    bytes.extend([0u8; 12]);
    for x in [1f32, 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.] {
        bytes.extend(x.to_le_bytes());
    }
    let joints: Vec<String> = (0..N).map(|i| i.to_string()).collect();
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{}],"scenes":[{{"nodes":[0,{N}]}}],"skins":[{{"joints":[{}]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}}}]}}],
        "buffers":[{{"byteLength":{},"uri":"data:application/octet-stream;base64,{}"}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":12}},{{"buffer":0,"byteOffset":48,"byteLength":48}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
        {{"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"}},{{"bufferView":2,"componentType":5126,"count":3,"type":"VEC4"}}]}}"#,
        nodes.join(","),
        joints.join(","),
        bytes.len(),
        base64::engine::general_purpose::STANDARD.encode(&bytes)
    );
    let path = folder.join("thousand.gltf");
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn a_thousand_bones_cost_no_more_than_those_in_sight() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = Window::on(thousand_bones(folder.path()));
    assert_eq!(window.bones().len(), 1000);
    let rows = window.harness.query_all_by_role(Role::TreeItem).count();
    assert!(rows < 40, "{rows} rows are laid out");
    let mut secs: Vec<f64> = (0..30)
        .map(|_| {
            window.harness.step();
            window.harness.state().secs
        })
        .collect();
    secs.sort_by(f64::total_cmp);
    println!("panels, 1,000 bones: {:.2} ms", secs[15] * 1e3);
    // Generous: the machine is busy and the build is not optimised.
    assert!(secs[15] < 0.016, "{:.1} ms", secs[15] * 1e3);
    window.editor().select_joint(Some(JointId(999)));
    window.settle();
    window.settle();
    assert!(window.has(Role::TreeItem, "Bone 999"));
    assert!(window.harness.query_all_by_role(Role::TreeItem).count() < 40);
}

/// The fixes are named in the table of [`Fix`]: no two buttons say the same.
#[test]
fn every_fix_says_what_it_does() {
    let all = [
        Fix::Normalise,
        Fix::GiveToNearest,
        Fix::Limit(4),
        Fix::Limit(8),
        Fix::Weld,
        Fix::Samples(SampleFix::Retarget),
        Fix::Samples(SampleFix::Keep),
        Fix::Samples(SampleFix::Delete),
        Fix::Samples(SampleFix::DeleteSet),
        Fix::Samples(SampleFix::UseLinear),
    ];
    let labels: std::collections::BTreeSet<String> = all.iter().map(|f| f.label()).collect();
    assert_eq!(labels.len(), all.len());
    assert!(all.iter().all(|f| f.about().ends_with('.')));
}
