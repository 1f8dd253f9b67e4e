//! The command line: the same core without a window, for pipelines.
//!
//! Data flow: arguments ([`args`]) -> a loaded document (`load`) with the requested stack and pose (`scene`) -> a
//! subcommand, one in each file.
//!
//! Invariant: every output is claimed from [`crate::io::Outputs`], which protects the inputs, before any is written.
//! Invariant: exit codes are 0 done, 1 fault in the input, 2 wrong use; an error is one sentence on stderr.

pub mod args;
pub mod bench;
mod body;
pub mod body_args;
mod body_scan;
mod centres;
mod check;
mod cluster_controls;
mod cluster_data_json;
mod cluster_json_reader;
mod cluster_layer_json;
mod cluster_layers;
mod cluster_marks;
mod cluster_report;
mod cluster_suggest;
mod clusters;
mod compare;
mod constraint_args;
mod export;
#[cfg(feature = "render")]
mod heat;
mod info;
#[cfg(feature = "gui")]
mod legend;
mod load;
mod measure;
mod measuring;
mod motion;
pub mod motion_args;
mod motion_info;
mod motion_listen;
mod motion_query;
mod motion_retarget;
mod motion_streams;
mod motion_table;
pub mod named_stack;
#[cfg(feature = "render")]
mod picture;
pub mod pose_args;
mod psd;
pub mod psd_args;
mod psd_edit;
mod psd_report;
mod psd_suggest;
#[cfg(feature = "render")]
mod render;
mod retarget_args;
mod rig;
pub mod rig_args;
mod sample;
mod scene;
pub mod shown_body;
mod skin;
pub mod stack_args;
mod steps;
mod stream_args;
mod weights;
pub mod weights_args;
mod written;

use crate::sentence::{shortened, shortened_lines};
use clap::Parser;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Why a subcommand failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A fault in the input: exit code 1.
    Input(String),
    /// Wrong use: exit code 2.
    Usage(String),
    /// The reader closed the output: it has read enough.
    PipeClosed,
}

impl Failure {
    /// A fault in the input, from any error.
    pub(crate) fn input(error: impl std::fmt::Display) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::PipeClosed;
        }
        Self::Input(format!("Writing the output failed: {error}."))
    }
}

/// Runs the program with its arguments; the first is the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match args::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            print_use(&error);
            return ExitCode::from(code);
        }
    };
    let result = match cli.command {
        None => open_window(cli.file),
        Some(command) => run(command),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            let (code, text) = match failure {
                Failure::Input(text) => (1, text),
                Failure::Usage(text) => (2, text),
                Failure::PipeClosed => return ExitCode::SUCCESS,
            };
            let _ = writeln!(std::io::stderr(), "sinew: {}", shortened(&text));
            ExitCode::from(code)
        }
    }
}

/// Prints help, or what is wrong with the arguments; a long argument is cut.
fn print_use(error: &clap::Error) {
    let text = error.render().to_string();
    let short = shortened_lines(&text);
    // Help has no names of the user's in it.
    if short == text || !error.use_stderr() {
        let _ = error.print();
    } else {
        let _ = write!(std::io::stderr(), "{short}");
    }
}

fn run(command: args::Command) -> Result<ExitCode, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let code = match command {
        args::Command::Info(args) => info::run(&args, &mut out),
        args::Command::Skin(args) => skin::run(&args),
        #[cfg(feature = "render")]
        args::Command::Render(args) => render::run(&args),
        args::Command::Measure(args) => measure::run(&args, &mut out),
        args::Command::Compare(args) => compare::run(&args, &mut out),
        args::Command::Weights(args) => weights::run(&args, &mut out),
        args::Command::Rig(args) => rig::run(&args, &mut out),
        args::Command::Export(args) => export::run(&args, &mut out),
        args::Command::Check(args) => check::run(&args, &mut out),
        args::Command::Psd(args) => psd::run(&args, &mut out),
        args::Command::Clusters(args) => clusters::run(&args, &mut out),
        args::Command::Motion(args) => motion::run(&args, &mut out),
        args::Command::Body(args) => body::run(&args, &mut out),
        args::Command::Bench(args) => bench::run(args.points, args.json, &mut out)
            .map(|()| ExitCode::SUCCESS)
            .map_err(Failure::from),
        args::Command::Sample(args) => sample::run(&args),
    }?;
    out.flush()?;
    Ok(code)
}

#[cfg(feature = "gui")]
fn open_window(file: Option<std::path::PathBuf>) -> Result<ExitCode, Failure> {
    crate::app::run(file)
        .map(|()| ExitCode::SUCCESS)
        .map_err(Failure::Input)
}

#[cfg(not(feature = "gui"))]
fn open_window(_file: Option<std::path::PathBuf>) -> Result<ExitCode, Failure> {
    Err(Failure::Usage(
        "This build has no window (it was built without the feature `gui`). The subcommands work: `sinew --help` lists \
         them."
            .into(),
    ))
}
