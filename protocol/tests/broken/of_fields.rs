//! Breaks of one field, or of one value in a list: what is wrong by the rule of the field.

use protocol::Code;

use crate::tree::{Step, Tree, path};
use crate::verdict::{Broken, Refused, Verdict};
use crate::wire::{Field, Kind, Rule};

/// A break of a kind of message: its name, and how it is done to a good one.
pub(crate) struct Break {
    pub(crate) name: String,
    pub(crate) way: Vec<Step>,
    deed: Deed,
}

/// What is done to a field.
#[derive(Clone)]
enum Deed {
    Remove,
    /// Put this there; the sentence holds that.
    Put(Tree, String),
    /// The key a second time, with the same value.
    Twice,
}

/// Every break of every field of a kind.
pub(crate) fn all(kind: &Kind) -> Vec<Break> {
    let mut breaks = Vec::new();
    of_fields(kind.fields, &[], &mut breaks);
    breaks
}

fn of_fields(fields: &[Field], parents: &[Step], breaks: &mut Vec<Break>) {
    for (name, must, rule) in fields {
        let way = [parents, &[Step::Key(name)]].concat();
        let mut add = |name: &str, deed| {
            breaks.push(Break {
                name: format!("{}: {name}", path(&way)),
                way: way.clone(),
                deed,
            });
        };
        if *must {
            add("missing", Deed::Remove);
            add(
                "null",
                Deed::Put(Tree::raw("null"), "is missing".to_owned()),
            );
        }
        add("twice", Deed::Twice);
        of_value(*rule, &way, breaks);
    }
}

fn of_value(rule: Rule, way: &[Step], breaks: &mut Vec<Break>) {
    for (name, put, holds) in wrong(rule) {
        breaks.push(Break {
            name: format!("{}: {name}", path(way)),
            way: way.to_vec(),
            deed: Deed::Put(put, holds),
        });
    }
    match rule {
        Rule::Object(fields) => of_fields(fields, way, breaks),
        Rule::List(_, rule) => {
            let way = [way, &[Step::At(0)]].concat();
            let null = Deed::Put(Tree::raw("null"), "null".to_owned());
            breaks.push(Break {
                name: format!("{}: null", path(&way)),
                way: way.clone(),
                deed: null,
            });
            of_value(*rule, &way, breaks);
        }
        Rule::Id
        | Rule::Floor
        | Rule::Word(_)
        | Rule::Flag
        | Rule::Integer(..)
        | Rule::Number(..)
        | Rule::Text(_)
        | Rule::Moment => {}
    }
}

impl Break {
    /// Does it to a good message of the kind.
    pub(crate) fn done(&self, kind: &Kind, good: &Tree) -> Broken {
        let mut tree = good.clone();
        let (begins, holds) = match &self.deed {
            Deed::Remove => {
                tree.remove(&self.way);
                (path(&self.way), "is missing".to_owned())
            }
            Deed::Put(put, holds) => {
                *tree.at(&self.way) = put.clone();
                let is_unseen = matches!(self.way[..], [Step::Key("position"), _, ..]);
                let holds = match holds.as_str() {
                    missing @ "is missing" => missing,
                    _ if is_unseen => "its value is not shown",
                    shown => shown,
                };
                (path(&self.way), holds.to_owned())
            }
            Deed::Twice => {
                let Some((Step::Key(name), parents)) = self.way.split_last() else {
                    panic!("no key: {:?}", self.way);
                };
                let again = tree.at(&self.way).clone();
                tree.at(parents).fields().push(((*name).to_owned(), again));
                (String::new(), format!("\"{name}\" comes twice"))
            }
        };
        // An id that is broken cannot be read, the other one can.
        let id = |name: &str| {
            let is_this = self.way
                == [Step::Key(if name == "order_id" {
                    "order_id"
                } else {
                    "message_id"
                })];
            good.text_of(name).filter(|_| !is_this).map(str::to_owned)
        };
        let refused = Refused {
            code: Code::Malformed,
            message_id: id("message_id"),
            order_id: id("order_id"),
            begins,
            holds,
        };
        Broken::new(kind, tree.write().into_bytes(), Verdict::Refused(refused))
    }
}

