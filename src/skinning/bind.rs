//! The bind data of a skin: the bind frames of its joints, bound and unbound, in one unit.

use super::palette::{Motion, NodeMotion, SkinPalette, Stretch};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar::{orthonormality_error, polar};
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DMat3, DVec3};

/// A skin matrix whose stretch is this close to the identity counts as rigid.
///
/// Inverse bind matrices are f32: at rest, their rounding alone stretches shipped characters by up to 1.3e-6. Below
/// this tolerance the inflation moves a point by less than f32 positions resolve.
pub const RIGID_TOLERANCE: f64 = 2e-6;

/// The bind data of one skin as one mesh uses it.
///
/// *Bound* joints have weight in the mesh. Exporters write arbitrary inverse bind matrices for the others, so those are
/// ignored: the bind frame of an unbound ancestor follows from its nearest bound descendant and the rest pose. Points
/// and bind frames are in a unit in which the rest pose has no stretch ([`SkinBind::unit_scale`]).
#[derive(Clone, Debug, PartialEq)]
pub struct SkinBind {
    unit_scale: f64,
    /// Bound joints, their ancestors and the skin's other joints; parents first.
    nodes: Vec<Node>,
    /// One for each joint of the skin.
    slots: Vec<Slot>,
    ranks: Vec<u32>,
}

/// A skeleton joint and its bind frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) joint: JointId,
    /// The nearest ancestor among the nodes.
    pub(super) parent: Option<u32>,
    /// The node whose inflation moves the joint: its parent, or the one that the artist chose.
    inflation_parent: Option<u32>,
    /// Scaled bind-pose mesh space -> joint space.
    inverse_bind: DAffine3,
    /// The joint's bind position, scaled.
    pub(super) origin: DVec3,
}

/// An entry of the skin's joint list.
#[derive(Clone, Debug, PartialEq)]
struct Slot {
    joint: JointId,
    /// As the file has it: bind-pose mesh space -> joint space.
    inverse_bind: DAffine3,
    node: u32,
    /// The frame of a bound slot that is not its node's: a joint listed twice with different matrices, or a matrix
    /// without an inverse.
    own: Option<(DAffine3, DVec3)>,
}

