//! Many robots with many errands.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{ElevatorId, Landing, OrderId, RobotId, Topics};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::dice::Dice;
use super::radio::Endpoint;
use super::robot::{Brain, Errand, Ground, GroundError, Habits, RideResult, Robot};
use super::speaker::{Speaker, run_id};

/// Robots of one fleet.
pub const ROBOTS_MAX: usize = 1_000;
/// Rides of one fleet.
pub const RIDES_MAX: usize = 100_000;
/// The farthest a robot is from its first door, in the building's milliseconds.
const DRIVE_MAX_MS: u64 = 8_000;

/// All robots begin within this time, evenly spread (AT-LIFT-01: within 1 s).
const START_WITHIN: Duration = Duration::from_secs(1);

/// How many, and by which chance.
#[derive(Debug, Clone)]
pub struct FleetPlan {
    /// Robots, named `R001` and so on.
    pub robots: usize,
    /// Rides in all; the first robots get one more where they do not divide evenly.
    pub rides: usize,
    /// Which floors, and how far away a robot starts.
    pub seed: u64,
    /// Where each car opens.
    pub landings: BTreeMap<ElevatorId, Vec<Landing>>,
}

/// Why a fleet cannot ride.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// None, or too many robots.
    #[error("robots {0} is not 1 to {ROBOTS_MAX}")]
    Robots(usize),
    /// None, or too many rides.
    #[error("rides {0} is not 1 to {RIDES_MAX}")]
    Rides(usize),
    /// No car opens at two floors.
    #[error("no elevator serves two floors")]
    Floors,
    /// The ground under a robot does not answer.
    #[error(transparent)]
    Ground(#[from] GroundError),
    /// A robot ended without its results.
    #[error("a robot ended before its rides: {0}")]
    Robot(String),
}

/// Everyone that rides: robots, where they talk, and where they walk.
#[derive(Debug)]
pub struct Fleet {
    plan: FleetPlan,
    topics: Topics,
    endpoint: Endpoint,
    ground: Ground,
}

impl Fleet {
    /// A fleet that has not started.
    ///
    /// # Errors
    /// [`FleetError`] for a plan that cannot be carried out.
    pub fn new(
        plan: FleetPlan,
        topics: Topics,
        endpoint: Endpoint,
        ground: Ground,
    ) -> Result<Self, FleetError> {
        if !(1..=ROBOTS_MAX).contains(&plan.robots) {
            return Err(FleetError::Robots(plan.robots));
        }
        if !(1..=RIDES_MAX).contains(&plan.rides) {
            return Err(FleetError::Rides(plan.rides));
        }
        if plan.starts().is_empty() {
            return Err(FleetError::Floors);
        }
        Ok(Self {
            plan,
            topics,
            endpoint,
            ground,
        })
    }

    /// Rides until every ride is at its end or `until` is over; `each` hears every result as it
    /// comes. Rides that are not at their end are not among the results.
    ///
    /// # Errors
    /// [`FleetError`] where a robot fails.
    pub async fn ride(
        &self,
        until: Duration,
        mut each: impl FnMut(&RideResult),
    ) -> Result<Vec<RideResult>, FleetError> {
        let (told, mut results) = mpsc::channel(self.plan.robots);
        let mut robots = self.start(&told)?;
        drop(told);
        let mut all = Vec::new();
        let deadline = tokio::time::Instant::now() + until;
        while let Ok(Some(result)) = tokio::time::timeout_at(deadline, results.recv()).await {
            each(&result);
            all.push(result);
        }
        while let Ok(Some(ended)) = tokio::time::timeout_at(deadline, robots.join_next()).await {
            ended.map_err(|error| FleetError::Robot(error.to_string()))??;
        }
        Ok(all)
    }

    fn start(
        &self,
        told: &mpsc::Sender<RideResult>,
    ) -> Result<JoinSet<Result<(), GroundError>>, FleetError> {
        let run = run_id();
        let mut robots = JoinSet::new();
        for number in 0..self.plan.robots {
            let errands = self.plan.errands(number, &run, &self.ground)?;
            let (give, take) = mpsc::channel(errands.len().max(1));
            for errand in errands {
                // The channel was made as large as the list.
                let _ = give.try_send(errand);
            }
            let named = |error| FleetError::Robot(format!("robot {number}: {error}"));
            let name = format!("R{:03}", number + 1);
            let id = RobotId::new(&name).map_err(named)?;
            let brain = Speaker::new(&format!("{name}-{run}")).map_err(named)?;
            let radio = Speaker::new(&format!("{name}-{run}-c")).map_err(named)?;
            let brain = Brain::new(id.clone(), Habits::at(self.ground.pace()), brain);
            let robot = Robot::new(
                brain,
                id,
                radio,
                self.topics.clone(),
                self.endpoint.clone(),
                self.ground.clone(),
            );
            let robot = robot.run(take, told.clone());
            let after = START_WITHIN.mul_f64(share(number, self.plan.robots));
            robots.spawn(async move {
                tokio::time::sleep(after).await;
                robot.await
            });
        }
        Ok(robots)
    }
}

impl FleetPlan {
    /// The rides of one robot: each starts where the last one ended.
    fn errands(&self, robot: usize, run: &str, ground: &Ground) -> Result<Vec<Errand>, FleetError> {
        let mut dice = Dice::new(self.seed, robot as u64);
        let rides = self.rides / self.robots + usize::from(robot < self.rides % self.robots);
        let starts = self.starts();
        let mut from = starts[dice.below(starts.len())].clone();
        let mut errands = Vec::with_capacity(rides);
        for ride in 0..rides {
            let targets = self.targets(&from);
            let to = targets[dice.below(targets.len())].clone();
            let name = format!("T-{run}-{}-{}", robot + 1, ride + 1);
            let order =
                OrderId::new(&name).map_err(|error| FleetError::Robot(error.to_string()))?;
            let drive_ms = dice.below(5) as u64 * DRIVE_MAX_MS / 4;
            let drive = ground.pace().ours(drive_ms);
            errands.push(Errand {
                order,
                from: from.clone(),
                to: to.clone(),
                drive,
            });
            from = to;
        }
        Ok(errands)
    }

    /// Landings from which a robot can ride somewhere.
    fn starts(&self) -> Vec<Landing> {
        let all: BTreeSet<&Landing> = self.landings.values().flatten().collect();
        all.into_iter()
            .filter(|from| !self.targets(from).is_empty())
            .cloned()
            .collect()
    }

    /// Where one car goes from there, on another floor, and from where a robot can ride on.
    fn targets(&self, from: &Landing) -> Vec<Landing> {
        let cars = self
            .landings
            .values()
            .filter(|landings| landings.contains(from));
        let targets: BTreeSet<&Landing> =
            cars.flatten().filter(|to| to.floor != from.floor).collect();
        targets.into_iter().cloned().collect()
    }
}

/// Which part of the whole lies before number `at` of `all`.
fn share(at: usize, all: usize) -> f64 {
    // Robots are far fewer than 2^53.
    #[allow(clippy::cast_precision_loss)]
    let share = at as f64 / all.max(1) as f64;
    share
}
