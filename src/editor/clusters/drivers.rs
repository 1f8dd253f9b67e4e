//! The drivers of the active group: added, and given an input, a range and a place. Each change is one undo step.

use super::Editor;
use crate::cluster::channel::{Played, RecordingId};
use crate::cluster::fade::Fade;
use crate::cluster::procedural::{
    DriverInput, DriverPoint, DriverSettings, Normalisation, SinkSettings,
};
use crate::cluster::{DriverLayer, bone_axis};
use crate::finding::Place;
use crate::skeleton::{JointId, Moment};
use glam::{DQuat, DVec3, Vec3};
use std::f64::consts::FRAC_PI_2;

/// The gain of a new driver, as a fraction of the object's size.
const GAIN: f64 = 0.02;

/// A smaller rotation has no axis, radians.
const NO_TURN: f64 = 0.02;

/// A smaller range of a channel is none.
const NO_RANGE: f64 = 1e-6;

/// The kinds of inputs of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverSource {
    /// [`DriverInput::JointAngle`].
    JointAngle,
    /// [`DriverInput::Twist`].
    Twist,
    /// [`DriverInput::Swing`].
    Swing,
    /// [`DriverInput::BoneAngle`].
    BoneAngle,
    /// [`DriverInput::Distance`].
    Distance,
    /// [`DriverInput::Time`].
    Time,
    /// [`DriverInput::Channel`].
    Channel,
    /// [`DriverInput::Constant`].
    Constant,
}

impl DriverSource {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 8] = [
        Self::JointAngle,
        Self::Twist,
        Self::Swing,
        Self::BoneAngle,
        Self::Distance,
        Self::Time,
        Self::Channel,
        Self::Constant,
    ];

    /// The kind of an input.
    pub fn of(input: &DriverInput) -> Self {
        match input {
            DriverInput::JointAngle { .. } => Self::JointAngle,
            DriverInput::Twist { .. } => Self::Twist,
            DriverInput::Swing { .. } => Self::Swing,
            DriverInput::BoneAngle { .. } => Self::BoneAngle,
            DriverInput::Distance { .. } => Self::Distance,
            DriverInput::Time => Self::Time,
            DriverInput::Channel { .. } => Self::Channel,
            DriverInput::Constant { .. } => Self::Constant,
        }
    }

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        self.on([JointId(0); 2], DVec3::X).label()
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        self.on([JointId(0); 2], DVec3::X).about()
    }

    /// Whether it reads bones, or vertices.
    pub fn reads_pose(self) -> bool {
        !matches!(self, Self::Time | Self::Channel | Self::Constant)
    }

    /// An input of this kind on joints; a channel without a name.
    fn on(self, [a, b]: [JointId; 2], axis: DVec3) -> DriverInput {
        let joint = a.0;
        match self {
            Self::JointAngle => DriverInput::JointAngle { joint, axis },
            Self::Twist => DriverInput::Twist { joint },
            Self::Swing => DriverInput::Swing { joint },
            Self::BoneAngle => DriverInput::BoneAngle { a: a.0, b: b.0 },
            Self::Distance => DriverInput::Distance {
                a: DriverPoint::Joint(a.0),
                b: DriverPoint::Joint(b.0),
            },
            Self::Time => DriverInput::Time,
            Self::Channel => DriverInput::Channel {
                name: String::new(),
            },
            Self::Constant => DriverInput::Constant { value: 1.0 },
        }
    }
}

impl Editor {
    /// The name of an undo step of a driver of the active group: "Driver gain · Biceps".
    pub fn driver_step(&self, driver: usize, what: &str) -> String {
        let known = self.group_layers::<DriverLayer>().get(driver);
        let name = known.map_or("", |known| known.name.as_str());
        format!("Driver {what} · {name}")
    }

    /// Changes a driver of the active group as one undo step, or as part of the open one. What is not valid is refused with
    /// the reason.
    pub fn set_driver(
        &mut self,
        driver: usize,
        what: &str,
        change: impl FnOnce(&mut DriverLayer),
    ) -> bool {
        let label = self.driver_step(driver, what);
        self.change_group_layer(driver, &label, change)
    }

