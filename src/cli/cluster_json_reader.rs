//! What layers of clusters in a JSON file have in common: the names of the model, words, fades and directions.

use crate::cli::scene::find_joint;
use crate::cluster::channel::{Ends, Interpolation, Played, Sampling};
use crate::cluster::fade::Fade;
use crate::document::Document;
use crate::mesh::Mesh;
use crate::skeleton::JointId;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Direction {
    Named(String),
    Fixed([f64; 3]),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FadeTimes {
    #[serde(default)]
    hold: Option<f64>,
    #[serde(default)]
    fade: Option<f64>,
    #[serde(default)]
    ease: Option<f64>,
}

/// Finds what a file of layers names.
pub(super) struct Reader<'a> {
    pub(super) document: &'a Document,
    pub(super) mesh: &'a Mesh,
}

impl Reader<'_> {
    /// The points of vertices of a primitive, ascending.
    pub(super) fn points(&self, primitive: u32, vertices: &[u32]) -> Result<Vec<u32>, String> {
        let points = vertices.iter().map(|&v| self.point(primitive, v));
        let mut points: Vec<u32> = points.collect::<Result<_, _>>()?;
        points.sort_unstable();
        points.dedup();
        Ok(points)
    }

    pub(super) fn point(&self, primitive: u32, vertex: u32) -> Result<u32, String> {
        let found = self.mesh.primitives.get(primitive as usize);
        let found = found.ok_or_else(|| {
            let n = self.mesh.primitives.len();
            format!("the mesh has no primitive {primitive}; it has {n}")
        })?;
        let n = found.vertices.end - found.vertices.start;
        if vertex >= n {
            return Err(format!(
                "primitive {primitive} has no vertex {vertex}; it has {n}"
            ));
        }
        Ok(self.mesh.point_of_vertex[(found.vertices.start + vertex) as usize])
    }

    pub(super) fn joint(&self, name: &str) -> Result<JointId, String> {
        find_joint(self.document, name).ok_or_else(|| format!("the model has no bone \"{name}\""))
    }

    pub(super) fn slot(&self, name: &str) -> Result<u32, String> {
        Ok(self.joint(name)?.0)
    }

    pub(super) fn played(
        &self,
        recording: &str,
        start: f64,
        (interpolation, ends, max_gap): (Option<&str>, Option<&str>, Option<f64>),
    ) -> Result<Played, String> {
        let found = self.document.recording_named(recording);
        Ok(Played {
            recording: found.ok_or_else(|| format!("there is no recording \"{recording}\""))?,
            start,
            sampling: Sampling {
                interpolation: one_of(
                    "interpolation",
                    interpolation,
                    &[
                        ("linear", Interpolation::Linear),
                        ("hold", Interpolation::Hold),
                        ("pchip", Interpolation::Pchip),
                        ("sclerp", Interpolation::Sclerp),
                    ],
                )?,
                ends: one_of(
                    "ends",
                    ends,
                    &[
                        ("hold", Ends::Hold),
                        ("loop", Ends::Loop),
                        ("invalid", Ends::Invalid),
                    ],
                )?,
                max_gap,
            },
        })
    }
}

/// The value of a word; the first one where there is none.
pub(super) fn one_of<T: Copy>(
    what: &str,
    word: Option<&str>,
    of: &[(&str, T)],
) -> Result<T, String> {
    let Some(word) = word else {
        return Ok(of[0].1);
    };
    let found = of.iter().find(|(key, _)| *key == word);
    found.map(|found| found.1).ok_or_else(|| {
        let known: Vec<&str> = of.iter().map(|(key, _)| *key).collect();
        format!("{what} \"{word}\" is not one of {}", known.join(", "))
    })
}

impl FadeTimes {
    pub(super) fn fade(&self) -> Fade {
        let default = Fade::default();
        Fade {
            hold: self.hold.unwrap_or(default.hold),
            fade: self.fade.unwrap_or(default.fade),
            ease: self.ease.unwrap_or(default.ease),
        }
    }
}
