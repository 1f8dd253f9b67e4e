//! The context menu of the viewport.

use super::{Viewport, ndc, size};
use crate::document::session::SelectKind;
use crate::editor::{Editor, RigKind};
use crate::skeleton::JointId;
use crate::tools::SelectOp;
use crate::view::commands::Command;
use crate::view::commands::bone_menus::{DIVIDE, HELPERS, RELATE};
use crate::view::mode::Mode;
use crate::view::panels;
use crate::view::popover::popover_ui;
use egui::{Button, Response, Role, Ui, WidgetInfo};

/// The commands for a selection.
const SELECT: &[&[Command]] = &[
    &[
        Command::SelectBones,
        Command::SelectPoints,
        Command::SelectThrough,
    ],
    &[
        Command::SelectAll,
        Command::SelectNone,
        Command::SelectInverse,
        Command::SelectLinked,
        Command::SelectMore,
        Command::SelectLess,
        Command::SelectMoved,
    ],
    &[
        Command::Hide,
        Command::HideOthers,
        Command::ShowAll,
        Command::Isolate,
    ],
    &[
        Command::Rename,
        Command::LockActive,
        Command::LockOthers,
        Command::FrameSelected,
    ],
];

/// The commands for posed bones.
const POSE: &[&[Command]] = &[
    &[Command::PoseMove, Command::PoseRotate, Command::PoseScale],
    &[
        Command::ClearLocation,
        Command::ClearRotation,
        Command::ClearScale,
        Command::ResetPose,
    ],
    &[Command::CopyPose, Command::PastePose, Command::PasteFlipped],
    &[Command::TogglePin, Command::KeyPose, Command::DeleteKeys],
    &[
        Command::Rename,
        Command::SelectLinked,
        Command::FrameSelected,
        Command::Hide,
    ],
];

/// The commands for bones in the rest pose.
const RIG: &[&[Command]] = &[
    &[Command::PoseMove, Command::Extrude, Command::DrawJoints],
    &DIVIDE,
    &RELATE,
    &[
        Command::OrientPie,
        Command::RollBones,
        Command::ApplyPie,
        Command::EditRig(RigKind::Centre),
    ],
    &HELPERS,
    &[Command::EditRig(RigKind::Bind)],
    &[
        Command::Rename,
        Command::SelectLinked,
        Command::FrameSelected,
        Command::Hide,
    ],
];

/// The commands for the painted bone.
const PAINT: &[&[Command]] = &[
    &[
        Command::LockActive,
        Command::LockOthers,
        Command::InvertLocks,
        Command::UnlockAll,
    ],
    &[
        Command::Rename,
        Command::SelectMoved,
        Command::FrameSelected,
    ],
];

/// The commands for the sculpted sample.
const SCULPT: &[&[Command]] = &[
    &[
        Command::AddSample,
        Command::GoToSample,
        Command::UpdateSample,
        Command::PushOut,
        Command::MirrorSamples,
    ],
    &[Command::FrameSelected],
];

/// The commands for clusters.
const CLUSTER: &[&[Command]] = &[
    &[
        Command::MarkSelected,
        Command::UnmarkSelected,
        Command::SelectGroup,
        Command::GrowGroup,
        Command::ShrinkGroup,
        Command::IsolateGroup,
    ],
    &[
        Command::SelectLinked,
        Command::SelectEdgeLoop,
        Command::SelectEdgeRing,
        Command::SelectNone,
    ],
    &[Command::UnmarkAll, Command::FrameSelected],
];

/// Draws the groups, to assign the selection to one or to mark into it.
fn groups_ui(ui: &mut Ui, editor: &mut Editor) {
    let groups = editor.cluster_groups().to_vec();
    let assigns = editor.has_selected_vertices();
    let active = editor.active_group();
    for (index, group) in (0u16..).zip(&groups) {
        let text = if assigns {
            format!("Assign to {}", group.name)
        } else {
            format!("Mark into {}", group.name)
        };
        let about = if assigns {
            "Put the selected vertices into the group."
        } else {
            "Strokes mark into the group."
        };
        // Room for the glyph.
        let button = Button::selectable(active == Some(index), format!("       {text}"));
        let response = ui.add(button);
        response.widget_info(|| {
            WidgetInfo::selected(Role::MenuItem, true, active == Some(index), &text)
        });
        let centre = response.rect.left_center() + egui::vec2(12.0, 0.0);
        panels::glyph_ui(ui.painter(), centre, 10.0, group.glyph, group.colour);
        if response.on_hover_text(about).clicked() {
            editor.assign_group(index);
            ui.close();
        }
    }
    if !groups.is_empty() {
        ui.separator();
    }
}

/// Draws the entry that activates the bone under the pointer for painting.
fn bone_ui(ui: &mut Ui, bone: JointId, editor: &mut Editor) {
    if editor.document().session().active_joint == Some(bone) {
        return;
    }
    let text = format!("Paint {}", editor.document().skeleton().label(bone));
    let about = "Activate the bone with the largest weight here.";
    if ui.button(text).on_hover_text(about).clicked() {
        editor.select_joint(Some(bone));
        ui.close();
    }
}

impl Viewport {
    /// Shows the context menu of the mode where the right button was clicked.
    pub(super) fn menu_ui(&mut self, response: &Response, editor: &mut Editor) {
        let any_down = response.ctx.input(|i| i.pointer.any_down());
        if self.menu_blocked {
            // Until the frame after the release.
            self.menu_blocked = any_down || response.secondary_clicked();
            return;
        }
        let mode = self.mode;
        if !mode.has_brush()
            && response.secondary_clicked()
            && editor.select_kind() == SelectKind::Bones
            && let Some(at) = response.interact_pointer_pos()
        {
            // The menu applies to the element under the pointer.
            let seen = self.pickable_bones();
            let (at, size) = (ndc(at, response.rect), size(response.rect));
            let bone = editor.pick_for_selection(at, size, seen);
            let is_other = |bone| !editor.document().session().selected_joints.contains(&bone);
            if bone.is_some_and(is_other) {
                editor.pick_joint(bone, SelectOp::Replace);
            }
        }
        if mode == Mode::Paint
            && response.secondary_clicked()
            && let Some(at) = response.interact_pointer_pos()
        {
            let (at, size) = (ndc(at, response.rect), size(response.rect));
            self.menu_bone = editor.pick_joint_in_skin(at, size);
        }
        let (chosen, bone) = (&mut self.chosen, &self.menu_bone);
        popover_ui(response, |ui| {
            let parts = match mode {
                Mode::Select => SELECT,
                Mode::Pose => POSE,
                Mode::Rig => RIG,
                Mode::Cluster => {
                    groups_ui(ui, editor);
                    panels::cluster_popover_ui(ui, editor);
                    ui.separator();
                    CLUSTER
                }
                Mode::Sculpt => {
                    panels::sculpt_popover_ui(ui, editor);
                    ui.separator();
                    SCULPT
                }
                Mode::Paint => {
                    panels::brush_popover_ui(ui, editor);
                    ui.separator();
                    if let Some(bone) = *bone {
                        bone_ui(ui, bone, editor);
                    }
                    PAINT
                }
            };
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    ui.separator();
                }
                for &command in *part {
                    panels::item_ui(ui, command, editor, &|_| None, chosen);
                }
            }
        });
    }

    /// Suppresses the menu on release, after the right button cancelled something.
    pub(super) fn block_menu(&mut self) {
        self.menu_blocked = true;
    }
}
