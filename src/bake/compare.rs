//! The error of a written file: linear blend skinning of one document compared with the deformer stacks of another.

use crate::bake::compared_times::ComparedTimes;
use crate::bake::comparison::{Comparison, FrameErrors, Player, compare_at, compare_closely};
use crate::bake::normal_angles::{Shading, angle};
use crate::bake::problem::sampler::{
    Clips, Frame, FrameTime, SampleRequest, Sampler, SkinnedInstance, StackChoice,
};
use crate::document::{ClipId, Document, InstanceId};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A document as a player shows it.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The document.
    pub document: &'a Document,
    /// Its instance for each instance of the document that it is compared with; `None` if the nodes are the same.
    pub instances: Option<&'a BTreeMap<InstanceId, InstanceId>>,
}

impl<'a> From<&'a Document> for Shown<'a> {
    fn from(document: &'a Document) -> Self {
        Self {
            document,
            instances: None,
        }
    }
}

/// Compares `seen`, deformed by its own stacks, with `shown`, deformed by linear blend skinning: at all keyframes of
/// the clips `chosen` (empty: all) and just before each step, in the middle between them, at other times, and around the
/// largest errors. Both must hold the same vertices in the same instances.
///
/// `clips`: the clips of `seen` as written to the file that `shown` was read from. The two milliseconds of a jump
/// between its keyframes are measured apart.
pub fn compare(
    seen: &Document,
    shown: Shown<'_>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    with_pair(seen, shown, clips, task, |pair| {
        Ok(compare_closely(pair, &pair.times_of(chosen), task)?.0)
    })
}

/// [`compare`] with a file without correction, whose error is too large for its peaks to matter.
pub fn compare_uncorrected(
    seen: &Document,
    shown: Shown<'_>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    with_pair(seen, shown, clips, task, |pair| {
        let what = "Measuring the error without correction";
        Ok(compare_at(pair, &pair.times_of(chosen), what, task)?.0)
    })
}

/// Runs `work` on two documents with the same clips; the error is infinite if their clips do not match.
fn with_pair(
    seen: &Document,
    shown: Shown<'_>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    task: &Task,
    work: impl FnOnce(&Comparer<'_, '_>) -> Result<Comparison, Cancelled>,
) -> Result<Comparison, Cancelled> {
    let (left, right) = (
        Sampler::new(seen, task)?,
        Sampler::new(shown.document, task)?,
    );
    let own = Clips::new(seen, clips);
    // A file numbers its clips without gaps.
    let read: Vec<&Clip> = shown.document.clips().values().map(AsRef::as_ref).collect();
    let theirs = Clips::read(own.ids.clone(), read);
    if theirs.authored.len() != own.ids.len() {
        return Ok(Comparison::unknown(left.diagonal()));
    }
    let instances = shown.instances;
    let pair = Comparer::of((&left, &own), (&right, &theirs), instances);
    let mut comparison = work(&pair)?;
    comparison.rounding = left.rounding(pair.diagonal) / pair.diagonal;
    Ok(comparison)
}

/// Two documents with their clips.
struct Comparer<'s, 'a> {
    left: (&'s Sampler<'a>, &'s Clips<'s>),
    right: (&'s Sampler<'a>, &'s Clips<'s>),
    diagonal: f64,
    /// By instance of the first; `None` where the second has none.
    matches: Vec<Option<MatchedInstance>>,
}

fn instance_in_file(sampler: &Sampler<'_>, drawn: &SkinnedInstance) -> InstanceId {
    sampler.document.instance_in_file(drawn.id, drawn.node)
}

/// The counterpart of an instance in the second document.
struct MatchedInstance {
    /// The instance of the second document.
    other: usize,
    /// Its point for each point of the first.
    points: Vec<u32>,
    /// The compared normals.
    shading: Shading,
}

/// Points and normals of an instance in a player.
struct ShownInstance {
    positions: Vec<Vec3>,
    /// One for each compared normal.
    normals: Vec<DVec3>,
}

