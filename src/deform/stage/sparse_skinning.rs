//! Stages 2 to 5 where control clusters follow: only of the points that stages 7 to 9 read. The free points have their
//! places from the patches, whatever these stages make of them.

use super::changed::Changed;
use super::gathered::{Gathered, Points};
use super::key::{Identity, LastKey, refill};
use super::left_out::leaves_out;
use super::run::{Run, Stage};
use crate::cluster::MeshLayout;
use crate::cluster::procedural::{DriverInput, DriverPoint};
use crate::deform::DeformInput;
use glam::Vec3;

/// The skinned and corrected shape of an instance whose free points follow patches, world space. Free points that no driver
/// reads stay where they once were.
#[derive(Default)]
pub(super) struct SparseSkinning {
    key: LastKey<Key>,
    /// The points, ascending.
    points: Vec<u32>,
    gathered: Gathered,
    shape: Vec<Vec3>,
}

/// What the points and their caches depend on, besides bind positions, influences and painted maps.
#[derive(Default, PartialEq)]
struct Key {
    layout: Identity<MeshLayout>,
    /// The vertices that drivers read.
    driving: Vec<u32>,
    /// The order of the joints in cooked influences.
    order: Vec<u32>,
}

impl Stage for SparseSkinning {
    fn acts(run: &Run<'_>) -> bool {
        leaves_out(run)
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let input = run.input;
        let layout = input.clusters.map(|clusters| clusters.layout);
        let is_new = self.key.replace(|old| Key {
            layout: Identity::of(layout),
            driving: refill(old.driving, driving(input)),
            order: refill(old.order, input.cooked.order().iter().copied()),
        });
        if is_new && let (Some(layout), Some(key)) = (layout, self.key.known()) {
            self.points = read(layout, &key.driving, before.len());
            let bind = self.points.iter().map(|&p| before[p as usize]).collect();
            self.gathered = Gathered::new(bind, &Points(&self.points), input);
            self.shape.clear();
            self.shape.extend_from_slice(before);
        } else if changed != Changed::Nothing {
            for (bind, &point) in self.gathered.bind_mut().iter_mut().zip(&self.points) {
                *bind = before[point as usize];
            }
        }
        let is_new = is_new || changed != Changed::Nothing;
        let (points, gather) = (&self.points, Points(&self.points));
        let moved = self.gathered.run(run, input.stack, &gather, is_new);
        let places = self.gathered.shape();
        match moved {
            Changed::Nothing => Changed::Nothing,
            Changed::Points(mut moved) => {
                for index in &mut moved {
                    let i = *index as usize;
                    *index = points[i];
                    self.shape[points[i] as usize] = places[i];
                }
                Changed::Points(moved)
            }
            Changed::All => {
                for (&point, place) in points.iter().zip(places) {
                    self.shape[point as usize] = *place;
                }
                Changed::All
            }
        }
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}

/// The vertices of the mesh that drivers read.
fn driving<'a>(input: &DeformInput<'a>) -> impl Iterator<Item = u32> + use<'a> {
    let map = input.clusters.map(|clusters| clusters.map);
    let drivers = map.into_iter().flat_map(|map| map.drivers());
    let points = drivers.flat_map(|(_, driver)| match &driver.settings.input {
        DriverInput::Distance { a, b } => [Some(*a), Some(*b)],
        _ => [None, None],
    });
    points.flatten().filter_map(|point| match point {
        DriverPoint::Vertex(point) => Some(point),
        DriverPoint::Joint(_) => None,
    })
}

/// The points that later stages read, ascending: all but the free ones, and those that drivers read.
fn read(layout: &MeshLayout, driving: &[u32], n_points: usize) -> Vec<u32> {
    let mut is_read = vec![true; n_points];
    for free in &layout.layout().free {
        for &point in layout.surface().points_of_vertex(free.vertex) {
            is_read[point as usize] = false;
        }
    }
    for &point in driving {
        if let Some(is_read) = is_read.get_mut(point as usize) {
            *is_read = true;
        }
    }
    let points = (0u32..).zip(is_read);
    points.filter(|(_, read)| *read).map(|(p, _)| p).collect()
}
