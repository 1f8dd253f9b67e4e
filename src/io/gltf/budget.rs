//! The memory budget of an import, so that a small file cannot allocate gigabytes.

use super::error::{Fault, ImportError};
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of the budget that does not depend on the file's size: 64 MiB minus the program's own memory.
const FLOOR: u64 = 54 << 20;
/// Bytes of memory per byte of file.
const FACTOR: u64 = 20;

/// Bytes that the morph targets of an exported file may take besides.
const EXPORT_BYTES: u64 = 1 << 30;

/// Bytes that meshes drawn by several nodes may take in any file, beside the first node of each.
const REPEATED_FLOOR: u64 = 1 << 30;
/// The memory of an instance while it is deformed and drawn, bytes: per node, per vertex and per joint of its skin. With a
/// skin, also while it is exported with a correction, which takes more.
const DRAWN_NODE_BYTES: u64 = 8 << 10;
const DRAWN_VERTEX_BYTES: u64 = 340;
const SKINNED_VERTEX_BYTES: u64 = 1300;
const DRAWN_JOINT_BYTES: u64 = 640;

/// The remaining memory of an import, bytes; the total stays within 64 MiB + 20 x the size of the file and its buffers.
///
/// Charged before each allocation whose size depends on the file, with an estimate of the memory it leads to.
#[derive(Debug)]
pub(super) struct Budget {
    /// The size of the file and its external buffers, bytes.
    file: AtomicU64,
    left: AtomicU64,
    /// Bytes left for what is deformed and drawn more than once.
    repeated: AtomicU64,
}

impl Budget {
    pub(super) fn new(file_bytes: usize) -> Self {
        let file = file_bytes as u64;
        Self {
            file: AtomicU64::new(file),
            left: AtomicU64::new(FLOOR + (FACTOR - 1) * file),
            repeated: AtomicU64::new(REPEATED_FLOOR + FACTOR * file),
        }
    }

    /// For an exported file of this size, in which morph targets that move few vertices take few bytes.
    pub(super) fn of_export(file_bytes: usize) -> Self {
        let budget = Self::new(file_bytes);
        budget.left.fetch_add(EXPORT_BYTES, Ordering::Relaxed);
        budget
    }

    /// Increases the budget for an external buffer of this size.
    pub(super) fn add_file(&self, bytes: usize) {
        let bytes = bytes as u64;
        self.file.fetch_add(bytes, Ordering::Relaxed);
        self.left.fetch_add((FACTOR - 1) * bytes, Ordering::Relaxed);
        self.repeated.fetch_add(FACTOR * bytes, Ordering::Relaxed);
    }

    /// The size of the file and its external buffers, bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file.load(Ordering::Relaxed)
    }

    /// Reserves the memory to deform and draw a mesh once more, after its first node; false, without reserving anything,
    /// if too little is left. `n_joints`: of its skin; 0 without one.
    pub(super) fn charge_repeated(&self, n_vertices: usize, n_joints: usize) -> bool {
        let of_vertex = if n_joints > 0 {
            SKINNED_VERTEX_BYTES
        } else {
            DRAWN_VERTEX_BYTES
        };
        let bytes = DRAWN_NODE_BYTES
            + of_vertex.saturating_mul(n_vertices as u64)
            + DRAWN_JOINT_BYTES.saturating_mul(n_joints as u64);
        self.repeated
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            })
            .is_ok()
    }

    /// Bytes left.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Reserves `bytes`; an error, without reserving anything, if fewer are left.
    pub(super) fn charge(&self, bytes: u64, place: &str) -> Result<(), Fault> {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            })
            .map(|_| ())
            .map_err(|left| Fault::new(place, self.too_large(bytes, left, place).to_string()))
    }

    /// Returns the bytes of a temporary allocation.
    pub(super) fn refund(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    fn too_large(&self, needed: u64, limit: u64, place: &str) -> ImportError {
        ImportError::TooLarge {
            place: place.to_owned(),
            needed,
            limit,
            file: self.file_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_use_so_much_and_no_more() {
        let budget = Budget::new(0);
        budget.charge(FLOOR - 1, "meshes[0]").unwrap();
        let fault = budget.charge(2, "meshes[1]").unwrap_err();
        assert_eq!(
            fault.message,
            "meshes[1] would need 2 bytes of memory, more than the 1 allowed for a file of 0 bytes."
        );
        budget.charge(1, "meshes[1]").unwrap();
        assert_eq!(budget.left(), 0);
        // An accessor without a view may have more elements in a larger file, also in an export.
        assert_eq!(Budget::of_export(7).file_bytes(), 7);
    }
}
