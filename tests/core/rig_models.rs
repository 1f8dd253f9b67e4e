//! The table of rig edits on the shared models: largest posed differences over all clips, beside what a wrong version does.

use crate::export_models::{open, reopen};
use crate::reference::larger;
use crate::rig_operations::{apart, assert_sound, random_edit};
use crate::shared::shared_dir;
use crate::skinning::Random;
use glam::{DAffine3, DQuat, DVec3};
use sinew::document::rig::measure::{Compared, n_keys};
use sinew::document::rig::{
    self, Children, Insert, Intent, Keep, Move, Reparent, RigEdit, WeightRecipient, remove_measured,
};
use sinew::document::{Document, Edit, History, InstanceId};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::io::gltf_export::for_file;
use sinew::skeleton::{Frame, JointId};
use sinew::task::Task;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A model, the joint that is moved, turned and divided, and the one that hangs elsewhere.
struct Case {
    file: &'static str,
    joint: &'static str,
    hung: &'static str,
    parent: &'static str,
}

const CASES: [Case; 5] = [
    Case {
        file: "mannequiny/mannequiny.glb",
        joint: "lowerarm.l",
        hung: "hand.l",
        parent: "pelvis",
    },
    Case {
        file: "kaykit_knight/kaykit_knight.glb",
        joint: "lowerarm.l",
        hung: "hand.l",
        parent: "hips",
    },
    Case {
        file: "cesium_man/cesium_man.glb",
        joint: "leg_joint_L_2",
        hung: "Skeleton_neck_joint_1",
        parent: "Skeleton_torso_joint_1",
    },
    Case {
        file: "fox_quantized/fox_quantized.glb",
        joint: "b_LeftForeArm_010",
        hung: "b_Tail02_013",
        parent: "b_Spine01_02",
    },
    Case {
        file: "greenman_cubic_8inf/greenman_cubic_8inf.glb",
        joint: "body_low",
        hung: "hand_L",
        parent: "",
    },
];

fn named(document: &Document, name: &str) -> Option<JointId> {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints.find(|&j| skeleton.joint(j).name == name)
}

/// The joint of a case; where the file names it otherwise, one whose name begins alike.
fn joint(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    named(document, name)
        .or_else(|| {
            let mut joints = skeleton.live_joints();
            joints.find(|&j| skeleton.joint(j).name.starts_with(stem))
        })
        .unwrap_or_else(|| {
            let names = skeleton.live_joints().map(|j| skeleton.label(j));
            panic!("no {name} in {:?}", names.collect::<Vec<_>>())
        })
}

fn edited(before: &Document, edit: RigEdit) -> Document {
    let mut document = before.clone();
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    assert_sound(&document);
    document
}

/// Written to a file and read again.
fn written(document: &Document) -> Document {
    let options = ExportOptions {
        format: GltfFormat::Glb,
        influences: 8,
        ..ExportOptions::default()
    };
    reopen(&export(document, &options, &Task::new()).unwrap())
}

/// The largest difference between a document and a file, percent.
fn apart_in_file(before: &Document, file: &Document) -> f64 {
    100.0 * apart(before, file)
}

fn at_rest(before: &Document, after: &Document) -> f64 {
    let compared = Compared::new(before, after);
    100.0 * compared.at_rest().max / compared.diagonal
}

/// The joint's frame of the table: 63 degrees about (1, 2, 3) after 23 degrees about Y.
fn turn() -> DQuat {
    DQuat::from_axis_angle(
        DVec3::new(1.0, 2.0, 3.0).normalize_or_zero(),
        63f64.to_radians(),
    ) * DQuat::from_rotation_y(23f64.to_radians())
}

/// `after` with the inverse bind matrices of every joint that `pick` names replaced.
fn with_matrices(
    after: &Document,
    matrix: impl Fn(&Document, JointId, DAffine3) -> DAffine3,
) -> BTreeMap<InstanceId, Vec<DVec3>> {
    let world = after.rest_pose().world_matrices(after.skeleton());
    let mut places = BTreeMap::new();
    for (&id, instance) in after.instances() {
        let Some(skin) = instance.skin.and_then(|s| after.skins().get(&s)) else {
            continue;
        };
        let item = &after.meshes()[&instance.mesh];
        let palette: Vec<DAffine3> = skin
            .joints
            .iter()
            .zip(&skin.inverse_bind)
            .map(|(&j, m)| world[j.get()] * matrix(after, j, *m))
            .collect();
        let points = item.geometry.positions.iter().zip(item.influences.iter());
        let placed = points.map(|(p, row)| {
            let parts = row.iter().map(|(slot, weight)| {
                palette[usize::from(slot)].transform_point3(p.as_dvec3()) * f64::from(weight)
            });
            parts.sum::<DVec3>()
        });
        places.insert(id, placed.collect());
    }
    places
}

