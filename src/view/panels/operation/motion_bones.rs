//! Which bone of a motion moves which bone of the character.

use super::motion_chains::{chains_ui, twists_ui};
use super::rows::{about_ui, combo_ui, row_ui};
use crate::editor::Editor;
use crate::editor::motions::{BonePair, FoundHow, MappingFile, PairOf};
use crate::motion::retarget::RoleSearch;
use crate::motion::roles::{Part, Role as BodyRole, Side};
use crate::view::panels::bone_list::{bone_combo, bone_list_ui};
use crate::view::theme;
use egui::{CollapsingHeader, Color32, Grid, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Width of a drop-down of bones, points.
const BONE: f32 = 122.0;
/// The choice without a bone.
const NONE: &str = "None";

/// Draws the way bones are matched, and the table of the pairs.
pub(super) fn bones_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adding) = editor.adding_motion() else {
        return;
    };
    let mut settings = adding.settings().clone();
    let about = "How the bones of both skeletons are recognised: Automatic goes by the names, and by the shape of the skeleton where the names are not known.";
    row_ui(ui, "Match bones", about, |ui| {
        let options = [
            (RoleSearch::Auto, "Automatic".to_owned(), true),
            (RoleSearch::Names, "By name".to_owned(), true),
            (RoleSearch::Structure, "By structure".to_owned(), true),
        ];
        combo_ui(ui, "Match bones", &mut settings.search, &options);
    });
    let (pairs, spines, names) = (adding.pairs(), adding.spines(), adding.bone_names());
    let fingers = adding.finger_pairs();
    let has_failed = adding.failure().is_some();
    if pairs.is_empty() {
        return editor.set_motion_settings(settings);
    }
    let has_chains = !settings.by_hand.chains.is_empty();
    let n_missing = pairs.iter().filter(|pair| is_needed(pair)).count();
    let n_matched = pairs
        .iter()
        .filter(|p| p.found != FoundHow::Missing)
        .count();
    let title = match n_missing {
        0 => format!("Bones ({n_matched} matched)"),
        n => format!("Bones ({n_matched} matched, {n} missing)"),
    };
    let (mut chosen, mut is_reset) = (None, false);
    CollapsingHeader::new(title)
        .id_salt("motion bones")
        .default_open(n_missing > 0 && !has_chains)
        .show_unindented(ui, |ui| {
            about_ui(ui, "Choose the bones of a part where the match is wrong.");
            chosen = pairs_ui(ui, "motion bones", &pairs, &names);
            let n_fingers = fingers
                .iter()
                .filter(|pair| pair.found != FoundHow::Missing)
                .count();
            CollapsingHeader::new(format!("Fingers ({n_fingers} matched)"))
                .id_salt("motion fingers")
                .show_unindented(ui, |ui| {
                    let of_finger = pairs_ui(ui, "motion fingers", &fingers, &names);
                    chosen = chosen.take().or(of_finger);
                });
            let joined = |names: &[String]| match names {
                [] => NONE.to_owned(),
                names => names.join(", "),
            };
            let [ours, theirs] = &spines;
            about_ui(
                ui,
                &format!("Spine: {} to {}.", joined(ours), joined(theirs)),
            );
            let mut all = pairs.iter().chain(&fingers);
            if all.any(|pair| pair.found == FoundHow::Hand) {
                let reset = ui.button("Reset matches");
                if reset
                    .on_hover_text("Discard the bones chosen by hand.")
                    .clicked()
                {
                    is_reset = true;
                }
            }
        });
    chains_ui(ui, &mut settings.by_hand, &names, has_failed);
    let label = |of: &PairOf| match of {
        PairOf::Part(role) => part_label(*role),
        PairOf::Finger(finger) => finger.title(),
    };
    twists_ui(ui, &mut settings.by_hand, &pairs, label);
    ui.horizontal(|ui| {
        let save = ui.button("Save mapping…");
        let about =
            "Write which bones move which, by name, to a file for other motions and characters.";
        if save.on_hover_text(about).clicked() {
            editor.ask_for_mapping_file(MappingFile::Save);
        }
        let load = ui.button("Load mapping…");
        if load
            .on_hover_text("Match bones by a mapping that was saved.")
            .clicked()
        {
            editor.ask_for_mapping_file(MappingFile::Load);
        }
    });
    if is_reset {
        return editor.reset_pairs();
    }
    editor.set_motion_settings(settings);
    if let Some((of, bones)) = chosen {
        editor.pair_bones(of, bones);
    }
}

