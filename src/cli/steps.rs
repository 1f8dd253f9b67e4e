//! Flags that are operations, in the order of the command line.

use clap::{Arg, ArgAction, ArgMatches, Command};

/// An operation's flag without its dashes, the names of its values with spaces between them (empty: it has none), its help.
pub(super) type Flag = (&'static str, &'static str, &'static str);

/// Adds the flags to a subcommand; each may be given several times. `alias`: a second spelling of a flag.
pub(super) fn augment(
    command: Command,
    flags: impl Iterator<Item = &'static Flag>,
    alias: impl Fn(&str) -> Option<&'static str>,
) -> Command {
    flags
        .enumerate()
        .fold(command, |command, (i, &(flag, values, help))| {
            let arg = Arg::new(flag)
                .long(flag)
                .help(help)
                .help_heading("Operations, in the order given")
                .display_order(100 + i)
                .action(ArgAction::Append);
            let arg = match n_values(values) {
                0 => arg
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("")
                    .value_parser([""])
                    .hide_possible_values(true)
                    .hide_default_value(true),
                n => arg
                    .num_args(n)
                    .value_names(values.split(' '))
                    .allow_hyphen_values(true),
            };
            command.arg(match alias(flag) {
                Some(alias) => arg.visible_alias(alias),
                None => arg,
            })
        })
}

/// The flags that were given, with their values, in the order of the command line.
pub(super) fn found(
    matches: &ArgMatches,
    flags: impl Iterator<Item = &'static Flag>,
) -> Vec<(&'static str, Vec<String>)> {
    let mut found = Vec::new();
    for &(flag, values, _) in flags {
        let n = n_values(values).max(1);
        let places: Vec<usize> = matches.indices_of(flag).into_iter().flatten().collect();
        let given: Vec<&String> = matches.get_many(flag).into_iter().flatten().collect();
        found.extend(places.chunks(n).zip(given.chunks(n)).map(|(place, given)| {
            let values = given.iter().map(|&value| value.clone()).collect();
            (place[0], (flag, values))
        }));
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, step)| step).collect()
}

fn n_values(values: &str) -> usize {
    values.split(' ').filter(|name| !name.is_empty()).count()
}
