//! The symmetry pairs of bones: found by name, editable where names fail.

use super::rows::about_ui;
use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::view::theme;
use crate::weights::JointPairs;
use egui::{CollapsingHeader, ComboBox, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Draws the table of pairs, unmatched bones first.
pub(super) fn pairs_ui(ui: &mut Ui, editor: &mut Editor) {
    let document = editor.document();
    let skeleton = document.skeleton();
    let own = &document.session().joint_pairs;
    let pairs = JointPairs::new(skeleton, own);
    let is_bone = document.bone_mask();
    let bones: Vec<JointId> = skeleton
        .live_joints()
        .filter(|j| is_bone[j.get()])
        .collect();
    let mut rows: Vec<(JointId, Option<JointId>)> =
        bones.iter().map(|&j| (j, pairs.partner(j))).collect();
    let n_unmatched = rows.iter().filter(|row| row.1.is_none()).count();
    // Each pair is listed once.
    rows.retain(|&(j, partner)| partner.is_none_or(|p| p >= j));
    rows.sort_by_key(|&(j, partner)| (partner.is_some(), j));
    let title = match n_unmatched {
        0 => "Symmetry pairs".to_owned(),
        n => format!("Symmetry pairs ({n} unmatched)"),
    };
    let mut chosen = None;
    CollapsingHeader::new(title)
        .id_salt("pairs")
        .show_unindented(ui, |ui| {
            about_ui(
                ui,
                "Pairs are found by name. Set a pair where names do not match.",
            );
            let palette = theme::palette(ui);
            for &(joint, partner) in &rows {
                ui.horizontal(|ui| {
                    if partner.is_none() {
                        ui.label(
                            icons::ICON_WARNING
                                .rich_text()
                                .size(14.0)
                                .color(palette.accent),
                        )
                        .on_hover_text("No matching bone on the other side.");
                    }
                    let name = skeleton.label(joint);
                    let label =
                        ui.add_sized([104.0, theme::ROW], egui::Label::new(&name).truncate());
                    let text = match partner {
                        None => "None".to_owned(),
                        Some(p) if p == joint => "Itself (middle)".to_owned(),
                        Some(p) => skeleton.label(p),
                    };
                    let mark = if own.contains_key(&joint)
                        || partner.is_some_and(|p| own.contains_key(&p))
                    {
                        RichText::new(text).strong()
                    } else {
                        RichText::new(text)
                    };
                    let combo = ComboBox::from_id_salt(("pair", joint.get()))
                        .width(ui.available_width())
                        .truncate()
                        .selected_text(mark)
                        .show_ui(ui, |ui| {
                            if ui.selectable_label(false, "By name").clicked() {
                                chosen = Some((joint, None));
                            }
                            for &other in &bones {
                                let text = if other == joint {
                                    "Itself (middle)".to_owned()
                                } else {
                                    skeleton.label(other)
                                };
                                if ui.selectable_label(partner == Some(other), text).clicked() {
                                    chosen = Some((joint, Some(other)));
                                }
                            }
                        });
                    let about = format!("{name}: counterpart on the other side");
                    combo
                        .response
                        .labelled_by(label.id)
                        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &about));
                });
            }
        });
    if let Some((joint, partner)) = chosen {
        editor.set_joint_pair(joint, partner);
    }
}
