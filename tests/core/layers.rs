//! Layers of weights: what the stack shows is the result, and every change of it can be taken back bit for bit.

use crate::editing::EditorHarness;
use crate::project::strip;
use crate::reference::larger;
use glam::{Vec2, Vec3};
use proptest::prelude::*;
use sinew::deform::MaskKind;
use sinew::document::layers::MirrorEffect;
use sinew::document::session::PaintTarget;
use sinew::document::subject::SubjectScope;
use sinew::document::{
    Document, Edit, History, LayerId, LayerStack, MeshId, MeshItem, MeshSource, Parts,
    PrimitiveSource, invariants,
};
use sinew::editor::HeatOf;
use sinew::finding::Severity;
use sinew::io::project::{self, ProjectError, apply_project, to_project};
use sinew::math::Axis;
use sinew::mesh::PointSet;
use sinew::skeleton::JointId;
use sinew::skinning::{Influences, RowRef, Rows};
use sinew::task::Task;
use sinew::weights::{PaintRules, set_weight};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);
const N: u32 = 2500;

/// A strip of `N` points that mirrors itself across X, but for a few points, moved by five joints of which two are a pair
/// and one has a side and no partner.
fn sheet() -> Document {
    let names = ["Hips", "Arm_L", "Arm_R", "Head", "Tail_L"];
    let plain = strip(N, &names, Path::new("/models/strip.gltf"));
    let primitive = |range: std::ops::Range<u32>| {
        let place = |i: u32| {
            let at = (i * 7919) % N;
            let x = at as f32 - (N - 1) as f32 * 0.5;
            // Some have no mirror image.
            Vec3::new(if at < 5 { x - 0.25 } else { x }, 0.0, 0.0)
        };
        let row = |i: u32| vec![((i % 5) as u16, 0.75), (((i + 1) % 5) as u16, 0.25)];
        PrimitiveSource {
            positions: range.clone().map(place).collect(),
            influences: range.map(row).collect(),
            ..PrimitiveSource::default()
        }
    };
    let built = MeshSource {
        name: "Strip".into(),
        primitives: vec![primitive(0..N / 2), primitive(N / 2..N)],
        morph_names: vec!["Bulge".into()],
    }
    .build();
    let item = MeshItem {
        geometry: Arc::new(built.mesh),
        source_influences: built.influences.clone(),
        influences: built.influences,
        ..MeshItem::clone(&plain.meshes()[&MESH])
    };
    Document::new(Parts {
        source: plain.source().cloned(),
        skeleton: plain.skeleton().clone(),
        meshes: BTreeMap::from([(MESH, Arc::new(item))]),
        skins: plain.skins().clone(),
        instances: plain.instances().clone(),
        clips: plain.clips().clone(),
        rest_morph_weights: BTreeMap::from([(JointId(0), vec![0.0])]),
        ..Parts::default()
    })
    .unwrap()
}

fn item(document: &Document) -> &MeshItem {
    &document.meshes()[&MESH]
}

fn effect(document: &Document, axis: Axis, from_positive: bool) -> MirrorEffect {
    let parts = document.subject_to_read(MESH, SubjectScope::default());
    let symmetry = parts.unwrap().view().symmetry(axis, 1e-5, &Task::new());
    let effect = document.mirror_effect(MESH, &symmetry.unwrap(), from_positive, 1e-5);
    effect.unwrap()
}

/// What the artist can do; layers are named by any number, of which as many count as there are layers.
#[derive(Clone, Debug)]
enum Act {
    Add(u8),
    Duplicate(u8),
    Delete(u8),
    Up(u8),
    MergeDown(u8),
    Flatten,
    Opacity(u8, f32),
    Mute(u8, bool),
    Solo(Option<u8>),
    Mirror(u8, Option<bool>),
    Rows(u8, BTreeMap<u32, Vec<(u16, f32)>>),
    Mask(u8, BTreeMap<u32, f32>),
    Erase(u8, BTreeSet<u32>),
}

fn share() -> impl Strategy<Value = f32> {
    prop_oneof![Just(0.0f32), Just(1.0), 0.0f32..1.0]
}

fn row() -> impl Strategy<Value = Vec<(u16, f32)>> {
    proptest::sample::subsequence((0..5u16).collect::<Vec<_>>(), 0..=4)
        .prop_shuffle()
        .prop_flat_map(|joints| {
            proptest::collection::vec(share(), joints.len())
                .prop_map(move |weights| joints.iter().copied().zip(weights).collect())
        })
}

