//! What one step of the core takes, and the codecs around it: decode, record, and the grant of an
//! elevator.
//!
//! The steps are those of a building: 20 elevators, 120 robots that ride one after the other, so
//! that 100 rides wait while 20 are under way. They are recorded once in the simulator's world,
//! with real messages and the physics of cars, and given again to a core of its own.
//!
//! ```text
//! cargo bench --bench core              all of it
//! cargo bench --bench core -- step      one of it
//! ```

#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made ends")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use dispatch::edge::record::{self, ChainHash, Header};
use dispatch::{Core, Effects, ElevatorFact, Fact, Input, Now, SiteConfig, State};
use hdrhistogram::Histogram;
use protocol::peer::Spoken;
use protocol::{FloorLabel, GatewayId, Landing, OrderId, RobotId, Side, SiteId, Topics, decode};
use sim::world::robot::{Habits, Order, Whereabouts};
use sim::world::site::{ElevatorPlan, SitePlan};
use sim::world::{World, WorldConfig};

const ELEVATORS: usize = 20;
const ROBOTS: usize = 120;
const FLOORS: usize = 8;
/// Until every robot has asked and the first elevators have come and gone.
const SETTLE_MS: u64 = 120_000;
/// What is measured.
const WINDOW_MS: u64 = 120_000;
/// The longest step that is told apart from longer ones, in nanoseconds.
const NS_MAX: u64 = 10_000_000_000;
/// Inputs that are kept at most.
const STEPS_MAX: usize = 1_000_000;

/// What a building's core was given.
struct Recording {
    site: SiteConfig,
    /// Before 100 rides waited.
    before: Vec<(Now, Input)>,
    /// Meanwhile.
    window: Vec<(Now, Input)>,
}

fn main() {
    let recording = Recording::make();
    recording.tell();
    let mut criterion = Criterion::default()
        .measurement_time(Duration::from_secs(3))
        .warm_up_time(Duration::from_millis(500))
        .sample_size(15)
        .configure_from_args();
    step(&mut criterion, &recording);
    assign(&mut criterion, &recording);
    codecs(&mut criterion, &recording);
    criterion.final_summary();
}

/// The mean of all steps of the window.
fn step(criterion: &mut Criterion, recording: &Recording) {
    criterion.bench_function("step", |bencher| {
        bencher.iter_custom(|times| {
            let (mut core, mut out) = recording.core();
            let inputs = recording.window.clone();
            let steps = inputs.len();
            let begun = Instant::now();
            for (now, input) in inputs {
                out.clear();
                core.step(now, input, &mut out);
                black_box(&out);
            }
            share(begun.elapsed(), steps, times)
        });
    });
}

/// The mean of the steps that give an elevator to one of the rides that wait.
fn assign(criterion: &mut Criterion, recording: &Recording) {
    criterion.bench_function("assign", |bencher| {
        bencher.iter_custom(|times| {
            let (mut spent, mut grants) = (Duration::ZERO, 0);
            recording.replay(|took, out| {
                if out.facts.iter().any(is_grant) {
                    spent += took;
                    grants += 1;
                }
            });
            share(spent, grants, times)
        });
    });
}

/// What `times` steps take where `steps` took so long: a window is replayed whole, once a sample,
/// because its steps differ.
fn share(spent: Duration, steps: usize, times: u64) -> Duration {
    // Both are far below 2^53.
    #[allow(clippy::cast_precision_loss)]
    let share = times as f64 / steps.max(1) as f64;
    spent.mul_f64(share)
}

/// One of each robot's message, and one record of each fact of the window, in turn.
fn codecs(criterion: &mut Criterion, recording: &Recording) {
    let topics = topics();
    let spoken = recording.window.iter().filter_map(|(_, input)| {
        let Input::Robot { robot, message } = input else {
            return None;
        };
        let (robot, message) = (robot.clone(), message.clone());
        Some(Spoken::Robot { robot, message }.encode(&topics))
    });
    let messages: Vec<_> = spoken.collect();
    let mut group = criterion.benchmark_group("messages");
    group.throughput(Throughput::Elements(1));
    group.bench_function("decode", |bencher| {
        let mut next = messages.iter().cycle();
        bencher.iter(|| {
            let message = next.next().unwrap();
            decode(&topics, &message.topic, &message.payload, false)
        });
    });
    group.finish();

    let mut facts = Vec::new();
    recording.replay(|_, out| facts.extend(out.facts.iter().cloned()));
    let header = Header {
        seq: 1,
        durable: 0,
        previous: ChainHash::default(),
        last: true,
    };
    let encode = |fact: &Fact| record::encode(&header, fact).unwrap();
    let records: Vec<_> = facts.iter().map(encode).collect();
    let mut group = criterion.benchmark_group("record");
    group.bench_function("encode", |bencher| {
        let mut next = facts.iter().cycle();
        bencher.iter(|| encode(next.next().unwrap()));
    });
    group.bench_function("decode", |bencher| {
        let mut next = records.iter().cycle();
        bencher.iter(|| record::decode(next.next().unwrap()).unwrap());
    });
    group.finish();
}

