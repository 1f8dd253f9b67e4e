//! What the viewport's pictures show, from a real OpenGL context without a window.

use crate::figure::Figure;
use glam::Vec3;
use sinew::document::Image;
use sinew::math::bounding_box::{EDGES, bounding_box};
use sinew::math::camera::View;
use sinew::view::{
    Offscreen, OffscreenError, PixelRect, Ramp, RenderError, Renderer, Scene, SceneMesh, Shading,
    Theme, WindowlessGl,
};

pub(crate) const SIZE: [u32; 2] = [320, 240];

/// A renderer, or a failure that says in a sentence what the machine lacks.
pub(crate) fn offscreen() -> Offscreen {
    Offscreen::new().unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn picture(scene: &Scene<'_>) -> Image {
    offscreen()
        .render(scene, SIZE[0], SIZE[1])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Bent by 75 degrees, seen from the front, without bones and grid.
pub(crate) fn bare_figure(shading: Shading) -> Figure {
    let mut figure = Figure::new(75.0, View::Front);
    figure.options.shading = shading;
    figure.options.show_bones = false;
    figure.options.show_grid = false;
    figure
}

/// Where `point` lies in a picture of SIZE, from the top left.
pub(crate) fn place(figure: &Figure, point: Vec3) -> [u32; 2] {
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let ndc = figure.camera.clip_from_world(aspect).project_point3(point);
    let unit = [0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y];
    std::array::from_fn(|i| ((unit[i] * SIZE[i] as f32) as u32).min(SIZE[i] - 1))
}

pub(crate) fn pixel(image: &Image, [x, y]: [u32; 2]) -> [u8; 3] {
    let start = ((y * image.width + x) * 4) as usize;
    assert_eq!(image.rgba[start + 3], 255, "pictures are opaque");
    [0, 1, 2].map(|c| image.rgba[start + c])
}

/// The largest difference of a channel.
pub(crate) fn gap(a: [u8; 3], b: [u8; 3]) -> u8 {
    let gaps: [u8; 3] = std::array::from_fn(|c| a[c].abs_diff(b[c]));
    gaps.into_iter().max().unwrap_or(0)
}

pub(crate) fn luminance([r, g, b]: [u8; 3]) -> f32 {
    0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b)
}

/// The direction of a colour in linear light: what shading leaves as it is.
fn hue(srgb: [f32; 3]) -> Vec3 {
    Vec3::from(srgb.map(|c| c.powf(2.2))).normalize_or_zero()
}

pub(crate) fn changed_pixels(a: &Image, b: &Image) -> usize {
    let (a, b) = (a.rgba.chunks_exact(4), b.rgba.chunks_exact(4));
    a.zip(b)
        .filter(|(a, b)| gap([a[0], a[1], a[2]], [b[0], b[1], b[2]]) > 4)
        .count()
}

#[test]
fn the_background_is_the_themes_gradient() {
    let mut figure = bare_figure(Shading::Textured);
    for (theme, top, bottom) in [
        (Theme::Dark, [0x44, 0x47, 0x4C], [0x2A, 0x2C, 0x2F]),
        (Theme::Light, [0xE9, 0xEB, 0xEE], [0xC4, 0xC8, 0xCD]),
        (Theme::HighContrast, [0x0C, 0x0C, 0x0C], [0, 0, 0]),
    ] {
        figure.options.theme = theme;
        let image = picture(&figure.scene());
        for x in [0, SIZE[0] - 1] {
            assert!(gap(pixel(&image, [x, 0]), top) <= 2, "{theme:?} top");
            let low = pixel(&image, [x, SIZE[1] - 1]);
            assert!(gap(low, bottom) <= 2, "{theme:?} bottom");
        }
    }
}

#[test]
fn the_key_light_comes_from_the_upper_left() {
    let figure = bare_figure(Shading::Shaded);
    let image = picture(&figure.scene());
    let ball = Vec3::new(-0.62, 0.36, 0.0);
    let towards = |x: f32, y: f32| {
        let surface = ball + Vec3::new(x, y, 0.0) * 0.2 + Vec3::Z * 0.2;
        luminance(pixel(&image, place(&figure, surface)))
    };
    let (lit, dark) = (towards(-0.7, 0.7), towards(0.7, -0.7));
    assert!(lit > dark + 40.0, "{lit} against {dark}");
    assert!(dark > 40.0, "the shade is not black: {dark}");
}

#[test]
fn the_first_row_of_an_image_is_at_v_zero() {
    let mut figure = bare_figure(Shading::Textured);
    figure.camera.pitch = 1.5;
    // Beside the pole, where the texture is not squeezed to a point.
    figure.camera.frame(Vec3::new(-0.57, 0.68, 0.0), 0.04);
    let [r, g, b] = pixel(&picture(&figure.scene()), [SIZE[0] / 2, SIZE[1] / 2]);
    assert!(r > 2 * g && r > 2 * b, "the pole is red: {r} {g} {b}");
}

#[test]
fn weights_show_as_the_ramp_and_zero_as_hatched_grey() {
    let figure = bare_figure(Shading::Weights);
    let image = picture(&figure.scene());
    let tube = &figure.tube;
    // Points that face the camera, so that nothing hides them.
    let facing = |range: std::ops::Range<f32>| {
        let best = (0..tube.positions.len())
            .filter(|&p| range.contains(&tube.weights[p]))
            .max_by(|&a, &b| tube.positions[a].z.total_cmp(&tube.positions[b].z));
        best.expect("the tube has all weights")
    };
    for range in [0.99..1.01, 0.6..0.85, 0.35..0.65, 0.1..0.35] {
        let point = facing(range);
        let shown = pixel(&image, place(&figure, tube.positions[point]));
        let expected = Ramp::Perceptual
            .color(tube.weights[point])
            .expect("a weight above zero");
        let alike = hue(shown.map(|c| f32::from(c) / 255.0)).dot(hue(expected));
        assert!(
            alike > 0.98,
            "weight {}: {shown:?} against {expected:?}",
            tube.weights[point]
        );
    }
    let [x, y] = place(&figure, tube.positions[facing(-0.01..1e-6)]);
    let row: Vec<[u8; 3]> = (x - 12..x + 12).map(|x| pixel(&image, [x, y])).collect();
    assert!(
        row.iter()
            .all(|&[r, g, b]| r.abs_diff(g) < 8 && g.abs_diff(b) < 8)
    );
    let light = |p: &&[u8; 3]| luminance(**p);
    let low = row.iter().map(|p| light(&p)).fold(f32::INFINITY, f32::min);
    let high = row.iter().map(|p| light(&p)).fold(0.0, f32::max);
    assert!(high > low + 10.0, "stripes from {low} to {high}");
}

#[test]
fn a_mesh_without_weights_is_hatched_all_over() {
    let figure = bare_figure(Shading::Weights);
    let mut scene = figure.scene();
    for mesh in &mut scene.meshes {
        mesh.weights = None;
    }
    let image = picture(&scene);
    let grey = |p: &[u8]| p[0].abs_diff(p[1]) < 10 && p[1].abs_diff(p[2]) < 14;
    assert!(image.rgba.chunks_exact(4).all(grey));
}

#[test]
fn wire_shows_lines_and_the_overlay_adds_them() {
    let row_of = |figure: &Figure| {
        let image = picture(&figure.scene());
        let [x, y] = place(figure, Vec3::new(-0.62, 0.33, 0.33));
        let row: Vec<f32> = (x - 30..x + 30)
            .map(|x| luminance(pixel(&image, [x, y])))
            .collect();
        row.windows(3)
            .filter(|w| (w[1] - w[0].min(w[2])) > 12.0 || (w[0].max(w[2]) - w[1]) > 12.0)
            .count()
    };
    let mut figure = bare_figure(Shading::Shaded);
    let plain = row_of(&figure);
    figure.options.wire_overlay = true;
    let overlaid = row_of(&figure);
    figure.options.shading = Shading::Wire;
    let wire = row_of(&figure);
    assert!(
        plain < 3 && overlaid > 12 && wire > 12,
        "{plain} {overlaid} {wire}"
    );
}

#[test]
fn bones_show_through_the_mesh_dimmed_and_only_if_asked() {
    let mut figure = bare_figure(Shading::Shaded);
    let without = picture(&figure.scene());
    figure.options.show_bones = true;
    let with = picture(&figure.scene());
    figure.options.xray_bones = false;
    let hidden = picture(&figure.scene());
    // The active bone lies inside of the bent half of the tube; beside its middle edge.
    let bone = figure.bones[1].bone;
    let inside = place(
        &figure,
        bone.head.lerp(bone.tail, 0.3) + Vec3::Y * bone.radius * 0.3,
    );
    let [r, g, b] = pixel(&with, inside);
    assert!(r > g + 15 && g > b + 15, "amber: {r} {g} {b}");
    assert_eq!(pixel(&hidden, inside), pixel(&without, inside));

    // In front of everything they are opaque and so more colourful.
    let scene = Scene {
        meshes: Vec::new(),
        ..figure.scene()
    };
    let [bare_r, _, bare_b] = pixel(&picture(&scene), inside);
    assert!(bare_r.abs_diff(bare_b) > r.abs_diff(b) + 20);
}

#[test]
fn the_grid_has_a_red_and_a_blue_axis_and_lies_behind_the_model() {
    let mut figure = bare_figure(Shading::Textured);
    figure.camera.yaw = 0.6;
    figure.camera.pitch = 0.5;
    let without = picture(&figure.scene());
    figure.options.show_grid = true;
    let with = picture(&figure.scene());
    let on_ball = place(&figure, Vec3::new(-0.62, 0.36, 0.3));
    assert_eq!(pixel(&with, on_ball), pixel(&without, on_ball));

    figure.camera.frame(Vec3::ZERO, 1.0);
    let empty = picture(&Scene {
        meshes: Vec::new(),
        ..figure.scene()
    });
    let [r, g, b] = pixel(&empty, place(&figure, Vec3::new(0.45, 0.0, 0.0)));
    assert!(r > g + 30 && r > b + 30, "X: {r} {g} {b}");
    let [r, g, b] = pixel(&empty, place(&figure, Vec3::new(0.0, 0.0, 0.45)));
    assert!(b > r + 30 && b > g + 15, "Z: {r} {g} {b}");
}

#[test]
fn boxes_are_lines_around_what_is_not_shown() {
    let figure = bare_figure(Shading::Shaded);
    let corners = [Vec3::new(-0.6, 0.1, -0.2), Vec3::new(-0.1, 0.5, 0.2)];
    let corners = bounding_box(&corners).unwrap();
    let [without, with] = [Vec::new(), vec![corners]].map(|boxes| {
        picture(&Scene {
            meshes: Vec::new(),
            boxes: &boxes,
            ..figure.scene()
        })
    });
    let changes = |[x, y]: [u32; 2]| gap(pixel(&with, [x, y]), pixel(&without, [x, y])) > 10;
    for [a, b] in EDGES {
        let middle = corners[a as usize].midpoint(corners[b as usize]);
        let [x, y] = place(&figure, middle);
        let mut around = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| [x, y]));
        assert!(around.any(changes), "{middle}");
    }
    let all = (0..SIZE[0]).flat_map(|x| (0..SIZE[1]).map(move |y| [x, y]));
    let n = all.filter(|at| changes(*at)).count();
    assert!(n > 100 && n < (SIZE[0] * SIZE[1] / 10) as usize, "{n}");
    // The model hides what is behind it.
    let behind = bounding_box(&[Vec3::new(-0.7, 0.3, -0.3), Vec3::new(-0.6, 0.4, -0.2)]).unwrap();
    let hidden = picture(&Scene {
        boxes: &[behind],
        ..figure.scene()
    });
    assert!(hidden == picture(&figure.scene()), "a box within the ball");
}

