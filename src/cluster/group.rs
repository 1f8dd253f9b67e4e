//! A group of control clusters: what moves them, how they are marked, and what is added to them.

use super::controls::{CageControls, LatticeControls};
use super::data::DataLayer;
use super::drivers::DriverLayer;
use super::motion::ControlMotion;
use super::muscles::MuscleLayer;
use super::unplaced::UnplacedLayer;
use glam::DVec3;
use std::sync::Arc;

/// What moves the clusters of a group, before the layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Base {
    /// The whole deformer stack of the mesh with its corrective samples.
    #[default]
    Stack,
    /// Linear blend skinning alone.
    Lbs,
    /// Dual quaternion skinning alone.
    Dqs,
    /// Nothing: they stay where the rest pose of the model has them.
    Fixed,
    /// The whole deformer stack, and what the artist adds by hand: [`ClusterGroup::hand`].
    Hand,
    /// The whole deformer stack, and a lattice of control points: [`ClusterGroup::lattice`].
    Lattice,
    /// The whole deformer stack, and a cage of control points: [`ClusterGroup::cage`].
    Cage,
    /// The markers of recordings; what none is bound to stays where the rest pose of the model has it.
    Data,
}

impl Base {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 8] = [
        Self::Stack,
        Self::Lbs,
        Self::Dqs,
        Self::Fixed,
        Self::Hand,
        Self::Lattice,
        Self::Cage,
        Self::Data,
    ];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stack => "Deformer stack",
            Self::Lbs => "Linear blend",
            Self::Dqs => "Dual quaternion",
            Self::Fixed => "Fixed",
            Self::Hand => "By hand",
            Self::Lattice => "Lattice",
            Self::Cage => "Cage",
            Self::Data => "Data",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::Stack => {
                "The deformer stack of the mesh moves them, with its corrective samples."
            }
            Self::Lbs => "Linear blend skinning moves them, without corrections and samples.",
            Self::Dqs => "Dual quaternion skinning moves them, without corrections and samples.",
            Self::Fixed => "They stay where the rest pose of the model has them.",
            Self::Hand => {
                "The deformer stack moves them, and the gizmo in addition: keyframes in the clip, turning with the skin."
            }
            Self::Lattice => {
                "The deformer stack moves them, and a lattice in addition: a box of control points with keyframes in the clip, \
                 turning with the skin."
            }
            Self::Cage => {
                "The deformer stack moves them, and a cage in addition: a closed mesh of control points with keyframes in the \
                 clip, turning with the skin."
            }
            Self::Data => {
                "The markers of recordings are their positions. Without a marker they stay where the rest pose has them."
            }
        }
    }

    /// Its name in files and on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Stack => "stack",
            Self::Lbs => "lbs",
            Self::Dqs => "dqs",
            Self::Fixed => "fixed",
            Self::Hand => "hand",
            Self::Lattice => "lattice",
            Self::Cage => "cage",
            Self::Data => "data",
        }
    }

    /// Whether the deformer stack moves the clusters before what the base adds.
    pub fn follows_stack(self) -> bool {
        self == Self::Stack || self.has_controls()
    }

    /// Whether control points, which have keyframes, move the clusters: by hand each cluster is one.
    pub fn has_controls(self) -> bool {
        matches!(self, Self::Hand | Self::Lattice | Self::Cage)
    }

    /// Whether the skin does not move it: the rest pose places it, before the layers.
    pub fn is_at_rest(self) -> bool {
        matches!(self, Self::Fixed | Self::Data)
    }

    /// The base of a [`Base::key`].
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|base| base.key() == key)
    }
}

/// The shape that marks the clusters of a group beside their colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Glyph {
    /// ●
    #[default]
    Circle,
    /// ■
    Square,
    /// ◆
    Diamond,
    /// ▲
    Triangle,
    /// ✚
    Cross,
    /// ★
    Star,
}

impl Glyph {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 6] = [
        Self::Circle,
        Self::Square,
        Self::Diamond,
        Self::Triangle,
        Self::Cross,
        Self::Star,
    ];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Circle => "Circle",
            Self::Square => "Square",
            Self::Diamond => "Diamond",
            Self::Triangle => "Triangle",
            Self::Cross => "Cross",
            Self::Star => "Star",
        }
    }
}

