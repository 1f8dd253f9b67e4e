//! What differs from the source: document -> project.

use super::format::{JointPose, ModelRef, Named, Project, Renamed, StackEntry};
use super::{ProjectError, VERSION, clips, paths, points, rows, rules};
use crate::document::session::{PointsOfMeshes, Session};
use crate::document::{Document, Source};
use crate::math::Transform;
use std::path::Path;

/// The project of a document that is going to stand at `project_path`; with `None` the model's path stays absolute.
///
/// Fails for a document that came from no file and no sample.
pub fn to_project(
    document: &Document,
    project_path: Option<&Path>,
) -> Result<Project, ProjectError> {
    let source = document.source().ok_or(ProjectError::NoSource)?;
    let (mut weights, mut layers, mut masks) = (Vec::new(), Vec::new(), Vec::new());
    for (&id, item) in document.meshes() {
        let edited = item.edited_base_points();
        weights.extend(rows::collect(document, id, item.base_rows(), edited)?);
        layers.extend(super::layers::collect(document, id, item)?);
        masks.extend(super::masks::collect(id, item)?);
    }
    let (clips, removed_clips) = clips::collect(document)?;
    let project = Project {
        version: VERSION,
        app: env!("CARGO_PKG_VERSION").to_owned(),
        model: model_ref(source, project_path)?,
        recovers: None,
        unsaved_steps: None,
        weights,
        layers,
        stacks: stacks(document),
        masks,
        pose: pose(document),
        renamed: renamed(document),
        rules: rules::collect(document),
        locked: document
            .locked()
            .iter()
            .map(|j| named(document, j.0))
            .collect(),
        clips,
        removed_clips,
        points: points::collect(document).map_err(|why| ProjectError::Damaged {
            place: "selected points".into(),
            why,
        })?,
        session: Some(Session {
            selected_points: PointsOfMeshes::default(),
            hidden_points: PointsOfMeshes::default(),
            ..document.session().clone()
        }),
    };
    Ok(project.settle_version())
}

/// What to call the model of `source`.
pub(super) fn model_name(source: &Source) -> String {
    match (&source.sample, &source.path) {
        (Some(sample), _) => sample.clone(),
        (None, Some(path)) => path
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        (None, None) => String::new(),
    }
}

fn model_ref(source: &Source, project_path: Option<&Path>) -> Result<ModelRef, ProjectError> {
    let name = model_name(source);
    match &source.path {
        Some(path) => Ok(ModelRef::File {
            path: match project_path {
                Some(project) => paths::relative(&paths::folder_of(project), path),
                None => paths::text(&paths::real(path)),
            },
            fingerprint: fingerprint_text(source.fingerprint),
            name,
        }),
        None if source.sample.is_some() => Ok(ModelRef::Sample {
            name,
            fingerprint: fingerprint_text(source.fingerprint),
        }),
        None => Err(ProjectError::NoSource),
    }
}

/// A fingerprint as the file has it.
pub(super) fn fingerprint_text(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

fn named(document: &Document, joint: u32) -> Named {
    let joints = document.source_skeleton().joints();
    let name = joints.get(joint as usize).map(|j| j.name.clone());
    Named(joint, name.unwrap_or_default())
}

/// Equal stacks once, in the order of their first mesh.
fn stacks(document: &Document) -> Vec<StackEntry> {
    let mut stacks: Vec<StackEntry> = Vec::new();
    for (id, item) in document.meshes() {
        let mesh = Named(id.0, item.geometry.name.clone());
        match stacks.iter_mut().find(|entry| entry.stack == *item.stack) {
            Some(entry) => entry.meshes.push(mesh),
            None => stacks.push(StackEntry {
                meshes: vec![mesh],
                stack: (*item.stack).clone(),
            }),
        }
    }
    stacks
}

fn pose(document: &Document) -> Vec<JointPose> {
    let (pose, rest) = (document.pose(), document.rest_pose());
    let joints = document.source_skeleton().joints().iter().enumerate();
    joints
        .filter_map(|(j, joint)| {
            let (local, rest_local) = (pose.locals.get(j)?, rest.locals.get(j)?);
            let (morphs, rest_morphs) = (pose.morph_weights.get(j)?, rest.morph_weights.get(j)?);
            if local == rest_local && morphs == rest_morphs {
                return None;
            }
            Some(JointPose {
                joint: j as u32,
                name: joint.name.clone(),
                morph_weights: (morphs != rest_morphs).then(|| morphs.clone()),
                ..difference(local, rest_local)
            })
        })
        .collect()
}

/// The components of `local` that are not those of `rest`.
fn difference(local: &Transform, rest: &Transform) -> JointPose {
    let stretched = local.stretch != rest.stretch;
    let sheared = local.has_shear();
    JointPose {
        translation: (local.translation != rest.translation).then(|| local.translation.into()),
        rotation: (local.rotation != rest.rotation).then(|| local.rotation.into()),
        scale: (stretched && !sheared).then(|| local.scale().into()),
        stretch: (stretched && sheared).then(|| {
            let columns = local.stretch;
            [columns.x_axis, columns.y_axis, columns.z_axis].map(Into::into)
        }),
        ..JointPose::default()
    }
}

fn renamed(document: &Document) -> Vec<Renamed> {
    let joints = document.skeleton().joints().iter();
    joints
        .zip(document.source_skeleton().joints())
        .enumerate()
        .filter(|(_, (now, before))| now.name != before.name)
        .map(|(j, (now, before))| Renamed {
            joint: j as u32,
            was: before.name.clone(),
            name: now.name.clone(),
        })
        .collect()
}
