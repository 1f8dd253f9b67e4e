//! The settings of automatic weights.

use super::rows::{about_ui, combo_ui, count_ui, number_ui, row_ui};
use crate::weights::automatic::Automatic;
use egui::Ui;

/// Cells along the longest side, unless told otherwise.
const VOXELS: u32 = 128;
/// The same for the method that solves for each cell.
const BIHARMONIC_VOXELS: u32 = 32;

#[derive(Clone, Copy, PartialEq)]
enum Method {
    Heat,
    Voxel,
    Biharmonic,
}

/// The method and what it needs.
pub(super) fn automatic_ui(ui: &mut Ui, automatic: &mut Automatic) {
    let before = match automatic {
        Automatic::Heat => Method::Heat,
        Automatic::Voxel { .. } => Method::Voxel,
        Automatic::Biharmonic { .. } => Method::Biharmonic,
    };
    let mut method = before;
    row_ui(ui, "Method", "How weights are found.", |ui| {
        let options = [
            (Method::Heat, "Bone heat".to_owned(), true),
            (Method::Voxel, "Geodesic voxel".to_owned(), true),
            (Method::Biharmonic, "Bounded biharmonic".to_owned(), true),
        ];
        combo_ui(ui, "Method", &mut method, &options);
    });
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
        };
    }
    match automatic {
        Automatic::Heat => about_ui(
            ui,
            "Heat flows from each bone over the surface that it sees. Quick; wants a closed surface around its bones.",
        ),
        Automatic::Voxel {
            resolution,
            falloff,
        } => {
            about_ui(
                ui,
                "Distance from each bone through the inside. Takes open, torn and overlapping meshes.",
            );
            let about =
                "Cells along the longest side: more tell thin parts apart, and take longer.";
            count_ui(ui, "Resolution", about, resolution, 32..=512);
            let about = "0 reaches far, 1 keeps close to the nearest bone.";
            number_ui(ui, "Falloff", about, falloff, 0.0..=1.0, 2);
        }
        Automatic::Biharmonic { resolution } => {
            about_ui(
                ui,
                "The smoothest weights between 0 and 1, found on cells inside. Best at joints, slowest.",
            );
            let about =
                "Cells along the longest side: more tell thin parts apart, and take longer.";
            count_ui(ui, "Resolution", about, resolution, 16..=64);
        }
    }
}
