//! Our reader beside the `gltf` crate's, on the models that both read.

use crate::shared::shared_dir;
use glam::Vec3;
use gltf::accessor::util::Iter;
use sinew::document::MeshId;
use sinew::io::import_file;
use sinew::task::Task;

#[test]
fn positions_triangles_and_weights_are_those_of_the_gltf_crate() {
    let Some(shared) = shared_dir("the comparison of readers") else {
        return;
    };
    let (mut n_positions, mut n_weights) = (0, 0);
    for name in [
        "cesium_man",
        "fox",
        "greenman",
        "kaykit_knight",
        "mannequiny",
        "robot_expressive",
    ] {
        let path = shared.join(format!("models/{name}/{name}.glb"));
        let ours = import_file(&path, &Task::new()).unwrap().parts;
        let file =
            gltf::Gltf::from_slice_without_validation(&std::fs::read(&path).unwrap()).unwrap();
        let blob = file.blob.as_deref().unwrap();
        for mesh in file.meshes() {
            let item = &ours.meshes[&MeshId(mesh.index() as u32)];
            let geometry = &item.geometry;
            for (primitive, runs) in mesh.primitives().zip(&geometry.primitives) {
                let place = format!(
                    "{name}, mesh {}, primitive {}",
                    mesh.index(),
                    primitive.index()
                );
                let reader = primitive.reader(|_| Some(blob));
                let positions: Vec<Vec3> =
                    reader.read_positions().unwrap().map(Vec3::from).collect();
                let points = &geometry.point_of_vertex
                    [runs.vertices.start as usize..runs.vertices.end as usize];
                assert_eq!(points.len(), positions.len(), "{place}");
                for (&point, position) in points.iter().zip(&positions) {
                    assert_eq!(geometry.positions[point as usize], *position, "{place}");
                    n_positions += 1;
                }
                let n_corners = reader
                    .read_indices()
                    .map_or(positions.len(), |i| i.into_u32().count());
                assert_eq!(runs.triangles.len(), n_corners / 3, "{place}");
                if let Some(indices) = reader.read_indices() {
                    let corners = geometry.triangles
                        [runs.triangles.start as usize..runs.triangles.end as usize]
                        .as_flattened()
                        .iter()
                        .map(|v| v - runs.vertices.start);
                    assert!(corners.eq(indices.into_u32()), "{place}");
                }
                let (Some(joints), Some(weights)) = (
                    reader.read_joints(0),
                    primitive.get(&gltf::Semantic::Weights(0)),
                ) else {
                    continue;
                };
                let weights = Iter::<[f32; 4]>::new(weights, |_| Some(blob)).unwrap();
                for ((&point, joints), weights) in points.iter().zip(joints.into_u16()).zip(weights)
                {
                    let row = item.influences.row(point);
                    let sum: f32 = weights.iter().sum();
                    for (joint, weight) in joints.into_iter().zip(weights).filter(|(_, w)| *w > 0.0)
                    {
                        let ours = row.weight_of(joint);
                        n_weights += 1;
                        assert!(
                            (ours - weight / sum).abs() < 1e-5,
                            "{place}: {ours} {weight}"
                        );
                    }
                }
            }
        }
    }
    assert!(
        n_positions > 10_000 && n_weights > 10_000,
        "{n_positions} {n_weights}"
    );
}
