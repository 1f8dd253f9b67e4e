//! Projects with joints that were added, removed, moved or hung elsewhere: what is saved opens bit for bit.

use crate::project::strip;
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use sinew::document::rig::{
    Children, Extrude, Insert, Intent, KEY_TOLERANCE, Keep, Move, Orient, Reparent, RigEdit,
    WeightRecipient, extrude, insert, move_joint, orient, remove, reparent,
};
use sinew::document::{ClipId, Document, Edit, MeshId, invariants};
use sinew::finding::{Finding, Severity};
use sinew::io::import_for_project;
use sinew::io::project::{ModelSource, ProjectError, apply_project, parse, to_project, to_text};
use sinew::math::Transform;
use sinew::skeleton::joint_limits::JointLimits;
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, JointRule, Property};
use sinew::task::Task;
use std::path::Path;
use std::sync::{Arc, LazyLock};

const NAMES: [&str; 3] = ["Hips", "Arm", "Hand"];

fn path() -> &'static Path {
    Path::new("/models/strip.gltf")
}

/// Always the same model, by identity too.
fn source() -> Document {
    static SOURCE: LazyLock<Document> = LazyLock::new(|| strip(60, &NAMES, path()));
    SOURCE.clone()
}

fn edit(document: &mut Document, mut edit: Edit) {
    document.apply(&mut edit).unwrap();
}

fn rig(document: &mut Document, change: RigEdit) {
    edit(document, Edit::Rig(Box::new(change)));
}

fn text_of(document: &Document) -> String {
    let project = Path::new("/models/strip.ron");
    to_text(&to_project(document, Some(project)).unwrap()).unwrap()
}

fn apply_text(source: &Document, text: &str) -> Result<(Document, Vec<Finding>), ProjectError> {
    apply_project(source.clone(), parse(text)?)
}

/// Saves `edited` and opens it over `source`: it is as it was, and saved again it is the same text.
fn assert_comes_back(source: &Document, edited: &Document, what: &str) -> String {
    let text = text_of(edited);
    let (opened, findings) = apply_text(source, &text).unwrap();
    assert_eq!(findings, [], "{what}");
    assert_eq!(opened.skeleton(), edited.skeleton(), "{what}");
    assert_eq!(opened.skins(), edited.skins(), "{what}");
    assert_eq!(opened.instances(), edited.instances(), "{what}");
    assert_eq!(opened.rest_pose(), edited.rest_pose(), "{what}");
    assert_eq!(opened.pose(), edited.pose(), "{what}");
    assert_eq!(opened.clips(), edited.clips(), "{what}");
    assert!(opened.same_content(edited), "{what}");
    assert_eq!(opened.session(), edited.session(), "{what}");
    assert_eq!(text_of(&opened), text, "{what}");
    text
}

fn extruded(document: &mut Document, parent: u32, name: &str) -> JointId {
    let wanted = Extrude {
        parent: Some(JointId(parent)),
        at: DVec3::new(0.25, 0.5, 0.0),
        name: name.into(),
    };
    let (change, joint) = extrude(document, &wanted).unwrap();
    rig(document, change);
    joint
}

/// Two joints between Arm and Hand, a third on Hand; Hand hangs from Hips; the first new joint is gone again.
fn rigged() -> (Document, [JointId; 3]) {
    let mut document = source();
    let wanted = Insert {
        joint: JointId(1),
        child: JointId(2),
        n: 2,
        half_width: None,
    };
    let (change, made) = insert(&document, &wanted).unwrap();
    rig(&mut document, change);
    let thumb = extruded(&mut document, 2, "Thumb");
    let wanted = Reparent {
        joint: JointId(2),
        parent: Some(JointId(0)),
        keep: Keep::Motion,
        nearest: false,
        tolerance: KEY_TOLERANCE,
    };
    let change = reparent(&document, &wanted).unwrap();
    rig(&mut document, change);
    let change = remove(&document, made[0], WeightRecipient::IntoParent).unwrap();
    rig(&mut document, change);
    (document, [made[0], made[1], thumb])
}

#[test]
fn new_and_removed_joints_come_back() {
    let (document, _) = rigged();
    let text = assert_comes_back(&source(), &document, "rigged");
    let expected = r#"
        (
            joint: "new 3",
            name: "Thumb",
            parent: Under(2, "Hand"),
            rest: (
                translation: (0.25, 0.5, 0.0),
            ),
        ),
    ],
    skins: ["#;
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("parent: Under(0, \"Hips\"),"), "{text}");
    assert!(text.contains("removed: true,"), "{text}");
}

