//! Packets that were logged with their times of arrival.

use super::guard::MAX_PACKET_BYTES;
use super::source::VmcSource;
use crate::motion::fault::Fault;
use crate::task::Task;

/// Packets between two checks for cancellation.
const SPAN: usize = 1 << 12;

/// Reads a log: records of f64 arrival seconds, u32 length, and that many bytes, little-endian. A last record that is cut off
/// is left out.
pub fn read_log(bytes: &[u8], task: &Task) -> Result<VmcSource, Fault> {
    let mut source = VmcSource::default();
    let mut rest = bytes;
    let mut record = 0_usize;
    while let Some((arrival, after)) = rest.split_first_chunk::<8>() {
        let Some((length, after)) = after.split_first_chunk::<4>() else {
            break;
        };
        record += 1;
        if record.is_multiple_of(SPAN) {
            task.step(
                "Reading packets",
                1.0 - rest.len() as f32 / bytes.len() as f32,
            )?;
        }
        let arrival = f64::from_le_bytes(*arrival);
        let length = u32::from_le_bytes(*length) as usize;
        if !arrival.is_finite() || length > MAX_PACKET_BYTES {
            let what = format!("record {record} is not a packet: this is not a log of VMC packets");
            return Err(Fault::whole(what));
        }
        if length > after.len() {
            break;
        }
        let (packet, next) = after.split_at(length);
        source.receive(arrival, packet);
        rest = next;
    }
    if source.counts().received == 0 {
        return Err(Fault::whole("there are no packets"));
    }
    Ok(source)
}
