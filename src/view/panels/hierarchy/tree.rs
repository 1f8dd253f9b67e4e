//! The rows of the tree: what there is, and what of it is seen.

use crate::document::{Document, InstanceId};
use crate::skeleton::{JointId, Skeleton};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// More objects than these stand below the bones.
const MANY_OBJECTS: usize = 4;

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    /// A drawn mesh.
    Object(InstanceId),
    /// A bone, or a node that is none.
    Joint(JointId),
}

/// One row, seen or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) item: Item,
    pub(super) label: String,
    /// For the filter.
    lower: String,
    pub(super) depth: usize,
    /// Rows below it that belong to it.
    pub(super) n_below: usize,
    /// Whether some skin lists it; objects are none.
    pub(super) is_bone: bool,
}

/// A row that is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Index of the row.
    pub(super) row: usize,
    /// It is there only because something below it matches the filter.
    pub(super) is_dim: bool,
}

/// All rows, and those that are seen; worked out again only when something they depend on has changed.
#[derive(Debug, Default)]
pub(super) struct Tree {
    rows: Vec<Row>,
    seen: Vec<Seen>,
    row_of: BTreeMap<Item, usize>,
    collapsed: BTreeSet<Item>,
    filter: String,
    all_nodes: bool,
    /// What the rows were made of.
    skeleton: Option<Arc<Skeleton>>,
    model_serial: u64,
    n_bones: usize,
}

impl Tree {
    /// Brings the rows up to date with the document.
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
            self.look();
        }
    }

    fn build(&mut self, document: &Document) {
        let skeleton = document.skeleton();
        let is_bone = document.skin_joint_mask();
        self.n_bones = is_bone.iter().filter(|b| **b).count();
        self.rows.clear();
        let mut objects = Vec::new();
        for (&id, instance) in document.instances() {
            let mesh = document.meshes().get(&instance.mesh);
            let name = mesh.map_or("", |m| m.geometry.name.as_str());
            let node = skeleton.joints().get(instance.joint.get());
            // The node is what other programs list; the mesh's name stands in for it.
            let label = match node.map(|n| n.name.as_str()) {
                Some(node) if !node.is_empty() => node.to_owned(),
                _ if name.is_empty() => format!("Object {}", id.0),
                _ => name.to_owned(),
            };
            objects.push(Row::new(Item::Object(id), label, 0, false));
        }
        // Of a model in many parts the bones come first: there they are what one looks for.
        let are_many = objects.len() > MANY_OBJECTS;
        if !are_many {
            self.rows.append(&mut objects);
        }
        let is_shown = |joint: JointId| self.all_nodes || is_bone[joint.get()];
        // (joint, how many of its ancestors are shown)
        let mut open: Vec<(JointId, usize)> = skeleton.roots().map(|j| (j, 0)).collect();
        open.reverse();
        // Rows whose ends are not known yet.
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

    /// Works out what is seen.
    fn look(&mut self) {
        self.seen.clear();
        if self.filter.is_empty() {
            let mut i = 0;
            while let Some(row) = self.rows.get(i) {
                self.seen.push(Seen {
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
        // What matches, and what it hangs on.
        let mut above: Vec<(usize, bool)> = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            above.truncate(row.depth);
            above.push((i, false));
            if row.lower.contains(&self.filter) {
                for (ancestor, is_seen) in &mut above {
                    if !std::mem::replace(is_seen, true) {
                        self.seen.push(Seen {
                            row: *ancestor,
                            is_dim: !self.rows[*ancestor].lower.contains(&self.filter),
                        });
                    }
                }
            }
        }
    }

    /// The rows that are seen, from the top.
    pub(super) fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// A row by its index.
    pub(super) fn row(&self, index: usize) -> &Row {
        &self.rows[index]
    }

    /// How many bones the model has.
    pub(super) fn n_bones(&self) -> usize {
        self.n_bones
    }

    /// How many rows match the filter.
    pub(super) fn n_matches(&self) -> usize {
        self.seen.iter().filter(|s| !s.is_dim).count()
    }

    /// The place of `item` among the rows that are seen.
    pub(super) fn place(&self, item: Item) -> Option<usize> {
        let row = *self.row_of.get(&item)?;
        self.seen.binary_search_by_key(&row, |s| s.row).ok()
    }

    /// Whether the rows below `item` are folded away.
    pub(super) fn is_collapsed(&self, item: Item) -> bool {
        self.filter.is_empty() && self.collapsed.contains(&item)
    }

    /// Folds the rows below `item` away, or unfolds them.
    pub(super) fn collapse(&mut self, item: Item, collapse: bool) {
        let changed = if collapse {
            self.collapsed.insert(item)
        } else {
            self.collapsed.remove(&item)
        };
        if changed {
            self.look();
        }
    }

    /// The row that `item` hangs on.
    pub(super) fn parent(&self, item: Item) -> Option<Item> {
        let row = *self.row_of.get(&item)?;
        let depth = self.rows[row].depth.checked_sub(1)?;
        self.rows[..row]
            .iter()
            .rfind(|r| r.depth == depth && matches!(r.item, Item::Joint(_)))
            .map(|r| r.item)
    }

    /// Unfolds everything that `item` hangs on.
    pub(super) fn reveal(&mut self, item: Item) {
        let mut changed = false;
        let mut above = self.parent(item);
        while let Some(item) = above {
            changed |= self.collapsed.remove(&item);
            above = self.parent(item);
        }
        if changed {
            self.look();
        }
    }

    /// The bones of the rows between two places, both included.
    pub(super) fn range(&self, a: usize, b: usize) -> impl Iterator<Item = JointId> {
        let range = a.min(b)..(a.max(b) + 1).min(self.seen.len());
        self.seen[range]
            .iter()
            .filter_map(|seen| match self.rows[seen.row].item {
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

/// Gives a row the number of rows below it: all that came since.
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
        tree.seen()
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
        assert_eq!(tree.seen().len(), n_objects + tree.n_bones());
        let root = tree.row(n_objects).item;
        assert_eq!(tree.row(n_objects).n_below, tree.n_bones() - 1);
        tree.collapse(root, true);
        assert_eq!(tree.seen().len(), n_objects + 1);
        let last = tree.rows.last().unwrap().item;
        assert_eq!(tree.place(last), None);
        tree.reveal(last);
        assert_eq!(tree.place(last), Some(tree.rows.len() - 1));

        let leaf = tree.rows.last().unwrap().label.clone();
        tree.update(&document, 1, &leaf.to_uppercase(), false);
        let found = labels(&tree);
        assert_eq!(found.last(), Some(&(leaf, false)));
        assert!(found[0].1, "what it hangs on is dim: {found:?}");
        tree.update(&document, 1, "no such bone", false);
        assert!(tree.seen().is_empty());
        tree.update(&document, 1, "", true);
        assert!(tree.seen().len() >= n_objects + document.skeleton().n_live());
    }
}
