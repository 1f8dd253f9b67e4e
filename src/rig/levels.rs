//! Where a person's legs, trunk and head meet: by the widths of the cross-sections of the mesh.

use crate::math::DisjointSets;
use glam::DVec3;
use std::collections::HashMap;

/// Cross-sections of a body.
const N_SECTIONS: usize = 200;
/// Legs and arms are beside the middle; what passes it by this fraction of the height on both sides is trunk, neck or head.
const ACROSS: f64 = 0.01;
/// The head and the shoulders are wider than the neck by this factor.
const WIDER: f64 = 1.08;
/// The smallest and the largest height of a head with its neck, as fractions of the height.
const HEAD: [f64; 2] = [0.08, 0.6];
/// The height of the crotch as a fraction of that of the neck: the smallest and the largest, and that of the canon.
const CROTCH: [f64; 3] = [0.25, 0.7, 0.47 / 0.85];
/// How far the shoulder joints are below the neck, as a fraction of the length from neck to crotch.
const SHOULDER: f64 = 0.04 / 0.38;

/// Heights of a body as fractions of its own, from the ground, and half the width of its chest by the same measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Levels {
    pub(super) crotch: f64,
    pub(super) shoulder: f64,
    /// Where the neck is narrowest.
    pub(super) neck: f64,
    /// `None` where no trunk was found.
    pub(super) chest: Option<f64>,
}

impl Levels {
    /// Those of the canon of seven and a half heads.
    pub(super) const CANON: Self = Self {
        crotch: 0.47,
        shoulder: 0.81,
        neck: 0.85,
        chest: None,
    };

    /// The levels of a body that stands on `ground`; what is not found is as in the canon, in proportion to the body below the
    /// neck. points: y up; `middle`: the plane of symmetry along x; `height`: above 0.
    pub(super) fn of(
        points: &[DVec3],
        triangles: &[[u32; 3]],
        middle: f64,
        [ground, height]: [f64; 2],
    ) -> Self {
        let widths = widths(points, triangles, middle, [ground, height]);
        let at = |k: usize| (k as f64 + 0.5) / N_SECTIONS as f64;
        let neck = neck(&widths).map_or(Self::CANON.neck, at);
        let within = |k: &usize| (CROTCH[0]..CROTCH[1]).contains(&(at(*k) / neck));
        let crotch = crotch(&widths).filter(within);
        let crotch = crotch.map_or(CROTCH[2] * neck, at);
        let shoulder = neck - SHOULDER * (neck - crotch);
        // Above the waist and below the arms.
        let trunk = |k: usize| (0.45..0.8).contains(&((at(k) - crotch) / (shoulder - crotch)));
        let mut chest: Vec<f64> = (0..N_SECTIONS)
            .filter(|&k| trunk(k))
            .filter_map(|k| widths[k])
            .collect();
        chest.sort_by(f64::total_cmp);
        Self {
            crotch,
            shoulder,
            neck,
            chest: chest.get(chest.len() / 2).map(|width| 0.5 * width),
        }
    }
}

/// The widths of the sections of trunk, neck and head, from the ground up, as fractions of the height; `None` where nothing
/// passes the middle.
fn widths(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    middle: f64,
    [ground, height]: [f64; 2],
) -> Vec<Option<f64>> {
    // Edges that cross a plane, and where; each triangle joins two of them.
    let mut cut: Vec<Loops> = (0..N_SECTIONS).map(|_| Loops::default()).collect();
    let level = |p: DVec3| (p.y - ground) / height * N_SECTIONS as f64 - 0.5;
    for corners in triangles {
        let [a, b, c] = corners.map(|p| level(points[p as usize]));
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        if !(low.is_finite() && high.is_finite()) {
            continue;
        }
        let first = low.ceil().max(0.0) as usize;
        let end = (high.floor() + 1.0).clamp(0.0, N_SECTIONS as f64) as usize;
        for (k, loops) in cut.iter_mut().enumerate().take(end).skip(first) {
            let plane = k as f64;
            let crosses = |i: usize, j: usize| -> Option<([u32; 2], f64)> {
                let (p, q) = (corners[i], corners[j]);
                let (from, to) = (points[p as usize], points[q as usize]);
                let (u, v) = (level(from), level(to));
                // A corner on the plane counts as below.
                ((u <= plane) != (v <= plane)).then(|| {
                    let x = from.x + (to.x - from.x) * (plane - u) / (v - u);
                    ([p.min(q), p.max(q)], x)
                })
            };
            let mut both = [(0, 1), (1, 2), (2, 0)]
                .into_iter()
                .filter_map(|(i, j)| crosses(i, j));
            if let (Some(a), Some(b)) = (both.next(), both.next()) {
                loops.join(a, b);
            }
        }
    }
    let across = ACROSS * height;
    let width = |loops: Loops| {
        let spans = loops.spans().into_iter();
        let wide = spans.filter(|[low, high]| *low < middle - across && *high > middle + across);
        wide.map(|[low, high]| (high - low) / height)
            .max_by(f64::total_cmp)
    };
    cut.into_iter().map(width).collect()
}

