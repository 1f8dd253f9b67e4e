//! The headless editor, driven as the window drives it; every invariant is checked after every event.

use glam::Vec2;
use sinew::deform::SkinningMethod;
use sinew::document::{ClipId, Document, Edit, invariants};
use sinew::editor::exporting::Correction;
use sinew::editor::{Editor, HeatOf, Notice, OpenRequest};
use sinew::evaluate::Evaluator;
use sinew::finding::Severity;
use sinew::io::project::Autosaves;
use sinew::skeleton::JointId;
use sinew::task::Task;
use sinew::tools::{PointerEvent, PointerKind};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

pub(crate) struct EditorHarness {
    pub(crate) editor: Editor,
    pub(crate) notices: Vec<Notice>,
}

impl EditorHarness {
    /// The editor on the sample arm, everything on screen.
    pub(crate) fn new() -> Self {
        Self::on(OpenRequest::Sample("arm".into()))
    }

    pub(crate) fn on(request: OpenRequest) -> Self {
        let mut harness = Self {
            editor: Editor::new(None, || {}).unwrap(),
            notices: Vec::new(),
        };
        harness.editor.open(request);
        harness.settle();
        harness
    }

    /// The editor on the sample arm, with its autosaves in `folder`.
    pub(crate) fn with_autosaves(folder: &std::path::Path) -> Self {
        let mut harness = Self {
            editor: Editor::new(Some(Autosaves::in_folder(folder)), || {}).unwrap(),
            notices: Vec::new(),
        };
        harness.editor.open(OpenRequest::Sample("arm".into()));
        harness.settle();
        harness
    }

