//! Edits undo to the same bits, broken ones change nothing, and every one reaches the picture.

use crate::models::tube;
use glam::{DQuat, DVec3};
use proptest::prelude::*;
use sinew::deform::{DeformStack, MaskKind, ScaleMode, SkinningMethod};
use sinew::document::rig::{KEY_TOLERANCE, Keep, Reparent, reparent};
use sinew::document::{
    ClipId, ConstraintsEdit, Document, Edit, History, InstanceId, MaskEdit, MeshId, invariants,
};
use sinew::evaluate::{Evaluator, InstanceUpdate, Request, ViewRequest, Worker};
use sinew::finding::Severity;
use sinew::math::Transform;
use sinew::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use sinew::skeleton::{Clip, JointId, JointRule, Moment};
use sinew::skinning::Rows;
use std::sync::Arc;
use std::time::Duration;

const MESH: MeshId = MeshId(0);

/// A random edit that is valid for the tube.
pub(crate) fn any_edit(n_points: u32) -> impl Strategy<Value = Edit> {
    let rows = prop::collection::btree_map(
        0..n_points,
        prop::collection::vec((0u16..3, 0.0f32..1.0), 0..4),
        1..40,
    )
    .prop_map(|rows| {
        let points = rows.keys().copied().collect();
        let rows: Rows = rows
            .into_values()
            .map(|mut row| {
                row.sort_by_key(|e| e.0);
                row.dedup_by_key(|e| e.0);
                row
            })
            .collect();
        Edit::influences(MESH, points, rows)
    });
    let pose = (0u32..5, -3.0f64..3.0, -3.0f64..3.0).prop_map(|(joint, angle, x)| Edit::Pose {
        joints: vec![JointId(joint)],
        locals: vec![Transform::from_rotation_translation(
            DQuat::from_rotation_z(angle),
            DVec3::new(x, 0.0, 0.0),
        )],
    });
    let clip = (0u32..3, any::<bool>()).prop_map(|(id, some)| Edit::Clip {
        id: ClipId(id),
        clip: some.then(|| Arc::new(Clip::named(format!("clip {id}")))),
    });
    let mask = (
        prop::sample::select(MaskKind::ALL.to_vec()),
        prop::collection::btree_map(0..n_points, 0.0f32..=1.0, 1..40),
    )
        .prop_map(|(kind, values)| {
            let painted = |x: f32| match x {
                // As often as not unpainted again.
                x if x > 0.5 => MaskKind::UNPAINTED,
                x => x * kind.limit(),
            };
            let (points, values) = values.into_iter().unzip();
            let values: Vec<f32> = values;
            Edit::mask(
                MESH,
                kind,
                points,
                values.into_iter().map(painted).collect(),
            )
        });
    let tail = prop::option::of((-1.0f64..1.0, -1.0f64..1.0, -1.0f64..1.0));
    let rule = (0u32..5, tail, any::<bool>(), any::<bool>()).prop_map(
        |(joint, tail, compensates_scale, follows_root)| Edit::JointRule {
            joint: JointId(joint),
            rule: JointRule {
                tail: tail.map(DVec3::from),
                compensates_scale,
                inflation_parent: (follows_root && joint == 2).then_some(JointId(0)),
                ..JointRule::default()
            },
        },
    );
    let constraint = (1u32..5, any::<u32>(), 0.0f64..=1.0, any::<bool>()).prop_map(
        |(joint, source, influence, limits)| {
            let rule = if limits {
                Rule::LimitAngles {
                    ranges: [[-influence, 0.5]; 3],
                    order: EulerOrder::Xyz,
                }
            } else {
                Rule::CopyRotation {
                    // An earlier one, so that no circle closes.
                    source: JointId(source % joint),
                    space: Space::Local,
                    keeps_offset: true,
                    axes: CopiedAxes::ALL,
                }
            };
            let constraint = Constraint {
                influence,
                ..Constraint::new(rule)
            };
            let list = if influence < 0.1 {
                Vec::new()
            } else {
                vec![constraint]
            };
            Edit::Constraints(ConstraintsEdit {
                joint: JointId(joint),
                list,
            })
        },
    );
    prop_oneof![
        1 => constraint,
        4 => rows,
        3 => mask,
        1 => rule,
        2 => pose,
        1 => clip,
        1 => (3u32..5, -1.0f32..1.0).prop_map(|(j, w)| Edit::MorphWeights { joint: JointId(j), weights: vec![w] }),
        2 => any_stack().prop_map(|stack| Edit::Stack { mesh: MESH, stack: Arc::new(stack) }),
        1 => (0u32..5, "[a-z]{0,6}").prop_map(|(j, name)| Edit::JointName { joint: JointId(j), name }),
        1 => prop::collection::btree_set(0u32..5, 0..3)
            .prop_map(|s| Edit::Locks(Arc::new(s.into_iter().map(JointId).collect()))),
    ]
}

