//! The settings of the program: one RON file in the user's configuration folder.
//!
//! An unreadable file is kept under another name and reported once. A missing setting gets its default, and so does an
//! unknown value of a later version; the other settings stay.

use crate::io::atomic::write_atomically;
use crate::io::read::{MAX_SMALL_BYTES, read_file};
use crate::view::frame::Workspace;
use crate::view::keymap::KeyMap;
use crate::view::layout::Arrangement;
use crate::view::theme::ThemeChoice;
use ron::value::RawValue;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// The version this program writes.
const VERSION: u32 = 1;
/// Maximum number of recent files.
const N_RECENT: usize = 10;
/// Maximum number of kept unreadable files; the last one is overwritten.
const N_KEPT: usize = 5;
/// Delay between a change and writing it.
const REST: Duration = Duration::from_millis(800);
/// Range of the UI scale.
pub const SCALES: std::ops::RangeInclusive<f32> = 0.75..=2.5;

/// A recent file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    /// The path: a project or a model.
    pub path: PathBuf,
    /// Time of the last opening or saving, seconds since 1970.
    #[serde(default)]
    pub used: u64,
}

impl Recent {
    /// "3 hours ago".
    pub fn age(&self) -> String {
        let used = SystemTime::UNIX_EPOCH + Duration::from_secs(self.used);
        age(used)
    }
}

/// The time since `time`, in words.
pub fn age(time: SystemTime) -> String {
    let minutes = time.elapsed().map_or(0, |t| t.as_secs() / 60);
    match minutes {
        0 => "just now".into(),
        1 => "a minute ago".into(),
        2..=119 => format!("{minutes} minutes ago"),
        120..=2879 => format!("{} hours ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1440),
    }
}

/// All persistent settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The file version.
    pub version: u32,
    /// The theme.
    #[serde(deserialize_with = "known_or_default")]
    pub theme: ThemeChoice,
    /// The key map: a preset and changes.
    #[serde(deserialize_with = "known_or_default")]
    pub key_map: KeyMap,
    /// The UI scale, on top of the system's scale.
    pub ui_scale: f32,
    /// The open workspace.
    #[serde(deserialize_with = "known_or_default")]
    pub workspace: Workspace,
    /// Layouts that differ from the defaults of the workspaces.
    #[serde(deserialize_with = "known_layouts")]
    pub layouts: BTreeMap<Workspace, Arrangement>,
    /// Whether the toolbar is visible.
    pub show_tool_bar: bool,
    /// Whether the welcome shows at start.
    pub show_welcome: bool,
    /// Recent files, latest first.
    pub recents: Vec<Recent>,
    /// Width and height of the window, points.
    pub window_size: Option<[f32; 2]>,
    /// Whether the window is maximised; `window_size` is its size when it is not.
    pub is_maximised: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: VERSION,
            theme: ThemeChoice::default(),
            key_map: KeyMap::default(),
            ui_scale: 1.0,
            workspace: Workspace::default(),
            layouts: BTreeMap::new(),
            show_tool_bar: true,
            show_welcome: true,
            recents: Vec::new(),
            window_size: None,
            is_maximised: false,
        }
    }
}

impl Settings {
    /// Moves `path` to the front of the recent files.
    pub fn note_recent(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recents.retain(|recent| recent.path != path);
        let used = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |t| t.as_secs());
        self.recents.insert(0, Recent { path, used });
        self.recents.truncate(N_RECENT);
    }

    /// The layout of a workspace: the user's, or the default.
    pub fn layout(&self, workspace: Workspace) -> Arrangement {
        match self.layouts.get(&workspace) {
            Some(layout) => layout.clone().cleaned(),
            None => Arrangement::of_workspace(workspace),
        }
    }

    /// Stores the layout of a workspace; the default is not written.
    pub fn set_layout(&mut self, workspace: Workspace, layout: Arrangement) {
        if layout == Arrangement::of_workspace(workspace) {
            self.layouts.remove(&workspace);
        } else {
            self.layouts.insert(workspace, layout);
        }
    }

    /// Limits numbers from a file to their valid ranges.
    fn cleaned(mut self) -> Self {
        self.version = VERSION;
        if !self.ui_scale.is_finite() {
            self.ui_scale = 1.0;
        }
        self.ui_scale = self.ui_scale.clamp(*SCALES.start(), *SCALES.end());
        self.recents.truncate(N_RECENT);
        self.window_size = self.window_size.filter(|size| {
            size.iter()
                .all(|s| s.is_finite() && (100.0..20_000.0).contains(s))
        });
        self
    }
}

