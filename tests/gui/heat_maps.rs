//! Heat maps in the window: legend, numbers, worst point, value under the pointer; and the Volume panel.

use crate::figure::Figure;
use crate::golden::assert_golden;
use crate::pixels::{picture, pixel, place};
use crate::window::Window;
use egui::{Key, Modifiers, Pos2, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::diagnostics::Metric;
use sinew::document::PaneLayout;
use sinew::evaluate::ViewId;
use sinew::math::camera::View;
use sinew::view::Shading;
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};

/// The arm bent in the middle of its first clip.
fn bent() -> Window {
    let mut window = Window::on("arm.glb");
    window.harness.key_press(Key::Space);
    window.harness.key_press(Key::Space);
    window.settle();
    let (start, end) = window.editor().clip_range().expect("a clip");
    let editor = window.harness.state_mut().editor_mut();
    editor.set_time(start.midpoint(end));
    window.settle();
    window
}

#[test]
fn both_ramps_look_as_they_did() {
    let mut figure = Figure::new(60.0, View::Front);
    figure.options.shading = Shading::HeatMap;
    figure.options.show_grid = false;
    figure.options.show_bones = false;
    for (metric, low, high) in [
        (Metric::Bulge, -0.25, 0.25),
        (Metric::Discontinuity, 0.0, 5.0),
    ] {
        figure.options.metric = metric;
        let mesh = figure.tube.mesh.positions.iter();
        let heights: Vec<f32> = mesh.map(|p| p.y.clamp(0.0, 1.0)).collect();
        figure.tube.weights = heights.iter().map(|y| low + (high - low) * y).collect();
        // Below the middle the ball has no value.
        let ball = figure.ball.mesh.positions.iter();
        figure.ball.weights = ball
            .map(|p| if p.y < 0.36 { f32::NAN } else { 0.0 })
            .collect();
        let name = format!("heat_{metric:?}").to_lowercase();
        assert_golden(&name, &figure.scene());
    }
    // What is in order is light and grey, what has no value is dark grey.
    let image = picture(&figure.scene());
    let at = |dy: f32| glam::Vec3::new(-0.62, 0.36 + dy, 0.33);
    let above = pixel(&image, place(&figure, at(0.1)));
    let below = pixel(&image, place(&figure, at(-0.1)));
    assert!(
        above.iter().zip(below).all(|(a, b)| *a > b + 40),
        "{above:?} {below:?}"
    );
}

#[test]
fn the_legend_says_units_and_numbers_and_the_metric_is_chosen_in_it() {
    let mut window = bent();
    window.find_and_run(Command::UseMetric(Metric::Bulge));
    window.settle();
    assert_eq!(window.app().viewport().options.shading, Shading::HeatMap);
    assert!(window.says("Colours of Bulge, %: -20, -15, -10, -5, 0, +5"));
    let figures = window.editor().heat_figures(ViewId::OWN).expect("figures");
    let [p99, max] = [figures.summary.p99, figures.summary.max].map(|v| Metric::Bulge.format(v));
    assert!(window.says(&format!("Bulge: p99 {p99}, max {max}, min ")));
    window.picture("heat-bulge");
    // From the legend's title.
    window.click(Role::Button, "Heat map: Bulge, %");
    window.picture("heat-menu");
    let items = window.harness.get_all_by_label("Edge strain");
    items.into_iter().next().expect("an item").click();
    window.harness.step();
    window.settle();
    assert_eq!(window.app().viewport().options.metric, Metric::EdgeStrain);
    assert!(window.says("Colours of Edge strain, %: -50, -25, 0, +25"));
    for metric in Metric::ALL {
        window.find_and_run(Command::UseMetric(metric));
        window.settle();
        assert_eq!(window.editor().heat_metric(), Some(metric));
        assert!(window.says(&format!("{}: ", metric.label())));
        window.picture(&format!("heat-{}", metric.key()));
    }
    // And by direction.
    window.find_and_run(Command::MetricPie);
    window.key(Modifiers::NONE, Key::Num1);
    assert_eq!(window.editor().heat_metric(), Some(Metric::Bulge));
    window.choose("View", Command::Show(Shading::Shaded).label());
    assert_eq!(window.editor().heat_metric(), None, "nothing is measured");
    assert!(!window.says("Worst vertex"));
}

#[test]
fn a_click_on_the_worst_value_frames_its_place() {
    let mut window = bent();
    assert!(!Command::FrameWorst.is_enabled(window.editor()));
    window.find_and_run(Command::UseMetric(Metric::EdgeStrain));
    window.settle();
    let (worst, value) = window.editor().worst_place(ViewId::OWN).expect("a place");
    let far = window.document().session().camera.distance;
    let label = format!(
        "Worst vertex of pane 1: {}",
        Metric::EdgeStrain.format(value)
    );
    window.click(Role::Button, &label);
    let middle = window.viewport().center();
    assert!(window.place(worst).distance(middle) < 2.0);
    assert!(window.document().session().camera.distance < far);
    window.picture("heat-worst");
    window.choose("View", "Frame all");
    window.choose("View", "Frame worst vertex");
    assert!(window.place(worst).distance(middle) < 2.0);
}

