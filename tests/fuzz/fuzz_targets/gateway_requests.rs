//! The fuzz target `gateway_requests` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::requests::gateway_requests(data));
