//! Runs commands: one `match`, grouped like the menus.

use super::SinewApp;
use super::dialogs::manual::Manual;
use super::dialogs::path::PathPurpose;
use super::dialogs::range_of_motion::RangeDialog;
use super::dialogs::weight_range::WeightRange;
use super::dialogs::welcome::Welcome;
use crate::deform::StackChoice;
use crate::document::session::{BrushOptions, SelectKind, TransformKind};
use crate::document::{LayerStack, PaneLayout};
use crate::editor::exporting::ExportKind;
use crate::editor::motions::AddingMotion;
use crate::editor::operations::Adjusting;
use crate::editor::rigging::RigAdjusting;
use crate::editor::{OpenRequest, ResetPart, RigKind, SampleTask, Stale};
use crate::finding::counted;
use crate::tools::SelectShape;
use crate::view::commands::Command;
use crate::view::frame::{PanelKind, Workspace};
use crate::view::mode::Mode;
use crate::view::panels;
use crate::view::scene::Shading;
use eframe::egui;
use egui::ViewportCommand;

impl SinewApp {
    /// Runs a command; if it is disabled, a notice says why.
    pub(super) fn run_command(&mut self, command: Command, ctx: &egui::Context) {
        if !command.is_enabled(&self.editor) {
            if let Some(why) = command.why_disabled(&self.editor) {
                self.editor.tell(why);
            }
            return;
        }
        let options = &mut self.viewport.options;
        match command {
            Command::Open => self.ask_path(PathPurpose::Open, ctx),
            Command::Sample(name) => self.open(OpenRequest::Sample(name.into())),
            Command::Save => match self.editor.project_path().cloned() {
                Some(path) => self.editor.save_as(&path),
                None => self.ask_path(PathPurpose::Save, ctx),
            },
            Command::SaveAs => self.ask_path(PathPurpose::Save, ctx),
            Command::AddMotion => self.ask_path(PathPurpose::AddMotion, ctx),
            Command::ExportTable => self.ask_path(PathPurpose::ExportTable, ctx),
            Command::ImportMeasurements => self.ask_path(PathPurpose::Measurements, ctx),
            Command::CompareScan => self.ask_path(PathPurpose::Scan, ctx),
            Command::ToggleIndividual => {
                let shows = self.editor.shows_individual();
                self.editor.show_individual(!shows);
            }
            Command::DuplicateIndividual => {
                self.open_panel(PanelKind::Individual);
                self.editor.duplicate_individual();
            }
            Command::RemoveWhatIf => self.editor.remove_what_if(),
            Command::CompareBodies => {
                self.editor.compare_bodies();
                self.viewport.set_layout(PaneLayout::Two, &mut self.editor);
            }
            Command::RemoveMeasurements => {
                self.editor.remove_measurements();
            }
            Command::Export => self.open_export(ExportKind::Model),
            Command::ExportStaticMesh => self.open_export(ExportKind::StaticMesh),
            Command::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),

            Command::Undo => self.editor.undo(),
            Command::Redo => self.editor.redo(),
            Command::Rename => {
                if let Some(joint) = self.editor.document().session().active_joint {
                    self.hierarchy.start_rename(joint, &self.editor);
                }
            }

            // select:
            Command::SelectBones => self.editor.set_select_kind(SelectKind::Bones),
            Command::SelectPoints => self.editor.set_select_kind(SelectKind::Points),
            Command::SelectAll => self.editor.select_all(),
            Command::SelectNone => self.editor.select_none(),
            Command::SelectInverse => self.editor.select_inverse(),
            Command::SelectLinked => self.editor.select_linked(),
            Command::SelectMore => self.editor.select_more(),
            Command::SelectLess => self.editor.select_less(),
            Command::SelectEdgeLoop => self.editor.select_edge_loops(),
            Command::SelectEdgeRing => self.editor.select_edge_rings(),
            Command::SelectMoved => self.editor.select_moved_points(),
            Command::SelectByWeight => {
                self.weight_range = Some(WeightRange::default());
                self.choose_weight_range();
            }
            Command::SelectUnweighted => self.editor.select_unweighted(),
            Command::SelectOverInfluenced => self.editor.select_over_influenced(),
            Command::SelectOffSum => self.editor.select_off_sum(),
            Command::SelectMirrored => self.editor.select_mirrored(),
            Command::SelectBox => self.arm_select(SelectShape::Box),
            Command::SelectCircle => self.arm_select(SelectShape::Circle),
            Command::SelectLasso => self.arm_select(SelectShape::Lasso),
            Command::SelectThrough => {
                let through = self.editor.document().session().select_through;
                self.editor.set_select_through(!through);
            }
            Command::Hide => self.editor.hide_selected(),
            Command::HideOthers => {
                self.editor.hide_unselected();
            }
            Command::ShowAll => self.editor.show_all(),
            Command::Isolate => self.editor.toggle_isolate(),

            // display: all of the view
            Command::Show(shading) => options.shading = shading,
            Command::ToggleBones => options.show_bones = !options.show_bones,
            Command::ToggleXray => options.xray_bones = !options.xray_bones,
            Command::ToggleClusters => options.show_clusters = !options.show_clusters,
            Command::ToggleControlNet => {
                let shown = self.editor.shows_control_net();
                self.editor.show_control_net(!shown);
            }
            Command::ToggleGrid => options.show_grid = !options.show_grid,
            Command::ToggleWire => options.wire_overlay = !options.wire_overlay,
            // Over the timeline, frame the clip.
            Command::FrameAll if self.timeline.is_hovered() => {
                self.timeline.frame_clip(&self.editor);
            }
            Command::ToggleNames => options.show_names = !options.show_names,
            Command::UseRamp(ramp) => options.ramp = ramp,
            Command::UseWeightView(view) => {
                options.weight_view = view;
                options.shading = Shading::Weights;
            }
            Command::ToggleIsolines => options.isolines = !options.isolines,
            Command::ToggleLockPattern => options.lock_pattern = !options.lock_pattern,
            Command::ToggleHoverBar => options.hover_bar = !options.hover_bar,
            Command::UseMetric(metric) => {
                options.metric = metric;
                options.shading = Shading::HeatMap;
            }
            Command::FrameAll
            | Command::FrameSelected
            | Command::FrameWorst
            | Command::ViewFront
            | Command::ViewBack
            | Command::ViewRight
            | Command::ViewLeft
            | Command::ViewTop
            | Command::ViewBottom
            | Command::ViewOpposite
            | Command::OrbitLeft
            | Command::OrbitRight
            | Command::OrbitUp
            | Command::OrbitDown
            | Command::ToggleOrthographic => {
                self.viewport.run_camera(command, &mut self.editor);
            }
            Command::UsePanes(layout) => self.viewport.set_layout(layout, &mut self.editor),
            Command::ShowBefore => self.viewport.toggle_before(),
            Command::ViewLbs => self.viewport.toggle_lbs(),
            Command::UseBefore(preset) => {
                self.editor.compare_mut().before = StackChoice::Preset(preset);
            }
            Command::KeepBefore => self.editor.keep_stack_as_before(),

            // pose
            Command::PoseMove => self.pose_by(command, TransformKind::Move, ctx),
            Command::PoseRotate => self.pose_by(command, TransformKind::Rotate, ctx),
            Command::PoseScale => self.pose_by(command, TransformKind::Scale, ctx),
            Command::CycleSpace => self.editor.cycle_pose_space(),
            Command::ClearLocation if self.viewport.mode == Mode::Cluster => {
                self.editor.reset_clusters();
            }
            Command::ClearLocation => self.editor.reset_pose(ResetPart::Location),
            Command::ClearRotation => self.editor.reset_pose(ResetPart::Rotation),
            Command::ClearScale => self.editor.reset_pose(ResetPart::Scale),
            Command::ResetPose => self.editor.reset_pose(ResetPart::All),
            Command::CopyPose => {
                let n = self.editor.copy_pose();
                // With an empty system clipboard, Ctrl+V would not reach the window.
                ctx.copy_text(format!("Pose of {}", counted(n, "bone")));
            }
            Command::PastePose => {
                self.editor.paste_pose(false);
            }
            Command::PasteFlipped => {
                self.editor.paste_pose(true);
            }
            Command::TogglePin => self.editor.toggle_pins(),

            Command::CreatePose
            | Command::UpdatePose
            | Command::ApplyPose
            | Command::ApplyPoseFlipped
            | Command::SelectPoseBones
            | Command::RenamePose
            | Command::RemovePose
            | Command::CopyPoseText
            | Command::PastePoseText
            | Command::PosesToClip
            | Command::ClipToPoses => self.run_on_poses(command, ctx),

            // bones
            Command::DrawJoints => {
                if self.editor.drawing().is_some() {
                    self.editor.end_drawing();
                } else {
                    self.set_mode(Mode::Rig);
                    self.editor.begin_drawing();
                }
            }
            Command::ToggleChildrenFollow => {
                let follow = self.editor.children_follow();
                self.editor.set_children_follow(!follow);
            }
            Command::Extrude | Command::RollBones => {
                self.set_mode(Mode::Rig);
                self.viewport.pointer_commands.push(command);
            }
            Command::ShowHumanoid => {
                self.set_mode(Mode::Rig);
                self.open_panel(PanelKind::Properties);
                panels::open_humanoid(ctx);
            }
            Command::EditRig(kind) => {
                // Edits of the rest pose are seen there; the others do not need it.
                if !matches!(
                    kind,
                    RigKind::Bind
                        | RigKind::Unbind
                        | RigKind::BindKept
                        | RigKind::ApplyPose
                        | RigKind::PoseAsRest
                        | RigKind::Pin
                ) {
                    self.set_mode(Mode::Rig);
                }
                self.editor.begin_rig(kind);
            }

            Command::BrushRadius | Command::BrushStrength | Command::BrushWeight => {
                let has_it = match self.viewport.mode {
                    Mode::Sculpt => command != Command::BrushWeight,
                    Mode::Cluster => command == Command::BrushRadius,
                    _ => false,
                };
                if !has_it {
                    self.set_mode(Mode::Paint);
                }
                self.viewport.pointer_commands.push(command);
            }
            Command::SampleWeight | Command::PickBone => {
                self.viewport.pointer_commands.push(command);
            }
            Command::SwapWeight => {
                let value = self.editor.brush_mut().value_mut();
                *value = if *value > 0.5 { 0.0 } else { 1.0 };
            }
            Command::Paint(target) => {
                self.editor.set_paint_target(target);
                self.set_mode(Mode::Paint);
            }
            Command::UseBrush(kind) => {
                self.set_mode(Mode::Paint);
                *self.editor.brush_mut().kind_mut() = kind;
            }
            Command::UseSculpt(kind) => {
                self.set_mode(Mode::Sculpt);
                self.editor.use_sculpt(kind);
            }
            Command::UseFalloffShape(shape) => self.editor.brush_mut().falloff_shape = shape,
            Command::UseSymmetry(axis) => self.editor.brush_mut().symmetry = axis,
            Command::ToggleSymmetry => {
                let symmetry = match self.editor.document().session().brush.symmetry {
                    Some(_) => None,
                    None => Some(self.editor.side_axis()),
                };
                self.editor.brush_mut().symmetry = symmetry;
            }
            Command::ToggleBrushXray => {
                let brush = self.editor.brush_mut();
                brush.xray = !brush.xray;
            }
            Command::ToggleSoftSelection => {
                let is_on = self.editor.soft_selection();
                self.editor.set_soft_selection(!is_on);
            }
            Command::ToggleAccumulate => {
                let brush = self.editor.brush_mut();
                brush.accumulate = !brush.accumulate;
            }
            Command::FillMap => self.editor.fill_map(),
            Command::ClearMap => self.editor.clear_map(),
            Command::InvertMap => self.editor.invert_map(),
            Command::AddLayer => {
                self.open_panel(PanelKind::Layers);
                self.editor.add_layer();
            }
            Command::DuplicateLayer => self.editor.duplicate_layer(),
            Command::DeleteLayer => self.editor.delete_layer(),
            Command::RenameLayer => {
                self.open_panel(PanelKind::Layers);
                self.layers.start_renaming(&self.editor);
            }
            Command::LayerUp => self.editor.move_layer(true),
            Command::LayerDown => self.editor.move_layer(false),
            Command::MergeLayerDown => self.editor.merge_layer_down(),
            Command::FlattenLayers => self.editor.flatten_layers(),
            Command::EraseFromLayer => self.editor.erase_from_layer(),
            Command::MuteLayer => {
                if let Some(id) = self.editor.active_upper_layer() {
                    let muted = self.editor.is_layer_muted();
                    self.editor.mute_layer(id, !muted);
                }
            }
            Command::SoloLayer => {
                let alone = self.editor.layers().and_then(LayerStack::solo);
                let active = self.editor.active_layer();
                self.editor.solo_layer(active.filter(|_| alone != active));
            }
            Command::LockActive => {
                if let Some(joint) = self.editor.document().session().active_joint {
                    self.editor.toggle_lock(joint);
                }
            }
            Command::LockOthers => {
                let active = self.editor.document().session().active_joint;
                self.editor.lock_others(&active.into_iter().collect());
            }
            Command::InvertLocks => self.editor.invert_locks(),
            Command::UnlockAll => self.editor.unlock_all(),
            Command::AdjustLast => {
                let is_hidden = self.editor.adjusting().is_some_and(Adjusting::is_hidden);
                self.editor.hide_operation(!is_hidden);
                let is_hidden = self.editor.rig_adjusting();
                let is_hidden = is_hidden.is_some_and(RigAdjusting::is_hidden);
                self.editor.hide_rig_operation(!is_hidden);
                let is_hidden = self.editor.adding_motion();
                let is_hidden = is_hidden.is_some_and(AddingMotion::is_hidden);
                self.editor.hide_motion(!is_hidden);
            }
            Command::Operate(kind) => self.editor.begin_operation(kind),
            Command::TransferFrom => {
                self.ask_path(PathPurpose::Transfer, ctx);
            }
            Command::ImportWeights => {
                self.ask_path(PathPurpose::ImportWeights, ctx);
            }
            Command::ExportWeights => {
                self.ask_path(PathPurpose::ExportWeights, ctx);
            }
            Command::AddRecording => {
                self.ask_path(PathPurpose::AddRecording, ctx);
            }
            Command::MarkBrush
            | Command::MarkSelected
            | Command::UnmarkSelected
            | Command::UnmarkAll
            | Command::GrowGroup
            | Command::ShrinkGroup
            | Command::SelectGroup
            | Command::IsolateGroup
            | Command::AddGroup(_)
            | Command::RenameGroup
            | Command::DeleteGroup
            | Command::PromoteAnchors
            | Command::AddMuscle
            | Command::AddDriver
            | Command::SuggestClusters
            | Command::ReduceSamples
            | Command::AssignGroup(_) => self.run_on_clusters(command),
            Command::AddSample => {
                self.open_panel(PanelKind::Correctives);
                if self.editor.add_sample() {
                    self.set_mode(Mode::Sculpt);
                }
            }
            Command::GoToSample => self.editor.go_to_sample(),
            Command::UpdateSample => self.editor.update_sample(),
            Command::DuplicateSample => {
                self.editor.duplicate_sample();
            }
            Command::RenameSample => {
                self.open_panel(PanelKind::Correctives);
                if self.editor.sample_to_change().is_some() {
                    self.correctives.start_renaming(&self.editor);
                }
            }
            Command::DeleteSample => self.editor.delete_sample(),
            Command::SampleUp => self.editor.move_sample(true),
            Command::SampleDown => self.editor.move_sample(false),
            Command::AddSampleSet => {
                self.open_panel(PanelKind::Correctives);
                self.editor.add_set();
            }
            Command::AddDrivers => self.editor.add_drivers(),
            Command::DeleteSampleSet => self.editor.delete_set(),
            Command::SuggestCorrectives => {
                self.open_panel(PanelKind::Correctives);
                self.editor.suggest_correctives();
            }
            Command::ImportSculpt => {
                self.ask_path(PathPurpose::ImportSculpt, ctx);
            }
            Command::SampleFromStack(preset) => {
                let stack = preset.stack();
                self.editor.change_samples(SampleTask::FromStack(stack));
            }
            Command::SampleFromSmooth => self.editor.change_samples(SampleTask::FromSmooth),
            Command::PushOut => self.editor.change_samples(SampleTask::PushOut),
            Command::MirrorSamples => self.editor.change_samples(SampleTask::Mirror),
            Command::FlipSamples => self.editor.change_samples(SampleTask::Flip),
            Command::RetargetSamples => {
                self.editor.change_samples(SampleTask::Retarget(Stale::All));
            }
            Command::KeepSamples => self.editor.change_samples(SampleTask::Keep(Stale::All)),
            Command::CopyWeights => {
                let n = self.editor.copy_weights();
                // With an empty system clipboard, Ctrl+V would not reach the window.
                if n > 0 {
                    ctx.copy_text(format!("Weights of {}", counted(n, "vertex")));
                }
            }
            Command::SmallerBrush => self.scale_brush(1.0 / 1.2),
            Command::LargerBrush => self.scale_brush(1.2),

            Command::PlayPause => self.editor.toggle_play(),
            Command::KeyPose if self.keys_clusters() => self.editor.key_clusters(),
            Command::KeyPose => self.editor.key_pose(),
            Command::DeleteKeys if self.keys_clusters() => self.editor.delete_cluster_key(),
            Command::ToggleAutoKey => {
                let is_on = self.editor.playback().auto_key;
                self.editor.set_auto_key(!is_on);
            }
            Command::DeleteKeys => self.editor.delete_keys(),
            Command::NextKey => self.editor.next_key(),
            Command::PreviousKey => self.editor.previous_key(),
            Command::NextFrame => self.editor.step_frames(1),
            Command::PreviousFrame => self.editor.step_frames(-1),
            Command::FirstFrame => self.editor.jump_to_start(),
            Command::LastFrame => self.editor.jump_to_end(),
            Command::ToggleLoop => {
                let looping = self.editor.playback().looping;
                self.editor.set_looping(!looping);
            }
            Command::SetLoopStart => self.editor.loop_from_here(),
            Command::SetLoopEnd => self.editor.loop_to_here(),
            Command::ClearLoop => self.editor.set_play_range(None),
            Command::NewClip => self.editor.new_clip(),
            Command::DuplicateClip => self.editor.duplicate_clip(),
            Command::CleanClip(cleaning) => self.editor.clean_clip(cleaning),
            Command::RenameClip => self.timeline.start_renaming(&self.editor),
            Command::AdjustMotion => {
                if let Some(recording) = self.editor.motion_of_clip() {
                    self.editor.adjust_motion(recording);
                }
            }
            Command::AddStamp => self.editor.add_stamp(),
            Command::AlignByStamps => self.editor.align_by_stamps(),
            Command::FindClaps => self.editor.find_claps(),
            Command::SuggestOffset => self.editor.suggest_offset(),
            Command::ApplyOffset => self.editor.apply_suggested_offset(),
            Command::ToggleListening
            | Command::CalibrateLive
            | Command::ToggleRecording
            | Command::ToggleLive => self.run_on_live_motion(command),
            Command::DeleteClip => self.editor.delete_clip(),
            Command::UseRigidInterpolation(interpolation) => {
                self.editor.set_rigid_interpolation(interpolation);
            }
            Command::ToggleExported => {
                let preview = self.editor.shown_clip().map(|(_, clip)| clip.preview);
                self.editor.set_exported(preview == Some(true));
            }
            Command::RangeOfMotion => {
                let settings = self.range_settings;
                self.range_of_motion = Some(RangeDialog::new(&self.editor, settings));
            }
            Command::ShowMyPose => self.editor.show_clip(None),

            Command::UseMethod(method) => self.editor.set_method(method),
            Command::UsePreset(preset) => self.editor.use_preset(preset),
            Command::CopyStack => {
                self.editor.copy_stack();
            }
            Command::PasteStack => self.editor.paste_stack(),
            Command::MeasureVolume => {
                self.editor.measure_volume();
                if !self.dock.is_open(PanelKind::Volume) {
                    self.dock.toggle(PanelKind::Volume);
                }
            }

            Command::SetMode(mode) => self.set_mode(mode),
            Command::SwapMode => self.set_mode(self.mode_before),
            Command::UseWorkspace(workspace) => self.use_workspace(workspace),
            Command::NextWorkspace => self.step_workspace(1),
            Command::PreviousWorkspace => self.step_workspace(Workspace::ALL.len() - 1),
            Command::ResetWorkspace => self.reset_workspace(),
            Command::TogglePanel(panel) => self.dock.toggle(panel),
            Command::ToggleToolBar => {
                let shown = &mut self.settings.settings.show_tool_bar;
                *shown = !*shown;
            }
            Command::MaximisePanel => {
                let pointer = ctx.input(|i| i.pointer.hover_pos());
                self.dock.toggle_maximised(pointer);
            }
            Command::UseTheme(choice) => self.use_theme(ctx, choice),
            Command::LargerInterface => self.scale_interface(ctx, Some(1.0)),
            Command::SmallerInterface => self.scale_interface(ctx, Some(-1.0)),
            Command::NormalInterface => self.scale_interface(ctx, None),

            Command::ModePie
            | Command::LockPie
            | Command::OrientPie
            | Command::ApplyPie
            | Command::MetricPie
            | Command::FindCommand
            | Command::ShowKeys
            | Command::Preferences => self.open_overlay(command, ctx),
            Command::Welcome => {
                self.gallery.clear();
                self.welcome = Some(Welcome::new(&self.settings.settings.recents, ctx));
            }
            Command::Manual => self.manual = Some(Manual::default()),
            Command::About => self.shows_about = true,
        }
    }

    /// Opens a panel if it is closed: the result of a command would be invisible.
    pub(super) fn open_panel(&mut self, panel: PanelKind) {
        if !self.dock.is_open(panel) {
            self.dock.open(panel);
        }
    }

    /// Whether keyframes are those of the active group of clusters.
    fn keys_clusters(&self) -> bool {
        self.viewport.mode == Mode::Cluster && self.editor.keys_clusters()
    }

    /// Arms a selection shape for the next drag in the viewport, in any mode.
    fn arm_select(&mut self, shape: SelectShape) {
        self.editor.finish_tool();
        if self.viewport.mode == Mode::Cluster {
            self.editor.set_select_kind(SelectKind::Points);
        }
        self.editor.arm_select(Some(shape));
    }

    pub(super) fn brush(&self) -> &BrushOptions {
        &self.editor.document().session().brush
    }

    fn scale_brush(&mut self, factor: f32) {
        if self.editor.select_tool().armed() == Some(SelectShape::Circle) {
            self.editor.resize_select_circle(factor);
            return;
        }
        self.editor.brush_mut().scale_radius(factor);
    }
}
