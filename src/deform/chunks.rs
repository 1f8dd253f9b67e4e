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
    let mut others = states.clone();
    for_chunks_with(items, (&mut states, &mut others), |c, chunk, _| {
        work(c * CHUNK, chunk);
    });
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

/// Calls `work(index, chunk, states)` for chunks of [`CHUNK`] items, each with its entries of `states`; chunks without any
/// are left out. Uses several threads where there are many items. Allocates nothing.
pub(super) fn for_chunks_with<T: Send, A: Send, B: Send>(
    items: &mut [T],
    states: (&mut [A], &mut [B]),
    work: impl Fn(usize, &mut [T], (&mut A, &mut B)) + Sync,
) {
    if items.len() < SERIAL_POINTS {
        let states = states.0.iter_mut().zip(states.1);
        let chunks = items.chunks_mut(CHUNK).zip(states).enumerate();
        chunks.for_each(|(c, (chunk, states))| work(c, chunk, states));
    } else {
        let states = states.0.par_iter_mut().zip(states.1);
        let chunks = items.par_chunks_mut(CHUNK).zip(states);
        // Two chunks at a time amortise the scheduling.
        let chunks = chunks.with_min_len(2).enumerate();
        chunks.for_each(|(c, (chunk, states))| work(c, chunk, states));
    }
}
