//! Where the bones of a template go: by the bounds of the model and by what stands out of them.
//!
//! Fractions of the height of people are those of the canon of seven and a half heads, in proportion to their trunk and legs.

use super::levels::Levels;
use glam::{DMat3, DVec3};

/// Arms are to the side where they descend or rise by less than this fraction of their length.
const LEVEL: f64 = 0.2;

/// A planned bone, in axes of the model: x to its left, y up, z forwards.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    pub(super) at: DVec3,
    /// Whether its joint moves into the middle of its limb.
    pub(super) settles: bool,
    /// The bone of the other side, and the place of the plane between them along x.
    pub(super) mirrors: Option<(usize, f64)>,
    /// The place of the plane of symmetry along x, for a bone in it.
    pub(super) middle: Option<f64>,
}

/// A rotation of the world into the axes of the plans, and the plans; parents first.
pub(super) type Fitted = (DMat3, Vec<Plan>);

/// The bounds of some positions; `None` where they have no extent.
struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    fn of(points: &[DVec3]) -> Option<Self> {
        let low = points.iter().copied().reduce(DVec3::min)?;
        let high = points.iter().copied().reduce(DVec3::max)?;
        let size = (high - low).max_element();
        (size.is_finite() && size > 1e-12).then_some(Self { low, high })
    }

    fn size(&self) -> DVec3 {
        self.high - self.low
    }

    fn centre(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }
}

#[derive(Default)]
struct Plans(Vec<Plan>);

impl Plans {
    fn index(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|plan| plan.name == name)
    }

    /// Adds a bone without a side.
    fn add(&mut self, name: &str, parent: Option<&str>, at: DVec3, settles: bool) {
        self.0.push(Plan {
            name: name.to_owned(),
            parent: parent.and_then(|parent| self.index(parent)),
            at,
            settles,
            mirrors: None,
            middle: None,
        });
    }

    /// Adds a bone in the plane of symmetry.
    fn add_middle(&mut self, name: &str, parent: Option<&str>, at: DVec3, settles: bool) {
        self.add(name, parent, at, settles);
        if let Some(plan) = self.0.last_mut() {
            plan.middle = Some(at.x);
        }
    }

    /// Adds a bone of the left side and its counterpart about `middle`. A parent without a side is that of both.
    fn add_pair(&mut self, stem: &str, parent: &str, at: DVec3, middle: f64, settles: bool) {
        let left = self.0.len();
        for (side, at) in [
            ("L", at),
            ("R", DVec3::new(2.0 * middle - at.x, at.y, at.z)),
        ] {
            let sided = self.index(&format!("{parent}.{side}"));
            let parent = sided.or_else(|| self.index(parent));
            self.0.push(Plan {
                name: format!("{stem}.{side}"),
                parent,
                at,
                settles,
                mirrors: (side == "R").then_some((left, middle)),
                middle: None,
            });
        }
    }
}

/// The rotation of the world about y that makes the direction `forward` z.
fn facing(forward: DVec3) -> DMat3 {
    let left = DVec3::Y.cross(forward);
    DMat3::from_cols(left, DVec3::Y, forward).transpose()
}

