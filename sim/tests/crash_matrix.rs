//! The crash matrix: every point at which a gateway can be cut off, for every kind of fact, by a
//! kill and by a power cut, once and again while it starts (reliability plan, B5).

#![allow(clippy::unwrap_used, missing_docs)]

use sim::matrix::look;

#[test]
fn every_cell_is_filled_and_right() {
    let matrix = look().unwrap();
    eprintln!("{} cells, {} crashes", matrix.cells.len(), matrix.crashes());
    assert_eq!(matrix.broken, Vec::<String>::new());
    let unfilled = matrix.unfilled();
    let kinds: std::collections::BTreeSet<_> = unfilled.iter().map(|cell| cell.kind).collect();
    assert!(unfilled.is_empty(), "no story has {kinds:?}");
}
