//! Plays a script: does what its lines say to a world, and gives back what happened.

use dispatch::{OperatorAction, ResolveOutcome};
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::{ElevatorId, FloorLabel, Outgoing, RobotId, ZoneId};
use sim::world::robot::{Habits, Order};
use sim::world::site::{ElevatorPlan, SitePlan};
use sim::world::tale::Tale;
use sim::world::{World, WorldConfig};

use super::print::Printer;
use super::words::Line;

/// The longest that `until` waits.
const UNTIL_MS: u64 = 600_000;

/// A script at play.
pub struct Player {
    site: SitePlan,
    sync_ms: u64,
    world: Option<World>,
    printer: Printer,
    /// The newest state of each elevator and ride that was said.
    shown: std::collections::BTreeMap<String, String>,
}

impl Player {
    /// An empty stage.
    pub fn new() -> Self {
        let site = SitePlan::new(Vec::new());
        Self {
            site,
            sync_ms: 0,
            world: None,
            printer: Printer::default(),
            shown: Default::default(),
        }
    }

    /// Does what the lines of one block say; gives back what happened.
    pub fn block(&mut self, lines: &[&str]) -> Vec<String> {
        for text in lines {
            self.line(&Line::new(text));
            self.write();
        }
        self.printer.take()
    }

    fn line(&mut self, line: &Line<'_>) {
        match line.word(0) {
            "elevator" => self.elevator(line),
            "timing" => self.timing(line),
            "sync" => self.sync_ms = line.span_ms(1),
            "queries" => self.printer.queries = line.has("on"),
            "start" => {
                let restored = line.has("restored");
                self.world().start_gateway(restored);
                self.world().run_for(200);
            }
            "robot" => self.robot(line),
            "wait" => {
                let span_ms = line.span_ms(1);
                self.world().run_for(span_ms);
            }
            "until" => self.until(line),
            "car" => self.car(line),
            "controller" => self.controller(line),
            "zone" => {
                let zone = ZoneId::new(line.word(1)).unwrap();
                let clear = line.has("clear");
                self.world().zone_fire(&zone, clear);
            }
            "operator" => self.operator(line),
            "crash" => {
                let kept = usize::try_from(line.number("kept").unwrap_or(0)).unwrap();
                self.world().crash_gateway(kept);
            }
            "broker" => match line.word(1) {
                "down" => self.world().broker_down(false),
                "lost" => self.world().broker_down(true),
                _ => self.world().broker_up(),
            },
            "late" => self.late(line),
            "show" => self.show(line),
            "judge" => self.judge(),
            _ => self.act(line),
        }
    }

    pub(super) fn world(&mut self) -> &mut World {
        let (site, sync_ms) = (&self.site, self.sync_ms);
        self.world.get_or_insert_with(|| {
            let config = WorldConfig::new(site.clone());
            World::new(WorldConfig {
                tales: true,
                sync_ms,
                ..config
            })
            .unwrap()
        })
    }

    fn write(&mut self) {
        let Some(world) = &mut self.world else { return };
        for (at_ms, tale) in world.take_tales() {
            if let Tale::Said(Outgoing::ElevatorState(view)) = &tale {
                let owner = view.owner.as_ref().map_or_else(
                    || "nobody".to_owned(),
                    |owner| format!("{} since {}", owner.robot_id, owner.since),
                );
                let text = format!(
                    "health {:?}{}, owner {owner}, fence {}",
                    view.health,
                    view.health_reason
                        .as_ref()
                        .map_or(String::new(), |why| format!(" ({why})")),
                    view.fence
                );
                self.shown.insert(view.elevator_id.to_string(), text);
            }
            self.printer.tale(at_ms, &tale);
        }
    }

