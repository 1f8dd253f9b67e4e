//! Problems of corrective samples: each row names its fault and mends it, and nothing is lost with a model that changed.

use crate::models::tube;
use glam::{DQuat, Vec3};
use sinew::correctives;
use sinew::deform::correctives::{CapturedOver, Driver, Sample, SampleSet};
use sinew::document::checks;
use sinew::document::{CorrectivesEdit, Document, Edit, MeshId};
use sinew::finding::{Finding, Fix, Place, SampleFix, Severity};
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::io::{gltf_build, open_any, project};
use sinew::psd::{Displacements, DriverMode, Kernel};
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);

/// A tube with a set on its middle joint, a hinge about z, that has samples at these angles in degrees.
fn with_angles(angles: &[f64], change: impl Fn(&mut SampleSet)) -> Document {
    let mut document = tube(40);
    let item = document.meshes()[&MESH].clone();
    let rest = &document.rest_pose().locals;
    let mut driver = Driver::of_joint(JointId(1), document.skeleton(), rest);
    driver.mode = DriverMode::Hinge(glam::DVec3::Z);
    let mut set = SampleSet::new("Elbow".into(), vec![driver]);
    for &angle in angles {
        set.samples.push(Arc::new(Sample {
            name: format!("{angle}"),
            rotations: vec![driver.bind * DQuat::from_rotation_z(angle.to_radians())],
            beside: Vec::new(),
            displacements: Displacements::new(vec![(3, Vec3::X * 0.1)]),
            captured_on: item.stack.clone(),
            captured_over: CapturedOver::default(),
            strength: 1.0,
            muted: false,
        }));
    }
    change(&mut set);
    let made = Arc::new(item.correctives.with_set(set));
    let edit = CorrectivesEdit::new(&document, MESH, made);
    document.apply(&mut Edit::Correctives(edit)).unwrap();
    document
}

/// The document after the fix of its only problem, which has a place and takes one undo step back.
fn fixed(document: &Document, finding: &Finding) -> Document {
    let Some(Fix::Samples(fix)) = finding.fix else {
        panic!("{finding:?}")
    };
    let which: Vec<u32> = match finding.target.as_ref().unwrap() {
        Place::Samples { samples, .. } => samples.to_vec(),
        Place::SampleSet { set, .. } => vec![*set],
        other => panic!("{other:?}"),
    };
    let made = correctives::fix(document, MESH, &which, fix, &Task::new()).unwrap();
    let mut edit = made.edit.unwrap();
    let mut mended = document.clone();
    mended.apply(&mut edit).unwrap();
    let after = mended.clone();
    mended.apply(&mut edit).unwrap();
    assert!(mended.same_content(document));
    after
}

#[track_caller]
fn only_problem(document: &Document) -> Finding {
    let findings = checks::of_correctives(document);
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings[0].clone()
}

#[track_caller]
fn assert_mended_by(document: &Document, fix: SampleFix, n_samples: usize) {
    let problem = only_problem(document);
    assert_eq!(problem.fix, Some(Fix::Samples(fix)), "{problem:?}");
    let after = fixed(document, &problem);
    assert_eq!(checks::of_correctives(&after), []);
    let made = &after.meshes()[&MESH].correctives;
    assert!(made.acts());
    assert_eq!(made.samples().len(), n_samples);
}

#[test]
fn samples_in_one_pose_or_at_bind_are_errors_that_delete_one() {
    let twice = with_angles(&[40.0, 80.0, 80.0], |_| ());
    let problem = only_problem(&twice);
    assert_eq!(problem.severity, Severity::Error);
    assert!(
        problem.message.contains("have the same driver pose"),
        "{problem:?}"
    );
    let acts = |document: &Document| document.meshes()[&MESH].correctives.acts();
    assert!(!acts(&twice), "a set that cannot be solved moves nothing");
    assert_mended_by(&twice, SampleFix::Delete, 2);

    let at_bind = with_angles(&[40.0, 0.0], |_| ());
    let problem = only_problem(&at_bind);
    assert_eq!(problem.severity, Severity::Error);
    assert!(
        problem.message.contains("correct the bind mesh instead"),
        "{problem:?}"
    );
    assert!(!acts(&at_bind));
    assert_mended_by(&at_bind, SampleFix::Delete, 1);
}

