//! sled panics on some kinds of damage. A damaged store must be refused in words, with the exit
//! code of a corrupt store.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};

use dispatch::edge::JournalError;

use super::before::PutBack;
use super::rows::corrupt;
use crate::exit;

const NO_WORDS: &str = "it panicked without words";

/// The hook of panics is one per process.
static HOOK: Mutex<()> = Mutex::new(());

/// Reads the store. A panic of sled meanwhile is [`JournalError::Corrupt`]; where panics end the
/// process (release builds), it ends with the words and the exit code of that error, after `before`
/// was put back.
///
/// # Errors
/// What `read` returns, or [`JournalError::Corrupt`].
pub fn reading<T>(
    before: Option<PutBack>,
    read: impl FnOnce() -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    let _alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let hook: Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync> = Arc::from(panic::take_hook());
    let other = Arc::clone(&hook);
    panic::set_hook(Box::new(move |panic| {
        if !panic
            .location()
            .is_some_and(|place| place.file().contains("sled-0.34"))
        {
            return other(panic);
        }
        if cfg!(panic = "abort") {
            eprintln!("{}", damaged(panic.payload_as_str().unwrap_or(NO_WORDS)));
            if let Some(before) = &before {
                before.put_back();
            }
            std::process::exit(i32::from(exit::CORRUPT));
        }
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(Box::new(move |panic| hook(panic)));
    result.unwrap_or_else(|payload| {
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(damaged(said.unwrap_or(NO_WORDS)))
    })
}

fn damaged(said: &str) -> JournalError {
    corrupt(format!("the store cannot be read ({said})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_while_reading_is_corruption() {
        let error = reading::<()>(None, || panic!("bad segment {}", 7)).unwrap_err();
        let said = "the journal is corrupt: the store cannot be read (bad segment 7)";
        assert_eq!(error.to_string(), said);
        assert_eq!(reading(None, || Ok(5)).unwrap(), 5);
    }
}
