//! Small documents made in memory.

use glam::{DAffine3, DVec3, Vec2, Vec3};
use sinew::document::{
    ClipId, Document, Instance, InstanceId, MeshId, MeshItem, Parts, Skin, SkinId,
};
use sinew::document::{MeshSource, PrimitiveSource};
use sinew::math::Transform;
use sinew::skeleton::{
    Channel, Clip, Interpolation, Joint, JointId, JointRule, Property, Skeleton,
};
use std::sync::Arc;

/// A tube along x from -2 to 2 with `n_rings` rings of 16 points, three joints at x = -2, 0, 1, one clip that bends
/// joint 1, one morph target, and a second, rigid instance of the same mesh.
pub(crate) fn tube(n_rings: usize) -> Document {
    tube_with_sides(n_rings, 16)
}

/// [`tube`] with rings of `n_sides` points.
pub(crate) fn tube_with_sides(n_rings: usize, n_sides: usize) -> Document {
    let mut primitive = PrimitiveSource::default();
    for i in 0..n_rings {
        let x = -2.0 + 4.0 * i as f32 / (n_rings - 1) as f32;
        for k in 0..n_sides {
            let angle = std::f32::consts::TAU * k as f32 / n_sides as f32;
            primitive
                .positions
                .push(Vec3::new(x, 0.4 * angle.cos(), 0.4 * angle.sin()));
            primitive
                .normals
                .push(Vec3::new(0.0, angle.cos(), angle.sin()));
            primitive.uvs.push(Vec2::new(x, angle));
            let w = ((x + 0.5).clamp(0.0, 1.0), (x - 0.5).clamp(0.0, 1.0));
            let row = [(0, 1.0 - w.0), (1, w.0 - w.1), (2, w.1)];
            primitive
                .influences
                .push_pairs(row.into_iter().filter(|e| e.1 > 0.0));
        }
    }
    for i in 0..n_rings - 1 {
        for k in 0..n_sides {
            let at = |i: usize, k: usize| (i * n_sides + k % n_sides) as u32;
            primitive
                .triangles
                .push([at(i, k), at(i, k + 1), at(i + 1, k)]);
            primitive
                .triangles
                .push([at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)]);
        }
    }
    primitive.morphs = vec![
        primitive
            .positions
            .iter()
            .map(|p| Vec3::new(0.0, p.y, p.z) * 0.2)
            .collect(),
    ];
    let source = MeshSource {
        name: "tube".into(),
        primitives: vec![primitive],
        morph_names: vec!["thick".into()],
    };
    let built = source.build();
    let joint = |name: &str, parent: Option<u32>, x: f64| Joint {
        name: name.into(),
        parent: parent.map(JointId),
        rest: Transform {
            translation: DVec3::new(x, 0.0, 0.0),
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    };
    let joints = vec![
        joint("root", None, -2.0),
        joint("middle", Some(0), 2.0),
        joint("end", Some(1), 1.0),
        joint("mesh", None, 0.0),
        joint("prop", Some(1), 0.0),
    ];
    let skin = Skin {
        name: "skin".into(),
        joints: vec![JointId(0), JointId(1), JointId(2)],
        inverse_bind: [-2.0, 0.0, 1.0]
            .map(|x| DAffine3::from_translation(DVec3::new(-x, 0.0, 0.0)))
            .to_vec(),
    };
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let bend = Channel {
        joint: JointId(1),
        property: Property::Rotation,
        interpolation: Interpolation::Linear,
        times: [0.0, 1.0].into(),
        values: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half].into(),
    };
    let mesh = MeshItem {
        geometry: Arc::new(built.mesh),
        influences: built.influences.clone(),
        source_influences: built.influences,
        invalid: Arc::default(),
        stack: Arc::default(),
        layers: sinew::document::LayerStack::default(),
        masks: sinew::deform::Masks::default(),
        correctives: Arc::default(),
        clusters: Arc::default(),
        morph_weights: vec![0.0],
    };
    let instance = |joint, skin| {
        Arc::new(Instance {
            joint: JointId(joint),
            mesh: MeshId(0),
            skin,
        })
    };
    Document::new(Parts {
        skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        meshes: [(MeshId(0), Arc::new(mesh))].into(),
        skins: [(SkinId(0), Arc::new(skin))].into(),
        instances: [
            (InstanceId(3), instance(3, Some(SkinId(0)))),
            (InstanceId(4), instance(4, None)),
        ]
        .into(),
        clips: [(
            ClipId(0),
            Arc::new(Clip {
                channels: vec![bend],
                ..Clip::named("Bend")
            }),
        )]
        .into(),
        rest_morph_weights: [(JointId(3), vec![0.0]), (JointId(4), vec![0.0])].into(),
        ..Parts::default()
    })
    .unwrap()
}
