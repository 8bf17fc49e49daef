//! Where something listens: a host and a port.

use std::net::Ipv6Addr;

/// Bytes of a host name (RFC 1035 section 2.3.4).
const HOST_BYTES_MAX: usize = 253;

/// Takes `host`, `host:port` or `[address]:port` apart; `None` where it is none of them. The host
/// of an IPv6 address comes without brackets.
pub(super) fn host_and_port(text: &str, port_default: u16) -> Option<(String, u16)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        let address: Ipv6Addr = host.parse().ok()?;
        let port = match port.strip_prefix(':') {
            Some(port) => read_port(port)?,
            None => port.is_empty().then_some(port_default)?,
        };
        return Some((address.to_string(), port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, read_port(port)?),
        None => (text, port_default),
    };
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_host = (1..=HOST_BYTES_MAX).contains(&host.len()) && host.bytes().all(good);
    is_host.then(|| (host.to_owned(), port))
}

fn read_port(text: &str) -> Option<u16> {
    text.parse()
        .ok()
        .filter(|port| *port > 0 && !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn hosts_and_ports_are_taken_apart() {
        let read = |text| host_and_port(text, 502);
        let is = |host: &str, port| Some((host.to_owned(), port));
        assert_eq!(read("10.0.0.7:1502"), is("10.0.0.7", 1502));
        assert_eq!(read("plc-1.example"), is("plc-1.example", 502));
        assert_eq!(read("[::1]:1502"), is("::1", 1502));
        assert_eq!(read("[fe80::2]"), is("fe80::2", 502));
        for bad in [
            "",
            ":502",
            "host:",
            "host:0",
            "host:65536",
            "host:+1",
            "host:1:2",
            "a b:1",
            "::1",
            "[::1",
            "[::1]x",
            "[nine]:1",
            "user@host:1",
            "host:1/path",
            "host/path",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
