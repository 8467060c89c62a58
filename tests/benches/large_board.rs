//! What do 100,000 instances cost in memory, and how long does a restart with them take?

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use greenlight_tests::measure::{micros, report, resident_mib, timed};
use greenlight_tests::{Daemon, Folder, wait_until};

fn main() {
    println!("100,000 instances, the real daemon with its store on disk");
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &[]);
    let (empty, _) = resident_mib(daemon.id());
    println!("  empty: {empty} MiB resident");
    put(&daemon, "a first report of all", 1);
    put(&daemon, "one that changes all", 2);
    put(&daemon, "one that changes nothing", 2);
    for ended in ["kill -9", "another"] {
        daemon.kill();
        let (started, next) = timed(|| Daemon::start_unready(folder.path(), &[]));
        daemon = next;
        let (first, ()) = timed(|| assert_eq!(daemon.get("/readyz").0, 503));
        let (asked, ()) = timed(|| wait_until(|| daemon.get("/readyz").1.contains("no source has reported")));
        let [first, judged] = [started + first, started + first + asked].map(|took| micros(took.as_secs_f64()));
        let (now, most) = resident_mib(daemon.id());
        println!("  restart after {ended}: /readyz answers in {first}, and judges all rows in {judged}");
        println!("    {now} MiB resident, {most} MiB at most");
        put(&daemon, "the same report again", 2);
    }
}

fn put(daemon: &Daemon, what: &str, salt: u64) {
    let body = report(100_000, salt);
    let (took, (status, answer)) = timed(|| daemon.put("/sources/driver", &body));
    assert_eq!(status, 200, "{answer}");
    let (now, most) = resident_mib(daemon.id());
    println!("  {what}: durable in {}; {now} MiB resident, {most} MiB at most", micros(took.as_secs_f64()));
}
