//! Records keep their codes through bytes, appending and overwriting.

mod common;

use common::Random;
use cosift_kernels::{BLOCK_RECORDS, Codec, Codes, FullCodes, Layout, LowNibbles, Steps};

const SEED: u64 = 0xB10C;
const DIMS: usize = 104;

fn codec() -> Codec {
    let layout = Layout::new(DIMS, 24, 48).expect("valid bands");
    Codec::new(
        layout,
        Steps {
            fine: 0.01,
            coarse: 0.005,
            tail: 0.002,
        },
    )
}

fn vectors(records: usize) -> Vec<Vec<f32>> {
    println!("seed {SEED:#x}");
    let mut random = Random(SEED);
    (0..records)
        .map(|_| random.unit_near(&[0.0; DIMS], 1.0))
        .collect()
}

fn encoded(codec: &Codec, vectors: &[Vec<f32>]) -> FullCodes {
    let mut codes = FullCodes::new(codec.layout(), 0);
    for (slot, vector) in vectors.iter().enumerate() {
        codec.encode(vector, slot, &mut codes);
    }
    codes
}

fn assert_same(left: &FullCodes, right: &FullCodes) {
    assert_eq!(left.codes.records(), right.codes.records());
    let (left_head, right_head) = (left.codes.head_bytes(), right.codes.head_bytes());
    assert!(left_head == right_head, "heads are equal");
    let rests = [left, right].map(|full| full.low.rest_bytes(&full.codes));
    assert!(rests[0] == rests[1], "rests are equal");
}

fn append(to: &mut FullCodes, other: &FullCodes) {
    (0..other.codes.records()).for_each(|slot| to.push((&other.codes, &other.low), slot));
}

#[test]
fn appended_blocks_are_the_block_of_all_records() {
    let (codec, vectors) = (codec(), vectors(83));
    for split in [0, 1, 16, 37, 83] {
        let (first, second) = vectors.split_at(split);
        let mut codes = encoded(&codec, first);
        append(&mut codes, &encoded(&codec, second));
        assert_same(&codes, &encoded(&codec, &vectors));
    }
}

#[test]
fn bytes_make_the_same_block_again_unless_some_are_missing() {
    let (codec, layout) = (codec(), codec().layout());
    let full = encoded(&codec, &vectors(40));
    let (head, rest) = (full.codes.head_bytes(), full.low.rest_bytes(&full.codes));
    assert_eq!(head.len(), layout.head_bytes(40));
    assert_eq!(rest.len(), layout.rest_bytes(40));
    let codes = Codes::from_bytes(layout, 40, head, &rest).expect("lengths are right");
    let low = LowNibbles::from_bytes(layout, 40, &rest).expect("the length is right");
    assert_same(&FullCodes { codes, low }, &full);
    assert!(Codes::from_bytes(layout, 40, &head[1..], &rest).is_none());
    assert!(Codes::from_bytes(layout, 40, head, &rest[1..]).is_none());
    assert!(Codes::from_bytes(layout, BLOCK_RECORDS + 1, head, &rest).is_none());
    assert!(LowNibbles::from_bytes(layout, 40, &rest[1..]).is_none());
    assert!(LowNibbles::from_bytes(layout, BLOCK_RECORDS + 1, &rest).is_none());
}

#[test]
fn overwritten_record_is_as_if_it_had_been_there_from_the_start() {
    let (codec, mut vectors) = (codec(), vectors(40));
    let mut codes = encoded(&codec, &vectors);
    vectors.swap(3, 21);
    for slot in [3, 21] {
        codec.encode(&vectors[slot], slot, &mut codes);
    }
    assert_same(&codes, &encoded(&codec, &vectors));
}

#[test]
fn missing_components_are_zeros_also_in_a_record_that_is_overwritten() {
    let (codec, mut vectors) = (codec(), vectors(60));
    let all = vectors.clone();
    let mut codes = encoded(&codec, &all);
    for (slot, vector) in vectors.iter_mut().enumerate() {
        vector[slot..].fill(0.0);
        codec.encode(&vector[..slot], slot, &mut codes);
    }
    assert_same(&codes, &encoded(&codec, &vectors));
}

#[test]
fn pushed_records_are_a_block_of_their_own() {
    let (codec, vectors) = (codec(), vectors(60));
    let all = encoded(&codec, &vectors);
    let mut odd = FullCodes::new(codec.layout(), 30);
    let pushed = (1..60).step_by(2);
    pushed.for_each(|slot| odd.push((&all.codes, &all.low), slot));
    let expected: Vec<Vec<f32>> = vectors.into_iter().skip(1).step_by(2).collect();
    assert_same(&odd, &encoded(&codec, &expected));
}

#[test]
#[should_panic(expected = "a block holds 4096 records")]
fn full_block_takes_no_more() {
    let codec = codec();
    let one = encoded(&codec, &vectors(1));
    let mut codes = FullCodes::new(codec.layout(), BLOCK_RECORDS);
    (0..=BLOCK_RECORDS).for_each(|_| append(&mut codes, &one));
}
