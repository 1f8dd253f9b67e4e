//! Work on all points of a shape, chunk by chunk.

use crate::skinning::CHUNK;
use rayon::prelude::*;

/// Below this many points, handing work to other threads costs more than it saves.
const SERIAL_POINTS: usize = 4096;

/// The same for changed chunks: up to this many are processed on the calling thread.
pub(super) const FEW_CHUNKS: usize = 4;

/// Calls `work(first, chunk)` for chunks of [`CHUNK`] items, on several threads where there are many. Allocates
/// nothing.
pub(super) fn for_chunks<T: Send>(items: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    // A vector of a zero-sized type allocates nothing.
    let mut states = vec![(); items.len().div_ceil(CHUNK)];
    for_chunks_with(items, &mut states, |c, chunk, ()| work(c * CHUNK, chunk));
}

/// As [`for_chunks`], with each chunk on a thread by itself: where a few chunks side by side have most of the work.
pub(super) fn for_uneven_chunks<T: Send>(items: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if items.len() < SERIAL_POINTS {
        let chunks = items.chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(c, chunk)| work(c * CHUNK, chunk));
    } else {
        let chunks = items.par_chunks_mut(CHUNK).enumerate();
        let single = chunks.with_max_len(1);
        single.for_each(|(c, chunk)| work(c * CHUNK, chunk));
    }
}

/// Calls `work(index, chunk, state)` for chunks of [`CHUNK`] items, each with its entry of `states`; chunks without one
/// are left out. Uses several threads where there are many items. Allocates nothing.
pub(super) fn for_chunks_with<T: Send, S: Send>(
    items: &mut [T],
    states: &mut [S],
    work: impl Fn(usize, &mut [T], &mut S) + Sync,
) {
    if items.len() < SERIAL_POINTS {
        let chunks = items.chunks_mut(CHUNK).zip(states).enumerate();
        chunks.for_each(|(c, (chunk, state))| work(c, chunk, state));
    } else {
        let chunks = items.par_chunks_mut(CHUNK).zip(states);
        // Two chunks at a time amortise the scheduling.
        let chunks = chunks.with_min_len(2).enumerate();
        chunks.for_each(|(c, (chunk, state))| work(c, chunk, state));
    }
}
