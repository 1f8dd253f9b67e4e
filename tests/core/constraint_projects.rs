//! Constraints of the source, of the artist and of bones that change in projects: what is saved opens again.

use crate::bake_sources::tube;
use crate::constraints::{constrain, copies};
use crate::gltf_builder::Gltf;
use crate::rig_operations::apply;
use glam::DVec3;
use serde_json::json;
use sinew::document::rig::{self, Keep, Reparent, WeightRecipient};
use sinew::document::{ClipId, ConstraintsEdit, Document, Edit, Source};
use sinew::finding::Finding;
use sinew::io::import_bytes;
use sinew::io::project::{self, apply_project, to_project};
use sinew::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use sinew::skeleton::{Clip, JointId, Property};
use sinew::task::Task;
use std::path::PathBuf;
use std::sync::Arc;

/// Five joints in a chain, 1 - 5, and a target, 6, beside them; each of `constraints` is of a node and of the kind given.
fn model(constraints: &[(usize, serde_json::Value)]) -> Document {
    let mut gltf: Gltf = tube(5);
    gltf.json["nodes"].as_array_mut().unwrap().push(json!({
        "name": "Target", "translation": [1.0, 1.5, 0.5]
    }));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1, 6]);
    for (node, constraint) in constraints {
        gltf.json["nodes"][node]["extensions"] = json!({"VRMC_node_constraint": {
            "specVersion": "1.0", "constraint": constraint
        }});
    }
    let mut parts = import_bytes(gltf.glb(), None, None, &Task::new())
        .unwrap()
        .parts;
    let source = Source::clone(parts.source.as_ref().unwrap());
    parts.source = Some(Arc::new(Source {
        path: Some(PathBuf::from("/models/chain.glb")),
        ..source
    }));
    Document::new(parts).unwrap()
}

fn text_of(document: &Document) -> String {
    project::to_text(&to_project(document, None).unwrap()).unwrap()
}

/// The project of `edited`, opened over the source.
fn reopened(source: &Document, edited: &Document) -> (Document, Vec<Finding>) {
    apply_project(source.clone(), project::parse(&text_of(edited)).unwrap()).unwrap()
}

fn assert_opens_again(source: &Document, edited: &Document) {
    let (opened, findings) = reopened(source, edited);
    assert_eq!(findings, []);
    assert_eq!(opened.skeleton(), edited.skeleton());
    assert_eq!(opened.constraints(), edited.constraints());
    assert!(opened.same_content(edited));
}

fn clear(document: &mut Document, joint: u32) {
    let edit = ConstraintsEdit {
        joint: JointId(joint),
        list: Vec::new(),
    };
    document.apply(&mut Edit::Constraints(edit)).unwrap();
}

fn remove(document: &mut Document, joint: u32) {
    let removal = rig::remove(document, JointId(joint), WeightRecipient::IntoParent).unwrap();
    apply(document, removal);
}

#[test]
fn removed_bones_take_their_constraints_of_the_model_with_them() {
    let copy = |source: u32| json!({"rotation": {"source": source}});
    // A bone with a constraint is removed.
    let source = model(&[(5, copy(2))]);
    let mut edited = source.clone();
    remove(&mut edited, 5);
    assert_opens_again(&source, &edited);
    // A constraint is deleted, then the bone that it followed.
    let source = model(&[(5, copy(3)), (4, copy(2))]);
    let mut edited = source.clone();
    clear(&mut edited, 5);
    remove(&mut edited, 3);
    assert_opens_again(&source, &edited);
    // A constraint is deleted, then the bone that it followed gets a parent that would close a circle.
    let source = model(&[(4, json!({"aim": {"source": 6, "aimAxis": "PositiveY"}}))]);
    let mut edited = source.clone();
    clear(&mut edited, 4);
    let request = Reparent {
        joint: JointId(6),
        parent: Some(JointId(4)),
        keep: Keep::Motion,
        nearest: false,
        tolerance: rig::KEY_TOLERANCE,
    };
    let edit = rig::reparent(&edited, &request).unwrap();
    apply(&mut edited, edit);
    assert_opens_again(&source, &edited);
    // The model has got a constraint that follows a bone which the project removes.
    let mut edited = model(&[]);
    remove(&mut edited, 3);
    let source = model(&[(5, copy(3))]);
    let (opened, findings) = reopened(&source, &edited);
    assert_eq!(opened.skeleton(), edited.skeleton());
    assert!(opened.constraints().is_empty());
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].message.contains("removed a bone that it needs"));
}

