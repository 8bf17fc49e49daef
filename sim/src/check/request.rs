//! What a request must be answered with: the first rule of `wire.md` section 3 that it breaks.

use protocol::ride::ReplyResult;
use protocol::robot::{Place, RideRequest};
use protocol::{Code, Landing, RobotId, Side, limits};

use super::model::{Content, Model};
use super::reply::{Answer, refused};

impl Model {
    pub(super) fn request(&self, robot: &RobotId, request: &RideRequest) -> Answer {
        if let Some(ride) = self.rides.get(&request.order_id) {
            if self.may_be_forgotten(ride) {
                return None;
            }
            let same = &ride.robot == robot && ride.content == Content::of(request);
            return if same {
                Some((ReplyResult::Duplicate, None))
            } else {
                refused(Code::OrderConflict)
            };
        }
        self.refusal(robot, request)
            .map_or(Some((ReplyResult::Accepted, None)), refused)
    }

    fn refusal(&self, robot: &RobotId, request: &RideRequest) -> Option<Code> {
        if self.disk_low || self.stopping {
            return Some(Code::Unavailable);
        }
        let retention_ms = self.site.limits.dedup_retention_s * 1_000;
        let ahead_ms = u64::from(limits::FUTURE_S_MAX) * 1_000;
        let late = self.wall.since(request.timestamp) > retention_ms
            || request.timestamp.since(self.wall) > ahead_ms
            || request.expires_at.is_some_and(|at| at <= self.wall);
        if late {
            return Some(Code::StaleRequest);
        }
        let (Some(from), Some(to)) = (self.landing(&request.from), self.landing(&request.to))
        else {
            return Some(Code::UnknownFloor);
        };
        if from.floor == to.floor {
            return Some(Code::SameFloor);
        }
        let elevators = &self.site.elevators;
        if request
            .elevators
            .iter()
            .any(|id| !elevators.contains_key(id))
        {
            return Some(Code::UnknownElevator);
        }
        let mut able = elevators.values().filter(|config| {
            let allowed = request.elevators.is_empty() || request.elevators.contains(&config.id);
            allowed && config.serves(&from) && config.serves(&to)
        });
        let mut able = able.by_ref().peekable();
        if able.peek().is_none() {
            return Some(Code::NotServed);
        }
        if able.all(|config| self.is_suspended(&config.id)) {
            return Some(Code::SiteSuspended);
        }
        let order = self
            .robots
            .get(robot)
            .and_then(|robot| robot.order.as_ref());
        let ride = order.and_then(|order| self.rides.get(order));
        if ride.is_some_and(|ride| ride.is_live()) {
            return Some(Code::RobotBusy);
        }
        let queue = usize::try_from(self.site.limits.queue).unwrap_or(usize::MAX);
        (self.queued.len() >= queue).then_some(Code::QueueFull)
    }

    /// The landing that a place means; a side may be left out where a floor has one.
    pub(super) fn landing(&self, place: &Place) -> Option<Landing> {
        let floors = self.site.elevators.values();
        let floors = floors.filter_map(|config| config.floor(&place.floor));
        let mut sides: Vec<Side> = floors
            .flat_map(|floor| floor.sides.iter().copied())
            .collect();
        sides.sort_unstable();
        sides.dedup();
        let side = match place.side {
            Some(side) => sides.contains(&side).then_some(side),
            None if sides.len() == 1 => sides.first().copied(),
            None => None,
        };
        let floor = place.floor.clone();
        side.map(|side| Landing { floor, side })
    }
}

impl Content {
    pub(super) fn of(request: &RideRequest) -> Self {
        Self {
            from: request.from.clone(),
            to: request.to.clone(),
            elevators: request.elevators.clone(),
            priority: request.priority,
        }
    }
}
