//! Two windows at work on the same files: neither loses what the other one wrote.

use crate::cli::{asset, done, text};
use crate::editing::EditorHarness;
use glam::DQuat;
use sinew::document::Edit;
use sinew::editor::{Editor, OpenRequest};
use sinew::io::open_any;
use sinew::io::project::Autosaves;
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A folder with a copy of the arm and a project of it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::copy(asset("arm"), place.at("arm.glb")).unwrap();
        let (model, project) = (place.at("arm.glb"), place.at("arm.ron"));
        done(&[
            "weights",
            text(&model),
            "--smooth",
            "1",
            "--out",
            text(&project),
        ]);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn window(autosaves: Option<&Autosaves>, request: OpenRequest) -> EditorHarness {
    let mut window = EditorHarness {
        editor: Editor::new(autosaves.cloned(), || {}).unwrap(),
        notices: Vec::new(),
    };
    window.editor.open(request);
    window.settle();
    window
}

/// Changes the pose: one step.
fn edit(window: &mut EditorHarness, angle: f64) {
    let forearm = JointId(window.joint("forearm"));
    let mut local = window.editor.document().pose().locals[forearm.get()];
    local.rotation = DQuat::from_rotation_z(angle);
    let pose = Edit::Pose {
        joints: vec![forearm],
        locals: vec![local],
    };
    window.editor.apply(pose, "Rotate").unwrap();
    window.settle();
}

fn save(window: &mut EditorHarness, path: &Path) {
    window.editor.save_as(path);
    window.settle();
}

