//! The generated models keep their promises: closed, well weighted, the wished size, the same bits.

use sinew::io::gltf_build::to_glb;
use sinew::io::open_sample;
use sinew::sample::{SampleKind, SampleModel, sample};
use sinew::task::Task;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

fn asset(kind: SampleKind) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(format!("{}.glb", kind.name()))
}

/// `SINEW_UPDATE_ASSETS=1` writes the files instead.
#[test]
fn the_files_in_assets_are_what_the_generators_make() {
    for kind in SampleKind::ALL {
        let glb = to_glb(&sample(kind, kind.default_points()));
        let path = asset(kind);
        if std::env::var("SINEW_UPDATE_ASSETS").as_deref() == Ok("1") {
            std::fs::write(&path, &glb).unwrap();
        }
        assert!(
            glb.len() < 1_000_000,
            "{}: {} bytes",
            kind.name(),
            glb.len()
        );
        let stored = std::fs::read(&path).unwrap();
        assert!(
            stored == glb,
            "{} differs from what is generated",
            path.display()
        );
    }
}

#[test]
fn every_size_is_closed_well_shaped_and_well_weighted() {
    for kind in SampleKind::ALL {
        for n in [1_000, 10_000, 100_000] {
            let model = sample(kind, n);
            let n_joints = match kind {
                SampleKind::Arm => 3..=3,
                SampleKind::Hand => 17..=17,
                SampleKind::Mannequin => 50..=70,
                SampleKind::Cylinder => 2..=2,
                SampleKind::CoarseArm | SampleKind::Leg => 4..=4,
            };
            assert!(n_joints.contains(&model.skin.joints.len()), "{kind:?}");
            check(&model, n);
        }
    }
}

#[test]
fn no_thread_count_changes_a_bit() {
    let make = |n_threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap()
            .install(|| to_glb(&sample(SampleKind::Hand, 2_000)))
    };
    assert!(make(1) == make(3));
}

#[test]
fn the_arm_has_two_deforming_bones() {
    let arm = sample(SampleKind::Arm, 1_000);
    let deforming: HashSet<u16> = arm.mesh.primitives[0]
        .influences
        .iter()
        .flat_map(|row| row.joints.to_vec())
        .collect();
    assert_eq!(deforming, HashSet::from([0, 1]));
}

/// Lengths of an adult 1.75 m tall; each bone moves the skin, and the skin is closed where girths are measured.
#[test]
fn the_leg_is_humane_and_its_foot_stands_still_in_a_squat() {
    let made = open_sample("leg", &Task::new()).unwrap().document;
    let measures = made.template_measures().unwrap();
    let expected = [
        ("thigh.L", "l.thigh", 0.429),
        ("shin.L", "l.shin", 0.430),
        ("foot.L", "l.foot", 0.1405),
        ("toes.L", "l.toe", 0.0703),
    ];
    assert_eq!(measures.bones.len(), expected.len());
    for (bone, (name, role, length)) in measures.bones.iter().zip(expected) {
        assert_eq!(
            (bone.bone.as_str(), bone.role.as_deref()),
            (name, Some(role))
        );
        assert!(
            (bone.length - length).abs() < 1e-3,
            "{name}: {}",
            bone.length
        );
        assert!(bone.girths.iter().all(Option::is_some), "{name}");
    }
    let girths: Vec<f64> = measures.bones.iter().filter_map(|b| b.girths[1]).collect();
    // Halfway on the thigh, and on the shin below the calf.
    assert!((0.51..0.55).contains(&girths[0]), "{}", girths[0]);
    assert!((0.27..0.31).contains(&girths[1]), "{}", girths[1]);
    let positions = made
        .meshes()
        .values()
        .flat_map(|item| &item.geometry.positions);
    let lowest = positions.map(|p| p.y).fold(f32::MAX, f32::min);
    assert!(lowest.abs() < 1e-6, "it stands on the ground: {lowest}");

    let squat = made
        .clips()
        .values()
        .find(|clip| clip.name == "Squat")
        .unwrap();
    let skeleton = made.skeleton();
    let ankle = |time: f64| {
        let pose = made.pose_of_clip(squat, time);
        let world = pose.world_matrices(skeleton);
        (world[0].translation, world[2].translation)
    };
    let (hip, rest) = ankle(0.0);
    let (low, still) = ankle(1.0);
    assert!(rest.distance(still) < 1e-6, "{rest} {still}");
    assert!(low.y < hip.y - 0.25, "{hip} {low}");
}

