//! `[http]` and `[[clients]]`.

use super::{ELEVATOR, GATEWAY, Site, assert_beside_refused};

const CLIENT: &str = "[[clients]]\nid = \"app-1\"\ntoken_file = \"token\"\n";

fn site(text: &str, token: &str, mode: u32) -> Site {
    let site = Site::new(&format!("{GATEWAY}{ELEVATOR}{text}"));
    site.write("token", token, mode);
    site
}

#[test]
fn without_the_section_there_is_no_http() {
    assert_eq!(site("", "", 0o600).config().http, None);
    assert_eq!(site(CLIENT, "0123456789abcdef", 0o600).config().http, None);
    let text = format!("[http]\n{CLIENT}");
    let http = site(&text, "0123456789abcdef\n", 0o600).config().http;
    let http = http.expect("a section");
    assert_eq!(http.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(http.clients.len(), 1);
    let shown = format!("{http:?}");
    assert!(
        shown.contains("Token(..)") && !shown.contains("0123"),
        "{shown}"
    );
}

#[test]
fn beyond_loopback_only_where_that_is_asked_for() {
    let far = "[http]\nlisten = \"0.0.0.0:8080\"\n";
    assert_beside_refused(
        far,
        "http.listen = \"0.0.0.0:8080\": expected an address of this machine alone (127.0.0.1 or \
         [::1]), with a proxy before it that speaks TLS: tokens cross the network readable; \
         http.insecure_remote = true allows it",
    );
    let http = site(&format!("{far}insecure_remote = true\n"), "", 0o600);
    assert!(http.config().http.is_some());
    assert_beside_refused(
        "[http]\nlisten = \"here\"\n",
        "http.listen = \"here\": expected an IP address and a port, such as \"127.0.0.1:8080\"",
    );
}

#[test]
fn tokens_are_secrets() {
    let text = format!("[http]\n{CLIENT}");
    for (token, mode, expected) in [
        (
            "0123456789abcdef",
            0o644,
            "a file of mode 0600, its mode is 0644",
        ),
        (
            "0123456789abcde",
            0o600,
            "a file with one line, a token of 16 to 256 visible ASCII characters",
        ),
        (
            "0123456789 abcdef",
            0o600,
            "a file with one line, a token of 16 to 256 visible ASCII characters",
        ),
    ] {
        assert_eq!(
            site(&text, token, mode).mistakes(),
            [format!(
                "clients[0].token_file = \"token\": expected {expected}"
            )]
        );
    }
    let twice = format!("{text}[[clients]]\nid = \"app-2\"\ntoken_file = \"token\"\n");
    assert_eq!(
        site(&twice, "0123456789abcdef", 0o600).mistakes(),
        [
            "clients[1].token_file = \"token\": expected a file with a token that no client above has"
        ]
    );
    let twice = format!("{text}{CLIENT}");
    assert_eq!(
        site(&twice, "0123456789abcdef", 0o600)
            .mistakes()
            .first()
            .map(String::as_str),
        Some("clients[1].id = \"app-1\": expected an identifier that no client above has")
    );
}
