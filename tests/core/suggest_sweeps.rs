//! How few samples carry the relaxed shapes along a ray of poses, against the figures of an independent implementation in
//! double precision on the same models.

use crate::shared::shared_dir;
use crate::suggest::{Bend, near};
use glam::{DQuat, DVec3};
use sinew::deform::StackPreset;
use sinew::math::Worse;
use sinew::psd::{DriverMode, Kernel, NamedPose, PoseInterpolation, PoseSet, Work};
use sinew::relax::{Posed, Region, RelaxSettings, relax_sweep};
use sinew::suggest::{OutlineOf, Poser};
use sinew::task::Task;
use std::path::Path;

/// The displacements of the free points at every 10 degrees up to an angle, relaxed one by one, in radii.
fn relaxed_every_10(bend: &Bend, axis: DVec3, to: usize) -> Vec<Vec<DVec3>> {
    let mut poser = Poser::new(&bend.document, OutlineOf::ThisStack);
    let posed: Vec<Posed> = (1..=to / 10)
        .map(|k| poser.pose(&bend.skin, &bend.pose_about(axis, 10.0 * k as f64)))
        .collect();
    let ends = [posed[posed.len() - 1].skinned.clone()];
    let (region, _) = Region::choose(&bend.skin.around, &ends);
    let radius = bend.skin.around.radius;
    let settings = RelaxSettings::default();
    let around = &bend.skin.around;
    let relaxed = relax_sweep(around, &region, &posed, &settings, &Task::new(), &|| Ok(()));
    let relaxed = relaxed.unwrap();
    let steps = relaxed.iter().zip(&posed).map(|(relaxed, posed)| {
        assert_eq!(region.n_crossings(around, &relaxed.positions), 0);
        let own = relaxed.of_free(&region, posed).into_iter();
        own.map(|d| d / radius).collect()
    });
    steps.collect()
}

/// The root mean square and the largest distance of the shapes that samples at some steps give from those relaxed
/// directly.
fn misses(steps: &[Vec<DVec3>], samples: &[usize]) -> (f64, f64) {
    let bend = |k: usize| [DQuat::from_rotation_x(f64::to_radians(10.0 * k as f64))];
    let rotations: Vec<[DQuat; 1]> = samples.iter().map(|&k| bend(k)).collect();
    let poses: Vec<NamedPose<'_>> = rotations
        .iter()
        .map(|rotations| NamedPose {
            name: "",
            rotations,
        })
        .collect();
    let solved = PoseInterpolation::new(&PoseSet {
        name: "",
        drivers: &[(DriverMode::Hinge(DVec3::X), 1.0)],
        kernel: Kernel::MultiQuadric,
        radius: 1.0,
        smoothing: 0.0,
        clamp: [-0.15, 1.15],
        fade: false,
        poses: &poses,
    });
    let solved = solved.unwrap();
    let (mut work, mut weights) = (Work::default(), vec![0.0; samples.len()]);
    let (mut sum, mut n, mut largest) = (0.0, 0, 0.0f64);
    for (k, step) in (1..).zip(steps) {
        solved.weights(bend(k), &mut work, &mut weights);
        for (p, direct) in step.iter().enumerate() {
            let terms = samples.iter().zip(&weights);
            let made: DVec3 = terms.map(|(&s, &w)| steps[s - 1][p] * w).sum();
            let apart = made.distance(*direct);
            sum += apart * apart;
            n += 1;
            largest = largest.worse(apart);
        }
    }
    ((sum / f64::from(n)).sqrt(), largest)
}

