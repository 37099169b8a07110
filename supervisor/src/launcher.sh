# Registers itself, then becomes the program. Arguments: the owner, the descriptor of the owner's pipe, the file
# by which its control group is entered or nothing, the program and its arguments. `env` stands before the
# program: it gives back what a shell changes.
[ "$PPID" = "$1" ] || exit 127
read -r _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_start _o_ <"/proc/$$/stat"
# The number in its mark stands behind its name: by that a supervisor knows what was handed back meanwhile.
_o_=${SPAWN_OWNED:-.0} _o_=${_o_%:}
trap '' PIPE
{ echo "= $$ ${_o_start:-0} ${_o_##*.}" >&"$2"; } 2>/dev/null
trap - PIPE
eval "exec $2>&-"
[ -z "$3" ] || { echo "$$" >"$3"; } 2>/dev/null
shift 3
exec "$@"
