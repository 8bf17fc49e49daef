//! Any value of the parts that messages are made of.

use proptest::prelude::*;
use protocol::elevator::Doors;
use protocol::hardware::Door;
use protocol::robot::ConnectionState;
use protocol::{FloorLabel, Landing, Seconds, Side, Timestamp};

/// A valid identifier of any kind.
pub(crate) fn id<T>() -> impl Strategy<Value = T>
where
    T: std::str::FromStr<Err = protocol::id::IdError> + std::fmt::Debug,
{
    let alphabet: Vec<char> = ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .chain("_.:-".chars())
        .collect();
    prop::collection::vec(prop::sample::select(alphabet), 1..=64).prop_map(|chars| {
        chars
            .into_iter()
            .collect::<String>()
            .parse()
            .expect("an id")
    })
}

pub(crate) fn floor() -> impl Strategy<Value = FloorLabel> {
    let alphabet: Vec<char> = ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .chain("_-".chars())
        .collect();
    prop::collection::vec(prop::sample::select(alphabet), 1..=8).prop_map(|chars| {
        chars
            .into_iter()
            .collect::<String>()
            .parse()
            .expect("a floor")
    })
}

pub(crate) fn some<T: Clone + std::fmt::Debug>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

pub(crate) fn opt<S: Strategy>(inner: S) -> impl Strategy<Value = Option<S::Value>> {
    prop::option::of(inner)
}

/// The years 1970 to 9999.
pub(crate) fn moment() -> impl Strategy<Value = Timestamp> {
    (0..=253_402_300_799_999u64).prop_map(Timestamp)
}

/// Up to some weeks, with any fraction.
pub(crate) fn seconds() -> impl Strategy<Value = Seconds> {
    (0..=4_000_000_000u64).prop_map(Seconds::from_ms)
}

pub(crate) fn landing() -> impl Strategy<Value = Landing> {
    (floor(), some(&Side::ALL)).prop_map(|(floor, side)| Landing { floor, side })
}

/// Any characters, at most so many bytes.
pub(crate) fn text(bytes_max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..=bytes_max / 4)
        .prop_map(|chars| chars.into_iter().collect())
}

/// A text that goes out as it is: without control characters.
pub(crate) fn sentence() -> impl Strategy<Value = String> {
    let plain = |c: &char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    prop::collection::vec(
        any::<char>().prop_filter("a control character", plain),
        0..=64,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

pub(crate) fn connection_state() -> impl Strategy<Value = ConnectionState> {
    some(ConnectionState::ALL)
}

pub(crate) fn doors() -> impl Strategy<Value = Doors> {
    (some(Door::ALL), opt(some(Door::ALL))).prop_map(|(front, rear)| Doors { front, rear })
}