    /// Adds a driver to the active group and makes it active: it reads the swing of the selected bone, else of the one that
    /// moves the clusters most; without bones, the time. Returns whether it did.
    pub fn add_driver(&mut self) -> bool {
        let why = match (self.clustered_item(), self.active_group()) {
            (None, _) => "Select an object first.",
            (Some(_), None) => "Mark the vertices that the driver moves first.",
            (Some((_, item)), Some(group)) => {
                if item.clusters.clusters().iter().any(|c| c.1 == group) {
                    return self.add_driver_to(group);
                }
                "The active group has no clusters. Mark the vertices that the driver moves first."
            }
        };
        self.notify(why);
        false
    }

    fn add_driver_to(&mut self, group: u16) -> bool {
        let joints = self.joints_to_drive(group);
        let input = match joints {
            Some(joints) => DriverSource::Swing.on(joints, DVec3::X),
            None => DriverInput::Time,
        };
        let gain = GAIN * self.object_size();
        let end = if joints.is_some() { FRAC_PI_2 } else { 1.0 };
        let layer = DriverLayer {
            name: self.free_layer_name::<DriverLayer>("Driver"),
            settings: DriverSettings {
                input,
                from: 0.0,
                to: end,
                mode: Normalisation::default(),
                curve: None,
                gain,
                fade: Fade::default(),
                sink: SinkSettings {
                    direction: crate::cluster::procedural::SinkDirection::default(),
                    mask: crate::cluster::procedural::SinkMask::default(),
                },
            },
            played: None,
            bone: None,
            weights: Vec::new(),
            muted: false,
        };
        self.push_group_layer(group, layer)
    }

    /// The joints that a driver can read, in the order of the skeleton: those of the object's skin, else all.
    pub fn driver_joints(&self) -> Vec<JointId> {
        let skeleton = self.document.skeleton();
        let skin = self.clustered_mesh();
        let skin = skin.and_then(|mesh| self.document.skin_of_mesh(mesh));
        let joints = skeleton.live_joints();
        match skin {
            Some((_, skin)) => joints.filter(|j| skin.joints.contains(j)).collect(),
            None => joints.collect(),
        }
    }

    /// The joint that *Use selected bone* gives a driver.
    pub fn selected_driver_joint(&self) -> Option<JointId> {
        let selected = self.joints_to_pose();
        let active = self.document.session().active_joint;
        let joint = active
            .filter(|j| selected.contains(j))
            .or(selected.first().copied())?;
        self.document.skeleton().is_live(joint).then_some(joint)
    }

    /// The selected vertex, if the object has exactly one; the two sides of a seam count as one.
    pub fn selected_driver_vertex(&self) -> Option<u32> {
        let (mesh, item) = self.clustered_item()?;
        let selected = self.document.session().selected_points.get(&mesh)?;
        let points: Vec<u32> = selected.iter().collect();
        let first = *points.first()?;
        let twins = item.geometry.topology();
        let is_one = points[1..]
            .iter()
            .all(|&point| twins.twins(first).any(|twin| twin == point));
        is_one.then_some(first)
    }

    /// Selects and frames a vertex of the object that a driver reads.
    pub fn show_driver_vertex(&mut self, point: u32) {
        if let Some((mesh, item)) = self.clustered_item() {
            let topology = item.geometry.topology();
            let mut points: Vec<u32> = topology.twins(point).chain([point]).collect();
            points.sort_unstable();
            points.dedup();
            self.go_to_place(&Place::Points {
                mesh: mesh.0,
                points: points.into(),
            });
        }
    }

