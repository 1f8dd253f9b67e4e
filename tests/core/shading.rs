//! Normals of corrected exports: what a player shades is what the stack shows.

use crate::bake::{corrected, with_stack};
use crate::export_models::{open, reopen};
use crate::shared::shared_dir;
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::Document;

fn model(test: &str, path: &str) -> Option<Document> {
    Some(open(&shared_dir(test)?.join("models").join(path)))
}

#[test]
fn targets_that_move_nothing_turn_normals_where_helper_joints_move_the_skin() {
    let test = "targets_that_move_nothing_turn_normals_where_helper_joints_move_the_skin";
    let Some(document) = model(test, "skinned_cylinder/skinned_cylinder.gltf") else {
        return;
    };
    let document = with_stack(document, &DeformStack::dqs());
    let (_, without) = corrected(
        &document,
        BakeOptions {
            normals: false,
            ..BakeOptions::default()
        },
    );
    let (exported, with) = corrected(&document, BakeOptions::default());
    assert!(with.met && without.met);
    assert!(
        without.helper_joints > 0 && without.morph_targets == 0,
        "{without:?}"
    );
    assert!(without.normals.p99_degrees > 4.0, "{without:?}");
    assert!(with.normals.p99_degrees < 2.0, "{with:?}");
    // The positions are the same: the further targets move no vertex.
    assert!((with.max_percent - without.max_percent).abs() < 1e-3);
    let read = reopen(&exported);
    let morphs = &read.meshes().values().next().unwrap().geometry.morphs;
    assert_eq!(morphs.len(), with.morph_targets);
    assert!(morphs.iter().any(|morph| !morph.normals.is_empty()));
    for morph in morphs {
        assert!(morph.deltas.iter().all(|delta| delta.length() < 1e-6));
    }
    // No more targets than are allowed.
    let (_, few) = corrected(
        &document,
        BakeOptions {
            max_morphs: 0,
            ..BakeOptions::default()
        },
    );
    assert_eq!(few.morph_targets, 0);
}

#[test]
fn deltas_never_make_normals_worse() {
    let test = "deltas_never_make_normals_worse";
    let Some(document) = model(test, "skinned_cylinder/skinned_cylinder.gltf") else {
        return;
    };
    let (_, with) = corrected(&document, BakeOptions::default());
    let options = BakeOptions {
        normals: false,
        ..BakeOptions::default()
    };
    let (_, without) = corrected(&document, options);
    for (with, without) in [
        (with.normals.p99_degrees, without.normals.p99_degrees),
        (with.normals.mean_degrees, without.normals.mean_degrees),
    ] {
        assert!(with <= without, "{with} {without}");
    }
    assert!(with.normals.p99_degrees < 2.0, "{with:?}");
}
