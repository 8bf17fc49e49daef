//! What the gateway knows only while it runs: readings, waits, commands under way.
//!
//! Nothing here is kept. After a start all of it is empty, which is why the first thing done to
//! an elevator is a read.

use std::collections::{BTreeMap, BTreeSet};

use protocol::client::TokenKey;
use protocol::hardware::{Door, Mode, Motion, Reading};
use protocol::message::RobotTopic;
use protocol::ride::RideView;
use protocol::robot::ConnectionState;
use protocol::{
    ClaimId, ClientId, DeviceId, ElevatorId, Landing, OrderId, PoolId, RentalId, RobotId,
    Timestamp, ZoneId,
};

use crate::alarm::Alarms;
use crate::claim::{Lease, PoolWatch};
use crate::effort::{Aim, Efforts, QueryState};
use crate::fact::Claim;
use crate::input::Now;
use crate::rank::Waiters;
use crate::rental::DeviceWatch;
use crate::timer::Timers;

/// Everything that is not kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    /// The cars.
    pub(crate) cars: BTreeMap<ElevatorId, Car>,
    /// The live rides, and what they wait for.
    pub(crate) rides: BTreeMap<OrderId, Progress>,
    /// The orders that are QUEUED.
    pub(crate) queued: Waiters,
    /// The robots.
    pub(crate) robots: BTreeMap<RobotId, Robot>,
    /// The applications.
    pub(crate) clients: BTreeMap<ClientId, Client>,
    /// How long claims have.
    pub(crate) leases: BTreeMap<ClaimId, Lease>,
    /// The pools.
    pub(crate) pools: BTreeMap<PoolId, PoolWatch>,
    /// The devices that are rented.
    pub(crate) devices: BTreeMap<DeviceId, DeviceWatch>,
    /// When what a rental waits for must have come.
    pub(crate) rental_ends: BTreeMap<RentalId, u64>,
    /// Rentals whose command is told again for nothing: the gateway was away.
    pub(crate) rentals_again: BTreeSet<RentalId>,
    /// What tokens are made with.
    pub(crate) token_key: Option<TokenKey>,
    /// What each zone's fire input said last; absent until it was read.
    pub(crate) fire_clear: BTreeMap<ZoneId, bool>,
    /// The moments at which something is due.
    pub(crate) timers: Timers,
    /// The open alarms.
    pub(crate) alarms: Alarms,
    /// Ingest is away since; leases and deadlines stand still.
    pub(crate) frozen_since_ms: Option<u64>,
    /// Ingest came back then: nobody was heard before.
    pub(crate) thawed_ms: u64,
    /// The broker was there and is not.
    pub(crate) broker_lost: bool,
    /// No new orders: the disk is nearly full.
    pub(crate) disk_low: bool,
    /// No new grants and no new permission: the gateway ends.
    pub(crate) stopping: bool,
    /// The embedded broker listens beyond loopback.
    pub(crate) insecure: bool,
    /// Buses that are away.
    pub(crate) buses_down: BTreeSet<String>,
    /// The wall clock of this start; part of every command id, so that no start repeats one.
    pub(crate) boot: Timestamp,
    /// Commands of this start.
    pub(crate) commands: u64,
    /// The moment of the last step, to see the wall clock jump.
    pub(crate) last_now: Option<Now>,
    /// The wall clock jumped at this moment.
    pub(crate) clock_jump_ms: Option<u64>,
    /// A car became free or fit, or a ride began to wait: look for grants.
    pub(crate) dispatch_due: bool,
    /// The suspension was changed: publish `site` again.
    pub(crate) site_due: bool,
    /// How long rides take, from grant to end: a moving mean, for estimates only.
    pub(crate) mean_ride_ms: u64,
    /// Grants since a waiter of the reserved share had its turn.
    pub(crate) grants_since_reserved: u32,
    /// Elevators that were touched in this step.
    pub(crate) touched: BTreeSet<ElevatorId>,
    /// Elevator states as they were published last, with the moment.
    pub(crate) published: BTreeMap<ElevatorId, (protocol::elevator::ElevatorView, u64)>,
}

impl Live {
    /// What is known of a pool; pools are few, those of the configuration.
    pub(crate) fn pool(&mut self, pool: &PoolId) -> &mut PoolWatch {
        self.pools.entry(pool.clone()).or_default()
    }

    /// What is known of a device; devices are few, those of the configuration.
    pub(crate) fn device(&mut self, device: &DeviceId) -> &mut DeviceWatch {
        self.devices.entry(device.clone()).or_default()
    }
}

