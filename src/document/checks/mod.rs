//! Checks of a document: statistics of its bones, and problems with their fixes.
//!
//! Data flow: [`ModelChecks`] caches a report of each chunk of influences -> [`ModelChecks::run`] reads the chunks that
//! changed since the last run -> a [`ModelReport`] that panels show. It runs on a thread, on a clone of the document.
//!
//! Invariant: a chunk is read again only when its `Arc` changed.
//! Invariant: a finding offers a fix only if the fix changes something.

mod bones;
mod compensation;
mod constraints;
mod controls;
mod correctives;
mod joint_limits;
mod jumps;
mod layers;
mod rig;
pub(super) mod seams;
mod sites;
mod weights;

pub use bones::Badges;
pub use compensation::of_compensation;
pub use constraints::{of_constraints, of_kept_constraint, of_kept_constraints};
pub use correctives::{of_correctives, sets_that_are_off};
pub use joint_limits::of_joint_limits;
pub use jumps::of_jumps;
pub use layers::of_layers;
pub use rig::of_rig;

use super::{Document, MeshId, MeshItem};
use crate::cluster::MeshLayout;
use crate::deform::DeformStack;
use crate::finding::{Finding, Severity};
use crate::skeleton::{JointId, Skeleton};
use crate::task::{Cancelled, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the checks found in one state of the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReport {
    /// n_joints: how many points of the whole model each joint moves.
    pub n_moved: Vec<u32>,
    /// n_joints: the badges of each joint.
    pub badges: Vec<Badges>,
    /// Statistics of each mesh that has a skin.
    pub meshes: BTreeMap<MeshId, MeshFigures>,
    /// Points whose weights do not sum to 1, ascending; meshes without such a point are not listed.
    pub off_sum: BTreeMap<MeshId, Arc<[u32]>>,
    /// Problems, the worst first.
    pub findings: Vec<Finding>,
}

/// Statistics of a mesh's influences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshFigures {
    /// The largest number of influences of a point.
    pub most: usize,
    /// The mean number of influences per point.
    pub mean: f64,
    /// Points that no joint moves.
    pub n_unweighted: usize,
}

/// The results of earlier runs, so that the next run reads only what changed.
#[derive(Debug, Default)]
pub struct ModelChecks {
    meshes: BTreeMap<MeshId, MeshChecks>,
    /// Of the meshes whose clusters follow data.
    layouts: BTreeMap<MeshId, Arc<MeshLayout>>,
}

#[derive(Debug)]
struct MeshChecks {
    geometry: Arc<crate::mesh::Mesh>,
    chunks: Vec<weights::ChunkReport>,
    seams: seams::Seams,
    locked: Vec<bool>,
    findings: Vec<Finding>,
    figures: MeshFigures,
    /// n_skin_joints: the number of points that each moves.
    n_moved: Vec<u32>,
    /// Points whose weights do not sum to 1.
    off_sum: Arc<[u32]>,
    /// What the findings about bulge compensation depend on besides the influences, and the findings.
    compensated: Option<(Arc<DeformStack>, Arc<Skeleton>, Vec<Finding>)>,
}

impl ModelChecks {
    /// Takes layouts that are known already, so that a run does not compute them again.
    pub fn take_layouts(&mut self, known: BTreeMap<MeshId, Arc<MeshLayout>>) {
        self.layouts.extend(known);
    }

    /// The report of `document`.
    pub fn run(&mut self, document: &Document, task: &Task) -> Result<ModelReport, Cancelled> {
        self.meshes
            .retain(|id, _| document.meshes().contains_key(id));
        let mut report = ModelReport {
            n_moved: vec![0; document.skeleton().len()],
            ..ModelReport::default()
        };
        for (&id, item) in document.meshes() {
            if document.skin_of_mesh(id).is_none() {
                self.meshes.remove(&id);
                continue;
            }
            task.check()?;
            let before = self.meshes.remove(&id);
            let mut checked = MeshChecks::after(before, document, id, item, task)?;
            task.check()?;
            let of_compensation = checked.of_compensation(document, id, item);
            report.findings.extend_from_slice(of_compensation);
            report.meshes.insert(id, checked.figures);
            if !checked.off_sum.is_empty() {
                report.off_sum.insert(id, checked.off_sum.clone());
            }
            report.findings.extend(checked.findings.iter().cloned());
            count_moved(document, id, &checked.n_moved, &mut report.n_moved);
            self.meshes.insert(id, checked);
        }
        report.badges = bones::badges(document, &report.n_moved);
        report
            .findings
            .extend(bones::findings(document, &report.badges));
        report.findings.extend(rig::of_flat_rigs(document));
        report.findings.extend(of_joint_limits(document));
        report.findings.extend(of_correctives(document));
        report.findings.extend(of_layers(document));
        report.findings.extend(of_constraints(document));
        report.findings.extend(of_kept_constraints(document));
        self.lay_out(document, task)?;
        report.findings.extend(of_jumps(document, &self.layouts));
        report
            .findings
            .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Ok(report)
    }