impl SkinBind {
    /// The bind data of a skin.
    ///
    /// `joints`, `inverse_bind`, `bound`: one for each joint of the skin (missing entries count as identity and
    /// unbound); `bound[k]` says whether some point of the mesh gives joint `k` weight. `rest_world`: n_joints of the
    /// skeleton, world transforms of the file's own rest pose. Joints outside of the skeleton follow its first joint.
    pub fn new(
        skeleton: &Skeleton,
        joints: &[JointId],
        inverse_bind: &[DAffine3],
        bound: &[bool],
        rest_world: &[DAffine3],
    ) -> Self {
        let given = |k: usize| match inverse_bind.get(k) {
            Some(m) if m.is_finite() => *m,
            _ => DAffine3::IDENTITY,
        };
        let rest = |joint: JointId| match rest_world.get(joint.get()) {
            Some(w) if w.is_finite() => *w,
            _ => DAffine3::IDENTITY,
        };
        let is_bound = |k: usize| bound.get(k) == Some(&true) && skeleton.is_live(joints[k]);
        let unit_scale = unit_scale(
            (0..joints.len())
                .filter(|&k| is_bound(k))
                .map(|k| (rest(joints[k]).matrix3 * given(k).matrix3).determinant()),
        );
        let unscale = DAffine3::from_scale(DVec3::splat(1.0 / unit_scale));
        let scaled = |k: usize| given(k) * unscale;

        // The frame of a node: the first invertible one of its bound joints, in skin order.
        let mut frame: Vec<Option<DAffine3>> = vec![None; skeleton.len()];
        let mut nearest: Vec<Option<Nearest>> = vec![None; skeleton.len()];
        let mut needed = vec![false; skeleton.len()];
        for (k, joint) in joints.iter().enumerate() {
            let Some(need) = needed.get_mut(joint.get()) else {
                continue;
            };
            *need = true;
            if is_bound(k) && frame[joint.get()].is_none() {
                frame[joint.get()] = invert(scaled(k));
                if frame[joint.get()].is_some() {
                    nearest[joint.get()] = Some(Nearest {
                        steps: 0,
                        skin_order: k,
                        joint: *joint,
                    });
                }
            }
        }
        for &j in skeleton.order().iter().rev() {
            let joint = skeleton.joint(JointId(j));
            if needed[j as usize]
                && let Some(followed) = joint.rule.inflation_parent
                && let Some(need) = needed.get_mut(followed.get())
            {
                *need = true;
            }
            let Some(parent) = joint.parent else {
                continue;
            };
            if needed[j as usize] {
                needed[parent.get()] = true;
            }
            if let Some(below) = nearest[j as usize] {
                let candidate = Nearest {
                    steps: below.steps + 1,
                    ..below
                };
                let entry = &mut nearest[parent.get()];
                if entry.is_none_or(|n| candidate.key() < n.key()) {
                    *entry = Some(candidate);
                }
            }
        }

        let mut nodes: Vec<Node> = Vec::new();
        let mut node_of = vec![u32::MAX; skeleton.len()];
        for &j in skeleton.order() {
            let joint = JointId(j);
            if !needed[joint.get()] {
                continue;
            }
            let parent = skeleton.joint(joint).parent.map(|p| node_of[p.get()]);
            let overriding = skeleton.joint(joint).rule.inflation_parent;
            let inflation_parent = overriding
                .and_then(|p| node_of.get(p.get()).copied())
                .filter(|&n| n != u32::MAX)
                .or(parent);
            let given_by = |other: JointId, frame: DAffine3| {
                let other_from_joint = invert(rest(other)).unwrap_or_default() * rest(joint);
                Some(frame * other_from_joint).filter(DAffine3::is_finite)
            };
            let bind = frame[joint.get()].or_else(|| {
                if let Some(n) = nearest[joint.get()] {
                    return given_by(n.joint, frame[n.joint.get()]?);
                }
                // No bound descendant: the frame follows from the nearest ancestor.
                let above = &nodes[parent? as usize];
                given_by(above.joint, invert(above.inverse_bind)?)
            });
            let bind = bind
                .unwrap_or_else(|| DAffine3::from_scale(DVec3::splat(unit_scale)) * rest(joint));
            node_of[joint.get()] = nodes.len() as u32;
            nodes.push(Node {
                joint,
                parent,
                inflation_parent,
                inverse_bind: invert(bind).unwrap_or_default(),
                origin: bind.translation,
            });
        }

        let slots = joints.iter().enumerate().map(|(k, &joint)| {
            let node = node_of.get(joint.get()).copied().unwrap_or(0);
            let own = is_bound(k).then(|| match invert(scaled(k)) {
                Some(bind) if frame[joint.get()] == Some(bind) => None,
                Some(bind) => Some((scaled(k), bind.translation)),
                // A singular bind matrix has no frame, but glTF multiplies by it.
                None => Some((scaled(k), nodes[node as usize].origin)),
            });
            Slot {
                joint,
                inverse_bind: given(k),
                node,
                own: own.flatten(),
            }
        });
        let slots = slots.collect();
        let ranks = joints
            .iter()
            .map(|j| {
                if j.get() < skeleton.len() {
                    skeleton.logical_rank(*j)
                } else {
                    u32::MAX
                }
            })
            .collect();
        Self {
            unit_scale,
            nodes,
            slots,
            ranks,
        }
    }

    /// The unit s: bind positions times s have no stretch at the rest pose.
    ///
    /// The median of |det K|^(1/3) over bound joints at rest, so that files in centimetres, armatures scaled by 100 and
    /// quantisation folded into the matrices all stay on the fast path. Skinned positions do not depend on it.
    pub fn unit_scale(&self) -> f64 {
        self.unit_scale
    }

