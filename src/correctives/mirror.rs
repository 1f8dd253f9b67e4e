//! Corrective samples on the other side of the body.
//!
//! With M the reflection in the mirror plane, O and O' the rest orientations of a driver joint and its counterpart, a
//! rotation from rest in the joint's own space becomes `B q B^-1`, `B = O'^T M O`, and the displacement d of a point
//! becomes M d of its counterpart: the mirrored pose has the mirrored shape.

use super::edit_of;
use crate::deform::Correctives;
use crate::deform::correctives::{
    CapturedOver, Driver, Sample, SampleSet, SampleVertices, SkinBase,
};
use crate::document::subject::SubjectScope;
use crate::document::{Document, Edit, MeshId};
use crate::finding::counted;
use crate::math::transform::normalize_or_identity;
use crate::mesh::{Mesh, Symmetry};
use crate::psd::Displacements;
use crate::skeleton::JointId;
use crate::skeleton::mirror::Mirror;
use crate::skeleton::orientation::rotation_in_space;
use crate::task::Task;
use crate::weights::operation::{Mirroring, OperationError};
use crate::weights::{JointPairs, Subject};
use glam::{DMat3, DQuat, DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Two poses of the drivers that are closer are one, as in the solve.
const SAME: f64 = 1e-3;

/// The result of [`mirror`].
#[derive(Clone, Debug)]
pub struct Mirrored {
    /// The edit; `None` where there is nothing to mirror, or the other side has the images already.
    pub edit: Option<Edit>,
    /// The number of samples that have an image now.
    pub n_mirrored: usize,
    /// Vertices that a sample moves and that have no counterpart.
    pub n_unmatched: usize,
}

impl Mirrored {
    /// "3 samples mirrored, 12 vertices without a counterpart".
    pub fn summary(&self) -> String {
        if self.edit.is_none() && self.n_mirrored > 0 {
            return "The samples of both sides are images of each other. Nothing changed.".into();
        }
        let unmatched = match self.n_unmatched {
            0 => String::new(),
            n => format!(", {} without a counterpart", counted(n, "vertex")),
        };
        format!(
            "{} mirrored{unmatched}.",
            counted(self.n_mirrored, "sample")
        )
    }
}

/// Copies samples of a mesh to the other side, or exchanges the two sides (`flips`).
///
/// Drivers become their counterparts: a set with those drivers receives the images, else a new set. Where both sides have
/// chosen samples, those of the given side are copied. An image replaces the sample at its pose. Where a pose is its own image, as of a spine that bends forwards, its given side is copied to the
/// other. Fails with a sentence, and nothing changes, where a driver has no counterpart, or the counterparts belong to
/// different sets.
pub fn mirror(
    document: &Document,
    mesh: MeshId,
    samples: &BTreeSet<usize>,
    mirroring: Mirroring,
    flips: bool,
    task: &Task,
) -> Result<Mirrored, OperationError> {
    let refused = OperationError::Refused;
    let parts = document.subject_to_read(mesh, SubjectScope::default());
    let parts = parts.map_err(refused)?;
    let subject = parts.view();
    let symmetry = subject.symmetry(mirroring.axis, mirroring.tolerance, task)?;
    let item = &document.meshes()[&mesh];
    let sides = Sides::new(document, &subject, mirroring);
    let mut mirrorer = Mirrorer {
        mesh: &item.geometry,
        sides: &sides,
        symmetry: &symmetry,
        mirroring,
        before: item.correctives.sets(),
        base: document.skin_base(mesh),
        unmatched: BTreeSet::new(),
    };
    let pairs = mirrorer.pairs(samples, flips).map_err(refused)?;
    task.check().map_err(OperationError::from)?;
    let n_mirrored = pairs.len();
    let sets = mirrorer.apply(&pairs, flips).map_err(refused)?;
    let n_unmatched = mirrorer.unmatched.len();
    let edit = if pairs.is_empty() {
        None
    } else {
        let made = Correctives::new(sets);
        let made =
            made.map_err(|why| OperationError::Refused(format!("Nothing changed: {why}.")))?;
        (made != *item.correctives).then(|| edit_of(document, mesh, made))
    };
    Ok(Mirrored {
        edit,
        n_mirrored,
        n_unmatched,
    })
}

/// Whether the driver joints of a set of a mesh are on the positive side of the mirror plane; `None` where they are on
/// neither side, or there is no such set.
pub fn is_on_positive_side(
    document: &Document,
    mesh: MeshId,
    set: usize,
    mirroring: Mirroring,
) -> Option<bool> {
    let parts = document
        .subject_to_read(mesh, SubjectScope::default())
        .ok()?;
    let set = document.meshes().get(&mesh)?.correctives.sets().get(set)?;
    let sides = Sides::new(document, &parts.view(), mirroring);
    let across = sides.across(set);
    let largest = sides
        .across
        .iter()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    (across.abs() > 1e-3 * largest).then_some(across > 0.0)
}

/// The counterparts of joints, and how rotations are carried to them.
struct Sides<'a> {
    document: &'a Document,
    mirror: Mirror,
    pairs: &'a JointPairs,
    /// The reflection of world directions.
    reflection: DMat3,
    /// n_joints: the rest position along the normal of the plane, world.
    across: Vec<f64>,
}

