#!/usr/bin/env bash
# Makes a Docker engine and bubblewrap usable for the tests of tests/environments; may be run any number of times.
# Installs what is missing where it may (root and apt), starts dockerd in the background when none answers.
# Exit 0 also without an engine: the tests then skip and say why.
set -uo pipefail

missing=()
command -v dockerd >/dev/null || missing+=(docker.io iptables)
command -v bwrap >/dev/null || missing+=(bubblewrap)
command -v debootstrap >/dev/null || missing+=(debootstrap)
command -v patch >/dev/null || missing+=(patch)
if [ "${#missing[@]}" -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -q >/dev/null || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null ||
    echo "start_engine: could not install ${missing[*]}" >&2
fi

answers() { docker version >/dev/null 2>&1; }

if ! answers && [ "$(id -u)" = 0 ] && command -v dockerd >/dev/null; then
  log="$(mktemp -t rubrics-dockerd.XXXXXX.log)"
  setsid nohup dockerd --storage-driver=overlay2 >"$log" 2>&1 </dev/null &
  for _ in $(seq 60); do
    answers && break
    sleep 0.5
  done
fi

if answers; then
  echo "start_engine: docker $(docker version --format '{{.Server.Version}}') answers"
else
  echo "start_engine: no Docker engine answers${log:+; see $log}" >&2
fi
command -v bwrap >/dev/null && echo "start_engine: $(bwrap --version)" || echo "start_engine: no bubblewrap" >&2
