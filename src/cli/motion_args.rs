//! The arguments of `sinew motion`.

use super::retarget_args::{RootArg, StretchArg, parse_twist};
use super::stream_args::{STREAMS, Streams, parse_two};
use crate::io::live::{JSON_PORT, VMC_PORT};
use crate::motion::bindings::Binding;
use crate::motion::bvh::Positions;
use crate::motion::retarget::Travel;
use clap::{Args, Subcommand, ValueEnum};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// `sinew motion`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct MotionArgs {
    /// Other work.
    #[command(subcommand)]
    pub command: Option<MotionCommand>,
    /// With --bvh, --from, --replay, or --stream and --out, the character: a model (.gltf, .glb) or project (.ron). With --places, a BVH
    /// file. With --table, a model or project whose rest pose replaces rotations that are missing.
    pub file: Option<PathBuf>,
    /// Write the joint positions of a BVH file at these frames, counted from 0, as an array (frames, joints, 3), in the
    /// file's own axes and units.
    #[arg(
        long,
        value_name = "F0,F1",
        value_delimiter = ',',
        requires_all = ["file", "out"],
        conflicts_with_all = ["table", "bvh", "from"]
    )]
    pub places: Vec<usize>,
    /// How to read the position channels of a BVH file: in place of the joint's offset, added to it, or, joint by
    /// joint, whichever keeps the body connected.
    #[arg(long, value_enum, default_value = "auto")]
    pub positions: PositionsArg,
    /// The file to write: for --places .npy (float64), for --bvh, --from, --replay and --stream .glb,
    /// .gltf or .ron.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Retarget the motion of a BVH file to the character, as a clip.
    #[arg(
        long,
        value_name = "M.bvh",
        requires_all = ["file", "out"],
        conflicts_with_all = ["from", "table"],
        help_heading = RETARGET
    )]
    pub bvh: Option<PathBuf>,
    /// What the frame time of the BVH file is: seconds or, where it is more than 1, frames per second.
    #[arg(long, value_enum, default_value = "seconds", requires = "bvh", help_heading = RETARGET)]
    pub frame_time: FrameTimeArg,
    /// The same as --bvh with a clip of another model or project.
    #[arg(
        long,
        value_name = "MODEL",
        requires_all = ["file", "out"],
        conflicts_with = "table",
        help_heading = RETARGET
    )]
    pub from: Option<PathBuf>,
    /// The same with a log of VMC packets, or another recording, as with --stream.
    #[arg(
        long,
        value_name = "TAKE",
        requires_all = ["file", "out"],
        conflicts_with_all = ["bvh", "from", "table", "places"],
        help_heading = RETARGET
    )]
    pub replay: Option<PathBuf>,
    /// The clip of --from, by number from 0 or by name; default: the first.
    #[arg(long, value_name = "K|NAME", requires = "from", help_heading = RETARGET)]
    pub clip: Option<String>,
    /// How bones are found: auto, names, structure, or a file (.ron) with pairs of names, which the manual describes.
    #[arg(long, default_value = "auto", value_parser = parse_map, help_heading = RETARGET)]
    pub map: MapArg,
    /// The pose of the motion that corresponds to the character's rest pose: auto, best, zero, or a frame, counted from
    /// 0.
    #[arg(long, default_value = "auto", value_parser = parse_reference, help_heading = RETARGET)]
    pub reference: ReferenceArg,
    /// Which way the character faces at the start: as in the rest pose, or as recorded.
    #[arg(long, value_enum, default_value = "forward", help_heading = RETARGET)]
    pub heading: HeadingArg,
    /// The scale of the root motion: the ratio of the leg lengths, of the hip heights, or a factor.
    #[arg(long, value_name = "leg|hip|X", default_value = "leg", value_parser = parse_scale, help_heading = RETARGET)]
    pub scale: ScaleArg,
    /// How much of the root motion to keep.
    #[arg(long, value_enum, default_value = "full", help_heading = RETARGET)]
    pub travel: TravelArg,
    /// Which joint travels: the hips, or the root joint of the skeleton along the floor.
    #[arg(long, value_enum, default_value = "hips", help_heading = RETARGET)]
    pub root: RootArg,
    /// Whether to keep the stretch of bones.
    #[arg(long, value_enum, default_value = "drop", help_heading = RETARGET)]
    pub stretch: StretchArg,
    /// Twist the bone of a role about its axis by -180 to 180 degrees, as in l.forearm=20; may be repeated.
    #[arg(long, value_name = "ROLE=DEGREES", value_parser = parse_twist, allow_hyphen_values = true, help_heading = RETARGET)]
    pub twist: Vec<(String, f64)>,
    /// Whether to lock feet in place while they are planted.
    #[arg(long, value_enum, default_value = "lock", help_heading = RETARGET)]
    pub feet: FeetArg,
    /// Bind a channel of --replay or --stream, in place of what has its name: CHANNEL=rotation:BONE or world:BONE, hinge:BONE with an
    /// axis x, y or z (default: that of its rotation limits), a gain and an offset in degrees, move:BONE, morph:TARGET,
    /// sample:SAMPLE, or none, such as knee=hinge:shin.L,x,-1. May be given several times.
    #[arg(long, value_name = "CHANNEL=KIND:NAME", value_parser = parse_binding, help_heading = RETARGET)]
    pub bind: Vec<Binding>,
    /// How far joints may deviate to save keyframes, in percent of the character's height; 0% keeps all keyframes.
    #[arg(long, value_name = "P%", default_value = "0.1%", value_parser = parse_tolerance, help_heading = RETARGET)]
    pub tolerance: f64,
    /// The file for the report of the mapping, the feet and the keys, as JSON.
    #[arg(long, value_name = "R.json", help_heading = RETARGET)]
    pub report: Option<PathBuf>,
    /// Record live motion: VMC packets over UDP or JSON lines over TCP at a port of this computer, or JSON lines of the
    /// standard input.
    #[arg(
        long,
        value_name = "vmc[:PORT]|json[:PORT]|json:-",
        value_parser = parse_listen,
        requires = "record",
        conflicts_with_all = ["bvh", "from", "replay", "table", "places"],
        help_heading = LIVE
    )]
    pub listen: Option<ListenArg>,
    /// Listen on all network interfaces: any computer in your network can then send motion.
    #[arg(long, requires = "listen", help_heading = LIVE)]
    pub all_interfaces: bool,
    /// Record only what the computer with this IPv4 address sends; default: any that may send.
    #[arg(long, value_name = "ADDRESS", requires = "listen", help_heading = LIVE)]
    pub sender: Option<Ipv4Addr>,
    /// How long to listen, 0.1 - 1800 seconds.
    #[arg(
        long,
        value_name = "S",
        default_value = "10",
        value_parser = parse_seconds,
        requires = "listen",
        help_heading = LIVE
    )]
    pub seconds: f64,
    /// The file for what is received, as JSON lines.
    #[arg(long, value_name = "TAKE.jsonl", requires = "listen", help_heading = LIVE)]
    pub record: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub streams: Streams,
    /// Write all channels of the streams at common times as CSV, each with a column that says whether its value is
    /// valid.
    #[arg(long, value_name = "OUT.csv", requires = "stream", help_heading = STREAMS)]
    pub table: Option<PathBuf>,
    /// Rows per second of the table, 1 - 1000.
    #[arg(long, value_name = "HZ", default_value = "60", value_parser = parse_rate, help_heading = STREAMS)]
    pub rate: f64,
    /// The common time to write or to ask about, seconds; default: where all streams have samples, of --query where any
    /// has.
    #[arg(long, value_name = "START,END", value_parser = parse_range, requires = "stream", help_heading = STREAMS)]
    pub range: Option<[f64; 2]>,
    /// The channels to write or to ask about, as STREAM.CHANNEL; default: all.
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "stream", help_heading = STREAMS)]
    pub channels: Vec<String>,
    /// Write only rows in which all channels have a value.
    #[arg(long, requires = "table", help_heading = STREAMS)]
    pub valid: bool,
    /// Print what the channels are over the range, as JSON: least and largest value with their times, mean, events.
    #[arg(long, requires = "stream", conflicts_with = "table", help_heading = STREAMS)]
    pub query: bool,
    /// Also the values at these common times, seconds.
    #[arg(
        long,
        value_name = "T0,T1",
        value_delimiter = ',',
        allow_negative_numbers = true,
        value_parser = parse_finite,
        requires = "query",
        help_heading = STREAMS
    )]
    pub at: Vec<f64>,
    /// Also when the values are above a threshold, in the channel's unit.
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        value_parser = parse_finite,
        requires = "query",
        help_heading = STREAMS
    )]
    pub above: Option<f64>,
}