/// The mean of the positions that pass; `None` where none does.
fn mean(points: &[DVec3], passes: impl Fn(&DVec3) -> bool) -> Option<DVec3> {
    let passing = points.iter().filter(|p| passes(p));
    let (sum, n) = passing.fold((DVec3::ZERO, 0.0), |(sum, n), &p| (sum + p, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

/// A person: trunk and head by the cross-sections of the mesh, arms by the tips of the hands, legs by the feet, which point
/// forwards.
pub(super) fn humanoid(points: &[DVec3], triangles: &[[u32; 3]]) -> Option<Fitted> {
    let bounds = Bounds::of(points)?;
    let size = bounds.size();
    // The arms are to the sides.
    let forward = if size.z > 1.3 * size.x {
        DVec3::X
    } else {
        DVec3::Z
    };
    let height = size.y.max(1e-3 * size.max_element());
    let ground = bounds.low.y;
    let along = |p: &DVec3| p.dot(forward);
    let at_feet = |p: &&DVec3| p.y < ground + 0.07 * height;
    let shin = mean(points, |p| (0.1..0.25).contains(&((p.y - ground) / height)));
    let shin = shin.unwrap_or(bounds.centre());
    let feet = points.iter().filter(at_feet).map(along);
    let (heel, toe) = feet.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let ahead = (toe - along(&shin)) - (along(&shin) - heel);
    let rotation = facing(if ahead < -0.02 * height {
        -forward
    } else {
        forward
    });
    let points: Vec<DVec3> = points.iter().map(|&p| rotation * p).collect();
    let bounds = Bounds::of(&points)?;
    let middle = bounds.centre().x;
    let levels = Levels::of(&points, triangles, middle, [ground, height]);
    let body = Body {
        points: &points,
        levels,
        middle,
        ground,
        height,
    };
    let arm = body.arm();
    let Levels { crotch, neck, .. } = levels;
    // The joints of the arms, where they are known.
    let shoulder = (arm[0].y - ground) / height;
    // From crotch to shoulders.
    let trunk = |t: f64| crotch + t * (shoulder - crotch);
    let depth = body.depth();
    let place = |x: f64, y: f64| DVec3::new(middle + x * height, ground + y * height, depth);
    let mut plans = Plans::default();
    plans.add_middle("hips", None, place(0.0, trunk(0.18)), true);
    plans.add_middle("spine", Some("hips"), place(0.0, trunk(0.35)), true);
    plans.add_middle("chest", Some("spine"), place(0.0, trunk(0.62)), true);
    let base = 0.5 * (shoulder + neck);
    plans.add_middle("neck", Some("chest"), place(0.0, base), true);
    let head = neck + (0.2 * (1.0 - neck)).min(0.03);
    plans.add_middle("head", Some("neck"), place(0.0, head), false);
    let [shoulder_at, elbow, wrist, tip] = arm;
    let clavicle = place(0.02, shoulder - 0.01);
    plans.add_pair("clavicle", "chest", clavicle, middle, false);
    plans.add_pair("upper_arm", "clavicle", shoulder_at, middle, false);
    plans.add_pair("forearm", "upper_arm", elbow, middle, true);
    plans.add_pair("hand", "forearm", wrist, middle, true);
    plans.add_pair("fingers", "hand", wrist.lerp(tip, 0.5), middle, false);
    let foot = mean(&points, |p| p.y < ground + 0.07 * height && p.x > middle);
    let beside = foot.map_or(0.055 * height, |foot| foot.x - middle);
    let foot_z = points.iter().filter(at_feet).map(|p| p.z);
    let (heel, toe) = foot_z.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| {
        (low.min(z), high.max(z))
    });
    let long = (toe - heel).clamp(0.0, 0.25 * height);
    // Legs as far apart as the trunk is wide are so up to the hips.
    let widest = levels.chest.map_or(0.07, |chest| (0.6 * chest).max(0.07));
    let x = |fraction: f64| {
        let hip = beside.clamp(0.03 * height, widest * height);
        middle + hip + (beside - hip) * fraction
    };
    // By the length of the legs, which is that of the canon in all others.
    let leg = crotch / Levels::CANON.crotch;
    let ankle_z = heel + 0.3 * long;
    let ankle = DVec3::new(x(1.0), ground + 0.05 * leg * height, ankle_z);
    let hip = DVec3::new(x(0.0), ground + trunk(0.12) * height, depth);
    let mut knee = hip.lerp(ankle, 0.49);
    knee.z += 0.005 * height;
    plans.add_pair("thigh", "hips", hip, middle, false);
    plans.add_pair("shin", "thigh", knee, middle, true);
    plans.add_pair("foot", "shin", ankle, middle, true);
    let ball = DVec3::new(x(1.0), ground + 0.015 * leg * height, heel + 0.72 * long);
    plans.add_pair("toe", "foot", ball, middle, false);
    Some((rotation, plans.0))
}

/// A body that faces along z.
struct Body<'a> {
    points: &'a [DVec3],
    levels: Levels,
    middle: f64,
    ground: f64,
    height: f64,
}

impl Body<'_> {
    /// The mean depth of the trunk.
    fn depth(&self) -> f64 {
        let Levels { crotch, neck, .. } = self.levels;
        let trunk = mean(self.points, |p| {
            let up = ((p.y - self.ground) / self.height - crotch) / (neck - crotch);
            (0.08..0.74).contains(&up) && (p.x - self.middle).abs() < 0.12 * self.height
        });
        let centre = || Bounds::of(self.points).map(|bounds| bounds.centre());
        trunk.or_else(centre).map_or(0.0, |trunk| trunk.z)
    }

    /// The shoulder, the elbow, the wrist and the tip of the left arm: along the line to what stands out farthest to the left
    /// below the head; where that is no hand, downwards until the arm fits the width.
    fn arm(&self) -> [DVec3; 4] {
        let Self {
            points,
            levels,
            middle,
            ground,
            height,
        } = *self;
        // Arms are as long as the body below the neck tells; a large head does not lengthen them.
        let scale = levels.neck / Levels::CANON.neck;
        let length = 0.44 * scale * height;
        let chest = levels.chest.map_or(0.105 * scale, |chest| 1.1 * chest);
        let x = middle + chest.clamp(0.05, 0.16) * height;
        let mut shoulder = DVec3::new(x, ground + levels.shoulder * height, self.depth());
        let neck = ground + levels.neck * height;
        let is_body = |p: &&DVec3| p.y < neck;
        let farthest = points.iter().filter(is_body).map(|p| p.x);
        let farthest = farthest.fold(f64::NEG_INFINITY, f64::max);
        let tip = mean(points, |p| p.y < neck && p.x > farthest - 0.02 * height);
        let tip = tip.unwrap_or(shoulder);
        // Arms to the side begin at the height of the hands, the less so the more they slope.
        let reach = tip.distance(shoulder);
        let slope = (tip.y - shoulder.y).abs() / reach;
        let is_level = slope < LEVEL;
        let least = if is_level { 0.4 } else { 0.7 };
        let is_hand = (least..1.4).contains(&(reach / length));
        if is_hand && is_level {
            let trunk =
                |t: f64| ground + (levels.crotch + t * (levels.neck - levels.crotch)) * height;
            let level = tip.y.clamp(trunk(0.55), trunk(0.95));
            shoulder.y += (1.0 - slope / LEVEL) * (level - shoulder.y);
        }
        let tip = if is_hand {
            tip
        } else {
            let across = (farthest - shoulder.x).max(0.0);
            let cosine = (across / length).clamp(0.0, 1.0);
            let sine = (1.0 - cosine * cosine).sqrt();
            shoulder + DVec3::new(cosine, -sine, 0.0) * length
        };
        [0.0, 0.42, 0.755, 1.0].map(|fraction| shoulder.lerp(tip, fraction))
    }
}

