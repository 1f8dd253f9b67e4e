//! Which joints receive weight, and the segments of their bones.
//!
//! A joint's bone is the segment from it to each child among the joints of the skin (Baran and Popovic's edges,
//! Blender's head and tail); a leaf's continues the parent's to the surface. As Blender ignores bones without
//! *Deform*, joints that have no weight now and look like helpers (roots, chain ends, controls) are left out.

use super::welded_surface::WeldedSurface;
use crate::math::Ray;
use crate::mesh::SurfaceIndex;
use crate::skeleton::JointId;
use crate::weights::subject::Subject;
use glam::Vec3;

/// A leaf's bone ends at this fraction of the distance to the surface.
const INSIDE: f32 = 0.9;
/// Maximum length of a leaf's bone, in lengths of its parent's bone.
const LONGEST: f32 = 2.5;
/// Maximum number of surfaces that a leaf's bone passes through.
const MAX_PASSED: usize = 8;
/// A leaf with less room inside the mesh than this, in lengths of its parent's bone, is the end of that bone.
const MIN_LEAF_LENGTH: f32 = 0.1;

/// Names of root nodes, which move the whole model.
const ROOTS: &[&str] = &[
    "root",
    "armature",
    "master",
    "global",
    "world",
    "reference",
    "origin",
    "skeleton",
    "rig",
];
/// Words that may accompany the names of root nodes.
const FILLERS: &[&str] = &["joint", "bone", "node", "b", "jnt", "main"];

/// A bone of a joint, mesh space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segment {
    /// At the joint.
    pub(crate) head: Vec3,
    /// At its child or tail; may be the head.
    pub(crate) tail: Vec3,
}

/// A joint that receives weight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deformer {
    /// Index of the skin.
    pub(crate) joint: u16,
    /// At least one.
    pub(crate) segments: Vec<Segment>,
}

/// The joints that receive weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Deformers {
    /// By joint, ascending.
    pub(crate) list: Vec<Deformer>,
    /// Which joints were left out and why, in sentences.
    pub(crate) notes: Vec<String>,
}

impl Segment {
    /// The position on the bone nearest to `p`.
    pub(crate) fn nearest(&self, p: Vec3) -> Vec3 {
        let along = self.tail - self.head;
        let t = (p - self.head).dot(along) / along.length_squared();
        if t.is_finite() {
            self.head + along * t.clamp(0.0, 1.0)
        } else {
            self.head
        }
    }

    /// The distance of `p` from it.
    pub(crate) fn distance(&self, p: Vec3) -> f32 {
        self.nearest(p).distance(p)
    }
}

impl Deformer {
    /// The position on its bones nearest to `p`.
    pub(crate) fn nearest(&self, p: Vec3) -> Vec3 {
        let nearest = self.segments.iter().map(|s| s.nearest(p));
        nearest
            .min_by(|a, b| a.distance_squared(p).total_cmp(&b.distance_squared(p)))
            .unwrap_or(p)
    }

    /// The distance of `p` from its nearest bone.
    pub(crate) fn distance(&self, p: Vec3) -> f32 {
        self.nearest(p).distance(p)
    }
}

impl Deformers {
    /// The unlocked joints that receive weight.
    pub(crate) fn new(
        subject: &Subject<'_>,
        surface: &WeldedSurface,
        index: &SurfaceIndex,
    ) -> Self {
        Tree::new(subject, surface).deformers(subject, surface, index)
    }

    /// Removes deformers (indices, ascending) and notes it.
    pub(crate) fn leave_out(&mut self, subject: &Subject<'_>, away: &[usize]) {
        if away.is_empty() {
            return;
        }
        self.notes.push(format!(
            "Bones outside this mesh, while others are inside: {}. They get no weight.",
            self.labels(subject, away)
        ));
        let mut at = 0;
        self.list.retain(|_| {
            at += 1;
            away.binary_search(&(at - 1)).is_err()
        });
    }

    /// The name of a deformer in messages.
    pub(crate) fn label(&self, subject: &Subject<'_>, deformer: usize) -> String {
        let joint = subject.joints[usize::from(self.list[deformer].joint)];
        format!("\"{}\"", subject.skeleton.label(joint))
    }

    /// Names, separated by commas.
    pub(crate) fn labels(&self, subject: &Subject<'_>, deformers: &[usize]) -> String {
        some(deformers.iter().map(|&d| self.label(subject, d)))
    }
}

/// Up to six of the names, and how many more there are.
pub(crate) fn some(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(6);
    let listed = names[..names.len() - more].join(", ");
    if more > 0 {
        format!("{listed} and {more} more")
    } else {
        listed
    }
}

