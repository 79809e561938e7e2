//! The fuzz target `parameters` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::requests::parameters(data));
