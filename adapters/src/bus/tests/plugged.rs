//! A serial port by a name that stays, as those below `/dev/serial/by-id` do.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};

use super::*;
use crate::rtu::serial::SerialConfig;
use crate::rtu::tests::peer::obey;
use crate::rtu::tests::port::terminal;

/// An adapter that is plugged in under a name, with a unit behind it.
struct Adapter {
    is_pulled: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Adapter {
    fn plug(name: &Path) -> Self {
        let (far, port) = terminal();
        symlink(port, name).unwrap();
        let is_pulled = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_pulled);
        let thread = thread::spawn(move || serve(far, &told));
        Self { is_pulled, thread }
    }

    /// Pulls it out at the next request; its name goes with it.
    fn pull(&self, name: &Path) {
        fs::remove_file(name).unwrap();
        self.is_pulled.store(true, Ordering::SeqCst);
    }
}

fn serve(far: OwnedFd, is_pulled: &AtomicBool) {
    let mut far = File::from(far);
    let mut frame = [0; 8];
    while far.read_exact(&mut frame).is_ok() && !is_pulled.load(Ordering::SeqCst) {
        far.write_all(&obey(&frame, 0)).unwrap();
    }
}

#[tokio::test]
async fn an_adapter_that_is_pulled_out_and_plugged_in_again_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("usb-adapter");
    let config = LineConfig {
        transport: Transport::Serial(SerialConfig::new(&name, 115_200)),
        units: vec![unit(1, MAP)],
        zones: Vec::new(),
        timing: LineTiming {
            request_ms: 800,
            ..TIMING
        },
        seed: 7,
    };
    let ticks = AtomicU64::new(1_000);
    let clock = move || ticks.fetch_add(1, Ordering::Relaxed);
    let mut line = Bus::new(config, Arc::new(clock)).unwrap();
    let bus = |up| DriverReport::Bus { up };
    for _ in 0..3 {
        let adapter = Adapter::plug(&name);
        let reports = run_until(&mut line, |reports| has_reading(reports, 1)).await;
        assert!(reports.contains(&bus(true)) && reports.contains(&link(1, true)));
        adapter.pull(&name);
        let reports = run_until(&mut line, |reports| reports.contains(&bus(false))).await;
        assert!(reports.contains(&link(1, false)), "{reports:?}");
        adapter.thread.join().unwrap();
    }
}
