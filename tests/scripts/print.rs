//! What happened, in words: one line each, in the order of the world.

use std::collections::{BTreeMap, BTreeSet};

use dispatch::OperatorAnswer;
use protocol::hardware::{Action, Command, Direction, Outcome, Report};
use protocol::ops::{Alarm, SuspensionCode};
use protocol::ride::{Instruction, Reason, RideReply, RideView};
use protocol::robot::RobotEvent;
use protocol::{CommandId, Landing, Outgoing, RobotId, RobotMessage, Side};
use sim::car::CarEvent;
use sim::world::tale::Tale;

use super::facts::fact;

/// Writes tales as lines. It keeps what repeats itself in mind, to say it once.
#[derive(Default)]
pub struct Printer {
    /// Queries are said, too.
    pub queries: bool,
    lines: Vec<String>,
    /// The last command to each elevator that was said, and how often it came again.
    last: BTreeMap<String, (String, u32)>,
    /// Alarms that were said.
    raised: BTreeSet<String>,
    /// Alarms that came again, and how often.
    alarms: BTreeMap<String, u32>,
    suspended: Option<String>,
    /// What the last heartbeat of each robot said.
    in_car: BTreeMap<RobotId, bool>,
    /// What commands were, for answers to them.
    commands: BTreeMap<CommandId, String>,
}

impl Printer {
    /// Takes the lines of a block.
    pub fn take(&mut self) -> Vec<String> {
        self.say_again();
        self.last.clear();
        std::mem::take(&mut self.lines)
    }

    /// Says how often what was said came again.
    fn say_again(&mut self) {
        for (elevator, (command, again)) in &mut self.last {
            if *again > 0 {
                self.lines.push(format!(
                    "          {elevator} <- {command}, again {}",
                    times(*again)
                ));
                *again = 0;
            }
        }
        for (alarm, again) in std::mem::take(&mut self.alarms) {
            self.lines
                .push(format!("          alarm {alarm} repeated {}", times(again)));
        }
    }

    /// Says something that has no moment of its own.
    pub fn say(&mut self, text: &str) {
        self.say_again();
        self.lines.push(format!("          {text}"));
    }

    /// Says one tale, if it is worth a line.
    pub fn tale(&mut self, at_ms: u64, tale: &Tale) {
        let line = match tale {
            Tale::Started => Some("gateway starts".to_owned()),
            Tale::Ready => Some("gateway ready".to_owned()),
            Tale::Crashed { lost: 0 } => Some("gateway killed".to_owned()),
            Tale::Crashed { lost } => Some(format!("gateway killed, {lost} batches lost")),
            Tale::Ended(why) => Some(format!("gateway ends: {why}")),
            Tale::Facts(facts) => {
                for text in facts.iter().map(fact) {
                    self.line(at_ms, &format!("  fact {text}"));
                }
                None
            }
            Tale::Said(said) => self.said(said),
            Tale::Sent(command) => self.sent(command),
            Tale::Dropped(command, why) => Some(format!("gate: {} dropped, {why}", words(command))),
            Tale::Answered(Ok(OperatorAnswer::Done(text))) => Some(format!("operator: {text}")),
            Tale::Answered(Ok(_)) => None,
            Tale::Answered(Err(why)) => Some(format!("operator refused: {why}")),
            Tale::Reported(elevator, report) => self.reported(elevator.as_str(), report),
            Tale::Car(elevator, event) => car(event).map(|text| format!("  car {elevator} {text}")),
            Tale::Robot(robot, message) => self.robot(robot, message),
        };
        if let Some(line) = line {
            self.line(at_ms, &line);
        }
    }

    /// A heartbeat is worth a line where what it says of the car is new.
    fn robot(&mut self, robot: &RobotId, message: &RobotMessage) -> Option<String> {
        if let RobotMessage::Status(status) = message {
            let in_car = status.in_car == Some(true);
            let was = self.in_car.insert(robot.clone(), in_car).unwrap_or(false);
            let text = if in_car {
                "in the car"
            } else {
                "not in the car"
            };
            return (in_car != was).then(|| format!("{robot} >> status: {text}"));
        }
        spoken(message).map(|text| format!("{robot} >> {text}"))
    }

    fn line(&mut self, at_ms: u64, text: &str) {
        let (s, ms) = (at_ms / 1_000, at_ms % 1_000);
        self.lines.push(format!("{s:>5}.{ms:03} {text}"));
    }

