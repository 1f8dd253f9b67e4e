//! Where a mesh does not meet the three assumptions of bulge compensation (Sulema & Rudenko): weights that change
//! smoothly, a heaviest bone that is the nearest one, and a falloff of 0.63 of the limb's radius.

use super::mesh_place;
use crate::deform::falloff_of_pairs;
use crate::document::{Document, MeshId, MeshItem};
use crate::finding::{Finding, Place, counted};
use crate::math::segment::distance_to_segment;
use crate::mesh::Mesh;
use crate::sentence::shortened_name;
use crate::skinning::{Influences, SkinBones, Variant};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The polynomials were fitted to this ratio of falloff and radius.
const SIGMA_OVER_R: f64 = 0.63;

/// A joint whose ratio differs by more than this factor is reported.
const RATIO: f64 = 1.5;

/// A weight that changes by more than this between neighbours is not smooth.
const ABRUPT: f32 = 0.5;

/// The other bone is nearer if its distance is less than this share of the heaviest bone's.
const NEARER: f64 = 0.8;

/// A joint is reported if this share of its vertices does not meet an assumption.
const SHARE: f64 = 0.1;

/// Joints with fewer vertices are left out.
const FEWEST: usize = 8;

/// Maximum number of points that are examined: of a larger mesh every n-th one.
const MOST_POINTS: usize = 1 << 16;

/// Maximum letters of a joint's name.
const MOST_LETTERS: usize = 32;

/// Joints that one finding names.
const MOST_NAMES: usize = 3;

/// The points of two joints, which are their heaviest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pair {
    n_points: usize,
    /// Those whose weights jump to a neighbour, and those that are nearer to the lighter bone.
    abrupt: usize,
    nearer: usize,
}

impl Pair {
    fn add(&mut self, other: &Self) {
        self.n_points += other.n_points;
        self.abrupt += other.abrupt;
        self.nearer += other.nearer;
    }
}

/// Findings about the joints of a mesh, for each assumption one; none without bulge compensation.
pub(super) fn findings(document: &Document, id: MeshId, item: &MeshItem) -> Vec<Finding> {
    let settings = &item.stack.compensation;
    let acts = settings.enabled && settings.strength > 0.0;
    let Some(bones) = document.bind_bones(id).filter(|_| acts) else {
        return Vec::new();
    };
    let pairs = pairs(&item.influences, &item.geometry, &bones);
    let adapts = settings.auto_strength && settings.variant == Variant::Corrected;
    let deeper = |joints: [u16; 2]| {
        let [a, b] = joints;
        if bones.rank(a) <= bones.rank(b) { b } else { a }
    };
    let Some((_, skin)) = document.skin_of_mesh(id) else {
        return Vec::new();
    };
    let label = |joints: [u16; 2]| {
        let joint = skin.joints.get(usize::from(deeper(joints)))?;
        Some(document.skeleton().label(*joint))
    };
    let found = |test: &dyn Fn([u16; 2], &Pair) -> Option<String>| -> Vec<String> {
        let of_pair = |(&joints, pair): (&[u16; 2], &Pair)| {
            let figure = test(joints, pair)?;
            let name = label(joints)?;
            let name = shortened_name(&name, MOST_LETTERS);
            Some(format!("\"{name}\" ({figure})"))
        };
        pairs.iter().filter_map(of_pair).collect()
    };
    let share = |n: usize, pair: &Pair| {
        let share = n as f64 / pair.n_points as f64;
        (share > SHARE).then(|| format!("{:.0} % of its vertices", 100.0 * share))
    };
    // Automatic strength follows the ratios.
    let ratios = if adapts {
        HashMap::new()
    } else {
        let order = document.joint_order(skin);
        falloff_of_pairs(&item.influences, &order, &item.geometry, &bones)
    };
    let off = found(&|joints, _| {
        let ratio = ratios.get(&joints)?;
        let factor = (ratio / SIGMA_OVER_R).max(SIGMA_OVER_R / ratio);
        (factor > RATIO).then(|| format!("{ratio:.2} of the radius"))
    });
    let abrupt = found(&|_, pair| share(pair.abrupt, pair));
    let nearer = found(&|_, pair| share(pair.nearer, pair));
    let findings = [
        (
            off,
            "a falloff of 0.63 of the limb's radius",
            "the falloff differs",
            "Use Automatic strength, or Fit to active joint.",
        ),
        (
            abrupt,
            "smooth weights",
            "they jump between neighbouring vertices",
            "Smooth the weights.",
        ),
        (
            nearer,
            "that the heaviest bone of a vertex is the nearest",
            "the other bone is nearer",
            "Check the weights.",
        ),
    ];
    let place = mesh_place(item);
    let findings = findings.into_iter().filter(|f| !f.0.is_empty());
    findings
        .map(|(joints, assumption, but, advice)| {
            let names = joints[..joints.len().min(MOST_NAMES)].join(", ");
            let more = match joints.len().saturating_sub(MOST_NAMES) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let message = format!(
                "Bulge compensation assumes {assumption}. At {} {but}: {names}{more}. {advice}",
                counted(joints.len(), "bone"),
            );
            Finding::info(&place, message).at(Place::Mesh(id.0))
        })
        .collect()
}

