//! Breaks of the bytes of a message as a whole.

use protocol::Code;

use crate::tree::Tree;
use crate::verdict::{Broken, Refused, Verdict};
use crate::wire::Kind;

/// Bytes of a payload at most (`wire.md` section 2).
pub(crate) const BYTES_MAX: usize = 16_384;
pub(crate) const NO_OBJECT: &str = "the payload is no JSON object: ";

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
];

impl Good<'_> {
    pub(crate) fn refused(&self, payload: Vec<u8>, refused: Refused) -> Broken {
        Broken::new(self.kind, payload, Verdict::Refused(refused))
    }

    pub(crate) fn malformed(&self, ids_before: usize, begins: &str, holds: &str) -> Refused {
        Refused {
            code: Code::Malformed,
            message_id: self.id("message_id", ids_before),
            order_id: self.id("order_id", ids_before),
            begins: begins.to_owned(),
            holds: holds.to_owned(),
        }
    }

    pub(crate) fn same(&self, payload: impl Into<Vec<u8>>) -> Broken {
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
    pub(crate) fn with_first(&self, field: &str) -> String {
        format!("{{{field},{}", &self.text[1..])
    }

    /// The text with a further field behind all others.
    pub(crate) fn with_last(&self, field: &str) -> String {
        format!("{},{field}}}", &self.text[..self.text.len() - 1])
    }

    pub(crate) fn one<'o>(&self, of: &[&'o str]) -> &'o str {
        of[self.pick % of.len()]
    }
}

fn cut_short(good: &Good<'_>) -> Broken {
    let end = good.place(1);
    let payload = good.text.as_bytes()[..end].to_vec();
    good.refused(payload, good.malformed(end, NO_OBJECT, "EOF"))
}

pub(crate) fn trailing(good: &Good<'_>) -> Broken {
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
