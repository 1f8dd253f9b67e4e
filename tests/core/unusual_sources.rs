//! Corrections of unusual sources: many joints, many small meshes, clips of a single keyframe. Each file is read back and
//! compared at many moments, independently of the export's own check.

use crate::bake_sources::{clip, turn};
use crate::between_keys::Corrected;
use crate::gltf_builder::Gltf;
use serde_json::{Value, json};
use sinew::deform::DeformStack;
use sinew::document::ClipId;
use sinew::export::CorrectionReport;
use std::f32::consts::TAU;

const SIDES: usize = 6;
/// The length of a joint, metres.
const STEP: f32 = 0.5;

/// Chains of joints along Y.
struct Chains {
    n: usize,
    /// The number of joints of a chain.
    length: usize,
}

impl Chains {
    /// The index of the first joint of a chain, both in the skin and in the nodes; the root is 0.
    fn first(&self, chain: usize) -> usize {
        1 + self.length * chain
    }

    /// The start of a chain; chains stand side by side in rows of six.
    fn place(chain: usize) -> [f32; 3] {
        [0.4 * (chain % 6) as f32, 0.0, 0.4 * (chain / 6) as f32]
    }

    /// A file with a root, these chains and a skin of all of them.
    fn gltf(&self) -> Gltf {
        let firsts: Vec<usize> = (0..self.n).map(|chain| self.first(chain)).collect();
        let mut nodes = vec![json!({"name": "Root", "children": firsts})];
        let mut matrices = vec![bind([0.0; 3])];
        for chain in 0..self.n {
            let [x, _, z] = Self::place(chain);
            for j in 0..self.length {
                let at = if j == 0 {
                    [x, 0.0, z]
                } else {
                    [0.0, STEP, 0.0]
                };
                let mut node = json!({"name": format!("Joint {chain}.{j}"), "translation": at});
                if j + 1 < self.length {
                    node["children"] = json!([self.first(chain) + j + 1]);
                }
                nodes.push(node);
                matrices.push(bind([x, STEP * j as f32, z]));
            }
        }
        let joints: Vec<usize> = (0..nodes.len()).collect();
        let mut gltf = Gltf::new(json!({"nodes": nodes, "scene": 0, "scenes": [{"nodes": [0]}]}));
        let matrices = gltf.f32s("MAT4", &matrices.concat());
        gltf.push(
            "skins",
            json!({"joints": joints, "inverseBindMatrices": matrices}),
        );
        gltf
    }

    /// The four joints of a chain with the largest weights at a height, and these weights.
    fn row(&self, chain: usize, y: f32) -> [(usize, f32); 4] {
        let pull = |j: usize| (-((y / STEP - j as f32 - 0.5) / 0.6).powi(2)).exp();
        let mut pulls: Vec<(usize, f32)> = (0..self.length).map(|j| (j, pull(j))).collect();
        pulls.sort_by(|a, b| b.1.total_cmp(&a.1));
        pulls.resize(4, (0, 0.0));
        let sum: f32 = pulls.iter().map(|(_, pull)| pull).sum();
        let row = [0, 1, 2, 3].map(|i| (pulls[i].0, pulls[i].1 / sum));
        row.map(|(j, w)| {
            if w < 1e-4 {
                (0, 0.0)
            } else {
                (self.first(chain) + j, w)
            }
        })
    }

    fn height(&self) -> f32 {
        STEP * self.length as f32
    }
}

/// The inverse bind matrix of a joint at `place`.
fn bind([x, y, z]: [f32; 3]) -> [f32; 16] {
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [-x, -y, -z, 1.0],
    ]
    .concat()
    .try_into()
    .unwrap()
}

/// The data of a primitive.
#[derive(Default)]
struct Tubes {
    positions: Vec<f32>,
    normals: Vec<f32>,
    joints: Vec<u8>,
    weights: Vec<f32>,
    triangles: Vec<u16>,
}

impl Tubes {
    /// Adds a tube around a chain with a ring at each height.
    fn add(&mut self, chains: &Chains, chain: usize, heights: &[f32]) {
        let first = self.positions.len() / 3;
        let [x, _, z] = Chains::place(chain);
        for &y in heights {
            let row = chains.row(chain, y);
            for side in 0..SIDES {
                let (s, c) = (TAU * side as f32 / SIDES as f32).sin_cos();
                self.positions.extend([x + 0.1 * c, y, z + 0.1 * s]);
                self.normals.extend([c, 0.0, s]);
                self.joints.extend(row.map(|(joint, _)| joint as u8));
                self.weights.extend(row.map(|(_, weight)| weight));
            }
        }
        for ring in 1..heights.len() {
            let at = |ring: usize, side: usize| (first + ring * SIDES + side % SIDES) as u16;
            for side in 0..SIDES {
                let (a, b) = (at(ring - 1, side), at(ring - 1, side + 1));
                let (c, d) = (at(ring, side), at(ring, side + 1));
                self.triangles.extend([a, c, b, b, c, d]);
            }
        }
    }

    fn primitive(&self, gltf: &mut Gltf) -> Value {
        json!({
            "attributes": {
                "POSITION": gltf.f32s("VEC3", &self.positions),
                "NORMAL": gltf.f32s("VEC3", &self.normals),
                "JOINTS_0": gltf.u8s("VEC4", &self.joints),
                "WEIGHTS_0": gltf.f32s("VEC4", &self.weights),
            },
            "indices": gltf.u16s("SCALAR", &self.triangles),
        })
    }
}

