//! Problems of the lattices and cages of control clusters: missing, or with clusters outside of them.

use crate::cluster::lattice::Outside;
use crate::cluster::{Base, ClusterGroup};
use crate::document::{MeshId, MeshItem};
use crate::finding::{Finding, Place, counted};
use glam::DVec3;

/// The largest number of angles for the test whether clusters are inside of a cage; more are not tested.
const MOST_ANGLES: usize = 1 << 22;

/// The problems of the lattices and cages of a mesh.
pub(super) fn of_controls(mesh: MeshId, item: &MeshItem) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, group) in (0u16..).zip(item.clusters.groups()) {
        let points = || -> Vec<(u32, DVec3)> {
            let own = item.clusters.clusters().iter().filter(|c| c.1 == index);
            let positions = &item.geometry.positions;
            let points = own.filter_map(|c| Some((c.0, positions.get(c.0 as usize)?)));
            points.map(|(point, p)| (point, p.as_dvec3())).collect()
        };
        let found = match group.base {
            Base::Lattice => of_lattice(group, points),
            Base::Cage => of_cage(group, points),
            _ => None,
        };
        findings.extend(found.map(|(why, points)| {
            let place = format!("group \"{}\" of \"{}\"", group.name, item.geometry.name);
            Finding::warning(place, why).at(Place::Points {
                mesh: mesh.0,
                points: points.into(),
            })
        }));
    }
    findings
}

/// What is wrong with a lattice, and the points that it is about.
fn of_lattice(
    group: &ClusterGroup,
    points: impl Fn() -> Vec<(u32, DVec3)>,
) -> Option<(String, Vec<u32>)> {
    let Some(lattice) = &group.lattice else {
        return Some((missing("lattice"), numbers(&points())));
    };
    if lattice.settings.outside == Outside::Nearest {
        return None;
    }
    let mut outside = points();
    outside.retain(|(_, p)| !lattice.settings.contains(*p));
    let n = outside.len();
    (n > 0).then(|| {
        let why = format!(
            "{} {} outside of the lattice, which does not move {}: choose Fit to clusters, or Follow as Outside.",
            counted(n, "cluster"),
            if n == 1 { "is" } else { "are" },
            if n == 1 { "it" } else { "them" },
        );
        (why, numbers(&outside))
    })
}

/// What is wrong with a cage, and the points that it is about.
fn of_cage(
    group: &ClusterGroup,
    points: impl Fn() -> Vec<(u32, DVec3)>,
) -> Option<(String, Vec<u32>)> {
    let mut points = points();
    let Some(cage) = &group.cage else {
        return Some((missing("cage"), numbers(&points)));
    };
    let n_points = points.len();
    if !cage.holds(n_points) {
        let why = format!(
            "The cage of {} does not act on as many as {}: use a coarser cage, or fewer clusters.",
            counted(cage.mesh.vertices().len(), "vertex"),
            counted(n_points, "cluster"),
        );
        return Some((why, numbers(&points)));
    }
    if cage.mesh.triangles().len().saturating_mul(n_points) > MOST_ANGLES {
        return None;
    }
    points.retain(|(_, p)| !cage.mesh.contains(*p));
    let n = points.len();
    (n > 0).then(|| {
        let why = format!(
            "{} {} outside of the cage, where it moves them less evenly: choose Fit to clusters, or a larger cage.",
            counted(n, "cluster"),
            if n == 1 { "is" } else { "are" },
        );
        (why, numbers(&points))
    })
}

fn numbers(points: &[(u32, DVec3)]) -> Vec<u32> {
    points.iter().map(|point| point.0).collect()
}

fn missing(kind: &str) -> String {
    format!(
        "Its group is driven by a {}, and has none: choose Fit to clusters.",
        if kind == "cage" { "Cage" } else { "Lattice" }
    )
}
