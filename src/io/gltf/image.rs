//! Images: decodes PNG, JPEG, WebP and DDS to 8-bit RGBA within the memory budget.

use super::buffers::Data;
use super::error::{Fault, ImportError};
use super::findings::Findings;
use super::json::At;
use super::uri;
use crate::document::{Image, Material};
use crate::finding::Finding;
use crate::task::Task;
use bytes::Bytes;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// The memory of a PNG besides its pixels and its file, bytes. A colour profile that needs more is left out; Sinew shows
/// pictures without profiles.
const METADATA_BYTES: u64 = 1 << 20;
/// The largest width or height that is read, pixels.
const MAX_SIDE: u32 = 16_384;

/// Decodes the images that materials use (the others stay `None`); an undecodable one becomes a finding.
pub(super) fn read_all(
    data: &Data<'_>,
    materials: &[Material],
    folder: Option<&Path>,
    task: &Task,
    findings: &mut Findings,
) -> Result<Vec<Option<Arc<Image>>>, ImportError> {
    task.step("Reading images", 0.8)?;
    let mut images = vec![None; data.len("images")];
    let shown: BTreeSet<usize> = materials
        .iter()
        .flat_map(Material::images)
        .map(|i| i as usize)
        .collect();
    let shown: Vec<usize> = shown.into_iter().collect();
    let jobs: Vec<_> = shown
        .par_iter()
        .map(|&i| plan(data, &data.at("images", i), folder))
        .collect();
    // Jobs that fit into the remaining memory together run in parallel, the others after them.
    let mut waiting: Vec<(usize, Job)> = Vec::new();
    for (&i, job) in shown.iter().zip(jobs) {
        match job {
            Err(fault) => findings.push(fault.warning("Its material is shown without it.")),
            Ok(job) => {
                let held: u64 = waiting.iter().map(|(_, job)| job.peak_bytes()).sum();
                if held + job.peak_bytes() > data.budget.left() {
                    decode_all(data, &mut waiting, &mut images, task, findings)?;
                }
                waiting.push((i, job));
            }
        }
    }
    decode_all(data, &mut waiting, &mut images, task, findings)?;
    Ok(images)
}

/// An image whose size is known, but which is not decoded yet.
struct Job {
    at_place: String,
    bytes: Bytes,
    width: u32,
    height: u32,
    raw_bytes: u64,
}

impl Job {
    fn rgba_bytes(&self, halvings: u32) -> u64 {
        u64::from((self.width >> halvings).max(1)) * u64::from((self.height >> halvings).max(1)) * 4
    }

    fn peak_bytes(&self) -> u64 {
        self.raw_bytes + self.rgba_bytes(0)
    }
}

fn plan(data: &Data<'_>, at: &At<'_>, folder: Option<&Path>) -> Result<Job, Fault> {
    let bytes = match at.text("uri") {
        Some(uri) => uri::fetch(uri, &at.path("uri"), folder, data.budget)?.bytes,
        None => data.view(at, "bufferView")?.bytes,
    };
    let decoder = decoder(&bytes, &at.place)?;
    let (width, height) = decoder.dimensions();
    if width.max(height) > MAX_SIDE || width.min(height) == 0 {
        return Err(Fault::new(
            &at.place,
            format!(
                "{} is {width} x {height} pixels, but at most {MAX_SIDE} per side are supported.",
                at.place
            ),
        ));
    }
    Ok(Job {
        raw_bytes: decoder.total_bytes(),
        at_place: at.place.clone(),
        bytes: bytes.clone(),
        width,
        height,
    })
}

fn decoder<'b>(bytes: &'b [u8], place: &str) -> Result<impl ImageDecoder + 'b, Fault> {
    if bytes.starts_with(b"\xabKTX 20\xbb") {
        return Err(Fault::new(
            place,
            format!("{place} is a KTX2 image, which is not supported."),
        ));
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        Fault::new(place, format!("{place} cannot be decoded: {error}."))
    };
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| unreadable(&error))?;
    if reader.format().is_none() {
        return Err(unreadable(&"it is neither PNG, JPEG, WebP nor DDS"));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(1 << 20);
    limits.max_image_height = Some(1 << 20);
    // Of PNG only: lines of pixels, and metadata such as colour profiles, which may be compressed a thousandfold.
    limits.max_alloc = Some(2 * bytes.len() as u64 + METADATA_BYTES);
    reader.limits(limits);
    reader.into_decoder().map_err(|error| unreadable(&error))
}

