//! The table of commands. It feeds the menus, the toolbar, the context menus, the search (F3), the key map and the
//! help (F1).
//!
//! [`Command`] lists the commands; [`table::TABLE`] holds label, tooltip, menu and the keys of both presets for each;
//! `enabled` decides whether a command can run, `properties` looks the others up.

pub mod bone_menus;
mod enabled;
mod properties;
pub mod table;

use super::frame::{PanelKind, Workspace};
use super::heat::Ramp;
use super::mode::Mode;
use super::scene::Shading;
use super::theme::ThemeChoice;
use crate::cluster::GroupPreset;
use crate::deform::diagnostics::Metric;
use crate::deform::{SkinningMethod, StackPreset};
use crate::document::PaneLayout;
use crate::document::session::{BrushKind, FalloffShape, PaintTarget, SculptKind};
use crate::editor::clip_cleaning::ClipCleaning;
use crate::editor::{OperationKind, RigKind, WeightView};
use crate::math::Axis;
use crate::skeleton::RigidInterpolation;

/// A command that a menu, a button or a key can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    // File
    /// Show the open dialog.
    Open,
    /// Open a built-in sample.
    Sample(&'static str),
    /// Save the project to its file.
    Save,
    /// Save the project to another file.
    SaveAs,
    /// Ask for a motion to put on the character.
    AddMotion,
    /// Write the recordings as a table.
    ExportTable,
    /// Read measurements of a person.
    ImportMeasurements,
    /// Toggle whether the individual is shown instead of the template.
    ToggleIndividual,
    /// Copy the measurements of the person to a what-if.
    DuplicateIndividual,
    /// Remove the what-if.
    RemoveWhatIf,
    /// Show the bodies in panes beside each other.
    CompareBodies,
    /// Compare the body on screen with a scan of the person.
    CompareScan,
    /// Remove the measurements of a person.
    RemoveMeasurements,
    /// Show the Export page for a model.
    Export,
    /// Show the Export page for a static mesh.
    ExportStaticMesh,
    /// Quit the program.
    Quit,

    // Edit
    /// Undo the last step.
    Undo,
    /// Redo the step undone last.
    Redo,
    /// Rename the active bone.
    Rename,
    /// Show the preferences.
    Preferences,

    // Select
    /// Select bones.
    SelectBones,
    /// Select vertices.
    SelectPoints,
    /// Select all.
    SelectAll,
    /// Clear the selection.
    SelectNone,
    /// Invert the selection.
    SelectInverse,
    /// Extend the selection to mesh islands or bone chains.
    SelectLinked,
    /// Grow the selection by one ring.
    SelectMore,
    /// Shrink the selection by one ring.
    SelectLess,
    /// Extend the selection to edge loops.
    SelectEdgeLoop,
    /// Extend the selection to edge rings.
    SelectEdgeRing,
    /// Select the vertices that the selected bones influence.
    SelectMoved,
    /// Select vertices by a weight range of the active bone.
    SelectByWeight,
    /// Select vertices without influences.
    SelectUnweighted,
    /// Select vertices with more influences than the limit.
    SelectOverInfluenced,
    /// Select vertices whose weights do not sum to 1.
    SelectOffSum,
    /// Select the counterparts on the other side.
    SelectMirrored,
    /// Select by box with the next drag.
    SelectBox,
    /// Select under a circle.
    SelectCircle,
    /// Select by lasso with the next drag.
    SelectLasso,
    /// Toggle whether regions also select occluded vertices.
    SelectThrough,
    /// Hide the selection.
    Hide,
    /// Hide what is not selected.
    HideOthers,
    /// Show everything hidden.
    ShowAll,
    /// Toggle the isolation of the selection.
    Isolate,

    // View
    /// Set the shading.
    Show(Shading),
    /// Set the colour ramp of weights.
    UseRamp(Ramp),
    /// Set what the weight colours display, and show them.
    UseWeightView(WeightView),
    /// Toggle weight isolines.
    ToggleIsolines,
    /// Toggle stripes over locked weights.
    ToggleLockPattern,
    /// Toggle the list of influences beside the pointer.
    ToggleHoverBar,
    /// Set the metric of the heat map, and show it.
    UseMetric(Metric),
    /// Open the pie menu of metrics.
    MetricPie,
    /// Frame the vertex with the worst value of the metric.
    FrameWorst,
    /// Toggle the bones.
    ToggleBones,
    /// Toggle drawing bones through the mesh.
    ToggleXray,
    /// Toggle the bone names.
    ToggleNames,
    /// Toggle control clusters.
    ToggleClusters,
    /// Toggle the control points of patches.
    ToggleControlNet,
    /// Toggle the grid.
    ToggleGrid,
    /// Toggle the wireframe overlay.
    ToggleWire,
    /// Frame everything.
    FrameAll,
    /// Frame the selection.
    FrameSelected,
    /// Set the front view.
    ViewFront,
    /// Set the back view.
    ViewBack,
    /// Set the right view.
    ViewRight,
    /// Set the left view.
    ViewLeft,
    /// Set the top view.
    ViewTop,
    /// Set the bottom view.
    ViewBottom,
    /// Set the opposite view.
    ViewOpposite,
    /// Orbit the view left by one step.
    OrbitLeft,
    /// Orbit the view right by one step.
    OrbitRight,
    /// Orbit the view up by one step.
    OrbitUp,
    /// Orbit the view down by one step.
    OrbitDown,
    /// Toggle perspective and orthographic view.
    ToggleOrthographic,
    /// Set the pane layout.
    UsePanes(PaneLayout),
    /// Show the comparison stack while the key is held.
    ShowBefore,
    /// Show the model under linear blend skinning.
    ViewLbs,
    /// Set the comparison stack.
    UseBefore(StackPreset),
    /// Use a copy of the current stack as the comparison stack.
    KeepBefore,

    // Pose
    /// Move bones.
    PoseMove,
    /// Rotate bones.
    PoseRotate,
    /// Scale bones.
    PoseScale,
    /// Switch the transform orientation.
    CycleSpace,
    /// Reset locations to the rest pose.
    ClearLocation,
    /// Reset rotations to the rest pose.
    ClearRotation,
    /// Reset scales to the rest pose.
    ClearScale,
    /// Reset bones to the rest pose.
    ResetPose,
    /// Copy the pose.
    CopyPose,
    /// Paste the pose.
    PastePose,
    /// Paste the pose mirrored.
    PasteFlipped,
    /// Pin the end of a bone chain.
    TogglePin,
    /// Add the pose on screen to the pose library.
    CreatePose,
    /// Update the active pose of the library.
    UpdatePose,
    /// Apply the active pose of the library.
    ApplyPose,
    /// Apply the active pose of the library on the other side.
    ApplyPoseFlipped,
    /// Select the bones of the active pose of the library.
    SelectPoseBones,
    /// Rename the active pose of the library.
    RenamePose,
    /// Remove the active pose of the library.
    RemovePose,
    /// Copy the active pose of the library as text.
    CopyPoseText,
    /// Add the pose in the text of the clipboard to the library.
    PastePoseText,
    /// Make a clip of the poses of the library.
    PosesToClip,
    /// Add the poses at the keyframes of the clip to the library.
    ClipToPoses,

    // Bones
    /// Draw joints on the mesh.
    DrawJoints,
    /// Extrude the active bone.
    Extrude,
    /// Roll the selected bones.
    RollBones,
    /// Toggle whether moved bones take their children along.
    ToggleChildrenFollow,
    /// Show the humanoid map.
    ShowHumanoid,
    /// Run an operation on the selected bones.
    EditRig(RigKind),
    /// Open the pie menu of orientations.
    OrientPie,
    /// Open the pie menu of what can be applied to the rest pose.
    ApplyPie,

    // Weights
    /// Set what the brush paints.
    Paint(PaintTarget),
    /// Set the brush.
    UseBrush(BrushKind),
    /// Set the sculpting brush.
    UseSculpt(SculptKind),
    /// Set the falloff shape of the brush.
    UseFalloffShape(FalloffShape),
    /// Set the symmetry axis of the brush.
    UseSymmetry(Option<Axis>),
    /// Turn the symmetry of the brush on, about X, or off.
    ToggleSymmetry,
    /// Toggle painting occluded vertices.
    ToggleBrushXray,
    /// Toggle whether dabs of a stroke add up.
    ToggleAccumulate,
    /// Toggle whether transformed vertices take their neighbours along.
    ToggleSoftSelection,
    /// Set the painted map to the brush value.
    FillMap,
    /// Reset the painted map.
    ClearMap,
    /// Invert the painted map.
    InvertMap,
    /// Add a weight layer.
    AddLayer,
    /// Duplicate the active layer.
    DuplicateLayer,
    /// Delete the active layer.
    DeleteLayer,
    /// Rename the active layer.
    RenameLayer,
    /// Move the active layer up.
    LayerUp,
    /// Move the active layer down.
    LayerDown,
    /// Mute or unmute the active layer.
    MuteLayer,
    /// Solo the active layer.
    SoloLayer,
    /// Merge the active layer into the one below.
    MergeLayerDown,
    /// Merge all layers into the base weights.
    FlattenLayers,
    /// Clear the active layer on the selected vertices, or everywhere.
    EraseFromLayer,
    /// Set the brush radius with the pointer.
    BrushRadius,
    /// Set the brush strength with the pointer.
    BrushStrength,
    /// Set the brush weight with the pointer.
    BrushWeight,
    /// Reduce the brush radius.
    SmallerBrush,
    /// Increase the brush radius.
    LargerBrush,
    /// Switch the brush weight between 1 and 0.
    SwapWeight,
    /// Sample the weight under the pointer.
    SampleWeight,
    /// Activate the bone under the pointer.
    PickBone,
    /// Lock or unlock the active bone's weights.
    LockActive,
    /// Lock the weights of all other bones.
    LockOthers,
    /// Unlock the weights of all bones.
    UnlockAll,
    /// Open the pie menu of locks.
    LockPie,
    /// Swap locked and unlocked bones.
    InvertLocks,
    /// Start a weight operation.
    Operate(OperationKind),
    /// Show or hide the settings of the last weight operation.
    AdjustLast,
    /// Choose the model to transfer weights from.
    TransferFrom,
    /// Choose the weights file to import.
    ImportWeights,
    /// Export a weights file.
    ExportWeights,
    /// Copy weights.
    CopyWeights,

    // Animation
    /// Play or pause.
    PlayPause,
    /// Insert keyframes for the pose.
    KeyPose,
    /// Key changed poses at once, or no longer.
    ToggleAutoKey,
    /// Delete keyframes.
    DeleteKeys,
    /// Jump to the next keyframe.
    NextKey,
    /// Jump to the previous keyframe.
    PreviousKey,
    /// Step one frame forward.
    NextFrame,
    /// Step one frame back.
    PreviousFrame,
    /// Jump to the start.
    FirstFrame,
    /// Jump to the end.
    LastFrame,
    /// Toggle looping.
    ToggleLoop,
    /// Set the start of the loop range.
    SetLoopStart,
    /// Set the end of the loop range.
    SetLoopEnd,
    /// Clear the loop range.
    ClearLoop,
    /// Add an empty clip.
    NewClip,
    /// Duplicate the clip.
    DuplicateClip,
    /// Cleans the keyframes of the clip.
    CleanClip(ClipCleaning),
    /// Rename the clip.
    RenameClip,
    /// Open the retargeting settings of the motion that the clip comes from.
    AdjustMotion,
    /// Mark the current time in the active recording.
    AddStamp,
    /// Align the active recording with another one by their stamps.
    AlignByStamps,
    /// Make stamps of the claps in the active recording.
    FindClaps,
    /// Compare the active recording with another one.
    SuggestOffset,
    /// Move the active recording by the suggested offset.
    ApplyOffset,
    /// Start or stop receiving live motion.
    ToggleListening,
    /// Take the sender's pose as a T-pose, after a countdown.
    CalibrateLive,
    /// Start or stop recording live motion.
    ToggleRecording,
    /// Toggle whether the character shows live motion.
    ToggleLive,
    /// Delete the clip.
    DeleteClip,
    /// Set the interpolation of bones in the clip.
    UseRigidInterpolation(RigidInterpolation),
    /// Toggle whether exports contain the clip.
    ToggleExported,
    /// Make a clip that bends and twists bones.
    RangeOfMotion,
    /// Show the pose without a clip.
    ShowMyPose,

    // Skinning
    /// Set the skinning method.
    UseMethod(SkinningMethod),
    /// Set the deformer stack to a preset.
    UsePreset(StackPreset),
    /// Copy the deformer stack.
    CopyStack,
    /// Paste the deformer stack.
    PasteStack,
    /// Measure volume and bulge over the clip.
    MeasureVolume,
    /// Mark the selected vertices as clusters of the active group.
    MarkSelected,
    /// Make the selected vertices free.
    UnmarkSelected,
    /// Mark clusters with strokes.
    MarkBrush,
    /// Make all clusters free.
    UnmarkAll,
    /// Grow the active group by one ring.
    GrowGroup,
    /// Shrink the active group by one ring.
    ShrinkGroup,
    /// Select the vertices of the active group.
    SelectGroup,
    /// Show the active group alone, or all.
    IsolateGroup,
    /// Add a group of clusters.
    AddGroup(GroupPreset),
    /// Rename the active group.
    RenameGroup,
    /// Delete the active group.
    DeleteGroup,
    /// Mark the anchors of the layout as clusters.
    PromoteAnchors,
    /// Add a muscle to the active group.
    AddMuscle,
    /// Add a driver to the active group.
    AddDriver,
    /// Choose a recording to add.
    AddRecording,
    /// Suggest clusters for the active object.
    SuggestClusters,
    /// Reduce the samples of the active set to the clusters.
    ReduceSamples,
    /// Mark the selected vertices as clusters of a group, counted from 0, and make it active.
    AssignGroup(u16),
    /// Add a corrective sample at the pose on screen.
    AddSample,
    /// Pose the driver bones as the active sample has them.
    GoToSample,
    /// Move the active sample to the pose on screen.
    UpdateSample,
    /// Duplicate the active sample at the pose on screen.
    DuplicateSample,
    /// Rename the active sample.
    RenameSample,
    /// Delete the active sample.
    DeleteSample,
    /// Move the active sample up.
    SampleUp,
    /// Move the active sample down.
    SampleDown,
    /// Add a sample set driven by the selected bones.
    AddSampleSet,
    /// Add the selected bones to the drivers of the active set.
    AddDrivers,
    /// Delete the active sample set.
    DeleteSampleSet,
    /// Compute corrective samples for the active bone.
    SuggestCorrectives,
    /// Choose the sculpted mesh to import as a corrective sample.
    ImportSculpt,
    /// Add a corrective sample with the shape of another stack.
    SampleFromStack(StackPreset),
    /// Add a corrective sample with the shape that corrective smoothing gives the stack of the object.
    SampleFromSmooth,
    /// Copy the corrective samples to the other side.
    MirrorSamples,
    /// Swap the corrective samples of the two sides.
    FlipSamples,
    /// Push the skin out of itself in the active sample.
    PushOut,
    /// Capture stale corrective samples again.
    RetargetSamples,
    /// Accept stale corrective samples.
    KeepSamples,

    // Window
    /// Set the mode.
    SetMode(Mode),
    /// Switch to the previous mode.
    SwapMode,
    /// Open the pie menu of modes.
    ModePie,
    /// Switch to a workspace.
    UseWorkspace(Workspace),
    /// Switch to the next workspace.
    NextWorkspace,
    /// Switch to the previous workspace.
    PreviousWorkspace,
    /// Reset the layout of the workspace.
    ResetWorkspace,
    /// Show or hide a panel.
    TogglePanel(PanelKind),
    /// Show or hide the toolbar.
    ToggleToolBar,
    /// Maximise or restore the panel under the pointer.
    MaximisePanel,
    /// Set the theme.
    UseTheme(ThemeChoice),
    /// Increase the UI scale.
    LargerInterface,
    /// Decrease the UI scale.
    SmallerInterface,
    /// Reset the UI scale.
    NormalInterface,

    // Help
    /// Search for a command.
    FindCommand,
    /// Show keys and mouse gestures.
    ShowKeys,
    /// Show the welcome.
    Welcome,
    /// Open the manual.
    Manual,
    /// Show version and licences.
    About,
}
