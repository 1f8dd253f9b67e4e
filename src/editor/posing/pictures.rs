//! Thumbnails of the pose library, drawn on the lane: the model in the pose, or the part that the pose moves.
//!
//! Invariant: a picture is drawn only after a panel asked for it; until the new one is ready the previous one is shown.

use crate::document::{Document, Image, PoseId};
use crate::editor::Editor;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{Evaluator, JobHandle, PictureView, SlowCooks, surfaces_picture};
use crate::mesh::Mesh;
use crate::skeleton::{Clip, Property};
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Pixels of a picture, two for each point of the window.
const PICTURE_PX: [usize; 2] = [128, 96];

/// A pose whose bones are within this fraction of the model gets a close view.
const NEAR: f32 = 0.45;

/// The least radius of the view, as a fraction of the model's.
const LEAST_RADIUS: f32 = 0.15;

/// The pictures of the poses.
#[derive(Default)]
pub(super) struct PosePictures {
    /// The document that they show, where they are up to date.
    base: Option<Document>,
    /// The revision of the history when `base` was compared with the document.
    revision: u64,
    known: BTreeMap<PoseId, (Arc<Clip>, Arc<Image>)>,
    wanted: BTreeSet<PoseId>,
    job: Option<(PoseId, Arc<Clip>, Drawing)>,
}

type Drawing = JobHandle<Result<Option<Image>, Cancelled>>;

impl Editor {
    /// The picture of a pose of the library, if it is drawn already; asks for one that is up to date.
    pub fn pose_picture(&mut self, id: PoseId) -> Option<Arc<Image>> {
        let pictures = &mut self.posing.pictures;
        pictures.wanted.insert(id);
        let known = pictures.known.get(&id);
        known.map(|(_, image)| image.clone())
    }

    /// Starts drawing the next picture that a panel asked for. Returns whether it did something.
    pub(in crate::editor) fn start_pose_picture(&mut self) -> bool {
        let is_free = self.posing.pictures.job.is_none() && !self.is_in_step();
        if !is_free || self.posing.pictures.wanted.is_empty() {
            return false;
        }
        let revision = self.history.revision_but_for_poses();
        let pictures = &mut self.posing.pictures;
        if pictures.base.is_none() || pictures.revision != revision {
            let base = pictures.base.replace(self.document.clone());
            if !base.is_some_and(|base| looks_the_same(&base, &self.document)) {
                for (pose, _) in pictures.known.values_mut() {
                    // The old picture stays on screen, but its pose is no longer the one it shows.
                    *pose = Arc::new(Clip::clone(pose));
                }
            }
            pictures.revision = revision;
        }
        let poses = self.document.poses();
        pictures.known.retain(|id, _| poses.contains_key(id));
        let wanted = std::mem::take(&mut pictures.wanted);
        let next = wanted.into_iter().find_map(|id| {
            let pose = poses.get(&id)?;
            let known = pictures.known.get(&id);
            let is_known = known.is_some_and(|(of, _)| Arc::ptr_eq(of, pose));
            (!is_known).then(|| (id, pose.clone()))
        });
        let Some((id, pose)) = next else {
            return false;
        };
        let (document, shown) = (self.document.clone(), pose.clone());
        let label = "Picture of a pose";
        let job = self
            .lane
            .submit(EditorJob::PosePicture, label, move |task| {
                draw(&document, &shown, task)
            });
        self.posing.pictures.job = Some((id, pose, job));
        true
    }

    /// Takes a picture that is drawn.
    pub(in crate::editor) fn take_pose_picture(&mut self) {
        let pictures = &mut self.posing.pictures;
        let Some((id, pose, job)) = pictures.job.take_if(|(.., job)| job.has_ended()) else {
            return;
        };
        // Without a picture the row has none; it is not drawn again before the pose changes.
        let drawn = job.into_result().ok().and_then(Result::ok).flatten();
        let none = || Image {
            width: 0,
            height: 0,
            rgba: Vec::new(),
        };
        let image = Arc::new(drawn.unwrap_or_else(none));
        pictures.known.insert(id, (pose, image));
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

/// The model in a pose over its rest pose.
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
