//! Project files that must open for ever, with the models they refer to.

use glam::{DMat3, DVec3, Vec2, Vec3};
use sinew::cluster::{self, Base, Glyph};
use sinew::correctives;
use sinew::deform::{
    CorrectiveSmooth, DeformStack, MaskKind, ScaleMode, SkinningMethod, StackChoice, StackPreset,
};
use sinew::document::session::{
    self, BlendTarget, BrushKind, BrushOptions, Normalising, PaintMask, PaintTarget, PaintedBones,
    PointsOfMeshes, PoseOptions, PoseSpace, Pressure, RadiusUnit, SelectKind, SmoothedBones,
    TransformKind,
};
use sinew::document::{ClipId, Document, InstanceId, LayerId, MeshId, PaneLayout};
use sinew::finding::{Finding, Place, SampleFix};
use sinew::io::import_for_project;
use sinew::io::project::{
    ModelSource, Opened, apply_project, open, parse, save, to_project, to_text,
};
use sinew::math::Axis;
use sinew::psd::{DriverMode, Kernel};
use sinew::skeleton::constraint::{Constraint, EulerOrder, Rule};
use sinew::skeleton::{Interpolation, JointId, JointRule, Property, RigidInterpolation};
use sinew::skinning::{BulgeProjection, Compensation, Polynomial, TwistDamping, Variant};
use sinew::task::Task;
use sinew::weights::curve::Curve;
use sinew::weights::falloff::Falloff;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn opened(path: &Path) -> Opened {
    open(path, &Task::new(), import_for_project)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The document of `tests/data/NAME`, which opens without a finding, but for compensation as published: up to version 8 it
/// had another sign.
fn frozen(name: &str) -> Document {
    let path = in_repository("tests/data").join(name);
    let opened = opened(&path);
    let fingerprint = opened.document.source().map(|source| source.fingerprint);
    assert!(!opened.source_changed, "the model is now {fingerprint:x?}");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.retain(|c| !c.is_whitespace());
    let is_old = ["(version:9,", "(version:10,"]
        .iter()
        .all(|new| !text.starts_with(new));
    let had_other_sign = is_old && text.contains("enabled:true,variant:Published,polynomial");
    let is_said = |f: &Finding| {
        f.message
            .starts_with("Bulge compensation \"as published\" is now")
    };
    assert!(opened.findings.iter().all(is_said), "{:?}", opened.findings);
    assert_eq!(!opened.findings.is_empty(), had_other_sign, "{name}");
    opened.document
}

/// What the frozen projects of versions 1 and 2 hold.
fn assert_common(document: &Document) {
    let item = &document.meshes()[&MeshId(0)];
    let row = |vertex: usize| {
        let row = item.influences.row(item.geometry.point_of_vertex[vertex]);
        (row.joints.to_vec(), row.weights.to_vec())
    };
    assert_eq!(row(2), (vec![0, 1], vec![0.9, 0.1]));
    assert_eq!(row(3), (vec![1], vec![1.0]));
    assert_eq!(row(4), (vec![0, 1], vec![0.25, 0.75]));
    assert_eq!(row(5), (vec![1, 0], vec![0.875, 0.125f32.next_up()]));
    assert_eq!(item.edited_points().len(), 4);

    let locals = &document.pose().locals;
    assert_eq!(locals[0].translation, DVec3::new(0.1, 0.2, 0.3));
    assert_eq!(locals[0].scale(), DVec3::new(1.0, 2.0, 1.0));
    assert_eq!(locals[1].rotation.to_array(), [0.0, 0.0, 0.6, 0.8]);
    let columns = [1.0, 0.25, 0.0, 0.25, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(locals[1].stretch, DMat3::from_cols_array(&columns));

    assert_eq!(document.skeleton().joint(JointId(1)).name, "Forearm");
    assert!(document.locked().iter().eq(&[JointId(0)]));

    assert_eq!(document.clips().len(), 2);
    let bend = &document.clips()[&ClipId(1)];
    assert_eq!(bend.name, "Bend more");
    assert_eq!(bend.channels[0].joint, JointId(1));
    assert_eq!(bend.channels[0].property, Property::Rotation);
    assert_eq!(*bend.channels[0].times, [0.0, 0.5]);
    let values = [0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8];
    assert_eq!(*bend.channels[0].values, values);
    let rise = &document.clips()[&ClipId(2)].channels[0];
    assert_eq!(rise.interpolation, Interpolation::Step);
    assert_eq!(*rise.times, [0.0, 1.5]);
    assert_eq!(*rise.values, [0.0, 0.0, 0.0, 0.0, 1e-7, 0.0]);

    let session = document.session();
    assert_eq!(session.camera.target.to_array(), [0.0, 1.0, 0.0]);
    assert_eq!(
        (session.camera.distance, session.camera.orthographic),
        (4.0, true)
    );
    assert_eq!(session.playback.clip, Some(ClipId(2)));
    assert_eq!(
        (session.playback.time_secs, session.playback.speed),
        (0.75, 0.5)
    );
    assert!(!session.playback.looping && !session.playback.playing);
    assert_eq!(
        (session.brush.weight, session.brush.falloff),
        (0.25, Falloff::Sharp)
    );
    assert_eq!(session.active_joint, Some(JointId(1)));
    assert_eq!(session.active_mesh, Some(MeshId(0)));
    assert_eq!(session.selected_joints.len(), 2);
}

/// Do not change `project-v1.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_1_opens() {
    let document = frozen("project-v1.ron");
    assert_common(&document);
    let item = &document.meshes()[&MeshId(0)];
    let expected = DeformStack {
        scale: ScaleMode::Drop,
        ..DeformStack::bare(SkinningMethod::Lbs)
    };
    assert_eq!(*item.stack, expected, "it looks as it did");
    assert!(item.masks.iter().next().is_none());
    let mut joints = document.skeleton().joints().iter();
    assert!(joints.all(|joint| joint.rule == JointRule::default()));
    assert_eq!(document.session().brush.target, PaintTarget::Weights);
}

/// Do not change `project-v2.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_2_opens() {
    let document = frozen("project-v2.ron");
    assert_common(&document);
    let item = &document.meshes()[&MeshId(0)];
    let expected = DeformStack {
        method: SkinningMethod::Blend,
        scale: ScaleMode::TwoPhase,
        blend: 0.75,
        compensation: Compensation {
            enabled: true,
            variant: Variant::Published,
            polynomial: Polynomial::Custom { c1: 1.5, c2: -4.0 },
            strength: 1.25,
            twist: TwistDamping::Sine,
            third_bone_fade: false,
            fold_guard: false,
            auto_strength: true,
            siblings: true,
        },
        projection: BulgeProjection {
            enabled: true,
            variant: Variant::Corrected,
            power: 4.0,
            sibling_fade: true,
            strength: 0.5,
        },
        smooth: CorrectiveSmooth {
            enabled: true,
            factor: 0.25,
            iterations: 7,
            strength: 0.5,
        },
    };
    assert_eq!(*item.stack, expected);
    let value = |kind, vertex: usize| {
        let point = item.geometry.point_of_vertex[vertex];
        item.masks.value(kind, point)
    };
    let all = |kind| [0, 1, 2, 3, 4, 5].map(|vertex| value(kind, vertex));
    assert_eq!(all(MaskKind::Blend), [0.0, 1.0, 0.75, 1.0, 1.0, 1.0]);
    assert_eq!(all(MaskKind::Compensation), [1.0, 1.0, 1.0, 2.0, 0.25, 1.5]);
    assert_eq!(item.masks.iter().count(), 2);
    let rule = JointRule {
        tail: Some(DVec3::new(0.0, 0.5, 0.25)),
        compensates_scale: true,
        inflation_parent: Some(JointId(0)),
        ..JointRule::default()
    };
    assert_eq!(document.skeleton().joint(JointId(1)).rule, rule);
    let brush = &document.session().brush;
    assert_eq!(brush.target, PaintTarget::Mask(MaskKind::Compensation));
    assert_eq!(brush.value(), 1.5);
}