/// Every method, with and without what may come after it.
fn any_stack() -> impl Strategy<Value = DeformStack> {
    let method = prop_oneof![
        3 => Just(SkinningMethod::Lbs),
        3 => Just(SkinningMethod::Dqs),
        3 => Just(SkinningMethod::Blend),
        // Finding centres takes long.
        1 => Just(SkinningMethod::CentresOfRotation),
    ];
    (method, any::<bool>(), any::<bool>(), 0u32..4).prop_map(
        |(method, corrected, drops, iterations)| {
            let mut stack = if corrected {
                DeformStack {
                    method,
                    ..DeformStack::default()
                }
            } else {
                DeformStack::bare(method)
            };
            stack.blend = 0.6;
            if drops {
                stack.scale = ScaleMode::Drop;
            }
            stack.smooth.enabled = iterations > 0;
            stack.smooth.iterations = (2 * iterations).max(1);
            stack
        },
    )
}

fn assert_sound(document: &Document) {
    let broken: Vec<_> = invariants::check(document)
        .into_iter()
        .filter(|f| f.severity == Severity::Error)
        .collect();
    assert!(broken.is_empty(), "{broken:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_edit_swaps_and_undoes_to_the_same_bits(
        steps in prop::collection::vec(prop::collection::vec(any_edit(40 * 16), 1..5), 1..8),
        cancelled in any_edit(40 * 16),
    ) {
        let mut document = tube(40);
        let mut history = History::default();
        let mut states = vec![document.clone()];
        for step in &steps {
            history.begin(&document, "Step");
            for edit in step {
                history.apply(&mut document, edit.clone(), "Edit").unwrap();
                assert_sound(&document);
            }
            history.commit(&document);
            states.push(document.clone());
        }
        history.begin(&document, "Cancelled");
        history.apply(&mut document, cancelled, "Edit").unwrap();
        history.cancel(&mut document);
        for state in states.iter().rev().skip(1) {
            prop_assert!(history.undo(&mut document).is_some());
            prop_assert!(document.same_content(state));
            assert_sound(&document);
        }
        prop_assert!(history.undo(&mut document).is_none());
        for state in states.iter().skip(1) {
            prop_assert!(history.redo(&mut document).is_some());
            prop_assert!(document.same_content(state));
        }
    }

    #[test]
    fn incremental_results_equal_full_ones_bit_for_bit(edits in prop::collection::vec(any_edit(300 * 16), 1..10)) {
        let mut document = tube(300);
        let mut incremental = Evaluator::default();
        for edit in edits {
            document.apply(&mut edit.clone()).unwrap();
            let pose = document.pose().clone();
            incremental.evaluate(&document, &pose);
            let mut full = Evaluator::default();
            full.evaluate(&document, &pose);
            for id in document.instances().keys() {
                let (a, b) = (incremental.plan(*id).unwrap(), full.plan(*id).unwrap());
                prop_assert_eq!(a.positions(), b.positions());
                prop_assert_eq!(a.normals(), b.normals());
            }
        }
    }
}

