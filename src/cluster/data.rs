//! Recorded data as a layer of a group of clusters: markers and scalars move them.

use super::channel::{
    Binding, BindingKind, Played, Recording, Similarity, SimilarityFit, fit_similarity,
};
use super::fade::Fade;
use glam::DVec3;

/// The channels of one recording and the clusters of a group that they move.
#[derive(Clone, Debug, PartialEq)]
pub struct DataLayer {
    /// A label.
    pub name: String,
    /// The recording in the clip.
    pub played: Played,
    /// How the space of its markers becomes that of the scene.
    pub fit: Fit,
    /// The time of the recording at which the model is at rest: there markers are fitted, and displace nothing. `None`: its
    /// first sample.
    pub reference: Option<f64>,
    /// What happens while a channel has no value.
    pub fade: Fade,
    /// What its channels move.
    pub bindings: Vec<Binding>,
    /// Whether it is left out.
    pub muted: bool,
}

/// How the space of markers becomes that of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fit {
    /// The places of the markers are places of the scene.
    None,
    /// A rotation and a translation (Kabsch 1978).
    #[default]
    Rigid,
    /// A rotation, a translation and a scale (Umeyama 1991).
    Similarity,
}

impl Fit {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::None, Self::Rigid, Self::Similarity];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Rigid => "Rotation and translation",
            Self::Similarity => "Rotation, translation and scale",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::None => "The positions of the markers are positions of the scene.",
            Self::Rigid => {
                "Rotates and moves the markers onto their vertices at the reference time. Needs three markers that are not \
                 on a line; fewer are only moved."
            }
            Self::Similarity => {
                "Rotates, moves and scales the markers onto their vertices at the reference time. Needs three markers that \
                 are not on a line; fewer are only moved."
            }
        }
    }

    /// Its name in files and on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rigid => "rigid",
            Self::Similarity => "similarity",
        }
    }
}

impl DataLayer {
    /// An error that names what is not valid, besides what [`super::channel::check_bindings`] finds.
    pub fn check(&self) -> Result<(), String> {
        self.played.check()?;
        self.fade.check()?;
        if let Some(reference) = self.reference {
            super::check::within("the reference time", reference, -1e12, 1e12)?;
        }
        Ok(())
    }

    /// The reference time, seconds of the recording.
    pub fn reference_time(&self, recording: &Recording) -> f64 {
        let first = recording.times.first().copied().unwrap_or(0.0);
        self.reference.unwrap_or(first)
    }

    /// The fit of markers to the rest positions of their vertices: [marker, vertex], metres.
    pub fn similarity(&self, pairs: &[[DVec3; 2]]) -> Similarity {
        let found = self.fitted(pairs);
        found.map_or(Similarity::IDENTITY, |fit| fit.map)
    }

    /// The same with how well it fits; `None` where nothing is fitted.
    pub fn fitted(&self, pairs: &[[DVec3; 2]]) -> Option<SimilarityFit> {
        let is_fitted = self.fit != Fit::None;
        let found = is_fitted.then(|| fit_similarity(pairs, self.fit == Fit::Similarity));
        found?.ok()
    }

    /// Whether a binding puts its cluster somewhere.
    pub fn places(&self) -> bool {
        let mut bindings = self.bindings.iter();
        bindings.any(|binding| binding.kind == BindingKind::Absolute)
    }
}