/// Findings about the joints of all meshes.
pub fn of_compensation(document: &Document) -> Vec<Finding> {
    let meshes = document.meshes().iter();
    meshes
        .flat_map(|(&id, item)| findings(document, id, item))
        .collect()
}

/// The points of each pair of joints of a chain, by its ascending joints.
fn pairs(influences: &Influences, geometry: &Mesh, bones: &SkinBones) -> BTreeMap<[u16; 2], Pair> {
    let n_points = geometry.n_points().min(influences.len());
    let step = n_points.div_ceil(MOST_POINTS).max(1);
    let points: Vec<usize> = (0..n_points).step_by(step).collect();
    let found: Vec<_> = points
        .par_iter()
        .filter_map(|&p| of_point(p as u32, influences, geometry, bones))
        .collect();
    let mut pairs: BTreeMap<[u16; 2], Pair> = BTreeMap::new();
    for (joints, pair) in found {
        pairs.entry(joints).or_default().add(&pair);
    }
    pairs.retain(|_, pair| pair.n_points >= FEWEST);
    pairs
}

/// A point as a pair of one, with its joints; `None` if fewer than two joints move it, or they are not of one chain.
fn of_point(
    p: u32,
    influences: &Influences,
    geometry: &Mesh,
    bones: &SkinBones,
) -> Option<([u16; 2], Pair)> {
    let (joints, [heavy, light]) = heaviest(influences, p)?;
    let [heavy_joint, light_joint] = [heavy.0, light.0];
    if !bones.on_one_chain(heavy_joint, light_joint) {
        return None;
    }
    // Compensation leaves out joints without a line between them.
    bones.bind_line(joints)?;
    let at = geometry.positions[p as usize].as_dvec3() * bones.unit_scale();
    let weight_of = |[a, b]: [(u16, f32); 2]| if a.0 == joints[1] { a.1 } else { b.1 };
    let own = weight_of([heavy, light]);
    let mut pair = Pair {
        n_points: 1,
        ..Pair::default()
    };
    for &q in geometry.topology().neighbours(p) {
        let Some((other, weights)) = heaviest(influences, q) else {
            // From one bone alone to the other.
            let row = influences.row(q);
            let single = row.iter().find(|e| joints.contains(&e.0));
            let weight = single.map(|(joint, w)| if joint == joints[1] { w } else { 0.0 });
            pair.abrupt |= usize::from(weight.is_some_and(|w| (w - own).abs() > ABRUPT));
            continue;
        };
        if other != joints {
            continue;
        }
        let change = (weight_of(weights) - own).abs();
        pair.abrupt |= usize::from(change > ABRUPT);
    }
    let distance = |joint: u16| {
        let segments = bones.bind_segments(joint);
        let distances = segments.map(|ends| distance_to_segment(at, ends));
        distances.min_by(f64::total_cmp)
    };
    if let (Some(own), Some(other)) = (distance(heavy_joint), distance(light_joint)) {
        pair.nearer = usize::from(other < NEARER * own);
    }
    Some((joints, pair))
}

