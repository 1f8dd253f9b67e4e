//! Inputs of every kind, and everything that the program does with one: no panic, and errors in a sentence. For the seeded
//! mutations, and for the fuzz targets of `tests/fuzz`.

use bytes::Bytes;
use sinew::bake::static_shapes::StaticPose;
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::StackPreset;
use sinew::document::{Document, Edit, invariants};
use sinew::evaluate::Evaluator;
use sinew::export::{ExportOptions, export, export_obj, export_static_mesh};
use sinew::io::pose_file::parse_pose;
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::io::{gltf_build, import_bytes, open_any, weights_file};
use sinew::sample::{SampleKind, sample};
use sinew::sentence::{MAX_CHARS, shortened};
use sinew::task::Task;

/// The originals, which are all read without a complaint.
pub(crate) struct Originals {
    pub(crate) models: Vec<Bytes>,
    pub(crate) document: Document,
    pub(crate) project: String,
    pub(crate) weights: Vec<u8>,
    pub(crate) pose: String,
    /// An OBJ file and its materials.
    pub(crate) obj: [String; 2],
}

impl Originals {
    pub(crate) fn new() -> Self {
        let arm: Bytes = gltf_build::to_glb(&sample(SampleKind::Arm, 120)).into();
        let hand: Bytes = gltf_build::to_glb(&sample(SampleKind::Hand, 300)).into();
        let document = opened(&arm).unwrap();
        let project = project_of(&document);
        Self {
            models: [arm, hand].into_iter().chain(COMPRESSED).collect(),
            weights: weights_file::to_text(&weights_file::weights_of(&document).unwrap()),
            project,
            document,
            pose: r#"{"nodes": [{"node": 1, "translation": [0, 1.5, 0], "rotation": [0, 0, 0.5, 0.8], "scale": [1, 2, 1]},
                {"node": 2, "rotation": [0.1, 0.2, 0.3, 0.9]}]}"#
                .to_owned(),
            obj: [OBJ, MATERIALS].map(str::to_owned),
        }
    }
}

/// A skinned strip with a clip, compressed with Draco and with EXT_meshopt_compression.
const COMPRESSED: [Bytes; 2] = [
    Bytes::from_static(include_bytes!("../fixtures/simple_skin_draco.glb")),
    Bytes::from_static(include_bytes!("../fixtures/simple_skin_meshopt.glb")),
];

/// A cube with a hole, of two objects with two materials, with every kind of line.
const OBJ: &str = "\
mtllib x.mtl
o sides
v -1 -1 -1 1 0 0\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1
vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1 0
vn 0 0 -1\nvn 0 0 1
s 1
usemtl oak
f 1/1/1 4/4/1 3/3/1 2/2/1
f 5/1/2 6/2/2 7/3/2 8/4/2
f 1//1 2//1 \\
  6 5
o ends
usemtl glass
f -8/1 -5/2 -1/3 -4/4
f 2 3 7 6 1
l 1 2 3
p 1
";
const MATERIALS: &str = "\
newmtl oak
Kd 0.6 0.4 0.2
Ns 250
map_Kd -s 1 1 1 oak.png
newmtl glass
Kd 0 0 1
Ke 0.1 0.1 0.1
d 0.5
Pr 0.25
Pm 0.5
norm oak.png
";

/// A project with a pose, weights and a stack of its own.
fn project_of(document: &Document) -> String {
    let mut edited = document.clone();
    let joints: Vec<_> = edited.skeleton().live_joints().take(3).collect();
    let locals = joints.iter().map(|j| {
        let mut local = edited.rest_pose().locals[j.get()];
        local.translation.x += 0.25;
        local
    });
    let locals = locals.collect();
    edited.apply(&mut Edit::Pose { joints, locals }).unwrap();
    let (&mesh, item) = edited.meshes().iter().next().unwrap();
    let rows = [vec![(0, 0.25), (1, 0.75)], vec![(1, 1.0)]];
    let points = vec![0, item.influences.len() as u32 - 1];
    let rows = rows.into_iter().collect();
    edited
        .apply(&mut Edit::influences(mesh, points, rows))
        .unwrap();
    let stack = StackPreset::Projection.stack().into();
    edited.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    let mut project = to_project(&edited, None);
    // A document of bytes in memory: the model of a project is a file or a sample.
    if let Ok(project) = &mut project {
        return to_text(project).unwrap();
    }
    panic!("{project:?}");
}

pub(crate) fn opened(bytes: &Bytes) -> Result<Document, String> {
    let imported = import_bytes(bytes.clone(), None, None, &Task::new());
    let mut parts = imported.map_err(|error| error.to_string())?.parts;
    if let Some(source) = &mut parts.source {
        std::sync::Arc::make_mut(source).sample = Some("arm".into());
    }
    Document::new(parts).map_err(|error| format!("The model cannot be used: {error}"))
}

