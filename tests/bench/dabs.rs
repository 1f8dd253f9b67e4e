//! What one touch of the brush costs, from the pointer to the picture, on 100 thousand and on a million points; undo of a
//! stroke, and the memory of a thousand. `cargo bench --profile ci --no-default-features --bench dabs`

use glam::{DAffine3, DQuat, DVec3, Vec2, Vec3};
use sinew::document::session::{FalloffShape, RadiusUnit, SculptKind};
use sinew::document::{Edit, MeshSource, PrimitiveSource, Skin};
use sinew::editor::{Editor, OpenRequest};
use sinew::io::gltf_build;
use sinew::math::{Ray, Transform};
use sinew::mesh::{Mesh, SurfaceHit};
use sinew::sample::SampleModel;
use sinew::skeleton::{Joint, JointId, JointRule};
use sinew::tools::{PointerEvent, PointerKind, Reach, SurfaceView};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

const N_JOINTS: u16 = 60;
const N_DABS: usize = 200;
const SIZE: Vec2 = Vec2::new(1600.0, 1000.0);
/// The bone that is painted, in the middle.
const PAINTED: JointId = JointId(30);

fn main() {
    for side in [316, 1000] {
        measure(side);
    }
    thousand_strokes();
}

/// A unit square of side x side points, each with four of 60 joints in a row.
fn square(side: usize) -> SampleModel {
    let mut primitive = PrimitiveSource::default();
    let step = 1.0 / (side - 1) as f32;
    for i in 0..side * side {
        let (x, y) = (i % side, i / side);
        primitive
            .positions
            .push(Vec3::new(x as f32 * step, y as f32 * step, 0.0));
        let first = ((x * usize::from(N_JOINTS) / side) as u16).min(N_JOINTS - 4);
        let weights = [0.4f32, 0.3, 0.2, 0.1];
        primitive.influences.push_pairs((first..).zip(weights));
    }
    let at = |x: usize, y: usize| (y * side + x) as u32;
    for y in 0..side - 1 {
        for x in 0..side - 1 {
            let (a, b, c, d) = (at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1));
            primitive.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    let step = 1.0 / f64::from(N_JOINTS);
    let joints = (0..u32::from(N_JOINTS)).map(|j| Joint {
        name: format!("joint {j}"),
        parent: j.checked_sub(1).map(JointId),
        rest: Transform {
            translation: DVec3::X * step,
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    SampleModel {
        name: "square".into(),
        joints: joints.collect(),
        skin: Skin {
            name: String::new(),
            joints: (0..u32::from(N_JOINTS)).map(JointId).collect(),
            inverse_bind: (0..N_JOINTS)
                .map(|j| DAffine3::from_translation(-DVec3::X * f64::from(j + 1) * step))
                .collect(),
        },
        mesh: MeshSource {
            name: "square".into(),
            primitives: vec![primitive],
            morph_names: Vec::new(),
        },
        clips: Vec::new(),
    }
}

/// The editor on the square, slightly bent so that painting moves points, seen from the front.
fn editor_on(side: usize) -> Editor {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("square.glb");
    std::fs::write(&path, gltf_build::to_glb(&square(side))).unwrap();
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Path(path));
    settle(&mut editor);
    let mut pose = (**editor.document().pose()).clone();
    pose.locals[PAINTED.get()].rotation = DQuat::from_rotation_y(0.2);
    let edit = Edit::pose_change(editor.document().pose(), &pose).unwrap();
    editor.apply(edit, "Pose").unwrap();
    let camera = editor.camera_mut();
    (camera.yaw, camera.pitch) = (0.0, 0.0);
    camera.target = Vec3::new(0.5, 0.5, 0.0);
    camera.distance = 2.0;
    editor.select_joint(Some(PAINTED));
    settle(&mut editor);
    editor
}

fn settle(editor: &mut Editor) {
    loop {
        editor.poll(0.0);
        if editor.is_idle() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn send(editor: &mut Editor, kind: PointerKind, place: Vec3) {
    let event = event_at(editor, kind, place);
    editor.pointer(&event);
}

fn event_at(editor: &Editor, kind: PointerKind, place: Vec3) -> PointerEvent {
    let camera = editor.document().session().camera;
    let clip = camera.clip_from_world(SIZE.x / SIZE.y);
    PointerEvent {
        kind,
        ndc: clip.project_point3(place).truncate(),
        size_px: SIZE,
        invert: false,
        smooth: false,
        pressure: None,
    }
}

/// Finding the points along the surface: with arrays kept from touch to touch, and with maps made for each.
fn measure_search(editor: &Editor, part: f32) {
    let radius = (part / std::f32::consts::PI).sqrt();
    let shown = editor.displayed().values().next().unwrap();
    let (mut index, mut stale) = (None, true);
    let mut surface = SurfaceView {
        mesh: &shown.mesh,
        positions: &shown.positions,
        normals: &shown.normals,
        index: &mut index,
        index_stale: &mut stale,
        unfitted: &mut Vec::new(),
        hidden: None,
    };
    surface.prepare();
    let mut reach = Reach::default();
    let (mut arrays, mut maps, mut rays) = (Vec::new(), Vec::new(), Vec::new());
    let mut n = 0;
    for i in 0..60 {
        let ray = Ray {
            // Off the grid lines, where two faces meet.
            origin: Vec3::new(0.2503 + 0.003 * i as f32, 0.5004, 1.0),
            direction: Vec3::NEG_Z,
        };
        let start = Instant::now();
        let hit = surface.cast_ray(&ray).unwrap();
        rays.push(start.elapsed());
        let start = Instant::now();
        surface.within(&hit, radius, &mut reach);
        arrays.push(start.elapsed());
        n = reach.found.len();
        let start = Instant::now();
        let found = within_by_maps(&shown.mesh, &shown.positions, &hit, radius);
        maps.push(start.elapsed());
        assert_eq!(found, n);
    }
    println!(
        "search   {:5.2} %  {n} points: ray {:.1?}  with arrays {:.1?}  with maps {:.1?}",
        part * 100.0,
        percentiles(&mut rays).0,
        percentiles(&mut arrays).0,
        percentiles(&mut maps).0,
    );
}

/// How many points lie within `radius`, found with maps.
fn within_by_maps(mesh: &Mesh, positions: &[Vec3], hit: &SurfaceHit, radius: f32) -> usize {
    const ACROSS_EDGES: f32 = 0.8;
    let topology = mesh.topology();
    let mut best: HashMap<u32, f32> = HashMap::new();
    let mut queue = BinaryHeap::new();
    let push = |queue: &mut BinaryHeap<_>, best: &mut HashMap<u32, f32>, point, path: f32| {
        if path * ACROSS_EDGES <= radius && best.get(&point).is_none_or(|&known| path < known) {
            best.insert(point, path);
            queue.push(Reverse((path.to_bits(), point)));
        }
    };
    for corner in topology.triangles[hit.triangle as usize] {
        let path = positions[corner as usize].distance(hit.position);
        push(&mut queue, &mut best, corner, path);
    }
    let mut n = 0;
    while let Some(Reverse((bits, point))) = queue.pop() {
        let path = f32::from_bits(bits);
        if best.get(&point) != Some(&path) {
            continue;
        }
        let here = positions[point as usize];
        n += usize::from(here.distance(hit.position).max(path * ACROSS_EDGES) <= radius);
        for &next in topology.neighbours(point) {
            let step = here.distance(positions[next as usize]);
            push(&mut queue, &mut best, next, path + step);
        }
    }
    n
}

/// Polls until the newest edit is on screen.
fn show(editor: &mut Editor) {
    let before = editor.picture_serial();
    editor.poll(0.0);
    while editor.picture_serial() == before {
        std::thread::yield_now();
        editor.poll(0.0);
    }
}

fn measure(side: usize) {
    let mut editor = editor_on(side);
    println!(
        "\n{} points, {} faces",
        side * side,
        2 * (side - 1) * (side - 1)
    );
    for part in [0.01f32, 0.0001] {
        measure_search(&editor, part);
    }
    for shape in FalloffShape::ALL {
        for part in [0.01f32, 0.0001] {
            measure_brush(&mut editor, shape, part);
        }
    }
    measure_sculpt(&mut editor);
}

fn measure_brush(editor: &mut Editor, shape: FalloffShape, part: f32) {
    let radius = (part / std::f32::consts::PI).sqrt();
    let brush = editor.brush_mut();
    brush.falloff_shape = shape;
    (brush.radius_unit, brush.radius_world) = (RadiusUnit::World, radius);
    // One touch an event: a little more than the spacing each.
    let step = (radius * brush.spacing * 1.01).max(0.0012);
    let place = |i: usize| {
        let along = (i as f32 * step) % 0.4;
        Vec3::new(
            0.4 + 0.2 * (i as f32 * step / 0.4).fract(),
            0.3 + along,
            0.0,
        )
    };
    let (mut pointer, mut shown) = (Vec::new(), Vec::new());
    let mut press = Duration::ZERO;
    for i in 0..=N_DABS {
        let kind = if i == 0 {
            PointerKind::Press
        } else {
            PointerKind::Drag
        };
        let start = Instant::now();
        send(editor, kind, place(i));
        let painted = start.elapsed();
        show_or_skip(editor);
        if i == 0 {
            press = painted;
        } else {
            pointer.push(painted);
            shown.push(start.elapsed());
        }
    }
    send(editor, PointerKind::Release, place(N_DABS));
    let bytes = editor.history().bytes();
    let start = Instant::now();
    editor.undo();
    let undo = start.elapsed();
    show(editor);
    let undone = start.elapsed();
    settle(editor);
    let (p50, p99) = percentiles(&mut pointer);
    let (shown50, shown99) = percentiles(&mut shown);
    println!(
        "{:8} {:5.2} %  first {press:7.1?}  pick+weights+edit+colours p50 {p50:7.1?} p99 {p99:7.1?}  to the picture p50 {shown50:7.1?} p99 {shown99:7.1?}  undo {undo:7.1?} ({undone:7.1?} shown)  history {:.0} kB",
        shape.label(),
        part * 100.0,
        bytes as f64 / 1e3,
    );
}

/// Dabs of the sculpting brushes on 1 % of the points, from the pointer to the changed sample and to the picture.
fn measure_sculpt(editor: &mut Editor) {
    assert!(editor.add_sample(), "the painted bone is posed");
    settle(editor);
    let part = 0.01f32;
    let radius = (part / std::f32::consts::PI).sqrt();
    let brush = editor.brush_mut();
    brush.falloff_shape = FalloffShape::Surface;
    (brush.radius_unit, brush.radius_world) = (RadiusUnit::World, radius);
    let step = radius * brush.spacing * 1.01;
    measure_press(editor);
    for kind in SculptKind::ALL {
        editor.use_sculpt(kind);
        let place = |i: usize| Vec3::new(0.45, 0.35 + (i as f32 * step) % 0.3, 0.0);
        let hover = event_at(editor, PointerKind::Drag, place(0));
        editor.surface_at(hover.ndc, SIZE);
        settle(editor);
        let (mut pointer, mut shown) = (Vec::new(), Vec::new());
        let mut press = Duration::ZERO;
        for i in 0..=40 {
            let event = event_at(editor, PointerKind::Drag, place(i));
            let start = Instant::now();
            if i == 0 {
                editor.begin_sculpt(&PointerEvent {
                    kind: PointerKind::Press,
                    ..event
                });
            } else {
                editor.pointer(&event);
            }
            let sculpted = start.elapsed();
            show_or_skip(editor);
            if i == 0 {
                press = sculpted;
            } else {
                pointer.push(sculpted);
                shown.push(start.elapsed());
            }
        }
        send(editor, PointerKind::Release, place(40));
        editor.undo();
        settle(editor);
        let (p50, p99) = percentiles(&mut pointer);
        let (shown50, shown99) = percentiles(&mut shown);
        println!(
            "sculpt {:16} 1 %  first {press:7.1?}  pick+offsets+edit p50 {p50:7.1?} p99 {p99:7.1?}  to the picture p50 {shown50:7.1?} p99 {shown99:7.1?}",
            kind.label(),
        );
    }
}

/// A press on a surface that has just moved: what the window's thread does, and when the stroke begins.
fn measure_press(editor: &mut Editor) {
    let mut pose = (**editor.document().pose()).clone();
    for angle in [0.21, 0.2] {
        pose.locals[PAINTED.get()].rotation = DQuat::from_rotation_y(angle);
        let edit = Edit::pose_change(editor.document().pose(), &pose).unwrap();
        editor.apply(edit, "Pose").unwrap();
        settle(editor);
    }
    editor.use_sculpt(SculptKind::Inflate);
    let event = event_at(editor, PointerKind::Press, Vec3::new(0.45, 0.4, 0.0));
    let start = Instant::now();
    editor.begin_sculpt(&event);
    let press = start.elapsed();
    let mut longest = Duration::ZERO;
    let posted = editor.n_snapshots();
    while editor.n_snapshots() == posted {
        let poll = Instant::now();
        editor.poll(0.0);
        longest = longest.max(poll.elapsed());
        std::thread::yield_now();
    }
    let begun = start.elapsed();
    editor.cancel_tool();
    settle(editor);
    println!(
        "sculpt press after a change of pose: {press:.1?} for the press, {longest:.1?} at most in a poll, sculpted after {begun:.1?}"
    );
}

/// [`show`], unless the touch changed nothing.
fn show_or_skip(editor: &mut Editor) {
    let posted = editor.n_snapshots();
    let before = editor.picture_serial();
    editor.poll(0.0);
    if editor.n_snapshots() == posted {
        return;
    }
    while editor.picture_serial() == before {
        std::thread::yield_now();
        editor.poll(0.0);
    }
}

fn percentiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn thousand_strokes() {
    let mut editor = editor_on(316);
    let brush = editor.brush_mut();
    (brush.radius_unit, brush.radius_world) = (RadiusUnit::World, 0.02);
    let start = Instant::now();
    for i in 0..1000 {
        let turn = i as f32 * 0.618;
        let from = Vec3::new(
            0.35 + 0.3 * turn.fract(),
            0.1 + 0.8 * (turn * 7.3).fract(),
            0.0,
        );
        send(&mut editor, PointerKind::Press, from);
        send(&mut editor, PointerKind::Release, from + Vec3::Y * 0.04);
    }
    let painted = start.elapsed();
    let history = editor.history();
    println!(
        "\n1,000 strokes on 100 thousand points: {painted:.1?}, {} kept, {:.1} MB",
        history.n_undo(),
        history.bytes() as f64 / 1e6
    );
    let start = Instant::now();
    while editor.history().n_undo() > 1 {
        editor.undo();
    }
    println!("undone one by one: {:.1?}", start.elapsed());
}
