# Registers itself, then becomes the program. Arguments: the owner, the descriptor of the owner's pipe, the file
# by which its control group is entered or nothing, the program and its arguments. `env` stands before the program: it gives back what a shell changes.
[ "$PPID" = "$1" ] || exit 127
read -r _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_start _o_ <"/proc/$$/stat"
trap '' PIPE
{ echo "+ $$ ${_o_start:-0}" >&"$2"; } 2>/dev/null
trap - PIPE
eval "exec $2>&-"
[ -z "$3" ] || { echo "$$" >"$3"; } 2>/dev/null
shift 3
exec "$@"
