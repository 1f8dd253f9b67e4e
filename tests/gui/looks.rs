//! What the whole window looks like: pixels, and where its texts are.

use crate::window::{CTRL, Window, asset, is_menu_item};
use egui::{Key, Modifiers, Pos2, Rect, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use image::RgbaImage;
use sinew::deform::{Polynomial, SkinningMethod, StackPreset, Variant};
use sinew::document::PaneLayout;
use sinew::view::commands::table::Group;
use sinew::view::frame::{PanelKind, Workspace};

/// The part of a picture inside `rect`, points; a pixel in from its edge.
fn part(picture: &RgbaImage, rect: Rect, scale: f32) -> RgbaImage {
    let rect = (rect * scale).shrink(2.0);
    let (x, y) = (rect.min.x.ceil() as u32, rect.min.y.ceil() as u32);
    let (width, height) = (rect.width() as u32, rect.height() as u32);
    image::imageops::crop_imm(picture, x, y, width, height).to_image()
}

fn n_changed(a: &RgbaImage, b: &RgbaImage) -> usize {
    let differs = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(&b.0).any(|(a, b)| a.abs_diff(*b) > 6)
    };
    a.pixels().zip(b.pixels()).filter(differs).count()
}

/// Pixels that are not as those at the left end of their row: more than the background's gradient.
fn n_drawn(view: &RgbaImage) -> usize {
    view.enumerate_pixels()
        .filter(|&(_, y, pixel)| {
            let background = view.get_pixel(0, y);
            pixel
                .0
                .iter()
                .zip(&background.0)
                .any(|(a, b)| a.abs_diff(*b) > 24)
        })
        .count()
}

#[test]
fn the_view_shows_the_model_and_weights_change_with_the_brush() {
    let mut window = Window::on("arm.glb");
    let rect = window.viewport();
    let view = |w: &mut Window, name: &str| part(&w.picture(name), rect, 1.0);
    let textured = view(&mut window, "arm");
    let area = (textured.width() * textured.height()) as usize;
    let drawn = n_drawn(&textured);
    assert!(
        drawn > area / 50 && drawn < area * 3 / 4,
        "{drawn} of {area}"
    );

    let bone = window.bones()[0];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Tab);
    window.harness.remove_cursor();
    window.settle();
    let weights = view(&mut window, "weights");
    assert!(n_changed(&textured, &weights) > area / 50);
    window.stroke();
    window.harness.remove_cursor();
    window.settle();
    let painted = view(&mut window, "painted");
    let changed = n_changed(&weights, &painted);
    assert!(changed > 300 && changed < area / 4, "{changed}");
}

#[test]
fn an_idle_window_draws_no_new_picture() {
    let mut window = Window::on("arm.glb");
    window.picture("idle");
    let drawn = window.app().n_pictures();
    assert!(drawn > 0);
    for _ in 0..2 {
        window.harness.step();
        window.picture("idle");
    }
    assert_eq!(window.app().n_pictures(), drawn);
    assert_eq!(window.harness.run(), 1, "and asks for no further frame");
    window.key(Modifiers::NONE, Key::Num1);
    window.picture("front");
    assert_eq!(window.app().n_pictures(), drawn + 1);
}

/// A text as it is painted: what it says, where, and what is seen of it.
struct Painted {
    text: String,
    rect: Rect,
    clip: Rect,
}