fn act() -> impl Strategy<Value = Act> {
    let layer = || 0u8..6;
    // Points that share chunks, and mirror images of each other.
    let point = || prop_oneof![0u32..40, 1000u32..1060, 2440u32..N];
    prop_oneof![
        3 => layer().prop_map(Act::Add),
        1 => layer().prop_map(Act::Duplicate),
        1 => layer().prop_map(Act::Delete),
        1 => layer().prop_map(Act::Up),
        1 => layer().prop_map(Act::MergeDown),
        1 => Just(Act::Flatten),
        2 => (layer(), share()).prop_map(|(l, o)| Act::Opacity(l, o)),
        1 => (layer(), any::<bool>()).prop_map(|(l, m)| Act::Mute(l, m)),
        1 => proptest::option::of(layer()).prop_map(Act::Solo),
        2 => (layer(), proptest::option::of(any::<bool>())).prop_map(|(l, m)| Act::Mirror(l, m)),
        6 => (layer(), proptest::collection::btree_map(point(), row(), 1..40))
            .prop_map(|(l, rows)| Act::Rows(l, rows)),
        2 => (layer(), proptest::collection::btree_map(point(), share(), 1..40))
            .prop_map(|(l, values)| Act::Mask(l, values)),
        1 => (layer(), proptest::collection::btree_set(point(), 1..40))
            .prop_map(|(l, points)| Act::Erase(l, points)),
    ]
}

/// The edit of an act; `None` where it asks for nothing.
fn edit_of(document: &Document, act: &Act) -> Option<Edit> {
    let stack = &item(document).layers;
    let of = |layer: u8| {
        let n = stack.layers().len();
        (n > 0).then(|| stack.layers()[usize::from(layer) % n].id)
    };
    let upper = |layer: u8| of(layer).filter(|id| *id != LayerStack::BASE);
    match act {
        Act::Add(above) => document
            .add_layer(MESH, of(*above), "New")
            .map(|(edit, _)| edit),
        Act::Duplicate(layer) => document
            .duplicate_layer(MESH, upper(*layer)?)
            .map(|(edit, _)| edit),
        Act::Delete(layer) => {
            let id = upper(*layer)?;
            document.change_layers(MESH, |layers, _| layers.retain(|layer| layer.id != id))
        }
        Act::Up(layer) => {
            let index = stack.position(upper(*layer)?)?;
            document.change_layers(MESH, |layers, _| {
                if index + 1 < layers.len() {
                    layers.swap(index, index + 1);
                }
            })
        }
        Act::MergeDown(layer) => document.merge_layer_down(MESH, upper(*layer)?).ok(),
        Act::Flatten => document.flatten_layers(MESH),
        Act::Opacity(layer, opacity) => {
            document.change_layer(MESH, upper(*layer)?, |layer| layer.opacity = *opacity)
        }
        Act::Mute(layer, muted) => {
            document.change_layer(MESH, upper(*layer)?, |layer| layer.muted = *muted)
        }
        Act::Solo(layer) => {
            let alone = layer.and_then(of);
            document.change_layers(MESH, |_, solo| *solo = alone)
        }
        Act::Mirror(layer, from_positive) => {
            let mirror = from_positive.map(|from| Arc::new(effect(document, Axis::X, from)));
            document.change_layer(MESH, upper(*layer)?, |layer| layer.mirror = mirror)
        }
        Act::Rows(layer, rows) => {
            let (points, rows): (Vec<u32>, Vec<_>) = rows.clone().into_iter().unzip();
            let edit = Edit::influences(MESH, points, rows.into_iter().collect());
            match (edit, of(*layer)) {
                (Edit::Influences(edit), Some(layer)) => {
                    Some(Edit::Influences(edit.in_layer(layer)))
                }
                (edit, _) => Some(edit),
            }
        }
        Act::Mask(layer, values) => {
            let (points, values) = values.clone().into_iter().unzip();
            Some(Edit::mask(MESH, upper(*layer)?, points, values))
        }
        Act::Erase(layer, points) => {
            let points: PointSet = points.iter().copied().collect();
            let erased = document.erase_from_layer(MESH, upper(*layer)?, &points);
            erased.map(|(edit, _)| edit)
        }
    }
}

/// What the layers of a mesh show at a point, in the plainest way.
fn expected(item: &MeshItem, point: u32) -> BTreeMap<u16, f64> {
    let plain = |row: RowRef<'_>| -> BTreeMap<u16, f64> {
        row.iter().map(|(j, w)| (j, f64::from(w))).collect()
    };
    let layers = item.layers.layers();
    let mut shown = plain(item.base_rows().row(point));
    for layer in layers.iter().skip(1) {
        let hidden = match item.layers.solo() {
            Some(solo) => solo != layer.id,
            None => layer.muted,
        };
        if hidden {
            continue;
        }
        let x = |point: u32| item.geometry.positions[point as usize].x;
        let mut source = point;
        let mut row = plain(layer.rows.row(point));
        if let Some(mirror) = &layer.mirror {
            let covered = |point: u32| {
                if mirror.from_positive() {
                    x(point) < 0.0
                } else {
                    x(point) > 0.0
                }
            };
            let image = (0..N).find(|&other| x(other) == -x(point));
            if let Some(image) = image.filter(|_| covered(point)) {
                source = image;
                row.clear();
                for (joint, weight) in plain(layer.rows.row(image)) {
                    let joint = match joint {
                        1 => 2,
                        2 => 1,
                        // One without a partner hands its weight on.
                        4 => 3,
                        other => other,
                    };
                    *row.entry(joint).or_default() += weight;
                }
            }
        }
        if row.is_empty() {
            continue;
        }
        let share = f64::from(layer.opacity) * f64::from(layer.mask.get(source));
        let joints: BTreeSet<u16> = shown.keys().chain(row.keys()).copied().collect();
        for joint in joints {
            let below = shown.get(&joint).copied().unwrap_or(0.0);
            let over = row.get(&joint).copied().unwrap_or(0.0);
            shown.insert(joint, below + share * (over - below));
        }
    }
    shown
}

