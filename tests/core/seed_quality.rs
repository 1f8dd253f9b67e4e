//! Normals after corrections, the measures of quality, and the corrections over an inflated bind shape.

use crate::reference::bones::{Bones, moved};
use crate::reference::compensation::{Compensation, F_MANUAL};
use crate::reference::cylinder::{Cylinder, N_SIDES, bones, pose};
use crate::reference::delta_mush::normals as face_normals;
use crate::reference::larger;
use crate::reference::normals::transport;
use crate::reference::projection::{Blended, published};
use crate::reference::two_phase::{Local, Tree};
use crate::reference::{
    Rigid, Row, distance_to_segment, dqs, dqs_rotation, lbs, lbs_normal, quality,
};
use crate::seed_000::unguarded;
use glam::{DQuat, DVec3};

/// Largest angle to the geometric normals on the outside of the bend, degrees.
fn worst_angle(shape: &Cylinder, posed: &[DVec3], normals: &[DVec3]) -> f64 {
    let geometric = face_normals(posed, &shape.triangles);
    let outer = (0..posed.len() - 2).filter(|v| v % N_SIDES == N_SIDES / 2);
    outer
        .filter(|&v| shape.positions[v].x.abs() <= 2.51)
        .map(|v| normals[v].angle_between(geometric[v]).to_degrees())
        .fold(0.0, larger)
}

#[test]
fn turned_normals_are_wrong_by_degrees_and_carried_ones_are_not() {
    let shape = Cylinder::new();
    let matrices = pose(90.0, 0.0);
    let motions = matrices.map(|m| Rigid::from_matrix(&m));
    let smooth: Vec<DVec3> = shape
        .positions
        .iter()
        .map(|p| DVec3::new(0.0, p.y, p.z).normalize_or(DVec3::X))
        .collect();
    let each = |f: &dyn Fn(DVec3, &Row) -> DVec3, from: &[DVec3]| -> Vec<DVec3> {
        from.iter()
            .zip(&shape.rows)
            .map(|(p, row)| f(*p, row))
            .collect()
    };
    let linear = each(&|p, row| lbs(p, row, &matrices), &shape.positions);
    let dual = each(&|p, row| dqs(p, row, &motions), &shape.positions);
    let compensated =
        unguarded(F_MANUAL).apply(&shape.positions, &shape.rows, &dual, &bones(), &motions);
    let projected: Vec<DVec3> = (0..dual.len())
        .map(|v| {
            published(
                shape.positions[v],
                &shape.rows[v],
                dual[v],
                &bones(),
                &motions,
            )
        })
        .collect();
    let cofactor = each(&|n, row| lbs_normal(n, row, &matrices), &smooth);
    let turned = each(&|n, row| dqs_rotation(row, &motions) * n, &smooth);
    for (what, posed, normals, expected) in [
        ("LBS, cofactor", &linear, &cofactor, 1.8),
        ("DQS, turned", &dual, &turned, 13.4),
        ("compensated, turned", &compensated, &turned, 15.3),
        ("projected, turned", &projected, &turned, 21.0),
    ] {
        let worst = worst_angle(&shape, posed, normals);
        assert!((worst - expected).abs() < 0.051, "{what}: {worst}");
        let carried = transport(&shape.positions, posed, &shape.triangles, &smooth);
        let worst = worst_angle(&shape, posed, &carried);
        assert!(worst < 0.031, "{what}, carried: {worst}");
    }
}

/// The cylinder's joints as a tree, the second bent by 90 degrees and scaled.
fn bent_tree(root_scale: DVec3, scale: DVec3) -> Tree {
    let at = |x: f64| Local(DVec3::new(x, 0.0, 0.0), DQuat::IDENTITY, DVec3::ONE);
    let mut pose = vec![at(-5.0), at(5.0)];
    pose[0].2 = root_scale;
    pose[1].1 = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    pose[1].2 = scale;
    Tree {
        parents: vec![None, Some(0)],
        bind: vec![at(-5.0), at(5.0)],
        pose,
    }
}

/// The inflated bind shape, its bones and motions, and the shape after DQS.
fn two_phases(shape: &Cylinder, tree: &Tree) -> (Vec<DVec3>, Bones, Vec<Rigid>, Vec<DVec3>) {
    let two_phase = tree.two_phase();
    let tail = two_phase.inflations[1].transform_point3(DVec3::new(5.0, 0.0, 0.0));
    let inflated_bones = Bones {
        origins: two_phase.origins.clone(),
        tails: vec![None, Some(tail)],
        ..bones()
    };
    let points = shape.positions.iter().zip(&shape.rows);
    let inflated: Vec<DVec3> = points.map(|(p, row)| two_phase.inflate(*p, row)).collect();
    let points = inflated.iter().zip(&shape.rows);
    let posed = points
        .map(|(p, row)| dqs(*p, row, &two_phase.motions))
        .collect();
    (inflated, inflated_bones, two_phase.motions, posed)
}

