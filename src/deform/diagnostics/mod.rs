//! The quality of a deformation: numbers and per-point maps.
//!
//! Data flow: a [`ShapeView`] borrows an evaluated instance -> [`measure`] of one [`Metric`] -> a [`PointMap`] that
//! colours the surface, and its [`Summary`]; [`VolumeReport::of`] for the volume, which is no value of a point. All
//! compare the posed shape with the inflated bind shape, so that intended scale of a joint is no fault.
//!
//! Invariant: the same shape gives the same bits for any number of threads.
//! Invariant: a value is finite, NaN where the metric has no meaning, or infinite where it cannot be measured because a
//! posed position is not finite; whatever a file holds, nothing panics.

mod area_change;
mod bulge;
mod crease;
mod difference;
mod discontinuity;
mod edge_strain;
mod fold_over;
pub mod metric;
mod normal_error;
pub mod point_map;
pub mod shape;
mod volume;

pub use fold_over::Folds;
pub use metric::{Metric, Range};
pub use point_map::{PointMap, Summary};
pub use shape::{Segment, Segments, ShapeView};
pub use volume::{Enclosure, JointVolume, PartVolume, Volume, VolumeReport};

use crate::math::Worse;
use rayon::prelude::*;

/// The map of one metric over a shape.
///
/// [`Metric::Discontinuity`] and [`Metric::Difference`] compare with a second shape; without it every value is NaN. So is every
/// [`Metric::ScanDistance`], which no shape has by itself.
pub fn measure(metric: Metric, shape: &ShapeView<'_>) -> PointMap {
    PointMap::new(values_of(metric, shape, Vec::new()))
}

fn values_of(metric: Metric, shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    match metric {
        Metric::Bulge => bulge::values(shape, buffer),
        Metric::EdgeStrain => edge_strain::values(shape, buffer),
        Metric::AreaChange => area_change::values(shape, buffer),
        Metric::Discontinuity => discontinuity::values(shape, buffer),
        Metric::Crease => crease::values(shape, buffer),
        Metric::FoldOver => fold_over::values(shape, buffer),
        Metric::NormalError => normal_error::values(shape, buffer),
        Metric::Difference => difference::values(shape, buffer),
        Metric::ScanDistance => {
            let mut values = buffer;
            values.clear();
            values.resize(shape.posed.len(), f32::NAN);
            values
        }
    }
}

/// The values of [`measure`] without their summary, in a buffer that is used again and again.
pub fn measure_into(metric: Metric, shape: &ShapeView<'_>, values: &mut Vec<f32>) {
    *values = values_of(metric, shape, std::mem::take(values));
}

/// The rest distance of a point from the nearest of the bones of [`Metric::Bulge`], metres; `None` where no joint with
/// a bone moves it.
pub fn radius(shape: &ShapeView<'_>, point: u32) -> Option<f64> {
    bulge::radius(shape, point)
}

/// The inverted faces of a shape.
pub fn folds(shape: &ShapeView<'_>) -> Folds {
    fold_over::folds(shape)
}

/// The larger of `worst`, NaN while there is none, and a magnitude; infinite where that is not a number.
fn larger(worst: f64, magnitude: f64) -> f64 {
    let known = if worst.is_nan() { 0.0 } else { worst };
    known.worse(magnitude)
}

/// Replaces the content of `buffer` by one value for each of `n` items, on several threads when there are many: NaN where
/// the metric has no meaning, infinite where the shape cannot be measured.
fn for_each(
    mut buffer: Vec<f32>,
    n: usize,
    value: impl Fn(usize) -> f64 + Sync + Send,
) -> Vec<f32> {
    let value = |i: usize| value(i) as f32;
    if n < 2048 {
        buffer.clear();
        buffer.extend((0..n).map(value));
    } else {
        (0..n)
            .into_par_iter()
            .with_min_len(1024)
            .map(value)
            .collect_into_vec(&mut buffer);
    }
    buffer
}