/// Do not change `project-v3.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_3_opens() {
    let document = frozen("project-v3.ron");
    let item = &document.meshes()[&MeshId(0)];
    let layers = item.layers.layers();
    let titles: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(titles, ["Base", "Elbow", "Off"]);
    let elbow = &layers[1];
    assert_eq!((elbow.id, elbow.opacity), (LayerId(2), 0.75));
    assert_eq!(item.layers.solo(), Some(LayerId(2)));
    let point = |vertex: usize| item.geometry.point_of_vertex[vertex];
    assert_eq!(elbow.rows.row(point(1)).weights, [0.5, 0.5]);
    assert_eq!(elbow.rows.row(point(3)).joints, [0]);
    assert_eq!(elbow.mask.get(point(1)), 0.5);
    let mirror = elbow.mirror.as_ref().unwrap();
    assert_eq!((mirror.axis(), mirror.centre()), (Axis::X, 0.25));
    assert_eq!(mirror.joints().unpaired, [1]);
    assert!(layers[2].muted);
    let clip = &document.clips()[&ClipId(2)];
    assert_eq!(
        (clip.rigid_interpolation, clip.preview),
        (RigidInterpolation::ScrewDlb, true)
    );

    let session = document.session();
    let playback = &session.playback;
    assert_eq!((playback.range, playback.fps), (Some((0.25, 1.25)), 24));
    let brush = BrushOptions {
        target: PaintTarget::LayerMask,
        mask_values: session.brush.mask_values,
        weights_kind: BrushKind::Gradient,
        map_kind: BrushKind::Smooth,
        weight: 0.25,
        strength: 0.5,
        radius_px: 30.0,
        radius_world: 0.125,
        radius_unit: RadiusUnit::World,
        falloff: Falloff::Custom,
        curve: Curve::new(&[(0.0, 1.0), (0.25, 0.5), (1.0, 0.0)].map(Vec2::from)),
        spacing: 0.25,
        falloff_shape: session::FalloffShape::Volume,
        front_faces_only: false,
        xray: true,
        accumulate: true,
        floor: 0.125,
        ceiling: 0.875,
        normalise: Normalising::OnRelease,
        max_influences: 3,
        symmetry: Some(Axis::Z),
        mask: PaintMask::Faces,
        bones: PaintedBones::Active,
        smoothed: SmoothedBones::All,
        pressure: Pressure::Both,
    };
    assert_eq!(session.brush, brush);
    assert_eq!(brush.value(), 0.25);
    assert_eq!(brush.mask_values.get(MaskKind::Compensation), 1.5);
    assert_eq!(session.active_layers[&MeshId(0)], LayerId(2));
    let joints = |set: &BTreeSet<JointId>| set.iter().map(|j| j.0).collect::<Vec<_>>();
    assert_eq!(session.active_joint, Some(JointId(1)));
    assert_eq!(joints(&session.selected_joints), [0]);
    assert_eq!(joints(&session.pins), [1]);
    assert_eq!(joints(&session.hidden_joints), [2]);
    assert_eq!(session.joint_colours[&JointId(1)], [255, 128, 0]);
    assert_eq!(session.joint_pairs[&JointId(0)], JointId(1));
    assert!(session.hidden_instances.contains(&InstanceId(2)));
    let pose = PoseOptions {
        gizmo: TransformKind::Move,
        space: PoseSpace::Parent,
        blend_target: BlendTarget::KeyAfter,
        blend_interpolation: RigidInterpolation::Components,
    };
    assert_eq!(session.pose, pose);
    assert_eq!(session.select_kind, SelectKind::Points);
    assert!(session.select_through);
    let count = |sets: &PointsOfMeshes| sets[&MeshId(0)].iter().count();
    assert_eq!(count(&session.selected_points), 3);
    assert_eq!(count(&session.hidden_points), 1);
    let compare = &session.compare;
    assert_eq!(
        (compare.layout, compare.elsewhere, compare.wipe),
        (PaneLayout::Wipe, PaneLayout::Four, 0.25)
    );
    let preset = StackChoice::Preset;
    assert_eq!(compare.before, preset(StackPreset::Projection));
    let mut stack = DeformStack::bare(SkinningMethod::CentresOfRotation);
    stack.smooth = CorrectiveSmooth {
        enabled: true,
        factor: 0.25,
        iterations: 7,
        strength: 0.5,
    };
    let choices = [
        StackChoice::Project,
        preset(StackPreset::Compensation),
        StackChoice::Custom(Arc::new(stack)),
        preset(StackPreset::Default),
    ];
    assert_eq!(compare.choices, choices);
}

