//! What the viewport's pictures show, from a real OpenGL context without a window.

use crate::figure::Figure;
use sinew::document::Image;
use sinew::math::camera::View;
use sinew::view::{Offscreen, Scene, Shading, Theme};

const SIZE: [u32; 2] = [320, 240];

/// A renderer, or a failure that says in a sentence what the machine lacks.
fn offscreen() -> Offscreen {
    Offscreen::new().unwrap_or_else(|error| panic!("{error}"))
}

fn picture(scene: &Scene<'_>) -> Image {
    offscreen()
        .render(scene, SIZE[0], SIZE[1])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Writes `image` where a person can look at it, if SINEW_PICTURES names a folder.
fn keep(name: &str, image: &Image) {
    if let Some(folder) = std::env::var_os("SINEW_PICTURES") {
        let path = std::path::Path::new(&folder).join(name).with_extension("png");
        image::save_buffer(
            &path,
            &image.rgba,
            image.width,
            image.height,
            image::ColorType::Rgba8,
        )
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn gallery() {
    let mut offscreen = offscreen();
    println!("{}", offscreen.device());
    let mut figure = Figure::new(75.0, View::ThreeQuarter);
    for (name, shading, overlay, theme) in [
        ("textured", Shading::Textured, false, Theme::Dark),
        ("shaded", Shading::Shaded, false, Theme::Dark),
        ("weights", Shading::Weights, false, Theme::Dark),
        ("wire", Shading::Wire, false, Theme::Dark),
        ("light", Shading::Textured, true, Theme::Light),
    ] {
        figure.options.shading = shading;
        figure.options.wire_overlay = overlay;
        figure.options.theme = theme;
        let image = offscreen.render(&figure.scene(), 960, 720).unwrap();
        keep(name, &image);
    }
}
