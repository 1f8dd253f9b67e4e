//! Projects: what is saved opens again bit for bit, and what is broken is said in a sentence.

use glam::{DMat3, DQuat, DVec3, Vec3};
use proptest::prelude::*;
use sinew::deform::{DeformStack, MaskKind, SkinningMethod};
use sinew::document::{
    ClipId, Document, Edit, Instance, InstanceId, MeshId, MeshItem, Parts, Skin, SkinId, Source,
    SourceKind, invariants,
};
use sinew::document::{MeshSource, PrimitiveSource};
use sinew::finding::{Finding, Severity};
use sinew::io::project::{
    self, Autosaves, ModelSource, Project, ProjectError, apply_project, open, open_with_source,
    save, to_project,
};
use sinew::math::Transform;
use sinew::skeleton::{
    Channel, Clip, Interpolation, Joint, JointId, JointRule, Property, Skeleton,
};
use sinew::skinning::{Polynomial, Rows};
use sinew::task::Task;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A strip of `n` points in two primitives, moved by `names.len()` joints in a chain, with one clip, from `path`.
pub(crate) fn strip(n: u32, names: &[&str], path: &Path) -> Document {
    let joints = names.iter().enumerate().map(|(j, name)| Joint {
        name: (*name).to_owned(),
        parent: (j as u32).checked_sub(1).map(JointId),
        rest: Transform::from_rotation_translation(DQuat::IDENTITY, DVec3::Y),
        source_node: Some(j as u32),
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    let n_joints = names.len() as u16;
    let primitive = |range: std::ops::Range<u32>| PrimitiveSource {
        positions: range
            .clone()
            .map(|i| Vec3::new(((i * 7919) % n) as f32, 0.0, 0.0))
            .collect(),
        influences: range
            .map(|i| {
                let joint = (i % u32::from(n_joints)) as u16;
                vec![(joint, 0.75), ((joint + 1) % n_joints, 0.25)]
            })
            .collect(),
        ..PrimitiveSource::default()
    };
    let built = MeshSource {
        name: "Strip".into(),
        primitives: vec![primitive(0..n / 2), primitive(n / 2..n)],
        morph_names: vec!["Bulge".into()],
    }
    .build();
    let clip = Clip {
        channels: vec![channel(1, &[0.0, 0.5], &[0., 0., 0., 1., 0., 1., 0., 0.])],
        ..Clip::named("Wave")
    };
    Document::new(Parts {
        source: Some(Arc::new(Source {
            path: Some(path.to_owned()),
            sample: None,
            fingerprint: 0x0123_4567_89ab_cdef,
            converted_from: None,
            repairs: sinew::document::Repairs::default(),
            kind: SourceKind::Gltf,
            bytes: bytes::Bytes::new(),
            json: serde_json::Value::Null,
            outside: std::collections::BTreeSet::new(),
            buffers: Vec::new(),
        })),
        skeleton: Arc::new(Skeleton::new(joints.collect()).unwrap()),
        meshes: BTreeMap::from([(
            MeshId(0),
            Arc::new(MeshItem {
                geometry: Arc::new(built.mesh),
                source_influences: built.influences.clone(),
                invalid: Arc::default(),
                influences: built.influences,
                stack: Arc::default(),
                layers: sinew::document::LayerStack::default(),
                masks: sinew::deform::Masks::default(),
                correctives: Arc::default(),
                clusters: Arc::default(),
                morph_weights: vec![0.0],
            }),
        )]),
        skins: BTreeMap::from([(
            SkinId(0),
            Arc::new(Skin {
                name: String::new(),
                joints: (0..names.len() as u32).map(JointId).collect(),
                inverse_bind: vec![glam::DAffine3::IDENTITY; names.len()],
            }),
        )]),
        instances: BTreeMap::from([(
            InstanceId(0),
            Arc::new(Instance {
                joint: JointId(0),
                mesh: MeshId(0),
                skin: Some(SkinId(0)),
            }),
        )]),
        clips: BTreeMap::from([(ClipId(0), Arc::new(clip))]),
        rest_morph_weights: BTreeMap::from([(JointId(0), vec![0.0])]),
        ..Parts::default()
    })
    .unwrap()
}

fn channel(joint: u32, times: &[f32], values: &[f32]) -> Channel {
    Channel {
        joint: JointId(joint),
        property: Property::Rotation,
        interpolation: Interpolation::Linear,
        times: times.into(),
        values: values.into(),
    }
}

fn edit(document: &mut Document, mut edit: Edit) {
    document.apply(&mut edit).unwrap();
}

/// Points with new rows of one to five influences; weights are arbitrary numbers, as painting leaves them.
fn painted(n_points: u32, n_joints: u16) -> impl Strategy<Value = (Vec<u32>, Rows)> {
    let weight = prop_oneof![
        Just(0.0f32),
        Just(1.0),
        0.0f32..1.0,
        Just(f32::MIN_POSITIVE / 4.0)
    ];
    let row = proptest::sample::subsequence((0..n_joints).collect::<Vec<_>>(), 0..=3)
        .prop_shuffle()
        .prop_flat_map(move |joints| {
            proptest::collection::vec(weight.clone(), joints.len())
                .prop_map(move |weights| joints.iter().copied().zip(weights).collect::<Vec<_>>())
        });
    proptest::collection::btree_map(0..n_points, row, 0..40).prop_map(|rows| {
        let (points, rows): (Vec<u32>, Vec<_>) = rows.into_iter().unzip();
        (points, rows.into_iter().collect())
    })
}

/// Edits of painted maps, with any values that their ranges allow.
fn maps(n_points: u32) -> impl Strategy<Value = Vec<Edit>> {
    let value = prop_oneof![
        Just(0.0f32),
        Just(1.0),
        0.0f32..=1.0,
        Just(f32::MIN_POSITIVE / 4.0)
    ];
    let values = proptest::collection::btree_map(0..n_points, value, 0..40);
    let map = (proptest::sample::select(MaskKind::ALL.to_vec()), values);
    let map = map.prop_map(|(kind, values)| {
        let (points, values): (_, Vec<f32>) = values.into_iter().unzip();
        let values = values.into_iter().map(|x| x * kind.limit()).collect();
        Edit::mask(MeshId(0), kind, points, values)
    });
    proptest::collection::vec(map, 0..4)
}

/// Stacks with every part on, off or changed.
fn stack() -> impl Strategy<Value = DeformStack> {
    let numbers = (0.0f32..=2.0, 1.0f32..=8.0, 0.0f32..=1.0, 1u32..=100);
    (numbers, any::<[bool; 6]>()).prop_map(|((strength, power, share, iterations), on)| {
        let mut stack = DeformStack::default();
        stack.compensation.enabled = on[0];
        stack.compensation.strength = strength;
        stack.compensation.fold_guard = on[1];
        stack.compensation.auto_strength = on[2];
        if on[5] {
            let (c1, c2) = (strength, -power);
            stack.compensation.polynomial = Polynomial::Custom { c1, c2 };
        }
        stack.projection.enabled = on[3];
        stack.projection.power = power;
        stack.smooth.enabled = on[4];
        stack.smooth.iterations = iterations;
        stack.blend = share;
        if on[2] {
            stack.method = SkinningMethod::Blend;
        }
        stack
    })
}

fn transform() -> impl Strategy<Value = Transform> {
    let number = || -10.0f64..10.0;
    let vector = move || (number(), number(), number()).prop_map(DVec3::from);
    (vector(), vector(), vector(), any::<bool>()).prop_map(|(t, r, s, shear)| {
        let rotation = DQuat::from_scaled_axis(r);
        let mut transform = Transform::from_trs(t, rotation, s);
        if shear {
            transform.stretch = DMat3::from_cols(s, t, r);
        }
        transform
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Elbow \"left\"\\#\n# (1)".to_owned()),
        Just(String::new()),
        "\\PC{0,12}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_saved_opens_bit_for_bit(
        (points, rows) in painted(200, 3),
        poses in proptest::collection::btree_map(0u32..3, transform(), 0..3),
        morph in -2.0f32..2.0,
        new_name in name(),
        times in proptest::collection::vec(-5.0f32..5.0, 1..200),
        (locked, remove, yaw) in (any::<bool>(), any::<bool>(), any::<f32>()),
        maps in maps(200),
        stack in proptest::option::of(stack()),
        rule in (proptest::option::of(transform()), any::<bool>(), any::<bool>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("strip.gltf");
        std::fs::write(&model, "").unwrap();
        let source = strip(200, &["Hips", "Arm", "Hand"], &model);
        let mut edited = source.clone();
        edit(&mut edited, Edit::influences(MeshId(0), points, rows));
        let (joints, locals) = poses.into_iter().map(|(j, t)| (JointId(j), t)).unzip();
        edit(&mut edited, Edit::Pose { joints, locals });
        edit(&mut edited, Edit::MorphWeights { joint: JointId(0), weights: vec![morph] });
        edit(&mut edited, Edit::JointName { joint: JointId(2), name: new_name.clone() });
        for map in maps {
            edit(&mut edited, map);
        }
        let rule = JointRule {
            tail: rule.0.map(|transform| transform.translation),
            compensates_scale: rule.1,
            inflation_parent: rule.2.then_some(JointId(0)), ..JointRule::default() };
        edit(&mut edited, Edit::JointRule { joint: JointId(2), rule });
        if let Some(stack) = stack.map(Arc::new) {
            edit(&mut edited, Edit::Stack { mesh: MeshId(0), stack });
        }
        if locked {
            edit(&mut edited, Edit::Locks(Arc::new([JointId(1)].into())));
        }
        let mut times = times;
        times.sort_by(f32::total_cmp);
        let values: Vec<f32> = times.iter().flat_map(|t| [t.sin(), 0.1, -0.0, 1.0]).collect();
        let clip = Clip { channels: vec![channel(2, &times, &values)], ..Clip::named(new_name) };
        edit(&mut edited, Edit::Clip { id: ClipId(7), clip: Some(Arc::new(clip.clone())) });
        edit(&mut edited, Edit::Clip { id: ClipId(0), clip: (!remove).then(|| Arc::new(clip)) });
        edited.session_mut().active_joint = Some(JointId(2));
        edited.session_mut().playback.clip = Some(ClipId(7));
        edited.session_mut().camera.yaw = if yaw.is_finite() { yaw } else { 0.1 };

        let path = folder.path().join("strip.ron");
        save(&edited, &path, &Task::new()).unwrap();
        let opened = open(&path, &Task::new(), |_, _| Ok((source.clone(), Vec::new()))).unwrap();
        prop_assert_eq!(opened.findings, Vec::new());
        prop_assert!(!opened.source_changed);
        prop_assert!(opened.document.same_content(&edited));
        prop_assert_eq!(opened.document.session(), edited.session());

        let again = folder.path().join("again.ron");
        save(&opened.document, &again, &Task::new()).unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
    }
}

fn three() -> Document {
    strip(9, &["Hips", "Arm", "Hand"], Path::new("/models/strip.gltf"))
}

/// The text of `document` saved beside its model.
fn text_of(document: &Document) -> String {
    let project = to_project(document, Some(Path::new("/models/strip.ron"))).unwrap();
    project::to_text(&project).unwrap()
}

fn apply_text(text: &str) -> Result<(Document, Vec<Finding>), ProjectError> {
    apply_project(three(), project::parse(text)?)
}

/// What a file has and its version does not is an error that names it and its place; nothing is passed over.
#[test]
fn unknown_words_are_refused_by_name() {
    let text = text_of(&three());
    for (from, to, sentence) in [
        (
            "method: Dqs",
            "method: Foo",
            "The project uses the skinning method \"Foo\" (line ",
        ),
        (
            "falloff: Smooth",
            "falloff: Jagged",
            "The project uses the falloff \"Jagged\" (line ",
        ),
        (
            "normalise: true",
            "normalise: \"tomorrow\"",
            "The project uses the value \"tomorrow\" (line ",
        ),
        (
            "spacing: ",
            "wings: 2, spacing: ",
            "The project uses the field \"wings\" in its brush (line ",
        ),
        (
            "    stacks: [",
            "    wings: [],\n    stacks: [",
            "The project uses the field \"wings\" in its project (line ",
        ),
        (
            "iterations: 5",
            "iterations: 5, wings: 2",
            "The project uses the field \"wings\" in its corrective smooth (line ",
        ),
    ] {
        let broken = text.replace(from, to);
        assert_ne!(broken, text, "{from}");
        let said = project::parse(&broken).unwrap_err().to_string();
        assert!(said.starts_with(sentence), "{said}");
        assert!(
            said.ends_with("), which this version of Sinew does not know."),
            "{said}"
        );
    }
    // The words of a version are those that it had: the same place in an older file.
    for older in [1, 2, 3, 4, 5] {
        let broken = text
            .replace("version: 11", &format!("version: {older}"))
            .replace("method: Dqs", "method: Foo");
        let said = project::parse(&broken).unwrap_err().to_string();
        assert!(said.contains("skinning method \"Foo\""), "{said}");
    }
}

#[test]
fn an_untouched_model_is_a_short_project() {
    let text = text_of(&three());
    let expected = r#"(
    version: 11,
    app: "0.1.0",
    model: File(
        path: "strip.gltf",
        fingerprint: "0123456789abcdef",
        name: "strip",
    ),
    stacks: ["#
        .replace("0.1.0", env!("CARGO_PKG_VERSION"));
    assert!(text.starts_with(&expected), "{text}");
    for word in [
        "weights:", "layers:", "masks:", "rules:", "pose:", "clips:", "locked:", "renamed:",
    ] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

#[test]
fn the_file_reads_well() {
    let mut document = three();
    let geometry = document.meshes()[&MeshId(0)].geometry.clone();
    let point = geometry.point_of_vertex[5];
    let rows = [vec![(2, 0.25), (1, 0.75)]].into_iter().collect();
    edit(
        &mut document,
        Edit::influences(MeshId(0), vec![point], rows),
    );
    let bent = Transform {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8),
        ..document.pose().locals[1]
    };
    edit(
        &mut document,
        Edit::Pose {
            joints: vec![JointId(1)],
            locals: vec![bent],
        },
    );
    edit(&mut document, Edit::Locks(Arc::new([JointId(2)].into())));
    let map = Edit::mask(
        MeshId(0),
        MaskKind::Compensation,
        vec![point, geometry.point_of_vertex[0]],
        vec![1.5, 0.25],
    );
    edit(&mut document, map);
    let rule = JointRule {
        tail: Some(DVec3::new(0.0, 0.5, 0.0)),
        compensates_scale: true,
        inflation_parent: Some(JointId(0)),
        ..JointRule::default()
    };
    let joint = JointId(2);
    edit(&mut document, Edit::JointRule { joint, rule });
    let text = text_of(&document);
    let expected = r#"    masks: [
        (
            mesh: 0,
            name: "Strip",
            map: Compensation,
            values: [
                (v: 0, x: 0.25),
                (p: 1, v: 1, x: 1.5),
            ],
        ),
    ],
"#;
    assert!(text.contains(expected), "{text}");
    let expected = r#"    rules: [
        (
            joint: 2,
            name: "Hand",
            tail: (0.0, 0.5, 0.0),
            compensates_scale: true,
            inflation_parent: (0, "Hips"),
        ),
    ],
"#;
    assert!(text.contains(expected), "{text}");
    let expected = r#"    weights: [
        (
            mesh: 0,
            name: "Strip",
            joints: [
                (1, 1, "Arm"),
                (2, 2, "Hand"),
            ],
            rows: [
                (p: 1, v: 1, w: [(2, 0.25), (1, 0.75)]),
            ],
        ),
    ],
"#;
    assert!(text.contains(expected), "{text}");
    let expected = r#"    pose: [
        (
            joint: 1,
            name: "Arm",
            rotation: (0.0, 0.0, 0.6, 0.8),
        ),
    ],
"#;
    assert!(text.contains(expected), "{text}");
    let expected = r#"    locked: [
        (2, "Hand"),
    ],
