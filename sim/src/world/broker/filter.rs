//! MQTT topic filters.

/// Whether an MQTT topic filter takes a topic.
pub(super) fn matches(filter: &str, topic: &str) -> bool {
    let mut levels = topic.split('/');
    for wanted in filter.split('/') {
        if wanted == "#" {
            return true;
        }
        match levels.next() {
            Some(level) if wanted == "+" || wanted == level => {}
            Some(_) | None => return false,
        }
    }
    levels.next().is_none()
}
