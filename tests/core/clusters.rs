//! Control clusters in documents: their edit, their files, and the shape that they give a mesh.

use crate::clustered::{MESH, SKINNED, apart, bent, bits, edit, every, shape, with};
use crate::models::tube;
use glam::{DVec3, Vec3};
use sinew::cluster::procedural::MuscleSettings;
use sinew::cluster::{Base, ClusterGroup, ClusterMap, MuscleLayer, PatchSettings};
use sinew::correctives;
use sinew::deform::{DeformStack, Moved, SkinningMethod};
use sinew::document::rig::{self, WeightRecipient};
use sinew::document::{ClustersEdit, Document, Edit, EditError, History, checks, invariants};
use sinew::evaluate::Evaluator;
use sinew::finding::Severity;
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::io::{open_any, open_sample};
use sinew::skeleton::{JointId, Pose};
use sinew::skinning::Rows;
use sinew::suggest::{ClusterGoal, Training, suggest_clusters};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

fn map(points: impl IntoIterator<Item = u32>, base: Base) -> ClusterMap {
    let group = ClusterGroup {
        base,
        ..ClusterGroup::new("Clusters", 0)
    };
    let points = points.into_iter().map(|point| (point, 0)).collect();
    ClusterMap::new(vec![Arc::new(group)], points, PatchSettings::default()).unwrap()
}

/// The length of the tube.
const DIAGONAL: f32 = 4.1;

#[test]
fn an_edit_of_clusters_is_undone_to_the_bit_and_refused_where_a_point_is_missing() {
    let mut document = tube(30);
    let plain = document.clone();
    let mut history = History::default();
    history.begin(&document, "Mark");
    for nth in [40, 20, 10] {
        let edit = edit(&document, map(every(&document, nth), Base::Stack));
        let dirty = history.apply(&mut document, edit, "Mark").unwrap();
        assert!(dirty.clusters.contains(&MESH));
    }
    history.commit(&document);
    assert_eq!(document.meshes()[&MESH].clusters.n_clusters(), 48);
    assert!(!document.same_content(&plain));
    let marked = document.clone();
    history.undo(&mut document).unwrap();
    assert!(document.same_content(&plain));
    let before = &plain.meshes()[&MESH].clusters;
    assert!(Arc::ptr_eq(&document.meshes()[&MESH].clusters, before));
    history.redo(&mut document).unwrap();
    assert!(document.same_content(&marked));

    let n_points = document.meshes()[&MESH].geometry.n_points();
    let mut wrong = edit(&document, map([3, n_points as u32], Base::Stack));
    let why = document.apply(&mut wrong).unwrap_err();
    let point = n_points as u32;
    assert_eq!(why, EditError::Point { point, n_points });
    assert!(document.same_content(&marked));
    let errors = invariants::check(&document).into_iter();
    assert_eq!(errors.filter(|f| f.severity == Severity::Error).count(), 0);
}

#[test]
fn clusters_stay_at_bind_and_the_free_points_too() {
    let document = tube(40);
    let rest = document.rest_pose().clone();
    let plain = shape(&document, &rest);
    for nth in [3, 10, 25, 90] {
        for base in Base::ALL {
            let marked = with(&document, map(every(&document, nth), base));
            let shape = shape(&marked, &rest);
            let worst = apart(&shape, &plain) / DIAGONAL;
            assert!(worst <= 1e-6, "every {nth}th, {base:?}: {worst:e}");
        }
    }
}

#[test]
fn clusters_are_where_their_base_has_them_to_the_bit() {
    let document = tube(40);
    let pose = bent(&document, 80.0);
    let expected = |stack: DeformStack| {
        let mut document = document.clone();
        let stack = Arc::new(stack);
        document
            .apply(&mut Edit::Stack { mesh: MESH, stack })
            .unwrap();
        shape(&document, &pose)
    };
    let of_bases = [
        (Base::Stack, shape(&document, &pose)),
        (Base::Lbs, expected(DeformStack::lbs())),
        (Base::Dqs, expected(DeformStack::dqs())),
        (Base::Fixed, shape(&document, document.rest_pose())),
    ];
    for (base, expected) in of_bases {
        let points = every(&document, 9);
        let marked = with(&document, map(points.iter().copied(), base));
        let shape = shape(&marked, &pose);
        for p in points {
            let (a, b) = (shape[p as usize], expected[p as usize]);
            if base == Base::Fixed {
                // Blended in another order.
                assert!(a.distance(b) < 1e-6, "{p}: {a} {b}");
            } else {
                assert_eq!(bits(&[a]), bits(&[b]), "{base:?} {p}");
            }
        }
        // The free points follow them; those between anchors, which the stack moves, cannot stay.
        let worst = apart(&shape, &expected) / DIAGONAL;
        assert!(base == Base::Fixed || worst < 0.02, "{base:?}: {worst}");
    }
}

