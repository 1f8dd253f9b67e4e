//! The shared characters that motions are put on.

use sinew::io::open_any;
use sinew::skeleton::Skeleton;
use sinew::task::Task;
use std::path::Path;

/// The six pairs of motions and characters.
pub(crate) const PAIRS: [(&str, &str); 6] = [
    ("cmu_12_01_walk", "mannequiny"),
    ("cmu_12_01_walk", "cesium_man"),
    ("cmu_jumping_jacks", "mannequiny"),
    ("fair_dab", "kaykit_knight"),
    ("makehuman_walk1", "mannequiny"),
    ("rokoko_jesse_dance", "mannequiny"),
];

/// The skeleton of a shared model, and which of its joints move a skin.
pub(crate) fn target(shared: &Path, name: &str) -> (Skeleton, Vec<bool>) {
    let path = shared.join("models").join(name).join(format!("{name}.glb"));
    let document = open_any(&path, &Task::new()).unwrap().document;
    let skeleton = document.skeleton().as_ref().clone();
    let mut is_bone = vec![false; skeleton.len()];
    for skin in document.skins().values() {
        skin.joints
            .iter()
            .for_each(|joint| is_bone[joint.get()] = true);
    }
    (skeleton, is_bone)
}
