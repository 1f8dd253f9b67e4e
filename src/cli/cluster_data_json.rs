//! The recorded data that a JSON file of layers binds to clusters.

use super::cluster_json_reader::{Direction, FadeTimes, Reader, one_of};
use crate::cluster::channel::{AxisMap, Binding, BindingKind, ScalarDirection, SignedAxis};
use crate::cluster::{DataLayer, Fit};
use glam::DVec3;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub(super) name: String,
    recording: String,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    interpolation: Option<String>,
    #[serde(default)]
    ends: Option<String>,
    #[serde(default)]
    max_gap: Option<f64>,
    #[serde(default)]
    fit: Option<String>,
    #[serde(default)]
    reference: Option<f64>,
    #[serde(default)]
    fade: FadeTimes,
    #[serde(default)]
    muted: bool,
    bindings: Vec<Bound>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    channel: String,
    vertices: Vec<u32>,
    #[serde(default)]
    primitive: u32,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    scale: Option<f64>,
    #[serde(default)]
    axes: Option<[String; 3]>,
    #[serde(default)]
    offset: Option<[f64; 3]>,
    /// The value of a scalar that displaces nothing.
    #[serde(default)]
    reference: Option<f64>,
    #[serde(default)]
    direction: Option<Direction>,
}

impl Data {
    /// The data.
    pub(super) fn layer(&self, reader: &Reader<'_>) -> Result<DataLayer, String> {
        let sampling = (
            self.interpolation.as_deref(),
            self.ends.as_deref(),
            self.max_gap,
        );
        let fits = [Fit::Rigid, Fit::Similarity, Fit::None].map(|fit| (fit.key(), fit));
        let bindings = self.bindings.iter().map(|bound| {
            let made = bound.binding(reader);
            made.map_err(|why| format!("\"{}\": {why}", bound.channel))
        });
        Ok(DataLayer {
            name: self.name.clone(),
            played: reader.played(&self.recording, self.start, sampling)?,
            fit: one_of("fit", self.fit.as_deref(), &fits)?,
            reference: self.reference,
            fade: self.fade.fade(),
            bindings: bindings.collect::<Result<_, _>>()?,
            muted: self.muted,
        })
    }
}

impl Bound {
    fn binding(&self, reader: &Reader<'_>) -> Result<Binding, String> {
        let direction = match &self.direction {
            None => ScalarDirection::Normal,
            Some(Direction::Fixed(fixed)) => ScalarDirection::Fixed((*fixed).into()),
            Some(Direction::Named(word)) => one_of(
                "direction",
                Some(word),
                &[("normal", ScalarDirection::Normal)],
            )?,
        };
        let kind = one_of(
            "kind",
            self.kind.as_deref(),
            &[
                ("delta", BindingKind::Delta),
                ("absolute", BindingKind::Absolute),
                (
                    "scalar",
                    BindingKind::Scalar {
                        reference: self.reference.unwrap_or(0.0),
                        direction,
                    },
                ),
            ],
        )?;
        let is_scalar = matches!(kind, BindingKind::Scalar { .. });
        if !is_scalar && (self.reference.is_some() || self.direction.is_some()) {
            return Err("reference and direction are those of the kind scalar".into());
        }
        let axes = match &self.axes {
            None => AxisMap::SAME,
            Some(words) => {
                let all = SignedAxis::ALL.map(|axis| (axis.label(), axis));
                let of = |word: &String| one_of("axis", Some(&word.to_uppercase()), &all);
                AxisMap([of(&words[0])?, of(&words[1])?, of(&words[2])?])
            }
        };
        Ok(Binding {
            channel: self.channel.clone(),
            clusters: reader.points(self.primitive, &self.vertices)?,
            kind,
            scale: self.scale.unwrap_or(1.0),
            axes,
            offset: self.offset.map_or(DVec3::ZERO, Into::into),
        })
    }
}
