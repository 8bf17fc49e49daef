#![no_main]

#[path = "../../tests/bad_input/targets/site.rs"]
mod site;
#[path = "../../tests/bad_input/targets/record.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
