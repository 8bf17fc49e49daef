use std::net::{Ipv4Addr, SocketAddr};

use protocol::{InstanceId, RobotId, SiteId};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::*;
use crate::config::{Broker, MqttConfig};

/// An egress whose connection nobody polls: what it hands over stays there.
fn egress() -> (Egress, Link) {
    let config = MqttConfig {
        broker: Broker::Embedded,
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
        username: None,
        password: None,
        ca_file: None,
        insecure_trial: false,
    };
    let gateway = protocol::GatewayId::new("gw-1").unwrap();
    let clock = Clock::start();
    let (inbox, _) = mpsc::channel(1);
    let (egress, connection) = Egress::new(Setup {
        account: Account::new(&config).unwrap(),
        topics: Topics::new("hallcall/v1", &SiteId::new("demo").unwrap()).unwrap(),
        stamps: Stamps::new(gateway, InstanceId::new("i-1").unwrap(), clock),
        clock,
        inbox,
    });
    (egress, connection.link)
}

fn word(n: usize) -> Outgoing {
    Outgoing::RideStateCleared {
        robot: RobotId::new(&format!("R{n}")).unwrap(),
    }
}

/// A broker takes all that was handed over, and acknowledges it.
fn take(egress: &Egress, link: &mut Link) -> usize {
    link.end();
    let count = u16::try_from(egress.lock().submitted.len()).unwrap();
    for id in 1..=count {
        egress.note([News::Sent(id)]);
    }
    for id in 1..=count {
        egress.note([News::Acked(id)]);
    }
    usize::from(count)
}

async fn has_room(egress: &Egress) -> bool {
    let a_moment = std::time::Duration::from_millis(20);
    timeout(a_moment, egress.room()).await.is_ok()
}

#[tokio::test]
async fn a_broker_that_takes_nothing_stalls_no_speaker_and_holds_back_who_hears() {
    let (egress, mut link) = egress();
    egress.opened();
    let mut fastest = std::time::Duration::MAX;
    for n in 0..OUTBOX_MAX + 100 {
        if n == CROWDED - 1 {
            assert!(has_room(&egress).await);
        }
        if n == CROWDED {
            assert!(!has_room(&egress).await, "nothing more is to be heard");
        }
        let begun = std::time::Instant::now();
        egress.say(word(n));
        if n >= OUTBOX_MAX {
            fastest = fastest.min(begun.elapsed());
        }
    }
    // The committer's thread says these, and it holds doors: the outbox is not walked through.
    assert!(
        fastest < std::time::Duration::from_micros(500),
        "{fastest:?}"
    );
    assert_eq!(
        egress.lock().outbox.len(),
        OUTBOX_MAX,
        "the last 100 are lost"
    );

    let mut taken = 0;
    while egress.lock().outbox.len() >= CROWDED {
        assert!(!has_room(&egress).await);
        for _ in 0..100 {
            taken += take(&egress, &mut link);
        }
    }
    assert!(has_room(&egress).await);
    while !egress.lock().outbox.is_empty() {
        taken += take(&egress, &mut link);
    }
    assert_eq!(taken, OUTBOX_MAX, "each of them once");
}

#[tokio::test]
async fn a_link_that_is_gone_holds_nobody_back() {
    let (egress, _link) = egress();
    egress.opened();
    for n in 0..CROWDED {
        egress.say(word(n));
    }
    assert!(!has_room(&egress).await);
    egress.closed();
    assert!(
        has_room(&egress).await,
        "what is heard has effects on buses"
    );
    egress.opened();
    assert!(!has_room(&egress).await);
}

#[tokio::test]
async fn acknowledgements_out_of_order_or_for_nothing_take_nothing_else_out() {
    let (egress, _link) = egress();
    egress.opened();
    for n in 0..3 {
        egress.say(word(n));
    }
    let first = egress.note([News::Sent(7)]).unwrap();
    egress.note([News::Sent(8)]);
    egress.note([News::Sent(9)]);
    assert_eq!(
        egress.note([News::Acked(8)]),
        Some(first),
        "the oldest is still owed"
    );
    assert_eq!(egress.note([News::Acked(8)]), Some(first));
    assert_eq!(egress.note([News::Acked(99)]), Some(first));
    assert_eq!(egress.lock().outbox.len(), 2);
    assert!(
        egress
            .note([News::Acked(7)])
            .is_some_and(|since| since >= first)
    );
    assert_eq!(egress.note([News::Acked(9)]), None);
    assert_eq!(egress.lock().outbox.len(), 0);
}

#[tokio::test]
async fn presence_that_waited_is_said_only_where_it_is_true() {
    let (egress, _link) = egress();
    egress.opened();
    egress.set_ready(true);
    egress.closed();
    egress.say_deaf();
    egress.say_deaf();
    egress.set_ready(true);
    egress.opened();
    // Neither the old ONLINE nor the CONNECTIONBROKEN of meanwhile: one ONLINE.
    assert_eq!(egress.lock().submitted.len(), 1);
    egress.say_deaf();
    assert_eq!(egress.lock().submitted.len(), 2);
}

/// OFFLINE is the last word: a subscription that is granted while the process ends unsays nothing.
#[tokio::test]
async fn nobody_says_online_after_offline() {
    let (egress, mut link) = egress();
    egress.opened();
    egress.set_ready(true);
    egress.say_offline();
    let said = take(&egress, &mut link);
    assert_eq!(said, 2, "ONLINE and OFFLINE");
    egress.set_ready(true);
    egress.say_presence_again();
    assert!(egress.lock().outbox.is_empty());
}

/// A gateway may end while its connection comes about: what waited for that leaves before the leave.
#[tokio::test]
async fn the_leave_is_behind_the_last_word_of_a_link_that_opens_late() {
    let (egress, mut link) = egress();
    egress.say_offline();
    let a_moment = std::time::Duration::from_millis(20);
    assert!(timeout(a_moment, egress.drained()).await.is_err());
    egress.opened();
    assert_eq!(take(&egress, &mut link), 1, "OFFLINE");
    timeout(a_moment, egress.drained()).await.unwrap();
    assert!(egress.leave());
    egress.closed();
    assert!(!egress.leave(), "nobody to take leave of");
}
