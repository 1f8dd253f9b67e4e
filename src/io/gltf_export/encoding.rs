//! The component types of displacements of morph targets.

use crate::io::gltf_json::ComponentType;
use bytes::Bytes;
use glam::Vec3;

/// The largest values of normalised integers of 8 and 16 bits.
const SNORM8_MAX: f32 = 127.0;
const SNORM16_MAX: f32 = 32767.0;

/// What displacements change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Displaced {
    Positions,
    /// Deltas of unit vectors: 8 bits round each by less than half a degree.
    Normals,
}

/// How a file stores displacements of positions or normals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As floats.
    Float,
    /// As normalised integers of 8 or 16 bits (`KHR_mesh_quantization`), for components within -1 - 1.
    Snorm8,
    Snorm16,
}

impl Encoding {
    /// Integers where requested and where they hold all displacements, or else floats.
    pub(super) fn of(displacements: &[Vec3], displaced: Displaced, quantize: bool) -> Self {
        // Rounding may exceed 1; the integers are saturated.
        let is_within_1 = |d: &Vec3| d.abs().max_element() <= 1.000_001;
        if !quantize || !displacements.iter().all(is_within_1) {
            return Self::Float;
        }
        match displaced {
            Displaced::Positions => Self::Snorm16,
            Displaced::Normals => Self::Snorm8,
        }
    }

    /// The size of a displacement, bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Float => 12,
            Self::Snorm8 => 3,
            Self::Snorm16 => 6,
        }
    }

    /// The size of a displacement in a vertex attribute, whose elements are aligned to 4 bytes.
    pub(super) fn dense_size(self) -> usize {
        self.size().next_multiple_of(4)
    }

    /// The component type of an accessor.
    pub(super) fn component(self) -> ComponentType {
        match self {
            Self::Float => ComponentType::F32,
            Self::Snorm8 => ComponentType::I8,
            Self::Snorm16 => ComponentType::I16,
        }
    }

    /// A displacement as a file has it: rounded to integers, or as it is.
    pub(super) fn stored(self, displacement: Vec3) -> Vec3 {
        match self {
            Self::Float => displacement,
            Self::Snorm8 => (displacement * SNORM8_MAX).round(),
            Self::Snorm16 => (displacement * SNORM16_MAX).round(),
        }
    }

    /// Displacements as bytes, each in `size` bytes.
    pub(super) fn encode(self, displacements: impl Iterator<Item = Vec3>, size: usize) -> Bytes {
        let mut bytes: Vec<u8> = Vec::new();
        for displacement in displacements {
            let start = bytes.len();
            for x in self.stored(displacement).to_array() {
                match self {
                    Self::Float => bytes.extend(x.to_le_bytes()),
                    Self::Snorm8 => bytes.extend((x as i8).to_le_bytes()),
                    Self::Snorm16 => bytes.extend((x as i16).to_le_bytes()),
                }
            }
            bytes.resize(start + size, 0);
        }
        Bytes::from(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_hold_only_what_is_within_1() {
        let of = |x: f32| Encoding::of(&[Vec3::ZERO, Vec3::X * x], Displaced::Positions, true);
        assert_eq!(of(-1.0), Encoding::Snorm16);
        for x in [1.1, f32::NAN, f32::INFINITY] {
            assert_eq!(of(x), Encoding::Float, "{x}");
        }
        let normals = |quantize| Encoding::of(&[Vec3::X], Displaced::Normals, quantize);
        assert_eq!(
            (normals(false), normals(true)),
            (Encoding::Float, Encoding::Snorm8)
        );
        let bytes = Encoding::Snorm8.encode([Vec3::new(1.0, -0.5, -1.0)].into_iter(), 4);
        assert_eq!(bytes[..], [127, 192, 129, 0]);
        let bytes = Encoding::Snorm16.encode([Vec3::new(1.0, -0.5, 0.0)].into_iter(), 8);
        assert_eq!(bytes[..], [255, 127, 0, 192, 0, 0, 0, 0]);
    }
}
