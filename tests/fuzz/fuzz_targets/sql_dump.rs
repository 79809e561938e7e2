//! The fuzz target `sql_dump` of the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::sql_dump(data));
