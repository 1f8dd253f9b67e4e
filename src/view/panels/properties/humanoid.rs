//! The humanoid map: which bone is which of a human body, how that is known, and the choices by hand.

use crate::editor::Editor;
use crate::motion::roles::{HumanBone, HumanFound, Humanoid};
use crate::skeleton::JointId;
use crate::view::theme::{self, Palette};
use egui::{
    Button, CollapsingHeader, Color32, ComboBox, Context, Grid, Id, RichText, Role, Ui, WidgetInfo,
};
use egui_material_icons::{MaterialIcon, icons};

/// Width of the labels, points.
const LABEL: f32 = 104.0;
/// Width reserved for the button beside a bone, points.
const BUTTON: f32 = 26.0;

/// What a row asks for.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    /// Finds the bone by names and structure again.
    Found,
    /// The body has no such bone.
    None,
    /// This joint is the bone.
    Is(JointId),
}

fn wants_open() -> Id {
    Id::unique("open the humanoid map")
}

/// Opens the section when it is drawn next.
pub fn open_humanoid(ctx: &Context) {
    ctx.data_mut(|data| data.insert_temp(wants_open(), true));
}

/// Draws the section, folded at first; its title says how many of the required bones are known.
pub(super) fn humanoid_section_ui(ui: &mut Ui, editor: &mut Editor) {
    if !editor.document().bone_mask().contains(&true) {
        return;
    }
    let map = editor.humanoid();
    let title = format!(
        "Humanoid ({} of {})",
        map.n_required(),
        HumanBone::N_REQUIRED
    );
    let opens: Option<bool> = ui.data_mut(|data| data.remove_temp(wants_open()));
    let header = CollapsingHeader::new(RichText::new(title).heading())
        .id_salt("Humanoid")
        .default_open(false)
        .open(opens)
        .show_unindented(ui, |ui| map_ui(ui, editor, &map));
    let about =
        "Which bone is which of a human body: motions, twist bones and live motion go by it.";
    header.header_response.on_hover_text(about);
}

fn map_ui(ui: &mut Ui, editor: &mut Editor, map: &Humanoid) {
    let dim = theme::palette(ui).text_dim;
    ui.label(format!("{}.", map.summary()));
    let missing: Vec<String> = map
        .missing()
        .map(|bone| bone.label().to_lowercase())
        .collect();
    if !missing.is_empty() && map.n_required() > 0 {
        let text = format!("Missing: {}.", missing.join(", "));
        ui.label(RichText::new(text).color(dim));
    }
    let mut asked = None;
    let body = HumanBone::all().filter(|bone| !bone.is_finger());
    let body: Vec<HumanBone> = body.collect();
    asked = asked.or(rows_ui(ui, editor, map, &body, "humanoid"));
    let fingers: Vec<HumanBone> = HumanBone::all().filter(|bone| bone.is_finger()).collect();
    let n = fingers.iter().filter(|&&bone| map.joint(bone).is_some());
    let title = format!("Fingers ({} of {})", n.count(), fingers.len());
    CollapsingHeader::new(title)
        .id_salt("humanoid fingers")
        .default_open(false)
        .show_unindented(ui, |ui| {
            asked = asked.or(rows_ui(ui, editor, map, &fingers, "humanoid fingers"));
        });
    if !editor.document().human_map().is_empty() {
        let button = ui.button("Find all again");
        let about = "Discard the bones chosen by hand.";
        if button.on_hover_text(about).clicked() {
            editor.find_human_bones();
        }
    }
    match asked {
        Some((bone, Choice::Found)) => editor.find_human_bone(bone),
        Some((bone, Choice::None)) => editor.set_human_bone(bone, None),
        Some((bone, Choice::Is(joint))) => editor.set_human_bone(bone, Some(joint)),
        None => {}
    }
}

/// Draws a row for each of `bones`. Returns a new choice.
fn rows_ui(
    ui: &mut Ui,
    editor: &Editor,
    map: &Humanoid,
    bones: &[HumanBone],
    id: &str,
) -> Option<(HumanBone, Choice)> {
    let mut asked = None;
    let width = (ui.available_width() - LABEL - BUTTON - 40.0).max(72.0);
    Grid::new(id)
        .num_columns(4)
        .spacing([6.0, 2.0])
        .show(ui, |ui| {
            for &bone in bones {
                let choice = row_ui(ui, editor, map, bone, width);
                asked = asked.or(choice.map(|choice| (bone, choice)));
                ui.end_row();
            }
        });
    asked
}

