//! The memory use of the program, read at most once per second.

use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(1);

/// The memory use.
#[derive(Default)]
pub(super) struct Memory {
    read: Option<Instant>,
    bytes: Option<u64>,
}

impl Memory {
    /// Resident bytes; `None` if the system does not report them.
    pub(super) fn bytes(&mut self) -> Option<u64> {
        if self.read.is_none_or(|read| read.elapsed() >= EVERY) {
            self.read = Some(Instant::now());
            self.bytes = resident_bytes();
        }
        self.bytes
    }
}

#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_running_program_holds_some_memory() {
        let bytes = Memory::default().bytes().unwrap();
        assert!((1 << 20..1 << 40).contains(&bytes), "{bytes}");
    }
}
