//! Suggested samples: progress, the list with its measures, and the settings.

use super::fields::{Number, named_ui, pick_ui};
use super::{CorrectivesPanel, heading_ui};
use crate::editor::Editor;
use crate::suggest::{OutlineOf, Proposal, SuggestSettings};
use crate::view::commands::Command;
use crate::view::panels::textures::Textures;
use crate::view::theme;
use egui::{
    Align, Button, Checkbox, Image, Label, Layout, ProgressBar, RichText, Role, Ui, Vec2,
    WidgetInfo,
};

/// Size of a picture, points.
const PICTURE: Vec2 = Vec2::new(96.0, 72.0);

const OUTLINES: [(OutlineOf, &str, &str); 2] = [
    (
        OutlineOf::ThisStack,
        "This stack",
        "Stretched skin keeps the outline that the object's own deformer stack gives it.",
    ),
    (
        OutlineOf::DefaultStack,
        "Default stack",
        "Stretched skin keeps the outline of the default stack: fuller joints under linear blend skinning.",
    ),
];

/// One of the settings.
type Field = fn(&mut SuggestSettings) -> &mut f64;

/// Whether there is something to draw.
pub(super) fn are_shown(editor: &Editor) -> bool {
    let waits = editor
        .suggestions()
        .iter()
        .any(|s| !s.proposals.is_empty() || !s.notes.is_empty());
    waits || editor.suggesting().is_some() || editor.suggest_failure().is_some()
}

impl CorrectivesPanel {
    /// Draws the suggestions that wait for an answer, or the computation under way.
    pub(super) fn suggestions_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        if let Some((joint, task)) = editor.suggesting() {
            let label = editor.document().skeleton().label(joint);
            heading_ui(ui, "Suggested samples", &label);
            let (fraction, what) = (task.fraction(), task.label());
            ui.horizontal(|ui| {
                let cancel = ui.button("Cancel");
                if cancel.on_hover_text("Cancel the computation.").clicked() {
                    editor.cancel_suggesting();
                }
                let bar = ProgressBar::new(fraction)
                    .desired_width(140.0)
                    .desired_height(16.0)
                    .show_percentage();
                ui.add(bar).widget_info(|| {
                    WidgetInfo::labeled(Role::ProgressIndicator, true, "Suggesting correctives")
                });
                let dim = theme::palette(ui).text_dim;
                ui.add(Label::new(RichText::new(what).color(dim)).truncate());
            });
            return;
        }
        let found = editor.suggestions().to_vec();
        let joint = found.first().map(|s| s.joint);
        let label = joint.map_or_else(String::new, |j| editor.document().skeleton().label(j));
        heading_ui(ui, "Suggested samples", &label);
        let dim = theme::palette(ui).text_dim;
        if let Some(why) = editor.suggest_failure() {
            ui.add(Label::new(why).wrap());
        }
        let proposals = || found.iter().flat_map(|s| &s.proposals);
        let n_proposals = proposals().count();
        let accepted: Vec<Vec<bool>> = (0..found.len())
            .map(|s| {
                let proposals = 0..found[s].proposals.len();
                proposals
                    .map(|p| editor.is_proposal_accepted(s, p))
                    .collect()
            })
            .collect();
        let ticks = proposals().zip(accepted.iter().flatten());
        let n_ticked = ticks
            .filter(|(p, accepted)| p.is_recommended && !**accepted)
            .count();
        let n_open = accepted
            .iter()
            .flatten()
            .filter(|accepted| !**accepted)
            .count();
        ui.horizontal_wrapped(|ui| {
            if n_proposals > 0 {
                let accept = ui.add_enabled(n_ticked > 0, Button::new("Accept ticked"));
                let about = "Add all ticked samples that are not accepted yet to the object, as one undo step.";
                if accept.on_hover_text(about).clicked() {
                    editor.accept_ticked_proposals();
                }
            }
            let close = if n_open > 0 { "Drop all" } else { "Close" };
            let about = "Close the list. The object stays as it is, with the accepted samples.";
            if ui.button(close).on_hover_text(about).clicked() {
                editor.drop_suggestions();
            }
            let shows_all = self.tuned == Some(Tuned::All);
            let settings = Button::selectable(shows_all, "Tune all");
            let about = "Show the settings. A change computes all suggestions for this bone again.";
            if ui.add(settings).on_hover_text(about).clicked() {
                self.tuned = (!shows_all).then_some(Tuned::All);
            }
            let again = Command::SuggestCorrectives;
            let again_button = ui.add_enabled(again.is_enabled(editor), Button::new("Recompute"));
            let about = "Compute the samples for the active bone again.";
            if again_button.on_hover_text(about).clicked() {
                commands.push(again);
            }
        });
        if self.tuned == Some(Tuned::All) {
            let settings = settings_ui(ui, *editor.suggest_settings());
            editor.set_suggest_settings(settings);
        }
        let mut answered = None;
        for (s, suggestion) in found.iter().enumerate() {
            for (p, proposal) in suggestion.proposals.iter().enumerate() {
                let own = Tuned::One(s, proposal.name.clone());
                let shows_own = self.tuned.as_ref() == Some(&own);
                ui.push_id(("proposal", s, p), |ui| {
                    let textures = &mut self.textures;
                    let state = (shows_own, accepted[s][p]);
                    match proposal_ui(ui, editor, textures, (s, p), proposal, state) {
                        Some(Answer::Tune) => self.tuned = (!shows_own).then_some(own),
                        Some(answer) => answered = Some((s, p, answer)),
                        None => {}
                    }
                });
            }
            for note in &suggestion.notes {
                ui.add(Label::new(RichText::new(note).color(dim)).wrap());
            }
        }
        match answered {
            Some((s, p, Answer::Accept)) => editor.accept_proposal(s, p),
            Some((s, p, Answer::Drop)) => editor.drop_proposal(s, p),
            _ => {}
        }
    }
}