#[test]
fn seed_004_whole_pipeline_under_a_scaled_root_is_the_scaled_pipeline() {
    let shape = Cylinder::new();
    let run = |root_scale: f64| {
        let tree = bent_tree(DVec3::splat(root_scale), DVec3::ONE);
        let (inflated, bones, motions, posed) = two_phases(&shape, &tree);
        let posed = Compensation::default().apply(&inflated, &shape.rows, &posed, &bones, &motions);
        let blended = Blended::default();
        (0..posed.len())
            .map(|v| blended.project(inflated[v], &shape.rows[v], posed[v], &bones, &motions))
            .collect::<Vec<_>>()
    };
    // The root stands at (-5, 0, 0) and scales about itself.
    let root = DVec3::new(-5.0, 0.0, 0.0);
    for (plain, scaled) in run(1.0).iter().zip(run(2.5)) {
        assert!(scaled.abs_diff_eq(root + (*plain - root) * 2.5, 1e-12));
    }
}

#[test]
fn corrections_follow_the_inflated_shape() {
    // The child thicker by 1.6, bent by 90 degrees: how far outside of the inflated rest.
    let shape = Cylinder::new();
    let tree = bent_tree(DVec3::ONE, DVec3::new(1.0, 1.6, 1.6));
    let (inflated, bones, motions, posed) = two_phases(&shape, &tree);
    let distance = |p: DVec3, posed: bool| {
        let of = |j: usize| {
            let rest = bones.segments(j)[0];
            let (a, b) = if posed {
                moved(&motions[j], rest)
            } else {
                rest
            };
            distance_to_segment(p, a, b)
        };
        of(0).min(of(1))
    };
    let bulge = |posed: &[DVec3]| {
        (0..posed.len())
            .filter(|&v| shape.positions[v].x.abs() <= 2.51)
            .map(|v| distance(posed[v], true) - distance(inflated[v], false))
            .fold(f64::MIN, larger)
    };
    let compensated = unguarded(F_MANUAL).apply(&inflated, &shape.rows, &posed, &bones, &motions);
    let project = |from: &[DVec3]| -> Vec<DVec3> {
        let blended = Blended::default();
        (0..from.len())
            .map(|v| blended.project(inflated[v], &shape.rows[v], from[v], &bones, &motions))
            .collect()
    };
    for (what, posed, expected) in [
        ("DQS", posed.clone(), 0.1154),
        ("compensated", compensated.clone(), 0.0149),
        ("projected", project(&posed), 0.0076),
        ("both", project(&compensated), 0.0005),
    ] {
        // The reference's mesh is another one; the order of the methods is what counts.
        let actual = bulge(&posed);
        assert!((actual - expected).abs() < 2e-3, "{what}: {actual}");
    }
}

#[test]
fn measures_of_quality_on_a_bent_cylinder() {
    let shape = Cylinder::new();
    let motions = pose(90.0, 0.0).map(|m| Rigid::from_matrix(&m));
    let points = shape.positions.iter().zip(&shape.rows);
    let posed: Vec<DVec3> = points.map(|(p, row)| dqs(*p, row, &motions)).collect();
    let bulge = |p: &[DVec3], v: usize| {
        quality::bulge(shape.positions[v], p[v], &shape.rows[v], &bones(), &motions)
    };
    // With radius 1 the relative bulge is the table's.
    let side = |v: &usize| shape.positions[*v].x.abs() <= 2.51;
    let worst = (0..posed.len() - 2)
        .filter(side)
        .map(|v| bulge(&posed, v))
        .fold(0.0, larger);
    assert!((worst - 0.118846).abs() < 1e-6, "{worst}");
    // A rigid motion changes nothing.
    let whole = Rigid {
        rotation: DQuat::from_rotation_x(0.7),
        translation: DVec3::new(3.0, -2.0, 1.0),
    };
    let moved: Vec<DVec3> = shape.positions.iter().map(|p| whole.apply(*p)).collect();
    let (positions, triangles) = (&shape.positions, &shape.triangles);
    assert!(
        quality::strain(positions, &moved, triangles)
            .iter()
            .all(|e| e.abs() < 1e-12)
    );
    assert!(
        quality::area_change(positions, &moved, triangles)
            .iter()
            .all(|e| e.abs() < 1e-12)
    );
    assert!(quality::map_jump(positions, &moved, triangles) < 1e-9);
    let both = vec![whole; 2];
    assert_eq!(
        quality::folds(positions, &moved, triangles, &shape.rows, &both),
        (0, 0.0)
    );
    // Seen in a mirror, the half of the faces that look at it turn round.
    let mirrored: Vec<DVec3> = positions
        .iter()
        .map(|p| DVec3::new(p.x, p.y, -p.z))
        .collect();
    let still = vec![
        Rigid {
            rotation: DQuat::IDENTITY,
            translation: DVec3::ZERO
        };
        2
    ];
    let (count, area) = quality::folds(positions, &mirrored, triangles, &shape.rows, &still);
    assert!(
        count.abs_diff(triangles.len() / 2) < 5 * N_SIDES && area > 30.0,
        "{count} {area}"
    );
    // Bending by 120 degrees folds the inside.
    let sharp = pose(120.0, 0.0).map(|m| Rigid::from_matrix(&m));
    let points = positions.iter().zip(&shape.rows);
    let folded: Vec<DVec3> = points.map(|(p, row)| dqs(*p, row, &sharp)).collect();
    assert!(quality::folds(positions, &folded, triangles, &shape.rows, &sharp).0 > 0);
    assert!(
        quality::strain(positions, &folded, triangles)
            .iter()
            .any(|e| *e > 0.3)
    );
}