/// Adds a mesh and the node that draws it with the skin.
fn draw(gltf: &mut Gltf, primitives: &[Value]) {
    let mesh = gltf.push("meshes", json!({"primitives": primitives}));
    let node = gltf.push("nodes", json!({"mesh": mesh, "skin": 0}));
    let scene = gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap();
    scene.push(json!(node));
}

/// `n` heights from one to another.
fn heights(from: f32, to: f32, n: usize) -> Vec<f32> {
    let share = |i: usize| i as f32 / (n - 1) as f32;
    (0..n).map(|i| from + share(i) * (to - from)).collect()
}

/// Exports with both stacks, and checks that each file needs its correction and meets the tolerance.
fn corrected(gltf: &Gltf) -> [Corrected; 2] {
    [DeformStack::dqs(), DeformStack::default()].map(|stack| {
        let made = Corrected::new(gltf.clone(), &stack);
        let report = &made.report;
        let tolerance = report.tolerance_percent;
        assert!(report.met && report.max_percent <= tolerance, "{report:?}");
        assert!(report.before_max_percent > 5.0 * tolerance, "{report:?}");
        made
    })
}

/// As [`corrected`], and compares the files at many moments of the first clip.
fn meet(gltf: &Gltf) -> [CorrectionReport; 2] {
    corrected(gltf).map(|made| {
        let largest = made.largest(121);
        let report = made.report;
        assert!(
            largest > 0.0 && largest <= report.tolerance_percent,
            "{largest} %"
        );
        report
    })
}

#[test]
fn a_rig_of_more_than_a_hundred_joints_is_corrected() {
    let chains = Chains { n: 26, length: 4 };
    let mut gltf = chains.gltf();
    let mut tubes = Tubes::default();
    let rings = heights(0.0, chains.height(), 9);
    for chain in 0..chains.n {
        tubes.add(&chains, chain, &rings);
    }
    let primitive = tubes.primitive(&mut gltf);
    draw(&mut gltf, &[primitive]);
    let sway = clip(&mut gltf, "Sway");
    for chain in 0..chains.n {
        for j in 1..chains.length {
            let most = (40 + (11 * chain + 17 * j) % 50) as f32;
            let most = if chain % 2 == 0 { most } else { -most };
            let times = [0.0, 0.3 + 0.04 * (7 * chain % 10) as f32, 1.0];
            let degrees = [0.0, most, 10.0 * j as f32];
            let joint = chains.first(chain) + j;
            turn(&mut gltf, sway, joint, "LINEAR", &times, &degrees);
        }
    }
    let skin = &gltf.json["skins"][0]["joints"];
    assert_eq!(skin.as_array().unwrap().len(), 105);
    meet(&gltf);
}

/// One chain whose tube is cut into 30 pieces of two rings each: 30 primitives of a mesh, or 30 meshes.
fn cut(apart: bool) -> Gltf {
    let chains = Chains { n: 1, length: 3 };
    let mut gltf = chains.gltf();
    let rings = heights(0.0, chains.height(), 31);
    let pieces = rings.windows(2).map(|pair| {
        let mut tubes = Tubes::default();
        tubes.add(&chains, 0, pair);
        tubes.primitive(&mut gltf)
    });
    let pieces: Vec<Value> = pieces.collect();
    if apart {
        for piece in pieces {
            draw(&mut gltf, &[piece]);
        }
    } else {
        draw(&mut gltf, &pieces);
    }
    let bend = clip(&mut gltf, "Bend");
    turn(
        &mut gltf,
        bend,
        2,
        "LINEAR",
        &[0.0, 0.5, 1.0],
        &[0.0, 100.0, 0.0],
    );
    turn(
        &mut gltf,
        bend,
        3,
        "LINEAR",
        &[0.0, 0.4, 1.0],
        &[0.0, -60.0, 20.0],
    );
    gltf
}

#[test]
fn many_small_meshes_of_one_skin_are_corrected() {
    for report in meet(&cut(true)) {
        assert_eq!(report.meshes.len(), 30);
    }
}

#[test]
fn many_small_primitives_of_one_mesh_are_corrected() {
    for report in meet(&cut(false)) {
        assert_eq!(report.meshes.len(), 1);
    }
}

#[test]
fn clips_of_a_single_keyframe_are_corrected() {
    let chains = Chains { n: 1, length: 3 };
    let mut gltf = chains.gltf();
    let mut tubes = Tubes::default();
    tubes.add(&chains, 0, &heights(0.0, chains.height(), 31));
    let primitive = tubes.primitive(&mut gltf);
    draw(&mut gltf, &[primitive]);
    let poses = [(0.0, 90.0, 0.0), (0.5, -60.0, 80.0), (2.0, 120.0, -45.0)];
    for (time, second, third) in poses {
        let pose = clip(&mut gltf, "Pose");
        turn(&mut gltf, pose, 2, "LINEAR", &[time], &[second]);
        turn(&mut gltf, pose, 3, "STEP", &[time], &[third]);
    }
    for made in corrected(&gltf) {
        let report = &made.report;
        assert_eq!(made.read.clips().len(), poses.len());
        for clip in 0..poses.len() {
            // A clip holds the value of its keyframe before and after it.
            for time in [0.0, 0.3, 0.5, 1.0, 2.0, 2.5] {
                let off = made.error_in(ClipId(clip as u32), time);
                assert!(
                    off <= 1.001 * report.max_percent,
                    "{off} % at {time} s of clip {clip}: {report:?}"
                );
            }
        }
    }
}