#[test]
fn lists_are_restored_in_any_order() {
    let source = model(&[(5, json!({"rotation": {"source": 3}}))]);
    let mut edited = source.clone();
    clear(&mut edited, 5);
    constrain(&mut edited, JointId(3), &[copies(JointId(5))]);
    assert_opens_again(&source, &edited);
    // A circle of the model stays, with what the artist added.
    let source = model(&[
        (3, json!({"rotation": {"source": 4}})),
        (4, json!({"rotation": {"source": 3}})),
    ]);
    let mut edited = source.clone();
    let limit = Rule::LimitAngles {
        ranges: [[-0.5, 0.5]; 3],
        order: EulerOrder::Xyz,
    };
    constrain(&mut edited, JointId(3), &[copies(JointId(4)), limit]);
    assert_opens_again(&source, &edited);
}

#[test]
fn a_constraint_that_does_not_fit_leaves_the_others() {
    let source = model(&[]);
    let mut edited = source.clone();
    let twist = Rule::TwistShare {
        source: JointId(2),
        axis: DVec3::Y,
        share: 0.375,
        centre: 0.0,
    };
    let rules = [
        copies(JointId(2)),
        twist,
        Rule::LimitAngles {
            ranges: [[-0.5, 0.5]; 3],
            order: EulerOrder::Xyz,
        },
    ];
    constrain(&mut edited, JointId(4), &rules);
    let text = text_of(&edited);
    for broken in ["7.0", "-inf", "NaN"] {
        let text = text.replacen("0.375", broken, 1);
        let project = project::parse(&text).unwrap();
        let (opened, findings) = apply_project(source.clone(), project).unwrap();
        let kept = [&rules[0], &rules[2]].map(|rule| Constraint::new(rule.clone()));
        assert_eq!(opened.constraints_of(JointId(4)), kept);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let message = &findings[0].message;
        assert_eq!(
            message,
            "“Twist Share” does not act: one of its numbers is out of its range. The project keeps it."
        );
        // In its place between the others.
        assert_eq!(text_of(&opened), text);
    }
}

/// The axes that a constraint copies, and those about which it is reversed.
#[test]
fn projects_keep_the_axes_of_copies() {
    let source = model(&[]);
    let mut edited = source.clone();
    let rotation = Rule::CopyRotation {
        source: JointId(2),
        space: Space::World,
        keeps_offset: false,
        axes: CopiedAxes {
            copied: [true, false, true],
            inverted: [false, false, true],
            order: EulerOrder::Yzx,
        },
    };
    let location = Rule::CopyLocation {
        source: JointId(2),
        keeps_offset: true,
        axes: [false, true, false],
        space: Space::Local,
    };
    let scale = Rule::CopyScale {
        source: JointId(2),
        axes: [true, true, false],
    };
    let limit = Rule::LimitAngles {
        ranges: [[-0.5, 0.5]; 3],
        order: EulerOrder::Zyx,
    };
    let rules = [rotation, location, scale, limit];
    constrain(&mut edited, JointId(4), &rules);
    assert_opens_again(&source, &edited);
    // Without them, as Sinew wrote before, they are those that it had: XYZ, and the axes of the world.
    let mut text = text_of(&edited);
    for entry in [", order: Yzx", ", order: Zyx", ", local: true"] {
        assert!(text.contains(entry), "{text}");
        text = text.replace(entry, "");
    }
    let project = project::parse(&text).unwrap();
    let (older, findings) = apply_project(source.clone(), project).unwrap();
    assert_eq!(findings, []);
    let of = |rule: &Rule| match rule {
        Rule::CopyRotation { axes, .. } => axes.order == EulerOrder::Xyz,
        Rule::CopyLocation { space, .. } => *space == Space::World,
        Rule::LimitAngles { order, .. } => *order == EulerOrder::Xyz,
        _ => true,
    };
    let list = older.constraints_of(JointId(4));
    assert!(list.len() == 4 && list.iter().all(|c| of(&c.rule)));
    // Older versions of the format do not have them.
    let older = text_of(&edited).replacen("version: 11", "version: 10", 1);
    let said = project::parse(&older).unwrap_err().to_string();
    assert!(said.contains("\"axes\""), "{said}");
}