#[test]
fn samples_that_are_hardly_apart_are_warned_of() {
    let close = with_angles(&[40.0, 80.0, 81.0], |_| ());
    let problem = only_problem(&close);
    assert_eq!(problem.severity, Severity::Warning);
    assert!(
        problem.message.contains("\"80\" and \"81\" are only"),
        "{problem:?}"
    );
    let Some(Place::Samples { samples, .. }) = &problem.target else {
        panic!("{problem:?}")
    };
    assert_eq!(samples[..], [2]);
    assert_mended_by(&close, SampleFix::Delete, 2);
    // Of a sample that is hardly apart from bind it is the sample.
    assert_mended_by(&with_angles(&[1.0, 60.0], |_| ()), SampleFix::Delete, 1);
}

#[test]
fn bad_conditioning_is_warned_of_and_then_refused_and_the_linear_kernel_mends_both() {
    let (mut warned, mut refused) = (0, 0);
    for n in 2..20 {
        let angles: Vec<f64> = (1..=n).map(|k| 6.0 * f64::from(k)).collect();
        let document = with_angles(&angles, |set| {
            set.kernel = Kernel::Gaussian;
            set.radius = 4.0;
        });
        let findings = checks::of_correctives(&document);
        let Some(problem) = findings.first() else {
            assert_eq!((warned, refused), (0, 0), "more samples are worse");
            continue;
        };
        match problem.severity {
            Severity::Warning => {
                assert!(
                    problem.message.contains("uses the linear kernel"),
                    "{problem:?}"
                );
                assert_eq!(refused, 0, "more samples are worse");
                warned += 1;
            }
            _ => {
                assert!(
                    problem.message.contains("too close to each other"),
                    "{problem:?}"
                );
                refused += 1;
            }
        }
        assert_mended_by(&document, SampleFix::UseLinear, angles.len());
    }
    assert!(warned > 0 && refused > 0, "{warned} {refused}");
}

/// The samples of a mesh that a new version of the model has not stay in the project until it is back.
#[test]
fn samples_of_a_missing_mesh_stay_in_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    std::fs::write(&path, gltf_build::to_glb(&sample(SampleKind::Arm, 500))).unwrap();
    let import = || open_any(&path, &Task::new()).unwrap().document;
    let mut document = import();
    let item = document.meshes()[&MESH].clone();
    let rest = &document.rest_pose().locals;
    let driver = Driver::of_joint(JointId(2), document.skeleton(), rest);
    let mut set = SampleSet::new("Elbow".into(), vec![driver]);
    set.samples.push(Arc::new(Sample {
        name: "Bent".into(),
        rotations: vec![driver.bind * DQuat::from_rotation_x(1.5)],
        beside: Vec::new(),
        displacements: Displacements::new((0..200).map(|p| (p, Vec3::Y * 0.01)).collect()),
        captured_on: item.stack.clone(),
        captured_over: CapturedOver::default(),
        strength: 0.5,
        muted: false,
    }));
    let made = Arc::new(item.correctives.with_set(set));
    let edit = CorrectivesEdit::new(&document, MESH, made);
    document.apply(&mut Edit::Correctives(edit)).unwrap();

    let text = |document: &Document| to_text(&to_project(document, None).unwrap()).unwrap();
    let saved = text(&document);
    let start = saved.find("correctives: [").unwrap();
    let end = start + saved[start..].find("title:").unwrap();
    let gone = saved[start..end]
        .replacen("mesh: 0", "mesh: 7", 1)
        .replacen(&item.geometry.name, "Gone", 1);
    let of_missing = [&saved[..start], &gone, &saved[end..]].concat();
    let (opened, findings) = apply_project(import(), parse(&of_missing).unwrap()).unwrap();
    let said: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("\"Gone\"") && said[0].contains("The project keeps the set: 1 sample."),
        "{said:?}"
    );
    assert!(opened.meshes()[&MESH].correctives.sets().is_empty());
    // Saved as a file, with edits since, it is written back as it was.
    let file = folder.path().join("arm.ron");
    project::save(&opened, &file, &Task::new()).unwrap();
    let again = std::fs::read_to_string(&file).unwrap();
    let block = |text: &str| -> String {
        let start = text.find("correctives: [").unwrap();
        let end = start + text[start..].find("\n    ],").unwrap();
        text[start..end].to_owned()
    };
    assert_eq!(block(&again), block(&of_missing));
    // With its mesh it acts again.
    let back = again.replacen("mesh: 7", "mesh: 0", 1).replacen(
        "\"Gone\"",
        &format!("{:?}", item.geometry.name),
        1,
    );
    let (healed, findings) = apply_project(import(), parse(&back).unwrap()).unwrap();
    assert_eq!(findings, []);
    assert!(healed.meshes()[&MESH].correctives == document.meshes()[&MESH].correctives);
}
