//! Bulge compensation and projection, kernel by kernel, against the printed golden points (METHODS 2.4).

#![allow(clippy::excessive_precision, clippy::approx_constant)] // digits as they are printed

use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use sinew::math::Transform;
use sinew::skeleton::{Joint, JointId, JointRule, Skeleton};
use sinew::skinning::{
    Backend, BonePose, BulgeProjection, ChunkCorrections, Compensation, CookedChunk,
    CorrectionPose, CorrectionSettings, JointPairs, LeafPoints, Polynomial, Rows, SkinBind,
    SkinBones, SkinInput, SkinPalette, Stretch, Variant, correct, dqs,
};

/// A chain along x with its last bone's tail given.
struct Chain {
    skeleton: Skeleton,
    rest: Vec<DAffine3>,
    inverse_bind: Vec<DAffine3>,
    joints: Vec<JointId>,
}

impl Chain {
    fn new(xs: &[f64], tail: f64) -> Self {
        let joints = xs.iter().enumerate().map(|(j, &x)| Joint {
            name: String::new(),
            parent: j.checked_sub(1).map(|p| JointId(p as u32)),
            rest: Transform::from_rotation_translation(
                DQuat::IDENTITY,
                DVec3::X * (x - if j == 0 { 0.0 } else { xs[j - 1] }),
            ),
            source_node: None,
            content_of: None,
            removed: false,
            rule: JointRule {
                tail: (j + 1 == xs.len()).then(|| DVec3::X * (tail - x)),
                ..JointRule::default()
            },
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap();
        let rest: Vec<DAffine3> = xs
            .iter()
            .map(|&x| DAffine3::from_translation(DVec3::X * x))
            .collect();
        Self {
            inverse_bind: rest.iter().map(DAffine3::inverse).collect(),
            joints: (0..xs.len() as u32).map(JointId).collect(),
            rest,
            skeleton,
        }
    }

    /// Where the stack puts points under skin matrices.
    fn run(
        &self,
        skin_matrices: &[DAffine3],
        points: &[Vec3],
        rows: &[Vec<(u16, f32)>],
        compensation: Option<&Compensation>,
        projection: Option<&BulgeProjection>,
        backend: Backend,
    ) -> Vec<Vec3> {
        let bound = vec![true; self.joints.len()];
        let bind = SkinBind::new(
            &self.skeleton,
            &self.joints,
            &self.inverse_bind,
            &bound,
            &self.rest,
        );
        let world: Vec<DAffine3> = skin_matrices
            .iter()
            .zip(&self.rest)
            .map(|(k, rest)| *k * *rest)
            .collect();
        let mut palette = SkinPalette::default();
        bind.pose(&world, Stretch::Inflate, &mut palette);
        let bones = SkinBones::new(&bind, &self.skeleton, &LeafPoints::default());
        let mut pose = BonePose::default();
        pose.update(&bones, &palette);
        let rows: Rows = rows.iter().cloned().collect();
        let chunk = CookedChunk::cook(&rows, bind.ranks());
        let mut cooked = ChunkCorrections::cook(
            &chunk,
            &bones,
            &CorrectionSettings {
                compensation,
                projection,
                compensation_mask: None,
                projection_mask: None,
            },
        );
        let mut pairs = JointPairs::default();
        cooked.find_pairs(&mut pairs);
        pairs.pose(
            compensation.unwrap_or(&Compensation::off()),
            &bones,
            &palette,
        );
        cooked.measure(points, &bones, &pose, backend);
        let mut out = vec![Vec3::ZERO; points.len()];
        dqs(
            &SkinInput::new(points, &chunk, &palette)
                .unwrap()
                .on(backend),
            &mut out,
        );
        let pose = CorrectionPose {
            pairs: &pairs,
            bones: &pose,
            projection,
        };
        correct(&cooked, &pose, backend, &mut out);
        out
    }
}

/// w2 of cylinder C.
fn weight(x: f32) -> f32 {
    let of = |x: f32| match x {
        0.5 => 0.213_699_38,
        0.25 => 0.345_748_1,
        _ => 0.5,
    };
    if x < 0.0 { of(-x) } else { 1.0 - of(x) }
}

fn bend(bend: f64, twist: f64) -> [DAffine3; 2] {
    let q = DQuat::from_rotation_z(bend.to_radians()) * DQuat::from_rotation_x(twist.to_radians());
    [DAffine3::IDENTITY, DAffine3::from_mat3(DMat3::from_quat(q))]
}

fn free(polynomial: Polynomial) -> Compensation {
    Compensation {
        polynomial,
        fold_guard: false,
        ..Compensation::default()
    }
}

#[test]
fn golden_points_of_the_cylinder() {
    type Golden = (f64, f64, [f32; 3], [f32; 3], [f32; 3], [f32; 3]);
    // Pose, bind point, Kim & Han, Sulema original, Sulema manual.
    let table: [Golden; 8] = [
        (
            90.0,
            0.0,
            [-0.5, -1.0, 0.0],
            [-0.1604429079, -1.0, 0.0],
            [-0.0466168799, -0.9926359340, 0.0],
            [-0.0385024586, -0.9845215127, 0.0],
        ),
        (
            90.0,
            0.0,
            [-0.5, 1.0, 0.0],
            [-0.7889038248, 0.7922315035, 0.0],
            [-0.6750777969, 0.9060575315, 0.0],
            [-0.6669633755, 0.9141719528, 0.0],
        ),
        (
            90.0,
            0.0,
            [-0.5, 0.0, 1.0],
            [-0.4746733664, -0.1552111986, 0.9878813106],
            [-0.3608473384, -0.0432892013, 1.0],
            [-0.3527329170, -0.0351747799, 1.0],
        ),
        (
            90.0,
            0.0,
            [0.5, -1.0, 0.0],
            [1.0, 0.1604429079, 0.0],
            [0.9926359340, 0.0466168799, 0.0],
            [0.9845215127, 0.0385024586, 0.0],
        ),
        (
            90.0,
            0.0,
            [0.25, -0.6, 0.8],
            [0.6247346282, -0.0857537355, 0.7761140001],
            [0.5901556192, -0.1421990231, 0.8],
            [0.5745171057, -0.1578375366, 0.8],
        ),
        (
            60.0,
            0.0,
            [-0.5, -1.0, 0.0],
            [-0.2706769970, -1.0, 0.0],
            [-0.1686233723, -1.0258530045, 0.0],
            [-0.1613481811, -1.0216526709, 0.0],
        ),
        (
            90.0,
            45.0,
            [-0.5, -1.0, 0.0],
            [-0.1891048434, -0.9968048713, -0.0798752065],
            [-0.1043589937, -1.0136586532, -0.1582222713],
            [-0.0983176379, -1.0076172974, -0.1632270943],
        ),
        (
            90.0,
            0.0,
            [0.0, -1.0, 0.0],
            [0.7071067812, -0.7071067812, 0.0],
            [0.7071067812, -0.7071067812, 0.0],
            [0.7071067812, -0.7071067812, 0.0],
        ),
    ];
    let chain = Chain::new(&[-5.0, 0.0], 5.0);
    let published = BulgeProjection {
        variant: Variant::Published,
        ..BulgeProjection::default()
    };
    for backend in [Backend::detect(), Backend::Portable] {
        for (angle, twist, p, kim_han, original, manual) in table {
            let w = weight(p[0]);
            let rows = [vec![(0, 1.0 - w), (1, w)]];
            let at = |c: Option<&Compensation>, projection: Option<&BulgeProjection>| {
                let points = [Vec3::from_array(p)];
                chain.run(&bend(angle, twist), &points, &rows, c, projection, backend)[0]
            };
            let close = |name: &str, found: Vec3, expected: [f32; 3]| {
                let error = found.distance(Vec3::from_array(expected));
                assert!(
                    error < 1e-6,
                    "{name} {angle} {twist} {p:?}: {found} {error}"
                );
            };
            close("Kim & Han", at(None, Some(&published)), kim_han);
            close(
                "original",
                at(Some(&free(Polynomial::Original)), None),
                original,
            );
            close("manual", at(Some(&free(Polynomial::Manual)), None), manual);
        }
    }
}

/// Bind point, weights, Sulema manual, Kim & Han, blended.
type OfThreeBones = ([f32; 3], [f32; 3], [f64; 3], [f64; 3], [f64; 3]);

#[test]
fn golden_points_of_three_bones() {
    let chain = Chain::new(&[-4.0, 0.0, 3.0], 6.0);
    let k1 = DAffine3::from_quat(DQuat::from_rotation_z(70f64.to_radians()));
    let about = DAffine3::from_translation(DVec3::X * 3.0);
    let turn = DAffine3::from_quat(DQuat::from_rotation_y(50f64.to_radians()));
    let pose = [
        DAffine3::IDENTITY,
        k1,
        k1 * (about * turn * about.inverse()),
    ];
    let table: [OfThreeBones; 4] = [
        (
            [-0.2, -0.8, 0.4],
            [0.5, 0.3, 0.2],
            [0.3632930183, -0.6568919795, 0.9832149058],
            [0.2533060057, -0.4809550663, 0.7102945105],
            [0.2719948748, -0.4672997653, 0.733042585],
        ),
        (
            [2.0, 0.5, -0.9],
            [0.1, 0.6, 0.3],
            [0.3851983731, 1.8624260133, -0.6335407319],
            [0.3726077403, 1.8278335341, -0.6163747591],
            [0.3726077403, 1.8278335341, -0.6163747591],
        ),
        (
            [1.0, -1.0, 0.0],
            [0.34, 0.33, 0.33],
            [1.4413682585, 0.1141702263, 0.636288504],
            [1.2903762305, 0.1022102057, 0.5696334413],
            [1.2338882529, 0.3367614552, 0.5051517229],
        ),
        (
            [-0.2, -0.8, 0.4],
            [0.7, 0.3, 0.0],
            [0.1761085736, -0.7621039272, 0.4],
            [0.0923200075, -0.7994348403, 0.3903600292],
            [0.0926737773, -0.8024982703, 0.3918558867],
        ),
    ];
    let published = BulgeProjection {
        variant: Variant::Published,
        ..BulgeProjection::default()
    };
    for (p, w, manual, kim_han, blended) in table {
        let rows = [(0..3u16).map(|j| (j, w[j as usize])).collect::<Vec<_>>()];
        let at = |c: Option<&Compensation>, projection: Option<&BulgeProjection>| {
            let points = [Vec3::from_array(p)];
            chain.run(&pose, &points, &rows, c, projection, Backend::detect())[0]
        };
        let close = |name: &str, found: Vec3, expected: [f64; 3]| {
            let error = found.as_dvec3().distance(DVec3::from_array(expected));
            assert!(error < 2e-6, "{name} {p:?}: {found} {error}");
        };
        close("manual", at(Some(&free(Polynomial::Manual)), None), manual);
        close("Kim & Han", at(None, Some(&published)), kim_han);
        close(
            "blended",
            at(None, Some(&BulgeProjection::default())),
            blended,
        );
    }
}