/// Draws the rows of pairs. Returns a new choice.
fn pairs_ui(
    ui: &mut Ui,
    id: &str,
    pairs: &[BonePair],
    names: &[Vec<String>; 2],
) -> Option<(PairOf, [String; 2])> {
    let mut chosen = None;
    let grid = Grid::new(id).num_columns(4).spacing([6.0, 2.0]);
    grid.show(ui, |ui| {
        for title in ["", "Part", "Motion", "Character"] {
            ui.label(RichText::new(title).color(theme::palette(ui).text_dim));
        }
        ui.end_row();
        for pair in pairs {
            if let Some(bones) = pair_ui(ui, pair, names) {
                chosen = Some((pair.of, bones));
            }
            ui.end_row();
        }
    });
    chosen
}

/// Whether a pair is missing that a body needs.
fn is_needed(pair: &BonePair) -> bool {
    let PairOf::Part(role) = pair.of else {
        return false;
    };
    let is_optional = matches!(
        role.part,
        Part::Neck | Part::Head | Part::Clavicle | Part::Toe | Part::Hand | Part::Forearm
    );
    pair.found == FoundHow::Missing && !is_optional
}

/// The row of a part: how it was matched, its name, and a drop-down for each of its bones. Returns a new choice.
fn pair_ui(ui: &mut Ui, pair: &BonePair, names: &[Vec<String>; 2]) -> Option<[String; 2]> {
    let palette = theme::palette(ui);
    let (icon, colour, about): (_, Color32, _) = match pair.found {
        FoundHow::Hand => (icons::ICON_EDIT, palette.text, "Chosen by hand."),
        FoundHow::Names => (icons::ICON_CHECK, palette.y, "Matched by name."),
        FoundHow::Structure => (
            icons::ICON_ACCOUNT_TREE,
            palette.accent,
            "Matched by the shape of the skeleton: check it.",
        ),
        FoundHow::Missing => (
            icons::ICON_WARNING,
            palette.error,
            "Not matched: this part of the character does not follow the motion.",
        ),
    };
    let label = match pair.of {
        PairOf::Part(role) => part_label(role),
        PairOf::Finger(finger) => finger.title(),
    };
    let mark = ui.label(icon.rich_text().size(14.0).color(colour));
    mark.on_hover_text(about)
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{label}. {about}")));
    ui.label(&label);
    let mut bones = pair.bones.clone().map(Option::unwrap_or_default);
    let before = bones.clone();
    for (side, whose) in ["motion", "character"].into_iter().enumerate() {
        let bone = &mut bones[side];
        let shown = if bone.is_empty() { NONE } else { bone.as_str() };
        let combo = bone_combo(("motion bone", pair.of.label(), side))
            .width(BONE)
            .truncate()
            .selected_text(shown)
            .show_ui(ui, |ui| {
                let none = std::iter::once((String::new(), NONE.to_owned()));
                let names = names[side].iter().map(|name| (name.clone(), name.clone()));
                bone_list_ui(ui, bone, none.chain(names));
            });
        let about = format!("{label}: bone of the {whose}");
        combo
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &about));
    }
    (bones != before).then_some(bones)
}

/// The name of a part for artists.
fn part_label(role: BodyRole) -> String {
    let part = match role.part {
        Part::Hips => "Hips",
        Part::Neck => "Neck",
        Part::Head => "Head",
        Part::Clavicle => "Shoulder",
        Part::Upperarm => "Upper arm",
        Part::Forearm => "Forearm",
        Part::Hand => "Hand",
        Part::Thigh => "Thigh",
        Part::Shin => "Shin",
        Part::Foot => "Foot",
        Part::Toe => "Toe",
    };
    match role.side {
        Side::Middle => part.to_owned(),
        Side::Left => format!("{part} L"),
        Side::Right => format!("{part} R"),
    }
}
