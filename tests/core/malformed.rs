//! Broken and odd files: a sentence or findings, never a panic, a hang or gigabytes.

use crate::inputs::check_sentence;
use crate::shared::shared_dir;
use bytes::Bytes;
use serde_json::{Value, json};
use sinew::io::{Imported, import_bytes, import_file};
use sinew::task::Task;
use std::path::PathBuf;
use std::time::Instant;

/// All model files below a folder, sorted.
pub(crate) fn model_files(folder: PathBuf) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "gltf" || e == "glb") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn malformed_files_are_refused_in_a_sentence_or_load_with_findings() {
    let Some(shared) =
        shared_dir("malformed_files_are_refused_in_a_sentence_or_load_with_findings")
    else {
        return;
    };
    let files = model_files(shared.join("malformed"));
    assert!(files.len() >= 78, "{}", files.len());
    // Legal files, or faults in what Sinew does not read (normals' length, bounds, padding, names of buffers).
    let may_be_silent = [
        "assimp__BoxBadNormals",
        "assimp__wrongTypes__badString",
        "gltftransform__BoxMeshopt",
        "gltftransform__DracoSparseMesh",
        "gltfrs__box_sparse",
        "mut_zero_scale",
        "magnum_assimp__skin-shared",
    ];
    let mut silent = Vec::new();
    for path in files {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let start = Instant::now();
        let result = import_file(&path, &Task::new());
        assert!(start.elapsed().as_secs() < 10, "{file}");
        match result {
            Err(error) => {
                println!("{file} | refused | {error}");
                check_sentence(&error.to_string(), &file);
            }
            Ok(Imported { findings, .. }) => {
                for finding in &findings {
                    println!("{file} | {finding}");
                    check_sentence(&finding.message, &file);
                }
                if findings.is_empty() {
                    println!("{file} | loads");
                    silent.push(file);
                }
            }
        }
    }
    silent.retain(|file| !may_be_silent.iter().any(|name| file.starts_with(name)));
    assert!(silent.is_empty(), "{silent:#?}");
}

/// Faults that an artist's file may have and that leave the rest usable.
#[test]
fn usable_files_with_one_fault_still_load() {
    let Some(shared) = shared_dir("usable_files_with_one_fault_still_load") else {
        return;
    };
    for (name, n_vertices, words) in [
        ("mut_bad_quat", 196, "instead of 1"),
        ("mut_cycle", 196, "its ancestor"),
        (
            "mut_ibm_short",
            196,
            "missing ones were replaced by the identity",
        ),
        ("mut_index_oob", 196, "1 triangle was left out"),
        ("mut_joint_oob", 196, "references joint 200"),
        ("mut_nan_position", 196, "vertex 7"),
        ("mut_no_joints", 196, "has no joints"),
        ("mut_trunc_970", 196, "truncated"),
        ("mut_zero_weights", 196, "20 vertices"),
    ] {
        let case = format!("{name}_greenman");
        let path = shared.join(format!("malformed/{case}/{case}.glb"));
        let Imported { parts, findings } = import_file(&path, &Task::new()).unwrap();
        let n: usize = parts.meshes.values().map(|m| m.geometry.n_vertices()).sum();
        assert_eq!(n, n_vertices, "{case}");
        assert!(
            findings.iter().any(|f| f.message.contains(words)),
            "{case}: {findings:?}"
        );
        for item in parts.meshes.values() {
            assert!(
                item.geometry.positions.iter().all(|p| p.is_finite()),
                "{case}"
            );
        }
    }
}

/// A small generator that gives the same numbers everywhere (Vigna 2015, splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Another one at each start.
    pub(crate) fn of_now() -> Self {
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::SystemTime::UNIX_EPOCH);
        Self(since.map_or(0, |since| since.as_secs()))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

