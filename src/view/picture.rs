//! An owned copy of the viewport's content: a paint callback outlives the frame that created it.

use super::BoneState;
use super::PointMarks;
use super::heat::as_uploaded;
use super::heat_map::DataScale;
use super::joints::{BoneShape, shape_bones};
use super::scene::{Scene, SceneMesh, Shading, ViewOptions};
use crate::cluster::ClusterMap;
use crate::document::session::{PointsOfMeshes, SelectKind};
use crate::document::{Image, LeftOut, Material};
use crate::editor::Editor;
use crate::editor::weight_colours::HeatChange;
use crate::evaluate::ViewId;
use crate::math::Camera;
use crate::mesh::{Mesh, PointSet};
use crate::skeleton::JointId;
use glam::Vec3;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A scene with shared ownership of its arrays.
#[derive(Clone, Debug)]
pub struct Picture {
    camera: Camera,
    meshes: Vec<PictureMesh>,
    materials: Arc<Vec<Material>>,
    images: Arc<Vec<Option<Arc<Image>>>>,
    bones: Arc<Vec<BoneShape>>,
    left_out: Arc<LeftOut>,
    options: ViewOptions,
    ground: f32,
    stamp: u64,
}

#[derive(Clone, Debug)]
struct PictureMesh {
    key: u64,
    mesh: Arc<Mesh>,
    positions: Arc<Vec<Vec3>>,
    normals: Arc<Vec<Vec3>>,
    generation: u64,
    position_changes: Arc<Vec<HeatChange>>,
    normal_changes: Arc<Vec<HeatChange>>,
    weights: Option<Arc<Vec<f32>>>,
    weights_generation: u64,
    data: Option<DataScale>,
    tints: Option<Arc<Vec<[u8; 4]>>>,
    weight_changes: Option<Arc<Vec<HeatChange>>>,
    plain_weight: f32,
    hidden: Option<Arc<PointSet>>,
    selected: Option<Arc<PointSet>>,
    show_points: bool,
    clusters: Option<Arc<ClusterMap>>,
    alone: Option<u16>,
}

/// The bones of a frame, shared by all its pictures.
#[derive(Clone, Debug)]
pub struct Bones {
    shapes: Arc<Vec<BoneShape>>,
    hovered: Option<JointId>,
}

impl Bones {
    /// The bones that `editor` shows in `view`, none during a stroke; `hovered` is the bone under the pointer.
    pub fn new(
        editor: &Editor,
        view: ViewId,
        options: &ViewOptions,
        hovered: Option<JointId>,
    ) -> Self {
        let session = editor.document().session();
        let state = |joint: JointId| {
            if session.active_joint == Some(joint) {
                BoneState::Active
            } else if session.selected_joints.contains(&joint) {
                BoneState::Selected
            } else if hovered == Some(joint) {
                BoneState::Hovered
            } else {
                BoneState::Normal
            }
        };
        let mut shapes = Vec::new();
        if options.show_bones && !editor.is_painting() {
            shapes = shape_bones(&editor.bones_in(view), state);
            for shape in &mut shapes {
                // Custom colours only; the generated colours just distinguish rows of the hierarchy.
                let chosen = session.joint_colours.get(&shape.bone.joint);
                shape.colour = chosen.map(|rgb| rgb.map(|c| f32::from(c) / 255.0));
            }
        }
        Self {
            shapes: Arc::new(shapes),
            hovered,
        }
    }
}

