//! A list of the files of a folder, for path dialogs where the system has no file dialog of its own.
//!
//! Invariant: folders are read on a thread: a network disk may be slow.

use crate::view::middle;
use crate::view::theme;
use crossbeam_channel::{Receiver, bounded};
use eframe::egui;
use egui::{Button, Rect, Response, Role, ScrollArea, Sense, TextEdit, Ui, Vec2, WidgetInfo, pos2};
use egui_material_icons::icons;
use std::path::{Path, PathBuf};

/// Folders with more entries list the first ones by name.
const MOST_ENTRIES: usize = 5000;
/// Width of the filter, points.
const FILTER: f32 = 130.0;
/// Width of the places, points.
const PLACES: f32 = 150.0;

/// A file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    is_folder: bool,
}

/// The content of a folder, or why it cannot be read.
type Content = Result<Vec<Entry>, String>;

/// The list of a folder's files, with places and recent files beside it.
pub(super) struct Browser {
    folder: PathBuf,
    /// The endings of the files that are listed.
    endings: &'static [&'static str],
    content: Option<Content>,
    reading: Option<Receiver<Content>>,
    filter: String,
    places: Vec<(&'static str, PathBuf)>,
    recents: Vec<PathBuf>,
}

/// What was done in the list in a frame.
pub(super) enum Picked {
    Nothing,
    /// Clicked: the path goes to the field.
    File(PathBuf),
    /// Clicked twice: the dialog ends with it.
    Opened(PathBuf),
}

impl Browser {
    /// The list of `folder` with files of these endings, and the recent files that have one.
    pub(super) fn new(
        folder: PathBuf,
        endings: &'static [&'static str],
        recents: &[PathBuf],
        ctx: &egui::Context,
    ) -> Self {
        let mut places: Vec<(&'static str, PathBuf)> = Vec::new();
        if let Some(dirs) = directories::UserDirs::new() {
            places.push(("Home", dirs.home_dir().to_owned()));
            let more = [
                ("Desktop", dirs.desktop_dir()),
                ("Documents", dirs.document_dir()),
                ("Downloads", dirs.download_dir()),
            ];
            let more = more
                .into_iter()
                .filter_map(|(name, path)| Some((name, path?.to_owned())));
            places.extend(more);
        }
        let recents = recents.iter().filter(|path| has_ending(path, endings));
        let mut browser = Self {
            folder: PathBuf::new(),
            endings,
            content: None,
            reading: None,
            filter: String::new(),
            places,
            recents: recents.take(6).cloned().collect(),
        };
        browser.go_to(folder, ctx);
        browser
    }

    /// Lists another folder.
    fn go_to(&mut self, folder: PathBuf, ctx: &egui::Context) {
        let (send, receive) = bounded(1);
        let (endings, ctx, asked) = (self.endings, ctx.clone(), folder.clone());
        let job = move || {
            let _ = send.send(read_folder(&asked, endings));
            ctx.request_repaint();
        };
        let spawned = std::thread::Builder::new().name("folder".into()).spawn(job);
        self.reading = spawned.ok().map(|_| receive);
        self.content = None;
        self.filter.clear();
        self.folder = folder;
    }

    /// Draws the list, `size` points large.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, size: Vec2, typed: &Path) -> Picked {
        if let Some(content) = self.reading.as_ref().and_then(|r| r.try_recv().ok()) {
            self.content = Some(content);
            self.reading = None;
        }
        let (mut picked, mut next) = (Picked::Nothing, None);
        ui.horizontal(|ui| {
            let up = self.folder.parent().map(Path::to_owned);
            let icon = Button::new(icons::ICON_ARROW_UPWARD.rich_text().size(16.0));
            let response = ui.add_enabled(up.is_some(), icon);
            response
                .widget_info(|| WidgetInfo::labeled(Role::Button, up.is_some(), "Parent folder"));
            if response.on_hover_text("Go to the parent folder.").clicked() {
                next = up;
            }
            let room = (ui.available_width() - FILTER - 24.0).max(40.0);
            let palette = theme::palette(ui);
            let folder = self.folder.display().to_string();
            middle::label_ui(ui, &folder, palette.text, room);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let field = TextEdit::singleline(&mut self.filter)
                    .hint_text("Filter")
                    .desired_width(FILTER);
                let response = ui.add(field);
                response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter files"));
            });
        });
        ui.horizontal_top(|ui| {
            ui.set_height(size.y);
            ui.vertical(|ui| {
                ui.set_width(PLACES);
                self.places_ui(ui, &mut picked, &mut next);
            });
            ui.separator();
            ui.vertical(|ui| {
                ui.set_width((size.x - PLACES - 24.0).max(120.0));
                self.entries_ui(ui, typed, &mut picked, &mut next);
            });
        });
        if let Some(folder) = next {
            self.go_to(folder, &ui.ctx().clone());
        }
        picked
    }

    fn places_ui(&self, ui: &mut Ui, picked: &mut Picked, next: &mut Option<PathBuf>) {
        for (name, path) in &self.places {
            let is_here = *path == self.folder;
            let response = row_ui(ui, icons::ICON_FOLDER_OPEN, name, is_here);
            if response.on_hover_text(path.display().to_string()).clicked() {
                *next = Some(path.clone());
            }
        }
        if self.recents.is_empty() {
            return;
        }
        ui.add_space(4.0);
        ui.label(egui::RichText::new("Recent").color(theme::palette(ui).text_dim));
        ScrollArea::vertical()
            .id_salt("recent files")
            .show(ui, |ui| {
                for path in &self.recents {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let response = row_ui(ui, icons::ICON_HISTORY, &name, false);
                    let twice = response.double_clicked();
                    if response.on_hover_text(path.display().to_string()).clicked() {
                        *picked = Picked::File(path.clone());
                    }
                    if twice {
                        *picked = Picked::Opened(path.clone());
                    }
                }
            });
    }

    fn entries_ui(
        &self,
        ui: &mut Ui,
        typed: &Path,
        picked: &mut Picked,
        next: &mut Option<PathBuf>,
    ) {
        let dim = theme::palette(ui).text_dim;
        let entries = match &self.content {
            None => {
                ui.label(egui::RichText::new("Reading the folder…").color(dim));
                return;
            }
            Some(Err(why)) => {
                ui.label(egui::RichText::new(why).color(theme::palette(ui).error));
                return;
            }
            Some(Ok(entries)) => entries,
        };
        let wanted = self.filter.to_lowercase();
        let shown: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.name.to_lowercase().contains(&wanted))
            .collect();
        if shown.is_empty() {
            let text = if entries.is_empty() {
                format!(
                    "No folders and no files ending in .{}.",
                    self.endings.join(", .")
                )
            } else {
                "No name contains the filter.".to_owned()
            };
            ui.label(egui::RichText::new(text).color(dim));
            return;
        }
        ScrollArea::vertical()
            .id_salt("files")
            .auto_shrink([false, false])
            .show_rows(ui, theme::ROW, shown.len(), |ui, range| {
                for entry in &shown[range] {
                    let path = self.folder.join(&entry.name);
                    let icon = if entry.is_folder {
                        icons::ICON_FOLDER
                    } else {
                        icons::ICON_DEPLOYED_CODE
                    };
                    let response = row_ui(ui, icon, &entry.name, path == typed);
                    match (entry.is_folder, response.double_clicked()) {
                        // One click, as it has nothing else to do.
                        (true, _) if response.clicked() => *next = Some(path),
                        (false, true) => *picked = Picked::Opened(path),
                        (false, false) if response.clicked() => *picked = Picked::File(path),
                        _ => {}
                    }
                }
            });
    }
}