/// The settings and their file.
pub struct SettingsFile {
    /// The current settings; changes are written after a delay.
    pub settings: Settings,
    path: Option<PathBuf>,
    /// The content of the file.
    written: Settings,
    /// The last observed settings, and since when they are unchanged.
    observed: Settings,
    since: Instant,
    writer: Option<JoinHandle<Result<(), String>>>,
    /// An error to report once.
    notice: Option<String>,
    has_failed: bool,
}

impl SettingsFile {
    /// Reads `path`; `None`: defaults that are not stored.
    pub fn open(path: Option<PathBuf>) -> Self {
        let (settings, notice) = path.as_deref().map_or_else(Default::default, read);
        Self {
            written: settings.clone(),
            observed: settings.clone(),
            settings,
            path,
            since: Instant::now(),
            writer: None,
            notice,
            has_failed: false,
        }
    }

    /// The user's file: in `SINEW_STATE_DIR`, else in the system's configuration folder.
    pub fn path_of_user() -> Option<PathBuf> {
        let folder = match std::env::var_os("SINEW_STATE_DIR") {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => directories::ProjectDirs::from("", "", "sinew")?
                .config_dir()
                .to_owned(),
        };
        Some(folder.join("settings.ron"))
    }

    /// The error of the file, returned once.
    pub fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Writes changes on a thread after the delay. Returns when to call again.
    pub fn poll(&mut self) -> Option<Duration> {
        if self.writer.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish();
        }
        if self.path.is_none() || self.settings == self.written {
            return None;
        }
        if self.settings != self.observed {
            self.observed = self.settings.clone();
            self.since = Instant::now();
        }
        let rest = REST.saturating_sub(self.since.elapsed());
        if rest.is_zero() && self.writer.is_none() {
            self.write();
        }
        Some(rest.max(Duration::from_millis(100)))
    }

    /// Writes changes now and waits, before exit.
    pub fn flush(&mut self) {
        self.finish();
        if self.settings != self.written {
            self.write();
            self.finish();
        }
    }

    fn write(&mut self) {
        let Some(path) = self.path.clone() else {
            return;
        };
        self.written = self.settings.clone();
        let settings = self.settings.clone();
        let job = move || save(&path, &settings);
        // Without a thread they are written at the next opportunity.
        self.writer = std::thread::Builder::new()
            .name("settings".into())
            .spawn(job)
            .ok();
    }

    fn finish(&mut self) {
        let result = self.writer.take().map(JoinHandle::join);
        if let Some(Ok(Err(why))) = result
            && !std::mem::replace(&mut self.has_failed, true)
        {
            self.notice = Some(format!("The settings cannot be saved: {why}"));
        }
    }
}

fn save(path: &Path, settings: &Settings) -> Result<(), String> {
    let pretty = ron::ser::PrettyConfig::default()
        .depth_limit(5)
        .struct_names(false);
    let text = ron::ser::to_string_pretty(settings, pretty).map_err(|e| e.to_string())?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            format!(
                "The folder \"{}\" cannot be created: {error}",
                folder.display()
            )
        })?;
    }
    write_atomically(path, text.as_bytes()).map_err(|error| error.to_string())
}

/// The settings in `path`, and the error if they are unusable.
fn read(path: &Path) -> (Settings, Option<String>) {
    let text = match read_file(path, MAX_SMALL_BYTES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Default::default(),
        Err(error) => {
            let text = format!(
                "The settings in \"{}\" cannot be read: {error}.",
                path.display()
            );
            return (Settings::default(), Some(text));
        }
    };
    let parsed = ron::from_str::<Settings>(&text);
    let is_newer = matches!(&parsed, Ok(settings) if settings.version > VERSION);
    match parsed {
        Ok(settings) if is_newer => {
            // Values unknown to this version would be lost with the next write.
            let aside = place_aside(path, &text);
            let kept = match write_atomically(&aside, text.as_bytes()) {
                Ok(()) => format!("Unknown settings are kept in \"{}\".", aside.display()),
                Err(why) => format!("Unknown settings will be lost: {why}"),
            };
            let text = format!("The settings were written by a newer version of Sinew. {kept}");
            (settings.cleaned(), Some(text))
        }
        Ok(settings) => (settings.cleaned(), None),
        Err(error) => {
            let aside = place_aside(path, &text);
            let kept = fs::rename(path, &aside).is_ok();
            let place = if kept { &aside } else { path };
            let text = format!(
                "The settings cannot be read ({error}). Sinew starts with the defaults. The old file is \"{}\".",
                place.display()
            );
            (Settings::default(), Some(text))
        }
    }
}

