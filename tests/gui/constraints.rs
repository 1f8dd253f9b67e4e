//! Constraints in the bone's Properties: added from the menu, changed, muted, reordered, removed and taken back.

use crate::window::{CTRL, Window, is_menu_item};
use egui::{Key, Modifiers, PointerButton, Rect, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::DVec3;
use sinew::document::{Edit, UnplacedConstraint};
use sinew::editor::constraints::ConstraintKind;
use sinew::skeleton::JointId;
use sinew::skeleton::constraint::{EulerOrder, Rule, Space};
use sinew::view::panels::problems_title;
use std::sync::Arc;

/// The mannequin with a bone active that has three bones above it.
fn selected() -> (Window, JointId) {
    let mut window = Window::sized("mannequin.glb", [1400.0, 1400.0], 1.0);
    let document = window.document();
    let skeleton = document.skeleton().clone();
    let is_bone = document.skin_joint_mask();
    let is_deep = |j: &JointId| is_bone[j.get()] && skeleton.ancestors(*j).count() > 3;
    let joint = skeleton.live_joints().find(is_deep).expect("a limb");
    window.select(joint);
    (window, joint)
}

fn add(window: &mut Window, kind: ConstraintKind) {
    show(window, Role::Button, "Add constraint");
    window.click(Role::Button, "Add constraint");
    window.click(Role::MenuItem, kind.label());
}

/// Where a widget is, scrolled into sight.
fn show(window: &mut Window, role: Role, label: &str) -> Rect {
    window
        .harness
        .get_by_role_and_label(role, label)
        .scroll_to_me();
    window.harness.step();
    window.settle();
    window.harness.get_by_role_and_label(role, label).rect()
}

/// Clicks a button, scrolled into sight.
fn press(window: &mut Window, label: &str) {
    show(window, Role::Button, label);
    window.click(Role::Button, label);
}

fn labels(window: &Window, joint: JointId) -> Vec<&'static str> {
    let list = window.document().constraints_of(joint).iter();
    list.map(|constraint| constraint.rule.label()).collect()
}

fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.expect("a step").to_owned()
}

/// Chooses an entry of a drop-down.
fn choose(window: &mut Window, drop_down: &str, entry: &str) {
    show(window, Role::ComboBox, drop_down);
    window.click(Role::ComboBox, drop_down);
    let options = window.harness.get_all_by_label(entry);
    let option = options.into_iter().find(|n| {
        let role = n.accesskit_node().role();
        is_menu_item(role) || [Role::Button, Role::ListBoxOption, Role::RadioButton].contains(&role)
    });
    option.expect("an entry").click();
    window.harness.step();
    window.settle();
}