    /// The number of joints of the skin.
    pub fn n_joints(&self) -> usize {
        self.slots.len()
    }

    /// The skeleton's joint of each entry of the skin's list.
    pub fn joint(&self, slot: usize) -> JointId {
        self.slots[slot].joint
    }

    /// Topological rank of each joint of the skin; [`super::CookedChunk::cook`] breaks ties by it.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The bind position of joint `slot` of the skin, in scaled bind space (`unit_scale` times mesh space), metres.
    pub fn origin(&self, slot: usize) -> DVec3 {
        self.slot_frame(&self.slots[slot]).1
    }

    /// The bind position of a joint of the skin or of an ancestor of one; scaled bind space.
    pub fn origin_of_joint(&self, joint: JointId) -> Option<DVec3> {
        self.nodes
            .iter()
            .find(|n| n.joint == joint)
            .map(|n| n.origin)
    }

    /// The frames of the joints of the skin and of all their ancestors, parents first: the joint, the one whose
    /// inflation moves it, and its inverse bind matrix (bind-pose mesh space -> joint space), which for unbound joints
    /// is not that of the file.
    pub fn frames(&self) -> impl Iterator<Item = (JointId, Option<JointId>, DAffine3)> {
        let scale = DAffine3::from_scale(DVec3::splat(self.unit_scale));
        self.nodes.iter().map(move |node| {
            let above = node.inflation_parent.map(|n| self.nodes[n as usize].joint);
            (node.joint, above, node.inverse_bind * scale)
        })
    }

    /// The node tree, parents first.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of joint `slot` of the skin; `u32::MAX` where it has none.
    pub(super) fn node_of(&self, slot: usize) -> u32 {
        let node = self.slots[slot].node;
        if (node as usize) < self.nodes.len() {
            node
        } else {
            u32::MAX
        }
    }

    /// The joint's bind frame: joint space -> scaled bind space.
    pub(super) fn bind_frame(&self, slot: usize) -> DAffine3 {
        invert(self.slot_frame(&self.slots[slot]).0).unwrap_or_default()
    }

    /// Scaled inverse bind matrix and bind position.
    fn slot_frame(&self, slot: &Slot) -> (DAffine3, DVec3) {
        slot.own.unwrap_or_else(|| {
            self.nodes
                .get(slot.node as usize)
                .map_or((DAffine3::IDENTITY, DVec3::ZERO), |n| {
                    (n.inverse_bind, n.origin)
                })
        })
    }

