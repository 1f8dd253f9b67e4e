//! The drawing budget of a picture: instances of a mesh that exceed it are drawn as bounding boxes.
//!
//! Fill rate limits software rendering, and coinciding objects fill the same pixels repeatedly (overdraw).

use super::gpu_mesh::is_same;
use super::scene::{PointMarks, Scene, SceneMesh};
use crate::math::bounding_box::{Corners, bounding_box};
use glam::{Mat4, Vec2, Vec3};
use std::collections::HashMap;

/// Scenes with at most this many meshes are drawn completely.
const FEW: usize = 64;
/// The drawing budget: further instances of meshes may fill the picture this many times.
const MOST_COVERED: f32 = 250.0;
/// The cost of a triangle, in pixels. Small triangles cost less: those of a mesh cost at most [`MOST_PER_PIXEL`] times the
/// pixels that it covers.
const PIXELS_PER_TRIANGLE: f32 = 100.0;
const MOST_PER_PIXEL: f32 = 8.0;

/// The meshes that a picture draws, and those that it shows as bounding boxes.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// The indices of the meshes that are drawn, in ascending order.
    pub(crate) whole: Vec<usize>,
    /// The bounding boxes of meshes beyond the budget, at most [`Scene::MAX_BOXED`].
    pub(crate) boxes: Vec<Corners>,
    /// The number of meshes beyond the budget.
    pub(crate) n_boxed: usize,
}

impl Scene<'_> {
    /// The largest number of meshes that a picture shows as bounding boxes.
    pub const MAX_BOXED: usize = 1000;

    /// The number of meshes that exceed the drawing budget of a picture of `width` x `height` pixels. The picture shows the
    /// first [`Scene::MAX_BOXED`] as bounding boxes.
    pub fn n_boxed(&self, width: u32, height: u32) -> usize {
        let mut budget = DrawBudget::default();
        budget.choose(self, [width, height], 0).n_boxed
    }
}

/// Applies the drawing budget; keeps bounding boxes and buffers from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct DrawBudget {
    /// The bounding boxes of meshes, by mesh key.
    boxes: HashMap<u64, KeptBox>,
    /// The instances of each geometry, by its address.
    geometries: HashMap<usize, Instances>,
    /// The index of the first mesh for each geometry and bounding box.
    at_place: HashMap<(usize, [[u32; 3]; 2]), usize>,
    further: Vec<Further>,
    chosen: Chosen,
}

#[derive(Debug)]
struct KeptBox {
    generation: u64,
    n_points: usize,
    /// `None` if no point is finite.
    corners: Option<Corners>,
    last_used: u64,
}

#[derive(Debug, Default)]
struct Instances {
    n: usize,
    is_drawn: bool,
}

/// A further instance of a geometry.
#[derive(Debug)]
struct Further {
    index: usize,
    corners: Corners,
    covered: f32,
    /// The cost of its pixels and triangles, as a multiple of filling the picture.
    cost: f32,
}

impl DrawBudget {
    /// Chooses how a picture of `size` pixels shows each mesh; `picture` increases with every picture. The first mesh of
    /// each geometry that has a finite point is always drawn; meshes that coincide with another and look the same are
    /// skipped. The others are drawn within the budget, those that cover most of the picture first.
    pub(crate) fn choose(&mut self, scene: &Scene<'_>, size: [u32; 2], picture: u64) -> &Chosen {
        let chosen = &mut self.chosen;
        chosen.whole.clear();
        chosen.boxes.clear();
        chosen.n_boxed = 0;
        if scene.meshes.len() <= FEW || !self.count_instances(scene) {
            self.chosen.whole.extend(0..scene.meshes.len());
            return &self.chosen;
        }
        self.find_further(scene, size, picture);
        let further = &mut self.further;
        further.sort_unstable_by(|a, b| {
            let by_index = a.index.cmp(&b.index);
            b.covered.total_cmp(&a.covered).then(by_index)
        });
        let chosen = &mut self.chosen;
        let mut left = MOST_COVERED;
        further.retain(|mesh| {
            let fits = mesh.cost <= left;
            if fits {
                left -= mesh.cost;
                chosen.whole.push(mesh.index);
            }
            !fits
        });
        chosen.whole.sort_unstable();
        chosen.n_boxed = further.len();
        further.sort_unstable_by_key(|mesh| mesh.index);
        let boxes = further.iter().map(|mesh| mesh.corners);
        chosen.boxes.extend(boxes.take(Scene::MAX_BOXED));
        chosen
    }

    /// Frees the boxes that were last used before picture `oldest`.
    pub(crate) fn free_unused(&mut self, oldest: u64) {
        self.boxes.retain(|_, kept| kept.last_used >= oldest);
    }

