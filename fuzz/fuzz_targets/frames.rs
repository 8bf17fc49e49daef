#![no_main]

#[path = "../../tests/bad_input/targets/frames.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
