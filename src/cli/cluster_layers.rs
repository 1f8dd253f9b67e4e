//! Layers of groups of clusters as JSON: bases, muscles, drivers, recorded data, lattices and cages, with vertices as the file numbers them.

use super::Failure;
use super::cluster_data_json::Data;
use super::cluster_json_reader::Reader;
use super::cluster_layer_json::{Driver, GroupLayers, Layers, MeshName, Muscle};
use super::cluster_report::vertex_of;
use crate::cluster::{Base, ClusterGroup, ClusterMap, MapError};
use crate::document::{ClustersEdit, Document, Edit, MeshId};
use crate::io::channels::read_item;
use crate::io::read::{MAX_SMALL_BYTES, read_text};
use crate::mesh::Mesh;
use crate::task::Task;
use glam::DVec3;
use std::path::Path;
use std::sync::Arc;

/// The layers of a file.
pub(super) fn read(path: &Path) -> Result<Layers, Failure> {
    let name = path.display();
    let text = read_text(path, MAX_SMALL_BYTES)
        .map_err(|e| Failure::Input(format!("{name} cannot be read: {e}.")))?;
    serde_json::from_str(&text)
        .map_err(|e| Failure::Input(format!("{name} is not a file of layers: {e}.")))
}

/// Gives the document the recordings and its groups the bases and layers of a file at `path`. What the file gives a group
/// replaces what it has; a group that the mesh does not have is added. Paths are relative to the folder of the file.
pub(super) fn apply(document: &mut Document, layers: Layers, path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let folder = path.parent().unwrap_or(Path::new(""));
    for entry in layers.recordings {
        let file = folder.join(&entry.file);
        let item = read_item(entry.name, &file, 0, &Task::new()).map_err(Failure::input)?;
        if let Err(why) = &item.content {
            return Err(Failure::Input(format!("{why}.")));
        }
        let known = document.recording_named(&item.name);
        let mut edit = Edit::Recording {
            id: known.unwrap_or_else(|| document.free_recording()),
            recording: Some(Arc::new(item)),
        };
        document.apply(&mut edit).map_err(Failure::input)?;
    }
    for entry in layers.groups {
        let of = |why: String| Failure::Input(format!("{name}, group \"{}\": {why}.", entry.name));
        let mesh = mesh(document, &entry.mesh).map_err(of)?;
        let map = with_group(document, mesh, &entry).map_err(of)?;
        let edit = ClustersEdit::new(document, mesh, Arc::new(map));
        let applied = document.apply(&mut Edit::Clusters(edit));
        applied.map_err(|why| of(why.to_string()))?;
    }
    Ok(())
}

fn mesh(document: &Document, wanted: &MeshName) -> Result<MeshId, String> {
    let mut meshes = document.meshes().iter();
    let (found, wanted) = match wanted {
        MeshName::Index(index) => (
            meshes.find(|(id, _)| id.0 == *index),
            format!("mesh {index}"),
        ),
        MeshName::Name(name) => (
            meshes.find(|(_, item)| item.geometry.name == *name),
            format!("mesh \"{name}\""),
        ),
    };
    let n = document.meshes().len();
    found
        .map(|(&id, _)| id)
        .ok_or_else(|| format!("the model has no {wanted}; it has {n} meshes"))
}

/// An error whose vertex has the number that it has in the file.
fn numbered_as_in_file(why: &MapError, mesh: &Mesh) -> String {
    let first = mesh.first_vertex_of_point();
    let vertex = why.point().and_then(|point| vertex_of(mesh, &first, point));
    match vertex {
        Some(found) => why.naming(&format!(
            "vertex {} of primitive {}",
            found.vertex, found.primitive
        )),
        None => why.to_string(),
    }
}

/// The map of a mesh with a group as the file has it.
fn with_group(
    document: &Document,
    mesh: MeshId,
    entry: &GroupLayers,
) -> Result<ClusterMap, String> {
    let item = &document.meshes()[&mesh];
    let reader = Reader {
        document,
        mesh: &item.geometry,
    };
    let map = ClusterMap::clone(&item.clusters);
    let known = map.group_named(&entry.name);
    let index = known.map_or(map.groups().len(), usize::from);
    let mut group = match known {
        Some(known) => ClusterGroup::clone(&map.groups()[usize::from(known)]),
        None => ClusterGroup::new(entry.name.clone(), index),
    };
    if let Some(base) = &entry.base {
        group.base = Base::of_key(base).ok_or_else(|| {
            let known = Base::ALL.map(Base::key).join(", ");
            format!("the base \"{base}\" is not one of {known}")
        })?;
    }
    let layer = |kind: &str, name: &str, why: String| format!("the {kind} \"{name}\": {why}");
    if let Some(muscles) = &entry.muscles {
        let made = muscles.iter().map(|muscle: &Muscle| {
            let made = muscle.layer(&reader);
            made.map_err(|why| layer("muscle", &muscle.name, why))
        });
        group.muscles = made.collect::<Result<_, _>>()?;
    }
    if let Some(drivers) = &entry.drivers {
        let made = drivers.iter().map(|driver: &Driver| {
            let made = driver.layer(&reader);
            made.map_err(|why| layer("driver", &driver.name, why))
        });
        group.drivers = made.collect::<Result<_, _>>()?;
    }
    if let Some(data) = &entry.data {
        let made = data.iter().map(|data: &Data| {
            let made = data.layer(&reader);
            made.map_err(|why| layer("data", &data.name, why))
        });
        group.data = made.collect::<Result<_, _>>()?;
    }
    let marked = reader.points(entry.primitive, &entry.vertices)?;
    let own = map.clusters().iter();
    let own = own.filter(|c| known == Some(c.1)).map(|c| c.0);
    let positions = &item.geometry.positions;
    let points = own.chain(marked.iter().copied());
    let points: Vec<DVec3> = points.map(|p| positions[p as usize].as_dvec3()).collect();
    if let Some(lattice) = &entry.lattice {
        let made = lattice.controls(&points);
        let made = made.map_err(|why| format!("the lattice: {why}"))?;
        group.lattice = Some(Arc::new(made));
    }
    if let Some(cage) = &entry.cage {
        let made = cage.controls(&points);
        let made = made.map_err(|why| format!("the cage: {why}"))?;
        group.cage = Some(Arc::new(made));
    }
    let map = map
        .with_group(known, group)
        .map_err(|why| numbered_as_in_file(&why, &item.geometry))?;
    Ok(map.with_points(&marked, Some(index as u16)))
}