#[track_caller]
fn check(document: &Document) {
    let broken = invariants::check(document);
    let broken = broken.iter().filter(|f| f.severity == Severity::Error);
    assert_eq!(broken.collect::<Vec<_>>(), Vec::<&_>::new());
    let item = item(document);
    for point in (0..40).chain(1000..1060).chain(2440..N) {
        let shown = item.influences.row(point);
        for (joint, weight) in expected(item, point) {
            let found = f64::from(shown.weight_of(joint));
            assert!(
                (found - weight).abs() < 1e-6,
                "point {point}, joint {joint}: {found} and not {weight}"
            );
        }
        let known = expected(item, point);
        assert!(shown.joints.iter().all(|joint| known.contains_key(joint)));
    }
}

fn same_bits(a: &Influences, b: &Influences) -> bool {
    let chunks = a.chunks().iter().zip(b.chunks());
    chunks.into_iter().all(|(a, b)| a.same_bits(b))
}

fn saved_and_opened(source: &Document, document: &Document) -> Document {
    let project = to_project(document, Some(Path::new("/models/strip.ron"))).unwrap();
    let text = project::to_text(&project).unwrap();
    let (opened, findings) = apply_project(source.clone(), project::parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    let again = to_project(&opened, Some(Path::new("/models/strip.ron"))).unwrap();
    assert_eq!(project::to_text(&again).unwrap(), text);
    opened
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_result_is_what_the_stack_shows_and_undo_restores_every_bit(
        acts in proptest::collection::vec(act(), 1..24),
        folds in proptest::collection::vec(any::<bool>(), 24),
    ) {
        let mut document = sheet();
        let mut history = History::default();
        let mut states = vec![document.clone()];
        for (act, fold) in acts.iter().zip(folds) {
            let Some(edit) = edit_of(&document, act) else { continue };
            // Some steps hold several edits.
            if !(fold && history.is_open()) {
                history.commit(&document);
                if history.n_undo() == states.len() {
                    states.push(document.clone());
                }
                history.begin(&document, "Step");
            }
            history.apply(&mut document, edit, "Step").unwrap();
            check(&document);
        }
        history.commit(&document);
        let last = document.clone();
        states.truncate(history.n_undo());
        states.push(last);
        for before in states.iter().rev().skip(1) {
            prop_assert!(history.undo(&mut document).is_some());
            prop_assert!(document.same_content(before));
            prop_assert!(same_bits(&item(&document).influences, &item(before).influences));
        }
        for after in states.iter().skip(1) {
            prop_assert!(history.redo(&mut document).is_some());
            prop_assert!(document.same_content(after));
            prop_assert!(same_bits(&item(&document).influences, &item(after).influences));
        }
        let opened = saved_and_opened(&states[0], &document);
        prop_assert!(opened.same_content(&document));
        prop_assert!(same_bits(&item(&opened).influences, &item(&document).influences));
    }

    #[test]
    fn locked_joints_keep_every_bit_of_what_is_shown(
        acts in proptest::collection::vec(act(), 1..12),
        strokes in proptest::collection::vec(
            (0u8..6, proptest::collection::btree_map(0u32..N, 0.0f32..1.0, 1..60), 0u16..5),
            1..8,
        ),
        locks in proptest::sample::subsequence(vec![0u32, 1, 2, 3], 1..=2),
    ) {
        let mut document = sheet();
        for act in &acts {
            if let Some(mut edit) = edit_of(&document, act) {
                document.apply(&mut edit).unwrap();
            }
        }
        let set: BTreeSet<JointId> = locks.iter().copied().map(JointId).collect();
        document.apply(&mut Edit::Locks(Arc::new(set))).unwrap();
        let locked: Vec<bool> = (0..5).map(|j| locks.contains(&j)).collect();
        let weights = |document: &Document| -> Vec<u32> {
            let rows = item(document).influences.iter();
            rows.flat_map(|row| locks.iter().map(move |&j| row.weight_of(j as u16).to_bits()))
                .collect()
        };
        let before = weights(&document);
        for (layer, points, joint) in strokes {
            let layers = item(&document).layers.layers();
            if let Some(layer) = layers.get(usize::from(layer) % layers.len().max(1)) {
                let id = layer.id;
                document.session_mut().active_layers.insert(MESH, id);
            }
            let start = document.paint_rows(MESH).unwrap();
            let rules = PaintRules { locked: &locked, normalise: true, max_influences: 4 };
            let (mut painted, mut rows) = (Vec::new(), Rows::default());
            for (&point, &weight) in &points {
                let mut row = Vec::new();
                if set_weight(start.row(point), joint, weight, &rules, &mut row) {
                    painted.push(point);
                    rows.push_pairs(row);
                }
            }
            let mut edit = document.paint_edit(MESH, painted, rows);
            document.apply(&mut edit).unwrap();
            prop_assert_eq!(&weights(&document), &before);
            // Its mask, and what it says at all.
            if let Some(layer) = document.active_layer(MESH).filter(|id| *id != LayerStack::BASE) {
                let (points, values) = points.clone().into_iter().unzip();
                let (mut mask, _) = document.without_locked_changes(Edit::mask(MESH, layer, points, values));
                document.apply(&mut mask).unwrap();
                prop_assert_eq!(&weights(&document), &before);
                let points: PointSet = (0..N).step_by(3).collect();
                if let Some((mut edit, _)) = document.erase_from_layer(MESH, layer, &points) {
                    document.apply(&mut edit).unwrap();
                }
                prop_assert_eq!(&weights(&document), &before);
            }
        }
        check(&document);
    }
}

fn apply(document: &mut Document, edit: Option<Edit>) -> Edit {
    let mut edit = edit.unwrap();
    document.apply(&mut edit).unwrap();
    edit
}

fn one(row: &[(u16, f32)]) -> Rows {
    [row.to_vec()].into_iter().collect()
}

#[test]
fn a_mesh_without_layers_pays_nothing_and_a_layer_costs_what_it_says() {
    let mut document = sheet();
    assert!(item(&document).layers.is_plain());
    assert_eq!(item(&document).layers, LayerStack::default());
    let chunks = |document: &Document| item(document).influences.chunks().to_vec();
    let shared = |a: &[Arc<Rows>], b: &[Arc<Rows>]| -> Vec<bool> {
        a.iter().zip(b).map(|(a, b)| Arc::ptr_eq(a, b)).collect()
    };
    let before = chunks(&document);
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    let mut added = apply(&mut document, Some(edit));
    assert_eq!(shared(&chunks(&document), &before), [true; 3]);
    let stack = &item(&document).layers;
    assert_eq!(stack.layers().len(), 2);
    assert!(stack.heap_bytes(&item(&document).influences) < 1000);

    let mut stroke = document.paint_edit(MESH, vec![1500], one(&[(3, 0.25), (0, 0.75)]));
    let dirty = document.apply(&mut stroke).unwrap();
    assert_eq!(dirty.influences[&MESH], [1].into());
    assert_eq!(shared(&chunks(&document), &before), [true, false, true]);
    assert_eq!(item(&document).influences.row(1500).joints, [3, 0]);
    assert_eq!(item(&document).layers.get(layer).unwrap().n_rows(), 1);
    // Elsewhere a stroke starts from what is shown.
    let rows = document.paint_rows(MESH).unwrap();
    assert_eq!(rows.row(7), item(&document).influences.row(7));
    document.apply(&mut stroke).unwrap();
    document.apply(&mut added).unwrap();
    assert!(item(&document).layers.is_plain());
    assert_eq!(shared(&chunks(&document), &before), [true; 3]);
}

#[test]
fn a_mirrored_layer_shows_one_side_on_both() {
    let source = sheet();
    let mut document = source.clone();
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    apply(&mut document, Some(edit));
    let mirror = Arc::new(effect(&document, Axis::X, true));
    assert_eq!(mirror.unmatched().count(), 5);
    assert_eq!(mirror.joints().unpaired, [4]);
    let edit = document.change_layer(MESH, layer, |layer| layer.mirror = Some(mirror.clone()));
    apply(&mut document, edit);
    let positions = item(&document).geometry.positions.clone();
    let at = |x: f32| (0..N).find(|&p| positions[p as usize].x == x).unwrap();
    let (right, left) = (at(100.5), at(-100.5));
    let edit = document.paint_edit(MESH, vec![right], one(&[(1, 0.75), (3, 0.25)]));
    apply(&mut document, Some(edit));
    let shown = |point| {
        let row = item(&document).influences.row(point);
        row.iter().collect::<Vec<_>>()
    };
    assert_eq!(shown(right), [(1, 0.75), (3, 0.25)]);
    assert_eq!(shown(left), [(2, 0.75), (3, 0.25)]);
    let covered = document.paint_edit(MESH, vec![left, right], Rows::silent(2));
    assert_eq!(document.n_covered(&covered), 1);
    let opened = saved_and_opened(&source, &document);
    assert!(opened.same_content(&document));
    // Another name for a bone changes no pair.
    let name = Edit::JointName {
        joint: JointId(1),
        name: "Something".into(),
    };
    apply(&mut document, Some(name));
    assert!(saved_and_opened(&source, &document).same_content(&document));
}

#[test]
fn points_that_a_mirror_leaves_alone_for_locked_bones_are_told() {
    let mut document = sheet();
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    apply(&mut document, Some(edit));
    let mirror = Arc::new(effect(&document, Axis::X, true));
    let edit = document.change_layer(MESH, layer, |layer| layer.mirror = Some(mirror.clone()));
    apply(&mut document, edit);
    let positions = &item(&document).geometry.positions;
    let right = (0..N).find(|&p| positions[p as usize].x == 100.5).unwrap();
    let locks = Edit::Locks(Arc::new([JointId(2)].into()));
    apply(&mut document, Some(locks));
    let edit = document.paint_edit(MESH, vec![right], one(&[(1, 0.75), (3, 0.25)]));
    assert!(edit.changes_no_points());
    let Edit::Influences(edit) = edit else {
        unreachable!()
    };
    assert_eq!(edit.left_alone, [right]);
}

#[test]
fn comparing_layers_does_not_read_what_they_share() {
    let rows = |weight: f32| {
        Influences::from_rows([RowRef {
            joints: &[0],
            weights: &[weight],
        }])
    };
    let nan = rows(f32::NAN);
    // What is not a number is equal only where nobody looks.
    assert!(nan == nan.clone());
    assert!(rows(0.5) == rows(0.5) && rows(0.5) != rows(0.25));
    assert!(rows(f32::NAN) != rows(f32::NAN));
}

#[test]
fn what_cannot_be_painted_is_said() {
    let mut document = sheet();
    assert_eq!(document.why_not_paintable(MESH), None);
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    apply(&mut document, Some(edit));
    assert_eq!(document.why_not_paintable(MESH), None);
    let edit = document.change_layer(MESH, layer, |layer| layer.muted = true);
    let mut muted = apply(&mut document, edit);
    let why = document.why_not_paintable(MESH).unwrap();
    assert!(why.starts_with("The layer \"Fix\" is muted."), "{why}");
    document.session_mut().brush.target = PaintTarget::LayerMask;
    assert_eq!(document.painted_map(MESH), Some(Err(why)));
    document.apply(&mut muted).unwrap();
    assert_eq!(document.painted_map(MESH), Some(Ok(layer.into())));
    let edit = document.change_layers(MESH, |_, solo| *solo = Some(LayerStack::BASE));
    apply(&mut document, edit);
    let why = document.why_not_paintable(MESH).unwrap();
    assert!(why.contains("while \"Base\" is solo"), "{why}");
    document
        .session_mut()
        .active_layers
        .insert(MESH, LayerStack::BASE);
    assert_eq!(document.why_not_paintable(MESH), None);
    assert!(document.painted_map(MESH).unwrap().is_err());
    assert!(document.merge_layer_down(MESH, layer).is_err());
}

#[test]
fn edits_of_layers_that_are_not_there_are_refused_and_change_nothing() {
    let mut document = sheet();
    let before = document.clone();
    let Edit::Influences(edit) = Edit::influences(MESH, vec![3], one(&[(1, 1.0)])) else {
        unreachable!()
    };
    let stray = Edit::Influences(edit.in_layer(LayerId(9)));
    let mask = |layer| Edit::mask(MESH, LayerId(layer), vec![3], vec![0.5]);
    for mut edit in [stray, mask(9), mask(0)] {
        assert!(document.apply(&mut edit).is_err(), "{edit:?}");
    }
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    let twice = document.change_layers(MESH, |layers, _| layers.push(layers[0].clone()));
    let why = document.apply(&mut twice.unwrap()).unwrap_err().to_string();
    assert!(why.contains("is listed twice"), "{why}");
    assert!(document.same_content(&before));
    apply(&mut document, Some(edit));
    let broken = |change: fn(&mut sinew::document::Layer)| {
        document.change_layer(MESH, layer, change).unwrap()
    };
    for mut edit in [
        broken(|layer| layer.opacity = 1.5),
        broken(|layer| layer.opacity = f32::NAN),
        broken(|layer| layer.mask.swap(&[3], &mut [2.0])),
        broken(|layer| layer.mask.swap(&[9999], &mut [0.5])),
        broken(|layer| layer.rows = Influences::silent(3)),
        broken(|layer| {
            layer.rows.swap_few_rows(&[3], &mut one(&[(77, 1.0)]));
        }),
    ] {
        assert!(document.clone().apply(&mut edit).is_err(), "{edit:?}");
    }
    let wrong = Edit::mask(MESH, layer, vec![3], vec![1.5]);
    assert_eq!(
        document.apply(&mut wrong.clone()).unwrap_err().to_string(),
        "1.5 is not a valid layer mask: it must be 0 - 1"
    );
}

#[test]
fn a_slider_that_is_dragged_is_one_step_and_steps_in_between_are_kept_in_order() {
    let mut document = sheet();
    let mut history = History::default();
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    history.apply(&mut document, edit, "Add layer").unwrap();
    let painted = |document: &Document, weight| {
        document.paint_edit(MESH, vec![3], one(&[(1, weight), (0, 1.0 - weight)]))
    };
    let start = document.clone();
    history.begin(&document, "All at once");
    let edit = painted(&document, 0.5);
    history.apply(&mut document, edit, "").unwrap();
    for opacity in [0.75, 0.5, 0.25] {
        let edit = document.change_layer(MESH, layer, |layer| layer.opacity = opacity);
        history.apply(&mut document, edit.unwrap(), "").unwrap();
    }
    // Not to be folded into what was painted before the layer was another one.
    let edit = painted(&document, 0.25);
    history.apply(&mut document, edit, "").unwrap();
    history.commit(&document);
    let end = document.clone();
    assert_eq!(history.n_undo(), 2);
    history.undo(&mut document);
    assert!(document.same_content(&start));
    history.redo(&mut document);
    assert!(document.same_content(&end));
    assert!(same_bits(
        &item(&document).influences,
        &item(&end).influences
    ));
}

#[test]
fn no_weight_on_a_layer_shows_no_weight_and_not_what_lies_below() {
    let source = sheet();
    let mut document = source.clone();
    let (edit, layer) = document.add_layer(MESH, None, "Fix").unwrap();
    apply(&mut document, Some(edit));
    assert!(!item(&document).influences.row(3).is_empty());
    // As painting all away without normalising asks for.
    let edit = document.paint_edit(MESH, vec![3], Rows::silent(1));
    apply(&mut document, Some(edit));
    let sum: f32 = item(&document).influences.row(3).weights.iter().sum();
    assert_eq!(sum, 0.0);
    assert_eq!(document.layer(MESH, layer).unwrap().rows.row(3).len(), 1);
    let opened = saved_and_opened(&source, &document);
    assert!(opened.same_content(&document));
    // On the base nothing is nothing.
    document
        .session_mut()
        .active_layers
        .insert(MESH, LayerStack::BASE);
    let Edit::Influences(edit) = document.paint_edit(MESH, vec![3], Rows::silent(1)) else {
        panic!("not rows");
    };
    assert!(edit.rows.row(0).is_empty());
}

#[test]
fn layers_that_share_a_number_all_come_back() {
    let mut document = sheet();
    for (name, point) in [("One", 3), ("Two", 4), ("Three", 5)] {
        let (edit, layer) = document.add_layer(MESH, None, name).unwrap();
        apply(&mut document, Some(edit));
        document.session_mut().active_layers.insert(MESH, layer);
        let edit = document.paint_edit(MESH, vec![point], one(&[(1, 0.5), (2, 0.5)]));
        apply(&mut document, Some(edit));
    }
    let project = to_project(&document, Some(Path::new("/models/strip.ron"))).unwrap();
    let text = project::to_text(&project).unwrap();
    let text = text.replace("layer: 2,", "layer: 1,");
    let (opened, findings) = apply_project(sheet(), project::parse(&text).unwrap()).unwrap();
    check(&opened);
    let named = |f: &sinew::finding::Finding| f.place.contains("\"Two\"");
    assert!(
        findings
            .iter()
            .any(|f| named(f) && f.message.contains("new one")),
        "{findings:?}"
    );
    let layers = item(&opened).layers.layers();
    let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["Base", "One", "Two", "Three"]);
    assert!(same_bits(
        &item(&opened).influences,
        &item(&document).influences
    ));
}