#[test]
fn constraints_are_added_changed_and_removed() {
    let (mut window, joint) = selected();
    let before = window.document().clone();
    let bone = window.document().skeleton().label(joint);
    add(&mut window, ConstraintKind::CopyRotation);
    assert_eq!(labels(&window, joint), ["Copy Rotation"]);
    assert_eq!(undo_label(&window), format!("Add Copy Rotation to {bone}"));
    // No second bone was selected: it waits for its target.
    assert!(window.document().constraints_of(joint)[0].is_muted);
    assert!(window.says("choose its target"), "a toast");
    add(&mut window, ConstraintKind::LimitRotation);
    assert_eq!(labels(&window, joint), ["Copy Rotation", "Limit Rotation"]);
    assert!(!window.document().constraints_of(joint)[1].is_muted);
    show(&mut window, Role::Button, "Add constraint");
    window.picture("constraints");

    press(&mut window, "Move up Limit Rotation");
    assert_eq!(labels(&window, joint), ["Limit Rotation", "Copy Rotation"]);

    // An open drop-down keeps its keys.
    show(&mut window, Role::ComboBox, "Target of Copy Rotation");
    window.click(Role::ComboBox, "Target of Copy Rotation");
    let n_steps = window.editor().history().n_undo();
    for key in [Key::I, Key::G, Key::X] {
        window.key(Modifiers::NONE, key);
    }
    assert!(window.editor().transforming().is_none());
    assert_eq!(window.editor().history().n_undo(), n_steps);
    window.key(Modifiers::NONE, Key::Escape);

    // Its filter has the focus; Enter chooses the first entry that it leaves.
    show(&mut window, Role::ComboBox, "Target of Copy Rotation");
    window.click(Role::ComboBox, "Target of Copy Rotation");
    let foot = window.bones().into_iter().find(|&j| {
        let label = window.document().skeleton().label(j).to_lowercase();
        j != joint && label.contains("foot")
    });
    let foot = foot.expect("a foot");
    window.write("FOOT");
    window.key(Modifiers::NONE, Key::Enter);
    let of_first: Vec<JointId> = window.document().constraints_of(joint)[1]
        .rule
        .sources()
        .collect();
    assert_eq!(of_first, [foot]);
    window.key(CTRL, Key::Z);

    // Another target by the drop-down.
    let skeleton = window.document().skeleton().clone();
    let parent = skeleton.joint(joint).parent.expect("a parent");
    choose(
        &mut window,
        "Target of Copy Rotation",
        &skeleton.label(parent),
    );
    let sources = |window: &Window| -> Vec<JointId> {
        window.document().constraints_of(joint)[1]
            .rule
            .sources()
            .collect()
    };
    assert_eq!(sources(&window), [parent]);
    assert_eq!(
        undo_label(&window),
        format!("Change target of Copy Rotation of {bone}")
    );
    press(&mut window, "Unmute Copy Rotation");
    assert!(!window.document().constraints_of(joint)[1].is_muted);
    press(&mut window, "Mute Copy Rotation");
    assert!(window.document().constraints_of(joint)[1].is_muted);
    assert_eq!(undo_label(&window), format!("Mute Copy Rotation of {bone}"));
    press(&mut window, "Unmute Copy Rotation");

    // A drag is one step.
    let n = window.editor().history().n_undo();
    let slider = show(&mut window, Role::Slider, "Influence of Copy Rotation");
    let from = slider.left_center() + Vec2::new(0.7 * slider.width().min(100.0), 0.0);
    let by = Vec2::new(-30.0, 0.0);
    window.drag(PointerButton::Primary, Modifiers::NONE, from, by);
    let influence = window.document().constraints_of(joint)[1].influence;
    assert!(influence > 0.05 && influence < 0.95, "{influence}");
    assert_eq!(window.editor().history().n_undo(), n + 1);
    assert!(!window.editor().history().is_open());
    assert_eq!(
        undo_label(&window),
        format!("Change influence of Copy Rotation of {bone}")
    );

    show(&mut window, Role::CheckBox, "World space of Copy Rotation");
    window.click(Role::CheckBox, "World space of Copy Rotation");
    let rule = &window.document().constraints_of(joint)[1].rule;
    assert!(matches!(
        rule,
        Rule::CopyRotation {
            space: Space::World,
            ..
        }
    ));
    press(&mut window, "Remove Limit Rotation");
    press(&mut window, "Remove Copy Rotation");
    assert!(labels(&window, joint).is_empty());
    let n = window.editor().history().n_undo();
    assert_eq!(n, 11);
    for _ in 0..n {
        window.key(CTRL, Key::Z);
    }
    assert!(window.document().same_content(&before));
}

