//! EXT_meshopt_compression (and KHR_meshopt_compression): compressed buffer views.

use super::budget::Budget;
use super::error::Fault;
use super::json::At;
use bytes::Bytes;
use meshopt::{
    decode_filter_color, decode_filter_exp, decode_filter_oct, decode_filter_quat,
    decode_index_buffer, decode_index_sequence, decode_vertex_buffer,
};

/// A vertex of N 32-bit words; arrays implement `Default` only up to 32 elements.
#[derive(Clone)]
struct Words<const N: usize>([u32; N]);

impl<const N: usize> Default for Words<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

/// The decoded bytes of a compressed buffer view. `at` is the extension object, `bytes` the data it references.
pub(super) fn decode(at: &At<'_>, bytes: &[u8], budget: &Budget) -> Result<Bytes, Fault> {
    let stride = at.required_count("byteStride")?;
    let count = at.required_count("count")?;
    let mode = at.text("mode").unwrap_or_default();
    let filter = at.text("filter").unwrap_or("NONE");
    let fits = match mode {
        "ATTRIBUTES" => (4..=256).contains(&stride) && stride % 4 == 0,
        "TRIANGLES" => matches!(stride, 2 | 4) && count % 3 == 0,
        "INDICES" => matches!(stride, 2 | 4),
        _ => false,
    };
    let filter_fits = match filter {
        "NONE" => true,
        "OCTAHEDRAL" | "COLOR" => mode == "ATTRIBUTES" && matches!(stride, 4 | 8),
        "QUATERNION" => mode == "ATTRIBUTES" && stride == 8,
        "EXPONENTIAL" => mode == "ATTRIBUTES",
        _ => false,
    };
    if !fits || !filter_fits {
        return Err(Fault::new(
            &at.place,
            format!(
                "{} has mode {mode:?}, filter {filter:?}, {count} elements of {stride} bytes, which is not a valid \
                 combination.",
                at.place
            ),
        ));
    }
    // Once as decoded data, once as bytes.
    budget.charge(count.saturating_mul(stride).saturating_mul(2), &at.place)?;
    let count = count as usize;
    let decoded = match (mode, filter, stride) {
        ("TRIANGLES", _, 2) => decode_index_buffer::<u16>(bytes, count).map(|v| le16(&v)),
        ("TRIANGLES", ..) => decode_index_buffer::<u32>(bytes, count).map(|v| le32(&v)),
        ("INDICES", _, 2) => decode_index_sequence::<u16>(bytes, count).map(|v| le16(&v)),
        ("INDICES", ..) => decode_index_sequence::<u32>(bytes, count).map(|v| le32(&v)),
        (_, "OCTAHEDRAL", 4) => decode_vertex_buffer::<[i8; 4]>(bytes, count).map(|mut v| {
            decode_filter_oct(&mut v);
            bytemuck::cast_vec(v.into_flattened())
        }),
        (_, "OCTAHEDRAL", _) => decode_vertex_buffer::<[i16; 4]>(bytes, count).map(|mut v| {
            decode_filter_oct(&mut v);
            le16(v.as_flattened())
        }),
        (_, "COLOR", 4) => decode_vertex_buffer::<[u8; 4]>(bytes, count).map(|mut v| {
            decode_filter_color(&mut v);
            v.into_flattened()
        }),
        (_, "COLOR", _) => decode_vertex_buffer::<[u16; 4]>(bytes, count).map(|mut v| {
            decode_filter_color(&mut v);
            le16(v.as_flattened())
        }),
        (_, "QUATERNION", _) => decode_vertex_buffer::<[i16; 4]>(bytes, count).map(|mut v| {
            decode_filter_quat(&mut v);
            le16(v.as_flattened())
        }),
        (_, filter, _) => vertices(bytes, count, stride as usize).map(|mut words| {
            if filter == "EXPONENTIAL" {
                let (single, _) = words.as_chunks_mut::<1>();
                decode_filter_exp(single);
            }
            le32(&words)
        }),
    };
    decoded.map(Bytes::from).map_err(|_| {
        Fault::new(
            &at.place,
            format!("The compressed data of {} is damaged.", at.place),
        )
    })
}

/// Decodes vertices of `stride` bytes, a multiple of 4 up to 256, to 32-bit words.
fn vertices(bytes: &[u8], count: usize, stride: usize) -> meshopt::Result<Vec<u32>> {
    macro_rules! by_words {
        ($($n:literal)*) => {
            match stride / 4 {
                $($n => decode_vertex_buffer::<Words<$n>>(bytes, count)
                    .map(|v| v.into_iter().flat_map(|words| words.0).collect()),)*
                _ => Ok(Vec::new()),
            }
        };
    }
    by_words!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
}

fn le16<T: bytemuck::Pod>(values: &[T]) -> Vec<u8> {
    let values: &[u16] = bytemuck::cast_slice(values);
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn le32(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn vertices_and_triangles_come_back() {
        let positions: Vec<[f32; 3]> = (0..40).map(|i| [i as f32, 0.5, -1.0]).collect();
        let encoded = meshopt::encode_vertex_buffer(&positions).unwrap();
        let json = json!({"mode": "ATTRIBUTES", "byteStride": 12, "count": 40});
        let at = At::new(&json, "bufferViews[0]");
        let decoded = decode(&at, &encoded, &Budget::new(0)).unwrap();
        assert_eq!(decoded[..], *bytemuck::cast_slice::<_, u8>(&positions));

        let encoded = meshopt::encode_index_buffer(&[0, 1, 2, 2, 1, 3], 4).unwrap();
        let json = json!({"mode": "TRIANGLES", "byteStride": 2, "count": 6});
        let at = At::new(&json, "bufferViews[0]");
        let decoded = decode(&at, &encoded, &Budget::new(0)).unwrap();
        assert_eq!(decoded.len(), 12);
        assert!(decode(&at, &encoded[..4], &Budget::new(0)).is_err());
    }

    #[test]
    fn strides_that_would_break_the_decoder_are_refused() {
        for (mode, stride, count) in [
            ("ATTRIBUTES", 3, 1),
            ("ATTRIBUTES", 260, 1),
            ("TRIANGLES", 4, 4),
            ("INDICES", 8, 3),
            ("ATTRIBUTES", 4, u64::MAX),
        ] {
            let json = json!({"mode": mode, "byteStride": stride, "count": count});
            let at = At::new(&json, "bufferViews[0]");
            assert!(decode(&at, &[0xa0; 64], &Budget::new(0)).is_err());
        }
    }
}