/// An animal: legs by the feet, the head at the higher end.
pub(super) fn quadruped(points: &[DVec3]) -> Option<Fitted> {
    let bounds = Bounds::of(points)?;
    let size = bounds.size();
    let forward = if size.x > 1.3 * size.z {
        DVec3::X
    } else {
        DVec3::Z
    };
    let (low, long) = (bounds.low.dot(forward), size.dot(forward));
    let end = |front: bool| {
        mean(points, |p| {
            let t = (p.dot(forward) - low) / long;
            if front { t > 0.8 } else { t < 0.2 }
        })
    };
    let is_turned = match (end(true), end(false)) {
        (Some(front), Some(back)) => front.y < back.y,
        _ => false,
    };
    let rotation = facing(if is_turned { -forward } else { forward });
    let points: Vec<DVec3> = points.iter().map(|&p| rotation * p).collect();
    let bounds = Bounds::of(&points)?;
    let (size, centre, ground) = (bounds.size(), bounds.centre(), bounds.low.y);
    let middle = centre.x;
    let is_foot = |p: &DVec3| p.y < ground + 0.1 * size.y && p.x > middle;
    let z = |t: f64| bounds.low.z + t * size.z;
    let feet = mean(&points, |p| is_foot(p)).map_or(z(0.5), |feet| feet.z);
    let front = mean(&points, |p| is_foot(p) && p.z > feet);
    let front = front.unwrap_or(DVec3::new(middle + 0.3 * size.x, ground, z(0.7)));
    let hind = mean(&points, |p| is_foot(p) && p.z <= feet);
    let hind = hind.unwrap_or(DVec3::new(middle + 0.3 * size.x, ground, z(0.3)));
    let at = |y: f64, z: f64| DVec3::new(middle, ground + y * size.y, z);
    let body = |t: f64| hind.z + t * (front.z - hind.z);
    let mut plans = Plans::default();
    plans.add_middle("hips", None, at(0.6, body(0.0)), true);
    plans.add_middle("spine", Some("hips"), at(0.6, body(0.35)), true);
    plans.add_middle("chest", Some("spine"), at(0.6, body(0.7)), true);
    let nose = bounds.high.z;
    let ahead = |t: f64| body(1.0) + t * (nose - body(1.0));
    plans.add_middle("neck", Some("chest"), at(0.68, ahead(0.1)), false);
    plans.add_middle("head", Some("neck"), at(0.8, ahead(0.5)), false);
    let behind = |t: f64| hind.z + t * (bounds.low.z - hind.z);
    plans.add_middle("tail.01", Some("hips"), at(0.6, behind(0.25)), true);
    plans.add_middle("tail.02", Some("tail.01"), at(0.6, behind(0.5)), true);
    plans.add_middle("tail.03", Some("tail.02"), at(0.6, behind(0.75)), true);
    for (stems, parent, foot) in [
        (["upper_foreleg", "foreleg", "forefoot"], "chest", front),
        (["thigh", "shin", "hind_foot"], "hips", hind),
    ] {
        let leg = |y: f64, z: f64| DVec3::new(foot.x, ground + y * size.y, foot.z + z * size.z);
        // Elbows bend backwards and knees forwards.
        let bend = if parent == "chest" { -0.01 } else { 0.01 };
        plans.add_pair(stems[0], parent, leg(0.5, 0.0), middle, false);
        plans.add_pair(stems[1], stems[0], leg(0.28, bend), middle, true);
        plans.add_pair(stems[2], stems[1], leg(0.08, 0.0), middle, true);
    }
    Some((rotation, plans.0))
}

