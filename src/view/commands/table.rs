//! What each command is called, what it does, where it stands, and its keys.

use super::Command;
use crate::deform::diagnostics::Metric;
use crate::deform::{MaskKind, SkinningMethod, StackPreset};
use crate::document::PaneLayout;
use crate::document::session::{BrushKind, PaintTarget, Projection};
use crate::editor::{OperationKind, WeightView};
use crate::math::Axis;
use crate::skeleton::InBetweens;
use crate::view::chord::Chord;
use crate::view::frame::{PanelKind, Workspace};
use crate::view::heat::Ramp;
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::view::theme::ThemeChoice;
use crate::weights::operation::PasteBy;
use egui::Key;

/// The menu a command stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Models and projects.
    File,
    /// Steps, names, preferences.
    Edit,
    /// What is selected and what is hidden.
    Select,
    /// Camera and looks.
    View,
    /// Bones in their places.
    Pose,
    /// Brush and locks.
    Weights,
    /// Clips, keys, time.
    Animation,
    /// How bones bend the surface.
    Skinning,
    /// Modes, panels, workspaces, theme.
    Window,
    /// How to find out.
    Help,
}

impl Group {
    /// Every menu, in the order of the bar.
    pub const ALL: [Self; 10] = [
        Self::File,
        Self::Edit,
        Self::Select,
        Self::View,
        Self::Pose,
        Self::Weights,
        Self::Animation,
        Self::Skinning,
        Self::Window,
        Self::Help,
    ];

    /// Its title.
    pub fn label(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Edit => "Edit",
            Self::Select => "Select",
            Self::View => "View",
            Self::Pose => "Pose",
            Self::Weights => "Weights",
            Self::Animation => "Animation",
            Self::Skinning => "Skinning",
            Self::Window => "Window",
            Self::Help => "Help",
        }
    }
}

/// One command of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which.
    pub command: Command,
    /// Its name in settings files; never changes.
    pub id: &'static str,
    /// What menus and buttons say.
    pub label: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// Its menu.
    pub group: Group,
    /// Its keys in the Blender preset, the one that is shown first.
    pub blender: &'static [Chord],
    /// Its keys in the Maya preset.
    pub maya: &'static [Chord],
    /// The modes in which its keys count.
    pub modes: &'static [Mode],
    /// The submenu it stands in; empty: none.
    pub submenu: &'static str,
    /// Whether a line stands above it in its menu.
    pub starts_part: bool,
}

const fn row(
    group: Group,
    command: Command,
    id: &'static str,
    label: &'static str,
    about: &'static str,
) -> Row {
    Row {
        command,
        id,
        label,
        about,
        group,
        blender: &[],
        maya: &[],
        modes: &Mode::ALL,
        submenu: "",
        starts_part: false,
    }
}

impl Row {
    /// The same keys in both presets.
    const fn keys(mut self, keys: &'static [Chord]) -> Self {
        self.blender = keys;
        self.maya = keys;
        self
    }

    /// Other keys in either preset.
    const fn presets(mut self, blender: &'static [Chord], maya: &'static [Chord]) -> Self {
        self.blender = blender;
        self.maya = maya;
        self
    }

    /// In a submenu.
    const fn under(mut self, submenu: &'static str) -> Self {
        self.submenu = submenu;
        self
    }

    /// Under a line.
    const fn part(mut self) -> Self {
        self.starts_part = true;
        self
    }

    /// Keys that count in some modes only.
    const fn only_in(mut self, modes: &'static [Mode]) -> Self {
        self.modes = modes;
        self
    }
}

