//! A request for a ride: refused by the first rule that it breaks, or admitted.

use protocol::ride::{Instruction, ReplyResult, RideState};
use protocol::robot::{Digest, Place, RideRequest};
use protocol::{Code, Landing, OrderId, Timestamp, limits};

use crate::fact::{Fact, RideFact};
use crate::ledger::Known;
use crate::live::Progress;
use crate::queue::signed;
use crate::render::{Asked, bare_reply};
use crate::state::Ride;
use crate::step::{Shift, Step};
use crate::timer::TimerKey;

type Refused = (Code, String);

impl Step<'_> {
    /// `ride/request` (`wire.md` section 3; the rows `request` of `ride.md`).
    pub(crate) fn request(&mut self, asked: &Asked, request: &RideRequest) {
        let digest = request.digest(&asked.robot);
        let found = self.state.ledger.known(&request.order_id);
        let known = mutate!(
            RideTwice,
            found,
            found.filter(|known| matches!(known, Known::Ride(row) if row.ended.is_none()))
        );
        if let Some(known) = known {
            let is_same = match known {
                Known::Ride(known) => {
                    known.robot == asked.robot && mutate!(NoConflict, known.digest == digest, true)
                }
                Known::Answer(_) => false,
            };
            if is_same {
                self.reply(asked, ReplyResult::Duplicate);
            } else {
                let detail = format!(
                    "order_id {} is known with another content or of another robot",
                    request.order_id
                );
                self.refuse(asked, Code::OrderConflict, detail);
            }
            return;
        }
        match self.check_request(asked, request, digest) {
            Err((code, detail)) => self.refuse(asked, code, detail),
            Ok(ride) if request.dry_run => self.answer_dry_run(asked, &ride),
            Ok(ride) => self.admit(asked, request, ride),
        }
    }

    fn check_request(
        &self,
        asked: &Asked,
        request: &RideRequest,
        digest: Digest,
    ) -> Result<Ride, Refused> {
        if self.live.disk_low || self.live.stopping {
            let why = if self.live.stopping {
                "the gateway ends"
            } else {
                "its disk is full"
            };
            return Err((Code::Unavailable, format!("no new orders: {why}")));
        }
        self.check_age(request)?;
        let from = self.landing(&request.from, "from")?;
        let to = self.landing(&request.to, "to")?;
        if from.floor == to.floor {
            let detail = format!("from.floor and to.floor are both {}", from.floor);
            return Err((Code::SameFloor, detail));
        }
        for id in &request.elevators {
            if !self.config.elevators.contains_key(id) {
                return Err((
                    Code::UnknownElevator,
                    format!("elevators: {id} is not known"),
                ));
            }
        }
        let ride = Ride {
            order: request.order_id.clone(),
            robot: asked.robot.clone(),
            digest,
            from,
            to,
            elevators: request.elevators.clone(),
            priority: request.priority,
            expires_at: request.expires_at,
            accepted_at: self.now.wall,
            seq: 0,
            state: RideState::Queued,
            held_from: None,
            instruction: Instruction::Wait,
            reason: None,
            elevator: None,
            fence: None,
            away: request.at_door == Some(false) || request.eta_s.is_some_and(|eta| eta > 0),
            enter_given: false,
            inside: false,
            in_car: false,
            claim: None,
            ended_at: None,
        };
        self.check_service(&ride)?;
        if let Some(live) = mutate!(TwoOrders, self.live_order(asked), None::<OrderId>) {
            let detail = format!("robot {} has the live order {live}", asked.robot);
            return Err((Code::RobotBusy, detail));
        }
        let full = self.live.queued.len() >= usize::try_from(self.config.limits.queue).unwrap_or(0);
        if mutate!(QueueUnbounded, full, false) {
            let detail = format!(
                "{} orders are queued, no more are taken",
                self.live.queued.len()
            );
            return Err((Code::QueueFull, detail));
        }
        Ok(ride)
    }

    /// An order id that may be forgotten must not be taken for a new one.
    pub(crate) fn check_moment(&self, timestamp: Timestamp) -> Result<(), Refused> {
        let now = self.now.wall;
        let age_ms = now.since(timestamp);
        let ahead_ms = timestamp.since(now);
        let retention_ms = self.config.limits.dedup_retention_s.saturating_mul(1000);
        if age_ms > retention_ms || ahead_ms > u64::from(limits::FUTURE_S_MAX) * 1000 {
            let detail = format!("timestamp {timestamp} is too far from the gateway's {now}");
            return Err((Code::StaleRequest, detail));
        }
        Ok(())
    }

    fn check_age(&self, request: &RideRequest) -> Result<(), Refused> {
        self.check_moment(request.timestamp)?;
        let now = self.now.wall;
        if let Some(expires_at) = request.expires_at.filter(|at| *at <= now) {
            let detail = format!("expires_at {expires_at} is past, the gateway has {now}");
            return Err((Code::StaleRequest, detail));
        }
        Ok(())
    }

    fn landing(&self, place: &Place, field: &str) -> Result<Landing, Refused> {
        let unknown = |detail: String| Err((Code::UnknownFloor, detail));
        let Some(sides) = self.reach.sides(&place.floor) else {
            return unknown(format!("{field}.floor {} is not known", place.floor));
        };
        let side = match (place.side, sides.len()) {
            (Some(side), _) if sides.contains(&side) => Some(side),
            (Some(side), _) => {
                return unknown(format!(
                    "{field}.side {side}: floor {} lacks it",
                    place.floor
                ));
            }
            (None, 1) => sides.first().copied(),
            (None, _) => None,
        };
        match side {
            Some(side) => Ok(Landing {
                floor: place.floor.clone(),
                side,
            }),
            None => unknown(format!(
                "{field}.side is missing, floor {} has two",
                place.floor
            )),
        }
    }

    fn check_service(&self, ride: &Ride) -> Result<(), Refused> {
        let mut able = self.ids(self.able(ride)).peekable();
        if able.peek().is_none() {
            let detail = format!("no allowed elevator serves {} and {}", ride.from, ride.to);
            return Err((Code::NotServed, detail));
        }
        if able.all(|id| self.is_suspended(id)) {
            let detail = format!(
                "every elevator from {} to {} is suspended",
                ride.from, ride.to
            );
            return Err((Code::SiteSuspended, detail));
        }
        Ok(())
    }

    /// The live order of the robot.
    pub(crate) fn live_order(&self, asked: &Asked) -> Option<OrderId> {
        let order = self.state.robots.get(&asked.robot)?;
        let ride = self.state.rides.get(order)?;
        (!ride.state.is_terminal()).then(|| order.clone())
    }

    fn answer_dry_run(&mut self, asked: &Asked, ride: &Ride) {
        let free: Vec<_> = self
            .config
            .elevators
            .keys()
            .filter(|id| self.is_free(id))
            .cloned()
            .collect();
        let mut reply = bare_reply(asked, ReplyResult::Accepted);
        reply.elevator_id = self.best_free(ride, &free);
        self.send_reply(asked, reply);
    }

    fn admit(&mut self, asked: &Asked, request: &RideRequest, ride: Ride) {
        let order = ride.order.clone();
        let in_car = self.says_in_car(&asked.robot);
        if let Some(last) = self.state.robots.get(&asked.robot) {
            let last = last.clone();
            self.live.rides.remove(&last);
        }
        self.record(Fact::Ride(RideFact::Admitted {
            order: order.clone(),
            robot: ride.robot,
            digest: ride.digest,
            from: ride.from,
            to: ride.to,
            elevators: ride.elevators,
            priority: ride.priority,
            expires_at: ride.expires_at,
            away: ride.away,
            at: self.now.wall,
        }));
        if in_car {
            // Its word stands until it takes it back, whatever it asks for.
            self.note_in_car(&asked.robot, true);
        }
        let now_ms = self.now.mono_ms;
        let eta_ms = request.eta_s.map(|eta| u64::from(eta).saturating_mul(1000));
        let progress = Progress {
            heard_ms: now_ms,
            born_ms: signed(now_ms),
            at_door: request.at_door == Some(true),
            at_door_ms: eta_ms.map(|eta| now_ms.saturating_add(eta)),
            ..Progress::default()
        };
        self.live.rides.insert(order.clone(), progress);
        let mut shift = Shift::to(RideState::Queued, Instruction::Wait);
        shift.reason = self
            .state
            .rides
            .get(&order)
            .map(|ride| self.why_queued(ride));
        self.shift(&order, shift);
        self.live.timers.hasten(TimerKey::Ride(order), now_ms);
        self.dispatch();
        self.reply(asked, ReplyResult::Accepted);
    }
}
