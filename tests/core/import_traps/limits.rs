//! Small files that ask for much, and files of other kinds.

use super::{assert_found, load, mesh, refused};
use crate::gltf_builder::{Gltf, triangle};
use bytes::Bytes;
use serde_json::json;
use sinew::document::SourceKind;
use sinew::io::import_bytes;
use sinew::task::Task;

#[test]
fn counts_that_no_byte_backs_are_refused() {
    for count in [1_000_000_000u64, 4_294_967_295, u64::MAX] {
        let mut gltf = triangle();
        gltf.json["accessors"][0] = json!({"componentType": 5126, "count": count, "type": "VEC3"});
        let sentence = refused(gltf);
        assert!(
            sentence.contains("accessors[0]") || sentence.contains("meshes[0]"),
            "{sentence}"
        );
    }
    let mut gltf = triangle();
    gltf.json["accessors"][0]["byteOffset"] = json!(u64::MAX);
    assert!(refused(gltf).contains("accessors[0]"));
}

#[test]
fn one_accessor_drawn_a_thousand_times_stays_within_the_limit() {
    let mut gltf = Gltf::new(json!({"nodes": [{"mesh": 0}]}));
    let positions = gltf.f32s("VEC3", &vec![0.5; 3 * 50_000]);
    let primitive = json!({"attributes": {"POSITION": positions}});
    gltf.push("meshes", json!({"primitives": vec![primitive; 1000]}));
    let (parts, findings) = load(gltf);
    assert_found(&findings, "allowed for a file of");
    assert!(mesh(&parts, 0).geometry.n_vertices() < 1_000_000);
}

#[test]
fn deep_and_huge_json_is_refused() {
    let refused_text = |text: String| {
        import_bytes(Bytes::from(text), None, None, &Task::new())
            .unwrap_err()
            .to_string()
    };
    let deep = format!(
        "{{\"extras\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(refused_text(deep).contains("nested 100 levels deep"));
    let wide = format!("{{\"extras\":[{}0]}}", "0,".repeat(2_000_000));
    assert!(refused_text(wide).contains("bytes of memory"));
}

#[test]
fn text_files_read_as_well_as_binary_ones() {
    let text = r#"{"asset": {"version": "2.0"}, "nodes": [{}]}"#;
    let imported = import_bytes(Bytes::from(text), None, None, &Task::new()).unwrap();
    assert_eq!(imported.parts.source.unwrap().kind, SourceKind::Gltf);
    let old = Bytes::from(r#"{"asset": {"version": "1.0"}}"#);
    let error = import_bytes(old, None, None, &Task::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The glTF version of the file (asset.version) is 1.0, but only version 2 can be opened."
    );
}
