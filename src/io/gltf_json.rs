//! New glTF objects as JSON, typed by `gltf::json`, which defines their names, enums and optional members.
//!
//! Only objects that Sinew adds to a file are made here. Existing objects are patched in the source's own JSON, which
//! keeps unknown members. Two things are not left to the crate, so that equal models always give equal bytes: the order
//! of keys ([`Object::KEYS`]), and floating-point numbers, which the crate stores as f32 and would write with the
//! digits of an f64 (0.1 as 0.10000000149011612). Transforms, bounds and colours are therefore inserted as JSON
//! numbers.

use crate::skeleton::Property;
use ::gltf::json::accessor::{GenericComponentType, Type};
use ::gltf::json::validation::{Checked, USize64};
use ::gltf::json::{Accessor, Animation, Asset, Buffer, Extras, Index, Mesh, Node, Scene, Skin};
use ::gltf::json::{animation, buffer, mesh};
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) use ::gltf::json::accessor::ComponentType;
pub(super) use ::gltf::json::buffer::Target;

/// A type of `gltf::json` with the order of its keys in the files that Sinew writes.
pub(super) trait Object: Serialize {
    /// The keys that are written first, in order.
    const KEYS: &'static [&'static str];
}

impl Object for Asset {
    const KEYS: &'static [&'static str] = &["version", "generator"];
}
impl Object for Accessor {
    const KEYS: &'static [&'static str] = &[
        "bufferView",
        "componentType",
        "normalized",
        "count",
        "type",
        "min",
        "max",
    ];
}
impl Object for buffer::View {
    const KEYS: &'static [&'static str] = &["buffer", "byteOffset", "byteLength", "target"];
}
impl Object for Buffer {
    const KEYS: &'static [&'static str] = &["byteLength"];
}
impl Object for Scene {
    const KEYS: &'static [&'static str] = &["nodes"];
}
impl Object for Node {
    const KEYS: &'static [&'static str] = &["name", "mesh", "skin", "children"];
}
impl Object for Mesh {
    const KEYS: &'static [&'static str] = &["name", "primitives"];
}
impl Object for mesh::Primitive {
    const KEYS: &'static [&'static str] = &["attributes", "material", "indices"];
}
impl Object for Skin {
    const KEYS: &'static [&'static str] = &["name", "inverseBindMatrices", "joints"];
}
impl Object for Animation {
    const KEYS: &'static [&'static str] = &["name", "channels", "samplers"];
}
impl Object for animation::Channel {
    const KEYS: &'static [&'static str] = &["sampler", "target"];
}
impl Object for animation::Sampler {
    const KEYS: &'static [&'static str] = &["input", "output", "interpolation"];
}

/// The members of `object`, in order.
pub(super) fn members<T: Object>(object: &T) -> Map<String, Value> {
    // Only numbers and strings, so serialisation cannot fail.
    let Ok(Value::Object(mut found)) = serde_json::to_value(object) else {
        return Map::new();
    };
    let mut ordered = Map::new();
    for key in T::KEYS {
        if let Some(value) = found.shift_remove(*key) {
            ordered.insert((*key).to_owned(), value);
        }
    }
    ordered.append(&mut found);
    ordered
}

/// `object` as a JSON value, with its members in order.
pub(super) fn value<T: Object>(object: &T) -> Value {
    Value::Object(members(object))
}

/// The typed index of an object in a list.
pub(super) fn at<T>(index: usize) -> Index<T> {
    Index::new(index as u32)
}

/// An accessor without bounds; `view`: `None` for zeros and for data that is not allocated yet.
pub(super) fn accessor(
    view: Option<usize>,
    component: ComponentType,
    kind: Type,
    count: usize,
) -> Accessor {
    Accessor {
        buffer_view: view.map(at),
        byte_offset: None,
        count: USize64::from(count),
        component_type: Checked::Valid(GenericComponentType(component)),
        extensions: None,
        extras: Extras::default(),
        type_: Checked::Valid(kind),
        min: None,
        max: None,
        name: None,
        normalized: false,
        sparse: None,
    }
}

