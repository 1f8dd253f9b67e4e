//! The body of an individual: what was fitted, and the document that has it.

use super::samples::{mapped, scaled_samples};
use super::subject::body_of;
use super::table::Individual;
use super::variation::Variation;
use super::varied::Varied;
use crate::cluster::ClusterMap;
use crate::document::{Document, Instance, InstanceId, MeshId, MeshItem, Skin, SkinId};
use crate::mesh::{Mesh, Morph};
use crate::skeleton::{Clip, JointId, Pose, Skeleton};
use crate::skinning::Influences;
use crate::task::Task;
use crate::twin::bind::Bind;
use crate::twin::normals::turned_normals;
use crate::twin::{Body, FitOptions, FitReport, Fitted, Measurement, Tape, TwinError, fit};
use glam::{DAffine3, DMat3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A body fitted to the measurements of a person, and what a document needs to have it.
#[derive(Debug)]
pub struct IndividualShape {
    /// The table.
    pub rows: Vec<Measurement>,
    /// How it was fitted.
    pub options: FitOptions,
    /// What was reached.
    pub report: FitReport,
    /// The girths that the table measures, each with its mesh.
    pub tapes: Vec<(MeshId, Tape)>,
    /// What it was computed from.
    template: Template,
    /// `None`: the individual is the template.
    made: Option<Made>,
    /// What was made of parts of the document, so that equal parts keep their identity.
    known: Mutex<Known>,
    varied: Mutex<Varied>,
}

/// The parts of a document that a shape depends on.
#[derive(Debug)]
struct Template {
    skeleton: Arc<Skeleton>,
    skins: BTreeMap<SkinId, Arc<Skin>>,
    instances: BTreeMap<InstanceId, Arc<Instance>>,
    geometry: BTreeMap<MeshId, Arc<Mesh>>,
    influences: BTreeMap<MeshId, Influences>,
}

#[derive(Debug)]
struct Made {
    body: Body,
    fitted: Fitted,
    skins: BTreeMap<SkinId, Arc<Skin>>,
    geometry: BTreeMap<MeshId, Arc<Mesh>>,
    /// How displacements of points change.
    maps: BTreeMap<MeshId, Vec<DMat3>>,
    reshaped: Arc<BTreeSet<MeshId>>,
}

/// Parts of a document and what was made of them.
#[derive(Debug, Default)]
struct Known {
    skeleton: Option<Pair<Skeleton>>,
    rest_pose: Option<Pair<Pose>>,
    items: BTreeMap<MeshId, (Arc<MeshItem>, Arc<MeshItem>)>,
    correctives: BTreeMap<MeshId, Pair<crate::deform::Correctives>>,
    clusters: BTreeMap<MeshId, Pair<ClusterMap>>,
    clips: Vec<Pair<Clip>>,
}

type Pair<T> = (Arc<T>, Arc<T>);

impl IndividualShape {
    /// Fits the body of a document to a table. Fails, in a sentence, where a row does not fit it.
    pub fn new(
        document: &Document,
        rows: &[Measurement],
        options: &FitOptions,
        task: &Task,
    ) -> Result<Self, TwinError> {
        let mut shape = Self {
            rows: rows.to_vec(),
            options: *options,
            report: FitReport::default(),
            tapes: Vec::new(),
            template: Template::of(document),
            made: None,
            known: Mutex::default(),
            varied: Mutex::default(),
        };
        if rows.is_empty() {
            return Ok(shape);
        }
        let (body, meshes) = body_of(document)?;
        let fitted = fit(&body, rows, options, task)?;
        shape.report = fitted.report.clone();
        let tapes = fitted.tapes.iter().cloned();
        shape.tapes = tapes.map(|tape| (meshes[tape.mesh], tape)).collect();
        if !fitted.is_identity() {
            task.step("Making the individual", 0.92)?;
            shape.made = Some(Made::new(document, body, fitted, &meshes));
            add_warnings(document, &mut shape.report);
        }
        Ok(shape)
    }

    /// Whether the shape can be put on a document: its joints, skins and meshes are the template's. Weights may differ.
    pub fn can_show(&self, document: &Document) -> bool {
        let template = &self.template;
        let same_skeleton = Arc::ptr_eq(&template.skeleton, &document.skeleton)
            || template.skeleton.moves_like(&document.skeleton);
        let geometry = document
            .meshes
            .iter()
            .map(|(id, item)| (id, &item.geometry));
        same_skeleton
            && template.skins == document.skins
            && template.instances == document.instances
            && geometry.len() == template.geometry.len()
            && geometry
                .zip(&template.geometry)
                .all(|((a, x), (b, y))| a == b && Arc::ptr_eq(x, y))
    }

    /// Whether it is what [`IndividualShape::new`] would compute now for its table.
    pub fn is_current(&self, document: &Document) -> bool {
        let weights = document
            .meshes
            .iter()
            .map(|(id, item)| (id, &item.influences));
        self.can_show(document) && weights.eq(self.template.influences.iter())
    }

    /// The document with this body: weights, stacks, masks and the session are the document's own.
    ///
    /// The document itself where [`IndividualShape::can_show`] is false.
    pub fn of(&self, document: &Document) -> Document {
        let mut made = document.clone();
        let (Some(parts), Ok(mut known)) = (&self.made, self.known.lock()) else {
            return made;
        };
        if !self.can_show(document) {
            return made;
        }
        let bind = parts.bind();
        let Some(skeleton) = known.skeleton(&bind, &document.skeleton) else {
            return made;
        };
        made.rest_pose = known.rest_pose(&skeleton, &document.rest_pose);
        made.skeleton = skeleton;
        made.skins.clone_from(&parts.skins);
        for (&id, item) in &mut made.meshes {
            *item = known.item(parts, id, item);
        }
        made.reshaped = parts.reshaped.clone();
        let before = std::mem::take(&mut known.clips);
        for clip in made.motions_mut() {
            let pair = before.iter().find(|pair| Arc::ptr_eq(&pair.0, clip));
            let pair = pair.map_or_else(|| (clip.clone(), moved_clip(&bind, clip)), Pair::clone);
            *clip = pair.1.clone();
            known.clips.push(pair);
        }
        made.pose = Arc::new(moved_pose(&bind, &document.pose));
        if let Some(live) = made.session_mut().live_pose.take() {
            let has_joints = live.locals.len() == document.skeleton.len();
            let live = if has_joints {
                Arc::new(moved_pose(&bind, &live))
            } else {
                live
            };
            made.session_mut().live_pose = Some(live);
        }
        made.order_constraints();
        made
    }

    /// [`IndividualShape::of`] with the limits and gains of a table.
    pub fn of_table(&self, document: &Document, table: &Individual) -> Document {
        let mut made = self.of(document);
        if let Ok(mut varied) = self.varied.lock() {
            varied.apply(&mut made, &table.variations);
        }
        made
    }

    /// A mesh of the document with this body, as [`IndividualShape::of_table`] has it; `None` where the document has no such mesh.
    pub fn item(
        &self,
        document: &Document,
        id: MeshId,
        variations: &[Variation],
    ) -> Option<Arc<MeshItem>> {
        let item = document.meshes.get(&id)?;
        let item = match (&self.made, self.known.lock()) {
            (Some(parts), Ok(mut known)) => known.item(parts, id, item),
            _ => item.clone(),
        };
        let varied = self.varied.lock().ok();
        let varied = varied.map(|mut varied| varied.item(id, &item, variations));
        Some(varied.unwrap_or(item))
    }

    /// The triangles that flipped, by mesh, ascending.
    pub fn flipped(&self) -> BTreeMap<MeshId, Vec<u32>> {
        let Some(made) = &self.made else {
            return BTreeMap::new();
        };
        let meshes = made.maps.keys().enumerate();
        let faces = meshes.map(|(shape, id)| (*id, made.fitted.flipped(&made.body, shape)));
        faces.filter(|(_, faces)| !faces.is_empty()).collect()
    }
}

impl Template {
    fn of(document: &Document) -> Self {
        let items = || document.meshes.iter();
        Self {
            skeleton: document.skeleton.clone(),
            skins: document.skins.clone(),
            instances: document.instances.clone(),
            geometry: items().map(|(id, m)| (*id, m.geometry.clone())).collect(),
            influences: items().map(|(id, m)| (*id, m.influences.clone())).collect(),
        }
    }
}

impl Made {
    /// `meshes`: one a shape of the body, ascending.
    fn new(document: &Document, body: Body, fitted: Fitted, meshes: &[MeshId]) -> Self {
        let mut made = Self {
            body,
            fitted,
            skins: document.skins.clone(),
            geometry: BTreeMap::new(),
            maps: BTreeMap::new(),
            reshaped: Arc::default(),
        };
        let bind = Bind {
            body: &made.body,
            fitted: &made.fitted,
        };
        let world_from_mesh = |skin: &Skin| bind.world_from_mesh(&skin.joints, &skin.inverse_bind);
        let drawn = document.instances.values().filter_map(|i| i.skin);
        for id in drawn.collect::<BTreeSet<SkinId>>() {
            if let Some(skin) = made.skins.get_mut(&id) {
                let from_mesh = world_from_mesh(skin);
                bind_skin(&bind, document, Arc::make_mut(skin), from_mesh);
            }
        }
        let mut reshaped = BTreeSet::clone(&document.reshaped);
        for (shape, &id) in meshes.iter().enumerate() {
            let skin = document.skin_of_mesh(id);
            let Some((skin, item)) = skin.zip(document.meshes.get(&id)) else {
                continue;
            };
            let from_mesh = world_from_mesh(skin.1);
            let positions = bind.positions(shape, from_mesh);
            let maps = bind.displacement_maps(shape, from_mesh);
            let mut mesh = moved_mesh(&item.geometry, positions, Some(&maps));
            mesh.inside_out = made.fitted.flipped(&made.body, shape);
            made.geometry.insert(id, Arc::new(mesh));
            made.maps.insert(id, maps);
            reshaped.insert(id);
        }
        for (id, joint) in rigid_meshes(document, meshes) {
            if let Some(item) = document.meshes.get(&id)
                && let Some(positions) = bind.rigid_positions(joint, &item.geometry.positions)
            {
                let mesh = moved_mesh(&item.geometry, positions, None);
                made.geometry.insert(id, Arc::new(mesh));
                reshaped.insert(id);
            }
        }
        made.reshaped = Arc::new(reshaped);
        made
    }

    fn bind(&self) -> Bind<'_> {
        Bind {
            body: &self.body,
            fitted: &self.fitted,
        }
    }
}

