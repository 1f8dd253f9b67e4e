//! The clips of the file: keyframes for screw interpolation and constraints, which glTF lacks; preview clips are left out.

use crate::document::constraint_keys::LARGEST_DEGREES;
use crate::document::rig::KEY_TOLERANCE;
use crate::document::{ClipId, ConstraintKeys, Document};
use crate::finding::{Finding, counted};
use crate::io::gltf_export::ExportReport;
use crate::math::Worse;
use crate::mesh::Mesh;
use crate::skeleton::constraint::{BakedKeys, hold_until, set_channels};
use crate::skeleton::screw::Tolerance;
use crate::skeleton::{Clip, JointId, Pose, RigidInterpolation};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DVec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The place of findings about constraints.
const CONSTRAINTS: &str = "constraints";
/// Tolerance of a joint's position relative to the screw motion, as a fraction of the model's size.
const LENGTH: f64 = 1e-4;
/// Tolerance of a joint's rotation relative to the screw motion, degrees.
const DEGREES: f64 = 0.05;

/// The clips of the file and the findings about them.
pub(super) struct WrittenClips {
    pub(super) clips: BTreeMap<ClipId, Arc<Clip>>,
    /// Whether they differ from the source's.
    pub(super) differ: bool,
    findings: Vec<Finding>,
    n_keys_added: usize,
    n_left_out: usize,
    n_densified: usize,
    /// Keyframes of joints that have constraints.
    n_constrained: usize,
    /// Their largest error, in tolerances.
    worst: f64,
    /// The joints that got them.
    constrained: BTreeSet<JointId>,
}

impl WrittenClips {
    /// The document's clips without preview clips, with keyframes added where bones use screw interpolation or have
    /// constraints.
    pub(super) fn of(document: &Document, task: &Task) -> Result<Self, Cancelled> {
        let mut written = Self {
            clips: BTreeMap::new(),
            differ: false,
            findings: Vec::new(),
            n_keys_added: 0,
            n_left_out: 0,
            n_densified: 0,
            n_constrained: 0,
            worst: 0.0,
            constrained: BTreeSet::new(),
        };
        let mut tolerances = None;
        let constrained = ConstraintKeys::of(document);
        for (&id, clip) in document.clips() {
            let place = || format!("clip \"{}\"", clip.name);
            if clip.preview {
                written.n_left_out += 1;
                let message = "It is a preview clip and is not in the file.";
                written.findings.push(Finding::info(place(), message));
                continue;
            }
            if clip.rigid_interpolation == RigidInterpolation::Components {
                written.insert(document, constrained.as_ref(), id, clip, clip.clone(), task)?;
                continue;
            }
            let tolerances = tolerances.get_or_insert_with(|| tolerances_of(document));
            let made = clip.component_wise(|joint| tolerances[joint.get()], task)?;
            if made.n_keys_added > 0 {
                written.n_densified += 1;
                written.n_keys_added += made.n_keys_added;
                let keys = counted(made.n_keys_added, "keyframe");
                let were = if made.n_keys_added == 1 {
                    "was"
                } else {
                    "were"
                };
                let message = format!(
                    "Its bones use screw interpolation, which glTF lacks: {keys} {were} added so that any player plays \
                     them."
                );
                written.findings.push(Finding::info(place(), message));
            }
            written.insert(
                document,
                constrained.as_ref(),
                id,
                clip,
                Arc::new(made.clip),
                task,
            )?;
        }
        if constrained.is_some() {
            written.report_constraints();
        }
        Ok(written)
    }

    /// Adds a clip of the document as `made`, with keyframes for joints that have constraints.
    fn insert(
        &mut self,
        document: &Document,
        constrained: Option<&ConstraintKeys>,
        id: ClipId,
        clip: &Clip,
        mut made: Arc<Clip>,
        task: &Task,
    ) -> Result<(), Cancelled> {
        let end = made.end_secs();
        if made.keys_influences() {
            Arc::make_mut(&mut made).remove_influences();
        }
        if let Some(constrained) = constrained {
            let BakedKeys { channels, worst } = constrained.baked(clip, task)?;
            self.worst = self.worst.worse(worst);
            self.n_constrained += channels.iter().map(|c| c.times.len()).sum::<usize>();
            self.constrained.extend(channels.iter().map(|c| c.joint));
            if let Some(first) = channels.first().map(|c| (c.joint, c.property)) {
                let made = Arc::make_mut(&mut made);
                set_channels(made, channels);
                hold_until(made, first, end);
            }
        }
        self.differ |= document.source_clips().get(&id) != Some(&made);
        self.clips.insert(id, made);
        Ok(())
    }

