//! How many results fit into an answer.

use serde::Serialize;

/// What an answer needs beside its list: counts, cursor, names of fields.
const REST_BYTES: usize = 1_500;

/// The room that is left for a list of results.
#[derive(Debug, Clone, Copy)]
pub struct OutputBudget {
    left: usize,
    used: bool,
}

impl OutputBudget {
    /// Makes room for a list in an answer of at most `max_output_bytes`.
    pub fn new(max_output_bytes: usize) -> Self {
        Self { left: max_output_bytes.saturating_sub(REST_BYTES).max(max_output_bytes / 4), used: false }
    }

    /// Takes the room of one result; shows whether it fits. The first always does, so that there is progress.
    pub fn take(&mut self, result: &impl Serialize) -> bool {
        let bytes = serde_json::to_string(result).map_or(usize::MAX, |text| text.len()).saturating_add(1);
        if self.used && bytes > self.left {
            return false;
        }
        self.left = self.left.saturating_sub(bytes);
        self.used = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_result_fits_and_the_rest_within_the_bound() {
        let mut room = OutputBudget::new(2_000);
        let name = "n".repeat(197);
        let taken = (0..100).take_while(|_| room.take(&name)).count();
        assert_eq!(taken, 2);
        assert!(OutputBudget::new(2_000).take(&"n".repeat(10_000)));
    }
}