/// What the oracle measured along a ray, root mean squares in thousandths of the radius.
struct Row {
    joint: (&'static str, &'static str),
    preset: StackPreset,
    axis: DVec3,
    /// Degrees.
    to: usize,
    correction: f64,
    /// The misses of 1 to 4 even samples, with the largest in radii.
    even: [(f64, f64); 4],
    /// The steps of some chosen samples, and their miss, where they are known.
    chosen: Option<(&'static [usize], f64)>,
}

impl Row {
    /// Compares it with what is found here.
    fn check(&self, folder: &Path) {
        let (model, name) = self.joint;
        let path = folder.join(model);
        let bend = Bend::new(path.to_str().unwrap(), name, self.preset);
        let steps = relaxed_every_10(&bend, self.axis, self.to);
        let all = steps.iter().flatten();
        let squares: f64 = all.clone().map(|d| d.length_squared()).sum();
        let found = 1e3 * (squares / all.count() as f64).sqrt();
        println!("{model} {name}: rms of the correction {found:.0}");
        near(found, self.correction, 0.1 * self.correction);
        let check = |what: &str, samples: &[usize], expected: f64| {
            let (rms, largest) = misses(&steps, samples);
            println!("  {what} {samples:?}: {:.0} ({largest:.2})", 1e3 * rms);
            near(1e3 * rms, expected, 0.2 * expected + 4.0);
            largest
        };
        let last = self.to as f64 / 10.0;
        for (n, (expected, most)) in (1..).zip(self.even) {
            let step = |i: usize| (i as f64 * last / n as f64).round() as usize;
            let samples: Vec<usize> = (1..=n).map(step).collect();
            // Single vertices of a closing fold jump: the largest miss is theirs.
            near(check("even", &samples, expected), most, 0.2 * most + 0.05);
        }
        if let Some((samples, expected)) = self.chosen {
            check("chosen", samples, expected);
        }
    }
}

#[test]
fn few_samples_carry_the_poses_between_them() {
    let knee = |preset, to, correction, even, chosen| Row {
        joint: ("mannequin.glb", "shin.L"),
        preset,
        axis: DVec3::X,
        to,
        correction,
        even,
        chosen,
    };
    let rows = [
        Row {
            joint: ("hand.glb", "index.02.L"),
            preset: StackPreset::Default,
            axis: DVec3::X,
            to: 120,
            correction: 151.0,
            even: [(80.0, 0.27), (21.0, 0.14), (15.0, 0.13), (11.0, 0.12)],
            chosen: Some((&[6, 12], 21.0)),
        },
        knee(
            StackPreset::Default,
            140,
            147.0,
            [(100.0, 0.45), (54.0, 0.34), (35.0, 0.26), (24.0, 0.21)],
            Some((&[6, 11, 14], 19.0)),
        ),
        knee(
            StackPreset::Lbs,
            120,
            139.0,
            [(72.0, 0.43), (35.0, 0.35), (23.0, 0.26), (15.0, 0.21)],
            Some((&[5, 9, 12], 16.0)),
        ),
        Row {
            joint: ("mannequin.glb", "upper_arm.L"),
            preset: StackPreset::Default,
            axis: DVec3::Z,
            to: 120,
            correction: 220.0,
            even: [(96.0, 0.50), (44.0, 0.34), (21.0, 0.22), (11.0, 0.11)],
            chosen: Some((&[5, 9, 12], 12.0)),
        },
    ];
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    for row in rows {
        row.check(&assets);
    }
}

/// As above, on models that others made.
#[test]
fn few_samples_carry_the_poses_of_shared_models() {
    let Some(shared) = shared_dir("few_samples_carry_the_poses_of_shared_models") else {
        return;
    };
    let rows = [
        Row {
            joint: ("cesium_man/cesium_man.glb", "leg_joint_L_2"),
            preset: StackPreset::Default,
            axis: DVec3::Y,
            to: 120,
            correction: 160.0,
            even: [(57.0, 0.20), (18.0, 0.10), (9.0, 0.09), (6.0, 0.07)],
            chosen: None,
        },
        Row {
            joint: ("mannequiny/mannequiny.glb", "lowerarm.l"),
            preset: StackPreset::Default,
            axis: DVec3::X,
            to: 120,
            correction: 290.0,
            even: [(43.0, 0.17), (19.0, 0.11), (12.0, 0.08), (8.0, 0.06)],
            chosen: None,
        },
    ];
    for row in rows {
        row.check(&shared.join("models"));
    }
}
