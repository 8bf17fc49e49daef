//! Small text files: bounded, and with an error that says what was expected instead.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The only mode that a file with a secret may have.
const SECRET_MODE: u32 = 0o600;

/// Where the files of a configuration are: on disk, or in the memory of a test.
pub trait Files {
    /// The text of a file of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// What was expected instead.
    fn text(&self, path: &Path, bytes_max: u64) -> Result<String, String>;

    /// The text of a file that only its owner may read and write.
    ///
    /// # Errors
    /// What was expected instead.
    fn secret(&self, path: &Path, bytes_max: u64) -> Result<String, String>;

    /// The bytes of such a file, which need not be a text.
    ///
    /// # Errors
    /// What was expected instead.
    fn secret_bytes(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
        self.secret(path, bytes_max).map(String::into_bytes)
    }
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn text(&self, path: &Path, bytes_max: u64) -> Result<String, String> {
        read_open(open(path)?, bytes_max)
    }

    fn secret(&self, path: &Path, bytes_max: u64) -> Result<String, String> {
        read_open(open_secret(path)?, bytes_max)
    }

    fn secret_bytes(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let file = open_secret(path)?;
        match file.take(bytes_max + 1).read_to_end(&mut bytes) {
            Ok(read) if read as u64 > bytes_max => Err(format!("at most {bytes_max} bytes")),
            Ok(_) => Ok(bytes),
            Err(error) => Err(unreadable(&error)),
        }
    }
}

fn open_secret(path: &Path) -> Result<File, String> {
    let file = open(path)?;
    // The mode of the file that is read, not of what stands at its path a moment later.
    let mode = file
        .metadata()
        .map_err(|error| unreadable(&error))?
        .permissions()
        .mode()
        & 0o7777;
    if mode != SECRET_MODE {
        return Err(format!(
            "a file of mode {SECRET_MODE:04o}, its mode is {mode:04o}"
        ));
    }
    Ok(file)
}

fn open(path: &Path) -> Result<File, String> {
    // Before it is opened: to open a pipe could wait for ever.
    if !fs::metadata(path)
        .map_err(|error| unreadable(&error))?
        .is_file()
    {
        return Err("a regular file".to_owned());
    }
    File::open(path).map_err(|error| unreadable(&error))
}

fn read_open(file: File, bytes_max: u64) -> Result<String, String> {
    let mut text = String::new();
    match file.take(bytes_max + 1).read_to_string(&mut text) {
        Ok(bytes) if bytes as u64 > bytes_max => Err(format!("at most {bytes_max} bytes")),
        Ok(_) => Ok(text),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unreadable(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        "a file that exists".to_owned()
    } else if error.kind() == io::ErrorKind::InvalidData {
        "a text in UTF-8".to_owned()
    } else {
        format!("a readable file: {error}")
    }
}
