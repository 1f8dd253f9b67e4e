//! The connection of live motion and its state.

use super::super::clusters::layer_row::dim_ui;
use super::super::correctives::heading_ui;
use super::super::operation::rows::{combo_ui, row_ui};
use crate::editor::Editor;
use crate::editor::live::{LiveKind, LiveMotion, LiveSettings};
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, Color32, DragValue, Id, Label, RichText, Role, TextEdit, Ui, WidgetInfo};
use egui_material_icons::icons;
use std::net::Ipv4Addr;

/// The warning while other computers may send.
const OPEN: &str = "Anyone in your network can move this character.";
/// The hint at fields that are fixed while listening.
const FIXED: &str = "Stop listening to change this.";

/// Draws the protocol, the port, who may send, the button, and the state.
pub(super) fn listening_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    heading_ui(ui, "Live", "");
    let is_live = editor.live().is_some();
    let mut settings = *editor.live_settings();
    fields_ui(ui, &mut settings, !is_live);
    editor.set_live_settings(settings);
    let command = Command::ToggleListening;
    ui.horizontal_top(|ui| {
        let text = if is_live { "Stop" } else { "Listen" };
        let button = ui.add(Button::new(text).selected(is_live));
        button.widget_info(|| WidgetInfo::selected(Role::Button, true, is_live, text));
        if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            commands.push(command);
        }
        // Beside it, so that it is seen in a low panel.
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            if let Some(why) = editor.listen_failure() {
                error_ui(ui, why);
            }
            if let Some(live) = editor.live() {
                state_ui(ui, editor, live);
            }
        });
    });
}

fn fields_ui(ui: &mut Ui, settings: &mut LiveSettings, enabled: bool) {
    let hint = if enabled { "" } else { FIXED };
    ui.add_enabled_ui(enabled, |ui| {
        let about = format!(
            "The protocol of the sending program: Virtual Motion Capture (VR, webcam and suit software), or JSON lines from a \
             program of your own. {hint}"
        );
        row_ui(ui, "Protocol", &about, |ui| {
            let options = LiveKind::ALL.map(|kind| (kind, kind.label().to_owned(), true));
            combo_ui(ui, "Protocol", &mut settings.kind, &options);
        });
        let about = format!(
            "The port at which Sinew listens. Set the same one in the sending program. {hint}"
        );
        row_ui(ui, "Port", &about, |ui| {
            let mut port = settings.port();
            let field = DragValue::new(&mut port)
                .range(1..=u16::MAX)
                .speed(0.2)
                .update_while_editing(false);
            let response = ui.add(field).on_hover_text(&about);
            response.widget_info(|| WidgetInfo {
                label: Some("Port".to_owned()),
                ..WidgetInfo::drag_value(enabled, f64::from(port))
            });
            if response.changed() {
                settings.set_port(port);
            }
            ui.add_space(8.0);
            local_ui(ui, settings, hint);
        });
        // Of this computer, every sender has one address.
        if settings.access.all_interfaces {
            sender_ui(ui, settings, hint);
        }
    });
}

/// Draws the address of the only sender that is heard. It takes effect where the field is left, as any field of a number.
fn sender_ui(ui: &mut Ui, settings: &mut LiveSettings, hint: &str) {
    let about = format!(
        "The IPv4 address of the only computer to receive from, such as 192.168.1.20. Empty: any that may send. {hint}"
    );
    let id = Id::unique("sender address of live motion");
    let known = settings.access.only.map(|only| only.to_string());
    let known = known.unwrap_or_default();
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let mut text = typed.unwrap_or_else(|| known.clone());
    row_ui(ui, "Sender", &about, |ui| {
        let field = TextEdit::singleline(&mut text)
            .desired_width(120.0)
            .hint_text("Any");
        let response = ui.add(field).on_hover_text(&about);
        response.widget_info(|| WidgetInfo {
            label: Some("Sender address".to_owned()),
            ..WidgetInfo::text_edit(ui.is_enabled(), &known, &text, "Any")
        });
        if response.lost_focus() {
            let address = text.trim();
            match address.parse() {
                Ok(only) => settings.access.only = Some(only),
                Err(_) if address.is_empty() => settings.access.only = None,
                Err(_) => {}
            }
            ui.data_mut(|data| data.remove::<String>(id));
        } else if response.changed() {
            ui.data_mut(|data| data.insert_temp(id, text.clone()));
        }
    });
    // Said while it is typed: a field that is left with it goes back to the address before.
    let address = text.trim();
    if text != known && !address.is_empty() && address.parse::<Ipv4Addr>().is_err() {
        let sentence = format!("\"{address}\" is not an IPv4 address such as 192.168.1.20.");
        dim_ui(ui, &sentence);
    }
}