#[test]
fn flipped_bytes_and_cut_files_never_panic() {
    let Some(shared) = shared_dir("flipped_bytes_and_cut_files_never_panic") else {
        return;
    };
    let original = std::fs::read(shared.join("models/greenman/greenman.glb")).unwrap();
    let json_end = 20 + u32::from_le_bytes(original[12..16].try_into().unwrap()) as usize;
    let mut random = Random(1);
    let (mut n_loaded, mut n_refused) = (0, 0);
    for case in 0..400 {
        let mut bytes = original.clone();
        if case % 8 == 0 {
            bytes.truncate(random.below(original.len()));
        }
        for _ in 0..=random.below(6) {
            if bytes.is_empty() {
                break;
            }
            // Most flips go to the JSON and to its numbers, where they hurt.
            let within = if case % 4 == 0 {
                bytes.len()
            } else {
                json_end.min(bytes.len())
            };
            let at = random.below(within);
            bytes[at] = match bytes[at] {
                b'0'..=b'9' => b'0' + random.below(10) as u8,
                _ if case % 3 == 0 => random.below(256) as u8,
                byte => byte,
            };
        }
        match import_bytes(Bytes::from(bytes), None, None, &Task::new()) {
            Ok(_) => n_loaded += 1,
            Err(error) => {
                check_sentence(&error.to_string(), &format!("case {case}"));
                n_refused += 1;
            }
        }
    }
    println!("{n_loaded} loaded, {n_refused} refused");
    assert!(n_loaded > 50 && n_refused > 50);
}

/// Puts `bad` in place of the `n`-th value of the tree, counted in its own order; false where there are fewer.
fn replace(value: &mut Value, n: &mut usize, bad: &Value) -> bool {
    if *n == 0 {
        *value = bad.clone();
        return true;
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|v| replace(v, n, bad)),
        Value::Object(map) => map.values_mut().any(|v| replace(v, n, bad)),
        _ => false,
    }
}

fn n_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(n_values).sum(),
        Value::Object(map) => map.values().map(n_values).sum(),
        _ => 0,
    }
}

/// The same container with other JSON.
pub(crate) fn with_json(original: &[u8], json: &Value) -> Bytes {
    let text = serde_json::to_vec(json).unwrap();
    if !original.starts_with(b"glTF") {
        return text.into();
    }
    let json_end = 20 + u32::from_le_bytes(original[12..16].try_into().unwrap()) as usize;
    let mut bytes = original[..12].to_vec();
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(text);
    bytes.extend(&original[json_end..]);
    bytes.into()
}

#[test]
fn values_of_the_wrong_kind_or_size_never_panic() {
    let Some(shared) = shared_dir("values_of_the_wrong_kind_or_size_never_panic") else {
        return;
    };
    let bad = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(3.5),
        json!(255),
        json!(4_294_967_295_u32),
        json!(u64::MAX),
        json!(1e300),
        json!("SCALAR"),
        json!("../x"),
        json!([]),
        json!({}),
        json!([0, 0, 0]),
        json!(true),
    ];
    let mut random = Random(2);
    for file in [
        "models/greenman/greenman.glb",
        "models/simple_skin/simple_skin.gltf",
        "models/greenman_cubic_8inf/greenman_cubic_8inf.glb",
        "malformed/gltftransform__BoxMeshopt/gltftransform__BoxMeshopt.glb",
        "malformed/gltftransform__DracoSparseMesh/gltftransform__DracoSparseMesh.gltf",
        "malformed/magnum__mesh-sparse/magnum__mesh-sparse.gltf",
    ] {
        let path = shared.join(file);
        let original = std::fs::read(&path).unwrap();
        let parsed = import_file(&path, &Task::new()).unwrap().parts;
        let json = parsed.source.unwrap().json.clone();
        let n = n_values(&json);
        for case in 0..150 {
            let mut json = json.clone();
            for _ in 0..=random.below(3) {
                let mut at = 1 + random.below(n - 1);
                replace(&mut json, &mut at, &bad[random.below(bad.len())]);
            }
            let bytes = with_json(&original, &json);
            if let Err(error) = import_bytes(bytes, path.parent(), None, &Task::new()) {
                check_sentence(&error.to_string(), &format!("{file} case {case}"));
            }
        }
    }
}
