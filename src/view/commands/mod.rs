//! The one table of commands: it feeds the menus, the tool bar, the context menus, the palette (F3), the key map and the
//! help (F1).
//!
//! [`Command`] is what can be asked for, [`table::TABLE`] says of each how it is called, what it does, in which menu it
//! stands and which keys it has in either preset; `enabled` says when it can be asked for.

mod enabled;
pub mod table;

use super::frame::{PanelKind, Workspace};
use super::heat::Ramp;
use super::mode::Mode;
use super::scene::Shading;
use super::theme::ThemeChoice;
use crate::deform::diagnostics::Metric;
use crate::deform::{SkinningMethod, StackPreset};
use crate::document::PaneLayout;
use crate::document::session::{BrushKind, PaintTarget, Projection};
use crate::editor::{Editor, OperationKind, WeightView};
use crate::math::Axis;
use crate::skeleton::InBetweens;
use table::{Group, Row, TABLE};

/// Something the artist can ask for by menu, button or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    // File
    /// Show the open dialog.
    Open,
    /// Open a built-in sample.
    Sample(&'static str),
    /// Save the project where it is.
    Save,
    /// Save the project somewhere else.
    SaveAs,
    /// Show the Export page for a model.
    Export,
    /// Show the Export page for a still.
    ExportStill,
    /// End the program.
    Quit,

    // Edit
    /// Take a step back.
    Undo,
    /// Do it again.
    Redo,
    /// Give the active bone another name.
    Rename,
    /// Show the key map and the other preferences.
    Preferences,

    // Select
    /// Pick bones.
    SelectBones,
    /// Pick points.
    SelectPoints,
    /// Everything.
    SelectAll,
    /// Nothing.
    SelectNone,
    /// What was not selected.
    SelectInverse,
    /// The island or the chain.
    SelectLinked,
    /// One ring more.
    SelectMore,
    /// One ring less.
    SelectLess,
    /// The points that the selected bones move.
    SelectMoved,
    /// The points that the active bone moves by so much.
    SelectByWeight,
    /// The points that no bone moves.
    SelectUnweighted,
    /// The points that too many bones move.
    SelectOverInfluenced,
    /// The points whose weights do not sum to 1.
    SelectOffSum,
    /// The other side.
    SelectMirrored,
    /// The next drag draws a box.
    SelectBox,
    /// Select under a circle.
    SelectCircle,
    /// The next drag draws a loop.
    SelectLasso,
    /// Boxes and loops reach the far side too.
    SelectThrough,
    /// Hide what is selected.
    Hide,
    /// Hide all else.
    HideOthers,
    /// Show what was hidden.
    ShowAll,
    /// All else away, and back.
    Isolate,

    // View
    /// Choose how surfaces look.
    Show(Shading),
    /// Choose the colours of weights.
    UseRamp(Ramp),
    /// Choose what colours of weights show, and show it.
    UseWeightView(WeightView),
    /// Lines of equal weight on or off.
    ToggleIsolines,
    /// Stripes of locked weights on or off.
    ToggleLockPattern,
    /// What moves the point under the pointer on or off.
    ToggleHoverBar,
    /// Choose what the heat map shows, and show it.
    UseMetric(Metric),
    /// Choose of these by direction.
    MetricPie,
    /// Fit the place where the metric is worst.
    FrameWorst,
    /// Bones on or off.
    ToggleBones,
    /// Bones through the skin.
    ToggleXray,
    /// Names beside bones.
    ToggleNames,
    /// Grid on or off.
    ToggleGrid,
    /// Fine edges on or off.
    ToggleWire,
    /// Fit everything.
    FrameAll,
    /// Fit the selection.
    FrameSelected,
    /// Look at the face.
    ViewFront,
    /// Look at the back.
    ViewBack,
    /// Look from the right.
    ViewRight,
    /// Look from the left.
    ViewLeft,
    /// Look from above.
    ViewTop,
    /// Look from below.
    ViewBottom,
    /// Look from the other side.
    ViewOpposite,
    /// Turn the view a little.
    OrbitLeft,
    /// Turn the view a little.
    OrbitRight,
    /// Turn the view a little.
    OrbitUp,
    /// Turn the view a little.
    OrbitDown,
    /// Perspective or parallel.
    ToggleOrthographic,
    /// Divide the viewport.
    UsePanes(PaneLayout),
    /// What was before, while its key is held.
    ShowBefore,
    /// Choose what was before.
    UseBefore(StackPreset),
    /// The stack as it is now is what was before.
    KeepBefore,

    // Pose
    /// Move bones.
    PoseMove,
    /// Rotate bones.
    PoseRotate,
    /// Scale bones.
    PoseScale,
    /// Local, world, parent.
    CycleSpace,
    /// Place as at rest.
    ClearLocation,
    /// Turn as at rest.
    ClearRotation,
    /// Size as at rest.
    ClearScale,
    /// All as at rest.
    ResetPose,
    /// Keep the pose aside.
    CopyPose,
    /// Give the bones the copied pose.
    PastePose,
    /// The same, left and right swapped.
    PasteFlipped,
    /// Hold the end of a chain in its place.
    TogglePin,

    // Weights
    /// Choose what the brush paints.
    Paint(PaintTarget),
    /// Choose what a stroke does.
    UseBrush(BrushKind),
    /// Choose how the brush measures distance.
    UseProjection(Projection),
    /// Paint both sides at once, or one.
    UseSymmetry(Option<Axis>),
    /// Paint what is hidden too.
    ToggleBrushXray,
    /// Touches add up, or not.
    ToggleAccumulate,
    /// One value for a whole painted map.
    FillMap,
    /// A map as never painted.
    ClearMap,
    /// Much becomes little.
    InvertMap,
    /// Another layer of weights.
    AddLayer,
    /// The same layer again.
    DuplicateLayer,
    /// Throw the layer away.
    DeleteLayer,
    /// Give the layer another name.
    RenameLayer,
    /// Over the next one.
    LayerUp,
    /// Under the one below.
    LayerDown,
    /// Show the layer or not.
    MuteLayer,
    /// Show the layer alone.
    SoloLayer,
    /// One with the layer below.
    MergeLayerDown,
    /// All layers as plain weights.
    FlattenLayers,
    /// The layer says nothing there.
    EraseFromLayer,
    /// Drag the radius.
    BrushRadius,
    /// Drag the strength.
    BrushStrength,
    /// Drag the weight.
    BrushWeight,
    /// Smaller brush.
    SmallerBrush,
    /// Larger brush.
    LargerBrush,
    /// Weight 1 or 0.
    SwapWeight,
    /// Take the weight under the pointer.
    SampleWeight,
    /// Make the bone under the pointer active.
    PickBone,
    /// Keep the active bone's weights.
    LockActive,
    /// Keep all weights but the active bone's.
    LockOthers,
    /// Keep none.
    UnlockAll,
    /// Choose of these four by direction.
    LockPie,
    /// Lock what is free, free what is locked.
    InvertLocks,
    /// Change the weights of many points.
    Operate(OperationKind),
    /// Show the settings of the operation that was done last, or put them away.
    AdjustLast,
    /// Choose the model that weights are taken from.
    TransferFrom,
    /// Choose the weights file that is read.
    ImportWeights,
    /// Write a weights file.
    ExportWeights,
    /// Keep weights aside.
    CopyWeights,

    // Animation
    /// Play or pause.
    PlayPause,
    /// Keep the pose in the clip.
    KeyPose,
    /// Take keys out of the clip.
    DeleteKeys,
    /// To the next key.
    NextKey,
    /// To the key before.
    PreviousKey,
    /// One frame on.
    NextFrame,
    /// One frame back.
    PreviousFrame,
    /// To the start.
    FirstFrame,
    /// To the end.
    LastFrame,
    /// Again from the start, or not.
    ToggleLoop,
    /// The loop begins here.
    SetLoopStart,
    /// The loop ends here.
    SetLoopEnd,
    /// The whole clip again.
    ClearLoop,
    /// An empty clip.
    NewClip,
    /// The same clip again.
    DuplicateClip,
    /// Give the clip another name.
    RenameClip,
    /// Take the clip out.
    DeleteClip,
    /// How bones come from key to key in the clip.
    UseInBetweens(InBetweens),
    /// A part of exports, or a preview.
    ToggleExported,
    /// A clip that bends and twists bones.
    RangeOfMotion,
    /// The pose without a clip.
    ShowMyPose,

    // Skinning
    /// Choose the skinning method.
    UseMethod(SkinningMethod),
    /// Choose a whole stack by its name.
    UsePreset(StackPreset),
    /// Keep the stack aside.
    CopyStack,
    /// Use the stack that was kept aside.
    PasteStack,
    /// Volume and bulge over the clip.
    MeasureVolume,

    // Window
    /// Choose what the left button does.
    SetMode(Mode),
    /// The mode before.
    SwapMode,
    /// Choose a mode by direction.
    ModePie,
    /// Choose a workspace.
    UseWorkspace(Workspace),
    /// The workspace to the right.
    NextWorkspace,
    /// The workspace to the left.
    PreviousWorkspace,
    /// The layout as it came.
    ResetWorkspace,
    /// Show or hide a panel.
    TogglePanel(PanelKind),
    /// Show or hide the tool bar.
    ToggleToolBar,
    /// The panel under the pointer alone, and back.
    MaximisePanel,
    /// Choose the colours.
    UseTheme(ThemeChoice),
    /// Larger text and icons.
    LargerInterface,
    /// Smaller text and icons.
    SmallerInterface,
    /// Text and icons as they came.
    NormalInterface,

    // Help
    /// Find any command by its name.
    FindCommand,
    /// What the mouse and the keys do.
    ShowKeys,
    /// Recent files, samples, key map, theme.
    Welcome,
    /// The manual.
    Manual,
    /// Version and licences.
    About,
}

