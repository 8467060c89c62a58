use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;

/// A path of its own, with nothing there, that goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("greenlight-lock-{}-{test}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_second_daemon_is_refused_and_told_who_holds_the_directory() {
    let place = Place::new("second");
    let held = acquire(&place.0, "pid 17, bind 127.0.0.1:8787, since 1785700000").unwrap();
    let refusal = acquire(&place.0, "pid 18").unwrap_err();
    let said = refusal.to_string();
    assert!(matches!(refusal, LockError::Held { by, .. } if by == "pid 17, bind 127.0.0.1:8787, since 1785700000"));
    assert!(said.contains("pid 17") && said.contains(place.0.to_str().unwrap()), "{said}");
    drop(held);
    acquire(&place.0, "pid 18").unwrap();
}

#[test]
fn a_shorter_holder_leaves_nothing_of_a_longer_one() {
    let place = Place::new("shorter");
    drop(acquire(&place.0, "a very long holder").unwrap());
    // As a holder that was killed leaves it.
    fs::write(place.0.join("lock"), "a very long holder that was killed\n").unwrap();
    let _held = acquire(&place.0, "short").unwrap();
    assert_eq!(fs::read_to_string(place.0.join("lock")).unwrap(), "short\n");
}

#[test]
fn a_waiter_gets_the_directory_when_the_first_lets_it_go() {
    let place = Place::new("waiter");
    let held = acquire(&place.0, "first").unwrap();
    let (told, tell) = mpsc::channel();
    let dir = place.0.clone();
    let waiting = thread::spawn(move || {
        told.send("waiting").unwrap();
        let lock = wait(&dir, "second");
        told.send("got it").unwrap();
        lock
    });
    let deadline = Duration::from_secs(30);
    assert_eq!(tell.recv_timeout(deadline), Ok("waiting"));
    assert_eq!(tell.try_recv(), Err(mpsc::TryRecvError::Empty), "it was let in beside the first");
    drop(held);
    assert_eq!(tell.recv_timeout(deadline), Ok("got it"));
    let second = waiting.join().unwrap().unwrap();
    assert!(matches!(acquire(&place.0, "third"), Err(LockError::Held { by, .. }) if by == "second"));
    drop(second);
}

#[test]
fn a_missing_directory_is_made_for_its_owner_only() {
    let place = Place::new("missing");
    let dir = place.0.join("state/greenlight");
    let _held = acquire(&dir, "me").unwrap();
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(dir.join("lock")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_cannot_be_a_data_directory_is_refused_in_words() {
    let place = Place::new("file");
    fs::write(&place.0, "").unwrap();
    for (dir, says) in [(place.0.clone(), "it is not a directory"), (place.0.join("x"), "a part of the path is not")] {
        let refusal = acquire(&dir, "me").unwrap_err();
        assert!(matches!(refusal, LockError::Unusable { .. }));
        assert!(refusal.to_string().contains(says), "{refusal}");
    }
    for (kind, says) in
        [(io::ErrorKind::PermissionDenied, "no permission"), (io::ErrorKind::ReadOnlyFilesystem, "read-only")]
    {
        assert!(unusable(&place.0, &kind.into()).to_string().contains(says));
    }
}

#[test]
fn a_holder_that_has_not_written_yet_is_told_as_such() {
    let place = Place::new("silent");
    let _held = acquire(&place.0, "").unwrap();
    assert!(matches!(acquire(&place.0, "me"), Err(LockError::Held { by, .. }) if by == "it has not said which"));
}