impl<'a> Sides<'a> {
    fn new(document: &'a Document, subject: &Subject<'a>, mirroring: Mirroring) -> Self {
        let axis = mirroring.axis.unit();
        let to_world = subject.to_world.matrix3;
        let normal = (to_world.inverse().transpose() * axis).normalize_or(axis);
        let centre = axis * f64::from(subject.mirror_centre(mirroring.axis));
        let plane = subject.to_world.transform_point3(centre).dot(normal);
        let world = document.rest_pose().world_matrices(document.skeleton());
        let outer = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        Self {
            document,
            mirror: Mirror::new(document.skeleton()),
            pairs: subject.pairs,
            reflection: DMat3::IDENTITY - outer * 2.0,
            across: world
                .iter()
                .map(|w| w.translation.dot(normal) - plane)
                .collect(),
        }
    }

    fn partner(&self, joint: JointId) -> Result<JointId, String> {
        self.pairs.partner(joint).ok_or_else(|| {
            format!(
                "Bone \"{}\" has no counterpart on the other side: pair it first.",
                self.document.skeleton().label(joint)
            )
        })
    }

    /// The rotation in the rest pose.
    fn rest(&self, driver: &Driver) -> DQuat {
        driver.rotation(self.document.skeleton(), &self.document.rest_pose().locals)
    }

    /// Own space of a joint -> own space of its counterpart, through the mirror.
    fn between(&self, joint: JointId, partner: JointId) -> DMat3 {
        let [own, _] = self.mirror.rest_spaces(joint);
        let [theirs, _] = self.mirror.rest_spaces(partner);
        theirs.transpose() * self.reflection * own
    }

    /// The image of a driver's rotation, for the driver `to` of its counterpart.
    fn image(&self, from: &Driver, to: &Driver, rotation: DQuat) -> DQuat {
        let turned = normalize_or_identity(self.rest(from).conjugate() * rotation);
        let between = self.between(from.joint, to.joint);
        let turned = rotation_in_space(between.transpose(), turned);
        normalize_or_identity(self.rest(to) * turned)
    }

    /// The driver of the counterpart with the same weights in mirrored poses.
    fn image_of_driver(&self, driver: &Driver) -> Result<Driver, String> {
        let mut image = *driver;
        image.joint = self.partner(driver.joint)?;
        image.relative_to = driver.relative_to.map(|j| self.partner(j)).transpose()?;
        image.bind = self.image(driver, &image, driver.bind);
        if let Some(axis) = driver.mode.axis() {
            let between = self.between(driver.joint, image.joint);
            let mirrored: DVec3 = between * axis * between.determinant().signum();
            image.mode = driver.mode.with_axis(mirrored.normalize_or(axis));
        }
        Ok(image)
    }

    /// Whether the joints of a set are on the side that is copied.
    fn is_given(&self, set: &SampleSet, from_positive: bool) -> bool {
        (self.across(set) > 0.0) == from_positive
    }

    /// The distance of the driver joints of a set from the mirror plane, with its sign, added up.
    fn across(&self, set: &SampleSet) -> f64 {
        let drivers = set.drivers.iter();
        drivers.map(|d| self.across[d.joint.get()]).sum()
    }
}

/// (set, sample).
type At = (usize, usize);