#[test]
fn projects_keep_the_keyframes_of_influences() {
    let source = model(&[]);
    let mut edited = source.clone();
    constrain(&mut edited, JointId(4), &[copies(JointId(2))]);
    let number = edited.free_influence_number(JointId(4));
    assert_eq!(number, Some(1));
    let list = vec![Constraint {
        keyed_as: number,
        ..Constraint::new(copies(JointId(2)))
    }];
    let edit = edited.constraints_edit(JointId(4), list).unwrap();
    edited.apply(&mut Edit::Constraints(edit)).unwrap();
    let mut clip = Clip::named("Follow");
    for (time, value) in [(0.0, 0.0), (0.5, 1.0)] {
        clip.set_key(JointId(4), Property::Influence(1), time, &[value], 0.0);
    }
    let clip = Some(Arc::new(clip));
    let id = ClipId(0);
    edited.apply(&mut Edit::Clip { id, clip }).unwrap();
    assert_eq!(edited.free_influence_number(JointId(4)), Some(2));
    assert_opens_again(&source, &edited);
    // Older versions of the format do not have them.
    let older = text_of(&edited).replacen("version: 11", "version: 10", 1);
    let older = older.replacen("keyed_as: 1", "muted: false", 1);
    let said = project::parse(&older).unwrap_err().to_string();
    assert!(said.contains("property \"Influence\""), "{said}");
}

/// A project opened on a model without a bone, saved, and opened on the model with it has all constraints again.
#[test]
fn constraints_come_back_with_their_bone() {
    let source = model(&[]);
    let mut edited = source.clone();
    let rules = [
        copies(JointId(5)),
        Rule::LimitAngles {
            ranges: [[-0.5, 0.5]; 3],
            order: EulerOrder::Xyz,
        },
    ];
    constrain(&mut edited, JointId(4), &rules);
    constrain(&mut edited, JointId(5), &rules[1..]);
    let text = text_of(&edited);
    let elsewhere = text
        .replace("(5, \"Joint 4\")", "(55, \"Gone\")")
        .replace("joint: 5,", "joint: 55,")
        .replace("name: \"Joint 4\"", "name: \"Gone\"");
    assert_ne!(elsewhere, text);
    let project = project::parse(&elsewhere).unwrap();
    let (opened, findings) = apply_project(source, project).unwrap();
    assert_eq!(opened.constraints().len(), 1);
    assert_eq!(opened.constraints_of(JointId(4)).len(), 1);
    assert!(!findings.is_empty());
    assert_eq!(text_of(&opened), elsewhere);
}

/// Where the node of a bone is another bone's in a changed model, that one does not get the constraints, and no constraint
/// follows it: they wait in the project, among the problems, until they are deleted.
#[test]
fn another_bone_with_the_number_gets_no_constraints() {
    let source = model(&[]);
    let mut edited = source.clone();
    let limit = Rule::LimitAngles {
        ranges: [[-0.5, 0.5]; 3],
        order: EulerOrder::Xyz,
    };
    constrain(&mut edited, JointId(4), &[copies(JointId(5))]);
    constrain(&mut edited, JointId(5), &[limit]);
    // As if node 5 had been called Finger when the project was saved.
    let text = text_of(&edited)
        .replace("(5, \"Joint 4\")", "(5, \"Finger\")")
        .replace("name: \"Joint 4\"", "name: \"Finger\"");
    let project = project::parse(&text).unwrap();
    let (mut opened, findings) = apply_project(source.clone(), project).unwrap();
    assert!(opened.constraints().is_empty());
    let said: Vec<_> = findings.iter().map(|f| f.message.as_str()).collect();
    let why = "the model has no bone “Finger” (number 5 is “Joint 4” now)";
    assert_eq!(
        said,
        [
            format!("“Copy Rotation” does not act: {why}. The project keeps it."),
            format!("“Limit Rotation” does not act: {why}. The project keeps it."),
        ]
    );
    assert_eq!(text_of(&opened), text);
    // Its own constraints do not mix with those that wait.
    constrain(&mut opened, JointId(5), &[copies(JointId(2))]);
    let both = text_of(&opened);
    let (again, _) = apply_project(source, project::parse(&both).unwrap()).unwrap();
    assert!(again.same_content(&opened));
    assert_eq!(again.constraints_of(JointId(5)).len(), 1);
    assert_eq!(text_of(&again), both);
    // Deleted and taken back.
    let before = opened.clone();
    let left = opened.unplaced_constraints()[1..].to_vec();
    let mut edit = Edit::UnplacedConstraints(Arc::new(left));
    opened.apply(&mut edit).unwrap();
    let left = opened.unplaced_constraints();
    assert_eq!((left.len(), left[0].rule), (1, "Limit Rotation"));
    assert!(!text_of(&opened).contains("CopyRotation(source: (5"));
    opened.apply(&mut edit).unwrap();
    assert!(opened.same_content(&before));
}
