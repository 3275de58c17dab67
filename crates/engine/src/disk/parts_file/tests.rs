//! A parts file is read completely or reported as damaged.

use std::fs;

use crate::disk::{FileError, PartsFile, RealDisk, write_parts_file};

const OWNER: [u8; 16] = *b"of one store    ";

const PARTS: [&[u8]; 4] = [b"stamp", b"", &[7; 200], b"last"];

#[test]
fn parts_are_read_completely_and_in_pieces() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("snapshot");
    write_parts_file(&RealDisk, &path, &OWNER, &[b"old"]).expect("it is written");
    write_parts_file(&RealDisk, &path, &OWNER, &PARTS).expect("it replaces the old file");
    let file = PartsFile::open(&RealDisk, &path, &OWNER).expect("it opens");
    assert_eq!(file.part_count(), PARTS.len());
    for (index, part) in PARTS.iter().enumerate() {
        assert_eq!(file.part_bytes(index), part.len() as u64);
        assert_eq!(file.read_part(index).expect("it is read"), *part);
    }
    let mut piece = [0; 3];
    file.read_at(3, 1, &mut piece).expect("it is read");
    assert_eq!(&piece, b"ast");
    assert!(
        file.read_at(3, 2, &mut piece).is_err(),
        "a read never crosses into the next part"
    );
    assert_eq!(
        fs::read_dir(directory.path())
            .expect("it is listed")
            .count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn every_torn_or_changed_file_is_detected() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("snapshot");
    write_parts_file(&RealDisk, &path, &OWNER, &PARTS).expect("it is written");
    let original = fs::read(&path).expect("it is read");
    let damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("it is written");
        let read = PartsFile::open(&RealDisk, &path, &OWNER).and_then(|file| {
            (0..file.part_count())
                .map(|part| file.read_part(part))
                .collect::<Result<Vec<_>, _>>()
        });
        match read {
            Ok(parts) => {
                assert_eq!(parts, PARTS, "undetected damage must not change a part");
                false
            }
            Err(FileError::Damaged { .. }) => true,
            Err(error) => panic!("{error}"),
        }
    };
    for length in 0..original.len() {
        assert!(
            damaged(&original[..length]),
            "cut to {length} of {} bytes",
            original.len()
        );
    }
    assert!(
        damaged(&[original.as_slice(), b"x"].concat()),
        "one byte too many"
    );
    let mut undetected = 0;
    for bit in 0..original.len() * 8 {
        let mut changed = original.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        undetected += usize::from(!damaged(&changed));
    }
    let covered = 36 + 16 * PARTS.len() + PARTS.iter().map(|part| part.len()).sum::<usize>();
    assert_eq!(
        undetected,
        (original.len() - covered) * 8,
        "checksums cover everything except the zeros between parts"
    );
}

#[test]
fn a_missing_file_is_not_reported_as_damaged() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    assert!(matches!(
        PartsFile::open(&RealDisk, &directory.path().join("none"), &OWNER),
        Err(FileError::Io { .. })
    ));
}