#[test]
fn with_every_point_a_cluster_the_stack_is_reproduced_exactly() {
    let document = tube(30);
    let pose = bent(&document, 100.0);
    for method in SkinningMethod::ALL {
        let mut document = document.clone();
        let stack = Arc::new(DeformStack {
            method,
            blend: 0.5,
            ..DeformStack::default()
        });
        document
            .apply(&mut Edit::Stack { mesh: MESH, stack })
            .unwrap();
        let all = with(&document, map(every(&document, 1), Base::Stack));
        assert_eq!(bits(&shape(&all, &pose)), bits(&shape(&document, &pose)));
    }
}

/// 2.5 % of the vertices suffice for a smooth bend; more come nearer (the rms
/// error falls by half or so as clusters double).
#[test]
fn more_clusters_come_nearer_to_the_stack() {
    let document = {
        let mut document = tube(60);
        let stack = Arc::new(DeformStack::dqs());
        document
            .apply(&mut Edit::Stack { mesh: MESH, stack })
            .unwrap();
        document
    };
    let pose = bent(&document, 70.0);
    let full = shape(&document, &pose);
    let mut before = f32::INFINITY;
    for nth in [40, 20, 10, 5] {
        let marked = with(&document, map(every(&document, nth), Base::Stack));
        let shape = shape(&marked, &pose);
        let squared = shape.iter().zip(&full).map(|(a, b)| a.distance_squared(*b));
        let rms = (squared.sum::<f32>() / full.len() as f32).sqrt() / DIAGONAL;
        assert!(rms < 0.75 * before, "every {nth}th: {rms} after {before}");
        before = rms;
    }
    assert!(before < 0.001, "{before}");
}

#[test]
fn parts_without_a_cluster_follow_the_stack() {
    let document = tube(30);
    let pose = bent(&document, 80.0);
    let marked = with(&document, ClusterMap::default());
    assert_eq!(bits(&shape(&marked, &pose)), bits(&shape(&document, &pose)));
}

/// The displacement of a sample at one cluster moves only the patches near it.
#[test]
fn a_displaced_cluster_moves_the_patches_around_it_alone() {
    let document = tube(60);
    let points = every(&document, 13);
    let plain = with(&document, map(points.iter().copied(), Base::Stack));
    let pose = bent(&plain, 60.0);
    let moved = points[points.len() / 2];
    let captured = {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&plain, &pose);
        let plan = evaluator.plan(SKINNED).unwrap();
        let item = &plain.meshes()[&MESH];
        let at = plan.base_positions()[moved as usize] + Vec3::new(0.0, 0.1, 0.1);
        sinew::deform::capture(plan, &item.stack, &item.masks, &[(moved, at)])
    };
    let new = correctives::NewSample {
        name: None,
        drivers: [JointId(1)].into(),
    };
    let mut added = correctives::add_sample(&plain, MESH, &captured, &pose, &new).unwrap();
    let mut sculpted = plain.clone();
    sculpted.apply(&mut added.edit).unwrap();
    let (before, after) = (shape(&plain, &pose), shape(&sculpted, &pose));
    let differs = |p: u32| before[p as usize].distance(after[p as usize]) > 1e-5;
    assert!(differs(moved));
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&sculpted, &pose);
    let (patches, _) = evaluator.plan(SKINNED).unwrap().patches().unwrap();
    // The corners within two edges of the coarse surface.
    let corner = (0..patches.n_corners() as u32).find(|&c| {
        let vertex = patches.net().corners[c as usize];
        let geometry = &sculpted.meshes()[&MESH].geometry;
        let surface = sinew::cluster::ClusterSurface::new(geometry);
        surface.points_of_vertex(vertex).contains(&moved)
    });
    let rings = &patches.net().rings;
    let mut near = vec![corner.unwrap()];
    near.extend_from_slice(rings.neighbours(near[0]));
    let mut allowed: Vec<u32> = near
        .iter()
        .flat_map(|&c| patches.patches_of_corner(c))
        .flat_map(|&patch| patches.points_of_patch(patch))
        .copied()
        .collect();
    allowed.push(moved);
    allowed.sort_unstable();
    let n_moved = (0..before.len() as u32).filter(|&p| differs(p)).count();
    assert!(n_moved > 20, "{n_moved}");
    for p in (0..before.len() as u32).filter(|&p| differs(p)) {
        assert!(allowed.binary_search(&p).is_ok(), "{p} moved");
    }
}

