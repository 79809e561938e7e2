//! The fuzz target `block_parser` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::block_parser(data));
