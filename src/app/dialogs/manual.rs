//! The manual, with a table of contents; it needs no browser.

use super::modal;
use crate::view::theme;
use eframe::egui;
use egui::{Align, Grid, Layout, RichText, ScrollArea, Ui};
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};

/// Width of the table of contents, points.
const CONTENTS_WIDTH: f32 = 190.0;
/// The largest part of the width that the first column of a table takes.
const FIRST_COLUMN: f32 = 0.38;

/// Title, file name and text of each page.
const PAGES: [(&str, &str, &str); 8] = [
    (
        "Manual",
        "README.md",
        include_str!("../../../assets/manual/README.md"),
    ),
    (
        "Window and keys",
        "window.md",
        include_str!("../../../assets/manual/window.md"),
    ),
    (
        "Control clusters",
        "clusters.md",
        include_str!("../../../assets/manual/clusters.md"),
    ),
    (
        "Command line",
        "command-line.md",
        include_str!("../../../assets/manual/command-line.md"),
    ),
    (
        "Formats and export",
        "formats.md",
        include_str!("../../../assets/manual/formats.md"),
    ),
    (
        "Driving helper joints",
        "helper-joints.md",
        include_str!("../../../assets/manual/helper-joints.md"),
    ),
    (
        "Figures",
        "figures.md",
        include_str!("../../../assets/manual/figures.md"),
    ),
    (
        "How Sinew is built",
        "ARCHITECTURE.md",
        include_str!("../../ARCHITECTURE.md"),
    ),
];

/// The open manual.
pub(in crate::app) struct Manual {
    page: usize,
    sections: Vec<Section>,
    /// The section to scroll to in the next frame.
    wanted: Option<usize>,
    text: MarkdownView,
}

impl Default for Manual {
    fn default() -> Self {
        Self {
            page: 0,
            sections: sections(PAGES[0].2),
            wanted: None,
            text: MarkdownView::default(),
        }
    }
}

impl Manual {
    /// Shows the manual over the window; whether it stays open.
    pub(in crate::app) fn show(&mut self, ctx: &egui::Context) -> bool {
        let mut closes = false;
        let screen = ctx.content_rect().size();
        let modal = modal(ctx, "manual").show(ctx, |ui| {
            ui.set_width(980.0_f32.min(screen.x - 64.0));
            ui.set_height(760.0_f32.min(screen.y - 80.0));
            ui.horizontal(|ui| {
                ui.heading(PAGES[self.page].0);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let close = ui.button("Close");
                    closes = close.on_hover_text("Close the manual  (Esc)").clicked();
                });
            });
            ui.separator();
            ui.horizontal_top(|ui| {
                self.contents_ui(ui);
                ui.separator();
                self.page_ui(ui);
            });
        });
        if let Some(page) = self.text.followed.take() {
            self.open(page);
        }
        !closes && !modal.should_close()
    }

    fn open(&mut self, page: usize) {
        self.page = page;
        self.sections = sections(PAGES[page].2);
        self.wanted = Some(0);
    }

    fn contents_ui(&mut self, ui: &mut Ui) {
        let height = ui.available_height();
        let mut opened = None;
        let size = egui::vec2(CONTENTS_WIDTH, height);
        ui.allocate_ui_with_layout(size, Layout::top_down_justified(Align::Min), |ui| {
            ScrollArea::vertical()
                .id_salt("manual contents")
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    for (i, (title, ..)) in PAGES.iter().enumerate() {
                        let is_open = i == self.page;
                        if ui.selectable_label(is_open, *title).clicked() {
                            opened = Some(i);
                        }
                        if !is_open {
                            continue;
                        }
                        for (s, section) in self.sections.iter().enumerate().skip(1) {
                            let text = RichText::new(format!("    {}", section.title)).small();
                            let entry = egui::Button::selectable(false, text).truncate();
                            if ui.add(entry).clicked() {
                                self.wanted = Some(s);
                            }
                        }
                    }
                });
        });
        if let Some(page) = opened {
            self.open(page);
        }
    }

    fn page_ui(&mut self, ui: &mut Ui) {
        let wanted = self.wanted.take();
        let height = ui.available_height();
        // A row lays its content out from left to right, inside a scroll area too.
        let size = egui::vec2(ui.available_width(), height);
        ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
            ScrollArea::vertical()
                .id_salt("manual page")
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let width = ui.available_width() - 12.0;
                    ui.set_max_width(width);
                    for (s, section) in self.sections.iter().enumerate() {
                        if wanted == Some(s) {
                            ui.scroll_to_cursor(Some(Align::TOP));
                        }
                        for (b, block) in section.blocks.iter().enumerate() {
                            ui.push_id((self.page, s, b), |ui| match block {
                                Block::Text(text) => {
                                    self.text.show_ui(ui, text, Some(width as usize));
                                }
                                Block::Code(code) => code_ui(ui, code),
                                Block::Table(rows) => table_ui(ui, &mut self.text, rows, width),
                            });
                        }
                        ui.add_space(8.0);
                    }
                });
        });
    }
}

