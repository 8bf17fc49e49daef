//! A pseudoterminal: a serial port for programs of this machine, without a cable.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::io::unix::AsyncFd;

use super::port::Port;

/// Where the system keeps pseudoterminals.
const PTS: &str = "/dev/pts";

/// A pseudoterminal. Its port stays as it is while programs open and close it, and is gone with
/// this, as a USB adapter that was pulled out.
#[derive(Debug)]
pub struct Pty {
    ours: AsyncFd<OwnedFd>,
    /// Held open, so that a program that closes the port does not end the line.
    _theirs: OwnedFd,
    path: PathBuf,
    link: Option<PathBuf>,
}

impl Pty {
    /// A new one; needs a runtime around it.
    ///
    /// # Errors
    /// What the system says.
    pub fn open() -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let path = PathBuf::from(OsString::from_vec(name.into_bytes()));
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(&path, flags, Mode::empty())?;
        let mut raw = tcgetattr(&theirs)?;
        raw.make_raw();
        tcsetattr(&theirs, OptionalActions::Now, &raw)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        // What its successor is unsafe for, a descriptor that is closed meanwhile, an owned one is not.
        #[allow(deprecated)]
        let ours = AsyncFd::new(ours)?;
        Ok(Self {
            ours,
            _theirs: theirs,
            path,
            link: None,
        })
    }

    /// A new one that is also found at `link`, as an adapter is under a name that stays.
    ///
    /// # Errors
    /// What the system says, and that something else is there: only a link to a pseudoterminal,
    /// left behind by an earlier run, is replaced.
    pub fn linked(link: &Path) -> io::Result<Self> {
        let mut pty = Self::open()?;
        if let Ok(found) = fs::symlink_metadata(link) {
            let is_ours = found.is_symlink() && fs::read_link(link)?.starts_with(PTS);
            if !is_ours {
                let why = "something that is no pseudoterminal of a simulator is there";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
            }
            fs::remove_file(link)?;
        }
        std::os::unix::fs::symlink(&pty.path, link)?;
        pty.link = Some(link.to_owned());
        Ok(pty)
    }

    /// Where its port is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if let Some(link) = &self.link
            && fs::read_link(link).is_ok_and(|to| to == self.path)
        {
            // It may be gone, with its folder.
            let _ = fs::remove_file(link);
        }
    }
}

impl Port for Pty {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.ours.readable().await?;
            let read =
                |ours: &AsyncFd<OwnedFd>| Ok(rustix::io::read(ours.get_ref(), &mut *buffer)?);
            if let Ok(count) = ready.try_io(read) {
                return count;
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(self.ours.get_ref(), bytes) {
            Ok(count) => Ok(count),
            Err(rustix::io::Errno::AGAIN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}
