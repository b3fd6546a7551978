#!/bin/sh
# Stands in for the CLI of Docker: records each call in $RECORD, and answers what kind asks of the clusters in $CLUSTERS.
printf '%s\n' "$*" >> "$RECORD"
case "$1" in
-v) echo 'Docker version 29.0.0, build stand-in' ;;
info) echo '{"MemoryLimit":true,"PidsLimit":true,"CPUShares":true,"CgroupDriver":"systemd","CgroupVersion":"2"}' ;;
ps)
  for cluster in $CLUSTERS; do
    case "$*" in
    *"cluster=$cluster "*) echo "$cluster-control-plane" ;;
    *'kind.cluster='*) ;;
    *) echo "$cluster" ;;
    esac
  done
  ;;
inspect)
  case "$*" in
  *kind.role*) echo control-plane ;;
  *NetworkSettings*) echo 172.18.0.2, ;;
  *) echo '[{}]' ;;
  esac
  ;;
exec)
  case "$*" in
  *admin.conf*)
    cat << EOF
apiVersion: v1
kind: Config
current-context: admin@kind
clusters: [{name: kind, cluster: {server: "https://one-control-plane:6443"}}]
contexts: [{name: admin@kind, context: {cluster: kind, user: admin}}]
users: [{name: admin, user: {}}]
EOF
    ;;
  *'containerd config dump'*) printf 'version = 3\n[plugins."io.containerd.cri.v1.images"]\nsnapshotter = "overlayfs"\n' ;;
  *' images import '*) cat > "$RECORD.imported" ;;
  esac
  ;;
rm) ;;
*)
  echo "the stand-in has no answer to: $*" >&2
  exit 1
  ;;
esac
