//! Reads nodes and scenes as the skeleton and its instances.

use super::buffers::Data;
use super::error::{Fault, counted};
use super::findings::Findings;
use super::json::{At, List, or_warn};
use crate::document::repairs::is_unit;
use crate::finding::Finding;
use crate::math::transform::normalize_or_identity;
use crate::math::{Transform, polar};
use crate::skeleton::{Joint, JointId, JointRule, Skeleton};
use glam::{DMat3, DQuat, DVec3};
use std::collections::{BTreeSet, VecDeque};

/// The memory of a joint and its bookkeeping, bytes.
const JOINT_BYTES: u64 = 320;

/// The consequence of a value that cannot be read.
const DEFAULT: &str = "The node's default is used.";

/// The node tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) skeleton: Skeleton,
    /// Whether the default scene contains each node.
    pub(super) in_scene: Vec<bool>,
    /// The joints whose rotation was not of unit length.
    pub(super) repaired: BTreeSet<JointId>,
}

/// The handle of a node's joint: the reader makes one joint per node, in order. Other modules must not rely on that,
/// but call [`Skeleton::joint_of_node`].
pub(super) fn joint_of_node(node: usize) -> JointId {
    JointId(node as u32)
}

/// Reads all nodes.
pub(super) fn read(data: &Data<'_>, findings: &mut Findings) -> Result<Tree, Fault> {
    let n = data.len("nodes");
    data.budget.charge(JOINT_BYTES * n as u64, "nodes")?;
    let parents = parents(data, n, findings);
    let joints = (0..n)
        .map(|i| {
            let at = data.at("nodes", i);
            Joint {
                name: at.name(findings),
                parent: parents[i].map(|parent| joint_of_node(parent as usize)),
                rest: transform(&at, findings),
                source_node: Some(i as u32),
                content_of: None,
                removed: false,
                rule: JointRule::default(),
            }
        })
        .collect();
    // The traversal in `parents` cannot create a cycle, so this cannot fail.
    let skeleton =
        Skeleton::new(joints).map_err(|error| Fault::new("nodes", format!("The {error}.")))?;
    let in_scene = in_scene(data, &skeleton, findings);
    let is_repaired = |i: &usize| {
        let at = data.at("nodes", *i);
        let rotation = at.vector::<4>("rotation").ok().flatten();
        at.get("matrix").is_none() && rotation.is_some_and(|q| !is_unit(&q.map(|x| x as f32)))
    };
    let repaired = (0..n).filter(is_repaired).map(joint_of_node).collect();
    Ok(Tree {
        skeleton,
        in_scene,
        repaired,
    })
}

/// The parent of each node, found by traversal from the roots: a node with two parents keeps the one nearer to a root,
/// and an edge that would close a cycle is left out.
fn parents(data: &Data<'_>, n: usize, findings: &mut Findings) -> Vec<Option<u32>> {
    let mut children: Vec<Vec<usize>> = Vec::with_capacity(n);
    let mut is_child = vec![false; n];
    for i in 0..n {
        let at = data.at("nodes", i);
        let list = at.items("children").unwrap_or_else(|fault| {
            findings.push(fault.finding("The node's children were left out."));
            List::default()
        });
        let mut indices = Vec::with_capacity(list.len());
        for child in list.iter() {
            match child.as_index("nodes", n) {
                Ok(index) => {
                    is_child[index] = true;
                    indices.push(index);
                }
                Err(fault) => findings.push(fault.finding("It was left out.")),
            }
        }
        children.push(indices);
    }
    let mut parents = vec![None; n];
    let mut visited = vec![false; n];
    // True roots first; then, for cycles without a root, the scenes' nodes; then the lowest index.
    let scene_roots = (0..data.len("scenes")).flat_map(|s| {
        let nodes = scene_nodes(data, s);
        (0..nodes.len()).filter_map(move |i| nodes.at(i).as_index("nodes", n).ok())
    });
    let seeds: Vec<usize> = (0..n)
        .filter(|&i| !is_child[i])
        .chain(scene_roots)
        .chain(0..n)
        .collect();
    let mut queue = VecDeque::new();
    for seed in seeds {
        if visited[seed] {
            continue;
        }
        visited[seed] = true;
        queue.push_back(seed);
        while let Some(node) = queue.pop_front() {
            for (c, &child) in children[node].iter().enumerate() {
                if !visited[child] {
                    visited[child] = true;
                    parents[child] = Some(node as u32);
                    queue.push_back(child);
                    continue;
                }
                let ancestor = std::iter::successors(parents[node], |&p: &u32| parents[p as usize])
                    .take(100)
                    .any(|p| p as usize == child);
                let why = if child == node {
                    "which is the node itself"
                } else if ancestor {
                    "which is its ancestor"
                } else {
                    "which already has a parent"
                };
                findings.push(Finding::error(
                    format!("nodes[{node}].children[{c}]"),
                    format!("nodes[{node}] has node {child} as a child, {why}; it was left out."),
                ));
            }
        }
    }
    parents
}

