//! Seeded mutations of every kind of input, through everything that reads them: no panic, no endless work, and errors in
//! a sentence.
//!
//! Each case is a seed. `SINEW_MUTATIONS_SEED=N` runs the one case N; `SINEW_MUTATIONS_SECS=S` runs new cases for S
//! seconds, from a seed of its own on.

use crate::cli::messages;
use crate::gltf_builder::{Gltf, skinned};
use crate::inputs::{
    Choice, Originals, check_sentence, use_model, use_obj, use_pose, use_project, use_weights,
};
use crate::malformed::{Random, with_json};
use crate::motion_inputs::{self, use_motion, use_stream};
use crate::source_layouts::{attribute, bent};
use bytes::Bytes;
use serde_json::{Value, json};
use sinew::deform::StackPreset;
use sinew::io::import_bytes;
use sinew::task::Task;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The cases of a run, and the time after which it ends early on a slow machine.
const N_CASES: u64 = 1500;
const MOST: Duration = Duration::from_secs(45);
/// A case that takes longer hangs.
const HANGS: Duration = Duration::from_mins(1);

/// A skinned triangle with every optional part of the format that fits: a clip, a morph target, a sparse accessor.
fn small() -> Gltf {
    let mut gltf = skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
    let times = gltf.f32s("SCALAR", &[0.0, 0.5, 1.0]);
    let rotations = gltf.f32s("VEC4", &[0., 0., 0., 1., 0., 0., 0.6, 0.8, 0., 1., 0., 0.]);
    let cubic = gltf.f32s("VEC3", &[0.5; 27]);
    let weights = gltf.f32s("SCALAR", &[0.0, 1.0, 0.5]);
    gltf.push(
        "animations",
        json!({"name": "move", "samplers": [
            {"input": times, "output": rotations},
            {"input": times, "output": cubic, "interpolation": "CUBICSPLINE"},
            {"input": times, "output": weights, "interpolation": "STEP"}
        ], "channels": [
            {"sampler": 0, "target": {"node": 1, "path": "rotation"}},
            {"sampler": 1, "target": {"node": 2, "path": "translation"}},
            {"sampler": 2, "target": {"node": 0, "path": "weights"}}
        ]}),
    );
    let target = gltf.f32s("VEC3", &[0.1; 9]);
    let (indices, values) = (
        gltf.view(&[1]),
        gltf.view(bytemuck::cast_slice(&[3.0f32; 3])),
    );
    gltf.json["accessors"][target]["sparse"] = json!({"count": 1,
        "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}});
    let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
    primitive["targets"] = json!([{"POSITION": target}]);
    let identity: [f32; 16] = std::array::from_fn(|i| f32::from(u8::from(i % 5 == 0)));
    let bind = gltf.accessor("MAT4", 5126, bytemuck::cast_slice(&[identity, identity]));
    gltf.json["skins"][0]["inverseBindMatrices"] = json!(bind);
    gltf
}

/// The same with pictures of each format.
fn textured() -> Gltf {
    let mut gltf = small();
    for format in [
        image::ImageFormat::Png,
        image::ImageFormat::Jpeg,
        image::ImageFormat::WebP,
    ] {
        let mut bytes = Vec::new();
        let picture =
            image::RgbImage::from_fn(9, 7, |x, y| image::Rgb([x as u8 * 20, y as u8 * 30, 7]));
        picture
            .write_to(&mut std::io::Cursor::new(&mut bytes), format)
            .unwrap();
        let view = gltf.view(&bytes);
        let i = gltf.push(
            "images",
            json!({"bufferView": view, "mimeType": format.to_mime_type()}),
        );
        gltf.push("textures", json!({"source": i}));
        gltf.push(
            "materials",
            json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": i}}}),
        );
    }
    let coordinates = gltf.f32s("VEC2", &[0., 0., 1., 0., 0., 1.]);
    let mesh = gltf.json["meshes"][0].clone();
    let primitives = (0..3).map(|material| {
        let mut primitive = mesh["primitives"][0].clone();
        primitive["attributes"]["TEXCOORD_0"] = json!(coordinates);
        primitive["material"] = json!(material);
        primitive
    });
    gltf.json["meshes"][0]["primitives"] = primitives.collect();
    gltf
}

/// A bent tube with interleaved attributes.
fn interleaved() -> Gltf {
    let mut gltf = bent();
    let columns = ["POSITION", "JOINTS_0", "NORMAL", "WEIGHTS_0"];
    gltf.interleave(&[columns.map(|name| attribute(&gltf, name)).to_vec()]);
    gltf
}

/// A bent tube with positions in normalised 16-bit integers, at half its size.
fn quantized() -> Gltf {
    let mut gltf = bent();
    let mut positions = Vec::new();
    let is = attribute(&gltf, "POSITION");
    gltf.change_f32s(is, |floats| {
        positions.extend(floats.iter().map(|x| (x / 2.0 * 32767.0) as i16));
    });
    let positions = gltf.i16s("VEC3", &positions);
    gltf.normalized(positions);
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(positions);
    for key in ["extensionsUsed", "extensionsRequired"] {
        gltf.json[key] = json!(["KHR_mesh_quantization"]);
    }
    gltf
}

/// What a case did: the mutation in words.
struct Case {
    random: Random,
    steps: Vec<String>,
}

impl Case {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1))
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let i = self.below(items.len());
        &items[i]
    }

    /// What is done with the input.
    fn choice(&mut self) -> Choice {
        let choice = Choice::of(self.below(8 * StackPreset::ALL.len()));
        self.note(choice.in_words());
        choice
    }

    fn note(&mut self, what: String) {
        self.steps.push(what);
    }
}

