//! Why there is no complete answer.

use std::io;

use greenlight_core::rotation::{Answer, Cutting, Refuser, Silence};
use rustix::io::Errno;

/// Why a question got no complete answer. `code` is the name of the error: of the system, as `ECONNRESET`, or one of
/// ours: `EOF`, `NOT_HTTP`, `TLS`, `SELF_CONNECT`, `NXDOMAIN`, `DNS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nobody listens at the address.
    Refused,
    /// The name does not exist.
    NoSuchName,
    /// Reset, closed, or no session, before the head was complete.
    Cut {
        /// How.
        by: Cutting,
        /// The error's name.
        code: Box<str>,
    },
    /// The head arrived, its body did not.
    Torn {
        /// How.
        by: Cutting,
        /// The error's name.
        code: Box<str>,
    },
    /// What came in place of a head is not HTTP, or the head is larger than 64 KiB.
    Garbled,
    /// The network says that the address cannot be reached, or it has given up trying: no answer, and nobody's no.
    Unreachable {
        /// The error's name.
        code: Box<str>,
    },
    /// We could not ask: no descriptors, ports, memory or route, names out of order, or we met ourselves.
    Ours {
        /// The error's name.
        code: Box<str>,
    },
}

impl Trouble {
    /// What it means to rotation.
    pub(crate) fn answer(&self) -> Answer {
        match self {
            Self::Refused => Answer::Refused { by: Refuser::Host },
            Self::NoSuchName => Answer::Refused { by: Refuser::Names },
            Self::Cut { by, .. } | Self::Torn { by, .. } => Answer::Cut { by: *by },
            Self::Garbled => Answer::Cut { by: Cutting::Garbled },
            Self::Unreachable { .. } => Answer::Silent { by: Silence::Timeout },
            Self::Ours { code } => Answer::Fault { code: code.clone() },
        }
    }

    /// The name of the error.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Refused => "ECONNREFUSED",
            Self::NoSuchName => "NXDOMAIN",
            Self::Garbled => "NOT_HTTP",
            Self::Cut { code, .. } | Self::Torn { code, .. } | Self::Unreachable { code } | Self::Ours { code } => code,
        }
    }

    /// Of an error that our own system gave at once, before anything was sent: all but a refusal is ours.
    pub(super) fn at_once(error: &io::Error) -> Self {
        match errno(error) {
            Some(Errno::CONNREFUSED) => Self::Refused,
            Some(Errno::CONNRESET) => Self::Cut { by: Cutting::Reset, code: name(error) },
            _ => Self::Ours { code: name(error) },
        }
    }

    /// Of an error that came back while connecting.
    pub(super) fn while_connecting(error: &io::Error) -> Self {
        match errno(error) {
            Some(Errno::CONNREFUSED) => Self::Refused,
            Some(Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE) => {
                Self::Cut { by: Cutting::Reset, code: name(error) }
            }
            Some(Errno::NOBUFS | Errno::NOMEM | Errno::ADDRNOTAVAIL | Errno::NETDOWN) => {
                Self::Ours { code: name(error) }
            }
            _ => Self::Unreachable { code: name(error) },
        }
    }
}

/// The number of a system's error.
pub(super) fn errno(error: &io::Error) -> Option<Errno> {
    Errno::from_io_error(error)
}

/// The name of an error, as it stands in the system's manual.
pub(super) fn name(error: &io::Error) -> Box<str> {
    match errno(error) {
        Some(errno) => match NAMES.iter().find(|(known, _)| *known == errno) {
            Some((_, name)) => (*name).into(),
            None => format!("ERRNO_{}", errno.raw_os_error()).into(),
        },
        None => "EOTHER".into(),
    }
}

/// Those that sockets and the resolver give.
const NAMES: [(Errno, &str); 24] = [
    (Errno::CONNREFUSED, "ECONNREFUSED"),
    (Errno::CONNRESET, "ECONNRESET"),
    (Errno::CONNABORTED, "ECONNABORTED"),
    (Errno::PIPE, "EPIPE"),
    (Errno::TIMEDOUT, "ETIMEDOUT"),
    (Errno::MFILE, "EMFILE"),
    (Errno::NFILE, "ENFILE"),
    (Errno::ADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (Errno::ADDRINUSE, "EADDRINUSE"),
    (Errno::NOBUFS, "ENOBUFS"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::NETUNREACH, "ENETUNREACH"),
    (Errno::HOSTUNREACH, "EHOSTUNREACH"),
    (Errno::HOSTDOWN, "EHOSTDOWN"),
    (Errno::NETDOWN, "ENETDOWN"),
    (Errno::ACCESS, "EACCES"),
    (Errno::PERM, "EPERM"),
    (Errno::INVAL, "EINVAL"),
    (Errno::AFNOSUPPORT, "EAFNOSUPPORT"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::NOTCONN, "ENOTCONN"),
    (Errno::PROTO, "EPROTO"),
    (Errno::NOSPC, "ENOSPC"),
    (Errno::IO, "EIO"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_own_system_lacks_is_a_fault_and_what_the_network_says_is_none() {
        let os = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        for ours in [
            Errno::MFILE,
            Errno::NFILE,
            Errno::ADDRNOTAVAIL,
            Errno::NOBUFS,
            Errno::NOMEM,
            Errno::NETUNREACH,
            Errno::HOSTUNREACH,
        ] {
            let answer = Trouble::at_once(&os(ours)).answer();
            assert_eq!(answer, Answer::Fault { code: name(&os(ours)) }, "{ours:?}");
            assert!(name(&os(ours)).starts_with('E'), "{ours:?}");
        }
        assert_eq!(Trouble::at_once(&os(Errno::CONNREFUSED)).answer().kind(), "refused");
        assert_eq!(Trouble::while_connecting(&os(Errno::CONNREFUSED)).answer().kind(), "refused");
        for silent in [Errno::HOSTUNREACH, Errno::NETUNREACH, Errno::TIMEDOUT] {
            assert_eq!(Trouble::while_connecting(&os(silent)).answer().kind(), "silent", "{silent:?}");
        }
        assert_eq!(Trouble::while_connecting(&os(Errno::CONNRESET)).answer().kind(), "cut");
    }
}