/// Whose settings are shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tuned {
    /// Those of all suggestions.
    All,
    /// Those of one proposal: its suggestion, by index, and its name.
    One(usize, String),
}

/// Draws how samples are computed; returns the settings as they are now.
fn settings_ui(ui: &mut Ui, mut settings: SuggestSettings) -> SuggestSettings {
    let about = "The shape whose outline stretched skin keeps.";
    named_ui(ui, "Outline from", about, |ui| {
        let width = ui.available_width();
        let (_, chosen) = pick_ui(ui, "Outline from", width, settings.outline, &OUTLINES);
        settings.outline = chosen.unwrap_or(settings.outline);
    });
    let fields: [(&str, f64, f64, Field, &str); 5] = [
        (
            "Stiffness",
            1.0,
            100.0,
            |s| &mut s.relax.stiffness,
            "How alike neighbouring vertices rotate. Higher values spread the bend and soften creases.",
        ),
        (
            "Keep outline",
            1.0,
            100.0,
            |s| &mut s.relax.outline,
            "How strongly stretched skin keeps its outline.",
        ),
        (
            "Volume",
            2.0,
            100.0,
            |s| &mut s.relax.volume,
            "The volume around the joint, as a share of that in the bind pose.",
        ),
        (
            "Tolerance",
            1.0,
            100.0,
            |s| &mut s.relax.volume_slack,
            "How far the volume may be off, as a share of that in the bind pose.",
        ),
        (
            "Contact gap",
            0.5,
            100.0,
            |s| &mut s.relax.gap,
            "The gap between surfaces that touch, as a share of the limb's radius.",
        ),
    ];
    for (name, most, percent, field, about) in fields {
        let shown = *field(&mut settings);
        let number = Number {
            label: name,
            range: 0.0..=most * percent,
            speed: 0.2,
            decimals: 1,
            suffix: " %",
            about,
            step: "",
        };
        named_ui(ui, name, about, |ui| {
            // Settings are no edits of the document: no undo step.
            if let Some(value) = number.show_free_ui(ui, shown * percent) {
                *field(&mut settings) = value / percent;
            }
        });
    }
    let about = "How far the samples reach beyond blended vertices, in radii of the limb. 0: as far as the folds need.";
    let number = Number {
        label: "Region",
        range: 0.0..=3.0,
        speed: 0.02,
        decimals: 2,
        suffix: " radii",
        about,
        step: "",
    };
    named_ui(ui, "Region", about, |ui| {
        if let Some(reach) = number.show_free_ui(ui, settings.reach.unwrap_or(0.0)) {
            settings.reach = (reach > 0.0).then_some(reach);
        }
    });
    let protects = Checkbox::new(&mut settings.protects_selected, "Protect selected vertices");
    let about = "Samples leave the vertices that are selected as they are skinned.";
    ui.add(protects).on_hover_text(about);
    let on_samples = Checkbox::new(&mut settings.on_samples, "On top of samples");
    let about = "Start from the skin as the present samples correct it. Otherwise it starts without them. Those at nearly \
                 the same pose are replaced either way.";
    ui.add(on_samples).on_hover_text(about);
    settings
}

