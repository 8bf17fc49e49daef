//! Good messages: every field, in any order, with any value that its rule allows.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::BoxedStrategy;

use crate::tree::Tree;
use crate::wire::{Field, Rule};

/// An object with all of these fields.
pub(crate) fn object(fields: &'static [Field]) -> BoxedStrategy<Tree> {
    let values: Vec<_> = fields.iter().map(|(_, _, rule)| value(*rule)).collect();
    let named = values.prop_map(|values| {
        let names = fields.iter().map(|(name, _, _)| (*name).to_owned());
        names.zip(values).collect::<Vec<_>>()
    });
    named.prop_shuffle().prop_map(Tree::Object).boxed()
}

fn value(rule: Rule) -> BoxedStrategy<Tree> {
    let text = |pattern: &'static str| pattern.prop_map(Tree::Text).boxed();
    match rule {
        // Most of them short: what is made character by character takes its time.
        Rule::Id => prop_oneof![
            9 => text("[A-Za-z0-9_.:-]{1,6}"),
            1 => text("[A-Za-z0-9_.:-]{64}"),
        ]
        .boxed(),
        Rule::Floor => text("[A-Za-z0-9_-]{1,8}"),
        Rule::Word(words) => select(words).prop_map(Tree::text).boxed(),
        Rule::Flag => any::<bool>()
            .prop_map(|flag| Tree::Raw(flag.to_string()))
            .boxed(),
        Rule::Integer(min, max) => (min..=max).prop_map(|n| Tree::Raw(n.to_string())).boxed(),
        Rule::Number(min, max) => number(min, max),
        // Four bytes a character at most.
        Rule::Text(max) if max < 256 => text(".{0,8}"),
        Rule::Text(_) => text("(?s).{0,16}"),
        Rule::Moment => moment().prop_map(Tree::Text).boxed(),
        Rule::Object(fields) => object(fields),
        Rule::List(_, rule) => proptest::collection::vec(value(*rule), 1..3)
            .prop_map(Tree::List)
            .boxed(),
    }
}

/// As a program may write it: with a fraction, an exponent, neither, or as `-0`.
fn number(min: f64, max: f64) -> BoxedStrategy<Tree> {
    let (low, high) = (min.max(-1e300), max.min(1e300));
    let any = (low..=high, 0..5_u8).prop_map(|(number, form)| {
        Tree::Raw(match form {
            0 => format!("{number:e}"),
            1 => format!("{number:E}"),
            2 => format!("{:.0}", number / 2.0),
            3 => "-0".to_owned(),
            _ => format!("{number:?}"),
        })
    });
    any.boxed()
}

/// Years in which no offset leads out of 1970 to 9999.
fn moment() -> impl Strategy<Value = String> {
    let day = (1971..=9998_u32, 1..=12_u32, 1..=28_u32);
    let time = (0..24_u32, 0..60_u32, 0..60_u32, "(\\.[0-9]{1,9})?");
    let offset = "Z|z|[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]";
    (day, time, offset, "[Tt]").prop_map(|((y, m, d), (h, min, s, fraction), offset, t)| {
        format!("{y:04}-{m:02}-{d:02}{t}{h:02}:{min:02}:{s:02}{fraction}{offset}")
    })
}