/// Numbers that readers get wrong.
const NUMBERS: [f32; 12] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    -3.4e38,
    f32::MIN_POSITIVE,
    1e-45,
    0.0,
    -0.0,
    -1.0,
    1e20,
    1e-20,
];

fn bad_values() -> Vec<Value> {
    let long = "n".repeat(5000);
    vec![
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(3.5),
        json!(255),
        json!(5120),
        json!(5126),
        json!(65_536),
        json!(4_294_967_295_u32),
        json!(u64::MAX),
        json!(1e300),
        json!(-1e300),
        json!(1e-300),
        json!("SCALAR"),
        json!("MAT4"),
        json!("CUBICSPLINE"),
        json!("weights"),
        json!("../x"),
        json!("data:;base64,AAAA"),
        json!(long),
        json!([]),
        json!({}),
        json!([0, 0, 0]),
        json!([0, 0, 0, 0]),
        json!([1e300, 1, 1, 1]),
        json!(true),
    ]
}

/// The `n`-th value of the tree.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|v| nth(v, n)),
        Value::Object(map) => map.values_mut().find_map(|v| nth(v, n)),
        _ => None,
    }
}

fn n_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(n_values).sum(),
        Value::Object(map) => map.values().map(n_values).sum(),
        _ => 0,
    }
}

fn mutate_json(json: &mut Value, case: &mut Case) {
    let bad = bad_values();
    let n = n_values(json);
    let mut at = 1 + case.below(n - 1);
    let shown = at;
    let kind = case.below(6);
    let other = {
        let mut from = 1 + case.below(n - 1);
        nth(json, &mut from).cloned()
    };
    let pick = case.pick(&bad).clone();
    let i = case.below(64);
    let Some(value) = nth(json, &mut at) else {
        return;
    };
    let what = match (kind, &mut *value) {
        (0, Value::Array(items)) if !items.is_empty() => {
            let i = i % items.len();
            items.remove(i);
            "an item removed".to_owned()
        }
        (1, Value::Array(items)) if !items.is_empty() => {
            let item = items[i % items.len()].clone();
            items.extend(vec![item; 1 + i % 5]);
            "items repeated".to_owned()
        }
        (0 | 1, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(i % map.len()).unwrap().clone();
            map.remove(&key);
            format!("{key} removed")
        }
        (2, _) => {
            *value = other.unwrap_or(Value::Null);
            "replaced by another value".to_owned()
        }
        (3, Value::Number(number)) => {
            let x = number.as_i64().unwrap_or(0);
            *value = json!(x.wrapping_add(i as i64 % 5 - 2));
            "a number moved".to_owned()
        }
        _ => {
            let text = pick.to_string();
            *value = pick;
            format!("replaced by {}", &text[..text.len().min(20)])
        }
    };
    case.note(format!("JSON value {shown}: {what}"));
}

/// The start of the data in a .glb.
fn json_end(bytes: &[u8]) -> usize {
    let length: [u8; 4] = bytes[12..16].try_into().unwrap();
    20 + u32::from_le_bytes(length) as usize
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(&bytes[20..json_end(bytes)]).unwrap()
}