/// Do not change `project-v4.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_4_opens() {
    let document = frozen("project-v4.ron");
    let skeleton = document.skeleton();
    let (gone, mid, tip) = (JointId(3), JointId(4), JointId(5));
    assert_eq!((skeleton.len(), skeleton.n_live()), (6, 5));
    assert!(skeleton.joint(gone).removed);
    assert_eq!(skeleton.joint(mid).parent, Some(JointId(0)));
    assert_eq!(skeleton.joint(JointId(1)).parent, Some(mid));
    let joint = skeleton.joint(tip);
    assert_eq!(
        (joint.name.as_str(), joint.parent),
        ("Tip", Some(JointId(1)))
    );
    assert_eq!(joint.source_node, None);
    assert_eq!(joint.rest.translation, DVec3::new(0.0, 0.5, 0.25));
    assert_eq!(joint.rule.inflation_parent, Some(JointId(1)));
    assert_eq!(document.pose().locals[tip.get()].translation.x, 0.125);
    let (_, skin) = document.skin_of_mesh(MeshId(0)).unwrap();
    assert_eq!(skin.joints, [0, 1, 3, 4, 5].map(JointId));
    assert!(document.locked().iter().eq(&[tip]));
    let nod = &document.clips()[&ClipId(3)];
    assert_eq!((nod.name.as_str(), nod.channels[1].joint), ("Nod", tip));
    let layers = document.meshes()[&MeshId(0)].layers.layers();
    assert_eq!(layers.len(), 3);
    let session = document.session();
    assert_eq!(session.active_joint, Some(tip));
    assert!(session.selected_joints.iter().eq(&[JointId(0), tip]));
    assert!(session.hidden_joints.iter().eq(&[mid]));
    assert_eq!(session.joint_pairs[&tip], JointId(0));
    assert_written_alike("project-v4.ron", &document);
}