#[test]
fn a_project_says_what_of_its_layers_does_not_fit() {
    let mut document = sheet();
    let (edit, layer) = document.add_layer(MESH, None, "Elbow fix").unwrap();
    apply(&mut document, Some(edit));
    let edit = document.paint_edit(MESH, vec![3], one(&[(1, 0.5), (2, 0.5)]));
    apply(&mut document, Some(edit));
    let edit = document.change_layer(MESH, layer, |layer| layer.opacity = 0.5);
    apply(&mut document, edit);
    apply(
        &mut document,
        Some(Edit::mask(MESH, layer, vec![4], vec![0.25])),
    );
    document.session_mut().active_layers.insert(MESH, layer);
    document.session_mut().brush.target = PaintTarget::LayerMask;
    let project = to_project(&document, Some(Path::new("/models/strip.ron"))).unwrap();
    let text = project::to_text(&project).unwrap();
    let open =
        |text: &str| -> Result<_, ProjectError> { apply_project(sheet(), project::parse(text)?) };
    let (opened, findings) = open(&text).unwrap();
    assert_eq!(findings, []);
    assert_eq!(opened.session(), document.session());
    for (from, to, expected) in [
        ("opacity: 0.5", "opacity: 5.0", "Its opacity is not 0 - 1"),
        (
            "x: 0.25",
            "x: 1.25",
            "Values that are not 0 - 1 are skipped (1).",
        ),
        ("w: [(1, 0.5)", "w: [(1, -0.5)", "are skipped (1)."),
        ("layer: 1,", "layer: 0,", ""),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let (opened, findings) = open(&text.replace(from, to)).unwrap();
        check(&opened);
        if !expected.is_empty() {
            let said = findings.iter().any(|f| f.message.contains(expected));
            assert!(
                said && findings[0].place.contains("\"Elbow fix\""),
                "{findings:?}"
            );
        }
    }
    assert_eq!(MaskKind::UNPAINTED, 1.0);
}

