//! What nobody reads in a log, an error, a figure, a topic, a recording or a file: keys, tokens,
//! where somebody is.

use std::fmt;

/// A value that is printed as `***`. It has no serde: a type that holds one and is stored or sent
/// must say itself that it leaves it out, or [`reveal`](Self::reveal) it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// From here on it is printed by nobody.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the one that it is meant for.
    #[must_use]
    pub const fn reveal(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl<T> fmt::Display for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-RENT-18, R-RENT-042: whatever it is printed with.
    #[test]
    fn no_way_of_printing_shows_it() {
        let plate = Sensitive::new("HU-A12345");
        let shown = format!("{plate} {plate:?} {plate:#?} {plate:>12} {:?}", Some(plate));
        assert_eq!(shown, "*** *** *** *** Some(***)");
        assert_eq!(*plate.reveal(), "HU-A12345");
    }
}