#[test]
fn the_same_bits_come_out_for_any_number_of_threads() {
    let document = tube(700);
    let mut pose = (**document.pose()).clone();
    pose.locals[1].rotation = DQuat::from_rotation_z(1.2) * DQuat::from_rotation_x(0.4);
    pose.locals[2].stretch = glam::DMat3::from_diagonal(DVec3::new(1.3, 0.8, 1.0));
    let results: Vec<_> = [1, 2, 5]
        .map(|n| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(n)
                .build()
                .unwrap();
            pool.install(|| {
                let mut evaluator = Evaluator::default();
                evaluator.evaluate(&document, &pose);
                let plan = evaluator.plan(InstanceId(3)).unwrap();
                (plan.positions().to_vec(), plan.normals().to_vec())
            })
        })
        .to_vec();
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn a_broken_edit_is_named_and_changes_nothing() {
    let mut document = tube(10);
    let before = document.clone();
    let row = |row: Vec<(u16, f32)>| -> Rows { [row].into_iter().collect() };
    let broken = [
        (
            Edit::influences(MeshId(7), vec![], Rows::default()),
            "there is no mesh 7",
        ),
        (
            Edit::influences(MESH, vec![1], Rows::default()),
            "rows: 0 given, 1 needed",
        ),
        (
            Edit::influences(MESH, vec![9999], row(vec![])),
            "vertex 9999",
        ),
        (
            Edit::influences(
                MESH,
                vec![3, 3],
                [vec![(0, 1.0)], vec![(0, 1.0)]].into_iter().collect(),
            ),
            "vertex 3 is listed twice",
        ),
        (
            Edit::influences(MESH, vec![3], row(vec![(3, 1.0)])),
            "bone 3 of a skin with 3 bones",
        ),
        (
            Edit::influences(MESH, vec![3], row(vec![(1, 0.5), (1, 0.5)])),
            "bone 1 is listed twice",
        ),
        (
            Edit::influences(MESH, vec![3], row(vec![(1, f32::NAN)])),
            "the weight NaN",
        ),
        (
            Edit::influences(MESH, vec![3], row(vec![(1, -0.5)])),
            "the weight -0.5",
        ),
        (
            Edit::Pose {
                joints: vec![JointId(9)],
                locals: vec![Transform::IDENTITY],
            },
            "there is no bone 9; the model has 5",
        ),
        (
            Edit::MorphWeights {
                joint: JointId(3),
                weights: vec![],
            },
            "morph weights: 0 given, 1 needed",
        ),
        (
            Edit::MorphWeights {
                joint: JointId(3),
                weights: vec![f32::INFINITY],
            },
            "not a finite number",
        ),
        (
            Edit::JointName {
                joint: JointId(5),
                name: "x".into(),
            },
            "there is no bone 5",
        ),
        (
            Edit::Locks(Arc::new([JointId(5)].into())),
            "there is no bone 5",
        ),
        (
            Edit::Stack {
                mesh: MeshId(1),
                stack: Arc::default(),
            },
            "there is no mesh 1",
        ),
        (
            Edit::Stack {
                mesh: MESH,
                stack: Arc::new({
                    let mut stack = DeformStack::default();
                    stack.smooth.iterations = 4_000_000_000;
                    stack
                }),
            },
            "the smoothing has 4000000000 iterations, which is not 1 - 100",
        ),
        (
            Edit::mask(MeshId(7), MaskKind::Blend, vec![], vec![]),
            "there is no mesh 7",
        ),
        (
            Edit::mask(MESH, MaskKind::Blend, vec![1], vec![]),
            "values: 0 given, 1 needed",
        ),
        (
            Edit::mask(MESH, MaskKind::Blend, vec![9999], vec![0.5]),
            "vertex 9999",
        ),
        (
            Edit::mask(MESH, MaskKind::Blend, vec![3, 3], vec![0.5, 0.5]),
            "vertex 3 is listed twice",
        ),
        (
            Edit::mask(MESH, MaskKind::Projection, vec![3], vec![1.5]),
            "1.5 is not a valid projection strength: it must be 0 - 1",
        ),
        (
            Edit::mask(MESH, MaskKind::Compensation, vec![3], vec![f32::NAN]),
            "NaN is not a valid compensation strength: it must be 0 - 2",
        ),
        (
            Edit::JointRule {
                joint: JointId(5),
                rule: JointRule::default(),
            },
            "there is no bone 5",
        ),
        (
            Edit::JointRule {
                joint: JointId(1),
                rule: JointRule {
                    tail: Some(DVec3::NAN),
                    ..JointRule::default()
                },
            },
            "the tail of the bone is not finite",
        ),
        (
            Edit::JointRule {
                joint: JointId(1),
                rule: JointRule {
                    inflation_parent: Some(JointId(2)),
                    ..JointRule::default()
                },
            },
            "which comes after it",
        ),
    ];
    for (mut edit, sentence) in broken {
        let error = document.apply(&mut edit).unwrap_err().to_string();
        assert!(
            error.contains(sentence),
            "{error:?} does not say {sentence:?}"
        );
        assert!(document.same_content(&before), "{error}");
    }
}

