//! Wavefront OBJ files opened as models.

use crate::cli::{asset, done};
use glam::Vec2;
use sinew::document::Document;
use sinew::finding::Finding;
use sinew::io::{OpenedModel, open_any};
use sinew::task::Task;
use std::fs;
use std::path::Path;

/// Two quads of two objects with two materials; a line that is continued, and one of each kind that is left out.
const QUADS: &str = "\
mtllib quads.mtl
# two quads
o left
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 .25
vn 0 0 2
usemtl red
f 1/1/1 2/2/1 \\
  3/3/1 4/4/1
l 1 2
o right
v 2 0 0
v 3 0 0
v 3 1 0
v 2 1 0
usemtl glass
f -4/1/1 -3/2/1 -2/3/1
usemtl red
f -4/1/1 -2/3/1 -1/4/1
";

const MATERIALS: &str = "\
newmtl red
Kd 1 0 0
Ns 250
newmtl glass
Kd 0 0 1
d .5
Pr .25
map_Kd -s 1 1 1 no such.png
";

fn open(path: &Path) -> OpenedModel {
    open_any(path, &Task::new()).expect("the file opens")
}

fn quads(folder: &Path) -> OpenedModel {
    fs::write(folder.join("quads.obj"), QUADS).unwrap();
    fs::write(folder.join("quads.mtl"), MATERIALS).unwrap();
    open(&folder.join("quads.obj"))
}

fn texts(findings: &[Finding]) -> String {
    let texts: Vec<String> = findings
        .iter()
        .map(|f| format!("{}: {}", f.place, f.message))
        .collect();
    texts.join("\n")
}

/// The positions of a mesh's triangles, corner by corner.
fn corners(document: &Document, mesh: usize) -> Vec<[f32; 3]> {
    let item = document.meshes().values().nth(mesh).expect("the mesh");
    let geometry = &item.geometry;
    let corners = geometry.triangles.as_flattened().iter();
    let point = |&vertex: &u32| geometry.point_of_vertex[vertex as usize] as usize;
    let position = |vertex: &u32| geometry.positions[point(vertex)].to_array();
    corners.map(position).collect()
}

#[test]
fn an_obj_opens_with_its_objects_and_materials() {
    let folder = tempfile::tempdir().unwrap();
    let opened = quads(folder.path());
    let document = &opened.document;
    let names: Vec<&str> = document
        .meshes()
        .values()
        .map(|m| m.geometry.name.as_str())
        .collect();
    assert_eq!(names, ["left", "right"]);
    let [a, b, c, d] = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
    assert_eq!(corners(document, 0), [a, b, c, a, c, d], "a fan");
    let right = document.meshes().values().nth(1).unwrap();
    assert_eq!(
        right.geometry.primitives.len(),
        2,
        "one for each of its materials"
    );
    let left = document.meshes().values().next().unwrap();
    let uv = left.geometry.uvs[3].to_array();
    assert_eq!(uv, [0.0, 0.75], "glTF counts from the top");
    assert!(
        left.geometry
            .normals
            .iter()
            .all(|n| n.to_array() == [0., 0., 1.]),
        "normals have unit length"
    );

    let [red, glass] = &document.materials()[..] else {
        panic!("{:?}", document.materials());
    };
    assert_eq!(
        (red.name.as_str(), red.base_color),
        ("red", [1., 0., 0., 1.])
    );
    assert!((red.roughness - 0.5).abs() < 1e-6, "{}", red.roughness);
    assert_eq!((glass.roughness, glass.base_color[3]), (0.25, 0.5));
    let found = texts(&opened.findings);
    assert!(found.contains("no such.png"), "{found}");
}

