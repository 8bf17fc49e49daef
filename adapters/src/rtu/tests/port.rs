//! Ports, over pseudo terminals. RS485 and parity need a real port; what is seen here is that a
//! port that has none of them says so.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::ControlModes;

use super::peer::obey;
use super::serial::{Parity, Rs485, SerialConfig, open};
use super::*;

/// The other end of a pseudo terminal, and the name of its port.
pub(crate) fn terminal() -> (OwnedFd, PathBuf) {
    let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&far).unwrap();
    unlockpt(&far).unwrap();
    let name = ptsname(&far, Vec::new()).unwrap();
    (far, PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// Answers `count` requests of eight bytes.
fn serve(far: OwnedFd, count: usize) -> std::thread::JoinHandle<OwnedFd> {
    std::thread::spawn(move || {
        let mut far = std::fs::File::from(far);
        for number in 0..count {
            let mut frame = [0; 8];
            far.read_exact(&mut frame).unwrap();
            let word = u16::try_from(number).unwrap();
            // Bytes that a terminal would take for its own: end of file, interrupt, line ends.
            far.write_all(&obey(&frame, 0x0D00 + word)).unwrap();
        }
        far.into()
    })
}

#[tokio::test]
async fn a_port_passes_every_byte_as_it_is() {
    let (far, path) = terminal();
    for parity in [Parity::None, Parity::Even, Parity::Odd] {
        let config = SerialConfig {
            parity,
            two_stop_bits: true,
            ..SerialConfig::new(&path, 19_200)
        };
        drop(open(&config).await.unwrap());
    }
    let port = open(&SerialConfig::new(&path, 19_200)).await.unwrap();
    let server = serve(far, 40);
    assert_eq!(port.timing(), RtuTiming::serial(19_200));
    // A machine that is busy may not run the other end for a while.
    let patient = RtuTiming {
        min: ms(20_000),
        max: ms(20_000),
        ..port.timing()
    };
    let mut master = RtuMaster::new(patient);
    let modes = rustix::termios::tcgetattr(std::fs::File::open(&path).unwrap()).unwrap();
    let wanted = ControlModes::CLOCAL | ControlModes::CREAD | ControlModes::CS8;
    assert!(modes.control_modes.contains(wanted), "{modes:?}");
    assert_eq!(modes.output_speed(), 19_200);
    master.attach(port);
    for number in 0..40 {
        let reply = master.request(3, &read_three()).await;
        assert_eq!(reply, Ok(Reply::Points(vec![0x0D00 + number; 3])));
    }
    server.join().unwrap();
}

#[tokio::test]
async fn a_port_is_locked_while_it_is_open() {
    let (_far, path) = terminal();
    let config = SerialConfig::new(&path, 9_600);
    let first = open(&config).await.unwrap();
    let error = open(&config).await.unwrap_err();
    let expected = format!("{} is in use by another program", path.display());
    assert_eq!(error.to_string(), expected);
    drop(first);
    open(&config).await.unwrap();
}

#[tokio::test]
async fn a_port_that_cannot_do_what_is_asked_says_so() {
    let (_far, path) = terminal();
    let config = SerialConfig {
        rs485: Some(Rs485::default()),
        ..SerialConfig::new(&path, 9_600)
    };
    let said = open(&config).await.unwrap_err().to_string();
    assert!(said.contains("cannot switch to RS485 by itself"), "{said}");
    let missing = SerialConfig::new("/dev/serial/by-id/none", 9_600);
    let said = open(&missing).await.unwrap_err().to_string();
    let expected = "/dev/serial/by-id/none cannot be opened";
    assert!(said.starts_with(expected), "{said}");
    let said = open(&SerialConfig::new("/dev/null", 9_600))
        .await
        .unwrap_err();
    assert!(said.to_string().starts_with("/dev/null "), "{said}");
}

/// A port that is pulled out is an error and no silence.
#[tokio::test]
async fn a_port_that_goes_away_is_told() {
    let (far, path) = terminal();
    let port = open(&SerialConfig::new(&path, 19_200)).await.unwrap();
    let mut master = RtuMaster::new(port.timing());
    master.attach(port);
    drop(far);
    let result = master.request(1, &read_three()).await;
    assert!(
        matches!(result, Err(RtuError::NotSent(_) | RtuError::Gone(_))),
        "{result:?}"
    );
    assert!(!master.is_attached());
}