/// Clusters that move alike.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterGroup {
    /// A label, distinct in its mesh.
    pub name: String,
    /// sRGB.
    pub colour: [u8; 3],
    /// The shape of its marks.
    pub glyph: Glyph,
    /// What moves its clusters.
    pub base: Base,
    /// Muscles that displace them in addition.
    pub muscles: Vec<MuscleLayer>,
    /// What the artist adds by hand where the base is [`Base::Hand`]: displacements of points, metres of the bind shape at
    /// the size of the world, which turn with the skin.
    pub hand: ControlMotion,
    /// The lattice that moves them where the base is [`Base::Lattice`].
    pub lattice: Option<Arc<LatticeControls>>,
    /// The cage that moves them where the base is [`Base::Cage`].
    pub cage: Option<Arc<CageControls>>,
    /// Drivers that displace them, added to the muscles.
    pub drivers: Vec<DriverLayer>,
    /// Recorded data that displaces or, with [`Base::Data`], places them.
    pub data: Vec<DataLayer>,
    /// What a project has of it and the model has no place for.
    pub unplaced: Vec<UnplacedLayer>,
}

impl ClusterGroup {
    /// The `index`-th group of a mesh, moved by the stack, in a colour and a glyph of its own.
    pub fn new(name: impl Into<String>, index: usize) -> Self {
        /// Of Okabe & Ito 2008: distinct for every kind of colour vision.
        const COLOURS: [[u8; 3]; 7] = [
            [240, 228, 66],
            [0, 158, 115],
            [86, 180, 233],
            [230, 159, 0],
            [204, 121, 167],
            [213, 94, 0],
            [0, 114, 178],
        ];
        Self {
            name: name.into(),
            colour: COLOURS[index % COLOURS.len()],
            glyph: Glyph::ALL[index % Glyph::ALL.len()],
            base: Base::default(),
            muscles: Vec::new(),
            hand: ControlMotion::default(),
            lattice: None,
            cage: None,
            drivers: Vec::new(),
            data: Vec::new(),
            unplaced: Vec::new(),
        }
    }

    /// The displacements of the control points of its base; `None` for a base without, and without its lattice or cage.
    pub fn motion(&self) -> Option<&ControlMotion> {
        self.motion_of(self.base)
    }

    /// The displacements of the control points that a base would have.
    pub fn motion_of(&self, base: Base) -> Option<&ControlMotion> {
        match base {
            Base::Hand => Some(&self.hand),
            Base::Lattice => self.lattice.as_ref().map(|lattice| &lattice.motion),
            Base::Cage => self.cage.as_ref().map(|cage| &cage.motion),
            Base::Stack | Base::Lbs | Base::Dqs | Base::Fixed | Base::Data => None,
        }
    }

    /// The group with other displacements of the control points of a base; without such control points, as it is.
    #[must_use]
    pub fn with_motion(&self, base: Base, motion: ControlMotion) -> Self {
        let mut group = self.clone();
        match base {
            Base::Hand => group.hand = motion,
            Base::Lattice => {
                if let Some(lattice) = &mut group.lattice {
                    Arc::make_mut(lattice).motion = motion;
                }
            }
            Base::Cage => {
                if let Some(cage) = &mut group.cage {
                    Arc::make_mut(cage).motion = motion;
                }
            }
            Base::Stack | Base::Lbs | Base::Dqs | Base::Fixed | Base::Data => {}
        }
        group
    }

    /// The control points of its lattice or cage at rest, mesh space, where that is its base; else none.
    pub fn controls_at_rest(&self) -> Vec<DVec3> {
        let rest = match self.base {
            Base::Lattice => self.lattice.as_ref().map(|lattice| lattice.settings.rest()),
            Base::Cage => self.cage.as_ref().map(|cage| cage.mesh.vertices().to_vec()),
            _ => None,
        };
        rest.unwrap_or_default()
    }

    /// The lines between them.
    pub fn control_lines(&self) -> Vec<[u32; 2]> {
        let lines = match self.base {
            Base::Lattice => self
                .lattice
                .as_ref()
                .map(|lattice| lattice.settings.lines()),
            Base::Cage => self.cage.as_ref().map(|cage| cage.mesh.lines()),
            _ => None,
        };
        lines.unwrap_or_default()
    }
}
