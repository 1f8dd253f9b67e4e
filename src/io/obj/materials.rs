//! The materials of a Wavefront OBJ file (.mtl), converted to glTF. A value that is not a number gets its default.

use crate::finding::Finding;
use crate::io::gltf_export::uri_of;
use crate::io::read::{MAX_SMALL_BYTES, read_file};
use crate::sentence::shortened_name;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The largest number of characters of a name in a sentence.
const NAME_LENGTH: usize = 60;

/// The largest `Ns` (shininess) of the format.
const MAX_SHININESS: f32 = 1000.0;

/// A material of a library.
#[derive(Clone, Debug, Default)]
struct Material {
    colour: Option<[f32; 3]>,
    emissive: Option<[f32; 3]>,
    alpha: Option<f32>,
    shininess: Option<f32>,
    roughness: Option<f32>,
    metallic: Option<f32>,
    /// The files of `map_Kd`, `map_Ke` and `norm`, relative to the model's folder.
    maps: [Option<String>; 3],
}

/// The keys of `Material::maps`.
const MAPS: [&str; 3] = ["map_Kd", "map_Ke", "norm"];

/// The root lists of a glTF file with the materials `names`, in this order, from `libraries` beside the model in `folder`.
/// One that no library has is white.
pub(super) fn materials_json(
    names: &[String],
    libraries: &[String],
    folder: &Path,
    found: &mut Vec<Finding>,
) -> Value {
    let mut known = HashMap::new();
    for library in libraries {
        read_library(folder, library, &mut known, found);
    }
    let missing: Vec<&String> = names.iter().filter(|n| !known.contains_key(*n)).collect();
    if let Some(first) = missing.first() {
        let (first, n) = (shortened_name(first, NAME_LENGTH), missing.len());
        let text = match n {
            1 => format!("No file defines the material “{first}”: it is white."),
            _ => format!(
                "No file defines “{first}” and {} other materials: they are white.",
                n - 1
            ),
        };
        found.push(Finding::warning("usemtl", text));
    }
    let mut images = Images::default();
    let materials: Vec<Value> = names
        .iter()
        .map(|name| {
            let material = known.get(name).cloned().unwrap_or_default();
            material.json(name, &mut images)
        })
        .collect();
    let sources = 0..images.uris.len();
    json!({
        "materials": materials,
        "textures": sources.map(|i| json!({"source": i})).collect::<Vec<_>>(),
        "images": images.uris.iter().map(|uri| json!({"uri": uri})).collect::<Vec<_>>(),
    })
}

/// Adds the materials of a library, or of several whose names stand in one line.
fn read_library(
    folder: &Path,
    library: &str,
    known: &mut HashMap<String, Material>,
    found: &mut Vec<Finding>,
) {
    let library = library.replace('\\', "/");
    let names: Vec<&str> = if folder.join(&library).is_file() {
        vec![&library]
    } else {
        library.split_whitespace().collect()
    };
    for name in names {
        let path = Path::new(name);
        match read_file(&folder.join(path), MAX_SMALL_BYTES) {
            Ok(bytes) => {
                let beside = path.parent().unwrap_or(Path::new(""));
                read_materials(&String::from_utf8_lossy(&bytes), folder, beside, known);
            }
            Err(why) => {
                let place = format!("mtllib {}", shortened_name(name, NAME_LENGTH));
                let text = format!("The file of materials could not be read: {why}.");
                found.push(Finding::warning(place, text));
            }
        }
    }
}

/// `beside`: the folder of the library, relative to `folder`.
fn read_materials(text: &str, folder: &Path, beside: &Path, known: &mut HashMap<String, Material>) {
    let mut current = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim();
        let Some(key) = line.split_whitespace().next() else {
            continue;
        };
        let rest = line[key.len()..].trim();
        if key == "newmtl" {
            known.insert(rest.to_owned(), Material::default());
            current = known.get_mut(rest);
            continue;
        }
        let Some(material) = &mut current else {
            continue;
        };
        let number = || rest.parse::<f32>().ok().filter(|x| x.is_finite());
        match key {
            "Kd" => material.colour = colour(rest),
            "Ke" => material.emissive = colour(rest),
            "d" => material.alpha = number(),
            "Tr" => material.alpha = number().map(|t| 1.0 - t),
            "Ns" => material.shininess = number(),
            "Pr" => material.roughness = number(),
            "Pm" => material.metallic = number(),
            _ => {
                if let Some(map) = MAPS.iter().position(|map| *map == key) {
                    material.maps[map] = file_of(rest, folder, beside);
                }
            }
        }
    }
}

