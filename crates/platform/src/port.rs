//! Who listens at a port of this computer, as far as the system tells this user.

/// A process that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortHolder {
    /// The process.
    pub process_id: u32,
    /// Its program's name, which the program chose itself.
    pub program: String,
}

/// Finds who listens at a TCP port; `None` where that is another user's process, or the system does not tell.
pub fn holder(port: u16) -> Option<PortHolder> {
    found(port)
}

#[cfg(target_os = "linux")]
fn found(port: u16) -> Option<PortHolder> {
    use std::fs;

    let sockets: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listeners(&table, port))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
        let process_id: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((process_id, entry.path()))
    });
    processes.into_iter().find_map(|(process_id, folder)| {
        // The folders of other users' processes cannot be read.
        let mut open = fs::read_dir(folder.join("fd")).ok()?.flatten();
        let has_it = open.any(|entry| {
            fs::read_link(entry.path())
                .is_ok_and(|to| sockets.iter().any(|socket| to.as_os_str() == socket.as_str()))
        });
        let program = fs::read_to_string(folder.join("comm")).unwrap_or_default();
        has_it.then(|| PortHolder { process_id, program: program.trim().to_owned() })
    })
}

#[cfg(not(target_os = "linux"))]
fn found(_port: u16) -> Option<PortHolder> {
    None
}

/// Reads a table of the system's sockets: those that listen at a port, as links of descriptors name them.
///
/// # Source
/// proc_pid_net(5): local address in hexadecimal, state `0A` for listening, the inode in the tenth column.
#[cfg(target_os = "linux")]
fn listeners(table: &str, port: u16) -> Vec<String> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let here = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        (here == port && *state == "0A").then(|| format!("socket:[{inode}]"))
    });
    rows.collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_listens_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        assert_eq!(holder(port).map(|found| found.process_id), Some(std::process::id()));
        drop(listener);
        assert_eq!(holder(port), None);
    }
}