"#;
    assert!(text.contains(expected), "{text}");
    let (opened, findings) = apply_text(&text).unwrap();
    assert_eq!(findings, []);
    assert_eq!(text_of(&opened), text);
}

#[test]
fn many_rows_are_packed_and_come_back() {
    let path = Path::new("/models/strip.gltf");
    let source = strip(150_000, &["Hips", "Arm", "Hand"], path);
    let mut edited = source.clone();
    let n_points = source.meshes()[&MeshId(0)].influences.len() as u32;
    let points: Vec<u32> = (0..n_points).filter(|p| p % 3 != 0).collect();
    let rows: Rows = points
        .iter()
        .map(|&p| {
            let (a, b) = (1.0 / (p + 2) as f32, 0.5 / (p % 11 + 1) as f32);
            match p % 5 {
                0 => vec![],
                1 => vec![(2, 1.0)],
                2 => vec![(0, a), (2, 0.0), (1, 1.0 - a)],
                _ => vec![(2, a), (0, b), (1, 1.0 - a - b)],
            }
        })
        .collect();
    edit(&mut edited, Edit::influences(MeshId(0), points, rows));
    let text = text_of(&edited);
    assert!(text.lines().count() < 100, "blocks, not lines");
    let (opened, findings) = apply_project(source, project::parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    assert!(opened.same_content(&edited));
    assert_eq!(text_of(&opened), text);
}

#[test]
fn a_whole_painted_map_is_packed_and_comes_back() {
    let path = Path::new("/models/strip.gltf");
    let source = strip(150_000, &["Hips", "Arm", "Hand"], path);
    let mut edited = source.clone();
    let n_points = source.meshes()[&MeshId(0)].influences.len() as u32;
    let points: Vec<u32> = (0..n_points).filter(|p| p % 3 != 0).collect();
    let values = points
        .iter()
        .map(|&p| 2.0 / (p % 7_001 + 1) as f32)
        .collect();
    let map = Edit::mask(MeshId(0), MaskKind::Compensation, points, values);
    edit(&mut edited, map);
    let few = Edit::mask(MeshId(0), MaskKind::Blend, vec![7], vec![0.125]);
    edit(&mut edited, few);
    let text = text_of(&edited);
    assert!(text.lines().count() < 100, "blocks, not lines");
    let (opened, findings) = apply_project(source, project::parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    assert!(opened.same_content(&edited));
    assert_eq!(text_of(&opened), text);
}

/// `text` with one more list of masks, of the strip of [`three`].
fn with_masks(masks: &str) -> String {
    let masks = format!("    masks: [{masks}],\n    session: (");
    text_of(&three()).replace("    session: (", &masks)
}

#[test]
fn broken_maps_and_rules_are_said_in_plain_sentences() {
    let broken = with_masks(
        r#"(mesh: 0, name: "Strip", map: Projection, values: [
            (v: 0, x: 0.5), (v: 0, x: 0.25), (v: 1, x: 1.5), (v: 2, x: NaN), (v: 3, x: -0.5), (v: 99, x: 0.5), (p: 7, v: 0, x: 0.5)]),
        (mesh: 0, name: "Strip", map: Projection, values: [(v: 1, x: 0.5)]),
        (mesh: 4, name: "Gone", map: Blend, values: [(v: 1, x: 0.5)]),"#,
    );
    let (opened, findings) = apply_text(&broken).unwrap();
    let said: Vec<String> = findings.iter().map(ToString::to_string).collect();
    for sentence in [
        "Values for vertices that the mesh does not have are skipped (2).",
        "Values that are not 0 - 1 are skipped (3).",
        "Values for vertices that other values already set are skipped (1).",
        "It is listed twice; the second entry is skipped.",
        "The model no longer has it; the project's edits of it are skipped.",
    ] {
        assert!(
            said.iter().any(|said| said.contains(sentence)),
            "no {sentence:?} in {said:?}"
        );
    }
    assert_eq!(findings.len(), 5, "{said:?}");
    let item = &opened.meshes()[&MeshId(0)];
    let (kind, map) = item.masks.iter().next().unwrap();
    assert_eq!(kind, MaskKind::Projection);
    let point = item.geometry.point_of_vertex[0];
    assert_eq!(map.painted().collect::<Vec<_>>(), [(point, 0.5)]);

    let rules = text_of(&three()).replace(
        "    session: (",
        r#"    rules: [
        (joint: 1, name: "Arm", inflation_parent: (2, "Hand")),
        (joint: 2, name: "Hand", tail: (inf, 0.0, 0.0)),
        (joint: 0, name: "Hips", compensates_scale: true, inflation_parent: (9, "Gone")),
        (joint: 0, name: "Hips"),
    ],
    session: ("#,
    );
    let (opened, findings) = apply_text(&rules).unwrap();
    let said: Vec<String> = findings.iter().map(ToString::to_string).collect();
    for sentence in [
        "its position cannot follow \"Hand\", which comes after it",
        "the tail of the bone is not finite",
        "The model no longer has it",
        "It is listed twice; the second entry is skipped.",
    ] {
        assert!(
            said.iter().any(|said| said.contains(sentence)),
            "no {sentence:?} in {said:?}"
        );
    }
    assert_eq!(findings.len(), 4, "{said:?}");
    let rule = opened.skeleton().joint(JointId(0)).rule;
    assert!(rule.compensates_scale && rule.inflation_parent.is_none());
    assert_eq!(
        opened.skeleton().joint(JointId(1)).rule,
        JointRule::default()
    );
}

