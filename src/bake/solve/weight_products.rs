//! The normal matrices of the displacements of all points, from products of the weights that the points share.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use crate::skinning::{Backend, Kernel, Simd, dispatch};

/// Pairs that are summed together: their sums of six numbers stay in registers.
const LANES: usize = 8;

/// The products of every two weights of a frame, which the normal equations of all points share.
pub(crate) struct WeightProducts {
    k: usize,
    /// The number of frames.
    t: usize,
    /// By [`LANES`] pairs x >= y, which are (0, 0), (1, 0), (1, 1), (2, 0), ..., then by frame: the sums read them in sequence.
    products: Vec<f64>,
}

impl WeightProducts {
    /// Those of weights `w`, t x k.
    pub(crate) fn of(k: usize, w: &[f64]) -> Self {
        let t = w.len() / k.max(1);
        let groups = (k * (k + 1) / 2).div_ceil(LANES);
        let mut products = vec![0.0; groups * t * LANES];
        for (frame, w) in w.chunks_exact(k.max(1)).enumerate() {
            let firsts = w.iter().enumerate();
            let pairs = firsts.flat_map(|(x, first)| w[..=x].iter().map(move |w| first * w));
            for (pair, product) in pairs.enumerate() {
                products[(pair / LANES * t + frame) * LANES + pair % LANES] = product;
            }
        }
        Self { k, t, products }
    }

    /// The lower triangle, column by column, of the normal matrix of a point: by pair the sum over frames of its product
    /// times a symmetric matrix (xx, xy, xz, yy, yz, zz).
    pub(crate) fn normal(&self, squares: &[[f64; 6]], normal: &mut [f64]) {
        const ENTRY: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        let size = 3 * self.k;
        let (mut x, mut y) = (0, 0);
        for products in self.products.chunks_exact((self.t * LANES).max(1)) {
            let mut sums = [[0.0; LANES]; 6];
            let of_pairs = PairSums {
                products,
                squares,
                sums: &mut sums,
            };
            dispatch(Backend::detect(), of_pairs);
            let pairs: [[f64; 6]; LANES] = std::array::from_fn(|lane| sums.map(|sum| sum[lane]));
            for pair in pairs {
                if x == self.k {
                    return;
                }
                for row in 0..3 {
                    for column in 0..3 {
                        normal[(3 * y + column) * size + 3 * x + row] = pair[ENTRY[row][column]];
                    }
                }
                (x, y) = if y == x { (x + 1, 0) } else { (x, y + 1) };
            }
        }
    }
}

/// The sums over frames of the products of [`LANES`] pairs times a symmetric matrix.
struct PairSums<'a> {
    /// Those of the first frame first.
    products: &'a [f64],
    squares: &'a [[f64; 6]],
    sums: &'a mut [[f64; LANES]; 6],
}

impl Kernel for PairSums<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let mut sums = [[0.0; LANES]; 6];
        for (products, square) in self.products.chunks_exact(LANES).zip(self.squares) {
            for (sums, square) in sums.iter_mut().zip(square) {
                for (sum, product) in sums.iter_mut().zip(products) {
                    *sum += product * square;
                }
            }
        }
        *self.sums = sums;
    }
}