impl Material {
    fn json(&self, name: &str, images: &mut Images) -> Value {
        let share = |x: Option<f32>, default: f32| x.unwrap_or(default).clamp(0.0, 1.0);
        let alpha = share(self.alpha, 1.0);
        let textures = self.maps.each_ref().map(|map| {
            let uri = map.as_deref()?;
            Some(json!({"index": images.index(uri)}))
        });
        let [base, emission, normal] = textures;
        // A picture is the colour, as in other programs.
        let white = base.is_some() || self.colour.is_none();
        let [r, g, b] = self.colour.filter(|_| !white).unwrap_or([1.0; 3]);
        // The formula by which Blender reads `Ns`.
        let shininess = self.shininess.unwrap_or(0.0).clamp(0.0, MAX_SHININESS);
        let rough = share(self.roughness, 1.0 - (shininess / MAX_SHININESS).sqrt());
        let mut surface = json!({
            "baseColorFactor": [r, g, b, alpha],
            "metallicFactor": share(self.metallic, 0.0),
            "roughnessFactor": rough,
        });
        if let Some(texture) = base {
            surface["baseColorTexture"] = texture;
        }
        let mut out = json!({"name": name, "pbrMetallicRoughness": surface});
        if alpha < 1.0 {
            out["alphaMode"] = json!("BLEND");
        }
        let glow = if emission.is_some() {
            [1.0; 3]
        } else {
            [0.0; 3]
        };
        let glow = self.emissive.filter(|e| *e != [0.0; 3]).unwrap_or(glow);
        if glow != [0.0; 3] {
            out["emissiveFactor"] = json!(glow);
        }
        if let Some(texture) = emission {
            out["emissiveTexture"] = texture;
        }
        if let Some(texture) = normal {
            out["normalTexture"] = texture;
        }
        out
    }
}

/// The images of all materials, each once.
#[derive(Default)]
struct Images {
    uris: Vec<String>,
    index: HashMap<String, usize>,
}

impl Images {
    fn index(&mut self, file: &str) -> usize {
        let next = self.uris.len();
        let index = *self.index.entry(file.to_owned()).or_insert(next);
        if index == next {
            self.uris.push(uri_of(file));
        }
        index
    }
}

/// One number or three, 0 - 1; `None` where they are not numbers.
fn colour(text: &str) -> Option<[f32; 3]> {
    let mut words = text.split_whitespace().map(|word| word.parse::<f32>().ok());
    let first = words.next()??;
    let others = [words.next(), words.next()].map(|other| other.flatten().unwrap_or(first));
    let rgb = [first, others[0], others[1]];
    let finite = rgb.iter().all(|c| c.is_finite());
    finite.then(|| rgb.map(|c| c.clamp(0.0, 1.0)))
}

/// The file that a map names after its options, such as `-s 1 1 1` and `-clamp on`: as it is written, or, where there is
/// no such file, with its name alone beside the library or the model, since paths of other machines are common.
fn file_of(map: &str, folder: &Path, beside: &Path) -> Option<String> {
    let mut rest = map;
    let mut after_option = false;
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let is_number = word.parse::<f32>().is_ok();
        let is_value = is_number || word == "on" || word == "off" || word.len() == 1;
        if !(word.starts_with('-') && !is_number || after_option && is_value) {
            break;
        }
        after_option = true;
        rest = after.trim_start();
    }
    if rest.is_empty() {
        return None;
    }
    let written = rest.replace('\\', "/");
    let name = written.rsplit('/').next().unwrap_or_default();
    let is_relative = !written.starts_with('/') && !written.contains(':');
    let there = |file: &PathBuf| folder.join(file).is_file();
    let as_written = is_relative.then(|| beside.join(&written));
    let mut candidates = as_written
        .clone()
        .into_iter()
        .chain([beside.join(name), PathBuf::from(name)]);
    let file = candidates.find(there).or(as_written);
    let file = file.unwrap_or_else(|| PathBuf::from(name));
    let file = file.to_str()?.replace('\\', "/");
    (!file.is_empty()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_left_out() {
        let text =
            "newmtl a\nKd .5\nKe\nKa\nNs x\nillum\nnewmtl b\nKd spectral a.rfl\nTr .25\nPm nan\n";
        let mut known = HashMap::new();
        let nowhere = Path::new("");
        read_materials(text, nowhere, nowhere, &mut known);
        assert_eq!(known["a"].colour, Some([0.5; 3]));
        assert_eq!(known["a"].emissive, None);
        let b = known["b"].json("b", &mut Images::default());
        assert_eq!(
            b["pbrMetallicRoughness"]["baseColorFactor"],
            json!([1., 1., 1., 0.75])
        );
        assert_eq!(b["alphaMode"], "BLEND");
    }

    #[test]
    fn maps_are_found_beside_the_library_and_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let (root, beside) = (folder.path(), Path::new("mats"));
        std::fs::create_dir(root.join("mats")).unwrap();
        std::fs::write(root.join("mats/oak.png"), "").unwrap();
        std::fs::write(root.join("my wood.png"), "").unwrap();
        let file = |map: &str| file_of(map, root, beside).unwrap_or_default();
        assert_eq!(file("oak.png"), "mats/oak.png");
        assert_eq!(
            file("-s 1 1 1 -clamp on C:\\tex\\my wood.png"),
            "my wood.png"
        );
        assert_eq!(file("/home/other/oak.png"), "mats/oak.png");
        assert_eq!(file("gone.png"), "mats/gone.png");
        assert_eq!(file("C:\\gone.png"), "gone.png");
        assert_eq!(file(""), "");
    }
}
