//! What the system tells of a process: CPU time and memory.

use std::fs;
use std::time::Duration;

use anyhow::Context;

/// The unit of CPU times in `/proc` (`USER_HZ` of Linux, the same on every machine that we build
/// for).
const TICKS_PER_S: u64 = 100;

/// The CPU time that a process and those that it started and waited for have used so far.
pub(super) fn cpu(id: u32) -> anyhow::Result<Duration> {
    let stat = stat(id)?;
    // utime, stime, cutime, cstime: fields 14 to 17; the first of `stat` is field 3.
    let ticks: u64 = stat
        .iter()
        .skip(11)
        .take(4)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_S))
}

/// Resident memory of a process at this moment, in bytes.
pub(super) fn resident(id: u32) -> anyhow::Result<u64> {
    memory(id, "VmRSS:")
}

/// The most that was resident of a process so far, in bytes.
pub(super) fn peak(id: u32) -> anyhow::Result<u64> {
    memory(id, "VmHWM:")
}

/// The processes that a process started and that run.
pub(super) fn children(of: u32) -> anyhow::Result<Vec<u32>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // It may have ended meanwhile.
        let parent = stat(id).ok().and_then(|stat| stat.get(1)?.parse().ok());
        if parent == Some(of) {
            children.push(id);
        }
    }
    Ok(children)
}

/// Bytes in MiB, to a tenth.
pub(super) fn mib(bytes: u64) -> f64 {
    // Below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let mib = bytes as f64 / (1024.0 * 1024.0);
    (mib * 10.0).round() / 10.0
}

fn memory(id: u32, key: &str) -> anyhow::Result<u64> {
    let path = format!("/proc/{id}/status");
    let status = fs::read_to_string(&path).with_context(|| path.clone())?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<u64>().ok())
        .with_context(|| format!("{path} does not tell {key}"))?;
    Ok(kib * 1024)
}

/// The fields of `/proc/ID/stat` from the third on: the second, the name, may hold blanks.
fn stat(id: u32) -> anyhow::Result<Vec<String>> {
    let path = format!("/proc/{id}/stat");
    let text = fs::read_to_string(&path).with_context(|| path.clone())?;
    let (_, rest) = text.rsplit_once(')').with_context(|| path.clone())?;
    Ok(rest.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_of_this_process() {
        let id = std::process::id();
        assert!(resident(id).unwrap() > 100_000);
        let before = cpu(id).unwrap();
        let mut sum = 0_u64;
        while cpu(id).unwrap() < before + Duration::from_millis(20) {
            sum = (0..100_000).fold(sum, |sum, n| sum.wrapping_add(n));
        }
        let parent = std::os::unix::process::parent_id();
        assert!(children(parent).unwrap().contains(&id));
        assert!(cpu(u32::MAX).is_err());
    }
}
