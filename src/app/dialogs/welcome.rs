//! The welcome: recent files, samples, and first settings.

use super::{modal, thumbnail_ui};
use crate::app::settings::{Recent, SettingsFile};
use crate::app::thumbnails::{Gallery, Thumbnails};
use crate::view::commands::Command;
use crate::view::keymap::{self, Preset};
use crate::view::theme::{self, ThemeChoice};
use crossbeam_channel::{Receiver, bounded};
use eframe::egui;
use egui::text::LayoutJob;
use egui::{
    Button, ColorImage, FontId, Galley, RichText, Role, ScrollArea, Sense, TextureHandle,
    TextureOptions, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons;
use std::path::PathBuf;
use std::sync::Arc;

/// A sample of the welcome.
struct Sample {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    /// A PNG of 160 x 100 pixels, drawn by `sinew render`.
    picture: &'static [u8],
}

/// The samples, the simplest last but one.
const SAMPLES: [Sample; 8] = [
    Sample {
        id: "arm",
        title: "Arm",
        about: "An elbow that bends and a wrist that twists.",
        picture: include_bytes!("../../../assets/samples/arm.png"),
    },
    Sample {
        id: "hand",
        title: "Hand",
        about: "Five fingers. Many bones close together.",
        picture: include_bytes!("../../../assets/samples/hand.png"),
    },
    Sample {
        id: "leg",
        title: "Leg",
        about: "A knee and an ankle, with a squat.",
        picture: include_bytes!("../../../assets/samples/leg.png"),
    },
    Sample {
        id: "mannequin",
        title: "Mannequin",
        about: "A full character with clips.",
        picture: include_bytes!("../../../assets/samples/mannequin.png"),
    },
    Sample {
        id: "cylinder",
        title: "Cylinder",
        about: "Two bones. The simplest case.",
        picture: include_bytes!("../../../assets/samples/cylinder.png"),
    },
    Sample {
        id: "elbow-correctives",
        title: "Corrected elbow",
        about: "The arm with four corrective samples on its elbow.",
        picture: include_bytes!("../../../assets/samples/elbow-correctives.png"),
    },
    Sample {
        id: "control-clusters-arm",
        title: "Try the control-cluster arm",
        about: "A coarse arm: dual quaternion skinning, a corrective sample and the biceps move its clusters; patches \
            follow them.",
        picture: include_bytes!("../../../assets/samples/control-clusters-arm.png"),
    },
    Sample {
        id: "water-surface",
        title: "Water surface",
        about: "A reservoir without bones: nine gauges move its water and colour it by salinity, with patches between \
            them.",
        picture: include_bytes!("../../../assets/samples/water-surface.png"),
    },
];

/// The open welcome.
pub(in crate::app) struct Welcome {
    /// Which recent files exist; checked on a thread because a network disk may be slow.
    exists: Vec<bool>,
    looking: Receiver<Vec<bool>>,
    /// The pictures of the samples, in their order; `None` where one cannot be decoded.
    pictures: Vec<Option<TextureHandle>>,
}

/// The user's choice.
pub(in crate::app) enum Chosen {
    Nothing,
    Close,
    Run(Command),
    Open(PathBuf),
}

impl Welcome {
    pub(in crate::app) fn new(recents: &[Recent], ctx: &egui::Context) -> Self {
        let (send, looking) = bounded(1);
        let paths: Vec<PathBuf> = recents.iter().map(|r| r.path.clone()).collect();
        let ctx = ctx.clone();
        let job = move || {
            let _ = send.send(paths.iter().map(|path| path.is_file()).collect());
            ctx.request_repaint();
        };
        let _ = std::thread::Builder::new()
            .name("recents".into())
            .spawn(job);
        Self {
            exists: Vec::new(),
            looking,
            pictures: Vec::new(),
        }
    }

    /// Draws the welcome; returns the choice.
    pub(in crate::app) fn show(
        &mut self,
        ctx: &egui::Context,
        file: &mut SettingsFile,
        thumbnails: Option<&Thumbnails>,
        gallery: &mut Gallery,
    ) -> Chosen {
        if let Ok(exists) = self.looking.try_recv() {
            self.exists = exists;
        }
        let mut chosen = Chosen::Nothing;
        let screen = ctx.content_rect().size();
        let modal = modal(ctx, "welcome").show(ctx, |ui| {
            ui.set_width(680.0_f32.min(screen.x - 48.0));
            ui.heading("Welcome to Sinew");
            let dim = theme::palette(ui).text_dim;
            let about =
                "Drop a model (.glb, .gltf, .obj) or a Sinew project anywhere on this window.";
            ui.label(RichText::new(about).color(dim));
            ui.add_space(8.0);
            ui.columns(2, |columns| {
                let recents = file.settings.recents.clone();
                self.recents_ui(&mut columns[0], &recents, thumbnails, gallery, &mut chosen);
                self.begin_ui(&mut columns[1], &mut chosen);
                choices_ui(&mut columns[1], &mut chosen);
            });
            ui.add_space(8.0);
            ui.separator();
            ui.horizontal(|ui| {
                let about =
                    "Show this page when Sinew starts. You can also open it from the Help menu.";
                ui.checkbox(&mut file.settings.show_welcome, "Show at start")
                    .on_hover_text(about);
                let right = egui::Layout::right_to_left(egui::Align::Center);
                ui.with_layout(right, |ui| {
                    let close = ui
                        .button("Close")
                        .on_hover_text("Close and show the model  (Esc)");
                    if close.clicked() {
                        chosen = Chosen::Close;
                    }
                });
            });
        });
        if modal.should_close() && matches!(chosen, Chosen::Nothing) {
            chosen = Chosen::Close;
        }
        chosen
    }

    /// Draws the open button and the samples.
    fn begin_ui(&mut self, ui: &mut Ui, chosen: &mut Chosen) {
        ui.label(RichText::new("Start").strong());
        let open = Button::new((
            icons::ICON_FOLDER_OPEN.rich_text().size(16.0),
            "Open model or project…",
        ));
        let response = ui.add(open.min_size(Vec2::new(ui.available_width(), 28.0)));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Open model or project…"));
        if response
            .on_hover_text(Command::Open.tooltip(ui.ctx()))
            .clicked()
        {
            *chosen = Chosen::Run(Command::Open);
        }
        ui.add_space(4.0);
        ui.label(RichText::new("Samples").color(theme::palette(ui).text_dim));
        if self.pictures.is_empty() {
            let ctx = ui.ctx().clone();
            self.pictures = SAMPLES.iter().map(|s| texture(&ctx, s)).collect();
        }
        let width = ((ui.available_width() - 12.0) / 3.0).floor();
        let all = SAMPLES.iter().zip(&self.pictures);
        for row in all.collect::<Vec<_>>().chunks(3) {
            // A long title takes a second line, for which all of a row have room.
            let titles = row.iter().map(|(sample, _)| title(ui, sample, width));
            let titles: Vec<Arc<Galley>> = titles.collect();
            let tallest = titles.iter().map(|title| title.size().y);
            let tallest = tallest.fold(0.0, f32::max);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                for ((sample, picture), title) in row.iter().zip(titles) {
                    let size = Vec2::new(width, (width * 0.625).round() + tallest + 6.0);
                    if sample_ui(ui, sample, picture.as_ref(), title, size) {
                        *chosen = Chosen::Run(Command::Sample(sample.id));
                    }
                }
            });
        }
        ui.add_space(8.0);
    }

    fn recents_ui(
        &self,
        ui: &mut Ui,
        recents: &[Recent],
        thumbnails: Option<&Thumbnails>,
        gallery: &mut Gallery,
        chosen: &mut Chosen,
    ) {
        ui.label(RichText::new("Recent files").strong());
        if recents.is_empty() {
            let text = "No recent files yet.";
            ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            return;
        }
        let height = (ui.ctx().content_rect().height() - 220.0).clamp(120.0, 340.0);
        ScrollArea::vertical()
            .id_salt("recents")
            .max_height(height)
            .show(ui, |ui| {
                for (i, recent) in recents.iter().enumerate() {
                    // Until checked, a file counts as existing.
                    let exists = self.exists.get(i).copied().unwrap_or(true);
                    let picture = thumbnails.map(|t| t.path_of(&recent.path));
                    let picture = picture.and_then(|p| gallery.picture(ui.ctx(), &p).cloned());
                    if recent_ui(ui, recent, exists, picture.as_ref()) {
                        *chosen = Chosen::Open(recent.path.clone());
                    }
                }
            });
    }
}

