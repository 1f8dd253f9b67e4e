//! What holds for any retargeting: symmetric, in any axes, whatever the signs of rotations; twist, stretch and the root joint.

use crate::motion_bvh::read;
use crate::motion_target::target;
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use sinew::math::{Transform, Worse};
use sinew::motion::bvh::Positions;
use sinew::motion::retarget::{BakeOptions, Retarget, RetargetOptions, RetargetPose, RootMotion};
use sinew::motion::roles::{Part, Role, RoleMap, Roles, Side, by_structure, find_roles};
use sinew::motion::{Rig, Take};
use sinew::skeleton::{Joint, JointId, Pose, Skeleton};
use sinew::task::Task;
use std::path::Path;

/// A walk, and a character.
struct Case {
    take: Take,
    skeleton: Skeleton,
    rig: Rig,
    roles: [Roles; 2],
}

fn case(folder: &Path) -> Case {
    let bvh = read(&folder.join("motion/bvh/cmu_12_01_walk.bvh"));
    let take = Take::of_bvh(&bvh, Positions::Auto);
    let (skeleton, is_bone) = target(folder, "mannequiny");
    let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
    let roles = [find_roles(&take.rest), find_roles(&rig)];
    Case {
        take,
        skeleton,
        rig,
        roles,
    }
}

impl Case {
    fn made(&self, options: &RetargetOptions) -> Retarget<'_> {
        self.of(&self.take, &self.roles, options)
    }

    fn of(&self, take: &Take, [ours, theirs]: &[Roles; 2], o: &RetargetOptions) -> Retarget<'_> {
        Retarget::new(take, ours, &self.skeleton, &self.rig, theirs, o).unwrap()
    }
}

/// The farthest that the joints of two retargetings are apart, metres.
fn apart(a: &Retarget<'_>, b: &Retarget<'_>) -> f64 {
    let mut worst = 0.0_f64;
    for frame in (0..a.n_frames()).step_by(37) {
        let (a, b) = (a.pose(frame), b.pose(frame));
        for (a, b) in a.places.iter().zip(&b.places) {
            worst = worst.worse(a.distance(*b));
        }
    }
    worst
}

#[test]
fn limbs_point_as_those_of_the_motion() {
    let Some(folder) = shared_dir("directions of bones") else {
        return;
    };
    let case = case(&folder);
    let made = case.made(&RetargetOptions::default());
    let take = made.take();
    let mut n = 0;
    for part in [Part::Upperarm, Part::Forearm, Part::Thigh, Part::Shin] {
        for side in [Side::Left, Side::Right] {
            let ends = [part, part.next().unwrap()].map(|part| Role::of(part, side));
            let [ours, theirs] = &case.roles;
            let [s, s_end] = ends.map(|role| ours.joints[&role]);
            let [t, t_end] = ends.map(|role| theirs.joints[&role]);
            for frame in (0..take.n_frames()).step_by(37) {
                let (pose, places) = (made.pose(frame), take.places(Some(frame)));
                let angle = (pose.places[t_end] - pose.places[t])
                    .angle_between(places[s_end] - places[s])
                    .to_degrees();
                assert!(angle < 1e-3, "{part:?} {side:?} {frame}: {angle}");
                n += 1;
            }
        }
    }
    assert!(n > 100);
}

#[test]
fn signs_of_rotations_and_axes_of_a_file_change_nothing() {
    let Some(folder) = shared_dir("signs and axes") else {
        return;
    };
    let case = case(&folder);
    let options = RetargetOptions::default();
    let made = case.made(&options);
    let mut other = case.take.clone();
    for q in other.rotations.iter_mut().skip(1).step_by(3) {
        *q = -*q;
    }
    assert_eq!(apart(&made, &case.of(&other, &case.roles, &options)), 0.0);
    // With Z up.
    let mut other = case.take.clone();
    let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    for q in other.rotations.iter_mut().chain(&mut other.rest.rotations) {
        *q = turn * *q;
    }
    for p in other.places.iter_mut().chain(&mut other.rest.places) {
        *p = turn * *p;
    }
    let turned = case.of(&other, &case.roles, &options);
    assert_eq!((made.report.up, turned.report.up), ("+Y", "+Z"));
    let off = apart(&made, &turned);
    assert!(off < 1e-9, "{off}");
}

