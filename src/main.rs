//! The `sinew` program: arguments -> the window or a subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew::cli::main(std::env::args_os())
}
