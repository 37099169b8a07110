# Ends the process groups of an owner when the owner has ended.
#
# Descriptor 3 is the read end of a pipe whose only write end the owner holds, whatever ends it closes
# it. On it come lines: `+ PID START` a group to end with the owner, led by the process PID that started
# at START; `- PID START` no longer; `~ NUMBER` what carries this number of the owner's was
# handed back; `= PID START NUMBER` as `+`, unless that was; `.` the owner needs nobody any more. Other lines
# mean nothing, and an unfinished one is none.
#
# Arguments: the owner's token, the seconds between asking and ending, the owner's process group,
# and the folder of its children's control group if there is one.
# Read by dash, bash and busybox; `kill` must be the shell's own, as another takes `-15 -123` for -1.

set -f
trap '' HUP INT QUIT PIPE TERM TSTP TTIN TTOU
token=$1 grace=$2 owner_group=$3 control_group=${4:-}
groups=' ' kept='' newline='
'

# A number of at most 14 digits, without a zero before it.
number() {
	case $1 in '' | *[!0-9]* | 0?* | ???????????????*) return 1 ;; esac
}

# A group that may be ended: not everybody's, not the first process's, not ours, not the owner's, and of at
# most nine digits, as what no process can have may mean another to a shell.
allowed() {
	number "$1" || return 1
	case $1 in 0* | 1 | "$$" | "$owner_group" | ??????????*) return 1 ;; esac
}

# Sets $start and $group of process $1. The name in the line may hold anything, also line ends.
look() {
	start='' group='' stat=''
	while IFS= read -r part; do stat=$part; done <"/proc/$1/stat"
	case $stat in *') '*) ;; *) return 1 ;; esac
	# shellcheck disable=SC2086
	set -- ${stat##*') '}
	group=$3 start=${20}
}

# Whether $1 still means the group whose leader started at $2. While a group has members, nobody else
# is given its number, so a leader that is gone is no objection.
holds() {
	look "$1" || return 0
	[ "$start" = "$2" ] || [ "$2" = 0 ]
}

# Sends the signals $1 to every group.
signal_groups() {
	for entry in $groups; do
		holds "${entry%:*}" "${entry#*:}" || continue
		for signal in $1; do kill "-$signal" "-${entry%:*}"; done
	done
}

# Sets $strays to the processes that carry the owner's token and were not handed back.
find_strays() {
	set +f
	strays=$(grep -lsF "$token." /proc/[0-9]*/environ)
	set -f
	if [ -n "$kept" ] && [ -n "$strays" ]; then
		# shellcheck disable=SC2086
		except=$newline$(grep -lsF $kept $strays)$newline
		all=$strays strays=''
		for stray in $all; do
			case $except in *"$newline$stray$newline"*) ;; *) strays="$strays $stray" ;; esac
		done
	fi
	[ -n "$strays" ]
}

# Whether process $1 carries the token: without another program, in less time than a fork may live.
carries() {
	while IFS= read -r part || [ -n "$part" ]; do
		case $part in *"$token."*) return 0 ;; esac
	done <"/proc/$1/environ"
	return 1
}

# Sends the signals $1 to every stray outside the groups: to its own group as a whole if its leader is
# one too or is gone, since a chain of forks is faster than any list.
signal_strays() {
	signals=$1
	# shellcheck disable=SC2086
	set -- $strays
	list=" $* "
	for stray; do
		stray=${stray#/proc/} stray=${stray%/environ}
		look "$stray" || continue
		case $groups in *" $group:"*) continue ;; esac
		# Since the list was made it may have ended, and its number be another's.
		carries "$stray" || continue
		target=$stray
		case $list in *" /proc/$group/"*) led=yes ;; *) led=no ;; esac
		[ -d "/proc/$group" ] || led=yes
		[ "$led" = yes ] && allowed "$group" && target=-$group
		for signal in $signals; do kill "-$signal" "$target"; done
	done
}

anything_left() {
	for entry in $groups; do
		holds "${entry%:*}" "${entry#*:}" && kill -0 "-${entry%:*}" && return 0
	done
	find_strays
}

# Sets $seconds to those since the machine started; fails where nobody tells them.
uptime() {
	seconds=0
	IFS=. read -r seconds rest </proc/uptime
}

end_everything() {
	# A shell that can start no other program ends there: not without this.
	trap 'signal_groups KILL' EXIT
	signal_groups 'TERM CONT'
	# Who was asked runs first: it wakes on this processor, which a look at all processes keeps.
	: &
	wait
	find_strays && signal_strays 'TERM CONT'
	waited=0
	while [ "$waited" -lt "$grace" ] && anything_left; do
		sleep 1
		waited=$((waited + 1))
	done
	signal_groups KILL
	# What is just becoming another program has no environment for a moment, and what forks for ever may be
	# another process whenever it is looked at, the more so where all wait for their turns. So one look that
	# finds nothing proves nothing: so many in a row do, and whoever is found again and again has ten seconds.
	round=0 quiet=0
	uptime
	end=$((seconds + 10))
	while [ "$quiet" -lt 20 ] && { [ "$round" -lt 20 ] || { uptime && [ "$seconds" -lt "$end" ]; }; }; do
		round=$((round + 1)) quiet=$((quiet + 1))
		if find_strays; then
			signal_strays KILL
			quiet=0
		fi
		[ "$quiet" != 10 ] || {
			sleep 1
			signal_groups KILL
		}
	done
	trap - EXIT
}

# Ends what has neither group nor mark any more. Not where something was handed back: it is in there.
end_control_group() {
	[ -n "$control_group" ] && [ -z "$kept" ] || return 0
	waited=0
	until { set +f; rmdir "$control_group"/*/; set -f; rmdir "$control_group"; } || [ "$waited" -gt 2 ]; do
		echo 1 >"$control_group/cgroup.kill"
		sleep "$waited"
		waited=$((waited + 1))
	done
}

forget() {
	case $groups in
	*" $1:$2 "*) groups="${groups%%" $1:$2 "*} ${groups#*" $1:$2 "}" ;;
	esac
}

protect() {
	case $(command -v kill) in kill) ;; *) exit 3 ;; esac
	# What fails here ends this shell, so it comes before the word that the owner waits for, which says that
	# its shell can do what it must. After that nothing here can fail until the owner has ended: so its output
	# stays what it is, a pipe that the owner has read and closed.
	exec <&3 2>/dev/null
	cd /
	echo works
	while IFS= read -r line; do
		# A launcher speaks for itself, and may be late: what was handed back meanwhile stays handed back.
		case $line in
		'= '*' '*' '*)
			number "${line##* }" || continue
			case $kept in *" $token.${line##* }:"*) continue ;; esac
			line="+ ${line#? }" line=${line% *}
			;;
		esac
		# Read as a whole: a shell that splits it passes over blanks that make it another line.
		rest=${line#? }
		pid=${rest%% *} start=${rest#* }
		case $line in
		.)
			[ -z "$control_group" ] || rmdir "$control_group"
			exit 0
			;;
		'~ '*) number "$rest" && kept="$kept -e $token.$rest:" ;;
		'+ '*' '* | '- '*' '*)
			if ! allowed "$pid" || ! number "$start"; then continue; fi
			forget "$pid" "$start"
			case $line in +*) groups="$groups$pid:$start " ;; esac
			;;
		esac
	done
	exec <&- 3<&-
	end_everything
	end_control_group
	exit 0
}

protect
