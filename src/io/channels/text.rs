//! The text of a file, bounded.

use super::error::{ChannelFileError, Fault, MAX_FILE_BYTES};
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

/// The text of a file of at most [`MAX_FILE_BYTES`], without its byte order mark. A larger one is refused by its size.
pub(super) fn read(path: &Path) -> Result<String, ChannelFileError> {
    let failed = |source| ChannelFileError::Io {
        path: path.to_owned(),
        source,
    };
    let too_large = || ChannelFileError::TooLarge {
        path: path.to_owned(),
    };
    // A pipe would block for ever.
    let found = std::fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(failed(Error::new(ErrorKind::InvalidInput, "not a file")));
    }
    if found.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    // It may grow while it is read.
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    decode(bytes).map_err(|fault| fault.of(path))
}

/// The text of bytes in UTF-8.
fn decode(mut bytes: Vec<u8>) -> Result<String, Fault> {
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        bytes.drain(..3);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Fault::whole("the file is empty"));
    }
    let is_marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let is_wide = bytes.len() >= 4
        && [0, 1].iter().any(|&odd| {
            let start = &bytes[..4];
            start[odd] == 0 && start[odd + 2] == 0 && start[1 - odd] != 0 && start[3 - odd] != 0
        });
    if is_marked || is_wide {
        return Err(Fault::whole("this is UTF-16: save it as UTF-8"));
    }
    if bytes.contains(&0) {
        return Err(Fault::whole("this is not a text file"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = String::from_utf8_lossy(good);
        let last = lines.rsplit('\n').next().unwrap_or_default();
        let what = "this is not UTF-8: save it as UTF-8";
        Fault::cell(lines.split('\n').count(), last.chars().count(), what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf_8_is_text() {
        let read = |bytes: &[u8]| decode(bytes.to_vec()).map_err(|fault| fault.to_string());
        assert_eq!(read(b"\xEF\xBB\xBFtime").unwrap(), "time");
        for (bytes, said) in [
            (&b""[..], "the file is empty"),
            (b" \r\n", "the file is empty"),
            (b"\xFF\xFEt\0", "this is UTF-16: save it as UTF-8"),
            (b"t\0i\0m\0", "this is UTF-16: save it as UTF-8"),
            (b"\0t\0i", "this is UTF-16: save it as UTF-8"),
            (b"ab\0\0\0cd", "this is not a text file"),
            (
                b"time,a[\xB0]",
                "line 1, column 8: this is not UTF-8: save it as UTF-8",
            ),
            (
                b"t\nab\xFF",
                "line 2, column 3: this is not UTF-8: save it as UTF-8",
            ),
        ] {
            assert_eq!(read(bytes).unwrap_err(), said);
        }
    }
}
