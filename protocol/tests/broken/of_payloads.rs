//! Breaks of a message as a whole: its bytes, its topic, its delivery; and what is no break at all.

use protocol::message::RobotTopic;
use protocol::{Code, Ignored};

use crate::tree::Tree;
use crate::verdict::{Broken, Refused, Verdict};
use crate::wire::{Kind, Unreadable};

/// Bytes of a payload at most (`wire.md` section 2).
const BYTES_MAX: usize = 16_384;
const NO_OBJECT: &str = "the payload is no JSON object: ";

/// A good message that is about to be broken, and a number to choose places by.
pub(crate) struct Good<'g> {
    pub(crate) kind: &'g Kind,
    pub(crate) tree: &'g Tree,
    pub(crate) text: String,
    pub(crate) pick: usize,
}

/// A break by its name.
pub(crate) type Break = (&'static str, fn(&Good<'_>) -> Broken);

pub(crate) const ALL: &[Break] = &[
    ("cut short", cut_short),
    ("trailing bytes", trailing),
    ("no UTF-8", no_utf8),
    ("UTF-16", utf16),
    ("a byte order mark", byte_order_mark),
    ("too large", too_large),
    ("nested too deep", too_deep),
    ("no JSON number", no_number),
    ("a raw control character", raw_control),
    ("half a surrogate pair", lone_surrogate),
    ("no JSON escape", no_escape),
    ("no object", no_object),
    ("no JSON syntax", no_syntax),
    ("a key twice, deep inside", twice_inside),
    ("an id twice", id_twice),
    ("another kind's topic", other_kind),
    ("no topic of ours", no_topic),
    ("the wrong retain flag", wrong_retain),
    ("nothing at all", empty),
    ("unknown fields", unknown_fields),
    ("type and source", type_and_source),
    ("null for absent", null_for_absent),
    ("another's id inside", other_id),
    ("space between all", spaced),
    ("every character escaped", escaped),
    ("as large as may be", largest),
    ("as deep as may be", deepest),
];

impl Good<'_> {
    fn refused(&self, payload: Vec<u8>, refused: Refused) -> Broken {
        Broken::new(self.kind, payload, Verdict::Refused(refused))
    }

    fn malformed(&self, ids_before: usize, begins: &str, holds: &str) -> Refused {
        Refused {
            code: Code::Malformed,
            message_id: self.id("message_id", ids_before),
            order_id: self.id("order_id", ids_before),
            begins: begins.to_owned(),
            holds: holds.to_owned(),
        }
    }

    fn same(&self, payload: impl Into<Vec<u8>>) -> Broken {
        let good = self.text.clone().into_bytes();
        Broken::new(self.kind, payload.into(), Verdict::Same(good))
    }

    /// The id, where all of it stands before a place in the text.
    fn id(&self, name: &str, before: usize) -> Option<String> {
        let id = self.tree.text_of(name)?;
        let written = format!("\"{name}\":\"{id}\"");
        let at = self.text.find(&written)?;
        (at + written.len() <= before).then(|| id.to_owned())
    }

    /// A place in the text, at the beginning of a character, at least at `least`.
    fn place(&self, least: usize) -> usize {
        let span = self.text.len() - least;
        let mut at = least + self.pick % span;
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// The text with a further field before all others.
    fn with_first(&self, field: &str) -> String {
        format!("{{{field},{}", &self.text[1..])
    }

    /// The text with a further field behind all others.
    fn with_last(&self, field: &str) -> String {
        format!("{},{field}}}", &self.text[..self.text.len() - 1])
    }

    fn one<'o>(&self, of: &[&'o str]) -> &'o str {
        of[self.pick % of.len()]
    }
}

fn cut_short(good: &Good<'_>) -> Broken {
    let end = good.place(1);
    let payload = good.text.as_bytes()[..end].to_vec();
    good.refused(payload, good.malformed(end, NO_OBJECT, "EOF"))
}

fn trailing(good: &Good<'_>) -> Broken {
    let more = [
        "{}",
        "x",
        ",",
        "\0",
        "null",
        "}",
        "]",
        "\n{\"order_id\":\"T-9\"}",
        "//",
        "\u{feff}",
    ];
    let payload = good.text.clone() + good.one(&more);
    let all = good.text.len();
    good.refused(
        payload.into_bytes(),
        good.malformed(all, NO_OBJECT, "trailing"),
    )
}

/// Bytes that no UTF-8 has, halves of characters, an over-long slash, a surrogate, GBK.
const NO_UTF8: &[&[u8]] = &[
    &[0xff],
    &[0xfe, 0xff],
    &[0x80],
    &[0xc0, 0xaf],
    &[0xed, 0xa0, 0x80],
    &[0xf8, 0x88, 0x80, 0x80, 0x80],
    &[0xb5, 0xe7, 0xcc, 0xdd],
    &[0xe7],
];

fn no_utf8(good: &Good<'_>) -> Broken {
    let at = good.place(0);
    let (head, tail) = good.text.as_bytes().split_at(at);
    let bad = NO_UTF8[good.pick % NO_UTF8.len()];
    let payload = [head, bad, tail].concat();
    let why = format!("the payload is no UTF-8 at byte {at}");
    good.refused(payload, good.malformed(at, &why, ""))
}

