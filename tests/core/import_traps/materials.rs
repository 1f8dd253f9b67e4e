//! Materials and their pictures.

use super::{assert_found, load, load_clean, mesh};
use crate::gltf_builder::{Gltf, triangle};
use serde_json::{Value, json};
use sinew::io::{Imported, import_bytes};
use sinew::task::Task;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = image::RgbImage::from_pixel(width, height, image::Rgb([255, 128, 0]));
    let mut cursor = std::io::Cursor::new(&mut bytes);
    picture
        .write_to(&mut cursor, image::ImageFormat::Png)
        .unwrap();
    bytes
}

/// A triangle whose material shows `image`.
fn textured(image: &Value) -> Gltf {
    let mut gltf = triangle();
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    gltf.json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.json["images"] = json!([image]);
    gltf
}

#[test]
fn materials_have_colour_metal_roughness_sides_and_cutoff() {
    let mut gltf = triangle();
    gltf.json["materials"] = json!([
        {"name": "skin", "doubleSided": true, "alphaMode": "MASK", "pbrMetallicRoughness": {
            "baseColorFactor": [0.5, 0.25, 2, 1], "metallicFactor": 0.125, "roughnessFactor": 0.75}},
        {},
        {"pbrMetallicRoughness": "shiny", "alphaCutoff": 0.3}
    ]);
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(7);
    let (parts, findings) = load(gltf);
    let first = &parts.materials[0];
    assert_eq!(
        (first.name.as_str(), first.double_sided, first.alpha_cutoff),
        ("skin", true, Some(0.5))
    );
    assert_eq!(first.base_color, [0.5, 0.25, 1.0, 1.0]);
    assert_eq!((first.metallic, first.roughness), (0.125, 0.75));
    assert_eq!(
        (parts.materials[1].base_color, parts.materials[1].metallic),
        ([1.0; 4], 1.0)
    );
    assert_eq!(parts.materials[2].alpha_cutoff, None);
    assert_found(
        &findings,
        "materials[2].pbrMetallicRoughness should be an object.",
    );
    assert_found(&findings, "The index 7 of meshes[0].primitives[0].material");
    assert_eq!(mesh(&parts, 0).geometry.primitives[0].material, None);
}

#[test]
fn pictures_come_from_views_data_uris_and_files() {
    use base64::Engine;
    let mut in_view = textured(&json!({}));
    let view = in_view.view(&png(3, 2));
    in_view.json["images"][0] = json!({"bufferView": view, "mimeType": "image/png"});
    let data = base64::engine::general_purpose::STANDARD.encode(png(3, 2));
    let in_uri = textured(&json!({"uri": format!("data:image/png;base64,{data}")}));
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tex")).unwrap();
    std::fs::write(folder.path().join("tex/my skin.png"), png(3, 2)).unwrap();
    let in_file = textured(&json!({"uri": "tex/my%20skin.png"}));
    for gltf in [in_view, in_uri, in_file] {
        let Imported { parts, findings } =
            import_bytes(gltf.glb(), Some(folder.path()), None, &Task::new()).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
        let image = parts.images[0].as_ref().unwrap();
        assert_eq!((image.width, image.height), (3, 2));
        assert_eq!(image.rgba[..4], [255, 128, 0, 255]);
        assert_eq!(parts.materials[0].base_color_image, Some(0));
    }
}

#[test]
fn textures_of_extensions_are_found() {
    for extension in ["EXT_texture_webp", "MSFT_texture_dds"] {
        let mut gltf = textured(&json!({}));
        let view = gltf.view(&png(1, 1));
        gltf.json["images"] = json!([{"uri": "unused.png"}, {"bufferView": view}]);
        gltf.json["textures"] = json!([{"extensions": {extension: {"source": 1}}}]);
        let parts = load_clean(gltf);
        assert_eq!(parts.materials[0].base_color_image, Some(1));
        assert!(parts.images[0].is_none() && parts.images[1].is_some());
    }
}

