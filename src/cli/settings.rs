//! What somebody wants each time: `wavecast.toml`, in the folder where a command is run or in one above it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, ValueEnum};
use serde::Deserialize;

use super::captured;
use super::failure::Failure;
use super::output::Format;
use crate::text::{Diagnostic, Fault, Sources, Span};

const NAME: &str = "wavecast.toml";
/// The variable that names another file, or none by being empty.
const VARIABLE: &str = "WAVECAST_CONFIG";
/// No file that says so little is longer.
const MOST_BYTES: u64 = 1 << 16;

/// What holds where the command line says nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settings {
    devices: Vec<String>,
    format: Option<Format>,
    wide: bool,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    device: Option<Devices>,
    format: Option<toml::Spanned<String>>,
    #[serde(default)]
    wide: bool,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a device is a text, or a list of texts")]
enum Devices {
    One(String),
    Several(Vec<String>),
}

impl Settings {
    /// Those of the file that is found; none without one. Programs that run commands say all that they want.
    pub(super) fn found() -> Result<Self, Failure> {
        if captured::is_on() {
            return Ok(Self::default());
        }
        let Some(path) = path() else { return Ok(Self::default()) };
        let unread = |why: &dyn std::fmt::Display| {
            let message = format!("{}: {why}", path.display());
            let help = "these are your settings: docs of them are in `wavecast help ranking`; WAVECAST_CONFIG= does without";
            Failure::message("settings", message, Some(help))
        };
        let length = std::fs::metadata(&path).map_err(|e| unread(&e))?.len();
        if length > MOST_BYTES {
            return Err(unread(&format!("{length} bytes are too many for settings")));
        }
        let text = std::fs::read_to_string(&path).map_err(|e| unread(&e))?;
        Ok(Self::read(&path.display().to_string(), &text)?)
    }

    fn read(name: &str, text: &str) -> Result<Self, Fault> {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        let wrong = |at: std::ops::Range<usize>, message: String| {
            let span = Span::new(file, at);
            let help = "settings are device = \"a100\", format = \"json\", wide = true";
            let wrong = Diagnostic::error("settings", span, message).help(help);
            Fault::new(vec![wrong], Arc::new(sources.clone()))
        };
        let written: Written = toml::from_str(text)
            .map_err(|e| wrong(e.span().unwrap_or_default(), e.message().trim_end().to_owned()))?;
        let format = written.format.map(|said| {
            Format::from_str(said.get_ref(), false).map_err(|_| {
                let known: Vec<String> = Format::value_variants()
                    .iter()
                    .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
                    .collect();
                let message =
                    format!("there is no format `{}`: it is one of {}", said.get_ref(), known.join(", "));
                wrong(said.span(), message)
            })
        });
        let devices = match written.device {
            None => Vec::new(),
            Some(Devices::One(device)) => vec![device],
            Some(Devices::Several(devices)) => devices,
        };
        Ok(Self { devices, format: format.transpose()?, wide: written.wide })
    }

    /// A command and all below it with these settings as what holds by default.
    pub(super) fn defaults(&self, command: clap::Command) -> clap::Command {
        if *self == Self::default() {
            return command;
        }
        let takes = |command: &clap::Command, id: &str| command.get_arguments().any(|a| a.get_id() == id);
        let mut command = command.mut_subcommands(|below| self.defaults(below));
        if !self.devices.is_empty() && takes(&command, "device") {
            let serves = command.get_name() == "serve";
            command = command.mut_arg("device", |a| match a.get_action() {
                ArgAction::Append => a.default_values(&self.devices),
                _ if serves => a.default_value(&self.devices[0]),
                // Whose measurements a file holds, for example, is not a matter of what somebody usually asks about.
                _ => a,
            });
        }
        if let Some(format) = self.format.and_then(|format| format.to_possible_value())
            && takes(&command, "usual_format")
        {
            command = command.mut_arg("usual_format", |a| a.default_value(format.get_name().to_owned()));
        }
        if self.wide && takes(&command, "wide") {
            command = command.mut_arg("wide", |a| a.default_value("true"));
        }
        command
    }
}

/// The file that the variable names, or the nearest one upwards.
fn path() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return (!named.is_empty()).then(|| PathBuf::from(named));
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(NAME)).find(|path: &PathBuf| Path::is_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        Settings::read(NAME, text).map_err(|fault| fault.to_string())
    }

    #[test]
    fn settings_are_read() {
        assert_eq!(read(""), Ok(Settings::default()));
        let one = Settings { devices: vec!["h200".to_owned()], format: Some(Format::Csv), wide: true };
        assert_eq!(read("device = 'h200'\nformat = \"csv\"\nwide = true\n"), Ok(one));
        assert_eq!(read("device = ['a', 'b']").unwrap().devices, ["a", "b"]);
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, says) in [
            ("devise = 'a100'", "wavecast.toml:1:1: unknown field `devise`"),
            ("wide = true\nformat = 'xml'", "wavecast.toml:2:10: there is no format `xml`"),
            ("device = 3", "a device is a text, or a list of texts"),
            ("device = [", "wavecast.toml:1"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(says), "{message}");
            assert!(message.contains("settings are device"), "{message}");
        }
    }
}