/// The texts on screen, glyph for glyph.
fn painted(window: &Window) -> Vec<Painted> {
    fn collect(shape: &egui::Shape, clip: Rect, found: &mut Vec<Painted>) {
        match shape {
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|s| collect(s, clip, found)),
            egui::Shape::Text(text) if !text.galley.text().trim().is_empty() => {
                let rect = text.galley.rect.translate(text.pos.to_vec2());
                if rect.intersect(clip).is_positive() {
                    let text = text.galley.text().to_owned();
                    found.push(Painted { text, rect, clip });
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for shape in &window.harness.output().shapes {
        collect(&shape.shape, shape.clip_rect, &mut found);
    }
    found
}

/// The texts that are cut off, stick out of the window or lie over each other.
fn misplaced(window: &Window) -> Vec<String> {
    let screen = window.harness.ctx.content_rect().expand(0.5);
    let mut texts = painted(window);
    // Names and numbers over the timeline's keys scroll with them.
    let shown = window.app().dock().shown().iter();
    let keys = shown.filter(|(panel, _)| *panel == PanelKind::Timeline);
    let keys = keys.map(|(_, rect)| *rect).next().unwrap_or(Rect::NOTHING);
    texts.retain(|text| !keys.contains(text.clip.center()) || text.clip.height() > 100.0);
    assert!(texts.len() > 20, "the window says something");
    // The Export page scrolls: at its edges a field is seen in part.
    let page = window.harness.query_by_label("Close the page");
    let page = page.map_or(f32::INFINITY, |_| window.viewport_panel().right());
    let mut found = Vec::new();
    for (i, Painted { text, rect, clip }) in texts.iter().enumerate() {
        // What scrolls may be cut above and below, what stands in a bar may not.
        // In a very low window a list that scrolls is no higher than a bar.
        let mut panels = window.app().dock().shown().iter();
        // The last field of a panel that scrolls.
        let is_at_end = panels.any(|(_, panel)| (panel.bottom() - clip.bottom()).abs() < 12.0)
            || clip.left() >= page;
        let is_bar = clip.height() < 48.0 && screen.height() > 480.0 && !is_at_end;
        let is_cut = rect.left() < clip.left() - 1.0
            || rect.right() > clip.right() + 1.0
            || (is_bar && (rect.top() < clip.top() - 3.0 || rect.bottom() > clip.bottom() + 3.0));
        if is_cut {
            found.push(format!("{text:?} at {rect:?} is cut by {clip:?}"));
        }
        if !screen.contains_rect(rect.intersect(*clip)) {
            found.push(format!("{text:?} at {rect:?} is outside of {screen:?}"));
        }
        for other in &texts[i + 1..] {
            let shared = rect
                .intersect(*clip)
                .intersect(other.rect)
                .intersect(other.clip);
            // Text over the picture has a halo: the same text again, a point to each side.
            let is_halo = *text == other.text && rect.min.distance(other.rect.min) < 3.0;
            if shared.is_positive() && shared.width().min(shared.height()) > 3.0 && !is_halo {
                found.push(format!(
                    "{text:?} at {rect:?} lies over {:?} at {:?}",
                    other.text, other.rect
                ));
            }
        }
    }
    found
}

#[track_caller]
fn assert_in_place(window: &mut Window, name: &str) {
    let wrong = misplaced(window);
    if !wrong.is_empty() || std::env::var_os("SINEW_PICTURES").is_some() {
        window.picture(name);
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

/// Every division of the viewport stands in its place, with what was before on show too.
fn divided(window: &mut Window, name: &str) {
    for layout in PaneLayout::ALL {
        let editor = window.harness.state_mut().editor_mut();
        editor.compare_mut().layout = layout;
        window.settle();
        assert_in_place(window, &format!("{name}-{layout:?}"));
        window.harness.key_down(Key::Backtick);
        window.settle();
        assert_in_place(window, &format!("{name}-{layout:?}-before"));
        window.harness.key_up(Key::Backtick);
    }
}

#[test]
fn everything_fits_into_windows_of_all_sizes() {
    let sizes = [[1366.0, 768.0], [1920.0, 1080.0], [2560.0, 1440.0]];
    for (size, scale) in sizes
        .into_iter()
        .flat_map(|size| [1.0, 1.5, 2.0].map(|scale| (size, scale)))
    {
        let mut window = Window::sized("mannequin.glb", size, scale);
        let bone = window.bones()[2];
        let editor = window.harness.state_mut().editor_mut();
        editor.select_joint(Some(bone));
        // A clip on screen, stopped.
        window.harness.key_press(Key::Space);
        window.harness.key_press(Key::Space);
        window.harness.remove_cursor();
        window.settle();
        for workspace in Workspace::ALL {
            window.click(Role::Tab, workspace.label());
            window.harness.remove_cursor();
            window.settle();
            let name = format!("{}-{scale}-{}", size[0], workspace.label());
            assert_in_place(&mut window, &name);
            // Drop-downs that show icons alone have no text that could be cut.
            let right = window.viewport_panel().right();
            for menu in ["Overlays", "Camera", "Panes"] {
                let mut found = window.harness.query_all_by_label_contains(menu);
                let button = found.find(|n| n.accesskit_node().role() == Role::Button);
                let rect = button.unwrap_or_else(|| panic!("{menu} in {name}")).rect();
                assert!(rect.right() <= right + 0.5, "{menu} in {name}: {rect:?}");
            }
            if workspace == Workspace::Compare && size[0] < 1400.0 {
                divided(&mut window, &name);
            }
        }
        for (i, menu) in Group::ALL.iter().map(|g| g.label()).enumerate() {
            window.click(Role::Button, menu);
            let screen = window.harness.ctx.content_rect();
            for item in window.harness.root().children_recursive() {
                if !is_menu_item(item.accesskit_node().role()) {
                    continue;
                }
                // In a low window menus scroll.
                let rect = item.rect();
                let inside = screen.contains_rect(rect)
                    || (size[1] / scale < 600.0 && screen.x_range().contains(rect.center().x));
                assert!(inside, "{item:?} at {size:?}, {scale}");
            }
            if std::env::var_os("SINEW_PICTURES").is_some() && i < 3 && scale < 1.5 {
                window.picture(&format!("{}-{scale}-menu-{menu}", size[0]));
            }
            window.key(Modifiers::NONE, Key::Escape);
        }
    }
}

#[test]
fn the_parts_of_the_deformation_fit_the_properties() {
    for (size, scale) in [
        ([1366.0, 768.0], 1.0),
        ([1366.0, 768.0], 1.5),
        ([1920.0, 1080.0], 2.0),
    ] {
        let mut window = Window::sized("arm.glb", size, scale);
        let editor = window.harness.state_mut().editor_mut();
        editor.use_preset(StackPreset::Default);
        editor.change_stack("Set", |stack| {
            stack.method = SkinningMethod::Blend;
            stack.smooth.enabled = true;
            stack.compensation.variant = Variant::Published;
            stack.compensation.polynomial = Polynomial::Custom { c1: 2.2, c2: -18.1 };
        });
        window.settle();
        for part in [
            "Corrective smooth  1.00",
            "Projection  1.00",
            "Compensation  published 1.00",
        ] {
            let line = window.harness.get_by_role_and_label(Role::Button, part);
            line.click_accesskit();
            window.harness.step();
            window.settle();
        }
        let panel = window.app().dock().shown().iter();
        let mut panel = panel.filter(|(panel, _)| *panel == PanelKind::Properties);
        let at = panel.next().expect("the properties").1.center();
        window.move_to(at);
        for i in 0..14 {
            window.settle();
            assert_in_place(&mut window, &format!("deformation-{}-{scale}-{i}", size[0]));
            window.harness.event(egui::Event::MouseWheel {
                unit: egui::MouseWheelUnit::Point,
                delta: egui::Vec2::new(0.0, -90.0),
                phase: egui::TouchPhase::Move,
                source: egui::MouseWheelSource::Wheel,
                modifiers: Modifiers::NONE,
            });
            window.harness.step();
        }
    }
}

#[test]
fn long_names_and_sentences_are_cut_and_not_laid_over_others() {
    let mut window = Window::sized("arm.glb", [800.0, 500.0], 1.0);
    assert_in_place(&mut window, "smallest");
    window.click(Role::Tab, Workspace::Compare.label());
    divided(&mut window, "smallest");
    window.click(Role::Tab, Workspace::Rig.label());
    let long = "a name that goes on and on ".repeat(8);
    let model = window.folder.path().join(format!("{long}.glb"));
    std::fs::copy(asset("arm.glb"), &model).expect("a copy");
    window.drop_file(&model);
    assert!(window.says(&long));
    window.drop_file(window.folder.path().join(format!("no {long}.glb")));
    assert!(window.says("Cannot open no a name"));
    assert_in_place(&mut window, "long");
}

#[test]
fn dialogs_stand_in_the_window() {
    let mut window = Window::sized("arm.glb", [800.0, 500.0], 1.0);
    for (key, leave) in [(Key::O, "Cancel"), (Key::S, "Cancel"), (Key::E, "Close")] {
        window.key(CTRL, key);
        let screen = window.harness.ctx.content_rect();
        for label in ["Path", "Browse…", leave] {
            let rect = window.harness.get_by_label(label).rect();
            assert!(screen.contains_rect(rect), "{label} at {rect:?}");
        }
        if std::env::var_os("SINEW_PICTURES").is_some() {
            window.picture(&format!("dialog-{key:?}"));
        }
        window.key(Modifiers::NONE, Key::Escape);
        assert!(!window.says("Browse…"));
    }
}

#[test]
fn the_export_page_fits_into_windows_of_all_sizes() {
    for (size, scale) in [
        ([1366.0, 768.0], 1.0),
        ([1366.0, 768.0], 1.5),
        ([1366.0, 768.0], 2.0),
        ([1920.0, 1080.0], 1.0),
    ] {
        let mut window = Window::sized("arm.glb", size, scale);
        window.key(CTRL, Key::E);
        let editor = window.harness.state_mut().editor_mut();
        let bake = &mut editor.export_settings_mut().bake;
        bake.tolerance = 1e-3;
        bake.max_joints = 1;
        bake.max_morphs = 0;
        let path = window.folder.path().join("a.glb");
        window.write(&path.display().to_string());
        window.click(Role::Button, "Compute");
        for layout in [None, Some(PaneLayout::Two), Some(PaneLayout::Wipe)] {
            let editor = window.harness.state_mut().editor_mut();
            editor.show_exported(layout);
            window.settle();
            let at = window.harness.get_by_label("Path").rect().center();
            window.move_to(at + egui::Vec2::new(0.0, 40.0));
            for (i, by) in [0.0, -120.0, -120.0, -120.0, -120.0, -120.0, -120.0, 2000.0]
                .into_iter()
                .enumerate()
            {
                window.harness.event(egui::Event::MouseWheel {
                    unit: egui::MouseWheelUnit::Point,
                    delta: egui::Vec2::new(0.0, by),
                    phase: egui::TouchPhase::Move,
                    source: egui::MouseWheelSource::Wheel,
                    modifiers: Modifiers::NONE,
                });
                window.harness.step();
                window.settle();
                let name = format!("export-{}-{scale}-{layout:?}-{i}", size[0]);
                assert_in_place(&mut window, &name);
                for label in ["Compute", "Save", "Close"] {
                    let node = window.harness.get_by_role_and_label(Role::Button, label);
                    let screen = window.harness.ctx.content_rect();
                    assert!(screen.contains_rect(node.rect()), "{label} in {name}");
                }
            }
        }
    }
}

#[test]
fn a_colour_given_to_a_bone_is_seen_in_the_view() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[1];
    let rect = window.viewport();
    let magentas = |window: &mut Window| {
        let picture = window.picture("bone-colour");
        let inside = |x: u32, y: u32| rect.contains(Pos2::new(x as f32, y as f32));
        let is_magenta =
            |p: &image::Rgba<u8>| p[0] > p[1].saturating_add(60) && p[2] > p[1].saturating_add(60);
        let pixels = picture.enumerate_pixels();
        pixels
            .filter(|(x, y, p)| inside(*x, *y) && is_magenta(p))
            .count()
    };
    assert_eq!(magentas(&mut window), 0);
    let editor = window.harness.state_mut().editor_mut();
    editor.set_joint_colour(bone, Some([255, 0, 255]));
    window.settle();
    assert!(magentas(&mut window) > 50);
}
