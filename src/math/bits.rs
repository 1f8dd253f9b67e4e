//! Bitwise comparison, by which results are cached and compared.

use glam::Vec3;

/// Whether two vectors are bitwise equal: NaN equals itself, zeros of different sign differ.
pub(crate) fn same_bits(a: Vec3, b: Vec3) -> bool {
    a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_compared_not_values() {
        assert!(same_bits(Vec3::NAN, Vec3::NAN));
        assert!(!same_bits(Vec3::ZERO, -Vec3::ZERO));
    }
}
