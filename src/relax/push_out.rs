//! Pushing a surface out of itself, with its shape otherwise kept.

use super::contact::{Contact, Contacts};
use super::neighbourhood::Neighbourhood;
use super::region::Region;
use super::settings::RelaxSettings;
use super::solve::{add_contacts, solve_places, with_contacts};
use crate::math::sparse::{Factor, FactorError};
use crate::task::Task;
use glam::DVec3;

/// It stops when no contact is deeper than this fraction of its gap.
const DEPTH: f64 = 0.1;

/// Or after this many iterations.
const ITERATIONS: usize = 100;

/// A contact asks for no more than this in one iteration, in radii: a deep fold opens from its rim instead of creasing.
const STEP: f64 = 0.05;

/// Points that move by less than this stay where they are, in radii.
const NEGLIGIBLE: f64 = 1e-4;

/// The offset of each free point that moves, ascending, that takes the surface at `x` (n_points) out of itself.
///
/// The offsets u minimise `sum_ij w_ij |u_i - u_j|^2 + D zeta sum_i |u_i|^2 + k D sum_contacts |...|^2`, with the cotangent
/// weights w of the surface at bind: a Laplacian deformation (Botsch & Sorkine 2008) that spreads what the contacts ask
/// for, whichever shape the surface has. Fails when it is cancelled.
pub fn push_out(
    around: &Neighbourhood,
    region: &Region,
    x: &[DVec3],
    settings: &RelaxSettings,
    task: &Task,
) -> Result<Vec<(u32, DVec3)>, FactorError> {
    let Some(&first) = region.free.first() else {
        return Ok(Vec::new());
    };
    // Numbers around the origin keep their digits.
    let origin = x[first as usize];
    let start: Vec<DVec3> = x.iter().map(|place| *place - origin).collect();
    let mut places = start.clone();
    let mut offsets = vec![DVec3::ZERO; x.len()];
    let mut system = region.laplacian.clone();
    system.add_diagonal(&vec![settings.pull * region.scale; region.free.len()]);
    let strength = settings.contact * region.scale;
    let mut contacts = Contacts::new(around, region, settings, &places);
    for iteration in 0..ITERATIONS {
        task.step(
            "Pushing the skin apart",
            iteration as f32 / ITERATIONS as f32,
        )?;
        let mut found = contacts.find(&places, &around.surface.normals(&places));
        let is_deep =
            |contact: &Contact| contact.missing(&places) > DEPTH * settings.gap * around.radius;
        if !found.iter().any(is_deep) {
            break;
        }
        for contact in &mut found {
            let missing = contact.missing(&places);
            contact.gap -= (missing - STEP * around.radius).max(0.0);
        }
        let factor = Factor::new(with_contacts(&system, region, &found, strength), task)?;
        let mut b = vec![DVec3::ZERO; region.free.len()];
        let unknown = |p: u32| offsets[p as usize];
        add_contacts(region, &found, strength, &places, unknown, &mut b);
        for (&p, offset) in region.free.iter().zip(solve_places(&factor, &b)) {
            offsets[p as usize] = offset;
            places[p as usize] = start[p as usize] + offset;
        }
    }
    let moved = region.free.iter().map(|&p| (p, offsets[p as usize]));
    Ok(moved
        .filter(|(_, offset)| offset.length() >= NEGLIGIBLE * around.radius)
        .collect())
}
