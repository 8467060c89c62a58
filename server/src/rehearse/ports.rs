//! Ports for the processes: below those that the system gives to clients, so that no connection of anybody's takes
//! one, and a process that has gone is refused rather than met by ourselves.

use std::fs;
use std::net::{IpAddr, TcpListener};
use std::ops::RangeInclusive;

/// The ports that the system gives to clients.
pub(super) fn client_ports() -> RangeInclusive<u16> {
    fs::read_to_string(RANGE_FILE).ok().and_then(|text| parse(&text)).unwrap_or(USUAL)
}

/// So many free ports: the first ones of `given`, or any below the clients'.
///
/// # Errors
/// In words, where they are in use or there is no room.
pub(super) fn pick(host: IpAddr, given: Option<RangeInclusive<u16>>, count: usize) -> Result<Vec<u16>, String> {
    match given {
        Some(given) => {
            let ports: Vec<u16> = given.clone().take(count).collect();
            if ports.len() < count || ports.contains(&0) {
                return Err(format!("--ports {}-{} are not {count} ports", given.start(), given.end()));
            }
            let held: Vec<_> = ports.iter().map(|port| (*port, TcpListener::bind((host, *port)))).collect();
            match held.iter().find_map(|(port, bound)| bound.as_ref().err().map(|error| (port, error))) {
                Some((port, error)) => {
                    Err(format!("port {port} cannot be used ({error}): end what uses it, or give others by --ports"))
                }
                None => Ok(ports),
            }
        }
        None => free(host, count),
    }
}

fn free(host: IpAddr, count: usize) -> Result<Vec<u16>, String> {
    let clients = client_ports();
    // Below the clients' ports, or above where there is no room below.
    let below = LEAST..=clients.start().saturating_sub(1);
    let room = if below.len() >= ROOM { below } else { clients.end().saturating_add(1)..=u16::MAX };
    if room.len() < count || *room.start() == u16::MAX {
        return Err(format!(
            "no port is left beside the clients' {}-{}: give some by --ports",
            clients.start(),
            clients.end()
        ));
    }
    // Two rehearsals that begin together try different ones.
    let mut seed = [0_u8; 2];
    getrandom::fill(&mut seed).map_err(|error| format!("no random number can be had: {error}"))?;
    let start = usize::from(u16::from_ne_bytes(seed)) % room.len();
    let mut held = Vec::new();
    for port in room.clone().cycle().skip(start).take(room.len()) {
        // All are held until all are found.
        if let Ok(listener) = TcpListener::bind((host, port)) {
            held.push((port, listener));
        }
        if held.len() == count {
            return Ok(held.into_iter().map(|(port, _)| port).collect());
        }
    }
    Err(format!("{count} free ports were not found on {host} between {} and {}", room.start(), room.end()))
}

fn parse(text: &str) -> Option<RangeInclusive<u16>> {
    let mut ends = text.split_ascii_whitespace();
    let (first, last) = (ends.next()?.parse().ok()?, ends.next()?.parse().ok()?);
    (first <= last).then_some(first..=last)
}

/// Two numbers: the first and the last.
const RANGE_FILE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// What a system has that does not say.
const USUAL: RangeInclusive<u16> = 32_768..=60_999;
/// Below stand the well-known ones, and the usual ones of databases and test servers.
const LEAST: u16 = 10_000;
/// Fewer than this is no room to look for free ones.
const ROOM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn free_ports_are_distinct_and_none_of_the_clients() {
        let mut ports = pick(HOST, None, 4).unwrap();
        assert!(ports.iter().all(|port| !client_ports().contains(port)));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 4);
    }

    #[test]
    fn a_given_port_that_is_in_use_is_named() {
        let listener = TcpListener::bind((HOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = pick(HOST, Some(port..=port), 1).unwrap_err();
        assert!(error.starts_with(&format!("port {port} cannot be used")) && error.ends_with("--ports"), "{error}");
        assert!(pick(HOST, Some(9..=10), 4).unwrap_err().contains("are not 4 ports"));
    }

    #[test]
    fn a_range_is_two_numbers_in_order() {
        assert_eq!(parse("32768\t60999\n"), Some(32_768..=60_999));
        for bad in ["", "1", "2 1", "a b", "1 70000"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
