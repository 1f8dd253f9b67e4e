//! Stage 8: the displacements of clusters by the muscles of their groups.

use super::corners::Corners;
use crate::cluster::procedural::{BindPoint, Bone, Muscle};
use crate::cluster::{ClusterMap, ControlNet, Flexion, MuscleLayer};
use crate::deform::stage::key::Identity;
use crate::deform::stage::run::Run;
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DVec3};

/// The muscles of all groups on their corners, and their displacements in the latest run.
#[derive(Default)]
pub(super) struct Muscles {
    layers: Vec<OnCorners>,
    /// One a corner, bind space at the size of the world, metres; empty without muscles.
    displacements: Vec<DVec3>,
    /// One a corner: whether a muscle moves it at some angle.
    moved: Vec<bool>,
    skeleton: Identity<Skeleton>,
    rest_world: Identity<Vec<DAffine3>>,
    /// Of each layer: its joints, and its bone at bind where the skin has both.
    bones: Vec<([JointId; 2], Option<Bone>)>,
    unit: f64,
}

/// A muscle on the corners of its group.
struct OnCorners {
    joints: [JointId; 2],
    /// That of [`crate::cluster::procedural::MuscleSettings::flexion`].
    side: Option<DVec3>,
    flexion: Flexion,
    corners: Vec<u32>,
    muscle: Muscle,
    /// At strength 1: one for each of `corners`.
    full: Vec<DVec3>,
    /// In the latest run; `None` before the first.
    strength: Option<f64>,
}

impl Muscles {
    /// The muscles of a map. One that cannot be evaluated is left out: a bone without length has no side to bulge on.
    pub(super) fn new(
        run: &Run<'_>,
        corners: &Corners,
        net: &ControlNet,
        map: &ClusterMap,
    ) -> Self {
        let acting = map.muscles().filter(|(_, muscle)| !muscle.muted);
        let (mut muscles, mut bones) = (Vec::new(), Vec::new());
        let areas = areas(net);
        for (group, layer) in acting {
            let of_group = (0u32..).zip(&corners.points);
            let of_group = of_group.filter(|(_, (_, of))| *of == Some(group));
            let which: Vec<u32> = of_group.map(|(corner, _)| corner).collect();
            let points: Vec<BindPoint> = which
                .iter()
                .map(|&corner| BindPoint {
                    position: net.positions[corner as usize],
                    normal: net.planes[corner as usize].normal,
                    area: areas[corner as usize],
                    mask: 1.0,
                })
                .collect();
            let joints = [layer.upper, layer.lower];
            let bone = bone(run, joints, corners.unit);
            bones.push((joints, bone));
            muscles.extend(bone.and_then(|b| OnCorners::new(run, layer, which, &points, b)));
        }
        let mut moved = vec![false; corners.len()];
        for muscle in &muscles {
            for (&corner, full) in muscle.corners.iter().zip(&muscle.full) {
                moved[corner as usize] |= *full != DVec3::ZERO;
            }
        }
        Self {
            layers: muscles,
            displacements: vec![DVec3::ZERO; corners.len()],
            moved,
            skeleton: Identity::of(Some(run.input.skeleton)),
            rest_world: Identity::of(Some(run.input.rest_world)),
            bones,
            unit: corners.unit,
        }
    }

    /// Whether their bones at bind are still those of the skin.
    pub(super) fn fit(&self, run: &Run<'_>) -> bool {
        let mut bones = self.bones.iter();
        bones.all(|&(joints, known)| bone(run, joints, self.unit) == known)
    }

    /// Whether there are any.
    pub(super) fn act(&self) -> bool {
        !self.layers.is_empty()
    }

    /// The displacement of a corner; `None` where no muscle moves it.
    pub(super) fn displacement(&self, corner: u32) -> Option<DVec3> {
        let moved = self.moved.get(corner as usize).copied()?;
        moved.then(|| self.displacements[corner as usize])
    }

    /// Brings the displacements to the pose; adds the corners that move to `stale`.
    pub(super) fn run(&mut self, run: &Run<'_>, stale: &mut Vec<u32>) {
        let input = run.input;
        if self.layers.is_empty() {
            return;
        }
        let same_rest =
            self.skeleton.is(Some(input.skeleton)) && self.rest_world.is(Some(input.rest_world));
        if !same_rest {
            self.skeleton = Identity::of(Some(input.skeleton));
            self.rest_world = Identity::of(Some(input.rest_world));
            for muscle in &mut self.layers {
                muscle.flexion = flexion(run, muscle.joints, muscle.side);
            }
        }
        let mut any = false;
        for muscle in &mut self.layers {
            let strength = muscle.muscle.strength(muscle.flexion.bend(input.world));
            if muscle.strength.map(f64::to_bits) != Some(strength.to_bits()) {
                muscle.strength = Some(strength);
                stale.extend_from_slice(&muscle.corners);
                any = true;
            }
        }
        if !any {
            return;
        }
        self.displacements.fill(DVec3::ZERO);
        for muscle in &self.layers {
            let strength = muscle.strength.unwrap_or(0.0);
            for (&corner, full) in muscle.corners.iter().zip(&muscle.full) {
                self.displacements[corner as usize] += *full * strength;
            }
        }
    }
}

impl OnCorners {
    fn new(
        run: &Run<'_>,
        layer: &MuscleLayer,
        corners: Vec<u32>,
        points: &[BindPoint],
        bone: Bone,
    ) -> Option<Self> {
        let muscle = Muscle::new(&layer.settings, bone, points).ok()?;
        Some(Self {
            joints: [layer.upper, layer.lower],
            side: layer.settings.flexion,
            flexion: flexion(run, [layer.upper, layer.lower], layer.settings.flexion),
            corners,
            full: muscle.full().to_vec(),
            muscle,
            strength: None,
        })
    }
}

/// The bend of two joints, positive to a side at bind where there is one.
fn flexion(run: &Run<'_>, joints: [JointId; 2], side: Option<DVec3>) -> Flexion {
    let flexion = Flexion::new(joints, run.input.skeleton, run.input.rest_world);
    let to_joint = run.input.skin.and_then(|skin| {
        let slot = skin.joints.iter().position(|&other| other == joints[0])?;
        Some(skin.inverse_bind.get(slot)?.matrix3)
    });
    match side.zip(to_joint) {
        Some((side, to_joint)) => flexion.toward_side(to_joint * side),
        None => flexion,
    }
}

/// The bone between two joints of the skin at bind, at the size of the world, metres.
pub(super) fn bone(run: &Run<'_>, joints: [JointId; 2], unit: f64) -> Option<Bone> {
    let skin = run.input.skin?;
    let place = |joint: JointId| {
        let slot = skin.joints.iter().position(|&other| other == joint)?;
        let at = skin.inverse_bind.get(slot)?.inverse().translation * unit;
        at.is_finite().then_some(at)
    };
    let [upper, lower] = joints.map(place);
    Some([upper?, lower?])
}

/// The area of the coarse surface that each corner stands for: a third of its patches.
fn areas(net: &ControlNet) -> Vec<f64> {
    let mut areas = vec![0.0; net.positions.len()];
    for triangle in &net.triangles {
        let [a, b, c] = triangle.map(|corner| net.positions[corner as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        for &corner in triangle {
            areas[corner as usize] += area / 3.0;
        }
    }
    areas
}
