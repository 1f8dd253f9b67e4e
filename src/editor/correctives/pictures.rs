//! Pictures of the samples of the active set, each in its pose, drawn on the lane.

use crate::correctives::skinned_instance;
use crate::deform::MaskKind;
use crate::deform::correctives::{Correctives, Sample};
use crate::document::{Document, Image, MeshId};
use crate::editor::Editor;
use crate::editor::jobs::EditorJob;
use crate::editor::picture_cache::PictureCache;
use crate::evaluate::{Evaluator, PictureView, skin_picture};
use crate::skeleton::Pose;
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3, Vec3};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pixels of a picture, two for each point of the window.
const PICTURE_PX: [usize; 2] = [112, 84];

/// A set and a sample, by index.
type Place = (usize, usize);

/// The pictures of one mesh.
#[derive(Default)]
pub(in crate::editor) struct Pictures {
    mesh: Option<MeshId>,
    cache: PictureCache<Place, Sample>,
}

/// What of a mesh bends differently than before.
enum Rebent {
    All,
    /// The points of these chunks.
    Chunks(BTreeSet<usize>),
}

impl Rebent {
    fn between(before: Option<&Document>, now: &Document, mesh: MeshId) -> Self {
        let Some((before, is_alike)) = before.map(|b| (b, b.poses_the_same(now))) else {
            return Self::All;
        };
        let items = [before, now].map(|document| document.meshes().get(&mesh));
        let [Some(a), Some(b)] = items else {
            return Self::All;
        };
        if !is_alike || !Arc::ptr_eq(&a.geometry, &b.geometry) || a.stack != b.stack {
            return Self::All;
        }
        let pairs = a.influences.chunks().iter().zip(b.influences.chunks());
        let same_map =
            |kind: MaskKind, c: usize| match (a.masks.chunk(kind, c), b.masks.chunk(kind, c)) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (a, b) => a.is_none() && b.is_none(),
            };
        let changed = pairs.enumerate().filter(|(c, (a, b))| {
            !Arc::ptr_eq(a, b) || !MaskKind::ALL.iter().all(|&kind| same_map(kind, *c))
        });
        Self::Chunks(changed.map(|(c, _)| c).collect())
    }

    /// Whether a sample moves a point of it.
    fn concerns(&self, sample: &Sample) -> bool {
        match self {
            Self::All => true,
            Self::Chunks(chunks) => {
                let mut chunks = chunks.iter();
                sample.displacements.is_empty()
                    || chunks.any(|&c| sample.displacements.chunk(c).is_some())
            }
        }
    }
}

impl Editor {
    /// The picture of a sample of the active object, if it is drawn already; asks for one that is up to date.
    pub fn sample_picture(&mut self, set: usize, index: usize) -> Option<Arc<Image>> {
        let mesh = self.corrected_mesh();
        let pictures = &mut self.correcting.pictures;
        if pictures.mesh != mesh {
            *pictures = Pictures {
                mesh,
                ..Pictures::default()
            };
        }
        pictures.cache.picture((set, index))
    }

    /// Starts drawing the next picture that a panel asked for. Returns whether it did something.
    pub(in crate::editor) fn start_picture(&mut self) -> bool {
        let pictures = &self.correcting.pictures;
        let Some(mesh) = pictures.mesh.filter(|_| pictures.cache.can_start()) else {
            return false;
        };
        if self.is_in_step() {
            return false;
        }
        let document = self.document.clone();
        let Some(item) = document.meshes().get(&mesh) else {
            self.correcting.pictures = Pictures::default();
            return true;
        };
        let cache = &mut self.correcting.pictures.cache;
        cache.compare(&document, self.history.revision(), |before| {
            let changed = Rebent::between(before, &document, mesh);
            move |sample: &Sample| changed.concerns(sample)
        });
        let sample_at = |(set, index): Place| {
            let set = item.correctives.sets().get(set)?;
            set.fault.is_none().then_some(())?;
            set.samples.get(index).cloned()
        };
        let Some((place, sample)) = cache.next(sample_at) else {
            return false;
        };
        let theirs = document.clone();
        let job = self
            .lane
            .submit(EditorJob::Picture, "Picture of a sample", move |task| {
                draw(&theirs, mesh, place, task)
            });
        self.correcting.pictures.cache.start(place, sample, job);
        true
    }

    /// Takes a picture that is drawn.
    pub(in crate::editor) fn take_picture(&mut self) {
        self.correcting.pictures.cache.take_drawn();
    }
}

/// The skin in the pose of a sample, with what the sample moves marked.
fn draw(
    document: &Document,
    mesh: MeshId,
    (set, index): Place,
    task: &Task,
) -> Result<Option<Image>, Cancelled> {
    let Some((instance, item)) = skinned_instance(document, mesh).zip(document.meshes().get(&mesh))
    else {
        return Ok(None);
    };
    let correctives = &item.correctives;
    let Some(owner) = correctives.sets().get(set) else {
        return Ok(None);
    };
    let Some(sample) = owner.samples.get(index) else {
        return Ok(None);
    };
    let mut pose = Pose::clone(document.rest_pose());
    correctives.pose(owner, sample, document.skeleton(), &mut pose.locals);
    document.constrain(&mut pose);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, &pose);
    task.check()?;
    let Some(plan) = evaluator.plan(instance) else {
        return Ok(None);
    };
    let positions = plan.positions();
    let marks = sample.displacements.marks();
    let places = marks.iter().map(|mark| positions[mark.0 as usize]);
    let axis = bend_axis(document, &pose, correctives, (set, index));
    let view = if marks.is_empty() {
        let around = around_drivers(document, &pose, owner.drivers.first().map(|d| d.joint));
        PictureView::of_bend(around.into_iter(), axis, positions)
    } else {
        PictureView::of_bend(places, axis, positions)
    };
    let picture = |view| skin_picture(&item.geometry, positions, &marks, &view, PICTURE_PX);
    Ok(view.map(picture))
}

/// The axis about which the first driver that is off bind is rotated in a sample, world.
fn bend_axis(document: &Document, pose: &Pose, of: &Correctives, (set, index): Place) -> Vec3 {
    let owner = &of.sets()[set];
    let drivers = owner.drivers.iter().zip(&owner.samples[index].rotations);
    let rotations = drivers.map(|(driver, q)| (driver.joint, driver.from_bind(*q)));
    let angle = |q: &DQuat| q.xyz().length();
    let most = rotations.max_by(|a, b| angle(&a.1).total_cmp(&angle(&b.1)));
    let Some((joint, rotation)) = most else {
        return Vec3::Z;
    };
    let world = pose.world_matrices(document.skeleton());
    let axis = world[joint.get()].transform_vector3(rotation.xyz());
    axis.normalize_or(DVec3::Z).as_vec3()
}

/// The head of a joint, and those of its neighbours.
fn around_drivers(
    document: &Document,
    pose: &Pose,
    joint: Option<crate::skeleton::JointId>,
) -> Vec<Vec3> {
    let skeleton = document.skeleton();
    let Some(joint) = joint else {
        return Vec::new();
    };
    let world = pose.world_matrices(skeleton);
    let children = skeleton
        .live_joints()
        .filter(|&j| skeleton.joint(j).parent == Some(joint));
    let near = [joint]
        .into_iter()
        .chain(skeleton.joint(joint).parent)
        .chain(children);
    near.map(|j| world[j.get()].translation.as_vec3()).collect()
}
