//! The skin pushed out of itself in a pose -> displacements of the sample that is sculpted there.

use super::skin::{JointSkin, OutlineOf, Poser};
use crate::deform::capture;
use crate::document::{CorrectivesEdit, Document, SculptTarget};
use crate::evaluate::Evaluator;
use crate::math::sparse::FactorError;
use crate::relax::{NeighbourhoodError, Posed, Region, RelaxSettings, Start, push_out, relax};
use crate::skeleton::PoseAt;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The result of [`push_skin_out`].
#[derive(Debug)]
pub struct PushedOut {
    /// The change of the sample.
    pub edit: CorrectivesEdit,
    /// Triangles that cross the skin around the driver bones before.
    pub n_before: usize,
    /// And after.
    pub n_after: usize,
}

/// Why the skin was not pushed out of itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// There is nothing to do.
    #[error("The skin around {bones} does not touch itself in this pose.")]
    Apart {
        /// The driver bones.
        bones: String,
    },
    /// A system of equations was not solved.
    #[error("The skin could not be pushed apart: {0}.")]
    Unsolved(String),
}

impl From<FactorError> for PushError {
    fn from(why: FactorError) -> Self {
        match why {
            FactorError::Cancelled(why) => Self::Cancelled(why),
            FactorError::Failed { .. } => Self::Unsolved(why.to_string()),
        }
    }
}

/// How strongly the shape is kept where contacts alone do not resolve it, the strongest first.
const PULLS: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// Pushes the skin around the driver bones of a sample out of itself in a pose, as it is with its samples: both sides of
/// a contact move, until the gap of the settings is between them. Where triangles still cross, because they are folded
/// over without facing each other, the skin is relaxed towards its shape at bind, no more than that takes.
pub fn push_skin_out<'p>(
    document: &Document,
    target: &SculptTarget,
    at: impl Into<PoseAt<'p>>,
    settings: &RelaxSettings,
    task: &Task,
) -> Result<PushedOut, PushError> {
    let nothing = |bones: String| PushError::Apart { bones };
    let Some(item) = document.meshes().get(&target.mesh) else {
        return Err(nothing("the bones".into()));
    };
    let mut evaluator = Evaluator::default();
    let at = at.into();
    evaluator.evaluate(document, at);
    let plan = evaluator.plan(target.instance);
    let plan = plan.ok_or_else(|| nothing("the bones".into()))?;
    let mut places: Vec<DVec3> = plan.positions().iter().map(|p| p.as_dvec3()).collect();
    let sets = item.correctives.sets();
    let drivers = sets.get(target.set).map_or(&[][..], |set| &set.drivers);
    let held = sets.get(target.set);
    let held = held.and_then(|set| set.vertices.points(&item.clusters));
    let is_held = |point: u32| held.as_ref().is_none_or(|held| held.contains(point));
    let mut moved: BTreeMap<u32, DVec3> = BTreeMap::new();
    let (mut n_before, mut n_after) = (0, 0);
    let mut poser = Poser::new(document, OutlineOf::ThisStack);
    for driver in drivers {
        let skin = match JointSkin::new(document, target.instance, driver.joint, task) {
            Ok(skin) => skin,
            Err(NeighbourhoodError::Cancelled(why)) => return Err(why.into()),
            Err(NeighbourhoodError::NothingBlends) => continue,
        };
        let start: Vec<DVec3> = skin.points.iter().map(|p| places[p[0] as usize]).collect();
        let (region, _) = Region::choose(&skin.around, std::slice::from_ref(&start));
        let crossings = |x: &[DVec3]| region.n_crossings(&skin.around, x);
        n_before += crossings(&start);
        let mut x = start.clone();
        for (p, offset) in push_out(&skin.around, &region, &x, settings, task)? {
            x[p as usize] += offset;
        }
        let mut n = crossings(&x);
        for pull in PULLS {
            if n == 0 {
                break;
            }
            let posed = Posed {
                skinned: start.clone(),
                outline: start.clone(),
                rotations: poser.pose(&skin, at.pose).rotations,
            };
            let kept = RelaxSettings {
                pull,
                volume_slack: f64::INFINITY,
                ..*settings
            };
            let relaxed = relax(&skin.around, &region, &posed, &kept, Start::Skinned, task)?;
            let left = crossings(&relaxed.positions);
            if left < n {
                (n, x) = (left, relaxed.positions);
            }
        }
        if held.is_some() {
            // The samples of the set do not hold the others.
            for &p in &region.free {
                if !skin.points[p as usize].iter().any(|&point| is_held(point)) {
                    x[p as usize] = start[p as usize];
                }
            }
            n = crossings(&x);
        }
        n_after += n;
        for (&p, own) in region.free.iter().map(|p| (p, &skin.points[*p as usize])) {
            let offset = x[p as usize] - start[p as usize];
            if offset == DVec3::ZERO {
                continue;
            }
            for &point in own.iter().filter(|point| is_held(**point)) {
                places[point as usize] += offset;
                *moved.entry(point).or_default() += offset;
            }
        }
    }
    let owner = sets
        .get(target.set)
        .and_then(|set| Some((set, set.samples.get(target.sample)?)));
    let Some((set, sample)) = owner.filter(|_| !moved.is_empty()) else {
        let bones = drivers.iter().map(|d| document.skeleton().label(d.joint));
        return Err(nothing(bones.collect::<Vec<_>>().join(", ")));
    };
    let known = &sample.displacements;
    let mut factors = target.factors(document);
    let base = plan.base_positions();
    let places = moved.into_iter().map(|(point, offset)| {
        let factor = factors.as_mut().map_or(1.0, |factors| factors.at(point));
        let place = base[point as usize].as_dvec3() + offset / factor;
        (point, place.as_vec3())
    });
    let places: Vec<(u32, Vec3)> = places.collect();
    let captured = capture(plan, &item.stack, &item.masks, &places);
    let added = captured.for_set(set).iter();
    let changed = added.map(|(point, d)| (point, known.get(point).unwrap_or_default() + d));
    let changed: Vec<(u32, Vec3)> = changed.collect();
    let displacements = known.with(changed);
    let correctives = &item.correctives;
    let correctives = correctives.with_displacements(target.set, target.sample, displacements);
    Ok(PushedOut {
        edit: CorrectivesEdit::new(document, target.mesh, Arc::new(correctives)),
        n_before,
        n_after,
    })
}
