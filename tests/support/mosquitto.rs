//! A real Mosquitto on a port of its own, with what `configs/mosquitto/` asks for and no passwords.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::{free_port, wait_for};

pub struct Mosquitto {
    dir: TempDir,
    port: u16,
    child: Option<Child>,
}

impl Mosquitto {
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// With more lines in its configuration.
    #[track_caller]
    pub fn start_with(lines: &str) -> Self {
        for _ in 0..5 {
            let mut broker = Self {
                dir: tempfile::tempdir().unwrap(),
                port: free_port(),
                child: None,
            };
            broker.configure(lines);
            if broker.run() {
                return broker;
            }
        }
        panic!("Mosquitto does not start; is the package `mosquitto` installed?");
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it as an operator would: sessions, queues and retained messages are kept.
    pub fn stop(&mut self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Starts it again on the same port, with what it kept.
    #[track_caller]
    pub fn start_again(&mut self) {
        assert!(self.child.is_none(), "it still runs");
        assert!(self.run(), "Mosquitto does not start again");
    }

    /// Sessions, queues and retained messages are gone at the next start.
    pub fn forget(&mut self) {
        assert!(self.child.is_none(), "it still runs");
        let _ = fs::remove_file(self.dir.path().join("mosquitto.db"));
    }

    fn configure(&self, lines: &str) {
        let user = if rustix::process::getuid().is_root() {
            "user root\n"
        } else {
            ""
        };
        let conf = format!(
            "{user}per_listener_settings true\n\
             listener {port} 127.0.0.1\n\
             allow_anonymous true\n\
             max_inflight_messages 200\n\
             max_queued_messages 100000\n\
             set_tcp_nodelay true\n\
             message_size_limit 1048576\n\
             persistence true\n\
             persistence_location {dir}/\n\
             {lines}\n",
            port = self.port,
            dir = self.dir.path().display(),
        );
        fs::write(self.conf(), conf).unwrap();
    }

    fn run(&mut self) -> bool {
        let log = fs::File::create(self.dir.path().join("log")).unwrap();
        let program = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .unwrap_or("mosquitto");
        let mut child = Command::new(program)
            .arg("-c")
            .arg(self.conf())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the package `mosquitto` is installed");
        let port = self.port;
        let listens = wait_for("Mosquitto to listen", || {
            if matches!(child.try_wait(), Ok(Some(_))) {
                return Some(false);
            }
            TcpStream::connect(("127.0.0.1", port))
                .is_ok()
                .then_some(true)
        });
        self.child = Some(child);
        listens
    }

    fn conf(&self) -> std::path::PathBuf {
        self.dir.path().join("mosquitto.conf")
    }

    fn signal(&mut self, signal: rustix::process::Signal) {
        if let Some(mut child) = self.child.take() {
            let id = rustix::process::Pid::from_child(&child);
            let _ = rustix::process::kill_process(id, signal);
            let _ = child.wait();
        }
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.kill();
    }
}
