import os
import subprocess

# detached-spawn: todo
subprocess.Popen(["a"], start_new_session=True)


def hook():
    os.setsid()


def start(detached):
    # detached-spawn[new-session](until=2020-01-31): until the agent has its own supervisor
    subprocess.Popen(["b"], start_new_session=True)
    subprocess.Popen(["c"], preexec_fn=hook)
    subprocess.Popen(["d"], start_new_session=detached)


# detached-spawn: nothing here detaches any more
print("done")
