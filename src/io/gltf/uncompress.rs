//! Decompresses a primitive to plain arrays, for export.

use super::accessor::Elements;
use super::budget::Budget;
use super::buffers::Data;
use super::draco;
use super::error::Fault;
use crate::document::Source;
use crate::io::gltf_json::ComponentType;
use bytes::Bytes;

/// The vertices and triangles of a Draco bitstream.
#[derive(Debug, Default)]
pub(crate) struct Uncompressed {
    pub(crate) n_vertices: usize,
    /// The attributes in the bitstream; others are plain accessors already.
    pub(crate) attributes: Vec<PlainAttribute>,
    /// `None` if the bitstream cannot be read, and import used the uncompressed copy in the file.
    pub(crate) triangles: Option<Vec<[u32; 3]>>,
}

/// An attribute with one element per vertex.
#[derive(Debug)]
pub(crate) struct PlainAttribute {
    pub(crate) semantic: String,
    /// The component type.
    pub(crate) component: ComponentType,
    /// The number of components per element.
    pub(crate) width: usize,
    pub(crate) normalized: bool,
    /// Tightly packed.
    pub(crate) bytes: Bytes,
}

/// Decodes a primitive of an imported source; `None` if it is not Draco-compressed.
pub(crate) fn uncompress(
    source: &Source,
    mesh: usize,
    primitive: usize,
) -> Result<Option<Uncompressed>, Fault> {
    let n_bytes = source.bytes.len() + source.buffers.iter().map(Bytes::len).sum::<usize>();
    let budget = Budget::new(n_bytes);
    let data = Data::of_source(source, &budget);
    let primitives = data.at("meshes", mesh).items("primitives")?;
    if primitive >= primitives.len() {
        return Ok(None);
    }
    let at = primitives.at(primitive);
    let (Some(extension), Some(attributes)) = (
        at.extension("KHR_draco_mesh_compression"),
        at.get("attributes"),
    ) else {
        return Ok(None);
    };
    let n_accessors = data.len("accessors");
    let decoded = match draco::decode(&data, &extension) {
        Ok(decoded) => decoded,
        Err(fault) => {
            let position = attributes.required_index("POSITION", "accessors", n_accessors)?;
            let accessor = data.at("accessors", position);
            return match accessor.get("bufferView") {
                Some(_) => Ok(Some(Uncompressed::default())),
                None => Err(fault),
            };
        }
    };
    let mut out = Uncompressed {
        n_vertices: decoded.n_vertices(),
        ..Uncompressed::default()
    };
    let semantics = attributes
        .value
        .as_object()
        .into_iter()
        .flat_map(|map| map.keys());
    for semantic in semantics {
        let Some(index) = attributes.index(semantic, "accessors", n_accessors)? else {
            continue;
        };
        let normalized = data.at("accessors", index).flag("normalized");
        let Some(base) = decoded.attribute(&data, semantic, normalized) else {
            continue;
        };
        let elements = data.accessor_at(index, Some(base?))?;
        out.attributes.push(PlainAttribute {
            semantic: semantic.clone(),
            component: elements.component,
            width: elements.width,
            normalized,
            bytes: plain(&data, &elements)?,
        });
    }
    out.triangles = Some(decoded.triangles);
    Ok(Some(out))
}

/// The components of the elements, tightly packed, with sparse substitutions applied.
fn plain(data: &Data<'_>, elements: &Elements) -> Result<Bytes, Fault> {
    if elements.component == ComponentType::F32 {
        let floats = elements.flat_floats(data)?;
        return Ok(floats.into_iter().flat_map(f32::to_le_bytes).collect());
    }
    match (&elements.data, &elements.sparse) {
        // The decoder packs its elements tightly.
        (Some(bytes), None) => Ok(bytes.clone()),
        _ => Err(Fault::new(
            &elements.place,
            format!(
                "{} is a sparse accessor of integers over compressed data, which cannot be written uncompressed.",
                elements.place
            ),
        )),
    }
}
