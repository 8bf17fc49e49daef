//! What is polled over a line: elevators and zone fire inputs, each at its own pace.

use std::time::Duration;

use protocol::ElevatorId;
use tokio::time::Instant;

use super::ZoneInput;
use super::device::Device;
use crate::backoff::Backoff;
use crate::map::{Block, FloorTable, Group, Image, Write};

/// How long after its first unanswered request a unit is asked again, after the second twice that.
pub(super) const AGAIN: Duration = Duration::from_millis(100);

/// When something is read next.
#[derive(Debug)]
pub(super) struct Pace {
    due: Instant,
    poll: Duration,
    backoff: Backoff,
}

impl Pace {
    /// Due at once, and then every `poll`.
    pub(super) fn new(poll: Duration, backoff: Backoff) -> Self {
        Self {
            due: Instant::now(),
            poll,
            backoff,
        }
    }

    /// When the next reading is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// A reading starts.
    pub(super) fn start(&mut self) {
        self.due = Instant::now() + self.poll;
    }

    /// It is due at once.
    pub(super) fn hurry(&mut self) {
        self.due = Instant::now();
    }

    /// It is due again after this.
    pub(super) fn again(&mut self, after: Duration) {
        self.due = Instant::now() + after;
    }

    /// It answered.
    pub(super) fn succeed(&mut self) {
        self.backoff.reset();
    }

    /// It did not: others go first for a while.
    pub(super) fn fail(&mut self) {
        self.due = Instant::now() + self.backoff.fail();
    }

    /// Whether it did not answer last time.
    pub(super) fn is_failing(&self) -> bool {
        self.backoff.is_failing()
    }

    /// How long it is still left alone because it did not answer; `None` where it is not.
    pub(super) fn resting(&self) -> Option<Duration> {
        let rest = self.due.saturating_duration_since(Instant::now());
        (self.backoff.is_failing() && !rest.is_zero()).then_some(rest)
    }
}

/// A unit that takes what is written.
#[derive(Debug)]
pub(super) struct Board {
    /// Writes in a row without an answer.
    misses: u32,
    until: Instant,
    backoff: Backoff,
}

impl Board {
    /// One that answers, as far as anybody knows.
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            misses: 0,
            until: Instant::now(),
            backoff,
        }
    }

    /// Until then it is left alone, but for commands.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// It answered.
    pub(super) fn succeed(&mut self) {
        self.misses = 0;
        self.until = Instant::now();
        self.backoff.reset();
    }

    /// It did not: it is asked again soon, each time a little later, and from the `misses_max`th
    /// time in a row on others go first for a while. Whether this was that time.
    pub(super) fn miss(&mut self, misses_max: u32) -> bool {
        self.misses = self.misses.saturating_add(1);
        let rest = if self.misses < misses_max {
            AGAIN * self.misses
        } else {
            self.backoff.fail()
        };
        self.until = Instant::now() + rest;
        self.misses == misses_max
    }
}

/// An elevator on the line.
#[derive(Debug)]
pub(super) struct Station {
    /// The elevator.
    pub(super) elevator: ElevatorId,
    /// Its unit.
    pub(super) unit: u8,
    /// The unit that takes what is written.
    pub(super) write_unit: u8,
    /// What it is driven by.
    pub(super) device: Device,
    /// Its floor numbers.
    pub(super) floors: FloorTable,
    /// What is read of it, the most often first.
    pub(super) groups: Vec<Group>,
    /// When each of them was read last; the first is read each time.
    pub(super) read: Vec<Option<Read>>,
    /// What was read last.
    pub(super) image: Image,
    /// When it is read.
    pub(super) pace: Pace,
    /// What was said of its link last.
    pub(super) link: Option<bool>,
    /// Requests in a row without an answer.
    pub(super) misses: u32,
}

/// When a group was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    at: Instant,
    /// The same on the gateway's clock.
    asked_ms: u64,
}

impl Station {
    /// The groups of a reading that begins at `at`.
    fn due(&self, at: Instant) -> Vec<usize> {
        let all = self.groups.iter().zip(&self.read).enumerate();
        let is_due = |group: &Group, read: &Option<Read>| {
            read.is_none_or(|read| at >= read.at + Duration::from_millis(group.poll_ms))
        };
        all.filter(|(place, (group, read))| *place == 0 || is_due(group, read))
            .map(|(place, _)| place)
            .collect()
    }

    /// The next reading is a whole one.
    pub(super) fn forget(&mut self) {
        self.read.fill(None);
    }

    /// Takes in what a reading brought: when the oldest point of all was asked for, on the gateway's
    /// clock.
    pub(super) fn take(&mut self, sweep: Sweep) -> u64 {
        let Sweep {
            began,
            asked_ms,
            groups,
            image,
            ..
        } = sweep;
        for place in groups {
            let at = began;
            self.read[place] = Some(Read { at, asked_ms });
        }
        self.image.extend(image);
        let reads = self.read.iter().flatten();
        reads.map(|read| read.asked_ms).min().unwrap_or(asked_ms)
    }
}

/// A zone's fire input on the line.
#[derive(Debug)]
pub(super) struct ZoneStation {
    /// Where it is.
    pub(super) input: ZoneInput,
    /// When it is read.
    pub(super) pace: Pace,
    /// It was read last then, on the gateway's clock; the start of the line before that.
    pub(super) read_ms: u64,
}

impl ZoneStation {
    /// It has not been read for so long that its signal is lost.
    pub(super) fn is_lost(&self, now_ms: u64, lost_ms: u64) -> bool {
        now_ms.saturating_sub(self.read_ms) >= lost_ms
    }

    /// The read of it.
    pub(super) fn block(&self) -> Block {
        Block {
            table: self.input.point,
            address: self.input.address,
            count: 1,
        }
    }
}

/// One reading of an elevator, while its blocks come in.
#[derive(Debug)]
pub(super) struct Sweep {
    /// Which station.
    pub(super) station: usize,
    /// When it began.
    pub(super) began: Instant,
    /// The same on the gateway's clock.
    pub(super) asked_ms: u64,
    /// What is read, by its place among the groups of the station.
    groups: Vec<usize>,
    /// The reads that it takes.
    blocks: Vec<Block>,
    /// Which block is next.
    block: usize,
    /// What came so far.
    image: Image,
}

impl Sweep {
    /// A reading of what is due of the station at this place, asked for at `asked_ms`.
    pub(super) fn new(place: usize, station: &Station, asked_ms: u64) -> Self {
        let began = Instant::now();
        let groups = station.due(began);
        let blocks = station
            .device
            .blocks_of(groups.iter().map(|group| &station.groups[*group]));
        Self {
            station: place,
            began,
            asked_ms,
            groups,
            blocks,
            block: 0,
            image: Image::new(),
        }
    }

    /// The next block; `None` when all have come.
    pub(super) fn next(&self) -> Option<Block> {
        self.blocks.get(self.block).copied()
    }

    /// Takes in what a block read.
    pub(super) fn add(&mut self, block: Block, points: Vec<u16>) {
        let addresses = (block.address..=u16::MAX).map(|address| (block.table, address));
        self.image.extend(addresses.zip(points));
        self.block += 1;
    }
}

/// A pressed button.
#[derive(Debug)]
pub(super) struct Press {
    /// When it is let go.
    pub(super) until: Instant,
    /// Whose it is.
    pub(super) station: usize,
    /// The write that lets it go.
    pub(super) off: Write,
}
