//! A simulated line, and `hallcall bus` on it.

use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::hallcall;

/// A simulated line; it is ended when dropped.
pub struct Line {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
    pub folder: TempDir,
}

impl Line {
    #[track_caller]
    pub fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = hallcall();
        command.args(["sim", "line", "--baud", "115200"]);
        command
            .args(arguments)
            .arg("--link")
            .arg(folder.path().join("adapter"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut says = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = says.next().unwrap().unwrap();
        assert!(ready.starts_with("ready: "), "{ready}");
        Self {
            child,
            says,
            folder,
        }
    }

    pub fn port(&self) -> PathBuf {
        self.folder.path().join("adapter")
    }

    /// `hallcall bus` on the port by hand.
    pub fn bus(&self, verb: &str, arguments: &[&str]) -> Output {
        let port = self.port();
        bus(
            verb,
            &["--baud", "115200", "--port", port.to_str().unwrap()],
            arguments,
        )
    }

    /// Ends it; its own record.
    #[track_caller]
    pub fn end(mut self) -> Value {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let record = self.says.next().unwrap().unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        serde_json::from_str(&record).unwrap()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn bus(verb: &str, place: &[&str], arguments: &[&str]) -> Output {
    hallcall()
        .args(["bus", verb])
        .args(place)
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
pub fn told(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Arguments, as they are typed.
pub fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
