//! Numbers that follow from a seed alone, and what the tools that make cases of them are asked for.

/// Dice that fall the same way for the same seed.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// A number from 0 to below `end`; 0 where there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).checked_rem(end).unwrap_or(0)
    }

    /// The same of a smaller kind.
    pub fn under(&mut self, end: u32) -> u32 {
        u32::try_from(self.below(end.into())).unwrap_or(0)
    }

    /// Any of these.
    ///
    /// # Panics
    /// Where there are none.
    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let place = usize::try_from(self.below(items.len() as u64)).unwrap_or_default();
        &items[place]
    }
}

/// What a tool that judges cases natively is asked for on its command line.
#[derive(Debug)]
pub enum Asked {
    /// `SEED COUNT`: so many cases of its own making.
    Generated {
        /// From where.
        dice: Dice,
        /// How many.
        count: u64,
    },
    /// Anything else: files, by name.
    Files(Vec<String>),
}

impl Asked {
    /// What this process was asked for.
    ///
    /// # Errors
    /// Numbers that are not two.
    pub fn here() -> Result<Self, &'static str> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        match arguments.iter().map(|argument| argument.parse()).collect::<Result<Vec<u64>, _>>() {
            Ok(numbers) => match numbers[..] {
                [seed, count] => Ok(Self::Generated { dice: Dice(seed), count }),
                _ => Err("SEED and COUNT are wanted"),
            },
            Err(_) => Ok(Self::Files(arguments)),
        }
    }
}
