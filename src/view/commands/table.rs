//! The table of commands: label, tooltip, menu and default keys.

use super::Command;
use crate::cluster::GroupPreset;
use crate::deform::diagnostics::Metric;
use crate::deform::{MaskKind, SkinningMethod, StackPreset};
use crate::document::PaneLayout;
use crate::document::rig::Axis as BoneAxis;
use crate::document::session::{BrushKind, FalloffShape, PaintTarget, SculptKind};
use crate::editor::clip_cleaning::ClipCleaning;
use crate::editor::{OperationKind, RigKind, WeightView};
use crate::math::Axis;
use crate::rig::Template;
use crate::skeleton::RigidInterpolation;
use crate::view::chord::Chord;
use crate::view::frame::{PanelKind, Workspace};
use crate::view::heat::Ramp;
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::view::theme::ThemeChoice;
use crate::weights::operation::PasteBy;
use egui::Key;

/// The menu of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Models and projects.
    File,
    /// Undo, renaming, preferences.
    Edit,
    /// Selection and visibility.
    Select,
    /// Camera and display.
    View,
    /// Bone transforms.
    Pose,
    /// Operations on the rig.
    Bones,
    /// Painting, weight operations, locks.
    Weights,
    /// Clips, keyframes, playback.
    Animation,
    /// Skinning methods and deformer stacks.
    Skinning,
    /// Modes, panels, workspaces, theme.
    Window,
    /// Search, keys, welcome, about.
    Help,
}

impl Group {
    /// All menus, in the order of the menu bar.
    pub const ALL: [Self; 11] = [
        Self::File,
        Self::Edit,
        Self::Select,
        Self::View,
        Self::Pose,
        Self::Bones,
        Self::Weights,
        Self::Animation,
        Self::Skinning,
        Self::Window,
        Self::Help,
    ];