#[test]
fn boxes_show_objects_that_would_overdraw_the_picture_beside_those_of_the_scene() {
    let mut figure = bare_figure(Shading::Shaded);
    figure.camera.frame(Vec3::new(-0.62, 0.36, 0.0), 0.6);
    let copies: Vec<Vec<Vec3>> = (0..300)
        .map(|i| {
            let shift = Vec3::X * 1e-5 * i as f32;
            figure.ball.positions.iter().map(|p| p + shift).collect()
        })
        .collect();
    let scene_of = |n: usize| {
        let mut scene = figure.scene();
        let ball = scene.meshes[0];
        let meshes = (0..).zip(&copies[..n]).map(|(key, positions)| SceneMesh {
            key,
            positions,
            ..ball
        });
        scene.meshes = meshes.collect();
        scene
    };
    assert!(scene_of(300).n_boxed(SIZE[0], SIZE[1]) > 100);
    let corner = Vec3::new(-1.2, 0.36, 0.0);
    let own = [bounding_box(&[corner, corner + Vec3::splat(0.04)]).unwrap()];
    let [few, many] = [64, 300].map(|n| {
        picture(&Scene {
            boxes: &own,
            ..scene_of(n)
        })
    });
    let without = picture(&scene_of(64));
    let differs = |a: &Image, b: &Image, point: Vec3| {
        let [x, y] = place(&figure, point);
        let mut around = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| [x, y]));
        around.any(|at| gap(pixel(a, at), pixel(b, at)) > 10)
    };
    // The front corners of the ball's box lie in front of the background, and the scene's own box lies beside them.
    let corners = bounding_box(&copies[299]).unwrap();
    assert!(differs(&few, &many, corners[4]) && differs(&few, &many, corners[7]));
    assert!(differs(&without, &few, own[0][0]) && differs(&without, &many, own[0][0]));
}

