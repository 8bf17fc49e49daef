//! What the core was given, for those who want to give it again.

use dispatch::{Input, Now};

/// The first inputs of a core, each with its moment; none unless asked for.
#[derive(Debug, Default)]
pub struct Steps {
    kept: Vec<(Now, Input)>,
    most: usize,
}

impl Steps {
    /// Keeps the next inputs, so many at most in all.
    pub fn keep(&mut self, most: usize) {
        self.most = most;
    }

    /// Takes what was kept.
    pub fn take(&mut self) -> Vec<(Now, Input)> {
        std::mem::take(&mut self.kept)
    }

    pub(super) fn note(&mut self, now: Now, input: &Input) {
        if self.kept.len() < self.most {
            self.kept.push((now, input.clone()));
        }
    }
}
