//! Stage 3: linear or dual quaternion skinning, centres of rotation, or a painted blend of the first two.

use super::key::{Identity, LastKey};
use crate::deform::mask::MaskChunk;
use crate::deform::{DeformInput, MaskKind, SkinningMethod};
use crate::skinning::{self, CHUNK, Centres, SkinInput};
use glam::Vec3;

/// The settings of stage 3 and its painted map.
#[derive(Default)]
pub(super) struct Skinning {
    key: LastKey<Key>,
    /// One a chunk: the painted share of dual quaternion skinning, where the method reads it.
    masks: Vec<Identity<[f32; CHUNK]>>,
}

#[derive(Default, PartialEq)]
struct Key {
    method: SkinningMethod,
    /// Bits of the blend, where the method reads it.
    blend: Option<u32>,
    /// Where the method reads them and they are of this mesh.
    centres: Identity<Centres>,
}

impl Skinning {
    /// Takes the settings over. Returns whether every point may move otherwise than before.
    pub(super) fn update(&mut self, input: &DeformInput<'_>) -> bool {
        let method = input.stack.method;
        let blends = method == SkinningMethod::Blend;
        let turns_about_centres = method == SkinningMethod::CentresOfRotation;
        let centres = input.centres.filter(|c| c.fit(input.geometry));
        self.key.replace(|_| Key {
            method,
            blend: blends.then(|| input.stack.blend.to_bits()),
            centres: Identity::of(centres.filter(|_| turns_about_centres)),
        })
    }

    /// Takes the painted map of a chunk over. Returns whether it is another than before.
    pub(super) fn take_mask(&mut self, input: &DeformInput<'_>, chunk: usize) -> bool {
        let mask = blend_mask(input, chunk);
        if self.masks.len() <= chunk {
            self.masks.resize_with(chunk + 1, Identity::default);
        }
        let known = &mut self.masks[chunk];
        let is_new = !known.is(mask);
        if is_new {
            *known = Identity::of(mask);
        }
        is_new
    }

    /// Moves a chunk of points to the pose, world space. Allocates nothing.
    ///
    /// `bind`: the chunk at bind; `inflated`: the same after stage 2; `out`: n_points.
    pub(super) fn run(
        &self,
        index: usize,
        bind: &SkinInput<'_>,
        inflated: &SkinInput<'_>,
        out: &mut [Vec3],
    ) {
        let Some(key) = self.key.known() else {
            return;
        };
        match key.method {
            SkinningMethod::Lbs => skinning::lbs(bind, out),
            SkinningMethod::Dqs => skinning::dqs(inflated, out),
            SkinningMethod::CentresOfRotation => {
                let centres = key.centres.value().and_then(|c| c.chunk(index));
                match centres.filter(|c| c.len() == out.len()) {
                    Some(centres) => skinning::centres_of_rotation(inflated, centres, out),
                    None => skinning::dqs(inflated, out),
                }
            }
            SkinningMethod::Blend => {
                let blend = key.blend.map_or(1.0, f32::from_bits);
                let painted = self.masks.get(index).and_then(Identity::value);
                let mut linear = [Vec3::ZERO; CHUNK];
                let linear = &mut linear[..out.len()];
                skinning::lbs(bind, linear);
                skinning::dqs(inflated, out);
                for (i, (out, linear)) in out.iter_mut().zip(linear).enumerate() {
                    let share = blend * painted.map_or(1.0, |m| m[i]);
                    *out = linear.lerp(*out, share);
                }
            }
        }
    }
}

/// The painted share of dual quaternion skinning, where the method reads it.
fn blend_mask<'a>(input: &DeformInput<'a>, chunk: usize) -> Option<&'a MaskChunk> {
    let reads = input.stack.reads_mask(MaskKind::Blend);
    let masks = input.masks;
    reads.then(|| masks.chunk(MaskKind::Blend, chunk)).flatten()
}
