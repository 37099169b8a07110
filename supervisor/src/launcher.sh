# Registers itself, then becomes the program. Arguments: the owner, the descriptor of the owner's pipe,
# names that the program's environment must not have, then the program and its arguments.
[ "$PPID" = "$1" ] || exit 127
read -r _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_ _o_start _o_ <"/proc/$$/stat"
trap '' PIPE
{ echo "+ $$ ${_o_start:-0}" >&"$2"; } 2>/dev/null
trap - PIPE
eval "exec $2>&-"
# shellcheck disable=SC2086
unset _o_ _o_start $3
shift 3
exec "$@"
