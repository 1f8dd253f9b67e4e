//! Where a water surface meets its bed: the wet / dry line and the wet area.

use glam::{DVec2, Vec3};

/// Maximum number of cells along a side of the grid.
const MOST_CELLS: usize = 512;

/// Points this far outside of a triangle, as a share of it, are on it: neighbours leave no gap.
const TOLERANCE: f64 = 1e-6;

/// Surfaces seen from above, y up: the height of the ground at a point.
#[derive(Clone, Debug, Default)]
pub struct HeightField {
    triangles: Vec<[Vec3; 3]>,
    low: DVec2,
    /// Cells a metre.
    per_metre: DVec2,
    n_cells: [usize; 2],
    /// Cell c holds triangles `listed[starts[c] .. starts[c + 1]]`.
    starts: Vec<u32>,
    listed: Vec<u32>,
}

impl HeightField {
    /// The field of some triangles, world space. Those with a corner that is not finite are left out.
    pub fn new(triangles: Vec<[Vec3; 3]>) -> Self {
        let is_finite = |triangle: &[Vec3; 3]| triangle.iter().all(|p| p.is_finite());
        let triangles: Vec<[Vec3; 3]> = triangles.into_iter().filter(is_finite).collect();
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for corner in triangles.iter().flatten() {
            (low, high) = (low.min(flat(*corner)), high.max(flat(*corner)));
        }
        if triangles.is_empty() {
            return Self::default();
        }
        let side = (triangles.len() as f64).sqrt().ceil() as usize;
        let side = side.clamp(1, MOST_CELLS);
        let mut field = Self {
            per_metre: DVec2::splat(side as f64) / (high - low).max(DVec2::splat(1e-9)),
            n_cells: [side; 2],
            low,
            ..Self::default()
        };
        let mut entries: Vec<(u32, u32)> = Vec::new();
        for (t, triangle) in (0u32..).zip(&triangles) {
            let corners = triangle.map(|corner| field.cell(flat(corner)));
            let range = |k: usize| {
                let along = corners.map(|corner| corner[k]);
                let [a, b, c] = along;
                a.min(b).min(c)..=a.max(b).max(c)
            };
            for z in range(1) {
                entries.extend(range(0).map(|x| ((z * side + x) as u32, t)));
            }
        }
        entries.sort_unstable();
        field.starts = vec![0; side * side + 1];
        for &(cell, _) in &entries {
            field.starts[cell as usize + 1] += 1;
        }
        for cell in 0..side * side {
            field.starts[cell + 1] += field.starts[cell];
        }
        field.listed = entries.into_iter().map(|entry| entry.1).collect();
        field.triangles = triangles;
        field
    }

    /// The height of the ground at the place of `point`; `None` beside the surface.
    ///
    /// It is that of the highest face not above the point. Where the nearest face above it looks up, the point is inside a solid
    /// body, such as a bank, and that face is the ground; one that looks down is the underside of a bridge or a crown, and does
    /// not count. Faces that look down are the ground only where no other is.
    pub fn at(&self, point: Vec3) -> Option<f64> {
        if self.triangles.is_empty() || !point.is_finite() {
            return None;
        }
        let place = flat(point);
        let [x, z] = self.cell(place);
        let cell = z * self.n_cells[0] + x;
        let listed = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        let y = f64::from(point.y);
        let mut above: Option<(f64, bool)> = None;
        let (mut floor, mut underside): (Option<f64>, Option<f64>) = (None, None);
        for &t in &self.listed[listed] {
            let Some((height, looks_up)) = height(&self.triangles[t as usize], place) else {
                continue;
            };
            if height > y {
                if above.is_none_or(|(nearest, _)| height < nearest) {
                    above = Some((height, looks_up));
                }
            } else {
                let highest = if looks_up { &mut floor } else { &mut underside };
                *highest = Some(highest.map_or(height, |known| known.max(height)));
            }
        }
        match above {
            Some((height, true)) => Some(height),
            _ => floor.or(underside).or(above.map(|(height, _)| height)),
        }
    }

