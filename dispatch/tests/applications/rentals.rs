//! Rentals (R-RENT), on a clock that only the test moves. A device is what it says here.

use std::collections::BTreeSet;

use dispatch::{Applications, Effect, Input, OperatorAction, OperatorAnswer, RentalConfig};
use protocol::client::{
    Ask, CancelRental, ClientReply, EndRental, RentalBody, RentalReason, RentalState, RentalView,
    ReplyBody, Reserve, StartRental, TokenHash, TokenKey,
};
use protocol::device::{
    DeviceAction, DeviceCommand, DeviceEvent, DeviceEventKind, DeviceState, DeviceView, DeviceWord,
};
use protocol::elevator::Health;
use protocol::ride::ReplyResult;
use protocol::{AlarmCode, Code, DeviceId, Outgoing, RentalId, Seconds};

use crate::office::Office;

/// A rental office with devices DEV_001 and DEV_002.
pub(crate) struct Yard {
    pub(crate) office: Office,
    pub(crate) told: Vec<DeviceCommand>,
    seq: u64,
}

impl Yard {
    pub(crate) fn new() -> Self {
        let devices = ["DEV_001", "DEV_002"].map(|id| id.parse().expect("an id"));
        let rentals = RentalConfig {
            devices: BTreeSet::from(devices),
            ..RentalConfig::default()
        };
        let mut yard = Self {
            office: Office::new(Applications {
                rentals,
                ..Applications::default()
            }),
            told: Vec::new(),
            seq: 0,
        };
        yard.give_key();
        yard.run(1_000);
        yard.told.clear();
        yard
    }

    fn give_key(&mut self) {
        self.step(Input::TokenKey(Some(TokenKey::new([7; 32]))));
    }

    fn step(&mut self, input: Input) {
        let effects = self.office.step(input);
        self.note(effects);
    }

    fn note(&mut self, effects: Vec<Effect>) {
        let told = effects.into_iter().filter_map(|effect| match effect {
            Effect::Device(command) => Some(*command),
            _ => None,
        });
        self.told.extend(told);
    }

    pub(crate) fn run(&mut self, ms: u64) {
        let end = self.office.now_ms + ms;
        while let Some(due) = self
            .office
            .core
            .next_deadline_ms()
            .filter(|due| *due <= end)
        {
            self.office.now_ms = self.office.now_ms.max(due);
            self.step(Input::Tick);
        }
        self.office.now_ms = end;
        self.step(Input::Tick);
    }

    fn restart(&mut self, pause_ms: u64, restored: bool) {
        let before = self.office.devices.len();
        self.office.restart(pause_ms, restored);
        self.give_key();
        let told = self.office.devices.split_off(before);
        self.told.extend(told);
    }

    pub(crate) fn ask(&mut self, order: &str, ask: Ask) -> ClientReply {
        let before = self.office.devices.len();
        let reply = self.office.ask("app", Some(order), ask);
        let told = self.office.devices.split_off(before);
        self.told.extend(told);
        reply
    }

    /// The device says something, in order.
    pub(crate) fn say(&mut self, device: &str, word: DeviceWord) {
        self.seq += 1;
        let (boot, seq) = ("b1", self.seq);
        self.say_as(device, boot, seq, None, DeviceEventKind::State, Some(word));
    }

    fn say_as(
        &mut self,
        device: &str,
        boot: &str,
        seq: u64,
        order: Option<&str>,
        event: DeviceEventKind,
        word: Option<DeviceWord>,
    ) {
        let event = DeviceEvent {
            message_id: "d-1".parse().expect("an id"),
            timestamp: self.office.wall(),
            event,
            boot_id: boot.parse().expect("an id"),
            seq,
            command_id: None,
            order_id: order.map(|order| order.parse().expect("an id")),
            device_state: word,
        };
        self.step(Input::Device {
            device: device.parse().expect("an id"),
            event,
        });
    }