/// Every command, menu by menu, in the order in which it is shown.
pub const TABLE: &[Row] = &[
    row(Group::File, Command::Open, "file.open", "Open…", "Open a glTF model or a Sinew project. You can also drop a file on the window.").keys(&[Chord::key(Key::O).ctrl()]),
    row(Group::File, Command::Sample("arm"), "file.sample_arm", "Sample arm", "Open a model that comes with Sinew.").under("Samples"),
    row(Group::File, Command::Sample("hand"), "file.sample_hand", "Sample hand", "Open a model that comes with Sinew.").under("Samples"),
    row(Group::File, Command::Sample("mannequin"), "file.sample_mannequin", "Sample mannequin", "Open a model that comes with Sinew.").under("Samples"),
    row(Group::File, Command::Sample("cylinder"), "file.sample_cylinder", "Sample cylinder", "Open a model that comes with Sinew.").under("Samples"),
    row(Group::File, Command::Save, "file.save", "Save project", "Save what you changed as a project; the model's own file is never touched.").keys(&[Chord::key(Key::S).ctrl()]).part(),
    row(Group::File, Command::SaveAs, "file.save_as", "Save project as…", "Save the project under another name.").keys(&[Chord::key(Key::S).ctrl().shift()]),
    row(Group::File, Command::Export, "file.export", "Export glTF…", "Write a glTF file with your weights, clips and names; everything else as it came.").keys(&[Chord::key(Key::E).ctrl()]),
    row(Group::File, Command::ExportStill, "file.export_still", "Export still…", "Write the moment on screen as a mesh that never moves: glTF or Wavefront OBJ.").keys(&[Chord::key(Key::E).ctrl().shift()]),
    row(Group::File, Command::Quit, "file.quit", "Quit", "End Sinew.").keys(&[Chord::key(Key::Q).ctrl()]).part(),
    row(Group::Edit, Command::Undo, "edit.undo", "Undo", "Take the newest step back.").presets(&[Chord::key(Key::Z).ctrl()], &[Chord::key(Key::Z).ctrl(), Chord::key(Key::Z)]),
    row(Group::Edit, Command::Redo, "edit.redo", "Redo", "Do the step undone last again.").presets(&[Chord::key(Key::Z).ctrl().shift(), Chord::key(Key::Y).ctrl()], &[Chord::key(Key::Z).ctrl().shift(), Chord::key(Key::Y).ctrl(), Chord::key(Key::Z).shift()]),
    row(Group::Edit, Command::Rename, "edit.rename", "Rename bone…", "Give the active bone another name.").keys(&[Chord::key(Key::F2)]).part(),
    row(Group::Edit, Command::Preferences, "edit.preferences", "Preferences…", "Key map, navigation, theme and size of the interface.").keys(&[Chord::key(Key::Comma).ctrl()]).part(),
    row(Group::Select, Command::SelectBones, "select.bones", "Select bones", "Clicks, boxes and loops pick bones."),
    row(Group::Select, Command::SelectPoints, "select.points", "Select points", "Clicks, boxes and loops pick points of the surface."),
    row(Group::Select, Command::SelectAll, "select.all", "Select all", "Select every bone, or every point.").presets(&[Chord::key(Key::A)], &[Chord::key(Key::A).ctrl().shift()]).part(),
    row(Group::Select, Command::SelectNone, "select.none", "Select none", "Select nothing.").keys(&[Chord::key(Key::A).alt()]),
    row(Group::Select, Command::SelectInverse, "select.inverse", "Invert selection", "Select what is not selected.").presets(&[Chord::key(Key::I).ctrl()], &[Chord::key(Key::I).ctrl().shift()]),
    row(Group::Select, Command::SelectLinked, "select.linked", "Select linked", "Select the rest of each island of points, or of each chain of bones.").keys(&[Chord::key(Key::L).ctrl()]),
    row(Group::Select, Command::SelectMore, "select.more", "Grow selection", "Select the neighbours too.").presets(&[Chord::key(Key::Plus).ctrl()], &[Chord::key(Key::Period).shift()]),
    row(Group::Select, Command::SelectLess, "select.less", "Shrink selection", "Take the border out of the selection.").presets(&[Chord::key(Key::Minus).ctrl()], &[Chord::key(Key::Comma).shift()]),
    row(Group::Select, Command::SelectMoved, "select.moved", "Select points of bone", "Select the points that the selected bones move.").keys(&[Chord::key(Key::L).shift()]),
    row(Group::Select, Command::SelectByWeight, "select.by_weight", "Select by weight…", "Select the points in which the active bone has a weight from one value to another.").under("Points by weights"),
    row(Group::Select, Command::SelectUnweighted, "select.unweighted", "Select unweighted points", "Select the points that no bone moves.").under("Points by weights"),
    row(Group::Select, Command::SelectOverInfluenced, "select.over_influenced", "Select over-influenced points", "Select the points that more bones move than the brush's limit.").under("Points by weights"),
    row(Group::Select, Command::SelectOffSum, "select.off_sum", "Select points with a sum off 1", "Select the points whose weights do not add up to 1.").under("Points by weights"),
    row(Group::Select, Command::SelectMirrored, "select.mirrored", "Mirror selection", "Select the other side, across X, of the selected points or bones."),
    row(Group::Select, Command::SelectBox, "select.box", "Box select", "Drag a box around what is meant. Shift adds, Ctrl takes away.").presets(&[Chord::key(Key::B)], &[Chord::key(Key::B).shift()]).only_in(&[Mode::Select, Mode::Pose]).part(),
    row(Group::Select, Command::SelectCircle, "select.circle", "Circle select", "Select under a circle; the wheel sizes it, Esc ends it.").presets(&[Chord::key(Key::C)], &[Chord::key(Key::C).shift()]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Select, Command::SelectLasso, "select.lasso", "Lasso select", "Draw a loop around what is meant. Shift adds, Ctrl takes away.").presets(&[Chord::key(Key::C).shift()], &[Chord::key(Key::L).ctrl().shift()]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Select, Command::SelectThrough, "select.through", "Select through", "Boxes, circles and loops also reach points that face away or are covered."),
    row(Group::Select, Command::Hide, "select.hide", "Hide selected", "Hide what is selected.").presets(&[Chord::key(Key::H)], &[Chord::key(Key::H).ctrl()]).part(),
    row(Group::Select, Command::HideOthers, "select.hide_others", "Hide unselected", "Hide what is not selected.").presets(&[Chord::key(Key::H).shift()], &[Chord::key(Key::H).alt()]),
    row(Group::Select, Command::ShowAll, "select.show_all", "Show hidden", "Show everything that was hidden.").presets(&[Chord::key(Key::H).alt()], &[Chord::key(Key::H).ctrl().shift()]),
    row(Group::Select, Command::Isolate, "select.isolate", "Isolate", "Show only what is selected; again brings the rest back.").presets(&[Chord::key(Key::Slash)], &[Chord::key(Key::I).shift()]),
    row(Group::View, Command::Show(Shading::Textured), "view.textured", "Textured", "Show the model with its textures.").presets(&[], &[Chord::key(Key::Num6)]),
    row(Group::View, Command::Show(Shading::Shaded), "view.shaded", "Shaded", "Show plain clay: the best light to judge form.").presets(&[], &[Chord::key(Key::Num5)]),
    row(Group::View, Command::Show(Shading::Form), "view.form", "Form", "Show clay between strip lights, hollows dark and ridges bright: bulges and collapses stand out."),
    row(Group::View, Command::Show(Shading::Weights), "view.weights", "Weight colours", "Show the weights of the active bone, or the map that is painted; hatched grey where there is none.").presets(&[], &[Chord::key(Key::Num7)]),
    row(Group::View, Command::Show(Shading::Wire), "view.wire", "Wire", "Show the edges.").presets(&[], &[Chord::key(Key::Num4)]),
    row(Group::View, Command::Show(Shading::HeatMap), "view.heat_map", "Heat map", "Show how good the deformation is as colours: the metric chosen last.").presets(&[], &[Chord::key(Key::Num8)]),
    row(Group::View, Command::UseWeightView(WeightView::Painted), "view.weights_painted", "Weights of active bone", "Colour the weights of the active bone, or the map that is painted.").under("What weights show"),
    row(Group::View, Command::UseWeightView(WeightView::Bones), "view.weights_bones", "Colours of all bones", "Mix the colours of all bones by their weights, to see who moves what.").under("What weights show"),
    row(Group::View, Command::UseWeightView(WeightView::Count), "view.weights_count", "Number of influences", "Show how many bones move each point; more than the brush's limit are striped.").under("What weights show"),
    row(Group::View, Command::UseWeightView(WeightView::Sum), "view.weights_sum", "Sums of weights", "Show where weights do not add up to 1: too little blue, too much red, both striped.").under("What weights show"),
    row(Group::View, Command::ToggleIsolines, "view.isolines", "Lines of equal weight", "Draw a line at each tenth of the weights of the active bone.").under("What weights show"),
    row(Group::View, Command::ToggleLockPattern, "view.lock_pattern", "Stripes of locked weights", "Stripe points by how much of their weights is locked.").under("What weights show"),
    row(Group::View, Command::UseMetric(Metric::Bulge), "view.heat_bulge", "Bulge heat map", "Show how much farther from its bones skin is than at rest.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::EdgeStrain), "view.heat_strain", "Edge strain heat map", "Show how much longer or shorter edges are than at rest.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::AreaChange), "view.heat_area", "Area change heat map", "Show how much faces have grown or shrunk.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::Discontinuity), "view.heat_discontinuity", "Discontinuity heat map", "Show where the corrections after skinning jump: amber and red begin to tear.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::Crease), "view.heat_crease", "Crease heat map", "Show where the stretch and turn of the skin change from face to face.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::FoldOver), "view.heat_fold", "Fold-over heat map", "Show faces that are turned inside out.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::NormalError), "view.heat_normals", "Normal error heat map", "Show the angle between the normals that light falls on and those of the surface.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::Difference), "view.heat_difference", "Difference heat map", "Show how far points are from where another stack puts them.").under("Heat maps"),
    row(Group::View, Command::MetricPie, "view.heat_pie", "Heat maps…", "Choose a heat map by moving the pointer.").presets(&[Chord::key(Key::Z).shift()], &[Chord::key(Key::Num8).shift()]),
    row(Group::View, Command::FrameWorst, "view.frame_worst", "Frame worst point", "Move the camera to the place where the heat map is worst."),
    row(Group::View, Command::UseRamp(Ramp::Perceptual), "view.ramp_perceptual", "Perceptual weight colours", "Show weights in colours of even steps, also for colour-blind eyes.").under("Colours of weights"),
    row(Group::View, Command::UseRamp(Ramp::Rainbow), "view.ramp_rainbow", "Rainbow weight colours", "Show weights from blue over green and yellow to red, as Blender does.").under("Colours of weights"),
    row(Group::View, Command::UseRamp(Ramp::Grey), "view.ramp_grey", "Grey weight colours", "Show weights from black to white.").under("Colours of weights"),
    row(Group::View, Command::ToggleBones, "view.bones", "Show bones", "Show or hide the bones.").part(),
    row(Group::View, Command::ToggleXray, "view.xray", "Bones through skin", "Show bones, dimmed, through what hides them.").presets(&[Chord::key(Key::Z).alt()], &[Chord::key(Key::X).alt()]),
    row(Group::View, Command::ToggleNames, "view.names", "Bone names", "Show or hide the names of bones."),
    row(Group::View, Command::ToggleHoverBar, "view.hover_bar", "Influences under pointer", "While painting, show beside the pointer which bones move the point under it."),
    row(Group::View, Command::ToggleGrid, "view.grid", "Show grid", "Show or hide the ground grid."),
    row(Group::View, Command::ToggleWire, "view.wire_overlay", "Wire over surface", "Draw fine edges over the surface."),
    row(Group::View, Command::FrameAll, "view.frame_all", "Frame all", "Move the camera until everything fits.").presets(&[Chord::key(Key::Home)], &[Chord::key(Key::A), Chord::key(Key::Home)]).part(),
    row(Group::View, Command::FrameSelected, "view.frame_selected", "Frame selected", "Move the camera to the selection.").presets(&[Chord::key(Key::Period)], &[Chord::key(Key::F)]),
    row(Group::View, Command::ViewFront, "view.front", "Front view", "Look at the front, along the Z axis.").presets(&[Chord::key(Key::Num1)], &[]).under("Look from"),
    row(Group::View, Command::ViewBack, "view.back", "Back view", "Look at the back.").presets(&[Chord::key(Key::Num1).ctrl()], &[]).under("Look from"),
    row(Group::View, Command::ViewRight, "view.right", "Right view", "Look along the X axis.").presets(&[Chord::key(Key::Num3)], &[]).under("Look from"),
    row(Group::View, Command::ViewLeft, "view.left", "Left view", "Look along the X axis from the other side.").presets(&[Chord::key(Key::Num3).ctrl()], &[]).under("Look from"),
    row(Group::View, Command::ViewTop, "view.top", "Top view", "Look from above, along the Y axis.").presets(&[Chord::key(Key::Num7)], &[]).under("Look from"),
    row(Group::View, Command::ViewBottom, "view.bottom", "Bottom view", "Look from below.").presets(&[Chord::key(Key::Num7).ctrl()], &[]).under("Look from"),
    row(Group::View, Command::ViewOpposite, "view.opposite", "Opposite view", "Look from the other side.").presets(&[Chord::key(Key::Num9)], &[]).under("Look from"),
    row(Group::View, Command::OrbitLeft, "view.orbit_left", "Orbit left", "Turn the view by 15 degrees.").presets(&[Chord::key(Key::Num4)], &[]).under("Look from"),
    row(Group::View, Command::OrbitRight, "view.orbit_right", "Orbit right", "Turn the view by 15 degrees.").presets(&[Chord::key(Key::Num6)], &[]).under("Look from"),
    row(Group::View, Command::OrbitUp, "view.orbit_up", "Orbit up", "Turn the view by 15 degrees.").presets(&[Chord::key(Key::Num8)], &[]).under("Look from"),
    row(Group::View, Command::OrbitDown, "view.orbit_down", "Orbit down", "Turn the view by 15 degrees.").presets(&[Chord::key(Key::Num2)], &[]).under("Look from"),
    row(Group::View, Command::ToggleOrthographic, "view.orthographic", "Orthographic", "Switch between perspective and parallel projection.").presets(&[Chord::key(Key::Num5)], &[]),
    row(Group::View, Command::UsePanes(PaneLayout::One), "view.panes_one", "One pane", "Show one picture.").keys(&[Chord::key(Key::F5)]).under("Panes").part(),
    row(Group::View, Command::UsePanes(PaneLayout::Two), "view.panes_two", "Two panes", "Show two pictures side by side, each with a stack of its own.").keys(&[Chord::key(Key::F6)]).under("Panes"),
    row(Group::View, Command::UsePanes(PaneLayout::Four), "view.panes_four", "Four panes", "Show four pictures, each with a stack of its own.").keys(&[Chord::key(Key::F7)]).under("Panes"),
    row(Group::View, Command::UsePanes(PaneLayout::Wipe), "view.panes_wipe", "Wipe", "Show two stacks over each other, with a line between them to drag.").keys(&[Chord::key(Key::F8)]).under("Panes"),
    row(Group::View, Command::ShowBefore, "view.before", "Show before", "While its key is held the picture under the pointer shows what was before. Chosen in a menu, it stays until it is chosen again.").keys(&[Chord::key(Key::Backtick)]),
    row(Group::View, Command::UseBefore(StackPreset::Lbs), "view.before_lbs", "Before is LBS", "Before is linear blend skinning, as other viewers draw it.").under("Before"),
    row(Group::View, Command::UseBefore(StackPreset::Dqs), "view.before_dqs", "Before is DQS", "Before is dual quaternion skinning with nothing after it.").under("Before"),
    row(Group::View, Command::UseBefore(StackPreset::Compensation), "view.before_compensation", "Before is DQS + compensation", "Before is dual quaternion skinning with bulge compensation.").under("Before"),
    row(Group::View, Command::UseBefore(StackPreset::Projection), "view.before_projection", "Before is DQS + projection", "Before is dual quaternion skinning with bulge projection.").under("Before"),
    row(Group::View, Command::UseBefore(StackPreset::CentresOfRotation), "view.before_cor", "Before is centres of rotation", "Before is skinning about optimised centres of rotation.").under("Before"),
    row(Group::View, Command::UseBefore(StackPreset::Default), "view.before_default", "Before is the default stack", "Before is what a new model has.").under("Before"),
    row(Group::View, Command::KeepBefore, "view.before_keep", "Before is the stack as it is now", "Before is the stack as it is now, whatever becomes of it: change it and compare.").under("Before"),
    row(Group::Pose, Command::PoseMove, "pose.move", "Move", "Move the selected bones: X, Y, Z hold an axis, type a distance, Enter keeps, Esc takes back.").presets(&[Chord::key(Key::G)], &[Chord::key(Key::W)]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::PoseRotate, "pose.rotate", "Rotate", "Rotate the selected bones: X, Y, Z hold an axis, type an angle, Enter keeps, Esc takes back.").presets(&[Chord::key(Key::R)], &[Chord::key(Key::E)]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::PoseScale, "pose.scale", "Scale", "Scale the selected bones: X, Y, Z hold an axis, type a factor, Enter keeps, Esc takes back.").presets(&[Chord::key(Key::S)], &[Chord::key(Key::R)]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::CycleSpace, "pose.space", "Next axes", "Turn the axes: of the bone, of the world, of the parent.").presets(&[Chord::key(Key::Comma)], &[Chord::key(Key::W).ctrl()]).only_in(&[Mode::Select, Mode::Pose]).part(),
    row(Group::Pose, Command::ClearLocation, "pose.clear_location", "Clear location", "Move the selected bones back to their rest place.").presets(&[Chord::key(Key::G).alt()], &[Chord::key(Key::W).alt()]).only_in(&[Mode::Select, Mode::Pose]).under("Clear").part(),
    row(Group::Pose, Command::ClearRotation, "pose.clear_rotation", "Clear rotation", "Turn the selected bones back to rest.").presets(&[Chord::key(Key::R).alt()], &[Chord::key(Key::E).alt()]).only_in(&[Mode::Select, Mode::Pose]).under("Clear"),
    row(Group::Pose, Command::ClearScale, "pose.clear_scale", "Clear scale", "Give the selected bones their rest size.").presets(&[Chord::key(Key::S).alt()], &[Chord::key(Key::R).alt()]).only_in(&[Mode::Select, Mode::Pose]).under("Clear"),
    row(Group::Pose, Command::ResetPose, "pose.reset", "Reset pose", "Put the selected bones, or all, back to rest.").under("Clear"),
    row(Group::Pose, Command::CopyPose, "pose.copy", "Copy pose", "Copy the pose of the selected bones, or of all.").keys(&[Chord::key(Key::C).ctrl()]).only_in(&[Mode::Select, Mode::Pose]).part(),
    row(Group::Pose, Command::PastePose, "pose.paste", "Paste pose", "Give bones of the same names the copied pose.").keys(&[Chord::key(Key::V).ctrl()]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::PasteFlipped, "pose.paste_flipped", "Paste pose flipped", "Paste the copied pose with left and right swapped.").keys(&[Chord::key(Key::V).ctrl().shift()]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::TogglePin, "pose.pin", "Pin", "Hold the end of a chain in its place; dragging it bends the chain.").presets(&[Chord::key(Key::I).shift()], &[Chord::key(Key::P).ctrl()]).only_in(&[Mode::Select, Mode::Pose]).part(),
    row(Group::Weights, Command::Paint(PaintTarget::Weights), "paint.weights", "Paint bone weights", "Paint how strongly points follow the active bone.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::LayerMask), "paint.layer_mask", "Paint layer mask", "Paint how much of the active layer points take: 0 nothing, 1 all of it.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Blend)), "paint.blend", "Paint dual quaternion share", "Paint where skinning is linear (0) and where it is by dual quaternions (1).").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Compensation)), "paint.compensation", "Paint compensation strength", "Paint how much bulge compensation moves points: 0 not at all, 1 as set, 2 twice as far.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Projection)), "paint.projection", "Paint projection strength", "Paint how much bulge projection moves points: 0 not at all, 1 as set.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Smooth)), "paint.smooth", "Paint smoothing strength", "Paint how much the corrective smooth moves points: 0 not at all, 1 as set.").under("Paint"),
    row(Group::Weights, Command::UseBrush(BrushKind::Add), "brush.add", "Add brush", "Add the brush's value; Ctrl takes it away, Shift smooths.").keys(&[Chord::key(Key::Num1).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Replace), "brush.replace", "Replace brush", "Go towards the brush's value; Ctrl towards 0, Shift smooths.").keys(&[Chord::key(Key::Num2).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Scale), "brush.scale", "Scale brush", "Multiply by the brush's value; Ctrl divides by it, Shift smooths.").keys(&[Chord::key(Key::Num3).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Smooth), "brush.smooth", "Smooth brush", "Go towards the mean of the neighbours; Ctrl sharpens.").keys(&[Chord::key(Key::Num4).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Sharpen), "brush.sharpen", "Sharpen brush", "Go away from the mean of the neighbours; Ctrl and Shift smooth.").keys(&[Chord::key(Key::Num5).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Gradient), "brush.gradient", "Gradient brush", "Drag a line: the brush's value at its start fades to its end. Ctrl fades from 0.").keys(&[Chord::key(Key::Num6).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Radial), "brush.radial", "Radial gradient brush", "Drag a circle: the brush's value in its middle fades to its rim. Ctrl fades from 0.").keys(&[Chord::key(Key::Num7).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Sample), "brush.sample", "Sample brush", "Take what is under the pointer for the brush; Ctrl picks the bone there.").keys(&[Chord::key(Key::Num8).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseProjection(Projection::Surface), "brush.surface", "Paint along the surface", "Measure distance along the surface: the brush never reaches over to the next finger.").under("Brush reach"),
    row(Group::Weights, Command::UseProjection(Projection::Volume), "brush.volume", "Paint in a ball", "Measure distance through the air.").under("Brush reach"),
    row(Group::Weights, Command::UseProjection(Projection::Screen), "brush.screen", "Paint in a circle on the screen", "Measure distance on the screen.").under("Brush reach"),
    row(Group::Weights, Command::ToggleBrushXray, "brush.xray", "Paint hidden points", "Reach points that something hides from the eye, or not.").under("Brush reach"),
    row(Group::Weights, Command::ToggleAccumulate, "brush.accumulate", "Accumulate", "Touches of one stroke add up, or it goes no further than the strength.").under("Brush reach"),
    row(Group::Weights, Command::UseSymmetry(None), "brush.symmetry_off", "Symmetry off", "Paint one side only.").under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(Some(Axis::X)), "brush.symmetry_x", "Symmetry across X", "Paint left and right at once, by the bind pose.").under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(Some(Axis::Y)), "brush.symmetry_y", "Symmetry across Y", "Paint above and below at once, by the bind pose.").under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(Some(Axis::Z)), "brush.symmetry_z", "Symmetry across Z", "Paint front and back at once, by the bind pose.").under("Brush symmetry"),
    row(Group::Weights, Command::FillMap, "map.fill", "Fill map", "Give the painted map the brush's value: at the selected points, or on the whole active object.").under("Map"),
    row(Group::Weights, Command::ClearMap, "map.clear", "Clear map", "Make the painted map 1, as if it had never been painted: at the selected points, or on the whole active object.").under("Map"),
    row(Group::Weights, Command::InvertMap, "map.invert", "Invert map", "Turn the painted map about the middle of its range, so that its largest value becomes 0: at the selected points, or on the whole active object.").under("Map"),
    row(Group::Weights, Command::AddLayer, "layer.add", "Add layer", "Add a layer over the active one: changes that you can fade, mute or throw away.").under("Layers"),
    row(Group::Weights, Command::DuplicateLayer, "layer.duplicate", "Duplicate layer", "Add a copy of the active layer over it.").under("Layers"),
    row(Group::Weights, Command::DeleteLayer, "layer.delete", "Delete layer", "Throw the active layer away.").under("Layers"),
    row(Group::Weights, Command::RenameLayer, "layer.rename", "Rename layer…", "Give the active layer another name.").under("Layers"),
    row(Group::Weights, Command::LayerUp, "layer.up", "Move layer up", "Put the active layer over the one above it.").under("Layers"),
    row(Group::Weights, Command::LayerDown, "layer.down", "Move layer down", "Put the active layer under the one below it.").under("Layers"),
    row(Group::Weights, Command::MuteLayer, "layer.mute", "Mute layer", "Leave the active layer out of what is shown, and put it back.").under("Layers"),
    row(Group::Weights, Command::SoloLayer, "layer.solo", "Show layer alone", "Show only the active layer over the base, and all again.").under("Layers"),
    row(Group::Weights, Command::EraseFromLayer, "layer.erase", "Erase from layer", "Make the active layer say nothing at the selected points, or nowhere, so that what lies below is shown.").under("Layers"),
    row(Group::Weights, Command::MergeLayerDown, "layer.merge_down", "Merge layer down", "Make the active layer and the one below it one, with the look of both.").under("Layers"),
    row(Group::Weights, Command::FlattenLayers, "layer.flatten", "Flatten layers", "Make what the layers show the weights of the object, without layers.").under("Layers"),
    row(Group::Weights, Command::BrushRadius, "paint.radius", "Brush radius", "Move the pointer to size the brush; click keeps, Esc takes back.").presets(&[Chord::key(Key::F)], &[Chord::key(Key::B)]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::BrushStrength, "paint.strength", "Brush strength", "Move the pointer to set the strength; click keeps, Esc takes back.").presets(&[Chord::key(Key::F).shift()], &[Chord::key(Key::M)]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::BrushWeight, "paint.weight", "Brush weight", "Move the pointer to set the weight; click keeps, Esc takes back.").presets(&[Chord::key(Key::F).ctrl()], &[Chord::key(Key::N)]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::SmallerBrush, "paint.smaller", "Smaller brush", "Make the brush smaller.").keys(&[Chord::key(Key::OpenBracket)]).under("Adjust brush"),
    row(Group::Weights, Command::LargerBrush, "paint.larger", "Larger brush", "Make the brush larger.").keys(&[Chord::key(Key::CloseBracket)]).under("Adjust brush"),
    row(Group::Weights, Command::SwapWeight, "paint.swap", "Swap 1 and 0", "Paint with 0, and again with 1.").keys(&[Chord::key(Key::X)]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::SampleWeight, "paint.sample", "Sample weight", "Take what is under the pointer for the brush: the weight of the active bone, or the value of the painted map.").keys(&[Chord::key(Key::X).shift()]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::PickBone, "paint.pick_bone", "Pick bone", "Make the bone that moves the surface under the pointer the active one.").keys(&[Chord::key(Key::X).ctrl().shift()]).under("Adjust brush"),
    row(Group::Weights, Command::Operate(OperationKind::Normalise), "weights.normalise", "Normalise weights", "Scale each point's weights so that they add up to 1. Works on the selected points, or on all; settings stay open below until the next edit.").under("Clean up").part(),
    row(Group::Weights, Command::Operate(OperationKind::Limit), "weights.limit", "Limit influences", "Keep only the largest weights of each point.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Prune), "weights.prune", "Prune small weights", "Take weights below a value away.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Quantise), "weights.quantise", "Quantise weights", "Round weights to steps.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Hammer), "weights.hammer", "Hammer weights", "Give points that stand out the weights of what is around them.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Smooth), "weights.smooth", "Smooth weights", "Average weights with those of the neighbours."),
    row(Group::Weights, Command::Operate(OperationKind::Flood), "weights.flood", "Flood weights", "Give the active bone one weight at all points, add to it, or scale it.").under("Bone's weights"),
    row(Group::Weights, Command::Operate(OperationKind::Invert), "weights.invert", "Invert weights", "Turn the active bone's weights w into 1 - w.").under("Bone's weights"),
    row(Group::Weights, Command::Operate(OperationKind::Levels), "weights.levels", "Weight levels", "Stretch and bend weights as the levels of a picture.").under("Bone's weights"),
    row(Group::Weights, Command::Operate(OperationKind::Move), "weights.move", "Move to another bone", "Give the active bone's weights to another bone.").under("Bone's weights"),
    row(Group::Weights, Command::Operate(OperationKind::Merge), "weights.merge", "Merge into active", "Give the weights of the selected bones to the active one.").under("Bone's weights"),
    row(Group::Weights, Command::Operate(OperationKind::Swap), "weights.swap", "Swap two bones", "Exchange the weights of two bones.").under("Bone's weights"),
    row(Group::Weights, Command::Operate(OperationKind::Mirror), "weights.mirror", "Mirror weights", "Copy weights from one side to the other, left bones to right ones.").under("Mirror"),
    row(Group::Weights, Command::Operate(OperationKind::Flip), "weights.flip", "Flip weights", "Exchange the weights of the two sides.").under("Mirror"),
    row(Group::Weights, Command::AdjustLast, "weights.adjust_last", "Adjust last operation", "Show the settings of the operation on weights that was done last, or put them away. They can be changed until the next edit.").keys(&[Chord::key(Key::F9)]),
    row(Group::Weights, Command::CopyWeights, "weights.copy", "Copy weights", "Keep the weights of the selected points aside, or of the whole object.").keys(&[Chord::key(Key::C).ctrl()]).only_in(&[Mode::Paint]).part(),
    row(Group::Weights, Command::Operate(OperationKind::Paste(PasteBy::Point)), "weights.paste", "Paste weights", "Put copied weights back, point by point; one copied point goes to all that are selected.").keys(&[Chord::key(Key::V).ctrl()]).only_in(&[Mode::Paint]),
    row(Group::Weights, Command::Operate(OperationKind::Paste(PasteBy::Surface)), "weights.paste_surface", "Paste by surface", "Put copied weights where the surfaces are closest in bind pose.").keys(&[Chord::key(Key::V).ctrl().shift()]).only_in(&[Mode::Paint]),
    row(Group::Weights, Command::Operate(OperationKind::Automatic), "weights.automatic", "Automatic weights", "Compute weights from the bones and the surface.").part(),
    row(Group::Weights, Command::TransferFrom, "weights.transfer", "Transfer from model…", "Take weights from the closest places of another model."),
    row(Group::Weights, Command::ImportWeights, "weights.import", "Import weights…", "Take weights from a weights file."),
    row(Group::Weights, Command::ExportWeights, "weights.export", "Export weights…", "Write all weights to a weights file, bones by name."),
    row(Group::Weights, Command::LockActive, "weights.lock", "Lock weights", "Keep the weights of the active bone as they are, or no longer.").part().under("Locks"),
    row(Group::Weights, Command::LockOthers, "weights.lock_others", "Lock others", "Keep the weights of all bones but the active one.").under("Locks"),
    row(Group::Weights, Command::UnlockAll, "weights.unlock_all", "Unlock all", "Let all weights change.").under("Locks"),
    row(Group::Weights, Command::InvertLocks, "weights.invert_locks", "Invert locks", "Lock what is free and free what is locked.").under("Locks"),
    row(Group::Weights, Command::LockPie, "weights.lock_pie", "Locks…", "Choose what is locked by moving the pointer.").keys(&[Chord::key(Key::K)]).under("Locks"),
    row(Group::Animation, Command::PlayPause, "animate.play", "Play / pause", "Play the clip, or stop.").presets(&[Chord::key(Key::Space)], &[Chord::key(Key::Space), Chord::key(Key::V).alt()]),
    row(Group::Animation, Command::KeyPose, "animate.key", "Key pose", "Keep the pose of the selected bones in the clip at this time.").presets(&[Chord::key(Key::I)], &[Chord::key(Key::S)]).part(),
    row(Group::Animation, Command::DeleteKeys, "animate.delete_keys", "Delete keys", "Take the keys of the selected bones at this time out of the clip.").presets(&[Chord::key(Key::I).alt()], &[Chord::key(Key::S).alt()]),
    row(Group::Animation, Command::NextKey, "animate.next_key", "Next key", "Go to the next key of the selected bones.").presets(&[Chord::key(Key::ArrowUp)], &[Chord::key(Key::Period)]).part(),
    row(Group::Animation, Command::PreviousKey, "animate.previous_key", "Previous key", "Go to the key before, of the selected bones.").presets(&[Chord::key(Key::ArrowDown)], &[Chord::key(Key::Comma)]),
    row(Group::Animation, Command::NextFrame, "animate.next_frame", "Next frame", "Go one frame on.").presets(&[Chord::key(Key::ArrowRight)], &[Chord::key(Key::Period).alt()]),
    row(Group::Animation, Command::PreviousFrame, "animate.previous_frame", "Previous frame", "Go one frame back.").presets(&[Chord::key(Key::ArrowLeft)], &[Chord::key(Key::Comma).alt()]),
    row(Group::Animation, Command::FirstFrame, "animate.first", "To start", "Go to the start of the clip or of the loop.").presets(&[Chord::key(Key::ArrowLeft).shift()], &[Chord::key(Key::V).alt().shift()]),
    row(Group::Animation, Command::LastFrame, "animate.last", "To end", "Go to the end of the clip or of the loop.").keys(&[Chord::key(Key::ArrowRight).shift()]),
    row(Group::Animation, Command::ToggleLoop, "animate.loop", "Loop", "Begin again at the end, or stop there.").part(),
    row(Group::Animation, Command::SetLoopStart, "animate.loop_start", "Loop from here", "Begin the loop at this time."),
    row(Group::Animation, Command::SetLoopEnd, "animate.loop_end", "Loop to here", "End the loop at this time."),
    row(Group::Animation, Command::ClearLoop, "animate.loop_clear", "Loop whole clip", "Play all of the clip again."),
    row(Group::Animation, Command::NewClip, "animate.new", "New clip", "Add an empty clip and show it.").part(),
    row(Group::Animation, Command::DuplicateClip, "animate.duplicate", "Duplicate clip", "Add a copy of the clip and show it."),
    row(Group::Animation, Command::RenameClip, "animate.rename", "Rename clip", "Give the clip on screen another name."),
    row(Group::Animation, Command::DeleteClip, "animate.delete", "Delete clip", "Take the clip out of the model."),
    row(Group::Animation, Command::UseInBetweens(InBetweens::Components), "animate.in_betweens_components", "In-betweens by components", "Between keys, locations and rotations go their own ways, as in every glTF player: a bone that turns while it moves goes on a straight line.").under("In-betweens").part(),
    row(Group::Animation, Command::UseInBetweens(InBetweens::Screw), "animate.in_betweens_screw", "In-betweens along a screw", "Between keys, a bone that turns while it moves swings round in an arc at an even speed, like a part on a hinge. Exports add keys so that any player follows.").under("In-betweens"),
    row(Group::Animation, Command::UseInBetweens(InBetweens::ScrewDlb), "animate.in_betweens_dlb", "In-betweens along a screw (DLB)", "The same arc, slower near the keys and faster between them, as dual quaternion skinning blends.").under("In-betweens"),
    row(Group::Animation, Command::ToggleExported, "animate.exported", "Export this clip", "Write the clip on screen into exported files; switched off it is a preview that stays in the project."),
    row(Group::Animation, Command::RangeOfMotion, "animate.range_of_motion", "Range of motion…", "Make a preview clip that bends and twists the selected bones, or all, to see how the skin follows.").part(),
    row(Group::Animation, Command::ShowMyPose, "animate.my_pose", "Show my pose", "Show the pose you made, without a clip.").part(),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::Lbs), "skin.lbs", "Linear blend", "Linear blend skinning, as every glTF viewer draws it: joints collapse when they bend or twist."),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::Dqs), "skin.dqs", "Dual quaternion", "Dual quaternion skinning with two-phase scale: keeps the volume, bulges where joints bend."),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::CentresOfRotation), "skin.cor", "Centres of rotation", "Each point turns about a centre of its own (Le & Hodgins 2016): less bulge than dual quaternions, smooth everywhere."),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::Blend), "skin.blend", "Linear to dual quaternion", "A mix of linear and dual quaternion skinning, painted point by point."),
    row(Group::Skinning, Command::UsePreset(StackPreset::Lbs), "skin.preset_lbs", "LBS, as other viewers draw it", "Linear blend skinning and nothing after it: what other programs will show of the file.").part(),
    row(Group::Skinning, Command::UsePreset(StackPreset::Default), "skin.preset_default", "Default stack", "Two-phase dual quaternion skinning, bulge compensation, blended bulge projection.").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::Dqs), "skin.preset_dqs", "DQS alone", "Two-phase dual quaternion skinning and nothing after it.").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::Compensation), "skin.preset_compensation", "DQS + compensation", "Dual quaternion skinning, then bulge compensation (Sulema & Rudenko 2020).").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::Projection), "skin.preset_projection", "DQS + projection", "Dual quaternion skinning, then blended bulge projection (after Kim & Han 2014).").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::CentresOfRotation), "skin.preset_cor", "Centres of rotation alone", "Centres of rotation (Le & Hodgins 2016) and nothing after them.").under("Presets"),
    row(Group::Skinning, Command::CopyStack, "skin.copy", "Copy deformation", "Keep the deformation of the active object aside, all of its parts.").part(),
    row(Group::Skinning, Command::PasteStack, "skin.paste", "Paste deformation", "Give the objects that are meant the deformation that was copied."),
    row(Group::Skinning, Command::MeasureVolume, "skin.measure_volume", "Measure volume", "Measure how much volume the model keeps and how far it bulges, over the clip on screen.").part(),
    row(Group::Window, Command::SetMode(Mode::Select), "mode.select", "Select mode", "Click, box or lasso bones and points.").presets(&[], &[Chord::key(Key::Q)]),
    row(Group::Window, Command::SetMode(Mode::Pose), "mode.pose", "Pose mode", "Move, rotate and scale bones with the gizmo."),
    row(Group::Window, Command::SetMode(Mode::Paint), "mode.paint", "Paint mode", "Paint the weights of the active bone or a map of the stack: drag paints, Ctrl does the opposite, Shift smooths."),
    row(Group::Window, Command::SwapMode, "mode.swap", "Swap mode", "Go back to the mode before.").keys(&[Chord::key(Key::Tab)]).part(),
    row(Group::Window, Command::ModePie, "mode.pie", "Modes…", "Choose a mode by moving the pointer.").keys(&[Chord::key(Key::Tab).ctrl()]),
    row(Group::Window, Command::UseWorkspace(Workspace::Rig), "window.workspace_rig", "Rig workspace", "Look at the model and pick in it.").under("Workspaces").part(),
    row(Group::Window, Command::UseWorkspace(Workspace::Weights), "window.workspace_weights", "Weights workspace", "Paint weights.").under("Workspaces"),
    row(Group::Window, Command::UseWorkspace(Workspace::Animate), "window.workspace_animate", "Animate workspace", "Pose bones and key clips.").under("Workspaces"),
    row(Group::Window, Command::UseWorkspace(Workspace::Compare), "window.workspace_compare", "Compare workspace", "See stacks side by side.").under("Workspaces"),
    row(Group::Window, Command::NextWorkspace, "window.next_workspace", "Next workspace", "Go to the workspace to the right.").keys(&[Chord::key(Key::PageDown).ctrl()]).under("Workspaces"),
    row(Group::Window, Command::PreviousWorkspace, "window.previous_workspace", "Previous workspace", "Go to the workspace to the left.").keys(&[Chord::key(Key::PageUp).ctrl()]).under("Workspaces"),
    row(Group::Window, Command::ResetWorkspace, "window.reset_workspace", "Reset workspace", "Put the panels of this workspace back where they came.").under("Workspaces"),
    row(Group::Window, Command::TogglePanel(PanelKind::Hierarchy), "window.panel_hierarchy", "Hierarchy panel", "Show or hide the hierarchy.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Properties), "window.panel_properties", "Properties panel", "Show or hide the properties.").presets(&[Chord::key(Key::N)], &[]).under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Timeline), "window.panel_timeline", "Timeline panel", "Show or hide the timeline.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Problems), "window.panel_problems", "Problems panel", "Show or hide the problems.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::History), "window.panel_history", "History panel", "Show or hide the history.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Volume), "window.panel_volume", "Volume panel", "Show or hide volume and bulge over the clip.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Influences), "window.panel_influences", "Influences panel", "Show or hide weights as numbers: points by bones.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Layers), "window.panel_layers", "Layers panel", "Show or hide the layers of weights.").under("Panels"),
    row(Group::Window, Command::ToggleToolBar, "window.tool_bar", "Tool bar", "Show or hide the tool bar.").keys(&[Chord::key(Key::T)]).part(),
    row(Group::Window, Command::MaximisePanel, "window.maximise", "Maximise panel", "Give the panel under the pointer all the room; again puts it back.").keys(&[Chord::key(Key::Space).ctrl()]),
    row(Group::Window, Command::UseTheme(ThemeChoice::Dark), "window.theme_dark", "Dark theme", "Use the dark colours.").under("Theme"),
    row(Group::Window, Command::UseTheme(ThemeChoice::Light), "window.theme_light", "Light theme", "Use the light colours.").under("Theme"),
    row(Group::Window, Command::UseTheme(ThemeChoice::HighContrast), "window.theme_highcontrast", "High contrast theme", "Use the high contrast colours.").under("Theme"),
    row(Group::Window, Command::LargerInterface, "window.larger", "Larger interface", "Make text and icons larger.").keys(&[Chord::key(Key::Plus).ctrl().alt()]).under("Interface size"),
    row(Group::Window, Command::SmallerInterface, "window.smaller", "Smaller interface", "Make text and icons smaller.").keys(&[Chord::key(Key::Minus).ctrl().alt()]).under("Interface size"),
    row(Group::Window, Command::NormalInterface, "window.normal", "Normal interface", "Text and icons at their normal size.").keys(&[Chord::key(Key::Num0).ctrl().alt()]).under("Interface size"),
    row(Group::Help, Command::FindCommand, "help.find", "Find command…", "Find any command by its name and run it.").keys(&[Chord::key(Key::F3)]),
    row(Group::Help, Command::ShowKeys, "help.keys", "Keys and mouse", "Show what the mouse and the keys do in this mode.").keys(&[Chord::key(Key::F1)]),
    row(Group::Help, Command::Manual, "help.manual", "Manual", "Open the manual: keys, command line, formats, export, figures. It needs no network."),
    row(Group::Help, Command::Welcome, "help.welcome", "Welcome", "Recent projects, samples, key map and theme.").part(),
    row(Group::Help, Command::About, "help.about", "About Sinew", "Version and licences."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_explains_itself_and_is_called_something_of_its_own() {
        let mut ids = BTreeSet::new();
        let mut labels = BTreeSet::new();
        for row in TABLE {
            assert!(row.about.ends_with('.'), "{}", row.id);
            assert!(ids.insert(row.id), "{}", row.id);
            assert!(labels.insert(row.label), "{}", row.label);
            assert_eq!(row.command.row().id, row.id);
        }
    }

    #[test]
    fn rows_of_a_menu_stand_together() {
        let order: Vec<Group> = TABLE.iter().map(|row| row.group).collect();
        assert!(order.is_sorted());
    }
}
