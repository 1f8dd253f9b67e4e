//! The kinds of clusters of Bukatov et al. 2014 as presets of new groups, in the colours of its Fig. 3.

use super::{Base, ClusterGroup, ClusterMap, ControlMotion, Glyph};

/// The colour of free points, sRGB: blue, as in the paper.
pub const FREE_COLOUR: [u8; 3] = [86, 140, 233];

/// A preset of a new group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupPreset {
    /// Clusters that only the skin moves; the paper draws them without a mark.
    #[default]
    Skin,
    /// Clusters that pose space deformation (PSD) corrects; yellow in the paper.
    PoseSpace,
    /// Clusters that a procedure displaces, such as the bulge of a muscle; green in the paper.
    Procedural,
    /// A colour and a glyph that no other group of the mesh has.
    Custom,
}

impl GroupPreset {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 4] = [Self::Skin, Self::PoseSpace, Self::Procedural, Self::Custom];

    /// The name of its first group.
    pub fn label(self) -> &'static str {
        match self {
            Self::Skin => "Skin",
            Self::PoseSpace => "PSD",
            Self::Procedural => "Procedural",
            Self::Custom => "Group",
        }
    }

    /// A new group for `map`, moved by the deformer stack, with a name that is free there.
    pub fn group(self, map: &ClusterMap) -> ClusterGroup {
        let name = free_name(self.label(), map);
        let of = |colour, glyph| ClusterGroup {
            drivers: Vec::new(),
            data: Vec::new(),
            unplaced: Vec::new(),
            name: name.clone(),
            colour,
            glyph,
            base: Base::default(),
            muscles: Vec::new(),
            hand: ControlMotion::default(),
            lattice: None,
            cage: None,
        };
        match self {
            Self::Skin => of([222, 222, 222], Glyph::Circle),
            Self::PoseSpace => of([240, 228, 66], Glyph::Square),
            Self::Procedural => of([0, 158, 115], Glyph::Triangle),
            Self::Custom => {
                let is_free = |group: &ClusterGroup| {
                    let mut groups = map.groups().iter();
                    groups.all(|g| g.colour != group.colour && g.glyph != group.glyph)
                };
                // Not the colours and glyphs of the other presets, nor a blue like that of free points.
                let distinct = [
                    of([204, 121, 167], Glyph::Diamond),
                    of([230, 159, 0], Glyph::Star),
                    of([213, 94, 0], Glyph::Cross),
                ];
                let found = distinct.into_iter().find(is_free);
                found.unwrap_or_else(|| ClusterGroup::new(name, map.groups().len()))
            }
        }
    }
}

/// `wanted`, or with the first number that makes it differ from the names of `map`.
pub fn free_name(wanted: &str, map: &ClusterMap) -> String {
    if map.group_named(wanted).is_none() {
        return wanted.to_owned();
    }
    let mut names = (2..).map(|n| format!("{wanted} {n}"));
    let free = names.find(|name| map.group_named(name).is_none());
    free.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_presets_differ_in_name_colour_and_glyph() {
        let mut map = ClusterMap::default();
        for preset in GroupPreset::ALL {
            map = map.with_group(None, preset.group(&map)).unwrap();
        }
        map = map
            .with_group(None, GroupPreset::Custom.group(&map))
            .unwrap();
        let groups = map.groups();
        for (i, a) in groups.iter().enumerate() {
            for b in &groups[i + 1..] {
                assert!(a.colour != b.colour && a.glyph != b.glyph, "{a:?} {b:?}");
            }
            assert_ne!(a.colour, FREE_COLOUR);
        }
        let yellow = &groups[1];
        assert_eq!(
            (yellow.name.as_str(), yellow.colour),
            ("PSD", [240, 228, 66])
        );
        assert_eq!(groups[4].name, "Group 2");
        // However many there are, names stay distinct.
        for _ in 0..20 {
            map = map
                .with_group(None, GroupPreset::Custom.group(&map))
                .unwrap();
        }
    }
}
