//! Project files that must open for ever, with the models they refer to.

use glam::{DMat3, DVec3};
use sinew::deform::{CorrectiveSmooth, DeformStack, MaskKind, ScaleMode, SkinningMethod};
use sinew::document::session::PaintTarget;
use sinew::document::{ClipId, Document, MeshId};
use sinew::io::import_for_project;
use sinew::io::project::{Opened, open, save, to_project, to_text};
use sinew::skeleton::{Interpolation, JointId, JointRule, Property};
use sinew::skinning::{Compensation, Polynomial, Projection, TwistDamping, Variant};
use sinew::task::Task;
use sinew::weights::falloff::Falloff;
use std::path::{Path, PathBuf};

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn opened(path: &Path) -> Opened {
    open(path, &Task::new(), import_for_project)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The document of `tests/data/NAME`, which opens without a finding.
fn frozen(name: &str) -> Document {
    let opened = opened(&in_repository("tests/data").join(name));
    let fingerprint = opened.document.source().map(|source| source.fingerprint);
    assert!(!opened.source_changed, "the model is now {fingerprint:x?}");
    assert_eq!(opened.findings, []);
    opened.document
}

/// What both frozen projects hold.
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
        projection: Projection {
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
    };
    assert_eq!(document.skeleton().joint(JointId(1)).rule, rule);
    let brush = &document.session().brush;
    assert_eq!(brush.target, PaintTarget::Mask(MaskKind::Compensation));
    assert_eq!(brush.value(), 1.5);
}

/// The projects in the repository open over the models in `assets/` and are written as they are.
///
/// When those models change: `SINEW_UPDATE_PROJECTS=1` saves them over the new ones; look at them before they go in.
#[test]
fn the_projects_of_the_repository_open_and_save_as_they_are() {
    for name in ["arm", "mannequin"] {
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
                .any(|m| !m.edited_points().is_empty()),
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