impl Recording {
    fn make() -> Self {
        let plan = |number: usize| {
            let plan = ElevatorPlan::new(&format!("EL{number:03}"), u32::try_from(FLOORS).unwrap());
            plan.unwrap().starting_at(number % FLOORS)
        };
        let site = SitePlan::new((0..ELEVATORS).map(plan).collect());
        let config = site.config(GatewayId::new("gw-1").unwrap());
        let mut world = World::new(WorldConfig {
            steps: STEPS_MAX,
            ..WorldConfig::new(site)
        })
        .unwrap();
        world.start_gateway(false);
        for number in 0..ROBOTS {
            assert!(world.add_robot(&robot(number), floor(number % FLOORS), Habits::default()));
        }
        ride(&mut world, SETTLE_MS);
        let before = world.take_steps();
        ride(&mut world, WINDOW_MS);
        let window = world.take_steps();
        assert!(
            world.record().judge().is_empty(),
            "the recording broke a law"
        );
        Self {
            site: config,
            before,
            window,
        }
    }

    /// A core as it was when the window began.
    fn core(&self) -> (Core, Effects) {
        let mut core = Core::restore(self.site.clone(), State::default());
        let mut out = Effects::default();
        for (now, input) in &self.before {
            out.clear();
            core.step(*now, input.clone(), &mut out);
        }
        (core, out)
    }

    /// Gives the window to a core, and tells of each step what it took and what it yielded.
    fn replay(&self, mut each: impl FnMut(Duration, &Effects)) {
        let (mut core, mut out) = self.core();
        for (now, input) in &self.window {
            let input = input.clone();
            out.clear();
            let begun = Instant::now();
            core.step(*now, input, &mut out);
            let took = begun.elapsed();
            each(took, &out);
        }
    }

    /// Says what is measured, and how long single steps take.
    fn tell(&self) {
        let (core, _) = self.core();
        let rides = core.state().rides.values();
        let waiting = rides.filter(|ride| ride.elevator.is_none() && ride.ended_at.is_none());
        let waiting = waiting.count();
        let mut ns = Histogram::<u64>::new_with_bounds(1, NS_MAX, 3).unwrap();
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        let mut grants = 0;
        self.replay(|took, out| {
            ns.saturating_record(u64::try_from(took.as_nanos()).unwrap());
            grants += out.facts.iter().filter(|fact| is_grant(fact)).count();
        });
        for (_, input) in &self.window {
            *kinds.entry(kind(input)).or_default() += 1;
        }
        eprintln!(
            "{} steps with {waiting} rides waiting, {grants} grants: {kinds:?}\n\
             single steps: p50 {} ns, p90 {} ns, p99 {} ns, max {} ns",
            self.window.len(),
            ns.value_at_quantile(0.5),
            ns.value_at_quantile(0.9),
            ns.value_at_quantile(0.99),
            ns.max(),
        );
    }
}

/// Lets so much time pass; whose ride is at its end asks for the next one.
fn ride(world: &mut World, ms: u64) {
    let until_ms = world.now_ms() + ms;
    while world.now_ms() < until_ms {
        for number in 0..ROBOTS {
            let id = robot(number);
            let (at, is_free) = {
                let robot = world.robot(&id).unwrap();
                (robot.place().clone(), robot.order().is_none())
            };
            let Whereabouts::Floor(from) = at else {
                continue;
            };
            if is_free {
                let now_ms = world.now_ms();
                let away = 1 + usize::try_from(now_ms / 1_000).unwrap() % (FLOORS - 1);
                let at = (0..FLOORS).find(|at| floor(*at) == from).unwrap();
                let to = landing(floor((at + away) % FLOORS));
                let order = OrderId::new(&format!("T-{number}-{now_ms}")).unwrap();
                world.request(&id, Order::new(order, landing(from), to));
            }
        }
        world.run_for(1_000);
    }
}

fn is_grant(fact: &Fact) -> bool {
    matches!(fact, Fact::Elevator(ElevatorFact::Granted { .. }))
}

fn kind(input: &Input) -> &'static str {
    match input {
        Input::Robot { .. } => "robot",
        Input::Report { .. } => "report",
        Input::Tick => "tick",
        Input::Start { .. }
        | Input::Client { .. }
        | Input::Device { .. }
        | Input::TokenKey(_)
        | Input::Unreadable(_)
        | Input::ZoneFire { .. }
        | Input::OwnRide { .. }
        | Input::OwnElevator { .. }
        | Input::Broker { .. }
        | Input::Bus { .. }
        | Input::Disk { .. }
        | Input::Insecure
        | Input::Stopping
        | Input::Operator(_) => "other",
    }
}

fn robot(number: usize) -> RobotId {
    RobotId::new(&format!("R{number:03}")).unwrap()
}

fn floor(number: usize) -> FloorLabel {
    FloorLabel::new(&format!("{}F", number + 1)).unwrap()
}

fn landing(floor: FloorLabel) -> Landing {
    Landing {
        floor,
        side: Side::Front,
    }
}

fn topics() -> Topics {
    Topics::new("hallcall/v1", &SiteId::new("demo").unwrap()).unwrap()
}
