//! The program under test, as a process.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;

use rustix::process::Signal;
use tempfile::TempDir;

use super::{Mosquitto, SOON, wait_for};

/// What the gateway logs; a test may ask for something else.
const LOG: &str = "HALLCALL_LOG";

/// A configuration, with floors 1F and 6F, and a place for the data.
pub struct Site {
    dir: TempDir,
    broker: String,
    elevators: String,
    more: String,
    name: String,
}

impl Site {
    pub fn new(broker: &Mosquitto) -> Self {
        Self::with_broker(&format!("broker = \"mqtt://127.0.0.1:{}\"", broker.port()))
    }

    /// With these lines in `[mqtt]`.
    pub fn with_broker(lines: &str) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            broker: lines.to_owned(),
            elevators: String::new(),
            more: String::new(),
            name: "gw-1".to_owned(),
        }
    }

    /// Another gateway id than `gw-1`.
    #[must_use]
    pub fn gateway(mut self, id: &str) -> Self {
        id.clone_into(&mut self.name);
        self
    }

    /// One more elevator whose controller speaks MQTT.
    #[must_use]
    pub fn elevator(self, id: &str) -> Self {
        self.elevator_with(id, "driver = { kind = \"mqtt\" }\n")
    }

    /// One more elevator, with these lines.
    #[must_use]
    pub fn elevator_with(mut self, id: &str, lines: &str) -> Self {
        write!(
            self.elevators,
            "[[elevators]]\nid = \"{id}\"\n\
             floors = [ {{ label = \"1F\", sides = [\"front\"], height_m = 0.0 }}, \
             {{ label = \"6F\", sides = [\"front\"], height_m = 17.5 }} ]\n{lines}\n"
        )
        .unwrap();
        self
    }

    /// More lines, such as `[timing]` with its keys.
    #[must_use]
    pub fn with(mut self, lines: &str) -> Self {
        self.more.push_str(lines);
        self.more.push('\n');
        self
    }

    /// The same site and data with another broker.
    #[must_use]
    pub fn move_to(mut self, broker: &Mosquitto) -> Self {
        self.broker = format!("broker = \"mqtt://127.0.0.1:{}\"", broker.port());
        self
    }

    /// A file beside the configuration that only its owner may read.
    #[must_use]
    pub fn secret(self, name: &str, text: &str) -> Self {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        self
    }

    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Writes the file and says where it is.
    pub fn config(&self) -> PathBuf {
        let path = self.dir.path().join("hallcall.toml");
        let text = format!(
            "[gateway]\nid = \"{}\"\nsite = \"demo\"\ndata_dir = \"{}\"\n[mqtt]\n{}\n{}\n{}",
            self.name,
            self.data_dir().display(),
            self.broker,
            self.more,
            self.elevators,
        );
        fs::write(&path, text).unwrap();
        path
    }
}

/// A running gateway; it is killed when dropped.
pub struct Gateway {
    child: Child,
    log: PathBuf,
}

impl Gateway {
    /// Starts it and waits until it says that it is ready.
    #[track_caller]
    pub fn start(site: &Site) -> Self {
        Self::start_with(site, &[])
    }

    /// The same with more arguments.
    #[track_caller]
    pub fn start_with(site: &Site, arguments: &[&str]) -> Self {
        let (gateway, lines) = Self::launch(site, arguments);
        gateway.get_ready(&lines)
    }

    #[track_caller]
    fn get_ready(mut self, lines: &mpsc::Receiver<String>) -> Self {
        if !lines
            .recv_timeout(SOON)
            .is_ok_and(|line| line.contains("ready"))
        {
            let _ = self.child.kill();
            panic!("the gateway does not get ready; it says:\n{}", self.log());
        }
        self
    }

    /// The same, and none of its files may grow beyond so many KiB.
    #[track_caller]
    pub fn start_limited(site: &Site, kib: u64) -> Self {
        // Where SIGXFSZ is ignored, a write beyond the limit is an error.
        let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
        let mut command = Command::new("bash");
        command
            .arg("-c")
            .arg(script)
            .arg(env!("CARGO_BIN_EXE_hallcall"));
        let (gateway, lines) = Self::launch_as(command, site, &[]);
        gateway.get_ready(&lines)
    }

    /// Starts it without waiting.
    pub fn spawn(site: &Site) -> Self {
        Self::launch(site, &[]).0
    }

    /// Starts it by a command of the test's own, and waits until it says that it is ready.
    #[track_caller]
    pub fn start_by(command: Command, site: &Site) -> Self {
        let (gateway, lines) = Self::launch_as(command, site, &[]);
        gateway.get_ready(&lines)
    }

    /// The same, or until it ends before that.
    #[track_caller]
    pub fn try_start_by(command: Command, site: &Site) -> Result<Self, ExitStatus> {
        let (mut gateway, lines) = Self::launch_as(command, site, &[]);
        match lines.recv_timeout(SOON) {
            Ok(line) if line.contains("ready") => Ok(gateway),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(gateway.wait()),
            other => panic!("neither ready nor over: {other:?}\n{}", gateway.log()),
        }
    }

    fn launch(site: &Site, arguments: &[&str]) -> (Self, mpsc::Receiver<String>) {
        Self::launch_as(hallcall(), site, arguments)
    }

    fn launch_as(
        mut command: Command,
        site: &Site,
        arguments: &[&str],
    ) -> (Self, mpsc::Receiver<String>) {
        let log = site.dir.path().join("gateway.log");
        let stderr = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        if !command.get_envs().any(|(name, _)| name == LOG) {
            command.env(LOG, "debug,sled=warn,rumqttd=warn,rumqttc=info");
        }
        let mut child = command
            .arg("run")
            .arg("--config")
            .arg(site.config())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        (Self { child, log }, lines)
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// SIGKILL, as a power cut for the process.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Any signal.
    pub fn signal(&self, signal: Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of memory that it has at the moment.
    pub fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() * 1_024
    }

    /// Waits until it ends by itself.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the gateway to end", || self.child.try_wait().unwrap())
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("the gateway's log:\n{}", self.log());
        }
    }
}

/// A command of the program under test.
pub fn hallcall() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hallcall"))
}

/// Runs an operator's command against the gateway of `config`.
pub fn operate(config: &Path, arguments: &[&str]) -> Output {
    hallcall()
        .args(arguments)
        .arg("--config")
        .arg(config)
        .output()
        .unwrap()
}
