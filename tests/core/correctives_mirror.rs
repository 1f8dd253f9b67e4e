//! Mirrored corrective samples: the mirrored pose has the mirrored shape, and mirroring twice changes nothing.

use glam::{DQuat, DVec3, Vec3};
use sinew::correctives::{self, Mirrored, NewSample};
use sinew::deform::capture;
use sinew::document::{Document, Edit, InstanceId, MeshId};
use sinew::evaluate::Evaluator;
use sinew::io::import_for_project;
use sinew::io::project::ModelSource;
use sinew::math::{Axis, Worse};
use sinew::mesh::Symmetry;
use sinew::psd::Displacements;
use sinew::skeleton::mirror::{Mirror, PosedJoint};
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use sinew::weights::operation::Mirroring;
use std::collections::BTreeSet;
use std::path::Path;

const ACROSS: Mirroring = Mirroring {
    axis: Axis::X,
    from_positive: true,
    tolerance: 0.01,
};

/// The rotations and displacements of a sample.
type Content = (Vec<DQuat>, Displacements);

struct Body {
    document: Document,
    mesh: MeshId,
    instance: InstanceId,
    symmetry: Symmetry,
}

impl Body {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/mannequin.glb");
        let (document, _) = import_for_project(ModelSource::File(&path), &Task::new()).unwrap();
        let skinned = document.instances().iter().find(|(_, i)| i.skin.is_some());
        let (&instance, of) = skinned.unwrap();
        let mesh = of.mesh;
        let geometry = &document.meshes()[&mesh].geometry;
        let symmetry = Symmetry::find(geometry, Axis::X, 0.01, &Task::new()).unwrap();
        Self {
            document,
            mesh,
            instance,
            symmetry,
        }
    }

    fn joint(&self, name: &str) -> JointId {
        let skeleton = self.document.skeleton();
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.label(j) == name).unwrap()
    }

    /// The rest pose with joints rotated about axes of their own.
    fn pose(&self, turns: &[(&str, DVec3)]) -> Pose {
        let mut pose = Pose::clone(self.document.rest_pose());
        for (name, turn) in turns {
            let local = &mut pose.locals[self.joint(name).get()];
            local.rotation *= DQuat::from_scaled_axis(*turn);
        }
        pose
    }

    fn mirrored_pose(&self, pose: &Pose) -> Pose {
        let mirror = Mirror::new(self.document.skeleton());
        let rest = self.document.rest_pose();
        let mut mirrored = Pose::clone(rest);
        for joint in self.document.skeleton().live_joints() {
            let partner = mirror.partner(joint).unwrap();
            let posed = PosedJoint {
                local: pose.locals[joint.get()],
                rest: rest.locals[joint.get()],
                spaces: mirror.rest_spaces(joint),
            };
            mirrored.locals[partner.get()] = posed.carried_to(
                &rest.locals[partner.get()],
                mirror.rest_spaces(partner),
                mirror.reflection(),
            );
        }
        mirrored
    }

    fn shape(&self, pose: &Pose) -> Vec<Vec3> {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&self.document, pose);
        evaluator.plan(self.instance).unwrap().positions().to_vec()
    }

    /// Adds a sample with a bump at these joints' points.
    fn sculpt(&mut self, pose: &Pose, bones: &[&str]) {
        let drivers: BTreeSet<JointId> = bones.iter().map(|b| self.joint(b)).collect();
        let (_, skin) = self.document.skin_of_mesh(self.mesh).unwrap();
        let item = &self.document.meshes()[&self.mesh];
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&self.document, pose);
        let plan = evaluator.plan(self.instance).unwrap();
        let weight = |point: u32| {
            let row = item.influences.row(point);
            let own = row
                .iter()
                .filter(|(slot, _)| drivers.contains(&skin.joints[usize::from(*slot)]));
            own.map(|(_, w)| w).sum::<f32>()
        };
        let base = (0..).zip(plan.base_positions().into_owned());
        let moved = base.filter_map(|(point, place)| {
            let w = weight(point);
            let bump = Vec3::new(0.3 + place.y, 0.2, place.x - 0.4) * 0.05 * w;
            (w > 0.05).then(|| (point, place + bump))
        });
        let moved: Vec<(u32, Vec3)> = moved.collect();
        let captured = capture(plan, &item.stack, &item.masks, &moved);
        let new = NewSample {
            name: None,
            drivers,
        };
        let added = correctives::add_sample(&self.document, self.mesh, &captured, pose, &new);
        self.apply(added.unwrap().edit);
    }

    fn apply(&mut self, mut edit: Edit) {
        self.document.apply(&mut edit).unwrap();
    }

    fn mirror(&self, samples: &[usize], flips: bool) -> Mirrored {
        let samples = samples.iter().copied().collect();
        let (document, mesh) = (&self.document, self.mesh);
        correctives::mirror(document, mesh, &samples, ACROSS, flips, &Task::new()).unwrap()
    }

    /// The largest distance of the shape in the mirrored pose from the mirrored shape.
    fn asymmetry(&self, pose: &Pose) -> f32 {
        let here = self.shape(pose);
        let there = self.shape(&self.mirrored_pose(pose));
        let apart = (0..).zip(&here).filter_map(|(point, place)| {
            let partner = self.symmetry.partner(point)?;
            let image = Vec3::new(-place.x, place.y, place.z);
            Some(image.distance(there[partner as usize]))
        });
        apart.fold(0.0, f32::worse)
    }

    /// Each set by name with the rotations and displacements of its samples.
    fn content(&self) -> Vec<(String, Vec<Content>)> {
        let sets = self.document.meshes()[&self.mesh]
            .correctives
            .sets()
            .to_vec();
        let mut all: Vec<_> = sets
            .iter()
            .map(|set| {
                let samples = set.samples.iter();
                let samples = samples.map(|s| (s.rotations.clone(), s.displacements.clone()));
                (set.name.clone(), samples.collect())
            })
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

fn assert_same(a: &Body, b: &Body) {
    let (a, b) = (a.content(), b.content());
    assert_eq!(a.len(), b.len());
    for ((name, a), (other, b)) in a.iter().zip(&b) {
        assert_eq!((name, a.len()), (other, b.len()));
        for ((rotations, a), (others, b)) in a.iter().zip(b) {
            for (p, q) in rotations.iter().zip(others) {
                assert!(p.dot(*q).abs() > 1.0 - 1e-12, "{name}: {p} {q}");
            }
            assert_eq!(a, b, "{name}");
        }
    }
}

const ELBOW: [(&str, DVec3); 1] = [("forearm.L", DVec3::new(0.2, 1.3, 0.4))];
const BENT: [(&str, DVec3); 3] = [
    ("upper_arm.L", DVec3::new(0.3, -0.4, 0.5)),
    ("forearm.L", DVec3::new(0.1, 0.8, 0.2)),
    ("chest", DVec3::new(0.2, 0.1, 0.3)),
];

#[test]
fn the_mirrored_pose_has_the_mirrored_shape() {
    let mut body = Body::new();
    assert_eq!(body.symmetry.counts().unmatched, 0);
    body.sculpt(&body.pose(&ELBOW), &["forearm.L"]);
    body.sculpt(&body.pose(&BENT), &["upper_arm.L"]);
    body.sculpt(
        &body.pose(&[("chest", DVec3::new(0.1, 0.5, 0.2))]),
        &["chest"],
    );
    let poses = [body.pose(&ELBOW), body.pose(&BENT)];
    let bare = Body {
        document: body.document.clone().without_correctives(),
        ..Body::new()
    };
    // The generated body and its skinning are symmetric to rounding.
    let own = poses
        .iter()
        .map(|pose| bare.asymmetry(pose))
        .fold(0.0, f32::worse);
    assert!(own < 2e-5, "{own}");
    assert!(body.asymmetry(&poses[0]) > 1e-3);
    let mirrored = body.mirror(&[0, 1, 2], false);
    assert_eq!((mirrored.n_mirrored, mirrored.n_unmatched), (3, 0));
    assert_eq!(mirrored.summary(), "3 samples mirrored.");
    body.apply(mirrored.edit.unwrap());
    for pose in &poses {
        let error = body.asymmetry(pose);
        assert!(error < 5e-5, "{error}");
        let error = body.asymmetry(&body.mirrored_pose(pose));
        assert!(error < 5e-5, "{error}");
    }
    let names: Vec<String> = body.content().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "chest",
            "forearm.L",
            "forearm.R",
            "upper_arm.L",
            "upper_arm.R"
        ]
    );
    // Once more, nothing is new.
    let again = body.mirror(&[0, 1], false);
    assert_eq!((again.edit.is_none(), again.n_mirrored), (true, 2));
    assert_eq!(
        again.summary(),
        "The samples of both sides are images of each other. Nothing changed."
    );
}

