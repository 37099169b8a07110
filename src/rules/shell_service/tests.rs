//! Tests of the rule `shell-service`.

use super::check;
use crate::rules::shell::testing::{certain, count};

#[test]
fn finds() {
    for text in [
        "tmux -L x -f /dev/null new-session -d sleep 5",
        "tmux new -d -s x sleep 5",
        "tmux neww -d x",
        "tmux",
        "tmux run-shell -b x",
        "tmux send-keys x Enter",
        "tmux split-window -d x",
        "tmux respawn-pane -k x",
        "tmux set -g a b \\; new-session x",
        "byobu-tmux -L x new-session -d x",
        "screen -dmS x sleep 5",
        "screen -d -m sleep 5",
        "screen -D -m -S x sleep 5",
        "echo x | at now",
        "at -f j now",
        "echo x | batch",
        "crontab -",
        "crontab -u bob file",
        "systemd-run sleep 5",
        "systemctl --user start x",
        "systemctl enable --now x",
        "service x restart",
        "docker run -d --rm busybox sleep 5",
        "docker run --name x -p 80:80 -itd image",
        "podman run --detach x",
        "nerdctl run --detach=true x",
        "docker compose -f x up -d",
        "docker-compose up --detach",
        "docker exec -d c x",
        "docker -H x run -d y",
        "docker container run -d x",
        "kubectl run x --image=y",
        "launchctl load x",
    ] {
        assert_eq!(count(check, text), 1, "{text}");
    }
    assert_eq!(
        certain(check, "systemd-run --user --scope x", "sh"),
        Some(false)
    );
}

#[test]
fn finds_not() {
    for text in [
        "tmux list-sessions",
        "tmux ls",
        "tmux has-session -t x",
        "tmux kill-session -t new",
        "tmux -V",
        "tmux capture-pane -p",
        "tmux attach -t x",
        "tmux display-message x",
        "screen -ls",
        "screen -list",
        "screen -d -r x",
        "screen -S x -X quit",
        "at -l",
        "atq",
        "atrm 1",
        "crontab -l",
        "crontab -r",
        "crontab -u x -e",
        "systemctl stop x",
        "systemctl status start",
        "systemctl enable x",
        "service x stop",
        "docker run --rm image",
        "docker run image cmd -d",
        "docker run --name -d image",
        "docker ps -d",
        "docker compose up",
        "docker compose down",
        "docker exec -it c x",
        "docker stop x",
        "kubectl get pods",
        "kubectl run x --dry-run=client",
        "launchctl list",
        "systemd-run --version",
    ] {
        assert_eq!(count(check, text), 0, "{text}");
    }
}
