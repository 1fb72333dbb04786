//! Packs the schemas of the operations, so that the program carries them small: see `registry::packed`.

#![expect(clippy::disallowed_methods, reason = "the files of the repository are no scope's")]

use std::path::{Path, PathBuf};
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/operations");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let files = fs::read_dir(&folder).expect("the schemas are in the repository");
    let mut names: Vec<String> = files
        .map(|file| file.expect("a folder can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut table = String::from("&[\n");
    for name in &names {
        let text = fs::read(folder.join(name)).expect("a schema can be read");
        fs::write(out.join(name), compress_to_vec(&text, 9)).expect("the build's folder takes files");
        let operation = name.trim_end_matches(".json");
        table.push_str(&format!(
            "({operation:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), {:?}))),\n",
            format!("/{name}")
        ));
    }
    table.push_str("]\n");
    fs::write(out.join("schemas.rs"), table).expect("the build's folder takes files");
    println!("cargo::rerun-if-changed={}", folder.display());
}
