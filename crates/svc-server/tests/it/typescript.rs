//! The TypeScript of the front-end guide compiles under `tsc --strict` with the types that the program writes.
//!
//! The compiler is installed from the npm registry and is not part of the project. Without Node.js the test reports that and passes,
//! unless `SVC_NEED_CLIENTS` is set.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use svc_testkit::markdown::blocks;

use crate::process::run;

/// The pinned version, as for `cargo xtask openapi`.
const COMPILER: &str = "typescript@5.9.3";

const SETTINGS: &str = r#"{
  "compilerOptions": {
    "strict": true, "noEmit": true, "target": "es2022", "module": "esnext", "moduleResolution": "bundler",
    "lib": ["es2022", "dom", "dom.iterable"], "types": []
  },
  "include": ["**/*.ts"]
}"#;

const NEXT: &str = include_str!("next.d.ts");

/// Installs the compiler once; returns its program.
fn compiler() -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("typescript");
    let program = folder.join("node_modules/typescript/bin/tsc");
    if !program.is_file() {
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        let done = npm.arg(&folder).arg(COMPILER).output().map_err(|e| format!("npm: {e}"))?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
    }
    Ok(program)
}

/// Compiles the files in a folder; the error is the compiler's output.
fn compile(program: &Path, folder: &Path) -> Result<(), String> {
    let done = Command::new("node").arg(program).args(["--project", "."]).current_dir(folder).output();
    let done = done.map_err(|e| format!("node: {e}"))?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stdout).into_owned()) }
}

#[test]
fn the_front_end_guide_compiles() {
    let program = match compiler() {
        Ok(program) => program,
        Err(why) => {
            assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "{COMPILER}: {why}");
            let _seen = writeln!(std::io::stderr(), "skipped: {COMPILER}: {why}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    let types = run(folder.path(), None, &["types"]);
    write("svc.d.ts", &String::from_utf8(types.stdout).unwrap());
    write("next.d.ts", NEXT);
    write("tsconfig.json", SETTINGS);
    let mut n_files = 0;
    for block in blocks(include_str!("../../../../docs/front-end.md")) {
        if block.language == "ts" {
            write(block.attribute("file").expect("the name of the file"), &block.code);
            n_files += 1;
        }
    }
    assert!(n_files > 4, "{n_files}");
    compile(&program, folder.path()).unwrap_or_else(|errors| panic!("{errors}"));

    // Fields with a raw and a rendered text are written as one text, or as an object.
    let write_post = |title: &str| {
        format!(
            "import {{ createPost }} from './write';\ncreatePost('', '', '', {{ title: {title}, content: 'text' }});\n"
        )
    };
    for title in ["'text'", "{ raw: 'text' }"] {
        write("written.ts", &write_post(title));
        compile(&program, folder.path()).unwrap_or_else(|errors| panic!("{title}: {errors}"));
    }
    write("written.ts", &write_post("5"));
    let errors = compile(&program, folder.path()).unwrap_err();
    assert!(errors.contains("written.ts"), "{errors}");
    std::fs::remove_file(folder.path().join("written.ts")).unwrap();

    // An unknown parameter is an error, so the types are in use.
    write("wrong.ts", "import { read } from './client';\nread<'listPosts'>('', '', { per_pages: 5 });\n");
    let errors = compile(&program, folder.path()).unwrap_err();
    assert!(errors.contains("per_pages"), "{errors}");
}
