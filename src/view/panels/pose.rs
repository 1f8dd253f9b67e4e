//! The pose of the active bone as numbers, and the transform tools.

use super::pose_blend::pose_blend_ui;
use crate::document::session::{PoseSpace, TransformKind};
use crate::editor::{Editor, ResetPart};
use crate::math::Transform;
use crate::skeleton::JointId;
use crate::tools::Axis;
use crate::view::commands::Command;
use crate::view::middle;
use crate::view::theme;
use egui::{DragValue, Id, Role, Ui, WidgetInfo};
use egui_material_icons::icons;
use glam::{DMat3, DQuat, DVec3, EulerRot};

/// Width of a number field, points.
const FIELD: f32 = 62.0;

/// Draws the gizmo options, the active bone's location, rotation and scale relative to the rest pose, and the pose
/// blend. A drag of a field is one undo step.
pub fn pose_properties_ui(ui: &mut Ui, editor: &mut Editor) {
    gizmo_ui(ui, editor);
    let skeleton = editor.document().skeleton().clone();
    let active = editor.document().session().active_joint;
    if let Some(joint) = active.filter(|&j| skeleton.is_live(j)) {
        bone_ui(ui, editor, joint);
    }
    pose_blend_ui(ui, editor);
}

/// Draws the transform of one bone.
fn bone_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let pose = editor.document().free_pose();
    let (local, rest) = (
        pose.locals[joint.get()],
        editor.document().rest_pose().locals[joint.get()],
    );
    let unit = editor.metres_per_location(joint);
    let mut fields = Fields::of(ui, joint, (&local, &rest), unit);
    egui::Grid::new("pose")
        .num_columns(5)
        // The reset buttons are narrower than the default column width, which would make the panel too wide.
        .min_col_width(0.0)
        .spacing([4.0, 4.0])
        .show(ui, |ui| {
            ui.label("");
            for axis in Axis::ALL {
                ui.colored_label(colour_of(ui, axis), axis.letter());
            }
            ui.end_row();
            row_ui(ui, editor, joint, &rest, &mut fields, TransformKind::Move);
            row_ui(ui, editor, joint, &rest, &mut fields, TransformKind::Rotate);
            row_ui(ui, editor, joint, &rest, &mut fields, TransformKind::Scale);
        });
    if let Some(chain) = editor.chain_of(joint) {
        let mut pinned = editor.is_pinned(joint);
        let only = editor.joints_to_pose().len() == 1;
        let response = ui.add_enabled(only, egui::Checkbox::new(&mut pinned, "IK pin"));
        let about = Command::TogglePin.tooltip(ui.ctx());
        if response.on_hover_text(about).changed() {
            editor.toggle_pins();
        }
        let skeleton = editor.document().skeleton();
        let name = |joint| skeleton.label(joint);
        let text = format!(
            "Chain of 2 bones: {}, {}",
            name(chain.root),
            name(chain.mid)
        );
        let dim = theme::palette(ui).text_dim;
        let room = ui.available_width();
        middle::label_ui(ui, &text, dim, room)
            .on_hover_text("The bones that bend when you drag the pin.");
    }
}

/// Draws the gizmo type and the transform orientation.
pub(super) fn gizmo_ui(ui: &mut Ui, editor: &mut Editor) {
    let options = editor.pose_options();
    ui.horizontal(|ui| {
        ui.label("Gizmo");
        for (kind, label, about) in [
            (
                TransformKind::Move,
                "Move",
                "Show arrows that move the selection.",
            ),
            (
                TransformKind::Rotate,
                "Rotate",
                "Show rings that rotate the selection.",
            ),
            (
                TransformKind::Scale,
                "Scale",
                "Show boxes that scale the selection.",
            ),
        ] {
            if choice_ui(ui, options.gizmo == kind, label, "Gizmo", about) {
                editor.set_gizmo(kind);
            }
        }
    });
    ui.horizontal(|ui| {
        ui.label("Orientation");
        for (space, label, about) in [
            (
                PoseSpace::Local,
                "Local",
                "The bone's own axes. For vertices, Z is along their mean normal.",
            ),
            (PoseSpace::World, "Global", "The world axes."),
            (
                PoseSpace::Parent,
                "Parent",
                "The axes of the bone's parent. For vertices, the world axes.",
            ),
        ] {
            if choice_ui(ui, options.space == space, label, "Orientation", about) {
                editor.set_pose_space(space);
            }
        }
    });
}

/// A button of a radio group; returns whether it was clicked.
fn choice_ui(ui: &mut Ui, chosen: bool, label: &str, group: &str, about: &str) -> bool {
    let response = ui.selectable_label(chosen, label).on_hover_text(about);
    response.widget_info(|| {
        WidgetInfo::selected(Role::RadioButton, true, chosen, format!("{group}: {label}"))
    });
    response.clicked()
}

/// A bone's pose as displayed: location in world metres along the parent's axes, rotation in degrees about X, then Y, then Z of the rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fields {
    joint: JointId,
    rotation: DQuat,
    location: DVec3,
    /// The world length of one unit of the location along each axis, metres.
    unit: DVec3,
    degrees: DVec3,
    scale: DVec3,
}