fn mutate_model(original: &Bytes, case: &mut Case) -> Bytes {
    let mut bytes = original.to_vec();
    match case.below(10) {
        // The container: lengths, kinds, an end that is missing.
        0 => {
            let end = json_end(&bytes);
            let at = *case.pick(&[4, 8, 12, 16, end, end + 4]);
            let word = *case.pick(&[0u32, 1, 3, 0x7fff_ffff, u32::MAX, 0x4e4f_534a, 0x004e_4942]);
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            case.note(format!("the word at byte {at} is {word:#x}"));
            return bytes.into();
        }
        1 => {
            let n = case.below(bytes.len());
            bytes.truncate(n);
            case.note(format!("cut after {n} bytes"));
            return bytes.into();
        }
        // Numbers in the data: accessors, pictures.
        2 | 3 => {
            let start = json_end(&bytes) + 8;
            for _ in 0..=case.below(8) {
                let at = start + case.below((bytes.len() - start) / 4) * 4;
                let number = *case.pick(&NUMBERS);
                bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
                case.note(format!("{number:e} at byte {at}"));
            }
        }
        4 => {
            let start = json_end(&bytes) + 8;
            for _ in 0..=case.below(40) {
                let at = start + case.below(bytes.len() - start);
                bytes[at] = case.below(256) as u8;
            }
            case.note("bytes of the data".to_owned());
        }
        // Text that may be JSON no longer.
        5 => {
            let at = 20 + case.below(json_end(&bytes) - 20);
            bytes[at] = case.below(128) as u8;
            case.note(format!("byte {at} of the JSON is {}", bytes[at]));
            return bytes.into();
        }
        _ => {}
    }
    let mut json = json_of(&bytes);
    // Most of the values that readers calculate with.
    let list = *case.pick(&[
        "",
        "",
        "accessors",
        "bufferViews",
        "skins",
        "animations",
        "images",
    ]);
    for _ in 0..=case.below(3) {
        match json.get_mut(list) {
            Some(part) if part.as_array().is_some_and(|items| !items.is_empty()) => {
                mutate_json(part, case);
            }
            _ => mutate_json(&mut json, case),
        }
    }
    with_json(&bytes, &json)
}

fn mutate_text(original: &str, case: &mut Case) -> String {
    let mut text: Vec<char> = original.chars().collect();
    for _ in 0..=case.below(3) {
        let at = case.below(text.len());
        match case.below(6) {
            0 => {
                text.truncate(at);
                case.note(format!("cut after {at} letters"));
            }
            1 => {
                let end = (at + 1 + case.below(40)).min(text.len());
                text.drain(at..end);
                case.note(format!("{} letters removed at {at}", end - at));
            }
            2 => {
                let piece = *case.pick(&[
                    "-1",
                    "4294967295",
                    "1e39",
                    "nan",
                    "inf",
                    "0",
                    "\"",
                    ")",
                    "[",
                    "\u{0}",
                    "ä",
                ]);
                text.splice(at..at, piece.chars());
                case.note(format!("{piece:?} put in at {at}"));
            }
            3 => {
                let end = (at + case.below(200)).min(text.len());
                let piece: Vec<char> = text[at..end].to_vec();
                text.splice(at..at, piece);
                case.note(format!("letters {at} to {end} twice"));
            }
            _ => {
                // The next number.
                let from = text[at..].iter().position(char::is_ascii_digit);
                if let Some(from) = from {
                    let start = at + from;
                    let n = text[start..]
                        .iter()
                        .take_while(|c| c.is_ascii_digit())
                        .count();
                    let number = *case.pick(&[
                        "0",
                        "1",
                        "65535",
                        "65536",
                        "4294967295",
                        "18446744073709551615",
                        "1e38",
                        "-5",
                    ]);
                    text.splice(start..start + n, number.chars());
                    case.note(format!("the number at {start} is {number}"));
                }
            }
        }
        if text.is_empty() {
            break;
        }
    }
    text.into_iter().collect()
}

/// Bytes changed, removed, repeated or cut off.
fn mutate_bytes(original: &[u8], case: &mut Case) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=case.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = case.below(bytes.len());
        let end = (at + 1 + case.below(40)).min(bytes.len());
        match case.below(5) {
            0 => {
                bytes.truncate(at);
                case.note(format!("cut after {at} bytes"));
            }
            1 => {
                bytes.drain(at..end);
                case.note(format!("bytes {at} to {end} removed"));
            }
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
                case.note(format!("bytes {at} to {end} twice"));
            }
            3 => {
                let number = *case.pick(&NUMBERS);
                let word = number.to_be_bytes();
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&word[..end - at]);
                case.note(format!("{number:e} at byte {at}"));
            }
            _ => {
                bytes[at] = case.below(256) as u8;
                case.note(format!("byte {at} is {}", bytes[at]));
            }
        }
    }
    bytes
}

/// A motion or recording, as a file and as a stream.
fn mutate_motion(case: &mut Case) {
    let (extension, text) = *case.pick(&[
        ("bvh", motion_inputs::BVH),
        ("csv", motion_inputs::CSV),
        ("jsonl", motion_inputs::JSON_LINES),
        ("vmclog", ""),
    ]);
    case.note(extension.to_owned());
    let bytes = if text.is_empty() {
        mutate_bytes(&motion_inputs::packets(), case)
    } else {
        mutate_text(text, case).into_bytes()
    };
    use_motion(&bytes, extension);
    use_stream(&bytes);
}

