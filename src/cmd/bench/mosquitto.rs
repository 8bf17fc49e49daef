//! A Mosquitto of the measurement's own, with the settings of `configs/mosquitto/` and no
//! passwords.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::cmd::demo::free_address;

/// Where packages put it; not on everybody's search path.
const PLACES: [&str; 3] = [
    "/usr/sbin/mosquitto",
    "/usr/local/sbin/mosquitto",
    "/opt/homebrew/sbin/mosquitto",
];
/// For it to listen.
const START: Duration = Duration::from_secs(10);
/// Between two looks whether it does.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The process; it is killed when dropped.
pub(super) struct Mosquitto {
    child: Child,
    address: SocketAddr,
}

/// Where it is installed.
pub(super) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join("mosquitto"));
    PLACES
        .iter()
        .map(PathBuf::from)
        .chain(in_path)
        .find(|program| program.is_file())
}

impl Mosquitto {
    /// Starts it; its files are in the folder.
    ///
    /// # Errors
    /// Where it does not listen.
    pub(super) fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("mosquitto");
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let address = free_address()?;
        let user = if rustix::process::getuid().is_root() {
            "user root\n"
        } else {
            ""
        };
        let text = format!(
            "{user}per_listener_settings true\nlistener {} {}\nallow_anonymous true\n\
             max_inflight_messages 200\nmax_queued_messages 100000\nset_tcp_nodelay true\n\
             message_size_limit 1048576\npersistence true\npersistence_location {}/\n\
             log_type error\nlog_type warning\n",
            address.port(),
            address.ip(),
            folder.display(),
        );
        let conf = folder.join("mosquitto.conf");
        fs::write(&conf, text).with_context(|| conf.display().to_string())?;
        let log = folder.join("log");
        let child = Command::new(program)
            .arg("-c")
            .arg(&conf)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("{} does not start", program.display()))?;
        let mut broker = Self { child, address };
        let deadline = Instant::now() + START;
        while std::net::TcpStream::connect(address).is_err() {
            if broker.child.try_wait()?.is_some() || Instant::now() > deadline {
                let said = fs::read_to_string(&log).unwrap_or_default();
                bail!("{} does not listen: {said}", program.display());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(broker)
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