/// A name, what is wrong, and what the sentence has to hold of it.
type Wrong = (&'static str, Tree, String);

fn wrong(rule: Rule) -> Vec<Wrong> {
    match rule {
        Rule::Id => [wrong_types("string"), wrong_ids()].concat(),
        Rule::Floor => [wrong_types("string"), wrong_floors()].concat(),
        Rule::Word(words) => [wrong_types("string"), wrong_words(words)].concat(),
        Rule::Flag => wrong_types("flag"),
        Rule::Integer(min, max) => [wrong_types("number"), wrong_integers(min, max)].concat(),
        Rule::Number(min, max) => [wrong_types("number"), wrong_numbers(min, max)].concat(),
        Rule::Text(max) => [wrong_types("string"), wrong_texts(max)].concat(),
        Rule::Moment => [wrong_types("string"), wrong_moments()].concat(),
        Rule::Object(_) => wrong_types("object"),
        Rule::List(max, _) => {
            let long = Tree::List(vec![Tree::text("x"); max + 1]);
            let many = ("one too many", long, (max + 1).to_string());
            [wrong_types("list"), vec![many]].concat()
        }
    }
}

/// A value of every type but one.
fn wrong_types(right: &str) -> Vec<Wrong> {
    let all = [
        ("string", "a string", Tree::text("words"), "\"words\""),
        ("string", "a number as a string", Tree::text("5"), "\"5\""),
        (
            "string",
            "a flag as a string",
            Tree::text("true"),
            "\"true\"",
        ),
        ("number", "a number", Tree::raw("7"), "7"),
        ("number", "a fraction", Tree::raw("2.5"), "2.5"),
        ("flag", "true", Tree::raw("true"), "true"),
        ("flag", "false", Tree::raw("false"), "false"),
        ("list", "a list", Tree::List(Vec::new()), "a list"),
        (
            "list",
            "a list of strings",
            Tree::List(vec![Tree::text("EL001")]),
            "a list",
        ),
        ("object", "an object", Tree::Object(Vec::new()), "an object"),
        (
            "object",
            "an object of objects",
            Tree::raw(r#"{"floor":{"floor":"1F"}}"#),
            "an object",
        ),
    ];
    let others = all.into_iter().filter(|(of, ..)| *of != right);
    others
        .map(|(_, name, put, holds)| (name, put, holds.to_owned()))
        .collect()
}

/// A string, with the head of it that the sentence has to show.
fn string(name: &'static str, text: &str) -> Wrong {
    let plain = text
        .chars()
        .take_while(|c| c.is_ascii_graphic() && !"\"\\".contains(*c));
    let head: String = plain.take(20).collect();
    (name, Tree::text(text), format!("\"{head}"))
}

/// Characters that no identifier and no floor label has.
const STRANGE: &[(&str, &str)] = &[
    ("empty", ""),
    ("a space", "EL 1"),
    ("a plus", "EL+1"),
    ("a hash", "EL#1"),
    ("a slash", "EL/1"),
    ("a dollar", "$1"),
    ("a NUL", "EL\0"),
    ("a line feed", "EL\n1"),
    ("CRLF and a log line", "E\r\nWARN"),
    ("an escape sequence", "E\u{1b}[2J"),
    ("a C1 control", "E\u{9b}2J"),
    ("a quotation mark", "E\"1"),
    ("a backslash", "E\\1"),
    ("a line separator", "E\u{2028}1"),
    ("right to left", "E\u{202e}1"),
    ("an isolate", "E\u{2066}1"),
    ("zero width", "E\u{200b}1"),
    ("a byte order mark", "\u{feff}1F"),
    ("a Cyrillic homoglyph", "\u{415}L1"),
    ("a full width letter", "\u{ff25}1"),
    ("a combining accent", "E\u{301}"),
    ("an emoji", "\u{1f6d7}"),
    ("trailing space", "E1 "),
];

fn wrong_ids() -> Vec<Wrong> {
    let mut wrong: Vec<_> = STRANGE
        .iter()
        .map(|(name, text)| string(name, text))
        .collect();
    for (name, bytes) in [
        ("65 bytes", 65),
        ("66 bytes", 66),
        ("1000 bytes", 1_000),
        ("10 KiB", 10_240),
    ] {
        let (_, put, _) = string(name, &"x".repeat(bytes));
        wrong.push((name, put, format!("{bytes} bytes")));
    }
    wrong
}

fn wrong_floors() -> Vec<Wrong> {
    let mut wrong: Vec<_> = STRANGE
        .iter()
        .map(|(name, text)| string(name, text))
        .collect();
    let more = [
        ("a dot", "1.F"),
        ("a colon", "1:F"),
        ("9 bytes", "123456789"),
    ];
    wrong.extend(more.map(|(name, text)| string(name, text)));
    wrong.push(string("2 KiB", &"F".repeat(2_048)));
    wrong
}

fn wrong_words(words: &[&'static str]) -> Vec<Wrong> {
    let word = words[0];
    let other_case = if word.to_uppercase() == word {
        word.to_lowercase()
    } else {
        word.to_uppercase()
    };
    // The first letter o, c, a, e, p or x of it as a Cyrillic one.
    let homoglyph = word
        .replacen(['o', 'O'], "\u{43e}", 1)
        .replacen(['e', 'E'], "\u{435}", 1);
    vec![
        string("an unknown word", "sideways"),
        string("empty", ""),
        string("the other case", &other_case),
        string("a space before", &format!(" {word}")),
        string("a NUL behind", &format!("{word}\0")),
        string("two words", &format!("{word},{word}")),
        string("a homoglyph", &format!("{homoglyph}\u{430}")),
        string("a line feed", &format!("{word}\n")),
        string("4 KiB", &word.repeat(4_096 / word.len())),
    ]
}

/// Numbers as they are written, and the part of them that a sentence shows however it writes them.
fn wrong_integers(min: u64, max: u64) -> Vec<Wrong> {
    let raw = |name, text: &str, holds: &str| (name, Tree::raw(text), holds.to_owned());
    let mut wrong = vec![
        raw("negative", "-1", "-1"),
        raw("the least of 32 bits", "-2147483648", "-2147483648"),
        raw(
            "the least of 64 bits",
            "-9223372036854775808",
            "-9223372036854775808",
        ),
        raw("minus nought", "-0", "-0"),
        raw("a fraction of nought", "5.0", "5.0"),
        raw("an exponent", "1e1", "10"),
        raw("a capital exponent", "1E+1", "10"),
        raw("65 bits", "18446744073709551616", "8446744073709552"),
        raw("30 digits", "111111111111111111111111111111", "11111111111"),
        raw("300 digits", &"9".repeat(300), "is "),
        raw("nearly nothing", "1e-320", "is "),
        raw("as a string", "\"1\"", "\"1\""),
        raw("hexadecimal as a string", "\"0x10\"", "\"0x10\""),
    ];
    if let Some(more) = max.checked_add(1) {
        let more = more.to_string();
        wrong.push(raw("one more", &more, &more));
    }
    if let Some(less) = min.checked_sub(1) {
        let less = less.to_string();
        wrong.push(raw("one less", &less, &less));
    }
    wrong
}

fn wrong_numbers(min: f64, max: f64) -> Vec<Wrong> {
    // As strings they are no numbers, whatever the range.
    let mut wrong = vec![
        string("NaN as a string", "NaN"),
        string("infinity as a string", "Infinity"),
    ];
    if (min, max) == (0.0, 100.0) {
        for (name, text, holds) in [
            ("a little less", "-0.001", "-0.001"),
            ("a little more", "100.00001", "100.00001"),
            (
                "the largest",
                "1.7976931348623157e308",
                "1.7976931348623157e308",
            ),
            (
                "the smallest",
                "-1.7976931348623157e308",
                "-1.7976931348623157e308",
            ),
            ("65 bits", "18446744073709551616", "8446744073709552"),
        ] {
            wrong.push((name, Tree::raw(text), holds.to_owned()));
        }
    }
    wrong
}

fn wrong_texts(max: usize) -> Vec<Wrong> {
    let bytes = |name, text: String| {
        let holds = format!("{} bytes", text.len());
        (name, Tree::Text(text), holds)
    };
    vec![
        bytes("one byte too many", "x".repeat(max + 1)),
        bytes(
            "one character too many, of two bytes",
            "é".repeat(max / 2 + 1),
        ),
        bytes("emojis", "\u{1f6d7}".repeat(max / 4 + 1)),
        bytes("control characters", "\u{1b}".repeat(max + 1)),
        bytes("8 KiB", "电".repeat(2_731)),
    ]
}

fn wrong_moments() -> Vec<Wrong> {
    [
        ("empty", ""),
        ("no time", "2026-11-30"),
        ("no offset", "2026-11-30T10:00:00"),
        ("no seconds", "2026-11-30T10:00Z"),
        ("basic form", "20261130T100000Z"),
        ("month 13", "2026-13-30T10:00:00Z"),
        ("month 0", "2026-00-30T10:00:00Z"),
        ("31 November", "2026-11-31T10:00:00Z"),
        ("29 February of no leap year", "2026-02-29T10:00:00Z"),
        ("hour 24", "2026-11-30T24:00:00Z"),
        ("minute 60", "2026-11-30T10:60:00Z"),
        ("second 61", "2026-11-30T10:00:61Z"),
        ("10 fraction digits", "2026-11-30T10:00:00.0123456789Z"),
        ("a fraction without digits", "2026-11-30T10:00:00.Z"),
        ("a fraction behind a comma", "2026-11-30T10:00:00,5Z"),
        ("1969", "1969-12-31T23:59:59.999Z"),
        ("1969 by its offset", "1970-01-01T00:59:59+01:00"),
        ("10000", "10000-01-01T00:00:00Z"),
        ("10000 by its offset", "9999-12-31T23:59:59-01:00"),
        ("two-digit year", "26-11-30T10:00:00Z"),
        ("negative year", "-2026-11-30T10:00:00Z"),
        ("offset of 25 hours", "2026-11-30T10:00:00+25:00"),
        ("offset without colon", "2026-11-30T10:00:00+0100"),
        ("offset by name", "2026-11-30T10:00:00CET"),
        ("space around", " 2026-11-30T10:00:00Z "),
        ("behind it more", "2026-11-30T10:00:00Z\0"),
        ("full width digits", "２０２６-11-30T10:00:00Z"),
        ("seconds since 1970", "1796032800"),
        ("words", "now"),
        ("a log line", "2026-11-30T10:00:00Z\nERROR"),
    ]
    .map(|(name, text)| string(name, text))
    .to_vec()
}