    fn elevator(&mut self, line: &Line<'_>) {
        let floors = u32::try_from(line.number("floors").unwrap_or(6)).unwrap();
        let mut plan = ElevatorPlan::new(line.word(1), floors).unwrap();
        if let Some(presence) = line.option("presence") {
            plan = plan.presence(match presence {
                "robot" => Presence::Robot,
                "any" => Presence::Any,
                _ => Presence::None,
            });
        }
        if let Some(floor) = line.option("at") {
            let label = FloorLabel::new(floor).unwrap();
            let floor = plan.car.index(&label).unwrap();
            plan = plan.starting_at(floor);
        }
        if let Some(zone) = line.option("zone") {
            plan.config.zone = ZoneId::new(zone).unwrap();
        }
        plan.car.recall = line
            .option("recall")
            .map(|floor| FloorLabel::new(floor).unwrap());
        plan.config.claim = line.has("claim");
        plan.controller.tells = !line.has("quiet");
        if let Some(seconds) = line.number("hold") {
            plan.config.hold_max_ms = seconds * 1_000;
        }
        if line.has("fire-input") {
            self.site.fire_inputs.insert(plan.config.zone.clone());
        }
        self.site.elevators.push(plan);
    }

    fn timing(&mut self, line: &Line<'_>) {
        let timing = &mut self.site.timing;
        let table = [
            ("promote_s", &mut timing.promote_ms),
            ("lease_s", &mut timing.lease_ms),
            ("entry_s", &mut timing.entry_ms),
            ("exit_s", &mut timing.exit_ms),
            ("travel_s", &mut timing.travel_ms),
            ("hall_call_s", &mut timing.hall_call_ms),
            ("poll_s", &mut timing.poll_ms),
        ];
        for (name, value) in table {
            if let Some(seconds) = line.number(name) {
                *value = seconds * 1_000;
            }
        }
    }

    fn robot(&mut self, line: &Line<'_>) {
        let habits = Habits {
            by_hand: line.has("by-hand"),
            enters: !line.has("never-enters"),
            leaves: !line.has("never-leaves"),
            dies_in_doorway: line.has("dies-in-doorway"),
            looks: true,
            radio_inside: !line.has("no-radio-inside"),
            ..Habits::default()
        };
        let floor = line.landing(3).floor;
        assert!(
            self.world().add_robot(&line.robot(1), floor, habits),
            "{:?}",
            line.text
        );
        self.world().run_for(20);
    }

    fn until(&mut self, line: &Line<'_>) {
        let order = line.order(1);
        let wanted = RideState::ALL
            .iter()
            .find(|state| state.as_str() == line.word(2));
        let wanted = *wanted.unwrap_or_else(|| panic!("{:?} has no state", line.text));
        let limit_ms = if line.words().len() > 3 {
            line.span_ms(3)
        } else {
            UNTIL_MS
        };
        let limit_ms = self.world().now_ms() + limit_ms;
        let reached = self.world().run_until_that(limit_ms, |world| {
            let gateway = world.gateway();
            let ride = gateway.and_then(|gateway| gateway.core().state().rides.get(&order));
            ride.is_some_and(|ride| ride.state == wanted)
        });
        if !reached {
            self.write();
            self.printer.say(&format!("NOT REACHED: {}", line.text));
        }
    }

    fn operator(&mut self, line: &Line<'_>) {
        let (car_seen_empty, force) = (line.has("seen-empty"), line.has("force"));
        let zone = |place: usize| {
            line.words()
                .get(place)
                .map(|zone| ZoneId::new(zone).unwrap())
        };
        let action = match line.word(1) {
            "cancel" => OperatorAction::OrderCancel(line.order(2)),
            "resolve" => OperatorAction::ElevatorResolve {
                elevator: line.elevator(2),
                order: line.order(3),
                outcome: match line.word(4) {
                    "robot-out" => ResolveOutcome::RobotOut,
                    _ => ResolveOutcome::Continue,
                },
                car_seen_empty,
                force,
            },
            "reset" => OperatorAction::ElevatorReset {
                elevator: line.elevator(2),
                car_seen_empty,
                force,
            },
            "maintenance" => OperatorAction::ElevatorMaintenance {
                elevator: line.elevator(2),
                on: line.has("on"),
            },
            "suspend" => OperatorAction::SiteSuspend { zone: zone(2) },
            "resume" => OperatorAction::SiteResume { zone: zone(2) },
            _ => panic!("{:?}", line.text),
        };
        let ticket = self.world().operate(action);
        self.world().run_for(100);
        assert!(
            self.world().answer(ticket).is_some(),
            "{:?} was not answered",
            line.text
        );
    }

