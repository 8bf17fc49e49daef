//! 10,000 broken messages (issue 3 part 5, T-STACK-03; reliability.md B6, 7 to 12): good ones of
//! every kind, each broken in a way that has a name. What has to come of each is written down from
//! `wire.md`, not from the decoder.
//!
//! `HALLCALL_BROKEN_MESSAGES=1000000` is the long form. The messages are the same in each run.

mod harmless;
mod of_deliveries;
mod of_fields;
mod of_payloads;
mod tree;
mod valid;
mod verdict;
mod wire;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestError, TestRunner};
use protocol::{Decoded, Inbound, SiteId, Topics, decode};

use of_payloads::Good;
use tree::Tree;
use verdict::Broken;
use wire::{KINDS, Kind};

/// Broken messages in all, in the form that CI runs.
const MESSAGES: u32 = 10_000;

/// How a good message is broken: from the message and a number to choose places by.
type Deed = Box<dyn Fn(&Kind, &Tree, usize) -> Broken>;

fn topics() -> Topics {
    Topics::new("hallcall/v1", &SiteId::new("demo").expect("an id")).expect("a root")
}

/// Every way to break a message of the kind, by name.
fn breaks(kind: &Kind) -> Vec<(String, Deed)> {
    let of_fields = of_fields::all(kind).into_iter().map(|a_break| {
        let name = a_break.name.clone();
        let deed: Deed = Box::new(move |kind, good, _| a_break.done(kind, good));
        (name, deed)
    });
    let of_wholes = [of_payloads::ALL, of_deliveries::ALL, harmless::ALL].concat();
    let of_wholes = of_wholes.into_iter().map(|(name, deed)| {
        let deed: Deed = Box::new(move |kind, tree, pick| {
            let text = tree.write();
            deed(&Good {
                kind,
                tree,
                text,
                pick,
            })
        });
        (name.to_owned(), deed)
    });
    of_fields.chain(of_wholes).collect()
}

/// Messages of one kind and one break. The smallest message that is judged wrongly, if any.
fn check(
    kind: &Kind,
    good: &BoxedStrategy<Tree>,
    (name, deed): &(String, Deed),
    cases: u32,
    seed: u64,
) -> Option<String> {
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let topics = topics();
    let strategy = (good.clone(), any::<usize>());
    let result = TestRunner::new(config).run(&strategy, |(good, pick)| {
        let broken = deed(kind, &good, pick);
        broken.judge(&topics).map_err(|came| {
            let payload = broken.payload.escape_ascii();
            let (topic, retained, verdict) = (&broken.topic, broken.retained, &broken.verdict);
            TestCaseError::fail(format!(
                "\n  {topic} (retained: {retained})\n  {payload}\n  wanted: {verdict:?}\n  \
                 came: {came}"
            ))
        })
    });
    let why = match result {
        Ok(()) => return None,
        Err(TestError::Fail(why, _)) => why.to_string(),
        Err(TestError::Abort(why)) => why.to_string(),
    };
    Some(format!("{}, {name}: {why}", kind.name))
}

#[test]
fn broken_messages_are_refused_by_code_and_field() {
    let wanted = std::env::var("HALLCALL_BROKEN_MESSAGES");
    let wanted: u32 = wanted.map_or(MESSAGES, |text| text.parse().expect("a number of messages"));
    let all: Vec<_> = KINDS.iter().map(|kind| (kind, breaks(kind))).collect();
    let ways: usize = all.iter().map(|(_, breaks)| breaks.len()).sum();
    let each = wanted.div_ceil(u32::try_from(ways).expect("some thousand ways"));
    let mut wrong = Vec::new();
    let mut seed = 0;
    for (kind, breaks) in &all {
        let good = valid::object(kind.fields);
        for a_break in breaks {
            seed += 1;
            wrong.extend(check(kind, &good, a_break, each, seed));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} ways are judged wrongly:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(ways > 1_000, "only {ways} ways");
}

/// What the breaks start from is good, so that each refusal is the break's.
#[test]
fn the_messages_are_good_before_they_are_broken() {
    let topics = topics();
    for (seed, kind) in KINDS.iter().enumerate() {
        let config = ProptestConfig {
            cases: 50,
            rng_seed: RngSeed::Fixed(seed as u64),
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let result = TestRunner::new(config).run(&valid::object(kind.fields), |good| {
            let topic = format!("hallcall/v1/demo/{}", kind.topic);
            let payload = good.write();
            match decode(&topics, &topic, payload.as_bytes(), kind.retained) {
                Decoded::Message(inbound) => {
                    let robot = matches!(inbound, Inbound::Robot { .. } | Inbound::OwnRide { .. });
                    prop_assert_eq!(robot, kind.topic.starts_with("robots/"));
                }
                other @ (Decoded::Refused(_) | Decoded::Ignored(_)) => {
                    prop_assert!(false, "{}: {:?}", payload, other);
                }
            }
            Ok(())
        });
        result.unwrap_or_else(|why| panic!("{}: {why}", kind.name));
    }
}
