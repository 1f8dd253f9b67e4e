//! Sources of every kind get corrected: own morph targets, several skins and instances, five influences, scale, jumps and
//! splines. Each is a tube over a few joints, written by hand.

use crate::bake::{corrected, with_stack};
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, MeshId};
use sinew::export::{CorrectionReport, Exported};
use sinew::io::import_bytes;
use sinew::math::Worse;
use sinew::skeleton::{Channel, Interpolation, JointId, Property};
use sinew::task::Task;
use std::f32::consts::TAU;

const RINGS: usize = 25;
const SIDES: usize = 8;
/// The length of the tube.
const LENGTH: f32 = 2.0;
const MESH_NODE: JointId = JointId(0);

/// A tube over a chain of `n` joints along Y: node 0 draws mesh 0 with skin 0, nodes 1 to n are the joints.
pub(crate) fn tube(n: usize) -> Gltf {
    let mut nodes = vec![json!({"name": "Tube", "mesh": 0, "skin": 0})];
    let step = LENGTH / n as f32;
    for j in 0..n {
        let mut node = json!({"name": format!("Joint {j}")});
        if j > 0 {
            node["translation"] = json!([0, step, 0]);
        }
        if j + 1 < n {
            node["children"] = json!([j + 2]);
        }
        nodes.push(node);
    }
    let mut gltf = Gltf::new(json!({"nodes": nodes, "scene": 0, "scenes": [{"nodes": [0, 1]}]}));
    let skin = skin(&mut gltf, 1, n, step);
    gltf.push("skins", skin);
    let mesh = tube_mesh(&mut gltf, n, 0.3);
    gltf.push("meshes", mesh);
    gltf
}

/// A skin over `n` joints from node `first` on.
pub(crate) fn skin(gltf: &mut Gltf, first: usize, n: usize, step: f32) -> Value {
    let matrices = (0..n).flat_map(|j| {
        let mut m = [0.0f32; 16];
        for i in [0, 5, 10, 15] {
            m[i] = 1.0;
        }
        m[13] = -step * j as f32;
        m
    });
    let matrices: Vec<f32> = matrices.collect();
    let matrices = gltf.f32s("MAT4", &matrices);
    json!({"joints": (first..first + n).collect::<Vec<_>>(), "inverseBindMatrices": matrices})
}

/// A tube whose points each joint pulls the more, the nearer its segment's middle is; `width` 0: one joint each.
fn tube_mesh(gltf: &mut Gltf, n: usize, width: f32) -> Value {
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    let n_sets = if width > 0.0 { n.div_ceil(4) } else { 1 };
    let mut joints = vec![Vec::new(); n_sets];
    let mut weights = vec![Vec::new(); n_sets];
    let segment = LENGTH / n as f32;
    for ring in 0..RINGS {
        let y = LENGTH * ring as f32 / (RINGS - 1) as f32;
        let near = |j: usize| (y - segment * (j as f32 + 0.5)) / (width * n as f32 * 0.5).max(1e-3);
        let mut row: Vec<f32> = (0..n).map(|j| (-near(j) * near(j)).exp()).collect();
        if width == 0.0 {
            let own = ((y / segment) as usize).min(n - 1);
            row.fill(0.0);
            row[own] = 1.0;
        }
        let sum: f32 = row.iter().sum();
        for side in 0..SIDES {
            let (s, c) = (TAU * side as f32 / SIDES as f32).sin_cos();
            positions.extend([0.2 * c, y, 0.2 * s]);
            normals.extend([c, 0.0, s]);
            for set in 0..n_sets {
                for i in 0..4 {
                    let j = 4 * set + i;
                    let weight = row.get(j).map_or(0.0, |w| w / sum);
                    let weight = if weight < 1e-4 { 0.0 } else { weight };
                    joints[set].push(if weight > 0.0 { j as u8 } else { 0 });
                    weights[set].push(weight);
                }
            }
        }
    }
    let mut triangles: Vec<u16> = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let at = |r: usize, s: usize| (r * SIDES + s % SIDES) as u16;
            let (a, b) = (at(ring, side), at(ring, side + 1));
            let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
            triangles.extend([a, c, b, b, c, d]);
        }
    }
    let mut attributes = json!({
        "POSITION": gltf.f32s("VEC3", &positions),
        "NORMAL": gltf.f32s("VEC3", &normals)
    });
    for set in 0..n_sets {
        attributes[format!("JOINTS_{set}")] = json!(gltf.u8s("VEC4", &joints[set]));
        attributes[format!("WEIGHTS_{set}")] = json!(gltf.f32s("VEC4", &weights[set]));
    }
    let indices = gltf.u16s("SCALAR", &triangles);
    json!({"name": "Tube", "primitives": [{"attributes": attributes, "indices": indices}]})
}