const LIVE: &str = "Live motion";
const RETARGET: &str = "Retargeting";

/// `sinew motion info`
#[derive(Debug, Subcommand)]
pub enum MotionCommand {
    /// Print what a motion file holds: joints, frames, channels, gaps, and what was repaired.
    Info(MotionInfoArgs),
}

/// `sinew motion info`
#[derive(Debug, Args)]
pub struct MotionInfoArgs {
    /// A motion file: .bvh, .csv, .tsv, .trc, .jsonl or .vmclog.
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
}

/// `--positions`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PositionsArg {
    /// For each joint, whichever keeps the body connected.
    Auto,
    /// In place of the offset.
    Replace,
    /// Added to the offset.
    Add,
}

impl From<PositionsArg> for Positions {
    fn from(value: PositionsArg) -> Self {
        match value {
            PositionsArg::Auto => Self::Auto,
            PositionsArg::Replace => Self::Replace,
            PositionsArg::Add => Self::Add,
        }
    }
}

/// `--listen`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenArg {
    /// VMC packets at a UDP port; 0: a free one.
    Vmc(u16),
    /// JSON lines at a TCP port; 0: a free one.
    Json(u16),
    /// JSON lines of the standard input.
    Input,
}

/// `--map`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapArg {
    /// By names, else by structure.
    Auto,
    /// By names.
    Names,
    /// By structure.
    Structure,
    /// By a file, over what is found.
    File(PathBuf),
}