    /// The cell of a place; the nearest one for a place beside the surface.
    fn cell(&self, place: DVec2) -> [usize; 2] {
        let at = ((place - self.low) * self.per_metre).max(DVec2::ZERO);
        let [x, z] = at.to_array();
        [
            (x as usize).min(self.n_cells[0] - 1),
            (z as usize).min(self.n_cells[1] - 1),
        ]
    }
}

/// The height of a triangle at a place, and whether it looks up; `None` beside it, and for one that stands upright.
fn height(triangle: &[Vec3; 3], place: DVec2) -> Option<(f64, bool)> {
    let [a, b, c] = triangle.map(flat);
    let (ab, ac) = (b - a, c - a);
    let area = ab.perp_dot(ac);
    if area == 0.0 {
        return None;
    }
    let from = place - a;
    let (v, w) = (from.perp_dot(ac) / area, ab.perp_dot(from) / area);
    let u = 1.0 - v - w;
    let inside = u.min(v).min(w) >= -TOLERANCE;
    let heights = triangle.map(|corner| f64::from(corner.y));
    inside.then(|| {
        let height = u * heights[0] + v * heights[1] + w * heights[2];
        // From above x points right and z down: counter-clockwise is the other way round.
        (height, area < 0.0)
    })
}

/// Seen from above.
fn flat(point: Vec3) -> DVec2 {
    DVec2::new(f64::from(point.x), f64::from(point.z))
}

/// Where a water surface meets its bed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shore {
    /// The ends of pieces of the line, world space.
    pub lines: Vec<[Vec3; 2]>,
    /// The area of the water above the bed, seen from above, square metres.
    pub wet_area: f64,
    /// The area of the surface above the bed or under it, square metres: what is wet or may be.
    pub area: f64,
}