/// The number of autosaves that are offered once there are any: a lock is released when the window's worker has ended, and
/// a process that another test is starting may hold it for a moment.
fn offered(autosaves: &Autosaves) -> usize {
    let start = Instant::now();
    loop {
        let n = autosaves.recoverable().len();
        if n > 0 || start.elapsed() > Duration::from_secs(20) {
            return n;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_autosave_of_a_living_window_is_neither_offered_nor_deleted() {
    let place = Place::new();
    let document = open_any(&place.at("arm.glb"), &Task::new())
        .unwrap()
        .document;
    let folder = place.at("autosave");
    let (first, second) = (Autosaves::in_folder(&folder), Autosaves::in_folder(&folder));
    let path = first.save(&document, None, &Task::new()).unwrap();
    assert_eq!(first.recoverable().len(), 1);
    assert_eq!(second.recoverable(), []);
    let why = second.discard(&path).unwrap_err().to_string();
    assert!(
        why.contains("is the unsaved work of another window"),
        "{why}"
    );
    assert!(path.exists() && !second.claim(&path));
    // As after a crash: the system released the lock.
    drop(first);
    assert_eq!(offered(&second), 1);
    assert!(second.claim(&path));
    // What one window restores, a third does not.
    let third = Autosaves::in_folder(&folder);
    assert_eq!(third.recoverable(), []);
    let mut late = window(Some(&third), OpenRequest::Sample("hand".into()));
    late.editor.open(OpenRequest::Autosave(path.clone()));
    late.settle();
    assert_eq!(late.editor.model_name(), "sample hand");
    assert!(
        late.last_notice().contains("Another window"),
        "{}",
        late.last_notice()
    );
    second.discard(&path).unwrap();
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        0,
        "nor its lock"
    );
}

#[test]
fn a_restored_autosave_belongs_to_the_window_until_it_is_closed() {
    let place = Place::new();
    let folder = place.at("autosave");
    let crashed = Autosaves::in_folder(&folder);
    let document = open_any(&place.at("arm.glb"), &Task::new())
        .unwrap()
        .document;
    let path = crashed.save(&document, None, &Task::new()).unwrap();
    drop(crashed);
    let other = Autosaves::in_folder(&folder);
    let mine = Autosaves::in_folder(&folder);
    let restored = window(Some(&mine), OpenRequest::Autosave(path.clone()));
    assert_eq!(restored.editor.model_name(), "arm.glb");
    assert_eq!(other.recoverable(), []);
    drop(restored);
    drop(mine);
    assert_eq!(offered(&other), 1);
}

#[test]
fn an_autosave_that_cannot_be_opened_is_given_back() {
    let place = Place::new();
    let folder = place.at("autosave");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("broken.ron");
    std::fs::write(&path, "(").unwrap();
    let mine = Autosaves::in_folder(&folder);
    let opened = window(Some(&mine), OpenRequest::Autosave(path.clone()));
    assert!(opened.editor.latest_autosave().is_none());
    assert!(Autosaves::in_folder(&folder).claim(&path));
}

#[test]
fn a_save_over_what_another_window_saved_asks_first() {
    let place = Place::new();
    let project = place.at("arm.ron");
    let open = || window(None, OpenRequest::Path(project.clone()));
    let (mut first, mut second) = (open(), open());
    edit(&mut first, 0.3);
    edit(&mut second, 0.7);
    save(&mut first, &project);
    assert!(!first.editor.history().is_modified());
    let theirs = std::fs::read(&project).unwrap();
    save(&mut second, &project);
    let conflict = second.editor.save_conflict().cloned().expect("it asks");
    assert_eq!((&conflict.changed, conflict.is_model), (&project, false));
    assert!(second.editor.history().is_modified());
    assert_eq!(std::fs::read(&project).unwrap(), theirs);

    // Cancelled, it asks again; a copy replaces nothing.
    second.editor.give_up_conflict();
    save(&mut second, &project);
    assert!(second.editor.save_conflict().is_some());
    second.editor.give_up_conflict_for_copy();
    save(&mut second, &place.at("copy.ron"));
    assert_eq!(second.editor.save_conflict(), None);
    assert!(!second.editor.history().is_modified());
    assert_eq!(std::fs::read(&project).unwrap(), theirs);

    // The first window saves again without a question: the file is its own.
    edit(&mut first, 0.4);
    save(&mut first, &project);
    assert_eq!(first.editor.save_conflict(), None);

    // Overwrite does what it says.
    let mut third = open();
    edit(&mut first, 0.5);
    save(&mut first, &project);
    edit(&mut third, 0.9);
    save(&mut third, &project);
    third.editor.save_over_conflict();
    third.settle();
    assert!(!third.editor.history().is_modified());
    let again = open();
    assert_eq!(
        again.editor.document().pose().locals,
        third.editor.document().pose().locals
    );
}

#[test]
fn a_model_that_changed_on_disk_is_asked_about_once() {
    let place = Place::new();
    let (project, model) = (place.at("arm.ron"), place.at("arm.glb"));
    let mut h = window(None, OpenRequest::Path(project.clone()));
    edit(&mut h, 0.3);
    // The same content, written again, is no change.
    let bytes = std::fs::read(&model).unwrap();
    std::fs::write(&model, &bytes).unwrap();
    save(&mut h, &project);
    assert!(!h.editor.history().is_modified());
    edit(&mut h, 0.4);
    let before = std::fs::read(&project).unwrap();
    std::fs::copy(asset("hand"), &model).unwrap();
    save(&mut h, &project);
    let conflict = h.editor.save_conflict().cloned().expect("it asks");
    assert!(conflict.is_model && conflict.changed.ends_with("arm.glb"));
    assert_eq!(std::fs::read(&project).unwrap(), before);
    h.editor.save_over_conflict();
    h.settle();
    assert!(!h.editor.history().is_modified());
    edit(&mut h, 0.5);
    save(&mut h, &project);
    assert_eq!(h.editor.save_conflict(), None);
    // The model was not touched, and the next opening says that it is another one.
    assert_eq!(
        std::fs::read(&model).unwrap(),
        std::fs::read(asset("hand")).unwrap()
    );
    assert!(open_any(&project, &Task::new()).unwrap().source_changed);
}

#[test]
fn a_project_that_was_deleted_is_saved_again() {
    let place = Place::new();
    let project = place.at("arm.ron");
    let mut h = window(None, OpenRequest::Path(project.clone()));
    edit(&mut h, 0.3);
    std::fs::remove_file(&project).unwrap();
    save(&mut h, &project);
    assert!(project.is_file() && !h.editor.history().is_modified());
}

#[test]
fn the_next_save_removes_what_a_killed_one_left() {
    let place = Place::new();
    let left = place.at(".sinew-aB3xYz.tmp");
    std::fs::write(&left, "half a project").unwrap();
    let (model, project) = (place.at("arm.glb"), place.at("arm.ron"));
    done(&[
        "weights",
        text(&model),
        "--smooth",
        "1",
        "--out",
        text(&project),
    ]);
    assert!(!left.exists());
}

#[test]
fn a_failed_export_leaves_no_file_beside_the_model() {
    let place = Place::new();
    let (project, out) = (place.at("arm.ron"), place.at("new/deep/out.gltf"));
    // The last file of the export cannot be replaced.
    let taken = place.at("taken.gltf");
    std::fs::create_dir(&taken).unwrap();
    let why = crate::cli::fails(&["export", text(&project), "--out", text(&taken)], 1);
    assert!(why.contains("it is a folder"), "{why}");
    let names: Vec<_> = std::fs::read_dir(place.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["arm.glb", "arm.ron", "taken.gltf"].contains(&&**name))
        .collect();
    assert_eq!(names, [""; 0]);
    done(&["export", text(&project), "--out", text(&out)]);
    assert!(place.at("new/deep/out.bin").is_file());
}