/// `--reference`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceArg {
    /// The zero pose unless a frame is much nearer.
    Auto,
    /// The nearest frame.
    Best,
    /// The zero pose.
    Zero,
    /// A frame.
    Frame(usize),
}

/// `--scale`
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleArg {
    /// By the legs.
    Leg,
    /// By the height of the hips.
    Hip,
    /// A factor.
    Fixed(f64),
}

/// `--heading`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HeadingArg {
    /// As at rest.
    Forward,
    /// As recorded.
    Recorded,
}

/// `--travel`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TravelArg {
    /// All of it.
    Full,
    /// Only the sway about the position averaged over a second.
    InPlace,
    /// Only up and down.
    Vertical,
}

/// `--frame-time`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FrameTimeArg {
    /// Seconds from frame to frame.
    Seconds,
    /// Frames per second.
    Fps,
}

/// `--feet`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FeetArg {
    /// Planted feet stay in place.
    Lock,
    /// Feet move as in the motion.
    Free,
}

impl From<TravelArg> for Travel {
    fn from(value: TravelArg) -> Self {
        match value {
            TravelArg::Full => Self::Full,
            TravelArg::InPlace => Self::InPlace,
            TravelArg::Vertical => Self::Vertical,
        }
    }
}

fn parse_map(text: &str) -> Result<MapArg, String> {
    let is_ron = |path: &PathBuf| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("ron"))
    };
    match text {
        "auto" => Ok(MapArg::Auto),
        "names" => Ok(MapArg::Names),
        "structure" => Ok(MapArg::Structure),
        file => Some(PathBuf::from(file))
            .filter(is_ron)
            .map(MapArg::File)
            .ok_or_else(|| "give auto, names, structure or a file that ends in .ron".into()),
    }
}