impl Known {
    /// The skeleton with the rest transforms of the individual.
    fn skeleton(&mut self, bind: &Bind<'_>, of: &Arc<Skeleton>) -> Option<Arc<Skeleton>> {
        if let Some((_, made)) = self
            .skeleton
            .as_ref()
            .filter(|(from, _)| Arc::ptr_eq(from, of))
        {
            return Some(made.clone());
        }
        let mut joints = of.joints().to_vec();
        for (joint, entry) in (0..).map(JointId).zip(&mut joints) {
            if !entry.removed {
                entry.rest = bind.rest(joint);
                entry.rule.tail = entry.rule.tail.map(|tail| bind.tail(joint, tail));
            }
        }
        // The parents are the template's, which are a forest.
        let made = Arc::new(Skeleton::new(joints).ok()?);
        self.skeleton = Some((of.clone(), made.clone()));
        Some(made)
    }

    /// The rest pose of the individual, whose joints are `skeleton`.
    fn rest_pose(&mut self, skeleton: &Skeleton, of: &Arc<Pose>) -> Arc<Pose> {
        let locals = skeleton.joints().iter().map(|joint| joint.rest);
        if let Some((_, made)) = self.rest_pose.as_ref().filter(|(from, made)| {
            Arc::ptr_eq(from, of) && made.locals.iter().copied().eq(locals.clone())
        }) {
            return made.clone();
        }
        let mut made = Pose::clone(of);
        made.locals = locals.collect();
        let made = Arc::new(made);
        self.rest_pose = Some((of.clone(), made.clone()));
        made
    }

