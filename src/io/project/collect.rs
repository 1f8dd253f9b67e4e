//! The differences from the source: document -> project.

use super::stack::Stack;
use super::v11::{
    JointPose, ModelRef, Named, Project, Renamed, StackEntry, TransformEntry, VERSION,
};
use super::{
    ProjectError, clips, constraints, humanoid, individual, joints, kept_weights, mesh_copies,
    paths, points, recordings, rig, rows, rules, session, shapes, transforms,
};
use crate::deform::DeformStack;
use crate::document::{Document, Person, Source};
use crate::skeleton::JointId;
use std::path::Path;

/// The project of a document that is saved at `project_path`; with `None` the path of the model stays absolute.
///
/// Fails for a document without a source file or sample.
pub fn to_project(
    document: &Document,
    project_path: Option<&Path>,
) -> Result<Project, ProjectError> {
    let source = document.source().ok_or(ProjectError::NoSource)?;
    let (mut weights, mut layers, mut masks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut correctives, mut clusters) = (Vec::new(), Vec::new());
    for (&id, item) in document.meshes() {
        // Of an unbound mesh they are kept elsewhere.
        let is_unbound = document.kept_weights().contains_key(&id);
        let edited = if is_unbound {
            Vec::new()
        } else {
            item.edited_base_points()
        };
        weights.extend(rows::collect(document, id, item.base_rows(), edited)?);
        layers.extend(super::layers::collect(document, id, item)?);
        masks.extend(super::masks::collect(id, item)?);
        correctives.extend(super::correctives::collect(document, id, item)?);
        clusters.extend(super::clusters::collect(document, id, item)?);
    }
    correctives.extend(super::correctives::unplaced(document)?);
    clusters.extend(super::unplaced::entries(document)?);
    let (clips, removed_clips) = clips::collect(document)?;
    let rig::Entries {
        joints,
        skins,
        instances,
    } = rig::collect(document);
    Ok(Project {
        version: VERSION,
        app: env!("CARGO_PKG_VERSION").to_owned(),
        model: model_ref(source, project_path)?,
        recovers: None,
        unsaved_steps: None,
        joints,
        skins,
        instances,
        mesh_copies: mesh_copies::collect(document),
        weights,
        kept_weights: kept_weights::collect(document)?,
        shapes: shapes::collect(document),
        layers,
        stacks: stacks(document),
        masks,
        correctives,
        recordings: recordings::collect(document, project_path)?,
        clusters,
        pose: pose(document),
        renamed: renamed(document),
        rules: rules::collect(document),
        constraints: constraints::collect(document)?,
        locked: document
            .locked()
            .iter()
            .map(|&joint| joints::reference(document, joint))
            .collect(),
        humanoid: humanoid::collect(document),
        clips,
        poses: clips::collect_poses(document)?,
        removed_clips,
        individual: individual::collect(document, Person::Individual),
        what_if: individual::collect(document, Person::WhatIf),
        points: points::collect(document).map_err(|why| ProjectError::Damaged {
            place: "selected vertices".into(),
            why,
        })?,
        session: Some(session::collect(document)),
    })
}

/// The name of the model of `source`.
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

/// A fingerprint in the form of the file.
pub(super) fn fingerprint_text(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// The stacks, equal ones once, in the order of their first mesh.
fn stacks(document: &Document) -> Vec<StackEntry> {
    let mut stacks: Vec<StackEntry> = Vec::new();
    for (id, item) in document.meshes() {
        let mesh = Named(id.0, item.geometry.name.clone());
        let stack = Stack::from(DeformStack::clone(&item.stack));
        match stacks.iter_mut().find(|entry| entry.stack == stack) {
            Some(entry) => entry.meshes.push(mesh),
            None => stacks.push(StackEntry {
                meshes: vec![mesh],
                stack,
                had_other_sign: false,
            }),
        }
    }
    stacks
}

fn pose(document: &Document) -> Vec<JointPose> {
    let (pose, rest) = (document.pose(), document.rest_pose());
    document
        .skeleton()
        .live_joints()
        .filter_map(|joint| {
            let j = joint.get();
            let (local, rest_local) = (pose.locals.get(j)?, rest.locals.get(j)?);
            let (morphs, rest_morphs) = (pose.morph_weights.get(j)?, rest.morph_weights.get(j)?);
            if local == rest_local && morphs == rest_morphs {
                return None;
            }
            let TransformEntry {
                translation,
                rotation,
                scale,
                stretch,
            } = transforms::difference(local, rest_local);
            Some(JointPose {
                joint: joints::key(document, joint),
                name: joints::name(document, joint),
                translation,
                rotation,
                scale,
                stretch,
                morph_weights: (morphs != rest_morphs).then(|| morphs.clone()),
            })
        })
        .collect()
}

fn renamed(document: &Document) -> Vec<Renamed> {
    let joints = document.skeleton().joints().iter();
    (0..)
        .map(JointId)
        .zip(joints.zip(document.source_skeleton().joints()))
        .filter(|(_, (now, before))| now.name != before.name && !now.removed)
        .map(|(joint, (now, before))| Renamed {
            joint: joints::key(document, joint),
            was: before.name.clone(),
            name: now.name.clone(),
        })
        .collect()
}