impl<'s, 'a> Comparer<'s, 'a> {
    fn of(
        (left, left_clips): (&'s Sampler<'a>, &'s Clips<'s>),
        (right, right_clips): (&'s Sampler<'a>, &'s Clips<'s>),
        instances: Option<&BTreeMap<InstanceId, InstanceId>>,
    ) -> Self {
        let matches = left.instances.iter().map(|drawn| {
            let known = instances.and_then(|instances| instances.get(&drawn.id));
            let wanted = known
                .copied()
                .unwrap_or_else(|| instance_in_file(left, drawn));
            let mut others = right.instances.iter();
            let other = others.position(|d| instance_in_file(right, d) == wanted)?;
            let (item, theirs) = (
                left.item(drawn.mesh)?,
                right.item(right.instances[other].mesh)?,
            );
            let (a, b) = (&item.geometry, &theirs.geometry);
            if a.n_vertices() != b.n_vertices() {
                return None;
            }
            let point = |&v: &u32| b.point_of_vertex.get(v as usize).copied().unwrap_or(0);
            Some(MatchedInstance {
                other,
                points: a.first_vertex_of_point().iter().map(point).collect(),
                shading: Shading::of((a, &item.influences), (b, &theirs.influences)),
            })
        });
        Self {
            left: (left, left_clips),
            right: (right, right_clips),
            diagonal: left.diagonal(),
            matches: matches.collect(),
        }
    }

    /// The `chosen` clips with the times of the second document.
    fn times_of(&self, chosen: &[ClipId]) -> Vec<(usize, ComparedTimes)> {
        let clips = self.right.1;
        let ids = clips.ids.iter().enumerate();
        let ids = ids.filter(|(_, id)| chosen.is_empty() || chosen.contains(id));
        ids.map(|(i, _)| (i, ComparedTimes::of(&[clips.authored[i]])))
            .collect()
    }

    /// A player's points and normals at a time, by instance of the first document.
    fn show(&self, frame: &Frame) -> Vec<Option<ShownInstance>> {
        let right = self.right.0;
        let matches = self.matches.iter().map(|found| {
            let found = found.as_ref()?;
            let drawn = frame.instances.get(found.other)?;
            let matrices = &frame.joint_sets[right.instances[found.other].joint_set].matrices;
            Some(ShownInstance {
                positions: found
                    .points
                    .iter()
                    .map(|&p| drawn.target[p as usize])
                    .collect(),
                normals: found.shading.shown(matrices, &drawn.morph_weights),
            })
        });
        matches.collect()
    }

    fn look(&self, frame: &Frame, shown: &[Option<ShownInstance>]) -> FrameErrors {
        let mut looked = FrameErrors::default();
        for (d, (drawn, (shown, found))) in frame
            .instances
            .iter()
            .zip(shown.iter().zip(&self.matches))
            .enumerate()
        {
            let (Some(shown), Some(found)) = (shown, found) else {
                looked.add_missing(d);
                continue;
            };
            for (point, (target, place)) in drawn.target.iter().zip(&shown.positions).enumerate() {
                let error = f64::from(target.distance(*place)) / self.diagonal;
                looked.add(error, d, point);
            }
            for (&normal, shown) in found.shading.normals.iter().zip(&shown.normals) {
                let target = drawn.normals[normal as usize].as_dvec3();
                looked.add_angle(angle(*shown, target));
            }
        }
        looked
    }
}

impl Player for Comparer<'_, '_> {
    fn seen(&self) -> (&Sampler<'_>, &Clips<'_>) {
        self.left
    }

    fn diagonal(&self) -> f64 {
        self.diagonal
    }

    fn measure(&self, times: &[FrameTime], task: &Task) -> Result<Vec<FrameErrors>, Cancelled> {
        let (left, clips) = self.left;
        let (right, theirs) = self.right;
        let linear = SampleRequest::all(StackChoice::Linear);
        let show = |_: usize, frame: Frame| self.show(&frame);
        let shown = right.sample(theirs, times, linear, task, show)?;
        let wanted = SampleRequest {
            normals: true,
            ..SampleRequest::all(StackChoice::Own)
        };
        let look = |i: usize, frame: Frame| self.look(&frame, &shown[i]);
        left.sample(clips, times, wanted, task, look)
    }
}
