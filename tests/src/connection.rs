//! One connection, spoken by hand: for clients that are slow, silent or hostile.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Daemon;

/// A connection to a daemon on which nothing is said yet.
#[derive(Debug)]
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects.
    ///
    /// # Panics
    /// Where nobody listens.
    pub fn open(daemon: &Daemon) -> Self {
        Self::try_open(daemon).expect("the daemon listens")
    }

    /// Connects, if somebody listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_open(daemon: &Daemon) -> io::Result<Self> {
        let socket = TcpStream::connect(daemon.address())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(socket)))
    }

    /// From now on the system takes only some tens of kilobytes ahead of what is read here.
    ///
    /// # Panics
    /// Where the socket does not take that.
    pub fn take_little(&mut self) {
        rustix::net::sockopt::set_socket_recv_buffer_size(self.0.get_ref(), 32 << 10).expect("a socket can be set");
    }

    /// Says that, as it stands.
    ///
    /// # Panics
    /// Where the daemon does not take it.
    pub fn send(&mut self, text: &str) {
        self.try_send(text).expect("the daemon takes it");
    }

    /// Says that, if the daemon still takes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_send(&mut self, text: &str) -> io::Result<()> {
        self.0.get_mut().write_all(text.as_bytes())
    }

    /// What the daemon says up to the first `end`, which is included.
    ///
    /// # Panics
    /// Where the daemon ends before that, or says nothing for a minute.
    #[track_caller]
    pub fn read_until(&mut self, end: &str) -> String {
        let last = *end.as_bytes().last().expect("an end has a last byte");
        let mut said = Vec::new();
        while !said.ends_with(end.as_bytes()) {
            let read = self.0.read_until(last, &mut said).expect("the daemon says something in time");
            assert!(read > 0, "it ended before {end:?}: {:?}", String::from_utf8_lossy(&said));
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Reads up to so many bytes; 0 is the end.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&mut self, at_most: usize) -> io::Result<usize> {
        self.0.read(&mut vec![0; at_most])
    }

    /// What is said until the daemon closes the connection, or cuts it.
    pub fn rest(&mut self) -> String {
        let mut said = Vec::new();
        // A reset is an end too.
        let _ = self.0.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Whether the daemon has closed it. What it says is passed over.
    ///
    /// # Panics
    /// Where the socket cannot be asked.
    pub fn is_closed(&mut self) -> bool {
        self.0.get_mut().set_nonblocking(true).expect("a socket may be asked");
        let closed = loop {
            match self.0.read(&mut [0; 4096]) {
                Ok(0) => break true,
                Ok(_) => {}
                Err(error) => break error.kind() != io::ErrorKind::WouldBlock,
            }
        };
        self.0.get_mut().set_nonblocking(false).expect("a socket may be asked");
        closed
    }
}

/// What takes longer is taken for lost.
const PATIENCE: Duration = Duration::from_mins(1);
