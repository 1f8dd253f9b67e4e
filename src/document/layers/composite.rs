//! The composite of one layer and what lies below it.

use super::{Layer, LayerStack};
use crate::skinning::influences::CHUNK;
use crate::skinning::{RowRef, Rows};
use std::sync::Arc;

/// The effect of a layer at a point, 0 - 1, and its row there; `None` where it has no row.
///
/// With a mirror effect, points of the covered side get those of their mirror image, with left and right joints
/// exchanged, in `scratch`.
pub(super) fn row_of<'a>(
    layer: &'a Layer,
    point: u32,
    scratch: &'a mut Scratch,
) -> Option<(f32, RowRef<'a>)> {
    let (source, row) = match &layer.mirror {
        Some(mirror) if mirror.source(point) != point => {
            let source = mirror.source(point);
            mirror.mirrored(
                layer.rows.row(source),
                &mut scratch.joints,
                &mut scratch.weights,
            );
            (source, scratch.row())
        }
        _ => (point, layer.rows.row(point)),
    };
    let opacity = layer.opacity * layer.mask.get(source);
    (opacity > 0.0 && !row.is_empty()).then_some((opacity, row))
}

/// A buffer for one row.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) joints: Vec<u16>,
    pub(super) weights: Vec<f32>,
}

impl Scratch {
    pub(super) fn row(&self) -> RowRef<'_> {
        RowRef {
            joints: &self.joints,
            weights: &self.weights,
        }
    }
}

/// The (joint, weight) pairs of `row` over `below` with an `opacity` above 0.
///
/// At 1 the result is the row itself. Otherwise every joint of `below` in its order, then the others of the row;
/// written so that a weight that is equal in both stays bit-identical.
pub(super) fn blend<'a>(
    below: RowRef<'a>,
    row: RowRef<'a>,
    opacity: f32,
) -> impl Iterator<Item = (u16, f32)> + 'a {
    let whole = opacity >= 1.0;
    let shown = below.iter().take(if whole { 0 } else { usize::MAX });
    let shown = shown
        .map(move |(joint, weight)| (joint, weight + opacity * (row.weight_of(joint) - weight)));
    let added = row.iter().filter_map(move |(joint, weight)| {
        if whole {
            return Some((joint, weight));
        }
        let part = opacity * weight;
        (part > 0.0 && !below.joints.contains(&joint)).then_some((joint, part))
    });
    shown.chain(added)
}

/// A chunk of rows with `layer` over them; `below` itself where the layer has no rows in it.
pub(super) fn over(below: &Arc<Rows>, layer: &Layer, chunk: usize) -> Arc<Rows> {
    let own = &layer.rows.chunks()[chunk];
    if layer.mirror.is_none() {
        if own.is_silent() {
            return below.clone();
        }
        let is_whole = layer.opacity >= 1.0 && layer.mask.chunk(chunk).is_none();
        if is_whole && own.iter().all(|row| !row.is_empty()) {
            return own.clone();
        }
    }
    let first = (chunk * CHUNK) as u32;
    let mut scratch = Scratch::default();
    let has_row = |point: &u32, scratch: &mut Scratch| row_of(layer, *point, scratch).is_some();
    let mut points = first..first + below.len() as u32;
    if !points.any(|point| has_row(&point, &mut scratch)) {
        return below.clone();
    }
    let mut rows = Rows::with_capacity(below.len());
    for (point, below) in (first..).zip(below.iter()) {
        match row_of(layer, point, &mut scratch) {
            Some((opacity, row)) => rows.push_pairs(blend(below, row, opacity)),
            None => rows.push(below),
        }
    }
    Arc::new(rows)
}

impl LayerStack {
    /// The composite if the layer at `index`, at least 1, had `row` and `mask` at `point`: the row of every point where
    /// that is visible.
    pub(in crate::document) fn shown_with(
        &self,
        index: usize,
        point: u32,
        row: RowRef<'_>,
        mask: f32,
    ) -> Vec<(u32, Vec<(u16, f32)>)> {
        let Some((layer, below)) = self.layers().get(index).zip(self.below(index)) else {
            return Vec::new();
        };
        let opacity = layer.opacity * mask;
        let mirror = layer.mirror.as_deref();
        let images = mirror.map_or(&[][..], |mirror| mirror.images(point));
        let own = mirror.is_none_or(|mirror| mirror.source(point) == point);
        let seen = own.then_some(point).into_iter();
        let mut scratch = Scratch::default();
        seen.chain(images.iter().map(|&(_, image)| image))
            .map(|seen| {
                let row = match mirror {
                    Some(mirror) if seen != point => {
                        mirror.mirrored(row, &mut scratch.joints, &mut scratch.weights);
                        scratch.row()
                    }
                    _ => row,
                };
                let mut shown: Vec<(u16, f32)> = if opacity > 0.0 && !row.is_empty() {
                    blend(below.row(seen), row, opacity).collect()
                } else {
                    below.row(seen).iter().collect()
                };
                for upper in index + 1..self.layers().len() {
                    let mut scratch = Scratch::default();
                    if let Some((opacity, row)) = row_of(&self.layers()[upper], seen, &mut scratch)
                        && self.is_visible(upper)
                    {
                        let (joints, weights): (Vec<u16>, Vec<f32>) = shown.into_iter().unzip();
                        let below = RowRef {
                            joints: &joints,
                            weights: &weights,
                        };
                        shown = blend(below, row, opacity).collect();
                    }
                }
                (seen, shown)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blended(below: &[(u16, f32)], row: &[(u16, f32)], opacity: f32) -> Vec<(u16, f32)> {
        let rows: Rows = [below.to_vec(), row.to_vec()].into_iter().collect();
        blend(rows.row(0), rows.row(1), opacity).collect()
    }

    #[test]
    fn all_of_a_row_is_the_row_and_a_part_keeps_what_is_equal() {
        let below = [(3, 0.1f32), (1, 0.3), (2, 0.6)];
        let row = [(2, 0.1f32), (3, 0.1), (7, 0.8), (9, 0.0)];
        assert_eq!(blended(&below, &row, 1.0), row);
        let part = blended(&below, &row, 0.37);
        assert_eq!(part[0], (3, 0.1));
        let joints: Vec<u16> = part.iter().map(|p| p.0).collect();
        assert_eq!(joints, [3, 1, 2, 7]);
        let sum: f32 = part.iter().map(|p| p.1).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        assert_eq!(blended(&below, &below, 0.123), below);
    }
}
