//! A reservoir with gauges: its bed, its water surface at rest, and a recording of levels and of salt at nine gauges. No
//! skeleton moves it.

use crate::document::{MeshSource, PrimitiveSource};
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use glam::{DVec2, Vec3};
use std::f64::consts::TAU;
use std::fmt::Write as _;

/// The number of nodes before the water.
const WATER: JointId = JointId(1);

/// Vertices along x and z of both meshes.
const SIDES: [usize; 2] = [61, 41];

/// Metres between vertices.
const STEP: f64 = 1.0;

/// The length of the recording, seconds. An hour of the reservoir is a second.
const SECS: f64 = 24.0;

/// Meshes without a skeleton: one node each, in order.
#[derive(Clone, Debug)]
pub struct SampleScene {
    /// A name.
    pub name: String,
    /// Each with the linear colour of its material.
    pub meshes: Vec<(MeshSource, [f32; 3])>,
    /// Clips of the nodes.
    pub clips: Vec<Clip>,
}

/// A gauge: its name, and where it stands, metres.
struct Gauge {
    name: &'static str,
    at: DVec2,
}

const GAUGES: [Gauge; 9] = [
    Gauge::new("inlet", -25.0, -1.0),
    Gauge::new("west", -17.0, 11.0),
    Gauge::new("mill", -15.0, -12.0),
    Gauge::new("bay", -4.0, 15.0),
    Gauge::new("centre", -3.0, 1.0),
    Gauge::new("quay", -1.0, -15.0),
    Gauge::new("island", 13.0, 11.0),
    Gauge::new("south", 12.0, -11.0),
    Gauge::new("dam", 25.0, 1.0),
];

impl Gauge {
    const fn new(name: &'static str, x: f64, z: f64) -> Self {
        Self {
            name,
            at: DVec2::new(x, z),
        }
    }

    /// The level above rest after some hours, metres: the reservoir is drawn down and filled again, while the wind tilts it.
    fn level(&self, hours: f64) -> f64 {
        let drawn = 0.5 * (1.0 - libm::cos(TAU * hours / SECS));
        let tilt = self.at.x / 30.0 * libm::sin(TAU * hours / 8.0);
        let across = self.at.y / 20.0 * libm::sin(TAU * hours / 6.0 + 1.0);
        -1.9 * drawn + 0.22 * tilt + 0.12 * across
    }

    /// The salt after some hours, grams a litre: a plume from the inlet.
    fn salt(&self, hours: f64) -> f64 {
        let away = self.at.distance(GAUGES[0].at);
        let come = 1.0 / (1.0 + libm::exp((away - 3.2 * hours) / 5.0));
        1.5 + 27.0 * come * libm::exp(-away / 45.0)
    }
}

/// The vertices of the mesh at which the gauges stand, and their names.
pub fn gauges() -> Vec<(&'static str, u32)> {
    let index = |along: f64, k: usize| (along / STEP + 0.5 * (SIDES[k] - 1) as f64) as u32;
    let gauges = GAUGES.iter();
    let vertex = |g: &Gauge| index(g.at.y, 1) * SIDES[0] as u32 + index(g.at.x, 0);
    gauges.map(|g| (g.name, vertex(g))).collect()
}

/// The recording of the gauges, as a CSV file.
pub fn recording() -> String {
    let mut text = String::from(
        "# Levels above rest and salt at nine gauges of a made-up reservoir; one second is an hour.\ntime[s]",
    );
    for gauge in &GAUGES {
        let _ = write!(text, ",{0}.level[m],{0}.salt[g/l]", gauge.name);
    }
    text.push('\n');
    for k in 0..=(4.0 * SECS) as u32 {
        let hours = 0.25 * f64::from(k);
        let _ = write!(text, "{hours:.2}");
        for gauge in &GAUGES {
            let _ = write!(text, ",{:.3},{:.2}", gauge.level(hours), gauge.salt(hours));
        }
        text.push('\n');
    }
    text
}

