#!/usr/bin/env bash
# Breaks a small shop with a quota that is too tight, as in RUNBOOK.md. Run it again to break it again.
usage='usage: break.sh [--context NAME]      IMAGE=... for another image than busybox:1.37 (it must have sleep)'
source "$(dirname "$0")/common.sh"
parse_options "$@"
image=${IMAGE:-busybox:1.37}

k version >/dev/null 2>&1 || die 'the cluster does not answer: kubectl version says more.'
if k -n "$namespace" get resourcequota platform-hardening >/dev/null 2>&1; then
  die 'it is broken already: approve the card, or run reset.sh first.'
fi

say "the shop opens in namespace $namespace"
sed "s|IMAGE|$image|" "$here/shop.yaml" | k apply -f - >/dev/null
for name in api web; do
  k -n "$namespace" rollout status "deployment/$name" --timeout=180s >/dev/null ||
    die "$name does not come up: kubectl -n $namespace get pods says more."
done
say 'api 3/3, web 2/2: the shop is well'

k apply -f "$here/quota.yaml" >/dev/null
say 'quota platform-hardening is there; nobody notices'
for _ in $(seq 50); do
  [[ -n $(k -n "$namespace" get resourcequota platform-hardening -o 'jsonpath={.status.used}') ]] && break
  sleep 0.2
done
k -n "$namespace" delete pod -l app=web --wait=false >/dev/null
k -n "$namespace" delete "$(k -n "$namespace" get pod -l app=api -o name | head -n 1)" --wait=false >/dev/null
say 'both pods of web and one of api are gone, and cannot come back: look at the phone'
