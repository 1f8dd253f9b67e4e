//! Which vertices the samples of a set hold.

use super::fields::named_ui;
use crate::deform::correctives::{SampleSet, SampleVertices};
use crate::editor::Editor;
use egui::{ComboBox, Role, Ui, WidgetInfo};

const ABOUT: &str = "Which vertices the samples of this set hold. Control clusters carry a correction to the vertices between them: \
                     such samples are small. Choosing them deletes the displacements of other vertices.";

/// Draws the choice.
pub(super) fn held_vertices_ui(ui: &mut Ui, editor: &mut Editor, index: usize, set: &SampleSet) {
    let groups = editor.clusters().map_or(&[][..], |map| map.groups());
    let groups = groups.iter().map(|group| {
        let about = format!(
            "Sculpting, imports and suggestions change only control clusters of the group \"{}\".",
            group.name
        );
        (SampleVertices::Group(group.name.clone()), about)
    });
    let all = "A sample holds every vertex that it moves.";
    let clusters = "Sculpting, imports and suggestions change only control clusters.";
    let choices = [
        (SampleVertices::All, all.to_owned()),
        (SampleVertices::Clusters, clusters.to_owned()),
    ];
    let choices: Vec<(SampleVertices, String)> = choices.into_iter().chain(groups).collect();
    let mut chosen = None;
    named_ui(ui, "Vertices", ABOUT, |ui| {
        let response = ComboBox::from_id_salt("vertices of samples")
            .width(ui.available_width())
            .truncate()
            .selected_text(label(&set.vertices))
            .show_ui(ui, |ui| {
                for (choice, about) in choices {
                    let is_chosen = choice == set.vertices;
                    let response = ui.selectable_label(is_chosen, label(&choice));
                    if response.on_hover_text(about).clicked() && !is_chosen {
                        chosen = Some(choice);
                    }
                }
            })
            .response;
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Vertices of samples"));
        response.on_hover_text(ABOUT);
    });
    if let Some(chosen) = chosen {
        editor.set_held_vertices(index, chosen);
    }
}

fn label(vertices: &SampleVertices) -> String {
    match vertices {
        SampleVertices::All => "All that move".into(),
        SampleVertices::Clusters => "Control clusters".into(),
        SampleVertices::Group(name) => format!("Clusters of {name}"),
    }
}