/// Every kind has its settings, whose names are unique also where a bone has two of a kind.
#[test]
fn every_kind_has_its_settings() {
    let (mut window, joint) = selected();
    let fields: [(ConstraintKind, &[(Role, &str)]); 9] = [
        (
            ConstraintKind::CopyRotation,
            &[
                (Role::CheckBox, "World space"),
                (Role::CheckBox, "Axis X"),
                (Role::CheckBox, "Invert Z"),
            ],
        ),
        (
            ConstraintKind::CopyLocation,
            &[(Role::CheckBox, "Keep offset"), (Role::CheckBox, "Axis Y")],
        ),
        (
            ConstraintKind::CopyScale,
            &[(Role::ComboBox, "Target"), (Role::CheckBox, "Axis Z")],
        ),
        (
            ConstraintKind::Aim,
            &[(Role::ComboBox, "Track axis"), (Role::ComboBox, "Up axis")],
        ),
        (
            ConstraintKind::TwistShare,
            &[
                (Role::ComboBox, "Axis"),
                (Role::SpinButton, "Factor"),
                (Role::SpinButton, "Centre angle"),
            ],
        ),
        (
            ConstraintKind::LimitRotation,
            &[
                (Role::SpinButton, "Min X"),
                (Role::SpinButton, "Max Z"),
                (Role::ComboBox, "Euler order"),
            ],
        ),
        (
            ConstraintKind::LimitSwing,
            &[
                (Role::SpinButton, "Min Twist"),
                (Role::SpinButton, "Max Twist"),
            ],
        ),
        (
            ConstraintKind::TwoBoneIk,
            &[
                (Role::ComboBox, "Pole target"),
                (Role::SpinButton, "Softness"),
            ],
        ),
        (
            ConstraintKind::ChainIk,
            &[(Role::SpinButton, "Chain length")],
        ),
    ];
    for (kind, fields) in fields {
        for name in [kind.label().to_owned(), format!("{} 2", kind.label())] {
            add(&mut window, kind);
            for (role, field) in fields {
                show(&mut window, *role, &format!("{field} of {name}"));
            }
        }
        if kind == ConstraintKind::LimitSwing || kind == ConstraintKind::TwoBoneIk {
            window.picture(&format!("constraints-{}", kind.label().replace(' ', "-")));
        }
        for index in [1, 0] {
            let editor = window.harness.state_mut().editor_mut();
            editor.remove_constraint(joint, index);
        }
        window.settle();
    }
}

#[test]
fn axes_and_up_are_chosen() {
    let (mut window, joint) = selected();
    add(&mut window, ConstraintKind::CopyRotation);
    for name in ["Axis X of Copy Rotation", "Invert Z of Copy Rotation"] {
        show(&mut window, Role::CheckBox, name);
        window.click(Role::CheckBox, name);
    }
    let rule = |window: &Window, i: usize| window.document().constraints_of(joint)[i].rule.clone();
    let Rule::CopyRotation { axes, .. } = rule(&window, 0) else {
        panic!("{:?}", rule(&window, 0))
    };
    assert_eq!(axes.copied, [false, true, true]);
    assert_eq!(axes.inverted, [false, false, true]);
    // Two axes are angles, in an order.
    choose(&mut window, "Euler order of Copy Rotation", "ZYX");
    let Rule::CopyRotation { axes, .. } = rule(&window, 0) else {
        panic!("{:?}", rule(&window, 0))
    };
    assert_eq!(axes.order, EulerOrder::Zyx);
    add(&mut window, ConstraintKind::CopyLocation);
    show(&mut window, Role::CheckBox, "Local axes of Copy Location");
    window.click(Role::CheckBox, "Local axes of Copy Location");
    let local = |rule: Rule| {
        matches!(
            rule,
            Rule::CopyLocation {
                space: Space::Local,
                ..
            }
        )
    };
    assert!(local(rule(&window, 1)));
    press(&mut window, "Remove Copy Location");
    add(&mut window, ConstraintKind::Aim);
    choose(&mut window, "Track axis of Damped Track", "-Y");
    choose(&mut window, "Up axis of Damped Track", "+Z");
    choose(&mut window, "Up direction of Track To", "+X");
    // Across the new axis it is another one.
    choose(&mut window, "Track axis of Track To", "+Z");
    window.picture("constraints-up");
    let Rule::Aim {
        axis, up: Some(up), ..
    } = rule(&window, 1)
    else {
        panic!("{:?}", rule(&window, 1))
    };
    assert_eq!((axis, up.direction), (DVec3::Z, DVec3::X));
    assert!(up.axis.dot(axis).abs() < 1e-12);
    choose(&mut window, "Up axis of Track To", "None");
    assert_eq!(labels(&window, joint), ["Copy Rotation", "Damped Track"]);
}