/// Adds a clip; its index.
pub(crate) fn clip(gltf: &mut Gltf, name: &str) -> usize {
    gltf.push(
        "animations",
        json!({"name": name, "channels": [], "samplers": []}),
    )
}

/// Adds a channel to a clip.
pub(crate) fn channel(
    gltf: &mut Gltf,
    clip: usize,
    node: usize,
    path: &str,
    how: &str,
    times: &[f32],
    values: &[f32],
) {
    let kind = match path {
        "rotation" => "VEC4",
        "weights" => "SCALAR",
        _ => "VEC3",
    };
    let input = gltf.f32s("SCALAR", times);
    let output = gltf.f32s(kind, values);
    let animation = &mut gltf.json["animations"][clip];
    let samplers = animation["samplers"].as_array_mut().unwrap();
    samplers.push(json!({"input": input, "output": output, "interpolation": how}));
    let sampler = samplers.len() - 1;
    let target = json!({"node": node, "path": path});
    let channels = animation["channels"].as_array_mut().unwrap();
    channels.push(json!({"sampler": sampler, "target": target}));
}

/// Turns about Z; splines come to rest at each key.
pub(crate) fn turn(
    gltf: &mut Gltf,
    clip: usize,
    node: usize,
    how: &str,
    times: &[f32],
    degrees: &[f32],
) {
    let mut values = Vec::new();
    for d in degrees {
        let (s, c) = (0.5 * d.to_radians()).sin_cos();
        let still: &[f32] = if how == "CUBICSPLINE" { &[0.0; 4] } else { &[] };
        values.extend_from_slice(still);
        values.extend([0.0, 0.0, s, c]);
        values.extend_from_slice(still);
    }
    channel(gltf, clip, node, "rotation", how, times, &values);
}

/// Adds two morph targets, a belly and a lean, with names, and with normals where `normals`.
pub(crate) fn add_morphs(gltf: &mut Gltf, normals: bool) {
    let (mut belly, mut lean, mut turned) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..RINGS {
        let y = LENGTH * ring as f32 / (RINGS - 1) as f32;
        let out = 0.15 * (-(y - 1.0) * (y - 1.0) / 0.1).exp();
        let slope = out * -2.0 * (y - 1.0) / 0.1;
        for side in 0..SIDES {
            let (s, c) = (TAU * side as f32 / SIDES as f32).sin_cos();
            belly.extend([out * c, 0.0, out * s]);
            lean.extend([0.2 * y, 0.0, 0.0]);
            turned.extend([0.0, -slope, 0.0]);
        }
    }
    let zeros = vec![0.0; turned.len()];
    let mut targets = Vec::new();
    for (positions, normal) in [(belly, turned), (lean, zeros)] {
        let mut target = json!({"POSITION": gltf.f32s("VEC3", &positions)});
        if normals {
            target["NORMAL"] = json!(gltf.f32s("VEC3", &normal));
        }
        targets.push(target);
    }
    let mesh = &mut gltf.json["meshes"][0];
    mesh["primitives"][0]["targets"] = json!(targets);
    mesh["weights"] = json!([0.25, 0]);
    mesh["extras"] = json!({"targetNames": ["Belly", "Lean"]});
}

pub(crate) fn document(gltf: Gltf) -> Document {
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    with_stack(Document::new(imported.parts).unwrap(), &DeformStack::dqs())
}

pub(crate) fn json_of(exported: &Exported) -> Value {
    let bytes = &exported.files[0].1;
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..20 + length]).unwrap()
}

/// Exports with corrections, which must be needed and within the tolerance; the file read again too.
fn meets(document: &Document) -> (Exported, CorrectionReport, Document) {
    meets_with(document, BakeOptions::default())
}