/// Do not change `project-v5.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_5_opens() {
    let document = frozen("project-v5.ron");
    let item = &document.meshes()[&MeshId(0)];
    let [elbow, tip] = item.correctives.sets() else {
        panic!("{:?}", item.correctives)
    };
    let (lower, new) = (JointId(1), JointId(5));
    let driver = elbow.drivers[0];
    assert_eq!(
        (driver.joint, driver.relative_to),
        (lower, Some(JointId(4)))
    );
    assert_eq!(
        (driver.mode, driver.lambda),
        (DriverMode::Hinge(DVec3::Z), 2.0)
    );
    assert_eq!(
        (elbow.name.as_str(), elbow.kernel),
        ("Elbow", Kernel::Linear)
    );
    assert_eq!((elbow.radius, elbow.smoothing), (1.5, 0.001));
    assert_eq!((elbow.clamp, elbow.fade), ([-0.25, 1.25], true));
    assert!(!elbow.weighted);
    let [bent, back] = &elbow.samples[..] else {
        panic!("{:?}", elbow.samples)
    };
    assert_eq!(
        (bent.name.as_str(), bent.strength, bent.muted),
        ("Bent", 1.0, false)
    );
    assert_eq!(bent.rotations[0].to_array(), [0.0, 0.0, 0.6, 0.8]);
    let point = |vertex: usize| item.geometry.point_of_vertex[vertex];
    let moved: BTreeMap<_, _> = bent.displacements.iter().collect();
    assert_eq!(moved[&point(2)].to_array(), [0.0, 0.25, -0.5]);
    assert_eq!(moved[&point(5)].to_array(), [0.125, 0.0, 0.0]);
    assert_eq!(bent.beside[0].0, new);
    assert!(!bent.is_on_other_stack(&item.stack) && back.is_on_other_stack(&item.stack));
    assert_eq!((back.strength, back.muted), (0.5, true));
    let driver = tip.drivers[0];
    assert_eq!((driver.joint, driver.relative_to), (new, Some(lower)));
    assert_eq!(
        (driver.mode, tip.kernel),
        (DriverMode::Ball, Kernel::MultiQuadric)
    );
    assert_written_alike("project-v5.ron", &document);
}