/// The sample arm with a layer, on which the brush paints.
fn on_layer() -> (EditorHarness, MeshId, LayerId, Vec2) {
    let mut h = EditorHarness::new();
    let forearm = h.joint("forearm");
    h.editor.select_joint(Some(JointId(forearm)));
    let mesh = *h.editor.document().meshes().keys().next().unwrap();
    let at = h.place_of(forearm);
    h.editor.add_layer();
    let layer = h.editor.active_layer().unwrap();
    (h, mesh, layer, at)
}

/// A stroke that waits after each event for what it moved: two of them meet the same surface.
fn drag_calmly(h: &mut EditorHarness, from: Vec2, to: Vec2) {
    use sinew::tools::PointerKind;
    h.pointer(PointerKind::Press, from, false);
    h.settle();
    for i in 1..=8 {
        h.pointer(PointerKind::Drag, from.lerp(to, i as f32 / 8.0), false);
        h.settle();
    }
    h.pointer(PointerKind::Release, to, false);
    h.settle();
}

#[test]
fn strokes_go_to_the_active_layer_and_are_one_step() {
    let (mut h, mesh, layer, at) = on_layer();
    let before = h.editor.document().clone();
    let to = at + Vec2::new(0.1, 0.02);
    drag_calmly(&mut h, at, to);
    let painted = h.editor.document().clone();
    let item = &painted.meshes()[&mesh];
    assert!(item.layers.get(layer).unwrap().n_rows() > 50);
    assert_eq!(*item.base_rows(), before.meshes()[&mesh].influences);
    // What is shown is what the same stroke makes of a mesh without layers.
    let mut plain = EditorHarness::new();
    let forearm = plain.joint("forearm");
    plain.editor.select_joint(Some(JointId(forearm)));
    drag_calmly(&mut plain, at, to);
    let plainly = &plain.editor.document().meshes()[&mesh].influences;
    // Up to the rounding of the surface that is shown meanwhile, whenever it comes.
    let rows = item.influences.iter().zip(plainly.iter());
    let off = rows.map(|(a, b)| sinew::weights::repair::difference(a, b));
    let off = off.fold(0.0, larger);
    assert!(off < 1e-4, "{off}");

    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    h.editor.redo();
    h.settle();
    assert!(h.editor.document().same_content(&painted));
    h.start_drag(at, to, true);
    h.pointer(sinew::tools::PointerKind::Cancel, to, true);
    h.settle();
    assert!(h.editor.document().same_content(&painted), "bit for bit");

    h.editor.mute_layer(layer, true);
    h.settle();
    assert_eq!(
        h.editor.document().meshes()[&mesh].influences,
        before.meshes()[&mesh].influences
    );
    let n_steps = h.editor.history().n_undo();
    h.drag(at, to, false);
    assert!(h.last_notice().contains("is muted"), "{}", h.last_notice());
    assert_eq!(h.editor.history().n_undo(), n_steps);
    h.editor.mute_layer(layer, false);
    h.settle();
    assert!(h.editor.document().same_content(&painted));

    h.editor.erase_from_layer();
    assert!(h.editor.layers().unwrap().get(layer).unwrap().n_rows() == 0);
    h.settle();
    assert!(
        h.last_notice().starts_with("Erase from layer: "),
        "{}",
        h.last_notice()
    );
    h.editor.undo();
    h.editor.flatten_layers();
    h.settle();
    assert!(same_bits(
        &h.editor.document().meshes()[&mesh].influences,
        plainly
    ));
}

