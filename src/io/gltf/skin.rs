//! Reads skins: joint lists and inverse bind matrices.

use super::buffers::Data;
use super::error::{Fault, counted};
use super::findings::Findings;
use super::json::At;
use super::nodes::joint_of_node;
use crate::document::Skin;
use crate::finding::Finding;
use crate::skeleton::JointId;
use glam::{DAffine3, DMat3, DVec3, DVec4};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of joints of a skin: influences store 16-bit indices.
const MAX_JOINTS: usize = 1 << 16;

/// The rounding of the last row of an inverse bind matrix that is not reported.
const MAX_LAST_ROW_ERROR: f64 = 1e-5;

/// A skin before it is known which of its joints have weights.
#[derive(Clone, Debug)]
pub(super) struct ReadSkin {
    pub(super) skin: Skin,
    /// Whether each entry references an existing node.
    pub(super) usable: Vec<bool>,
    /// Entries whose inverse bind matrix is not finite, which became the identity.
    not_finite: Vec<usize>,
    /// Entries whose inverse bind matrix has another last row than 0 0 0 1.
    not_affine: Vec<usize>,
    /// Whether matrices are missing.
    is_short: bool,
}

impl ReadSkin {
    /// Whether the file lacks some of the matrices, or has other ones.
    pub(super) fn is_repaired(&self) -> bool {
        self.is_short || !self.is_affine()
    }

    /// Whether all inverse bind matrices were finite and affine.
    pub(super) fn is_affine(&self) -> bool {
        self.not_finite.is_empty() && self.not_affine.is_empty()
    }

    /// The number of joints.
    pub(super) fn n_joints(&self) -> usize {
        self.skin.joints.len()
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
    report_repeated(&joints, &at.path("joints"), findings);
    let InverseBind {
        matrices: inverse_bind,
        not_finite,
        not_affine,
        is_short,
    } = inverse_bind(data, at, joints.len(), findings);
    Ok(ReadSkin {
        usable: joints.iter().map(Option::is_some).collect(),
        skin: Skin {
            name: at.name(findings),
            joints: joints.into_iter().map(|j| j.unwrap_or(first)).collect(),
            inverse_bind,
        },
        not_finite,
        not_affine,
        is_short,
    })
}

/// Reports joints that a list has more than once: glTF 2.0, 5.28, wants unique ones.
fn report_repeated(joints: &[Option<JointId>], place: &str, findings: &mut Findings) {
    let mut first = BTreeMap::new();
    for (slot, joint) in joints.iter().enumerate() {
        let Some(joint) = joint else {
            continue;
        };
        if let Some(before) = first.insert(joint.0, slot) {
            findings.push(Finding::warning(
                format!("{place}[{slot}]"),
                format!(
                    "{place} lists node {} more than once, in entries {before} and {slot}; both are kept.",
                    joint.0
                ),
            ));
        }
    }
}

/// The inverse bind matrices of a skin, and the entries that are none.
#[derive(Default)]
struct InverseBind {
    matrices: Vec<DAffine3>,
    not_finite: Vec<usize>,
    not_affine: Vec<usize>,
    is_short: bool,
}

/// One matrix per joint: those of the file, or the identity without any (glTF 2.0, 3.7.3.1).
fn inverse_bind(
    data: &Data<'_>,
    at: &At<'_>,
    n_joints: usize,
    findings: &mut Findings,
) -> InverseBind {
    let mut found = InverseBind {
        matrices: vec![DAffine3::IDENTITY; n_joints],
        ..InverseBind::default()
    };
    let key = "inverseBindMatrices";
    if at.get(key).is_none() {
        return found;
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
            found.is_short = true;
            return found;
        }
    };
    if read.len() < n_joints {
        found.is_short = true;
        findings.push(Finding::error(
            at.path(key),
            format!(
                "{} has {} for {n_joints} joints; the missing ones were replaced by the identity.",
                at.path(key),
                counted(read.len(), "matrix", "matrices")
            ),
        ));
    }
    let InverseBind {
        matrices,
        not_finite,
        not_affine,
        ..
    } = &mut found;
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
            let last_row = DVec4::new(m[3], m[7], m[11], m[15]);
            // Not even so: not a number fails the comparison, too.
            if !(last_row - DVec4::W)
                .abs()
                .cmple(DVec4::splat(MAX_LAST_ROW_ERROR))
                .all()
            {
                not_affine.push(slot);
            }
        } else {
            not_finite.push(slot);
        }
    }
    found
}

/// Reports joints that have no common root, which glTF 2.0, 3.7.3.1, wants: players then differ in what a skin moves with.
/// `root_of`: the root above each joint.
pub(super) fn report_roots(
    read: &ReadSkin,
    root_of: &[JointId],
    place: &str,
    findings: &mut Findings,
) {
    let joints = read.skin.joints.iter().zip(&read.usable);
    let usable = joints.filter(|(_, usable)| **usable);
    let roots: BTreeSet<JointId> = usable.map(|(joint, _)| root_of[joint.get()]).collect();
    if roots.len() > 1 {
        let names: Vec<String> = roots
            .iter()
            .take(3)
            .map(|root| root.0.to_string())
            .collect();
        findings.push(Finding::warning(
            format!("{place}.joints"),
            format!(
                "The joints of {place} have no common root: they lie under {} separate nodes, such as {}.",
                roots.len(),
                names.join(" and ")
            ),
        ));
    }
}

/// Reports inverse bind matrices that are not finite or not affine, but only for joints with weights; `used` holds these
/// for each mesh that the skin draws. Exporters write garbage for other joints.
pub(super) fn report_not_affine(
    read: &ReadSkin,
    place: &str,
    used: &[&[bool]],
    findings: &mut Findings,
) {
    let is_used = |slot: usize| used.iter().any(|used| used.get(slot) == Some(&true));
    for &slot in read.not_affine.iter().filter(|&&slot| is_used(slot)) {
        findings.push(Finding::warning(
            format!("{place}.inverseBindMatrices"),
            format!(
                "The last row of the inverse bind matrix of joint {slot} of {place} is not 0 0 0 1; it was replaced."
            ),
        ));
    }
    for &slot in &read.not_finite {
        if is_used(slot) {
            findings.push(Finding::error(
                format!("{place}.inverseBindMatrices"),
                format!(
                    "The inverse bind matrix of joint {slot} of {place} is not finite, although the joint has weights; it was replaced by the identity."
                ),
            ));
        }
    }
}