/// The joints of the skin as a tree.
struct Tree {
    heads: Vec<Vec3>,
    /// The nearest ancestor in the skin, at the same position or not.
    above: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    carries: Vec<bool>,
    same_place: f32,
}

/// Why a joint receives no weight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Helper {
    Root,
    End,
    Control,
    NoRoom,
}

impl Tree {
    fn new(subject: &Subject<'_>, surface: &WeldedSurface) -> Self {
        let n = subject.joints.len().min(subject.bind.len());
        let heads: Vec<Vec3> = subject.bind[..n]
            .iter()
            .map(|b| {
                Some(b.translation.as_vec3())
                    .filter(|h| h.is_finite())
                    .unwrap_or(Vec3::ZERO)
            })
            .collect();
        let slot = |joint: JointId| subject.joints[..n].iter().position(|&j| j == joint);
        let is_node = |k: usize| subject.skeleton.is_live(subject.joints[k]);
        let above: Vec<Option<usize>> = (0..n)
            .map(|k| {
                let joint = Some(subject.joints[k]).filter(|_| is_node(k))?;
                subject.skeleton.logical_ancestors(joint).find_map(slot)
            })
            .collect();
        let mut children = vec![Vec::new(); n];
        for (k, parent) in above.iter().enumerate() {
            if let Some(parent) = *parent {
                children[parent].push(k);
            }
        }
        let mut carries = vec![false; n];
        for point in 0..subject.n_points() as u32 {
            for (joint, weight) in subject.row(point).iter() {
                if let Some(slot) = carries.get_mut(usize::from(joint)) {
                    *slot |= weight > 0.0;
                }
            }
        }
        Self {
            heads,
            above,
            children,
            carries,
            same_place: surface.diagonal() * 1e-5,
        }
    }

    fn deformers(
        &self,
        subject: &Subject<'_>,
        surface: &WeldedSurface,
        index: &SurfaceIndex,
    ) -> Deformers {
        let n = self.heads.len();
        let mut helpers: Vec<Option<Helper>> =
            (0..n).map(|k| self.named_helper(subject, k)).collect();
        let mut tails = vec![None; n];
        for k in 0..n {
            if helpers[k].is_some() {
                continue;
            }
            let moving = self.ends(k, &|c| !matches!(helpers[c], Some(Helper::Control)));
            if !moving.is_empty() {
                continue;
            }
            let (tail, has_room) = self.leaf_tail(subject, surface, index, k);
            tails[k] = Some(tail);
            let spare = !self.carries[k] && self.above[k].is_some();
            if !has_room && spare {
                helpers[k] = Some(Helper::NoRoom);
            }
        }
        let mut deformers = Deformers::default();
        if (0..n).all(|k| helpers[k].is_some() || subject.is_locked(k as u16)) {
            helpers.fill(None);
        }
        for k in (0..n).filter(|&k| helpers[k].is_none() && !subject.is_locked(k as u16)) {
            let head = self.heads[k];
            let own_tail = subject
                .skeleton
                .joints()
                .get(subject.joints[k].get())
                .and_then(|j| j.rule.tail);
            let own_tail = own_tail
                .map(|t| subject.bind[k].transform_point3(t).as_vec3())
                .filter(|t| t.is_finite());
            let mut ends: Vec<Vec3> = match own_tail {
                Some(tail) => vec![tail],
                None => {
                    let leads = |c: usize| !matches!(helpers[c], Some(Helper::Control));
                    self.ends(k, &leads)
                        .into_iter()
                        .map(|c| self.heads[c])
                        .collect()
                }
            };
            if ends.is_empty() {
                ends.push(tails[k].unwrap_or(head));
            }
            deformers.list.push(Deformer {
                joint: k as u16,
                segments: ends
                    .into_iter()
                    .map(|tail| Segment { head, tail })
                    .collect(),
            });
        }
        for (helper, what) in [
            (Helper::Root, "a root node"),
            (Helper::End, "the end of a chain"),
            (Helper::Control, "a control"),
            (Helper::NoRoom, "a chain end without room inside the mesh"),
        ] {
            let those =
                (0..n).filter(|&k| helpers[k] == Some(helper) && !subject.is_locked(k as u16));
            let names: Vec<String> = those
                .map(|k| format!("\"{}\"", subject.skeleton.label(subject.joints[k])))
                .collect();
            if !names.is_empty() {
                let names = some(names.into_iter());
                deformers.notes.push(format!(
                    "No weight for {names}: it has none now and looks like {what}."
                ));
            }
        }
        deformers
    }

