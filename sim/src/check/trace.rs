//! A run as one number, and how often each rare branch was taken.

use std::collections::BTreeMap;

use protocol::ride::{Instruction, RideState};
use protocol::{AlarmCode, Code, Outgoing, ReasonCode};

use super::Seen;
use crate::car::CarEvent;

/// What a run did, folded into a number and into counts.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    hash: u64,
    steps: u64,
    requests: u64,
    replies: BTreeMap<Code, u64>,
    told: BTreeMap<(RideState, Option<ReasonCode>), u64>,
    instructed: BTreeMap<(RideState, Instruction), u64>,
    held_from: BTreeMap<RideState, u64>,
    alarms: BTreeMap<AlarmCode, u64>,
}

impl Trace {
    /// The same for the same run.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Steps of the core.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Tasks that robots were given.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Each rare branch by its name, and how often it was taken.
    #[must_use]
    pub fn branches(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for code in Code::ALL {
            let count = self.replies.get(code).copied().unwrap_or(0);
            all.insert(format!("reply {code}"), count);
        }
        for code in AlarmCode::ALL {
            let count = self.alarms.get(code).copied().unwrap_or(0);
            all.insert(format!("alarm {code}"), count);
        }
        for code in ReasonCode::ALL {
            let told = self.told.iter().filter(|((_, why), _)| *why == Some(*code));
            all.insert(format!("reason {code}"), told.map(|(_, count)| count).sum());
        }
        for state in RideState::ALL {
            let told = self.told.iter().filter(|((is, _), _)| is == state);
            all.insert(format!("state {state}"), told.map(|(_, count)| count).sum());
            if !state.is_terminal() && !matches!(state, RideState::Queued | RideState::Hold) {
                let count = self.held_from.get(state).copied().unwrap_or(0);
                all.insert(format!("HOLD from {state}"), count);
            }
        }
        for ((state, instruction), count) in &self.instructed {
            all.insert(format!("{state} {instruction}"), *count);
        }
        all
    }

    pub(super) fn saw(&mut self, now_ms: u64, seen: &Seen<'_>) {
        match seen {
            Seen::Published { payload, .. } => self.bytes(now_ms, payload),
            Seen::Said {
                message, payload, ..
            } => {
                self.bytes(now_ms, payload);
                self.said(message);
            }
            Seen::Received { command } => {
                self.mix(now_ms ^ command.fence.0.rotate_left(32));
                self.bytes(now_ms, command.command_id.as_str().as_bytes());
            }
            Seen::Car { event, .. } => self.car(now_ms, event),
            Seen::Stepped(_) => self.steps += 1,
            Seen::Asked { .. } => self.requests += 1,
            Seen::Synced { seq } => self.mix(*seq),
            Seen::Crashed { survived } => self.mix(*survived),
            Seen::Delivered { .. }
            | Seen::Acknowledged { .. }
            | Seen::Released { .. }
            | Seen::Sent { .. }
            | Seen::Dropped { .. }
            | Seen::Crosses { .. }
            | Seen::Started { .. }
            | Seen::Ended { .. }
            | Seen::ClockJumped { .. }
            | Seen::Audited { .. } => {}
        }
    }

    fn said(&mut self, message: &Outgoing) {
        match message {
            Outgoing::RideState(view) => {
                let why = view.reason.as_ref().map(|reason| reason.code);
                *self.told.entry((view.state, why)).or_default() += 1;
                let word = (view.state, view.instruction);
                *self.instructed.entry(word).or_default() += 1;
                if let Some(from) = view.held_from {
                    *self.held_from.entry(from).or_default() += 1;
                }
            }
            Outgoing::RideReply { reply, .. } => {
                if let Some(code) = reply.code {
                    *self.replies.entry(code).or_default() += 1;
                }
            }
            Outgoing::Alarm(alarm) if alarm.cleared_at.is_none() => {
                *self.alarms.entry(alarm.code).or_default() += 1;
            }
            Outgoing::Alarm(_)
            | Outgoing::RideStateCleared { .. }
            | Outgoing::ElevatorState(_)
            | Outgoing::ElevatorCommand(_)
            | Outgoing::Alarms(_)
            | Outgoing::Site(_)
            | Outgoing::ClientReply { .. }
            | Outgoing::ClaimState { .. }
            | Outgoing::RentalState { .. }
            | Outgoing::DeviceCommand { .. }
            | Outgoing::DeviceState(_)
            | Outgoing::GatewayConnection(..) => {}
        }
    }

    fn car(&mut self, now_ms: u64, event: &CarEvent) {
        let what = match event {
            CarEvent::Called { .. } => 1,
            CarEvent::CallCleared { .. } => 2,
            CarEvent::Departed { .. } => 3,
            CarEvent::Passed { .. } => 4,
            CarEvent::Arrived { .. } => 5,
            CarEvent::Door { door, .. } => 6 + *door as u64,
            CarEvent::Mode(mode) => 16 + *mode as u64,
            CarEvent::InDoorway { .. } => 32,
            CarEvent::OffDoorway { .. } => 33,
            CarEvent::Entered { .. } => 34,
            CarEvent::Left { .. } => 35,
            CarEvent::CrossedUnopened { .. } => 36,
            CarEvent::MovedFromDoorway { .. } => 37,
        };
        self.mix(now_ms ^ (what << 48));
    }

    fn bytes(&mut self, now_ms: u64, bytes: &[u8]) {
        self.mix(now_ms);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    }
}
