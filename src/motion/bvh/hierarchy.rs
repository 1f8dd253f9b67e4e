//! The joints of a BVH file.

use super::{BvhChannel, BvhJoint};
use crate::motion::fault::Fault;
use crate::motion::recording::Note;
use crate::motion::table::{Cell, read_cell};
use crate::motion::text::Lines;
use glam::DVec3;
use std::collections::BTreeSet;

/// The largest number of joints.
const MAX_JOINTS: usize = 4096;
/// How deep joints may be nested.
const MAX_DEPTH: usize = 256;

/// A block that is open.
#[derive(Clone, Copy)]
enum Block {
    /// That of a joint.
    Joint(usize),
    /// An end site of a joint.
    End(usize),
}

/// What was read so far.
#[derive(Default)]
struct Hierarchy {
    joints: Vec<BvhJoint>,
    /// The line of each.
    lines: Vec<usize>,
    open: Vec<Block>,
    /// A block whose `{` is to come, and the words before it.
    pending: Option<(Block, String)>,
    /// Joints and ends that have an offset: the joint, and the number of the end site from 1, 0 for the joint itself.
    placed: BTreeSet<(usize, usize)>,
}

/// Reads from `HIERARCHY` to `MOTION`.
pub(super) fn read(lines: &mut Lines<'_>, notes: &mut Vec<Note>) -> Result<Vec<BvhJoint>, Fault> {
    let (line, first) = lines.next_filled().unwrap_or((1, ""));
    if is_word(first, "MOTION") {
        return Err(Fault::line(line, "MOTION comes before HIERARCHY"));
    }
    if !is_word(first, "HIERARCHY") {
        let what = format!("HIERARCHY expected, found \"{first}\"");
        return Err(Fault::line(line, what));
    }
    let mut hierarchy = Hierarchy::default();
    loop {
        let Some((line, text)) = lines.next_filled() else {
            return Err(Fault::line(lines.line(), "the file ends before MOTION"));
        };
        if is_word(text, "MOTION") && hierarchy.pending.is_none() {
            hierarchy.end(line)?;
            break;
        }
        for part in parts(text) {
            hierarchy.read(line, part, notes)?;
        }
    }
    let mut joints = hierarchy.joints;
    let mut names = BTreeSet::new();
    let mut first_channel = 0;
    for (joint, line) in joints.iter_mut().zip(hierarchy.lines) {
        joint.first_channel = first_channel;
        first_channel += joint.channels.len();
        if !names.insert(joint.name.clone()) {
            let text = format!("There is a second joint called \"{}\".", joint.name);
            notes.push(Note::new(line, text));
        }
        if joint.channels.is_empty() {
            let text = format!("\"{}\" has no CHANNELS: it does not move.", joint.name);
            notes.push(Note::new(line, text));
        }
    }
    Ok(joints)
}

/// The keywords and braces of a line.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split_inclusive(['{', '}']).flat_map(|piece| {
        let (text, brace) = match piece.strip_suffix(['{', '}']) {
            Some(text) => (text, &piece[text.len()..]),
            None => (piece, ""),
        };
        [text.trim(), brace]
    });
    ends.filter(|part| !part.is_empty())
}

/// Whether a statement is this word, in any case.
fn is_word(text: &str, word: &str) -> bool {
    text.eq_ignore_ascii_case(word)
}

/// A finite number, or what is wrong with it; `of` says what it is.
fn number(line: usize, text: &str, of: &str) -> Result<f64, Fault> {
    match read_cell(text, true) {
        Cell::Number(number) => Ok(number),
        Cell::Missing => Err(Fault::line(line, format!("{of} is not finite"))),
        Cell::Word(word) => {
            let what = format!("\"{word}\" is not a number ({of})");
            Err(Fault::line(line, what))
        }
    }
}