    fn sent(&mut self, command: &Command) -> Option<String> {
        let elevator = command.elevator_id.to_string();
        let text = words(command);
        self.commands
            .insert(command.command_id.clone(), text.clone());
        if command.action == Action::Query && !self.queries {
            return None;
        }
        match self.last.get_mut(&elevator) {
            Some((last, again)) if *last == text => {
                *again += 1;
                None
            }
            Some(_) | None => {
                let earlier = self.last.insert(elevator.clone(), (text.clone(), 0));
                if let Some((last, again)) = earlier.filter(|(_, again)| *again > 0) {
                    self.lines.push(format!(
                        "          {elevator} <- {last}, again {}",
                        times(again)
                    ));
                }
                Some(format!("{elevator} <- {text}"))
            }
        }
    }

    fn said(&mut self, said: &Outgoing) -> Option<String> {
        match said {
            Outgoing::RideReply { robot, reply } => Some(format!("{robot} << {}", answer(reply))),
            Outgoing::RideState(view) => Some(format!("{} << {}", view.robot_id, state(view))),
            Outgoing::RideStateCleared { robot } => Some(format!("{robot} << (cleared)")),
            Outgoing::Alarm(alarm) => self.alarm(alarm),
            Outgoing::Site(site) => {
                let suspended = site.suspended.as_ref().map(|suspension| {
                    let zones: Vec<_> = suspension.zones.iter().map(ToString::to_string).collect();
                    let code = match suspension.code {
                        SuspensionCode::Suspended => "SUSPENDED",
                        SuspensionCode::FireMode => "FIRE_MODE",
                    };
                    format!("{code} in {}", zones.join(", "))
                });
                let changed = suspended != self.suspended;
                self.suspended.clone_from(&suspended);
                let text = suspended
                    .map_or_else(|| "site open".into(), |text| format!("site closed: {text}"));
                changed.then_some(text)
            }
            Outgoing::ElevatorState(_)
            | Outgoing::ClientReply { .. }
            | Outgoing::ClaimState { .. }
            | Outgoing::RentalState { .. }
            | Outgoing::DeviceCommand { .. }
            | Outgoing::DeviceState(_)
            | Outgoing::ElevatorCommand(_)
            | Outgoing::Alarms(_)
            | Outgoing::GatewayConnection(..) => None,
        }
    }

    fn alarm(&mut self, alarm: &Alarm) -> Option<String> {
        let place = alarm
            .elevator_id
            .as_ref()
            .map_or_else(|| "site".to_owned(), ToString::to_string);
        let order = alarm
            .order_id
            .as_ref()
            .map_or(String::new(), |order| format!(" {order}"));
        let text = format!("{} {place}{order}", alarm.code);
        if alarm.cleared_at.is_some() {
            return Some(format!("alarm cleared: {text}"));
        }
        if self.raised.insert(alarm.alarm_id.clone()) {
            let severity = format!("{:?}", alarm.severity).to_lowercase();
            return Some(format!("alarm {severity}: {text}"));
        }
        *self.alarms.entry(text).or_default() += 1;
        None
    }

    fn reported(&self, elevator: &str, report: &Report) -> Option<String> {
        let Report::Outcome {
            command_id,
            outcome,
        } = report
        else {
            return None;
        };
        let command = self.commands.get(command_id).map_or("?", String::as_str);
        match outcome {
            Outcome::Failed { detail } => Some(format!("{elevator} -> {command} failed: {detail}")),
            Outcome::Unknown { detail } => {
                Some(format!("{elevator} -> {command} unknown: {detail}"))
            }
            Outcome::Sent | Outcome::Accepted | Outcome::Done | Outcome::Dropped { .. } => None,
        }
    }
}

fn times(again: u32) -> String {
    if again == 1 {
        "once".to_owned()
    } else {
        format!("{again} times")
    }
}

/// A landing; the front side goes without saying.
pub fn at(landing: &Landing) -> String {
    match landing.side {
        Side::Front => landing.floor.to_string(),
        Side::Rear => format!("{}/rear", landing.floor),
    }
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
    }
}

fn words(command: &Command) -> String {
    let rest = match &command.action {
        Action::Query | Action::Claim | Action::Release => String::new(),
        Action::HallCall { landing, direction } | Action::CancelCall { landing, direction } => {
            format!(" {} {}", at(landing), way(*direction))
        }
        Action::CarCall { landing }
        | Action::OpenDoor { landing }
        | Action::CloseDoor { landing } => format!(" {}", at(landing)),
        Action::HoldDoor { landing, hold_ms } => {
            let hold_s = hold_ms / 1_000;
            format!(" {} for {hold_s} s", at(landing))
        }
    };
    let order = command
        .order_id
        .as_ref()
        .map_or(String::new(), |order| format!("{order}, "));
    format!(
        "{}{rest} ({order}fence {})",
        command.action.word(),
        command.fence
    )
}