/// How far points at rest are from where they were, with wrong inverse bind matrices.
fn naive_at_rest(
    before: &Document,
    after: &Document,
    matrix: impl Fn(&Document, JointId, DAffine3) -> DAffine3,
) -> f64 {
    let wrong = with_matrices(after, matrix);
    let right = with_matrices(before, |_, _, m| m);
    let mut largest = 0.0f64;
    for (id, places) in &wrong {
        for (a, b) in places.iter().zip(&right[id]) {
            largest = larger(largest, a.distance(*b));
        }
    }
    100.0 * largest / rig::measure::diagonal(before)
}

/// A copy whose named joint is divided, moved or turned, with clips as they were: what happens without the rule.
fn with_old_clips(before: &Document, after: &Document) -> f64 {
    let compared = Compared::new(before, after);
    let clips = before.clips().values();
    let off = clips.map(|clip| compared.in_clips(clip, clip).max);
    100.0 * off.fold(0.0, larger) / compared.diagonal
}

fn moved(before: &Document, joint: JointId, intent: Intent, tolerance: f64) -> Document {
    let child = before.skeleton().children(joint).first();
    let along = child.map_or(DVec3::Y, |&c| before.skeleton().joint(c).rest.translation);
    let wanted = Move {
        joint,
        by: along * 0.1,
        intent,
        children: Children::Stay,
        tolerance,
    };
    edited(before, rig::move_joint(before, &wanted).unwrap())
}

fn reparented(before: &Document, case: &Case, tolerance: f64) -> Result<Document, rig::RigError> {
    let hung = joint(before, case.hung);
    let parent = if case.parent.is_empty() {
        // The joint above the one above it.
        before.skeleton().ancestors(hung).nth(1).unwrap()
    } else {
        joint(before, case.parent)
    };
    let wanted = Reparent {
        joint: hung,
        parent: Some(parent),
        keep: Keep::Motion,
        nearest: false,
        tolerance,
    };
    Ok(edited(before, rig::reparent(before, &wanted)?))
}

