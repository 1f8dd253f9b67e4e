//! How much memory an import may use, so that a small file cannot ask for gigabytes.

use super::error::{Fault, ImportError};
use std::sync::atomic::{AtomicU64, Ordering};

/// What every import may use besides its share of the file's size.
const FLOOR: u64 = 64 << 20;
/// Bytes of memory for a byte of file.
const FACTOR: u64 = 20;

/// Bytes an import may still take: 64 MiB + 20 x the size of the file and its buffers, less what was charged.
///
/// Charged before each allocation whose size the file names, with an estimate of what it leads to.
#[derive(Debug)]
pub(super) struct Budget {
    file: u64,
    left: AtomicU64,
}

impl Budget {
    pub(super) fn new(file_bytes: usize) -> Self {
        let file = file_bytes as u64;
        Self {
            file,
            left: AtomicU64::new(FLOOR + (FACTOR - 1) * file),
        }
    }

    /// More file to go with: an external buffer of this size was read.
    pub(super) fn add_file(&self, bytes: usize) {
        self.left
            .fetch_add((FACTOR - 1) * bytes as u64, Ordering::Relaxed);
    }

    /// Bytes left.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes `bytes`; fails, taking nothing, where so many are not left.
    pub(super) fn charge(&self, bytes: u64, place: &str) -> Result<(), Fault> {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            })
            .map(|_| ())
            .map_err(|left| Fault::new(place, self.too_large(bytes, left, place).to_string()))
    }

    /// Gives back what a temporary took.
    pub(super) fn refund(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    fn too_large(&self, needed: u64, limit: u64, place: &str) -> ImportError {
        ImportError::TooLarge {
            place: place.to_owned(),
            needed,
            limit,
            file: self.file,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_use_64_mib_and_no_more() {
        let budget = Budget::new(0);
        budget.charge(FLOOR - 1, "meshes[0]").unwrap();
        let fault = budget.charge(2, "meshes[1]").unwrap_err();
        assert_eq!(
            fault.message,
            "meshes[1] would need 2 bytes of memory, more than the 1 allowed for a file of 0 bytes."
        );
        budget.charge(1, "meshes[1]").unwrap();
        assert_eq!(budget.left(), 0);
    }
}