    /// Counts the instances of each geometry, and returns whether any has several.
    fn count_instances(&mut self, scene: &Scene<'_>) -> bool {
        self.geometries.clear();
        for mesh in &scene.meshes {
            self.geometries.entry(geometry(mesh)).or_default().n += 1;
        }
        self.geometries.len() < scene.meshes.len()
    }

    /// Chooses the first mesh of each geometry and lists the further ones.
    fn find_further(&mut self, scene: &Scene<'_>, size: [u32; 2], picture: u64) {
        let size = Vec2::from(size.map(|side| side.max(1) as f32));
        let clip_from_world = scene.camera.clip_from_world(size.x / size.y);
        self.at_place.clear();
        self.further.clear();
        for (index, mesh) in scene.meshes.iter().enumerate() {
            let geometry = geometry(mesh);
            let instances = self.geometries.entry(geometry).or_default();
            if instances.n == 1 {
                self.chosen.whole.push(index);
                continue;
            }
            let Some(corners) = kept_box(&mut self.boxes, mesh, picture) else {
                continue;
            };
            let ends = [corners[0], corners[7]].map(|corner| corner.to_array().map(f32::to_bits));
            let first = *self.at_place.entry((geometry, ends)).or_insert(index);
            if first != index && looks_same(&scene.meshes[first], mesh) {
                continue;
            }
            if !instances.is_drawn {
                instances.is_drawn = true;
                self.chosen.whole.push(index);
                continue;
            }
            let covered = covered(&corners, clip_from_world);
            let triangles = PIXELS_PER_TRIANGLE * mesh.mesh.triangles.len() as f32;
            let of_triangles = triangles / (size.x * size.y);
            self.further.push(Further {
                index,
                corners,
                covered,
                cost: covered + of_triangles.min(MOST_PER_PIXEL * covered),
            });
        }
    }
}

/// The address of the geometry of a mesh.
fn geometry(mesh: &SceneMesh<'_>) -> usize {
    std::ptr::from_ref(mesh.mesh).addr()
}

/// The bounding box of a mesh, computed again if its positions have changed.
fn kept_box(
    boxes: &mut HashMap<u64, KeptBox>,
    mesh: &SceneMesh<'_>,
    picture: u64,
) -> Option<Corners> {
    let (generation, n_points) = (mesh.generation, mesh.positions.len());
    let compute = || KeptBox {
        generation,
        n_points,
        corners: bounding_box(mesh.positions),
        last_used: picture,
    };
    let kept = boxes.entry(mesh.key).or_insert_with(compute);
    if (kept.generation, kept.n_points) != (generation, n_points) {
        *kept = compute();
    }
    kept.last_used = picture;
    kept.corners
}

/// Whether two meshes of one geometry render the same pixels.
fn looks_same(a: &SceneMesh<'_>, b: &SceneMesh<'_>) -> bool {
    // Bits are compared, so that NaN equals NaN.
    let bits = |value: &f32| value.to_bits();
    let weights_same = match (a.weights, b.weights) {
        (Some(a), Some(b)) => std::ptr::eq(a, b) || a.iter().map(bits).eq(b.iter().map(bits)),
        (None, None) => true,
        _ => false,
    };
    let normal_bits = |normal: &Vec3| normal.to_array().map(f32::to_bits);
    let normals_same = || {
        a.normals == b.normals
            || (a.normals.iter().map(normal_bits)).eq(b.normals.iter().map(normal_bits))
    };
    weights_same
        && a.positions == b.positions
        && normals_same()
        && a.tints == b.tints
        && a.plain_weight.to_bits() == b.plain_weight.to_bits()
        && a.data == b.data
        && std::ptr::eq(a.materials, b.materials)
        && std::ptr::eq(a.images, b.images)
        && a.highlighted == b.highlighted
        && marks_same(&a.marks, &b.marks)
}

fn marks_same(a: &PointMarks<'_>, b: &PointMarks<'_>) -> bool {
    is_same(a.hidden, b.hidden)
        && is_same(a.selected, b.selected)
        && is_same(a.clusters, b.clusters)
        && (a.show_others, a.free, a.alone) == (b.show_others, b.free, b.alone)
}