fn row_ui(
    ui: &mut Ui,
    editor: &Editor,
    map: &Humanoid,
    bone: HumanBone,
    width: f32,
) -> Option<Choice> {
    let palette = theme::palette(ui);
    let document = editor.document();
    let skeleton = document.skeleton();
    let label = bone.label();
    let found = map.found(bone);
    let (icon, colour, about) = mark(found, bone, palette);
    let response = ui.label(icon.rich_text().size(14.0).color(colour));
    response
        .on_hover_text(about)
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{label}. {about}")));
    let colour = if bone.is_required() {
        palette.text
    } else {
        palette.text_dim
    };
    ui.scope(|ui| {
        ui.set_width(LABEL);
        let name = RichText::new(&label).color(colour);
        ui.add(egui::Label::new(name).truncate())
            .on_hover_text(format!("{} in VRM.", bone.name()));
    });
    let joint = map.joint(bone).map(|joint| JointId(joint as u32));
    let joint = joint.filter(|&joint| skeleton.is_live(joint));
    let shown = joint.map_or_else(|| "None".to_owned(), |joint| skeleton.label(joint));
    let mut choice = None;
    let combo = ComboBox::from_id_salt(("humanoid bone", bone.name()))
        .width(width)
        .truncate()
        .selected_text(shown)
        .show_ui(ui, |ui| {
            if found == HumanFound::Hand {
                let again = ui.selectable_label(false, "Find again");
                if again
                    .on_hover_text("Match by names and structure again.")
                    .clicked()
                {
                    choice = Some(Choice::Found);
                }
            }
            if ui.selectable_label(joint.is_none(), "None").clicked() {
                choice = Some(Choice::None);
            }
            let is_bone = document.bone_mask();
            for other in skeleton.live_joints().filter(|j| is_bone[j.get()]) {
                let is_chosen = joint == Some(other);
                if ui
                    .selectable_label(is_chosen, skeleton.label(other))
                    .clicked()
                {
                    choice = Some(Choice::Is(other));
                }
            }
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
    let active = document.session().active_joint;
    let active = active.filter(|&active| Some(active) != joint && skeleton.is_live(active));
    let button = Button::new(icons::ICON_COLORIZE.rich_text().size(14.0)).frame(false);
    let button = ui.add_enabled(active.is_some(), button);
    let name = format!("Use the active bone as {}", label.to_lowercase());
    button.widget_info(|| WidgetInfo::labeled(Role::Button, active.is_some(), &name));
    let button = button.on_disabled_hover_text("Select another bone first.");
    let about = active.map_or_else(
        || name.clone(),
        |active| format!("{name}: {}.", skeleton.label(active)),
    );
    if button.on_hover_text(about).clicked() {
        choice = active.map(Choice::Is);
    }
    let is_same = choice == joint.map(Choice::Is) && found == HumanFound::Hand;
    choice.filter(|_| !is_same)
}

/// The icon, its colour and what it means.
fn mark(
    found: HumanFound,
    bone: HumanBone,
    palette: &Palette,
) -> (MaterialIcon, Color32, &'static str) {
    match found {
        HumanFound::Name => (icons::ICON_CHECK, palette.y, "Found by its name."),
        HumanFound::Structure => (
            icons::ICON_ACCOUNT_TREE,
            palette.accent,
            "Found by the shape of the skeleton: check it.",
        ),
        HumanFound::File => (
            icons::ICON_DESCRIPTION,
            palette.y,
            "From the humanoid map of the file (VRM).",
        ),
        HumanFound::Hand => (icons::ICON_EDIT, palette.text, "Chosen by hand."),
        HumanFound::Empty if bone.is_required() => (
            icons::ICON_WARNING,
            palette.error,
            "Not found, but a human body needs it. Choose the bone.",
        ),
        HumanFound::Empty => (icons::ICON_REMOVE, palette.text_dim, "Not found."),
    }
}
