//! The order in which vertices are removed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The key of a vertex that is not in the queue.
const ABSENT: u64 = u64::MAX;

/// Vertices by key, the smallest first; of equal keys the lowest number.
///
/// A key is set anew whenever a neighbour is removed, and mostly rises. An entry of the heap is therefore no more than a lower
/// bound: it takes the key when it comes first. With an entry for every change the heap would be several times as large, and
/// outgrow the caches.
#[derive(Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// n_vertices: the keys.
    keys: Vec<u64>,
    /// n_vertices: the key of each vertex's entry; its other entries are out of date.
    entries: Vec<u64>,
}

impl Queue {
    /// Becomes the queue of vertices with their keys, of `n_vertices`.
    pub(super) fn fill(&mut self, n_vertices: usize, keys: impl Iterator<Item = (u32, u64)>) {
        self.keys.clear();
        self.keys.resize(n_vertices, ABSENT);
        let mut heap = std::mem::take(&mut self.heap).into_vec();
        heap.clear();
        for (vertex, key) in keys {
            self.keys[vertex as usize] = key;
            heap.push(Reverse((key, vertex)));
        }
        self.entries.clone_from(&self.keys);
        self.heap = heap.into();
    }

    /// Sets the key of a vertex, which joins the queue if it is not in it.
    pub(super) fn set(&mut self, vertex: u32, key: u64) {
        let v = vertex as usize;
        self.keys[v] = key;
        if key < self.entries[v] {
            self.entries[v] = key;
            self.heap.push(Reverse((key, vertex)));
        }
    }

    /// Takes the first vertex out of the queue.
    pub(super) fn pop(&mut self) -> Option<u32> {
        loop {
            let mut first = self.heap.peek_mut()?;
            let Reverse((entry, vertex)) = *first;
            let v = vertex as usize;
            let key = self.keys[v];
            if entry == self.entries[v] && entry != key {
                self.entries[v] = key;
                // It sinks to where it belongs.
                *first = Reverse((key, vertex));
                continue;
            }
            PeekMut::pop(first);
            if entry == self.entries[v] {
                self.entries[v] = ABSENT;
                return Some(vertex);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn vertices_come_in_the_order_of_their_keys_whatever_is_set() {
        const N: u32 = 40;
        let noise = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let mut queue = Queue::default();
        for round in 0..3 {
            let keys = (0..N)
                .filter(|v| v % 3 > 0)
                .map(|v| (v, noise(round + u64::from(v)) % 50));
            let mut expected: BTreeSet<(u64, u32)> =
                keys.clone().map(|(v, key)| (key, v)).collect();
            queue.fill(N as usize, keys);
            for i in 0..2000 {
                let (v, key) = ((noise(i + round) % u64::from(N)) as u32, noise(7 * i) % 50);
                if i % 4 == 0 {
                    let popped = queue.pop();
                    assert_eq!(popped, expected.pop_first().map(|first| first.1));
                } else if i % 7 > 2 {
                    // Few keys, so that many are equal, and come back.
                    expected.retain(|of| of.1 != v);
                    expected.insert((key, v));
                    queue.set(v, key);
                }
            }
            while let Some(v) = queue.pop() {
                assert_eq!(Some(v), expected.pop_first().map(|first| first.1));
            }
            assert!(expected.is_empty());
        }
    }
}