/// Draws who may send.
fn local_ui(ui: &mut Ui, settings: &mut LiveSettings, hint: &str) {
    let mut is_local = !settings.access.all_interfaces;
    let about = format!(
        "Receive only from programs on this computer. When off, anyone in your network can move this character. {hint}"
    );
    let check = ui.checkbox(&mut is_local, "Only this computer");
    check.on_hover_text(&about).on_disabled_hover_text(&about);
    settings.access.all_interfaces = !is_local;
    if is_local {
        settings.access.only = None;
    }
}

/// Draws the state in a sentence, and what is wrong.
fn state_ui(ui: &mut Ui, editor: &Editor, live: &LiveMotion) {
    if live.hears_all() {
        let text = theme::palette(ui).text;
        match live.only() {
            Some(only) => sign_ui(ui, &format!("{only} can move this character."), text),
            None => sign_ui(ui, OPEN, text),
        }
    }
    dim_ui(ui, &state(live));
    if !live.has_received() {
        return;
    }
    if editor.document().skeleton().is_empty() {
        error_ui(ui, "This model has no bones, so there is nothing to move.");
    } else if let Some(why) = live.failure() {
        error_ui(ui, &format!("{}.", why.trim_end_matches('.')));
    } else if !live.moves() {
        error_ui(
            ui,
            "No bone or morph target has the name of a channel. Bind a channel to what it moves.",
        );
    }
    if editor.document().session().shows_rest {
        let text = theme::palette(ui).text;
        sign_ui(ui, "Edit bones mode shows the rest pose.", text);
    }
    if !live.is_tracked() {
        let text = theme::palette(ui).text;
        sign_ui(ui, "The sender has lost track of the body.", text);
    }
    if live.has_too_many_senders() {
        let text = theme::palette(ui).text;
        sign_ui(
            ui,
            "More than 4 programs send to this port. The others are ignored.",
            text,
        );
    }
    if live.has_too_many() {
        let text = theme::palette(ui).text;
        sign_ui(
            ui,
            "More than 256 channels are sent. The others are ignored.",
            text,
        );
    }
}

fn state(live: &LiveMotion) -> String {
    let address = match live.address() {
        Some(at) if live.hears_all() => format!("port {} on all network interfaces", at.port()),
        Some(at) => at.to_string(),
        None => String::new(),
    };
    if !live.has_received() {
        if let Some(only) = live.only().filter(|_| live.counts().others > 0) {
            return format!(
                "Listening at {address}. Nothing has arrived from {only}, but packets from other addresses have."
            );
        }
        return format!("Listening at {address}. Nothing has arrived yet.");
    }
    if !live.is_receiving() {
        return format!("Listening at {address}. Nothing is arriving.");
    }
    let channels = crate::finding::counted(live.n_channels(), "channel");
    let of = match live.n_senders() {
        0 | 1 => String::new(),
        n => format!(" of {n} programs"),
    };
    match live.rate() {
        Some(rate) => format!("Receiving {channels}{of} at {rate:.0} Hz."),
        None => format!("Receiving {channels}{of}."),
    }
}

/// Draws the first steps.
pub(super) fn empty_ui(ui: &mut Ui, editor: &Editor) {
    let settings = editor.live_settings();
    let port = settings.port();
    let how = match settings.kind {
        LiveKind::Vmc => format!(
            "1. In your VR, webcam or suit software, turn on sending by the VMC protocol, to 127.0.0.1 and port {port}."
        ),
        LiveKind::JsonLines => format!(
            "1. Let your program connect to port {port} and send lines like {{\"t\": 0.5, \"rotation\": {{\"forearm.L\": [0, 0, \
             0, 1]}}}}: bones by their names, local rotations as x, y, z, w."
        ),
    };
    heading_ui(ui, "Move the character live", "");
    dim_ui(ui, &how);
    dim_ui(
        ui,
        "2. Press Listen. The character moves with its skin while you paint and sculpt.",
    );
    dim_ui(
        ui,
        "3. Record keeps the motion; Adjust motion makes a clip of it.",
    );
}

/// Draws a sentence with an icon, as colour must not be the only sign.
pub(super) fn sign_ui(ui: &mut Ui, text: &str, colour: Color32) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let sign = icons::ICON_WARNING.rich_text().size(14.0).color(colour);
        ui.add(Label::new(sign).selectable(false));
        ui.add(Label::new(RichText::new(text).color(colour)).wrap());
    });
}

fn error_ui(ui: &mut Ui, text: &str) {
    let error = theme::palette(ui).error;
    sign_ui(ui, text, error);
}
