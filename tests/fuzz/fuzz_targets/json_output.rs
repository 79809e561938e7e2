//! The fuzz target `json_output` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::values::json_output(data));
