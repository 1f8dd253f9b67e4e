//! The muscles of the active group: added on a bone, named, muted, shaped. Each change is one undo step.

use super::Editor;
use super::muscle_site::KnownSite;
use crate::cluster::MuscleLayer;
use crate::cluster::procedural::MuscleSettings;
use crate::skeleton::JointId;
use glam::DVec3;
use std::collections::BTreeMap;

/// The name of the undo step that changes which bends count.
const FLEXION: &str = "Flexion of muscle";

/// Where the active muscle lies.
#[derive(Default)]
pub(in crate::editor) struct Muscles {
    pub(super) site: KnownSite,
}

impl Editor {
    /// The muscles of the active group.
    pub fn muscles(&self) -> &[MuscleLayer] {
        self.group_layers()
    }

    /// The active muscle of the active group, and its index.
    pub fn active_muscle(&self) -> Option<(usize, &MuscleLayer)> {
        self.active_group_layer()
    }

    /// Makes a muscle of the active group active.
    pub fn choose_muscle(&mut self, muscle: usize) {
        self.choose_group_layer::<MuscleLayer>(muscle);
    }

    /// The bones that a muscle can lie on: a joint of the object's skin and one of its children there, in the order of
    /// the skeleton.
    pub fn muscle_bones(&self) -> Vec<[JointId; 2]> {
        let skin = self.clustered_mesh();
        let skin = skin.and_then(|mesh| self.document.skin_of_mesh(mesh));
        let Some((_, skin)) = skin else {
            return Vec::new();
        };
        let skeleton = self.document.skeleton();
        let joints = skeleton.live_joints().filter(|j| skin.joints.contains(j));
        joints
            .flat_map(|joint| {
                skeleton
                    .children(joint)
                    .iter()
                    .map(move |&child| [joint, child])
            })
            .filter(|[_, child]| skin.joints.contains(child))
            .collect()
    }

    /// The name of a bone: that of its joint, with that of its tail where the joint has several bones.
    pub fn muscle_bone_label(&self, [upper, lower]: [JointId; 2]) -> String {
        let skeleton = self.document.skeleton();
        let name = skeleton.label(upper);
        if skeleton.children(upper).len() < 2 && skeleton.joint(lower).parent == Some(upper) {
            name
        } else {
            format!("{name} to {}", skeleton.label(lower))
        }
    }

    /// The bone of the selected joints: from the upper to the lower of two, else that of the active one.
    pub fn selected_muscle_bone(&self) -> Option<[JointId; 2]> {
        let mesh = self.clustered_mesh()?;
        let (_, skin) = self.document.skin_of_mesh(mesh)?;
        let skeleton = self.document.skeleton();
        let selected = self.joints_to_pose().into_iter();
        let selected: Vec<JointId> = selected.filter(|j| skin.joints.contains(j)).collect();
        let is_above = |a: JointId, b: JointId| skeleton.ancestors(b).any(|above| above == a);
        if let [a, b] = selected[..] {
            if is_above(a, b) {
                return Some([a, b]);
            }
            if is_above(b, a) {
                return Some([b, a]);
            }
        }
        let active = self.document.session().active_joint;
        let joint = active
            .filter(|j| selected.contains(j))
            .or(selected.first().copied())?;
        self.bone_below(joint)
    }

    /// Adds a muscle to the active group, on the bone of the selected joints or else on the one that moves its clusters
    /// most, and makes it active. Returns whether it did.
    pub fn add_muscle(&mut self) -> bool {
        let Some(group) = self.group_to_bulge() else {
            return false;
        };
        let bone = self.selected_muscle_bone();
        let bone = bone.or_else(|| self.bone_of_group(group));
        let Some((joints, settings)) = bone.and_then(|bone| Some((bone, self.settings_on(bone)?)))
        else {
            self.notify(
                "Select the bone that the muscle runs along: a bone of the skin, with a child.",
            );
            return false;
        };
        let layer = MuscleLayer {
            name: self.free_layer_name::<MuscleLayer>("Muscle"),
            upper: joints[0],
            lower: joints[1],
            settings,
            muted: false,
        };
        self.push_group_layer(group, layer)
    }

    /// Deletes a muscle of the active group.
    pub fn delete_muscle(&mut self, muscle: usize) {
        self.delete_group_layer::<MuscleLayer>(muscle);
    }

    /// Renames a muscle of the active group. An empty name changes nothing.
    pub fn rename_muscle(&mut self, muscle: usize, name: &str) {
        self.rename_group_layer::<MuscleLayer>(muscle, name);
    }

    /// Mutes or unmutes a muscle of the active group.
    pub fn mute_muscle(&mut self, muscle: usize, muted: bool) {
        self.mute_group_layer::<MuscleLayer>(muscle, muted);
    }

    /// Puts a muscle of the active group on another bone, with the side to which that one bends and the same part of its
    /// limb's radius.
    pub fn set_muscle_bone(&mut self, muscle: usize, joints: [JointId; 2]) {
        let Some(known) = self.muscles().get(muscle).cloned() else {
            return;
        };
        let before = self
            .site_of([known.upper, known.lower])
            .map(|site| site.radius);
        let Some(fresh) = self.settings_on(joints) else {
            self.notify("A muscle runs along a bone between two joints of the object's skin.");
            return;
        };
        let after = self.site_of(joints).map(|site| site.radius);
        let label = format!("Bone of muscle · {}", self.muscle_bone_label(joints));
        self.change_muscle(muscle, &label, |layer| {
            [layer.upper, layer.lower] = joints;
            layer.settings.side = fresh.side;
            layer.settings.flexion = layer.settings.flexion.and(fresh.flexion);
            match before.zip(after) {
                Some((before, after)) => layer.settings.amplitude *= after / before,
                None => layer.settings.amplitude = fresh.amplitude,
            }
        });
    }

