//! Mappings of bones in the headless editor: chains by hand, saved, loaded and remembered.

use crate::editing::EditorHarness;
use crate::shared::shared_dir;
use sinew::editor::OpenRequest;
use sinew::io::mapping_file::{RememberedMappings, read_mapping};
use sinew::motion::roles::ChainNames;
use std::path::Path;

const WALKER: &str = "tests/data/walker.bvh";

fn chain(names: &[&str], root: bool) -> ChainNames {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    ChainNames {
        motion: names.clone(),
        character: names,
        root,
    }
}

#[test]
fn a_quadruped_is_mapped_by_chains_that_are_saved_loaded_and_remembered() {
    let Some(shared) = shared_dir("a quadruped in the editor") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let fox = shared.join("models/fox/fox.glb");
    let open = || {
        let mut h = EditorHarness::on(OpenRequest::Path(fox.clone()));
        let kept = RememberedMappings::in_folder(Some(folder.path().join("mappings")));
        h.editor.remember_mappings(kept);
        h.editor.add_motion(&fox);
        h.settle();
        h
    };
    let mut h = open();
    let motion = h.editor.adding_motion().unwrap();
    let why = motion.failure().unwrap();
    assert!(why.contains("map l.thigh"), "{why}");
    let n_clips = h.editor.document().clips().len();

    let mut settings = motion.settings().clone();
    settings.by_hand.chains = vec![
        chain(&["b_Hip_01"], true),
        chain(&["b_Spine01_02", "b_Head_05"], false),
        // Not chosen yet.
        chain(&["", ""], false),
    ];
    h.editor.set_motion_settings(settings.clone());
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.failure(), None);
    let said = motion.result().unwrap().lines().join("\n");
    assert!(said.contains("Only chains"), "{said}");
    assert_eq!(h.editor.document().clips().len(), n_clips + 1);
    // Another clip of the same skeleton keeps them.
    h.editor.choose_motion(1);
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.settings().by_hand, settings.by_hand);
    assert!(motion.clip().is_some());

    let path = folder.path().join("fox.ron");
    h.editor.save_mapping(&path);
    let saved = read_mapping(&path).unwrap();
    assert_eq!(saved.chains[..], settings.by_hand.chains[..2]);
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.document().clips().len(), n_clips);
    h.check();

    // The next motion of this skeleton has them at once.
    let mut h = open();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.settings().by_hand, settings.by_hand);
    assert!(motion.clip().is_some());
    h.editor.load_mapping(&path);
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.settings().by_hand, saved);
    // What is none is a sentence.
    h.editor.load_mapping(Path::new(WALKER));
    h.settle();
    let motion = h.editor.adding_motion().unwrap();
    assert_eq!(motion.settings().by_hand, saved);
}

#[test]
fn a_mapping_holds_what_was_matched() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()));
    h.editor.add_motion(Path::new(WALKER));
    h.settle();
    let path = folder.path().join("walker.ron");
    h.editor.save_mapping(&path);
    let saved = read_mapping(&path).unwrap();
    assert_eq!(saved.roles["hips"].0, "Hips");
    assert_eq!(saved.spine.unwrap().0, ["Spine", "Chest"]);
    assert!(saved.roles.len() >= 19 && saved.chains.is_empty());
}
