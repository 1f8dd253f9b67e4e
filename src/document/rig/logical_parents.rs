//! Logical parents: the limbs of a flat rig, whose bones are all children of one node, as hand tracking and many exporters write
//! them.

use super::{RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::{Document, MeshId, Skin, SkinId};
use crate::skeleton::JointId;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of bones of a flat rig.
const FLAT: usize = 5;
/// The cosine of 45 degrees: limbs are side by side where the angle between their directions is smaller, and the angle to the
/// vector from one to the other larger.
const ALIKE: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The joints of a flat skin, in its order: all are children of one node, which is listed first where the skin has it. `None`: the
/// skin is not flat.
pub fn flat_joints(document: &Document, skin: &Skin) -> Option<Vec<JointId>> {
    let skeleton = document.skeleton();
    let live = skin.joints.iter().copied().filter(|&j| skeleton.is_live(j));
    let mut live: Vec<JointId> = live.collect();
    let parent = |&j: &JointId| skeleton.joint(j).parent;
    // At most one of the joints can be the node itself.
    let above = live.iter().rev().take(2).find_map(|j| {
        let above = parent(j)?;
        let below = live.iter().filter(|j| parent(j) == Some(above)).count();
        (below + 1 >= live.len()).then_some(above)
    })?;
    let n_below = live.iter().filter(|j| parent(j) == Some(above)).count();
    let has_node = live.contains(&above);
    if live.len() < FLAT || n_below + usize::from(has_node) != live.len() {
        return None;
    }
    if let Some(at) = live.iter().position(|&j| j == above) {
        live[..=at].rotate_right(1);
    }
    Some(live)
}

/// The edit that gives the joints of flat skins the nearest joint along their limb as logical parent: the one that shares most
/// of its weights with them, and for joints without weights the nearest one.
///
/// A maximum spanning tree of the shared weights (Prim 1957), relative to the lighter joint, from the root of the limbs: the node
/// from which the others hang, else a joint that is named so, else the one with most weight. Limbs side by side, such as the
/// bones of the palm, then follow the same joint.
pub fn infer_logical_parents(document: &Document) -> Result<RigEdit, RigError> {
    let mut joints = joints_of(document);
    let mut is_flat = false;
    for (&id, skin) in &document.skins {
        let Some(flat) = flat_joints(document, skin) else {
            continue;
        };
        is_flat = true;
        for (joint, parent) in Limbs::new(document, id, skin, &flat).parents() {
            joints[joint.get()].rule.logical_parent = Some(parent);
        }
    }
    if !is_flat {
        return Err(RigError::Unchanged(
            "no skin has a flat rig, with all bones children of one node".into(),
        ));
    }
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    super::drop_invalid_parents(&mut changed)?;
    Ok(RigEdit::between(document, &changed))
}

/// The edit that makes `parent` the logical parent of a joint; `None`: its parent.
pub fn set_logical_parent(
    document: &Document,
    joint: JointId,
    parent: Option<JointId>,
) -> Result<RigEdit, RigError> {
    check_live(document, joint)?;
    let mut joints = joints_of(document);
    let rule = &mut joints[joint.get()].rule;
    rule.logical_parent = parent;
    rule.check(joint, document.skeleton())
        .map_err(|why| RigError::Value(format!("“{}”: {why}.", document.skeleton.label(joint))))?;
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    Ok(RigEdit::between(document, &changed))
}

/// The input of the search for the limbs of a flat skin.
struct Limbs<'a> {
    document: &'a Document,
    joints: &'a [JointId],
    /// The bind positions; the same length.
    places: Vec<DVec3>,
    /// The sum of each joint's weights.
    weights: Vec<f64>,
    /// Of each joint the others with the weight that they share, in order of index.
    shared: Vec<BTreeMap<usize, f64>>,
    has_node: bool,
}

impl<'a> Limbs<'a> {
    fn new(document: &'a Document, id: SkinId, skin: &Skin, joints: &'a [JointId]) -> Self {
        let n = joints.len();
        let place = |joint: &JointId| {
            let slot = skin.joints.iter().position(|j| j == joint);
            let bind = slot.map(|slot| skin.inverse_bind[slot].inverse().translation);
            bind.filter(|p| p.is_finite()).unwrap_or(DVec3::ZERO)
        };
        let index: BTreeMap<JointId, usize> = joints.iter().copied().zip(0..).collect();
        let mut weights = vec![0.0; n];
        let mut shared = vec![BTreeMap::new(); n];
        let users = document.instances.values().filter(|i| i.skin == Some(id));
        let meshes: BTreeSet<MeshId> = users.map(|instance| instance.mesh).collect();
        for item in meshes.iter().filter_map(|mesh| document.meshes.get(mesh)) {
            for row in item.influences.iter() {
                let known = row.iter().filter_map(|(slot, weight)| {
                    let joint = skin.joints.get(usize::from(slot))?;
                    Some((*index.get(joint)?, f64::from(weight)))
                });
                let row: Vec<(usize, f64)> = known.filter(|(_, w)| *w > 0.0).collect();
                for (i, &(a, weight)) in row.iter().enumerate() {
                    weights[a] += weight;
                    for &(b, other) in row[..i].iter().filter(|(b, _)| *b != a) {
                        let both = weight.min(other);
                        *shared[a].entry(b).or_insert(0.0) += both;
                        *shared[b].entry(a).or_insert(0.0) += both;
                    }
                }
            }
        }
        let parent = joints
            .last()
            .and_then(|&j| document.skeleton().joint(j).parent);
        Self {
            document,
            joints,
            places: joints.iter().map(place).collect(),
            weights,
            shared,
            has_node: joints.first().copied() == parent,
        }
    }

