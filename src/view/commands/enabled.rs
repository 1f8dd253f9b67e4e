//! Which commands are enabled for the current state of the editor.

use super::Command;
use crate::deform::diagnostics::Metric;
use crate::document::Person;
use crate::document::rig::Axis;
use crate::document::session::PaintTarget;
use crate::editor::{Editor, OperationKind, RigKind};

impl Command {
    /// Whether the command is enabled.
    pub fn is_enabled(self, editor: &Editor) -> bool {
        let document = editor.document();
        let session = document.session();
        let has_model = !document.skeleton().is_empty();
        let has_clip = editor.shown_clip().is_some();
        let has_joint = session.active_joint.is_some();
        let has_skin = !document.skins().is_empty();
        match self {
            Self::Open
            | Self::Sample(_)
            | Self::Quit
            | Self::Preferences
            | Self::UseWorkspace(_)
            | Self::NextWorkspace
            | Self::PreviousWorkspace
            | Self::ResetWorkspace
            | Self::TogglePanel(_)
            | Self::ToggleToolBar
            | Self::MaximisePanel
            | Self::UseTheme(_)
            | Self::LargerInterface
            | Self::SmallerInterface
            | Self::NormalInterface
            | Self::FindCommand
            | Self::ShowKeys
            | Self::Welcome
            | Self::Manual
            | Self::About => true,
            Self::Save | Self::SaveAs | Self::Export | Self::ExportStaticMesh => {
                has_model && document.source().is_some()
            }
            Self::Undo => {
                editor.history().undo_label().is_some()
                    || editor.is_painting()
                    || editor.is_posing()
                    || editor.is_dragging_keys()
                    || editor.rig_adjusting().is_some_and(|a| a.task().is_some())
            }
            Self::Redo => editor.history().redo_label().is_some(),
            Self::PlayPause => !document.clips().is_empty() && !session.shows_rest,
            Self::NextKey
            | Self::PreviousKey
            | Self::NextFrame
            | Self::PreviousFrame
            | Self::FirstFrame
            | Self::LastFrame
            | Self::ToggleLoop
            | Self::SetLoopStart
            | Self::SetLoopEnd
            | Self::ClearLoop
            | Self::DuplicateClip
            | Self::CleanClip(_)
            | Self::RenameClip
            | Self::DeleteClip
            | Self::DeleteKeys
            | Self::UseRigidInterpolation(_)
            | Self::ToggleExported
            | Self::ClipToPoses
            | Self::ShowMyPose => has_clip,
            Self::ToggleIndividual | Self::CompareBodies => editor.individual_shape().is_some(),
            Self::UseMetric(Metric::ScanDistance) => editor.scan_comparison().is_some(),
            Self::DuplicateIndividual | Self::RemoveMeasurements => document.individual().is_some(),
            Self::ExportTable => !document.recordings().is_empty(),
            Self::RemoveWhatIf => document.person(Person::WhatIf).is_some(),
            Self::AdjustMotion => editor.motion_of_clip().is_some(),
            Self::CalibrateLive | Self::ToggleRecording | Self::ToggleLive => {
                editor.live().is_some()
            }
            Self::AdjustLast => {
                editor.adjusting().is_some()
                    || editor.rig_adjusting().is_some()
                    || editor.adding_motion().is_some()
            }
            Self::DrawJoints
            | Self::Extrude
            | Self::RollBones
            | Self::EditRig(_)
            | Self::OrientPie
            | Self::ApplyPie
            | Self::AlignByStamps
            | Self::FindClaps
            | Self::SuggestOffset
            | Self::ApplyOffset => has_model && self.why_disabled(editor).is_none(),
            Self::KeyPose
            | Self::ResetPose
            | Self::ClearLocation
            | Self::ClearRotation
            | Self::ClearScale
            | Self::CreatePose
            | Self::UpdatePose
            | Self::ApplyPose
            | Self::ApplyPoseFlipped
            | Self::AddSample
            | Self::UpdateSample
                if session.shows_rest =>
            {
                false
            }
            Self::Operate(kind) => {
                has_skin
                    && match kind {
                        OperationKind::Paste(_) => editor.has_copied_weights(),
                        OperationKind::Flood
                        | OperationKind::Invert
                        | OperationKind::Levels
                        | OperationKind::Move
                        | OperationKind::Merge
                        | OperationKind::Swap => has_joint,
                        _ => true,
                    }
            }
            // Without a selection or a group they say so.
            Self::MarkBrush
            | Self::MarkSelected
            | Self::UnmarkSelected
            | Self::UnmarkAll
            | Self::GrowGroup
            | Self::ShrinkGroup
            | Self::SelectGroup
            | Self::IsolateGroup
            | Self::AddGroup(_)
            | Self::RenameGroup
            | Self::DeleteGroup
            | Self::PromoteAnchors
            | Self::AddMuscle
            | Self::AddDriver
            | Self::SuggestClusters
            | Self::ReduceSamples
            | Self::AssignGroup(_) => editor.clustered_mesh().is_some(),
            // Without samples they say so.
            Self::AddSample
            | Self::AddSampleSet
            | Self::UseSculpt(_)
            | Self::ToggleSoftSelection
            | Self::GoToSample
            | Self::UpdateSample
            | Self::DuplicateSample
            | Self::RenameSample
            | Self::DeleteSample
            | Self::SampleUp
            | Self::SampleDown
            | Self::AddDrivers
            | Self::DeleteSampleSet
            | Self::ImportSculpt
            | Self::SampleFromStack(_)
            | Self::SampleFromSmooth
            | Self::MirrorSamples
            | Self::FlipSamples
            | Self::PushOut
            | Self::RetargetSamples
            | Self::KeepSamples => has_skin,
            Self::SuggestCorrectives => has_joint && has_skin,
            Self::TransferFrom | Self::ImportWeights | Self::ExportWeights | Self::CopyWeights => {
                has_skin
            }
            Self::Rename | Self::SelectMoved | Self::LockActive | Self::LockOthers => has_joint,
            Self::SelectByWeight => has_joint && !document.skins().is_empty(),
            Self::SelectUnweighted
            | Self::SelectOverInfluenced
            | Self::SelectOffSum
            | Self::ImportMeasurements
            | Self::RangeOfMotion
            | Self::Paint(PaintTarget::Mask(_)) => !document.skins().is_empty(),
            Self::PastePose | Self::PasteFlipped => {
                has_model && editor.has_copied_pose() && !session.shows_rest
            }
            Self::UpdatePose
            | Self::ApplyPose
            | Self::ApplyPoseFlipped
            | Self::SelectPoseBones
            | Self::RenamePose
            | Self::CopyPoseText
            | Self::RemovePose => editor.active_pose().is_some(),
            Self::PosesToClip => !document.poses().is_empty(),
            Self::ShowAll => editor.has_hidden(),
            Self::Hide | Self::HideOthers | Self::SelectMirrored => editor.n_selected() > 0,
            Self::SelectNone => editor.n_selected() > 0 || editor.n_selected_controls() > 0,
            Self::Isolate => editor.n_selected() > 0 || editor.is_isolated(),
            Self::AddLayer => editor.layered_mesh().is_some(),
            Self::Paint(PaintTarget::LayerMask)
            | Self::DuplicateLayer
            | Self::DeleteLayer
            | Self::MergeLayerDown
            | Self::MuteLayer
            | Self::EraseFromLayer => editor.active_upper_layer().is_some(),
            Self::LayerUp => editor.can_move_layer(true),
            Self::LayerDown => editor.can_move_layer(false),
            Self::RenameLayer | Self::FlattenLayers | Self::SoloLayer => {
                editor.active_layer().is_some()
            }
            Self::FillMap | Self::ClearMap | Self::InvertMap => {
                has_model && editor.paint_target() != PaintTarget::Weights
            }
            Self::UseMethod(_) | Self::UsePreset(_) | Self::CopyStack => editor.stack().is_some(),
            Self::FrameWorst => editor.worst_place(editor.pointed_view()).is_some(),
            Self::PasteStack => editor.stack().is_some() && editor.has_copied_stack(),
            _ => has_model,
        }
    }

