//! The `owned` command.

fn main() {
    spawn_owned::init();
}
