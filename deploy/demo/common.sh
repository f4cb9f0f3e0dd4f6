# Shared by break.sh and reset.sh. Everything they touch is in the namespace tapfix-shop.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
namespace=tapfix-shop

die() { echo "$*" >&2; exit 2; }
say() { printf '%s  %s\n' "$(date +%T)" "$*"; }

command -v kubectl >/dev/null || die 'kubectl is not installed.'

# --context NAME, as kubectl has it; anything else is a mistake.
context=()
parse_options() {
  while (($#)); do
    case $1 in
      --context) [[ -n ${2:-} ]] || die '--context needs a name'; context=(--context "$2"); shift 2 ;;
      -h | --help) echo "$usage"; exit 0 ;;
      *) echo "$usage" >&2; die "unknown option $1" ;;
    esac
  done
}

k() { kubectl ${context[@]+"${context[@]}"} "$@"; }
