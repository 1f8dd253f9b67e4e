//! The rows of the hierarchy, and which of them are visible.

use crate::document::{Document, InstanceId};
use crate::skeleton::{JointId, Skeleton};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// With more objects than this, the objects follow the bones.
const MANY_OBJECTS: usize = 4;

/// What a row represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    /// An object: a node that draws a mesh.
    Object(InstanceId),
    /// A joint, or a node that is not a joint.
    Joint(JointId),
}

/// One row, visible or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) item: Item,
    pub(super) label: String,
    /// The name in lower case, for the filter.
    lower: String,
    pub(super) depth: usize,
    /// The number of descendants in the list.
    pub(super) n_below: usize,
    /// Whether a skin lists it; `false` for objects.
    pub(super) is_bone: bool,
}

/// A visible row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VisibleRow {
    /// Index of the row.
    pub(super) row: usize,
    /// Listed only because a descendant matches the filter.
    pub(super) is_dim: bool,
}

/// All rows and the visible ones; rebuilt only when their source changes.
#[derive(Debug, Default)]
pub(super) struct Tree {
    rows: Vec<Row>,
    visible: Vec<VisibleRow>,
    row_of: BTreeMap<Item, usize>,
    collapsed: BTreeSet<Item>,
    filter: String,
    all_nodes: bool,
    /// What the rows were built from.
    skeleton: Option<Arc<Skeleton>>,
    model_serial: u64,
    n_bones: usize,
}

impl Tree {
    /// Rebuilds the rows if the document, the filter or the mode changed.
    pub(super) fn update(
        &mut self,
        document: &Document,
        model_serial: u64,
        filter: &str,
        all_nodes: bool,
    ) {
        let is_same_model = self.model_serial == model_serial;
        let is_same = is_same_model
            && self.all_nodes == all_nodes
            && self
                .skeleton
                .as_ref()
                .is_some_and(|skeleton| Arc::ptr_eq(skeleton, document.skeleton()));
        if !is_same_model {
            self.collapsed.clear();
        }
        if !is_same {
            self.model_serial = model_serial;
            self.all_nodes = all_nodes;
            self.skeleton = Some(document.skeleton().clone());
            self.build(document);
        }
        let filter = filter.trim().to_lowercase();
        if !is_same || self.filter != filter {
            self.filter = filter;
            self.update_visible();
        }
    }

    fn build(&mut self, document: &Document) {
        let skeleton = document.skeleton();
        let is_bone = document.bone_mask();
        self.n_bones = is_bone.iter().filter(|b| **b).count();
        self.rows.clear();
        let mut objects = Vec::new();
        for (&id, instance) in document.instances() {
            let mesh = document.meshes().get(&instance.mesh);
            let name = mesh.map_or("", |m| m.geometry.name.as_str());
            let node = skeleton.joints().get(instance.joint.get());
            // The node's name is what other programs list. The mesh's name replaces a missing one.
            let label = match node.map(|n| n.name.as_str()) {
                Some(node) if !node.is_empty() => node.to_owned(),
                _ if name.is_empty() => format!("Object {}", id.0),
                _ => name.to_owned(),
            };
            objects.push(Row::new(Item::Object(id), label, 0, false));
        }
        // In a model of many parts the bones come first: they are the usual target.
        let are_many = objects.len() > MANY_OBJECTS;
        if !are_many {
            self.rows.append(&mut objects);
        }
        let is_shown = |joint: JointId| self.all_nodes || is_bone[joint.get()];
        // (joint, how many of its ancestors are shown)
        let mut open: Vec<(JointId, usize)> = skeleton.roots().map(|j| (j, 0)).collect();
        open.reverse();
        // Rows whose descendants are not complete yet.
        let mut above: Vec<usize> = Vec::new();
        while let Some((joint, depth)) = open.pop() {
            let mut below = depth;
            if is_shown(joint) {
                while above.len() > depth {
                    close(&mut self.rows, above.pop());
                }
                above.push(self.rows.len());
                let label = skeleton.label(joint);
                let bone = is_bone[joint.get()];
                self.rows
                    .push(Row::new(Item::Joint(joint), label, depth, bone));
                below += 1;
            }
            let children = skeleton.children(joint).iter().rev();
            open.extend(children.map(|&child| (child, below)));
        }
        while let Some(row) = above.pop() {
            close(&mut self.rows, Some(row));
        }
        self.rows.append(&mut objects);
        self.row_of = (self.rows.iter().enumerate())
            .map(|(i, row)| (row.item, i))
            .collect();
    }

