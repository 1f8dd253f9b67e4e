//! Text overlays: the name of the view, the weight legend, the bone names.

use super::Viewport;
use super::panes::{Pane, Shared};
use crate::editor::Editor;
use crate::math::Camera;
use crate::math::camera::View;
use crate::skeleton::{Bone, JointId};
use crate::view::heat::Stops;
use crate::view::scene::Shading;
use crate::view::scenery::Scenery;
use egui::{
    Align2, Color32, FontId, Mesh, Painter, Pos2, Rect, Role, Sense, Shape, Ui, Vec2, WidgetInfo,
};
use std::collections::BTreeMap;

/// Distance from the edges of the viewport, points.
pub(super) const MARGIN: f32 = 12.0;
/// Opacity of names behind another part.
const BEHIND: f32 = 0.45;

/// The cached bone occlusion per camera: testing the surface is expensive.
#[derive(Default)]
pub(super) struct OcclusionCache {
    key: Option<(u64, u64, Camera)>,
    hidden: Vec<JointId>,
}

/// A name to place.
struct Name {
    joint: JointId,
    at: Pos2,
    depth: f32,
    /// Placed even if it overlaps another name.
    always: bool,
}

impl Viewport {
    /// Draws the overlays of one pane.
    pub(super) fn overlays_ui(
        &mut self,
        ui: &mut Ui,
        pane: &Pane,
        shared: &Shared,
        editor: &mut Editor,
    ) {
        let rect = pane.picture;
        let painter = ui.painter().with_clip_rect(rect);
        let scenery = Scenery::of(self.options.theme);
        self.net_ui(ui, pane, editor);
        self.shore_ui(ui, pane, editor);
        self.control_points_ui(ui, pane, editor);
        self.names(&painter, pane, editor, scenery);
        if pane.index == shared.label {
            view_label_ui(ui, &painter, rect, editor, scenery);
        }
        if pane.index == shared.legend && self.options.shading == Shading::Weights {
            self.weight_legend_ui(ui, rect, editor);
        }
        if pane.index == shared.legend {
            self.heat_legend_ui(ui, rect, editor);
            self.data_legend_ui(ui, rect, editor);
        }
    }

    /// Draws the bone names, nearest first; a name that would overlap another one is skipped. Names behind another
    /// part of the model are dimmed.
    fn names(&mut self, painter: &Painter, pane: &Pane, editor: &mut Editor, scenery: &Scenery) {
        let rect = pane.picture;
        if !self.options.show_names || !self.options.show_bones {
            return;
        }
        let camera = editor.document().session().camera;
        let clip_from_world = camera.clip_from_world(rect.aspect_ratio());
        // A joint's longest bone carries its name.
        let mut bones: BTreeMap<JointId, Bone> = BTreeMap::new();
        for bone in editor.bones_in(pane.view) {
            let length = |b: &Bone| b.head.distance_squared(b.tail);
            let longest = bones.entry(bone.joint).or_insert(bone);
            if length(&bone) > length(longest) {
                *longest = bone;
            }
        }
        self.update_occlusion(&camera, &bones, editor);
        let active = editor.document().session().active_joint;
        let mut names: Vec<Name> = bones
            .values()
            .filter_map(|bone| {
                let middle = bone.head.lerp(bone.tail, 0.5);
                let clip = clip_from_world * middle.extend(1.0);
                let ndc = clip.truncate() / clip.w;
                let inside = clip.w > 0.0 && ndc.x.abs() < 1.0 && ndc.y.abs() < 1.0;
                inside.then(|| Name {
                    joint: bone.joint,
                    at: rect.min + Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y) * rect.size(),
                    depth: ndc.z,
                    always: active == Some(bone.joint) || self.hovered == Some(bone.joint),
                })
            })
            .collect();
        names.sort_by(|a, b| {
            (!a.always, a.depth)
                .partial_cmp(&(!b.always, b.depth))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let skeleton = editor.document().skeleton();
        let mut taken: Vec<Rect> = Vec::new();
        for name in names {
            let galley = painter.layout_no_wrap(
                skeleton.label(name.joint),
                FontId::proportional(11.0),
                color(scenery.text),
            );
            let place = Rect::from_min_size(
                name.at + Vec2::new(7.0, -0.5 * galley.size().y),
                galley.size(),
            );
            let free = taken
                .iter()
                .all(|other| !other.intersects(place.expand(3.0)));
            if !(name.always || free && rect.contains_rect(place)) {
                continue;
            }
            taken.push(place);
            let is_behind = self.sight.hidden.contains(&name.joint);
            let strength = if is_behind && !name.always {
                BEHIND
            } else {
                1.0
            };
            if name.always {
                // The accent alone is not readable on yellow weights.
                let plate = color(scenery.text_halo).gamma_multiply(0.85);
                painter.rect_filled(place.expand2(Vec2::new(4.0, 1.0)), 3.0, plate);
            }
            for offset in [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)] {
                painter.galley_with_override_text_color(
                    place.min + Vec2::from(offset),
                    galley.clone(),
                    color(scenery.text_halo).gamma_multiply(0.8 * strength),
                );
            }
            let text = if active == Some(name.joint) {
                scenery.bone_active
            } else {
                scenery.text
            };
            painter.galley_with_override_text_color(
                place.min,
                galley,
                color(text).gamma_multiply(strength),
            );
        }
    }

