//! Real ports and real time, with a master of a few lines.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use tokio::net::TcpListener;

use super::{FIVE, FIVE_OF_2, READ_5, READ_5_OF_2, building};
use crate::live::modbus::Unit;
use crate::live::rtu::{LineRecord, LineSettings, Plan, Pty, RtuLine, Speed};

fn line(baud: u32) -> Arc<RtuLine> {
    let units = BTreeMap::from([(1, Unit::Plain), (2, Unit::Plain)]);
    let settings = LineSettings {
        speed: Speed::new(baud).unwrap(),
        ..LineSettings::default()
    };
    RtuLine::new(building(), units, &settings, Plan::new(1)).unwrap()
}

/// Asks, and waits for an answer of 7 bytes. The port does not block.
fn ask(port: &mut (impl Read + Write), request: &[u8]) -> (Vec<u8>, Duration) {
    let begun = Instant::now();
    port.write_all(request).unwrap();
    let (mut answer, mut part) = (Vec::new(), [0; 7]);
    while answer.len() < 7 {
        let count = wait_to_read(port, &mut part);
        answer.extend(&part[..count]);
    }
    (answer, begun.elapsed())
}

fn wait_to_read(port: &mut impl Read, part: &mut [u8]) -> usize {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match port.read(part) {
            Ok(count) => return count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                assert!(Instant::now() < deadline, "no answer");
                std::thread::sleep(Duration::from_micros(50));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Runs a master beside the line.
async fn beside<T: Send + 'static>(master: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(master).await.unwrap()
}

fn open(path: &Path) -> File {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).write(true);
    options.custom_flags(i32::try_from(flags.bits()).unwrap());
    options.open(path).unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pty_is_opened_closed_and_opened_again_and_its_name_goes_with_it() {
    let folder = std::env::temp_dir().join(format!("hallcall-rtu-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let name = folder.join("usb-adapter");
    let line = line(115_200);
    let serve = tokio::spawn(Arc::clone(&line).serve_pty(Pty::linked(&name).unwrap()));
    for _ in 0..3 {
        let at = name.clone();
        let answers = beside(move || {
            let mut port = open(&at);
            [READ_5, READ_5_OF_2].map(|request| {
                std::thread::sleep(Duration::from_millis(5));
                ask(&mut port, &request).0
            })
        });
        assert_eq!(answers.await, [FIVE.to_vec(), FIVE_OF_2.to_vec()]);
    }
    assert_eq!(line.record(|record| record.requests[&1]), 3);
    assert_eq!(line.record(|record| record.breach_count()), 0);
    serve.abort();
    let _ = serve.await;
    assert!(fs::symlink_metadata(&name).is_err(), "the link is gone");
    fs::write(&name, "").unwrap();
    let refused = Pty::linked(&name).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pace_on_a_real_port_is_that_of_the_baud_rate() {
    let line = line(19_200);
    let pty = Pty::open().unwrap();
    let path = pty.path().to_owned();
    tokio::spawn(Arc::clone(&line).serve_pty(pty));
    let taken = beside(move || {
        let mut port = open(&path);
        let mut taken = Vec::new();
        for _ in 0..30 {
            let (answer, took) = ask(&mut port, &READ_5);
            assert_eq!(answer, FIVE);
            taken.push(took);
            std::thread::sleep(Duration::from_millis(3));
        }
        taken
    })
    .await;
    // 15 characters, 3.5 of silence, 5 ms: 18.5 x 11 / 19200 s + 5 ms = 15.599 ms.
    let floor = Duration::from_nanos(15_598_958);
    assert!(taken.iter().all(|took| *took >= floor), "{taken:?}");
    // The machine may be busy; once in thirty it is not.
    let best = taken.iter().min().unwrap();
    assert!(*best < floor.mul_f64(1.1), "{taken:?}");
    assert_eq!(line.record(|record| record.breach_count()), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tcp_the_newest_master_has_the_line() {
    let line = line(115_200);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Arc::clone(&line).serve_tcp(listener));
    let answers = beside(move || {
        let mut first = connect(address);
        let heard = ask(&mut first, &READ_5).0;
        std::thread::sleep(Duration::from_millis(5));
        let mut second = connect(address);
        let heard = [heard, ask(&mut second, &READ_5_OF_2).0];
        let left = wait_to_read(&mut first, &mut [0; 8]);
        assert_eq!(left, 0, "the first one was let go");
        heard
    });
    assert_eq!(answers.await, [FIVE.to_vec(), FIVE_OF_2.to_vec()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_does_not_read_does_not_stop_the_line() {
    let line = line(1_000_000);
    let pty = Pty::open().unwrap();
    let path = pty.path().to_owned();
    tokio::spawn(Arc::clone(&line).serve_pty(pty));
    // More than a port's buffer holds.
    line.intrude(&[0x5A; 40_000]);
    let said = || {
        let bytes = |record: &LineRecord| {
            record
                .frames()
                .map(|spoken| spoken.bytes.len())
                .sum::<usize>()
        };
        line.record(bytes)
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while said() < 40_000 {
        assert!(Instant::now() < deadline, "the line stands still");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(line.record(|record| record.overrun) > 0);
    let heard = beside(move || {
        let mut port = open(&path);
        port.write_all(&READ_5).unwrap();
        let (mut heard, mut part) = (Vec::new(), [0; 4_096]);
        while !heard.ends_with(&FIVE) {
            let count = wait_to_read(&mut port, &mut part);
            heard.extend(&part[..count]);
        }
        heard
    })
    .await;
    assert!(heard.len() < 40_000, "{}", heard.len());
}
