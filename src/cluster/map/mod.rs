//! Which points of a mesh are control clusters, in groups, and how the surface between them is interpolated
//! (Bukatov et al. 2014; the paper's kinds of clusters are groups here).
//!
//! Invariant: a point belongs to one group at most; names of groups are distinct.

pub mod gains;

use super::bound_cage::is_slow_to_bind;
use super::cage_mesh::CageMesh;
use super::channel::{BindingError, BindingKind, check_bindings};
use super::controls::CageControls;
use super::data::DataLayer;
use super::drivers::DriverLayer;
use super::group::{Base, ClusterGroup};
use super::interpolation::{Interpolation, PatchOptions};
use super::motion::{ControlMotion, MotionError};
use super::muscles::MuscleLayer;
use super::surface_display::SurfaceDisplay;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The largest number of groups of a mesh.
pub const MAX_GROUPS: usize = 256;

/// How the free points follow the clusters. The paper names no patch; it says "Bezier patch meshes".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchSettings {
    /// The kind of the patches.
    pub interpolation: Interpolation,
    /// The tension of [`Interpolation::Strands`], 0 (Catmull-Rom) - 1.
    pub tension: f64,
    /// Whether tangents follow from the positions of the clusters alone, without the skin around them (mode B).
    pub positions_only: bool,
    /// Whether a displaced cluster tilts the surface at its neighbours.
    pub couples_normals: bool,
}

impl Default for PatchSettings {
    fn default() -> Self {
        Self {
            interpolation: Interpolation::default(),
            tension: 0.0,
            positions_only: false,
            couples_normals: true,
        }
    }
}

impl PatchSettings {
    /// The options of the patches.
    pub fn options(&self) -> PatchOptions {
        PatchOptions {
            interpolation: self.interpolation,
            tension: self.tension,
        }
    }
}