impl Command {
    /// Every command, in the order of the menus.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.command)
    }

    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        // A test sees to it that every command has one.
        TABLE
            .iter()
            .find(|row| row.command == self)
            .unwrap_or(&TABLE[0])
    }

    /// The command that settings files call `id`.
    pub fn by_id(id: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.id == id).map(|row| row.command)
    }

    /// What menus and buttons say.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// What it does, in a sentence.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The menu it stands in.
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Whether it may be asked for by key while a stroke is under way: taking it back, or ending it with its mode.
    pub fn may_end_a_stroke(self) -> bool {
        matches!(self, Self::Undo | Self::SetMode(_) | Self::SwapMode)
    }

    /// Whether it goes on while its key is held, and ends with it ([`super::keymap::KeyMap::is_held`]).
    pub fn is_held(self) -> bool {
        self == Self::ShowBefore
    }

    /// Whether a held key asks for it again and again.
    pub fn repeats(self) -> bool {
        matches!(
            self,
            Self::Undo
                | Self::Redo
                | Self::SmallerBrush
                | Self::LargerBrush
                | Self::NextFrame
                | Self::PreviousFrame
                | Self::NextKey
                | Self::PreviousKey
                | Self::OrbitLeft
                | Self::OrbitRight
                | Self::OrbitUp
                | Self::OrbitDown
                | Self::SelectMore
                | Self::SelectLess
                | Self::LargerInterface
                | Self::SmallerInterface
        )
    }

    /// What a menu shows: undo and redo name their step.
    pub fn full_label(self, editor: &Editor) -> String {
        let step = match self {
            Self::Undo => editor.history().undo_label(),
            Self::Redo => editor.history().redo_label(),
            _ => None,
        };
        step.map_or_else(
            || self.label().to_owned(),
            |step| format!("{} {}", self.label(), step.to_lowercase()),
        )
    }
}