    /// Why the command is disabled, where there is more to say than that it is.
    pub fn why_disabled(self, editor: &Editor) -> Option<&'static str> {
        let session = editor.document().session();
        match self {
            Self::DrawJoints => editor.why_not_draw(),
            Self::EditRig(kind) => editor.why_not_rig(kind),
            Self::OrientPie => editor.why_not_rig(RigKind::Orient(Axis::Y)),
            Self::ApplyPie => {
                let scale = editor.why_not_rig(RigKind::FreezeScale);
                let mesh = scale.and_then(|_| editor.why_not_rig(RigKind::ApplyPose));
                mesh.and_then(|_| editor.why_not_rig(RigKind::PoseAsRest))
            }
            Self::CalibrateLive | Self::ToggleRecording | Self::ToggleLive => editor
                .live()
                .is_none()
                .then_some("Listen for live motion first."),
            Self::AlignByStamps => editor.why_not_align(),
            Self::FindClaps => editor.why_not_find_claps(),
            Self::SuggestOffset => editor.why_not_suggest_offset(),
            Self::ApplyOffset => editor.why_not_apply_offset(),
            Self::UseMetric(Metric::ScanDistance) if editor.scan_comparison().is_none() => {
                Some("Compare with a scan first, in the Individual panel.")
            }
            Self::Extrude | Self::RollBones if editor.joints_to_pose().is_empty() => {
                Some("Select a bone first.")
            }
            Self::KeyPose
            | Self::ResetPose
            | Self::ClearLocation
            | Self::ClearRotation
            | Self::ClearScale
            | Self::PastePose
            | Self::PasteFlipped
            | Self::CreatePose
            | Self::UpdatePose
            | Self::ApplyPose
            | Self::ApplyPoseFlipped
            | Self::AddSample
            | Self::UpdateSample
            | Self::PlayPause
                if session.shows_rest =>
            {
                Some("Edit bones mode shows the rest pose: choose another mode first.")
            }
            Self::UpdatePose
            | Self::ApplyPose
            | Self::ApplyPoseFlipped
            | Self::SelectPoseBones
            | Self::RenamePose
            | Self::CopyPoseText
            | Self::RemovePose
                if editor.active_pose().is_none() =>
            {
                Some("Click a pose in the Poses panel first, or create one.")
            }
            _ => None,
        }
    }
}
