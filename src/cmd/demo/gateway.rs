//! The gateway of a demo: `hallcall run` as a process.

use std::fs::File;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// For the gateway to end after SIGTERM (architecture: within 15 s).
const END: Duration = Duration::from_secs(20);

/// The process; it is killed when dropped.
pub(in crate::cmd) struct GatewayProcess {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
}

impl GatewayProcess {
    /// Starts it with the configuration; its log goes to the file.
    pub(in crate::cmd) fn start(config: &Path, log: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("the program does not know its own path")?;
        let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = Command::new(program)
            .arg("run")
            .arg("--config")
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("the gateway does not start")?;
        let says = child.stdout.take().context("the gateway has no output")?;
        Ok(Self {
            child,
            says: BufReader::new(says).lines(),
        })
    }

    /// Its process, while it runs.
    pub(in crate::cmd) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until it says that it is ready.
    pub(in crate::cmd) async fn ready(&mut self, deadline: Duration) -> anyhow::Result<()> {
        let said = tokio::time::timeout(deadline, async {
            while let Some(line) = self.says.next_line().await? {
                if line.contains("ready") {
                    return Ok(true);
                }
            }
            std::io::Result::Ok(false)
        });
        match said.await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => bail!("the gateway ended with {}", self.child.wait().await?),
            Ok(Err(error)) => Err(error).context("the gateway cannot be heard"),
            Err(_) => bail!("the gateway is not ready after {deadline:?}"),
        }
    }

    /// Waits until it ends by itself, which it should not.
    pub(in crate::cmd) async fn ended(&mut self) -> String {
        while let Ok(Some(_)) = self.says.next_line().await {}
        match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Ends it in good order.
    pub(in crate::cmd) async fn stop(&mut self) -> anyhow::Result<ExitStatus> {
        let id = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(id) = id {
            kill_process(id, Signal::TERM).context("the gateway cannot be told to end")?;
        }
        let status = tokio::time::timeout(END, self.child.wait()).await;
        status
            .context("the gateway does not end")?
            .context("the gateway cannot be waited for")
    }
}