    fn actions(&self) -> Vec<(DeviceAction, Option<String>)> {
        let told = self
            .told
            .iter()
            .filter(|told| told.command != DeviceAction::Query);
        told.map(|told| {
            (
                told.command,
                told.order_id.as_ref().map(ToString::to_string),
            )
        })
        .collect()
    }

    fn device(&self, id: &str) -> DeviceView {
        let id: DeviceId = id.parse().expect("an id");
        let last = self.office.said.iter().rev().find_map(|said| match said {
            Outgoing::DeviceState(view) if view.device_id == id => Some(view.as_ref().clone()),
            _ => None,
        });
        last.expect("a state of the device")
    }

    fn state(&self, id: &str) -> DeviceState {
        self.device(id).state
    }

    /// The states of a rental that its application was told, in order.
    fn heard(&self, rental: &RentalId) -> Vec<RentalView> {
        let said = self.office.said.iter();
        said.filter_map(|said| match said {
            Outgoing::RentalState { view, .. } if view.rental_id == *rental => {
                Some(view.as_ref().clone())
            }
            _ => None,
        })
        .collect()
    }

    /// The last word about a rental; before the first one, what its reply said.
    fn last(&self, rental: &RentalId) -> RentalView {
        let known = self.office.core.state().rentals.live.get(rental);
        self.heard(rental).pop().unwrap_or_else(|| {
            let known = known.expect("a rental");
            RentalView {
                rental_id: known.rental.clone(),
                order_id: known.order.clone(),
                device_id: known.device.clone(),
                state: known.state,
                metered_s: Seconds::from_ms(0),
                refunded: known.refunded,
                reason: known.why.clone(),
            }
        })
    }
}

fn reserve(device: &str, user: &str, hold_s: Option<u32>) -> Ask {
    Ask::RentalReserve(Reserve {
        device_id: device.parse().expect("an id"),
        user_id: user.parse().expect("an id"),
        hold_s,
    })
}

pub(crate) fn start(device: &str, user: &str, held: Option<(&RentalId, TokenHash)>) -> Ask {
    Ask::RentalStart(StartRental {
        device_id: device.parse().expect("an id"),
        user_id: user.parse().expect("an id"),
        rental_id: held.map(|(rental, _)| rental.clone()),
        token: held.map(|(_, token)| token),
    })
}

fn end(rental: &RentalId, user: &str) -> Ask {
    Ask::RentalEnd(EndRental {
        rental_id: rental.clone(),
        token: None,
        user_id: Some(user.parse().expect("an id")),
    })
}

fn cancel(rental: &RentalId, token: TokenHash) -> Ask {
    Ask::RentalCancel(CancelRental {
        rental_id: rental.clone(),
        token,
    })
}

fn body(reply: &ClientReply) -> RentalBody {
    match &reply.body {
        ReplyBody::Rental(body) => body.clone(),
        _ => panic!("{reply:?}"),
    }
}

pub(crate) fn rental_of(reply: &ClientReply) -> RentalId {
    assert_ne!(reply.result, ReplyResult::Rejected, "{reply:?}");
    body(reply).rental_id.expect("a rental")
}

fn token_of(reply: &ClientReply) -> TokenHash {
    body(reply).token.expect("a token").hash()
}

/// A rental of DEV_001 by U1 that the device runs for.
fn riding() -> (Yard, RentalId) {
    let mut yard = Yard::new();
    let rental = rental_of(&yard.ask("T-1", start("DEV_001", "U1", None)));
    yard.say("DEV_001", DeviceWord::Running);
    (yard, rental)
}