/// The button beside the influence inserts and deletes its keyframes.
#[test]
fn the_influence_is_keyed_beside_its_field() {
    let (mut window, joint) = selected();
    add(&mut window, ConstraintKind::LimitRotation);
    let before = window.document().clone();
    press(
        &mut window,
        "Insert keyframe of influence of Limit Rotation",
    );
    let bone = window.document().skeleton().label(joint);
    assert_eq!(
        undo_label(&window),
        format!("Insert keyframe for influence of Limit Rotation of {bone}")
    );
    let n_keyed = |window: &Window| {
        let clips = window.document().clips().values();
        clips.filter(|clip| clip.keys_influences()).count()
    };
    assert_eq!(n_keyed(&window), 1);
    show(&mut window, Role::Button, "Add constraint");
    window.picture("constraints-keyed");
    press(
        &mut window,
        "Delete keyframe of influence of Limit Rotation",
    );
    assert_eq!(n_keyed(&window), 0);
    for _ in 0..2 {
        window.key(CTRL, Key::Z);
    }
    assert!(window.document().same_content(&before));
}

#[test]
fn a_cycle_is_refused_in_words() {
    let (mut window, joint) = selected();
    let skeleton = window.document().skeleton().clone();
    let parent = skeleton.joint(joint).parent.expect("a parent");
    for (of, other) in [(joint, parent), (parent, joint)] {
        let editor = window.harness.state_mut().editor_mut();
        editor.select_joints([of, other], Some(of));
        editor.add_constraint(of, ConstraintKind::CopyRotation);
        window.settle();
    }
    assert!(window.says("dependency cycle"), "a toast");
    let document = window.document();
    assert_eq!(document.constraints_of(joint).len(), 1);
    assert!(document.constraints_of(parent).is_empty());
}

/// What the project keeps without a place in the model is listed in Properties and among the problems, and deleted in both.
#[test]
fn kept_constraints_are_listed_and_deleted() {
    let (mut window, _) = selected();
    let kept = |rule| UnplacedConstraint {
        rule,
        bone: "Gone".into(),
        joint: None,
        why: "the model has no bone “Gone”".into(),
        entry: "(joint:99,name:\"Gone\",position:0,constraint:(rule:CopyScale(source:(1,\"x\"))))"
            .into(),
    };
    let list = vec![kept("Copy Scale"), kept("Limit Rotation")];
    let edit = Edit::UnplacedConstraints(Arc::new(list));
    let editor = window.harness.state_mut().editor_mut();
    editor.apply(edit, "Keep").expect("it is kept");
    window.settle();
    show(&mut window, Role::Button, "Delete Limit Rotation of Gone");
    window.picture("constraints-kept");
    press(&mut window, "Delete Limit Rotation of Gone");
    assert_eq!(undo_label(&window), "Delete kept Limit Rotation of Gone");
    let rules = |window: &Window| -> Vec<&str> {
        let kept = window.document().unplaced_constraints().iter();
        kept.map(|kept| kept.rule).collect()
    };
    assert_eq!(rules(&window), ["Copy Scale"]);
    let title = problems_title(window.editor());
    window.click(Role::Tab, &title);
    assert!(window.says("“Copy Scale” does not act: the model has no bone “Gone”"));
    window.click(Role::Button, "Fix: Delete");
    assert!(rules(&window).is_empty());
    assert!(!window.says("“Copy Scale” does not act"));
    window.key(CTRL, Key::Z);
    assert_eq!(rules(&window), ["Copy Scale"]);
}
