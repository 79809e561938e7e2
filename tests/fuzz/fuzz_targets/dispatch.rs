//! The fuzz target `dispatch` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::requests::dispatch(data));
