//! The fuzz target `dates` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::values::dates(data));
