//! Drawing joints: each click on the mesh adds one in the middle of the limb there, a child of the one before.
//!
//! Invariant: each joint, with its counterpart, is one undo step. After an undo the drawing goes on from the joint before.

use super::Editor;
use crate::document::Edit;
use crate::document::rig::measure::rest_points;
use crate::document::rig::{Draw, Sides};
use crate::editor::pointer::surfaces;
use crate::mesh::volume_centre::VolumeCentre;
use crate::rig::Operation;
use crate::skeleton::JointId;
use crate::skeleton::mirror::Mirror;
use crate::task::Task;
use crate::tools::Screen;
use glam::{DVec3, Vec2, Vec3};

/// The largest distance of a click from the joint that it continues from, logical pixels.
const JOINT_REACH_PX: f32 = 10.0;
/// Joints nearer to the plane between the sides lie in it, as a fraction of the model's size.
const SNAP: f64 = 0.015;
/// A model whose middle is nearer to x = 0, as a fraction of its size, has its plane of symmetry there.
const CENTRED: f64 = 0.05;
/// The name of a step in the history.
const STEP: &str = "Draw joint";

/// Joints that are being drawn.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The joints that were drawn or continued from, the latest last, with whether they were drawn; some are undone.
    trail: Vec<(JointId, bool)>,
    /// The two sides of the model.
    sides: Sides,
}

/// What a click does while joints are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawTarget {
    /// The next joint becomes a child of this one.
    Continue(JointId),
    /// A joint is added here.
    Add {
        /// Its place, world.
        at: Vec3,
        /// The place of its counterpart.
        mirrored: Option<Vec3>,
    },
}

impl Editor {
    /// The joints being drawn.
    pub fn drawing(&self) -> Option<&Drawing> {
        self.rigging.drawing.as_ref()
    }

    /// Whether joints are drawn on both sides.
    pub fn draws_both_sides(&self) -> bool {
        !self.rigging.draws_one_side
    }

    /// Sets whether joints are drawn on both sides.
    pub fn draw_both_sides(&mut self, both: bool) {
        self.rigging.draws_one_side = !both;
    }

