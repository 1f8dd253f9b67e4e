//! Reads skins: joint lists and inverse bind matrices.

use super::buffers::Data;
use super::error::{Fault, counted};
use super::findings::Findings;
use super::json::At;
use super::nodes::joint_of_node;
use crate::document::Skin;
use crate::finding::Finding;
use glam::{DAffine3, DMat3, DVec3};

/// The largest number of joints of a skin: influences store 16-bit indices.
const MAX_JOINTS: usize = 1 << 16;

/// A skin before it is known which of its joints have weights.
#[derive(Clone, Debug)]
pub(super) struct ReadSkin {
    pub(super) skin: Skin,
    /// Whether each entry references an existing node.
    pub(super) usable: Vec<bool>,
    /// Entries whose inverse bind matrix is not finite, which became the identity.
    not_finite: Vec<usize>,
}

impl ReadSkin {
    /// Whether all inverse bind matrices were finite.
    pub(super) fn is_finite(&self) -> bool {
        self.not_finite.is_empty()
    }
}

/// Reads all skins; `None` for one without a usable joint.
pub(super) fn read_all(data: &Data<'_>, findings: &mut Findings) -> Vec<Option<ReadSkin>> {
    (0..data.len("skins"))
        .map(|i| {
            let at = data.at("skins", i);
            match read(data, &at, findings) {
                Ok(skin) => Some(skin),
                Err(fault) => {
                    findings.push(
                        fault.finding("The skin was left out; its meshes are drawn without it."),
                    );
                    None
                }
            }
        })
        .collect()
}

fn read(data: &Data<'_>, at: &At<'_>, findings: &mut Findings) -> Result<ReadSkin, Fault> {
    let n_nodes = data.len("nodes");
    let list = at.items("joints")?;
    if list.is_empty() {
        return Err(Fault::new(
            at.path("joints"),
            format!("{} has no joints.", at.place),
        ));
    }
    if list.len() > MAX_JOINTS {
        return Err(Fault::new(
            at.path("joints"),
            format!(
                "{} has {} joints, but at most {MAX_JOINTS} are supported.",
                at.place,
                list.len()
            ),
        ));
    }
    data.budget.charge(256 * list.len() as u64, &at.place)?;
    let mut joints = Vec::with_capacity(list.len());
    let mut last_fault = None;
    for entry in list.iter() {
        match entry.as_index("nodes", n_nodes) {
            Ok(node) => joints.push(Some(joint_of_node(node))),
            Err(fault) => {
                findings.push(fault.finding("Its influences were left out."));
                last_fault = Some(fault);
                joints.push(None);
            }
        }
    }
    let Some(first) = joints.iter().flatten().next().copied() else {
        return Err(last_fault.unwrap_or_else(|| at.lacks("joints")));
    };
    let (inverse_bind, not_finite) = inverse_bind(data, at, joints.len(), findings);
    Ok(ReadSkin {
        usable: joints.iter().map(Option::is_some).collect(),
        skin: Skin {
            name: at.name(findings),
            joints: joints.into_iter().map(|j| j.unwrap_or(first)).collect(),
            inverse_bind,
        },
        not_finite,
    })
}

/// One matrix per joint: those of the file, or the identity without any (glTF 2.0, 3.7.3.1).
fn inverse_bind(
    data: &Data<'_>,
    at: &At<'_>,
    n_joints: usize,
    findings: &mut Findings,
) -> (Vec<DAffine3>, Vec<usize>) {
    let mut matrices = vec![DAffine3::IDENTITY; n_joints];
    let mut not_finite = Vec::new();
    let key = "inverseBindMatrices";
    if at.get(key).is_none() {
        return (matrices, not_finite);
    }
    let read = data.accessor(at, key).and_then(|mut elements| {
        if elements.width != 16 {
            return Err(Fault::new(
                at.path(key),
                format!("{} should be matrices of 16 numbers.", at.path(key)),
            ));
        }
        elements.shorten(n_joints);
        elements.floats::<16, _>(data, |m| m)
    });
    let read = match read {
        Ok(read) => read,
        Err(fault) => {
            findings
                .push(fault.finding("All inverse bind matrices were replaced by the identity."));
            return (matrices, not_finite);
        }
    };
    if read.len() < n_joints {
        findings.push(Finding::error(
            at.path(key),
            format!(
                "{} has {} for {n_joints} joints; the missing ones were replaced by the identity.",
                at.path(key),
                counted(read.len(), "matrix", "matrices")
            ),
        ));
    }
    for (slot, (matrix, m)) in matrices.iter_mut().zip(&read).enumerate() {
        let m = m.map(f64::from);
        // The last row is 0 0 0 1 in every valid file; another value in the corner scales the whole matrix.
        let w = if m[15].is_finite() && m[15] != 0.0 {
            m[15]
        } else {
            1.0
        };
        let affine = DAffine3::from_mat3_translation(
            DMat3::from_cols(
                DVec3::new(m[0], m[1], m[2]) / w,
                DVec3::new(m[4], m[5], m[6]) / w,
                DVec3::new(m[8], m[9], m[10]) / w,
            ),
            DVec3::new(m[12], m[13], m[14]) / w,
        );
        if affine.is_finite() {
            *matrix = affine;
        } else {
            not_finite.push(slot);
        }
    }
    (matrices, not_finite)
}

/// Reports inverse bind matrices that are not finite, but only for joints with weights; `used` holds these for each
/// mesh that the skin draws. Exporters write garbage for other joints.
pub(super) fn report_not_finite(
    read: &ReadSkin,
    place: &str,
    used: &[&[bool]],
    findings: &mut Findings,
) {
    for &slot in &read.not_finite {
        if used.iter().any(|used| used.get(slot) == Some(&true)) {
            findings.push(Finding::error(
                format!("{place}.inverseBindMatrices"),
                format!(
                    "The inverse bind matrix of joint {slot} of {place} is not finite, although the joint has weights; it was replaced by the identity."
                ),
            ));
        }
    }
}