/// Do not change `project-v6.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_6_opens() {
    let document = frozen("project-v6.ron");
    let item = &document.meshes()[&MeshId(0)];
    let [elbow, tip] = item.correctives.sets() else {
        panic!("{:?}", item.correctives)
    };
    assert_eq!((elbow.weighted, elbow.fade), (true, true));
    assert!(!tip.weighted);
    assert_written_alike("project-v6.ron", &document);
}

/// Do not change `project-v7.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_7_opens() {
    let document = frozen("project-v7.ron");
    let item = &document.meshes()[&MeshId(0)];
    let map = &item.clusters;
    let [skin, arm] = map.groups() else {
        panic!("{map:?}")
    };
    assert_eq!((skin.name.as_str(), arm.name.as_str()), ("Skin", "Arm"));
    assert_eq!((skin.base, arm.base), (Base::Stack, Base::Lbs));
    assert_eq!((skin.glyph, arm.glyph), (Glyph::Circle, Glyph::Star));
    assert_eq!(arm.colour, [1, 2, 255]);
    assert_eq!(arm.muscles.len(), 1);
    assert_eq!(arm.muscles[0].settings.envelope.end, 2.0);
    let group = |vertex: usize| map.group_of(item.geometry.point_of_vertex[vertex]);
    assert_eq!([0, 3, 4, 5].map(group), [Some(0), Some(1), Some(1), None]);
    let settings = map.settings();
    assert_eq!(settings.interpolation, cluster::Interpolation::PointNormal);
    assert!(settings.positions_only && !settings.couples_normals);
    assert_written_alike("project-v7.ron", &document);
}

/// Do not change `project-v8.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_8_opens() {
    let document = frozen("project-v8.ron");
    let item = &document.meshes()[&MeshId(0)];
    let [_, arm, markers] = item.clusters.groups() else {
        panic!("{:?}", item.clusters)
    };
    let (_, record) = document.recordings().first_key_value().unwrap();
    assert_eq!(record.recording().unwrap().n_channels(), 3);
    let [angle, twist, reach, pulse, time] = &arm.drivers[..] else {
        panic!("{:?}", arm.drivers)
    };
    let lower = JointId(1);
    assert_eq!(angle.joints(), [lower]);
    assert_eq!(angle.settings.to, std::f64::consts::FRAC_PI_2);
    assert_eq!(twist.settings.curve.as_ref().unwrap().keys[1], [0.5, 0.25]);
    assert!(twist.muted && !angle.muted);
    assert_eq!(reach.bone, Some([JointId(0), lower]));
    assert_eq!(reach.points(), [item.geometry.point_of_vertex[6]]);
    let played = pulse.played.unwrap();
    assert_eq!((played.start, played.sampling.max_gap), (0.5, Some(2.0)));
    assert_eq!(pulse.weights, [(item.geometry.point_of_vertex[3], 0.5)]);
    assert_eq!(pulse.settings.fade.hold, 0.5);
    assert_eq!(time.settings.gain, 0.01);
    assert_eq!(markers.base, Base::Data);
    let [wrist, level] = &markers.data[..] else {
        panic!("{:?}", markers.data)
    };
    assert_eq!(
        (wrist.fit, wrist.reference),
        (cluster::Fit::Similarity, Some(1.0))
    );
    assert_eq!(wrist.bindings[0].axes.label(), "X, Z, -Y");
    assert!(level.muted && level.bindings.len() == 3);
    assert_written_alike("project-v8.ron", &document);
}