#[test]
fn what_the_artist_makes_of_new_joints_comes_back() {
    let (mut document, [_, mid, thumb]) = rigged();
    let joint = thumb;
    let name = "Daumen".to_owned();
    edit(&mut document, Edit::JointName { joint, name });
    let name = "Wrist".to_owned();
    let joint = JointId(2);
    edit(&mut document, Edit::JointName { joint, name });
    let rule = JointRule {
        tail: Some(DVec3::new(0.0, 0.5, 0.25)),
        compensates_scale: true,
        inflation_parent: Some(JointId(0)),
        logical_parent: Some(JointId(2)),
        limits: Some(JointLimits([[-0.5, 1.25], [0.0; 2], JointLimits::FREE])),
    };
    let joint = thumb;
    edit(&mut document, Edit::JointRule { joint, rule });
    edit(&mut document, Edit::Locks(Arc::new([mid, thumb].into())));
    let posed = Transform {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8),
        ..document.pose().locals[thumb.get()]
    };
    let (joints, locals) = (vec![thumb], vec![posed]);
    edit(&mut document, Edit::Pose { joints, locals });
    let mesh = MeshId(0);
    let slot = document.skin_joint(mesh, thumb).unwrap();
    let rows = [vec![(slot, 0.75), (1, 0.25)]].into_iter().collect();
    edit(&mut document, Edit::influences(mesh, vec![7], rows));
    let clip = Clip {
        channels: vec![Channel {
            joint: thumb,
            property: Property::Rotation,
            interpolation: Interpolation::Linear,
            times: [0.0, 1.0].into(),
            values: [0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8].into(),
        }],
        ..Clip::named("Grip")
    };
    let (id, clip) = (ClipId(9), Some(Arc::new(clip)));
    edit(&mut document, Edit::Clip { id, clip });
    let session = document.session_mut();
    session.active_joint = Some(thumb);
    session.selected_joints = [JointId(0), thumb].into();
    session.pins = [mid].into();
    session.hidden_joints = [mid].into();
    session.joint_colours = [(thumb, [1, 2, 3])].into();
    session.joint_pairs = [(thumb, JointId(2)), (JointId(2), thumb)].into();
    let text = assert_comes_back(&source(), &document, "edited");
    assert!(text.contains("(5, \"new 3\", \"Daumen\")"), "{text}");
    assert!(
        text.contains("active_joint: (\"new 3\", \"Daumen\"),"),
        "{text}"
    );
}

#[test]
fn every_operation_comes_back() {
    let joint = JointId(1);
    let moved = |intent, children| {
        let source = source();
        let wanted = Move {
            joint,
            by: DVec3::new(0.1, -0.2, 0.05),
            intent,
            children,
            tolerance: KEY_TOLERANCE,
        };
        move_joint(&source, &wanted).unwrap()
    };
    let turned = Orient {
        joints: vec![joint, JointId(2)],
        aim: sinew::document::rig::Axis::X,
        second: sinew::document::rig::Axis::Y,
        towards: sinew::document::rig::SecondAxis::BendNormal,
        roll: 0.3,
        leaves_stay: false,
    };
    let changes = [
        ("pivot", moved(Intent::NewPivot, Children::Stay)),
        ("follow", moved(Intent::NewPivot, Children::Follow)),
        ("motion", moved(Intent::KeepMotion, Children::Stay)),
        (
            "children",
            moved(Intent::ChildrenKeepMotion, Children::Stay),
        ),
        ("orient", orient(&source(), &turned).unwrap()),
        (
            "remove",
            remove(&source(), joint, WeightRecipient::AlongBone).unwrap(),
        ),
        (
            "remove the root",
            remove(&source(), JointId(0), WeightRecipient::IntoParent).unwrap(),
        ),
        (
            "remove the leaf",
            remove(&source(), JointId(2), WeightRecipient::IntoParent).unwrap(),
        ),
    ];
    for (what, change) in changes {
        // The edit belongs to its own source: geometry is compared by identity.
        let source = source();
        let mut document = source.clone();
        rig(&mut document, change);
        let text = text_of(&document);
        let (opened, findings) = apply_text(&source, &text).unwrap();
        assert_eq!(findings, [], "{what}");
        assert!(opened.same_content(&document), "{what}");
        assert_eq!(text_of(&opened), text, "{what}");
    }
}

/// Joints are named by nodes and names, not by slots: a source that gained a node keeps the edits.
#[test]
fn new_joints_follow_their_parents_in_a_changed_source() {
    let (document, _) = rigged();
    let other = strip(60, &["Hips", "Twist", "Arm", "Hand"], path());
    let (opened, findings) = apply_text(&other, &text_of(&document)).unwrap();
    assert!(
        findings
            .iter()
            .all(|f| f.message.contains("moved with it") || f.message.contains("is now called")),
        "{findings:?}"
    );
    let skeleton = opened.skeleton();
    let find = |name: &str| {
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.joint(j).name == name).unwrap()
    };
    let parent = |name: &str| skeleton.joint(find(name)).parent;
    assert_eq!(parent("Thumb"), Some(find("Hand")));
    assert_eq!(parent("Hand"), Some(find("Hips")));
    assert_eq!(skeleton.len(), 7);
    let (_, skin) = opened.skin_of_mesh(MeshId(0)).unwrap();
    assert!(skin.joints.contains(&find("Thumb")));
}

