//! Planted mistakes that a test turns on, in a build with the feature `mutants` only.
//!
//! [`mutate`] marks where one is made. Without the feature it is the right one of its two
//! expressions, and the wrong one is not there at all: no other code may name this module.

#[cfg(feature = "mutants")]
mod planted;

#[cfg(feature = "mutants")]
pub use planted::*;

/// `mutate!(Name, right, wrong)`: the wrong expression while that mutant is on.
#[cfg(feature = "mutants")]
macro_rules! mutate {
    ($name:ident, $right:expr, $wrong:expr) => {
        if $crate::mutant::is_on($crate::mutant::Mutant::$name) {
            $wrong
        } else {
            $right
        }
    };
}

/// The right expression.
#[cfg(not(feature = "mutants"))]
macro_rules! mutate {
    ($name:ident, $right:expr, $wrong:expr) => {
        $right
    };
}
