//! What do 100,000 instances cost in memory, and how long does a restart with them take?

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use greenlight_tests::measure::{micros, report, resident_mib, timed};
use greenlight_tests::{Daemon, Folder};

fn main() {
    println!("100,000 instances, the real daemon with its store on disk");
    let folder = Folder::new();
    let body = report(100_000, 1);
    let mut daemon = Daemon::start(folder.path(), &[]);
    let (empty, _) = resident_mib(daemon.id());
    let (first, _) = timed(|| assert_eq!(daemon.put("/sources/driver", &body).0, 200));
    let (changed, _) = timed(|| assert_eq!(daemon.put("/sources/driver", &report(100_000, 2)).0, 200));
    let (unchanged, _) = timed(|| assert_eq!(daemon.put("/sources/driver", &report(100_000, 2)).0, 200));
    let (now, most) = resident_mib(daemon.id());
    println!("  a first report of all, durable {}", micros(first.as_secs_f64()));
    println!("  one that changes all, durable  {}", micros(changed.as_secs_f64()));
    println!("  one that changes nothing       {}", micros(unchanged.as_secs_f64()));
    println!("  resident memory                {empty} MiB empty, {now} MiB after these reports, {most} MiB at most");
    for ended in ["kill -9", "kill -9 again"] {
        daemon.kill();
        let (answers, next) = timed(|| Daemon::start_unready(folder.path(), &[]));
        daemon = next;
        let (first_answer, (status, body)) = timed(|| daemon.get("/readyz"));
        assert!(status == 503 && body.contains("no source has reported"), "{status} {body}");
        let (now, most) = resident_mib(daemon.id());
        println!(
            "  restart after {ended}: /readyz answers within {}; {now} MiB resident, {most} MiB at most",
            micros((answers + first_answer).as_secs_f64())
        );
        let (confirmed, _) = timed(|| assert_eq!(daemon.put("/sources/driver", &report(100_000, 2)).0, 200));
        let (now, most) = resident_mib(daemon.id());
        println!("    confirmed again in {}; {now} MiB resident, {most} MiB at most", micros(confirmed.as_secs_f64()));
    }
}