/// The published test cylinder, point for point.
#[test]
fn the_cylinder_is_the_one_of_the_tables() {
    let model = sample(SampleKind::Cylinder, 12_866);
    let p = &model.mesh.primitives[0];
    assert_eq!((p.positions.len(), p.triangles.len()), (12_866, 25_728));
    for (i, k) in [(0, 0), (37, 5), (100, 16), (200, 63)] {
        let angle = std::f64::consts::TAU * f64::from(k) / 64.0;
        let expected = [-5.0 + 0.05 * f64::from(i), angle.cos(), angle.sin()];
        let found = p.positions[(i * 64 + k) as usize].to_array();
        for (e, f) in expected.into_iter().zip(found) {
            assert!(
                (e - f64::from(f)).abs() < 1e-6,
                "{i} {k}: {expected:?} {found:?}"
            );
        }
    }
    assert_eq!(p.positions[12_864].to_array(), [-5.0, 0.0, 0.0]);
    assert_eq!(p.positions[12_865].to_array(), [5.0, 0.0, 0.0]);
    for (i, w) in [
        (80, 0.0562221779605446),
        (90, 0.2136993768107953),
        (95, 0.3457481105879375),
        (100, 0.5),
    ] {
        let found = f64::from(p.influences.row(i * 64).weight_of(1));
        assert!((found - w).abs() < 6e-8, "{i}: {found} {w}");
    }
    assert!((volume(&model) - 31.365484905459).abs() < 1e-4);
}

/// The figure is its own mirror image, points and weights.
#[test]
fn the_mannequin_is_symmetric() {
    let model = sample(SampleKind::Mannequin, 1_000);
    let twin = |j: u16| {
        let name = &model.joints[j as usize].name;
        let other = match name.rsplit_once('.') {
            Some((base, "L")) => format!("{base}.R"),
            Some((base, "R")) => format!("{base}.L"),
            _ => name.clone(),
        };
        model.joints.iter().position(|j| j.name == other).unwrap() as u16
    };
    let p = &model.mesh.primitives[0];
    let rows: HashMap<[u32; 3], usize> = p
        .positions
        .iter()
        .enumerate()
        .map(|(v, x)| ((*x + glam::Vec3::ZERO).to_array().map(f32::to_bits), v))
        .collect();
    for (v, x) in p.positions.iter().enumerate().filter(|(_, x)| x.x != 0.0) {
        let image = glam::Vec3::new(-x.x, x.y, x.z).to_array().map(f32::to_bits);
        let other = p.influences.row(rows[&image]);
        for (joint, weight) in p.influences.row(v).iter() {
            assert_eq!(other.weight_of(twin(joint)), weight, "{x}");
        }
    }
}

fn volume(model: &SampleModel) -> f64 {
    let p = &model.mesh.primitives[0];
    p.triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| p.positions[v as usize].as_dvec3());
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}

fn check(model: &SampleModel, n_wished: usize) {
    let name = format!("{} of {n_wished}", model.name);
    let built = model.mesh.clone().build();
    assert!(built.findings.is_empty(), "{name}: {:?}", built.findings);
    let n = built.mesh.n_points();
    assert!(n.abs_diff(n_wished) * 10 <= n_wished, "{name}: {n} points");
    assert!(volume(model) > 0.0, "{name} is inside out");

    let triangles = &built.mesh.topology().triangles;
    let mut edges = HashSet::with_capacity(3 * triangles.len());
    let mut used = vec![false; n];
    for &[a, b, c] in triangles {
        for edge in [(a, b), (b, c), (c, a)] {
            assert!(
                edges.insert(edge),
                "{name}: edge {edge:?} twice in one direction"
            );
        }
        let [pa, pb, pc] = [a, b, c].map(|v| built.mesh.positions[v as usize].as_dvec3());
        let longest = pa.distance(pb).max(pb.distance(pc)).max(pc.distance(pa));
        let height = (pb - pa).cross(pc - pa).length() / longest;
        assert!(
            height > 0.01 * longest && height > 1e-6,
            "{name}: triangle at {pa} is {longest} long and {height} high"
        );
        for v in [a, b, c] {
            used[v as usize] = true;
        }
    }
    for &(a, b) in &edges {
        assert!(edges.contains(&(b, a)), "{name}: an open edge");
    }
    assert!(
        used.iter().all(|&u| u),
        "{name}: a point without a triangle"
    );
    // One piece without handles: Euler's formula for a sphere.
    assert_eq!(n + triangles.len(), edges.len() / 2 + 2, "{name}");
    assert_eq!(n_pieces(n, triangles), 1, "{name}");

    let n_joints = model.skin.joints.len();
    for row in built.influences.iter() {
        assert!((1..=4).contains(&row.len()), "{name}");
        assert!(
            (row.weights.iter().sum::<f32>() - 1.0).abs() <= 1e-6,
            "{name}"
        );
        assert!(row.weights.iter().all(|&w| w > 0.0), "{name}");
        assert!(
            row.joints.iter().all(|&j| usize::from(j) < n_joints),
            "{name}"
        );
    }
    for p in &model.mesh.primitives {
        assert!(
            p.uvs
                .iter()
                .all(|uv| uv.cmpge(glam::Vec2::ZERO).all() && uv.cmple(glam::Vec2::ONE).all())
        );
        assert!(
            p.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-5),
            "{name}"
        );
    }
}

fn n_pieces(n: usize, triangles: &[[u32; 3]]) -> usize {
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    let mut parent: Vec<u32> = (0..n as u32).collect();
    let mut pieces = n;
    for &[a, b, c] in triangles {
        for (x, y) in [(a, b), (b, c)] {
            let (x, y) = (root(&mut parent, x), root(&mut parent, y));
            if x != y {
                parent[x as usize] = y;
                pieces -= 1;
            }
        }
    }
    pieces
}
