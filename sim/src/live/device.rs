//! A device that is rented, as `docs/rentals.md` wants it: it obeys what is signed, in time and in
//! order, does each thing once for an order, keeps that over its own restart, and counts how often
//! it was unlocked.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use protocol::device::{DeviceAction, DeviceCommand, DeviceKey, DeviceWord, Signature};
use protocol::{OrderId, Timestamp};
use serde::{Deserialize, Serialize};

/// Commands remembered as executed. One that is forgotten here has a sequence far below the
/// highest, so that it is refused.
const EXECUTED_MAX: usize = 1_000;

/// What a device knows, and keeps over its restart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Starts of the device.
    pub boots: u64,
    /// The highest sequence that it obeyed.
    pub highest: u64,
    /// What it executed last, the oldest first.
    executed: VecDeque<(Option<OrderId>, DeviceAction)>,
    /// Whether it runs.
    pub is_running: bool,
    /// Whether it is locked.
    pub is_locked: bool,
    /// How often it was unlocked in its life.
    pub unlocks: u64,
    /// Commands that it refused in its life.
    pub refused: u64,
}

/// What becomes of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It acted.
    Acted,
    /// It acted under this order before, and does nothing.
    Known,
    /// It only says how it stands.
    Asked,
    /// It does nothing, for this reason.
    Refused(&'static str),
}

impl Memory {
    /// Obeys a command, or does not.
    pub fn obey(
        &mut self,
        key: &DeviceKey,
        command: &DeviceCommand,
        signature: &Signature,
        now: Timestamp,
    ) -> Verdict {
        let verdict = self.judge(key, command, signature, now);
        match verdict {
            Verdict::Acted => self.act(command),
            Verdict::Refused(_) => self.refused += 1,
            Verdict::Known | Verdict::Asked => {}
        }
        verdict
    }

    /// How it stands.
    #[must_use]
    pub fn word(&self) -> DeviceWord {
        match (self.is_running, self.is_locked) {
            (true, _) => DeviceWord::Running,
            (false, true) => DeviceWord::Locked,
            (false, false) => DeviceWord::Stopped,
        }
    }

    fn judge(
        &self,
        key: &DeviceKey,
        command: &DeviceCommand,
        signature: &Signature,
        now: Timestamp,
    ) -> Verdict {
        if key.sign(command) != *signature {
            return Verdict::Refused("wrong signature");
        }
        let executed = self.executed.iter();
        let is_known = |(order, action): &(Option<OrderId>, DeviceAction)| {
            *order == command.order_id && *action == command.command
        };
        if command.order_id.is_some() && executed.clone().any(is_known) {
            return Verdict::Known;
        }
        if command.sequence < self.highest {
            return Verdict::Refused("lower sequence");
        }
        if command.expires_at <= now {
            return Verdict::Refused("expired");
        }
        match command.command {
            DeviceAction::Query => Verdict::Asked,
            // Only an order makes a repetition known.
            _ if command.order_id.is_none() => Verdict::Refused("no order"),
            DeviceAction::Start
            | DeviceAction::Stop
            | DeviceAction::Lock
            | DeviceAction::Unlock => Verdict::Acted,
        }
    }

    fn act(&mut self, command: &DeviceCommand) {
        self.highest = command.sequence;
        if self.executed.len() >= EXECUTED_MAX {
            self.executed.pop_front();
        }
        self.executed
            .push_back((command.order_id.clone(), command.command));
        match command.command {
            DeviceAction::Start => {
                self.is_running = true;
                self.unlock();
            }
            DeviceAction::Stop => {
                self.is_running = false;
                self.is_locked = true;
            }
            DeviceAction::Lock => self.is_locked = true,
            DeviceAction::Unlock => self.unlock(),
            DeviceAction::Query => {}
        }
    }

    fn unlock(&mut self) {
        self.is_locked = false;
        self.unlocks += 1;
    }
}

/// The file of a device's memory. It takes its name when it is whole and on the disk, so that a
/// device that lost its power knows what it executed, or has not executed it.
#[derive(Debug, Clone)]
pub struct Shelf {
    path: PathBuf,
}

