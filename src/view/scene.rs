//! What to draw, as plain borrowed data: the renderer knows neither the document's tables nor the editor.

use super::heat::Ramp;
use super::heat_map::HeatScale;
use super::joints::BoneShape;
use super::scenery::Theme;
use crate::deform::diagnostics::Metric;
use crate::document::{Image, Material};
use crate::editor::WeightView;
use crate::editor::weight_colours::HeatChange;
use crate::math::camera::Camera;
use crate::mesh::{Mesh, PointSet};
use glam::Vec3;
use std::sync::Arc;

/// Everything one picture shows. World space, metres.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// Where it is seen from.
    pub camera: &'a Camera,
    /// What is drawn, one entry an instance.
    pub meshes: Vec<SceneMesh<'a>>,
    /// What [`super::shape_bones`] made.
    pub bones: &'a [BoneShape],
    /// Height of the ground grid.
    pub ground: f32,
    /// How it is drawn.
    pub options: &'a ViewOptions,
}

/// One instance of a mesh in a pose.
#[derive(Clone, Copy, Debug)]
pub struct SceneMesh<'a> {
    /// Names the GPU buffers from picture to picture: one instance of one geometry.
    pub key: u64,
    /// Primitives, seams, texture coordinates and triangles.
    pub mesh: &'a Mesh,
    /// n_points deformed positions.
    pub positions: &'a [Vec3],
    /// As many as `mesh.normals`, deformed, unit.
    pub normals: &'a [Vec3],
    /// Another number whenever positions or normals changed.
    pub generation: u64,
    /// Which chunks of `positions` changed last; empty: all of them did.
    pub position_changes: &'a [HeatChange],
    /// The same of `normals`.
    pub normal_changes: &'a [HeatChange],
    /// n_points values 0 - 1 for [`Shading::Weights`], as [`WeightView`] has them; 0, negative and NaN: no influence. For
    /// [`Shading::HeatMap`] values of the metric; NaN: none. `None`: none anywhere.
    pub weights: Option<&'a [f32]>,
    /// n_points mixed colours of bones, and the share of each point's weights that is locked; `None`: nothing is.
    pub tints: Option<&'a [[u8; 4]]>,
    /// Which chunks of `weights` and `tints` changed last; empty: all of them did.
    pub weight_changes: &'a [HeatChange],
    /// The weight, 0 - 1, that is hatched instead of coloured: it says that there is nothing. 0, but of a painted map
    /// what was never painted.
    pub plain_weight: f32,
    /// Another number whenever `weights` changed.
    pub weights_generation: u64,
    /// What primitives name by index.
    pub materials: &'a [Material],
    /// What materials name by index.
    pub images: &'a [Option<Arc<Image>>],
    /// Outlined in the accent colour.
    pub highlighted: bool,
    /// Which points are hidden, and which are drawn.
    pub marks: PointMarks<'a>,
}

impl SceneMesh<'_> {
    /// Whether the arrays have the lengths that the mesh asks for.
    pub(crate) fn fits(&self) -> bool {
        self.positions.len() == self.mesh.n_points()
            && self.normals.len() == self.mesh.normals.len()
            && self.weights.is_none_or(|w| w.len() == self.mesh.n_points())
            && self.tints.is_none_or(|t| t.len() == self.mesh.n_points())
    }
}

/// How surfaces look.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Shading {
    /// Materials and textures.
    #[default]
    Textured,
    /// Neutral clay under soft light.
    Shaded,
    /// Clay between strip lights, its hollows dark and its ridges bright: a bulge or a collapse is seen at once.
    Form,
    /// Influence weights as colours.
    Weights,
    /// Edges over a dim fill.
    Wire,
    /// How good the deformation is, as colours.
    HeatMap,
}

impl Shading {
    /// Every way, in the order of menus.
    pub const ALL: [Self; 6] = [
        Self::Textured,
        Self::Shaded,
        Self::Form,
        Self::Weights,
        Self::Wire,
        Self::HeatMap,
    ];
}