/// A motion in a mirror: left joints where the right ones were.
fn mirrored(take: &Take, roles: &Roles) -> Take {
    let n = take.rest.len();
    let mut other: Vec<usize> = (0..n).collect();
    for (role, joint) in roles.joints.iter().filter(|(r, _)| r.side == Side::Left) {
        if let Some(&right) = roles.joints.get(&Role::of(role.part, Side::Right)) {
            (other[*joint], other[right]) = (right, *joint);
        }
    }
    let of_joint = |q: DQuat| DQuat::from_xyzw(q.x, -q.y, -q.z, q.w);
    let of_place = |p: DVec3| DVec3::new(-p.x, p.y, p.z);
    let mut found = take.clone();
    let frames = take.rotations.len() / n;
    for (j, &other) in other.iter().enumerate() {
        found.rest.rotations[j] = of_joint(take.rest.rotations[other]);
        found.rest.places[j] = of_place(take.rest.places[other]);
        for frame in 0..frames {
            found.rotations[frame * n + j] = of_joint(take.rotations[frame * n + other]);
            found.places[frame * n + j] = of_place(take.places[frame * n + other]);
        }
    }
    found
}

#[test]
fn a_motion_mirrored_twice_is_itself() {
    let Some(folder) = shared_dir("a motion mirrored twice") else {
        return;
    };
    let case = case(&folder);
    let options = RetargetOptions::default();
    let made = case.made(&options);
    let once = mirrored(&case.take, &case.roles[0]);
    let turned = case.of(&once, &case.roles, &options);
    assert!(apart(&made, &turned) > 0.05);
    let twice = mirrored(&once, &case.roles[0]);
    assert!(apart(&made, &case.of(&twice, &case.roles, &options)) < 1e-9);
    // In the mirror the left hand goes where the right one went.
    let hands =
        [Side::Left, Side::Right].map(|side| case.roles[1].joints[&Role::of(Part::Hand, side)]);
    let scale = made.report.scale;
    for frame in [0, 100, 400] {
        let (a, b) = (made.pose(frame), turned.pose(frame));
        for (j, k) in [(hands[0], hands[1]), (hands[1], hands[0])] {
            let expected = DVec3::new(-a.places[j].x, a.places[j].y, a.places[j].z);
            let off = b.places[k].distance(expected);
            assert!(off < 0.02, "{frame}: {off} at scale {scale}");
        }
    }
}

#[test]
fn a_character_of_other_names_has_the_same_places_by_structure() {
    let Some(folder) = shared_dir("places by structure") else {
        return;
    };
    let case = case(&folder);
    let mut named = case.roles.clone();
    let mut rig = case.rig.clone();
    for (j, name) in rig.names.iter_mut().enumerate() {
        *name = format!("node {j}");
    }
    let mut found = [case.roles[0].clone(), by_structure(&rig).unwrap()];
    // Structure knows no fingers.
    for roles in named.iter_mut().chain(&mut found) {
        roles.fingers.clear();
    }
    let options = RetargetOptions::default();
    let off = apart(
        &case.of(&case.take, &named, &options),
        &case.of(&case.take, &found, &options),
    );
    assert!(off < 1e-9, "{off}");
}

fn bits(poses: &[RetargetPose]) -> Vec<u64> {
    let of = |pose: &RetargetPose| {
        let rotations = pose.rotations.iter().flat_map(DQuat::to_array);
        let all: Vec<u64> = rotations
            .chain(pose.hips.to_array())
            .map(f64::to_bits)
            .collect();
        all
    };
    poses.iter().flat_map(of).collect()
}

#[test]
fn feet_that_are_not_locked_keep_their_bits() {
    let Some(folder) = shared_dir("no foot lock") else {
        return;
    };
    let case = case(&folder);
    let made = case.made(&RetargetOptions::default());
    let (poses, feet) = made.poses(false, &Task::new()).unwrap();
    let own: Vec<RetargetPose> = (0..made.n_frames()).map(|f| made.pose(f)).collect();
    assert!(!feet.holds && bits(&poses) == bits(&own));
}

