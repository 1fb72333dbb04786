//! The program `bailiwick`: arguments in, exit code out.

fn main() -> std::process::ExitCode {
    bailiwick::adapters::cli::main()
}
