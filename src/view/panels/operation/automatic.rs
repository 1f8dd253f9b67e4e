//! The settings of automatic weights.

use super::rows::{about_ui, combo_ui, count_ui, number_ui, row_ui};
use crate::weights::automatic::Automatic;
use egui::Ui;

/// Default resolution: cells along the longest side.
const VOXELS: u32 = 128;
/// Default resolution of the bounded biharmonic method, which solves for each cell.
const BIHARMONIC_VOXELS: u32 = 32;

#[derive(Clone, Copy, PartialEq)]
enum Method {
    Heat,
    Voxel,
    Biharmonic,
    Rigid,
}

/// Draws the method and its settings.
pub(super) fn automatic_ui(ui: &mut Ui, automatic: &mut Automatic) {
    let before = match automatic {
        Automatic::Heat => Method::Heat,
        Automatic::Voxel { .. } => Method::Voxel,
        Automatic::Biharmonic { .. } => Method::Biharmonic,
        Automatic::Rigid => Method::Rigid,
    };
    let mut method = before;
    row_ui(
        ui,
        "Method",
        "The algorithm that computes the weights.",
        |ui| {
            let options = [
                (Method::Heat, "Bone heat".to_owned(), true),
                (Method::Voxel, "Geodesic voxel".to_owned(), true),
                (Method::Biharmonic, "Bounded biharmonic".to_owned(), true),
                (Method::Rigid, "Nearest bone".to_owned(), true),
            ];
            combo_ui(ui, "Method", &mut method, &options);
        },
    );
    if method != before {
        *automatic = match method {
            Method::Heat => Automatic::Heat,
            Method::Voxel => Automatic::Voxel {
                resolution: VOXELS,
                falloff: 0.3,
            },
            Method::Biharmonic => Automatic::Biharmonic {
                resolution: BIHARMONIC_VOXELS,
            },
            Method::Rigid => Automatic::Rigid,
        };
    }
    match automatic {
        Automatic::Heat => about_ui(
            ui,
            "Diffuses heat from each bone over the surface (Pinocchio). Fast. Needs a closed surface around the \
             bones.",
        ),
        Automatic::Voxel {
            resolution,
            falloff,
        } => {
            about_ui(
                ui,
                "Geodesic distance from each bone through a voxel grid. Works with open, torn and overlapping meshes.",
            );
            let about = "Voxels along the longest side. More voxels separate thin parts better but take longer.";
            count_ui(ui, "Resolution", about, resolution, 32..=512);
            let about = "0 spreads the weights far, 1 keeps them close to the nearest bone.";
            number_ui(ui, "Falloff", about, falloff, 0.0..=1.0, 2);
        }
        Automatic::Biharmonic { resolution } => {
            about_ui(
                ui,
                "The smoothest weights between 0 and 1, solved on voxels inside the mesh. Best at joints, but \
                 slowest.",
            );
            let about = "Voxels along the longest side. More voxels separate thin parts better but take longer.";
            count_ui(ui, "Resolution", about, resolution, 16..=64);
        }
        Automatic::Rigid => about_ui(
            ui,
            "Each vertex follows its nearest bone alone, without a blend. For robots, armour and toys.",
        ),
    }
}
