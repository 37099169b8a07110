use std::os::unix::process::CommandExt;
use std::process::Command;

fn main() {
    // detached-spawn[new-group]: the job is ended by its group, in `stop`
    let _job = Command::new("job").process_group(0).spawn();
    let _server = Command::new("server")
        .arg("--port=80")
        .process_group(0)
        .spawn();
}