/// Only the given side is copied: what the other one has at other poses stays, and does not come across.
#[test]
fn of_two_sculpted_sides_the_given_one_is_copied() {
    let mut body = Body::new();
    body.sculpt(&body.pose(&ELBOW), &["forearm.L"]);
    let draft = body.mirrored_pose(&body.pose(&[("forearm.L", DVec3::new(0.1, 0.6, 0.3))]));
    body.sculpt(&draft, &["forearm.R"]);
    let samples = |body: &Body, name: &str| {
        let content = body.content();
        content.iter().find(|(set, _)| set == name).unwrap().1.len()
    };
    let mirrored = body.mirror(&[0, 1], false);
    assert_eq!(mirrored.n_mirrored, 1);
    let before = body.document.clone();
    body.apply(mirrored.edit.unwrap());
    assert_eq!(
        (samples(&body, "forearm.L"), samples(&body, "forearm.R")),
        (1, 2)
    );
    // From the other side.
    body.document = before;
    let side = |set| correctives::is_on_positive_side(&body.document, body.mesh, set, ACROSS);
    assert_eq!((side(0), side(1), side(2)), (Some(true), Some(false), None));
    let across = Mirroring {
        from_positive: false,
        ..ACROSS
    };
    let (document, mesh) = (&body.document, body.mesh);
    let all = [0, 1].into();
    let mirrored = correctives::mirror(document, mesh, &all, across, false, &Task::new());
    body.apply(mirrored.unwrap().edit.unwrap());
    assert_eq!(
        (samples(&body, "forearm.L"), samples(&body, "forearm.R")),
        (2, 1)
    );
}