#[test]
fn the_mask_of_a_layer_is_a_map_like_the_others_and_spares_locked_bones() {
    let (mut h, mesh, layer, at) = on_layer();
    let to = at + Vec2::new(0.1, 0.02);
    h.drag(at, to, false);
    h.editor.paint_layer_mask(layer);
    let heat = h.editor.heat().values().next().unwrap();
    assert_eq!((heat.of, heat.n_marked), (HeatOf::LayerMask(layer), 0));
    let painted = h.editor.document().clone();
    h.drag(at, to, false);
    let item = &h.editor.document().meshes()[&mesh];
    let n_masked = item.layers.get(layer).unwrap().mask.painted().count();
    assert!(n_masked > 50);
    assert_eq!(h.editor.heat().values().next().unwrap().n_marked, n_masked);
    assert!(item.influences != painted.meshes()[&mesh].influences);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&painted));
    // Every bone that the layer changes is locked: nothing may move.
    let joints = 0..h.editor.document().skeleton().len() as u32;
    h.editor.lock_joints(&joints.map(JointId).collect(), true);
    h.drag(at, to, false);
    let item = &h.editor.document().meshes()[&mesh];
    assert!(same_bits(
        &item.influences,
        &painted.meshes()[&mesh].influences
    ));
    assert!(
        h.last_notice().contains("locked bones"),
        "{}",
        h.last_notice()
    );
    h.editor.erase_from_layer();
    h.settle();
    let item = &h.editor.document().meshes()[&mesh];
    assert!(same_bits(
        &item.influences,
        &painted.meshes()[&mesh].influences
    ));
    assert!(h.last_notice().contains("unchanged"), "{}", h.last_notice());
    // The colours follow when the layer goes.
    h.editor.delete_layer();
    h.settle();
    assert!(h.editor.heat().is_empty());
    h.editor.undo();
    h.settle();
    assert_eq!(
        h.editor.heat().values().next().unwrap().of,
        HeatOf::LayerMask(layer)
    );
}