    /// Another editor on the autosave of this one, as after a crash.
    pub(crate) fn after_a_crash(&mut self) -> Self {
        self.editor.autosave_now();
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(found) = self.editor.recoverable().first() {
                return Self::on(OpenRequest::Autosave(found.path.clone()));
            }
            assert!(Instant::now() < deadline, "no autosave is written");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Polls until everything asked for is on screen; then the picture equals a full evaluation.
    pub(crate) fn settle(&mut self) {
        let deadline = Instant::now() + Duration::from_mins(2);
        loop {
            self.editor.poll(0.0);
            while let Some(notice) = self.editor.take_notice() {
                self.notices.push(notice);
            }
            if self.editor.is_idle() {
                break;
            }
            assert!(
                Instant::now() < deadline,
                "the editor does not come to rest"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        let shape = self.editor.individual_shape();
        let document = match shape.filter(|_| self.editor.shows_individual()) {
            Some(shape) => shape.of(self.editor.document()),
            None => self.editor.document().clone(),
        };
        let mut full = Evaluator::default();
        let pose = document.shown_pose();
        full.evaluate(&document, pose.at(document.shown_moment()));
        for (id, shown) in self.editor.displayed() {
            let plan = full.plan(*id).unwrap();
            assert_eq!(shown.positions.as_slice(), plan.positions());
            assert_eq!(shown.normals.as_slice(), plan.normals());
        }
        self.check();
    }

    pub(crate) fn check(&self) {
        let document = self.editor.document();
        let broken: Vec<_> = invariants::check(document)
            .into_iter()
            .filter(|f| f.severity == Severity::Error)
            .collect();
        assert!(broken.is_empty(), "{broken:?}");
        for (mesh, heat) in self.editor.heat() {
            let item = &document.meshes()[mesh];
            let rows = (0..).zip(item.influences.iter());
            assert_eq!(heat.values.len(), item.influences.len());
            for (shown, (point, row)) in heat.values.iter().zip(rows) {
                let n = row.weights.iter().filter(|w| **w > 0.0).count();
                let expected = match heat.of {
                    HeatOf::Weights(joint) => match row.weight_of(joint) {
                        weight if weight > 0.0 => weight,
                        _ => -1.0,
                    },
                    HeatOf::Mask(kind) => item.masks.value(kind, point) / kind.limit(),
                    _ if n == 0 => -1.0,
                    HeatOf::Bones => 1.0,
                    HeatOf::Count => (n as f32 / 16.0).min(1.0),
                    HeatOf::Sum => (row.weights.iter().sum::<f32>() / 2.0).min(1.0),
                    HeatOf::LayerMask(layer) => item.layers.get(layer).unwrap().mask.get(point),
                };
                assert_eq!(*shown, expected);
            }
        }
    }

    pub(crate) fn pointer(&mut self, kind: PointerKind, ndc: Vec2, invert: bool) {
        self.editor.pointer(&PointerEvent {
            kind,
            ndc,
            size_px: SIZE,
            invert,
            smooth: false,
            pressure: None,
        });
        self.editor.poll(0.0);
        self.check();
    }

    /// Presses at `from`, moves to `to` in steps; the button stays down.
    pub(crate) fn start_drag(&mut self, from: Vec2, to: Vec2, invert: bool) {
        self.pointer(PointerKind::Press, from, invert);
        for i in 1..=8 {
            self.pointer(PointerKind::Drag, from.lerp(to, i as f32 / 8.0), invert);
        }
    }

    pub(crate) fn drag(&mut self, from: Vec2, to: Vec2, invert: bool) {
        self.start_drag(from, to, invert);
        self.pointer(PointerKind::Release, to, invert);
        self.settle();
    }

    pub(crate) fn last_notice(&self) -> &str {
        self.notices.last().map_or("", |n| n.text.as_str())
    }

    /// Where bone `joint` begins on the screen.
    pub(crate) fn place_of(&self, joint: u32) -> Vec2 {
        let at = self.editor.world()[joint as usize].translation.as_vec3();
        let clip = self
            .editor
            .document()
            .session()
            .camera
            .clip_from_world(SIZE.x / SIZE.y)
            * at.extend(1.0);
        Vec2::new(clip.x, clip.y) / clip.w
    }

    pub(crate) fn joint(&self, name: &str) -> u32 {
        let joints = self.editor.document().skeleton().joints();
        joints.iter().position(|j| j.name == name).unwrap() as u32
    }
}

fn sums_are_one(document: &Document) {
    for item in document.meshes().values() {
        for row in item.influences.iter() {
            let sum: f32 = row.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{row:?}");
        }
    }
}

#[test]
fn a_stroke_adds_weight_under_the_pointer_and_is_one_undo_step() {
    let mut h = EditorHarness::new();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let before = h.editor.document().clone();
    let (elbow, shoulder) = (h.place_of(forearm), h.place_of(h.joint("upper_arm")));
    h.drag(elbow, elbow.lerp(shoulder, 0.5), false);
    sums_are_one(h.editor.document());
    let painted = h.editor.document().clone();
    let mesh = painted.meshes().values().next().unwrap();
    let (old, new) = (
        &before.meshes().values().next().unwrap().influences,
        &mesh.influences,
    );
    let edited = mesh.edited_points();
    assert!(edited.len() > 50, "{}", edited.len());
    let joint = painted
        .skin_joint(*painted.meshes().keys().next().unwrap(), JointId(forearm))
        .unwrap();
    for p in edited {
        let gained = new.row(p).weight_of(joint) - old.row(p).weight_of(joint);
        assert!(gained > 0.0, "point {p} gained {gained}");
        // One stroke never passes the brush's strength, however often the pointer comes by.
        assert!(gained <= 0.5 + 1e-6, "point {p} gained {gained}");
    }
    assert_eq!(h.editor.history().n_undo(), 1);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    h.editor.redo();
    h.settle();
    assert!(h.editor.document().same_content(&painted));
}

#[test]
fn ctrl_takes_weight_away_and_escape_takes_the_stroke_back() {
    let mut h = EditorHarness::new();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let before = h.editor.document().clone();
    let elbow = h.place_of(forearm);
    h.drag(elbow, elbow + Vec2::new(0.05, 0.0), true);
    let mesh = *before.meshes().keys().next().unwrap();
    let joint = before.skin_joint(mesh, JointId(forearm)).unwrap();
    let total = |d: &Document| {
        d.meshes()[&mesh]
            .influences
            .iter()
            .map(|r| f64::from(r.weight_of(joint)))
            .sum::<f64>()
    };
    assert!(total(h.editor.document()) < total(&before) - 1.0);
    h.editor.undo();
    h.settle();
    h.start_drag(elbow, elbow + Vec2::new(0.05, 0.0), false);
    assert!(h.editor.is_painting());
    h.editor.cancel_tool();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert_eq!(
        (h.editor.history().n_undo(), h.editor.is_painting()),
        (0, false)
    );
}

#[test]
fn a_stroke_that_cannot_be_says_why_and_changes_nothing() {
    let mut h = EditorHarness::new();
    let before = h.editor.document().clone();
    let forearm = JointId(h.joint("forearm"));
    let elbow = h.place_of(forearm.0);
    h.drag(elbow, elbow, false);
    assert!(
        h.last_notice().starts_with("No bone is active"),
        "{}",
        h.last_notice()
    );
    h.editor.select_joint(Some(forearm));
    h.editor.toggle_lock(forearm);
    h.drag(elbow, elbow, false);
    assert_eq!(
        h.last_notice(),
        "\"forearm\" is locked. Unlock it to paint."
    );
    h.editor.toggle_lock(forearm);
    let joints: Vec<_> = before.skins().values().next().unwrap().joints.clone();
    for joint in joints.into_iter().filter(|j| *j != forearm) {
        h.editor.toggle_lock(joint);
    }
    h.drag(elbow, elbow, false);
    assert!(
        h.last_notice()
            .starts_with("All bones except \"forearm\" are locked"),
        "{}",
        h.last_notice()
    );
    let rows = |d: &Document| d.meshes().values().next().unwrap().influences.clone();
    assert_eq!(rows(h.editor.document()), rows(&before));
    // Beside the model nothing begins.
    h.drag(Vec2::new(-0.95, 0.95), Vec2::new(-0.9, 0.9), false);
    assert_eq!(rows(h.editor.document()), rows(&before));
}

#[test]
fn locked_bones_keep_every_bit_under_any_stroke() {
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    let (spine, chest) = (JointId(h.joint("spine.02")), JointId(h.joint("chest")));
    h.editor.toggle_lock(chest);
    h.editor.select_joint(Some(spine));
    let mesh = *h.editor.document().meshes().keys().next().unwrap();
    let locked = h.editor.document().skin_joint(mesh, chest).unwrap();
    let weights = |h: &EditorHarness| -> Vec<u32> {
        h.editor.document().meshes()[&mesh]
            .influences
            .iter()
            .map(|r| r.weight_of(locked).to_bits())
            .collect()
    };
    let before = weights(&h);
    let at = h.place_of(chest.0);
    h.drag(at, at + Vec2::new(0.05, 0.02), false);
    h.drag(at, at - Vec2::new(0.05, 0.02), true);
    assert!(
        h.editor.history().n_undo() >= 3,
        "both strokes changed something"
    );
    assert_eq!(weights(&h), before);
    sums_are_one(h.editor.document());
}

#[test]
fn clips_play_scrub_and_loop_while_the_document_stays_as_it_is() {
    let mut h = EditorHarness::new();
    let before = h.editor.document().clone();
    h.editor.toggle_play();
    assert!(h.editor.is_playing());
    let (start, end) = h.editor.clip_range().unwrap();
    for _ in 0..40 {
        h.editor.poll(0.1);
        let time = h.editor.document().session().playback.time_secs;
        assert!((start..=end).contains(&time), "{time}");
    }
    h.editor.toggle_play();
    h.editor.set_time(0.5);
    h.settle();
    let at_half: Vec<_> = h
        .editor
        .displayed()
        .values()
        .map(|d| d.positions.clone())
        .collect();
    h.editor.show_clip(Some(ClipId(1)));
    h.editor.set_time(0.7);
    h.settle();
    assert_ne!(
        at_half,
        h.editor
            .displayed()
            .values()
            .map(|d| d.positions.clone())
            .collect::<Vec<_>>()
    );
    h.editor.show_clip(None);
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert!(!h.editor.history().is_modified());
}

#[test]
fn the_skinning_method_is_one_undo_step_and_shows() {
    let mut h = EditorHarness::new();
    h.editor.show_clip(Some(ClipId(0)));
    h.editor.set_time(0.8);
    h.settle();
    let picture = |h: &EditorHarness| {
        h.editor
            .displayed()
            .values()
            .next()
            .unwrap()
            .positions
            .clone()
    };
    let dqs = picture(&h);
    h.editor.set_method(SkinningMethod::Lbs);
    h.settle();
    assert_ne!(picture(&h), dqs);
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Use linear blend skinning")
    );
    h.editor.undo();
    h.settle();
    assert_eq!(picture(&h), dqs);
}

#[test]
fn painted_work_comes_back_from_a_project_and_goes_out_to_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let (project, model) = (folder.path().join("arm.ron"), folder.path().join("arm.glb"));
    let mut h = EditorHarness::new();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    h.drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    assert!(h.editor.history().is_modified());
    h.editor.save_as(&project);
    h.settle();
    assert_eq!(h.last_notice(), "Saved arm.ron.");
    assert!(!h.editor.history().is_modified());
    h.editor.export_settings_mut().correction = Some(Correction::None);
    h.editor.save_export(&model);
    h.settle();
    assert!(
        h.last_notice().starts_with("Exported arm.glb."),
        "{}",
        h.last_notice()
    );

    let reopened = EditorHarness::on(OpenRequest::Path(project.clone()));
    let rows = |h: &EditorHarness| {
        h.editor
            .document()
            .meshes()
            .values()
            .next()
            .unwrap()
            .influences
            .clone()
    };
    assert_eq!(rows(&reopened), rows(&h));
    assert_eq!(
        reopened.editor.document().session().active_joint,
        Some(JointId(forearm))
    );
    assert_eq!(
        reopened
            .editor
            .project_path()
            .map(std::path::PathBuf::as_path),
        Some(project.as_path())
    );
    let exported = EditorHarness::on(OpenRequest::Path(model));
    assert_eq!(rows(&exported), rows(&h));
}

#[test]
fn a_file_that_cannot_be_opened_leaves_the_model_that_is_open() {
    let mut h = EditorHarness::new();
    let before = h.editor.document().clone();
    h.editor
        .open(OpenRequest::Path(Path::new("/nowhere/model.glb").into()));
    h.settle();
    assert!(
        h.last_notice().contains("/nowhere/model.glb"),
        "{}",
        h.last_notice()
    );
    assert!(h.notices.last().unwrap().is_error);
    assert!(h.editor.document().same_content(&before));
    // An opening that gives way to another one says nothing loud and changes nothing in between.
    h.editor.open(OpenRequest::Sample("mannequin".into()));
    h.editor.open(OpenRequest::Sample("hand".into()));
    h.settle();
    assert_eq!(h.editor.model_name(), "sample hand");
}

#[test]
fn an_edit_of_the_pose_shows_and_undoes() {
    let mut h = EditorHarness::new();
    let document = h.editor.document();
    let mut pose = (**document.pose()).clone();
    pose.locals[h.joint("forearm") as usize].rotation *= glam::DQuat::from_rotation_z(0.5);
    let edit = Edit::pose_change(document.pose(), &pose).unwrap();
    let rest = h
        .editor
        .displayed()
        .values()
        .next()
        .unwrap()
        .positions
        .clone();
    h.editor.apply(edit, "Rotate forearm").unwrap();
    h.settle();
    assert_ne!(
        h.editor.displayed().values().next().unwrap().positions,
        rest
    );
    h.editor.undo();
    h.settle();
    assert_eq!(
        h.editor.displayed().values().next().unwrap().positions,
        rest
    );
}

#[test]
fn unsaved_work_is_kept_aside_and_offered_until_it_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::with_autosaves(folder.path());
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    h.drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    let restored = h.after_a_crash();
    assert!(
        restored
            .editor
            .document()
            .meshes()
            .values()
            .next()
            .unwrap()
            .influences
            == h.editor
                .document()
                .meshes()
                .values()
                .next()
                .unwrap()
                .influences
    );
    assert!(
        restored.editor.history().is_modified(),
        "what was recovered is not saved yet"
    );
    let elsewhere = tempfile::tempdir().unwrap();
    h.editor.save_as(&elsewhere.path().join("arm.ron"));
    h.settle();
    assert!(h.editor.recoverable().is_empty());
}