/// What is known of a car.
#[derive(Debug, Clone, Default)]
pub(crate) struct Car {
    /// The last READ: the only thing that a ride goes on by.
    pub(crate) reading: Option<Reading>,
    /// The last snapshot of any kind, for the elevator's published state.
    pub(crate) seen: Option<Reading>,
    /// A mode that an unasked event told since the last READ, where it takes permissions away.
    pub(crate) mode_seen: Option<Mode>,
    /// When the last READ was asked for; `None` before the first on this connection.
    pub(crate) asked_ms: Option<u64>,
    /// When the last READ came.
    pub(crate) read_ms: Option<u64>,
    /// The wall clock of that.
    pub(crate) observed_at: Option<Timestamp>,
    /// The process started then; silence counts from here before the first READ.
    pub(crate) start_ms: u64,
    /// The way to the controller opened then; what was asked for before is old.
    pub(crate) link_ms: u64,
    /// READs have been good since.
    pub(crate) good_since_ms: Option<u64>,
    /// It was silent or unfit: `heal_ms` of good READs before the next grant.
    pub(crate) must_heal: bool,
    /// An unasked event took a permission away; only a READ asked later gives it back.
    pub(crate) doubt_ms: Option<u64>,
    /// The last `close_door` left then: from there on the gateway itself takes the open door away,
    /// and no permission is founded on what was asked for before.
    pub(crate) close_ms: Option<u64>,
    /// The query under way.
    pub(crate) query: QueryState,
    /// Commands under way.
    pub(crate) efforts: Efforts,
    /// A hold that was taken ends then.
    pub(crate) hold_until_ms: u64,
    /// It was taken then, and every one since before the last ended. What was asked for before
    /// shows the door before the hold, and founds no permission.
    pub(crate) hold_since_ms: u64,
    /// At this landing.
    pub(crate) hold_at: Option<Landing>,
    /// The next hold is sent then.
    pub(crate) hold_next_ms: u64,
    /// A kept-back elevator must show what is waited for until then.
    pub(crate) kept: Kept,
    /// A hold or a claim of ours may stand at the controller.
    pub(crate) release_due: bool,
    /// The controller's clock is off.
    pub(crate) clock_off_ms: Option<u64>,
}

/// How a kept-back elevator is looked after.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    /// Since when; READs count from here.
    pub(crate) since_ms: u64,
    /// Until when.
    pub(crate) deadline_ms: Option<u64>,
    /// `close_door` sent again.
    pub(crate) closes: u8,
    /// The car was seen at the landing of a call that cannot be read.
    pub(crate) came: bool,
}

/// What a live ride waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The state was entered then; READs count from here.
    pub(crate) since_ms: u64,
    /// The state's deadline.
    pub(crate) deadline_ms: Option<u64>,
    /// Any message of the robot came last then.
    pub(crate) heard_ms: u64,
    /// The ride was born then, before this start too.
    pub(crate) born_ms: i64,
    /// The robot says that it stands at the door.
    pub(crate) at_door: bool,
    /// The robot says that it will be at the door then.
    pub(crate) at_door_ms: Option<u64>,
    /// What is retried in this state.
    pub(crate) tries: Tries,
    /// The second half of a deadline that has two.
    pub(crate) second_period: bool,
    /// The deadline passed, and its query waits for an answer until then.
    pub(crate) asking_until_ms: Option<u64>,
    /// `entry_s` is over: no-show is waited for.
    pub(crate) entry_over: bool,
    /// Every door was seen closed since `enter`.
    pub(crate) shut_seen: bool,
    /// The signal disagrees with the robot's word and is looked at again.
    pub(crate) recheck: Option<Recheck>,
    /// `hold_door` of the robot extended the deadline by this.
    pub(crate) extended_ms: u64,
    /// No `close_door` before this.
    pub(crate) close_after_ms: u64,
    /// The car call was seen registered in ROBOT_ENTERED.
    pub(crate) call_seen: bool,
    /// The door was seen open since RUNNING or HOLD began.
    pub(crate) door_opened: bool,
    /// A permission was given last then.
    pub(crate) permitted_ms: u64,
    /// The car stood open at a third landing.
    pub(crate) stopped_elsewhere: bool,
    /// The car has been READ standing shut at the target since.
    pub(crate) shut_at_target_ms: Option<u64>,
    /// The car left the target before the robot; it was sent back once.
    pub(crate) sent_back: bool,
    /// Queries for the effect of a command.
    pub(crate) requeries: u8,
    /// The next of them.
    pub(crate) requery_ms: u64,
    /// The view that was published last.
    pub(crate) shown: Option<RideView>,
    /// A position or estimate was published last then.
    pub(crate) told_ms: u64,
    /// The ride was alive when the gateway started: what stands already is not ordered again.
    pub(crate) resumed: bool,
    /// Granted then, for the mean.
    pub(crate) granted_ms: u64,
}

