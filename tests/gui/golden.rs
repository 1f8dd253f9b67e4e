//! Committed pictures keep the look in place, and facts about them say what they must show. To accept a new look:
//! SINEW_GOLDEN=write, then look at every picture in `tests/data/viewport`.

use crate::figure::Figure;
use crate::pixels::{
    bare_figure, changed_pixels, luminance, offscreen, picture, pixel, place, save,
};
use crate::window::asset;
use glam::Vec3;
use sinew::document::{Image, Material};
use sinew::math::camera::View;
use sinew::view::{BoneState, Ramp, Scene, Shading, Theme};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Small: the noise that keeps the background from banding hardly compresses.
const SIZE: [u32; 2] = [200, 150];

/// Renderers round colours differently.
const CHANNEL_TOLERANCE: u8 = 12;

/// And they place the samples of edges differently: 0.3 % of the pixels may differ.
const MAX_DIFFERENT: usize = (SIZE[0] * SIZE[1]) as usize * 3 / 1000;

/// Compares the picture of `scene` with the committed one, or commits it.
pub(crate) fn assert_golden(name: &str, scene: &Scene<'_>) {
    let image = offscreen()
        .render(scene, SIZE[0], SIZE[1])
        .unwrap_or_else(|error| panic!("{error}"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/viewport");
    let path = Path::new(folder).join(format!("{name}.png"));
    if std::env::var_os("SINEW_GOLDEN").is_some_and(|v| v == "write") {
        std::fs::create_dir_all(folder).unwrap();
        save(&path, &image);
    }
    let golden = image::open(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .to_rgba8();
    assert_eq!(golden.dimensions(), (image.width, image.height), "{name}");
    let n = n_different(golden.as_raw(), &image.rgba);
    if std::env::var_os("SINEW_PICTURES").is_some() {
        println!("{name}: {n} pixels differ");
    }
    assert!(n <= MAX_DIFFERENT, "{name}: {n} pixels differ");
}

/// Pixels of which a channel differs by more than [`CHANNEL_TOLERANCE`].
fn n_different(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len());
    let differs = |(a, b): &(&[u8], &[u8])| {
        let mut channels = a.iter().zip(*b);
        channels.any(|(a, b)| a.abs_diff(*b) > CHANNEL_TOLERANCE)
    };
    let pixels = a.chunks_exact(4).zip(b.chunks_exact(4));
    pixels.filter(differs).count()
}

/// The comparison must see the least that any two of the committed pictures differ by.
#[test]
fn every_two_committed_pictures_are_told_apart() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/viewport");
    let files = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = files.map(|f| f.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 22, "{}", paths.len());
    let read = |path: &std::path::PathBuf| image::open(path).unwrap().to_rgba8();
    let pictures: Vec<_> = paths.iter().map(read).collect();
    let mut least = (usize::MAX, 0, 0);
    for (i, a) in pictures.iter().enumerate() {
        for (j, b) in pictures.iter().enumerate().skip(i + 1) {
            // Of another size is another picture.
            if a.dimensions() == b.dimensions() {
                least = least.min((n_different(a.as_raw(), b.as_raw()), i, j));
            }
        }
    }
    let (n, i, j) = least;
    println!("least apart: {n} pixels, {:?} {:?}", paths[i], paths[j]);
    assert!(n > 2 * MAX_DIFFERENT, "{n}: {:?} {:?}", paths[i], paths[j]);
}

#[test]
fn hidden_bones_are_not_taken_for_bones_in_x_ray() {
    let mut figure = Figure::new(75.0, View::Front);
    figure.options.shading = Shading::Shaded;
    let mut drawn = |xray: bool| {
        figure.options.xray_bones = xray;
        let image = offscreen().render(&figure.scene(), SIZE[0], SIZE[1]);
        image.unwrap_or_else(|error| panic!("{error}")).rgba
    };
    let n = n_different(&drawn(true), &drawn(false));
    assert!(n > 2 * MAX_DIFFERENT, "{n} pixels differ");
}

#[test]
fn every_way_of_shading_looks_as_it_did() {
    let mut figure = Figure::new(75.0, View::ThreeQuarter);
    // Heat maps have pictures of their own, of every metric.
    let shadings = Shading::ALL.into_iter();
    for shading in shadings.filter(|s| *s != Shading::HeatMap) {
        figure.options.shading = shading;
        let name = format!("{shading:?}").to_lowercase();
        assert_golden(&name, &figure.scene());
    }
}

#[test]
fn every_theme_looks_as_it_did() {
    let mut figure = Figure::new(75.0, View::ThreeQuarter);
    figure.options.shading = Shading::Shaded;
    figure.options.wire_overlay = true;
    for theme in Theme::ALL {
        figure.options.theme = theme;
        let name = format!("theme_{theme:?}").to_lowercase();
        assert_golden(&name, &figure.scene());
    }
}

#[test]
fn every_ramp_looks_as_it_did() {
    let mut figure = bare_figure(Shading::Weights);
    for ramp in Ramp::ALL {
        figure.options.ramp = ramp;
        assert_golden(&format!("ramp_{ramp:?}").to_lowercase(), &figure.scene());
        let image = picture(&figure.scene());
        // No weight is hatched: grey where the ramp has hues, blue where it is grey.
        let none = figure.tube.weights.iter().zip(&figure.tube.positions);
        let (_, &at) = none
            .filter(|(w, _)| **w <= 0.0)
            .max_by(|a, b| a.1.z.total_cmp(&b.1.z))
            .unwrap();
        let [r, _, b] = pixel(&image, place(&figure, at));
        if ramp == Ramp::Grey {
            assert!(b > r + 15, "{r} {b}");
        } else {
            assert!(b.abs_diff(r) < 10, "{ramp:?} {r} {b}");
        }
    }
}

#[test]
fn bones_look_as_they_did_in_every_state_before_and_behind_the_skin() {
    let mut figure = Figure::new(75.0, View::Front);
    figure.options.shading = Shading::Shaded;
    figure.bones[0].colour = Some([0.30, 0.55, 0.95]);
    assert_golden("bones_xray", &figure.scene());
    figure.options.xray_bones = false;
    assert_golden("bones_hidden", &figure.scene());
    let mut scene = figure.scene();
    scene.meshes.clear();
    assert_golden("bones_bare", &scene);
}

/// Pixels around `centre` whose colour `is` so.
fn count(image: &Image, [x, y]: [u32; 2], reach: u32, is: impl Fn([u8; 3]) -> bool) -> usize {
    let row = |y| (x - reach..=x + reach).map(move |x| [x, y]);
    let all = (y - reach..=y + reach).flat_map(row);
    all.filter(|&at| is(pixel(image, at))).count()
}

#[test]
fn the_active_bone_keeps_a_light_outline_on_a_model_of_its_own_colour() {
    let mut figure = Figure::new(0.0, View::Front);
    figure.options.show_grid = false;
    figure.options.shading = Shading::Textured;
    for material in &mut figure.materials {
        material.base_color = [0.78, 0.36, 0.05, 1.0];
        material.base_color_image = None;
    }
    let bone = figure.bones[1].bone;
    let middle = place(&figure, bone.head.lerp(bone.tail, 0.3));
    let light = |[r, g, b]: [u8; 3]| r > 190 && g > 160 && b > 110;
    let active = count(&picture(&figure.scene()), middle, 16, light);
    figure.bones[1].state = BoneState::Selected;
    let selected = count(&picture(&figure.scene()), middle, 16, light);
    assert!(active > selected + 8, "{active} {selected}");
}

#[test]
fn overlapping_bones_behind_the_skin_are_not_added_up() {
    let mut figure = Figure::new(0.0, View::Front);
    figure.options.shading = Shading::Shaded;
    figure.options.show_grid = false;
    let bone = figure.bones[1].bone;
    let middle = place(&figure, bone.head.lerp(bone.tail, 0.5));
    let one = pixel(&picture(&figure.scene()), middle);
    // The same bone once more, a little behind.
    let mut behind = figure.bones[1];
    behind.bone.head.z -= 0.02;
    behind.bone.tail.z -= 0.02;
    figure.bones.push(behind);
    assert_eq!(pixel(&picture(&figure.scene()), middle), one);
}

#[test]
fn a_helper_is_dimmer_than_a_bone() {
    let mut figure = Figure::new(0.0, View::Front);
    figure.options.show_grid = false;
    figure.bones.truncate(1);
    let mut seen = |helper: bool| {
        figure.bones[0].bone.helper = helper;
        let bone = figure.bones[0].bone;
        let middle = place(&figure, bone.head.lerp(bone.tail, 0.2));
        let mut scene = figure.scene();
        scene.meshes.clear();
        luminance(pixel(&picture(&scene), [middle[0] + 2, middle[1]]))
    };
    let (bone, helper) = (seen(false), seen(true));
    assert!(bone > helper + 20.0, "{bone} {helper}");
}

#[test]
fn a_dent_and_a_bump_stand_out_in_form_shading() {
    // The tube, pressed in and pulled out on its front.
    let relief = |shading: Shading| {
        let mut figure = bare_figure(shading);
        let flat = picture(&figure.scene());
        for (i, p) in figure.tube.positions.clone().into_iter().enumerate() {
            let bump = (-(p - Vec3::new(0.0, 0.25, 0.13)).length_squared() / 0.0008).exp();
            figure.tube.positions[i] += Vec3::Z * (0.03 * bump);
        }
        let positions = &figure.tube.positions;
        let mesh = &figure.tube.mesh;
        let mut normals = vec![Vec3::ZERO; mesh.normals.len()];
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| positions[mesh.point_of_vertex[v as usize] as usize]);
            let normal = (b - a).cross(c - a);
            for v in triangle {
                normals[mesh.normal_of_vertex[*v as usize] as usize] += normal;
            }
        }
        figure.tube.normals = normals.iter().map(|n| n.normalize_or_zero()).collect();
        figure.tube.generation += 1;
        let bumped = picture(&figure.scene());
        let [x, y] = place(&figure, Vec3::new(0.0, 0.25, 0.13));
        let mut sum = 0.0;
        for at in (y - 12..y + 12).flat_map(|y| (x - 12..x + 12).map(move |x| [x, y])) {
            sum += (luminance(pixel(&flat, at)) - luminance(pixel(&bumped, at))).abs();
        }
        sum / 576.0
    };
    let (clay, form) = (relief(Shading::Shaded), relief(Shading::Form));
    assert!(form > 1.3 * clay, "form {form} clay {clay}");
}