/// Draws Markdown, and notes the link that was clicked.
struct MarkdownView {
    /// Of the text, and of the links between pages.
    cache: CommonMarkCache,
    /// The page whose link was clicked.
    followed: Option<usize>,
}

impl Default for MarkdownView {
    fn default() -> Self {
        let mut cache = CommonMarkCache::default();
        for (_, _, text) in PAGES {
            for link in links(text).filter(|link| page_of(link).is_some()) {
                cache.add_link_hook(link);
            }
        }
        Self {
            cache,
            followed: None,
        }
    }
}

impl MarkdownView {
    fn show_ui(&mut self, ui: &mut Ui, text: &str, width: Option<usize>) {
        let viewer = CommonMarkViewer::new().default_width(width);
        viewer.show(ui, &mut self.cache, text);
        // The next call forgets which link was clicked.
        let mut hooks = self.cache.link_hooks().iter();
        let clicked = hooks.find(|(_, clicked)| **clicked);
        self.followed = self
            .followed
            .or(clicked.and_then(|(link, _)| page_of(link)));
    }
}

/// Lines of code; the viewer's own block has a button whose symbol no font of the window has.
fn code_ui(ui: &mut Ui, code: &str) {
    let frame = egui::Frame::group(ui.style()).fill(theme::palette(ui).field);
    frame.show(ui, |ui| {
        let text = RichText::new(code.trim_end()).monospace();
        ui.add(egui::Label::new(text).wrap());
    });
    ui.add_space(6.0);
}

/// A table whose cells wrap; the viewer's own cells do not.
fn table_ui(ui: &mut Ui, text: &mut MarkdownView, rows: &[Vec<String>], width: f32) {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let spacing = 12.0;
    let room = width - 24.0 - spacing * (n_columns - 1) as f32;
    // Two or three columns explain something: the first names it.
    let first = if n_columns < 4 {
        let longest = rows.iter().filter_map(|row| row.first());
        let longest = longest.map(String::len).max().unwrap_or(0);
        (longest as f32 * 7.0 + 12.0).min(FIRST_COLUMN * room)
    } else {
        room / n_columns as f32
    };
    let other = (room - first) / (n_columns - 1).max(1) as f32;
    let frame = egui::Frame::group(ui.style()).fill(theme::palette(ui).field);
    frame.show(ui, |ui| {
        Grid::new("table")
            .num_columns(n_columns)
            .spacing([spacing, 4.0])
            .show(ui, |ui| {
                for (r, row) in rows.iter().enumerate() {
                    for (c, cell) in row.iter().enumerate() {
                        let width = if c == 0 { first } else { other };
                        ui.push_id((r, c), |ui| {
                            ui.set_min_width(width);
                            ui.set_max_width(width);
                            if r == 0 {
                                ui.strong(cell);
                            } else {
                                text.show_ui(ui, cell, None);
                            }
                        });
                    }
                    ui.end_row();
                }
            });
    });
    ui.add_space(6.0);
}

