// The same as scoped.cpp, in modules and implementations of Rust.  It is never run.
mod outer {
    use std::hint::black_box;

    pub mod inner {
        #[inline(always)]
        pub fn middle(value: u64) -> u64 {
            super::black_box(value * 3) ^ value
        }

        #[inline(never)]
        pub fn apart(value: u64) -> u64 {
            middle(value).wrapping_sub(2)
        }
    }

    pub struct Machine {
        pub state: u64,
    }

    impl Machine {
        #[inline(always)]
        fn turn(&mut self, value: u64) {
            self.state += inner::middle(value);
        }

        #[inline(never)]
        pub fn run(&mut self, values: &[u64]) {
            for value in values {
                self.turn(*value);
            }
        }
    }
}

fn main() {
    let values: Vec<u64> = (0..std::env::args().count() as u64).collect();
    let mut machine = outer::Machine { state: 1 };

    machine.run(&values);
    println!("{} {}", machine.state, outer::inner::apart(machine.state));
}
