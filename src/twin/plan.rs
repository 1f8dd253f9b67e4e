//! The joints that each row of a table is about.

use super::body::Body;
use super::bones::BoneLine;
use super::error::TwinError;
use super::measurement::{FitOptions, Kind, MeasuredSide, Measurement, Sides};
use super::section::{Cut, Sleeve};
use crate::finding::trimmed;
use crate::motion::roles::{Part, Role, Side};
use crate::skeleton::JointId;
use std::collections::BTreeMap;

/// The range of factors that a bone can take.
pub const FACTORS: [f64; 2] = [0.2, 5.0];
/// The range that needs no second look (METHODS-twin 5.2: faces turn over outside of it).
pub const USUAL: [f64; 2] = [0.5, 2.0];

/// What one row asks of one side.
#[derive(Clone, Debug)]
pub struct Target {
    /// The row, from 0.
    pub row: usize,
    /// What is measured.
    pub kind: Kind,
    /// The joint, or the joints of a chain in order; empty for the height.
    pub joints: Vec<JointId>,
    /// Where on the bone a girth is.
    pub at: f64,
    /// The measurement, metres.
    pub metres: f64,
    /// The same of the template, metres.
    pub template: f64,
    /// Whether it is the other side's.
    pub mirrored: bool,
    /// The triangles round the bone of a girth.
    pub(super) sleeve: Option<Sleeve>,
}

/// The targets of a table.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order of the rows.
    pub targets: Vec<Target>,
    /// n_joints: the bones; in chains, and in the trunk while it fits the height, they lead to the next one.
    pub lines: Vec<BoneLine>,
    /// The joints that fit the height; empty where it is not fitted.
    pub trunk: Vec<JointId>,
}

impl Plan {
    /// The targets of rows on a body. An error names the row.
    pub fn new(body: &Body, rows: &[Measurement], options: &FitOptions) -> Result<Self, TwinError> {
        let mut found: Vec<(usize, Vec<JointId>, bool)> = Vec::new();
        for (row, measurement) in rows.iter().enumerate() {
            let fault = |what: String| refusal(rows, row, what);
            measurement.check().map_err(fault)?;
            for joints in joints_of(body, measurement).map_err(fault)? {
                if let Some((other, ..)) = found.iter().find(|f| is_same(rows, f, (row, &joints))) {
                    let what = match measurement.kind {
                        Kind::Height => "the height is".to_owned(),
                        kind => format!(
                            "the {} of \"{}\" is",
                            kind.label(),
                            body.skeleton.label(joints[0])
                        ),
                    };
                    let place = rows[*other].place(*other);
                    return Err(fault(format!("{what} in {place} already")));
                }
                found.push((row, joints, false));
            }
        }
        if options.sides == Sides::Both {
            add_partners(body, rows, &mut found);
        }
        let mut plan = Self {
            targets: Vec::new(),
            lines: body.lines.clone(),
            trunk: Vec::new(),
        };
        for (_, joints, _) in &found {
            for pair in joints.windows(2) {
                plan.lines[pair[0].get()].tail = body.lines[pair[1].get()].head;
            }
        }
        plan.lead_trunk(body, rows, *options, &found);
        for (row, joints, mirrored) in found {
            let target = plan.target(body, &rows[row], (row, joints, mirrored));
            plan.targets
                .push(target.map_err(|what| refusal(rows, row, what))?);
        }
        Ok(plan)
    }

    /// Makes the bones of the trunk lead to each other, where the height and a length are measured.
    fn lead_trunk(
        &mut self,
        body: &Body,
        rows: &[Measurement],
        options: FitOptions,
        found: &[(usize, Vec<JointId>, bool)],
    ) {
        let has = |kind: Kind| rows.iter().any(|row| row.kind == kind);
        let measured = |joint: usize, kind: Kind| {
            let joint = JointId(joint as u32);
            found
                .iter()
                .any(|(row, joints, _)| rows[*row].kind == kind && joints.contains(&joint))
        };
        if !options.fit_height || !has(Kind::Height) || !has(Kind::Length) {
            return;
        }
        let Some((joints, end)) = body.trunk() else {
            return;
        };
        let ends = joints.iter().copied().skip(1).chain([end]);
        for (joint, next) in joints.iter().copied().zip(ends) {
            if measured(joint, Kind::Length) {
                continue;
            }
            self.trunk.push(JointId(joint as u32));
            if !measured(joint, Kind::Girth) {
                self.lines[joint].tail = body.lines[next].head;
            }
        }
    }