impl Hierarchy {
    /// Reads a statement or a brace.
    fn read(&mut self, line: usize, part: &str, notes: &mut Vec<Note>) -> Result<(), Fault> {
        if let Some((block, words)) = self.pending.take() {
            if part != "{" {
                let what = format!("\"{{\" expected after \"{words}\", found \"{part}\"");
                return Err(Fault::line(line, what));
            }
            if self.open.len() == MAX_DEPTH {
                let what = format!("joints are nested more than {MAX_DEPTH} deep");
                return Err(Fault::line(line, what));
            }
            self.open.push(block);
            return Ok(());
        }
        let (word, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        let rest = rest.trim();
        match word.to_ascii_uppercase().as_str() {
            "{" => Err(Fault::line(line, "\"{\" does not open a joint")),
            "}" => match self.open.pop() {
                Some(_) => Ok(()),
                None => Err(Fault::line(line, "\"}\" does not close a joint")),
            },
            "ROOT" | "JOINT" => self.begin_joint(line, word, rest, part),
            "END" => match self.open.last() {
                Some(&Block::Joint(joint)) => {
                    self.joints[joint].end_sites.push(DVec3::ZERO);
                    self.pending = Some((Block::End(joint), part.to_owned()));
                    Ok(())
                }
                Some(Block::End(_)) => Err(Fault::line(line, "an End Site inside an End Site")),
                None => Err(Fault::line(line, "an End Site outside of a joint")),
            },
            "OFFSET" => self.read_offset(line, rest),
            "CHANNELS" => self.read_channels(line, rest),
            "MOTION" => Err(Fault::line(line, "MOTION stands inside the hierarchy")),
            "HIERARCHY" if self.open.is_empty() => {
                // Some files repeat it for each root.
                notes.push(Note::new(line, "A second HIERARCHY keyword is ignored."));
                Ok(())
            }
            _ => {
                let what = format!("unknown word \"{word}\" in the hierarchy");
                Err(Fault::line(line, what))
            }
        }
    }

    fn begin_joint(
        &mut self,
        line: usize,
        word: &str,
        name: &str,
        part: &str,
    ) -> Result<(), Fault> {
        let is_root = is_word(word, "ROOT");
        let parent = match self.open.last() {
            Some(Block::End(_)) => return Err(Fault::line(line, "a joint inside an End Site")),
            Some(Block::Joint(parent)) if is_root => {
                let parent = &self.joints[*parent].name;
                let what = format!("ROOT \"{name}\" inside \"{parent}\"");
                return Err(Fault::line(line, what));
            }
            Some(Block::Joint(parent)) => Some(*parent),
            None if is_root => None,
            None => {
                let what = format!("JOINT \"{name}\" has no parent");
                return Err(Fault::line(line, what));
            }
        };
        let index = self.joints.len();
        if index == MAX_JOINTS {
            return Err(Fault::line(line, format!("more than {MAX_JOINTS} joints")));
        }
        let name = match name {
            "" => format!("joint {index}"),
            name => name.to_owned(),
        };
        self.joints.push(BvhJoint {
            name,
            parent,
            ..BvhJoint::default()
        });
        self.lines.push(line);
        self.pending = Some((Block::Joint(index), part.to_owned()));
        Ok(())
    }

    fn read_offset(&mut self, line: usize, rest: &str) -> Result<(), Fault> {
        let n = rest.split_whitespace().count();
        if n != 3 {
            return Err(Fault::line(
                line,
                format!("OFFSET needs 3 numbers, found {n}"),
            ));
        }
        let mut offset = DVec3::ZERO;
        for (axis, text) in rest.split_whitespace().enumerate() {
            offset[axis] = number(line, text, "OFFSET")?;
        }
        let Some(block) = self.open.last().copied() else {
            return Err(Fault::line(line, "OFFSET outside of a joint"));
        };
        let place = match block {
            Block::Joint(joint) => (joint, 0),
            Block::End(joint) => (joint, self.joints[joint].end_sites.len()),
        };
        if !self.placed.insert(place) {
            let name = &self.joints[place.0].name;
            return Err(Fault::line(line, format!("a second OFFSET in \"{name}\"")));
        }
        let joint = &mut self.joints[place.0];
        match block {
            Block::Joint(_) => joint.offset = offset,
            Block::End(_) => {
                if let Some(end) = joint.end_sites.last_mut() {
                    *end = offset;
                }
            }
        }
        Ok(())
    }

    fn read_channels(&mut self, line: usize, rest: &str) -> Result<(), Fault> {
        let mut words = rest.split_whitespace();
        let count = words.next().unwrap_or_default();
        let names: Vec<&str> = words.collect();
        if count.parse() != Ok(names.len()) {
            let what = format!(
                "CHANNELS says {}, but names {}",
                if count.is_empty() { "nothing" } else { count },
                names.len()
            );
            return Err(Fault::line(line, what));
        }
        let Some(&Block::Joint(joint)) = self.open.last() else {
            if names.is_empty() && !self.open.is_empty() {
                return Ok(());
            }
            return Err(Fault::line(line, "CHANNELS outside of a joint"));
        };
        let joint = &mut self.joints[joint];
        for name in names {
            let Some(channel) = channel(name) else {
                let what = format!("unknown channel \"{name}\"");
                return Err(Fault::line(line, what));
            };
            if joint.channels.contains(&channel) {
                let of = &joint.name;
                let what = format!("channel \"{name}\" twice in \"{of}\"");
                return Err(Fault::line(line, what));
            }
            joint.channels.push(channel);
        }
        Ok(())
    }

    /// At the line of `MOTION`.
    fn end(&self, line: usize) -> Result<(), Fault> {
        match self.open.len() {
            0 if self.joints.is_empty() => Err(Fault::line(line, "no ROOT before MOTION")),
            0 => Ok(()),
            1 => Err(Fault::line(line, "one \"{\" is open at MOTION")),
            n => Err(Fault::line(line, format!("{n} \"{{\" are open at MOTION"))),
        }
    }
}

/// A channel by its name, in any case.
fn channel(name: &str) -> Option<BvhChannel> {
    let name = name.to_ascii_lowercase();
    let axis = "xyz".find(name.chars().next()?)?;
    match &name[1..] {
        "position" => Some(BvhChannel::Position(axis)),
        "rotation" => Some(BvhChannel::Rotation(axis)),
        _ => None,
    }
}