#[test]
fn an_unchanged_scene_costs_no_draw() {
    let mut offscreen = offscreen();
    let mut figure = bare_figure(Shading::Textured);
    let renderer = offscreen.renderer().unwrap();
    assert!(renderer.draw(0, &figure.scene(), SIZE, 1).unwrap());
    assert!(!renderer.draw(0, &figure.scene(), SIZE, 1).unwrap());
    assert_eq!(renderer.n_pictures(), 1);
    assert!(renderer.draw(0, &figure.scene(), SIZE, 2).unwrap());
    assert!(renderer.draw(0, &figure.scene(), [64, 48], 2).unwrap());
    figure.camera.yaw += 0.1;
    assert!(renderer.draw(0, &figure.scene(), [64, 48], 2).unwrap());
    figure.options.shading = Shading::Shaded;
    assert!(renderer.draw(0, &figure.scene(), [64, 48], 2).unwrap());
    assert!(!renderer.draw(0, &figure.scene(), [0, 48], 3).unwrap());
    assert_eq!(renderer.n_pictures(), 5);
}

#[test]
fn new_positions_show_when_their_generation_changes() {
    let mut offscreen = offscreen();
    let mut figure = bare_figure(Shading::Shaded);
    let mut render = |figure: &Figure| offscreen.render(&figure.scene(), SIZE[0], SIZE[1]).unwrap();
    let before = render(&figure);
    for p in &mut figure.tube.positions {
        p.x += 0.1;
    }
    assert_eq!(
        render(&figure),
        before,
        "the same generation is not uploaded"
    );
    figure.tube.generation += 1;
    assert!(changed_pixels(&render(&figure), &before) > 500);
}