pub fn why(reason: Option<&Reason>) -> String {
    reason.map_or(String::new(), |reason| format!(" {}", reason.code))
}

fn state(view: &RideView) -> String {
    let held = view
        .held_from
        .map_or(String::new(), |from| format!(" from {from}"));
    let elevator = view
        .elevator_id
        .as_ref()
        .map_or(String::new(), |id| format!(" {id}"));
    let fence = view
        .fence
        .map_or(String::new(), |fence| format!(" fence {fence}"));
    let place = view
        .floor
        .as_ref()
        .map_or(String::new(), |floor| format!(" at {floor}"));
    let queue = view
        .queue_position
        .map_or(String::new(), |place| format!(" place {place}"));
    format!(
        "#{} {}{held}: {}{place}{elevator}{fence}{queue}{}",
        view.seq,
        view.state,
        view.instruction,
        why(view.reason.as_ref())
    )
}

fn answer(reply: &RideReply) -> String {
    let code = reply.code.map_or(String::new(), |code| format!(" {code}"));
    let state = reply
        .state
        .map_or(String::new(), |state| format!(" {state}"));
    let seq = reply.seq.map_or(String::new(), |seq| format!(" #{seq}"));
    let instruction = reply
        .instruction
        .map_or(String::new(), |instruction: Instruction| {
            format!(": {instruction}")
        });
    let queue = reply
        .queue_position
        .map_or(String::new(), |place| format!(" place {place}"));
    format!("{}{code}{seq}{state}{instruction}{queue}", reply.result)
}

fn car(event: &CarEvent) -> Option<String> {
    let call = |landing: &Landing, hall: Option<Direction>| match hall {
        Some(direction) => format!("hall call {} {}", at(landing), way(direction)),
        None => format!("car call {}", at(landing)),
    };
    Some(match event {
        CarEvent::Called { landing, hall } => format!("{} lit", call(landing, *hall)),
        CarEvent::CallCleared { landing, hall } => format!("{} out", call(landing, *hall)),
        CarEvent::Departed { floor, up: true } => format!("leaves {floor} upwards"),
        CarEvent::Departed { floor, up: false } => format!("leaves {floor} downwards"),
        CarEvent::Passed { .. } => return None,
        CarEvent::Arrived { floor } => format!("stands at {floor}"),
        CarEvent::Door {
            side: Side::Front,
            door,
        } => format!("door {door}"),
        CarEvent::Door {
            side: Side::Rear,
            door,
        } => format!("rear door {door}"),
        CarEvent::Mode(mode) => format!("mode {mode}"),
        CarEvent::InDoorway { robot } => format!("{robot} in the doorway"),
        CarEvent::OffDoorway { robot } => format!("{robot} back from the doorway"),
        CarEvent::Entered { robot, floor } => format!("{robot} in, at {floor}"),
        CarEvent::Left { robot, floor } => format!("{robot} out, at {floor}"),
        CarEvent::CrossedUnopened { robot, door, level } => {
            let place = if *level { "" } else { ", car not there" };
            format!("{robot} crosses with the door {door}{place}")
        }
        CarEvent::MovedFromDoorway { robot } => format!("leaves with {robot} in the doorway"),
    })
}

fn spoken(message: &RobotMessage) -> Option<String> {
    match message {
        RobotMessage::Request(request) => {
            let dry = if request.dry_run { " (dry run)" } else { "" };
            Some(format!(
                "request {}: {} to {}{dry}",
                request.order_id, request.from.floor, request.to.floor
            ))
        }
        RobotMessage::Event(event) => {
            let fence = event
                .fence
                .map_or(String::new(), |fence| format!(" fence {fence}"));
            let more = match &event.event {
                RobotEvent::CancelEnter { again: true } => " again",
                RobotEvent::HoldDoor { .. }
                | RobotEvent::CancelEnter { .. }
                | RobotEvent::Query
                | RobotEvent::AtDoor
                | RobotEvent::Entered
                | RobotEvent::Exited
                | RobotEvent::CancelExit => "",
            };
            Some(format!("{}{more}{fence}", event.event.word()))
        }
        RobotMessage::Cancel(cancel) => Some(format!("cancel {}", cancel.order_id)),
        RobotMessage::Status(_) | RobotMessage::Connection(_) => None,
    }
}
