//! RTU lines over what they go over in the field: a port with a name that stays, a TCP connection.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;

use super::*;
use crate::rtu::serial::SerialConfig;
use crate::rtu::tests::peer::{Emit, Peer, obey};

fn line_over(transport: Transport) -> Bus {
    let config = LineConfig {
        transport,
        units: vec![unit(1, MAP)],
        zones: Vec::new(),
        timing: LineTiming {
            request_ms: 800,
            ..TIMING
        },
        seed: 7,
    };
    Bus::new(config, Arc::new(|| 1_000)).unwrap()
}

fn is_bus(reports: &[DriverReport], up: bool) -> bool {
    reports.contains(&DriverReport::Bus { up })
}

/// The far end of a new pseudo terminal, which answers every request of eight bytes until it is
/// told to go; its port has the name `link`.
fn plug_in(link: &Path) -> OwnedFd {
    let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&far).unwrap();
    unlockpt(&far).unwrap();
    let name = ptsname(&far, Vec::new()).unwrap();
    let name = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    let _ = std::fs::remove_file(link);
    symlink(name, link).unwrap();
    far
}

/// Answers `count` requests, and is pulled out.
fn answer(far: OwnedFd, count: usize) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut far = File::from(far);
        let mut frame = [0; 8];
        // Before the port is open on the other side, and after it, reading is an error.
        while far.read_exact(&mut frame).is_err() {
            std::thread::yield_now();
        }
        for _ in 1..count {
            far.write_all(&obey(&frame, 1)).unwrap();
            if far.read_exact(&mut frame).is_err() {
                return;
            }
        }
    })
}

/// An adapter is pulled out, and is back under its name.
#[tokio::test]
async fn a_port_that_is_pulled_out_is_used_again_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("adapter");
    let mut line = line_over(Transport::Serial(SerialConfig::new(&name, 115_200)));
    let reports = run_until(&mut line, |reports| is_bus(reports, false)).await;
    assert!(!is_bus(&reports, true));
    for _ in 0..3 {
        let server = answer(plug_in(&name), 8);
        let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
        assert!(is_bus(&reports, true), "{reports:?}");
        run_until(&mut line, |reports| is_bus(reports, false)).await;
        server.join().unwrap();
    }
    let _server = answer(plug_in(&name), 1_000);
    run_until(&mut line, |reports| has_reading(reports, 1)).await;
    open_door(&mut line).await;
}

/// Commands until one is accepted: a machine that is busy may not run the other end for as long as
/// a unit is waited for.
async fn open_door(line: &mut Bus) {
    let open = command(1, Action::OpenDoor { landing: at("1F") });
    let accepted = async {
        while execute(line, open.clone()).await.0 != Outcome::Accepted {
            line.ready().await;
            line.read(&mut Vec::new()).await;
        }
    };
    timeout(PATIENCE, accepted).await.unwrap();
}

/// The same frames, checksum and all, over TCP; a converter that closes is asked again.
#[tokio::test]
async fn rtu_frames_go_over_tcp_as_they_are() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (log, mut frames) = tokio::sync::mpsc::unbounded_channel();
    let converter = tokio::spawn(async move {
        // Each connection passes 6 requests on and ends.
        while let Ok((mut stream, _)) = listener.accept().await {
            let log = log.clone();
            let (end, mut ended) = tokio::sync::mpsc::channel(1);
            let (mut near, _peer) = Peer::start(move |number, frame| {
                log.send(frame.to_vec()).unwrap();
                if number == 5 {
                    let _ = end.try_send(());
                }
                vec![Emit::after(1, obey(frame, 1))]
            });
            tokio::select! {
                _ = copy_bidirectional(&mut stream, &mut near) => {}
                _ = ended.recv() => {}
            }
        }
    });
    let mut line = line_over(Transport::RtuOverTcp { address });
    for _ in 0..4 {
        run_until(&mut line, |reports| has_reading(reports, 1)).await;
        let open = command(1, Action::OpenDoor { landing: at("1F") });
        execute(&mut line, open).await;
    }
    open_door(&mut line).await;
    let mut seen = Vec::new();
    while let Ok(frame) = frames.try_recv() {
        seen.push(frame);
    }
    // Discrete inputs 0 to 3, input register 0, coil 48: with their checksums.
    for frame in [
        [1, 2, 0, 0, 0, 4, 0x79, 0xC9],
        [1, 4, 0, 0, 0, 1, 0x31, 0xCA],
        [1, 5, 0, 48, 0xFF, 0, 0x8C, 0x35],
    ] {
        assert!(
            seen.contains(&frame.to_vec()),
            "{frame:02x?} in {seen:02x?}"
        );
    }
    converter.abort();
}