    /// Determines the visible rows.
    fn update_visible(&mut self) {
        self.visible.clear();
        if self.filter.is_empty() {
            let mut i = 0;
            while let Some(row) = self.rows.get(i) {
                self.visible.push(VisibleRow {
                    row: i,
                    is_dim: false,
                });
                let skipped = if self.collapsed.contains(&row.item) {
                    row.n_below
                } else {
                    0
                };
                i += 1 + skipped;
            }
            return;
        }
        // The matches and their ancestors.
        let mut above: Vec<(usize, bool)> = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            above.truncate(row.depth);
            above.push((i, false));
            if row.lower.contains(&self.filter) {
                for (ancestor, is_seen) in &mut above {
                    if !std::mem::replace(is_seen, true) {
                        self.visible.push(VisibleRow {
                            row: *ancestor,
                            is_dim: !self.rows[*ancestor].lower.contains(&self.filter),
                        });
                    }
                }
            }
        }
    }

    /// The visible rows, from the top.
    pub(super) fn visible(&self) -> &[VisibleRow] {
        &self.visible
    }

    /// A row by its index.
    pub(super) fn row(&self, index: usize) -> &Row {
        &self.rows[index]
    }

    /// The number of bones in the model.
    pub(super) fn n_bones(&self) -> usize {
        self.n_bones
    }

    /// The number of rows that match the filter.
    pub(super) fn n_matches(&self) -> usize {
        self.visible.iter().filter(|s| !s.is_dim).count()
    }

    /// The position of `item` among the visible rows.
    pub(super) fn place(&self, item: Item) -> Option<usize> {
        let row = *self.row_of.get(&item)?;
        self.visible.binary_search_by_key(&row, |s| s.row).ok()
    }

    /// Whether the descendants of `item` are folded.
    pub(super) fn is_collapsed(&self, item: Item) -> bool {
        self.filter.is_empty() && self.collapsed.contains(&item)
    }

    /// Folds or unfolds the descendants of `item`.
    pub(super) fn collapse(&mut self, item: Item, collapse: bool) {
        let changed = if collapse {
            self.collapsed.insert(item)
        } else {
            self.collapsed.remove(&item)
        };
        if changed {
            self.update_visible();
        }
    }

    /// The parent of `item`.
    pub(super) fn parent(&self, item: Item) -> Option<Item> {
        let row = *self.row_of.get(&item)?;
        let depth = self.rows[row].depth.checked_sub(1)?;
        self.rows[..row]
            .iter()
            .rfind(|r| r.depth == depth && matches!(r.item, Item::Joint(_)))
            .map(|r| r.item)
    }

    /// Unfolds all ancestors of `item`.
    pub(super) fn reveal(&mut self, item: Item) {
        let mut changed = false;
        let mut above = self.parent(item);
        while let Some(item) = above {
            changed |= self.collapsed.remove(&item);
            above = self.parent(item);
        }
        if changed {
            self.update_visible();
        }
    }

    /// The bones of the rows between two positions, both included.
    pub(super) fn range(&self, a: usize, b: usize) -> impl Iterator<Item = JointId> {
        let range = a.min(b)..(a.max(b) + 1).min(self.visible.len());
        self.visible[range]
            .iter()
            .filter_map(|visible| match self.rows[visible.row].item {
                Item::Joint(joint) => Some(joint),
                Item::Object(_) => None,
            })
    }
}

impl Row {
    fn new(item: Item, label: String, depth: usize, is_bone: bool) -> Self {
        Self {
            item,
            lower: label.to_lowercase(),
            label,
            depth,
            n_below: 0,
            is_bone,
        }
    }
}

/// Sets the number of descendants of `row`: all rows added since.
fn close(rows: &mut [Row], row: Option<usize>) {
    if let Some(row) = row {
        rows[row].n_below = rows.len() - row - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::task::Task;

    fn labels(tree: &Tree) -> Vec<(String, bool)> {
        tree.visible()
            .iter()
            .map(|s| (tree.row(s.row).label.clone(), s.is_dim))
            .collect()
    }

    #[test]
    fn rows_fold_filter_and_keep_what_they_hang_on() {
        let document = open_sample("mannequin", &Task::new()).unwrap().document;
        let mut tree = Tree::default();
        tree.update(&document, 1, "", false);
        let n_objects = document.instances().len();
        assert_eq!(tree.visible().len(), n_objects + tree.n_bones());
        let root = tree.row(n_objects).item;
        assert_eq!(tree.row(n_objects).n_below, tree.n_bones() - 1);
        tree.collapse(root, true);
        assert_eq!(tree.visible().len(), n_objects + 1);
        let last = tree.rows.last().unwrap().item;
        assert_eq!(tree.place(last), None);
        tree.reveal(last);
        assert_eq!(tree.place(last), Some(tree.rows.len() - 1));

        let leaf = tree.rows.last().unwrap().label.clone();
        tree.update(&document, 1, &leaf.to_uppercase(), false);
        let found = labels(&tree);
        assert_eq!(found.last(), Some(&(leaf, false)));
        assert!(found[0].1, "the ancestor is dim: {found:?}");
        tree.update(&document, 1, "no such bone", false);
        assert!(tree.visible().is_empty());
        tree.update(&document, 1, "", true);
        assert!(tree.visible().len() >= n_objects + document.skeleton().n_live());
    }
}
