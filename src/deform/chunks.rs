//! Work on all points of a shape, chunk by chunk.

use crate::skinning::CHUNK;
use glam::Vec3;
use rayon::prelude::*;

/// Below this many points, handing work to other threads costs more than it saves.
pub(super) const SERIAL_POINTS: usize = 4096;

/// Calls `work(first, chunk)` for chunks of [`CHUNK`] items, on several threads where there are many. Allocates
/// nothing.
pub(super) fn for_chunks<T: Send>(items: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if items.len() < SERIAL_POINTS {
        items
            .chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(c, chunk)| work(c * CHUNK, chunk));
    } else {
        // Two chunks at a time amortise the scheduling.
        items
            .par_chunks_mut(CHUNK)
            .with_min_len(2)
            .enumerate()
            .for_each(|(c, chunk)| work(c * CHUNK, chunk));
    }
}

/// Whether two values have the same bits: zeros of either sign differ.
pub(super) fn same_bits(a: Vec3, b: Vec3) -> bool {
    a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits)
}