/// The entries of a scene's `nodes`.
fn scene_nodes<'a>(data: &Data<'a>, scene: usize) -> List<'a> {
    data.at("scenes", scene).items("nodes").unwrap_or_default()
}

/// Whether the default scene contains each node: the scene of `scene`, otherwise the first; all nodes without a scene.
fn in_scene(data: &Data<'_>, skeleton: &Skeleton, findings: &mut Findings) -> Vec<bool> {
    let n = skeleton.len();
    let n_scenes = data.len("scenes");
    if n_scenes == 0 {
        return vec![true; n];
    }
    let root = At::new(data.json, "");
    let scene = root
        .index("scene", "scenes", n_scenes)
        .unwrap_or_else(|fault| {
            findings.push(fault.warning("The first scene is shown."));
            None
        });
    let scene = scene.unwrap_or(0);
    if let Err(fault) = data.at("scenes", scene).items("nodes") {
        findings.push(fault.warning("All nodes are shown."));
        return vec![true; n];
    }
    let mut shown = vec![false; n];
    let mut stack = Vec::new();
    for node in scene_nodes(data, scene).iter() {
        match node.as_index("nodes", n) {
            Ok(node) => stack.push(node),
            Err(fault) => findings.push(fault.finding("It was left out.")),
        }
    }
    while let Some(node) = stack.pop() {
        if !shown[node] {
            shown[node] = true;
            let children = skeleton.children(joint_of_node(node));
            stack.extend(children.iter().map(|child| child.get()));
        }
    }
    shown
}

