//! Eight f32 lanes: AVX2 with FMA where the CPU has them, the crate `wide` elsewhere.
//!
//! The only folder of the kernels with `unsafe` code. It is sound for two reasons:
//!
//! - A value of `Avx2` exists only where the CPU was found to have AVX2 and FMA (`Avx2::detect`), so every method
//!   on it may use their instructions. The methods are `#[inline(always)]` and end up inside `with_avx2`, which is
//!   compiled with these features: that makes them fast, it does not make them sound.
//! - A [`Gather`] exists only for rows that hold every joint of its chunk ([`Gather::new`] checks the chunk's largest
//!   index, which `CookedChunk` keeps for all its blocks), so rows are read without checks in the inner loop.
//!
//! Invariant: both backends compute the same formulas lane by lane; results do not depend on a point's neighbours in the
//! block.

#![allow(unsafe_code)]
// The kernels' bodies must end up inside of `with_avx2`, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod backend;
mod lanes;

pub use backend::Backend;
pub(crate) use backend::dispatch;
pub(super) use lanes::{Gather, opposed};
pub(crate) use lanes::{Kernel, Simd};
