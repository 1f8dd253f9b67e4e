//! The junction and fork of the shared fixtures, with the points expected of each method.

use super::bones::Bones;
use super::{Rigid, Row, dqs};
use crate::npy::read_npy;
use crate::shared::shared_dir;
use glam::{DAffine3, DMat4, DVec3};
use std::path::PathBuf;

pub(crate) struct Fixture {
    folder: PathBuf,
    pub(crate) json: serde_json::Value,
    /// Mesh edge, metres.
    pub(crate) edge: f64,
    pub(crate) positions: Vec<DVec3>,
    pub(crate) triangles: Vec<[usize; 3]>,
    pub(crate) rows: Vec<Row>,
    pub(crate) bones: Bones,
    pub(crate) motions: Vec<Rigid>,
    pub(crate) dqs: Vec<DVec3>,
}

impl Fixture {
    /// `None`, with a line saying so, where the shared test data is not there.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let folder = shared_dir(name)?.join("fixtures").join(name);
        let text = std::fs::read_to_string(folder.join("fixture.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let vector =
            |v: &serde_json::Value| DVec3::from_array([0, 1, 2].map(|i| v[i].as_f64().unwrap()));
        let joints = json["joints"].as_array().unwrap();
        let parents: Vec<Option<usize>> = joints
            .iter()
            .map(|j| j["parent"].as_u64().map(|p| p as usize))
            .collect();
        let tails = (0..joints.len())
            .map(|j| {
                (!parents.contains(&Some(j))).then(|| vector(&json["bone_segments_bind"][j][0][1]))
            })
            .collect();
        let bones = Bones {
            origins: joints.iter().map(|j| vector(&j["position"])).collect(),
            parents,
            tails,
        };
        let array = |what: &str| read_npy(&folder.join(format!("{what}.npy")));
        let (_, values) = array("positions");
        let positions: Vec<DVec3> = values.chunks(3).map(DVec3::from_slice).collect();
        let (_, values) = array("triangles");
        let triangles = values
            .chunks(3)
            .map(|t| [0, 1, 2].map(|i| t[i] as usize))
            .collect();
        let (shape, values) = array("weights");
        let rows: Vec<Row> = values
            .chunks(shape[1])
            .map(|w| {
                w.iter()
                    .copied()
                    .enumerate()
                    .filter(|r| r.1 > 0.0)
                    .collect()
            })
            .collect();
        let (_, values) = array("skin_matrices");
        let motions: Vec<Rigid> = values
            .chunks(16)
            .map(|m| DAffine3::from_mat4(DMat4::from_cols_slice(m).transpose()))
            .map(|m| Rigid::from_matrix(&m))
            .collect();
        let dqs = positions
            .iter()
            .zip(&rows)
            .map(|(p, r)| dqs(*p, r, &motions))
            .collect();
        Some(Self {
            edge: json["edge"].as_f64().unwrap(),
            folder,
            json,
            positions,
            triangles,
            rows,
            bones,
            motions,
            dqs,
        })
    }

    pub(crate) fn expected(&self, what: &str) -> Vec<DVec3> {
        let (_, values) = read_npy(&self.folder.join(format!("expected_{what}.npy")));
        values.chunks(3).map(DVec3::from_slice).collect()
    }

    /// Whether the two largest weights of a point are equal up to rounding: published projection may go either way.
    pub(crate) fn is_tie(&self, point: usize) -> bool {
        let mut weights: Vec<f64> = self.rows[point].iter().map(|r| r.1).collect();
        weights.sort_by(|a, b| b.total_cmp(a));
        weights.len() > 1 && weights[0] - weights[1] < 1e-9
    }

    /// Every point through `f(bind, row, dqs)`.
    pub(crate) fn each(&self, f: impl Fn(DVec3, &Row, DVec3) -> DVec3) -> Vec<DVec3> {
        (0..self.positions.len())
            .map(|v| f(self.positions[v], &self.rows[v], self.dqs[v]))
            .collect()
    }

    /// Largest jump of `posed - dqs` between neighbours, and the largest jump by edge length.
    pub(crate) fn jumps(&self, posed: &[DVec3]) -> (f64, f64) {
        let corrections: Vec<DVec3> = posed.iter().zip(&self.dqs).map(|(a, b)| *a - *b).collect();
        super::quality::jumps(
            &self.positions,
            &corrections,
            &self.triangles,
            self.edge / 4.0,
        )
    }
}