#[test]
fn a_late_autosave_of_the_model_before_leaves_the_restored_one_alone() {
    let folder = tempfile::tempdir().unwrap();
    let crashed = Autosaves::in_folder(folder.path());
    let document = EditorHarness::new().editor.document().clone();
    let restored = crashed.save(&document, None, &Task::new()).unwrap();
    drop(crashed);
    let autosaves = Autosaves::in_folder(folder.path());
    let mut h = EditorHarness {
        editor: Editor::new(Some(autosaves.clone()), || {}).unwrap(),
        notices: Vec::new(),
    };
    h.editor.open(OpenRequest::Sample("hand".into()));
    h.settle();
    let late = autosaves.path_of(h.editor.document(), None);
    h.editor.open(OpenRequest::Autosave(restored.clone()));
    // Ready, but nobody has looked.
    let deadline = Instant::now() + Duration::from_mins(1);
    while h.editor.running().is_some() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(1));
    }
    h.editor.autosave_now();
    h.settle();
    assert_eq!(h.editor.model_name(), "sample arm");
    assert!(late.exists(), "the work on the model before is not lost");
    assert!(restored.exists());
    let stands = h.editor.latest_autosave().map(|(path, _)| path.to_owned());
    assert_eq!(stands, Some(restored.clone()));
    h.editor.discard_autosave();
    h.settle();
    assert!(late.exists() && !restored.exists());
}

