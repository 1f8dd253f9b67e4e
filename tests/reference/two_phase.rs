//! Two-phase skinning (Lee et al. 2013) joint by joint, every joint bound, as glTF composes transforms.

use super::{Rigid, Row, dqs};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Translation, rotation, scale.
#[derive(Clone, Copy)]
pub(crate) struct Local(pub(crate) DVec3, pub(crate) DQuat, pub(crate) DVec3);

/// A tree of joints (parents first) with a bind pose and a pose.
pub(crate) struct Tree {
    pub(crate) parents: Vec<Option<usize>>,
    pub(crate) bind: Vec<Local>,
    pub(crate) pose: Vec<Local>,
}

pub(crate) struct TwoPhase {
    pub(crate) origins: Vec<DVec3>,
    pub(crate) stretches: Vec<DMat3>,
    pub(crate) inflations: Vec<DAffine3>,
    pub(crate) motions: Vec<Rigid>,
    pub(crate) skin_matrices: Vec<DAffine3>,
}

impl Tree {
    pub(crate) fn world(&self, locals: &[Local]) -> Vec<DAffine3> {
        let mut world: Vec<DAffine3> = Vec::new();
        for (j, Local(t, q, s)) in locals.iter().enumerate() {
            let local = DAffine3::from_scale_rotation_translation(*s, *q, *t);
            world.push(self.parents[j].map_or(local, |p| world[p] * local));
        }
        world
    }

    pub(crate) fn two_phase(&self) -> TwoPhase {
        let bind = self.world(&self.bind);
        let posed = self.world(&self.pose);
        let mut out = TwoPhase {
            origins: vec![],
            stretches: vec![],
            inflations: vec![],
            motions: vec![],
            skin_matrices: vec![],
        };
        for j in 0..bind.len() {
            let k = posed[j] * bind[j].inverse();
            let (q, p) = polar(k.matrix3);
            let g = bind[j].translation;
            let h = match self.parents[j] {
                None => g,
                Some(up) => out.stretches[up] * (g - bind[up].translation) + out.origins[up],
            };
            out.origins.push(h);
            out.stretches.push(p);
            out.inflations
                .push(DAffine3::from_mat3_translation(p, h - p * g));
            let rotation = DQuat::from_mat3(&q);
            out.motions.push(Rigid {
                rotation,
                translation: k.transform_point3(g) - rotation * h,
            });
            out.skin_matrices.push(k);
        }
        out
    }
}

impl TwoPhase {
    /// Where phase 1 puts a bind point.
    pub(crate) fn inflate(&self, p: DVec3, row: &Row) -> DVec3 {
        super::lbs(p, row, &self.inflations)
    }

    /// Where both phases put a bind point.
    pub(crate) fn skin(&self, p: DVec3, row: &Row) -> DVec3 {
        dqs(self.inflate(p, row), row, &self.motions)
    }
}

/// Rotation and stretch of a matrix of positive determinant: the plain Newton iteration, long enough.
fn polar(a: DMat3) -> (DMat3, DMat3) {
    assert!(a.determinant() > 0.0);
    let mut q = a;
    for _ in 0..100 {
        q = (q + q.inverse().transpose()) * 0.5;
    }
    (q, q.transpose() * a)
}