#[test]
fn flipping_twice_changes_nothing() {
    let mut body = Body::new();
    body.sculpt(&body.pose(&ELBOW), &["forearm.L"]);
    body.sculpt(
        &body.pose(&[("forearm.L", DVec3::new(0.0, 0.6, 0.0))]),
        &["forearm.L"],
    );
    body.sculpt(
        &body.pose(&[("chest", DVec3::new(0.1, 0.5, 0.2))]),
        &["chest"],
    );
    body.sculpt(
        &body.pose(&[("spine.01", DVec3::new(0.6, 0.0, 0.0))]),
        &["spine.01"],
    );
    let before = Body {
        document: body.document.clone(),
        ..Body::new()
    };
    let flipped = body.mirror(&[0, 1, 2, 3], true);
    body.apply(flipped.edit.unwrap());
    assert!(body.content().iter().any(|(name, _)| name == "forearm.R"));
    assert!(body.content().iter().all(|(name, _)| name != "forearm.L"));
    let flipped = body.mirror(&[0, 1, 2, 3], true);
    body.apply(flipped.edit.unwrap());
    assert_same(&body, &before);
}

/// A pose that is its own image: the given side is copied to the other, in the same sample.
#[test]
fn a_symmetric_pose_gets_a_symmetric_shape() {
    let mut body = Body::new();
    let rest_x = {
        let spaces = Mirror::new(body.document.skeleton()).rest_spaces(body.joint("spine.01"));
        // The world's x axis in the bone's own space: bending about it stays in the plane.
        spaces[0].transpose() * DVec3::X
    };
    let pose = body.pose(&[("spine.01", rest_x * 0.7)]);
    body.sculpt(&pose, &["spine.01"]);
    assert!(body.asymmetry(&pose) > 1e-3);
    let mirrored = body.mirror(&[0], false);
    body.apply(mirrored.edit.unwrap());
    assert_eq!(
        body.document.meshes()[&body.mesh]
            .correctives
            .samples()
            .len(),
        1
    );
    let error = body.asymmetry(&pose);
    assert!(error < 5e-5, "{error}");
}

#[test]
fn a_bone_without_a_counterpart_is_named() {
    let mut body = Body::new();
    body.sculpt(&body.pose(&ELBOW), &["forearm.L"]);
    let mut edit = Edit::JointName {
        joint: body.joint("forearm.R"),
        name: "Stump".into(),
    };
    body.document.apply(&mut edit).unwrap();
    let samples = [0].into();
    let (document, mesh) = (&body.document, body.mesh);
    let refused = correctives::mirror(document, mesh, &samples, ACROSS, false, &Task::new());
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("\"forearm.L\" has no counterpart"), "{why}");
}
