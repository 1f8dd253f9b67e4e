//! Regions of the screen: box, circle and lasso.

use crate::mesh::PointSet;
use crate::skeleton::{Bone, JointId};
use crate::tools::{DepthBuffer, ScreenView, SurfaceView};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// A part of the screen, in the pixels of a [`ScreenView`].
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// A rectangle.
    Box {
        /// Its lower left corner.
        low: Vec2,
        /// Its upper right corner.
        high: Vec2,
    },
    /// The area swept by a circle.
    Circle {
        /// The previous position of its centre.
        from: Vec2,
        /// The present position of its centre.
        to: Vec2,
        /// Its radius.
        radius: f32,
    },
    /// The inside of a closed loop.
    Lasso(Loop),
}

/// A closed loop, rasterised into rows of pixels for fast queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    outline: Vec<Vec2>,
    low: Vec2,
    high: Vec2,
    /// For each row from floor(low.y): the crossings of its centre line with the outline, ascending.
    rows: Vec<Vec<f32>>,
}

impl Loop {
    /// The loop through `outline`, closed by a straight line.
    pub fn new(outline: Vec<Vec2>) -> Self {
        const MAX_ROWS: f32 = 16_384.0;
        let (low, high) = outline
            .iter()
            .fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(l, h), &p| {
                (l.min(p), h.max(p))
            });
        let n_rows = if outline.len() < 3 {
            0.0
        } else {
            (high.y.floor() - low.y.floor() + 1.0).clamp(0.0, MAX_ROWS)
        };
        let mut rows = vec![Vec::new(); n_rows as usize];
        for (a, b) in edges(&outline) {
            let (bottom, top) = if a.y <= b.y { (a, b) } else { (b, a) };
            let first = (bottom.y - 0.5).ceil();
            let mut y = first.max(low.y.floor()) + 0.5;
            while y <= top.y {
                // Half-open, so that a corner is crossed once.
                if y > bottom.y {
                    let x = bottom.x + (top.x - bottom.x) * (y - bottom.y) / (top.y - bottom.y);
                    if let Some(row) = rows.get_mut((y - low.y.floor()) as usize) {
                        row.push(x);
                    }
                }
                y += 1.0;
            }
        }
        for row in &mut rows {
            row.sort_by(f32::total_cmp);
        }
        Self {
            outline,
            low,
            high,
            rows,
        }
    }

    /// The corners.
    pub fn outline(&self) -> &[Vec2] {
        &self.outline
    }

    fn contains(&self, at: Vec2) -> bool {
        let row = at.y.floor() - self.low.y.floor();
        let crossings = if row >= 0.0 {
            self.rows.get(row as usize)
        } else {
            None
        };
        crossings.is_some_and(|xs| xs.partition_point(|&x| x < at.x) % 2 == 1)
    }
}

impl Region {
    /// The rectangle with these corners.
    pub fn between(a: Vec2, b: Vec2) -> Self {
        Self::Box {
            low: a.min(b),
            high: a.max(b),
        }
    }

    /// Whether a pixel lies inside.
    pub fn contains(&self, at: Vec2) -> bool {
        match self {
            Self::Box { low, high } => {
                at.x >= low.x && at.x <= high.x && at.y >= low.y && at.y <= high.y
            }
            &Self::Circle { from, to, radius } => {
                nearest_on(from, to, at).distance_squared(at) <= radius * radius
            }
            Self::Lasso(outline) => outline.contains(at),
        }
    }

    /// Whether a part of the segment lies inside.
    pub fn meets(&self, a: Vec2, b: Vec2) -> bool {
        if self.contains(a) || self.contains(b) {
            return true;
        }
        match self {
            &Self::Box { low, high } => {
                let corners = [
                    low,
                    Vec2::new(high.x, low.y),
                    high,
                    Vec2::new(low.x, high.y),
                ];
                edges(&corners).any(|(c, d)| cross(a, b, c, d))
            }
            &Self::Circle { from, to, radius } => {
                let near = |p: Vec2, c: Vec2, d: Vec2| nearest_on(c, d, p).distance(p) <= radius;
                near(from, a, b) || near(to, a, b) || near(a, from, to) || cross(a, b, from, to)
            }
            Self::Lasso(outline) => edges(&outline.outline).any(|(c, d)| cross(a, b, c, d)),
        }
    }

    /// The corners of a box around it.
    fn bounds(&self) -> (Vec2, Vec2) {
        match self {
            &Self::Box { low, high } => (low, high),
            &Self::Circle { from, to, radius } => (from.min(to) - radius, from.max(to) + radius),
            Self::Lasso(outline) => (outline.low, outline.high),
        }
    }
}

/// The points of `surface` inside of `region`: all of them, or with `depth` the visible ones.
pub fn points_in(
    region: &Region,
    view: &ScreenView,
    surface: &SurfaceView<'_>,
    depth: Option<&DepthBuffer>,
) -> PointSet {
    /// Words of 64 points that one task looks at.
    const WORDS_PER_TASK: usize = 64;
    let (low, high) = region.bounds();
    let seen = |point: u32, at: Vec3| {
        at.x >= low.x
            && at.x <= high.x
            && at.y >= low.y
            && at.y <= high.y
            && region.contains(at.truncate())
            && depth.is_none_or(|depth| depth.sees(view, surface, point))
    };
    let word = |index: usize, positions: &[Vec3]| {
        let hidden = surface.hidden.map_or(0, |set| set.word(index));
        positions.iter().enumerate().fold(0, |word, (i, &p)| {
            let found = hidden >> i & 1 == 0
                && view
                    .project(p)
                    .is_some_and(|at| seen((index * 64 + i) as u32, at));
            word | u64::from(found) << i
        })
    };
    let words = surface
        .positions
        .par_chunks(64)
        .with_min_len(WORDS_PER_TASK)
        .enumerate()
        .map(|(index, positions)| word(index, positions));
    PointSet::from_words(words.collect())
}

