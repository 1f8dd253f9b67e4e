//! The humanoid map: what is found on real characters, the file's own map, the bones set by hand, and who goes by them.

use crate::cli::asset;
use crate::editing::EditorHarness;
use crate::retarget::json_of;
use crate::rig_bind::with_json;
use crate::rig_draw::assert_comes_back;
use crate::shared::shared_dir;
use serde_json::json;
use sinew::document::{Document, Edit, History, HumanMap};
use sinew::editor::OpenRequest;
use sinew::motion::retarget::{MotionSettings, RoleSearch};
use sinew::motion::roles::{HumanBone, HumanFound, Part, Side};
use sinew::rig::{Character, Operation};
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::sync::Arc;

pub(crate) fn bone(name: &str) -> HumanBone {
    HumanBone::of_name(name).unwrap_or_else(|| panic!("{name}"))
}

fn open(path: &std::path::Path) -> Document {
    sinew::io::open_any(path, &Task::new()).unwrap().document
}

fn mannequin() -> Document {
    open(asset("mannequin").as_ref())
}

fn named(document: &Document, wanted: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints
        .find(|&j| skeleton.joint(j).name == wanted)
        .unwrap_or_else(|| panic!("{wanted}"))
}

fn found(document: &Document, name: &str) -> (Option<String>, HumanFound) {
    let map = document.humanoid();
    let joint = map.joint(bone(name)).map(|joint| JointId(joint as u32));
    let label = joint.map(|joint| document.skeleton().label(joint));
    (label, map.found(bone(name)))
}

fn set(document: &mut Document, name: &str, joint: Option<JointId>) {
    let mut map = HumanMap::clone(document.human_map());
    map.insert(bone(name), joint);
    document.apply(&mut Edit::Humanoid(Arc::new(map))).unwrap();
}

#[test]
fn people_are_found_by_name_or_structure_and_animals_are_not() {
    let Some(shared) = shared_dir("people_are_found_by_name_or_structure_and_animals_are_not")
    else {
        return;
    };
    let model = |name: &str| open(&shared.join(format!("models/{name}/{name}.glb")));
    for (name, summary, how) in [
        (
            "mannequiny",
            "Human: 15 of 15 required bones",
            HumanFound::Name,
        ),
        (
            "kaykit_knight",
            "Human: 15 of 15 required bones",
            HumanFound::Name,
        ),
        (
            "cesium_man",
            "Human: 15 of 15 required bones",
            HumanFound::Structure,
        ),
    ] {
        let document = model(name);
        let map = document.humanoid();
        assert_eq!(map.summary(), summary, "{name}");
        for bone in HumanBone::all().filter(|bone| bone.is_required()) {
            assert_eq!(map.found(bone), how, "{name} {}", bone.name());
        }
        // Each joint is one bone.
        let mut joints: Vec<usize> = HumanBone::all().filter_map(|b| map.joint(b)).collect();
        let n = joints.len();
        joints.sort_unstable();
        joints.dedup();
        assert_eq!(joints.len(), n, "{name}");
    }
    for name in ["fox", "greenman"] {
        let map = model(name).humanoid();
        assert!(map.n_required() < 15, "{name}: {}", map.summary());
    }
    // 45 bones with the fingers (METHODS-rigging 6).
    let map = model("mannequiny").humanoid();
    let n = HumanBone::all().filter(|&b| map.joint(b).is_some()).count();
    let fingers = HumanBone::all().filter(|b| b.is_finger() && map.joint(*b).is_some());
    println!("mannequiny: {n} bones, {} of fingers", fingers.count());
    assert!(n >= 45, "{n}");
}

#[test]
fn bones_set_by_hand_come_first_and_are_one_edit() {
    let mut document = mannequin();
    let before = document.clone();
    let (hand, how) = found(&document, "leftHand");
    let hand = hand.unwrap();
    assert_eq!(how, HumanFound::Name);
    let other = document.roles().get(Part::Hand, Side::Right).unwrap();
    let other = JointId(other as u32);
    let mut history = History::default();
    let map: HumanMap = [(bone("leftHand"), Some(other)), (bone("neck"), None)].into();
    history
        .apply(&mut document, Edit::Humanoid(Arc::new(map)), "Set")
        .unwrap();
    let label = document.skeleton().label(other);
    assert_eq!(
        found(&document, "leftHand"),
        (Some(label), HumanFound::Hand)
    );
    assert_eq!(found(&document, "rightHand"), (None, HumanFound::Empty));
    assert_eq!(found(&document, "neck"), (None, HumanFound::Hand));
    assert_eq!(
        document.roles().get(Part::Hand, Side::Left),
        Some(other.get())
    );
    let after = document.clone();
    assert!(!after.same_content(&before));
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));
    assert_eq!(found(&document, "leftHand").0, Some(hand));
    history.redo(&mut document).unwrap();
    assert!(document.same_content(&after));
    // A joint that is not there.
    let wrong: HumanMap = [(bone("head"), Some(JointId(999)))].into();
    let mut edit = Edit::Humanoid(Arc::new(wrong));
    assert!(document.apply(&mut edit).is_err());
    assert!(document.same_content(&after));
}