/// Counters of what may be repeated only so often.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tries {
    /// `open_door`.
    pub(crate) open: u8,
    /// `close_door`.
    pub(crate) close: u8,
    /// A call.
    pub(crate) call: u8,
    /// A reminder to leave.
    pub(crate) remind: u8,
}

/// A look at the signal, three times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recheck {
    /// What the robot said.
    pub(crate) claim: Claim,
    /// Looks left.
    pub(crate) left: u8,
    /// The next.
    pub(crate) next_ms: u64,
    /// The last look was asked for then.
    pub(crate) asked_ms: u64,
}

/// What is known of a robot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Robot {
    /// It says that it is in a car.
    pub(crate) in_car: bool,
    /// The state of its connection.
    pub(crate) connection: Option<ConnectionState>,
    /// Any message came last then.
    pub(crate) heard_ms: u64,
    /// The second that messages are counted in.
    pub(crate) second: u64,
    /// Messages in that second.
    pub(crate) messages: u32,
    /// The last answer to an unreadable or rate-limited message, per topic.
    pub(crate) refused_ms: BTreeMap<RobotTopic, u64>,
}

/// What is known of an application.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    /// Any message came last then.
    pub(crate) heard_ms: u64,
    /// The second that messages are counted in.
    pub(crate) second: u64,
    /// Messages in that second.
    pub(crate) messages: u32,
    /// The last answer to an unreadable message.
    pub(crate) refused_ms: Option<u64>,
}

/// Looks at a signal that disagrees (`ride.md` section 1: `entry_recheck_s` x 3).
const LOOKS: u8 = 3;

impl Recheck {
    /// Looks from here on.
    pub(crate) fn begin(claim: Claim, now_ms: u64, pause_ms: u64) -> Self {
        Self {
            claim,
            left: LOOKS,
            next_ms: now_ms.saturating_add(pause_ms),
            asked_ms: now_ms,
        }
    }
}

impl Car {
    /// The last reading, where it is a READ of what was asked at or after `since_ms`.
    pub(crate) fn read_since(&self, since_ms: u64) -> Option<&Reading> {
        let asked = self.asked_ms?;
        mutate!(OldReading, asked >= since_ms, true)
            .then_some(self.reading.as_ref())
            .flatten()
    }

    /// A reading that founds a permission was asked for at or after this.
    pub(crate) fn permits_since_ms(&self) -> u64 {
        let closed_ms = self.close_ms.map_or(0, |at_ms| at_ms.saturating_add(1));
        closed_ms.max(self.doubt_ms.unwrap_or(0))
    }

    /// Milliseconds since anything was READ, counted from the start before that. A link that opens
    /// is no reading: one that comes and goes would never be silent.
    pub(crate) fn quiet_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.read_ms.unwrap_or(self.start_ms))
    }

    /// A hold was taken at `at_ms`: it stands for `hold_ms` from when it was sent.
    pub(crate) fn take_hold(&mut self, sent_ms: u64, hold_ms: u64, at_ms: u64) {
        let until_ms = sent_ms.saturating_add(hold_ms);
        if until_ms <= self.hold_until_ms {
            return;
        }
        if at_ms > self.hold_until_ms {
            self.hold_since_ms = at_ms;
        }
        self.hold_until_ms = until_ms;
    }

    /// The door is READ closing or shut, or the car elsewhere, though a hold was taken before: it
    /// holds nothing.
    pub(crate) fn drop_broken_hold(&mut self) {
        let (Some(reading), Some(asked_ms), Some(landing)) =
            (&self.reading, self.asked_ms, &self.hold_at)
        else {
            return;
        };
        let held = self.hold_until_ms > 0 && asked_ms >= self.hold_since_ms;
        let stands = reading.motion == Motion::Stopped
            && reading.floor.as_ref() == Some(&landing.floor)
            && matches!(reading.door(landing.side), Door::Open | Door::Opening);
        if held && !stands {
            self.hold_until_ms = 0;
            if self.efforts.is_taken(Aim::Hold) {
                self.efforts.drop_aim(Aim::Hold);
            }
        }
    }

    /// How long the hold lasts from here.
    pub(crate) fn hold_lasts_ms(&self, now_ms: u64) -> u64 {
        self.hold_until_ms.saturating_sub(now_ms)
    }
}
