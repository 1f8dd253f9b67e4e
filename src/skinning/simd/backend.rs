//! Which instructions the kernels use.

#[cfg(target_arch = "x86_64")]
use super::avx2::{Avx2, with_avx2};
use super::lanes::{Kernel, Portable};

/// The instruction set of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// 256-bit lanes with fused multiply-add, where the machine has them; else [`Backend::Portable`].
    Avx2,
    /// The crate `wide`, compiled for the target.
    Portable,
}

impl Backend {
    /// The fastest backend of this CPU.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            return Self::Avx2;
        }
        Self::Portable
    }
}

/// Runs a kernel on a backend.
pub(crate) fn dispatch<K: Kernel>(backend: Backend, kernel: K) {
    #[cfg(target_arch = "x86_64")]
    if backend == Backend::Avx2
        && let Some(simd) = Avx2::detect()
    {
        // SAFETY: `simd` exists, so the CPU has AVX2 and FMA.
        return unsafe { with_avx2(simd, kernel) };
    }
    let _ = backend;
    kernel.run(Portable);
}