#[test]
fn a_twist_turns_a_bone_about_itself() {
    let Some(folder) = shared_dir("a twist by hand") else {
        return;
    };
    let case = case(&folder);
    let options = RetargetOptions::default();
    let made = case.made(&options);
    for part in [Part::Forearm, Part::Hand, Part::Shin] {
        let role = Role::of(part, Side::Left);
        let map = RoleMap {
            twists: [(role.label(), 90.0)].into(),
            ..RoleMap::default()
        };
        let [mut ours, mut theirs] = case.roles.clone();
        map.apply([&case.take.rest, &case.rig], &mut ours, &mut theirs)
            .unwrap();
        let turned = case.of(&case.take, &[ours, theirs], &options);
        let joint = case.roles[1].joints[&role];
        for frame in [0, 100, 400] {
            let (a, b) = (made.pose(frame), turned.pose(frame));
            let angle = a.world[joint].angle_between(b.world[joint]).to_degrees();
            assert!((angle - 90.0).abs() < 1e-6, "{part:?}: {angle}");
            // About the bone: nothing goes elsewhere at its end.
            let next = part.next().map(|part| Role::of(part, Side::Left));
            if let Some(end) = next.and_then(|next| case.roles[1].joints.get(&next)) {
                let off = a.places[*end].distance(b.places[*end]);
                assert!(off < 1e-7, "{part:?}: {off}");
            }
        }
    }
    for (role, degrees) in [("hips", 10.0), ("l.tail", 10.0), ("l.hand", 181.0)] {
        let map = RoleMap {
            twists: [(role.to_owned(), degrees)].into(),
            ..RoleMap::default()
        };
        let [mut ours, mut theirs] = case.roles.clone();
        let why = map.apply([&case.take.rest, &case.rig], &mut ours, &mut theirs);
        assert!(why.unwrap_err().contains(role));
    }
}

#[test]
fn twist_joints_of_a_forearm_take_a_share_of_the_hands_twist() {
    let Some(folder) = shared_dir("twist joints") else {
        return;
    };
    let mut case = case(&folder);
    let [forearm, hand] =
        [Part::Forearm, Part::Hand].map(|part| case.roles[1].joints[&Role::of(part, Side::Left)]);
    let mut joints = case.skeleton.joints().to_vec();
    let rest = joints[hand].rest.translation;
    for share in [0.25, 1.0] {
        let at = Transform {
            translation: rest * share,
            ..Transform::IDENTITY
        };
        joints.push(Joint::new(
            format!("lowerarm_twist_{share}"),
            Some(JointId(forearm as u32)),
            at,
        ));
    }
    let n = joints.len();
    case.skeleton = Skeleton::new(joints).unwrap();
    case.rig = Rig::of_skeleton(&case.skeleton, |_| true);
    let axis = (case.rig.places[hand] - case.rig.places[forearm])
        .try_normalize()
        .unwrap();
    // The hand of the motion turns about its forearm.
    let wrist = case.roles[0].joints[&Role::of(Part::Hand, Side::Left)];
    let elbow = case.roles[0].joints[&Role::of(Part::Forearm, Side::Left)];
    let made = case.made(&RetargetOptions::default());
    let before: Vec<RetargetPose> = [0, 100].map(|frame| made.pose(frame)).into();
    let mut take = case.take.clone();
    let m = take.rest.len();
    for frame in 0..take.n_frames() {
        let own = frame * m;
        let along = take.places[own + wrist] - take.places[own + elbow];
        let along = along.try_normalize().unwrap();
        let turn = DQuat::from_axis_angle(along, 0.8);
        take.rotations[own + wrist] = turn * take.rotations[own + wrist];
    }
    // The reference is the zero pose, which does not turn.
    let turned = case.of(&take, &case.roles, &RetargetOptions::default());
    assert_eq!(turned.report.reference, "zero pose");
    for (frame, before) in [0, 100].into_iter().zip(&before) {
        let pose = turned.pose(frame);
        for (joint, share) in [(n - 2, 0.25), (n - 1, 1.0)] {
            let twist = |pose: &RetargetPose| {
                let of = |j: usize| pose.world[j] * case.rig.rotations[j].conjugate();
                let between = of(forearm).conjugate() * of(joint);
                let between = if between.w < 0.0 { -between } else { between };
                2.0 * between.xyz().dot(axis).atan2(between.w)
            };
            let of_hand = |pose: &RetargetPose| {
                let of = |j: usize| pose.world[j] * case.rig.rotations[j].conjugate();
                let between = of(forearm).conjugate() * of(hand);
                let between = if between.w < 0.0 { -between } else { between };
                2.0 * between.xyz().dot(axis).atan2(between.w)
            };
            let (own, whole) = (twist(&pose), of_hand(&pose));
            assert!((own - share * whole).abs() < 1e-9, "{share}: {own} {whole}");
            assert!((whole - of_hand(before)).abs() > 0.5);
        }
    }
}