#[test]
fn samples_smooth_the_outline_and_nothing_else() {
    let mut figure = bare_figure(Shading::Shaded);
    let smooth = picture(&figure.scene());
    figure.options.samples = 0;
    let plain = picture(&figure.scene());
    let changed = changed_pixels(&smooth, &plain);
    assert!((100..4000).contains(&changed), "{changed}");
    let inside = place(&figure, Vec3::new(-0.62, 0.36, 0.3));
    assert!(gap(pixel(&smooth, inside), pixel(&plain, inside)) <= 3);
}

#[test]
fn a_mesh_turned_inside_out_has_no_holes_and_is_darker() {
    let mut figure = bare_figure(Shading::Shaded);
    let inside = place(&figure, Vec3::new(-0.62, 0.36, 0.3));
    let outside = luminance(pixel(&picture(&figure.scene()), inside));
    for t in &mut figure.ball.mesh.triangles {
        t.swap(0, 1);
    }
    let reversed = luminance(pixel(&picture(&figure.scene()), inside));
    assert!(
        (reversed - outside).abs() < 2.0,
        "winding alone changes nothing, as on mirrored meshes"
    );
    for n in &mut figure.ball.normals {
        *n = -*n;
    }
    let turned = luminance(pixel(&picture(&figure.scene()), inside));
    assert!(
        turned < outside - 20.0 && turned > 30.0,
        "{turned} against {outside}"
    );
}

