//! Acknowledgements of the broker that are lost, doubled or nobody's (T-STACK-04; M6).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::broker::{BOTH, Broker, site};
use crate::fleet::Fleet;
use crate::order::assert_accepted_once;
use crate::support::proxy::{PUBACK, PUBLISH};
use crate::support::{Fate, Gateway, Passing, Proxy, Way};
use crate::{seen, side_by_side};

const OUT: &str = "gw-1-out";
/// 10 s for an acknowledgement, and another connection.
const PATIENCE: Duration = Duration::from_secs(40);

#[test]
fn a_lost_puback_is_noticed_and_all_that_it_may_concern_is_said_again() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let _gateway = Gateway::start(&site);
        let lost = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&lost);
        proxy.rule(move |packet| {
            let mut lost = noted.lock().unwrap();
            if lost.is_none() && packet.is(OUT, Way::ToClient, PUBACK) {
                *lost = Some(packet.at);
                return Fate::Drop;
            }
            Fate::Pass
        });
        let fleet = Fleet::start(broker.port());
        fleet.be_patient(true);
        // More than the packet ids that a client uses: behind the lost one nothing would leave.
        fleet.ask(0..300);
        fleet.wait_all(PATIENCE);
        assert_accepted_once(&fleet);
        assert_eq!(fleet.repeats(), 0, "nobody had to ask twice");
        let second = |packet: &&Passing| packet.client == OUT && packet.connection == 2;
        let again = proxy.look("another connection", |came| {
            came.iter().find(second).map(|packet| packet.at)
        });
        let took = again.duration_since(lost.lock().unwrap().unwrap());
        // Its pings are answered, so that the client library would wait for up to 20 s.
        assert!((9.0..14.0).contains(&took.as_secs_f64()), "{took:?}");
        assert_eq!(proxy.connections(OUT), 2);
        let what = format!("another connection after {took:.0?}, 300 of 300 answered");
        seen("PUBACK to us lost", kind, what);
    });
}

#[test]
fn a_puback_twice_or_for_nothing_costs_a_connection_and_nothing_else() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let mut gateway = Gateway::start(&site);
        let fleet = Fleet::start(broker.port());
        fleet.be_patient(true);
        proxy.rule(|packet| {
            let is_first = packet.connection == 1 && packet.is(OUT, Way::ToClient, PUBACK);
            if is_first { Fate::Twice } else { Fate::Pass }
        });
        fleet.ask(0..100);
        fleet.wait_all(PATIENCE);
        proxy.no_rule();
        // 0 is no packet id, 77 may be one that is not under way, 9,999 is none of ours.
        for (n, id) in [0_u16, 77, 9_999].into_iter().enumerate() {
            let connection = proxy.connections(OUT);
            proxy.look("what it says first", |came| {
                let first = came.iter().find(|packet| {
                    packet.connection == connection && packet.is(OUT, Way::ToBroker, PUBLISH)
                });
                first.map(|_| ())
            });
            proxy.invent(OUT, Way::ToClient, 0x40, &id.to_be_bytes());
            fleet.ask(100 + n * 100..200 + n * 100);
            fleet.wait_all(PATIENCE);
        }
        assert_accepted_once(&fleet);
        assert_eq!(fleet.repeats(), 0, "nobody had to ask twice");
        assert!(!gateway.has_ended(), "{}", gateway.log());
        let what = format!(
            "{} connections, 400 of 400 answered",
            proxy.connections(OUT)
        );
        seen("PUBACK to us doubled, or for an unknown id", kind, what);
    });
}