/// A sample, the set that receives its image, and the sample there at the same pose.
struct Pair {
    from: At,
    /// `None`: a new set with the images of the drivers.
    to: Option<usize>,
    replaces: Option<usize>,
}

struct Mirrorer<'a> {
    mesh: &'a Mesh,
    sides: &'a Sides<'a>,
    symmetry: &'a Symmetry,
    mirroring: Mirroring,
    before: &'a [Arc<SampleSet>],
    /// The present weights and painted maps.
    base: Option<Arc<SkinBase>>,
    /// Points without a counterpart.
    unmatched: BTreeSet<u32>,
}

impl Mirrorer<'_> {
    /// The samples to mirror with where their images go.
    fn pairs(&self, samples: &BTreeSet<usize>, flips: bool) -> Result<Vec<Pair>, String> {
        let places = self.before.iter().enumerate();
        let places = places.flat_map(|(g, set)| (0..set.samples.len()).map(move |i| (g, i)));
        let places: Vec<At> = places.collect();
        let chosen: BTreeSet<At> = samples
            .iter()
            .filter_map(|&s| places.get(s))
            .copied()
            .collect();
        let mut pairs = Vec::new();
        let mut done = BTreeSet::new();
        for &from in &chosen {
            let pair = self.pair(from)?;
            let image = pair.to.zip(pair.replaces);
            let other = image.filter(|other| *other != from);
            if !flips {
                if self.is_copied(&pair, &chosen) {
                    pairs.push(pair);
                }
                continue;
            }
            if done.insert(from) {
                pairs.push(pair);
            }
            if let Some(other) = other.filter(|other| done.insert(*other)) {
                pairs.push(self.pair(other)?);
            }
        }
        Ok(pairs)
    }

    /// Whether a chosen sample is copied. Where both sides have chosen samples, those of the given side are; within a set
    /// that is its own image, as of a spine, the first of two images.
    fn is_copied(&self, pair: &Pair, chosen: &BTreeSet<At>) -> bool {
        let (set, sample) = pair.from;
        match pair.to {
            None => true,
            Some(to) if to == set => {
                let other = pair.replaces.filter(|other| chosen.contains(&(to, *other)));
                other.is_none_or(|other| sample <= other)
            }
            Some(to) => {
                let has_both = chosen.iter().any(|at| at.0 == to);
                let from_positive = self.mirroring.from_positive;
                !has_both || self.sides.is_given(&self.before[set], from_positive)
            }
        }
    }

    fn pair(&self, from: At) -> Result<Pair, String> {
        let set = &self.before[from.0];
        let joints = set.drivers.iter().map(|d| self.sides.partner(d.joint));
        let joints: BTreeSet<JointId> = joints.collect::<Result<_, _>>()?;
        let of = |set: &SampleSet| set.drivers.iter().map(|d| d.joint).collect::<BTreeSet<_>>();
        let to = self.before.iter().position(|set| of(set) == joints);
        if to.is_none() {
            let other = self.before.iter().find(|set| !of(set).is_disjoint(&joints));
            if let Some(other) = other {
                return Err(format!(
                    "The counterparts of the driver bones of \"{}\" drive the set \"{}\" together with others: a bone belongs to one set.",
                    set.name, other.name
                ));
            }
        }
        let replaces = match to {
            Some(to) => {
                let rotations = self.rotations(set, &set.samples[from.1], &self.before[to].drivers);
                let drivers = &self.before[to].drivers;
                let same =
                    |sample: &Arc<Sample>| is_same_pose(drivers, &sample.rotations, &rotations);
                self.before[to].samples.iter().position(same)
            }
            None => None,
        };
        Ok(Pair { from, to, replaces })
    }

    /// The rotations of the image of a sample, one for each of the drivers `to`.
    fn rotations(&self, set: &SampleSet, sample: &Sample, to: &[Driver]) -> Vec<DQuat> {
        let image = |to: &Driver| {
            let partner = |d: &Driver| self.sides.pairs.partner(d.joint) == Some(to.joint);
            let at = set.drivers.iter().position(partner)?;
            let rotation = sample.rotations.get(at)?;
            Some(self.sides.image(&set.drivers[at], to, *rotation))
        };
        to.iter()
            .map(|driver| image(driver).unwrap_or(driver.bind))
            .collect()
    }

    /// The new sets.
    fn apply(&mut self, pairs: &[Pair], flips: bool) -> Result<Vec<Arc<SampleSet>>, String> {
        let mut sets: Vec<SampleSet> = self.before.iter().map(|s| SampleSet::clone(s)).collect();
        // The new set for the images of a set.
        let mut new_sets: BTreeMap<usize, usize> = BTreeMap::new();
        let mut moved_away: BTreeSet<At> = BTreeSet::new();
        let mut filled: BTreeSet<At> = BTreeSet::new();
        for pair in pairs {
            let (g, i) = pair.from;
            let set = &self.before[g];
            let to = match pair.to.or_else(|| new_sets.get(&g).copied()) {
                Some(to) => to,
                None => {
                    sets.push(self.image_of_set(set)?);
                    new_sets.insert(g, sets.len() - 1);
                    sets.len() - 1
                }
            };
            let is_own_image = pair.replaces.map(|r| (to, r)) == Some(pair.from);
            let mut image = self.image_of_sample(set, &set.samples[i], &sets[to].drivers)?;
            if is_own_image && !flips {
                image.displacements = self.symmetric(&set.samples[i].displacements);
            }
            if flips && !is_own_image {
                moved_away.insert(pair.from);
            }
            if let Some(r) = pair.replaces {
                image.name.clone_from(&sets[to].samples[r].name);
                sets[to].samples[r] = Arc::new(image);
                filled.insert((to, r));
            } else {
                image.name = free_name(&sets[to], &image.name);
                sets[to].samples.push(Arc::new(image));
            }
        }
        // The last first: the others keep their places.
        for &(g, i) in moved_away.iter().rev().filter(|at| !filled.contains(at)) {
            sets[g].samples.remove(i);
        }
        let emptied = |(g, set): &(usize, SampleSet)| {
            set.samples.is_empty() && moved_away.iter().any(|at| at.0 == *g)
        };
        let sets = sets.into_iter().enumerate();
        Ok(sets
            .filter(|entry| !emptied(entry))
            .map(|(_, set)| Arc::new(set))
            .collect())
    }

    /// A set without samples whose drivers are the counterparts.
    fn image_of_set(&self, set: &SampleSet) -> Result<SampleSet, String> {
        let drivers = set.drivers.iter().map(|d| self.sides.image_of_driver(d));
        let drivers: Vec<Driver> = drivers.collect::<Result<_, _>>()?;
        let skeleton = self.sides.document.skeleton();
        let label = |driver: &Driver| skeleton.label(driver.joint);
        let pairs = set.drivers.iter().zip(&drivers);
        let mut name = renamed(&set.name, pairs.map(|(from, to)| [label(from), label(to)]));
        if name == set.name {
            name = format!("{name} mirrored");
        }
        // The images of the clusters of one group need not be in it.
        let vertices = match &set.vertices {
            SampleVertices::Group(_) => SampleVertices::Clusters,
            other => other.clone(),
        };
        Ok(SampleSet {
            name,
            drivers,
            vertices,
            samples: Vec::new(),
            fault: None,
            ..set.clone()
        })
    }

    /// The image of a sample for the drivers `to`.
    fn image_of_sample(
        &mut self,
        set: &SampleSet,
        sample: &Sample,
        to: &[Driver],
    ) -> Result<Sample, String> {
        let mut beside = Vec::new();
        for (joint, rotation) in &sample.beside {
            let mut drivers = self.before.iter().flat_map(|set| &set.drivers);
            // A joint that drives no set any more does not count.
            if let Some(driver) = drivers.find(|d| d.joint == *joint) {
                let image = self.sides.image_of_driver(driver)?;
                beside.push((image.joint, self.sides.image(driver, &image, *rotation)));
            }
        }
        let skeleton = self.sides.document.skeleton();
        let images = set.drivers.iter().map(|from| {
            let to = self.sides.image_of_driver(from)?;
            Ok([skeleton.label(from.joint), skeleton.label(to.joint)])
        });
        let images: Vec<[String; 2]> = images.collect::<Result<_, String>>()?;
        Ok(Sample {
            name: renamed(&sample.name, images),
            rotations: self.rotations(set, sample, to),
            beside,
            displacements: self.reflected(&sample.displacements),
            captured_over: match &self.base {
                Some(base) if !sample.has_other_base(base) => CapturedOver::Known(base.clone()),
                _ => sample.captured_over.clone(),
            },
            ..sample.clone()
        })
    }

    /// The displacements of the counterparts.
    fn reflected(&mut self, displacements: &Displacements) -> Displacements {
        let mut moved = Vec::new();
        let known: BTreeMap<u32, Vec3> = displacements.iter().collect();
        for (&point, &d) in &known {
            match self.symmetry.partner(point) {
                Some(partner) => moved.push((partner, self.reflect(d))),
                None => {
                    self.unmatched.insert(point);
                }
            }
        }
        for &(point, source) in self.symmetry.substitutes() {
            if let Some(d) = known.get(&source) {
                moved.push((point, self.reflect(*d)));
            }
        }
        Displacements::new(moved)
    }

    /// The displacements with the given side copied to the other; those on the centre line stay in the plane.
    fn symmetric(&mut self, displacements: &Displacements) -> Displacements {
        let axis = self.mirroring.axis.index();
        let centre = self.symmetry.centre();
        let sign = if self.mirroring.from_positive {
            1.0
        } else {
            -1.0
        };
        let image = self.reflected(displacements);
        let across = |p: u32| (self.mesh.positions[p as usize][axis] - centre) * sign;
        let is_centre = |p: u32| self.symmetry.partner(p) == Some(p);
        let own = displacements.iter();
        let own = own.filter(|(p, _)| is_centre(*p) || across(*p) > 0.0);
        let own = own.map(|(p, mut d)| {
            if is_centre(p) {
                d[axis] = 0.0;
            }
            (p, d)
        });
        let theirs = image.iter();
        let theirs = theirs.filter(|(p, _)| !is_centre(*p) && across(*p) <= 0.0);
        Displacements::new(own.chain(theirs).collect())
    }

    fn reflect(&self, mut d: Vec3) -> Vec3 {
        let axis = self.mirroring.axis.index();
        d[axis] = -d[axis];
        d
    }
}