/// The new vertices of a longer model follow a bone that the project removed: the bone above it gets their weights.
#[test]
fn weights_that_a_changed_model_gives_removed_joints_pass_on() {
    let mut document = source();
    let arm = JointId(1);
    let change = remove(&document, arm, WeightRecipient::IntoParent).unwrap();
    rig(&mut document, change);
    let longer = strip(90, &NAMES, path());
    let (opened, findings) = apply_text(&longer, &text_of(&document)).unwrap();
    let said = "to bones that the project removed; the bones above them have the weights now.";
    assert!(
        findings.iter().any(|f| f.message.contains(said)),
        "{findings:?}"
    );
    let broken = invariants::check(&opened);
    let mut broken = broken.iter().filter(|f| f.severity == Severity::Error);
    assert_eq!(broken.next(), None);
    let before = &longer.meshes()[&MeshId(0)].influences;
    let after = &opened.meshes()[&MeshId(0)].influences;
    let (mut n_passed, mut total) = (0, 0.0);
    for (was, now) in before.iter().zip(after.iter()) {
        assert_eq!(now.weight_of(1), 0.0);
        assert_eq!(now.weight_of(0), was.weight_of(0) + was.weight_of(1));
        n_passed += usize::from(was.weight_of(1) > 0.0);
        total += was.weight_of(1);
    }
    assert!(n_passed > 40 && total > 20.0, "{n_passed} {total}");
}

#[test]
fn broken_joints_are_findings() {
    let (document, _) = rigged();
    let text = text_of(&document);
    for (from, to, expected) in [
        // Two joints that hang from each other.
        (
            "parent: Under(0, \"Hips\")",
            "parent: Under(\"new 3\", \"Thumb\")",
            "The changes of the bones are skipped: ",
        ),
        (
            "translation: (0.25, 0.5, 0.0)",
            "translation: (inf, 0.5, 0.0)",
            "It has a value that is not a finite number and is skipped.",
        ),
        (
            "joint: \"new 3\",\n            name: \"Thumb\",\n            parent",
            "joint: \"new 2\",\n            name: \"Thumb\",\n            parent",
            "It is listed twice; only one entry is used.",
        ),
        (
            "parent: Under(2, \"Hand\")",
            "parent: Under(99, \"Gone\")",
            "The model no longer has it",
        ),
    ] {
        let broken = text.replace(from, to);
        assert_ne!(broken, text, "{from}");
        let (opened, findings) = apply_text(&source(), &broken).unwrap();
        assert!(
            findings.iter().any(|f| f.message.contains(expected)),
            "no {expected:?} in {findings:?}"
        );
        let errors = invariants::check(&opened);
        let mut errors = errors.iter().filter(|f| f.severity == Severity::Error);
        assert_eq!(errors.next(), None, "{from}");
    }
}

/// The shared models and the samples, each with every kind of change at once.
#[test]
fn edited_joints_of_models_come_back() {
    let mut models = vec![ModelSource::Sample("mannequin"), ModelSource::Sample("arm")];
    let mut files = Vec::new();
    if let Some(shared) = shared_dir("edited_joints_of_models_come_back") {
        for folder in std::fs::read_dir(shared.join("models")).unwrap() {
            let folder = std::fs::read_dir(folder.unwrap().path())
                .into_iter()
                .flatten();
            let paths = folder.map(|entry| entry.unwrap().path());
            files.extend(paths.filter(|path| {
                let ending = path.extension().and_then(|e| e.to_str());
                matches!(ending, Some("glb" | "gltf"))
            }));
        }
    }
    files.sort();
    models.extend(files.iter().map(|path| ModelSource::File(path)));
    let mut n_edited = 0;
    for model in models {
        let Ok((source, _)) = import_for_project(model, &Task::new()) else {
            continue;
        };
        let what = format!("{model:?}");
        let mut document = source.clone();
        let Some(skin) = source.skins().values().next().cloned() else {
            continue;
        };
        let skeleton = source.skeleton();
        let bone = skin.joints.iter().find_map(|&joint| {
            let child = *skeleton.children(joint).first()?;
            skin.joints.contains(&child).then_some((joint, child))
        });
        let Some((joint, child)) = bone else {
            continue;
        };
        let wanted = Insert {
            joint,
            child,
            n: 3,
            half_width: None,
        };
        if let Ok((change, made)) = insert(&document, &wanted) {
            rig(&mut document, change);
            if let Ok(change) = remove(&document, made[1], WeightRecipient::AlongBone) {
                rig(&mut document, change);
            }
        }
        extruded(&mut document, child.0, "");
        if let Ok(change) = remove(&document, child, WeightRecipient::IntoParent) {
            rig(&mut document, change);
        }
        let wanted = Move {
            joint,
            by: DVec3::new(0.01, 0.02, -0.03),
            intent: Intent::NewPivot,
            children: Children::Stay,
            tolerance: KEY_TOLERANCE,
        };
        if let Ok(change) = move_joint(&document, &wanted) {
            rig(&mut document, change);
        }
        assert_comes_back(&source, &document, &what);
        n_edited += 1;
    }
    assert!(n_edited >= 2);
    assert!(files.is_empty() || n_edited >= 8, "{n_edited}");
}