/// The button of a proposal that was pressed.
#[derive(Clone, Copy)]
enum Answer {
    Tune,
    Accept,
    Drop,
}

/// Draws a proposal; returns the answer.
fn proposal_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    textures: &mut Textures,
    (s, p): (usize, usize),
    proposal: &Proposal,
    (shows_settings, is_accepted): (bool, bool),
) -> Option<Answer> {
    let palette = theme::palette(ui);
    let mut answer = None;
    ui.horizontal(|ui| {
        let mut ticked = proposal.is_recommended || is_accepted;
        let tick = ui.add_enabled(!is_accepted, Checkbox::without_text(&mut ticked));
        let label = format!("Accept {}", proposal.name);
        tick.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, ticked, &label));
        if tick
            .on_hover_text("Whether Accept ticked adds it.")
            .changed()
        {
            editor.tick_proposal(s, p, ticked);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (text, about, of_button) in [
                ("Drop", "Remove it from the list.", Answer::Drop),
                (
                    "Tune",
                    "Show the settings of this sample. A change computes it again and leaves the others alone.",
                    Answer::Tune,
                ),
                ("Accept", "Add this sample to the object.", Answer::Accept),
            ] {
                let is_shown = shows_settings && matches!(of_button, Answer::Tune);
                let is_done = is_accepted && matches!(of_button, Answer::Accept);
                let shown = if is_done { "Accepted" } else { text };
                let button = ui.add_enabled(!is_done, Button::new(shown).selected(is_shown));
                let label = format!("{shown} {}", proposal.name);
                button.widget_info(|| WidgetInfo::selected(Role::Button, !is_done, is_shown, &label));
                let button = button.on_disabled_hover_text(
                    "This sample was added to the object. Undo it to accept it again.",
                );
                if button.on_hover_text(about).clicked() {
                    answer = Some(of_button);
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let mut name = RichText::new(&proposal.name);
                if is_accepted {
                    name = name.color(palette.text_dim);
                }
                ui.add(Label::new(name).truncate());
            });
        });
    });
    if let Some(pictures) = &proposal.pictures {
        ui.horizontal_wrapped(|ui| {
            for (image, what) in pictures.iter().zip(["before", "with the sample"]) {
                if let Some(texture) = textures.of(ui.ctx(), image) {
                    let picture = Image::new((texture, PICTURE))
                        .alt_text(format!("{}, {what}", proposal.name));
                    let about = format!("The skin in this pose, {what}. What moves is orange.");
                    ui.add(picture).on_hover_text(about);
                }
            }
        });
    }
    let (before, after) = (&proposal.before, &proposal.after);
    let measures = format!(
        "{} to {} crossing triangles · volume {:+.1} to {:+.1} % · strain {:.0} to {:.0} %",
        before.crossings,
        after.crossings,
        100.0 * before.volume,
        100.0 * after.volume,
        100.0 * before.strain,
        100.0 * after.strain,
    );
    let dim = palette.text_dim;
    ui.add(Label::new(RichText::new(measures).color(dim)).wrap())
        .on_hover_text(
            "Triangles that cross the skin around the joint, the change of its volume, and the 99th percentile of the \
             change of edge lengths, before and with the sample.",
        );
    for note in &proposal.notes {
        ui.add(Label::new(RichText::new(note).color(dim)).wrap());
    }
    if shows_settings {
        let settings = settings_ui(ui, proposal.settings);
        if settings != proposal.settings {
            editor.tune_proposal(s, p, settings);
        }
    }
    answer
}