    fn target(
        &self,
        body: &Body,
        measurement: &Measurement,
        (row, joints, mirrored): (usize, Vec<JointId>, bool),
    ) -> Result<Target, String> {
        let (kind, at, metres) = (measurement.kind, measurement.at, measurement.metres());
        let mut sleeve = None;
        let template = match kind {
            Kind::Height => body.height(),
            Kind::Length => {
                let lengths = joints.iter().map(|j| (j, self.lines[j.get()].length()));
                if let Some((joint, _)) = lengths.clone().find(|(_, length)| *length <= 1e-9) {
                    let name = body.skeleton.label(*joint);
                    return Err(format!("the bone \"{name}\" has no length"));
                }
                lengths.map(|(_, length)| length).sum()
            }
            Kind::Girth => {
                let found = Sleeve::of(body, joints[0]);
                let girth = self.template_girth(body, joints[0], at, &found)?;
                sleeve = Some(found);
                girth
            }
        };
        let factor = metres / template;
        if !(FACTORS[0]..=FACTORS[1]).contains(&factor) {
            return Err(format!(
                "{} m is {} times the template's {} m; a factor must be {} - {}",
                trimmed(metres),
                trimmed(factor),
                trimmed(template),
                FACTORS[0],
                FACTORS[1]
            ));
        }
        Ok(Target {
            row,
            kind,
            joints,
            at,
            metres,
            template,
            mirrored,
            sleeve,
        })
    }

    fn template_girth(
        &self,
        body: &Body,
        joint: JointId,
        at: f64,
        sleeve: &Sleeve,
    ) -> Result<f64, String> {
        let name = body.skeleton.label(joint);
        let points = body.points();
        let line = self.lines[joint.get()];
        let girth = |at: f64| sleeve.girth(&points, Cut::of(&line, at)?);
        if line.length() <= 1e-9 {
            return Err(format!("the bone \"{name}\" has no length"));
        }
        if let Some(found) = girth(at) {
            return Ok(found);
        }
        let mut sites: Vec<f64> = (1..20).map(|i| f64::from(i) * 0.05).collect();
        sites.sort_by(|a, b| (a - at).abs().total_cmp(&(b - at).abs()));
        let closed = sites.into_iter().find(|at| girth(*at).is_some());
        let percent = |at: f64| trimmed(at * 100.0);
        Err(match closed {
            Some(closed) => format!(
                "the skin round \"{name}\" is open at {} %; try {} %, where it is closed",
                percent(at),
                percent(closed)
            ),
            None => format!("the skin round \"{name}\" is nowhere closed, so it has no girth"),
        })
    }
}

fn refusal(rows: &[Measurement], row: usize, what: String) -> TwinError {
    TwinError::Row {
        row,
        place: rows[row].place(row),
        what,
    }
}

/// Whether two rows measure one thing.
fn is_same(
    rows: &[Measurement],
    (row, joints, _): &(usize, Vec<JointId>, bool),
    (other, theirs): (usize, &[JointId]),
) -> bool {
    let (a, b) = (&rows[*row], &rows[other]);
    a.kind == b.kind
        && match a.kind {
            Kind::Height => true,
            Kind::Length => joints.iter().any(|joint| theirs.contains(joint)),
            Kind::Girth => joints[..] == *theirs && (a.at - b.at).abs() < 1e-9,
        }
}

/// Adds the bones of the other side that no row measures.
fn add_partners(body: &Body, rows: &[Measurement], found: &mut Vec<(usize, Vec<JointId>, bool)>) {
    let own = found.clone();
    for (row, joints, _) in &own {
        let partners: Option<Vec<JointId>> = joints.iter().map(|j| body.partner(*j)).collect();
        let Some(partners) = partners.filter(|partners| !partners.is_empty()) else {
            continue;
        };
        let kind = rows[*row].kind;
        let is_measured = own.iter().any(|(other, theirs, _)| {
            rows[*other].kind == kind && theirs.iter().any(|joint| partners.contains(joint))
        });
        if !is_measured {
            found.push((*row, partners, true));
        }
    }
}

