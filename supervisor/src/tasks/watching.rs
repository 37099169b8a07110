//! Watched texts: that they appear is told, but not to weariness.
//!
//! A task tells of matches once in 15 seconds. One that had more to tell in three such windows in a row,
//! or has told eight times, is not watched any more. Over all tasks of an owner 15 notices in 10 seconds
//! are a flood, and there are none for the next 30.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::notice::Event;

/// So long after a notice there is no other.
const WINDOW: Duration = Duration::from_secs(15);
/// So many windows in a row with more to tell end the watch.
const STRIKES: u32 = 3;
/// So many notices end it too.
const TOLD: u32 = 8;
/// Lines that a notice carries, and the characters that they may have together.
const LINES: usize = 20;
const CHARACTERS: usize = 2000;
/// Longer lines are looked at in pieces, in bytes.
const LINE: usize = 64 * 1024;

/// The watch over one task's output.
pub(super) struct Watch {
    texts: Vec<String>,
    /// The line that has no end yet.
    line: Vec<u8>,
    last: Option<Instant>,
    /// Matches since the last notice that were not told.
    more: u64,
    strikes: u32,
    told: u32,
    over: bool,
}

impl Watch {
    pub(super) fn new(texts: Vec<String>) -> Self {
        let over = texts.is_empty();
        Self {
            texts,
            line: Vec::new(),
            last: None,
            more: 0,
            strikes: 0,
            told: 0,
            over,
        }
    }

    /// Looks at more output; what is to be told of it.
    pub(super) fn look(&mut self, bytes: &[u8], now: Instant) -> Vec<Event> {
        let mut matched = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.over {
                return Vec::new();
            }
            let whole = part.ends_with(b"\n");
            self.line.extend_from_slice(part);
            if !whole && self.line.len() < LINE {
                continue;
            }
            let line = String::from_utf8_lossy(&self.line).into_owned();
            self.line.clear();
            if self.texts.iter().any(|text| line.contains(text)) {
                matched.push(line.trim_end().to_owned());
            }
        }
        if matched.is_empty() {
            return Vec::new();
        }
        if self
            .last
            .is_some_and(|last| now.duration_since(last) < WINDOW)
        {
            self.more += matched.len() as u64;
            return Vec::new();
        }
        self.tell(matched, now)
    }

    fn tell(&mut self, matched: Vec<String>, now: Instant) -> Vec<Event> {
        self.strikes = if self.more > 0 { self.strikes + 1 } else { 0 };
        self.told += 1;
        self.last = Some(now);
        let count = matched.len() as u64;
        let mut room = CHARACTERS;
        let lines: Vec<String> = matched
            .into_iter()
            .take(LINES)
            .map(|line| {
                let line: String = line.chars().take(room).collect();
                room -= line.chars().count();
                line
            })
            .filter(|line| !line.is_empty())
            .collect();
        let more = std::mem::take(&mut self.more) + count - lines.len() as u64;
        self.over = self.strikes >= STRIKES || self.told >= TOLD;
        let mut events = vec![Event::Matched { lines, more }];
        events.extend(self.over.then_some(Event::WatchEnded));
        events
    }
}

/// The flood gate over all tasks of an owner.
#[derive(Default)]
pub(super) struct Gate {
    passed: VecDeque<Instant>,
    closed: Option<Instant>,
}

impl Gate {
    const MANY: usize = 15;
    const WITHIN: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_secs(30);

    /// What becomes of a notice of matches: itself, none, or that the flood began or is over.
    pub(super) fn pass(&mut self, event: Event, now: Instant) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(since) = self.closed {
            if now.duration_since(since) < Self::PAUSE {
                return events;
            }
            self.closed = None;
            events.push(Event::FloodOver);
        }
        while self
            .passed
            .front()
            .is_some_and(|first| now.duration_since(*first) > Self::WITHIN)
        {
            self.passed.pop_front();
        }
        if self.passed.len() >= Self::MANY {
            self.passed.clear();
            self.closed = Some(now);
            events.push(Event::Flood);
            return events;
        }
        self.passed.push_back(now);
        events.push(event);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_slow_match_is_told_eight_times() {
        let start = Instant::now();
        let mut watch = Watch::new(vec!["ready".to_owned()]);
        let mut told = 0;
        for round in 0..20 {
            let events = watch.look(b"it is ready\n", after(start, 16 * round));
            told += events
                .iter()
                .filter(|event| matches!(event, Event::Matched { .. }))
                .count();
            assert_eq!(events.contains(&Event::WatchEnded), round == 7);
        }
        assert_eq!(told, 8);
    }

    #[test]
    fn three_windows_with_more_to_tell_end_it() {
        let start = Instant::now();
        let mut watch = Watch::new(vec!["x".to_owned()]);
        let mut told = 0;
        for second in 0..300 {
            told += watch.look(b"x\nno\nx\n", after(start, second)).len();
        }
        // The first, one after each of three windows, and that the watch is over.
        assert_eq!(told, 5);
    }

    #[test]
    fn lines_are_put_together_and_bounded() {
        let start = Instant::now();
        let mut watch = Watch::new(vec!["match".to_owned()]);
        assert!(watch.look(b"a mat", start).is_empty());
        let events = watch.look(b"ch\nmore", start);
        assert_eq!(
            events,
            [Event::Matched {
                lines: vec!["a match".to_owned()],
                more: 0
            }]
        );
        let many = "match\n".repeat(100);
        let events = watch.look(many.as_bytes(), after(start, 20));
        assert!(matches!(&events[0], Event::Matched { lines, more: 80 } if lines.len() == 20));
        assert!(Watch::new(Vec::new()).look(b"match\n", start).is_empty());
        let mut endless = Watch::new(vec!["z".to_owned()]);
        endless.look(&vec![b'a'; 1 << 20], start);
        assert!(endless.line.len() < LINE);
    }

    #[test]
    fn a_flood_is_told_once() {
        let start = Instant::now();
        let mut gate = Gate::default();
        let mut passed = Vec::new();
        for _ in 0..40 {
            passed.extend(gate.pass(Event::WatchEnded, start));
        }
        assert_eq!(passed.len(), 16);
        assert_eq!(passed.last(), Some(&Event::Flood));
        let later = gate.pass(Event::WatchEnded, after(start, 31));
        assert_eq!(later, [Event::FloodOver, Event::WatchEnded]);
    }
}