#[test]
fn a_highlighted_mesh_has_an_amber_outline() {
    let figure = bare_figure(Shading::Shaded);
    let plain = picture(&figure.scene());
    let mut scene = figure.scene();
    scene.meshes[0].highlighted = true;
    let marked = picture(&scene);
    // Where it turns away at its lower left; its middle hardly changes.
    let edge = place(
        &figure,
        Vec3::new(-0.62, 0.36, 0.0) + Vec3::new(-0.7, -0.7, 0.1) * 0.31,
    );
    let [r, g, b] = pixel(&marked, edge);
    assert!(r > g + 15 && g > b + 15, "{r} {g} {b}");
    let middle = place(&figure, Vec3::new(-0.62, 0.36, 0.33));
    assert!(gap(pixel(&marked, middle), pixel(&plain, middle)) < 30);
    let tube = place(&figure, Vec3::new(0.0, 0.2, 0.13));
    assert_eq!(pixel(&marked, tube), pixel(&plain, tube));
}

#[test]
fn both_projections_show_the_target_at_the_same_size() {
    let mut figure = bare_figure(Shading::Wire);
    let background = pixel(&picture(&figure.scene()), [0, SIZE[1] / 2]);
    let mut extent = |orthographic| {
        figure.camera.orthographic = orthographic;
        let image = picture(&figure.scene());
        let row = (0..SIZE[0]).map(|x| pixel(&image, [x, SIZE[1] / 2]));
        row.filter(|&p| gap(p, background) > 12).count()
    };
    let (perspective, parallel) = (extent(false), extent(true));
    assert!(
        perspective.abs_diff(parallel) < 20,
        "{perspective} {parallel}"
    );
}

#[test]
fn a_picture_is_painted_into_the_framebuffer_that_was_bound() {
    use three_d::{ClearState, Context, Interpolation, Texture2D, Wrapping};
    let gl = WindowlessGl::new().unwrap_or_else(|error| panic!("{error}"));
    let context = Context::from_gl_context(gl.gl()).unwrap();
    let mut renderer = Renderer::new(gl.gl()).unwrap();
    let figure = bare_figure(Shading::Shaded);
    let window = Texture2D::new_empty::<[u8; 4]>(
        &context,
        200,
        100,
        Interpolation::Nearest,
        Interpolation::Nearest,
        None,
        Wrapping::ClampToEdge,
        Wrapping::ClampToEdge,
    );
    let rect = |x, y, width, height| PixelRect {
        x,
        y,
        width,
        height,
    };
    let target = window.as_color_target(None);
    target.clear(ClearState::color(1.0, 0.0, 1.0, 1.0));
    target
        .write(|| {
            // The second needs the binding that the first leaves, and is clipped to its left half.
            renderer.paint(
                0,
                &figure.scene(),
                rect(10, 20, 80, 60),
                rect(0, 0, 200, 100),
                1,
            )?;
            renderer.paint(
                0,
                &figure.scene(),
                rect(110, 20, 80, 60),
                rect(0, 0, 150, 100),
                1,
            )?;
            renderer.paint(
                0,
                &figure.scene(),
                rect(300, 20, 80, 60),
                rect(0, 0, 200, 100),
                1,
            )
        })
        .unwrap();
    assert_eq!(renderer.n_pictures(), 1, "the same picture in two places");
    let pixels: Vec<[u8; 4]> = target.read();
    let painted = |x: usize, y: usize| pixels[y * 200 + x] != [255, 0, 255, 255];
    let count = (0..200 * 100).filter(|i| painted(i % 200, i / 200)).count();
    assert_eq!(count, 80 * 60 + 40 * 60);
    // three-d reads rows from the top: 20 from the bottom is 20 from the top of 100 with 60 between.
    for (x, y, expected) in [
        (10, 20, true),
        (89, 79, true),
        (9, 50, false),
        (149, 50, true),
        (150, 50, false),
    ] {
        assert_eq!(painted(x, y), expected, "{x} {y}");
    }
}