/// The node's local transform: exact for translation, rotation and scale; a matrix by polar decomposition, so that the
/// product of rotation and stretch is the matrix again.
fn transform(at: &At<'_>, findings: &mut Findings) -> Transform {
    if at.get("matrix").is_some() {
        let matrix = or_warn(at.vector::<16>("matrix"), DEFAULT, findings);
        let Some(m) = matrix else {
            return Transform::IDENTITY;
        };
        let linear = DMat3::from_cols(
            DVec3::new(m[0], m[1], m[2]),
            DVec3::new(m[4], m[5], m[6]),
            DVec3::new(m[8], m[9], m[10]),
        );
        let (rotation, stretch) = rotation_and_stretch(linear);
        if m[3] != 0.0 || m[7] != 0.0 || m[11] != 0.0 || m[15] != 1.0 {
            findings.push(Finding::warning(
                at.path("matrix"),
                format!(
                    "The last row of {} is not 0 0 0 1; it was replaced.",
                    at.path("matrix")
                ),
            ));
        }
        return Transform {
            translation: DVec3::new(m[12], m[13], m[14]),
            rotation,
            stretch,
        };
    }
    let translation = or_warn(at.vector("translation"), DEFAULT, findings);
    let rotation = or_warn(at.vector("rotation"), DEFAULT, findings);
    let scale = or_warn(at.vector("scale"), DEFAULT, findings);
    let rotation = DQuat::from_array(rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    if (rotation.length() - 1.0).abs() > 1e-2 {
        findings.push(Finding::warning(
            at.path("rotation"),
            format!(
                "{} has length {:.3} instead of 1; it was {}.",
                at.path("rotation"),
                rotation.length(),
                if rotation.length() > 1e-30 {
                    "normalised"
                } else {
                    "replaced by the identity"
                }
            ),
        ));
    }
    Transform::from_trs(
        DVec3::from_array(translation.unwrap_or([0.0; 3])),
        normalize_or_identity(rotation),
        DVec3::from_array(scale.unwrap_or([1.0; 3])),
    )
}

/// Decomposes `linear` = rotation * stretch. The stretch absorbs the rounding of the rotation, so that the product is
/// accurate to the last bits; entries that are only rounding errors become zero.
fn rotation_and_stretch(linear: DMat3) -> (DQuat, DMat3) {
    let (q, _) = polar(linear);
    let rotation = normalize_or_identity(DQuat::from_mat3(&q));
    let mut stretch = DMat3::from_quat(rotation).transpose() * linear;
    let size = stretch
        .to_cols_array()
        .iter()
        .fold(0.0f64, |a, x| a.max(x.abs()));
    for column in 0..3 {
        for row in 0..3 {
            let entry = &mut stretch.col_mut(column)[row];
            if row != column && entry.abs() <= 1e-14 * size {
                *entry = 0.0;
            }
        }
    }
    (rotation, stretch)
}

/// For each joint, the root that it lies under; itself if it is one.
pub(super) fn roots(skeleton: &Skeleton) -> Vec<JointId> {
    let mut roots: Vec<Option<JointId>> = vec![None; skeleton.len()];
    let mut path = Vec::new();
    for joint in (0..skeleton.len()).map(joint_of_node) {
        let mut at = joint;
        let root = loop {
            if let Some(root) = roots[at.get()] {
                break root;
            }
            path.push(at);
            match skeleton.joints()[at.get()].parent {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        for below in path.drain(..) {
            roots[below.get()] = Some(root);
        }
    }
    (0..)
        .map(joint_of_node)
        .zip(roots)
        .map(|(joint, root)| root.unwrap_or(joint))
        .collect()
}

/// The finding that `n` nodes would exceed the memory budget by instantiating a mesh again; `first` is the index of the
/// first one.
pub(super) fn instantiated_too_often(first: usize, n: usize) -> Finding {
    const WHY: &str = "which would need more memory than a file of this size may use";
    let place = format!("nodes[{first}]");
    let message = match n.saturating_sub(1) {
        0 => format!(
            "{place} instantiates a mesh again, {WHY}. It is shown as a bounding box in the rest pose, and exports do not correct it."
        ),
        more => format!(
            "{place} and {} instantiate a mesh again, {WHY}. They are shown as bounding boxes in the rest pose, and exports do not correct them.",
            counted(more, "more node", "more nodes")
        ),
    };
    Finding::error(&place, message)
}

/// The finding about a scene that draws nothing.
pub(super) fn nothing_drawn(n_meshes: usize, n_instances: usize) -> Option<Finding> {
    (n_meshes > 0 && n_instances == 0).then(|| {
        Finding::warning(
            "scene",
            format!(
                "The file has {}, but its scene shows none.",
                counted(n_meshes, "mesh", "meshes")
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_node_beyond_the_budget_and_several_are_named() {
        let [one, four] = [1, 4].map(|n| instantiated_too_often(5, n).message);
        assert_eq!(
            one,
            "nodes[5] instantiates a mesh again, which would need more memory than a file of this size may use. It is shown as a bounding box in the rest pose, and exports do not correct it."
        );
        assert_eq!(
            four,
            "nodes[5] and 3 more nodes instantiate a mesh again, which would need more memory than a file of this size may use. They are shown as bounding boxes in the rest pose, and exports do not correct them."
        );
    }

    #[test]
    fn a_mirrored_sheared_matrix_is_exactly_rotation_times_stretch() {
        let linear = DMat3::from_cols(
            DVec3::new(-2.0, 0.3, 0.1),
            DVec3::new(0.5, 1.0, -0.7),
            DVec3::new(0.0, 0.2, 3.0),
        );
        assert!(linear.determinant() < 0.0);
        let (rotation, stretch) = rotation_and_stretch(linear);
        let again = DMat3::from_quat(rotation) * stretch;
        assert!(again.abs_diff_eq(linear, 4e-15), "{again}");
    }

    #[test]
    fn a_matrix_of_rotation_and_scale_has_no_shear() {
        let rotation = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let linear = DMat3::from_quat(rotation) * DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0));
        let (r, stretch) = rotation_and_stretch(linear);
        assert!(r.abs_diff_eq(rotation, 1e-15));
        let transform = Transform {
            translation: DVec3::ZERO,
            rotation: r,
            stretch,
        };
        assert!(!transform.has_shear(), "{stretch}");
        assert!(
            transform
                .scale()
                .abs_diff_eq(DVec3::new(1.0, 2.0, 3.0), 1e-14)
        );
    }
}