#[test]
fn a_stack_out_of_its_ranges_is_left_out() {
    let text = text_of(&three());
    for (from, to) in [
        ("iterations: 5", "iterations: 4294967295"),
        ("power: 2.0", "power: 0.0"),
        ("blend: 1.0", "blend: NaN"),
    ] {
        let broken = text.replace(from, to);
        assert_ne!(broken, text, "{from}");
        let (opened, findings) = apply_text(&broken).unwrap();
        assert_eq!(findings.len(), 1, "{from}");
        assert!(findings[0].to_string().contains("skipped"), "{from}");
        assert_eq!(opened.meshes()[&MeshId(0)].stack, Arc::default());
    }
}

#[test]
fn what_does_not_fit_is_reported_and_the_rest_opens() {
    let text = text_of(&three()).replace(
        "    stacks: [",
        r#"    weights: [(mesh: 0, name: "Strip", joints: [(0, 0, "Hips"), (1, 9, "Tail")], rows: [
        (v: 0, w: [(0, 1.0)]), (v: 99, w: [(0, 1.0)]), (v: 1, w: [(0, NaN)]), (v: 2, w: [(1, 1.0)]),
        (p: 7, v: 0, w: [(0, 1.0)]), (v: 0, w: [(0, 0.5)])])],
    pose: [
        (joint: 1, name: "Arm", rotation: (0.0, 0.0, 1.0, 0.0)),
        (joint: 2, name: "Hand", translation: (inf, 0.0, 0.0)),
        (joint: 0, name: "Hips", rotation: (0.0, 0.0, 0.0, 0.0)),
    ],
    locked: [(0, "Hand"), (77, "Tail")],
    clips: [(clip: 3, name: "Broken", channels: [
        (joint: 1, name: "Arm", property: Rotation, interpolation: Linear, times: [0.0], values: [1.0])])],
    removed_clips: [(0, "Run")],
    stacks: ["#,
    );
    let (document, findings) = apply_text(&text).unwrap();
    let said: Vec<String> = findings.iter().map(Finding::to_string).collect();
    let expected = [
        "bone \"Tail\": The model no longer has it",
        "weights of mesh 0 \"Strip\": Rows for vertices that the mesh does not have are skipped (2).",
        "weights of mesh 0 \"Strip\": Rows with bones that the skin does not have, or weights that are not numbers >= 0, are skipped (2).",
        "weights of mesh 0 \"Strip\": Rows for vertices that other rows already set are skipped (1).",
        "pose of bone 2 \"Hand\": It has a value that is not a finite number",
        "pose of bone 0 \"Hips\": It has a rotation",
        "bone \"Hand\": It was number 0 and is now number 2",
        "bone \"Tail\": The model no longer has it",
        "clip 0 \"Run\": The project removed it",
        "clip 3 \"Broken\": It is skipped",
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(&format!("warning: {expected}")), "{said}");
    }
    let item = &document.meshes()[&MeshId(0)];
    let edited = item.geometry.point_of_vertex[0];
    assert_eq!(item.edited_points(), [edited]);
    assert_eq!(item.influences.row(edited).weights, [1.0]);
    assert_eq!(document.pose().locals[1].rotation.z, 1.0);
    assert!(document.locked().contains(&JointId(2)));
}