/// Draws a recent file; returns whether it was chosen.
fn recent_ui(
    ui: &mut Ui,
    recent: &Recent,
    exists: bool,
    picture: Option<&egui::TextureHandle>,
) -> bool {
    let palette = theme::palette(ui);
    let name = recent.path.file_name().unwrap_or(recent.path.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(Vec2::new(width, 60.0), Sense::click());
    let label = if exists {
        format!("Open {name}")
    } else {
        format!("{name} is missing")
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Button, exists, &label));
    let is_lit = exists && (response.hovered() || response.has_focus());
    if is_lit {
        ui.painter().rect_filled(rect, 4.0, palette.button);
    }
    let inner = egui::UiBuilder::new().max_rect(rect.shrink(4.0));
    ui.scope_builder(inner, |ui| {
        ui.horizontal(|ui| {
            thumbnail_ui(ui, picture, 83.0);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                let colour = if exists {
                    palette.text
                } else {
                    palette.text_dim
                };
                let line = |ui: &mut Ui, text: RichText| {
                    ui.add(egui::Label::new(text).truncate().selectable(false));
                };
                line(ui, RichText::new(&name).color(colour));
                let folder = recent.path.parent().map(|f| f.display().to_string());
                let folder = RichText::new(folder.unwrap_or_default()).small();
                line(ui, folder.color(palette.text_dim));
                let age = if exists {
                    recent.age()
                } else {
                    "This file no longer exists.".to_owned()
                };
                line(ui, RichText::new(age).small().color(palette.text_dim));
            });
        });
    });
    let path = recent.path.display().to_string();
    response.on_hover_text(path).clicked() && exists
}