impl Shore {
    /// The shore of the surface of `triangles` of `positions`, world space, y up. Heights are linear on each triangle; where
    /// there is no bed, nothing is counted.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], bed: &HeightField) -> Self {
        let depths: Vec<Option<f64>> = positions
            .iter()
            .map(|&p| Some(f64::from(p.y) - bed.at(p)?))
            .collect();
        let mut shore = Self::default();
        for triangle in triangles {
            let corners = triangle.map(|point| positions[point as usize]);
            let [Some(a), Some(b), Some(c)] = triangle.map(|point| depths[point as usize]) else {
                continue;
            };
            shore.add(corners, [a, b, c]);
        }
        shore
    }

    fn add(&mut self, corners: [Vec3; 3], depths: [f64; 3]) {
        let [a, b, c] = corners.map(flat);
        let area = 0.5 * (b - a).perp_dot(c - a).abs();
        self.area += area;
        let wet = depths.map(|depth| depth > 0.0);
        let n_wet = wet.iter().filter(|wet| **wet).count();
        if n_wet == 0 || n_wet == 3 {
            self.wet_area += if n_wet == 3 { area } else { 0.0 };
            return;
        }
        // The corner on the other side than the two others.
        let alone = (0..3).find(|&i| wet[i] == (n_wet == 1)).unwrap_or(0);
        let share = |to: usize| depths[alone] / (depths[alone] - depths[to]);
        let others = [(alone + 1) % 3, (alone + 2) % 3];
        let shares = others.map(share);
        let end = |k: usize| corners[alone].lerp(corners[others[k]], shares[k] as f32);
        self.lines.push([end(0), end(1)]);
        let cut = area * shares[0] * shares[1];
        self.wet_area += if n_wet == 1 { cut } else { area - cut };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of 10 by 10 metres in steps of one; `y` of x and z.
    fn grid(y: impl Fn(f32, f32) -> f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let places = (0..121).map(|i| ((i % 11) as f32, (i / 11) as f32));
        let positions = places.map(|(x, z)| Vec3::new(x, y(x, z), z)).collect();
        let mut triangles = Vec::new();
        for z in 0..10 {
            for x in 0..10 {
                let a = z * 11 + x;
                triangles.extend([[a, a + 11, a + 1], [a + 1, a + 11, a + 12]]);
            }
        }
        (positions, triangles)
    }

    fn field((positions, triangles): &(Vec<Vec3>, Vec<[u32; 3]>)) -> HeightField {
        let corners = |t: &[u32; 3]| t.map(|p| positions[p as usize]);
        HeightField::new(triangles.iter().map(corners).collect())
    }

    #[test]
    fn heights_are_those_of_the_faces() {
        let bed = field(&grid(|x, z| 0.5 * x - 0.25 * z));
        for (x, z) in [(0.0, 0.0), (10.0, 10.0), (3.3, 7.1), (5.0, 2.5)] {
            let at = bed.at(Vec3::new(x, 100.0, z)).unwrap();
            let expected = f64::from(0.5 * x - 0.25 * z);
            assert!((at - expected).abs() < 1e-5, "{x} {z}: {at}");
        }
        assert_eq!(bed.at(Vec3::new(-1.0, 0.0, 5.0)), None);
        assert_eq!(bed.at(Vec3::NAN), None);
        assert_eq!(HeightField::default().at(Vec3::ZERO), None);
        let sheet = |y: f32| field(&grid(|_, _| y)).triangles;
        let underside = |y: f32| sheet(y).into_iter().map(|[a, b, c]| [a, c, b]);
        let at = |faces: &HeightField, y: f32| faces.at(Vec3::new(4.2, y, 4.2)).unwrap();
        // A floor, and a bridge over it.
        let mut bridged = sheet(1.0);
        bridged.extend(underside(3.0));
        bridged.extend(sheet(4.0));
        let bridged = HeightField::new(bridged);
        assert_eq!(
            [9.0, 4.0, 2.0, 1.0].map(|y| at(&bridged, y)),
            [4.0, 4.0, 1.0, 1.0]
        );
        assert_eq!(at(&bridged, 0.0), 1.0, "under the floor");
        // A bank whose underside is below the floor that it stands on.
        let mut banked = sheet(1.0);
        banked.extend(underside(0.5));
        banked.extend(sheet(3.0));
        let banked = HeightField::new(banked);
        assert_eq!([9.0, 2.0].map(|y| at(&banked, y)), [3.0, 3.0]);
        // A bed that was made the other way round.
        let reversed = HeightField::new(underside(-5.0).collect());
        assert_eq!([0.0, -6.0].map(|y| at(&reversed, y)), [-5.0, -5.0]);
    }

    #[test]
    fn the_line_lies_where_a_level_meets_a_slope_and_the_area_is_exact() {
        let bed = field(&grid(|x, _| x - 5.0));
        let (water, triangles) = grid(|_, _| -1.25);
        let shore = Shore::new(&water, &triangles, &bed);
        // Wet where x - 5 < -1.25: 3.75 of 10 metres.
        assert!((shore.wet_area - 37.5).abs() < 1e-9, "{}", shore.wet_area);
        assert!((shore.area - 100.0).abs() < 1e-9);
        assert_eq!(shore.lines.len(), 20);
        let length: f32 = shore.lines.iter().map(|[a, b]| a.distance(*b)).sum();
        assert!((length - 10.0).abs() < 1e-4, "{length}");
        for end in shore.lines.iter().flatten() {
            assert!((end.x - 3.75).abs() < 1e-5 && end.y == -1.25, "{end}");
        }
        let (flood, _) = grid(|_, _| 9.0);
        let flood = Shore::new(&flood, &triangles, &bed);
        assert!(flood.lines.is_empty() && (flood.wet_area - 100.0).abs() < 1e-9);
        assert_eq!(
            Shore::new(&water, &triangles, &HeightField::default()).area,
            0.0
        );
    }
}