fn meets_with(document: &Document, options: BakeOptions) -> (Exported, CorrectionReport, Document) {
    let (exported, report) = corrected(document, options);
    println!("{} {:?}", report.summary(), report.worst);
    assert!(report.met && report.before_max_percent > 0.1, "{report:?}");
    let read = reopen(&exported);
    assert_eq!(read.clips().len(), document.clips().len());
    for clip in read.clips().values() {
        for channel in &clip.channels {
            let rises = channel.times.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(rises, "{:?}", channel.times);
        }
    }
    // Nothing that was there goes, and names stay.
    for (now, before) in read
        .skeleton()
        .joints()
        .iter()
        .zip(document.skeleton().joints())
    {
        assert_eq!(now.name, before.name);
    }
    for (id, clip) in document.clips() {
        let kept = &read.clips()[id];
        assert_eq!(kept.name, clip.name);
        let others = clip
            .channels
            .iter()
            .filter(|c| c.property != Property::MorphWeights);
        for channel in others {
            assert!(kept.channels.contains(channel));
        }
    }
    (exported, report, read)
}

/// Channels of the file that the source has not.
fn new_channels<'a>(document: &'a Document, read: &'a Document, clip: ClipId) -> Vec<&'a Channel> {
    let own = &document.clips()[&clip].channels;
    let is_new = |c: &&Channel| !own.contains(c);
    read.clips()[&clip].channels.iter().filter(is_new).collect()
}

/// A bend of joint 1 and back, in a clip of its own.
pub(crate) fn bend(gltf: &mut Gltf, name: &str, how: &str) -> usize {
    let clip = clip(gltf, name);
    turn(gltf, clip, 2, how, &[0.0, 0.5, 1.0], &[0.0, 110.0, 0.0]);
    clip
}

#[test]
fn own_morph_targets_and_their_tracks_play_on() {
    for normals in [true, false] {
        let mut gltf = tube(2);
        add_morphs(&mut gltf, normals);
        let linear = bend(&mut gltf, "Linear", "LINEAR");
        channel(
            &mut gltf,
            linear,
            0,
            "weights",
            "LINEAR",
            &[0.1, 0.6, 0.9],
            &[0., 0., 1., 0.5, 0., 0.2],
        );
        let spline = bend(&mut gltf, "Spline", "LINEAR");
        let still = [0.0f32; 2];
        let values: Vec<f32> = [[0.0, 0.0], [1.0, 0.5], [0.0, 0.2]]
            .iter()
            .flat_map(|v| {
                still
                    .iter()
                    .chain(v)
                    .chain(&still)
                    .copied()
                    .collect::<Vec<_>>()
            })
            .collect();
        channel(
            &mut gltf,
            spline,
            0,
            "weights",
            "CUBICSPLINE",
            &[0.0, 0.5, 1.0],
            &values,
        );
        let step = bend(&mut gltf, "Step", "LINEAR");
        channel(
            &mut gltf,
            step,
            0,
            "weights",
            "STEP",
            &[0.0, 0.35, 0.8],
            &[0., 0., 1., 0., 0., 0.5],
        );
        // The file's own weights play where no track says otherwise.
        bend(&mut gltf, "Default", "LINEAR");
        let document = document(gltf);
        // Without helper joints there have to be targets.
        let options = BakeOptions {
            max_joints: 2,
            ..BakeOptions::default()
        };
        let (exported, report, read) = meets_with(&document, options);
        assert!(report.morph_targets > 0);
        // Weights that are not fitted anew are the file's own, in 16 bits.
        assert!(report.meshes.iter().all(|mesh| !mesh.reweighted));
        assert_eq!(exported.report.n_primitives_rewritten, 1);
        for (id, clip) in document.clips() {
            for i in 0..=200 {
                let secs = f64::from(i) / 200.0;
                let jumps = [0.35, 0.8].iter().any(|s| secs <= *s && s - secs < 0.0021);
                if clip.name == "Step" && jumps {
                    continue;
                }
                let before = &document.pose_of_clip(clip, secs).morph_weights[MESH_NODE.get()];
                let now =
                    &read.pose_of_clip(&read.clips()[id], secs).morph_weights[MESH_NODE.get()];
                for (before, now) in before.iter().zip(now) {
                    assert!(
                        (before - now).abs() < 0.02,
                        "{} {secs}: {before} {now}",
                        clip.name
                    );
                }
            }
        }
        let json = json_of(&exported);
        let mesh = &json["meshes"][0];
        let targets = mesh["primitives"][0]["targets"].as_array().unwrap();
        assert_eq!(targets.len(), 2 + report.morph_targets);
        let attributes = |t: &Value| t.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert!(
            targets
                .iter()
                .all(|t| attributes(t) == attributes(&targets[0]))
        );
        assert_eq!(mesh["weights"].as_array().unwrap().len(), targets.len());
        let names = mesh["extras"]["targetNames"].as_array().unwrap();
        assert_eq!(
            (&names[0], &names[1], names.len()),
            (&json!("Belly"), &json!("Lean"), targets.len())
        );
        assert_eq!(
            read.meshes()[&MeshId(0)].geometry.morphs[0],
            document.meshes()[&MeshId(0)].geometry.morphs[0]
        );
    }
}

