//! Marks: the vertices of control clusters as JSON, numbered as the file numbers them.

use super::Failure;
use crate::cluster::{Base, ClusterGroup, ClusterMap};
use crate::document::{ClustersEdit, Document, Edit, MeshId};
use crate::io::read::{MAX_SMALL_BYTES, read_text};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The name of the group of marks without one.
const DEFAULT_GROUP: &str = "Clusters";

/// A file of marks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Marks {
    meshes: Vec<MeshMarks>,
    /// Groups that the stack does not move.
    #[serde(default)]
    groups: Vec<GroupMarks>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeshMarks {
    mesh: MeshName,
    #[serde(default)]
    primitive: u32,
    vertices: Vec<u32>,
    #[serde(default)]
    group: Option<GroupName>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupMarks {
    name: GroupName,
    base: String,
}

/// The mesh's index in the file, or its name.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MeshName {
    Index(u32),
    Name(String),
}

/// A name, or a number that is one.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum GroupName {
    Name(String),
    Number(u32),
}

impl GroupName {
    fn text(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl Marks {
    /// The marks of a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let text = read_text(path, MAX_SMALL_BYTES)
            .map_err(|e| Failure::Input(format!("{name} cannot be read: {e}.")))?;
        serde_json::from_str(&text)
            .map_err(|e| Failure::Input(format!("{name} is not a file of marks: {e}.")))
    }
}

/// Marks vertices of the document: those of a group that it has join that group, others get a new one.
pub(super) fn apply(document: &mut Document, marks: &Marks, path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let mut bases: BTreeMap<String, Base> = BTreeMap::new();
    for group in &marks.groups {
        let base = Base::of_key(&group.base).ok_or_else(|| {
            let known = Base::ALL.map(Base::key).join(", ");
            Failure::Input(format!(
                "{name} moves the group \"{}\" by \"{}\", which is not one of {known}.",
                group.name.text(),
                group.base
            ))
        })?;
        bases.insert(group.name.text(), base);
    }
    let mut changed: BTreeMap<MeshId, ClusterMap> = BTreeMap::new();
    for entry in &marks.meshes {
        let id = mesh(document, &entry.mesh).ok_or_else(|| {
            let wanted = match &entry.mesh {
                MeshName::Index(index) => format!("mesh {index}"),
                MeshName::Name(name) => format!("the mesh \"{name}\""),
            };
            let n = document.meshes().len();
            Failure::Input(format!(
                "{name} marks {wanted}, which the model does not have; it has {n} meshes."
            ))
        })?;
        let item = &document.meshes()[&id];
        let geometry = &item.geometry;
        let primitive = geometry.primitives.get(entry.primitive as usize);
        let Some(primitive) = primitive else {
            return Err(Failure::Input(format!(
                "{name} marks primitive {} of mesh {}, which has {}.",
                entry.primitive,
                id.0,
                geometry.primitives.len()
            )));
        };
        let vertices = &primitive.vertices;
        let n_vertices = vertices.end - vertices.start;
        if let Some(lost) = entry.vertices.iter().find(|v| **v >= n_vertices) {
            return Err(Failure::Input(format!(
                "{name} marks vertex {lost} of mesh {} primitive {}, which has {n_vertices} vertices.",
                id.0, entry.primitive
            )));
        }
        let points = entry.vertices.iter();
        let points = points.map(|v| geometry.point_of_vertex[(vertices.start + v) as usize]);
        let points: Vec<u32> = points.collect();
        let map = changed
            .entry(id)
            .or_insert_with(|| (*item.clusters).clone());
        let group = entry.group.as_ref();
        let group = group.map_or_else(|| DEFAULT_GROUP.to_owned(), GroupName::text);
        let group = group_named(map, &group, bases.get(&group).copied())?;
        *map = map.with_points(&points, Some(group));
    }
    for (mesh, map) in changed {
        let edit = ClustersEdit::new(document, mesh, Arc::new(map));
        document
            .apply(&mut Edit::Clusters(edit))
            .map_err(Failure::input)?;
    }
    Ok(())
}

/// The group of this name, added where there is none.
fn group_named(map: &mut ClusterMap, name: &str, base: Option<Base>) -> Result<u16, Failure> {
    let known = map.group_named(name);
    if let Some(known) = known.filter(|_| base.is_none()) {
        return Ok(known);
    }
    let index = known.map_or(map.groups().len(), usize::from);
    let mut group = match known {
        Some(known) => ClusterGroup::clone(&map.groups()[usize::from(known)]),
        None => ClusterGroup::new(name, index),
    };
    group.base = base.unwrap_or(group.base);
    *map = map.with_group(known, group).map_err(Failure::input)?;
    Ok(index as u16)
}

fn mesh(document: &Document, wanted: &MeshName) -> Option<MeshId> {
    let mut meshes = document.meshes().iter();
    let found = match wanted {
        MeshName::Index(index) => meshes.find(|(id, _)| id.0 == *index),
        MeshName::Name(name) => meshes.find(|(_, item)| item.geometry.name == *name),
    };
    found.map(|(&id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;

    fn marks(text: &str) -> Marks {
        serde_json::from_str(text).unwrap()
    }

    fn refused(text: &str) -> String {
        let mut document = open_sample("arm", &Task::new()).unwrap().document;
        let before = document.clone();
        let Err(Failure::Input(why)) = apply(&mut document, &marks(text), Path::new("m.json"))
        else {
            panic!("{text} was accepted")
        };
        assert!(document.same_content(&before));
        why
    }

    use crate::task::Task;

    #[test]
    fn marks_join_groups_and_name_what_is_wrong() {
        let mut document = open_sample("arm", &Task::new()).unwrap().document;
        let text = r#"{"meshes": [
            {"mesh": 0, "primitive": 0, "vertices": [0, 5, 9], "group": "Elbow"},
            {"mesh": 0, "vertices": [9, 11]},
            {"mesh": 0, "primitive": 0, "vertices": [20], "group": 3}
        ], "groups": [{"name": "Elbow", "base": "lbs"}]}"#;
        apply(&mut document, &marks(text), Path::new("m.json")).unwrap();
        let map = document.meshes()[&MeshId(0)].clusters.clone();
        let names: Vec<_> = map.groups().iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["Elbow", "Clusters", "3"]);
        assert_eq!(map.groups()[0].base, Base::Lbs);
        let of = |v: usize| map.group_of(document.meshes()[&MeshId(0)].geometry.point_of_vertex[v]);
        assert_eq!(
            [of(0), of(9), of(20), of(1)],
            [Some(0), Some(1), Some(2), None]
        );

        let why = refused(r#"{"meshes": [{"mesh": 7, "vertices": [0]}]}"#);
        assert!(
            why.contains("mesh 7") && why.contains("it has 1 meshes"),
            "{why}"
        );
        let why = refused(r#"{"meshes": [{"mesh": 0, "primitive": 4, "vertices": [0]}]}"#);
        assert!(why.contains("primitive 4 of mesh 0, which has 1"), "{why}");
        let why = refused(r#"{"meshes": [{"mesh": 0, "vertices": [0, 4294967295]}]}"#);
        assert!(
            why.contains("vertex 4294967295 of mesh 0 primitive 0"),
            "{why}"
        );
        let why = refused(r#"{"meshes": [], "groups": [{"name": "a", "base": "magic"}]}"#);
        assert!(why.contains("not one of stack, lbs, dqs, fixed"), "{why}");
        assert!(serde_json::from_str::<Marks>(r#"{"meshes": [], "more": 1}"#).is_err());
    }
}
