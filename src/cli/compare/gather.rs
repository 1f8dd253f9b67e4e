//! The numbers of a comparison: each stack in each frame.

use super::girths::{self, Girth};
use super::made::Made;
use crate::cli::measuring::{Combined, Measured, Measurer, Places, VertexPlace};
use crate::cli::named_stack::NamedStack;
use crate::cli::shown_body::ShownBody;
use crate::deform::diagnostics::{Metric, Summary};
use crate::document::Document;
use crate::evaluate::SlowCooks;
use serde::Serialize;

/// All numbers of one stack.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// The body, individual or what-if; absent for the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<&'static str>,
    /// One for each frame.
    pub(crate) moments: Vec<Numbers>,
    /// Over all frames.
    pub(crate) worst: Vec<Worst>,
    pub(crate) most_folded_faces: usize,
    pub(crate) volume: Option<VolumeSpan>,
    /// What the artist had to make for it.
    pub(crate) made: Made,
    /// The document under this stack.
    #[serde(skip)]
    #[cfg_attr(
        not(feature = "render"),
        expect(dead_code, reason = "only pictures need them")
    )]
    pub(crate) document: Document,
}

/// The measurements of one stack in one frame, over the whole model.
#[derive(Debug, Serialize)]
pub(crate) struct Numbers {
    pub(crate) time: Option<f64>,
    pub(crate) metrics: Vec<Named<Summary>>,
    pub(crate) folded_faces: usize,
    /// `null`: open.
    pub(crate) volume_change: Option<f64>,
    /// The measured girths of the person; absent for the template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) girths: Vec<Girth>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Named<T> {
    pub(crate) metric: &'static str,
    #[serde(flatten)]
    pub(crate) value: T,
}

