//! Pipes between this process, which never waits at its end, and a program, which does.

#[cfg(unix)]
pub use unix::{Receiver, Sender, from_program, to_program};
#[cfg(windows)]
pub use windows::{Receiver, Sender, from_program, to_program};

#[cfg(unix)]
mod unix {
    use std::io;

    pub use tokio::net::unix::pipe::{Receiver, Sender};

    use crate::platform::handle::Handle;

    /// Makes a pipe that a program writes to. Call it within a runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn from_program() -> io::Result<(Receiver, Handle)> {
        let (reader, writer) = io::pipe()?;
        Ok((Receiver::from_owned_fd(reader.into())?, writer.into()))
    }

    /// Makes a pipe that a program reads from. Call it within a runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn to_program() -> io::Result<(Handle, Sender)> {
        let (reader, writer) = io::pipe()?;
        Ok((reader.into(), Sender::from_owned_fd(writer.into())?))
    }
}

#[cfg(windows)]
mod windows {
    use std::io;

    use tokio::net::windows::named_pipe::NamedPipeServer;

    use crate::platform::handle::Handle;

    /// What a program prints.
    pub type Receiver = NamedPipeServer;
    /// What a program reads.
    pub type Sender = NamedPipeServer;

    /// Makes none: nothing is started on this system yet.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn from_program() -> io::Result<(Receiver, Handle)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes none: nothing is started on this system yet.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn to_program() -> io::Result<(Handle, Sender)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, unix))]
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
