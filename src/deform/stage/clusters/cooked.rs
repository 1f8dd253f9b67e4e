//! The data of the cluster stage that does not depend on the pose: corners, patches, bases, layers and anchors.

use super::bases::{Bases, adds};
use super::corners::Corners;
use super::layers::Layers;
use crate::cluster::{AnchorFits, Base, ClusterMap, MeshLayout, Patches};
use crate::deform::stage::changed::Changed;
use crate::deform::stage::key::{Identity, LastKey, refill};
use crate::deform::stage::run::Run;

/// Computed from the layout and the bind shape.
pub(super) struct Cooked {
    pub(super) corners: Corners,
    pub(super) patches: Patches,
    pub(super) bases: Bases,
    pub(super) layers: Layers,
    /// Without a skin: the clusters that the anchors follow.
    pub(super) anchors: Option<AnchorFits>,
    /// The points at corners, ascending.
    pub(super) placed: Vec<Placed>,
    /// The points of parts without a cluster, ascending.
    pub(super) excluded: Vec<u32>,
}

/// A point at a corner.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) point: u32,
    pub(super) corner: u32,
    /// Whether it is the corner's own point, not another one at its place.
    pub(super) is_own: bool,
}

/// [`Cooked`], and what it was made of.
#[derive(Default)]
pub(super) struct CookedCache {
    key: LastKey<Key>,
    map: Identity<ClusterMap>,
    cooked: Option<Cooked>,
}

/// What everything cooked depends on, besides the morphed bind shape and the map.
#[derive(Default, PartialEq)]
struct Key {
    layout: Identity<MeshLayout>,
    /// Bits of the unit of the mesh.
    unit: u64,
    /// The order of the joints in cooked influences.
    order: Vec<u32>,
    has_skin: bool,
    adds: bool,
}

impl CookedCache {
    /// What is cooked, to be used in a run and given back.
    pub(super) fn take(&mut self) -> Option<Cooked> {
        self.cooked.take()
    }

    /// Gives back what was taken.
    pub(super) fn give(&mut self, cooked: Cooked) {
        self.cooked = Some(cooked);
    }

    /// What is cooked; `None` before the first run.
    pub(super) fn cooked(&self) -> Option<&Cooked> {
        self.cooked.as_ref()
    }

    /// Brings what is cooked up to date. Returns whether every corner may move otherwise.
    pub(super) fn cook(&mut self, run: &Run<'_>) -> bool {
        let input = run.input;
        let Some(clusters) = input.clusters else {
            self.cooked = None;
            return true;
        };
        let (layout, map) = (clusters.layout, clusters.map);
        let unit = unit(run);
        let is_new = self.key.replace(|old| Key {
            layout: Identity::of(Some(layout)),
            unit: unit.to_bits(),
            order: refill(old.order, input.cooked.order().iter().copied()),
            has_skin: input.skin.is_some(),
            adds: adds(input),
        });
        let new_bind = is_new || run.bind.changed() != Changed::Nothing;
        let mut known = self.cooked.take();
        // Morph targets leave control points bound as they are.
        let controls = known.as_mut().filter(|_| new_bind && !is_new);
        let controls = controls.map(|known| std::mem::take(&mut known.layers).into_controls());
        let known = known.filter(|_| !new_bind);
        let new_map = !self.map.is(Some(map));
        let before = std::mem::replace(&mut self.map, Identity::of(Some(map)));
        let options = map.settings().options();
        let Some(mut cooked) = known else {
            let corners = Corners::new(layout, map, run.bind.shape(), unit);
            let patches = Patches::new(&corners.surface, layout.layout(), options);
            let has_skin = input.skin.is_some();
            let anchors = || AnchorFits::new(&corners.surface, layout.layout());
            self.cooked = Some(Cooked {
                bases: Bases::new(run, &corners, map),
                layers: Layers::new(
                    run,
                    &corners,
                    patches.net(),
                    map,
                    controls.unwrap_or_default(),
                ),
                anchors: (!has_skin).then(anchors),
                placed: placed(&patches, &corners),
                excluded: excluded(&patches, &corners),
                patches,
                corners,
            });
            return true;
        };
        let mut all = false;
        if !new_map && !cooked.layers.fit(run) {
            cooked.renew_layers(run, map);
            all = true;
        }
        if new_map {
            all = before
                .value()
                .is_none_or(|before| before.settings() != map.settings());
            if cooked.patches.options() != options {
                let surface = &cooked.corners.surface;
                cooked.patches = Patches::new(surface, layout.layout(), options);
            }
            let points = layout.groups(map);
            let bases = |points: &[(u32, Option<u16>)], of: &ClusterMap| {
                let base = |&(point, group): &(u32, Option<u16>)| {
                    let group = group.and_then(|g| of.groups().get(usize::from(g)));
                    (point, group.map_or(Base::Stack, |group| group.base))
                };
                points.iter().map(base).collect::<Vec<_>>()
            };
            let same = before
                .value()
                .is_some_and(|before| bases(&cooked.corners.points, before) == bases(&points, map));
            cooked.corners.points = points;
            cooked.layers.take_controls(&cooked.corners, map);
            let layered = |of: &ClusterMap| of.muscles().next().is_some() || of.has_driven();
            let had = before.value().is_none_or(|before| layered(before));
            // Their clusters may have changed groups.
            if layered(map) || cooked.layers.act_besides_controls() || had {
                cooked.renew_layers(run, map);
                all = true;
            }
            if !same {
                cooked.bases = Bases::new(run, &cooked.corners, map);
                all = true;
            }
        }
        self.cooked = Some(cooked);
        all
    }
}

impl Cooked {
    /// Makes the layers again on the same corners.
    fn renew_layers(&mut self, run: &Run<'_>, map: &ClusterMap) {
        let controls = std::mem::take(&mut self.layers).into_controls();
        let net = self.patches.net();
        self.layers = Layers::new(run, &self.corners, net, map, controls);
    }
}

/// The points at corners, ascending.
fn placed(patches: &Patches, corners: &Corners) -> Vec<Placed> {
    let numbered = (0u32..).zip(&patches.net().corners);
    let mut placed: Vec<Placed> = numbered
        .flat_map(|(corner, &vertex)| {
            let own = corners.points[corner as usize].0;
            let points = corners.surface.points_of_vertex(vertex).iter();
            points.map(move |&point| Placed {
                point,
                corner,
                is_own: point == own,
            })
        })
        .collect();
    placed.sort_unstable_by_key(|placed| placed.point);
    placed
}

/// The points that neither are at corners nor follow patches, ascending.
fn excluded(patches: &Patches, corners: &Corners) -> Vec<u32> {
    let mut is_corner = vec![false; corners.surface.n_points()];
    for placed in placed(patches, corners) {
        is_corner[placed.point as usize] = true;
    }
    let points = (0u32..).zip(is_corner);
    let points = points.filter(|(point, is_corner)| !is_corner && !patches.is_free(*point));
    points.map(|(point, _)| point).collect()
}

/// Metres of the world in one unit of the mesh.
fn unit(run: &Run<'_>) -> f64 {
    if run.input.skin.is_some() {
        return run.skin.palette().unit_scale();
    }
    let rest = run.input.rest_world.get(run.input.node.get());
    let unit = rest.map_or(1.0, |m| m.matrix3.determinant().abs().cbrt());
    if unit > 0.0 && unit.is_finite() {
        unit
    } else {
        1.0
    }
}