/// The visible point nearest to the pixel `at`, within `reach_px`, and its distance; with `only`, of these points.
pub fn nearest_point(
    at: Vec2,
    reach_px: f32,
    view: &ScreenView,
    surface: &SurfaceView<'_>,
    (depth, only): (Option<&DepthBuffer>, Option<&PointSet>),
) -> Option<(u32, f32)> {
    let region = Region::Circle {
        from: at,
        to: at,
        radius: reach_px,
    };
    // Of points at one pixel the one nearest to the camera.
    points_in(&region, view, surface, depth)
        .iter()
        .filter(|p| only.is_none_or(|only| only.contains(*p)))
        .filter_map(|p| Some((p, view.project(surface.positions[p as usize])?)))
        .map(|(p, on_screen)| (p, on_screen.truncate().distance(at), on_screen.z))
        .min_by(|a, b| {
            (a.1.round().total_cmp(&b.1.round()))
                .then(a.2.total_cmp(&b.2))
                .then(a.1.total_cmp(&b.1))
        })
        .map(|(p, distance, _)| (p, distance))
}

/// The joints of the bones that reach into `region`.
pub fn joints_in(region: &Region, view: &ScreenView, bones: &[Bone]) -> BTreeSet<JointId> {
    let inside = |bone: &&Bone| {
        view.project_segment(bone.head, bone.tail)
            .is_some_and(|(a, b)| region.meets(a, b))
    };
    bones.iter().filter(inside).map(|bone| bone.joint).collect()
}

/// The sides of a closed loop.
fn edges(outline: &[Vec2]) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
    let next = outline.iter().cycle().skip(1);
    outline.iter().copied().zip(next.copied())
}

fn nearest_on(a: Vec2, b: Vec2, p: Vec2) -> Vec2 {
    let along = b - a;
    let length_squared = along.length_squared();
    if length_squared <= 0.0 {
        return a;
    }
    a + along * ((p - a).dot(along) / length_squared).clamp(0.0, 1.0)
}

/// Whether two segments cross.
fn cross(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let side = |p: Vec2, q: Vec2, r: Vec2| (q - p).perp_dot(r - p);
    side(a, b, c) * side(a, b, d) <= 0.0 && side(c, d, a) * side(c, d, b) <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Camera;

    #[test]
    fn a_loop_holds_what_lies_inside_of_its_dents_too() {
        let corners = [(0., 0.), (40., 0.), (40., 40.), (20., 10.), (0., 40.)];
        let lasso = Region::Lasso(Loop::new(corners.map(Vec2::from).to_vec()));
        let inside = |x, y| lasso.contains(Vec2::new(x, y));
        assert!(inside(5.0, 5.0) && inside(2.0, 30.0) && inside(38.0, 30.0));
        assert!(!inside(20.0, 20.0) && !inside(-1.0, 5.0) && !inside(20.0, -0.6));
        assert!(lasso.meets(Vec2::new(-9., 20.), Vec2::new(60., 20.)));
        assert!(!lasso.meets(Vec2::new(20., 15.), Vec2::new(20., 60.)));
    }

    #[test]
    fn a_circle_sweeps_a_band_and_a_line_through_it_is_met() {
        let circle = Region::Circle {
            from: Vec2::ZERO,
            to: Vec2::new(10., 0.),
            radius: 2.0,
        };
        assert!(circle.contains(Vec2::new(5., 1.9)) && !circle.contains(Vec2::new(5., 2.1)));
        assert!(circle.meets(Vec2::new(5., -9.), Vec2::new(5., 9.)));
        assert!(circle.meets(Vec2::new(-9., 1.), Vec2::new(19., 1.)));
        assert!(!circle.meets(Vec2::new(-9., 3.), Vec2::new(19., 3.)));
    }

    #[test]
    fn a_box_meets_a_bone_that_runs_through_it() {
        let region = Region::between(Vec2::new(10., 10.), Vec2::ZERO);
        assert!(region.meets(Vec2::new(-5., 5.), Vec2::new(15., 5.)));
        assert!(!region.meets(Vec2::new(-5., 5.), Vec2::new(5., 16.)));
    }

    #[test]
    fn a_bone_is_cut_at_the_eye() {
        let camera = Camera {
            yaw: 0.0,
            pitch: 0.0,
            ..Camera::default()
        };
        let view = ScreenView::new(&camera, Vec2::new(200., 100.));
        // From the middle of the view past the camera, slightly to the right.
        let (a, b) = view
            .project_segment(Vec3::ZERO, Vec3::new(0.1, 0.0, 20.0))
            .unwrap();
        assert!(a.abs_diff_eq(Vec2::new(100., 50.), 1e-3) && b.x > 110.0);
        assert_eq!(view.project_segment(Vec3::Z * 9., Vec3::Z * 20.), None);
        let centre = view.project(Vec3::ZERO).unwrap();
        let nearer = view.project_nearer(Vec3::ZERO, 0.1).unwrap();
        let moved = view.project(Vec3::Z * 0.1).unwrap();
        assert!(nearer.z < centre.z && (nearer.z - moved.z).abs() < 1e-6);
    }
}