/// Why groups and points are no [`ClusterMap`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MapError {
    /// Two groups have one name.
    #[error("two groups of clusters have the name \"{0}\"")]
    SameName(String),
    /// More groups than [`MAX_GROUPS`].
    #[error("there are {0} groups of clusters; a mesh has at most {MAX_GROUPS}")]
    TooManyGroups(usize),
    /// A point is in two groups.
    #[error("vertex {0} is in two groups of clusters")]
    TwoGroups(u32),
    /// A point is in a group that does not exist.
    #[error("vertex {point} is in group {group} of clusters, but there are {n_groups}")]
    NoGroup {
        /// The point.
        point: u32,
        /// Its group, counted from 0.
        group: u16,
        /// The number of groups.
        n_groups: usize,
    },
    /// A number is out of its range.
    #[error("the tension of the strands is {0}, which is not 0 - 1")]
    Tension(f64),
    /// What is added by hand is not valid.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// A setting of a driver or of data is not valid.
    #[error("the layer \"{name}\": {why}")]
    Layer {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// A lattice or a cage is not valid.
    #[error("the {kind} of the group \"{group}\": {why}")]
    Controls {
        /// "lattice" or "cage".
        kind: &'static str,
        /// The name of the group.
        group: String,
        /// What is wrong.
        why: String,
    },
    /// Bindings of data contradict each other.
    #[error("the data: {0}")]
    Bindings(BindingError),
    /// What is shown of the surface besides its shape is not valid.
    #[error("{0}")]
    Display(String),
    /// A setting of a muscle is out of its range.
    #[error("the muscle \"{name}\": {why}")]
    Muscle {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl MapError {
    /// The point that it is about, if it is about one.
    pub fn point(&self) -> Option<u32> {
        match self {
            Self::TwoGroups(point) | Self::NoGroup { point, .. } => Some(*point),
            Self::Bindings(BindingError::TwoPlaces { vertex, .. }) => Some(*vertex),
            _ => None,
        }
    }

    /// The error with its vertex called `name`, as "vertex 3 of primitive 1", instead of by its point.
    pub fn naming(&self, name: &str) -> String {
        let plain = self.to_string();
        match self.point() {
            Some(point) => plain.replacen(&format!("vertex {point}"), name, 1),
            None => plain,
        }
    }
}

/// The control clusters of a mesh; without any, the deformer stack moves every point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterMap {
    groups: Vec<Arc<ClusterGroup>>,
    /// Points and the indices of their groups, ascending by point.
    clusters: Arc<Vec<(u32, u16)>>,
    settings: PatchSettings,
    display: SurfaceDisplay,
}

impl ClusterMap {
    /// Groups and their points, in any order. Fails where names repeat, or a point is in two groups or in one that does not exist.
    pub fn new(
        groups: Vec<Arc<ClusterGroup>>,
        mut clusters: Vec<(u32, u16)>,
        settings: PatchSettings,
    ) -> Result<Self, MapError> {
        if groups.len() > MAX_GROUPS {
            return Err(MapError::TooManyGroups(groups.len()));
        }
        let mut names = BTreeSet::new();
        if let Some(group) = groups.iter().find(|group| !names.insert(&group.name)) {
            return Err(MapError::SameName(group.name.clone()));
        }
        if !(0.0..=1.0).contains(&settings.tension) {
            return Err(MapError::Tension(settings.tension));
        }
        groups.iter().try_for_each(|group| check_group(group))?;
        let data = groups.iter().flat_map(|group| &group.data);
        check_bindings(data.flat_map(|data| &data.bindings)).map_err(MapError::Bindings)?;
        clusters.sort_unstable();
        clusters.dedup();
        if let Some(pair) = clusters.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(MapError::TwoGroups(pair[0].0));
        }
        let n_groups = groups.len();
        let lost = clusters.iter().find(|(_, g)| usize::from(*g) >= n_groups);
        if let Some(&(point, group)) = lost {
            return Err(MapError::NoGroup {
                point,
                group,
                n_groups,
            });
        }
        Ok(Self {
            groups,
            clusters: Arc::new(clusters),
            settings,
            display: SurfaceDisplay::default(),
        })
    }

    /// The groups, in the order of lists.
    pub fn groups(&self) -> &[Arc<ClusterGroup>] {
        &self.groups
    }

    /// The clusters and the indices of their groups, ascending by point.
    pub fn clusters(&self) -> &[(u32, u16)] {
        &self.clusters
    }

    /// How the free points follow.
    pub fn settings(&self) -> &PatchSettings {
        &self.settings
    }

    /// What is shown of the surface besides its shape.
    pub fn display(&self) -> &SurfaceDisplay {
        &self.display
    }

    /// The map whose surface shows this besides its shape. Fails where the range of colours does not ascend.
    pub fn with_display(self, display: SurfaceDisplay) -> Result<Self, MapError> {
        display.check().map_err(MapError::Display)?;
        Ok(Self { display, ..self })
    }

    /// The group of a point; `None` for a free point.
    pub fn group_of(&self, point: u32) -> Option<u16> {
        let at = self.clusters.binary_search_by_key(&point, |c| c.0).ok()?;
        Some(self.clusters[at].1)
    }

    /// The muscles of all groups, each with the index of its group.
    pub fn muscles(&self) -> impl Iterator<Item = (u16, &MuscleLayer)> {
        let groups = (0u16..).zip(&self.groups);
        groups.flat_map(|(g, group)| group.muscles.iter().map(move |muscle| (g, muscle)))
    }

    /// The number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Whether there is neither a group nor a cluster.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.clusters.is_empty()
    }

    /// Whether it moves points: there are clusters.
    pub fn acts(&self) -> bool {
        !self.clusters.is_empty()
    }

    /// The largest point; `None` without clusters.
    pub fn last_point(&self) -> Option<u32> {
        self.clusters.last().map(|c| c.0)
    }

    /// Whether both mark the same points, whatever their groups: the layout of the patches is the same then.
    pub fn marks_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.clusters, &other.clusters)
            || self.clusters.len() == other.clusters.len()
                && self
                    .clusters
                    .iter()
                    .zip(other.clusters.iter())
                    .all(|(a, b)| a.0 == b.0)
    }

    /// The cages that take long to bind to the clusters of their groups, with the indices of these.
    pub fn slow_cages(&self) -> Vec<(u16, &Arc<CageMesh>)> {
        let caged = (0u16..).zip(&self.groups).filter_map(|(index, group)| {
            let cage = group.cage.as_ref().filter(|_| group.base == Base::Cage)?;
            Some((index, &cage.mesh))
        });
        let mut caged: Vec<_> = caged.collect();
        if !caged.is_empty() {
            let counts = self.counts();
            caged.retain(|(index, mesh)| is_slow_to_bind(mesh, counts[usize::from(*index)]));
        }
        caged
    }

    /// Whether the cages that take long to bind are the same, with the same clusters.
    pub fn binds_same(&self, other: &Self) -> bool {
        let (own, others) = (self.slow_cages(), other.slow_cages());
        let same_clusters = Arc::ptr_eq(&self.clusters, &other.clusters);
        let points = |map: &Self, index: u16| -> Vec<u32> {
            let own = map.clusters.iter().filter(|c| c.1 == index);
            own.map(|c| c.0).collect()
        };
        own.len() == others.len()
            && own.iter().zip(&others).all(|((i, a), (j, b))| {
                i == j
                    && (Arc::ptr_eq(a, b) || a == b)
                    && (same_clusters || points(self, *i) == points(other, *j))
            })
    }

    /// The number of clusters of each group.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.groups.len()];
        for &(_, group) in self.clusters.iter() {
            counts[usize::from(group)] += 1;
        }
        counts
    }

    /// The index of the group of this name.
    pub fn group_named(&self, name: &str) -> Option<u16> {
        let at = self.groups.iter().position(|group| group.name == name)?;
        Some(at as u16)
    }

    /// The map with some points, in any order, in another group; `None` frees them. What a group adds by hand to points that
    /// leave it goes with them to a group that is moved by hand, too, else it is gone. A group that does not exist leaves the
    /// map as it is.
    #[must_use]
    pub fn with_points(&self, points: &[u32], group: Option<u16>) -> Self {
        if group.is_some_and(|g| usize::from(g) >= self.groups.len()) {
            return self.clone();
        }
        let changed: BTreeSet<u32> = points.iter().copied().collect();
        let others = self.clusters.iter().filter(|c| !changed.contains(&c.0));
        let mut clusters: Vec<(u32, u16)> = others.copied().collect();
        if let Some(group) = group {
            clusters.extend(changed.iter().map(|&point| (point, group)));
            clusters.sort_unstable();
        }
        let mut groups = self.groups.clone();
        if let Some(to) = group.filter(|_| self.takes_hand(group)) {
            for (index, known) in (0u16..).zip(&self.groups) {
                let leaves =
                    |point: u32| changed.contains(&point) && self.group_of(point) == Some(index);
                if index != to && displaced_by_hand(known).into_iter().any(leaves) {
                    let to = Arc::make_mut(&mut groups[usize::from(to)]);
                    to.hand = to.hand.with_controls_of(&known.hand, leaves);
                }
            }
        }
        for (index, known) in (0u16..).zip(&mut groups) {
            let leaves = |point: u32| changed.contains(&point) && group != Some(index);
            if !known.hand.is_empty() {
                let hand = known.hand.without_controls(leaves);
                if hand != known.hand {
                    Arc::make_mut(known).hand = hand;
                }
            }
        }
        Self {
            groups,
            clusters: Arc::new(clusters),
            settings: self.settings,
            display: self.display.clone(),
        }
    }

    /// The map whose groups all follow the deformer stack, without layers.
    #[must_use]
    pub fn on_stack(&self) -> Self {
        let mut made = self.clone();
        for (index, group) in made.groups.iter_mut().enumerate() {
            *group = Arc::new(ClusterGroup::new(group.name.clone(), index));
        }
        made
    }

    /// The map with its drivers changed. Where that would make one invalid, its group stays as it is.
    #[must_use]
    pub fn with_drivers(&self, mut change: impl FnMut(&mut DriverLayer)) -> Self {
        let mut made = self.clone();
        for group in &mut made.groups {
            let mut drivers = group.drivers.clone();
            drivers.iter_mut().for_each(&mut change);
            if drivers != group.drivers && drivers.iter().all(|driver| driver.check().is_ok()) {
                Arc::make_mut(group).drivers = drivers;
            }
        }
        made
    }

    /// The map with its muscles changed. Where that would make one invalid, its group stays as it is.
    #[must_use]
    pub fn with_muscles(&self, mut change: impl FnMut(&mut MuscleLayer)) -> Self {
        let mut made = self.clone();
        for group in &mut made.groups {
            let mut muscles = group.muscles.clone();
            muscles.iter_mut().for_each(&mut change);
            let is_valid = muscles.iter().all(|muscle| muscle.settings.check().is_ok());
            if muscles != group.muscles && is_valid {
                Arc::make_mut(group).muscles = muscles;
            }
        }
        made
    }

    /// The points among some whose displacements by hand are gone where they come into a group; `None` frees them.
    pub fn lost_by_hand(&self, points: &[u32], group: Option<u16>) -> Vec<u32> {
        if self.takes_hand(group) {
            return Vec::new();
        }
        let displaced: Vec<BTreeSet<u32>> = self.groups.iter().map(displaced_by_hand).collect();
        let is_lost = |point: &&u32| {
            let known = self.group_of(**point).filter(|known| Some(*known) != group);
            let known = known.and_then(|known| displaced.get(usize::from(known)));
            known.is_some_and(|known| known.contains(*point))
        };
        points.iter().filter(is_lost).copied().collect()
    }

    /// Whether a group keeps the displacements by hand of points that come into it.
    fn takes_hand(&self, group: Option<u16>) -> bool {
        let group = group.and_then(|group| self.groups.get(usize::from(group)));
        group.is_some_and(|group| group.base == Base::Hand)
    }

    /// The map with a group added at the end, or in the place of the group of index `at`. Fails where its name is taken or
    /// there are too many.
    pub fn with_group(&self, at: Option<u16>, group: ClusterGroup) -> Result<Self, MapError> {
        let mut groups = self.groups.clone();
        match at.and_then(|at| groups.get_mut(usize::from(at))) {
            Some(slot) => *slot = Arc::new(group),
            None => groups.push(Arc::new(group)),
        }
        let made = Self::new(groups, Vec::new(), self.settings)?;
        Ok(Self {
            clusters: self.clusters.clone(),
            display: self.display.clone(),
            ..made
        })
    }

    /// The map without a group; its clusters are free.
    #[must_use]
    pub fn without_group(&self, group: u16) -> Self {
        let mut groups = self.groups.clone();
        if usize::from(group) >= groups.len() {
            return self.clone();
        }
        groups.remove(usize::from(group));
        let kept = self.clusters.iter().filter(|c| c.1 != group);
        let clusters = kept.map(|&(point, g)| (point, g - u16::from(g > group)));
        Self {
            groups,
            clusters: Arc::new(clusters.collect()),
            settings: self.settings,
            display: self.display.clone(),
        }
    }

    /// The map with other settings. Fails where a number is out of its range.
    pub fn with_settings(&self, settings: PatchSettings) -> Result<Self, MapError> {
        let made = Self::new(self.groups.clone(), Vec::new(), settings)?;
        Ok(Self {
            clusters: self.clusters.clone(),
            display: self.display.clone(),
            ..made
        })
    }

    /// Bytes that it does not share with another.
    pub fn bytes_beside(&self, other: &Self) -> usize {
        let points = if Arc::ptr_eq(&self.clusters, &other.clusters) {
            0
        } else {
            self.clusters.capacity() * size_of::<(u32, u16)>()
        };
        let groups = self.groups.iter().enumerate().filter(|(_, group)| {
            let mut others = other.groups.iter();
            !others.any(|other| Arc::ptr_eq(group, other))
        });
        let still = ControlMotion::default();
        let groups = groups.map(|(at, g)| {
            let muscles = g.muscles.len() * size_of::<MuscleLayer>();
            let drivers = g.drivers.iter();
            let drivers = drivers.map(|d| size_of::<DriverLayer>() + 16 * d.weights.len());
            let data = g.data.iter();
            let data = data.map(|d| size_of::<DataLayer>() + 256 * d.bindings.len());
            let unplaced = g.unplaced.iter().map(|layer| layer.entry.len());
            let layers = muscles + drivers.sum::<usize>() + data.sum::<usize>();
            let layers = layers + unplaced.sum::<usize>();
            let known = other.groups.get(at);
            let controls = Base::ALL.into_iter().filter_map(|base| {
                let known = known.and_then(|known| known.motion_of(base));
                Some(g.motion_of(base)?.bytes_beside(known.unwrap_or(&still)))
            });
            let known = known.and_then(|known| known.cage.as_ref());
            let is_other =
                |cage: &&Arc<CageControls>| known.is_none_or(|k| !Arc::ptr_eq(&k.mesh, &cage.mesh));
            let cage = g.cage.as_ref().filter(is_other);
            let cage = cage.map_or(0, |cage| 80 * cage.mesh.vertices().len());
            let controls = controls.sum::<usize>() + cage;
            size_of::<ClusterGroup>() + g.name.capacity() + layers + controls
        });
        size_of::<Self>() + points + groups.sum::<usize>()
    }
}