    fn show(&mut self, line: &Line<'_>) {
        let name = line.word(1);
        let text = self.shown.get(name).map_or("nothing", String::as_str);
        self.printer.say(&format!("{name}: {text}"));
    }

    fn judge(&mut self) {
        let record = self.world().record();
        let (found, counts) = (record.judge(), record.counts().to_string());
        let broken = self.world().checker().violations().iter();
        let broken = broken.map(|(_, violation)| violation.to_string());
        let found: Vec<_> = found
            .iter()
            .map(|(_, violation)| violation.to_string())
            .chain(broken)
            .collect();
        for violation in &found {
            self.printer.say(&format!("VIOLATION {violation}"));
        }
        if found.is_empty() {
            self.printer.say("nothing happened that must not");
        }
        self.printer.say(&counts);
    }

    fn act(&mut self, line: &Line<'_>) {
        let robot: RobotId = line.robot(0);
        assert!(
            self.world().robot(&robot).is_some(),
            "{:?} begins with no word known",
            line.text
        );
        let (now_ms, wall) = (self.world().now_ms(), self.world().wall());
        match line.word(1) {
            "asks" => self.asks(line, &robot),
            "says" => {
                let event = line.event(2);
                let fence = line.fence();
                let elevator = line
                    .option("elevator")
                    .map(|id| ElevatorId::new(id).unwrap());
                if fence.is_none() && elevator.is_none() {
                    self.world().say(&robot, event);
                } else {
                    self.world().with_robot(&robot, |robot| {
                        let order = robot.view().unwrap().order_id.clone();
                        let fence = fence.or_else(|| robot.view().unwrap().fence);
                        robot.event_for(now_ms, wall, event, order, fence, elevator);
                    });
                }
            }
            "cancels" => self.world().cancel(&robot, &line.order(2)),
            "status" => self
                .world()
                .status(&robot, line.option("in_car").map(|yes| yes == "true")),
            "steps" => {
                let inwards = line.word(2) == "in";
                assert!(
                    self.world().drive(&robot, &line.elevator(3), inwards),
                    "{:?}",
                    line.text
                );
            }
            "carried-out-of" => self.world().carry_out(&robot, &line.elevator(2)),
            "radio" => {
                let on = line.has("on");
                self.world().set_radio(&robot, on);
            }
            "dies" => self.world().kill_robot(&robot),
            "by-hand" => {
                self.world()
                    .with_robot(&robot, |robot| robot.habits_mut().by_hand = true);
            }
            _ => panic!("{:?} is nothing that a robot does", line.text),
        }
        self.world().run_for(50);
    }

    fn asks(&mut self, line: &Line<'_>, robot: &RobotId) {
        let mut order = Order::new(line.order(2), line.landing(3), line.landing(4));
        if let Some(priority) = line.number("priority") {
            order.priority = u8::try_from(priority).unwrap();
        }
        if let Some(eta_s) = line.number("eta") {
            order.eta_s = u32::try_from(eta_s).unwrap();
        }
        if let Some(elevators) = line.option("elevators") {
            let ids = elevators.split(',').map(|id| ElevatorId::new(id).unwrap());
            order.elevators = ids.collect();
        }
        if let Some(seconds) = line.number("expires") {
            let wall = self.world().wall();
            order.expires_at = Some(protocol::Timestamp(wall.0 + seconds * 1_000));
        }
        order.dry_run = line.has("dry-run");
        self.world().request(robot, order);
    }
}