#[test]
fn buffers_of_meshes_that_are_gone_are_freed() {
    let mut offscreen = offscreen();
    let mut figure = bare_figure(Shading::Shaded);
    figure.options.samples = 0;
    let renderer = offscreen.renderer().unwrap();
    renderer.draw(0, &figure.scene(), [8, 8], 0).unwrap();
    assert_eq!(renderer.n_gpu_meshes(), 2);
    let mut scene = figure.scene();
    scene.meshes.truncate(1);
    for stamp in 1..300 {
        renderer.draw(0, &scene, [8, 8], stamp).unwrap();
    }
    assert_eq!(renderer.n_gpu_meshes(), 1);
}

#[test]
fn impossible_sizes_are_refused_in_words() {
    let figure = bare_figure(Shading::Shaded);
    let mut offscreen = offscreen();
    let error = offscreen.render(&figure.scene(), 0, 10).unwrap_err();
    assert!(matches!(error, OffscreenError::Empty { .. }), "{error}");
    let error = offscreen
        .render(&figure.scene(), 1_000_000, 10)
        .unwrap_err();
    let too_large = matches!(
        error,
        OffscreenError::Render(RenderError::TooLarge {
            width: 1_000_000,
            ..
        })
    );
    assert!(too_large, "{error}");
    assert!(offscreen.render(&figure.scene(), 16, 16).is_ok());
}

/// Writes pictures of every way of shading where a person can look at them, if SINEW_PICTURES names a folder.
#[test]
fn every_way_of_shading_draws() {
    let mut offscreen = offscreen();
    let folder = std::env::var_os("SINEW_PICTURES");
    let size = if folder.is_some() {
        [960, 720]
    } else {
        [96, 72]
    };
    let mut figure = Figure::new(75.0, View::ThreeQuarter);
    let mut pictures: Vec<Image> = Vec::new();
    for theme in Theme::ALL {
        for shading in Shading::ALL {
            figure.options.shading = shading;
            figure.options.theme = theme;
            figure.options.wire_overlay = theme != Theme::Dark;
            let image = offscreen.render(&figure.scene(), size[0], size[1]).unwrap();
            if let Some(folder) = &folder {
                let name = format!("{theme:?}-{shading:?}.png").to_lowercase();
                save(&std::path::Path::new(folder).join(name), &image);
            }
            assert!(
                pictures.iter().all(|other| *other != image),
                "{shading:?} {theme:?}"
            );
            pictures.push(image);
        }
    }
}

pub(crate) fn save(path: &std::path::Path, image: &Image) {
    let color = image::ColorType::Rgba8;
    image::save_buffer(path, &image.rgba, image.width, image.height, color)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

#[test]
fn pictures_side_by_side_share_meshes_and_are_freed_when_told() {
    let mut offscreen = offscreen();
    let mut figure = bare_figure(Shading::Shaded);
    figure.options.samples = 0;
    let renderer = offscreen.renderer().unwrap();
    renderer.draw(0, &figure.scene(), [64, 48], 1).unwrap();
    let first = renderer.read_rgba(0).unwrap();
    figure.camera.yaw += 0.4;
    assert!(renderer.draw(1, &figure.scene(), [32, 48], 1).unwrap());
    assert_eq!(renderer.n_gpu_meshes(), 2, "no more than of one picture");
    let second = renderer.read_rgba(1).unwrap();
    assert_eq!([second.width, second.height], [32, 48]);
    assert_eq!(renderer.read_rgba(0).unwrap().rgba, first.rgba, "it stays");
    figure.camera.yaw -= 0.4;
    assert!(!renderer.draw(0, &figure.scene(), [64, 48], 1).unwrap());

    renderer.keep_slots(1);
    assert!(renderer.read_rgba(1).is_none() && renderer.read_rgba(0).is_some());
    let keys: Vec<u64> = figure.scene().meshes.iter().map(|m| m.key).collect();
    renderer.keep_meshes(&keys[..1]);
    assert_eq!(renderer.n_gpu_meshes(), 1);
    renderer.draw(0, &figure.scene(), [64, 48], 2).unwrap();
    assert_eq!(
        renderer.n_gpu_meshes(),
        2,
        "what is drawn after all comes back"
    );
    assert_eq!(renderer.read_rgba(0).unwrap().rgba, first.rgba);
}