#[test]
fn the_table_of_rig_edits() {
    let Some(shared) = shared_dir("the_table_of_rig_edits") else {
        return;
    };
    let mut table = String::from(
        "Largest posed difference in % of the diagonal over all clips (24 moments each); `file`: after an export was read again\n",
    );
    for case in &CASES {
        let before = open(&shared.join("models").join(case.file));
        let j = joint(&before, case.joint);
        let n_before = n_keys(&before);
        let row = |table: &mut String, what: &str, text: String| {
            writeln!(table, "| {} | {what} | {text} |", case.file).unwrap();
        };
        let inverse_of_rest = |d: &Document, k: JointId, _: DAffine3| {
            d.rest_pose().world_matrices(d.skeleton())[k.get()].inverse()
        };
        // Turned.
        let frames = BTreeMap::from([(j, Frame::from_rotation(turn()))]);
        let after = edited(&before, rig::change_frames(&before, &frames, 1e-4).unwrap());
        let file = apart_in_file(&before, &written(&after));
        let off = 100.0 * apart(&before, &after);
        let naive = with_old_clips(&before, &after);
        row(
            &mut table,
            "reorient",
            format!("{off:.1e}, file {file:.1e}; keys as they were {naive:.2}"),
        );
        assert!(off < 5e-3 && file < 5e-3, "{}: {off:e} {file:e}", case.file);
        assert!(naive > 1.0);
        // Moved, with its motion kept.
        for tolerance in [1e-3, 1e-4, 1e-5] {
            let after = moved(&before, j, Intent::KeepMotion, tolerance);
            let off = 100.0 * apart(&before, &after);
            let added = n_keys(&after) - n_before;
            row(
                &mut table,
                &format!("move, keep motion, tol {tolerance:e}"),
                format!("{off:.1e}; {added} keys added to {n_before}"),
            );
            assert!(off <= 200.0 * tolerance, "{}: {off:e}", case.file);
        }
        // Moved as a new pivot.
        let after = moved(&before, j, Intent::NewPivot, 1e-4);
        let rest = at_rest(&before, &after);
        let clips = 100.0 * apart(&before, &after);
        let old = naive_at_rest(&before, &after, |_, k, m| {
            if k == j {
                before_matrix(&before, k).unwrap_or(m)
            } else {
                m
            }
        });
        let inverse = naive_at_rest(&before, &after, inverse_of_rest);
        row(
            &mut table,
            "move, new pivot",
            format!(
                "at rest {rest:.1e}, clips {clips:.2}; old IBM {old:.2}; IBM = inverse(W) {inverse:.1e}"
            ),
        );
        assert!(rest < 1e-6 && clips > 0.1 && old > 0.1);
        let file = written(&after);
        let mut off = 0.0f64;
        for (&id, clip) in after.clips() {
            let compared = Compared::new(&after, &file);
            let there = compared.in_clips(clip, &file.clips()[&id]).max;
            off = larger(off, there / compared.diagonal);
        }
        row(
            &mut table,
            "move, new pivot, file against document",
            format!("{:.1e}", 100.0 * off),
        );
        assert!(off < 1e-6, "{off:e}");
        // Divided.
        let child = before.skeleton().children(j)[0];
        let wanted = Insert {
            joint: j,
            child,
            n: 1,
            half_width: None,
        };
        let (edit, made) = rig::insert(&before, &wanted).unwrap();
        let n_points = edit.n_points();
        let after = edited(&before, edit);
        let off = 100.0 * apart(&before, &after);
        let file = apart_in_file(&before, &written(&after));
        let inverse = naive_at_rest(&before, &after, |d, k, m| {
            if k == made[0] {
                inverse_of_rest(d, k, m)
            } else {
                m
            }
        });
        row(
            &mut table,
            "insert, weights split",
            format!(
                "{off:.1e}, file {file:.1e}, {n_points} points; IBM = inverse(W) {inverse:.2e}"
            ),
        );
        assert!(off < 5e-5 && file < 2e-4, "{off:e} {file:e}");
        // And taken out again.
        let back = edited(
            &after,
            rig::remove(&after, made[0], WeightRecipient::IntoParent).unwrap(),
        );
        let off = 100.0 * apart(&before, &back);
        let file = apart_in_file(&before, &written(&back));
        row(
            &mut table,
            "insert, then remove it",
            format!("{off:.1e}, file {file:.1e}"),
        );
        assert!(off < 5e-5 && file < 2e-4, "{off:e} {file:e}");
        // Hung elsewhere.
        match reparented(&before, case, 1e-4) {
            Ok(after) => {
                let off = 100.0 * apart(&before, &after);
                let added = n_keys(&after) as i64 - n_before as i64;
                let sparse = 100.0 * apart(&before, &reparented(&before, case, 1e3).unwrap());
                let naive = with_old_clips(&before, &after);
                row(
                    &mut table,
                    "reparent, keep world, tol 1e-4",
                    format!(
                        "{off:.1e} ({added} keys added); only at existing times {sparse:.2e}; rest only {naive:.2}"
                    ),
                );
                assert!(off < 0.05, "{off:e}");
            }
            Err(error) => row(&mut table, "reparent", error.to_string()),
        }
    }
    println!("{table}");
    if let Some(path) = std::env::var_os("SINEW_RIG_TABLE") {
        std::fs::write(path, &table).unwrap();
    }
}

fn before_matrix(document: &Document, joint: JointId) -> Option<DAffine3> {
    let skins = document.skins().values();
    let mut all = skins.flat_map(|skin| skin.joints.iter().zip(&skin.inverse_bind));
    all.find(|(j, _)| **j == joint).map(|(_, m)| *m)
}

#[test]
fn neither_way_to_remove_a_joint_always_wins() {
    let Some(shared) = shared_dir("neither_way_to_remove_a_joint_always_wins") else {
        return;
    };
    let mut table = String::from("Removal, first 12 clips, max / rms in % of the diagonal\n");
    let cases = [
        ("mannequiny/mannequiny.glb", "lowerarm.l"),
        ("mannequiny/mannequiny.glb", "spine_02"),
        ("mannequiny/mannequiny.glb", "index_02.l"),
        ("mannequiny/mannequiny.glb", "clavicle.l"),
        ("kaykit_knight/kaykit_knight.glb", "lowerarm.l"),
        ("kaykit_knight/kaykit_knight.glb", "wrist.l"),
        ("kaykit_knight/kaykit_knight.glb", "chest"),
        ("fox_quantized/fox_quantized.glb", "b_Tail02_013"),
        ("fox_quantized/fox_quantized.glb", "b_LeftForeArm_010"),
        ("fox_quantized/fox_quantized.glb", "b_Neck_04"),
    ];
    let mut chosen = Vec::new();
    for (file, name) in cases {
        let before = open(&shared.join("models").join(file));
        let j = joint(&before, name);
        let costs = match remove_measured(&before, j) {
            Ok((_, costs)) => costs,
            Err(error) => {
                writeln!(table, "| {name} | {error} |").unwrap();
                continue;
            }
        };
        let diagonal = rig::measure::diagonal(&before);
        let percent = |x: f64| 100.0 * x / diagonal;
        writeln!(
            table,
            "| {name} | into parent {:.2} / {:.3} | along the bone {:.2} / {:.3} |",
            percent(costs.into_parent.max),
            percent(costs.into_parent.rms()),
            percent(costs.along_bone.max),
            percent(costs.along_bone.rms()),
        )
        .unwrap();
        chosen.push(costs.preselected());
        // The mesh at rest: weights pass between joints whose skin matrices agree there.
        let after = edited(
            &before,
            rig::remove(&before, j, costs.preselected()).unwrap(),
        );
        let file = written(&after);
        let at_rest = at_rest(&before, &after);
        assert!(at_rest < 1e-2, "{name}: {at_rest:e}");
        assert!(file.skins().len() == before.skins().len());
        let skin = file.skins().values().next().unwrap();
        assert_eq!(
            skin.joints.len() + 1,
            before.skins().values().next().unwrap().joints.len()
        );
    }
    println!("{table}");
    if let Some(path) = std::env::var_os("SINEW_RIG_TABLE") {
        let path = std::path::PathBuf::from(path).with_extension("removal.md");
        std::fs::write(path, &table).unwrap();
    }
    assert!(
        chosen.contains(&WeightRecipient::AlongBone)
            && chosen.contains(&WeightRecipient::IntoParent)
    );
}

