//! `sinew psd`: corrective samples.

use super::psd_args::PsdArgs;
use super::{Failure, load, psd_edit, psd_report, psd_suggest, scene};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &PsdArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    if let Some(joint) = &args.suggest {
        return psd_suggest::run(args, joint, out);
    }
    if let Some(path) = &args.out {
        return psd_edit::run(args, path, out);
    }
    let loaded = load::load(&args.file)?;
    let posed = scene::pose(&loaded, &args.pose)?;
    psd_report::print(&loaded.document, &posed.pose, args.json, out)?;
    Ok(ExitCode::SUCCESS)
}