impl Shelf {
    /// The file at this path; its folder must be there.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is kept; a new device's memory where nothing is.
    ///
    /// # Errors
    /// Where the file cannot be read, or is no memory.
    pub fn load(&self) -> io::Result<Memory> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Memory::default()),
            Err(error) => Err(error),
        }
    }

    /// Keeps it.
    ///
    /// # Errors
    /// Where it cannot be written and synced.
    pub fn keep(&self, memory: &Memory) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(memory)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
            Some(_) | None => File::open(".")?.sync_all(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use protocol::Fence;

    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn key() -> DeviceKey {
        DeviceKey::new(b"a key of sixteen and more".to_vec())
    }

    fn command(order: &str, sequence: u64, command: DeviceAction) -> DeviceCommand {
        DeviceCommand {
            device_id: "DEV_001".parse().unwrap(),
            command_id: format!("k-{sequence}").parse().unwrap(),
            order_id: (!order.is_empty()).then(|| order.parse().unwrap()),
            sequence,
            fence: Fence(1),
            command,
            expires_at: Timestamp(2_000),
            expires_in_ms: 1_000,
        }
    }

    fn tell(memory: &mut Memory, told: &DeviceCommand) -> Verdict {
        memory.obey(&key(), told, &key().sign(told), NOW)
    }

    /// AT-RENT-04: however often and in whatever order it is told, it is unlocked once for an order.
    #[test]
    fn an_order_is_executed_once() {
        let mut memory = Memory::default();
        let (first, again) = (
            command("T-1", 5, DeviceAction::Start),
            command("T-1", 6, DeviceAction::Start),
        );
        assert_eq!(tell(&mut memory, &again), Verdict::Acted);
        for told in [&first, &again, &first] {
            assert_eq!(tell(&mut memory, told), Verdict::Known);
        }
        assert_eq!((memory.unlocks, memory.word()), (1, DeviceWord::Running));
        let stop = command("T-1", 7, DeviceAction::Stop);
        assert_eq!(tell(&mut memory, &stop), Verdict::Acted);
        assert_eq!(memory.word(), DeviceWord::Locked);
        // T-RENT-13: a start that comes after the stop.
        assert_eq!(tell(&mut memory, &again), Verdict::Known);
        assert_eq!((memory.unlocks, memory.word()), (1, DeviceWord::Locked));
    }

    /// AT-RENT-10.
    #[test]
    fn what_is_late_old_or_not_signed_is_refused() {
        let mut memory = Memory::default();
        let refused = |why| Verdict::Refused(why);
        assert_eq!(
            tell(&mut memory, &command("T-1", 9, DeviceAction::Start)),
            Verdict::Acted
        );
        let older = command("T-0", 8, DeviceAction::Start);
        assert_eq!(tell(&mut memory, &older), refused("lower sequence"));
        let late = DeviceCommand {
            expires_at: NOW,
            ..command("T-2", 10, DeviceAction::Start)
        };
        assert_eq!(tell(&mut memory, &late), refused("expired"));
        let right = command("T-2", 10, DeviceAction::Start);
        let of_another = key().sign(&command("T-3", 10, DeviceAction::Start));
        let verdict = memory.obey(&key(), &right, &of_another, NOW);
        assert_eq!(verdict, refused("wrong signature"));
        let no_order = command("", 10, DeviceAction::Unlock);
        assert_eq!(tell(&mut memory, &no_order), refused("no order"));
        let query = command("", 9, DeviceAction::Query);
        assert_eq!(tell(&mut memory, &query), Verdict::Asked);
        assert_eq!((memory.unlocks, memory.refused, memory.highest), (1, 4, 9));
    }

    /// What was executed a thousand orders ago is forgotten, and refused all the same.
    #[test]
    fn its_memory_is_bounded() {
        let mut memory = Memory::default();
        for n in 1..=2_000 {
            let told = command(&format!("T-{n}"), n, DeviceAction::Start);
            assert_eq!(tell(&mut memory, &told), Verdict::Acted);
        }
        assert_eq!(memory.executed.len(), EXECUTED_MAX);
        let first = command("T-1", 1, DeviceAction::Start);
        assert_eq!(
            tell(&mut memory, &first),
            Verdict::Refused("lower sequence")
        );
    }
}
