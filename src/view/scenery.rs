//! The colours around the model, one set per theme: background, lines, bones.

use super::heat::hex;

/// The colours around the model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Theme {
    /// Light lines on dark grey.
    #[default]
    Dark,
    /// Dark lines on light grey.
    Light,
    /// White lines on black.
    HighContrast,
}

impl Theme {
    /// All themes, the default first.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::HighContrast];
}

/// The highlight of a bone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BoneState {
    /// None.
    #[default]
    Normal,
    /// Under the pointer.
    Hovered,
    /// Selected.
    Selected,
    /// Active.
    Active,
}

/// The colours of one [`Theme`], sRGB 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenery {
    /// Top of the background.
    pub top: [f32; 3],
    /// Bottom of the background.
    pub bottom: [f32; 3],
    /// Lines of the ground grid.
    pub grid: [f32; 3],
    /// Opacity of the strongest grid lines, 0 to 1.
    pub grid_strength: f32,
    /// Edges in [`super::Shading::Wire`].
    pub wire: [f32; 3],
    /// Opacity of those edges.
    pub wire_opacity: f32,
    /// Fill behind those edges.
    pub wire_fill: [f32; 3],
    /// Edges of the wireframe overlay.
    pub overlay: [f32; 3],
    /// Opacity of those edges.
    pub overlay_opacity: f32,
    /// Bones.
    pub bone: [f32; 3],
    /// Bones under the pointer.
    pub bone_hovered: [f32; 3],
    /// Selected bones.
    pub bone_selected: [f32; 3],
    /// The active bone: the accent colour.
    pub bone_active: [f32; 3],
    /// Outline of bones.
    pub bone_outline: [f32; 3],
    /// Outline of the active bone, visible on a model of its colour too.
    pub active_outline: [f32; 3],
    /// Text on the background, such as bone names.
    pub text: [f32; 3],
    /// Halo of that text.
    pub text_halo: [f32; 3],
}

const DARK: Scenery = Scenery {
    top: hex(0x44474C),
    bottom: hex(0x2A2C2F),
    grid: hex(0xA6ABB3),
    grid_strength: 0.42,
    wire: hex(0xC3C8CF),
    wire_opacity: 0.65,
    wire_fill: hex(0x3E4144),
    overlay: hex(0x101113),
    overlay_opacity: 0.38,
    bone: hex(0xC9CDD2),
    bone_hovered: hex(0xFFFFFF),
    bone_selected: hex(0xC88D3E),
    bone_active: hex(0xE8A33D),
    bone_outline: hex(0x131417),
    active_outline: hex(0xFFF4DC),
    text: hex(0xE9EBEE),
    text_halo: hex(0x131417),
};

const LIGHT: Scenery = Scenery {
    top: hex(0xE9EBEE),
    bottom: hex(0xC4C8CD),
    grid: hex(0x555A61),
    grid_strength: 0.42,
    wire: hex(0x24272B),
    wire_opacity: 0.75,
    wire_fill: hex(0xA9ADB2),
    overlay: hex(0x101113),
    overlay_opacity: 0.30,
    bone: hex(0xDFE2E6),
    bone_hovered: hex(0xFFFFFF),
    bone_selected: hex(0xC98A32),
    bone_active: hex(0xE8A33D),
    bone_outline: hex(0x17191C),
    active_outline: hex(0xFFFAEF),
    text: hex(0x17191C),
    text_halo: hex(0xF4F5F7),
};

const HIGH_CONTRAST: Scenery = Scenery {
    top: hex(0x0C0C0C),
    bottom: hex(0x000000),
    grid: hex(0xFFFFFF),
    grid_strength: 0.55,
    wire: hex(0xFFFFFF),
    wire_opacity: 0.95,
    wire_fill: hex(0x101010),
    overlay: hex(0x000000),
    overlay_opacity: 0.75,
    bone: hex(0xFFFFFF),
    bone_hovered: hex(0x9FE8FF),
    bone_selected: hex(0xFFC23D),
    bone_active: hex(0xFFAE1A),
    bone_outline: hex(0x000000),
    active_outline: hex(0xFFFFFF),
    text: hex(0xFFFFFF),
    text_halo: hex(0x000000),
};

impl Scenery {
    /// The colours of `theme`.
    pub fn of(theme: Theme) -> &'static Self {
        match theme {
            Theme::Dark => &DARK,
            Theme::Light => &LIGHT,
            Theme::HighContrast => &HIGH_CONTRAST,
        }
    }

    /// Fill and outline of a bone: its own `colour`, unless it is selected.
    pub fn of_bone(&self, state: BoneState, colour: Option<[f32; 3]>) -> [[f32; 3]; 2] {
        let toward_white = |c: [f32; 3]| c.map(|x| x + (1.0 - x) * 0.45);
        match state {
            BoneState::Normal => [colour.unwrap_or(self.bone), self.bone_outline],
            BoneState::Hovered => [
                colour.map_or(self.bone_hovered, toward_white),
                self.bone_outline,
            ],
            BoneState::Selected => [self.bone_selected, self.bone_outline],
            BoneState::Active => [self.bone_active, self.active_outline],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bones_stand_out_from_what_is_around_them() {
        let luminance = |c: [f32; 3]| {
            let [r, g, b] = c.map(|x| x.powf(2.2));
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        for theme in Theme::ALL {
            let s = Scenery::of(theme);
            for (a, b) in [
                (s.text, s.text_halo),
                (s.text, s.top),
                (s.text, s.bottom),
                (s.bone, s.bone_outline),
                (s.bone_active, s.bone_outline),
            ] {
                let (a, b) = (luminance(a), luminance(b));
                assert!(a.max(b) / a.min(b) >= 4.5, "{theme:?}: {a} {b}");
            }
        }
    }
}
