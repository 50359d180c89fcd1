// Works for ever: closures, traits, panics that are caught, two threads.
use std::collections::HashMap;
use std::panic;

trait Work {
    fn once(&mut self, n: u64) -> u64;
}

struct Counting(HashMap<u64, u64>);
struct Sorting(Vec<u64>);

impl Work for Counting {
    #[inline(never)]
    fn once(&mut self, n: u64) -> u64 {
        for i in 0..n {
            *self.0.entry(i % 509).or_insert(0) += i;
        }
        self.0.len() as u64
    }
}

impl Work for Sorting {
    #[inline(never)]
    fn once(&mut self, n: u64) -> u64 {
        self.0 = (0..n).map(|i| (i * 7919) % 1009).collect();
        self.0.sort_by(|a, b| b.cmp(a));
        self.0[0]
    }
}

fn forever() {
    let mut all: Vec<Box<dyn Work>> = vec![Box::new(Counting(HashMap::new())), Box::new(Sorting(Vec::new()))];
    loop {
        let sum: u64 = all.iter_mut().map(|one| one.once(20000)).sum();
        let caught = panic::catch_unwind(|| if sum > 1 { panic!("caught") });
        assert!(caught.is_err());
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    std::thread::spawn(forever);
    forever();
}
