//! Copying poses: between sides, and between models by the names of bones.

use super::Editor;
use crate::finding::counted;
use crate::skeleton::mirror::PosedJoint;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::DMat3;
use std::collections::HashMap;

/// A copied pose; it outlives the model it was copied from.
pub(super) struct PoseCopy {
    joints: Vec<CopiedJoint>,
}

struct CopiedJoint {
    joint: JointId,
    name: String,
    posed: PosedJoint,
}

impl Editor {
    /// Copies the pose of the selected bones, or of all without a selection. Returns their number.
    pub fn copy_pose(&mut self) -> usize {
        self.finish_tool();
        let chosen = self.joints_to_pose();
        let pose = self.document.free_pose();
        let rest = self.document.rest_pose();
        let mirror = self.mirror();
        let skeleton = self.document.skeleton();
        let joints: Vec<CopiedJoint> = skeleton
            .live_joints()
            .filter(|joint| chosen.is_empty() || chosen.contains(joint))
            .map(|joint| CopiedJoint {
                joint,
                name: skeleton.joint(joint).name.clone(),
                posed: PosedJoint {
                    local: pose.locals[joint.get()],
                    rest: rest.locals[joint.get()],
                    spaces: mirror.rest_spaces(joint),
                },
            })
            .collect();
        let n = joints.len();
        if n > 0 {
            self.notify(format!("Copied the pose of {}.", counted(n, "bone")));
            self.posing.copied = Some(PoseCopy { joints });
        }
        n
    }

    /// Whether a pose is copied.
    pub fn has_copied_pose(&self) -> bool {
        self.posing.copied.is_some()
    }

    /// Pastes the copied pose to bones of the same names; with `flipped`, mirrored to the other side. One undo step.
    /// Returns the number of bones found.
    pub fn paste_pose(&mut self, flipped: bool) -> usize {
        self.finish_tool();
        let start = self.document.free_pose();
        let Some(pasted) = self.pasted(&start, flipped) else {
            self.notify("No pose is copied. Copy one with Ctrl+C.");
            return 0;
        };
        let Pasted {
            pose,
            n_found,
            n_missing,
        } = pasted;
        let label = if flipped {
            "Paste pose flipped"
        } else {
            "Paste pose"
        };
        let missing = match n_missing {
            0 => String::new(),
            1 => "; 1 has no counterpart here".into(),
            n => format!("; {n} have no counterpart here"),
        };
        self.pose_at_once(pose, label);
        self.notify(format!("{label}: {}{missing}.", counted(n_found, "bone")));
        n_found
    }

    /// `start` with the pasted pose, as in [`Editor::paste_pose`]; `None` if none is copied.
    pub(super) fn pasted(&self, start: &Pose, flipped: bool) -> Option<Pasted> {
        let copied = self.posing.copied.as_ref()?;
        let rest = self.document.rest_pose();
        let mirror = self.mirror();
        let mut next = start.clone();
        let names = Names::new(self.document.skeleton());
        let (mut n_found, mut n_missing) = (0, 0);
        for copy in &copied.joints {
            let found = names.find(self.document.skeleton(), copy);
            let found = found.and_then(|j| if flipped { mirror.partner(j) } else { Some(j) });
            let Some(joint) = found else {
                n_missing += 1;
                continue;
            };
            n_found += 1;
            let (rest, spaces) = (&rest.locals[joint.get()], mirror.rest_spaces(joint));
            let same = !flipped && copy.posed.rest == *rest && copy.posed.spaces == spaces;
            next.locals[joint.get()] = if same {
                copy.posed.local
            } else {
                let map = if flipped {
                    mirror.reflection()
                } else {
                    DMat3::IDENTITY
                };
                copy.posed.carried_to(rest, spaces, map)
            };
        }
        Some(Pasted {
            pose: next,
            n_found,
            n_missing,
        })
    }
}

/// A pose with the pasted bones.
pub(super) struct Pasted {
    pub(super) pose: Pose,
    /// The number of copied bones that were found.
    n_found: usize,
    n_missing: usize,
}

/// The joints of a model by name.
struct Names {
    exact: HashMap<String, JointId>,
    /// By lower-case name without a namespace prefix that ends in a colon.
    loose: HashMap<String, JointId>,
}

impl Names {
    fn new(skeleton: &Skeleton) -> Self {
        let (mut exact, mut loose) = (HashMap::new(), HashMap::new());
        for joint in skeleton.live_joints() {
            let name = &skeleton.joint(joint).name;
            exact.entry(name.clone()).or_insert(joint);
            loose.entry(without_namespace(name)).or_insert(joint);
        }
        Self { exact, loose }
    }

    /// The joint of this model for a copied one: of several with its name, the one at its index.
    fn find(&self, skeleton: &Skeleton, copy: &CopiedJoint) -> Option<JointId> {
        let here = skeleton
            .is_live(copy.joint)
            .then(|| skeleton.joint(copy.joint));
        if here.is_some_and(|joint| joint.name == copy.name) {
            return Some(copy.joint);
        }
        if copy.name.is_empty() {
            return None;
        }
        let exact = self.exact.get(&copy.name);
        exact
            .or_else(|| self.loose.get(&without_namespace(&copy.name)))
            .copied()
    }
}

fn without_namespace(name: &str) -> String {
    let own = name.rsplit(':').next().unwrap_or(name);
    own.to_lowercase()
}
