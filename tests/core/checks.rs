//! What the checks find, what Fix makes of it, and the history to jump in.

use crate::models::tube;
use glam::Vec3;
use sinew::deform::DeformStack;
use sinew::document::checks::{ModelChecks, ModelReport};
use sinew::document::fixes::{Fixed, fix};
use sinew::document::{
    Dirty, Document, Edit, History, MeshId, MeshItem, MeshSource, Parts, PrimitiveSource,
};
use sinew::finding::{Finding, Fix, Place, Severity};
use sinew::math::Transform;
use sinew::skeleton::JointId;
use sinew::skinning::Rows;
use sinew::task::Task;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);

fn check(document: &Document) -> ModelReport {
    ModelChecks::default().run(document, &Task::new()).unwrap()
}

/// The tube with other rows for some points.
fn with_rows(rows: &[(u32, &[(u16, f32)])]) -> Document {
    let mut document = tube(40);
    let points = rows.iter().map(|r| r.0).collect();
    let rows: Rows = rows.iter().map(|r| r.1.to_vec()).collect();
    document
        .apply(&mut Edit::influences(MESH, points, rows))
        .unwrap();
    document
}

fn lock(document: &mut Document, joints: &[u32]) {
    let locked = joints.iter().copied().map(JointId).collect();
    document.apply(&mut Edit::Locks(Arc::new(locked))).unwrap();
}

/// The only finding that `which` mends.
fn finding(report: &ModelReport, which: Fix) -> Option<&Finding> {
    let mut found = report.findings.iter().filter(|f| f.fix == Some(which));
    let first = found.next();
    assert!(found.next().is_none());
    first
}