#[test]
fn the_value_under_the_pointer_is_the_one_of_the_surface() {
    let mut window = bent();
    window.find_and_run(Command::UseMetric(Metric::AreaChange));
    window.settle();
    let at = window.on_model();
    window.move_to(at);
    window.settle();
    let rect = window.viewport();
    let ndc = glam::Vec2::new(
        (at.x - rect.left()) / rect.width() * 2.0 - 1.0,
        1.0 - (at.y - rect.top()) / rect.height() * 2.0,
    );
    let size = glam::Vec2::new(rect.width(), rect.height());
    let editor = window.harness.state_mut().editor_mut();
    let value = editor.heat_at(ndc, size).expect("on the surface");
    let id = *window.editor().displayed().keys().next().expect("a mesh");
    let map = window.editor().heat_map_in(ViewId::OWN, id).expect("a map");
    let known = map.values.iter().filter(|v| !v.is_nan());
    let (low, high) = known.fold((f32::MAX, f32::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
    assert!((low..=high).contains(&value), "{low} {value} {high}");
    window.picture("heat-probe");
}

#[test]
fn every_pane_has_its_numbers() {
    let mut window = bent();
    window.click(Role::Tab, Workspace::Compare.label());
    window.find_and_run(Command::UsePanes(PaneLayout::Four));
    window.find_and_run(Command::UseMetric(Metric::Bulge));
    window.settle();
    let worst = |window: &Window, pane: usize| {
        let part = format!("Worst vertex of pane {pane}");
        let mut found = window.harness.query_all_by_label_contains(&part);
        found.next().and_then(|node| node.accesskit_node().label())
    };
    let labels: Vec<_> = (1..=4).map(|pane| worst(&window, pane)).collect();
    assert!(labels.iter().all(Option::is_some), "{labels:?}");
    window.picture("heat-panes");
    window.find_and_run(Command::UseMetric(Metric::Difference));
    window.settle();
    assert!(window.says("Difference: As shown vs LBS"));
    // The first pane shows LBS itself.
    assert!(worst(&window, 1).is_some_and(|label| label.ends_with("0.00 mm")));
    assert!(!worst(&window, 2).is_some_and(|label| label.ends_with(" 0.00 mm")));
    window.picture("heat-difference");
    window.click(Role::Button, "Difference: As shown vs LBS");
    window.click(Role::Button, "vs DQS");
    assert!(window.says("Difference: As shown vs DQS"));
    assert!(worst(&window, 3).is_some_and(|label| label.ends_with("0.00 mm")));
    for layout in [PaneLayout::Two, PaneLayout::Wipe] {
        window.find_and_run(Command::UsePanes(layout));
        window.settle();
        window.picture(&format!("heat-{layout:?}"));
    }
}

#[test]
fn the_volume_panel_measures_plots_and_scrubs() {
    let mut window = bent();
    window.click(Role::Tab, Workspace::Animate.label());
    window.click(Role::Tab, "Volume");
    assert!(window.says("Measures how much volume each object and bone keeps over the clip"));
    window.picture("volume-empty");
    window.click(Role::Button, "Measure volume");
    window.wait("a study", |app| app.editor().measuring().is_none());
    window.settle();
    let study = window.editor().volume_study().expect("a study").clone();
    let worst = study.whole.worst().expect("it is closed").1;
    assert!(window.says("arm: 3.74 l at rest"));
    assert!(window.says(&format!("worst {:+.2} %", worst * 100.0)));
    assert!(window.says("forearm: "), "bones have their shares");
    window.picture("volume");
    let plot = {
        let mut found = window
            .harness
            .query_all_by_label_contains("Plot of the volume of arm");
        found.next().expect("a plot").rect()
    };
    // The right half of the plot is later than its left half.
    let time = |window: &Window| window.document().session().playback.time_secs;
    let click = |window: &mut Window, share: f32| {
        let at = Pos2::new(plot.left() + plot.width() * share, plot.center().y);
        window.press(at);
        window.release(at);
        window.settle();
    };
    click(&mut window, 0.3);
    let early = time(&window);
    click(&mut window, 0.9);
    let late = time(&window);
    let (start, end) = window.editor().clip_range().expect("a clip");
    assert!(early > start && late < end + 1e-6 && late > early + 0.4 * (end - start));
    // A bone's row selects it, and the plot follows.
    let row = {
        let mut found = window.harness.query_all_by_label_contains("forearm: ");
        found.next().expect("a row").rect().center()
    };
    window.press(row);
    window.release(row);
    window.settle();
    assert!(window.says("Plot of the volume of forearm"));
    let active = window.document().session().active_joint.expect("a bone");
    assert_eq!(window.document().skeleton().label(active), "forearm");
    // Edited, it says that it is out of date, and is measured anew.
    assert!(!window.says("Out of date"));
    let lbs = Command::UsePreset(sinew::deform::StackPreset::Lbs);
    window.find_and_run(lbs);
    window.settle();
    assert!(window.says("Out of date"));
    window.picture("volume-stale");
    window.find_and_run(Command::MeasureVolume);
    window.wait("a study", |app| app.editor().measuring().is_none());
    window.settle();
    assert!(!window.says("Out of date"));
    let linear = window.editor().volume_study().expect("a study");
    assert!(linear.whole.worst().expect("closed").1 < worst);
}

#[test]
fn measuring_opens_the_panel_where_it_is_closed() {
    let mut window = bent();
    assert!(!window.app().dock().is_open(PanelKind::Volume));
    window.choose("Skinning", "Measure volume");
    assert!(window.app().dock().is_open(PanelKind::Volume));
}
