//! Where a surface touches or passes through itself.

use super::neighbourhood::Neighbourhood;
use super::region::{HELD, Region};
use super::settings::RelaxSettings;
use super::winding::Winding;
use crate::mesh::box_tree::{Bounds, BoxTree};
use crate::mesh::triangle::{closest, normal};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The cosine of two normals above which their places do not face each other.
const FACING: f64 = -0.1;

/// How far outside of its surface a point asks whether it is inside of the shell, in edges.
const LIFT: f64 = 0.05;

/// Two sides of a thin part are no farther apart at bind than this many times the reach of contacts.
const THIN: f64 = 2.5;

/// A point that touches a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contact {
    /// The point, and the corners of the triangle.
    pub(super) points: [u32; 4],
    /// 1, and the negative weights of the closest place of the triangle.
    pub(super) weights: [f64; 4],
    /// The direction from the triangle to the point, unit.
    pub(super) direction: DVec3,
    /// The distance in this direction that it is to have, metres.
    pub(super) gap: f64,
}

impl Contact {
    /// What is missing to the gap, along the direction: 0 where there is enough.
    pub(super) fn missing(&self, x: &[DVec3]) -> f64 {
        let apart = self.sum(|p| x[p as usize]).dot(self.direction);
        (self.gap - apart).max(0.0)
    }

    /// The weighted sum over its points.
    pub(super) fn sum(&self, of: impl Fn(u32) -> DVec3) -> DVec3 {
        let terms = self.points.into_iter().zip(self.weights);
        terms.map(|(p, weight)| of(p) * weight).sum()
    }

    /// Its free points (by their number among them) with their weights.
    pub(super) fn free<'a>(
        &'a self,
        region: &'a Region,
    ) -> impl Iterator<Item = (u32, f64)> + Clone + 'a {
        let numbered = self.points.into_iter().zip(self.weights);
        let numbered = numbered.map(|(p, weight)| (region.free_index[p as usize], weight));
        numbered.filter(|(index, _)| *index != HELD)
    }
}

/// The near triangles at a shape.
struct Faces<'a> {
    normals: &'a [DVec3],
    /// One for each node of the tree: the box around the normals below it. Most of the skin faces the way a point of it
    /// does, and is not searched.
    directions: Vec<Bounds>,
}

/// The search for contacts in a region.
pub(super) struct Contacts<'a> {
    around: &'a Neighbourhood,
    region: &'a Region,
    settings: RelaxSettings,
    /// Of the region's near triangles.
    tree: BoxTree,
    bind_normals: Vec<DVec3>,
    reach: f64,
    /// Of the shells where it was needed, refitted as they move.
    windings: BTreeMap<u32, Winding>,
}

impl<'a> Contacts<'a> {
    /// The search at shapes like `x`, n_points.
    pub(super) fn new(
        around: &'a Neighbourhood,
        region: &'a Region,
        settings: &RelaxSettings,
        x: &[DVec3],
    ) -> Self {
        let triangles = &around.surface.triangles;
        let near = &region.near_triangles;
        let bounds =
            |i: u32| Bounds::around(triangles[near[i as usize] as usize].map(|p| x[p as usize]));
        Self {
            around,
            region,
            settings: *settings,
            tree: BoxTree::new(near.len(), bounds),
            bind_normals: around.surface.normals(&around.surface.bind),
            reach: (settings.contact_reach * around.radius).max(2.0 * region.edge),
            windings: BTreeMap::new(),
        }
    }