/// Whether two poses of drivers are one for the interpolation: what a driver ignores does not count.
fn is_same_pose(drivers: &[Driver], a: &[DQuat], b: &[DQuat]) -> bool {
    let each = drivers.iter().zip(a.iter().zip(b)).map(|(driver, (a, b))| {
        let feature = |q: &DQuat| driver.mode.feature(driver.from_bind(*q));
        driver.lambda * driver.mode.distance_squared(&feature(a), &feature(b))
    });
    each.sum::<f64>() < SAME * SAME
}

/// The name with words of pairs exchanged: the first of a pair by the second. The longest word counts where several begin.
fn renamed(name: &str, pairs: impl IntoIterator<Item = [String; 2]>) -> String {
    let pairs: Vec<[String; 2]> = pairs.into_iter().collect();
    let (mut made, mut rest) = (String::new(), name);
    while let Some(next) = rest.chars().next() {
        let begins = pairs
            .iter()
            .filter(|[from, _]| rest.starts_with(from.as_str()));
        match begins.max_by_key(|[from, _]| from.len()) {
            Some([from, to]) if !from.is_empty() => {
                made.push_str(to);
                rest = &rest[from.len()..];
            }
            _ => {
                made.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    made
}

/// The name, or "name mirrored", with a number where a sample of the set has it.
fn free_name(set: &SampleSet, name: &str) -> String {
    let taken = |name: &String| set.samples.iter().any(|s| s.name == *name);
    let mirrored = (2..).map(|n| format!("{name} mirrored {n}"));
    let mut names = [name.to_owned(), format!("{name} mirrored")]
        .into_iter()
        .chain(mirrored);
    names.find(|name| !taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn names_of_bones_become_those_of_their_counterparts() {
        let pairs = [
            ["arm.L", "arm.R"],
            ["arm.L.001", "arm.R.001"],
            ["arm.R", "arm.L"],
        ];
        let pairs = pairs.map(|pair| pair.map(str::to_owned));
        for (name, expected) in [
            ("arm.L 70°", "arm.R 70°"),
            ("arm.L + arm.R", "arm.R + arm.L"),
            ("é arm.L.001", "é arm.R.001"),
            ("Raised", "Raised"),
        ] {
            assert_eq!(renamed(name, pairs.clone()), expected);
        }
        assert_eq!(renamed("arm", [[String::new(), "x".to_owned()]]), "arm");
    }
}
