//! The scene to draw, as plain borrowed data: the renderer knows neither the document nor the editor.

use super::heat::Ramp;
use super::heat_map::{DataScale, HeatScale};
use super::joints::BoneShape;
use super::scenery::Theme;
use crate::cluster::ClusterMap;
use crate::deform::diagnostics::Metric;
use crate::document::{Image, Material};
use crate::editor::WeightView;
use crate::editor::weight_colours::HeatChange;
use crate::math::bounding_box::Corners;
use crate::math::camera::Camera;
use crate::mesh::{Mesh, PointSet};
use glam::Vec3;
use std::sync::Arc;

/// The content of one picture. World space, metres.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The camera.
    pub camera: &'a Camera,
    /// The meshes, one entry per instance.
    pub meshes: Vec<SceneMesh<'a>>,
    /// The bones, from [`super::shape_bones`].
    pub bones: &'a [BoneShape],
    /// The bounding boxes of objects that are not drawn.
    pub boxes: &'a [Corners],
    /// Height of the ground grid.
    pub ground: f32,
    /// The display options.
    pub options: &'a ViewOptions,
}

/// One instance of a mesh in a pose.
#[derive(Clone, Copy, Debug)]
pub struct SceneMesh<'a> {
    /// The key of the GPU buffers from picture to picture: one instance of one geometry.
    pub key: u64,
    /// Primitives, seams, texture coordinates and triangles.
    pub mesh: &'a Mesh,
    /// n_points deformed positions.
    pub positions: &'a [Vec3],
    /// As many as `mesh.normals`, deformed, unit.
    pub normals: &'a [Vec3],
    /// A number that changes with positions or normals.
    pub generation: u64,
    /// The chunks of `positions` that changed last; empty: all.
    pub position_changes: &'a [HeatChange],
    /// The chunks of `normals` that changed last; empty: all.
    pub normal_changes: &'a [HeatChange],
    /// n_points values 0 to 1 for [`Shading::Weights`], by [`WeightView`]; 0, negative and NaN: no influence. For
    /// [`Shading::HeatMap`] the values of the metric; NaN: none. `None`: none anywhere.
    pub weights: Option<&'a [f32]>,
    /// n_points mixed bone colours, and the locked fraction of each point's weights; `None`: none.
    pub tints: Option<&'a [[u8; 4]]>,
    /// The chunks of `weights` and `tints` that changed last; empty: all.
    pub weight_changes: &'a [HeatChange],
    /// The weight, 0 to 1, that is hatched instead of coloured: 0 for weights, the value of an unpainted map for maps.
    pub plain_weight: f32,
    /// A number that changes with `weights`.
    pub weights_generation: u64,
    /// Its `weights` are recorded data, which these colours show in place of [`Shading::Textured`] and [`Shading::Shaded`].
    pub data: Option<DataScale>,
    /// The materials that primitives reference by index.
    pub materials: &'a [Material],
    /// The images that materials reference by index.
    pub images: &'a [Option<Arc<Image>>],
    /// Outlined in the accent colour.
    pub highlighted: bool,
    /// Hidden and displayed points.
    pub marks: PointMarks<'a>,
}

impl SceneMesh<'_> {
    /// Whether the arrays have the lengths that the mesh requires.
    pub(crate) fn fits(&self) -> bool {
        self.positions.len() == self.mesh.n_points()
            && self.normals.len() == self.mesh.normals.len()
            && self.weights.is_none_or(|w| w.len() == self.mesh.n_points())
            && self.tints.is_none_or(|t| t.len() == self.mesh.n_points())
    }
}

/// The shading of surfaces.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Shading {
    /// Materials and textures.
    #[default]
    Textured,
    /// Neutral clay under soft light.
    Shaded,
    /// Clay between strip lights, with dark hollows and bright ridges: bulges and collapses stand out.
    Form,
    /// Influence weights as colours.
    Weights,
    /// Edges over a dim fill.
    Wire,
    /// Deformation quality as colours.
    HeatMap,
}

