//! Runs the stored inputs of the fuzz targets. `cargo +nightly fuzz run --fuzz-dir tests/fuzz NAME` searches for new
//! ones.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "this module is also a library, for the fuzzer")]
mod targets;

#[test]
fn stored_inputs_pass() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        let mut n_inputs = 0;
        for entry in std::fs::read_dir(corpus.join(name)).expect("every target has a corpus directory") {
            target(&std::fs::read(entry.expect("a directory entry").path()).expect("a file"));
            n_inputs += 1;
        }
        assert!(n_inputs > 0, "{name} has no inputs");
    }
}