#[test]
fn motions_and_twist_bones_go_by_the_bones_set_by_hand() {
    let mut document = mannequin();
    let character = Character::of(&document);
    let settings = MotionSettings::default();
    let source = character.rig.clone();
    let roles = |document: &Document, settings: &MotionSettings| {
        let character = Character::of(document);
        character.roles(&source, settings).unwrap()[1].clone()
    };
    let shin = roles(&document, &settings)
        .get(Part::Shin, Side::Left)
        .unwrap();
    let foot = roles(&document, &settings)
        .get(Part::Foot, Side::Left)
        .unwrap();
    set(&mut document, "leftLowerLeg", Some(JointId(foot as u32)));
    for search in [RoleSearch::Auto, RoleSearch::Names] {
        let settings = MotionSettings {
            search,
            ..MotionSettings::default()
        };
        let found = roles(&document, &settings);
        assert_eq!(found.get(Part::Shin, Side::Left), Some(foot));
        assert_eq!(found.get(Part::Foot, Side::Left), None);
    }
    set(&mut document, "leftLowerLeg", Some(JointId(shin as u32)));
    assert_eq!(
        roles(&document, &settings).get(Part::Foot, Side::Left),
        Some(foot)
    );
    // The twist of an upper arm is its own; that of other bones is their child's.
    let arm = document.roles().get(Part::Upperarm, Side::Left).unwrap();
    let joint = JointId(arm as u32);
    let twist = |document: &Document| {
        let done = Operation::Twist { joint, n: 2 }.run(document, &Task::new());
        done.unwrap().notes.join(" ")
    };
    assert!(twist(&document).contains("take back"));
    set(&mut document, "leftUpperArm", None);
    assert!(!twist(&document).contains("take back"));
}

#[test]
fn the_map_of_a_vrm_file_is_the_map() {
    let folder = tempfile::tempdir().unwrap();
    let glb = std::fs::read(asset("mannequin")).unwrap();
    let document = mannequin();
    let map = document.humanoid();
    let node = |name: &str| {
        let joint = map.joint(bone(name)).unwrap();
        document
            .skeleton()
            .joint(JointId(joint as u32))
            .source_node
            .unwrap()
    };
    // The sides swapped, so that it is seen whose map it is.
    let required = HumanBone::all().filter(|bone| bone.is_required());
    let other = |name: &str| match name.strip_prefix("left") {
        Some(rest) => format!("right{rest}"),
        None => name.replace("right", "left"),
    };
    let required: Vec<String> = required.map(HumanBone::name).collect();
    let path = folder.path().join("body.glb");
    let mut json = json_of(&glb);
    let bones: serde_json::Map<String, serde_json::Value> = required
        .iter()
        .map(|name| (name.clone(), json!({ "node": node(&other(name)) })))
        .collect();
    json["extensions"]["VRMC_vrm"] = json!({
        "specVersion": "1.0", "humanoid": { "humanBones": bones }
    });
    json["extensionsUsed"] = json!(["VRMC_vrm"]);
    std::fs::write(&path, with_json(&glb, &json)).unwrap();
    let read = open(&path);
    let left = found(&document, "leftHand").0;
    assert_eq!(found(&read, "rightHand"), (left.clone(), HumanFound::File));
    assert_eq!(found(&read, "neck").1, HumanFound::Empty);
    assert_eq!(read.humanoid().summary(), "Human: 15 of 15 required bones");
    // By hand comes before the file.
    let mut edited = read.clone();
    set(
        &mut edited,
        "neck",
        Some(named(&document, &found(&document, "neck").0.unwrap())),
    );
    assert_eq!(found(&edited, "neck").1, HumanFound::Hand);
    assert_eq!(found(&edited, "rightHand").1, HumanFound::File);
    // VRM 0 lists its bones.
    let bones: Vec<serde_json::Value> = required
        .iter()
        .map(|name| json!({ "bone": name, "node": node(&other(name)) }))
        .collect();
    json["extensions"] = json!({ "VRM": { "humanoid": { "humanBones": bones } } });
    json["extensionsUsed"] = json!(["VRM"]);
    std::fs::write(&path, with_json(&glb, &json)).unwrap();
    assert_eq!(found(&open(&path), "rightHand"), (left, HumanFound::File));
}

#[test]
fn the_bones_set_by_hand_are_saved_and_edited_in_steps() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    let before = h.editor.document().clone();
    let toes = h.editor.humanoid().joint(bone("leftToes"));
    let foot = JointId(h.editor.humanoid().joint(bone("leftFoot")).unwrap() as u32);
    h.editor.set_human_bone(bone("leftToes"), Some(foot));
    h.editor.set_human_bone(bone("head"), None);
    assert_eq!(h.editor.history().n_undo(), 2);
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Leave out head of humanoid")
    );
    assert_eq!(
        h.editor.humanoid().joint(bone("leftToes")),
        Some(foot.get())
    );
    assert_eq!(h.editor.humanoid().joint(bone("leftFoot")), None);
    // The same again is no step.
    h.editor.set_human_bone(bone("head"), None);
    assert_eq!(h.editor.history().n_undo(), 2);
    let edited = h.editor.document().clone();
    let file = folder.path().join("human.ron");
    h.editor.save_as(&file);
    h.settle();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("leftToes") && text.contains("version: 11"));
    let mut again = EditorHarness::on(OpenRequest::Path(file.clone()));
    assert_comes_back(again.editor.document(), &edited);
    again.editor.find_human_bone(bone("leftToes"));
    assert_eq!(again.editor.humanoid().joint(bone("leftToes")), toes);
    again.editor.find_human_bones();
    assert!(again.editor.document().human_map().is_empty());
    again.editor.undo();
    again.editor.undo();
    assert_comes_back(again.editor.document(), &edited);
    h.editor.undo();
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));
    // A bone of another version of the model is skipped with a finding, and so is a name that VRM does not have.
    let strange = text.replace("leftToes", "leftTail");
    std::fs::write(&file, strange).unwrap();
    let opened = sinew::io::open_any(&file, &Task::new()).unwrap();
    assert_eq!(opened.document.human_map().len(), 1);
    assert!(
        opened
            .findings
            .iter()
            .any(|f| f.to_string().contains("leftTail"))
    );
}
