//! `[timing]` and `[limits]`.

use std::collections::BTreeSet;

use dispatch::{Limits, Timing};
use protocol::limits::ROBOTS_MAX;

use super::document::{Table, Value};

const LIMITS_KEYS: &[&str] = &[
    "queue",
    "robot_messages_per_s",
    "client_messages_per_s",
    "dedup_retention_s",
];
/// Most messages of one robot in a second that a site may allow: a robot says a few.
const ROBOT_MESSAGES_PER_S_MAX: u32 = 1000;
/// Most messages of one application in a second that a site may allow.
const CLIENT_MESSAGES_PER_S_MAX: u32 = 100_000;
/// Longest retention of an accepted order: a year, in seconds.
const RETENTION_S_MAX: u32 = 365 * 86_400;

/// The waits, and which of them could not be read.
pub(super) struct Waits {
    /// Defaults in place of what could not be read.
    pub(super) timing: Timing,
    bad: BTreeSet<&'static str>,
}

impl Waits {
    /// Whether all of these keys could be read, so that it makes sense to compare them.
    pub(super) fn are_good(&self, keys: &[&str]) -> bool {
        !keys.iter().any(|key| self.bad.contains(key))
    }
}

/// Reads `[timing]`.
pub(super) fn read_timing(root: &Table<'_>) -> Option<Waits> {
    let mut timing = Timing::default();
    let mut fields = fields(&mut timing);
    let keys: Vec<&str> = fields.iter().map(|(key, _)| *key).collect();
    let table = root.section("timing", &keys)?;
    let mut bad = BTreeSet::new();
    for (key, field) in &mut fields {
        match table.read(key, **field, Value::seconds_ms) {
            Some(ms) => **field = ms,
            None => {
                bad.insert(*key);
            }
        }
    }
    let waits = Waits { timing, bad };
    compare(&table, &waits);
    Some(waits)
}

fn fields(timing: &mut Timing) -> [(&'static str, &mut u64); 18] {
    [
        ("lease_s", &mut timing.lease_ms),
        ("grant_check_s", &mut timing.grant_check_ms),
        ("hall_call_s", &mut timing.hall_call_ms),
        ("entry_s", &mut timing.entry_ms),
        ("entry_recheck_s", &mut timing.entry_recheck_ms),
        ("door_close_s", &mut timing.door_close_ms),
        ("travel_s", &mut timing.travel_ms),
        ("exit_s", &mut timing.exit_ms),
        ("valid_s", &mut timing.valid_ms),
        ("settle_s", &mut timing.settle_ms),
        ("requery_s", &mut timing.requery_ms),
        ("sweep_s", &mut timing.sweep_ms),
        ("promote_s", &mut timing.promote_ms),
        ("reading_fresh_s", &mut timing.reading_fresh_ms),
        ("accept_s", &mut timing.accept_ms),
        ("poll_s", &mut timing.poll_ms),
        ("silent_s", &mut timing.silent_ms),
        ("heal_s", &mut timing.heal_ms),
    ]
}

/// Waits that contradict each other: the gateway runs with them, not well.
fn compare(table: &Table<'_>, waits: &Waits) {
    let timing = &waits.timing;
    if waits.are_good(&["reading_fresh_s", "poll_s"]) && timing.reading_fresh_ms <= timing.poll_ms {
        table.advise(
            "reading_fresh_s",
            format!(
                "more than timing.poll_s = {}, else a reading is stale before the next one",
                seconds(timing.poll_ms)
            ),
        );
    }
    if waits.are_good(&["silent_s", "reading_fresh_s"])
        && timing.silent_ms <= timing.reading_fresh_ms
    {
        table.advise(
            "silent_s",
            format!(
                "more than timing.reading_fresh_s = {}, an elevator is stale before it is silent",
                seconds(timing.reading_fresh_ms)
            ),
        );
    }
    // T-LIFT-26: a deadline that ends before the controller was asked three times fires too soon.
    let judged_ms = timing.settle_ms + 3 * timing.requery_ms;
    if waits.are_good(&["hall_call_s", "settle_s", "requery_s"]) && timing.hall_call_ms < judged_ms
    {
        table.advise(
            "hall_call_s",
            format!(
                "at least timing.settle_s + 3 x timing.requery_s = {}",
                seconds(judged_ms)
            ),
        );
    }
}

/// Milliseconds as seconds, as they are written in the file.
pub(super) fn seconds(ms: u64) -> String {
    let (whole, rest) = (ms / 1000, ms % 1000);
    let text = format!("{whole}.{rest:03}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads `[limits]`.
pub(super) fn read_limits(root: &Table<'_>) -> Option<Limits> {
    let table = root.section("limits", LIMITS_KEYS)?;
    let default = Limits::default();
    // One live ride a robot, so that more than the robots cannot wait.
    let queue_max = u32::try_from(ROBOTS_MAX).unwrap_or(u32::MAX);
    let queue = table.read("queue", default.queue, |value| value.integer(1..=queue_max));
    let robot_messages_per_s = table.read(
        "robot_messages_per_s",
        default.robot_messages_per_s,
        |value| value.integer(1..=ROBOT_MESSAGES_PER_S_MAX),
    );
    let client_messages_per_s = table.read(
        "client_messages_per_s",
        default.client_messages_per_s,
        |value| value.integer(1..=CLIENT_MESSAGES_PER_S_MAX),
    );
    let dedup_retention_s = table.read("dedup_retention_s", default.dedup_retention_s, |value| {
        value.seconds_up(RETENTION_S_MAX)
    });
    Some(Limits {
        queue: queue?,
        robot_messages_per_s: robot_messages_per_s?,
        client_messages_per_s: client_messages_per_s?,
        dedup_retention_s: dedup_retention_s?,
    })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn spans_are_shown_as_they_are_written() {
        assert_eq!(seconds(7_000), "7");
        assert_eq!(seconds(500), "0.5");
        assert_eq!(seconds(100_000), "100");
        assert_eq!(seconds(6_050), "6.05");
    }
}