#[test]
fn pictures_of_roughness_normals_and_light_show() {
    let mut figure = bare_figure(Shading::Textured);
    let ball = place(&figure, Vec3::new(-0.62, 0.36, 0.3));
    figure.materials[0] = Material {
        base_color: [0.5, 0.5, 0.5, 1.0],
        ..Material::default()
    };
    let plain = picture(&figure.scene());
    let one_colour = |rgba: [u8; 4]| {
        Some(Arc::new(Image {
            width: 1,
            height: 1,
            rgba: rgba.to_vec(),
        }))
    };
    let mut with = |rgba, change: &dyn Fn(&mut Material)| {
        figure.images = vec![one_colour(rgba)];
        let mut material = figure.materials[0].clone();
        change(&mut material);
        let kept = std::mem::replace(&mut figure.materials[0], material);
        let image = picture(&figure.scene());
        figure.materials[0] = kept;
        image
    };
    let glow = with([255, 0, 0, 255], &|m| {
        m.emissive = [0.5, 0.5, 0.5];
        m.emissive_image = Some(0);
    });
    let ([r, g, _], [r0, g0, _]) = (pixel(&glow, ball), pixel(&plain, ball));
    assert!(r > r0 + 30 && g.abs_diff(g0) < 3, "{r} {g} {r0} {g0}");
    // Level normals change nothing, tilted ones do.
    let level = with([128, 128, 255, 255], &|m| m.normal_image = Some(0));
    assert!(changed_pixels(&level, &plain) < 400);
    let tilted = with([220, 128, 200, 255], &|m| m.normal_image = Some(0));
    assert!(changed_pixels(&tilted, &plain) > 2000);
    let shiny = with([255, 60, 255, 255], &|m| {
        m.metallic = 1.0;
        m.roughness = 1.0;
        m.metallic_roughness_image = Some(0);
    });
    assert!(changed_pixels(&shiny, &plain) > 2000);
    let unlit = with([255; 4], &|m| m.unlit = true);
    let [r, g, b] = pixel(&unlit, ball);
    assert!(
        r.abs_diff(188) < 3 && g.abs_diff(188) < 3 && b.abs_diff(188) < 3,
        "{r} {g} {b}"
    );
    let clear = with([255; 4], &|m| {
        m.blended = true;
        m.base_color[3] = 0.3;
    });
    let opaque = luminance(pixel(&plain, ball));
    assert!(
        luminance(pixel(&clear, ball)) < opaque - 20.0,
        "the dark ground shows through"
    );
}

