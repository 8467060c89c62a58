//! How late is `/readyz` while 10,000-row reports that change every row come in and 1,000 event streams are told?

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use greenlight_tests::measure::{Asker, micros, quantiles, report, timed};
use greenlight_tests::{Daemon, Folder};

const STREAMS: usize = 1000;
const REPORTS: u64 = 30;

fn main() {
    println!("/readyz during {REPORTS} reports that each change 10,000 rows, with {STREAMS} event streams read");
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let mut asker = Asker::new(&daemon.url, "/readyz");
    let mut idle: Vec<f64> = (0..2000).map(|_| asker.ask().as_secs_f64()).collect();
    print("  with nothing going on", &mut idle);

    let (done, told, read) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let address = daemon.url.trim_start_matches("http://");
    std::thread::scope(|scope| {
        for group in 0..8 {
            let (done, read, told) = (&done, &read, &told);
            scope.spawn(move || {
                let mut streams: Vec<TcpStream> =
                    (group..STREAMS).step_by(8).map(|_| TcpStream::connect(address).unwrap()).collect();
                for stream in &mut streams {
                    write!(stream, "GET /events HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
                    stream.set_nonblocking(true).unwrap();
                }
                told.fetch_add(1, Ordering::Relaxed);
                let mut buffer = vec![0; 256 * 1024];
                while !done.load(Ordering::Relaxed) {
                    let bytes: usize = streams.iter_mut().map(|stream| stream.read(&mut buffer).unwrap_or(0)).sum();
                    read.fetch_add(bytes as u64, Ordering::Relaxed);
                    if bytes == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
        greenlight_tests::wait_until(|| told.load(Ordering::Relaxed) == 8);
        let reporting = scope.spawn(|| {
            let reports: Vec<String> = (0..REPORTS).map(|salt| report(10_000, salt)).collect();
            let (took, ()) = timed(|| {
                for report in &reports {
                    assert_eq!(daemon.put("/sources/driver", report).0, 200);
                }
            });
            done.store(true, Ordering::Relaxed);
            took
        });
        let mut busy = Vec::new();
        while !done.load(Ordering::Relaxed) {
            busy.push(asker.ask().as_secs_f64());
        }
        let took = reporting.join().unwrap();
        print("  during the reports", &mut busy);
        let mib = read.load(Ordering::Relaxed) / (1024 * 1024);
        println!("  {REPORTS} reports took {:.1} s; the streams read {mib} MiB", took.as_secs_f64());
    });
}

fn print(what: &str, times: &mut [f64]) {
    let count = times.len();
    let [p50, p99, p999, most] = quantiles(times, [0.5, 0.99, 0.999, 1.0]).map(micros);
    println!("{what:<24} {count} answers: p50 {p50}, p99 {p99}, p99.9 {p999}, at most {most}");
}
