//! The viewport inside a window's frame: egui's own painter calls the renderer between two widgets.

use crate::figure::Figure;
use egui::{Color32, Rect, pos2};
use sinew::math::camera::View;
use sinew::view::{PixelRect, Renderer, WindowlessGl};
use std::sync::{Arc, Mutex};
use three_d::{ClearState, Context, CoreError, Interpolation, Texture2D, Wrapping};

const SIZE: [u32; 2] = [300, 150];
const PIXELS_PER_POINT: f32 = 1.5;

fn in_pixels(rect: &egui::epaint::ViewportInPixels) -> PixelRect {
    PixelRect {
        x: rect.left_px,
        y: rect.from_bottom_px,
        width: rect.width_px,
        height: rect.height_px,
    }
}

/// One frame of 200 x 100 points: green, the viewport, blue, and a translucent patch over the viewport.
fn frame(context: &egui::Context, callback: &Arc<egui_glow::CallbackFn>) -> egui::FullOutput {
    let input = egui::RawInput {
        screen_rect: Some(Rect::from_min_max(pos2(0., 0.), pos2(200., 100.))),
        ..Default::default()
    };
    context.set_pixels_per_point(PIXELS_PER_POINT);
    context.run_ui(input, |ui| {
        let rect = |left, right| Rect::from_min_max(pos2(left, 10.), pos2(right, 90.));
        let painter = ui.painter();
        painter.rect_filled(rect(0., 50.), 0., Color32::GREEN);
        painter.add(egui::PaintCallback {
            rect: rect(50., 150.),
            callback: Arc::clone(callback) as _,
        });
        painter.rect_filled(rect(150., 200.), 0., Color32::BLUE);
        let patch = Rect::from_min_max(pos2(60., 12.), pos2(70., 20.));
        painter.rect_filled(patch, 0., Color32::from_white_alpha(128));
    })
}

#[test]
fn egui_goes_on_painting_around_the_viewport() {
    let gl = WindowlessGl::new().unwrap_or_else(|error| panic!("{error}"));
    let context = Context::from_gl_context(gl.gl()).unwrap();
    let window = Texture2D::new_empty::<[u8; 4]>(
        &context,
        SIZE[0],
        SIZE[1],
        Interpolation::Nearest,
        Interpolation::Nearest,
        None,
        Wrapping::ClampToEdge,
        Wrapping::ClampToEdge,
    );
    let mut painter = egui_glow::Painter::new(gl.gl(), "", None, false).unwrap();
    let renderer = Arc::new(Mutex::new(Renderer::new(gl.gl()).unwrap()));
    let figure = Figure::new(75.0, View::ThreeQuarter);
    let callback = Arc::new(egui_glow::CallbackFn::new({
        let renderer = Arc::clone(&renderer);
        move |info, _| {
            let viewport = in_pixels(&info.viewport_in_pixels());
            let clip = in_pixels(&info.clip_rect_in_pixels());
            let mut renderer = renderer.lock().unwrap();
            renderer
                .paint(0, &figure.scene(), viewport, clip, 7)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }));

    let target = window.as_color_target(None);
    target.clear(ClearState::color(0.0, 0.0, 0.0, 1.0));
    let egui_context = egui::Context::default();
    for _ in 0..3 {
        let mut output = frame(&egui_context, &callback);
        let primitives = egui_context.tessellate(output.shapes, PIXELS_PER_POINT);
        target
            .write(|| {
                painter.paint_and_update_textures(
                    SIZE,
                    PIXELS_PER_POINT,
                    &primitives,
                    &mut output.textures_delta,
                );
                Ok::<(), CoreError>(())
            })
            .unwrap();
    }
    let pixels: Vec<[u8; 4]> = target.read();
    let at = |x: u32, y: u32| pixels[(y * SIZE[0] + x) as usize];
    assert_eq!(at(30, 75), [0, 255, 0, 255], "before the viewport");
    assert_eq!(at(280, 75), [0, 0, 255, 255], "after it");
    let background = at(78, 18);
    assert!(background[0].abs_diff(0x44) < 6 && background[2].abs_diff(0x4B) < 6);
    let patch = at(96, 24);
    assert!(patch[0] > background[0] + 60, "blended over it: {patch:?}");
    let inside = (80..220).flat_map(|x| (20..130).map(move |y| at(x, y)));
    let bright = inside.filter(|p| p[0] > 150).count();
    assert!(bright > 500, "the model is there: {bright} bright pixels");
    assert_eq!(renderer.lock().unwrap().n_pictures(), 1, "three frames");
    painter.destroy();
}
