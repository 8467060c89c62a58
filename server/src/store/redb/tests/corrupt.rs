//! Files that were mangled, and files from the future.

use std::fs;

use ::redb::Database;

use greenlight_core::history::Happening;

use super::super::tables::{FORMAT, FORMAT_KEY, META, ROWS};
use super::disk::{Dir, Disk};
use super::model::{Model, Random, batch};
use crate::store::{Batch, Store, StoreError, open};

/// A store of some batches in a directory.
fn filled(dir: &Dir) -> Model {
    let mut store = open(&dir.0).unwrap();
    let (mut random, mut model, mut next_order) = (Random(3), Model::default(), 0);
    for moment in 0..10 {
        let batch = batch(&model, &mut next_order, moment, &mut random);
        store.append(&batch).unwrap();
        model.take(&batch);
    }
    model
}

/// Opens a directory with a corrupt store: that is moved aside, and the new one works and lasts.
#[track_caller]
fn starts_anew(dir: &Dir) {
    let mut store = open(&dir.0).unwrap();
    let loaded = store.load().unwrap();
    assert!(loaded.rows.is_empty() && loaded.mark.is_none());
    let aside = store.set_aside().expect("not declared corrupt").to_owned();
    assert!(aside.ends_with("board.redb.corrupt-1"), "{aside}");
    assert!(fs::exists(&aside).unwrap());
    let mut random = Random(9);
    let (mut model, mut next_order) = (Model::default(), 0);
    let batch = batch(&model, &mut next_order, 1, &mut random);
    store.append(&batch).unwrap();
    model.take(&batch);
    drop(store);
    let mut again = open(&dir.0).unwrap();
    assert_eq!(again.set_aside(), None);
    assert_eq!(Model::of(&mut again), model);
}

#[test]
fn garbage_is_moved_aside() {
    for garbage in [&b""[..], b"x", b"not a database", &[0; 5000], &vec![0xFF; 100_000]] {
        let dir = Dir::new();
        fs::write(dir.file(), garbage).unwrap();
        starts_anew(&dir);
    }
}

#[test]
fn a_truncated_file_is_moved_aside_at_any_length() {
    let whole = Dir::new();
    filled(&whole);
    let bytes = fs::read(whole.file()).unwrap();
    for part in 0..16 {
        let dir = Dir::new();
        fs::write(dir.file(), &bytes[..bytes.len() * part / 16]).unwrap();
        starts_anew(&dir);
    }
}

#[test]
fn a_second_corrupt_store_gets_a_name_of_its_own() {
    let dir = Dir::new();
    for n in 1..=3 {
        fs::write(dir.file(), format!("garbage {n}")).unwrap();
        open(&dir.0).unwrap();
        assert_eq!(fs::read(dir.0.join(format!("board.redb.corrupt-{n}"))).unwrap(), format!("garbage {n}").as_bytes());
    }
}

#[test]
fn a_flipped_bit_is_noticed_or_does_not_matter() {
    let whole = Dir::new();
    let model = filled(&whole);
    let bytes = fs::read(whole.file()).unwrap();
    let (mut noticed, mut harmless) = (0, 0);
    // Every bit of the header's fields, and a stride over the rest.
    for place in (0..400).chain((400..bytes.len()).step_by(211)) {
        let mut mangled = bytes.clone();
        mangled[place] ^= 1 << (place % 8);
        let mut store = match Disk::of(mangled).store() {
            Ok(store) => store,
            Err(error) => panic!("byte {place}: {error}"),
        };
        let found = Model::of(&mut store);
        if store.set_aside().is_some() {
            assert_eq!(found, Model::default(), "byte {place}");
            noticed += 1;
        } else {
            assert_eq!(found, model, "byte {place}: not noticed, and not what was kept");
            harmless += 1;
        }
    }
    println!("{noticed} noticed, {harmless} harmless");
    assert!(noticed > 100);
}

#[test]
fn a_row_that_cannot_be_understood_is_corruption() {
    for text in [&b"{"[..], b"{}", b"\xFF", br#"{"name":"a b"}"#] {
        let dir = Dir::new();
        filled(&dir);
        let database = Database::open(dir.file()).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(ROWS).unwrap().insert(0, text).unwrap();
        transaction.commit().unwrap();
        drop(database);
        starts_anew(&dir);
    }
}

#[test]
fn another_databases_file_is_corruption() {
    let dir = Dir::new();
    drop(Database::create(dir.file()).unwrap());
    starts_anew(&dir);
}

fn set_format(dir: &Dir, format: u64) -> Database {
    let database = Database::open(dir.file()).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(META).unwrap().insert(FORMAT_KEY, format.to_string().as_str()).unwrap();
    transaction.commit().unwrap();
    database
}

#[test]
fn a_newer_store_is_refused_in_words_and_left_as_it_is() {
    let dir = Dir::new();
    filled(&dir);
    drop(set_format(&dir, FORMAT + 1));
    let bytes = fs::read(dir.file()).unwrap();
    let refusal = open(&dir.0).unwrap_err();
    assert!(matches!(refusal, StoreError::Newer { found: 2, known: 1 }), "{refusal}");
    assert!(refusal.to_string().contains("start the newer binary"));
    assert!(fs::read(dir.file()).unwrap() == bytes, "the file was touched");
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 1);
}

#[test]
fn a_newer_store_that_was_not_closed_stays_in_place_with_its_format() {
    let dir = Dir::new();
    filled(&dir);
    let database = set_format(&dir, FORMAT + 1);
    let crashed = Dir::new();
    fs::copy(dir.file(), crashed.file()).unwrap();
    drop(database);
    for _ in 0..2 {
        assert!(matches!(open(&crashed.0), Err(StoreError::Newer { found: 2, known: 1 })));
    }
}

#[test]
fn a_store_that_turns_corrupt_while_it_runs_is_begun_anew_with_the_whole_board() {
    let disk = Disk::new();
    let mut store = disk.store().unwrap();
    let (mut random, mut model, mut next_order) = (Random(4), Model::default(), 0);
    for moment in 0..5 {
        let batch = batch(&model, &mut next_order, moment, &mut random);
        store.append(&batch).unwrap();
        model.take(&batch);
    }
    disk.with(|state| state.image.iter_mut().for_each(|byte| *byte ^= 0x55));
    disk.fail(super::disk::Failing::Once(0));
    store.append(&Batch::default()).unwrap_err();
    // A part of the board on top of nothing would be a board that never was.
    assert!(matches!(store.append(&Batch::default()), Err(StoreError::Io(_))));
    assert_eq!(store.set_aside(), Some("aside-1"));
    store.append(&model.whole()).unwrap();
    let mut found = Model::of(&mut store);
    let events = std::mem::take(&mut found.events);
    model.events.clear();
    assert_eq!(found, model);
    // What is left of history begins with the board as it is.
    assert_eq!(events[0].1.what, Happening::Retold { missing_since_unix: None });
    let told: Vec<_> = events
        .iter()
        .filter_map(|(_, event)| match &event.what {
            Happening::Changed { name, row, .. } => Some((name.clone(), (**row).clone())),
            _ => None,
        })
        .collect();
    let rows: Vec<_> = model.rows.values().map(|(held, _)| (held.name.clone(), held.row.clone())).collect();
    assert_eq!(told, rows);
}
