//! `hallcall sim building`, the controllers of a site as a process of their own, and `sim robots`.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{free_port, hallcall, wait_for};

/// Waits of wire.md section 7, a tenth of each where the network leaves room for it.
pub const SCALED_TIMING: &str = "[timing]\n\
    lease_s = 10\ngrant_check_s = 3\nhall_call_s = 10\nentry_s = 10\nentry_recheck_s = 0.3\n\
    door_close_s = 3\ntravel_s = 20\nexit_s = 10\nvalid_s = 1\nsettle_s = 0.05\n\
    requery_s = 0.2\nsweep_s = 0.5\nreading_fresh_s = 1\naccept_s = 0.6\npoll_s = 0.2\n\
    silent_s = 6\nheal_s = 1\n[limits]\nrobot_messages_per_s = 200\n";

/// The register map that the simulator prints, in a file.
pub fn sim_map(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let printed = hallcall()
        .args(["sim", "map"])
        .args(arguments)
        .output()
        .unwrap();
    fs::write(&path, printed.stdout).unwrap();
    path
}

/// The controllers; they are ended when dropped.
pub struct SimBuilding {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
    config: PathBuf,
    speed: &'static str,
    truth: String,
}

impl Drop for SimBuilding {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl SimBuilding {
    /// Those of a configuration; `line` takes its first lines, up to the one that it is ready.
    pub fn start(config: &Path, speed: &'static str, more: &[&str]) -> Self {
        let truth = format!("127.0.0.1:{}", free_port());
        let mut command = hallcall();
        command.args(["sim", "building", "--speed", speed, "--truth", &truth]);
        command.args(more).arg("--config").arg(config);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            says,
            config: config.to_owned(),
            speed,
            truth,
        }
    }

    /// What it says next.
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.says.next().unwrap().unwrap()
    }

    /// Four robots ride so many times in it, and all of them arrive.
    #[track_caller]
    pub fn ride(&self, rides: u64) {
        let output = hallcall()
            .args(["sim", "robots", "--robots", "4", "--json"])
            .args(["--speed", self.speed, "--rides", &rides.to_string()])
            .args(["--timeout-s", "120", "--truth", &self.truth])
            .arg("--config")
            .arg(&self.config)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| panic!("no report: {text} {told}"));
        assert_eq!(report["completed"], rides, "{report} {told}");
        assert_eq!(output.status.code(), Some(0), "{report} {told}");
    }

    /// Ends it; what it said last. Its own record shows no broken law.
    #[track_caller]
    pub fn end(&mut self) -> Vec<String> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let ended = wait_for("the building to end", || self.child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0), "its own record shows a broken law");
        self.says.by_ref().map(|line| line.unwrap()).collect()
    }
}