#[test]
fn a_jump_is_keyed_on_both_sides() {
    let mut gltf = tube(2);
    let clip = bend(&mut gltf, "Jump", "STEP");
    channel(
        &mut gltf,
        clip,
        2,
        "scale",
        "LINEAR",
        &[0.0, 1.0],
        &[1.0, 1.0, 1.0, 1.01, 1.01, 1.01],
    );
    let document = document(gltf);
    let (_, _, read) = meets(&document);
    let new = new_channels(&document, &read, ClipId(0));
    assert!(!new.is_empty());
    for channel in new {
        assert_eq!(channel.interpolation, Interpolation::Linear);
        for jump in [0.5f32, 1.0] {
            let at = channel.times.iter().position(|t| *t == jump).unwrap();
            let gap = jump - channel.times[at - 1];
            assert!((0.0002..0.0003).contains(&gap), "{:?}", channel.times);
        }
    }
}

#[test]
fn splines_are_followed() {
    let mut gltf = tube(2);
    let clip = bend(&mut gltf, "Spline", "CUBICSPLINE");
    // And one that overshoots.
    let values = [
        [0.0, 0.0, 2.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 2.0, 0.0],
        [0.0, 0.0, -3.0, 0.0],
        [0.0, 0.0, 0.5, 0.866],
        [0.0, 0.0, -3.0, 0.0],
    ];
    channel(
        &mut gltf,
        clip,
        1,
        "rotation",
        "CUBICSPLINE",
        &[0.0, 1.0],
        values.as_flattened(),
    );
    meets(&document(gltf));
}

#[test]
fn loops_stay_closed() {
    let mut gltf = tube(2);
    let clip = clip(&mut gltf, "Loop");
    turn(
        &mut gltf,
        clip,
        2,
        "LINEAR",
        &[0.0, 0.3, 0.7, 1.0],
        &[60.0, 120.0, -40.0, 60.0],
    );
    let document = document(gltf);
    for max_joints in [256, 2] {
        let options = BakeOptions {
            max_joints,
            ..BakeOptions::default()
        };
        let (_, _, read) = meets_with(&document, options);
        let new = new_channels(&document, &read, ClipId(0));
        assert!(!new.is_empty());
        for channel in new {
            let width = channel.width();
            let n = channel.values.len();
            let (first, last) = (&channel.values[..width], &channel.values[n - width..]);
            assert_eq!(
                (channel.times.first(), channel.times.last()),
                (Some(&0.0), Some(&1.0))
            );
            let dot: f32 = first.iter().zip(last).map(|(a, b)| a * b).sum();
            let same = first.iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-4);
            let is_turn = channel.property == Property::Rotation;
            assert!(
                same || is_turn && dot.abs() > 1.0 - 1e-6,
                "{first:?} {last:?}"
            );
        }
    }
}

/// A second chain of joints beside the first, and its skin: nodes 3 and 4.
pub(crate) fn add_second_chain(gltf: &mut Gltf) -> usize {
    let nodes = gltf.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "Other 0", "children": [4], "translation": [1.5, 0, 0]}));
    nodes.push(json!({"name": "Other 1", "translation": [0, 1, 0]}));
    gltf.json["scenes"][0]["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!(3));
    let skin = skin(gltf, 3, 2, 1.0);
    gltf.push("skins", skin)
}