    /// Tests which bones are occluded, once the view and the pose are at rest.
    fn update_occlusion(
        &mut self,
        camera: &Camera,
        bones: &BTreeMap<JointId, Bone>,
        editor: &mut Editor,
    ) {
        let key = (editor.model_serial(), editor.picture_serial(), *camera);
        let moving = self.is_moving(editor);
        if self.sight.key == Some(key) || moving && self.sight.key.is_some() {
            return;
        }
        self.sight.key = (!moving).then_some(key);
        self.sight.hidden.clear();
        for bone in bones.values() {
            if editor.is_behind_another_part(bone.head.lerp(bone.tail, 0.5)) {
                self.sight.hidden.push(bone.joint);
            }
        }
    }
}

/// Draws the name of the view, "Perspective · Front", at the top left, and whether the body of a person is shown.
fn view_label_ui(ui: &Ui, painter: &Painter, rect: Rect, editor: &Editor, scenery: &Scenery) {
    let camera = &editor.document().session().camera;
    let projection = if camera.orthographic {
        "Orthographic"
    } else {
        "Perspective"
    };
    let view = camera.axis_view().map_or("User", View::label);
    let mut label = format!("{projection} · {view}");
    if editor.shows_individual() {
        label.push_str(" · Individual");
    }
    let at = rect.left_top() + Vec2::splat(MARGIN - 2.0);
    let place = text(painter, at, Align2::LEFT_TOP, &label, 12.0, scenery);
    let response = ui.interact(place, ui.scope_id().with("view label"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
}

/// Draws text with a halo; returns its rectangle.
pub(super) fn text(
    painter: &Painter,
    at: Pos2,
    anchor: Align2,
    label: &str,
    size: f32,
    scenery: &Scenery,
) -> Rect {
    let font = FontId::proportional(size);
    let halo = color(scenery.text_halo).gamma_multiply(0.55);
    for offset in [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)] {
        painter.text(at + Vec2::from(offset), anchor, label, font.clone(), halo);
    }
    painter.text(at, anchor, label, font, color(scenery.text))
}

/// Draws a colour ramp from the bottom of `bar` to its top.
pub(super) fn colour_bar(painter: &Painter, bar: Rect, stops: &Stops) {
    let mut mesh = Mesh::default();
    for (i, stop) in stops.iter().enumerate() {
        let y = bar.bottom() - bar.height() * i as f32 / (stops.len() - 1) as f32;
        for x in [bar.left(), bar.right()] {
            mesh.colored_vertex(Pos2::new(x, y), color(*stop));
        }
        if i > 0 {
            let first = 2 * i as u32 - 2;
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 1, first + 2, first + 3);
        }
    }
    painter.add(Shape::mesh(mesh));
}

/// Converts sRGB 0 to 1 for egui.
pub(super) fn color(srgb: [f32; 3]) -> Color32 {
    let [r, g, b] = srgb.map(|x| (x * 255.0).round() as u8);
    Color32::from_rgb(r, g, b)
}