/// Draws a sample; returns whether it was chosen.
fn sample_ui(
    ui: &mut Ui,
    sample: &Sample,
    picture: Option<&TextureHandle>,
    title: Arc<Galley>,
    size: Vec2,
) -> bool {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, sample.title));
    let palette = theme::palette(ui);
    let is_lit = response.hovered() || response.has_focus();
    if is_lit {
        ui.painter().rect_filled(rect, 4.0, palette.button);
    }
    let down = egui::Layout::top_down(egui::Align::LEFT);
    let inner = egui::UiBuilder::new().max_rect(rect).layout(down);
    ui.scope_builder(inner, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        thumbnail_ui(ui, picture, size.x);
    });
    let under = rect.top() + (size.x * 0.625).round() + 3.0;
    let at = egui::pos2(rect.center().x, under);
    let colour = if is_lit { palette.accent } else { palette.text };
    ui.painter()
        .galley_with_override_text_color(at, title, colour);
    response.on_hover_text(sample.about).clicked()
}

/// The title of a sample, in as many lines as it takes, centred at its position.
fn title(ui: &Ui, sample: &Sample, width: f32) -> Arc<Galley> {
    let font = FontId::proportional(12.0);
    let colour = theme::palette(ui).text;
    let mut job = LayoutJob::simple(sample.title.to_owned(), font, colour, width - 4.0);
    job.halign = egui::Align::Center;
    ui.painter().layout_job(job)
}

/// The picture of a sample as a texture.
fn texture(ctx: &egui::Context, sample: &Sample) -> Option<TextureHandle> {
    let picture = image::load_from_memory(sample.picture).ok()?.to_rgba8();
    let size = [picture.width() as usize, picture.height() as usize];
    let picture = ColorImage::from_rgba_unmultiplied(size, picture.as_raw());
    Some(ctx.load_texture(sample.id, picture, TextureOptions::LINEAR))
}

/// Draws key map and theme.
fn choices_ui(ui: &mut Ui, chosen: &mut Chosen) {
    ui.label(RichText::new("Input and theme").strong());
    egui::Grid::new("welcome choices")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            let name = ui.label("Key map");
            let map = keymap::of(ui.ctx());
            let mut preset = map.preset;
            let combo = egui::ComboBox::from_id_salt("welcome keys")
                .selected_text(preset.label())
                .show_ui(ui, |ui| {
                    for choice in Preset::ALL {
                        ui.selectable_value(&mut preset, choice, choice.label());
                    }
                });
            let about = "Shortcuts and mouse navigation of Blender or Maya.";
            combo.response.labelled_by(name.id).on_hover_text(about);
            if preset != map.preset {
                let mut map = (*map).clone();
                map.preset = preset;
                keymap::set(ui.ctx(), map);
            }
            ui.end_row();
            let name = ui.label("Theme");
            let mut choice = theme::choice(ui.ctx());
            let before = choice;
            let combo = egui::ComboBox::from_id_salt("welcome theme")
                .selected_text(choice.label())
                .show_ui(ui, |ui| {
                    for theme in ThemeChoice::ALL {
                        ui.selectable_value(&mut choice, theme, theme.label());
                    }
                });
            combo
                .response
                .labelled_by(name.id)
                .on_hover_text("Colours of the interface.");
            if choice != before {
                *chosen = Chosen::Run(Command::UseTheme(choice));
            }
            ui.end_row();
        });
}
