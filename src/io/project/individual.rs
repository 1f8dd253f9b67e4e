//! The measurements of a person <-> the project format. What follows from them is computed again.

use super::apply::Opening;
use super::individual_entry::{IndividualEntry, Row, VariationEntry};
use super::joints;
use crate::cluster::map::gains::Gain;
use crate::document::{Document, Edit, Individual, IndividualEdit, Person, Variation};
use crate::skeleton::joint_limits::JointLimits;
use crate::twin::{FitOptions, Measurement};

/// The individual of a document, or its what-if.
pub(super) fn collect(document: &Document, person: Person) -> Option<IndividualEntry> {
    let individual = document.person(person)?;
    let options = individual.options;
    let row = |row: &Measurement| Row {
        id: row.id.clone(),
        kind: row.kind.into(),
        bone: row.bone.clone(),
        to: row.to.clone(),
        at: row.at,
        side: row.side.map(Into::into),
        value: row.value,
        unit: row.unit.into(),
    };
    Some(IndividualEntry {
        template: format!("{:016x}", individual.template),
        fit_height: options.fit_height,
        sides: options.sides.into(),
        neighbours: options.neighbours,
        taper: options.taper,
        flipped: options.flipped.into(),
        rows: individual.rows.iter().map(row).collect(),
        variations: collect_variations(document, &individual.variations),
    })
}

/// Limits of removed bones are left out.
fn collect_variations(document: &Document, variations: &[Variation]) -> Vec<VariationEntry> {
    let skeleton = document.skeleton();
    let entry = |variation: &Variation| match variation {
        Variation::Limits { joint, limits } => {
            let is_live = joint.get() < skeleton.len() && skeleton.is_live(*joint);
            is_live.then(|| VariationEntry::Limits {
                joint: joints::reference(document, *joint),
                ranges: limits.0.map(|[low, high]| (low, high)),
            })
        }
        Variation::Gain { gain, factor } => Some(VariationEntry::Gain {
            kind: gain.kind.into(),
            group: gain.group.clone(),
            layer: gain.layer.clone(),
            factor: *factor,
        }),
    };
    variations.iter().filter_map(entry).collect()
}

impl Opening {
    /// Gives the document its individual, or its what-if; a template that changed is a finding.
    pub(super) fn individual(&mut self, person: Person, entry: Option<IndividualEntry>) {
        let Some(entry) = entry else {
            return;
        };
        let place = match person {
            Person::Individual => "measurements",
            Person::WhatIf => "measurements of the what-if",
        };
        let template = self.document.template_fingerprint();
        if entry.template != format!("{template:016x}") {
            let why = "The template has changed since it was measured; its measurements are fitted again.";
            self.warn(place, why);
        }
        let rows = entry.rows.into_iter().map(|row| Measurement {
            id: row.id,
            kind: row.kind.into(),
            bone: row.bone,
            to: row.to,
            at: row.at,
            side: row.side.map(Into::into),
            value: row.value,
            unit: row.unit.into(),
        });
        let variations = self.variations(place, entry.variations);
        let individual = Individual {
            template,
            rows: rows.collect(),
            options: FitOptions {
                fit_height: entry.fit_height,
                sides: entry.sides.into(),
                neighbours: entry.neighbours,
                taper: entry.taper,
                flipped: entry.flipped.into(),
            },
            variations,
        };
        let edit = IndividualEdit::of(person, Some(individual));
        self.apply(place, Edit::Individual(edit));
    }

    /// Limits and gains; one that is not valid, or whose bone is not in the model, is a finding.
    fn variations(&mut self, place: &str, entries: Vec<VariationEntry>) -> Vec<Variation> {
        let mut found = Vec::new();
        for entry in entries {
            let variation = match entry {
                VariationEntry::Limits { joint, ranges } => {
                    let joint = self.joints.find_joint(&joint, &mut self.findings);
                    joint.map(|joint| Variation::Limits {
                        joint,
                        limits: JointLimits(ranges.map(|(low, high)| [low, high])),
                    })
                }
                VariationEntry::Gain {
                    kind,
                    group,
                    layer,
                    factor,
                } => Some(Variation::Gain {
                    gain: Gain {
                        kind: kind.into(),
                        group,
                        layer,
                    },
                    factor,
                }),
            };
            let Some(variation) = variation else {
                continue;
            };
            match variation.check() {
                Ok(()) => found.push(variation),
                Err(why) => self.warn(place, format!("A limit or gain is skipped: {why}.")),
            }
        }
        found
    }
}