#[test]
fn a_session_that_makes_no_sense_starts_afresh() {
    for (from, to) in [
        ("yaw: 0.5", "yaw: NaN"),
        ("yaw: 0.5", "yaw: 1e99"),
        ("distance: 5.0", "distance: -1.0"),
    ] {
        let text = text_of(&three());
        assert!(text.contains(from), "{text}");
        let (document, findings) = apply_text(&text.replace(from, to)).unwrap();
        assert_eq!(findings.len(), 1);
        assert_eq!(document.session(), three().session());
    }
}

#[test]
fn a_playback_beyond_its_bounds_comes_back_within_them() {
    let mut document = three();
    for (speed, time_secs, expected) in [
        (0.5, 1.25, (0.5, 1.25)),
        (1e9, 1e12, (4.0, 86_400.0)),
        (-3.0, -1.0, (0.1, 0.0)),
        (f64::NAN, f64::NAN, (1.0, 0.0)),
    ] {
        let playback = &mut document.session_mut().playback;
        (playback.speed, playback.time_secs) = (speed, time_secs);
        let (opened, findings) = apply_text(&text_of(&document)).unwrap();
        assert_eq!(findings, []);
        let playback = &opened.session().playback;
        assert_eq!((playback.speed, playback.time_secs), expected);
        assert_eq!(opened.session().camera, document.session().camera);
    }
}