impl Fields {
    /// Typed angles are kept while they represent the same rotation.
    fn of(ui: &Ui, joint: JointId, (local, rest): (&Transform, &Transform), unit: DVec3) -> Self {
        let known: Option<Self> = ui.data(|data| data.get_temp(memory_id()));
        let degrees = match known {
            Some(known) if known.joint == joint && known.rotation == local.rotation => {
                known.degrees
            }
            _ => {
                let turn = rest.rotation.inverse() * local.rotation;
                let turn = crate::math::transform::normalize_or_identity(turn);
                let (x, y, z) = turn.to_euler(EulerRot::XYZEx);
                DVec3::new(x, y, z).map(f64::to_degrees).map(tidy)
            }
        };
        let base = rest.scale();
        let divisor = DVec3::select(base.cmpne(DVec3::ZERO), base, DVec3::ONE);
        Self {
            joint,
            rotation: local.rotation,
            location: (local.translation - rest.translation) * unit,
            unit,
            degrees,
            scale: local.scale() / divisor,
        }
    }

    /// The local transform with the fields of `kind`; the other fields stay bit-identical.
    fn applied(&self, kind: TransformKind, local: &Transform, rest: &Transform) -> Transform {
        let mut local = *local;
        match kind {
            TransformKind::Move => {
                let before = (local.translation - rest.translation) * self.unit;
                let moved = rest.translation + self.location / self.unit;
                // An axis that was not edited keeps its bits.
                let is_edited = self.location.cmpne(before);
                local.translation = DVec3::select(is_edited, moved, local.translation);
            }
            TransformKind::Rotate => {
                let angles = self.degrees.map(f64::to_radians);
                local.rotation = rest.rotation
                    * DQuat::from_euler(EulerRot::XYZEx, angles.x, angles.y, angles.z);
            }
            TransformKind::Scale => {
                local.stretch = rest.stretch * DMat3::from_diagonal(self.scale);
            }
        }
        local
    }
}

fn memory_id() -> Id {
    Id::unique("pose fields")
}

/// Three number fields and a reset button.
fn row_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    joint: JointId,
    rest: &Transform,
    fields: &mut Fields,
    kind: TransformKind,
) {
    let (name, verb, about) = match kind {
        TransformKind::Move => (
            "Location",
            "Move",
            "Offset from the rest pose along the parent's axes, in world metres.",
        ),
        TransformKind::Rotate => (
            "Rotation",
            "Rotate",
            "Rotation from the rest pose about the bone's axes, in XYZ order.",
        ),
        TransformKind::Scale => (
            "Scale",
            "Scale",
            "Scale relative to the rest pose along the bone's axes.",
        ),
    };
    ui.label(name);
    for axis in Axis::ALL {
        let value = match kind {
            TransformKind::Move => &mut fields.location[axis.index()],
            TransformKind::Rotate => &mut fields.degrees[axis.index()],
            TransformKind::Scale => &mut fields.scale[axis.index()],
        };
        let shown = *value;
        let field = DragValue::new(value).custom_formatter(|value, digits| {
            let digits = *digits.end();
            // Never display "-0.0".
            let least = 0.5 * 10f64.powi(-(digits as i32));
            format!("{:.digits$}", if value.abs() < least { 0.0 } else { value })
        });
        let field = match kind {
            TransformKind::Move => field.speed(0.002).fixed_decimals(3).suffix(" m"),
            TransformKind::Rotate => field.speed(0.5).fixed_decimals(1).suffix("°"),
            TransformKind::Scale => field.speed(0.005).fixed_decimals(2).range(-1000.0..=1000.0),
        };
        let response = ui.add_sized([FIELD, ui.spacing().interact_size.y], field);
        // Leaving the field reads its rounded text again. Ignore that.
        let value = match kind {
            TransformKind::Move => &mut fields.location[axis.index()],
            TransformKind::Rotate => &mut fields.degrees[axis.index()],
            TransformKind::Scale => &mut fields.scale[axis.index()],
        };
        let is_rounding = response.lost_focus() && (*value - shown).abs() <= rounding(kind);
        if is_rounding {
            *value = shown;
        }
        let changed = response.changed() && !is_rounding;
        let label = format!("{name} {}", axis.letter());
        let response = response.on_hover_text(format!("{label}. {about} Drag or type."));
        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &label));
        if response.drag_started() || (changed && !editor.is_posing()) {
            editor.begin_pose_field(joint, verb);
        }
        if changed {
            let local = editor.document().free_pose().locals[joint.get()];
            let local = fields.applied(kind, &local, rest);
            editor.set_pose_field(joint, local);
            fields.rotation = local.rotation;
            let kept = *fields;
            ui.data_mut(|data| data.insert_temp(memory_id(), kept));
        }
        let ended = response.drag_stopped() || response.lost_focus();
        if ended && editor.transforming().is_none() {
            editor.confirm_transform();
        }
    }
    let (command, part) = match kind {
        TransformKind::Move => (Command::ClearLocation, ResetPart::Location),
        TransformKind::Rotate => (Command::ClearRotation, ResetPart::Rotation),
        TransformKind::Scale => (Command::ClearScale, ResetPart::Scale),
    };
    let button = egui::Button::new(icons::ICON_RESTART_ALT.rich_text().size(14.0)).frame(false);
    let response = ui.add(button).on_hover_text(command.tooltip(ui.ctx()));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, command.label()));
    if response.clicked() {
        editor.reset_pose(part);
    }
    ui.end_row();
}

fn colour_of(ui: &Ui, axis: Axis) -> egui::Color32 {
    let palette = theme::palette(ui);
    [palette.x, palette.y, palette.z][axis.index()]
}

/// Rounds away the noise of arithmetic.
fn tidy(degrees: f64) -> f64 {
    let tidy = (degrees * 1e9).round() / 1e9;
    if tidy == 0.0 { 0.0 } else { tidy }
}

/// Half of the last displayed digit.
fn rounding(kind: TransformKind) -> f64 {
    match kind {
        TransformKind::Move => 5e-4,
        TransformKind::Rotate => 5e-2,
        TransformKind::Scale => 5e-3,
    }
}
