//! Tests of the rule `shell-daemon`.

use super::check;
use crate::rules::shell::testing::{certain, count, ways};

#[test]
fn finds() {
    for text in [
        "gunicorn -D app",
        "gunicorn app --daemon",
        "uv run gunicorn -D app",
        "celery -A x worker -D",
        "celery worker --detach",
        "celery multi start w",
        "uwsgi --daemonize log",
        "uwsgi --daemonize=log",
        "twistd web",
        "supervisord",
        "supervisord -n",
        "circusd --daemon x.ini",
        "zdaemon -C x start",
        "redis-server --port 1 --daemonize yes",
        "nginx",
        "nginx -c x",
        "cron",
        "dbus-daemon --session --fork",
        "dbus-launch --sh-syntax",
        "ssh-agent -s",
        "ssh-agent x",
        "gpg-agent --daemon",
        "honcho start",
        "sudo -n -b sleep 5",
        "sudo -u x --background sleep 5",
        "sh -c 'sudo -b x'",
        "start-stop-daemon -S -b -m -p x -x /bin/sleep -- 5",
        "start-stop-daemon --start --background --startas x",
        "busybox start-stop-daemon -S -b -x a",
        "daemon -- sleep 5",
        "daemonize /bin/sleep 5",
        "dtach -n s sleep 5",
        "dtach -N s sleep 5",
        "openvt -f -- sleep 5",
        "ssh -f host x",
        "ssh -fN -L 1:a:2 host",
        "ssh -o ControlPersist=60 host x",
        "ssh -oControlPersist=yes host x",
        "emacs --daemon",
        "pm2 start x.js",
        "forever start x.js",
        "adb start-server",
        "sccache --start-server",
        "strace -DDD x",
        "expect -c 'if {[fork]!=0} exit; disconnect; exec sleep 5'",
        "ruby -e 'Process.daemon; exec q'",
    ] {
        assert_eq!(count(check, text), 1, "{text}");
    }
    assert_eq!(ways(check, "supervisord -n"), [crate::rules::Way::NewGroup]);
    assert_eq!(ways(check, "sudo -b x"), [crate::rules::Way::NewGroup]);
    assert_eq!(certain(check, "strace -DD x", "sh"), Some(false));
}

#[test]
fn finds_not() {
    for text in [
        "gunicorn app",
        "celery worker",
        "celery multi stop w",
        "uwsgi --http x",
        "twistd -n web",
        "twistd -noy x",
        "twistd --nodaemon web",
        "supervisorctl start x",
        "supervisord --version",
        "circusd x.ini",
        "redis-server --daemonize no",
        "redis-server --version",
        "nginx -t",
        "nginx -s reload",
        "nginx -v",
        "nginx -g 'daemon off;'",
        "cron -f",
        "dbus-daemon --session --nofork",
        "ssh-agent -k",
        "ssh-agent -D",
        "sudo -n sleep 5",
        "sudo x -b",
        "start-stop-daemon --start --exec x",
        "start-stop-daemon -K -b -x a",
        "start-stop-daemon -S -x a -- -b",
        "daemon -f -- sleep 5",
        "daemon --running -n x",
        "dtach -a s",
        "ssh host x -f",
        "ssh -o ControlPersist=no host x",
        "ssh -N -L 1:a:2 host",
        "scp -o ControlPersist=5 a b",
        "strace -f -D x",
        "honcho check",
        "adb devices",
        "emacs --fg-daemon",
        "pm2 list",
    ] {
        assert_eq!(count(check, text), 0, "{text}");
    }
}
