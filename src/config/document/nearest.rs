//! The key that was meant.

/// Bytes of a key that is compared; no known one is half as long.
const NAME_BYTES_MAX: usize = 64;

/// The known key that `name` was probably meant to be: half of it is right at least.
pub(super) fn nearest<'k>(name: &str, keys: &[&'k str]) -> Option<&'k str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let (distance, key) = keys.iter().map(|key| (edits(name, key), *key)).min()?;
    (distance <= key.len() / 2).then_some(key)
}

/// Characters to insert, remove or replace to turn one text into the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{edits, nearest};

    #[test]
    fn the_nearest_key_is_the_one_that_was_meant() {
        let keys = ["travel_s", "exit_s", "valid_s", "poll_s"];
        assert_eq!(nearest("travl_s", &keys), Some("travel_s"));
        assert_eq!(nearest("valid", &keys), Some("valid_s"));
        assert_eq!(nearest("colour_of_the_car", &keys), None);
    }

    #[test]
    fn edits_are_counted_in_characters() {
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("étage", "etage"), 1);
    }
}
