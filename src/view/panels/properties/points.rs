//! The weights of the selected vertices.

use crate::document::MeshId;
use crate::editor::Editor;
use crate::finding::counted;
use crate::skeleton::JointId;
use crate::view::joint_colour::joint_colour;
use crate::view::theme;
use egui::{Id, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of bones listed.
const MOST_ROWS: usize = 12;

/// The listed weights, and the state they were computed for.
#[derive(Clone, Default)]
struct Table {
    state: (u64, u64, u64),
    n_points: usize,
    /// The vertex and its mesh, if only one is selected.
    single: Option<(MeshId, u32)>,
    /// Bones and their average weights, descending.
    weights: Vec<(JointId, f64)>,
}

/// Whether a vertex is selected.
pub(super) fn has_points(editor: &Editor) -> bool {
    !editor.document().session().selected_points.is_empty()
}

/// Draws the number of selected vertices and the weights of one, or the average of all.
pub(super) fn points_ui(ui: &mut Ui, editor: &mut Editor) {
    let id = Id::unique("weights of the selected points");
    let state = (
        editor.model_serial(),
        editor.selection_serial(),
        editor.history().revision(),
    );
    let known: Option<Arc<Table>> = ui.data(|data| data.get_temp(id));
    let is_busy = ui.input(|i| i.pointer.any_down());
    let table = match known {
        // Recomputed when the drag ends: the selection may hold a million vertices.
        Some(table) if table.state == state || (is_busy && table.state.0 == state.0) => table,
        _ => {
            let table = Arc::new(table(editor, state));
            ui.data_mut(|data| data.insert_temp(id, table.clone()));
            table
        }
    };
    let dim = theme::palette(ui).text_dim;
    let what = match table.single {
        Some((_, point)) => format!("Vertex {point}"),
        None => format!("Average of {}", counted(table.n_points, "vertex")),
    };
    ui.label(RichText::new(what).color(dim));
    if table.weights.is_empty() {
        ui.label("No influences.");
    }
    let active = editor.document().session().active_joint;
    let mut go_to = None;
    for &(joint, weight) in table.weights.iter().take(MOST_ROWS) {
        if weight_ui(ui, editor, joint, weight, active == Some(joint)) {
            go_to = Some(joint);
        }
    }
    let n_more = table.weights.len().saturating_sub(MOST_ROWS);
    if n_more > 0 {
        ui.label(RichText::new(format!("and {}", counted(n_more, "smaller weight"))).color(dim));
    }
    let sum: f64 = table.weights.iter().map(|w| w.1).sum();
    if !table.weights.is_empty() && (sum - 1.0).abs() > 1e-3 {
        ui.label(format!("Sum of weights: {sum:.3}"));
    }
    if let Some(joint) = go_to {
        editor.select_joints([joint], Some(joint));
    }
}

/// Draws a bone, a bar and its weight; returns whether it was clicked.
fn weight_ui(ui: &mut Ui, editor: &Editor, joint: JointId, weight: f64, is_active: bool) -> bool {
    let document = editor.document();
    let label = document.skeleton().label(joint);
    let palette = theme::palette(ui);
    let size = Vec2::new(ui.available_width(), 20.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let painter = ui.painter();
    let colour = joint_colour(document.session(), joint);
    let bar = Rect::from_min_size(
        rect.min,
        Vec2::new(rect.width() * weight.clamp(0.0, 1.0) as f32, rect.height()),
    );
    painter.rect_filled(rect, 3.0, palette.field);
    painter.rect_filled(bar, 3.0, colour.gamma_multiply(0.35));
    let mark = Rect::from_min_size(rect.min, Vec2::new(3.0, rect.height()));
    painter.rect_filled(mark, 1.0, colour);
    let number = egui::WidgetText::from(format!("{weight:.3}")).into_galley(
        ui,
        None,
        f32::INFINITY,
        egui::TextStyle::Body,
    );
    let name = egui::WidgetText::from(label.as_str()).into_galley(
        ui,
        Some(egui::TextWrapMode::Truncate),
        (rect.width() - number.size().x - 22.0).max(20.0),
        egui::TextStyle::Body,
    );
    let middle = |height: f32| rect.center().y - height * 0.5;
    let at = egui::pos2(rect.left() + 8.0, middle(name.size().y));
    let text = if is_active {
        palette.accent
    } else {
        palette.text
    };
    ui.painter().galley_with_override_text_color(at, name, text);
    let at = egui::pos2(
        rect.right() - 6.0 - number.size().x,
        middle(number.size().y),
    );
    ui.painter()
        .galley_with_override_text_color(at, number, palette.text);
    let lock = if document.locked().contains(&joint) {
        ", locked"
    } else {
        ""
    };
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Button, true, format!("{label} {weight:.3}{lock}"))
    });
    response
        .on_hover_text(format!("{label}{lock}\nClick to activate the bone."))
        .clicked()
}

fn table(editor: &Editor, state: (u64, u64, u64)) -> Table {
    let document = editor.document();
    let mut table = Table {
        state,
        ..Table::default()
    };
    let mut sums: BTreeMap<JointId, f64> = BTreeMap::new();
    for (&mesh, points) in &document.session().selected_points {
        let Some(item) = document.meshes().get(&mesh) else {
            continue;
        };
        let joints = document.skin_of_mesh(mesh).map(|(_, skin)| &skin.joints);
        // Indexed by joint: a map for each of a million vertices would be noticeably slow.
        let mut by_index = vec![0.0f64; joints.map_or(0, Vec::len)];
        for point in points
            .iter()
            .filter(|&p| (p as usize) < item.influences.len())
        {
            table.n_points += 1;
            table.single = Some((mesh, point));
            for (joint, weight) in item.influences.row(point).iter() {
                if let Some(sum) = by_index.get_mut(usize::from(joint)) {
                    *sum += f64::from(weight);
                }
            }
        }
        for (&joint, sum) in joints.into_iter().flatten().zip(&by_index) {
            *sums.entry(joint).or_default() += sum;
        }
    }
    if table.n_points != 1 {
        table.single = None;
    }
    let n = table.n_points.max(1) as f64;
    table.weights = sums
        .into_iter()
        .filter(|&(_, sum)| sum > 0.0)
        .map(|(joint, sum)| (joint, sum / n))
        .collect();
    table.weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    table
}
