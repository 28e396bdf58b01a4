#!/bin/sh
# A type that shows a secret in all that it answers and prints: the files of the plug "in".
# Files of the plug "world" say how it behaves. With /memory it has a memory, with /reuse
# several of its programs run in one container.
read -r in
name=${in#*\"config\":}; name=${name#*\"name\":\"}; name=${name%%\"*}
case "$1" in
"")
  memory=false reuse=false
  [ -e /memory ] && memory=true
  [ -e /reuse ] && reuse=true
  echo '{"protocol":2,"absent":true,"memory":'$memory',"reuse":'$reuse',"identity":["/name"],"state_action":{"args":["state"]},
    "plugs":{"in":{"container_path":"/in","writable":false},"world":{"container_path":"/world"}},
    "config_schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}},
    "state_schema":{"type":"object","properties":{"password":{"type":"string","writeOnly":true}}}}' ;;
state)
  cat /in/log >&2
  case "$in" in *'"intent":"absent"'*)
    if [ -e /world/$name ]; then echo '{"status":"STALE","actions":[{"name":"remove","args":["remove"]}]}'; else echo '{"status":"MISSING"}'; fi
    exit ;;
  esac
  if [ -e /world/error ]; then cat /in/error.json
  elif [ -e /world/broken ]; then cat /in/log
  elif [ ! -e /world/$name ]; then cat /in/stale.json
  elif [ -e /world/drift ]; then cat /in/drift.json
  else cat /in/valid.json; fi ;;
make)
  [ -e /memory ] || cat /in/log
  cat /in/log >&2
  [ -e /world/fail ] && exit 3
  echo made >/world/$name
  [ -e /memory ] || cat /in/generated
  cat /in/generated >&2
  echo made >/world/begun
  while [ -e /world/hold ]; do sleep 0.05; done
  [ -e /memory ] && cat /in/memory.json
  [ -e /world/late ] && exit 3
  exit 0 ;;
remove)
  [ -e /memory ] && echo '{"memory":null}' || cat /in/log
  rm /world/$name ;;
esac