#[test]
fn an_incremental_evaluation_has_the_bits_of_a_full_one() {
    let document = tube(90);
    let mut document = with(&document, map(every(&document, 17), Base::Stack));
    let pose = bent(&document, 50.0);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, &pose);
    for point in [700u32, 17, 18, 1400] {
        let rows: Rows = [vec![(0, 0.3), (1, 0.7)]].into_iter().collect();
        document
            .apply(&mut Edit::influences(MESH, vec![point], rows))
            .unwrap();
        let moved = evaluator.evaluate(&document, &pose);
        let (_, moved) = moved.into_iter().find(|(id, _)| *id == SKINNED).unwrap();
        // The weights of a free point count only beside a cluster.
        if let Moved::Some { points, .. } = &moved {
            assert!(points.len() < 400, "{}", points.len());
        } else {
            assert_eq!(moved, Moved::Nothing, "{point}");
        }
        let incremental = evaluator.plan(SKINNED).unwrap().positions().to_vec();
        assert_eq!(
            bits(&incremental),
            bits(&shape(&document, &pose)),
            "{point}"
        );
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let document = tube(200);
    let document = with(&document, map(every(&document, 11), Base::Stack));
    let pose = bent(&document, 70.0);
    let of = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        pool.unwrap().install(|| bits(&shape(&document, &pose)))
    };
    let one = of(1);
    assert!(one == of(2) && one == of(5));
}

/// A morph target moves free points exactly, not only their clusters.
#[test]
fn morph_targets_deform_under_the_clusters() {
    let document = tube(40);
    let marked = with(&document, map(every(&document, 30), Base::Stack));
    let mut rest = Pose::clone(document.rest_pose());
    let node = document.instances()[&SKINNED].joint.get();
    rest.morph_weights[node] = vec![0.8];
    let worst = apart(&shape(&marked, &rest), &shape(&document, &rest)) / DIAGONAL;
    assert!(worst < 1e-6, "{worst:e}");
}

#[test]
fn a_project_keeps_clusters_and_skips_what_does_not_fit() {
    let opened = open_sample("arm", &Task::new()).unwrap();
    let plain = opened.document;
    let n = plain.meshes()[&MESH].geometry.n_points() as u32;
    let mut all = map((0..n).step_by(3), Base::Stack);
    let group = ClusterGroup {
        base: Base::Dqs,
        ..ClusterGroup::new("Forearm", 4)
    };
    all = all.with_group(None, group).unwrap();
    all = all.with_group(None, ClusterGroup::new("Empty", 5)).unwrap();
    all = all.with_points(&[1, 4, 9], Some(1));
    all = all
        .with_settings(PatchSettings {
            positions_only: true,
            ..PatchSettings::default()
        })
        .unwrap();
    let marked = with(&plain, all);
    let path = Path::new("/projects/arm.ron");
    let text = to_text(&to_project(&marked, Some(path)).unwrap()).unwrap();
    assert!(text.contains("title: \"Forearm\""), "{text}");
    let reopened = |text: &str| apply_project(plain.clone(), parse(text).unwrap()).unwrap();
    let (document, findings) = reopened(&text);
    assert_eq!(findings, []);
    let (a, b) = (&document.meshes()[&MESH], &marked.meshes()[&MESH]);
    assert_eq!(a.clusters, b.clusters);
    let again = to_text(&to_project(&document, Some(path)).unwrap()).unwrap();
    assert_eq!(again, text);

    let broken = text.replacen("title: \"Empty\"", "title: \"Forearm\"", 1);
    let (document, findings) = reopened(&broken);
    assert!(document.meshes()[&MESH].clusters.is_empty());
    let said = findings[0].to_string();
    assert!(
        said.contains("two groups of clusters have the name \"Forearm\""),
        "{said}"
    );
    let again = to_text(&to_project(&document, Some(path)).unwrap()).unwrap();
    assert_eq!(again, broken);
    let points = "points: [(v: [";
    let lost = text.replacen(points, "points: [(v: [99999999, ", 1);
    let (document, findings) = reopened(&lost);
    assert_eq!(document.meshes()[&MESH].clusters, b.clusters);
    let said = findings[0].to_string();
    assert!(
        said.contains("vertices that the mesh does not have are skipped (1)"),
        "{said}"
    );
    let damaged = text.replacen("n_points: ", "n_points: 9", 1);
    assert!(damaged != text && apply_project(plain.clone(), parse(&damaged).unwrap()).is_err());
}

