//! The state of toggle commands.

use super::SinewApp;
use crate::deform::StackChoice;
use crate::document::LayerStack;
use crate::document::session::SelectKind;
use crate::view::commands::Command;
use crate::view::scene::Shading;

impl SinewApp {
    /// The state of a toggle command; `None` for other commands.
    pub fn is_on(&self, command: Command) -> Option<bool> {
        let options = &self.viewport.options;
        Some(match command {
            Command::Show(shading) => options.shading == shading,
            Command::ToggleBones => options.show_bones,
            Command::ToggleXray => options.xray_bones,
            Command::ToggleClusters => options.show_clusters,
            Command::ToggleControlNet => self.editor.shows_control_net(),
            Command::ToggleChildrenFollow => self.editor.children_follow(),
            Command::DrawJoints => self.editor.drawing().is_some(),
            Command::ToggleGrid => options.show_grid,
            Command::ToggleNames => options.show_names,
            Command::UseRamp(ramp) => options.ramp == ramp,
            Command::UseWeightView(view) => {
                options.shading == Shading::Weights && options.weight_view == view
            }
            Command::ToggleIsolines => options.isolines,
            Command::ToggleLockPattern => options.lock_pattern,
            Command::ToggleHoverBar => options.hover_bar,
            Command::UseMetric(metric) => {
                options.shading == Shading::HeatMap && options.metric == metric
            }
            Command::UsePanes(layout) => self.viewport.layout(&self.editor) == layout,
            Command::ShowBefore => self.viewport.shows_before(),
            Command::ViewLbs => self.viewport.shows_lbs(),
            Command::UseBefore(preset) => {
                self.editor.compare().before == StackChoice::Preset(preset)
            }
            Command::KeepBefore => matches!(self.editor.compare().before, StackChoice::Custom(_)),
            Command::ToggleWire => options.wire_overlay,
            Command::ToggleOrthographic => self.editor.document().session().camera.orthographic,
            Command::SelectBones => self.editor.select_kind() == SelectKind::Bones,
            Command::SelectPoints => self.editor.select_kind() == SelectKind::Points,
            Command::SelectThrough => self.editor.document().session().select_through,
            Command::Isolate => self.editor.is_isolated(),
            Command::LockActive => {
                let document = self.editor.document();
                let active = document.session().active_joint;
                active.is_some_and(|joint| document.locked().contains(&joint))
            }
            Command::Paint(target) => self.editor.paint_target() == target,
            Command::AdjustLast => {
                let of_bones = self.editor.rig_adjusting();
                let motion = self.editor.adding_motion();
                self.editor.adjusting().is_some_and(|a| !a.is_hidden())
                    || of_bones.is_some_and(|a| !a.is_hidden())
                    || motion.is_some_and(|a| !a.is_hidden())
            }
            Command::UseBrush(kind) => self.brush().kind() == kind,
            Command::UseSculpt(kind) => self.editor.sculpt_kind() == kind,
            Command::UseFalloffShape(shape) => self.brush().falloff_shape == shape,
            Command::UseSymmetry(axis) => self.brush().symmetry == axis,
            Command::ToggleSymmetry => self.brush().symmetry.is_some(),
            Command::ToggleBrushXray => self.brush().xray,
            Command::ToggleAccumulate => self.brush().accumulate,
            Command::ToggleSoftSelection => self.editor.soft_selection(),
            Command::MuteLayer => self.editor.is_layer_muted(),
            Command::SoloLayer => {
                let alone = self.editor.layers().and_then(LayerStack::solo);
                alone.is_some() && alone == self.editor.active_layer()
            }
            Command::IsolateGroup => self.editor.isolated_group().is_some(),
            Command::MarkBrush => !self.editor.moves_clusters(),
            Command::ToggleLoop => self.editor.document().session().playback.looping,
            Command::ToggleIndividual => self.editor.shows_individual(),
            Command::ToggleAutoKey => self.editor.playback().auto_key,
            Command::UseRigidInterpolation(interpolation) => {
                let clip = self.editor.shown_clip();
                clip.is_some_and(|(_, clip)| clip.rigid_interpolation == interpolation)
            }
            Command::ToggleExported => {
                let clip = self.editor.shown_clip();
                clip.is_some_and(|(_, clip)| !clip.preview)
            }
            Command::ToggleListening => self.editor.live().is_some(),
            Command::ToggleRecording => self.editor.is_recording_live(),
            Command::ToggleLive => {
                self.editor.live().is_some() && self.editor.live_settings().is_shown
            }
            Command::UseMethod(method) => self.editor.method() == method,
            Command::UsePreset(preset) => self.editor.stack_preset() == Some(preset),
            Command::SetMode(mode) => self.viewport.mode == mode,
            Command::UseWorkspace(workspace) => self.settings.settings.workspace == workspace,
            Command::TogglePanel(panel) => self.dock.is_open(panel),
            Command::ToggleToolBar => self.settings.settings.show_tool_bar,
            Command::MaximisePanel => self.dock.maximised().is_some(),
            Command::UseTheme(choice) => self.settings.settings.theme == choice,
            _ => return None,
        })
    }
}
