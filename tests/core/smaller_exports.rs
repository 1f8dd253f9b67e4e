//! What makes corrected exports smaller: fewer keyframes, and compressed data.

use crate::bake::{corrected, with_stack};
use crate::export_models::{open, reopen};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, Edit};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use sinew::task::Task;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn arm() -> Document {
    let path = format!("{}/assets/arm.glb", env!("CARGO_MANIFEST_DIR"));
    with_stack(open(Path::new(&path)), &DeformStack::dqs())
}

/// The channels of helper joints in a clip.
fn of_helpers(read: &Document, clip: ClipId) -> Vec<&Channel> {
    let is_helper = |joint: JointId| read.skeleton().joint(joint).name.starts_with("Helper");
    let channels = read.clips()[&clip].channels.iter();
    channels.filter(|c| is_helper(c.joint)).collect()
}

#[test]
fn tracks_have_the_keyframes_that_the_tolerance_needs() {
    let mut document = arm();
    // A clip that bends the elbow by half a degree, which is within the tolerance without helper joints.
    let (_, first) = document.clips().first_key_value().unwrap();
    let elbow = &first.channels[0];
    let angles = (0..=20u8).map(|i| 0.25f32.to_radians() * (f32::from(i) * 0.6).sin());
    let still = Channel {
        interpolation: Interpolation::Linear,
        times: (0..=20u8).map(|i| f32::from(i) * 0.1).collect(),
        values: angles
            .flat_map(|half| [half.sin(), 0.0, 0.0, half.cos()])
            .collect(),
        ..elbow.clone()
    };
    assert_eq!(still.property, Property::Rotation);
    let added = ClipId(document.clips().len() as u32);
    let clip = Clip {
        name: "Still".into(),
        channels: vec![still],
        ..Clip::default()
    };
    let mut edit = Edit::Clip {
        id: added,
        clip: Some(Arc::new(clip)),
    };
    document.apply(&mut edit).unwrap();
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.met && report.max_percent <= 0.1, "{report:?}");
    assert!(report.helper_joints > 0);
    let read = reopen(&exported);
    assert_eq!(of_helpers(&read, added).len(), 0);
    let (mut n_keys, mut most) = (0, 0);
    for &other in document.clips().keys().filter(|id| **id != added) {
        let tracks = of_helpers(&read, other);
        let times = tracks.iter().flat_map(|c| c.times.iter());
        let all: BTreeSet<u32> = times.map(|t| t.to_bits()).collect();
        n_keys += tracks.iter().map(|c| c.times.len()).sum::<usize>();
        most += tracks.len() * all.len();
    }
    println!("{n_keys} keyframes of {most}");
    assert!(most > 0 && 10 * n_keys < 9 * most);
}

#[test]
fn compressed_files_are_smaller_and_hold_the_same() {
    let document = arm();
    for (format, correct) in [
        (GltfFormat::Glb, Some(BakeOptions::default())),
        (GltfFormat::Gltf, None),
    ] {
        let write = |meshopt: bool| {
            let options = ExportOptions {
                format,
                meshopt,
                correct: correct.clone(),
                ..ExportOptions::default()
            };
            export(&document, &options, &Task::new()).unwrap()
        };
        let (plain, small) = (write(false), write(true));
        let size = |files: &[(String, bytes::Bytes)]| -> usize {
            files.iter().map(|(_, bytes)| bytes.len()).sum()
        };
        let sizes = (size(&plain.files), size(&small.files));
        println!("{sizes:?}");
        assert!(10 * sizes.1 < 8 * sizes.0, "{sizes:?}");
        let (plain, small) = (reopen(&plain), reopen(&small));
        assert_eq!(plain.clips(), small.clips());
        for (id, item) in plain.meshes() {
            let other = &small.meshes()[id];
            assert_eq!(item.geometry.positions, other.geometry.positions);
            assert_eq!(item.geometry.normals, other.geometry.normals);
            assert_eq!(item.influences, other.influences);
            let source = small.source().unwrap();
            let required = source.json["extensionsRequired"].to_string();
            assert!(required.contains("EXT_meshopt_compression"), "{required}");
        }
    }
}
