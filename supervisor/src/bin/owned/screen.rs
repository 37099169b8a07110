//! What a terminal would show after some output: text in its places, without colours.
//!
//! The control functions of [ECMA-48](https://ecma-international.org/publications-and-standards/standards/ecma-48/)
//! that move and erase; others are passed over.

const ROWS: usize = 24;
const COLUMNS: usize = 80;

struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

/// What stands on a screen of 24 rows and 80 columns after `output`, which may begin anywhere.
pub(crate) fn screen(output: &[u8]) -> String {
    let mut screen = Screen {
        lines: vec![Vec::new(); ROWS],
        row: 0,
        column: 0,
    };
    let text = String::from_utf8_lossy(output);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => screen.down(),
            '\r' => screen.column = 0,
            '\x08' => screen.column = screen.column.saturating_sub(1),
            '\t' => screen.column = (screen.column / 8 * 8 + 8).min(COLUMNS - 1),
            '\x1b' => match chars.next() {
                Some('[') => {
                    let mut words = String::new();
                    let end = chars.find(|char| {
                        let ends = ('@'..='~').contains(char);
                        if !ends {
                            words.push(*char);
                        }
                        ends
                    });
                    screen.control(&words, end.unwrap_or('m'));
                }
                // A text for the terminal, like its title: to its end.
                Some(']') => {
                    let mut before = ' ';
                    let _ = chars.find(|char| {
                        let ends = *char == '\x07' || (before == '\x1b' && *char == '\\');
                        before = *char;
                        ends
                    });
                }
                Some('c') => screen.erase(0, ROWS),
                Some('(' | ')') => drop(chars.next()),
                _ => {}
            },
            char if char.is_control() => {}
            char => screen.put(char),
        }
    }
    screen.text()
}

impl Screen {
    fn down(&mut self) {
        if self.row + 1 < ROWS {
            self.row += 1;
        } else {
            self.lines.remove(0);
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, char: char) {
        if self.column >= COLUMNS {
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        if line.len() <= self.column {
            line.resize(self.column + 1, ' ');
        }
        line[self.column] = char;
        self.column += 1;
    }

    fn erase(&mut self, from: usize, to: usize) {
        for line in &mut self.lines[from..to.min(ROWS)] {
            line.clear();
        }
    }

    fn control(&mut self, words: &str, end: char) {
        let numbers: Vec<usize> = words
            .split(';')
            .map(|word| word.parse().unwrap_or(0))
            .collect();
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        let count = number(0).max(1);
        match end {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row = self.row.saturating_add(count).min(ROWS - 1),
            'C' => self.column = self.column.saturating_add(count).min(COLUMNS - 1),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = (count - 1).min(COLUMNS - 1),
            'd' => self.row = (count - 1).min(ROWS - 1),
            'H' | 'f' => {
                self.row = (count - 1).min(ROWS - 1);
                self.column = (number(1).max(1) - 1).min(COLUMNS - 1);
            }
            'J' => match number(0) {
                0 => {
                    self.lines[self.row].truncate(self.column);
                    self.erase(self.row + 1, ROWS);
                }
                1 => self.erase(0, self.row),
                _ => self.erase(0, ROWS),
            },
            'K' => {
                let line = &mut self.lines[self.row];
                match number(0) {
                    0 => line.truncate(self.column),
                    1 => line
                        .iter_mut()
                        .take(self.column + 1)
                        .for_each(|char| *char = ' '),
                    _ => line.clear(),
                }
            }
            // The other screen of a full program begins empty, and so does what comes after it.
            'h' | 'l' if words == "?1049" => {
                self.erase(0, ROWS);
                (self.row, self.column) = (0, 0);
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        let lines = self
            .lines
            .iter()
            .map(|line| line.iter().collect::<String>());
        let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        let used = lines
            .iter()
            .rposition(|line| !line.is_empty())
            .map_or(0, |at| at + 1);
        lines[..used]
            .iter()
            .fold(String::new(), |text, line| text + line + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_on_the_screen() {
        for (output, shown) in [
            ("one\r\ntwo", "one\ntwo\n"),
            ("50%\r100%", "100%\n"),
            ("abc\x08\x08X", "aXc\n"),
            ("\x1b[31mred\x1b[0m", "red\n"),
            ("old\x1b[2J\x1b[Hnew", "new\n"),
            ("\x1b[2;3Hx\x1b[1;1Hy", "y\n  x\n"),
            ("abcdef\x1b[3G\x1b[K", "ab\n"),
            ("\x1b]0;title\x07text", "text\n"),
            ("a\tb", "a       b\n"),
            ("\x1b[99999;99999H\x1b[5A", ""),
            ("\x1b[", ""),
        ] {
            assert_eq!(screen(output.as_bytes()), shown, "{output:?}");
        }
        let many = "x\r\n".repeat(99) + "last";
        assert_eq!(screen(many.as_bytes()).lines().count(), 24);
        assert!(screen(many.as_bytes()).ends_with("x\nlast\n"));
        let wide = "x".repeat(100);
        assert_eq!(screen(wide.as_bytes()).lines().count(), 2);
    }
}