/// Decodes the waiting jobs in parallel.
fn decode_all(
    data: &Data<'_>,
    waiting: &mut Vec<(usize, Job)>,
    images: &mut [Option<Arc<Image>>],
    task: &Task,
    findings: &mut Findings,
) -> Result<(), ImportError> {
    let decoded: Vec<_> = waiting
        .par_drain(..)
        .map(|(i, job)| -> Result<_, ImportError> {
            task.check()?;
            Ok((i, decode(data, &job)))
        })
        .collect::<Result<_, _>>()?;
    for (i, result) in decoded {
        match result {
            Ok((image, finding)) => {
                images[i] = Some(Arc::new(image));
                if let Some(finding) = finding {
                    findings.push(finding);
                }
            }
            Err(fault) => findings.push(fault.warning("Its material is shown without it.")),
        }
    }
    Ok(())
}

/// Decodes an image, halved until it fits into the remaining memory.
fn decode(data: &Data<'_>, job: &Job) -> Result<(Image, Option<Finding>), Fault> {
    data.budget.charge(job.raw_bytes, &job.at_place)?;
    let halvings = (0..6).find(|&h| data.budget.charge(job.rgba_bytes(h), &job.at_place).is_ok());
    let decoded = match halvings {
        None => Err(Fault::new(
            &job.at_place,
            format!(
                "{} is {} x {} pixels, which needs more memory than a file of this size may use.",
                job.at_place, job.width, job.height
            ),
        )),
        Some(halvings) => pixels(job, halvings),
    };
    data.budget.refund(job.raw_bytes);
    let image = decoded?;
    let finding = (image.width < job.width).then(|| {
        Finding::info(
            &job.at_place,
            format!(
                "{} is {} x {} pixels; it is shown at {} x {} to save memory.",
                job.at_place, job.width, job.height, image.width, image.height
            ),
        )
    });
    Ok((image, finding))
}

fn pixels(job: &Job, halvings: u32) -> Result<Image, Fault> {
    // A panic in a decoder must not lose the artist's work.
    let decoded = std::panic::catch_unwind(|| {
        decoder(&job.bytes, &job.at_place).and_then(|decoder| {
            DynamicImage::from_decoder(decoder).map_err(|error| {
                Fault::new(
                    &job.at_place,
                    format!("{} cannot be decoded: {error}.", job.at_place),
                )
            })
        })
    });
    let picture = decoded.unwrap_or_else(|_| {
        Err(Fault::new(
            &job.at_place,
            format!("{} cannot be decoded: it is damaged.", job.at_place),
        ))
    })?;
    if halvings == 0 {
        let rgba = picture.into_rgba8();
        return Ok(Image {
            width: rgba.width(),
            height: rgba.height(),
            rgba: rgba.into_raw(),
        });
    }
    let (width, height) = (
        (job.width >> halvings).max(1),
        (job.height >> halvings).max(1),
    );
    let small = picture.thumbnail_exact(width, height);
    drop(picture);
    let small = small.into_rgba8();
    Ok(Image {
        width,
        height,
        rgba: small.into_raw(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG chunk; the decoder checks the sums of critical chunks only.
    fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
        let mut crc = 0xffff_ffff_u32;
        for &byte in kind.iter().chain(data) {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(crc & 1));
            }
        }
        let length = (data.len() as u32).to_be_bytes();
        [&length[..], &kind, data, &(!crc).to_be_bytes()].concat()
    }

    fn png(side: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let picture = image::GrayImage::new(side, side);
        picture
            .write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png)
            .unwrap();
        bytes
    }

    /// The pixels of a PNG, compressed.
    fn pixels_of(png: &[u8]) -> Vec<u8> {
        let (mut at, mut data) = (8, Vec::new());
        while at < png.len() {
            let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
            if &png[at + 4..at + 8] == b"IDAT" {
                data.extend_from_slice(&png[at + 8..at + 8 + length]);
            }
            at += 12 + length;
        }
        data
    }

    #[test]
    fn a_colour_profile_that_grows_a_thousandfold_is_left_out() {
        // A compressed stream of 4 MiB of zeros, as a picture and as a profile.
        let stream = pixels_of(&png(2048));
        let small = png(8);
        for (profile, is_read) in [(stream, false), (pixels_of(&png(32)), true)] {
            let header = 8 + 25;
            let profile = chunk(*b"iCCP", &[b"name\0\0", &profile[..]].concat());
            let bomb = [&small[..header], &profile, &small[header..]].concat();
            let mut decoder = decoder(&bomb, "images[0]").unwrap();
            assert_eq!(decoder.icc_profile().unwrap().is_some(), is_read);
            let picture = DynamicImage::from_decoder(decoder).unwrap();
            assert_eq!((picture.width(), picture.height()), (8, 8));
        }
    }

    #[test]
    fn a_large_picture_needs_no_more_than_its_pixels() {
        let bytes = png(2048);
        let read = decoder(&bytes, "images[0]").map(DynamicImage::from_decoder);
        assert_eq!(read.unwrap().unwrap().width(), 2048);
    }
}
