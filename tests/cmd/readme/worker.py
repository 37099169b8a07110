import subprocess

updater = ["updater", "--wait"]

# detached-spawn: the updater must outlive the process that it replaces
subprocess.Popen(updater, start_new_session=True)
subprocess.Popen(["serve"], start_new_session=True)
