//! KHR_draco_mesh_compression: a primitive's vertices and triangles as one compressed bitstream.

use super::accessor::Elements;
use super::buffers::Data;
use super::error::Fault;
use super::json::At;
use crate::io::gltf_json::ComponentType;
use bytes::Bytes;
use draco_core::draco_types::DataType;
use draco_core::{
    AttributeValueIndex, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointAttribute, PointIndex,
};

/// A decoded primitive.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    mesh: Mesh,
    attributes: Option<At<'a>>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Decodes the data that the extension object `at` references.
pub(super) fn decode<'a>(data: &Data<'_>, at: &At<'a>) -> Result<Decoded<'a>, Fault> {
    let view = data.view(at, "bufferView")?;
    let damaged = |why: &dyn std::fmt::Display| {
        Fault::new(
            &at.place,
            format!("The Draco data of {} cannot be decoded: {why}.", at.place),
        )
    };
    // The decoder holds values, corner tables and the result at the same time: about three times the output.
    let most = data.budget.left() / 3;
    let limits = DecodeLimits::default()
        .with_max_points(most / 16)
        .with_max_faces(most / 32)
        .with_max_decoded_bytes(most);
    // A panic in the decoder must not lose the artist's work.
    let decoded = std::panic::catch_unwind(|| {
        let mut mesh = Mesh::new();
        let mut buffer = DecoderBuffer::new(&view.bytes).with_limits(limits);
        MeshDecoder::new()
            .decode(&mut buffer, &mut mesh)
            .map(|()| mesh)
            .map_err(|error| error.to_string())
    });
    let mesh = match decoded {
        Ok(Ok(mesh)) => mesh,
        Ok(Err(why)) => return Err(damaged(&why)),
        Err(_) => return Err(damaged(&"it is damaged")),
    };
    let size = mesh.num_points() as u64 * 16 + mesh.num_faces() as u64 * 12;
    data.budget.charge(size, &at.place)?;
    let triangles = mesh.faces().iter().map(|f| f.map(|p| p.0)).collect();
    Ok(Decoded {
        mesh,
        attributes: at.get("attributes"),
        triangles,
    })
}

impl Decoded<'_> {
    pub(super) fn n_vertices(&self) -> usize {
        self.mesh.num_points()
    }

    /// The elements of the attribute `semantic`; `None` if the bitstream does not contain it. `normalized` is the
    /// accessor's flag, which takes precedence over the bitstream's.
    pub(super) fn attribute(
        &self,
        data: &Data<'_>,
        semantic: &str,
        normalized: bool,
    ) -> Option<Result<Elements, Fault>> {
        let attributes = self.attributes.as_ref()?;
        let id = match attributes.count(semantic) {
            Ok(id) => id?,
            Err(fault) => return Some(Err(fault)),
        };
        let place = attributes.path(semantic);
        let found = u32::try_from(id)
            .ok()
            .and_then(|id| self.mesh.attribute_by_unique_id(id));
        let Some(attribute) = found else {
            return Some(Err(Fault::new(
                &place,
                format!("{place} is {id}, which the Draco data does not contain."),
            )));
        };
        Some(self.elements(data, attribute, place, normalized))
    }

    fn elements(
        &self,
        data: &Data<'_>,
        attribute: &PointAttribute,
        place: String,
        normalized: bool,
    ) -> Result<Elements, Fault> {
        let count = self.n_vertices();
        let width = usize::from(attribute.num_components()).clamp(1, 16);
        let component = match attribute.data_type() {
            DataType::Int8 => Some(ComponentType::I8),
            DataType::Uint8 => Some(ComponentType::U8),
            DataType::Int16 => Some(ComponentType::I16),
            DataType::Uint16 => Some(ComponentType::U16),
            DataType::Uint32 => Some(ComponentType::U32),
            _ => None,
        };
        let size = component.unwrap_or(ComponentType::F32).size() * width;
        data.budget.charge((count * size) as u64, &place)?;
        let bytes = match component {
            Some(_) => {
                let values = attribute.buffer().data();
                let stride = usize::try_from(attribute.byte_stride()).unwrap_or(size);
                let mut bytes = vec![0u8; count * size];
                for (point, out) in bytes.chunks_exact_mut(size).enumerate() {
                    let AttributeValueIndex(value) =
                        attribute.mapped_index(PointIndex(point as u32));
                    let start = (value as usize).saturating_mul(stride);
                    if let Some(value) = values.get(start..start.saturating_add(size)) {
                        out.copy_from_slice(value);
                    }
                }
                bytes
            }
            None => attribute
                .read_f32s(count, width)
                .into_iter()
                .flat_map(f32::to_le_bytes)
                .collect(),
        };
        Ok(Elements {
            place,
            component: component.unwrap_or(ComponentType::F32),
            width,
            count,
            normalized,
            stride: size,
            data: Some(Bytes::from(bytes)),
            sparse: None,
        })
    }
}