/// Do not change `project-v9.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_9_opens() {
    let document = frozen("project-v9.ron");
    let item = &document.meshes()[&MeshId(0)];
    let [.., pulled, latticed, caged] = item.clusters.groups() else {
        panic!("{:?}", item.clusters)
    };
    assert_eq!(
        [pulled, latticed, caged].map(|group| group.base),
        [Base::Hand, Base::Lattice, Base::Cage]
    );
    let clip = ClipId(1);
    let point = item.geometry.point_of_vertex[1];
    assert_eq!(pulled.hand.still()[..], [(point, Vec3::Z * 0.25)]);
    assert_eq!(
        pulled.hand.keys(clip)[1].offsets[..],
        [(point, Vec3::X * 0.5)]
    );
    let lattice = latticed.lattice.as_ref().unwrap();
    assert_eq!(lattice.settings.counts, [2, 3, 2]);
    assert_eq!(lattice.settings.outside, cluster::lattice::Outside::Nearest);
    assert_eq!(lattice.settings.edges[2].to_array(), [0.0, 0.25, 1.0]);
    assert_eq!(
        lattice.motion.keys(clip)[0].offsets[1],
        (11, Vec3::Y * 0.25)
    );
    let cage = caged.cage.as_ref().unwrap();
    let source = cluster::CageSource::Object("Shell".into());
    assert_eq!(*cage.mesh.source(), source);
    assert_eq!(
        (cage.mesh.vertices().len(), cage.mesh.triangles().len()),
        (4, 4)
    );
    assert_eq!(cage.motion.still()[..], [(3, Vec3::Z * -0.25)]);
    assert_written_alike("project-v9.ron", &document);
}

/// Do not change `project-v10.ron`, nor what it is expected to hold: artists have such files.
#[test]
fn version_10_opens() {
    let document = frozen("project-v10.ron");
    let joints = ["Lower", "Upper_02", "Tip"].map(|name| {
        let mut joints = document.skeleton().live_joints();
        let source = |j: JointId| document.source_skeleton().joints().get(j.get());
        let is_named =
            |j: &JointId| source(*j).unwrap_or(document.skeleton().joint(*j)).name == name;
        joints.find(is_named).unwrap()
    });
    let [lower, middle, tip] = joints.map(|joint| document.constraints_of(joint).to_vec());
    let labels = |list: &[Constraint]| -> Vec<(&str, bool)> {
        list.iter().map(|c| (c.rule.label(), c.is_muted)).collect()
    };
    assert_eq!(
        labels(&lower),
        [
            ("Copy Location", true),
            ("Limit Swing and Twist", false),
            ("Two-Bone IK", true)
        ]
    );
    assert_eq!(
        labels(&middle),
        [("Track To", true), ("Limit Rotation", false)]
    );
    assert_eq!(
        middle[1].rule,
        Rule::LimitAngles {
            ranges: [[-0.5, 0.5], [0.0, 0.0], [-1.0, 0.25]],
            order: EulerOrder::Xyz
        }
    );
    assert_eq!(tip.len(), 5);
    assert_eq!((tip[0].influence, tip[3].influence), (0.5, 1.0));
    let shared = Rule::TwistShare {
        source: joints[0],
        axis: DVec3::Y,
        share: -0.5,
        centre: 1.5,
    };
    assert_eq!(tip[3].rule, shared);
    assert_written_alike("project-v10.ron", &document);
}

