//! The tables of all methods on cylinder C: the f64 reference holds every row and column.

use crate::reference::centres;
use crate::reference::compensation::{Compensation, F_ORIGINAL, Sign};
use crate::reference::cylinder::{Cylinder, bones, pose};
use crate::reference::delta_mush::{delta_mush, neighbours};
use crate::reference::metrics::{COLUMNS, measure};
use crate::reference::projection::{Blended, published};
use crate::reference::{Rigid, dqs, lbs};
use glam::{DAffine3, DVec3};

/// One row of the tables.
pub(crate) struct TableRow {
    pub(crate) bend: f64,
    pub(crate) method: &'static str,
    pub(crate) columns: [f64; 10],
}

pub(crate) fn tables() -> Vec<TableRow> {
    include_str!("../data/skinning_tables.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let cells: Vec<&'static str> = line.split(" | ").collect();
            TableRow {
                bend: cells[0].parse().unwrap(),
                method: cells[1],
                columns: std::array::from_fn(|i| cells[2 + i].parse().unwrap()),
            }
        })
        .collect()
}

/// Asserts the columns of a row.
pub(crate) fn check(what: &str, row: &TableRow, actual: &[f64; 10], tolerance: f64) {
    for ((column, a), e) in COLUMNS.iter().zip(actual).zip(row.columns) {
        assert!(
            (a - e).abs() < tolerance,
            "{what}: {} at {} degrees: {column} is {a}, not {e}",
            row.method,
            row.bend
        );
    }
}

/// The methods on one bend of the cylinder.
struct Bend<'a> {
    shape: &'a Cylinder,
    matrices: [DAffine3; 2],
    motions: [Rigid; 2],
    lbs: Vec<DVec3>,
    dqs: Vec<DVec3>,
}

impl<'a> Bend<'a> {
    fn new(shape: &'a Cylinder, degrees: f64) -> Self {
        let matrices = pose(degrees, 0.0);
        let motions = matrices.map(|m| Rigid::from_matrix(&m));
        let points = || shape.positions.iter().zip(&shape.rows);
        Self {
            shape,
            lbs: points().map(|(p, row)| lbs(*p, row, &matrices)).collect(),
            dqs: points().map(|(p, row)| dqs(*p, row, &motions)).collect(),
            matrices,
            motions,
        }
    }

    fn compensated(&self, options: Compensation) -> Vec<DVec3> {
        let shape = self.shape;
        options.apply(
            &shape.positions,
            &shape.rows,
            &self.dqs,
            &bones(),
            &self.motions,
        )
    }

    fn published(&self, posed: &[DVec3]) -> Vec<DVec3> {
        let (shape, bones) = (self.shape, bones());
        (0..posed.len())
            .map(|v| {
                published(
                    shape.positions[v],
                    &shape.rows[v],
                    posed[v],
                    &bones,
                    &self.motions,
                )
            })
            .collect()
    }

    fn blended(&self, posed: &[DVec3]) -> Vec<DVec3> {
        let (shape, bones, options) = (self.shape, bones(), Blended::default());
        (0..posed.len())
            .map(|v| {
                options.project(
                    shape.positions[v],
                    &shape.rows[v],
                    posed[v],
                    &bones,
                    &self.motions,
                )
            })
            .collect()
    }

    fn centres(&self, centres: &[Option<DVec3>]) -> Vec<DVec3> {
        let shape = self.shape;
        (0..centres.len())
            .map(|v| {
                centres::skin(
                    shape.positions[v],
                    &shape.rows[v],
                    centres[v],
                    &self.motions,
                )
            })
            .collect()
    }

    fn mushed(&self, posed: &[DVec3], around: &[Vec<usize>]) -> Vec<DVec3> {
        delta_mush(
            &self.shape.positions,
            posed,
            &self.shape.triangles,
            around,
            40,
        )
    }

    fn method(&self, name: &str, centres: &[Option<DVec3>], around: &[Vec<usize>]) -> Vec<DVec3> {
        let manual = Compensation {
            guard: false,
            ..Compensation::default()
        };
        let original = Compensation {
            polynomial: F_ORIGINAL,
            ..manual
        };
        let guarded = Compensation::default();
        match name {
            "LBS" => self.lbs.clone(),
            "DQS" => self.dqs.clone(),
            "Kim-Han (as published)" => self.published(&self.dqs),
            "Kim-Han blended p=2" => self.blended(&self.dqs),
            "Sulema f_orig (corrected sign)" => self.compensated(original),
            "Sulema f_manual (corrected sign)" => self.compensated(manual),
            "Algorithm 1 literal sign, f_orig" => self.compensated(Compensation {
                sign: Sign::Literal,
                ..original
            }),
            "Sulema manual + fold guard" => self.compensated(guarded),
            "Sulema manual then Kim-Han" => self.published(&self.compensated(manual)),
            "Sulema manual then blended KH" => self.blended(&self.compensated(manual)),
            "Sulema manual+guard then blended KH" => self.blended(&self.compensated(guarded)),
            "Centres of rotation" => self.centres(centres),
            "Delta Mush on LBS (40 it)" => self.mushed(&self.lbs, around),
            "Delta Mush on DQS (40 it)" => self.mushed(&self.dqs, around),
            _ => panic!("the tables have a method {name}"),
        }
    }
}

/// The centre of every point of the cylinder against all its triangles; points of one ring share it.
pub(crate) fn cylinder_centres(shape: &Cylinder) -> Vec<Option<DVec3>> {
    let weights: Vec<Vec<f64>> = shape.rows.iter().map(|r| centres::dense(r, 2)).collect();
    let patches = centres::patches(&shape.positions, &shape.triangles, &weights);
    let mut known: std::collections::BTreeMap<u64, Option<DVec3>> =
        std::collections::BTreeMap::new();
    weights
        .iter()
        .map(|w| {
            *known
                .entry(w[1].to_bits())
                .or_insert_with(|| centres::centre(w, &patches))
        })
        .collect()
}

#[test]
fn every_method_has_the_metrics_of_the_tables() {
    let shape = Cylinder::new();
    let centres = cylinder_centres(&shape);
    let around = neighbours(shape.positions.len(), &shape.triangles);
    let mut bend = Bend::new(&shape, 0.0);
    let mut degrees = 0.0;
    let rows = tables();
    assert_eq!(rows.len(), 56);
    for row in &rows {
        if row.bend != degrees {
            degrees = row.bend;
            bend = Bend::new(&shape, degrees);
        }
        let posed = bend.method(row.method, &centres, &around);
        let actual = measure(&shape, &posed, &bend.matrices).0;
        let tolerance = if row.method.starts_with("Delta Mush") {
            1e-3
        } else {
            1e-6
        };
        check("f64", row, &actual, tolerance);
    }
}
