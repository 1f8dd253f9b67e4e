//! Materials: what the viewport shows of them.

use super::buffers::Data;
use super::error::Fault;
use super::json::{At, or_warn};
use crate::document::Material;
use crate::finding::Finding;
use glam::{Mat2, Vec2};

/// What is done about a value that cannot be read.
const DEFAULT: &str = "The default was taken.";

/// How a material's picture is laid on: which texture coordinates, and KHR_texture_transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UvMap {
    /// TEXCOORD_n.
    pub(super) set: u64,
    offset: Vec2,
    linear: Mat2,
}

impl Default for UvMap {
    fn default() -> Self {
        Self {
            set: 0,
            offset: Vec2::ZERO,
            linear: Mat2::IDENTITY,
        }
    }
}

impl UvMap {
    /// Coordinates in the picture for those of the vertex.
    pub(super) fn apply(&self, uv: Vec2) -> Vec2 {
        self.linear * uv + self.offset
    }
}

/// Reads all materials and where each one's picture takes its coordinates from.
pub(super) fn read_all(
    data: &Data<'_>,
    findings: &mut Vec<Finding>,
) -> (Vec<Material>, Vec<UvMap>) {
    (0..data.len("materials"))
        .map(|i| read(data, &data.at("materials", i), findings))
        .unzip()
}

fn read(data: &Data<'_>, at: &At<'_>, findings: &mut Vec<Finding>) -> (Material, UvMap) {
    let mut material = Material {
        name: at.name(),
        base_color: [1.0; 4],
        base_color_image: None,
        metallic: 1.0,
        roughness: 1.0,
        double_sided: at.flag("doubleSided"),
        alpha_cutoff: None,
    };
    let mut uv_map = UvMap::default();
    if at.text("alphaMode") == Some("MASK") {
        let cutoff = or_warn(at.number("alphaCutoff"), DEFAULT, findings);
        material.alpha_cutoff = Some(cutoff.unwrap_or(0.5) as f32);
    }
    let glossy = at.extension("KHR_materials_pbrSpecularGlossiness");
    let metallic = at.get("pbrMetallicRoughness");
    let (model, color, texture) = match (&glossy, &metallic) {
        // The older model serves only where the core one is missing.
        (Some(glossy), None) => (Some(glossy), "diffuseFactor", "diffuseTexture"),
        (_, metallic) => (metallic.as_ref(), "baseColorFactor", "baseColorTexture"),
    };
    if let Some(model) = model {
        let factor = or_warn(model.vector::<4>(color), DEFAULT, findings);
        material.base_color = factor.unwrap_or([1.0; 4]).map(|x| x.clamp(0.0, 1.0) as f32);
        let mut factor = |key| {
            let number = or_warn(model.number(key), DEFAULT, findings);
            number.unwrap_or(1.0).clamp(0.0, 1.0) as f32
        };
        (material.metallic, material.roughness) =
            (factor("metallicFactor"), factor("roughnessFactor"));
        // A picture that is not shown carries the values: a dielectric is the better guess than its factor 1.
        if model.get("metallicRoughnessTexture").is_some() {
            (material.metallic, material.roughness) = (0.0, 0.6);
        }
        if let Some(texture) = model.get(texture) {
            match image_of(data, &texture) {
                Ok(image) => material.base_color_image = image.map(|i| i as u32),
                Err(fault) => findings.push(fault.warning("The material is shown without it.")),
            }
            uv_map = uv_map_of(&texture).unwrap_or_else(|fault| {
                findings.push(fault.warning(DEFAULT));
                UvMap::default()
            });
        }
    }
    if glossy.is_some() && metallic.is_none() || at.extension("KHR_materials_unlit").is_some() {
        (material.metallic, material.roughness) = (0.0, 1.0);
    }
    (material, uv_map)
}

/// The image that a texture reference shows: the core one, else that of an extension.
fn image_of(data: &Data<'_>, reference: &At<'_>) -> Result<Option<usize>, Fault> {
    let index = reference.required_index("index", "textures", data.len("textures"))?;
    let texture = data.at("textures", index);
    let n_images = data.len("images");
    if let Some(image) = texture.index("source", "images", n_images)? {
        return Ok(Some(image));
    }
    for name in ["EXT_texture_webp", "MSFT_texture_dds", "KHR_texture_basisu"] {
        if let Some(extension) = texture.extension(name) {
            return extension.index("source", "images", n_images);
        }
    }
    Ok(None)
}

fn uv_map_of(texture: &At<'_>) -> Result<UvMap, Fault> {
    let mut map = UvMap {
        set: texture.count("texCoord")?.unwrap_or(0),
        ..UvMap::default()
    };
    if let Some(transform) = texture.extension("KHR_texture_transform") {
        map.set = transform.count("texCoord")?.unwrap_or(map.set);
        let vector = |key, default: f64| -> Result<Vec2, Fault> {
            let [x, y] = transform.vector(key)?.unwrap_or([default; 2]);
            Ok(Vec2::new(x as f32, y as f32))
        };
        map.offset = vector("offset", 0.0)?;
        let scale = vector("scale", 1.0)?;
        // The extension's matrix turns clockwise in a picture whose v grows downwards.
        let (sin, cos) = transform.number("rotation")?.unwrap_or(0.0).sin_cos();
        let (sin, cos) = (sin as f32, cos as f32);
        map.linear =
            Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos)) * Mat2::from_diagonal(scale);
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texture_transforms_scale_turn_and_move() {
        let json = json!({"extensions": {"KHR_texture_transform": {
            "offset": [0.5, 0.0], "rotation": std::f64::consts::FRAC_PI_2, "scale": [2.0, 1.0], "texCoord": 1
        }}});
        let map = uv_map_of(&At::new(&json, "materials[0]")).unwrap();
        assert_eq!(map.set, 1);
        // KHR_texture_transform: translation * rotation * scale, rotation = [[cos, sin], [-sin, cos]].
        assert!(map.apply(Vec2::X).abs_diff_eq(Vec2::new(0.5, -2.0), 1e-6));
        assert!(map.apply(Vec2::Y).abs_diff_eq(Vec2::new(1.5, 0.0), 1e-6));
    }
}