/// The outlines of a section: points on edges of the mesh, joined by its triangles.
#[derive(Default)]
struct Loops {
    of_edge: HashMap<[u32; 2], u32>,
    x: Vec<f64>,
    joined: Vec<[u32; 2]>,
}

impl Loops {
    fn join(&mut self, a: ([u32; 2], f64), b: ([u32; 2], f64)) {
        let ends = [a, b].map(|(edge, x)| {
            *self.of_edge.entry(edge).or_insert_with(|| {
                self.x.push(x);
                self.x.len() as u32 - 1
            })
        });
        self.joined.push(ends);
    }

    /// The smallest and the largest x of each outline.
    fn spans(self) -> Vec<[f64; 2]> {
        let mut sets = DisjointSets::new(self.x.len());
        for [a, b] in self.joined {
            sets.join(a, b);
        }
        let (n_outlines, outline_of) = sets.numbers();
        let mut spans = vec![[f64::INFINITY, f64::NEG_INFINITY]; n_outlines];
        for (x, outline) in self.x.into_iter().zip(outline_of) {
            let span = &mut spans[outline as usize];
            *span = [span[0].min(x), span[1].max(x)];
        }
        spans
    }
}

/// The section of the neck: from the top, the first that is narrower than what is above it and the shoulders below. Below the
/// brim of a hat the brow is such a section: the head under it is not as wide as the brim, and narrows to the neck.
fn neck(widths: &[Option<f64>]) -> Option<usize> {
    let n = widths.len();
    let size = |count: f64| (count * n as f64) as usize;
    let [least, most] = HEAD.map(size);
    // Each with its width and the largest one above it.
    let mut necks: Vec<[f64; 2]> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    let mut found: Option<(usize, f64)> = None;
    let mut above = 0.0f64;
    for k in (n.saturating_sub(most)..n).rev() {
        let Some(width) = widths[k] else {
            continue;
        };
        let is_below_head = n - k >= least;
        match found {
            // It widens again.
            Some((at, narrow)) if width > WIDER * narrow => {
                necks.push([narrow, above]);
                places.push(at);
                (found, above) = (None, width);
            }
            Some((_, narrow)) if width < narrow => found = Some((k, width)),
            None if is_below_head && width * WIDER < above => found = Some((k, width)),
            _ => {}
        }
        if found.is_none() {
            above = above.max(width);
        }
    }
    let is_brow = |k: &usize| {
        let [[brow, brim], [neck, head]] = [necks[*k], necks[*k + 1]];
        neck < brow && head < brim
    };
    let n_brows = (0..necks.len().saturating_sub(1))
        .take_while(is_brow)
        .count();
    Some(middle_of(widths, *places.get(n_brows)?))
}

/// The middle of the sections around `at` that are as narrow.
fn middle_of(widths: &[Option<f64>], at: usize) -> usize {
    let narrow = widths[at].unwrap_or(0.0);
    let is_narrow = |k: &usize| widths[*k].is_some_and(|width| width < 1.02 * narrow);
    let above = (at..widths.len()).take_while(is_narrow).count();
    let below = (0..at).rev().take_while(is_narrow).count();
    at - below + usize::midpoint(above, below)
}

