//! What is wrong with the file as such.

use std::fs;
use std::path::Path;

use hallcall::config::Config;

use super::{ELEVATOR, GATEWAY, Site, assert_beside_refused, assert_elevator_refused};

#[test]
fn what_is_no_toml_is_one_mistake_with_its_line() {
    let site = Site::new("[gateway]\nsite = \"demo\"\nid = \n[mqtt]\nlisten = 3\n");
    let mistakes = Config::load(&site.path("site.toml")).expect_err("no TOML");
    let [mistake] = mistakes.as_slice() else {
        panic!("{mistakes:#?}")
    };
    assert_eq!((mistake.line, mistake.key.as_str()), (3, "(syntax)"));
    assert_eq!(mistake.value, "id =");
    assert!(
        mistake.expected.starts_with("TOML: "),
        "{}",
        mistake.expected
    );

    let site = Site::new("[gateway]\nsite = \"demo\"\nsite = \"demo\"\n");
    let mistakes = Config::load(&site.path("site.toml")).expect_err("a key twice");
    assert_eq!(mistakes.iter().map(|m| m.line).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_file_that_cannot_be_read_is_one_mistake() {
    for (path, expected) in [
        (
            "no/such/file.toml",
            "no/such/file.toml:1: (file) = no/such/file.toml: expected a file that exists",
        ),
        ("tests", "tests:1: (file) = tests: expected a regular file"),
    ] {
        let mistakes = Config::load(Path::new(path)).expect_err(path);
        assert_eq!(
            mistakes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [expected]
        );
    }
    let site = Site::new("");
    fs::write(site.path("site.toml"), [0xff, 0xfe]).expect("bytes");
    assert_eq!(site.mistakes().len(), 1);
    assert!(
        site.mistakes()[0].ends_with("expected a text in UTF-8"),
        "{:?}",
        site.mistakes()
    );
}

#[test]
fn gateway_site_and_elevators_may_not_be_left_out() {
    assert_eq!(
        Site::new("").mistakes(),
        [
            "gateway.site = (left out): expected the site's identifier",
            "elevators = (left out): expected at least one [[elevators]]",
        ]
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    assert_beside_refused(
        "[limit]\nqueue = 5\n",
        "limit = [limit]: expected one of the known keys, the nearest is limits",
    );
    assert_elevator_refused(
        "hold_max = 8",
        "elevators[0].hold_max = 8: expected one of the known keys, the nearest is hold_max_s",
    );
    assert_beside_refused(
        "[limits]\ncolour = \"red\"\n",
        "limits.colour = \"red\": expected one of the keys queue, robot_messages_per_s, \
         client_messages_per_s, dedup_retention_s",
    );
    assert_elevator_refused(
        "driver = { kind = \"mqtt\", bus = \"b1\" }",
        "elevators[0].driver.bus = \"b1\": expected one of the keys kind",
    );
}

/// A key is quoted as it likes; on a terminal and in a log it stays one line (B6, 12).
#[test]
fn a_key_cannot_write_lines_or_tell_a_terminal_what_to_do() {
    let site = Site::new("\"a\\n\\u001b[2J\" = 1\n");
    let expected = r"a\n\u{1b}[2J = 1: expected one of the keys gateway";
    let mistakes = site.mistakes();
    assert!(
        mistakes.iter().any(|told| told.starts_with(expected)),
        "{mistakes:?}"
    );

    let long = Site::new(&format!("{} = 1\n", "k".repeat(100_000)));
    assert!(long.mistakes().iter().all(|told| told.len() < 500));
}

#[test]
fn two_hundred_mistakes_are_told_and_that_there_are_more() {
    let keys: String = (0..5_000).map(|n| format!("key{n} = 1\n")).collect();
    let mistakes = Site::new(&format!("{keys}{GATEWAY}{ELEVATOR}")).mistakes();
    assert_eq!(mistakes.len(), 201);
    let last = mistakes.last().map(String::as_str).unwrap_or_default();
    assert!(
        last.ends_with("expected fewer mistakes, 200 are told and there are more"),
        "{last}"
    );
}
