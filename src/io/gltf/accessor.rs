//! Accessors: validated once, then decoded in bulk.

use super::buffers::Data;
use super::error::Fault;
use super::json::At;
use crate::io::gltf_json::{ComponentType, component_type};
use bytes::Bytes;

/// The elements of an accessor without a buffer view that even the smallest file may have, beside one for each of its
/// bytes: a compressed mesh takes more than a byte a vertex.
const MOST_WITHOUT_VIEW: u64 = 1 << 16;

/// The elements of an accessor, with all their bytes checked to exist.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub(super) place: String,
    pub(super) component: ComponentType,
    /// The number of components per element.
    pub(super) width: usize,
    pub(super) count: usize,
    pub(super) normalized: bool,
    /// The distance between elements, bytes.
    pub(super) stride: usize,
    /// The data from the first element on; `None` for all zeros.
    pub(super) data: Option<Bytes>,
    pub(super) sparse: Option<Sparse>,
}

/// The substituted elements of a sparse accessor.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    /// The indices of the elements, each below the accessor's count.
    indices: Vec<u32>,
    /// Their values, tightly packed.
    values: Bytes,
}

impl Data<'_> {
    /// The elements of the accessor at `owner.key`.
    pub(super) fn accessor(&self, owner: &At<'_>, key: &str) -> Result<Elements, Fault> {
        let index = owner.required_index(key, "accessors", self.len("accessors"))?;
        self.accessor_at(index, None)
    }

    /// The elements of an accessor by index, which must be in range. `base` replaces the data of its buffer view.
    pub(super) fn accessor_at(
        &self,
        index: usize,
        base: Option<Elements>,
    ) -> Result<Elements, Fault> {
        let at = self.at("accessors", index);
        let mut elements = match base {
            Some(base) => base,
            None => self.plain_elements(&at)?,
        };
        if let Some(sparse) = at.get("sparse") {
            elements.sparse = Some(self.sparse(&sparse, &elements)?);
        }
        Ok(elements)
    }

    fn plain_elements(&self, at: &At<'_>) -> Result<Elements, Fault> {
        let code = at.required_count("componentType")?;
        let component = component_type(code).ok_or_else(|| {
            Fault::new(
                at.path("componentType"),
                format!(
                    "{}.componentType is {code}, which is not a component type.",
                    at.place
                ),
            )
        })?;
        let kind = at.text("type").ok_or_else(|| at.lacks("type"))?;
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT3" => 9,
            "MAT4" => 16,
            _ => return Err(at.should_be("a SCALAR, a vector or a matrix")),
        };
        let count = at.required_count("count")?;
        let size = component.size() * width;
        let mut elements = Elements {
            place: at.place.clone(),
            component,
            width,
            count: usize::try_from(count).unwrap_or(usize::MAX),
            normalized: at.flag("normalized"),
            stride: size,
            data: None,
            sparse: None,
        };
        if at.get("bufferView").is_none() {
            // Morph targets that move little are written so, of meshes whose own vertices take more bytes than that.
            if count > MOST_WITHOUT_VIEW + self.budget.file_bytes() {
                return Err(Fault::new(
                    &at.place,
                    format!("{} has {count} elements without a buffer view.", at.place),
                ));
            }
            return Ok(elements);
        }
        let view_index =
            at.required_index("bufferView", "buffer views", self.len("bufferViews"))?;
        let view = self.view_at(view_index)?;
        if let Some(stride) = view.stride {
            if stride < size {
                return Err(Fault::new(
                    &at.place,
                    format!(
                        "{} has elements of {size} bytes, but bufferViews[{view_index}].byteStride is {stride}.",
                        at.place
                    ),
                ));
            }
            elements.stride = stride;
        }
        let offset = at.count("byteOffset")?.unwrap_or(0);
        let needed = match count {
            0 => 0,
            n => (n - 1)
                .saturating_mul(elements.stride as u64)
                .saturating_add(size as u64),
        };
        if offset.saturating_add(needed) > view.bytes.len() as u64 {
            return Err(Fault::new(
                &at.place,
                format!(
                    "{} has {count} elements, which need {needed} bytes from byte {offset} of bufferViews[{view_index}], but it has only {}.",
                    at.place,
                    view.bytes.len()
                ),
            ));
        }
        elements.data = Some(view.bytes.slice(offset as usize..));
        Ok(elements)
    }

    fn sparse(&self, at: &At<'_>, base: &Elements) -> Result<Sparse, Fault> {
        let count = at.required_count("count")?;
        if count > base.count as u64 {
            return Err(Fault::new(
                &at.place,
                format!(
                    "{} replaces {count} elements of an accessor that has only {}.",
                    at.place, base.count
                ),
            ));
        }
        let count = count as usize;
        let part = |key: &str, size: usize| -> Result<(At<'_>, Bytes), Fault> {
            let part = at.get(key).ok_or_else(|| at.lacks(key))?;
            let view = self.view(&part, "bufferView")?;
            let offset = part.count("byteOffset")?.unwrap_or(0);
            let needed = (count * size) as u64;
            if offset.saturating_add(needed) > view.bytes.len() as u64 {
                return Err(Fault::new(
                    &part.place,
                    format!(
                        "{} needs {needed} bytes from byte {offset} of its buffer view, which has only {}.",
                        part.place,
                        view.bytes.len()
                    ),
                ));
            }
            let start = offset as usize;
            let bytes = view.bytes.slice(start..start + needed as usize);
            Ok((part, bytes))
        };
        let code = at
            .get("indices")
            .map(|indices| indices.required_count("componentType"))
            .transpose()?
            .unwrap_or(0);
        let component = component_type(code)
            .filter(|c| {
                matches!(
                    c,
                    ComponentType::U8 | ComponentType::U16 | ComponentType::U32
                )
            })
            .ok_or_else(|| {
                Fault::new(
                    &at.place,
                    format!(
                        "{}.indices.componentType should be 5121, 5123 or 5125.",
                        at.place
                    ),
                )
            })?;
        let (indices_at, indices) = part("indices", component.size())?;
        let (_, values) = part("values", base.component.size() * base.width)?;
        let indices = Elements {
            place: indices_at.place.clone(),
            component,
            width: 1,
            count,
            normalized: false,
            stride: component.size(),
            data: Some(indices),
            sparse: None,
        };
        let indices = indices.integers::<1, _>(self, |[i]| i)?;
        if let Some(&index) = indices.iter().find(|&&i| i as usize >= base.count) {
            return Err(Fault::new(
                &at.place,
                format!(
                    "{} replaces element {index} of an accessor that has only {}.",
                    at.place, base.count
                ),
            ));
        }
        Ok(Sparse { indices, values })
    }
}

