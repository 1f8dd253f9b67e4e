//! The measures of quality, and the normals, of what the library draws, against the f64 reference.

use crate::reference::cylinder::{Cylinder, bones, pose};
use crate::reference::larger;
use crate::reference::normals::{face_map, transport};
use crate::reference::{Rigid, dqs, quality};
use crate::stacks::Rig;
use glam::{DMat3, DVec3};
use sinew::deform::DeformStack;
use sinew::deform::diagnostics::{Metric, PointMap, folds, measure};
use sinew::document::InstanceId;
use sinew::evaluate::{Comparison, Gauge};

/// A bent and twisted cylinder under the default stack.
struct Bent {
    shape: Cylinder,
    rig: Rig,
    motions: [Rigid; 2],
    gauge: Gauge,
    posed: Vec<DVec3>,
}

impl Bent {
    fn new(bend: f64, twist: f64) -> Self {
        let shape = Cylinder::new();
        let mut rig = Rig::cylinder(&shape);
        let skin_matrices = pose(bend, twist);
        let posed = rig.run(DeformStack::default(), &skin_matrices);
        let mut gauge = Gauge::default();
        let comparison = Comparison {
            plain: true,
            ..Comparison::default()
        };
        gauge.evaluate(&rig.document, &rig.pose(&skin_matrices), &comparison);
        Self {
            shape,
            rig,
            motions: skin_matrices.map(|m| Rigid::from_matrix(&m)),
            gauge,
            posed,
        }
    }

    fn measured(&self, metric: Metric) -> PointMap {
        let shape = self.gauge.shape(&self.rig.document, InstanceId(0)).unwrap();
        measure(metric, &shape)
    }

    /// Asserts the values of a metric at all points but the caps.
    fn check(&self, metric: Metric, expected: &[f64], tolerance: f64) {
        let values = self.measured(metric).values;
        for (v, &point) in self.rig.points_of_vertices().iter().enumerate() {
            let p = self.shape.positions[v];
            if p.x.abs() > 4.9 || expected[v].is_nan() {
                continue;
            }
            let actual = f64::from(values[point as usize]);
            assert!(
                (actual - expected[v]).abs() < tolerance * (1.0 + expected[v].abs()),
                "{metric:?} at {p}: {actual}, not {}",
                expected[v]
            );
        }
    }
}

#[test]
fn the_metrics_are_those_of_the_reference() {
    for (bend, twist) in [(90.0, 0.0), (70.0, 40.0)] {
        let bent = Bent::new(bend, twist);
        let (positions, triangles) = (&bent.shape.positions, &bent.shape.triangles);
        let (rows, bones) = (&bent.shape.rows, bones());
        let bulge: Vec<f64> = (0..positions.len())
            .map(|v| quality::bulge(positions[v], bent.posed[v], &rows[v], &bones, &bent.motions))
            .collect();
        bent.check(Metric::Bulge, &bulge, 1e-5);
        // A short edge loses digits, and a point may have two edges as worst as each other, one longer, one shorter.
        let mut strain = quality::strain(positions, &bent.posed, triangles);
        let measured = bent.measured(Metric::EdgeStrain).values;
        for (v, &point) in bent.rig.points_of_vertices().iter().enumerate() {
            if (f64::from(measured[point as usize]) + strain[v]).abs() < 1e-4 {
                strain[v] = f64::NAN;
            }
        }
        bent.check(Metric::EdgeStrain, &strain, 1e-4);
        let area = quality::area_change(positions, &bent.posed, triangles);
        // A face that nearly vanishes has hardly any digits.
        let area = area
            .iter()
            .map(|a| if a.abs() < 2.0 { *a } else { f64::NAN });
        bent.check(Metric::AreaChange, &area.collect::<Vec<_>>(), 1e-3);

        let correction = |v: usize| bent.posed[v] - dqs(positions[v], &rows[v], &bent.motions);
        let corrections: Vec<DVec3> = (0..positions.len()).map(correction).collect();
        let mut jumps = vec![0.0f64; positions.len()];
        for (a, b) in quality::edges(triangles) {
            let jump =
                corrections[a].distance(corrections[b]) / positions[a].distance(positions[b]);
            for v in [a, b] {
                jumps[v] = larger(jumps[v], jump);
            }
        }
        bent.check(Metric::Discontinuity, &jumps, 2e-4);

        let mut creases = vec![0.0f64; positions.len()];
        let mut maps: std::collections::BTreeMap<(usize, usize), Vec<DMat3>> =
            std::collections::BTreeMap::new();
        for t in triangles {
            let map = face_map(t.map(|v| positions[v]), t.map(|v| bent.posed[v]));
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                maps.entry((a.min(b), a.max(b))).or_default().push(map);
            }
        }
        let mut worst = 0.0f64;
        for ((a, b), maps) in maps {
            let step = (maps[0] - maps[1]).to_cols_array();
            let crease = step.iter().map(|v| v * v).sum::<f64>().sqrt();
            worst = larger(worst, crease);
            for v in [a, b] {
                creases[v] = larger(creases[v], crease);
            }
        }
        assert!((worst - quality::map_jump(positions, &bent.posed, triangles)).abs() < 1e-12);
        bent.check(Metric::Crease, &creases, 2e-3);

        let (count, _) = quality::folds(positions, &bent.posed, triangles, rows, &bent.motions);
        let shape = bent.gauge.shape(&bent.rig.document, InstanceId(0)).unwrap();
        let found = folds(&shape).faces;
        // Faces seen edge-on may be either.
        assert!(found.abs_diff(count) <= 4, "{found} folds, not {count}");
    }
}

#[test]
fn the_normals_are_carried_as_the_reference_carries_them() {
    let bent = Bent::new(90.0, 30.0);
    let document = &bent.rig.document;
    let mesh = &document.meshes()[&sinew::document::MeshId(0)].geometry;
    let at_bind: Vec<DVec3> = mesh
        .normal_of_vertex
        .iter()
        .map(|&n| mesh.normals[n as usize].as_dvec3())
        .collect();
    let (positions, triangles) = (&bent.shape.positions, &bent.shape.triangles);
    let expected = transport(positions, &bent.posed, triangles, &at_bind);
    let plan = bent.gauge.evaluator().plan(InstanceId(0)).unwrap();
    let mut n_compared = 0;
    for (v, &n) in mesh.normal_of_vertex.iter().enumerate() {
        let actual = plan.normals()[n as usize].as_dvec3();
        // Where faces fold onto each other their normals nearly cancel.
        let faces_agree = triangles
            .iter()
            .skip(v.saturating_sub(70) * 2)
            .take(300)
            .filter(|t| t.contains(&v))
            .all(|t| {
                let [a, b, c] = t.map(|k| bent.posed[k]);
                (b - a).cross(c - a).normalize_or_zero().dot(expected[v]) > 0.2
            });
        if faces_agree {
            n_compared += 1;
            assert!(
                actual.angle_between(expected[v]).to_degrees() < 0.05,
                "at {}: {actual} not {}",
                positions[v],
                expected[v]
            );
        }
    }
    assert!(
        n_compared > expected.len() / 2,
        "{n_compared} of {}",
        expected.len()
    );
}