#[test]
fn random_rig_edits_of_models_are_sound_and_undone() {
    let Some(shared) = shared_dir("random_rig_edits_of_models_are_sound_and_undone") else {
        return;
    };
    for (seed, file) in [
        "cesium_man/cesium_man.glb",
        "fox/fox.glb",
        "robot_expressive/robot_expressive.glb",
    ]
    .into_iter()
    .enumerate()
    {
        let before = open(&shared.join("models").join(file));
        let mut document = before.clone();
        let mut random = Random::new(seed as u64 + 11);
        let mut history = History::default();
        let mut states = vec![document.clone()];
        for _ in 0..50 {
            let Some(edit) = random_edit(&document, &mut random) else {
                continue;
            };
            let edit = Edit::Rig(Box::new(edit));
            if history.apply(&mut document, edit, "Edit bones").is_ok() {
                assert_sound(&document);
                states.push(document.clone());
            }
        }
        println!("{file}: {} edits", states.len() - 1);
        assert!(states.len() > 12, "{file}: {}", states.len());
        // What is written is what is shown.
        let file_again = written(&document);
        let with_nodes = for_file(&document);
        for (&id, clip) in document.clips() {
            let compared = Compared::new(&with_nodes, &file_again);
            let off = compared.in_clips(clip, &file_again.clips()[&id]).max / compared.diagonal;
            assert!(off < 1e-5, "{file}, {}: {off:e}", clip.name);
        }
        for state in states.iter().rev().skip(1) {
            history.undo(&mut document).unwrap();
            assert!(document.same_content(state));
        }
        assert!(document.same_content(&before));
        let verbatim = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
        assert!(verbatim.report.verbatim);
    }
}

#[test]
fn axes_taken_back_are_the_axes_they_were() {
    let Some(shared) = shared_dir("axes_taken_back_are_the_axes_they_were") else {
        return;
    };
    let before = open(&shared.join("models/fox/fox.glb"));
    let mut document = before.clone();
    let mut random = Random::new(3);
    let joints: Vec<JointId> = before.skeleton().live_joints().collect();
    let mut turns = Vec::new();
    for _ in 0..30 {
        let j = joints[(random.next() * joints.len() as f64) as usize];
        let turn = random.rotation();
        let frames = BTreeMap::from([(j, Frame::from_rotation(turn))]);
        if let Ok(edit) = rig::change_frames(&document, &frames, 1e-4) {
            document = edited(&document, edit);
            turns.push((j, turn));
        }
    }
    assert!(turns.len() > 20);
    assert!(apart(&before, &document) < 1e-6);
    for (j, turn) in turns.into_iter().rev() {
        let frames = BTreeMap::from([(j, Frame::from_rotation(turn.conjugate()))]);
        document = edited(
            &document,
            rig::change_frames(&document, &frames, 1e-4).unwrap(),
        );
    }
    for j in joints {
        let (now, was) = (
            document.skeleton().joint(j).rest,
            before.skeleton().joint(j).rest,
        );
        let same_sign = if now.rotation.dot(was.rotation) < 0.0 {
            -now.rotation
        } else {
            now.rotation
        };
        assert!(same_sign.abs_diff_eq(was.rotation, 1e-12));
        assert!(
            now.translation
                .abs_diff_eq(was.translation, 1e-12 * (1.0 + was.translation.length()))
        );
    }
}