#[test]
fn edits_made_while_a_model_loads_are_asked_about() {
    let mut h = EditorHarness::new();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    h.editor.open(OpenRequest::Sample("hand".into()));
    h.start_drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    h.editor.finish_tool();
    h.settle();
    assert_eq!(h.editor.model_name(), "sample arm", "the stroke stays");
    assert_eq!(h.editor.waiting_model().as_deref(), Some("the sample hand"));
    h.editor.give_up_waiting_model();
    h.settle();
    assert_eq!(
        (h.editor.model_name().as_str(), h.editor.history().n_undo()),
        ("sample arm", 1)
    );
    h.editor.open(OpenRequest::Sample("hand".into()));
    h.settle();
    assert_eq!(
        h.editor.model_name(),
        "sample hand",
        "nothing was edited since it was asked for"
    );
}

#[test]
fn a_save_in_the_middle_of_a_stroke_ends_it_as_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::new();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    h.start_drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    h.editor.save_as(&folder.path().join("arm"));
    assert!(!h.editor.is_painting());
    h.pointer(PointerKind::Drag, elbow - Vec2::new(0.05, 0.0), false);
    h.pointer(PointerKind::Release, elbow, false);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), 1);
    assert!(!h.editor.history().is_modified());
    assert!(
        folder.path().join("arm.ron").is_file(),
        "the ending is added"
    );
}

