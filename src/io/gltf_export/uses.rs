//! Reference counts of accessors and buffer views.

use super::json::{DRACO, INSTANCING, MESHOPT, each, index};
use serde_json::{Map, Value};

/// The numbers of references; 0 for an entry that was already unused in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    pub(super) accessors: Vec<u32>,
    pub(super) views: Vec<u32>,
}

/// Extensions that reference neither accessors nor buffer views, by prefix.
///
/// An unknown extension may reference anything: every integer in it counts as a reference, so that its targets stay
/// unchanged.
const WITHOUT_REFERENCES: [&str; 10] = [
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_node_",
    "KHR_xmp",
    "KHR_mesh_quantization",
    "KHR_animation_pointer",
    "EXT_texture_",
    "EXT_lights_",
    "VRMC_",
];

impl Uses {
    /// Counts the references in a glTF file.
    pub(super) fn count(json: &Value) -> Self {
        let len = |key: &str| json.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        let mut uses = Self {
            accessors: vec![0; len("accessors")],
            views: vec![0; len("bufferViews")],
        };
        for primitive in each(json, "meshes").flat_map(|mesh| each(mesh, "primitives")) {
            uses.accessor(primitive.get("indices"));
            uses.accessors_of(primitive.get("attributes"));
            for target in each(primitive, "targets") {
                uses.accessors_of(Some(target));
            }
        }
        for skin in each(json, "skins") {
            uses.accessor(skin.get("inverseBindMatrices"));
        }
        for sampler in each(json, "animations").flat_map(|clip| each(clip, "samplers")) {
            uses.accessor(sampler.get("input"));
            uses.accessor(sampler.get("output"));
        }
        for accessor in each(json, "accessors") {
            uses.views_of_accessor(accessor, 1);
        }
        for image in each(json, "images") {
            uses.view(image.get("bufferView"), 1);
        }
        uses.extensions(json);
        uses
    }

    /// Adds `change` to the counts of the buffer views that an accessor reads.
    pub(super) fn views_of_accessor(&mut self, accessor: &Value, change: i32) {
        self.view(accessor.get("bufferView"), change);
        for part in ["indices", "values"] {
            let part = accessor.get("sparse").and_then(|sparse| sparse.get(part));
            self.view(part.and_then(|part| part.get("bufferView")), change);
        }
    }

    fn accessor(&mut self, index: Option<&Value>) {
        add(&mut self.accessors, index, 1);
    }

    fn accessors_of(&mut self, map: Option<&Value>) {
        for index in map
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
        {
            self.accessor(Some(index));
        }
    }

    fn view(&mut self, index: Option<&Value>, change: i32) {
        add(&mut self.views, index, change);
    }

    /// Counts the references from extensions, anywhere in the file.
    fn extensions(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.extensions(item)),
            Value::Object(map) => {
                for (key, item) in map {
                    match (key.as_str(), item) {
                        ("extensions", Value::Object(extensions)) => {
                            for (name, extension) in extensions {
                                self.extension(name, extension);
                            }
                        }
                        // Reserved for applications; by the specification, numbers in it are not references.
                        ("extras", _) => {}
                        _ => self.extensions(item),
                    }
                }
            }
            _ => {}
        }
    }

    fn extension(&mut self, name: &str, extension: &Value) {
        match name {
            DRACO => self.view(extension.get("bufferView"), 1),
            INSTANCING => self.accessors_of(extension.get("attributes")),
            // References a buffer; its view is counted with its accessors.
            _ if MESHOPT.contains(&name) => {}
            _ if WITHOUT_REFERENCES.iter().any(|w| name.starts_with(w)) => {}
            _ => self.numbers(extension),
        }
    }

    fn numbers(&mut self, value: &Value) {
        match value {
            Value::Number(_) => {
                self.accessor(Some(value));
                self.view(Some(value), 1);
            }
            Value::Array(items) => items.iter().for_each(|item| self.numbers(item)),
            Value::Object(map) => map.values().for_each(|item| self.numbers(item)),
            _ => {}
        }
    }
}

/// Whether no extension in the file contains numbers of unknown meaning; `besides`: prefixes of further extensions that
/// may reference something.
pub(super) fn is_known_throughout(value: &Value, besides: &[&str]) -> bool {
    fn has_numbers(value: &Value) -> bool {
        match value {
            Value::Number(_) => true,
            Value::Array(items) => items.iter().any(has_numbers),
            Value::Object(map) => map.values().any(has_numbers),
            _ => false,
        }
    }
    let is_known = |name: &str, extension: &Value| {
        let is_named = |names: &[&str]| names.iter().any(|n| name.starts_with(n));
        let known = [DRACO, INSTANCING, MESHOPT[0], MESHOPT[1]];
        !is_named(besides) && (is_named(&known) || is_named(&WITHOUT_REFERENCES))
            || !has_numbers(extension)
    };
    match value {
        Value::Array(items) => items.iter().all(|item| is_known_throughout(item, besides)),
        Value::Object(map) => map.iter().all(|(key, item)| match (key.as_str(), item) {
            ("extensions", Value::Object(extensions)) => {
                extensions.iter().all(|(name, e)| is_known(name, e))
            }
            ("extras", _) => true,
            _ => is_known_throughout(item, besides),
        }),
        _ => true,
    }
}

fn add(counts: &mut [u32], at: Option<&Value>, change: i32) {
    if let Some(count) = index(at).and_then(|i| counts.get_mut(i)) {
        *count = count.saturating_add_signed(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_place_that_refers_is_counted() {
        let json = json!({
            "accessors": [
                {"bufferView": 0}, {"bufferView": 0}, {"sparse": {"indices": {"bufferView": 1},
                "values": {"bufferView": 1}}}, {}, {}, {}],
            "bufferViews": [{}, {}, {}],
            "meshes": [{"primitives": [
                {"attributes": {"POSITION": 0}, "indices": 1, "targets": [{"POSITION": 2}]},
                {"attributes": {"POSITION": 0}, "indices": 99}]}],
            "skins": [{"inverseBindMatrices": 3}],
            "animations": [{"samplers": [{"input": 4, "output": 2}]}],
            "images": [{"bufferView": 2}],
            "nodes": [{"extensions": {"VENDOR_thing": {"list": [5]}}, "extras": {"no": 3}}],
            "materials": [{"extensions": {"KHR_materials_ior": {"ior": 1}}}]
        });
        let uses = Uses::count(&json);
        assert_eq!(uses.accessors, [2, 1, 2, 1, 1, 1]);
        assert_eq!(uses.views, [2, 2, 1]);
    }
}