#[test]
fn a_project_of_an_obj_opens_again_and_its_export_is_gltf() {
    let folder = tempfile::tempdir().unwrap();
    let obj = folder.path().join("quads.obj");
    quads(folder.path());
    let (project, glb) = (folder.path().join("p.ron"), folder.path().join("q.glb"));
    let text = |path: &Path| path.display().to_string();
    let rig = [
        "rig",
        &text(&obj),
        "--template",
        "chain",
        "--bind",
        "rigid",
        "--out",
    ];
    done(&[&rig[..], &[&text(&project)]].concat());
    done(&[&rig[..], &[&text(&glb)]].concat());

    let opened = open(&project);
    assert!(!opened.source_changed);
    assert_eq!(opened.document.skins().len(), 1);
    let stamp = opened.stamps.model.expect("the model is on disk");
    assert!(!stamp.has_changed(&obj), "the stamp is of the OBJ itself");
    assert_eq!(corners(&open(&glb).document, 0).len(), 6);

    fs::write(&obj, QUADS.replace("v 3 1 0", "v 3 2 0")).unwrap();
    assert!(open(&project).source_changed);
    assert!(stamp.has_changed(&obj));
}

/// What `--still` writes as OBJ has the same triangles after it is opened.
#[test]
fn a_mesh_written_as_obj_opens_with_the_same_triangles() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mannequin.obj");
    let (model, path) = (asset("mannequin"), out.display().to_string());
    done(&["export", &model, "--still", "--out", &path]);
    let written = open(&out).document;
    let own = open(Path::new(&model)).document;
    let n_triangles = |d: &Document| -> usize {
        let meshes = d.meshes().values();
        meshes.map(|m| m.geometry.triangles.len()).sum()
    };
    assert_eq!(n_triangles(&written), n_triangles(&own));
    let points = |d: &Document| -> usize {
        let meshes = d.meshes().values();
        meshes.map(|m| m.geometry.positions.len()).sum()
    };
    assert_eq!(points(&written), points(&own), "seams stay closed");
}

#[test]
fn what_is_wrong_in_an_obj_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.obj");
    let points = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
    let vertex = "a vertex (v) needs three finite numbers";
    let cases = [
        ("v 0 0 0\nv 1 zero 0\n".into(), format!("line 2: {vertex}")),
        (
            "v 0 0 0\n\nv 1 0 \\\n x\n".into(),
            format!("line 3: {vertex}"),
        ),
        ("v nan 0 0\n".into(), format!("line 1: {vertex}")),
        (
            format!("{points}f 1 2 9\n"),
            "line 4: a face uses vertex 9, but the file has 3".into(),
        ),
        (
            format!("{points}f 1 2 x\n"),
            "line 4: a corner of a face".into(),
        ),
        (points.into(), "has no faces".into()),
        (format!("{points}l 1 2 3\n"), "has no faces".into()),
        (String::new(), "has no faces".into()),
    ];
    for (text, wanted) in cases {
        fs::write(&path, &text).unwrap();
        let error = open_any(&path, &Task::new()).unwrap_err().to_string();
        assert!(error.contains(&wanted), "{text:?}: {error}");
    }
}

#[test]
fn what_is_left_out_of_an_obj_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.obj");
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\nf 1 2\nl 1 2 3\nvn a 0 1\n";
    fs::write(&path, format!("mtllib ../up.mtl gone.mtl\n{triangle}")).unwrap();
    let found = texts(&open(&path).findings);
    for wanted in [
        "mtllib gone.mtl: The file of materials could not be read",
        "No file defines the material “red”",
        "1 line of curves",
        "1 face with fewer",
        "1 texture coordinate or normal",
    ] {
        assert!(found.contains(wanted), "{wanted}: {found}");
    }

    // Names in another encoding than UTF-8.
    let bytes = b"o caf\xe9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    fs::write(&path, bytes).unwrap();
    let document = open(&path).document;
    let name = &document.meshes().values().next().unwrap().geometry.name;
    assert_eq!(name, "caf\u{fffd}");
    // Without a last line end, and with the line ends of Windows.
    fs::write(&path, b"v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3").unwrap();
    let document = open(&path).document;
    let name = &document.meshes().values().next().unwrap().geometry.name;
    assert_eq!(name, "odd", "faces under no name have that of the file");
}