/// The bed and the water.
pub fn reservoir() -> SampleScene {
    let still = Channel {
        joint: WATER,
        property: Property::Translation,
        interpolation: Interpolation::Linear,
        times: [0.0, SECS as f32].into(),
        values: [0.0; 6].into(),
    };
    SampleScene {
        name: "reservoir".to_owned(),
        meshes: vec![
            (block("Bed", bed), [0.35, 0.28, 0.19]),
            (sheet("Water", |_| 0.0), [0.08, 0.26, 0.38]),
        ],
        clips: vec![Clip {
            name: "Record".to_owned(),
            channels: vec![still],
            ..Clip::default()
        }],
    }
}

/// The height of the bed, metres: a basin with an island and a spit.
fn bed(at: DVec2) -> f64 {
    let hill = |x: f64, z: f64, width: f64| {
        let d = at.distance_squared(DVec2::new(x, z));
        libm::exp(-d / (width * width))
    };
    let rim = (at / DVec2::new(28.0, 18.5)).length_squared();
    let waves = 0.12 * libm::sin(0.7 * at.x) * libm::cos(0.9 * at.y);
    -3.4 + 3.6 * rim + 4.4 * hill(11.0, 4.0, 5.0) + 2.6 * hill(-9.0, -7.0, 4.5) + waves
}

/// The foot of the walls around the bed, metres.
const FOOT: f32 = -5.0;

/// A [`sheet`] with upright walls around it: nothing shows under its edges.
fn block(name: &str, y: impl Fn(DVec2) -> f64) -> MeshSource {
    let mut mesh = sheet(name, y);
    let primitive = &mut mesh.primitives[0];
    let [n, m] = SIDES;
    // Along each side with the sheet at the left, seen from above.
    let sides: [(Vec<usize>, Vec3); 4] = [
        ((0..n).rev().collect(), Vec3::NEG_Z),
        ((0..m).map(|z| z * n).collect(), Vec3::NEG_X),
        ((0..n).map(|x| (m - 1) * n + x).collect(), Vec3::Z),
        ((0..m).rev().map(|z| z * n + n - 1).collect(), Vec3::X),
    ];
    for (vertices, outwards) in sides {
        let first = primitive.positions.len() as u32;
        for &vertex in &vertices {
            let top = primitive.positions[vertex];
            primitive.positions.extend([top, top.with_y(FOOT)]);
            primitive.normals.extend([outwards; 2]);
        }
        for i in 0..vertices.len() as u32 - 1 {
            let [top, foot, next, next_foot] = [0, 1, 2, 3].map(|k| first + 2 * i + k);
            let quad = [[top, foot, next], [next, foot, next_foot]];
            primitive.triangles.extend(quad);
        }
    }
    mesh
}

/// A grid of squares with the height `y`.
fn sheet(name: &str, y: impl Fn(DVec2) -> f64) -> MeshSource {
    let [n, m] = SIDES;
    let place = |i: usize| {
        let half = DVec2::new((n - 1) as f64, (m - 1) as f64) * 0.5;
        (DVec2::new((i % n) as f64, (i / n) as f64) - half) * STEP
    };
    let mut primitive = PrimitiveSource::default();
    for i in 0..n * m {
        let at = place(i);
        let up = Vec3::new(at.x as f32, y(at) as f32, at.y as f32);
        primitive.positions.push(up);
        let h = 1e-3;
        let slope = |step: DVec2| (y(at + step) - y(at - step)) / (2.0 * h);
        let [dx, dz] = [DVec2::X * h, DVec2::Y * h].map(slope);
        let length = (dx * dx + dz * dz + 1.0).sqrt();
        let normal = Vec3::new(
            -(dx / length) as f32,
            (1.0 / length) as f32,
            -(dz / length) as f32,
        );
        primitive.normals.push(normal);
    }
    for z in 0..m - 1 {
        for x in 0..n - 1 {
            let a = (z * n + x) as u32;
            let below = a + n as u32;
            primitive.triangles.push([a, below, a + 1]);
            primitive.triangles.push([a + 1, below, below + 1]);
        }
    }
    MeshSource {
        name: name.to_owned(),
        primitives: vec![primitive],
        morph_names: Vec::new(),
    }
}