#[test]
fn the_mirror_of_a_layer_is_found_in_the_background_and_is_one_step() {
    let (mut h, mesh, layer, _) = on_layer();
    let before = h.editor.document().clone();
    let n_steps = h.editor.history().n_undo();
    h.editor.mirror_layer(layer, Some((Axis::Z, true)));
    assert_eq!(h.editor.mirroring_layer(), Some(layer));
    h.settle();
    assert_eq!(h.editor.mirroring_layer(), None);
    let mirror = h
        .editor
        .document()
        .layer(mesh, layer)
        .unwrap()
        .mirror
        .clone();
    assert_eq!(mirror.unwrap().axis(), Axis::Z);
    assert_eq!(h.editor.history().n_undo(), n_steps + 1);
    assert!(
        h.last_notice()
            .starts_with("The layer is mirrored +Z to -Z."),
        "{}",
        h.last_notice()
    );
    // The other way: the mirror images are known.
    h.editor.mirror_layer(layer, Some((Axis::Z, false)));
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n_steps + 2);
    h.editor.mirror_layer(layer, None);
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn cells_of_a_layer_that_is_not_shown_are_refused_and_a_faded_one_says_so() {
    let (mut h, mesh, layer, _) = on_layer();
    h.editor.mute_layer(layer, true);
    let n_steps = h.editor.history().n_undo();
    let cells = [(4, 0, 0.5), (5, 0, 0.5)];
    assert_eq!(h.editor.set_weights(mesh, &cells, "Edit weights"), 2);
    h.settle();
    assert!(h.last_notice().contains("is muted"), "{}", h.last_notice());
    assert_eq!(h.editor.history().n_undo(), n_steps);
    h.editor.mute_layer(layer, false);
    let weight = |h: &EditorHarness, point| {
        let item = &h.editor.document().meshes()[&mesh];
        item.influences.row(point).weight_of(0)
    };
    let point = (0..100_000).find(|&point| (0.2..0.8).contains(&weight(&h, point)));
    let point = point.unwrap();
    let given = if weight(&h, point) > 0.5 { 0.1 } else { 0.9 };
    h.editor.set_layer_opacity(layer, 0.5);
    let n_steps = h.editor.history().n_undo();
    let cells = [(point, 0, given)];
    assert_eq!(h.editor.set_weights(mesh, &cells, "Edit weight"), 1);
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("The layer stores 1 of 1 weight as entered"),
        "{}",
        h.last_notice()
    );
    assert_eq!(h.editor.history().n_undo(), n_steps + 1);
    h.editor.set_layer_opacity(layer, 1.0);
    assert!((weight(&h, point) - given).abs() < 1e-6);
    assert_eq!(h.editor.set_weights(mesh, &cells, "Edit weight"), 0);
}

