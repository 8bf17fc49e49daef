//! Every point at which a gateway can be cut off, for every kind of fact, on the model disk:
//! enumerated, not drawn.
//!
//! The steps come from stories that are played once ([`story`]). At the first steps that yield a
//! kind of fact the gateway is cut off at each [`Point`], by a kill (what was written is there) or
//! a power cut (of what was not synced any subset is there), once, or again while it starts. It
//! starts on the real codec, chain and core, and [`oracle`] judges what it knows.

mod cell;
mod kind;
mod oracle;
mod story;

use std::collections::BTreeMap;

use protocol::id::IdError;

pub use self::cell::{Cell, Point, Power};
pub use self::kind::kinds;

/// Steps at which a kind is looked at; the later ones have other facts with it.
const STEPS_PER_KIND: usize = 2;

/// What was looked at.
#[derive(Debug, Default)]
pub struct Matrix {
    /// Crashes judged, of each cell.
    pub cells: BTreeMap<Cell, u64>,
    /// What broke.
    pub broken: Vec<String>,
}

impl Matrix {
    /// Cells that nobody looked at.
    #[must_use]
    pub fn unfilled(&self) -> Vec<Cell> {
        let all = kind::ALL.iter().flat_map(|kind| Cell::all(kind));
        all.filter(|cell| !self.cells.contains_key(cell)).collect()
    }

    /// All crashes judged.
    #[must_use]
    pub fn crashes(&self) -> u64 {
        self.cells.values().sum()
    }
}

/// Looks at all of it.
///
/// # Errors
/// [`IdError`] never, unless the names of the stories are broken.
pub fn look() -> Result<Matrix, IdError> {
    let mut matrix = Matrix::default();
    let mut looked: BTreeMap<&'static str, usize> = BTreeMap::new();
    for story in story::all()? {
        cell::play(&story, &mut matrix, &mut |kind| {
            let times = looked.entry(kind).or_default();
            *times += 1;
            *times <= STEPS_PER_KIND
        });
    }
    Ok(matrix)
}