/// Clusters of a mesh and layers of bones that a new version of the model has not stay in the project until they are back; a
/// layer that is not valid leaves the others alone.
#[test]
fn what_the_model_has_no_place_for_stays_in_the_project() {
    let plain = open_sample("arm", &Task::new()).unwrap().document;
    let map = with_muscle(&plain, 0.1);
    let mut group = ClusterGroup::clone(&map.groups()[0]);
    let muscle = group.muscles[0].clone();
    group.muscles.push(MuscleLayer {
        name: "Other".into(),
        ..muscle
    });
    let marked = with(&plain, map.with_group(Some(0), group).unwrap());
    let clusters = |document: &Document| document.meshes()[&MESH].clusters.clone();
    let text = |document: &Document| to_text(&to_project(document, None).unwrap()).unwrap();
    let opened = |text: &str| apply_project(plain.clone(), parse(text).unwrap()).unwrap();
    let saved = text(&marked);
    let change = |text: &str, from: &str, to: &str| {
        let start = text.find("clusters: [").unwrap();
        let changed = text[start..].replacen(from, to, 1);
        assert_ne!(changed, text[start..], "{from}");
        [&text[..start], &changed].concat()
    };

    let name = format!("{:?}", marked.meshes()[&MESH].geometry.name);
    let gone = change(&saved, "mesh: 0", "mesh: 7");
    let gone = change(&gone, &name, "\"Gone\"");
    let (document, findings) = opened(&gone);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].message.contains("The project keeps them."));
    assert!(clusters(&document).is_empty());
    assert_eq!(text(&document), gone);
    let back = change(&change(&gone, "mesh: 7", "mesh: 0"), "\"Gone\"", &name);
    assert_eq!(clusters(&opened(&back).0), clusters(&marked));

    let lost = change(&saved, "upper: (", "upper: (90");
    let lost = change(&lost, "\"upper_arm\"", "\"Gone\"");
    let weak = change(&saved, "power: ", "power: -");
    for broken in [lost, weak] {
        let (document, findings) = opened(&broken);
        let said = findings.last().unwrap().to_string();
        assert!(said.contains("The project keeps it"), "{findings:?}");
        assert_eq!(checks::of_layers(&document).len(), 1);
        let kept = clusters(&document).groups()[0].clone();
        assert_eq!((kept.muscles.len(), kept.unplaced.len()), (1, 1));
        assert_eq!(kept.muscles[0].name, "Other");
        assert_eq!(clusters(&document).clusters(), clusters(&marked).clusters());
        // Saved again it is behind the others, and else as it was.
        let (again, _) = opened(&text(&document));
        assert_eq!(clusters(&again), clusters(&document));
        assert_eq!(text(&document).len(), broken.len());
    }
}

/// A map of one group with a muscle beside the bone from the root to the middle joint.
fn with_muscle(document: &Document, amplitude: f64) -> ClusterMap {
    let plain = map(every(document, 5), Base::Stack);
    let mut group = ClusterGroup::clone(&plain.groups()[0]);
    let mut settings = MuscleSettings::for_limb(0.4, DVec3::Y);
    settings.amplitude = amplitude;
    group.muscles.push(MuscleLayer {
        name: "Biceps".into(),
        upper: JointId(0),
        lower: JointId(1),
        settings,
        muted: false,
    });
    plain.with_group(Some(0), group).unwrap()
}

