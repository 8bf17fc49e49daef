//! What looks like a break and is none: the message means what it meant.

use crate::of_payloads::{BYTES_MAX, Break, Good};
use crate::tree::Tree;
use crate::verdict::{Broken, Verdict};

pub(crate) const ALL: &[Break] = &[
    ("unknown fields", unknown_fields),
    ("type and source", type_and_source),
    ("null for absent", null_for_absent),
    ("another's id inside", other_id),
    ("space between all", spaced),
    ("every character escaped", escaped),
    ("as large as may be", largest),
    ("as deep as may be", deepest),
];

fn unknown_fields(good: &Good<'_>) -> Broken {
    let field = good.one(&[
        r#""x":1"#,
        r#""x":-1.5e300"#,
        r#""x":null"#,
        r#""Message_Id":7,"ORDER_ID":[]"#,
        r#""x":{"message_id":"m-9","order_id":{"y":[null,true]}}"#,
        r#""message_id ":"m-9","\u0000":"\u0000""#,
        r#""__proto__":{"state":"HOLD"},"constructor":[]"#,
        r#""m\u0435ssage_id":5"#,
        r#""x":"\ud83d\ude00\u2028\u202e\u001b[2J""#,
        r#""x":[[],{},"",0,-0,0.0,1e308,-9223372036854775808,123456789012345678901234567890]"#,
    ]);
    let is_first = good.pick.is_multiple_of(2);
    good.same(if is_first {
        good.with_first(field)
    } else {
        good.with_last(field)
    })
}

fn type_and_source(good: &Good<'_>) -> Broken {
    good.same(good.with_first(good.one(&[
        r#""type":"ride.request","source":"gateway/gw-1""#,
        r#""type":7,"source":[]"#,
        r#""type":null"#,
    ])))
}

/// Absent and null mean the same.
fn null_for_absent(good: &Good<'_>) -> Broken {
    let mut absent = good.tree.clone();
    let may: Vec<_> = good
        .kind
        .fields
        .iter()
        .filter(|(_, must, _)| !must)
        .collect();
    if may.is_empty() {
        return good.same(good.text.clone());
    }
    let (name, ..) = may[good.pick % may.len()];
    let mut null = absent.clone();
    absent.fields().retain(|(key, _)| key != name);
    for (key, value) in null.fields() {
        if key == name {
            *value = Tree::raw("null");
        }
    }
    let good_payload = absent.write().into_bytes();
    Broken::new(
        good.kind,
        null.write().into_bytes(),
        Verdict::Same(good_payload),
    )
}

/// The topic says whose it is, whatever the payload says.
fn other_id(good: &Good<'_>) -> Broken {
    let field = good.one(&[
        r#""robot_id":"R999""#,
        r#""robot":"R999","client_id":"R999""#,
        r#""gateway":"gw-9","robot_id":"R001""#,
        r#""robot_id":["R001",null]"#,
    ]);
    good.same(good.with_first(field))
}

fn spaced(good: &Good<'_>) -> Broken {
    let space = good.one(&[" ", "\n", "\r\n\t ", "      "]);
    let mut out = String::new();
    let (mut in_text, mut is_escaped) = (false, false);
    for c in good.text.chars() {
        let between = !in_text && "{}[]:,".contains(c);
        if between {
            out.push_str(space);
        }
        out.push(c);
        if between {
            out.push_str(space);
        }
        if c == '"' && !is_escaped {
            in_text = !in_text;
        }
        is_escaped = in_text && c == '\\' && !is_escaped;
    }
    good.same(out)
}

/// `\u0061` is `a`, in keys too.
fn escaped(good: &Good<'_>) -> Broken {
    let mut out = String::new();
    let mut in_text = false;
    let mut chars = good.text.chars();
    while let Some(c) = chars.next() {
        if in_text && c.is_ascii_alphanumeric() {
            out.push_str(&format!("\\u{:04X}", u32::from(c)));
            continue;
        }
        out.push(c);
        in_text ^= c == '"';
        if c == '\\' {
            // An escape of the good message itself: a character, or `u` and four digits.
            let kind = chars.next().unwrap_or_default();
            out.push(kind);
            out.extend(chars.by_ref().take(if kind == 'u' { 4 } else { 0 }));
        }
    }
    good.same(out)
}

fn largest(good: &Good<'_>) -> Broken {
    let mut payload = good.text.clone().into_bytes();
    payload.resize(BYTES_MAX, b' ');
    good.same(payload)
}

fn deepest(good: &Good<'_>) -> Broken {
    let field = good.one(&[
        r#""x":[[[[[[[1]]]]]]]"#,
        r#""x":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}"#,
    ]);
    good.same(good.with_first(field))
}