    /// The nearest descendants of `k` at another position, through those at the same one; only those that `leads`
    /// accepts.
    fn ends(&self, k: usize, leads: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut open: Vec<usize> = self.children[k].clone();
        while let Some(c) = open.pop() {
            if !leads(c) {
                continue;
            }
            if self.heads[c].distance(self.heads[k]) > self.same_place {
                ends.push(c);
            } else {
                open.extend(&self.children[c]);
            }
        }
        ends.sort_unstable();
        ends
    }

    fn named_helper(&self, subject: &Subject<'_>, k: usize) -> Option<Helper> {
        if self.carries[k] {
            return None;
        }
        let words = words(&subject.skeleton.label(subject.joints[k]));
        let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
        if has(&[
            "ik",
            "pole",
            "poletarget",
            "target",
            "ctrl",
            "control",
            "controller",
            "helper",
        ]) {
            Some(Helper::Control)
        } else if self.children[k].is_empty() && has(&["end", "nub", "leaf", "tip"]) {
            Some(Helper::End)
        } else if !self.children[k].is_empty()
            && has(ROOTS)
            && words
                .iter()
                .all(|w| ROOTS.contains(&w.as_str()) || FILLERS.contains(&w.as_str()))
            // Exporters add a root above the root.
            && self.above[k].is_none_or(|a| self.named_helper(subject, a) == Some(Helper::Root))
        {
            Some(Helper::Root)
        } else {
            None
        }
    }

    /// The tail of a leaf's bone, and whether there is room for one.
    fn leaf_tail(
        &self,
        subject: &Subject<'_>,
        surface: &WeldedSurface,
        index: &SurfaceIndex,
        k: usize,
    ) -> (Vec3, bool) {
        let head = self.heads[k];
        let elsewhere = |p: &Vec3| p.distance(head) > self.same_place;
        // A child node that is not in the skin marks the tail of the bone.
        let joint = subject.joints[k];
        if joint.get() < subject.skeleton.len()
            && let [child] = subject.skeleton.children(joint)
        {
            let position = subject.skeleton.joint(*child).rest.translation;
            let tail = subject.bind[k].transform_point3(position).as_vec3();
            let is_bone = subject.joints.contains(child);
            if !is_bone && tail.is_finite() && elsewhere(&tail) {
                return (tail, true);
            }
        }
        let mut up = self.above[k];
        while let Some(a) = up.filter(|&a| !elsewhere(&self.heads[a])) {
            up = self.above[a];
        }
        let Some(from) = up.map(|a| self.heads[a]) else {
            return (head, true);
        };
        let length = head.distance(from);
        let Some(direction) = (head - from).try_normalize() else {
            return (head, false);
        };
        let cast = |origin: Vec3| {
            let ray = Ray { origin, direction };
            index.cast_ray(&ray, &surface.triangles, &surface.positions, |_| true)
        };
        // Surfaces inside others - teeth, the pieces of a puppet - are passed through: the last exit counts.
        let mut exit = None;
        let mut passed = 0.0;
        for _ in 0..MAX_PASSED {
            let Some(hit) = cast(head + direction * passed) else {
                break;
            };
            passed += hit.distance;
            if passed > length * LONGEST && exit.is_some() {
                break;
            }
            if !hit.front {
                exit = Some(passed);
            } else if exit.is_none() {
                break;
            }
            passed += length * 1e-3;
        }
        if let Some(exit) = exit {
            let room = exit * INSIDE;
            return (
                head + direction * room.min(length * LONGEST),
                room > length * MIN_LEAF_LENGTH,
            );
        }
        // On or outside of the surface: if the parent's bone leaves the surface there, the leaf is its end; an open
        // surface is no evidence.
        let leaves = cast(from)
            .is_some_and(|hit| !hit.front && hit.distance <= length * (1.0 + MIN_LEAF_LENGTH));
        // Never of zero length: at the tail of the parent's bone both would be equally near.
        (head + direction * (length * 0.5), !leaves)
    }
}

/// The words of a name in lower case: split at punctuation, digits and capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(
            words("mixamorig:HeadTop_End"),
            ["mixamorig", "head", "top", "end"]
        );
        assert_eq!(words("foot.IK.L"), ["foot", "ik", "l"]);
        assert_eq!(words("Bip01 L ToeNub"), ["bip", "l", "toe", "nub"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn names_are_listed_up_to_six() {
        let names = |n: usize| some((0..n).map(|i| i.to_string()));
        assert_eq!(names(2), "0, 1");
        assert_eq!(names(8), "0, 1, 2, 3, 4, 5 and 2 more");
    }
}