/// A corner without a texture coordinate has 0, one without a normal that of its face; the others keep theirs.
#[test]
fn corners_may_lack_a_texture_coordinate_or_a_normal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mixed.obj");
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt .5 .5\nvn 1 0 0\nvn 0 0 0\n";
    fs::write(&path, format!("{points}f 1/1/1 2/1/2 3/1\nf 1//1 3 4\n")).unwrap();
    let document = open(&path).document;
    let geometry = &document.meshes().values().next().unwrap().geometry;
    let uvs: Vec<[f32; 2]> = geometry.uvs.iter().map(Vec2::to_array).collect();
    let (own, none) = ([0.5, 0.5], [0., 1.]);
    assert_eq!(uvs, [own, own, own, none, none, none]);
    let normal = |v: usize| geometry.normals[geometry.normal_of_vertex[v] as usize].to_array();
    let normals: Vec<[f32; 3]> = (0..6).map(normal).collect();
    let (x, z) = ([1., 0., 0.], [0., 0., 1.]);
    assert_eq!(normals, [x, z, z, x, x, x]);
}

/// Vertices in a project do not depend on the materials, which may be gone.
#[test]
fn edits_stay_where_the_materials_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let with = quads(folder.path()).document;
    fs::remove_file(folder.path().join("quads.mtl")).unwrap();
    let without = open(&folder.path().join("quads.obj")).document;
    for (a, b) in with.meshes().values().zip(without.meshes().values()) {
        assert_eq!(a.geometry.primitives, b.geometry.primitives);
        assert_eq!(a.geometry.positions, b.geometry.positions);
    }
    let name = |d: &Document| d.materials()[0].name.clone();
    assert_eq!(name(&with), name(&without));
}

#[test]
fn many_groups_become_one_mesh_and_what_needs_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.obj");
    let mut text = String::from("v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    for i in 0..3000 {
        text.extend(["g g", &i.to_string(), "\nf 1 2 3\n"]);
    }
    fs::write(&path, &text).unwrap();
    let opened = open(&path);
    assert_eq!(opened.document.meshes().len(), 1);
    assert!(texts(&opened.findings).contains("3,000 objects"));

    // 6 bytes make three vertices of their own: far more than 20 bytes of memory for each byte.
    let mut text = String::from("v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\n");
    text.push_str(&"f 1 2 3\n".repeat(120_000));
    fs::write(&path, &text).unwrap();
    let why = open_any(&path, &Task::new()).unwrap_err().to_string();
    assert!(why.contains("would need"), "{why}");
}

#[test]
fn an_unedited_obj_is_exported_as_gltf_with_its_images() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(
        folder.path().join("oak.png"),
        include_bytes!("../data/points.png"),
    )
    .unwrap();
    let text = QUADS.replace("quads.mtl", "oak.mtl");
    fs::write(folder.path().join("oak.obj"), text).unwrap();
    let library = "newmtl red\nmap_Kd C:\\textures\\oak.png\nnewmtl glass\nd .5\n";
    fs::write(folder.path().join("oak.mtl"), library).unwrap();
    let obj = folder.path().join("oak.obj").display().to_string();
    for name in ["out/oak.glb", "out/oak.gltf"] {
        let out = folder.path().join(name);
        let path = out.display().to_string();
        let said = done(&["export", &obj, "--correct", "none", "--out", &path]);
        assert_eq!(
            said.contains("the source converted to glTF"),
            name.ends_with("glb"),
            "{said}"
        );
        let again = open(&out).document;
        assert_eq!(again.materials()[0].base_color_image, Some(0));
        assert!(again.images()[0].is_some(), "the image was copied");
        assert_eq!(corners(&again, 1).len(), 6);
    }
}