#[test]
fn broken_and_newer_files_are_one_sentence() {
    let parse = |text: &str| project::parse(text).unwrap_err().to_string();
    assert_eq!(
        parse("(version: 12, wings: [(3, Feather(\"x\"))])"),
        "The project was saved by a newer Sinew (its format is 12, this one knows up to 11); update Sinew to open it."
    );
    assert!(parse("(version: 0)").contains("version 0 of the format does not exist"));
    let text = text_of(&three());
    let broken = text.replace("power: 2.0", "power: Two");
    assert!(
        parse(&broken).starts_with("The project file cannot be read at line "),
        "{}",
        parse(&broken)
    );
    assert!(parse("").starts_with("The project file cannot be read at line 1, column 1"));
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("picture.ron");
    std::fs::write(&picture, b"(\nversion: \xff").unwrap();
    let import = |_: ModelSource<'_>, _: &Task| unreachable!();
    assert_eq!(
        open(&picture, &Task::new(), import)
            .unwrap_err()
            .to_string(),
        "The project file cannot be read at line 2, column 10: it is not text."
    );
    assert!(parse(&"[".repeat(100_000)).starts_with("The project file cannot be read"));
}

#[test]
fn hostile_blocks_are_refused_without_unpacking_them() {
    let block = |n_rows: u32, n_influences: u32, data: &str| {
        text_of(&three()).replace(
            "    stacks: [",
            &format!(
                "    weights: [(mesh: 0, name: \"Strip\", joints: [(0, 0, \"Hips\")], blocks: \
                 [(primitive: 0, n_rows: {n_rows}, n_influences: {n_influences}, data: \"{data}\")])],\n    stacks: ["
            ),
        )
    };
    for (n_rows, n_influences, data) in [
        (u32::MAX, u32::MAX, ""),
        (1, u32::MAX, ""),
        (1, 1, "AAAA"),
        (1, 1, "not base64"),
        (60_000, 60_000, "KLUv/QBYAQAA"),
    ] {
        let error = apply_text(&block(n_rows, n_influences, data)).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("The project file is damaged in weights of mesh 0 \"Strip\": "),
            "{error}"
        );
    }
    for (n_values, data) in [
        (u32::MAX, ""),
        (1, "AAAA"),
        (1, "not base64"),
        (60_000, "KLUv/QBYAQAA"),
    ] {
        let block = format!(
            "(mesh: 0, name: \"Strip\", map: Smooth, blocks: [(primitive: 0, n_values: {n_values}, data: \"{data}\")])"
        );
        let error = apply_text(&with_masks(&block)).unwrap_err();
        assert!(
            error.to_string().starts_with(
                "The project file is damaged in smoothing strength of mesh 0 \"Strip\": "
            ),
            "{error}"
        );
    }
    let keys = text_of(&three()).replace(
        "    stacks: [",
        r#"    clips: [(clip: 3, name: "Big", channels: [(joint: 1, name: "Arm", property: Rotation,
        interpolation: Linear, keys: (n_times: 4294967295, n_values: 4294967295, data: ""))])],
    stacks: ["#,
    );
    let error = apply_text(&keys).unwrap_err().to_string();
    assert!(error.contains("exceed the limit"), "{error}");
}

