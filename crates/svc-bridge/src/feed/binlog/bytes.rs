//! A cursor over the bytes of an event. Each method returns `None` if too few bytes are left.

#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    /// A little-endian number of up to 8 bytes.
    pub(super) fn number(&mut self, length: usize) -> Option<u64> {
        Some(little_endian(self.take(length)?))
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.u8()?, self.u8()?]))
    }

    /// A number in the length-encoded format of the protocol.
    pub(super) fn length_encoded(&mut self) -> Option<usize> {
        let length = match self.u8()? {
            small @ ..=250 => return Some(usize::from(small)),
            252 => 2,
            253 => 3,
            254 => 8,
            251 | 255 => return None,
        };
        usize::try_from(self.number(length)?).ok()
    }

    /// A text whose length is in its first byte and that ends with a zero byte.
    pub(super) fn name(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(self.u8()?);
        let name = self.take(length)?;
        self.take(1)?;
        Some(name)
    }
}

/// A little-endian number of up to 8 bytes.
pub(super) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