/// Adds a node that draws a mesh; its index.
pub(crate) fn draw(gltf: &mut Gltf, mesh: usize, skin: usize) -> usize {
    let node = gltf.push("nodes", json!({"mesh": mesh, "skin": skin}));
    gltf.json["scenes"][0]["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!(node));
    node
}

#[test]
fn two_instances_of_a_mesh_each_go_their_way() {
    let mut gltf = tube(2);
    let other = add_second_chain(&mut gltf);
    draw(&mut gltf, 0, other);
    let clip = bend(&mut gltf, "First", "LINEAR");
    turn(
        &mut gltf,
        clip,
        4,
        "LINEAR",
        &[0.0, 0.4, 0.8],
        &[0.0, -90.0, 20.0],
    );
    let only_second = self::clip(&mut gltf, "Second");
    turn(
        &mut gltf,
        only_second,
        4,
        "LINEAR",
        &[0.0, 2.0],
        &[0.0, 130.0],
    );
    let document = document(gltf);
    for max_joints in [256, 2] {
        let options = BakeOptions {
            max_joints,
            ..BakeOptions::default()
        };
        meets_with(&document, options);
    }
}

#[test]
fn skins_that_share_joints_are_corrected_together_or_apart() {
    let mut gltf = tube(3);
    // A second mesh over the last two of the three joints: another skin of other size.
    let matrices = gltf.json["skins"][0]["inverseBindMatrices"].clone();
    let all = gltf.json["accessors"][matrices.as_u64().unwrap() as usize].clone();
    let mut last = all.clone();
    last["byteOffset"] = json!(64);
    last["count"] = json!(2);
    let accessor = gltf.push("accessors", last);
    let skin = gltf.push(
        "skins",
        json!({"joints": [2, 3], "inverseBindMatrices": accessor}),
    );
    let mesh = tube_mesh(&mut gltf, 2, 0.3);
    let mesh = gltf.push("meshes", mesh);
    draw(&mut gltf, mesh, skin);
    let clip = bend(&mut gltf, "Bend", "LINEAR");
    turn(
        &mut gltf,
        clip,
        3,
        "LINEAR",
        &[0.0, 0.5, 1.0],
        &[0.0, 50.0, 0.0],
    );
    meets(&document(gltf.clone()));
    // One mesh drawn with both: no helper joint has one place in both skins, targets do it.
    gltf.json["nodes"][4]["mesh"] = json!(mesh);
    gltf.json["nodes"][0]["mesh"] = json!(mesh);
    let (_, report, _) = meets(&document(gltf));
    assert!(
        report.helper_joints == 0 && report.morph_targets > 0,
        "{report:?}"
    );
}

#[test]
fn what_joints_do_not_share_gets_nothing() {
    let mut gltf = tube(2);
    let rigid = tube_mesh(&mut gltf, 2, 0.0);
    let rigid = gltf.push("meshes", rigid);
    draw(&mut gltf, rigid, 0);
    bend(&mut gltf, "Bend", "LINEAR");
    let before = gltf.json["meshes"][rigid].clone();
    let options = BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    };
    let (exported, report, _) = meets_with(&document(gltf.clone()), options);
    assert_eq!(json_of(&exported)["meshes"][rigid], before);
    assert!(report.meshes.iter().all(|m| m.mesh as usize != rigid));
    // Alone it is the source's bytes.
    gltf.json["nodes"][0]["mesh"] = json!(rigid);
    let document = document(gltf);
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(exported.report.verbatim && report.nothing_to_do && report.met);
    assert_eq!(exported.files[0].1, document.source().unwrap().bytes);
}

#[test]
fn five_influences_become_four() {
    let mut gltf = tube(6);
    let clip = bend(&mut gltf, "Bend", "LINEAR");
    turn(
        &mut gltf,
        clip,
        4,
        "LINEAR",
        &[0.0, 0.5, 1.0],
        &[0.0, 60.0, 0.0],
    );
    let document = document(gltf);
    let longest = document.meshes()[&MeshId(0)]
        .influences
        .iter()
        .map(sinew::skinning::RowRef::len)
        .max();
    assert!(longest > Some(4));
    let (exported, _, read) = meets(&document);
    let json = json_of(&exported);
    assert!(
        json["meshes"][0]["primitives"][0]["attributes"]
            .get("JOINTS_1")
            .is_none()
    );
    assert!(
        read.meshes()[&MeshId(0)]
            .influences
            .iter()
            .all(|row| row.len() <= 4)
    );
}

#[test]
fn scale_and_shear_are_met_or_the_miss_is_said() {
    let mut gltf = tube(3);
    let clip = bend(&mut gltf, "Squash", "LINEAR");
    // A joint that is squashed above one that turns shears what hangs below it.
    let squash = [1.0, 1.0, 1.0, 1.4, 0.7, 1.1, 1.0, 1.0, 1.0];
    channel(
        &mut gltf,
        clip,
        1,
        "scale",
        "LINEAR",
        &[0.0, 0.5, 1.0],
        &squash,
    );
    turn(
        &mut gltf,
        clip,
        3,
        "LINEAR",
        &[0.0, 0.5, 1.0],
        &[0.0, 50.0, 0.0],
    );
    let (exported, report) = corrected(&document(gltf), BakeOptions::default());
    println!("{}", report.summary());
    assert!(
        report.max_percent < 0.25 * report.before_max_percent,
        "{report:?}"
    );
    let said = exported
        .report
        .findings
        .iter()
        .any(|f| f.message.contains("is missed"));
    assert_eq!(said, !report.met);
}

