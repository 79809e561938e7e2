//! The fuzz target `html_filter` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::html_filter(data));