#[test]
fn one_drag_is_one_small_undo_step() {
    let mut document = tube(200);
    let before = document.clone();
    let mut history = History::default();
    history.begin(&document, "Paint weights");
    for dab in 0..50u32 {
        let points: Vec<u32> = (dab * 20..dab * 20 + 200).collect();
        let rows: Rows = points
            .iter()
            .map(|_| vec![(0, 0.5), (1, 0.25), (2, 0.25 / (dab + 1) as f32)])
            .collect();
        history
            .apply(&mut document, Edit::influences(MESH, points, rows), "Paint")
            .unwrap();
    }
    history.commit(&document);
    assert_eq!(
        (history.n_undo(), history.undo_label()),
        (1, Some("Paint weights"))
    );
    let n_touched = 49 * 20 + 200;
    assert!(
        history.bytes() <= 64 * n_touched,
        "{} bytes for {n_touched} points",
        history.bytes()
    );
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));
    assert!(!history.is_modified());
}

#[test]
fn one_stroke_on_a_map_is_one_small_undo_step_and_gives_its_memory_back() {
    let mut document = tube(200);
    let before = document.clone();
    let mut history = History::default();
    history.begin(&document, "Paint compensation strength");
    for dab in 0..50u32 {
        let points: Vec<u32> = (dab * 20..dab * 20 + 200).collect();
        let values = points.iter().map(|p| (p + dab) as f32 / 2_000.0).collect();
        let edit = Edit::mask(MESH, MaskKind::Compensation, points, values);
        let dirty = history.apply(&mut document, edit, "Paint").unwrap();
        let chunks = &dirty.masks[&(MESH, MaskKind::Compensation.into())];
        assert!(chunks.len() <= 2, "only the chunks under the brush");
        assert!(dirty.influences.is_empty() && !dirty.pose);
    }
    history.commit(&document);
    assert_eq!(history.n_undo(), 1);
    let n_touched = 49 * 20 + 200;
    assert!(
        history.bytes() <= 16 * n_touched,
        "{} bytes for {n_touched} points",
        history.bytes()
    );
    let painted = document.clone();
    assert!(!painted.same_content(&before), "same_content sees maps");
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));
    assert!(document.meshes()[&MESH].masks.iter().next().is_none());
    history.redo(&mut document).unwrap();
    assert!(document.same_content(&painted));

    let mut bounded = History::with_limit(20_000);
    for i in 0..20u32 {
        let points: Vec<u32> = (0..600).collect();
        let values = points.iter().map(|p| (p + i) as f32 / 2_000.0).collect();
        let edit = Edit::mask(MESH, MaskKind::Smooth, points, values);
        bounded.apply(&mut document, edit, "Paint").unwrap();
        assert!(bounded.bytes() <= 20_000);
    }
    assert_eq!(bounded.n_dropped() + bounded.n_undo(), 20);
    assert!(bounded.n_dropped() > 0);
}

#[test]
fn an_undone_rule_is_the_skeleton_of_the_source_again() {
    let mut document = tube(10);
    let before = document.clone();
    let mut history = History::default();
    history.begin(&document, "Set the end of the bone");
    for x in [0.25, 0.5, 0.75] {
        let rule = JointRule {
            tail: Some(DVec3::new(x, 0.0, 0.0)),
            compensates_scale: true,
            ..JointRule::default()
        };
        let joint = JointId(1);
        let dirty = history
            .apply(&mut document, Edit::JointRule { joint, rule }, "Set")
            .unwrap();
        assert!(dirty.pose && dirty.joints);
    }
    history.commit(&document);
    assert!(!document.same_content(&before));
    assert_eq!(history.n_undo(), 1);
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&before));
    assert!(Arc::ptr_eq(document.skeleton(), document.source_skeleton()));
}

#[test]
fn the_history_is_bounded_and_says_what_it_dropped() {
    let mut document = tube(100);
    let mut history = History::with_limit(40_000);
    for i in 0..20u32 {
        let points: Vec<u32> = (0..400).collect();
        let rows: Rows = points
            .iter()
            .map(|_| vec![(0, 1.0 / (i + 2) as f32), (1, 0.5)])
            .collect();
        history
            .apply(&mut document, Edit::influences(MESH, points, rows), "Paint")
            .unwrap();
        assert!(history.bytes() <= 40_000 || history.n_undo() == 1);
    }
    assert!(history.n_dropped() > 0);
    assert_eq!(history.n_dropped() + history.n_undo(), 20);
    let n = history.n_undo();
    for _ in 0..n {
        assert!(history.undo(&mut document).is_some());
    }
    assert!(history.undo(&mut document).is_none());
}