/// Which points of a mesh are special.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointMarks<'a> {
    /// Not drawn, and with them their faces.
    pub hidden: Option<&'a Arc<PointSet>>,
    /// Drawn as dots.
    pub selected: Option<&'a Arc<PointSet>>,
    /// Whether the others are drawn too, as smaller dots, where there is room.
    pub show_others: bool,
}

/// How a scene is drawn.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent check boxes of the view menu"
)]
pub struct ViewOptions {
    /// How surfaces look.
    pub shading: Shading,
    /// The colours of [`Shading::Weights`].
    pub ramp: Ramp,
    /// What [`Shading::Weights`] shows.
    pub weight_view: WeightView,
    /// Lines of equal weight over [`WeightView::Painted`].
    pub isolines: bool,
    /// Stripes where weights are locked.
    pub lock_pattern: bool,
    /// What moves the point under the pointer, beside it.
    pub hover_bar: bool,
    /// More influences than this are marked.
    #[serde(skip)]
    pub influence_limit: u8,
    /// What [`Shading::HeatMap`] shows.
    pub metric: Metric,
    /// The diagonal of the box around the model at rest, metres: the measure of [`ViewOptions::metric`]'s range.
    #[serde(skip)]
    pub diagonal: f32,
    /// Fine edges over any shading.
    pub wire_overlay: bool,
    /// Bones show, dimmed, through what hides them.
    pub xray_bones: bool,
    /// Whether there are bones.
    pub show_bones: bool,
    /// Whether names stand beside the bones.
    pub show_names: bool,
    /// Whether there is a ground grid.
    pub show_grid: bool,
    /// Colours around the model.
    pub theme: Theme,
    /// Samples a pixel: 0 or 1 without smoothing, 4 for still pictures; more than the GPU can is cut.
    pub samples: u32,
    /// Size of a screen point in pixels: hatch and grid lines keep their size on dense screens.
    pub pixels_per_point: f32,
    /// Changes of view glide; off for those whom motion disturbs.
    pub ease_camera: bool,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            shading: Shading::Textured,
            ramp: Ramp::default(),
            weight_view: WeightView::default(),
            isolines: false,
            lock_pattern: true,
            hover_bar: true,
            influence_limit: 4,
            metric: Metric::Bulge,
            diagonal: 0.0,
            wire_overlay: false,
            xray_bones: true,
            show_bones: true,
            show_names: false,
            show_grid: true,
            theme: Theme::Dark,
            samples: 4,
            pixels_per_point: 1.0,
            ease_camera: true,
        }
    }
}

impl ViewOptions {
    /// The colours of [`Shading::HeatMap`].
    pub fn heat_scale(&self) -> HeatScale {
        HeatScale::new(self.metric, self.diagonal)
    }
}

/// A sphere around `positions`, (centre, radius), for [`Camera::frame`]; `None` without a finite one.
///
/// The centre is the middle of the bounding box: stable while a limb moves inside.
pub fn frame_bounds<'a>(
    positions: impl IntoIterator<Item = &'a Vec3, IntoIter: Clone>,
) -> Option<(Vec3, f32)> {
    let finite = positions.into_iter().filter(|p| p.is_finite());
    let (low, high) = finite
        .clone()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    if low.x > high.x {
        return None;
    }
    let centre = low + (high - low) * 0.5;
    let radius = finite.map(|&p| p.distance(centre)).fold(0.0, f32::max);
    Some((centre, radius))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_all_finite_positions() {
        let positions = [
            Vec3::new(1., 0., 0.),
            Vec3::new(3., 0., 0.),
            Vec3::splat(f32::NAN),
        ];
        assert_eq!(frame_bounds(&positions), Some((Vec3::new(2., 0., 0.), 1.0)));
        assert_eq!(frame_bounds(&positions[2..]), None);
    }
}
