//! Plays a written file with linear blend skinning and measures its errors against a reference document.

use crate::bake::comparison::FrameErrors;
use crate::bake::normal_angles::{Shading, angle};
use crate::bake::problem::sampler::{
    Clips, Frame, FrameTime, SampleRequest, Sampler, SkinnedInstance, StackChoice,
};
use crate::document::{ClipId, Document, InstanceId};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Replaces a clip that the file lacks: the rest pose.
static STILL: LazyLock<Clip> = LazyLock::new(Clip::default);

/// A document that is played with linear blend skinning and compared with a reference document.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The document to play.
    pub document: &'a Document,
    /// The clips of the reference document, as written to its file.
    pub clips: &'a BTreeMap<ClipId, Arc<Clip>>,
    /// The instance of `document` for each instance of the reference document; `None` if both have the same nodes.
    pub instances: Option<&'a BTreeMap<InstanceId, InstanceId>>,
}

/// A file that has one clip for each clip of the reference document.
pub(super) struct PlayedFile<'a> {
    sampler: Sampler<'a>,
    clips: Clips<'a>,
    /// The index of each skinned instance of the reference document, and its counterpart; `None` if the file has none.
    matches: Vec<(usize, Option<MatchedInstance>)>,
}

/// The instance of the file that corresponds to one of the reference document.
struct MatchedInstance {
    /// The index of the instance in the file.
    other: usize,
    /// The file's point for each point of the reference instance.
    points: Vec<u32>,
    /// The normals to compare.
    shading: Shading,
}

/// The points and normals of an instance, as a player shows them.
struct ShownInstance {
    positions: Vec<Vec3>,
    /// One for each compared normal.
    normals: Vec<DVec3>,
}

/// The compared instances of a file at one time, in the order of `matches`.
pub(super) struct ShownFrame(Vec<Option<ShownInstance>>);

fn instance_in_file(sampler: &Sampler<'_>, drawn: &SkinnedInstance) -> InstanceId {
    sampler.document.instance_in_file(drawn.id, drawn.node)
}

impl<'a> PlayedFile<'a> {
    /// Matches a file with a reference document and its `own` clips; `None` if the file does not have the expected number of
    /// clips.
    pub(super) fn new(
        seen: &Sampler<'_>,
        own: &Clips<'_>,
        shown: Shown<'a>,
        task: &Task,
    ) -> Result<Option<Self>, Cancelled> {
        // A file numbers its clips without gaps.
        let read = shown.document.clips();
        if read.len() != shown.clips.len() {
            return Ok(None);
        }
        let read = read.values().map(AsRef::as_ref);
        let by_id: BTreeMap<ClipId, &Clip> = shown.clips.keys().copied().zip(read).collect();
        let clips = own.ids.iter();
        let clips = clips.map(|id| by_id.get(id).copied().unwrap_or(&STILL));
        let clips = Clips::read(own.ids.clone(), clips.collect());
        let sampler = Sampler::new(shown.document, task)?;
        let skinned = seen.instances.iter().enumerate();
        let skinned = skinned.filter(|(_, drawn)| drawn.skin.is_some());
        let matched = |drawn| MatchedInstance::of((seen, drawn), &sampler, shown.instances);
        Ok(Some(Self {
            matches: skinned.map(|(d, drawn)| (d, matched(drawn))).collect(),
            sampler,
            clips,
        }))
    }

    /// The clip of the file that corresponds to clip `i` of the reference document.
    pub(super) fn clip(&self, i: usize) -> &'a Clip {
        self.clips.authored[i]
    }

    /// Evaluates the file at these times.
    pub(super) fn show(
        &self,
        times: &[FrameTime],
        task: &Task,
    ) -> Result<Vec<ShownFrame>, Cancelled> {
        let linear = SampleRequest::all(StackChoice::Linear);
        let show = |_: usize, frame: Frame| self.shown_in(&frame);
        self.sampler.sample(&self.clips, times, linear, task, show)
    }

    fn shown_in(&self, frame: &Frame) -> ShownFrame {
        let sampler = &self.sampler;
        let matches = self.matches.iter().map(|(_, found)| {
            let found = found.as_ref()?;
            let drawn = frame.instances.get(found.other)?;
            let matrices = &frame.joint_sets[sampler.instances[found.other].joint_set].matrices;
            let points = found.points.iter();
            Some(ShownInstance {
                positions: points.map(|&p| drawn.target[p as usize]).collect(),
                normals: found.shading.shown(matrices, &drawn.morph_weights),
            })
        });
        ShownFrame(matches.collect())
    }

    /// The errors at one time. `seen` returns the points and normals of an instance of the reference document; normals are
    /// compared unless this list is empty.
    pub(super) fn errors<'s>(
        &self,
        shown: &ShownFrame,
        seen: impl Fn(usize) -> (&'s [Vec3], &'s [Vec3]),
        diagonal: f64,
    ) -> FrameErrors {
        let mut errors = FrameErrors::default();
        for ((d, found), shown) in self.matches.iter().zip(&shown.0) {
            let (Some(found), Some(shown)) = (found, shown) else {
                errors.add_missing(*d);
                continue;
            };
            let (positions, normals) = seen(*d);
            for (point, (target, place)) in positions.iter().zip(&shown.positions).enumerate() {
                let error = f64::from(target.distance(*place)) / diagonal;
                errors.add(error, *d, point);
            }
            if normals.is_empty() {
                continue;
            }
            for (&normal, shown) in found.shading.normals.iter().zip(&shown.normals) {
                let target = normals[normal as usize].as_dvec3();
                errors.add_angle(angle(*shown, target));
            }
        }
        errors
    }
}

impl MatchedInstance {
    /// The counterpart of `drawn` in the file; `None` if there is none with the same number of vertices.
    fn of(
        (seen, drawn): (&Sampler<'_>, &SkinnedInstance),
        file: &Sampler<'_>,
        instances: Option<&BTreeMap<InstanceId, InstanceId>>,
    ) -> Option<Self> {
        let known = instances.and_then(|instances| instances.get(&drawn.id));
        let wanted = known
            .copied()
            .unwrap_or_else(|| instance_in_file(seen, drawn));
        let mut others = file.instances.iter();
        let other = others.position(|d| instance_in_file(file, d) == wanted)?;
        let item = seen.item(drawn.mesh)?;
        let theirs = file.item(file.instances[other].mesh)?;
        let (a, b) = (&item.geometry, &theirs.geometry);
        if a.n_vertices() != b.n_vertices() {
            return None;
        }
        let point = |&v: &u32| b.point_of_vertex.get(v as usize).copied().unwrap_or(0);
        Some(Self {
            other,
            points: a.first_vertex_of_point().iter().map(point).collect(),
            shading: Shading::of((a, &item.influences), (b, &theirs.influences)),
        })
    }
}