#[test]
fn a_saved_state_on_a_branch_given_up_is_never_reached_again() {
    let mut document = tube(10);
    let mut history = History::default();
    let name = |n: &str| Edit::JointName {
        joint: JointId(0),
        name: n.into(),
    };
    history.apply(&mut document, name("a"), "Rename").unwrap();
    history.mark_saved();
    history.undo(&mut document);
    assert!(history.is_modified());
    history.apply(&mut document, name("b"), "Rename").unwrap();
    assert!(
        history.is_modified(),
        "as many steps as when saved, but another one"
    );
}

#[test]
fn drags_over_many_bones_fold_into_one_edit() {
    let n = 200_000;
    let edit = |from: u32, x: f64| Edit::Pose {
        joints: (from..from + n).map(JointId).collect(),
        locals: vec![
            Transform::from_rotation_translation(DQuat::IDENTITY, DVec3::splat(x));
            n as usize
        ],
    };
    let start = std::time::Instant::now();
    let mut folded = edit(0, 0.0);
    assert!(folded.absorb(edit(0, 1.0)).is_none());
    assert!(folded.absorb(edit(n / 2, 2.0)).is_none());
    assert!(folded.absorb(edit(n / 2, 3.0)).is_none());
    let Edit::Pose { joints, locals } = folded else {
        panic!("another edit");
    };
    assert!(joints.iter().copied().eq((0..n + n / 2).map(JointId)));
    let first = locals.iter().filter(|l| l.translation.x == 0.0).count();
    assert_eq!((first, locals.len()), (n as usize, joints.len()));
    assert_eq!(
        locals[n as usize].translation.x, 2.0,
        "the earlier one is kept"
    );
    let secs = start.elapsed().as_secs_f64();
    assert!(secs < 1.0, "{secs} s");
}