    /// A mesh on the individual.
    fn item(&mut self, parts: &Made, id: MeshId, of: &Arc<MeshItem>) -> Arc<MeshItem> {
        let Some(geometry) = parts.geometry.get(&id) else {
            return of.clone();
        };
        if let Some((_, made)) = self
            .items
            .get(&id)
            .filter(|(from, _)| Arc::ptr_eq(from, of))
        {
            return made.clone();
        }
        let mut made = MeshItem::clone(of);
        made.geometry = geometry.clone();
        if let Some(maps) = parts.maps.get(&id) {
            made.correctives = same_or(&mut self.correctives, id, &of.correctives, |samples| {
                scaled_samples(samples, maps)
            });
        }
        made.clusters = same_or(&mut self.clusters, id, &of.clusters, |clusters| {
            scaled_muscles(&parts.fitted, clusters)
        });
        let made = Arc::new(made);
        self.items.insert(id, (of.clone(), made.clone()));
        made
    }
}

/// What was made of `of` before, or `make` of it.
fn same_or<T>(
    known: &mut BTreeMap<MeshId, Pair<T>>,
    id: MeshId,
    of: &Arc<T>,
    make: impl FnOnce(&Arc<T>) -> Arc<T>,
) -> Arc<T> {
    if let Some((_, made)) = known.get(&id).filter(|(from, _)| Arc::ptr_eq(from, of)) {
        return made.clone();
    }
    let made = make(of);
    known.insert(id, (of.clone(), made.clone()));
    made
}