#[test]
fn cutting_a_file_anywhere_is_an_error_and_never_a_panic() {
    let mut document = three();
    edit(&mut document, Edit::Locks(Arc::new([JointId(2)].into())));
    let text = text_of(&document);
    for end in (0..text.len() - 2).filter(|&i| text.is_char_boundary(i)) {
        assert!(apply_text(&text[..end]).is_err(), "cut at {end}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes are replaced by others that mean something in RON, numbers by large ones.
    #[test]
    fn a_damaged_file_never_panics(
        damage in proptest::collection::vec(
            (any::<proptest::sample::Index>(), proptest::sample::select(b"0918-.,:()[]\"eNaf\n ".to_vec())),
            1..6,
        ),
        large in proptest::option::of(any::<proptest::sample::Index>()),
        version in 0usize..10,
    ) {
        let files: [&[u8]; 10] = [
            include_bytes!("../data/project-v1.ron"),
            include_bytes!("../data/project-v2.ron"),
            include_bytes!("../data/project-v3.ron"),
            include_bytes!("../data/project-v4.ron"),
            include_bytes!("../data/project-v5.ron"),
            include_bytes!("../data/project-v6.ron"),
            include_bytes!("../data/project-v7.ron"),
            include_bytes!("../data/project-v8.ron"),
            include_bytes!("../data/project-v9.ron"),
            include_bytes!("../data/project-v10.ron"),
        ];
        let mut bytes = files[version].to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut text = String::from_utf8(bytes).unwrap();
        if let Some(large) = large {
            let digits: Vec<usize> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| i).collect();
            let at = digits[large.index(digits.len())];
            text.replace_range(at..=at, "4294967295");
        }
        let model = strip(10, &["Upper", "Lower"], Path::new("/models/strip.gltf"));
        if let Ok((document, _)) = project::parse(&text).and_then(|project| apply_project(model, project)) {
            let broken = invariants::check(&document).into_iter().find(|f| f.severity == Severity::Error);
            prop_assert_eq!(broken, None);
        }
    }
}

#[test]
fn joints_that_moved_in_the_model_are_found_by_name() {
    let mut edited = three();
    let point = edited.meshes()[&MeshId(0)].geometry.point_of_vertex[0];
    let rows = [vec![(1, 0.5), (2, 0.5)]].into_iter().collect();
    edit(&mut edited, Edit::influences(MeshId(0), vec![point], rows));
    let project = to_project(&edited, None).unwrap();
    let other = strip(
        9,
        &["Hips", "Twist", "Arm", "Hand"],
        Path::new("/models/strip.gltf"),
    );
    let (opened, findings) = apply_project(other, project).unwrap();
    assert_eq!(findings.len(), 2, "{findings:?}");
    let row = opened.meshes()[&MeshId(0)].influences.row(point);
    assert_eq!((row.joints, row.weights), (&[2, 3][..], &[0.5, 0.5][..]));
}

#[test]
fn a_missing_model_can_be_relinked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (path, model) = (root.join("strip.ron"), root.join("models/strip.gltf"));
    std::fs::create_dir(root.join("models")).unwrap();
    let names = ["Hips", "Arm", "Hand"];
    let mut document = strip(9, &names, &model);
    edit(&mut document, Edit::Locks(Arc::new([JointId(2)].into())));
    save(&document, &path, &Task::new()).unwrap();
    let import = |source: ModelSource<'_>, _: &Task| match source {
        ModelSource::File(path) => Ok((strip(9, &names, path), Vec::new())),
        ModelSource::Sample(_) => unreachable!(),
    };
    assert_eq!(
        open(&path, &Task::new(), import).unwrap_err(),
        ProjectError::SourceMissing {
            path: model,
            name: "strip".into(),
            fingerprint: "0123456789abcdef".into()
        }
    );
    let moved = root.join("moved.gltf");
    let opened = open_with_source(&path, &moved, &Task::new(), import).unwrap();
    assert!(!opened.source_changed);
    assert!(opened.document.locked().contains(&JointId(2)));
    save(&opened.document, &path, &Task::new()).unwrap();
    std::fs::write(&moved, "").unwrap();
    let opened = open(&path, &Task::new(), import).unwrap();
    assert_eq!(opened.document.source().unwrap().path, Some(moved));
}