    /// Gives a driver an input of another kind, on the bones that it reads, with a range for it.
    pub fn set_driver_source(&mut self, driver: usize, source: DriverSource) {
        let Some(known) = self.group_layers::<DriverLayer>().get(driver).cloned() else {
            return;
        };
        if source == DriverSource::of(&known.settings.input) {
            return;
        }
        if source == DriverSource::Channel {
            self.read_first_channel(driver, &known);
            return;
        }
        let read = known.joints();
        let group = self.active_group().unwrap_or_default();
        let skeleton = self.document.skeleton();
        let parent = |joint: JointId| skeleton.joint(joint).parent;
        // Of a bone and its parent, the bone is what bends.
        let bends = |joint: &&JointId| parent(**joint).is_some_and(|parent| read.contains(&parent));
        let first = read.iter().find(bends).or(read.first()).copied();
        let first = first.or_else(|| self.joints_to_drive(group).map(|joints| joints[0]));
        let first = first.or_else(|| self.driver_joints().first().copied());
        if source.reads_pose() && first.is_none() {
            self.notify(
                "The model has no bones. Choose a distance between vertices, time or a channel.",
            );
            return;
        }
        let first = first.unwrap_or(JointId(0));
        let is_beside =
            |joint: JointId| parent(joint) == Some(first) || parent(first) == Some(joint);
        let mut others = read.iter().filter(|joint| **joint != first);
        let second = others.find(|joint| !is_beside(**joint));
        let pair = second.map_or_else(
            || self.pair_bent_by(source, first),
            |&second| [first, second],
        );
        let axis = self.driver_axis(first).unwrap_or(DVec3::X);
        let input = source.on(pair, axis);
        let [from, to] = match source {
            DriverSource::Distance => self.range_of_distance(&input),
            _ if input.is_angle() => [0.0, FRAC_PI_2],
            _ => [0.0, 1.0],
        };
        self.set_driver(driver, "input", |layer| {
            layer.settings.input = input;
            layer.settings.from = from;
            layer.settings.to = to;
        });
    }

    /// Gives a driver a channel of a recording, with its range.
    pub fn set_driver_channel(&mut self, driver: usize, recording: RecordingId, name: &str) {
        let Some(known) = self.group_layers::<DriverLayer>().get(driver).cloned() else {
            return;
        };
        let recordings = self.document.recordings();
        let played = match known.played {
            Some(played) => played.of(recording, recordings),
            None => recordings.get(&recording).map_or_else(
                || Played::from_start(recording),
                |item| Played::on_lane(recording, item),
            ),
        };
        let range = self.range_of_channel(recording, name, &played);
        self.set_driver(driver, "channel", |layer| {
            layer.settings.input = DriverInput::Channel {
                name: name.to_owned(),
            };
            layer.played = Some(played);
            if let Some([from, to]) = range {
                layer.settings.from = from;
                layer.settings.to = to;
            }
        });
    }

    /// The axis about which a joint is turned in the pose on screen, in its own space, unit; in the rest pose, the axis across
    /// its bone. `None` where it has none.
    pub fn driver_axis(&self, joint: JointId) -> Option<DVec3> {
        let skeleton = self.document.skeleton();
        let pose = self.document.shown_pose();
        let local = pose.locals.get(joint.get())?;
        let rest = skeleton.joint(joint).rest.rotation;
        let turn: DQuat = rest.conjugate() * local.rotation;
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let (axis, angle) = turn.to_axis_angle();
        if angle.abs() > NO_TURN {
            return axis.try_normalize();
        }
        let rest_world = self.document.rest_pose().world_matrices(skeleton);
        let along = bone_axis(skeleton, &rest_world, joint)?;
        // The principal axis that is most across the bone.
        let across = [DVec3::X, DVec3::Z, DVec3::Y].into_iter();
        across.min_by(|a, b| a.dot(along).abs().total_cmp(&b.dot(along).abs()))
    }

    /// The bone of a driver's direction: its own, else the selected one, else the one that moves the clusters most.
    pub fn bone_for_driver(&self, driver: usize) -> Option<[JointId; 2]> {
        let known = self.group_layers::<DriverLayer>().get(driver)?.bone;
        let found = known.or_else(|| self.selected_muscle_bone());
        found.or_else(|| self.bone_of_group(self.active_group()?))
    }

    /// The painted weight of a driver at the selected clusters of the active group; `None` without any, or where they differ.
    pub fn driver_weight(&self, driver: usize) -> Option<f64> {
        let points = self.selected_clusters_of_group();
        let layer = self.group_layers::<DriverLayer>().get(driver)?;
        let weight = |point: u32| {
            let at = layer.weights.binary_search_by_key(&point, |w| w.0);
            at.map_or(1.0, |at| layer.weights[at].1)
        };
        let first = weight(*points.first()?);
        points.iter().all(|&p| weight(p) == first).then_some(first)
    }

