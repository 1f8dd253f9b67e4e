//! What a packet must be before it is decoded: the decoder recurses without limit.

/// The largest packet, bytes: that of UDP.
pub const MAX_PACKET_BYTES: usize = 65_507;
/// How deep bundles may be nested.
const MAX_DEPTH: usize = 8;
/// The largest number of messages of a packet.
const MAX_MESSAGES: usize = 1024;
/// `#bundle`, its end and a time.
const BUNDLE_BYTES: usize = 16;

/// An error that names the reason unless a packet can be decoded: at most 8 bundles deep and 1,024 messages, every length a
/// multiple of 4 and inside its parent.
pub fn guard(packet: &[u8]) -> Result<(), &'static str> {
    if packet.is_empty() {
        return Err("the packet is empty");
    }
    if packet.len() > MAX_PACKET_BYTES {
        return Err("the packet is larger than 65,507 bytes");
    }
    if !packet.len().is_multiple_of(4) {
        return Err("its length is not a multiple of 4");
    }
    let mut n_messages = 0;
    // What is left of each open bundle.
    let mut open: Vec<&[u8]> = Vec::new();
    let mut element = packet;
    loop {
        if element.starts_with(b"#bundle\0") {
            if element.len() < BUNDLE_BYTES {
                return Err("a bundle is cut off");
            }
            if open.len() == MAX_DEPTH {
                return Err("bundles are nested more than 8 deep");
            }
            open.push(&element[BUNDLE_BYTES..]);
        } else {
            n_messages += 1;
            if n_messages > MAX_MESSAGES {
                return Err("it has more than 1,024 messages");
            }
            if element.first() != Some(&b'/') {
                return Err("it is not an OSC message");
            }
        }
        // The next element of the innermost bundle that has one.
        element = loop {
            let Some(rest) = open.last_mut() else {
                return Ok(());
            };
            if rest.is_empty() {
                open.pop();
                continue;
            }
            let Some((size, after)) = rest.split_first_chunk::<4>() else {
                return Err("a bundle is cut off");
            };
            let size = u32::from_be_bytes(*size) as usize;
            if !size.is_multiple_of(4) || size == 0 || size > after.len() {
                return Err("the length of an element is not that of its content");
            }
            let (inside, next) = after.split_at(size);
            *rest = next;
            break inside;
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(inside: &[u8]) -> Vec<u8> {
        let mut bytes = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
        bytes.extend((inside.len() as u32).to_be_bytes());
        bytes.extend(inside);
        bytes
    }

    #[test]
    fn only_bounded_packets_pass() {
        let message = b"/a\0\0,\0\0\0";
        assert_eq!(guard(message), Ok(()));
        let mut nested = message.to_vec();
        for _ in 0..8 {
            nested = bundle(&nested);
            assert_eq!(guard(&nested), Ok(()));
        }
        assert!(guard(&bundle(&nested)).unwrap_err().contains("8 deep"));
        assert_eq!(guard(b"#bundle\0\0\0\0\0\0\0\0\x01"), Ok(()));
        for bytes in [
            &b""[..],
            b"#bundle\0",
            b"hello world!",
            b"/a\0\0,",
            &vec![0; 65_508],
        ] {
            assert!(guard(bytes).is_err(), "{bytes:?}");
        }
        let mut lies = bundle(message);
        lies[16] = 0x7f;
        assert!(guard(&lies).is_err());
        let mut many = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
        for _ in 0..1025 {
            many.extend(8_u32.to_be_bytes());
            many.extend(message);
        }
        assert!(guard(&many).unwrap_err().contains("1,024"));
    }
}