    /// The title of the menu.
    pub fn label(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Edit => "Edit",
            Self::Select => "Select",
            Self::View => "View",
            Self::Pose => "Pose",
            Self::Bones => "Bones",
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
    /// The command.
    pub command: Command,
    /// The id in settings files. It never changes.
    pub id: &'static str,
    /// The label in menus and on buttons.
    pub label: &'static str,
    /// The tooltip: one or two sentences.
    pub about: &'static str,
    /// The menu.
    pub group: Group,
    /// The default keys of the Blender preset; the first one is displayed.
    pub blender: &'static [Chord],
    /// The default keys of the Maya preset.
    pub maya: &'static [Chord],
    /// The modes in which the keys are active.
    pub modes: &'static [Mode],
    /// The submenu; empty for none.
    pub submenu: &'static str,
    /// Whether a separator precedes it in the menu.
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
    /// Sets the same keys for both presets.
    const fn keys(mut self, keys: &'static [Chord]) -> Self {
        self.blender = keys;
        self.maya = keys;
        self
    }

    /// Sets the keys of each preset.
    const fn presets(mut self, blender: &'static [Chord], maya: &'static [Chord]) -> Self {
        self.blender = blender;
        self.maya = maya;
        self
    }

    /// Puts the command into a submenu.
    const fn under(mut self, submenu: &'static str) -> Self {
        self.submenu = submenu;
        self
    }

    /// Puts a separator before the command.
    const fn part(mut self) -> Self {
        self.starts_part = true;
        self
    }

    /// Limits the keys to some modes.
    const fn only_in(mut self, modes: &'static [Mode]) -> Self {
        self.modes = modes;
        self
    }
}

/// All commands, menu by menu, in display order.
pub const TABLE: &[Row] = &[
    row(Group::File, Command::Open, "file.open", "Open…", "Open a model (glTF or Wavefront OBJ) or a Sinew project. You can also drop the file on the window.").keys(&[Chord::key(Key::O).ctrl()]),
    row(Group::File, Command::Sample("arm"), "file.sample_arm", "Sample arm", "Open the sample arm: two joints to bend and twist.").under("Samples"),
    row(Group::File, Command::Sample("hand"), "file.sample_hand", "Sample hand", "Open the sample hand: many bones close together.").under("Samples"),
    row(Group::File, Command::Sample("leg"), "file.sample_leg", "Sample leg", "Open the sample leg: thigh, shin, foot and toes.").under("Samples"),
    row(Group::File, Command::Sample("mannequin"), "file.sample_mannequin", "Sample mannequin", "Open the sample mannequin: a full character with clips.").under("Samples"),
    row(Group::File, Command::Sample("elbow-correctives"), "file.sample_elbow", "Sample corrected elbow", "Open the sample arm with four corrective samples on its elbow: they unfold the skin as it bends.").under("Samples"),
    row(Group::File, Command::Sample("control-clusters-arm"), "file.sample_clusters", "Sample control-cluster arm", "Open a coarse arm with control clusters: dual quaternion skinning, four clusters with a corrective sample at the elbow, and a biceps; patches move the other vertices.").under("Samples"),
    row(Group::File, Command::Sample("water-surface"), "file.sample_water", "Sample water surface", "Open a reservoir without bones: nine gauges move its water and colour it by salinity, with patches between them.").under("Samples"),
    row(Group::File, Command::Sample("cylinder"), "file.sample_cylinder", "Sample cylinder", "Open the sample cylinder: two bones, the simplest case.").under("Samples"),
    row(Group::File, Command::Save, "file.save", "Save project", "Save your changes as a project. The model file itself stays untouched.").keys(&[Chord::key(Key::S).ctrl()]).part(),
    row(Group::File, Command::SaveAs, "file.save_as", "Save project as…", "Save the project under a new name.").keys(&[Chord::key(Key::S).ctrl().shift()]),
    row(Group::File, Command::AddMotion, "file.import_motion", "Import motion…", "Put the motion of a BVH file, or a clip of another model, on this character as a clip. You can also drop a BVH file on the window."),
    row(Group::File, Command::ExportTable, "file.export_table", "Export table of recordings…", "Write the channels of the recordings at common times (.csv, or .jsonl for JSON lines), over the loop range or as long as all of them have samples. The list of recordings has the rate."),
    row(Group::File, Command::ImportMeasurements, "file.import_measurements", "Import measurements…", "Read measurements of a person (.csv, .json) and fit this character to them. The Individual panel shows the table."),
    row(Group::File, Command::DuplicateIndividual, "file.duplicate_individual", "Duplicate as what-if", "Duplicate the measurements of the person as a what-if. Change them there, and compare both bodies.").under("Body of a person"),
    row(Group::File, Command::RemoveWhatIf, "file.remove_what_if", "Remove what-if", "Remove the what-if. The measurements of the person stay as they are.").under("Body of a person"),
    row(Group::File, Command::CompareBodies, "file.compare_bodies", "Compare bodies in panes", "Show the individual and the what-if beside each other, or without a what-if the template and the individual. The list over each pane chooses another body.").under("Body of a person"),
    row(Group::File, Command::CompareScan, "file.compare_scan", "Compare with a scan…", "Measure how far the template or the individual, whichever is chosen, in its pose and without hidden meshes, is from a scan of the person (.obj, .ply). The Individual panel shows the figures, and a heat map the distances.").under("Body of a person"),
    row(Group::File, Command::RemoveMeasurements, "file.remove_measurements", "Remove measurements", "Remove the measurements of a person. The template stays as it is."),
    row(Group::File, Command::Export, "file.export", "Export glTF…", "Export a glTF file with your weights, clips and names. Everything else stays as imported.").keys(&[Chord::key(Key::E).ctrl()]),
    row(Group::File, Command::ExportStaticMesh, "file.export_still", "Export current frame as mesh…", "Export the frame on screen as a mesh without bones: glTF or Wavefront OBJ.").keys(&[Chord::key(Key::E).ctrl().shift()]),
    row(Group::File, Command::Quit, "file.quit", "Quit", "Quit Sinew.").keys(&[Chord::key(Key::Q).ctrl()]).part(),
    row(Group::Edit, Command::Undo, "edit.undo", "Undo", "Undo the last step.").presets(&[Chord::key(Key::Z).ctrl()], &[Chord::key(Key::Z).ctrl(), Chord::key(Key::Z)]),
    row(Group::Edit, Command::Redo, "edit.redo", "Redo", "Redo the last undone step.").presets(&[Chord::key(Key::Z).ctrl().shift(), Chord::key(Key::Y).ctrl()], &[Chord::key(Key::Z).ctrl().shift(), Chord::key(Key::Y).ctrl(), Chord::key(Key::Z).shift()]),
    row(Group::Edit, Command::Rename, "edit.rename", "Rename bone…", "Rename the active bone.").keys(&[Chord::key(Key::F2)]).part(),
    row(Group::Edit, Command::Preferences, "edit.preferences", "Preferences…", "Set the key map, navigation, theme and UI scale.").keys(&[Chord::key(Key::Comma).ctrl()]).part(),
    row(Group::Select, Command::SelectBones, "select.bones", "Select bones", "Select bones with clicks, boxes and lassos."),
    row(Group::Select, Command::SelectPoints, "select.points", "Select vertices", "Select vertices of the surface with clicks, boxes and lassos."),
    row(Group::Select, Command::SelectAll, "select.all", "Select all", "Select all bones or all vertices.").presets(&[Chord::key(Key::A)], &[Chord::key(Key::A).ctrl().shift()]).part(),
    row(Group::Select, Command::SelectNone, "select.none", "Select none", "Clear the selection.").keys(&[Chord::key(Key::A).alt()]),
    row(Group::Select, Command::SelectInverse, "select.inverse", "Invert selection", "Select everything that is not selected, and deselect the rest.").presets(&[Chord::key(Key::I).ctrl()], &[Chord::key(Key::I).ctrl().shift()]),
    row(Group::Select, Command::SelectLinked, "select.linked", "Select linked", "Extend the selection to whole mesh islands or bone chains.").keys(&[Chord::key(Key::L).ctrl()]),
    row(Group::Select, Command::SelectMore, "select.more", "Grow selection", "Extend the selection to its neighbours.").presets(&[Chord::key(Key::Plus).ctrl()], &[Chord::key(Key::Period).shift()]),
    row(Group::Select, Command::SelectLess, "select.less", "Shrink selection", "Remove the border from the selection.").presets(&[Chord::key(Key::Minus).ctrl()], &[Chord::key(Key::Comma).shift()]),
    row(Group::Select, Command::SelectEdgeLoop, "select.edge_loop", "Select edge loop", "Extend the selection to the edge loops through two neighbouring vertices.").keys(&[Chord::key(Key::L).alt()]),
    row(Group::Select, Command::SelectEdgeRing, "select.edge_ring", "Select edge ring", "Extend the selection to the edge ring through the edge between two neighbouring vertices.").keys(&[Chord::key(Key::L).ctrl().alt()]),
    row(Group::Select, Command::SelectMoved, "select.moved", "Select vertices of bone", "Select the vertices that the selected bones influence.").keys(&[Chord::key(Key::L).shift()]),
    row(Group::Select, Command::SelectByWeight, "select.by_weight", "Select by weight…", "Select the vertices whose weight for the active bone is within a range.").under("Vertices by weight"),
    row(Group::Select, Command::SelectUnweighted, "select.unweighted", "Select unweighted vertices", "Select the vertices that no bone influences.").under("Vertices by weight"),
    row(Group::Select, Command::SelectOverInfluenced, "select.over_influenced", "Select over-influenced vertices", "Select the vertices with more influences than the brush allows.").under("Vertices by weight"),
    row(Group::Select, Command::SelectOffSum, "select.off_sum", "Select vertices not normalised", "Select the vertices whose weights do not add up to 1.").under("Vertices by weight"),
    row(Group::Select, Command::SelectMirrored, "select.mirrored", "Mirror selection", "Select the counterparts of the selected vertices or bones on the other side of X."),
    row(Group::Select, Command::SelectBox, "select.box", "Box select", "Drag a box to select. Shift extends the selection, Ctrl subtracts from it.").presets(&[Chord::key(Key::B)], &[Chord::key(Key::B).shift()]).only_in(&[Mode::Select, Mode::Pose, Mode::Cluster, Mode::Rig]).part(),
    row(Group::Select, Command::SelectCircle, "select.circle", "Circle select", "Paint the selection with a circle. The wheel sets its radius, Esc ends it.").presets(&[Chord::key(Key::C)], &[Chord::key(Key::C).shift()]).only_in(&[Mode::Select, Mode::Pose, Mode::Cluster, Mode::Rig]),
    row(Group::Select, Command::SelectLasso, "select.lasso", "Lasso select", "Draw a loop to select. Shift extends the selection, Ctrl subtracts from it.").presets(&[Chord::key(Key::C).shift()], &[Chord::key(Key::L).ctrl().shift()]).only_in(&[Mode::Select, Mode::Pose, Mode::Cluster, Mode::Rig]),
    row(Group::Select, Command::SelectThrough, "select.through", "Select through", "Let box, circle and lasso also select vertices that face away or are occluded."),
    row(Group::Select, Command::Hide, "select.hide", "Hide selected", "Hide the selected bones or vertices.").presets(&[Chord::key(Key::H)], &[Chord::key(Key::H).ctrl()]).part(),
    row(Group::Select, Command::HideOthers, "select.hide_others", "Hide unselected", "Hide everything that is not selected.").presets(&[Chord::key(Key::H).shift()], &[Chord::key(Key::H).alt()]),
    row(Group::Select, Command::ShowAll, "select.show_all", "Show hidden", "Show all hidden bones and vertices.").presets(&[Chord::key(Key::H).alt()], &[Chord::key(Key::H).ctrl().shift()]),
    row(Group::Select, Command::Isolate, "select.isolate", "Isolate", "Show only the selection. Run it again to show everything.").presets(&[Chord::key(Key::Slash)], &[Chord::key(Key::I).shift()]),
    row(Group::View, Command::Show(Shading::Textured), "view.textured", "Textured", "Show materials and textures.").presets(&[], &[Chord::key(Key::Num6)]).only_in(&Mode::NUMBERS_FOR_VIEWS),
    row(Group::View, Command::Show(Shading::Shaded), "view.shaded", "Shaded", "Show plain clay in soft light. Use it to judge the form.").presets(&[], &[Chord::key(Key::Num5)]).only_in(&Mode::NUMBERS_FOR_VIEWS),
    row(Group::View, Command::Show(Shading::Form), "view.form", "Form", "Show clay with dark hollows and bright ridges. Use it to find bulges and collapses."),
    row(Group::View, Command::Show(Shading::Weights), "view.weights", "Weight colours", "Show the weights of the active bone or the painted map. Hatched grey means no weight.").presets(&[], &[Chord::key(Key::Num7)]).only_in(&Mode::NUMBERS_FOR_VIEWS),
    row(Group::View, Command::Show(Shading::Wire), "view.wire", "Wireframe", "Show only the edges of the mesh.").presets(&[], &[Chord::key(Key::Num4)]).only_in(&Mode::NUMBERS_FOR_VIEWS),
    row(Group::View, Command::Show(Shading::HeatMap), "view.heat_map", "Heat map", "Show deformation quality as colours, by the metric that you chose last.").presets(&[], &[Chord::key(Key::Num8)]).only_in(&Mode::NUMBERS_FOR_VIEWS),
    row(Group::View, Command::ToggleIndividual, "view.individual", "Show individual", "Show the body with the measurements of a person instead of the template. Exports write the body that is shown."),
    row(Group::View, Command::UseWeightView(WeightView::Painted), "view.weights_painted", "Weights of active bone", "Colour the surface by the weights of the active bone, or by the painted map.").under("Weight display"),
    row(Group::View, Command::UseWeightView(WeightView::Bones), "view.weights_bones", "Colours of all bones", "Mix the colours of all bones by their weights to see which bone moves what.").under("Weight display"),
    row(Group::View, Command::UseWeightView(WeightView::Count), "view.weights_count", "Number of influences", "Colour vertices by their number of influences. Stripes mark more than the brush allows.").under("Weight display"),
    row(Group::View, Command::UseWeightView(WeightView::Sum), "view.weights_sum", "Sums of weights", "Colour vertices by the sum of their weights: blue below 1, red above 1, both striped.").under("Weight display"),
    row(Group::View, Command::ToggleIsolines, "view.isolines", "Weight contours", "Draw a line at every 0.1 of the active bone's weight.").under("Weight display"),
    row(Group::View, Command::ToggleLockPattern, "view.lock_pattern", "Locked weight stripes", "Stripe vertices by how much of their weight is locked.").under("Weight display"),
    row(Group::View, Command::UseMetric(Metric::Bulge), "view.heat_bulge", "Bulge heat map", "Show how much farther the skin is from its bones than in the rest pose.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::EdgeStrain), "view.heat_strain", "Edge strain heat map", "Show how much edges stretch or shrink compared to the rest pose.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::AreaChange), "view.heat_area", "Area change heat map", "Show how much faces grow or shrink compared to the rest pose.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::Discontinuity), "view.heat_discontinuity", "Discontinuity heat map", "Show where the corrections after skinning change abruptly. The surface begins to tear at amber and red.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::Crease), "view.heat_crease", "Crease heat map", "Show where stretch and rotation change from one face to the next.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::FoldOver), "view.heat_fold", "Fold-over heat map", "Show the faces that are inside out.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::NormalError), "view.heat_normals", "Normal error heat map", "Show the angle between the shading normals and the normals of the deformed surface.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::Difference), "view.heat_difference", "Difference heat map", "Show how far each vertex is from its position under another deformer stack.").under("Heat maps"),
    row(Group::View, Command::UseMetric(Metric::ScanDistance), "view.heat_scan", "Distance to scan heat map", "Show the signed distance from each vertex to the scan. Compare with a scan first.").under("Heat maps"),
    row(Group::View, Command::FrameWorst, "view.frame_worst", "Frame worst vertex", "Move the camera to the vertex with the worst heat-map value.").under("Heat maps"),
    row(Group::View, Command::MetricPie, "view.heat_pie", "Heat maps…", "Choose a heat map in a pie menu.").presets(&[Chord::key(Key::Z).shift()], &[Chord::key(Key::Num8).shift()]),
    row(Group::View, Command::UseRamp(Ramp::Perceptual), "view.ramp_perceptual", "Perceptual weight colours", "Show weights in perceptually even colours. Safe for colour-blind viewers.").under("Weight colour ramp"),
    row(Group::View, Command::UseRamp(Ramp::Rainbow), "view.ramp_rainbow", "Rainbow weight colours", "Show weights from blue through green and yellow to red, as in Blender.").under("Weight colour ramp"),
    row(Group::View, Command::UseRamp(Ramp::Grey), "view.ramp_grey", "Grey weight colours", "Show weights from black to white.").under("Weight colour ramp"),
    row(Group::View, Command::ToggleBones, "view.bones", "Show bones", "Show or hide the bones.").part(),
    row(Group::View, Command::ToggleXray, "view.xray", "X-ray", "Show bones through the mesh, dimmed where it covers them.").presets(&[Chord::key(Key::Z).alt()], &[Chord::key(Key::X).alt()]),
    row(Group::View, Command::ToggleNames, "view.names", "Bone names", "Show or hide the bone names."),
    row(Group::View, Command::ToggleHoverBar, "view.hover_bar", "Influences under pointer", "In Paint mode, list the influences of the vertex under the pointer."),
    row(Group::View, Command::ToggleGrid, "view.grid", "Show grid", "Show or hide the ground grid."),
    row(Group::View, Command::ToggleWire, "view.wire_overlay", "Wireframe overlay", "Draw thin edges over the surface."),
    row(Group::View, Command::FrameAll, "view.frame_all", "Frame all", "Fit everything into the view.").presets(&[Chord::key(Key::Home)], &[Chord::key(Key::A), Chord::key(Key::Home)]).part(),
    row(Group::View, Command::FrameSelected, "view.frame_selected", "Frame selected", "Fit the selection into the view.").presets(&[Chord::key(Key::Period)], &[Chord::key(Key::F)]),
    row(Group::View, Command::ViewFront, "view.front", "Front view", "Look at the front, along the Z axis.").presets(&[Chord::key(Key::Num1)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::ViewBack, "view.back", "Back view", "Look at the back, along the Z axis.").presets(&[Chord::key(Key::Num1).ctrl()], &[]).under("Viewpoint"),
    row(Group::View, Command::ViewRight, "view.right", "Right view", "Look from the right, along the X axis.").presets(&[Chord::key(Key::Num3)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::ViewLeft, "view.left", "Left view", "Look from the left, along the X axis.").presets(&[Chord::key(Key::Num3).ctrl()], &[]).under("Viewpoint"),
    row(Group::View, Command::ViewTop, "view.top", "Top view", "Look from above, along the Y axis.").presets(&[Chord::key(Key::Num7)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::ViewBottom, "view.bottom", "Bottom view", "Look from below, along the Y axis.").presets(&[Chord::key(Key::Num7).ctrl()], &[]).under("Viewpoint"),
    row(Group::View, Command::ViewOpposite, "view.opposite", "Opposite view", "Look from the opposite side.").presets(&[Chord::key(Key::Num9)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::OrbitLeft, "view.orbit_left", "Orbit left", "Orbit the view left by 15°.").presets(&[Chord::key(Key::Num4)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::OrbitRight, "view.orbit_right", "Orbit right", "Orbit the view right by 15°.").presets(&[Chord::key(Key::Num6)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::OrbitUp, "view.orbit_up", "Orbit up", "Orbit the view up by 15°.").presets(&[Chord::key(Key::Num8)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::OrbitDown, "view.orbit_down", "Orbit down", "Orbit the view down by 15°.").presets(&[Chord::key(Key::Num2)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS).under("Viewpoint"),
    row(Group::View, Command::ToggleOrthographic, "view.orthographic", "Orthographic", "Switch between perspective and orthographic view.").presets(&[Chord::key(Key::Num5)], &[]).only_in(&Mode::NUMBERS_FOR_VIEWS),
    row(Group::View, Command::UsePanes(PaneLayout::One), "view.panes_one", "One pane", "Show one view.").keys(&[Chord::key(Key::F5)]).under("Panes").part(),
    row(Group::View, Command::UsePanes(PaneLayout::Two), "view.panes_two", "Two panes", "Show two views side by side, each with its own deformer stack.").keys(&[Chord::key(Key::F6)]).under("Panes"),
    row(Group::View, Command::UsePanes(PaneLayout::Four), "view.panes_four", "Four panes", "Show four views, each with its own deformer stack.").keys(&[Chord::key(Key::F7)]).under("Panes"),
    row(Group::View, Command::UsePanes(PaneLayout::Wipe), "view.panes_wipe", "Wipe", "Show two deformer stacks in one view, split by a line that you drag.").keys(&[Chord::key(Key::F8)]).under("Panes"),
    row(Group::View, Command::ShowBefore, "view.before", "Show comparison", "Show the comparison stack in the pane under the pointer while the key is held. From a menu, it stays until you choose it again.").keys(&[Chord::key(Key::Backtick)]),
    row(Group::View, Command::ViewLbs, "view.lbs", "View linear blend skinning", "Show the model under linear blend skinning (LBS, the glTF standard), as other viewers draw it. The deformer stack stays as it is.").under("Compare with"),
    row(Group::View, Command::UseBefore(StackPreset::Lbs), "view.before_lbs", "Compare with linear blend skinning", "Compare with linear blend skinning (LBS), as other viewers draw the model.").under("Compare with"),
    row(Group::View, Command::UseBefore(StackPreset::Dqs), "view.before_dqs", "Compare with dual quaternion skinning", "Compare with dual quaternion skinning (DQS) without corrections.").under("Compare with"),
    row(Group::View, Command::UseBefore(StackPreset::Compensation), "view.before_compensation", "Compare with DQS + compensation", "Compare with dual quaternion skinning and bulge compensation.").under("Compare with"),
    row(Group::View, Command::UseBefore(StackPreset::Projection), "view.before_projection", "Compare with DQS + projection", "Compare with dual quaternion skinning and bulge projection.").under("Compare with"),
    row(Group::View, Command::UseBefore(StackPreset::CentresOfRotation), "view.before_cor", "Compare with centres of rotation", "Compare with skinning about optimised centres of rotation.").under("Compare with"),
    row(Group::View, Command::UseBefore(StackPreset::Default), "view.before_default", "Compare with default stack", "Compare with the deformer stack that a new model gets.").under("Compare with"),
    row(Group::View, Command::KeepBefore, "view.before_keep", "Compare with current stack", "Keep a copy of the current deformer stack as the comparison. Change the stack, then compare.").under("Compare with"),
    row(Group::Pose, Command::PoseMove, "pose.move", "Move", "Move the selection: bones (in Edit bones mode, their heads), vertices in Sculpt mode, clusters moved by hand in Cluster mode. X, Y or Z constrains to an axis, numbers set the distance, Enter confirms, Esc cancels.").presets(&[Chord::key(Key::G)], &[Chord::key(Key::W)]).only_in(&[Mode::Select, Mode::Pose, Mode::Paint, Mode::Cluster, Mode::Sculpt, Mode::Rig]),
    row(Group::Pose, Command::PoseRotate, "pose.rotate", "Rotate", "Rotate the selection: bones, vertices in Sculpt mode, clusters moved by hand in Cluster mode. X, Y or Z constrains to an axis, numbers set the angle, Enter confirms, Esc cancels.").presets(&[Chord::key(Key::R)], &[Chord::key(Key::E)]).only_in(&[Mode::Select, Mode::Pose, Mode::Paint, Mode::Cluster, Mode::Sculpt]),
    row(Group::Pose, Command::PoseScale, "pose.scale", "Scale", "Scale the selection: bones, vertices in Sculpt mode, clusters moved by hand in Cluster mode. X, Y or Z constrains to an axis, numbers set the factor, Enter confirms, Esc cancels.").presets(&[Chord::key(Key::S)], &[Chord::key(Key::R)]).only_in(&[Mode::Select, Mode::Pose, Mode::Paint, Mode::Cluster, Mode::Sculpt]),
    row(Group::Pose, Command::CycleSpace, "pose.space", "Next transform orientation", "Switch the transform orientation: local, global, parent.").presets(&[Chord::key(Key::Comma)], &[Chord::key(Key::W).ctrl()]).only_in(&[Mode::Select, Mode::Pose, Mode::Cluster, Mode::Sculpt, Mode::Rig]).part(),
    row(Group::Pose, Command::ClearLocation, "pose.clear_location", "Clear location", "Reset the location of the selected bones to the rest pose. In Cluster mode, remove the displacements by hand of the selected clusters.").presets(&[Chord::key(Key::G).alt()], &[Chord::key(Key::W).alt()]).only_in(&[Mode::Select, Mode::Pose, Mode::Cluster]).under("Clear").part(),
    row(Group::Pose, Command::ClearRotation, "pose.clear_rotation", "Clear rotation", "Reset the rotation of the selected bones to the rest pose.").presets(&[Chord::key(Key::R).alt()], &[Chord::key(Key::E).alt()]).only_in(&[Mode::Select, Mode::Pose]).under("Clear"),
    row(Group::Pose, Command::ClearScale, "pose.clear_scale", "Clear scale", "Reset the scale of the selected bones to the rest pose.").presets(&[Chord::key(Key::S).alt()], &[Chord::key(Key::R).alt()]).only_in(&[Mode::Select, Mode::Pose]).under("Clear"),
    row(Group::Pose, Command::ResetPose, "pose.reset", "Reset pose", "Reset the selected bones, or all bones, to the rest pose.").under("Clear"),
    row(Group::Pose, Command::CopyPose, "pose.copy", "Copy pose", "Copy the pose of the selected bones, or of all bones.").keys(&[Chord::key(Key::C).ctrl()]).only_in(&[Mode::Select, Mode::Pose]).part(),
    row(Group::Pose, Command::PastePose, "pose.paste", "Paste pose", "Paste the copied pose onto bones of the same names.").keys(&[Chord::key(Key::V).ctrl()]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::PasteFlipped, "pose.paste_flipped", "Paste pose flipped", "Paste the copied pose mirrored: left bones get the pose of right bones.").keys(&[Chord::key(Key::V).ctrl().shift()]).only_in(&[Mode::Select, Mode::Pose]),
    row(Group::Pose, Command::TogglePin, "pose.pin", "IK pin", "Pin the end of a bone chain in place. Drag the pin to bend the chain (IK).").presets(&[Chord::key(Key::I).shift()], &[Chord::key(Key::P).ctrl()]).only_in(&[Mode::Select, Mode::Pose]).part(),
    row(Group::Pose, Command::CreatePose, "pose.library_create", "Create pose", "Add the pose of the selected bones, or of all bones, to the pose library.").under("Pose library").part(),
    row(Group::Pose, Command::UpdatePose, "pose.library_update", "Update pose", "Update the active pose of the library from the selected bones, or from all bones that it holds.").under("Pose library"),
    row(Group::Pose, Command::ApplyPose, "pose.library_apply", "Apply pose", "Apply the active pose of the library to the selected bones, or to all bones that it holds.").under("Pose library"),
    row(Group::Pose, Command::ApplyPoseFlipped, "pose.library_flipped", "Apply pose flipped", "Apply the active pose of the library mirrored: left bones get the pose of right bones.").under("Pose library"),
    row(Group::Pose, Command::SelectPoseBones, "pose.library_select", "Select bones of the pose", "Select the bones of the active pose of the library.").under("Pose library"),
    row(Group::Pose, Command::RenamePose, "pose.library_rename", "Rename pose", "Rename the active pose of the library.").under("Pose library"),
    row(Group::Pose, Command::RemovePose, "pose.library_remove", "Remove pose", "Remove the active pose from the library.").under("Pose library"),
    row(Group::Pose, Command::CopyPoseText, "pose.library_copy", "Copy pose as text", "Copy the active pose of the library as text (JSON), as in pose files.").under("Pose library").part(),
    row(Group::Pose, Command::PastePoseText, "pose.library_paste", "Paste pose from text", "Add a pose from text in the clipboard to the pose library. Bones are matched by name.").under("Pose library"),
    row(Group::Pose, Command::PosesToClip, "pose.library_to_clip", "Poses to clip", "Add a clip of all poses of the library: the rest pose at 0 seconds, then one pose each second.").under("Pose library"),
    row(Group::Pose, Command::ClipToPoses, "pose.library_from_clip", "Clip to poses", "Add the poses at the keyframes of the clip to the pose library: of the selected bones, or of all; in the loop range, if there is one.").under("Pose library"),
    row(Group::Bones, Command::DrawJoints, "rig.draw", "Draw joints", "Click on the mesh to place joints in the middle of its limbs, each a child of the one before. Symmetric draws both sides; a click on a joint continues from there, Backspace takes the last joint back, Enter or Esc ends."),
    row(Group::Bones, Command::Extrude, "rig.extrude", "Extrude bone", "Extrude a new bone from the tail of the active bone. Move the pointer to place it; Enter confirms, Esc cancels.").keys(&[Chord::key(Key::E)]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::EditRig(RigKind::Subdivide), "rig.subdivide", "Subdivide bones", "Split each selected bone into several. Its weights are distributed along it, and no pose changes."),
    row(Group::Bones, Command::EditRig(RigKind::Dissolve), "rig.dissolve", "Dissolve bones", "Merge the selected bones into their parents, which take over all their weights. Their children move as before.").keys(&[Chord::key(Key::X).ctrl()]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::EditRig(RigKind::Remove), "rig.remove", "Remove bones", "Remove the selected bones. Their weights go to the parent or are distributed along the bone, whichever changes the clips less. Their children move as before.").keys(&[Chord::key(Key::X), Chord::key(Key::Delete)]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::EditRig(RigKind::SetParent), "rig.set_parent", "Set parent", "Make the active bone the parent of the other selected bones. All clips play as before.").presets(&[Chord::key(Key::P).ctrl()], &[Chord::key(Key::P)]).only_in(&[Mode::Rig]).part(),
    row(Group::Bones, Command::EditRig(RigKind::ClearParent), "rig.clear_parent", "Clear parent", "Detach the selected bones from their parents and attach them to the root of the rig. All clips play as before.").presets(&[Chord::key(Key::P).alt()], &[Chord::key(Key::P).shift()]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::EditRig(RigKind::Symmetrize), "rig.symmetrize", "Symmetrize bones", "Mirror the selected bones and their descendants to the other side. Missing bones are created, with mirrored weights.").keys(&[Chord::key(Key::M).ctrl()]).only_in(&[Mode::Rig]).part(),
    row(Group::Bones, Command::OrientPie, "rig.orient", "Orient bones…", "Choose which axis of the selected bones points at the tail. All clips play as before.").keys(&[Chord::key(Key::N).shift()]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::RollBones, "rig.roll", "Roll bones", "Rotate the axes of the selected bones about the bones. Move the pointer or type an angle; Enter confirms, Esc cancels. All clips play as before.").keys(&[Chord::key(Key::R).ctrl()]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::ToggleChildrenFollow, "rig.children_follow", "Children follow", "Moved bones take their children along. Otherwise the children stay in place.").keys(&[Chord::key(Key::O)]).only_in(&[Mode::Rig]),
    row(Group::Bones, Command::EditRig(RigKind::Orient(BoneAxis::Y)), "rig.orient_y", "Orient +Y along bones", "Point the +Y axis of the selected bones at their tails, as in Blender, and +Z along the normal of the bend.").under("Orient"),
    row(Group::Bones, Command::EditRig(RigKind::Orient(BoneAxis::X)), "rig.orient_x", "Orient +X along bones", "Point the +X axis of the selected bones at their tails, as in Maya, and +Y along the normal of the bend.").under("Orient"),
    row(Group::Bones, Command::EditRig(RigKind::Orient(BoneAxis::Z)), "rig.orient_z", "Orient +Z along bones", "Point the +Z axis of the selected bones at their tails, and +Y along the normal of the bend.").under("Orient"),
    row(Group::Bones, Command::EditRig(RigKind::Orient(BoneAxis::NegX)), "rig.orient_neg_x", "Orient -X along bones", "Point the -X axis of the selected bones at their tails, as on the mirrored side of some rigs, and +Y along the normal of the bend.").under("Orient"),
    row(Group::Bones, Command::EditRig(RigKind::Twist), "rig.twist", "Add twist bones", "Add helper bones along each selected bone that share its twist. The rest pose does not change.").under("Helper bones").part(),
    row(Group::Bones, Command::EditRig(RigKind::Half), "rig.half", "Add half bones", "Add a helper bone at the head of each selected bone that takes half of its rotation. The rest pose does not change.").under("Helper bones"),
    row(Group::Bones, Command::EditRig(RigKind::Centre), "rig.centre", "Centre in limb", "Move the heads of the selected bones to the middle of the limb around them. Their children stay in place."),
    row(Group::Bones, Command::ShowHumanoid, "rig.humanoid_map", "Humanoid map…", "Show which bone is which of a human body, and change it. Motions, live motion and twist bones go by it.").part(),
    row(Group::Bones, Command::ApplyPie, "rig.apply", "Apply…", "Use the pose as rest pose, apply it to the mesh, or freeze the scale of the selected bones.").keys(&[Chord::key(Key::A).ctrl()]).only_in(&[Mode::Pose, Mode::Rig]).part(),
    row(Group::Bones, Command::EditRig(RigKind::PoseAsRest), "rig.pose_as_rest", "Use pose as rest pose", "Make the current pose the rest pose. All clips play as before.").under("Apply"),
    row(Group::Bones, Command::EditRig(RigKind::ApplyPose), "rig.apply_pose", "Apply pose to mesh", "Make the current pose the bind pose: the meshes get the shape that they have in it, by linear blend skinning, and are bound there. It becomes the rest pose, too. Clips keep their keyframes.").under("Apply"),
    row(Group::Bones, Command::EditRig(RigKind::FreezeScale), "rig.freeze_scale", "Freeze scale", "Apply the scale of the selected bones: it becomes 1, and nothing changes size.").under("Apply"),
    row(Group::Bones, Command::EditRig(RigKind::InferParents), "rig.infer_parents", "Infer logical parents", "Infer the parent of each bone along its limb in a flat rig, where all bones are children of one node (hand tracking). The pose does not change."),
    row(Group::Bones, Command::EditRig(RigKind::Template(Template::Humanoid)), "rig.humanoid", "Humanoid skeleton", "Add a human skeleton to a model without bones, fitted to its bounds and centred in its limbs. Adjust the bones, then bind.").under("Add skeleton").part(),
    row(Group::Bones, Command::EditRig(RigKind::Template(Template::Quadruped)), "rig.quadruped", "Quadruped skeleton", "Add a four-legged skeleton to a model without bones. Adjust the bones, then bind.").under("Add skeleton"),
    row(Group::Bones, Command::EditRig(RigKind::Template(Template::Chain)), "rig.chain", "Bone chain", "Add five bones along the longest side of a model without bones, for a tail, a rope or a tentacle. Adjust the bones, then bind.").under("Add skeleton"),
    row(Group::Bones, Command::EditRig(RigKind::Template(Template::Hand)), "rig.hand", "Hand skeleton", "Add a five-fingered hand skeleton to a model without bones. Adjust the bones, then bind.").under("Add skeleton"),
    row(Group::Bones, Command::EditRig(RigKind::Bind), "rig.bind", "Bind…", "Bind the meshes to their bones with automatic weights, computed in the rest pose. A mesh without a skin gets one."),
    row(Group::Bones, Command::EditRig(RigKind::Unbind), "rig.unbind", "Unbind", "Detach the meshes from their bones. They keep their shape and place, and their weights are kept to bind them again.").under("Binding"),
    row(Group::Bones, Command::EditRig(RigKind::BindKept), "rig.bind_kept", "Bind with kept weights", "Bind unbound meshes to their bones again, with the weights that they had. Bones that moved since are bound where they are now.").under("Binding"),
    row(Group::Weights, Command::Paint(PaintTarget::Weights), "paint.weights", "Paint bone weights", "Paint how strongly vertices follow the active bone.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::LayerMask), "paint.layer_mask", "Paint layer mask", "Paint the mask of the active layer: 0 hides the layer, 1 shows it in full.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Blend)), "paint.blend", "Paint DQS factor", "Paint the blend of skinning methods: 0 is linear, 1 is dual quaternion.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Compensation)), "paint.compensation", "Paint compensation strength", "Paint a factor for the strength of bulge compensation: 0 off, 1 as set, 2 twice as strong.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Projection)), "paint.projection", "Paint projection strength", "Paint a factor for the strength of bulge projection: 0 off, 1 as set.").under("Paint"),
    row(Group::Weights, Command::Paint(PaintTarget::Mask(MaskKind::Smooth)), "paint.smooth", "Paint smoothing strength", "Paint a factor for the strength of corrective smooth: 0 off, 1 as set.").under("Paint"),
    row(Group::Weights, Command::UseBrush(BrushKind::Add), "brush.add", "Add brush", "Add the brush weight. Ctrl subtracts, Shift smooths.").keys(&[Chord::key(Key::Num1).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Replace), "brush.replace", "Replace brush", "Blend towards the brush weight. Ctrl blends towards 0, Shift smooths.").keys(&[Chord::key(Key::Num2).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Scale), "brush.scale", "Scale brush", "Multiply by the brush weight. Ctrl divides, Shift smooths.").keys(&[Chord::key(Key::Num3).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Smooth), "brush.smooth", "Smooth brush", "Average with the neighbours. Ctrl sharpens.").keys(&[Chord::key(Key::Num4).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Sharpen), "brush.sharpen", "Sharpen brush", "Increase the difference from the neighbours. Ctrl and Shift smooth.").keys(&[Chord::key(Key::Num5).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Gradient), "brush.gradient", "Gradient brush", "Drag a line to paint a gradient from the brush weight to no change. Ctrl starts from 0.").keys(&[Chord::key(Key::Num6).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Radial), "brush.radial", "Radial gradient brush", "Drag a circle to paint a gradient from its centre to its rim. Ctrl starts from 0.").keys(&[Chord::key(Key::Num7).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseBrush(BrushKind::Sample), "brush.sample", "Sample brush", "Sample the weight under the pointer. Ctrl picks the bone there.").keys(&[Chord::key(Key::Num8).alt()]).only_in(&[Mode::Paint]).under("Brush"),
    row(Group::Weights, Command::UseFalloffShape(FalloffShape::Surface), "brush.surface", "Surface falloff shape", "Measure the brush radius along the surface. The stroke cannot jump to the next finger.").under("Brush falloff shape"),
    row(Group::Weights, Command::UseFalloffShape(FalloffShape::Volume), "brush.volume", "Sphere falloff shape", "Measure the brush radius in space: paint everything inside a sphere.").under("Brush falloff shape"),
    row(Group::Weights, Command::UseFalloffShape(FalloffShape::Screen), "brush.screen", "Screen falloff shape", "Measure the brush radius on the screen: paint everything inside the circle.").under("Brush falloff shape"),
    row(Group::Weights, Command::ToggleBrushXray, "brush.xray", "Paint hidden vertices", "Also paint vertices that other parts of the model occlude.").under("Brush falloff shape"),
    row(Group::Weights, Command::ToggleAccumulate, "brush.accumulate", "Accumulate", "Let dabs of one stroke add up. When off, one stroke never exceeds its strength.").under("Brush falloff shape"),
    row(Group::Weights, Command::ToggleSymmetry, "brush.symmetry", "Toggle brush symmetry", "Paint and sculpt the left and the right side together, or one side only.").keys(&[Chord::key(Key::Y)]).only_in(&[Mode::Paint, Mode::Sculpt]).under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(None), "brush.symmetry_off", "Symmetry off", "Paint one side only.").under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(Some(Axis::X)), "brush.symmetry_x", "X symmetry", "Mirror strokes across the mesh's X axis, in the bind pose.").under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(Some(Axis::Y)), "brush.symmetry_y", "Y symmetry", "Mirror strokes across the mesh's Y axis, in the bind pose.").under("Brush symmetry"),
    row(Group::Weights, Command::UseSymmetry(Some(Axis::Z)), "brush.symmetry_z", "Z symmetry", "Mirror strokes across the mesh's Z axis, in the bind pose.").under("Brush symmetry"),
    row(Group::Weights, Command::FillMap, "map.fill", "Fill map", "Set the painted map to the brush value on the selected vertices, or on the whole active object.").under("Map"),
    row(Group::Weights, Command::ClearMap, "map.clear", "Clear map", "Reset the painted map to 1 on the selected vertices, or on the whole active object.").under("Map"),
    row(Group::Weights, Command::InvertMap, "map.invert", "Invert map", "Invert the painted map on the selected vertices, or on the whole active object: its maximum becomes 0.").under("Map"),
    row(Group::Weights, Command::AddLayer, "layer.add", "Add layer", "Add a weight layer above the active one. You can fade, mute or delete it later.").under("Layers"),
    row(Group::Weights, Command::DuplicateLayer, "layer.duplicate", "Duplicate layer", "Duplicate the active layer.").under("Layers"),
    row(Group::Weights, Command::DeleteLayer, "layer.delete", "Delete layer", "Delete the active layer.").under("Layers"),
    row(Group::Weights, Command::RenameLayer, "layer.rename", "Rename layer…", "Rename the active layer.").under("Layers"),
    row(Group::Weights, Command::LayerUp, "layer.up", "Move layer up", "Move the active layer up by one.").under("Layers"),
    row(Group::Weights, Command::LayerDown, "layer.down", "Move layer down", "Move the active layer down by one.").under("Layers"),
    row(Group::Weights, Command::MuteLayer, "layer.mute", "Mute layer", "Turn the active layer off or on.").under("Layers"),
    row(Group::Weights, Command::SoloLayer, "layer.solo", "Solo layer", "Show only the base and the active layer. Run it again to show all layers.").under("Layers"),
    row(Group::Weights, Command::EraseFromLayer, "layer.erase", "Erase from layer", "Clear the active layer on the selected vertices, or everywhere.").under("Layers"),
    row(Group::Weights, Command::MergeLayerDown, "layer.merge_down", "Merge layer down", "Merge the active layer into the one below. The result looks the same.").under("Layers"),
    row(Group::Weights, Command::FlattenLayers, "layer.flatten", "Flatten layers", "Merge all layers into the base weights. The result looks the same.").under("Layers"),
    row(Group::Weights, Command::BrushRadius, "paint.radius", "Brush radius", "Move the pointer to set the brush radius. Click confirms, Esc cancels. In the Maya preset, drag instead.").presets(&[Chord::key(Key::F)], &[Chord::key(Key::B)]).only_in(&Mode::BRUSHES).under("Adjust brush"),
    row(Group::Weights, Command::BrushStrength, "paint.strength", "Brush strength", "Move the pointer to set the brush strength. Click confirms, Esc cancels. In the Maya preset, drag instead.").presets(&[Chord::key(Key::F).shift()], &[Chord::key(Key::M)]).only_in(&[Mode::Paint, Mode::Sculpt]).under("Adjust brush"),
    row(Group::Weights, Command::BrushWeight, "paint.weight", "Brush weight", "Move the pointer to set the brush weight. Click confirms, Esc cancels. In the Maya preset, drag instead.").presets(&[Chord::key(Key::F).ctrl()], &[Chord::key(Key::N)]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::SmallerBrush, "paint.smaller", "Smaller brush", "Reduce the brush radius.").keys(&[Chord::key(Key::OpenBracket)]).under("Adjust brush"),
    row(Group::Weights, Command::LargerBrush, "paint.larger", "Larger brush", "Increase the brush radius.").keys(&[Chord::key(Key::CloseBracket)]).under("Adjust brush"),
    row(Group::Weights, Command::SwapWeight, "paint.swap", "Swap 1 and 0", "Switch the brush weight between 1 and 0.").keys(&[Chord::key(Key::X)]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::SampleWeight, "paint.sample", "Sample weight", "Sample the weight of the active bone, or the value of the painted map, under the pointer.").keys(&[Chord::key(Key::X).shift()]).only_in(&[Mode::Paint]).under("Adjust brush"),
    row(Group::Weights, Command::PickBone, "paint.pick_bone", "Pick bone", "Activate the bone with the largest weight under the pointer.").keys(&[Chord::key(Key::X).ctrl().shift()]).under("Adjust brush"),
    row(Group::Weights, Command::Operate(OperationKind::Normalise), "weights.normalise", "Normalise weights", "Scale the weights of each vertex so that they add up to 1. Works on the selected vertices, or on all. You can adjust the settings until the next edit.").under("Clean up").part(),
    row(Group::Weights, Command::Operate(OperationKind::Limit), "weights.limit", "Limit influences", "Keep only the largest weights of each vertex.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Prune), "weights.prune", "Prune small weights", "Remove weights below a threshold.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Quantise), "weights.quantise", "Quantise weights", "Round weights to even steps.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Hammer), "weights.hammer", "Hammer weights", "Replace outliers with the average weights of their neighbours.").under("Clean up"),
    row(Group::Weights, Command::Operate(OperationKind::Smooth), "weights.smooth", "Smooth weights", "Average each vertex with its neighbours."),
    row(Group::Weights, Command::Operate(OperationKind::Flood), "weights.flood", "Flood weights", "Set, add or scale the active bone's weight on all vertices.").under("Bone weights"),
    row(Group::Weights, Command::Operate(OperationKind::Invert), "weights.invert", "Invert weights", "Replace each weight w of the active bone with 1 - w.").under("Bone weights"),
    row(Group::Weights, Command::Operate(OperationKind::Levels), "weights.levels", "Weight levels", "Remap weights with input range, gamma and output range, like image levels.").under("Bone weights"),
    row(Group::Weights, Command::Operate(OperationKind::Move), "weights.move", "Move weights to bone", "Move the active bone's weights to another bone.").under("Bone weights"),
    row(Group::Weights, Command::Operate(OperationKind::Merge), "weights.merge", "Merge weights into active", "Move the weights of the selected bones to the active bone.").under("Bone weights"),
    row(Group::Weights, Command::Operate(OperationKind::Swap), "weights.swap", "Swap weights of bones", "Swap the weights of two bones.").under("Bone weights"),
    row(Group::Weights, Command::Operate(OperationKind::Mirror), "weights.mirror", "Mirror weights", "Copy weights from one side to the other. Left bones map to right bones.").under("Mirror"),
    row(Group::Weights, Command::Operate(OperationKind::Flip), "weights.flip", "Flip weights", "Swap the weights of the two sides.").under("Mirror"),
    row(Group::Weights, Command::AdjustLast, "weights.adjust_last", "Adjust last operation", "Show or hide the settings of the last operation on weights or bones. You can adjust them until the next edit.").keys(&[Chord::key(Key::F9)]),
    row(Group::Weights, Command::CopyWeights, "weights.copy", "Copy weights", "Copy the weights of the selected vertices, or of the whole object.").keys(&[Chord::key(Key::C).ctrl()]).only_in(&[Mode::Paint]).part(),
    row(Group::Weights, Command::Operate(OperationKind::Paste(PasteBy::Point)), "weights.paste", "Paste weights", "Paste the copied weights by vertex index. One copied vertex fills the whole selection.").keys(&[Chord::key(Key::V).ctrl()]).only_in(&[Mode::Paint]),
    row(Group::Weights, Command::Operate(OperationKind::Paste(PasteBy::Surface)), "weights.paste_surface", "Paste by surface", "Paste the copied weights to the nearest surface positions in the bind pose.").keys(&[Chord::key(Key::V).ctrl().shift()]).only_in(&[Mode::Paint]),
    row(Group::Weights, Command::Operate(OperationKind::Automatic), "weights.automatic", "Automatic weights", "Compute weights from the bones and the surface.").part(),
    row(Group::Weights, Command::TransferFrom, "weights.transfer", "Transfer from model…", "Transfer weights from the nearest surface of another model."),
    row(Group::Weights, Command::ImportWeights, "weights.import", "Import weights…", "Read weights from a weights file."),
    row(Group::Weights, Command::ExportWeights, "weights.export", "Export weights…", "Write all weights to a weights file. Bones are stored by name."),
    row(Group::Weights, Command::LockActive, "weights.lock", "Lock weights", "Lock or unlock the weights of the active bone. Locked weights never change.").part().under("Locks"),
    row(Group::Weights, Command::LockOthers, "weights.lock_others", "Lock others", "Lock the weights of all bones except the active one.").under("Locks"),
    row(Group::Weights, Command::UnlockAll, "weights.unlock_all", "Unlock all", "Unlock the weights of all bones.").under("Locks"),
    row(Group::Weights, Command::InvertLocks, "weights.invert_locks", "Invert locks", "Lock all unlocked bones and unlock all locked ones.").under("Locks"),
    row(Group::Weights, Command::LockPie, "weights.lock_pie", "Locks…", "Choose what to lock in a pie menu.").keys(&[Chord::key(Key::K)]).under("Locks"),
    row(Group::Animation, Command::PlayPause, "animate.play", "Play / pause", "Play or pause the clip.").presets(&[Chord::key(Key::Space)], &[Chord::key(Key::Space), Chord::key(Key::V).alt()]),
    row(Group::Animation, Command::KeyPose, "animate.key", "Insert keyframe", "Insert keyframes for the selected bones at the current frame. In Cluster mode, insert one for the active group if it is moved by hand.").presets(&[Chord::key(Key::I)], &[Chord::key(Key::S)]).part(),
    row(Group::Animation, Command::DeleteKeys, "animate.delete_keys", "Delete keyframes", "Delete the keyframes of the selected bones at the current frame. In Cluster mode, delete that of the active group if it is moved by hand.").presets(&[Chord::key(Key::I).alt()], &[Chord::key(Key::S).alt()]),
    row(Group::Animation, Command::EditRig(RigKind::Pin), "animate.pin_range", "Pin over range", "Keep the selected bones, such as a foot, where they are now over the loop range, or else the whole clip. Their limbs bend by inverse kinematics, and get keyframes."),
    row(Group::Animation, Command::NextKey, "animate.next_key", "Next keyframe", "Jump to the next keyframe of the selected bones.").presets(&[Chord::key(Key::ArrowUp)], &[Chord::key(Key::Period)]).under("Go to").part(),
    row(Group::Animation, Command::PreviousKey, "animate.previous_key", "Previous keyframe", "Jump to the previous keyframe of the selected bones.").presets(&[Chord::key(Key::ArrowDown)], &[Chord::key(Key::Comma)]).under("Go to"),
    row(Group::Animation, Command::NextFrame, "animate.next_frame", "Next frame", "Step one frame forward.").presets(&[Chord::key(Key::ArrowRight)], &[Chord::key(Key::Period).alt()]).under("Go to"),
    row(Group::Animation, Command::PreviousFrame, "animate.previous_frame", "Previous frame", "Step one frame back.").presets(&[Chord::key(Key::ArrowLeft)], &[Chord::key(Key::Comma).alt()]).under("Go to"),
    row(Group::Animation, Command::FirstFrame, "animate.first", "Jump to start", "Jump to the start of the clip or of the loop range.").presets(&[Chord::key(Key::ArrowLeft).shift()], &[Chord::key(Key::V).alt().shift()]).under("Go to"),
    row(Group::Animation, Command::LastFrame, "animate.last", "Jump to end", "Jump to the end of the clip or of the loop range.").keys(&[Chord::key(Key::ArrowRight).shift()]).under("Go to"),
    row(Group::Animation, Command::ToggleAutoKey, "animate.auto_key", "Auto keying", "When you change the pose, insert keyframes at the current frame for the bones that moved."),
    row(Group::Animation, Command::ToggleLoop, "animate.loop", "Loop", "Repeat playback. When off, playback stops at the end.").part(),
    row(Group::Animation, Command::SetLoopStart, "animate.loop_start", "Set loop start", "Start the loop range at the current frame."),
    row(Group::Animation, Command::SetLoopEnd, "animate.loop_end", "Set loop end", "End the loop range at the current frame."),
    row(Group::Animation, Command::ClearLoop, "animate.loop_clear", "Clear loop range", "Loop the whole clip."),
    row(Group::Animation, Command::NewClip, "animate.new", "New clip", "Add an empty clip and show it.").part(),
    row(Group::Animation, Command::DuplicateClip, "animate.duplicate", "Duplicate clip", "Duplicate the clip and show the copy."),
    row(Group::Animation, Command::CleanClip(ClipCleaning::Smooth), "animate.smooth_keys", "Smooth keyframes", "Move each keyframe of the selected bones, or of all, towards the curve between its neighbours, over the loop range or the whole clip.").under("Clean up"),
    row(Group::Animation, Command::CleanClip(ClipCleaning::FillGap), "animate.fill_gap", "Fill gap", "Remove the keyframes of the selected bones, or of all, inside the loop range, and interpolate across it.").under("Clean up"),
    row(Group::Animation, Command::CleanClip(ClipCleaning::Trim), "animate.trim", "Trim to loop range", "Keep the loop range of the clip alone. It then starts at 0 s.").under("Clean up"),
    row(Group::Animation, Command::CleanClip(ClipCleaning::BlendEnd), "animate.blend_end", "Blend end into start", "Blend the rotations of the last 0.25 s into those of the start, for the selected bones or all, so that the clip repeats without a jump. Locations stay.").under("Clean up"),
    row(Group::Animation, Command::RenameClip, "animate.rename", "Rename clip", "Rename the current clip."),
    row(Group::Animation, Command::DeleteClip, "animate.delete", "Delete clip", "Delete the current clip."),
    row(Group::Animation, Command::UseRigidInterpolation(RigidInterpolation::Components), "animate.in_betweens_components", "Interpolate per component", "Interpolate location and rotation separately, as glTF players do: a rotating bone moves on a straight line.").under("Interpolation").part(),
    row(Group::Animation, Command::UseRigidInterpolation(RigidInterpolation::Screw), "animate.in_betweens_screw", "Interpolate by screw motion", "Interpolate along a screw motion (ScLERP): a rotating bone moves on an arc at constant speed, like a hinge. Exports add keyframes so that every player matches.").under("Interpolation"),
    row(Group::Animation, Command::UseRigidInterpolation(RigidInterpolation::ScrewDlb), "animate.in_betweens_dlb", "Interpolate by screw motion (DLB)", "Interpolate along the same arc by dual quaternion blending (DLB): slower near the keyframes, faster between them.").under("Interpolation"),
    row(Group::Animation, Command::ToggleExported, "animate.exported", "Export this clip", "Include the clip in exported files. When off, it stays in the project as a preview."),
    row(Group::Animation, Command::AdjustMotion, "animate.adjust_motion", "Adjust motion", "Open the retargeting settings of the motion that the clip was made from. The clip is replaced when a setting changes.").under("Recordings"),
    row(Group::Animation, Command::AddStamp, "animate.stamp", "Add stamp", "Mark the current time in the active recording, for example a clap. Its lane in the timeline shows it.").presets(&[Chord::key(Key::M)], &[]).only_in(&[Mode::Select, Mode::Pose, Mode::Paint, Mode::Sculpt]).under("Recordings"),
    row(Group::Animation, Command::AlignByStamps, "animate.align_stamps", "Align by stamps", "Align the clock of the active recording with the reference by the stamps and events that have equal names in both: one pair sets the offset, more set the drift too. Two claps far apart tell more than five close together.").under("Recordings"),
    row(Group::Animation, Command::FindClaps, "animate.find_claps", "Find claps", "Find the sharp peaks of the chosen channel of the active recording. They become the stamps “peak 1”, “peak 2” and so on, in place of those of an earlier search.").under("Recordings"),
    row(Group::Animation, Command::SuggestOffset, "animate.suggest_offset", "Suggest offset", "Compare the chosen channels of the active recording and of the reference, and suggest the offset at which they correlate best. Rotations and markers are compared by their speed.").under("Recordings"),
    row(Group::Animation, Command::ApplyOffset, "animate.apply_offset", "Apply suggested offset", "Move the active recording by the suggested offset.").under("Recordings"),
    row(Group::Animation, Command::ToggleListening, "animate.live_listen", "Listen for live motion", "Receive motion from another program, VMC or JSON lines, and show it on the character while you work. The Motion panel has the settings.").under("Live motion").part(),
    row(Group::Animation, Command::CalibrateLive, "animate.live_calibrate", "Calibrate live motion", "Calibrate senders whose bones have axes of their own: within 3 s take a T-pose, and hold it for 1 s.").under("Live motion"),
    row(Group::Animation, Command::ToggleRecording, "animate.live_record", "Record live motion", "Start or stop recording live motion. Stopping adds the recording to the project as one undo step.").under("Live motion"),
    row(Group::Animation, Command::ToggleLive, "animate.live_show", "Show live motion", "Show live motion on the character. When off, it is still received and recorded, and your pose or clip is on screen.").under("Live motion"),
    row(Group::Animation, Command::RangeOfMotion, "animate.range_of_motion", "Range of motion…", "Make a preview clip that bends and twists the selected bones, or all bones. Use it to test the skin.").part(),
    row(Group::Animation, Command::ShowMyPose, "animate.my_pose", "Show my pose", "Show your own pose without a clip.").part(),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::Lbs), "skin.lbs", "Linear blend", "Use linear blend skinning (LBS), as glTF viewers do. Joints collapse when they bend or twist."),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::Dqs), "skin.dqs", "Dual quaternion", "Use dual quaternion skinning (DQS) with two-phase scale. It keeps volume but bulges at bends."),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::CentresOfRotation), "skin.cor", "Centres of rotation", "Rotate each vertex about its own centre (Le & Hodgins 2016). Bulges less than dual quaternions and stays smooth."),
    row(Group::Skinning, Command::UseMethod(SkinningMethod::Blend), "skin.blend", "Linear to dual quaternion", "Blend linear and dual quaternion skinning by a painted map."),
    row(Group::Skinning, Command::UsePreset(StackPreset::Lbs), "skin.preset_lbs", "Linear blend skinning only", "Use linear blend skinning without corrections. This is what other programs show.").part(),
    row(Group::Skinning, Command::UsePreset(StackPreset::Default), "skin.preset_default", "Default stack", "Use two-phase dual quaternion skinning, bulge compensation and blended bulge projection.").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::Dqs), "skin.preset_dqs", "Dual quaternion skinning only", "Use two-phase dual quaternion skinning without corrections.").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::Compensation), "skin.preset_compensation", "DQS + compensation", "Use dual quaternion skinning with bulge compensation (Sulema & Rudenko 2020).").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::Projection), "skin.preset_projection", "DQS + projection", "Use dual quaternion skinning with blended bulge projection (after Kim & Han 2014).").under("Presets"),
    row(Group::Skinning, Command::UsePreset(StackPreset::CentresOfRotation), "skin.preset_cor", "Centres of rotation only", "Use centres of rotation (Le & Hodgins 2016) without corrections.").under("Presets"),
    row(Group::Skinning, Command::CopyStack, "skin.copy", "Copy deformer stack", "Copy the whole deformer stack of the active object.").part(),
    row(Group::Skinning, Command::PasteStack, "skin.paste", "Paste deformer stack", "Paste the copied deformer stack onto the active object, or onto all objects, whichever the Deformation section shows."),
    row(Group::Skinning, Command::MeasureVolume, "skin.measure_volume", "Measure volume", "Measure over the clip how well the model keeps its volume and how far it bulges.").part(),
    row(Group::Skinning, Command::AddGroup(GroupPreset::Skin), "cluster.add_skin", "Add skin group", "Add a group of clusters that only skinning moves: the unmarked dual quaternion vertices of the paper (Bukatov et al. 2014).").part().under("Clusters"),
    row(Group::Skinning, Command::AddGroup(GroupPreset::PoseSpace), "cluster.add_psd", "Add PSD group", "Add a group of clusters that pose space deformation (PSD) corrects: yellow in the paper.").under("Clusters"),
    row(Group::Skinning, Command::AddGroup(GroupPreset::Procedural), "cluster.add_procedural", "Add procedural group", "Add a group of clusters that are displaced procedurally, for example by a muscle: green in the paper.").under("Clusters"),
    row(Group::Skinning, Command::AddGroup(GroupPreset::Custom), "cluster.add", "Add group", "Add a group with a colour and a glyph of its own.").under("Clusters"),
    row(Group::Skinning, Command::MarkSelected, "cluster.mark", "Mark selected vertices", "Mark the selected vertices as control clusters of the active group. If there is no group, one is added.").keys(&[Chord::key(Key::M)]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::MarkBrush, "cluster.brush", "Mark brush", "Mark clusters with brush strokes, instead of moving them with the gizmo.").only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::UnmarkSelected, "cluster.unmark", "Unmark selected vertices", "Make the selected vertices free: they follow the patches between clusters.").keys(&[Chord::key(Key::M).alt()]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::UnmarkAll, "cluster.unmark_all", "Unmark all clusters", "Unmark all control clusters of the active object, or only those of the isolated group.").keys(&[Chord::key(Key::M).ctrl().alt()]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::GrowGroup, "cluster.grow", "Grow group", "Extend the active group by the free neighbours of its clusters.").keys(&[Chord::key(Key::Plus).alt()]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::ShrinkGroup, "cluster.shrink", "Shrink group", "Unmark the clusters at the border of the active group.").keys(&[Chord::key(Key::Minus).alt()]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::SelectGroup, "cluster.select", "Select group", "Select the vertices of the active group.").keys(&[Chord::key(Key::L)]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::IsolateGroup, "cluster.isolate", "Isolate group", "Hide the clusters of all other groups, and protect them from strokes. Run it again to show all.").keys(&[Chord::key(Key::Slash).ctrl()]).only_in(&[Mode::Cluster]).under("Clusters"),
    row(Group::Skinning, Command::RenameGroup, "cluster.rename", "Rename group", "Rename the active group of clusters.").under("Clusters"),
    row(Group::Skinning, Command::DeleteGroup, "cluster.delete", "Delete group", "Delete the active group. Its clusters become free vertices.").under("Clusters"),
    row(Group::Skinning, Command::PromoteAnchors, "cluster.promote", "Promote anchors", "Mark all anchors as clusters of the active group. Anchors are unmarked vertices that the patches need as corners.").under("Clusters"),
    row(Group::Skinning, Command::AddMuscle, "cluster.muscle", "Add muscle", "Add a muscle to the active group, on the selected bone: it bulges the clusters as the joint at the bone's tail bends.").under("Clusters"),
    row(Group::Skinning, Command::AddDriver, "cluster.driver", "Add driver", "Add a driver to the active group: one value, such as the angle of the selected bone, displaces the clusters.").under("Clusters"),
    row(Group::Skinning, Command::AddRecording, "cluster.recording", "Add recording\u{2026}", "Read markers, rotations and values over time from a CSV, TRC or JSON lines file, to look at them, to move joints, or to move and drive clusters.").under("Clusters"),
    row(Group::Skinning, Command::SuggestClusters, "cluster.suggest", "Suggest clusters", "Choose as few clusters as the patches need to follow the deformer stack closely in the training poses. The Clusters panel plots the error against the number of clusters.").under("Clusters"),
    row(Group::Skinning, Command::ReduceSamples, "cluster.reduce", "Reduce samples to clusters", "Delete the displacements of the active sample set on all vertices but clusters; the patches interpolate them. The Clusters panel then shows how much of each sample is lost.").under("Clusters"),
    row(Group::Skinning, Command::ToggleClusters, "view.clusters", "Show clusters", "Show or hide control clusters, anchors and the borders of patches.").under("Clusters"),
    row(Group::Skinning, Command::ToggleControlNet, "view.control_net", "Show control points of patches", "In Cluster mode, draw the Bezier control points of the patches, and the patch borders as curves.").under("Clusters"),
    row(Group::Skinning, Command::AssignGroup(0), "cluster.assign_1", "Assign to group 1", "Put the selected vertices into group 1 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num1)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(1), "cluster.assign_2", "Assign to group 2", "Put the selected vertices into group 2 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num2)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(2), "cluster.assign_3", "Assign to group 3", "Put the selected vertices into group 3 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num3)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(3), "cluster.assign_4", "Assign to group 4", "Put the selected vertices into group 4 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num4)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(4), "cluster.assign_5", "Assign to group 5", "Put the selected vertices into group 5 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num5)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(5), "cluster.assign_6", "Assign to group 6", "Put the selected vertices into group 6 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num6)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(6), "cluster.assign_7", "Assign to group 7", "Put the selected vertices into group 7 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num7)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(7), "cluster.assign_8", "Assign to group 8", "Put the selected vertices into group 8 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num8)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AssignGroup(8), "cluster.assign_9", "Assign to group 9", "Put the selected vertices into group 9 and make it active. Without a selection, strokes then mark into it.").keys(&[Chord::key(Key::Num9)]).only_in(&[Mode::Cluster]).under("Assign to group"),
    row(Group::Skinning, Command::AddSample, "skin.add_sample", "Add sample at this pose", "Add a corrective sample at the pose on screen, driven by the selected bones that are posed. It starts with the shape on screen.").keys(&[Chord::key(Key::K).ctrl()]).part().under("Correctives"),
    row(Group::Skinning, Command::GoToSample, "skin.go_to_sample", "Go to sample", "Pose the driver bones as in the active sample.").under("Correctives"),
    row(Group::Skinning, Command::UpdateSample, "skin.update_sample", "Update sample pose", "Move the active sample to the pose on screen. It keeps its displacements.").under("Correctives"),
    row(Group::Skinning, Command::DuplicateSample, "skin.duplicate_sample", "Duplicate sample", "Add a copy of the active sample at the pose on screen.").under("Correctives"),
    row(Group::Skinning, Command::RenameSample, "skin.rename_sample", "Rename sample", "Rename the active corrective sample.").under("Correctives"),
    row(Group::Skinning, Command::DeleteSample, "skin.delete_sample", "Delete sample", "Delete the active corrective sample.").under("Correctives"),
    row(Group::Skinning, Command::SampleUp, "skin.sample_up", "Move sample up", "Move the active sample up in the list. The shape stays the same.").under("Correctives"),
    row(Group::Skinning, Command::SampleDown, "skin.sample_down", "Move sample down", "Move the active sample down in the list. The shape stays the same.").under("Correctives"),
    row(Group::Skinning, Command::AddSampleSet, "skin.add_sample_set", "Add sample set", "Add a sample set driven by the selected bones.").under("Correctives"),
    row(Group::Skinning, Command::AddDrivers, "skin.add_drivers", "Add drivers", "Add the selected bones to the drivers of the active sample set.").under("Correctives"),
    row(Group::Skinning, Command::DeleteSampleSet, "skin.delete_sample_set", "Delete sample set", "Delete the active sample set with its samples.").under("Correctives"),
    row(Group::Skinning, Command::SuggestCorrectives, "skin.suggest", "Suggest correctives", "Compute corrective samples for the active bone: relaxed skin without self-intersections at the poses where it bends badly.").under("Correctives"),
    row(Group::Skinning, Command::ImportSculpt, "skin.import_sculpt", "Import sculpt…", "Add a corrective sample at this pose: a mesh with the vertices of the model, sculpted in another program.").under("Correctives"),
    row(Group::Skinning, Command::SampleFromStack(StackPreset::CentresOfRotation), "skin.sample_from_cor", "Sample from centres of rotation", "Add a corrective sample with the shape that skinning about centres of rotation gives at this pose.").under("Correctives"),
    row(Group::Skinning, Command::SampleFromStack(StackPreset::Projection), "skin.sample_from_projection", "Sample from projection", "Add a corrective sample with the shape that dual quaternion skinning with projection gives at this pose.").under("Correctives"),
    row(Group::Skinning, Command::SampleFromSmooth, "skin.sample_from_smooth", "Sample from corrective smooth", "Add a corrective sample with the shape that corrective smoothing gives the skin at this pose.").under("Correctives"),
    row(Group::Skinning, Command::PushOut, "skin.push_out", "Push out of itself", "Push the skin apart where it touches or crosses itself around the driver bones of the active sample, in the pose on screen.").under("Correctives"),
    row(Group::Skinning, Command::MirrorSamples, "skin.mirror_samples", "Mirror samples", "Copy the corrective samples from the side of the active sample set to the other side, with mirrored driver bones. Samples there at the same poses are replaced.").under("Correctives"),
    row(Group::Skinning, Command::FlipSamples, "skin.flip_samples", "Flip samples", "Swap the corrective samples of the two sides.").under("Correctives"),
    row(Group::Skinning, Command::RetargetSamples, "skin.retarget_samples", "Re-target samples", "Recompute all samples that were captured on another deformer stack or other weights, so that the vertices they move keep their sculpted shape.").under("Correctives"),
    row(Group::Skinning, Command::KeepSamples, "skin.keep_samples", "Keep displacements", "Accept the displacements of all samples that were captured on another deformer stack or other weights as they are.").under("Correctives"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Grab), "sculpt.grab", "Grab brush", "Drag the vertices under the brush with the pointer. Shift smooths.").keys(&[Chord::key(Key::Num1).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Inflate), "sculpt.inflate", "Inflate brush", "Move vertices outwards along their normals. Ctrl moves them inwards, Shift smooths.").keys(&[Chord::key(Key::Num2).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Smooth), "sculpt.smooth", "Smooth sculpt brush", "Move vertices towards the mean of their neighbours.").keys(&[Chord::key(Key::Num3).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Relax), "sculpt.relax", "Relax to rest brush", "Move vertices so that their edges regain their shape from the rest pose. Shift smooths.").keys(&[Chord::key(Key::Num4).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Flatten), "sculpt.flatten", "Flatten brush", "Move vertices onto their mean plane. Ctrl moves them away from it, Shift smooths.").keys(&[Chord::key(Key::Num5).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Pinch), "sculpt.pinch", "Pinch brush", "Move vertices towards the centre of the brush, along the surface. Ctrl moves them away, Shift smooths.").keys(&[Chord::key(Key::Num6).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Slide), "sculpt.slide", "Slide brush", "Drag the vertices under the brush along the surface. Shift smooths.").keys(&[Chord::key(Key::Num7).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Erase), "sculpt.erase", "Erase correction brush", "Remove the displacements of the sample under the brush. Shift smooths.").keys(&[Chord::key(Key::Num8).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::UseSculpt(SculptKind::Vertices), "sculpt.vertices", "Transform vertices", "Select vertices by click, box or lasso, and move, rotate or scale them with the gizmo.").keys(&[Chord::key(Key::Num9).alt()]).only_in(&[Mode::Sculpt]).under("Sculpt brush"),
    row(Group::Skinning, Command::ToggleSoftSelection, "sculpt.soft", "Soft selection", "Vertices (or clusters moved by hand) within the brush radius follow the selected ones, with the falloff of the brush. The radius is measured along the surface.").keys(&[Chord::key(Key::O)]).only_in(&[Mode::Sculpt, Mode::Cluster]).part(),
    row(Group::Window, Command::SetMode(Mode::Select), "mode.select", "Select mode", "Select bones and vertices by click, box or lasso.").presets(&[], &[Chord::key(Key::Q)]),
    row(Group::Window, Command::SetMode(Mode::Pose), "mode.pose", "Pose mode", "Move, rotate and scale bones with the gizmo."),
    row(Group::Window, Command::SetMode(Mode::Paint), "mode.paint", "Paint mode", "Paint the weights of the active bone or a strength map. Ctrl inverts the brush, Shift smooths."),
    row(Group::Window, Command::SetMode(Mode::Cluster), "mode.cluster", "Cluster mode", "Mark control clusters with a brush. Ctrl unmarks, Shift grows the group by one ring, 1 to 9 choose the group."),
    row(Group::Window, Command::SetMode(Mode::Sculpt), "mode.sculpt", "Sculpt mode", "Sculpt the active corrective sample on the posed surface. Ctrl inverts the brush, Shift smooths."),
    row(Group::Window, Command::SetMode(Mode::Rig), "mode.rig", "Edit bones mode", "Edit bones in the rest pose: move, extrude, subdivide, orient, mirror, and change parents. Every operation reports how it changes the clips."),
    row(Group::Window, Command::SwapMode, "mode.swap", "Previous mode", "Switch back to the previous mode.").keys(&[Chord::key(Key::Tab)]).part(),
    row(Group::Window, Command::ModePie, "mode.pie", "Modes…", "Choose a mode in a pie menu.").keys(&[Chord::key(Key::Tab).ctrl()]),
    row(Group::Window, Command::UseWorkspace(Workspace::Rig), "window.workspace_rig", "Rig workspace", "Inspect and edit the skeleton.").under("Workspaces").part(),
    row(Group::Window, Command::UseWorkspace(Workspace::Weights), "window.workspace_weights", "Weights workspace", "Paint weights.").under("Workspaces"),
    row(Group::Window, Command::UseWorkspace(Workspace::Clusters), "window.workspace_clusters", "Clusters workspace", "Mark control clusters.").under("Workspaces"),
    row(Group::Window, Command::UseWorkspace(Workspace::Correctives), "window.workspace_correctives", "Correctives workspace", "Correct the shape of the skin at poses.").under("Workspaces"),
    row(Group::Window, Command::UseWorkspace(Workspace::Animate), "window.workspace_animate", "Animate workspace", "Pose bones and animate clips.").under("Workspaces"),
    row(Group::Window, Command::UseWorkspace(Workspace::Compare), "window.workspace_compare", "Compare workspace", "Compare deformer stacks side by side.").under("Workspaces"),
    row(Group::Window, Command::NextWorkspace, "window.next_workspace", "Next workspace", "Switch to the workspace on the right.").keys(&[Chord::key(Key::PageDown).ctrl()]).under("Workspaces"),
    row(Group::Window, Command::PreviousWorkspace, "window.previous_workspace", "Previous workspace", "Switch to the workspace on the left.").keys(&[Chord::key(Key::PageUp).ctrl()]).under("Workspaces"),
    row(Group::Window, Command::ResetWorkspace, "window.reset_workspace", "Reset workspace", "Reset the panels of this workspace to the default layout.").under("Workspaces"),
    row(Group::Window, Command::TogglePanel(PanelKind::Hierarchy), "window.panel_hierarchy", "Hierarchy panel", "Show or hide the hierarchy of objects and bones.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Properties), "window.panel_properties", "Properties panel", "Show or hide the properties of the mode and the selection.").presets(&[Chord::key(Key::N)], &[]).under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Timeline), "window.panel_timeline", "Timeline panel", "Show or hide the timeline.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Problems), "window.panel_problems", "Problems panel", "Show or hide the problems found in the model.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::History), "window.panel_history", "History panel", "Show or hide the undo history.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Volume), "window.panel_volume", "Volume panel", "Show or hide volume and bulge over the clip.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Influences), "window.panel_influences", "Influences panel", "Show or hide the table of weights, vertices by bones.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Layers), "window.panel_layers", "Layers panel", "Show or hide the weight layers.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Correctives), "window.panel_correctives", "Correctives panel", "Show or hide the corrective samples.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Clusters), "window.panel_clusters", "Clusters panel", "Show or hide the groups of control clusters.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Motion), "window.panel_motion", "Motion panel", "Show or hide live motion and recordings.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Individual), "window.panel_individual", "Individual panel", "Show or hide the measurements of a person.").under("Panels"),
    row(Group::Window, Command::TogglePanel(PanelKind::Poses), "window.panel_poses", "Poses panel", "Show or hide the pose library.").under("Panels"),
    row(Group::Window, Command::ToggleToolBar, "window.tool_bar", "Toolbar", "Show or hide the toolbar.").keys(&[Chord::key(Key::T)]).part(),
    row(Group::Window, Command::MaximisePanel, "window.maximise", "Maximise panel", "Maximise the panel under the pointer. Run it again to restore it.").keys(&[Chord::key(Key::Space).ctrl()]),
    row(Group::Window, Command::UseTheme(ThemeChoice::Dark), "window.theme_dark", "Dark theme", "Use dark colours.").under("Theme"),
    row(Group::Window, Command::UseTheme(ThemeChoice::Light), "window.theme_light", "Light theme", "Use light colours.").under("Theme"),
    row(Group::Window, Command::UseTheme(ThemeChoice::HighContrast), "window.theme_highcontrast", "High contrast theme", "Use high-contrast colours.").under("Theme"),
    row(Group::Window, Command::LargerInterface, "window.larger", "Increase UI scale", "Enlarge text and buttons.").keys(&[Chord::key(Key::Plus).ctrl().alt()]).under("UI scale"),
    row(Group::Window, Command::SmallerInterface, "window.smaller", "Decrease UI scale", "Shrink text and buttons.").keys(&[Chord::key(Key::Minus).ctrl().alt()]).under("UI scale"),
    row(Group::Window, Command::NormalInterface, "window.normal", "Reset UI scale", "Use the scale of the system.").keys(&[Chord::key(Key::Num0).ctrl().alt()]).under("UI scale"),
    row(Group::Help, Command::FindCommand, "help.find", "Find command…", "Search for any command by name and run it.").keys(&[Chord::key(Key::F3)]),
    row(Group::Help, Command::ShowKeys, "help.keys", "Keys and mouse", "Show the keys and the mouse gestures of this mode.").keys(&[Chord::key(Key::F1)]),
    row(Group::Help, Command::Manual, "help.manual", "Manual", "Open the manual: keys, command line, formats, export and figures. Works offline."),
    row(Group::Help, Command::Welcome, "help.welcome", "Welcome", "Show recent projects, samples, key map and theme.").part(),
    row(Group::Help, Command::About, "help.about", "About Sinew", "Show the version and the licences."),
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
