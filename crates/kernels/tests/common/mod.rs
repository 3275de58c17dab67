//! Random vectors.

/// Xorshift64*: <https://doi.org/10.1145/2845077>.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Roughly normal: the sum of twelve uniform numbers, around zero.
    fn normal(&mut self) -> f64 {
        (0..12)
            .map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64)
            .sum::<f64>()
            - 6.0
    }

    /// A unit vector whose variance falls with the dimension, `spread` around a centre.
    pub(crate) fn unit_near(&mut self, centre: &[f64], spread: f64) -> Vec<f32> {
        let noise =
            |random: &mut Self, dim: usize| spread * random.normal() / (1.0 + dim as f64 / 16.0);
        let values = centre
            .iter()
            .enumerate()
            .map(|(dim, at)| at + noise(self, dim))
            .collect();
        unit(values)
    }
}

fn unit(values: Vec<f64>) -> Vec<f32> {
    let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.iter().map(|value| (value / norm) as f32).collect()
}