/// The section of the crotch: the lowest from which on up trunk passes the middle, for a tenth of the height.
fn crotch(widths: &[Option<f64>]) -> Option<usize> {
    let run = widths.len() / 10;
    let is_trunk = |k: usize| (k..k + run).all(|k| widths.get(k).is_some_and(Option::is_some));
    (0..widths.len()).find(|&k| is_trunk(k))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(of: impl Fn(f64) -> Option<f64>) -> Vec<Option<f64>> {
        let at = |k: usize| (k as f64 + 0.5) / N_SECTIONS as f64;
        (0..N_SECTIONS).map(|k| of(at(k))).collect()
    }

    #[test]
    fn a_neck_is_narrower_than_what_is_above_and_below() {
        let body = |chin: f64, head: f64| {
            sections(move |y| {
                (y > 0.3).then(|| match y {
                    y if y > chin => head * (1.0 - ((y - chin) / (1.0 - chin) - 0.5).powi(2)),
                    y if y > chin - 0.04 => 0.08,
                    y if y < 0.4 => 0.1,
                    _ => 0.2,
                })
            })
        };
        for (chin, head) in [(0.87, 0.12), (0.66, 0.33)] {
            let widths = body(chin, head);
            let found = neck(&widths).unwrap() as f64 / N_SECTIONS as f64;
            assert!((found - (chin - 0.02)).abs() < 0.012, "{found} of {chin}");
            assert_eq!(crotch(&widths), Some(60));
        }
        // A brim: the head below it widens at the ears, and the neck is narrower. A waist is not.
        let hat = sections(|y| {
            let width = match y {
                y if y > 0.95 => 0.06,
                y if y > 0.93 => 0.2,
                y if y > 0.91 => 0.085,
                y if y > 0.86 => 0.1,
                y if y > 0.82 => 0.05,
                y if y > 0.65 => 0.22,
                y if y > 0.55 => 0.035,
                _ => 0.15,
            };
            (y > 0.47).then_some(width)
        });
        let found = neck(&hat).unwrap() as f64 / N_SECTIONS as f64;
        assert!((found - 0.84).abs() < 0.012, "{found}");
        // Neither head nor shoulders.
        assert_eq!(neck(&sections(|_| Some(0.2))), None);
        assert_eq!(neck(&sections(|y| Some(1.0 - y))), None);
        assert_eq!(crotch(&sections(|_| None)), None);
    }

    #[test]
    fn legs_that_touch_are_no_trunk() {
        // Two boxes side by side, and one above both.
        let (mut points, mut triangles) = (Vec::new(), Vec::new());
        let mut block = |x: [f64; 2], y: [f64; 2]| {
            let first = points.len() as u32;
            for i in 0..8 {
                let z = if i & 4 == 0 { -0.1 } else { 0.1 };
                points.push(DVec3::new(x[i & 1], y[i >> 1 & 1], z));
            }
            let quads = [
                [0, 1, 3, 2],
                [4, 6, 7, 5],
                [0, 4, 5, 1],
                [2, 3, 7, 6],
                [0, 2, 6, 4],
                [1, 5, 7, 3],
            ];
            for [a, b, c, d] in quads.map(|q| q.map(|k| first + k)) {
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        };
        block([-0.2, 0.002], [0.0, 0.5]);
        block([-0.002, 0.2], [0.0, 0.5]);
        block([-0.15, 0.15], [0.5, 1.0]);
        let levels = Levels::of(&points, &triangles, 0.0, [0.0, 1.0]);
        assert!((levels.crotch - 0.5).abs() < 0.01, "{levels:?}");
        assert!((levels.chest.unwrap() - 0.15).abs() < 1e-9, "{levels:?}");
        // Without a surface: the canon.
        let none = Levels::of(&points, &[], 0.0, [0.0, 1.0]);
        assert_eq!((none.neck, none.chest), (0.85, None));
        assert!((none.crotch - 0.47).abs() < 1e-12 && (none.shoulder - 0.81).abs() < 1e-12);
    }
}
