//! Pipes between this process, which never waits at its end, and a program, which does.

#[cfg(unix)]
pub use unix::{Receiver, Sender, from_program, to_program, widen};
#[cfg(windows)]
pub use windows::{Receiver, Sender, from_program, to_program, widen};

/// How much a pipe takes in which much comes.
#[cfg(target_os = "linux")]
const WIDE_BYTES: usize = 1 << 20;

#[cfg(unix)]
mod unix {
    use std::io;

    pub use tokio::net::unix::pipe::{Receiver, Sender};

    use crate::handle::Handle;

    /// Creates a pipe that a program writes to. Call it within a runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn from_program() -> io::Result<(Receiver, Handle)> {
        let (reader, writer) = io::pipe()?;
        Ok((Receiver::from_owned_fd(reader.into())?, writer.into()))
    }

    /// Creates a pipe that a program reads from. Call it within a runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn to_program() -> io::Result<(Handle, Sender)> {
        let (reader, writer) = io::pipe()?;
        Ok((reader.into(), Sender::from_owned_fd(writer.into())?))
    }

    /// Makes room for more at a time, where much comes. Without it the program waits more often.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "only Linux has the call"))]
    pub fn widen(reader: &Receiver) {
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(reader, super::WIDE_BYTES);
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::OpenOptions;
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::task::{Context, Poll, Waker};

    use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

    use crate::handle::Handle;
    use crate::windows::private_pipe;
    use bailiwick_contract::hex;

    /// What a program prints.
    pub type Receiver = NamedPipeServer;
    /// What a program reads.
    pub type Sender = NamedPipeServer;

    /// `GENERIC_READ`, with the right to set how the pipe is read.
    const TO_READ: u32 = 0x8000_0000 | 0x100;
    /// `GENERIC_WRITE`, with the right to ask what the pipe is.
    const TO_WRITE: u32 = 0x4000_0000 | 0x80;

    /// Creates a pipe that a program writes to. Call it within a runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn from_program() -> io::Result<(Receiver, Handle)> {
        make(true, TO_WRITE)
    }

    /// Creates a pipe that a program reads from. Call it within a runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn to_program() -> io::Result<(Handle, Sender)> {
        make(false, TO_READ).map(|(sender, handle)| (handle, sender))
    }

    /// What a pipe takes is fixed here when it is made.
    pub const fn widen(_: &Receiver) {}

    /// Only pipes with a name can be waited for. This one's cannot be guessed, and it has room for one caller alone,
    /// which is this function.
    fn make(is_read: bool, program_access: u32) -> io::Result<(NamedPipeServer, Handle)> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!(r"\\.\pipe\bailiwick-stream-{}", hex(&random));
        let mut options = ServerOptions::new();
        options.access_inbound(is_read).access_outbound(!is_read);
        options.first_pipe_instance(true).max_instances(1).reject_remote_clients(true);
        let own = private_pipe(&options, &name)?;
        let program = OpenOptions::new().access_mode(program_access).open(&name)?;
        // The caller is there, so that nothing is to be waited for; before, nothing could be read.
        let connected = std::pin::pin!(own.connect()).poll(&mut Context::from_waker(Waker::noop()));
        match connected {
            Poll::Ready(connected) => connected?,
            Poll::Pending => return Err(io::ErrorKind::NotConnected.into()),
        }
        Ok((own, program.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::{from_program, to_program};

    #[tokio::test]
    async fn what_goes_in_at_one_end_comes_out_at_the_other() {
        let (mut reader, writer) = from_program().expect("a pipe");
        let program = std::thread::spawn(move || File::from(writer).write_all(b"printed"));
        let mut printed = [0; 7];
        reader.read_exact(&mut printed).await.expect("it was written");
        assert_eq!(&printed, b"printed");
        program.join().expect("it ends").expect("written");

        let (reader, mut writer) = to_program().expect("a pipe");
        let program = std::thread::spawn(move || {
            let mut read = [0; 5];
            File::from(reader).read_exact(&mut read).map(|()| read)
        });
        writer.write_all(b"typed").await.expect("somebody reads");
        assert_eq!(&program.join().expect("it ends").expect("read"), b"typed");
    }
}
