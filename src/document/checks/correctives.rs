//! Problems of corrective samples.

use crate::deform::correctives::{Fault, SampleSet, Staleness};
use crate::document::{Document, MeshId, MeshItem};
use crate::finding::{Finding, Fix, Place, SampleFix, counted};
use crate::psd::{Kernel, PsdError, PsdWarning};
use std::collections::BTreeMap;

/// The largest deviation of weights from 1 and 0 at the samples, without smoothing.
const CARDINALITY: f64 = 1e-9;

/// Sets that are off; samples that are close to each other, ill-conditioned or inexact, and those captured on another
/// stack or over other weights.
pub fn of_correctives(document: &Document) -> Vec<Finding> {
    let mut findings = sets_that_are_off(document);
    for (&id, item) in document.meshes() {
        let correctives = &item.correctives;
        let sets = correctives.sets().iter();
        let stale_samples = document.stale_samples(id);
        let mut first = 0;
        for ((index, set), solved) in (0..).zip(sets).zip(correctives.interpolations()) {
            let place = place(item, set);
            let of_set = Place::SampleSet {
                mesh: id.0,
                set: index,
            };
            for warning in solved.warnings() {
                let message = warning.to_string();
                findings.push(match warning {
                    PsdWarning::Inexact { .. } => {
                        Finding::info(&place, message).at(Place::Mesh(id.0))
                    }
                    PsdWarning::Close { a, b, .. } => {
                        // The later one; of a sample and bind the sample.
                        let named = samples_named(id, set, first, b)
                            .or_else(|| samples_named(id, set, first, a));
                        let fix = named.is_some().then_some(Fix::Samples(SampleFix::Delete));
                        Finding::warning(&place, message)
                            .at(named.unwrap_or(Place::Mesh(id.0)))
                            .fixed_by(fix)
                    }
                    PsdWarning::LinearInstead { .. } => Finding::warning(&place, message)
                        .at(of_set.clone())
                        .fixed_by(Some(Fix::Samples(SampleFix::UseLinear))),
                });
            }
            let error = solved.cardinality();
            // NaN counts as an error.
            let is_exact = error <= CARDINALITY;
            if !is_exact && (set.smoothing <= 0.0 || error.is_nan()) {
                let message = format!(
                    "The weights miss the samples by {error:.1e} of their displacements (condition {:.1e}).",
                    solved.condition()
                );
                let is_linear = set.kernel == Kernel::Linear;
                let fix = (!is_linear).then_some(Fix::Samples(SampleFix::UseLinear));
                findings.push(Finding::error(&place, message).at(of_set).fixed_by(fix));
            }
            findings.extend(stale(id, item, set, first, &stale_samples));
            first += set.samples.len() as u32;
        }
        let condition = correctives.joint_condition();
        // NaN counts as ill-conditioned.
        let is_told_apart = condition <= 1e8;
        if !is_told_apart {
            let message = format!(
                "Samples of different sets are hard to tell apart (condition {condition:.1e}): put them into one set with \
                 the driver bones of both."
            );
            let place = format!("corrective samples of mesh \"{}\"", item.geometry.name);
            findings.push(Finding::warning(place, message).at(Place::Mesh(id.0)));
        }
    }
    findings
}

/// Sets of samples that are off because they cannot be solved or a driver bone is missing.
pub fn sets_that_are_off(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&id, item) in document.meshes() {
        let mut first = 0;
        for (index, set) in (0..).zip(item.correctives.sets()) {
            if let Some(fault) = &set.fault {
                findings.push(off(id, item, (index, set), fault, first));
            }
            first += set.samples.len() as u32;
        }
    }
    findings
}

/// The finding of a set that is off. `first`: the index of its first sample among all of the mesh.
fn off(
    id: MeshId,
    item: &MeshItem,
    (index, set): (u32, &SampleSet),
    fault: &Fault,
    first: u32,
) -> Finding {
    let n = counted(set.n_samples(), "sample");
    let message = format!("The set is off, its {n} stay in the project: {fault}.");
    let named = |name: &str| samples_named(id, set, first, name);
    let of_set = Place::SampleSet {
        mesh: id.0,
        set: index,
    };
    let (target, fix) = match fault {
        Fault::NoBone { .. } => (
            Some(of_set.clone()),
            Some(Fix::Samples(SampleFix::DeleteSet)),
        ),
        Fault::Unsolved(PsdError::Duplicate { b, .. }) => {
            (named(b), Some(Fix::Samples(SampleFix::Delete)))
        }
        Fault::Unsolved(PsdError::AtBind { sample, .. }) => {
            (named(sample), Some(Fix::Samples(SampleFix::Delete)))
        }
        Fault::Unsolved(PsdError::Conditioning { .. } | PsdError::ThinPlate { .. }) => (
            Some(of_set.clone()),
            Some(Fix::Samples(SampleFix::UseLinear)),
        ),
        Fault::Unsolved(_) => (None, None),
    };
    let finding = Finding::error(place(item, set), message);
    match target {
        Some(target) => finding.at(target).fixed_by(fix),
        // What to delete is the artist's choice.
        None => finding.at(of_set),
    }
}

/// The last sample of a set with a name. `first`: the index of its first sample among all of the mesh.
fn samples_named(id: MeshId, set: &SampleSet, first: u32, name: &str) -> Option<Place> {
    let at = set.samples.iter().rposition(|s| s.name == name)?;
    Some(Place::Samples {
        mesh: id.0,
        samples: [first + at as u32].into(),
    })
}

/// Samples of a set that no longer give their sculpt, by the reason. `of_mesh`: those of the mesh; `first`: the index of
/// its first sample among them.
fn stale(
    id: MeshId,
    item: &MeshItem,
    set: &SampleSet,
    first: u32,
    of_mesh: &BTreeMap<usize, Staleness>,
) -> Vec<Finding> {
    let reasons = [Staleness::Stack, Staleness::Weights, Staleness::WeightsLost];
    let of_reason = |why: Staleness| {
        let samples = (first..).zip(&set.samples);
        let stale = samples.filter(|(i, _)| of_mesh.get(&(*i as usize)) == Some(&why));
        let (samples, names): (Vec<u32>, Vec<String>) =
            stale.map(|(i, s)| (i, format!("\"{}\"", s.name))).unzip();
        if samples.is_empty() {
            return None;
        }
        let were = if samples.len() == 1 { "was" } else { "were" };
        let ways = match why {
            Staleness::WeightsLost => {
                "The old weights are not known any more: sculpt again, or Keep keeps the displacements."
            }
            _ => "Re-target keeps the shape, Keep keeps the displacements.",
        };
        let message = format!(
            "{} {were} captured {}, so the shape differs from the sculpt: {}. {ways}",
            counted(samples.len(), "sample"),
            why.reason(),
            names.join(", ")
        );
        let finding = Finding::warning(place(item, set), message);
        let target = Place::Samples {
            mesh: id.0,
            samples: samples.into(),
        };
        let keep = Fix::Samples(SampleFix::Keep);
        let finding = finding.at(target);
        Some(match why {
            Staleness::WeightsLost => finding.fixed_by(Some(keep)),
            _ => finding
                .fixed_by(Some(Fix::Samples(SampleFix::Retarget)))
                .or_by(keep),
        })
    };
    reasons.into_iter().filter_map(of_reason).collect()
}

fn place(item: &MeshItem, set: &SampleSet) -> String {
    format!(
        "corrective samples \"{}\" of mesh \"{}\"",
        set.name, item.geometry.name
    )
}
