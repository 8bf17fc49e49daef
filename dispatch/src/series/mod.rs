//! Series: numbers without a gap, each with the row that bears it (R-SEQ).
//!
//! A number, its row and the answer are facts of one step: they become durable together, or none of
//! them does, and nothing of them is seen before. There is one writer, so that a series is full
//! exactly when its last number is given, and only then the next one begins.

mod ask;
mod fact;
mod kept;
mod tend;
mod view;

pub use fact::SeriesFact;
pub use kept::{Row, Series};
pub use view::SeriesView;

pub(crate) use fact::read_key;