#[test]
fn layers_that_show_through_locks_are_told_once_the_step_is_closed() {
    let (mut h, mesh, layer, at) = on_layer();
    h.drag(at, at + Vec2::new(0.1, 0.02), false);
    let joints = 0..h.editor.document().skeleton().len() as u32;
    h.editor.lock_joints(&joints.map(JointId).collect(), true);
    h.settle();
    let before = h.editor.document().meshes()[&mesh].influences.clone();
    let n_said = h.notices.len();
    h.editor.begin_step("Layer opacity");
    for opacity in [0.75, 0.5, 0.25] {
        h.editor.set_layer_opacity(layer, opacity);
        h.editor.poll(0.0);
    }
    while let Some(notice) = h.editor.take_notice() {
        h.notices.push(notice);
    }
    assert_eq!(h.notices.len(), n_said, "not in the middle of a drag");
    h.editor.end_step();
    h.settle();
    let rows = &h.editor.document().meshes()[&mesh].influences;
    let n = before
        .iter()
        .zip(rows.iter())
        .filter(|(a, b)| a != b)
        .count();
    let said = h.last_notice();
    assert!(
        said.ends_with(&format!(
            "changed on {n} vertices: locks protect a layer, not the result of all layers."
        )),
        "{said}"
    );
    assert_eq!(h.notices.len(), n_said + 1);
    // Another name changes nothing that is shown.
    h.editor.rename_layer(layer, "Other");
    h.settle();
    assert_eq!(h.notices.len(), n_said + 1);
}

#[test]
fn points_over_the_limit_are_counted_again_where_they_changed() {
    let (mut h, mesh, _, at) = on_layer();
    let expected = |h: &EditorHarness, limit: usize| {
        let rows = h.editor.document().meshes()[&mesh].influences.iter();
        let n = |row: RowRef<'_>| row.weights.iter().filter(|w| **w > 0.0).count();
        rows.filter(|row| n(*row) > limit).count()
    };
    for limit in [0, 1, 2, 1] {
        assert_eq!(h.editor.n_over_limit(limit), expected(&h, limit));
    }
    let before = h.editor.n_over_limit(1);
    h.drag(at, at + Vec2::new(0.1, 0.02), false);
    assert_eq!(h.editor.n_over_limit(1), expected(&h, 1));
    // A weight of 0 is no bone.
    h.editor.set_weights(mesh, &[(4, 0, 1.0)], "Edit weight");
    assert_eq!(h.editor.n_over_limit(1), expected(&h, 1));
    while h.editor.history().n_undo() > 1 {
        h.editor.undo();
    }
    assert_eq!(h.editor.n_over_limit(1), before);
    h.editor.flatten_layers();
    assert_eq!(h.editor.n_over_limit(0), 0);
}
