//! `kill -9` in a storm of reports: what was acknowledged is there after the restart, with its stamp.

use std::sync::Mutex;

use greenlight_tests::{Daemon, Folder};

/// As the issue of every release asks: at least 50 kills in a run.
const KILLS: u64 = 50;

#[test]
fn every_acknowledged_change_is_there_with_its_stamp_and_nothing_is_vouched_for() {
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let folder = Folder::new();
    let mut acknowledged: std::collections::BTreeMap<String, (u64, u64)> = std::collections::BTreeMap::new();
    let mut random = seed;
    for kill in 0..KILLS {
        let mut daemon = Daemon::start(folder.path(), &[]);
        let app = daemon.app();
        for (name, (draining, stamp)) in &acknowledged {
            let row = app["instances"].as_array().unwrap().iter().find(|row| row["name"] == **name).unwrap();
            // The write after the last acknowledged one may have been stored without its answer getting out.
            let found = row["draining"].as_u64().unwrap();
            assert!(found == *draining || found == draining + 1, "kill {kill} {name}: {row}");
            assert!(
                found != *draining || row["last_change_unix"].as_u64() == Some(*stamp),
                "kill {kill} {name}: {row}"
            );
            assert_eq!(row["standing"], "live_degraded", "nobody vouches: {row}");
        }
        assert_eq!(daemon.get("/readyz").0, 503);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let writes = 3 + (random >> 33) % 40;
        let told = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for writer in 0..3_u64 {
                let (daemon, told, acknowledged) = (&daemon, &told, &acknowledged);
                scope.spawn(move || {
                    let name = format!("slot-{writer}");
                    let mut draining = acknowledged.get(&name).map_or(0, |(draining, _)| *draining) + 1;
                    loop {
                        draining += 1;
                        let body = format!(r#"{{"serving_sha":"a","last_green":"a","draining":{draining}}}"#);
                        let path = format!("/sources/driver/instances/{name}?good_for_secs=600");
                        if daemon.put(&path, &body).0 != 200 {
                            return;
                        }
                        let mut told = told.lock().unwrap();
                        told.push((name.clone(), draining));
                        if told.len() as u64 >= writes {
                            let process = rustix::process::Pid::from_raw(daemon.id().try_into().unwrap()).unwrap();
                            // Another writer may have been first.
                            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
                        }
                    }
                });
            }
        });
        daemon.kill();
        let mut last: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
        for (name, draining) in told.into_inner().unwrap() {
            last.insert(name, draining);
        }
        // The stamp of a change lies between its request and its answer; learn it from the next life, once.
        let mut next = Daemon::start(folder.path(), &[]);
        let app = next.app();
        for (name, draining) in last {
            let row = app["instances"].as_array().unwrap().iter().find(|row| row["name"] == *name).unwrap();
            let found = row["draining"].as_u64().unwrap();
            assert!(found == draining || found == draining + 1, "kill {kill} {name} {draining}: {row}");
            acknowledged.insert(name, (found, row["last_change_unix"].as_u64().unwrap()));
        }
        next.kill();
    }
}
