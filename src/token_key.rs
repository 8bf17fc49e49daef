//! The key that tokens of rentals are made with: a file of the data directory that nobody but the
//! gateway reads. It is made at the first start that needs it; without it a reservation still holds
//! (the journal has a hash of its token), and new ones get tokens of a new key.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use protocol::client::TokenKey;

/// The file in the data directory.
const FILE: &str = "token.key";
/// What it is while it is written.
const NEW_FILE: &str = "token.key.new";
const KEY_BYTES: usize = 32;
/// Nobody but its owner.
const MODE: u32 = 0o600;

/// Reads the key, or makes it.
///
/// # Errors
/// Where the file cannot be read or written, or is no key.
pub fn open(data_dir: &Path) -> io::Result<TokenKey> {
    let path = data_dir.join(FILE);
    match fs::read(&path) {
        Ok(bytes) => {
            let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).map_err(|_| {
                let (path, bytes) = (path.display(), bytes.len());
                io::Error::other(format!("{path} has {bytes} bytes, a key has {KEY_BYTES}"))
            })?;
            Ok(TokenKey::new(key))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(data_dir),
        Err(error) => Err(error),
    }
}

/// It takes its name when it is whole and on the disk.
fn make(data_dir: &Path) -> io::Result<TokenKey> {
    let mut key = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let new = data_dir.join(NEW_FILE);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(MODE);
    let mut file = options.open(&new)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&new, data_dir.join(FILE))?;
    File::open(data_dir)?.sync_all()?;
    Ok(TokenKey::new(key))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let key = open(dir.path()).unwrap();
        assert_eq!(open(dir.path()).unwrap(), key);
        let mode = fs::metadata(dir.path().join(FILE)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, MODE);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(open(other.path()).unwrap(), key);
        fs::write(dir.path().join(FILE), b"short").unwrap();
        let error = open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("token.key has 5 bytes"), "{error}");
    }
}