#[test]
fn a_muscle_bulges_with_the_bend_and_not_at_bind() {
    let document = tube(60);
    let plain = with(&document, map(every(&document, 5), Base::Stack));
    let flexed = with(&document, with_muscle(&document, 0.1));
    let rest = document.rest_pose().clone();
    assert_eq!(bits(&shape(&flexed, &rest)), bits(&shape(&plain, &rest)));
    let mut before = 0.0;
    for degrees in [30.0, 60.0, 90.0, 120.0] {
        let pose = bent(&document, degrees);
        let (a, b) = (shape(&flexed, &pose), shape(&plain, &pose));
        let most = apart(&a, &b);
        assert!(
            most > before && most < 0.11,
            "{degrees}: {most} after {before}"
        );
        before = most;
        // Beside the upper bone, on the side of y; the free points too.
        let moved = (0u32..).zip(a.iter().zip(&b));
        let moved: Vec<u32> = moved
            .filter(|(_, (a, b))| a.distance(**b) > 0.01)
            .map(|m| m.0)
            .collect();
        let bind = &document.meshes()[&MESH].geometry.positions;
        assert!(moved.iter().any(|p| p % 5 != 0) || degrees < 60.0);
        assert!(
            moved
                .iter()
                .all(|&p| bind[p as usize].x < 0.4 && bind[p as usize].y > -0.2)
        );
    }
    assert!(before > 0.05, "{before}");
    // Another amplitude under a running evaluation.
    let pose = bent(&document, 90.0);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&flexed, &pose);
    let stronger = with(&document, with_muscle(&document, 0.2));
    evaluator.evaluate(&stronger, &pose);
    let incremental = evaluator.plan(SKINNED).unwrap().positions().to_vec();
    assert_eq!(bits(&incremental), bits(&shape(&stronger, &pose)));
}

#[test]
fn a_joint_with_a_muscle_cannot_be_removed_and_must_exist() {
    let document = tube(20);
    let flexed = with(&document, with_muscle(&document, 0.1));
    let remove = |joint| rig::remove(&flexed, JointId(joint), WeightRecipient::IntoParent);
    let why = remove(1).unwrap_err().to_string();
    assert!(
        why.contains("The muscle “Biceps” of control clusters is attached to"),
        "{why}"
    );
    let mut wrong = with_muscle(&document, 0.1);
    let mut group = ClusterGroup::clone(&wrong.groups()[0]);
    group.muscles[0].lower = JointId(77);
    wrong = wrong.with_group(Some(0), group.clone()).unwrap();
    let mut edit = edit(&document, wrong.clone());
    let mut changed = document.clone();
    assert!(changed.apply(&mut edit).is_err() && changed.same_content(&document));
    group.muscles[0].settings.power = 17.0;
    assert!(wrong.with_group(Some(0), group).is_err());
}

/// A muscle that cannot act where it lies is a problem with the reason.
#[test]
fn a_muscle_that_does_not_act_is_a_problem() {
    let document = tube(20);
    let problems = |change: &dyn Fn(&mut MuscleLayer)| {
        let map = with_muscle(&document, 0.1);
        let mut group = ClusterGroup::clone(&map.groups()[0]);
        change(&mut group.muscles[0]);
        let made = with(&document, map.with_group(Some(0), group).unwrap());
        let found = checks::of_layers(&made);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        said.join("; ")
    };
    assert_eq!(problems(&|_| {}), "");
    let said = problems(&|muscle| muscle.settings.side = DVec3::X);
    assert!(said.contains("points along its bone"), "{said}");
    let said = problems(&|muscle| muscle.lower = muscle.upper);
    assert!(said.contains("It does not act"), "{said}");
    let said = problems(&|muscle| muscle.upper = JointId(3));
    assert!(said.contains("is not in the skin of the object"), "{said}");
    let said = problems(&|muscle| {
        muscle.settings.side = DVec3::X;
        muscle.muted = true;
    });
    assert_eq!(said, "");
}

