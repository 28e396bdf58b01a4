#!/bin/sh
# Writes what a version leaves in working directories, a state and a lock file, with the deployster on
# the PATH: states.sh testdata/releases/1.2.3. A test reads it in every later version.
set -eu
mkdir -p "$1"
to=$(cd "$1" && pwd)
work=$(mktemp -d)
export DEPLOYSTER_DATA_DIR="$work/data" DEPLOYSTER_IDLE_EXIT=2s
clean() {
	cd /
	for second in $(seq 60); do # idle, it ends
		pgrep -f "^deployster-containerd -data-dir $work" >/dev/null || break
		sleep 1
	done
	rm -rf "$work"
}
trap clean EXIT
mkdir "$work/shop" "$work/note"
cd "$work/note"
deployster new type-shell
deployster image pack -t demo/note -shell type.sh
cd "$work/shop"
deployster new artifact
deployster image pack -t demo/greeting -shell -add greeting:/opt/resource -entrypoint /bin/sh
deployster image pack -t demo/copy -shell type.sh
mkdir notes
echo yes >notes/monday # is adopted
cat >notes.hcl <<'END'
plug "notes" {
  path = "./notes"
}
variable "text" {
  type      = string
  sensitive = true
  default   = "hello"
}
resource "day" {
  for_each = toset(["monday", "tuesday"])
  type     = "demo/note"
  config   = { name = each.key, text = var.text }
}
resource "all" {
  type       = "demo/note"
  depends_on = [resource.day]
  config     = { name = "all", text = resource.site.state.files }
}
output "text" {
  value     = resource.all.state.text
  sensitive = true
}
END
deployster init
deployster apply -auto-approve
deployster artifact pin page
cp deployster.state.json .deployster.lock.hcl "$to"
chmod 644 "$to/deployster.state.json"
deployster destroy -auto-approve