/// The path under which a file with `text` is kept: `settings.ron.kept`, with a number if that exists.
fn place_aside(path: &Path, text: &str) -> PathBuf {
    let place = |n: usize| match n {
        1 => path.with_extension("ron.kept"),
        n => path.with_extension(format!("ron.kept{n}")),
    };
    let is_free = |place: &PathBuf| {
        !place.exists()
            || read_file(place, MAX_SMALL_BYTES).is_ok_and(|kept| kept == text.as_bytes())
    };
    (1..N_KEPT)
        .map(place)
        .find(is_free)
        .unwrap_or_else(|| place(N_KEPT))
}

/// Reads a value, or the default if this version does not know it.
fn known_or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned + Default,
    D: Deserializer<'de>,
{
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(raw.into_rust().unwrap_or_default())
}

/// Reads the layouts that this version knows; other workspaces get their default.
fn known_layouts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Workspace, Arrangement>, D::Error> {
    struct Layouts;

    impl<'de> Visitor<'de> for Layouts {
        type Value = BTreeMap<Workspace, Arrangement>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("layouts of workspaces")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut layouts = BTreeMap::new();
            while let Some((workspace, layout)) =
                map.next_entry::<Box<RawValue>, Box<RawValue>>()?
            {
                if let (Ok(workspace), Ok(layout)) = (workspace.into_rust(), layout.into_rust()) {
                    layouts.insert(workspace, layout);
                }
            }
            Ok(layouts)
        }
    }

    deserializer.deserialize_map(Layouts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::chord::Chord;
    use crate::view::commands::Command;
    use crate::view::frame::PanelKind;
    use egui::Key;

    #[test]
    fn settings_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new folder/settings.ron");
        let mut file = SettingsFile::open(Some(path.clone()));
        assert_eq!(file.settings, Settings::default());
        assert!(file.poll().is_none(), "nothing to write");
        let mut layout = Arrangement::of_workspace(Workspace::Rig);
        layout.closed.insert(PanelKind::Timeline);
        file.settings.set_layout(Workspace::Rig, layout.clone());
        file.settings.ui_scale = 1.5;
        file.settings.window_size = Some([1366.0, 768.0]);
        file.settings.note_recent(Path::new("/models/arm.glb"));
        file.flush();
        let again = SettingsFile::open(Some(path));
        assert_eq!(again.settings, file.settings);
        assert_eq!(again.settings.layout(Workspace::Rig), layout);
        assert!(again.notice.is_none());
    }

    #[test]
    fn a_change_is_written_once_it_rests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        let mut file = SettingsFile::open(Some(path.clone()));
        file.settings.ui_scale = 2.0;
        assert!(file.poll().is_some_and(|rest| rest > REST / 2));
        assert!(!path.exists());
        file.since = Instant::now().checked_sub(REST).unwrap();
        file.poll();
        file.finish();
        assert!(path.exists() && file.poll().is_none());
    }

    #[test]
    fn a_bad_file_is_kept_aside_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        fs::write(&path, "(theme: Purple, ui_scale: much").unwrap();
        let mut file = SettingsFile::open(Some(path.clone()));
        assert_eq!(file.settings, Settings::default());
        assert!(
            file.take_notice()
                .is_some_and(|n| n.contains("settings.ron.kept"))
        );
        assert!(file.take_notice().is_none());
        assert!(folder.path().join("settings.ron.kept").exists() && !path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_device_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("settings.ron");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [pipe, "/dev/zero".into()] {
            let (done, opened) = std::sync::mpsc::channel();
            let to_open = path.clone();
            std::thread::spawn(move || {
                let _ = done.send(SettingsFile::open(Some(to_open)));
            });
            let file = opened.recv_timeout(Duration::from_mins(1));
            let mut file = file.expect("it does not wait for a writer");
            assert_eq!(file.settings, Settings::default());
            let why = file.take_notice().unwrap();
            assert!(why.contains("is not a regular file"), "{why}");
            assert!(path.exists(), "it is not moved aside");
        }
    }

    #[test]
    fn a_second_bad_file_does_not_replace_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        for i in 0..N_KEPT + 2 {
            fs::write(&path, format!("bad {i}")).unwrap();
            assert!(SettingsFile::open(Some(path.clone())).notice.is_some());
        }
        let kept = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(kept("settings.ron.kept"), "bad 0");
        assert_eq!(kept("settings.ron.kept2"), "bad 1");
        assert_eq!(kept("settings.ron.kept5"), "bad 6");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), N_KEPT);
    }

    #[test]
    fn what_only_a_later_version_knows_leaves_the_rest_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        let mut file = SettingsFile::open(Some(path.clone()));
        let mut layout = Arrangement::of_workspace(Workspace::Rig);
        layout.closed.insert(PanelKind::Timeline);
        for workspace in [Workspace::Rig, Workspace::Animate] {
            file.settings.set_layout(workspace, layout.clone());
        }
        let key = |key| vec![Chord::key(key)];
        let map = &mut file.settings.key_map;
        map.rebind(Command::Isolate, key(Key::F7));
        map.rebind(Command::Undo, key(Key::F8));
        map.rebind(Command::Redo, Vec::new());
        file.settings.ui_scale = 1.5;
        file.settings.theme = ThemeChoice::Light;
        file.flush();
        let text = fs::read_to_string(&path).unwrap();
        let mut later = text.replacen("Timeline", "Compare", 1);
        for (from, to) in [
            ("\"F7\"", "\"F7\", \"Warp\""),
            ("\"F8\"", "\"Turbo\""),
            ("theme: Light", "theme: Purple"),
            ("layouts: {", "layouts: { Sculpt: [1], "),
        ] {
            assert!(text.contains(from), "{from} in {text}");
            later = later.replacen(from, to, 1);
        }
        fs::write(&path, later).unwrap();
        let again = SettingsFile::open(Some(path));
        assert_eq!(again.notice, None);
        let mut expected = file.settings.clone();
        expected.theme = ThemeChoice::Dark;
        expected.layouts.remove(&Workspace::Rig);
        expected.key_map.reset(Command::Undo);
        assert_eq!(again.settings, expected);
    }

    #[test]
    fn unknown_settings_are_passed_over_and_numbers_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        fs::write(
            &path,
            "(version: 1, ui_scale: 90.0, of_tomorrow: [1, (a: 2)], show_welcome: false, \
             window_size: Some((-1.0, 5.0)))",
        )
        .unwrap();
        let file = SettingsFile::open(Some(path.clone()));
        assert_eq!(file.notice, None);
        assert_eq!(file.settings.ui_scale, 2.5);
        assert!(!file.settings.show_welcome && file.settings.window_size.is_none());
        fs::write(&path, "(version: 7, ui_scale: 2.0)").unwrap();
        let file = SettingsFile::open(Some(path));
        assert_eq!(file.settings.ui_scale, 2.0);
        assert!(file.notice.is_some(), "a newer file is copied");
        assert!(folder.path().join("settings.ron.kept").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_neither_waited_for_nor_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.unwrap().success());
            path
        };
        let path = pipe("settings.ron");
        let newer = folder.path().join("newer.ron");
        fs::write(&newer, "(version: 7, ui_scale: 2.0)").unwrap();
        // All the names under which it could be kept.
        pipe("newer.ron.kept");
        for n in 2..=N_KEPT {
            pipe(&format!("newer.ron.kept{n}"));
        }
        let (done, end) = std::sync::mpsc::channel();
        let settings = path.clone();
        std::thread::spawn(move || {
            let mut file = SettingsFile::open(Some(settings));
            let read = (file.settings.clone(), file.take_notice());
            file.settings.ui_scale = 1.5;
            file.flush();
            let written = file.take_notice();
            let newer = SettingsFile::open(Some(newer)).take_notice();
            let _ = done.send((read, written, newer));
        });
        let (read, written, newer) = end.recv_timeout(Duration::from_mins(1)).unwrap();
        assert_eq!(read.0, Settings::default());
        for (notice, what) in [
            (read.1, "cannot be read"),
            (written, "cannot be saved"),
            (newer, "will be lost"),
        ] {
            let notice = notice.unwrap();
            assert!(
                notice.contains(what) && notice.contains("it is not a regular file"),
                "{notice}"
            );
        }
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    }

    #[test]
    fn ten_recent_files_are_kept_the_latest_first() {
        let mut settings = Settings::default();
        for i in 0..14 {
            settings.note_recent(Path::new(&format!("/m/{}.glb", i % 12)));
        }
        assert_eq!(settings.recents.len(), 10);
        assert_eq!(settings.recents[0].path, Path::new("/m/1.glb"));
        assert_eq!(settings.recents[0].age(), "just now");
    }
}