/// One sentence: begins with a capital letter or a path of the file, ends with a full stop, has no debug output.
pub(crate) fn check_sentence(sentence: &str, file: &str) {
    assert!(
        sentence.len() > 15 && sentence.ends_with('.'),
        "{file}: {sentence}"
    );
    assert!(
        !sentence.contains("Error(") && !sentence.contains('\n'),
        "{file}: {sentence}"
    );
}

/// What is done with an input, by a number.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// One of [`StackPreset::ALL`].
    preset: StackPreset,
    /// The kind of export, 0 - 7.
    export: usize,
}

impl Choice {
    pub(crate) fn of(number: usize) -> Self {
        Self {
            preset: StackPreset::ALL[number / 8 % StackPreset::ALL.len()],
            export: number % 8,
        }
    }

    pub(crate) fn in_words(self) -> String {
        format!("{:?}, export {}", self.preset, self.export)
    }
}

/// What the command line does with a model, but for pictures; whether it is one.
pub(crate) fn use_model(bytes: &Bytes, choice: Choice) -> bool {
    match opened(bytes) {
        Ok(document) => {
            use_document(document, choice);
            true
        }
        Err(error) => {
            check_sentence(&shortened(&error), "the import");
            assert!(shortened(&error).chars().count() <= MAX_CHARS);
            false
        }
    }
}

fn use_document(mut document: Document, choice: Choice) {
    // `info` and `check`.
    for finding in invariants::check(&document) {
        assert!(finding.message.chars().count() <= MAX_CHARS);
    }
    // `skin` and `measure`.
    let preset = choice.preset;
    for mesh in document.meshes().keys().copied().collect::<Vec<_>>() {
        let stack = preset.stack().into();
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    let mut evaluator = Evaluator::default();
    let rest = document.rest_pose().clone();
    evaluator.evaluate(&document, &rest);
    for clip in document.clips().values() {
        let middle = f64::midpoint(f64::from(clip.start_secs()), f64::from(clip.end_secs()));
        evaluator.evaluate(&document, &document.pose_of_clip(clip, middle));
    }
    // `export`.
    let task = Task::new();
    let mode = choice.export;
    let correct = |mode| BakeOptions {
        mode,
        tolerance: 0.005,
        max_morphs: 2,
        max_joints: 8,
        ..BakeOptions::default()
    };
    let options = ExportOptions {
        fix_weights: mode.is_multiple_of(2),
        correct: match mode {
            0 => Some(correct(BakeMode::Clips)),
            1 => Some(correct(BakeMode::Retarget)),
            2 => Some(correct(BakeMode::Frames)),
            _ => None,
        },
        ..ExportOptions::default()
    };
    let pose = StaticPose::default();
    let failed = match mode {
        6 => export_static_mesh(&document, &pose, &options, &task).err(),
        7 => export_obj(&document, &pose, "x", &task).err(),
        _ => export(&document, &options, &task).err(),
    };
    if let Some(error) = failed {
        check_sentence(&shortened(&error.to_string()), "the export");
    }
}

/// Everything that is done with a project of a document.
pub(crate) fn use_project(document: &Document, text: &str, choice: Choice) {
    let applied = parse(text).and_then(|project| apply_project(document.clone(), project));
    match applied {
        Ok((document, _)) => use_document(document, choice),
        Err(error) => check_sentence(&shortened(&error.to_string()), "the project"),
    }
}

/// Everything that the command line does with an OBJ and its materials.
pub(crate) fn use_obj(obj: &str, materials: &str, choice: Choice) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.obj");
    std::fs::write(&path, obj).unwrap();
    std::fs::write(folder.path().join("x.mtl"), materials).unwrap();
    match open_any(&path, &Task::new()) {
        Ok(opened) => use_document(opened.document, choice),
        Err(error) => check_sentence(&shortened(&error.to_string()), "the OBJ"),
    }
}

/// Reads weights, and writes them again.
pub(crate) fn use_weights(bytes: &[u8]) {
    let Ok(file) = weights_file::parse(bytes) else {
        return;
    };
    // Written again, it is read again.
    let _ = weights_file::to_text(&file);
}

/// Poses a document.
pub(crate) fn use_pose(document: &Document, text: &str) {
    let Ok(pose) = parse_pose(document, text) else {
        return;
    };
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, &pose);
    for id in document.instances().keys() {
        let positions = evaluator.plan(*id).unwrap().positions();
        assert!(
            positions.iter().all(|p| p.is_finite()),
            "not finite in {text}"
        );
    }
}
