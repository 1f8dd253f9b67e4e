//! Problems of corrective samples.

use crate::document::Document;
use crate::finding::{Finding, Place, counted};
use crate::psd::PsdWarning;

/// Samples that are close to each other, ill-conditioned or inexact, and those captured on another stack.
pub fn of_correctives(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, item) in document.meshes() {
        let correctives = &item.correctives;
        for (set, solved) in correctives.sets().iter().zip(correctives.interpolations()) {
            let name = &item.geometry.name;
            let place = format!("corrective samples \"{}\" of mesh \"{name}\"", set.name);
            for warning in solved.warnings() {
                let message = warning.to_string();
                findings.push(match warning {
                    PsdWarning::Inexact { .. } => Finding::info(&place, message),
                    _ => Finding::warning(&place, message),
                });
            }
            let stale = set.samples.iter().filter(|s| s.is_stale(&item.stack));
            let stale: Vec<_> = stale.map(|s| format!("\"{}\"", s.name)).collect();
            if !stale.is_empty() {
                let were = if stale.len() == 1 { "was" } else { "were" };
                let message = format!(
                    "{} {were} sculpted on another deformer stack, so the shape differs from the sculpt: {}.",
                    counted(stale.len(), "sample"),
                    stale.join(", ")
                );
                findings.push(Finding::warning(&place, message));
            }
            for finding in &mut findings {
                finding.target.get_or_insert(Place::Mesh(id.0));
            }
        }
    }
    findings
}