/// The rotation of the world whose rows are the axes of the longest, the middle and the shortest side, as y, x and z.
fn by_sides(points: &[DVec3]) -> Option<(DMat3, Bounds)> {
    let size = Bounds::of(points)?.size();
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
    let axis = |i: usize| DVec3::AXES[order[i]];
    let (y, x) = (axis(0), axis(1));
    let rotation = DMat3::from_cols(x, y, x.cross(y)).transpose();
    let turned: Vec<DVec3> = points.iter().map(|&p| rotation * p).collect();
    Some((rotation, Bounds::of(&turned)?))
}

/// Five bones along the longest side.
pub(super) fn chain(points: &[DVec3]) -> Option<Fitted> {
    let (rotation, bounds) = by_sides(points)?;
    let mut plans = Plans::default();
    let (size, centre) = (bounds.size(), bounds.centre());
    for k in 0..5 {
        let y = bounds.low.y + size.y * (0.02 + 0.2 * f64::from(k));
        let parent = (k > 0).then(|| format!("bone_{k:02}"));
        let name = format!("bone_{:02}", k + 1);
        plans.add(
            &name,
            parent.as_deref(),
            DVec3::new(centre.x, y, centre.z),
            true,
        );
    }
    Some((rotation, plans.0))
}

/// A hand whose fingers lie along the longest side, at its thinner end; the thumb is on the side that stands out farther.
pub(super) fn hand(points: &[DVec3]) -> Option<Fitted> {
    let (rotation, bounds) = by_sides(points)?;
    let turned: Vec<DVec3> = points.iter().map(|&p| rotation * p).collect();
    let along = |p: &DVec3| (p.y - bounds.low.y) / bounds.size().y.max(f64::MIN_POSITIVE);
    let thickness = |is_there: &dyn Fn(f64) -> bool| {
        let there = turned.iter().filter(|p| is_there(along(p))).map(|p| p.z);
        let (low, high) = there.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| {
            (low.min(z), high.max(z))
        });
        high - low
    };
    let is_turned = thickness(&|t| t > 0.88) > thickness(&|t| t < 0.12);
    let up = if is_turned { -1.0 } else { 1.0 };
    let from_wrist = |p: &DVec3| if is_turned { 1.0 - along(p) } else { along(p) };
    let wrist = mean(&turned, |p| from_wrist(p) < 0.15).map_or(bounds.centre().x, |p| p.x);
    let palm = turned
        .iter()
        .filter(|p| (0.2..0.5).contains(&from_wrist(p)));
    let (most, least) = palm.fold((0.0_f64, 0.0_f64), |(most, least), p| {
        (most.max(p.x - wrist), least.min(p.x - wrist))
    });
    let side = if most < -least { -1.0 } else { 1.0 };
    let flip = DMat3::from_diagonal(DVec3::new(side, up, side * up));
    let rotation = flip * rotation;
    let turned: Vec<DVec3> = points.iter().map(|&p| rotation * p).collect();
    let bounds = Bounds::of(&turned)?;
    let (size, centre) = (bounds.size(), bounds.centre());
    let at =
        |x: f64, y: f64| DVec3::new(centre.x + x * size.x, bounds.low.y + y * size.y, centre.z);
    let mut plans = Plans::default();
    plans.add("hand", None, at(-0.05, 0.05), false);
    let fingers = [
        ("middle", [-0.05, -0.05, -0.05], [0.5, 0.7, 0.86]),
        ("index", [0.14, 0.15, 0.16], [0.5, 0.69, 0.83]),
        ("ring", [-0.22, -0.23, -0.24], [0.48, 0.67, 0.82]),
        ("little", [-0.36, -0.39, -0.42], [0.44, 0.58, 0.69]),
        ("thumb", [0.18, 0.32, 0.42], [0.2, 0.38, 0.5]),
    ];
    for (stem, x, y) in fingers {
        for k in 0..3 {
            let parent = if k == 0 {
                "hand".to_owned()
            } else {
                format!("{stem}.{k:02}")
            };
            let name = format!("{stem}.{:02}", k + 1);
            plans.add(&name, Some(&parent), at(x[k], y[k]), k > 0);
        }
    }
    Some((rotation, plans.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_faces_where_the_feet_point_and_has_two_equal_sides() {
        let block = |low: DVec3, high: DVec3| {
            let n = 4;
            let step = move |i: usize| i as f64 / n as f64;
            (0..=n).flat_map(move |i| {
                (0..=n).flat_map(move |j| {
                    (0..=n).map(move |k| low + (high - low) * DVec3::new(step(i), step(j), step(k)))
                })
            })
        };
        // Legs, feet backwards, trunk and arms.
        let mut points: Vec<DVec3> = Vec::new();
        for x in [-0.2, 0.1] {
            points.extend(block(
                DVec3::new(x, 0.0, -0.05),
                DVec3::new(x + 0.1, 0.8, 0.05),
            ));
            points.extend(block(
                DVec3::new(x, 0.0, -0.2),
                DVec3::new(x + 0.1, 0.06, 0.05),
            ));
        }
        points.extend(block(
            DVec3::new(-0.15, 0.8, -0.1),
            DVec3::new(0.15, 1.7, 0.1),
        ));
        points.extend(block(
            DVec3::new(-0.9, 1.35, -0.05),
            DVec3::new(0.9, 1.42, 0.05),
        ));
        let (rotation, plans) = humanoid(&points, &[]).unwrap();
        assert_eq!(rotation * DVec3::NEG_Z, DVec3::Z);
        let find = |name: &str| plans.iter().find(|plan| plan.name == name).unwrap();
        let (left, right) = (find("forearm.L"), find("forearm.R"));
        assert!((left.at.x + right.at.x).abs() < 1e-12 && left.at.x > 0.3);
        assert!((left.at.y - 1.385).abs() < 0.03, "{}", left.at);
        assert!(find("toe.L").at.z > find("foot.L").at.z);
        for (p, plan) in plans.iter().enumerate() {
            assert!(plan.parent.is_none_or(|parent| parent < p), "{}", plan.name);
        }
        assert!(humanoid(&[DVec3::ONE; 3], &[]).is_none() && chain(&[]).is_none());
    }
}