/// The amplitude of a muscle is a fraction of the radius of its limb.
fn scaled_muscles(fitted: &Fitted, clusters: &Arc<ClusterMap>) -> Arc<ClusterMap> {
    if clusters.muscles().next().is_none() {
        return clusters.clone();
    }
    Arc::new(clusters.with_muscles(|muscle| {
        if let Some(factor) = fitted.factors.get(muscle.upper.get()) {
            muscle.settings.amplitude *= factor.across_at(muscle.settings.centre);
        }
    }))
}

fn bind_skin(bind: &Bind<'_>, document: &Document, skin: &mut Skin, world_from_mesh: DAffine3) {
    for (joint, matrix) in skin.joints.iter().zip(&mut skin.inverse_bind) {
        let new = bind.inverse_bind(*joint, world_from_mesh);
        if document.skeleton.is_live(*joint) && new.is_finite() {
            *matrix = new;
        }
    }
}

/// Meshes that one joint draws without a skin.
fn rigid_meshes(document: &Document, skinned: &[MeshId]) -> Vec<(MeshId, JointId)> {
    let mut drawn: BTreeMap<MeshId, Vec<JointId>> = BTreeMap::new();
    for instance in document.instances.values() {
        drawn.entry(instance.mesh).or_default().push(instance.joint);
    }
    let single = drawn.into_iter().filter(|(id, _)| !skinned.contains(id));
    let single = single.filter_map(|(id, joints)| match joints[..] {
        [joint] => Some((id, joint)),
        _ => None,
    });
    single.collect()
}

/// Keyframes on the individual: rotations and scales stay, translations follow the bones.
fn moved_clip(bind: &Bind<'_>, clip: &Arc<Clip>) -> Arc<Clip> {
    let changed: Vec<_> = clip.channels.iter().map(|c| bind.channel(c)).collect();
    if changed.iter().all(Option::is_none) {
        return clip.clone();
    }
    let mut made = Clip::clone(clip);
    for (channel, new) in made.channels.iter_mut().zip(changed) {
        if let Some(new) = new {
            *channel = new;
        }
    }
    Arc::new(made)
}

fn moved_pose(bind: &Bind<'_>, pose: &Pose) -> Pose {
    let mut made = pose.clone();
    for joint in bind.body.skeleton().live_joints() {
        if let Some(local) = made.locals.get_mut(joint.get()) {
            local.translation = bind.posed(joint, local.translation);
        }
    }
    made
}

/// A mesh with other positions; displacements of morph targets are mapped by those of their points.
fn moved_mesh(mesh: &Mesh, positions: Vec<Vec3>, maps: Option<&[DMat3]>) -> Mesh {
    let morph = |morph: &Morph| Morph {
        name: morph.name.clone(),
        deltas: match maps {
            Some(maps) => {
                let deltas = morph.deltas.iter().enumerate();
                deltas.map(|(point, d)| mapped(maps, point, *d)).collect()
            }
            None => morph.deltas.clone(),
        },
        normals: morph.normals.clone(),
    };
    let normals = turned_normals(mesh, &positions);
    mesh.with_shape(positions, normals, mesh.morphs.iter().map(morph).collect())
}

fn add_warnings(document: &Document, report: &mut FitReport) {
    let items = || document.meshes.values();
    for item in items().filter(|item| !item.correctives.samples().is_empty()) {
        report.warnings.push(format!(
            "The corrective samples of \"{}\" were scaled with the body. Where bones share wide blends they fit roughly: \
             check them, and sculpt again where they are off.",
            item.geometry.name
        ));
    }
    let has_controls = items().any(|item| {
        let mut groups = item.clusters.groups().iter();
        groups.any(|group| group.base.has_controls())
    });
    if has_controls {
        let text = "Clusters moved by hand, lattices and cages keep the template's displacements: check them.";
        report.warnings.push(text.into());
    }
    if !document.constraints.is_empty() {
        let text = "Distances in constraints keep the template's values: check them.";
        report.warnings.push(text.into());
    }
}