/// Refuses a muscle, a lattice, a cage, a driver or data that is not valid, or contradicts the base of its group. What the
/// bindings of several data layers contradict is [`check_bindings`]'s.
pub fn check_group(group: &ClusterGroup) -> Result<(), MapError> {
    let layer = |name: &str, checked: Result<(), String>| {
        checked.map_err(|why| MapError::Layer {
            name: name.to_owned(),
            why,
        })
    };
    for muscle in &group.muscles {
        muscle.settings.check().map_err(|why| MapError::Muscle {
            name: muscle.name.clone(),
            why,
        })?;
    }
    let lattice = group.lattice.as_ref().map(|lattice| lattice.check());
    let cage = group.cage.as_ref().map(|cage| cage.check());
    for (kind, checked) in [("lattice", lattice), ("cage", cage)] {
        checked
            .unwrap_or(Ok(()))
            .map_err(|why| MapError::Controls {
                kind,
                group: group.name.clone(),
                why,
            })?;
    }
    for driver in &group.drivers {
        layer(&driver.name, driver.check())?;
    }
    for data in &group.data {
        layer(&data.name, data.check())?;
        let mut bindings = data.bindings.iter();
        let placed = bindings.find(|binding| binding.kind == BindingKind::Absolute);
        if let Some(binding) = placed.filter(|_| group.base != Base::Data) {
            let why = format!(
                "\"{}\" is the position of its vertex, which needs Driven by Data in the group \"{}\"; choose that, or \
                 the kind Displacement",
                binding.channel, group.name
            );
            layer(&data.name, Err(why))?;
        }
    }
    Ok(())
}

/// The points that a group displaces by hand at some time.
fn displaced_by_hand(group: &Arc<ClusterGroup>) -> BTreeSet<u32> {
    if group.base == Base::Hand {
        group.hand.displaced()
    } else {
        BTreeSet::new()
    }
}

#[cfg(test)]
mod tests;