impl Shading {
    /// All shadings, in menu order.
    pub const ALL: [Self; 6] = [
        Self::Textured,
        Self::Shaded,
        Self::Form,
        Self::Weights,
        Self::Wire,
        Self::HeatMap,
    ];
}

/// The marked points of a mesh.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointMarks<'a> {
    /// Hidden points; their faces are hidden too.
    pub hidden: Option<&'a Arc<PointSet>>,
    /// Selected points, drawn as dots.
    pub selected: Option<&'a Arc<PointSet>>,
    /// Whether the other points are drawn as smaller dots, where they fit.
    pub show_others: bool,
    /// Whether these are in the colour of free vertices.
    pub free: bool,
    /// Control clusters, drawn in the colours and glyphs of their groups.
    pub clusters: Option<&'a Arc<ClusterMap>>,
    /// The only group that is drawn.
    pub alone: Option<u16>,
}

/// The display options of a scene.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent check boxes of the view menu"
)]
pub struct ViewOptions {
    /// The shading.
    pub shading: Shading,
    /// The colour ramp of [`Shading::Weights`].
    pub ramp: Ramp,
    /// The display of [`Shading::Weights`].
    pub weight_view: WeightView,
    /// Isolines over [`WeightView::Painted`].
    pub isolines: bool,
    /// Stripes over locked weights.
    pub lock_pattern: bool,
    /// The influences of the vertex under the pointer, beside it.
    pub hover_bar: bool,
    /// Vertices with more influences are striped.
    #[serde(skip)]
    pub influence_limit: u8,
    /// The metric of [`Shading::HeatMap`].
    pub metric: Metric,
    /// The diagonal of the bounding box at rest, metres, which scales the range of [`ViewOptions::metric`].
    #[serde(skip)]
    pub diagonal: f32,
    /// Wireframe over any shading.
    pub wire_overlay: bool,
    /// Bones show, dimmed, through surfaces.
    pub xray_bones: bool,
    /// Whether bones are drawn.
    pub show_bones: bool,
    /// Whether bone names are drawn.
    pub show_names: bool,
    /// Whether control clusters are drawn.
    pub show_clusters: bool,
    /// Whether vertices without a mark are drawn as free ones: in Cluster mode.
    #[serde(skip)]
    pub free_points: bool,
    /// Whether vertices that are not selected have dots: where vertices are edited.
    #[serde(skip)]
    pub edits_points: bool,
    /// Whether the ground grid is drawn.
    pub show_grid: bool,
    /// The colours around the model.
    pub theme: Theme,
    /// Samples per pixel: 0 or 1 without antialiasing, 4 for still pictures; limited by the GPU.
    pub samples: u32,
    /// Pixels per point: hatch and grid lines keep their size on dense screens.
    pub pixels_per_point: f32,
    /// Whether view changes are eased; off for reduced motion.
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
            show_clusters: true,
            free_points: false,
            edits_points: false,
            show_grid: true,
            theme: Theme::Dark,
            samples: 4,
            pixels_per_point: 1.0,
            ease_camera: true,
        }
    }
}

impl SceneMesh<'_> {
    /// The shading that it has where the scene has `shading`.
    pub fn shading(&self, shading: Shading) -> Shading {
        match (self.data, shading) {
            (Some(_), Shading::Textured | Shading::Shaded) => Shading::HeatMap,
            _ => shading,
        }
    }
}

impl ViewOptions {
    /// The colour scale of [`Shading::HeatMap`].
    pub fn heat_scale(&self) -> HeatScale {
        HeatScale::new(self.metric, self.diagonal)
    }
}

/// A bounding sphere (centre, radius) of `positions` for [`Camera::frame`]; `None` without a finite position.
///
/// The centre is that of the bounding box: stable while a limb moves inside.
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