#[test]
fn stretch_is_kept_where_it_is_wanted() {
    let Some(folder) = shared_dir("stretch") else {
        return;
    };
    let case = case(&folder);
    let mut take = case.take.clone();
    let [elbow, wrist] =
        [Part::Forearm, Part::Hand].map(|part| case.roles[0].joints[&Role::of(part, Side::Left)]);
    // The forearm becomes half as long again, in frame 100 alone; what is beyond goes along.
    let m = take.rest.len();
    let own = 100 * m;
    let shift = (take.places[own + wrist] - take.places[own + elbow]) * 0.5;
    for j in 0..m {
        if j == wrist || take.rest.is_below(j, wrist) {
            take.places[own + j] += shift;
        }
    }
    let [forearm, hand] =
        [Part::Forearm, Part::Hand].map(|part| case.roles[1].joints[&Role::of(part, Side::Left)]);
    let length = |pose: &RetargetPose| pose.places[hand].distance(pose.places[forearm]);
    let rest = case.rig.places[hand].distance(case.rig.places[forearm]);
    let dropped = case.of(&take, &case.roles, &RetargetOptions::default());
    let mut warnings = dropped.report.warnings.iter();
    assert!(warnings.any(|warning| warning.contains("The stretch is dropped")));
    assert!((length(&dropped.pose(100)) - rest).abs() < 1e-6);
    let options = RetargetOptions {
        keeps_stretch: true,
        ..RetargetOptions::default()
    };
    let kept = case.of(&take, &case.roles, &options);
    assert!(kept.report.stretched.contains(&case.rig.names[hand]));
    assert!(kept.report.warnings.iter().all(|w| !w.contains("left out")));
    for (frame, factor) in [(0, 1.0), (100, 1.5)] {
        let found = length(&kept.pose(frame)) / rest;
        assert!((found - factor).abs() < 1e-6, "{frame}: {found}");
    }
    // In the clip too.
    let all = BakeOptions {
        locks_feet: false,
        tolerance: 0.0,
        ..BakeOptions::default()
    };
    let baked = kept.bake("Stretched", &all, &Task::new()).unwrap();
    let mut pose = Pose::rest(&case.skeleton);
    baked.clip.apply(take.times[100], &mut pose);
    let world = pose.world_matrices(&case.skeleton);
    let found = world[hand].translation.distance(world[forearm].translation) / rest;
    assert!((found - 1.5).abs() < 1e-3, "{found}");
}

#[test]
fn the_root_joint_takes_the_travel_over() {
    let Some(folder) = shared_dir("root motion") else {
        return;
    };
    let case = case(&folder);
    let on_hips = case.made(&RetargetOptions::default());
    let options = RetargetOptions {
        root: RootMotion::Root,
        ..RetargetOptions::default()
    };
    let on_root = case.made(&options);
    let root = case.rig.names.iter();
    let root = root
        .clone()
        .position(|name| *name == on_root.report.root)
        .unwrap();
    let hips = on_hips.hips();
    assert!(case.rig.is_below(hips, root));
    let poses = |made: &Retarget<'_>| made.poses(true, &Task::new()).unwrap().0;
    let (a, b) = (poses(&on_hips), poses(&on_root));
    for (a, b) in a.iter().zip(&b) {
        for j in (0..case.rig.len()).filter(|j| case.rig.is_below(*j, hips) || *j == hips) {
            assert!(a.places[j].distance(b.places[j]) < 1e-6);
        }
        // The root is under the hips and level.
        let own = b.places[root];
        assert!((own.y - case.rig.places[root].y).abs() < 1e-6);
        let turn = b.world[root] * case.rig.rotations[root].conjugate();
        assert!(turn.x.abs() < 1e-6 && turn.z.abs() < 1e-6);
    }
    let way = |poses: &[RetargetPose], j: usize| {
        poses[poses.len() - 1].places[j].distance(poses[0].places[j])
    };
    assert!((way(&b, root) - way(&a, hips)).abs() < 0.1 && way(&a, root) == 0.0);
    // The clip has it too.
    let baked = on_root.bake("Walk", &BakeOptions::default(), &Task::new());
    let baked = baked.unwrap();
    let mut pose = Pose::rest(&case.skeleton);
    let last = *on_root.times().last().unwrap();
    baked.clip.apply(last, &mut pose);
    let world = pose.world_matrices(&case.skeleton);
    let off = world[root]
        .translation
        .distance(b[b.len() - 1].places[root]);
    assert!(off < 0.01, "{off}");
}