/// What a muscle adds is no error of the clusters that it moves: as many are suggested as without it.
#[test]
fn layers_of_the_given_groups_are_no_error() {
    let document = tube(60);
    let training = Training {
        poses: vec![bent(&document, 70.0)],
        ..Training::new(&document)
    };
    let suggested = |map: ClusterMap| {
        let document = with(&document, map);
        let goal = ClusterGoal::error(0.005);
        let made = suggest_clusters(&document, MESH, goal, &training, &Task::new()).unwrap();
        made.map
            .clusters()
            .iter()
            .map(|c| c.0)
            .collect::<Vec<u32>>()
    };
    let plain = suggested(map(every(&document, 5), Base::Stack));
    assert_eq!(suggested(with_muscle(&document, 0.2)), plain);
}

#[test]
fn suggested_clusters_reach_the_wanted_error() {
    let document = open_sample("arm", &Task::new()).unwrap().document;
    let training = Training::new(&document);
    let n = document.meshes()[&MESH].geometry.n_points();
    let of = |error: f64| {
        let goal = ClusterGoal::error(error);
        suggest_clusters(&document, MESH, goal, &training, &Task::new()).unwrap()
    };
    let (coarse, fine) = (of(0.01), of(0.004));
    for (suggested, error) in [(&coarse, 0.01), (&fine, 0.004)] {
        let last = suggested.rounds.last().unwrap();
        assert!(last.max <= error, "{:?}", suggested.rounds);
        assert!(suggested.rounds.len() > 1 && last.rms < last.max);
    }
    let (a, b) = (coarse.map.n_clusters(), fine.map.n_clusters());
    assert!(a < b && b < n / 2, "{a} and {b} of {n}");
    let again = of(0.01);
    assert_eq!(again.map, coarse.map);
    let cancelled = Task::new();
    cancelled.cancel();
    assert!(
        suggest_clusters(
            &document,
            MESH,
            ClusterGoal::error(0.01),
            &training,
            &cancelled
        )
        .is_err()
    );
}

/// Fewer clusters than a first round would have are spread over the whole mesh, and are no more than were asked for.
#[test]
fn few_suggested_clusters_are_everywhere() {
    let document = open_sample("arm", &Task::new()).unwrap().document;
    let training = Training::new(&document);
    let geometry = &document.meshes()[&MESH].geometry;
    let n = geometry.n_points();
    let goal = ClusterGoal {
        error: 1e-9,
        share: 6.5 / n as f64,
    };
    let found = suggest_clusters(&document, MESH, goal, &training, &Task::new()).unwrap();
    let marked = found.map.clusters().iter();
    let places: Vec<Vec3> = marked
        .map(|&(p, _)| geometry.positions[p as usize])
        .collect();
    assert!((2..=6).contains(&places.len()), "{}", places.len());
    let extent = |points: &[Vec3]| {
        let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        (high - low).max_element()
    };
    let (of_clusters, of_mesh) = (extent(&places), extent(&geometry.positions));
    assert!(of_clusters > 0.5 * of_mesh, "{of_clusters} of {of_mesh}");
}

/// A model in centimetres under a node that scales it.
#[test]
fn a_model_in_other_units_stays_at_bind() {
    let Some(shared) = crate::shared::shared_dir("clusters") else {
        return;
    };
    let path = shared.join("models/fox/fox.glb");
    let document = open_any(&path, &Task::new()).unwrap().document;
    let (&mesh, item) = document.meshes().iter().next().unwrap();
    let n = item.geometry.n_points() as u32;
    let mut marked = document.clone();
    let clusters = Arc::new(map((0..n).step_by(12), Base::Stack));
    let mut edit = Edit::Clusters(ClustersEdit::new(&document, mesh, clusters));
    marked.apply(&mut edit).unwrap();
    let instance = *document.instances().keys().next().unwrap();
    let of = |document: &Document| {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, document.rest_pose());
        evaluator.plan(instance).unwrap().positions().to_vec()
    };
    let (a, b) = (of(&marked), of(&document));
    let size = b
        .iter()
        .fold(DVec3::ZERO, |size, p| size.max(p.as_dvec3().abs()));
    let worst = f64::from(apart(&a, &b)) / size.length();
    assert!(worst < 2e-3, "{worst:e}");
}
