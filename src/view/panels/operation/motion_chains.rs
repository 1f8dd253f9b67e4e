//! Chains of bones that are chosen by hand, and the twist of bones.

use super::rows::{about_ui, row_ui};
use crate::editor::motions::{BonePair, FoundHow, PairOf};
use crate::motion::roles::{ChainNames, Part, RoleMap};
use crate::view::panels::bone_list::{bone_combo, bone_list_ui};
use egui::{CollapsingHeader, DragValue, Role, Ui, WidgetInfo};

/// Width of a drop-down of bones, points.
const BONE: f32 = 106.0;
/// A bone that is not chosen yet.
const CHOOSE: &str = "Choose…";
/// What chains are for.
const ABOUT: &str = "For quadrupeds, tails and hand rigs: bones of the motion move bones of the character, from a base outward. Choose the first and the last bone of each, or all bones of a rig where they are not parented to each other.";

/// Draws the chains; changes, adds and removes them. names: of the bones of the motion and of the character.
pub(super) fn chains_ui(ui: &mut Ui, map: &mut RoleMap, names: &[Vec<String>; 2], is_open: bool) {
    let n = map.chains.len();
    CollapsingHeader::new(format!("Chains ({n})"))
        .id_salt("motion chains")
        .default_open(n > 0 || is_open)
        .show_unindented(ui, |ui| {
            about_ui(ui, ABOUT);
            let (mut removed, mut root) = (None, None);
            for (index, chain) in map.chains.iter_mut().enumerate() {
                ui.separator();
                let name = format!("Chain {}", index + 1);
                ui.horizontal(|ui| {
                    ui.label(&name);
                    let mut is_root = chain.root;
                    let about = "All chains follow its first bone, which has the root motion.";
                    let response = ui.checkbox(&mut is_root, "Root").on_hover_text(about);
                    response.widget_info(|| {
                        let label = format!("{name}: Root");
                        WidgetInfo::selected(Role::CheckBox, true, is_root, label)
                    });
                    if is_root != chain.root {
                        root = Some((index, is_root));
                    }
                    let remove = ui.button("Remove").on_hover_text("Remove this chain.");
                    remove.widget_info(|| {
                        WidgetInfo::labeled(Role::Button, true, format!("Remove {name}"))
                    });
                    if remove.clicked() {
                        removed = Some(index);
                    }
                });
                for (side, whose) in ["Motion", "Character"].into_iter().enumerate() {
                    let bones = match side {
                        0 => &mut chain.motion,
                        _ => &mut chain.character,
                    };
                    side_ui(ui, (&name, index), (whose, side), bones, &names[side]);
                }
            }
            if let Some((index, is_root)) = root {
                for (other, chain) in map.chains.iter_mut().enumerate() {
                    chain.root = is_root && other == index;
                }
            }
            if let Some(index) = removed {
                map.chains.remove(index);
            }
            let add = ui.button("Add chain");
            if add
                .on_hover_text("Add a chain of bones, to be chosen.")
                .clicked()
            {
                let bones = || vec![String::new(), String::new()];
                map.chains.push(ChainNames {
                    motion: bones(),
                    character: bones(),
                    root: false,
                });
            }
        });
}

/// Draws the bones of one side of a chain.
fn side_ui(
    ui: &mut Ui,
    (chain, index): (&str, usize),
    (whose, side): (&str, usize),
    bones: &mut Vec<String>,
    names: &[String],
) {
    let about = format!(
        "Bones of the {}, from the base outward.",
        whose.to_lowercase()
    );
    row_ui(ui, whose, &about, |ui| {
        ui.vertical(|ui| {
            for (k, bone) in bones.iter_mut().enumerate() {
                let shown = if bone.is_empty() {
                    CHOOSE
                } else {
                    bone.as_str()
                };
                let combo = bone_combo(("chain bone", index, side, k))
                    .width(BONE)
                    .truncate()
                    .selected_text(shown)
                    .show_ui(ui, |ui| {
                        let none = std::iter::once((String::new(), "None".to_owned()));
                        let names = names.iter().map(|name| (name.clone(), name.clone()));
                        bone_list_ui(ui, bone, none.chain(names));
                    });
                let label = format!("{chain}: bone {} of the {}", k + 1, whose.to_lowercase());
                combo
                    .response
                    .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
            }
            let add = ui.small_button("Add bone");
            add.widget_info(|| {
                let label = format!("{chain}: add bone of the {}", whose.to_lowercase());
                WidgetInfo::labeled(Role::Button, true, label)
            });
            if add.on_hover_text("Add a bone at the end.").clicked() {
                bones.push(String::new());
            }
        });
    });
}

/// Draws the twist of the bones that are matched.
pub(super) fn twists_ui(
    ui: &mut Ui,
    map: &mut RoleMap,
    pairs: &[BonePair],
    label: impl Fn(&PairOf) -> String,
) {
    let title = match map.twists.len() {
        0 => "Twist".to_owned(),
        n => format!("Twist ({n})"),
    };
    CollapsingHeader::new(title)
        .id_salt("motion twists")
        .show_unindented(ui, |ui| {
            about_ui(
                ui,
                "Twists a bone of the character about its axis, if its roll is wrong.",
            );
            for pair in pairs.iter().filter(|p| p.found != FoundHow::Missing) {
                if !matches!(pair.of, PairOf::Part(role) if role.part != Part::Hips) {
                    continue;
                }
                let (key, name) = (pair.of.label(), label(&pair.of));
                row_ui(
                    ui,
                    &name,
                    "The rotation about the axis of the bone.",
                    |ui| {
                        let mut degrees = map.twists.get(&key).copied().unwrap_or(0.0);
                        let field = DragValue::new(&mut degrees)
                            .range(-180.0..=180.0)
                            .speed(0.5)
                            .max_decimals(2)
                            .update_while_editing(false)
                            .suffix("°");
                        let response = ui.add(field);
                        response.widget_info(|| {
                            WidgetInfo::labeled(Role::SpinButton, true, format!("Twist of {name}"))
                        });
                        if degrees == 0.0 {
                            map.twists.remove(&key);
                        } else {
                            map.twists.insert(key, degrees);
                        }
                    },
                );
            }
        });
}
