//! The stories whose steps are cut off: together they have every kind of fact.

use dispatch::{Input, Now, OperatorAction, ResolveOutcome, SiteConfig};
use protocol::hardware::Mode;
use protocol::id::IdError;
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;
use protocol::{ElevatorId, FloorLabel, GatewayId, Landing, OrderId, RobotId, Side};

use crate::world::robot::{Habits, Order};
use crate::world::site::{ElevatorPlan, SitePlan};
use crate::world::{World, WorldConfig};

/// Inputs of a core, from its start.
const STEPS_MAX: usize = 50_000;
/// How long a story waits for a state, in milliseconds.
const UNTIL_MS: u64 = 400_000;

/// What happens in a story.
type Teller = fn(&mut Stage);

/// One story.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) name: &'static str,
    pub(super) site: SiteConfig,
    pub(super) steps: Vec<(Now, Input)>,
}

/// All of them.
pub(super) fn all() -> Result<Vec<Story>, IdError> {
    let told: [(&'static str, bool, Teller); 6] = [
        ("a ride", false, ride),
        ("given up", false, given_up),
        ("a hold", false, hold),
        ("people", false, people),
        ("fire", false, fire),
        ("restored", true, restored),
    ];
    let mut stories = Vec::new();
    for (name, restored, tell) in told {
        let mut stage = Stage::new(restored)?;
        tell(&mut stage);
        stories.push(Story {
            name,
            site: stage.site.clone(),
            steps: stage.world.take_steps(),
        });
    }
    Ok(stories)
}

struct Stage {
    world: World,
    site: SiteConfig,
    elevator: ElevatorId,
    robots: Vec<RobotId>,
    orders: Vec<OrderId>,
}

impl Stage {
    fn new(restored: bool) -> Result<Self, IdError> {
        let elevator = ElevatorPlan::new("EL1", 6)?.presence(Presence::Robot);
        let mut site = SitePlan::new(vec![elevator]);
        site.limits.dedup_retention_s = 5_000;
        let mut stage = Self {
            site: site.config(GatewayId::new("gw-1")?),
            world: World::new(WorldConfig {
                steps: STEPS_MAX,
                ..WorldConfig::new(site)
            })?,
            elevator: ElevatorId::new("EL1")?,
            robots: Vec::new(),
            orders: Vec::new(),
        };
        for number in 1..=4 {
            stage.robots.push(RobotId::new(&format!("R{number}"))?);
            stage.orders.push(OrderId::new(&format!("T{number}"))?);
        }
        stage.world.start_gateway(restored);
        stage.world.run_for(3_000);
        Ok(stage)
    }

    fn robot(&mut self, number: usize, by_hand: bool) {
        let habits = Habits {
            by_hand,
            ..Habits::default()
        };
        let id = self.robots[number].clone();
        if let Some(landing) = landing("1F") {
            self.world.add_robot(&id, landing.floor, habits);
        }
    }

    fn asks(&mut self, number: usize, change: impl FnOnce(&mut Order)) {
        let (Some(from), Some(to)) = (landing("1F"), landing("6F")) else {
            return;
        };
        let mut order = Order::new(self.orders[number].clone(), from, to);
        change(&mut order);
        self.world.request(&self.robots[number].clone(), order);
    }

    fn until(&mut self, number: usize, state: RideState) {
        let order = self.orders[number].clone();
        let limit_ms = self.world.now_ms() + UNTIL_MS;
        self.world.run_until_that(limit_ms, |world| {
            let rides = world.gateway().map(|gateway| &gateway.core().state().rides);
            let ride = rides.and_then(|rides| rides.get(&order));
            ride.is_some_and(|ride| ride.state == state)
        });
    }

    fn says(&mut self, number: usize, event: RobotEvent) {
        self.world.say(&self.robots[number].clone(), event);
        self.world.run_for(500);
    }

    fn operates(&mut self, action: OperatorAction) {
        self.world.operate(action);
        self.world.run_for(3_000);
    }

    fn resets(&mut self) {
        self.operates(OperatorAction::ElevatorReset {
            elevator: self.elevator.clone(),
            car_seen_empty: true,
            force: false,
        });
    }

    fn resolves(&mut self, number: usize) {
        self.operates(OperatorAction::ElevatorResolve {
            elevator: self.elevator.clone(),
            order: self.orders[number].clone(),
            outcome: ResolveOutcome::RobotOut,
            car_seen_empty: true,
            force: false,
        });
    }

    fn mode(&mut self, mode: Mode) {
        let elevator = self.elevator.clone();
        self.world.with_controller(&elevator, |controller, now_ms| {
            controller.car_mut().set_mode(now_ms, mode);
        });
        self.world.run_for(3_000);
    }
}

fn landing(floor: &str) -> Option<Landing> {
    let floor = FloorLabel::new(floor).ok()?;
    let side = Side::Front;
    Some(Landing { floor, side })
}

/// From the request to its being forgotten.
fn ride(stage: &mut Stage) {
    stage.robot(0, false);
    stage.asks(0, |order| order.eta_s = 5);
    stage.until(0, RideState::RobotExited);
    stage.world.run_for(5_100_000);
}

/// Given up in each state before the entry.
fn given_up(stage: &mut Stage) {
    stage.robot(0, true);
    stage.robot(1, true);
    stage.robot(2, true);
    stage.asks(0, |_| ());
    stage.until(0, RideState::WaitingHallCall);
    let wall = stage.world.wall();
    stage.asks(1, |order| {
        order.expires_at = Some(protocol::Timestamp(wall.0 + 10_000));
    });
    stage.world.run_for(200);
    let (robot, order) = (stage.robots[0].clone(), stage.orders[0].clone());
    stage.world.cancel(&robot, &order);
    stage.world.run_for(30_000);
    stage.asks(2, |_| ());
    stage.until(2, RideState::ElevatorArrived);
    stage.says(2, RobotEvent::CancelEnter { again: false });
    stage.world.run_for(30_000);
}

/// Words that the signal does not bear out, HOLD, and its end by an operator.
fn hold(stage: &mut Stage) {
    stage.robot(0, true);
    stage.asks(0, |_| ());
    stage.until(0, RideState::ElevatorArrived);
    stage.says(0, RobotEvent::Entered);
    stage.until(0, RideState::Hold);
    stage.resolves(0);
    stage.world.run_for(30_000);
    stage.robot(1, true);
    stage.asks(1, |_| ());
    stage.until(1, RideState::WaitingHallCall);
    stage.says(1, RobotEvent::Entered);
    stage.until(1, RideState::Hold);
    stage.world.run_for(20_000);
    stage.resolves(1);
    let robot = stage.robots[1].clone();
    let elevator = stage.elevator.clone();
    stage.world.drive(&robot, &elevator, true);
    stage.world.status(&robot, Some(true));
    stage.world.run_for(3_000);
    stage.resets();
}

/// What operators do.
fn people(stage: &mut Stage) {
    let elevator = stage.elevator.clone();
    stage.operates(OperatorAction::SiteSuspend { zone: None });
    stage.operates(OperatorAction::SiteResume { zone: None });
    for on in [true, false] {
        let elevator = elevator.clone();
        stage.operates(OperatorAction::ElevatorMaintenance { elevator, on });
    }
    stage.robot(0, true);
    stage.asks(0, |_| ());
    stage.until(0, RideState::WaitingHallCall);
    stage
        .world
        .with_controller(&elevator, |controller, _| controller.set_silent(true));
    stage.until(0, RideState::Failed);
    stage
        .world
        .with_controller(&elevator, |controller, _| controller.set_silent(false));
    stage.world.run_for(30_000);
    stage.resets();
}

/// Fire while a ride is granted, and its end.
fn fire(stage: &mut Stage) {
    stage.robot(0, true);
    let elevator = stage.elevator.clone();
    stage
        .world
        .with_controller(&elevator, |controller, _| controller.set_mute(true));
    stage.asks(0, |_| ());
    stage.until(0, RideState::Granted);
    stage
        .world
        .with_controller(&elevator, |controller, _| controller.set_mute(false));
    stage.mode(Mode::Fire);
    stage.mode(Mode::Normal);
    stage.operates(OperatorAction::SiteResume { zone: None });
    stage.world.run_for(20_000);
}

/// Fences that rise.
fn restored(stage: &mut Stage) {
    stage.robot(0, false);
    stage.asks(0, |_| ());
    stage.until(0, RideState::RobotExited);
}