/// A buffer view of `length` bytes from `offset`.
pub(super) fn view(
    buffer: usize,
    offset: usize,
    length: usize,
    target: Option<Target>,
) -> buffer::View {
    buffer::View {
        buffer: at(buffer),
        byte_length: USize64::from(length),
        byte_offset: Some(USize64::from(offset)),
        byte_stride: None,
        name: None,
        target: target.map(Checked::Valid),
        extensions: None,
        extras: Extras::default(),
    }
}

/// A buffer of `length` bytes in the BIN chunk.
pub(super) fn buffer(length: usize) -> Buffer {
    Buffer {
        byte_length: USize64::from(length),
        name: None,
        uri: None,
        extensions: None,
        extras: Extras::default(),
    }
}

/// A channel that animates a property of `node`.
pub(super) fn channel(
    sampler: usize,
    node: usize,
    path: animation::Property,
) -> animation::Channel {
    animation::Channel {
        sampler: at(sampler),
        target: animation::Target {
            extensions: None,
            extras: Extras::default(),
            node: at(node),
            path: Checked::Valid(path),
        },
        extensions: None,
        extras: Extras::default(),
    }
}

/// The path of a channel's target; `None` for what glTF does not animate.
pub(super) fn path_of(property: Property) -> Option<animation::Property> {
    Some(match property {
        Property::Translation => animation::Property::Translation,
        Property::Rotation => animation::Property::Rotation,
        Property::Scale => animation::Property::Scale,
        Property::MorphWeights => animation::Property::MorphTargetWeights,
        Property::Influence(_) => return None,
    })
}

/// The component type with the glTF code `code`.
pub(super) fn component_type(code: u64) -> Option<ComponentType> {
    let all = [
        ComponentType::I8,
        ComponentType::U8,
        ComponentType::I16,
        ComponentType::U16,
        ComponentType::U32,
        ComponentType::F32,
    ];
    all.into_iter().find(|c| u64::from(c.as_gl_enum()) == code)
}

/// The glTF code of a buffer-view target.
pub(super) fn target_code(target: Target) -> u32 {
    match target {
        Target::ArrayBuffer => buffer::ARRAY_BUFFER,
        Target::ElementArrayBuffer => buffer::ELEMENT_ARRAY_BUFFER,
    }
}

/// The glTF name of an accessor type: "VEC3".
pub(super) fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Scalar => "SCALAR",
        Type::Vec2 => "VEC2",
        Type::Vec3 => "VEC3",
        Type::Vec4 => "VEC4",
        Type::Mat2 => "MAT2",
        Type::Mat3 => "MAT3",
        Type::Mat4 => "MAT4",
    }
}

/// The accessor type with the glTF name `name`.
pub(super) fn type_of(name: &str) -> Option<Type> {
    let all = [
        Type::Scalar,
        Type::Vec2,
        Type::Vec3,
        Type::Vec4,
        Type::Mat2,
        Type::Mat3,
        Type::Mat4,
    ];
    all.into_iter().find(|kind| type_name(*kind) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_defaults_are_left_out() {
        let kind = accessor(Some(3), ComponentType::U16, Type::Vec4, 7);
        let text = value(&kind).to_string();
        assert_eq!(
            text,
            r#"{"bufferView":3,"componentType":5123,"count":7,"type":"VEC4"}"#
        );
        let text = value(&channel(1, 2, animation::Property::MorphTargetWeights)).to_string();
        assert_eq!(
            text,
            r#"{"sampler":1,"target":{"node":2,"path":"weights"}}"#
        );
        let text = value(&view(0, 4, 8, Some(Target::ArrayBuffer))).to_string();
        assert_eq!(
            text,
            r#"{"buffer":0,"byteOffset":4,"byteLength":8,"target":34962}"#
        );
        assert_eq!(value(&buffer(9)).to_string(), r#"{"byteLength":9}"#);
    }

    #[test]
    fn names_and_numbers_of_types_lead_back() {
        for name in ["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"] {
            assert_eq!(type_of(name).map(type_name), Some(name));
        }
        for code in 5120..5127 {
            let found = component_type(code).map(|c| u64::from(c.as_gl_enum()));
            assert_eq!(found, (code != 5124).then_some(code));
        }
    }
}