impl Picture {
    /// The content of `view` in `editor`.
    pub fn new(editor: &Editor, view: ViewId, options: ViewOptions, bones: &Bones) -> Self {
        let document = editor.document();
        let session = document.session();
        let most = session.brush.max_influences.min(usize::from(u8::MAX));
        let options = ViewOptions {
            influence_limit: most as u8,
            ..options
        };
        // Until the first values are there, the surface is drawn plain: the hatch means that there are none.
        let mut shown = editor.displayed_in(view).keys();
        let is_computing = options.shading == Shading::HeatMap
            && shown.all(|id| editor.heat_map_in(view, *id).is_none());
        let options = ViewOptions {
            shading: if is_computing {
                Shading::Shaded
            } else {
                options.shading
            },
            ..options
        };
        let mut hash = DefaultHasher::new();
        (
            editor.model_serial(),
            editor.picture_serial(),
            session.active_joint,
            bones.hovered,
            editor.selection_serial(),
            bones.shapes.is_empty(),
        )
            .hash(&mut hash);
        session.selected_joints.hash(&mut hash);
        session.joint_colours.hash(&mut hash);
        // Dots would obstruct the selection of bones.
        let has_points = session.select_kind == SelectKind::Points;
        let show_points = has_points && options.edits_points;
        let meshes = editor
            .displayed_in(view)
            .iter()
            .filter(|(id, _)| !session.hidden_instances.contains(id))
            .map(|(id, shown)| {
                let mesh_id = document.instances().get(id).map(|i| i.mesh);
                let heat = mesh_id.and_then(|m| editor.heat().get(&m));
                let heat = heat.filter(|_| options.shading == Shading::Weights);
                let measured = editor.heat_map_in(view, *id);
                let measured = measured.filter(|_| options.shading == Shading::HeatMap);
                let shows_data = matches!(options.shading, Shading::Textured | Shading::Shaded);
                let data = editor.surface_data(*id).filter(|_| shows_data);
                let data = data.and_then(|data| data.colours.as_ref());
                // Values of an earlier shape are of no use.
                let data = data.filter(|data| data.values.len() == shown.mesh.n_points());
                let set_of = |sets: &PointsOfMeshes| sets.get(&mesh_id?).cloned();
                let hidden = set_of(&session.hidden_points);
                let selected = set_of(&session.selected_points).filter(|_| has_points);
                for set in [&hidden, &selected] {
                    set.as_ref().map(Arc::as_ptr).hash(&mut hash);
                }
                let item = mesh_id.and_then(|m| document.meshes().get(&m));
                let clusters = item.map(|item| item.clusters.clone());
                let clusters = clusters.filter(|map| options.show_clusters && map.acts());
                let alone = mesh_id.and_then(|m| document.isolated_group(m));
                (clusters.as_ref().map(Arc::as_ptr), alone).hash(&mut hash);
                (
                    shown.key,
                    shown.generation,
                    heat.map(|h| (h.of, h.generation)),
                    measured.map(|map| map.generation),
                    data.map(|_| editor.surface_generation()),
                )
                    .hash(&mut hash);
                PictureMesh {
                    key: shown.key,
                    mesh: shown.mesh.clone(),
                    positions: shown.positions.clone(),
                    normals: shown.normals.clone(),
                    generation: shown.generation,
                    position_changes: shown.position_changes.clone(),
                    normal_changes: shown.normal_changes.clone(),
                    weights: match (measured, data) {
                        (Some(map), _) => Some(map.values.clone()),
                        (None, Some(data)) => Some(data.values.clone()),
                        (None, None) => heat.map(|h| h.values.clone()),
                    },
                    weights_generation: match (measured, data) {
                        (Some(map), _) => map.generation,
                        (None, Some(_)) => editor.surface_generation(),
                        (None, None) => heat.map_or(0, |h| h.generation),
                    },
                    data: data.map(|data| DataScale::new(data.range)),
                    tints: heat.map(|h| h.tints.clone()).filter(|t| !t.is_empty()),
                    weight_changes: heat.map(|h| h.changes.clone()),
                    plain_weight: heat.map_or(0.0, |h| as_uploaded(h.plain())),
                    hidden,
                    selected,
                    show_points,
                    clusters,
                    alone,
                }
            })
            .collect();
        Self {
            camera: session.camera,
            meshes,
            materials: document.materials().clone(),
            images: document.images().clone(),
            bones: bones.shapes.clone(),
            left_out: document.left_out().clone(),
            options,
            ground: 0.0,
            stamp: hash.finish(),
        }
    }

    /// A number that differs whenever something other than camera and options differs.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The scene for the renderer.
    pub fn scene(&self) -> Scene<'_> {
        let meshes = self.meshes.iter().map(|m| SceneMesh {
            key: m.key,
            mesh: &m.mesh,
            positions: &m.positions,
            normals: &m.normals,
            generation: m.generation,
            position_changes: &m.position_changes,
            normal_changes: &m.normal_changes,
            weights: m.weights.as_ref().map(|w| w.as_slice()),
            weights_generation: m.weights_generation,
            data: m.data,
            tints: m.tints.as_ref().map(|t| t.as_slice()),
            weight_changes: m.weight_changes.as_ref().map_or(&[], |c| c.as_slice()),
            plain_weight: m.plain_weight,
            materials: &self.materials,
            images: &self.images,
            highlighted: false,
            marks: PointMarks {
                hidden: m.hidden.as_ref(),
                selected: m.selected.as_ref(),
                show_others: m.show_points,
                free: self.options.free_points,
                clusters: m.clusters.as_ref(),
                alone: m.alone,
            },
        });
        Scene {
            camera: &self.camera,
            meshes: meshes.collect(),
            bones: &self.bones,
            boxes: &self.left_out.boxes,
            ground: self.ground,
            options: &self.options,
        }
    }
}