/// Two joints, ascending, and the same in the order of their weights with these.
type TwoJoints = ([u16; 2], [(u16, f32); 2]);

/// The two heaviest joints of a point.
fn heaviest(influences: &Influences, p: u32) -> Option<TwoJoints> {
    let mut two = [(0, 0.0); 2];
    for entry in influences.row(p).iter() {
        if entry.1 > two[0].1 {
            two = [entry, two[0]];
        } else if entry.1 > two[1].1 {
            two[1] = entry;
        }
    }
    let [(a, _), (b, light)] = two;
    (light > 0.0).then_some(([a.min(b), a.max(b)], two))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::task::Task;

    fn cylinder() -> (Document, MeshId) {
        let document = open_sample("cylinder", &Task::new()).unwrap().document;
        let mesh = *document.meshes().keys().next().unwrap();
        (document, mesh)
    }

    /// The one pair of the cylinder, with weights that `change` makes of those of its two joints.
    fn pair(change: impl Fn([f32; 2]) -> [f32; 2]) -> Pair {
        let (document, mesh) = cylinder();
        let item = &document.meshes()[&mesh];
        let bones = document.bind_bones(mesh).unwrap();
        let mut influences = item.influences.clone();
        let points: Vec<u32> = (0..influences.len() as u32).collect();
        let weight = |p: u32, joint: u16| {
            let mut row = influences.row(p).iter();
            row.find(|e| e.0 == joint).map_or(0.0, |e| e.1)
        };
        let mut rows = points
            .iter()
            .map(|&p| {
                let [a, b] = change([weight(p, 0), weight(p, 1)]);
                vec![(0, a), (1, b)]
            })
            .collect();
        influences.swap_rows(&points, &mut rows);
        pairs(&influences, &item.geometry, &bones)[&[0, 1]]
    }

    /// METHODS 0: sigma is 0.63, the radius 1.
    #[test]
    fn the_cylinder_of_the_paper_meets_all_assumptions() {
        let pair = pair(|weights| weights);
        assert_eq!((pair.abrupt, pair.nearer), (0, 0));
        let (document, mesh) = cylinder();
        let item = &document.meshes()[&mesh];
        let (_, skin) = document.skin_of_mesh(mesh).unwrap();
        let bones = document.bind_bones(mesh).unwrap();
        let order = document.joint_order(skin);
        let ratio = falloff_of_pairs(&item.influences, &order, &item.geometry, &bones)[&[0, 1]];
        assert!((ratio - SIGMA_OVER_R).abs() < 0.03, "{ratio}");
        let found = findings(&document, mesh, &document.meshes()[&mesh]);
        assert_eq!(found, []);
    }

    #[test]
    fn weights_of_the_wrong_bone_and_steps_are_counted() {
        let swapped = pair(|[a, b]| [b, a]);
        let share = swapped.nearer as f64 / swapped.n_points as f64;
        assert!(share > SHARE, "{share}");
        let stepped = pair(|[a, _]| if a > 0.5 { [0.9, 0.1] } else { [0.1, 0.9] });
        assert!(stepped.abrupt > 0);
    }

    #[test]
    fn findings_name_the_joints() {
        let document = open_sample("mannequin", &Task::new()).unwrap().document;
        for (&id, item) in document.meshes() {
            for finding in findings(&document, id, item) {
                let text = finding.to_string();
                assert!(text.contains("assumes") && text.len() <= 300, "{text}");
            }
        }
    }
}