/// Draws one row.
fn row_ui(
    ui: &mut Ui,
    icon: egui_material_icons::MaterialIcon,
    name: &str,
    is_chosen: bool,
) -> Response {
    let size = Vec2::new(ui.available_width(), theme::ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, is_chosen, name));
    let palette = theme::palette(ui);
    if is_chosen {
        ui.painter().rect_filled(rect, 3.0, palette.selected);
    } else if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 3.0, palette.button_hovered);
    }
    let place = Rect::from_min_size(rect.min + Vec2::new(4.0, 0.0), Vec2::new(16.0, theme::ROW));
    crate::view::panels::paint_icon(ui, place, icon, palette.text_dim);
    let left = place.right() + 6.0;
    let galley = middle::body(ui, name, rect.right() - 4.0 - left);
    let at = pos2(left, rect.center().y - 0.5 * galley.size().y);
    ui.painter()
        .galley_with_override_text_color(at, galley, palette.text);
    response
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| endings.contains(&ending.as_str()))
}

/// The folders of a folder, then its files with these endings, each by name; hidden ones are left out.
fn read_folder(folder: &Path, endings: &[&str]) -> Content {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("The folder cannot be read: {error}."))?;
    let mut found: Vec<Entry> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            // Follows links.
            let is_folder = path.is_dir();
            let is_listed = is_folder || has_ending(&path, endings);
            (is_listed && !name.starts_with('.')).then_some(Entry { name, is_folder })
        })
        .collect();
    let key = |entry: &Entry| (!entry.is_folder, entry.name.to_lowercase());
    found.sort_by_cached_key(key);
    found.truncate(MOST_ENTRIES);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lists_folders_then_files_of_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.glb", "A.GLTF", "note.txt", ".hidden.glb"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("z")).unwrap();
        let found = read_folder(folder.path(), &["glb", "gltf"]).unwrap();
        let names: Vec<&str> = found.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["z", "A.GLTF", "b.glb"]);
        let nowhere = read_folder(&folder.path().join("nowhere"), &["glb"]);
        assert!(nowhere.unwrap_err().contains("cannot be read"));
    }
}