/// The fraction of the picture that the bounding rectangle of a box covers, 0 - 1.
fn covered(corners: &Corners, clip_from_world: Mat4) -> f32 {
    let clip = corners.map(|corner| clip_from_world * corner.extend(1.0));
    // Outside the picture: all corners lie beyond the same side.
    let is_beside = clip.iter().all(|c| c.x > c.w)
        || clip.iter().all(|c| c.x < -c.w)
        || clip.iter().all(|c| c.y > c.w)
        || clip.iter().all(|c| c.y < -c.w);
    if is_beside {
        return 0.0;
    }
    let n_behind = clip.iter().filter(|corner| corner.w <= 0.0).count();
    match n_behind {
        0 => {}
        8 => return 0.0,
        _ => return 1.0,
    }
    let (mut low, mut high) = (Vec2::ONE, Vec2::NEG_ONE);
    for corner in clip {
        let at = Vec2::new(corner.x, corner.y) / corner.w;
        low = low.min(at);
        high = high.max(at);
    }
    let sides = (high.min(Vec2::ONE) - low.max(Vec2::NEG_ONE)).max(Vec2::ZERO);
    sides.x * sides.y / 4.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Material;
    use crate::math::Camera;
    use crate::math::camera::View;
    use crate::mesh::{Mesh, PointSet};
    use crate::view::scene::ViewOptions;
    use std::sync::Arc;

    const SIZE: [u32; 2] = [640, 480];
    /// A shift so small that all copies cover the same part of the picture.
    const NEAR: Vec3 = Vec3::new(1e-4, 0.0, 0.0);

    /// Owns the data of a scene of copies of a square.
    struct Copies {
        meshes: Vec<Mesh>,
        positions: Vec<[Vec3; 2]>,
        camera: Camera,
        options: ViewOptions,
    }

    impl Copies {
        /// `n` copies of a square that the camera frames, each moved by `shift` from the one before.
        fn new(n: usize, shift: Vec3) -> Self {
            let square = [Vec3::NEG_ONE, Vec3::new(1.0, 1.0, -1.0)];
            let mut camera = Camera::looking(View::Front);
            camera.frame(Vec3::ZERO, 1.0);
            Self {
                meshes: vec![Mesh::default()],
                positions: (0..n)
                    .map(|i| square.map(|p| p + shift * i as f32))
                    .collect(),
                camera,
                options: ViewOptions::default(),
            }
        }

        fn scene(&self) -> Scene<'_> {
            let meshes = self.meshes.iter().cycle().zip(&self.positions);
            let meshes = (0..).zip(meshes).map(|(key, (mesh, positions))| SceneMesh {
                key,
                mesh,
                positions,
                normals: &[],
                generation: 0,
                position_changes: &[],
                normal_changes: &[],
                weights: None,
                weights_generation: 0,
                data: None,
                tints: None,
                weight_changes: &[],
                plain_weight: 0.0,
                materials: &[],
                images: &[],
                highlighted: false,
                marks: PointMarks::default(),
            });
            Scene {
                camera: &self.camera,
                meshes: meshes.collect(),
                bones: &[],
                boxes: &[],
                ground: 0.0,
                options: &self.options,
            }
        }
    }

    fn choice(scene: &Scene<'_>) -> Chosen {
        let mut budget = DrawBudget::default();
        budget.choose(scene, SIZE, 1);
        budget.chosen
    }

    fn chosen(n: usize, shift: Vec3) -> Chosen {
        choice(&Copies::new(n, shift).scene())
    }

    #[test]
    fn few_meshes_are_drawn_whole() {
        let few = chosen(FEW, Vec3::ZERO);
        assert_eq!((few.whole.len(), few.n_boxed), (FEW, 0));
    }

    #[test]
    fn distinct_parts_are_drawn_without_a_look_at_their_positions() {
        let mut copies = Copies::new(2000, NEAR);
        copies.meshes = (0..2000).map(|_| Mesh::default()).collect();
        let mut budget = DrawBudget::default();
        let parts = budget.choose(&copies.scene(), SIZE, 1);
        assert_eq!((parts.whole.len(), parts.n_boxed), (2000, 0));
        assert!(budget.boxes.is_empty());
        // Only the two instances of the repeated part need bounding boxes.
        copies.meshes.pop();
        let parts = budget.choose(&copies.scene(), SIZE, 2);
        assert_eq!((parts.whole.len(), parts.n_boxed), (2000, 0));
        assert_eq!(budget.boxes.len(), 2);
    }

    #[test]
    fn what_lies_in_one_place_is_drawn_once() {
        let copies = Copies::new(5000, Vec3::ZERO);
        let mut scene = copies.scene();
        let same = choice(&scene);
        assert_eq!((same.whole.len(), same.n_boxed), (1, 0));
        // A mesh without a finite point does not replace the others.
        scene.meshes[0].positions = &[Vec3::NAN; 2];
        assert_eq!(choice(&scene).whole, [1]);
    }

    #[test]
    fn what_looks_different_in_one_place_is_drawn() {
        let points = Arc::new(PointSet::full(1));
        let values = [[0.5, f32::NAN], [0.25, f32::NAN], [0.5, f32::NAN]];
        let (normals, materials) = ([Vec3::Y], [Material::default()]);
        let copies = Copies::new(100, Vec3::ZERO);
        let mut scene = copies.scene();
        for mesh in &mut scene.meshes {
            mesh.weights = Some(&values[0]);
        }
        scene.meshes[10].weights = Some(&values[1]);
        // Equal weights in another slice look the same.
        scene.meshes[20].weights = Some(&values[2]);
        scene.meshes[30].weights = None;
        scene.meshes[40].highlighted = true;
        scene.meshes[50].marks.hidden = Some(&points);
        scene.meshes[60].marks.selected = Some(&points);
        scene.meshes[70].normals = &normals;
        scene.meshes[80].materials = &materials;
        scene.meshes[90].tints = Some(&[[1; 4]]);
        let different = choice(&scene);
        assert_eq!(different.whole, [0, 10, 30, 40, 50, 60, 70, 80, 90]);
        assert_eq!(different.n_boxed, 0);
    }

    #[test]
    fn meshes_that_would_cover_the_picture_too_often_are_boxes() {
        let near = chosen(5000, NEAR);
        let n_whole = near.whole.len();
        assert!((200..2000).contains(&n_whole), "{n_whole}");
        assert_eq!(n_whole + near.n_boxed, 5000);
        assert_eq!(near.boxes.len(), Scene::MAX_BOXED);
        // Meshes outside the picture cost nothing.
        let far = chosen(5000, Vec3::new(9.0, 0.0, 0.0));
        assert_eq!((far.whole.len(), far.n_boxed), (5000, 0));
    }

    #[test]
    fn triangles_cost_too_up_to_a_limit_for_each_pixel() {
        let mut copies = Copies::new(5000, NEAR);
        // 3072 triangles cost as much as filling the picture once.
        let [none, some, many, more] = [0, 3072, 100_000, 200_000].map(|n_triangles| {
            copies.meshes[0].triangles = vec![[0; 3]; n_triangles];
            choice(&copies.scene()).whole.len()
        });
        assert!(some < none && (100..250).contains(&some), "{none} {some}");
        assert!((none / 12..none / 7).contains(&many), "{none} {many}");
        assert!(many < some && many == more, "{some} {many} {more}");
    }

    #[test]
    fn boxes_of_the_scene_leave_room_for_those_of_the_budget() {
        let full = vec![[Vec3::ZERO; 8]; 1000];
        let copies = Copies::new(5000, NEAR);
        let near = choice(&Scene {
            boxes: &full,
            ..copies.scene()
        });
        assert_eq!(near.boxes.len(), Scene::MAX_BOXED);
        assert!(!near.boxes.contains(&full[0]));
    }

    #[test]
    fn what_covers_most_is_drawn_first() {
        let away = Vec3::new(0.0, 0.0, -1e-4);
        // One small mesh may still fit the rest of the budget at the end.
        let whole = chosen(5000, away).whole;
        let n = whole.len() - 1;
        assert!(whole[..n].iter().copied().eq(0..n), "{whole:?}");
        let whole = chosen(5000, -away).whole;
        assert_eq!(whole[0], 0, "the first of a geometry is always drawn");
        assert_eq!(whole.last(), Some(&4999));
        assert!(whole[2] > 3000, "{whole:?}");
    }

    #[test]
    fn a_box_beside_the_picture_that_reaches_behind_the_camera_costs_nothing() {
        let copies = Copies::new(0, Vec3::ZERO);
        let clip_from_world = copies.camera.clip_from_world(4.0 / 3.0);
        let of = |centre: Vec3| {
            let half = Vec3::new(1.0, 1.0, 1000.0);
            let corners = bounding_box(&[centre - half, centre + half]).unwrap();
            covered(&corners, clip_from_world)
        };
        assert!(of(Vec3::ZERO) > 0.99, "around the camera");
        for side in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y] {
            assert!(of(2000.0 * side) <= 0.0, "{side}");
        }
    }

    #[test]
    fn a_kept_box_follows_its_mesh() {
        let mut budget = DrawBudget::default();
        let here = Copies::new(2000, NEAR);
        let mut far = Copies::new(2000, NEAR);
        for p in far.positions.as_flattened_mut() {
            p.x += 500.0;
        }
        let mut n_boxed = |copies: &Copies, generation: u64| {
            let mut scene = copies.scene();
            for mesh in &mut scene.meshes {
                mesh.generation = generation;
            }
            budget.choose(&scene, SIZE, generation).n_boxed
        };
        let n_here = n_boxed(&here, 1);
        assert!(n_here > 0);
        assert_eq!(n_boxed(&far, 2), 0);
        assert_eq!(n_boxed(&here, 3), n_here);
        budget.free_unused(3);
        assert_eq!(budget.boxes.len(), 2000);
        budget.free_unused(4);
        assert!(budget.boxes.is_empty());
    }
}
