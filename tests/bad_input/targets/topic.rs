//! Topics and the names in them: any text to [`Topics::new`], [`Topics::parse`], identifiers, floor
//! labels and time stamps.
//!
//! The first line of an input is the root, the rest a topic, whole or below the base.

use std::fmt::Write as _;

use protocol::{FloorLabel, OrderId, SiteId, Timestamp, Topic, Topics};

/// Takes an input; panics where a promise is broken. Returns what came of it.
pub(crate) fn run(data: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(data) else {
        return String::new();
    };
    let (root, topic) = text.split_once('\n').unwrap_or(("hallcall/v1", text));
    let mut log = names(topic);
    let site = SiteId::new("demo").expect("an id");
    let topics = match Topics::new(root, &site) {
        Ok(topics) => topics,
        Err(error) => {
            assert!(!is_root(root), "{root:?} is a root");
            let error = error.to_string();
            assert!(
                error.len() < 400 && !error.contains(char::is_control),
                "{error:?}"
            );
            return log + &error;
        }
    };
    assert!(is_root(root), "{root:?} is no root");
    for topic in [topic.to_owned(), format!("{root}/demo/{topic}")] {
        let parsed = topics.parse(&topic);
        let _ = writeln!(log, "{parsed:?}");
        check(&topics, &topic, parsed.as_ref());
    }
    log
}

/// A topic is read as what it is written as, and the gateway hears what it reads.
fn check(topics: &Topics, topic: &str, parsed: Option<&Topic>) {
    if let Some(parsed) = parsed {
        assert_eq!(topics.name(parsed), topic);
    }
    let gateway = "gw-1".parse().expect("an id");
    let filters = topics.ingest_filters(&gateway);
    let heard = filters
        .iter()
        .filter(|filter| matches(filter, topic))
        .count();
    let wanted = match parsed {
        Some(
            Topic::RideRequest(_)
            | Topic::RideEvent(_)
            | Topic::RideCancel(_)
            | Topic::RobotStatus(_)
            | Topic::RobotConnection(_)
            | Topic::ElevatorEvent(_)
            | Topic::ClientRequest(_)
            | Topic::DeviceEvent(_),
        ) => true,
        Some(Topic::GatewayConnection(named)) => *named == gateway,
        Some(
            Topic::Site
            | Topic::RideReply(_)
            | Topic::RideState(_)
            | Topic::ElevatorState(_)
            | Topic::ElevatorCommand(_)
            | Topic::ClientReply(_)
            | Topic::DeviceCommand(_)
            | Topic::DeviceState(_)
            | Topic::Alarm
            | Topic::Alarms,
        ) => false,
        // A bad identifier where the filter takes any.
        None => return,
    };
    assert_eq!(
        heard,
        usize::from(wanted),
        "{topic:?} is heard by {filters:?}"
    );
}

/// MQTT 3.1.1 section 4.7: `+` is any one level.
fn matches(filter: &str, topic: &str) -> bool {
    let (filter, topic): (Vec<_>, Vec<_>) =
        (filter.split('/').collect(), topic.split('/').collect());
    filter.len() == topic.len()
        && filter
            .iter()
            .zip(&topic)
            .all(|(want, have)| *want == "+" || want == have)
}

/// Identifiers, floor labels and time stamps are what `wire.md` sections 1 and 2 say.
fn names(text: &str) -> String {
    let is_of = |more: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let id = OrderId::new(text);
    assert_eq!(
        id.is_ok(),
        (1..=64).contains(&text.len()) && is_of("_.:-"),
        "{text:?}"
    );
    let label = FloorLabel::new(text);
    assert_eq!(
        label.is_ok(),
        (1..=8).contains(&text.len()) && is_of("_-"),
        "{text:?}"
    );
    let moment = Timestamp::parse(text);
    if let Ok(moment) = moment {
        let written = moment.to_string();
        let form = "dddd-dd-ddTdd:dd:dd.dddZ";
        let fits = |(have, want): (char, char)| match want {
            'd' => have.is_ascii_digit(),
            _ => have == want,
        };
        assert_eq!(written.len(), form.len(), "{text:?} is {written}");
        assert!(
            written.chars().zip(form.chars()).all(fits),
            "{text:?} is {written}"
        );
        assert_eq!(
            Timestamp::parse(&written),
            Ok(moment),
            "{text:?} is {written}"
        );
    }
    format!("{id:?} {label:?} {moment:?}\n")
}

/// 1 to 256 visible ASCII characters without `+ # $`, in levels divided by single slashes.
fn is_root(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_graphic() && !"+#$".contains(c))
        && !text.starts_with('/')
        && !text.ends_with('/')
        && !text.contains("//")
}