    /// Why joints cannot be drawn.
    pub fn why_not_draw(&self) -> Option<&'static str> {
        let has_mesh = !self.document.meshes().is_empty();
        (!has_mesh).then_some("The model has no mesh to draw joints in.")
    }

    /// Begins to draw joints, from the active bone if there is one.
    pub fn begin_drawing(&mut self) {
        if let Some(why) = self.why_not_draw() {
            return self.notify(why);
        }
        self.finish_tool();
        if self.is_rig_busy() {
            return;
        }
        self.end_operation();
        self.rigging.end();
        self.motions.end();
        self.cancel_select();
        let active = self.document.session().active_joint;
        let is_bone = self.document.bone_mask();
        let active = active.filter(|joint| is_bone.get(joint.get()) == Some(&true));
        self.rigging.drawing = Some(Drawing {
            trail: active.map(|joint| (joint, false)).into_iter().collect(),
            sides: self.sides(),
        });
    }

    /// Ends drawing; the joints stay.
    pub fn end_drawing(&mut self) {
        let n_drawn = self.n_drawn();
        let was_drawing = self.rigging.drawing.take().is_some();
        let is_unbound = self.document.skins().is_empty();
        if was_drawing && n_drawn > 0 && is_unbound {
            self.notify("Joints drawn. Bind the mesh next: Bones › Bind.");
        }
    }

    /// The joint that the next one becomes a child of.
    pub fn drawing_parent(&self) -> Option<JointId> {
        let drawing = self.rigging.drawing.as_ref()?;
        let is_bone = self.document.bone_mask();
        let is_there =
            |&joint: &JointId| self.document.skeleton().is_live(joint) && is_bone[joint.get()];
        let mut trail = drawing.trail.iter().rev().map(|(joint, _)| *joint);
        trail.find(is_there)
    }

    /// How many joints were drawn, without those that were undone.
    pub fn n_drawn(&self) -> usize {
        let skeleton = self.document.skeleton();
        let trail = self.rigging.drawing.iter().flat_map(|d| &d.trail);
        trail
            .filter(|(joint, is_drawn)| *is_drawn && skeleton.is_live(*joint))
            .count()
    }

    /// What a click at a viewport position does; `None` where it is beside the mesh and there is no joint yet.
    pub fn draw_target(&mut self, ndc: Vec2, size_px: Vec2) -> Option<DrawTarget> {
        let sides = self.rigging.drawing.as_ref()?.sides;
        if let Some(joint) = self.joint_near(ndc, size_px) {
            return Some(DrawTarget::Continue(joint));
        }
        let at = match self.volume_centre(ndc, size_px) {
            Some(found) => found.place,
            None => self.beside_mesh(ndc, size_px)?,
        };
        let sides = self.draws_both_sides().then_some(sides);
        let (at, mirrored) = sides.map_or((at.as_dvec3(), None), |s| s.places(at.as_dvec3()));
        Some(DrawTarget::Add {
            at: at.as_vec3(),
            mirrored: mirrored.map(DVec3::as_vec3),
        })
    }

    /// A click while joints are drawn: adds one, or continues from the one there.
    pub fn draw_joint(&mut self, ndc: Vec2, size_px: Vec2) {
        let Some(sides) = self.rigging.drawing.as_ref().map(|drawing| drawing.sides) else {
            return;
        };
        let sides = self.draws_both_sides().then_some(sides);
        match self.draw_target(ndc, size_px) {
            Some(DrawTarget::Continue(joint)) => {
                self.select_joint(Some(joint));
                if let Some(drawing) = &mut self.rigging.drawing {
                    drawing.trail.push((joint, false));
                }
            }
            Some(DrawTarget::Add { at, .. }) => {
                let parent = self.drawing_parent();
                if let Some(joint) = self.add_drawn(parent, at.as_dvec3(), sides) {
                    let skeleton = self.document.skeleton().clone();
                    if let Some(drawing) = &mut self.rigging.drawing {
                        // Undone joints give their ids to new ones.
                        drawing
                            .trail
                            .retain(|&(j, _)| j != joint && skeleton.is_live(j));
                        drawing.trail.push((joint, true));
                    }
                }
            }
            None => self.notify("Click on the mesh to place the first joint."),
        }
    }

    /// Takes the joint drawn last back.
    pub fn take_back_drawn(&mut self) {
        let is_drawn = self
            .history
            .undo_label()
            .is_some_and(|l| l.starts_with(STEP));
        if !is_drawn || self.n_drawn() == 0 {
            return self.notify("There is no drawn joint left to take back.");
        }
        self.undo();
        let parent = self.drawing_parent();
        self.select_joint(parent);
    }

    /// Adds a child of the active bone in the middle of the limb at a viewport position.
    pub fn extrude_to(&mut self, ndc: Vec2, size_px: Vec2) {
        self.finish_tool();
        if self.is_rig_busy() {
            return;
        }
        let active = self.document.session().active_joint;
        let is_bone = self.document.bone_mask();
        let parent = active.filter(|joint| is_bone.get(joint.get()) == Some(&true));
        if parent.is_none() && !self.document.skins().is_empty() {
            return self.notify("Select a bone first: its child is placed here.");
        }
        let Some(found) = self.volume_centre(ndc, size_px) else {
            return self.notify(
                "Ctrl+click on the mesh: the child is placed in the middle of the limb there.",
            );
        };
        self.rigging.end();
        self.add_drawn(parent, found.place.as_dvec3(), None);
    }

    /// Adds a joint as one undo step and selects it.
    fn add_drawn(
        &mut self,
        parent: Option<JointId>,
        at: DVec3,
        sides: Option<Sides>,
    ) -> Option<JointId> {
        let operation = Operation::Draw(Draw { parent, at, sides });
        let done = match operation.run(&self.document, &Task::new()) {
            Ok(done) => done,
            Err(why) => {
                self.notify_error(why.to_string());
                return None;
            }
        };
        let joint = *done.made.first()?;
        let edit = Edit::Rig(Box::new(done.edit));
        self.history.begin(&self.document, STEP);
        if let Err(error) = self.apply(edit, STEP) {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
            self.notify_error(error.to_string());
            return None;
        }
        let label = format!("{STEP} · {}", self.document.skeleton().label(joint));
        self.history.name_step(&label);
        self.history.commit(&self.document);
        self.rigging.forget_reports();
        self.select_joints([joint], Some(joint));
        self.selection_changed();
        self.refresh_heat();
        Some(joint)
    }

    /// The middle of the nearest shell at a viewport position.
    fn volume_centre(&mut self, ndc: Vec2, size_px: Vec2) -> Option<VolumeCentre> {
        let camera = &self.document.session().camera;
        let ray = camera.ray(ndc, size_px.x / size_px.y.max(1.0));
        let mut surfaces = surfaces(self.views.pointed_mut(), &self.document);
        let found = surfaces.iter_mut();
        let found = found.filter_map(|(_, surface)| surface.volume_centre(&ray));
        let nearest = found.min_by(|a, b| a.distance.total_cmp(&b.distance))?;
        nearest.place.is_finite().then_some(nearest)
    }

    /// The place under the pointer at the depth of the previous joint, for clicks beside the mesh.
    fn beside_mesh(&self, ndc: Vec2, size_px: Vec2) -> Option<Vec3> {
        let parent = self.drawing_parent()?;
        let world = self
            .document
            .rest_pose()
            .world_matrices(self.document.skeleton());
        let from = world[parent.get()].translation.as_vec3();
        let camera = &self.document.session().camera;
        let aspect = size_px.x / size_px.y.max(1.0);
        let ray = camera.ray(ndc, aspect);
        let forward = camera.ray(Vec2::ZERO, aspect).direction;
        let along = ray.direction.dot(forward);
        let t = (from - ray.origin).dot(forward) / along;
        let at = ray.origin + ray.direction * t;
        (t > 0.0 && at.is_finite()).then_some(at)
    }

    /// The joint whose head is at a viewport position.
    fn joint_near(&self, ndc: Vec2, size_px: Vec2) -> Option<JointId> {
        let at = Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y) * size_px;
        let session = self.document.session();
        let screen = Screen::new(session.camera, size_px);
        let skeleton = self.document.skeleton();
        let world = self.document.rest_pose().world_matrices(skeleton);
        let is_bone = self.document.bone_mask();
        let shown = skeleton
            .live_joints()
            .filter(|joint| is_bone[joint.get()] && !session.hidden_joints.contains(joint));
        let heads = shown.filter_map(|joint| {
            let head = screen.project(world[joint.get()].translation.as_vec3())?;
            Some((joint, head.distance(at)))
        });
        let near = heads.filter(|(_, away)| *away <= JOINT_REACH_PX);
        near.min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(joint, _)| joint)
    }

    /// The plane between the two sides, across the world's x: that of bones in pairs, else x = 0 or the middle of the mesh.
    fn sides(&self) -> Sides {
        let points = rest_points(&self.document).into_values().flatten();
        let finite = points.filter(|p| p.is_finite()).map(|p| (p, p));
        let bounds = finite.reduce(|(low, high), (p, _)| (low.min(p), high.max(p)));
        let (low, high) = bounds.unwrap_or_default();
        let size = (high - low).max_element();
        let middle = 0.5 * (low.x + high.x);
        let skeleton = self.document.skeleton();
        let mirror = Mirror::new(skeleton);
        let is_paired = |joint: JointId| mirror.partner(joint).is_some_and(|other| other != joint);
        let has_pairs = mirror.normal() == DVec3::X && skeleton.live_joints().any(is_paired);
        Sides {
            middle: if has_pairs {
                mirror.offset()
            } else if middle.abs() <= CENTRED * size {
                0.0
            } else {
                middle
            },
            snap: SNAP * size,
        }
    }
}
