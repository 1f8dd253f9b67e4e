//! Reads materials: the properties that the viewport shows.

use super::buffers::Data;
use super::error::Fault;
use super::findings::Findings;
use super::json::{At, or_warn};
use crate::document::Material;
use crate::finding::Finding;
use glam::{Mat2, Vec2};

/// The consequence of a value that cannot be read.
const DEFAULT: &str = "The default is used.";

/// The mapping of a material's textures: the set of texture coordinates, and KHR_texture_transform.
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
    /// The texture coordinates after the transform.
    pub(super) fn apply(&self, uv: Vec2) -> Vec2 {
        self.linear * uv + self.offset
    }
}

/// Reads all materials, and the texture mapping of each.
pub(super) fn read_all(data: &Data<'_>, findings: &mut Findings) -> (Vec<Material>, Vec<UvMap>) {
    (0..data.len("materials"))
        .map(|i| read(data, &data.at("materials", i), findings))
        .unzip()
}

fn read(data: &Data<'_>, at: &At<'_>, findings: &mut Findings) -> (Material, UvMap) {
    let mut material = Material {
        name: at.name(findings),
        base_color: [1.0; 4],
        metallic: 1.0,
        roughness: 1.0,
        double_sided: at.flag("doubleSided"),
        ..Material::default()
    };
    match at.text("alphaMode") {
        Some("MASK") => {
            let cutoff = or_warn(at.number("alphaCutoff"), DEFAULT, findings);
            material.alpha_cutoff = Some(cutoff.unwrap_or(0.5) as f32);
        }
        Some("BLEND") => material.blended = true,
        _ => {}
    }
    let mut pictures = Pictures {
        data,
        uv_map: None,
        n_misfits: 0,
    };
    let glossy = at.extension("KHR_materials_pbrSpecularGlossiness");
    let metallic = or_warn(at.object("pbrMetallicRoughness"), DEFAULT, findings);
    let (model, color, texture) = match (&glossy, &metallic) {
        // The specular-glossiness extension applies only without the core model.
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
        material.base_color_image = pictures.take(model, texture, findings);
        let maps = pictures.take(model, "metallicRoughnessTexture", findings);
        material.metallic_roughness_image = maps;
        // Without the texture, the values are unknown: a dielectric is a better guess than the factor 1.
        if maps.is_none() && model.get("metallicRoughnessTexture").is_some() {
            (material.metallic, material.roughness) = (0.0, 0.6);
        }
    }
    if glossy.is_some() && metallic.is_none() {
        (material.metallic, material.roughness) = (0.0, 1.0);
        material.metallic_roughness_image = None;
    }
    if at.extension("KHR_materials_unlit").is_some() {
        material.unlit = true;
        (material.metallic, material.roughness) = (0.0, 1.0);
    }
    material.normal_image = pictures.take(at, "normalTexture", findings);
    material.normal_scale = number_of(at, "normalTexture", "scale", findings);
    material.occlusion_image = pictures.take(at, "occlusionTexture", findings);
    material.occlusion_strength =
        number_of(at, "occlusionTexture", "strength", findings).clamp(0.0, 1.0);
    material.emissive_image = pictures.take(at, "emissiveTexture", findings);
    let emissive = or_warn(at.vector::<3>("emissiveFactor"), DEFAULT, findings);
    let strength = at
        .extension("KHR_materials_emissive_strength")
        .and_then(|e| or_warn(e.number("emissiveStrength"), DEFAULT, findings));
    material.emissive = emissive
        .unwrap_or([0.0; 3])
        .map(|x| (x.clamp(0.0, 1.0) * strength.unwrap_or(1.0).clamp(0.0, 1e4)) as f32);
    if pictures.n_misfits > 0 {
        findings.push(Finding::info(
            &at.place,
            format!(
                "Some textures of {} have different texture coordinates from its first; it is shown without them.",
                at.place
            ),
        ));
    }
    (material, pictures.uv_map.unwrap_or_default())
}

/// A number of the texture reference `key`; 1 if absent.
fn number_of(at: &At<'_>, key: &str, number: &str, findings: &mut Findings) -> f32 {
    let reference = at.object(key).ok().flatten();
    let number = reference.and_then(|r| or_warn(r.number(number), DEFAULT, findings));
    number.unwrap_or(1.0) as f32
}

/// The textures of one material, which must share one mapping.
struct Pictures<'a, 'd> {
    data: &'d Data<'a>,
    /// The mapping of the first texture.
    uv_map: Option<UvMap>,
    /// The number of textures with another mapping.
    n_misfits: usize,
}

impl Pictures<'_, '_> {
    /// The image of the texture reference `owner.key`.
    fn take(&mut self, owner: &At<'_>, key: &str, findings: &mut Findings) -> Option<u32> {
        let texture = owner.get(key)?;
        let image = match image_of(self.data, &texture) {
            Ok(image) => image? as u32,
            Err(fault) => {
                findings.push(fault.warning("The material is shown without it."));
                return None;
            }
        };
        let map = uv_map_of(&texture).unwrap_or_else(|fault| {
            findings.push(fault.warning(DEFAULT));
            UvMap::default()
        });
        if *self.uv_map.get_or_insert(map) == map {
            Some(image)
        } else {
            self.n_misfits += 1;
            None
        }
    }
}

/// The image of a texture reference: the core one, otherwise that of an extension.
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
        // The extension's matrix rotates clockwise in an image whose v axis points down.
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
