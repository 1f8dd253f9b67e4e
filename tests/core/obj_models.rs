//! Wavefront OBJ files opened as models.

use crate::cli::{asset, done};
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
    let quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
    let cases = [
        (
            "v 0 0 0\nv 1 zero 0\n",
            "line 2: a vertex (v) needs three numbers",
        ),
        (
            "v 0 0 0\n\nv 1 0 \\\n x\n",
            "line 4: a vertex (v) needs three numbers",
        ),
        (
            &format!("{quad}f 1 2 9\n"),
            "a face uses a vertex (v) that the file does not have",
        ),
        (
            &format!("{quad}f 1 2 x\n"),
            "line 4: a face (f) needs numbers of vertices",
        ),
        (
            &format!("{quad}vn 0 0\n"),
            "line 4: a normal (vn) needs three numbers",
        ),
        (quad, "has no faces"),
        ("", "has no faces"),
    ];
    for (text, wanted) in cases {
        fs::write(&path, text).unwrap();
        let error = open_any(&path, &Task::new()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text:?}: {error}");
    }
}

#[test]
fn what_cannot_be_used_in_an_obj_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.obj");
    let triangle = "v 0 0 0\nv 1 0 0\nv nan 1 0\nv 0 1 0\nf 1 2 4\nf 1 2 3\n";
    fs::write(&path, format!("mtllib ../up.mtl gone.mtl\n{triangle}")).unwrap();
    let opened = open(&path);
    let found = texts(&opened.findings);
    assert!(found.contains("outside the folder of the model"), "{found}");
    let meshes = opened.document.meshes();
    let finite = |p: &glam::Vec3| p.is_finite();
    assert!(
        meshes
            .values()
            .all(|m| m.geometry.positions.iter().all(finite))
    );

    // Names in another encoding than UTF-8.
    let mut bytes = b"o caf\xe9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec();
    fs::write(&path, &bytes).unwrap();
    let document = open(&path).document;
    assert_eq!(
        document.meshes().values().next().unwrap().geometry.name,
        "caf\u{fffd}"
    );
    // Without a last line end, and with the line ends of Windows.
    bytes = b"v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3".to_vec();
    fs::write(&path, &bytes).unwrap();
    let document = open(&path).document;
    let name = &document.meshes().values().next().unwrap().geometry.name;
    assert_eq!(
        name, "odd",
        "faces before the first object have the name of the file"
    );
}
