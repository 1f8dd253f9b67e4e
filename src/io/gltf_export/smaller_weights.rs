//! The primitives of corrected meshes whose weights take fewer bytes once they are written anew.

use super::interleaved::Interleaved;
use super::json::index;
use super::patch::Patch;
use super::primitives::{attributes, points_of};
use super::written_mesh::WrittenMesh;
use crate::skinning::Influences;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Rows whose sum differs from 1 by more than this keep their weights as they are.
const MAX_SUM_ERROR: f64 = 1e-3;

/// The accessors POSITION, JOINTS_0 and WEIGHTS_0 of a primitive.
type Vertices = [Option<usize>; 3];

/// The number of passes that drop primitives, since those of one view may hold back those of another; the next one drops all whose
/// weights are interleaved.
const MOST_PASSES: usize = 8;

/// The primitives of each mesh with baked morph targets for which joints of 8 or 16 bits and weights of 16 bits take fewer bytes
/// than their single set, which becomes free with it, and hold all influences. Without those that are written in any case.
pub(super) fn smaller_primitives(
    meshes: &[WrittenMesh<'_>],
    patch: &Patch,
    interleaved: &BTreeMap<usize, Interleaved>,
) -> Vec<BTreeSet<usize>> {
    let smaller = meshes.iter().map(|mesh| {
        let has_targets = mesh.baked.is_some_and(|baked| !baked.targets.is_empty());
        if has_targets {
            smaller_of_mesh(mesh, patch, interleaved)
        } else {
            BTreeSet::new()
        }
    });
    let mut smaller: Vec<BTreeSet<usize>> = smaller.collect();
    let places = interleaved.iter().flat_map(|(&view, rows)| {
        let columns = rows.columns();
        columns.map(move |(accessor, offset)| (accessor, (view, offset)))
    });
    let places: BTreeMap<usize, (usize, usize)> = places.collect();
    let sets = |mesh: &WrittenMesh<'_>, primitive: usize| {
        let attributes = attributes(&patch.json, mesh.mesh, primitive);
        let [_, joints, weights] = attributes.map_or([None; 3], vertices_of);
        [joints, weights].into_iter().flatten()
    };
    for pass in 0..=MOST_PASSES {
        let of_mesh = |(mesh, smaller): (&WrittenMesh<'_>, &BTreeSet<usize>)| -> Vec<usize> {
            let primitives = mesh.primitives.iter().chain(smaller);
            primitives
                .flat_map(|&primitive| sets(mesh, primitive))
                .collect()
        };
        let mut released: BTreeMap<usize, u32> = BTreeMap::new();
        for accessor in meshes.iter().zip(&smaller).flat_map(of_mesh) {
            *released.entry(accessor).or_default() += 1;
        }
        let kept = places.iter().filter(|(accessor, _)| {
            let n = released.get(accessor).copied().unwrap_or(0);
            n < patch.n_references(**accessor)
        });
        let kept: BTreeSet<(usize, usize)> = kept.map(|(_, place)| *place).collect();
        let is_last = pass == MOST_PASSES;
        // Nothing becomes free where the weights of other vertices stay in the same place of their rows.
        let is_freed = |accessor: usize| {
            let place = places.get(&accessor);
            place.is_none_or(|place| !is_last && !kept.contains(place))
        };
        let mut drops = false;
        for (mesh, primitives) in meshes.iter().zip(&mut smaller) {
            primitives.retain(|&primitive| {
                let frees = sets(mesh, primitive).all(is_freed);
                drops |= !frees;
                frees
            });
        }
        if !drops {
            break;
        }
    }
    smaller
}

/// Those of one mesh, as if all its weights became free.
fn smaller_of_mesh(
    mesh: &WrittenMesh<'_>,
    patch: &Patch,
    interleaved: &BTreeMap<usize, Interleaved>,
) -> BTreeSet<usize> {
    let item = mesh.item;
    let all = 0..item.geometry.primitives.len();
    let with_one_set = all.filter_map(|primitive| {
        let attributes = attributes(&patch.json, mesh.mesh, primitive)?;
        let vertices = vertices_of(attributes);
        let is_one = !attributes.contains_key("JOINTS_1") && !points_of(item, primitive).is_empty();
        is_one.then_some((primitive, vertices))
    });
    let with_one_set: Vec<(usize, Vertices)> = with_one_set.collect();
    // Primitives of several materials share their vertices in some files.
    let mut alike: BTreeMap<Vertices, u32> = BTreeMap::new();
    for (_, vertices) in &with_one_set {
        *alike.entry(*vertices).or_default() += 1;
    }
    let mut is_smaller: BTreeMap<Vertices, bool> = BTreeMap::new();
    let mut smaller = BTreeSet::new();
    for (primitive, vertices) in with_one_set {
        let n = alike[&vertices];
        let is_smaller = is_smaller.entry(vertices).or_insert_with(|| {
            let points = points_of(item, primitive);
            takes_fewer_bytes(patch, interleaved, (vertices, n), points, mesh.influences)
        });
        if *is_smaller && !mesh.primitives.contains(&primitive) {
            smaller.insert(primitive);
        }
    }
    smaller
}

fn vertices_of(attributes: &Map<String, Value>) -> Vertices {
    ["POSITION", "JOINTS_0", "WEIGHTS_0"].map(|name| index(attributes.get(name)))
}

/// `n`: the number of primitives with these vertices.
fn takes_fewer_bytes(
    patch: &Patch,
    interleaved: &BTreeMap<usize, Interleaved>,
    ([_, joints, weights], n): (Vertices, u32),
    points: &[u32],
    influences: &Influences,
) -> bool {
    let element = |accessor: Option<usize>| patch.separable_element(accessor?, n, interleaved);
    let (Some(joints), Some(weights)) = (element(joints), element(weights)) else {
        return false;
    };
    let mut largest = 0;
    let is_one_set = |&point: &u32| {
        let (mut n, mut sum) = (0, 0.0);
        for (slot, w) in influences.row(point).iter().filter(|&(_, w)| w > 0.0) {
            (n, sum) = (n + 1, sum + f64::from(w));
            largest = largest.max(slot);
        }
        // 16 bits store fractions of the sum, which would change others.
        (1..=4).contains(&n) && (sum - 1.0).abs() <= MAX_SUM_ERROR
    };
    let fits = points.iter().all(is_one_set);
    let of_joint = if largest <= 0xff { 1 } else { 2 };
    fits && 4 * (of_joint + 2) < joints + weights
}
