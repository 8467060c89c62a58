//! The two little web servers of the demo: real ones, on ports of their own, which the daemon probes. One answers
//! always; the other says nothing to two probes in a row now and then, which removes nobody.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// What one of them does with its n-th request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Answers each.
    Steady,
    /// Says nothing to the last two of every fifteen.
    Dozing,
}

impl Manner {
    fn answers(self, request: u64) -> bool {
        match self {
            Self::Steady => true,
            Self::Dozing => request % DOZE_EVERY < DOZE_EVERY - DOZES,
        }
    }
}

/// Starts both, and gives what the daemon is to be told of them, as `NAME=URL`. They end with this process.
pub(crate) fn start() -> io::Result<[String; 2]> {
    let one = serve(Manner::Steady)?;
    let two = serve(Manner::Dozing)?;
    Ok([format!("web-1=http://{one}/readyz"), format!("web-2=http://{two}/readyz")])
}

fn serve(manner: Manner) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::Builder::new().name("demo-web".into()).spawn(move || {
        let mut unanswered = VecDeque::new();
        let mut requests = 0_u64;
        for socket in listener.incoming().flatten() {
            if !asks(&socket) {
                continue;
            }
            if manner.answers(requests) {
                answer(socket);
            } else {
                unanswered.push_back(socket);
                if unanswered.len() > MAX_UNANSWERED {
                    unanswered.pop_front();
                }
            }
            requests = requests.wrapping_add(1);
        }
    })?;
    Ok(address)
}

/// Reads a request, whatever it asks for; one that does not come is none.
fn asks(socket: &TcpStream) -> bool {
    let _ = socket.set_read_timeout(Some(PATIENCE));
    let mut lines = BufReader::new(socket.take(MAX_REQUEST_BYTES)).lines();
    lines.any(|line| line.is_ok_and(|line| line.is_empty()))
}

fn answer(mut socket: TcpStream) {
    // Whoever asked may have gone.
    let _ = socket.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n",
    );
}

const DOZE_EVERY: u64 = 15;
/// One less than makes a member leave.
const DOZES: u64 = 2;
/// What was not answered is kept open until the prober has given it up.
const MAX_UNANSWERED: usize = 4;
const MAX_REQUEST_BYTES: u64 = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dozing_one_misses_two_in_a_row_and_never_a_third() {
        let answers: Vec<bool> = (0..100).map(|request| Manner::Dozing.answers(request)).collect();
        let longest = answers.split(|answers| *answers).map(<[bool]>::len).max();
        assert_eq!(longest, Some(2));
        assert!((0..100).all(|request| Manner::Steady.answers(request)));
    }

    #[test]
    fn both_are_web_servers() {
        for told in start().unwrap() {
            let (_, url) = told.split_once('=').unwrap();
            let answer = ureq::get(url).call().unwrap();
            assert_eq!(answer.status(), 200);
        }
    }
}