    /// The contacts at `x` with these normals, in order of their points.
    pub(super) fn find(&mut self, x: &[DVec3], normals: &[DVec3]) -> Vec<Contact> {
        let triangles = &self.around.surface.triangles;
        let near = &self.region.near_triangles;
        self.tree
            .refit(|i| Bounds::around(triangles[near[i as usize] as usize].map(|p| x[p as usize])));
        let this = &*self;
        let faces = near.par_iter().with_min_len(256);
        let faces: Vec<DVec3> = faces
            .map(|&t| normal(triangles[t as usize].map(|p| x[p as usize])))
            .collect();
        let of_face = |i: u32| Bounds::around([faces[i as usize]]);
        let faces = Faces {
            directions: this.tree.sums(of_face, Bounds::join),
            normals: &faces,
        };
        let points = this.region.near.par_iter().with_min_len(64);
        let found: Vec<(Contact, f64)> = points
            .filter_map(|&p| this.of_point(p, x, normals, &faces))
            .collect();
        let has_test = self.settings.inside_test;
        let is_behind = |signed: f64| signed < 0.0 && has_test;
        let behind = found.iter().filter(|(_, signed)| is_behind(*signed));
        let shells = behind.map(|(c, _)| self.around.surface.shells[c.points[0] as usize]);
        let shells: BTreeSet<u32> = shells.collect();
        self.wind(&shells, x);
        let this = &*self;
        let is_real = |&(contact, signed): &(Contact, f64)| {
            if !is_behind(signed) {
                return true;
            }
            let p = contact.points[0];
            let place = x[p as usize] + normals[p as usize] * (LIFT * this.region.edge);
            let shell = this.around.surface.shells[p as usize];
            this.windings
                .get(&shell)
                .is_some_and(|winding| winding.at(place) > 0.5)
        };
        let real = found.into_par_iter().with_min_len(16).filter(is_real);
        real.map(|(contact, _)| contact).collect()
    }

    /// Brings the winding numbers of shells to `x`.
    fn wind(&mut self, shells: &BTreeSet<u32>, x: &[DVec3]) {
        for shell in shells {
            let Some(closed) = self.region.near_shells.get(shell) else {
                continue;
            };
            let known = self.windings.entry(*shell);
            known
                .and_modify(|winding| winding.refit(closed, x))
                .or_insert_with(|| Winding::new(closed, x));
        }
    }

    /// What a point is closer to than the gap, and its signed distance.
    fn of_point(
        &self,
        p: u32,
        x: &[DVec3],
        normals: &[DVec3],
        faces: &Faces<'_>,
    ) -> Option<(Contact, f64)> {
        let surface = &self.around.surface;
        let corners_of =
            |i: u32| surface.triangles[self.region.near_triangles[i as usize] as usize];
        let (here, own) = (x[p as usize], normals[p as usize]);
        let own_is_free = self.region.is_free(p);
        let measure = |i: u32, best: f64| {
            // The cheapest test, which most neighbours fail, comes first.
            if own.dot(faces.normals[i as usize]) >= FACING {
                return None;
            }
            let corners = corners_of(i);
            let can_move = own_is_free || corners.iter().any(|&q| self.region.is_free(q));
            if !can_move
                || surface.shells[corners[0] as usize] != surface.shells[p as usize]
                || corners.iter().any(|&q| q == p || surface.is_linked(p, q))
            {
                return None;
            }
            let places = corners.map(|q| x[q as usize]);
            let distance = closest(here, places).place.distance_squared(here);
            (distance <= best && !self.is_thin(p, corners)).then_some(distance)
        };
        let may_face = |node: usize| faces.directions[node].least_dot(own) < FACING;
        let i = self
            .tree
            .nearest_where(here, self.reach, may_face, measure)?;
        let corners = corners_of(i);
        let places = corners.map(|q| x[q as usize]);
        let (face, on) = (faces.normals[i as usize], closest(here, places));
        let offset = here - on.place;
        let along = face.dot(offset);
        // Beside the face in front of it, the distance to its edge counts.
        let (signed, direction) = if on.is_inside || along <= 0.0 {
            (along, face)
        } else {
            (offset.length(), offset.normalize_or(face))
        };
        let bind = corners.map(|q| surface.bind[q as usize]);
        let at_bind = surface.bind[p as usize];
        let bind_distance = closest(at_bind, bind).place.distance(at_bind);
        let gap = (self.settings.gap * self.around.radius).min(0.5 * bind_distance);
        if signed >= gap {
            return None;
        }
        let [a, b, c] = corners;
        let [u, v, w] = on.barycentric;
        let contact = Contact {
            points: [p, a, b, c],
            weights: [1.0, -u, -v, -w],
            direction,
            gap,
        };
        Some((contact, signed))
    }

    /// Whether a point and a triangle are two sides of a thin part at bind, such as an ear.
    fn is_thin(&self, p: u32, corners: [u32; 3]) -> bool {
        let bind = &self.around.surface.bind;
        let places = corners.map(|q| bind[q as usize]);
        let face = normal(places);
        if self.bind_normals[p as usize].dot(face) >= 0.0 {
            return false;
        }
        let offset = bind[p as usize] - closest(bind[p as usize], places).place;
        face.dot(offset) < 0.0 && offset.length() < THIN * self.reach
    }
}