/// `render`, a process each time, so that a crash of the graphics driver has a seed too; whether there is a picture.
fn draw(bytes: &Bytes) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("x.glb"), folder.path().join("x.png"));
    std::fs::write(&model, bytes).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .arg("render")
        .arg(&model)
        .args(["--size", "32x24", "--bones", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let said = messages(&output);
    match output.status.code() {
        Some(0) => {
            assert!(said.is_empty(), "the picture: {said}");
            assert_eq!(image::image_dimensions(&out).unwrap(), (32, 24));
            true
        }
        Some(1) => {
            check_sentence(said.trim_end(), "the picture");
            assert!(!out.exists(), "the picture: {said}");
            false
        }
        _ => panic!("the picture: {}: {said}", output.status),
    }
}

/// Runs the case of a seed; an error names the mutation.
fn run(originals: &Originals, seed: u64) -> Result<(), String> {
    let mut case = Case {
        random: Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
        steps: Vec::new(),
    };
    let result = catch_unwind(AssertUnwindSafe(|| match case.below(14) {
        0 | 1 => {
            let text = mutate_text(&originals.project, &mut case);
            use_project(&originals.document, &text, case.choice());
        }
        2 => {
            let text = std::str::from_utf8(&originals.weights).unwrap();
            use_weights(mutate_text(text, &mut case).as_bytes());
        }
        3 => {
            let text = mutate_text(&originals.pose, &mut case);
            use_pose(&originals.document, &text);
        }
        4 => {
            let [obj, materials] = &originals.obj;
            let obj = mutate_text(obj, &mut case);
            let materials = if case.below(2) == 0 {
                mutate_text(materials, &mut case)
            } else {
                materials.clone()
            };
            use_obj(&obj, &materials, case.choice());
        }
        5..=7 => mutate_motion(&mut case),
        _ => {
            let i = case.below(originals.models.len());
            case.note(format!("model {i}"));
            let bytes = mutate_model(&originals.models[i], &mut case);
            let is_model = use_model(&bytes, case.choice());
            if is_model && cfg!(feature = "render") && case.below(16) == 0 {
                case.note("drawn".to_owned());
                draw(&bytes);
            }
        }
    }));
    result.map_err(|panic| format!("seed {seed}: {}: {}", case.steps.join("; "), said(&*panic)))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked").to_owned()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn no_mutated_input_panics_or_hangs() {
    let mut originals = Originals::new();
    let own = [small(), textured(), interleaved(), quantized()];
    originals.models.extend(own.map(Gltf::glb));
    for (i, model) in originals.models.iter().enumerate() {
        let imported = import_bytes(model.clone(), None, None, &Task::new()).unwrap();
        assert!(imported.findings.is_empty(), "{i}: {:?}", imported.findings);
        if cfg!(feature = "render") {
            assert!(draw(model), "{i}");
        }
    }
    for (extension, text) in [
        ("bvh", motion_inputs::BVH.as_bytes()),
        ("csv", motion_inputs::CSV.as_bytes()),
        ("jsonl", motion_inputs::JSON_LINES.as_bytes()),
        ("vmclog", &motion_inputs::packets()),
    ] {
        assert!(use_motion(text, extension), "{extension}");
    }
    let secs = number("SINEW_MUTATIONS_SECS");
    let most = secs.map_or(MOST, Duration::from_secs);
    let seeds = match (number("SINEW_MUTATIONS_SEED"), secs) {
        (Some(seed), None) => seed..seed + 1,
        (from, Some(_)) => from.unwrap_or_else(|| Random::of_now().0)..u64::MAX,
        (None, None) => 0..N_CASES,
    };
    let start = Instant::now();
    let (mut faults, mut n) = (Vec::new(), 0u64);
    // A case that does not end would never be named otherwise.
    let (beat, beats) = channel::<u64>();
    let watch = std::thread::spawn(move || {
        let mut last = None;
        loop {
            match beats.recv_timeout(HANGS) {
                Ok(seed) => last = Some(seed),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("seed {last:?} does not end");
                    std::process::abort();
                }
            }
        }
    });
    for seed in seeds {
        if start.elapsed() > most {
            break;
        }
        beat.send(seed).unwrap();
        n += 1;
        faults.extend(run(&originals, seed).err());
    }
    drop(beat);
    watch.join().unwrap();
    println!("{n} cases in {:.1} s", start.elapsed().as_secs_f64());
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