/// The worst value of a metric over all frames.
#[derive(Debug, Serialize)]
pub(crate) struct Worst {
    pub(crate) metric: &'static str,
    pub(crate) max: Place,
    pub(crate) min: Place,
    pub(crate) p99: f32,
    pub(crate) rms: f32,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Place {
    pub(crate) value: f32,
    pub(crate) time: Option<f64>,
    pub(crate) vertex: Option<VertexPlace>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct VolumeSpan {
    pub(crate) min_change: f64,
    pub(crate) max_change: f64,
}

impl Series {
    /// The summary of a metric in a frame.
    pub(crate) fn at(&self, moment: usize, metric: Metric) -> Option<&Summary> {
        let named = self.moments.get(moment)?.metrics.iter();
        named
            .filter(|m| m.value.n > 0)
            .find(|m| m.metric == metric.key())
            .map(|m| &m.value)
    }

    /// The worst value of a metric.
    pub(crate) fn worst(&self, metric: Metric) -> Option<&Worst> {
        self.worst.iter().find(|w| w.metric == metric.key())
    }
}

/// Measures `own` under each of the stacks in each frame; differences compare with the first stack. `cooks`: of all
/// meshes that need them.
pub(crate) fn gather(
    own: &Document,
    stacks: &[NamedStack],
    moments: &[Measured],
    cooks: &SlowCooks,
    body: &ShownBody,
) -> Vec<Series> {
    let Some(first) = stacks.first() else {
        return Vec::new();
    };
    let mut places = Places::default();
    stacks
        .iter()
        .map(|stack| {
            let document = stack.document(own);
            let mut measurer = Measurer::new(own, first, cooks);
            let (combined, girths): (Vec<Combined>, Vec<Vec<Girth>>) = moments
                .iter()
                .map(|m| {
                    let combined = measurer.combined(&document, m.posed.at());
                    (
                        combined,
                        girths::in_pose(&body.tapes, &document, measurer.evaluator()),
                    )
                })
                .unzip();
            let worst = Metric::ALL
                .into_iter()
                .filter_map(|m| worst_of(m, &combined, moments, own, &mut places))
                .collect();
            let changes = combined.iter().filter_map(|c| c.volume_change);
            let volume = changes.fold(None, |span: Option<VolumeSpan>, c| {
                Some(VolumeSpan {
                    min_change: span.map_or(c, |s| s.min_change.min(c)),
                    max_change: span.map_or(c, |s| s.max_change.max(c)),
                })
            });
            Series {
                name: stack.name.clone(),
                body: body.name,
                most_folded_faces: combined.iter().map(|c| c.folded_faces).max().unwrap_or(0),
                worst,
                volume,
                made: Made::of(&document),
                moments: combined
                    .iter()
                    .zip(moments)
                    .zip(girths)
                    .map(|((c, m), girths)| Numbers {
                        time: m.time_secs,
                        metrics: c
                            .metrics
                            .iter()
                            .map(|(metric, summary)| Named {
                                metric: metric.key(),
                                value: *summary,
                            })
                            .collect(),
                        folded_faces: c.folded_faces,
                        volume_change: c.volume_change,
                        girths,
                    })
                    .collect(),
                document,
            }
        })
        .collect()
}

fn worst_of(
    metric: Metric,
    combined: &[Combined],
    moments: &[Measured],
    document: &Document,
    places: &mut Places,
) -> Option<Worst> {
    let known: Vec<(usize, Summary)> = combined
        .iter()
        .enumerate()
        .filter_map(|(i, c)| {
            let found = c.metrics.iter().find(|(m, s)| *m == metric && s.n > 0);
            Some((i, found?.1))
        })
        .collect();
    let first = *known.first()?;
    let most = |value: fn(&Summary) -> f32| {
        known.iter().fold(first, |best, next| {
            if value(&next.1) > value(&best.1) {
                *next
            } else {
                best
            }
        })
    };
    let mut place = |(moment, value, point): (usize, f32, Option<u32>)| Place {
        value,
        time: moments[moment].time_secs,
        vertex: point
            .and_then(|p| combined[moment].owner(p))
            .and_then(|(id, point)| places.of(document, id, point)),
    };
    let (high, low) = (most(|s| s.max), most(|s| -s.min));
    Some(Worst {
        metric: metric.key(),
        max: place((high.0, high.1.max, high.1.max_point)),
        min: place((low.0, low.1.min, low.1.min_point)),
        p99: most(|s| s.p99).1.p99,
        rms: most(|s| s.rms).1.rms,
    })
}

/// The frames to draw: those in which any stack bulges or pinches most, at least half as far apart as `n` evenly spaced
/// frames; ascending.
pub(crate) fn picture_moments(series: &[Series], n_moments: usize, n: usize) -> Vec<usize> {
    let worst = |moment: usize| {
        let values = series.iter().filter_map(|s| s.at(moment, Metric::Bulge));
        values
            .map(|s| s.max.abs().max(s.min.abs()))
            .fold(0.0, f32::max)
    };
    pick_apart(&(0..n_moments).map(worst).collect::<Vec<_>>(), n)
}

/// `n` frames from the first to the last, evenly spaced; ascending, each once.
pub(crate) fn even_moments(n_moments: usize, n: usize) -> Vec<usize> {
    let last = n_moments.saturating_sub(1);
    let steps = n.saturating_sub(1).max(1);
    let places = (0..n).map(|k| (k * last + steps / 2) / steps);
    let mut found: Vec<usize> = places.filter(|&moment| moment < n_moments).collect();
    found.dedup();
    found
}

/// Indices of the largest values, the first of equals, no two nearer than half of an even spacing of `n`; ascending.
fn pick_apart(values: &[f32], n: usize) -> Vec<usize> {
    let apart = (values.len() / (2 * n.max(1))).max(1);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut picked: Vec<usize> = Vec::new();
    for moment in order {
        if picked.len() < n && picked.iter().all(|p| p.abs_diff(moment) >= apart) {
            picked.push(moment);
        }
    }
    picked.sort_unstable();
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_of_the_worst_moments_and_apart() {
        let values = [0.0, 1.0, 5.0, 6.0, 5.0, 1.0, 0.0, 3.0, 0.0, 0.0, 2.0, 0.0];
        assert_eq!(pick_apart(&values, 3), [3, 7, 10]);
        assert_eq!(pick_apart(&[4.0], 3), [0]);
        assert_eq!(pick_apart(&[], 3), [0usize; 0]);
        assert_eq!(pick_apart(&[1.0; 4], 4), [0, 1, 2, 3]);
    }

    #[test]
    fn even_frames_go_from_the_first_to_the_last() {
        assert_eq!(even_moments(25, 5), [0, 6, 12, 18, 24]);
        assert_eq!(even_moments(24, 4), [0, 8, 15, 23]);
        assert_eq!(even_moments(2, 5), [0, 1]);
        assert_eq!((even_moments(9, 1), even_moments(1, 3)), (vec![0], vec![0]));
        assert!(even_moments(0, 3).is_empty());
    }
}
