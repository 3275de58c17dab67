//! Bytes that start on a cache line.

/// One cache line, the unit of allocation.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; Line::BYTES]);

impl Line {
    const BYTES: usize = 64;
    const ZERO: Self = Self([0; Self::BYTES]);
}

/// A growable byte buffer, zero filled, whose first byte is aligned to 64.
///
/// Vector loads of a tile then never straddle two cache lines.
#[derive(Default)]
pub(crate) struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            lines: Vec::with_capacity(bytes.div_ceil(Line::BYTES)),
            len: 0,
        }
    }

    /// Grows or shrinks to `len` bytes; new bytes are zero.
    pub(crate) fn resize(&mut self, len: usize) {
        let kept = self.len.min(len);
        self.lines.resize(len.div_ceil(Line::BYTES), Line::ZERO);
        self.len = len;
        // Shrinking inside a line leaves old bytes after the new end. A later growth would expose them, so they are
        // cleared.
        let end = (kept.div_ceil(Line::BYTES) * Line::BYTES).min(self.lines.len() * Line::BYTES);
        self.line_bytes_mut()[kept..end].fill(0);
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: `Line` is `repr(C)` over bytes without padding, so `lines` is one initialised run
        // of `lines.len() * 64` bytes, and `len` never exceeds that.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        let len = self.len;
        &mut self.line_bytes_mut()[..len]
    }

    /// Bytes allocated, used or not.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.lines.capacity() * Line::BYTES
    }

    fn line_bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.lines.len() * Line::BYTES;
        // SAFETY: as in `as_bytes`; every byte pattern is a valid `Line`, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::AlignedBytes;

    #[test]
    fn starts_on_a_cache_line_and_grows_with_zeros() {
        let mut bytes = AlignedBytes::with_capacity(3);
        bytes.resize(130);
        bytes.as_mut_bytes().fill(7);
        bytes.resize(70);
        bytes.resize(300);
        assert_eq!(bytes.as_bytes().as_ptr().addr() % 64, 0);
        assert_eq!(bytes.as_bytes().len(), 300);
        assert!(bytes.as_bytes()[..70].iter().all(|&byte| byte == 7));
        assert!(bytes.as_bytes()[70..].iter().all(|&byte| byte == 0));
    }
}