    /// The direction of the active muscle's bone, and the side from which angles around it count: that to which its
    /// second bone points in the rest pose. Bind space, unit; `None` without a muscle.
    pub fn muscle_turn_axes(&mut self) -> Option<(DVec3, DVec3)> {
        let site = self.muscle_site()?;
        Some((site.along(), site.modelled))
    }

    /// Turns a muscle of the active group to the side to which its joint bends.
    pub fn turn_muscle_to_bend(&mut self, muscle: usize) {
        let Some(known) = self.muscles().get(muscle) else {
            return;
        };
        if let Some(side) = self.flexor_side([known.upper, known.lower]) {
            self.set_muscle(muscle, "Side of muscle", |settings| {
                settings.side = side;
                settings.flexion = settings.flexion.map(|_| side);
            });
        }
    }

    /// Counts bends of a muscle's joint to one side alone as flexion, that to which it bends, or those to all sides.
    pub fn set_muscle_flexes(&mut self, muscle: usize, to_one_side: bool) {
        let Some(known) = self.muscles().get(muscle).cloned() else {
            return;
        };
        let side = self.found_flexor_side([known.upper, known.lower]);
        let side = side.unwrap_or(known.settings.side);
        self.set_muscle(muscle, FLEXION, |settings| {
            settings.flexion = to_one_side.then_some(side);
        });
    }

    /// Counts bends of a muscle's joint to the other side as flexion.
    pub fn flip_muscle_flexion(&mut self, muscle: usize) {
        self.set_muscle(muscle, FLEXION, |settings| {
            settings.flexion = settings.flexion.map(|side| -side);
        });
    }

    /// Changes the settings of a muscle of the active group, as one undo step or as part of the open one. What is out of
    /// its range is refused with the reason.
    pub fn set_muscle(
        &mut self,
        muscle: usize,
        label: &str,
        change: impl FnOnce(&mut MuscleSettings),
    ) -> bool {
        self.change_muscle(muscle, label, |layer| change(&mut layer.settings))
    }

    fn change_muscle(
        &mut self,
        muscle: usize,
        label: &str,
        change: impl FnOnce(&mut MuscleLayer),
    ) -> bool {
        self.change_group_layer(muscle, label, change)
    }

    /// The active group if a muscle can move it; else it says why not.
    fn group_to_bulge(&mut self) -> Option<u16> {
        let why = match (self.clustered_item(), self.active_group()) {
            (None, _) => "Select an object first.",
            (Some((mesh, _)), _) if self.document.skin_of_mesh(mesh).is_none() => {
                "The object has no skin, so it has no bone for a muscle. Bind it to bones first."
            }
            (Some(_), None) => "Mark vertices over the muscle first.",
            (Some((_, item)), Some(group)) => {
                if item.clusters.clusters().iter().any(|c| c.1 == group) {
                    return Some(group);
                }
                "The active group has no clusters. Mark vertices over the muscle first."
            }
        };
        self.notify(why);
        None
    }

    /// The defaults of a muscle on a bone.
    fn settings_on(&mut self, joints: [JointId; 2]) -> Option<MuscleSettings> {
        let side = self.flexor_side(joints)?;
        let radius = self.site_of(joints)?.radius;
        Some(MuscleSettings {
            flexion: self.found_flexor_side(joints),
            ..MuscleSettings::for_limb(radius, side)
        })
    }

    /// The bone from a joint to that of its children in the skin that has the most joints below it; for a joint without
    /// any, the bone to it.
    fn bone_below(&self, joint: JointId) -> Option<[JointId; 2]> {
        let bones = self.muscle_bones();
        let skeleton = self.document.skeleton();
        let n_below = |joint: JointId| {
            let joints = skeleton.live_joints();
            joints
                .filter(|&j| skeleton.ancestors(j).any(|above| above == joint))
                .count()
        };
        let below = bones.iter().filter(|[upper, _]| *upper == joint);
        // Of equals the first.
        let found = below.rev().max_by_key(|[_, lower]| n_below(*lower));
        found
            .or_else(|| bones.iter().find(|[_, lower]| *lower == joint))
            .copied()
    }

    /// The bone of the joint with the largest sum of weights over the clusters of a group.
    pub(super) fn bone_of_group(&self, group: u16) -> Option<[JointId; 2]> {
        let (mesh, item) = self.clustered_item()?;
        let (_, skin) = self.document.skin_of_mesh(mesh)?;
        let mut sums: BTreeMap<u16, f64> = BTreeMap::new();
        for (point, _) in item.clusters.clusters().iter().filter(|c| c.1 == group) {
            for (slot, weight) in item.influences.row(*point).iter() {
                *sums.entry(slot).or_default() += f64::from(weight);
            }
        }
        let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        self.bone_below(*skin.joints.get(usize::from(most.0))?)
    }
}
