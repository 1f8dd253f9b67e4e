//! Problems of the lattices and cages of control clusters: missing, or with clusters outside of them.

use crate::cluster::lattice::Outside;
use crate::cluster::{Base, ClusterGroup};
use crate::document::MeshItem;
use crate::finding::{Finding, counted};
use glam::DVec3;

/// The largest number of angles for the test whether clusters are inside of a cage; more are not tested.
const MOST_ANGLES: usize = 1 << 22;

/// The problems of the lattices and cages of a mesh.
pub(super) fn of_controls(item: &MeshItem) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, group) in (0u16..).zip(item.clusters.groups()) {
        let points = || -> Vec<DVec3> {
            let own = item.clusters.clusters().iter().filter(|c| c.1 == index);
            let positions = &item.geometry.positions;
            let points = own.filter_map(|c| positions.get(c.0 as usize));
            points.map(|p| p.as_dvec3()).collect()
        };
        let found = match group.base {
            Base::Lattice => of_lattice(group, points),
            Base::Cage => of_cage(group, points),
            _ => None,
        };
        findings.extend(found.map(|why| {
            let place = format!("group \"{}\" of \"{}\"", group.name, item.geometry.name);
            Finding::warning(place, why)
        }));
    }
    findings
}

fn of_lattice(group: &ClusterGroup, points: impl Fn() -> Vec<DVec3>) -> Option<String> {
    let Some(lattice) = &group.lattice else {
        return Some(missing("lattice"));
    };
    if lattice.settings.outside == Outside::Nearest {
        return None;
    }
    let points = points();
    let outside = points.iter().filter(|p| !lattice.settings.contains(**p));
    let n = outside.count();
    (n > 0).then(|| {
        format!(
            "{} {} outside of the lattice, which does not move {}: choose Fit to clusters, or Follow as Outside.",
            counted(n, "cluster"),
            if n == 1 { "is" } else { "are" },
            if n == 1 { "it" } else { "them" },
        )
    })
}

fn of_cage(group: &ClusterGroup, points: impl Fn() -> Vec<DVec3>) -> Option<String> {
    let Some(cage) = &group.cage else {
        return Some(missing("cage"));
    };
    let points = points();
    let n_points = points.len();
    if !cage.holds(n_points) {
        return Some(format!(
            "The cage of {} does not act on as many as {}: use a coarser cage, or fewer clusters.",
            counted(cage.mesh.vertices().len(), "vertex"),
            counted(n_points, "cluster"),
        ));
    }
    if cage.mesh.triangles().len().saturating_mul(n_points) > MOST_ANGLES {
        return None;
    }
    let n = points.iter().filter(|p| !cage.mesh.contains(**p)).count();
    (n > 0).then(|| {
        format!(
            "{} {} outside of the cage, where it moves them less evenly: choose Fit to clusters, or a larger cage.",
            counted(n, "cluster"),
            if n == 1 { "is" } else { "are" },
        )
    })
}

fn missing(kind: &str) -> String {
    format!(
        "Its group is driven by a {}, and has none: choose Fit to clusters.",
        if kind == "cage" { "Cage" } else { "Lattice" }
    )
}
