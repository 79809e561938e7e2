//! The fuzz target `query_strings` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::values::query_strings(data));
