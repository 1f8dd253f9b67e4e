//! Stable ids of the document's items. For imported items they equal the glTF index.

pub use crate::skeleton::ClipId;
pub use crate::skeleton::library_pose::PoseId;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
    };
}

id!(
    /// A mesh; the glTF mesh index for imported ones.
    MeshId
);
id!(
    /// A skin; the glTF skin index for imported ones.
    SkinId
);
id!(
    /// A node that draws a mesh; the glTF node index for imported ones.
    InstanceId
);
id!(
    /// A layer of weights, within its mesh; 0 is the base.
    LayerId
);