fn utf16(good: &Good<'_>) -> Broken {
    let big = good.pick.is_multiple_of(2);
    let units = good.text.encode_utf16();
    let bytes: Vec<u8> = if big {
        units.flat_map(u16::to_be_bytes).collect()
    } else {
        units.flat_map(u16::to_le_bytes).collect()
    };
    good.refused(bytes, good.malformed(0, "the payload is no ", ""))
}

fn byte_order_mark(good: &Good<'_>) -> Broken {
    let payload = format!("\u{feff}{}", good.text);
    good.refused(payload.into_bytes(), good.malformed(0, NO_OBJECT, ""))
}

fn too_large(good: &Good<'_>) -> Broken {
    let over = [1, 2, 1_000, 16_384, 500_000][good.pick % 5];
    let bytes = BYTES_MAX + over;
    let mut payload = good.text.clone().into_bytes();
    // What it holds does not matter, whether it could be read or not.
    let pad = [b' ', b'x', 0xff, b'['][good.pick / 5 % 4];
    payload.resize(bytes, pad);
    let refused = Refused {
        code: Code::TooLarge,
        ..good.malformed(0, "the payload is ", &bytes.to_string())
    };
    good.refused(payload, refused)
}

fn too_deep(good: &Good<'_>) -> Broken {
    let levels = [8, 9, 20, 127, 128, 1_000][good.pick % 6];
    let (open, close) = [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")][good.pick / 6 % 3];
    let field = format!("\"deep\":{}1{}", open.repeat(levels), close.repeat(levels));
    let is_first = good.pick.is_multiple_of(2);
    let payload = if is_first {
        good.with_first(&field)
    } else {
        good.with_last(&field)
    };
    let all = good.text.len();
    good.refused(
        payload.into_bytes(),
        good.malformed(all, "the payload is nested deeper than 8 levels", ""),
    )
}

/// The value of a last field is no JSON; the ids stand before it.
fn bad_last(good: &Good<'_>, value: &str) -> Broken {
    let payload = good.with_last(&format!("\"last\":{value}"));
    good.refused(
        payload.into_bytes(),
        good.malformed(good.text.len(), NO_OBJECT, ""),
    )
}

fn no_number(good: &Good<'_>) -> Broken {
    let words = [
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "1e999",
        "-1e999",
        "1e400",
        "+1",
        ".5",
        "5.",
        "01",
        "-",
        "--1",
        "0x10",
        "1_000",
        "1e",
        "1e+",
        "1.e3",
        "1,5",
        "٣",
        "1/2",
        "00",
        "-01",
    ];
    bad_last(good, good.one(&words))
}

fn raw_control(good: &Good<'_>) -> Broken {
    let c = char::from(u8::try_from(good.pick % 32).expect("below 32"));
    bad_last(good, &format!("\"a{c}b\""))
}

fn lone_surrogate(good: &Good<'_>) -> Broken {
    let halves = [
        r"\ud83d",
        r"\ude00",
        r"\ud83d\ud83d",
        r"\ud83dx",
        r"\udfff\ud800",
        r"\ud800\u0041",
    ];
    bad_last(good, &format!("\"{}\"", good.one(&halves)))
}

fn no_escape(good: &Good<'_>) -> Broken {
    bad_last(
        good,
        &format!(
            "\"{}\"",
            good.one(&[
                r"\x41", r"\u12", r"\u12G4", r"\'", r"\0", r"\U0041", r"\u{41}"
            ])
        ),
    )
}

fn no_object(good: &Good<'_>) -> Broken {
    let payload = match good.pick % 8 {
        0 => format!("[{}]", good.text),
        1 => format!(
            "\"{}\"",
            good.text.replace('\\', "\\\\").replace('"', "\\\"")
        ),
        2 => "null".to_owned(),
        3 => "true".to_owned(),
        4 => "-7".to_owned(),
        5 => " ".to_owned(),
        6 => "x".repeat(good.pick % 500 + 1),
        _ => "[".repeat(good.pick % BYTES_MAX + 1),
    };
    good.refused(payload.into_bytes(), good.malformed(0, NO_OBJECT, ""))
}

fn no_syntax(good: &Good<'_>) -> Broken {
    let text = &good.text;
    let (payload, before) = match good.pick % 8 {
        0 => (good.with_last(""), text.len()),
        1 => (good.with_last("unquoted:1"), text.len()),
        2 => (good.with_last("'single':1"), text.len()),
        3 => (good.with_last("\"no colon\" 1"), text.len()),
        4 => (good.with_last("\"two colons\"::1"), text.len()),
        5 => (good.with_last("/* comment */\"a\":1"), text.len()),
        6 => (good.with_first(""), 0),
        _ => (format!("{}]", &text[..text.len() - 1]), text.len()),
    };
    good.refused(payload.into_bytes(), good.malformed(before, NO_OBJECT, ""))
}

fn twice_inside(good: &Good<'_>) -> Broken {
    let (field, key) = [
        (r#""a":{"b":1,"b":2}"#, "b"),
        (r#""a":[{"b":{"c":1,"d":2,"c":1}}]"#, "c"),
        (r#""a":1,"\u0061":1"#, "a"),
        (r#""":1,"":null"#, ""),
        (r#""a":{"\n":1,"\u000a":2}"#, r"\n"),
    ][good.pick % 5];
    let is_first = good.pick.is_multiple_of(2);
    let payload = if is_first {
        good.with_first(field)
    } else {
        good.with_last(field)
    };
    let begins = format!("the key \"{key}\" comes twice");
    good.refused(
        payload.into_bytes(),
        good.malformed(good.text.len(), &begins, ""),
    )
}

/// An id that came twice cannot be read, the other one can.
fn id_twice(good: &Good<'_>) -> Broken {
    let name = good.one(&["message_id", "order_id"]);
    let value = good.one(&["\"other\"", "null", "7", "{}"]);
    let field = format!("\"{name}\":{value}");
    let payload = good.with_first(&format!("{field},{field}"));
    let mut refused = good.malformed(
        good.text.len(),
        &format!("the key \"{name}\" comes twice"),
        "",
    );
    if name == "order_id" {
        refused.order_id = None;
    } else {
        refused.message_id = None;
    }
    good.refused(payload.into_bytes(), refused)
}

/// A message on the topic of another kind lacks what that kind needs.
fn other_kind(good: &Good<'_>) -> Broken {
    use RobotTopic::{Cancel, Connection, Event, Request};
    let (topic, of, lacks) = match good.kind.name {
        "ride.request" => ("robots/R001/ride/cancel", Cancel, "reason"),
        "ride.event" => ("robots/R001/ride/request", Request, "from"),
        "ride.cancel" => ("robots/R001/ride/event", Event, "event"),
        "robot.status" | "elevator.event" => {
            ("robots/R001/connection", Connection, "connection_state")
        }
        "robot.connection" => ("robots/R001/ride/request", Request, "order_id"),
        _ => return trailing(good),
    };
    let refused = good.malformed(good.text.len(), lacks, "is missing");
    let mut broken = good.refused(good.text.clone().into_bytes(), refused);
    broken.topic = topic.to_owned();
    broken.unreadable = Unreadable::Robot(of);
    broken
}

/// Topics that are none of the gateway's; the payload does not matter.
fn no_topic(good: &Good<'_>) -> Broken {
    let mut levels: Vec<String> = good.kind.topic.split('/').map(str::to_owned).collect();
    let long = "x".repeat(65);
    let bad = [
        "",
        "+",
        "#",
        "R 1",
        "$SYS",
        "R\0",
        "R\n1",
        "\u{420}001",
        "R\u{202e}1",
        long.as_str(),
    ];
    match good.pick % 4 {
        0 => levels.push("more".to_owned()),
        1 => levels.truncate(levels.len() - 1),
        2 => levels.insert(0, String::new()),
        _ => levels[1] = good.one(&bad).to_owned(),
    }
    let mut broken = Broken::new(
        good.kind,
        good.text.clone().into_bytes(),
        Verdict::Ignored(Ignored::NotOurs),
    );
    broken.topic = levels.join("/");
    broken
}

fn is_connection(kind: &Kind) -> bool {
    kind.topic.ends_with("/connection")
}

/// A connection counts either way. An own state counts with the flag, all others without it.
fn wrong_retain(good: &Good<'_>) -> Broken {
    let mut broken = good.same(good.text.clone());
    broken.retained = !broken.retained;
    if !is_connection(good.kind) {
        let is_own = good.kind.unreadable == Unreadable::Own;
        broken.verdict = Verdict::Ignored(if is_own {
            Ignored::Echo
        } else {
            Ignored::Retained
        });
        if good.pick.is_multiple_of(2) {
            broken.payload.truncate(good.pick % 3);
        }
    }
    broken
}

/// An empty payload deletes a retained word; where none is kept it is no message.
fn empty(good: &Good<'_>) -> Broken {
    if is_connection(good.kind) {
        return Broken::new(good.kind, Vec::new(), Verdict::Ignored(Ignored::Cleared));
    }
    good.refused(Vec::new(), good.malformed(0, NO_OBJECT, ""))
}

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
    let (mut in_text, mut is_escaped) = (false, false);
    for c in good.text.chars() {
        let ends = c == '"' && !is_escaped;
        if in_text && !ends && c.is_ascii_alphanumeric() && !is_escaped && !follows_unicode(&out) {
            out.push_str(&format!("\\u{:04X}", u32::from(c)));
        } else {
            out.push(c);
        }
        in_text ^= ends;
        is_escaped = in_text && c == '\\' && !is_escaped;
    }
    good.same(out)
}

/// Within the four digits of an escape that the good message has itself.
fn follows_unicode(out: &str) -> bool {
    let tail = &out.as_bytes()[out.len().saturating_sub(5)..];
    let at = tail.windows(2).rposition(|pair| pair == b"\\u");
    at.is_some_and(|at| tail.len() - at < 6 && tail[at + 2..].iter().all(u8::is_ascii_hexdigit))
        && !out.ends_with("\\\\u")
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