/// A set that cannot be solved, and one whose driver bone is gone, are off; saved again they are as they were, and they
/// act again when mended.
#[test]
fn sample_sets_that_are_off_stay_in_the_project() {
    let path = in_repository("tests/data/project-v5.ron");
    let text = std::fs::read_to_string(&path).unwrap();
    let model = in_repository("tests/data/strip.gltf");
    let open = |text: &str| {
        let source = ModelSource::File(&model);
        let (document, _) = import_for_project(source, &Task::new()).unwrap();
        apply_project(document, parse(text).unwrap()).unwrap()
    };
    let up = "(name: \"Up\", rotations: [(0.6, 0.0, 0.0, 0.8)]";
    let at_bind = "(name: \"Up\", rotations: [(0.0, 0.0, 0.0, 1.0)]";
    let lower = "(joint: (1, \"Lower\"), relative_to";
    let gone = "(joint: (77, \"Gone\"), relative_to";
    let faulty = text.replacen(up, at_bind, 1).replacen(lower, gone, 1);
    assert!(faulty.contains(at_bind) && faulty.contains(gone));
    let (document, mut findings) = open(&faulty);
    assert!(findings.remove(0).to_string().contains("as published"));
    let said: Vec<_> = findings.iter().map(ToString::to_string).collect();
    let [elbow, tip] = &said[..] else {
        panic!("{said:?}")
    };
    assert!(
        elbow.starts_with("error: corrective samples \"Elbow\" of mesh \"Strip\": The set is off, its 2 samples stay"),
        "{elbow}"
    );
    assert!(
        elbow.contains("the driver bone \"Gone\" is missing"),
        "{elbow}"
    );
    assert!(
        tip.contains("\"Tip\"") && tip.contains("correct the bind mesh"),
        "{tip}"
    );
    assert_written_alike_text(&faulty, &path, &document);
    // They move nothing, and Problems has them with a fix.
    let correctives = document.meshes()[&MeshId(0)].correctives.clone();
    assert!(!correctives.acts() && correctives.off().count() == 2);
    assert!(
        findings
            .iter()
            .all(|f| f.fix.is_some() && f.target.is_some())
    );
    // The fix of the second deletes its sample at bind; undo brings it back.
    let Some(Place::Samples { samples, .. }) = &findings[1].target else {
        panic!("{:?}", findings[1])
    };
    let fix = correctives::fix(
        &document,
        MeshId(0),
        samples,
        SampleFix::Delete,
        &Task::new(),
    );
    let mut edit = fix.unwrap().edit.unwrap();
    let mut mended = document.clone();
    mended.apply(&mut edit).unwrap();
    let now = &mended.meshes()[&MeshId(0)].correctives;
    let off: Vec<_> = now.off().map(|(set, _)| set.name.as_str()).collect();
    assert_eq!(off, ["Elbow"]);
    mended.apply(&mut edit).unwrap();
    assert!(mended.same_content(&document));
    // With its bone the first set is what it was.
    let saved = to_text(&to_project(&document, Some(&path)).unwrap()).unwrap();
    let back = saved.replacen(gone, lower, 1).replacen(at_bind, up, 1);
    let (healed, findings) = open(&back);
    assert_eq!(findings, []);
    assert_written_alike_text(&text, &path, &healed);
}

/// Saved again, the project differs from its frozen file in the versions alone.
fn assert_written_alike(name: &str, document: &Document) {
    let path = in_repository("tests/data").join(name);
    let saved = std::fs::read_to_string(&path).unwrap();
    assert_written_alike_text(&saved, &path, document);
}