fn parse_reference(text: &str) -> Result<ReferenceArg, String> {
    match text {
        "auto" => Ok(ReferenceArg::Auto),
        "best" => Ok(ReferenceArg::Best),
        "zero" => Ok(ReferenceArg::Zero),
        frame => {
            let frame = frame.parse().map(ReferenceArg::Frame);
            frame.map_err(|_| "give auto, best, zero or a frame, counted from 0".into())
        }
    }
}

fn parse_scale(text: &str) -> Result<ScaleArg, String> {
    match text {
        "leg" => Ok(ScaleArg::Leg),
        "hip" => Ok(ScaleArg::Hip),
        factor => match factor.parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor <= 1e6 => Ok(ScaleArg::Fixed(factor)),
            _ => Err("give leg, hip or a factor above 0".into()),
        },
    }
}

fn parse_binding(text: &str) -> Result<Binding, String> {
    text.parse()
}

/// A percentage as a fraction.
fn parse_tolerance(text: &str) -> Result<f64, String> {
    let percent = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("give a percentage from 0% to 100%, such as 0.1%".into()),
    }
}

fn parse_listen(text: &str) -> Result<ListenArg, String> {
    let (kind, port) = text.split_once(':').unwrap_or((text, ""));
    let number = |usual: u16| match port {
        "" if !text.ends_with(':') => Some(usual),
        port => port.parse().ok(),
    };
    let found = match (kind, port) {
        ("json", "-") => Some(ListenArg::Input),
        ("json", _) => number(JSON_PORT).map(ListenArg::Json),
        ("vmc", _) => number(VMC_PORT).map(ListenArg::Vmc),
        _ => None,
    };
    found.ok_or_else(|| {
        format!(
            "give vmc or vmc:PORT, json or json:PORT, or json:- for the standard input; without PORT it is {VMC_PORT} for \
             vmc and {JSON_PORT} for json"
        )
    })
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=1800.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds, 0.1 - 1800".into()),
    }
}

fn parse_finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("give a number".into()),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (1.0..=1000.0).contains(&rate) => Ok(rate),
        _ => Err("give rows per second, 1 - 1000".into()),
    }
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let range = parse_two(text).filter(|[start, end]| start <= end);
    range.ok_or_else(|| "give a start and an end in seconds, as in 0.5,29.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Timing;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        motion: MotionArgs,
    }

    fn read(line: &str) -> Result<MotionArgs, clap::Error> {
        Line::try_parse_from(line.split(' ')).map(|line| line.motion)
    }

    #[test]
    fn clocks_and_events_belong_to_the_stream_before_them() {
        let line = "motion --stream a.csv --event clap=1.5@1 --event end=9@8.5 --stream b.csv --clock 1.001,-4 --table t.csv";
        let streams = read(line).unwrap().streams.0;
        assert_eq!(streams[0].events.len(), 2);
        assert_eq!(
            (streams[0].events[1].device, streams[0].events[1].common),
            (9.0, 8.5)
        );
        assert_eq!(
            (streams[0].clock, streams[1].clock),
            (None, Some((1.001, Some(-4.0))))
        );
        let one = read("motion --stream a.csv --clock 1.001 --event clap=1.5@1 --query").unwrap();
        assert_eq!(one.streams.0[0].clock, Some((1.001, None)));
        let why = read("motion --clock 1,0 --stream a.csv --table t.csv").unwrap_err();
        assert!(why.to_string().contains("--clock must follow"), "{why}");
        let timed = read("motion --stream a.csv --stream b.csv --times regular --query").unwrap();
        let timed: Vec<_> = timed.streams.0.iter().map(|stream| stream.timing).collect();
        assert_eq!(timed, [None, Some(Timing::Regular)]);
        let why = read("motion --times regular --stream a.csv --query").unwrap_err();
        assert!(why.to_string().contains("--times must follow"), "{why}");
        assert!(read("motion --stream a.csv --table t.csv --query").is_err());
        assert!(read("motion --stream a.csv --event clap=1 --table t.csv").is_err());
        assert!(read("motion info a.csv --json").unwrap().command.is_some());
    }
}