#[test]
fn pictures_that_cannot_be_shown_are_reported() {
    let mut ktx = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    ktx.resize(80, 0);
    let cut = png(64, 64);
    for (bytes, words) in [
        (&ktx[..], "KTX2"),
        (b"GIF89a or so", "cannot be decoded"),
        (&cut[..cut.len() / 2], "cannot be decoded"),
    ] {
        let mut gltf = textured(&json!({}));
        let view = gltf.view(bytes);
        gltf.json["images"][0] = json!({"bufferView": view});
        let (parts, findings) = load(gltf);
        assert!(parts.images[0].is_none());
        assert_found(&findings, words);
    }
    let (_, findings) = load(textured(&json!({"uri": "https://example.org/a.png"})));
    assert_found(&findings, "only files beside the model can be read");
}

#[test]
fn a_small_file_with_a_huge_picture_is_shown_smaller_or_not_at_all() {
    // The first takes 48 MiB while it is decoded, which leaves no room for its full size; the second 192 MiB.
    for (side, shown) in [(4096, Some(1024)), (8192, None)] {
        let mut gltf = textured(&json!({}));
        let view = gltf.view(&png(side, side));
        gltf.json["images"][0] = json!({"bufferView": view});
        let (parts, findings) = load(gltf);
        assert_eq!(parts.images[0].as_ref().map(|i| i.width), shown);
        assert_eq!(findings.len(), 1, "{findings:?}");
    }
}

#[test]
fn materials_have_maps_own_light_and_transparency() {
    let mut gltf = textured(&json!({}));
    let view = gltf.view(&png(2, 2));
    gltf.json["images"][0] = json!({"bufferView": view});
    gltf.json["materials"] = json!([{
        "alphaMode": "BLEND",
        "pbrMetallicRoughness": {
            "baseColorTexture": {"index": 0},
            "metallicRoughnessTexture": {"index": 0},
            "metallicFactor": 0.5
        },
        "normalTexture": {"index": 0, "scale": 0.5},
        "occlusionTexture": {"index": 0, "strength": 0.25},
        "emissiveTexture": {"index": 0, "texCoord": 1},
        "emissiveFactor": [1, 0.5, 0],
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 2}}
    }, {"extensions": {"KHR_materials_unlit": {}}}]);
    let (parts, findings) = load(gltf);
    let material = &parts.materials[0];
    assert!(material.blended && !material.unlit && parts.materials[1].unlit);
    assert_eq!((material.metallic, material.roughness), (0.5, 1.0));
    assert_eq!(material.metallic_roughness_image, Some(0));
    assert_eq!(
        (material.normal_image, material.normal_scale),
        (Some(0), 0.5)
    );
    assert_eq!(
        (material.occlusion_image, material.occlusion_strength),
        (Some(0), 0.25)
    );
    assert_eq!(
        (material.emissive_image, material.emissive),
        (None, [2.0, 1.0, 0.0])
    );
    assert_found(&findings, "different texture coordinates");
}

#[test]
fn colours_of_vertices_are_read_and_bad_ones_left_out() {
    let mut gltf = triangle();
    let bytes = [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 64, 128];
    let colors = gltf.u8s("VEC4", &bytes);
    let colors = gltf.normalized(colors);
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(colors);
    let parts = load_clean(gltf);
    let colors = &mesh(&parts, 0).geometry.colors;
    assert_eq!(colors[0], [255, 0, 0, 255]);
    assert_eq!(
        colors[2],
        [0, 0, 128, 128],
        "a quarter of the light is half of the byte"
    );

    let mut gltf = triangle();
    let colors = gltf.f32s("SCALAR", &[1.0, 1.0, 1.0]);
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(colors);
    let (parts, findings) = load(gltf);
    assert!(mesh(&parts, 0).geometry.colors.is_empty() && !findings.is_empty());
}