#[test]
fn a_changed_model_opens_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strip.ron");
    let model = folder.path().join("strip.gltf");
    std::fs::write(&model, "").unwrap();
    save(&strip(9, &["A", "B"], &model), &path, &Task::new()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("0123456789abcdef", "0000000000000000")).unwrap();
    let opened = open(&path, &Task::new(), |_, _| {
        Ok((strip(9, &["A", "B"], &model), Vec::new()))
    })
    .unwrap();
    assert!(opened.source_changed);
    assert_eq!(opened.findings.len(), 1);
}

#[test]
fn autosaves_are_offered_until_the_artist_saves() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let model = root.join("strip.gltf");
    std::fs::write(&model, "").unwrap();
    let document = strip(9, &["A", "B"], &model);
    let autosaves = Autosaves::in_folder(root.join("state/autosave"));
    assert_eq!(autosaves.recoverable(), []);

    let project = root.join("strip.ron");
    let unnamed = autosaves.save(&document, None, &Task::new()).unwrap();
    let named = autosaves
        .save(&document, Some(&project), &Task::new())
        .unwrap();
    assert_ne!(unnamed, named);
    let mut offered: Vec<(PathBuf, String, Option<PathBuf>)> = autosaves
        .recoverable()
        .into_iter()
        .map(|r| (r.path, r.model_name, r.project))
        .collect();
    offered.sort();
    let mut expected = vec![
        (unnamed.clone(), "strip".to_owned(), None),
        (named.clone(), "strip".to_owned(), Some(project.clone())),
    ];
    expected.sort();
    assert_eq!(offered, expected);

    let opened = open(&named, &Task::new(), |source, _| {
        assert_eq!(source, ModelSource::File(&model));
        Ok((document.clone(), Vec::new()))
    })
    .unwrap();
    assert_eq!(opened.recovers, Some(project.clone()));

    autosaves.discard(&unnamed).unwrap();
    autosaves.discard(&unnamed).unwrap();
    save(&document, &project, &Task::new()).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    let file = std::fs::File::options().write(true).open(&project).unwrap();
    file.set_modified(later).unwrap();
    assert_eq!(autosaves.recoverable(), []);
}

#[test]
fn a_document_from_nowhere_cannot_be_a_project() {
    let error = to_project(&Document::default(), None).map(|_: Project| ());
    assert_eq!(error, Err(ProjectError::NoSource));
}
