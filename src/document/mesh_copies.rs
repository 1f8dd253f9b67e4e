//! Meshes that are copies of meshes of the file, which some of their instances draw instead.

use super::{Document, InstanceId, MeshId, MeshItem};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

impl Document {
    /// The copies of meshes, each with the mesh of the file that it is a copy of. They follow the file's meshes in files.
    pub fn mesh_copies(&self) -> &BTreeMap<MeshId, MeshId> {
        &self.mesh_copies
    }

    /// The mesh of the file that has the primitives of `mesh`: that which it is a copy of, or itself.
    pub fn mesh_of_file(&self, mesh: MeshId) -> MeshId {
        self.mesh_copies.get(&mesh).copied().unwrap_or(mesh)
    }

    /// Gives instances of a mesh a copy of it, named `name`, and returns its id; `None` where the mesh does not exist or one of
    /// the instances draws another one.
    pub fn restore_mesh_copy(
        &mut self,
        of: MeshId,
        name: &str,
        instances: &[InstanceId],
    ) -> Option<MeshId> {
        let mut item = MeshItem::clone(self.meshes.get(&of)?);
        let mesh = &item.geometry;
        let [positions, normals] = [&mesh.positions, &mesh.normals].map(Clone::clone);
        let mut copy = mesh.with_shape(positions, normals, mesh.morphs.clone());
        name.clone_into(&mut copy.name);
        item.geometry = Arc::new(copy);
        self.put_copy(of, item, instances)
    }

    /// Gives instances of the mesh `of` the mesh `item`, which has its primitives, and returns its id; `None` as for
    /// [`Document::restore_mesh_copy`].
    pub(super) fn put_copy(
        &mut self,
        of: MeshId,
        item: MeshItem,
        instances: &[InstanceId],
    ) -> Option<MeshId> {
        let draws = |id: &InstanceId| self.instances.get(id).is_some_and(|i| i.mesh == of);
        if !self.meshes.contains_key(&of) || !instances.iter().all(draws) {
            return None;
        }
        let id = self.next_mesh();
        let source = self.mesh_of_file(of);
        self.meshes.insert(id, Arc::new(item));
        Arc::make_mut(&mut self.mesh_copies).insert(id, source);
        for instance in instances {
            if let Some(instance) = self.instances.get_mut(instance) {
                Arc::make_mut(instance).mesh = id;
            }
        }
        Some(id)
    }

    /// The id of the next new mesh: files number meshes by their place in the list.
    fn next_mesh(&self) -> MeshId {
        let source = self.source.as_ref();
        let list = source.and_then(|source| source.json.get("meshes")?.as_array());
        let known = self.meshes.keys().last().map_or(0, |id| id.0 + 1);
        MeshId(known.max(list.map_or(0, Vec::len) as u32))
    }
}

/// The names of copies of meshes: the mesh's own with the next free number.
pub(super) struct CopyNames {
    taken: HashSet<String>,
    /// The last number of each name.
    last: HashMap<String, usize>,
}

impl CopyNames {
    /// Those that the meshes of a document leave free.
    pub(super) fn of(document: &Document) -> Self {
        let items = document.meshes.values();
        Self {
            taken: items.map(|item| item.geometry.name.clone()).collect(),
            last: HashMap::new(),
        }
    }

    /// The next name of a copy of a mesh named `name`: "body.001" for "body", "body.002" for "body.001"; none for none.
    pub(super) fn next(&mut self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        let is_number = |end: &str| end.len() >= 3 && end.bytes().all(|b| b.is_ascii_digit());
        let numbered = name.rsplit_once('.');
        let numbered = numbered.filter(|(base, end)| !base.is_empty() && is_number(end));
        let base = numbered.map_or(name, |(base, _)| base);
        let last = self.last.entry(base.to_owned()).or_default();
        loop {
            *last += 1;
            let wanted = format!("{base}.{last:03}");
            if self.taken.insert(wanted.clone()) {
                return wanted;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_the_next_free_number() {
        let taken = ["body", "body.002", "v1.5", ""].map(str::to_owned);
        let mut names = CopyNames {
            taken: taken.into(),
            last: HashMap::new(),
        };
        let wanted = [
            ("body", "body.001"),
            ("body.002", "body.003"),
            ("body", "body.004"),
            ("v1.5", "v1.5.001"),
            (".001", ".001.001"),
            ("", ""),
        ];
        for (name, copy) in wanted {
            assert_eq!(names.next(name), copy);
        }
    }
}