    /// Fills `palette` with the skin matrices of a pose, split into inflation and rigid motion.
    ///
    /// `world`: n_joints of the skeleton, world transforms of the pose. Computes in f64,
    /// writes the rows of the kernels in f32. Every number of the palette is finite; buffers are reused.
    ///
    /// Source: Lee et al. 2013, by the polar decomposition of each skin matrix (joints that compensate for their
    /// parent's scale do so in `world` already).
    pub fn pose(&self, world: &[DAffine3], stretch: Stretch, palette: &mut SkinPalette) {
        let world_of = |joint: JointId| world.get(joint.get()).copied().unwrap_or_default();
        let mut moving = palette.take_scratch();
        for node in &self.nodes {
            let k = finite_or_identity(world_of(node.joint) * node.inverse_bind);
            let (q, p) = rigid_or_polar(k.matrix3);
            let parent = node
                .parent
                .map(|p| (&self.nodes[p as usize], moving[p as usize]));
            let rotation = quat_from_rotation(q);
            moving.push(NodeMotion {
                // One hemisphere along each chain: most blends then need no test of signs.
                rotation: match parent {
                    Some((_, m)) if m.rotation.dot(rotation) < 0.0 => -rotation,
                    _ => rotation,
                },
                stretch: p,
                inflated_origin: match node
                    .inflation_parent
                    .map(|p| (&self.nodes[p as usize], moving[p as usize]))
                {
                    Some((above, m)) => {
                        m.stretch * (node.origin - above.origin) + m.inflated_origin
                    }
                    None => node.origin,
                },
            });
        }

        palette.begin(self.unit_scale, stretch);
        palette.set_inflated_nodes(
            self.nodes
                .iter()
                .zip(&moving)
                .map(|(node, m)| match stretch {
                    Stretch::Inflate => m.inflated_origin,
                    Stretch::Drop => node.origin,
                }),
        );
        for slot in &self.slots {
            let skin_matrix = finite_or_identity(world_of(slot.joint) * slot.inverse_bind);
            let (inverse_bind, origin) = self.slot_frame(slot);
            let k = finite_or_identity(world_of(slot.joint) * inverse_bind);
            let Some(node_motion) = moving.get(slot.node as usize) else {
                palette.push(skin_matrix, Motion::IDENTITY);
                continue;
            };
            let (q, p, inflated_origin) = if slot.own.is_some() {
                let node = &self.nodes[slot.node as usize];
                let (q, p) = rigid_or_polar(k.matrix3);
                let q = quat_from_rotation(q);
                let q = if q.dot(node_motion.rotation) < 0.0 {
                    -q
                } else {
                    q
                };
                (
                    q,
                    p,
                    p * (origin - node.origin) + node_motion.inflated_origin,
                )
            } else {
                (
                    node_motion.rotation,
                    node_motion.stretch,
                    node_motion.inflated_origin,
                )
            };
            let (p, inflated_origin) = match stretch {
                Stretch::Inflate => (p, inflated_origin),
                Stretch::Drop => (DMat3::IDENTITY, origin),
            };
            let about = |origin: DVec3, inflated_origin: DVec3| Motion {
                rotation: q,
                translation: k.transform_point3(origin) - q * inflated_origin,
                stretch: p,
                origin,
                inflated_origin,
            };
            let motion = about(origin, inflated_origin);
            // A huge bind position (of an almost singular matrix) leaves no digits: split at the origin.
            palette.push(
                skin_matrix,
                if motion.reach() < 1e12 {
                    motion
                } else {
                    about(DVec3::ZERO, DVec3::ZERO)
                },
            );
        }
        palette.finish();
        palette.give_scratch(moving);
    }
}

/// The nearest bound joint at or below a joint.
#[derive(Clone, Copy)]
struct Nearest {
    steps: usize,
    skin_order: usize,
    joint: JointId,
}

impl Nearest {
    fn key(&self) -> (usize, usize) {
        (self.steps, self.skin_order)
    }
}

/// The median of the stretches; 1 where that is zero or not finite.
fn unit_scale(determinants: impl Iterator<Item = f64>) -> f64 {
    let mut stretches: Vec<f64> = determinants.map(|d| d.abs().cbrt()).collect();
    stretches.sort_by(f64::total_cmp);
    let n = stretches.len();
    let median = match n {
        0 => 1.0,
        _ => 0.5 * (stretches[(n - 1) / 2] + stretches[n / 2]),
    };
    if median.is_finite() && median >= 1e-12 {
        median
    } else {
        1.0
    }
}

fn rigid_or_polar(a: DMat3) -> (DMat3, DMat3) {
    let (q, p) = polar(a);
    // |a^T a - 1| is twice |p - 1|.
    if orthonormality_error(a) < 2.0 * RIGID_TOLERANCE && a.determinant() > 0.0 {
        (q, DMat3::IDENTITY)
    } else {
        (q, p)
    }
}

/// The inverse; `None` where there is none or it overflows.
fn invert(m: DAffine3) -> Option<DAffine3> {
    let det = m.matrix3.determinant();
    if det == 0.0 || !det.is_finite() {
        return None;
    }
    Some(m.inverse()).filter(DAffine3::is_finite)
}

fn finite_or_identity(m: DAffine3) -> DAffine3 {
    // The kernels hold it in f32.
    let fits = m.to_cols_array().iter().all(|v| v.abs() < 1e30);
    if fits { m } else { DAffine3::IDENTITY }
}
