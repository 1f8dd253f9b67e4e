//! What a sculpting brush does to the active corrective sample.

/// What a sculpting stroke does to the points it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SculptKind {
    /// Moves the points with the pointer.
    #[default]
    Grab,
    /// Moves the points along their normals; Ctrl inwards.
    Inflate,
    /// Moves each point towards the mean of its neighbours.
    Smooth,
    /// Moves each point to where its edges have their shape of bind, rotated with the skin.
    Relax,
    /// Moves the points onto their mean plane; Ctrl away from it.
    Flatten,
    /// Moves the points towards the centre of the brush, along the surface; Ctrl away from it.
    Pinch,
    /// Moves the points with the pointer, along the surface.
    Slide,
    /// Removes the displacements of the sample.
    Erase,
    /// Moves, rotates and scales the selected vertices with the gizmo. Not a brush.
    Vertices,
}

impl SculptKind {
    /// All kinds, in the order of lists.
    pub const ALL: [Self; 9] = [
        Self::Grab,
        Self::Inflate,
        Self::Smooth,
        Self::Relax,
        Self::Flatten,
        Self::Pinch,
        Self::Slide,
        Self::Erase,
        Self::Vertices,
    ];

    /// Those with a brush.
    pub const BRUSHES: [Self; 8] = [
        Self::Grab,
        Self::Inflate,
        Self::Smooth,
        Self::Relax,
        Self::Flatten,
        Self::Pinch,
        Self::Slide,
        Self::Erase,
    ];

    /// The label in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Grab => "Grab",
            Self::Inflate => "Inflate",
            Self::Smooth => "Smooth",
            Self::Relax => "Relax to rest",
            Self::Flatten => "Flatten",
            Self::Pinch => "Pinch",
            Self::Slide => "Slide",
            Self::Erase => "Erase correction",
            Self::Vertices => "Transform vertices",
        }
    }

    /// Whether a drag moves the points of the press, instead of applying a series of dabs.
    pub fn is_drag(self) -> bool {
        matches!(self, Self::Grab | Self::Slide)
    }

    /// The effect of a stroke with Ctrl, where it has another one.
    pub fn inverse(self) -> Option<&'static str> {
        match self {
            Self::Inflate => Some("deflate"),
            Self::Flatten => Some("exaggerate"),
            Self::Pinch => Some("magnify"),
            Self::Grab
            | Self::Smooth
            | Self::Relax
            | Self::Slide
            | Self::Erase
            | Self::Vertices => None,
        }
    }
}