/// AT-RENT-01: of a hundred starts one wins; one version step, one start to the device.
#[test]
fn one_of_a_hundred_gets_the_device() {
    let mut yard = Yard::new();
    let version = yard.device("DEV_001").version;
    let mut winners = Vec::new();
    for n in 0..100 {
        let reply = yard.ask(&format!("T-{n}"), start("DEV_001", &format!("U{n}"), None));
        match reply.code {
            None => winners.push(rental_of(&reply)),
            Some(code) => assert_eq!(code, Code::DeviceUnavailable),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(yard.actions().len(), 1);
    assert_eq!(yard.state("DEV_001"), DeviceState::Renting);
    yard.say("DEV_001", DeviceWord::Running);
    assert_eq!(yard.last(&winners[0]).state, RentalState::Active);
    assert_eq!(yard.device("DEV_001").version, version + 1);
    let open = yard.office.core.state().rentals.live.len();
    assert_eq!(open, 1, "PENDING and ACTIVE");
}

/// AT-RENT-02, with the decision bypassed: a fact that was decided on an old version, or on a
/// device that is not free, changes nothing.
#[test]
fn a_fact_of_an_old_version_changes_nothing() {
    let mut yard = Yard::new();
    yard.ask("T-1", start("DEV_001", "U1", None));
    let mut state = yard.office.core.state().clone();
    let opened = yard.office.facts.iter().rev().find_map(|fact| match fact {
        dispatch::Fact::Rental(fact @ dispatch::RentalFact::Opened { .. }) => Some(fact.clone()),
        _ => None,
    });
    let dispatch::RentalFact::Opened { version, rental } = opened.expect("one was opened") else {
        panic!("it was opened")
    };
    let before = state.clone();
    for version in [version, version + 1] {
        let mut other = rental.clone();
        other.rental = "r0-99".parse().expect("an id");
        other.user = "U2".parse().expect("an id");
        state.apply(&dispatch::Fact::Rental(dispatch::RentalFact::Opened {
            version,
            rental: other,
        }));
        assert_eq!(state, before);
    }
}

/// AT-RENT-05, T-RENT-01, T-RENT-02: the token, its user and its device; once; for so long.
#[test]
fn only_the_holder_of_the_token_starts_a_reserved_device() {
    let mut yard = Yard::new();
    let reply = yard.ask("R-1", reserve("DEV_001", "U1", Some(60)));
    let (rental, token) = (rental_of(&reply), token_of(&reply));
    assert_eq!(body(&reply).expires_in_s.map(|span| span.ms), Some(60_000));
    assert_eq!(yard.state("DEV_001"), DeviceState::Locked);
    for (order, ask) in [
        ("T-1", start("DEV_001", "U2", None)),
        ("T-2", start("DEV_001", "U2", Some((&rental, token)))),
        (
            "T-3",
            start("DEV_001", "U1", Some((&rental, TokenHash::of("guess")))),
        ),
        ("T-4", start("DEV_002", "U1", Some((&rental, token)))),
    ] {
        assert_eq!(yard.ask(order, ask).code, Some(Code::BadToken), "{order}");
    }
    assert_eq!(yard.actions(), [], "nothing was sent");
    let again = yard.ask("R-1", reserve("DEV_001", "U1", Some(60)));
    assert_eq!(again.result, ReplyResult::Duplicate);
    assert_eq!(token_of(&again), token, "the same token for the same order");
    let reply = yard.ask("T-5", start("DEV_001", "U1", Some((&rental, token))));
    assert_eq!(rental_of(&reply), rental);
    let reply = yard.ask("T-6", start("DEV_001", "U1", Some((&rental, token))));
    assert_eq!(
        reply.code,
        Some(Code::DeviceUnavailable),
        "a token starts once"
    );
    assert_eq!(
        yard.actions(),
        [(DeviceAction::Start, Some("T-5".to_owned()))]
    );
}

/// AT-RENT-05: at the end of the hold the device is free, and the token is expired.
#[test]
fn a_reservation_that_is_not_started_ends_by_itself() {
    let mut yard = Yard::new();
    let reply = yard.ask("R-1", reserve("DEV_001", "U1", Some(60)));
    let (rental, token) = (rental_of(&reply), token_of(&reply));
    yard.run(59_999);
    assert_eq!(yard.state("DEV_001"), DeviceState::Locked);
    yard.restart(0, false);
    yard.run(1);
    assert_eq!(yard.state("DEV_001"), DeviceState::Idle);
    let told = yard.last(&rental);
    assert_eq!((told.state, told.refunded), (RentalState::Expired, false));
    let reply = yard.ask("T-1", start("DEV_001", "U1", Some((&rental, token))));
    assert_eq!(reply.code, Some(Code::RentalExpired));
    let reply = yard.ask("T-2", cancel(&rental, token));
    assert_eq!(reply.code, Some(Code::RentalExpired));
    let reply = yard.ask("T-3", reserve("DEV_001", "U2", None));
    rental_of(&reply);
    let reply = yard.ask("T-4", start("DEV_001", "U1", Some((&rental, token))));
    assert_eq!(
        reply.code,
        Some(Code::RentalExpired),
        "another has it by now"
    );
}

/// AT-RENT-06: one open rental of one user, whatever the device.
#[test]
fn a_user_has_one_device() {
    let mut yard = Yard::new();
    let reply = yard.ask("R-1", reserve("DEV_001", "U1", None));
    let (rental, token) = (rental_of(&reply), token_of(&reply));
    let reply = yard.ask("T-1", start("DEV_002", "U1", None));
    assert_eq!(reply.code, Some(Code::RentalLimit));
    let reply = yard.ask("R-2", reserve("DEV_002", "U1", None));
    assert_eq!(reply.code, Some(Code::RentalLimit));
    let reply = yard.ask("C-1", cancel(&rental, TokenHash::of("guess")));
    assert_eq!(reply.code, Some(Code::BadToken));
    let reply = yard.ask("C-2", cancel(&rental, token));
    assert_eq!(body(&reply).state, Some(RentalState::Cancelled));
    let reply = yard.ask("C-3", cancel(&rental, token));
    assert_eq!(reply.result, ReplyResult::Duplicate);
    assert_eq!(yard.state("DEV_001"), DeviceState::Idle);
    rental_of(&yard.ask("T-2", start("DEV_002", "U1", None)));
    let reply = yard.ask("T-3", start("DEV_009", "U3", None));
    assert_eq!(reply.code, Some(Code::UnknownDevice));
}

/// AT-RENT-03: the start is told again under the same order at 30 s and 60 s, then it runs.
#[test]
fn a_start_that_is_lost_is_told_again() {
    let mut yard = Yard::new();
    let rental = rental_of(&yard.ask("T-1", start("DEV_001", "U1", None)));
    yard.run(29_999);
    assert_eq!(yard.actions().len(), 1);
    yard.run(1);
    assert_eq!(yard.actions().len(), 2);
    yard.run(30_000);
    let starts = vec![(DeviceAction::Start, Some("T-1".to_owned())); 3];
    assert_eq!(yard.actions(), starts);
    let numbers: BTreeSet<u64> = yard.told.iter().map(|told| told.sequence).collect();
    assert!(numbers.len() >= 3, "each is a new command: {numbers:?}");
    yard.say("DEV_001", DeviceWord::Running);
    yard.run(600_000);
    assert_eq!(yard.actions(), starts);
    assert_eq!(yard.last(&rental).state, RentalState::Active);
    assert_eq!(
        yard.last(&rental).metered_s.ms,
        0,
        "it was told when it began"
    );
}

/// AT-RENT-03: never heard: cancelled and refunded once; the device is free by its own word only;
/// one that runs late is told to stop at once and rented to nobody.
#[test]
fn a_device_that_never_starts_is_given_up_and_refunded_once() {
    let mut yard = Yard::new();
    let rental = rental_of(&yard.ask("T-1", start("DEV_001", "U1", None)));
    yard.run(119_999);
    let starts = vec![(DeviceAction::Start, Some("T-1".to_owned())); 4];
    assert_eq!(yard.actions(), starts, "the first and three more");
    assert_eq!(yard.last(&rental).state, RentalState::Pending);
    yard.run(1);
    let told = yard.last(&rental);
    assert_eq!((told.state, told.refunded), (RentalState::Cancelled, true));
    assert_eq!(
        told.reason.map(|why| why.code),
        Some(RentalReason::DeviceSilent)
    );
    assert_eq!(yard.state("DEV_001"), DeviceState::Fault);
    assert_eq!(yard.device("DEV_001").health, Health::Offline);
    assert_eq!(
        yard.actions()[4..],
        [(DeviceAction::Stop, Some("T-1".to_owned()))]
    );
    assert!(yard.office.standing(AlarmCode::DeviceFault).is_some());
    let reply = yard.ask("T-2", start("DEV_001", "U2", None));
    assert_eq!(reply.code, Some(Code::DeviceUnavailable));

    yard.say("DEV_001", DeviceWord::Running);
    assert_eq!(yard.actions().len(), 6, "told to stop in the same step");
    assert_eq!(yard.last(&rental).state, RentalState::Cancelled);
    let raised = yard.office.alarms.iter();
    let ids: BTreeSet<&String> = raised.map(|alarm| &alarm.alarm_id).collect();
    assert_eq!(ids.len(), 1);
    yard.say("DEV_001", DeviceWord::Stopped);
    assert_eq!(yard.state("DEV_001"), DeviceState::Idle);
    assert!(yard.office.standing(AlarmCode::DeviceFault).is_none());
    let ends = yard.heard(&rental).into_iter();
    assert_eq!(ends.filter(|told| told.refunded).count(), 1, "once");

    // It runs again, for nobody: it has done the stop of T-1 and would not do it again.
    yard.say("DEV_001", DeviceWord::Running);
    assert_eq!(yard.state("DEV_001"), DeviceState::Fault);
    let (action, order) = yard.actions().pop().expect("a stop");
    assert_eq!(action, DeviceAction::Stop);
    assert_ne!(order.as_deref(), Some("T-1"));
}

/// AT-RENT-08: what is not newer moves nothing, nor an old start of the device; the meter runs from
/// the accepted RUNNING, once, to the accepted end.
#[test]
fn a_report_that_is_not_newer_moves_nothing() {
    let state = DeviceEventKind::State;
    let (running, stopped) = (Some(DeviceWord::Running), Some(DeviceWord::Stopped));
    let mut yard = Yard::new();
    yard.say_as("DEV_001", "b1", 9, None, state, stopped);
    yard.say_as("DEV_001", "b2", 1, None, state, stopped);
    let rental = rental_of(&yard.ask("T-1", start("DEV_001", "U1", None)));
    yard.say_as("DEV_001", "b1", 99, None, state, running);
    yard.say_as("DEV_001", "b2", 1, None, state, running);
    assert_eq!(yard.last(&rental).state, RentalState::Pending);
    yard.run(5_000);
    yard.say_as("DEV_001", "b2", 3, None, state, running);
    assert_eq!(yard.last(&rental).state, RentalState::Active);
    let active_at = yard.office.wall();
    yard.run(7_500);
    yard.say_as("DEV_001", "b2", 4, None, state, running);
    for (boot, seq) in [("b2", 2), ("b2", 3), ("b2", 4), ("b1", 100)] {
        yard.say_as("DEV_001", boot, seq, None, state, stopped);
    }
    yard.restart(1, false);
    for (boot, seq) in [("b2", 2), ("b2", 3), ("b1", 100)] {
        yard.say_as("DEV_001", boot, seq, None, state, stopped);
    }
    assert_eq!(yard.state("DEV_001"), DeviceState::Renting);
    let kept = &yard.office.core.state().rentals.live[&rental];
    assert_eq!(kept.active_at, Some(active_at));

    let reply = yard.ask("E-1", end(&rental, "U1"));
    assert_eq!(body(&reply).state, Some(RentalState::Ending));
    assert_eq!(body(&reply).metered_s.map(|span| span.ms), Some(7_000));
    yard.run(20_000);
    yard.say_as("DEV_001", "b2", 9, None, state, stopped);
    let told = yard.last(&rental);
    assert_eq!((told.state, told.metered_s.ms), (RentalState::Ended, 7_000));
    assert!(!told.refunded);
}

/// R-RENT-034, T-RENT-16: the device is free when it says that it stands, not before.
#[test]
fn an_end_waits_for_the_device() {
    let (mut yard, rental) = riding();
    let reply = yard.ask("E-0", end(&rental, "U2"));
    assert_eq!(reply.code, Some(Code::NotOwner));
    let reply = yard.ask("E-1", end(&rental, "U1"));
    assert_eq!(reply.result, ReplyResult::Accepted);
    assert_eq!(yard.state("DEV_001"), DeviceState::Renting);
    let reply = yard.ask("E-2", end(&rental, "U1"));
    assert_eq!(reply.result, ReplyResult::Duplicate);
    yard.run(120_000);
    assert_eq!(
        yard.state("DEV_001"),
        DeviceState::Fault,
        "told four times in vain"
    );
    assert_eq!(yard.last(&rental).state, RentalState::Ending);
    let stops = yard
        .actions()
        .into_iter()
        .filter(|told| told.0 == DeviceAction::Stop);
    assert!(stops.count() >= 4);
    yard.say("DEV_001", DeviceWord::Running);
    assert_eq!(yard.last(&rental).state, RentalState::Ending);
    yard.say("DEV_001", DeviceWord::Locked);
    assert_eq!(yard.last(&rental).state, RentalState::Ended);
    assert_eq!(yard.state("DEV_001"), DeviceState::Idle);
}

/// AT-RENT-07: whatever was durable when the process was killed, the device is told again under
/// the same order, and there is no device in use without its rental.
#[test]
fn a_start_goes_on_after_a_restart() {
    let mut yard = Yard::new();
    let rental = rental_of(&yard.ask("T-1", start("DEV_001", "U1", None)));
    let numbers: Vec<u64> = yard.told.iter().map(|told| told.sequence).collect();
    yard.told.clear();
    for kill in 0..6 {
        yard.restart(10, false);
        yard.run(1_000);
        let told = yard.actions().pop();
        assert_eq!(
            told,
            Some((DeviceAction::Start, Some("T-1".to_owned()))),
            "{kill}"
        );
    }
    let starts = yard
        .told
        .iter()
        .filter(|told| told.command == DeviceAction::Start);
    assert!(starts.clone().all(|told| told.sequence > numbers[0]));
    let queries = yard
        .told
        .iter()
        .filter(|told| told.command == DeviceAction::Query);
    assert_eq!(queries.count(), 12, "each device is asked after each start");
    assert_eq!(
        yard.last(&rental).state,
        RentalState::Pending,
        "restarts are no tries"
    );
    yard.say("DEV_001", DeviceWord::Running);
    yard.ask("E-1", end(&rental, "U1"));
    yard.told.clear();
    yard.restart(10, false);
    yard.run(1_000);
    assert_eq!(
        yard.actions(),
        [(DeviceAction::Stop, Some("T-1".to_owned()))]
    );
}

/// R-RENT-046: out of order by its own word; free again by its own word.
#[test]
fn a_device_that_is_out_of_order_is_rented_to_nobody() {
    let (mut yard, rental) = riding();
    yard.run(3_000);
    yard.say("DEV_001", DeviceWord::Fault);
    let told = yard.last(&rental);
    assert_eq!(
        (told.state, told.metered_s.ms),
        (RentalState::Failed, 3_000)
    );
    assert_eq!(yard.state("DEV_001"), DeviceState::Fault);
    assert!(yard.office.standing(AlarmCode::DeviceFault).is_some());
    let reply = yard.ask("T-2", start("DEV_001", "U2", None));
    assert_eq!(reply.code, Some(Code::DeviceUnavailable));
    yard.say("DEV_001", DeviceWord::Stopped);
    rental_of(&yard.ask("T-3", start("DEV_001", "U2", None)));
}

/// R-RENT-046: maintenance from any state; off needs the device's word since.
#[test]
fn maintenance_ends_with_a_report_of_the_device() {
    let (mut yard, rental) = riding();
    let maintain = |yard: &mut Yard, on: bool| {
        let device = "DEV_001".parse().expect("an id");
        yard.office
            .operate(OperatorAction::DeviceMaintenance { device, on })
    };
    assert!(matches!(
        maintain(&mut yard, true),
        Ok(OperatorAnswer::Done(_))
    ));
    assert_eq!(yard.state("DEV_001"), DeviceState::Maintenance);
    assert_eq!(yard.last(&rental).state, RentalState::Failed);
    let reply = yard.ask("T-2", reserve("DEV_001", "U2", None));
    assert_eq!(reply.code, Some(Code::DeviceUnavailable));
    assert!(maintain(&mut yard, false).is_err());
    yard.say("DEV_001", DeviceWord::Running);
    assert!(maintain(&mut yard, false).is_err(), "a technician rides");
    yard.say("DEV_001", DeviceWord::Stopped);
    assert_eq!(yard.state("DEV_001"), DeviceState::Maintenance);
    assert!(maintain(&mut yard, false).is_ok());
    assert_eq!(yard.state("DEV_001"), DeviceState::Idle);
}

/// What happened since a backup is not known: a device must say how it stands first, and numbers
/// begin above those that it may have seen.
#[test]
fn restored_data_rent_nothing_until_the_device_was_heard() {
    let (mut yard, _) = riding();
    let (sequence, fence) = {
        let device = yard
            .office
            .core
            .state()
            .rentals
            .device(&"DEV_001".parse().expect("an id"));
        (device.sequence, device.fence)
    };
    yard.restart(10, true);
    yard.run(1_000);
    assert_eq!(yard.state("DEV_002"), DeviceState::Unknown);
    let reply = yard.ask("T-2", start("DEV_002", "U2", None));
    assert_eq!(reply.code, Some(Code::DeviceUnavailable));
    yard.say("DEV_002", DeviceWord::Stopped);
    assert_eq!(yard.state("DEV_002"), DeviceState::Idle);
    assert!(yard.device("DEV_001").fence.0 >= fence.0 + 1_000);
    let device = yard
        .office
        .core
        .state()
        .rentals
        .device(&"DEV_001".parse().expect("an id"));
    assert!(device.sequence >= sequence + 1_000);
}

/// A `done` without a state says nothing of how the device stands: it is asked.
#[test]
fn a_done_alone_makes_no_rental_active() {
    let mut yard = Yard::new();
    let rental = rental_of(&yard.ask("T-1", start("DEV_001", "U1", None)));
    yard.told.clear();
    let done = DeviceEventKind::Done;
    yard.say_as("DEV_001", "b1", 1, Some("T-1"), done, None);
    assert_eq!(yard.last(&rental).state, RentalState::Pending);
    assert_eq!(yard.told.len(), 1);
    assert_eq!(yard.told[0].command, DeviceAction::Query);
    let running = Some(DeviceWord::Running);
    yard.say_as("DEV_001", "b1", 2, Some("T-0"), done, running);
    assert_eq!(
        yard.last(&rental).state,
        RentalState::Pending,
        "of another order"
    );
    yard.say_as("DEV_001", "b1", 3, Some("T-1"), done, running);
    assert_eq!(yard.last(&rental).state, RentalState::Active);
}
