//! The fuzz target `php_serialized` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::php_serialized(data));