/// The joints of a row: one list a side.
fn joints_of(body: &Body, row: &Measurement) -> Result<Vec<Vec<JointId>>, String> {
    if row.kind == Kind::Height {
        return Ok(vec![Vec::new()]);
    }
    let heads = bones_named(body, row.bone.trim(), row.side)?;
    if row.to.trim().is_empty() {
        return Ok(heads.into_iter().map(|joint| vec![joint]).collect());
    }
    let ends = bones_named(body, row.to.trim(), row.side)?;
    let chain = |head: JointId| {
        let paths = ends.iter().filter_map(|end| {
            let above = body
                .skeleton
                .logical_ancestors(*end)
                .position(|j| j == head)?;
            let up = body.skeleton.logical_ancestors(*end).take(above + 1);
            let mut path: Vec<JointId> = std::iter::once(*end).chain(up).collect();
            path.reverse();
            Some(path)
        });
        paths.into_iter().next().ok_or_else(|| {
            format!(
                "\"{}\" is not above \"{}\", so they are no chain",
                row.bone, row.to
            )
        })
    };
    heads.into_iter().map(chain).collect()
}

/// The bones of a name or a role: one, or one a side.
fn bones_named(
    body: &Body,
    name: &str,
    side: Option<MeasuredSide>,
) -> Result<Vec<JointId>, String> {
    let named = |joint: &JointId| body.skeleton.joint(*joint).name == name;
    let same: Vec<JointId> = body.bones().filter(named).collect();
    if same.len() > 1 {
        return Err(format!("{} bones are named \"{name}\"", same.len()));
    }
    if let [joint] = same[..] {
        return sides_of(body, joint, side);
    }
    let role = Role::of_label(name);
    if let Some(joint) = role.and_then(|role| body.roles.joints.get(&role)) {
        return sides_of(body, JointId(*joint as u32), side);
    }
    let part = Part::ALL
        .into_iter()
        .find(|p| p.label() == name && p.has_side());
    let Some(part) = part else {
        return Err(unknown(body, name));
    };
    let get = |side: Side| {
        let joint = body.roles.get(part, side);
        let missing = || format!("no {} was found on the {} side", part.label(), side.label());
        joint.map(|joint| JointId(joint as u32)).ok_or_else(missing)
    };
    match side {
        Some(MeasuredSide::Left) => Ok(vec![get(Side::Left)?]),
        Some(MeasuredSide::Right) => Ok(vec![get(Side::Right)?]),
        Some(MeasuredSide::Both) | None => Ok(vec![get(Side::Left)?, get(Side::Right)?]),
    }
}

/// The sides of a row whose bone is given by its own name.
fn sides_of(
    body: &Body,
    joint: JointId,
    side: Option<MeasuredSide>,
) -> Result<Vec<JointId>, String> {
    let partner = || {
        body.partner(joint).ok_or_else(|| {
            let name = body.skeleton.label(joint);
            format!("\"{name}\" has no bone on the other side")
        })
    };
    let own = body.role(joint).map(|role| role.side);
    match (side, own) {
        (Some(MeasuredSide::Both), _) => Ok(vec![joint, partner()?]),
        (Some(MeasuredSide::Left), Some(Side::Right))
        | (Some(MeasuredSide::Right), Some(Side::Left)) => Ok(vec![partner()?]),
        _ => Ok(vec![joint]),
    }
}

fn unknown(body: &Body, name: &str) -> String {
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for joint in body.bones() {
        let label = body.skeleton.label(joint);
        words.insert(label.to_lowercase(), label);
    }
    match words.get(&name.to_lowercase()) {
        Some(near) => format!("there is no bone or role \"{name}\"; there is \"{near}\""),
        None => format!("there is no bone or role \"{name}\""),
    }
}