#[test]
fn normals_turn_with_morph_targets() {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let document = document(gltf);
    let options = BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    };
    let plain = BakeOptions {
        normals: false,
        ..options.clone()
    };
    let (_, with, read) = meets_with(&document, options);
    let (exported, without, _) = meets_with(&document, plain);
    // What normals may take in a small file holds those that matter most, not all.
    assert!(
        with.normals.p99_degrees < 0.15 * without.normals.p99_degrees,
        "{with:?}"
    );
    assert!(with.normals.mean_degrees < 0.4 * without.normals.mean_degrees);
    assert!(
        without.normals.p99_degrees > 3.0 && with.normals_before.p99_degrees > 3.0,
        "{without:?}"
    );
    assert!(with.meshes[0].turned_normals > 0 && without.meshes[0].turned_normals == 0);
    assert!(
        read.meshes()[&MeshId(0)]
            .geometry
            .morphs
            .iter()
            .any(|m| !m.normals.is_empty())
    );
    let json = json_of(&exported);
    let targets = json["meshes"][0]["primitives"][0]["targets"]
        .as_array()
        .unwrap()
        .clone();
    assert!(targets.iter().all(|t| t.get("NORMAL").is_none()));
}

#[test]
fn quantised_targets_take_fewer_bytes_and_keep_the_tolerance() {
    for (normals, unipolar) in [(true, true), (false, false)] {
        let mut gltf = tube(2);
        bend(&mut gltf, "Bend", "LINEAR");
        let document = document(gltf);
        let plain = BakeOptions {
            max_joints: 2,
            normals,
            unipolar,
            ..BakeOptions::default()
        };
        let quantize = BakeOptions {
            quantize: true,
            ..plain.clone()
        };
        let (_, whole, _) = meets_with(&document, plain);
        let (exported, half, read) = meets_with(&document, quantize);
        // Without normals all data fits into what weights of 16 bits free, so only the JSON differs.
        let more = if normals { 0 } else { 200 };
        assert!(
            half.bytes < whole.bytes + more,
            "{} {}",
            half.bytes,
            whole.bytes
        );
        let json = json_of(&exported);
        let required = json["extensionsRequired"].as_array().unwrap();
        assert!(required.contains(&json!("KHR_mesh_quantization")));
        let targets = json["meshes"][0]["primitives"][0]["targets"].as_array();
        let targets = targets.unwrap();
        let is_short = |target: &Value| {
            let entry = &json["accessors"][target["POSITION"].as_u64().unwrap() as usize];
            // Targets that only turn normals have no displacements.
            let bounds =
                ["min", "max"].map(|key| entry[key].as_array().cloned().unwrap_or_default());
            let is_zero = bounds.iter().flatten().all(|b| b.as_f64() == Some(0.0));
            is_zero || entry["componentType"] == 5122 && entry["normalized"] == true
        };
        assert!(!targets.is_empty() && targets.iter().all(is_short));
        let morphs = &read.meshes()[&MeshId(0)].geometry.morphs;
        let longest = morphs
            .iter()
            .flat_map(|m| m.deltas.iter().map(|d| d.length()));
        assert!(longest.fold(0.0, f32::worse) <= 1.0);
    }
}

#[test]
fn a_part_without_normals_gets_none() {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let attributes = &mut gltf.json["meshes"][0]["primitives"][0]["attributes"];
    attributes.as_object_mut().unwrap().remove("NORMAL");
    let options = BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    };
    let (exported, report, _) = meets_with(&document(gltf), options);
    let json = json_of(&exported);
    let targets = json["meshes"][0]["primitives"][0]["targets"]
        .as_array()
        .unwrap()
        .clone();
    assert!(targets.iter().all(|t| t.get("NORMAL").is_none()));
    assert!(report.normals.max_degrees == 0.0);
}

#[test]
fn dense_targets_hold_every_vertex() {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let document = document(gltf);
    let options = BakeOptions {
        max_joints: 2,
        sparse: false,
        ..BakeOptions::default()
    };
    let (exported, report, _) = meets_with(&document, options);
    assert!(report.morph_targets > 0);
    let json = json_of(&exported);
    for accessor in json["accessors"].as_array().unwrap() {
        assert!(accessor.get("sparse").is_none() && accessor.get("bufferView").is_some());
    }
}