fn assert_written_alike_text(saved: &str, path: &Path, document: &Document) {
    let text = to_text(&to_project(document, Some(path)).unwrap()).unwrap();
    let without_versions = |text: &str| {
        let is_version =
            |line: &&str| line.starts_with("    app: ") || line.starts_with("    version: ");
        let lines = text.lines().filter(|line| !is_version(line));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_versions(&text), without_versions(saved));
}

/// Opened, saved in the newest version and opened again, every frozen project is as it was.
#[test]
fn every_version_is_saved_and_opens_again() {
    for version in 1..=10 {
        let before = frozen(&format!("project-v{version}.ron"));
        let text = to_text(&to_project(&before, None).unwrap()).unwrap();
        assert!(text.starts_with("(\n    version: 11,"), "{text}");
        let model = in_repository("tests/data/strip.gltf");
        let import = || {
            import_for_project(ModelSource::File(&model), &Task::new())
                .unwrap()
                .0
        };
        let (after, findings) = apply_project(import(), parse(&text).unwrap()).unwrap();
        assert_eq!(findings, [], "version {version}");
        assert_eq!(after.session(), before.session(), "version {version}");
        assert_eq!(contents(&after), contents(&before), "version {version}");
        let again = to_text(&to_project(&after, None).unwrap()).unwrap();
        assert_eq!(again, text, "version {version}");
    }
}

/// What [`Document::same_content`] compares, of documents that were imported each on its own.
fn contents(document: &Document) -> impl PartialEq + std::fmt::Debug {
    let item = &document.meshes()[&MeshId(0)];
    let rows = item
        .influences
        .iter()
        .map(|row| row.iter().collect::<Vec<_>>());
    (
        document.skeleton().clone(),
        document.pose().clone(),
        document.clips().clone(),
        document.locked().clone(),
        document.constraints().clone(),
        rows.collect::<Vec<_>>(),
        item.stack.clone(),
        format!("{:?} {:?}", item.masks, item.layers),
    )
}

/// The projects in the repository open over the models in `assets/` and are written as they are.
///
/// When those models change: `SINEW_UPDATE_PROJECTS=1` saves them over the new ones; look at them before they go in.
#[test]
fn the_projects_of_the_repository_open_and_save_as_they_are() {
    for name in [
        "arm",
        "mannequin",
        "elbow-correctives",
        "control-clusters-arm",
        "water-surface",
    ] {
        let path = in_repository(&format!("projects/{name}.ron"));
        if std::env::var("SINEW_UPDATE_PROJECTS").as_deref() == Ok("1") {
            save(&opened(&path).document, &path, &Task::new()).unwrap();
        }
        let opened = opened(&path);
        assert_eq!(opened.findings, [], "{name}");
        assert!(!opened.source_changed, "{name}");
        assert!(
            opened
                .document
                .meshes()
                .values()
                .any(|m| !m.edited_points().is_empty()
                    || !m.correctives.is_empty()
                    || m.clusters.acts()),
            "{name}"
        );
        let project = to_project(&opened.document, Some(&path)).unwrap();
        let text = to_text(&project).unwrap();
        // The version of Sinew is the one line that may change.
        let without_app = |text: &str| {
            let lines = text.lines().filter(|line| !line.starts_with("    app: "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let saved = std::fs::read_to_string(&path).unwrap();
        assert_eq!(without_app(&text), without_app(&saved), "{name}");
        assert!(text.ends_with(")\n") && saved.ends_with(")\n"), "{name}");
    }
}

#[test]
fn a_project_is_never_saved_over_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("arm.glb");
    let arm = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    std::fs::copy(arm, &model).unwrap();
    let task = Task::new();
    let (document, _) = import_for_project(ModelSource::File(&model), &task).unwrap();
    let before = std::fs::read(&model).unwrap();
    let error = save(&document, &model, &task).unwrap_err().to_string();
    assert!(error.contains("is the model itself"), "{error}");
    assert_eq!(std::fs::read(&model).unwrap(), before);
}
