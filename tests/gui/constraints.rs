//! Constraints in the bone's Properties: added from the menu, changed, muted, reordered, removed and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Role};
use egui_kittest::kittest::Queryable as _;
use sinew::skeleton::JointId;
use sinew::skeleton::constraint::Rule;

/// The mannequin with a bone selected that has two bones above it.
fn selected() -> (Window, JointId) {
    let mut window = Window::on("mannequin.glb");
    let document = window.document();
    let skeleton = document.skeleton().clone();
    let is_bone = document.skin_joint_mask();
    let is_deep = |j: &JointId| is_bone[j.get()] && skeleton.ancestors(*j).count() > 3;
    let joint = skeleton.live_joints().find(is_deep).expect("a limb");
    window.select(joint);
    (window, joint)
}

fn add(window: &mut Window, kind: &str) {
    window.click(Role::Button, "Add constraint");
    window.click(Role::MenuItem, kind);
}

fn labels(window: &Window, joint: JointId) -> Vec<&'static str> {
    let list = window.document().constraints_of(joint).iter();
    list.map(|constraint| constraint.rule.label()).collect()
}

#[test]
fn constraints_are_added_changed_and_removed() {
    let (mut window, joint) = selected();
    let before = window.document().clone();
    add(&mut window, "Copy rotation");
    assert_eq!(labels(&window, joint), ["Copy rotation"]);
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Add constraint")
    );
    add(&mut window, "Limit rotation");
    assert_eq!(labels(&window, joint), ["Copy rotation", "Limit rotation"]);
    window.picture("constraints");

    window.click(Role::Button, "Move up Limit rotation");
    assert_eq!(labels(&window, joint), ["Limit rotation", "Copy rotation"]);
    window.click(Role::Button, "Mute Copy rotation");
    assert!(window.document().constraints_of(joint)[1].is_muted);
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Mute constraint")
    );
    window.click(Role::Button, "Unmute Copy rotation");
    window.click(Role::CheckBox, "World space");
    let rule = &window.document().constraints_of(joint)[1].rule;
    assert!(matches!(
        rule,
        Rule::CopyRotation {
            space: sinew::skeleton::constraint::Space::World,
            ..
        }
    ));

    // Another source by the drop-down.
    let other = {
        let skeleton = window.document().skeleton();
        let parent = skeleton.joint(joint).parent;
        skeleton.label(parent.expect("a parent"))
    };
    window.click(Role::ComboBox, "Source");
    let options = window.harness.get_all_by_label(&other);
    let option = options.into_iter().find(|n| {
        [Role::Button, Role::ListBoxOption, Role::RadioButton].contains(&n.accesskit_node().role())
    });
    option.expect("the parent in the list").click();
    window.harness.step();
    window.settle();
    let source = window.document().constraints_of(joint)[1]
        .rule
        .sources()
        .next();
    assert_eq!(source, window.document().skeleton().joint(joint).parent);

    window.click(Role::Button, "Remove Limit rotation");
    window.click(Role::Button, "Remove Copy rotation");
    assert!(labels(&window, joint).is_empty());
    let n = window.editor().history().n_undo();
    assert_eq!(n, 9);
    for _ in 0..n {
        window.key(CTRL, Key::Z);
    }
    assert!(window.document().same_content(&before));
}

#[test]
fn a_circle_is_refused_in_words() {
    let (mut window, joint) = selected();
    add(&mut window, "Copy rotation");
    let list = window.document().constraints_of(joint).to_vec();
    let source = list[0].rule.sources().next().expect("a source");
    window
        .harness
        .state_mut()
        .editor_mut()
        .select_joint(Some(source));
    window.settle();
    window.harness.state_mut().editor_mut().add_constraint(
        source,
        sinew::editor::constraints::ConstraintKind::CopyRotation,
    );
    // It follows another bone than the one that would close a circle.
    let followed = window.document().constraints_of(source)[0]
        .rule
        .sources()
        .next();
    assert_ne!(followed, Some(joint));
    window.harness.state_mut().editor_mut().change_constraint(
        source,
        0,
        "Change source of constraint",
        |constraint| constraint.rule = constraint.rule.clone().following(joint),
    );
    window.settle();
    assert!(window.says("follow each other in a circle"), "a toast");
    let now = window.document().constraints_of(source)[0]
        .rule
        .sources()
        .next();
    assert_eq!(now, followed);
}