#[test]
fn a_project_whose_model_moved_is_relinked_and_an_autosave_is_never_saved_to() {
    let folder = tempfile::tempdir().unwrap();
    let (model, moved) = (
        folder.path().join("arm.glb"),
        folder.path().join("moved.glb"),
    );
    let arm = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    std::fs::copy(arm, &model).unwrap();
    let autosaves = Autosaves::in_folder(folder.path().join("autosave"));
    let mut h = EditorHarness {
        editor: Editor::new(Some(autosaves), || {}).unwrap(),
        notices: Vec::new(),
    };
    h.editor.open(OpenRequest::Path(model.clone()));
    h.settle();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    let project = folder.path().join("arm.ron");
    h.editor.save_as(&project);
    h.settle();
    h.drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    h.editor.autosave_now();
    let deadline = Instant::now() + Duration::from_mins(1);
    while h.editor.recoverable().is_empty() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    let autosave = h.editor.recoverable()[0].path.clone();
    std::fs::rename(&model, &moved).unwrap();
    for (request, is_autosave) in [
        (OpenRequest::Path(project.clone()), false),
        (OpenRequest::Autosave(autosave), true),
    ] {
        let mut other = EditorHarness::on(request);
        let relink = other
            .editor
            .relink()
            .cloned()
            .expect("the model is missing");
        assert_eq!(
            (relink.missing.file_name(), relink.is_autosave),
            (model.file_name(), is_autosave)
        );
        other.editor.open(OpenRequest::Relink {
            project: relink.project,
            model: moved.clone(),
            is_autosave,
        });
        other.settle();
        assert_eq!(other.editor.relink(), None);
        let saves_to = other.editor.project_path().unwrap().canonicalize().unwrap();
        assert_eq!(saves_to, project.canonicalize().unwrap());
        assert!(other.editor.history().is_modified());
        let rows = |h: &EditorHarness| {
            h.editor
                .document()
                .meshes()
                .values()
                .next()
                .unwrap()
                .influences
                .clone()
        };
        assert_eq!(
            rows(&other) == rows(&h),
            is_autosave,
            "the stroke is in the autosave only"
        );
    }
}

#[test]
fn the_model_itself_is_never_exported_over() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("arm.glb");
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb"),
        &model,
    )
    .unwrap();
    let before = std::fs::read(&model).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(model.clone()));
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    h.drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    h.editor.export_settings_mut().correction = Some(Correction::None);
    h.editor.save_export(&model);
    h.settle();
    assert!(
        h.last_notice().contains("is the model itself"),
        "{}",
        h.last_notice()
    );
    assert_eq!(std::fs::read(&model).unwrap(), before);
}

#[test]
fn an_autosave_that_was_not_wanted_does_not_take_the_next_one_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let autosaves = Autosaves::in_folder(folder.path().join("autosave"));
    let mut h = EditorHarness {
        editor: Editor::new(Some(autosaves), || {}).unwrap(),
        notices: Vec::new(),
    };
    h.editor.open(OpenRequest::Sample("arm".into()));
    h.settle();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let elbow = h.place_of(forearm);
    h.drag(elbow, elbow + Vec2::new(0.04, 0.0), false);
    // Something else keeps the lane busy, so that the autosave is cancelled before it begins.
    h.editor.measure_diagonal();
    h.editor.autosave_now();
    h.editor.discard_autosave();
    h.settle();
    h.editor.autosave_now();
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut polls_after = 0;
    while polls_after < 20 {
        h.editor.poll(0.0);
        polls_after += usize::from(!h.editor.recoverable().is_empty());
        assert!(Instant::now() < deadline, "the second autosave is gone");
        std::thread::sleep(Duration::from_millis(5));
    }
}
