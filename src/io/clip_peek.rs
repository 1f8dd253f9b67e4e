//! Whether a model has clips, from the description in its file alone.

use super::motion_item::has_extension;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest description that is looked through, bytes: it is read between two frames.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The part of a glTF description that counts.
#[derive(Deserialize)]
struct Described {
    #[serde(default)]
    animations: Vec<IgnoredAny>,
}

/// Whether the .glb or .gltf file at `path` may have clips: `false` where its description has none or cannot be read, and for
/// files of other kinds; `true` where the description is too long to look through.
pub fn may_have_clips(path: &Path) -> bool {
    let is_binary = has_extension(path, &["glb"]);
    if !is_binary && !has_extension(path, &["gltf"]) {
        return false;
    }
    // A pipe would never end.
    let is_file = path.metadata().is_ok_and(|about| about.is_file());
    if !is_file {
        return false;
    }
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let length = if is_binary {
        // The header of the file and that of its first chunk, which is the description.
        let mut head = [0_u8; 20];
        if file.read_exact(&mut head).is_err()
            || !head.starts_with(b"glTF")
            || !head.ends_with(b"JSON")
        {
            return false;
        }
        u64::from(u32::from_le_bytes([head[12], head[13], head[14], head[15]]))
    } else {
        file.metadata().map_or(0, |about| about.len())
    };
    if length > MAX_BYTES {
        return true;
    }
    let mut text = Vec::new();
    if file.take(length).read_to_end(&mut text).is_err() {
        return false;
    }
    let described = serde_json::from_slice::<Described>(&text);
    described.is_ok_and(|described| !described.animations.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_seen_without_reading_the_model() {
        let folder = tempfile::tempdir().expect("a folder");
        let says = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).expect("a file");
            may_have_clips(&path)
        };
        let with = br#"{"asset":{"version":"2.0"},"animations":[{"channels":[]}]}"#;
        let without = br#"{"asset":{"version":"2.0"},"animations":[]}"#;
        assert!(says("a.gltf", with) && says("A.GLTF", with));
        assert!(!says("b.gltf", without) && !says("c.gltf", b"{}"));
        assert!(!says("d.obj", with) && !says("e.gltf", b"{"));
        let glb = |json: &[u8]| {
            let mut all = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
            all.extend(u32::try_from(json.len()).expect("short").to_le_bytes());
            all.extend(b"JSON");
            all.extend(json);
            // What follows is not looked at.
            all.extend([0xff; 64]);
            all
        };
        assert!(says("f.glb", &glb(with)));
        assert!(!says("g.glb", &glb(without)) && !says("h.glb", b"glTF, but not for long"));
        assert!(!may_have_clips(&folder.path().join("nowhere.glb")));
        let mut long = glb(without);
        long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(says("i.glb", &long), "too long to know");
    }
}