/// One edit of each variant that the picture must show, applied in turn; the `match` makes a new variant a compile
/// error here until it is listed.
#[test]
fn every_edit_reaches_the_worker_and_changes_the_picture() {
    let mut document = tube(60);
    let turned = Transform {
        rotation: DQuat::from_rotation_z(1.0),
        stretch: glam::DMat3::from_diagonal(DVec3::new(1.5, 1.0, 1.0)),
        ..document.skeleton().joint(JointId(1)).rest
    };
    let hung = Reparent {
        joint: JointId(2),
        parent: Some(JointId(0)),
        keep: Keep::LocalKeys,
        nearest: false,
        tolerance: KEY_TOLERANCE,
    };
    let edits = [
        Edit::Rig(Box::new(reparent(&document, &hung).unwrap())),
        Edit::Pose {
            joints: vec![JointId(1)],
            locals: vec![turned],
        },
        Edit::influences(
            MESH,
            vec![400, 401],
            [vec![(2, 1.0)], vec![(0, 1.0)]].into_iter().collect(),
        ),
        Edit::MorphWeights {
            joint: JointId(3),
            weights: vec![0.7],
        },
        Edit::Stack {
            mesh: MESH,
            stack: Arc::new(DeformStack::lbs()),
        },
        Edit::Stack {
            mesh: MESH,
            stack: Arc::new(DeformStack {
                scale: ScaleMode::Drop,
                ..DeformStack::dqs()
            }),
        },
        Edit::Stack {
            mesh: MESH,
            stack: Arc::default(),
        },
        Edit::Mask(MaskEdit::new(
            MESH,
            MaskKind::Projection,
            (300..600).collect(),
            vec![0.0; 300],
        )),
        crate::correctives::sample_edit(&document),
        Edit::JointRule {
            joint: JointId(2),
            rule: JointRule {
                tail: Some(DVec3::new(0.1, 3.0, 0.0)),
                ..JointRule::default()
            },
        },
        Edit::Clip {
            id: ClipId(0),
            clip: None,
        },
        Edit::JointName {
            joint: JointId(0),
            name: "hips".into(),
        },
        Edit::Constraints(ConstraintsEdit {
            joint: JointId(2),
            list: vec![Constraint::new(Rule::LimitAngles {
                ranges: [[0.1, 0.2], [0.0, 0.0], [0.0, 0.0]],
                order: EulerOrder::Xyz,
            })],
        }),
        Edit::Locks(Arc::new([JointId(0)].into())),
    ];
    let worker = Worker::spawn(|| {}).unwrap();
    let mut generation = 0;
    let mut ask = |document: &Document| {
        generation += 1;
        worker.post(Request {
            exported: None,
            bodies: sinew::evaluate::BodyMap::new(),
            generation,
            document: document.clone(),
            pose: document.shown_pose(),
            moment: Moment::default(),
            views: vec![ViewRequest::own()],
            centres: sinew::evaluate::CentreMap::new(),
            layouts: sinew::evaluate::LayoutMap::new(),
            heat_map: None,
            net: None,
            edges: Vec::new(),
            reset: generation == 1,
        });
        let result = worker.wait_result(Duration::from_secs(30)).unwrap();
        assert_eq!((result.generation, &result.failure), (generation, &None));
        result
    };
    assert_eq!(ask(&document).updates.len(), 2, "both instances appear");
    for edit in edits {
        let shows = match &edit {
            Edit::Influences(_)
            | Edit::Pose { .. }
            | Edit::MorphWeights { .. }
            | Edit::Stack { .. }
            | Edit::Mask(_)
            | Edit::Correctives(_)
            | Edit::Clusters(_)
            | Edit::Layers(_)
            | Edit::JointRule { .. }
            | Edit::Constraints(_)
            | Edit::Rig(_) => true,
            // Shown by the clip test below, the hierarchy and the brushes.
            Edit::Clip { .. }
            | Edit::JointName { .. }
            | Edit::Locks(_)
            | Edit::Humanoid(_)
            | Edit::Individual(_)
            | Edit::UnplacedConstraints(_)
            | Edit::LibraryPose { .. }
            | Edit::Recording { .. } => false,
        };
        let asked = match &edit {
            Edit::Influences(edit) => edit.points.clone(),
            Edit::Mask(edit) => edit.points.clone(),
            _ => Vec::new(),
        };
        let sparse = !asked.is_empty();
        let dirty = document.apply(&mut edit.clone()).unwrap();
        assert!(!dirty.is_empty(), "{edit:?}");
        let updates = ask(&document).updates;
        let skinned = updates
            .iter()
            .find(|u| u.instance == InstanceId(3))
            .map(|u| &u.update);
        assert_eq!(skinned.is_some(), shows, "{edit:?}");
        if sparse {
            let Some(InstanceUpdate::Sparse { points, normals }) = skinned else {
                panic!("{skinned:?}")
            };
            assert!(
                points.iter().all(|(p, _)| asked.contains(p)) && !points.is_empty(),
                "{points:?}"
            );
            assert!(
                normals.len() <= 20 * asked.len(),
                "{} normals",
                normals.len()
            );
        }
    }
    // A clip on screen, then the same clip edited.
    let mut document = tube(60);
    document.session_mut().playback.clip = Some(ClipId(0));
    document.session_mut().playback.time_secs = 0.8;
    ask(&document);
    document
        .apply(&mut Edit::Clip {
            id: ClipId(0),
            clip: Some(Arc::default()),
        })
        .unwrap();
    assert!(!ask(&document).updates.is_empty());
}

#[test]
fn a_waiting_request_is_replaced_by_a_newer_one() {
    let document = tube(400);
    let worker = Worker::spawn(|| {}).unwrap();
    for generation in 1..=50 {
        worker.post(Request {
            exported: None,
            bodies: sinew::evaluate::BodyMap::new(),
            generation,
            document: document.clone(),
            pose: document.pose().clone(),
            moment: Moment::default(),
            views: vec![ViewRequest::own()],
            centres: sinew::evaluate::CentreMap::new(),
            layouts: sinew::evaluate::LayoutMap::new(),
            heat_map: None,
            net: None,
            edges: Vec::new(),
            reset: true,
        });
    }
    let mut answered = Vec::new();
    while answered.last() != Some(&50) {
        answered.push(
            worker
                .wait_result(Duration::from_secs(30))
                .unwrap()
                .generation,
        );
    }
    assert!(answered.len() < 50, "{answered:?}");
    assert!(answered.is_sorted());
}
