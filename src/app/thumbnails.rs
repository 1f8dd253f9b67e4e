//! Thumbnails of files: in the state folder for the welcome, beside autosaves for the recovery.

use crate::document::Image;
use crate::io::atomic::write_atomically;
use crate::io::read::read_file;
use eframe::egui;
use egui::{ColorImage, TextureHandle, TextureOptions};
use image::{ImageFormat, RgbaImage, imageops};
use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use xxhash_rust::xxh3::xxh3_64;

/// Width and height of a thumbnail, pixels.
pub(super) const SIZE: [u32; 2] = [160, 100];
/// Maximum number of thumbnails; older ones are deleted.
const KEEP: usize = 64;

/// The folder of thumbnails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thumbnails {
    folder: PathBuf,
}

impl Thumbnails {
    /// The thumbnails in `folder`, which may not exist yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The user's own: in `SINEW_STATE_DIR`, else in the system's state folder.
    pub fn of_user() -> Option<Self> {
        let state = match std::env::var_os("SINEW_STATE_DIR") {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => directories::ProjectDirs::from("", "", "sinew")?
                .cache_dir()
                .to_owned(),
        };
        Some(Self::in_folder(state.join("thumbnails")))
    }

    /// The path of the thumbnail of a model or project.
    pub fn path_of(&self, file: &Path) -> PathBuf {
        let full = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let key = xxh3_64(full.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{key:016x}.png"))
    }

    /// Deletes the oldest thumbnails beyond the maximum.
    fn tidy(&self) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let time = entry.metadata().ok()?.modified().ok()?;
                (entry.path().extension()? == "png").then(|| (time, entry.path()))
            })
            .collect();
        files.sort();
        for (_, path) in files.iter().rev().skip(KEEP) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The path of the thumbnail of an autosave: beside it.
pub(super) fn beside(autosave: &Path) -> PathBuf {
    autosave.with_extension("png")
}

/// Writes `picture`, scaled down, to `path` on a thread. Failures are ignored.
pub(super) fn keep(picture: Image, path: PathBuf, tidied: Option<Thumbnails>) {
    let job = move || {
        if let Some(png) = encode(picture)
            && path
                .parent()
                .is_some_and(|f| std::fs::create_dir_all(f).is_ok())
        {
            let _ = write_atomically(&path, &png);
        }
        if let Some(thumbnails) = tidied {
            thumbnails.tidy();
        }
    };
    let _ = std::thread::Builder::new()
        .name("thumbnail".into())
        .spawn(job);
}

/// Writes `picture` now, before exit.
pub(super) fn keep_now(picture: Image, path: &Path) {
    if let Some(png) = encode(picture)
        && path
            .parent()
            .is_some_and(|f| std::fs::create_dir_all(f).is_ok())
    {
        let _ = write_atomically(path, &png);
    }
}

/// The centre of `picture` cropped to the thumbnail's aspect ratio, as PNG.
fn encode(picture: Image) -> Option<Vec<u8>> {
    let (width, height) = (picture.width, picture.height);
    let whole = RgbaImage::from_raw(width, height, picture.rgba)?;
    let [to_width, to_height] = SIZE;
    let scale = f64::min(
        f64::from(width) / f64::from(to_width),
        f64::from(height) / f64::from(to_height),
    );
    let (w, h) = (
        ((f64::from(to_width) * scale) as u32).clamp(1, width),
        ((f64::from(to_height) * scale) as u32).clamp(1, height),
    );
    let middle = imageops::crop_imm(&whole, (width - w) / 2, (height - h) / 2, w, h);
    let small = imageops::thumbnail(&middle.to_image(), to_width, to_height);
    let mut png = Cursor::new(Vec::new());
    small.write_to(&mut png, ImageFormat::Png).ok()?;
    Some(png.into_inner())
}

/// Thumbnails on screen, read on threads.
#[derive(Default)]
pub(super) struct Gallery {
    pictures: HashMap<PathBuf, Picture>,
}

enum Picture {
    Loading(Receiver<Option<ColorImage>>),
    Ready(TextureHandle),
    Missing,
}

impl Gallery {
    /// Drops all thumbnails, so that they are read again.
    pub(super) fn clear(&mut self) {
        self.pictures.clear();
    }

    /// The thumbnail in the file `path`, once it is read.
    pub(super) fn picture(&mut self, ctx: &egui::Context, path: &Path) -> Option<&TextureHandle> {
        let entry = self.pictures.entry(path.to_owned()).or_insert_with(|| {
            let (send, receive) = channel();
            let (path, ctx) = (path.to_owned(), ctx.clone());
            let job = move || {
                let _ = send.send(load(&path));
                ctx.request_repaint();
            };
            let spawned = std::thread::Builder::new()
                .name("thumbnail".into())
                .spawn(job);
            spawned.map_or(Picture::Missing, |_| Picture::Loading(receive))
        });
        if let Picture::Loading(receive) = entry {
            match receive.try_recv() {
                Ok(Some(image)) => {
                    let name = format!("thumbnail {}", path.display());
                    let texture = ctx.load_texture(name, image, TextureOptions::LINEAR);
                    *entry = Picture::Ready(texture);
                }
                Ok(None) | Err(TryRecvError::Disconnected) => *entry = Picture::Missing,
                Err(TryRecvError::Empty) => {}
            }
        }
        match entry {
            Picture::Ready(texture) => Some(texture),
            Picture::Loading(_) | Picture::Missing => None,
        }
    }
}

fn load(path: &Path) -> Option<ColorImage> {
    let bytes = read_file(path, 1 << 20).ok()?;
    let mut reader = image::ImageReader::with_format(Cursor::new(bytes), ImageFormat::Png);
    let mut limits = image::Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(1024), Some(1024));
    reader.limits(limits);
    let image = reader.decode().ok()?.into_rgba8();
    let size = [image.width() as usize, image.height() as usize];
    Some(ColorImage::from_rgba_unmultiplied(size, image.as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_any_size_becomes_a_thumbnail() {
        for (width, height) in [(1000, 600), (90, 700), (1, 1), (4000, 30)] {
            let picture = Image {
                width,
                height,
                rgba: vec![200; (width * height * 4) as usize],
            };
            let folder = tempfile::tempdir().unwrap();
            let path = Thumbnails::in_folder(folder.path().join("new")).path_of(Path::new("a.ron"));
            keep_now(picture, &path);
            let image = load(&path).unwrap();
            assert_eq!(image.size, [160, 100], "{width} x {height}");
        }
        let broken = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(broken.path(), b"\x89PNG but not for long").unwrap();
        assert!(load(broken.path()).is_none());
    }
}
