//! The list of drivers of the active group, and the settings of the active one.

use super::layer_row::{LayerRow, dim_ui, order_ui};
use super::{ClustersPanel, Renamed};
use crate::cluster::DriverLayer;
use crate::cluster::procedural::{DriverInput, DriverPoint};
use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::view::commands::Command;
use crate::view::panels::correctives::{buttons_ui, heading_ui};
use egui::{Ui, Vec2};
use egui_material_icons::icons;

impl ClustersPanel {
    /// Draws the drivers of the active group, and the settings of the active one.
    pub(super) fn drivers_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        if editor.active_group().is_none() {
            return;
        }
        heading_ui(ui, "Drivers", "");
        let drivers = editor.group_layers::<DriverLayer>().to_vec();
        let command = Command::AddDriver;
        if drivers.is_empty() {
            dim_ui(
                ui,
                "A driver displaces the clusters of this group by one value: the angle of a bone, a distance, the time or a \
                 channel of a recording.",
            );
            let button = ui.button(command.label());
            if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
            }
            return;
        }
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(2.0);
            commands.extend(buttons_ui(ui, editor, &[(command, icons::ICON_ADD)]));
            order_ui::<DriverLayer>(ui, editor);
        });
        for (index, driver) in drivers.iter().enumerate() {
            let row = LayerRow {
                index,
                what: Renamed::Driver(index),
                beside: &followed(editor, driver),
                joined: "by",
            };
            self.layer_row_ui(ui, editor, driver, &row);
        }
        let active = editor.active_group_layer::<DriverLayer>();
        if let Some((index, driver)) = active.map(|(index, driver)| (index, driver.clone())) {
            ui.add_space(4.0);
            self.input_ui(ui, editor, index, &driver);
            self.range_ui(ui, editor, index, &driver);
            self.response_ui(ui, editor, index, &driver);
            self.sink_ui(ui, editor, index, &driver);
        }
    }
}

/// What a driver follows, in a few words.
fn followed(editor: &Editor, driver: &DriverLayer) -> String {
    let skeleton = editor.document().skeleton();
    let bone = |joint: u32| match JointId(joint) {
        joint if joint.get() < skeleton.len() => skeleton.label(joint),
        _ => "no bone".to_owned(),
    };
    let point = |point: &DriverPoint| match *point {
        DriverPoint::Joint(joint) => bone(joint),
        DriverPoint::Vertex(vertex) => format!("vertex {vertex}"),
    };
    match &driver.settings.input {
        DriverInput::JointAngle { joint, .. } => format!("angle of {}", bone(*joint)),
        DriverInput::Twist { joint } => format!("twist of {}", bone(*joint)),
        DriverInput::Swing { joint } => format!("swing of {}", bone(*joint)),
        DriverInput::BoneAngle { a, b } => format!("{} to {}", bone(*a), bone(*b)),
        DriverInput::Distance { a, b } => format!("{} to {}", point(a), point(b)),
        DriverInput::Time => "time".to_owned(),
        DriverInput::Channel { name } => name.clone(),
        DriverInput::Constant { .. } => "constant".to_owned(),
    }
}