    /// Says what became of constraints.
    fn report_constraints(&mut self) {
        let n = self.constrained.len();
        let message = if self.clips.is_empty() {
            "The file has no clip, so it does not show them.".to_owned()
        } else if n == 0 {
            // The clips have keyframes of them already.
            return;
        } else {
            let mut said = format!(
                "{} became keyframes of every clip: {}.",
                counted(n, "constrained bone"),
                counted(self.n_constrained, "keyframe")
            );
            if !self.worst.is_finite() {
                said.push_str(" Their constraints give some of them values that are not finite.");
                self.findings.push(Finding::warning(CONSTRAINTS, said));
                return;
            }
            let within = format!(
                " They are within {LARGEST_DEGREES}° and {} % of the model's size.",
                100.0 * KEY_TOLERANCE
            );
            said.push_str(&within);
            if self.worst > 1.0 {
                let times = format!(
                    " Where a bone moves fastest, they are off by up to {:.1} times that.",
                    self.worst
                );
                said.push_str(&times);
            }
            said
        };
        self.findings.push(Finding::info(CONSTRAINTS, message));
    }

    /// Appends findings about added keyframes and omitted clips.
    pub(super) fn add_findings(&self, report: &mut ExportReport) {
        // A copy of the source has the constraints of the source, and no keyframes of them.
        let is_said = |f: &&Finding| !(report.verbatim && f.place == CONSTRAINTS);
        let said: Vec<Finding> = self.findings.iter().filter(is_said).cloned().collect();
        report.findings.extend(said);
        report.n_keys_added = self.n_keys_added;
        report.n_clips_densified = self.n_densified;
        report.n_clips_left_out = self.n_left_out;
    }
}

/// Whether a clip animates anything.
pub(super) fn has_keys(clip: &Clip) -> bool {
    clip.channels.iter().any(|c| !c.times.is_empty())
}

/// The tolerance of each joint relative to its screw motion, in its parent's units.
fn tolerances_of(document: &Document) -> Vec<Tolerance> {
    let skeleton = document.skeleton();
    let world = Pose::rest(skeleton).world_matrices(skeleton);
    let length = LENGTH * size_of_model(document, &world);
    let joints = skeleton.joints().iter();
    let tolerance = joints.map(|joint| {
        // The largest scale of the joint's ancestors.
        let scale = joint.parent.map_or(1.0, |parent| {
            let matrix = world[parent.get()].matrix3;
            [matrix.x_axis, matrix.y_axis, matrix.z_axis]
                .map(DVec3::length)
                .into_iter()
                .fold(0.0, f64::max)
        });
        Tolerance {
            radians: DEGREES.to_radians(),
            length: if scale > 0.0 { length / scale } else { length },
        }
    });
    tolerance.collect()
}

/// The diagonal of the bounding box of the bones in the rest pose and the rigid meshes, metres; if that is zero, of the
/// undeformed meshes.
fn size_of_model(document: &Document, world: &[DAffine3]) -> f64 {
    let is_bone = document.skin_joint_mask();
    let bones = (0..world.len() as u32)
        .map(JointId)
        .filter(|j| is_bone[j.get()]);
    let mut points: Vec<DVec3> = bones.map(|j| world[j.get()].translation).collect();
    let mut of_meshes = Vec::new();
    for instance in document.instances().values() {
        let Some(item) = document.meshes().get(&instance.mesh) else {
            continue;
        };
        let corners = corners(&item.geometry);
        if instance.skin.is_none() {
            let place = world[instance.joint.get()];
            points.extend(corners.map(|p| place.transform_point3(p)));
        }
        of_meshes.extend(corners);
    }
    let size = |points: &[DVec3]| {
        let finite = points.iter().filter(|p| p.is_finite());
        let (low, high) = finite.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
        let size = (high - low).length();
        (size.is_finite() && size > 0.0).then_some(size)
    };
    size(&points).or_else(|| size(&of_meshes)).unwrap_or(1.0)
}

/// Two corners of a mesh's bounding box.
fn corners(mesh: &Mesh) -> [DVec3; 2] {
    let points = mesh.positions.iter().map(|p| p.as_dvec3());
    let (low, high) = points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
        (low.min(p), high.max(p))
    });
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    fn said(worst: f64) -> Finding {
        let mut written = WrittenClips {
            clips: [(ClipId(0), Arc::default())].into(),
            differ: true,
            findings: Vec::new(),
            n_keys_added: 0,
            n_left_out: 0,
            n_densified: 0,
            n_constrained: 2,
            worst: 0.0,
            constrained: [JointId(1)].into(),
        };
        written.worst = written.worst.worse(worst);
        written.report_constraints();
        written.findings.remove(0)
    }

    #[test]
    fn keyframes_of_constraints_that_are_no_numbers_are_not_within_a_tolerance() {
        let exact = said(0.5);
        assert!(exact.message.contains("They are within"), "{exact:?}");
        assert!(said(2.5).message.contains("up to 2.5 times"));
        let broken = said(f64::NAN);
        assert_eq!(broken.severity, Severity::Warning);
        assert!(broken.message.contains("not finite"), "{broken:?}");
        assert!(!broken.message.contains("within"), "{broken:?}");
    }
}
