//! The list of bones.

use crate::editor::Editor;
use crate::skeleton::JointIndex;
use crate::view::theme;
use egui::{Align, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};
use egui_material_icons::icons;

/// The list of bones, and what it remembers between frames.
#[derive(Default)]
pub struct Hierarchy {
    filter: String,
    /// The bone that the list scrolled to last.
    scrolled_to: Option<JointIndex>,
}

impl Hierarchy {
    /// The list of bones: a click selects, the lock keeps weights.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        ui.heading("Bones");
        let document = editor.document();
        let skeleton = document.skeleton().clone();
        let in_skin = document.skin_joint_mask();
        if !in_skin.contains(&true) {
            ui.label(
                "No skeleton in this file. Open another model, or a sample from the File menu.",
            );
            return;
        }
        let field = TextEdit::singleline(&mut self.filter)
            .hint_text("Filter bones")
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter bones"));
        let wanted = self.filter.to_lowercase();
        let depth_of = |joint: JointIndex| {
            skeleton
                .ancestors(joint)
                .filter(|j| in_skin[j.get()])
                .count()
        };
        let rows: Vec<(JointIndex, String, usize)> = depth_first(&skeleton)
            .into_iter()
            .filter(|j| in_skin[j.get()])
            .map(|j| (j, skeleton.label(j), depth_of(j)))
            .filter(|(_, label, _)| wanted.is_empty() || label.to_lowercase().contains(&wanted))
            .collect();
        let active = document.session().active_joint;
        let locked = document.locked().clone();
        let (mut select, mut lock) = (None, None);
        let scroll_to = active.filter(|_| active != self.scrolled_to);
        self.scrolled_to = active;
        ScrollArea::vertical()
            .id_salt("bones")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                for (joint, label, depth) in rows {
                    ui.horizontal(|ui| {
                        ui.spacing_mut().item_spacing.x = 2.0;
                        let is_locked = locked.contains(&joint);
                        let icon = if is_locked {
                            icons::ICON_LOCK
                        } else {
                            icons::ICON_LOCK_OPEN
                        };
                        let colour = if is_locked {
                            theme::palette(ui).accent
                        } else {
                            theme::palette(ui).text_dim.gamma_multiply(0.28)
                        };
                        let button = egui::Button::new(icon.rich_text().size(14.0).color(colour))
                            .frame(false);
                        let about = if is_locked {
                            "Unlock the weights of"
                        } else {
                            "Lock the weights of"
                        };
                        let response = ui.add(button).on_hover_text(format!("{about} {label}."));
                        response.widget_info(|| {
                            WidgetInfo::selected(
                                Role::CheckBox,
                                true,
                                is_locked,
                                format!("Lock {label}"),
                            )
                        });
                        if response.clicked() {
                            lock = Some(joint);
                        }
                        ui.add_space(depth.min(12) as f32 * 10.0);
                        let chosen = active == Some(joint);
                        let text = RichText::new(&label).color(if chosen {
                            theme::palette(ui).accent
                        } else {
                            theme::palette(ui).text
                        });
                        let response = ui.add(egui::Button::selectable(chosen, text).truncate());
                        if response.clicked() {
                            select = Some(joint);
                        }
                        if scroll_to == Some(joint) && !response.clicked() {
                            response.scroll_to_me(Some(Align::Center));
                        }
                    });
                }
            });
        if let Some(joint) = select {
            self.scrolled_to = Some(joint);
            editor.select_joint(Some(joint));
        }
        if let Some(joint) = lock {
            editor.toggle_lock(joint);
        }
    }
}

/// All joints, children after their parent.
fn depth_first(skeleton: &crate::skeleton::Skeleton) -> Vec<JointIndex> {
    let mut order = Vec::with_capacity(skeleton.len());
    let mut stack: Vec<JointIndex> = skeleton.roots().collect();
    stack.reverse();
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack.extend(skeleton.children(joint).iter().rev());
    }
    order
}