    /// Paints the weight of a driver at the selected clusters of the active group.
    pub fn set_driver_weight(&mut self, driver: usize, weight: f64) {
        let points = self.selected_clusters_of_group();
        if points.is_empty() {
            self.notify("Select clusters of the active group first.");
            return;
        }
        self.set_driver(driver, "weight", |layer| {
            layer
                .weights
                .retain(|w| points.binary_search(&w.0).is_err());
            // 1 is what is not listed.
            if weight != 1.0 {
                layer.weights.extend(points.iter().map(|&p| (p, weight)));
                layer.weights.sort_unstable_by_key(|w| w.0);
            }
        });
    }

    /// The selected clusters of the active group, ascending; both sides of a seam.
    pub fn selected_clusters_of_group(&self) -> Vec<u32> {
        let (Some((_, item)), Some(group)) = (self.clustered_item(), self.active_group()) else {
            return Vec::new();
        };
        let selected = self.selected_vertices_of(item);
        let own = selected.iter();
        own.filter(|p| item.clusters.group_of(*p) == Some(group))
            .collect()
    }

    /// The joint whose bone drives the clusters of a group, and the next one below it.
    fn joints_to_drive(&self, group: u16) -> Option<[JointId; 2]> {
        let bone = self.selected_muscle_bone();
        if let Some(joint) = self.selected_driver_joint() {
            return Some(bone.unwrap_or([joint, self.next_joint(joint)]));
        }
        self.bone_of_group(group)
    }

    /// The first child of a joint, else its parent, else itself.
    fn next_joint(&self, joint: JointId) -> JointId {
        let skeleton = self.document.skeleton();
        if joint.get() >= skeleton.len() {
            return joint;
        }
        let child = skeleton.children(joint).first().copied();
        child.or(skeleton.joint(joint).parent).unwrap_or(joint)
    }

    /// Two joints whose angle or distance changes when `joint` bends: of angles the joint and its parent, of distances the
    /// two on either side of it. From a joint to its own child neither does.
    fn pair_bent_by(&self, source: DriverSource, joint: JointId) -> [JointId; 2] {
        let skeleton = self.document.skeleton();
        let next = self.next_joint(joint);
        let known = (joint.get() < skeleton.len()).then(|| skeleton.joint(joint).parent);
        match (source, known.flatten()) {
            (DriverSource::BoneAngle, Some(parent)) => [joint, parent],
            (DriverSource::Distance, Some(parent)) if next != parent => [parent, next],
            _ => [joint, next],
        }
    }

    /// From the distance in the rest pose to half of it.
    fn range_of_distance(&self, input: &DriverInput) -> [f64; 2] {
        let skeleton = self.document.skeleton();
        let rest = self.document.rest_pose();
        let world = rest.world_matrices(skeleton);
        let pose = crate::deform::PoseInputs {
            skeleton,
            rest_world: &world,
            locals: &rest.locals,
            world: &world,
            positions: &[] as &[Vec3],
            moment: Moment::default(),
        };
        match input.value(&pose) {
            Some(length) if length > NO_RANGE => [length, 0.5 * length],
            _ => [0.0, 1.0],
        }
    }

    fn read_first_channel(&mut self, driver: usize, known: &DriverLayer) {
        let wanted = known.played.map(|played| played.recording);
        let recordings = self.document.recordings().iter();
        let mut channels = recordings.filter_map(|(&id, item)| {
            let name = item.recording()?.driving_channels().into_iter().next()?;
            Some((id, name))
        });
        let first = channels.next();
        let own = channels.find(|(id, _)| Some(*id) == wanted);
        match own.or(first) {
            Some((id, name)) => self.set_driver_channel(driver, id, &name),
            None => self.notify(
                "There is no recording with a scalar or a rotation. Add one in Data: a CSV file with a column of numbers.",
            ),
        }
    }

    /// The smallest and the largest value of a channel; `None` where it does not vary.
    fn range_of_channel(
        &self,
        recording: RecordingId,
        name: &str,
        played: &Played,
    ) -> Option<[f64; 2]> {
        let item = self.document.recordings().get(&recording)?;
        let channel = item.recording()?.scalar(name, played.sampling)?.ok()?;
        let values = channel.values().iter();
        let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
            [low.min(*v), high.max(*v)]
        });
        (high - low > NO_RANGE).then_some([low, high])
    }
}