    /// Brings the layouts of the meshes whose clusters follow data up to date.
    fn lay_out(&mut self, document: &Document, task: &Task) -> Result<(), Cancelled> {
        let mut before = std::mem::take(&mut self.layouts);
        for (&id, item) in document.meshes() {
            if item.clusters.data().next().is_some() {
                let known = before.remove(&id);
                let known = known.filter(|known| known.is_of(&item.geometry, &item.clusters));
                let layout = match known {
                    Some(layout) => layout,
                    None => Arc::new(MeshLayout::quietly(&item.geometry, &item.clusters, task)?),
                };
                self.layouts.insert(id, layout);
            }
        }
        Ok(())
    }
}

/// Adds the number of points of `mesh` that each joint of its skins moves.
fn count_moved(document: &Document, mesh: MeshId, by_index: &[u32], n_moved: &mut [u32]) {
    let skins: BTreeSet<_> = document
        .instances()
        .values()
        .filter(|instance| instance.mesh == mesh)
        .filter_map(|instance| instance.skin)
        .collect();
    for skin in skins.iter().filter_map(|id| document.skins().get(id)) {
        for (joint, n) in skin.joints.iter().zip(by_index) {
            if let Some(slot) = n_moved.get_mut(joint.get()) {
                *slot += n;
            }
        }
    }
}

impl MeshChecks {
    /// The checks of `item`; reuses the parts of `before` that are still valid.
    fn after(
        before: Option<Self>,
        document: &Document,
        id: MeshId,
        item: &MeshItem,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let locked = document.skin_locks(id);
        let before = before.filter(|b| Arc::ptr_eq(&b.geometry, &item.geometry));
        let (old_chunks, seams) = match before {
            Some(before) if before.is_current(item, &locked) => return Ok(before),
            Some(before) => (before.chunks, before.seams),
            None => (Vec::new(), seams::Seams::of(&item.geometry, task)?),
        };
        task.check()?;
        let chunks = weights::chunk_reports(old_chunks, &item.influences);
        task.check()?;
        let place = mesh_place(item);
        let mut findings = weights::findings(id, &place, &chunks, item, &locked);
        task.check()?;
        findings.extend(seams.finding(id, &place, item, &locked));
        let n_joints = document.n_skin_joints(id).unwrap_or(0);
        let mut n_moved = vec![0; n_joints];
        let mut figures = MeshFigures::default();
        let mut total = 0;
        for chunk in &chunks {
            for &(joint, n) in &chunk.n_moved {
                if let Some(slot) = n_moved.get_mut(usize::from(joint)) {
                    *slot += n;
                }
            }
            total += chunk.n_influences;
            figures.most = figures.most.max(chunk.most);
            figures.n_unweighted += chunk.unweighted.len();
        }
        let off_sum: Vec<u32> = chunks.iter().flat_map(|c| &c.off_sum).copied().collect();
        let off_sum = off_sum.into();
        figures.mean = total as f64 / item.influences.len().max(1) as f64;
        Ok(Self {
            geometry: item.geometry.clone(),
            chunks,
            seams,
            locked,
            findings,
            figures,
            n_moved,
            off_sum,
            compensated: None,
        })
    }

    /// Findings about bulge compensation.
    fn of_compensation(&mut self, document: &Document, id: MeshId, item: &MeshItem) -> &[Finding] {
        let (stack, skeleton) = (&item.stack, document.skeleton());
        let known = self.compensated.take();
        let known = known.filter(|(s, k, _)| Arc::ptr_eq(s, stack) && Arc::ptr_eq(k, skeleton));
        let current = known.unwrap_or_else(|| {
            let findings = compensation::findings(document, id, item);
            (stack.clone(), skeleton.clone(), findings)
        });
        &self.compensated.insert(current).2
    }

    fn is_current(&self, item: &MeshItem, locked: &[bool]) -> bool {
        let chunks = item.influences.chunks();
        self.locked == locked
            && self.chunks.len() == chunks.len()
            && self
                .chunks
                .iter()
                .zip(chunks)
                .all(|(a, b)| Arc::ptr_eq(&a.rows, b))
    }
}

/// The name of a mesh in findings.
fn mesh_place(item: &MeshItem) -> String {
    if item.geometry.name.is_empty() {
        "mesh".to_owned()
    } else {
        format!("mesh \"{}\"", item.geometry.name)
    }
}

impl Document {
    /// n_skin_joints of the skin that moves `mesh`: whether each is locked. Empty without a skin.
    pub fn skin_locks(&self, mesh: MeshId) -> Vec<bool> {
        self.skin_of_mesh(mesh).map_or_else(Vec::new, |(_, skin)| {
            let live = self.live_slots(mesh);
            let is_locked = |(slot, joint): (usize, &JointId)| {
                self.locked().contains(joint) || live.get(slot) == Some(&false)
            };
            skin.joints.iter().enumerate().map(is_locked).collect()
        })
    }
}

/// The number of findings of each severity: errors, warnings, infos.
pub fn count(findings: &[Finding]) -> [usize; 3] {
    [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| findings.iter().filter(|f| f.severity == severity).count())
}