    /// Each joint but the root with its logical parent.
    fn parents(&self) -> Vec<(JointId, JointId)> {
        let (order, mut parent) = self.tree();
        let mut children = vec![Vec::new(); order.len()];
        for &c in order.iter().skip(1) {
            children[parent[c]].push(c);
        }
        for &c in order.iter().skip(1) {
            let above = parent[c];
            // From the root, so that the joint above has its place already.
            if above != order[0] && self.is_beside(above, c, &children) {
                parent[c] = parent[above];
            }
        }
        let of = |&c: &usize| (self.joints[c], self.joints[parent[c]]);
        let found = order.iter().skip(1).map(of);
        // A child of the node itself needs no other parent.
        let hangs =
            |joint: JointId, above| self.document.skeleton().joint(joint).parent == Some(above);
        found
            .filter(|&(joint, above)| !hangs(joint, above))
            .collect()
    }

    /// The spanning tree: the joints, the root first and each after its parent; and the parent of each.
    fn tree(&self) -> (Vec<usize>, Vec<usize>) {
        let n = self.joints.len();
        let root = self.root();
        let mut order = vec![root];
        let mut parent = vec![root; n];
        let mut is_in = vec![false; n];
        // Shared weight comes before distance; of equal costs the first.
        let mut cost = vec![(2u8, f64::INFINITY); n];
        let mut newest = root;
        loop {
            is_in[newest] = true;
            for c in (0..n).filter(|&c| !is_in[c]) {
                let least = self.weights[c].min(self.weights[newest]);
                let both = self.shared[newest].get(&c).filter(|_| least > 0.0);
                let way = match both {
                    Some(both) => (0, -both / least),
                    None => (1, self.places[c].distance(self.places[newest])),
                };
                if way.0 < cost[c].0 || (way.0 == cost[c].0 && way.1 < cost[c].1) {
                    cost[c] = way;
                    parent[c] = newest;
                }
            }
            let outside = (0..n).filter(|&c| !is_in[c]);
            let next = outside.min_by(|&a, &b| {
                let (a, b) = (cost[a], cost[b]);
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            });
            let Some(next) = next else {
                return (order, parent);
            };
            order.push(next);
            newest = next;
        }
    }

    /// The root of the limbs.
    fn root(&self) -> usize {
        if self.has_node {
            return 0;
        }
        let named = |words: &[&str]| {
            let is_named = |joint: &JointId| {
                let name = self.document.skeleton().joint(*joint).name.to_lowercase();
                let mut parts = name.split(|c: char| !c.is_alphabetic());
                parts.any(|part| words.contains(&part))
            };
            let mut found = (0..self.joints.len()).filter(|&i| is_named(&self.joints[i]));
            found.next().filter(|_| found.next().is_none())
        };
        let heaviest = || {
            let all = 0..self.joints.len();
            // The first of equal ones.
            all.reduce(|a, b| {
                if self.weights[b] > self.weights[a] {
                    b
                } else {
                    a
                }
            })
        };
        named(&["hips", "pelvis"])
            .or_else(|| named(&["wrist", "root"]))
            .or_else(heaviest)
            .unwrap_or(0)
    }

    /// Whether `joint` starts a limb beside that of `above`, which it follows in the tree.
    fn is_beside(&self, above: usize, joint: usize, children: &[Vec<usize>]) -> bool {
        let way = |from: usize, to: usize| (self.places[to] - self.places[from]).try_normalize();
        let Some(across) = way(above, joint) else {
            return false;
        };
        let others = children[above].iter().filter(|&&c| c != joint);
        let mut theirs = others.filter_map(|&c| way(above, c));
        theirs.any(|theirs| {
            let mut own = children[joint].iter().filter_map(|&c| way(joint, c));
            across.dot(theirs) < ALIKE && own.any(|own| own.dot(theirs) > ALIKE)
        })
    }
}
