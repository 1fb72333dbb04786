//! The program `bailiwick`: arguments in, exit code out.

fn main() -> std::process::ExitCode {
    // Started again by the service itself, to start and hold commands?
    if let Some(code) = bailiwick::platform::launch::serve_if_asked() {
        return code;
    }
    // Started again by the service itself, to parse files?
    if let Some(code) = bailiwick::providers::parser::serve_if_asked() {
        return code;
    }
    // Started again by the service itself, to release keys when it cannot?
    if let Some(code) = bailiwick::platform::screen::guard_if_asked() {
        return code;
    }
    bailiwick::adapters::cli::main()
}