/// What stands under a heading, up to the next one.
struct Section {
    title: String,
    blocks: Vec<Block>,
}

enum Block {
    /// Markdown without tables.
    Text(String),
    /// Lines of code.
    Code(String),
    /// The cells of each row, the first row the header.
    Table(Vec<Vec<String>>),
}

/// A page in its sections, without the marks of generated tables.
fn sections(page: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut is_code = false;
    for line in page.lines().filter(|line| !line.starts_with("<!--")) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let heading = line.strip_prefix('#').filter(|_| !is_code);
        let is_new = heading.is_some() || sections.is_empty();
        if is_new {
            let title = heading.unwrap_or(line).trim_start_matches('#').trim();
            sections.push(Section {
                title: title.to_owned(),
                blocks: Vec::new(),
            });
        }
        let Some(section) = sections.last_mut() else {
            continue;
        };
        if is_fence {
            if is_code {
                section.blocks.push(Block::Code(String::new()));
            }
        } else if is_code {
            if let Some(Block::Code(code)) = section.blocks.last_mut() {
                code.push_str(line);
                code.push('\n');
            }
        } else if line.starts_with('|') {
            let cells = line.trim_matches('|').split('|');
            let cells: Vec<String> = cells.map(|cell| cell.trim().to_owned()).collect();
            // The line under the header.
            if cells.iter().all(|cell| cell.starts_with("---")) {
                continue;
            }
            match section.blocks.last_mut() {
                Some(Block::Table(rows)) => rows.push(cells),
                _ => section.blocks.push(Block::Table(vec![cells])),
            }
        } else {
            match section.blocks.last_mut() {
                Some(Block::Text(text)) => {
                    text.push('\n');
                    text.push_str(line);
                }
                _ if line.is_empty() => {}
                _ => section.blocks.push(Block::Text(line.to_owned())),
            }
        }
    }
    sections
}

/// The targets of a page's links.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

/// The page that a link leads to.
fn page_of(link: &str) -> Option<usize> {
    let file = link.rsplit('/').next()?;
    PAGES.iter().position(|(_, name, _)| *name == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_split_at_headings_and_tables() {
        let page = "# A\n\ntext `a|b`\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\nmore\n\n## B\n```sh\n# no heading\n| no table\n```\n<!-- x -->\n";
        let found = sections(page);
        let titles: Vec<&str> = found.iter().map(|s| s.title.as_str()).collect();
        assert_eq!(titles, ["A", "B"]);
        let [Block::Text(_), Block::Table(rows), Block::Text(more)] = &found[0].blocks[..] else {
            panic!("text, a table, text");
        };
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1], ["1", "2"]);
        assert_eq!(more, "more\n");
        let [Block::Text(heading), Block::Code(code)] = &found[1].blocks[..] else {
            panic!("a heading and its code");
        };
        assert_eq!(heading, "## B");
        assert_eq!(code, "# no heading\n| no table\n");
    }

    #[test]
    fn every_page_is_reached_from_the_first_and_every_row_has_its_cells() {
        let reached: Vec<usize> = links(PAGES[0].2).filter_map(page_of).collect();
        for (i, (title, _, text)) in PAGES.iter().enumerate().skip(1) {
            assert!(reached.contains(&i), "{title}");
            for section in sections(text) {
                for block in &section.blocks {
                    if let Block::Table(rows) = block {
                        let n = rows[0].len();
                        let odd: Vec<_> = rows.iter().filter(|row| row.len() != n).collect();
                        assert!(odd.is_empty(), "{title}, {}: {odd:?}", section.title);
                    }
                }
            }
        }
    }
}
