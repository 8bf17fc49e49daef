//! Peers that take too slowly, and queues that run over (M12; law 10; T-STACK-10).

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::broker::{BOTH, Broker, Kind, site};
use crate::fleet::Fleet;
use crate::order::assert_accepted_once;
use crate::support::{Client, Controller, Gateway, Mosquitto, Proxy, Robot, Site, Way, wait_for};
use crate::{count, seen, side_by_side};

const OUT: &str = "gw-1-out";
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn what_is_said_to_a_broker_that_does_not_read_is_said_to_the_next_connection() {
    let n = count(1_000, 20_000);
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let mut gateway = Gateway::start(&site);
        let fleet = Fleet::start(broker.port());
        fleet.be_patient(true);
        proxy.stall(OUT, Way::ToBroker);
        fleet.ask(0..n);
        fleet.wait_all(PATIENCE);
        assert_accepted_once(&fleet);
        assert_eq!(fleet.repeats(), 0, "nobody had to ask twice");
        assert!(!gateway.has_ended(), "{}", gateway.log());
        seen(
            "egress socket not read",
            kind,
            format!("{n} of {n} answered on the next connection"),
        );
    });
}

#[test]
fn doors_stay_held_while_more_is_said_to_us_than_we_take() {
    // The defaults: a car that hears nothing for 10 s closes its door on the robot, and a hold leaves
    // within 5 s or not at all. Holds are renewed at half time.
    const HOLD_MAX: Duration = Duration::from_secs(10);
    const FLOOD: Duration = Duration::from_secs(12);
    let broker = Mosquitto::start();
    let site = Site::new(&broker)
        .elevator("EL001")
        .with("[limits]\nqueue = 100000");
    let gateway = Gateway::start(&site);
    let controller = Controller::start(&broker, "EL001");
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/elevators/EL001/command");
    let robot = Robot::connect(&broker, "R-x");
    assert_eq!(
        robot.request("m-1", "T-x", "1F", "6F")["result"],
        "accepted"
    );
    robot.state("T-x", "ELEVATOR_ARRIVED");
    let begun = Instant::now();
    let fleet = Fleet::start(broker.port());
    let (mut asked, wave) = (0, 1_000);
    while begun.elapsed() < FLOOD {
        fleet.ask(asked..asked + wave);
        asked += wave;
        fleet.wait_answers(PATIENCE, asked - wave / 2);
    }
    let flood = begun.elapsed();
    fleet.wait_all(PATIENCE);
    let holds: Vec<Instant> = watch
        .heard()
        .iter()
        .filter(|message| ["hold_door", "open_door"].contains(&message.text("command")))
        .map(|message| message.at)
        .collect();
    let within = holds
        .iter()
        .filter(|at| **at >= begun && **at <= begun + flood);
    assert!(within.count() >= 1, "{}", gateway.log());
    let gaps = holds.windows(2).map(|pair| pair[1].duration_since(pair[0]));
    let longest = gaps.max().unwrap();
    assert!(longest < HOLD_MAX, "{longest:?} without a hold");
    assert_eq!(
        controller.count("close_door"),
        0,
        "the robot has not entered"
    );
    // On a slow machine its readings may have grown old meanwhile.
    let mut n = 2..;
    wait_for("permission to enter", || {
        let id = format!("m-{}", n.next()?);
        (robot.event(&id, "T-x", "query", None)["instruction"] == "enter").then_some(())
    });
    let what = format!("{asked} answered in {flood:.1?}, {longest:.1?} between holds at most");
    seen("flood while a door is held", Kind::Mosquitto, what);
}

#[test]
fn what_a_broker_drops_because_its_queue_is_full_is_asked_again() {
    let broker = Mosquitto::start_with("max_queued_messages 50");
    let site = site(broker.port());
    let gateway = Gateway::start(&site);
    let fleet = Fleet::start(broker.port());
    gateway.signal(Signal::STOP);
    fleet.ask(0..1_000);
    // The broker acknowledges all of them and keeps a few.
    fleet.wait_taken(PATIENCE, 1_000);
    gateway.signal(Signal::CONT);
    fleet.wait_all(PATIENCE);
    assert_accepted_once(&fleet);
    assert!(fleet.repeats() >= 500, "{} repeats", fleet.repeats());
    let what = format!("1,000 of 1,000 answered after {} repeats", fleet.repeats());
    seen("queue of the broker overflows", Kind::Mosquitto, what);
}