impl Elements {
    /// Keeps the first `count` elements, of which there must be at least as many.
    pub(super) fn shorten(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// The first N components of all elements as floats; normalised integers are mapped to 0..1 or -1..1 (glTF 2.0,
    /// 3.11).
    pub(super) fn floats<const N: usize, T>(
        &self,
        data: &Data<'_>,
        make: impl Fn([f32; N]) -> T,
    ) -> Result<Vec<T>, Fault> {
        self.check_width(N)?;
        data.budget.charge(
            (self.count as u64).saturating_mul(size_of::<T>() as u64),
            &self.place,
        )?;
        Ok(match (self.component, self.normalized) {
            (ComponentType::F32, _) => self.gather(f32::from_le_bytes, make),
            (ComponentType::I8, false) => {
                self.gather(|[b]: [u8; 1]| f32::from(b.cast_signed()), make)
            }
            (ComponentType::I8, true) => self.gather(
                |[b]: [u8; 1]| (f32::from(b.cast_signed()) / 127.0).max(-1.0),
                make,
            ),
            (ComponentType::U8, false) => self.gather(|[b]: [u8; 1]| f32::from(b), make),
            (ComponentType::U8, true) => self.gather(|[b]: [u8; 1]| f32::from(b) / 255.0, make),
            (ComponentType::I16, false) => self.gather(|b| f32::from(i16::from_le_bytes(b)), make),
            (ComponentType::I16, true) => self.gather(
                |b| (f32::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0),
                make,
            ),
            (ComponentType::U16, false) => self.gather(|b| f32::from(u16::from_le_bytes(b)), make),
            (ComponentType::U16, true) => {
                self.gather(|b| f32::from(u16::from_le_bytes(b)) / 65535.0, make)
            }
            (ComponentType::U32, false) => self.gather(|b| u32::from_le_bytes(b) as f32, make),
            (ComponentType::U32, true) => self.gather(
                |b| (f64::from(u32::from_le_bytes(b)) / f64::from(u32::MAX)) as f32,
                make,
            ),
        })
    }

    /// All components of all elements in one array, as [`Elements::floats`].
    pub(super) fn flat_floats(&self, data: &Data<'_>) -> Result<Vec<f32>, Fault> {
        Ok(match self.width {
            1 => self.floats(data, |[x]| x)?,
            2 => self.floats::<2, _>(data, |v| v)?.into_flattened(),
            3 => self.floats::<3, _>(data, |v| v)?.into_flattened(),
            4 => self.floats::<4, _>(data, |v| v)?.into_flattened(),
            9 => self.floats::<9, _>(data, |v| v)?.into_flattened(),
            _ => self.floats::<16, _>(data, |v| v)?.into_flattened(),
        })
    }

    /// The first N components of all elements as integers. Invalid values (negative, not finite) become `u32::MAX`,
    /// which is never a valid index.
    pub(super) fn integers<const N: usize, T>(
        &self,
        data: &Data<'_>,
        make: impl Fn([u32; N]) -> T,
    ) -> Result<Vec<T>, Fault> {
        self.check_width(N)?;
        data.budget.charge(
            (self.count as u64).saturating_mul(size_of::<T>() as u64),
            &self.place,
        )?;
        let signed = |n: i32| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(match self.component {
            ComponentType::U8 => self.gather(|[b]: [u8; 1]| u32::from(b), make),
            ComponentType::U16 => self.gather(|b| u32::from(u16::from_le_bytes(b)), make),
            ComponentType::U32 => self.gather(u32::from_le_bytes, make),
            ComponentType::I8 => self.gather(|[b]: [u8; 1]| signed(b.cast_signed().into()), make),
            ComponentType::I16 => self.gather(|b| signed(i16::from_le_bytes(b).into()), make),
            ComponentType::F32 => self.gather(
                |b| {
                    let x = f32::from_le_bytes(b);
                    if x >= 0.0 { x as u32 } else { u32::MAX }
                },
                make,
            ),
        })
    }

    fn check_width(&self, wanted: usize) -> Result<(), Fault> {
        if self.width >= wanted {
            return Ok(());
        }
        Err(Fault::new(
            &self.place,
            format!(
                "{} has {} components per element, but {wanted} are required.",
                self.place, self.width
            ),
        ))
    }

    /// The decoding loop: S bytes per component, N components of each element.
    fn gather<const S: usize, const N: usize, V, T>(
        &self,
        decode: impl Fn([u8; S]) -> V,
        make: impl Fn([V; N]) -> T,
    ) -> Vec<T> {
        let element = |bytes: &[u8]| {
            let (numbers, _) = bytes.as_chunks::<S>();
            make(std::array::from_fn(|i| decode(numbers[i])))
        };
        let mut out: Vec<T> = match &self.data {
            None => (0..self.count)
                .map(|_| make(std::array::from_fn(|_| decode([0; S]))))
                .collect(),
            Some(data) if self.stride == S * N => data
                .chunks_exact(S * N)
                .take(self.count)
                .map(element)
                .collect(),
            // The last element may end before a full stride.
            Some(data) => (0..self.count)
                .map(|i| element(&data[i * self.stride..][..S * N]))
                .collect(),
        };
        if let Some(sparse) = &self.sparse {
            let values = sparse.values.chunks_exact(S * self.width);
            for (&i, value) in sparse.indices.iter().zip(values) {
                // A shortened accessor may still substitute elements beyond its new end.
                if let Some(out) = out.get_mut(i as usize) {
                    *out = element(value);
                }
            }
        }
        out
    }
}
