//! Le & Hodgins 2016, "Real-time skeletal skinning with optimized centers of rotation": golden numbers in plain f64,
//! and what binning the triangles by their weights costs.

use crate::reference::centres::{binned, binned_by, centre, dense, patches, similarity, skin};
use crate::reference::cylinder::{Cylinder, pose, row_at};
use crate::reference::fixture::Fixture;
use crate::reference::larger;
use crate::reference::{Rigid, metrics};
use glam::DVec3;

#[test]
fn le_hodgins_2016_similarity_golden_numbers() {
    for (a, b, expected) in [
        (vec![0.7, 0.3], vec![0.7, 0.3], 0.0882),
        (vec![0.7, 0.3], vec![0.6, 0.4], 0.03708225),
        (vec![0.7, 0.3], vec![0.5, 0.5], 0.00192314),
        (vec![0.7, 0.3], vec![1.0, 0.0], 0.0),
        (vec![0.5, 0.3, 0.2], vec![0.4, 0.4, 0.2], 0.04990625),
    ] {
        let actual = similarity(&a, &b);
        assert!((actual - expected).abs() < 5.1e-9, "{a:?} {b:?}: {actual}");
        assert!((similarity(&b, &a) - actual).abs() < 1e-16);
    }
}

#[test]
fn le_hodgins_2016_centres_of_the_cylinder() {
    let shape = Cylinder::new();
    let weights: Vec<Vec<f64>> = shape.rows.iter().map(|r| dense(r, 2)).collect();
    let patches = patches(&shape.positions, &shape.triangles, &weights);
    for (x, expected) in [
        (-1.0, -0.91684297),
        (-0.5, -0.50814217),
        (-0.25, -0.25243401),
        (0.0, 0.0),
    ] {
        let actual = centre(&dense(&row_at(x), 2), &patches).unwrap();
        let expected = DVec3::new(expected, 0.0, 0.0);
        assert!(actual.abs_diff_eq(expected, 5.1e-9), "{x}: {actual}");
    }
    // Points of one bone have none, and move with their bone.
    assert_eq!(centre(&[1.0, 0.0], &patches), None);
    let motions = pose(90.0, 0.0).map(|m| Rigid::from_matrix(&m));
    let p = DVec3::new(-0.5, -1.0, 0.0);
    let turned = skin(p, &vec![(1, 1.0)], None, &motions);
    assert_eq!(turned, motions[1].apply(p));
    let row = row_at(-0.5);
    let posed = skin(p, &row, centre(&dense(&row, 2), &patches), &motions);
    assert!(
        posed.abs_diff_eq(DVec3::new(-0.0775923, -1.0553779, 0.0), 5.1e-8),
        "{posed}"
    );
}

#[test]
fn le_hodgins_2016_twist_keeps_its_radius() {
    let shape = Cylinder::new();
    let centres = crate::seed_tables::cylinder_centres(&shape);
    let motions = pose(0.0, 180.0).map(|m| Rigid::from_matrix(&m));
    let radius = |p: DVec3| p.y.hypot(p.z);
    let sides = 0..shape.positions.len() - 2;
    let least =
        |f: &dyn Fn(usize) -> DVec3| sides.clone().map(|v| radius(f(v))).fold(f64::MAX, f64::min);
    let (positions, rows) = (&shape.positions, &shape.rows);
    let turned = least(&|v| skin(positions[v], &rows[v], centres[v], &motions));
    assert!((turned - 1.0).abs() < 1e-9, "{turned}");
    let matrices = pose(0.0, 180.0);
    let collapsed = least(&|v| crate::reference::lbs(positions[v], &rows[v], &matrices));
    assert!(collapsed < 1e-9, "{collapsed}");
}

#[test]
fn le_hodgins_2016_bins_do_not_grow_with_the_mesh_and_cost_little() {
    // Bins at 1/32 and 1/64, and rounding roots instead, which resolves small weights better with as many bins.
    for (name, bins_32, bins_64) in [("junction_h20", 235, 482), ("junction_h10", 334, 791)] {
        let Some(fixture) = Fixture::read(name) else {
            return;
        };
        let weights: Vec<Vec<f64>> = fixture.rows.iter().map(|r| dense(r, 3)).collect();
        let all = patches(&fixture.positions, &fixture.triangles, &weights);
        let chosen: Vec<usize> = (0..weights.len()).step_by(7).collect();
        let exact: Vec<Option<DVec3>> = chosen.iter().map(|&v| centre(&weights[v], &all)).collect();
        let root = binned_by(&all, |w| w.max(0.0).sqrt() * 64.0);
        for (what, bins, n_bins, worst_posed, worst_clear) in [
            ("1/32", binned(&all, 1.0 / 32.0), bins_32, 1.5e-3, 4e-4),
            ("1/64", binned(&all, 1.0 / 64.0), bins_64, 6.5e-4, 1.5e-4),
            ("root", root, bins_64, 1.5e-4, 1.5e-4),
        ] {
            let (mut posed, mut clear) = (0.0f64, 0.0f64);
            for (&v, exact) in chosen.iter().zip(&exact) {
                let (p, row) = (fixture.positions[v], &fixture.rows[v]);
                let fast = centre(&weights[v], &bins);
                assert_eq!(fast.is_some(), exact.is_some());
                let place = |c| skin(p, row, c, &fixture.motions);
                let error = place(fast).distance(place(*exact));
                posed = larger(posed, error);
                let mut sorted = weights[v].clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                if sorted[1] > 0.2 {
                    clear = larger(clear, error);
                }
            }
            println!(
                "{name} {what}: {} bins of {}, posed {posed:.2e}, where a second bone has 0.2 {clear:.2e}",
                bins.len(),
                all.len()
            );
            assert!(posed < worst_posed && clear < worst_clear);
            if what == "root" {
                assert!(bins.len() < n_bins);
            } else {
                assert_eq!(bins.len(), n_bins);
            }
        }
    }
}

#[test]
fn volume_is_no_measure_of_a_bulge() {
    // Two cylinders and a wedge of a ball, the ideal shape, lose volume.
    for (degrees, expected) in [
        (30.0, 0.99974),
        (60.0, 0.99772),
        (90.0, 0.99089),
        (120.0, 0.97093),
        (150.0, 0.89716),
    ] {
        let a = f64::to_radians(degrees);
        let ideal =
            1.0 + (2.0 * a / 3.0 - 4.0 / 3.0 * (0.5 * a).tan()) / (10.0 * std::f64::consts::PI);
        assert!((ideal - expected).abs() < 5.1e-6);
    }
    // Dual quaternions keep it at every bend.
    let shape = Cylinder::new();
    let rest = metrics::volume(&shape.positions, &shape.triangles);
    assert!(crate::reference::quality::is_closed(&shape.triangles));
    for degrees in [30.0, 60.0, 90.0, 120.0, 150.0] {
        let motions = pose(degrees, 0.0).map(|m| Rigid::from_matrix(&m));
        let points = shape.positions.iter().zip(&shape.rows);
        let posed: Vec<DVec3> = points
            .map(|(p, row)| crate::reference::dqs(*p, row, &motions))
            .collect();
        let volume = metrics::volume(&posed, &shape.triangles) / rest;
        assert!((volume - 1.0).abs() < 2.2e-4, "{degrees}: {volume}");
    }
}
