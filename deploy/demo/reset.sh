#!/usr/bin/env bash
# Puts everything back as it was before break.sh: the namespace tapfix-shop and all in it is gone afterwards.
usage='usage: reset.sh [--context NAME]'
source "$(dirname "$0")/common.sh"
parse_options "$@"

if ! k get namespace "$namespace" >/dev/null 2>&1; then
  k version >/dev/null 2>&1 || die 'the cluster does not answer: kubectl version says more.'
  say 'nothing to do: there is no shop'
  exit 0
fi
say "removing namespace $namespace"
k delete namespace "$namespace" --timeout=120s >/dev/null
say 'it is gone'
