//! Bones of a generated model -> joints, inverse bind matrices.
//!
//! Each joint's frame is Blender's: y along the bone, x the axis of its natural bend (an elbow forward, a knee
//! backward, a finger to the palm), z = x cross y.

use crate::document::parts::Skin;
use crate::math::Transform;
use crate::skeleton::{Joint, JointId, JointRule};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// One bone in the rest pose.
#[derive(Clone, Debug)]
pub(super) struct Bone {
    pub(super) name: String,
    pub(super) parent: Option<u16>,
    /// Position of the joint, metres.
    pub(super) head: DVec3,
    pub(super) tail: DVec3,
    /// The hinge axis; need not be perpendicular.
    pub(super) hinge: DVec3,
    /// Standard deviation of the weights' falloff across the joint, metres.
    pub(super) falloff: f64,
    /// Maximum distance from its own cones at which the bone influences a point of other cones, metres.
    pub(super) reach: f64,
    /// Its counterpart on the other side, or itself.
    pub(super) twin: u16,
}

/// Bones, parents before children.
#[derive(Clone, Debug, Default)]
pub(super) struct Rig {
    pub(super) bones: Vec<Bone>,
}

impl Bone {
    /// Unit vector from head to tail.
    pub(super) fn direction(&self) -> DVec3 {
        (self.tail - self.head).try_normalize().unwrap_or(DVec3::Y)
    }

    /// Rotation from the joint's space to the world.
    pub(super) fn frame(&self) -> DQuat {
        let y = self.direction();
        let z = self.hinge.cross(y).try_normalize().unwrap_or(DVec3::Z);
        let x = y.cross(z);
        DQuat::from_mat3(&DMat3::from_cols(x, y, z))
    }
}

impl Rig {
    /// Adds a bone and returns its index; its falloff fits cones of `radius`.
    pub(super) fn add(
        &mut self,
        name: &str,
        parent: Option<u16>,
        [head, tail]: [DVec3; 2],
        hinge: DVec3,
        radius: f64,
    ) -> u16 {
        let index = self.bones.len() as u16;
        self.bones.push(Bone {
            name: name.to_owned(),
            parent,
            head,
            tail,
            hinge,
            falloff: 0.63 * radius,
            reach: 0.5 * radius,
            twin: index,
        });
        index
    }

    /// Adds mirror images at -x of `left` (names end in ".L") and their descendants among `left`.
    pub(super) fn mirror(&mut self, left: std::ops::Range<u16>) {
        let shift = self.bones.len() as u16 - left.start;
        for i in left.clone() {
            let bone = self.bones[i as usize].clone();
            let flip = |v: DVec3| DVec3::new(-v.x, v.y, v.z);
            self.bones[i as usize].twin = i + shift;
            self.bones.push(Bone {
                name: bone.name.replace(".L", ".R"),
                parent: bone
                    .parent
                    .map(|p| if left.contains(&p) { p + shift } else { p }),
                head: flip(bone.head),
                tail: flip(bone.tail),
                // An axis of rotation is a pseudovector.
                hinge: DVec3::new(bone.hinge.x, -bone.hinge.y, -bone.hinge.z),
                twin: i,
                ..bone
            });
        }
    }

    /// The bone called `name`.
    pub(super) fn find(&self, name: &str) -> Option<u16> {
        self.bones
            .iter()
            .position(|b| b.name == name)
            .map(|i| i as u16)
    }

    /// The joints with their local rest transforms.
    pub(super) fn joints(&self) -> Vec<Joint> {
        self.bones
            .iter()
            .map(|bone| {
                let (frame, origin) = match bone.parent {
                    Some(p) => {
                        let parent = &self.bones[p as usize];
                        (parent.frame(), parent.head)
                    }
                    None => (DQuat::IDENTITY, DVec3::ZERO),
                };
                let to_parent = frame.conjugate();
                Joint {
                    name: bone.name.clone(),
                    parent: bone.parent.map(|p| JointId(u32::from(p))),
                    rest: Transform::from_rotation_translation(
                        to_parent * bone.frame(),
                        to_parent * (bone.head - origin),
                    ),
                    source_node: None,
                    content_of: None,
                    removed: false,
                    rule: JointRule::default(),
                }
            })
            .collect()
    }

    /// A skin of all joints, in order.
    pub(super) fn skin(&self, name: &str) -> Skin {
        Skin {
            name: name.to_owned(),
            joints: (0..self.bones.len() as u32).map(JointId).collect(),
            inverse_bind: self
                .bones
                .iter()
                .map(|bone| {
                    let to_joint = bone.frame().conjugate();
                    DAffine3::from_rotation_translation(to_joint, to_joint * -bone.head)
                })
                .collect(),
        }
    }
}
