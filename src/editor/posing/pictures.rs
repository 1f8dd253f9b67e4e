//! Thumbnails of the pose library, drawn on the lane: the model in the pose, or the part that the pose moves.

use crate::document::{Document, Image, PoseId};
use crate::editor::Editor;
use crate::editor::jobs::EditorJob;
use crate::editor::picture_cache::PictureCache;
use crate::evaluate::{Evaluator, PictureView, SlowCooks, surfaces_picture};
use crate::mesh::Mesh;
use crate::skeleton::{Clip, Property};
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pixels of a picture, two for each point of the window.
const PICTURE_PX: [usize; 2] = [128, 96];

/// A pose whose bones are within this fraction of the model gets a close view.
const NEAR: f32 = 0.45;

/// The least radius of the view, as a fraction of the model's.
const LEAST_RADIUS: f32 = 0.15;

/// The pictures of the poses.
pub(super) type PosePictures = PictureCache<PoseId, Clip>;

impl Editor {
    /// The picture of a pose of the library, if it is drawn already; asks for one that is up to date.
    pub fn pose_picture(&mut self, id: PoseId) -> Option<Arc<Image>> {
        self.posing.pictures.picture(id)
    }

    /// Starts drawing the next picture that a panel asked for. Returns whether it did something.
    pub(in crate::editor) fn start_pose_picture(&mut self) -> bool {
        if self.is_in_step() || !self.posing.pictures.can_start() {
            return false;
        }
        let document = self.document.clone();
        let revision = self.history.revision_but_for_poses();
        let pictures = &mut self.posing.pictures;
        pictures.compare(&document, revision, |before| {
            let is_same = before.is_some_and(|before| looks_the_same(before, &document));
            move |_: &Clip| !is_same
        });
        let poses = document.poses();
        let Some((id, pose)) = pictures.next(|id| poses.get(&id).cloned()) else {
            return false;
        };
        let (theirs, shown) = (document.clone(), pose.clone());
        let job = self
            .lane
            .submit(EditorJob::PosePicture, "Picture of a pose", move |task| {
                draw(&theirs, &shown, task)
            });
        self.posing.pictures.start(id, pose, job);
        true
    }

    /// Takes a picture that is drawn.
    pub(in crate::editor) fn take_pose_picture(&mut self) {
        self.posing.pictures.take_drawn();
    }
}

/// Whether poses look the same in both documents.
fn looks_the_same(before: &Document, now: &Document) -> bool {
    let (a, b) = (before.meshes(), now.meshes());
    before.poses_the_same(now)
        && before.instances() == now.instances()
        && before.skins() == now.skins()
        && a.len() == b.len()
        && a.values().zip(b.values()).all(|(a, b)| Arc::ptr_eq(a, b))
}

/// Draws the model in its rest pose, with a pose of the library applied.
fn draw(document: &Document, pose: &Clip, task: &Task) -> Result<Option<Image>, Cancelled> {
    let mut posed = pose.posed_over(document.rest_pose(), |_| true);
    document.constrain(&mut posed);
    let mut evaluator = Evaluator::for_positions();
    // A thumbnail waits for none of them.
    evaluator.set_cooks(SlowCooks::default());
    evaluator.evaluate(document, &posed);
    task.check()?;
    let surfaces: Vec<(&Mesh, &[Vec3])> = document
        .instances()
        .iter()
        .filter_map(|(&id, instance)| {
            let mesh = &*document.meshes().get(&instance.mesh)?.geometry;
            Some((mesh, evaluator.plan(id)?.positions()))
        })
        .collect();
    let points = surfaces.iter().flat_map(|(_, positions)| *positions);
    let Some(whole) = PictureView::of_front(points.copied()) else {
        return Ok(None);
    };
    let view = near_by(document, pose, evaluator.world(), &whole).unwrap_or(whole);
    Ok(Some(surfaces_picture(&surfaces, &view, PICTURE_PX)))
}

/// The view of what a pose moves, where that is only a part of the model.
fn near_by(
    document: &Document,
    pose: &Clip,
    world: &[glam::DAffine3],
    whole: &PictureView,
) -> Option<PictureView> {
    let skeleton = document.skeleton();
    let is_posed = |c: &&crate::skeleton::Channel| c.property != Property::MorphWeights;
    let moved = pose.channels.iter().filter(is_posed).map(|c| c.joint);
    let moved: BTreeSet<_> = moved.collect();
    let tails = moved
        .iter()
        .flat_map(|&joint| skeleton.children(joint).iter().copied());
    let joints: Vec<_> = moved.iter().copied().chain(tails).collect();
    let places = joints.iter().filter_map(|joint| world.get(joint.get()));
    let places: Vec<Vec3> = places.map(|w| w.translation.as_vec3()).collect();
    let near = PictureView::of_front(places.iter().copied())?;
    let radius = 1.4 * near.radius.max(LEAST_RADIUS * whole.radius);
    (radius < NEAR * whole.radius).then_some(PictureView { radius, ..near })
}
