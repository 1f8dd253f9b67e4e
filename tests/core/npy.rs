//! Arrays that independent software wrote.

use std::path::Path;

/// Reads an `.npy` array as f64 values and its shape, whatever its number type.
pub(crate) fn read_npy(path: &Path) -> (Vec<usize>, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file = npyz::NpyFile::new(&bytes[..]).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let shape = file.shape().iter().map(|&n| n as usize).collect();
    let npyz::DType::Plain(kind) = file.dtype() else {
        panic!("{}: not a plain array", path.display())
    };
    let name = kind.to_string();
    let values = match &name[1..] {
        "f4" => file
            .into_vec::<f32>()
            .unwrap()
            .into_iter()
            .map(f64::from)
            .collect(),
        "f8" => file.into_vec::<f64>().unwrap(),
        "u4" => file
            .into_vec::<u32>()
            .unwrap()
            .into_iter()
            .map(f64::from)
            .collect(),
        "u1" => file
            .into_vec::<u8>()
            .unwrap()
            .into_iter()
            .map(f64::from)
            .collect(),
        "i4" => file
            .into_vec::<i32>()
            .unwrap()
            .into_iter()
            .map(f64::from)
            .collect(),
        "i8" => file
            .into_vec::<i64>()
            .unwrap()
            .into_iter()
            .map(|v| v as f64)
            .collect(),
        "b1" => file
            .into_vec::<bool>()
            .unwrap()
            .into_iter()
            .map(|v| f64::from(u8::from(v)))
            .collect(),
        other => panic!("{}: unexpected number type {other}", path.display()),
    };
    (shape, values)
}