#[test]
fn colours_of_vertices_multiply_the_material() {
    let mut figure = bare_figure(Shading::Textured);
    let at = place(&figure, Vec3::new(0.0, 0.2, 0.13));
    let [r0, ..] = pixel(&picture(&figure.scene()), at);
    figure.tube.mesh.colors = vec![[0, 255, 255, 255]; figure.tube.mesh.n_vertices()];
    let [r, ..] = pixel(&picture(&figure.scene()), at);
    assert!(r + 60 < r0, "no red is left: {r0} {r}");
}

#[test]
fn the_command_line_draws_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for (name, flags) in [
        ("textured", vec![]),
        ("form", vec!["--shading", "form"]),
        ("light", vec!["--shading", "form", "--theme", "light"]),
        ("contrast", vec!["--theme", "high-contrast", "--bones"]),
        ("wire", vec!["--show", "shaded", "--wire", "--view", "back"]),
        ("weights", vec!["--show", "weights:1"]),
        ("rainbow", vec!["--show", "weights:1", "--ramp", "rainbow"]),
        (
            "grey",
            vec!["--show", "weights:1", "--ramp", "grey", "--view", "top"],
        ),
    ] {
        let out = folder.path().join(format!("{name}.png"));
        let done = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .arg("render")
            .arg(asset("arm.glb"))
            .args(["--size", "96x72", "-o"])
            .arg(&out)
            .args(&flags)
            .output()
            .unwrap();
        assert!(done.status.success(), "{flags:?}: {done:?}");
        let image = image::open(&out).unwrap().to_rgba8();
        assert_eq!(image.dimensions(), (96, 72));
        assert!(
            !seen.contains(image.as_raw()),
            "{name} is a picture of its own"
        );
        seen.push(image.into_raw());
    }
    let refused = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["render", "x.glb", "-o", "x.png", "--shading", "zebra"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("form"), "{said}");
}
