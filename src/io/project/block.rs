//! Numbers as text: byte planes, zstd, base64.
//!
//! Neighbouring numbers share their high bytes, so all first bytes are stored, then all second bytes, and so on.

use base64::prelude::{BASE64_STANDARD, Engine};
use std::cell::RefCell;
use std::io::Read;
use zstd::bulk::Decompressor;

/// zstd's default trade-off; higher levels gain little on byte planes.
const LEVEL: i32 = 3;

/// Data that is declared to be longer than this many times its packed length is unpacked piece by piece.
const PLAUSIBLE: usize = 64;

/// Appends `values` (little-endian bytes) as `K` planes with one byte per value each.
pub(super) fn push_planes<const K: usize>(
    out: &mut Vec<u8>,
    values: impl ExactSizeIterator<Item = [u8; K]>,
) {
    let n = values.len();
    let start = out.len();
    out.resize(start + K * n, 0);
    let planes = &mut out[start..];
    for (i, value) in values.enumerate() {
        for (k, byte) in value.into_iter().enumerate() {
            planes[k * n + i] = byte;
        }
    }
}

/// Reads `n` values from the front of `bytes`; `None` where there are too few bytes.
pub(super) fn take_planes<'a, const K: usize>(
    bytes: &mut &'a [u8],
    n: usize,
) -> Option<impl ExactSizeIterator<Item = [u8; K]> + use<'a, K>> {
    let (planes, rest) = bytes.split_at_checked(K.checked_mul(n)?)?;
    *bytes = rest;
    let planes: [&[u8]; K] = std::array::from_fn(|k| &planes[k * n..(k + 1) * n]);
    Some((0..n).map(move |i| planes.map(|plane| plane[i])))
}

/// `bytes` compressed and encoded as text.
pub(super) fn to_text(bytes: &[u8]) -> Result<String, String> {
    let packed = zstd::bulk::compress(bytes, LEVEL).map_err(|e| e.to_string())?;
    Ok(BASE64_STANDARD.encode(packed))
}

/// The bytes encoded in `text`, exactly `n_bytes`; never decompresses more than that.
pub(super) fn from_text(text: &str, n_bytes: usize) -> Result<Vec<u8>, String> {
    let packed = BASE64_STANDARD
        .decode(text)
        .map_err(|_| "its encoded data is not base64".to_owned())?;
    // At once where the length is plausible: the memory of a stream takes longer than a small block.
    if n_bytes <= packed.len().saturating_mul(PLAUSIBLE)
        && let Some(bytes) = unpacked(&packed, n_bytes)
        && bytes.len() == n_bytes
    {
        return Ok(bytes);
    }
    let unreadable = |_| "its encoded data cannot be unpacked".to_owned();
    let reader = zstd::Decoder::new(packed.as_slice()).map_err(unreadable)?;
    // Grows with the data: a declared length alone allocates nothing.
    let mut bytes = Vec::new();
    reader
        .take(n_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() == n_bytes {
        Ok(bytes)
    } else {
        Err("its encoded data does not have the declared length".into())
    }
}

/// The unpacked data where it is at most `n_bytes` long. Each thread keeps its decompressor: making one takes as long as
/// a small block.
fn unpacked(packed: &[u8], n_bytes: usize) -> Option<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|known| {
        if known.is_none() {
            *known = Decompressor::new().ok();
        }
        known.as_mut()?.decompress(packed, n_bytes).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_put_equal_bytes_side_by_side_and_back() {
        let mut bytes = Vec::new();
        push_planes(&mut bytes, [[1u8, 9], [2, 9], [3, 9]].into_iter());
        assert_eq!(bytes, [1, 2, 3, 9, 9, 9]);
        let mut rest = bytes.as_slice();
        let values: Vec<[u8; 2]> = take_planes(&mut rest, 3).unwrap().collect();
        assert_eq!(values, [[1, 9], [2, 9], [3, 9]]);
        assert!(take_planes::<1>(&mut rest, 1).is_none());
        assert!(take_planes::<4>(&mut rest, usize::MAX).is_none());
    }

    #[test]
    fn text_unpacks_to_exactly_the_declared_length() {
        let bytes = vec![7u8; 100_000];
        let text = to_text(&bytes).unwrap();
        assert!(text.len() < 100);
        assert_eq!(from_text(&text, 100_000).unwrap(), bytes);
        for n_bytes in [0, 99_999, 100_001, 1 << 40] {
            assert!(from_text(&text, n_bytes).is_err(), "{n_bytes}");
        }
        assert!(from_text("no base64!", 1).is_err());
        assert!(from_text("AAAA", 1).is_err());
    }
}