fn points(finding: &Finding) -> Vec<u32> {
    match &finding.target {
        Some(Place::Points { mesh: 0, points }) => points.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Applies what `which` makes of its finding; the report afterwards.
fn repaired(document: &mut Document, which: Fix) -> (Fixed, ModelReport) {
    let report = check(document);
    let points = points(finding(&report, which).expect("a finding"));
    let fixed = fix(document, MESH, &points, which, &Task::new()).unwrap();
    if let Some(mut edit) = fixed.edit.clone() {
        document.apply(&mut edit).unwrap();
    }
    (fixed, check(document))
}

#[test]
fn a_sound_model_has_figures_and_no_problem() {
    let document = tube(40);
    let report = check(&document);
    assert!(
        report
            .findings
            .iter()
            .all(|f| f.severity == Severity::Info && f.fix.is_none()),
        "{:?}",
        report.findings
    );
    let figures = report.meshes[&MESH];
    assert_eq!((figures.most, figures.n_unweighted), (2, 0));
    let item = &document.meshes()[&MESH];
    for (index, joint) in document
        .skins()
        .values()
        .next()
        .unwrap()
        .joints
        .iter()
        .enumerate()
    {
        let moved = item
            .influences
            .iter()
            .filter(|r| r.weight_of(index as u16) > 0.0);
        assert_eq!(report.n_moved[joint.get()] as usize, moved.count());
    }
    assert_eq!(report.n_moved[3..], [0, 0], "nodes move no points");
    assert!(!report.badges[3].unweighted, "and are no bones");
}

#[test]
fn later_checks_read_only_what_changed_and_find_the_same() {
    let mut document = tube(300);
    let mut checks = ModelChecks::default();
    checks.run(&document, &Task::new()).unwrap();
    for point in [0u32, 1, 1500, 4799] {
        let rows: Rows = [vec![(1, 0.25)]].into_iter().collect();
        document
            .apply(&mut Edit::influences(MESH, vec![point], rows))
            .unwrap();
        let incremental = checks.run(&document, &Task::new()).unwrap();
        assert_eq!(incremental, check(&document));
    }
    lock(&mut document, &[1]);
    let locked = checks.run(&document, &Task::new()).unwrap();
    assert_eq!(locked, check(&document));
    assert!(
        finding(&locked, Fix::Normalise).is_none(),
        "all of them are locked"
    );
}

#[test]
fn sums_are_normalised_and_locked_bones_keep_their_bits() {
    let mut document = with_rows(&[
        (3, &[(0, 0.5), (1, 0.25)]),
        (9, &[(0, 0.3)]),
        (11, &[(0, 0.25), (1, 0.5), (2, 0.5)]),
    ]);
    lock(&mut document, &[0]);
    let before = check(&document);
    let found = finding(&before, Fix::Normalise).unwrap();
    assert_eq!(points(found), [3, 9, 11]);
    assert_eq!(
        found.message,
        "3 vertices have weights that do not add up to 1."
    );
    let (fixed, after) = repaired(&mut document, Fix::Normalise);
    assert_eq!(
        fixed.message,
        "2 vertices normalised. 1 vertex unchanged: the other bones are locked."
    );
    let influences = &document.meshes()[&MESH].influences;
    assert_eq!(influences.row(3).weights, [0.5, 0.5]);
    assert_eq!(influences.row(9).weights, [0.3]);
    assert_eq!(influences.row(11).weights, [0.25, 0.375, 0.375]);
    let left = after
        .findings
        .iter()
        .find(|f| f.message.contains("add up to 1"))
        .unwrap();
    assert_eq!(
        (points(left), left.fix),
        (vec![9], None),
        "nothing helps now"
    );
}

#[test]
fn points_without_a_bone_go_to_the_nearest() {
    let mut document = with_rows(&[(0, &[]), (639, &[(1, 0.0)])]);
    let at = |document: &Document, p: usize| document.meshes()[&MESH].geometry.positions[p];
    let (near, far) = (at(&document, 0), at(&document, 639));
    assert!(near.x < -1.0 && far.x > 1.0, "{near} {far}");
    assert_eq!(check(&document).meshes[&MESH].n_unweighted, 2);
    let (fixed, after) = repaired(&mut document, Fix::GiveToNearest);
    assert_eq!(fixed.message, "2 vertices assigned to the nearest bone.");
    let influences = &document.meshes()[&MESH].influences;
    assert_eq!(influences.row(0).joints, [0]);
    assert_eq!(influences.row(639).joints, [2]);
    assert!(finding(&after, Fix::GiveToNearest).is_none());

    let mut document = with_rows(&[(639, &[])]);
    lock(&mut document, &[2]);
    repaired(&mut document, Fix::GiveToNearest);
    assert_eq!(document.meshes()[&MESH].influences.row(639).joints, [1]);
}

#[test]
fn a_cancelled_fix_changes_nothing() {
    let document = with_rows(&[(0, &[])]);
    let task = Task::new();
    task.cancel();
    let stopped = fix(&document, MESH, &[0], Fix::GiveToNearest, &task).unwrap_err();
    assert!(stopped.to_string().contains("cancelled"), "{stopped}");
    let gone = fix(&document, MeshId(9), &[0], Fix::Normalise, &Task::new()).unwrap();
    assert!(gone.edit.is_none());
}

#[test]
fn bones_say_what_is_odd_about_them() {
    let mut document = tube(40);
    let name = |document: &mut Document, joint, name: &str| {
        let (joint, name) = (JointId(joint), name.to_owned());
        document
            .apply(&mut Edit::JointName { joint, name })
            .unwrap();
    };
    name(&mut document, 1, "Arm.L");
    let badges = check(&document).badges;
    assert!(badges[1].unpaired && !badges[0].unpaired);
    name(&mut document, 2, "Arm.R");
    assert!(check(&document).badges.iter().all(|b| !b.unpaired));
    let mut scaled = Transform::IDENTITY;
    scaled.stretch *= 2.0;
    document
        .apply(&mut Edit::Pose {
            joints: vec![JointId(2)],
            locals: vec![scaled],
        })
        .unwrap();
    let report = check(&document);
    assert!(report.badges[2].scaled);
    let found = report
        .findings
        .iter()
        .find(|f| f.message.contains("scaled"))
        .unwrap();
    assert_eq!(found.target, Some(Place::Joints([2].into())));
    assert_eq!(found.place, "bone \"Arm.R\"");
}

/// Two triangles that meet along an edge whose ends have other weights on either side.
fn seam() -> Document {
    let mut primitive = PrimitiveSource::default();
    for (x, y, row) in [
        (0.0, 0.0, vec![(0, 1.0)]),
        (1.0, 0.0, vec![(0, 1.0)]),
        (1.0, 1.0, vec![(0, 1.0)]),
        (0.0, 0.0, vec![(0, 0.5), (1, 0.5)]),
        (1.0, 1.0, vec![(1, 1.0)]),
        (0.0, 1.0, vec![(1, 1.0)]),
    ] {
        primitive.positions.push(Vec3::new(x, y, 0.0));
        primitive.influences.push_pairs(row);
    }
    primitive.triangles = vec![[0, 1, 2], [3, 4, 5]];
    document_of(primitive)
}

/// A document of one mesh, on the skin of the tube.
fn document_of(primitive: PrimitiveSource) -> Document {
    let built = MeshSource {
        name: "quad".into(),
        primitives: vec![primitive],
        morph_names: Vec::new(),
    }
    .build();
    assert_eq!(
        built.findings[0].fix,
        Some(Fix::Weld),
        "the import says so too"
    );
    let tube = tube(40);
    let mut item = MeshItem::clone(&tube.meshes()[&MESH]);
    item.geometry = Arc::new(built.mesh);
    item.influences = built.influences.clone();
    item.source_influences = built.influences;
    item.morph_weights = Vec::new();
    Document::new(Parts {
        skeleton: tube.skeleton().clone(),
        meshes: [(MESH, Arc::new(item))].into(),
        skins: tube.skins().clone(),
        instances: tube
            .instances()
            .iter()
            .take(1)
            .map(|(k, v)| (*k, v.clone()))
            .collect(),
        ..Parts::default()
    })
    .unwrap()
}

#[test]
fn the_sides_of_a_seam_are_welded_to_their_average() {
    let mut document = seam();
    let found = check(&document);
    let found = finding(&found, Fix::Weld).expect("a seam");
    assert!(
        found.message.starts_with("At 2 positions"),
        "{}",
        found.message
    );
    assert_eq!(points(found).len(), 4);
    let (fixed, after) = repaired(&mut document, Fix::Weld);
    assert_eq!(fixed.message, "4 vertices welded.");
    assert!(finding(&after, Fix::Weld).is_none());
    let item = &document.meshes()[&MESH];
    let at = |x: f32, y: f32| {
        let place = Vec3::new(x, y, 0.0);
        (0..item.influences.len() as u32)
            .filter(move |&p| item.geometry.positions[p as usize] == place)
            .map(|p| {
                (
                    item.influences.row(p).weight_of(0),
                    item.influences.row(p).weight_of(1),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(at(0.0, 0.0), [(0.75, 0.25); 2]);
    assert_eq!(at(1.0, 1.0), [(0.5, 0.5); 2]);
    assert_eq!(at(1.0, 0.0), [(1.0, 0.0)], "what is no seam stays");

    let mut document = seam();
    lock(&mut document, &[0, 1]);
    assert!(finding(&check(&document), Fix::Weld).is_none());
}

#[test]
fn a_mesh_collapsed_to_one_place_is_checked_and_welded_at_once() {
    let n = 20_000;
    let mut primitive = PrimitiveSource::default();
    for i in 0..n {
        let weight = i as f32 / n as f32;
        primitive.positions.push(Vec3::ZERO);
        primitive
            .influences
            .push_pairs(vec![(0, weight), (1, 1.0 - weight)]);
    }
    let start = std::time::Instant::now();
    let mut document = document_of(primitive);
    let found = check(&document);
    assert_eq!(points(finding(&found, Fix::Weld).unwrap()).len(), n);
    let (_, after) = repaired(&mut document, Fix::Weld);
    assert!(finding(&after, Fix::Weld).is_none());
    // Walking the ring from each of its points would take 200 million steps a check.
    let secs = start.elapsed().as_secs_f64();
    assert!(secs < 5.0, "{secs} s");
}

/// A history of edits of every kind, and the document after each of them.
fn some_history() -> (Document, History, Vec<Document>) {
    let mut document = tube(40);
    let mut history = History::default();
    let mut states = vec![document.clone()];
    for i in 0..12u32 {
        let edit = match i % 4 {
            0 => Edit::influences(
                MESH,
                vec![i, i + 7],
                [vec![(1, 1.0)], vec![(0, 0.5), (2, 0.5)]]
                    .into_iter()
                    .collect(),
            ),
            1 => Edit::JointName {
                joint: JointId(i % 5),
                name: format!("Bone {i}"),
            },
            2 => Edit::Locks(Arc::new([JointId(i % 3)].into())),
            _ => Edit::MorphWeights {
                joint: JointId(3),
                weights: vec![i as f32 * 0.1],
            },
        };
        history
            .apply(&mut document, edit, &format!("Step {i}"))
            .unwrap();
        states.push(document.clone());
    }
    (document, history, states)
}

#[test]
fn a_jump_anywhere_and_back_gives_the_same_bits() {
    let (mut document, mut history, states) = some_history();
    assert_eq!(history.saved_step(), Some(0));
    for n in [0, 12, 5, 6, 5, 11, 1, 99, 12] {
        let dirty = history.jump(&mut document, n);
        let n = n.min(12);
        assert_eq!(history.n_undo(), n);
        assert!(document.same_content(&states[n]), "{n}");
        assert_eq!(history.jump(&mut document, n), Dirty::default());
        let labels: Vec<&str> = history.labels().collect();
        assert_eq!(
            labels,
            (0..12).map(|i| format!("Step {i}")).collect::<Vec<_>>()
        );
        let _ = dirty;
    }
    history.jump(&mut document, 4);
    history.mark_saved();
    assert_eq!(history.saved_step(), Some(4));
    history.jump(&mut document, 2);
    assert_eq!(
        (history.saved_step(), history.is_modified()),
        (Some(4), true)
    );
    // A new step gives the saved branch up.
    let name = Edit::JointName {
        joint: JointId(0),
        name: "new".into(),
    };
    history.apply(&mut document, name, "New").unwrap();
    assert_eq!((history.saved_step(), history.n_steps()), (None, 3));
}

#[test]
fn a_setting_chosen_again_stays_one_step() {
    let mut document = tube(40);
    let mut history = History::default();
    let original = document.clone();
    let choose = |document: &mut Document, history: &mut History, stack: DeformStack, label| {
        history.begin_setting(document, label, ("method", None));
        let edit = Edit::Stack {
            mesh: MESH,
            stack: Arc::new(stack),
        };
        history.apply(document, edit, label).unwrap();
        history.commit(document);
    };
    choose(&mut document, &mut history, DeformStack::lbs(), "linear");
    assert_eq!(history.undo_label(), Some("linear"));
    choose(&mut document, &mut history, DeformStack::default(), "dual");
    assert_eq!(history.n_steps(), 0, "as it was: no step");
    assert!(!history.is_modified() && history.bytes() == 0);
    assert!(document.same_content(&original));
    choose(&mut document, &mut history, DeformStack::lbs(), "linear");
    history.mark_saved();
    choose(&mut document, &mut history, DeformStack::default(), "dual");
    assert_eq!(history.n_steps(), 2, "what was saved stays in reach");
    history.jump(&mut document, 0);
    assert!(document.same_content(&original));
    history.jump(&mut document, 2);
    assert_eq!(
        document.meshes()[&MESH].stack,
        Arc::new(DeformStack::default())
    );
    assert!(!document.same_content(&original) || history.is_modified());
}
